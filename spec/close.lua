-- What is close to what, in plain Lua: the model of gr.allclose, gr.isclose and gr.differ.
local close = {}

local integers = math.type ~= nil

-- |x - y|, of integers as integers where that does not wrap.
local function distance(x, y)
  local float = math.abs((x + 0.0) - (y + 0.0))
  if integers and math.type(x) == "integer" and math.type(y) == "integer" and float < 2 ^ 62 then
    return math.abs(x - y) + 0.0
  end
  return float
end

--- Whether two numbers are close: NumPy's isclose.
function close.is_close(x, y, rtol, atol, nan_equal)
  if x ~= x or y ~= y then return nan_equal == true and x ~= x and y ~= y end
  if x == y then return true end
  if math.abs(y) == math.huge then return false end
  return distance(x, y) <= atol + rtol * math.abs(y + 0.0)
end

--- The first position of two lists where that does not hold, or nil, and the mask of where it does.
function close.compare(xs, ys, rtol, atol, nan_equal)
  local mask, first = {}, nil
  for k = 1, #xs do
    mask[k] = close.is_close(xs[k], ys[k], rtol, atol, nan_equal) and 1 or 0
    if mask[k] == 0 then first = first or k end
  end
  return first, mask
end

return close
