-- Rows and columns: each result has the bits of the same vector reduced alone.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model

local shapes = {
  { 1, 1 }, { 1, 1000 }, { 500, 1 }, { 3, 5 }, { 7, 129 }, { 33, 64 }, { 64, 33 }, { 3, 1025 }, { 150, 7 },
  { 2, 4097 },
}
local result = {
  sum = { "i64", "f64" }, prod = { "i64", "f64" }, mean = { "f64", "f64" },
  var = { "f64", "f64" }, std = { "f64", "f64" },
  argmin = { "i64", "i64" }, argmax = { "i64", "i64" }, count = { "i64", "i64" },
  any = { "u8", "u8" }, all = { "u8", "u8" },
  norm = { "f64", "f64" }, logsumexp = { "f64", "f64" },
}

-- The vectors of a row-major table: rows (axis 2) or columns (axis 1).
local function vectors(t, rows, axis)
  local columns, list = #t / rows, {}
  for v = 1, axis == 2 and rows or columns do
    local vector = {}
    for k = 1, axis == 2 and columns or rows do
      vector[k] = axis == 2 and t[(v - 1) * columns + k] or t[(k - 1) * columns + v]
    end
    list[v] = vector
  end
  return list
end

local function as_number(x)
  if x == true then return 1 elseif x == false then return 0 end
  return x
end

