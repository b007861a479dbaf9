-- Series in a picture: lines, steps, points and error bars, as they are or as pixels.lua has reduced them.
local _, parts = ...

local lines = {}

local floor, max, min, abs, log = math.floor, math.max, math.min, math.abs, math.log

-- Lines of no more points than this have marks, unless these would touch.
local MARKED = 60
-- So many pixels up and down for each to the right look like a block.
local ROUGH = 20
-- A line of so many pieces after its points were gathered in pixels goes to and fro: its points are shown instead.
local TANGLED = 20000

-- Built where it is needed first: the parts may be loaded in any order.
local function at(x) return parts.text.coordinate(x) end

-- ---- paths ----

-- A pen that keeps to a box some 2000 pixels around the plot: viewers reckon in floats. A line that leaves it is cut
-- where it does (Liang and Barsky), so that what is seen keeps its slope.
local function new_pen(f)
  local pen, pieces = {}, {}
  local left, right, top, bottom = f.left - 2000, f.right + 2000, f.top - 2000, f.bottom + 2000
  local last_x, last_y, pen_x, pen_y
  function pen.lift() last_x, pen_x = nil, nil end
  function pen.to(x, y)
    if last_x then
      local dx, dy, t0, t1 = x - last_x, y - last_y, 0, 1
      local sides = { { -dx, last_x - left }, { dx, right - last_x }, { -dy, last_y - top }, { dy, bottom - last_y } }
      for k = 1, 4 do
        local p, q = sides[k][1], sides[k][2]
        if p == 0 and q < 0 then t1 = -1
        elseif p < 0 then t0 = max(t0, q / p)
        elseif p > 0 then t1 = min(t1, q / p) end
      end
      if t0 <= t1 then
        local ax, ay = last_x + t0 * dx, last_y + t0 * dy
        local bx, by = t1 == 1 and x or last_x + t1 * dx, t1 == 1 and y or last_y + t1 * dy
        if ax ~= pen_x or ay ~= pen_y then pieces[#pieces + 1] = string.format("M%s %s", at(ax), at(ay)) end
        pieces[#pieces + 1] = string.format("L%s %s", at(bx), at(by))
        pen_x, pen_y = bx, by
      end
    elseif x >= left and x <= right and y >= top and y <= bottom then
      pieces[#pieces + 1] = string.format("M%s %s", at(x), at(y))
      pen_x, pen_y = x, y
    end
    last_x, last_y = x, y
  end
  function pen.path() return table.concat(pieces) end
  return pen
end

-- ---- drawing ----

-- Thick bands of pixel columns: pale from the least to the greatest, and the means as a line. A zigzag between both
-- would be a solid block.
local function draw_band(add, f, list, colour)
  local k = 1
  while k <= #list do
    local first = k
    while list[k] do k = k + 1 end
    if k > first then
      local there, back = {}, {}
      for i = first, k - 1 do
        local c = list[i]
        local x = at(max(f.left - 2000, min(f.right + 2000, c.x)))
        there[#there + 1] = string.format("%s %s", x, at(max(f.top - 2000, min(f.bottom + 2000, c.low))))
        back[k - i] = string.format("%s %s", x, at(max(f.top - 2000, min(f.bottom + 2000, c.high))))
      end
      add(string.format(
        '<path fill="%s" fill-opacity="0.28" stroke="%s" stroke-opacity="0.28" stroke-width="0.7" d="M%sL%sz"/>',
        colour, colour, table.concat(there, "L"), table.concat(back, "L")))
    end
    k = k + 1
  end
end

local function draw_columns(add, f, list, k)
  local colour = parts.colours.style(k)
  local thickness, count = 0, 0
  for _, c in ipairs(list) do
    if c then thickness, count = thickness + min(c.high - c.low, f.bottom - f.top), count + 1 end
  end
  local thick = count > 0 and thickness / count > 6
  if thick then draw_band(add, f, list, colour) end
  local pen, before, last = new_pen(f), nil, nil
  for _, c in ipairs(list) do
    if not c then
      pen.lift()
      before = nil
    else
      if thick then pen.to(c.x, c.mean)
      elseif c.high - c.low < 0.5 then pen.to(c.x, c.mean)
      else -- both ends, the one nearer to where the line comes from first
        local falling = not before or before < c.mean
        pen.to(c.x, falling and c.low or c.high)
        pen.to(c.x, falling and c.high or c.low)
      end
      before, last = c.mean, { c.x, c.last or c.mean }
    end
  end
  add(string.format('<path %s stroke-linejoin="round" d="%s"/>',
    parts.colours.stroke(k, thick and 1.4 or 1.6), pen.path()))
  return last
end

-- How far a line goes up and down for each pixel to the right: more than a few look like a block.
local function roughness(px, py, f)
  local travel, before = 0, nil
  for i = 1, #px do
    if i % 4096 == 0 then parts.check.look() end
    if px[i] and before then travel = travel + min(abs(py[i] - before), f.bottom - f.top) end
    before = px[i] and py[i]
  end
  return travel / max(1, f.right - f.left)
end

local function draw_path(add, f, s, px, py, k)
  local pen, before = new_pen(f), nil
  for i = 1, #px do
    if not px[i] then
      pen.lift()
      before = nil
    else
      if before and s.kind == "steps" then pen.to(px[i], before) end
      pen.to(px[i], py[i])
      before = py[i]
    end
  end
  local busy = roughness(px, py, f)
  local width = busy > 12 and 0.7 or busy > 5 and 1.1 or 1.8
  add(string.format('<path %s stroke-linejoin="round" d="%s"/>', parts.colours.stroke(k, width), pen.path()))
end

local function draw_marks(add, f, px, py, k, r)
  local colour, _, mark = parts.colours.style(k)
  add(string.format('<g fill="%s" stroke="%s" stroke-width="%s">', colour, colour, at(r / 3)))
  for i = 1, #px do
    local x, y = px[i], py[i]
    if x and x >= f.left - 1 and x <= f.right + 1 and y >= f.top - 1 and y <= f.bottom + 1 then add(mark(x, y, r)) end
  end
  add("</g>")
end

-- More points than marks have room for: squares of two pixels, the darker the more points lie in them.
local function draw_cells(add, f, px, py, k)
  local colour = parts.colours.style(k)
  local counts, most, columns = {}, 1, floor((f.right - f.left) / 2) + 1
  for i = 1, #px do
    if i % 4096 == 0 then parts.check.look() end
    local x, y = px[i], py[i]
    if x and x >= f.left and x <= f.right and y >= f.top and y <= f.bottom then
      local key = floor((y - f.top) / 2) * columns + floor((x - f.left) / 2)
      local count = (counts[key] or 0) + 1
      counts[key], most = count, max(most, count)
    end
  end
  local keys, paths = {}, { {}, {}, {}, {} }
  for key in pairs(counts) do keys[#keys + 1] = key end
  table.sort(keys)
  local function level(key)
    local count = counts[key]
    return count and (most == 1 and 3 or 1 + floor(3 * log(count) / log(most) + 1e-9))
  end
  local i = 1
  while i <= #keys do -- neighbours of one darkness are drawn by one stroke
    local key, shade, last = keys[i], level(keys[i]), i
    while last < #keys and keys[last + 1] == keys[last] + 1 and keys[last + 1] % columns ~= 0
      and level(keys[last + 1]) == shade do last = last + 1 end
    local x, y = f.left + key % columns * 2, f.top + floor(key / columns) * 2 + 1
    paths[shade][#paths[shade] + 1] = string.format("M%s %sh%d", at(x), at(y), (last - i + 1) * 2)
    i = last + 1
  end
  for shade, opacity in ipairs { "0.4", "0.6", "0.8", "1" } do
    if #paths[shade] > 0 then
      add(string.format('<path stroke="%s" stroke-width="2" stroke-opacity="%s" d="%s"/>',
        colour, opacity, table.concat(paths[shade])))
    end
  end
end

-- From low to high at each point, with a dash at both ends; a pale band where they would touch.
local function draw_errors(add, over, s, f, px, k, ylog)
  local colour = parts.colours.style(k)
  local function pixel(y)
    if y ~= y then return nil end
    if ylog and y <= 0 then return f.bottom end
    return max(f.top - 2000, min(f.bottom + 2000, f.y(y)))
  end
  if #px > (f.right - f.left) / 6 then
    local found, columns, list = {}, {}, {}
    for i = 1, #px do
      if i % 4096 == 0 then parts.check.look() end
      local low, high = px[i] and pixel(s.low[i]), px[i] and pixel(s.high[i])
      if low and high then
        local column = floor(px[i])
        local c = found[column]
        if not c then
          c = { x = px[i], low = high, high = low }
          found[column], columns[#columns + 1] = c, column
        end
        c.low, c.high = min(c.low, high), max(c.high, low)
      end
    end
    table.sort(columns)
    for i, column in ipairs(columns) do list[i] = found[column] end
    return draw_band(add, f, list, colour)
  end
  local function inside(y) return max(f.top, min(f.bottom, y)) end
  local d = {}
  for i = 1, #px do
    local low, high = px[i] and pixel(s.low[i]), px[i] and pixel(s.high[i])
    if low and high and px[i] >= f.left - 1 and px[i] <= f.right + 1 and low >= f.top and high <= f.bottom then
      d[#d + 1] = string.format("M%s %sV%s", at(px[i]), at(inside(low)), at(inside(high)))
      if low <= f.bottom then d[#d + 1] = string.format("M%s %sh7", at(px[i] - 3.5), at(low)) end
      if high >= f.top then d[#d + 1] = string.format("M%s %sh7", at(px[i] - 3.5), at(high)) end
    end
  end
  over(string.format('<path fill="none" stroke="%s" stroke-width="1.2" d="%s"/>', colour, table.concat(d)))
end

--- Draw the series with style k: its lines by add, which clips at the plot, its marks by over, which does not. s.last
-- is then where it ends, in pixels, and s.mark the size of its marks, if any.
function lines.draw(add, over, f, s, k, xlog, ylog)
  if s.pairs then
    if s.cells then parts.svg_heat.draw_shades(add, f, s.cells, k, xlog, ylog) end
    return
  end
  if s.outline then
    s.last = draw_columns(add, f, parts.pixels.outline(s, f, xlog, ylog), k)
    return
  end
  local px, py = parts.pixels.points(s, f, xlog, ylog)
  if s.low then draw_errors(add, over, s, f, px, k, ylog) end
  for i = #px, 1, -1 do
    if i % 4096 == 0 then parts.check.look() end
    if px[i] then
      s.last = { px[i], py[i] }
      break
    end
  end
  if not s.last then return end
  local n, wide = #px, f.right - f.left
  if s.kind == "points" then
    if n > 2000 then return draw_cells(add, f, px, py, k) end
    s.mark = n <= MARKED and 3.5 or n <= 400 and 2.6 or 1.8
    return draw_marks(over, f, px, py, k, s.mark)
  end
  local rough = n > wide and roughness(px, py, f) > ROUGH
  if n > 4 * wide or rough then -- some eight points in each column, so that it has a mean worth a line
    local list = parts.pixels.gather(px, py, rough and math.ceil(8 * wide / n) or 1, f.right)
    if #list > TANGLED then draw_cells(add, f, px, py, k) else draw_columns(add, f, list, k) end
    return
  end
  draw_path(add, f, s, px, py, k)
  if n <= MARKED and s.kind == "lines" and n * 5 < wide then
    s.mark = n * 9 < wide and 3.5 or 2.2
    draw_marks(over, f, px, py, k, s.mark)
  end
end

--- A sample for the series' name, 26 wide, its middle at y.
function lines.sample(add, s, k, x, y)
  local colour, _, mark = parts.colours.style(k)
  if s.bars then
    add(string.format('<path fill="%s" fill-opacity="0.25" d="M%s %sh26v10h-26z"/>', colour, at(x), at(y - 5)))
    add(string.format('<path %s d="M%s %sh26"/>', parts.colours.stroke(k), at(x), at(y - 5)))
    return
  end
  if s.kind ~= "points" then
    add(string.format('<path %s d="M%s %sh26"/>', parts.colours.stroke(k), at(x), at(y)))
  end
  if s.mark or s.kind == "points" then
    add(string.format('<g fill="%s" stroke="%s" stroke-width="1.2">%s</g>', colour, colour, mark(x + 13, y, 3.5)))
  end
end

return lines
