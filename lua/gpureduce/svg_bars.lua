-- Histograms in a picture: what the heights of their bars are, and the bars.
local _, parts = ...

local bars = {}

local max, min, huge, log = math.max, math.min, math.huge, math.log

local function at(x) return parts.text.coordinate(x) end

-- ---- heights ----

-- How wide bin k is on the axis: on one of ratios, by its ratio.
local function width_of(edges, k, xlog)
  if not xlog then return edges[k + 1] - edges[k] end
  return edges[k] > 0 and log(edges[k + 1]) - log(edges[k]) or 0
end

--- Whether all bins of all these { edges } are as wide as each other where they are drawn.
function bars.is_even(list, xlog)
  local least, greatest = huge, -huge
  for _, b in ipairs(list) do
    for k = 1, #b.edges - 1 do
      if k % 4096 == 0 then parts.check.look() end
      local width = width_of(b.edges, k, xlog)
      if width > 0 then least, greatest = min(least, width), max(greatest, width) end
    end
  end
  return greatest - least <= greatest * 1e-3 -- sums of steps round
end

--- Heights for { counts, edges }: "density" (areas add up to 1), "per width" (a bar's area is its count) or "count".
function bars.heights(b, mode)
  if mode == "count" then return b.counts end
  local heights, total = {}, 0
  for k = 1, #b.counts do
    if k % 4096 == 0 then parts.check.look() end
    total = total + b.counts[k]
  end
  if mode == "per width" then total = 1 end
  for k = 1, #b.counts do
    if k % 4096 == 0 then parts.check.look() end
    heights[k] = b.counts[k] == 0 and 0 or b.counts[k] / (b.edges[k + 1] - b.edges[k]) / total
  end
  return heights
end

-- ---- drawing ----

-- Pixels, cut off not far outside of the plot: viewers cannot draw very large coordinates.
local function near_x(f, value) return max(f.left - 2000, min(f.right + 2000, f.x(value))) end
local function near_y(f, value) return max(f.top - 2000, min(f.bottom + 2000, f.y(value))) end

-- Bins in pixels; neighbours that share a pixel are one: { a, b, high, mean, low }, heights in numbers.
local function gather(b, f, x, xlog)
  local list, c, merged = {}, nil, false
  for k = 1, #b.heights do
    if k % 4096 == 0 then parts.check.look() end
    local low, high, height = max(b.edges[k], x.low), min(b.edges[k + 1], x.high), b.heights[k]
    if low < high and not (xlog and high <= 0) and height - height == 0 then
      local from, to = near_x(f, low), near_x(f, high)
      if c and to - c.a < 1 and c.b >= from - 0.01 then
        local share = to > c.a and (to - from) / (to - c.a) or 0.5
        c.mean, c.b, merged = c.mean + (height - c.mean) * share, to, true
        c.high, c.low = max(c.high, height), min(c.low, height)
      else
        c = { a = from, b = to, high = height, mean = height, low = height }
        list[#list + 1] = c
      end
    end
  end
  return list, merged
end

-- The outline of all bars, by the field of each that is its height, as a path that returns to the base.
local function silhouette(list, f, base, field, ylog, floor_value)
  local d, last = {}, nil
  for _, c in ipairs(list) do
    local height = c[field]
    local top = (height == 0 or (ylog and height <= floor_value)) and base or near_y(f, height)
    if not last or c.a > last + 0.01 then
      if last then d[#d + 1] = string.format("V%sz", at(base)) end
      d[#d + 1] = string.format("M%s %s", at(c.a), at(base))
    end
    d[#d + 1] = string.format("V%sH%s", at(top), at(c.b))
    last = c.b
  end
  if last then d[#d + 1] = string.format("V%sz", at(base)) end
  return table.concat(d)
end

-- One histogram: a bar for each bin, with an outline where there is room for one (3 pixels), from 0 (on an axis of
-- ratios from the floor) to its height, which is negative for some weights.
local function draw_single(add, f, list, merged, base, ylog, floor_value)
  local narrow = #list > (f.right - f.left) / 3
  if merged then
    add(string.format('<path fill="#9ecae1" d="%s"/>', silhouette(list, f, base, "high", ylog, floor_value)))
    add(string.format('<path fill="#6baed6" d="%s"/>', silhouette(list, f, base, "mean", ylog, floor_value)))
  elseif narrow then
    add(string.format('<path fill="#6baed6" d="%s"/>', silhouette(list, f, base, "high", ylog, floor_value)))
  else
    add('<g fill="#9ecae1" stroke="#084594" stroke-width="0.8">')
    for _, c in ipairs(list) do
      if c.high ~= 0 and not (ylog and c.high <= floor_value) then
        add(string.format('<path d="M%s %sV%sH%sV%s"/>', at(c.a), at(base), at(near_y(f, c.high)), at(c.b), at(base)))
      end
    end
    add("</g>")
  end
end

-- One of several: its outline in the style of a series, filled so that the others can be seen through it.
local function draw_overlaid(add, f, list, merged, k, base, ylog, floor_value)
  local colour = parts.colours.style(k)
  local d = silhouette(list, f, base, merged and "mean" or "high", ylog, floor_value)
  local narrow = #list > (f.right - f.left) / 3
  add(string.format('<path fill="%s" fill-opacity="0.18" d="%s"/>', colour, d))
  add(string.format('<path %s d="%s"/>', parts.colours.stroke(k, narrow and 0.8 or 1.6), d))
end

--- Draw all histograms; x = { low, high } are the axis' ends.
function bars.draw(add, f, list, x, floor_value, xlog, ylog)
  local base = ylog and f.bottom or near_y(f, 0)
  for k, b in ipairs(list) do
    local columns, merged = gather(b, f, x, xlog)
    if #list == 1 then draw_single(add, f, columns, merged, base, ylog, floor_value)
    else draw_overlaid(add, f, columns, merged, b.style or k, base, ylog, floor_value) end
  end
end

return bars
