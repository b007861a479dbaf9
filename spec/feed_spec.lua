-- Operations that take a formula's elements as they are made: the bits of the operation on the stored array, whatever
-- the dtype, the length, the threads and the shape of the inputs, and no memory for the elements.
local S = require "spec.support"
local gr = S.gr

local dtypes = { "u8", "i8", "u16", "i16", "u32", "i32", "i64", "f16", "bf16", "f32", "f64" }
local floats = { f16 = true, bf16 = true, f32 = true, f64 = true }

-- Drawn once for all dtypes, and for each device again.
local drawn = {}

local function values(n, dtype, seed)
  local key = n .. " " .. seed
  drawn[key] = drawn[key] or gr.clamp(gr.randn(n, "f32", { seed = seed }) * 20 + 40, 0, 100)
  return gr.cast(drawn[key], dtype)
end

local function same(expected, got, ...)
  assert.equal(expected.dtype, got.dtype)
  if not expected:equal(got) then S.same_all(expected:table(), got, ...) end
end

local function same_histograms(expected, got, ...)
  same(expected.counts, got.counts, "counts", ...)
  same(expected.tails, got.tails, "tails", ...)
  same(expected.edges, got.edges, "edges", ...)
end

-- f(e, x, ...): an expression and its stored elements, of many kinds, on one thread and two.
local function each_kind(lengths, f)
  local threads = gr.threads()
  S.on_each(function(device)
    drawn = {}
    for _, t in ipairs(dtypes) do
      for k, n in ipairs(lengths) do
        local a, b = values(n, t, k), values(n, t, k + 10)
        local e = gr.fuse "max(a, b) - min(a, b) + c" { a = a, b = b, c = 1 }
        local stored = e:eval()
        for _, count in ipairs { 1, 2 } do
          gr.threads(count)
          f(e, stored, device, t, n, count)
        end
      end
    end
  end)
  drawn = {}
  gr.threads(threads)
end

local function launches(f) return S.counted(f).launches end

