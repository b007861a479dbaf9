-- Arrays that know their rows, against tables of rows.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local message, on_each = S.message, S.on_each

-- rows x columns elements as one list, and as a table of rows.
local function table_of(dtype, rows, columns, seed)
  local flat, m = S.whole(D.medium(dtype, rows * columns, seed)), {}
  for i = 1, rows do
    m[i] = {}
    for j = 1, columns do m[i][j] = flat[(i - 1) * columns + j] end
  end
  return flat, m
end

local function turned(m)
  local t = {}
  for j = 1, #m[1] do
    t[j] = {}
    for i = 1, #m do t[j][i] = m[i][j] end
  end
  return t
end

local function same_rows(expected, X, what)
  assert.same({ #expected, #expected[1] }, X.shape, what)
  local got = X:table()
  S.same(#expected, #got, "rows of", what)
  for i = 1, #expected do S.same_all(expected[i], got[i], "row", i, "of", what) end
end

local shapes = { { 1, 1 }, { 1, 9 }, { 7, 1 }, { 2, 3 }, { 5, 5 }, { 33, 70 }, { 300, 4 } }

-- Matrices of the same elements that lie in every way.
local function each_way(dtype, flat, m, f)
  local rows, columns = #m, #m[1]
  for _, view in ipairs(S.views(flat, dtype, 7)) do f(view[2]:matrix(rows), view[1]) end
  local t = {}
  for j = 1, columns do
    for i = 1, rows do t[#t + 1] = m[i][j] end
  end
  f(gr.array(t, dtype):matrix(columns):transpose(), "transposed")
end

describe("a matrix", function()
  it("knows its shape, and its rows, columns and elements are views", function()
    on_each(function(device)
      for _, dtype in ipairs { "f32", "f64", "u8", "i64", "bf16" } do
        for s, shape in ipairs(shapes) do
          local rows, columns = shape[1], shape[2]
          local flat, m = table_of(dtype, rows, columns, s)
          each_way(dtype, flat, m, function(X, way)
            local what = device .. " " .. dtype .. " " .. way
            assert.same({ rows, columns, rows * columns }, { X.rows, X.columns, #X }, what)
            same_rows(m, X, what)
            same_rows(turned(m), X:transpose(), what .. " turned")
            same_rows(m, X:transpose():transpose(), what .. " turned twice")
            same_rows(m, X:copy(), what .. " copied")
            S.same_all(m[rows], X[-1], what)
            S.same_all(m[rows], X:row(rows), what)
            S.same_all(turned(m)[columns], X:column(-1), what)
            S.same_all(turned(m)[1], X:transpose()[1], what)
            S.same(m[rows][columns], X[rows][columns], what)
            S.same_all(flat, X:slice(), what)
            assert.is_nil(X[rows + 1])
            same_rows({ m[rows] }, X:copy():slice((rows - 1) * columns + 1):matrix(1), what)
            S.same_all(m[rows], X:table(rows, rows)[1], what)
          end)
        end
      end
    end)
  end)

  it("is written to through its rows and columns", function()
    on_each(function()
      local a = gr.zeros(6)
      local X = a:matrix(2)
      local T = X:transpose()
      X[1][3], X[2][1] = 3, 4
      T[2][2] = 5
      X:column(1)[1] = 1
      S.same_all({ 1, 0, 3, 4, 5, 0 }, a)
      X[2] = gr.array { 7, 8, 9 }
      T[1] = gr.array { -1, -2 }
      X[-2] = X[1] * 2
      S.same_all({ -2, 0, 6, -2, 8, 9 }, a)
      assert.equal(T, T:fill(2))
      S.same_all({ 2, 2, 2, 2, 2, 2 }, a)
    end)
  end)

  it("keeps its shape in copies, files and equality, and a vector has none", function()
    on_each(function()
      local X = gr.arange(1, 6):matrix(2)
      assert.is_true(X:equal(X:copy()))
      assert.is_false(X:equal(X:slice()))
      assert.is_false(X:equal(X:slice():matrix(3)))
      assert.same({ 6 }, X:slice().shape)
      assert.is_nil(X:slice().rows)
      assert.is_nil(X:slice().columns)
      assert.equal(2, X:info().rows)
      assert.equal(3, X:info().columns)
      assert.equal(3, X:transpose():info().rows)
      assert.is_nil(X:slice():info().rows)
      S.with_file(function(path)
        for _, Y in ipairs { X, X:transpose(), X[1], X:column(2):matrix(1) } do
          assert.is_true(Y:save(path))
          local Z, shape = gr.load(path)
          assert.is_true(Z:equal(Y))
          assert.same(Y.shape, shape)
          assert.same(Y.shape, Z.shape)
          assert.is_true(gr.load(path, { map = true }):equal(Y))
        end
        assert.is_true(X:save(path, { shape = { 1, 2, 3 } }))
        assert.same({ 6 }, gr.load(path).shape)
      end, ".npy")
    end)
  end)

  it("says what it is", function()
    local X = gr.arange(1, 6):matrix(2)
    assert.truthy(tostring(X):find("gpureduce.array f32[2 x 3] (", 1, true))
    assert.truthy(tostring(X:transpose()):find("gpureduce.transposed f32[3 x 2] (", 1, true))
    local T = X:transpose()
    T:release()
    assert.equal("gpureduce.transposed (released)", tostring(T))
    assert.equal("bad argument #1 to 'sum' (array has been released)", message(gr.sum, T))
    assert.equal(21, X:sum())
  end)

  it("transposed goes where arrays go", function()
    on_each(function()
      local X = gr.arange(1, 6, "f64"):matrix(2)
      local T = X:transpose()
      S.same_all({ 1, 4, 2, 5, 3, 6 }, T:slice())
      S.same_all({ 1, 5, 7, 12, 15, 21 }, T:scan():slice())
      same_rows({ { 1, 16 }, { 4, 25 }, { 9, 36 } }, T * T, "product")
      same_rows({ { 1, 16 }, { 4, 25 }, { 9, 36 } }, gr.fuse "t * t" { t = T }:eval(), "formula")
      assert.equal(91, T:dot(T))
      assert.equal(X:bytes(), T:transpose():bytes())
      S.same_all({ 5, 7, 9 }, T:sum { axis = 2 })
      S.same_all({ 6, 15 }, gr.reduce(T, "sum", { axis = 1 }))
      S.same_all({ 2, 2, 2 }, T:argmax { axis = 2 })
      S.same_all({ 3, 6 }, T:norm(math.huge, { axis = 1 }))
      S.same_all({ 1 + 4, 2 + 5 + 3 + 6 }, T:sum { segments = { 1, 3, 7 } })
      S.same_all({ 1 + 4 + 2, 5 + 3 + 6 }, T:sum { rows = 2 })
      assert.equal(3, gr.histogram(T, { bins = 2, weights = T, min = 1, max = 6 }).counts.dtype == "f64" and 3)
      assert.equal("bad argument #3 to 'add' (option 'into': gpureduce.array expected, got gpureduce.transposed)",
        message(gr.add, X, X, { into = T }))
      assert.equal(1, S.counted(function() T:sum { axis = 2 } end).launches)
      gr.scope(function() return T:transpose():transpose() end)
      assert.equal(21, X:sum())
    end)
  end)

  it("refuses what it cannot do", function()
    local a, X = gr.arange(1, 6), gr.arange(1, 6):matrix(2)
    local rows = {
      { function() return a:matrix(4) end, "bad argument #2 to 'matrix' (4 rows do not divide length 6)" },
      { function() return a:matrix(0) end, "bad argument #2 to 'matrix' (1 or more rows expected, got 0)" },
      { function() return a:matrix() end, "bad argument #2 to 'matrix' (number expected, got no value)" },
      { function() return gr.matrix({}, 1) end,
        "bad argument #1 to 'matrix' (gpureduce.array expected, got table (write a:matrix{...}, not a.matrix{...}))" },
      { function() return a:transpose() end,
        "bad argument #1 to 'transpose' (matrix expected, got a vector (a:matrix(rows) makes one))" },
      { function() return a:column(1) end,
        "bad argument #1 to 'column' (matrix expected, got a vector (a:matrix(rows) makes one))" },
      { function() return X:column(4) end, "bad argument #2 to 'column' (column from 1 to 3 expected, got 4)" },
      { function() return X:transpose():column(-3) end,
        "bad argument #2 to 'column' (column from 1 to 2 expected, got -3)" },
      { function() return X:row(0) end, "bad argument #2 to 'row' (row from 1 to 2 expected, got 0)" },
      { function() return X[0] end, "gpureduce.array: row 0 is out of range (1 to 2, or -1 to -2 from the end)" },
      { function() return X[-3] end, "gpureduce.array: row -3 is out of range (1 to 2, or -1 to -2 from the end)" },
      { function() X[3] = a end, "gpureduce.array: row 3 is out of range (1 to 2, or -1 to -2 from the end)" },
      { function() X[1] = 2 end,
        "gpureduce.array: a row is an array, got number: write X[i][j] = v or X[i]:fill(v)" },
      { function() X[1] = a end, "gpureduce.array: row of f32[3] expected, got f32[6]" },
      { function() X[1] = gr.zeros(3, "i8") end, "gpureduce.array: row of f32[3] expected, got i8[3]" },
      { function() return X:table(4) end, "bad argument #2 to 'table' (position from 1 to 2 expected, got 4)" },
      { function() return X.colums end, "gpureduce.array: no method or field 'colums' (did you mean 'columns'?)" },
      { function() return X:transpose():touch() end,
        "bad argument #1 to 'touch' (array of wrapped memory expected)" },
    }
    for _, row in ipairs(rows) do assert.equal(row[2], message(row[1])) end
  end)

  it("without elements has rows", function()
    local X = gr.zeros(0):matrix(3)
    assert.same({ 3, 0 }, X.shape)
    assert.same({ {}, {}, {} }, X:table())
    assert.equal(0, #X[2])
    assert.equal(0, #(X:transpose()))
    S.same_all({ 0, 0, 0 }, X:sum { axis = 2 })
    S.same_all({}, X:sum { axis = 1 })
    assert.same({ 3, 0 }, (X + X).shape)
    local e = gr.lazy(X) * 2
    assert.same({ 3, 0 }, { e:info().rows, e:info().columns })
    assert.same({ 3, 0 }, (e + gr.fuse "x + y" { x = X, y = gr.column(gr.ones(3)) }):eval().shape)
    assert.equal("gpureduce.expression f32[3 x 0] of 1 step", tostring(e))
    S.same_all({ 0, 0, 0 }, e:sum { axis = 2 })
    assert.equal("bad argument #2 to 'add' (matrix of 3 rows expected, got 4)",
      message(function() return e + gr.zeros(0):matrix(4) end))
  end)

  it("is not what a finalizer leaves of it", function()
    local kept
    do
      local T = gr.arange(1, 6):matrix(2):transpose()
      local holder = S.at_collection(function() kept = T end)
      S.same(6, #T, type(holder))
    end
    for _ = 1, 3 do collectgarbage() end
    if kept then assert.equal("bad argument #1 to 'sum' (array has been released)", message(gr.sum, kept)) end
    assert.equal(0, gr.zeros(6):matrix(2):transpose():sum())
  end)
end)

-- The vectors of a table of rows along an axis.
local function vectors(m, axis) return axis == 2 and m or turned(m) end

describe("reductions of a matrix", function()
  local exact = { "sum", "min", "max", "argmin", "argmax", "count", "mean", "var", "any", "logsumexp" }

  it("are of all elements, or of rows or columns by axis alone", function()
    on_each(function(device)
      for _, dtype in ipairs { "f32", "f64", "i32", "u8", "f16" } do
        for s, shape in ipairs { { 1, 1 }, { 7, 1 }, { 2, 3 }, { 9, 70 } } do
          local flat, m = table_of(dtype, shape[1], shape[2], s + 20)
          each_way(dtype, flat, m, function(X, way)
            for _, op in ipairs(exact) do
              local f = model.reduce[op]
              S.same(f(dtype, #flat, function(k) return flat[k] end), gr[op](X), op, dtype, way, device)
              for axis = 1, 2 do
                local list, kept = vectors(m, axis), gr[op](X, { axis = axis, keepdims = true })
                local got = gr[op](X, { axis = axis }):table()
                S.same(#list, #got, op)
                for v, vector in ipairs(list) do
                  local expected = f(dtype, #vector, function(k) return vector[k] end)
                  if type(expected) == "boolean" then expected = expected and 1 or 0 end
                  S.same(expected, got[v], op, dtype, way, device, "axis", axis, v)
                end
                assert.same(axis == 2 and { #list, 1 } or { 1, #list }, kept.shape)
                S.same_all(got, kept:slice(), op, "keepdims")
              end
            end
          end)
        end
      end
    end)
  end)

  it("of two go row by row with a matrix, and with a vector for all rows", function()
    on_each(function()
      local X, Y = gr.arange(1, 6):matrix(2), gr.arange(2, 7):matrix(2)
      S.same_all({ 1 * 2 + 2 * 3 + 3 * 4, 4 * 5 + 5 * 6 + 6 * 7 }, X:dot(Y, { axis = 2 }))
      S.same_all({ 1 * 2 + 4 * 5, 2 * 3 + 5 * 6, 3 * 4 + 6 * 7 }, X:dot(Y, { axis = 1 }))
      S.same_all({ 1, 1 }, X:mse(Y, { axis = 2 }))
      S.same_all({ 1 + 4 + 9, 4 + 10 + 18 }, X:dot(gr.array { 1, 2, 3 }, { axis = 2 }))
      S.same_all({ 1 + 8, 2 + 10, 3 + 12 }, X:dot(gr.array { 1, 2 }, { axis = 1 }))
      assert.same({ 2, 1 }, X:dot(Y, { axis = 2, keepdims = true }).shape)
      assert.equal(2 + 6 + 12 + 20 + 30 + 42, X:dot(Y))
      assert.equal(2 + 6 + 12 + 20 + 30 + 42, X:dot(Y:slice():matrix(3)))
      S.same_all({ 14, 32 }, X:dot(gr.array { 1, 2, 3 }, { axis = 2, pairs = false }))
    end)
  end)

  it("give a bounding box and a centre of points xyzxyz in one call each", function()
    on_each(function()
      local P = gr.array { 1, 20, -3, 4, -50, 6, 7, 8, 9 }:matrix(3)
      local low, high = P:minmax { axis = 1 }
      S.same_all({ 1, -50, -3 }, low)
      S.same_all({ 7, 20, 9 }, high)
      S.same_all({ 4, -22 / 3, 4 }, P:mean { axis = 1 })
      low, high = P:minmax { axis = 1, keepdims = true }
      assert.same({ 1, 3, 1, 3 }, { low.rows, low.columns, high.rows, high.columns })
    end)
  end)

  it("leave softmax and rmsnorm to go by rows", function()
    on_each(function()
      for _, dtype in ipairs { "f32", "f64", "bf16" } do
        local flat, m = table_of(dtype, 6, 11, 3)
        for k = 1, #flat do flat[k] = model.round[dtype](k % 13 / 4) end
        local a = gr.array(flat, dtype)
        for _, name in ipairs { "softmax", "rmsnorm" } do
          local expected = gr[name](a, { rows = #m })
          local got = gr[name](a:matrix(6))
          assert.same({ 6, 11 }, got.shape)
          assert.is_true(expected:equal(got:slice()), name)
          assert.is_true(gr[name](a, { rows = 3 }):equal(gr[name](a:matrix(6), { rows = 3 }):slice()), name)
        end
        local w = gr.arange(1, 11, dtype)
        assert.is_true(gr.rmsnorm(a, w, { rows = 6 }):equal(gr.rmsnorm(a:matrix(6), w):slice()))
      end
    end)
  end)

  it("refuse what does not go together", function()
    local a, X = gr.arange(1, 6), gr.arange(1, 6):matrix(2)
    local rows = {
      { a, { axis = 1 }, "option 'axis': only together with 'rows'" },
      { a, { keepdims = true }, "option 'keepdims': only together with 'rows'" },
      { X, { keepdims = true }, "option 'keepdims': only together with 'axis'" },
      { X, { axis = 3 }, "option 'axis': 1 (down the columns) or 2 (along the rows) expected, got 3" },
      { X, { axis = 1, keepdims = true, into = gr.zeros(3, "f64") },
        "option 'keepdims': takes no 'into', which has a shape of its own" },
      { X, { segments = { 1, 7 }, keepdims = true }, "option 'segments': takes no 'keepdims'" },
      { X, { keepdims = 1, axis = 1 }, "option 'keepdims': boolean expected, got number" },
      { X, { axis = 1, at = 1, into = gr.zeros(3, "f64") }, "option 'at': takes no 'rows'" },
    }
    for _, row in ipairs(rows) do
      assert.equal("bad argument #2 to 'sum' (" .. row[3] .. ")", message(gr.sum, row[1], row[2]))
    end
  end)
end)

describe("results in f32", function()
  local f32 = model.round.f32

  it("are the f64 ones rounded once", function()
    on_each(function(device)
      for _, dtype in ipairs { "f32", "f64", "i32", "bf16" } do
        local flat = S.whole(D.medium(dtype, 700, 5))
        local a, b = gr.array(flat, dtype), gr.array(S.whole(D.medium(dtype, 700, 6)), dtype)
        for _, op in ipairs { "sum", "prod", "mean", "var", "std", "norm", "logsumexp", "dot", "mse", "cosine" } do
          local two, whole = op == "dot" or op == "mse" or op == "cosine", not model.is_float[dtype]
          local function call(options)
            if two then return gr[op](a, b, options) end
            if op == "norm" then return a:norm(2, options) end
            return gr[op](a, options)
          end
          if not (whole and (op == "sum" or op == "prod" or op == "dot")) then
            local what = device .. " " .. dtype .. " " .. op
            S.same(f32(call()), call { out = "f32" }, what)
            S.same(call(), call { out = "f64" }, what, "f64")
            local each = { rows = 7, pairs = two or nil }
            local expected = call(each):table()
            for k = 1, 7 do expected[k] = f32(expected[k]) end
            each.out = "f32"
            local got = call(each)
            assert.equal("f32", got.dtype)
            S.same_all(expected, got, what, "rows")
            each.into = gr.zeros(7)
            assert.equal(each.into, call(each))
            S.same_all(expected, each.into, what, "into")
            local cell = gr.zeros(3)
            call { out = "f32", into = cell, at = 2 }
            S.same(f32(call()), cell[2], what, "at")
            S.same_all({ f32(call()) }, call { segments = { 1, 701 }, out = "f32" }, what, "segments")
            local item = two and { op, a, b, { out = "f32" } } or { op, a, { out = "f32" } }
            assert.equal(f32(call()), gr.many { item })
            assert.equal(f32(call()), call { async = true, out = "f32" }:get())
          end
        end
      end
    end)
  end)

  it("of expressions, too, and of squares that leave the range of f64", function()
    on_each(function()
      local X = gr.array({ 0.1, 0.2, 0.3, 0.4 }, "f64"):matrix(2)
      local e = gr.lazy(X) * 3
      S.same(f32(e:sum()), e:sum { out = "f32" })
      local got = e:sum { axis = 1, out = "f32" }
      assert.equal("f32", got.dtype)
      S.same_all({ f32(e:sum { axis = 1 }[1]), f32(e:sum { axis = 1 }[2]) }, got)
      local tiny = gr.array({ 3e-200, 4e-200, 3e200, 4e200, 3, 4 }, "f64")
      S.same_all({ 0, math.huge, 5 }, tiny:norm(2, { rows = 3, out = "f32" }))
    end)
  end)

  it("are for what is f64", function()
    local a = gr.zeros(3)
    assert.equal("bad argument #2 to 'max' (option 'out': only for results of f64, 'max' of f32 gives f32)",
      message(gr.max, a, { out = "f32" }))
    assert.equal("bad argument #2 to 'argmin' (option 'out': only for results of f64, 'argmin' of f32 gives i64)",
      message(gr.argmin, a, { out = "f32" }))
    assert.equal("bad argument #2 to 'any' (option 'out': only for results of f64, 'any' of f32 gives u8)",
      message(gr.any, a, { out = "f64" }))
    assert.equal("bad argument #2 to 'sum' (option 'out': f32 or f64 expected, got 'f16')",
      message(gr.sum, a, { out = "f16" }))
    assert.equal("bad argument #2 to 'sum' (option 'into': dtype f32 expected, got f64)",
      message(gr.sum, a, { out = "f32", into = gr.zeros(3, "f64"), at = 1 }))
    assert.equal("bad argument #2 to 'sum' (option 'into': f32[1] expected, got f64[1])",
      message(gr.sum, a, { out = "f32", rows = 1, into = gr.zeros(1, "f64") }))
  end)
end)
