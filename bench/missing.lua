-- What skipping costs: reductions of arrays with NaN in one element of six, and with a mask that leaves out as many,
-- beside the plain call on the array without. In turns, medians of times and of ratios; results are compared with those
-- of filled or compacted copies first. From the root, after make:
--   lua5.4 bench/missing.lua [exponent=24] [dtype=f32] [rounds=21] [threads=0]
-- On the CPU threads=0 is one, timed by the seconds of the processor, which others on the machine disturb less than
-- those of the clock.
local gr = require "gpureduce"
local timing = require "bench.timing"
local median = timing.median
local options = timing.options(arg, { exponent = "24", dtype = "f32", rounds = "21", threads = "0" }, "exponent")
local n, rounds, threads = 2 ^ tonumber(options.exponent), tonumber(options.rounds), tonumber(options.threads)
local on_cpu = gr.backend():match "^%w+" == "cpu"
local now = on_cpu and threads == 0 and os.clock or gr.clock
if on_cpu then gr.threads(math.max(1, threads)) end

local mask = gr.randn(n, { seed = 2 }):compare("<=", 1)
local a = gr.randn(n, { seed = 1 }):cast(options.dtype)
local b = gr.randn(n, { seed = 3 }):cast(options.dtype)
local holes = gr.where(mask, a, 0 / 0)
local kept, present = a:compact(mask), mask:count()

local function filled(x) return gr.where(mask, a, x) end
local expected = {
  sum = function() return filled(0):sum() end,
  mean = function() return filled(0):sum() / present end,
  var = function() return kept:var() end,
  std = function() return kept:std() end,
  min = function() return kept:min() end,
  max = function() return kept:max() end,
  minmax = function() return kept:min() end,
  argmax = function() return filled(-math.huge):argmax() end,
  norm = function() return gr.norm(filled(0), 2) end,
  dot = function() return filled(0):dot(gr.where(mask, b, 0)) end,
  mse = function() return kept:mse(b:compact(mask)) end,
}

print(("# %s, %s, %s, %s; 2^%s elements of %s, %s"):format(gr._VERSION, rawget(_G, "jit") and jit.version or _VERSION,
  gr.backend(), gr.instructions(), options.exponent, options.dtype, now == os.clock
  and "seconds of the processor, one thread" or on_cpu and "seconds of the clock, " .. gr.threads() .. " threads"
  or "seconds of the clock"))
for _, op in ipairs { "sum", "mean", "var", "std", "min", "max", "minmax", "argmax", "norm", "dot", "mse" } do
  local function call(x, how)
    if op == "dot" or op == "mse" then return gr[op](x, b, how) end
    if op == "norm" then return gr.norm(x, 2, how) end
    return gr[op](x, how)
  end
  local ways = { { a, {} }, { holes, { skipnan = true } }, { a, { mask = mask } } }
  for k = 2, 3 do
    local x, y = call(ways[k][1], ways[k][2]), expected[op]()
    local is_near = math.abs(x - y) <= 1e-9 * math.abs(y)
    if not is_near then error(("%s: %.17g, %.17g expected"):format(op, x, y), 0) end -- of NaN, too
  end
  local times, ratios = { {}, {}, {} }, { {}, {}, {} }
  local calls = math.max(1, math.floor(2 ^ 22 / n))
  for r = 1, rounds do
    for k, way in ipairs(ways) do
      local start = now()
      for _ = 1, calls do call(way[1], way[2]) end
      times[k][r] = (now() - start) / calls
      ratios[k][r] = times[k][r] / times[1][r]
    end
  end
  for k = 1, 3 do times[k], ratios[k] = median(times[k]) * 1e6, median(ratios[k]) end
  print(("%-7s plain %8.1f us, skipnan %8.1f us (%.2f), mask %8.1f us (%.2f)"):format(op, times[1], times[2], ratios[2],
    times[3], ratios[3]))
end