describe("elements of a formula go into", function()
  it("histograms", function()
    each_kind({ 0, 1, 511, 5000, 300001 }, function(e, x, ...)
      local edges = gr.array({ 0, 1, 5, 5.5, 30, 90 }, "f64")
      local ways = { { bins = 7, min = 0, max = 60 }, { bins = 100, min = 1, max = 50 }, { edges = edges },
        { bins = 6000, min = 0, max = 64 }, { bins = 12, min = 1, max = 64, log = true }, { bins = 20 } }
      if not floats[(select(2, ...))] then ways[#ways + 1] = { bins = 10, modulo = true } end
      for _, way in ipairs(ways) do same_histograms(gr.histogram(x, way), gr.histogram(e, way), way.bins, ...) end
    end)
    local a = gr.rand(200000, "f64", { seed = 5 })
    local way = { bins = 70000, min = 0, max = 1 }
    same_histograms(gr.histogram(a * 2, way), gr.histogram(gr.lazy(a) * 2, way), "many bins")
    way.density = true
    S.same_all(gr.histogram(a * 2, way).density:table(), gr.histogram(gr.lazy(a) * 2, way).density, "density")
  end)

  it("histograms with weights, either of them or both, and bincount", function()
    each_kind({ 1, 600, 100003 }, function(e, x, device, t, n, ...)
      local way = { bins = 50, min = 0, max = 60 }
      for _, w in ipairs { "i32", "f32", "u8" } do
        local weights = values(n, w, 3)
        local lazy = gr.lazy(weights) * 2
        local stored = lazy:eval()
        way.weights = stored
        local expected = gr.histogram(x, way)
        same_histograms(expected, gr.histogram(e, way), "samples", device, t, w, n, ...)
        way.weights = lazy
        same_histograms(expected, gr.histogram(x, way), "weights", device, t, w, n, ...)
        same_histograms(expected, gr.histogram(e, way), "both", device, t, w, n, ...)
        if not floats[t] then
          expected = gr.bincount(x, { weights = stored })
          same(expected, gr.bincount(e, { weights = lazy }), "bincount", device, t, w, n, ...)
          local into = gr.zeros(#expected, expected.dtype)
          assert.equal(into, gr.bincount(e, { weights = lazy, into = into }))
          same(expected, into, "bincount into", device, t, w, n, ...)
        end
      end
      if not floats[t] then same(gr.bincount(x), gr.bincount(e), "bincount", device, t, n, ...) end
    end)
  end)

  it("scans", function()
    local ways = { {}, { exclusive = true }, { reverse = true }, { exclusive = true, reverse = true } }
    each_kind({ 0, 1, 1000, 131072, 300001 }, function(e, x, device, t, n, ...)
      for k, way in ipairs(ways) do
        if n > 1000 or n == 1 or k == 1 then
          for _, op in ipairs { "sum", "prod", "min", "max" } do
            same(gr.scan(x, op, way), gr.scan(e, op, way), op, k, device, t, n, ...)
          end
        end
      end
    end)
  end)

  it("scans into a view, and into what the formula reads", function()
    S.on_each(function()
      local a = gr.rand(5000, "f64", { seed = 7 })
      local e, expected = gr.lazy(a) * 3, gr.scan(a * 3, "sum")
      local room = gr.zeros(10000, "f64")
      same(expected, gr.scan(e, "sum", { into = room:slice(2, 10000, 2) }), "a view")
      assert.equal(0, room[1])
      assert.equal(a, gr.scan(e, "sum", { into = a }))
      same(expected, a, "in place")
      local b = gr.rand(5000, "f64", { seed = 8 })
      local next_to = gr.lazy(b:slice(1, 4999)) + b:slice(2, 5000)
      expected = gr.scan(next_to:eval(), "max")
      same(expected, gr.scan(next_to, "max", { into = b:slice(2, 5000) }), "shifted")
    end)
  end)

  it("compaction, as elements and as the predicate", function()
    each_kind({ 0, 1, 1000, 100003 }, function(e, x, device, t, n, ...)
      local mask = gr.compare(x, ">", 12)
      local kept = gr.compact(x, mask)
      same(kept, gr.compact(e, mask), "elements", device, t, n, ...)
      same(kept, gr.compact(x, e:gt(12)), "predicate", device, t, n, ...)
      same(kept, gr.compact(e, e:gt(12)), "both", device, t, n, ...)
      local room = gr.zeros(n + 3, t)
      same(kept, gr.compact(e, mask, { into = room }), "into", device, t, n, ...)
    end)
  end)

  it("exact sums, and zeros keep their sign", function()
    each_kind({ 1, 1000, 200001 }, function(e, x, device, t, n, ...)
      for _, op in ipairs { "sum", "mean", "norm", "var", "std" } do
        S.same(gr[op](x, { exact = true }), gr[op](e, { exact = true }), op, device, t, n, ...)
      end
      S.same(gr.norm(x, 1, { exact = true }), gr.norm(e, 1, { exact = true }), "norm 1", device, t, n, ...)
      local y = values(n, t, 9)
      for _, op in ipairs { "dot", "mse", "cosine" } do
        S.same(gr[op](x, y, { exact = true }), gr[op](e, y, { exact = true }), op, device, t, n, ...)
        S.same(gr[op](y, x, { exact = true }), gr[op](gr.lazy(y), e, { exact = true }), op, device, t, n, ...)
      end
      local s, r = gr.accumulator(), gr.accumulator()
      assert.equal(r:add(x):add_dot(x, y):bytes(), s:add(e):add_dot(e, gr.lazy(y)):bytes())
    end)
    S.on_each(function()
      local zeros = gr.lazy(gr.zeros(3000, "f32")) * -1
      S.same(-1 / math.huge, gr.sum(zeros, { exact = true }), "sum of -0")
      S.same(0.0, gr.sum(zeros * -1, { exact = true }), "sum of 0")
      local signs = gr.dot(zeros, gr.ones(3000), { exact = true })
      S.same(gr.dot(zeros:eval(), gr.ones(3000), { exact = true }), signs, "dot")
    end)
  end)

  it("columns", function()
    local shapes = { { 20, 3 }, { 15, 40 }, { 16, 200 }, { 300, 1 }, { 1500, 64 }, { 1100, 65 }, { 4200, 130 } }
    local lengths = {}
    for k, shape in ipairs(shapes) do lengths[k] = shape[1] * shape[2] end
    each_kind(lengths, function(e, x, device, t, n, ...)
      for _, shape in ipairs(shapes) do
        if shape[1] * shape[2] == n then
          local down, pairs_down = { rows = shape[1], axis = 1 }, { rows = shape[1], axis = 1, pairs = true }
          local y = values(n, t, 4)
          for _, op in ipairs { "sum", "mean", "var", "min", "argmax", "prod", "count", "norm" } do
            same(gr[op](x, down), gr[op](e, down), op, device, t, n, ...)
          end
          local low, high = gr.minmax(e, down)
          same(gr.min(x, down), low, "minima", device, t, n, ...)
          same(gr.max(x, down), high, "maxima", device, t, n, ...)
          same(gr.dot(x, y, pairs_down), gr.dot(e, y, pairs_down), "dot", device, t, n, ...)
          same(gr.mse(y, x, pairs_down), gr.mse(gr.lazy(y), e, pairs_down), "mse", device, t, n, ...)
          local v = values(shape[1], t, 5)
          same(gr.dot(x, v, down), gr.dot(e, v, down), "dot with one", device, t, n, ...)
        end
      end
    end)
    S.on_each(function() -- spread over another matrix than the one that is reduced
      local a = gr.rand(2 * 400 * 300, "f32", { seed = 1 }):slice(1, 240000, 2)
      local v, w = gr.rand(250, "f32"), gr.rand(480, "f32")
      local e = gr.fuse "a * row(v) + column(w) + f32(i)" { a = a, v = v, w = w }
      local x = e:eval()
      for _, rows in ipairs { 400, 1200, 40, 60000 } do
        local down = { rows = rows, axis = 1 }
        same(x:sum(down), e:sum(down), "spread", rows)
        same(x:argmin(down), e:argmin(down), "spread", rows)
      end
    end)
  end)

  it("the same from strided inputs, numbers on the device, rows, columns and positions", function()
    S.on_each(function()
      local rows, columns = 700, 300
      local n = rows * columns
      local a = gr.rand(2 * n, "f32", { seed = 1 }):slice(1, 2 * n, 2)
      local v, w, s = gr.rand(columns, "f32"), gr.rand(rows, "f32"), gr.array { 0.5 }
      local e = gr.fuse "a * row(v) + column(w) * scalar(s) + f32(i % 7)" { a = a, v = v, w = w, s = s }
      local x = e:eval()
      local way = { bins = 30, min = 0, max = 9 }
      same_histograms(gr.histogram(x, way), gr.histogram(e, way))
      same(gr.scan(x), gr.scan(e))
      same(gr.scan(x, "max", { reverse = true }), gr.scan(e, "max", { reverse = true }))
      same(gr.compact(x, gr.compare(a, ">", 0.5)), gr.compact(e, gr.compare(a, ">", 0.5)))
      S.same(gr.sum(x, { exact = true }), gr.sum(e, { exact = true }))
    end)
  end)
end)

describe("what feeds", function()
  S.on_cpu_threads(setup, teardown)

  it("takes one launch and no memory for the elements on the CPU", function()
    local n = 200000
    local a, b = gr.rand(n, { seed = 1 }), gr.rand(n, { seed = 2 })
    local e = gr.lazy(a) * b
    local i = gr.cast(e * 100, "i32")
    local out, mask = gr.zeros(n), gr.compare(a, ">", 0.5)
    local h = gr.histogram(a, { bins = 10, min = 0, max = 1 })
    local g = gr.histogram(a, { bins = 10, min = 0, max = 1, weights = i:eval() })
    local sums = gr.zeros(400, "f64")
    local calls = {
      histogram = function() gr.histogram(e, { bins = 10, min = 0, max = 1, into = h }) end,
      weights = function() gr.histogram(e, { bins = 10, min = 0, max = 1, weights = i, into = g }) end,
      scan = function() gr.scan(e, "sum", { into = out }) end,
      exact = function() e:sum { exact = true } end,
      norm = function() e:norm { exact = true } end,
      dot = function() gr.dot(e, a, { exact = true }) end,
      columns = function() e:sum { rows = 500, axis = 1, into = sums } end,
    }
    for name, call in pairs(calls) do
      call()
      assert.equal(1, launches(call), name)
      assert.equal(0, S.counted(call).allocations, name)
    end
    assert.equal(2, launches(function() gr.compact(e, mask, { into = out }) end)) -- one counts
  end)

  it("gives back at once what had to be stored", function()
    local n = 500000
    local a = gr.rand(n, { seed = 1 })
    local e = gr.lazy(a) * 2
    local out = gr.ones(n)
    collectgarbage()
    collectgarbage()
    local before = gr.memory().live
    collectgarbage "stop"
    for _ = 1, 10 do
      gr.histogram(e, { bins = 10 }).counts:release()
      gr.compact(a, e:gt(1), { into = out })
      gr.var(e, { exact = true })
      e:sum({ rows = n / 100, axis = 1 }):release()
      gr.bincount(gr.cast(e, "i32")):release()
    end
    local left = gr.memory().live - before
    collectgarbage "restart"
    assert.is_true(left < n, "left " .. left)
  end)

  it("is said by gr.explain", function()
    local e = gr.lazy(gr.ones(1000)) * 2
    assert.equal("formula", gr.explain("sum", e, { exact = true }).kernel)
    assert.equal("formula, stored", gr.explain("var", e, { exact = true }).kernel)
    assert.equal("formula, stored", gr.explain("sum", e, { exact = true, rows = 10 }).kernel)
    assert.equal("formula", gr.explain("sum", e, { rows = 20, axis = 1 }).kernel)
    assert.equal("formula, stored", gr.explain("sum", e, { rows = 10, axis = 1 }).kernel)
    assert.equal("formula, stored", gr.explain("dot", e, gr.ones(20), { rows = 20, axis = 1 }).kernel)
  end)

  it("stops when the host says so", function()
    local text = [[
      local gr = require "gpureduce"
      local e = gr.fuse "sqrt(a*a+1)" { a = gr.ones(20000000) }
      gr.safe { seconds = 0.002 }
      for _, f in ipairs { function() return e:scan() end, function() return e:sum { rows = 20000, axis = 1 } end,
        function() return e:sum { exact = true } end,
        function() return gr.histogram(e, { bins = 9, min = 0, max = 2 }) end } do
        local ok, message = pcall(f)
        print(ok, message)
      end]]
    local output = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, text)
    assert.truthy(output:find(("false\t[^\n]*interrupted\n"):rep(4)), output)
  end)

  it("meets finalizers that release what a call reads", function()
    S.on_each(function()
      for round = 1, 60 do
        local a, b = gr.ones(2000), gr.ones(2000)
        local e = gr.lazy(a) * b
        local victims = { a, b, e }
        local victim = victims[round % 3 + 1]
        for _ = 1, 3 do S.at_collection(function() pcall(victim.release, victim) end) end
        local pause = collectgarbage("setpause", 0)
        for _, f in ipairs { function() return #gr.scan(e) end, function() return gr.sum(e, { exact = true }) end,
          function() return #gr.compact(e, e:gt(0)) end,
          function() return gr.histogram(e, { bins = 1, min = 0, max = 2, weights = e }).counts[1] end } do
          local ok, got = pcall(f)
          assert.is_true(not ok or got == 2000, tostring(got))
        end
        collectgarbage("setpause", pause)
      end
    end)
  end)
end)
