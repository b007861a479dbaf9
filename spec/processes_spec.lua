-- What the module is to its process: states that come and go, limits, a stopped collector, two copies.
local S = require "spec.support"
local gr = S.gr

-- A child process that is a host: the module is in none of its states but those that it opens. It must print "ok".
local function host(script, environment)
  local text, status = S.child_text(environment or { GPUREDUCE_DEVICE = "cpu", GPUREDUCE_THREADS = "3" }, ([[
    package.path, package.cpath = "./?.lua;" .. %q, %q
    local host = require "spec.host"()
    if not host then return print "no compiler" end
    local before = ("package.path, package.cpath = %%q, %%q\n"):format(package.path, package.cpath)
    local function status(name)
      local file = assert(io.open "/proc/self/status")
      local value = tonumber(file:read("*a"):match(name .. ":%%s*(%%d+)"))
      file:close()
      return value
    end
    local function check(said) if said then error(said, 2) end end
    ]]):format(package.path, package.cpath) .. script .. "\nprint 'ok'")
  if text == "no compiler\n" then return pending "no C compiler or no headers here" end
  assert.equal("ok\n", text)
  assert.equal(0, status)
end

describe("the last state of a process", function()
  it("gives memory and threads back when it closes, a thousand times", function()
    host [[
      local script = before .. [=[
        local gr = require "gpureduce"
        local a = gr.rand(300000)
        assert(gr.sum(a) == gr.async(gr.sum, a):get())
        kept = { gr.async(gr.scan, a), a:slice(2, 9), gr.histogram(a, { bins = 9 }), gr.fuse "a + 1" { a = a } }]=]
      check(host.opens(100, script))
      local memory, threads = status "VmRSS", status "Threads"
      check(host.opens(900, script))
      local grown = status "VmRSS" - memory
      assert(grown < 2048, "KiB more after 900 states: " .. grown)
      assert(threads == 1 and status "Threads" == 1, "threads left: " .. status "Threads")]]
  end)
end)

describe("a limit of bytes", function()
  it("is lowered, by gr.gc and by gr.safe, and never raised", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      local function message(f, ...) return (select(2, pcall(f, ...)):gsub("^[^\n]-:%d+: ", "")) end
      gr.gc { limit = 2 ^ 20 }
      gr.ones(2 ^ 17) -- half of it
      assert(message(gr.ones, 2 ^ 19) == "gpureduce: out of memory: arrays of 1.0 MiB at most, as gr.gc says: "
        .. "2.0 MiB asked, 0 bytes live", message(gr.ones, 2 ^ 19))
      assert(message(gr.gc, { limit = 2 ^ 21 }) == "bad argument #1 to 'gc' (option 'limit': no more than before "
        .. "expected, got 2097152)")
      gr.safe { bytes = 2 ^ 30 } -- which is more: the lower one stays
      assert(message(gr.ones, 2 ^ 19):find("arrays of 1.0 MiB at most, as gr.gc says", 1, true))
      gr.gc { limit = 2 ^ 16 }
      assert(message(gr.ones, 2 ^ 17):find("arrays of 64.0 KiB at most, as gr.gc says", 1, true))
      print "ok"]])
    assert.equal("ok\n", text)
    assert.equal(0, status)
  end)

  it("says what it wants", function()
    assert.equal("bad argument #1 to 'gc' (option 'limit': 1 byte or more expected, got 0)",
      S.message(gr.gc, { limit = 0 }))
    assert.equal("bad argument #1 to 'gc' (option 'limit': 0 or more bytes expected, got -1)",
      S.message(gr.gc, { limit = -1 }))
  end)
end)

describe("a collector that is stopped", function()
  it("stays so, whatever results take", function()
    if _VERSION == "Lua 5.1" and not S.jit then return pending "Lua 5.1 does not tell" end
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      gr.gc { budget = 2 ^ 20 }
      collectgarbage "stop"
      local gone = 0
      local proxy = newproxy and newproxy(true)
      if proxy then getmetatable(proxy).__gc = function() gone = 1 end
      else setmetatable({}, { __gc = function() gone = 1 end }) end
      proxy = nil
      for _ = 1, 100 do gr.ones(2 ^ 18) gr.ones(10) end
      assert(gone == 0 and gr.memory().arrays == 200 and gr.memory().collections == 0, gr.memory().arrays)
      collectgarbage "restart"
      for _ = 1, 100 do gr.ones(2 ^ 19) end -- each more than the budget, which no step makes room for
      assert(gone == 1 and gr.memory().collections > 0 and gr.memory().live < 2 ^ 23)
      print "ok"]])
    assert.equal("ok\n", text)
    assert.equal(0, status)
  end)
end)

describe("a second copy of the module in one state", function()
  it("says so, and both go on, each with arrays of its own", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      local path, first = os.tmpname(), nil
      for pattern in package.cpath:gmatch "[^;]+" do
        local file = io.open((pattern:gsub("?", "gpureduce")), "rb")
        if file then
          first = pattern:gsub("?", "gpureduce")
          local copy = assert(io.open(path, "wb"))
          copy:write(file:read "*a")
          copy:close()
          file:close()
          break
        end
      end
      local two = assert(package.loadlib(path, "luaopen_gpureduce"))("gpureduce")
      os.remove(path)
      assert(gr ~= two and gr._COPY == nil)
      assert(two._COPY == "copy 2 of this module in this Lua state is " .. path .. ", the first is " .. first
        .. ": neither takes arrays of the other", two._COPY)
      local a, b = gr.arange(1, 10), two.arange(1, 20)
      local function message(f, ...) return (select(2, pcall(f, ...)):gsub("^[^\n]-:%d+: ", "")) end
      local files = " of another copy of this module (" .. first .. ", " .. path .. "))"
      local expected = "(gpureduce.array expected, got gpureduce.array" .. files
      assert(message(gr.sum, b) == "bad argument #1 to 'sum' " .. expected, message(gr.sum, b))
      assert(message(two.dot, b, a) == "bad argument #2 to 'dot' " .. expected)
      assert(message(function() return a + b end) == "bad argument #2 to 'add' " .. expected)
      assert(message(gr.sum, a, { rows = 2, into = b })
        == "bad argument #2 to 'sum' (option 'into': gpureduce.array expected, got gpureduce.array" .. files)
      local f, g = gr.async(gr.sum, a), two.async(two.sum, b)
      assert(f:get() == 55 and g:get() == 210)
      assert(message(f.get, g) == "bad argument #1 to 'get' (gpureduce.future expected, got gpureduce.future" .. files)
      assert(gr.histogram(a, { bins = 2 }).counts:sum() == 10 and two.histogram(b, { bins = 2 }).counts:sum() == 20)
      assert(gr.lazy(a):sum() == 55 and two.lazy(b):sum() == 210)
      two.scope(function() two.ones(3) end)
      b:release()
      b, two = nil, nil
      collectgarbage() collectgarbage()
      assert(a:sum() == 55 and gr.memory().arrays == 1)
      assert(require "gpureduce" == gr)
      print "ok"]])
    assert.equal("ok\n", text)
    assert.equal(0, status)
  end)
end)
