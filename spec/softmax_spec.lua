-- Softmax against math.exp and a plain sum, within a few units in the last place, since exponentials differ that much;
-- and but for f64 against its definition, whose exponentials are those of the operator.
local S = require "spec.support"
local gr, model = S.gr, S.model
local nan, huge = model.nan, math.huge

local floats = { "f16", "bf16", "f32", "f64" }
local epsilon = { f16 = 2.0 ^ -10, bf16 = 2.0 ^ -7, f32 = 2.0 ^ -23, f64 = 2.0 ^ -50 }
local tiny = { f16 = 2.0 ^ -24, bf16 = 2.0 ^ -133, f32 = 2.0 ^ -149, f64 = 2.0 ^ -1070 }

local function reference(t, first, last)
  local most, sum, lost, out = -huge, 0, 0, {}
  for k = first, last do most = math.max(most, t[k]) end
  for k = first, last do
    local e = math.exp(t[k] - most)
    out[k] = e
    local s = sum + e -- compensated
    lost = lost + ((sum - s) + e)
    sum = s
  end
  for k = first, last do out[k] = out[k] / (sum + lost) end
  return out, most
end

local function check(dtype, t, rows, got, what)
  local n = #t / rows
  for r = 1, rows do
    local expected, most = reference(t, (r - 1) * n + 1, r * n)
    for k = (r - 1) * n + 1, r * n do
      local e = expected[k]
      local apart = dtype == "f32" and 1 + (most - t[k]) / 2 or 1 -- what rounding the difference to f32 takes of e^x
      if math.abs(got[k] - e) > e * epsilon[dtype] * apart + tiny[dtype] then
        error(("%s: element %d of %d x %d: expected %.17g, got %.17g"):format(what, k, rows, n, e, got[k]), 2)
      end
    end
  end
end

local function spread(dtype, n, seed)
  local t = model.data(dtype, n, seed)
  for k = 1, n do t[k] = model.round[dtype](t[k] * 20) end
  return t
end

