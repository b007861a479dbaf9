-- Gravity among bodies, every pair, in f64: lua examples/nbody.lua [BODIES] [STEPS] [STEPS IN A UNIT OF TIME]
-- Arrays hold all bodies twice, so that a view that begins s places later is everybody's neighbour number s: no body
-- is read alone. Leapfrog steps; momentum and energy tell how good they are.
local gr = require "gpureduce"

local N, STEPS = tonumber(arg and arg[1]) or 24, tonumber(arg and arg[2]) or 100
local DT, SOFTENING = 1 / (tonumber(arg and arg[3]) or 512), 0.1
local axes = { "x", "y", "z" }

-- Somewhere in a cube, with a little motion; all together at rest.
local function doubled(values)
  local a = gr.zeros(2 * N, "f64")
  values:copy { into = a:slice(1, N) }
  values:copy { into = a:slice(N + 1, -1) }
  return a
end

local mass2 = doubled(gr.rand(N, "f64", { seed = 1 }) / N + 0.5 / N)
local mass = mass2:slice(1, N)
local position, copy_of, velocity, shifted = {}, {}, {}, {}
for k, axis in ipairs(axes) do
  local both = doubled(gr.rand(N, "f64", { seed = 2, stream = k }))
  position[axis], copy_of[axis] = both:slice(1, N), both:slice(N + 1, -1)
  local v = gr.randn(N, "f64", { seed = 3, stream = k }) * 0.3
  velocity[axis] = v - mass:dot(v) / mass:sum()
  shifted[axis] = {}
  for s = 1, N - 1 do shifted[axis][s] = both:slice(1 + s, N + s) end
end
local shifted_mass = {}
for s = 1, N - 1 do shifted_mass[s] = mass2:slice(1 + s, N + s) end

-- Everything that a step needs, made once.
local away, pull, square, root, t = {}, {}, gr.zeros(N, "f64"), gr.zeros(N, "f64"), gr.zeros(N, "f64")
for _, axis in ipairs(axes) do away[axis], pull[axis] = gr.zeros(N, "f64"), gr.zeros(N, "f64") end
local into = {}
for _, a in ipairs { square, root, t } do into[a] = { into = a } end
for _, axis in ipairs(axes) do
  for _, list in ipairs { position, velocity, away, pull, copy_of } do into[list[axis]] = { into = list[axis] } end
end

-- Distances of everybody to its neighbour number s: away (a vector), square and root.
local function look(s)
  square:fill(SOFTENING * SOFTENING)
  for _, axis in ipairs(axes) do
    gr.sub(shifted[axis][s], position[axis], into[away[axis]])
    gr.square(away[axis], into[t])
    gr.add(square, t, into[square])
  end
  gr.sqrt(square, into[root])
end

local function find_pull()
  for _, axis in ipairs(axes) do pull[axis]:fill(0) end
  for s = 1, N - 1 do
    look(s)
    gr.mul(square, root, into[root])
    gr.div(shifted_mass[s], root, into[root]) -- m / r^3
    for _, axis in ipairs(axes) do
      gr.mul(away[axis], root, into[t])
      gr.add(pull[axis], t, into[pull[axis]])
    end
  end
end

local function energy()
  local kinetic, potential = 0, 0
  for _, axis in ipairs(axes) do
    gr.square(velocity[axis], into[t])
    kinetic = kinetic + mass:dot(t) / 2
  end
  for s = 1, N - 1 do
    look(s)
    gr.div(shifted_mass[s], root, into[t])
    potential = potential - mass:dot(t) / 2
  end
  return kinetic + potential
end

local function momentum()
  local sum = 0
  for _, axis in ipairs(axes) do sum = sum + mass:dot(velocity[axis]) ^ 2 end
  return math.sqrt(sum)
end

local function move(list, by, factor)
  for _, axis in ipairs(axes) do
    gr.mul(by[axis], factor, into[t])
    gr.add(list[axis], t, into[list[axis]])
  end
end

local function step()
  move(velocity, pull, DT / 2)
  move(position, velocity, DT)
  for _, axis in ipairs(axes) do position[axis]:copy(into[copy_of[axis]]) end
  find_pull()
  move(velocity, pull, DT / 2)
end

local before = energy()
find_pull()
step()
local allocations = gr.stats().allocations
for _ = 2, STEPS do step() end
local allocated = gr.stats().allocations - allocations
local after = energy()

print(("%d bodies, %d steps on %s"):format(N, STEPS, (gr.backend())))
print(("energy %.12f, at the end %.12f: drift %.2e"):format(before, after, math.abs(after / before - 1)))
print(("momentum %.2e"):format(momentum()))
print(("arrays allocated after the first step: %d"):format(allocated))
