-- A sum of one length over all ranks, for a run with one and a run with more to be compared:
--   for n in 1 2 1 2; do GPUREDUCE_THREADS=1 mpirun -n $n lua bench/ranks_scale.lua 28; done
-- The argument is the power of two; the least and the median of some turns, in milliseconds, and the bits.
local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local median = require "bench.timing".median

local power, turns = tonumber(arg[1]) or 28, tonumber(arg[2]) or 25
local n, with = math.floor(2 ^ power), { comm = comm }
local first, last = comm:part(n)
local a = gr.rand(last - first + 1, { seed = 1, comm = comm })
local result = a:sum(with)
local times = {}
for k = 1, turns do
  comm:barrier()
  local start = gr.clock()
  assert(a:sum(with) == result)
  times[k] = (gr.clock() - start) * 1e3
end
table.sort(times)
if comm.rank == 0 then
  print(("%d ranks, %d threads each, %s: sum of 2^%d f32 least %.3f ms, median %.3f ms, %a"):format(comm.size,
    gr.threads(), gr.backend(), power, times[1], median(times), result))
end
