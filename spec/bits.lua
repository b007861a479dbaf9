-- Do two machines, backends or instruction sets give the same bits? Every operation x dtype on 200 random sizes:
--   lua spec/bits.lua write FILE      on one (GPUREDUCE_DEVICE=cuda:0, say)
--   lua spec/bits.lua compare FILE    on the other; says where the first difference is, exits with 1
-- Patterns after the file's name (such as "^each") take only the operations whose names one of them is found in.
-- A line of the file: what, hash of all results, and a short hash for each size, which says where a difference is and
-- may be left out. spec/golden/bits_h200.txt was written on an H200, of the commit that its first line names;
-- `make bits` compares.
local gr = require "gpureduce"
local model = require "spec.model"

local SIZES, LONGEST = 200, 200000

-- ---- what is computed on ----

-- Log-uniform sizes with the tree's and the scan's corners among them; a start and a step for each.
local function make_cases()
  local g, cases = model.generator(2026), {}
  local corners = { 0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 8192,
    65536, 65537, 131072, 131073, LONGEST }
  for k = 1, SIZES do
    local n = corners[k] or math.floor(LONGEST ^ (g() / 2147483647))
    local step = ({ 1, 1, 2, 3, -1, -2 })[g() % 6 + 1]
    if n * math.abs(step) > LONGEST then step = step < 0 and -1 or 1 end
    cases[k] = { n = n, start = g() % 17 + 1, step = step }
  end
  return cases
end

local function view(base, case, limit)
  local n, step, first = math.min(case.n, limit), case.step, case.start
  if n * math.abs(step) + 17 > limit then step = 1 end
  if n + 17 > limit then n = limit - 17 end
  if n == 0 then return base:slice(1, 0) end
  local last = first + (n - 1) * math.abs(step)
  if step < 0 then return base:slice(last, first, step) end
  return base:slice(first, last, step)
end

-- NaN, infinities, zeros of both signs, subnormals and the largest numbers, sprinkled over ordinary ones.
local function special_data(dtype, n, seed)
  local t, g = model.data(dtype, n, seed, true), model.generator(seed + 5)
  local tiny = ({ f16 = 2.0 ^ -24, bf16 = 2.0 ^ -133, f32 = 2.0 ^ -149, f64 = 2.0 ^ -1074 })[dtype]
  local largest = ({ f16 = 65504, bf16 = 255 * 2.0 ^ 120, f32 = (2 - 2.0 ^ -23) * 2.0 ^ 127,
    f64 = (2 - 2.0 ^ -52) * 2.0 ^ 1023 })[dtype]
  local odd = { model.minus_zero, 0, tiny, -tiny * 3, math.huge, largest, -largest, -math.huge, model.nan }
  for k = 1, n do
    local r = g()
    -- NaN and infinities only far in, so that short prefixes stay finite
    if r % 16 == 0 then t[k] = odd[r % (k < n / 4 and 4 or k < n / 2 and 7 or 9) + 1] end
  end
  return t
end

-- ---- operations: name, function of two views; results are numbers, booleans or arrays ----

