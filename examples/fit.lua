-- Least squares by gradient descent: lua examples/fit.lua [SAMPLES]
-- Each step is two products with the matrix, along its rows and down its columns; nothing comes back but the size of
-- the gradient now and then. The result is compared with the solution of the normal equations.
local gr = require "gpureduce"

local N, D, MOST = tonumber(arg and arg[1]) or 2000, 4, 500
local TRUE = { 2, -1, 0.5, 3 }

local X = gr.randn(N * D, "f64", { seed = 1 })
X:slice(1, -1, D):fill(1) -- the first column is the constant
local y = gr.dot(X, gr.array(TRUE, "f64"), { rows = N }) + gr.randn(N, "f64", { seed = 2 }) * 0.1

local w, gradient, residual = gr.zeros(D, "f64"), gr.zeros(D, "f64"), gr.zeros(N, "f64")
local along, down = { rows = N, into = residual }, { rows = N, axis = 1, into = gradient }
local to_residual, to_gradient, to_w = { into = residual }, { into = gradient }, { into = w }

-- The columns are about independent with unit variance, so the curvature is about N in every direction.
local RATE = 0.9 / N

local steps, allocations = 0, nil
repeat
  gr.dot(X, w, along)
  gr.sub(residual, y, to_residual)
  gr.dot(X, residual, down)
  gr.mul(gradient, RATE, to_gradient)
  gr.sub(w, gradient, to_w)
  steps = steps + 1
  allocations = allocations or gr.stats().allocations
until steps % 10 == 0 and gradient:norm() < 1e-14 or steps == MOST
local allocated = gr.stats().allocations - allocations

-- The normal equations X'X w = X'y by elimination with pivots; columns are views.
local function normal_equations()
  local m = {}
  for i = 1, D do
    m[i] = {}
    for j = 1, D do m[i][j] = gr.dot(X:slice(i, -1, D), X:slice(j, -1, D)) end
    m[i][D + 1] = gr.dot(X:slice(i, -1, D), y)
  end
  for k = 1, D do
    local pivot = k
    for i = k + 1, D do
      if math.abs(m[i][k]) > math.abs(m[pivot][k]) then pivot = i end
    end
    m[k], m[pivot] = m[pivot], m[k]
    for i = 1, D do
      local factor = i ~= k and m[i][k] / m[k][k] or 0
      for j = k, D + 1 do m[i][j] = m[i][j] - factor * m[k][j] end
    end
  end
  local solution = {}
  for i = 1, D do solution[i] = m[i][D + 1] / m[i][i] end
  return solution
end

local solution, far = normal_equations(), 0
for k = 1, D do far = math.max(far, math.abs(w[k] - solution[k])) end
print(("%d samples, %d steps on %s"):format(N, steps, (gr.backend())))
print(("weights %.6f %.6f %.6f %.6f"):format(w[1], w[2], w[3], w[4]))
print(("largest distance from the normal equations %.1e"):format(far))
print(("arrays allocated after the first step: %d"):format(allocated))
