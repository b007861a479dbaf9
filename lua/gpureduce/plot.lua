-- Draws a histogram with bars of text that fit the terminal's width.
local _, parts = ...

local plot = {}

local floor, max, min = math.floor, math.max, math.min

-- Left eighths of a block: plot.eighths[3] fills three eighths of a cell.
local full = "\226\150\136"
local eighths = {}
for k = 1, 7 do eighths[k] = "\226\150" .. string.char(144 - k) end

local function bar_unicode(length)
  local whole = floor(length)
  local part = floor((length - whole) * 8 + 0.5)
  if part == 8 then whole, part = whole + 1, 0 end
  return full:rep(whole) .. (eighths[part] or ""), whole + (part > 0 and 1 or 0)
end

local function bar_ascii(length)
  local whole = floor(length + 0.5)
  return ("#"):rep(whole), whole
end

-- Merge neighbouring bins until there are at most `height` of them.
local function group(counts, edges, height)
  local each = math.ceil(#counts / height)
  local c, e = {}, { edges[1] }
  for first = 1, #counts, each do
    local last = min(first + each - 1, #counts)
    local sum = 0
    for k = first, last do sum = sum + counts[k] end
    c[#c + 1], e[#e + 1] = sum, edges[last + 1]
  end
  return c, e
end

-- Edges as text, none longer than `room`: whole numbers as such, else as few digits as keep neighbours apart.
local function labels(edges, room)
  local whole, best = true, nil
  for k = 1, #edges do whole = whole and edges[k] == floor(edges[k]) and math.abs(edges[k]) < 1e15 end
  for digits = whole and 0 or 3, 17 do
    local format, text, distinct, longest = digits == 0 and "%.0f" or "%." .. digits .. "g", {}, true, 0
    for k = 1, #edges do
      text[k] = format:format(edges[k])
      longest = max(longest, #text[k])
      distinct = distinct and text[k] ~= text[k - 1]
    end
    if longest <= room or not best then best = text end
    if distinct and best == text then break end
  end
  return best
end

-- Counts in full, or with three digits where there is no room for them.
local function count_texts(counts, room)
  local whole, short, longest = {}, {}, 0
  for k = 1, #counts do
    local n = counts[k]
    whole[k] = n == floor(n) and ("%.0f"):format(n) or ("%.6g"):format(n)
    short[k] = ("%.3g"):format(n)
    longest = max(longest, #whole[k])
  end
  return longest <= room and whole or short
end

local function longest_of(texts)
  local longest = 0
  for k = 1, #texts do longest = max(longest, #texts[k]) end
  return longest
end

-- The columns to fill: COLUMNS if it is exported, else what the terminal says, else 80.
function plot.columns() return tonumber(os.getenv("COLUMNS") or "") or parts.terminal() or 80 end

local known = { width = "number", height = "number", ascii = "boolean", log = "boolean" }

function plot.check(options)
  options = parts.check.options("plot", 2, options, known)
  for name, least in pairs { width = 24, height = 1 } do
    local size = options[name]
    if size and not (size >= least and size < math.huge) then
      parts.check.fail("plot", 2, "option '%s': %d or more expected, got %.14g", name, least, size)
    end
  end
  return options
end

--- A string of lines (no newline at the end), none longer than the width.
-- h: {counts = numbers, edges = numbers, below =, above =, nan =}; options: width, height (most bars; more bins
-- are merged with their neighbours), log (bars as long as log(1 + count)), ascii.
function plot.histogram(h, options)
  local width = max(24, floor(options.width or plot.columns()))
  local height = floor(options.height or 32)
  local ascii = options.ascii
  if ascii == nil then ascii = os.getenv("TERM") == "dumb" end
  local bar, axis = ascii and bar_ascii or bar_unicode, ascii and "|" or "\226\148\130"
  local function length(count) return options.log and math.log(1 + count) or count end

  local counts, edges = group(h.counts, h.edges, height)
  local text, numbers = labels(edges, max(9, floor(width / 3))), count_texts(counts, max(8, floor(width / 4)))
  local left, right, most = longest_of(text), longest_of(numbers), 0
  for k = 1, #counts do most = max(most, length(counts[k])) end
  local room = max(1, width - left - right - 3)

  local lines = {}
  for k = 1, #counts do
    local cells, used = ""
    if counts[k] > 0 then
      cells, used = bar(length(counts[k]) / most * room)
      if used == 0 then cells = ascii and "." or eighths[1] end -- something is there: show it
    end
    lines[k] = ("%" .. left .. "s %s%s %s"):format(text[k], axis, cells, numbers[k])
  end
  lines[#lines + 1] = ("%" .. left .. "s"):format(text[#text])

  local rest = {}
  for _, name in ipairs { "below", "above", "nan" } do
    if h[name] ~= 0 then rest[#rest + 1] = name .. " " .. ("%.14g"):format(h[name]) end
  end
  if options.log then rest[#rest + 1] = "bars: log(1 + count)" end
  if #rest > 0 then lines[#lines + 1] = table.concat(rest, ", ") end
  return table.concat(lines, "\n")
end

return plot
