-- Histograms of pairs: the bins of both axes are gr.histogram's own, to the sample, whatever lies on and beside edges.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local nan, huge = model.nan, math.huge

-- The bin of x among edges, by NumPy's rule; 0 outside, nil for NaN.
local function bin_of(x, edges)
  local bins = #edges - 1
  if x ~= x then return nil end
  if x < edges[1] or x > edges[bins + 1] then return 0 end
  local low, high = 1, bins + 1
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if x >= edges[middle] then low = middle else high = middle end
  end
  return low
end

-- Cells, row by row, what lies outside, and NaN: counts, or lists of weights.
local function cells_of(xs, ys, xedges, yedges, add)
  local nx, ny = #xedges - 1, #yedges - 1
  local cells = {}
  for k = 1, nx * ny + 2 do cells[k] = add and {} or 0 end
  for k = 1, #xs do
    local i, j = bin_of(xs[k], xedges), bin_of(ys[k], yedges)
    local at = (not i or not j) and nx * ny + 2 or (i == 0 or j == 0) and nx * ny + 1 or (i - 1) * ny + j
    if add then table.insert(cells[at], add[k]) else cells[at] = cells[at] + 1 end
  end
  return cells
end

local function check(h, xs, ys, xedges, yedges, ...)
  local cells = cells_of(xs, ys, xedges, yedges)
  local nx, ny = #xedges - 1, #yedges - 1
  S.same_all(xedges, h.xedges, "xedges", ...)
  S.same_all(yedges, h.yedges, "yedges", ...)
  assert.equal(nx, h.counts.rows)
  local counts = {}
  for k = 1, nx * ny do counts[k] = cells[k] end
  S.same_all(counts, h.counts:slice(), "counts", ...)
  S.same(cells[nx * ny + 1], h.outside, "outside", ...)
  S.same(cells[nx * ny + 2], h.nan, "nan", ...)
end

