#!/bin/sh
# All that is run on a GPU machine before a change to the CUDA half counts as done. Usage: bench/gpu.sh DIRECTORY
# (for the logs), from the root, with build/gpureduce.so for lua5.4 and build/luajit/gpureduce.so for LuaJIT built.
out=${1:?directory for the logs}
root=$PWD
summary() { grep -E 'successes|ERROR SUMMARY|RACECHECK SUMMARY|touched' "$1"; }

for lua in lua5.4 luajit; do
  so=build; [ $lua = luajit ] && so=build/luajit
  export LUA_CPATH_5_4="$root/build/?.so;${LUA_CPATH_5_4:-;}" LUA_CPATH="$root/$so/?.so;${LUA_CPATH:-;}"
  busted --lua="$(command -v $lua)" --cpath="$root/$so/?.so" >"$out/specs-$lua.txt" 2>&1
  summary "$out/specs-$lua.txt"
done
lua5.4 spec/bits.lua write "$out/bits.txt"
lua5.4 bench/spine.lua | tee "$out/spine.txt"
lua5.4 bench/breadth.lua >"$out/breadth.txt" 2>/dev/null
head -12 "$out/breadth.txt"
for tool in memcheck racecheck; do
  timeout 150 compute-sanitizer --tool $tool lua5.4 bench/touch.lua >"$out/$tool.txt" 2>&1
  summary "$out/$tool.txt"
done
