-- What reductions, scans and histograms give of what is present: computed from the elements that are, at their places
-- in the tree, by the model alone.
local S = require "spec.support"
local model = S.model
local R, nan, huge = model.reduce, model.nan, math.huge

local M = {}

-- there[k]: whether element k is present. skipnan, mask: a table, or nil.
function M.there(n, t, skipnan, mask, u)
  local there = {}
  for k = 1, n do
    local x, y = t[k], u and u[k] or 0
    there[k] = not (skipnan and (x ~= x or y ~= y)) and not (mask and mask[k] == 0)
  end
  return there
end

function M.count(there)
  local count = 0
  for k = 1, #there do if there[k] then count = count + 1 end end
  return count
end

local function filled(t, there, x) return function(k) if there[k] then return t[k] end return x end end

-- The present elements one after the other, and where each was.
local function rest(t, there)
  local list, places = {}, {}
  for k = 1, #there do
    if there[k] then list[#list + 1], places[#places + 1] = t[k], k end
  end
  return #list, function(k) return list[k] end, places
end
M.rest = rest

local function mean(dtype, t, there)
  local count = M.count(there)
  if count == 0 then return nan end
  return R.sum(dtype, #there, filled(t, there, 0)) / count
end

-- A whole number next to x; of two the even one.
local function nearest(x)
  if x - x ~= 0 then return 0 end
  local r = math.floor(x + 0.5)
  return r == x + 0.5 and r % 2 == 1 and r - 1 or r
end

local function variance(dtype, t, there, ddof)
  local n, present = #there, M.count(there)
  if model.is_float[dtype] then return R.var(dtype, n, function(k) return t[k] end, ddof, there) end
  if present == 0 then return nan end
  local m = mean(dtype, t, there)
  local center = nearest(m)
  local squares = R.var(dtype, n, filled(t, there, center), n - 1) -- divided by 1
  if present < n then
    local d = m - center * 1.0
    squares = squares - present * ((n - present) / (present + (n - present) * 1.0)) * (d * d)
  end
  if squares < 0 then squares = 0 end
  return squares / (present - (ddof or 0))
end

local F = {}
M.reduce = F -- name(dtype, t, there, option, u)

function F.sum(dtype, t, there, accumulate)
  if M.count(there) == 0 then return model.is_float[dtype] and 0.0 or 0 end
  return R.sum(dtype, #there, filled(t, there, 0), accumulate)
end
function F.prod(dtype, t, there)
  return R.prod(dtype, #there, filled(t, there, model.is_float[dtype] and 1.0 or 1))
end
function F.mean(dtype, t, there) return mean(dtype, t, there) end
function F.var(dtype, t, there, ddof) return variance(dtype, t, there, ddof) end
function F.std(dtype, t, there, ddof) return math.sqrt(variance(dtype, t, there, ddof)) end
function F.norm1(dtype, t, there) return R.norm1(dtype, #there, filled(t, there, 0)) end
function F.norm2(dtype, t, there) return R.norm2(dtype, #there, filled(t, there, 0)) end
function F.norminf(dtype, t, there) return R.norminf(dtype, #there, filled(t, there, 0)) end
function F.logsumexp(dtype, t, there)
  return R.logsumexp(model.is_float[dtype] and dtype or "f64", #there, filled(t, there, -huge))
end
for _, name in ipairs { "min", "max", "minmax", "count", "any", "all" } do
  F[name] = function(dtype, t, there)
    local n, at = rest(t, there)
    return R[name](dtype, n, at)
  end
end
for _, name in ipairs { "argmin", "argmax" } do
  F[name] = function(dtype, t, there)
    local n, at, places = rest(t, there)
    return places[R[name](dtype, n, at)]
  end
end
function F.dot(dtype, t, there, accumulate, u)
  if M.count(there) == 0 then return model.is_float[dtype] and 0.0 or 0 end
  return R.dot(dtype, #there, filled(t, there, 0), filled(u, there, 0), accumulate)
end
function F.mse(dtype, t, there, _, u)
  if M.count(there) == 0 then return nan end
  return R.mse(dtype, #there, filled(t, there, 0), filled(u, there, 0), 1) / M.count(there)
end
function F.cosine(dtype, t, there, _, u)
  if M.count(there) == 0 then return nan end
  return R.cosine(dtype, #there, filled(t, there, 0), filled(u, there, 0))
end

return M
