-- Reductions of one's own: lua examples/operator.lua [POINTS]
-- A walk of random steps: where it is furthest from its start, the box it stays in, and the log-sum-exp of its heights.
-- Each is said in formulas, and computed on all threads in a fixed order.
local gr = require "gpureduce"

local N = math.floor((tonumber(arg and arg[1]) or 100000) / 10) * 10
gr.seed(1)
local walk = (gr.rand(N, "f64") - 0.5):scan()

-- The place of the largest |x|; of two as large the first.
local furthest = gr.operator {
  state = { "m", "p" },
  map = { m = "abs(x)", p = "i" },
  merge = { m = "max(m1, m2)", p = "m1 > m2 and p1 or (m2 > m1 and p2 or min(p1, p2))" },
  identity = { m = -1, p = 0 },
  check = true,
}

local box = gr.operator {
  state = { "lo", "hi" },
  map = { lo = "x", hi = "x" },
  merge = { lo = "min(lo1, lo2)", hi = "max(hi1, hi2)" },
  identity = { lo = math.huge, hi = -math.huge },
  check = true,
}

-- The largest so far, and the sum of e^(x - largest), so that no sum overflows. Equal ones are not subtracted: they may
-- be infinite.
local log_sum_exp = gr.operator {
  state = { "m", "s" },
  map = { m = "x", s = "1.0" },
  merge = {
    m = "max(m1, m2)",
    s = "m1 == m2 and s1 + s2 or (m1 > m2 and s1 + s2 * exp(m2 - m1) or s2 + s1 * exp(m1 - m2))",
  },
  identity = { m = -math.huge, s = 0 },
  finish = "m + log(s)",
  check = true,
}

local far, where = furthest(walk)
local lo, hi = box(walk)
local height = log_sum_exp(walk)
print(("%d steps: furthest at %d, %.3f away"):format(N, where, far))
print(("box: %.3f to %.3f"):format(lo, hi))
print(("log-sum-exp: %.6f"):format(height))

-- The same box of ten stretches, and how it grows.
local lows, highs = box(walk, { rows = 10 })
for k = 1, 10, 3 do print(("stretch %2d: %8.3f to %8.3f"):format(k, lows[k], highs[k])) end
local _, sofar = gr.scan(walk, box)
print(("highest after half of it: %.3f"):format(sofar[math.floor(N / 2)]))

assert(far == math.abs(walk[where]) and far == gr.abs(walk):max(), "not the furthest")
assert(lo == walk:min() and hi == walk:max() and highs:max() == hi and sofar[N] == hi, "not the box")
assert(math.abs(height - walk:logsumexp()) <= 1e-12 * math.abs(height), "not the sum")
