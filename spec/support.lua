-- What the specs share: counting, comparing bits, child processes.
local gr = require "gpureduce"
local model = require "spec.model"

local S = { gr = gr, model = model }

S.integers = math.type ~= nil -- Lua 5.3 and later
S.jit = rawget(_G, "jit") ~= nil

-- Fail when two numbers (booleans, nil) differ in a single bit; NaN equals NaN.
function S.same(expected, got, ...)
  local ok
  if type(expected) == "number" and type(got) == "number" then
    local signs = expected ~= 0 or S.is_integer(expected) or S.is_integer(got) or model.hex(expected) == model.hex(got)
    ok = (expected == got and signs) or (expected ~= expected and got ~= got)
  else
    ok = expected == got
  end
  if ok then return end
  local function show(x) return type(x) == "number" and ("%.17g (%s)"):format(x, model.hex(x)) or tostring(x) end
  local what = {}
  for k = 1, select("#", ...) do what[k] = tostring((select(k, ...))) end
  error(("%s: expected %s, got %s"):format(table.concat(what, " "), show(expected), show(got)), 2)
end

function S.is_integer(x) return S.integers and math.type(x) == "integer" end

-- A table of whole numbers as Lua integers, where there are any.
function S.whole(t)
  if S.integers then
    for k = 1, #t do t[k] = math.tointeger(t[k]) or t[k] end
  end
  return t
end

