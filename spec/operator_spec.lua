-- Operators of one's own: those that say what a built-in operation says have its bits, whatever the shape.
local S = require "spec.support"
local D = require "spec.data"
local O = require "spec.operators"
local gr, model = S.gr, S.model
local sum_of, with, floats, alike, logsumexp = O.sum_of, O.with, O.floats, O.alike, O.logsumexp
local huge = math.huge

local raises = { min = true, max = true, argmax = true }
local function built_in(op, a, options) return a:reduce(op, options) end

local function data_of(op, dtype, n, seed)
  local kind = op == "prod" and "factors" or seed % 3 == 0 and op ~= "argmax" and model.is_float[dtype] and "odd"
    or "sparse"
  local t = D[kind](dtype, n, seed)
  for k = 1, op == "argmax" and n or 0 do t[k] = t[k] + 0.0 end -- argmax knows -0.0 < 0.0, and comparisons do not
  return model.is_float[dtype] and t or S.whole(t)
end

local lengths = { 1, 2, 3, 63, 64, 65, 127, 129, 255, 257, 500, 512, 513, 1000, 1024, 1025, 3000,
  4096, 4097, 5121, 9000 }

describe("an operator that says what a built-in says has its bits:", function()
  for _, row in ipairs(alike) do
    local name, words, dtypes = row[1], row[2], row[3]
    it(name .. " of " .. table.concat(dtypes, ", "), function()
      local op = gr.operator(words)
      S.on_each(function(device)
        for _, dtype in ipairs(dtypes) do
          local seed = #dtype + #name
          for k, n in ipairs(device == "cpu" and lengths or { 1, 1000, 5121 }) do
            local a = gr.array(data_of(name, dtype, n, seed + k), dtype)
            S.same(built_in(name, a), op(a), name, dtype, n)
          end
        end
      end)
    end)

    it(name .. " of rows and columns", function()
      local op = gr.operator(words)
      for _, dtype in ipairs(dtypes) do
        for _, shape in ipairs { { 1, 300 }, { 7, 1 }, { 40, 3 }, { 300, 7 }, { 5, 130 }, { 3, 1100 }, { 1100, 3 },
          { 130, 33 } } do
          local rows, columns = shape[1], shape[2]
          local a = gr.array(data_of(name, dtype, rows * columns, rows), dtype)
          for axis = 1, 2 do
            local options = { rows = rows, axis = axis }
            local expected, got = built_in(name, a, options), op(a, options)
            S.same_all(expected:table(), got:table(), name, dtype, rows, columns, axis)
            assert.equal(expected.dtype, got.dtype)
          end
        end
      end
    end)

    it(name .. " of segments", function()
      local op = gr.operator(words)
      for _, dtype in ipairs(dtypes) do
        local offsets, g = { 3 }, model.generator(11)
        for k = 1, 60 do offsets[k + 1] = offsets[k] + (g() % 3 == 0 and g() % 1500 or 1 + g() % 5) end
        for k = 2, #offsets do offsets[k] = offsets[k] + (raises[name] and k or 0) end
        local a = gr.array(data_of(name, dtype, offsets[#offsets] + 2, 5), dtype)
        for _, kind in ipairs { "i64", "i32" } do
          local options = { segments = gr.array(offsets, kind) }
          S.same_all(built_in(name, a, options):table(), op:reduce(a, options):table(), name, dtype)
        end
      end
    end)
  end

  it("of random lengths and shapes", function()
    local g = model.generator(29)
    for k = 1, 150 do
      local row = alike[1 + g() % #alike]
      local name, dtype = row[1], row[3][1 + g() % #row[3]]
      local rows, columns = 1 + g() % ({ 3, 40, 900 })[1 + g() % 3], 1 + g() % ({ 5, 70, 600 })[1 + g() % 3]
      local a, op = gr.array(data_of(name, dtype, rows * columns, k), dtype), gr.operator(row[2])
      S.same(built_in(name, a), op(a), name, dtype, rows * columns)
      for axis = 1, 2 do
        local options = { rows = rows, axis = axis }
        local expected, device = built_in(name, a, options), k % 4 == 0 and "pretend" or "cpu"
        S.on(device, function()
          local got = op(a:copy(), options)
          S.same_all(expected:table(), got:table(), name, dtype, rows, columns, axis)
          assert.equal(device, got:info().device)
        end)
      end
    end
  end)

  it("of views", function()
    local op = gr.operator(sum_of())
    for _, dtype in ipairs { "f32", "f64" } do
      local t = S.whole(D.sparse(dtype, 3000, 3))
      for _, view in ipairs(S.views(t, dtype, 1)) do
        S.same(gr.sum(view[2]), op(view[2]), dtype, view[1])
        S.same_all(gr.sum(view[2], { rows = 20 }):table(), op(view[2], { rows = 20 }):table(), dtype, view[1])
        S.same_all(gr.sum(view[2], { rows = 20, axis = 1 }):table(), op(view[2], { rows = 20, axis = 1 }):table())
        S.same_all(gr.scan(view[2]):table(), gr.scan(view[2], gr.operator(with(sum_of(), { finish = dtype .. "(s)" })))
          :table(), "scan", view[1])
      end
    end
  end)

  it("of long vectors, on any number of threads", function()
    local op, lse = gr.operator(sum_of()), gr.operator(logsumexp)
    local old = gr.threads()
    for _, n in ipairs { 65535, 65536, 65537, 200001, 1048577, 3000000 } do
      local a = gr.rand(n, { seed = n }) - 0.5
      for _, threads in ipairs { 1, 3 } do
        gr.threads(threads)
        S.same(gr.sum(a), op(a), n, threads)
        if n < 300000 then S.same(gr.logsumexp(a), lse(a), n, threads) end
      end
    end
    local a = gr.rand(400000, { seed = 1 })
    S.same_all(gr.sum(a, { rows = 2 }):table(), op(a, { rows = 2 }):table(), "long rows")
    local offsets = { 1, 4, 150004, 150004, 400001 }
    S.same_all(gr.sum(a, { segments = offsets }):table(), op(a, { segments = offsets }):table(), "long segments")
    gr.threads(old)
  end)

  it("of expressions", function()
    local a = gr.array(data_of("sum", "f32", 5000, 2), "f32")
    local e, op = gr.fuse "2 * a - f64(i)" { a = a:cast "f64" }, gr.operator(sum_of())
    S.same(e:sum(), op(e))
    S.same(e:sum(), e:reduce(op))
    S.same_all(e:sum { rows = 50 }:table(), op(e, { rows = 50 }):table())
    S.same_all(e:scan():table(), e:scan(op):table())
    S.same(gr.lazy(a):sum(), gr.reduce(gr.lazy(a), op))
  end)
end)

local ways = { {}, { exclusive = true }, { reverse = true }, { exclusive = true, reverse = true } }

describe("scans by an operator", function()
  local identities = { sum = 0, prod = 1, min = huge, max = -huge }
  local merges = { sum = "s1 + s2", prod = "s1 * s2", min = "min(s1, s2)", max = "max(s1, s2)" }
  for name, merge in pairs(merges) do
    it("have the bits of " .. name, function()
      local out = name == "min" or name == "max"
      for _, dtype in ipairs(floats) do
        local finish = (out or dtype == "f64") and dtype or "f32"
        local op = gr.operator { state = "s", map = "f64(x)", merge = merge, identity = identities[name],
          finish = finish .. "(s)" }
        for k, n in ipairs { 0, 1, 2, 7, 8, 9, 255, 256, 257, 300, 2049, 4095, 4096, 4097, 12345, 33000 } do
          local a = gr.array(data_of(name, dtype, n, k), dtype)
          for _, way in ipairs(ways) do
            local expected, got = gr.scan(a, name, way), gr.scan(a, op, way)
            assert.equal(expected.dtype, got.dtype)
            S.same_all(expected:table(), got:table(), name, dtype, n, way.exclusive, way.reverse)
          end
        end
      end
    end)
  end

  it("have them across blocks and superblocks, on any number of threads", function()
    local op, old = gr.operator(with(sum_of(), { finish = "f32(s)" })), gr.threads()
    for _, n in ipairs { 131071, 131072, 131073, 700001, 4194304 + 140001 } do
      local a = gr.rand(n, { seed = n })
      for _, threads in ipairs { 1, 4 } do
        gr.threads(threads)
        for k, way in ipairs(ways) do
          if n < 1e6 or k == 1 then assert.is_true(gr.scan(a, op, way):equal(gr.scan(a, "sum", way)), n .. " " .. k) end
        end
      end
    end
    gr.threads(old)
  end)

  it("count what they are made of, know positions, and give several results", function()
    local op = gr.operator { state = { "s", "p" }, map = { s = "f64(x)", p = "i" },
      merge = { s = "s1 + s2", p = "p2" }, identity = { s = 0, p = -1 }, finish = { "s / n", "p", "n" },
      commutative = false }
    S.on_each(function()
      for _, way in ipairs(ways) do
        local n, t = 600, {}
        for k = 1, n do t[k] = k * k end
        local mean, position, count = gr.scan(gr.array(t, "i32"), op, way)
        mean, position, count = mean:table(), position:table(), count:table()
        local s, c, p = 0, 0, -1
        for k = way.reverse and n or 1, way.reverse and 1 or n, way.reverse and -1 or 1 do
          if not way.exclusive then s, c, p = s + t[k], c + 1, k end
          S.same(c == 0 and s / c or s / c, mean[k], "mean", k)
          S.same(p, position[k], "position", k)
          S.same(c * 1.0, count[k], "count", k)
          if way.exclusive then s, c, p = s + t[k], c + 1, k end
        end
      end
    end)
  end)

  it("go by rows and by columns", function()
    local sum = gr.operator(with(sum_of(), { finish = "f32(s)" }))
    local place = gr.operator { state = { "m", "p" }, map = { m = "abs(x)", p = "i" },
      merge = { m = "max(m1, m2)", p = "m2 > m1 and p2 or p1" }, identity = { m = -1, p = 0 }, commutative = false }
    S.on_each(function(device)
      for _, shape in ipairs { { 3, 5 }, { 1, 4 }, { 4, 1 }, { 70, 300 }, { 2, 0 } } do
        local rows, columns = shape[1], shape[2]
        local X = gr.randn(rows * columns, { seed = rows }):matrix(rows)
        for axis = 1, 2 do
          for _, way in ipairs(ways) do
            local options = { axis = axis, exclusive = way.exclusive, reverse = way.reverse }
            local got = gr.scan(X, sum, options)
            assert.same(X.shape, got.shape)
            assert.is_true(got:equal(X:scan("sum", options)), device .. axis)
          end
          local largest, where = place:scan(X, { axis = axis })
          for k = 1, columns == 0 and 0 or axis == 1 and columns or rows do
            local v = axis == 1 and X:column(k) or X[k]
            local one, at = place:scan(v:copy())
            assert.is_true(one:equal(axis == 1 and largest:column(k) or largest[k]))
            assert.is_true(at:equal(axis == 1 and where:column(k) or where[k]))
          end
        end
        if columns > 0 then
          local flat, T = X:slice(), X:transpose()
          assert.is_true(gr.scan(flat, sum, { rows = rows }):equal(flat:scan { rows = rows }))
          assert.is_true(gr.scan(gr.lazy(X) * 2, sum, { axis = 1 }):equal((X * 2):scan { axis = 1 }))
          assert.is_true(gr.scan(T, sum, { axis = 1 }):equal(T:scan { axis = 1 }))
          local copy = X:copy()
          assert.equal(copy, gr.scan(copy, sum, { axis = 1, into = copy }))
          assert.is_true(copy:equal(X:scan { axis = 1 }))
        end
      end
    end)
  end)

  it("go into an array, which may be the input", function()
    local a = gr.array({ 1, 2, 3 }, "f64")
    local op = gr.operator(sum_of())
    assert.equal(a, gr.scan(a, op, { into = a }))
    assert.same({ 1, 3, 6 }, a:table())
    assert.same({ 1, 4, 10 }, op:scan(a):table())
    assert.same({ 1, 4, 10 }, a:scan(op):table())
  end)
end)

describe("merges that do not commute", function()
  -- y -> a * y + b, one after the other, in integers that wrap
  local function affine(finish)
    return gr.operator { state = { "a", "b" }, map = { a = "i64(x)", b = "i" },
      merge = { a = "a1 * a2", b = "b1 * a2 + b2" }, identity = { a = 1, b = 0 }, finish = finish or "b",
      commutative = false }
  end
  local function model_of(t, from, n)
    local b = 0
    for k = 1, n do b = model.wrap("i64", model.wrapped_product("i64", b, t[from + k - 1]) + k) end
    return b
  end

  it("fold in order: whole, rows, columns, segments, scans", function()
    local g, t = model.generator(3), {}
    for k = 1, 20000 do t[k] = g() % 2 == 0 and 1 or -1 end
    local a = gr.array(t, "i8")
    S.on_each(function(device)
      local x = device == "cpu" and a or gr.array(t, "i8")
      for _, n in ipairs { 0, 1, 8, 9, 255, 300, 4096, 4097, 20000 } do
        S.same(model_of(t, 1, n), affine()(x:slice(1, n)) + 0, n)
      end
      for _, shape in ipairs { { 1, 900 }, { 30, 1 }, { 41, 9 }, { 9, 700 }, { 2, 5000 }, { 300, 17 } } do
        local rows, columns = shape[1], shape[2]
        local m = x:slice(1, rows * columns)
        local along, down = affine()(m, { rows = rows }):table(), affine()(m, { rows = rows, axis = 1 }):table()
        for r = 1, rows do
          S.same(model_of(t, (r - 1) * columns + 1, columns), along[r] + 0, "row", r, rows, columns)
        end
        for c = 1, columns do
          local column = {}
          for r = 1, rows do column[r] = t[(r - 1) * columns + c] end
          S.same(model_of(column, 1, rows), down[c] + 0, "column", c, rows, columns)
        end
      end
      local offsets = { 1, 1, 4, 4000, 4010, 4010, 9000, 9001, 20001 }
      local got = affine()(x, { segments = offsets }):table()
      for k = 1, #got do S.same(model_of(t, offsets[k], offsets[k + 1] - offsets[k]), got[k] + 0, "segment", k) end
      local scan = gr.scan(x, affine()):table()
      for k = 1, 20000, 37 do S.same(model_of(t, 1, k), scan[k] + 0, "scan", k) end
    end)
  end)

  it("have the bits of the last result of a scan", function()
    local op, old = gr.operator(with(sum_of(), { commutative = false })), gr.threads()
    for _, n in ipairs { 1, 5, 8, 100, 256, 700, 4096, 4097, 40000, 66000, 131072, 300000 } do
      local a = gr.rand(n, "f64", { seed = n })
      for _, threads in ipairs { 1, 4 } do
        gr.threads(threads)
        S.same(gr.scan(a)[n], op(a), n)
      end
    end
    gr.threads(old)
    local a = gr.rand(9000, "f64", { seed = 1 })
    for _, rows in ipairs { 1, 3, 20, 900, 9000 } do
      local got, n = op(a, { rows = rows }):table(), 9000 / rows
      for r = 1, rows do S.same(gr.scan(a:slice((r - 1) * n + 1, r * n))[n], got[r], rows, r) end
    end
  end)
end)
