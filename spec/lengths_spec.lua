-- Tables that claim a length without having the elements. From Lua 5.3 on # finds any border, up to the greatest
-- integer, where a script has put a value at each place that the search looks at; before that, lengths have 31 bits.
local S = require "spec.support"
local gr = S.gr

-- A table with values at 1 to 64 and of length n. // is no Lua before 5.3.
local claims = S.integers and S.load_in([[
  local n, value = ...
  local first, places = {}, {}
  for k = 1, 64 do first[k] = value end
  for _, from in ipairs { 64, 65 } do -- where the search of 5.4 begins, and that of 5.3
    local low, high = from, from
    while high <= n do
      places[#places + 1] = high
      low, high = high, high * 2
    end
    while high - low > 1 do
      local between = low + (high - low) // 2
      if between <= n then places[#places + 1], low = between, between else high = between end
    end
  end
  local t = { table.unpack(first) }
  for _, k in ipairs(places) do
    if k > 128 then t[k] = value end
  end
  for k = 1, 80 do t["room" .. k] = true end -- so that the last two do not move the others
  for k = 1, 80 do t["room" .. k] = nil end
  t[65], t[128] = value, value
  assert(#t == n, #t)
  return t
]], _G)

describe("tables that claim a length", function()
  local a = gr.ones(100)

  if S.integers then
    local function text(name, arg, n)
      return ("bad argument #%d to '%s' (table of at most 1073741824 elements expected, got %d)"):format(arg, name, n)
    end

    it("beyond 64 bits of bytes raise: shares of quantile", function()
      for _, p in ipairs { 31, 58, 60, 61 } do
        local n = math.tointeger(2 ^ p)
        assert.equal(text("quantile", 2, n), S.message(gr.quantile, a, claims(n, 0.5)))
      end
    end)

    it("beyond 64 bits of elements raise: rows of array", function()
      local n = math.tointeger(2 ^ 61) + 1
      assert.equal(text("array", 1, n), S.message(gr.array, claims(n, { 1, 2, 3, 4, 5, 6, 7, 8 })))
      assert.equal(text("array", 1, n), S.message(gr.array, { claims(n, 1), { 1 } }))
      assert.equal(text("array", 1, n), S.message(gr.array, claims(n, 1)))
    end)

    it("beyond an int raise: items of many, their arguments, shapes", function()
      for _, n in ipairs { 2 ^ 31 - 1, 2 ^ 31, 2 ^ 32 - 1, 2 ^ 32, 2 ^ 32 + 2, 2 ^ 61 } do
        n = math.tointeger(n)
        local items, item = claims(n, { "sum", a }), claims(n, a)
        item[1] = "sum"
        assert.equal(text("many", 1, n), S.message(gr.many, items))
        assert.equal(text("many", 1, n), S.message(gr.many, items, { async = true }))
        assert.equal(text("async", 1, n), S.message(gr.async, gr.many, items))
        assert.equal(text("many", 1, n), S.message(gr.many, { item }))
        assert.equal(text("save", 3, n), S.message(gr.save, gr.ones(1), "/nonexistent/x.npy", { shape = claims(n, 1) }))
      end
    end)

    it("raise in options: edges and segments", function()
      local n = math.tointeger(2 ^ 61)
      assert.equal(text("histogram", 2, n), S.message(gr.histogram, a, { edges = claims(n, 1) }))
      assert.equal(text("sum", 2, n), S.message(gr.sum, a, { segments = claims(n, 1) }))
    end)
  end

  it("are as long as they are else", function()
    assert.equal("stack overflow (too many arguments)", S.message(gr.many, { (function()
      local item = { "sum" }
      for k = 2, 1100000 do item[k] = a end
      return item
    end)() }))
    assert.equal("gr.many: item 1: bad argument #2 to 'sum' (options table expected, got gpureduce.array)",
      S.message(gr.many, { { "sum", a, a, a } }))
  end)
end)
