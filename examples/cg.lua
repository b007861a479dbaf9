-- Poisson's equation on a square by conjugate gradients (Hestenes and Stiefel 1952): lua examples/cg.lua [SIDE]
-- -(u_xx + u_yy) = f with u = 0 at the edge, five points a cell. The grid has a border of zeros, so that neighbours are
-- views one place, or one row, away. The dots have the same bits everywhere, hence so has the number of iterations.
local gr = require "gpureduce"

local N, TOLERANCE = tonumber(arg and arg[1]) or 32, 1e-10
local SIDE = N + 2
local TOTAL, H = SIDE * SIDE, 1 / (N + 1)

-- From the first inner cell to the last one, and the same range moved by d; borders within it are put to 0 by a mask.
local FIRST, LAST = SIDE + 2, TOTAL - SIDE - 1
local function grid() return gr.zeros(TOTAL, "f64") end
local function range(a, d) return a:slice(FIRST + d, LAST + d) end

-- u = x (1 - x) y (1 - y) solves it for this f, and the five points are exact for it.
local f, mask, exact = {}, {}, {}
for row = 0, SIDE - 1 do
  for column = 0, SIDE - 1 do
    local k, x, y = row * SIDE + column + 1, column * H, row * H
    local inner = row > 0 and row < SIDE - 1 and column > 0 and column < SIDE - 1
    mask[k] = inner and 1 or 0
    f[k] = inner and 2 * (x * (1 - x) + y * (1 - y)) * H * H or 0
    exact[k] = inner and x * (1 - x) * y * (1 - y) or 0
  end
end
mask = range(gr.array(mask, "f64"), 0)

local u, r, p, q, t = grid(), gr.array(f, "f64"), grid(), grid(), grid()
r:copy { into = p }
local inner_q, inner_p = range(q, 0), range(p, 0)
local left, right, up, down = range(p, -1), range(p, 1), range(p, -SIDE), range(p, SIDE)
local to_inner_q, to_t = { into = inner_q }, { into = t }
local to_u, to_r, to_p = { into = u }, { into = r }, { into = p }

-- q = A p: four times each cell less its neighbours.
local function apply()
  gr.mul(inner_p, 4, to_inner_q)
  gr.sub(inner_q, left, to_inner_q)
  gr.sub(inner_q, right, to_inner_q)
  gr.sub(inner_q, up, to_inner_q)
  gr.sub(inner_q, down, to_inner_q)
  gr.mul(inner_q, mask, to_inner_q)
end

local rr, iterations, allocations = r:dot(r), 0, nil
local goal = rr * TOLERANCE * TOLERANCE
while rr > goal and iterations < 10 * N do
  apply()
  local alpha = rr / p:dot(q)
  gr.mul(p, alpha, to_t)
  gr.add(u, t, to_u)
  gr.mul(q, alpha, to_t)
  gr.sub(r, t, to_r)
  local rr_new = r:dot(r)
  gr.mul(p, rr_new / rr, to_p)
  gr.add(p, r, to_p)
  rr, iterations = rr_new, iterations + 1
  allocations = allocations or gr.stats().allocations
end
local allocated = gr.stats().allocations - (allocations or 0)

local error_now = gr.abs(u - gr.array(exact, "f64")):max()
print(("%d x %d unknowns on %s"):format(N, N, (gr.backend())))
print(("%d iterations, residual %.17g"):format(iterations, math.sqrt(rr)))
print(("largest error %.1e"):format(error_now))
print(("arrays allocated after the first iteration: %d"):format(allocated))
