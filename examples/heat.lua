-- Where driven pendulums are: lua examples/heat.lua [PENDULUMS [FILE.svg]]
-- A pendulum with friction that is pushed to and fro swings chaotically. Many of them, begun anywhere, end up on the
-- same set of angles and speeds, if one looks once a push: a line folded endlessly. How thick is it? Of a line, half as
-- wide cells hold half as much each, of an area a quarter; here it lies between, which histograms of pairs measure.
local gr = require "gpureduce"

local N, path = tonumber(arg and arg[1]) or 20000, arg and arg[2]
local FRICTION, PUSH, RATE = 1 / 4, 1.5, 2 / 3
local STEPS, SETTLE, LOOKS = 128, 30, 20 -- steps a push, pushes until looks begin, and looks
local DT = 2 * math.pi / RATE / STEPS

local angle = (gr.rand(N, "f64", { seed = 1 }) - 0.5) * (2 * math.pi)
local speed = (gr.rand(N, "f64", { seed = 2 }) - 0.5) * 4

-- A step in which the angle moves halfway, the speed changes, and the angle moves on.
local move = gr.fuse "angle + speed * half"
local kick = gr.fuse "speed + (push - sin(angle) - friction * speed) * dt"
local wrap = gr.fuse "angle - turn * floor(angle / turn + 0.5)"

local function one_push()
  for k = 1, STEPS do
    move { angle = angle, speed = speed, half = DT / 2 }:eval { into = angle }
    kick { angle = angle, speed = speed, friction = FRICTION, dt = DT,
      push = PUSH * math.cos(2 * math.pi * (k - 0.5) / STEPS) }:eval { into = speed }
    move { angle = angle, speed = speed, half = DT / 2 }:eval { into = angle }
  end
  wrap { angle = angle, turn = 2 * math.pi }:eval { into = angle }
end

for _ = 1, SETTLE do one_push() end

-- All looks side by side.
local angles, speeds = gr.zeros(LOOKS * N, "f64"), gr.zeros(LOOKS * N, "f64")
for k = 1, LOOKS do
  one_push()
  gr.lazy(angle):eval { into = angles:slice((k - 1) * N + 1, k * N) }
  gr.lazy(speed):eval { into = speeds:slice((k - 1) * N + 1, k * N) }
end

-- The chance that two of them share a cell falls as a power of its width, the correlation dimension.
local chance, cells, first, last = gr.fuse "(f64(c) / total)^2", nil, nil, nil
local sizes = { 64, 128, 256, 512 }
for _, bins in ipairs(sizes) do
  cells = gr.histogram2d(angles, speeds, { bins = bins, range = { { -math.pi, math.pi }, { -1, 3 } } })
  local counts = cells.counts
  last = chance { c = counts, total = counts:sum() }:sum()
  first = first or last
  if bins == sizes[1] then print(cells:plot { log = true, height = 24 }) end
  print(("%3d x %3d cells: %6d hold something, two share one in %.0f"):format(bins, bins, counts:count(), 1 / last))
end
local dimension = math.log(first / last) / math.log(sizes[#sizes] / sizes[1])
print(("dimension %.2f: more than a line, less than an area (%d looks at %d pendulums, on %s)"):format(
  dimension, LOOKS, N, gr.backend():match "%S+"))
assert(dimension > 1 and dimension < 2, "this is no strange attractor")

if path then
  assert(cells:svg(path, { log = true, title = "Driven pendulums, once a push", xlabel = "angle", xunit = "rad",
    ylabel = "speed", yunit = "rad/s", zlabel = "pendulums", width = 800, height = 560 }))
end
