-- require "gpureduce.luassert": assertions about arrays for busted and luassert, whose messages say where these differ.
--
--   assert.arrays_equal(a, b, message)            as a:equal(b)
--   assert.arrays_close(a, b, options, message)   as a:allclose(b, options)
local gr = ...
local assert, say = require "luassert", require "say"

local SHOWN = 5 -- positions that differ
local math_type = rawget(math, "type") -- from Lua 5.3 on

-- ---- what differs ----

local function text_of(value)
  if type(value) ~= "number" or (math_type and math_type(value) == "integer") then return tostring(value) end
  if value ~= value then return "nan" end
  local short = ("%.14g"):format(value)
  if tonumber(short) ~= value then short = ("%.17g"):format(value) end
  return (short:gsub(",", ".")) -- in some locales
end

local function shape_text(x) return table.concat(x.shape, " x ") end

-- "[7]"; of a matrix "[2][3]".
local function place(a, position)
  local columns = a.columns
  if not columns then return ("[%d]"):format(position) end
  return ("[%d][%d]"):format(math.floor((position - 1) / columns) + 1, (position - 1) % columns + 1)
end

-- What follows a position of a side, which may be a number; of a matrix as a vector.
local function rest(x, position) return gr.isarray(x) and x:slice(position + 1) or x end

-- How far apart two numbers are; the difference of integers where it does not wrap.
local function distance(p, q)
  local float = math.abs((p + 0.0) - (q + 0.0))
  return float < 2 ^ 62 and math.abs(p - q) or float
end

-- Where the elements that are not close lie furthest apart, and both; nothing if all of those are NaN.
local function furthest(a, b, close)
  local apart = "abs(f64(a) - f64(b))"
  local position = gr.fuse(("where(close or isnan(%s), -1, %s)"):format(apart, apart)) {
    a = a, b = b, close = close }:argmax()
  local p, q = rest(a, 0), rest(b, 0)
  p, q = gr.isarray(p) and p[position] or p, gr.isarray(q) and q[position] or q
  if close:slice()[position] == 0 and distance(p, q) > 0 then return position, p, q end
end

-- The lines about the elements of two sides that can be compared; options as gr.differ has them.
local function elements(a, b, options)
  local like = gr.isarray(a) and a or b
  local n, close = #like, gr.isclose(a, b, options or { rtol = 0, atol = 0, nan_equal = true })
  local count, before = n - close:count(), 0
  local lines = { ("%d of %d elements differ:"):format(count, n) }
  for _ = 1, math.min(count, SHOWN) do
    local position, p, q = gr.differ(rest(a, before), rest(b, before), options)
    before = before + position
    lines[#lines + 1] = ("  %s %s and %s"):format(place(like, before), text_of(p), text_of(q))
  end
  if count > SHOWN then lines[#lines + 1] = "  ..." end
  local position, p, q = furthest(a, b, close)
  if position then
    lines[#lines + 1] = ("largest difference %s at %s: %s and %s"):format(text_of(distance(p, q)),
      place(like, position), text_of(p), text_of(q))
  end
  return table.concat(lines, "\n")
end

-- Length and shape of two arrays, where they are not the same, or nil.
local function shapes(a, b)
  if not (gr.isarray(a) and gr.isarray(b)) then return nil end
  if #a ~= #b then return ("lengths differ: %d and %d"):format(#a, #b) end
  if shape_text(a) ~= shape_text(b) then return ("shapes differ: %s and %s"):format(shape_text(a), shape_text(b)) end
end

local function sides(a, b) return ("a: %s\nb: %s"):format(text_of(a), text_of(b)) end

-- ---- assertions ----

-- Raises at the line of the assertion; level: what luassert says of it, for the function that it calls. deeper: how
-- many calls lie between that one and this.
local function raise(level, deeper, text, ...) error(text:format(...), (level or 1) + 2 + deeper) end

-- Expressions become their elements; what cannot be compared is no failure of the assertion but a mistake in the test.
local function check_side(level, name, position, x, numbers)
  local kind = getmetatable(x)
  if kind == "gpureduce.expression" then x = x:eval() end
  if gr.isarray(x) or (numbers and type(x) == "number") then return x end
  raise(level, 1, "bad argument #%d to '%s' (%s expected, got %s)", position, name,
    numbers and "array, number or expression" or "array or expression",
    type(x) == "userdata" and type(kind) == "string" and kind or type(x))
end

-- f of the sides and options, whose errors are the assertion's.
local function call(level, name, of, a, b, options)
  local ok, result = pcall(gr[of], a, b, options)
  if ok then return result end
  if type(result) == "string" then
    result = result:gsub("^gpureduce.luassert:%d+: ", ""):gsub("'" .. of .. "'", "'" .. name .. "'")
  end
  raise(level, 1, "%s", tostring(result))
end

-- The text is what the message says behind its words; luassert forms the message from the first argument.
local function say_so(arguments, text)
  arguments[1], arguments.n, arguments.nofmt = text, 1, { true }
end

local function arrays_equal(state, arguments, level)
  local a = check_side(level, "arrays_equal", 1, arguments[1])
  local b = check_side(level, "arrays_equal", 2, arguments[2])
  if arguments[3] ~= nil then state.failure_message = arguments[3] end
  local result = call(level, "arrays_equal", "equal", a, b)
  local lines = { sides(a, b) }
  if not result then
    local apart = shapes(a, b)
    if a.dtype ~= b.dtype then lines[#lines + 1] = ("dtypes differ: %s and %s"):format(a.dtype, b.dtype) end
    if apart then lines[#lines + 1] = apart end
    if #a == #b and gr.differ(a:slice(), b:slice()) then lines[#lines + 1] = elements(a, b) end
  end
  say_so(arguments, table.concat(lines, "\n"))
  return result
end

local function arrays_close(state, arguments, level)
  local options, message = arguments[3], arguments[4]
  if type(options) == "string" and message == nil then options, message = nil, options end
  local a = check_side(level, "arrays_close", 1, arguments[1], true)
  local b = check_side(level, "arrays_close", 2, arguments[2], true)
  if not gr.isarray(a) and not gr.isarray(b) then
    raise(level, 0, "bad argument #1 to 'arrays_close' (array or expression expected, got number)")
  end
  if message ~= nil then state.failure_message = message end
  local apart = shapes(a, b)
  local result = not apart and call(level, "arrays_close", "allclose", a, b, options)
  local lines = { sides(a, b) }
  if not result then lines[2] = apart or elements(a, b, options or {}) end
  say_so(arguments, table.concat(lines, "\n"))
  return result
end

-- Texts belong to the language that luassert falls back to, so that they are there in every one.
for name, words in pairs { arrays_equal = "to be equal", arrays_close = "to be close" } do
  local texts = say.en
  texts["assertion." .. name .. ".positive"] = "Expected arrays " .. words .. ".\n%s"
  texts["assertion." .. name .. ".negative"] = "Expected arrays not " .. words .. ".\n%s"
  assert:register("assertion", name, name == "arrays_equal" and arrays_equal or arrays_close,
    "assertion." .. name .. ".positive", "assertion." .. name .. ".negative")
end

return assert
