-- Which swarms meet: lua examples/boxes.lua [PARTICLES [PICTURE.svg]]
-- The broad phase of a game's collisions: swarms of particles whose places lie xyzxyz..., as a renderer takes them. The
-- corners of a swarm's box are one call, its centre another, both by columns of the same memory; only pairs of swarms
-- whose boxes overlap are looked at particle by particle.
local gr = require "gpureduce"

local EACH, PICTURE = tonumber(arg and arg[1]) or 4096, arg and arg[2]
local SWARMS, FRAMES, DT, NEAR = 12, 60, 1 / 60, 0.02

-- All swarms in one array, swarm by swarm, so that a step is one formula for all of them.
local n = SWARMS * EACH
local swarm = gr.fuse "(i - 1) // each + 1" { n = n, each = EACH }:eval():cast "i64"
local function of_swarm(seed, least, most)
  local each = gr.rand(SWARMS * 3, { seed = seed }) * (most - least) + least
  return each:take(gr.column((swarm - 1) * 3) + gr.row(gr.arange(1, 3, "i64")))
end
local place = gr.randn(n * 3, { seed = 1 }):matrix(n) * 0.3 + of_swarm(2, -2, 2)
local velocity = of_swarm(3, -2, 2)

local function particles(k) return place:slice():slice((k - 1) * EACH * 3 + 1, k * EACH * 3):matrix(EACH) end

-- The corners of the box around each swarm as tables of x, y, z: the only numbers that come to Lua in a frame.
local function boxes()
  local list = {}
  for k = 1, SWARMS do
    local low, high = particles(k):minmax { axis = 1 }
    list[k] = { low = low, high = high }
  end
  for _, box in ipairs(list) do box.low, box.high = box.low:table(), box.high:table() end
  return list
end

local function overlap(a, b)
  for axis = 1, 3 do
    if a.low[axis] > b.high[axis] or b.low[axis] > a.high[axis] then return false end
  end
  return true
end

-- How many particles of b are near the centre of a, as far as a's particles are on average.
local function inside(a, b)
  local centre = particles(a):mean { axis = 1, out = "f32" }
  local function distance(of) return ((gr.lazy(particles(of)) - gr.row(centre)) ^ 2):sum { axis = 2 } end
  return gr.compare(distance(b), "<", distance(a):mean()):sum()
end

local looked, overlaps, met = 0, 0, {}
local all
for frame = 1, FRAMES do
  gr.fuse "p + dt * v" { p = place, v = velocity, dt = DT }:eval { into = place }
  all = boxes()
  for a = 1, SWARMS do
    for b = a + 1, SWARMS do
      looked = looked + 1
      if overlap(all[a], all[b]) then
        overlaps = overlaps + 1
        local share = inside(a, b) / EACH
        local pair = a .. " and " .. b
        if share > NEAR and not met[pair] then met[#met + 1], met[pair] = { pair, frame }, true end
      end
    end
  end
end

print(("%d swarms of %d particles on %s"):format(SWARMS, EACH, gr.backend():match "%S+"))
print(("%d pairs of boxes in %d frames, %d overlap"):format(looked, FRAMES, overlaps))
for _, meeting in ipairs(met) do print(("swarms %s meet in frame %d"):format(meeting[1], meeting[2])) end
local low, high = place:minmax { axis = 1 }
print(("all of them: (%.3f, %.3f, %.3f) to (%.3f, %.3f, %.3f)"):format(
  low[1], low[2], low[3], high[1], high[2], high[3]))

if PICTURE then
  local x, y, gap = {}, {}, 0 / 0
  for _, box in ipairs(all) do
    local left, right, bottom, top = box.low[1], box.high[1], box.low[2], box.high[2]
    for _, corner in ipairs { { left, bottom }, { right, bottom }, { right, top }, { left, top }, { left, bottom },
      { gap, gap } } do
      x[#x + 1], y[#y + 1] = corner[1], corner[2]
    end
  end
  local every = math.max(1, math.floor(n / 3000)) -- a picture needs no more
  local flat = place:slice()
  assert(gr.svg { path = PICTURE, title = "Swarms and their boxes, seen from above", xlabel = "x", ylabel = "y",
    points = { { name = "particles", x = flat:slice(1, -1, 3 * every), y = flat:slice(2, -1, 3 * every) } },
    lines = { { name = "boxes", x = x, y = y } } })
end
