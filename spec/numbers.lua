-- Number formats in plain Lua (5.1 to 5.5, LuaJIT), independent of the C code: rounding to f16, bf16 and f32, the bits
-- of floats, packed strings, and data that comes out the same under every interpreter.
local M = {}

local floor, abs, huge = math.floor, math.abs, math.huge
local nan = huge - huge
local NZ = -1 / huge -- -0.0; never written so: Lua 5.1 keeps one constant for 0.0 and -0.0
M.nan, M.minus_zero = nan, NZ

-- ---- floating point, taken apart with exact operations only ----

-- x = m * 2^e with 0.5 <= m < 1, for finite x > 0. (math.frexp is gone from newer Lua versions.)
local function split(x)
  local shift = 0
  if x < 2.0 ^ -1000 then x, shift = x * 2.0 ^ 200, -200 end
  local e = floor(math.log(x) / math.log(2)) + 1
  local function scaled(k) -- x * 2^-k in two steps, since 2^1024 is not a number
    local half = floor(k / 2)
    return x * 2.0 ^ -half * 2.0 ^ -(k - half)
  end
  while scaled(e) >= 1 do e = e + 1 end
  while scaled(e) < 0.5 do e = e - 1 end
  return scaled(e), e + shift
end
M.split = split

local function is_negative(x) return x < 0 or (x == 0 and 1 / x < 0) end
M.is_negative = is_negative

-- Round to the nearest multiple of a power of two, ties to even; |x| / unit must be below 2^51.
local function to_multiple(x, unit)
  local q = x / unit
  local whole = floor(q)
  local rest = q - whole
  if rest > 0.5 or (rest == 0.5 and whole % 2 == 1) then whole = whole + 1 end
  return whole * unit
end

-- Round a double to a narrower binary format: digits of significand, smallest and largest exponent (as split gives).
local function rounder(digits, emin, emax)
  local tiniest = 2.0 ^ (emin - digits)
  local limit = emax == 128 and 2.0 ^ 128 or 2.0 ^ emax
  return function(x)
    if x ~= x or x == 0 or x == huge or x == -huge then return x end
    local a = abs(x)
    local _, e = split(a)
    local unit = 2.0 ^ (e - digits)
    if unit < tiniest then unit = tiniest end
    a = to_multiple(a, unit)
    if a >= limit then a = huge end
    return is_negative(x) and -a or a
  end
end

M.round = {
  f16 = rounder(11, -13, 16),
  bf16 = rounder(8, -125, 128),
  f32 = rounder(24, -125, 128),
  f64 = function(x) return x end,
}
if string.pack then -- the same, sooner: a million roundings are needed in places
  local pack, unpack = string.pack, string.unpack
  M.slow_f32 = M.round.f32
  M.round.f32 = function(x) return (unpack("<f", pack("<f", x))) end
end

-- The bits of a float of `width` bits with `fraction` fraction bits, as numbers: low word, high word (or nil).
local function float_bits(x, width, fraction)
  local ebits = width - fraction - 1
  local bias = 2.0 ^ (ebits - 1) - 1
  local sign, exponent, f = 0, 0, 0
  if x ~= x then
    exponent, f = 2 * bias + 1, 2.0 ^ (fraction - 1)
  else
    if is_negative(x) then sign, x = 1, -x end
    if x == huge then
      exponent = 2 * bias + 1
    elseif x > 0 then
      local m, e = split(x)
      exponent = e - 1 + bias
      if exponent >= 1 then
        f = (2 * m - 1) * 2.0 ^ fraction
      else
        local k = bias - 1 + fraction -- x / smallest subnormal, in two steps
        exponent, f = 0, x * 2.0 ^ floor(k / 2) * 2.0 ^ (k - floor(k / 2))
      end
    end
  end
  if width == 64 then
    local top = floor(f / 4294967296)
    return f - top * 4294967296, sign * 2147483648 + exponent * 1048576 + top
  end
  return sign * 2.0 ^ (width - 1) + exponent * 2.0 ^ fraction + f
end

-- The number with these bits.
local function float_value(bits, width, fraction, high)
  local ebits = width - fraction - 1
  local bias = 2.0 ^ (ebits - 1) - 1
  local sign, exponent, f
  if width == 64 then
    sign = floor(high / 2147483648)
    exponent = floor(high / 1048576) % 2048
    f = (high % 1048576) * 4294967296.0 + bits
  else
    sign = floor(bits / 2.0 ^ (width - 1))
    exponent = floor(bits / 2.0 ^ fraction) % 2.0 ^ ebits
    f = bits % 2.0 ^ fraction
  end
  local x
  if exponent == 2 * bias + 1 then x = f == 0 and huge or nan
  elseif exponent == 0 then
    local k = 1 - bias - fraction
    x = f * 2.0 ^ floor(k / 2) * 2.0 ^ (k - floor(k / 2))
  else x = (1 + f * 2.0 ^ -fraction) * 2.0 ^ (exponent - bias) end
  return sign == 1 and -x or x
end

function M.bits16(x) return float_bits(x, 16, 10) end
function M.bitsb16(x) return float_bits(x, 16, 7) end
function M.bits32(x) return float_bits(x, 32, 23) end
function M.bits64(x) return float_bits(x, 64, 52) end -- low word, high word
function M.f16_value(bits) return float_value(bits, 16, 10) end
function M.bf16_value(bits) return float_value(bits, 16, 7) end
function M.f32_value(bits) return float_value(bits, 32, 23) end
function M.f64_value(low, high) return float_value(low, 64, 52, high) end

