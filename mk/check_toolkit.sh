#!/usr/bin/env bash
# The CUDA half's host code must see the toolkit by CUDA_HOME alone: it is compiled where neither /usr/local/include nor
# the toolkit's usual folder can be seen and nvcc is not on PATH, in a checkout and by a toolkit whose paths hold a
# space. No kernel is compiled but an empty one. Where mount namespaces are not permitted (or with NO_UNSHARE=1), the
# compiler is told not to look into /usr/local/include, and the toolkit is a link.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != within ]; then
  nvcc=$(command -v "${NVCC:-nvcc}" || command -v "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ||
    command -v /opt/cuda/bin/nvcc) || { echo "toolkit: no nvcc, nothing to check"; exit; }
  root=$("$nvcc" --dryrun x.cu 2>&1 | sed -n 's/^#. TOP=//p')
  root=$(cd "$root" && pwd -P)
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
  mkdir -p "$place/a checkout" "$place/a toolkit"
  cp -r Makefile mk include src kernels lua docs "$place/a checkout"
  if [ -z "${NO_UNSHARE:-}" ] && unshare -m true 2>/dev/null; then
    mkdir "$place/a toolkit/cuda"
    # shellcheck disable=SC2016
    unshare -m bash -euc 'mount --bind "$1" "$2/a toolkit/cuda"
      mount -t tmpfs none "$1"; mount -t tmpfs none /usr/local/include
      "$2/a checkout/mk/check_toolkit.sh" within' - "$root" "$place"
  else
    ln -s "$root" "$place/a toolkit/cuda"
    cc=${CC:-cc}
    CC="$cc -nostdinc -isystem $($cc -print-file-name=include) -isystem /usr/include/$($cc -print-multiarch)"
    CC="$CC -isystem /usr/include" \
      "$place/a checkout/mk/check_toolkit.sh" within
  fi
  exit
fi

CUDA_HOME=$(cd "../a toolkit/cuda" && pwd)
unset NVCC CUDA_ARCHS CPATH C_INCLUDE_PATH LIBRARY_PATH MAKEFLAGS MAKELEVEL
PATH=$(tr : '\n' <<<"$PATH" | while read -r d; do [ -x "$d/nvcc" ] || printf '%s:' "$d"; done)
export CUDA_HOME PATH CUDA_ARCHS=90 CCACHE_DISABLE=1 # ccache would remember a compilation outside
make cuda-host || { echo "toolkit: a line of the CUDA half does not see CUDA_HOME's headers or runtime"; exit 1; }
echo '__global__ void k() {}' >kernels/cuda/map/a_kernel.cu
make build/obj/kernels/cuda/map/a_kernel.90.o
echo "toolkit: the CUDA half's host code was compiled in sight of CUDA_HOME alone"
