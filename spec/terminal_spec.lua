-- Pictures in the terminal: edges that are what they say, narrow terminals, terminals without UTF-8, and lines of dots.
local S = require "spec.support"
local D = require "spec.drawing"
local gr = S.gr
local columns, lines_of = D.columns, D.lines_of
local nan, huge = S.model.nan, math.huge

-- The edges that a plot shows: as numbers, with what it says is to be added.
local function shown(text, bins)
  local lines, list = lines_of(text), {}
  local shared = tonumber((text:gsub("\n", " "):match("edges: (%S+) %+ what is shown"))) or 0
  for k = 1, bins + 1 do
    local label = k <= bins and lines[k]:match("^ *(%S+) |") or lines[k]:match("^ *(%S+)$")
    if not label then return nil end
    list[k] = tonumber(label) + shared
  end
  return list
end

describe("edges in h:plot", function()
  it("are exact where that is short", function()
    local h = gr.histogram(gr.linspace(0, 1125, 100), { bins = 10 })
    local list = shown(h:plot { ascii = true, width = 60 }, 10)
    for k = 0, 10 do assert.equal(112.5 * k, list[k + 1]) end
    list = shown(gr.histogram(gr.array { 0, 1 }, { bins = 8 }):plot { ascii = true, width = 30 }, 8)
    for k = 0, 8 do assert.equal(k / 8, list[k + 1]) end
  end)

  it("lie well within their bins, whatever they are", function()
    local cases = { { 0, 1 / 3 }, { -3.3, 4.4 }, { 123456789012, 123456789013 }, { 1e12 + 1, 1e12 + 5 }, { 1e-9, 3e-9 },
      { 1e15, 1e15 + 12 }, { -1e300, 1e300 }, { 2 ^ 40, 2 ^ 40 + 1 },
      { -1.2e308, 5e307 }, { 99999.5, 100000.5 }, { 0, 123456 } }
    for _, case in ipairs(cases) do
      for _, width in ipairs { 24, 32, 40, 80 } do
        local h = gr.histogram(gr.array(case, "f64"), { bins = 6 })
        local list = shown(h:plot { ascii = true, width = width }, 6)
        assert.truthy(list, h:plot { ascii = true, width = width })
        local edges = h.edges:table()
        for k = 1, 7 do
          local bin = (edges[7] - edges[1]) / 6
          assert.is_true(math.abs(list[k] - edges[k]) <= (width >= 40 and 0.006 or 0.11) * bin, list[k])
          assert.is_true(k == 1 or list[k] > list[k - 1])
        end
      end
    end
  end)
end)

