-- Accumulators from bytes that nobody gave, and sums beyond any: refused, with what they held kept.
local S = require "spec.support"
local gr = S.gr

describe("an accumulator", function()
  local good = gr.accumulator():add(gr.array({ 1, -2, 0.5 }, "f64")):bytes()

  it("takes no bytes of a sum that no array has", function()
    local tops = { ("\255"):rep(7) .. "\127", ("\0"):rep(7) .. "\128", "\0\0\0\128\0\0\0\0",
      "\255\255\255\127\255\255\255\255" }
    for _, top in ipairs(tops) do
      assert.equal("bad argument #1 to 'accumulator' (the sum is larger than any of 2^63 products)",
        S.message(gr.accumulator, good:sub(1, 560) .. top))
    end
    for _, top in ipairs { "\255\255\255\127\0\0\0\0", "\0\0\0\128\255\255\255\255" } do
      local s = gr.accumulator(good:sub(1, 560) .. top)
      assert.equal(math.huge, math.abs(s:value()))
      assert.equal(good:sub(1, 560) .. top, s:bytes())
    end
  end)

  it("may be doubled until it holds no more, and then stays", function()
    for _, sign in ipairs { 1, -1 } do
      local big = gr.array({ sign * 1.7e308 }, "f64")
      local s = gr.accumulator():add_dot(big, gr.array({ 1.7e308 }, "f64"))
      local times, before, message = 0
      repeat
        before = s:bytes()
        message = S.message(s.merge, s, s)
        times = times + 1
      until message or times == 1000
      assert.equal("bad argument #2 to 'merge' (the sum would be larger than any of 2^63 products)", message)
      assert.is_true(times > 150 and times < 250)
      assert.equal(before, s:bytes())
      assert.equal(sign * math.huge, s:value())
      assert.equal(before, s:merge(gr.accumulator()):bytes())
    end
  end)

  it("of any bytes gives a number, and bytes that give the same", function()
    local g = S.model.generator(7)
    for _ = 1, 300 do
      local bytes = {}
      for k = 1, 568 do bytes[k] = string.char(g() % 256) end
      local text = "GRX\1" .. string.char(g() % 32) .. ("\0"):rep(7) .. table.concat(bytes, "", 13, 560)
        .. (g() % 2 == 0 and ("\0"):rep(8) or ("\255"):rep(8))
      local s = gr.accumulator(text)
      S.same(s:value(), gr.accumulator(s:bytes()):value())
      S.same(s:value { out = "f32" }, gr.accumulator(s:bytes()):value { out = "f32" })
    end
  end)
end)
