-- What each element operator gives for one element, in plain Lua and apart from the C code: exactly, where
-- docs/numerics.md says every bit, and nearly for functions, whose last bits MPFR is asked about (spec/functions).
local model = require "spec.model"
local E = {}

local nan, huge, is_float, wrap = model.nan, math.huge, model.is_float, model.wrap
local integers = math.type ~= nil
local floor = math.floor

-- ---- numbers of a dtype ----

-- A number that Lua's integers may hold, as floats of the dtype: rounded once, from all 64 bits.
local function as_float(dtype, x)
  if integers and math.type(x) == "integer" then
    local size = x == math.mininteger and 0 or math.abs(x)
    if dtype ~= "f64" and size >= 2 ^ 53 then -- what is cut stands in the last bit kept
      local high = (size - size % 2048) / 2048
      if size % 2048 ~= 0 and high % 2 == 0 then high = high + 1 end
      return model.round[dtype]((x < 0 and -high or high) * 2048.0)
    end
    x = x * 1.0
  end
  return model.round[dtype](x)
end

local function whole(x) return integers and math.tointeger(x) or x end

-- Towards 0, and to the nearest that the dtype has; 0 of NaN.
local function as_whole(dtype, x)
  if x ~= x then return 0 end
  local low, high = model.lowest[dtype], model.highest[dtype]
  if x <= low then return low elseif x >= high then return high end
  return whole(x < 0 and math.ceil(x) or floor(x)) + 0
end

function E.cast(dtype, x) return is_float[dtype] and as_float(dtype, x) or as_whole(dtype, x) end

-- A result in the dtype: rounded, or wrapped.
local function fit(dtype, x) return is_float[dtype] and model.round[dtype](x) or wrap(dtype, x) end

-- ---- whole numbers among floats; Lua's own would be integers, and lose the sign of -0.0 ----

local function is_whole(x) return x ~= x or x == 0 or math.abs(x) >= 2 ^ 52 end
local function down(x) return is_whole(x) and x or floor(x) * 1.0 end
local function up(x) return is_whole(x) and x or -down(-x) end
local function chop(x) return (x < 0 or model.is_negative(x)) and up(x) or down(x) end
local function nearest(x) -- ties to even
  if is_whole(x) then return x end
  local low = down(x)
  local rest = x - low
  local r = (rest > 0.5 or rest == 0.5 and low % 2 == 1) and low + 1 or low
  return r == 0 and x < 0 and model.minus_zero or r
end

local function remainder(x, y) -- C's fmod
  if x - x ~= 0 or y == 0 or y ~= y then return nan end
  return math.fmod(x * 1.0, y * 1.0)
end

local function power_of(t) -- the dtype in which floats are computed
  return t == "f64" and "f64" or "f32"
end

-- ---- whole numbers ----

local bits = { u8 = 8, i8 = 8, u16 = 16, i16 = 16, u32 = 32, i32 = 32, i64 = 64 }
-- Other Luas cannot read it, and have no integers of 64 bits.
local divided = integers and load "local x, y = ... return x // y"
local function quotient(t, x, y)
  if y == 0 then return 0 end
  if y == -1 then return wrap(t, -x) end
  return t == "i64" and divided(x, y) or wrap(t, (x - x % y) / y)
end
local function modulo(x, y)
  if y == 0 or y == -1 then return 0 end
  return x % y + 0 -- of doubles, -6 % 3 is -0
end
local function rest(x, y)
  local r = modulo(x, y)
  return r ~= 0 and (x < 0) ~= (y < 0) and r - y or r
end

-- ---- the operators: of the dtype and its elements, whose results are in E.result's dtype ----

local exact = {
  add = function(t, x, y) return fit(t, x + y) end,
  sub = function(t, x, y) return fit(t, x - y) end,
  mul = function(t, x, y) return is_float[t] and model.round[t](x * y) or model.wrapped_product(t, x, y) end,
  div = function(t, x, y) return is_float[t] and model.round[t](x / y) or (x * 1.0) / (y * 1.0) end,
  floordiv = function(t, x, y)
    return is_float[t] and model.round[t](down(model.round[power_of(t)](x / y))) or quotient(t, x, y)
  end,
  mod = function(t, x, y)
    if not is_float[t] then return modulo(x, y) end
    local m = remainder(x, y)
    if (m > 0 and y < 0) or (m < 0 and y > 0) then m = m + y end
    return model.round[t](m)
  end,
  fmod = function(t, x, y) return is_float[t] and remainder(x, y) or rest(x, y) end,
  neg = function(t, x) return fit(t, -x) end,
  abs = function(t, x) return x ~= x and x or x == 0 and x - x or fit(t, x < 0 and -x or x) end,
  sign = function(t, x)
    local one = is_float[t] and 1.0 or 1
    return x > 0 and one or x < 0 and -one or x
  end,
  square = function(t, x) return is_float[t] and model.round[t](x * x) or model.wrapped_product(t, x, x) end,
  minimum = function(_, x, y) return (x ~= x or y ~= y) and (x ~= x and x or y) or model.before(x, y) and x or y end,
  maximum = function(_, x, y) return (x ~= x or y ~= y) and (x ~= x and x or y) or model.before(x, y) and y or x end,
  clamp = function(_, x, low, high) return x < low and low or x > high and high or x end,
  floor = function(t, x) return is_float[t] and down(x) or x end,
  ceil = function(t, x) return is_float[t] and up(x) or x end,
  round = function(t, x) return is_float[t] and nearest(x) or x end,
  trunc = function(t, x) return is_float[t] and chop(x) or x end,
  sqrt = function(t, x)
    if x < 0 then return nan end
    return is_float[t] and model.round[t](math.sqrt(x)) or math.sqrt(x * 1.0)
  end,
  isnan = function(_, x) return x ~= x and 1 or 0 end,
  isinf = function(t, x) return is_float[t] and x == x and x - x ~= 0 and 1 or 0 end,
  isfinite = function(t, x) return (not is_float[t] or x - x == 0) and 1 or 0 end,
  land = function(_, x, y) return x ~= 0 and y ~= 0 and 1 or 0 end,
  lor = function(_, x, y) return (x ~= 0 or y ~= 0) and 1 or 0 end,
  lnot = function(_, x) return x == 0 and 1 or 0 end,
}
E.exact = exact

