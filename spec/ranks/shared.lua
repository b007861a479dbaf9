-- Run by mpirun with spec/ranks/failing.c, whose MPI_Allgather always fails: ranks that share memory need none for what
-- is short. The argument says whether they do: "memory", or "mpi", where all raise. Each rank's elements may be as many
-- as any of its calls likes, so letters of all lengths and turns are on their way.

local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local with = { comm = comm }

if arg[1] == "mpi" then
  local ok, why = pcall(gr.sum, gr.ones(5000), with)
  assert(not ok and why:find("ranks: MPI: ", 1, true), why)
  io.stdout:write(("rank %d goes by MPI\n"):format(comm.rank))
  io.stdout:flush()
  os.execute "sleep 2" -- for all to say so
  os.exit(5)
end

local n = 60000
for _, dtype in ipairs { "f32", "f64", "bf16", "u8" } do
  local whole = gr.randn(n, { seed = 9, dtype = "f64" }):abs():cast(dtype)
  local sum, most, dot = whole:sum(), whole:argmax(), whole:dot(whole)
  for turn = 1, 40 do
    local place = 1
    local function part(rank)
      local last = rank == comm.size - 1 and n or math.min(n, place + (turn * 7919 + rank * 104729) % 41000)
      local range = { place, last }
      place = last + 1
      return range
    end
    local own
    for rank = 0, comm.rank do own = part(rank) end
    local a = whole:slice(own[1], own[2])
    assert(a:sum(with) == sum, dtype)
    if turn % 3 == 0 then assert(a:argmax(with) == most, dtype) end
    assert(a:dot(a:copy(), with) == dot, dtype) -- of which letters are too long
  end
end
comm:barrier()
if comm.rank == 0 then print(("ranks: %d, memory is enough"):format(comm.size)) end
