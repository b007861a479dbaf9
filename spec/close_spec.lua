-- gr.allclose, gr.isclose and gr.differ beside a model in plain Lua, and their mistakes.
local S = require "spec.support"
local model = require "spec.model"
local close = require "spec.close"
local gr, nan, huge = S.gr, S.model.nan, math.huge

local function array(list, dtype) return gr.array(list, dtype or "f64") end

-- What the three say of two operands, against what the model says of their elements.
local function check(xs, ys, a, b, options, what)
  local strict = not options
  local o = options or { rtol = 0, atol = 0, nan_equal = true }
  local first, mask = close.compare(xs, ys, o.rtol or 1e-5, o.atol or 1e-8, o.nan_equal)
  local position, p, q = gr.differ(a, b, options)
  S.same(first, position, what, "differ")
  if first then
    S.same(xs[first], p, what, "a's element")
    S.same(ys[first], q, what, "b's element")
  end
  S.same(first == nil, gr.allclose(a, b, o), what, "allclose")
  local got = gr.isclose(a, b, o)
  if not gr.isarray(got) then got = got:eval() end
  S.same("u8", got.dtype, what, "dtype")
  S.same_all(mask, got:slice(), what, "isclose")
  if strict and gr.isarray(a) and gr.isarray(b) and a.dtype == b.dtype then
    S.same(gr.equal(a:slice(), b:slice()), first == nil, what, "equal")
  end
end

-- Numbers of a dtype, and others near them.
local function pair_of_lists(dtype, n, seed)
  local g, xs, ys = model.generator(seed), {}, {}
  local specials = { nan, huge, -huge, 0.0, model.minus_zero }
  for k = 1, n do
    local x = model.draw(g, dtype)
    local y
    if model.is_float[dtype] then
      if g() % 5 == 0 then x = specials[g() % 5 + 1] end
      y = g() % 3 == 0 and x * (1 + 1e-5 * (g() % 3)) or g() % 5 == 0 and specials[g() % 5 + 1] or x
    else
      y = g() % 4 == 0 and math.min(x + 1, 100) or x
    end
    xs[k], ys[k] = x, y
  end
  local a, b = gr.array(n), gr.array(n)
  local ok = pcall(function() a, b = gr.array(xs, dtype), gr.array(ys, dtype) end)
  if not ok then return pair_of_lists(dtype, n, seed + 1000) end
  return a:table(), b:table(), a, b
end

local ways = {
  { nil, "strictly" }, { {}, "by default" }, { { rtol = 0, atol = 0.5 }, "absolutely" },
  { { rtol = 1e-3, atol = 0, nan_equal = true }, "relatively" },
}