-- Bits, where Lua has integers to say what they are.
E.of_bits = {}
if integers then
  local native = assert(load [[return {
    band = function(x, y) return x & y end, bor = function(x, y) return x | y end,
    bxor = function(x, y) return x ~ y end, bnot = function(x) return ~x end,
    shl = function(x, y) return x << y end, shr = function(x, y) return x >> y end }]])()
  for name, f in pairs(native) do
    E.of_bits[name] = true
    exact[name] = function(t, x, y)
      if name:find "^sh" and t ~= "i64" then x = native.band(x, native.shl(1, bits[t]) - 1) end
      return wrap(t, f(x, y))
    end
  end
end

local masks = { isnan = true, isinf = true, isfinite = true, land = true, lor = true, lnot = true }

-- ---- functions, nearly ----

local exp, log, sqrt, abs = math.exp, math.log, math.sqrt, math.abs
local function expm1(x)
  local u = exp(x)
  if u == 1 or x ~= x then return x end
  if x > 40 or u - 1 == -1 then return u - 1 end -- above, (u - 1) * x may overflow where u does not
  return (u - 1) * x / log(u)
end
local function logarithm(x) return x < 0 and nan or log(x) end
local function odd(f) return function(x) return (x < 0 or model.is_negative(x)) and -f(-x) or f(x) end end

E.near = {
  exp = exp, log = logarithm, expm1 = expm1, sin = math.sin, cos = math.cos, tan = math.tan, asin = math.asin,
  acos = math.acos, atan = math.atan,
  pow = function(x, y) return x == 1 and 1.0 or x ^ y end,
  exp2 = function(x) return 2.0 ^ x end,
  log2 = function(x) return logarithm(x) / log(2) end,
  log10 = function(x) return logarithm(x) / log(10) end,
  log1p = function(x)
    local u = 1 + x
    if u == 1 or u - u ~= 0 then return x == -huge and nan or x end
    return u == 0 and -huge or u < 0 and nan or log(u) * (x / (u - 1))
  end,
  rsqrt = function(x) return x < 0 and nan or 1 / sqrt(x) end,
  cbrt = odd(function(x) return (x == 0 or x == huge) and x or x ^ (1 / 3) end),
  hypot = function(x, y)
    x, y = abs(x), abs(y)
    if x == huge or y == huge then return huge end
    if x < y then x, y = y, x end
    return x == 0 and 0.0 or x * sqrt(1 + (y / x) * (y / x))
  end,
  atan2 = math.atan2 or math.atan, -- luacheck: ignore
  sinh = odd(function(x)
    local e = expm1(x)
    if x > 30 then return exp(x / 2) * (exp(x / 2) / 2) end
    return (e + e / (e + 1)) / 2
  end),
  cosh = function(x) return exp(abs(x) / 2) * (exp(abs(x) / 2) / 2) + exp(-abs(x)) / 2 end,
  tanh = odd(function(x)
    local e = expm1(2 * x)
    return x > 20 and 1.0 or e / (e + 2)
  end),
}
local operands = { pow = 2, hypot = 2, atan2 = 2 }

-- How many operands a function has; nil of what is none.
function E.function_operands(name) return E.near[name] and (operands[name] or 1) end

-- Whether integers become f64 first; the dtype of the result; the dtype in which a function is computed.
function E.widens(name, t)
  return not is_float[t] and (E.near[name] ~= nil or name == "div" or name == "sqrt")
end
function E.result(name, t) return masks[name] and "u8" or E.widens(name, t) and "f64" or t end
function E.computed(t) return is_float[t] and power_of(t) or "f64" end

-- Whether a function's result is within an ulp or two of what is nearly right, in the dtype of the result.
local steps = { f16 = { 2 ^ -9, 2 ^ -23 }, bf16 = { 2 ^ -6, 2 ^ -132 }, f32 = { 2 ^ -21, 2 ^ -147 },
  f64 = { 2 ^ -42, 0 } }
function E.is_near(dtype, expected, got)
  expected = model.round[dtype](expected)
  if expected == got or (expected ~= expected and got ~= got) then return true end
  if expected - expected ~= 0 or got - got ~= 0 then return false end
  local step = steps[dtype]
  return abs(expected - got) <= step[1] * abs(expected) + step[2]
end

-- ---- comparisons, by the signs that people write ----

E.relations = {
  ["<"] = function(x, y) return x < y end, ["<="] = function(x, y) return x <= y end,
  ["=="] = function(x, y) return x == y end, ["~="] = function(x, y) return x ~= y end,
  [">="] = function(x, y) return x >= y end, [">"] = function(x, y) return x > y end,
}
E.signs = { "<", "<=", "==", "~=", ">=", ">" }

return E
