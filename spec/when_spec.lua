-- Results for later. On the GPU or the CPU when the specs run there; the pretend device, which can put work off, in
-- processes of its own (GPUREDUCE_PRETEND_LOOKS: so many looks find a started operation unfinished).
local S = require "spec.support"
local gr = S.gr

local NEVER = "1000000000000" -- looks: only a wait ends it

-- Run a script with a, n and eq at hand where work is put off; it must print "fine".
local function put_off(looks, script, more)
  local environment = { GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_LOOKS = tostring(looks) }
  for name, value in pairs(more or {}) do environment[name] = value end
  local text, status = S.child_text(environment, [[
    local gr = require "gpureduce"
    local a = gr.arange(1, 1000, "f64")
    local function eq(x, y) if x ~= y then error(tostring(x) .. " is not " .. tostring(y), 2) end end
    local function message(f, ...) return (select(2, pcall(f, ...)):gsub("^[^\n]-:%d+: ", "")) end
    ]] .. script .. "\nprint 'fine'")
  if text ~= "fine\n" or status ~= 0 then error(text, 2) end
end

-- The k-th allocation of the device, a started operation's among them, is refused once: the call collects and tries
-- again. The norm's second look happens in get, which may fail for good, but then says so.
describe("an allocation that fails", function()
  it("keeps no future waiting", function()
    local script = [[
      local b = gr.array({ 1e200, 1e200 }, "f64")
      local function out_of(f, ...)
        local ok, x, why = pcall(f.get, f, 5)
        if ok then assert(why == nil, "not done") return x == ... or error(x) end
        assert(x:find("gpureduce: out of memory on pretend", 1, true), x)
        eq(message(f.get, f), (x:gsub("^[^\n]-:%d+: ", "")))
      end
      for _ = 1, 3 do
        assert(a:sum({ async = true }):get(5) == 500500)
        assert(gr.async(gr.max, a):get(5) == 1000)
        local f = gr.many({ { "sum", a }, { "min", a }, { "max", a }, { "sum", a }, { "dot", a, a } }, { async = true })
        local sum, min, max, again, dot = f:get(5)
        assert(sum == 500500 and min == 1 and max == 1000 and again == sum and dot == 333833500, tostring(min))
        assert(select(3, gr.many { { "sum", a }, { "min", a }, { "max", a } }) == 1000)
        assert(gr.async(gr.scan, a, "sum"):get(5)[1000] == 500500)
        out_of(gr.async(gr.norm, b), b:norm())
      end]]
    for k = 1, 40 do put_off(0, script, { GPUREDUCE_PRETEND_FAIL_AT = tostring(k) }) end
  end)
end)

