-- Into arrays and out, beside the tightest loop over a table, a read of the file and a copy; a small call; the error of
-- a sum.
-- Needs build/bounds.so (bench/cpu.lua says how). Medians of turns.
--
--   LUA_CPATH="./build/lua5.4/?.so" lua5.4 bench/inout.lua
local gr, bounds = require "gpureduce", require "bounds"
local T = require "bench.timing"
gr.use "cpu"

-- Medians of both in turn, in microseconds.
local function beside(rounds, f, g)
  local a, b = {}, {}
  f() g()
  for k = 1, rounds do
    local t0 = gr.clock()
    f()
    local t1 = gr.clock()
    g()
    a[k], b[k] = (t1 - t0) * 1e6, (gr.clock() - t1) * 1e6
  end
  return T.median(a), T.median(b)
end

local function show(what, beside_what, here, there)
  print(("%-44s %10.1f us %10.1f us %6.3f times %s"):format(what, here, there, here / there, beside_what))
end

local n, path = 1e6, os.tmpname() .. ".npy"
local floats, whole, nothing = {}, {}, gr.zeros(n, "f32")
for k = 1, n do floats[k], whole[k] = k + 0.5, k end
nothing:save(path)
local room = bounds.load(path, 4)
for _, case in ipairs { { "floats", floats }, { "integers", whole } } do
  local t = case[2]
  show("10^6 " .. case[1] .. " of a table into an f32 array", "the tightest loop of lua_rawgeti",
    beside(41, function() gr.array(t, "f32"):release() end, function() bounds.from_table(t, room) end))
end

local large = gr.rand(1e7, "f32", { seed = 1 })
large:save(path)
local there = bounds.load(path, 4)
show("load of an NPY file of 40 MB", "read() into memory that is there",
  beside(21, function() gr.load(path):release() end, function() bounds.read_file(path, there) end))
local bytes, moved = large:bytes(), bounds.result(there, 4)
show("frombytes of 40 MB", "a loop that only moves them",
  beside(21, function() gr.frombytes(bytes, "f32"):release() end,
    function() bounds.time("move", there, nil, moved, 1, 1) end))
os.remove(path)

local x, y, dot, calls = gr.rand(16, "f32"), gr.rand(16, "f32"), gr.dot, 1000000
local function many() for _ = 1, calls do dot(x, y) end end
print(("gr.dot of 16: %.1f ns a call"):format(T.seconds(many, 15) / calls * 1e9))

local all = gr.rand(1e8, "f32", { seed = 2 })
local sum, exact = gr.sum(all), gr.sum(all, { exact = true })
print(("sum of 10^8 f32: relative error %.1e"):format(math.abs(sum - exact) / exact))
