-- Charts as SVG: lines, steps, points and histograms over axes with round ticks. They can be read without colour (every
-- series has its own dashes and marks, and a name) and on dark backgrounds. gr.svg and h:svg (docs/api/pictures.lua).
local _, parts = ...

local svg = {}

local floor, max, min, huge = math.floor, math.max, math.min, math.huge
local WIDTH, HEIGHT = 720, 440

-- ---- the picture ----

local function make_axis(range, log, wanted, low, high)
  if range[1] > range[2] then range[1], range[2] = log and 1 or 0, log and 10 or 1 end
  range[1], range[2] = low or range[1], high or range[2]
  if range[1] > range[2] then -- a limit beyond all data
    if low then range[2] = range[1] else range[1] = range[2] end
  end
  local tight = low ~= nil and high ~= nil
  if log then return parts.axis.log(range[1], range[2], wanted, log == 2 and 2 or 10, tight) end
  return parts.axis.linear(range[1], range[2], wanted, tight)
end

-- What both axes have to hold, each { low, high }.
local function ranges(chart)
  local xs, ys = { huge, -huge }, { huge, -huge }
  local widen = parts.series.widen
  for k, s in ipairs(chart.series) do
    if k % 4096 == 0 then parts.check.look() end
    parts.series.reach(s, xs, ys, chart.xlog, chart.ylog)
  end
  for k, ceiling in ipairs(chart.ceilings) do
    if k % 4096 == 0 then parts.check.look() end
    widen(ys, ceiling.y, chart.ylog)
  end
  for _, b in ipairs(chart.bars) do
    for k, edge in ipairs(b.edges) do
      if k % 4096 == 0 then parts.check.look() end
      widen(xs, edge, chart.xlog)
    end
    for k, height in ipairs(b.heights) do
      if k % 4096 == 0 then parts.check.look() end
      widen(ys, height, chart.ylog)
    end
  end
  for _, edges in ipairs(chart.heat and { chart.heat.xedges, chart.heat.yedges } or {}) do
    local first = edges == chart.heat.xedges
    for k = 1, #edges do widen(first and xs or ys, edges[k], first and chart.xlog or not first and chart.ylog) end
  end
  if #chart.bars > 0 and not chart.ylog then widen(ys, 0) end
  if #chart.bars > 0 and chart.ylog and ys[1] <= ys[2] then
    if chart.mode == "count" then widen(ys, 1, true) end
    ys[1] = max(ys[1] / 2, 4.9406564584124654e-324) -- the least bar is seen
  end
  return xs, ys
end

