-- How fast the main operations are, end to end: until the number is a Lua value. Every result is first compared with
-- the CPU's, to the bit. Usage: lua bench/spine.lua [largest exponent, default 28 on a GPU, 26 on the CPU]
local gr = require "gpureduce"
local timing = require "bench.timing"

local name, why = gr.backend()
local largest = tonumber(arg and arg[1]) or (name:match("cuda") and 28 or 26)

local function same(x, y) return x == y or (x ~= x and y ~= y) end

-- What the CPU says of the same numbers (the generator gives the same on every backend).
local function verify(op, n, ...)
  if name == "cpu" then return end
  local got, inputs = op(...), {}
  gr.use("cpu")
  for k = 1, select("#", ...) do inputs[k] = gr.rand(n, "f32", { seed = k }) end
  local expected = op((table.unpack or unpack)(inputs)) -- luacheck: ignore unpack
  gr.use(name)
  assert(same(got, expected), ("n = %d: %.17g here, %.17g on the CPU"):format(n, got, expected))
end

print(("%s, %s (%s); CPU: %s, %d threads"):format(gr._VERSION, name, why, gr.instructions(), gr.threads()))
print("           sum f32              dot f32              max f32")
print("      n      us     GB/s          us     GB/s          us     GB/s")
for exponent = 4, largest, 2 do
  local n = 2 ^ exponent
  local a, b = gr.rand(n, "f32", { seed = 1 }), gr.rand(n, "f32", { seed = 2 })
  local row = { ("2^%-2d"):format(exponent) }
  for k, op in ipairs { gr.sum, gr.dot, gr.max } do
    local inputs = k == 2 and { a, b } or { a }
    verify(op, n, (table.unpack or unpack)(inputs)) -- luacheck: ignore unpack
    local s = timing.seconds(k == 2 and function() return op(a, b) end or function() return op(a) end, 15)
    row[#row + 1] = ("%9.2f %8.1f"):format(s * 1e6, n * (k == 2 and 8 or 4) / s / 1e9)
  end
  print("   " .. table.concat(row, "    "))
  a:release()
  b:release()
end
