-- Comparisons, choices by a mask, and the reductions that compare, against plain Lua.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local nan, huge = model.nan, math.huge
local each, data, number_of = D.each, D.odd, D.number_of

local relations = {
  ["<"] = function(x, y) return x < y end, ["<="] = function(x, y) return x <= y end,
  ["=="] = function(x, y) return x == y end, ["~="] = function(x, y) return x ~= y end,
  [">="] = function(x, y) return x >= y end, [">"] = function(x, y) return x > y end,
}

describe("compare and where of", function()
  for _, dtype in ipairs(model.dtypes) do
    it(dtype, function()
      for _, n in ipairs { 0, 1, 33, 1100 } do
        local s, t = data(dtype, n, n + 5), data(dtype, n, n + 6)
        local c = number_of(dtype)
        local a, b = gr.array(s, dtype), gr.array(t, dtype)
        for op, holds in pairs(relations) do
          local mask, count = a:compare(op, b), 0
          assert.equal("u8", mask.dtype)
          S.same_all(each(n, function(k) return holds(s[k], t[k]) and 1 or 0 end), mask, dtype, op)
          S.same_all(each(n, function(k) return holds(s[k], c) and 1 or 0 end), a:compare(op, c), dtype, op, "number")
          for k = 1, n do if holds(s[k], c) then count = count + 1 end end
          assert.equal(count, a:count { op = op, value = c })
          assert.equal(count > 0, a:any { op = op, value = c })
          assert.equal(count == n, a:all { op = op, value = c })
          S.same_all(each(n, function(k) if holds(s[k], t[k]) then return s[k] end return t[k] end),
            gr.where(mask, a, b), dtype, op, "where")
        end
      end
    end)
  end

  it("views", function()
    for _, dtype in ipairs { "u8", "bf16", "i32", "f64" } do
      local n = 67
      local s, t, m = data(dtype, n, 3), data(dtype, n, 4), {}
      for k = 1, n do m[k] = k * k % 3 end
      local b = gr.array(t, dtype)
      for _, view in ipairs(S.views(s, dtype, 1)) do
        S.same_all(each(n, function(k) return s[k] < t[k] and 1 or 0 end), view[2]:compare("<", b), dtype, view[1])
        for _, mask in ipairs(S.views(m, "u8", 1)) do
          local where = gr.where(mask[2], view[2], b)
          S.same_all(each(n, function(k) if m[k] ~= 0 then return s[k] end return t[k] end), where, view[1], mask[1])
        end
        local into = gr.zeros(2 * n, "u8"):slice(2, 2 * n, 2)
        view[2]:compare(">", b, { into = into })
        S.same_all(each(n, function(k) return s[k] > t[k] and 1 or 0 end), into, dtype, view[1], "into")
      end
    end
  end)

  it("numbers", function()
    local mask, a = gr.array({ 1, 0, 255 }, "u8"), gr.array({ 1, 2, 3 }, "i32")
    S.same_all({ 1, 0, 3 }, gr.where(mask, a, 0))
    S.same_all({ -1, 2, -1 }, mask:where(-1, a))
    local flat = gr.where(mask, 1, -0.5)
    assert.equal("f32", flat.dtype)
    S.same_all({ 1, -0.5, 1 }, flat)
    S.same_all({ 7, 9, 7 }, gr.where(mask, 7, 9, { into = a }))
    S.same_all({ 7, 9, 7 }, a)
  end)

  it("integers with any number: fractions, infinities, NaN, what no element can be", function()
    for _, dtype in ipairs { "u8", "i8", "i16", "u32", "i32", "i64" } do
      local lows = { u8 = 0, u32 = 0, i8 = -128, i16 = -32768, i32 = -2 ^ 31, i64 = -2 ^ 53 }
      local highs = { u8 = 255, u32 = 2 ^ 32 - 1, i8 = 127, i16 = 32767, i32 = 2 ^ 31 - 1, i64 = 2 ^ 53 }
      local low, high = lows[dtype], highs[dtype]
      local t = { low, low + 1, 0, 1, 2, high - 1, high }
      local a = gr.array(t, dtype)
      for _, x in ipairs { low - 1, low - 0.5, low + 0.5, -0.5, 0.5, 1, 1.5, high - 0.5, high + 0.5, high + 1, 1e300,
        -1e300, huge, -huge, nan, 2 ^ 63, -2 ^ 63, 2 ^ 64 } do
        for op, holds in pairs(relations) do
          local mask, count = each(#t, function(k) return holds(t[k], x) and 1 or 0 end), 0
          for k = 1, #t do count = count + mask[k] end
          S.same_all(mask, a:compare(op, x), dtype, op, x)
          S.same(count, a:count { op = op, value = x } + 0, dtype, op, x, "count")
          S.same(count > 0, a:any { op = op, value = x }, dtype, op, x, "any")
          S.same(count == #t, a:all { op = op, value = x }, dtype, op, x, "all")
        end
      end
    end
    assert.equal(2, gr.array({ 2, 255 }, "u8"):count { op = "<", value = 256 })
    S.same_all({ 1, 1 }, gr.array({ 3, 0, 0, 9 }, "u8"):count { op = ">", value = 0.5, rows = 2 })
    if S.integers then
      local ends = gr.array({ math.mininteger, math.maxinteger }, "i64")
      S.same_all({ 0, 1 }, ends:compare(">=", math.maxinteger))
      S.same_all({ 1, 1 }, ends:compare("<", 2.0 ^ 63))
      S.same_all({ 1, 0 }, ends:compare("<=", -2.0 ^ 63))
    end
  end)

  it("floats with numbers beyond their largest", function()
    local t = { -huge, -1, 0, 1, huge, nan }
    for _, row in ipairs { { "f16", 65520 }, { "f16", 1e300 }, { "bf16", 3.4e38 }, { "f32", 1e39 } } do
      local a = gr.array(t, row[1])
      for op, holds in pairs(relations) do
        for _, x in ipairs { row[2], -row[2] } do
          S.same_all(each(#t, function(k) return holds(t[k], x) and 1 or 0 end), a:compare(op, x), row[1], op, x)
        end
      end
    end
  end)

  it("rows", function()
    local a = gr.array { 1, 5, 2, 7, 0, 3 }
    S.same_all({ 1, 2 }, a:count { op = ">", value = 2, rows = 2 })
    S.same_all({ 1, 1, 1 }, a:count { op = ">", value = 2, rows = 2, axis = 1 })
    S.same_all({ 0, 0, 1 }, a:all { op = "<=", value = 3, rows = 3 })
    S.same_all({ 0, 1, 0 }, a:any { op = ">", value = 6, rows = 3 })
    local into = gr.zeros(2, "i64")
    assert.equal(into, a:count { op = "==", value = 5, rows = 2, into = into })
    S.same_all({ 1, 0 }, into)
    S.same_all({ 2, 1 }, a:count { op = ">=", value = 2, segments = { 1, 4, 5 } })
    assert.equal(2, gr.reduce(a, "count", { op = "<", value = 2 }))
  end)
end)
