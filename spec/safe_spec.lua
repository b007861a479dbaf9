-- gr.safe: what a host takes away cannot be had back. It holds for the rest of a state, so each case is a process.
local S = require "spec.support"

-- What a script prints when the host has called gr.safe with these options first; before: what it does before that.
local function under(options, script, before)
  local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, ([[
local gr = require "gpureduce"
%s
gr.safe(%s)
local function try(f, ...)
  local ok, message = pcall(f, ...)
  print(ok and "ok" or tostring(message):gsub("^[^\n]-:%%d+: ", ""))
end
%s]]):format(before or "", options, script))
  assert.equal(0, status, text)
  return text
end

describe("gr.safe", function()
  it("refuses files, pointers and settings of the whole process", function()
    assert.equal([[
gpureduce: 'load' is refused: gr.safe allows no files
gpureduce: 'save' is refused: gr.safe allows no files
gpureduce: 'csv' is refused: gr.safe allows no files
gpureduce: 'svg' is refused: gr.safe allows no files
gpureduce: 'svg' is refused: gr.safe allows no files
gpureduce: 'wrap' is refused: gr.safe allows no pointers
gpureduce: 'wrap' is refused: gr.safe allows no pointers
gpureduce: 'fromdlpack' is refused: gr.safe allows no pointers
gpureduce: 'fromdlpack' is refused: gr.safe allows no pointers
gpureduce: 'dlpack' is refused: gr.safe allows no pointers
gpureduce: 'threads' is refused: gr.safe allows no settings of the whole process
gpureduce: 'trim' is refused: gr.safe allows no settings of the whole process
ok
]], under("", [[
local a = gr.ones(4)
try(gr.load, "/nonexistent/x.npy")
try(gr.save, a, "/nonexistent/x.npy")
try(gr.csv, "/nonexistent/x.csv")
try(gr.svg, { lines = { { y = { 1, 2 } } }, path = "/nonexistent/x.svg" })
local h = a:histogram { bins = 2 }
try(h.svg, h, "/nonexistent/x.svg")
try(gr.wrap, 4096, { n = 1 })
try(gr.wrap, { getSize = function() return 4 end, getPointer = function() return 4096 end })
try(gr.fromdlpack, 4096)
try(gr.fromdlpack, d)
try(gr.dlpack, a)
try(gr.threads, 1)
try(gr.trim)
try(function() return #gr.svg { lines = { { y = { 1, 2 } } } } + #h:svg() + gr.threads() end)]],
      "local d = gr.ones(3):dlpack()"))
  end)

  it("leaves what the host allows", function()
    local text = under("{ files = true, wrap = true }", [[
print((select(2, gr.load "/nonexistent/x.npy")))
try(gr.wrap, 4096, { n = 0 })
try(gr.fromdlpack, gr.ones(3):dlpack())]])
    assert.equal("bad argument #1 to 'fromdlpack' (9 elements of an array at most, as gr.safe says, got 10)\n",
      under("{ wrap = true, elements = 9 }", "try(gr.fromdlpack, d)", "local d = gr.ones(10):dlpack()"))
    assert.equal("/nonexistent/x.npy: No such file or directory\nok\nok\n", text)
  end)

  it("is called once", function()
    assert.equal("gpureduce: gr.safe has been called in this state, and cannot be undone\n",
      under("{}", "try(gr.safe, { files = true })"))
    assert.equal("gpureduce: gr.safe has been called in this state, and cannot be undone\n",
      under("{}", "package.loaded.gpureduce = nil try(require 'gpureduce'.safe, { files = true })"))
  end)

  it("limits the bytes of a state's arrays: garbage is collected before it raises", function()
    assert.equal([[
gpureduce: out of memory: arrays of 1.0 MiB at most, as gr.safe says: 2.0 MiB asked, 0 bytes live
ok
gpureduce: out of memory: arrays of 1.0 MiB at most, as gr.safe says: 640.0 KiB asked, 512.0 KiB live
]], under("{ bytes = 2^20 }", [[
try(gr.ones, 2^19)
try(function() for _ = 1, 100 do gr.ones(150000) end end)
collectgarbage() collectgarbage()
local keep = gr.ones(2^17)
try(gr.ones, 150000)]]))
  end)

  it("limits zeros that nobody has looked at: what is kept of them grows with their length", function()
    assert.equal([[
gpureduce: out of memory: arrays of 64.0 MiB at most, as gr.safe says: 16.0 GiB asked, 0 bytes live
ok
]], under("{ bytes = 2^26 }", [[
try(function() local t = {} for k = 1, 2000 do t[k] = gr.zeros(2^34, "u8") end end)
try(gr.zeros, 2^26, "u8")]]))
  end)

  it("limits the elements of an array", function()
    assert.equal([[
ok
bad argument #1 to 'zeros' (1000 elements of an array at most, as gr.safe says, got 1001)
bad argument #1 to 'arange' (1000 elements of an array at most, as gr.safe says, got 2000)
]], under("{ elements = 1000 }", "try(gr.zeros, 1000) try(gr.zeros, 1001) try(gr.arange, 1, 2000)"))
  end)

  it("limits the seconds of a call", function()
    local text = under("{ seconds = 0.2 }", [[
try(function() return gr.ones(1000):sum() end)
local start = gr.clock()
try(function() local a = gr.ones(2e7, "f64") for _ = 1, 3 do a:scan():quantile(0.5) end end)
try(gr.linspace, 0, 1, 4e8)
print(gr.clock() - start < 30)]])
    assert.equal("ok", text:match("^ok"))
    assert.truthy(text:find("interrupted", 1, true), text)
    assert.truthy(text:find("true\n$"), text)
  end)

  it("limits the seconds of loops over runs, rows, bins and the tables of a list", function()
    local text = under("{ seconds = 0.1, threads = 1 }", [[
local a, whole = gr.rand(5e5, { seed = 1 }), gr.full(5e5, 5, "i32")
local wide, few = gr.full(2e6, 1e300, "f64"), gr.rand(100, { seed = 1 })
local list, rows = {}, {}
for k = 1, 2e5 do list[k] = k end
for k = 1, 1000 do rows[k] = list end
local function late(name, f, ...)
  local start = gr.clock()
  local ok, message = pcall(f, ...)
  local seconds = gr.clock() - start
  if ok or not message:find("interrupted", 1, true) or seconds > 20 then print(name, seconds, ok) end
end
local runs = 20000
for _, name in ipairs { "single_pass", "kahan", "neumaier", "batched" } do
  late("sum " .. name, gr.sum, a, { kernel = name, timed = runs })
  late("dot " .. name, gr.dot, a, a, { kernel = name, timed = runs })
end
for _, name in ipairs { "replicated", "large", "global" } do
  late(name, gr.histogram, whole, { bins = 10, modulo = true, kernel = name, timed = runs })
end
late("scan", gr.scan, a, { kernel = "single_pass", timed = runs })
late("rmsnorm", gr.rmsnorm, a, nil, { rows = 1000, kernel = "fused", timed = runs })
late("rows by a kernel", gr.sum, a, { kernel = "kahan", rows = 5e5, timed = 100 })
late("norms of rows", gr.norm, wide, { rows = 2e6 })
late("rows of a list", gr.array, rows, "f64")
late("log", gr.histogram, few, { bins = 2^25, log = true, min = 0.1, max = 1 })
late("density", gr.histogram, few, { bins = 2^26, min = 0, max = 1, density = true })
late("weights", gr.histogram, few, { bins = 2^26, min = 0, max = 1, weights = few })
print "done"]])
    assert.equal("done\n", text)
  end)

  it("limits the seconds of files that others keep waiting, and leaves nothing of them", function()
    local text, status = S.child_text({ "timeout -k 5 60 ", GPUREDUCE_DEVICE = "cpu" }, [[
local gr = require "gpureduce"
gr.zeros(1) -- the first one starts the devices, whose drivers keep files of their own
gr.safe { files = true, seconds = 0.2 }
local function number(file)
  local n = file:read "*n"
  file:close()
  return n
end
local pid = number(io.open "/proc/self/stat")
local function count() return number(io.popen("ls /proc/" .. pid .. "/fd | wc -l")) end
-- The least of some counts: the other end of the pipe may still be open here when ls looks.
local function descriptors()
  local least = count()
  for _ = 1, 4 do least = math.min(least, count()) end
  return least
end
local folder = os.tmpname()
local pipe, npy = folder .. "/pipe", folder .. "/pipe.npy"
os.execute(("rm %s; mkdir %s"):format(folder, folder))
local calls = {
  load = function() return gr.load(pipe, "u8") end,
  ["load a part"] = function() return gr.load(pipe, "u8", { offset = 3, count = 1e5 }) end,
  npy = function() return gr.load(npy) end,
  csv = function() return gr.csv(pipe) end,
  save = function() return gr.zeros(1e6):save(pipe) end,
  svg = function() return gr.svg { histograms = { gr.ones(9):histogram { bins = 4 } }, path = pipe } end,
}
local partners = { none = "", reads = "< %s", writes = "> %s" }
local before
for name, partner in pairs(partners) do
  for call, f in pairs(calls) do
    local path = call == "npy" and npy or pipe
    os.execute(("rm -f %s; mkfifo %s"):format(path, path))
    if partner ~= "" then os.execute("(sleep 20 " .. partner:format(path) .. ") 2>/dev/null &") end
    before = before or descriptors()
    local start = gr.clock()
    local ok, message = pcall(f)
    local took = gr.clock() - start
    local fits = call == "svg" and name == "reads" -- so little goes into the pipe
    if not fits and (ok or message:gsub("^[^\n]-:%d+: ", "") ~= "gpureduce: interrupted") then
      print(call, name, ok, message)
    end
    if took > 10 then print(call, name, took) end
  end
end
assert(descriptors() == before, "files stay open")
gr.ones(3):save(folder .. "/a")
assert(gr.load(folder .. "/a"):sum() == 3)
os.execute("rm -r " .. folder)
print "done"]])
    assert.equal("done\n", text)
    assert.equal(0, status)
  end)

  it("limits the seconds of pictures, whatever is long in them", function()
    local text = under("{ seconds = 0.03, threads = 1 }", [[
local calls = {
  lines = function() return gr.svg { lines = { { y = t } } } end,
  steps = function() return gr.svg { steps = { { x = up, y = t } }, xlog = true } end,
  points = function() return gr.svg { points = { { y = t } } } end,
  errors = function() return gr.svg { lines = { { y = t, error = t } } } end,
  limits = function() return gr.svg { lines = { { y = t, low = t, high = t } } } end,
  many = function() return gr.svg { lines = many } end,
  ceilings = function() return gr.svg { lines = { { y = { 1, 2 } } }, ceiling = ceilings } end,
  histogram = function() return gr.svg { histograms = { h } } end,
  histograms = function() return gr.svg { histograms = { h, uneven }, density = true } end,
  plot = function() return gr.plot(t) end, xlog = function() return gr.plot(t, { x = up, xlog = true }) end,
  bars = function() return h:plot() end, text = function() return tostring(uneven) end,
  picture = function() return h:svg() end, quantile = function() return h:quantile(0.5) end,
}
for name, f in pairs(calls) do
  collectgarbage()
  local start = gr.clock()
  local ok, message = pcall(f)
  local took = gr.clock() - start
  if ok or message:gsub("^[^\n]-:%d+: ", "") ~= "gpureduce: interrupted" or took > 10 then
    print(name, took, ok, ok or message)
  end
end
try(function() return #gr.svg { lines = { { y = { 1, 2 } } } } + #gr.plot { 1, 2 } + #tostring(few) end)
for k = #many, 9, -1 do many[k] = nil end
local start = gr.clock()
repeat until gr.clock() - start > 0.2
try(calls.many)]], [[
local n, t, up = rawget(_G, "jit") and 2^22 or 2^20, {}, {}
for k = 1, n do t[k], up[k] = k % 1000 + 1, k end
local many, ceilings = {}, {}
for k = 1, n / 16 do many[k], ceilings[k] = { y = { 1, 2 } }, { y = k } end
local few = gr.ones(9):histogram { bins = 2 }
local h = gr.ones(9):histogram { bins = n, min = 0, max = 2 }
local uneven = gr.ones(9):histogram { bins = n, min = 1, max = 2, log = true }]])
    assert.equal("ok\nok\n", text)
  end)

  it("counts the seconds of each call from its own beginning", function()
    assert.equal("bad argument #1 to 'bincount' (elements of 0 or more expected, got -1)\nok\n",
      under("{ seconds = 0.5 }", [[
local wrong, a = gr.full(2e6, -1, "i32"), gr.ones(2e6)
try(gr.bincount, wrong)
local start = gr.clock()
repeat until gr.clock() - start > 0.6
try(gr.sum, a)]]))
  end)

  it("shows nothing of others in what a stopped call was to write", function()
    for _, call in ipairs { "pcall(gr.scan, a, 'sum', { into = into })",
      "pcall(function() return gr.async(gr.scan, a, 'sum', { into = into }):get() end)",
      "pcall(gr.scan, a, 'sum', { into = into:slice(3, -3) })",
      "gr.async(gr.scan, a, 'sum', { into = into }) pcall(gr.add, into, 0, { into = into2 }) into = into2" } do
      local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, ([[
        local gr = require "gpureduce"
        gr.threads(1)
        local n = 2 ^ 25
        local other, another = gr.full(n, 12345), gr.full(n, 12345)
        local a = gr.ones(n)
        a:sum()
        local into, into2 = gr.zeros(n), gr.zeros(n)
        if (%q):find "slice" then a = a:slice(3, -3) end
        gr.safe { seconds = 0.002 }
        other:release()
        another:release()
        %s
        local found, last = 0, nil
        for k = 1, n, 997 do
          if into[k] == 12345 and k ~= 12345 then found = found + 1 end
          last = into[k]
        end
        print(found, last)]]):format(call, call))
      assert.equal("0\t0.0\n", (text:gsub("\t0\n", "\t0.0\n")), call)
      assert.equal(0, status)
    end
  end)

  it("checks its options", function()
    local gr = S.gr
    for text, options in pairs {
      ["option 'bytes': 1 or more expected, got 0"] = { bytes = 0 },
      ["option 'elements': 1 or more expected, got -5"] = { elements = -5 },
      ["option 'seconds': more than 0 expected, got 0"] = { seconds = 0 },
      ["option 'threads': 1 to 1024 expected, got 5000"] = { threads = 5000 },
      ["unknown option 'file' (did you mean 'files'?)"] = { file = true },
    } do
      assert.equal(("bad argument #1 to 'safe' (%s)"):format(text), S.message(gr.safe, options))
    end
  end)
end)
