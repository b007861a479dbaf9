-- The methods of what gr.histogram returns; src/binding/histogram.c does the counting.
-- Fields: counts (i64 array), edges (f64 array, one more), tails (i64 array: below, above, nan).
local _, parts = ...

local histogram = {}
local tails = { below = 1, above = 2, nan = 3 }

histogram.__name = "gpureduce.histogram"
histogram.__metatable = "gpureduce.histogram" -- one script's changes would be every script's

function histogram.__index(h, key) return parts.fields.index(h, key, histogram, tails) end

local function length(h)
  parts.fields.check_bins(h, parts.fields.failing "len")
  return #h.counts
end

function histogram.__len(h) return parts.timed(length, h) end

local function quantile(h, q)
  parts.check.self("histogram", "quantile", h)
  parts.fields.check_bins(h, parts.fields.failing "quantile")
  if type(q) ~= "number" or not (q >= 0 and q <= 1) then
    parts.check.fail("quantile", 2, "share from 0 to 1 expected, got %s", q)
  end
  local counts, edges, total = h.counts:table(), h.edges:table(), 0
  for k = 1, #counts do
    if k % 4096 == 0 then parts.check.look() end
    total = total + counts[k]
  end
  if total == 0 then return nil end
  local wanted, before = q * total, 0
  for k = 1, #counts do
    if k % 4096 == 0 then parts.check.look() end
    local after = before + counts[k]
    if counts[k] > 0 and after >= wanted then
      return edges[k] + (edges[k + 1] - edges[k]) * ((wanted - before) / counts[k])
    end
    before = after
  end
end

--- The value below which the share q (0 to 1) of the counted samples lies, linear within its bin; nil without samples.
function histogram.quantile(h, q) return parts.timed(quantile, h, q) end

-- The numbers that pictures are drawn from, on the host: floats, which do not wrap.
local function drawn(h)
  local counts, edges = h.counts:table(), h.edges:table()
  for k = 1, #counts do
    if k % 4096 == 0 then parts.check.look() end
    counts[k] = counts[k] + 0.0
  end
  return { counts = counts, edges = edges, below = h.below, above = h.above, nan = h.nan, density = h.density ~= nil,
    weighted = h.counts.dtype ~= "i64" }
end

--- A histogram as a picture's bars: { counts, edges, density = made with densities, weighted, outside = text or nil }.
-- fail(text, ...) raises, where it has lost its fields.
function parts.bars_of(h, fail)
  parts.fields.check(h, fail)
  local bars, outside = drawn(h), {}
  for _, name in ipairs { "below", "above", "nan" } do
    if bars[name] ~= 0 then outside[#outside + 1] = parts.text.format("%s %.14g", name, bars[name]) end
  end
  bars.outside = #outside > 0 and table.concat(outside, ", ") or nil
  return bars
end

local function draw_text(h, options, name)
  parts.fields.check(h, parts.fields.failing(name))
  return parts.plot.histogram(drawn(h), options)
end

--- The histogram as text, one bar a line; options: width, height, log, ascii, density.
function histogram.plot(h, options)
  parts.check.self("histogram", "plot", h)
  return parts.timed(draw_text, h, parts.plot.check(options), "plot")
end

function histogram.__tostring(h) return parts.timed(draw_text, h, {}, "tostring") end

local svg_options = { title = "string", xlabel = "string", xunit = "string", ylabel = "string", width = "number",
  height = "number", log = "boolean", xlog = "boolean|number", density = "boolean", theme = "string" }

local function draw_svg(h, path, options)
  parts.check.self("histogram", "svg", h)
  local at
  path, options, at = parts.check.svg(path, options, svg_options)
  parts.svg.check_limits(options, function(text, ...) parts.check.fail("svg", at, text, ...) end)
  local bars = parts.bars_of(h, parts.fields.failing "svg")
  local chart = { bars = { bars }, series = {}, ceilings = {}, ylog = options.log }
  for name in pairs(svg_options) do chart[name] = options[name] end
  if bars.outside then chart.note = "not shown: " .. bars.outside end
  local density = options.density
  if density == nil and bars.density then density = true end
  parts.svg.choose_heights(chart, density, bars.weighted and "weight" or "count")
  return parts.svg.give(chart, path)
end

--- The histogram as an SVG file; options: title, xlabel, xunit, ylabel, width, height, log (counts), xlog (edges),
-- density, theme. true, or nil, message, code; without a path the text.
function histogram.svg(h, path, options) return parts.timed(draw_svg, h, path, options) end

return histogram
