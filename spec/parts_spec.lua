-- The module's own Lua: read when it is first used, and with the globals that Lua had when the module was opened.
local gr = require "gpureduce"
local S = require "spec.support"

describe("what the module has in Lua", function()
  it("is not read by a program that does not call it", function()
    local text = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      collectgarbage()
      local before = collectgarbage "count"
      local gr = require "gpureduce"
      collectgarbage()
      collectgarbage()
      local opened = collectgarbage "count" - before
      gr.svg { lines = { { name = "a", x = { 1, 2, 3 }, y = { 3, 1, 2 } } } }
      collectgarbage()
      collectgarbage()
      print(opened < 200, collectgarbage "count" - before - opened > 50)]])
    assert.equal("true\ttrue\n", text)
  end)

  it("is the same after a script has replaced Lua's functions", function()
    local chart = [[
      local gr = require "gpureduce"
      %s
      io.write(gr.svg { lines = { { name = "a", x = { 1, 2, 3 }, y = { 3, 1, 2 } } } })]]
    local plain = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, chart:format "")
    local replaced = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, chart:format [[
      local function wrong() return "wrong" end
      for _, t in pairs { math, table } do
        for name in pairs(t) do t[name] = wrong end
      end
      for _, name in pairs { "ipairs", "pairs", "tostring", "type", "select", "rawget" } do _G[name] = wrong end]])
    assert.is_truthy(plain:find "^<svg")
    assert.equal(plain, replaced)
  end)

  it("is there under its names", function()
    for _, name in ipairs { "csv", "help", "plot", "show", "svg" } do assert.equal("function", type(gr[name])) end
  end)
end)
