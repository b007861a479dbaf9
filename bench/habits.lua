-- What the three habits of docs/guide.md are worth: lua bench/habits.lua
local gr = require "gpureduce"
local timing = require "bench.timing"

local function seconds(f) return timing.seconds(f, 9) end

local function show(name, s, than)
  local unit = s < 1e-3 and ("%.2f us"):format(s * 1e6) or ("%.2f ms"):format(s * 1e3)
  print(("  %-46s %12s%s"):format(name, unit, than and ("   %.1f times"):format(than / s) or ""))
  return s
end

local name, why = gr.backend()
print(("%s, %s (%s); CPU: %s, %d threads"):format(_VERSION, name, why, gr.instructions(), gr.threads()))

print("1. keep data where it is (sum of 2^20 f32)")
local a = gr.rand(2 ^ 20)
local bytes, numbers = a:bytes(), a:table()
local expected = a:sum()
assert(gr.array(numbers):sum() == expected and gr.frombytes(bytes):sum() == expected)
local slow = show("from a Lua table, each time", seconds(function() return gr.array(numbers):sum() end))
show("from a packed string, each time", seconds(function() return gr.frombytes(bytes):sum() end), slow)
show("kept in an array", seconds(function() return a:sum() end), slow)

print("2. ask for many results at once (eight sums of 1000 f32)")
local list, small = {}, {}
for k = 1, 8 do
  small[k] = gr.rand(1000, { seed = k })
  list[k] = { "sum", small[k] }
end
slow = show("one by one", seconds(function() for k = 1, 8 do small[k]:sum() end end))
show("with gr.many", seconds(function() return gr.many(list) end), slow)
local matrix = gr.rand(8000)
show("as eight rows of one array, read as a table", seconds(function()
  return matrix:sum({ rows = 8 }):table()
end), slow)

print("3. do not read elements in a loop (sum of 2^20 f32)")
slow = show("a[i] for each", seconds(function()
  local sum = 0
  for i = 1, #a do sum = sum + a[i] end
  return sum
end))
show("a:table(), then a loop", seconds(function()
  local sum = 0
  for _, x in ipairs(a:table()) do sum = sum + x end
  return sum
end), slow)
show("a:sum()", seconds(function() return a:sum() end), slow)
local u = gr.zeros(2 ^ 20)
local to_u = { into = u }
slow = show("one element after each step", seconds(function()
  gr.add(u, 1, to_u)
  return u[1]
end))
show("steps alone", seconds(function() gr.add(u, 1, to_u) end), slow)
