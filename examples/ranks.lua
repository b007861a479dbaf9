-- Poisson's equation by conjugate gradients, as in cg.lua, on as many ranks as there are:
--   mpirun -n 3 lua examples/ranks.lua [SIDE]          (docs/ranks.md; without mpirun it is one rank)
-- Every rank has some rows of the grid and gives its outermost two to its neighbours before each step. The dots are of
-- the whole grid and have the bits of one process, so every number of ranks prints the same digits.
local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()

local N, TOLERANCE = tonumber(arg and arg[1]) or 32, 1e-10
local SIDE, H = N + 2, 1 / (N + 1)

-- This rank's rows of 0 .. SIDE - 1, and a row of each neighbour around them.
local LOW, HIGH = math.floor(SIDE * comm.rank / comm.size), math.floor(SIDE * (comm.rank + 1) / comm.size)
local ROWS = HIGH - LOW
local FIRST, LAST = SIDE + 1, SIDE + ROWS * SIDE
local function grid() return gr.zeros((ROWS + 2) * SIDE, "f64") end
local function own(a, d) return a:slice(FIRST + (d or 0), LAST + (d or 0)) end

-- u = x (1 - x) y (1 - y) solves it for this f, and the five points are exact for it.
local f, mask, exact = {}, {}, {}
for row = LOW, HIGH - 1 do
  for column = 0, SIDE - 1 do
    local x, y = column * H, row * H
    local inner = row > 0 and row < SIDE - 1 and column > 0 and column < SIDE - 1
    mask[#mask + 1] = inner and 1 or 0
    f[#f + 1] = inner and 2 * (x * (1 - x) + y * (1 - y)) * H * H or 0
    exact[#exact + 1] = inner and x * (1 - x) * y * (1 - y) or 0
  end
end
mask, exact = gr.array(mask, "f64"), gr.array(exact, "f64")

-- Sums over all ranks. Ranks without rows take part with nothing.
local with = { comm = comm }
local function dot(a, b) return gr.dot(a, b, with) end

local p, u, r = grid(), gr.zeros(ROWS * SIDE, "f64"), gr.array(f, "f64")
if ROWS > 0 then r:copy { into = own(p) } end

-- The rows next to this rank's, from whoever has them.
local function exchange()
  local mine = ROWS > 0 and { p:slice(FIRST, FIRST + SIDE - 1), p:slice(LAST - SIDE + 1, LAST) } or nil
  local all = comm:gather(mine or false)
  if ROWS == 0 then return end
  local before, after = comm.rank, comm.rank + 2 -- in a list that begins at 1
  while before >= 1 and not all[before] do before = before - 1 end
  while after <= comm.size and not all[after] do after = after + 1 end
  if before >= 1 then all[before][2]:copy { into = p:slice(1, SIDE) } end
  if after <= comm.size then all[after][1]:copy { into = p:slice(LAST + 1, LAST + SIDE) } end
end

-- A p: four times each cell less its neighbours; borders are put to 0 by the mask. One place to the left or right of a
-- row's end lies a cell of another row, but there the mask is 0.
local function apply()
  exchange()
  if ROWS == 0 then return gr.zeros(0, "f64") end
  return (own(p) * 4 - own(p, -1) - own(p, 1) - own(p, -SIDE) - own(p, SIDE)) * mask
end

local rr, iterations = dot(r, r), 0
local goal = rr * TOLERANCE * TOLERANCE
while rr > goal and iterations < 10 * N do
  local q = apply()
  local inner = ROWS > 0 and own(p) or gr.zeros(0, "f64")
  local alpha = rr / dot(inner, q)
  u, r = u + inner * alpha, r - q * alpha
  local rr_new = dot(r, r)
  if ROWS > 0 then (inner * (rr_new / rr) + r):copy { into = inner } end
  rr, iterations = rr_new, iterations + 1
end

local worst = (u - exact):norm(math.huge, with)
if comm.rank == 0 then
  print(("%d x %d cells on %d ranks"):format(N, N, comm.size))
  print(("after %d iterations: residual %a, largest error %.3g"):format(iterations, math.sqrt(rr), worst))
end
