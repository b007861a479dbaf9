-- Axes with round ticks: where they begin and end, where ticks go and what they say.
local axis = {}

local floor, ceil, abs, max = math.floor, math.ceil, math.abs, math.max
local function log10(x) return math.log(x) / math.log(10) end

-- The round step (1, 2 or 5 times a power of ten) nearest above `least`.
local function round_step(least)
  local power = 10.0 ^ floor(log10(least) + 1e-9)
  for _, m in ipairs { 1, 2, 5 } do
    if m * power >= least * (1 - 1e-9) then return m * power end
  end
  return 10 * power
end

--- An axis in even steps from low to high, about `wanted` of them:
-- { first, last, ticks = { { at, text } }, scale = value -> 0..1, factor = exponent taken out of the texts, or 0 }.
-- tight: begin and end exactly at low and high.
function axis.linear(low, high, wanted, tight)
  if low == high then low, high = low - (abs(low) + 1) / 2, high + (abs(high) + 1) / 2 end
  local step = round_step((high - low) / wanted)
  local k, last_k = floor(low / step + 1e-9), ceil(high / step - 1e-9)
  if tight then k, last_k = ceil(low / step - 1e-9), floor(high / step + 1e-9) end
  local a = { first = tight and low or k * step, last = tight and high or last_k * step, ticks = {}, minor = {} }
  -- One power of ten in the axis' name rather than long numbers at every tick.
  local largest = max(abs(a.first), abs(a.last))
  local exponent = floor(log10(largest) + 1e-9)
  a.factor = (exponent >= 5 or exponent <= -4) and exponent - exponent % 3 or 0
  local unit = 10.0 ^ a.factor
  local decimals = max(0, 0 - floor(log10(step / unit) + 1e-9))
  while k <= last_k do
    local text = ("%." .. decimals .. "f"):format(k * step / unit)
    a.ticks[#a.ticks + 1] = { k * step, k == 0 and "0" or text }
    k = k + 1
  end
  function a.scale(value) return (value - a.first) / (a.last - a.first) end
  return a
end

-- A power as a text with its exponent marked: { "10", "6" }; plain where it is short.
local function power_text(base, exponent)
  if base == 10 and exponent >= -2 and exponent <= 3 then
    return ("%." .. max(0, 0 - exponent) .. "f"):format(10.0 ^ exponent)
  end
  return { ("%d"):format(base), ("%d"):format(exponent) }
end

-- The largest of 1, 2, 5 times a power of ten that is not above x (side -1) or the smallest not below (side 1).
local function round_bound(x, side)
  local power = 10.0 ^ floor(log10(x) + 1e-9)
  local best
  for _, m in ipairs { 1, 2, 5, 10 } do
    local bound = m * power
    if side < 0 and bound <= x * (1 + 1e-9) then best = bound end
    if side > 0 and not best and bound >= x * (1 - 1e-9) then best = bound end
  end
  return best
end

--- The same with even ratios: base 10 or 2; low and high above 0.
function axis.log(low, high, wanted, base, tight)
  local ln = math.log(base)
  if low == high then low, high = low / base, high * base end
  local a = { first = low, last = high, ticks = {}, minor = {}, factor = 0 }
  if not tight and base == 10 then a.first, a.last = round_bound(low, -1), round_bound(high, 1) end
  if not tight and base ~= 10 then
    a.first, a.last = base ^ floor(math.log(low) / ln + 1e-9), base ^ ceil(math.log(high) / ln - 1e-9)
  end
  local from, to = ceil(math.log(a.first) / ln - 1e-9), floor(math.log(a.last) / ln + 1e-9)
  local each = max(1, ceil((to - from + 1) / (wanted + 1)))
  local fine = base == 10 and to - from < 2 -- few decades: 2 and 5 have ticks too
  for k = from - 1, to + 1 do
    for m = 1, base - 1 do
      local at = m * base ^ k
      if at >= a.first * (1 - 1e-9) and at <= a.last * (1 + 1e-9) then
        if m == 1 and k % each == 0 then a.ticks[#a.ticks + 1] = { at, power_text(base, k) }
        elseif fine and (m == 2 or m == 5) then a.ticks[#a.ticks + 1] = { at, ("%.6g"):format(at) }
        elseif each == 1 or m == 1 then a.minor[#a.minor + 1] = at end
      end
    end
  end
  local span = math.log(a.last / a.first)
  function a.scale(value) return math.log(value / a.first) / span end
  return a
end

return axis
