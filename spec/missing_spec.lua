-- Reductions of what is present: {skipnan = true} and {mask = m} against the model, on every device and in every shape.
local S = require "spec.support"
local D = require "spec.data"
local F = require "spec.missing"
local gr, model = S.gr, S.model
local nan, huge, NZ = model.nan, math.huge, model.minus_zero
local unpack = table.unpack or unpack -- luacheck: ignore

local names = { "sum", "prod", "mean", "var", "std", "min", "max", "minmax", "argmin", "argmax", "any", "all", "count",
  "norm1", "norm2", "norminf", "logsumexp" }
local needs_one = { min = true, max = true, minmax = true, argmin = true, argmax = true }
local two = { "dot", "mse", "cosine" }

-- Masks of n: nothing missing, a part, all but one, the first half, by every dtype of truth.
local function masks(n, seed)
  local g = model.generator(seed)
  local list = { D.each(n, function() return g() % 255 + 1 end),
    D.each(n, function() local r = g(); return r % 3 == 0 and 0 or r % 200 + 1 end),
    D.each(n, function(k) return k == n and 3 or 0 end),
    D.each(n, function(k) return 2 * k <= n and 0 or 1 end),
    D.each(n, function() return 0 end) }
  return list
end

local function data(name, dtype, n, seed)
  if name == "prod" then return S.whole(D.factors(dtype, n, seed)) end
  local t = S.whole(D.medium(dtype, n, seed))
  if name == "logsumexp" or model.is_float[dtype] then
    for k = 1, n do t[k] = model.is_float[dtype] and t[k] or t[k] % 50 end
  end
  return t
end

local function with_nan(dtype, t, seed)
  local g = model.generator(seed)
  if model.is_float[dtype] then
    for k = 1, #t do if g() % 4 == 0 then t[k] = nan end end
  end
  return t
end

local function call(name, a, options)
  return gr.reduce(a, name, options)
end

