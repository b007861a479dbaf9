-- Quantiles against a sorted table and NumPy's definition of each method.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local nan, huge = model.nan, math.huge
local floor = math.floor

local function sorted(t)
  local copy = {}
  for k = 1, #t do copy[k] = t[k] end
  table.sort(copy, model.before)
  return copy
end

-- Between two neighbours, from the nearer one.
local function blend(x, y, w)
  if x == y then return x end
  if (y - x) - (y - x) ~= 0 then return x * (1 - w) + y * w end
  if w < 0.5 then return x + (y - x) * w end
  return y - (y - x) * (1 - w)
end

-- Hyndman and Fan's methods 1 to 9 but the seventh, with ranks from 1 as they have them.
local ranks = {
  interpolated_inverted_cdf = { 0, 1 }, hazen = { 0.5, 0.5 }, weibull = { 0, 0 },
  median_unbiased = { 1 / 3, 1 / 3 }, normal_unbiased = { 3 / 8, 3 / 8 },
}
local function by_rank(t, q, method)
  local n = #t
  local function at(k) return t[math.max(1, math.min(n, k))] end
  if ranks[method] then
    local alpha, beta = ranks[method][1], ranks[method][2]
    local h = n * q + (alpha + q * (1 - alpha - beta)) - 1
    local low = floor(h)
    return blend(at(low + 1) * 1.0, at(low + 2) * 1.0, h - low)
  end
  local h = n * q
  local j = floor(h)
  local g = h - j
  if method == "inverted_cdf" then return g > 0 and at(j + 1) or at(j) end
  if method == "averaged_inverted_cdf" then
    return g > 0 and at(j + 1) * 1.0 or blend(at(j) * 1.0, at(math.max(j, 0) + (j > 0 and 1 or 0)) * 1.0, 0.5)
  end
  j = floor(h - 0.5) -- closest_observation: the nearest rank, halfway the even one
  g = h - 0.5 - j
  return (g == 0 and j % 2 == 0) and at(j) or at(j + 1)
end