describe("rows and columns of", function()
  for _, dtype in ipairs(model.dtypes) do
    it(dtype, function()
      for s, shape in ipairs(shapes) do
        local rows, n = shape[1], shape[1] * shape[2]
        local factors, sparse = S.whole(D.factors(dtype, n, s)), S.whole(D.sparse(dtype, n, s))
        for _, axis in ipairs { 2, 1 } do
          local factor_list, sparse_list = vectors(factors, rows, axis), vectors(sparse, rows, axis)
          for op, dtypes in pairs(result) do
            local t, list = sparse, sparse_list
            if op == "prod" then t, list = factors, factor_list end
            local a = gr.array(t, dtype)
            local options = { rows = rows, axis = axis }
            local r = op == "norm" and gr.norm(a, 2, options) or gr[op](a, options)
            S.same(#list, #r, "results", op, dtype)
            S.same(dtypes[model.is_float[dtype] and 2 or 1], r.dtype, "dtype of", op, dtype)
            local got, f = r:table(), model.reduce[op == "norm" and "norm2" or op]
            for v, vector in ipairs(list) do
              local expected = as_number(f(dtype, #vector, function(k) return vector[k] end))
              S.same(expected, got[v], op, dtype, shape[1] .. "x" .. shape[2], "axis", axis, "result", v)
            end
          end
          local low, high = gr.minmax(gr.array(sparse, dtype), { rows = rows, axis = axis })
          S.same(dtype, low.dtype, "dtype of min")
          for v, vector in ipairs(sparse_list) do
            local x, y = model.reduce.minmax(dtype, #vector, function(k) return vector[k] end)
            S.same(x, low[v], "min", dtype, v)
            S.same(y, high[v], "max", dtype, v)
          end
        end
      end
    end)
  end

  it("views that start or step oddly", function()
    for _, dtype in ipairs { "u8", "f16", "f32", "f64" } do
      local rows, columns = 6, 171
      local t = S.whole(D.medium(dtype, rows * columns, 4))
      local b = gr.array(t, dtype)
      for _, axis in ipairs { 1, 2 } do
        local expected = gr.sum(b, { rows = rows, axis = axis })
        for _, view in ipairs(S.views(t, dtype, 77)) do
          assert.is_true(expected:equal(gr.sum(view[2], { rows = rows, axis = axis })), view[1])
        end
      end
    end
  end)
end)

describe("matrices at the edge", function()
  local nan = model.nan

  it("of empty rows give what an empty array gives", function()
    local empty = gr.zeros(0)
    S.same_all({ 0, 0, 0 }, gr.sum(empty, { rows = 3 }), "sum")
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do -- and not the -0 that sums begin with
      local none = gr.zeros(0, dtype)
      assert.equal(math.huge, 1 / gr.sum(none, { rows = 3 })[2], dtype)
      assert.equal(math.huge, 1 / gr.sum(none, { rows = 3, skipnan = true })[2], dtype)
      assert.equal(math.huge, 1 / gr.dot(none, none, { rows = 3, pairs = true })[2], dtype)
    end
    S.same_all({ 1, 1 }, gr.prod(empty, { rows = 2 }), "prod")
    S.same_all({ nan, nan }, gr.mean(empty, { rows = 2 }), "mean")
    S.same_all({ 1, 1 }, gr.all(empty, { rows = 2 }), "all")
    S.same_all({ nan, nan }, gr.cosine(empty, empty, { rows = 2, pairs = true }), "cosine")
    assert.equal(0, #gr.sum(empty, { rows = 3, axis = 1 }))
    assert.truthy(S.message(gr.min, empty, { rows = 3 }):find("array is empty", 1, true))
  end)

  it("norms of rows and columns neither overflow nor vanish", function()
    local t = { 3 * 2.0 ^ 900, 4 * 2.0 ^ 900, 3 * 2.0 ^ -900, 4 * 2.0 ^ -900, 3, 4 }
    local expected = { 5 * 2.0 ^ 900, 5 * 2.0 ^ -900, 5 }
    S.same_all(expected, gr.norm(gr.array(t, "f64"), 2, { rows = 3 }), "rows")
    local columns = gr.array({ t[1], t[3], t[5], t[2], t[4], t[6] }, "f64")
    S.same_all(expected, gr.norm(columns, { rows = 2, axis = 1 }), "columns")
    local a = gr.array({ 2.0 ^ 900, 2.0 ^ 900, 2.0 ^ -900, 2.0 ^ -900 }, "f64")
    local b = gr.array({ 2.0 ^ 900, -(2.0 ^ 900), -(2.0 ^ 900), 2.0 ^ 900 }, "f64")
    S.same_all({ 0, 0 }, gr.cosine(a, b, { rows = 2, pairs = true }), "cosine")
  end)

  it("many rows of zeros are told from those whose squares vanish", function()
    local kinds = { { 0, 0 }, { 3 * 2.0 ^ -900, 4 * 2.0 ^ -900 }, { 3, 4 }, { 3 * 2.0 ^ 900, -4 * 2.0 ^ 900 },
      { 1 / 0, 1 }, { 0 / 0, 1 }, { -0.0, 0 } }
    local norms = { 0, 5 * 2.0 ^ -900, 5, 5 * 2.0 ^ 900, 1 / 0, 0 / 0, 0 }
    local rows, flat, expected, cosines = 140, {}, {}, {}
    for row = 1, rows do
      local kind = row % #kinds + 1
      flat[2 * row - 1], flat[2 * row] = kinds[kind][1], kinds[kind][2]
      expected[row] = norms[kind]
      local finite = norms[kind] > 0 and norms[kind] < 1 / 0
      cosines[row] = finite and (row % 3 == 0 and 0 / 0 or 1) or 0 / 0
    end
    local a, b = gr.array(flat, "f64"), {}
    for k, x in ipairs(flat) do b[k] = (k + 1) // 2 % 3 == 0 and 0 or x end
    S.same_all(expected, a:norm { rows = rows }, "rows")
    S.same_all(expected, gr.array(flat, "f64"):matrix(rows):transpose():norm { axis = 1 }, "columns")
    S.same_all(cosines, gr.cosine(a, gr.array(b, "f64"), { rows = rows, pairs = true }), "cosine of pairs")
    S.same_all(expected, a:norm { rows = rows, into = gr.zeros(rows, "f64") }, "into")
  end)

  -- Large enough for every kernel of columns; some end within a leaf, and some begin within a word.
  it("tall columns are those of one vector, and stay as they are", function()
    for _, shape in ipairs { { "f16", 17700, 512 }, { "bf16", 20480, 440 }, { "bf16", 92500, 96 }, { "f32", 9000, 512 },
      { "f64", 4900, 512 }, { "f16", 17700, 513 }, { "f32", 700, 1501 }, { "f64", 70, 30001 }, { "f32", 300001, 3 } } do
      local dtype, rows, columns = shape[1], shape[2], shape[3]
      local a = gr.randn(rows * columns, { seed = rows }):mul(30):cast(dtype)
      local before = gr.digest(a)
      for _, name in ipairs { "var", "sum", "max", "argmax" } do
        local all, again = gr[name](a, { rows = rows, axis = 1 }), gr[name](a, { rows = rows, axis = 1 })
        assert.equal(gr.digest(all), gr.digest(again), name .. " " .. dtype)
        for _, k in ipairs { 1, 2, columns - 1, columns } do
          S.same(gr[name](a:slice(k, nil, columns)), all[k], name, dtype, rows, "rows, column", k)
        end
      end
      assert.equal(before, gr.digest(a), dtype)
    end
  end)

  it("dot of columns, with one vector and pair by pair", function()
    local a = gr.arange(1, 6)
    S.same_all({ 9, 12, 15 }, gr.dot(a, gr.arange(1, 2), { rows = 2, axis = 1 }), "each column")
    S.same_all({ 17, 29, 45 }, gr.dot(a, a, { rows = 2, pairs = true, axis = 1 }), "pairs of columns")
  end)
end)

describe("dot", function()
  it("of each row, or column, with one vector", function()
    local more = { { 1024, 4 }, { 2300, 8 }, { 300, 16 }, { 10, 40 }, { 130, 72 } }
    for _, shape in ipairs(shapes) do more[#more + 1] = shape end
    for _, dtype in ipairs(model.dtypes) do
      for _, shape in ipairs(more) do
        for axis = 1, 2 do
          local rows, n = shape[1], shape[axis]
          local t, u = S.whole(D.medium(dtype, rows * shape[2], 3)), S.whole(D.medium(dtype, n, 4))
          local r = gr.dot(gr.array(t, dtype), gr.array(u, dtype), { rows = rows, axis = axis })
          S.same(model.is_float[dtype] and "f64" or "i64", r.dtype, "dtype")
          local got = r:table()
          for v, vector in ipairs(vectors(t, rows, axis)) do
            local function at(k) return vector[k] end
            local expected = model.reduce.dot(dtype, n, at, function(k) return u[k] end)
            S.same(expected, got[v], "dot", dtype, rows .. "x" .. shape[2], axis, v)
          end
        end
      end
    end
  end)

  it("and sums of columns that begin anywhere in a word", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      for k, shape in ipairs { { 9, 101 }, { 50, 1001 }, { 63, 333 }, { 300, 95 }, { 1500, 61 }, { 3000, 257 } } do
        local rows, columns = shape[1], shape[2]
        local all = gr.randn(rows * columns + 20, dtype, { seed = k })
        local x, y = all:slice(k + 1, k + rows * columns), gr.randn(rows, dtype, { seed = 9 })
        local sums = gr.sum(x, { rows = rows, axis = 1 })
        local dots = gr.dot(x, y, { rows = rows, axis = 1 })
        for c = 1, columns, 7 do
          local one = x:slice(c, (rows - 1) * columns + c, columns):copy()
          assert.equal(gr.sum(one), sums[c], dtype .. " " .. rows .. " x " .. columns .. ", sum " .. c)
          assert.equal(gr.dot(one, y), dots[c], dtype .. " " .. rows .. " x " .. columns .. ", dot " .. c)
        end
      end
    end
  end)

  it("and of few rows, and of few columns, of every width", function()
    local odd = { { 2, 1001 }, { 5, 259 }, { 9, 130 }, { 17, 67 }, { 32, 35 }, { 4097, 3 }, { 9001, 13 }, { 513, 5 } }
    for _, dtype in ipairs { "u8", "i16", "u32", "i64", "f16", "bf16", "f32", "f64" } do
      for k, shape in ipairs(odd) do
        local rows, columns = shape[1], shape[2]
        local all = gr.cast(gr.randn(2 * rows * columns + 20, { seed = k }):abs() * 30, dtype)
        for first = 1, 4, 3 do
          local x = all:slice(first, first + rows * columns - 1)
          local y = all:slice(rows * columns + 7, 2 * rows * columns + 6)
          local of = { rows = rows, axis = 1 }
          local got = { sum = gr.sum(x, of), var = gr.var(x, of), max = gr.max(x, of),
            dot = gr.dot(x, y, { rows = rows, axis = 1, pairs = true }) }
          for c = 1, columns, math.floor(columns / 3) do
            local one = x:slice(c, (rows - 1) * columns + c, columns):copy()
            local other = y:slice(c, (rows - 1) * columns + c, columns):copy()
            for op, results in pairs(got) do
              local expected = op == "dot" and gr.dot(one, other) or gr[op](one)
              assert.equal(expected, results[c], ("%s %s %d x %d from %d, column %d"):format(op, dtype, rows, columns,
                first, c))
            end
          end
        end
      end
    end
  end)

  it("mse and cosine row by row", function()
    for _, dtype in ipairs { "i16", "bf16", "f32", "f64" } do
      for _, shape in ipairs(shapes) do
        local rows, n = shape[1], shape[1] * shape[2]
        local t, u = S.whole(D.medium(dtype, n, 5)), S.whole(D.medium(dtype, n, 6))
        local a, b = gr.array(t, dtype), gr.array(u, dtype)
        local va, vb = vectors(t, rows, 2), vectors(u, rows, 2)
        for _, op in ipairs { "dot", "mse", "cosine" } do
          local got = gr[op](a, b, { rows = rows, pairs = true }):table()
          for v = 1, rows do
            local x, y = va[v], vb[v]
            local expected = model.reduce[op](dtype, #x, function(k) return x[k] end, function(k) return y[k] end)
            S.same(expected, got[v], op, dtype, v)
          end
        end
      end
    end
  end)
end)

describe("array results", function()
  it("may go into an array that is there", function()
    local a = gr.arange(1, 12, "i32")
    local into = gr.zeros(3, "i64")
    local r = gr.sum(a, { rows = 3, into = into })
    assert.equal(into, r)
    S.same_all({ 10, 26, 42 }, into, "into")
    local f = gr.zeros(4, "f64")
    gr.mean(a, { rows = 3, axis = 1, into = f })
    S.same_all({ 5, 6, 7, 8 }, f, "into")
    local w = gr.zeros(7, "i64")
    gr.sum(a, { rows = 3, into = w:slice(1, 5, 2) })
    S.same_all({ 10, 0, 26, 0, 42, 0, 0 }, w, "into a view")
  end)
end)

describe("rmsnorm", function()
  it("of rows, with weights", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      for _, shape in ipairs { { 1, 1 }, { 3, 7 }, { 70, 3 }, { 9, 49 }, { 5, 256 }, { 4, 1000 }, { 2, 5000 } } do
        local rows, columns = shape[1], shape[2]
        local t, w = model.data(dtype, rows * columns, 8), model.data(dtype, columns, 9)
        local x = gr.array(t, dtype)
        local weighted = gr.rmsnorm(x, gr.array(w, dtype), { rows = rows, eps = 1e-5 })
        local plain = gr.rmsnorm(x, nil, { rows = rows, eps = 0.25 })
        assert.equal(dtype, weighted.dtype)
        local got, got_plain = weighted:table(), plain:table()
        for r, vector in ipairs(vectors(t, rows, 2)) do
          local function at(k) return vector[k] end
          local expected = model.rmsnorm(dtype, columns, at, function(k) return w[k] end, 1e-5)
          local expected_plain = model.rmsnorm(dtype, columns, at, nil, 0.25)
          for k = 1, columns do
            S.same(expected[k], got[(r - 1) * columns + k], "rmsnorm", dtype, rows .. "x" .. columns, r, k)
            S.same(expected_plain[k], got_plain[(r - 1) * columns + k], "rmsnorm without weights", dtype, r, k)
          end
        end
      end
    end
  end)

  it("of rows that begin anywhere, and nothing beside them", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      local all_shapes = { { 3000, 2 }, { 300, 7 }, { 77, 25 }, { 9, 553 }, { 4, 2049 }, { 3, 7001 }, { 2, 40001 } }
      for k, shape in ipairs(all_shapes) do
        local rows, columns = shape[1], shape[2]
        local n, from = rows * columns, k % 3 + 2
        local all = gr.randn(n + 20, dtype, { seed = k })
        local w = gr.randn(columns + 1, dtype, { seed = 9 }):slice(2, columns + 1)
        local x, out = all:slice(from, from + n - 1), gr.full(n + 20, 3, dtype)
        gr.rmsnorm(x, w, { rows = rows, into = out:slice(7, n + 6) })
        for r = 1, rows, math.max(1, math.floor(rows / 5)) do
          local one = x:slice((r - 1) * columns + 1, r * columns):copy()
          local there = out:slice(6 + (r - 1) * columns + 1, 6 + r * columns)
          assert.is_true(there:equal(gr.rmsnorm(one, w:copy())), dtype .. " " .. rows .. " x " .. columns .. ", " .. r)
        end
        assert.equal(3 * 20, out:slice(1, 6):sum() + out:slice(n + 7, n + 20):sum(), "beside it")
        local place = all:copy()
        gr.rmsnorm(place:slice(from, from + n - 1), w, { rows = rows, into = place:slice(from, from + n - 1) })
        assert.is_true(place:slice(from, from + n - 1):equal(out:slice(7, n + 6)), "in place")
        assert.is_true(place:slice(1, from - 1):equal(all:slice(1, from - 1)))
        assert.is_true(place:slice(from + n, n + 20):equal(all:slice(from + n, n + 20)))
      end
    end
  end)

  it("rounds once, where another rounding before it would show, among subnormals too", function()
    local n = 2 ^ 14
    for dtype, scales in pairs { f16 = { 1, 2 ^ -14 }, bf16 = { 1, 2.0 ^ -132 } } do
      local most = dtype == "f16" and 2048 or 256
      local x = (gr.rand(n, "f64", { seed = 3 }) * (2 * most)):floor() - most
      local squares = gr.dot(x, x) / n -- of whole numbers: exact in any order
      for _, scale in ipairs(scales) do
        local w = ((gr.rand(n, "f64", { seed = 4 }) * 128 + 128):floor() * (scale / 128)):cast(dtype)
        for k = 1, 200 do
          local got = gr.rmsnorm(x:cast(dtype), w, { eps = squares * k })
          local expected = (x * (1 / math.sqrt(squares + squares * k)) * w:cast "f64"):cast(dtype)
          assert.equal(expected:digest(), got:digest(), dtype .. " " .. scale .. " " .. k)
        end
      end
    end
  end)

  it("into an array, on views, one row by default", function()
    local x = gr.arange(1, 8, "f32")
    local w = gr.ones(8, "f32")
    local into = gr.zeros(8, "f32")
    local out = gr.rmsnorm(x, w, { into = into })
    assert.equal(into, out)
    local gaps = gr.zeros(24, "f32")
    gr.rmsnorm(x:slice(8, 1, -1), w, { into = gaps:slice(24, 1, -3) })
    assert.is_true(into:slice(8, 1, -1):equal(gaps:slice(24, 1, -3)))
    assert.equal(0, gaps[23])
  end)
end)