-- 16 hexadecimal digits: the bits of a double. Every NaN shows as the module's NaN.
function M.hex(x)
  if x ~= x then return "7ff8000000000000" end
  if string.pack and math.type(x) == "integer" then x = x + 0.0 end
  if string.pack then return ("%016x"):format((string.unpack("<i8", string.pack("<d", x)))) end
  local low, high = float_bits(x, 64, 52)
  return ("%08x%08x"):format(high, low)
end

-- ---- dtypes ----

M.dtypes = { "u8", "i8", "u16", "i16", "u32", "i32", "i64", "f16", "bf16", "f32", "f64" }
M.size = { u8 = 1, i8 = 1, u16 = 2, i16 = 2, u32 = 4, i32 = 4, i64 = 8, f16 = 2, bf16 = 2, f32 = 4, f64 = 8 }
M.is_float = { f16 = true, bf16 = true, f32 = true, f64 = true }
M.lowest = { u8 = 0, i8 = -128, u16 = 0, i16 = -32768, u32 = 0, i32 = -2147483648, i64 = math.mininteger or -2.0 ^ 63 }
M.highest = { u8 = 255, i8 = 127, u16 = 65535, i16 = 32767, u32 = 4294967295, i32 = 2147483647,
  i64 = math.maxinteger or 2.0 ^ 63 }
M.lanes, M.leaf = {}, {}
for name, size in pairs(M.size) do
  M.lanes[name] = 512 / size
  M.leaf[name] = M.lanes[name] * (size == 2 and 16 or 8)
end

local function bytes_of(word, count)
  local t = {}
  for k = 1, count do
    t[k] = word % 256
    word = (word - t[k]) / 256
  end
  return t
end

local unpack_table = table.unpack or unpack -- luacheck: ignore

-- One element as a little-endian string. i64 takes whole numbers up to 2^63 in size (and Lua integers).
function M.pack1(x, dtype)
  local size = M.size[dtype]
  if M.is_float[dtype] then
    if size == 8 then
      local low, high = M.bits64(x)
      local a, b = bytes_of(low, 4), bytes_of(high, 4)
      return string.char(a[1], a[2], a[3], a[4], b[1], b[2], b[3], b[4])
    end
    local bits = dtype == "f32" and M.bits32(x) or dtype == "f16" and M.bits16(x) or M.bitsb16(x)
    local t = bytes_of(bits, size)
    for k = 1, size do t[k] = floor(t[k]) end
    return string.char(unpack_table(t))
  end
  if string.pack and math.type(x) == "integer" then return (string.pack("<i8", x)):sub(1, size) end
  local t = {}
  for k = 1, size do -- floor division and remainder give two's complement by themselves
    t[k] = floor(x % 256)
    x = floor((x - t[k]) / 256)
  end
  return string.char(unpack_table(t))
end

local formats = {
  u8 = "B", i8 = "b", u16 = "<H", i16 = "<h", u32 = "<I4", i32 = "<i4", i64 = "<i8", f32 = "<f", f64 = "<d",
}

-- A table of numbers as packed bytes; last defaults to #t.
function M.pack(t, dtype, last)
  local parts, format = {}, string.pack and formats[dtype]
  for k = 1, last or #t do
    local x = t[k]
    if format then
      if not M.is_float[dtype] then x = math.tointeger(x) or x end
      parts[k] = string.pack(format, x)
    else
      parts[k] = M.pack1(x, dtype)
    end
  end
  return table.concat(parts)
end

-- ---- data that is the same everywhere ----

-- Whole numbers 0 .. 2^31 - 2, in an order that looks random (Park and Miller; products stay below 2^53).
function M.generator(seed)
  local state = (seed or 1) * 7919 % 2147483646 + 1
  return function()
    state = state * 16807 % 2147483647
    return state
  end
end

-- A number of the dtype, exactly representable, from generator g. "wild" floats spread over many exponents.
function M.draw(g, dtype, wild)
  local top = g()
  if M.is_float[dtype] then
    if dtype == "f64" then
      local m = (top % 134217728) * 67108864.0 + g() % 67108864 -- 53 bits
      return (m - 4503599627370496.0) * 2.0 ^ (wild and g() % 60 - 80 or -52)
    end
    local digits = dtype == "f32" and 24 or dtype == "f16" and 11 or 8
    local m = floor(top / 64) % 2 ^ digits
    local e = wild and (dtype == "f16" and g() % 12 - 8 or g() % 40 - 25) or 0
    return (m - 2.0 ^ (digits - 1)) * 2.0 ^ (e - digits + 1)
  end
  local size = M.size[dtype]
  if size == 8 then return (top - 1073741824) * (wild and 65536 or 1) + (wild and g() % 65536 or 0) end
  if size == 4 then return dtype == "i32" and top * 2 - 2147483648 or top * 2 + top % 2 end
  return floor(top / 128) % 2 ^ (8 * size) + M.lowest[dtype]
end

function M.data(dtype, n, seed, wild)
  local g, t = M.generator(seed), {}
  for k = 1, n do t[k] = M.draw(g, dtype, wild) end
  return t
end

return M
