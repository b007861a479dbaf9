-- Powers by one number, which go by products, a quotient or a root, beside powers that do not.
local S = require "spec.support"
local gr, model = S.gr, S.model
local huge, nan, NZ = math.huge, model.nan, model.minus_zero

describe("powers by a number", function()
  local x = { 0, NZ, 1, -1, 2, -3.5, 1e-3, 300, 65504, huge, -huge, nan, 0.1, -0.7 }
  for k = 1, 3000 do x[#x + 1] = math.sin(k) * math.exp(math.cos(k * 7) * 8) end
  local n = #x

  -- Every second of twice as many, whose exponents differ from one to the next.
  local function apart(y, dtype)
    local twice, both = {}, {}
    for k = 1, n do
      twice[2 * k - 1], twice[2 * k] = x[k], x[k]
      both[2 * k - 1], both[2 * k] = y, 2.75
    end
    return gr.array(twice, dtype):pow(gr.array(both, dtype)):slice(1, 2 * n, 2):copy()
  end

  for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
    it("have the bits of powers by several, of " .. dtype, function()
      local a = gr.array(x, dtype)
      for _, y in ipairs { -1, 0, 1, 2, 3, 4, 0.5, NZ, -2, -0.5, 2.5, huge, nan } do
        local what, into, own = dtype .. "^" .. y, gr.zeros(n, dtype), a:copy()
        local want = apart(y, dtype)
        a:pow(y, { into = into })
        own:pow(y, { into = own })
        local several = gr.full(n, y, dtype)
        assert.equal(want:bytes(), (a ^ y):bytes(), what)
        assert.equal(want:bytes(), into:bytes(), what .. " into")
        assert.equal(want:bytes(), own:bytes(), what .. " in place")
        assert.equal(want:bytes(), a:pow(several):bytes(), what .. " in an array")
        assert.equal(want:bytes(), gr.fuse "a ^ y" { a = a, y = y }:eval():bytes(), what .. " in a formula")
        several[n], want[n] = 1.25, a[n] ^ 1.25 -- a stretch that ends otherwise than it begins
        assert.equal(want:slice(1, n - 1):bytes(), a:pow(several):slice(1, n - 1):bytes(), what .. " but for the last")
        S.same(gr.array({ a[n], a[n] }, dtype):pow(gr.array({ 1.25, 2.75 }, dtype))[1], a:pow(several)[n], what)
      end
    end)
  end

  it("are of f64 where elements are whole", function()
    for _, dtype in ipairs { "u8", "i8", "u16", "i16", "u32", "i32", "i64" } do
      local a = gr.array({ 0, 1, 2, 3, 11, 100 }, dtype)
      for _, y in ipairs { -1, 0, 1, 2, 3, 4, 0.5, -2 } do
        assert.equal((a:cast "f64" ^ y):bytes(), (a ^ y):bytes(), dtype .. "^" .. y)
      end
    end
    S.same_all({ 4, -27 }, gr.array({ 2, -3 }, "i32") ^ gr.array({ 2, 3 }, "i32"), "by whole numbers")
    S.same_all({ 8, -27 }, gr.array({ 2, -3 }, "i32") ^ 3, "by one")
  end)
end)