local operations = {}
local function add(name, f, only) operations[#operations + 1] = { name = name, f = f, only = only } end

for _, name in ipairs { "sum", "prod", "mean", "var", "std", "logsumexp", "any", "all", "count" } do
  add(name, function(a) return gr[name](a) end)
end
for _, name in ipairs { "min", "max", "minmax", "argmin", "argmax" } do
  add(name, function(a) if #a > 0 then return gr[name](a) end end)
end
for _, p in ipairs { 1, 2, math.huge } do add("norm " .. p, function(a) return gr.norm(a, p) end) end
for _, name in ipairs { "dot", "mse", "cosine" } do
  add(name, function(a, b) return gr[name](a, b) end)
  add(name .. " backwards", function(a, b) return gr[name](b, a) end)
end
for _, way in ipairs { "f32", "kahan", "neumaier" } do
  add("sum " .. way, function(a) return gr.sum(a, { accumulate = way }) end, "float")
  add("dot " .. way, function(a, b) return gr.dot(a, b, { accumulate = way }) end, "float")
end

local function matrix(a, rows) -- the longest view of whole rows
  local n = #a - #a % rows
  if n == 0 then return nil end
  return a:slice(1, n)
end
for _, rows in ipairs { 1, 3, 64 } do
  for axis = 1, 2 do
    local options = { rows = rows, axis = axis }
    local tag = (" of %d rows, axis %d"):format(rows, axis)
    for _, name in ipairs { "sum", "prod", "mean", "var", "logsumexp", "min", "argmax", "count" } do
      add(name .. tag, function(a)
        local m = matrix(a, rows)
        if m then return gr[name](m, options) end
      end)
    end
    add("minmax" .. tag, function(a)
      local m = matrix(a, rows)
      if m then return gr.minmax(m, options) end
    end)
  end
  add(("dot row by row, %d"):format(rows), function(a, b)
    local m = matrix(a, rows)
    if m then return gr.dot(m, matrix(b, rows), { rows = rows, pairs = true }) end
  end)
  add(("dot with each of %d rows"):format(rows), function(a, b)
    local m = matrix(a, rows)
    if m then return gr.dot(m, b:slice(1, #m / rows), { rows = rows }) end
  end)
  add(("dot with each column of %d rows"):format(rows), function(a, b)
    local m = matrix(a, rows)
    if m then return gr.dot(m, b:slice(1, rows), { rows = rows, axis = 1 }) end
  end)
  add(("rmsnorm of %d rows"):format(rows), function(a, b)
    local m = matrix(a, rows)
    if m then return gr.rmsnorm(m, b:slice(1, #m / rows), { rows = rows }) end
  end, "float")
end

for _, columns in ipairs { 2, 4, 48, 1024 } do
  add(("dot with each of %d columns"):format(columns), function(a, b)
    local m = matrix(a, columns)
    if m then return gr.dot(m, b:slice(1, #m / columns), { rows = #m / columns, axis = 1 }) end
  end)
end

-- Segments of 1, 1 + 7, 1 + 14, ... elements and what is left, so that n of 200000 has one of many leaves.
local function cut(n)
  local t, at = { 1 }, 1
  for k = 0, 20 do
    at = math.min(at + 1 + 7 * k * k, n)
    t[#t + 1] = at
  end
  t[#t + 1] = n + 1
  return t
end
for _, name in ipairs { "sum", "prod", "mean", "var", "logsumexp", "count", "norm" } do
  add(name .. " of segments", function(a)
    local options = { segments = cut(math.max(#a, 1)) }
    if #a > 0 and name == "norm" then return gr.norm(a, 2, options) end
    if #a > 0 then return gr[name](a, options) end
  end)
end
for _, name in ipairs { "minmax", "argmax" } do
  add(name .. " of segments", function(a) if #a > 20200 then return gr[name](a, { segments = cut(#a) }) end end)
end
add("dot of segments", function(a, b) if #a > 0 then return gr.dot(a, b, { segments = cut(#a) }) end end)

for _, method in ipairs { "linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf",
  "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased" } do
  add("quantiles " .. method, function(a)
    if #a > 0 then return gr.quantile(a, { 0, 0.001, 0.25, 0.5, 2 / 3, 0.99, 1 }, { method = method }) end
  end)
end
add("median", function(a) if #a > 0 then return gr.median(a) end end)

for _, rows in ipairs { 1, 3, 64 } do
  add(("softmax of %d rows"):format(rows), function(a)
    local m = matrix(a, rows)
    if m then return gr.softmax(m, { rows = rows }) end
  end, "float")
end

for _, op in ipairs { "sum", "prod", "min", "max" } do
  add("scan " .. op, function(a) return gr.scan(a, op) end)
  add("scan " .. op .. " exclusive", function(a) return gr.scan(a, op, { exclusive = true }) end)
  add("scan " .. op .. " reverse", function(a) return gr.scan(a, op, { reverse = true }) end)
end

local function counted(h) return h.counts, h.below, h.above, h.nan end
for _, bins in ipairs { 1, 256, 5000, 70000 } do
  add("histogram " .. bins, function(a) return counted(gr.histogram(a, { bins = bins, min = -1, max = 101.5 })) end)
end
add("histogram by edges", function(a)
  return counted(gr.histogram(a, { edges = { -1000, -3, -0.5, 0, 1e-3, 0.25, 1, 2, 77, 4000 } }))
end)
add("histogram of the range", function(a)
  local ok, h = pcall(gr.histogram, a, { bins = 100 })
  if ok then return counted(h) end
  return h -- the largest numbers of both signs: too wide a range
end)
for _, bins in ipairs { 5, 6000 } do
  add("weighted histogram " .. bins, function(a, b)
    local ok, h = pcall(gr.histogram, a, { bins = bins, min = -1, max = 101.5, weights = b, density = true })
    if ok then return h.density, counted(h) end
    return h -- weights that are not finite
  end)
end
add("log bins", function(a)
  local h = gr.histogram(a, { bins = 100, log = true, min = 1e-3, max = 1e6 })
  return h.edges, counted(h)
end)
add("histogram modulo", function(a) return gr.histogram(a, { bins = 1000, modulo = true }).counts end, "integer")
add("weighted bincount", function(a, b)
  return gr.histogram(a, { bins = 1000, modulo = true, weights = b }).counts
end, "integer")
for name, options in pairs { even = { bins = { 50, 70 }, range = { { -1, 101.5 }, { -3, 77 } } },
  ratios = { bins = 60, log = true, range = { { 1e-3, 1e6 }, { 1e-2, 300 } } },
  edges = { edges = { { -1000, -3, -0.5, 0, 1e-3, 0.25, 1, 2, 77, 4000 }, { -10, 0, 1, 1000 } } } } do
  add("pairs, " .. name, function(a, b)
    local h = gr.histogram2d(a, b, options)
    return h.counts, h.xedges, h.yedges, h.outside, h.nan
  end)
end
add("weighted pairs", function(a, b)
  local ok, h = pcall(gr.histogram2d, a, b, { bins = 20, range = { { -1, 1 }, { -1, 1 } }, weights = b })
  if ok then return h.counts, h.outside, h.nan end
  return h -- weights that are not finite
end)
for _, name in ipairs { "add", "sub", "mul", "div" } do
  add("each " .. name, function(a, b) return gr[name](a, b) end)
  add("each " .. name .. " and a number", function(a) return gr[name](a, 3), gr[name](7, a) end)
end
for _, name in ipairs { "neg", "abs", "square", "sqrt", "exp", "log", "tanh", "rsqrt", "cbrt", "exp2", "expm1", "log2",
  "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "floor", "ceil", "round", "trunc",
    "sign",
  "isnan", "isinf", "isfinite", "lnot" } do
  add("each " .. name, function(a) return gr[name](a) end)
end
for _, name in ipairs { "pow", "mod", "fmod", "floordiv", "atan2", "hypot", "minimum", "maximum", "land", "lor" } do
  add("each " .. name, function(a, b) return gr[name](a, b), gr[name](a, 3), gr[name](7, b) end)
end
for _, name in ipairs { "band", "bor", "bxor", "shl", "shr" } do
  add("each " .. name, function(a, b) return gr[name](a, b), gr[name](a, 3) end, "integer")
end
add("each bnot", function(a) return a:bnot() end, "integer")
add("each clamp", function(a) return a:clamp(2, 50) end)
for _, dtype in ipairs(model.dtypes) do
  add("each cast to " .. dtype, function(a) return a:cast(dtype) end)
end
for _, op in ipairs { "<", "<=", "==", "~=", ">=", ">" } do
  add("each compare " .. op, function(a, b)
    return a:compare(op, b), a:compare(op, 3), a:count { op = op, value = 3 }
  end)
end
add("each where and compact", function(a, b)
  local mask = a:compare("<", b)
  local where, kept = gr.where(mask, a, b), a:compact(mask)
  return mask, where, kept
end)

-- As many positions of n elements as there are, half of them from the end; each of another dtype than the last.
local function positions(n, of)
  local from = (gr.rand(n, "f64", { seed = n }) * of):cast("i64"):minimum(of - 1)
  return gr.where(from:compare("<", of / 2), from + 1, from - of):cast(({ "i64", "i32" })[n % 2 + 1])
end
add("take", function(a)
  if #a > 0 then return a:take(positions(#a, #a)), a[a:compare(">", 3)] end
end)
for _, op in ipairs { "set", "add", "min", "max" } do
  add("put " .. op, function(a, b)
    if #a == 0 then return end
    local many, few = a:copy(), a:slice(1, (#a - 1) % 16 + 1):copy()
    local ok, message = pcall(gr.put, many, positions(#a, #a), b, { op = op })
    if not ok then return message end -- sums of what is not finite
    return many, few:put(positions(#a, #few), b, { op = op }), a:copy():put(positions(#a, #a), 3, { op = op })
  end)
end
add("put by a mask", function(a, b)
  local c, mask = a:copy(), a:compare("<", b)
  c[mask] = b:compact(mask)
  mask = c:compare(">", 3)
  c[mask] = 1
  return c
end)
add("copy", function(a) return a:copy() end)
add("fill", function(a)
  local c = a:copy()
  c:fill(7)
  return c
end)
add("rand", function(a) return gr.rand(#a, a.dtype, { seed = #a, stream = 3 }) end, "float")
add("randn", function(a) return gr.randn(#a, a.dtype, { seed = #a, stream = 4 }) end, "float")

add("exponential", function(a) return gr.exponential(#a, a.dtype, { seed = #a, stream = 5 }) end, "float")
add("randint", function(a)
  local named = { seed = #a, stream = 6 }
  return gr.randint(0, 100, #a, a.dtype, named), gr.randint(-2 ^ 51, 2 ^ 51, #a, named)
end, "integer")
add("permutation and shuffle", function(a)
  return gr.permutation(#a, { seed = #a }), a:shuffle { seed = #a, stream = 1 }
end)
add("choice", function(a, b)
  if #a == 0 then return end
  local named, once = { seed = #a, weights = b:isfinite():mul(a:compare(">", 3)) }, { seed = #a, replace = false }
  if named.weights:any() then
    return a:choice(100, named), a:choice(1, { seed = #a, weights = named.weights, replace = false }),
      a:choice(math.min(#a, 1000), once)
  end
end)

-- ---- hashing: an integer dot product with fixed weights, always on the CPU ----

local device = gr.backend()
gr.use "cpu"
local weights
do
  local parts, g = {}, model.generator(77)
  for k = 1, LONGEST + 8 do
    local x, y, z = g(), g(), g()
    parts[k] = string.char(x % 256, math.floor(x / 256) % 256, math.floor(x / 65536) % 256, y % 256,
      math.floor(y / 256) % 256, math.floor(y / 65536) % 256, z % 256, math.floor(z / 256) % 256)
  end
  weights = gr.frombytes(table.concat(parts), "i64")
end

local function hash_bytes(bytes)
  gr.use "cpu"
  local words = gr.frombytes(bytes .. ("\1"):rep(8 - #bytes % 8), "i64")
  local result = gr.dot(words, weights:slice(1, #words), { rows = 1 }):bytes()
  words:release()
  gr.use(device)
  return (result:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- All results of a call as one string.
local function digest(...)
  local parts = {}
  for k = 1, select("#", ...) do
    local r = select(k, ...)
    if type(r) == "number" then parts[k] = model.hex(r + 0.0)
    elseif type(r) == "userdata" then
      parts[k] = hash_bytes(r:bytes())
      r:release()
    else parts[k] = tostring(r) end
  end
  return table.concat(parts, ",")
end

local function fold(h, text)
  for k = 1, #text do h = (h * 31 + text:byte(k)) % 4294967296 end
  return h
end

-- ---- running ----

-- Calls line(what, hash, shorts) for each operation x data; shorts are 6 digits a size.
local function run(cases, line)
  local sets = {}
  for _, dtype in ipairs(model.dtypes) do sets[#sets + 1] = { dtype, dtype, model.data, LONGEST } end
  for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
    sets[#sets + 1] = { dtype .. " with oddities", dtype, special_data, 20000 }
  end
  for _, set in ipairs(sets) do
    local name, dtype, make, limit = set[1], set[2], set[3], set[4]
    gr.use(device)
    local base_a = gr.array(make(dtype, limit, 31, true), dtype)
    local base_b = gr.array(make(dtype, limit, 57, true), dtype)
    for _, operation in ipairs(operations) do
      if not operation.only or (operation.only == "float") == (model.is_float[dtype] or false) then
        local whole, shorts = 0, {}
        for k, case in ipairs(cases) do
          local other = { n = case.n, start = 18 - case.start, step = case.step }
          local a, b = view(base_a, case, limit), view(base_b, other, limit)
          local text = digest(operation.f(a, b))
          a:release()
          b:release()
          whole = fold(whole, text)
          shorts[k] = ("%06x"):format(fold(0, text) % 16777216)
        end
        line(name .. ": " .. operation.name, ("%08x"):format(whole), table.concat(shorts))
      end
    end
    base_a:release()
    base_b:release()
    gr.trim()
  end
end

local mode, path = ...
if select("#", ...) > 2 then
  for k = #operations, 1, -1 do
    local chosen = false
    for p = 3, select("#", ...) do chosen = chosen or operations[k].name:find((select(p, ...))) ~= nil end
    if not chosen then table.remove(operations, k) end
  end
end
local cases, started = make_cases(), os.time()

if mode == "write" and path then
  local file, count = assert(io.open(path, "w")), 0
  run(cases, function(what, hash, shorts)
    file:write(what, "\t", hash, "\t", shorts, "\n")
    count = count + 1
  end)
  file:close()
  print(("wrote %d operations x dtypes on %d sizes, %s, %s, %d s"):format(count, SIZES, device, gr.instructions(),
    os.time() - started))
elseif mode == "compare" and path then
  local expected, count, different = {}, 0, 0
  for row in io.lines(path) do
    local what, hash, shorts = row:match("^([^#\t]+)\t(%x+)\t?(%x*)$")
    if what then expected[what] = { hash, shorts } end
  end
  run(cases, function(what, hash, shorts)
    count = count + 1
    local e = expected[what]
    if not e then
      different = different + 1
      print(what .. ": not in the file")
    elseif e[1] ~= hash or e[2] ~= "" and e[2] ~= shorts then
      different = different + 1
      local sizes, first = 0, nil
      for k = 1, #e[2] / 6 do
        if e[2]:sub(6 * k - 5, 6 * k) ~= shorts:sub(6 * k - 5, 6 * k) then
          sizes = sizes + 1
          first = first or cases[k]
        end
      end
      print(first and ("%s: %d sizes differ, the first: %d elements, start %d, step %d"):format(what, sizes, first.n,
        first.start, first.step) or what .. ": differs")
    end
  end)
  print(("%d of %d operations x dtypes differ (%s, %s, %d s)"):format(different, count, device, gr.instructions(),
    os.time() - started))
  os.exit(different == 0 and 0 or 1)
else
  io.stderr:write("usage: lua spec/bits.lua write|compare FILE [PATTERN...]\n")
  os.exit(2)
end
