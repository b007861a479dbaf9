-- Axes with round ticks: where they begin and end, where ticks go and what they say. Everything here is bounded, and
-- right for any finite numbers, those at the ends of f64 too.
--
-- An axis: { ticks = { { share, text }, ... }, minor = { share, ... }, scale = value -> share, factor, offset }
-- with shares of the axis' length from 0 to 1; texts are of (value - offset) / 10^factor; offset is a text or nil.
local _, parts = ...

local axis = {}

local floor, ceil, abs, max, min, log = math.floor, math.ceil, math.abs, math.max, math.min, math.log
local function log10(x) return log(x) / log(10) end

local MOST = 100 -- ticks

-- The least round step (1, 2 or 5 times a power of ten) that is not below `least`.
local function round_step(least)
  local power = 10.0 ^ floor(log10(least) + 1e-9)
  for _, m in ipairs { 1, 2, 5 } do
    if m * power >= least * (1 - 1e-9) then return m * power end
  end
  return 10 * power
end

-- What ticks leave out when they would need more than seven digits to differ: a number near all of them.
local function offset_of(low, high)
  local largest, span = max(abs(low), abs(high)), high - low
  if span >= largest * 1e-6 then return 0 end
  local power = 10.0 ^ ceil(log10(span) - 1e-9)
  return floor(low / power) * power
end

--- An axis in even steps from low to high, about `wanted` of them. tight: begin and end exactly there.
function axis.linear(low, high, wanted, tight)
  -- Steps between the largest numbers overflow, and between the least ones vanish: these are scaled towards 1 first.
  local largest = max(abs(low), abs(high))
  local shift = largest > 1e290 and -200 or largest > 0 and largest < 1e-290 and 200 or 0
  local by = 10.0 ^ shift
  low, high = low * by, high * by
  if low == high then
    local side = low == 0 and 1 or abs(low) / 2
    low, high = low - side, high + side
  end
  local offset = offset_of(low, high)
  low, high = low - offset, high - offset
  local step = round_step((high - low) / wanted)
  local k, last_k = floor(low / step + 1e-9), ceil(high / step - 1e-9)
  if tight then k, last_k = ceil(low / step - 1e-9), floor(high / step + 1e-9) end
  if tight and last_k - k < min(wanted, 2) then -- fewer than wanted lie inside: the next smaller step has more
    step = round_step(step / 2.5)
    k, last_k = ceil(low / step - 1e-9), floor(high / step + 1e-9)
  end
  local first, last = tight and low or k * step, tight and high or last_k * step
  local a = { ticks = {}, minor = {} }
  if offset ~= 0 then
    local real = offset / by
    a.offset = abs(real) < 1e15 and real == floor(real) and string.format("%d", real) or parts.text.shortest(real)
  end
  -- One power of ten in the axis' name rather than long numbers at every tick.
  local exponent = floor(log10(max(abs(first), abs(last))) + 1e-9) - shift
  a.factor = (exponent >= 5 or exponent <= -4) and exponent - exponent % 3 or 0
  local unit = 10.0 ^ (a.factor + shift)
  local format = string.format("%%.%df", min(17, max(0, 0 - floor(log10(step / unit) + 1e-9))))
  for i = 0, min(last_k - k, MOST) do
    local at = (k + i) * step
    a.ticks[#a.ticks + 1] = { (at - first) / (last - first), at == 0 and "0" or parts.text.format(format, at / unit) }
  end
  function a.scale(value) return (value * by - offset - first) / (last - first) end
  return a
end

--- The same axis with ticks at whole numbers alone: those of rows and columns. low, high: its ends.
function axis.whole(a, low, high)
  if a.factor ~= 0 or a.offset then return a end
  local ticks = {}
  for _, tick in ipairs(a.ticks) do
    local value = low + (high - low) * tick[1]
    local nearest = floor(value + 0.5)
    if abs(value - nearest) < 1e-6 * max(1, abs(value)) then
      ticks[#ticks + 1] = { tick[1], string.format("%d", nearest) }
    end
  end
  return { ticks = ticks, minor = a.minor, factor = 0, scale = a.scale }
end

--- The same axis from its other end.
function axis.turned(a)
  local ticks, minor, scale = {}, {}, a.scale
  for k, tick in ipairs(a.ticks) do ticks[#a.ticks + 1 - k] = { 1 - tick[1], tick[2] } end
  for k, share in ipairs(a.minor) do minor[k] = 1 - share end
  return { ticks = ticks, minor = minor, factor = a.factor, offset = a.offset,
    scale = function(value) return 1 - scale(value) end }
end

-- A power as a text with its exponent marked: { "10", "6" }; plain where it is short.
local function power_text(base, exponent)
  if base == 10 and exponent >= -2 and exponent <= 3 then
    return parts.text.format(string.format("%%.%df", max(0, 0 - exponent)), 10.0 ^ exponent)
  end
  return { string.format("%d", base), string.format("%d", exponent) }
end

-- The logarithm of the largest of 1, 2, 5 times a power of ten that is not above x (side -1), or of the smallest not
-- below (side 1), from that of x.
local function round_bound(ln_x, side)
  local l = ln_x / log(10)
  local e = floor(l + 1e-9)
  local best
  for _, m in ipairs { 1, 2, 5, 10 } do
    local bound = e + log10(m)
    if side < 0 and bound <= l + 1e-9 then best = bound end
    if side > 0 and not best and bound >= l - 1e-9 then best = bound end
  end
  return best * log(10)
end

--- The same with even ratios: base 10 or 2; low and high above 0. It computes with logarithms, which never overflow.
function axis.log(low, high, wanted, base, tight)
  local ln, first, last = log(base), log(low), log(high)
  if last - first < 1e-6 then first, last, tight = first - ln, last + ln, false end
  if not tight and base == 10 then first, last = round_bound(first, -1), round_bound(last, 1) end
  if not tight and base ~= 10 then first, last = floor(first / ln + 1e-9) * ln, ceil(last / ln - 1e-9) * ln end
  local a = { ticks = {}, minor = {}, factor = 0 }
  function a.scale(value) return (log(value) - first) / (last - first) end
  local from, to = ceil(first / ln - 1e-9), floor(last / ln + 1e-9)
  local each = max(1, ceil((to - from + 1) / (wanted + 1)))
  if each > 4 then each = round_step(each) end
  local fine = base == 10 and to - from < 2 -- few decades: 2 and 5 have ticks too
  for k = from - 1, to + 1 do
    for m = 1, base - 1 do
      local at = k * ln + log(m)
      if at >= first - 1e-9 and at <= last + 1e-9 then
        local share = (at - first) / (last - first)
        if m == 1 and k % each == 0 then a.ticks[#a.ticks + 1] = { share, power_text(base, k) }
        elseif fine and (m == 2 or m == 5) then
          local plain = k >= -3 and k <= 3
          a.ticks[#a.ticks + 1] = { share, plain and parts.text.format("%.6g", m * 10.0 ^ k)
            or { string.format("%d\194\18310", m), string.format("%d", k) } }
        elseif each == 1 or (m == 1 and each <= 5) then a.minor[#a.minor + 1] = share end
      end
    end
  end
  if #a.ticks < 2 and low < high then -- less than a decade between given limits: round numbers, where they lie
    local even = axis.linear(low, high, wanted, true)
    a.ticks, a.factor, a.offset = even.ticks, even.factor, even.offset
    for _, tick in ipairs(a.ticks) do tick[1] = a.scale(low + (high - low) * tick[1]) end
  end
  return a
end

return axis
