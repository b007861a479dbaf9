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

--- Draw one operation. records: a list of { op, kernel, n, device (seconds) }; ceiling: bytes a second, or 0.
function charts.draw(folder, op, records, ceiling, device)
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
  assert(gr.svg {
    path = ("%s/ladder_%s.svg"):format(folder, op), lines = lines, xlog = 2, ylog = 10, height = 620, width = 820,
    title = ("%s of %s: the ladder on %s"):format(op, op == "histogram" and "i32, 256 bins" or "f32", device),
    xlabel = "elements", ylabel = "speed", yunit = "GB/s",
    ceiling = ceiling > 0 and { y = ceiling / 1e9, name = "read ceiling" } or nil,
  })
end

local function redraw(path, folder)
  local records, ceiling, device = {}, 0, nil
  for line in io.lines(path) do
    device = device or line:match('"device": "([^",]*)')
    ceiling = tonumber(line:match('"read_ceiling_bytes_per_s": ([^,}]+)')) or ceiling
    local op, kernel = line:match('{"op": "([^"]*)", "kernel": "([^"]*)"')
    local n, seconds = tonumber(line:match('"n": ([^,}]+)')), tonumber(line:match('"device": ([%d.e+-]+)'))
    if op and n and seconds then records[#records + 1] = { op = op, kernel = kernel, n = n, device = seconds } end
  end
  for _, op in ipairs(charts.order) do charts.draw(folder, op, records, ceiling, device) end
end

if arg and arg[0] and arg[0]:find("ladder_charts", 1, true) then redraw(arg[1], arg[2]) end

return charts
