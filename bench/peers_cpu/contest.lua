-- What the benchmarks beside other libraries on the CPU share: contenders that take turns, bare loops that say what is
-- possible, the comparison of results, and the raw lines: words of the case, contender, nanoseconds of one call.
local contest = {}

--- The process that has NumPy and torch. NumPy works on one thread, all of it but dot by itself: the idle threads of
-- its OpenBLAS would go on using CPUs.
contest.python = ("OPENBLAS_NUM_THREADS=1 %s bench/peers_cpu/python_peer.py"):format(os.getenv "PYTHON" or "python3")

local function median(t)
  table.sort(t)
  return t[math.floor(#t / 2) + 1]
end

--- The mean nanoseconds of so many calls of f, after one that is not counted. With as many arguments as somebody would
-- write: a nil behind them costs a nanosecond and more.
-- wait, if given, gets the last result and waits for it.
function contest.timer(gr, f, a, b, c, wait)
  if wait then
    return function(calls)
      local result = f(a, b, c)
      wait(result)
      local start = gr.clock()
      for _ = 1, calls do result = f(a, b, c) end
      wait(result)
      return (gr.clock() - start) / calls * 1e9
    end
  end
  local function loop(calls)
    if c ~= nil then for _ = 1, calls do f(a, b, c) end
    elseif b ~= nil then for _ = 1, calls do f(a, b) end
    else for _ = 1, calls do f(a) end end
  end
  return function(calls)
    loop(1)
    local start = gr.clock()
    loop(calls)
    return (gr.clock() - start) / calls * 1e9
  end
end

local floats = { f32 = true, f64 = true }

--- The names of the bare loops for an operation on n elements. The first of them is what reading is measured by: those
-- behind it find in the cache what it has left there.
function contest.bare_ways(op, dtype, n)
  local float = floats[dtype]
  if op == "dot" then
    return float and { n >= 1e6 and "read_both", "multiply", dtype == "f32" and "dot_convert2" } or {}
  end
  if op == "scan" then
    if n >= 1e6 then return float and { "move", "move_past" } or { "widen_near", "widen", "widen_past" } end
    return { float and "groups" or "widen_near" }
  end
  if op:match "^histogram" then return { "histogram" } end
  if op:match "^bincount" then return { "count_range" } end
  if op == "sum" or op == "min" or op == "max" or op == "argmax" then
    return { n <= 2e6 and "read_plain" or "read_t1_by_8", "read", "halves" }
  end
  return {}
end

local is_bare = {}
for name in ("call multiply dot_convert2 read read_both read_plain read_t1_by_8 halves groups move move_past widen "
  .. "widen_near widen_past histogram count_range"):gmatch "%S+" do
  is_bare[name] = true
end

local function compare(what, expected, got, tolerance, least)
  local room = tolerance * math.max(least or 1, math.abs(expected))
  local same = expected == got or (expected ~= expected and got ~= got)
  local near = math.abs(expected - got) <= room -- never, where one of them is a NaN
  if not same and not near then
    error(("%s: NumPy says %.17g, here it is %.17g"):format(what, expected, got), 0)
  end
end

--- Whether a result is what the peer answered: a number, or "file" and an array of doubles there. The tolerance is of
-- the number expected, or of `least` (1) where that is more.
function contest.verify(gr, what, answer, file, got, tolerance, least)
  if answer ~= "file" then
    return compare(what, tonumber(answer) or error(what .. ": " .. answer, 0), got, tolerance, least)
  end
  local expected = gr.load(file, "f64")
  local step = math.max(1, math.floor(#got / 1000))
  for k = 1, #expected do
    local at = (k - 1) * step + 1
    compare(what .. " at " .. at, expected[k], got[at], tolerance, least)
  end
end

--- All contenders { name, time } of a case in turns, rounds times: a raw line each, the median; of bare loops the
-- least, too. A processor that slept takes a millisecond to be of use, so samples of several threads are long. far: a
-- contender that takes so many times as long as the first takes part in two rounds only. brief: short samples and the
-- least of all of them, for a processor that others use, too, where a long sample is interrupted for certain.
function contest.sample(gr, case, contenders, rounds, threads, far, brief)
  local times, budget = {}, brief and 1e6 or threads > 1 and 1.5e7 or 2e6
  -- Results take new memory until the collector runs: on a machine whose memory is new, a fault for each page; on a
  -- device, whose driver takes hundreds of microseconds, until it has run and nothing new was asked for since.
  local warm, latest = gr.clock() + 0.05, gr.clock() + (gr.backend() == "cpu" and 0.05 or 0.5)
  local some, known = math.max(1, math.floor(2e6 / contenders[1].time(1))), nil
  local function settled()
    local before = known
    known = gr.stats().allocations
    return known == before
  end
  repeat contenders[1].time(some) until gr.clock() > warm and settled() or gr.clock() > latest
  for k, c in ipairs(contenders) do
    times[k] = {}
    local once = c.time(1)
    c.calls = math.max(1, math.min(1e6, math.floor(budget / once)))
    c.rounds = k > 1 and far and once > far * contenders[1].time(1) and math.min(2, rounds) or rounds
  end
  for r = 1, rounds do
    for k, c in ipairs(contenders) do
      if r <= c.rounds then times[k][r] = c.time(c.calls) end
    end
  end
  for k, c in ipairs(contenders) do
    print(("%s %s %.2f"):format(case, c.name, median(times[k]))) -- which sorts them
    if is_bare[c.name] or brief then print(("%s %s_least %.2f"):format(case, c.name, times[k][1])) end
  end
  io.stdout:flush()
end

--- The cases of raw lines, { contender = nanoseconds } each, and their order. A later run of the same case counts.
function contest.read(names)
  local cases, order = {}, {}
  for _, name in ipairs(names) do
    for line in io.lines(name) do
      local case, who, ns = line:match "^([^#].*) (%S+) (%S+)$"
      if case then
        if not cases[case] then order[#order + 1] = case end
        cases[case] = cases[case] or {}
        cases[case][who] = tonumber(ns)
      end
    end
  end
  return cases, order
end

return contest