-- numpy.quantile(t, q, method = method) of a sorted table
local function reference(t, q, method)
  if ranks[method] or method and (method:find "inverted" or method:find "closest") then return by_rank(t, q, method) end
  local h = (#t - 1) * q
  local low = floor(h)
  local w = h - low
  local high = math.min(low + (w > 0 and 1 or 0), #t - 1)
  local x, y = t[low + 1], t[high + 1]
  if method == "lower" then return x end
  if method == "higher" then return y end
  if method == "nearest" then
    if w > 0.5 or (w == 0.5 and low % 2 == 1) then return y end
    return x
  end
  x, y = x * 1.0, y * 1.0
  if method == "midpoint" then w = 0.5 end
  return blend(x, y, w)
end

-- The middle of a sorted table: the mean of two, whose halves do not overflow.
local function middle(t)
  local x, y = t[floor((#t + 1) / 2)] * 1.0, t[floor(#t / 2) + 1] * 1.0
  if x == y then return x end
  return math.abs(x + y) < huge and (x + y) / 2 or x / 2 + y / 2
end

local shares = { 0, 1, 0.5, 0.25, 0.75, 0.1, 0.9, 1 / 3, 0.999, 1e-9 }
local methods = { "linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf",
  "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased" }

local function check(a, t, what)
  local s = sorted(t)
  for _, q in ipairs(shares) do
    for _, method in ipairs(methods) do
      S.same(reference(s, q, method), gr.quantile(a, q, { method = method }), what, method, q)
    end
    S.same(reference(s, q, "linear"), a:quantile(q), what, q)
  end
  S.same(middle(s), a:median(), "median", what)
end

describe("quantile", function()
  for _, dtype in ipairs(model.dtypes) do
    it("of " .. dtype, function()
      for _, n in ipairs { 1, 2, 3, 4, 10, 101, 1000 } do
        local t = S.whole(D.sparse(dtype, n, n))
        check(gr.array(t, dtype), t, dtype .. " " .. n)
      end
      local t = S.whole(D.sparse(dtype, 257, 5))
      for _, view in ipairs(S.views(t, dtype, 1)) do
        local s = sorted(t)
        for _, q in ipairs { 0, 0.3, 1 } do
          S.same(reference(s, q, "linear"), view[2]:quantile(q), dtype, view[1], q)
        end
      end
    end)
  end

  it("of many elements, some of them often", function()
    for _, dtype in ipairs { "u8", "i16", "i32", "f32", "f64" } do
      local t, g = S.whole(D.wide(dtype, 30011, 9)), model.generator(3)
      for k = 1, #t do if g() % 3 == 0 then t[k] = t[1] end end
      local a, s = gr.array(t, dtype), sorted(t)
      for _, q in ipairs { 0, 0.01, 0.5, 0.77, 1 } do
        for _, method in ipairs { "linear", "higher" } do
          S.same(reference(s, q, method), a:quantile(q, { method = method }), dtype, q, method)
        end
      end
    end
    S.same(3, gr.full(100000, 3, "f64"):median())
  end)

  it("of neighbours in the last bits of f64, and candidates that are picked out", function()
    local t, g = {}, model.generator(8)
    for k = 1, 5000 do t[k] = (g() % 16 == 0 and 1 or 3) + (g() % 1024) * 2.0 ^ -52 end
    local a, s = gr.array(t, "f64"), sorted(t)
    for _, q in ipairs { 0.01, 0.05, 0.062, 0.5 } do S.same(reference(s, q), a:quantile(q), q) end
    S.same_all({ reference(s, 0.01), reference(s, 0.03) }, a:quantile { 0.01, 0.03 }, "two")
  end)

  it("of an even count is the mean of the two in the middle, rounded once", function()
    for _, on in ipairs { "cpu", (gr.backend()) } do
      S.on(on, function()
        local function check_pair(expected, x, y, dtype)
          S.same(expected, gr.array({ x, y }, dtype):median(), dtype, x, y)
          local many = gr.full(100000, x, dtype) -- too many for the host alone
          many:slice(1, -1, 2):fill(y)
          S.same(expected, many:median(), dtype, x, y, "many")
        end
        check_pair(2.0 ^ -53, -1, 1 + 2.0 ^ -52, "f64")
        check_pair(1.375 * 2.0 ^ 1023, 1.5 * 2.0 ^ 1023, 1.25 * 2.0 ^ 1023, "f64")
        check_pair(-1.375 * 2.0 ^ 1023, -1.5 * 2.0 ^ 1023, -1.25 * 2.0 ^ 1023, "f64")
        check_pair(2.0 ^ -1074, 2.0 ^ -1074, 2.0 ^ -1074, "f64")
        check_pair(2.0 ^ 127, 2.0 ^ 127, 2.0 ^ 127, "f32")
        check_pair(huge, 1, huge, "f64")
        check_pair(nan, -huge, huge, "f64")
        check_pair(127.5, 0, 255, "u8")
        check_pair(-0.5, -128, 127, "i8")
        if not S.integers then return end
        local most, least, wide = math.maxinteger, math.mininteger, math.floor(2.0 ^ 53)
        check_pair(2.0 ^ 63, most, most - 1, "i64")
        check_pair(-2.0 ^ 63, least, least + 1, "i64")
        check_pair(-0.5, least, most, "i64")
        check_pair(2.0 ^ 53 + 2, wide + 1, wide + 2, "i64") -- the half breaks the tie
        check_pair(2.0 ^ 53, wide, wide + 1, "i64")
      end)
    end
  end)

  it("gives many at once, in any order and of any number", function()
    local t = D.wide("f32", 5000, 4)
    local a, s = gr.array(t, "f32"), sorted(t)
    local asked, expected = {}, {}
    for k = 1, 700 do -- more groups than one pass counts
      asked[k] = (k * 389 % 700) / 699
      expected[k] = reference(s, asked[k])
    end
    local r = a:quantile(asked)
    assert.equal("f64", r.dtype)
    S.same_all(expected, r, "700 shares")
    r = a:quantile({ 0.9, 0, 0.9, 0.1 }, { method = "lower" })
    assert.equal("f32", r.dtype)
    S.same_all({ reference(s, 0.9, "lower"), s[1], reference(s, 0.9, "lower"), reference(s, 0.1, "lower") }, r, "lower")
    assert.equal(0, #a:quantile {})
    local b = gr.array(S.whole(D.wide("f64", 3000, 6)), "f64")
    local sb = sorted(b:table())
    for k = 1, #asked do expected[k] = reference(sb, asked[k], "nearest") end
    S.same_all(expected, b:quantile(asked, { method = "nearest" }), "700 shares of f64")
  end)

  it("orders -0.0 before 0.0 and counts infinities", function()
    local NZ = model.minus_zero
    S.same(NZ, gr.array({ 0, NZ, 0 }, "f32"):quantile(0), "least")
    S.same(0, gr.array({ 0, NZ, NZ }, "f64"):quantile(1, { method = "higher" }), "greatest")
    local t = { -huge, 1, huge, huge, -huge }
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do check(gr.array(t, dtype), t, dtype .. " infinite") end
    S.same(huge, gr.array({ 1, huge }, "f64"):median(), "half of infinity")
    S.same(nan, gr.array({ -huge, huge }, "f64"):median(), "between infinities")
    S.same(huge, gr.array({ huge, huge }, "f64"):median(), "among infinities")
    local big = 1.5 * 2.0 ^ 1023
    S.same(0, gr.array({ -big, big }, "f64"):median(), "as wide as f64 goes")
  end)

  it("of few and of many, which go other ways, wherever the data are", function()
    for _, dtype in ipairs { "u8", "f16", "i32", "f64" } do
      local size = ({ u8 = 1, f16 = 2, i32 = 4, f64 = 8 })[dtype]
      for _, factor in ipairs { 1, 4 } do
        local most = 4096 * size * factor / 2 -- ranks
        for _, n in ipairs { 65, most - 1, most, most + 1, most + 2 } do
          local t, g = {}, model.generator(n)
          for k = 1, n do t[k] = g() % (k % 3 == 0 and 200 or 9) end
          if dtype == "f16" and n == most + 2 then t[7] = model.minus_zero end
          local s = sorted(t)
          for _, device in ipairs { (gr.backend()), "pretend" } do
            S.on(device, function()
              local a = gr.array(t, dtype) -- on the host; its copy, on the device
              for _, x in ipairs { a, a:copy(), gr.add(a, 0) } do
                S.same(middle(s), x:median(), device, dtype, n)
                S.same(reference(s, 0.9, "higher"), x:quantile(0.9, { method = "higher" }), device, dtype, n)
              end
            end)
          end
        end
      end
    end
  end)

  it("of patterns that a sample may miss", function()
    for _, n in ipairs { 64, 65, 1000, 8192 } do
      for which, f in ipairs { function(k) return k end, function(k) return -k end, function(k) return k % 16 end,
        function(k) return k % 2 end, function(k) return k == 7 and 1 or 0 end,
        function(k) return k % 48 == 0 and k or -3 end } do
        local t = {}
        for k = 1, n do t[k] = f(k) end
        local s, a = sorted(t), gr.array(t, "f64")
        for _, q in ipairs { 0, 0.3, 0.5, 0.98, 1 } do S.same(reference(s, q), a:quantile(q), which, n, q) end
      end
    end
  end)

  it("is NaN when there is one", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      local t = D.wide(dtype, 3000, 2)
      t[1234] = nan
      local a = gr.array(t, dtype)
      S.same(nan, a:median(), dtype)
      S.same(nan, a:quantile(0, { method = "lower" }), dtype)
      S.same_all({ nan, nan }, a:quantile { 0, 1 }, dtype)
      S.same_all({ nan, nan }, a:quantile({ 0, 1 }, { method = "nearest" }), dtype)
    end
  end)

  it("is exact for i64 where it selects", function()
    if not S.integers then return end
    local odd = math.tointeger(2 ^ 53) + 1
    local t = { math.maxinteger, math.maxinteger - 1, math.mininteger, math.mininteger + 1, odd }
    local a = gr.array(t, "i64")
    assert.equal(math.mininteger, a:quantile(0, { method = "lower" }))
    assert.equal(math.mininteger + 1, a:quantile(0.25, { method = "nearest" }))
    assert.equal(odd, a:quantile(0.5, { method = "higher" }))
    assert.equal(math.maxinteger - 1, a:quantile(0.75, { method = "lower" }))
    assert.equal("integer", math.type(a:quantile(1, { method = "lower" })))
    assert.equal("float", math.type(a:median()))
    assert.equal(math.maxinteger - 1, a:quantile({ 0.75 }, { method = "lower" })[1])
  end)

  it("goes into an array", function()
    local a, into = gr.arange(0, 10, "f32"), gr.zeros(3, "f64")
    assert.equal(into, a:quantile({ 0, 0.25, 1 }, { into = into }))
    S.same_all({ 0, 2.5, 10 }, into, "into")
    local wide = gr.zeros(4, "f32")
    a:quantile({ 0.2, 0.7 }, { method = "lower", into = wide:slice(4, 2, -2) })
    S.same_all({ 0, 7, 0, 2 }, wide, "into a strided view")
  end)
end)

describe("weighted quantiles", function()
  -- The least element of those sorted with their weights up to which the share of all weight lies.
  local function weighted(t, w, q)
    local order, total, sum = {}, 0, 0
    for k = 1, #t do order[k], total = k, total + w[k] end
    table.sort(order, function(i, j) return t[i] < t[j] or t[i] == t[j] and i < j end)
    for k = 1, #order do
      sum = sum + w[order[k]]
      local last = k == #order or t[order[k]] ~= t[order[k + 1]]
      if last and sum > 0 and sum / total >= q then return t[order[k]] + 0 end
    end
  end

  it("are those of a sorted table", function()
    S.on_each(function(device)
      for _, dtype in ipairs(model.dtypes) do
        for _, weight in ipairs { "f32", "f64", "u8", "i64" } do
          for _, n in ipairs { 1, 2, 7, 300 } do
            local t, g, w = S.whole(D.sparse(dtype, n, n + 3)), model.generator(n), {}
            for k = 1, n do
              w[k] = g() % 6 / (model.is_float[weight] and 8 or 1)
              if not model.is_float[weight] then w[k] = math.floor(w[k]) end
            end
            w[1] = w[1] + 1
            local a, weights = gr.array(t, dtype), gr.array(w, weight)
            for _, q in ipairs { 0, 0.1, 0.5, 0.9, 1 } do
              S.same(weighted(t, w, q), a:quantile(q, { weights = weights }), device, dtype, weight, n, q)
            end
            S.same_all({ weighted(t, w, 1), weighted(t, w, 0.25) },
              a:quantile({ 1, 0.25 }, { weights = weights, method = "inverted_cdf" }), device, dtype, "two")
          end
        end
      end
    end)
  end)

  it("of equal weights are those of none", function()
    local t = D.wide("f64", 501, 3)
    local a, w = gr.array(t, "f64"), gr.full(501, 0.25)
    for _, q in ipairs(shares) do
      S.same(a:quantile(q, { method = "inverted_cdf" }), a:quantile(q, { weights = w }), q)
    end
  end)

  it("of rows and columns, views and expressions", function()
    S.on_each(function()
      local X = gr.array { 1, 2, 3, 30, 20, 10 }:matrix(2)
      local W = gr.array({ 1, 1, 4, 1, 1, 4 }, "u8")
      S.same_all({ 3, 10 }, X:quantile(0.5, { axis = 2, weights = W }))
      S.same_all({ 1, 2, 3 }, X:quantile(0.5, { axis = 1, weights = gr.lazy(W) * 2 }))
      S.same_all({ 30, 20, 10 }, X:quantile({ 0.75 }, { axis = 1, weights = W }):slice())
      S.same(2, gr.array({ 1, 9, 2, 9, 3 }):slice(1, 5, 2):quantile(0.5, { weights = gr.array { 1, 1, 1 } }))
      S.same(model.nan, gr.array({ 1, model.nan }):quantile(0.5, { weights = gr.ones(2) }))
      S.same(model.round.f32(0.1), gr.array({ 0.1, 3 }, "f64"):quantile(0, { weights = gr.ones(2), out = "f32" }))
      S.same(math.huge, gr.array({ -math.huge, math.huge }):quantile(0.9, { weights = gr.ones(2) }))
    end)
  end)

  it("refuse weights that are none", function()
    local a, lazy, turned = gr.array { 1, 2, 3 }, gr.lazy(gr.ones(3)) * 1, gr.ones(3):matrix(3):transpose()
    lazy:release()
    turned:release()
    local rows = {
      { lazy, "option 'weights': expression has been released" },
      { turned, "option 'weights': array has been released" },
      { gr.row(gr.ones(3)), "option 'weights': a row, a column or a scalar alone has no length: use its array" },
      { gr.ones(2), "option 'weights': length 3 expected, got 2" },
      { 3, "option 'weights': gpureduce.array expected, got number" },
      { gr.array { 1, -1, 3 }, "option 'weights': finite weights of 0 or more expected, got -1" },
      { gr.array { 1, math.huge, 3 }, "option 'weights': finite weights of 0 or more expected, got inf" },
      { gr.zeros(3), "option 'weights': some weight above 0 expected" },
    }
    for _, row in ipairs(rows) do
      assert.equal("bad argument #3 to 'quantile' (" .. row[2] .. ")", S.message(gr.quantile, a, 0.5,
        { weights = row[1] }))
      assert.equal("bad argument #3 to 'quantile' (" .. row[2] .. ")", S.message(gr.quantile, a, { 0.5 },
        { weights = row[1] }))
    end
    assert.equal("bad argument #3 to 'quantile' (option 'weights': only with method 'inverted_cdf')",
      S.message(gr.quantile, a, 0.5, { weights = gr.ones(3), method = "linear" }))
    assert.equal("bad argument #3 to 'quantile' (option 'weights': finite weights of 0 or more expected, got nan)",
      S.message(gr.quantile, a, 0.5, { weights = gr.array { 1, model.nan, 1 } }))
  end)
end)
