-- A long call can be stopped: Ctrl-C sets a hook of the Lua state, which a call sees between two of its pieces.
local S = require "spec.support"

-- A child whose script gets SIGINT from a process of its own, so long after it asked for one, and can tell whether that
-- has been sent: on a busy machine it may be much later. The interpreter listens while it runs a chunk (os.execute does
-- not).
local start = [[
  local gr = require "gpureduce"
  local pid = assert(io.open("/proc/self/stat")):read("*n")
  local marker = os.tmpname()
  local function interrupt_after(seconds)
    os.remove(marker)
    io.popen(("(sleep %g; kill -INT %d; touch %s) > /dev/null 2>&1 &"):format(seconds, pid, marker)):close()
  end
  local function is_sent()
    local file = io.open(marker)
    if file then file:close() end
    return file and os.remove(marker)
  end
]]

local function environment(threads)
  return { "timeout -k 5 600 ", GPUREDUCE_DEVICE = "cpu", GPUREDUCE_THREADS = tostring(threads) }
end

describe("Ctrl-C", function()
  -- The calls go on for good, or until the time above, unless they are ended.
  it("ends a script within a call", function()
    local text = S.child_text(environment(1), start .. [[
      local many = gr.ones(2 ^ 21)
      interrupt_after(0.3)
      print(pcall(gr.sum, many, { kernel = "two_phase", timed = 1e6 }))]])
    assert.truthy(text:find("interrupted", 1, true), text)
  end)

  it("ends the wait for a pipe's other end", function()
    S.with_file(function(pipe)
      os.execute(("rm -f %s && mkfifo %s"):format(pipe, pipe))
      for _, call in ipairs { "gr.load, %q, 'u8'", "gr.csv, %q", "gr.save, gr.ones(3), %q" } do
        local text = S.child_text(environment(1), start
          .. "interrupt_after(0.3) print(pcall(" .. call:format(pipe) .. "))")
        assert.truthy(text:find("interrupted", 1, true), text)
      end
    end)
  end)

  -- In a coroutine of Lua 5.1 to 5.4 the interpreter's hook, which is the main thread's, does not run: the script sees
  -- the error of the call itself, and goes on.
  if S.jit then return end

  local names = { "linspace", "arange", "array", "table", "fill", "zeros", "copy", "sum", "strided", "min", "exact",
    "exact_rows", "rows", "columns", "wide", "segments", "many", "async", "scan", "scan_max", "softmax", "rmsnorm",
    "quantile", "histogram", "bins", "bytes", "edges", "weights", "heavy", "infinite", "map", "count", "compact",
    "in_place", "take", "put", "put_add", "random", "whole", "order", "choice", "digest", "ladder", "timed" }
  local script = [[
    local n = 2 ^ 21
    local a = gr.rand(n, { seed = 1 })
    local ints = (a * 1e6):cast("i32")
    local mask = a:compare("<", 0.5)
    local rows, spread = gr.zeros(n / 64, "f64"), gr.ones(n / 64)
    local offsets = gr.arange(1, n + 1, 64, "i64")
    local out, longs = gr.zeros(n), gr.zeros(n, "i64")
    local few = gr.ones(2 ^ 17)
    local places = gr.arange(n, 1, -1, "i32")
    local infinite = gr.full(n, 1 / 0)
    local calls = {
      linspace = function() return gr.linspace(0, 1, n / 4) end,
      arange = function() return gr.arange(1, n, "i64") end,
      array = function() return gr.array(numbers, "f64") end,
      table = function() return #a:slice(1, 2 ^ 19):table() end,
      fill = function() return gr.full(32 * n, 3, "u8") end,
      zeros = function() return gr.zeros(32 * n, "u8"):sync() end,
      copy = function() return out:copy { into = out:slice(-1, 1, -1):copy() } end,
      sum = function() return a:sum() end,
      strided = function() return out:slice(-1, 1, -1):var() end,
      min = function() return a:argmin() end,
      exact = function() return a:sum { exact = true } end,
      exact_rows = function() return a:dot(a, { rows = n / 64, pairs = true, exact = true, into = rows }) end,
      rows = function() return a:var { rows = n / 64, into = rows } end,
      columns = function() return a:max { rows = n / 16, axis = 1 } end,
      wide = function() return a:mean { rows = 64, axis = 1 } end,
      segments = function() return a:max { segments = offsets } end,
      many = function() return select("#", gr.many { { "sum", a }, { "max", a }, { "var", a } }) end,
      async = function() return gr.async(gr.var, a):get() end,
      scan = function() return a:scan("sum", { into = out }) end,
      scan_max = function() return ints:scan("max") end,
      softmax = function() return a:softmax { rows = 8, into = out } end,
      rmsnorm = function() return a:rmsnorm(nil, { rows = n / 64, into = out }) end,
      quantile = function() return a:quantile(0.3) end,
      histogram = function() return gr.histogram(a, { bins = 100, min = 0, max = 1 }).counts end,
      bins = function() return gr.histogram(a, { bins = 300000, min = 0, max = 1 }).counts end,
      bytes = function() return gr.bincount(mask) end,
      edges = function() return gr.histogram(a, { edges = { 0, 0.1, 0.5, 1 } }).counts end,
      weights = function() return gr.histogram(a, { bins = 10, min = 0, max = 1, weights = a }).counts end,
      heavy = function() return gr.histogram(a, { bins = 100000, min = 0, max = 1, weights = a }).counts end,
      infinite = function() return gr.histogram(infinite, { bins = 3 }).counts end,
      map = function() return gr.exp(a, { into = out }) end,
      count = function() return a:count { op = "<", value = 0.25 } end,
      compact = function() return gr.compact(a, mask) end,
      in_place = function() gr.copy(a, { into = out }) return #gr.compact(out, mask, { into = out }) end,
      take = function() return gr.take(a, places, { into = out }) end,
      put = function() return out:put(places, a) end,
      put_add = function() return gr.copy(a, { into = out }):put(places, a, { op = "add" }) end,
      random = function() return gr.randn(n, { seed = 3, into = out }) end,
      whole = function() return gr.randint(1, 9, n, { seed = 3, into = longs }) end,
      order = function() return gr.permutation(n, { seed = 3, into = longs }) end,
      choice = function() return a:choice(1000, { weights = a, replace = false, seed = 1 }) end,
      digest = function() return gr.digest(a) end,
      ladder = function() return gr.sum(a, { kernel = "two_phase" }) end,
      timed = function() return (gr.sum(few, { kernel = "two_phase", timed = 30 })) end,
    }
    local numbers = gr.arange(1, 2 ^ 19):table()
    calls.array = function() return gr.array(numbers, "f64") end

    local function bits(x)
      return type(x) == "userdata" and gr.digest(x) or x
    end
    local function settle()
      collectgarbage() collectgarbage()
    end
    local stopped = {}
    function stop(name)
      local f = calls[name]
      if stopped[name] then return end
      local expected, inputs = bits(f()), { gr.digest(a), gr.digest(ints), gr.digest(mask), gr.digest(offsets) }
      settle()
      local before, ok, message, last, took = gr.memory()
      interrupt_after(0.02)
      local sent
      pcall(pcall, coroutine.wrap(function() -- the interpreter's own hook goes off as soon as it has returned
        repeat
          last = gr.clock()
          ok, message = pcall(f)
          took = gr.clock() - last
          sent = is_sent()
        until not ok or sent
      end))
      while not sent do sent = is_sent() end -- what this process hears no more is not for the next chunk
      message = tostring(message):gsub("^[^\n]-:%d+: ", "")
      if ok then return end -- the signal came between two calls: once more
      if message ~= "gpureduce: interrupted" then error(name .. ": " .. message, 0) end
      if took > 20 then error(name .. " took " .. took, 0) end
      settle()
      local after = gr.memory()
      assert(after.arrays == before.arrays and after.live == before.live, name .. " keeps memory")
      local now = { gr.digest(a), gr.digest(ints), gr.digest(mask), gr.digest(offsets) }
      for k = 1, 4 do assert(inputs[k] == now[k], name .. " changed its inputs") end
      local again = bits(f())
      assert(again == expected, name .. " gives other bits")
      stopped[name] = true
    end
    function finish()
      for name in pairs(calls) do
        if not stopped[name] then print(name .. " is not stopped") end
      end
      print "fine"
    end
  ]]

  for _, threads in ipairs { 1, 2 } do
    it(("stops every long call, with %d threads, and all goes on afterwards"):format(threads), function()
      local arguments = { "-e", start .. script } -- the interpreter listens to one Ctrl-C in each chunk
      for _, name in ipairs(names) do
        for _ = 1, name == "table" and 200 or 40 do -- often it comes between two calls: of `table` 14 times in 15
          arguments[#arguments + 1] = "-e"
          arguments[#arguments + 1] = ("stop %q"):format(name)
        end
      end
      arguments[#arguments + 1] = "-e"
      arguments[#arguments + 1] = "finish()"
      local text, status = S.child(environment(threads), (table.unpack or unpack)(arguments)) -- luacheck: ignore
      assert.equal("fine\n", text)
      assert.equal(0, status)
    end)
  end
end)
