-- Sod's shock tube, as in sod.lua, on as many ranks as there are:
--   mpirun -n 3 lua examples/sod_ranks.lua [CELLS]     (docs/ranks.md; without mpirun it is one rank)
-- Every rank has some of the cells and learns, before each step, what its neighbours have beside them. The step is as
-- long as the fastest wave of all ranks allows, and mass and energy are sums over all of them: every number of ranks
-- prints the same digits, and the density has the bits of sod.lua's.
local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()

local N, GAMMA, CFL, FINISH = tonumber(arg and arg[1]) or 200, 1.4, 0.45, 0.2
local LEFT, RIGHT = { rho = 1, p = 1 }, { rho = 0.125, p = 0.1 } -- both at rest
local DX, HALF = 1 / N, math.floor(N / 2)

-- This rank's cells of 1 .. N, and one more at each end.
local LOW, HIGH = math.floor(N * comm.rank / comm.size), math.floor(N * (comm.rank + 1) / comm.size)
local COUNT = HIGH - LOW
local with = { comm = comm }

local rho, energy = {}, {}
for k = 1, COUNT + 2 do
  local side = LOW + k - 1 <= HALF and LEFT or RIGHT
  rho[k], energy[k] = side.rho, side.p / (GAMMA - 1)
end
local gas = { gr.array(rho, "f64"), gr.zeros(COUNT + 2, "f64"), gr.array(energy, "f64") } -- density, momentum, energy

local function inside(a) return a:slice(2, COUNT + 1) end

-- The cells at the ends: those of the neighbours, or, where the tube ends, once more this rank's own.
local function exchange()
  local mine = {}
  for k, a in ipairs(gas) do mine[k], mine[k + 3] = a[2], a[COUNT + 1] end
  local all = comm:gather(COUNT > 0 and mine or false)
  if COUNT == 0 then return end
  local before, after = comm.rank, comm.rank + 2 -- in a list that begins at 1
  while before >= 1 and not all[before] do before = before - 1 end
  while after <= comm.size and not all[after] do after = after + 1 end
  for k, a in ipairs(gas) do
    a[1] = before >= 1 and all[before][k + 3] or mine[k]
    a[COUNT + 2] = after <= comm.size and all[after][k] or mine[k + 3]
  end
end

local function left(a) return a:slice(1, -2) end
local function right(a) return a:slice(2, -1) end

-- (F_left + F_right) / 2 - fastest (U_right - U_left) / 2 between cells; then the difference of two faces.
local function advance(a, flux, fastest, dt)
  local face = left(flux) + right(flux) - (right(a) - left(a)) * fastest
  local change = (right(face) - left(face)) * (dt / DX / 2);
  (inside(a) - change):copy { into = inside(a) }
end

local time, steps = 0, 0
while time < FINISH do
  exchange()
  local density, momentum, e = gas[1], gas[2], gas[3]
  local u = momentum / density
  local p = (e - momentum * u * 0.5) * (GAMMA - 1)
  local speed = gr.abs(u) + gr.sqrt(p / density * GAMMA)
  local dt = math.min(CFL * DX / (COUNT > 0 and speed or gr.zeros(0, "f64")):max(with), FINISH - time)
  if COUNT > 0 then
    local fluxes = { momentum:copy(), momentum * u + p, (e + p) * u }
    local fastest = gr.where(right(speed):compare(">", left(speed)), right(speed), left(speed))
    for k, a in ipairs(gas) do advance(a, fluxes[k], fastest, dt) end
  end
  time, steps = time + dt, steps + 1
end

local mass, total = inside(gas[1]):sum(with) * DX, inside(gas[3]):sum(with) * DX
local digest = inside(gas[1]):digest(with)
if comm.rank == 0 then
  print(("%d cells on %d ranks"):format(N, comm.size))
  print(("after %d steps: mass %a, energy %a"):format(steps, mass, total))
  print(("mass %.12f, digest of the density %s"):format(mass, digest))
end
