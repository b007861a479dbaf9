-- Histograms in the terminal, charts as SVG: what is drawn is where the numbers say.
local S = require "spec.support"
local gr = S.gr
local D = require "spec.drawing"
local columns, lines_of, parsed, ticks, reader, near = D.columns, D.lines_of, D.parsed, D.ticks, D.reader, D.near
local nan, huge = S.model.nan, math.huge

local block = "\226\150\136"

describe("h:plot", function()
  local h = gr.histogram(gr.array({ 1, 1, 1, 1, 2, 2, 3, 9 }, "f64"), { edges = { 0, 1.5, 2.5, 3.5 } })

  it("draws bars as long as the counts", function()
    assert.equal(table.concat({
      "  0 |################## 4",
      "1.5 |######### 2",
      "2.5 |##### 1",
      "3.5",
      "above 1, bars: counts,",
      "bins differ in width",
    }, "\n"), h:plot { width = 25, ascii = true })
    assert.truthy(h:plot({ width = 25, ascii = false }):find("\226\148\130" .. block:rep(18) .. " 4", 1, true))
  end)

  it("draws bars as long as the logarithms of the counts", function()
    local log = gr.histogram(gr.array({ 1, 1, 1, 1, 1, 1, 1, 2, 4 }, "f64"), { edges = { 0, 1.5, 2.5, 3.5 } })
    assert.equal(table.concat({
      "  0 |################## 7", -- log2(8) = 3, log2(2) = 1
      "1.5 |###### 1",
      "2.5 | 0",
      "3.5",
      "above 1, bars: log(1 +",
      "count), bins differ in",
      "width",
    }, "\n"), log:plot { width = 25, ascii = true, log = true })
  end)

  it("is as wide as it may be, on 24, 40, 80 and 200 columns, whatever the numbers", function()
    local samples = {
      gr.randn(5000), gr.array({ 1e-300, 2e-300, -7.123456e-300 }, "f64"), gr.array({ 1, 1 + 2 ^ -52, 3 }, "f64"),
      gr.full(1e6, 123456789, "i32"), gr.array({ -1e15, 123456789012345, 7 }, "f64"),
    }
    for _, a in ipairs(samples) do
      for _, width in ipairs { 24, 40, 80, 200 } do
        for _, ascii in ipairs { true, false } do
          for _, log in ipairs { true, false } do
            local longest = 0
            local each = gr.histogram(a, { bins = 12 }):plot { width = width, ascii = ascii, log = log }
            for k, line in ipairs(lines_of(each)) do
              if k <= 12 then longest = math.max(longest, columns(line)) end
              assert.is_true(columns(line) <= width, line)
            end
            assert.is_true(longest >= width - 4 and longest <= width, each)
          end
        end
      end
    end
  end)

  it("shows eighths of a column, and something wherever something is", function()
    local a = {}
    for k = 1, 5000 do a[k] = k == 1 and 1 or 2 end
    local few = gr.histogram(gr.array(a), { edges = { 0, 1.5, 2.5 } })
    assert.truthy(few:plot({ width = 40, ascii = false }):find("0 \226\148\130\226\150\143 1\n", 1, true))
    assert.truthy(few:plot({ width = 40, ascii = true }):find("0 |. 1\n", 1, true))
    local halves = gr.histogram(gr.array({ 1, 2, 2 }), { edges = { 0, 1.5, 2.5 } }) -- 33 columns: 16 and a half
    assert.truthy(halves:plot({ width = 40, ascii = false }):find(block:rep(16) .. "\226\150\140 1\n", 1, true))
  end)

  it("merges bins to a height", function()
    local many = gr.histogram(gr.arange(0, 999, "i32"), { bins = 1000, min = 0, max = 999 })
    local lines = lines_of(many:plot { height = 10, ascii = true, width = 40 })
    assert.equal(11, #lines)
    for k = 1, 10 do assert.truthy(lines[k]:find(" 100$"), lines[k]) end
  end)

  it("is what print shows, as wide as COLUMNS says, in ASCII on a dumb terminal", function()
    assert.equal(h:plot(), tostring(h))
    local text = S.child_text({ COLUMNS = "40", TERM = "dumb" },
      "local gr = require 'gpureduce' print(gr.histogram(gr.randn(1000), { bins = 5 }))")
    local lines, longest = lines_of(text), 0
    for _, line in ipairs(lines) do longest = math.max(longest, #line) end
    assert.equal(40, longest)
    assert.is_nil(text:find("[\128-\255]"))
    text = S.child_text({ COLUMNS = "", TERM = "xterm" },
      "local gr = require 'gpureduce' print(gr.histogram(gr.full(9, 1), { bins = 1 }))")
    assert.equal(80, columns(lines_of(text)[1]))
    assert.truthy(text:find(block, 1, true))
  end)
end)

-- Ticks in steps of 1, 2 or 5 times a power of ten; on an axis of ratios powers of its base, or 1, 2 and 5.
local function check_round(list, log)
  local function leading(x) return ("%.3e"):format(x):sub(1, 5) end
  local fine = { ["1.000"] = true, ["2.000"] = true, ["5.000"] = true }
  for k, tick in ipairs(list) do
    local e = math.log(tick.value) / math.log(2)
    if log == 2 then assert.is_true(math.abs(e - math.floor(e + 0.5)) < 1e-9, tick.value)
    elseif log then assert.is_true(fine[leading(tick.value)], tick.value)
    elseif k > 1 then
      assert.is_true(fine[leading(tick.value - list[k - 1].value)], tick.value)
      assert.is_true(near(tick.value - list[k - 1].value, list[2].value - list[1].value, 1e-9))
    end
  end
end

describe("gr.svg", function()
  local cases = {
    { x = { 1, 2, 3, 4, 5 }, y = { 1, 3, 2, 5, 4 } },
    { x = { -20, 0, 37, 90 }, y = { -0.002, 0.001, 0.0035, 0.00201 }, powers = { 0, 0 } },
    { x = { 0, 1e6, 3.3e6 }, y = { 2e9, 4e9, 1e9 }, powers = { 6, 9 } },
    { x = { 1024, 2 ^ 20, 2 ^ 30 }, y = { 3, 900, 4600 }, xlog = 2, ylog = true },
    { x = { 0.01, 30, 4e5 }, y = { 1.5, 2.5, 7 }, xlog = true, ylog = 10 },
    { x = { 1, 2, 3 }, y = { 7, 7, 7 } },
  }

  for k, case in ipairs(cases) do
    it("puts points where the ticks say, case " .. k, function()
      local svg = gr.svg { lines = { { name = "one & two <3>", x = case.x, y = case.y } }, xlog = case.xlog,
        ylog = case.ylog, title = "a \"title\"" }
      local points = {}
      for _, element in ipairs(parsed(svg)) do
        if element.name == "circle" then points[#points + 1] = { tonumber(element.cx), tonumber(element.cy) } end
      end
      assert.equal(#case.x + 1, #points) -- and one beside the name
      -- long and tiny numbers have their power of ten in the axis' name
      local unit_x, unit_y = 10.0 ^ (case.powers and case.powers[1] or 0), 10.0 ^ (case.powers and case.powers[2] or 0)
      local xs, ys = ticks(svg, "middle"), ticks(svg, "end")
      check_round(xs, case.xlog)
      check_round(ys, case.ylog)
      local read_x, read_y = reader(xs, "x", 0, case.xlog), reader(ys, "y", -4, case.ylog)
      for i = 1, #case.x do
        local x, y = read_x(points[i][1]), read_y(points[i][2])
        local words = ("(%g, %g), drawn at (%g, %g)"):format(case.x[i], case.y[i], x * unit_x, y * unit_y)
        assert.is_true(near(case.x[i] / unit_x, x, 0.01) and near(case.y[i] / unit_y, y, 0.01), words)
      end
      assert.truthy(svg:find("one &amp; two &lt;3&gt;", 1, true))
    end)
  end

  it("names axes with units and the power that ticks leave out", function()
    local svg = gr.svg { lines = { { y = { 1e7, 2e7 } } }, xlabel = "turn", ylabel = "speed", yunit = "m/s" }
    assert.truthy(svg:find(">turn<", 1, true))
    assert.truthy(svg:find(">speed (10\226\129\182 m/s)<", 1, true))
    assert.truthy(gr.svg({ lines = { { y = { 1e-5, 2e-5 } } } }):find(">(10\226\129\187\226\129\182)<", 1, true))
  end)

  it("gives every line its own dashes and marks, and names them apart", function()
    local lines = {}
    for k = 1, 12 do lines[k] = { name = "line " .. k, y = { k, k + 0.01, k } } end
    local svg, seen, rows = gr.svg { lines = lines }, {}, {}
    for _, element in ipairs(parsed(svg)) do
      if element.name == "text" and element.text:find("^line ") then rows[#rows + 1] = tonumber(element.y) end
    end
    assert.equal(12, #rows)
    table.sort(rows)
    for k = 2, 12 do assert.is_true(rows[k] - rows[k - 1] >= 16) end
    assert.is_true(rows[1] > 0 and rows[12] < 440)
    for style, mark in svg:gmatch('<path (fill="none"[^>]-) d="M[%d. ]+h26"/>\n<g [^>]*>(<[^>]-)[%d. ]') do
      seen[style .. mark] = (seen[style .. mark] or 0) + 1
    end
    local different = 0
    for _ in pairs(seen) do different = different + 1 end
    assert.equal(12, different)
  end)

  it("leaves gaps for what cannot be drawn", function()
    local function moves(options)
      local path = gr.svg(options):match('<path fill="none"[^>]*linejoin="round" d="([^"]*)"')
      return select(2, path:gsub("M", "")), select(2, path:gsub("[ML]", ""))
    end
    local pieces, points = moves { lines = { { y = { 1, 2, nan, 3, huge, 4, 5, -huge } } } }
    assert.equal(3, pieces)
    assert.equal(5, points)
    pieces, points = moves { lines = { { y = { 1, 2, 0, -3, 4 } } }, ylog = true }
    assert.equal(2, pieces)
    assert.equal(3, points)
    assert.is_nil(gr.svg({ lines = { { y = { nan } } } }):find("nan", 1, true))
    assert.is_nil(gr.svg({ lines = { {  y = {} } } }):find("inf", 1, true))
  end)

  it("draws ceilings inside the picture", function()
    local svg = gr.svg { lines = { { y = { 1, 2 } } }, ceiling = { y = 10, name = "the most" } }
    assert.truthy(svg:find(">the most<", 1, true))
    local at = tonumber(svg:match('stroke%-dasharray="12 4" d="M[%d.]+ ([%d.]+)H'))
    assert.is_true(near(10, reader(ticks(svg, "end"), "y", -4)(at), 0.01))
    svg = gr.svg { lines = {}, ceiling = { { y = 1 }, { y = 2, name = "two" } } }
    assert.equal(2, select(2, svg:gsub('stroke%-dasharray="12 4"', "")))
    assert.equal(1, select(2, gr.svg({ lines = {}, ceiling = 5 }):gsub('stroke%-dasharray="12 4"', "")))
  end)

  it("keeps to given limits", function()
    local svg = gr.svg { lines = { { y = { 1, 2, 3, 400 } } }, ymin = 0, ymax = 4, xmin = 1, xmax = 3 }
    local ys = ticks(svg, "end")
    assert.equal(0, ys[1].value)
    assert.equal(4, ys[#ys].value)
    assert.equal(3, select(2, svg:gsub("<circle", "")))
  end)

  it("reduces long arrays to their outline, where they are", function()
    local a = gr.zeros(1000003)
    a[700001], a[200001], a[1000003] = 5, -3, 2
    local counts = S.counted(function()
      local svg = gr.svg { lines = { a } }
      assert.is_true(#svg < 100000)
      local read_x = reader(ticks(svg, "middle"), "x", 0)
      local read_y = reader(ticks(svg, "end"), "y", -4)
      local found, lowest = false, false
      for x, y in svg:match(' d="([^"]*)"/>\n</svg>'):gmatch("[ML]([%d.]+) ([%d.]+)") do
        if near(5, read_y(tonumber(y)), 0.02) then found = math.abs(read_x(tonumber(x)) - 0.7) < 0.01 end
        if near(-3, read_y(tonumber(y)), 0.02) then lowest = math.abs(read_x(tonumber(x)) - 0.2) < 0.01 end
      end
      assert.is_true(found)
      assert.is_true(lowest)
    end)
    assert.is_true(counts.bytes_down < 200000)
  end)

  it("takes arrays and views for x and y, and writes files", function()
    S.with_file(function(name)
      local view = gr.arange(1, 6):slice(1, 6, 2)
      assert.is_true(gr.svg { path = name, lines = { { x = gr.array { 3, 2, 1 }, y = view } } })
      assert.equal(3, select(2, S.read_file(name):gsub("<circle", "")))
      parsed(S.read_file(name))
    end)
    local ok, message, code = gr.svg { path = "/nowhere/at/all", lines = {} }
    assert.is_nil(ok)
    assert.equal("/nowhere/at/all: No such file or directory", message)
    assert.equal(2, code)
    ok, message = gr.svg { path = "/dev/full", lines = {} }
    assert.is_nil(ok)
    assert.truthy(message:find("No space left", 1, true))
  end)
end)

describe("h:svg", function()
  it("draws bars between their edges, as high as the counts", function()
    local counts, edges = { 3, 0, 7, 1 }, { 0, 1, 2, 4, 10 }
    local h = gr.histogram(gr.array { 0, 0.5, 0.5, 2, 2, 2, 2, 2, 3, 3, 5, 11, -1, nan }, { edges = edges })
    local svg = h:svg(nil, { title = "Bars", xlabel = "length", xunit = "cm", density = false })
    parsed(svg)
    local read_x, read_y = reader(ticks(svg, "middle"), "x", 0), reader(ticks(svg, "end"), "y", -4)
    local k = 0
    for a, top, b in svg:gmatch('<path d="M([%d.]+) [%d.]+V([%d.]+)H([%d.]+)V') do
      repeat k = k + 1 until counts[k] > 0
      assert.is_true(near(edges[k], read_x(tonumber(a)), 0.01))
      assert.is_true(near(edges[k + 1], read_x(tonumber(b)), 0.01))
      assert.is_true(near(counts[k], read_y(tonumber(top)), 0.01))
    end
    assert.equal(4, k)
    assert.truthy(svg:find("not shown: below 1, above 1, nan 1; bins differ in width, heights are counts", 1, true))
    assert.truthy(svg:find(">length (cm)<", 1, true))
    assert.truthy(svg:find(">count<", 1, true))
  end)

  it("draws weights below 0 downwards", function()
    local h = gr.histogram(gr.array { 1, 2, 3 }, { edges = { 1, 2, 3, 4 }, weights = gr.array({ 2, -3, 1 }, "f32") })
    local svg, k = h:svg(), 0
    local read = reader(ticks(svg, "end"), "y", -4)
    for base, top in svg:gmatch('<path d="M[%d.]+ ([%d.]+)V([%d.]+)H') do
      k = k + 1
      assert.is_true(near(0, read(tonumber(base)), 0.01))
      assert.is_true(near(({ 2, -3, 1 })[k], read(tonumber(top)), 0.01))
    end
    assert.equal(3, k)
    assert.truthy(svg:find(">weight<", 1, true))
    local text = h:plot { width = 30, ascii = true }
    assert.truthy(text:find("2 | -3\n", 1, true), text)
  end)

  it("draws ratios of counts and edges", function()
    local h = gr.histogram(gr.array { 1, 2, 2, 4, 4, 4, 4, 5, 5 }, { edges = { 1, 2, 4, 8 } })
    local svg = h:svg(nil, { log = true, xlog = 2 })
    local read_x, read_y = reader(ticks(svg, "middle"), "x", 0, true), reader(ticks(svg, "end"), "y", -4, true)
    local k = 0
    for a, top in svg:gmatch('<path d="M([%d.]+) [%d.]+V([%d.]+)H') do
      k = k + 1
      assert.is_true(near(2 ^ (k - 1), read_x(tonumber(a)), 0.02))
      assert.is_true(near(({ 1, 2, 6 })[k], read_y(tonumber(top)), 0.02))
    end
    assert.equal(3, k)
  end)

  it("writes files, and gives what the system says", function()
    local h = gr.histogram(gr.zeros(0), { bins = 3 })
    S.with_file(function(name)
      assert.is_true(h:svg(name))
      assert.equal(h:svg(), S.read_file(name))
    end)
    local ok, message, code = h:svg("/nowhere/at/all")
    assert.is_nil(ok)
    assert.equal("/nowhere/at/all: No such file or directory", message)
    assert.equal(2, code)
  end)
end)

-- luacheck: push no max line length
describe("pictures refuse", function()
  local h = gr.histogram(gr.zeros(3), { bins = 2 })
  local rows = {
    { function() h:plot { widht = 3 } end,
      "bad argument #2 to 'plot' (unknown option 'widht' (did you mean 'width'?))" },
    { function() h:plot(5) end, "bad argument #2 to 'plot' (options table expected, got number)" },
    { function() h:plot { 5 } end, "bad argument #2 to 'plot' (option names are strings, got a number)" },
    { function() h:plot { width = "x" } end,
      "bad argument #2 to 'plot' (option 'width': number expected, got string)" },
    { function() h:plot { width = 9 } end, "bad argument #2 to 'plot' (option 'width': 10 or more expected, got 9)" },
    { function() h:plot { height = 0 } end, "bad argument #2 to 'plot' (option 'height': 1 or more expected, got 0)" },
    { function() h.plot() end,
      "bad argument #1 to 'plot' (gpureduce.histogram expected, got no value (write h:plot(), not h.plot()))" },
    { function() h.plot { width = 30 } end,
      "bad argument #1 to 'plot' (gpureduce.histogram expected, got table (write h:plot(), not h.plot()))" },
    { function() h.quantile(0.5) end,
      "bad argument #1 to 'quantile' (gpureduce.histogram expected, got number (write h:quantile(), "
        .. "not h.quantile()))" },
    { function() h:quantile(2) end, "bad argument #2 to 'quantile' (share from 0 to 1 expected, got 2)" },
    { function() h:svg(5) end, "bad argument #2 to 'svg' (path expected, got number)" },
    { function() h.svg("x") end,
      "bad argument #1 to 'svg' (gpureduce.histogram expected, got string (write h:svg(), not h.svg()))" },
    { function() h:svg("x", { titel = "t" }) end,
      "bad argument #3 to 'svg' (unknown option 'titel' (did you mean 'title'?))" },
    { function() h:svg("x", { width = 1 }) end,
      "bad argument #3 to 'svg' (option 'width': 100 to 10000 expected, got 1)" },
    { function() h:svg("x", { xlog = 3 }) end,
      "bad argument #3 to 'svg' (option 'xlog': true, 2 or 10 expected, got 3)" },
    { function() gr.svg() end, "bad argument #1 to 'svg' (options table with 'lines' expected, got no value)" },
    { function() gr.svg {} end,
      "bad argument #1 to 'svg' (option 'lines', 'steps', 'points', 'histograms' or 'heat' expected)" },
    { function() gr.svg(gr.zeros(3)) end,
      "bad argument #1 to 'svg' (options table expected, got gpureduce.array)" },
    { function() gr.svg { lines = 5 } end, "bad argument #1 to 'svg' (option 'lines': table expected, got number)" },
    { function() gr.svg { lines = { 5 } } end,
      "bad argument #1 to 'svg' (option 'lines': line 1: table or gpureduce.array expected, got number)" },
    { function() gr.svg { lines = { { x = { 1 } } } } end,
      "bad argument #1 to 'svg' (option 'lines': line 1: no 'y')" },
    { function() gr.svg { lines = { { y = 5 } } } end,
      "bad argument #1 to 'svg' (option 'lines': line 1: y: table or gpureduce.array expected, got number)" },
    { function() gr.svg { lines = { { y = { 1, 2 }, x = { 1 } } } } end,
      "bad argument #1 to 'svg' (option 'lines': line 1: 1 numbers in 'y' expected, got 2)" },
    { function() gr.svg { lines = {}, xmin = 2, xmax = 1 } end,
      "bad argument #1 to 'svg' (xmin 2 is not below xmax 1)" },
    { function() gr.svg { lines = {}, ymin = 0, ylog = true } end,
      "bad argument #1 to 'svg' (option 'ymin': more than 0 expected with 'ylog', got 0)" },
    { function() gr.svg { lines = {}, ymax = huge } end,
      "bad argument #1 to 'svg' (option 'ymax': finite number expected, got inf)" },
    { function() gr.svg { lines = {}, ceiling = { "x" } } end,
      "bad argument #1 to 'svg' (option 'ceiling': entry 1: a table with a finite number 'y' expected)" },
    { function() gr.svg { lines = {}, ylog = "yes" } end,
      "bad argument #1 to 'svg' (option 'ylog': boolean or number expected, got string)" },
  }
  for _, row in ipairs(rows) do
    it(row[2], function()
      local ok, message = pcall(row[1])
      assert.is_false(ok)
      assert.truthy(message:find("pictures_spec.lua:%d+: "), message) -- the caller's line
      assert.equal(row[2], (message:gsub("^[^\n]-:%d+: ", "")))
    end)
  end
end)
-- luacheck: pop
