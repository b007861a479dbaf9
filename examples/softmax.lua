-- Which of three kinds is it? lua examples/softmax.lua [SAMPLES [PICTURE.svg]]
-- Softmax regression by gradient descent: samples are rows, measured features columns, of a matrix X with a column of
-- ones; W has a row for each kind. Probabilities are the softmax of the rows of X W', the gradient is (P - Y)' X / n.
-- The loops are over kinds and steps; no Lua code sees a sample.
local gr = require "gpureduce"

local N, PICTURE = tonumber(arg and arg[1]) or 10000, arg and arg[2]
local KINDS, D, STEPS, RATE = 3, 4, 200, 0.5

-- Samples whose features lie around those of their kind; the last feature is 1, for the bias.
local around = gr.array({ 1, 0, 0, 1, -0.5, 0.9, 1, 1, -0.5, -0.9, -1, 1 }):matrix(KINDS)
local spread = gr.array { 0.7, 0.7, 1, 0 }
local kind = gr.randint(1, KINDS, N, "i64", { seed = 1 })
local places = gr.column((kind - 1) * D) + gr.row(gr.arange(1, D, "i64"))
local X = gr.randn(N * D, { seed = 2 }):matrix(N) * gr.row(spread) + around:slice():take(places)

-- Y has a column for each kind, 1 where the sample is of it.
local Y = gr.compare(gr.column(kind), "==", gr.row(gr.arange(1, KINDS, "i64"))):cast "f32"

local W = gr.zeros(KINDS * D):matrix(KINDS)
local scores, gradient = gr.zeros(N * KINDS):matrix(KINDS), gr.zeros(KINDS * D):matrix(KINDS)
local losses = {}

-- The probabilities of each sample's kinds, a row for a sample.
local function probabilities()
  for k = 1, KINDS do gr.dot(X, W[k], { axis = 2, out = "f32", into = scores[k] }) end
  return scores:transpose():softmax()
end

for step = 1, STEPS do
  local P = probabilities()
  losses[step] = -gr.fuse "y * log(p)" { y = Y, p = P }:sum() / N
  local R = P - Y
  for k = 1, KINDS do
    gr.sum(gr.lazy(X) * gr.column(R:column(k)), { axis = 1, out = "f32", into = gradient[k] })
  end
  gr.fuse "w - rate / n_samples * g" { w = W, g = gradient, rate = RATE, n_samples = N }:eval { into = W }
end

local P = probabilities()
local right = gr.compare(P:argmax { axis = 2 }, "==", kind):sum()
print(("%d samples of %d kinds on %s"):format(N, KINDS, gr.backend():match "%S+"))
print(("loss %.6f before, %.6f after %d steps"):format(losses[1], losses[STEPS], STEPS))
print(("%.2f %% are told right"):format(100 * right / N))
for k = 1, KINDS do
  local w = W[k]:table()
  print(("weights of kind %d: % .4f % .4f % .4f, bias % .4f"):format(k, w[1], w[2], w[3], w[4]))
end

if PICTURE then
  assert(gr.svg { path = PICTURE, lines = { { name = "loss", y = losses } }, title = "Learning three kinds",
    xlabel = "step", ylabel = "cross entropy", xlog = true })
end