describe("a future", function()
  it("gives what the call gives", function()
    local a, b = gr.arange(1, 1000), gr.linspace(0, 1, 1000)
    local names = { "sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax", "any", "all", "count" }
    for _, name in ipairs(names) do
      S.same(gr[name](a), gr.async(gr[name], a):get(), name)
      S.same(gr[name](a), a[name](a, { async = true }):get(), name)
    end
    for _, name in ipairs { "dot", "mse", "cosine" } do
      S.same(gr[name](a, b), gr.async(gr[name], a, b):get(), name)
      S.same(gr[name](a, b), gr[name](a, b, { async = true }):get(), name)
    end
    assert.same({ a:minmax() }, { gr.async(gr.minmax, a):get() })
    S.same(a:norm(1), gr.async(gr.norm, a, 1):get())
    S.same(a:reduce("max"), gr.async(gr.reduce, a, "max"):get())
    S.same(a:var { ddof = 1 }, gr.async(gr.var, a, { ddof = 1 }):get())
    S.same(a:sum { accumulate = "kahan" }, a:sum({ accumulate = "kahan", async = true }):get())
    assert.is_true(gr.async(gr.any, a):get())
  end)

  it("gives it again and again", function()
    local f = gr.arange(1, 10):sum { async = true }
    f:get()
    assert.equal(55, f:get())
    assert.equal(55, f:get(0))
    assert.is_true(f:done())
    assert.equal("gpureduce.future (done)", tostring(f))
  end)

  it("takes every function of the module, and array results", function()
    local a = gr.arange(1, 1000)
    local scan = gr.async(gr.scan, a, "sum")
    assert.equal(500500, scan:get()[1000])
    assert.equal(3, gr.async(gr.sum, a:slice(1, 2)):get())
    assert.same({ 3, 7 }, gr.async(gr.sum, a:slice(1, 4), { rows = 2 }):get():table())
    assert.same({ 3, 7 }, a:slice(1, 4):sum({ rows = 2, async = true }):get():table())
    assert.equal(1000, gr.async(gr.histogram, a, { bins = 4 }):get().counts:sum())
    assert.equal(0, select("#", gr.async(gr.release, gr.zeros(5)):get()))
    assert.equal(1000, gr.async(gr.async, gr.max, a):get():get())
  end)

  it("has the data of the call, whatever is written afterwards", function()
    local a = gr.arange(1, 1000, "f64")
    local f = gr.async(gr.sum, a)
    a:fill(0)
    local g = gr.async(gr.sum, a)
    a[1] = 7
    local h = gr.async(gr.sum, a)
    gr.arange(2, 2000, 2, "f64"):copy({ into = a })
    local i = gr.async(gr.sum, a)
    a:release()
    gr.trim()
    local other = gr.full(1000, 9, "f64")
    assert.equal(500500, f:get())
    assert.equal(0, g:get())
    assert.equal(7, h:get())
    assert.equal(1001000, i:get())
    assert.equal(9000, other:sum())
  end)

  it("is scaled when squares overflow, without a wait in the call or in done", function()
    local big = gr.array({ 3e200, 4e200 }, "f64")
    local f, g = gr.async(gr.norm, big), gr.async(gr.cosine, big, big)
    local tiny = gr.async(gr.norm, gr.array({ 3e-200, 4e-200 }, "f64"))
    local zero, inf = gr.async(gr.norm, gr.zeros(5, "f64")), gr.async(gr.norm, gr.full(3, math.huge, "f64"))
    local none = gr.async(gr.cosine, gr.zeros(2, "f64"), big)
    local looks = 0
    while not (f:done() and g:done() and tiny:done()) do looks = looks + 1 end
    S.same(big:norm(), f:get())
    S.same(big:cosine(big), g:get())
    S.same(gr.norm(gr.array({ 3e-200, 4e-200 }, "f64")), tiny:get())
    S.same(0, zero:get())
    S.same(math.huge, inf:get())
    assert.is_true(none:get() ~= none:get())
    local h, norm = gr.async(gr.norm, big), big:norm()
    big:fill(1) -- waits for the future, which would have to read them again
    S.same(norm, h:get())
    S.same(gr.norm(gr.ones(2, "f64")), big:norm())
  end)

  it("may be dropped, at any time and in any number", function()
    local a = gr.arange(1, 1000, "f64")
    for k = 1, 2000 do
      gr.async(k % 2 == 0 and gr.sum or gr.norm, a)
      if k % 500 == 0 then collectgarbage() end
    end
    collectgarbage()
    assert.equal(500500, a:sum())
  end)

  it("may be left behind when the state closes", function()
    for _, looks in ipairs { "0", NEVER } do
      local text, status = S.child_text({ GPUREDUCE_PRETEND_LOOKS = looks }, [[
        local gr = require "gpureduce"
        local a = gr.ones(100000, "f64")
        kept = { gr.async(gr.sum, a), gr.async(gr.norm, a), gr.async(gr.scan, a, "sum"), gr.timer() }
        collectgarbage "stop"
        print "fine"]])
      assert.equal("fine\n", text)
      assert.equal(0, status)
    end
  end)

  it("counts one synchronisation, and none when it was seen done", function()
    local a = gr.arange(1, 1000)
    a:sum()
    local separate = gr.backend() ~= "cpu"
    local f
    assert.equal(0, S.counted(function() f = gr.async(gr.sum, a) end).syncs)
    assert.equal(separate and 1 or 0, S.counted(function() f:get() end).syncs)
    assert.equal(0, S.counted(function() f:get() end).syncs)
    f = gr.async(gr.sum, a)
    assert.equal(0, S.counted(function() while not f:done() do end end).syncs)
    assert.equal(0, S.counted(function() f:get() end).syncs)
  end)

  it("leaves no memory behind", function()
    collectgarbage() collectgarbage()
    local before = gr.memory()
    for _ = 1, 100 do
      local big = gr.full(1000, 1e200, "f64")
      local f, g = gr.async(gr.norm, big), gr.async(gr.scan, big, "sum")
      big:release()
      f:get()
      g:get(0)
    end
    collectgarbage() collectgarbage()
    local after = gr.memory()
    assert.equal(before.live, after.live)
    assert.equal(before.arrays, after.arrays)
  end)
end)

