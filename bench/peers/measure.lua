-- How a cell of the comparison on a GPU is measured: all contenders on the same inputs, each first compared with a
-- plain reference, then timed in turns, in every view. bench/versus.lua and bench/shapes.lua use it.
local gr, versus = require "gpureduce", require "versus"
local grid, statistics = require "grid", require "statistics"
local clock = gr.clock

local measure = {}

-- ---- PyTorch and CuPy, in a process of their own ----

local peers = {}

function peers.ask(command, words)
  local line = { command }
  for k, v in pairs(words or {}) do line[#line + 1] = k .. "=" .. tostring(v) end
  peers.to:write(table.concat(line, " "), "\n")
  peers.to:flush()
  local answer = peers.from:read("l")
  if not answer then
    peers.to = nil
    return nil, "the Python process has ended"
  end
  local ok, rest = answer:match("^(%a+) ?(.*)$")
  if ok ~= "ok" then return nil, rest end
  return rest
end

--- Starts the Python process; its complaints go to python.log in a directory. root: where the project is.
function measure.open_python(root, directory)
  local name = os.tmpname()
  os.remove(name)
  assert(os.execute(("mkfifo %s.in %s.out"):format(name, name)))
  local command = "%s %sbench/peers/peers.py <%s.in >%s.out 2>%s/python.log &"
  os.execute(command:format(os.getenv "PYTHON" or "python3", root, name, name, directory))
  peers.to, peers.from = assert(io.open(name .. ".in", "w")), assert(io.open(name .. ".out"))
  os.execute(("rm %s.in %s.out"):format(name, name))
  local layout = versus.layout()
  local answer, why = peers.ask("open", { ipc = layout.ipc, second = layout.second })
  if not answer then peers.to = nil end
  return answer or why
end

function measure.close_python()
  if not peers.to then return end
  peers.to:write("quit\n")
  peers.to:flush()
end

-- ---- one contender in one view ----

local lua_side = {} -- of this cell: call(k), inputs
local python = { torch = true, cupy = true }
local turn = 0

local function lua_us(calls)
  local call, xs, ys = lua_side.call, lua_side.x, lua_side.y
  local m = #xs
  if not lua_side.resident then versus.flush() end
  call(xs[turn % m + 1], ys[turn % m + 1])
  local from = clock()
  for k = turn + 1, turn + calls do call(xs[k % m + 1], ys[k % m + 1]) end
  local us = (clock() - from) * 1e6 / calls
  turn = turn + calls + 1
  return us
end

--- Microseconds from the launch of a kernel that does nothing to its mapped result.
function measure.empty_us(calls)
  versus.empty(1)
  return versus.empty(calls)
end

local function microseconds(view, name, calls)
  if name == "empty" then return measure.empty_us(calls) end
  if view == "host" and name == "gpureduce" then return lua_us(calls) end
  if not python[name] then return versus.time(view, name, calls) end
  local us, why = peers.ask("time", { view = view, name = name, calls = calls })
  if not us then error(why, 0) end
  return tonumber(us)
end

-- ---- the inputs of the Lua view: the same contents ----

local pools = {}

local function pool(cell, which, layout, bytes)
  local key = ("%s %s %d"):format(cell.dtype, cell.data or "normal", which)
  local known = pools[key]
  if known and not cell.bins and known.bytes >= bytes then return known.array end
  for k, p in pairs(pools) do -- one dtype at a time
    if not k:match("^" .. cell.dtype .. " " .. (cell.data or "normal"):gsub("%p", "%%%0") .. " ") or k == key then
      p.array:release()
      pools[k] = nil
    end
  end
  local array
  if not cell.data and cell.dtype:match("f") then
    array = gr.randn(bytes // grid.sizes[cell.dtype], cell.dtype, { seed = which })
  else
    array = gr.frombytes(versus.bytes(which, bytes), cell.dtype)
  end
  array:sum() -- brings it all to the device
  collectgarbage()
  pools[key] = { array = array, bytes = bytes }
  return array, layout
end

local function lua_call(cell, layout)
  local op = gr[cell.op]
  if cell.op == "histogram" then
    local how = { bins = cell.bins, min = layout.low, max = layout.high }
    return function(x) return op(x, how).counts[1] end
  end
  if cell.op == "dot" or cell.op == "mse" or cell.op == "cosine" then return op end
  return function(x) return op(x) end
end

-- Ready to call, or why not. Contents that have to go through the host are kept to 2 GiB.
local function prepare_lua(cell, layout)
  local size = grid.sizes[cell.dtype]
  local random = not cell.data and cell.dtype:match("f")
  local most = random and 2 ^ 33 or cell.bins and 2 ^ 26 or 2 ^ 31
  local slots = math.min(layout.slots, most // layout.pitch)
  if slots < 1 then return nil, "contents of more than 2 GiB would go through the host" end
  local bytes = math.tointeger(slots * layout.pitch)
  if not cell.bins and bytes < 2 ^ 28 then bytes = 2 ^ 28 end
  lua_side = { call = lua_call(cell, layout), x = {}, y = {}, resident = cell.resident }
  local a = pool(cell, 1, layout, bytes)
  local b = cell.bins and a or pool(cell, 2, layout, bytes)
  for s = 1, math.tointeger(slots) do
    local first = (s - 1) * layout.pitch // size + layout.offset + 1
    lua_side.x[s], lua_side.y[s] = a:slice(first, first + cell.n - 1), b:slice(first, first + cell.n - 1)
  end
  local got, ours = { lua_side.call(lua_side.x[1], lua_side.y[1]) }, { versus.value("gpureduce") }
  for k = 1, cell.bins and 0 or #ours do
    if got[k] ~= ours[k] then return nil, ("the module says %.17g, its kernel %.17g"):format(got[k], ours[k]) end
  end
  return true
end

-- ---- a cell ----

local apart = { beside = true, moved = true, copied = true } -- not compared with the reference

local function tolerance(cell, name)
  local exact = cell.op == "histogram" or cell.op:match("^arg") or cell.op:match("^m[ia][nx]")
  if name ~= "gpureduce" then -- CUB sums f16 in f16 and multiplies f32 in f32, which is far off after 2^28 of them
    return (cell.dtype == "f16" or cell.op == "prod") and math.huge or cell.op == "histogram" and 0.5 or 2e-3
  end
  local float = cell.dtype:match("f") or cell.op == "mse" or cell.op == "cosine" or cell.op == "norm"
  if exact or not float then return 0 end
  if cell.op == "rmsnorm" or cell.op == "scan" then return cell.dtype == "f16" and 1e-3 or 1e-6 end
  return cell.dtype == "f16" and 1e-6 or 1e-9 -- f16's lanes are f32
end

local function views_of(cell)
  local bytes = cell.n * grid.sizes[cell.dtype]
  local scalar = not cell.rows and not cell.bins and cell.op ~= "scan"
  local views = { "stream" }
  if scalar or bytes <= 2 ^ 26 then views[#views + 1] = "graph" end
  if scalar or (cell.bins and not cell.irregular and cell.n <= 2 ^ 20) then views[#views + 1] = "host" end
  return views
end

-- Those who take part in a view of a cell. No peers, but what times are held against, are "beside", "empty", and bare
-- kernels that move the bytes which the cell's calls have to move.
local function contenders_of(cell, view, names)
  local t, without = {}, view == "host" and apart or { cupy = true }
  for _, name in ipairs(names) do
    if not without[name] then t[#t + 1] = name end
  end
  local brief = (cell.op == "sum" or cell.op == "dot" or cell.op == "max") and cell.n <= 2 ^ 14
  if view == "host" and brief then t[#t + 1] = "empty" end
  return t
end

local peerless = { gpureduce = true, beside = true, empty = true, moved = true, copied = true }

local most_calls = { stream = 256, graph = 64, host = 64 }
local most_us, most_rounds = 1500, 15

-- One view of all contenders, in turns: {name = list of times}, and why some are missing.
local function alternate(view, names, times, missing)
  local calls, rounds, able, fastest = {}, {}, {}, math.huge
  for _, name in ipairs(names) do
    local ok, us = pcall(microseconds, view, name, 2)
    if ok and us < 5000 then ok, us = pcall(microseconds, view, name, 4) end
    if ok then
      able[#able + 1] = name
      calls[name] = math.max(us < 20000 and 2 or 1, math.min(most_calls[view], math.floor(most_us / us)))
      rounds[name] = us
      if name == "gpureduce" or not peerless[name] then fastest = math.min(fastest, us) end
      times[name] = times[name] or {}
    else
      missing[#missing + 1] = ("%s, %s: %s"):format(name, view, tostring(us):sub(1, 120))
    end
  end
  for name, us in pairs(rounds) do -- no need to know exactly how far behind a peer is
    rounds[name] = us > 3 * fastest and not peerless[name] and 5 or us > 700 and 9 or most_rounds
  end
  for round = 1, most_rounds do
    for k = 1, #able do
      local name = able[(k + round) % #able + 1]
      if round <= rounds[name] then table.insert(times[name], microseconds(view, name, calls[name])) end
    end
  end
end

-- The best peer of a view, and the ratio of its time to ours.
local function judge(times)
  local best, best_median
  for name, list in pairs(times) do
    local median = statistics.median(list)
    if not peerless[name] and (not best or median < best_median) then best, best_median = name, median end
  end
  if not best or not times.gpureduce then return nil end
  local median, low, high = statistics.ratio(times[best], times.gpureduce)
  return { peer = best, median = median, low = low, high = high }
end

local judged = { sum = true, min = true, max = true, prod = true, dot = true }

--- What there is, with the speeds of reading and copying.
function measure.open()
  local about = versus.open()
  versus.cell { op = "sum", dtype = "f32", n = 2 ^ 30 }
  about.read, about.copy = versus.ceilings()
  return about
end

--- The result of one cell: { views = { [view] = { us = { [name] = ... }, ratio, over } }, errors, missing, ... }.
function measure.cell(cell)
  local result = { name = cell.name, op = cell.op, dtype = cell.dtype, n = cell.n, rows = cell.rows, axis = cell.axis,
                   bins = cell.bins, data = cell.data, irregular = cell.irregular, resident = cell.resident,
                   offset = cell.offset, views = {}, errors = {}, missing = {} }
  local names, notes = versus.cell(cell)
  local layout = versus.layout()
  result.notes = notes
  for k = #names, 1, -1 do
    local name = names[k]
    local e = apart[name] and 0 or versus.error_of(name)
    result.errors[name] = e
    if e ~= e or e > tolerance(cell, name) then
      if name == "gpureduce" then error(("wrong: %g from the reference"):format(e), 0) end
      result.missing[#result.missing + 1] = ("%s is %g from the reference"):format(name, e)
    end
  end
  if peers.to then
    local words = {}
    for k, v in pairs(layout) do words[k] = v end
    for k, v in pairs(cell) do if k ~= "name" and k ~= "first" and k ~= "beside" then words[k] = v end end
    words.ipc, words.second = nil, nil
    words.cupy = cell.dtype == "f32" and not cell.rows and 1 or nil
    local answer, why = peers.ask("cell", words)
    if answer then
      local able, reasons = answer:match("^(.-)|(.*)$")
      for name in able:gmatch("%S+") do names[#names + 1] = name end
      if reasons ~= "" then result.missing[#result.missing + 1] = reasons:match("^%s*(.-)%s*$") end
      if able:match("torch") then
        local ours, theirs = versus.value("gpureduce"), tonumber((peers.ask("numbers") or ""):match("^%S+"))
        if cell.op:match("^arg") then ours = ours - 1 end
        local scale = math.abs(ours) + math.sqrt(cell.n) * (cell.rows and 1024 or 1)
        result.errors.torch = theirs and math.abs(theirs - ours) / scale
        if not theirs or result.errors.torch > 1e-2 and cell.dtype ~= "f16" then
          result.missing[#result.missing + 1] = ("torch says %s, we %.17g"):format(tostring(theirs), ours)
        end
      end
    else
      result.missing[#result.missing + 1] = "torch: " .. why
    end
  end
  for _, view in ipairs(views_of(cell)) do
    local times, able = {}, contenders_of(cell, view, names)
    local ready, why = true, nil
    if view == "host" then ready, why = prepare_lua(cell, layout) end
    if not ready then
      result.missing[#result.missing + 1] = "host: " .. why
    else
      local repeats, ratio = 0
      repeat
        alternate(view, able, times, repeats == 0 and result.missing or {})
        repeats = repeats + 1
        ratio = judge(times)
      until repeats == 3 or not ratio or ratio.high >= 0.97 or not judged[cell.op] or view == "graph"
      local medians, over = {}, {}
      for name, list in pairs(times) do
        local median, low, high = statistics.median(list)
        medians[name] = { us = median, low = low, high = high, rounds = #list }
        local held = name == "beside" or name == "empty"
        if held and times.gpureduce then over[name] = statistics.ratio(times.gpureduce, list) end
      end
      result.views[view] = { us = medians, ratio = ratio, over = over, repeats = repeats }
    end
  end
  return result
end

return measure
