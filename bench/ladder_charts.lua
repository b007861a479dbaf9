-- A picture for each operation of the ladder: the speed of every kernel by length. bench/ladder.lua draws them from
-- what it has measured; from a file that it wrote they are drawn anew by
--   lua bench/ladder_charts.lua bench/results/ladder_h200.json bench/results
local gr = require "gpureduce"

local charts = {}

charts.order = { "dot", "sum", "min", "max", "histogram", "scan", "rmsnorm" }

-- Bytes that must be moved for one element.
charts.bytes = { dot = 8, sum = 4, min = 4, max = 4, histogram = 4, scan = 8, rmsnorm = 8 }

-- Kernels that differ in how they accumulate, not in how they reduce: they have a table of their own.
local accumulators = { f32_accumulators = true, f64_accumulators = true, kahan = true, neumaier = true }

--- The bytes a second at which nothing but reading what an operation moves goes, of those measured (op "read", of f32)
-- the length that is nearest, and no longer; the best of its grids. 0: nothing was measured.
function charts.ceiling(records, op, n)
  local most, best = n * charts.bytes[op] / 4, { n = 0, speed = 0 }
  for _, r in ipairs(records) do
    if r.op == "read" and r.n <= most and r.n >= best.n then
      local speed = 4 * r.n / r.device
      best = { n = r.n, speed = r.n > best.n and speed or math.max(speed, best.speed) }
    end
  end
  return best.speed
end

--- Draw one operation. records: a list of { op, kernel, n, device (seconds) }.
function charts.draw(folder, op, records, device)
  local lines, by_name = {}, {}
  for _, r in ipairs(records) do
    if r.op == op and r.n ~= 1e7 and not accumulators[r.kernel] then
      local line = by_name[r.kernel]
      if not line then
        line = { name = r.kernel, x = {}, y = {} }
        by_name[r.kernel] = line
        lines[#lines + 1] = line
      end
      line.x[#line.x + 1], line.y[#line.y + 1] = r.n, charts.bytes[op] * r.n / r.device / 1e9
    end
  end
  local first = lines[1]
  if first and charts.ceiling(records, op, first.x[1]) > 0 then
    local line = { name = "reading alone", x = first.x, y = {} }
    for k, n in ipairs(first.x) do line.y[k] = charts.ceiling(records, op, n) / 1e9 end
    lines[#lines + 1] = line
  end
  assert(gr.svg {
    path = ("%s/ladder_%s.svg"):format(folder, op), lines = lines, xlog = 2, ylog = 10, height = 620, width = 820,
    title = ("%s of %s: the ladder on %s"):format(op, op == "histogram" and "i32, 256 bins" or "f32", device),
    xlabel = "elements", ylabel = "speed", yunit = "GB/s",
  })
end

local function redraw(path, folder)
  local records, device = {}, nil
  for line in io.lines(path) do
    device = device or line:match('"device": "([^",]*)')
    local op, kernel = line:match('{"op": "([^"]*)", "kernel": "([^"]*)"')
    local n, seconds = tonumber(line:match('"n": ([^,}]+)')), tonumber(line:match('"device": ([%d.e+-]+)'))
    if op and n and seconds then records[#records + 1] = { op = op, kernel = kernel, n = n, device = seconds } end
  end
  for _, op in ipairs(charts.order) do charts.draw(folder, op, records, device) end
end

if arg and arg[0] and arg[0]:find("ladder_charts", 1, true) then redraw(arg[1], arg[2]) end

return charts
