-- Running sums, products, minima and maxima, to the bit, against the model's scan tree.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model

local sizes = {
  0, 1, 2, 3, 7, 8, 9, 16, 31, 32, 33, 64, 100, 129, 255, 256, 257, 511, 1000, 1025, 2049, 4095, 4096, 4097, 8200,
}

local function check(op, dtype, t, view, name, exclusive, reverse)
  local expected = model.scan(op, dtype, #t, function(k) return t[k] end, exclusive, reverse)
  local out = gr.scan(view, op, { exclusive = exclusive, reverse = reverse })
  S.same(model.scan_dtype(op, dtype), out.dtype, "dtype of scan", op)
  S.same_all(expected, out, "scan", op, dtype, #t, name, exclusive and "exclusive" or "", reverse and "reverse" or "")
end

describe("scan of", function()
  for _, dtype in ipairs(model.dtypes) do
    it(dtype, function()
      for _, n in ipairs(sizes) do
        for _, op in ipairs { "sum", "prod", "min", "max" } do
          local t = S.whole(D[op == "prod" and "factors" or "sparse"](dtype, n, n + 2))
          local a = gr.array(t, dtype)
          check(op, dtype, t, a, "contiguous", false, false)
          check(op, dtype, t, a, "contiguous", true, n % 2 == 0)
          if n == 1000 or n >= 4095 then
            check(op, dtype, t, a, "contiguous", false, true)
            check(op, dtype, t, a, "contiguous", true, n % 2 == 1)
          end
        end
      end
      for _, n in ipairs { 100, 4500 } do
        local t = S.whole(D.wide(dtype, n, n))
        for _, view in ipairs(S.views(t, dtype, 3)) do
          check("sum", dtype, t, view[2], view[1], false, false)
          check("max", dtype, t, view[2], view[1], true, true)
        end
      end
    end)
  end

  it("many tiles and a block of tiles", function()
    for _, dtype in ipairs { "f32", "f64" } do
      local t = D.wide(dtype, 140000, 4)
      check("sum", dtype, t, gr.array(t, dtype), "contiguous", false, false)
    end
  end)

  it("a block that threads share", function()
    local before = gr.threads()
    for _, dtype in ipairs { "f32", "f64" } do
      for _, n in ipairs { 65536, 100003, 131072 } do
        local a = (gr.rand(n, "f64", { seed = n }) - 0.5):cast(dtype)
        local strided = gr.zeros(2 * n, dtype):slice(1, 2 * n, 2)
        gr.copy(a, { into = strided })
        local function results(threads)
          gr.threads(threads)
          local itself, out = a:copy(), {}
          gr.scan(itself, "sum", { into = itself })
          out[1], out[2], out[3] = gr.scan(a), itself, gr.scan(strided)
          out[4], out[5] = gr.scan(a, "sum", { reverse = true, exclusive = true }), gr.scan(a + 1, "prod")
          for k = 1, #out do out[k] = out[k]:bytes() end
          return out
        end
        local one = results(1)
        assert.are.equal(one[1], one[2])
        assert.are.equal(one[1], one[3])
        for _, threads in ipairs { 2, 5 } do
          local several = results(threads)
          for k = 1, #one do assert.is_true(several[k] == one[k], dtype .. " " .. n .. " way " .. k) end
        end
      end
    end
    gr.threads(before)
  end)

  it("a superblock and more, with the CPU's bits", function() -- each length has a kernel of its own
    local device = gr.backend()
    if not device:find("^cuda") then return pending "needs a GPU" end
    for _, dtype in ipairs(model.dtypes) do
      local narrow = dtype:find "8" or dtype:find "16"
      for _, n in ipairs { 2 ^ 22, 2 ^ 22 + 4099, narrow and 2 ^ 24 + 4099 } do
        local function results(on)
          gr.use(on)
          local float, out = dtype:find "f", {}
          local r = gr.rand(n + 1, "f64", { seed = n })
          local a = float and (r - 0.5):cast(dtype) or (r * 200 - (dtype:find "u" and 0 or 100)):cast(dtype)
          for k, op in ipairs(n > 2 ^ 23 and { "min", "max" } or { "sum", "prod", "min", "max" }) do
            local v = k % 2 == 0 and a:slice(2, n + 1) or a:slice(1, n)
            out[2 * k - 1] = gr.scan(v, op):bytes()
            out[2 * k] = gr.scan(v, op, { exclusive = true, reverse = true }):bytes()
          end
          gr.use(device)
          return out
        end
        local expected, got = results "cpu", results(device)
        for k = 1, #expected do assert.is_true(expected[k] == got[k], dtype .. " " .. n .. " " .. k) end
      end
    end
  end)

  it("more than a superblock", function()
    local n = 2 ^ 22 + 5000 -- 4194304 is one superblock; ones have exact sums
    local s = gr.scan(gr.ones(n, "f64"), "sum")
    assert.is_true(s:equal(gr.arange(1, n, "f64")))
    local e = gr.scan(gr.ones(n, "f32"), "sum", { exclusive = true, reverse = true })
    assert.is_true(e:equal(gr.arange(n - 1, 0, -1, "f32")))
    local i = gr.scan(gr.full(n, 3, "u8"), "sum")
    assert.equal(3 * n, i[n])
    assert.is_true(i:equal(gr.arange(3, 3 * n, 3, "i64")))
  end)
end)

describe("scan", function()
  it("takes NaN along to all that follow", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      for _, op in ipairs { "sum", "prod", "min", "max" } do
        local t = { 1, 2, model.nan, 4, 5 }
        check(op, dtype, t, gr.array(t, dtype), "", false, false)
        check(op, dtype, t, gr.array(t, dtype), "", true, true)
      end
      local long = {}
      for k = 1, 6000 do long[k] = k % 100 - 50 end
      long[300], long[5000] = model.nan, model.minus_zero
      check("min", dtype, long, gr.array(long, dtype), "", false, false)
      check("max", dtype, long, gr.array(long, dtype), "", false, true)
    end
  end)

  it("knows infinities and signed zeros", function()
    local t = { model.minus_zero, model.minus_zero, 0, 1, math.huge, 2, -math.huge, 3 }
    for _, op in ipairs { "sum", "prod", "min", "max" } do
      check(op, "f64", t, gr.array(t, "f64"), "", false, false)
      check(op, "f64", t, gr.array(t, "f64"), "", true, false)
    end
  end)

  it("wraps integers as Lua does", function()
    if not S.integers then return end
    local t = { math.maxinteger, 1, 5, math.mininteger, 7, -3 }
    for _, op in ipairs { "sum", "prod", "min", "max" } do
      check(op, "i64", t, gr.array(t, "i64"), "", false, false)
      check(op, "i64", t, gr.array(t, "i64"), "", true, true)
    end
  end)

  -- Results of many megabytes are written another way than those that are apart, or at an odd place.
  it("gives the same in large pieces of memory, next to each other or apart", function()
    local n = 2500037
    for _, dtype in ipairs { "f32", "f64" } do
      for _, bad in ipairs { false, true } do
        local a = gr.randn(n, dtype, { seed = 5 })
        if bad then a[1000], a[2000003] = math.huge, -math.huge end
        local apart = gr.zeros(2 * n, dtype):slice(1, 2 * n, 2)
        gr.scan(a, "sum", { into = apart })
        local odd = gr.zeros(n + 1, dtype):slice(2)
        gr.scan(a, "sum", { into = odd })
        assert.is_true(gr.equal(apart:copy(), odd:copy()))
        assert.is_true(gr.equal(apart:copy(), gr.scan(a, "sum")))
        assert.is_true(gr.equal(apart:copy(), gr.scan(a, "sum", { into = a })))
      end
    end
  end)

  it("goes into an array, a view, and the input itself", function()
    local a = gr.array({ 1, 2, 3, 4 }, "f64")
    local into = gr.zeros(4, "f64")
    assert.equal(into, gr.scan(a, "sum", { into = into }))
    S.same_all({ 1, 3, 6, 10 }, into, "into")
    local wide = gr.zeros(8, "f64")
    gr.scan(a, "sum", { into = wide:slice(8, 1, -2) })
    S.same_all({ 0, 10, 0, 6, 0, 3, 0, 1 }, wide, "into a view")
    gr.scan(a, "sum", { into = a })
    S.same_all({ 1, 3, 6, 10 }, a, "in place")
    local long = gr.ones(20000, "f64")
    gr.scan(long, "sum", { into = long })
    assert.is_true(long:equal(gr.arange(1, 20000, "f64")))
  end)
end)
