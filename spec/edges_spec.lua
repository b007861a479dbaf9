-- NaN, infinities, signed zeros, subnormals and nothing at all.
local S = require "spec.support"
local gr, model = S.gr, S.model
local nan, huge, NZ = model.nan, math.huge, model.minus_zero

local floats = { "f16", "bf16", "f32", "f64" }
local sizes = { 1, 2, 17, 130, 1025, 5000 }

describe("logsumexp", function()
  it("knows infinities, and numbers whose exponentials do not exist", function()
    for _, dtype in ipairs(floats) do
      local largest = ({ f16 = 65504, bf16 = 255 * 2.0 ^ 120, f32 = (2 - 2.0 ^ -23) * 2.0 ^ 127,
        f64 = (2 - 2.0 ^ -52) * 2.0 ^ 1023 })[dtype]
      for _, n in ipairs(sizes) do
        local function check(expected, rest, special, place, what)
          local t = {}
          for k = 1, n do t[k] = rest end
          t[place] = special
          local a = gr.array(t, dtype)
          S.same(expected, a:logsumexp(), what, dtype, n, place)
          S.same_all({ expected }, a:logsumexp { rows = 1 }, what, "a row", dtype, n, place)
          S.same_all({ expected }, a:logsumexp { rows = n, axis = 1 }, what, "a column", dtype, n, place)
        end
        for _, place in ipairs { 1, math.ceil(n / 2), n } do
          check(-huge, -huge, -huge, place, "nothing but -inf")
          check(3, -huge, 3, place, "one number")
          check(largest, -largest, largest, place, "the largest")
          check(huge, 5, huge, place, "inf")
          check(n > 1 and huge or -huge, huge, -huge, place, "inf often")
          check(huge, -largest, huge, place, "inf and the lowest")
          check(nan, huge, nan, place, "NaN and inf")
        end
      end
    end
  end)

  it("is near the logarithm of the sum", function()
    for _, dtype in ipairs(floats) do
      local t = gr.randn(5000, dtype, { seed = 9 }):table()
      local s = 0
      for k = 1, #t do s = s + math.exp(t[k]) end
      local got = gr.logsumexp(gr.array(t, dtype))
      assert.is_true(math.abs(got - math.log(s)) < 1e-13 * got, dtype)
      local shifted = gr.logsumexp(gr.add(gr.array(t, dtype):cast "f64", -2000))
      assert.is_true(math.abs(shifted + 2000 - got) < 1e-12, dtype)
    end
  end)
end)

describe("NaN", function()
  it("anywhere comes out of every float reduction", function()
    for _, dtype in ipairs(floats) do
      for _, n in ipairs(sizes) do
        for _, place in ipairs { 1, math.ceil(n / 2), n } do
          local t = {}
          for k = 1, n do t[k] = k % 50 - 20 end
          t[place] = nan
          local a = gr.array(t, dtype)
          for _, op in ipairs { "sum", "prod", "mean", "var", "std", "min", "max", "norm", "logsumexp" } do
            S.same(nan, gr[op](a), op, dtype, n, place)
          end
          S.same(nan, a:norm(1), "norm 1")
          S.same(nan, a:norm(huge), "norm inf")
          S.same(nan, a:dot(a), "dot")
          S.same(nan, a:mse(gr.zeros(n, dtype)), "mse")
          S.same(nan, a:cosine(a), "cosine")
          S.same(place, a:argmin(), "argmin", dtype, n)
          S.same(place, a:argmax(), "argmax", dtype, n)
          local low, high = a:minmax()
          S.same(nan, low, "minmax")
          S.same(nan, high, "minmax")
          assert.is_true(a:any())
        end
      end
    end
  end)

  it("the first one is found, whatever its sign and payload", function()
    local one = string.char(0, 0, 0xc0, 0xff) -- negative, quiet
    local two = string.char(1, 0, 0x80, 0x7f) -- positive, signalling
    local number = model.pack({ 3 }, "f32")
    for _, t in ipairs { { one, two }, { two, one } } do
      local a = gr.frombytes(number:rep(700) .. t[1] .. number .. t[2] .. number:rep(700), "f32")
      assert.equal(701, a:argmin())
      assert.equal(701, a:argmax())
      S.same(nan, a:min(), "min")
      S.same(nan, a:max(), "max")
    end
  end)

  it("as a result has one bit pattern", function()
    local sum = gr.zeros(1, "f64")
    for _, t in ipairs { { huge, -huge }, { nan, 1 }, { -huge, huge, 4 } } do
      gr.sum(gr.array(t, "f64"), { rows = 1, into = sum })
      assert.equal("\0\0\0\0\0\0\248\127", sum:bytes())
    end
    gr.mean(gr.frombytes("\255\255\255\255", "f32"), { rows = 1, into = sum })
    assert.equal("\0\0\0\0\0\0\248\127", sum:bytes())
  end)

  it("equals another one, and zeros of either sign are equal, in equal", function()
    for _, device in ipairs { gr.backend(), "pretend" } do
      S.on(device, function()
        for _, dtype in ipairs(floats) do
          for _, n in ipairs { 1, 33, 5000 } do
            local zeros, ones = gr.zeros(n, dtype), gr.ones(n, dtype)
            local mixed, other = ones:copy(), ones:copy()
            mixed[n], other[n] = nan, -nan
            assert.is_true(zeros:equal(gr.neg(zeros)))
            assert.is_true(mixed:equal(other))
            assert.is_true(mixed:slice(-1, 1, -1):equal(other:slice(-1, 1, -1)))
            assert.is_false(mixed:equal(ones))
            assert.is_false(zeros:equal(mixed))
            assert.is_false(zeros:digest() == gr.neg(zeros):digest())
          end
        end
      end)
    end
  end)

  it("is neither zero nor equal to anything in counts", function()
    local a = gr.array({ nan, 0, NZ, 1 }, "f32")
    assert.equal(2, a:count())
    assert.is_false(a:all())
    assert.is_true(gr.array({ nan }, "f64"):any())
  end)
end)

