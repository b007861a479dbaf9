-- Covariances and correlations of columns: as their definition has them, step by step.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local message, on_each = S.message, S.on_each

-- Columns of a list of rows x columns elements, less their means, in f64.
local function centred(flat, dtype, rows, columns)
  local list = {}
  for j = 1, columns do
    local column = {}
    for i = 1, rows do column[i] = flat[(i - 1) * columns + j] end
    local mean = model.reduce.mean(dtype, rows, function(k) return column[k] end)
    for i = 1, rows do column[i] = column[i] * 1.0 - mean end
    list[j] = column
  end
  return list
end

local function covariances(flat, dtype, rows, columns, ddof)
  local list, m = centred(flat, dtype, rows, columns), {}
  for j = 1, columns do
    m[j] = {}
    for k = 1, columns do
      m[j][k] = model.reduce.dot("f64", rows, function(i) return list[j][i] end, function(i) return list[k][i] end)
        / (rows - ddof)
    end
  end
  return m
end

local function correlations(m)
  local r = {}
  for j = 1, #m do
    r[j] = {}
    for k = 1, #m do
      local x = m[j][k] / (math.sqrt(m[k][k]) * math.sqrt(m[j][j]))
      r[j][k] = j == k and m[j][j] / m[j][j] or x > 1 and 1 or x < -1 and -1 or x
    end
  end
  return r
end

