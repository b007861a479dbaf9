-- Sums over ranks of what lies on their GPU beside the local sum, and beside bringing the part to the host:
--   mpirun -n 1 lua bench/ranks_gpu.lua     (several ranks on one GPU take turns; with one each the figures are theirs)
-- Parts that end with leaves, and others. Least times of some turns that alternate, in microseconds of one call.
local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local with, TURNS = { comm = comm }, tonumber(arg[1]) or 15

local function time(call, calls)
  comm:barrier()
  local start = gr.clock()
  for _ = 1, calls do call() end
  return (gr.clock() - start) / calls * 1e6
end

local function measure(power)
  local n, shift = math.floor(2 ^ power) * comm.size, 333
  local first, last = comm:part(n)
  local a = gr.rand(last - first + 1, { seed = 1, comm = comm })
  if comm.rank > 0 then first = first + shift end
  if comm.rank < comm.size - 1 then last = last + shift end
  local b = gr.rand(last - first + 1, { seed = 1, comm = comm })
  local calls = {
    function() return a:sum() end,
    function() return a:sum(with) end,
    function() return b:sum(with) end,
    function() return a:var() end,
    function() return a:var(with) end,
  }
  assert(a:sum(with) == b:sum(with), "parts change the bits")
  if n <= 2 ^ 28 then assert(a:sum(with) == gr.rand(n, { seed = 1 }):sum(), "the bits differ from one process") end
  local least, count = {}, math.max(3, math.floor(2 ^ (24 - power)))
  for k, call in ipairs(calls) do
    time(call, 3)
    least[k] = math.huge
  end
  for _ = 1, TURNS do
    for k, call in ipairs(calls) do least[k] = math.min(least[k], time(call, math.min(count, 200))) end
  end
  local before = gr.stats().bytes_down
  for k = 2, #calls do calls[k]() end
  local brought = gr.stats().bytes_down - before
  if comm.rank > 0 then return end
  print(("2^%d f32 each: sum %.2f us, over ranks %.2f (%.2fx), other parts %.2f (%.2fx); var %.2f, over ranks %.2f; "
    .. "%d bytes brought"):format(power, least[1], least[2], least[2] / least[1], least[3], least[3] / least[1],
    least[4], least[5], brought))
  io.stdout:flush()
end

if comm.rank == 0 then print(("%d ranks, %s, %s"):format(comm.size, gr.backend(), _VERSION)) end
for _, power in ipairs { 12, 16, 20, 24, 28 } do measure(power) end
