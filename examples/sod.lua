-- Sod's shock tube (1978): lua examples/sod.lua [CELLS]
-- The Euler equations by Rusanov's flux; each step is as long as the fastest wave allows, so one number comes back a
-- step: the maximum. At the end the density is compared with the exact solution of the Riemann problem.
local gr = require "gpureduce"

local N, GAMMA, CFL, FINISH = tonumber(arg and arg[1]) or 200, 1.4, 0.45, 0.2
local LEFT, RIGHT = { rho = 1, u = 0, p = 1 }, { rho = 0.125, u = 0, p = 0.1 }
local DX = 1 / N

-- ---- the exact solution (Toro 2009, chapter 4) ----

-- How far the velocity changes across the wave that joins a side's state with pressure p, and the derivative.
local function across(p, side)
  local c = math.sqrt(GAMMA * side.p / side.rho)
  if p > side.p then -- a shock
    local a, b = 2 / ((GAMMA + 1) * side.rho), (GAMMA - 1) / (GAMMA + 1) * side.p
    local root = math.sqrt(a / (p + b))
    return (p - side.p) * root, root * (1 - (p - side.p) / (2 * (b + p)))
  end
  local ratio = (p / side.p) ^ ((GAMMA - 1) / (2 * GAMMA))
  return 2 * c / (GAMMA - 1) * (ratio - 1), (p / side.p) ^ (-(GAMMA + 1) / (2 * GAMMA)) / (side.rho * c)
end

local function star()
  local p = (LEFT.p + RIGHT.p) / 2
  for _ = 1, 50 do -- Newton's method
    local fl, dl = across(p, LEFT)
    local fr, dr = across(p, RIGHT)
    p = p - (fl + fr + RIGHT.u - LEFT.u) / (dl + dr)
  end
  return p, (LEFT.u + RIGHT.u + across(p, RIGHT) - across(p, LEFT)) / 2
end

local p_star, u_star = star()

-- The density where x / t = s. Here the left wave is a fan and the right one a shock.
local function exact_density(s)
  local c = math.sqrt(GAMMA * LEFT.p / LEFT.rho)
  local c_star = c * (p_star / LEFT.p) ^ ((GAMMA - 1) / (2 * GAMMA))
  if s < LEFT.u - c then return LEFT.rho end
  if s < u_star - c_star then
    return LEFT.rho * (2 / (GAMMA + 1) + (GAMMA - 1) / ((GAMMA + 1) * c) * (LEFT.u - s)) ^ (2 / (GAMMA - 1))
  end
  if s < u_star then return LEFT.rho * (p_star / LEFT.p) ^ (1 / GAMMA) end
  local q, k = p_star / RIGHT.p, (GAMMA - 1) / (GAMMA + 1)
  local shock = RIGHT.u + math.sqrt(GAMMA * RIGHT.p / RIGHT.rho)
    * math.sqrt((GAMMA + 1) / (2 * GAMMA) * q + (GAMMA - 1) / (2 * GAMMA))
  return s < shock and RIGHT.rho * (q + k) / (k * q + 1) or RIGHT.rho
end

-- ---- the gas: N cells and one more at each end ----

local function cells() return gr.zeros(N + 2, "f64") end
local function faces() return gr.zeros(N + 1, "f64") end

local rho, momentum, energy = cells(), cells(), cells()
local half = N / 2 - N / 2 % 1 + 1
for _, part in ipairs { { LEFT, 1, half }, { RIGHT, half + 1, -1 } } do
  local state = part[1]
  rho:slice(part[2], part[3]):fill(state.rho)
  momentum:slice(part[2], part[3]):fill(state.rho * state.u)
  energy:slice(part[2], part[3]):fill(state.p / (GAMMA - 1) + state.rho * state.u ^ 2 / 2)
end

local function to(a) return { into = a } end
local u, p, speed, t = cells(), cells(), cells(), cells()
local to_u, to_p, to_speed, to_t = to(u), to(p), to(speed), to(t)
local fastest, difference, right_is = faces(), faces(), gr.zeros(N + 1, "u8")
local to_fastest, to_difference, to_right_is = to(fastest), to(difference), to(right_is)
local speed_left, speed_right = speed:slice(1, -2), speed:slice(2, -1)

