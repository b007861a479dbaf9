-- What every state does at once (states.c): work in pieces on the shared threads, blocks from the shared pool, results
-- for later, settings of the whole process, and the reads of what others set.
local number, device = ...
local gr = require "gpureduce"
gr.use(device)

local n = 149996 -- 7 rows
local x, y = gr.rand(n, "f32", { seed = 5 }), gr.randn(n, "f64", { seed = 6 })
local small = gr.arange(1, 1000, "f64")

-- What a round gives must not depend on what other states do meanwhile.
local function round()
  local h = gr.histogram(x, { bins = 5000, min = 0, max = 1 })
  local future = gr.many({ { "sum", small }, { "max", small }, { "dot", small, small } }, { async = true })
  local later = gr.async(gr.scan, y, "sum")
  local larger = gr.many({ { "sum", x }, { "norm", y }, { "max", gr.lazy(x) * 2 } }, { async = true })
  local rows, copy = gr.async(gr.sum, y, { rows = 7 }), y:copy()
  gr.async(gr.sum, y)
  gr.async(gr.scan, copy, "sum", { into = copy }) -- nobody asks for it
  local list = {
    x:sum(), y:var(), gr.dot(y, y), y:norm(), y:argmax(), x:sum { exact = true }, x:sum { accumulate = "kahan" },
    y:scan("sum")[-1], h.counts:argmax(), x:median(), gr.add(x, x):max(), x:cast("f16"):min(),
    y:sum { rows = 7, axis = 1, into = gr.zeros(n / 7, "f64") }[3],
  }
  local sum, max, dot = future:get()
  list[#list + 1], list[#list + 2], list[#list + 3] = sum, max, dot
  list[#list + 1] = later:get()[n]
  sum, max, dot = larger:get()
  list[#list + 1], list[#list + 2], list[#list + 3] = sum, max, dot
  list[#list + 1], list[#list + 2] = rows:get()[7], copy[n]
  return list
end

local expected = round()
for k = 1, 6 do
  if k == number then gr.trim() end
  if number == 1 then gr.threads(1 + k % 3) end
  gr.memory()
  gr.stats()
  local list = round()
  for j = 1, #expected do assert(list[j] == expected[j], ("round %d, result %d"):format(k, j)) end
  collectgarbage()
end
rawset(_G, "kept", { gr.async(gr.scan, y, "sum"), gr.async(gr.var, x) }) -- under way when the state closes
