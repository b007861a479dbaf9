-- Weighted histograms and bincounts against exactly rounded sums; bins by equal factors; densities.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local nan, huge = model.nan, math.huge
local exact_sum = S.exact_sum

-- For each bin, below, above and NaN: the list of weights.
local function lists(t, w, edges)
  local bins, r = #edges - 1, {}
  for k = 1, bins + 3 do r[k] = {} end
  for i, x in ipairs(t) do
    local k
    if x ~= x then k = bins + 3
    elseif x < edges[1] then k = bins + 1
    elseif x > edges[bins + 1] then k = bins + 2
    else
      k = 1
      while k < bins and x >= edges[k + 1] do k = k + 1 end
    end
    r[k][#r[k] + 1] = w[i]
  end
  return r
end

local function total(dtype, list)
  if model.is_float[dtype] then return exact_sum(list) end
  local s = 0
  for k = 1, #list do s = s + list[k] end
  return s
end

local function check(h, t, w, dtype, edges, ...)
  local r, bins = lists(t, w, edges), #edges - 1
  assert.equal(model.is_float[dtype] and "f64" or "i64", h.counts.dtype)
  local got = h.counts:table()
  for k = 1, bins do S.same(total(dtype, r[k]) + 0, got[k] + 0, "bin", k, ...) end
  S.same(total(dtype, r[bins + 1]) + 0, h.below + 0, "below", ...)
  S.same(total(dtype, r[bins + 2]) + 0, h.above + 0, "above", ...)
  S.same(total(dtype, r[bins + 3]) + 0, h.nan + 0, "nan", ...)
end

-- Weights of wild exponents, not so wild that one vanishes beside another.
local function weights(dtype, n, seed)
  if not model.is_float[dtype] then return D.medium(dtype, n, seed) end
  local t, g = model.data(dtype, n, seed), model.generator(seed + 1)
  for k = 1, n do t[k] = model.round[dtype](t[k] * 2.0 ^ -(g() % 12)) end
  return t
end

local spread = { u8 = { 10, 200 }, i8 = { -100, 77 }, u16 = { 500, 60000.5 }, i16 = { -20000, 30000 },
  u32 = { 3, 2.0 ^ 31 }, i32 = { -2.0 ^ 30, 2.0 ^ 29 + 0.5 }, i64 = { -2.0 ^ 29, 2.0 ^ 30 } }

describe("weighted histograms", function()
  for _, dtype in ipairs(model.dtypes) do
    it("of " .. dtype .. " by every dtype", function()
      local low, high = -0.5, 0.75
      if spread[dtype] then low, high = spread[dtype][1], spread[dtype][2] end
      local t = S.whole(model.data(dtype, 300, 3))
      if model.is_float[dtype] then t[7], t[8], t[9] = nan, huge, -huge end
      local a = gr.array(t, dtype)
      for _, of in ipairs(model.dtypes) do
        local w = S.whole(weights(of, 300, 8))
        local v = gr.array(w, of)
        local edges = D.even_edges(low, high, 9)
        check(gr.histogram(a, { bins = 9, min = low, max = high, weights = v }), t, w, of, edges, of)
      end
    end)
  end

  it("on views of both, in any order, on any path", function()
    local n = 3000
    local t, w = model.data("f32", n, 5), weights("f64", n, 6)
    for _, bins in ipairs { 1, 33, 3000, 9000 } do
      local v = gr.array(w, "f64")
      local expected = gr.histogram(gr.array(t, "f32"), { bins = bins, min = -0.9, max = 0.9, weights = v })
      if bins <= 33 then check(expected, t, w, "f64", D.even_edges(-0.9, 0.9, bins), bins) end
      local flat = expected.counts:table()
      local views, others = S.views(t, "f32", 0), S.views(w, "f64", 1e9)
      for k, view in ipairs(views) do
        local h = gr.histogram(view[2], { bins = bins, min = -0.9, max = 0.9, weights = others[#others + 1 - k][2] })
        S.same_all(flat, h.counts, view[1], bins)
        S.same(expected.below, h.below, view[1])
      end
      local u, x = {}, {}
      for k = 1, n do u[k], x[k] = t[k * 7 % n + 1], w[k * 7 % n + 1] end
      local h = gr.histogram(gr.array(u, "f32"), { bins = bins, min = -0.9, max = 0.9, weights = gr.array(x, "f64") })
      S.same_all(flat, h.counts, "another order", bins)
    end
  end)

  it("sums exactly, and rounds once", function()
    local a = gr.zeros(6, "u8")
    local function sum(w, dtype)
      return gr.histogram(a, { bins = 1, weights = gr.array(w, dtype or "f64") }).counts[1]
    end
    S.same(2.0 ^ -20, sum { 1, 2.0 ^ -20, -1, 2.0 ^ 53, -2.0 ^ 53, 0 }, "cancellation")
    S.same(1 + 2.0 ^ -52, sum { 1, 2.0 ^ -53, 2.0 ^ -60, 0, 0, 0 }, "above a tie")
    S.same(1, sum { 1, 2.0 ^ -53, 0, 0, 0, 0 }, "a tie goes to the even one")
    S.same(5404319552844596 * 2.0 ^ -53, sum { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 }, "tenths: a tie, as it happens")
    S.same(huge, sum { 1e308, 1e308, 1e308, 0, 0, 0 }, "past f64")
    S.same(1e308, sum { 1e308, 1e308, 1e308, -1e308, -1e308, 0 }, "back from there")
    S.same(3 * 2.0 ^ -1074, sum { 2.0 ^ -1074, 2.0 ^ -1073, 0, 0, 0, 0 }, "subnormal")
    S.same(0, sum { 0, 0, 0, 0, 0, 0 }, "zeros")
    S.same(0, sum { 0.3, -0.3, 7, -7, 0, 0 }, "nothing left")
    -- 94 bits less 3 for six numbers: below 2^-92 of the largest nothing is kept, down to there it is
    S.same(2.0 ^ -90, sum { 1, -1, 2.0 ^ -90, 0, 0, 0 }, "kept")
    S.same(0, sum { 1, -1, 2.0 ^ -92, 0, 0, 0 }, "lost")
    S.same(-510, sum({ -100, -100, -100, -100, -100, -10 }, "i8"), "i8")
    if S.integers then
      assert.equal(math.mininteger, sum({ math.maxinteger, 1, 0, 0, 0, 0 }, "i64"))
      assert.equal("integer", math.type(sum({ 1, 2, 3, 4, 5, 6 }, "u16")))
    end
  end)

  it("of many constant and skewed samples", function()
    for _, bins in ipairs { 3, 5000 } do
      local n = 100003
      local h = gr.histogram(gr.ones(n, "f32"), { bins = bins, min = 0, max = 1, weights = gr.full(n, 0.1, "f64") })
      -- n times the nearest f64 to a tenth, m / 2^55: both halves of m times n are exact
      local m = 3602879701896397.0
      local low = m % 134217728
      S.same(exact_sum { low * n * 2.0 ^ -55, (m - low) * n * 2.0 ^ -55 }, h.counts[bins], "tenths", bins)
      h = gr.histogram(gr.ones(n, "i32"), { bins = bins, min = 0, max = 1, weights = gr.full(n, 200, "u8") })
      assert.equal(200 * n, h.counts[bins])
    end
  end)

  it("by uneven edges, factors, remainders; of nothing", function()
    local t, w = S.whole(model.data("i16", 500, 2)), weights("f32", 500, 3)
    local a, v = gr.array(t, "i16"), gr.array(w, "f32")
    local edges = { -30000, -7, 0, 1, 1000, 30001 }
    check(gr.histogram(a, { edges = edges, weights = v }), t, w, "f32", edges, "edges")
    local h = gr.histogram(a, { bins = 6, log = true, min = 1, max = 40000, weights = v })
    check(h, t, w, "f32", h.edges:table(), "log")
    h = gr.histogram(a, { bins = 7, modulo = true, weights = v })
    local sums = {}
    for k = 1, 7 do sums[k] = {} end
    for k, x in ipairs(t) do table.insert(sums[x % 7 + 1], w[k]) end
    for k = 1, 7 do S.same(exact_sum(sums[k]), h.counts[k], "modulo", k) end
    h = gr.histogram(gr.zeros(0), { bins = 2, weights = gr.zeros(0) })
    S.same_all({ 0, 0 }, h.counts, "nothing")
    assert.equal("f64", h.counts.dtype)
  end)

  it("in bincount", function()
    local a = gr.array({ 0, 1, 1, 5, 1 }, "i32")
    local b = gr.bincount(a, { weights = gr.array({ 0.5, 1, 2, 3, -0.25 }, "f32") })
    assert.equal("f64", b.dtype)
    S.same_all({ 0.5, 2.75, 0, 0, 0, 3 }, b, "weights")
    b = gr.bincount(a, { weights = gr.array({ 5, 1, 2, 3, 4 }, "u8"), minlength = 8 })
    assert.equal("i64", b.dtype)
    S.same_all({ 5, 7, 0, 0, 0, 3, 0, 0 }, b, "integers")
    assert.equal(0, #gr.bincount(gr.zeros(0, "u8"), { weights = gr.zeros(0) }))
    assert.equal("f64", gr.bincount(gr.zeros(0, "u8"), { weights = gr.zeros(0) }).dtype)
    local f32 = { weights = gr.array({ 0.1, 1, 2, 3, 0.2 }, "f64"), out = "f32" }
    local rounded = gr.bincount(a, f32)
    assert.equal("f32", rounded.dtype)
    assert.is_true(rounded:equal(gr.bincount(a, { weights = f32.weights }):cast "f32"))
    f32.into = gr.ones(9)
    assert.equal(f32.into, gr.bincount(a, f32))
    assert.is_true(f32.into:slice(1, #rounded):equal(rounded) and f32.into[9] == 0)
    assert.equal("bad argument #2 to 'bincount' (option 'out': only for results of f64, 'bincount' of u8 gives i64)",
      S.message(gr.bincount, gr.ones(3, "u8"), { out = "f32" }))
    local t, w, sums = model.data("u16", 4000, 9), weights("f64", 4000, 1), {}
    for k, x in ipairs(t) do
      sums[x] = sums[x] or {}
      table.insert(sums[x], w[k])
    end
    local got = gr.bincount(gr.array(t, "u16"), { weights = gr.array(w, "f64") }):table()
    for x, list in pairs(sums) do S.same(exact_sum(list), got[x + 1], "value", x) end
  end)
end)

describe("bins by equal factors", function()
  it("have the ends asked for and edges near the powers", function()
    for _, case in ipairs { { 1, 1000, 3 }, { 1e-3, 5e4, 77 }, { 2.0 ^ -1070, 2.0 ^ 1000, 500 }, { 3, 3.5, 1 } } do
      local first, last, bins = case[1], case[2], case[3]
      local edges = gr.histogram(gr.ones(1), { bins = bins, log = true, min = first, max = last }).edges:table()
      S.same(first, edges[1], "first")
      S.same(last, edges[bins + 1], "last")
      for k = 1, bins do
        assert.is_true(edges[k] < edges[k + 1])
        local expected = math.exp(math.log(first) + (k - 1) / bins * (math.log(last) - math.log(first)))
        assert.is_true(math.abs(edges[k] / expected - 1) < 1e-12)
      end
    end
  end)

  it("count by these edges, of floats and integers", function()
    for _, dtype in ipairs { "u8", "i32", "i64", "f16", "f32", "f64" } do
      local t = S.whole(D.sparse(dtype, 2000, 4))
      local a = gr.array(t, dtype)
      local h = gr.histogram(a, { bins = 12, log = true, min = 0.01, max = 300 })
      local edges, ones = h.edges:table(), {}
      for k = 1, #t do ones[k] = 1 end
      local r = lists(t, ones, edges)
      for k = 1, 12 do S.same(#r[k], h.counts[k], dtype, k) end
      S.same(#r[13], h.below, dtype)
      S.same(#r[14], h.above, dtype)
    end
    local on = gr.histogram(gr.array({ 1, 2, 4, 8, 16 }, "i32"), { bins = 4, log = true })
    assert.equal(5, on.counts:sum())
  end)

  it("take the range of the data, and widen a single value", function()
    local function ends(a) local e = a:histogram { bins = 2, log = true }.edges return { e[1], e[3] } end
    S.same_all({ 2, 50 }, ends(gr.array { 5, 2, 50, nan, huge }), "range")
    S.same_all({ 4, 16 }, ends(gr.array { 8, 8 }), "one value")
    S.same_all({ 1, 10 }, ends(gr.zeros(0)), "nothing")
  end)
end)

describe("density", function()
  it("is counts over width and total, and counts stay", function()
    local a = gr.array({ 0, 0.5, 1, 1.5, 1.75, 2, 9, -1, nan }, "f32")
    local h = gr.histogram(a, { edges = { 0, 1, 1.5, 4 }, density = true })
    S.same_all({ 2, 1, 3 }, h.counts, "counts")
    assert.equal("f64", h.density.dtype)
    S.same_all({ 2 / 1 / 6, 1 / 0.5 / 6, 3 / 2.5 / 6 }, h.density, "density")
    assert.is_nil(gr.histogram(a, { bins = 3, min = 0, max = 1 }).density)
    assert.is_nil(gr.histogram(a, { bins = 3, min = 0, max = 1, density = false }).density)
  end)

  it("of weights, and of nothing", function()
    local w = gr.array { 1, 2, 5 }
    local h = gr.histogram(gr.array { 0, 1, 3 }, { edges = { 0, 1, 4 }, density = true, weights = w })
    S.same_all({ 1 / 1 / 8, 7 / 3 / 8 }, h.density, "density")
    S.same_all({ nan }, gr.histogram(gr.zeros(0), { bins = 1, density = true }).density, "nothing")
  end)
end)