-- A conserved quantity with its flux, and the views that the steps need.
local function quantity(a)
  local flux, face = cells(), faces()
  return {
    flux = flux, to_flux = to(flux), face = face, to_face = to(face),
    left = a:slice(1, -2), right = a:slice(2, -1), flux_left = flux:slice(1, -2), flux_right = flux:slice(2, -1),
    inside = a:slice(2, -2), to_inside = to(a:slice(2, -2)), before = face:slice(1, -2), after = face:slice(2, -1),
    first = to(a:slice(1, 1)), second = a:slice(2, 2), last = to(a:slice(-1, -1)), last_but_one = a:slice(-2, -2),
  }
end
local quantities = { quantity(rho), quantity(momentum), quantity(energy) }
local change = gr.zeros(N, "f64")
local to_change = to(change)

local function find_state()
  gr.div(momentum, rho, to_u)
  gr.mul(momentum, u, to_t) -- p = (gamma - 1) (E - rho u^2 / 2)
  gr.mul(t, 0.5, to_t)
  gr.sub(energy, t, to_p)
  gr.mul(p, GAMMA - 1, to_p)
  gr.div(p, rho, to_t) -- |u| + c
  gr.mul(t, GAMMA, to_t)
  gr.sqrt(t, to_t)
  gr.abs(u, to_speed)
  gr.add(speed, t, to_speed)
end

local function find_fluxes()
  momentum:copy(quantities[1].to_flux)
  gr.mul(momentum, u, quantities[2].to_flux)
  gr.add(quantities[2].flux, p, quantities[2].to_flux)
  gr.add(energy, p, to_t)
  gr.mul(t, u, quantities[3].to_flux)
  gr.compare(speed_right, ">", speed_left, to_right_is)
  gr.where(right_is, speed_right, speed_left, to_fastest)
end

-- (F_left + F_right) / 2 - fastest (U_right - U_left) / 2 between cells; then the difference of two faces.
local function advance(q, dt)
  gr.add(q.flux_left, q.flux_right, q.to_face)
  gr.sub(q.right, q.left, to_difference)
  gr.mul(difference, fastest, to_difference)
  gr.sub(q.face, difference, q.to_face)
  gr.sub(q.after, q.before, to_change)
  gr.mul(change, dt / DX / 2, to_change)
  gr.sub(q.inside, change, q.to_inside)
  q.second:copy(q.first) -- the ends are open
  q.last_but_one:copy(q.last)
end

local time, steps, allocations = 0, 0, nil
while time < FINISH do
  find_state()
  local dt = math.min(CFL * DX / speed:max(), FINISH - time)
  find_fluxes()
  for _, q in ipairs(quantities) do advance(q, dt) end
  time, steps = time + dt, steps + 1
  allocations = allocations or gr.stats().allocations
end
local allocated = gr.stats().allocations - allocations

local exact = {}
for k = 1, N do exact[k] = exact_density(((k - 0.5) * DX - 0.5) / FINISH) end
local inside = rho:slice(2, -2)
local distance = gr.abs(inside - gr.array(exact, "f64")):mean()

print(("%d cells, %d steps on %s"):format(N, steps, (gr.backend())))
print(("between the waves: p %.5f, u %.5f"):format(p_star, u_star))
print(("mean distance of the density from the exact one: %.5f"):format(distance))
print(("mass %.12f"):format(inside:sum() * DX))
print(("arrays allocated after the first step: %d"):format(allocated))
if arg and arg[2] then
  local x = gr.linspace(DX / 2, 1 - DX / 2, N, "f64")
  gr.svg { path = arg[2], title = "Sod's shock tube, t = 0.2", xlabel = "x", ylabel = "density",
    lines = { { name = "computed", x = x, y = inside }, { name = "exact", x = x, y = exact } } }
end
