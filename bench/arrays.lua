-- Matrices, lookups, missing values, random numbers: calls that stream, as a share of a copy's bandwidth in the same
-- run; calls of rows and of what is missing beside the plain call; random numbers, random take and put beside torch's.
-- From the root, after make:
--   lua5.4 bench/arrays.lua [exponent=26, on the CPU 22] [rounds=7] [only=PATTERN of names]
-- Before a call is timed its result is compared: with that of the same call on the CPU, at a small size and bit by bit;
-- with what plain calls make of the same, at the size that is timed; and with torch's. Bytes are those that a call
-- cannot do without: each input read once, each result written once; behind them, where positions must be looked at
-- before anything is written, the share with those read twice. Array results stay on the device and calls follow each
-- other; numbers are futures. A ratio is that of calls until the number, or the last array, is there, in turns.
-- A line ends with * where what is asked of GPUs is missed: 0.6 of the copy's bandwidth for calls that stream, 1.05 of
-- the plain call's time, 1.1 of torch's, which random numbers are asked in place of a share, as arithmetic limits them.
-- PYTHON names the interpreter that has torch; for take and put on the CPU NumPy will do.
package.path = "./bench/peers/?.lua;./?.lua;" .. package.path
local gr = require "gpureduce"
local timing = require "bench.timing"
local median = timing.median
local unpack = table.unpack or unpack -- luacheck: ignore unpack

local device = gr.backend():match "^[%w:]+"
local on_gpu = device:find "^cuda" ~= nil
local options = timing.options(arg, { exponent = on_gpu and "26" or "22", rounds = "7", only = "." }, "exponent")
local rounds = tonumber(options.rounds)
local longest = 2 ^ tonumber(options.exponent)
local LEAST_SHARE, USUAL_SHARE, MOST_OF_PLAIN, MOST_OF_TORCH = 0.6, 0.85, 1.05, 1.1

local function say(...) print((...):format(select(2, ...))) io.stdout:flush() end

-- The first element, once it is there; what is at 1 in a matrix is a view of a row.
local function first_of(a) return a:slice()[1] end

-- ---- what is called ----

-- A case: its name; bytes; call(); flow(), the same without waiting, and wait(what flow gave); result(), a text that
-- differs where the result does; stream, whether a share is asked; again, bytes that have to be read a second time;
-- plain, the case beside it; peers, torch's calls beside it; check(), whether it is right.

local function text_of(value)
  if gr.isarray(value) then return value.dtype .. " " .. #value .. " " .. value:digest() end
  if type(value) == "number" then return ("%.17g"):format(value) end
  return tostring(value)
end

