-- Long series reduced to what columns of pixels (or of a terminal's dots) can show.
local _, parts = ...

local pixels = {}

local floor, max, min = math.floor, math.max, math.min

--- The points of a series as pixels: xs and ys, false where nothing can be drawn.
function pixels.points(s, f, xlog, ylog)
  local px, py = {}, {}
  local drawable = parts.series.drawable
  for i = 1, #s.ys do
    if i % 4096 == 0 then parts.check.look() end
    local x, y = s.xs[i], s.ys[i]
    local seen = drawable(x, xlog) and drawable(y, ylog)
    px[i], py[i] = seen and f.x(x), seen and f.y(y)
  end
  return px, py
end

--- Neighbours in one column, so many pixels wide, become one: { x, low, high, mean, first, last } (low: the smaller
-- coordinate), false at gaps.
function pixels.gather(px, py, width, right)
  local list, c, count = {}, nil, 0
  local end_column = floor((right - 0.01) / width) -- what lies on the right edge has no column of its own
  for i = 1, #px do
    if i % 4096 == 0 then parts.check.look() end
    local x, y = px[i], py[i]
    if not x then
      if c then list[#list + 1] = false end
      c = nil
    else
      local column = x > right and floor(x / width) or min(floor(x / width), end_column)
      if c and c.column == column then
        c.low, c.high = min(c.low, y), max(c.high, y)
        count = count + 1
        c.mean = c.mean + (y - c.mean) / count
        c.x, c.last = x, y
      else
        c, count = { column = column, x = x, low = y, high = y, mean = y, first = y, last = y }, 1
        list[#list + 1] = c
      end
    end
  end
  return list
end

--- The same of a series that was reduced where its data is.
function pixels.outline(s, f, xlog, ylog)
  local list, drawable = {}, parts.series.drawable
  for _, c in ipairs(s.outline) do
    local seen = drawable(c.x, xlog) and drawable(c.high, ylog) and c.low - c.low == 0
    if seen then
      local high = f.y(c.high)
      local low = drawable(c.low, ylog) and f.y(c.low) or high
      local mean = drawable(c.mean, ylog) and f.y(c.mean) or (low + high) / 2
      list[#list + 1] = { x = f.x(c.x), low = high, high = low, mean = mean, first = mean, last = mean }
    else list[#list + 1] = false end
  end
  return list
end

return pixels
