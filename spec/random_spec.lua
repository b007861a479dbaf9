-- Philox 4x32-10 in plain Lua (philox.lua) against its published vectors, and the module against that.
local S = require "spec.support"
local gr = S.gr

local P = require "spec.philox"
local philox, words = P.philox, P.words
local floor = math.floor

describe("Philox 4x32-10", function()
  it("gives the published numbers", function()
    local F = 4294967295
    local function check(counter, key, expected) S.same_all(expected, philox(counter, key), "philox") end
    check({ 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 })
    check({ F, F, F, F }, { F, F }, { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd })
    check({ 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 })
  end)

  it("gives the module's uniforms", function()
    for _, pair in ipairs { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 123456789, 42 }, { 2 ^ 40 + 17, 2 ^ 33 + 5 } } do
      local seed, stream = pair[1], pair[2]
      local bits = { f32 = 24, f16 = 11, bf16 = 8 }
      for dtype, width in pairs(bits) do
        local got = gr.rand(103, dtype, { seed = seed, stream = stream }):table()
        for k = 1, 103 do
          local w = words(floor((k - 1) / 4), seed, stream)[(k - 1) % 4 + 1]
          S.same(floor(w / 2.0 ^ (32 - width)) * 2.0 ^ -width, got[k], "rand", dtype, seed, stream, k)
        end
      end
      local got = gr.rand(51, "f64", { seed = seed, stream = stream }):table()
      for k = 1, 51 do
        local w, j = words(floor((k - 1) / 2), seed, stream), (k - 1) % 2
        local expected = (w[2 * j + 2] * 2097152.0 + floor(w[2 * j + 1] / 2048)) * 2.0 ^ -53
        S.same(expected, got[k], "rand f64", seed, stream, k)
      end
    end
    S.same(floor(0x6627e8d5 / 256) * 2.0 ^ -24, gr.rand(1, "f32", { seed = 0, stream = 0 })[1], "the first vector")
  end)

  it("gives the module's normals", function()
    local function near(expected, got, tolerance, k)
      local difference = math.abs(expected - got)
      if difference > tolerance * math.max(1, math.abs(expected)) then
        error(("normal %d: expected %.17g, got %.17g"):format(k, expected, got))
      end
    end
    local pi2 = 2 * math.pi
    local got = gr.randn(400, "f32", { seed = 7, stream = 3 }):table()
    local exact = gr.randn(400, "f64", { seed = 7, stream = 3 }):table()
    for k = 0, 398, 2 do
      local w = words(floor(k / 4), 7, 3, 1)
      local u, v = (w[k % 4 + 1] + 1) * 2.0 ^ -32, w[k % 4 + 2] * 2.0 ^ -32
      local r = math.sqrt(-2 * math.log(u))
      near(r * math.cos(pi2 * v), got[k + 1], 1e-6, k + 1)
      near(r * math.sin(pi2 * v), got[k + 2], 1e-6, k + 2)
      w = words(floor(k / 2), 7, 3, 1)
      u = (w[2] * 2097152.0 + floor(w[1] / 2048) + 1) * 2.0 ^ -53
      v = (w[4] * 2097152.0 + floor(w[3] / 2048)) * 2.0 ^ -53
      r = math.sqrt(-2 * math.log(u))
      near(r * math.cos(pi2 * v), exact[k + 1], 1e-13, k + 1)
      near(r * math.sin(pi2 * v), exact[k + 2], 1e-13, k + 2)
    end
  end)

  -- Devices make f32 with fewer operations; one number in 2^15 lies near the middle between two floats, and is made as
  -- the CPU makes all.
  it("gives the same bits of many numbers on every device", function()
    local function digests()
      local list = {}
      for k, name in ipairs { "rand", "randn", "exponential" } do
        for _, dtype in ipairs { "f32", "f16" } do
          list[#list + 1] = gr[name](2 ^ 19 + 3, dtype, { seed = 90 + k }):digest()
        end
      end
      return list
    end
    local here = digests()
    S.on_each(function() assert.same(here, digests()) end)
  end)
end)

