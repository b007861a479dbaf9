-- Texts for pictures and messages: numbers that read alike in every locale, how wide a text is when drawn, and what XML
-- may hold.
local text = {}

local floor = math.floor
local os = rawget(_G, "os") -- which a host may have taken away

--- The variable of the environment, or nil.
function text.variable(name) return type(os) == "table" and os.getenv and os.getenv(name) or nil end

-- ---- numbers ----

--- A number that string.format has written, with a point: the C library writes what the host's locale says.
local function pointed(written) return (string.gsub(written, "[^0-9a-zA-Z+ -]+", ".")) end

text.pointed = pointed

--- string.format, with a point in numbers whatever the locale says.
function text.format(template, ...)
  local values, k = { ... }, 0
  return (string.gsub(template, "%%([-+ #0-9.]*)([a-zA-Z%%])", function(flags, kind)
    if kind == "%" then return "%" end
    k = k + 1
    local value = values[k]
    if kind == "s" then return (string.format(string.format("%%%ss", flags), text.of(value))) end
    local written = string.format(string.format("%%%s%s", flags, kind), value)
    return string.find("aAeEfFgG", kind, 1, true) and pointed(written) or written
  end))
end

--- tostring for people: whole numbers without a fraction.
function text.of(value)
  if type(value) ~= "number" then return tostring(value) end
  return pointed(string.format("%.14g", value))
end

--- As few digits as give the number back, `least` of them or more.
function text.shortest(value, least)
  for digits = least or 1, 17 do
    local written = string.format(string.format("%%.%dg", digits), value)
    if digits == 17 or tonumber(written) == value then return pointed(written) end
  end
end

-- ---- characters ----

--- Whether the terminal takes UTF-8, by the variables that say so (the first that is set decides).
function text.is_unicode()
  if text.variable("TERM") == "dumb" then return false end
  for _, name in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local value = text.variable(name)
    if value and value ~= "" then return string.find(value, "[uU][tT][fF]%-?8") ~= nil end
  end
  return false
end

-- The bytes of the character that begins at position i, and its code; one byte without a code if it is no UTF-8.
local function character(s, i)
  local b = string.byte(s, i)
  if b < 128 then return 1, b end
  local length = b >= 240 and 4 or b >= 224 and 3 or 2
  local code = b % 2 ^ (7 - length)
  for k = 1, length - 1 do
    local c = string.byte(s, i + k)
    if not c or c < 128 or c > 191 then return 1 end
    code = code * 64 + c - 128
  end
  local least = length == 2 and 0x80 or length == 3 and 0x800 or 0x10000
  if b < 194 or b > 244 or code < least or code > 0x10ffff or (code >= 0xd800 and code <= 0xdfff) then return 1 end
  return length, code
end

--- Calls f(piece, code) for each character; pieces that are no UTF-8, and what XML cannot hold, come as U+FFFD.
function text.each(s, f)
  local i = 1
  while i <= #s do
    local length, code = character(s, i)
    local bad = not code or (code < 32 and code ~= 9 and code ~= 10 and code ~= 13) or (code >= 127 and code < 160)
      or code == 0xfffe or code == 0xffff
    if bad then f("\239\191\189", 0xfffd) else f(string.sub(s, i, i + length - 1), code) end
    i = i + length
  end
end

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

--- The value as text inside an XML element or attribute.
function text.xml(value)
  local pieces = {}
  text.each(text.of(value), function(piece) pieces[#pieces + 1] = entities[piece] or piece end)
  return table.concat(pieces)
end

-- Widths of letters in units of the font's size, on the wide side: which font draws them is not known here.
local widths = {}
for letters, width in pairs { ["iljI.,:;'|! "] = 0.34, ["ftr()[]/\\-\""] = 0.46, ["mwMW%@"] = 0.98,
  ABCDEFGHJKLNOPQRSTUVXYZ = 0.75, ["+=<>~#&_"] = 0.84 } do
  for k = 1, #letters do widths[string.byte(letters, k)] = width end
end

-- Marks that stand over others have no width; letters of East Asia fill a square.
local function width_of_code(code)
  if code < 128 then return widths[code] or 0.64 end
  if (code >= 0x300 and code <= 0x36f) or (code >= 0x200b and code <= 0x200f) then return 0 end
  return code >= 0x1100 and code ~= 0x2026 and not (code >= 0x1e00 and code < 0x2e80) and 1 or 0.7
end

--- About how wide the text is at a font's size.
function text.width(s, size)
  local width = 0
  text.each(s, function(_, code) width = width + width_of_code(code) end)
  return width * size
end

local DOTS = "\226\128\166"

--- The text if it is no wider than room, else its beginning and three dots.
function text.cut(s, room, size)
  if text.width(s, size) <= room then return s end
  local pieces, width, full = {}, text.width(DOTS, size), false
  text.each(s, function(piece, code)
    width = width + width_of_code(code) * size
    full = full or width > room
    if not full then pieces[#pieces + 1] = piece end
  end)
  return (string.gsub(table.concat(pieces), " +$", "")) .. DOTS
end

-- The text's words, those wider than room in pieces that are not.
local function words(s, room, size)
  local list = {}
  for word in string.gmatch(s, "[^ \t\r\n]+") do
    local pieces, width = {}, 0
    text.each(word, function(piece, code)
      local each = width_of_code(code) * size
      if width + each > room and #pieces > 0 then
        list[#list + 1] = table.concat(pieces)
        pieces, width = {}, 0
      end
      pieces[#pieces + 1], width = piece, width + each
    end)
    list[#list + 1] = table.concat(pieces)
    if #list > 200 then break end -- no picture shows that many
  end
  return list
end

--- The text in at most `most` lines, none wider than room; what does not fit is cut from the last one.
function text.wrap(s, room, size, most)
  local lines, line = {}, nil
  for _, word in ipairs(words(s, room, size)) do
    if line and (#lines + 1 >= most or text.width(line .. " " .. word, size) <= room) then line = line .. " " .. word
    else lines[#lines + 1], line = line, word end
  end
  lines[#lines + 1] = line
  for k = 1, #lines do lines[k] = text.cut(lines[k], room, size) end
  return lines
end

--- A coordinate: two digits behind the point, none that say nothing. Whole numbers only, so no locale can matter.
function text.coordinate(x)
  local sign = x < 0 and "-" or ""
  local n = floor((x < 0 and -x or x) * 100 + 0.5)
  if n == 0 then return "0" end
  local whole, rest = floor(n / 100), n % 100
  if rest == 0 then return string.format("%s%d", sign, whole) end
  if rest % 10 == 0 then return string.format("%s%d.%d", sign, whole, floor(rest / 10)) end
  return string.format("%s%d.%02d", sign, whole, rest)
end

return text
