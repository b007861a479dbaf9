-- Run by mpirun (spec/ranks_spec.lua) on two or three ranks: what they do wrong all of them hear in the same words.
--
--   lua spec/ranks/mistakes.lua            each mistake, caught
--   lua spec/ranks/mistakes.lua WAY        one that nobody catches: "error", "exit", "kill", "leave"
--   lua spec/ranks/mistakes.lua comma      no mistake: the last rank's host has decimal commas
--   lua spec/ranks/mistakes.lua stop       the last rank's calls are interrupted here and there

local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()
local first, last = comm.rank == 0, comm.rank == comm.size - 1

if arg[1] == "comma" then
  if last then assert(os.setlocale("comma", "numeric") == "comma") end
  local x = gr.rand(1000, { seed = 1, comm = comm })
  local function all(options)
    options.comm = comm
    return options
  end
  x:histogram(all { bins = 3, min = 0.25, max = 0.75 })
  gr.histogram2d(x, x, all { bins = { 3, 4 }, range = { { 0.25, 0.75 }, { 0.5, 1.5 } } })
  x:quantile(0.125, all {})
  x:cast("f64"):mul(1e200):norm(2, all {})
  if last then print "locales do not matter" end
  return
end

if arg[1] == "stop" then
  local a = gr.ones(2e6)
  local calls = {
    function() a:scan("sum", { comm = comm }) end,
    function() a:scan("prod", { comm = comm, reverse = true }) end,
    function() gr.rand(2e6, { seed = 1, comm = comm }) end,
    function() a:digest { comm = comm } end,
    function() a:median { comm = comm } end,
  }
  if last then gr.safe { seconds = 0.0002 } end
  for k = 1, 10 * #calls do
    local ok = pcall(calls[k % #calls + 1])
    for _, other in ipairs(comm:gather(ok)) do assert(other == ok, k) end
  end
  if first then print "interruptions are heard by all" end
  return
end

if arg[1] then
  comm:barrier()
  if last and arg[1] == "error" then error "this rank has had enough" end
  if last and arg[1] == "kill" then os.execute "kill -9 $PPID" end
  if last and arg[1] == "leave" then return end
  if last then os.exit(7) end
  if arg[1] == "leave" then -- each call says so, also after one that was caught
    local _, why = pcall(comm.barrier, comm)
    local words = ("rank 0 calls comm:barrier, rank %d calls nothing more: its program has ended"):format(comm.size - 1)
    assert(why:find(words, 1, true), why)
  end
  comm:barrier() -- in which the others would wait for ever
  return
end

-- The words are the same on all ranks, but for the place in the script, which is.
local function expect(text, f, ...)
  local ok, why = pcall(f, ...)
  local got = tostring(why):gsub("^[^ ]+:%d+: ", "")
  if ok or got ~= text then error(("rank %d: %s, not %s"):format(comm.rank, got, text), 2) end
  local all = comm:gather(got)
  for _, other in ipairs(all) do assert(other == got, other) end
end

local a = gr.ones(10)
local with = { comm = comm }
expect("gpureduce: ranks must call the same: rank 0 calls sum of f32, rank 1 calls max of f32", function()
  return first and a:sum(with) or a:max(with)
end)
expect("gpureduce: ranks must call the same: rank 0 calls sum of f64, rank 1 calls sum of f32", function()
  return first and gr.ones(3, "f64"):sum(with) or a:sum(with)
end)
expect("gpureduce: ranks must call the same: rank 0 calls var of f32 with ddof 1, rank 1 calls var of f32 with ddof 0",
  function() return a:var { comm = comm, ddof = first and 1 or 0 } end)
expect("gpureduce: ranks must call the same: rank 0 has 5 columns, rank 1 has 2", function()
  return a:sum { comm = comm, rows = first and 2 or 5, axis = 1 }
end)
expect("gpureduce: ranks must call the same: rank 0 calls scan of sum of f32, exclusive, rank 1 calls scan of sum of "
  .. "f32", function()
  return a:scan("sum", { comm = comm, exclusive = first })
end)
expect("gpureduce: ranks must call the same: rank 0 calls comm:barrier, rank 1 calls sum of f32", function()
  return first and comm:barrier() or a:sum(with)
end)
expect("gpureduce: array is empty on all ranks: 'min' needs an element", function() return gr.zeros(0):min(with) end)
for _, name in ipairs { "quantile", "median" } do
  expect(("gpureduce: array is empty on all ranks: '%s' needs an element"):format(name), function()
    return gr.zeros(0)[name](gr.zeros(0), name == "median" and with or 0.5, with)
  end)
end
expect(("gpureduce: option 'ddof': less than the length of all ranks %d expected, got 30"):format(comm.size), function()
  return gr.ones(1):var { comm = comm, ddof = 30 }
end)
expect("gpureduce: rank 1: number, string, boolean, array or table of these expected, got function", function()
  return comm:gather(comm.rank == 1 and print or 1)
end)
expect("gpureduce: option 'weights': finite weights expected, got a NaN", function() -- which all find in the largest
  return a:histogram { comm = comm, bins = 3, weights = first and a or gr.full(10, 0 / 0) }
end)
expect("gpureduce: elements of 0 or more expected, got -4", function()
  return gr.full(3, first and -4 or 1, "i32"):bincount(with)
end)
expect("bad argument #2 to 'sum' (option 'comm': is not served together with 'rows': rows lie whole on their ranks, so "
  .. "leave 'comm' out; with axis = 1 columns lie over all ranks)", function()
  return a:sum { comm = comm, rows = 2 }
end)
expect("bad argument #2 to 'sum' (option 'comm': is not served together with 'segments': segments lie whole on their "
  .. "ranks, so leave 'comm' out)", function() return a:sum { comm = comm, segments = { 1, 11 } } end)
expect("gpureduce: ranks must call the same: rank 0 calls sum of f32 with ddof 0, skipnan, rank 1 calls sum of f32",
  function() return a:sum { comm = comm, skipnan = first } end)
expect("gpureduce: option 'mask': no element is present: 'min' needs one", function()
  return a:min { comm = comm, mask = gr.zeros(10, "u8") }
end)
expect("bad argument #2 to 'sum' (option 'comm': gpureduce.comm expected, got table)", function()
  return a:sum { comm = {} }
end)
expect("bad argument #3 to 'scan' (option 'comm': is not served together with 'rows' or 'axis': rows lie whole on "
  .. "their ranks, so leave 'comm' out; columns go one by one, as m:column(k))", function()
  return a:scan("sum", { comm = comm, rows = 2 })
end)
expect("bad argument #2 to 'softmax' (unknown option 'comm': this is done with each rank's own elements alone)",
  function() return a:softmax(with) end)

-- Ends that differ by less than the words show.
local limits = { { 0, first and 2 or 2 + 1e-13 }, { 0, 2 } }
local close, unlike = pcall(gr.histogram2d, a, a, { comm = comm, bins = 3, range = limits })
assert(not close and unlike:find "^gpureduce: ranks must call the same: rank 0 calls histogram2d", unlike)

-- What does not go together with it says what to write instead, which works: one number for the columns of all rows.
local m = gr.arange(1, 12):matrix(4)
assert(m:column(2):sum { comm = comm, exact = true } == comm.size * m:column(2):sum())
assert(m:column(2):median(with) == m:column(2):median())
expect("bad argument #2 to 'count' (option 'comm': is not served together with 'op': reduce the mask, as in "
  .. "a:compare('>', x):count { comm = comm })", function() return m:count { comm = comm, op = ">", value = 3 } end)
assert(m:compare(">", 3):count(with) == comm.size * m:count { op = ">", value = 3 })
expect("bad argument #2 to 'sum' (option 'comm': is not served together with 'into': every rank gets the result: put "
  .. "it there yourself, as in x:copy { into = y })", function()
  return m:sum { comm = comm, axis = 1, into = gr.zeros(3) }
end)
expect("bad argument #2 to 'sum' (option 'comm': not together with 'kernel')", function()
  return m:sum { comm = comm, kernel = "naive" }
end)
local t = m:transpose()
expect("bad argument #2 to 'sum' (option 'comm': is not served together with 'axis': columns of a transposed matrix "
  .. "lie whole on their ranks, so leave 'comm' out; with axis = 2 rows lie over all ranks)", function()
  return t:sum { comm = comm, axis = 1 }
end)
assert(t:sum({ comm = comm, axis = 2 })[2] == comm.size * m:column(2):sum())
local total = gr.operator { state = "s", map = "f64(x)", merge = "s1 + s2", identity = 0 }
assert(total(t, { comm = comm, axis = 2 }):equal(total(m, { comm = comm, axis = 1 })))
local kept = total(t, { comm = comm, axis = 2, keepdims = true, skipnan = true, out = "f32" })
assert(kept.rows == 3 and kept.dtype == "f32" and kept[2][1] == comm.size * m:column(2):sum())
expect("bad argument #2 to 'operator' (option 'comm': is not served together with 'axis': columns of a transposed "
  .. "matrix lie whole on their ranks, so leave 'comm' out; with axis = 2 rows lie over all ranks)", function()
  return total(t, { comm = comm, axis = 1 })
end)
-- A part of one row or one column, which lies as any matrix does, and one of nothing go with others' parts.
local all_rows = comm.size > 2 and 4 * comm.size - 7 or 5
for _, columns in ipairs { 1, 3 } do
  local rows = first and 1 or last and comm.size > 2 and 0 or 4
  local part = rows > 0 and gr.ones(rows * columns):matrix(rows):transpose() or gr.zeros(0)
  for _, way in ipairs { {}, { keepdims = true }, { skipnan = true }, { exact = true } } do
    way.comm, way.axis = comm, 2
    local sums = part:sum(way)
    assert(#sums == columns and sums.rows == (way.keepdims and columns or nil) and sums:sum() == all_rows * columns)
    way.exact = nil
    assert(total(part, way):equal(sums:cast "f64"))
  end
  local own = rows > 0 and part or t
  expect("bad argument #2 to 'sum' (option 'comm': is not served together with 'axis': columns of a transposed matrix "
    .. "lie whole on their ranks, so leave 'comm' out; with axis = 2 rows lie over all ranks)", function()
    return own:sum { comm = comm, axis = 1 }
  end)
  assert((rows > 0 and part:transpose() or part):sum({ comm = comm, axis = 1 })[1] == all_rows)
end
for axis = 1, 2 do
  local some = { comm = comm, axis = axis, mask = t:compare(">", 3) }
  local why = " of a transposed matrix: reduce the matrix that was transposed, by its other axis)"
  local with_mask = " (option 'comm': is not served together with 'axis' and 'mask'" .. why
  expect("bad argument #2 to 'max'" .. with_mask, function() return t:max(some) end)
  expect("bad argument #2 to 'operator'" .. with_mask, function() return total(t, some) end)
  expect("bad argument #3 to 'dot' (option 'comm': is not served together with 'axis'" .. why, function()
    return t:dot(t, { comm = comm, axis = axis })
  end)
end
local room = gr.zeros(3, "f64")
m:sum({ comm = comm, axis = 1 }):copy { into = room }
assert(room[1] == comm.size * m:column(1):sum())
for _, name in ipairs { "sum", "min", "var" } do -- of no columns nothing is missing, as of one process
  local none = gr.zeros(0):matrix(5)
  assert(none[name](none, { comm = comm, axis = 1 }):equal(none[name](none, { axis = 1 })))
end
local lone = comm.rank == 0 and m or gr.zeros(0)
assert(lone:sum({ comm = comm, axis = 1 })[2] == m:column(2):sum())
local holes = gr.array { 1, 0 / 0, 3, 4 }:matrix(2)
local filled = gr.where(holes:isnan(), 0, holes):sum { comm = comm, axis = 1 }
assert(filled[2] == comm.size * 4)
-- Columns that go one by one: ranks without rows take part; where nothing is present integers fail, on all of them.
lone = comm.rank == 0 and holes or gr.zeros(0)
assert(lone:sum({ comm = comm, axis = 1, skipnan = true })[2] == 4)
assert(lone:sum({ comm = comm, axis = 1, skipnan = true, exact = true })[2] == 4)
assert(comm.rank > 0 or holes:sum({ axis = 1, exact = true })[1] == 4)
local empty = { comm = comm, axis = 1, mask = gr.array({ 1, 0, 1, 0 }, "u8") }
local most, which = holes:max(empty), holes:argmin(empty)
assert(most[1] == 3 and most[2] ~= most[2] and which[1] == 1 and which[2] == 0)
local _, high = holes:minmax(empty)
assert(high[1] == 3 and high[2] ~= high[2])
expect("gpureduce: option 'mask': no element of column 2 is present: 'max' needs one", function()
  return holes:cast("i32"):max(empty)
end)
which = gr.array({ 1, 0 / 0, 3, 0 / 0 }):matrix(2):transpose():argmin { comm = comm, axis = 2, skipnan = true }
assert(which[1] == 1 and which[2] == 0)
expect(("gpureduce: option 'ddof': less than the %d elements of column 2 that are present expected, got %d"):format(
  comm.size, comm.size), function()
  return holes:var { comm = comm, axis = 1, skipnan = true, ddof = comm.size }
end)
expect("gpureduce: ranks must call the same: rank 0 calls mean, column by column, rank 1 calls sum, column by column",
  function() return gr[first and "mean" or "sum"](holes, { comm = comm, axis = 1, exact = true }) end)
expect("gpureduce: ranks must call the same: rank 0 has 2 columns, rank 1 has 1", function()
  return gr.array({ 1, 2, 3, 4 }):sum { comm = comm, axis = 1, rows = first and 2 or 4, exact = true }
end)
assert((filled / holes:isnan():lnot():sum({ comm = comm, axis = 1 }):cast "f64")[2] == 4)
expect(("bad argument #3 to 'bcast' (rank 0 to %d expected, got 99)"):format(comm.size - 1), function()
  return comm:bcast(1, 99)
end)

-- After a mistake that was caught, everything is as before.
assert(a:sum(with) == 10 * comm.size)

-- What ranks send each other.
local sent = { 1, 2.5, "x", true, { deep = { gr.array({ 1, 2, 3 }, "i16") } }, [-4] = "y" }
local got = comm:bcast(first and sent or nil)
assert(got[1] == 1 and got[2] == 2.5 and got[3] == "x" and got[4] == true and got[-4] == "y")
assert(got[5].deep[1].dtype == "i16" and got[5].deep[1][3] == 3)
local ranks = comm:gather(comm.rank)
local matrices = comm:gather(m:slice(4, 9):matrix(comm.rank == 0 and 2 or 3))
assert(matrices[1]:equal(gr.arange(4, 9):matrix(2)) and matrices[1].rows == 2 and matrices[2].rows == 3)
assert(comm:bcast(first and m or nil):equal(m) and comm:bcast(first and m or nil).rows == 4)
for k = 1, comm.size do assert(ranks[k] == k - 1) end
for _, turned in ipairs(comm:gather { t, [t] = t }) do -- it arrives as its elements lie in order
  assert(turned[1].rows == 3 and turned[1]:equal(t:copy()))
end
assert(comm:bcast(first and t or nil)[3][4] == 12)
local half = comm:split(comm.rank % 2)
assert(half.size == math.floor((comm.size + 1 - comm.rank % 2) / 2) and half.rank == math.floor(comm.rank / 2))
assert(a:sum { comm = half } == 10 * half.size)
assert(tostring(comm) == ("gpureduce.comm (rank %d of %d)"):format(comm.rank, comm.size))
assert(comm.nosuch == nil)
local from, to = comm:part(10000)
local ends = comm:gather { from, to }
assert(ends[1][1] == 1 and ends[comm.size][2] == 10000)
for k = 2, comm.size do assert(ends[k][1] == ends[k - 1][2] + 1 and (ends[k][1] - 1) % 1024 == 0) end

-- Several at once, later, and of formulas.
local x, y = gr.many { { "sum", a, with }, { "max", a * (comm.rank + 1), with } }
assert(x == 10 * comm.size and y == comm.size)
assert(gr.async(gr.sum, a, with):get() == 10 * comm.size and a:sum({ comm = comm, async = true }):get() == x)
assert(gr.fuse "x * x" { x = gr.full(10, 2) }:sum(with) == 40 * comm.size)
-- Positions are of a formula's own elements, and of an operator's whole.
assert(gr.fuse "x * f32(i)" { x = a }:sum(with) == 55 * comm.size)
local places = gr.operator { state = "s", map = "f64(x) * f64(i)", merge = "s1 + s2", identity = 0 }
assert(gr.reduce(a, places, with) == 5 * comm.size * (10 * comm.size + 1))

-- Each names what differs.
local function differ(one, other, f)
  local _, said = pcall(f)
  for _, words in ipairs { "ranks must call the same: rank 0 calls ", one, other } do
    assert(said:find(words, 1, true), said)
  end
  for _, text in ipairs(comm:gather(said)) do assert(text == said, text) end
end
differ("rand of f32, seed 1,", "randn of f32, seed 1,", function()
  return gr[first and "rand" or "randn"](9, { seed = 1, comm = comm })
end)
differ("randint from 0, 10 numbers", "randint from 0, 11 numbers", function()
  return gr.randint(0, first and 9 or 10, 9, { seed = 1, comm = comm })
end)
differ("method lower, of 1 shares from 0.5", "method linear, of 1 shares from 0.5", function()
  return a:quantile(0.5, { comm = comm, method = first and "lower" or "linear" })
end)
differ("histogram of f32, 5 bins, min 0", "histogram of f32, 5 bins", function()
  return a:histogram { comm = comm, bins = 5, min = first and 0 or nil }
end)
differ("by edges of digest", "by edges of digest", function()
  return a:histogram { comm = comm, edges = { 0, first and 1 or 2 } }
end)
differ("x: f32, 3 bins", "x: f32, 4 bins", function()
  return gr.histogram2d(a, a, { comm = comm, bins = { first and 3 or 4, 5 } })
end)
differ("operator of 1 states and 1 results of f32 (digest", "operator of 1 states", function()
  local op = gr.operator { state = "s", map = first and "f64(x)" or "f64(x) * 2", merge = "s1 + s2", identity = 0 }
  return gr.reduce(a, op, with)
end)
differ("operator of 1 states and 1 results of f32 (digest", "operator of 1 states", function()
  return gr.operator { state = "s", map = "f64(x)", merge = "s1 + s2", identity = 0, commutative = first }(a, with)
end)
differ("scan by operator of 1 states and 1 results of f32, exclusive (digest", "scan by operator of 1", function()
  return total:scan(a, { comm = comm, exclusive = first })
end)
expect("bad argument #3 to 'scan' (option 'comm': is not served together with 'rows' or 'axis': rows lie whole on "
  .. "their ranks, so leave 'comm' out; columns go one by one, as m:column(k))", function()
  return total:scan(m, { comm = comm, axis = 1 })
end)
assert(total:scan(m:column(2), with)[4] == (comm.rank + 1) * m:column(2):sum())
local last_of = gr.operator { state = "s", map = "f64(x)", merge = "s2", identity = -1, commutative = false }
assert(last_of(gr.full(last and 0 or 3, comm.rank), with) == comm.size - 2 and last_of(gr.zeros(0), with) == -1)
assert(last_of:scan(gr.full(2, comm.rank), { comm = comm, exclusive = true, out = "f32" })[1] == comm.rank - 1)

differ("save of f32 as NPY to /nowhere/1.npy", "save of f32 as NPY to /nowhere/2.npy", function()
  return assert(a:save(first and "/nowhere/1.npy" or "/nowhere/2.npy", with))
end)

-- All items at once on some ranks, one after the other on others: the words are the same.
local list, more = { { "sum", a, with }, { "max", a, with } }, { "var", a, { comm = comm, ddof = 0 } }
expect("gpureduce: ranks must call the same: rank 0 calls gr.many of sum of f32, max of f32, rank 1 calls gr.many of "
  .. "sum of f32, min of f32", function() gr.many(first and list or { { "sum", a, with }, { "min", a, with } }) end)
expect("gpureduce: ranks must call the same: rank 0 calls gr.many of sum of f32, max of f32, rank 1 calls var of f32 "
  .. "with ddof 0", function() gr.many(first and list or { more }) end)
expect("gpureduce: ranks must call the same: rank 0 calls var of f32 with ddof 0, rank 1 calls max of f32", function()
  if first then gr.many { more, more } else a:max(with) end
end)
local long = {}
for k = 1, 40 do long[k] = { k == 40 and (first and "min" or "max") or "sum", a, with } end
local several, what = pcall(gr.many, long)
assert(not several and what:find("sum of f32 and 32 more (digest ", 1, true) and #what < 400, what)

-- Parts of files: what begins elsewhere, and what only the ranks that have elements cannot map.
local path = comm:bcast(first and os.tmpname() or nil)
if first then
  local file = assert(io.open(path, "wb"))
  file:write(("x"):rep(41))
  file:close()
end
comm:barrier()
expect("gpureduce: ranks must call the same: rank 0 calls load of f32, 1 x 1 from byte 1, rank 1 calls load of f32, "
  .. "1 x 1 from byte 5", function()
  return gr.load(path, "f32", { offset = first and 1 or 5, count = 1, comm = comm })
end)
expect("gpureduce: rank 0: " .. path .. ": a mapping needs an offset that is a multiple of 4, got 1", function()
  return gr.load(path, "f32", { offset = 1, map = true, comm = comm })
end)
expect("gpureduce: rank 0: " .. path .. ": 41 bytes are not a whole number of f32 elements", function()
  return gr.load(path, with)
end)
if first then os.remove(path) end

-- Where one rank has no room for its numbers, for what a call makes of its operands, or for the results, none gets any.
collectgarbage()
gr.safe { bytes = last and 600000 or nil }
local function none_has_room(calls)
  for _, call in ipairs(calls) do
    expect(("gpureduce: rank %d: out of memory: arrays of 585.9 KiB at most, as gr.safe says: "):format(comm.size - 1),
      function()
        local _, said = pcall(call)
        error(tostring(said):match "^.- says: " or said, 0)
      end)
    collectgarbage()
  end
end
local big, twice = gr.ones(100000), gr.fuse "x * 2"
local mask = gr.ones(100000, "u8")
none_has_room {
  function() return twice { x = big }:sum(with) end,
  function() return twice { x = big }:dot(big, with) end,
  function() return twice { x = big }:histogram { bins = 3, comm = comm } end,
  function() return big:histogram { bins = 3, mask = mask, comm = comm } end,
  function() return gr.histogram2d(big, big, { bins = 3, mask = mask, comm = comm }) end,
  function() return twice { x = mask }:bincount(with) end,
  function() return twice { x = big }:scan("sum", with) end,
  function() return big:scan("sum", { mask = mask, comm = comm }) end,
  function() return mask:scan("sum", with) end,
  function() return total:scan(twice { x = big }, with) end,
  function() return total:scan(big, { comm = comm, out = "f32" }) end,
  function() return big:median { mask = mask, comm = comm } end,
  function() return twice { x = big }:median(with) end,
  function() return gr.rand(100000, { seed = 1, comm = comm }) end,
  function() return gr.rand(200000, { seed = 1, comm = comm }) end,
  function() return gr.randint(1, 6, 200000, { seed = 1, comm = comm }) end,
}
big, mask = nil, nil
collectgarbage()
local shares = {}
for k = 1, 80000 do shares[k] = 0.5 end
local few, weights = gr.arange(0, 9, "u8"), gr.full(10, 0.5)
none_has_room {
  function() return comm:bcast(first and gr.ones(100000) or nil) end,
  function() return comm:gather(first and gr.ones(100000) or nil) end,
  function() return comm:bcast(first and { gr.ones(10), { gr.ones(100000) } } or nil) end,
  function() return a:quantile(shares, with) end,
  function() return few:bincount { comm = comm, minlength = 60000, weights = weights, out = "f32" } end,
  function() return few:histogram { comm = comm, bins = 30000, density = true } end,
  function() return few:histogram { comm = comm, bins = 30000, weights = weights, out = "f32" } end,
  function() return gr.histogram2d(few, few, { comm = comm, bins = { 50000, 1 }, density = true }) end,
}
local ok, why = pcall(require "gpureduce.mpi".world)
assert(not ok and why:find("'world' is refused: gr.safe allows no ranks", 1, true))
comm:barrier()
if first then print(("ranks: %d, mistakes are heard by all"):format(comm.size)) end
