-- Run by mpirun (spec/ranks_spec.lua), or by threads that are ranks (threads.c): every rank makes the whole of some
-- data, takes its part of it, and compares what all ranks get together with what the whole gives, bit by bit.
--
--   lua spec/ranks/check.lua NAME [rounds] [seed]     one of the checks below, or "all"

local gr = require "gpureduce"
local mpi = require "gpureduce.mpi"
local comm = mpi.world()

local name, rounds, seed = arg[1], tonumber(arg[2]) or 20, tonumber(arg[3]) or 1
if os.getenv "GPUREDUCE_DEVICE" then gr.use(os.getenv "GPUREDUCE_DEVICE") end

local dtypes = { "u8", "i8", "u16", "i16", "u32", "i32", "i64", "f16", "bf16", "f32", "f64" }
local floats = { "f16", "bf16", "f32", "f64" }

-- The same numbers on all ranks, so all cut alike; math.random's are those of the process in some Luas.
local state = seed * 7919 % 2147483646 + 1
local function share()
  state = state * 16807 % 2147483647
  return (state - 1) / 2147483646
end
local function below(n) return math.floor(share() * n) end
local function among(low, high) return low + below(high - low + 1) end
local function one_of(list) return list[among(1, #list)] end

-- Where this rank's part of n begins and ends: by leaves, anywhere, or with ranks that have nothing.
local function cut(n, dtype)
  local way, ends = below(3), {}
  if way == 0 then return comm:part(n, dtype) end
  for r = 1, comm.size - 1 do ends[r] = way == 1 and math.floor(n * r / comm.size) or below(n + 1) end
  table.sort(ends)
  ends[0], ends[comm.size] = 0, n
  return ends[comm.rank] + 1, ends[comm.rank + 1]
end

-- Mostly up to a few leaves for each rank; some have nodes of many leaves.
local function length() return below(2 ^ among(1, below(6) == 0 and 16 or 13)) end

local function data(n, dtype, seed_of)
  local x = gr.randn(n, { dtype = "f64", seed = seed_of })
  if not dtype:find "f" then x = dtype:find "u" and (x * 20):abs() or x * 20 end
  return x:cast(dtype)
end

local function same(got, expected, ...)
  local ok
  if type(expected) == "number" then
    local function show(x) return ("%a %s"):format(x, math.type and math.type(x) or "") end
    ok = type(got) == "number" and show(got) == show(expected) or (got ~= got and expected ~= expected)
  elseif type(expected) == "userdata" then
    ok = got.dtype == expected.dtype and got:bytes() == expected:bytes()
  else
    ok = got == expected
  end
  if ok then return end
  local words = {}
  for k, v in ipairs { ... } do words[k] = tostring(v) end
  error(("rank %d of %d: %s: %s, not %s"):format(comm.rank, comm.size, table.concat(words, " "), tostring(got),
    tostring(expected)), 0)
end

-- By name, and in the order in which they are written here, which is that of all ranks.
local names = {}
local check = setmetatable({}, { __newindex = function(t, key, f)
  names[#names + 1] = key
  rawset(t, key, f)
end })

local reductions = { "sum", "prod", "mean", "min", "max", "minmax", "argmin", "argmax", "any", "all", "count", "var",
  "std", "logsumexp", "norm" }

function check.reductions(round)
  for _, dtype in ipairs(dtypes) do
    for _, op in ipairs(reductions) do
      local n = length() + 1
      local a = data(n, dtype, round)
      local first, last = cut(n, dtype)
      local part = a:slice(first, last)
      local x, y = gr[op](a)
      local u, v = gr[op](part, { comm = comm })
      same(u, x, op, dtype, n)
      if op == "minmax" then same(v, y, op, dtype, n) end
      if op:match "^arg" then same(first <= x and x <= last, comm.rank == v, op, "rank", v) end
      u, v = gr[op](part, { comm = comm }) -- parts that are as before take another way
      same(u, x, op, dtype, n, "again")
      if op == "minmax" then same(v, y, op, dtype, n, "again") end
      if op:match "^arg" then same(first <= x and x <= last, comm.rank == v, op, "rank", v, "again") end
    end
    local op, n = one_of { "dot", "mse", "cosine" }, length()
    local a, b = data(n, dtype, round), data(n, dtype, round + 1)
    local first, last = cut(n, dtype)
    same(gr[op](a:slice(first, last), b:slice(first, last), { comm = comm }), gr[op](a, b), op, dtype, n)
  end
end

function check.accumulate(round)
  for _, dtype in ipairs(floats) do
    for _, how in ipairs { "f32", "kahan", "neumaier" } do
      local n = length()
      local a, b = data(n, dtype, round), data(n, dtype, round + 1)
      local first, last = cut(n, dtype)
      local p, q = a:slice(first, last), b:slice(first, last)
      same(p:sum { comm = comm, accumulate = how }, a:sum { accumulate = how }, "sum", how, dtype, n)
      same(p:dot(q, { comm = comm, accumulate = how }), a:dot(b, { accumulate = how }), "dot", how, dtype, n)
    end
    for _, p in ipairs { 1, 2, math.huge } do
      local n = length()
      local a = data(n, dtype, round)
      if dtype == "f64" then a = a * one_of { 1, 1e200, 1e-200 } end
      local first, last = cut(n, dtype)
      same(gr.norm(a:slice(first, last), p, { comm = comm }), gr.norm(a, p), "norm", p, dtype, n)
    end
  end
end

-- Of elements some of which are missing, here and there all of a rank's.
function check.missing(round)
  for _, dtype in ipairs(dtypes) do
    local n = length() + 20
    local a, b = data(n, dtype, round), data(n, dtype, round + 1)
    local mask = gr.rand(n, { dtype = "f64", seed = round + 2 }):compare("<", one_of { 0.02, 0.5, 1 })
    mask[among(1, n)] = 1 -- an extreme needs one
    if dtype:find "f" then a = gr.where(gr.rand(n, { seed = round + 3 }):compare("<", 0.1), 0 / 0, a):cast(dtype) end
    local ways = dtype:find "f" and { { mask = mask }, { mask = mask, skipnan = true }, { skipnan = true } }
      or { { mask = mask }, { mask = mask, skipnan = true } }
    local first, last = cut(n, dtype)
    local p, q = a:slice(first, last), b:slice(first, last)
    -- The options of the whole, and of this rank's part.
    local function both(way, more)
      local whole, part = { mask = way.mask, skipnan = way.skipnan }, { skipnan = way.skipnan, comm = comm }
      part.mask = way.mask and way.mask:slice(first, last)
      for k, v in pairs(more or {}) do whole[k], part[k] = v, v end
      return whole, part
    end
    for k, way in ipairs(ways) do
      for _, op in ipairs(reductions) do
        local whole, part = both(way)
        local ok, x, y = pcall(gr[op], a, whole)
        local fine, u, v = pcall(gr[op], p, part)
        same(fine, ok, op, "missing", k, dtype, n, x, u)
        if ok then same(u, x, op, "missing", k, dtype, n) end
        if ok and op == "minmax" then same(v, y, op, "missing", k, dtype, n) end
        if ok and op:match "^arg" then same(first <= x and x <= last, comm.rank == v, op, "rank", v) end
      end
      for _, op in ipairs { "dot", "mse", "cosine" } do
        local whole, part = both(way)
        same(gr[op](p, q, part), gr[op](a, b, whole), op, "missing", k, dtype, n)
      end
      if dtype:find "f" then
        local whole, part = both(way, { exact = true })
        same(p:sum(part), a:sum(whole), "exact sum", "missing", k, dtype, n)
        same(p:mean(part), a:mean(whole), "exact mean", "missing", k, dtype, n)
        same(p:dot(q, part), a:dot(b, whole), "exact dot", "missing", k, dtype, n)
      end
      local whole, part = both(way, { bins = 7 })
      local h, g = a:histogram(whole), p:histogram(part)
      for _, field in ipairs { "counts", "tails", "edges" } do
        same(g[field], h[field], "histogram", field, "missing", k, dtype, n)
      end
      whole, part = both(way)
      same(p:scan("sum", part), a:scan("sum", whole):slice(first, last), "scan", "missing", k, dtype, n)
      local ok, x = pcall(a.median, a, whole)
      local fine, u = pcall(p.median, p, part)
      same(fine, ok, "median", "missing", k, dtype, n, x, u)
      if ok then same(u, x, "median", "missing", k, dtype, n) end
      if dtype:sub(1, 1) == "u" then
        same(p:bincount(part), a:bincount(whole), "bincount", "missing", k, dtype, n)
      end
    end
  end
end

function check.columns(round)
  for _, dtype in ipairs(dtypes) do
    for _, op in ipairs(reductions) do
      local rows, columns = length() % 3000 + 1, among(1, 5)
      local a = data(rows * columns, dtype, round)
      if op == "norm" and dtype == "f64" then a = a * one_of { 1, 1e200 } end
      local first, last = cut(rows, dtype)
      local part = a:slice((first - 1) * columns + 1, last * columns)
      local x, y = gr[op](a, { rows = rows, axis = 1 })
      local u, v = gr[op](part, { rows = math.max(last - first + 1, 1), axis = 1, comm = comm })
      same(u, x, op, "columns", dtype, rows, columns)
      if y then same(v, y, op, "columns", dtype, rows, columns) end
    end
    -- Of two matrices, and of one with a column; a rank without rows has arrays that know of no columns.
    local rows, columns = length() % 300 + 1, among(1, 5)
    local a, b, c = data(rows * columns, dtype, round), data(rows * columns, dtype, round + 1), data(rows, dtype, round)
    local first, last = cut(rows, dtype)
    local function part(x)
      return last < first and gr.zeros(0, dtype) or x:slice((first - 1) * columns + 1, last * columns)
    end
    for _, op in ipairs { "dot", "mse", "cosine" } do
      local own = math.max(last - first + 1, 1)
      same(gr[op](part(a), part(b), { rows = own, axis = 1, pairs = true, comm = comm }),
        gr[op](a, b, { rows = rows, axis = 1, pairs = true }), op, "columns of two", dtype, rows, columns)
      same(gr[op](part(a), c:slice(first, last), { rows = own, axis = 1, comm = comm }),
        gr[op](a, c, { rows = rows, axis = 1 }), op, "columns with one", dtype, rows, columns)
    end
  end
end

-- Columns that go one by one: exact ones, and such of which elements are missing.
function check.columns_each(round)
  for _, dtype in ipairs(dtypes) do
    local float = dtype:find "f"
    local rows, columns = length() % 1000 + 1, among(1, 4)
    local n = rows * columns
    local a, b = data(n, dtype, round), data(n, dtype, round + 1)
    local mask = (gr.rand(n, { seed = round }) - 0.4):compare(">", 0)
    if float then for _ = 1, 3 do a[among(1, n)] = 0 / 0 end end
    local first, last = cut(rows, dtype)
    local function part(x) return x:slice((first - 1) * columns + 1, last * columns) end
    local ways = { { mask = mask }, { skipnan = true }, { skipnan = true, mask = mask } }
    if float then
      ways[4], ways[5] = { exact = true }, { exact = true, skipnan = true, out = "f32" }
    end
    for _ = 1, 6 do
      local op = one_of { "sum", "mean", "var", "min", "minmax", "argmax", "count", "norm", "dot", "mse" }
      local way = one_of(ways)
      if not way.exact or not ("min minmax argmax count"):find(op) then
        local whole, own = { axis = 1, rows = rows }, { axis = 1, rows = math.max(last - first + 1, 1), comm = comm }
        for key, value in pairs(way) do whole[key], own[key] = value, value end
        if way.mask then own.mask = part(mask) end
        local two = op == "dot" or op == "mse"
        whole.pairs, own.pairs = two or nil, two or nil
        local ok, x, y
        if two then ok, x = pcall(gr[op], a, b, whole) else ok, x, y = pcall(gr[op], a, whole) end
        local fine, u, v
        if two then fine, u = pcall(gr[op], part(a), part(b), own) else fine, u, v = pcall(gr[op], part(a), own) end
        same(fine, ok, op, "columns each", dtype, rows, columns, ok and u or x)
        if ok then
          same(u, x, op, "columns each", dtype, rows, columns)
          if y then same(v, y, op, "columns each", dtype, rows, columns) end
        end
      end
    end
  end
end

function check.exact(round)
  for _, dtype in ipairs(floats) do
    for _, op in ipairs { "sum", "mean", "norm", "var", "std" } do
      local n = length() + 1
      local a = data(n, dtype, round)
      local first, last = cut(n, dtype)
      same(gr[op](a:slice(first, last), { comm = comm, exact = true }), gr[op](a, { exact = true }), op, dtype, n)
    end
    local n = length()
    local a, b = data(n, dtype, round), data(n, dtype, round + 1)
    local first, last = cut(n, dtype)
    local p, q = a:slice(first, last), b:slice(first, last)
    for _, op in ipairs { "dot", "mse", "cosine" } do
      same(gr[op](p, q, { comm = comm, exact = true }), gr[op](a, b, { exact = true }), op, dtype, n)
    end
    same(gr.accumulator():add(p):merge(comm):value(), gr.accumulator():add(a):value(), "accumulator", dtype, n)
    local zeros = gr.full(n + 1, below(2) == 0 and -0.0 or 0.0, dtype)
    first, last = cut(n + 1, dtype)
    same(1 / zeros:slice(first, last):sum { comm = comm, exact = true }, 1 / zeros:sum { exact = true }, "zeros", dtype)
  end
end

function check.quantile(round)
  for _, dtype in ipairs(dtypes) do
    local n = length() + 1
    local a = data(n, dtype, round)
    local first, last = cut(n, dtype)
    local part, shares = a:slice(first, last), { 0, share(), share(), 1, 0.5 }
    for _, method in ipairs { "linear", "lower", "hazen" } do
      same(part:quantile(shares, { comm = comm, method = method }), a:quantile(shares, { method = method }), method,
        dtype, n)
    end
    same(part:median { comm = comm }, a:median(), "median", dtype, n)
  end
end

function check.scan(round)
  for _, dtype in ipairs(dtypes) do
    for _, op in ipairs { "sum", "prod", "min", "max" } do
      local n = below(4) == 0 and length() * 20 or length()
      local a = data(n, dtype, round)
      local first, last = cut(n, one_of { dtype, "u8" })
      local exclusive, reverse = below(2) == 0, below(2) == 0
      local whole = a:scan(op, { exclusive = exclusive, reverse = reverse })
      local part = a:slice(first, last):scan(op, { exclusive = exclusive, reverse = reverse, comm = comm })
      same(part, whole:slice(first, last), "scan", op, dtype, n, exclusive, reverse)
    end
  end
end

function check.digest(round)
  for _, dtype in ipairs(dtypes) do
    local n = length()
    local a = data(n, dtype, round)
    local first, last = cut(n, dtype)
    same(a:slice(first, last):digest { comm = comm }, a:digest(), "digest", dtype, n)
  end
end

function check.random(round)
  local n = length()
  local first, last = cut(n, "f32")
  for _, kind in ipairs { "rand", "randn", "exponential" } do
    for _, dtype in ipairs(floats) do
      same(gr[kind](last - first + 1, { dtype = dtype, seed = round, comm = comm }),
        gr[kind](n, { dtype = dtype, seed = round }):slice(first, last), kind, dtype, n)
    end
  end
  for _, most in ipairs { 5, 2 ^ 40 } do
    most = math.floor(most)
    same(gr.randint(-3, most, last - first + 1, { seed = round, comm = comm }),
      gr.randint(-3, most, n, { seed = round }):slice(first, last), "randint", most, n)
  end
end

function check.histogram(round)
  for _, dtype in ipairs(dtypes) do
    local n = length()
    local a, w = data(n, dtype, round), data(n, one_of(dtypes), round + 1)
    if below(4) == 0 and dtype == "f32" and n > 0 then a[1 + below(n)] = 1 / 0 end
    local first, last = cut(n, dtype)
    local part, by = a:slice(first, last), w:slice(first, last)
    for k, options in ipairs { { bins = 10 }, { bins = 7, min = -1, max = 9 }, { edges = { 0, 1, 3, 3.5 } },
      { bins = 5, log = true, min = 0.5, max = 60 }, { bins = 4, density = true } } do
      if below(2) == 0 then options.weights = w end
      local x = a:histogram(options)
      options.comm, options.weights = comm, options.weights and by
      local y = part:histogram(options)
      for _, field in ipairs { "counts", "tails", "edges", "density" } do
        if x[field] then same(y[field], x[field], "histogram", k, field, dtype, w.dtype, n) end
      end
    end
    if dtype:sub(1, 1) == "u" then
      same(part:bincount { comm = comm }, a:bincount(), "bincount", dtype, n)
      same(part:bincount { comm = comm, weights = by, minlength = 9 }, a:bincount { weights = w, minlength = 9 },
        "bincount", dtype, w.dtype, n)
    end
  end
end

function check.histogram2d(round)
  for _, dtype in ipairs(dtypes) do
    local other = one_of(dtypes)
    local n = length() + 1
    local a, b, w = data(n, dtype, round), data(n, other, round + 1), data(n, one_of(dtypes), round + 2)
    local first, last = cut(n, dtype)
    for k, options in ipairs { { bins = { 5, 7 } }, { bins = 6, range = { { -1, 2 }, { 0, 9 } } },
      { bins = { [2] = 3 }, edges = { { 0, 1, 3, 3.5 } } }, { bins = 4, density = true } } do
      if below(2) == 0 then options.weights = w end
      local x = gr.histogram2d(a, b, options)
      options.comm, options.weights = comm, options.weights and w:slice(first, last)
      local y = gr.histogram2d(a:slice(first, last), b:slice(first, last), options)
      for _, field in ipairs { "counts", "tails", "xedges", "yedges", "density" } do
        if x[field] then same(y[field], x[field], "histogram2d", k, field, dtype, other, w.dtype, n) end
      end
    end
  end
end

local operators = assert(loadfile((arg[0]:gsub("check%.lua$", "operators.lua"))))
operators(check, { comm = comm, data = data, cut = cut, length = length, same = same, below = below, among = among,
  one_of = one_of })

function check.many(round)
  local items, expected, words = {}, {}, {}
  for k = 1, among(1, 12) do
    local n, dtype, op = length() + 1, one_of(dtypes), one_of(reductions)
    if op == "minmax" then op = "dot" end
    local a, b = data(n, dtype, round + k), data(n, dtype, round - k)
    if dtype == "f64" then a = a * one_of { 1, 1e200 } end
    local first, last = cut(n, dtype)
    local of = { op, a:slice(first, last) }
    if op == "dot" then of[3] = b:slice(first, last) end
    of[#of + 1] = { comm = comm }
    items[k] = of
    expected[#expected + 1] = op == "dot" and gr.dot(a, b) or gr[op](a)
    words[#words + 1] = op .. " " .. dtype
    if op:match "^arg" then
      expected[#expected + 1] = comm:gather(first <= expected[#expected] and expected[#expected] <= last)
      words[#words + 1] = "rank"
    end
  end
  local got = { gr.many(items) }
  for k, x in ipairs(expected) do
    if type(x) == "table" then same(x[got[k] + 1], true, "many", words[k])
    else same(got[k], x, "many", words[k]) end
  end
end

function check.files(round)
  local folder = os.getenv "GPUREDUCE_RANKS_FOLDER" or "/tmp"
  local path = ("%s/gpureduce-ranks-%s.npy"):format(folder, comm:bcast(tostring({}):match("%x+$")))
  for _, dtype in ipairs { "u8", "f32", "f64" } do
    local n = length() * 3
    local a = data(n, dtype, round)
    local first, last = cut(n, dtype)
    same(a:slice(first, last):save(path, { comm = comm }), true, "save", dtype, n)
    same(gr.load(path), a, "saved", dtype, n)
    local part, from = gr.load(path, { comm = comm })
    same(part, a:slice(from, from + #part - 1), "load", dtype, n, from)
    same(part:sum { comm = comm }, a:sum(), "sum of what was loaded", dtype, n)
    local rows, columns = 1 + below(50), 1 + below(7)
    local m = data(rows * columns, dtype, round):matrix(rows)
    first, last = cut(rows, dtype)
    local own = m:slice((first - 1) * columns + 1, last * columns)
    if #own > 0 then own = own:matrix(last - first + 1) end
    same(own:save(path, { comm = comm }), true, "save of rows", dtype)
    local whole = gr.load(path)
    same(whole:equal(m), true, "saved rows", dtype, rows, columns)
    own, from = gr.load(path, { comm = comm })
    if #own > 0 then same(own, m:slice((from - 1) * columns + 1, (from - 1) * columns + #own), "rows", dtype) end
    same(own:sum { comm = comm, axis = 1 }, m:sum { axis = 1 }, "columns of what was loaded", dtype, rows, columns)
    comm:barrier()
  end
  local none, why = gr.load("/nowhere/at/all.npy", { comm = comm })
  same(none, nil, "a file that is not there")
  same(why, "rank 0: /nowhere/at/all.npy: No such file or directory", "its words")
  why = select(2, gr.ones(3):save("/nowhere/at/all.npy", { comm = comm }))
  same(why, "rank 0: /nowhere/at/all.npy: No such file or directory", "words of a save")
  comm:barrier()
  if comm.rank == 0 then os.remove(path) end
end

for round = 1, rounds do
  for _, each in ipairs(names) do
    if name == "all" or name == each then check[each](round + seed * 1000) end
  end
end
comm:barrier()
if comm.rank == 0 then print(("ranks: %d, %s: %d rounds agree"):format(comm.size, name, rounds)) end
