-- Data for comparing operations with the model: chosen so that the model, which computes in doubles, stays exact
-- wherever the module computes in 64-bit integers.
local model = require "spec.model"

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

return D
