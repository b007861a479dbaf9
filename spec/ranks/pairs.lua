-- Run by mpirun (spec/ranks_spec.lua) on two ranks: of every pair of calls rank 0 makes the one and rank 1 the other.
-- Whatever comes of it, both are ready for the same next call; and where one fails, so does the other.

local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local W = { comm = comm }

local function with(options)
  options.comm = comm
  return options
end

local n = 3000 + comm.rank -- so that elements go over the border
local a, b = gr.randn(n, { seed = 1 }), gr.randn(n, { seed = 2 })
local u, d, rows = (a * 3):abs():cast "u8", a:cast "f64", a:slice(1, 3000)
local mean = gr.operator { state = { "s", "k" }, map = { s = "f64(x)", k = "f64(1)" },
  merge = { s = "s1 + s2", k = "k1 + k2" }, identity = { s = 0, k = 0 }, finish = "s / k" }

local calls = {
  function() return a:sum(W) end,
  function() return u:sum(W) end,
  function() return u:minmax(W) end,
  function() return gr.zeros(0):min(W) end,
  function() return a:var(with { ddof = 1 }) end,
  function() return gr.norm(d, 2, W) end,
  function() return gr.norm(d * 1e200, 2, W) end, -- squares leave the range, which takes another round
  function() return rows:sum(with { rows = 3000, axis = 1 }) end,
  function() return rows:sum(with { rows = 1000, axis = 1 }) end,
  function() return gr.zeros(0):sum(with { rows = 1, axis = 1 }) end,
  function() return gr.norm(rows:cast "f64" * 1e200, 2, with { rows = 1000, axis = 1 }) end,
  function() return a:dot(b, W) end,
  function() return a:dot(b, with { accumulate = "kahan" }) end,
  function() return a:sum(with { exact = true }) end,
  function() return gr.accumulator():add(a):merge(comm):value() end,
  function() return a:histogram(with { bins = 5 }) end,
  function() return a:histogram(with { bins = 9, min = 0, max = 1 }) end,
  function() return a:histogram(with { bins = 9, min = 0, max = 1, weights = b }) end,
  function() return a:histogram(with { bins = 9, min = 0, max = 1, weights = u }) end,
  function() return a:histogram(with { edges = { 0, 1, 3 } }) end,
  function() return u:bincount(W) end,
  function() return gr.histogram2d(a, b, with { bins = 5 }) end,
  function() return gr.histogram2d(a:slice(1, 3000), u:slice(1, 3000), with { bins = 3, log = true }) end,
  function() return a:mean(with { skipnan = true }) end,
  function() return a:var(with { mask = a:compare(">", 0), ddof = 1 }) end,
  function() return a:sum(with { mask = a:compare(">", 99) }) end,
  function() return a:argmin(with { mask = a:compare(">", 99) }) end,
  function() return a:dot(b, with { skipnan = true, exact = true }) end,
  function() return a:scan("sum", with { skipnan = true }) end,
  function() return a:histogram(with { bins = 5, mask = a:compare(">", 0) }) end,
  function() return u:bincount(with { mask = a:compare(">", 0) }) end,
  function() return a:median(with { mask = a:compare(">", 0) }) end,
  function() return u:bincount(with { minlength = 300, weights = b }) end,
  function() return gr.full(3, -4, "i32"):bincount(W) end,
  function() return a:median(W) end,
  function() return a:quantile({ 0.1, 0.7 }, W) end,
  function() return a:scan("sum", W) end,
  function() return u:scan("max", with { reverse = true, exclusive = true }) end,
  function() return a:digest(W) end,
  function() return u:digest(W) end,
  function() return gr.rand(10, with { seed = 1 }) end,
  function() return gr.randint(0, 9, 10, with { seed = 1 }) end,
  function() return gr.reduce(a, mean, W) end,
  function() return gr.many { { "sum", a, W }, { "dot", a, b, W } } end,
  function() return gr.many { { "sum", a, W }, { "argmax", u, W }, { "norm", d, W } } end,
  function() return comm:barrier() end,
  function() return comm:bcast({ 1, a }, 0) end,
  function() return comm:bcast({ 1, a }, 1) end,
  function() return comm:gather { 1, "x" } end,
  function() return comm:gather(print) end,
  function() return comm:split(1).size end,
  function() return assert(gr.load("/nowhere/at/all.npy", W)) end,
  function() return assert(a:save("/nowhere/at/all.npy", W)) end,
}

for i = 1, #calls do
  for j = 1, #calls do
    local ok = pcall(calls[comm.rank == 0 and i or j])
    local both = comm:gather { ok, i, j }
    for r = 1, comm.size do
      assert(both[r][2] == i and both[r][3] == j and both[r][1] == ok, ("calls %d and %d"):format(i, j))
    end
  end
end
if comm.rank == 0 then print(("ranks: %d, all pairs of %d calls stay in step"):format(comm.size, #calls)) end
