-- Heat maps in a picture: their cells, and the scale of their colours beside the plot.
local _, parts = ...

local heat = {}

local max, min, floor, log = math.max, math.min, math.floor, math.log
local BAR, GAP, TICK = 14, 16, 4 -- how wide the scale is, how far from the plot, and how long its ticks are
local SMALL = 11 -- the font of ticks
local GREATEST = 1.7976931348623157e308 -- of all numbers

local function at(x) return parts.text.coordinate(x) end

-- ---- cells ----

-- Runs of neighbours of one level: paths[level] gets f(first column, last column, row) of each, as texts.
local function runs(m, level_of, f)
  local paths = {}
  for j = 1, m.rows do
    local i = 1
    while i <= m.columns do
      local level, first = level_of(m.value(i, j)), i
      while i < m.columns and level_of(m.value(i + 1, j)) == level do i = i + 1 end
      if level then
        paths[level] = paths[level] or {}
        table.insert(paths[level], f(first, i, j))
      end
      i = i + 1
    end
    parts.check.look()
  end
  return paths
end

local function paint(add, paths, attributes)
  for level = 1, parts.colours.levels do
    if paths[level] then add(string.format('<path %s d="%s"/>', attributes(level), table.concat(paths[level]))) end
  end
end

-- Where edges are in pixels; not far outside of the plot. On an axis of ratios what is not above 0 is at its beginning.
local function places(edges, scale, first, last, ratios)
  local list = {}
  for k, edge in ipairs(edges) do
    local x = (ratios and edge <= 0) and first or scale(edge)
    list[k] = max(min(first, last) - 2000, min(max(first, last) + 2000, x))
  end
  return list
end

-- Where even cells begin and how wide they are, or nil. Those at the ends may be narrower, where the plot ends, too:
-- what is left of bins that were merged.
local function even(list)
  local n = #list
  local first, last = n > 4 and 2 or 1, n > 4 and n - 1 or n
  local step = (list[last] - list[first]) / (last - first)
  for k = 1, n - 1 do
    local wide = (list[k + 1] - list[k]) / step
    local inner = k >= first and k < last
    if not (wide <= 1.001 and wide > (inner and 0.999 or 0)) then return nil end
  end
  return list[first] - (first - 1) * step, step
end

-- Cells that are alike are units of a grid, so that a corner takes few digits.
local function draw_cells(add, f, m, level_of, attributes, xlog, ylog)
  if m.columns < 1 or m.rows < 1 then return end
  local xs, ys = places(m.xedges, f.x, f.left, f.right, xlog), places(m.yedges, f.y, f.bottom, f.top, ylog)
  local left, wide = even(xs)
  local bottom, high = even(ys)
  if left and bottom then
    local format = parts.text.format
    add(string.format('<g shape-rendering="crispEdges" transform="matrix(%s 0 0 %s %s %s)">',
      format("%.7g", wide), format("%.7g", high), at(left), at(bottom)))
    paint(add, runs(m, level_of, function(a, b, j)
      return string.format("M%d %dh%dv1h-%d", a - 1, j - 1, b - a + 1, b - a + 1)
    end), attributes)
  else
    add('<g shape-rendering="crispEdges">')
    paint(add, runs(m, level_of, function(a, b, j)
      if xs[a] == xs[b + 1] or ys[j] == ys[j + 1] then return "" end
      return string.format("M%s %sH%sV%sH%s", at(xs[a]), at(ys[j]), at(xs[b + 1]), at(ys[j + 1]), at(xs[a]))
    end), attributes)
  end
  add("</g>")
end

--- Draw a heat map's cells in the colours of the scale.
function heat.draw(add, f, m, scale, xlog, ylog, zlog)
  draw_cells(add, f, m, function(value) return parts.heat.level(scale, value, zlog) end,
    function(level) return string.format('fill="%s"', parts.colours.level(level)) end, xlog, ylog)
end

--- Draw those of one series of many points among others: its colour, the darker the more points lie in a cell.
function heat.draw_shades(add, f, m, k, xlog, ylog)
  local colour, most = parts.colours.style(k), m.high
  local opacity = { "0.4", "0.6", "0.8", "1" }
  local function level_of(count)
    return count and (most == 1 and 3 or 1 + floor(3 * log(count) / log(most) + 1e-9))
  end
  draw_cells(add, f, m, level_of, function(level)
    return string.format('fill="%s" fill-opacity="%s"', colour, opacity[level])
  end, xlog, ylog)
end

-- ---- counting points ----

-- How many pixels wide and high a cell of n points is: some points lie in each on the average.
local function cell_size(n, wide, high)
  return max(2, math.ceil(math.sqrt(wide * high * 8 / n)), math.ceil(max(wide, high) / parts.heat.MOST))
end

