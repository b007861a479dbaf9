-- Run by mpirun with spec/ranks/failing.c: MPI fails between messages, on all ranks. None of them waits for ever, all
-- that send say so, and the communicator serves no more. The argument is a dtype.

local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local with = { comm = comm }

local function says(...)
  local ok, why = pcall(...)
  if ok or not why:find("ranks: MPI: ", 1, true) then error(("rank %d: %s"):format(comm.rank, why), 0) end
end

-- Parts that do not end with leaves: each rank but the last sends the next one elements, of each number.
local a = gr.ones(5000, arg[1])
local ok = pcall(gr.many, { { "sum", a, with }, { "max", a, with }, { "min", a, with } })
io.stdout:write(("rank %d is back: %s\n"):format(comm.rank, tostring(ok)))
io.stdout:flush()
says(a.sum, a, with)
says(comm.barrier, comm)
io.stdout:write(("rank %d goes on\n"):format(comm.rank))
io.stdout:flush()
os.execute "sleep 3" -- for all to say so
os.exit(5)
