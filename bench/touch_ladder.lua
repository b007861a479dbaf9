-- Every kernel of the ladder a few times, on odd lengths and unaligned views: for compute-sanitizer.
-- Usage: lua bench/touch_ladder.lua [taught], the latter without the module's own kernels.
local gr = require "gpureduce"
local taught, count = arg and arg[1] == "taught", 0
for _, n in ipairs { 1, 31, 1000, 4099, 70001 } do
  for shift = 0, 1 do
    local a, b = gr.rand(n + 5):slice(shift + 1, shift + n), gr.rand(n + 5):slice(2 * shift + 1, 2 * shift + n)
    local k = gr.zeros(n + 5, "i32"):slice(shift + 1, shift + n)
    for _, op in ipairs { "dot", "sum", "min", "max", "scan", "histogram", "rmsnorm" } do
      for _, rung in ipairs(gr.kernels(op)) do
        for _, block in ipairs(rung.block and { 64, 256, 1024 } or not taught and { false } or {}) do
          local o = { kernel = rung.name, block = block or nil }
          if rung.name == "batched" then o.rows, o.pairs = 1, op == "dot" or nil end
          if op == "dot" then gr.dot(a, b, o)
          elseif op == "scan" then gr.scan(a, "sum", o)
          elseif op == "rmsnorm" then gr.rmsnorm(a, b, o)
          elseif op == "histogram" then
            o.bins, o.min, o.max = 37, 0, 37
            gr.histogram(k, o)
          else gr[op](a, o) end
          count = count + 1
        end
      end
    end
  end
end
print(("touched the ladder %d times"):format(count))
