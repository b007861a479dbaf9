-- Sums over ranks of what lies on their GPU beside the local sum, and beside bringing the part to the host:
--   mpirun -n 1 lua bench/ranks_gpu.lua     (several ranks on one GPU take turns; with one each the figures are theirs)
-- Parts that end with leaves, and others. Least times of some turns that alternate, in microseconds of one call. With
-- "small" sums alone, of 2^10 to 2^20 of each rank, and how often a host waits for its GPU; two ranks on one GPU:
--   mpirun -n 2 lua bench/ranks_gpu.lua 101 small
--   build/lua5.4/rank_threads 2 bench/ranks_gpu.lua 101 small      (threads of one process: make ranks builds that)
local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local with, TURNS, SMALL = { comm = comm }, tonumber(arg[1]) or 15, arg[2] == "small"

local function time(call, calls)
  comm:barrier()
  local start = gr.clock()
  for _ = 1, calls do call() end
  return (gr.clock() - start) / calls * 1e6
end

local function measure_small(power)
  local n, shift = math.floor(2 ^ power) * comm.size, 333
  local first, last = n / comm.size * comm.rank + 1, n / comm.size * (comm.rank + 1)
  local a = gr.rand(last - first + 1, { seed = 1, comm = comm })
  if comm.rank > 0 then first = first + shift end
  if comm.rank < comm.size - 1 then last = last + shift end
  local b = gr.rand(last - first + 1, { seed = 1, comm = comm })
  local calls = { function() return a:sum() end, function() return a:sum(with) end, function() return b:sum(with) end }
  local one = gr.rand(n, { seed = 1 }):sum()
  assert(a:sum(with) == one and b:sum(with) == one, "the bits differ from those of one process")
  local least, waits = {}, {}
  for turn = 0, TURNS do
    for k, call in ipairs(calls) do
      local before = gr.stats().syncs
      local t = time(call, 200)
      waits[k] = (gr.stats().syncs - before) / 200
      if turn > 0 then least[k] = math.min(least[k] or t, t) end
    end
  end
  for rank, count in ipairs(comm:gather(waits[3])) do waits[3] = rank > 1 and math.max(waits[3], count) or count end
  if comm.rank > 0 then return end
  print(("2^%d f32 each: sum %.2f us, over ranks %.2f (%.2fx, %g waits), other parts %.2f (%.2f of these, %g waits)")
    :format(power, least[1], least[2], least[2] / least[1], waits[2], least[3], least[3] / least[2], waits[3]))
  io.stdout:flush()
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
if SMALL then
  for power = 10, 20, 2 do measure_small(power) end
else
  for _, power in ipairs { 12, 16, 20, 24, 28 } do measure(power) end
end