-- The cases for n elements, made on the device in use.
local function cases_of(n)
  local list = {}
  local function case(c)
    c.stream = c.stream == nil or c.stream
    list[#list + 1] = c
    return c
  end
  -- call(): writes `out` and does not wait
  local function array(name, bytes, call, out, more)
    local c = { name = name, bytes = bytes, call = call, flow = call, wait = function() return first_of(out) end,
      result = function() call() return text_of(out) end }
    for k, v in pairs(more or {}) do c[k] = v end
    return case(c)
  end
  -- gr[op] of these arguments, the last of which are options
  local function number(name, bytes, op, arguments, more)
    local count = #arguments
    local sync, async = { unpack(arguments) }, { unpack(arguments) }
    async[count] = { async = true }
    for k, v in pairs(arguments[count]) do async[count][k] = v end
    local c = { name = name, bytes = bytes,
      call = function() return gr[op](unpack(sync)) end }
    if device ~= "cpu" then -- which leaves futures that nobody asks
      c.flow, c.wait = function() return gr[op](unpack(async)) end, function(future) return future:get() end
    end
    c.result = function()
      local x, y = c.call()
      return text_of(x) .. " " .. text_of(y)
    end
    for k, v in pairs(more or {}) do c[k] = v end
    return case(c)
  end

  local bytes = 4 * n
  local a, b = gr.randn(n, { seed = 1 }), gr.randn(n, { seed = 2 })
  local out = gr.zeros(n)
  array("copy", 2 * bytes, function() a:copy { into = out } end, out)

  -- rows, columns and the plain call beside them
  local add_number = array("a - 0.5", 2 * bytes, function() a:sub(0.5, { into = out }) end, out)
  for _, columns in ipairs { 3, 64, 1024, 65536 } do
    if columns < n / 4 then
      local rows = math.floor(n / columns)
      local part = a:slice(1, rows * columns)
      local X, O = part:matrix(rows), out:slice(1, rows * columns):matrix(rows)
      local means = gr.randn(columns, { seed = 3 })
      local mu, s = gr.row(means), gr.column(gr.randn(rows, { seed = 4 }))
      local size = 4 * #X
      local shape = columns .. " columns"
      array("X - row(mu), " .. shape, 2 * size, function() gr.sub(X, mu, { into = O }) end, O,
        { plain = add_number, check = function()
          local again = means:take(gr.arange(0, rows * columns - 1, "i64") % columns + 1)
          return O:slice():equal(part - again)
        end })
      array("X / column(s), " .. shape, 2 * size, function() gr.div(X, s, { into = O }) end, O)
      for axis = 1, 2 do
        local into, counted = gr.zeros(axis == 1 and columns or rows, "f64"), axis == 1 and columns or rows
        for _, op in ipairs { "sum", "var" } do
          array(("%s, axis %d, %s"):format(op, axis, shape), size + 8 * counted,
            function() gr[op](X, { axis = axis, into = into }) end, into)
        end
        local ends = gr.zeros(axis == 1 and columns or rows)
        array(("max, axis %d, %s"):format(axis, shape), size + 4 * counted,
          function() gr.max(X, { axis = axis, into = ends }) end, ends)
        array(("scan, axis %d, %s"):format(axis, shape), 2 * size,
          function() gr.scan(X, "sum", { axis = axis, into = O }) end, O)
      end
      local single = gr.zeros(rows)
      array("sum, axis 2, out f32, " .. shape, size + 4 * rows,
        function() gr.sum(X, { axis = 2, out = "f32", into = single }) end, single)
      local spread = gr.lazy(X) - mu
      number("sum of (X - row(mu))^2, " .. shape, size, "sum", { spread * spread, {} })
      array("softmax, " .. shape, 2 * size, function() gr.softmax(X, { into = O }) end, O)
    end
  end
  local low, high = gr.full(n, -1), gr.full(n, 1)
  array("clamp between arrays", 4 * bytes, function() a:clamp(low, high, { into = out }) end, out,
    { check = function() return out:equal(a:clamp(-1, 1)) end })

  -- what is missing, beside the same call without
  local holes = gr.where(b:compare(">", 1), 0 / 0, a)
  local filled = gr.where(b:compare(">", 1), 0, a)
  local mask = b:compare("<=", 1)
  local flat = gr.zeros(n, "u8")
  array("isnan", bytes + n, function() holes:isnan { into = flat } end, flat)
  for _, op in ipairs { "sum", "mean", "var", "min", "max", "minmax", "argmax", "norm", "dot", "mse" } do
    local two = op == "dot" or op == "mse"
    local function of(x, how) return two and { x, b, how } or { x, how } end
    local size = two and 2 * bytes or bytes
    local plain = number(op, size, op, of(a, {}))
    number(op .. ", skipnan", size, op, of(holes, { skipnan = true }), { plain = plain,
      check = op == "sum" and function() return holes:sum { skipnan = true } == filled:sum() end })
    number(op .. ", mask", size + n, op, of(a, { mask = mask }), {
      check = op == "sum" and function() return a:sum { mask = mask } == filled:sum() end })
  end
  local rows = 2 ^ math.floor(math.log(n) / math.log(2) / 2)
  local into = gr.zeros(rows, "f64")
  for axis = 1, 2 do
    local name = ("sum, axis %d of a square"):format(axis)
    local plain = array(name, bytes, function() gr.sum(a, { rows = rows, axis = axis, into = into }) end, into)
    array(name .. ", skipnan", bytes,
      function() gr.sum(holes, { rows = rows, axis = axis, into = into, skipnan = true }) end, into, { plain = plain })
    array(name .. ", mask", bytes + n,
      function() gr.sum(a, { rows = rows, axis = axis, into = into, mask = mask }) end, into)
  end
  local scanned = array("scan", 2 * bytes, function() gr.scan(a, "sum", { into = out }) end, out)
  array("scan, skipnan", 2 * bytes, function() gr.scan(holes, "sum", { into = out, skipnan = true }) end, out,
    { plain = scanned, check = function() return out:equal(filled:scan()) end })
  array("scan, mask", 2 * bytes + n, function() gr.scan(a, "sum", { into = out, mask = mask }) end, out)
  local h = gr.histogram(a, { bins = 256, min = -4, max = 4 })
  local function counted(x, how)
    how.bins, how.min, how.max, how.into = 256, -4, 4, h
    return function() gr.histogram(x, how) end
  end
  local plain = array("histogram", bytes, counted(a, {}), h.counts)
  array("histogram, skipnan", bytes, counted(holes, { skipnan = true }), h.counts, { plain = plain })
  array("histogram, mask", bytes + n, counted(a, { mask = mask }), h.counts)

  -- lookups in order: the look at positions says that they are neighbours; and 480 of each 512, whose positions rise
  local gaps = gr.full(n, 1, "u8")
  for k = 1, 32 do gaps:slice(k, n, 512):fill(0) end
  local kept = gaps:count()
  local part, of_part = gr.zeros(kept), a:slice(1, kept)
  for _, dtype in ipairs { "i32", "i64" } do
    local index = gr.arange(1, n, dtype)
    local some = index:compact(gaps)
    local size = dtype == "i32" and bytes or 2 * bytes
    array("take in order, " .. dtype, 2 * bytes + size, function() a:take(index, { into = out }) end, out,
      { check = function() return out:equal(a) end })
    array("put in order, " .. dtype, 2 * bytes + size, function() out:put(index, a) end, out,
      { check = function() return out:equal(a) end })
    array("put in order, a number, " .. dtype, bytes + size, function() out:put(index, 2) end, out,
      { check = function() return out:min() == 2 and out:max() == 2 end })
    array("put in order, add, " .. dtype, 3 * bytes + size, function() out:put(index, a, { op = "add" }) end, out,
      { stream = false, result = function() out:fill(1):put(index, a, { op = "add" }) return text_of(out) end,
        check = function() return out:equal(a + 1) end })
    local most = kept * size / n
    array("take with gaps, " .. dtype, 8 * kept + most, function() a:take(some, { into = part }) end, part,
      { again = most, check = function() return part:equal(a:compact(gaps)) end })
    array("put with gaps, " .. dtype, 8 * kept + most, function() out:put(some, of_part) end, out,
      { again = most, check = function() return out:compact(gaps):equal(of_part) end })
    array("put with gaps, a number, " .. dtype, 4 * kept + most, function() out:put(some, 3) end, out,
      { again = most, check = function() return out:compact(gaps):min() == 3 and out:compact(gaps):max() == 3 end })
  end

  -- histograms of pairs, statistics of columns, selections
  local cells = gr.histogram2d(a, b, { bins = { 64, 64 }, range = { { -4, 4 }, { -4, 4 } } })
  local of_cells = { bins = { 64, 64 }, range = { { -4, 4 }, { -4, 4 } }, into = cells }
  array("histogram2d, 64 x 64", 2 * bytes, function() gr.histogram2d(a, b, of_cells) end, cells.counts,
    { check = function() return cells.counts:sum() + cells.outside == n end })
  for _, columns in ipairs { 4, 16 } do
    local X = a:matrix(n / columns)
    local C = gr.cov(X)
    array(("cov of %d columns"):format(columns), bytes, function() gr.cov(X, { into = C }) end, C, { stream = false })
  end
  case { name = "median", bytes = bytes, stream = false, call = function() return a:median() end,
    result = function() return text_of(a:median()) end }
  case { name = "quantiles, 5", bytes = bytes, stream = false,
    call = function() return a:quantile { 0, 0.25, 0.5, 0.75, 1 } end,
    result = function() return table.concat(a:quantile { 0, 0.25, 0.5, 0.75, 1 }, " ") end }
  array("where", 3 * bytes + n, function() gr.where(mask, a, b, { into = out }) end, out)
  array("where, with a number", 2 * bytes + n, function() gr.where(mask, a, 0, { into = out }) end, out)
  for _, every in ipairs { 2, 16 } do
    local marks = gr.zeros(n, "u8")
    marks:slice(1, n, every):fill(1)
    array("compact, 1 of " .. every, bytes * (1 + 1 / every) + n, function() a:compact(marks, { into = out }) end, out)
  end
  array("isclose", 2 * bytes + n, function() a:isclose(b, { into = flat }) end, flat)
  case { name = "allclose", bytes = 2 * bytes, call = function() return a:allclose(a:slice()) end,
    result = function() return text_of(a:allclose(a:slice())) end }

  -- random numbers
  local long = gr.zeros(n, "i64")
  array("randint, i64", 2 * bytes, function() gr.randint(1, 6, n, "i64", { seed = 1, into = long }) end, long,
    { peers = { "randint_i64", "random_i64" } })
  array("randint, u8", n, function() gr.randint(1, 6, n, "u8", { seed = 1, into = flat }) end, flat,
    { peers = { "randint_u8", "random_u8" } })
  array("rand", bytes, function() gr.rand(n, { seed = 1, into = out }) end, out, { peers = { "rand" } })
  array("randn", bytes, function() gr.randn(n, { seed = 1, into = out }) end, out, { peers = { "randn" } })
  array("exponential", bytes, function() gr.exponential(n, { seed = 1, into = out }) end, out,
    { peers = { "exponential_" } })
  array("permutation, i64", 2 * bytes, function() gr.permutation(n, "i64", { seed = 1, into = long }) end, long,
    { stream = false })
  return list
end

-- ---- verifying ----

local function results_of(n, where)
  gr.use(where)
  local found = {}
  for k, c in ipairs(cases_of(n)) do found[k] = { c.name, c.name:find(options.only) and c.result() } end
  gr.use(device)
  collectgarbage()
  collectgarbage()
  return found
end

local function compare_with_cpu()
  local small = math.min(longest, 2 ^ 18)
  local here, there = results_of(small, device), results_of(small, "cpu")
  local count = 0
  for k, r in ipairs(here) do
    if r[2] ~= there[k][2] then error(("%s: %s, on the CPU %s"):format(r[1], r[2], there[k][2]), 0) end
    if r[2] then count = count + 1 end
  end
  say("# %d calls have the bits of the CPU at 2^%g", count, math.log(small) / math.log(2))
end

-- ---- times ----

-- Seconds of `count` calls one after the other, and what waits for the last.
local function time(call, wait, count)
  local start, last = gr.clock(), nil
  for _ = 1, count do last = call() end
  if wait then wait(last) end
  return (gr.clock() - start) / count
end

local function count_for(call, wait)
  time(call, wait, 1)
  return math.max(2, math.min(2000, math.floor(0.005 / time(call, wait, 1))))
end

-- Medians of { call, wait } in turns.
local function in_turns(contenders)
  local each, counts = {}, {}
  for k, c in ipairs(contenders) do
    each[k] = {}
    counts[k] = c.count or count_for(c.call, c.wait)
  end
  for round = 1, rounds do
    for k, c in ipairs(contenders) do
      each[k][round] = c.time and c.time(counts[k]) or time(c.call, c.wait, counts[k])
    end
  end
  for k in ipairs(contenders) do each[k] = median(each[k]) end
  return unpack(each)
end

local asked, missed, usual, streams = 0, 0, 0, 0
local function star(holds)
  asked = asked + 1
  if not holds then missed = missed + 1 end
  return holds and "" or " *"
end

local function waits_of(c) return c.wait and c.flow == c.call and c.wait or nil end

-- ---- torch ----

local ask, who, has -- asks it something; who it is, or why there is none; its calls

local function open_peer()
  if who then return ask end
  local process = require "process"
  ask = process(("OPENBLAS_NUM_THREADS=1 LOOKUP_ON=%s %s bench/peers/lookup_peer.py"):format(
    on_gpu and "gpu" or "cpu", os.getenv "PYTHON" or "python3"))
  local ok, answer = pcall(ask, "open")
  who = ok and answer or "no python3 with NumPy"
  if who:find "^no" then ask = nil else has = " " .. ask "names" .. " " end
  return ask
end

-- Those of these calls that it has.
local function those(...)
  local list = {}
  for _, name in ipairs { ... } do
    if has:find(" " .. name .. " ", 1, true) then list[#list + 1] = name end
  end
  return list
end

-- Seconds of ours, and in words those of the peer's calls and the ratio to the least. compare(): what these give; nil:
-- they need not be alike.
local function against(call, wait, calls, compare)
  -- as theirs: after a call that is not counted, since the device goes from one process to the other
  local contenders = { { count = count_for(call, wait), time = function(count)
    time(call, wait, 1)
    return time(call, wait, count)
  end } }
  call()
  for _, peer in ipairs(calls) do
    if compare then
      local path = os.tmpname()
      local answer = ask("keep", peer, path .. ".npy")
      if answer ~= "ok" then error(peer .. ": " .. answer, 0) end
      if not gr.load(path .. ".npy"):equal(compare()) then error(peer .. " gives another result", 0) end
      os.remove(path .. ".npy")
      os.remove(path)
    end
    local first = tonumber((ask("time", peer, "1"))) / 1e9
    contenders[#contenders + 1] = { count = math.max(2, math.min(2000, math.floor(0.005 / first))),
      time = function(count) return tonumber((ask("time", peer, ("%d"):format(count)))) / 1e9 end }
  end
  local times = { in_turns(contenders) }
  local best, words = math.huge, {}
  for k, peer in ipairs(calls) do
    best = math.min(best, times[k + 1])
    words[k] = ("%s %.1f us"):format(peer, times[k + 1] * 1e6)
  end
  local ratio = times[1] / best
  return times[1], ("%s: %.3f"):format(table.concat(words, ", "), ratio) .. star(ratio <= MOST_OF_TORCH)
end

say("# %s, %s, %s, %s; 2^%s elements of f32, medians of %d rounds", gr._VERSION,
  rawget(_G, "jit") and jit.version or _VERSION, gr.backend(), gr.instructions(), options.exponent, rounds)
if device ~= "cpu" then compare_with_cpu() end

local cases = cases_of(longest)
local copy = cases[1]
local copy_rate = copy.bytes / (in_turns { { call = copy.flow, wait = copy.wait } })
say("# a copy reads and writes %.1f GB/s", copy_rate / 1e9)

for _, c in ipairs(cases) do
  if c.name:find(options.only) then
    local torch = c.peers and open_peer() and those(unpack(c.peers)) or {}
    if c.check then
      c.result()
      if not c.check() then error(c.name .. ": wrong result", 0) end
    end
    local s = in_turns { { call = c.flow or c.call, wait = c.wait } }
    local share = c.bytes / s / copy_rate
    local line = ("%-38s %10.1f us %8.1f GB/s %5.2f of copy"):format(c.name, s * 1e6, c.bytes / s / 1e9, share)
    if #torch > 0 then
      ask("size", ("%d"):format(longest))
      line = line .. "; " .. select(2, against(c.call, c.wait, torch))
    elseif c.stream then
      streams = streams + 1
      if share >= USUAL_SHARE then usual = usual + 1 end
      if c.again then line = line .. (", %.2f with positions twice"):format(share * (1 + c.again / c.bytes)) end
      line = line .. star(share >= LEAST_SHARE)
    else
      line = line .. ", several passes"
    end
    if c.plain then
      local p = c.plain
      -- as many calls of each, as the wait for the last is shared among them
      local count = math.max(count_for(c.call, waits_of(c)), count_for(p.call, waits_of(p)))
      local mine, theirs = in_turns { { call = c.call, wait = waits_of(c), count = count },
        { call = p.call, wait = waits_of(p), count = count } }
      -- a matrix of three columns is one element short
      local ratio = mine / c.bytes / (theirs / p.bytes)
      line = line .. ("; %.1f us, %.3f of %s"):format(mine * 1e6, ratio, p.name) .. star(ratio <= MOST_OF_PLAIN)
    end
    say("%s", line)
  end
end
cases, copy = nil, nil -- luacheck: ignore
collectgarbage()
collectgarbage()
gr.trim()

-- ---- random lookups beside torch's ----

local function lookups()
  local function beside(name, ...)
    local mine, words = against(...)
    say("%-38s %10.1f us, %s", name, mine * 1e6, words)
  end
  if not open_peer() then
    say("# random take and put have no peer: %s", who)
    return
  end
  say("# random take and put beside %s", who)
  local function give(name, array)
    local path = os.tmpname()
    gr.save(array, path .. ".npy")
    local answer = ask("load", name, path .. ".npy")
    os.remove(path .. ".npy")
    os.remove(path)
    if answer ~= "ok" then error(answer, 0) end
  end
  local n = longest
  local a, values = gr.randn(n, { seed = 1 }), gr.randn(n, { seed = 2 })
  give("a", a)
  give("values", values)
  for _, kind in ipairs { "a permutation", "positions drawn" } do
    -- scatter_ and index_copy_ take indices of i64 alone
    local index = kind == "a permutation" and gr.permutation(n, "i64", { seed = 5 }) or
      gr.randint(1, n, n, "i64", { seed = 5 })
    give("index", index)
    local out = gr.zeros(n)
    local function last() return out[1] end
    local taken
    beside("take, " .. kind .. ", a new array", function()
      if taken then taken:release() end
      taken = a:take(index)
    end, function() return taken[1] end, those("index_select", "gather", "take"), function() return a:take(index) end)
    beside("take, " .. kind .. ", into", function() a:take(index, { into = out }) end, last,
      those("index_select_into", "take_into"), function() return out end)
    if kind == "a permutation" then -- else theirs keeps any of the values
      beside("put, " .. kind, function() out:put(index, values) end, last, those("scatter_", "index_copy_", "put"),
        function() return out:put(index, values) end)
    end
  end
end

if ("take put lookups"):find(options.only) then lookups() end
say("arrays: %d things asked, %d missed (*); %d of %d calls that stream reach %.2f", asked, missed, usual, streams,
  USUAL_SHARE)