describe("infinities", function()
  it("follow IEEE 754", function()
    for _, dtype in ipairs(floats) do
      assert.equal(huge, gr.array({ 1, huge, 3 }, dtype):sum())
      assert.equal(-huge, gr.array({ 1, -huge, 3 }, dtype):sum())
      S.same(nan, gr.array({ huge, 1, -huge }, dtype):sum(), dtype)
      assert.equal(huge, gr.array({ huge, 1, -huge }, dtype):max())
      assert.equal(-huge, gr.array({ huge, 1, -huge }, dtype):min())
      assert.equal(1, gr.array({ huge, 1, -huge }, dtype):argmax())
      assert.equal(3, gr.array({ huge, 1, -huge }, dtype):argmin())
      assert.equal(huge, gr.array({ 1, -huge }, dtype):norm())
      assert.equal(huge, gr.array({ 1, -huge }, dtype):norm("inf"))
      for _, way in ipairs { "f32", "kahan", "neumaier" } do
        local got = gr.array({ 1, huge, 3 }, dtype):sum { accumulate = way }
        assert(got == huge or (way == "kahan" and got ~= got), way)
      end
    end
  end)

  it("come from overflow, not before", function()
    local big = 1.7e308
    assert.equal(huge, gr.array({ big, big }, "f64"):sum())
    assert.equal(big, gr.array({ big, big, -big }, "f64"):sum()) -- the tree adds the first to the third
    local f32max = (2 - 2.0 ^ -23) * 2.0 ^ 127
    assert.equal(2 * f32max, gr.array({ f32max, f32max }, "f32"):sum())
    assert.equal(2 * 65504, gr.array({ 65504, 65504 }, "f16"):sum())
  end)
end)

describe("norm", function()
  it("neither overflows nor vanishes on the way", function()
    assert.equal(5 * 2.0 ^ 1000, gr.array({ 3 * 2.0 ^ 1000, 4 * 2.0 ^ 1000 }, "f64"):norm())
    assert.equal(5 * 2.0 ^ -1000, gr.array({ 3 * 2.0 ^ -1000, 4 * 2.0 ^ -1000 }, "f64"):norm())
    assert.equal(2.0 ^ -1074, gr.array({ 2.0 ^ -1074, 0, 0 }, "f64"):norm())
    assert.equal(5 * 2.0 ^ -1074, gr.array({ 3 * 2.0 ^ -1074, 4 * 2.0 ^ -1074 }, "f64"):norm())
    assert.equal(0, gr.zeros(10, "f64"):norm())
  end)

  it("and cosine likewise", function()
    local function near(x, y) assert(math.abs(x - y) < 1e-15, x .. " for " .. y) end
    local big, small = gr.array({ 2.0 ^ 1000, 2.0 ^ 1000 }, "f64"), gr.array({ 2.0 ^ -1000, 0 }, "f64")
    near(big:cosine(small), math.sqrt(0.5))
    near(big:cosine(big), 1)
    near(small:cosine(small), 1)
    S.same(nan, gr.zeros(3):cosine(gr.ones(3)), "cosine with nothing")
  end)
end)

describe("signed zeros", function()
  it("order as -0 < +0", function()
    for _, dtype in ipairs(floats) do
      for _, n in ipairs { 2, 40, 1500 } do
        local t = {}
        for k = 1, n do t[k] = 0 end
        t[n] = NZ
        local a = gr.array(t, dtype)
        S.same(NZ, a:min(), "min", dtype, n)
        S.same(0.0 * 1, a:max(), "max", dtype, n)
        assert.equal(n, a:argmin())
        assert.equal(1, a:argmax())
        t[n], t[1] = 0, NZ
        assert.equal(2, gr.array(t, dtype):argmax())
      end
    end
  end)

  it("survive in sums of nothing but them", function()
    for _, dtype in ipairs(floats) do
      for _, n in ipairs(sizes) do
        S.same(NZ, gr.full(n, NZ, dtype):sum(), "sum of -0", dtype, n)
        local a = gr.full(n, NZ, dtype)
        a[n] = 0
        S.same(0 * 1.0, a:sum(), "sum with +0", dtype, n)
      end
    end
  end)
end)

