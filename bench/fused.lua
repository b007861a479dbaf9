-- Formulas beside NumPy, PyTorch, torch.compile and CuPy, and beside the built-in operations: times until the number
-- is a Lua or Python value, in turns, on the same numbers, after the results have been compared. From the root, after
-- make:
--   lua5.4 bench/fused.lua [most=28] [rounds=7] [only=mse,formulas,many,shapes,operators,first,repeated,frames,
--     squares,functions]
-- Bytes of inputs a second; GB is 10^9. On the device in use, or on the CPU where there is none; most: the largest
-- length is 2^most (GPU 28, CPU 24). PYTHON names the interpreter that has the peers; those it lacks are left out, and
-- named. A line ends with what was asked, and * where it is missed; the last line counts.
package.path = "./bench/peers/?.lua;./?.lua;" .. package.path
local gr = require "gpureduce"
local peer = require "process"
local unpack = table.unpack or unpack -- luacheck: ignore unpack

local device = gr.backend():match "^[%w:]+"
local on_gpu = device:find "^cuda" ~= nil
local options = { rounds = "7", most = on_gpu and "28" or "24" }
for _, a in ipairs(arg) do
  local key, value = a:match "^(%w+)=(.*)$"
  options[key or error("what is '" .. a .. "'?")] = value
end
local rounds, most = tonumber(options.rounds), tonumber(options.most)
local function wanted(name)
  return not options.only or ("," .. options.only .. ","):find("," .. name .. ",", 1, true)
end

local texts = { mse = "(a - b)^2", squares = "(a - b)^2", chain = "sqrt(a*a + b*b) * 0.5 + a",
  ratio = "abs(a - b) / (abs(b) + 1)" }
local ended_by = { mse = "mean", squares = "sum", chain = "sum", ratio = "max" }

-- ---- first: what a process pays that has not seen a formula; said to the process that started it ----

if options.first then
  local a, b = gr.rand(2 ^ 20, { seed = 1 }), gr.rand(2 ^ 20, { seed = 2 })
  a:sum()
  b:sum()
  for _, name in ipairs { "chain", "ratio" } do
    local start = gr.clock()
    local e = gr.fuse(texts[name]) { a = a, b = b }
    local x = e[ended_by[name]](e)
    io.write(("%.17g %.17g "):format((gr.clock() - start) * 1e6, x))
  end
  print ""
  return
end

-- ---- times ----

