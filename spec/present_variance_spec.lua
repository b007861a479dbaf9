-- Variances of floats some of which are missing, in one pass: each leaf around the mean of its present elements, leaves
-- merged by counts. All lengths around leaves, and holes that leave leaves full, nearly full, nearly empty and empty.
local S = require "spec.support"
local F = require "spec.missing"
local gr, model = S.gr, S.model
local nan, huge = model.nan, math.huge

local leaf = { f16 = 4096, bf16 = 4096, f32 = 1024, f64 = 512 }
local floats = { "f16", "bf16", "f32", "f64" }

-- Whether element k of n is missing, by name of the pattern; g: random numbers.
local holes = {
  none = function() return false end,
  few = function(_, _, g) return g() % 97 == 0 end,
  many = function(_, _, g) return g() % 3 > 0 end,
  ["all but the first"] = function(k) return k > 1 end,
  ["all but the last"] = function(k, n) return k < n end,
  all = function() return true end,
  ["the first leaf"] = function(k, _, _, size) return k <= size end,
  ["every other leaf"] = function(k, _, _, size) return math.floor((k - 1) / size) % 2 == 1 end,
}

local function data(dtype, n, pattern, seed)
  local g, t, m = model.generator(seed), {}, {}
  for k = 1, n do
    t[k] = model.round[dtype](1000 + g() % 4096 / 8)
    m[k] = holes[pattern](k, n, g, leaf[dtype]) and 0 or k % 255 + 1
  end
  return t, m
end

local function with(t, m, x)
  local u = {}
  for k = 1, #t do u[k] = m[k] == 0 and x or t[k] end
  return u
end

