-- Run by mpirun, also with spec/ranks/failing.c: all ranks save to a file in the folder of the first argument, over one
-- that is there or not, as the second says ("old", "new"). Where all have saved, rank 0 says so.

local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local path, n = arg[1] .. "/x.npy", 100003

if arg[2] == "old" and comm.rank == 0 then
  assert(gr.ones(3):save(path))
end
comm:barrier()
local whole = gr.rand(n, { seed = 8 })
local first, last = math.floor(n * comm.rank / comm.size) + 1, math.floor(n * (comm.rank + 1) / comm.size)
assert(whole:slice(first, last):save(path, { comm = comm }))
assert(gr.load(path):equal(whole))
comm:barrier()
if comm.rank == 0 then print(("ranks: %d, all is in the file"):format(comm.size)) end
