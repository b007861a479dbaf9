-- A sum over ranks beside the local sum and MPI_Allreduce of one double, whose bits depend on the number of ranks:
--   make bench-ranks RANKS=2 > bench/results/NAME.txt      (make mpi, OpenMPI's mpirun, and a core for each rank)
-- Results are compared with one process first. The three calls run in turns; each turn is as many calls as take some
-- milliseconds. The figures are medians over the turns of what one call takes, in microseconds.
local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local allreduce = require "ranks_peer"
local median = require "bench.timing".median

local TURNS, ENOUGH = tonumber(arg[1]) or 201, 5e-4 -- seconds of a turn
local with = { comm = comm }

-- This rank's part of n: by leaves of the tree, or so that no part ends with one.
local function parts(n)
  local first, last = comm:part(n)
  local shift = 333
  return { first, last }, { comm.rank == 0 and 1 or first + shift, comm.rank == comm.size - 1 and n or last + shift }
end

local function part(n, range)
  local a = gr.rand(range[2] - range[1] + 1, { seed = 1, comm = comm })
  if n <= 2 ^ 24 then
    assert(a:sum(with) == gr.rand(n, { seed = 1 }):sum(), "the bits differ from those of one process")
  end
  return a
end

local function time(call, calls)
  comm:barrier()
  local start = gr.clock()
  for _ = 1, calls do call() end
  return (gr.clock() - start) / calls
end

local function measure(power)
  local n = math.floor(2 ^ power)
  local even, odd = parts(n)
  local a, b = part(n, even), part(n, odd)
  local calls = {
    function() return allreduce(a:sum()) end,
    function() return a:sum(with) end,
    function() return b:sum(with) end,
  }
  local counts, turns = {}, {}
  for k, call in ipairs(calls) do
    turns[k] = {}
    time(call, 10)
    counts[k] = comm:bcast(math.max(1, math.floor(ENOUGH / time(call, 10))))
  end
  for turn = 1, TURNS do
    for k, call in ipairs(calls) do turns[k][turn] = time(call, counts[k]) * 1e6 end
  end
  if comm.rank ~= 0 then return end
  for k, name in ipairs { "allreduce", "even", "odd" } do
    local words = {}
    for turn, t in ipairs(turns[k]) do words[turn] = ("%.2f"):format(t) end
    print(("raw 2^%d %s: %s"):format(power, name, table.concat(words, " ")))
  end
  local peer, aligned, other = median(turns[1]), median(turns[2]), median(turns[3])
  print(("sum of 2^%-2d f32: local and MPI_Allreduce %9.2f us, over ranks %9.2f us (%.2fx), other parts %9.2f us "
    .. "(%.2fx)"):format(power, peer, aligned, aligned / peer, other, other / peer))
  io.stdout:flush()
end

if comm.rank == 0 then
  local cpu = io.open "/proc/cpuinfo"
  local model = cpu and cpu:read("*a"):match "model name%s*:%s*([^\n]+)" or "?"
  print(("%d ranks, %d threads each, %s, %s"):format(comm.size, gr.threads(), model, _VERSION))
end
for power = 14, tonumber(arg[2]) or 26, 2 do measure(power) end
