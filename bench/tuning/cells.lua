-- The calls that feel tuning numbers, for bench/tuning.lua: a cell is a line of words that names one.
--   sum f32 1048576     a number that stays on the device (so max, min, prod, var, argmax, norm, dot, cosine, mse)
--   number sum f32 16384     the same, waited for
--   sum f32 1000x1001 cols     down columns (rows: along rows); of dot and cosine two matrices; mv: by a vector
--   exact sum f32 65536, scan sum f32 1000x700 cols, digest f32 65536, median f32 1048576, compact f32 1048576
--   histogram i32 67108864 4096, edges f32 1000000 256, weights f32 1000000 3000      samples, and how many bins
--   rmsnorm f32 4096x4096, softmax f32 4096x4096
--   take f32 67108864, put f32 12000000, exp f32 67108864 (any element operator), cast f16 f32 67108864, fill, copy,
--   rand f32 67108864, randint u8 67108864; up and down f32 67108864: copies between host and device
--   fuse sum f32 1048576 (a-b)^2 (so minmax; both: sum and extremes; ends: extremes of what is no NaN), with rows as
--   above; stored f32 1048576 a*b+1; operator f32 1048576
-- Words behind it: "every 2" strided, "+1" begins within a word, "by 6" so many arrays in turn, "skewed", "zeros",
-- "ones", "nan", "into" of what samples or elements there are, "rising" of positions.
local M = {}

local size = { u8 = 1, i8 = 1, u16 = 2, i16 = 2, u32 = 4, i32 = 4, i64 = 8, f16 = 2, bf16 = 2, f32 = 4, f64 = 8 }
local PAST = 160e6 -- bytes of inputs in turn: L2 has 50 MB
local MOST = 24

local function floating(dtype) return dtype:find "f" ~= nil end

