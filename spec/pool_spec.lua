-- What the process keeps of memory: sizes of blocks, the bound of what is cached, and giving back.
local S = require "spec.support"
local gr = S.gr
local host_of = require "spec.host"

local MIB = 1048576

-- What text prints in a process of its own on that device. It has gr, MIB and made(n): n bytes on the device, written.
local function child(environment, text)
  local said, status = S.child_text(environment, [[
    local gr = require "gpureduce"
    local MIB = 1048576
    local function made(n) return gr.zeros(n, "u8"):fill(1) end
  ]] .. text)
  assert.equal(0, status, said)
  return said
end

local function pretend(capacity)
  return { GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_CAPACITY = capacity and ("%.0f"):format(capacity) }
end

-- Pages that the process has, in bytes, where the system says so. AddressSanitizer keeps what is freed.
local resident = [[
  local function resident()
    local file = assert(io.open "/proc/self/statm")
    local pages = tonumber(file:read("*a"):match("^%d+%s+(%d+)"))
    file:close()
    return pages * 4096
  end
]]
local function has_resident()
  local file = io.open "/proc/self/statm"
  if file then file:close() end
  return file and not (os.getenv "LD_PRELOAD" or ""):find("asan", 1, true)
end

describe("the pool", function()
  it("rounds large blocks to 2 MiB at most, on both sides", function()
    assert.equal("ok\n", child(pretend(), [[
      for _, n in ipairs { 4 * MIB + 1, 9 * MIB, 17 * MIB + 1, 33 * MIB + 1, 65 * MIB + 1 } do
        local before = gr.memory()
        local a = made(n)
        local device = gr.memory().device - before.device
        assert(device >= n and device <= n + 2 * MIB, device / MIB)
        assert(a[n] == 1) -- a copy on the host
        local host = gr.memory().host - before.host
        assert(host >= n and host <= n + 2 * MIB, host / MIB)
        assert(gr.memory().live - before.live == device + host)
        a:release()
        assert(gr.memory().live == before.live and gr.memory().device == before.device)
        gr.trim()
      end
      print "ok"]]))
  end)

  it("asks for the exact size where the rounded one is refused", function()
    assert.equal("ok\n", child(pretend(33 * MIB + 4096), [[
      local a = made(33 * MIB + 1)
      assert(a:sum() == 33 * MIB + 1)
      assert(gr.memory().device == 33 * MIB + 256, gr.memory().device)
      a:release()
      assert(gr.memory().pooled == 33 * MIB + 256)
      a = made(33 * MIB) -- the same block serves again
      assert(gr.memory().device == 33 * MIB + 256 and gr.memory().pooled == 0)
      print "ok"]]))
  end)

  it("gives a device's cached blocks back when it refuses, before any collection", function()
    assert.equal("ok\n", child(pretend(40 * MIB), [[
      made(30 * MIB):release()
      assert(gr.memory().pooled == 30 * MIB)
      local a = made(20 * MIB)
      assert(a:sum() == 20 * MIB)
      assert(gr.memory().pooled == 0 and gr.memory().collections == 0)
      print "ok"]]))
  end)

  it("says in an error what was asked at last, of whom, and what is free", function()
    local text = child(pretend(40 * MIB), "print(pcall(made, 41 * MIB - 100))")
    assert.truthy(text:find("on pretend: 41.0 MiB asked, 40.0 MiB free, 0 bytes live in 1 arrays", 1, true), text)
    text = child(pretend(MIB + 4096), "local a = made(MIB) print(pcall(made, 7950)) a:release()")
    assert.truthy(text:find("on pretend: 8.0 KiB asked, %d[^,]* free, 1.0 MiB live in 2 arrays"), text)
    -- AddressSanitizer ends the process instead of refusing.
    if (os.getenv "LD_PRELOAD" or ""):find("asan", 1, true) then return end
    -- A copy on the host, of more bytes than a process can address.
    text = child(pretend(2 ^ 49), "print(pcall(function() return gr.zeros(2 ^ 48, 'u8')[1] end))")
    assert.truthy(text:find("out of memory on cpu: 256.0 TiB asked, ", 1, true), text)
  end)

  it("counts what is cached as free where a large array is made", function()
    assert.equal("ok\n", child(pretend(1100 * MIB), [[
      gr.gc { auto = false }
      made(100 * MIB):release()
      local a = gr.zeros(1050 * MIB, "u8")
      assert(gr.memory().collections == 0 and gr.memory().pooled >= 100 * MIB)
      print(#a == 1050 * MIB and "ok")]]))
  end)

  it("serves requests of a device by blocks that are a little larger, and counts them whole", function()
    assert.equal("ok\n", child(pretend(), [[
      made(20 * MIB):release()
      local before = gr.stats().allocations
      local a = made(17 * MIB) -- a quarter of it more is 21.25
      assert(gr.stats().allocations == before)
      assert(gr.memory().device == 20 * MIB and gr.memory().live == 20 * MIB and gr.memory().pooled == 0)
      a:release()
      assert(gr.memory().pooled == 20 * MIB and gr.memory().live == 0 and gr.memory().device == 0)
      a = made(14 * MIB)
      assert(gr.stats().allocations == before + 1)
      assert(gr.memory().device == 14 * MIB)
      made(30 * MIB):release()
      made(28 * MIB):release() -- by that of 30
      made(27 * MIB):release()
      assert(gr.stats().allocations == before + 2)
      print "ok"]]))
  end)

  it("serves requests of each size up to 1 MiB by blocks that were given back", function()
    assert.equal("ok\n", child(pretend(), [[
      for _, n in ipairs { 700, 1000, 90000, 450000, 900000, 968112, 1035928, MIB - 1, MIB } do
        made(n):release()
        local before = gr.stats().allocations
        made(n):release()
        assert(gr.stats().allocations == before, n)
      end
      print "ok"]]))
  end)

  -- Sixteen arrays of random sizes, one after the other replaced. Without a bound this holds three times its peak.
  it("keeps no more on a device than was in use lately, and a quarter more with what is", function()
    assert.equal("ok\n", child(pretend(), [[
      math.randomseed(7)
      local kept, peak, asked = {}, 32 * MIB, 0
      local function check()
        local m = gr.memory()
        peak = math.max(peak, m.device)
        assert(m.pooled <= peak, m.pooled)
        assert(m.device + m.pooled <= peak * 1.25, m.device + m.pooled)
      end
      local before, start = gr.stats().allocations, gr.clock()
      for round = 1, 1500 do
        local k = math.random(16)
        if kept[k] then kept[k]:release() end
        check()
        kept[k] = made(math.random(8 * MIB))
        check()
      end
      assert(peak > 50 * MIB and peak < 128 * 1.25 * MIB, peak)
      local taken = gr.stats().allocations - before
      assert(taken < 750, taken) -- most requests are served from the cache
      for k = 1, 16 do kept[k]:release() end
      check()
      local all = gr.memory().pooled
      assert(all > 0.8 * peak or gr.clock() - start > 0.9) -- of the last second or two

      -- Later little is in use, and the memory of that peak goes.
      local from = gr.clock()
      while gr.clock() - from < 2.2 do
        made(MIB):release()
        made(2 * MIB):release()
      end
      assert(gr.memory().pooled <= 32 * MIB, gr.memory().pooled)
      assert(gr.memory().device == 0)
      print "ok"]]))
  end)

  it("keeps as much as gr.gc says", function()
    assert.equal("ok\n", child(pretend(), [[
      local function fill()
        local t = {}
        for k = 1, 10 do t[k] = made(2 * MIB) end
        for k = 1, 10 do t[k]:release() end
      end
      fill()
      assert(gr.memory().pooled == 20 * MIB)
      gr.gc { cache = 7 * MIB }
      assert(gr.memory().pooled == 6 * MIB)
      fill()
      assert(gr.memory().pooled == 6 * MIB)
      gr.gc { cache = 0 }
      assert(gr.memory().pooled == 0)
      fill()
      assert(gr.memory().pooled == 0)
      gr.gc { cache = "auto" }
      fill()
      assert(gr.memory().pooled == 20 * MIB)
      local budget = gr.memory().budget
      gr.gc { auto = false }
      assert(gr.memory().pooled == 20 * MIB and gr.memory().budget == budget)
      print "ok"]]))
    -- On the host too.
    assert.equal("ok\n", child({ GPUREDUCE_DEVICE = "cpu" }, [[
      gr.gc { cache = 4 * MIB }
      for _ = 1, 3 do
        local t = {}
        for k = 1, 5 do t[k] = made(MIB) end
        for k = 1, 5 do t[k]:release() end
        assert(gr.memory().pooled == 4 * MIB, gr.memory().pooled)
      end
      print "ok"]]))
  end)

  it("is told how much by a number of bytes or 'auto'", function()
    local before = gr.memory().budget
    assert.equal("bad argument #1 to 'gc' (option 'cache': 0 or more bytes expected, got -1)",
      S.message(gr.gc, { cache = -1, budget = 1 }))
    assert.equal("bad argument #1 to 'gc' (option 'cache': bytes or 'auto' expected, got 'all')",
      S.message(gr.gc, { cache = "all", budget = 1 }))
    assert.equal("bad argument #1 to 'gc' (option 'cache': whole number expected, got 1.5)",
      S.message(gr.gc, { cache = 1.5 }))
    assert.equal(before, gr.memory().budget) -- nothing was set
  end)

  it("is the host program's to set where scripts are not trusted, and stays within their limit", function()
    local refused = "gpureduce: 'gc' is refused: gr.safe allows no settings of the whole process\n"
    assert.equal(refused .. "ok\n", child(pretend(), [[
      for k = 1, 2 do made(20 * MIB):release() end
      gr.safe { bytes = 18 * MIB }
      local ok, message = pcall(gr.gc, { cache = 0 })
      print(ok or (message:gsub("^[^\n]-:%d+: ", "")))
      gr.gc { budget = MIB }
      assert(gr.memory().pooled == 20 * MIB)
      local a = made(17 * MIB) -- which the block of 20 would serve, but that is more than the limit
      assert(gr.memory().live == 18 * MIB, gr.memory().live)
      print "ok"]]))
  end)

  it("is empty when the last state has closed", function()
    if not host_of() then return pending "no C compiler or no headers here" end
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "pretend" }, [[
      local host = require "spec.host" ()
      local paths = ("package.path, package.cpath = %q, %q\n"):format(package.path, package.cpath)
      local said = host.states(3, paths .. [=[
        local gr = require "gpureduce"
        gr.zeros(4e6, "u8"):fill(1):release()
        local a = gr.zeros(3e6, "u8"):fill(1)
        assert(a[1] == 1)
        kept = { a, gr.zeros(1e6) }
        assert(gr.memory().pooled >= 4e6)
      ]=])
      assert(not said, said)
      local m = require "gpureduce".memory() -- of a new state: the pool's counts are the process's
      print(m.host, m.device, m.pooled, m.peak >= 6e6)]])
    assert.equal("0\t0\t0\ttrue\n", text, status)
  end)

  it("is shared by states in threads, and its counts stay true", function()
    if not host_of() then return pending "no C compiler or no headers here" end
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_LOOKS = "3" }, [[
      local host = require "spec.host" ()
      local gr = require "gpureduce" -- this state stays open
      local paths = ("package.path, package.cpath = %q, %q\n"):format(package.path, package.cpath)
      local said = host.states(4, paths .. [=[
        local gr = require "gpureduce"
        local kept = {}
        math.randomseed(tonumber(tostring(kept):match("0x(%x+)"), 16) % 99991) -- each state another
        for round = 1, 400 do
          local k, n = math.random(8), math.random(2 ^ 21)
          kept[k] = gr.zeros(n, "u8"):fill(1)
          assert(gr.sum(kept[k]) == n and (round % 7 > 0 or kept[k][n] == 1))
          local later = round % 2 == 0 and gr.async(gr.sum, kept[k])
          if round % 4 == 0 then assert(later:get() == n) end
          if round % 3 == 0 and kept[9 - k] then kept[9 - k]:release() kept[9 - k] = nil end
          if round % 50 == 0 then gr.trim() end
          if round % 80 == 0 then gr.gc { cache = round % 160 == 0 and "auto" or 1048576 } end
        end
      ]=])
      assert(not said, said)
      local m = gr.memory()
      assert(m.host == 0 and m.device == 0, m.host .. " " .. m.device)
      assert(m.pooled > 0)
      gr.trim()
      print(gr.memory().pooled)]])
    assert.equal("0\n", text, status)
  end)
end)

describe("a block that work which was put off still reads", function()
  it("is written to only afterwards, whatever the pool gives it to", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_LOOKS = "1000000000000" }, [[
      local gr = require "gpureduce"
      local n = 1000
      local x, w, mask = gr.arange(1, n, "f64"), gr.arange(2, 2 * n, 2, "f64"), gr.ones(n, "u8")
      local ints, one = gr.arange(0, n - 1, "i32"), gr.full(n, 1, "i64")
      local calls = { -- each makes an array of so many bytes, or a little more
        histogram = function() return x:histogram { bins = n - 3, min = 0, max = n } end,
        ["histogram by edges"] = function() return x:histogram { edges = x:slice(1, n - 3) } end,
        logarithms = function() return x:histogram { bins = n - 3, log = true } end,
        weights = function() return x:histogram { bins = n - 3, min = 0, max = n, weights = w } end,
        integers = function() return ints:histogram { bins = n - 3, min = 0, max = n } end,
        bincount = function() return ints:bincount() end,
        bars = function() return x:histogram { bins = n - 3, min = 0, max = n, density = true } end,
        scan = function() return x:scan() end,
        rungs = function() return x:cast("f32"):scan("sum", { kernel = "three_phase" }) end,
        softmax = function() return x:softmax() end, rmsnorm = function() return x:rmsnorm() end,
        fill = function() return gr.full(n, 9, "f64"):sum() end, ones = function() return gr.ones(n, "f64"):sum() end,
        copy = function() return x:slice(-1, 1, -1):copy() end, cast = function() return ints:cast("f64") end,
        random = function() return gr.randn(n, "f64", { seed = 1 }) end,
        add = function() return x + w end, exp = function() return gr.exp(x) end,
        compact = function() return x:compact(mask) end, where = function() return gr.where(mask, x, w) end,
        rows = function() return x:sum { rows = n } end, exact = function() return x:sum { rows = n, exact = true } end,
        segments = function() return x:sum { segments = gr.arange(1, n + 1, "i64") } end,
        cosines = function() return x:cosine(w, { rows = n, pairs = true }) end,
        quantile = function() return x:quantile(0.3) end,
        linspace = function() return gr.linspace(0, 1, n, "f64"):sum() end,
        table = function() return gr.array({ 7, 8, 9 }, "f64"):sum(), gr.array(x:table(), "f64"):sum() end,
        zeros = function() return gr.zeros(n, "f64"):sum() end, digest = function() return gr.digest(w) end,
      }
      x:sum() w:sum() mask:sum() ints:sum() one:sum()
      for name, f in pairs(calls) do
        for _, bytes in ipairs { 16, 8000, 1000 } do
          pcall(f)
          collectgarbage() collectgarbage()
          local list, futures = {}, {}
          for k = 1, 4 do list[k] = gr.array({ 1, 3, 5, 7 }, "f64"):scan("max") end
          for k = 5, 8 do list[k] = gr.full(bytes / 8, k, "f64") end
          for k, a in ipairs(list) do futures[k] = gr.async(gr.sum, a) end
          for _, a in ipairs(list) do a:release() end
          f()
          for k, future in ipairs(futures) do
            local got, expected = future:get(), k < 5 and 16 or bytes / 8 * k
            if got ~= expected then print(name, bytes, k, got, expected) end
          end
        end
      end
      print "fine"]])
    assert.equal("fine\n", text)
    assert.equal(0, status)
  end)
