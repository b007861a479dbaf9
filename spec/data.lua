-- Data for comparing operations with the model: chosen so that the model, which computes in doubles, stays exact
-- wherever the module computes in 64-bit integers.
local S = require "spec.support"
local model = S.model
local nan, huge, NZ = model.nan, math.huge, model.minus_zero

local D = {}

-- Full range, wild exponents.
function D.wide(dtype, n, seed) return model.data(dtype, n, seed, model.is_float[dtype]) end

-- Integers small enough for exact dot products; floats as in wide.
function D.medium(dtype, n, seed)
  local t = D.wide(dtype, n, seed)
  if not model.is_float[dtype] then
    for k = 1, n do
      local v = t[k] % 524288
      if model.lowest[dtype] < 0 then v = v - 262144 end
      if v < model.lowest[dtype] or v > (model.highest[dtype]) then v = t[k] end
      t[k] = v
    end
  end
  return t
end

-- Factors whose product neither vanishes nor wraps: floats near 1; integers 1, some -1, at most 40 times 2.
function D.factors(dtype, n, seed)
  local g, t, twos = model.generator(seed), {}, 0
  for k = 1, n do
    local r = g()
    if model.is_float[dtype] then
      t[k] = (1 + (r % 16 - 8) / 64) * (r % 3 == 0 and -1 or 1)
    else
      t[k] = 1
      if r % 5 == 0 and twos < 40 then
        t[k], twos = 2, twos + 1
      elseif r % 3 == 0 and model.lowest[dtype] < 0 then
        t[k] = -1
      end
    end
  end
  return t
end

-- Many zeros of both signs.
function D.sparse(dtype, n, seed)
  local g, t = model.generator(seed), D.wide(dtype, n, seed)
  for k = 1, n do
    local r = g() % 4
    if r == 0 then t[k] = 0 elseif r == 1 and model.is_float[dtype] then t[k] = model.minus_zero end
  end
  return t
end

-- numpy.linspace(first, last, bins + 1)
function D.even_edges(first, last, bins)
  local step, edges = (last - first) / bins, {}
  for k = 0, bins - 1 do edges[k + 1] = k * step + first end
  edges[bins + 1] = last
  return edges
end

local tiniest = { f16 = 2.0 ^ -24, bf16 = 2.0 ^ -133, f32 = 2.0 ^ -149, f64 = 2.0 ^ -1074 }
local largest = { f16 = 65504, bf16 = 255 * 2.0 ^ 120, f32 = (2 - 2.0 ^ -23) * 2.0 ^ 127,
  f64 = (2 - 2.0 ^ -52) * 2.0 ^ 1023 }

-- The list of f(1) to f(n).
function D.each(n, f)
  local t = {}
  for k = 1, n do t[k] = f(k) end
  return t
end

-- Ordinary numbers with the dtype's oddities among them.
function D.odd(dtype, n, seed)
  local t, g = D.wide(dtype, n, seed), model.generator(seed + 9)
  local odd
  if model.is_float[dtype] then
    local tiny, large = tiniest[dtype], largest[dtype]
    odd = { 0, NZ, 1, -1, tiny, -tiny, 3 * tiny, 1000 * tiny, large, -large, huge, -huge, nan, large / 3, 1 / 3, 2049 }
    for k = 1, #odd do odd[k] = model.round[dtype](odd[k]) end
  elseif dtype == "i64" and not S.integers then
    t = D.medium(dtype, n, seed) -- no 64-bit arithmetic to compare with
    odd = { 0, 1, -1, 3 }
  else
    odd = { 0, 1, model.lowest[dtype], model.highest[dtype], model.lowest[dtype] + 1, 3, 7 }
  end
  for k = 1, n do
    local r = g()
    if r % 3 == 0 then t[k] = odd[(r - r % 3) / 3 % #odd + 1] end
  end
  return model.is_float[dtype] and t or S.whole(t)
end

-- A number that the dtype has, and that is not special.
function D.number_of(dtype) return model.is_float[dtype] and model.round[dtype](-2.7) or 5 end

return D
