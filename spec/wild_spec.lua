-- Pictures of anything: random series, bins, sizes and limits, many of them at the ends of f64. Each call draws or
-- refuses; what is drawn is well-formed, short, and keeps to coordinates that viewers can draw.
local S = require "spec.support"
local D = require "spec.drawing"
local gr = S.gr
local nan, huge = S.model.nan, math.huge

local special = { 0, -0.0, 1, -1, 5e-324, -5e-324, 1e-308, 1e308, -1e308, 1.7976931348623157e308,
  -1.7976931348623157e308, huge, -huge, nan, 1 + 2 ^ -52, 2 ^ 53, 123456789012, 0.1, 1 / 3, -2.5, 1e5, 1e-5 }

-- The same numbers on every Lua: a generator of its own (Park and Miller).
local state
local function random(n)
  state = state * 16807 % 2147483647
  return state % n + 1
end

local function number()
  local kind = random(3)
  if kind == 1 then return special[random(#special)] end
  if kind == 2 then return random(10) end
  return (random(2000001) - 1000001) * 10 ^ (random(18) - 12)
end

local function numbers(n)
  local list = {}
  for k = 1, n do list[k] = number() end
  return list
end

local function series()
  local n = random(20) == 1 and random(3000) or random(12) - 1
  local s = { y = numbers(n) }
  if random(2) == 1 then s.x = numbers(n) end
  local errors = random(4)
  if errors == 1 then s.error = number() end
  if errors == 2 then s.low, s.high = numbers(n), numbers(n) end
  if random(2) == 1 then s.name = ("name %d & <\255>"):format(random(100)) end
  if random(3) == 1 then s.y = gr.array(s.y, "f64") end
  return s
end

local function histogram()
  local edges, rising = numbers(random(20) == 1 and 2000 or random(12)), {}
  for k = #edges, 1, -1 do
    if edges[k] - edges[k] ~= 0 then table.remove(edges, k) end
  end
  table.sort(edges)
  for _, edge in ipairs(edges) do
    if #rising == 0 or edge > rising[#rising] then rising[#rising + 1] = edge end
  end
  if #rising < 2 then rising = { 0, 1 } end
  return gr.histogram(gr.array(numbers(random(50)), "f64"), { edges = rising, density = random(3) == 1 })
end

local function chart()
  local o = { width = 99 + random(1200), height = 99 + random(800) }
  for _, kind in ipairs { "lines", "steps", "points" } do
    if random(2) == 1 then
      o[kind] = {}
      for k = 1, random(10) == 1 and 40 or random(4) do o[kind][k] = series() end
    end
  end
  if random(3) == 1 then
    o.histograms = { histogram(), { name = "named", histogram = histogram() } }
    if random(2) == 1 then o.density = random(2) == 1 end
  end
  for _, name in ipairs { "xmin", "xmax", "ymin", "ymax" } do
    if random(6) == 1 then o[name] = number() end
  end
  for _, name in ipairs { "xlog", "ylog" } do
    if random(4) == 1 then o[name] = random(2) == 1 and 2 or true end
  end
  for _, name in ipairs { "title", "xlabel", "ylabel" } do
    if random(3) == 1 then o[name] = ("words "):rep(random(40)) end
  end
  if random(4) == 1 then o.ceiling = { { y = number(), name = "limit" }, { y = number() } } end
  return o
end

-- The result of f, or nil when it refuses; anything else is an error.
local function drawn(f, ...)
  local ok, result = pcall(f, ...)
  if ok then return result end
  assert.truthy(result:find("bad argument #%d to '%a+'"), result)
end

local function check(svg)
  D.parsed((svg:gsub("[\128-\255]", "?")))
  assert.is_true(#svg < 1e6, #svg)
  local numbers_only = svg:gsub("<title>.-</title>", ""):gsub("<desc>.-</desc>", ""):gsub(">[^<]*<", "><")
  numbers_only = numbers_only:gsub("#%x+", "")
  assert.is_nil(numbers_only:find("%Anan") or numbers_only:find("%Ainf"), numbers_only)
  assert.is_nil(numbers_only:find("%d%d%d%d%d%d"), numbers_only:match(".?.?.?.?.?.?%d%d%d%d%d%d"))
end

describe("pictures of anything", function()
  it("are charts, or refused", function()
    state = 20260801
    local n = 0
    for _ = 1, 60 do
      local svg = drawn(gr.svg, chart())
      if svg then
        check(svg)
        n = n + 1
      end
    end
    assert.is_true(n > 35, n)
  end)

  it("are histograms and lines, in pictures and in the terminal", function()
    state = 42
    for _ = 1, 60 do
      local h, width = histogram(), 9 + random(90)
      check(h:svg(nil, { width = 99 + random(900), log = random(3) == 1, xlog = random(3) == 1 }))
      for _, text in ipairs { h:plot { width = width, ascii = true, log = random(3) == 1, height = random(40) },
        gr.plot(numbers(random(40)), { width = width, ascii = true, height = random(30), ylog = random(3) == 1 }) } do
        for _, line in ipairs(D.lines_of(text)) do assert.is_true(#line <= width, line) end
      end
    end
  end)
end)
