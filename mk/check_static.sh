#!/bin/sh
# What is promised to hosts that link the static library: it defines no names but gpureduce_... and the module's
# luaopen_..., and with what `make install` installs, a host is compiled by what pkg-config says alone.
# Usage: mk/check_static.sh libgpureduce.a LUA CC
set -e
defined=$(nm --defined-only --extern-only "$1" | awk 'NF == 3 {print $3}')
for name in luaopen_gpureduce luaopen_gpureduce_luassert gpureduce_error gpureduce_open; do
  echo "$defined" | grep -qx "$name" || { echo "$1 lacks $name"; exit 1; }
done
wrong=$(echo "$defined" | grep -v -e '^gpureduce_' -e '^luaopen_gpureduce$' -e '^luaopen_gpureduce_luassert$' || true)
[ -z "$wrong" ] || { echo "$1 defines names that are not its own:"; echo "$wrong"; exit 1; }

lua=$("$2" -e 'print(jit and "luajit" or "lua" .. _VERSION:match("%d.%d"))')
if ! pkg-config --exists "$lua" 2>/dev/null; then
  echo "static: no pkg-config or no $lua.pc, so no host was compiled by it"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
MAKEFLAGS= make -s --no-print-directory NVCC="${NVCC-}" LUA="$2" PREFIX="$folder" install >/dev/null
export PKG_CONFIG_PATH="$folder/lib/pkgconfig"
flags=$(pkg-config --cflags --libs --static gpureduce "$lua")
$3 examples/embed/host.c $flags -o "$folder/host"
"$folder/host" | grep -qx 'host: 3 of 5 are above 4' || { echo "static: the host prints something else"; exit 1; }
