#!/usr/bin/env bash
# What a real GPU is asked before a change to the CUDA half counts as safe: compute-sanitizer's four tools over every
# kernel (bench/touch.lua), random calls and formulas, a device lost in the middle, and mixed work whose memory must
# stay flat.
# Usage: bench/gpu_hostile.sh DIRECTORY [SECONDS]    from the root, after make, with lua5.4; SECONDS (120) of mixed
# work. The directory gets the logs. Some 8 minutes on 16 cores; the last line is "gpu_hostile: ok" or says what failed.
set -uo pipefail
out=${1:?directory for the logs}
seconds=${2:-120}
mkdir -p "$out"
export LUA_CPATH="$PWD/build/lua5.4/?.so;;"
unset LUA_CPATH_5_4
failed=
check() { if [ "$1" = 0 ]; then echo "$2: ok"; else echo "$2: FAILED"; failed="$failed $2"; fi; }

lua5.4 -e 'local gr = require "gpureduce"; print(gr.backend()); os.exit(gr.backend():find "^cuda" and 0 or 1)' ||
  { echo "gpu_hostile: no CUDA device"; exit 2; }

# What a tool says and is none: initcheck sees gr_read_loose read whole words over an array's ends, whose bytes beyond
# it are masked.
known() { [ "$1" = initcheck ] && ! grep -A3 "Uninitialized" "$2" | grep "    at " | grep -qv "gr_read_loose"; }

# racecheck and synccheck look at shared memory and barriers, initcheck at reads of what nobody wrote.
# Without a number of its own synccheck's table of mbarriers overflows, with a large one it has no memory for it.
# Without slabs all see where blocks end.
for tool in memcheck racecheck initcheck "synccheck --num-cuda-barriers 1024"; do
  for dtype in u8 i8 u16 i16 u32 i32 i64 f16 bf16 f32 f64; do
    { GPUREDUCE_SLABS=0 timeout 300 compute-sanitizer --tool $tool --error-exitcode 9 lua5.4 bench/touch.lua $dtype
      echo "exit $?"; } >"$out/${tool%% *}-$dtype.txt" 2>&1 &
  done
  wait
  bad=
  tool=${tool%% *}
  for log in $(grep -L '^exit 0$' "$out/$tool"-*.txt); do known $tool "$log" || bad="$bad $log"; done
  check $([ -z "$bad" ] && echo 0 || echo 1) "$tool"
  [ -z "$bad" ] || tail -n 3 $bad
done

# 10^5 calls; the fuzzer takes the GPUs that there are.
if [ -f spec/hostile/fuzz.lua ]; then
  timeout 200 make -s fuzz LUA=lua5.4 CALLS=100000 >"$out/fuzz.txt" 2>&1
  check $? "random calls"
fi

# 20000 random expressions of 1000 texts, whose bits must be the CPU's.
for k in 1 2 3 4 5 6 7 8; do
  timeout 400 lua5.4 bench/gpu_formulas.lua part=$k/8 >"$out/formulas-$k.txt" 2>&1 &
done
wait
tail -qn 1 "$out"/formulas-?.txt
check "$(grep -L ': ok$' "$out"/formulas-?.txt | wc -l)" "random formulas"

# The k-th launch writes where nothing is. What the host has must go on, the rest say so, and the process end by itself.
for k in 1 2 5; do
  GPUREDUCE_TEST_LOSE=$k timeout 60 lua5.4 bench/gpu_lost.lua >"$out/lost-$k.txt" 2>&1
  check $? "device lost at launch $k"
done

timeout $((seconds + 60)) lua5.4 bench/gpu_flat.lua "$seconds" >"$out/flat.txt" 2>&1
check $? "memory stays flat"
tail -n 3 "$out/flat.txt"
[ -z "$failed" ] && echo "gpu_hostile: ok" || { echo "gpu_hostile: FAILED:$failed"; exit 1; }