-- As an axis beside another whose only bin holds everything, an array has gr.histogram's bins and counts.
local function check_axis(a, alone, ...)
  local h = gr.histogram(a, alone)
  local rest = gr.ones(#a, "u8")
  for axis = 1, 2 do
    local function two(mine, other)
      if axis == 1 then return { mine, other } end
      return { other, mine }
    end
    local pair, wide = two(a, rest), { 0, 2 }
    local options = alone.edges and { edges = two(alone.edges, wide) }
      or { bins = two(alone.bins, 1), range = two({ alone.min, alone.max }, wide), log = two(alone.log, false) }
    local g = gr.histogram2d(pair[1], pair[2], options)
    S.same_all(h.edges:table(), axis == 1 and g.xedges or g.yedges, "edges", axis, ...)
    S.same_all(h.counts:table(), g.counts:slice(), "counts", axis, ...)
    S.same(h.below + h.above, g.outside, "outside", axis, ...)
    S.same(h.nan, g.nan, "nan", axis, ...)
  end
end

-- The numbers next to x in f64.
local function neighbours(x)
  if x == 0 then return -(2.0 ^ -1074), 2.0 ^ -1074 end
  local m, e = model.split(math.abs(x))
  local up = e > -1021 and 2.0 ^ (e - 53) or 2.0 ^ -1074
  local down = m == 0.5 and e > -1021 and up / 2 or up
  if x > 0 then return x - down, x + up end
  return x - up, x + down
end

-- Every edge, and the numbers on both sides of it.
local function hard(edges)
  local t = {}
  for k = 1, #edges do
    local down, up = neighbours(edges[k])
    t[#t + 1], t[#t + 2], t[#t + 3] = down, edges[k], up
  end
  return t
end

local function reversed(t)
  local r = {}
  for k = 1, #t do r[k] = t[#t + 1 - k] end
  return r
end

local ends = { u8 = { 10, 200 }, i8 = { -100, 77 }, u16 = { 500, 60000.5 }, i16 = { -20000, 30000 },
  u32 = { 3, 2.0 ^ 31 }, i32 = { -2.0 ^ 30, 2.0 ^ 29 + 0.5 }, i64 = { -2.0 ^ 29, 2.0 ^ 30 } }

describe("histogram2d", function()
  it("counts pairs of every two dtypes", function()
    for p, of_x in ipairs(model.dtypes) do
      for q, of_y in ipairs(model.dtypes) do
        local n = 200
        local xs, ys = S.whole(model.data(of_x, n, p)), S.whole(model.data(of_y, n, 50 + q))
        if model.is_float[of_x] then xs[3], xs[4], xs[5] = nan, huge, -huge end
        if model.is_float[of_y] then ys[4], ys[5], ys[6] = nan, -huge, huge end
        local ex, ey = ends[of_x] or { -0.5, 0.75 }, ends[of_y] or { -0.5, 0.75 }
        check(gr.histogram2d(gr.array(xs, of_x), gr.array(ys, of_y), { bins = { 7, 5 }, range = { ex, ey } }), xs, ys,
          D.even_edges(ex[1], ex[2], 7), D.even_edges(ey[1], ey[2], 5), of_x, of_y)
      end
    end
  end)

  it("gives a matrix of i64 with a row for each bin of x", function()
    local h = gr.histogram2d(gr.array { 0, 0, 1, 2, nan }, gr.array { 0, 3, 3, 9, 1 }, { bins = { 2, 3 },
      range = { { 0, 2 }, { 0, 3 } } })
    assert.equal("i64", h.counts.dtype)
    assert.equal(2, h.counts.rows)
    S.same_all({ 1, 0, 1 }, h.counts[1], "x of bin 1")
    S.same_all({ 0, 0, 1 }, h.counts[2], "x of bin 2")
    assert.equal("f64", h.xedges.dtype)
    assert.equal(1, h.outside)
    assert.equal(1, h.nan)
    if S.integers then assert.equal("integer", math.type(h.outside)) end
    assert.equal(2, gr.array({ 1, 2 }):histogram2d(gr.array { 1, 2 }, { bins = 2 }).counts:sum())
  end)

  it("takes the range of each axis where none is given, and of nothing, as gr.histogram", function()
    local xs, ys = { 3, -1, 7, 2.5, huge, nan, -huge }, { 5, 5, 5, 5, 5, 5, 5 }
    local x, y = gr.array(xs, "f64"), gr.array(ys, "u8")
    check(gr.histogram2d(x, y, { bins = { 4, 2 } }), xs, ys, D.even_edges(-1, 7, 4), { 4.5, 5, 5.5 }, "both")
    check(gr.histogram2d(x, y, { bins = { 4, 2 }, range = { nil, { 0, 10 } } }), xs, ys, D.even_edges(-1, 7, 4),
      { 0, 5, 10 }, "of x")
    check(gr.histogram2d(x, y, { bins = { 4, 2 }, range = { { 0 }, { nil, 6 } } }), xs, ys, D.even_edges(0, 7, 4),
      { 5, 5.5, 6 }, "one end")
    local none = { 0, 0.5, 1 }
    check(gr.histogram2d(gr.zeros(0), gr.zeros(0, "i64"), { bins = 2 }), {}, {}, none, none, "nothing")
  end)

  -- Bins of samples of up to 32 bits are estimated in f32 where that is near enough: not of many or narrow bins.
  it("has gr.histogram's bins for narrow samples on and beside edges", function()
    local ranges = { { -4, 4, 64 }, { -3.7, 11.3, 100 }, { 0, 1, 333 }, { 1000, 1001, 7 }, { 1000, 1001, 3000 },
      { 2.0 ^ 23, 2.0 ^ 23 + 64, 64 }, { 2.0 ^ 23 + 0.5, 2.0 ^ 23 + 64, 200 }, { -2.0 ^ 30, 2.0 ^ 30, 4096 },
      { -2.0 ^ 30, 2.0 ^ 30 + 1, 100000 }, { 1e6, 1e6 + 1e-3, 5 }, { 1e-38, 2e-38, 9 }, { -3e38, 3e38, 40 },
      { 5, 5.5, 1 } }
    for k, row in ipairs(ranges) do
      local first, last, bins = row[1], row[2], row[3]
      local edges, step = D.even_edges(first, last, bins), math.max(1, math.floor(bins / 50))
      for _, dtype in ipairs { "f32", "f16", "bf16", "i32", "u32", "i16", "u8" } do
        local xs = {}
        for e = 1, bins + 1, step do
          for _, x in ipairs { edges[e], edges[e] * (1 - 2.0 ^ -23), edges[e] * (1 + 2.0 ^ -23), edges[e] - 1 } do
            xs[#xs + 1] = x
          end
        end
        for _, x in ipairs { nan, huge, -huge, 0, model.minus_zero, -1e308 } do xs[#xs + 1] = x end
        local beyond = last > 2.0 ^ 62 and not model.is_float[dtype] -- bins past all integers are none
        if not beyond then
          check_axis(gr.array(xs, "f64"):cast(dtype), { bins = bins, min = first, max = last }, k, dtype)
        end
      end
    end
  end)

  it("has gr.histogram's bins for what lies on and beside edges", function()
    local ranges = { { -3.7, 11.3, 100 }, { 0, 1, 333 }, { 1e-3, 1e5, 77 }, { -1, -0.1, 500 }, { -1e308, 0.7e308, 50 },
      { 1, 1 + 2.0 ^ -48, 16 }, { 1, 1 + 2.0 ^ -44, 100 }, { 0, 2.0 ^ -1060, 33 }, { 0, 2.0 ^ -1000, 33 },
      { -2.0 ^ -1074, 2.0 ^ -1070, 17 }, { 1e300, 1.1e300, 9 }, { -5e-324, 1e-320, 3 }, { 0, 3, 1 } }
    for k, row in ipairs(ranges) do
      local first, last, bins = row[1], row[2], row[3]
      local xs = hard(D.even_edges(first, last, bins))
      for _, x in ipairs { nan, huge, -huge, 0, model.minus_zero, 1e308, -1e308 } do xs[#xs + 1] = x end
      local ys = reversed(xs)
      local x, y = gr.array(xs, "f64"), gr.array(ys, "f64")
      local alone = { bins = bins, min = first, max = last }
      check_axis(x, alone, k)
      check(gr.histogram2d(x, y, { bins = bins, range = { { first, last }, { first, last } } }), xs, ys,
        gr.histogram(x, alone).edges:table(), gr.histogram(x, alone).edges:table(), k)
    end
  end)

  it("has gr.histogram's bins by factors, near the edges and far from them", function()
    local ranges = { { 1, 1000, 3 }, { 1e-3, 5e4, 77 }, { 2.0 ^ -1070, 2.0 ^ 1000, 500 }, { 3, 3.5, 1 },
      { 1, 1 + 2.0 ^ -30, 40 }, { 5, 5.0001, 200 }, { 1e-300, 1e300, 7 } }
    for k, row in ipairs(ranges) do
      local alone = { bins = row[3], min = row[1], max = row[2], log = true }
      local edges = gr.histogram(gr.ones(1), alone).edges:table()
      local xs = hard(edges)
      for _, x in ipairs { nan, huge, -huge, 0, model.minus_zero, -1, 2.0 ^ -1074 } do xs[#xs + 1] = x end
      local ys = reversed(xs)
      local x, y = gr.array(xs, "f64"), gr.array(ys, "f64")
      check_axis(x, alone, k)
      local range = { row[1], row[2] }
      check(gr.histogram2d(x, y, { bins = row[3], range = { range, range }, log = true }), xs, ys, edges, edges, k)
    end
    for _, dtype in ipairs { "u8", "i32", "i64", "f16", "bf16", "f32" } do
      local a = gr.array(S.whole(D.sparse(dtype, 2000, 4)), dtype)
      check_axis(a, { bins = 12, log = true, min = 0.01, max = 300 }, dtype)
    end
  end)

  it("has gr.histogram's bins between any edges", function()
    for _, bins in ipairs { 1, 2, 3, 7, 64, 1000 } do
      local edges = {}
      for k = 0, bins do edges[k + 1] = (k / bins) ^ 3 * 2 - 1 end
      local xs = hard(edges)
      for _, x in ipairs { nan, huge, -huge, 5, -5 } do xs[#xs + 1] = x end
      local x = gr.array(xs, "f64")
      check_axis(x, { edges = edges }, bins)
      local ys = reversed(xs)
      check(gr.histogram2d(x, gr.array(ys, "f64"), { bins = { nil, 6 }, range = { nil, { -1, 1 } },
        edges = { gr.array(edges, "f64") } }), xs, ys, edges, D.even_edges(-1, 1, 6), bins)
    end
    for _, dtype in ipairs(model.dtypes) do
      local e = ends[dtype] or { -0.5, 0.75 }
      local edges = { e[1], e[1] + (e[2] - e[1]) / 7, e[1] + (e[2] - e[1]) / 6, e[2] }
      check_axis(gr.array(S.whole(model.data(dtype, 3000, 8)), dtype), { edges = edges }, dtype)
    end
  end)

  it("compares i64 samples with edges exactly, to the ends of their range", function()
    -- Sums of arrays, as a number of Lua 5.1 holds 53 bits.
    local sums = { { -2.0 ^ 63, 0 }, { -2.0 ^ 63, 1 }, { -2.0 ^ 53, -1 }, { -2.0 ^ 53, 0 }, { -1, 0 }, { 0, 0 },
      { 0, 1 }, { 2.0 ^ 53, 0 }, { 2.0 ^ 53, 1 }, { 2.0 ^ 53, 3 }, { 2.0 ^ 62, -1 }, { 2.0 ^ 62, 0 }, { 2.0 ^ 62, 1 },
      { 2.0 ^ 63 - 1024, 0 }, { 2.0 ^ 63 - 1024, 1023 } }
    local a = gr.zeros(#sums, "i64")
    for k, sum in ipairs(sums) do
      gr.add(gr.full(1, sum[1], "i64"), gr.full(1, sum[2], "i64"), { into = a:slice(k, k) })
    end
    check_axis(a, { bins = 10, min = -2.0 ^ 62, max = 2.0 ^ 62 - 1024 })
    check_axis(a, { bins = 10, min = -2.0 ^ 60, max = 2.0 ^ 60 })
    check_axis(a, { bins = 4, min = -9007199254740994, max = 9007199254740994 })
    check_axis(a, { bins = 10, min = -2.0 ^ 63, max = 2.0 ^ 63 - 1024 })
    check_axis(a, { bins = 10, min = -2.0 ^ 63, max = 2.0 ^ 63 })
    check_axis(a, { bins = 5, min = -0.5, max = 3.5 })
    check_axis(a, { edges = { -2.0 ^ 63, 0, 0.5, 2.0 ^ 53, 2.0 ^ 53 + 2, 2.0 ^ 63 - 1024 } })
    check_axis(a, { edges = { -1e300, -1.5, 1.5, 1e300 } })
    check_axis(a, { bins = 7, min = 0.5, max = 1e17, log = true })
    check_axis(a, { bins = 7, min = 0.5, max = 2.0 ^ 63, log = true })
  end)

  it("adds weights of every dtype, as weighted histograms do: floats exactly", function()
    local n = 500
    local xs, ys = model.data("f64", n, 1), model.data("f32", n, 2)
    xs[9], ys[11] = nan, huge
    local x, y = gr.array(xs, "f64"), gr.array(ys, "f32")
    local ex, ey = D.even_edges(-0.5, 0.75, 6), D.even_edges(-1, 0.3, 4)
    for _, dtype in ipairs(model.dtypes) do
      local w = S.whole(D.medium(dtype, n, 8))
      if model.is_float[dtype] then
        for k = 1, n do w[k] = model.round[dtype](0.1 * (k % 17) - 0.7) end
      end
      local cells = cells_of(xs, ys, ex, ey, w)
      local h = gr.histogram2d(x, y, { bins = { 6, 4 }, range = { { -0.5, 0.75 }, { -1, 0.3 } },
        weights = gr.array(w, dtype) })
      assert.equal(model.is_float[dtype] and "f64" or "i64", h.counts.dtype)
      local got = h.counts:slice():table()
      got[25], got[26] = h.outside, h.nan
      for k = 1, 26 do
        local sum = 0
        if model.is_float[dtype] then sum = S.exact_sum(cells[k]) else
          for _, v in ipairs(cells[k]) do sum = sum + v end
        end
        S.same(sum + 0, got[k] + 0, "cell", k, dtype)
      end
      local e = gr.histogram2d(x, y, { bins = { 6, 4 }, range = { { -0.5, 0.75 }, { -1, 0.3 } },
        weights = gr.lazy(gr.array(w, dtype)) })
      S.same_all(h.counts:slice():table(), e.counts:slice(), "an expression's weights", dtype)
    end
  end)

  it("reads views, matrices and expressions", function()
    local n = 600
    local xs, ys = model.data("f32", n, 5), model.data("f64", n, 6)
    local options = { bins = { 9, 11 }, range = { { -0.9, 0.8 }, { -0.7, 0.9 } } }
    local uneven = { edges = { { -0.9, 0, 0.1, 0.8 }, { -0.7, -0.2, 0.9 } } }
    local first = gr.histogram2d(gr.array(xs, "f32"), gr.array(ys, "f64"), options)
    local other = gr.histogram2d(gr.array(xs, "f32"), gr.array(ys, "f64"), uneven)
    check(first, xs, ys, D.even_edges(-0.9, 0.8, 9), D.even_edges(-0.7, 0.9, 11))
    check(other, xs, ys, uneven.edges[1], uneven.edges[2])
    local counts, others = first.counts:slice():table(), other.counts:slice():table()
    local x_views, y_views = S.views(xs, "f32", 0), S.views(ys, "f64", 7)
    for k, view in ipairs(x_views) do
      local y = y_views[#y_views + 1 - k][2]
      S.same_all(counts, gr.histogram2d(view[2], y, options).counts:slice(), view[1])
      S.same_all(others, gr.histogram2d(view[2], y, uneven).counts:slice(), view[1])
    end
    local X, y, flat = gr.array(xs, "f32"):matrix(20), gr.array(ys, "f64"), gr.array(xs, "f32")
    local across = X:transpose():copy():transpose()
    for k, x in ipairs { X, across, gr.lazy(flat), gr.lazy(X) + 0, gr.lazy(flat) * 1 } do
      S.same_all(counts, gr.histogram2d(x, y, options).counts:slice(), "x", k)
      S.same_all(others, gr.histogram2d(x, y, uneven).counts:slice(), "x between edges", k)
      S.same_all(counts, gr.histogram2d(x, gr.lazy(y), options).counts:slice(), "both", k)
    end
    S.same_all(counts, (gr.lazy(flat)):histogram2d(y, options).counts:slice(), "a method")
    local squares = gr.histogram2d(gr.lazy(flat) * flat, y, { bins = 4 })
    S.same_all(gr.histogram2d((flat * flat), y, { bins = 4 }).counts:slice():table(), squares.counts:slice(), "range")
  end)

  it("takes expressions that fill one formula each, and nothing at all", function()
    local parts, sum = {}, nil
    for k = 1, 40 do
      parts[k] = gr.full(50, k % 7, "f64") + gr.rand(50, "f64", { seed = k })
      sum = sum and sum + parts[k] or gr.lazy(parts[k])
    end
    local deep = gr.lazy(gr.rand(50, "f64", { seed = 99 }))
    for _ = 1, 195 do deep = deep * 0.99 end
    local other = nil
    for k = 41, 80 do other = other and other + gr.rand(50, "f64", { seed = k }) or gr.lazy(gr.ones(50, "f64")) end
    for _, e in ipairs { { sum, other }, { sum, deep }, { deep, deep } } do
      local x, y = e[1]:eval(), e[2]:eval()
      local options = { bins = 5, range = { { x:min(), x:max() }, { y:min(), y:max() } } }
      local expected = gr.histogram2d(x, y, options).counts:slice():table()
      S.same_all(expected, gr.histogram2d(e[1], e[2], options).counts:slice())
    end
    for _, dtype in ipairs { "i64", "u8", "f32" } do
      local none = gr.zeros(0, dtype)
      local h = gr.histogram2d(none, none, { edges = { { 0, 1, 3 }, { 0, 1, 2, 4 } }, weights = gr.zeros(0) })
      S.same_all({ 0, 0, 0, 0, 0, 0 }, h.counts:slice(), dtype)
      assert.equal(0, h.outside)
    end
  end)

  it("of long arrays, in many cells", function()
    for _, n in ipairs { 16384, 16385, 100003 } do
      local x, y = gr.rand(n, "f32", { seed = 1 }), gr.rand(n, "f64", { seed = 2 })
      local h = gr.histogram2d(x, y, { bins = { 300, 400 }, range = { { 0, 1 }, { 0, 1 } } })
      assert.equal(n, h.counts:sum())
      S.same_all(gr.histogram(x, { bins = 300, min = 0, max = 1 }).counts:table(), h.counts:sum { axis = 2 }, "x", n)
      S.same_all(gr.histogram(y, { bins = 400, min = 0, max = 1 }).counts:table(), h.counts:sum { axis = 1 }, "y", n)
      local edges = gr.linspace(0, 1, 301, "f64") ^ 2
      local g = gr.histogram2d(x, y, { edges = { edges, edges } })
      S.same_all(gr.histogram(x, { edges = edges }).counts:table(), g.counts:sum { axis = 2 }, "x between edges", n)
      S.same_all(gr.histogram(y, { edges = edges }).counts:table(), g.counts:sum { axis = 1 }, "y between edges", n)
    end
  end)

  it("goes into a histogram that is there", function()
    local x, y = gr.rand(1000, "f32", { seed = 1 }), gr.rand(1000, "f32", { seed = 2 })
    local options = { bins = { 3, 4 }, range = { { 0, 1 }, { 0.2, 0.9 } } }
    local h, expected = gr.histogram2d(y, x, options), gr.histogram2d(x, y, options)
    options.into = h
    assert.equal(h, gr.histogram2d(x, y, options))
    S.same_all(expected.counts:slice():table(), h.counts:slice(), "counts")
    S.same(expected.outside, h.tails[1], "outside")
    options.into = gr.histogram2d(y, x, { bins = { 4, 3 } })
    assert.equal("bad argument #3 to 'histogram2d' (option 'into': histogram of 3 x 4 i64 expected, got another in its "
      .. "counts)", S.message(gr.histogram2d, x, y, options))
  end)

  it("gives densities, whose volumes add up to 1", function()
    local x, y = gr.array { 0, 0.5, 1, 3, 9 }, gr.array { 0, 1, 1, 0.5, 0 }
    local h = gr.histogram2d(x, y, { edges = { { 0, 1, 4 }, { 0, 0.5, 2 } }, density = true })
    assert.equal("f64", h.density.dtype)
    assert.equal(2, h.density.rows)
    S.same_all({ 1, 1, 0, 2 }, h.counts:slice(), "counts")
    S.same_all({ 1 / 1 / 0.5 / 4, 1 / 1 / 1.5 / 4, 0, 2 / 3 / 1.5 / 4 }, h.density:slice(), "density")
    assert.is_nil(gr.histogram2d(x, y, { bins = 2 }).density)
  end)

  it("gives a device's bits, and what a device holds stays there", function()
    local n = 20000
    local xs, ys = D.odd("f32", n, 3), S.whole(model.data("i64", n, 4))
    local function all()
      local x, y, list = gr.array(xs, "f32"), gr.array(ys, "i64"), {}
      local w = gr.array(model.data("f64", n, 5), "f64")
      local even = { bins = { 30, 20 }, range = { { -0.9, 0.9 }, { -2.0 ^ 40, 2.0 ^ 40 } } }
      for _, options in ipairs { even, { bins = { 30, 20 }, range = { { 0.01, 0.9 }, { 1, 2.0 ^ 50 } }, log = true },
        { edges = { { -0.5, 0, 0.7, 0.8 }, { -2.0 ^ 50, 0, 10, 2.0 ^ 61 } } } } do
        local h = gr.histogram2d(x, y, options)
        options.weights = w
        local g = gr.histogram2d(x, y, options)
        list[#list + 1] = h.counts:digest() .. g.counts:digest() .. h.xedges:digest() .. h.yedges:digest()
        options.weights = nil
      end
      return table.concat(list, " "), even, x, y
    end
    local here = all()
    S.on("pretend", function()
      local there, even, x, y = all()
      assert.equal(here, there)
      local moved = S.counted(function() gr.histogram2d(x, y, even) end)
      assert.equal(0, moved.bytes_up + moved.bytes_down)
    end)
  end)

  it("says what is wrong", function()
    local a, b = gr.ones(5), gr.ones(4)
    local function says(text, ...) assert.equal("bad argument #" .. text, S.message(gr.histogram2d, ...)) end
    says("2 to 'histogram2d' (length 5 expected, got 4)", a, b, { bins = 2 })
    says("2 to 'histogram2d' (gpureduce.array expected, got table)", a, {}, { bins = 2 })
    says("3 to 'histogram2d' (options table with 'bins' or 'edges' expected, got no value)", a, a)
    says("3 to 'histogram2d' (option 'bins' or 'edges' expected for x)", a, a, {})
    says("3 to 'histogram2d' (option 'bins' or 'edges' expected for y)", a, a, { bins = { 3 } })
    says("3 to 'histogram2d' (unknown option 'bin' (did you mean 'bins'?))", a, a, { bin = 3 })
    says("3 to 'histogram2d' (option 'bins': 1 to 2147483632 expected for y, got 0)", a, a, { bins = { 1, 0 } })
    says("3 to 'histogram2d' (option 'bins': whole number expected for x, got 2.5)", a, a, { bins = 2.5 })
    says("3 to 'histogram2d' (option 'bins': number expected for x, got string)", a, a, { bins = "x" })
    says("3 to 'histogram2d' (option 'bins': one for x and one for y expected, got more)", a, a, { bins = { 1, 2, 3 } })
    says("3 to 'histogram2d' (option 'log': data above 0 or a 'range' expected, but the least element is -1 (along y))",
      a, a:neg(), { bins = 2, log = true })
    says("3 to 'histogram2d' (65536 x 65536 bins are more than 2147483632)", a, a, { bins = 65536 })
    says("3 to 'histogram2d' (option 'range': {{x0, x1}, {y0, y1}} expected, got number for x)", a, a,
      { bins = 2, range = { 0, 1 } })
    says("3 to 'histogram2d' (option 'range': table of one for x and one for y expected, got number)", a, a,
      { bins = 2, range = 3 })
    says("3 to 'histogram2d' (option 'range': two numbers expected for y, got string)", a, a,
      { bins = 2, range = { { 0, 1 }, { 0, "1" } } })
    says("3 to 'histogram2d' (option 'range': finite numbers expected for y, got inf)", a, a,
      { bins = 2, range = { { 0, 1 }, { 0, huge } } })
    says("3 to 'histogram2d' (min 1 is not below max 1 (along y))", a, a, { bins = 2, range = { { 0, 1 }, { 1, 1 } } })
    says("3 to 'histogram2d' (option 'range': above 0 expected for x with 'log', got 0)", a, a,
      { bins = 2, range = { { 0, 1 } }, log = true })
    says("3 to 'histogram2d' (option 'log': boolean expected for y, got number)", a, a, { bins = 2, log = { true, 1 } })
    says("3 to 'histogram2d' (option 'edges': takes no 'bins', 'range' or 'log' for x)", a, a,
      { bins = 2, edges = { { 1, 2 }, { 1, 2 } } })
    says("3 to 'histogram2d' (option 'edges[2]': 2 or more edges expected, got 1)", a, a,
      { edges = { { 1, 2 }, { 1 } } })
    says("3 to 'histogram2d' (option 'edges[1]': dtype f64 expected, got f32)", a, a, { edges = { a, a } })
    says("3 to 'histogram2d' (option 'edges[1]': edge 2: number expected, got string)", a, a,
      { edges = { { 1, "2" }, { 1, 2 } } })
    says("3 to 'histogram2d' (edges must rise, but edge 1 is 2 and edge 2 is 2 (along y))", a, a,
      { edges = { { 1, 2 }, { 2, 2 } } })
    says("3 to 'histogram2d' (option 'weights': length 5 expected, got 4)", a, a, { bins = 2, weights = b })
    says("3 to 'histogram2d' (option 'into': histogram of pairs expected, got gpureduce.histogram)", a, a,
      { bins = 2, into = gr.histogram(a, { bins = 2 }) })
    says("3 to 'histogram2d' (option 'density': takes no 'into')", a, a,
      { bins = 2, density = true, into = gr.histogram2d(a, a, { bins = 2 }) })
    local trap = setmetatable({}, { __index = function() return 2 end })
    says("3 to 'histogram2d' (option 'bins': table without __index expected: tables are read raw)", a, a,
      { bins = trap })
    local gone = gr.ones(5)
    gone:release()
    says("2 to 'histogram2d' (array has been released)", a, gone, { bins = 2 })
  end)
end)

describe("histogram2d of what is present", function()
  local function same(expected, got)
    for _, part in ipairs { "counts", "tails", "xedges", "yedges" } do
      assert.equal(expected[part].dtype, got[part].dtype)
      assert.is_true(expected[part]:equal(got[part]), part)
    end
  end

  -- Elements at the positions that are kept.
  local function at(t, kept)
    local list = {}
    for k, position in ipairs(kept) do list[k] = t[position] end
    return list
  end

  it("is that of the pairs that are left, in all dtypes, with weights and without", function()
    S.on_each(function()
      local n, x, y, w, m = 3000, {}, {}, {}, {}
      for k = 1, n do
        x[k], y[k], w[k], m[k] = k * 7 % 50, k * 11 % 60, k % 5, k % 3 > 0 and 1 or 0
        if k % 41 == 0 then x[k] = nan elseif k % 43 == 0 then y[k] = nan end
      end
      for _, types in ipairs { { "f32", "f64" }, { "u8", "f32" }, { "f16", "i64" }, { "i32", "u16" } } do
        local tx, ty = {}, {}
        for k = 1, n do
          tx[k] = types[1]:find "f" and x[k] or x[k] == x[k] and x[k] or 0
          ty[k] = types[2]:find "f" and y[k] or y[k] == y[k] and y[k] or 0
        end
        for _, way in ipairs { { skipnan = true }, { mask = m }, { skipnan = true, mask = m } } do
          local kept = {}
          for k = 1, n do
            local number = tx[k] == tx[k] and ty[k] == ty[k]
            if (number or not way.skipnan) and (not way.mask or m[k] == 1) then kept[#kept + 1] = k end
          end
          for _, weights in ipairs { false, "i32", "f64" } do
            local options = { bins = { 6, 5 }, skipnan = way.skipnan, mask = way.mask and gr.array(m, "u8"),
              weights = weights and gr.array(w, weights) or nil }
            local expected = gr.histogram2d(gr.array(at(tx, kept), types[1]), gr.array(at(ty, kept), types[2]),
              { bins = { 6, 5 }, weights = weights and gr.array(at(w, kept), weights) or nil })
            local a, b = gr.array(tx, types[1]), gr.array(ty, types[2])
            same(expected, gr.histogram2d(a, b, options))
            options.into = gr.histogram2d(a, b, { bins = { 6, 5 }, weights = options.weights })
            same(expected, gr.histogram2d(gr.lazy(a) + 0, gr.lazy(b) + 0, options))
          end
        end
      end
    end)
  end)

  it("refuses masks that are none", function()
    local a = gr.arange(1, 5)
    local function says(text, options) assert.equal(text, S.message(gr.histogram2d, a, a, options)) end
    says("bad argument #3 to 'histogram2d' (option 'mask': dtype u8 expected, got f32)", { bins = 2, mask = a })
    says("bad argument #3 to 'histogram2d' (option 'mask': length 5 expected, got 4)",
      { bins = 2, mask = gr.ones(4, "u8") })
    says("bad argument #3 to 'histogram2d' (option 'skipnan': boolean expected, got number)", { bins = 2, skipnan = 1 })
  end)
end)
