#!/usr/bin/env bash
# Build the CPU half twice, in two folders, and compare the modules byte for byte.
set -euo pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for name in one "another, with a longer name"; do
  mkdir "$place/$name"
  cp -r Makefile mk include src kernels lua docs "$place/$name"
  CCACHE_DISABLE=1 make -s -C "$place/$name" NVCC= >/dev/null
done
cmp "$place"/*/build/gpureduce.so
echo "reproducible: two builds gave the same bytes, $(sha256sum <"$place/one/build/gpureduce.so" | cut -c1-16)"
