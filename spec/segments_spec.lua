-- Reductions of segments: each result has the bits of the same slice reduced alone.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model

local one = { "sum", "prod", "mean", "var", "std", "argmin", "argmax", "min", "max", "count", "any", "all", "norm",
  "logsumexp" }
local raises = { min = true, max = true, argmin = true, argmax = true }

-- Positions of segments with these lengths, beginning at the element `first`.
local function positions(lengths, first)
  local t = { first or 1 }
  for k = 1, #lengths do t[k + 1] = t[k] + lengths[k] end
  return t
end

local lengths = { 3, 1, 130, 0, 0, 1025, 17, 64, 500, 0, 2 }
local filled = { 3, 1, 130, 1025, 17, 64, 500, 2 }

local function as_number(x)
  if x == true then return 1 elseif x == false then return 0 end
  return x
end

describe("segments of", function()
  for _, dtype in ipairs(model.dtypes) do
    it(dtype, function()
      for _, op in ipairs(one) do
        local offsets = positions(raises[op] and filled or lengths, 4)
        local n = offsets[#offsets] + 5
        local t = S.whole(D[op == "prod" and "factors" or "sparse"](dtype, n, 7))
        local f = model.reduce[op == "norm" and "norm2" or op]
        for _, view in ipairs(op == "sum" and S.views(t, dtype, 1) or { { "contiguous", gr.array(t, dtype) } }) do
          local a, options = view[2], { segments = gr.array(offsets, "i32") }
          local r = op == "norm" and gr.norm(a, 2, options) or gr[op](a, options)
          S.same(#offsets - 1, #r, "results of", op, dtype)
          local got = r:table()
          for k = 1, #offsets - 1 do
            local from, count = offsets[k], offsets[k + 1] - offsets[k]
            local expected = as_number(f(dtype, count, function(i) return t[from + i - 1] end))
            S.same(expected, got[k], op, dtype, view[1], "segment", k)
          end
        end
      end
    end)
  end

  it("two arrays", function()
    for _, dtype in ipairs { "i32", "f16", "f32", "f64" } do
      local offsets = positions(lengths)
      local t, u = D.medium(dtype, 1800, 3), D.medium(dtype, 1800, 4)
      local a, b = gr.array(S.whole(t), dtype), gr.array(S.whole(u), dtype)
      for _, op in ipairs { "dot", "mse", "cosine" } do
        local got = gr[op](a, b, { segments = offsets }):table()
        for k = 1, #lengths do
          local from = offsets[k] - 1
          local expected = model.reduce[op](dtype, lengths[k], function(i) return t[from + i] end,
            function(i) return u[from + i] end)
          S.same(expected, got[k], op, dtype, k)
        end
      end
    end
  end)

  it("minmax, and the ways to accumulate", function()
    local offsets = positions(filled)
    local t = D.wide("f32", 1800, 5)
    local a = gr.array(t, "f32")
    local low, high = a:minmax { segments = offsets }
    for k = 1, #filled do
      local x, y = a:slice(offsets[k], offsets[k + 1] - 1):minmax()
      S.same(x, low[k], "min", k)
      S.same(y, high[k], "max", k)
    end
    for _, way in ipairs { "f32", "f64", "kahan", "neumaier" } do
      local got = a:sum { segments = offsets, accumulate = way }
      for k = 1, #filled do
        local expected = model.reduce.sum("f32", filled[k], function(i) return t[offsets[k] + i - 1] end, way)
        S.same(expected, got[k], way, k)
      end
    end
  end)

  it("lengths from nothing to many leaves, with the bits of slices", function()
    local g = model.generator(5)
    for _, dtype in ipairs { "u8", "f16", "f32", "f64" } do
      local long = 300 * model.leaf[dtype] + 77 -- beyond what one block takes
      local many = { 5, long, 0, 1000, model.leaf[dtype] * 256, model.leaf[dtype] * 256 + 1, 4097 }
      for _ = 1, 40 do many[#many + 1] = g() % 3000 + 1 end
      local offsets = positions(many, 3)
      local a = gr.randn(offsets[#offsets], "f32", { seed = 4 })
      if dtype ~= "f32" then
        a = dtype == "u8" and gr.frombytes(gr.rand(offsets[#offsets], "f64"):bytes():sub(1, offsets[#offsets]), "u8")
          or gr.randn(offsets[#offsets], dtype, { seed = 4 })
      end
      local sums, norms = a:sum { segments = offsets }:table(), a:norm(2, { segments = offsets }):table()
      for k = 1, #many do
        local part = a:slice(offsets[k], offsets[k + 1] - 1)
        S.same(part:sum(), sums[k], "sum", dtype, many[k])
        S.same(part:norm(), norms[k], "norm", dtype, many[k])
      end
    end
  end)

  it("numbers whose squares leave the range of f64", function()
    local t = { 3e200, 4e200, 1, 2, 3e-200, 4e-200, 0, 0, math.huge, 1 }
    local a = gr.array(t, "f64")
    local got = a:norm(2, { segments = { 1, 3, 5, 7, 7, 9, 11 } }):table()
    for k, expected in ipairs { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 6 }, { 7, 8 }, { 9, 10 } } do
      S.same(a:slice(expected[1], expected[2]):norm(), got[k], "norm", k)
    end
    got = a:cosine(a, { segments = gr.array({ 1, 3, 7 }, "i32") }):table()
    S.same(gr.cosine(a:slice(1, 2), a:slice(1, 2)), got[1], "cosine")
    S.same(gr.cosine(a:slice(3, 6), a:slice(3, 6)), got[2], "cosine")
  end)

  it("goes into an array, strided too, and takes offsets of any kind", function()
    local a = gr.arange(1, 10, "i32")
    local into = gr.zeros(3, "i64")
    local r = a:sum { segments = { 1, 4, 4, 11 }, into = into }
    assert.equal(into, r)
    S.same_all({ 6, 0, 49 }, into, "into")
    local wide = gr.zeros(6, "i64")
    a:sum { segments = gr.array({ 1, 4, 4, 11 }, "i64"), into = wide:slice(2, 6, 2) }
    S.same_all({ 0, 6, 0, 0, 0, 49 }, wide, "strided into")
    local apart = gr.array({ 1, 0, 4, 0, 4, 0, 11 }, "i32"):slice(1, 7, 2)
    S.same_all({ 6, 0, 49 }, a:sum { segments = apart }, "strided offsets")
    assert.equal(0, #a:sum { segments = { 5 } })
    assert.equal(0, #a:min { segments = { 11 } })
    S.same_all({ 0, 0 }, gr.zeros(0, "f32"):sum { segments = { 1, 1, 1 } }, "of nothing")
  end)

  it("sees through positions whose differences wrap", function()
    if not S.integers then return end
    local a, wrong = gr.ones(10, "f32"), "positions from 1 to 11 expected, but position 2 is 9223372036854775807"
    local offsets = gr.array({ 1, math.maxinteger, math.mininteger, -1, 5 }, "i64")
    assert.truthy(S.message(gr.sum, a, { segments = offsets }):find(wrong, 1, true))
    local t = {}
    for k = 1, 200001 do t[k] = 1 end
    t[200001] = 11
    assert.equal(10, a:sum { segments = t }[200000])
    t[150000] = 12
    assert.truthy(S.message(gr.sum, a, { segments = t }):find("but position 150000 is 12", 1, true))
  end)

  it("takes one launch for many short segments", function()
    local a, offsets = gr.ones(3000, "f32"), gr.arange(1, 3001, 3, "i64")
    local into = gr.zeros(1000, "f64")
    a:sum { segments = offsets, into = into }
    local d = S.counted(function() a:sum { segments = offsets, into = into } end)
    assert.equal(1, d.launches)
    assert.equal(0, d.syncs)
    assert.equal(0, d.copies)
    assert.equal(3000, into:sum())
  end)
end)