describe("a future that runs", function()
  it("says so, without waiting", function()
    put_off(3, [[
      local f = gr.async(gr.sum, a)
      eq(tostring(f), "gpureduce.future (running)")
      local syncs = gr.stats().syncs
      eq(f:done(), false) eq(f:done(), false) eq(f:done(), false) eq(f:done(), true)
      eq(gr.stats().syncs, syncs)
      eq(f:get(), 500500)]])
  end)

  it("times out with nil and a word, and can be asked again", function()
    put_off(NEVER, [[
      local f = gr.async(gr.sum, a)
      local began = gr.clock()
      local value, word = f:get(0.02)
      local took = gr.clock() - began
      eq(value, nil) eq(word, "not done")
      eq(took >= 0.019, true) eq(took < 2, true)
      eq(f:get(0), nil)
      eq(tostring(f), "gpureduce.future (running)")
      eq(f:get(), 500500) -- no limit: it waits
      eq(f:get(0), 500500)]])
  end)

  it("is done within a time that is long enough", function()
    put_off(5, [[
      eq(gr.async(gr.sum, a):get(10), 500500)
      eq(gr.async(gr.scan, a, "sum"):get(10)[3], 6)
      eq(gr.async(gr.sum, a):get(math.huge), 500500)]])
  end)

  it("keeps the order of the queue: what is queued later happens later", function()
    put_off(NEVER, [[
      local into = gr.zeros(2, "f64")
      local f, g = gr.async(gr.sum, a), gr.async(gr.dot, a, a)
      a:fill(1)                       -- runs f and g first
      eq(f:done(), true) eq(g:done(), true)
      eq(f:get(), 500500) eq(g:get(), 333833500)
      local b = gr.array({ 1, 2, 3 })
      local h = gr.async(gr.sum, b)
      b[2] = 10                       -- the host's copy: the device's is as it was
      eq(h:get(0), nil)
      local i = gr.async(gr.sum, b)   -- an upload of the chunk runs h first
      eq(h:get(0), 6) eq(i:get(0), nil) eq(i:get(), 14)
      local j = gr.async(gr.max, a)
      gr.full(1000, 3, "f64"):copy { into = a }
      eq(j:get(0), 1)
      local k = gr.async(gr.sum, a)
      a:sum { into = into, at = 2 }
      eq(k:get(0), 3000) eq(into[2], 3000)]])
  end)

  it("outlives its arrays", function()
    put_off(NEVER, [[
      local b = gr.arange(1, 50000, "f64")
      local f, g = gr.async(gr.sum, b), gr.async(gr.norm, b)
      b:release()
      b = nil
      collectgarbage() collectgarbage()
      gr.trim()                                   -- frees the block: poisoned, after what still reads it has run
      local c = gr.full(50000, 7, "f64")          -- the same block from the pool, perhaps
      c:fill(8)
      eq(f:get(), 1250025000)
      eq(g:get(), gr.arange(1, 50000, "f64"):norm())
      eq(c:sum(), 400000)]])
  end)

  it("makes a write wait when it may have to read again", function()
    put_off(NEVER, [[
      for _, write in ipairs {
        function(x) x:fill(0) end,
        function(x) x[1] = 0 end,
        function(x) gr.zeros(2, "f64"):copy { into = x } end,
        function(x) gr.scan(x, "sum", { into = x }) end,
        function(x) x:slice(2, 2):fill(0) end,
        function(x) x:release() gr.trim() end,
      } do
        local x = gr.array({ 3e200, 4e200 }, "f64")
        local norm, f = x:norm(), gr.async(gr.norm, x)
        write(x)
        eq(f:get(), norm)
      end]])
  end)

  it("works when dropped, and when its arrays are dropped with it", function()
    put_off(NEVER, [[
      for k = 1, 300 do
        local x = gr.full(100, k, "f64")
        gr.async(gr.sum, x)
        gr.async(gr.norm, x)
        x = nil
        if k % 50 == 0 then collectgarbage() collectgarbage() gr.trim() end
      end
      eq(a:sum(), 500500)
      collectgarbage() collectgarbage()
      eq(gr.memory().arrays, 1)]])
  end)

  it("tells at get how the device failed, each time, and names the operation", function()
    put_off(NEVER, [[
      local f, g = gr.async(gr.sum, a), gr.async(gr.dot, a, a)
      local h = gr.async(gr.scan, a, "sum")
      eq(message(f.get, f), "gpureduce: sum: the device is lost")
      eq(message(f.get, f), "gpureduce: sum: the device is lost")
      eq(f:done(), true)
      eq(tostring(f), "gpureduce.future (failed)")
      eq(message(g.get, g, 0), "gpureduce: dot: the device is lost")
      eq(message(h.get, h), "gpureduce: scan: the device is lost")
      eq(a:copy():sum(), 500500)]], { GPUREDUCE_PRETEND_LOSE_AT = "1" })
    put_off(2, [[
      local f = gr.async(gr.max, a)
      local ok, ended
      repeat ended = f:done() until ended
      eq(message(f.get, f), "gpureduce: max: the device is lost")
      local g = gr.async(gr.min, a) -- the device is lost at the start: this too is for get to tell
      eq(g:done(), true)
      eq(message(g.get, g), "gpureduce: min: the device is lost")]], { GPUREDUCE_PRETEND_LOSE_AT = "1" })
  end)

  it("of a list of many waits as one", function()
    put_off(4, [[
      local f = gr.many({ { "sum", a }, { "minmax", a }, { "norm", a } }, { async = true })
      eq(f:done(), false)
      local sum, low, high, norm = f:get()
      eq(sum, 500500) eq(low, 1) eq(high, 1000) eq(norm, a:norm())
      eq(f:get(), 500500)]])
  end)
end)

