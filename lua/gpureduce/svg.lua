-- Charts as SVG: lines and bars over axes with round ticks. They can be read without colour: every line has its own
-- dashes and marks, and is named beside its end. gr.svg and h:svg (docs/api/pictures.lua) are made of this.
local gr, parts = ...

local svg = {}

local floor, max, min, huge = math.floor, math.max, math.min, math.huge
local FONT, SMALL = 13, 11

-- Colours that differ in lightness too (Okabe and Ito), dashes and marks, by turns; 5, 4 and 7 meet again after 140.
local colours = { "#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7" }
local dashes = { "", "7 3", "2 3", "9 3 2 3" }

local function number(x) return (("%.2f"):format(x):gsub("%.?0+$", "")) end

-- Marks around (x, y); hollow ones show what is under them.
local marks = {
  function(x, y) return ('<circle cx="%s" cy="%s" r="3.5"/>'):format(number(x), number(y)) end,
  function(x, y) return ('<path d="M%s %sh6v6h-6z"/>'):format(number(x - 3), number(y - 3)) end,
  function(x, y) return ('<path d="M%s %sl4 7h-8z"/>'):format(number(x), number(y - 4.5)) end,
  function(x, y) return ('<path d="M%s %sl4.5 4.5l-4.5 4.5l-4.5-4.5z"/>'):format(number(x), number(y - 4.5)) end,
  function(x, y) return ('<path fill="#fff" d="M%s %sh6v6h-6z"/>'):format(number(x - 3), number(y - 3)) end,
  function(x, y) return ('<circle fill="#fff" cx="%s" cy="%s" r="3.5"/>'):format(number(x), number(y)) end,
  function(x, y) return ('<path fill="#fff" d="M%s %sl4-7h-8z"/>'):format(number(x), number(y + 4.5)) end,
}