describe("narrow terminals", function()
  it("get lines that fit, from 10 columns on", function()
    local samples = { gr.randn(5000, { seed = 1 }), gr.full(1e6, 123456789, "i32"),
      gr.array({ 1e-300, 2e-300, -7.123456e-300 }, "f64"), gr.array({ 1, 1 + 2 ^ -52, 3, nan, huge }, "f64") }
    for _, a in ipairs(samples) do
      for width = 10, 30 do
        for _, options in ipairs { {}, { log = true }, { density = true } } do
          options.width, options.ascii = width, true
          local h = gr.histogram(a, { bins = 7, min = width % 2 == 0 and gr.min(a:slice(1, 3)) - 1 or nil,
            max = width % 2 == 0 and gr.max(a:slice(1, 3)) + 1 or nil })
          for k, line in ipairs(lines_of(h:plot(options))) do
            assert.is_true(#line <= width, line)
            if k <= 7 then assert.truthy(line:find("|%S* %S+$"), line) end -- a bar and its count
          end
        end
        for _, line in ipairs(lines_of(gr.plot(a, { width = width, height = 5, ascii = true }))) do
          assert.is_true(#line <= width, line)
        end
      end
    end
    local text = S.child_text({ COLUMNS = "14", LC_ALL = "C" },
      "local gr = require 'gpureduce' print(gr.histogram(gr.full(123456, 1), { bins = 3, min = 0, max = 3 }))")
    for _, line in ipairs(lines_of(text)) do assert.is_true(#line <= 14, line) end
  end)

  it("see counts with as many digits as there is room for", function()
    local h = gr.histogram(gr.full(1234567, 1, "u8"), { bins = 1, min = 0, max = 2 })
    assert.truthy(h:plot({ width = 24, ascii = true }):find(" 1234567\n", 1, true))
    assert.truthy(h:plot({ width = 12, ascii = true }):find(" 1e+06\n", 1, true))
  end)
end)

describe("terminals without UTF-8", function()
  local script = [[
    local gr = require 'gpureduce'
    print(gr.histogram(gr.randn(1000), { bins = 5 }))
    print(gr.plot({ 1, 3, 2 }, { height = 4 }))]]
  local none = { LC_ALL = "", LC_CTYPE = "", LANG = "", TERM = "xterm", COLUMNS = "60" }
  local rows = {
    { {}, false }, { { LC_ALL = "C" }, false }, { { LC_ALL = "C", LANG = "en_US.UTF-8" }, false },
    { { LANG = "POSIX" }, false }, { { LANG = "de_DE.ISO-8859-1" }, false }, { { LANG = "en_US.UTF-8" }, true },
    { { LC_CTYPE = "C.utf8", LANG = "C" }, true }, { { LC_CTYPE = "C", LANG = "en_US.UTF-8" }, false },
    { { LC_ALL = "en_US.utf8", TERM = "dumb" }, false },
  }
  for _, row in ipairs(rows) do
    local words = {}
    for name, value in pairs(row[1]) do words[#words + 1] = name .. "=" .. value end
    table.sort(words)
    it((row[2] and "not these: " or "get ASCII: ") .. table.concat(words, " "), function()
      local environment = {}
      for name, value in pairs(none) do environment[name] = row[1][name] or value end
      local text = S.child_text(environment, script)
      assert.truthy(text:find("%d+\n"), text)
      assert.equal(row[2], text:find("[\128-\255]") ~= nil)
    end)
  end
end)

-- The dots of a plot: a set of { x, y } with y from the top, and the size.
local function dots(text, ascii)
  local found, n, row = {}, 0, 0
  for _, line in ipairs(lines_of(text)) do
    local cells = ascii and line:match("|(.*)$") or line:match("\226\148\130(.*)$")
    if not cells then break end
    local column = 0
    for c in cells:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
      local bits = 0
      if ascii then bits = ({ [" "] = 0, ["'"] = 1, ["."] = 2, [":"] = 3 })[c]
      elseif c ~= " " then bits = (c:byte(2) - 160) * 64 + c:byte(3) - 128 end
      local map = ascii and { { 0, 0 }, { 0, 1 } }
        or { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, 0 }, { 1, 1 }, { 1, 2 }, { 0, 3 }, { 1, 3 } }
      for k, place in ipairs(map) do
        if math.floor(bits / 2 ^ (k - 1)) % 2 == 1 then
          n = n + 1
          found[n] = { column * (ascii and 1 or 2) + place[1], row * (ascii and 2 or 4) + place[2] }
        end
      end
      column = column + 1
    end
    row = row + 1
  end
  return found, row * (ascii and 2 or 4)
end

describe("gr.plot", function()
  it("draws a line of dots where the numbers are", function()
    for _, ascii in ipairs { true, false } do
      local y = {}
      for k = 1, 41 do y[k] = (k - 1) / 4 end -- from 0 to 10
      local found, height = dots(gr.plot(y, { width = 60, height = 10, ascii = ascii }), ascii)
      local widest, seen = 0, {}
      for _, dot in ipairs(found) do widest = math.max(widest, dot[1]) end
      for _, dot in ipairs(found) do
        seen[dot[1]] = true
        local expected = (1 - dot[1] / widest) * (height - 1)
        assert.is_true(math.abs(dot[2] - expected) <= 1.5, dot[1])
      end
      for x = 0, widest do assert.is_true(seen[x], x) end -- no holes
    end
  end)

  it("looks like this", function()
    assert.equal(table.concat({
      "4 |       ..:':..",
      "  |    ..:'     ':..",
      "2 |  .:'           ':..",
      "  |:''                ':",
      "0 |",
      "  +---+------+------+---",
      "      2      4      6",
    }, "\n"), gr.plot({ 1, 2, 3, 4, 3, 2, 1.1 }, { width = 24, height = 5, ascii = true }))
  end)

  it("shows least and greatest of long arrays, reduced where they are", function()
    local a = gr.zeros(1000003)
    a[700001], a[200001] = 5, -3
    local counts = S.counted(function()
      local found, height = dots(gr.plot(a, { width = 70, height = 8, ymin = -3, ymax = 5, ascii = true }), true)
      local top, bottom, widest = nil, nil, 0
      for _, dot in ipairs(found) do
        widest = math.max(widest, dot[1])
        if dot[2] == 0 then top = dot[1] end
        if dot[2] == height - 1 then bottom = dot[1] end
      end
      assert.is_true(math.abs(top / widest - 0.7) < 0.03 and math.abs(bottom / widest - 0.2) < 0.03)
    end)
    assert.is_true(counts.bytes_down < 20000)
  end)

  it("takes x, axes of ratios and limits, is a method, and says what it leaves out", function()
    local text = gr.plot({ 1, 10, 100 }, { x = { 1, 2, 3 }, ylog = true, width = 30, height = 5, ascii = true })
    local found, widest = dots(text, true), 0
    for _, dot in ipairs(found) do widest = math.max(widest, dot[1]) end
    for _, dot in ipairs(found) do assert.is_true(math.abs(dot[2] - (1 - dot[1] / widest) * 9) < 1.6) end
    assert.truthy(text:find("100 |", 1, true))
    assert.equal(gr.plot(gr.array { 1, 3, 2 }, { width = 40 }), gr.array({ 1, 3, 2 }):plot { width = 40 })
    assert.truthy(gr.plot({ 1, nan, 3, huge }, { width = 40 }):find("2 points cannot be drawn", 1, true))
    assert.truthy(gr.plot({ 1e7, 2e7 }, { width = 40 }):find("y in 10^6", 1, true))
    assert.truthy(gr.plot({ 1, 2 }, { x = { 1.6e9, 1.6e9 + 5 }, width = 40 }):find("x + 1600000000", 1, true))
    for _, y in ipairs { {}, { nan }, { 1 }, { 7, 7, 7 } } do
      for _, ascii in ipairs { true, false } do
        local lines = lines_of(gr.plot(y, { width = 40, height = 5, ascii = ascii }))
        assert.equal(y[1] ~= y[1] and 8 or 7, #lines) -- the last one says that a point is missing
      end
    end
  end)

  it("is as wide as it may be, and no wider", function()
    for _, width in ipairs { 24, 40, 80, 200 } do
      local longest = 0
      for _, line in ipairs(lines_of(gr.plot(gr.randn(500, { seed = 1 }), { width = width, ascii = false }))) do
        longest = math.max(longest, columns(line))
      end
      assert.equal(width, longest)
    end
  end)

  local rows = {
    { function() gr.plot() end, "bad argument #1 to 'plot' (table or gpureduce.array expected, got no value)" },
    { function() gr.plot({ 1, "2" }) end,
      "bad argument #1 to 'plot' (series: y: element 2: number expected, got string)" },
    { function() gr.plot({ 1 }, { x = { 1, 2 } }) end,
      "bad argument #1 to 'plot' (series: 2 numbers in 'y' expected, got 1)" },
    { function() gr.plot({ 1 }, { widht = 30 }) end,
      "bad argument #2 to 'plot' (unknown option 'widht' (did you mean 'width'?))" },
    { function() gr.plot({ 1 }, { width = 5 }) end,
      "bad argument #2 to 'plot' (option 'width': 10 or more expected, got 5)" },
    { function() gr.plot({ 1 }, { height = huge }) end,
      "bad argument #2 to 'plot' (option 'height': 10000 or less expected, got inf)" },
    { function() gr.plot({ 1 }, { ylog = true, ymin = 0 }) end,
      "bad argument #2 to 'plot' (option 'ymin': more than 0 expected with 'ylog', got 0)" },
    { function() gr.plot({ 1 }, { x = 5 }) end,
      "bad argument #2 to 'plot' (option 'x': table or gpureduce.array expected, got number)" },
  }
  for _, row in ipairs(rows) do
    it("refuses: " .. row[2], function()
      assert.equal(row[2], S.message(row[1]))
    end)
  end
end)
