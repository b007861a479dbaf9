-- The contract of docs/numerics.md once more, in plain scalar Lua and independent of the C code: slow, obvious, one
-- number at a time. Specs and golden files are computed from here alone.
local M = require "spec.numbers"

local floor, abs, huge = math.floor, math.abs, math.huge
local nan, NZ, is_negative, f32 = M.nan, M.minus_zero, M.is_negative, M.round.f32

-- ---- the tree ----

local function add(a, b) return a + b end
local function add32(a, b) return f32(a + b) end
local function multiply(a, b) return a * b end

-- Lanes of one leaf: numbers first .. last of term(k), k from 1; then folded by halves.
local function fold_leaf(term, first, last, lanes, identity, lane_step, merge)
  local s, row = {}, lanes
  while lanes > 1 and lanes / 2 > last - first do lanes = lanes / 2 end -- upper lanes are empty: they change nothing
  for l = 1, lanes do
    local acc = identity
    for k = first + l - 1, last, row do acc = lane_step(acc, term(k)) end
    s[l] = acc
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

local function tree(dtype, n, term, identity, lane_step, merge)
  if n == 0 then return nil end
  local nodes, leaf = {}, M.leaf[dtype]
  for first = 1, n, leaf do
    local last = first + leaf - 1
    nodes[#nodes + 1] = fold_leaf(term, first, last < n and last or n, M.lanes[dtype], identity, lane_step, merge)
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

local function canonical(x) return x == x and x or nan end

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
  if r[1] - r[1] ~= 0 then return canonical(r[1]) end -- an infinite sum has a meaningless compensation
  return kahan and r[1] - r[2] or r[1] + r[2]
end

-- ---- reductions: M.reduce[name](dtype, n, at[, at2][, options]) where at(k) is the k-th number, k from 1 ----

local R = {}
M.reduce = R

local function narrow(dtype) return dtype == "f16" or dtype == "bf16" end
-- Integers become doubles where an operation works in doubles. (x + 0.0 would lose the sign of -0.0.)
local function widened(at) return function(k) return at(k) * 1.0 end end

function R.sum(dtype, n, at, accumulate)
  if not M.is_float[dtype] then -- exact while the sum stays below 2^53; a Lua integer where there are any
    local s = 0
    for k = 1, n do s = s + at(k) end
    return s
  end
  if accumulate == "kahan" or accumulate == "neumaier" then return compensated(dtype, n, accumulate == "kahan", at) end
  local in32 = accumulate == "f32"
  local step = (in32 or narrow(dtype)) and add32 or add
  local function rounded(k) return f32(at(k)) end
  return canonical(tree(dtype, n, in32 and rounded or at, NZ, step, in32 and add32 or add) or 0.0)
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
  local function product32(k) return f32(f32(at(k)) * f32(bt(k))) end
  local low = in32 or narrow(dtype)
  return canonical(tree(dtype, n, low and product32 or product, NZ, low and add32 or add, in32 and add32 or add) or 0.0)
end

function R.norm1(dtype, n, at)
  at = widened(at)
  return canonical(tree(dtype, n, function(k) return abs(at(k)) end, NZ, add, add) or 0.0)
end
function R.norminf(_, n, at)
  at = widened(at)
  local best = 0.0
  for k = 1, n do
    local v = abs(at(k))
    if v ~= v then return nan end
    if v > best then best = v end
  end
  return best
end

function R.mse(dtype, n, at, bt, divisor)
  if n == 0 then return nan end
  at, bt = widened(at), widened(bt)
  local function term(k) local d = at(k) - bt(k); return d * d end
  return canonical(tree(dtype, n, term, NZ, add, add) / (divisor or n))
end

-- Sums of squares outside of 2^-900 .. 2^1000 have lost digits: f64 is scaled then, by the power of two that brings the
-- largest magnitude below 1, but no further than 2^1000.
local function safe(dtype, squares) return dtype ~= "f64" or (squares >= 2 ^ -900 and squares <= 2 ^ 1000) end
local function scale_of(largest)
  local scale = 1.0
  while largest * scale >= 1 do scale = scale / 2 end
  while largest * scale < 0.5 and scale < 2 ^ 1000 do scale = scale * 2 end
  return scale
end
local function finite_above_0(x) return x > 0 and x < huge end

function R.norm2(dtype, n, at)
  local wide = widened(at)
  local function squares(scale)
    return tree(dtype, n, function(k) local v = wide(k) * scale; return v * v end, NZ, add, add) or 0.0
  end
  local s = squares(1.0)
  if n == 0 or safe(dtype, s) then return canonical(math.sqrt(s)) end
  local largest = R.norminf(dtype, n, at)
  if not finite_above_0(largest) then return largest end
  local scale = scale_of(largest)
  return canonical(math.sqrt(squares(scale)) / scale)
end

function R.cosine(dtype, n, at, bt)
  if n == 0 then return nan end
  local wide_a, wide_b = widened(at), widened(bt)
  local function of(a, b)
    local function sum(f) return tree(dtype, n, f, NZ, add, add) end
    local xx = sum(function(k) local v = wide_a(k) * a; return v * v end)
    local yy = sum(function(k) local v = wide_b(k) * b; return v * v end)
    local xy = sum(function(k) return (wide_a(k) * a) * (wide_b(k) * b) end)
    return canonical(xy / (math.sqrt(xx) * math.sqrt(yy))), safe(dtype, xx) and safe(dtype, yy)
  end
  local r, is_safe = of(1.0, 1.0)
  if is_safe then return r end
  local a, b = R.norminf(dtype, n, at), R.norminf(dtype, n, bt)
  if not (finite_above_0(a) and finite_above_0(b)) then return nan end
  return (of(scale_of(a), scale_of(b)))
end

local exact_squares = { u8 = true, i8 = true, u16 = true, i16 = true }

-- The squared deviations of a leaf of narrow integers, from exact sums: count * squares - sum^2, which may take 56
-- bits, rounded once, over count. Digits of 28 bits, so that Lua's doubles hold every step.
local function exact_m2(at, first, last, s, count)
  local squares = 0
  for k = first, last do squares = squares + at(k) * at(k) end
  local base = 2 ^ 28
  local function product(x, y) -- as high * 2^28 + low; x, y < 2^53 and one of them below 2^25
    if x < y then x, y = y, x end
    local high, low = math.floor(x / base), x % base
    local carry = math.floor(low * y / base)
    return high * y + carry, low * y % base
  end
  local h1, l1 = product(squares, count)
  local t = math.abs(s)
  local th, tl = math.floor(t / 2 ^ 14), t % 2 ^ 14 -- t^2 in the same digits
  local middle = 2 * th * tl
  local low = middle % 2 ^ 14 * 2 ^ 14 + tl * tl
  local h2, l2 = th * th + math.floor(middle / 2 ^ 14) + math.floor(low / base), low % base
  return ((h1 - h2) * base + (l1 - l2)) / count -- both parts exact: one rounding where they meet
end

-- Sum of squared deviations: leaf by leaf around the leaf's mean, then merged pairwise. there: which floats are present
-- (nil: all); the others change no lane, and a leaf without any is left out.
local function spread(dtype, n, at, there)
  at = widened(at)
  local nodes, leaf, lanes = {}, M.leaf[dtype], M.lanes[dtype]
  for first = 1, n, leaf do
    local last, count = math.min(first + leaf - 1, n), 0
    for k = first, last do if not there or there[k] then count = count + 1 end end
    local function fold(term)
      local function own(k) return (not there or there[k]) and term(k) or NZ end
      return fold_leaf(own, first, last, lanes, NZ, add, add)
    end
    local s = fold(at)
    local m2 = exact_squares[dtype] and exact_m2(at, first, last, s, count)
      or fold(function(k) local d = at(k) - s / count; return d * d end)
    nodes[#nodes + 1] = { s, m2, count }
  end
  return fold_nodes(nodes, function(a, b)
    if a[3] == 0 or b[3] == 0 then return a[3] == 0 and b or a end
    local d = b[1] / b[3] - a[1] / a[3]
    return { a[1] + b[1], (a[2] + b[2]) + (d * d) * ((a[3] * b[3]) / (a[3] + b[3])), a[3] + b[3] }
  end)
end

function R.var(dtype, n, at, ddof, there)
  local state = n > 0 and spread(dtype, n, at, there)
  if not state or state[3] == 0 then return nan end
  return canonical(state[2] / (state[3] - (ddof or 0)))
end
function R.std(...) return canonical(math.sqrt(R.var(...))) end

-- e^x of 0 or less, or NaN, by the module's polynomial: x = k ln 2 + r, and 2^k in two factors.
local function exp_down(x)
  if x ~= x then return nan end
  if x < -745.2 then return 0.0 end
  local k = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0
  local high, low = x - k * 0.6931471804855391, k * 7.440617110012397e-11
  local r = high - low
  local p = 2.510038549551032e-08
  for _, c in ipairs { 2.7620088445409746e-07, 2.7557268459997064e-06, 2.4801521295954376e-05, 0.00019841269863053618,
    0.0013888888917213717, 0.008333333333330062, 0.04166666666662413, 0.16666666666666669, 0.5000000000000001 } do
    p = c + r * p
  end
  p = 1.0 + (high + (r * r * p - low))
  local half = floor(k / 2)
  return p * 2.0 ^ half * 2.0 ^ (k - half)
end

-- The natural logarithm of 0, of NaN, or of at least 1 / 2.
local function log_of(x)
  if x ~= x then return nan end
  if x == 0 then return -huge end
  local k = 0
  while x >= 1.4142135623730951 do x, k = x / 2, k + 1 end
  local f = x - 1.0
  local s = f / (2.0 + f)
  local z, r = s * s, 0.13088034850927555
  for _, c in ipairs { 0.13268638369266825, 0.15386244737621665, 0.18181795547521137, 0.22222222392581045,
    0.28571428570799784, 0.40000000000000885, 0.6666666666666666 } do
    r = c + z * r
  end
  return k * 0.6931471804855391 - ((s * (f - z * r) - k * 7.440617110012397e-11) - f)
end

function R.logsumexp(dtype, n, at)
  at = widened(at)
  local function merge(a, b) -- {largest, sum of e^(x - largest)}
    local d = a[1] == b[1] and 0.0 or b[1] - a[1]
    if d > 0 then return { b[1], a[2] * exp_down(-d) + b[2] } end
    return { a[1], b[2] * exp_down(d) + a[2] }
  end
  local state = tree(dtype, n, function(k) return { at(k), 1.0 } end, { -huge, 0.0 }, merge, merge) or { -huge, 0.0 }
  return canonical(state[1] + log_of(state[2]))
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

-- One row of rmsnorm: x, w (or nil) are functions; the results are rounded to the dtype.
function M.rmsnorm(dtype, n, x, w, eps)
  local squares = tree(dtype, n, function(k) return x(k) * x(k) end, NZ, add, add)
  local r = 1 / math.sqrt(squares / n + eps)
  local out = {}
  for k = 1, n do
    local y = x(k) * r
    if w then y = y * w(k) end
    out[k] = M.round[dtype](y)
  end
  return out
end

-- One row of softmax of f16, bf16 or f32, where e(k) is the f32 exponential of difference(k), which comes first.
function M.softmax_differences(n, x)
  local most, out = -huge, {}
  for k = 1, n do most = x(k) > most and x(k) or most end
  for k = 1, n do out[k] = f32(x(k) - most) end
  return out
end
function M.softmax(dtype, n, e)
  local r, out = f32(1 / tree(dtype, n, e, NZ, add, add)), {}
  for k = 1, n do out[k] = canonical(M.round[dtype](f32(e(k) * r))) end
  return out
end

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

-- ---- whole numbers that wrap ----

local bits = { u8 = 8, i8 = 8, u16 = 16, i16 = 16, u32 = 32, i32 = 32 }

-- A whole number as the dtype keeps it. i64: Lua's integers wrap by themselves. x + 0: integers have no -0.
function M.wrap(dtype, x)
  if dtype == "i64" then return x + 0 end
  local m = 2.0 ^ bits[dtype]
  x = x % m
  if M.lowest[dtype] < 0 and x >= m / 2 then x = x - m end
  return x + 0
end

-- In two halves, each exact in a double.
function M.wrapped_product(dtype, x, y)
  if dtype == "i64" then return x * y + 0 end
  local m = 2.0 ^ bits[dtype]
  x, y = x % m, y % m
  local low = y % 65536
  return M.wrap(dtype, (x * ((y - low) / 65536) % m) * 65536 + x * low)
end

return M