local function check(name, dtype, t, a, options, mask, ...)
  local there = F.there(#t, t, options.skipnan, mask)
  if needs_one[name] and F.count(there) == 0 then
    local text = ("option '%s': no element is present: '%s' needs one"):format(mask and "mask" or "skipnan", name)
    assert.matches(text, S.message(call, name, a, options), 1, true)
    return
  end
  local expected, got = { F.reduce[name](dtype, t, there) }, { call(name, a, options) }
  for k = 1, #expected do S.same(expected[k], got[k], name, dtype, #t, k, ...) end
  assert.equal(#expected, #got)
end

describe("what is present of a whole array", function()
  for _, dtype in ipairs(model.dtypes) do
    it("of " .. dtype, function()
      for _, name in ipairs(names) do
        for i, n in ipairs { 1, 2, 3, 31, 700 } do
          local t = with_nan(dtype, data(name, dtype, n, 11 * n), n + i)
          local a = gr.array(t, dtype)
          check(name, dtype, t, a, { skipnan = true }, nil, "skipnan")
          for j, m in ipairs(masks(n, i)) do
            local mask = gr.array(m, "u8")
            check(name, dtype, t, a, { mask = mask }, m, "mask", j)
            check(name, dtype, t, a, { mask = mask, skipnan = true }, m, "both", j)
          end
        end
      end
    end)
  end

  it("of many elements, on each device", function()
    S.on_each(function(device)
      for _, dtype in ipairs { "u8", "i64", "f16", "f32", "f64" } do
        local n = 9001
        for _, name in ipairs(names) do
          local t = with_nan(dtype, data(name, dtype, n, 5), 6)
          local m = masks(n, 7)[2]
          check(name, dtype, t, gr.array(t, dtype), { skipnan = true, mask = gr.array(m, "u8") }, m, device)
        end
      end
    end)
  end)

  it("of views, and of expressions", function()
    local n = 257
    local t, m = with_nan("f32", data("sum", "f32", n, 3), 4), masks(n, 5)[2]
    for _, name in ipairs(names) do
      for _, view in ipairs(S.views(t, "f32", nan)) do
        check(name, "f32", t, view[2], { skipnan = true }, nil, view[1])
      end
      for _, view in ipairs(S.views(m, "u8", 1)) do
        check(name, "f32", t, gr.array(t, "f32"), { mask = view[2] }, m, view[1])
      end
      local a = gr.lazy(gr.array(t, "f32")) * 1
      check(name, "f32", t, a, { skipnan = true, mask = gr.lazy(gr.array(m, "f32")) * 3 }, m, "expressions")
    end
  end)

  it("of expressions that leave no room for more steps", function()
    local t = { 1, nan, 3, 4 }
    local deep, wide = gr.lazy(gr.array(t, "f64")), nil
    for _ = 1, 195 do deep = deep + 0 end
    for k = 1, 64 do
      local x = gr.array({ k, 1, 0, 2 }, "f64")
      wide = wide and wide + x or gr.lazy(x)
    end
    assert.equal(8, deep:sum { skipnan = true })
    S.same(F.reduce.var("f64", t, F.there(4, t, true)), deep:var { skipnan = true })
    assert.equal(2, deep:scan { skipnan = true, mask = gr.array({ 0, 1, 0, 1 }, "u8") }[4] / 2)
    assert.equal(2080 + 64 + 128, wide:sum { mask = gr.array({ 1, 2, 0, 1 }, "u8") })
    assert.equal(1, deep:argmin { skipnan = true, mask = wide:gt(0) })
  end)

  it("has the bits of the plain call where nothing is missing", function()
    for _, dtype in ipairs(model.dtypes) do
      for _, name in ipairs(names) do
        if name ~= "logsumexp" or model.is_float[dtype] then -- of integers it has the tree of f64
          for _, n in ipairs { 1, 100, 5000 } do
            local a = gr.array(data(name, dtype, n, n), dtype)
            local options = { skipnan = true, mask = gr.array(D.each(n, function() return 1 end), "u8") }
            local plain, got = { call(name, a) }, { call(name, a, options) }
            for k = 1, #plain do S.same(plain[k], got[k], name, dtype, n) end
          end
        end
      end
    end
  end)

  it("is where it was: infinities, zeros of both signs, positions", function()
    local function f(t) return gr.array(t, "f32") end
    local skip = { skipnan = true }
    S.same(NZ, gr.sum(f { NZ, NZ }, skip))
    S.same(0.0, gr.sum(f { NZ, nan, NZ }, skip)) -- as NumPy's nansum has it
    S.same(0.0, gr.sum(f { nan, nan }, skip))
    S.same(0.0, gr.sum(f { nan, 0.0, NZ }, skip))
    S.same(0.0, gr.dot(f { NZ, nan }, f { 1, 1 }, skip))
    S.same(0.0, gr.dot(f { 1, nan }, f { nan, 1 }, skip))
    S.same(NZ, gr.min(f { 0.0, nan, NZ }, skip))
    S.same(NZ, gr.max(f { NZ, nan }, skip))
    S.same(huge, gr.min(f { nan, huge }, skip))
    S.same(-huge, gr.max(f { nan, -huge }, skip))
    assert.equal(3, gr.argmin(f { nan, nan, huge, huge }, skip))
    assert.equal(2, gr.argmax(f { nan, -huge, -huge }, skip))
    assert.equal(4, gr.argmin(gr.array({ 255, 255, 255, 255 }, "u8"), { mask = gr.array({ 0, 0, 0, 9 }, "u8") }))
    assert.equal(2, gr.argmax(gr.array({ -128, -128 }, "i8"), { mask = gr.array({ 0, 1 }, "u8") }))
    S.same(nan, gr.var(f { 1, huge, nan }, skip))
    S.same(huge, gr.mean(f { 1, huge, nan }, skip))
    S.same(nan, gr.sum(f { 1, nan, 2 }, { mask = gr.array({ 1, 1, 0 }, "u8") }))
    S.same(nan, gr.min(f { 1, nan, 2 }, { mask = gr.array({ 1, 1, 0 }, "u8") }))
    assert.equal(2, gr.argmin(f { 1, nan, 2 }, { mask = gr.array({ 1, 1, 0 }, "u8") }))
    S.same(-huge, gr.logsumexp(f { nan, nan }, skip))
    S.same(1.0, gr.prod(f { nan }, skip))
    assert.is_true(gr.all(f { nan }, skip))
    assert.is_false(gr.any(f { nan }, skip))
    assert.equal(0, gr.count(f { nan }, skip))
    S.same(0.0, gr.norm(f { nan }, skip))
    for _, name in ipairs { "mean", "var", "std" } do S.same(nan, gr[name](f { nan, nan }, skip)) end
  end)

  it("keeps variances accurate", function()
    -- Far from 0, so that squares alone would leave nothing; the exact value from whole numbers.
    for _, case in ipairs { { "f32", 2 ^ 23 }, { "f64", 2 ^ 32 }, { "i32", 2 ^ 30 }, { "i64", 2 ^ 32 } } do
      local dtype, far = case[1], case[2]
      local n, t, m, s, ss, c = 3001, {}, {}, 0, 0, 0
      local g = model.generator(8)
      for k = 1, n do
        local x = g() % 7
        t[k], m[k] = far + x, g() % 3 == 0 and 0 or 1
        if m[k] == 1 then s, ss, c = s + x, ss + x * x, c + 1 end
      end
      local exact = (c * ss - s * s) / (c * c)
      local got = gr.var(gr.array(S.whole(t), dtype), { mask = gr.array(m, "u8") })
      assert.is_true(math.abs(got - exact) <= 1e-6, ("%s: %.17g %.17g"):format(dtype, got, exact))
    end
    local same = gr.full(1000, 1 / 3, "f64")
    same[10] = nan
    assert.is_true(gr.var(same, { skipnan = true }) >= 0 and gr.var(same, { skipnan = true }) < 1e-30)
  end)

  it("counts and tests what is compared", function()
    local t = { 1, nan, 3, 5, 0 }
    local a, m = gr.array(t, "f32"), gr.array({ 1, 1, 0, 1, 1 }, "u8")
    assert.equal(3, gr.count(a, { op = "~=", value = 0, skipnan = true }))
    assert.equal(3, gr.count(a, { op = "~=", value = 0, mask = m }))
    assert.equal(2, gr.count(a, { op = "~=", value = 0, mask = m, skipnan = true }))
    assert.is_true(gr.all(a, { op = ">=", value = 0, skipnan = true }))
    assert.is_false(gr.all(a, { op = ">=", value = 0, mask = m }))
    assert.is_false(gr.any(a, { op = "==", value = 3, mask = m }))
    assert.equal(1, gr.count(gr.lazy(a) + 0, { op = ">", value = 4, skipnan = true }))
    S.same_all({ 1, 2 }, gr.count(a:slice(1, 4), { op = ">", value = 0, skipnan = true, rows = 2 }), "rows")
  end)
end)

describe("pairs of which both are present", function()
  it("are those of the model", function()
    S.on_each(function(device)
      for _, dtype in ipairs(model.dtypes) do
        for _, name in ipairs(two) do
          for _, n in ipairs { 1, 40, 1500 } do
            local t, u = with_nan(dtype, S.whole(D.medium(dtype, n, n)), 1), S.whole(D.medium(dtype, n, n + 1))
            with_nan(dtype, u, 2)
            local a, b = gr.array(t, dtype), gr.array(u, dtype)
            for j, m in ipairs(masks(n, 3)) do
              local there = F.there(n, t, true, m, u)
              local got = gr[name](a, b, { skipnan = true, mask = gr.array(m, "u8") })
              S.same(F.reduce[name](dtype, t, there, nil, u), got, name, dtype, n, j, device)
            end
          end
        end
      end
    end)
  end)

  it("may be one row or column for all, and rows with rows", function()
    local rows, columns = 5, 300
    local t, u = with_nan("f32", D.wide("f32", rows * columns, 1), 1), with_nan("f32", D.wide("f32", columns, 2), 2)
    local w = with_nan("f32", D.wide("f32", rows, 4), 2)
    local a, b, c = gr.array(t, "f32"), gr.array(u, "f32"), gr.array(w, "f32")
    for _, name in ipairs(two) do
      local along = gr[name](a, b, { rows = rows, skipnan = true })
      local down = gr[name](a:matrix(rows), c, { axis = 1, skipnan = true })
      for r = 1, rows do
        local row = a:slice((r - 1) * columns + 1, r * columns)
        S.same(gr[name](row, b, { skipnan = true }), along[r], name, "row", r)
      end
      for k = 1, columns, 37 do
        S.same(gr[name](a:slice(k, nil, columns), c, { skipnan = true }), down[k], name, "column", k)
      end
      local pairwise = gr[name](a:matrix(rows), a:matrix(rows) * 1, { axis = 2, skipnan = true })
      S.same(gr[name](a:slice(1, columns), a:slice(1, columns), { skipnan = true }), pairwise[1], name, "pairs")
      local lazy = gr[name](gr.lazy(a:matrix(columns)) * 1, gr.lazy(b) * 1, { rows = rows, skipnan = true })
      S.same_all(along:table(), lazy, name, "of expressions of another shape")
    end
  end)
end)

-- Vector v of a shape as a slice of a and of its mask.
local function vectors(a, mask, shape)
  local list = {}
  local function add(...) list[#list + 1] = { a:slice(...), mask:slice(...) } end
  if shape.segments then
    for k = 1, #shape.segments - 1 do add(shape.segments[k], shape.segments[k + 1] - 1) end
  elseif shape.axis == 1 then
    local columns = #a / shape.rows
    for k = 1, columns do add(k, #a, columns) end
  else
    local columns = #a / shape.rows
    for k = 1, shape.rows do add((k - 1) * columns + 1, k * columns) end
  end
  return list
end

describe("vectors of which some is missing", function()
  local shapes = { { rows = 3, axis = 2 }, { rows = 3, axis = 1 }, { rows = 40, axis = 1 }, { rows = 120, axis = 2 },
    { segments = { 1, 4, 100, 110, 1500, 2401 } } }

  it("have the results of each of them alone", function()
    S.on_each(function(device)
      for _, dtype in ipairs { "i8", "i64", "f16", "f32", "f64" } do
        for _, name in ipairs(names) do
          local n = 2400
          local t, g = with_nan(dtype, data(name, dtype, n, 2), 3), model.generator(9)
          local m = D.each(n, function() return g() % 3 end)
          if needs_one[name] then -- every vector keeps an element
            for k = 1, n do m[k] = g() % 20 == 0 and 0 or 1 end
            for k = 1, n do if t[k] ~= t[k] then t[k] = 2 end end
          end
          local a, mask = gr.array(t, dtype), gr.array(m, "u8")
          for i, shape in ipairs(shapes) do
            local options = { skipnan = true, mask = mask, rows = shape.rows, axis = shape.axis,
              segments = shape.segments }
            local ok, message = pcall(function()
              local got = { call(name, a, options) }
              for v, one in ipairs(vectors(a, mask, shape)) do
                local expected = { call(name, one[1], { skipnan = true, mask = one[2] }) }
                for k = 1, #expected do
                  local x = got[k][v]
                  if type(expected[k]) == "boolean" then x = x ~= 0 end
                  S.same(expected[k], x, name, dtype, "shape", i, "vector", v, device)
                end
              end
            end)
            if not ok and not message:find("is present: '" .. name .. "' needs one", 1, true) then error(message, 0) end
            if not ok then assert(needs_one[name], message) end
          end
        end
      end
    end)
  end)

  it("of which some are long", function()
    local n, g = 200000, model.generator(3)
    local a = gr.array(D.each(n, function() local r = g(); return r % 5 == 0 and nan or r % 1000 / 8 end), "f32")
    for _, shape in ipairs { { rows = 2 }, { segments = { 1, 3, 100000, 200001 } } } do
      for _, name in ipairs { "mean", "argmin", "argmax", "var", "minmax" } do
        local got = { gr[name](a, { rows = shape.rows, segments = shape.segments, skipnan = true }) }
        for v, one in ipairs(vectors(a, a, { rows = shape.rows, axis = 2, segments = shape.segments })) do
          local expected = { gr[name](one[1], { skipnan = true }) }
          for k = 1, #expected do S.same(expected[k], got[k][v], name, "vector", v) end
        end
      end
    end
  end)

  it("of which one has nothing", function()
    local x = gr.array({ 1, nan, nan, nan, 5, 6 }, "f32"):matrix(3)
    S.same_all({ 1, 0.0, 11 }, gr.sum(x, { axis = 2, skipnan = true }), "sum")
    S.same_all({ 1, nan, 5.5 }, gr.mean(x, { axis = 2, skipnan = true }), "mean")
    S.same_all({ 0, nan, 0.25 }, gr.var(x, { axis = 2, skipnan = true }), "var")
    S.same_all({ 1, 0, 2 }, gr.count(x, { axis = 2, skipnan = true }), "count")
    S.same_all({ 1, 1, 30 }, gr.prod(x, { axis = 2, skipnan = true }), "prod")
    for k, name in ipairs { "min", "max" } do
      S.same_all({ 1, nan, k + 4 }, gr[name](x, { axis = 2, skipnan = true }), name)
      S.same_all({ 1, nan, k + 4 }, (select(k, gr.minmax(x, { axis = 2, skipnan = true }))), "minmax")
    end
    S.same_all({ 1, 0, 1 }, gr.argmin(x, { axis = 2, skipnan = true }), "argmin")
    S.same_all({ 1, 0, 2 }, gr.argmax(x, { axis = 2, skipnan = true }), "argmax")
    S.same_all({ 1, nan, 5 }, gr.min(x, { segments = { 1, 2, 4, 7 }, skipnan = true }), "segments")
    S.same_all({ 1, nan, 5 }, gr.min(x:transpose(), { axis = 1, skipnan = true }), "transposed")
    S.same_all({ -huge, nan }, gr.max(gr.array({ -huge, nan, nan, nan }, "f32"), { rows = 2, skipnan = true }), "-inf")
    S.same_all({ 2, 0 }, gr.argmax(gr.array({ nan, -huge, nan, nan }, "f64"), { rows = 2, skipnan = true }), "-inf")
    local k, m = gr.array({ 1, 2, 3, 4 }, "i32"):matrix(2), gr.array({ 0, 1, 0, 1 }, "u8")
    assert.equal("bad argument #2 to 'max' (option 'mask': no element of column 1 is present: 'max' needs one)",
      S.message(gr.max, k, { axis = 1, mask = m }))
    S.same_all({ 0, 2 }, gr.argmax(k, { axis = 1, mask = m }), "mask")
    S.same_all({ nan, nan, 6 }, gr.max(x, { axis = 2, mask = gr.array({ 0, 0, 1, 0, 0, 1 }, "u8") }), "mask")
    assert.equal("bad argument #1 to 'min' (array is empty: 'min' needs an element)",
      S.message(gr.min, gr.zeros(0), { skipnan = true }))
    S.same(0.0, gr.sum(gr.zeros(0), { skipnan = true }))
  end)

  it("of a matrix that is read the other way round", function()
    local n = 60
    local t, m = with_nan("f32", D.wide("f32", n, 3), 4), masks(n, 6)[2]
    local x, mask = gr.array(t, "f32"):matrix(6), gr.array(m, "u8"):matrix(6)
    for _, name in ipairs { "sum", "mean", "var", "prod", "count", "logsumexp" } do
      local down = gr[name](x, { axis = 1, skipnan = true }):table()
      S.same_all(down, gr[name](x:transpose(), { axis = 2, skipnan = true }), name)
      down = gr[name](x, { axis = 1, mask = mask }):table()
      S.same_all(down, gr[name](x:transpose(), { axis = 2, mask = mask:transpose() }), name, "mask")
    end
  end)
end)

describe("other options beside skipnan", function()
  local t = D.each(50, function(k) return k % 7 == 0 and nan or k / 8 end)
  local there = F.there(50, t, true)

  it("ddof, which is less than what is present", function()
    local a = gr.array(t, "f32")
    S.same(F.reduce.var("f32", t, there, 1), gr.var(a, { skipnan = true, ddof = 1 }))
    S.same(F.reduce.std("f32", t, there, 2.5), gr.std(a, { skipnan = true, ddof = 2.5 }))
    assert.equal("bad argument #2 to 'var' (option 'ddof': less than the 43 elements that are present expected, "
      .. "got 43)", S.message(gr.var, a, { skipnan = true, ddof = 43 }))
    assert.equal("bad argument #2 to 'std' (option 'ddof': less than the 1 elements of row 2 that are present "
      .. "expected, got 1)",
      S.message(gr.std, gr.array({ 1, 2, 3, nan }, "f32"), { rows = 2, skipnan = true, ddof = 1 }))
    assert.matches("less than the 0 elements that are present expected, got 1",
      S.message(gr.var, gr.array { nan, nan }, { skipnan = true, ddof = 1 }), 1, true)
  end)

  it("accumulate", function()
    for _, dtype in ipairs { "f16", "f32", "f64" } do
      local x = with_nan(dtype, D.wide(dtype, 3000, 5), 6)
      local a = gr.array(x, dtype)
      for _, mode in ipairs { "f32", "kahan", "neumaier", "f64" } do
        local here = F.there(3000, x, true)
        S.same(F.reduce.sum(dtype, x, here, mode), gr.sum(a, { skipnan = true, accumulate = mode }), dtype, mode)
      end
    end
  end)

  it("exact rounds what is present", function()
    for _, dtype in ipairs { "f32", "f64" } do
      local x = with_nan(dtype, D.wide(dtype, 999, 5), 6)
      local here, list = F.there(999, x, true), {}
      for k = 1, 999 do if here[k] then list[#list + 1] = x[k] end end
      local a, kept = gr.array(x, dtype), gr.array(list, dtype)
      for _, name in ipairs { "sum", "mean", "var", "std", "norm" } do
        S.same(gr[name](kept, { exact = true }), gr[name](a, { exact = true, skipnan = true }), name, dtype)
        S.same(gr[name](kept, { exact = true, out = "f32" }),
          gr[name](a, { exact = true, skipnan = true, out = "f32" }), name, dtype, "f32")
        S.same(gr[name](kept:slice(1, 0), { exact = true }), gr[name](gr.array({ nan }, dtype),
          { exact = true, skipnan = true }), name, "of nothing")
        local rows = gr[name](a, { rows = 3, exact = true, skipnan = true })
        local segments = gr[name](a, { segments = { 1, 334, 667, 1000 }, exact = true, skipnan = true })
        local columns = gr[name](a, { rows = 3, axis = 1, exact = true, skipnan = true })
        for k = 1, 3 do
          local one = gr[name](a:slice(k * 333 - 332, k * 333), { exact = true, skipnan = true })
          S.same(one, rows[k], name, "row", k)
          S.same(one, segments[k], name, "segment", k)
        end
        S.same(gr[name](a:slice(5, nil, 333), { exact = true, skipnan = true }), columns[5], name, "column")
      end
      local y = gr.array(with_nan(dtype, D.wide(dtype, 999, 8), 9), dtype)
      for _, name in ipairs(two) do
        local both = a:isnan():lnot():land(y:isnan():lnot())
        S.same(gr[name](a:compact(both), y:compact(both), { exact = true }),
          gr[name](a, y, { exact = true, skipnan = true }), name, dtype)
      end
    end
    S.same(0.0, gr.sum(gr.array { NZ, nan }, { exact = true, skipnan = true }))
    S.same(0.0, gr.sum(gr.array { nan }, { exact = true, skipnan = true }))
  end)

  it("into, at, keepdims, out", function()
    local x = gr.array(t, "f32"):matrix(5)
    local into = gr.zeros(5, "f64")
    for _, name in ipairs { "sum", "mean", "var", "logsumexp" } do
      local rows = gr[name](x, { axis = 2, skipnan = true }):table()
      assert.equal(into, gr[name](x, { axis = 2, skipnan = true, into = into }))
      S.same_all(rows, into, name)
      local wide = gr.zeros(10, "f64")
      gr[name](x, { axis = 2, skipnan = true, into = wide:slice(1, nil, 2) })
      S.same_all(rows, wide:slice(1, nil, 2), name, "with a step")
      S.same(0, wide[2])
      assert.equal("f32", gr[name](x, { axis = 2, skipnan = true, out = "f32" }).dtype)
      S.same(model.round.f32(rows[2]), gr[name](x, { axis = 2, skipnan = true, out = "f32" })[2], name)
      S.same(model.round.f32(gr[name](x, { skipnan = true })), gr[name](x, { skipnan = true, out = "f32" }), name)
      local kept = gr[name](x, { axis = 1, skipnan = true, keepdims = true })
      assert.equal("1 10", table.concat(kept.shape, " "))
      gr[name](x, { skipnan = true, into = into, at = -1 })
      S.same(gr[name](x, { skipnan = true }), into[5], name, "at")
    end
    local places = gr.zeros(3, "i64")
    gr.argmax(x, { skipnan = true, into = places, at = 2 })
    assert.equal(50, places[2])
    local m = gr.ones(5, "u8")
    assert.equal("bad argument #2 to 'max' (option 'into': overlaps the mask)",
      S.message(gr.max, gr.ones(5, "u8"), { mask = m, into = m, at = 1 }))
    local before = into:table()
    S.message(gr.var, x, { axis = 2, skipnan = true, ddof = 9, into = into })
    S.same_all(before, into, "a call that fails")
  end)

  it("futures and many", function()
    local a, m = gr.array(t, "f32"), gr.array(masks(50, 3)[2], "u8")
    local sum, mean = gr.sum(a, { skipnan = true }), gr.mean(a, { skipnan = true, mask = m })
    S.same(sum, gr.sum(a, { skipnan = true, async = true }):get())
    S.same(sum, gr.async(gr.sum, a, { skipnan = true }):get())
    local both = { skipnan = true, mask = m }
    local got = { gr.many { { "sum", a, { skipnan = true } }, { "min", a }, { "mean", a, both } } }
    S.same_all({ sum, nan, mean }, got, "many")
    got = { gr.many({ { "sum", a, { skipnan = true } }, { "minmax", a, { skipnan = true } } }, { async = true }):get() }
    S.same_all({ sum, 1 / 8, 50 / 8 }, got, "many later")
    local rows = gr.mean(a, { rows = 5, skipnan = true, async = true }):get()
    S.same_all(gr.mean(a, { rows = 5, skipnan = true }):table(), rows, "rows later")
    local lazy = gr.lazy(a) * 1 -- whose promise has no memory when the future is made
    S.same(sum, gr.sum(lazy, { skipnan = true, async = true }):get(), "an expression's sum later")
    S.same_all(rows:table(), gr.mean(lazy, { rows = 5, skipnan = true, async = true }):get(), "and rows")
  end)

  it("masks that do not fit", function()
    local a = gr.array(t, "f32")
    assert.equal("bad argument #2 to 'sum' (option 'mask': dtype u8 expected, got f32)",
      S.message(gr.sum, a, { mask = a }))
    assert.equal("bad argument #2 to 'sum' (option 'mask': a row, a column or a scalar alone has no length: use its "
      .. "array)", S.message(gr.sum, gr.ones(50), { mask = gr.row(gr.ones(5, "u8")) }))
    assert.equal("bad argument #2 to 'sum' (option 'mask': length 50 expected, got 49)",
      S.message(gr.sum, a, { mask = gr.ones(49, "u8") }))
    assert.equal("bad argument #2 to 'sum' (option 'mask': array expected, got number)",
      (S.message(gr.sum, a, { mask = 1 }):gsub("gpureduce%.", "")))
    assert.equal("bad argument #2 to 'sum' (option 'skipnan': boolean expected, got number)",
      S.message(gr.sum, a, { skipnan = 1 }))
    assert.equal("bad argument #2 to 'sum' (option 'skipnan': not together with 'kernel')",
      S.message(gr.sum, a, { skipnan = true, kernel = "two_phase" }))
    local mask = gr.ones(50, "u8")
    mask:release()
    assert.equal("bad argument #2 to 'sum' (option 'mask': array has been released)",
      S.message(gr.sum, a, { mask = mask }))
    S.on("cpu", function()
      local near = gr.array(t, "f32")
      S.on("pretend", function()
        assert.matches("array on device 'cpu' expected, got one on 'pretend'",
          S.message(gr.sum, near, { mask = gr.ones(50, "u8") }), 1, true)
      end)
    end)
    assert.matches("option 'skipnan': not explained", S.message(gr.explain, "sum", a, { skipnan = true }), 1, true)
  end)

  it("makes no copy of what it reads, on the CPU", function()
    if gr.backend() ~= "cpu" then return end
    local a, m = gr.ones(1000000, "f32"), gr.ones(1000000, "u8")
    local b = gr.ones(1000000, "f32")
    gr.sum(a, { mask = m })
    gr.dot(a, b, { mask = m })
    local before = gr.memory().live
    for _, name in ipairs { "sum", "mean", "var", "min", "argmax", "logsumexp" } do
      gr[name](a, { mask = m, skipnan = true })
      gr[name](a, { mask = m, skipnan = true, rows = 1000 }):release()
    end
    assert.equal(before, gr.memory().live)
    assert.equal(0, unpack { S.counted(function() gr.sum(a, { mask = m, skipnan = true }) end).bytes_down or 0 })
  end)
end)