describe("softmax", function()
  for _, dtype in ipairs(floats) do
    it("of rows of " .. dtype, function()
      for s, shape in ipairs { { 1, 1 }, { 5, 1 }, { 3, 7 }, { 4, 64 }, { 2, 1025 }, { 3, 4097 }, { 1, 20000 } } do
        local t = spread(dtype, shape[1] * shape[2], s)
        local got = gr.softmax(gr.array(t, dtype), { rows = shape[1] })
        assert.equal(dtype, got.dtype)
        check(dtype, t, shape[1], got:table(), dtype)
      end
    end)
  end

  it("of f16, bf16 and f32 to the bit: f32 exponentials, f64 sums along the tree, an f32 factor", function()
    for _, dtype in ipairs { "f16", "bf16", "f32" } do
      for s, shape in ipairs { { 40, 1 }, { 70, 3 }, { 70, 31 }, { 9, 7 }, { 70, 33 }, { 90, 64 }, { 3, 64 },
        { 700, 7 }, { 300, 15 }, { 70, 101 }, { 3, 131 }, { 2, 1025 }, { 2, 4097 }, { 1, 8192 }, { 1, 8193 },
        { 1, 70001 } } do
        for _, kind in ipairs { "near", "far", "odd" } do
          local n = shape[2]
          local t = kind == "near" and model.data(dtype, shape[1] * n, s) or spread(dtype, shape[1] * n, s)
          if kind == "odd" then t[1], t[#t], t[n + 1] = nan, -huge, huge end
          local got, d = gr.softmax(gr.array(t, dtype), { rows = shape[1] }):table(), {}
          for r = 0, shape[1] - 1 do
            local differences = model.softmax_differences(n, function(k) return t[r * n + k] end)
            for k, v in ipairs(differences) do d[r * n + k] = v end
          end
          local e = gr.array(d, "f32"):exp():table()
          for r = 0, shape[1] - 1 do
            local expected = model.softmax(dtype, n, function(k) return e[r * n + k] end)
            for k = 1, n do
              S.same(expected[k], got[r * n + k], ("%s %d x %d %s: %d"):format(dtype, shape[1], n, kind, r * n + k))
            end
          end
        end
      end
    end
  end)

  it("of short rows that begin anywhere in a word, with the same bits", function()
    for _, dtype in ipairs { "f16", "bf16" } do
      for _, n in ipairs { 7, 15, 31, 111 } do
        local x = gr.randn(401 * n, { seed = n }):cast(dtype)
        local expected, room = gr.softmax(x, { rows = 401 }), gr.full(401 * n + 2, 7, dtype)
        gr.softmax(x, { rows = 401, into = room:slice(2, 401 * n + 1) })
        assert.is_true(expected:equal(room:slice(2, 401 * n + 1):copy()), dtype .. " " .. n)
        assert.same({ 7, 7 }, { room[1], room[401 * n + 2] })
      end
    end
  end)

  it("on views, and into an array or itself, with the same bits", function()
    for _, dtype in ipairs(floats) do
      local t = spread(dtype, 3 * 350, 6)
      local expected = gr.softmax(gr.array(t, dtype), { rows = 3 })
      for _, view in ipairs(S.views(t, dtype, 99)) do
        assert.is_true(expected:equal(view[2]:softmax { rows = 3 }), dtype .. " " .. view[1])
        local into = gr.zeros(2 * #t + 1, dtype):slice(2, 2 * #t, 2)
        assert.equal(into, view[2]:softmax { rows = 3, into = into })
        assert.is_true(expected:equal(into))
        view[2]:softmax { rows = 3, into = view[2] }
        assert.is_true(expected:equal(view[2]), dtype .. " " .. view[1] .. " in place")
      end
    end
  end)

  it("rows are those of each row alone, short and long", function()
    for _, dtype in ipairs(floats) do
      for _, n in ipairs { 33, 5000, 17 * model.leaf[dtype] + 5 } do
        local x = gr.randn(2 * n, dtype, { seed = n })
        local both = x:softmax { rows = 2 }
        assert.is_true(both:slice(1, n):equal(x:slice(1, n):softmax()), dtype .. " " .. n)
        assert.is_true(both:slice(n + 1):equal(x:slice(n + 1):softmax()), dtype .. " " .. n)
        local again = x:copy()
        again:softmax { rows = 2, into = again }
        assert.is_true(both:equal(again), dtype .. " " .. n)
      end
    end
  end)

  it("has the CPU's bits, whatever the length of rows", function()
    local device = gr.backend()
    local on_gpu = device:find "^cuda"
    local lengths = { 63, 64, 65, 127, 128, 129, 255, 257, 511, 512, 513, 1023, 1024, 1025, 4095, 4097, 5000, 8192,
      8193, 16385, 20000, 70001 }
    for n = 1, 40 do lengths[#lengths + 1] = n end
    local function results(on, dtype, n)
      local rows, out = n < 100 and 77 or 3, {}
      S.on(on, function()
        local all = rows * n
        local a = (gr.randn(2 * all + 4, "f64", { seed = n }) * 3):cast(dtype)
        if n > 2 then a[n + 5], a[2 * n + 6] = nan, -huge end
        gr.fill(a:slice(1, n), -huge) -- a row without a number
        for _, view in ipairs { a:slice(1, all), a:slice(4, all + 3), a:slice(all + 1, 2, -1),
          a:slice(3, 2 * all + 1, 2) } do
          out[#out + 1] = gr.softmax(view, { rows = rows }):bytes()
          local here = view:copy()
          out[#out + 1] = gr.softmax(here, { rows = rows, into = here }):bytes()
        end
      end)
      return out
    end
    for _, dtype in ipairs(floats) do
      for k, n in ipairs(lengths) do
        if on_gpu or k % 4 == 0 then
          local expected, got = results("cpu", dtype, n), results(on_gpu and device or "pretend", dtype, n)
          for i = 1, #expected do assert.is_true(expected[i] == got[i], dtype .. " " .. n .. ": " .. i) end
        end
      end
    end
  end)

  it("is stable, and gives what is exact exactly", function()
    S.same_all({ 0.25, 0.25, 0.25, 0.25 }, gr.softmax(gr.full(4, 1000, "f32")), "equal")
    S.same_all({ 0, 1 }, gr.softmax(gr.array({ -3e38, 3e38 }, "f32")), "far apart")
    S.same_all({ 0.5, 0, 0.5 }, gr.softmax(gr.array({ 700, -huge, 700 }, "f64")), "-infinity")
    S.same_all({ 1, 1, 1 }, gr.softmax(gr.array({ 5, -7, 0 }, "f16"), { rows = 3 }), "rows of one")
    assert.equal(0, #gr.softmax(gr.zeros(0, "f64")))
  end)

  it("gives e^x where results begin to be subnormal, whatever its neighbours are", function()
    for _, n in ipairs { 4, 100, 600, 5000, 40000 } do
      for _, least in ipairs { -706.9, -707.1, -708.5, -747 } do
        local x = gr.rand(n, "f64", { seed = n }) * 3 + (least - 0.01)
        x[1], x[2] = 0, least -- 0 is the largest, and the sum is 1
        assert.is_true(x:softmax():equal(x:exp()), n .. ", from " .. least)
      end
    end
  end)

  it("is NaN where it has no value, in that row alone", function()
    for _, dtype in ipairs(floats) do
      local got = gr.softmax(gr.array({ nan, 1, -huge, -huge, huge, 1, 2, 2 }, dtype), { rows = 4 })
      S.same_all({ nan, nan, nan, nan, nan, nan, 0.5, 0.5 }, got, dtype)
    end
  end)

  it("allocates nothing and takes one launch with into", function()
    local x, into = gr.randn(4096, "f32"), gr.zeros(4096, "f32")
    x:softmax { rows = 8, into = into }
    local d = S.counted(function() x:softmax { rows = 8, into = into } end)
    assert.equal(1, d.launches)
    assert.equal(0, d.allocations)
    assert.equal(0, d.copies)
  end)
end)
