#!/bin/bash
# Runs the hosts of mk/engines.mk, whose rows are in $rows, and says which are not here: mk/engines.sh BUILD.
# Each gets the module for its Lua, which is built when it is not.
set -f
build=$1
export PATH=$PATH:/usr/sbin:/usr/games
ran=0 failed=0 skipped=

skip() { skipped="$skipped${skipped:+; }$host ($1)"; }

# The Lua whose library the program $1 is linked to.
linked_lua() {
  ldd "$(command -v "$1")" | sed -n 's/^\t*lib\(luajit\|lua5\.[0-9]\).*/\1/p' | head -1
}

while IFS='|' read -r host version lua command line; do
  read -r host <<<"$host"
  read -r lua <<<"$lua"
  read -r line <<<"$line"
  [ -n "$host" ] || continue
  found=$(eval "$version" 2>/dev/null </dev/null) || { skip "not here"; continue; }
  found=$(grep -m1 '[0-9]\.[0-9]' <<<"$found")
  case $lua in linked*) lua=$(linked_lua "${lua#linked }") ;; esac
  command -v "$lua" >/dev/null || { skip "no $lua to build for"; continue; }
  output=$($MAKE -s --no-print-directory LUA="$lua" LUA_INCDIR= all 2>&1) || {
    printf '%s\n' "$output"
    echo "gpureduce in $host: FAILED: no module for $lua"
    failed=$((failed + 1))
    continue
  }
  output=$(export GPUREDUCE_HOST="$host" LUA_CPATH="$PWD/$build/$lua/?.so;;"
    eval "timeout 60 $command" 2>&1 </dev/null)
  status=$?
  told=$(tr -d '\r' <<<"$output" | grep -m1 -e "${line:-^gpureduce in $host: ok (}")
  if [ $status = 0 ] && [ -n "$told" ]; then
    ran=$((ran + 1))
    [ -z "$line" ] || told="gpureduce in $host: ok ($told)"
    echo "$told, $found"
  else
    failed=$((failed + 1))
    printf '%s\n' "$output"
    echo "gpureduce in $host: FAILED (status $status), $found"
  fi
done <<<"$rows"

echo "engines: $ran ran, $failed failed${skipped:+, skipped: $skipped}"
[ $failed = 0 ] && [ $ran != 0 ]
