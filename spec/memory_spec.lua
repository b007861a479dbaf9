-- Memory that Lua does not see: budget, retry after refusal, release, and nothing leaked.
local S = require "spec.support"
local gr = S.gr

local MIB = 1024 * 1024

local function settle()
  collectgarbage()
  collectgarbage()
end

describe("memory", function()
  it("is counted while arrays live", function()
    settle()
    local before = gr.memory()
    local a = gr.array((" "):rep(MIB), "u8")
    local with = gr.memory()
    assert.is_true(with.live >= before.live + MIB)
    assert.is_true(with.live < before.live + 2 * MIB)
    assert.equal(before.arrays + 1, with.arrays)
    assert.is_true(with.peak >= with.live)
    local v = a:slice(1, 10)
    assert.equal(with.live, gr.memory().live) -- a view costs nothing
    a:release()
    assert.equal(with.live, gr.memory().live) -- the view keeps it
    v:release()
    assert.equal(before.live, gr.memory().live)
    assert.equal(before.arrays, gr.memory().arrays)
  end)

  it("costs nothing for zeros until they are used", function()
    settle()
    local before = gr.memory().live
    local a = gr.zeros(1000 * MIB, "u8")
    assert.equal(before, gr.memory().live)
    a:release()
  end)

  it("has the five figures and the budget", function()
    local m = gr.memory()
    for _, name in ipairs { "live", "pooled", "peak", "arrays", "collections", "budget" } do
      assert.equal("number", type(m[name]), name)
    end
  end)

  it("goes back to the system by trim", function()
    local a = gr.array((" "):rep(4 * MIB), "u8")
    a:release()
    gr.trim()
    assert.equal(0, gr.memory().pooled)
  end)

  it("is reused from the pool", function()
    local bytes = (" "):rep(MIB)
    local a = gr.array(bytes, "u8")
    a:release()
    local before = gr.stats().allocations
    for _ = 1, 50 do gr.array(bytes, "u8"):release() end
    assert.equal(before, gr.stats().allocations)
  end)

  it("of small arrays that are gone serves the next of their size, which are zeros until written", function()
    local before = gr.backend()
    gr.use "cpu"
    for _, n in ipairs { 1, 100, 8000 } do
      gr.trim()
      gr.array(("x"):rep(n), "u8"):release()
      local gone, taken = gr.memory(), gr.stats().allocations
      assert.is_true(gone.pooled >= n)
      local a = gr.zeros(n, "u8")
      assert.equal(gone.live, gr.memory().live) -- not yet used
      assert.equal(("\0"):rep(n), a:bytes())
      local now = gr.memory()
      assert.equal(taken, gr.stats().allocations)
      assert.equal(gone.live + gone.pooled, now.live)
      assert.equal(0, now.pooled)
      assert.equal(gone.host + gone.pooled, now.host)
      a:release()
      assert.equal(gone.pooled, gr.memory().pooled)
      gr.trim()
      assert.equal(0, gr.memory().pooled)
    end
    gr.use(before)
  end)

  it("stays within 300 MiB for 5000 arrays of 1 MiB beside 200000 tables", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      local heap = {}
      for k = 1, 200000 do heap[k] = { k } end
      local bytes = (" "):rep(1048576)
      local kept = {}
      for k = 1, 5000 do
        local a = gr.array(bytes, "u8")
        a[1] = 1
        kept[k % 32] = a
      end
      local m = gr.memory()
      print(m.peak / 1048576, m.collections)
      local resident = 0
      for line in io.lines("/proc/self/status") do
        local kib = line:match("^VmHWM:%s*(%d+)")
        if kib then resident = kib / 1024 end
      end
      print(resident)]])
    assert.equal(0, status, text)
    local peak, collections, resident = text:match("^(%S+)%s+(%S+)%s+(%S+)")
    assert.is_true(tonumber(peak) < 300, text)
    assert.is_true(tonumber(collections) > 10, text)
    assert.is_true(tonumber(resident) < 400, text)
  end)

  it("of results that nobody keeps comes back without full collections, where the collector knows the young", function()
    if _VERSION ~= "Lua 5.4" then return pending "needs Lua 5.4" end
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "pretend" }, [[
      collectgarbage "generational"
      local gr = require "gpureduce"
      local x, kept = gr.ones(2 ^ 19, "f64"), nil
      for _, n in ipairs { 2 ^ 18, 2 ^ 19, 2 ^ 20, 2 ^ 21 } do
        local before = gr.memory().collections
        for k = 1, 200 do kept = gr.ones(n, "f64"):fill(k) end
        print(gr.memory().collections - before, kept[n])
      end
      local e, evaluated = gr.lazy(x) + 1, gr.memory().collections
      for _ = 1, 200 do kept = e:eval() end
      print(gr.memory().collections - evaluated, kept[1])
      assert(gr.memory().peak < 256 * 2 ^ 20, gr.memory().peak)

      -- What has been kept for a while is old, and only a full collection finds it.
      local list, before = {}, gr.memory().collections
      for k = 1, 400 do list[k % 20] = gr.ones(2 ^ 18, "f64"):fill(k) end
      assert(gr.memory().collections > before and gr.memory().live < 256 * 2 ^ 20, gr.memory().live)
      print(x:sum())]])
    assert.equal("0\t200.0\n0\t200.0\n0\t200.0\n0\t200.0\n0\t2.0\n524288.0\n", text)
    assert.equal(0, status)
  end)

  it("follows a budget that is set", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      gr.gc { budget = 8 * 1048576 }
      assert(gr.memory().budget == 8 * 1048576)
      local bytes = (" "):rep(1048576)
      for k = 1, 200 do local a = gr.array(bytes, "u8"); a[1] = 2 end
      print(gr.memory().peak / 1048576)]])
    assert.equal(0, status, text)
    assert.is_true(tonumber(text) <= 10, text)
  end)

  it("is found again after a refusal: collect, trim, try once more", function()
    local environment = { GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_CAPACITY = tostring(16 * MIB) }
    local text, status = S.child_text(environment, [[
      local gr = require "gpureduce"
      collectgarbage "stop"
      for k = 1, 100 do assert(gr.ones(1048576, "u8"):sum() == 1048576) end -- garbage of 100 MiB on 16
      local kept = {}
      local ok, message = pcall(function()
        for k = 1, 100 do
          kept[k] = gr.ones(1048576, "u8")
          kept[k]:sum()
        end
      end)
      print(ok, message)
      print(#kept)
      kept = nil
      assert(gr.ones(8 * 1048576, "u8"):sum() == 8 * 1048576) -- and all is well afterwards
      print "fine"]])
    assert.equal(0, status, text)
    assert.truthy(text:find("^false"), text)
    assert.truthy(text:find("out of memory", 1, true), text)
    assert.truthy(text:find("asked", 1, true), text)
    assert.truthy(text:find("fine", 1, true), text)
    local count = tonumber(text:match("\n(%d+)\n"))
    assert.is_true(count >= 12 and count <= 17, text)
  end)

  -- The k-th allocation of the device is refused once: the module collects, trims and tries again.
  it("is not leaked by whichever allocation fails", function()
    local work = [[
      local gr = require "gpureduce"
      local function work()
        local a = gr.array({ 1, 2, 3, 4, 5, 6 }, "f32")
        local s = gr.scan(a, "sum")
        local h = gr.histogram(a, { bins = 3, min = 0, max = 6 })
        local r = gr.sum(a, { rows = 2 })
        local n = gr.norm(gr.array({ 1e200, 1e200 }, "f64"), 2, { rows = 2 })
        return a:sum() + s:sum() + h.counts:sum() + r:sum() + a:dot(s) + n:max() / 1e200
      end
      local before = gr.memory()
      local expected = 21 + 56 + 6 + 21 + 266 + 1
      for k = 1, 20 do
        assert(work() == expected)
        collectgarbage()
        collectgarbage()
        assert(gr.memory().arrays == before.arrays and gr.memory().live == before.live)
      end
      print "fine"]]
    for k = 1, 16 do
      local text, status = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_FAIL_AT = tostring(k) }, work)
      assert.equal("fine\n", text, status)
    end
  end)

  it("is what a device lacks that does not open for want of it", function()
    local text = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_CAPACITY = "100" }, [[
      local gr = require "gpureduce"
      print(select(2, pcall(gr.ones, 3)))
      print(select(2, pcall(gr.use, "pretend")))
      print(gr.use "cpu", gr.ones(3, "i32"):sum())]])
    local refusal = "gpureduce: out of memory: device 'pretend' does not open\n"
    assert.equal(refusal .. refusal .. "cpu\t3\n", text)
    text = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_FAIL_AT = "1" }, [[
      local gr = require "gpureduce"
      print(gr.ones(3, "i32"):sum(), (gr.backend()))]])
    assert.equal("3\tpretend\n", text)
  end)

  it("of an impossible size is refused before anything happens", function()
    settle()
    local before = gr.memory().live
    assert.truthy(S.message(function() local a = gr.ones(2 ^ 50, "f64") return a end):find("out of memory", 1, true))
    assert.truthy(S.message(function() local a = gr.ones(2 ^ 62, "f64") return a end):find("out of memory", 1, true))
    settle()
    assert.equal(before, gr.memory().live)
  end)

  it("survives 100000 arrays made and dropped", function()
    settle()
    local before = gr.memory()
    for k = 1, 100000 do
      local a = gr.array({ k, 2 }, "f64")
      if k % 10000 == 0 then assert.equal(k + 2, a:sum()) end
    end
    settle()
    local after = gr.memory()
    assert.equal(before.live, after.live)
    assert.equal(before.arrays, after.arrays)
  end)

  it("is given back when a state closes with live arrays", function()
    local text, status = S.child_text({}, [[
      local gr = require "gpureduce"
      kept = { gr.ones(100000), gr.scan(gr.ones(10), "sum"), gr.histogram(gr.ones(5), { bins = 2 }) }
      print(kept[1]:sum())]])
    assert.equal(0, status, text)
    assert.truthy(text:find("^100000"), text)
  end)
end)
