-- Work in the background on the CPU: the call returns at once, its result is that of the data at the call, and whatever
-- would change that data, or needs what is being written, waits.
local S = require "spec.support"
local build_host = require "spec.host"
local gr = S.gr

local N = 2 ^ 21 + 1 -- 3 divides it

describe("work in the background", function()
  local host

  S.on_cpu_threads(setup, teardown)
  setup(function() host = build_host() end)

  -- What async takes, and what comes of it as bytes.
  local function kinds()
    local a, b, d = gr.rand(N, { seed = 1 }), gr.rand(N, { seed = 2 }), gr.randn(N - 1, "f64", { seed = 3 })
    local ints = (a * 1000):cast("i32")
    local line = gr.fuse "a * 2 + b"
    local function e() return line { a = a, b = b } end
    local total = gr.operator { state = "s", map = "x", merge = "s1 + s2", identity = 0 }
    local list = {
      { gr.dot, a, b }, { gr.cosine, d, d }, { gr.mse, a, b }, { gr.norm, d }, { gr.minmax, ints },
      { gr.sum, a:slice(-2, 2, -1) }, { gr.var, a, { ddof = 1 } }, { gr.sum, a, { accumulate = "kahan" } },
      { gr.sum, a, { exact = true } }, { gr.count, a, { op = ">", value = 0.5 } },
      { gr.sum, d, { rows = 1024 } }, { gr.max, d, { rows = 1024, axis = 1 } }, { gr.minmax, d, { rows = 2 } },
      { gr.norm, d, { rows = 4 } }, { gr.sum, a, { segments = gr.array({ 1, 5, 70001, N + 1 }, "i64") } },
      { gr.scan, a, "sum" }, { gr.scan, ints, "max", { exclusive = true } },
      { gr.histogram, a, { bins = 100, min = 0, max = 1 } }, { gr.histogram, a, { bins = 10 } },
      { gr.histogram, a, { bins = 10, min = 0, max = 1, weights = b } }, { gr.bincount, (a * 20):cast("i32") },
      { gr.softmax, d, { rows = 2 } }, { gr.rmsnorm, d, nil, { rows = 1024 } }, { gr.copy, a }, { gr.exp, a },
      { gr.add, a, b }, { gr.compare, a, "<", b }, { gr.cast, d, "f32" }, { gr.quantile, a, 0.3 },
      { gr.sum, e() }, { gr.norm, e() }, { gr.dot, e(), e() }, { gr.scan, e(), "sum" },
      { gr.histogram, e(), { bins = 20, min = 0, max = 3 } }, { gr.sum, gr.lazy(d) * 2, { rows = 1024 } },
      { gr.sum, gr.lazy(d) * 2, { rows = 1024, axis = 1 } }, { gr.sum, e(), { exact = true } },
      { gr.reduce, a, total }, { gr.compact, a, a:compare("<", 0.25) }, { gr.full, N, 7 },
    }
    return list
  end

  local function bytes(...)
    local list = {}
    for k = 1, select("#", ...) do
      local x = select(k, ...)
      if type(x) == "table" then x = x.counts end
      list[k] = type(x) == "number" and S.model.hex(x) or type(x) == "userdata" and x:bytes() or tostring(x)
    end
    return table.concat(list, " ")
  end

  it("gives the bits of the call, in each kind of it, with any number of threads", function()
    local unpack, threads = rawget(_G, "unpack") or table.unpack, gr.threads()
    for _, count in ipairs { 1, 2, 3 } do
      gr.threads(count)
      local list, futures = kinds(), {}
      for k, call in ipairs(list) do futures[k] = gr.async(unpack(call, 1, 4)) end
      for k, call in ipairs(list) do
        assert(bytes(call[1](unpack(call, 2, 4))) == bytes(futures[k]:get()), "call " .. k .. ", threads " .. count)
      end
    end
    gr.threads(threads)
  end)

  it("is under way when the call returns", function()
    local a = gr.rand(N)
    local sum, late = a:sum(), 0
    for _ = 1, 20 do
      local futures = {}
      for k = 1, 20 do futures[k] = gr.async(gr.sum, a) end
      futures[21] = gr.many({ { "sum", a }, { "max", a } }, { async = true })
      futures[22] = a:sum { rows = 3, async = true }
      futures[23] = gr.async(gr.scan, a)
      futures[24] = gr.async(gr.sum, gr.lazy(a) * 2)
      for k = 20, 24 do late = late + (futures[k]:done() and 0 or 1) end
      for k = 1, 20 do assert.equal(sum, futures[k]:get()) end
      if late >= 5 then break end
    end
    assert.is_true(late >= 5, "never found it running")
  end)

  it("has the data of the call: who writes to an input waits", function()
    local sevens, places = gr.full(N, 7), gr.array({ 1, N - 1 }, "i64")
    for k, write in ipairs {
      function(x) x[N] = 1000 end,
      function(x) x:fill(0) end,
      function(x) x:slice(-1, 1, -2):fill(3) end,
      function(x) sevens:copy { into = x } end,
      function(x) gr.scan(x, "sum", { into = x }) end,
      function(x) gr.add(x, 1, { into = x }) end,
      function(x) (gr.lazy(sevens) * 2):eval { into = x } end,
      function(x) gr.put(x, places, 5) end,
      function(x) gr.softmax(x, { into = x }) end,
      function(x) gr.async(gr.fill, x, 9) end,
      function(x) gr.async(gr.scan, x, "sum", { into = x }) end,
      function(x) gr.sum(sevens, { into = x, at = N }) end,
      function(x)
        x:release()
        gr.trim()
        gr.full(N, 9)
      end,
    } do
      local x = gr.rand(N, { seed = k })
      local last, sum, norm = x:slice(-1000):sum(), x:sum(), x:norm()
      local f, g = gr.async(gr.sum, x), gr.many({ { "norm", x }, { "sum", x:slice(-1000) } }, { async = true })
      local h = gr.async(gr.sum, gr.lazy(x) * 2, { rows = 1 })
      write(x)
      assert.equal(sum, f:get())
      assert.same({ norm, last }, { g:get() })
      S.same(gr.sum(gr.rand(N, { seed = k }) * 2, { rows = 1 })[1], h:get()[1])
    end
  end)

  it("is waited for by who reads what it writes", function()
    local x = gr.rand(N, "f64", { seed = 1 })
    local scan = x:scan "sum"
    local last, other = scan[-1], x:copy()
    for k, read in ipairs {
      function(out) return out[N] == last end,
      function(out) return out:slice(-3):table()[3] == last end,
      function(out) return out:bytes() == scan:bytes() end,
      function(out) return out:max() == last end,
      function(out) return out:slice(N, N):sum() == last end,
      function(out) return out:equal(scan) end,
      function(out) return gr.add(out, 0)[N] == last end,
      function(out) return gr.async(gr.max, out):get() == last end,
      function(out) return gr.async(gr.max, out:slice(N, N)):get() == last end,
      function(out) return gr.digest(out) == gr.digest(scan) end,
      function(out)
        out[N] = 5
        return out[N] == 5 and out[N - 1] == scan[N - 1]
      end,
      function(out)
        out:fill(1)
        return out:sum() == N
      end,
    } do
      local out = gr.zeros(N, "f64")
      gr.async(gr.scan, x, "sum", { into = out }) -- nobody keeps the future
      collectgarbage()
      assert(read(out), "read " .. k)
      other:copy { into = x }
    end
  end)

  it("writes the same memory several times, in parts or anew", function()
    local X, rows = gr.randn(80000, "f64", { seed = 9 }), gr.ones(4 * (2 ^ 22 + 4)):matrix(4) -- a row is a work
    X[3] = 0 / 0
    for _, f in ipairs { gr.cov, gr.corr } do
      local expected = f(X, { rows = 2000, skipnan = true })
      assert.is_true(expected:equal(gr.async(f, X, { rows = 2000, skipnan = true }):get()))
    end
    local expected = gr.scan(rows, { axis = 2 })
    for _ = 1, 3 do assert.is_true(expected:equal(gr.async(gr.scan, rows, { axis = 2 }):get())) end
  end)

  it("goes on when squares overflow, with a write in between", function()
    local x = gr.full(N, 1e200, "f64")
    local norm, cosine = x:norm(), x:cosine(x)
    for _ = 1, 3 do
      local f, g = gr.async(gr.norm, x), gr.async(gr.cosine, x, x)
      x:fill(1)
      assert.same({ norm, cosine }, { f:get(), g:get() })
      x:fill(1e200)
      f = gr.async(gr.norm, x)
      gr.async(gr.fill, x, 2)
      assert.equal(norm, f:get())
      assert.equal(2, x[5])
      x:fill(1e200)
      f = gr.async(gr.norm, x)
      while not f:done() do end
      assert.equal(norm, f:get())
    end
  end)

  it("of a future that is dropped leaves nothing behind", function()
    collectgarbage() collectgarbage()
    local before = gr.memory()
    for k = 1, 40 do
      local x = gr.rand(N)
      gr.async(gr.sum, x)
      gr.async(gr.scan, x, "sum")
      gr.many({ { "sum", x }, { "norm", x } }, { async = true })
      pcall(gr.async, gr.scan, x, "sum", { into = 5 })
      pcall(gr.sum, x, { rows = 3, async = true, into = 5 })
      if k % 10 == 0 then collectgarbage() end
    end
    collectgarbage() collectgarbage()
    gr.async(gr.sum, gr.rand(N)):get() -- work that has ended is let go of with the next
    gr.async(gr.sum, gr.ones(N)):get()
    collectgarbage() collectgarbage()
    local after = gr.memory()
    assert.equal(before.arrays, after.arrays)
    assert.equal(before.live, after.live)
  end)

  it("costs nothing when there is none", function()
    gr.async(gr.sum, gr.rand(N)):get()
    local used = os.clock()
    os.execute "sleep 0.3"
    assert.is_true(os.clock() - used < 0.05)
  end)

  it("is counted when it is left", function()
    local x = gr.rand(N)
    local f
    assert.equal(1, S.counted(function() f = gr.async(gr.sum, x) end).launches)
    assert.equal(0, S.counted(function() f:get() end).launches)
  end)

  it("times out, and goes on", function()
    local x = gr.rand(N)
    local futures = {}
    for k = 1, 30 do futures[k] = gr.async(gr.scan, x, "sum") end
    local value, word = futures[30]:get(0)
    assert.is_true(value == nil and word == "not done" or value ~= nil)
    assert.equal(x:scan("sum")[-1], futures[30]:get(60)[-1])
  end)

  it("happens in several states at once", function()
    if not host then return pending "no C compiler or no headers here" end
    local said = host.states(4, ([[
      package.path, package.cpath = %q, %q
      local gr = require "gpureduce"
      gr.use "cpu"
      local a = gr.rand(600011, { seed = 6 })
      local sum, last = gr.sum(a), gr.scan(a)[-1]
      for round = 1, 10 do
        local f, g, h = gr.async(gr.sum, a), gr.async(gr.scan, a), gr.async(gr.sum, gr.lazy(a) + 0)
        while not f:done() do end
        assert(f:get() == sum and g:get()[-1] == last and h:get() == sum, round)
        gr.async(gr.scan, a) -- in flight when the state closes
      end]]):format(package.path, package.cpath))
    assert.equal(nil, said)
  end)

  it("ends with the state", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      local a = gr.rand(2 ^ 22)
      local began = gr.clock()
      gr.scan(a)
      local once = gr.clock() - began
      kept = {}
      for k = 1, 200 do kept[k] = gr.async(gr.scan, a, "sum", { into = gr.zeros(2 ^ 22) }) end
      print "fine"]])
    assert.equal("fine\n", text)
    assert.equal(0, status)
  end)

  it("is stopped by a limit of seconds, which get tells each time", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      local n = gr.threads() > 8 and 2 ^ 26 or 2 ^ 23 -- longer than the limit on as many cores
      local a, out = gr.rand(n), gr.zeros(n)
      gr.safe { seconds = 0.0005 }
      local f = gr.async(gr.scan, a, "sum", { into = out })
      local g = gr.many({ { "var", a }, { "sum", a } }, { async = true })
      for _ = 1, 2 do
        for _, future in ipairs { f, g } do
          while not future:done() do end
          local ok, why = pcall(future.get, future)
          assert(not ok and why:find("gpureduce: interrupted", 1, true), why)
          assert(tostring(future) == "gpureduce.future (failed)")
        end
      end
      assert(gr.async(gr.sum, a:slice(1, 70000)):get() > 0)
      print "fine"]])
    assert.equal("fine\n", text)
    assert.equal(0, status)
  end)

  it("leaves wrapped memory to its owner again at release", function()
    if not S.jit then return pending "wrapping by LuaJIT's cdata" end
    local ffi = require "ffi"
    local memory = ffi.new("float[?]", N)
    for k = 0, N - 1 do memory[k] = 1 end
    local x = gr.wrap(memory, { dtype = "f32", n = N })
    local f, g = gr.async(gr.sum, x), gr.async(gr.sum, x)
    x[1] = 5 -- by a function of this module: it waits
    assert.same({ N, N }, { f:get(), g:get() })
    f = gr.async(gr.sum, x)
    x:release()
    for k = 0, N - 1 do memory[k] = 9 end
    assert.equal(N + 4, f:get())
    local moving = gr.wrap(memory, { dtype = "f32", n = N, volatile = true })
    f = gr.async(gr.sum, moving) -- may change at any time: read in the call
    memory[0] = 0
    assert.equal(9 * N, f:get())
  end)

  it("does not wait for expressions of wrapped memory", function()
    local memory, why = require "spec.memory"()
    if not memory then return pending(why) end
    local n = 2 ^ 22
    local p = memory.new(4 * n)
    local x = gr.wrap(p, { dtype = "f32", n = n })
    local e, waited = gr.lazy(x) + 0.5, 0
    for _ = 1, 3 do
      for _, of in ipairs { e, gr.lazy(x) + 0.5, gr.fuse "x + 0.5" { x = x } } do
        local f = gr.async(gr.histogram, of, { bins = 4, min = 0, max = 1 })
        if f:done() then waited = waited + 1 end -- so much takes some milliseconds
        assert.equal(n, f:get().counts[3])
      end
    end
    assert.is_true(waited < 9)
    local f = gr.async(gr.histogram, e, { bins = 4, min = 0, max = 1 })
    x:release() -- it waits, and the memory is its owner's again, whoever else has it
    memory.free(p)
    assert.equal(n, f:get().counts[3])
  end)

  it("drops no frame for it: the benchmark of that, for a moment", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      arg = { 2 ^ 20, 12, 1 }
      dofile "bench/frames.lua"]])
    assert.truthy(text:find("^cpu, 1 threads; a sum of 1048576 f32, a histogram of 8294400 f32 in 256 bins; 12 frames "
      .. "of each loop\n"), text)
    local _, loops = text:gsub("  %d+ started, %d+ taken; p99 of a frame is %-?%d+%.%d+ ms longer", "")
    assert.equal(2, loops, text)
    assert.equal(0, status)
  end)
end)
