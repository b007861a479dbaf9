-- Shapes that nobody tuned for, drawn from a seed, beside the best of the peers, in turns, on the same numbers, after
-- the results have been compared: on the CPU NumPy and torch, on a GPU those of bench/versus.lua.
--
--   lua5.4 bench/shapes.lua run seed=1 [cells=400] [most=1e8] [threads=1,2] [rounds=5] [only=PATTERN]
--     [bare=1] >> raw.txt
--   lua5.4 bench/shapes.lua run on=gpu seed=1 [cells=400] [most=1e8] [only=PATTERN] >> raw.txt
--     cells=201..400 takes those of a seed's cells; seconds=N stops after that long and says from where to go on
--   lua5.4 bench/shapes.lua table raw.txt ... [by=least] [pictures=PREFIX]    the summary; two maps for each number of
--     threads, PREFIX_1_share.svg and PREFIX_1_ratio.svg
--
-- A raw line is: operation dtype rows columns axis n data threads contender nanoseconds (of one call): the median of
-- the rounds, and under the name contender_least the least, which counts where others use the processor. On a GPU
-- the view stands in the place of the threads ("calls": from Lua and from Python, of what bench/peers/versus.cu does
-- not compare), "moved" and "copied" are bare kernels that read the inputs and write as many bytes as the results have,
-- and "read" is what reading the inputs takes at the speed of the longest. PYTHON names the interpreter that has the
-- peers; what they cannot do is said in lines that begin with "#". With build/bounds.so (bench/cpu.lua says how to
-- build it) bare loops take part: "read" reads the inputs and nothing else, "moved" also writes as many bytes as the
-- result has, others do what nobody can leave out (floats become doubles that are added, or multiplied and added); with
-- as many threads as `bare` lists. Their second thread does not sleep, so two need two processors of their own. The
-- table says of cells below 0.9 in how many the slowest of these loops is below 0.9 of the best peer as well.
package.path = "./bench/peers/?.lua;./bench/peers_cpu/?.lua;" .. package.path
local contest, grid, drawn = require "contest", require "grid", require "drawn"
local unpack = table.unpack or unpack -- luacheck: ignore unpack

local floats = drawn.floats
local numpy_dtype = { u8 = "u1", i8 = "i1", u16 = "u2", i16 = "i2", u32 = "u4", i32 = "i4", i64 = "i8", f16 = "f2",
  bf16 = "V2", f32 = "f4", f64 = "f8" }

-- ---- verifying ----

-- How far a result may be from the peer's, which it makes in 64 bits, and what it counts as at least.
local function tolerance(c)
  if not floats[c.dtype] then return c.op == "var" and 1e-10 or 0 end
  if c.op == "max" or c.op == "argmax" or c.op == "histogram" then return 0 end
  local narrow = c.dtype == "f16" and 2e-3 or c.dtype == "bf16" and 1e-2
  if c.op == "softmax" then
    local one = c.rows / c.n
    return narrow or c.dtype == "f32" and 1e-6 or 1e-11, c.dtype == "f16" and math.max(one, 1e-4) or one
  end
  if c.op == "rmsnorm" then return narrow or c.dtype == "f32" and 1e-6 or 1e-11 end
  if c.op == "scan" then return c.dtype == "f64" and 1e-9 or 1e-5 end
  return narrow and 1e-5 or 1e-10
end

-- ---- running ----

local function case_of(c, threads)
  local rows = c.rows or 1
  return ("%s %s %d %d %d %d %s %s"):format(c.op, c.dtype, rows, c.n / rows, c.axis or 2, c.n,
    c.bins and c.bins .. c.data or "-", threads)
end

-- The bare loops of a cell: names for the table, and how bounds.time runs them.
local function bare_contenders(bounds, bare, c, threads)
  local list, float = {}, c.dtype == "f32" or c.dtype == "f64"
  local function add(name, way, out, ...)
    local more = { ... }
    list[#list + 1] = { name = name, time = function(calls)
      return bounds.time(way, bare.x, bare.y, out or bare.out, calls, threads, unpack(more))
    end }
  end
  local both = c.op == "dot"
  add("read", both and "read_both" or c.n * grid.sizes[c.dtype] <= 8e6 and "read_plain" or "read_t1_by_8")
  if bare.written then add("moved", "moved", bare.written) end
  if float and (both or not c.rows and (c.op == "histogram" or c.op == "scan")) then
    for _, way in ipairs(contest.bare_ways(c.op, c.dtype, c.n)) do
      if way and way ~= "read_both" then add(way, way, nil, c.bins, 0, 1) end
    end
  end
  if c.dtype == "f32" and (c.op == "sum" or c.op == "mv") then add("add_convert", "add_convert") end
  return list
end

