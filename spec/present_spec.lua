-- Scans, histograms, bincounts and quantiles of what is present: {skipnan = true} and {mask = m}.
local S = require "spec.support"
local D = require "spec.data"
local F = require "spec.missing"
local gr, model = S.gr, S.model
local nan, huge, NZ = model.nan, math.huge, model.minus_zero

local floats = { "f16", "bf16", "f32", "f64" }

-- Data with NaN, and a mask: of n elements.
local function holes(dtype, n, seed)
  local t, g, m = S.whole(D.medium(dtype, n, seed)), model.generator(seed + 1), {}
  for k = 1, n do
    if model.is_float[dtype] and g() % 4 == 0 then t[k] = nan end
    m[k] = g() % 3
  end
  return t, m
end

local function kept(t, there)
  local list = {}
  for k = 1, #there do if there[k] then list[#list + 1] = t[k] end end
  return list
end

describe("a scan of what is present", function()
  local fill = { sum = function() return 0 end, prod = function() return 1 end,
    min = function(dtype) return model.is_float[dtype] and huge or model.highest[dtype] end,
    max = function(dtype) return model.is_float[dtype] and -huge or model.lowest[dtype] end }

  it("is the model's, where what is missing changes nothing", function()
    S.on_each(function(device)
      for _, dtype in ipairs(model.dtypes) do
        for op, filling in pairs(fill) do
          for _, n in ipairs { 1, 2, 50, 1500 } do
            local t, m = holes(dtype, n, n)
            if op == "prod" then
              for k = 1, n do if t[k] == t[k] then t[k] = k % 9 == 0 and n < 100 and 2 or 1 end end
            end
            local there = F.there(n, t, true, m)
            local function at(k)
              if there[k] then return t[k] end
              return filling(dtype) * (model.is_float[dtype] and 1.0 or 1)
            end
            local a, options = gr.array(t, dtype), { skipnan = true, mask = gr.array(m, "u8") }
            for way = 0, 3 do
              options.exclusive, options.reverse = way % 2 == 1, way >= 2
              local expected = model.scan(op, dtype, n, at, options.exclusive, options.reverse)
              S.same_all(expected, a:scan(op, options), op, dtype, n, device)
              S.same_all(expected, (gr.lazy(a) + 0):scan(op, options), op, dtype, n, device, "expression")
            end
          end
        end
      end
    end)
  end)

  it("holds the running value, and the identity before there is one", function()
    local a = gr.array({ nan, 1, nan, 2, 3, nan }, "f32")
    S.same_all({ 0.0, 1, 1, 3, 6, 6 }, a:scan { skipnan = true })
    S.same_all({ huge, 1, 1, 1, 1, 1 }, a:scan("min", { skipnan = true }))
    S.same_all({ 1, 1, 1, 2, 6, 6 }, a:scan("prod", { skipnan = true }))
    S.same_all({ -128, -128, 7 }, gr.array({ 3, 9, 7 }, "i8"):scan("max", { mask = gr.array({ 0, 0, 1 }, "u8") }))
    S.same_all({ 0, 1, 1, 2, 5, 5 }, a:scan { skipnan = true, rows = 2 })
    S.same_all({ 0, 1, 0, 2, 4, 0 }, a:scan { skipnan = true, rows = 2, axis = 1 })
    S.same_all({ 0.0, 0.0 }, gr.array({ nan, NZ }, "f32"):scan { skipnan = true })
    assert.equal(0, #gr.zeros(0):scan { skipnan = true })
  end)

  it("goes into an array, itself too", function()
    local t = { nan, 1, nan, 2, 3, nan }
    local a, out = gr.array(t, "f32"), gr.zeros(6, "f32")
    assert.equal(out, a:scan { skipnan = true, into = out })
    S.same_all({ 0, 1, 1, 3, 6, 6 }, out)
    assert.equal(a, a:scan("sum", { mask = gr.array({ 0, 1, 0, 1, 1, 0 }, "u8"), into = a }))
    S.same_all({ 0, 1, 1, 3, 6, 6 }, a)
    assert.equal("bad argument #2 to 'scan' (option 'kernel': takes no 'skipnan')",
      S.message(gr.scan, a, { skipnan = true, kernel = "blelloch" }))
    assert.equal("bad argument #2 to 'scan' (option 'mask': length 6 expected, got 1)",
      S.message(gr.scan, a, { mask = gr.ones(1, "u8") }))
    local bytes = gr.ones(6, "u8")
    assert.equal("bad argument #3 to 'scan' (option 'into': overlaps the mask)",
      S.message(gr.scan, gr.ones(6, "u8"), "max", { mask = bytes, into = bytes }))
  end)
end)

-- Counts, or sums of weights, of list by edges: bins, below, above, nan.
local function counted(t, there, w, edges)
  local bins, r = #edges - 1, {}
  for k = 1, bins + 3 do r[k] = 0 end
  for i = 1, #there do
    local x = t[i]
    local k
    if there[i] then
      if x ~= x then k = bins + 3
      elseif x < edges[1] then k = bins + 1
      elseif x > edges[bins + 1] then k = bins + 2
      else
        k = 1
        while k < bins and x >= edges[k + 1] do k = k + 1 end
      end
      r[k] = r[k] + (w and w[i] or 1)
    end
  end
  return r
end

local function check(h, expected, ...)
  local bins = #expected - 3
  for k = 1, bins do S.same(expected[k] + 0.0, h.counts[k] + 0.0, "bin", k, ...) end
  S.same(expected[bins + 1] + 0.0, h.below + 0.0, "below", ...)
  S.same(expected[bins + 2] + 0.0, h.above + 0.0, "above", ...)
  S.same(expected[bins + 3] + 0.0, h.nan + 0.0, "nan", ...)
end

describe("a histogram of what is present", function()
  it("counts it alone", function()
    S.on_each(function(device)
      for _, dtype in ipairs(model.dtypes) do
        for _, n in ipairs { 1, 30, 5000 } do
          local t, m = holes(dtype, n, n + 2)
          local a, mask, w = gr.array(t, dtype), gr.array(m, "u8"), D.each(n, function(k) return k % 7 end)
          local edges = { -2.5, -0.25, 0.5, 1.25, 77 }
          local weights, all = gr.array(S.whole(w), "i32"), D.each(n, function() return 1 end)
          for _, way in ipairs { { m, nil }, { m, true }, { all, true } } do
            local there = F.there(n, t, way[2], way[1])
            local options = { edges = edges, mask = gr.array(way[1], "u8"), skipnan = way[2] }
            check(a:histogram(options), counted(t, there, nil, edges), dtype, n, device)
            check((gr.lazy(a) + 0):histogram(options), counted(t, there, nil, edges), dtype, n, "expression")
            options.weights = weights
            check(a:histogram(options), counted(t, there, w, edges), dtype, n, device, "weights")
            options.weights = weights:cast("f32")
            check(a:histogram(options), counted(t, there, w, edges), dtype, n, device, "f32 weights")
          end
          check(a:histogram { edges = edges, skipnan = true }, counted(t, F.there(n, t, true), nil, edges), dtype, n)
          check(a:histogram { bins = 4, min = -1, max = 3, mask = mask },
            counted(t, F.there(n, t, false, m), nil, { -1, 0, 1, 2, 3 }), dtype, n, device, "even")
        end
      end
    end)
  end)

  it("has the range of what is present", function()
    for _, dtype in ipairs { "i32", "i64", "f32", "f64" } do
      local a, m = gr.array({ 5, -100, 1, 9, 3 }, dtype), gr.array({ 1, 0, 2, 1, 1 }, "u8")
      local h = a:histogram { bins = 4, mask = m }
      S.same_all({ 1, 3, 5, 7, 9 }, h.edges, dtype)
      S.same_all({ 1, 1, 1, 1 }, h.counts:table(), dtype)
      S.same(0, h.below + 0)
      h = (gr.lazy(a) * 2):histogram { bins = 4, mask = gr.lazy(m):gt(0) }
      S.same_all({ 2, 6, 10, 14, 18 }, h.edges, dtype, "expressions")
      h = a:histogram { bins = 2, mask = gr.zeros(5, "u8") }
      S.same_all({ 0, 0.5, 1 }, h.edges, dtype, "nothing")
      S.same_all({ 0, 0 }, h.counts:table(), dtype, "nothing")
    end
    local h = gr.array({ nan, 1, 3, nan, huge }, "f32"):histogram { bins = 2, skipnan = true }
    S.same_all({ 1, 2, 3 }, h.edges)
    S.same(0, h.nan + 0)
    S.same(1, h.above + 0)
  end)

  it("of rows and columns, into another, with densities and logarithms", function()
    local t, m = holes("f32", 600, 5)
    local a, mask = gr.array(t, "f32"), gr.array(m, "u8")
    for _, way in ipairs { { skipnan = true }, { mask = mask }, { skipnan = true, mask = mask } } do
      for axis = 1, 2 do
        local vectors = a:histogram { bins = 3, min = -1, max = 1, rows = 6, axis = axis, skipnan = way.skipnan,
          mask = way.mask }
        for k = 1, axis == 2 and 6 or 100, 5 do
          local first, last, step = k, 600, 100
          if axis == 2 then first, last, step = (k - 1) * 100 + 1, k * 100, 1 end
          local one = a:slice(first, last, step):histogram { bins = 3, min = -1, max = 1, skipnan = way.skipnan,
            mask = way.mask and mask:slice(first, last, step) }
          S.same_all(one.counts:table(), vectors[k].counts, axis, k)
          S.same_all(one.tails:table(), vectors[k].tails, axis, k)
        end
      end
      local whole = a:histogram { bins = 3, min = -1, max = 1, skipnan = way.skipnan, mask = way.mask }
      local into = a:histogram { bins = 3, min = -1, max = 1 }
      a:histogram { bins = 3, min = -1, max = 1, skipnan = way.skipnan, mask = way.mask, into = into }
      S.same_all(whole.counts:table(), into.counts)
      S.same_all(whole.tails:table(), into.tails)
    end
    local h = gr.array({ 1, nan, 3, 3 }, "f32"):histogram { bins = 2, min = 0, max = 4, density = true, skipnan = true,
      mask = gr.array({ 1, 1, 1, 0 }, "u8") }
    S.same_all({ 0.25, 0.25 }, h.density)
    h = gr.array({ -5, 1, 100 }, "f32"):histogram { bins = 2, log = true, mask = gr.array({ 0, 1, 1 }, "u8") }
    S.same_all({ 1, 1 }, h.counts:table())
    local later = gr.async(gr.histogram, a, { bins = 3, min = -1, max = 1, skipnan = true }):get()
    S.same(0, later.nan + 0)
  end)

  it("does not look at weights of what is missing", function()
    local a = gr.array({ 1, 2, nan, 4 }, "f32")
    local w = gr.array({ 1, nan, huge, 0.5 }, "f64")
    local h = a:histogram { edges = { 0, 3, 5 }, weights = w, skipnan = true, mask = gr.array({ 1, 0, 1, 1 }, "u8") }
    S.same_all({ 1, 0.5 }, h.counts)
    assert.matches("finite weights", S.message(gr.histogram, a, { edges = { 0, 3 }, weights = w, skipnan = true }), 1,
      true)
    assert.equal("bad argument #2 to 'histogram' (option 'mask': takes no 'kernel')",
      S.message(gr.histogram, gr.ones(4, "i32"), { bins = 2, mask = gr.ones(4, "u8"), kernel = "naive" }))
  end)

  it("and bincounts: neither is counted nor need it be one", function()
    S.on_each(function()
      local a, m = gr.array({ 1, -7, 3, 1, 1000000 }, "i32"), gr.array({ 1, 0, 1, 9, 0 }, "u8")
      S.same_all({ 0, 2, 0, 1 }, a:bincount { mask = m })
      S.same_all({ 0.0, 0.75, 0.0, 2.0 }, a:bincount { mask = m, weights = gr.array({ 0.5, nan, 2, 0.25, 1 }, "f64") })
      S.same_all({ 0, 0 }, a:bincount { mask = gr.zeros(5, "u8"), minlength = 2 })
      S.same_all({ 0, 1 }, (gr.lazy(a) + 0):bincount { mask = gr.lazy(m):eq(9), skipnan = true })
    end)
  end)
end)

describe("quantiles of what is present", function()
  it("are those of the rest", function()
    S.on_each(function(device)
      for _, dtype in ipairs(model.dtypes) do
        for _, n in ipairs { 3, 40, 3000 } do
          local t, m = holes(dtype, n, n + 4)
          t[1], m[1] = 1, 1
          local a, mask = gr.array(t, dtype), gr.array(m, "u8")
          for _, way in ipairs { { skipnan = true }, { mask = mask }, { skipnan = true, mask = mask } } do
            local rest = kept(t, F.there(n, t, way.skipnan, way.mask and m))
            local of = gr.array(rest, dtype)
            local function options(o)
              o = o or {}
              o.skipnan, o.mask = way.skipnan, way.mask
              return o
            end
            S.same(of:median(), a:median(options()), dtype, n, device)
            S.same(of:quantile(0.3), (gr.lazy(a) + 0):quantile(0.3, options()), dtype, n)
            S.same_all(of:quantile({ 1, 0.1 }, { method = "lower" }):table(),
              a:quantile({ 1, 0.1 }, options { method = "lower" }), dtype, n)
            local w = D.each(n, function(k) return k % 5 + 1 end)
            local heavy = gr.array(kept(w, F.there(n, t, way.skipnan, way.mask and m)), "f32")
            S.same(of:quantile(0.6, { weights = heavy }),
              a:quantile(0.6, options { weights = gr.array(w, "f32") }), dtype, n, "weights")
          end
        end
      end
    end)
    -- By hand, so that it is not the module alone that says so.
    S.same(2.5, gr.array({ nan, 1, nan, 2, 3, 9 }):median { skipnan = true })
    S.same(1.75, gr.array({ nan, 1, nan, 2, 3, 9 }):quantile(0.25, { skipnan = true }))
    S.same(2.0, gr.array({ 5, 1, 2, 3 }, "u8"):median { mask = gr.array({ 0, 1, 1, 1 }, "u8") })
    S.same(nan, gr.array({ nan, 1, 2 }):median { mask = gr.array({ 1, 1, 0 }, "u8") })
  end)

  it("of rows and columns", function()
    local t, m = holes("f64", 600, 6)
    for k = 1, 600 do -- every row and column has an element
      if k <= 200 or k % 200 == 1 then t[k], m[k] = k / 7, 1 end
    end
    local a, mask = gr.array(t, "f64"), gr.array(m, "u8")
    for axis = 1, 2 do
      local got = a:quantile({ 0.2, 0.9 }, { rows = 3, axis = axis, skipnan = true })
      local medians = a:median { rows = 3, axis = axis, skipnan = true, mask = gr.lazy(mask):gt(0) }
      for k = 1, axis == 2 and 3 or 200 do
        local first, last, step = k, 600, 200
        if axis == 2 then first, last, step = (k - 1) * 200 + 1, k * 200, 1 end
        local one = a:slice(first, last, step)
        S.same(one:quantile(0.9, { skipnan = true }), got[2][k], axis, k)
        S.same(one:median { skipnan = true, mask = mask:slice(first, last, step) }, medians[k], axis, k)
      end
    end
  end)

  it("need an element", function()
    local x = gr.array({ 1, nan, nan, nan }, "f32"):matrix(2)
    assert.equal("bad argument #2 to 'median' (option 'skipnan': no element of row 2 is present: 'median' needs one)",
      S.message(gr.median, x, { axis = 2, skipnan = true }))
    assert.equal("bad argument #3 to 'quantile' (option 'mask': no element is present: 'quantile' needs one)",
      S.message(gr.quantile, x, 0.5, { mask = gr.zeros(4, "u8") }))
    local into = gr.full(2, 7, "f64")
    S.message(gr.median, x, { axis = 2, skipnan = true, into = into })
    S.same_all({ 7, 7 }, into)
    S.same_all({ 1 }, gr.median(x:slice(1, 2), { rows = 1, skipnan = true, into = into:slice(2, 2) }))
    assert.equal("bad argument #1 to 'median' (array is empty: 'median' needs an element)",
      S.message(gr.median, gr.zeros(0), { skipnan = true }))
    for _, dtype in ipairs(floats) do
      assert.equal(2, gr.array({ nan, 1, 3 }, dtype):median { skipnan = true })
    end
  end)
end)

describe("an operator of one's own", function()
  local pair = gr.operator { state = { "s", "c" }, map = { s = "f64(x)", c = "1" },
    merge = { s = "s1 + s2", c = "c1 + c2" }, identity = { s = 0, c = 0 } }
  local concat = gr.operator { state = "s", map = "f64(x)", merge = "10 * s1 + s2", identity = 0, commutative = false }

  it("takes what is present of each vector", function()
    S.on_each(function(device)
      local t, m = holes("f32", 240, 7)
      local a, mask = gr.array(t, "f32"), gr.array(m, "u8")
      local whole = { a:reduce(pair, { skipnan = true, mask = mask }) }
      assert.equal(F.count(F.there(240, t, true, m)), whole[2], device)
      for _, shape in ipairs { { rows = 4 }, { rows = 4, axis = 1 }, { segments = { 1, 1, 50, 241 } } } do
        local sums, counts = pair(a, { rows = shape.rows, axis = shape.axis, segments = shape.segments, skipnan = true,
          mask = gr.lazy(mask):ne(0) })
        local expected = a:count { op = "~=", value = huge, rows = shape.rows, axis = shape.axis,
          segments = shape.segments, skipnan = true, mask = mask }
        S.same_all(expected:table(), counts:table(), device)
        assert.equal(#expected, #sums)
      end
    end)
    local x = gr.array({ 1, nan, 2, nan, nan, 3 }, "f64")
    assert.equal(123, x:reduce(concat, { skipnan = true }))
    S.same_all({ 12, 3 }, x:reduce(concat, { rows = 2, skipnan = true }))
    S.same_all({ 1, 0, 23 }, x:reduce(concat, { axis = 1, rows = 2, skipnan = true }))
    S.same_all({ 0, 23 }, x:reduce(concat, { segments = { 2, 3, 7 }, skipnan = true, into = gr.zeros(2, "f64") }))
    assert.equal(0, x:reduce(concat, { mask = gr.zeros(6, "u8") }))
    local into = gr.zeros(2, "f64")
    assert.equal(into, (gr.lazy(x) * 1):reduce(concat, { skipnan = true, into = into, at = 2 }))
    S.same_all({ 0, 123 }, into)
    assert.equal(123, x:reduce(concat, { skipnan = true, async = true }):get())
    S.same_all({ 1, 1, 12, 12, 12, 123 }, gr.scan(x, concat, { skipnan = true }))
    local u = gr.ones(2, "u8")
    local same = gr.operator { state = "s", map = "x", merge = "max(s1, s2)", identity = 0 }
    assert.equal("bad argument #3 to 'reduce' (option 'into': overlaps the mask)",
      S.message(gr.reduce, gr.ones(2, "u8"), same, { mask = u, into = u, at = 1 }))
  end)
end)
