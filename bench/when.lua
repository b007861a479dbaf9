-- What asking later, and for many numbers at once, costs: lua bench/when.lua. Microseconds, medians.
local gr = require "gpureduce"

local function median(f, rounds, calls)
  local t = {}
  for r = 1, rounds do
    local began = gr.clock()
    for _ = 1, calls do f() end
    t[r] = (gr.clock() - began) / calls * 1e6
  end
  table.sort(t)
  return t[math.floor(rounds / 2) + 1]
end

print(gr.backend())
print("n        one sum   8 sums, one after the other   many of 8 sums   many of 8 operations"
  .. "   async + get   sum into element")
for _, n in ipairs { 16, 1024, 16384, 2 ^ 20 } do
  local same, mixed, x = {}, {}, gr.rand(n, { seed = 9 })
  local names = { "sum", "max", "norm", "mean", "var", "argmax", "any", "prod" }
  for k = 1, 8 do
    local a = gr.rand(n, { seed = k })
    same[k], mixed[k] = { "sum", a }, { names[k], a }
    assert(gr.many { { names[k], a } } == gr[names[k]](a))
  end
  local expected = {}
  for k = 1, 8 do expected[k] = same[k][2]:sum() end
  local got = { gr.many(same) }
  for k = 1, 8 do assert(expected[k] == got[k]) end
  local into = gr.zeros(8, "f64")
  local calls = n > 1e5 and 100 or 300
  local function eight() for k = 1, 8 do same[k][2]:sum() end end
  for _ = 1, 50 do eight() gr.many(mixed) end
  print(("%-8d %7.2f %16.2f %27.2f (%.2f) %13.2f (%.2f) %14.2f %15.2f"):format(n,
    median(function() return x:sum() end, 31, calls), median(eight, 31, calls),
    median(function() return gr.many(same) end, 31, calls),
    median(function() return gr.many(same) end, 31, calls) / median(function() return x:sum() end, 31, calls),
    median(function() return gr.many(mixed) end, 31, calls),
    median(function() return gr.many(mixed) end, 31, calls) / median(function() return x:sum() end, 31, calls),
    median(function() return gr.async(gr.sum, x):get() end, 31, calls),
    median(function() x:sum { into = into, at = 3 } end, 31, calls)))
end
local a = gr.rand(2 ^ 26, { seed = 1 })
local f = gr.async(gr.sum, a)
local looks, began = 0, gr.clock()
while not f:done() do looks = looks + 1 end
print(("2^26: %d looks of %.2f us while it ran"):format(looks, (gr.clock() - began) / (looks + 1) * 1e6))
print(("device time of that sum: %.1f us"):format(gr.timer(gr.sum, a) * 1e6))
