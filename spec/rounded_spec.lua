-- What would be f64, rounded to f32 by the option out: element operators, operators of one's own, histograms.
local S = require "spec.support"
local D = require "spec.data"
local gr, data = S.gr, D.odd
local unpack = table.unpack or unpack -- luacheck: ignore

describe("operators that are asked for f32", function()
  local unary = { "sqrt", "exp", "log1p", "atan", "cbrt", "square", "floor" }
  local binary = { "div", "pow", "atan2", "hypot", "add", "mod" }
  it("round their results of f64 once more, into an array too", function()
    S.on_each(function(device)
      for _, dtype in ipairs { "f64", "i32", "u8", "i64" } do
        local s, t = data(dtype, 130, 1), data(dtype, 130, 2)
        local a, b = gr.array(s, dtype), gr.array(t, dtype)
        local function check_rounded(name, ...)
          local plain = gr[name](...)
          if plain.dtype == "f64" then
            local arguments = { ... }
            arguments[#arguments + 1] = { out = "f32" }
            local got = gr[name](unpack(arguments))
            assert.equal("f32", got.dtype)
            assert.equal(plain:cast("f32"):bytes(), got:bytes(), device .. " " .. name .. " " .. dtype)
            local wide = gr.zeros(260)
            arguments[#arguments] = { out = "float32", into = wide:slice(1, -1, 2) }
            gr[name](unpack(arguments))
            assert.equal(got:bytes(), wide:slice(1, -1, 2):copy():bytes())
            arguments[#arguments] = { out = "f64" }
            assert.equal(plain:bytes(), gr[name](unpack(arguments)):bytes())
          end
        end
        for _, name in ipairs(unary) do check_rounded(name, a) end
        for _, name in ipairs(binary) do
          check_rounded(name, a, b)
          check_rounded(name, a, 3)
          check_rounded(name, 3, a)
        end
      end
      local X = gr.arange(1, 6, "i32"):matrix(2)
      local shares = X:div(gr.row(gr.array({ 1, 2, 3 }, "i32")), { out = "f32" })
      assert.same({ 2, 3 }, shares.shape)
      S.same_all({ 1, 1, 1, 4, 2.5, 2 }, shares:slice())
      assert.same({ 3, 2 }, X:transpose():sqrt({ out = "f32" }).shape)
    end)
  end)

  it("say where there is nothing to round", function()
    local u, d = gr.array({ 1, 2 }, "u8"), gr.array({ 1, 2 }, "f64")
    for _, row in ipairs {
      { "#3 to 'add' (option 'out': only for results of f64, 'add' of u8 gives u8)", gr.add, u, 1, { out = "f32" } },
      { "#2 to 'sqrt' (option 'out': only for results of f64, 'sqrt' of f32 gives f32)", gr.sqrt, gr.ones(2),
        { out = "f32" } },
      { "#2 to 'isnan' (option 'out': only for results of f64, 'isnan' of f64 gives u8)", gr.isnan, d,
        { out = "f32" } },
      { "#3 to 'div' (option 'out': f32 or f64 expected, got 'f16')", gr.div, u, 2, { out = "f16" } },
      { "#3 to 'div' (option 'into': f32[2] expected, got f64[2])", gr.div, u, 2, { out = "f32", into = d } },
      { "#3 to 'div' (unknown option 'outt' (did you mean 'out'?))", gr.div, u, 2, { outt = "f32", out = "f32" } },
      { "#2 to 'sqrt' (unknown option 'outt' (did you mean 'out'?))", gr.sqrt, d, { outt = "f32" } },
      { "#4 to 'clamp' (unknown option 'out' (did you mean 'into'?))", gr.clamp, d:matrix(1), gr.row(d), 9,
        { out = "f32" } },
      { "#4 to 'clamp' (unknown option 'outt')", gr.clamp, d, 0, 1, { outt = "f32" } },
      { "#4 to 'compare' (unknown option 'out' (did you mean 'into'?))", gr.compare, d, "<", 1, { out = "f32" } },
      { "#4 to 'clamp' (unknown option 'out' (did you mean 'into'?))", gr.clamp, d, 0, 1, { out = "f32" } },
    } do
      assert.equal("bad argument " .. row[1], S.message(unpack(row, 2)))
    end
  end)
end)

describe("operators of one's own that are asked for f32", function()
  local sums = { state = { "s", "c" }, map = { s = "f64(x) / 3", c = "i" },
    merge = { s = "s1 + s2", c = "max(c1, c2)" },
    identity = { s = 0, c = 0 }, finish = { "s", "c", "s / n" } }
  local one = { state = "s", map = "f64(x) / 3", merge = "s1 + s2", identity = 0 }
  local function f32(x) return gr.array({ x }, "f64"):cast("f32")[1] end

  it("round what is f64, of the whole, of vectors, in scans", function()
    S.on_each(function()
      local op, single = gr.operator(sums), gr.operator(one)
      local a = gr.arange(1, 600)
      local s, c, m = op(a)
      assert.same({ f32(s), c, f32(m) }, { op(a, { out = "f32" }) })
      for _, how in ipairs { { rows = 20 }, { rows = 20, axis = 1 }, { segments = { 1, 50, 50, 601 } },
        { rows = 20, keepdims = true }, { rows = 20, mask = a:compare(">", 100) } } do
        local plain = { op(a, how) }
        how.out = "f32"
        local got = { op(a, how) }
        for k, dtype in ipairs { "f32", "i64", "f32" } do
          assert.equal(dtype, got[k].dtype)
          assert.is_true(got[k]:allclose(plain[k]:cast(dtype), { nan_equal = true, rtol = 0, atol = 0 }))
          assert.same(plain[k].shape, got[k].shape)
        end
      end
      local into = gr.zeros(20)
      assert.equal(into, single(a, { rows = 20, out = "f32", into = into }))
      assert.is_true(into:equal(single(a, { rows = 20 }):cast "f32"))
      assert.equal(into, single(a, { out = "f32", into = into, at = 3 }))
      assert.equal(f32(single(a)), into[3])
      assert.equal(f32(single(a)), single(a, { out = "f32", async = true }):get())
      local scanned = single:scan(a, { out = "f32" })
      assert.is_true(scanned:equal(single:scan(a):cast "f32"))
      assert.is_true(a:copy():scan(single, { out = "f32", into = gr.zeros(600) }):equal(scanned))
      local x, y, z = op:scan(a, { out = "f32" })
      assert.same({ "f32", "i64", "f32" }, { x.dtype, y.dtype, z.dtype })
    end)
  end)

  it("say where there is nothing to round, and what an array must be", function()
    local single, a = gr.operator(one), gr.arange(1, 6)
    local same = gr.operator { state = "m", map = "x", merge = "max(m1, m2)", identity = 0 }
    assert.equal("bad argument #2 to 'operator' (option 'out': only for results of f64, 'operator' of f32 gives f32)",
      S.message(same, a, { out = "f32" }))
    assert.equal("bad argument #2 to 'operator' (option 'into': f32[2] expected, got f64[2])",
      S.message(single, a, { rows = 2, out = "f32", into = gr.zeros(2, "f64") }))
    assert.equal("bad argument #2 to 'operator' (option 'into': dtype f32 expected, got f64)",
      S.message(single, a, { out = "f32", into = gr.zeros(2, "f64"), at = 1 }))
  end)
end)

describe("histograms that are asked for f32", function()
  local x, w = gr.randn(1000, { seed = 1 }), gr.rand(1000, { seed = 2 })
  local function with(options, more)
    local all = {}
    for _, t in ipairs { options, more } do
      for key, value in pairs(t) do all[key] = value end
    end
    return all
  end
  local function same_rounded(wide, got)
    assert.equal("f32", got.dtype)
    assert.is_true(got:equal(wide:cast "f32"))
  end

  it("round sums of weights and densities; what lies outside stays as it is", function()
    S.on_each(function()
      local a, b = x:copy(), w:copy()
      local how = { bins = 5, min = -2, max = 2, weights = b }
      local wide, h = a:histogram(how), a:histogram(with(how, { out = "f32" }))
      same_rounded(wide.counts, h.counts)
      assert.same({ wide.below, wide.above }, { h.below, h.above })
      same_rounded(a:histogram(with(how, { density = true })).density,
        a:histogram(with(how, { density = true, out = "f32" })).density)
      local counted = a:histogram { bins = 5, density = true, out = "f32" }
      same_rounded(a:histogram({ bins = 5, density = true }).density, counted.density)
      assert.equal("i64", counted.counts.dtype)
      h.counts:fill(0)
      assert.equal(h, a:histogram(with(how, { out = "f32", into = h })))
      same_rounded(wide.counts, h.counts)
      assert.same({ wide.below, wide.above }, { h.below, h.above })
      local rows, wide_rows = a:histogram(with(how, { rows = 4, out = "f32" })), a:histogram(with(how, { rows = 4 }))
      same_rounded(wide_rows.counts, rows.counts)
      same_rounded(wide_rows[3].counts, rows[3].counts)
      assert.equal(wide_rows[3].above, rows[3].above)
      local pairs_of = { bins = { 3, 4 }, weights = b, density = true }
      local wide_pairs, got = a:histogram2d(b, pairs_of), a:histogram2d(b, with(pairs_of, { out = "f32" }))
      same_rounded(wide_pairs.counts, got.counts)
      same_rounded(wide_pairs.density, got.density)
      assert.same({ 3, 4 }, got.counts.shape)
      assert.equal(got, a:histogram2d(b, { bins = { 3, 4 }, weights = b, out = "f32", into = got }))
      same_rounded(wide_pairs.counts, got.counts)
      assert.is_true(#h:plot { width = 40 } > 0 and #h:svg() > 100 and #got:plot { width = 40 } > 0)
    end)
  end)

  it("say where there is nothing to round, and what an array must be", function()
    local h = x:histogram { bins = 5, weights = w, min = 0, max = 1 }
    local cells = x:histogram2d(w, { bins = 2, weights = w })
    for _, row in ipairs {
      { "#2 to 'histogram' (option 'out': only for results of f64, 'histogram' of f32 gives i64)", gr.histogram, x,
        { bins = 5, out = "f32" } },
      { "#2 to 'histogram' (option 'into': histogram of f32[5] expected, got f64[5])", gr.histogram, x,
        { bins = 5, weights = w, out = "f32", into = h } },
      { "#3 to 'histogram2d' (option 'out': only for results of f64, 'histogram2d' of i32 gives i64)", gr.histogram2d,
        x, w, { bins = 2, weights = gr.ones(1000, "i32"), out = "f32" } },
      { "#3 to 'histogram2d' (option 'into': histogram of 2 x 2 f32 expected, got another in its counts)",
        gr.histogram2d, x, w, { bins = 2, weights = w, out = "f32", into = cells } },
    } do
      assert.equal("bad argument " .. row[1], S.message(unpack(row, 2)))
    end
  end)
end)