function M.parse(text)
  local c, words = { text = text, more = {} }, {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  local function take() return table.remove(words, 1) end
  c.op = take()
  if c.op == "number" or c.op == "exact" or c.op == "scan" or c.op == "fuse" then c[c.op], c.op = true, take() end
  c.dtype = take()
  if c.op == "cast" then c.to = take() end
  assert(size[c.dtype], text)
  local shape = take()
  local rows, columns = shape:match "^(%d+)x(%d+)$"
  c.rows, c.n = rows and tonumber(rows), rows and tonumber(rows) * tonumber(columns) or tonumber(shape)
  c.columns = columns and tonumber(columns)
  assert(c.n, text)
  if c.op == "histogram" or c.op == "edges" or c.op == "weights" then c.bins = tonumber(take()) end
  if c.fuse or c.op == "stored" then c.formula = take() end
  while words[1] do
    local word = take()
    if word == "rows" then c.axis = 2
    elseif word == "cols" then c.axis = 1
    elseif word == "every" or word == "by" then c[word] = tonumber(take())
    else c.more[word] = true
    end
  end
  return c
end

-- What of the module a cell runs, as patterns of sources; the plan comes with it.
local instances = { sum = "sum", prod = "sum", mean = "sum", max = "order", min = "order", minmax = "order",
  argmax = "order",
  norm = "norm", mse = "norm", var = "variance", dot = "dot", cosine = "dot", mv = "dot" }
local skeletons = { sum = "sum", minmax = "order", ends = "order", both = "both", cosine = "pairs" }
local rooms = { weights = "histogram/weights", cov = "products/products", rmsnorm = "norm/rmsnorm",
  softmax = "norm/softmax", median = "select/quantile", compact = "select/compact", take = "lookup/take",
  put = "lookup/", digest = "exact/digest", stored = "formula/st", operator = "formula/operator",
  rand = "map/random", randint = "map/random",
  fill = "map/fill", copy = "map/fill", up = "map/fill", down = "map/fill" }

function M.needs(c)
  if c.fuse then return { "cuda/reduce/dispatch", "cuda/formula/skeletons_" .. skeletons[c.op] } end
  if c.exact then return { "cuda/exact/exact" } end
  if c.scan then
    return { "cuda/scan/scan", "cuda/scan/instances_" .. (instances[c.op] == "sum" and "sum" or "order") }
  end
  if c.op == "histogram" or c.op == "edges" then
    return { "cuda/histogram/histogram", size[c.dtype] > 1 and "cuda/histogram/instances_" ..
      (floating(c.dtype) and "float" or "integer") or nil }
  end
  local instance = instances[c.op]
  if instance then return { "cuda/reduce/dispatch", "cuda/reduce/instances_" .. instance } end
  return { "cuda/" .. (rooms[c.op] or "map/map") }
end

-- ---- data ----

local function plain(gr, c, n, seed, dtype)
  if c.more.ones then return gr.ones(n, dtype) end
  if c.bins and not floating(dtype) then
    local x = gr.rand(n, "f32", { seed = seed })
    if c.more.skewed then x = x * x * x end
    return x:mul(math.min(c.bins, size[dtype] == 1 and 127 or c.bins)):cast(dtype)
  end
  if not floating(dtype) then return gr.rand(n, "f32", { seed = seed }):mul(100):cast(dtype) end
  if c.bins or c.op == "prod" then
    local x = gr.rand(n, dtype, { seed = seed })
    if c.more.skewed then x = x * x * x end
    if c.more.zeros then x = x:mul(gr.rand(n, dtype, { seed = seed + 7 }):add(0.5):cast("i32"):cast(dtype)) end
    return c.op == "prod" and x:add(0.5) or x
  end
  local x = gr.randn(n, dtype, { seed = seed })
  if c.more.nan then x[math.floor(n / 2)] = 0 / 0 end
  return x
end

local function input(gr, c, seed, n, dtype)
  n, dtype = n or c.n, dtype or c.dtype
  local every = c.every or 1
  local x = plain(gr, c, n * every + (c.more["+1"] and 1 or 0), seed, dtype)
  if c.more["+1"] then x = x:slice(2) end
  return every > 1 and x:slice(1, -1, every) or x
end

-- ---- calls ----

-- Options by which a number stays on the device, as the operation has it.
local function into(gr, c, run)
  for _, dtype in ipairs { "f64", "i64", c.dtype } do
    local options = { into = gr.zeros(1, dtype), at = 1, exact = c.exact or nil }
    if pcall(run, options) then return options end
  end
  error("no place for the number of " .. c.text)
end

local function reduction(gr, c, seed)
  local name = c.op == "mv" and "dot" or c.op
  local two = c.op == "dot" or c.op == "cosine" or c.op == "mse"
  local x, y = input(gr, c, seed), nil
  if two then y = input(gr, c, seed + 1000) end
  if c.op == "mv" then y = plain(gr, c, c.axis == 2 and c.columns or c.rows, seed + 1000, c.dtype) end
  if c.fuse then x = gr.fuse(c.formula) { a = x, b = c.formula:find "b" and input(gr, c, seed + 1000) or nil } end
  local function run(options)
    if c.op == "both" then return gr.many { { "sum", x }, { "min", x }, { "max", x } } end
    if c.op == "ends" then return gr.minmax(x, { skipnan = true }) end
    if c.op == "norm" then return gr.norm(x, 2, options) end
    if y then return gr[name](x, y, options) end
    return gr[name](x, options)
  end
  if c.number or c.op == "minmax" or c.op == "both" or c.op == "ends" or (c.exact and not c.rows) then
    local number
    return function() number = run(c.exact and { exact = true } or nil) end, nil,
      function() return ("%a"):format(number) end
  end
  local options
  if c.rows then
    options = { rows = c.rows, axis = c.axis, pairs = two or nil, exact = c.exact or nil }
    options.into = run(options)
  else
    options = into(gr, c, run)
  end
  return function() run(options) end, function() return options.into[1] end,
    function() return options.into:digest() end
end

local function histogram(gr, c, seed)
  local x = input(gr, c, seed)
  local options = { bins = c.bins, min = 0, max = floating(c.dtype) and 1 or c.bins }
  if c.op == "edges" then
    local edges = {}
    for k = 0, c.bins do edges[k + 1] = (k / c.bins) ^ 1.5 end
    options = { edges = edges }
  end
  if c.op == "weights" then options.weights = plain(gr, c, c.n, seed + 1000, c.dtype) end
  options.into = gr.histogram(x, options)
  return function() gr.histogram(x, options) end, function() return options.into.counts[1] end,
    function() return options.into.counts:digest() end
end

-- What gives an array, which is there already.
local function mapped(run, out)
  return function() run(out) end, function() return out[1] end, function() return out:digest() end
end

local special = {}
function special.rmsnorm(gr, c, x)
  local options = { rows = c.rows, into = gr.zeros(c.n, c.dtype) }
  return mapped(function() gr.rmsnorm(x, nil, options) end, options.into)
end
function special.cov(gr, c, x)
  local options = { rows = c.rows, into = gr.zeros(c.columns * c.columns, "f64") }
  return mapped(function() gr.cov(x, options) end, options.into)
end

function special.softmax(gr, c, x)
  local options = { rows = c.rows, into = gr.zeros(c.n, c.dtype) }
  return mapped(function() gr.softmax(x, options) end, options.into)
end
function special.median(_, _, x)
  local number
  return function() number = x:median() end, nil, function() return ("%a"):format(number) end
end
function special.digest(_, _, x)
  local digest
  return function() digest = x:digest() end, nil, function() return digest end
end
function special.compact(gr, _, x)
  local mask, out = x:compare(">", 0), x:copy()
  return mapped(function() gr.compact(x, mask, { into = out }) end, out)
end
local function positions(gr, c)
  if c.more.rising then return gr.arange(1, c.n, "i32") end
  return gr.rand(c.n, "f64", { seed = 99 }):mul(c.n):cast("i32"):add(1)
end
function special.take(gr, c, x)
  local index = positions(gr, c)
  local out = x:copy()
  return function()
      if not c.more.into then out:release() end
      out = gr.take(x, index, c.more.into and { into = out } or nil)
    end,
    function() return out[1] end, function() return out:digest() end
end
function special.put(gr, c, x)
  local index = positions(gr, c)
  local out = gr.zeros(c.n, c.dtype)
  return mapped(function() out:put(index, x) end, out)
end
function special.cast(gr, c, x)
  return mapped(function(out) gr.cast(x, c.to, { into = out }) end, gr.cast(x, c.to))
end
function special.fill(_, _, x)
  return mapped(function() x:fill(2) end, x)
end
function special.copy(gr, _, x)
  return mapped(function(out) gr.copy(x, { into = out }) end, x:copy())
end
function special.randint(gr, c, x)
  local options = { seed = 1, into = x }
  return mapped(function() gr.randint(1, 6, c.n, c.dtype, options) end, x)
end

function special.rand(gr, c, x)
  local options = { seed = 5, into = x }
  return mapped(function() gr.rand(c.n, c.dtype, options) end, x)
end
-- The device's copy is new, and the host wants it.
function special.down(_, c, x)
  return function()
    x:fill(2)
    x:sync()
  end, nil, function() return tostring(x[c.n]) end
end
-- Each piece of 64 KiB is new on the host.
function special.up(_, c, x)
  local step = math.floor(65536 / size[c.dtype])
  x:sync()
  return function()
    for k = 1, c.n, step do x[k] = 3 end
    x:prefetch()
  end, function() return x:sum() end, function() return ("%a"):format(x:sum()) end
end
function special.stored(gr, c, x)
  local b = c.formula:find "b" and input(gr, c, 5) or nil
  local f = gr.fuse(c.formula)
  return mapped(function(out) f({ a = x, b = b }):eval { into = out } end, f({ a = x, b = b }):eval())
end
function special.operator(gr, _, x)
  local o = gr.operator { state = { "s", "q" }, map = { s = "f64(x)", q = "f64(x) * f64(x)" },
    merge = { s = "s1 + s2", q = "q1 + q2" }, identity = { s = 0, q = 0 }, finish = "q - s * s" }
  local number
  return function() number = o:reduce(x) end, nil, function() return ("%a"):format(number) end
end

local function one(gr, c, seed)
  if c.scan then
    local x = input(gr, c, seed)
    local options = { rows = c.rows, axis = c.axis }
    options.into = gr.scan(x, c.op, options)
    return mapped(function() gr.scan(x, c.op, options) end, options.into)
  end
  if c.bins then return histogram(gr, c, seed) end
  if c.fuse or instances[c.op] then return reduction(gr, c, seed) end
  if special[c.op] then return special[c.op](gr, c, input(gr, c, seed)) end
  local x = input(gr, c, seed)
  return mapped(function(out) gr[c.op](x, { into = out }) end, gr[c.op](x))
end

-- A cell in a build of the module: call(k) does call number k, on arrays in turn, past L2 together; wait() waits for
-- the last; bits() is what the first array gives, as a text.
function M.make(gr, text)
  local c = M.parse(text)
  local both = (c.op == "dot" or c.op == "cosine" or c.formula) and 2 or 1
  local bytes = c.n * size[c.dtype] * both * (c.every or 1)
  local count = c.by or math.max(1, math.min(MOST, math.ceil(PAST / bytes)))
  local calls, waits, bits = {}, nil, nil
  for k = 1, count do
    local call, wait, show = one(gr, c, k)
    calls[k], waits = call, wait
    if k == 1 then bits = show end
  end
  return function(k) calls[k % count + 1]() end, waits or function() end, function()
    calls[1]()
    return bits()
  end
end

return M
