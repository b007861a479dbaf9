#!/usr/bin/env bash
# What the build promises of names, folders and errors. Nothing is compiled: dry runs say what would be.
set -euo pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() { echo "build: $*"; exit 1; }

# A Lua that is not there is an error before anything is made.
if make LUA=lua0 NVCC= BUILD="$place/none" >"$place/said" 2>&1; then fail "make LUA=lua0 succeeds"; fi
grep -q "no Lua 'lua0' on PATH" "$place/said" || fail "make LUA=lua0 says $(cat "$place/said")"
[ ! -e "$place/none" ] || fail "make LUA=lua0 makes something"

# Only the names that the Makefile lists are read from the environment.
honoured=$(sed -n '/^# Honours/,/^$/p' Makefile | grep -o '\b[A-Z_]*\b')
used=$(grep -ohE '^ *[A-Za-z_0-9]+ *[:?+]?=|\$\([A-Za-z_][A-Za-z_0-9]*\)' Makefile mk/*.mk |
  tr -dc 'A-Za-z_0-9\n' | sort -u)
own='CURDIR MAKE MAKEFLAGS MAKELEVEL MAKEOVERRIDES MAKECMDGOALS' # make's
junk=$(grep -vxF -f <(tr ' ' '\n' <<<"$own $honoured") <<<"$used" | sed 's/$/=elsewhere/')
goals='all install sets oracle test'
# shellcheck disable=SC2086
would() { env "$@" make -n V=1 $goals CUDA_ARCHS="75 90" BUILD=build/none 2>&1 | grep -v '^make\['; }
for nvcc in A=b NVCC=; do
  would "$nvcc" >"$place/plain"
  grep -q -- '-c src/core/array.c' "$place/plain" || fail "a dry run says $(head -c 500 "$place/plain")"
  # shellcheck disable=SC2086
  would "$nvcc" $junk >"$place/junk"
  diff "$place/plain" "$place/junk" >"$place/diff" ||
    fail "names of the environment change it: $(grep -oE "[^ ]*elsewhere[^ ]*" "$place/diff" | head -5 | tr "\n" " ")"
done

# Each Lua has a folder and is installed from it.
for lua in lua5.4 lua5.3 lua5.2 lua5.1 luajit; do
  command -v $lua >/dev/null || continue
  make -n install LUA=$lua LUA_INCDIR= NVCC= >"$place/install"
  grep -q "install -m 755 build/$lua/gpureduce.so" "$place/install" || fail "LUA=$lua installs another's module"
done
echo "build: names, folders and errors are as promised"
