-- Heat maps as SVG: cells lie where the axes say, in the colour that the scale gives their number.
local S = require "spec.support"
local D = require "spec.drawing"
local gr, model = S.gr, S.model
local nan, huge = model.nan, math.huge

-- The levels of colours, by the scale beside the plot: colour -> level, and the scale's place.
local function scale_of(svg)
  local levels, k = {}, 0
  for colour in svg:gmatch('<path fill="(#%x+)" d="M[%d.]+ [%d.]+h14v') do
    k = k + 1
    levels[colour] = k
  end
  assert.equal(64, k)
  return levels
end

-- All cells as { x0, x1, y0, y1, level } in pixels, from a grid or one by one.
local function cells_of(svg)
  local levels, list = scale_of(svg), {}
  for group, body in svg:gmatch('<g shape%-rendering="crispEdges"([^>]*)>(.-)</g>') do
    local sx, sy, tx, ty = group:match("matrix%((%S+) 0 0 (%S+) (%S+) ([^)]+)%)")
    sx, sy, tx, ty = tonumber(sx), tonumber(sy), tonumber(tx), tonumber(ty)
    for colour, d in body:gmatch('<path fill="(#%x+)" d="([^"]*)"') do
      for x, y, wide in d:gmatch("M(%d+) (%d+)h(%d+)v1h%-%d+") do
        for c = tonumber(x), x + wide - 1 do
          list[#list + 1] = { x0 = tx + sx * c, x1 = tx + sx * (c + 1), y0 = ty + sy * y, y1 = ty + sy * (y + 1),
            level = levels[colour] }
        end
      end
      for x0, y0, x1, y1 in d:gmatch("M([%d.-]+) ([%d.-]+)H([%d.-]+)V([%d.-]+)H") do
        list[#list + 1] = { x0 = tonumber(x0), y0 = tonumber(y0), x1 = tonumber(x1), y1 = tonumber(y1),
          level = levels[colour] }
      end
    end
  end
  return list
end

-- From pixels to numbers, by the ticks.
local function axes_of(svg, xlog, ylog)
  return D.reader(D.ticks(svg, "middle"), "x", 0, xlog), D.reader(D.ticks(svg, "end"), "y", -4, ylog)
end

-- The level of the cell at the point (x, y), or nil.
local function look(cells, read_x, read_y, x, y)
  for _, c in ipairs(cells) do
    local x0, x1, y0, y1 = read_x(c.x0), read_x(c.x1), read_y(c.y0), read_y(c.y1)
    if math.min(x0, x1) <= x and x < math.max(x0, x1) and math.min(y0, y1) <= y and y < math.max(y0, y1) then
      return c.level
    end
  end
end

local function level(value, low, high, log)
  local share = log and math.log(value / low) / math.log(high / low) or (value - low) / (high - low)
  return math.max(1, math.min(64, math.floor(share * 64 + 1e-9) + 1))
end

