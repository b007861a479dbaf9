#!/bin/sh
# All that is run on a GPU machine before a change to the CUDA half counts as done. Usage: bench/gpu.sh DIRECTORY
# (for the logs), from the root, after make LUA=lua5.4 and make LUA=luajit.
out=${1:?directory for the logs}
root=$PWD
summary() { grep -E 'successes|ERROR SUMMARY|RACECHECK SUMMARY|touched' "$1"; }

for lua in lua5.4 luajit; do
  so=build/$lua
  export LUA_CPATH_5_4="$root/build/lua5.4/?.so;${LUA_CPATH_5_4:-;}" LUA_CPATH="$root/$so/?.so;${LUA_CPATH:-;}"
  busted --lua="$(command -v $lua)" --cpath="$root/$so/?.so" >"$out/specs-$lua.txt" 2>&1
  summary "$out/specs-$lua.txt"
done
lua5.4 spec/bits.lua write "$out/bits.txt"
lua5.4 bench/spine.lua | tee "$out/spine.txt"
lua5.4 bench/breadth.lua >"$out/breadth.txt" 2>/dev/null
head -12 "$out/breadth.txt"
export GPUREDUCE_SLABS=0 # the tools see where the driver's blocks end
for tool in memcheck racecheck; do
  for dtype in u8 i8 u16 i16 u32 i32 i64 f16 bf16 f32 f64; do
    { timeout 300 compute-sanitizer --tool $tool lua5.4 bench/touch.lua $dtype 2>&1
      echo "exit $?"; } >"$out/$tool-$dtype.part" &
  done
  wait
  for part in "$out/$tool"-*.part; do
    echo "$(basename "$part" .part): $(summary "$part" | tr '\n' ' ') $(tail -1 "$part")"
  done | tee "$out/$tool.txt"
done