end)

describe("the memory of small arrays", function()
  it("is returned to the system after a million of them, and is little while they are there", function()
    if not has_resident() then return pending "no true count of pages here" end
    local text = child({ GPUREDUCE_DEVICE = "cpu" }, resident .. [[
      local N, kept = 1000000, { gr.zeros(4) } -- the first one starts the devices
      for k = 1, N do kept[k] = false end
      collectgarbage()
      local before = resident()
      for k = 1, N do kept[k] = gr.zeros(4) end
      local rest = (resident() - before) / N
      for k = 1, N do kept[k][1] = 1 end
      local written = (resident() - before) / N
      for k = 1, N do kept[k] = false end
      collectgarbage()
      collectgarbage()
      gr.trim()
      print(rest, written, (resident() - before) / 1e6)]])
    local rest, written, left = text:match("^(%S+)\t(%S+)\t(%S+)")
    assert.is_true(tonumber(rest) < 262, text) -- bytes each
    assert.is_true(tonumber(written) < 406, text)
    assert.is_true(tonumber(left) < 60, text) -- MB (LuaJIT's own heap keeps most), of some 580 when nothing is returned
  end)

  it("that C libraries keep of larger ones goes with trim", function()
    if not has_resident() then return pending "no true count of pages here" end
    local text = child({ GPUREDUCE_DEVICE = "cpu" }, resident .. [[
      made(50000):release() -- starts the devices
      collectgarbage()
      local before, kept = resident(), {}
      for k = 1, 3000 do kept[k] = made(50000) end
      local last = made(50000) -- above them all
      for k = 1, 3000 do kept[k]:release() end
      gr.trim()
      print((resident() - before) / 1e6, #last)]])
    assert.is_true(tonumber(text:match "^(%S+)") < 20, text)
  end)
end)
