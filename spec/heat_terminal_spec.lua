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
      "20 |============",
      "   |============",
      "10 |======      @@@@@@",
      " 0 |======      @@@@@@",
      "   ++-----+-----+----+",
      "    0     1     2    3",
      "count: 0 .:-=+*#%@ 3",
      "not shown: nan 1",
    }, "\n"), h:plot { width = 22, height = 4, ascii = true })
    local text = h:plot { width = 40, height = 2, ascii = false } -- a third and all of three
    assert.truthy(text:find(("\226\150\146"):rep(11), 1, true) and text:find(("\226\150\136"):rep(11), 1, true))
    assert.equal(tostring(h), h:plot())
  end)

  it("draws matrices from the top, and counts rows and columns", function()
    assert.equal(table.concat({
      "1 |....====",
      "2 |####@@@@",
      "  +--+---+-",
      "     1   2",
      "values: 1",
      "to 4",
    }, "\n"), gr.plot(gr.array({ 1, 2, 3, 4 }, "u8"):matrix(2), { width = 11, height = 2, ascii = true }))
    local T = gr.arange(1, 6):matrix(2):transpose()
    assert.equal(T:copy():plot(), T:plot())
  end)

  it("draws counts in ratios, on axes of ratios", function()
    local t = gr.array { 2, 20, 20, 20, 20, 20, 20, 20, 20, 20 }
    local log = gr.histogram2d(t, t, { bins = 2, range = { { 1, 100 }, { 1, 100 } }, log = true })
    assert.equal(table.concat({
      "100 |     @@@@@@",
      "  1 |.....",
      "    ++----+----+",
      "     1   10  100",
      "count, in",
      "ratios:",
      "1 .:-=+*#%@ 9",
    }, "\n"), (log:plot { width = 16, height = 2, ascii = true, log = true, xlog = true, ylog = true }))
    assert.truthy(log:plot({ ascii = true, width = 60 }):find("count per area", 1, true))
    assert.truthy(log:plot({ ascii = true, width = 60, density = true }):find("density:", 1, true))
  end)

  it("fits from 10 columns on, whatever the numbers", function()
    local big = gr.histogram2d(gr.randn(5000, { seed = 1 }), gr.randn(5000, { seed = 2 }) * 1e-9, { bins = { 300, 7 } })
    local far = gr.histogram2d(gr.array({ 1e15, 1e15 + 12 }, "f64"), gr.array({ -1e300, 1e300 }, "f64"), { bins = 5 })
    for _, each in ipairs { h, big, far, gr.histogram2d(gr.zeros(0), gr.zeros(0), { bins = 2 }) } do
      for width = 10, 90, 5 do
        for _, options in ipairs { {}, { log = true }, { density = true }, { colour = true } } do
          options.width, options.ascii, options.height = width, width % 2 == 0, 5
          local lines = lines_of(each:plot(options))
          for _, line in ipairs(lines) do
            assert.is_true(columns(bare(line)) <= width, line)
            if each ~= h then assert.is_nil(line:lower():find("%f[%a]nan%f[%A]")) end
          end
          assert.is_true(#lines >= 7)
        end
      end
    end
  end)

  it("shows a cell that is narrower than a character", function()
    local edges = { 0, 50, 50.001, 100 }
    local one = gr.histogram2d(gr.array { 50.0005, 50.0005 }, gr.array { 0.5, 0.5 }, { edges = { edges, { 0, 1 } } })
    assert.truthy(one:plot({ width = 40, height = 1, ascii = true, density = false }):find("|[^\n]*@"))
  end)

  it("has two rows of colours in a line, and puts the terminal's own back", function()
    local text = h:plot { width = 40, height = 5, colour = true, ascii = false }
    assert.truthy(text:find("\27%[0;38;"))
    for _, line in ipairs(lines_of(text)) do
      local last
      for code in line:gmatch("\27%[([%d;]*)m") do last = code end
      assert.is_true(last == nil or last == "0", line)
    end
    assert.is_nil(h:plot({ width = 40, colour = false }):find("\27", 1, true))
    assert.is_nil(h:plot({ width = 40 }):find("\27", 1, true)) -- nobody looks: this is no terminal
    local plain = h:plot { width = 40, height = 5, colour = true, ascii = true }
    assert.truthy(plain:find("\27%[0;48;"))
    assert.is_nil(plain:find("[\128-\255]"))
  end)

  it("takes colours as the environment says", function()
    local script = [[local gr = require "gpureduce"
      local a = gr.array { 1, 2, 3 }
      io.write(gr.histogram2d(a, a, { bins = 2 }):plot { colour = true, ascii = false, width = 30, height = 2 })]]
    assert.truthy(S.child_text({ COLORTERM = "truecolor" }, script):find("38;2;", 1, true))
    assert.truthy(S.child_text({ COLORTERM = "" }, script):find("38;5;", 1, true))
  end)

  it("asks a terminal for colours, and NO_COLOR, TERM and the locale whether to", function()
    if not os.execute("command -v script >/dev/null 2>&1") then pending "no program to be a terminal" end
    local text = [[local gr = require "gpureduce"
      local a = gr.array { 1, 2, 3 }
      print(gr.histogram2d(a, a, { bins = 2 }):plot { width = 30, height = 2 })]]
    S.with_file(function(path)
      S.write_file(path, text)
      local function shown(environment)
        local run = ("stty cols 80; LUA_CPATH='%s' %s %s"):format(package.cpath, S.interpreter(), path)
        local pipe = io.popen(("env LC_ALL=C.UTF-8 TERM=xterm COLORTERM= %s script -qec \"%s\" /dev/null </dev/null")
          :format(environment, run))
        local out = pipe:read("*a")
        pipe:close()
        assert.truthy(out:find("count", 1, true), out)
        return out:find("\27[0;", 1, true) ~= nil
      end
      assert.is_true(shown("NO_COLOR="))
      assert.is_false(shown("NO_COLOR=1"))
      assert.is_false(shown("TERM=dumb"))
      assert.is_false(shown("LC_ALL=C"))
    end, ".lua")
  end)

  it("says what is wrong", function()
    local function says(text, f, ...) assert.equal("bad argument #" .. text, S.message(f, ...)) end
    says("2 to 'plot' (unknown option 'widht' (did you mean 'width'?))", h.plot, h, { widht = 3 })
    says("2 to 'plot' (option 'width': 10 or more expected, got 3)", h.plot, h, { width = 3 })
    says("2 to 'plot' (option 'log': true, 2 or 10 expected, got 7)", h.plot, h, { log = 7 })
    says("1 to 'plot' (gpureduce.histogram2d expected, got number (write h:plot(), not h.plot()))", h.plot, 3)
    says("2 to 'plot' (unknown option 'x')", gr.plot, gr.ones(4):matrix(2), { x = { 1, 2 } })
    for _, X in ipairs { gr.zeros(0):matrix(1), gr.full(4, nan):matrix(2), gr.full(4, huge):matrix(2) } do
      assert.truthy(gr.plot(X, { width = 30, height = 3, ascii = true }):find("values:", 1, true))
    end
  end)
end)
