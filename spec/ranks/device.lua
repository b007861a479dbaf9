-- Run by mpirun or by threads that are ranks, with arrays on a device: it reduces what it has, and of that the host
-- gets states and elements at borders alone. With the argument "lose" rank 0 loses its device in a call.

local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local with = { comm = comm }
gr.use(assert(os.getenv "GPUREDUCE_DEVICE"))

-- What f gives, and how many bytes come from the device meanwhile; waits: how often the host has waited for it;
-- launches: of kernels.
local waits, launches
local function brought(f, ...)
  local before = gr.stats()
  local x, y = f(...)
  local after = gr.stats()
  waits, launches = after.syncs - before.syncs, after.launches - before.launches
  return after.bytes_down - before.bytes_down, x, y
end

local function parts(n, dtype)
  local first, last = comm:part(n, dtype)
  local shift = 77 + 7 * comm.rank
  local odd = { comm.rank == 0 and 1 or first + shift - 7, comm.rank == comm.size - 1 and n or last + shift }
  return { { first, last }, odd }
end

local function same(x, y, ...)
  if x == y or (x ~= x and y ~= y) then return end
  error(("rank %d of %d: %.17g, not %.17g: "):format(comm.rank, comm.size, x, y) .. table.concat({ ... }, " "), 0)
end

local function lose()
  local a = gr.ones(100000)
  local function fails(...)
    local ok, why = pcall(...)
    assert(not ok, "a lost device is no failure")
    assert(why:find("rank 0: .*device is lost"), why)
  end
  a:sum(with) -- which the next call guesses its parts from
  if comm.rank == 0 then for _ = 1, 2 do a:sum() end end
  fails(a.sum, a:slice(1, 90000 + comm.rank), with)
  if comm.rank > 0 then same(a:sum(), 1e5) end
end

if arg[1] == "lose" then
  lose()
  if comm.rank == 0 then print "ranks: a device is lost for all" end
  return
end

local leaf = 8192 -- bytes at most
for _, dtype in ipairs { "f32", "f64", "u8", "i64", "bf16" } do
  local n = 200000
  local a, b = gr.randn(n, { seed = 3, dtype = "f64" }), gr.randn(n, { seed = 4, dtype = "f64" })
  a, b = (a * 20):abs():cast(dtype), (b * 20):abs():cast(dtype)
  for k, range in ipairs(parts(n, dtype)) do
    local p, q = a:slice(range[1], range[2]):copy(), b:slice(range[1], range[2]):copy()
    -- A leaf that is put together here, and one that another puts together.
    local most = k == 1 and 0 or 2 * leaf
    for _, op in ipairs { "sum", "mean", "max", "argmin", "var", "logsumexp", "count", "norm" } do
      for time = 1, 2 do
        local bytes, x = brought(gr[op], p, with)
        same(x, (gr[op](a)), op, dtype, k)
        assert(bytes <= most, op .. " of " .. dtype .. " brings " .. bytes .. " bytes")
        -- All nodes are one wait, and elements at borders come with them unless there are very many bytes.
        local enough = dtype == "bf16" and 3 or 1
        assert(time == 1 or waits <= enough, op .. " of " .. dtype .. " waits " .. waits .. " times")
      end
    end
    for _, op in ipairs { "dot", "mse", "cosine" } do
      local bytes, x = brought(gr[op], p, q, with)
      same(x, gr[op](a, b), op, dtype, k)
      assert(bytes <= 2 * most, op .. " of " .. dtype .. " brings " .. bytes .. " bytes")
    end
    local bytes, x, y = brought(gr.many, { { "sum", p, with }, { "dot", p, q, with } })
    same(x, a:sum(), "many", dtype, k)
    same(y, a:dot(b), "many", dtype, k)
    assert(bytes <= 3 * most, "gr.many of " .. dtype .. " brings " .. bytes .. " bytes")
    -- Every second element: the device makes a dense copy of its own.
    local every, views = a:slice(1, n, 2), parts(n / 2, dtype)[k]
    local view = every:slice(views[1], views[2])
    bytes, x = brought(gr.sum, view, with)
    same(x, every:sum(), "every second", dtype, k)
    assert(bytes <= most, "a view of " .. dtype .. " brings " .. bytes .. " bytes")
  end
end