-- The ends between which points are counted: the data's, unless limits are given; nil where nothing lies.
local function ends_of(range, low, high, log_axis)
  local first, last = low or range[1], high or range[2]
  if range[1] > range[2] or first > last then return nil end
  if first < last then return { first, last } end
  if log_axis then return { first / 2, min(last * 2, GREATEST) } end
  local reach = max(0.5, math.abs(first) / 1024) -- of large numbers a half changes nothing
  return { max(first - reach, -GREATEST), min(last + reach, GREATEST) }
end

-- How many cells there may be between these ends, so that f64 tells their edges apart: as many as a quarter of its
-- numbers there, where these lie farthest apart in terms of a cell.
local function most_between(ends, log_axis)
  local first, last = ends[1], ends[2]
  local spacing = max(2 ^ -52 * (log_axis and first or max(math.abs(first), math.abs(last))), 2 ^ -1074)
  if log_axis then return log(last / first) / log(1 + 4 * spacing / first) end
  return (last - first) / (4 * spacing)
end

-- How many columns or rows of cells `size` pixels wide.
local function cells_between(ends, log_axis, pixels, size)
  return max(1, floor(min(pixels / size, most_between(ends, log_axis))))
end

--- Of each series of many points the cells, between the ends of the axes: series.cells, or the chart's heat map.
function heat.count(chart, xs, ys, width, height)
  for _, s in ipairs(chart.series) do
    local x = s.pairs and ends_of(xs, chart.xmin, chart.xmax, chart.xlog)
    local y = s.pairs and ends_of(ys, chart.ymin, chart.ymax, chart.ylog)
    if x and y then
      local wide, high = max(2, width - 150), max(2, height - 100)
      local size = cell_size(s.count, wide, high)
      s.cells = parts.heat.of_points(s.pairs, x, y, chart.xlog, chart.ylog,
        cells_between(x, chart.xlog, wide, size), cells_between(y, chart.ylog, high, size))
      if s == chart.crowd then
        chart.heat = s.cells
        if s.name then chart.heat.noun = s.name .. ": points" end
      end
    end
  end
end

-- ---- the scale ----

local function widest_of(scale)
  local widest = 0
  for _, tick in ipairs(scale.ticks) do
    widest = max(widest, parts.text.width(parts.svg_frame.tick_text(tick[2]), SMALL))
  end
  return widest
end

--- The room that it takes on the right.
function heat.room(scale, name)
  return GAP + BAR + TICK + 3 + widest_of(scale) + (name and 26 or 8)
end

--- What of it there is room for in a picture so wide: nothing, or the room it takes, and the name or nil.
function heat.fit(scale, name, width)
  local most = 0.4 * width
  if name and heat.room(scale, name) > most then name = nil end
  local room = heat.room(scale, name)
  if room <= most then return room, name end
end

--- A line over a heat map stands out by a rim of the background.
function heat.rimmed(add)
  return function(text)
    local rim, found = string.gsub(text, '^(<path fill="none" )stroke="#%x+" stroke%-width="[%d.]+"',
      '%1stroke="#fff" stroke-width="4.5"')
    if found > 0 then add(rim) end
    add(text)
  end
end

--- Colours from the bottom to the top, ticks, and the name, from bottom to top as that of the y axis.
function heat.draw_scale(add, f, scale, name)
  local x, high = f.right + GAP, f.bottom - f.top
  local levels = parts.colours.levels
  add('<g shape-rendering="crispEdges">')
  for level = 1, levels do
    local top = f.bottom - high * level / levels
    add(string.format('<path fill="%s" d="M%s %sh%dv%sh-%d"/>', parts.colours.level(level), at(x), at(top), BAR,
      at(high / levels + (level > 1 and 0.5 or 0)), BAR))
  end
  add("</g>")
  add('<g stroke="#444" stroke-width="1">')
  for _, tick in ipairs(scale.ticks) do
    add(string.format('<path d="M%s %sh%d"/>', at(x + BAR), at(f.y_at(tick[1])), TICK))
  end
  for _, share in ipairs(scale.minor) do add(string.format('<path d="M%s %sh2"/>', at(x + BAR), at(f.y_at(share)))) end
  add("</g>")
  add(string.format('<g font-size="%d" fill="#222">', SMALL))
  local above = math.huge
  for _, tick in ipairs(scale.ticks) do
    local row = f.y_at(tick[1]) + 4
    if row < above - 11 then
      add(parts.svg_frame.text_at(x + BAR + TICK + 3, row, tick[2]))
      above = row
    end
  end
  add("</g>")
  if name then
    local text = parts.text.cut(name, high + 20, parts.svg_frame.FONT)
    local middle = x + BAR + TICK + 3 + widest_of(scale) + 17
    add(string.format('<text fill="#222" text-anchor="middle" transform="translate(%s %s) rotate(-90)">%s</text>',
      at(middle), at(floor((f.top + f.bottom) / 2)), parts.text.xml(text)))
  end
end

return heat
