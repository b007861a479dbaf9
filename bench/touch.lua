-- Touches every operation, dtype and kind of view once at small sizes: for compute-sanitizer, which makes all slow.
-- Usage: touch.lua [DTYPE...]    (default: all; bench/gpu.sh runs one process a dtype)
local gr = require "gpureduce"

local dtypes = { "u8", "i8", "u16", "i16", "u32", "i32", "i64", "f16", "bf16", "f32", "f64" }
local ops = { "sum", "prod", "min", "max", "minmax", "mean", "var", "std", "argmin", "argmax", "any", "all", "count" }
local calls = 0
local largest = gr.operator { state = "m", map = "abs(x)", merge = "max(m1, m2)", identity = 0 }

-- What goes by indices, by rows, by formulas, or leaves elements out.
local function arranged(a, b, float)
  local n = #a
  local places = gr.randint(1, n, n, { dtype = "i32", seed = 3 })
  local taken = a:take(places)
  for _, op in ipairs { "set", "add", "min", "max" } do a:copy():put(places, taken, { op = op }) end
  for _, rows in ipairs { 1, 5, n } do
    if n % rows == 0 then
      local m = a:copy():matrix(rows)
      for axis = 1, 2 do
        m:scan("sum", { axis = axis })
        m:sum { axis = axis, mask = a:compare(">=", 0) }
      end
      if float then
        m:softmax()
        m:var { axis = 1, skipnan = true }
      end
    end
  end
  local skip = float and { skipnan = true } or { mask = a:compare(">=", 0) }
  for _, op in ipairs { "sum", "mean", "min", "argmax", "var" } do gr[op](a, skip) end
  gr.fuse "max(x, y) - x / 3" { x = float and a or a:cast "f32", y = float and b or b:cast "f32" }:sum()
  largest:reduce(a)
end

local function each(a, b, float)
  for _, op in ipairs(ops) do gr[op](a) end
  for _, p in ipairs { 1, 2, math.huge } do a:norm(p) end
  for _, op in ipairs { "dot", "mse", "cosine" } do gr[op](a, b) end
  if float then
    for _, mode in ipairs { "f32", "kahan", "neumaier" } do
      a:sum { accumulate = mode }
      a:dot(b, { accumulate = mode })
    end
    a:rmsnorm(b)
  end
  for _, op in ipairs { "sum", "prod", "min", "max" } do
    a:scan(op)
    a:scan(op, { exclusive = true, reverse = true })
  end
  for _, bins in ipairs { 3, 300, 9000, 70000 } do a:histogram { bins = bins, min = -1, max = 100 } end
  for _, op in ipairs { "add", "sub", "mul", "div" } do
    gr[op](a, b)
    gr[op](2, a)
  end
  for _, op in ipairs { "neg", "abs", "square", "sqrt", "exp", "log" } do gr[op](a) end
  for _, dtype in ipairs(dtypes) do a:cast(dtype) end
  a:clamp(2, 50)
  local mask = a:compare("<", b)
  gr.where(mask, a, b)
  a:compact(mask)
  a:count { op = ">", value = 3 }
  a:copy():fill(1)
  a:equal(b)
  arranged(a, b, float)
  calls = calls + 1
end

for _, dtype in ipairs(arg[1] and arg or dtypes) do
  local float = dtype:match("f") ~= nil
  for _, n in ipairs { 1, 35, 1031, 9000 } do
    local a, b = gr.array(2 * n + 20, dtype), gr.array(2 * n + 20, dtype)
    for k = 1, 2 * n + 20, 7 do a[k], b[k] = k % 90, k % 50 end
    for _, view in ipairs { { 1, n, 1 }, { 4, n + 3, 1 }, { 2, 2 * n + 1, 2 }, { n, 1, -1 } } do
      each(a:slice(view[1], view[2], view[3]), b:slice(view[1], view[2], view[3]), float)
    end
    local m = a:slice(2, 2 * n + 1)
    for axis = 1, 2 do
      for _, rows in ipairs { 2, n } do
        for _, op in ipairs(ops) do gr[op](m, { rows = rows, axis = axis }) end
        gr.dot(m, m, { rows = rows, axis = axis, pairs = true })
      end
    end
  end
  -- Few rows that start anywhere in a word and end where their memory ends, which the pool rounds up to such a size.
  local whole = gr.zeros(5120 / #gr.zeros(1, dtype):bytes(), dtype)
  for _, rows in ipairs { 1, 3, 5, 9, 30 } do
    local m = whole:slice(#whole - math.floor((#whole - 1) / rows) * rows + 1)
    for _, op in ipairs(ops) do gr[op](m, { rows = rows }) end
    gr.dot(m, m, { rows = rows, pairs = true })
  end
  if dtype == "f32" or dtype == "f64" then -- many long rows go through a ring
    local x = gr.rand(420 * 66004, dtype)
    gr.rmsnorm(x, nil, { rows = 420, into = x })
  end
  if float then gr.rand(5000, dtype):sum() gr.randn(5000, dtype):sum() end
end
print(gr.backend(), calls .. " views touched")
