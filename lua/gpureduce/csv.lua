-- One column of a CSV file as an array: what is asked for is checked here, src/core/csv.c reads.
local _, parts = ...
local csv = {}

local known = { column = "number|string", separator = "string", header = "boolean", dtype = "string" }

local function fail(position, text, ...) parts.check.fail("csv", position, text, ...) end

-- The header lacks the column: what it has, and what may have been meant.
local function no_column(at, path, name, names)
  local shown = table.concat(names, ", ", 1, math.min(#names, 20))
  if #names > 20 then shown = shown .. string.format(", and %d more", #names - 20) end
  fail(at, "option 'column': %s has no column '%s' (it has: %s)%s", path, name, shown, parts.hint(name, names))
end

--- gr.csv(path, dtype, {column, separator, header, dtype}): the array and the column's name; nil, message, code if the
-- file does not open. column: a name (then there is a header) or a position.
function csv.csv(path, dtype, options)
  if type(path) ~= "string" then fail(1, "path expected, got %s", parts.check.kind(path)) end
  local at
  dtype, options, at = parts.check.optional("csv", 2, dtype, options)
  options = parts.check.options("csv", at, options, known)
  if dtype ~= nil and options.dtype then fail(at, "option 'dtype': argument #2 is one already") end
  if dtype ~= nil and type(dtype) ~= "string" then fail(2, "dtype name expected, got %s", parts.check.kind(dtype)) end
  local column, separator, header = options.column or 1, options.separator or ",", options.header
  if #separator ~= 1 or string.find(separator, '["\r\n]') then
    fail(at, "option 'separator': one character other than a quote expected, got '%s'", separator)
  end
  if header == nil then header = type(column) == "string" end
  if type(column) == "string" and not header then fail(at, "option 'column': a name needs a header") end
  if type(column) == "number" and not (column >= 1 and column <= 2 ^ 53 and column == math.floor(column)) then
    fail(at, "option 'column': position of 1 or more expected, got %.14g", column)
  end
  local where, typed = dtype and "" or "option 'dtype': ", dtype and 2 or at
  dtype = dtype or options.dtype or "f64"
  if not parts.is_dtype(dtype) then
    fail(typed, "%sunknown dtype '%s'%s", where, string.sub(dtype, 1, 40), parts.dtype_hint(dtype))
  end
  local a, position, why, names = parts.read_csv(path, separator, header, column, dtype)
  if a ~= false then return a, position, why end
  if not names then fail(1, "%s", why) end
  if position == 1 then fail(1, "%s:%s", path, why) end
  if type(column) == "string" then no_column(at, path, column, names) end
  fail(at, "option 'column': %s %s", path, why)
end

return csv
