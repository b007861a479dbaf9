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
  -- Widths and lengths at which kernels share their work out differently; b begins anywhere, backwards or by steps.
  local function views_of(a, n)
    return { a:slice(1, n), a:slice(4, n + 3), a:slice(n + 1, 2, -1), a:slice(3, 2 * n + 1, 2) }
  end

  it("scans have the CPU's bits", function()
    local device = gr.backend()
    local on_gpu = device:find "^cuda"
    local lengths = { 1, 2, 3, 7, 8, 9, 15, 17, 31, 33, 40, 63, 65, 127, 129, 255, 257, 511, 513, 1023, 1024, 1025,
      2047, 4096, 4097, 5000, 9000, 16385 }
    local function results(on, dtype, n, count)
      local out = {}
      S.on(on, function()
        local all = n * count
        local r, float = gr.rand(2 * all + 4, "f64", { seed = n }), dtype:find "f"
        local a = float and (r * 2 - 1):cast(dtype) or (r * 200 - (dtype:find "u" and 0 or 100)):cast(dtype)
        if float and n > 3 then a[math.floor(n / 2) + 4], a[all - 1], a[5] = model.nan, -math.huge, -0.0 end
        for v, view in ipairs(views_of(a, all)) do
          for k, op in ipairs { "sum", "prod", "min", "max" } do
            for axis = 1, 2 do
              local how = { rows = axis == 2 and count or n, axis = axis, exclusive = (k + v) % 2 == 0,
                reverse = (k + v) % 4 > 1 }
              out[#out + 1] = gr.scan(view, op, how):bytes()
              if #view == all and gr.scan(view:slice(1, 1), op).dtype == dtype then
                local here = view:copy()
                how.into = here
                out[#out + 1] = gr.scan(here, op, how):bytes()
              end
            end
          end
        end
      end)
      return out
    end
    for _, dtype in ipairs(model.dtypes) do
      for k, n in ipairs(lengths) do
        if on_gpu or k % 5 == 0 then
          for _, count in ipairs(n < 100 and { 3, 200 } or { 2, 19 }) do
            local expected = results("cpu", dtype, n, count)
            local got = results(on_gpu and device or "pretend", dtype, n, count)
            for i = 1, #expected do
              assert.is_true(expected[i] == got[i], ("%s %d x %d: %d"):format(dtype, count, n, i))
            end
          end
        end
      end
    end
  end)

  it("scans of long columns, many or few, are those of each", function()
    on_each(function()
      for s, shape in ipairs { { 350001, 3 }, { 33000, 33 }, { 4111, 256 }, { 140000, 8 }, { 262145, 4 } } do
        local n, columns = shape[1], shape[2]
        for _, dtype in ipairs { "f32", "f64", "i32" } do
          local r = gr.rand(n * columns, "f64", { seed = s })
          local X = (dtype == "i32" and (r * 200 - 100):cast "i32" or (r - 0.5):cast(dtype)):matrix(n)
          local how = { axis = 1, exclusive = s % 2 == 0, reverse = s % 3 == 0 }
          local Y = X:scan(how)
          for _, k in ipairs { 1, 2, columns } do
            local alone = X:slice():slice(k, n * columns, columns):copy():scan { exclusive = how.exclusive,
              reverse = how.reverse }
            assert.is_true(alone:bytes() == Y:slice():slice(k, n * columns, columns):copy():bytes(), dtype .. columns)
          end
        end
      end
    end)
  end)

  -- Columns without gaps, of which pieces pass through one ring: all that lies otherwise for them.
  it("scans of few columns are those of each, whatever they are and wherever they lie", function()
    on_each(function()
      local cases = {
        { "f32", "sum", 70001, 15 }, { "f32", "max", 524288, 2 }, { "f16", "sum", 220000, 5 },
        { "bf16", "min", 220003, 5 }, { "f16", "max", 64001, 17 }, { "u8", "sum", 350003, 3 },
        { "u8", "max", 36001, 31 }, { "i8", "min", 150001, 7 }, { "i16", "prod", 116509, 9 },
        { "u32", "sum", 100003, 11 }, { "i64", "min", 87401, 12 }, { "f64", "prod", 65599, 16 },
        { "f64", "max", 40001, 29 }, { "f64", "sum", 4300000, 2 },
      }
      for s, case in ipairs(cases) do
        local dtype, op, n, columns = case[1], case[2], case[3], case[4]
        local r = gr.rand(n * columns + 1, "f64", { seed = s })
        local is_float = dtype:find "f"
        local ready = op == "prod" and r * 2e-3 + 0.999 or r - 0.5
        local all = is_float and ready or r * 100 - (dtype:find "u" and 0 or 50)
        local X = all:cast(dtype):slice(2):matrix(n) -- not at a whole word
        if is_float then X:slice()[columns * 5000 + 1] = 0 / 0 end
        for _, how in ipairs { {}, { exclusive = true }, { reverse = true }, { exclusive = true, reverse = true } } do
          local Y = X:scan(op, { axis = 1, exclusive = how.exclusive, reverse = how.reverse })
          for _, k in ipairs { 1, columns } do
            local alone = X:slice():slice(k, n * columns, columns):copy():scan(op, how)
            local text = ("%s %s %d of %d"):format(dtype, op, k, columns)
            assert.is_true(alone:bytes() == Y:slice():slice(k, n * columns, columns):copy():bytes(), text)
          end
        end
        if op == "max" then -- results in place of what is read
          local Y = X:scan(op, { axis = 1 }):slice():copy()
          assert.is_true(Y:bytes() == X:scan(op, { axis = 1, into = X }):slice():copy():bytes())
        end
      end
    end)
  end)

  it("takes one launch for all", function()
    local x, into = gr.randn(6000, "f32"), gr.zeros(6000, "f32")
    for _, rows in ipairs { 2, 100, 3000 } do
      for axis = 1, 2 do
        local how = { rows = rows, axis = axis, into = into }
        gr.scan(x, "sum", how)
        assert.equal(1, S.counted(function() gr.scan(x, "sum", how) end).launches)
      end
    end
  end)

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
