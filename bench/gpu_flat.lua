-- Mixed work for some seconds; memory of the process and of the module must not grow. Usage: gpu_flat.lua [SECONDS]
local gr = require "gpureduce"
local seconds, from = tonumber(arg[1]) or 120, os.time()

local function pages()
  local file = assert(io.open "/proc/self/statm")
  local _, resident = file:read("*n", "*n")
  file:close()
  return resident
end

-- What the module says of its memory, numbers in the order of their names.
local function module()
  local list = {}
  for name, value in pairs(gr.memory()) do
    if type(value) == "number" then list[#list + 1] = ("%s %.0f"):format(name, value) end
  end
  table.sort(list)
  return table.concat(list, ", ")
end

local function work(k)
  local n = 1000 + k * 7919 % 200000
  local x, y = gr.rand(n, "f32", { seed = k }), gr.randn(n, "f64", { seed = k })
  local f = gr.many({ { "sum", x }, { "max", x }, { "dot", y, y } }, { async = true })
  y:scan("sum")
  gr.histogram(x, { bins = 100 + k % 9000, min = 0, max = 1 })
  gr.add(x, x):cast("f16"):table(1, 10)
  x:sum { exact = true }
  x:median()
  f:get()
  pcall(gr.add, x, y:slice(1, 10))
end

local k, first, last, next_line = 0, nil, nil, 0
repeat
  k = k + 1
  work(k)
  local passed = os.time() - from
  if passed >= next_line then
    collectgarbage()
    collectgarbage()
    gr.trim()
    last = pages()
    if not first and passed >= seconds / 4 then first = last end -- kernels are loaded when they are first used
    print(("%4d s %8d rounds %9d pages %9.1f KB of Lua; %s"):format(passed, k, last, collectgarbage "count", module()))
    next_line = passed + math.max(1, seconds / 40)
  end
until passed >= seconds
first = first or last
local growth = (last - first) / first
print(("growth %.2f %%"):format(100 * growth))
os.exit(growth <= 0.01)
