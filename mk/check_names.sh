#!/bin/sh
# A static library shares one space of names with its host: it may define gpureduce_... and the module's luaopen_...
# alone.
# Usage: mk/check_names.sh libgpureduce.a
set -e
defined=$(nm --defined-only --extern-only "$1" | awk 'NF == 3 {print $3}')
for name in luaopen_gpureduce luaopen_gpureduce_luassert gpureduce_error gpureduce_open; do
  echo "$defined" | grep -qx "$name" || { echo "$1 lacks $name"; exit 1; }
done
wrong=$(echo "$defined" | grep -v -e '^gpureduce_' -e '^luaopen_gpureduce$' -e '^luaopen_gpureduce_luassert$' || true)
[ -z "$wrong" ] || { echo "$1 defines names that are not its own:"; echo "$wrong"; exit 1; }
