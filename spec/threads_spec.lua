-- The pool of threads: started late, asleep when idle, alive after fork, shared by Lua states, not seen in results.
local S = require "spec.support"
local build_host = require "spec.host"
local gr = S.gr

local function exists(name)
  local file = io.open(name)
  if file then file:close() end
  return file ~= nil
end

local function count_threads()
  local file = assert(io.open "/proc/self/status")
  local count = tonumber(file:read("*a"):match("Threads:%s*(%d+)"))
  file:close()
  return count
end

-- Every kind of work that is cut into pieces, as bytes. Lengths that no piece divides.
local function results()
  local x, y = gr.rand(700001, "f32", { seed = 1 }), gr.randn(350003, "f64", { seed = 2 })
  local whole = gr.bincount(gr.histogram(x, { bins = 65536, min = 0, max = 1 }).counts) -- i64
  local list = { whole:bytes() }
  local function add(what) list[#list + 1] = type(what) == "userdata" and what:bytes() or S.model.hex(what) end
  for _, a in ipairs { x, y } do
    for _, op in ipairs { "sum", "prod", "min", "max", "mean", "var", "argmin", "argmax", "count", "norm" } do
      add(gr[op](a))
    end
    add(gr.dot(a, a))
    add(gr.cosine(a, a))
    add(gr.sum(a, { accumulate = "kahan" }))
    for _, op in ipairs { "sum", "prod", "max" } do add(gr.scan(a, op)) end
    add(gr.scan(a, "sum", { exclusive = true, reverse = true }))
    for _, bins in ipairs { 100, 5000, 20000 } do add(gr.histogram(a, { bins = bins, min = -1, max = 1 }).counts) end
    add(gr.sum(a:slice(1, 350000), { rows = 70000 }))
    add(gr.sum(a:slice(1, 350000), { rows = 70000, axis = 1 }))
    add(gr.max(a:slice(1, 350000), { rows = 7, axis = 1 }))
    for _, columns in ipairs { 1, 20, 69 } do -- long columns, which are cut; beside each other, or too few for that
      local matrix = a:slice(1, 5003 * columns)
      for _, op in ipairs { "sum", "max", "var", "argmin", "argmax" } do
        local all = gr[op](matrix, { rows = 5003, axis = 1 })
        add(all)
        for c = 1, columns, 19 do -- each as if it were alone
          local one = gr[op](matrix:slice(c, -1, columns))
          assert(all[c] == one, ("%s of column %d of %d: %.17g, alone %.17g"):format(op, c, columns, all[c], one))
        end
      end
    end
  end
  add(gr.scan(gr.frombytes(x:bytes(), "i32"), "sum"))
  add(gr.bincount(gr.frombytes(x:bytes(), "u8")))
  return list
end

local before = [[
  package.path, package.cpath = %q, %q
  local gr = require "gpureduce"
  gr.use "cpu"
]]
before = before:format(package.path, package.cpath)

describe("threads", function()
  local host

  S.on_cpu_threads(setup, teardown)
  setup(function() host = build_host() end)

  it("do not change a bit, however many there are", function()
    gr.threads(1)
    local expected = results()
    for _, count in ipairs { 2, 3, 8 } do
      gr.threads(count)
      for k, bytes in ipairs(results()) do assert(bytes == expected[k], "result " .. k .. ", threads " .. count) end
    end
  end)

  it("start with the first large call, and sleep when there is nothing to do", function()
    if not exists "/proc/self/status" then return pending "no /proc here" end
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu", GPUREDUCE_THREADS = "4" }, [[
      local gr = require "gpureduce"
      local function count()
        local file = assert(io.open "/proc/self/status")
        local n = file:read("*a"):match("Threads:%s*(%d+)")
        file:close()
        return n
      end
      gr.sum(gr.ones(16)) -- looks for devices: a driver has threads of its own
      local start = count()
      gr.sum(gr.ones(10000))
      assert(count() == start, "a small call has started a thread")
      local a = gr.ones(2000000)
      assert(gr.sum(a) == 2000000)
      assert(count() - start == 3, "three more than the caller expected, got " .. count() - start)
      for _ = 1, 20 do gr.sum(a) end
      local used = os.clock()
      os.execute "sleep 0.3"
      used = os.clock() - used
      assert(used < 0.05, "seconds used while idle: " .. used)
      print "ok"]])
    assert.equal(0, status, text)
    assert.equal("ok\n", text)
  end)

  it("may run where the process may, wherever they have been", function()
    if not exists "/proc/self/status" then return pending "no /proc here" end
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu", GPUREDUCE_THREADS = "2" }, [[
      local gr = require "gpureduce"
      local a = gr.ones(1000000)
      for _ = 1, 20 do
        for _ = 1, 20 do gr.sum(a) end
        os.execute "sleep 0.01" -- the caller may wake elsewhere
      end
      local tasks = assert(io.popen "cat /proc/$PPID/task/*/status")
      local allowed, count = {}, 0
      for set in tasks:read("*a"):gmatch("Cpus_allowed:%s*(%S+)") do allowed[set], count = true, count + 1 end
      tasks:close()
      local first = next(allowed)
      assert(count >= 2 and not next(allowed, first), "threads: " .. count)
      print "ok"]])
    assert.equal(0, status, text)
    assert.equal("ok\n", text)
  end)

  it("work in a child of fork, and its child", function()
    if not host then return pending "no C compiler or no headers here" end
    gr.threads(3)
    local a = gr.rand(1000003)
    local sum, last = gr.sum(a), gr.scan(a)[-1]
    local function check() assert(gr.sum(a) == sum and gr.scan(a)[-1] == last and count_threads() >= 3) end
    check()
    local function child()
      check()
      assert(host.fork(check) == 0)
      check()
    end
    assert.equal(0, host.fork(child))
    check()
  end)

  it("serve several Lua states at once", function()
    if not host then return pending "no C compiler or no headers here" end
    gr.threads(2)
    local said = host.states(4, before .. [[
      local a, b = gr.rand(300007, "f32", { seed = 5 }), gr.rand(600011, "f64", { seed = 6 })
      local sum, dot, last = gr.sum(a), gr.dot(b, b), gr.scan(b)[-1]
      local counts = gr.histogram(a, { bins = 100, min = 0, max = 1 }).counts:bytes()
      for round = 1, 15 do
        assert(gr.sum(a) == sum and gr.dot(b, b) == dot and gr.scan(b)[-1] == last, round)
        assert(gr.histogram(a, { bins = 100, min = 0, max = 1 }).counts:bytes() == counts, round)
      end]])
    assert.equal(nil, said)
  end)
end)
