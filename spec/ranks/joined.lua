-- Run by mpirun on pretend devices, with an NCCL that is none (nccl.c): the counts of many bins are added where they
-- lie, or by the hosts where devices cannot be joined. The argument says which is expected: "there", "hosts", "fails"
-- and then the name of the rank that does.

local gr = require "gpureduce"
local mpi = require "gpureduce.mpi"
local comm = mpi.world()
gr.use "pretend"

local bins = 10000
local whole = gr.rand(100000, { seed = 3 })
local first, last = math.floor(#whole * comm.rank / comm.size) + 1, math.floor(#whole * (comm.rank + 1) / comm.size)
local samples = whole:slice(first, last):copy()
local function count(over)
  local before = gr.stats().bytes_down
  local h = samples:histogram { bins = bins, min = 0, max = 1, comm = over }
  return h, gr.stats().bytes_down - before
end

local function look(over)
  for _ = 1, 3 do
    local h, bytes = count(over)
    assert((bytes > 8 * bins) == (arg[1] ~= "there"), "it brings " .. bytes .. " bytes")
    if over == comm then assert(h.counts:equal(whole:histogram { bins = bins, min = 0, max = 1 }.counts)) end
  end
end

if arg[1] == "fails" then
  local ok, why = pcall(count, comm)
  assert(not ok and why:find(("gpureduce: rank %s: ranks: NCCL: it is said to fail"):format(arg[2]), 1, true), why)
end
look(comm) -- where devices have failed, hosts add from then on
-- A communicator that is split off joins by itself.
if arg[1] ~= "fails" then look(comm:split(0, -comm.rank)) end
local version, why = mpi.nccl()
assert(version == 22803 or version == 22000 or why:find "GPUREDUCE_NCCL is 0" or why:find "nowhere", why)
comm:barrier()
if comm.rank == 0 then print(("ranks: %d, counts are added: %s"):format(comm.size, arg[1])) end