local function escaped(text)
  return (tostring(text):gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

-- About how wide text is: characters, not bytes.
local function width_of(text, size) return select(2, text:gsub("[^\128-\191]", "")) * size * 0.58 end

local function tick_text(tick) return type(tick) == "table" and tick[1] .. tick[2] or tick end

local function text_at(x, y, text, attributes)
  if type(text) == "table" then -- a power: its exponent is raised
    text = ('%s<tspan dy="-5" font-size="9">%s</tspan>'):format(escaped(text[1]), escaped(text[2]))
  else text = escaped(text) end
  return ('<text x="%s" y="%s"%s>%s</text>'):format(number(x), number(y), attributes and " " .. attributes or "", text)
end

-- ---- data ----

-- The numbers of an array or a table.
local function numbers(values) return type(values) == "table" and values or values:table() end

-- A long array without x: the least and the greatest of each of `columns` equal parts, found where the data is.
local function outline(a, columns)
  local each = floor(#a / columns)
  local whole = a:slice(1, each * columns)
  local low, high = whole:min { rows = columns }:table(), whole:max { rows = columns }:table()
  local xs, ys = {}, {}
  for k = 1, columns do
    xs[2 * k - 1], ys[2 * k - 1] = (k - 1) * each + 1, low[k]
    xs[2 * k], ys[2 * k] = (k - 0.5) * each + 1, high[k]
  end
  for k = each * columns + 1, #a do xs[#xs + 1], ys[#ys + 1] = k, a[k] end
  return xs, ys
end

local function is_array(value) return type(value) == "userdata" end

-- What one entry of `lines` says, as { name, xs, ys, points = true when its points are worth a mark }.
local function read_line(line, k, columns, fail)
  if is_array(line) then line = { y = line } end
  if type(line) ~= "table" then
    fail("option 'lines': line %d: table or gpureduce.array expected, got %s", k, type(line))
  end
  local xs, ys = line.x, line.y
  for _, each in ipairs { { "x", xs }, { "y", ys } } do
    local value = each[2]
    if value ~= nil and type(value) ~= "table" and not is_array(value) then
      fail("option 'lines': line %d: %s: table or gpureduce.array expected, got %s", k, each[1], type(value))
    end
  end
  if not ys then fail("option 'lines': line %d: no 'y'", k) end
  if xs and #xs ~= #ys then fail("option 'lines': line %d: %d numbers in 'y' expected, got %d", k, #xs, #ys) end
  if not xs and is_array(ys) and #ys > 4 * columns then xs, ys = outline(ys, columns)
  else
    ys = numbers(ys)
    if xs then xs = numbers(xs) else
      xs = {}
      for i = 1, #ys do xs[i] = i end
    end
  end
  return { name = line.name, xs = xs, ys = ys, points = #ys <= 60 }
end

-- Grow { low, high } by x when it can be drawn.
local function widen(range, x, log)
  if x ~= x or x == huge or x == -huge or (log and x <= 0) then return end
  range[1], range[2] = min(range[1], x), max(range[2], x)
end

local function make_axis(range, log, wanted, low, high)
  if range[1] > range[2] then range[1], range[2] = log and 1 or 0, log and 10 or 1 end
  range[1], range[2] = low or range[1], high or range[2]
  local tight = low ~= nil and high ~= nil
  if log then return parts.axis.log(range[1], range[2], wanted, log == 2 and 2 or 10, tight) end
  return parts.axis.linear(range[1], range[2], wanted, tight)
end

-- ---- drawing ----

-- "time (ms)", with the power of ten that the ticks leave out.
local superscripts = {
  ["-"] = "\226\129\187", ["0"] = "\226\129\176", ["1"] = "\194\185", ["2"] = "\194\178", ["3"] = "\194\179",
}
for digit = 4, 9 do superscripts[tostring(digit)] = "\226\129" .. string.char(176 + digit) end

local function axis_name(label, unit, factor)
  local inside = {}
  if factor ~= 0 then inside[1] = "10" .. tostring(factor):gsub(".", superscripts) end
  if unit then inside[#inside + 1] = unit end
  if #inside == 0 then return label end
  return (label and label .. " " or "") .. "(" .. table.concat(inside, " ") .. ")"
end

-- The rectangle of the plot between its texts.
local function frame(options, x, y, lines)
  local width, height = options.width, options.height
  local left, right = 0, 0
  for _, tick in ipairs(y.ticks) do left = max(left, width_of(tick_text(tick[2]), SMALL)) end
  for _, line in ipairs(lines) do
    if line.name then right = max(right, width_of(line.name, FONT) + 40) end
  end
  right = min(right, width * 0.4)
  local f = { left = left + 14 + (options.ylabel_text and 22 or 0), top = options.title and 44 or 16 }
  f.right = width - max(20, right + 14)
  if options.note then f.top = f.top + 16 end
  f.bottom = height - 28 - (options.xlabel_text and 20 or 0)
  function f.x(value) return f.left + (f.right - f.left) * x.scale(value) end
  function f.y(value) return f.bottom - (f.bottom - f.top) * y.scale(value) end
  return f
end

local function draw_axes(add, f, x, y, options)
  add('<g stroke="#ddd" stroke-width="1">')
  for _, at in ipairs(y.minor) do
    add(('<path stroke="#f0f0f0" d="M%s %sH%s"/>'):format(number(f.left), number(f.y(at)), number(f.right)))
  end
  for _, tick in ipairs(y.ticks) do
    add(('<path d="M%s %sH%s"/>'):format(number(f.left), number(f.y(tick[1])), number(f.right)))
  end
  for _, tick in ipairs(x.ticks) do
    add(('<path stroke="#444" d="M%s %sv5"/>'):format(number(f.x(tick[1])), number(f.bottom)))
  end
  for _, at in ipairs(x.minor) do
    add(('<path stroke="#444" d="M%s %sv3"/>'):format(number(f.x(at)), number(f.bottom)))
  end
  add(('<path fill="none" stroke="#444" d="M%s %sV%sH%s"/>'):format(
    number(f.left), number(f.top), number(f.bottom), number(f.right)))
  add("</g>")
  add(('<g font-size="%d" fill="#222">'):format(SMALL))
  for _, tick in ipairs(y.ticks) do add(text_at(f.left - 6, f.y(tick[1]) + 4, tick[2], 'text-anchor="end"')) end
  local reached = -huge -- texts that would touch the one before are left out
  for _, tick in ipairs(x.ticks) do
    local at, half = f.x(tick[1]), width_of(tick_text(tick[2]), SMALL) / 2
    if at - half > reached + 4 then
      add(text_at(at, f.bottom + 18, tick[2], 'text-anchor="middle"'))
      reached = at + half
    end
  end
  add("</g>")
  local middle = (f.left + f.right) / 2
  if options.title then add(text_at(middle, 24, options.title, 'text-anchor="middle" font-size="15"')) end
  if options.note then
    add(text_at(middle, f.top - 8, options.note, ('text-anchor="middle" font-size="%d" fill="#444"'):format(SMALL)))
  end
  if options.xlabel_text then add(text_at(middle, options.height - 8, options.xlabel_text, 'text-anchor="middle"')) end
  if options.ylabel_text then
    local at = ("%s %s"):format(number(16), number((f.top + f.bottom) / 2))
    add(('<text text-anchor="middle" transform="translate(%s) rotate(-90)">%s</text>'):format(
      at, escaped(options.ylabel_text)))
  end
end

local function draw_ceilings(add, f, ceilings)
  for _, ceiling in ipairs(ceilings) do
    local at = f.y(ceiling.y)
    add(('<path stroke="#666" stroke-width="2" stroke-dasharray="12 4" d="M%s %sH%s"/>'):format(
      number(f.left), number(at), number(f.right)))
    if ceiling.name then
      add(text_at(f.left + 8, at - 5, ceiling.name, ('font-size="%d" fill="#444"'):format(SMALL)))
    end
  end
end

-- Bars between edges, from 0 (on an axis of ratios from the floor) to the counts, which are negative for some weights.
local function draw_bars(add, f, bars, x, y, xlog, ylog)
  local base = ylog and f.bottom or f.y(0)
  add('<g fill="#9ecae1" stroke="#084594" stroke-width="0.8">')
  for k = 1, #bars.counts do
    local low, high, count = bars.edges[k], bars.edges[k + 1], bars.counts[k]
    low, high = max(low, x.first), min(high, x.last)
    if count ~= 0 and low < high and not (xlog and high <= 0) and not (ylog and count <= y.first) then
      local a, b, top = f.x(low), f.x(high), f.y(count)
      add(('<path d="M%s %sV%sH%sV%s"/>'):format(number(a), number(base), number(top), number(b), number(base)))
    end
  end
  add("</g>")
end

local function style(k)
  return colours[(k - 1) % #colours + 1], dashes[(k - 1) % #dashes + 1], marks[(k - 1) % #marks + 1]
end

local function path_style(colour, dash)
  local text = ('fill="none" stroke="%s" stroke-width="1.8"'):format(colour)
  return dash == "" and text or text .. (' stroke-dasharray="%s"'):format(dash)
end

-- One line: pieces between what cannot be drawn (NaN, infinities, 0 on an axis of ratios), then its marks.
local function draw_line(add, f, line, k, xlog, ylog)
  local colour, dash, mark = style(k)
  local path, pen_down, points = {}, false, {}
  for i = 1, #line.ys do
    local x, y = line.xs[i], line.ys[i]
    local drawn = x - x == 0 and y - y == 0 and not (xlog and x <= 0) and not (ylog and y <= 0)
    if drawn then
      local px, py = f.x(x), f.y(y)
      path[#path + 1] = ("%s%s %s"):format(pen_down and "L" or "M", number(px), number(py))
      points[#points + 1] = { px, py }
    end
    pen_down = drawn
  end
  if #points == 0 then return end
  add(('<path clip-path="url(#plot)" %s d="%s"/>'):format(path_style(colour, dash), table.concat(path)))
  if line.points then
    add(('<g fill="%s" stroke="%s" stroke-width="1.2">'):format(colour, colour))
    for _, p in ipairs(points) do
      if p[1] >= f.left - 1 and p[1] <= f.right + 1 and p[2] >= f.top - 1 and p[2] <= f.bottom + 1 then
        add(mark(p[1], p[2]))
      end
    end
    add("</g>")
  end
  return points[#points]
end

-- Names beside the lines' ends, moved apart until each has its own row.
local function draw_names(add, f, lines)
  local rows = {}
  for k, line in ipairs(lines) do
    if line.name and line.last then
      rows[#rows + 1] = { k = k, line = line, y = min(max(line.last[2], f.top), f.bottom) }
    end
  end
  table.sort(rows, function(a, b) return a.y < b.y or (a.y == b.y and a.k < b.k) end)
  local step = min(17, (f.bottom - f.top + 17) / max(1, #rows))
  for i, row in ipairs(rows) do row.at = max(row.y, i > 1 and rows[i - 1].at + step or -huge) end
  local limit = f.bottom
  for i = #rows, 1, -1 do
    rows[i].at = min(rows[i].at, limit)
    limit = rows[i].at - step
  end
  for _, row in ipairs(rows) do
    local colour, dash, mark = style(row.k)
    local x, y = f.right + 12, row.at
    if math.abs(row.line.last[1] - f.right) < 0.1 * (f.right - f.left) then -- from the line's end to its name
      add(('<path fill="none" stroke="#bbb" stroke-width="0.7" d="M%s %sL%s %s"/>'):format(
        number(row.line.last[1]), number(row.y), number(x - 2), number(y)))
    end
    add(('<path %s d="M%s %sh26"/>'):format(path_style(colour, dash), number(x), number(y)))
    if row.line.points then
      add(('<g fill="%s" stroke="%s" stroke-width="1.2">%s</g>'):format(colour, colour, mark(x + 13, y)))
    end
    add(text_at(x + 32, y + 4.5, row.line.name))
  end
end

--- The picture as text. chart: { lines = , bars =, ceilings = } and the options of gr.svg, checked.
function svg.draw(chart)
  local options = { width = floor(chart.width or 720), height = floor(chart.height or 440), title = chart.title,
    note = chart.note }
  local xs, ys = { huge, -huge }, { huge, -huge }
  for _, line in ipairs(chart.lines) do
    for i = 1, #line.ys do
      local x, y = line.xs[i], line.ys[i]
      if not (chart.xlog and x <= 0) and not (chart.ylog and y <= 0) then
        widen(xs, x, chart.xlog)
        widen(ys, y, chart.ylog)
      end
    end
  end
  for _, ceiling in ipairs(chart.ceilings) do widen(ys, ceiling.y, chart.ylog) end
  if chart.bars then
    for _, edge in ipairs(chart.bars.edges) do widen(xs, edge, chart.xlog) end
    widen(ys, chart.ylog and 1 or 0, chart.ylog)
    for _, count in ipairs(chart.bars.counts) do widen(ys, count, chart.ylog) end
    if chart.ylog then ys[1] = ys[1] / 2 end -- a count of 1 is seen
  end
  -- Bars and long series reach from side to side; else the axis begins and ends at round numbers.
  local xmin, xmax = chart.xmin, chart.xmax
  if not chart.xlog and xs[1] < xs[2] then xmin, xmax = xmin or xs[1], xmax or xs[2] end
  local x = make_axis(xs, chart.xlog, max(2, floor(options.width / 90)), xmin, xmax)
  local y = make_axis(ys, chart.ylog, max(2, floor(options.height / 70)), chart.ymin, chart.ymax)
  options.xlabel_text = axis_name(chart.xlabel, chart.xunit, x.factor)
  options.ylabel_text = axis_name(chart.ylabel, chart.yunit, y.factor)

  local out = {}
  local function add(text) out[#out + 1] = text end
  local f = frame(options, x, y, chart.lines)
  add(('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
    .. 'font-family="Helvetica, Arial, sans-serif" font-size="%d">'):format(
    options.width, options.height, options.width, options.height, FONT))
  if options.title then add("<title>" .. escaped(options.title) .. "</title>") end
  add(('<rect width="%d" height="%d" fill="#fff"/>'):format(options.width, options.height))
  add(('<clipPath id="plot"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath>'):format(
    number(f.left), number(f.top - 2), number(f.right - f.left), number(f.bottom - f.top + 4)))
  draw_axes(add, f, x, y, options)
  if chart.bars then draw_bars(add, f, chart.bars, x, y, chart.xlog, chart.ylog) end
  draw_ceilings(add, f, chart.ceilings)
  for k, line in ipairs(chart.lines) do line.last = draw_line(add, f, line, k, chart.xlog, chart.ylog) end
  draw_names(add, f, chart.lines)
  add("</svg>\n")
  return table.concat(out, "\n")
end

-- ---- what the public functions share ----

svg.options = {
  title = "string", xlabel = "string", ylabel = "string", xunit = "string", yunit = "string",
  xlog = "boolean|number", ylog = "boolean|number", xmin = "number", xmax = "number", ymin = "number", ymax = "number",
  width = "number", height = "number",
}

--- Refuse limits that no axis can have.
function svg.check_limits(options, fail)
  for _, name in ipairs { "xlog", "ylog" } do
    local base = options[name]
    if type(base) == "number" and base ~= 2 and base ~= 10 then
      fail("option '%s': true, 2 or 10 expected, got %.14g", name, base)
    end
  end
  for _, name in ipairs { "x", "y" } do
    local low, high = options[name .. "min"], options[name .. "max"]
    for _, limit in ipairs { { "min", low }, { "max", high } } do
      local value = limit[2]
      if value and value - value ~= 0 then
        fail("option '%s%s': finite number expected, got %g", name, limit[1], value)
      end
      if value and options[name .. "log"] and value <= 0 then
        fail("option '%s%s': more than 0 expected with '%slog', got %g", name, limit[1], name, value)
      end
    end
    if low and high and low >= high then fail("%smin %.14g is not below %smax %.14g", name, low, name, high) end
  end
  for _, name in ipairs { "width", "height" } do
    local size = options[name]
    if size and not (size >= 100 and size <= 10000) then
      fail("option '%s': 100 to 10000 expected, got %.14g", name, size)
    end
  end
end

local function read_ceilings(given, fail)
  local list = given == nil and {} or type(given) == "number" and { { y = given } } or given.y and { given } or given
  for k, ceiling in ipairs(list) do
    local y = type(ceiling) == "table" and ceiling.y
    if type(y) ~= "number" or y - y ~= 0 then
      fail("option 'ceiling': entry %d: a table with a finite number 'y' expected", k)
    end
  end
  return list
end

local known = { lines = "table", ceiling = "number|table", path = "string" }
for name, kinds in pairs(svg.options) do known[name] = kinds end

--- gr.svg{lines = {{name, x, y}, ...}, ...}: a chart of series and scans.
function gr.svg(options)
  local function fail(text, ...) parts.check.fail("svg", 1, text, ...) end
  if options == nil then fail("options table with 'lines' expected, got no value") end
  options = parts.check.options("svg", 1, options, known)
  if not options.lines then fail("option 'lines' expected") end
  svg.check_limits(options, fail)
  local chart = { ceilings = read_ceilings(options.ceiling, fail), lines = {} }
  for name in pairs(svg.options) do chart[name] = options[name] end
  for k, line in ipairs(options.lines) do
    chart.lines[k] = read_line(line, k, floor((options.width or 720) * 0.8), fail)
  end
  local text = svg.draw(chart)
  if options.path then return parts.save_text(options.path, text) end
  return text
end

return svg
