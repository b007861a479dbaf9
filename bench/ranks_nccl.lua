-- Histograms over ranks with a GPU each, beside the local histogram and NCCL's own allreduce of as many counts; and the
-- sum of 2^33 f32 by one rank and by all:
--   make bench-ranks-nccl RANKS=2 > bench/results/NAME.txt     (make mpi, OpenMPI's mpirun, NCCL, a GPU for each rank)
-- Results are compared first: the counts with those of one process, the sum with that of one rank. Figures are medians
-- of turns that alternate, in microseconds of one call: of calls that follow each other, and of calls that are waited
-- for.
local gr = require "gpureduce"
local mpi = require "gpureduce.mpi"
local comm = mpi.world()
local median = require "bench.timing".median
local has_peer, peer = pcall(require, "nccl_peer")
has_peer = has_peer and mpi.nccl()

local TURNS, CALLS = tonumber(arg[1]) or 31, 50

local function say(...)
  if comm.rank == 0 then print((...):format(select(2, ...))) end
  io.stdout:flush()
end

local function time(call, waits)
  comm:barrier()
  local start = gr.clock()
  if waits then
    for _ = 1, CALLS do gr.timer(call) end
  else
    gr.timer(function() for _ = 1, CALLS do call() end end)
  end
  return (gr.clock() - start) / CALLS * 1e6
end

local function histograms(bins, n)
  local first, last = comm:part(n * comm.size)
  local a = gr.rand(last - first + 1, { seed = 1, comm = comm })
  local own, over = { bins = bins, min = 0, max = 1 }, { bins = bins, min = 0, max = 1, comm = comm }
  local whole = gr.rand(n * comm.size, { seed = 1 })
  assert(a:histogram(over).counts:equal(whole:histogram(own).counts), "counts differ from those of one process")
  whole:release()
  local calls = { function() a:histogram(own) end, function() a:histogram(over) end }
  local turns = {}
  for k = 1, 6 do turns[k] = {} end
  for turn = 1, TURNS do
    for waits = 0, 1 do
      for k, call in ipairs(calls) do turns[2 * k - 1 + waits][turn] = time(call, waits == 1) end
    end
    local one, waited = 0, 0
    if has_peer then one, waited = peer(comm.rank, bins, CALLS) end
    turns[5][turn], turns[6][turn] = one * 1e6, waited * 1e6
  end
  local m = {}
  for k = 1, 6 do m[k] = median(turns[k]) end
  local words = {}
  for k = 1, 6 do
    local list = {}
    for turn, t in ipairs(turns[k]) do list[turn] = ("%.1f"):format(t) end
    words[k] = table.concat(list, " ")
  end
  say("raw %d bins: local %s\nraw local, waited %s\nraw over ranks %s\nraw over ranks, waited %s\nraw NCCL %s\n"
    .. "raw NCCL, waited %s", bins, table.unpack(words))
  say("%d bins of %d f32 each: local %.2f us, over ranks %.2f, NCCL %.2f: %.2fx of both; waited for: %.2f, %.2f, %.2f: "
    .. "%.2fx", bins, n, m[1], m[3], m[5], m[3] / (m[1] + m[5]), m[2], m[4], m[6], m[4] / (m[2] + m[6]))
end

-- The same numbers whole on rank 0, and in parts.
local function long_sum(n)
  local first, last = comm:part(n)
  local part = gr.rand(last - first + 1, { seed = 2, comm = comm })
  local whole = comm.rank == 0 and gr.rand(n, { seed = 2 })
  local sums, alone, together = {}, {}, {}
  for turn = 1, 9 do
    comm:barrier()
    local start = gr.clock()
    if whole then sums[1] = whole:sum() end
    alone[turn] = (gr.clock() - start) * 1e6
    comm:barrier()
    start = gr.clock()
    sums[2] = part:sum { comm = comm }
    together[turn] = (gr.clock() - start) * 1e6
  end
  assert(not whole or sums[1] == sums[2], "the sum of all ranks differs from that of one")
  say("sum of 2^%d f32: one rank %.1f us, %d ranks %.1f us: %.2f times as fast", math.floor(math.log(n, 2) + 0.5),
    median(alone), comm.size, median(together), median(alone) / median(together))
end

say("%d ranks, %s, NCCL %s", comm.size, gr.backend(), tostring(mpi.nccl()))
for _, power in ipairs { 12, 13, 14, 16, 18, 20 } do histograms(2 ^ power // 1, 2 ^ 20) end
histograms(65536, 2 ^ 26)
histograms(100003, 12345678)
long_sum(2 ^ (tonumber(arg[2]) or 33) // 1)