-- Waits for what was launched, by a number that comes behind it: an element of a result would bring memory of the host
-- for all of it, which for the largest takes longer than the call.
local function waiter(gr)
  local one = gr.ones(1)
  return function() return one:sum() end
end

-- What this machine has for a run: peer(words) asks the Python process.
local function open(options)
  local gr, process = require "gpureduce", require "process"
  local on_gpu, base = options.on == "gpu", os.tmpname()
  local m = { gr = gr, on_gpu = on_gpu, base = base, views = on_gpu and { "calls" } or options.threads }
  m.files = { x = base .. ".x", y = base .. ".y", result = base .. ".result" }
  m.python = process((on_gpu and "PEER_DEVICE=cuda " or "") .. contest.python)
  local has_bounds, bounds = pcall(require, "bounds")
  m.bounds = has_bounds and not on_gpu and bounds
  if not on_gpu then gr.use "cpu" end
  local bare = (m.bounds or on_gpu) and "" or "; no bare loops: build/bounds.so is not there"
  print(("# seed %d, cells %d to %d, of up to %g elements; %s, %s, %s, %s; %s%s"):format(options.seed, options.first,
    options.last, options.most, gr._VERSION, rawget(_G, "jit") and jit.version or _VERSION, gr.backend(),
    gr.instructions(), m.python "version", bare))
  return m
end

