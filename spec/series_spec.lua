-- What charts are made of: points, steps, error bars, overlaid histograms; limits of numbers, sizes and texts.
local S = require "spec.support"
local D = require "spec.drawing"
local gr = S.gr
local parsed, ticks, reader, near = D.parsed, D.ticks, D.reader, D.near
local nan, huge = S.model.nan, math.huge

local function elements(svg, name)
  local list = {}
  for _, element in ipairs(parsed(svg)) do
    if element.name == name then list[#list + 1] = element end
  end
  return list
end

-- The paths of lines: attributes by name.
local function drawn_lines(svg)
  local list = {}
  for _, element in ipairs(elements(svg, "path")) do
    if element["stroke-linejoin"] then list[#list + 1] = element end
  end
  return list
end

local function count(text, what) return select(2, text:gsub(what, "")) end

describe("series", function()
  it("are drawn as points, without lines between them", function()
    local svg = gr.svg { points = { { name = "cloud", x = { 1, 3, 2 }, y = { 1, 5, 3 } } } }
    assert.equal(0, #drawn_lines(svg))
    local read_x, read_y = reader(ticks(svg, "middle"), "x", 0), reader(ticks(svg, "end"), "y", -4)
    local circles = elements(svg, "circle")
    assert.equal(4, #circles) -- one beside the name
    for k, point in ipairs { { 1, 1 }, { 3, 5 }, { 2, 3 } } do
      assert.is_true(near(point[1], read_x(tonumber(circles[k].cx)), 0.02))
      assert.is_true(near(point[2], read_y(tonumber(circles[k].cy)), 0.02))
    end
  end)

  it("of very many points become squares, darker where more of them lie", function()
    local n = 100000
    local svg = gr.svg { points = { { x = gr.randn(n, { seed = 1 }), y = gr.randn(n, { seed = 2 }) } } }
    parsed(svg)
    assert.is_true(#svg < 150000)
    local seen = {}
    for opacity in svg:gmatch('stroke%-width="2" stroke%-opacity="([%d.]+)"') do seen[opacity] = true end
    assert.is_true(seen["0.4"] and seen["0.6"] and seen["0.8"] and seen["1"])
  end)

  it("are drawn as steps that hold until the next x", function()
    local svg = gr.svg { steps = { { x = { 0, 1, 3 }, y = { 2, 5, 1 } } } }
    local read_x, read_y = reader(ticks(svg, "middle"), "x", 0), reader(ticks(svg, "end"), "y", -4)
    local found = {}
    for x, y in drawn_lines(svg)[1].d:gmatch("[ML]([%d.]+) ([%d.]+)") do
      found[#found + 1] = { read_x(tonumber(x)), read_y(tonumber(y)) }
    end
    for k, corner in ipairs { { 0, 2 }, { 1, 2 }, { 1, 5 }, { 3, 5 }, { 3, 1 } } do
      assert.is_true(math.abs(corner[1] - found[k][1]) < 0.02 and math.abs(corner[2] - found[k][2]) < 0.02, k)
    end
  end)

  it("have error bars: one number, one for each, or lower and upper ends", function()
    local y = { 2, 4, 3 }
    local entries = {
      { { y = y, error = 0.5 }, { 1.5, 3.5, 2.5 }, { 2.5, 4.5, 3.5 } },
      { { y = y, error = gr.array { 0.5, 1, 0.25 } }, { 1.5, 3, 2.75 }, { 2.5, 5, 3.25 } },
      { { y = y, low = { 1, 2, 2 }, high = { 4, 4.5, 7 } }, { 1, 2, 2 }, { 4, 4.5, 7 } },
    }
    for _, each in ipairs(entries) do
      for _, kind in ipairs { "lines", "points", "steps" } do
        local svg = gr.svg { [kind] = { each[1] }, ylabel = "y" }
        local read, k = reader(ticks(svg, "end"), "y", -4), 0
        for low, high in svg:gmatch("M[%d.]+ ([%d.]+)V([%d.]+)M") do
          k = k + 1
          assert.is_true(near(each[2][k], read(tonumber(low)), 0.02))
          assert.is_true(near(each[3][k], read(tonumber(high)), 0.02))
        end
        assert.equal(3, k)
      end
    end
  end)

  it("show dense errors as a band", function()
    local x = gr.linspace(0, 10, 1000)
    local svg = gr.svg { lines = { { x = x, y = gr.sqrt(x), error = gr.full(1000, 0.25) } } }
    assert.equal(1, count(svg, 'fill%-opacity="0.28"'))
    assert.is_true(#svg < 60000)
  end)

  it("with x given are reduced as those without: 100000 points take no megabyte", function()
    local n = 100000
    local y = gr.zeros(n)
    y[20001], y[70001] = -3, 5
    local x = gr.linspace(0, 1, n)
    for _, entry in ipairs { { x = x, y = y }, { x = x:table(), y = y:table() }, { y = y:table() },
      { x = x, y = gr.randn(n, { seed = 3 }) } } do
      local svg = gr.svg { lines = { entry } }
      parsed(svg)
      assert.is_true(#svg < 100000, #svg)
    end
    local svg = gr.svg { lines = { { x = x, y = y } } }
    local read_x, read_y = reader(ticks(svg, "middle"), "x", 0), reader(ticks(svg, "end"), "y", -4)
    local low, high
    for px, py in drawn_lines(svg)[1].d:gmatch("[ML]([%d.]+) ([%d.]+)") do
      local value, at = read_y(tonumber(py)), read_x(tonumber(px))
      if near(-3, value, 0.02) then low = at end
      if near(5, value, 0.02) then high = at end
    end
    assert.is_true(near(0.2, low, 0.01) and near(0.7, high, 0.01))
  end)

  it("that go to and fro stay short texts too", function()
    local n = 100000
    local turn = gr.linspace(0, 300, n):table()
    local x, y = {}, {}
    for k = 1, n do x[k], y[k] = math.sin(turn[k] * 3), math.cos(turn[k] * 2) end
    assert.is_true(#gr.svg { lines = { { x = x, y = y } } } < 700000)
    assert.is_true(#gr.svg { lines = { { x = gr.rand(n, { seed = 1 }), y = gr.rand(n, { seed = 2 }) } } } < 700000)
  end)

  it("that are dense are a pale band around a line of means, no solid block", function()
    for _, n in ipairs { 1500, 5000, 100000 } do
      local y = gr.randn(n, { seed = 1 })
      for _, entry in ipairs { { y = y }, { x = gr.linspace(0, 1, n), y = y } } do
        local svg = gr.svg { lines = { entry }, width = 320 }
        assert.truthy(svg:find('fill-opacity="0.28"', 1, true), n)
        local read, off = reader(ticks(svg, "end"), "y", -4), 0
        for at in drawn_lines(svg)[1].d:gmatch("[ML][%d.]+ ([%d.]+)") do
          off = math.max(off, math.abs(read(tonumber(at))))
        end
        assert.is_true(off < (n < 10000 and 2 or 0.5), off)
      end
    end
    assert.is_nil(gr.svg({ lines = { { y = gr.linspace(0, 1, 100000) } } }):find("fill-opacity", 1, true))
  end)

  it("keep their slope where limits cut them", function()
    local svg = gr.svg { lines = { { x = { 0, 1e6 }, y = { 0, 2e6 } } }, xmin = 0, xmax = 1, ymin = 0, ymax = 4 }
    local read_x, read_y = reader(ticks(svg, "middle"), "x", 0), reader(ticks(svg, "end"), "y", -4)
    local x, y = drawn_lines(svg)[1].d:match("L(%-?[%d.]+) (%-?[%d.]+)$")
    assert.is_true(near(2, read_y(tonumber(y)) / read_x(tonumber(x)), 0.01))
    assert.is_true(math.abs(tonumber(x)) < 4000 and math.abs(tonumber(y)) < 4000)
  end)
end)

describe("histograms in charts", function()
  local a = gr.array { 0, 0.5, 0.5, 2, 2, 2, 2, 2, 3, 3, 5 }
  local uneven = gr.histogram(a, { edges = { 0, 1, 2, 4, 10 } })

  -- Heights of bars, by what the ticks say.
  local function heights(svg)
    local read, list = reader(ticks(svg, "end"), "y", -4), {}
    for top in svg:gmatch('<path d="M[%d.]+ [%d.]+V([%d.]+)H') do list[#list + 1] = read(tonumber(top)) end
    return list
  end

  it("show bins of unequal width by areas, and say so", function()
    local svg = uneven:svg(nil, { xunit = "cm" })
    for k, height in ipairs(heights(svg)) do assert.is_true(near(({ 3, 7 / 2, 1 / 6 })[k], height, 0.02)) end
    assert.truthy(svg:find(">count per cm<", 1, true))
    assert.truthy(svg:find(">bins differ in width, areas are counts<", 1, true))
    svg = uneven:svg(nil, { density = false })
    for k, height in ipairs(heights(svg)) do assert.is_true(near(({ 3, 7, 1 })[k], height, 0.02)) end
    assert.truthy(svg:find(">bins differ in width, heights are counts<", 1, true))
    assert.is_nil(gr.histogram(a, { bins = 7 }):svg():find("differ", 1, true))
    assert.is_nil(gr.histogram(gr.exp(a), { bins = 7, log = true }):svg(nil, { xlog = true }):find("differ", 1, true))
  end)

  it("show densities where they are asked, in pictures and in the terminal", function()
    local expected = { 3 / 11, 7 / 22, 1 / 66 }
    local made = gr.histogram(a, { edges = { 0, 1, 2, 4, 10 }, density = true })
    for _, svg in ipairs { uneven:svg(nil, { density = true }), made:svg() } do
      for k, height in ipairs(heights(svg)) do assert.is_true(near(expected[k], height, 0.02)) end
      assert.truthy(svg:find(">density<", 1, true))
    end
    local options = { ascii = true, width = 40, density = true }
    local texts = { uneven:plot(options), made:plot { ascii = true, width = 40 } }
    for _, text in ipairs(texts) do
      local k = 0
      for value in text:gmatch("|%S* (%S+)\n") do
        k = k + 1
        assert.is_true(near(({ 3 / 11, 0, 7 / 22, 1 / 66 })[k], tonumber(value), 1e-3))
      end
      assert.equal(4, k)
      assert.truthy(text:find("bars: density", 1, true))
    end
    options.density = false
    assert.truthy(made:plot(options):find("bars: counts, bins differ in width", 1, true))
  end)

  it("lie over each other, each in its own style", function()
    local x = gr.randn(10000, { seed = 1 })
    local first = gr.histogram(x, { bins = 20, min = -4, max = 4 })
    local second = gr.histogram(x * 0.5, { bins = 20, min = -4, max = 4 })
    local svg = gr.svg { histograms = { { name = "one", histogram = first }, { name = "two", histogram = second } },
      lines = { { name = "three", y = { 1, 2 } } } }
    parsed(svg)
    assert.equal(2, count(svg, 'fill%-opacity="0.18"'))
    for _, name in ipairs { "one", "two", "three" } do assert.truthy(svg:find(">" .. name .. "<", 1, true)) end
    assert.truthy(svg:find(">count<", 1, true))
    assert.truthy(gr.svg({ histograms = { first, gr.histogram(x, { bins = 7 }) } }):find(">count per unit<", 1, true))
    assert.truthy(gr.svg({ histograms = { first }, density = true }):find(">density<", 1, true))
  end)

  it("have outlines only where bars are 3 pixels wide", function()
    local x = gr.randn(100000, { seed = 1 })
    assert.truthy(gr.histogram(x, { bins = 100 }):svg():find('stroke="#084594"', 1, true))
    for _, bins in ipairs { 500, 2000, 1000000 } do
      local svg = gr.histogram(x, { bins = bins }):svg()
      assert.is_nil(svg:find('stroke="#084594"', 1, true))
      assert.is_true(#svg < 60000, #svg)
      assert.equal(bins > 700, svg:find("bins that share a pixel: their mean, and pale their greatest", 1, true) ~= nil)
    end
  end)
end)

describe("pictures end", function()
  local guarded = function(f)
    debug.sethook(function() error("still at it", 2) end, "", 1e8)
    local ok, message = pcall(f)
    debug.sethook()
    assert.is_true(ok, message)
    return message
  end
  local ends = { 5e-324, 1e-308, 2.2250738585072014e-308, 1, 1 + 2 ^ -52, 1e15, 2 ^ 53, 1e292, 1e308,
    1.7976931348623157e308 }

  it("for any two numbers on every kind of axis", function()
    for _, p in ipairs(ends) do
      for _, q in ipairs(ends) do
        for _, log in ipairs { false, true, 2 } do
          local pairs_of = log and { { p, q } } or { { p, q }, { -p, q }, { -p, -q } }
          for _, y in ipairs(pairs_of) do
            local svg = guarded(function()
              return gr.svg { lines = { { x = y, y = y } }, ylog = log, xlog = log, width = 320, height = 240 }
            end)
            assert.is_true(#svg < 40000, #svg)
            assert.is_nil(svg:find("[ML\" ]%-?[in][na][fn]"), svg)
            parsed(svg)
            guarded(function() return gr.plot({ y[1], y[2] }, { ylog = log, width = 60 }) end)
          end
        end
      end
    end
    assert.truthy(guarded(function() return gr.svg { lines = { { y = { 1e308, 1 } } }, ylog = 2 } end))
  end)

  it("for bins of any width", function()
    for _, edges in ipairs { { -5e-324, 5e-324 }, { -1.7e308, 1.7e308 }, { 1, 1 + 2 ^ -52, 2 }, { 0, 5e-324, 1e308 },
      { 1e308, 1.7e308 } } do
      local h = gr.histogram(gr.array({ 0, 1, 1e308 }, "f64"), { edges = edges })
      for _, options in ipairs { {}, { density = true }, { density = false }, { log = true } } do
        parsed(guarded(function() return h:svg(nil, options) end))
      end
      for _, width in ipairs { 10, 24, 80 } do
        guarded(function() return h:plot { width = width, density = true } end)
        guarded(function() return h:plot { width = width, log = true } end)
      end
    end
  end)
end)

describe("texts in pictures", function()
  local title = "How far a walker comes in a thousand steps of random length and direction"
  local function chart(width)
    local lines = {}
    for k = 1, 8 do lines[k] = { name = "walker number " .. k, y = { k, k * 2, k * 1.5 } } end
    return gr.svg { lines = lines, title = title, xlabel = "steps since the beginning", ylabel = "distance",
      yunit = "m", width = width, height = width * 0.75, ceiling = { y = 12, name = "as far as the fence" } }
  end

  it("are whole and inside the picture at 320, 640 and 1200 pixels", function()
    for _, width in ipairs { 320, 640, 1200 } do
      local words = {}
      local svg = chart(width)
      for _, element in ipairs(elements(svg, "text")) do
        local size, x = tonumber(element["font-size"] or 13), tonumber(element.x or 0)
        local wide = D.columns(element.text) * size * 0.5
        if not element.transform then
          local anchor = element["text-anchor"]
          local left = anchor == "middle" and x - wide / 2 or anchor == "end" and x - wide or x
          assert.is_true(left >= 0 and left + wide <= width, element.text)
        end
        words[#words + 1] = element.text
        assert.is_nil(element.text:find("\226\128\166", 1, true), element.text) -- no dots
      end
      local all = table.concat(words, " ")
      assert.truthy(all:find(title, 1, true), all)
      for k = 1, 8 do assert.truthy(all:find("walker number " .. k, 1, true)) end
    end
  end)

  it("do not meet: names keep their rows, whatever their number", function()
    for _, n in ipairs { 6, 12, 30, 200 } do
      for _, width in ipairs { 320, 640, 1200 } do
        local lines = {}
        for k = 1, n do lines[k] = { name = ("n%03d"):format(k), y = { 1, 1 + k / 1000 } } end
        local found = {}
        for _, element in ipairs(elements(gr.svg { lines = lines, width = width }, "text")) do
          if element.text:find("^n%d%d%d$") then found[#found + 1] = { tonumber(element.x), tonumber(element.y) } end
        end
        assert.is_true(#found >= math.min(n, 12), #found)
        for i = 1, #found do
          for j = 1, i - 1 do
            assert.is_true(math.abs(found[i][2] - found[j][2]) >= 14.9 or math.abs(found[i][1] - found[j][1]) >= 40)
          end
        end
      end
    end
    local lines = {}
    for k = 1, 200 do lines[k] = { name = ("n%03d"):format(k), y = { 1, k } } end
    assert.truthy(gr.svg({ lines = lines, width = 320 }):find(">and %d+ more<"))
  end)

  it("over lines have a rim of the background", function()
    assert.truthy(chart(640):find('paint%-order="stroke" stroke="#fff"[^>]*>as far as the fence<'))
  end)

  it("are safe in XML: whatever the bytes", function()
    local bytes = {}
    for k = 0, 255 do bytes[k + 1] = string.char(k) end
    local wild = table.concat(bytes) .. "\237\160\128\192\128\244\144\128\128\239\191\191 <script>&\"'"
    local svg = gr.svg { title = wild, xlabel = wild, ylabel = wild, xunit = wild, yunit = wild,
      lines = { { name = wild, y = { 1, 2 } } }, ceiling = { y = 1, name = wild },
      histograms = { { name = wild, histogram = gr.histogram(gr.zeros(3), { bins = 2 }) } } }
    parsed((svg:gsub("[\128-\255]", "?")))
    assert.is_nil(svg:find("<script", 1, true))
    assert.is_nil(svg:find("[%z\1-\8\11\12\14-\31\127]"))
    assert.is_nil(svg:find("[\192\193\245-\255]")) -- bytes that no UTF-8 has
    assert.is_nil(svg:find("\237[\160-\191]"))
    assert.truthy(gr.svg({ lines = {}, title = ("long "):rep(200000) }))
  end)

  it("tell those who cannot see the picture what it shows", function()
    local svg = gr.svg { title = "A & B", lines = { { name = "one", y = { 1, 5, 2 } } }, xlabel = "step",
      histograms = { gr.histogram(gr.zeros(3), { bins = 2 }) } }
    assert.truthy(svg:find('role="img"', 1, true))
    assert.truthy(svg:find("<title>A &amp; B</title>", 1, true))
    local description = svg:match("<desc>(.-)</desc>")
    assert.truthy(description:find("step from %-?[%d.]+ to 3%."), description)
    assert.truthy(description:find("one: lines, 3 points, y from 1 to 5.", 1, true), description)
    assert.truthy(description:find("Histogram: bars, 2 of them.", 1, true), description)
  end)
end)

-- luacheck: push no max line length
describe("charts refuse", function()
  local plain = { y = { 1 } }
  local derived = setmetatable({}, { __index = { y = { 1, 2 } } })
  local h, released = gr.histogram(gr.zeros(3), { bins = 2 }), gr.ones(3)
  released:release()
  local rows = {
    { { lines = { released } }, "option 'lines': line 1: y: array has been released" },
    { { lines = { { y = { 1 }, error = released } } }, "option 'lines': line 1: error: array has been released" },
    { { lines = { { y = { 1 }, nmae = "a" } } },
      "option 'lines': line 1: unknown field 'nmae' (did you mean 'name'?)" },
    { { points = { plain, { y = { 1 }, colour = "red" } } }, "option 'points': entry 2: unknown field 'colour'" },
    { { lines = { { 1, y = { 1 } } } }, "option 'lines': line 1: names of its fields are strings, got a number" },
    { { lines = { derived } }, "option 'lines': line 1: table without __index expected: tables are read raw" },
    { { lines = { { y = { 1, "2" } } } }, "option 'lines': line 1: y: element 2: number expected, got string" },
    { { lines = { { name = {}, y = { 1 } } } }, "option 'lines': line 1: name: string or number expected, got table" },
    { { lines = { y = { 1 } } }, "option 'lines': a list expected, got a table with 'y'" },
    { { steps = { { y = { 1, 2 }, error = { 1 } } } },
      "option 'steps': entry 1: 2 numbers in 'error' expected, got 1" },
    { { lines = { { y = { 1 }, low = { 1 } } } }, "option 'lines': line 1: 'low' and 'high' come together" },
    { { lines = { { y = { 1 }, low = { 1 }, high = { 1 }, error = 2 } } },
      "option 'lines': line 1: 'error', or 'low' and 'high', not both" },
    { { lines = { { y = { 1 }, error = "1" } } },
      "option 'lines': line 1: error: table or gpureduce.array expected, got string" },
    { { histograms = { 5 } }, "option 'histograms': entry 1: gpureduce.histogram expected, got number" },
    { { histograms = { { name = "a" } } },
      "option 'histograms': entry 1: histogram: gpureduce.histogram expected, got no value" },
    { { histograms = { { nam = "a", histogram = h } } },
      "option 'histograms': entry 1: unknown field 'nam' (fields: histogram, name)" },
    { { lines = {}, ceiling = { { y = 1, label = "a" } } },
      "option 'ceiling': entry 1: unknown field 'label' (fields: name, y)" },
    { { lines = {}, theme = "blue" }, "option 'theme': 'auto', 'light' or 'dark' expected, got 'blue'" },
    { { lines = {}, ymax = 0.123456789 - huge }, "option 'ymax': finite number expected, got -inf" },
  }
  for _, row in ipairs(rows) do
    it(row[2], function()
      assert.equal("bad argument #1 to 'svg' (" .. row[2] .. ")", S.message(gr.svg, row[1]))
    end)
  end

  it("nothing that is no number: those are gaps", function()
    for _, kind in ipairs { "lines", "steps", "points" } do
      local svg = gr.svg { [kind] = { { x = { nan, 1, 2, huge }, y = { 1, nan, 3, 4 }, error = { nan, huge, 1, 1 } } } }
      parsed(svg)
      assert.is_nil(svg:find("[ML\" ]%-?[in][na][fn]"), svg)
    end
  end)
end)
-- luacheck: pop