-- Compare an array (or table) with a table of numbers.
function S.same_all(expected, got, ...)
  S.same(#expected, #got, "length of", ...)
  if type(got) ~= "table" then got = got:table() end
  for k = 1, #expected do S.same(expected[k], got[k], "element", k, "of", ...) end
end

-- The exact sum of numbers, rounded once: partial sums that do not overlap (Shewchuk 1997).
function S.exact_sum(list)
  local partials = {}
  for _, x in ipairs(list) do
    local kept = 0
    for k = 1, #partials do
      local y = partials[k]
      if math.abs(x) < math.abs(y) then x, y = y, x end
      local high = x + y
      local low = y - (high - x)
      if low ~= 0 then
        kept = kept + 1
        partials[kept] = low
      end
      x = high
    end
    for k = #partials, kept + 1, -1 do partials[k] = nil end
    partials[kept + 1] = x
  end
  -- From the largest down; what is left may decide a tie.
  local n = #partials
  if n == 0 then return 0 end
  local high, low = partials[n], 0
  n = n - 1
  while n > 0 do
    local x, y = high, partials[n]
    high = x + y
    low = y - (high - x)
    n = n - 1
    if low ~= 0 then break end
  end
  if n > 0 and ((low < 0 and partials[n] < 0) or (low > 0 and partials[n] > 0)) then
    local y = low * 2
    local x = high + y
    if y == x - high then high = x end
  end
  return high
end

-- What f() changes in gr.stats(), as a table of differences.
function S.counted(f)
  local before = gr.stats()
  f()
  local after, difference = gr.stats(), {}
  for name, value in pairs(after) do
    if type(value) == "number" then difference[name] = value - (before[name] or 0) end
  end
  return difference
end

-- Run f with new arrays on another device, then go back.
function S.on(device, f)
  local old = gr.backend()
  gr.use(device)
  local ok, message = pcall(f)
  gr.use(old)
  if not ok then error(message, 0) end
end

-- For a describe on the CPU whose specs change the number of threads: both are as they were afterwards. It takes
-- busted's own setup and teardown.
function S.on_cpu_threads(setup, teardown)
  local device, threads
  setup(function()
    device, threads = gr.backend(), gr.threads()
    gr.use "cpu"
  end)
  teardown(function()
    gr.threads(threads)
    gr.use(device)
  end)
end

-- The same with every device that is always there; f gets its name.
function S.on_each(f)
  for _, device in ipairs { "cpu", "pretend" } do
    S.on(device, function() f(device) end)
  end
end

-- f when the garbage is collected: Lua 5.1 has __gc for userdata alone.
function S.at_collection(f)
  local proxy = rawget(_G, "newproxy")
  if not proxy then return setmetatable({}, { __gc = f }) end
  local object = proxy(true)
  getmetatable(object).__gc = f
  return object
end

-- The error of f(...), without the position in front.
function S.message(f, ...)
  local ok, message = pcall(f, ...)
  if ok then return nil end
  return (tostring(message):gsub("^[^\n]-:%d+: ", ""))
end

-- A piece of Lua text as a function with these globals.
function S.load_in(text, environment)
  if setfenv then return setfenv(assert(loadstring(text)), environment) end -- luacheck: ignore
  return assert(load(text, "=row", "t", environment))
end

-- A view of each kind with the same logical values: { {name, array}, ... }. fill is what lies between.
function S.views(t, dtype, fill)
  local n, list = #t, {}
  list[1] = { "contiguous", gr.array(t, dtype) }
  for _, start in ipairs { 2, 4, 8 } do
    local p = {}
    for k = 1, start - 1 do p[k] = fill end
    for k = 1, n do p[start + k - 1] = t[k] end
    p[start + n] = fill
    list[#list + 1] = { "slice from " .. start, gr.array(p, dtype):slice(start, start + n - 1) }
  end
  for _, step in ipairs { 2, 3, 5 } do
    local p = {}
    for k = 1, n * step + 1 do p[k] = fill end
    for k = 1, n do p[(k - 1) * step + 2] = t[k] end
    local a = gr.array(p, dtype)
    list[#list + 1] = { "step " .. step, n == 0 and a:slice(1, 0) or a:slice(2, (n - 1) * step + 2, step) }
  end
  local p = {}
  for k = 1, n do p[n + 1 - k] = t[k] end
  local a = gr.array(p, dtype)
  list[#list + 1] = { "step -1", n == 0 and a or a:slice(n, 1, -1) }
  return list
end

local function quoted(text) return "'" .. tostring(text):gsub("'", "'\\''") .. "'" end

-- The program that runs this: the argument furthest to the left, else by its usual name.
function S.interpreter()
  local k = 0
  while arg and arg[k - 1] do k = k - 1 end
  if k < 0 then return quoted(arg[k]) end
  if S.jit then return "luajit" end
  return "lua" .. _VERSION:match("%d.%d")
end

-- Run a Lua file in a new process with environment variables set; returns what it printed and its exit status.
-- environment[1]: what the shell does before that, a limit for example.
function S.child(environment, script, ...)
  local output = os.tmpname()
  local parts, suffix = {}, "_" .. _VERSION:match("%d.%d"):gsub("%.", "_") -- LUA_PATH_5_4 goes before LUA_PATH
  for _, end_of_name in ipairs { "", suffix } do
    parts[#parts + 1] = "LUA_PATH" .. end_of_name .. "=" .. quoted(package.path)
    parts[#parts + 1] = "LUA_CPATH" .. end_of_name .. "=" .. quoted(package.cpath)
  end
  for name, value in pairs(environment) do
    if name ~= 1 then parts[#parts + 1] = name .. "=" .. quoted(value) end
  end
  parts[#parts + 1] = S.interpreter()
  parts[#parts + 1] = quoted(script)
  for k = 1, select("#", ...) do parts[#parts + 1] = quoted((select(k, ...))) end
  local a, _, c = os.execute((environment[1] or "") .. "env " .. table.concat(parts, " ") .. " > " .. output .. " 2>&1")
  local file = assert(io.open(output))
  local text = file:read("*a")
  file:close()
  os.remove(output)
  return text, a == true and 0 or c or a
end

-- The same for a piece of Lua text.
function S.child_text(environment, text)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(text)
  file:close()
  local output, status = S.child(environment, name)
  os.remove(name)
  return output, status
end

-- A file of its own, removed after f.
function S.with_file(f, ending)
  local base = os.tmpname()
  local name = base .. (ending or "")
  local ok, message = pcall(f, name)
  os.remove(name)
  os.remove(base)
  if not ok then error(message, 0) end
end

function S.write_file(name, bytes)
  local file = assert(io.open(name, "wb"))
  file:write(bytes)
  file:close()
end

function S.read_file(name)
  local file = assert(io.open(name, "rb"))
  local bytes = file:read("*a")
  file:close()
  return bytes
end

return S
