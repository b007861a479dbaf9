-- Scans, quantiles and histograms of rows and columns: each is that of the same vector alone.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local message, on_each = S.message, S.on_each

local shapes = { { 1, 1 }, { 1, 9 }, { 7, 1 }, { 3, 5 }, { 6, 130 }, { 130, 6 } }

-- Calls f(matrix, the vectors of it along the axis as tables, axis, dtype) for matrices of every kind.
local function each_matrix(dtypes, f)
  on_each(function()
    for _, dtype in ipairs(dtypes) do
      for s, shape in ipairs(shapes) do
        local rows, columns = shape[1], shape[2]
        local flat, lists = S.whole(D.medium(dtype, rows * columns, s)), { {}, {} }
        for k = 1, columns do lists[1][k] = {} end
        for k = 1, rows do lists[2][k] = {} end
        for i = 1, rows do
          for j = 1, columns do
            lists[1][j][i], lists[2][i][j] = flat[(i - 1) * columns + j], flat[(i - 1) * columns + j]
          end
        end
        local X = gr.array(flat, dtype):matrix(rows)
        for axis = 1, 2 do f(X, lists[axis], axis, dtype) end
      end
    end
  end)
end

-- Vector k of a matrix of results that has the shape of X.
local function line(Y, axis, k) return axis == 1 and Y:column(k) or Y:row(k) end