-- A cell by calls from Lua beside calls from Python.
local function one(m, c, options)
  local gr, python, files, bounds = m.gr, m.python, m.files, m.bounds
  local x, y = drawn.inputs(c)
  local size = grid.sizes[c.dtype]
  for which, array in pairs { x = x, y = y } do
    gr.save(array, files[which])
    local rows = c.rows and (which == "x" or c.op == "dot") and ("%d"):format(c.rows) or ""
    assert(python("load", which, numpy_dtype[c.dtype], files[which], rows) == "ok")
  end
  local bare = bounds and { x = bounds.load(files.x, size), y = y and bounds.load(files.y, size) }
  if bare and not c.rows then bare.out = bounds.result(bare.x, floats[c.dtype] and size or 8, c.bins) end
  local call = { drawn.call(c, x, y) }
  local f = call[2]
  local name, arguments = call[1]:match "^(%S+)%s*(.*)$"
  local result = f(call[3], call[4], call[5])
  local waiting = m.on_gpu and waiter(gr)
  if name == "histogram" then result = result.counts end
  if bare and gr.isarray(result) then bare.written = bounds.room(#result * grid.sizes[result.dtype]) end
  contest.verify(gr, c.name, python("check", name, files.result, arguments), files.result, result, tolerance(c))
  local able = {}
  for _, who in ipairs { m.on_gpu and "torch" or "numpy", not m.on_gpu and "torch" or nil } do
    local answer = python("able", who, name, arguments)
    if answer == "yes" then able[#able + 1] = who else print(("# %s: %s: %s"):format(c.name, who, answer)) end
  end
  for _, view in ipairs(m.views) do
    if not m.on_gpu then
      gr.threads(view)
      python("threads", view)
    end
    local contenders = {
      { name = "gpureduce", time = contest.timer(gr, f, call[3], call[4], call[5], waiting) },
    }
    for _, who in ipairs(able) do
      local op = who == "torch" and "torch." .. name or name
      contenders[#contenders + 1] = { name = who, time = function(calls)
        return tonumber((python("time", op, calls, arguments)))
      end }
    end
    for _, b in ipairs(bare and options.bare[view] and bare_contenders(bounds, bare, c, view) or {}) do
      contenders[#contenders + 1] = b
    end
    contest.sample(gr, case_of(c, view), contenders, options.rounds, m.on_gpu and 1 or view, 3, true)
  end
  for _, a in pairs(bare or {}) do bounds.free(a) end
  x:release()
  if y then y:release() end
  collectgarbage()
  collectgarbage()
end

-- What bench/peers/versus.cu compares, which has plain references for these; the rest goes by calls.
local compared = { u8 = true, i32 = true, i64 = true, f16 = true, f32 = true, f64 = true }
local of_matrices = { sum = true, mv = true, rmsnorm = true }
local flat = { sum = true, max = true, dot = true, argmax = true, scan = true, histogram = true }

-- A cell beside CUB, cuBLAS, torch and CuPy, by bench/peers/measure.lua.
local function one_compared(measure, about, c)
  c.bare = 1
  local result = measure.cell(c)
  for _, why in ipairs(result.missing) do print(("# %s: %s"):format(c.name, why)) end
  local read = c.n * grid.sizes[c.dtype] * (c.op == "dot" and 2 or 1) / about.read
  for view, v in pairs(result.views) do
    for who, t in pairs(v.us) do print(("%s %s %.2f"):format(case_of(c, view), who, t.us * 1e3)) end
    print(("%s read %.2f"):format(case_of(c, view), read))
  end
end

local function run(options)
  local m = open(options)
  local gr, measure, about = m.gr, nil, nil
  if m.on_gpu then
    package.cpath = "./build/versus/?.so;" .. package.cpath
    local there, found = pcall(require, "measure")
    if there then
      measure, about = found, found.open()
      print(("# %s reads %.0f GB/s; %s"):format(about.device, about.read, measure.open_python("./", os.getenv "TMPDIR"
        or "/tmp")))
    else
      print("# without build/versus: no cells beside CUB, cuBLAS and CuPy")
    end
  end
  local start, cells = gr.clock(), drawn.cells(options.seed, options.last, options.most)
  for k = options.first, options.last do
    local c = cells[k]
    if gr.clock() - start > options.seconds then
      print(("# stopped: cells=%d..%d are left"):format(k, options.last))
      break
    end
    if c.name:find(options.only) then
      local by_kernel = m.on_gpu and compared[c.dtype] and (c.rows and of_matrices or flat)[c.op]
      local ok, why = pcall(function()
        if not by_kernel then one(m, c, options) elseif measure then one_compared(measure, about, c) end
      end)
      if not ok then print(("# %s FAILED: %s"):format(c.name, tostring(why))) end
      io.stdout:flush()
      io.stderr:write(("%5.0f s  %d  %s\n"):format(gr.clock() - start, k, c.name))
    end
  end
  if measure then measure.close_python() end
  for _, name in pairs(m.files) do os.remove(name) end
  os.remove(m.base)
end

-- ---- the table ----

local peers = { numpy = true, torch = true, cub = true, ["cub-newest"] = true, cublas = true, cupy = true }

-- Bare kernels and loops that move the bytes of a cell's inputs and results.
local moves = { moved = true, copied = true }

-- A cell of raw lines: what it is, the ratio to the best peer, and the share of what moving its bytes allows.
local function judge(case, all, least)
  local times = {}
  for who, ns in pairs(all) do
    local name = who:match "^(.*)_least$"
    if least and name then times[name] = ns elseif not least and not name then times[who] = ns end
  end
  local op, dtype, rows, columns, axis, n, data, threads =
    case:match "^(%S+) (%S+) (%d+) (%d+) (%d) (%d+) (%S+) (%S+)$"
  local cell = { op = op, dtype = dtype, rows = tonumber(rows), columns = tonumber(columns), axis = tonumber(axis),
    n = tonumber(n), data = data, threads = threads, ours = times.gpureduce }
  if not op or not cell.ours then return nil end
  local matrix = cell.rows > 1 or op == "mv" or op == "rmsnorm" or op == "softmax"
  cell.name = ("%s %s %s%s%s"):format(op, dtype, matrix and rows .. " x " .. columns or n,
    matrix and (cell.axis == 2 and " rows" or " columns") or "", data == "-" and "" or ", " .. data)
  for who, ns in pairs(times) do
    if peers[who] and (not cell.peer or ns < times[cell.peer]) then cell.peer = who end
    local bare = not peers[who] and who ~= "gpureduce" and who ~= "read" and not moves[who] and all[who .. "_least"]
    if bare and (not cell.bare or bare < cell.bare) then cell.bare = bare end
  end
  cell.ratio = cell.peer and times[cell.peer] / cell.ours
  local bytes = grid.bytes { op = op, dtype = dtype, n = cell.n, rows = matrix and cell.rows or nil, axis = cell.axis }
  local read_bytes = cell.n * grid.sizes[dtype] * (op == "dot" and 2 or 1)
  cell.bytes = bytes
  local read = times.read
  local moved = math.min(times.moved or math.huge, times.copied or math.huge)
  cell.share = moved < math.huge and moved / cell.ours or read and read * bytes / read_bytes / cell.ours
  -- Without the operation nobody is faster than the loop that leaves out everything else.
  cell.floor = math.max(cell.bare or 0, all.read_least or 0, all.moved_least or 0)
  cell.possible = cell.peer and cell.floor > 0 and times[cell.peer] / cell.floor
  return cell
end

local function median(t)
  table.sort(t)
  return t[math.floor(#t / 2) + 1]
end

local function line(c)
  return ("  %6.2f of %-6s share %s %12.1f us  %s%s"):format(c.ratio, c.peer,
    c.share and ("%5.2f"):format(c.share) or "    -", c.ours / 1e3, c.name,
    c.possible and c.possible < 0.95 and ("; a bare loop: %.2f"):format(c.possible) or "")
end

local function summary(cells, threads)
  local judged, below90, as_bare, below95, below98, above, shares, least = {}, 0, 0, 0, 0, 0, {}, {}
  for _, c in ipairs(cells) do
    if c.ratio then
      judged[#judged + 1] = c
      if c.ratio < 0.9 then below90 = below90 + 1 end
      if c.ratio < 0.9 and c.possible and c.possible < 0.9 then as_bare = as_bare + 1 end
      if c.ratio < 0.95 then below95 = below95 + 1 end
      if c.ratio < 0.98 then below98 = below98 + 1 end
      if c.ratio > 1.5 then above = above + 1 end
      least[#least + 1] = c.ratio
    end
    if c.share and c.bytes >= 2 ^ 26 then shares[#shares + 1] = c.share end
  end
  table.sort(judged, function(a, b) return a.ratio < b.ratio end)
  print(("%s: %d cells, %d with a peer; below 0.95 of the best peer %d, below 0.98 %d; above 1.5 %.1f %%; median %.2f")
    :format(threads, #cells, #judged, below95, below98, 100 * above / math.max(1, #judged), median(least) or 0 / 0))
  print(("  below 0.9 %d, of them %d where a bare loop in the same turns is, too"):format(below90, as_bare))
  if #shares > 0 then
    print(("  share of what reading allows, median of %d cells of 2^26 bytes and more: %.2f"):format(#shares,
      median(shares)))
  end
  print "  the worst ten:"
  for k = 1, math.min(10, #judged) do print(line(judged[k])) end
  local by = {}
  for _, c in ipairs(judged) do
    by[c.op] = by[c.op] or { n = 0, below = 0, ratios = {} }
    local b = by[c.op]
    b.n, b.below, b.ratios[b.n + 1] = b.n + 1, b.below + (c.ratio < 0.95 and 1 or 0), c.ratio
  end
  local words = {}
  for _, op in ipairs(drawn.operations) do
    local b = by[op]
    if b then words[#words + 1] = ("%s %d/%d, %.2f"):format(op, b.below, b.n, median(b.ratios)) end
  end
  print("  below 0.95 of all, median: " .. table.concat(words, "; "))
end

-- Rows against columns, a mark for each cell, by classes of a field with these upper limits.
local function picture(cells, field, limits, title, path)
  local gr = require "gpureduce"
  local classes = {}
  for k = 1, #limits + 1 do
    local low, high = limits[k - 1], limits[k]
    classes[k] = { x = {}, y = {}, name = not low and ("below %g"):format(high) or not high and ("from %g"):format(low)
      or ("%g to %g"):format(low, high) }
  end
  for _, c in ipairs(cells) do
    if c[field] then
      local k = 1
      while limits[k] and c[field] >= limits[k] do k = k + 1 end
      local t = classes[k]
      t.x[#t.x + 1], t.y[#t.y + 1] = c.columns, c.rows
    end
  end
  local points = {}
  for _, t in ipairs(classes) do if #t.x > 0 then points[#points + 1] = t end end
  if #points == 0 then return end
  assert(gr.svg { path = path, points = points, xlog = true, ylog = true, xlabel = "columns", ylabel = "rows",
    title = title, width = 760, height = 560 })
end

local function show(names, pictures, least)
  local cases, order = contest.read(names)
  local groups, list = {}, {}
  for _, case in ipairs(order) do
    local c = judge(case, cases[case], least)
    if c then
      if not groups[c.threads] then
        groups[c.threads] = {}
        list[#list + 1] = c.threads
      end
      table.insert(groups[c.threads], c)
    end
  end
  table.sort(list)
  for _, threads in ipairs(list) do
    local what = tonumber(threads) and threads .. (threads == "1" and " thread" or " threads") or threads
    summary(groups[threads], what)
    if pictures then
      local path = ("%s_%s"):format(pictures, threads)
      picture(groups[threads], "share", { 0.25, 0.5, 0.75, 0.9 }, "Share of what reading allows, " .. what,
        path .. "_share.svg")
      picture(groups[threads], "ratio", { 0.95, 1, 1.5, 5 }, "Speed over that of the best peer, " .. what,
        path .. "_ratio.svg")
    end
  end
end

local names, options = {}, { seed = 1, cells = 400, most = 1e8, seconds = math.huge, threads = "1,2", rounds = 5,
  only = ".", bare = "1" }
for k = 2, #arg do
  local key, value = arg[k]:match "^(%w+)=(.+)$"
  if key then options[key] = tonumber(value) or value else names[#names + 1] = arg[k] end
end
if arg[1] == "run" then
  local threads, bare = {}, {}
  for word in tostring(options.threads):gmatch "[^,]+" do threads[#threads + 1] = tonumber(word) end
  for word in tostring(options.bare):gmatch "[^,]+" do bare[tonumber(word)] = true end
  options.threads, options.bare = threads, bare
  local first, last = tostring(options.cells):match "^(%d+)%.%.(%d+)$"
  options.first, options.last = tonumber(first or 1), tonumber(last or options.cells)
  run(options)
elseif arg[1] == "table" then
  show(names, options.pictures, options.by == "least")
else
  error "usage: lua5.4 bench/shapes.lua run seed=N ... | table FILE ..."
end