-- Few elements of each: one wait for all that a number takes.
for _, dtype in ipairs { "f32", "f64", "u8", "f16" } do
  for _, own in ipairs { 100, 333, 4099, 16384 } do
    local whole = gr.full(own * comm.size, 1, dtype)
    local p = whole:slice(comm.rank * own + 1, (comm.rank + 1) * own):copy()
    for time = 1, 2 do
      for _, op in ipairs { "sum", "max", "var", "argmax" } do
        local _, x = brought(gr[op], p, with)
        same(x, (gr[op](whole)), op, dtype, own)
        assert(time == 1 or waits <= 1, op .. " of few " .. dtype .. " waits " .. waits .. " times")
      end
    end
  end
end

-- Positions: what a node of the device has, or what is in a leaf that is put together on the host, may be the first of
-- the best, or a NaN.
for _, dtype in ipairs { "u8", "i8", "u16", "i16", "u32", "i32", "i64", "f16", "bf16", "f32", "f64" } do
  local float = dtype:find "f"
  local n = 30000 * comm.size
  local a = gr.randn(n, { seed = 8, dtype = "f64" }):clamp(-3, 3) * 20
  a = (dtype:find "u" and a:abs() or a):cast(dtype)
  local range = parts(n, dtype)[2]
  local node, border = 5, comm.size > 1 and comm:bcast(range[2]) or n
  local all_values = { { 100, 0 }, { 0, 100 }, { 100, 100 }, { 99, 100 }, { "nan", 0 }, { 0, "nan" }, { "nan", "nan" } }
  for _, values in ipairs(all_values) do
    if float or values[1] ~= "nan" and values[2] ~= "nan" then
      for k, at in ipairs { node, border } do a[at] = values[k] == "nan" and 0 / 0 or values[k] end
      for _, x in ipairs { a, dtype:find "u" and 200 - a or -a } do
        if x.dtype ~= dtype then x = x:cast(dtype) end
        local p = x:slice(range[1], range[2]):copy()
        for _, op in ipairs { "argmax", "argmin" } do
          same(gr[op](p, with), gr[op](x), op, dtype, "positions", values[1], values[2])
        end
      end
    end
  end
end

local first, last

-- Many nodes: eight are a launch, one puts a leaf together, and two bring elements at most.
for _, op in ipairs { "sum", "max", "var", "argmin", "norm" } do
  local own, shift = 2 ^ 18, 333
  local whole = gr.randn(own * comm.size, { seed = 6 })
  first, last = comm.rank * own + 1, (comm.rank + 1) * own
  if comm.rank > 0 then first = first + shift end
  if comm.rank < comm.size - 1 then last = last + shift end
  local p = whole:slice(first, last):copy()
  for time = 1, 2 do
    local _, x = brought(gr[op], p, with)
    same(x, (gr[op](whole)), op, "many nodes")
    assert(time == 1 or launches <= 5, op .. " of many nodes takes " .. launches .. " launches")
    assert(time == 1 or waits <= 1, op .. " of many nodes waits " .. waits .. " times")
  end
end

-- Columns of a matrix that takes longer to bring than launches for all nodes of them do.
local rows = 900000 * comm.size
first, last = comm:part(rows)
local m = gr.rand(rows * 2, { seed = 5 })
local part = m:slice(2 * first - 1, 2 * last):copy()
for _, op in ipairs { "sum", "var", "argmax", "norm" } do
  local bytes, x = brought(gr[op], part, { rows = last - first + 1, axis = 1, comm = comm })
  assert(bytes <= 2048, op .. " of columns brings " .. bytes .. " bytes")
  assert(x:equal(gr[op](m, { rows = rows, axis = 1 })), op .. " of columns")
end

-- Many columns, in one launch where results tell the states.
for _, dtype in ipairs { "f32", "f16", "i64", "u8" } do
  local columns = dtype == "i64" and 500 or 1000
  rows = (dtype == "u8" and 8192 or dtype == "f16" and 4096 or 2048) * comm.size
  local x = gr.randn(rows * columns, { seed = 7, dtype = "f64" })
  x = (dtype:find "f" and x or (x * 20):abs()):cast(dtype)
  if dtype:find "f" then x[5], x[columns + 6], x[rows * columns] = 0 / 0, -1 / 0, -0.0 end
  for k, range in ipairs(parts(rows, dtype)) do
    local own = x:slice((range[1] - 1) * columns + 1, range[2] * columns):copy()
    for _, op in ipairs { "sum", "mean", "prod", "max", "minmax", "any", "norm" } do
      local bytes, u, v = brought(gr[op], own, { rows = range[2] - range[1] + 1, axis = 1, comm = comm })
      local y, z = gr[op](x, { rows = rows, axis = 1 })
      assert(u:bytes() == y:bytes() and (not z or v:bytes() == z:bytes()), op .. " of columns of " .. dtype)
      local at_once = not (op == "mean" and dtype == "i64")
      assert(k == 2 or not at_once or bytes <= 32 * columns, op .. " of columns of " .. dtype .. " brings " .. bytes)
    end
    local options = { rows = range[2] - range[1] + 1, axis = 1, pairs = true, comm = comm }
    for _, op in ipairs { "dot", "mse" } do
      local bytes, u = brought(gr[op], own, own:copy(), options)
      assert(u:bytes() == gr[op](x, x:copy(), { rows = rows, axis = 1, pairs = true }):bytes(), op .. " of columns")
      assert(k == 2 or bytes <= 32 * columns, op .. " of columns of " .. dtype .. " brings " .. bytes)
    end
  end
