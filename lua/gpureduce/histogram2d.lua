-- The methods of what gr.histogram2d returns; src/binding/histogram2d.c does the counting.
-- Fields: counts (a matrix: a row for each bin of x), xedges and yedges (f64 arrays), tails (outside, nan).
local _, parts = ...

local histogram = {}
local tails = { outside = 1, nan = 2 }

histogram.__name = "gpureduce.histogram2d"
histogram.__metatable = "gpureduce.histogram2d" -- one script's changes would be every script's

function histogram.__index(h, key) return parts.fields.index(h, key, histogram, tails) end

local function draw_text(h, options, name)
  parts.fields.check_pairs(h, parts.fields.failing(name))
  return parts.plot_heat.of_pairs(h, options)
end

--- The cells as shades or colours of text; options: width, height, log, density, ascii, colour, xlog, ylog.
function histogram.plot(h, options)
  parts.check.self("histogram2d", "plot", h)
  return parts.timed(draw_text, h, parts.plot_heat.check(options), "plot")
end

function histogram.__tostring(h)
  parts.check.self("histogram2d", "tostring", h)
  return parts.timed(draw_text, h, {}, "tostring")
end

local svg_options = { title = "string", xlabel = "string", xunit = "string", ylabel = "string", yunit = "string",
  zlabel = "string", zunit = "string", zmin = "number", zmax = "number", width = "number", height = "number",
  log = "boolean|number", xlog = "boolean|number", ylog = "boolean|number", density = "boolean", theme = "string" }

local function draw_svg(h, path, options)
  parts.check.self("histogram2d", "svg", h)
  parts.fields.check_pairs(h, parts.fields.failing "svg")
  local at
  path, options, at = parts.check.svg(path, options, svg_options)
  local chart = { bars = {}, series = {}, ceilings = {} }
  for name in pairs(svg_options) do chart[name] = options[name] end
  chart.zlog = options.log
  parts.svg.check_limits(chart, function(text, ...)
    parts.check.fail("svg", at, "%s", (string.gsub(parts.text.format(text, ...), "'zlog'", "'log'")))
  end)
  parts.svg.heat_of_pairs(chart, h, options.density)
  return parts.svg.give(chart, path)
end

--- The heat map as an SVG file; options: title, xlabel, xunit, ylabel, yunit, zlabel, zunit, zmin, zmax, width, height,
-- log (counts), xlog and ylog (edges), density, theme. true, or nil, message, code; without a path the text.
function histogram.svg(h, path, options) return parts.timed(draw_svg, h, path, options) end

return histogram
