-- The cells of the comparison: which operation on how much of what. The core decides; the full grid is every
-- combination.
local grid = {}

local sizes = { u8 = 1, i8 = 1, i16 = 2, u16 = 2, f16 = 2, bf16 = 2, i32 = 4, u32 = 4, f32 = 4, i64 = 8, f64 = 8 }
local dtypes = { "f32", "f64", "i32", "i64", "u8", "f16" }
grid.sizes, grid.dtypes = sizes, dtypes

local function power(n)
  local e = math.floor(math.log(n, 2) + 0.5)
  if 2 ^ e == n then return "2^" .. e end
  return 2 ^ (e) == n - 1 and "2^" .. e .. "+1" or tostring(math.floor(n))
end

--- The name of a cell: all that sets it apart.
function grid.name(c)
  local words = { c.op, c.dtype, c.rows and power(c.rows) .. " x " .. power(c.n / c.rows) or power(c.n) }
  if c.rows and c.op ~= "rmsnorm" then words[#words + 1] = c.axis == 2 and "rows" or "columns" end
  if c.bins then words[#words + 1] = ("%d bins%s, %s"):format(c.bins, c.irregular and " by edges" or "", c.data) end
  if c.offset then words[#words + 1] = "from " .. c.offset end
  if c.resident then words[#words + 1] = "in L2" end
  return table.concat(words, " ")
end

-- The reductions that read as much, which goals compare these with.
local twins = { argmin = "sum", argmax = "sum", minmax = "sum", norm = "sum", mse = "dot", cosine = "dot" }

local pairs_of = { dot = true, mse = true, cosine = true }

--- Bytes read and written at least: the inputs once, the results once.
function grid.bytes(c)
  local size = sizes[c.dtype]
  local bytes = c.n * size * (pairs_of[c.op] and 2 or 1)
  if c.op == "scan" then return bytes + c.n * (c.dtype:match "^b?f" and c.dtype ~= "f64" and 4 or 8) end
  if c.op == "rmsnorm" or c.op == "softmax" then return 2 * bytes end
  if c.rows then return bytes + (c.axis == 2 and c.rows or c.n / c.rows) * 8 end
  return bytes
end

local list, seen, first

local function add(c)
  c.n = math.floor(c.n)
  c.rows = c.rows and math.floor(c.rows)
  if c.op == "prod" then c.data = "near1" end
  c.name = grid.name(c)
  c.beside = not c.rows and (c.offset and c.op or twins[c.op]) or nil -- timed in turns: itself, aligned, or its twin
  if seen[c.name] then return end
  seen[c.name] = true
  c.first = first
  list[#list + 1] = c
end

local function each(ops, types, exponents, more)
  for _, dtype in ipairs(types) do
    for _, op in ipairs(ops) do
      for _, e in ipairs(exponents) do
        local c = { op = op, dtype = dtype, n = 2 ^ e }
        for k, v in pairs(more or {}) do c[k] = v end
        add(c)
      end
    end
  end
end

local function range(from, last, step)
  local t = {}
  for e = from, last, step do t[#t + 1] = e end
  return t
end

local others = { "f64", "i32", "i64", "u8", "f16" }
local scalars = { "sum", "min", "max", "prod", "dot" }
local places = { "argmin", "argmax", "minmax" }
local fused = { "mse", "cosine", "norm" }
local kinds = { "uniform", "constant", "two-value", "skewed", "power-law", "sorted", "saw-tooth", "strided" }
local bins = { 2, 32, 256, 1024, 4096, 16384, 57000, 65536, 1000000 }

local function histogram(dtype, e, b, data, irregular)
  add { op = "histogram", dtype = dtype, n = 2 ^ e, bins = b, data = data, irregular = irregular }
end

local function shapes(op, dtype, columns, step)
  for e = 2, 24, step do
    for axis = 2, columns and 1 or 2, -1 do add { op = op, dtype = dtype, n = 2 ^ 26, rows = 2 ^ e, axis = axis } end
  end
end

-- Eight shapes of 2^26 elements, from 4 x 2^24 to 2^24 x 4.
local function eight_shapes(op, dtype, columns)
  for _, e in ipairs { 2, 6, 10, 12, 16, 18, 20, 24 } do
    for axis = 2, columns and 1 or 2, -1 do add { op = op, dtype = dtype, n = 2 ^ 26, rows = 2 ^ e, axis = axis } end
  end
end

local function norms(dtype, lengths)
  for _, e in ipairs(lengths) do add { op = "rmsnorm", dtype = dtype, n = 2 ^ 26, rows = 2 ^ (26 - e), axis = 2 } end
end

-- Lengths that are no power of two, and inputs that do not start on 16 bytes.
local function odd(op, dtype, exponents, offsets)
  for _, e in ipairs(exponents) do add { op = op, dtype = dtype, n = 2 ^ e + 1 } end
  for _, e in ipairs(exponents) do
    for _, o in ipairs(offsets) do add { op = op, dtype = dtype, n = 2 ^ e, offset = o } end
  end
end

local function core()
  first = true
  each({ "sum" }, { "f32" }, range(0, 30, 2))
  each({ "dot" }, { "f32" }, { 0, 6, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 })
  each({ "min", "max", "prod" }, { "f32" }, { 0, 10, 14, 18, 20, 22, 24, 28 })
  each({ "max" }, { "f32" }, { 4, 12, 16, 26, 30 })
  each({ "argmin", "argmax", "minmax" }, { "f32" }, { 10, 14, 18, 20, 22, 24, 26, 28 })
  each(fused, { "f32" }, { 10, 20, 24, 26, 28 })
  odd("sum", "f32", { 14, 20, 24, 28 }, { 1, 3, 7 })
  odd("dot", "f32", { 24 }, { 1 })
  each({ "sum", "dot" }, { "f32" }, { 12, 16, 20, 22 }, { resident = 1 })
  for _, dtype in ipairs(others) do
    each({ "sum" }, { dtype }, { 10, 14, 18, 20, 22, 26, 28 })
    each({ "dot", "max" }, { dtype }, { 14, 20, 26 })
    each({ "min", "prod" }, { dtype }, { 20, 26 })
    each(places, { dtype }, { 22, 26, 28 })
  end
  each({ "sum" }, { "u8", "f16" }, { 30 })
  each({ "sum" }, { "u8", "f16" }, { 28 }, { offset = 1 })
  for _, e in ipairs { 10, 14, 16, 18, 20 } do
    histogram("u8", e, 256, "uniform")
    histogram("i32", e, 256, "uniform")
    histogram("f32", e, 256, "uniform")
    histogram("i32", e, 4096, "uniform")
  end
  for _, kind in ipairs(kinds) do histogram("u8", 28, 256, kind) end
  for _, b in ipairs(bins) do histogram("i32", 28, b, "uniform") end
  for _, b in ipairs { 256, 16384, 65536, 1000000 } do histogram("i32", 28, b, "constant") end
  for _, kind in ipairs(kinds) do histogram("i32", 28, 4096, kind) end
  for _, b in ipairs { 256, 4096, 16384, 57000, 65536, 1000000 } do histogram("f32", 28, b, "uniform") end
  for _, kind in ipairs { "constant", "skewed", "power-law", "sorted" } do histogram("f32", 28, 256, kind) end
  histogram("f32", 28, 256, "uniform", 1)
  histogram("f64", 26, 256, "uniform")
  histogram("i64", 26, 4096, "uniform")
  each({ "scan" }, { "f32" }, { 0, 6, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28 })
  each({ "scan" }, { "f64", "i32", "i64" }, { 14, 20, 24, 28 })
  eight_shapes("sum", "f32", true)
  eight_shapes("mv", "f32", false)
  shapes("sum", "f64", true, 11)
  shapes("sum", "f16", true, 11)
  norms("f32", { 6, 8, 10, 12, 14, 16, 18 })
  norms("f16", { 12 })
end

local function full()
  core()
  first = false
  for _, dtype in ipairs(dtypes) do
    each(scalars, { dtype }, range(0, dtype == "i64" and 28 or dtype == "f64" and 28 or 30, 2))
    each(places, { dtype }, range(0, 28, 2))
    for _, op in ipairs(scalars) do odd(op, dtype, { 10, 14, 20, 24 }, { 1, 3, 7 }) end
    each({ "sum", "dot", "max" }, { dtype }, { 12, 16, 20, 22 }, { resident = 1 })
    for _, b in ipairs(bins) do
      for _, kind in ipairs(kinds) do
        if (dtype ~= "u8" or b <= 256) and (dtype ~= "f16" or b <= 4096) then histogram(dtype, 26, b, kind) end
      end
    end
    for _, e in ipairs { 10, 14, 16, 18, 20 } do
      if dtype ~= "f16" then histogram(dtype, e, 256, "uniform") end
    end
    each({ "scan" }, { dtype }, range(0, 28, 2))
    for _, op in ipairs { "sum", "mv" } do eight_shapes(op, dtype, true) end
    if dtype:match("f") then
      each(fused, { dtype }, range(0, 28, 2))
      norms(dtype, { 6, 8, 10, 12, 14, 16, 18 })
    end
  end
end

local function small()
  each({ "sum" }, { "f32" }, { 0, 10, 14, 18, 20, 22, 24, 26, 28, 30 })
  each({ "dot" }, { "f32" }, { 10, 14, 18, 20, 22, 24, 28 })
  each({ "max", "argmax", "minmax" }, { "f32" }, { 14, 20, 24, 28 })
  each({ "prod" }, { "f32" }, { 20, 28 })
  each(fused, { "f32" }, { 20, 26 })
  odd("sum", "f32", { 24 }, { 1 })
  each({ "sum" }, { "f32" }, { 20 }, { resident = 1 })
  for _, dtype in ipairs(others) do
    each({ "sum", "argmax", "dot" }, { dtype }, { 22, 28 })
  end
  for _, kind in ipairs { "uniform", "constant" } do histogram("u8", 28, 256, kind) end
  for _, b in ipairs { 256, 4096, 16384, 57000, 65536, 1000000 } do histogram("i32", 28, b, "uniform") end
  histogram("i32", 28, 65536, "constant")
  histogram("i32", 20, 4096, "uniform")
  histogram("f32", 28, 256, "uniform")
  histogram("f32", 28, 256, "uniform", 1)
  histogram("i32", 16, 256, "uniform")
  each({ "scan" }, { "f32" }, { 10, 14, 20, 24, 28 })
  each({ "scan" }, { "i32" }, { 28 })
  eight_shapes("sum", "f32", true)
  add { op = "mv", dtype = "f32", n = 2 ^ 26, rows = 2 ^ 12, axis = 2 }
  norms("f32", { 6, 12, 18 })
end

--- The cells of "small", "core" or "full", the core's first, sorted so that cells on the same data follow each other.
function grid.cells(which)
  list, seen, first = {}, {}, nil
  assert(({ small = small, core = core, full = full })[which], "no grid " .. tostring(which))()
  local at = {}
  for k, c in ipairs(list) do at[c] = k end
  local function key(c) return (c.first and 0 or 2) + (c.bins and 1 or 0), c.dtype, c.data or "normal" end
  table.sort(list, function(x, y)
    local x1, x2, x3 = key(x)
    local y1, y2, y3 = key(y)
    if x1 ~= y1 then return x1 < y1 end
    if x2 ~= y2 then return x2 < y2 end
    if x3 ~= y3 then return x3 < y3 end
    return at[x] < at[y]
  end)
  return list
end

return grid