end

-- Scans of what has no order: nothing but totals travels. NaN, and zeros of both signs, are as in one process.
for _, dtype in ipairs { "u8", "i32", "i64", "f16", "f32", "f64" } do
  local float = dtype:find "f"
  local n = 100000
  local a = gr.randn(n, { seed = 8, dtype = "f64" }) * 50
  a = (float and a or a:abs():clamp(0, 200)):cast(dtype)
  for round = 1, 3 do
    for _, op in ipairs(float and { "min", "max" } or { "sum", "prod", "min", "max" }) do
      for _, exclusive in ipairs { false, true } do
        for _, reverse in ipairs { false, true } do
          local range = parts(n, dtype)[2]
          local p = a:slice(range[1], range[2]):copy()
          local bytes, x = brought(gr.scan, p, op,
            { exclusive = exclusive, reverse = reverse, comm = comm })
          assert(bytes == 0, op .. " scan of " .. dtype .. " brings " .. bytes .. " bytes")
          local whole = a:scan(op, { exclusive = exclusive, reverse = reverse }):slice(range[1], range[2])
          assert(x:bytes() == whole:bytes(), op .. " scan of " .. dtype)
        end
      end
    end
    if float then
      if round == 1 then a = a:clamp(-0.0, 0.0) * -1 end -- zeros
      if round == 2 then a[n / 2] = 0 / 0 end
    end
  end
end

-- Counts come from the device, and what its counting needs to know.
local counted = gr.rand(1000000, { seed = 6, comm = comm })
local bytes = brought(counted.histogram, counted, { bins = 100, min = 0, max = 1, comm = comm })
assert(bytes <= 1024, "a histogram brings " .. bytes .. " bytes")
bytes = brought(gr.bincount, (counted * 50):cast "u8", { comm = comm })
assert(bytes <= 2 * leaf, "a bincount brings " .. bytes .. " bytes")

-- Many counts stay on devices that can be joined; else hosts add them, and so where a rank has its samples there.
local mpi = require "gpureduce.mpi"
local join = comm.size == 1 or (mpi.nccl and mpi.nccl() and os.getenv "GPUREDUCE_DEVICE" ~= "pretend")
  or (mpi.counts and not os.getenv "THREADS_APART")
local function counts_alike(samples, whole, expected, ...)
  local own = { comm = comm }
  for key, value in pairs(...) do own[key] = value end
  for _ = 1, 2 do
    local h
    bytes, h = brought(gr.histogram, samples, own)
    assert(bytes <= 64 + expected, "a histogram brings " .. bytes .. " bytes, not " .. expected)
    local all = whole:histogram(...)
    assert(h.counts:bytes() == all.counts:bytes(), "many bins")
    same(h.above, all.above, "above")
    same(h.nan, all.nan, "nan")
  end
end
local many = { bins = 20000, min = 0, max = 0.9 }
local whole = gr.rand(300000, { seed = 9 })
whole[77] = 0 / 0
local range = parts(#whole, "f32")[2]
local samples = whole:slice(range[1], range[2]):copy()
counts_alike(samples, whole, join and 0 or 160024, many)
-- One rank has no device: those that have bring their counts.
if comm.rank == 0 then
  gr.use "cpu"
  samples = gr.array(samples:table(), "f32")
  gr.use(os.getenv "GPUREDUCE_DEVICE")
end
counts_alike(samples, whole, comm.size == 1 and 0 or 160024, many)
comm:barrier()
if comm.rank == 0 then print(("ranks: %d, a device brings nodes and borders alone"):format(comm.size)) end