describe("closeness", function()
  for _, dtype in ipairs { "f32", "f64", "f16", "bf16", "i32", "u8", "i64" } do
    it("of " .. dtype .. " is that of the model, on every device", function()
      S.on_each(function(device)
        for _, n in ipairs { 0, 1, 2, 7, 64, 129, 300, 3000 } do
          for k, way in ipairs(ways) do
            local xs, ys, a, b = pair_of_lists(dtype, n, n * 10 + k)
            check(xs, ys, a, b, way[1], ("%s of %d %s on %s"):format(way[2], n, dtype, device))
          end
        end
      end)
    end)
  end

  it("finds the first position wherever it lies", function()
    for n = 1, 70 do
      local xs = {}
      for k = 1, n do xs[k] = k end
      for _, at in ipairs { 1, n, math.ceil(n / 2) } do
        local a, b = array(xs, "f32"), array(xs, "f32")
        b[at], b[n] = 0, 0
        local position, p, q = a:differ(b)
        S.same(at, position)
        S.same(at * 1.0, p)
        S.same(0.0, q)
      end
    end
  end)

  it("is NumPy's at the edges", function()
    for _, row in ipairs {
      { 1, huge, false }, { huge, 1, false }, { huge, huge, true }, { -huge, huge, false }, { nan, nan, false },
      { 1, nan, false }, { 0.0, model.minus_zero, true }, { 1e-9, 0, true }, { 1e-7, 0, false },
      { 1e10, 1.00001e10, true }, { 1e10, 1.0002e10, false }, { 1.0002e10, 1e10, false },
      { nan, nan, true, { nan_equal = true } }, { nan, 1, false, { nan_equal = true } },
      { huge, huge, true, { rtol = 0, atol = 0 } }, { huge, 1, false, { rtol = 1e300 } },
      { 1e308, -1e308, false }, { 5, 4, true, { atol = 1, rtol = 0 } }, { 4, 5, true, { atol = 0, rtol = 0.2 } },
      { 5, 4, false, { atol = 0, rtol = 0.2 } }, -- parts of b
    } do
      S.same(row[3], array { row[1] }:allclose(array { row[2] }, row[4]), row[1], row[2])
    end
  end)

  it("tells integers apart that f64 does not", function()
    local a, b = gr.full(3, 2 ^ 53, "i64"), gr.full(3, 2 ^ 53, "i64") + 1
    assert.is_false(a:allclose(b, { rtol = 0, atol = 0 }))
    assert.is_true(a:allclose(b, { rtol = 0, atol = 1 }))
    assert.is_false((b + 1):allclose(a, { rtol = 0, atol = 1 }))
    assert.equal(1, (gr.differ(a, b)))
    assert.is_nil(gr.differ(a, gr.full(3, 2 ^ 53, "i64")))
    local least = gr.full(2, -2 ^ 63, "i64")
    local greatest = gr.bnot(least)
    assert.is_false(least:allclose(greatest))
    assert.is_false(greatest:allclose(least))
    assert.is_true(least:allclose(greatest, { rtol = 3 }))
    assert.is_true(least:allclose(least, { rtol = 0, atol = 0 }))
    assert.is_false(least:allclose(least + 1, { rtol = 0, atol = 0 }))
    if S.integers then S.same(math.maxinteger, (select(3, gr.differ(least, greatest))), "an element of i64") end
  end)

  it("takes two dtypes", function()
    local a = array({ 1, 2, 0.1 }, "f32")
    assert.equal(3, (a:differ(array { 1, 2, 0.1 })))
    assert.is_true(a:allclose(array { 1, 2, 0.1 }))
    assert.is_nil(gr.differ(array({ 1, 2 }, "u8"), array({ 1, 2 }, "i64")))
    assert.is_nil(gr.differ(array({ 1, 2 }, "u8"), array({ 1, 2 }, "f16")))
    assert.equal(2, (gr.differ(array({ 1, 2 }, "i32"), array({ 1, 2.5 }, "f16"))))
    local _, zero = gr.differ(gr.lazy(array { 1, 2 }) * -0.0, array { 1, 2 })
    S.same(-0.0, zero, "an element of an expression")
  end)

  it("takes numbers and expressions on either side", function()
    S.on_each(function()
      local a = array { 1, 2, 3 }
      local e = gr.lazy(a) * 2
      check({ 1, 2, 3 }, { 2, 2, 2 }, a, 2, { atol = 0.5 }, "a number")
      check({ 2, 2, 2 }, { 1, 2, 3 }, 2.0, a, nil, "a number first")
      check({ 2, 4, 6 }, { 1, 2, 3 }, e, a, {}, "an expression first")
      check({ 1, 2, 3 }, { 2, 4, 6 }, a, e, nil, "an expression")
      check({ 2, 4, 6 }, { 2, 4, 6 }, e, gr.lazy(a) + a, nil, "two")
      check({ 2, 4, 6 }, { 2, 2, 2 }, e, 2, nil, "an expression and a number")
      assert.is_true(e:allclose(a + a))
      assert.equal("gpureduce.expression", getmetatable(e:isclose(a)))
      assert.equal(3, (e:differ(array { 2, 4, 5 })))
    end)
  end)

  it("takes matrices, rows and columns of them, and transposed ones", function()
    S.on_each(function()
      local X = gr.arange(1, 6):matrix(2)
      check({ 1, 2, 3, 4, 5, 6 }, { 1, 2, 3, 1, 2, 3 }, X, gr.arange(1, 3), nil, "a vector that fits the rows")
      check({ 1, 2, 3, 4, 5, 6 }, { 1, 2, 3, 1, 2, 3 }, X, gr.row(gr.arange(1, 3)), {}, "a row")
      check({ 1, 1, 1, 2, 2, 2 }, { 1, 2, 3, 4, 5, 6 }, gr.column(gr.arange(1, 2)), X, {}, "a column first")
      check({ 1, 2, 3, 4, 5, 6 }, { 1, 3, 5, 2, 4, 6 }, X, gr.arange(1, 6):matrix(3):transpose(), nil, "transposed")
      check({ 1, 4, 2, 5, 3, 6 }, { 1, 2, 3, 4, 5, 6 }, X:transpose(), gr.arange(1, 6):matrix(3), {}, "turned first")
    end)
  end)

  it("is one pass that stores no elements", function()
    S.on("cpu", function()
      local a = gr.ones(1e6)
      local before = gr.stats().allocations
      a:allclose(a)
      a:differ(a)
      assert.equal(before, gr.stats().allocations)
    end)
  end)

  it("writes masks where they are wanted", function()
    local a, mask = array { 1, 2, 3 }, gr.zeros(3, "u8")
    assert.equal(mask, a:isclose(2, { into = mask }))
    S.same_all({ 0, 1, 0 }, mask)
  end)

  it("is asked for later, and under gr.exact", function()
    local a = array { 1, 2, 3 }
    assert.is_true(gr.async(gr.allclose, a, a):get())
    assert.equal(2, (gr.async(gr.differ, a, array { 1, 0, 0 }):get()))
    gr.exact(true)
    local equal, position, p, q = a:allclose(a), gr.differ(a, gr.lazy(a) + gr.arange(0, 2, "f64"))
    gr.exact(false)
    assert.is_true(equal)
    assert.same({ 2, 2, 3 }, { position, p, q })
  end)
end)

