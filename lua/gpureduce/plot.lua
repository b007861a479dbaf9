-- Draws a histogram with bars of text that fit the terminal's width.
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

-- Edges as text: whole numbers as such, else as few digits as keep neighbours apart.
local function labels(edges)
  local whole = true
  for k = 1, #edges do whole = whole and edges[k] == floor(edges[k]) and math.abs(edges[k]) < 1e15 end
  for digits = 3, 17 do
    local format, text, distinct = whole and "%.0f" or "%." .. digits .. "g", {}, true
    for k = 1, #edges do
      text[k] = format:format(edges[k])
      distinct = distinct and text[k] ~= text[k - 1]
    end
    if distinct or digits == 17 then return text end
  end
end

local function count_text(n) return ("%.0f"):format(n) end

-- The columns that the terminal has: COLUMNS, which shells set, else 80.
function plot.columns() return tonumber(os.getenv("COLUMNS") or "") or 80 end

--- A string of lines (no newline at the end), none longer than the width.
-- h: {counts = numbers, edges = numbers, below =, above =, nan =}; options: width, height (most bars; more bins
-- are merged with their neighbours), ascii.
function plot.histogram(h, options)
  options = options or {}
  local width = max(20, floor(options.width or plot.columns()))
  local height = max(1, floor(options.height or 32))
  local ascii = options.ascii
  if ascii == nil then ascii = os.getenv("TERM") == "dumb" end
  local bar, axis = ascii and bar_ascii or bar_unicode, ascii and "|" or "\226\148\130"

  local counts, edges = group(h.counts, h.edges, height)
  local text, left, right, most = labels(edges), 0, 0, 0
  for k = 1, #text do left = max(left, #text[k]) end
  for k = 1, #counts do
    right = max(right, #count_text(counts[k]))
    most = max(most, counts[k])
  end
  local room = max(1, width - left - right - 4)

  local lines = {}
  for k = 1, #counts do
    local cells, used = ""
    if counts[k] > 0 then
      cells, used = bar(counts[k] / most * room)
      if used == 0 then cells = ascii and "." or eighths[1] end -- something is there: show it
    end
    lines[k] = ("%" .. left .. "s %s%s %s"):format(text[k], axis, cells, count_text(counts[k]))
  end
  lines[#lines + 1] = ("%" .. left .. "s"):format(text[#text])

  local rest = {}
  for _, name in ipairs { "below", "above", "nan" } do
    if h[name] and h[name] > 0 then rest[#rest + 1] = name .. " " .. count_text(h[name]) end
  end
  if #rest > 0 then lines[#lines + 1] = table.concat(rest, ", ") end
  return table.concat(lines, "\n")
end

return plot
