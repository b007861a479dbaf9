-- Heat maps in the terminal: half blocks in colours where there are any, else shades, or ASCII.
local _, parts = ...

local heat = {}

local floor, max, min = math.floor, math.max, math.min
local shades = { "\226\150\145", "\226\150\146", "\226\150\147", "\226\150\136" } -- a quarter, a half, three, full
local ascii_shades = { ".", ":", "-", "=", "+", "*", "#", "%", "@" }
local UPPER, LOWER, FULL = "\226\150\128", "\226\150\132", "\226\150\136"

-- ---- options ----

local known = { width = "number", height = "number", ascii = "boolean", colour = "boolean", log = "boolean|number",
  density = "boolean", xlog = "boolean|number", ylog = "boolean|number" }
local known_of_matrix = { width = "number", height = "number", ascii = "boolean", colour = "boolean",
  log = "boolean|number" }

local function check(options, names)
  options = parts.check.options("plot", 2, options, names)
  parts.plot.check_sizes(options, 2)
  for _, name in ipairs { "log", "xlog", "ylog" } do
    local base = options[name]
    if type(base) == "number" and base ~= 2 and base ~= 10 then
      parts.check.fail("plot", 2, "option '%s': true, 2 or 10 expected, got %.14g", name, base)
    end
  end
  return options
end

--- The options of h:plot, checked.
function heat.check(options) return check(options, known) end

-- ---- colours ----

-- Whether the terminal has colours: as asked, else if it is one, and neither NO_COLOR nor its name says otherwise.
local function has_colours(options, ascii)
  if options.colour ~= nil then return options.colour end
  local refused, name = os.getenv("NO_COLOR"), os.getenv("TERM")
  if ascii or (refused and refused ~= "") or not name or name == "" or name == "dumb" then return false end
  return parts.terminal() ~= nil
end

-- The colour of a level behind "38;" or "48;": all 24 bits where COLORTERM says so, else one of a cube of 6 x 6 x 6.
local function colour_code(level)
  local c, kind = parts.colours.level_rgb(level), os.getenv("COLORTERM")
  if kind == "truecolor" or kind == "24bit" then return string.format("2;%d;%d;%d", c[1], c[2], c[3]) end
  local steps = {}
  for k = 1, 3 do steps[k] = c[k] < 48 and 0 or c[k] < 115 and 1 or floor((c[k] - 35) / 40) end
  return string.format("5;%d", 16 + 36 * steps[1] + 6 * steps[2] + steps[3])
end

