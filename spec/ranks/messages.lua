-- Run by threads that are ranks (threads.c): how many times each sends something.

local gr = require "gpureduce"
local mpi = require "gpureduce.mpi"
local comm = mpi.world()
local with = { comm = comm }

local function messages(f, ...)
  local before = mpi.counts()
  f(...)
  return mpi.counts() - before
end

local function items(count, n, make)
  local list = {}
  for k = 1, count do list[k] = { k % 2 == 0 and "max" or "sum", make(gr.full(n, k)), with } end
  return list
end
local function plain(a) return a end
local function formula(a) return gr.lazy(a) * 2 end

-- Parts that end with leaves: as many messages for 60 numbers as for two, and fewer than the numbers one by one take.
local few = messages(gr.many, items(2, 4096, plain))
for _, make in ipairs { plain, formula } do
  local list = items(60, 4096, make)
  local got = messages(gr.many, list)
  assert(got == few and got <= 4, got)
  local one_by_one = messages(function()
    for k = 1, 60 do gr.reduce(list[k][2], list[k][1], with) end
  end)
  assert(one_by_one >= 60, one_by_one)
end

-- Others: all elements at borders go at the same time, in a message for each of the numbers.
local last = comm.rank == comm.size - 1
local across = messages(gr.many, items(60, 4000, plain))
assert(across == few + (last and 0 or 60), across)

-- A number: two messages, and the elements at borders; one, where parts are those of the number before.
assert(messages(gr.sum, gr.ones(8192), with) == 2)
assert(messages(gr.max, gr.zeros(8192, "f64"), with) == 1)
assert(messages(gr.dot, gr.ones(8192), gr.ones(8192), with) == 1)
if comm.size > 1 then
  for _ = 1, 2 do assert(messages(gr.sum, gr.ones(4000), with) == (last and 2 or 3)) end
end

-- What one rank guesses wrong all do once more: here one has another length than before.
local n = last and 9000 or 8192
gr.sum(gr.ones(4000), with)
assert(messages(gr.sum, gr.ones(8192), with) == 2)
assert(messages(gr.sum, gr.ones(n), with) == 2)
assert(messages(gr.sum, gr.ones(n), with) == 1)

-- What goes by integers takes as many for any number of elements.
for _, length in ipairs { 10, 100000 } do
  assert(messages(gr.sum, gr.ones(length), { comm = comm, exact = true }) == 3)
  assert(messages(gr.histogram, gr.ones(length), { comm = comm, bins = 10, min = 0, max = 2 })
    == (comm.size == 1 and 1 or 3)) -- one rank has nothing to add
end
comm:barrier()
if comm.rank == 0 then print(("ranks: %d, messages are as many as they should be"):format(comm.size)) end
