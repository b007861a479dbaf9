-- The norm of a residual, by formulas: lua examples/residual.lua [CELLS]
-- Jacobi's method for -u'' = f with u = 0 at both ends. A step is one formula, stored over what was there two steps
-- ago; how far it is from the solution is another, which is never stored at all.
local gr = require "gpureduce"

local N, MOST = tonumber(arg and arg[1]) or 64, 20000
local h = 1 / (N + 1)

-- The ends are elements of their own, so that both neighbours are views of the same length.
local u, old = gr.zeros(N + 2, "f64"), gr.zeros(N + 2, "f64")
local f = gr.fuse "pi^2 * s" { s = gr.fuse "i / (n + 1)" { n = N }, pi = math.pi } -- a slope, for a start
f = f:eval()

local step = gr.fuse "0.5 * (left + right + h2 * f)"
local residual = gr.fuse "f - (2 * u - left - right) / h2"

-- What the formulas take of an array, once for each of the two.
local function around(a)
  local left, middle, right = a:slice(1, N), a:slice(2, N + 1), a:slice(3, N + 2)
  return { to = { into = middle }, step = step { left = left, right = right, f = f, h2 = h * h },
    residual = residual { left = left, u = middle, right = right, f = f, h2 = h * h } }
end
local here, there = around(u), around(old)

local steps, norm = 0, 1
while norm >= 1e-8 and steps < MOST do
  for _ = 1, 100 do
    here.step:eval(there.to)
    here, there = there, here
  end
  steps = steps + 100
  norm = here.residual:norm()
end

-- -u'' = pi^2 x has the solution pi^2 (x - x^3) / 6, which second differences have exactly.
local exact = gr.fuse "pi2 * (x - x^3) / 6" { x = gr.fuse "i / (n + 1)" { n = N }, pi2 = math.pi ^ 2 }
local error_most = gr.fuse "abs(u - exact)" { u = here.to.into, exact = exact }:max()

print(("%d cells, %d steps"):format(N, steps))
print(("residual: %.1e, largest error: %.1e"):format(norm, error_most))
assert(norm < 1e-8 and error_most < 1e-10 * N, "did not converge")
