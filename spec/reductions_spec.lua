-- Every reduction x dtype x size x kind of view, to the bit, against the model.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model

local sizes = {
  0, 1, 2, 5, 8, 16, 31, 32, 33, 64, 100, 127, 129, 255, 257, 511, 513, 1000, 1023, 1025, 2049, 4095, 4097, 5000, 8193,
}

local function at_of(t) return function(k) return t[k] end end

-- name, data, how the module is called, how the model is, whether an empty array raises
local one_input = {
  { "sum", "wide" }, { "mean", "wide" }, { "prod", "factors" },
  { "min", "sparse", raises = true }, { "max", "sparse", raises = true }, { "minmax", "wide", raises = true },
  { "argmin", "sparse", raises = true }, { "argmax", "sparse", raises = true },
  { "any", "sparse" }, { "all", "sparse" }, { "all", "wide" }, { "count", "sparse" },
  { "var", "wide" }, { "std", "medium" }, { "logsumexp", "factors" }, { "logsumexp", "medium" },
  { "norm1", "wide", call = function(a) return a:norm(1) end },
  { "norm2", "wide", call = function(a) return a:norm(2) end },
  { "norminf", "sparse", call = function(a) return a:norm(math.huge) end },
}

local function compare(dtype, n, name, expected, expected2, views, call, raises)
  for _, view in ipairs(views) do
    if n == 0 and raises then
      assert.truthy(S.message(call, view[2]), name)
    else
      local got, got2 = call(view[2])
      S.same(expected, got, name, "of", n, dtype, view[1])
      S.same(expected2, got2, "second result of", name, "of", n, dtype, view[1])
    end
  end
end

describe("reductions of", function()
  for _, dtype in ipairs(model.dtypes) do
    it(dtype, function()
      for _, n in ipairs(sizes) do
        local sets = {}
        for _, kind in ipairs { "wide", "medium", "factors", "sparse" } do
          local t = S.whole(D[kind](dtype, n, n + 3))
          sets[kind] = { t = t, at = at_of(t), views = S.views(t, dtype, model.is_float[dtype] and model.nan or 99) }
        end
        for _, row in ipairs(one_input) do
          local name, set = row[1], sets[row[2]]
          local expected, expected2
          if not (n == 0 and row.raises) then expected, expected2 = model.reduce[name](dtype, n, set.at) end
          compare(dtype, n, name, expected, expected2, set.views, row.call or gr[name], row.raises)
        end
        for _, ddof in ipairs { 1, 1.5 } do
          if n > 2 then
            local expected = model.reduce.var(dtype, n, sets.wide.at, ddof)
            S.same(expected, sets.wide.views[2][2]:var { ddof = ddof }, "var, ddof", ddof, n, dtype)
          end
        end
        -- two inputs: views of one kind against views of another
        local ta, tb = sets.medium, S.whole(D.medium(dtype, n, n + 1000))
        local bt, views_b = at_of(tb), S.views(tb, dtype, 55)
        for _, name in ipairs { "dot", "mse", "cosine" } do
          local expected = model.reduce[name](dtype, n, ta.at, bt)
          for k, view in ipairs(ta.views) do
            local other = views_b[(k + 2) % #views_b + 1]
            S.same(expected, gr[name](view[2], other[2]), name, "of", n, dtype, view[1], other[1])
            if k <= 2 then S.same(expected, gr[name](other[2], view[2]), name, "of", n, dtype, other[1], view[1]) end
          end
        end
        if model.is_float[dtype] then
          for _, way in ipairs { "f32", "f64", "kahan", "neumaier" } do
            local set = sets.wide
            local expected = model.reduce.sum(dtype, n, set.at, way ~= "f64" and way or nil)
            for k = 1, 4 do
              local view = set.views[k]
              S.same(expected, view[2]:sum { accumulate = way }, "sum", way, n, dtype, view[1])
            end
            expected = model.reduce.dot(dtype, n, ta.at, bt, way ~= "f64" and way or nil)
            for k = 1, 4 do
              local view = ta.views[k]
              S.same(expected, view[2]:dot(views_b[k][2], { accumulate = way }), "dot", way, n, dtype, view[1])
            end
          end
        end
      end
    end)
  end
end)

describe("reduce(op)", function()
  it("is the reduction of that name", function()
    local a = gr.array(D.sparse("f32", 777, 1), "f32")
    local names = { "sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax", "any", "all", "count" }
    for _, op in ipairs(names) do
      S.same(gr[op](a), gr.reduce(a, op), op)
      S.same(gr[op](a), a:reduce(op), op)
    end
    local low, high = a:reduce("minmax")
    S.same(a:min(), low, "minmax")
    S.same(a:max(), high, "minmax")
    S.same(a:var { ddof = 1 }, a:reduce("var", { ddof = 1 }), "var")
  end)

  it("norm takes p = 2 by default, and 'inf'", function()
    local a = gr.array({ 3, -4 }, "f64")
    assert.equal(5, a:norm())
    assert.equal(5, a:norm(2))
    assert.equal(7, a:norm(1))
    assert.equal(4, a:norm(math.huge))
    assert.equal(4, a:norm("inf"))
  end)
end)

describe("integer results", function()
  it("are Lua integers, and wrap like them", function()
    if not S.integers then return end
    local a = gr.array({ math.maxinteger, 1, -5 }, "i64")
    assert.equal("integer", math.type(a:sum()))
    assert.equal(math.maxinteger + 1 - 5, a:sum())
    assert.equal(math.maxinteger * -5, a:prod())
    assert.equal(math.maxinteger * math.maxinteger + 1 + 25, a:dot(a))
    assert.equal(math.maxinteger, a:max())
    assert.equal("integer", math.type(gr.ones(5, "u8"):sum()))
    assert.equal("integer", math.type(gr.ones(5, "u8"):min()))
    assert.equal("integer", math.type(gr.ones(5, "f32"):argmax()))
    assert.equal("integer", math.type(gr.ones(5, "f32"):count()))
    assert.equal("float", math.type(gr.ones(5, "f32"):sum()))
    assert.equal("float", math.type(gr.ones(5, "u8"):mean()))
  end)

  it("of products of i64 wrap at every size", function()
    if not S.integers then return end
    local t, u = S.whole(model.data("i64", 3000, 1, true)), S.whole(model.data("i64", 3000, 2, true))
    local sum, prod, dot = 0, 1, 0
    local odd, big = {}, {}
    for k = 1, 3000 do
      odd[k], big[k] = t[k] + 1 - t[k] % 2, t[k] * 65537
      sum, prod, dot = sum + big[k], prod * odd[k], dot + t[k] * u[k]
    end
    local a, b = gr.array(t, "i64"), gr.array(u, "i64")
    assert.equal(dot, a:dot(b))
    assert.equal(prod, gr.array(odd, "i64"):prod())
    assert.equal(sum, gr.array(big, "i64"):sum())
  end)

  it("do not wrap in mean", function()
    local big = 2.0 ^ 62
    local a = gr.full(1000, big, "i64")
    assert.equal(big, a:mean())
    local b = gr.full(1000, -big, "i64")
    assert.equal(-big, b:mean())
    b[1] = big
    assert.equal(-big + 2 * big / 1000, b:mean())
  end)

  it("of u32 stay right beyond 2^32", function()
    assert.equal(4294967295 * 100000, gr.full(100000, 4294967295, "u32"):sum())
    assert.equal(4294967295, gr.full(1000, 4294967295, "u32"):max())
    assert.equal(-2147483648 * 70000, gr.full(70000, -2147483648, "i32"):sum())
  end)
end)
