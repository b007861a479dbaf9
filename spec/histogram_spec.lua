-- NumPy's rule: bin k holds edges[k] <= x < edges[k+1], the last one its upper edge too; nothing is lost.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local nan, huge = model.nan, math.huge

local sizes = {
  0, 1, 2, 5, 8, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 129, 255, 257, 511, 513, 1000, 1025, 2049, 4097, 5000,
}

-- Counts by the rule, by bisection.
local function reference(t, edges)
  local bins = #edges - 1
  local counts, below, above, nans = {}, 0, 0, 0
  for k = 1, bins do counts[k] = 0 end
  for _, x in ipairs(t) do
    if x ~= x then nans = nans + 1
    elseif x < edges[1] then below = below + 1
    elseif x > edges[bins + 1] then above = above + 1
    else
      local low, high = 1, bins + 1 -- edges[low] <= x, and x < edges[high] or x is on the last one
      while high - low > 1 do
        local middle = math.floor((low + high) / 2)
        if x >= edges[middle] then low = middle else high = middle end
      end
      counts[low] = counts[low] + 1
    end
  end
  return counts, below, above, nans
end

local function check(h, t, edges, ...)
  local counts, below, above, nans = reference(t, edges)
  S.same(#counts, S.integers and #h or #h.counts, "bins", ...)
  S.same_all(edges, h.edges, "edges", ...)
  S.same_all(counts, h.counts, "counts", ...)
  S.same(below, h.below, "below", ...)
  S.same(above, h.above, "above", ...)
  S.same(nans, h.nan, "nan", ...)
end

-- The numbers next to x in f64.
local function neighbours(x)
  if x == 0 then return -(2.0 ^ -1074), 2.0 ^ -1074 end
  local m, e = model.split(math.abs(x))
  local up = 2.0 ^ (e - 53)
  local down = m == 0.5 and up / 2 or up
  if x > 0 then return x - down, x + up end
  return x - up, x + down
end

describe("histogram", function()
  it("counts every dtype, on all views", function()
    for _, dtype in ipairs(model.dtypes) do
      for _, n in ipairs(sizes) do
        local t = S.whole(model.data(dtype, n, n + 1))
        local low, high = -0.5, 0.75
        if not model.is_float[dtype] then
          local range = math.min(model.highest[dtype], 2.0 ^ 30)
          low, high = -range / 3, range / 2 + 0.5
        end
        for _, bins in ipairs(n % 1000 == 0 and { 1, 7, 256 } or { 33 }) do
          local edges = D.even_edges(low, high, bins)
          for _, view in ipairs(S.views(t, dtype, 0)) do
            check(gr.histogram(view[2], { bins = bins, min = low, max = high }), t, edges, dtype, n, bins, view[1])
          end
        end
      end
    end
  end)

  it("gives counts as i64, edges as f64, the rest as whole numbers", function()
    local h = gr.histogram(gr.array { -1, 0, 0.5, 1, 2, nan, huge, -huge }, { bins = 2, min = 0, max = 1 })
    assert.equal("i64", h.counts.dtype)
    assert.equal("f64", h.edges.dtype)
    assert.equal(2, #h.counts)
    if S.integers then assert.equal(2, #h) end -- Lua 5.1 has no length of tables with metatables
    S.same_all({ 1, 2 }, h.counts, "counts")
    S.same_all({ 0, 0.5, 1 }, h.edges, "edges")
    assert.equal(2, h.below)
    assert.equal(2, h.above)
    assert.equal(1, h.nan)
    if S.integers then assert.equal("integer", math.type(h.below)) end
  end)

  it("takes the data's finite range when none is given", function()
    local t = { 3, -1, 7, 2.5, huge, nan, -huge }
    check(gr.histogram(gr.array(t, "f64"), { bins = 4 }), t, D.even_edges(-1, 7, 4), "range")
    local u = { 9, 200, 17 }
    check(gr.histogram(gr.array(u, "u8"), { bins = 3 }), u, D.even_edges(9, 200, 3), "range of u8")
    check(gr.histogram(gr.array(u, "u8"), { bins = 3, min = 0 }), u, D.even_edges(0, 200, 3), "min alone")
  end)

  it("widens a range of one value, and takes 0 to 1 for nothing, as NumPy does", function()
    check(gr.histogram(gr.full(5, 3), { bins = 2 }), { 3, 3, 3, 3, 3 }, { 2.5, 3, 3.5 }, "one value")
    check(gr.histogram(gr.zeros(0), { bins = 2 }), {}, { 0, 0.5, 1 }, "nothing")
    check(gr.histogram(gr.full(2, nan), { bins = 2 }), { nan, nan }, { 0, 0.5, 1 }, "NaN alone")
  end)

  it("takes bins as narrow as the subnormal numbers are apart, and refuses narrower ones", function()
    local tiny = 2.0 ^ -1074
    local t = { 0, tiny, 2 * tiny, 3 * tiny, 14 * tiny, 15 * tiny, 16 * tiny, -tiny }
    check(gr.histogram(gr.array(t, "f64"), { bins = 5, min = 0, max = 15 * tiny }), t,
      { 0, 3 * tiny, 6 * tiny, 9 * tiny, 12 * tiny, 15 * tiny }, "whole steps")
    assert.equal("bad argument #2 to 'histogram' (10 bins from 0 to 7.4109846876186982e-323 are narrower than the "
      .. "spacing of f64 numbers)",
      S.message(gr.histogram, gr.array(t, "f64"), { bins = 10, min = 0, max = 15 * tiny }))
  end)

  it("is exact for a million samples on and beside the edges of f64", function()
    local ranges = { { -3.7, 11.3, 1000, 200 }, { 0, 1, 4096, 20 }, { 1e-3, 1e5, 333, 150 }, { -1, -0.1, 50000, 2 } }
    for _, row in ipairs(ranges) do
      local first, last, bins, times = row[1], row[2], row[3], row[4]
      local edges = D.even_edges(first, last, bins)
      local t, counts, below, above = {}, {}, 0, 0
      for k = 1, bins do counts[k] = 0 end
      for k = 1, bins + 1 do
        local down, up = neighbours(edges[k])
        t[#t + 1], t[#t + 2], t[#t + 3] = down, edges[k], up
        if k == 1 then below = below + 1 else counts[k - 1] = counts[k - 1] + 1 end
        if k <= bins then counts[k] = counts[k] + 2 else
          counts[bins] = counts[bins] + 1 -- the last edge is closed
          above = above + 1
        end
      end
      local bytes = gr.array(t, "f64"):bytes()
      local h = gr.histogram(gr.frombytes(bytes:rep(times), "f64"), { bins = bins, min = first, max = last })
      local got = h.counts:table()
      for k = 1, bins do S.same(counts[k] * times, got[k], "bin", k, "of", bins) end
      S.same(below * times, h.below, "below")
      S.same(above * times, h.above, "above")
      -- the same edges as an array: found by search, not by a guess
      local again = gr.histogram(gr.frombytes(bytes:rep(3), "f64"), { edges = h.edges })
      got = again.counts:table()
      for k = 1, bins do S.same(counts[k] * 3, got[k], "bin", k, "of", bins, "by edges") end
    end
  end)

  it("is exact for f32 and f16 samples at the edges", function()
    for _, dtype in ipairs { "f32", "f16", "bf16" } do
      local edges = D.even_edges(-1.1, 2.3, 997)
      local t = {}
      for k = 1, #edges do
        local r = model.round[dtype](edges[k])
        t[#t + 1] = r
        t[#t + 1] = model.round[dtype](r * (1 + 2.0 ^ -10))
        t[#t + 1] = model.round[dtype](r * (1 - 2.0 ^ -10))
      end
      check(gr.histogram(gr.array(t, dtype), { bins = 997, min = -1.1, max = 2.3 }), t, edges, dtype)
    end
  end)

  it("is exact for f32 samples among edges that f32 holds", function()
    local round = model.round.f32
    local ranges = { { 0, 1, 256 }, { 0, 1, 4096 }, { 0, 4, 65536 }, { 0, 3, 384 }, { -4, 4, 4096 }, { -1, 1, 65536 },
                     { 64, 80, 1024 } }
    for _, row in ipairs(ranges) do
      local first, last, bins = row[1], row[2], row[3]
      local edges = D.even_edges(first, last, bins)
      local t = { -0.0, 2.0 ^ -149, -2.0 ^ -149, -1e-30, -last, nan, -math.huge, math.huge, 3e38, -3e38 }
      for k = 1, #edges, bins > 4096 and 7 or 1 do
        local r = edges[k]
        t[#t + 1], t[#t + 2], t[#t + 3] = round(r * (1 - 2.0 ^ -23)), r, round(r * (1 + 2.0 ^ -23))
      end
      for k = 1, 200 do t[#t + 1] = round(first + (last - first) * (k / 200) ^ 2) end
      check(gr.histogram(gr.array(t, "f32"), { bins = bins, min = first, max = last }), t, edges, first, last, bins)
    end
  end)

  it("compares i64 as integers", function()
    if not S.integers then return end
    local big = math.tointeger(2 ^ 53)
    local t = { big - 1, big, big + 1, big + 2, math.maxinteger, math.mininteger }
    local h = gr.histogram(gr.array(t, "i64"), { edges = { 2.0 ^ 53 - 1, 2.0 ^ 53, 2.0 ^ 53 + 2 } })
    S.same_all({ 1, 3 }, h.counts, "counts") -- 2^53 + 1 is not rounded up to the edge; the last edge is closed
    assert.equal(1, h.below)
    assert.equal(1, h.above)
    local all = gr.histogram(gr.array(t, "i64"), { edges = { -2.0 ^ 63, 0, 2.0 ^ 63 } })
    S.same_all({ 1, 5 }, all.counts, "counts")
    local range = gr.histogram(gr.array({ big + 1, 5, big + 1 }, "i64"), { bins = 3 })
    assert.equal(3, range.counts:sum())
  end)

  it("takes uneven edges, as a table or an array", function()
    local edges = { -2, -1.5, 0, 0.125, 4, 1000 }
    for _, dtype in ipairs { "i8", "i32", "f32", "f64" } do
      local t = S.whole(D.sparse(dtype, 3000, 3))
      check(gr.histogram(gr.array(t, dtype), { edges = edges }), t, edges, dtype)
      check(gr.histogram(gr.array(t, dtype), { edges = gr.array(edges, "f64") }), t, edges, dtype)
    end
  end)

  it("has bins from 1 to 10^7", function()
    local n = 20000
    local a = gr.arange(0, n - 1, "i32")
    for _, bins in ipairs { 1, 2, 100, 1000, 10000, 16384, 65536, 100000 } do
      local h = gr.histogram(a, { bins = bins, min = 0, max = bins })
      assert.equal(bins, #h.counts)
      assert.equal(math.min(n, bins + 1), h.counts:sum())
      assert.equal(math.max(0, n - bins - 1), h.above)
    end
    local h = gr.histogram(a, { bins = 10000000, min = 0, max = 10000000 })
    assert.equal(n, h.counts:sum())
    assert.equal(1, h.counts[n])
    assert.equal(0, h.counts[n + 1])
  end)

  it("stands constant and skewed data", function()
    for _, bins in ipairs { 2, 256, 5000, 70000 } do
      local h = gr.histogram(gr.full(300000, 1, "f32"), { bins = bins, min = 0, max = 1 })
      assert.equal(300000, h.counts[bins])
      assert.equal(300000, h.counts:sum())
      h = gr.histogram(gr.full(300001, 1, "i32"), { bins = bins, min = 0, max = bins })
      assert.equal(300001, h.counts[2])
    end
  end)

  it("bins by remainder", function()
    for _, dtype in ipairs { "u8", "i8", "u16", "i16", "u32", "i32", "i64" } do
      for _, bins in ipairs { 1, 7, 256, 1000 } do
        local t, counts = S.whole(model.data(dtype, 2000, 8)), {}
        for k = 1, bins do counts[k] = 0 end
        for _, x in ipairs(t) do counts[x % bins + 1] = counts[x % bins + 1] + 1 end
        local h = gr.histogram(gr.array(t, dtype), { bins = bins, modulo = true })
        S.same_all(counts, h.counts, "counts", dtype, bins)
        S.same_all(D.even_edges(0, bins, bins), h.edges, "edges", dtype, bins)
      end
    end
  end)

  it("gives quantiles", function()
    local h = gr.histogram(gr.arange(0, 999, "f64"), { bins = 1000, min = 0, max = 1000 })
    assert(math.abs(h:quantile(0.5) - 500) <= 1)
    assert(math.abs(h:quantile(0.25) - 250) <= 1)
    assert(math.abs(h:quantile(0) - 0) <= 1)
    assert(math.abs(h:quantile(1) - 1000) <= 1)
  end)
end)

describe("bincount", function()
  it("fills the whole of `into`, though the last numbers do not occur", function()
    local into = gr.full(6, 9, "i64")
    assert.equal(into, gr.bincount(gr.array({ 0, 1, 1, 3 }, "u8"), { into = into }))
    S.same_all({ 1, 2, 0, 1, 0, 0 }, into, "into")
    local sums = gr.full(3, 9, "f64")
    gr.bincount(gr.array({ 0, 0 }, "i32"), { into = sums, weights = gr.array({ 0.5, 2 }, "f64") })
    S.same_all({ 2.5, 0, 0 }, sums, "sums")
    gr.bincount(gr.zeros(0, "u16"), { into = into })
    S.same_all({ 0, 0, 0, 0, 0, 0 }, into, "of nothing")
    assert.equal("bad argument #2 to 'bincount' (option 'into': i64[8] expected, got i64[6])",
      S.message(gr.bincount, gr.zeros(2, "u8"), { into = into, minlength = 8 }))
  end)

  it("counts whole numbers", function()
    local b = gr.bincount(gr.array({ 0, 1, 1, 5, 1 }, "i32"))
    assert.equal("i64", b.dtype)
    S.same_all({ 1, 3, 0, 0, 0, 1 }, b, "bincount")
    b = gr.bincount(gr.array({ 0, 1, 1, 5, 1 }, "u8"), { minlength = 8 })
    S.same_all({ 1, 3, 0, 0, 0, 1, 0, 0 }, b, "minlength")
    for _, dtype in ipairs { "u8", "i8", "u16", "i32" } do -- more slots than bytes have values
      local many = gr.zeros(12000, dtype)
      many[1], many[2], many[3] = 1, 1, 127
      b = gr.bincount(many, { minlength = 5000 })
      S.same_all({ 5000, 11997, 2, 1, 0, 0 }, { #b, b[1], b[2], b[128], b[257], b[5000] }, "minlength", dtype)
      S.same(12000, gr.sum(b), "minlength", dtype)
    end
    assert.equal(0, #gr.bincount(gr.zeros(0, "u16")))
    S.same_all({ 0, 0 }, gr.bincount(gr.zeros(0, "u16"), { minlength = 2 }), "empty")
  end)

  it("of many", function()
    local t = model.data("u16", 50000, 6)
    local counts, top = {}, 0
    for _, x in ipairs(t) do
      counts[x + 1] = (counts[x + 1] or 0) + 1
      top = math.max(top, x)
    end
    for k = 1, top + 1 do counts[k] = counts[k] or 0 end
    S.same_all(counts, gr.bincount(gr.array(t, "u16")), "bincount")
  end)

  it("counts more equal samples than 16 bits hold, whatever the number of bins", function()
    local a = gr.full(300001, 0.3, "f32")
    for _, bins in ipairs { 100, 4096, 4097, 10000, 40000 } do
      local h = gr.histogram(a, { bins = bins, min = 0, max = 1 })
      local at = math.floor(0.3 * bins) + 1
      if h.edges[at] > a[1] then at = at - 1 elseif h.edges[at + 1] <= a[1] then at = at + 1 end
      assert.equal(300001, h.counts[at], bins .. " bins")
      assert.equal(300001, gr.sum(h.counts))
    end
  end)
end)
