-- gr.safe: what a host takes away cannot be had back. It holds for the rest of a state, so each case is a process.
local S = require "spec.support"

-- What a script prints when the host has called gr.safe with these options first.
local function under(options, script)
  local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, ([[
local gr = require "gpureduce"
gr.safe(%s)
local function try(f, ...)
  local ok, message = pcall(f, ...)
  print(ok and "ok" or tostring(message):gsub("^[^\n]-:%%d+: ", ""))
end
%s]]):format(options, script))
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
try(gr.threads, 1)
try(gr.trim)
try(function() return #gr.svg { lines = { { y = { 1, 2 } } } } + #h:svg() + gr.threads() end)]]))
  end)

  it("leaves what the host allows", function()
    local text = under("{ files = true, wrap = true }", [[
print((select(2, gr.load "/nonexistent/x.npy")))
try(gr.wrap, 4096, { n = 0 })]])
    assert.equal("/nonexistent/x.npy: No such file or directory\nok\n", text)
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
print(gr.clock() - start < 5)]])
    assert.equal("ok", text:match("^ok"))
    assert.truthy(text:find("interrupted", 1, true), text)
    assert.truthy(text:find("true\n$"), text)
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