local function same_matrix(expected, X, ...)
  local got = X:table()
  S.same(#expected, #got, "rows", ...)
  for j = 1, #expected do S.same_all(expected[j], got[j], j, ...) end
end

describe("cov and corr", function()
  it("are those of their definition, in every dtype", function()
    on_each(function(device)
      for _, dtype in ipairs(model.dtypes) do
        for s, shape in ipairs { { 1, 1 }, { 5, 1 }, { 2, 2 }, { 7, 3 }, { 300, 5 }, { 4, 20 } } do
          local rows, columns = shape[1], shape[2]
          local flat = S.whole(D.medium(dtype, rows * columns, s))
          for k = 1, #flat do
            if model.is_float[dtype] then flat[k] = model.round[dtype](k * 37 % 101 / 8 - 3) end
          end
          local X = gr.array(flat, dtype):matrix(rows)
          local m = covariances(flat, dtype, rows, columns, 0)
          same_matrix(m, X:cov(), device, dtype, rows, columns)
          same_matrix(m, gr.cov(X:slice(), { rows = rows }), "rows")
          same_matrix(correlations(m), X:corr(), device, dtype, rows, columns, "corr")
          if rows > 1 then same_matrix(covariances(flat, dtype, rows, columns, 1), X:cov { ddof = 1 }, "ddof") end
        end
      end
    end)
  end)

  it("of a view, an expression, in f32, into an array", function()
    on_each(function()
      local X = gr.array({ 1, 2, 3, 1, 5, 0, 7, 9 }, "f64"):matrix(4)
      local m, f32 = X:cov(), model.round.f32
      assert.same({ 2, 2 }, m.shape)
      assert.is_true(m:equal(X:transpose():copy():transpose():cov()))
      assert.is_true(m:equal((gr.lazy(X) * 1):cov()))
      local narrow = X:cov { out = "f32" }
      assert.equal("f32", narrow.dtype)
      assert.same({ 2, 2 }, narrow.shape)
      for k = 1, 4 do S.same(f32(m:slice()[k]), narrow:slice()[k]) end
      local into = gr.zeros(8, "f64")
      local odd = into:slice(1, 8, 2)
      assert.equal(odd, X:corr { into = odd })
      assert.is_true(odd:equal(X:corr():slice()))
      assert.equal(0, into[2])
      assert.equal(0, #gr.zeros(0):matrix(3):cov())
    end)
  end)

  it("of what does not vary is NaN, and of multiples 1 and -1", function()
    local X = gr.array({ 1, 5, 2, -2, 2, 5, 4, -4, 3, 5, 6, -6 }, "f64"):matrix(3)
    local nan = model.nan
    same_matrix({ { 1, nan, 1, -1 }, { nan, nan, nan, nan }, { 1, nan, 1, -1 }, { -1, nan, -1, 1 } }, X:corr(), "corr")
  end)

  -- Of each two columns over the rows in which both are present: covariances, or correlations.
  local function pairwise(flat, present, rows, columns, ddof, correlation)
    local m = {}
    for j = 1, columns do
      m[j] = {}
      for k = 1, columns do
        local function both(i) return present[(i - 1) * columns + j] and present[(i - 1) * columns + k] end
        local function sum(f)
          return model.reduce.sum("f64", rows, function(i) return both(i) and f(i) or -0.0 end)
        end
        local function x(i) return flat[(i - 1) * columns + j] * 1.0 end
        local function y(i) return flat[(i - 1) * columns + k] * 1.0 end
        local n = 0
        for i = 1, rows do n = n + (both(i) and 1 or 0) end
        local of_x, of_y = sum(x) / n, sum(y) / n
        local products = sum(function(i) return (x(i) - of_x) * (y(i) - of_y) end)
        local squares = sum(function(i) return (x(i) - of_x) * (x(i) - of_x) end)
        local others = sum(function(i) return (y(i) - of_y) * (y(i) - of_y) end)
        if not correlation then
          m[j][k] = n > ddof and n > 0 and products / (n - ddof) or model.nan
        elseif j == k then
          m[j][k] = squares / squares
        else
          m[j][k] = math.max(-1, math.min(1, products / n / (math.sqrt(others / n) * math.sqrt(squares / n))))
          if squares == 0 or others == 0 then m[j][k] = model.nan end
        end
      end
    end
    return m
  end

  it("of what is present, by pairs of columns", function()
    on_each(function(device)
      for s, shape in ipairs { { 1, 1 }, { 5, 1 }, { 6, 2 }, { 7, 3 }, { 300, 5 } } do
        for _, dtype in ipairs { "f32", "f64", "i16" } do
          local rows, columns = shape[1], shape[2]
          local flat, present, shown, mask = {}, {}, {}, {}
          for k = 1, rows * columns do
            flat[k] = model.is_float[dtype] and (k * 37 + s) % 101 / 8 - 3 or (k * 37 + s) % 101
            present[k] = k * 7919 % 5 ~= 0
            shown[k] = present[k] and flat[k] or 0 / 0
            mask[k] = present[k] and 1 or 0
          end
          local X, M = gr.array(flat, dtype):matrix(rows), gr.array(mask, "u8"):matrix(rows)
          local cov = pairwise(flat, present, rows, columns, 0)
          local corr = pairwise(flat, present, rows, columns, 0, true)
          same_matrix(cov, X:cov { mask = M }, device, dtype, rows, columns)
          same_matrix(corr, X:corr { mask = M }, device, dtype, rows, columns)
          local ddof = rows > 1 and 1 or 0
          same_matrix(pairwise(flat, present, rows, columns, ddof), X:cov { mask = M, ddof = ddof }, "ddof")
          if model.is_float[dtype] then
            local Y = gr.array(shown, dtype):matrix(rows)
            same_matrix(cov, Y:cov { skipnan = true }, "skipnan")
            same_matrix(corr, gr.corr(Y:slice(), { rows = rows, skipnan = true }), "skipnan")
          end
        end
      end
    end)
  end)

  it("of what is present: none in common, all of it, an expression as mask", function()
    on_each(function()
      local nan = model.nan
      local X = gr.array({ 1, nan, 2, nan, nan, 3, nan, 5 }, "f64"):matrix(4)
      same_matrix({ { 0.25, nan }, { nan, 1 } }, X:cov { skipnan = true }, "cov")
      same_matrix({ { 1, nan }, { nan, 1 } }, X:corr { skipnan = true }, "corr")
      same_matrix({ { nan, nan }, { nan, nan } }, X:cov { mask = gr.zeros(8, "u8") }, "nothing")
      local Y = gr.randn(600, { seed = 5, dtype = "f64" }):matrix(200)
      assert.equal(Y:cov():bytes(), Y:cov { skipnan = true }:bytes())
      assert.equal(Y:corr():bytes(), Y:corr { mask = gr.lazy(Y):gt(-100) }:bytes())
      assert.equal("f32", Y:cov { skipnan = true, out = "f32" }.dtype)
      local into = gr.zeros(9, "f64")
      assert.equal(into, Y:cov { mask = gr.ones(600, "u8"), into = into })
      assert.equal(Y:cov():bytes(), into:bytes())
      assert.equal("bad argument #2 to 'corr' (option 'mask': length 600 expected, got 3)",
        message(gr.corr, Y, { mask = gr.ones(3, "u8") }))
    end)
  end)

  it("refuse what is no matrix", function()
    local a = gr.arange(1, 6)
    local rows = {
      { "bad argument #1 to 'cov' (matrix expected, got a vector (a:matrix(rows) makes one))", gr.cov, a },
      { "bad argument #1 to 'corr' (gpureduce.array expected, got number)", gr.corr, 3 },
      { "bad argument #2 to 'cov' (option 'rows': 4 rows do not divide length 6)", gr.cov, a, { rows = 4 } },
      { "bad argument #2 to 'cov' (option 'ddof': less than the rows, 2, expected, got 2)", gr.cov, a,
        { rows = 2, ddof = 2 } },
      { "bad argument #2 to 'corr' (unknown option 'ddof')", gr.corr, a, { rows = 2, ddof = 1 } },
      { "bad argument #2 to 'cov' (option 'into': f64[9] expected, got f64[4])", gr.cov, a,
        { rows = 2, into = gr.zeros(4, "f64") } },
      { "bad argument #2 to 'cov' (option 'out': f32 or f64 expected, got 'f16')", gr.cov, a,
        { rows = 2, out = "f16" } },
    }
    for _, row in ipairs(rows) do assert.equal(row[1], message(row[2], row[3], row[4])) end
  end)
end)
