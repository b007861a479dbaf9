-- Casts from every dtype to every other, against plain Lua.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local huge = math.huge
local each, data = D.each, D.odd

-- The number the dtype has for x: floats to nearest even, integers the whole part, no further than they reach.
local function cast(x, dtype)
  if model.is_float[dtype] then return model.round[dtype](S.is_integer(x) and x + 0.0 or x) end
  if x ~= x then return 0 end
  if x <= model.lowest[dtype] then return model.lowest[dtype] end
  if x >= model.highest[dtype] then return model.highest[dtype] end
  return (x < 0 and math.ceil(x) or math.floor(x)) + 0
end

-- An integer of 64 bits rounded once to p binary digits, as a float.
local function rounded(x, p)
  if x == math.mininteger then return -2.0 ^ 63 end
  local m, unit = math.abs(x), 1
  while (m - m % unit) / unit >= 2.0 ^ p do unit = unit * 2 end
  local rest = m % unit
  local q = (m - rest) / unit -- exact: at most 53 digits
  if rest * 2 > unit or (rest * 2 == unit and q % 2 == 1) then q = q + 1 end
  return (x < 0 and -1.0 or 1.0) * q * unit
end

describe("cast", function()
  for _, from in ipairs(model.dtypes) do
    it("from " .. from, function()
      local n = 130
      local t = data(from, n, 21)
      if from == "i64" then
        for k = 1, n do t[k] = k % 3 == 0 and t[k] or S.whole({ k * 1000003 - 65000000 })[1] end
        for k = 1, n do if t[k] > 2 ^ 53 or t[k] < -2 ^ 53 then t[k] = k end end -- those are below
      end
      for _, to in ipairs(model.dtypes) do
        local got = gr.array(t, from):cast(to)
        S.same(to, got.dtype)
        S.same_all(each(n, function(k) return cast(t[k], to) end), got, from, to)
      end
      for _, view in ipairs(S.views(t, from, 1)) do
        for _, to in ipairs { "u8", "f16", "f64" } do
          S.same_all(each(n, function(k) return cast(t[k], to) end), view[2]:cast(to), from, to, view[1])
          local into = gr.zeros(3 * n, to):slice(3 * n, 1, -3)
          view[2]:cast(to, { into = into })
          S.same_all(each(n, function(k) return cast(t[k], to) end), into, from, to, "into")
        end
      end
    end)
  end

  it("rounds i64 once", function()
    if not S.integers then return end
    local t = {}
    for _, base in ipairs(S.whole { 2.0 ^ 62, 2.0 ^ 61, 2.0 ^ 54, 3 * 2.0 ^ 60, 2.0 ^ 40, 2.0 ^ 24 }) do
      for _, bit in ipairs(S.whole { 2.0 ^ 53, 2.0 ^ 54, 2.0 ^ 37, 2.0 ^ 38, 512, 65536, 0 }) do
        for d = -1, 1 do
          t[#t + 1] = base + bit + d
          t[#t + 1] = -(base + bit + d)
        end
      end
    end
    t[#t + 1] = math.mininteger
    t[#t + 1] = math.maxinteger
    local a = gr.array(t, "i64")
    for dtype, digits in pairs { f64 = 53, f32 = 24, bf16 = 8 } do
      S.same_all(each(#t, function(k) return rounded(t[k], digits) end), a:cast(dtype), dtype)
    end
    S.same_all(each(#t, function(k) return t[k] < 0 and -huge or huge end), a:cast "f16", "f16")
    for _, dtype in ipairs { "u8", "i32", "u32" } do
      S.same_all(each(#t, function(k) return cast(t[k], dtype) end), a:cast(dtype), dtype)
    end
  end)
end)
