-- Scripts that mean harm, or do it by accident: finalizers that run in the middle of a call, traps in options tables,
-- methods of one object called on another. Each of these read or wrote memory that was not its own, or crashed the
-- host; the sanitizers' run of this file shows that none does so any more.
local S = require "spec.support"
local gr = S.gr

local at_collection = S.at_collection

-- Calls attempt() again and again while the collector runs finalize() at every allocation that it can. Where each step
-- takes long (Lua 5.1 and 5.3 walk the whole heap then) there are fewer attempts.
local function amid(attempts, finalize, attempt)
  local armed, ran, start = true, false, gr.clock()
  local function arm()
    at_collection(function()
      if not armed then return end
      finalize()
      ran = true
      arm()
    end)
  end
  local pause, multiplier = collectgarbage("setpause", 0), collectgarbage("setstepmul", 10000)
  local k = 0
  repeat
    for _ = 1, 3 do arm() end
    k = k + 1
    attempt(k)
  until ran and (k >= attempts or k >= 20 and gr.clock() - start > 0.2)
  armed = false
  collectgarbage("setpause", pause)
  collectgarbage("setstepmul", multiplier)
  collectgarbage()
end

local devices = { "cpu", "pretend" }

describe("a finalizer in the middle of a call", function()
  for _, device in ipairs(devices) do
    it("reduces by itself, not into the results that gr.many and async gather, on " .. device, function()
      S.on(device, function()
        local a, b = gr.ones(10000, "f64"), gr.full(10000, 2, "f64")
        local inner
        amid(300, function() inner = gr.sum(b) end, function()
          local rows, most = gr.many { { "sum", a, { rows = 5000 } }, { "max", a } }
          assert.equal(5000, #rows)
          assert.equal(1, most)
          assert.equal(10000, gr.async(gr.sum, a):get())
          assert.equal(10000, (gr.many { { "sum", a, { exact = true } }, { "mean", a } }))
        end)
        assert.equal(20000, inner)
      end)
    end)

    it("starts a gr.many of its own, on " .. device, function()
      S.on(device, function()
        local a = gr.ones(1000, "f64")
        amid(200, function()
          local s, m = gr.many { { "sum", a }, { "max", a, {} } }
          assert(s == 1000 and m == 1)
        end, function()
          local s, m, r = gr.many { { "sum", a }, { "max", a, {} }, { "min", a, { rows = 10 } } }
          assert.equal(1000, s)
          assert.equal(1, m)
          assert.equal(10, #r)
        end)
      end)
    end)

    -- Each operation gets operands that a finalizer may release at any allocation: it gives its result, or says so.
    local function released_amid(name, make, call)
      it("releases the operands of " .. name .. ", on " .. device, function()
        S.on(device, function()
          local operands
          amid(150, function()
            for _, each in pairs(operands or {}) do each:release() end
          end, function()
            operands = make()
            local ok, message = pcall(call, operands)
            if not ok then
              assert.truthy(tostring(message):find("has been released", 1, true) or
                tostring(message):find("have been released", 1, true), tostring(message))
            end
          end)
        end)
      end)
    end

    local function two() return { a = gr.linspace(0, 1, 200, "f64"), b = gr.ones(200, "f64") } end
    released_amid("add", two, function(o) return gr.add(o.a, o.b) end)
    released_amid("operators", two, function(o) return o.a + o.b * 2 - 1 end)
    released_amid("clamp and cast", two, function(o) return o.a:clamp(0, 0.5):cast("f32") end)
    released_amid("where and compare", two, function(o) return gr.where(o.a:compare("<", o.b), o.a, o.b) end)
    released_amid("compact", two, function(o) return o.a:compact(o.b:compare(">", o.a)) end)
    local function looked_up()
      return { a = gr.linspace(0, 1, 200, "f64"), b = gr.ones(200, "f64"), i = gr.arange(1, 200, "i32"),
        m = gr.ones(200, "u8") }
    end
    released_amid("take", looked_up, function(o) return o.a:take(o.i), o.a:take(o.i, { into = o.b }) end)
    released_amid("put", looked_up, function(o)
      return o.a:put(o.i, o.b), o.a:put(o.i, o.b, { op = "add" }), o.a:put(o.i, 1, { op = "min" })
    end)
    released_amid("random orders and choices", looked_up, function(o)
      return o.a:shuffle { into = o.b }, o.a:choice(9, { weights = o.b }),
        o.a:choice(9, { weights = o.b, replace = false }), gr.permutation(200, "i32", { into = o.i })
    end)
    released_amid("arrays in brackets", looked_up, function(o)
      o.a[o.m], o.b[o.i] = o.b, 3
      return o.a[o.i], o.a[o.m]
    end)
    released_amid("sums", two, function(o)
      return o.a:sum(), o.a:sum { rows = 10 }, o.a:dot(o.b, { rows = 10, pairs = true })
    end)
    released_amid("sums into", two, function(o)
      return o.a:sum { into = o.b, at = 3 }, o.a:sum { rows = 200, into = o.b }
    end)
    released_amid("exact sums", two, function(o)
      return o.a:sum { exact = true, rows = 10 }, o.a:dot(o.b, { exact = true })
    end)
    released_amid("segments", function()
      return { a = gr.ones(200), b = gr.array({ 1, 50, 201 }, "i64") }
    end, function(o) return o.a:sum { segments = o.b } end)
    released_amid("predicates", two, function(o) return o.a:count { op = ">", value = 0.5, rows = 10 } end)
    released_amid("scans", two, function(o) return o.a:scan(), o.b:scan("max", { into = o.a }) end)
    released_amid("rows", two, function(o)
      return gr.rmsnorm(o.a, nil, { rows = 2 }), gr.softmax(o.a, { rows = 2 })
    end)
    released_amid("histograms", two, function(o)
      return o.a:histogram { bins = 4 }, o.a:histogram { edges = { 0, 0.5, 1 }, weights = o.b, density = true }
    end)
    released_amid("histograms into", function()
      local h = gr.ones(8):histogram { bins = 4, min = 0, max = 1 }
      local parts = { a = gr.ones(200), counts = h.counts, tails = h.tails, edges = h.edges }
      parts.h = { release = function() end, h }
      return parts
    end, function(o) return o.a:histogram { bins = 4, min = 0, max = 1, into = o.h[1] } end)
    released_amid("bincounts", function()
      return { a = gr.array({ 1, 2, 3 }, "i32"), b = gr.zeros(4, "i64") }
    end, function(o) return o.a:bincount { into = o.b } end)
    released_amid("quantiles", two, function(o)
      local one = o.b:slice(1, 1)
      return o.a:quantile { 0.1, 0.9 }, o.a:median(), o.a:quantile({ 0.5 }, { into = one })
    end)
    released_amid("elements", two, function(o)
      return o.a:table(), o.a:bytes(), o.a:slice(1, 99, 2):bytes(), o.a[1], tostring(o.a)
    end)
    released_amid("copies", two, function(o)
      return o.a:copy(), o.a:copy { into = o.b }, o.a:equal(o.b), o.a:fill(1), o.a:info()
    end)
    released_amid("tensors", two, function(o)
      return gr.fromdlpack(o.a:dlpack()), gr.fromdlpack(o.b:matrix(10):dlpack { versioned = false }, { copy = true }),
        gr.fromdlpack(o.b:dlpack { copy = true }):touch()
    end)
    released_amid("views", two, function(o) return o.a:slice(2, 20):slice(3):sum() end)
    released_amid("many", two, function(o)
      return gr.many { { "sum", o.a }, { "dot", o.a, o.b }, { "norm", o.b }, { "sum", o.b, { rows = 10 } } }
    end)
    released_amid("async", two, function(o) return gr.async(gr.norm, o.a):get(), gr.async(gr.add, o.a, o.b):get() end)
    released_amid("ladders", function()
      return { a = gr.ones(200), b = gr.ones(200) }
    end, function(o)
      return o.a:dot(o.b, { kernel = "two_phase" }), o.a:sum { kernel = "warp_block_atomic", timed = 2 }
    end)
    released_amid("accumulators", two, function(o)
      return gr.accumulator():add(o.a):add_dot(o.a, o.b):value(), gr.digest(o.a)
    end)

    it("writes to a mask while what it keeps is counted, on " .. device, function()
      S.on(device, function()
        local a = gr.ones(3000, "f64")
        local mask = gr.zeros(3000, "u8")
        amid(200, function() mask:fill(1) end, function()
          mask:fill(0)
          mask[7] = 1
          local n = #a:compact(mask)
          assert(n == 1 or n == 3000, n)
        end)
      end)
    end)

    it("writes larger samples while bins are counted, on " .. device, function()
      S.on(device, function()
        local a = gr.zeros(1000, "i32")
        amid(200, function() a:fill(9999) end, function()
          a:fill(0)
          local n = #a:bincount()
          assert(n == 1 or n == 10000, n)
        end)
      end)
    end)

    it("moves the borders of segments, on " .. device, function()
      S.on(device, function()
        local a, offsets = gr.ones(100), gr.array({ 1, 50, 101 }, "i64")
        local refused = false
        amid(300, function() offsets[2] = 1e15 end, function()
          offsets[2] = 50
          local ok, message = pcall(gr.sum, a, { segments = offsets })
          local wanted = "positions from 1 to 101 expected, but position 2 is 1000000000000000"
          assert.truthy(ok or message:find(wanted, 1, true), message)
          refused = refused or not ok
        end)
      end)
    end)
  end

  -- Each makes another one, and an array beyond the budget, which asks for a collection that would run the other.
  it("collects no garbage when it passes the budget: a script would dig down to the end of the stack", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      local kept, depth, deepest, runs, failed, armed = gr.ones(300), 0, 0, 0, 0, true
      gr.gc { budget = 1000 }
      local function at_collection(f)
        local proxy = rawget(_G, "newproxy")
        if not proxy then return setmetatable({}, { __gc = f }) end
        getmetatable(proxy(true)).__gc = f
      end
      local function arm()
        at_collection(function()
          if not armed then return end
          arm()
          runs, depth = runs + 1, depth + 1
          deepest = math.max(deepest, depth)
          if not pcall(gr.sum, kept, { rows = 30 }) then failed = failed + 1 end
          depth = depth - 1
        end)
      end
      for _ = 1, 3 do arm() end
      for _ = 1, 20 do gr.ones(300) end
      armed = false
      print(runs >= 20, deepest <= 3, failed, gr.memory().live < 100000)]])
    assert.equal("true\ttrue\t0\ttrue\n", text)
    assert.equal(0, status)
  end)

  -- Before Lua 5.4 the error of a finalizer comes out of the call that made room.
  it("raises, and the next call past the budget collects again", function()
    local text = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      gr.gc { budget = 1000 }
      for _ = 1, 3 do
        if newproxy then getmetatable(newproxy(true)).__gc = function() error("on purpose", 0) end
        else setmetatable({}, { __gc = function() error("on purpose", 0) end }) end
      end
      for _ = 1, 10 do pcall(gr.ones, 300) end
      for _ = 1, 1000 do gr.ones(300) end
      print(gr.memory().live < 100000)]])
    assert.truthy(text:find("true\n$"), text)
  end)

  it("meets arrays, futures and timers that have been collected before it", function()
    local outcome = {}
    do
      local keeper = {}
      at_collection(function()
        for name, f in pairs {
          array = function() return keeper.array:sum() end,
          element = function() return keeper.array[1] end,
          future = function() return keeper.future:get() end,
          timer = function() return keeper.timer:stop() end,
          text = function() return tostring(keeper.array) end,
        } do
          outcome[#outcome + 1] = name .. ": " .. tostring(select(2, pcall(f)))
        end
      end)
      keeper.array, keeper.timer = gr.ones(10), gr.timer()
      keeper.future = gr.async(gr.sum, keeper.array)
    end
    for _ = 1, 4 do collectgarbage() end
    assert.equal(5, #outcome)
  end)
end)

describe("options tables", function()
  local a = gr.ones(10)
  local trap = setmetatable({}, { __index = function() a:release() end })

  it("are read raw: a metatable with __index is refused, in C and in Lua", function()
    for _, f in ipairs {
      function() gr.sum(a, trap) end, function() gr.scan(a, "sum", trap) end, function() gr.add(a, 1, trap) end,
      function() gr.histogram(a, trap) end, function() gr.many({ { "sum", a } }, trap) end,
      function() gr.rand(3, trap) end, function() gr.quantile(a, 0.5, trap) end, function() gr.gc(trap) end,
      function() a:histogram { bins = 2 }:plot(trap) end, function() gr.svg(trap) end,
      function() gr.load("/nonexistent", "f32", trap) end,
    } do
      assert.truthy(S.message(f):find("options table without __index expected: options are read raw", 1, true))
    end
    assert.equal(10, a:sum())
  end)

  it("may have a metatable otherwise", function()
    assert.equal(5, #a:sum(setmetatable({ rows = 5 }, { __name = "mine" })))
  end)

  it("keep strings that a finalizer takes away", function()
    local options = {}
    amid(200, function()
      options.kernel = nil
    end, function(k)
      options.kernel = "two" .. "_phase" .. (" "):rep(k % 3):sub(2, 1)
      local ok, message = pcall(gr.sum, a, options)
      assert(ok or message:find("kernel", 1, true), message)
    end)
  end)

  it("name strings with a NUL", function()
    assert.equal("bad argument #2 to 'sum' (option 'kernel': string without NUL expected)",
      S.message(gr.sum, a, { kernel = "two_phase\0x" }))
  end)
end)

describe("metatables", function()
  local a = gr.ones(3)
  local objects = { array = a, accumulator = gr.accumulator(), future = gr.async(gr.sum, a), timer = gr.timer(),
    histogram = a:histogram { bins = 2 }, histogram2d = a:histogram2d(a, { bins = 2 }) }

  it("are hidden: getmetatable gives a name", function()
    for name, object in pairs(objects) do
      assert.equal("gpureduce." .. name, getmetatable(object))
      assert.has_error(function() setmetatable({}, getmetatable(object)) end)
    end
  end)

  it("check self in every method and metamethod, even when they have been got hold of", function()
    local wrong = { {}, 1, "x", true, io.stdout, gr.sum, coroutine.create(function() end), false }
    for name, object in pairs(objects) do
      local meta, functions = debug.getmetatable(object), {}
      for key, f in pairs(meta) do
        if type(f) == "function" then functions[key] = f end
      end
      for key, f in pairs(type(meta.__index) == "table" and meta.__index or {}) do functions[key] = f end
      for key, f in pairs(functions) do
        for _, self in ipairs(wrong) do
          if not (key == "__gc" and name == "array") then pcall(f, self, 1, 1) end
          pcall(f, self, "dtype")
        end
        for other, foreign in pairs(objects) do
          if other ~= name and key ~= "__gc" then pcall(f, foreign, 1, 1) end
        end
        pcall(f)
      end
    end
    assert.equal(3, a:sum())
    local index = debug.getmetatable(a).__index
    assert.has_error(function() return index(gr.accumulator(("\255"):rep(16)), 1) end)
    assert.equal("gpureduce.array expected, got gpureduce.accumulator", S.message(index, objects.accumulator, 1))
    assert.equal("gpureduce.array expected, got table", S.message(index, {}, "dtype"))
    assert.equal("gpureduce.array expected, got no value", S.message(debug.getmetatable(a).__newindex))
  end)

  it("say what is wrong with self", function()
    assert.equal("bad argument #1 to 'get' (gpureduce.future expected, got gpureduce.timer)",
      S.message(objects.future.get, objects.timer))
    assert.equal("bad argument #1 to 'add' (gpureduce.accumulator expected, got gpureduce.array)",
      S.message(objects.accumulator.add, a, a))
  end)
end)

describe("the module", function()
  it("is one in a state, however often it is required", function()
    local loaded = package.loaded.gpureduce
    package.loaded.gpureduce = nil
    local again = require "gpureduce"
    package.loaded.gpureduce = loaded
    collectgarbage()
    collectgarbage()
    assert.equal(gr, again)
    assert.equal(3, gr.ones(3):sum())
  end)

  it("refuses another copy of itself in the same state, whose arrays it would take for its own", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr, path = require "gpureduce", nil
      for template in package.cpath:gmatch "[^;]+" do
        local file = io.open((template:gsub("%?", "gpureduce")), "rb")
        if file then
          path = path or os.tmpname()
          local copy = io.open(path, "wb")
          copy:write(file:read "*a")
          copy:close()
          file:close()
          break
        end
      end
      local open = assert(package.loadlib(path, "luaopen_gpureduce"))
      os.remove(path)
      print(pcall(open, "gpureduce"))
      print(gr.ones(3):sum())]])
    assert.equal("false\tgpureduce: another copy of this module is open in this Lua state, which takes one\n3.0\n",
      (text:gsub("\n3\n", "\n3.0\n")))
    assert.equal(0, status)
  end)

  it("refuses calls of finalizers that run after its own, when the state closes", function()
    local code = [[
      local gr
      local function finalize() io.write(tostring(select(2, pcall(gr.ones, 3))), "\n") end
      if newproxy then
        KEEP = newproxy(true)
        getmetatable(KEEP).__gc = finalize
      else
        KEEP = setmetatable({}, { __gc = finalize })
      end
      gr = require "gpureduce"
      gr.ones(3)
    ]]
    local out = S.child_text({}, code)
    assert.truthy(out:find("gpureduce: the Lua state is closing", 1, true), out)
  end)
end)
