-- One column of a CSV file as an array: a strict reader (RFC 4180), bad rows named by their line.
local gr, parts = ...

local known = { column = "number|string", separator = "string", header = "boolean", dtype = "string" }

local function fail(position, text, ...) parts.check.fail("csv", position, text, ...) end

-- Numbers as people write them, and nan and inf; no hexadecimal digits, nothing around them but spaces.
local function number_of(field)
  local text = field:match("^%s*(.-)%s*$")
  if text:find("^[+-]?%d*%.?%d*$") and text:find("%d") or text:find("^[+-]?%d*%.?%d*[eE][+-]?%d+$") then
    return tonumber((text:gsub("^%+", "")))
  end
  local sign, word = text:lower():match("^([+-]?)(%a+)$")
  local value = word == "nan" and 0 / 0 or (word == "inf" or word == "infinity") and math.huge or nil
  return value and (sign == "-" and -value or value)
end

-- A field that begins at position at with a quote: its text and the position behind the closing one, or nil.
local function quoted(text, at)
  local pieces = {}
  while true do
    local close = text:find('"', at + 1, true)
    if not close then return nil end
    pieces[#pieces + 1] = text:sub(at + 1, close - 1)
    if text:sub(close + 1, close + 1) ~= '"' then return table.concat(pieces, '"'), close + 1 end
    at = close + 1
  end
end

-- Calls row(fields, line) for each row; a quoted field may hold separators, quotes ("") and line ends.
local function each_row(text, separator, path, row)
  local at, line, length = 1, 1, #text
  local plain = "^([^\r\n\"" .. separator:gsub("%W", "%%%0") .. "]*)()"
  while at <= length do
    local fields, first = {}, line
    repeat
      local field, after
      if text:sub(at, at) == '"' then
        field, after = quoted(text, at)
        if not field then fail(1, "%s:%d: a quoted field does not end", path, first) end
        line = line + select(2, field:gsub("\n", "\n"))
      else
        field, after = text:match(plain, at)
      end
      fields[#fields + 1], at = field, after
      local c = text:sub(at, at)
      local more = c == separator
      if more then at = at + 1
      elseif c == "\n" then at = at + 1
      elseif c == "\r" then at = text:sub(at + 1, at + 1) == "\n" and at + 2 or at + 1
      elseif c ~= "" then fail(1, "%s:%d: '%s' after a field", path, line, c) end
    until not more
    row(fields, first)
    line = line + 1
  end
end

local function column_named(fields, name, path, at)
  for k = 1, #fields do
    if fields[k] == name then return k end
  end
  fail(at, "option 'column': %s has no column '%s' (it has: %s)%s", path, name, table.concat(fields, ", "),
    parts.hint(name, fields))
end

--- gr.csv(path, dtype, {column, separator, header, dtype}): the array and the column's name; nil, message, code if the
-- file does not open. column: a name (then there is a header) or a position.
function gr.csv(path, dtype, options)
  if type(path) ~= "string" then fail(1, "path expected, got %s", parts.check.kind(path)) end
  local at
  dtype, options, at = parts.check.optional("csv", 2, dtype, options)
  options = parts.check.options("csv", at, options, known)
  if dtype ~= nil and options.dtype then fail(at, "option 'dtype': argument #2 is one already") end
  if dtype ~= nil and type(dtype) ~= "string" then fail(2, "dtype name expected, got %s", parts.check.kind(dtype)) end
  local column, separator, header = options.column or 1, options.separator or ",", options.header
  if #separator ~= 1 or separator:find('["\r\n]') then
    fail(at, "option 'separator': one character other than a quote expected, got '%s'", separator)
  end
  if header == nil then header = type(column) == "string" end
  if type(column) == "string" and not header then fail(at, "option 'column': a name needs a header") end
  if type(column) == "number" and (column < 1 or column ~= math.floor(column)) then
    fail(at, "option 'column': position of 1 or more expected, got %.14g", column)
  end
  local where, typed = dtype and "" or "option 'dtype': ", dtype and 2 or at
  dtype = dtype or options.dtype or "f64"
  if not parts.is_dtype(dtype) then
    fail(typed, "%sunknown dtype '%s'%s", where, dtype:sub(1, 40), parts.dtype_hint(dtype))
  end
  local file, message, code = io.open(path, "rb")
  if not file then return nil, message, code end
  local text
  text, message, code = file:read("*a")
  file:close()
  if not text then return nil, message, code end
  text = text:gsub("^\239\187\191", "") -- the byte order mark that some programs write
  local numbers, lines, width, name = {}, {}, nil, nil
  each_row(text, separator, path, function(fields, line)
    if not width then width = #fields end
    if #fields ~= width then fail(1, "%s:%d: %d fields expected, got %d", path, line, width, #fields) end
    if header and not name then
      if type(column) == "string" then column = column_named(fields, column, path, at) end
      name = fields[column] or ""
      if column > width then fail(at, "option 'column': %s has %d columns, column %d asked", path, width, column) end
      return
    end
    if column > width then fail(at, "option 'column': %s has %d columns, column %d asked", path, width, column) end
    local value = number_of(fields[column])
    if not value then fail(1, "%s:%d: '%s' is not a number", path, line, fields[column]:sub(1, 40)) end
    numbers[#numbers + 1], lines[#lines + 1] = value, line
  end)
  local ok, result = pcall(gr.array, numbers, dtype)
  if ok then return result, name end
  local k, why = tostring(result):match("%(element (%d+): (.*)%)$")
  if not k then error(result, 0) end
  fail(1, "%s:%d: %s", path, lines[tonumber(k)], why)
end