-- A pen that writes characters with colours before and behind them, which stay until others are wanted.
local function new_pen()
  local pen, pieces, last, codes = {}, {}, "", {}
  local function code(level)
    codes[level] = codes[level] or colour_code(level)
    return codes[level]
  end
  function pen.put(character, front, back)
    local style = (front and ";38;" .. code(front) or "") .. (back and ";48;" .. code(back) or "")
    if style ~= last then pieces[#pieces + 1] = "\27[0" .. style .. "m" end
    pieces[#pieces + 1], last = character, style
  end
  function pen.line()
    if last ~= "" then pieces[#pieces + 1] = "\27[0m" end
    local text = table.concat(pieces)
    pieces, last = {}, ""
    return text
  end
  return pen
end

-- ---- cells ----

-- Which cells each of n places along an axis shows, { first, last }: the one in its middle, with those before it that
-- are too narrow to be in the middle of any; nothing beyond the ends.
local function places(edges, axis, log, n)
  local list, cells, i, shown = {}, #edges - 1, 1, 0
  local function share(k) return (log and edges[k] <= 0) and -1 or axis.scale(edges[k]) end
  for k = 1, n do
    local middle = (k - 0.5) / n
    while i <= cells and share(i + 1) <= middle do i = i + 1 end
    if i <= cells and share(i) <= middle then
      list[k], shown = { min(i, shown + 1), i }, i
    end
  end
  if list[n] then list[n][2] = cells end
  return list
end

-- How many of n places are used, so that even cells have as many each; all where much room would be left. What is left
-- of merged bins may be narrower.
local function used(edges, log, n)
  local cells, inner = #edges - 1, {}
  for k = 1, max(2, cells) do inner[k] = edges[k] end
  if log or cells < 1 or cells > n or not parts.svg_bars.is_even({ { edges = inner } }) then return n end
  local fit = floor(n / cells) * cells
  return fit * 3 >= n * 2 and fit or n
end

-- The greatest of the cells that a place shows.
local function greatest(m, across, up)
  local best
  if not across or not up then return nil end
  for j = up[1], up[2] do
    for i = across[1], across[2] do
      local v = m.value(i, j)
      if v and (not best or v > best) then best = v end
    end
  end
  return best
end

-- ---- the scale ----

-- Lines that say what the shades mean, none wider than width: "count: 0 ░▒▓█ 318".
local function legend(m, scale, log, width, ramp, visible)
  local low, high = m.low or 0, m.high or 1
  if scale.first then low, high = scale.first, scale.last end
  low, high = parts.text.format("%.3g", low), parts.text.format("%.3g", high)
  local noun = (m.noun or "values") .. (log and ", in ratios" or "")
  if #low + #high + visible + 2 > width then
    return parts.plot.wrap(string.format("%s: %s to %s", noun, low, high), width)
  end
  local bar = string.format("%s %s %s", low, ramp, high)
  if #noun + 2 + #low + #high + visible + 2 <= width then return { noun .. ": " .. bar } end
  local lines = parts.plot.wrap(noun .. ":", width)
  lines[#lines + 1] = bar
  return lines
end

-- ---- the picture ----

local function make_axis(edges, log, wanted)
  local low, high = edges[1], edges[#edges]
  if log then
    low = math.huge
    for k = 1, #edges do
      if edges[k] > 0 then low = min(low, edges[k]) end
    end
    if low >= high then low, high = 1, 10 end
    return parts.axis.log(low, high, wanted, log == 2 and 2 or 10, true)
  end
  return parts.axis.linear(low, high, wanted, low < high)
end

-- Characters of a line: of colours two places high, of shades one.
local function cells_line(level_of, columns, row, coloured, ascii, pen)
  if not coloured then
    local ramp, list = ascii and ascii_shades or shades, {}
    for k = 1, columns do
      local share = level_of(k, row)
      list[k] = share and ramp[max(1, min(#ramp, floor(share * #ramp) + 1))] or " "
    end
    return (string.gsub(table.concat(list), " +$", ""))
  end
  local function level(k, at)
    local share = level_of(k, at)
    return share and parts.colours.level_of(share)
  end
  for k = 1, columns do
    if ascii then pen.put(" ", nil, level(k, row)) else
      local upper, lower = level(k, 2 * row), level(k, 2 * row + 1)
      if upper and upper == lower then pen.put(FULL, upper)
      elseif upper then pen.put(UPPER, upper, lower)
      elseif lower then pen.put(LOWER, lower)
      else pen.put(" ") end
    end
  end
  return pen.line()
end

local function ramp_text(coloured, ascii, pen)
  local ramp = ascii and ascii_shades or shades
  if not coloured then return table.concat(ramp), #ramp end
  for k = 1, 16 do
    local level = parts.colours.level_of((k - 0.5) / 16)
    if ascii then pen.put(" ", nil, level) else pen.put(FULL, level) end
  end
  return pen.line(), 16
end

-- build(columns, rows): the heat map with no more cells than that, between these edges of y.
local function draw(build, yedges, options, xlog, ylog)
  local ascii, width = parts.plot.is_ascii(options), parts.plot.columns(options.width)
  local rows, coloured = max(1, floor(options.height or 20)), has_colours(options, ascii)
  local fine = coloured and not ascii and 2 or 1
  local y = make_axis(yedges, ylog, max(2, floor(rows / 3)))
  local _, widest = parts.plot_axes.beside(y, rows, width / 3)
  local m = build(min(parts.heat.MOST, width - widest - 2), min(parts.heat.MOST, rows * fine))
  rows = math.ceil(used(m.yedges, ylog, rows * fine) / fine)
  if m.numbered_y then y = parts.axis.whole(y, m.yedges[1], m.yedges[#m.yedges]) end
  local ups = places(m.yedges, y, ylog, rows * fine)
  if m.down then y = parts.axis.turned(y) end
  local labels, left = parts.plot_axes.beside(y, rows, width / 3)
  local columns = used(m.xedges, xlog, width - left - 2)
  local x = make_axis(m.xedges, xlog, max(2, floor(columns / 9)))
  if m.numbered_x then x = parts.axis.whole(x, m.xedges[1], m.xedges[#m.xedges]) end
  local across = places(m.xedges, x, xlog, columns)
  local scale = parts.heat.scale(m, options.log, {}, 2)

  local function level_of(k, row)
    local value = greatest(m, across[k], ups[m.down and row + 1 or rows * fine - row])
    if not value or (options.log and value <= 0) then return nil end
    return scale.scale(value)
  end
  local lines, pen = {}, new_pen()
  local bar, corner = ascii and "|" or "\226\148\130", ascii and "+" or "\226\148\148"
  for row = 0, rows - 1 do
    parts.check.look()
    local label = labels[row] or ""
    lines[row + 1] = string.rep(" ", left - #label) .. label .. " " .. bar
      .. cells_line(level_of, columns, row, coloured, ascii, pen)
  end
  local line, texts = parts.plot_axes.below(x, columns, ascii)
  lines[#lines + 1] = string.rep(" ", left + 1) .. corner .. line
  if texts ~= "" then lines[#lines + 1] = string.rep(" ", left + 2) .. texts end
  local rest = {}
  local function add(text) rest[#rest + 1] = text end
  add(parts.plot_axes.left_out("x", x))
  add(parts.plot_axes.left_out("y", y))
  add(m.outside)
  add(m.note)
  local function take(list)
    for _, each in ipairs(list) do lines[#lines + 1] = each end
  end
  local ramp, visible = ramp_text(coloured, ascii, pen)
  take(legend(m, scale, options.log, width, ramp, visible))
  if #rest > 0 then take(parts.plot.wrap(table.concat(rest, ", "), width)) end
  return table.concat(lines, "\n")
end

--- A histogram of pairs as lines of text.
function heat.of_pairs(h, options)
  return draw(function(columns, rows)
    local mode = parts.heat.mode_of(h, options.density, options.xlog, options.ylog)
    local m = parts.heat.of_pairs(h, mode, columns, rows)
    m.outside = parts.heat.outside(h)
    return m
  end, h.yedges:table(), options, options.xlog, options.ylog)
end

--- A matrix as lines of text.
function heat.of_matrix(a, options)
  options, a = check(options, known_of_matrix), parts.heat.plain(a)
  return draw(function(columns, rows) return parts.heat.of_matrix(a, nil, nil, columns, rows) end,
    { 0.5, a.rows + 0.5 }, options)
end

return heat
