-- What skipping NaN costs along rows and down columns, also a few odd ones: reductions of matrices with NaN in one
-- element of six beside the plain call on the matrix without. Results are compared with the CPU's first, at 2^16
-- elements; then in turns, medians of times. From the root, after make:
--   lua5.4 bench/missing_rows.lua [exponent=26] [rounds=5] [calls=20] [only='a pattern of lines']
-- A line ends with * where it takes more than 1.05 of the plain call's time.
local gr = require "gpureduce"
local timing = require "bench.timing"
local median = timing.median
local options = timing.options(arg, { exponent = "26", rounds = "5", calls = "20", only = "" }, "exponent")
local n, rounds, calls = 2 ^ tonumber(options.exponent), tonumber(options.rounds), tonumber(options.calls)
local here = gr.backend():match "^[%w:]+"
local ops = { "sum", "mean", "var", "norm", "max", "minmax", "argmax", "argmin" }

-- A vector, and the same with NaN in one element of six.
local function data(count, dtype)
  local a, b = gr.randn(count, { seed = 1 }), gr.randn(count, { seed = 2 })
  return a:cast(dtype), gr.where(b:compare(">", 1), 0 / 0, a):cast(dtype)
end

local function compare(dtype)
  local found = {}
  for _, device in ipairs { "cpu", here } do
    gr.use(device)
    local _, holes = data(2 ^ 16, dtype)
    local list = {}
    for _, op in ipairs(ops) do
      for axis = 1, 2 do
        local first, second = gr[op](holes, { rows = 256, axis = axis, skipnan = true })
        list[#list + 1] = ("%s %d %s %s"):format(op, axis, first:digest(), second and second:digest() or "")
      end
    end
    found[#found + 1] = table.concat(list, "\n")
  end
  assert(found[1] == found[2], dtype .. ": not what the CPU gives")
end

local function time(call)
  local start, last = gr.clock(), nil
  for _ = 1, calls do last = call() end
  local _ = gr.isarray(last) and last:slice()[1]
  return (gr.clock() - start) / calls
end

local function beside(name, plain, skipping)
  if not name:find(options.only) then return end
  local mine, theirs = {}, {}
  time(plain)
  time(skipping)
  for k = 1, rounds do theirs[k], mine[k] = time(plain), time(skipping) end
  local p, s = median(theirs), median(mine)
  print(("%-34s %9.2f %9.2f us %7.3f%s"):format(name, p * 1e6, s * 1e6, s / p, s / p > 1.05 and " *" or ""))
end

print(("# %s, %s, 2^%s elements, medians of %d rounds of %d calls: plain, skipnan, ratio"):format(gr._VERSION,
  gr.backend():match "^[^\t]+", options.exponent, rounds, calls))
for _, dtype in ipairs { "f32", "f64", "bf16" } do
  compare(dtype)
  local a, holes = data(n, dtype)
  for _, rows in ipairs { 8192, 1000, 65536, 1048576 } do
    for axis = (rows == 1000 or rows == 65536) and 2 or 1, 2 do
      local count = n - n % rows
      local x, y = a:slice(1, count), holes:slice(1, count)
      for _, op in ipairs(ops) do
        beside(("%s %s, %d rows, axis %d"):format(dtype, op, rows, axis),
          function() return (gr[op](x, { rows = rows, axis = axis })) end,
          function() return (gr[op](y, { rows = rows, axis = axis, skipnan = true })) end)
      end
    end
  end
  for _, columns in ipairs { 3, 33, 101 } do
    local rows = n // columns
    local x, y = a:slice(1, rows * columns), holes:slice(1, rows * columns)
    for _, op in ipairs(ops) do
      beside(("%s %s, %d columns"):format(dtype, op, columns),
        function() return (gr[op](x, { rows = rows, axis = 1 })) end,
        function() return (gr[op](y, { rows = rows, axis = 1, skipnan = true })) end)
    end
  end
  for _, op in ipairs(ops) do
    beside(("%s %s, whole"):format(dtype, op), function() return (gr[op](a)) end,
      function() return (gr[op](holes, { skipnan = true })) end)
  end
end