describe("gr.svg{heat=}", function()
  it("draws a matrix as it is printed: rows from the top, columns from the left", function()
    local t = {}
    for k = 1, 35 do t[k] = (k * 13 % 35) / 2 end
    t[9] = nan
    t[20] = huge
    local svg = gr.svg { heat = gr.array(t, "f64"):matrix(5), theme = "light" }
    D.parsed(svg)
    local cells, read_x, read_y = cells_of(svg), axes_of(svg)
    assert.equal(33, #cells)
    for row = 1, 5 do
      for column = 1, 7 do
        local v = t[(row - 1) * 7 + column]
        local expected = v - v == 0 and level(v, 0, 17) or nil
        assert.equal(expected, look(cells, read_x, read_y, column, row), row .. " " .. column)
      end
    end
    for _, tick in ipairs(D.ticks(svg, "end")) do assert.equal(0, tick.value % 1) end
  end)

  it("draws a transposed matrix as its copy", function()
    S.on_each(function()
      local T = gr.arange(1, 6):matrix(2):transpose()
      assert.equal(gr.svg { heat = T:copy() }, gr.svg { heat = T })
      assert.equal(gr.svg { heat = { values = T:copy(), x = { 0, 2 }, y = { 0, 1, 3, 4 } } },
        gr.svg { heat = { values = T, x = { 0, 2 }, y = { 0, 1, 3, 4 } } })
    end)
  end)

  it("draws a matrix between the ends and the edges that are given, whichever way these run", function()
    local X = gr.array({ 1, 2, 3, 4, 5, 6 }, "i32"):matrix(2)
    for _, case in ipairs { { { 0, 3 }, { 10, 30 } }, { { 0, 3 }, { 30, 10 } }, { { 3, 0 }, { 10, 30 } },
      { { 0, 1, 2, 3 }, gr.array({ 30, 20, 10 }, "f64") } } do
      local svg = gr.svg { heat = { values = X, x = case[1], y = case[2] }, theme = "light" }
      local cells, read_x, read_y = cells_of(svg), axes_of(svg)
      local left, top = case[1][1] == 3, case[2][1] == 30
      for row = 1, 2 do
        for column = 1, 3 do
          local x, y = left and 3.5 - column or column - 0.5, top and 35 - 10 * row or 5 + 10 * row
          assert.equal(level((row - 1) * 3 + column, 1, 6), look(cells, read_x, read_y, x, y))
        end
      end
      local first, last = D.ticks(svg, "end")[1], D.ticks(svg, "end")
      assert.is_true(first.y > last[#last].y and first.value < last[#last].value) -- such an axis goes up
    end
    local svg = gr.svg { heat = { values = X, x = { 1, 10, 100, 1000 }, y = { 1, 2, 10 } }, xlog = true,
      theme = "light" }
    local cells, read_x, read_y = cells_of(svg), axes_of(svg, true)
    assert.equal(level(2, 1, 6), look(cells, read_x, read_y, 50, 1.5))
    assert.equal(level(6, 1, 6), look(cells, read_x, read_y, 500, 9))
  end)

  it("merges what has no room into means, wherever the data is", function()
    local rows, columns = 500, 701
    local text, t = {}, nil
    S.on_each(function(device)
      local k = gr.arange(0, rows * columns - 1, "i64")
      local a = gr.fuse "where(k % 97 == 0, 0.0 / 0.0, f64(k // c) * 3 + f64(k % c))" { k = k, c = columns }
      local matrix = a:eval():matrix(rows)
      text[device], t = gr.svg { heat = matrix, theme = "light" }, matrix:slice():table()
    end)
    assert.equal(text.cpu, text.pretend)
    local svg = text.cpu
    local g, h = svg:match("each cell is the mean of (%d+) x (%d+)")
    g, h = tonumber(g), tonumber(h)
    local cells, read_x, read_y = cells_of(svg), axes_of(svg)
    local low, high = huge, -huge
    local means = {}
    for row = 1, rows, g do
      for column = 1, columns, h do
        local sum, n = 0, 0
        for r = row, math.min(rows, row + g - 1) do
          for c = column, math.min(columns, column + h - 1) do
            local v = t[(r - 1) * columns + c]
            if v == v then sum, n = sum + v, n + 1 end
          end
        end
        means[#means + 1] = { column, row, sum / n }
        low, high = math.min(low, sum / n), math.max(high, sum / n)
      end
    end
    assert.equal(#means, #cells)
    assert.is_true(#cells < 720 * 440 / 4)
    local by_place = {}
    for _, c in ipairs(cells) do
      local x, y = (read_x((c.x0 + c.x1) / 2) - 0.5) / h, (read_y((c.y0 + c.y1) / 2) - 0.5) / g
      by_place[math.floor(y) * 10000 + math.floor(x)] = c.level
    end
    for _, mean in ipairs(means) do
      local got = by_place[math.floor((mean[2] - 1) / g) * 10000 + math.floor((mean[1] - 1) / h)]
      assert.equal(level(mean[3], low, high), got, mean[3])
    end
  end)

  it("has no more than 600 x 600 cells, however large it is", function()
    local svg = gr.svg { heat = gr.zeros(1300 * 2500):matrix(1300), width = 10000, height = 10000 }
    assert.truthy(svg:find("Heat map: 500 x 434 cells", 1, true), svg:match("Heat map[^.]*"))
  end)

  it("takes matrices of nothing, of one element, of one number, and the widest range", function()
    for _, X in ipairs { gr.zeros(0):matrix(1), gr.ones(1):matrix(1), gr.full(12, 3, "u8"):matrix(3),
      gr.array({ -1.7e308, 1.7e308, 0, nan }, "f64"):matrix(2), gr.full(4, nan):matrix(2),
      gr.array({ 2 ^ -1074, 0, 3 * 2 ^ -1074, 2 ^ -1070 }, "f64"):matrix(2) } do
      for _, zlog in ipairs { false, true } do
        local svg = gr.svg { heat = X, zlog = zlog, title = "edge" }
        D.parsed(svg)
        assert.is_nil(svg:lower():find("%f[%a]nan%f[%A]"))
        assert.is_nil(svg:lower():find("%f[%a]inf%f[%A]"))
      end
    end
  end)

  it("has a scale with ticks, a name and limits", function()
    local X = gr.array({ 1, 2, 3, 1000 }, "f64"):matrix(2)
    local svg = gr.svg { heat = X, zlog = true, zmin = 1, zmax = 100, zlabel = "depth", zunit = "m", theme = "light" }
    assert.truthy(svg:find(">depth (m)</text>", 1, true))
    local values = {}
    for body in svg:gmatch('<text x="[%d.]+" y="[%d.]+">([%d.]+)</text>') do values[#values + 1] = body end
    assert.equal("1 10 100", table.concat(values, " "))
    local cells, read_x, read_y = cells_of(svg), axes_of(svg)
    assert.equal(64, look(cells, read_x, read_y, 2, 2))
    assert.equal(level(3, 1, 100, true), look(cells, read_x, read_y, 1, 2))
    assert.truthy(svg:find("Heat map: 2 x 2 cells, depth from 1 to 1000.", 1, true))
  end)

  it("lies below lines, and widens their axes", function()
    local svg = gr.svg { heat = { values = gr.ones(4):matrix(2), x = { 0, 2 }, y = { 0, 2 } },
      lines = { { name = "fit", x = { -1, 3 }, y = { 0, 1 } } }, theme = "light" }
    assert.is_true(svg:find("crispEdges", 1, true) < svg:find('stroke-linejoin="round"', 1, true))
    assert.equal(-1, math.floor(D.ticks(svg, "middle")[1].value))
  end)

  it("changes its colours with the theme: the least is nearest to the background", function()
    local light = gr.svg { heat = gr.arange(1, 64):matrix(8), theme = "light" }
    local dark = gr.svg { heat = gr.arange(1, 64):matrix(8), theme = "dark" }
    local up, down = scale_of(light), scale_of(dark)
    for colour, k in pairs(up) do assert.equal(65 - k, down[colour]) end
    local auto = gr.svg { heat = gr.arange(1, 64):matrix(8) }
    for colour, k in pairs(up) do
      local other
      for each, j in pairs(up) do other = j == 65 - k and each or other end
      assert.truthy(auto:find(('[fill="%s"]{fill:%s}'):format(colour, other), 1, true))
    end
  end)

  it("says what it cannot draw", function()
    local a = gr.ones(6)
    local function says(text, options)
      assert.equal("bad argument #1 to 'svg' (option 'heat'" .. text .. ")", S.message(gr.svg, options))
    end
    says(": matrix or gpureduce.histogram2d expected, got an array without rows", { heat = a })
    says(": matrix or gpureduce.histogram2d expected, got no value", { heat = {} })
    says(": matrix, gpureduce.histogram2d or false expected, got true", { heat = true })
    says(": boolean or table or gpureduce.array or gpureduce.transposed or gpureduce.histogram2d expected, got string",
      { heat = "x" })
    says(": unknown field 'z' (fields: values, x, y)", { heat = { values = a:matrix(2), z = 1 } })
    says(": x: 2 ends or 4 edges expected, got 3", { heat = { values = a:matrix(2), x = { 1, 2, 3 } } })
    says(": y: numbers that rise or fall expected", { heat = { values = a:matrix(2), y = { 1, 3, 2 } } })
    says(": y: finite numbers expected, got inf", { heat = { values = a:matrix(2), y = { 1, huge } } })
    says(": x: table or gpureduce.array expected, got number", { heat = { values = a:matrix(2), x = 3 } })
    says(": table without __index expected: tables are read raw",
      { heat = setmetatable({}, { __index = function() end }) })
    assert.equal("bad argument #1 to 'svg' (option 'zmin': more than 0 expected with 'zlog', got 0)",
      S.message(gr.svg, { heat = a:matrix(2), zlog = true, zmin = 0 }))
    assert.equal("bad argument #1 to 'svg' (zmin 2 is not below zmax 1)",
      S.message(gr.svg, { heat = a:matrix(2), zmin = 2, zmax = 1 }))
  end)
end)

describe("h:svg of pairs", function()
  local x, y = gr.array { 0.5, 0.5, 1.5, 2.5, 2.5, 2.5, 9 }, gr.array { 5, 15, 15, 5, 5, 5, nan }
  local h = gr.histogram2d(x, y, { bins = { 3, 2 }, range = { { 0, 3 }, { 0, 20 } } })

  it("draws x to the right and y upwards, and nothing where no pair is", function()
    local svg = h:svg(nil, { theme = "light", xlabel = "across", title = "Pairs" })
    local cells, read_x, read_y = cells_of(svg), axes_of(svg)
    assert.equal(4, #cells)
    assert.equal(level(1, 0, 3), look(cells, read_x, read_y, 0.5, 5))
    assert.equal(level(1, 0, 3), look(cells, read_x, read_y, 0.5, 15))
    assert.equal(level(1, 0, 3), look(cells, read_x, read_y, 1.5, 15))
    assert.equal(level(3, 0, 3), look(cells, read_x, read_y, 2.5, 5))
    assert.truthy(svg:find(">count</text>", 1, true))
    assert.truthy(svg:find("not shown: nan 1", 1, true))
    assert.equal(svg, gr.svg { heat = h, theme = "light", xlabel = "across", title = "Pairs" })
    S.with_file(function(path)
      assert.is_true(h:svg(path, { theme = "light", xlabel = "across", title = "Pairs" }))
      assert.equal(svg, S.read_file(path))
    end)
  end)

  it("shows counts per area where bins differ in size, unless they are asked for", function()
    local g = gr.histogram2d(x, y, { edges = { { 0, 1, 3 }, { 0, 10, 20 } } })
    local svg = g:svg(nil, { theme = "light" })
    local cells, read_x, read_y = cells_of(svg), axes_of(svg)
    assert.truthy(svg:find(">count per area</text>", 1, true) or svg:find(">count per area (", 1, true))
    assert.equal(level(0.15, 0.05, 0.15), look(cells, read_x, read_y, 2, 5))
    assert.equal(level(0.05, 0.05, 0.15), look(cells, read_x, read_y, 2, 15))
    assert.truthy(g:svg(nil, { density = false }):find(">count</text>", 1, true))
    assert.truthy(g:svg(nil, { density = true }):find(">density", 1, true))
    local log = gr.histogram2d(x, y, { bins = 2, range = { { 1, 100 }, { 1, 100 } }, log = true })
    assert.truthy(log:svg(nil, { xlog = true, ylog = true }):find(">count</text>", 1, true))
  end)

  it("of a million bins takes less than a megabyte", function()
    local g = gr.histogram2d(gr.randn(1e5, { seed = 1 }), gr.randn(1e5, { seed = 2 }), { bins = 1000 })
    local svg = g:svg(nil, { log = true })
    assert.is_true(#svg < 1e6, #svg)
    assert.is_true(#D.parsed(svg) < 300)
    assert.truthy(svg:find("each cell is the mean of 4 x 6", 1, true))
  end)

  it("refuses what it cannot do", function()
    assert.equal("bad argument #2 to 'svg' (option 'log': true, 2 or 10 expected, got 3)",
      S.message(h.svg, h, { log = 3 }))
    assert.equal("bad argument #3 to 'svg' (unknown option 'bars')", S.message(h.svg, h, "/nowhere", { bars = 3 }))
    assert.equal("bad argument #1 to 'svg' (gpureduce.histogram2d expected, got no value (write h:svg(), not h.svg()))",
      S.message(h.svg))
    local ok, message, code = h:svg("/nowhere/at/all.svg")
    assert.is_nil(ok)
    assert.truthy(message:find("/nowhere/at/all.svg", 1, true) and code)
  end)
end)

describe("many points", function()
  local n = 100001
  local x, y = gr.randn(n, "f32", { seed = 1 }), gr.randn(n, "f32", { seed = 2 })

  it("become a heat map by themselves, of as many as there are", function()
    local svg = gr.svg { points = { { name = "walkers", x = x, y = y } }, theme = "light" }
    local columns, rows, low, high = svg:match("Heat map: (%d+) x (%d+) cells, walkers: points from (%d+) to (%d+)")
    columns, rows, low, high = tonumber(columns), tonumber(rows), tonumber(low), tonumber(high)
    local left, right, bottom, top = x:min(), x:max(), y:min(), y:max()
    local counts, xs, ys = {}, x:table(), y:table()
    for k = 1, n do
      local i = math.min(columns - 1, math.floor((xs[k] - left) / (right - left) * columns))
      local j = math.min(rows - 1, math.floor((ys[k] - bottom) / (top - bottom) * rows))
      counts[j * columns + i] = (counts[j * columns + i] or 0) + 1
    end
    local found, most = 0, 0
    for _, count in pairs(counts) do found, most = found + 1, math.max(most, count) end
    local cells, read_x, read_y = cells_of(svg), axes_of(svg)
    assert.equal(1, low)
    assert.equal(high, most)
    assert.equal(found, #cells)
    for _, c in ipairs(cells) do
      local i = math.floor((read_x((c.x0 + c.x1) / 2) - left) / (right - left) * columns)
      local j = math.floor((read_y((c.y0 + c.y1) / 2) - bottom) / (top - bottom) * rows)
      assert.equal(level(counts[j * columns + i], 1, most, true), c.level)
    end
  end)

  it("do so from 100001 on, and not where heat = false says so, or where there are two such clouds", function()
    local function is_heat(options) return gr.svg(options):find("Heat map:", 1, true) ~= nil end
    assert.is_true(is_heat { points = { { x = x, y = y } } })
    assert.is_true(is_heat { points = { y } })
    assert.is_true(is_heat { points = { { x = x:table(), y = y:table() } } })
    assert.is_true(is_heat { points = { { x = x, y = y }, { x = { 1 }, y = { 2 } } }, lines = { { y = { 1, 2 } } } })
    assert.is_false(is_heat { points = { { x = x:slice(1, -2), y = y:slice(1, -2) } } })
    assert.is_false(is_heat { points = { { x = x, y = y } }, heat = false })
    assert.is_false(is_heat { points = { { x = x, y = y }, { x = y, y = x } } })
    assert.is_false(is_heat { lines = { y } })
    local shades = gr.svg { points = { { x = x, y = y } }, heat = false, theme = "light" }
    assert.truthy(shades:find('fill="#0072b2" fill-opacity="1"', 1, true))
  end)

  it("are counted where they are: what comes down is the picture", function()
    S.on("pretend", function()
      local a, b = gr.rand(1e6, "f32", { seed = 1 }), gr.rand(1e6, "f32", { seed = 2 })
      gr.sum(a)
      gr.sum(b)
      local moved = S.counted(function() gr.svg { points = { { x = a, y = b } } } end)
      assert.is_true(moved.bytes_down < 8e5, moved.bytes_down)
      assert.is_true(moved.bytes_up < 8e5, moved.bytes_up)
    end)
  end)

  it("keep to limits and to axes of ratios, and leave out what those cannot show", function()
    for _, options in ipairs { { xlog = true, ylog = true }, { xmin = -1, xmax = 1, ymin = 0 }, { xmin = 100 },
      { ylog = true, ymin = 0.01 }, { xmax = -100, xlog = false } } do
      options.points = { { x = x, y = y } }
      local svg = gr.svg(options)
      D.parsed(svg)
      assert.is_nil(svg:lower():find("%f[%a]nan%f[%A]"))
    end
    local odd = gr.full(n, nan)
    for _, each in ipairs { odd, gr.full(n, huge), gr.full(n, 3), gr.zeros(n), gr.full(n, 7, "u8") } do
      D.parsed(gr.svg { points = { { x = each, y = each } } })
      D.parsed(gr.svg { points = { { x = each, y = each } }, xlog = true, ylog = true, heat = false })
    end
    odd = gr.array({ -1.7e308, 1.7e308 }, "f64"):take(gr.randint(1, 2, n, { seed = 3 }))
    D.parsed(gr.svg { points = { { x = odd, y = y } } })
  end)

  it("may all lie at one place, however far out", function()
    for _, at in ipairs { 0, -3, 1e17, 1e308, -1e308, 1.7976931348623157e308 } do
      local svg = gr.svg { points = { { y = gr.array({ at }, "f64"):take(gr.ones(100001, "i32")) } } }
      assert.truthy(svg:find("Heat map: ", 1, true), at)
      D.parsed(svg)
    end
    local far = gr.array({ 1e308 }, "f64"):take(gr.ones(100001, "i32"))
    D.parsed(gr.svg { points = { { y = far } }, ylog = true })
  end)

  it("say what does not fit", function()
    assert.equal("bad argument #1 to 'svg' (option 'points': entry 1: 100000 numbers in 'y' expected, got 100001)",
      S.message(gr.svg, { points = { { x = x:slice(1, -2), y = y } } }))
    local t = x:table()
    t[70000] = "x"
    assert.equal("bad argument #1 to 'svg' (option 'points': entry 1: x: element 70000: number expected, got string)",
      S.message(gr.svg, { points = { { x = t, y = y } } }))
  end)
end)