-- What the picture shows, in words, for those who do not see it.
local function describe(chart, xs, ys)
  local T, list = parts.text, {}
  local function range(name, r, given, log)
    if r[1] > r[2] then return end
    list[#list + 1] = T.format("%s from %.6g to %.6g%s.", given or name, r[1], r[2], log and ", in ratios" or "")
  end
  range("x", xs, chart.xlabel, chart.xlog)
  range("y", ys, chart.ylabel, chart.ylog)
  local m = chart.heat
  if m then
    list[#list + 1] = T.format("Heat map: %d x %d cells", m.columns, m.rows)
      .. (m.low and T.format(", %s from %.6g to %.6g.", chart.zlabel or m.noun or "values", m.low, m.high) or ".")
  end
  for k, s in ipairs(chart.series) do
    if k > 20 then break end
    local low, high = parts.series.extent(s)
    list[#list + 1] = T.format("%s: %s, %s", s.name or string.format("Series %d", k), s.kind,
      low and T.format("%d points, y from %.6g to %.6g.", s.count, low, high) or "nothing that can be drawn.")
  end
  for k, b in ipairs(chart.bars) do
    if k > 20 then break end
    list[#list + 1] = T.format("%s: bars, %d of them.", b.name or "Histogram", #b.counts)
  end
  if chart.note then list[#list + 1] = chart.note .. "." end
  return T.xml(table.concat(list, " "))
end

-- Everything that has a style of its own, in the order of drawing.
local function give_styles(chart)
  local named, k = {}, 0
  for _, list in ipairs { chart.bars, chart.series } do
    for _, each in ipairs(list) do
      k = k + 1
      each.style = k
      if each.name and each ~= chart.crowd then named[#named + 1] = each end
    end
  end
  return named
end

--- The picture as text. chart: { series, bars = { { counts, edges, name }, ... }, mode, ceilings } and the options.
function svg.draw(chart)
  local T, at = parts.text, parts.text.coordinate
  local width, height = floor(chart.width or WIDTH), floor(chart.height or HEIGHT)
  for _, b in ipairs(chart.bars) do
    b.heights = parts.svg_bars.heights(b, chart.mode)
    if #b.heights > width and not chart.merged then
      chart.merged = #chart.bars == 1 and "bins that share a pixel: their mean, and pale their greatest"
        or "bins that share a pixel: their mean"
      chart.note = chart.note and chart.note .. "; " .. chart.merged or chart.merged
    end
  end
  local named = give_styles(chart)
  local xs, ys = ranges(chart)
  parts.svg_heat.count(chart, xs, ys, width, height)
  local description = describe(chart, xs, ys)
  -- Bars and long series reach from side to side; else the axis begins and ends at round numbers.
  local xmin, xmax, scattered = chart.xmin, chart.xmax, false
  for _, each in ipairs(chart.series) do scattered = scattered or each.kind == "points" end
  local m, ymin, ymax, scale, scale_name, beside = chart.heat, chart.ymin, chart.ymax, nil, nil, nil
  if not chart.xlog and not scattered or m and xs[1] < xs[2] then xmin, xmax = xmin or xs[1], xmax or xs[2] end
  if m and ys[1] < ys[2] then ymin, ymax = ymin or ys[1], ymax or ys[2] end
  if xmin and xmax and xmin >= xmax then xmin, xmax = chart.xmin, chart.xmax end
  if ymin and ymax and ymin >= ymax then ymin, ymax = chart.ymin, chart.ymax end
  local x = make_axis(xs, chart.xlog, max(2, floor(width / 90)), xmin, xmax)
  local y = make_axis(ys, chart.ylog, max(2, floor(height / 55)), ymin, ymax)
  local frame = parts.svg_frame
  if m then
    if m.numbered_x and xmin and xmax then x = parts.axis.whole(x, xmin, xmax) end
    if m.numbered_y and ymin and ymax then y = parts.axis.whole(y, ymin, ymax) end
    if m.down then y = parts.axis.turned(y) end
    scale = parts.heat.scale(m, chart.zlog, { chart.zmin, chart.zmax }, max(2, floor(height / 55)))
    beside, scale_name = parts.svg_heat.fit(scale, frame.axis_name(chart.zlabel or m.noun, chart.zunit, scale), width)
  end
  local c = { width = width, height = height, title = chart.title, note = chart.note,
    beside = beside,
    xlabel = frame.axis_name(chart.xlabel, chart.xunit, x), ylabel = frame.axis_name(chart.ylabel, chart.yunit, y) }
  local out, marks = {}, {}
  local function put(list, text)
    local n = #list + 1
    if n % 4096 == 0 then parts.check.look() end
    list[n] = text
  end
  local function add(text) put(out, text) end
  local function over(text) put(marks, text) end
  local f = frame.layout(c, x, y, named)
  add(string.format(('<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%d" height="%d" viewBox="0 0 %d %d" '
    .. 'font-family="Helvetica, Arial, sans-serif" font-size="%d">'), width, height, width, height, frame.FONT))
  add("<title>" .. T.xml(chart.title or chart.ylabel or "Chart") .. "</title>")
  add("<desc>" .. description .. "</desc>")
  add(string.format('<rect width="%d" height="%d" fill="#fff"/>', width, height))
  frame.draw(add, f, x, y, c)
  -- A picture inside the picture clips what lies outside the plot, without names that might meet others in a page.
  local left, top, wide, high = at(f.left), at(f.top - 3), at(f.right - f.left), at(f.bottom - f.top + 6)
  add(string.format('<svg x="%s" y="%s" width="%s" height="%s" viewBox="%s %s %s %s">',
    left, top, wide, high, left, top, wide, high))
  if m then parts.svg_heat.draw(add, f, m, scale, chart.xlog, chart.ylog, chart.zlog) end
  parts.svg_bars.draw(add, f, chart.bars, { low = xs[1], high = xs[2] }, ys[1], chart.xlog, chart.ylog)
  local line = m and parts.svg_heat.rimmed(add) or add
  for _, s in ipairs(chart.series) do
    if s ~= chart.crowd then parts.svg_lines.draw(line, over, f, s, s.style, chart.xlog, chart.ylog) end
  end
  add("</svg>")
  for _, mark in ipairs(marks) do add(mark) end
  frame.draw_ceilings(add, f, chart.ceilings)
  frame.draw_names(add, f, named)
  if beside then parts.svg_heat.draw_scale(add, f, scale, scale_name) end
  add("</svg>\n")
  return parts.colours.apply(table.concat(out, "\n"), chart.theme or "auto")
end

-- ---- what the public functions share ----

--- Its text; with a path in a file instead: true, or nil, message, code.
function svg.give(chart, path)
  local text = svg.draw(chart)
  if path then return parts.save_text(path, text) end
  return text
end

svg.options = {
  title = "string", xlabel = "string", ylabel = "string", xunit = "string", yunit = "string",
  xlog = "boolean|number", ylog = "boolean|number", xmin = "number", xmax = "number", ymin = "number", ymax = "number",
  width = "number", height = "number", density = "boolean", theme = "string",
  zlabel = "string", zunit = "string", zlog = "boolean|number", zmin = "number", zmax = "number",
}

--- Refuse limits that no axis can have, and themes that there are not.
function svg.check_limits(options, fail)
  for _, name in ipairs { "xlog", "ylog", "zlog" } do
    local base = options[name]
    if type(base) == "number" and base ~= 2 and base ~= 10 then
      fail("option '%s': true, 2 or 10 expected, got %.14g", name, base)
    end
  end
  for _, name in ipairs { "x", "y", "z" } do
    local low, high = options[name .. "min"], options[name .. "max"]
    for _, limit in ipairs { { "min", low }, { "max", high } } do
      local value = limit[2]
      if value and value - value ~= 0 then
        fail("option '%s%s': finite number expected, got %.14g", name, limit[1], value)
      end
      if value and options[name .. "log"] and value <= 0 then
        fail("option '%s%s': more than 0 expected with '%slog', got %.14g", name, limit[1], name, value)
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
  local theme = options.theme
  if theme and theme ~= "auto" and theme ~= "light" and theme ~= "dark" then
    fail("option 'theme': 'auto', 'light' or 'dark' expected, got '%s'", string.sub(theme, 1, 40))
  end
end

--- Set what the heights of the chart's bars are, and what the axis and the note say of it. density: the option's value.
function svg.choose_heights(chart, density, noun)
  local even = parts.svg_bars.is_even(chart.bars, chart.xlog)
  chart.mode = density and "density" or (density == false or even) and "count" or "per width"
  if not chart.ylabel then
    chart.ylabel = chart.mode == "density" and "density" or chart.mode == "count" and noun
      or string.format("%s per %s", noun, chart.xunit or "unit")
  end
  local say = not even and chart.mode == "count" and "bins differ in width, heights are " .. noun .. "s"
    or not even and chart.mode == "per width" and "bins differ in width, areas are " .. noun .. "s"
  if say then chart.note = chart.note and chart.note .. "; " .. say or say end
end

-- The most cells of a picture: two pixels wide and high, and no more than MOST each way.
local function most_cells(chart)
  local width, height = chart.width or WIDTH, chart.height or HEIGHT
  local most = parts.heat.MOST
  return max(10, min(most, floor((width - 100) / 2))), max(10, min(most, floor((height - 60) / 2)))
end

--- The chart's heat map of a histogram of pairs, and what is said of it. density: the option's value.
function svg.heat_of_pairs(chart, h, density)
  chart.heat = parts.heat.of_pairs(h, parts.heat.mode_of(h, density, chart.xlog, chart.ylog), most_cells(chart))
  local words = { chart.note, parts.heat.outside(h), chart.heat.note }
  chart.note = nil
  for k = 1, 3 do
    if words[k] then chart.note = chart.note and chart.note .. "; " .. words[k] or words[k] end
  end
end

-- The option `heat`; without it, one series of many points becomes a heat map by itself.
function svg.choose_heat(chart, given, fail)
  if given == nil then
    for _, s in ipairs(chart.series) do
      if s.pairs and chart.crowd then return svg.choose_heat(chart, false, fail) end
      if s.pairs then chart.crowd = s end
    end
    if chart.crowd and chart.zlog == nil then chart.zlog = true end
  elseif given == false then chart.crowd = nil
  else
    local h, matrix, x, y = parts.heat.read(given, "option 'heat'", fail)
    if h then return svg.heat_of_pairs(chart, h, chart.density) end
    chart.heat = parts.heat.of_matrix(matrix, x, y, most_cells(chart))
    local note = chart.heat.note
    if note then chart.note = chart.note and chart.note .. "; " .. note or note end
  end
end

-- ---- gr.svg ----

local function read_ceilings(given, fail)
  if given == nil then return {} end
  if type(given) == "number" then given = { y = given } end
  parts.series.check_plain(given, "option 'ceiling'", fail)
  if rawget(given, "y") ~= nil then given = { given } end
  local list = {}
  while true do
    local ceiling, k = rawget(given, #list + 1), #list + 1
    if k % 4096 == 0 then parts.check.look() end
    if ceiling == nil then return list end
    local y = type(ceiling) == "table" and rawget(ceiling, "y")
    if type(y) ~= "number" or y - y ~= 0 then
      fail("option 'ceiling': entry %d: a table with a finite number 'y' expected", k)
    end
    local where = string.format("option 'ceiling': entry %d", k)
    parts.series.check_fields(ceiling, where, fail, "name", "y")
    list[k] = { y = y + 0.0, name = parts.series.name_of(ceiling, where, fail) }
  end
end

-- The entries of a list, by position, read raw.
local function each_entry(list, option, fail, f)
  if list == nil then return end
  parts.series.check_plain(list, "option '" .. option .. "'", fail)
  local k = 1
  while rawget(list, k) ~= nil do
    if k % 4096 == 0 then parts.check.look() end
    f(rawget(list, k), k)
    k = k + 1
  end
  for key in next, list do
    if type(key) ~= "number" or key < 1 or key >= k or key % 1 ~= 0 then
      fail("option '%s': a list expected, got a table with '%s'", option, string.sub(tostring(key), 1, 40))
    end
  end
end

local function read_histogram(entry, k, fail)
  local where = string.format("option 'histograms': entry %d", k)
  if type(entry) ~= "table" then fail("%s: gpureduce.histogram expected, got %s", where, parts.check.kind(entry)) end
  if parts.is_histogram(entry) then
    return parts.bars_of(entry, function(text, ...) fail("%s: %s", where, parts.text.format(text, ...)) end)
  end
  parts.series.check_fields(entry, where, fail, "histogram", "name")
  local h = rawget(entry, "histogram")
  if not parts.is_histogram(h) then
    fail("%s: histogram: gpureduce.histogram expected, got %s", where, parts.check.kind(h))
  end
  local name = parts.series.name_of(entry, where, fail)
  local b = parts.bars_of(h, function(text, ...) fail("%s: histogram: %s", where, parts.text.format(text, ...)) end)
  b.name = name
  return b
end

local kinds = { "lines", "steps", "points" }
local known = { ceiling = "number|table", path = "string", histograms = "table",
  heat = "boolean|table|gpureduce.array|gpureduce.transposed|gpureduce.histogram2d" }
for _, kind in ipairs(kinds) do known[kind] = "table" end
for name, words in pairs(svg.options) do known[name] = words end

local function draw_chart(options)
  local function fail(text, ...) parts.check.fail("svg", 1, text, ...) end
  if options == nil then fail("options table with 'lines' expected, got no value") end
  options = parts.check.options("svg", 1, options, known)
  if not (options.lines or options.steps or options.points or options.histograms or options.heat) then
    fail("option 'lines', 'steps', 'points', 'histograms' or 'heat' expected")
  end
  if options.heat == true then fail("option 'heat': matrix, gpureduce.histogram2d or false expected, got true") end
  svg.check_limits(options, fail)
  local chart = { ceilings = read_ceilings(options.ceiling, fail), series = {}, bars = {} }
  for name in pairs(svg.options) do chart[name] = options[name] end
  local columns = not chart.xlog and not chart.xmin and not chart.xmax and floor((chart.width or WIDTH) * 0.8)
  for _, kind in ipairs(kinds) do
    each_entry(options[kind], kind, fail, function(entry, k)
      chart.series[#chart.series + 1] = parts.series.read(entry, string.format("option '%s': %s %d",
        kind, kind == "lines" and "line" or "entry", k), kind, columns, fail)
    end)
  end
  local weighted, outside, density = false, {}, chart.density
  each_entry(options.histograms, "histograms", fail, function(entry, k)
    local b = read_histogram(entry, k, fail)
    if density == nil and b.density then density = true end
    chart.bars[k], weighted = b, weighted or b.weighted
    outside[#outside + 1] = b.outside and (b.name and b.name .. ": " or "") .. b.outside
  end)
  if #chart.bars > 0 then
    if #outside > 0 then chart.note = "not shown: " .. table.concat(outside, "; ") end
    svg.choose_heights(chart, density, weighted and "weight" or "count")
  end
  svg.choose_heat(chart, options.heat, fail)
  return svg.give(chart, options.path)
end

--- gr.svg{lines =, steps =, points = {{name, x, y, error}, ...}, histograms = {...}, ...}: a chart.
function svg.svg(options) return parts.timed(draw_chart, options) end

return svg
