-- fork in the middle of what other threads do: locks that they hold, work in the background, a device that is lost.
local S = require "spec.support"
local build_host = require "spec.host"
local gr = S.gr

local before = ([[
  package.path, package.cpath = %q, %q
  local gr = require "gpureduce"
  gr.use "cpu"
]]):format(package.path, package.cpath)

describe("a child of fork", function()
  local host

  S.on_cpu_threads(setup, teardown)
  setup(function() host = build_host() end)

  -- The other states take and give blocks of the pool, use its threads, leave work for later, and come and go. Each
  -- child of the hundreds has 20 seconds.
  it("goes on, whatever other threads did at that moment", function()
    if not host then return pending "no C compiler or no headers here" end
    gr.threads(3)
    local a = gr.rand(200003)
    local sum, last = gr.sum(a), gr.scan(a)[-1]
    host.start(3, before .. [[
      local ends = gr.clock() + 6
      local a = gr.rand(100003)
      while gr.clock() < ends do
        for _ = 1, 20 do
          gr.sum(a)
          gr.zeros(70000):fill(1)
          local f = gr.async(gr.scan, a)
          f:get()
        end
        gr.trim()
        gr.threads(3)
      end]])
    local failed
    local ends, count = gr.clock() + 5, 0
    while gr.clock() < ends and count < 400 and not failed do
      count = count + 1
      local status = host.fork(function()
        assert(gr.sum(a) == sum and gr.scan(a)[-1] == last)
        local f = gr.async(gr.sum, a)
        assert(f:get() == sum)
        gr.trim()
      end)
      if status ~= 0 then failed = ("child %d ended with %d"):format(count, status) end
    end
    local said = host.join()
    assert.equal(nil, said)
    assert.equal(nil, failed)
    assert.is_true(count >= 20, "children: " .. count)
  end)

  it("has the work that was under way, as its parent has", function()
    if not host then return pending "no C compiler or no headers here" end
    gr.threads(2)
    local a = gr.rand(2 ^ 22 + 3, "f32", { seed = 3 })
    local sum, last = gr.sum(a), gr.scan(a)[-1]
    for _ = 1, 5 do
      local futures, into = {}, a:copy()
      for k = 1, 6 do futures[k] = gr.async(gr.sum, a) end
      futures[7] = gr.async(gr.scan, into, { into = into }) -- in place: half of it must not be done twice
      local function check()
        for k = 1, 6 do
          while not futures[k]:done() do end
          assert(futures[k]:get() == sum)
        end
        assert(futures[7]:get()[-1] == last)
      end
      assert.equal(0, host.fork(check))
      check()
    end
  end)

  -- A child of its own, which has 20 seconds: threads that wait for each other's locks would wait for good.
  it("comes while other threads ask for the memory of a device", function()
    if not host then return pending "no C compiler or no headers here" end
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "pretend" }, [[
      package.path = "./?.lua;" .. package.path
      local host = require "spec.host"()
      local asks = ([=[
        package.path, package.cpath = %q, %q
        local gr = require "gpureduce"
        local a, ends = gr.ones(70000), gr.clock() + 3
        while a:sum() == 70000 and gr.clock() < ends do for _ = 1, 1000 do gr.memory() end end]=])
        :format(package.path, package.cpath)
      print(host.fork(function()
        local gr = require "gpureduce"
        local a, ends = gr.ones(70000), gr.clock() + 3
        host.start(2, asks)
        while gr.clock() < ends do
          assert(host.fork(function() assert(gr.memory().device > 0 and a:sum() == 70000) end) == 0)
        end
        assert(host.join() == nil)
      end))]])
    assert.equal("0\n", text)
    assert.equal(0, status)
  end)

  it("of a parent with a device has the CPU, and is told so", function()
    if not host then return pending "no C compiler or no headers here" end
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_FORK = "1" }, [[
      package.path = "./?.lua;" .. package.path
      local gr, host = require "gpureduce", require "spec.host"()
      local here, there, cpu = gr.arange(1, 1000, "f64"), gr.arange(1, 1000, "f64"), nil
      assert(here:sum() == 500500 and there:sum() == 500500)
      local filled = there:copy()
      filled:fill(2) -- only the device has it
      local parent = gr.backend()
      gr.use "cpu"
      cpu = gr.arange(1, 10)
      gr.use(parent)
      local function child()
        assert(cpu:sum() == 55)                      -- arrays of the CPU are as they were
        assert(here:sum() == 500500)                 -- the host has all of it: it becomes the CPU's
        local ok, why = pcall(filled.sum, filled)
        assert(not ok and why:find("elements that only pretend had are gone with the device", 1, true), why)
        assert(gr.ones(7):sum() == 7 and gr.backend() == "cpu")
        ok, why = pcall(gr.use, "pretend")
        assert(not ok and why:find("device 'pretend' is lost", 1, true), why)
      end
      local function checked()
        local ok, why = pcall(child)
        if not ok then io.stderr:write(why, "\n") error(why) end
      end
      assert(host.fork(checked) == 0)
      assert(filled:sum() == 2000 and here:sum() == 500500)
      print "ok"]])
    assert.equal("ok\n", text)
    assert.equal(0, status)
  end)
end)