-- By skipnan, by a mask, and by both, of an array as it lies and of views of it.
local function check(dtype, t, m, ...)
  local there = F.there(#t, t, true, m)
  local u = with(t, m, nan)
  local a, b, mask = gr.array(t, dtype), gr.array(u, dtype), gr.array(m, "u8")
  for _, name in ipairs { "var", "std" } do
    local expected = F.reduce[name](dtype, t, there)
    S.same(expected, gr[name](b, { skipnan = true }), name, dtype, #t, "skipnan", ...)
    S.same(expected, gr[name](a, { mask = mask }), name, dtype, #t, "mask", ...)
    S.same(expected, gr[name](b, { mask = mask, skipnan = true }), name, dtype, #t, "both", ...)
    S.same(expected, gr.reduce(b, name .. "_present"), name, dtype, #t, "by name", ...)
    S.same(expected, gr[name](gr.lazy(b) * 1, { skipnan = true }), name, dtype, #t, "of an expression", ...)
    if F.count(there) > 1 then
      local less = F.reduce[name](dtype, t, there, 1)
      S.same(less, gr[name](b, { skipnan = true, ddof = 1 }), name, dtype, #t, "ddof", ...)
    end
  end
  return u, there
end

describe("variances of what is present", function()
  for _, dtype in ipairs(floats) do
    it("of every length around leaves, " .. dtype, function()
      local size = leaf[dtype]
      S.on_each(function(device)
        for i, n in ipairs { 1, 2, 17, 300, size - 1, size, size + 1, 2 * size - 1, 2 * size, 2 * size + 1,
          3 * size + 5, 5 * size } do
          for pattern in pairs(holes) do
            if n <= 2 * size + 1 or pattern ~= "few" then
              local t, m = data(dtype, n, pattern, 7 * i)
              check(dtype, t, m, pattern, device)
            end
          end
        end
      end)
    end)

    it("of views, " .. dtype, function()
      local t, m = data(dtype, 2 * leaf[dtype] + 77, "many", 3)
      local u = with(t, m, nan)
      local expected = F.reduce.var(dtype, t, F.there(#t, t, false, m))
      for _, view in ipairs(S.views(u, dtype, nan)) do
        S.same(expected, gr.var(view[2], { skipnan = true }), dtype, view[1])
      end
      for _, view in ipairs(S.views(t, dtype, 5)) do
        S.same(expected, gr.var(view[2], { mask = gr.array(m, "u8") }), dtype, view[1])
      end
    end)

    it("of rows, columns and segments, " .. dtype, function()
      S.on_each(function(device)
        for i, shape in ipairs { { 3, 40 }, { 40, 3 }, { 2, leaf[dtype] + 9 }, { leaf[dtype] + 9, 17 },
          { 60, 130 }, { 700, 2 } } do
          local rows, columns = shape[1], shape[2]
          local t, m = data(dtype, rows * columns, "many", i)
          local u, there = with(t, m, nan), F.there(#t, t, false, m)
          local a, b, mask = gr.array(t, dtype), gr.array(u, dtype), gr.array(m, "u8")
          local function expected(first, count, step)
            local x, here = {}, {}
            for k = 1, count do
              x[k], here[k] = t[first + (k - 1) * step], there[first + (k - 1) * step]
            end
            return F.reduce.var(dtype, x, here)
          end
          for _, of in ipairs { { b, { skipnan = true } }, { a, { mask = mask } } } do
            local function call(more)
              for name, value in pairs(of[2]) do more[name] = value end
              return gr.var(of[1], more)
            end
            local along, down = call { rows = rows, axis = 2 }, call { rows = rows, axis = 1 }
            local starts = {}
            for r = 1, rows + 1 do starts[r] = 1 + (r - 1) * columns end
            local parts = call { segments = starts }
            for r = 1, rows, math.ceil(rows / 9) do
              local one = expected(starts[r], columns, 1)
              S.same(one, along[r], dtype, "row", r, rows, columns, device)
              S.same(one, parts[r], dtype, "segment", r, rows, columns, device)
            end
            for c = 1, columns, math.ceil(columns / 9) do
              S.same(expected(c, rows, columns), down[c], dtype, "column", c, rows, columns, device)
            end
          end
        end
      end)
    end)
  end

  -- On GPUs columns go through a ring, which has whole groups of 16 rows; a row behind them comes another way.
  it("of columns whose last leaf ends anywhere", function()
    local on_gpu = gr.backend():find "^cuda" -- large matrices alone have the ring
    for dtype, size in pairs { f32 = 4, f64 = 8, i32 = 4, bf16 = 2 } do
      local whole = 8192 / size / 2
      for _, more in ipairs { 1, 15, 16, 17, whole - 17, whole - 16, whole - 15, whole - 8, whole - 1, whole } do
        local rows = (size == 2 and 0 or whole) + more
        local columns = math.ceil((on_gpu and 18e6 or 3e5) / rows / 16) * 16 / size
        local ones = gr.full(rows * columns, 1, dtype)
        for _, skipnan in ipairs { false, dtype ~= "i32" } do
          local v = gr.var(ones, { rows = rows, axis = 1, skipnan = skipnan })
          assert.are.same({ 0, 0 }, { v:min(), v:max() }, dtype .. " " .. rows)
        end
      end
    end
  end)

  it("have no value where something present has none", function()
    for _, dtype in ipairs(floats) do
      for _, n in ipairs { 3, 700, 9000 } do
        local x = gr.full(n, 2, dtype)
        local mask = gr.full(n, 1, "u8")
        x[n], mask[1] = huge, 0
        S.same(nan, gr.var(x, { mask = mask }), dtype, n, "infinity")
        x[1] = nan
        S.same(nan, gr.var(x, { skipnan = true }), dtype, n, "infinity")
        x[n] = nan
        S.same(nan, gr.std(x, { mask = mask }), dtype, n, "NaN that the mask leaves")
        S.same(0, gr.std(x, { mask = mask, skipnan = true }), dtype, n)
        mask[n] = 0
        S.same(0, gr.var(x, { mask = mask }), dtype, n)
        S.same(0, gr.var(x, { skipnan = true }), dtype, n)
      end
    end
    -- Sums of f64 that overflow, of elements that do not.
    local t = { 1.7e308, 1.7e308, nan, 1.7e308 }
    S.same(gr.var(gr.array({ 1.7e308, 1.7e308, 1.7e308 }, "f64")), gr.var(gr.array(t, "f64"), { skipnan = true }))
  end)

  it("take only what is filled as they take it from a formula", function()
    local t, m = data("f32", 3000, "many", 5)
    local x, mask = gr.lazy(gr.array(t, "f32")), gr.array(m, "u8")
    local there = F.there(3000, t, false, m)
    local full = F.reduce.var("f32", with(t, m, 0), F.there(3000, t))
    S.same(full, gr.reduce(gr.where(mask, x, 0), "var_present"))
    S.same(F.reduce.var("f32", t, there), gr.reduce(gr.where(mask, x, nan), "var_present"))
    S.same(full, gr.reduce(gr.where(mask, gr.where(x:compare("==", x), x, huge), 0), "var_present"))
    t[3], m[3], there[3] = nan, 1, false
    S.same(F.reduce.var("f32", t, there),
      gr.reduce(gr.where(gr.array(m, "u8"), gr.lazy(gr.array(t, "f32")), nan), "var_present"))
    local y, here = gr.lazy(gr.array(t, "f32")), gr.array(m, "u8")
    t[3], there[3] = 7, true
    S.same(F.reduce.var("f32", t, there),
      gr.reduce(gr.where(here, gr.where(y:compare("==", y), y, 7), nan), "var_present"))
  end)

  it("of f64 whose distances have infinite squares: parts of nothing change nothing", function()
    for _, n in ipairs { 100, 513, 5000, 300000 } do
      local a = gr.array(n, "f64"):fill(2 ^ 660)
      a[1] = nan
      if n > 1024 then a:slice(513, 1024):fill(nan) end -- a leaf
      assert.are.equal(0, gr.var(a, { skipnan = true }), n)
      a:slice(n - 9, n):fill(-2 ^ 660)
      assert.are.equal(huge, gr.var(a, { skipnan = true }), n)
    end
  end)

  it("of rows where nothing is, whatever ddof", function()
    for _, dtype in ipairs(floats) do
      local a = gr.array(16, dtype):fill(nan)
      a:slice(9, 16):fill(3)
      local v = gr.var(a, { rows = 2, skipnan = true, ddof = -1 })
      S.same(nan, v[1], dtype)
      S.same(0, v[2], dtype)
    end
  end)
end)
