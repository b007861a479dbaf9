-- Operators and formulas of a matrix with rows and columns, against loops over tables of rows.
local S = require "spec.support"
local gr, model = S.gr, S.model
local message, on_each = S.message, S.on_each

local sign = { add = function(x, y) return x + y end, sub = function(x, y) return x - y end,
  mul = function(x, y) return x * y end, div = function(x, y) return x / y end,
  minimum = function(x, y) return x < y and x or y end, maximum = function(x, y) return x > y and x or y end }

local relations = { ["<"] = function(x, y) return x < y end, ["<="] = function(x, y) return x <= y end,
  ["=="] = function(x, y) return x == y end, ["~="] = function(x, y) return x ~= y end }

-- Small numbers with ties among them, the same ones each time.
local function numbers(dtype, n, seed)
  local g, t = model.generator(seed), {}
  for k = 1, n do t[k] = g() % 7 + (model.is_float[dtype] and 0.5 or 1) end
  return t
end

-- An operand as a function of i and j, and what may stand for it.
local function operands(dtype, rows, columns, seed)
  local full, row, column = numbers(dtype, rows * columns, seed), numbers(dtype, columns, seed + 1),
    numbers(dtype, rows, seed + 2)
  local function flat(i, j) return full[(i - 1) * columns + j] end
  local function along(_, j) return row[j] end
  local function down(i) return column[i] end
  local v, w = gr.array(row, dtype), gr.array(column, dtype)
  local list = {
    { "matrix", flat, gr.array(full, dtype):matrix(rows), whole = true },
    { "vector of all", flat, gr.array(full, dtype) },
    { "row", along, gr.row(v) }, { "1 x n", along, v:matrix(1) },
    { "column", down, gr.column(w) }, { "n x 1", down, w:matrix(rows) },
  }
  local turned = {}
  for j = 1, columns do
    for i = 1, rows do turned[#turned + 1] = flat(i, j) end
  end
  list[#list + 1] = { "transposed", flat, gr.array(turned, dtype):matrix(columns):transpose(), whole = true }
  if rows ~= columns then
    list[#list + 1] = { "bare row", along, v }
    list[#list + 1] = { "bare column", down, w }
    list[#list + 1] = { "a view of a row", along, gr.array(row, dtype):slice(-1, 1, -1):copy():slice(-1, 1, -1) }
  end
  return list
end

local function expect(rows, columns, f)
  local t = {}
  for i = 1, rows do
    for j = 1, columns do t[#t + 1] = f(i, j) end
  end
  return t
end

local shapes = { { 1, 1 }, { 2, 3 }, { 4, 4 }, { 5, 1 }, { 1, 6 }, { 9, 17 }, { 3, 200 } }

describe("a matrix with a row or a column", function()
  for _, dtype in ipairs { "f32", "f64", "i32", "u8", "i64", "f16" } do
    it("in operators, " .. dtype, function()
      on_each(function(device)
        for s, shape in ipairs(shapes) do
          local rows, columns = shape[1], shape[2]
          local left, right = operands(dtype, rows, columns, s), operands(dtype, rows, columns, s + 100)
          for _, a in ipairs(left) do
            for _, b in ipairs(right) do
              if a.whole or b.whole then
                for name, f in pairs(sign) do
                  local what = ("%s: %s of %s and %s, %d x %d"):format(device, name, a[1], b[1], rows, columns)
                  local got = gr[name](a[3], b[3])
                  assert.same({ rows, columns }, got.shape, what)
                  local to = model.round[got.dtype]
                  S.same_all(expect(rows, columns, function(i, j)
                    local x = f(a[2](i, j), b[2](i, j))
                    if model.is_float[got.dtype] then return to and to(x) or x end
                    return dtype == "u8" and x % 256 or x
                  end), got:slice(), what)
                end
              end
            end
          end
        end
      end)
    end)
  end

  it("in comparisons, choices and masks", function()
    on_each(function()
      for s, shape in ipairs(shapes) do
        local rows, columns = shape[1], shape[2]
        local X, others = operands("f32", rows, columns, s)[1], operands("f32", rows, columns, s + 7)
        for _, b in ipairs(others) do
          for name, f in pairs(relations) do
            local got = gr.compare(X[3], name, b[3])
            assert.same({ rows, columns }, got.shape)
            S.same_all(expect(rows, columns, function(i, j) return f(X[2](i, j), b[2](i, j)) and 1 or 0 end),
              got:slice(), name, b[1])
          end
          local mask = X[3]:compare(">", 3)
          local got = gr.where(mask, b[3], X[3])
          S.same_all(expect(rows, columns, function(i, j) return (X[2](i, j) > 3 and b or X)[2](i, j) end), got:slice(),
            "where", b[1])
          assert.same({ rows, columns }, gr.where(mask, b[3], 0).shape)
        end
      end
    end)
  end)

  it("written into an array, which may be the matrix itself", function()
    on_each(function()
      local X, mu = gr.arange(1, 6):matrix(2), gr.array { 1, 2, 3 }
      local into = gr.zeros(6)
      assert.equal(into, gr.sub(X, mu, { into = into }))
      S.same_all({ 0, 0, 0, 3, 3, 3 }, into)
      assert.equal(into, gr.sub(gr.row(mu), X, { into = into }))
      S.same_all({ 0, 0, 0, -3, -3, -3 }, into)
      assert.equal(X, gr.sub(X, gr.row(mu), { into = X }))
      S.same_all({ 0, 0, 0, 3, 3, 3 }, X:slice())
    end)
  end)

  it("keeps what its operators leave: -X, X * 2, casts, functions, masks", function()
    local X = gr.arange(1, 6):matrix(2)
    for _, Y in ipairs { -X, X * 2, 2 - X, X:cast "f64", X:exp(), X:clamp(2, 3), X:isnan(), X:compare("<", 3),
      X:transpose():transpose() + 1, X + X:slice(), X:slice() + X, gr.where(X:compare("<", 3), 1, 2), X:scan() } do
      assert.same({ 2, 3 }, Y.shape)
    end
  end)

  it("in one another alone makes the matrix", function()
    on_each(function()
      local D = gr.row(gr.array { 1, 2, 3 }) - gr.column(gr.array { 10, 20 })
      assert.same({ { -9, -8, -7 }, { -19, -18, -17 } }, D:table())
      local E = gr.array({ 1, 2, 3 }):matrix(1) - gr.array({ 10, 20 }):matrix(2)
      assert.is_true(D:equal(E))
      assert.same({ { -9, -8 } }, (gr.array({ 1, 2 }):matrix(1) - gr.array({ 10 }):matrix(1)):table())
    end)
  end)

  it("normalises by its own means and deviations", function()
    on_each(function()
      local X = gr.array({ 1, 2, 3, 5, 7, 9 }, "f64"):matrix(3)
      local Z = (X - X:mean { axis = 1 }) / X:std { axis = 1, keepdims = true }
      for j = 1, 2 do
        assert.is_true(math.abs(Z:column(j):mean()) < 1e-15)
        assert.is_true(math.abs(Z:column(j):std() - 1) < 1e-15)
      end
      local f = X:cast "f32"
      assert.equal("f32", (f - f:mean { axis = 1, out = "f32" }).dtype)
    end)
  end)
end)

describe("expressions of matrices", function()
  it("have their shape, and take rows, columns and vectors", function()
    on_each(function()
      for s, shape in ipairs(shapes) do
        local rows, columns = shape[1], shape[2]
        local X, others = operands("f64", rows, columns, s)[1], operands("f64", rows, columns, s + 50)
        for _, b in ipairs(others) do
          local what = b[1] .. " " .. rows .. " x " .. columns
          local expected = expect(rows, columns, function(i, j) return (X[2](i, j) - b[2](i, j)) / 3 end)
          for _, e in ipairs { (gr.lazy(X[3]) - b[3]) / 3, gr.fuse "(x - b) / 3" { x = X[3], b = b[3] },
            gr.fuse "y / 3" { y = gr.lazy(X[3]) - b[3] } } do
            assert.same({ rows, columns }, e:eval().shape, what)
            S.same_all(expected, e:eval():slice(), what)
            assert.equal(rows, e:info().rows)
            assert.equal(columns, e:info().columns)
          end
          local e = (gr.lazy(X[3]) - b[3]) / 3
          local Y = e:eval()
          for axis = 1, 2 do
            assert.is_true(Y:sum { axis = axis }:equal(e:sum { axis = axis }), what)
            assert.is_true(Y:mean { axis = axis, keepdims = true }:equal(e:mean { axis = axis, keepdims = true }))
          end
          assert.equal(Y:sum(), e:sum())
          assert.is_true(e:softmax():equal(Y:softmax()))
        end
      end
    end)
  end)

  it("take rows and columns as the text says, too", function()
    on_each(function()
      local X, v = gr.arange(1, 9, "f64"):matrix(3), gr.array({ 1, 10, 100 }, "f64")
      local f = gr.fuse "x * row(r) + column(c)"
      local got = f { x = X, r = v, c = v }:eval()
      assert.same({ { 2, 21, 301 }, { 14, 60, 610 }, { 107, 180, 1000 } }, got:table())
      got = gr.fuse "x * row(r) + c" { x = X, r = v:matrix(1), c = gr.column(v) }:eval()
      assert.same({ { 2, 21, 301 }, { 14, 60, 610 }, { 107, 180, 1000 } }, got:table())
      local flat = gr.fuse "x * row(r)" { x = X:slice(), r = v }:eval()
      assert.same({ 9 }, flat.shape) -- the text alone makes no matrix of a vector
      assert.same({ 3, 3 }, (X:slice() - gr.row(v)).shape)
      assert.same({ 3, 3 }, gr.fuse "r - c" { r = gr.row(v), c = gr.column(v) }:eval().shape)
    end)
  end)

  it("of several shapes are reduced together", function()
    on_each(function()
      local a = gr.arange(1, 6, "f64")
      local e, f = gr.lazy(a:matrix(2)) - gr.row(a:slice(1, 3)), gr.lazy(a:matrix(3)) - gr.row(a:slice(1, 2))
      local x, y, z = gr.many { { "sum", e }, { "sum", f }, { "dot", e, f } }
      assert.same({ 9, 21 - 9, e:eval():slice():dot(f:eval():slice()) }, { x, y, z })
      assert.equal(z, e:dot(f))
    end)
  end)

  it("say what they are", function()
    local X = gr.arange(1, 6):matrix(2)
    assert.equal("gpureduce.expression f32[2 x 3] of 1 step", tostring(gr.lazy(X) * 2))
    local r, c = gr.row(X[1]), gr.column(X[1])
    assert.equal("gpureduce.expression f32[3], a row", tostring(r))
    assert.equal("gpureduce.expression f32[3], a column", tostring(c))
    assert.equal(3, #r)
    assert.equal(3, c:info().n)
    r:release()
    assert.equal("bad argument #2 to 'sub' (expression has been released)", message(gr.sub, X, r))
  end)
end)

describe("an array of one element", function()
  for _, dtype in ipairs { "f32", "f64", "i32", "u8", "f16" } do
    it("goes with all that it meets in operators, " .. dtype, function()
      on_each(function(device)
        local t = numbers(dtype, 600, 1)
        local a, y = gr.array(t, dtype), numbers(dtype, 1, 7)[1]
        local s = gr.scalar(gr.array({ 0, y, 0 }, dtype):slice(2, 2))
        for _, x in ipairs { a, a:slice(-1, 1, -1), a:matrix(20), a:matrix(20):transpose() } do
          for name in pairs(sign) do
            local what = device .. " " .. name
            assert.is_true(gr[name](x, s):equal(gr[name](x, y)), what)
            assert.is_true(gr[name](s, x):equal(gr[name](y, x)), what)
          end
          assert.is_true((x ^ s):equal(x ^ y))
          assert.is_true(x:compare("<", s):equal(x:compare("<", y)))
          assert.is_true(x:clamp(s, nil):equal(x:clamp(y, nil)))
          assert.is_true(gr.where(x:compare(">", s), s, x):equal(gr.where(x:compare(">", y), y, x)))
          assert.is_true((gr.lazy(x) * s):eval():equal(x * y))
          assert.is_true(gr.fuse "x - y" { x = x, y = s }:eval():equal(x - y))
        end
        assert.is_true(a:add(s, { into = a }):equal(gr.array(t, dtype) + y))
      end)
    end)
  end

  it("is read where it lies: nothing waits for it", function()
    S.on("pretend", function()
      local a, total = gr.arange(1, 1000), gr.zeros(1)
      local by = gr.scalar(total)
      local did = S.counted(function() return a:sum { into = total, at = 1 } / by end)
      assert.equal(0, did.bytes_down)
      assert.equal(0, did.syncs)
      assert.equal(500500, total[1])
      local shares = a / by
      assert.is_true(shares:equal(a / 500500))
      total:fill(2) -- what is written later counts in what is computed later
      assert.is_true((a / by):equal(a / 2))
      S.same_all({ 2, 4, 6, 4, 8, 12 }, (gr.row(gr.arange(1, 3)) * gr.column(gr.arange(1, 2)) * by):slice())
    end)
  end)

  it("is what the message says where an array of one element stands bare", function()
    local a, one, goes = gr.ones(6), gr.ones(1), ": gr.scalar(v) goes with all)"
    assert.equal("bad argument #2 to 'mul' (length 6 expected, got 1" .. goes, message(gr.mul, a, one))
    assert.equal("bad argument #1 to 'div' (length 6 expected, got 1" .. goes, message(gr.div, one, a))
    assert.equal("bad argument #3 to 'compare' (length 6 expected, got 1" .. goes, message(gr.compare, a, "<", one))
    assert.equal("bad argument #2 to 'mul' (length 3 (of a row), 2 (of a column) or 6 expected, got 1" .. goes,
      message(gr.mul, a:matrix(2), one))
    assert.equal("bad argument #2 to 'mul' (length 6 expected, got 1: gr.scalar(v), in a text scalar(v), goes with "
      .. "all)", message(gr.mul, gr.lazy(a), one))
    assert.equal("bad argument #1 to 'formula' (column 5: length 6 expected, got 1: gr.scalar(v), in a text scalar(v), "
      .. "goes with all\n  a * s\n      ^)", message(gr.fuse "a * s", { a = a, s = one }))
    assert.equal("bad argument #2 to 'dot' (length 6 expected, got 1)", message(gr.dot, a, one))
  end)

  it("says what it is", function()
    local s = gr.scalar(gr.ones(1, "f64"):matrix(1))
    assert.equal("gpureduce.expression f64[1], a scalar", tostring(s))
    assert.equal(1, #s)
    assert.equal("bad argument #1 to 'scalar' (length 1 expected, got 6)", message(gr.scalar, gr.ones(6):matrix(2)))
    assert.is_true(gr.allclose(gr.full(3, 1, "f64"), s))
    assert.equal(2, (gr.differ(gr.array({ 1, 2 }, "f64"), s)))
    s:release()
    assert.equal("bad argument #2 to 'sub' (expression has been released)", message(gr.sub, gr.ones(2, "f64"), s))
  end)
end)

describe("what does not fit a matrix", function()
  it("is refused in words", function()
    on_each(function()
      local X, Q = gr.arange(1, 6):matrix(2), gr.arange(1, 9):matrix(3)
      local v2, v3 = gr.ones(2), gr.ones(3)
      local alone = "a row, a column or a scalar alone has no length: use its array"
      local rows = {
        { gr.sub, "#2 to 'sub' (length 3 fits the rows and the columns of a matrix of 3 x 3: write gr.row(v) or "
          .. "gr.column(v))", Q, v3 },
        { gr.sub, "#2 to 'sub' (length 3 (of a row), 2 (of a column) or 6 expected, got 4)", X, gr.ones(4) },
        { gr.sub, "#2 to 'sub' (matrix of 2 rows expected, got 3)", X, gr.ones(6):matrix(3) },
        { gr.sub, "#2 to 'sub' (matrix of 3 columns expected, got 2)", X, gr.ones(4):matrix(2) },
        { gr.sub, "#2 to 'sub' (row of length 3 expected, got 2)", X, gr.row(v2) },
        { gr.sub, "#2 to 'sub' (column of length 2 expected, got 3)", X, gr.column(v3) },
        { gr.sub, "#2 to 'sub' (dtype f32 expected, got f64: write a:cast \"f64\")", X, gr.ones(3, "f64") },
        { gr.sub, "#2 to 'sub' (f32 and f64 do not mix: write f32(...) or f64(...))", X, gr.row(gr.ones(3, "f64")) },
        { gr.compare, "#3 to 'compare' (length 3 (of a row), 2 (of a column) or 6 expected, got 5)", X, "<",
          gr.ones(5) },
        { gr.mul, "#2 to 'mul' (" .. alone .. ")", gr.row(v2), 2 },
        { gr.sum, "#1 to 'sum' (" .. alone .. ")", gr.row(v2) },
        { gr.row(v2).eval, "#1 to 'eval' (" .. alone .. ")", gr.row(v2) },
        { gr.neg, "#1 to 'neg' (" .. alone .. ")", gr.row(v2) },
        { gr.mul, "#2 to 'mul' (" .. alone .. ")", gr.scalar(gr.ones(1)), 2 },
        { gr.mul, "#2 to 'mul' (" .. alone .. ")", gr.scalar(gr.ones(1)), gr.row(v2) },
        { gr.sum, "#1 to 'sum' (" .. alone .. ")", gr.scalar(gr.ones(1)) },
        { gr.differ, "#2 to 'differ' (" .. alone .. ")", gr.scalar(gr.ones(1)), gr.scalar(gr.ones(1)) },
        { gr.scalar, "#1 to 'scalar' (gpureduce.array expected, got number)", 3 },
        { gr.mul, "#2 to 'mul' (f32 and i32 do not mix: write f32(...) or i32(...))", X, gr.scalar(gr.ones(1, "i32")) },
        { gr.row, "#1 to 'row' (vector expected, got a matrix of 2 x 3 (X:row(k) is a view of one))", X },
        { gr.column, "#1 to 'column' (gpureduce.array expected, got number)", 3 },
        { gr.sub, "#3 to 'sub' (option 'into': f32[6] expected, got f32[5])", X, v3, { into = gr.zeros(5) } },
        { gr.sub, "#3 to 'sub' (unknown option 'inot' (did you mean 'into'?))", X, v3, { inot = 1 } },
        { gr.add, "#2 to 'add' (length 6 expected, got 5)", X:slice(), gr.ones(5) },
      }
      for _, row in ipairs(rows) do
        assert.equal("bad argument " .. row[2], message(row[1], row[3], row[4], row[5]))
      end
      local same = gr.arange(1, 6)
      local M = same:matrix(2)
      assert.equal("bad argument #3 to 'sub' (option 'into': overlaps the input)",
        message(gr.sub, M, same:slice(1, 3), { into = M }))
      local f = gr.fuse "x - v"
      assert.truthy(message(f, { x = Q, v = v3 }):find("length 3 fits the rows and the columns of a matrix of 3 x 3", 1,
        true))
    end)
  end)
end)