describe("gr.many", function()
  local a, b = gr.arange(1, 1000), gr.linspace(0, 1, 1000)

  it("gives all results in order", function()
    assert.same({ a:sum(), a:dot(b), 1, 1000, true, a:norm(1) },
      { gr.many { { "sum", a }, { "dot", a, b }, { "minmax", a }, { "any", a }, { "norm", a, 1 } } })
    assert.equal(0, select("#", gr.many {}))
    local sums, n = gr.many { { "sum", a, { rows = 10 } }, { "count", a } }
    assert.same(a:sum({ rows = 10 }):table(), sums:table())
    assert.equal(1000, n)
    assert.equal(a:max(), gr.async(gr.many, { { "max", a } }):get())
  end)

  it("gives the bits of the single calls, in large lists of one kind and of several", function()
    local list, expected = {}, {}
    for k = 1, 40 do
      local x = gr.randn(k % 3 == 0 and 5000 or 300, k % 5 == 0 and "f64" or "f32", { seed = k })
      local name = ({ "sum", "max", "norm", "mean" })[k % 4 + 1]
      list[k], expected[k] = { name, x }, gr[name](x)
    end
    for k = 41, 60 do
      local x = gr.randn(4096, { seed = k })
      list[k], expected[k] = { "dot", x, x:slice(-1, 1, -1) }, gr.dot(x, x:slice(-1, 1, -1))
    end
    S.same_all(expected, { gr.many(list) })
  end)

  it("takes short lists of arrays alone at once, with what the single calls give", function()
    local names = { "sum", "prod", "min", "max", "minmax", "mean", "var", "std", "norm", "argmin", "argmax", "count",
      "any", "all" }
    local numbers = {}
    for k = 1, 1400 do numbers[k] = k * k * 7 % 100 end
    for _, dtype in ipairs { "f32", "f64", "i32", "u8" } do
      local both = gr.array(numbers, dtype)
      local x, y = both:slice(1, 700), both:slice(701, 1400)
      for first = 1, #names do
        local list, expected = {}, {}
        for k = 1, first % 9 + 1 do
          list[k] = k % 4 == 0 and { "dot", x, y } or { names[(first + k) % #names + 1], k % 2 == 0 and x or y }
          for _, v in ipairs { gr[list[k][1]](list[k][2], list[k][3]) } do expected[#expected + 1] = v end
        end
        S.same_all(expected, { gr.many(list) }, dtype, first)
      end
    end
    local large = gr.full(10, 1e200, "f64")
    assert.same({ large:norm(), large:sum(), 0 },
      { gr.many { { "norm", large }, { "sum", large }, { "sum", gr.zeros(0) } } })
  end)

  it("waits once", function()
    local x, y = gr.rand(100, { seed = 1 }), gr.rand(100, "f64", { seed = 2 })
    gr.many { { "sum", x }, { "sum", y } }
    local counts = S.counted(function()
      gr.many {
        { "sum", x }, { "max", x }, { "dot", x, x }, { "norm", x },
        { "mean", x }, { "minmax", x }, { "var", y }, { "sum", y },
      }
    end)
    assert.equal(gr.backend() == "cpu" and 0 or 1, counts.syncs)
    assert.equal(0, counts.bytes_down)
    local device = gr.backend():find("^cuda") and gr.backend() or "pretend"
    S.on(device, function()
      local z = gr.ones(50)
      z:sum()
      assert.equal(1, S.counted(function() gr.many { { "sum", z }, { "max", z }, { "any", z } } end).syncs)
    end)
  end)

  it("says which item is wrong", function()
    for _, row in ipairs {
      { { { "sum", a }, { "dot", a } },
        "gr.many: item 2: bad argument #2 to 'dot' (gpureduce.array expected, got no value)" },
      { { { "dot", a, b:slice(1, 5) } }, "gr.many: item 1: bad argument #2 to 'dot' (length 1000 expected, got 5)" },
      { { { "sum", a }, { "max", gr.zeros(0) } },
        "gr.many: item 2: bad argument #1 to 'max' (array is empty: 'max' needs an element)" },
      { { { "sum", a, { row = 2 } } },
        "gr.many: item 1: bad argument #2 to 'sum' (unknown option 'row' (did you mean 'rows'?))" },
      { { { "sums", a } }, "bad argument #1 to 'many' (item 1: no reduction 'sums' (did you mean 'sum'?))" },
      { { { "fill", a, 0 } }, "bad argument #1 to 'many' (item 1: no reduction 'fill' (did you mean 'all'?))" },
      { { { a, "sum" } }, "bad argument #1 to 'many' (item 1: name of a reduction expected, got gpureduce.array)" },
      { { "sum", a }, "bad argument #1 to 'many' (item 1: table like {\"sum\", a} expected, got string)" },
      { a, "bad argument #1 to 'many' (list of items like {\"sum\", a} expected, got gpureduce.array)" },
    } do
      assert.equal(row[2], S.message(gr.many, row[1]))
    end
    assert.equal("bad argument #2 to 'many' (unknown option 'asynk' (did you mean 'async'?))",
      S.message(gr.many, {}, { asynk = true }))
    assert.equal(500500, a:sum()) -- and nothing is gathered any more
  end)
end)

describe("gr.timer", function()
  it("gives the seconds of the work in between", function()
    local a = gr.rand(100000, { seed = 1 })
    local began, t = gr.clock(), gr.timer()
    for _ = 1, 20 do gr.scan(a, "sum") end
    local seconds = t:stop()
    local wall = gr.clock() - began
    assert.is_true(seconds > 0 and seconds <= wall + 1e-5, seconds .. " of " .. wall)
    assert.equal(seconds, t:stop())
  end)

  it("gives a function's results after its seconds", function()
    local a = gr.arange(1, 10)
    local seconds, low, high = gr.timer(gr.minmax, a)
    assert.is_true(seconds >= 0 and seconds < 10)
    assert.equal(1, low)
    assert.equal(10, high)
    local one, two = select(2, gr.timer(function(...) return ... end, "x", "y"))
    assert.equal("xy", one .. two)
    assert.truthy(S.message(gr.timer, function() error("mine", 0) end):find("^mine"))
  end)
end)

describe("wrong arguments", function()
  local f = gr.async(gr.sum, gr.ones(3))
  for _, row in ipairs {
    { "async", { print }, "bad argument #1 to 'async' (function of this module expected, got another function)" },
    { "async", { "sum", 5 }, "bad argument #1 to 'async' (function of this module expected, got string)" },
    { "async", {}, "bad argument #1 to 'async' (function of this module expected, got no value)" },
    { "async", { gr.sum, 5 }, "bad argument #1 to 'sum' (gpureduce.array expected, got number)" },
    { "sum", { gr.ones(3), { async = 1 } }, "bad argument #2 to 'sum' (option 'async': boolean expected, got number)" },
    { "timer", { 5 }, "bad argument #1 to 'timer' (function or nothing expected, got number)" },
  } do
    it(row[3], function()
      assert.equal(row[3], S.message(gr[row[1]], (unpack or table.unpack)(row[2]))) -- luacheck: ignore
    end)
  end

  it("to a future's methods", function()
    assert.equal("bad argument #2 to 'get' (seconds of 0 or more expected, got -1)", S.message(f.get, f, -1))
    assert.equal("bad argument #2 to 'get' (number expected, got string)", S.message(f.get, f, "1"))
    local nan = S.message(f.get, f, 0 / 0)
    assert.truthy(nan:find("^bad argument #2 to 'get' %(seconds of 0 or more expected, got %-?nan%)"))
    assert.equal("bad argument #1 to 'get' (gpureduce.future expected, got table)", S.message(f.get, {}))
    assert.equal("bad argument #1 to 'done' (gpureduce.future expected, got no value)", S.message(f.done))
    local t = gr.timer()
    assert.equal("bad argument #1 to 'stop' (gpureduce.timer expected, got gpureduce.future)", S.message(t.stop, f))
  end)

  it("name the line of the caller", function()
    local _, message = pcall(function() gr.async(gr.sum, 5) end)
    assert.truthy(message:find("when_spec.lua:%d+: bad argument"), message)
  end)
end)