describe("of rows and columns", function()
  it("scans are those of each vector", function()
    each_matrix({ "f32", "f64", "i32", "u8", "f16" }, function(X, list, axis, dtype)
      for _, op in ipairs { "sum", "max" } do
        for _, how in ipairs { {}, { exclusive = true }, { reverse = true } } do
          if op == "sum" or not how.exclusive then
            local Y = X:scan(op, { axis = axis, exclusive = how.exclusive, reverse = how.reverse })
            assert.same(X.shape, Y.shape)
            for k, vector in ipairs(list) do
              S.same_all(gr.array(vector, dtype):scan(op, how), line(Y, axis, k), op, dtype, axis, k)
            end
            local flat = X:slice():scan(op, { rows = X.rows, axis = axis, exclusive = how.exclusive,
              reverse = how.reverse })
            assert.is_true(flat:equal(Y:slice()))
          end
        end
      end
    end)
    local X = gr.arange(1, 6, "i32"):matrix(2)
    S.same_all({ 1, 3, 6, 4, 9, 15 }, X:scan { axis = 2 }:slice())
    S.same_all({ 1, 2, 3, 5, 7, 9 }, X:scan { axis = 1 }:slice())
    S.same_all({ 1, 3, 6, 10, 15, 21 }, X:scan():slice())
    local into = gr.zeros(6, "i64")
    assert.equal(into, X:scan("sum", { axis = 2, into = into }))
    S.same_all({ 1, 3, 6, 4, 9, 15 }, into)
    S.same_all({ 1, 5, 2, 7, 3, 9 }, X:transpose():scan { axis = 2 }:slice())
  end)

  it("quantiles and medians are those of each vector", function()
    each_matrix({ "f32", "f64", "i32", "u8", "bf16" }, function(X, list, axis, dtype)
      for _, method in ipairs { "linear", "lower", "midpoint" } do
        local shares = { 0, 0.3, 1 }
        local Q, one = X:quantile(shares, { axis = axis, method = method }), X:quantile(0.3, { axis = axis,
          method = method })
        assert.same({ 3, #list }, Q.shape)
        assert.same({ #list }, one.shape)
        for k, vector in ipairs(list) do
          local a = gr.array(vector, dtype)
          S.same_all(a:quantile(shares, { method = method }), Q:column(k), method, dtype, axis, k)
          S.same(a:quantile(0.3, { method = method }), one[k], method, dtype, axis, k)
        end
      end
      local M, K = X:median { axis = axis }, X:median { axis = axis, keepdims = true, out = "f32" }
      assert.same(axis == 1 and { 1, #list } or { #list, 1 }, K.shape)
      assert.equal("f32", K.dtype)
      for k, vector in ipairs(list) do
        S.same(gr.array(vector, dtype):median(), M[k], "median", dtype, axis, k)
        S.same(model.round.f32(M[k]), K:slice()[k], "median in f32")
      end
    end)
    local a, into = gr.array { 3, 1, 2, 6, 5, 4 }, gr.zeros(6, "f64")
    assert.equal(into, a:quantile({ 0, 0.5, 1 }, { rows = 2, into = into }))
    S.same_all({ 1, 4, 2, 5, 3, 6 }, into)
    S.same(model.round.f32(1.1), gr.array({ 1, 2 }):quantile(0.1, { out = "f32" }))
    S.same_all({ 2, 5 }, gr.lazy(a):median { rows = 2 })
    S.same_all({}, gr.zeros(0):median { rows = 3, axis = 1 })
  end)

  it("histograms are those of each vector, with bins in common", function()
    each_matrix({ "f32", "i32", "u8", "f64" }, function(X, list, axis, dtype)
      local whole = gr.histogram(X, { bins = 4 })
      for _, way in ipairs { { bins = 4 }, { bins = 5, min = -3, max = 40 }, { edges = { -5, 0, 1, 60 } },
        { bins = 4, weights = X } } do
        way.axis = axis
        local h = gr.histogram(X, way)
        local bins = way.bins or 3
        assert.same({ #list, bins }, h.counts.shape)
        assert.equal(#list, #h)
        if way.bins == 4 then assert.is_true(whole.edges:equal(h.edges)) end
        for k, vector in ipairs(list) do
          local a = gr.array(vector, dtype)
          local alone = gr.histogram(a, { edges = h.edges, weights = way.weights and a })
          S.same_all(alone.counts, h[k].counts, dtype, axis, k)
          S.same_all(alone.counts, h.counts[k], dtype, axis, k)
          S.same(alone.below, h[k].below, "below")
          S.same(alone.above, h[k].above, "above")
        end
      end
    end)
    local h = gr.histogram(gr.array { 1, 2, 3, 10 }, { bins = 2, rows = 2 })
    assert.same({ { 2, 0 }, { 1, 1 } }, h.counts:table())
    assert.equal(1, h[1]:quantile(0) > 0 and 1 or 0)
    local none = gr.histogram(gr.zeros(0), { bins = 2, min = 0, max = 1, rows = 3, axis = 1 })
    assert.equal(0, #none)
    S.same_all({ 0, 0.5, 1 }, none.edges)
    local remainders = gr.histogram(gr.arange(0, 5, "i32"), { bins = 3, modulo = true, rows = 2 })
    assert.same({ { 1, 1, 1 }, { 1, 1, 1 } }, remainders.counts:table())
  end)

  it("refuse what does not go together", function()
    local a, X = gr.arange(1, 6), gr.arange(1, 6):matrix(2)
    local rows = {
      { "#2 to 'scan' (option 'axis': only together with 'rows')", gr.scan, a, { axis = 1 } },
      { "#3 to 'scan' (option 'axis': 1 (down the columns) or 2 (along the rows) expected, got 0)", gr.scan, X, "sum",
        { axis = 0 } },
      { "#2 to 'scan' (option 'kernel': takes no rows or columns)", gr.scan, X, { axis = 1, kernel = "single_pass" } },
      { "#3 to 'quantile' (option 'rows': 4 rows do not divide length 6)", gr.quantile, a, 0.5, { rows = 4 } },
      { "#3 to 'quantile' (option 'keepdims': only together with one share)", gr.quantile, X, { 0, 1 },
        { axis = 1, keepdims = true } },
      { "#3 to 'quantile' (option 'keepdims': only together with 'rows')", gr.quantile, a, 0.5, { keepdims = true } },
      { "#3 to 'quantile' (option 'out': only for results of f64, 'quantile' of f32 gives f32)", gr.quantile, a, 0.5,
        { method = "lower", out = "f32" } },
      { "#2 to 'median' (option 'keepdims': takes no 'into', which has a shape of its own)", gr.median, X,
        { axis = 1, keepdims = true, into = gr.zeros(3, "f64") } },
      { "#2 to 'median' (option 'into': only together with 'rows' or 'axis')", gr.median, a,
        { into = gr.zeros(1, "f64") } },
      { "#2 to 'median' (option 'into': f64[3] expected, got f64[2])", gr.median, X,
        { axis = 1, into = gr.zeros(2, "f64") } },
      { "#2 to 'median' (unknown option 'method')", gr.median, a, { method = "lower" } },
      { "#1 to 'median' (array is empty: 'median' needs an element)", gr.median, gr.zeros(0), { rows = 2 } },
      { "#2 to 'histogram' (option 'density': takes no 'rows' or 'axis')", gr.histogram, X,
        { bins = 2, density = true, axis = 1 } },
      { "#2 to 'histogram' (option 'axis': only together with 'rows')", gr.histogram, a, { bins = 2, axis = 1 } },
    }
    for _, row in ipairs(rows) do
      assert.equal("bad argument " .. row[1], message(row[2], row[3], row[4], row[5]))
    end
  end)
end)