local rows = {
  { "gr.allclose()", "bad argument #1 to 'allclose' (array, number or expression expected, got nil)" },
  { "gr.allclose(a)", "bad argument #2 to 'allclose' (array, number or expression expected, got nil)" },
  { "gr.allclose(a, 'x')", "bad argument #2 to 'allclose' (array, number or expression expected, got string)" },
  { "gr.allclose({ 1 }, a)", "bad argument #1 to 'allclose' (array, number or expression expected, got table)" },
  { "gr.allclose(1, 2)", "bad argument #1 to 'allclose' (array or expression expected, got number)" },
  { "gr.allclose(a, b)", "bad argument #2 to 'allclose' (length 3 expected, got 4)" },
  { "gr.isclose(a, b)", "bad argument #2 to 'isclose' (length 3 expected, got 4)" },
  { "gr.differ(a, b)", "bad argument #2 to 'differ' (length 3 expected, got 4)" },
  { "a:differ(gr.lazy(b))", "bad argument #2 to 'differ' (length 3 expected, got 4)" },
  { "gr.lazy(a):isclose(b)", "bad argument #2 to 'isclose' (length 3 expected, got 4)" },
  { "gr.allclose(X, X:slice():matrix(1))", "bad argument #2 to 'allclose' (matrix of 2 columns expected, got 4)" },
  { "gr.allclose(X, gr.ones(2))", "bad argument #2 to 'allclose' (length 2 fits the rows and the columns of a matrix "
    .. "of 2 x 2: write gr.row(v) or gr.column(v))" },
  { "gr.differ(gr.row(a), gr.row(a))",
    "bad argument #2 to 'differ' (a row, a column or a scalar alone has no length: use its array)" },
  { "gr.allclose(a, released)", "bad argument #2 to 'allclose' (array has been released)" },
  { "gr.differ(released, a)", "bad argument #1 to 'differ' (array has been released)" },
  { "gr.differ(a, gone)", "bad argument #2 to 'differ' (expression has been released)" },
  { "gr.allclose(a, a, { rtol = -1 })",
    "bad argument #3 to 'allclose' (option 'rtol': finite number of 0 or more expected, got -1)" },
  { "gr.allclose(a, a, { atol = 1 / 0 })",
    "bad argument #3 to 'allclose' (option 'atol': finite number of 0 or more expected, got inf)" },
  { "gr.differ(a, a, { atol = 0 / 0 })",
    "bad argument #3 to 'differ' (option 'atol': finite number of 0 or more expected, got nan)" },
  { "gr.allclose(a, a, { rtol = '1' })", "bad argument #3 to 'allclose' (option 'rtol': number expected, got string)" },
  { "gr.allclose(a, a, { equal_nan = true })",
    "bad argument #3 to 'allclose' (unknown option 'equal_nan' (did you mean 'nan_equal'?))" },
  { "gr.allclose(a, a, { into = a })", "bad argument #3 to 'allclose' (unknown option 'into')" },
  { "gr.allclose(a, a, 1e-3)", "bad argument #3 to 'allclose' (options table expected, got number)" },
  { "gr.isclose(a, a, { into = a })", "bad argument #3 to 'isclose' (option 'into': u8[3] expected, got f32[3])" },
  { "gr.isclose(gr.lazy(a), a, { into = gr.zeros(3, 'u8') })",
    "bad argument #3 to 'isclose' (option 'into': e:eval{into=} stores the elements of an expression)" },
}

describe("mistakes of comparisons", function()
  for _, row in ipairs(rows) do
    it(row[1], function()
      local environment = { gr = gr, a = gr.ones(3), b = gr.ones(4), X = gr.ones(4):matrix(2), released = gr.ones(3),
        gone = gr.lazy(gr.ones(3)) }
      environment.released:release()
      environment.gone:release()
      assert.equal(row[2], (S.message(S.load_in("return " .. row[1], environment)):gsub("%-nan", "nan")))
    end)
  end

  it("arrays on two devices", function()
    local here, there = gr.ones(3), nil
    S.on("pretend", function() there = gr.ones(3) end)
    assert.matches("bad argument #2 to 'allclose' %(array on device '.-' expected, got one on 'pretend': copy%(%) "
      .. "brings it to the device in use%)", S.message(gr.allclose, here, there))
    assert.matches("bad argument #2 to 'differ' %(array on device", S.message(gr.differ, here, there))
  end)

  it("options are read raw, and may not inherit", function()
    local a = gr.ones(3)
    assert.equal("bad argument #3 to 'allclose' (options table without __index expected: options are read raw)",
      S.message(gr.allclose, a, a, setmetatable({}, { __index = { rtol = 1 } })))
  end)
end)