describe("subnormals", function()
  it("count in full", function()
    for dtype, exponent in pairs { f16 = -24, bf16 = -133, f32 = -149, f64 = -1074 } do
      local tiny = 2.0 ^ exponent
      for _, n in ipairs(sizes) do
        local a = gr.full(n, tiny, dtype)
        S.same(n * tiny, a:sum(), "sum", dtype, n)
        S.same(n * tiny, a:norm(1), "norm 1", dtype, n)
        S.same(tiny, a:min(), "min", dtype, n)
        S.same(n, a:count(), "count", dtype, n)
        local total = n * tiny
        if dtype == "f16" or n <= 1024 then
          S.same(dtype == "f64" and total or model.round.f32(total), gr.scan(a, "sum")[n], "scan", dtype, n)
        end
      end
    end
    assert.equal(2.0 ^ -149 * 3, gr.full(3, 2.0 ^ -149, "f32"):sum { accumulate = "f32" })
    assert.equal(2.0 ^ -149 * 8, gr.array({ 2.0 ^ -149 }, "f32"):dot(gr.array({ 8 }, "f32"), { accumulate = "f32" }))
  end)
end)

describe("empty arrays", function()
  it("have no logarithm of a sum but -inf, in rows and segments too", function()
    for _, dtype in ipairs(model.dtypes) do
      local a = gr.array({ 3, 3 }, dtype)
      S.same(-huge, gr.zeros(0, dtype):logsumexp(), dtype)
      S.same_all({ -huge, -huge }, gr.zeros(0, dtype):logsumexp { rows = 2 }, dtype)
      S.same_all({ -huge, 3, -huge }, a:logsumexp { segments = { 1, 1, 2, 2 } }, dtype)
    end
  end)

  it("have a sum and a product, but no smallest element", function()
    for _, dtype in ipairs(model.dtypes) do
      local a = gr.zeros(0, dtype)
      S.same(0, a:sum(), dtype)
      S.same(1, a:prod(), dtype)
      S.same(0, a:dot(a), dtype)
      S.same(0, a:count(), dtype)
      S.same(0, a:norm(), dtype)
      S.same(0, a:norm(1), dtype)
      S.same(0, a:norm(huge), dtype)
      for _, op in ipairs { "mean", "var", "std" } do S.same(nan, gr[op](a), op, dtype) end
      S.same(nan, a:mse(a), dtype)
      S.same(nan, a:cosine(a), dtype)
      assert.is_false(a:any())
      assert.is_true(a:all())
      for _, op in ipairs { "min", "max", "minmax", "argmin", "argmax" } do
        assert.truthy(S.message(gr[op], a), op .. " of an empty array")
      end
      assert.equal(0, #gr.scan(a, "sum"))
    end
  end)
end)

describe("accuracy", function()
  it("of f32, f64, Kahan and Neumaier comes in that order on ill-conditioned data", function()
    -- large numbers that cancel, mixed with small ones; the exact sum is known: all are multiples of 2^-40
    local g, t, exact = model.generator(42), {}, 0
    for _ = 1, 20000 do
      local large, small = g() % 4194304, (g() % 1048576) * 2.0 ^ -40
      t[#t + 1], t[#t + 2], t[#t + 3] = large, small, -large
      exact = exact + small
    end
    for k = #t, 2, -1 do
      local j = g() % k + 1
      t[k], t[j] = t[j], t[k]
    end
    local a = gr.array(t, "f64")
    local error_of = {}
    for _, way in ipairs { "f32", "f64", "kahan", "neumaier" } do
      error_of[way] = math.abs(a:sum { accumulate = way } - exact)
    end
    assert(error_of.f32 > error_of.f64, "f32 against f64")
    assert(error_of.f64 > error_of.kahan, "f64 against Kahan")
    assert(error_of.kahan > error_of.neumaier, "Kahan against Neumaier")
    assert.equal(0, error_of.neumaier)
    local ones = gr.ones(#a, "f64")
    assert.equal(exact, a:dot(ones, { accumulate = "neumaier" }))
  end)

  it("of var: no cancellation beside a large mean", function()
    local t = {}
    for k = 1, 10000 do t[k] = 2.0 ^ 30 + k % 2 end
    assert.equal(0.25, gr.array(t, "f64"):var())
    assert.equal(0.5, gr.array(t, "f64"):std())
  end)
end)