local function median(t)
  table.sort(t)
  return t[math.floor(#t / 2) + 1]
end

-- us of one call, the mean of as many as fill a few milliseconds; by f itself, or by a peer: f(calls) in nanoseconds.
local function ours(f)
  return function(calls)
    f()
    local start = gr.clock()
    for _ = 1, calls do f() end
    return (gr.clock() - start) / calls * 1e6
  end
end

-- Medians of all contenders { name, time }, in turns.
local function in_turns(contenders)
  local each, calls = {}, {}
  for k, c in ipairs(contenders) do
    each[k] = {}
    c.time(1)
    calls[k] = math.max(1, math.min(5000, math.floor((on_gpu and 5000 or 20000) / math.max(c.time(1), 0.01))))
  end
  for round = 1, rounds do
    for k, c in ipairs(contenders) do each[k][round] = c.time(calls[k]) end
  end
  local us = {}
  for k, c in ipairs(contenders) do us[c.name] = median(each[k]) end
  return us
end

local missed, asked_for = 0, 0
-- asked: the most (or with a sign ">" the least) that `ratio` may be; on_gpu, unless it is asked of the CPU.
local function verdict(ratio, sign, asked, of_cpu)
  if not asked or not (on_gpu or of_cpu) then return "" end
  local holds = sign == "<" and ratio <= asked or sign == ">" and ratio >= asked
  asked_for = asked_for + 1
  if not holds then missed = missed + 1 end
  return ("   asked %s %g%s"):format(sign, asked, holds and "" or " *")
end

local function say(...) print((...):format(select(2, ...))) io.stdout:flush() end

local function near(what, expected, got, tolerance)
  local is_near = math.abs(expected - got) <= tolerance * math.max(1, math.abs(expected))
  if not is_near then -- of NaN, too
    error(("%s: %.17g and %.17g"):format(what, expected, got), 0)
  end
end

-- ---- peers ----

local ask, able = nil, {}
local python = "OPENBLAS_NUM_THREADS=1 FUSED_ON=%s %s bench/peers/fused_peer.py"
do
  local process = peer(python:format(on_gpu and "gpu" or "cpu", os.getenv "PYTHON" or "python3"))
  local ok, answer = pcall(process, "open")
  local who, missing, versions = (ok and answer or ""):match "^(.-)|(.-)|(.*)$"
  if who then
    ask = process
    for name in who:gmatch "%S+" do able[#able + 1] = name end
  end
  say("# %s, %s, %s, %s; %s", gr._VERSION, rawget(_G, "jit") and jit.version or _VERSION, gr.backend(),
    gr.instructions(), versions or "no Python peers")
  if missing ~= "" then say("# left out: %s", missing or "all peers, python3 or its NumPy is not there") end
end

local function peer_time(who, op, n)
  return function(calls)
    local answer = ask("time", who, op, ("%d"):format(n), ("%d"):format(calls))
    return (tonumber(answer) or error(who .. ": " .. answer, 0)) / 1000
  end
end

local function give(...)
  if not ask then return end
  ask "reset"
  for k = 1, select("#", ...) do
    local name = os.tmpname()
    gr.save(select(k, ...), name .. ".npy")
    local answer = ask("load", name .. ".npy")
    os.remove(name .. ".npy")
    os.remove(name)
    if answer ~= "ok" then error(answer, 0) end
  end
end

-- The peers that can, and whose result is near ours.
local function peers_of(op, n, expected, tolerance)
  local list = {}
  for _, who in ipairs(ask and able or {}) do
    local answer = ask("check", who, op, ("%d"):format(n))
    local got = tonumber(answer)
    if not got then say("# %s %s: %s", who, op, answer) else
      near(who .. " " .. op, expected, got, tolerance)
      list[#list + 1] = { name = who, time = peer_time(who, op, n) }
    end
  end
  return list
end

local function data(n, dtype)
  local a = gr.rand(n, dtype or "f32", { seed = 1 })
  local b = gr.rand(n, dtype or "f32", { seed = 2 })
  return a:sub(0.5, { into = a }), b:sub(0.25, { into = b })
end

local longest = 2 ^ most
local a, b
local function both()
  if not a then
    a, b = data(longest)
    give(a, b)
  end
end

local function gigabytes(n, us, inputs) return 4 * (inputs or 2) * n / us / 1000 end

-- ---- formulas that reduce, beside everyone ----

local function one_formula(op, n, asked)
  local x, y = a:slice(1, n), b:slice(1, n)
  local f = gr.fuse(texts[op])
  local given, finish = { a = x, b = y }, ended_by[op]
  local expression = f(given)
  local expected = gr[finish](expression)
  local eager = ({
    chain = function() return (((x * x + y * y):sqrt() * 0.5) + x):sum() end,
    ratio = function() return ((x - y):abs() / (y:abs() + 1)):max() end,
    mse = function() return ((x - y) ^ 2):mean() end,
  })[op]
  near(op .. ", eager", expected, eager(), 0)
  local list = peers_of(op, n, expected, 1e-3)
  table.insert(list, 1, { name = "gpureduce", time = ours(function()
    local e = f(given)
    return e[finish](e)
  end) })
  list[#list + 1] = { name = "eager", time = ours(eager) }
  if op == "mse" then
    near("gr.mse", expected, gr.mse(x, y), 1e-6) -- which widens before it subtracts
    list[#list + 1] = { name = "built_in", time = ours(function() return gr.mse(x, y) end) }
  end
  local us = in_turns(list)
  local line = {}
  for k, c in ipairs(list) do line[k] = ("%s %.1f"):format(c.name, us[c.name]) end
  local best, who = math.huge, "eager"
  for _, c in ipairs(list) do
    if c.name ~= "gpureduce" and us[c.name] < best then best, who = us[c.name], c.name end
  end
  local rate = gigabytes(n, us.gpureduce)
  say("%-6s 2^%-4.1f %8.1f GB/s, us: %s; %.2f of %s%s", op, math.log(n) / math.log(2), rate, table.concat(line, ", "),
    best / us.gpureduce, who, asked and asked(us, rate) or "")
end

if wanted "mse" then
  both()
  for _, k in ipairs { 26, 28 } do
    if k <= most or k == 26 then
      one_formula("mse", 2 ^ math.min(k, most), function(us)
        return verdict(us.gpureduce / us.built_in, "<", 1.03)
      end)
    end
  end
end

if wanted "formulas" then
  both()
  for _, op in ipairs { "chain", "ratio" } do
    for k = 14, most, 2 do
      one_formula(op, 2 ^ k, function(us, rate)
        local text = verdict(us.gpureduce / us.eager, "<", 1)
        if k == 28 then text = text .. verdict(rate, ">", 4350) end
        if us.compile then text = text .. verdict(us.compile / us.gpureduce, ">", k <= 20 and 4 or k == 28 and 1.6) end
        return text
      end)
    end
  end
end

-- ---- several of one expression, and other shapes ----

local function two(what, n, f, g, inputs, more, asked)
  local us = in_turns { { name = "f", time = ours(f) }, { name = "g", time = ours(g) } }
  local ratio = us.f / us.g
  if more then ratio = ratio * more end -- bytes of the second over those of the first
  say("%-40s %10.1f us, %8.1f GB/s; %.3f of the time%s%s", what, us.f, gigabytes(n, us.f, inputs), ratio,
    more and " a byte" or "", verdict(ratio, "<", asked))
end

if wanted "many" then
  both()
  local n = 2 ^ math.min(26, most)
  local e = gr.fuse(texts.chain) { a = a:slice(1, n), b = b:slice(1, n) }
  local list = { { "sum", e }, { "min", e }, { "max", e }, { "mean", e } }
  local sum, least, largest = gr.many(list)
  assert(sum == e:sum() and least == e:min() and largest == e:max())
  two("sum, min, max and mean, of sum alone", n, function() return gr.many(list) end, function() return e:sum() end, 2,
    nil, 1.1)
end

if wanted "shapes" then
  both()
  local n = 2 ^ math.min(26, most)
  local x, y = a:slice(1, n), b:slice(1, n)
  local one, pair = gr.fuse "a * a + 1" { a = x }, gr.fuse "a * b + 1" { a = x, b = y }
  local stored = one:eval()
  local out, sums = gr.zeros(n), { rows = gr.zeros(1024, "f64"), columns = gr.zeros(n / 1024, "f64") }
  local ways = {
    { "rows", function(z) return gr.sum(z, { rows = 1024, into = sums.rows })[1] end },
    { "columns", function(z) return gr.sum(z, { rows = 1024, axis = 1, into = sums.columns })[1] end },
    { "histogram", function(z) return gr.histogram(z, { bins = 256, min = 0, max = 2 }).counts[1] end },
    { "scan", function(z) return gr.scan(z, "sum", { into = out })[n] end },
  }
  for _, way in ipairs(ways) do
    assert(way[2](one) == way[2](stored), way[1])
    two(way[1] .. " of a*a + 1, of an array's", n, function() return way[2](one) end,
      function() return way[2](stored) end, 1, nil, 1.1)
    local more = way[1] == "scan" and 2 / 3 or 1 / 2 -- a scan stores as many bytes as it reads
    two(way[1] .. " of a*b + 1, of an array's", n, function() return way[2](pair) end,
      function() return way[2](stored) end, 2, more, 1.1)
  end
end

-- ---- operators of one's own, beside what is built in ----

if wanted "operators" then
  both()
  local huge = math.huge
  local list = {
    { "sum", { state = "s", map = "f64(x)", merge = "s1 + s2", identity = 0 }, gr.sum },
    { "min and max", { state = { "lo", "hi" }, map = { lo = "x", hi = "x" }, identity = { lo = huge, hi = -huge },
      merge = { lo = "min(lo1, lo2)", hi = "max(hi1, hi2)" } }, gr.minmax },
    { "argmax of |x|", { state = { "m", "p" }, map = { m = "abs(x)", p = "i" }, identity = { m = -huge, p = 0 },
      merge = { m = "max(m1, m2)", p = "m1 > m2 and p1 or (m2 > m1 and p2 or min(p1, p2))" }, finish = "p" },
      function(x) return gr.argmax(gr.lazy(x):abs()) end },
    { "log-sum-exp", { state = { "m", "s" }, map = { m = "f64(x)", s = "1.0" }, identity = { m = -huge, s = 0 },
      merge = { m = "max(m1, m2)",
        s = "where(m2 > m1, s1 * exp(m1 - m2) + s2, s2 * exp(where(m1 == m2, 0, m2 - m1)) + s1)" },
      finish = "m + log(s)" }, gr.logsumexp },
  }
  for _, case in ipairs(list) do
    local start = gr.clock()
    local op = gr.operator(case[2])
    op(a:slice(1, 1000))
    local first = (gr.clock() - start) * 1e6
    for _, k in ipairs { 10, 14, math.min(20, most), most } do
      local x = a:slice(1, 2 ^ k)
      near(case[1], (case[3](x)), (op(x)), 1e-12)
      two(("operator, %s of 2^%d, of built in"):format(case[1], k), 2 ^ k, function() return op(x) end,
        function() return case[3](x) end, 1)
    end
    say("  first use %.0f us", first)
  end
end

-- ---- the first time, and again ----

if wanted "first" then
  local cache = os.tmpname()
  os.remove(cache)
  local command = ("CUDA_CACHE_PATH=%s %s bench/fused.lua first=1"):format(cache, arg[-1] or "lua5.4")
  local found = {}
  for process = 1, 2 do
    local p = assert(io.popen(command))
    local words = {}
    for word in p:read("*a"):gmatch "%S+" do words[#words + 1] = tonumber(word) end
    p:close()
    assert(#words == 4, "the first use printed something else")
    found[process] = words
  end
  assert(found[1][2] == found[2][2] and found[1][4] == found[2][4])
  say("first formula of a process %.0f us, another %.0f us%s%s", found[1][1], found[1][3],
    verdict(found[1][1] / 1000, "<", 120), verdict(found[1][3] / 1000, "<", 60))
  say("in the next process %.0f us, another %.0f us%s", found[2][1], found[2][3],
    verdict(found[2][3] / 1000, "<", 1.5))
  os.execute("rm -rf " .. cache)
  both()
  for _, who in ipairs(ask and able or {}) do
    local answer = ask("first", who, "chain", ("%d"):format(math.min(longest, 2 ^ 20)))
    if who ~= "numpy" then say("%s, first: %.0f us", who, (tonumber(answer) or 0) / 1000) end
  end
end

if wanted "repeated" then
  both()
  for _, n in ipairs { 16, 1000, 2 ^ 14 } do
    local x, y = a:slice(1, n), b:slice(1, n)
    local f, given = gr.fuse(texts.mse), { a = x, b = y }
    local e = f(given)
    local us = in_turns {
      { name = "built in", time = ours(function() return gr.mse(x, y) end) },
      { name = "again", time = ours(function() return e:mean() end) },
      { name = "bound anew", time = ours(function() return f(given):mean() end) },
    }
    say("n %-6d gr.mse %.2f us, the same expression again %+.2f us%s, bound anew %+.2f us", n, us["built in"],
      us.again - us["built in"], verdict(us.again - us["built in"], "<", 1), us["bound anew"] - us["built in"])
  end
end

if wanted "frames" then
  both()
  local f = gr.fuse "(a - b * scale)^2 + offset"
  local longest_frame = math.min(longest, 100000)
  local function frame(k)
    local n = longest_frame - k % 1000
    return f({ a = a:slice(1, n), b = b:slice(1, n), scale = k / 1000, offset = k }):sum()
  end
  frame(1)
  local before, compiled = gr.stats(), gr.compiled and #gr.compiled()
  local start = gr.clock()
  for k = 1, 10000 do frame(k) end
  local us = (gr.clock() - start) * 100
  local after = gr.stats()
  local allocated, more = after.allocations - before.allocations, compiled and #gr.compiled() - compiled
  say("10000 frames of %d elements: %.1f us each, %d allocations%s%s", longest_frame, us, allocated,
    verdict(allocated, "<", 0, true), more and (", %d compiled%s"):format(more, verdict(more, "<", 0)) or "")
end

-- ---- the CPU ----

gr.use "cpu"
if wanted "squares" then
  local n = math.min(longest, 1e7)
  local x, y = data(n)
  give(x, y)
  local f, given = gr.fuse(texts.squares), { a = x, b = y }
  for threads = 1, 2 do
    local was = gr.threads()
    gr.threads(threads)
    if ask then ask("threads", tostring(threads)) end
    local list = peers_of("squares", n, f(given):sum(), 1e-4)
    list[#list + 1] = { name = "gpureduce", time = ours(function() return f(given):sum() end) }
    list[#list + 1] = { name = "eager", time = ours(function() return ((x - y) ^ 2):sum() end) }
    local us = in_turns(list)
    local line = {}
    for k, c in ipairs(list) do line[k] = ("%s %.0f"):format(c.name, us[c.name]) end
    say("CPU, sum((a-b)^2) of %d, %d threads, us: %s%s", n, threads, table.concat(line, ", "),
      us.numpy and (" %.2f of NumPy%s"):format(us.numpy / us.gpureduce,
        verdict(us.numpy / us.gpureduce, ">", threads == 1 and 4 or 8, true)) or "")
    gr.threads(was)
  end
end

if wanted "functions" then
  local was = gr.threads()
  gr.threads(1)
  for _, dtype in ipairs { "f32", "f64" } do
    for _, n in ipairs { 1e3, 1e4, 1e5, 1e6, 1e7 } do
      if n <= longest then
        local x, line, worst = gr.rand(n, dtype, { seed = 1 }), {}, nil
        gr.add(gr.mul(x, 8, { into = x }), 0.125, { into = x })
        local out = gr.zeros(n, dtype)
        local how = { into = out }
        give(x)
        for _, op in ipairs { "exp", "log", "sin", "cos", "tanh" } do
          local g = gr[op]
          local list = peers_of(op, n, g(x, how):sum(), dtype == "f32" and 1e-6 or 1e-12)
          list[#list + 1] = { name = "gpureduce", time = ours(function() return g(x, how) end) }
          local us = in_turns(list)
          local ratio = us.numpy and us.gpureduce / us.numpy
          line[#line + 1] = ("%s %.2f ns%s"):format(op, us.gpureduce * 1000 / n, ratio and (" %.2f%s"):format(ratio,
            us.torch and (" %.2f"):format(us.gpureduce / us.torch) or "") or "")
          if ratio then worst = math.max(worst or 0, ratio) end
        end
        say("CPU, one thread, %s of %d, of NumPy's time%s: %s%s", dtype, n, ask and able[2] and " and torch's" or "",
          table.concat(line, ", "), worst and verdict(worst, "<", dtype == "f32" and 1 or 1.5, true) or "")
      end
    end
  end
  gr.threads(was)
end

say("fused: %d things asked, %d missed (*)", asked_for, missed)
