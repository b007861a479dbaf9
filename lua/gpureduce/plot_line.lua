-- Draws a series as a line of dots in the terminal: 2 by 4 dots a character (Braille), 1 by 2 in ASCII.
local _, parts = ...
local plot_line = {}

local floor, max, min, huge = math.floor, math.max, math.min, math.huge

-- The bits of a Braille character's dots by column and row, and ASCII's pictures of an upper and a lower dot.
local braille = { { 1, 2, 4, 64 }, { 8, 16, 32, 128 } }
local ascii_dots = { [0] = " ", "'", ".", ":" }

local function character(bits, ascii)
  if bits == 0 then return " " end
  if ascii then return ascii_dots[bits] end
  return "\226" .. string.char(160 + floor(bits / 64), 128 + bits % 64)
end

-- ---- dots ----

-- A canvas of columns x rows characters.
local function new_canvas(columns, rows, ascii)
  local wide, high = ascii and 1 or 2, ascii and 2 or 4
  local canvas, cells, ends = { width = columns * wide, height = rows * high }, {}, {}
  -- All dots of a column from row a to row b, counted from 0 at the top.
  function canvas.column(x, a, b)
    if x < 0 or x >= canvas.width then return end
    local cell, dot_column = floor(x / wide), x % wide + 1
    for y = max(0, min(a, b)), min(canvas.height - 1, max(a, b)) do
      local row, bit = floor(y / high), ascii and y % 2 + 1 or braille[dot_column][y % 4 + 1]
      local key = row * columns + cell
      local bits = cells[key] or 0
      ends[row] = max(ends[row] or 0, cell)
      if floor(bits / bit) % 2 == 0 then cells[key] = bits + bit end
    end
  end
  function canvas.row(row)
    local text = {}
    for k = 0, ends[row] or -1 do text[k + 1] = character(cells[row * columns + k] or 0, ascii) end
    return table.concat(text)
  end
  return canvas
end

-- From one point to the next: each column between them from where the line enters it to where it leaves it.
local function join(canvas, x1, y1, x2, y2)
  if x2 < x1 then x1, y1, x2, y2 = x2, y2, x1, y1 end
  local first, last = floor(x1), floor(x2)
  for x = max(0, first), min(canvas.width - 1, last) do
    local function row(at) return floor(x1 == x2 and y1 or y1 + (y2 - y1) * (at - x1) / (x2 - x1)) end
    if first == last then canvas.column(x, floor(y1), floor(y2))
    else canvas.column(x, row(max(x1, x)), row(min(x2, x + 1))) end
  end
end

local function draw(canvas, list)
  local before
  for _, c in ipairs(list) do
    if c then
      canvas.column(floor(c.x), floor(c.low), floor(c.high))
      if before then join(canvas, before.x, before.last, c.x, c.first) end
    end
    before = c
  end
end

-- ---- gr.plot ----

local known = { x = "table|gpureduce.array", width = "number", height = "number", ascii = "boolean",
  xlog = "boolean|number", ylog = "boolean|number", ymin = "number", ymax = "number" }

local function axes(s, options, columns, rows)
  local xs, ys = { huge, -huge }, { huge, -huge }
  parts.series.reach(s, xs, ys, options.xlog, options.ylog)
  if xs[1] > xs[2] then xs, ys = options.xlog and { 1, 10 } or { 0, 1 }, options.ylog and { 1, 10 } or { 0, 1 } end
  local low, high = options.ymin or ys[1], options.ymax or ys[2]
  if low > high then low, high = options.ymin or high, options.ymax or low end
  local function make(log, from, to, wanted, tight)
    if log then return parts.axis.log(from, to, wanted, log == 2 and 2 or 10, tight) end
    return parts.axis.linear(from, to, wanted, tight and from < to)
  end
  return make(options.xlog, xs[1], xs[2], max(2, floor(columns / 9)), true),
    make(options.ylog, low, high, max(2, floor(rows / 3)), options.ymin and options.ymax and true)
end

local function draw_line(y, options)
  local function fail(text, ...) parts.check.fail("plot", 2, text, ...) end
  if type(y) ~= "table" and parts.check.kind(y) ~= "gpureduce.array" then
    parts.check.fail("plot", 1, "table or gpureduce.array expected, got %s", parts.check.kind(y))
  end
  options = parts.check.options("plot", 2, options, known)
  parts.plot.check_sizes(options, 2)
  parts.svg.check_limits({ xlog = options.xlog, ylog = options.ylog, ymin = options.ymin, ymax = options.ymax }, fail)
  local ascii, width = parts.plot.is_ascii(options), parts.plot.columns(options.width)
  local rows = max(1, floor(options.height or 16))
  local s = parts.series.read({ x = options.x, y = y }, "series", "lines",
    not options.xlog and width * (ascii and 1 or 2), function(text, ...) parts.check.fail("plot", 1, text, ...) end)
  local x, scale = axes(s, options, width - 8, rows)
  local labels, left = parts.plot_axes.beside(scale, rows, width / 3)
  local columns = width - left - 2
  local canvas = new_canvas(columns, rows, ascii)
  local f = {}
  function f.x(value) return max(-1e6, min(1e6, x.scale(value))) * (canvas.width - 0.001) end
  function f.y(value) return (1 - max(-1e6, min(1e6, scale.scale(value)))) * (canvas.height - 0.001) end
  local list, missing
  if s.outline then list = parts.pixels.outline(s, f, options.xlog, options.ylog) else
    local px, py = parts.pixels.points(s, f, options.xlog, options.ylog)
    missing = 0
    for k = 1, #px do
      if k % 4096 == 0 then parts.check.look() end
      missing = missing + (px[k] and 0 or 1)
    end
    list = parts.pixels.gather(px, py, 1, canvas.width)
  end
  draw(canvas, list)

  local lines, bar, corner = {}, ascii and "|" or "\226\148\130", ascii and "+" or "\226\148\148"
  for row = 0, rows - 1 do
    local label = labels[row] or ""
    lines[row + 1] = string.rep(" ", left - #label) .. label .. " " .. bar .. canvas.row(row)
  end
  local line, texts = parts.plot_axes.below(x, columns, ascii)
  lines[#lines + 1] = string.rep(" ", left + 1) .. corner .. line
  lines[#lines + 1] = string.rep(" ", left + 2) .. texts
  local rest = {}
  rest[#rest + 1] = parts.plot_axes.left_out("x", x)
  rest[#rest + 1] = parts.plot_axes.left_out("y", scale)
  if missing and missing > 0 then rest[#rest + 1] = string.format("%d points cannot be drawn", missing) end
  if #rest > 0 then
    for _, each in ipairs(parts.plot.wrap(table.concat(rest, ", "), width)) do lines[#lines + 1] = each end
  end
  return table.concat(lines, "\n")
end

--- gr.plot(y, {x =, width =, height =, ascii =, xlog =, ylog =, ymin =, ymax =}): the series as lines of text.
-- Of a matrix a heat map.
function plot_line.plot(y, options)
  return parts.timed(parts.heat.rows_of(y) and parts.plot_heat.of_matrix or draw_line, y, options)
end

return plot_line