describe("random numbers without a seed", function()
  -- In a state of its own, on a device: what it prints.
  local function run(text, device)
    text = "local gr = require 'gpureduce'\n" .. text
    local output, status = S.child_text({ GPUREDUCE_DEVICE = device or "cpu" }, text)
    assert.equal(0, status, output)
    return output
  end

  it("are new in each call, and uncorrelated", function()
    local n = 100000
    for _, x in ipairs { gr.rand(n, "f64") - 0.5, gr.randn(n, "f64") } do
      for _, y in ipairs { gr.rand(n, "f64") - 0.5, gr.randn(n, "f64") } do
        assert.is_true(math.abs(gr.cosine(x, y)) < 5 / math.sqrt(n))
      end
    end
    local x, y = gr.rand(1e6), gr.rand(1e6)
    local pi = 4 * (x * x + y * y):count { op = "<", value = 1 } / 1e6
    assert.is_true(math.abs(pi - math.pi) < 0.009, pi) -- five deviations and more
  end)

  it("of a seed do not correlate with its normals either", function()
    local n = 100000
    for seed = 0, 3 do
      local x, y = gr.rand(n, "f64", { seed = seed }) - 0.5, gr.randn(n, "f64", { seed = seed })
      assert.is_true(math.abs(gr.cosine(x, y)) < 5 / math.sqrt(n), seed)
    end
  end)

  it("start again with gr.seed, and are none of those of a seed", function()
    for _, seed in ipairs { 0, 1, 7, -3, 2 ^ 40 + 17 } do
      gr.seed(seed)
      local first, second = gr.rand(100, "f64"), gr.randn(100, "f64")
      local third = gr.rand(100, { dtype = "f64", into = gr.zeros(100, "f64") })
      gr.seed(seed)
      assert.is_true(gr.rand(100, "f64"):equal(first))
      assert.is_true(gr.randn(100, "f64"):equal(second))
      assert.is_true(gr.rand(100, "f64"):equal(third))
      assert.is_false(first:equal(third))
      for stream = 0, 3 do
        local named = { seed = seed, stream = stream }
        assert.is_false(gr.rand(100, "f64", named):equal(first))
        assert.is_false(gr.rand(100, "f64", named):equal(third))
        assert.is_false(gr.randn(100, "f64", named):equal(second))
      end
    end
    gr.seed(1)
    local one = gr.rand(100)
    gr.seed(2)
    assert.is_false(one:equal(gr.rand(100)))
    local before = gr.rand(9, { seed = 5 })
    gr.seed(5)
    assert.is_true(before:equal(gr.rand(9, { seed = 5 })))
  end)

  it("are those of streams that no caller can name", function()
    gr.seed(123456789)
    local taken = { gr.rand(51, "f64"):table(), gr.randn(52, "f64"):table(), gr.rand(51, "f64"):table() }
    for _, stream in ipairs { 0, 2 } do
      for k = 1, 51 do
        local w, j = words(floor((k - 1) / 2), 123456789, stream, 2), (k - 1) % 2
        S.same((w[2 * j + 2] * 2097152.0 + floor(w[2 * j + 1] / 2048)) * 2.0 ^ -53, taken[stream + 1][k], stream, k)
      end
    end
    local w = words(0, 123456789, 1, 3)
    local u = (w[2] * 2097152.0 + floor(w[1] / 2048) + 1) * 2.0 ^ -53
    local v = (w[4] * 2097152.0 + floor(w[3] / 2048)) * 2.0 ^ -53
    assert.is_true(math.abs(taken[2][1] - math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)) < 1e-13)
  end)

  it("are the same in every run and on every device", function()
    local text = "gr.rand(5, 'f16') print(gr.rand(1000):digest(), gr.randn(1000, 'f64'):digest())"
    local first = run(text)
    assert.equal(first, run(text))
    assert.equal(first, run(text, "pretend"))
    assert.equal(first, run(text, (gr.backend())))
    assert.equal(first, run("gr.seed(0) " .. text))
    assert.not_equal(first, run("gr.seed(1) " .. text))
  end)

  it("are not used up by calls that fail", function()
    gr.seed(3)
    local first = gr.rand(10)
    gr.seed(3)
    S.message(gr.rand, 10, { into = gr.zeros(9) })
    S.message(gr.rand, 10, "i32")
    assert.is_true(first:equal(gr.rand(10)))
  end)

  it("name what is wrong with a stream", function()
    assert.equal("bad argument #2 to 'rand' (option 'stream': 0 or more, below 2^62, expected, got "
      .. "4611686018427387904)", S.message(gr.rand, 5, { seed = 1, stream = 2 ^ 62 }))
    assert.equal(5, #gr.rand(5, { seed = -1, stream = 2 ^ 62 - 512 }))
  end)
end)

describe("random numbers", function()
  it("are f32 by default, in [0, 1)", function()
    local a = gr.rand(10000, { seed = 1 })
    assert.equal("f32", a.dtype)
    assert.is_true(a:min() >= 0)
    assert.is_true(a:max() < 1)
    assert.equal(5, #gr.rand(5))
    assert.equal("f64", gr.randn(5, "f64").dtype)
    assert.equal(0, #gr.rand(0))
  end)

  it("repeat for a seed, differ between seeds and streams", function()
    local a = gr.rand(1000, "f64", { seed = 5 })
    assert.is_true(a:equal(gr.rand(1000, "f64", { seed = 5 })))
    assert.is_true(a:equal(gr.rand(2000, "f64", { seed = 5 }):slice(1, 1000)))
    assert.is_false(a:equal(gr.rand(1000, "f64", { seed = 6 })))
    assert.is_false(a:equal(gr.rand(1000, "f64", { seed = 5, stream = 1 })))
  end)

  it("have the moments they should", function()
    local n = 1000000
    local u = gr.rand(n, "f64", { seed = 11 })
    assert(math.abs(u:mean() - 0.5) < 5 * math.sqrt(1 / 12 / n))
    assert(math.abs(u:var() - 1 / 12) < 5 * math.sqrt(1 / 180 / n))
    for _, dtype in ipairs { "f32", "f64" } do
      local z = gr.randn(n, dtype, { seed = 12 })
      assert(math.abs(z:mean()) < 5 / math.sqrt(n))
      assert(math.abs(z:var() - 1) < 5 * math.sqrt(2 / n))
      local h = gr.histogram(z, { edges = { -1e9, -1, 0, 1, 1e9 } })
      for k, p in ipairs { 0.158655, 0.341345, 0.341345, 0.158655 } do
        assert(math.abs(h.counts[k] / n - p) < 5 * math.sqrt(p * (1 - p) / n), k)
      end
    end
    local chi = gr.histogram(u, { bins = 100, min = 0, max = 1 }).counts
    local sum = 0
    for k = 1, 100 do sum = sum + (chi[k] - n / 100) ^ 2 / (n / 100) end
    assert(sum > 50 and sum < 170, sum) -- chi squared with 99 degrees of freedom
  end)

  it("narrow dtypes stay within them", function()
    for _, dtype in ipairs { "f16", "bf16" } do
      local a = gr.rand(10000, dtype, { seed = 2 })
      assert.is_true(a:max() < 1)
      assert(math.abs(a:mean() - 0.5) < 0.02)
      assert(math.abs(gr.randn(10000, dtype, { seed = 2 }):mean()) < 0.05)
    end
  end)
end)
