-- Draws a histogram with bars of text that fit the terminal's width.
local _, parts = ...

local plot = {}

local floor, max, min, abs = math.floor, math.max, math.min, math.abs

local LEAST, MOST = 10, 10000 -- columns, and lines

-- ---- bars ----

-- Left eighths of a block: plot.eighths[3] fills three eighths of a cell.
local full = "\226\150\136"
local eighths = {}
for k = 1, 7 do eighths[k] = "\226\150" .. string.char(144 - k) end

local function bar_unicode(length)
  local whole = floor(length)
  local part = floor((length - whole) * 8 + 0.5)
  if part == 8 then whole, part = whole + 1, 0 end
  return string.rep(full, whole) .. (eighths[part] or "")
end

local function bar_ascii(length) return string.rep("#", floor(length + 0.5)) end

-- Merge neighbouring bins until there are at most `height` of them.
local function group(counts, edges, height)
  local each = math.ceil(#counts / height)
  local c, e = {}, { edges[1] }
  for first = 1, #counts, each do
    local last = min(first + each - 1, #counts)
    local sum = 0
    for k = first, last do
      if k % 4096 == 0 then parts.check.look() end
      sum = sum + counts[k]
    end
    c[#c + 1], e[#e + 1] = sum, edges[last + 1]
  end
  return c, e
end

-- ---- texts ----

local function longest_of(texts)
  local longest = 0
  for k = 1, #texts do longest = max(longest, #texts[k]) end
  return longest
end

-- The numbers (less shift) in one format, and the most that one of them is off; nil when neighbours look alike.
local function written(values, format, shift)
  local texts, off = {}, 0
  for k = 1, #values do
    local raw = string.format(format, values[k] - shift)
    local number = tonumber(raw)
    if not number then return nil end -- beyond f64
    off = max(off, abs(number - (values[k] - shift)))
    local text = parts.text.pointed(raw)
    if not string.find(text, "[1-9]") then text = "0" end
    if string.find(text, ".", 1, true) and not string.find(text, "e", 1, true) then
      text = string.gsub(text, "%.?0+$", "")
    end
    if text == texts[k - 1] then return nil end
    texts[k] = text
  end
  return texts, off
end

-- The shortest format whose numbers are off by no more than the share `tolerance` of the narrowest bin.
local function shortest(edges, narrowest, tolerance, shift)
  local largest = max(abs(edges[1] - shift), abs(edges[#edges] - shift))
  local fixed = largest < 1e15 and narrowest > 1e-6
  for digits = fixed and 0 or 1, 17 do
    local texts, off = written(edges, string.format("%%.%d%s", digits, fixed and "f" or "g"), shift)
    if texts and off <= tolerance * narrowest then return texts end
  end
end

-- Edges as text, none longer than `room`: exact where that is short, else with as many digits as place them well within
-- their bins; where those do not fit, without what they share, or not at all. The second result says which of these.
local function labels(edges, room)
  local T, narrowest = parts.text, math.huge
  local low, high = edges[1], edges[#edges]
  for k = 2, #edges do narrowest = min(narrowest, edges[k] - edges[k - 1]) end
  local power = 10.0 ^ math.ceil(math.log(high - low) / math.log(10) - 1e-9)
  local shared = floor(low / power) * power
  if shared - shared ~= 0 then shared = 0 end
  local tries = { { 0, 0 }, { 0.005, 0 }, { 0.1, 0 }, { 0.005, shared }, { 0.1, shared } }
  for _, try in ipairs(tries) do
    local texts = shortest(edges, narrowest, try[1], try[2])
    if texts and longest_of(texts) <= (try[1] == 0 and min(room, 9) or room) then
      return texts, try[2] ~= 0 and "edges: " .. T.shortest(shared) .. " + what is shown" or nil
    end
  end
  local texts = {}
  for k = 1, #edges do texts[k] = "" end
  return texts, string.format("edges: %s to %s", T.shortest(low, 3), T.shortest(high, 3))
end

-- Counts in full, or with as many digits as there is room for.
local function count_texts(counts, room)
  local texts = {}
  for digits = 17, 1, -1 do
    for k = 1, #counts do
      local n = counts[k]
      texts[k] = digits == 17 and n == floor(n) and abs(n) < 1e15 and parts.text.format("%.0f", n)
        or parts.text.format(string.format("%%.%dg", min(digits, 6)), n)
    end
    if longest_of(texts) <= room then break end
  end
  return texts
end

--- The text in lines of no more than width columns, broken between words where there are any.
function plot.wrap(text, width)
  local lines, line = {}, ""
  for word in string.gmatch(text, "%S+") do
    if #line > 0 and #line + 1 + #word > width then lines[#lines + 1], line = line, "" end
    line = #line > 0 and line .. " " .. word or word
    while #line > width do lines[#lines + 1], line = string.sub(line, 1, width), string.sub(line, width + 1) end
  end
  lines[#lines + 1] = line
  return lines
end

-- ---- options ----

--- The columns to fill: what the caller wants, else COLUMNS if it is exported, else what the terminal says, else 80.
function plot.columns(wanted)
  local exported = tonumber(parts.text.variable("COLUMNS") or "")
  if exported and not (exported >= 1 and exported <= MOST) then exported = nil end
  return max(LEAST, floor(wanted or exported or parts.terminal() or 80))
end

--- Refuse sizes that nothing can be drawn in.
function plot.check_sizes(options, position)
  for name, least in pairs { width = LEAST, height = 1 } do
    local size = options[name]
    if size and not (size >= least and size <= MOST) then
      local wanted = size > least and string.format("%d or less", MOST) or string.format("%d or more", least)
      parts.check.fail("plot", position, "option '%s': %s expected, got %.14g", name, wanted, size)
    end
  end
end

local known = { width = "number", height = "number", ascii = "boolean", log = "boolean", density = "boolean" }

function plot.check(options)
  options = parts.check.options("plot", 2, options, known)
  plot.check_sizes(options, 2)
  return options
end

--- Whether to draw with ASCII alone: as asked, else as the terminal is.
function plot.is_ascii(options)
  if options.ascii ~= nil then return options.ascii end
  return not parts.text.is_unicode()
end

-- ---- the picture ----

-- How long a bar is to be, before it is scaled: logarithms of counts, or of densities in units of the least.
local function lengths(values, log, density)
  if not log then return values end
  local least, list = 1, {}
  if density then
    least = math.huge
    for k = 1, #values do least = values[k] > 0 and min(least, values[k]) or least end
  end
  for k = 1, #values do list[k] = values[k] > 0 and math.log(1 + values[k] / least) or 0 end
  return list
end

-- The lines below the bars: what lies outside, and what the bars are where it is not plain.
local function remarks(h, options, density, uneven, edges_note)
  local rest = {}
  for _, name in ipairs { "below", "above", "nan" } do
    if h[name] ~= 0 then rest[#rest + 1] = parts.text.format("%s %.14g", name, h[name]) end
  end
  local noun = h.weighted and "weight" or "count"
  if options.log then
    rest[#rest + 1] = density and "bars: log(1 + density / the least)" or string.format("bars: log(1 + %s)", noun)
  elseif density then rest[#rest + 1] = "bars: density"
  elseif uneven then rest[#rest + 1] = string.format("bars: %ss", noun) end
  if uneven and not density then rest[#rest + 1] = "bins differ in width" end
  rest[#rest + 1] = edges_note
  return table.concat(rest, ", ")
end

--- A string of lines (no newline at the end), none longer than the width.
-- h: {counts = numbers, edges = numbers, below, above, nan, weighted, density}; options: width, height (most bars; more
-- bins are merged with their neighbours), log (bars as long as log(1 + count)), ascii, density.
function plot.histogram(h, options)
  local width, height = plot.columns(options.width), floor(options.height or 32)
  local ascii, density = plot.is_ascii(options), options.density
  if density == nil then density = h.density end
  local bar, axis = ascii and bar_ascii or bar_unicode, ascii and "|" or "\226\148\130"

  local counts, edges = group(h.counts, h.edges, height)
  local uneven = not parts.svg_bars.is_even({ { edges = edges } })
  if density then counts = parts.svg_bars.heights({ counts = counts, edges = edges }, "density") end
  local length, most = lengths(counts, options.log, density), 0
  for k = 1, #counts do most = max(most, length[k] < math.huge and length[k] or 0) end
  local numbers = count_texts(counts, max(6, width >= 32 and floor(width / 4) or 8))
  local right = longest_of(numbers)
  if right > width / 2 then
    numbers = count_texts(counts, 5)
    right = longest_of(numbers)
  end
  local text, note = labels(edges, min(max(9, floor(width / 3)), width - right - 4))
  local left = longest_of(text)
  local room = max(0, width - left - right - 3)

  local lines = {}
  for k = 1, #counts do
    local cells = ""
    if counts[k] > 0 and most > 0 and room > 0 then
      cells = bar(min(1, length[k] / most) * room)
      if cells == "" then cells = ascii and "." or eighths[1] end -- something is there: show it
    end
    lines[k] = string.format("%s %s%s %s", string.rep(" ", left - #text[k]) .. text[k], axis, cells, numbers[k])
  end
  if left > 0 then lines[#lines + 1] = string.rep(" ", left - #text[#text]) .. text[#text] end
  local rest = remarks(h, options, density, uneven, note)
  if rest ~= "" then
    for _, line in ipairs(plot.wrap(rest, width)) do lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n")
end

return plot
