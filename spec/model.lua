-- The contract of docs/numerics.md once more, in plain scalar Lua (5.1 to 5.5, LuaJIT) and independent of the
-- C code: slow, obvious, one number at a time. Specs and golden files are computed from here alone.
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
local f32 = M.round.f32
if string.pack then -- the same, sooner: a million roundings are needed in places
  local pack, unpack = string.pack, string.unpack
  f32 = function(x) return (unpack("<f", pack("<f", x))) end
  M.slow_f32, M.round.f32 = M.round.f32, f32
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
M.lowest = { u8 = 0, i8 = -128, u16 = 0, i16 = -32768, u32 = 0, i32 = -2147483648, i64 = -2.0 ^ 63 }
M.highest = { u8 = 255, i8 = 127, u16 = 65535, i16 = 32767, u32 = 4294967295, i32 = 2147483647 }
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

local formats = { u8 = "B", i8 = "b", u16 = "<H", i16 = "<h", u32 = "<I4", i32 = "<i4", i64 = "<i8", f32 = "<f", f64 = "<d" }

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

-- ---- the tree ----

local function add(a, b) return a + b end
local function add32(a, b) return f32(a + b) end
local function multiply(a, b) return a * b end

-- Lanes of one leaf: numbers first .. last of term(k), k from 1; then folded by halves.
local function fold_leaf(term, first, last, lanes, identity, lane_step, merge, widen)
  local s = {}
  for l = 1, lanes do
    local acc = identity
    for k = first + l - 1, last, lanes do acc = lane_step(acc, term(k)) end
    s[l] = widen and widen(acc) or acc
  end
  local half = lanes / 2
  while half >= 1 do
    for l = 1, half do s[l] = merge(s[l], s[l + half]) end
    half = half / 2
  end
  return s[1]
end

-- Nodes pair with their right neighbours, level by level; one without goes up as it is.
local function fold_nodes(nodes, merge)
  while #nodes > 1 do
    local up = {}
    for k = 1, #nodes, 2 do
      up[#up + 1] = nodes[k + 1] == nil and nodes[k] or merge(nodes[k], nodes[k + 1])
    end
    nodes = up
  end
  return nodes[1]
end

local function tree(dtype, n, term, identity, lane_step, merge, widen)
  if n == 0 then return nil end
  local nodes, leaf = {}, M.leaf[dtype]
  for first = 1, n, leaf do
    local last = first + leaf - 1
    nodes[#nodes + 1] = fold_leaf(term, first, last < n and last or n, M.lanes[dtype], identity, lane_step, merge, widen)
  end
  return fold_nodes(nodes, merge)
end

-- The four parts a compensated sum is made of.
local function two_sum_error(x, y, s)
  local b = s - x
  return (x - (s - b)) + (y - b)
end

-- The exact error of p = x * y (Dekker, Veltkamp); for numbers that do not overflow on the way.
local function product_error(x, y, p)
  local c = 134217729 * x
  local xh = c - (c - x)
  local xl = x - xh
  c = 134217729 * y
  local yh = c - (c - y)
  local yl = y - yh
  return ((xh * yh - p) + xh * yl + xl * yh) + xl * yl
end

local function compensated(dtype, n, kahan, term)
  local function merge(a, b)
    local s = a[1] + b[1]
    local e = two_sum_error(a[1], b[1], s)
    return { s, kahan and (a[2] + b[2]) - e or (a[2] + b[2]) + e }
  end
  local function step(a, x, e)
    local s, c = a[1], a[2]
    local t
    if kahan then
      local y = x - c
      t = s + y
      c = (t - s) - y
      if e then c = c - e end
    else
      t = s + x
      c = c + two_sum_error(s, x, t)
      if e then c = c + e end
    end
    return { t, c }
  end
  local function lane_step(a, pair)
    return type(pair) == "table" and step(a, pair[1], pair[2]) or step(a, pair)
  end
  local r = tree(dtype, n, term, { NZ, 0.0 }, lane_step, merge)
  if not r then return 0.0 end
  if kahan or r[1] - r[1] ~= 0 then return r[1] end
  return r[1] + r[2]
end

-- ---- reductions: M.reduce[name](dtype, n, at[, at2][, options]) where at(k) is the k-th number, k from 1 ----

local R = {}
M.reduce = R

local function narrow(dtype) return dtype == "f16" or dtype == "bf16" end
local function canonical(x) return x == x and x or nan end

function R.sum(dtype, n, at, accumulate)
  if not M.is_float[dtype] then -- exact while the sum stays below 2^53; a Lua integer where there are any
    local s = 0
    for k = 1, n do s = s + at(k) end
    return s
  end
  if accumulate == "kahan" or accumulate == "neumaier" then return compensated(dtype, n, accumulate == "kahan", at) end
  local in32 = accumulate == "f32"
  local step = (in32 or narrow(dtype)) and add32 or add
  return canonical(tree(dtype, n, at, NZ, step, in32 and add32 or add) or 0.0)
end

function R.prod(dtype, n, at)
  return canonical(tree(dtype, n, at, 1.0, multiply, multiply) or 1.0)
end

function R.mean(dtype, n, at)
  if n == 0 then return nan end
  return canonical(R.sum(dtype, n, at) / n)
end

function R.dot(dtype, n, at, bt, accumulate)
  if not M.is_float[dtype] then
    local s = 0
    for k = 1, n do s = s + at(k) * bt(k) end
    return s
  end
  if accumulate == "kahan" or accumulate == "neumaier" then
    return compensated(dtype, n, accumulate == "kahan", function(k)
      local p = at(k) * bt(k)
      return { p, dtype == "f64" and product_error(at(k), bt(k), p) or 0.0 }
    end)
  end
  local in32 = accumulate == "f32"
  local function product(k) return at(k) * bt(k) end
  local function product32(k) return f32(at(k) * bt(k)) end
  local low = in32 or narrow(dtype)
  return canonical(tree(dtype, n, low and product32 or product, NZ, low and add32 or add, in32 and add32 or add) or 0.0)
end

function R.norm1(dtype, n, at)
  return canonical(tree(dtype, n, function(k) return abs(at(k)) end, NZ, add, add) or 0.0)
end
function R.norm2(dtype, n, at)
  return canonical(math.sqrt(tree(dtype, n, function(k) local v = at(k); return v * v end, NZ, add, add) or 0.0))
end
function R.norminf(_, n, at)
  local best = 0.0
  for k = 1, n do
    local v = abs(at(k))
    if v ~= v then return nan end
    if v > best then best = v end
  end
  return best
end

function R.mse(dtype, n, at, bt)
  if n == 0 then return nan end
  local function term(k) local d = at(k) - bt(k); return d * d end
  return canonical(tree(dtype, n, term, NZ, add, add) / n)
end

function R.cosine(dtype, n, at, bt)
  if n == 0 then return nan end
  local xy = tree(dtype, n, function(k) return at(k) * bt(k) end, NZ, add, add)
  local xx = tree(dtype, n, function(k) return at(k) * at(k) end, NZ, add, add)
  local yy = tree(dtype, n, function(k) return bt(k) * bt(k) end, NZ, add, add)
  return canonical(xy / (math.sqrt(xx) * math.sqrt(yy)))
end

-- Sum of squared deviations: leaf by leaf around the leaf's mean, then merged pairwise.
local function spread(dtype, n, at)
  local nodes, leaf, lanes = {}, M.leaf[dtype], M.lanes[dtype]
  for first = 1, n, leaf do
    local last = first + leaf - 1
    if last > n then last = n end
    local count = last - first + 1
    local s = fold_leaf(at, first, last, lanes, NZ, add, add)
    local mean = s / count
    local m2 = fold_leaf(function(k) local d = at(k) - mean; return d * d end, first, last, lanes, NZ, add, add)
    nodes[#nodes + 1] = { s, m2, count }
  end
  return fold_nodes(nodes, function(a, b)
    local d = b[1] / b[3] - a[1] / a[3]
    local count = a[3] + b[3]
    return { a[1] + b[1], (a[2] + b[2]) + (d * d) * ((a[3] * b[3]) / count), count }
  end)
end

function R.var(dtype, n, at, ddof)
  if n == 0 then return nan end
  return canonical(spread(dtype, n, at)[2] / (n - (ddof or 0)))
end
function R.std(dtype, n, at, ddof)
  if n == 0 then return nan end
  return canonical(math.sqrt(spread(dtype, n, at)[2] / (n - (ddof or 0))))
end

-- -0.0 comes before +0.0.
function M.before(x, y)
  if x == 0 and y == 0 then return is_negative(x) and not is_negative(y) end
  return x < y
end

local function best(n, at, better)
  local place, value = 1, at(1)
  if value ~= value then return 1, nan end
  for k = 2, n do
    local v = at(k)
    if v ~= v then return k, nan end
    if better(v, value) then place, value = k, v end
  end
  return place, value
end
local function after(x, y) return M.before(y, x) end

function R.argmin(_, n, at) return (best(n, at, M.before)) end
function R.argmax(_, n, at) return (best(n, at, after)) end
function R.min(_, n, at) local _, v = best(n, at, M.before); return v end
function R.max(_, n, at) local _, v = best(n, at, after); return v end
function R.minmax(d, n, at) return R.min(d, n, at), R.max(d, n, at) end

function R.count(_, n, at)
  local c = 0
  for k = 1, n do if at(k) ~= 0 then c = c + 1 end end
  return c
end
function R.any(_, n, at) return R.count(nil, n, at) > 0 end
function R.all(_, n, at) return R.count(nil, n, at) == n end

-- ---- the scan ----

-- In place over t[first .. first + width - 1]: pairs, quads, octets ...: upper halves add the last of the lower half.
local function sklansky(t, first, width, op)
  local half = 1
  while half < width do
    for block = first, first + width - 1, 2 * half do
      local last = t[block + half - 1]
      for k = block + half, block + 2 * half - 1 do t[k] = op(last, t[k]) end
    end
    half = 2 * half
  end
end

-- Totals of `width` parts (fewer: padded) -> what came before each, and the total of all.
local function before_each(totals, width, identity, op)
  local t = {}
  for k = 1, width do t[k] = totals[k] == nil and identity or totals[k] end
  sklansky(t, 1, width, op)
  local before = { identity }
  for k = 2, width do before[k] = t[k - 1] end
  return before, t[width]
end

-- Float sum and prod by the fixed scan tree; min, max and integers one by one. Returns a table of n numbers.
function M.scan(op, dtype, n, at, exclusive, reverse)
  local out = {}
  local function put(k, v) out[reverse and n + 1 - k or k] = v end
  local function get(k) return at(reverse and n + 1 - k or k) end
  if op == "min" or op == "max" then
    local better = op == "min" and M.before or after
    local acc
    if M.is_float[dtype] then acc = op == "min" and huge or -huge
    else acc = op == "min" and M.highest[dtype] or M.lowest[dtype] end
    for k = 1, n do
      local old, v = acc, get(k)
      if acc == acc and (v ~= v or better(v, acc)) then acc = v end
      if v ~= v then acc = nan end
      put(k, exclusive and old or acc)
    end
    return out
  end
  local combine, identity = add, NZ
  if op == "prod" then combine, identity = multiply, 1.0 end
  if not M.is_float[dtype] then
    local acc = op == "prod" and 1 or 0
    for k = 1, n do
      local old = acc
      acc = combine(acc, get(k))
      put(k, exclusive and old or acc)
    end
    return out
  end

  local finish = dtype == "f64" and function(x) return x end or f32
  local groups = math.max(1, math.ceil(n / 8))
  local x = {}
  for k = 1, groups * 8 do x[k] = k <= n and get(k) or identity end
  local total = {}
  for g = 1, groups do
    sklansky(x, g * 8 - 7, 8, combine)
    total[g] = x[g * 8]
  end
  -- Each level: what came before each part within its unit; then the units' totals are the parts of the next.
  local function level(totals, width)
    local before, up = {}, {}
    for first = 1, #totals, width do
      local part = {}
      for k = 1, width do part[k] = totals[first + k - 1] end
      local b, t = before_each(part, width, identity, combine)
      for k = 1, width do before[first + k - 1] = b[k] end
      up[#up + 1] = t
    end
    return before, up
  end
  local W, rows = level(total, 32)
  local Rw, tiles = level(rows, 16)
  local T, blocks = level(tiles, 32)
  local G, supers = level(blocks, 32)
  local S = { identity }
  for k = 2, #supers do S[k] = combine(S[k - 1], supers[k - 1]) end
  for g = 1, groups do
    local row = floor((g - 1) / 32) + 1
    local tile = floor((row - 1) / 16) + 1
    local block = floor((tile - 1) / 32) + 1
    local super = floor((block - 1) / 32) + 1
    local base = combine(combine(combine(S[super], G[block]), T[tile]), combine(Rw[row], W[g]))
    for j = 1, 8 do
      local k = g * 8 - 8 + j
      if k <= n then
        local v
        if not exclusive then v = combine(base, x[k])
        elseif j == 1 then v = base
        else v = combine(base, x[k - 1]) end
        if exclusive and k == 1 then v = op == "prod" and 1.0 or 0.0 end
        put(k, finish(canonical(v)))
      end
    end
  end
  return out
end

function M.scan_dtype(op, dtype)
  if op == "min" or op == "max" then return dtype end
  return M.is_float[dtype] and (dtype == "f64" and "f64" or "f32") or "i64"
end

return M
