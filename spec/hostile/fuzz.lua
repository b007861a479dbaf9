-- Random calls beside a model: lua spec/hostile/fuzz.lua [calls=20000] [seed=N] [without=name,name] [failures=1]. The
-- calls come in episodes of 250, each from a seed of its own. They run in a child process, so that a crash is seen; a
-- failing episode is cut down to the shortest list of calls that still fails, which is printed as a program.
local EPISODE = 250

local options, given = {}, arg -- a function with ... has an arg of its own in Lua 5.1
for _, a in ipairs(given) do
  local key, value = a:match("^(%w+)=(.*)$")
  options[key or error("what is '" .. a .. "'?")] = value
end
package.path = "./?.lua;" .. package.path

-- ---- lists of calls as text ----

local function text_of(x)
  if type(x) == "string" then return ("%q"):format(x) end
  if type(x) ~= "table" then return tostring(x) end
  local parts = {}
  for k = 1, #x do parts[k] = text_of(x[k]) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function program_of(calls)
  local lines = {}
  for k, c in ipairs(calls) do lines[k] = text_of(c) .. "," end
  return "return {\n" .. table.concat(lines, "\n") .. "\n}\n"
end

local function generator(seed)
  local state = seed * 7919 % 2147483646 + 1
  local function next_one()
    state = state * 16807 % 2147483647
    return state
  end
  for _ = 1, 5 do next_one() end
  return function(n) return next_one() % n + 1 end
end

-- ---- the child ----

local function modules()
  local C = require "spec.hostile.calls"
  require "spec.hostile.reductions"
  require "spec.hostile.mischief"
  return C, require "spec.hostile.world"
end

local function episode_of(C, seed)
  local r, calls, without = generator(seed), {}, "," .. (options.without or "") .. ","
  while #calls < EPISODE do
    local name = C.pick(r, C.order)
    local arguments = { C[name].draw(r) }
    local function left_out(x)
      if type(x) == "string" then return without:find("," .. x .. ",", 1, true) end
      for _, y in ipairs(type(x) == "table" and x or {}) do
        if left_out(y) then return true end
      end
    end
    if not left_out { name, arguments } then calls[#calls + 1] = { name, arguments } end
  end
  return calls
end

local function run(C, W, calls, arrays)
  W.reset()
  W.checking = true
  W.kept.ones = W.gr.ones(300)
  for k, c in ipairs(calls) do
    if options.trace then io.stderr:write(k, " ", text_of(c), "\n") end
    C[c[1]].run((table.unpack or unpack)(c[2])) -- luacheck: ignore
  end
  W.reset()
  local ends, left = W.gr.clock() + 5
  repeat -- work in the background, which nobody wants any more, may hold some
    left = W.gr.memory().arrays
  until not arrays or left <= arrays or W.gr.clock() > ends
  if arrays and left > arrays then W.fault("%d arrays are left of an episode", left - arrays) end
  return left
end

local function child()
  local C, W = modules()
  W.kept.path = os.tmpname()
  local total, arrays = 0, nil
  if options.replay then
    for _ = 1, tonumber(options.times or 1) do arrays = run(C, W, assert(loadfile(options.replay))(), arrays) end
  else
    for k = tonumber(options.from), tonumber(options.to) do
      local progress = assert(io.open(options.progress, "w"))
      progress:write(k, "\n")
      progress:close()
      local calls = episode_of(C, k)
      arrays = run(C, W, calls, arrays)
      total = total + #calls
    end
  end
  os.remove(W.kept.path)
  print(("%d calls, %d checks"):format(total, W.checks))
end

if options.child then
  child()
  return
end

-- ---- the parent ----

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
local lowest = 0
while given[lowest - 1] do lowest = lowest - 1 end

-- Runs a child; whether it went well, and the end of what it said.
local function spawn(seconds, ...)
  local out = os.tmpname()
  local ok = os.execute(("timeout %d %s spec/hostile/fuzz.lua child=1 without=%s %s > %s 2>&1"):format(
    seconds, quoted(given[lowest]), quoted(options.without or ""), table.concat({ ... }, " "), out))
  local file = assert(io.open(out))
  local text = file:read("*a")
  file:close()
  os.remove(out)
  return ok == true or ok == 0, text
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

-- The smallest part of a failing list that still fails (Zeller and Hildebrandt 2002).
local function shrink(calls, fails)
  local pieces = 2
  while #calls > 1 do
    local size, smaller = math.ceil(#calls / pieces), nil
    for first = 1, #calls, size do
      local rest = {}
      for k, c in ipairs(calls) do
        if k < first or k >= first + size then rest[#rest + 1] = c end
      end
      if fails(rest) then
        smaller = rest
        break
      end
    end
    if smaller then calls, pieces = smaller, math.max(pieces - 1, 2)
    elseif size == 1 then break
    else pieces = math.min(pieces * 2, #calls) end
  end
  return calls
end

-- What kind of failure a child tells of: a crash, or what was found wrong up to the first number in it.
local function kind_of(text)
  return text:match("FAULT ([^%d]*)") or text:find("^[^\n]*lua[^\n]*: ") and "error" or "crash"
end

local function explain(seed, first, message)
  print(("episode %d failed: make fuzz SEED=%d CALLS=%d"):format(seed, seed, EPISODE))
  print(message:sub(-6000))
  local C = modules()
  local file = os.tmpname()
  local last = ""
  local function fails(calls)
    write(file, program_of(calls))
    local ok, text = spawn(60, "times=2", "replay=" .. quoted(file))
    if ok or kind_of(text) ~= kind_of(message) then return false end
    last = text
    return true
  end
  local calls = episode_of(C, seed)
  if not fails(calls) then
    print(("alone it does not fail; with those before it: make fuzz SEED=%d CALLS=%d"):format(
      first, (seed - first + 1) * EPISODE))
    return os.remove(file)
  end
  calls = shrink(calls, fails)
  fails(calls)
  write(file, program_of(calls))
  print(("%d calls are enough; lua spec/hostile/fuzz.lua child=1 times=2 replay=FILE runs them:\n%s%s"):format(
    #calls, program_of(calls), last:sub(1, 3000)))
  os.remove(file)
end

io.stdout:setvbuf "line" -- a log has all that was found when somebody ends this
local count = tonumber(options.calls or 20000)
local seed = tonumber(options.seed or "") or os.time() % 1000000 * 1000
local episodes = math.ceil(count / EPISODE)
print(("%d calls from seed %d"):format(episodes * EPISODE, seed))
local progress = os.tmpname()
local started, failed, calls, checks = os.time(), 0, 0, 0
local first = seed
while first < seed + episodes do
  local last = math.min(first + 399, seed + episodes - 1)
  local ok, text = spawn(1800, "from=" .. first, "to=" .. last, "progress=" .. quoted(progress))
  if ok then
    local c, k = text:match("(%d+) calls, (%d+) checks")
    calls, checks, first = calls + c, checks + k, last + 1
  else
    local file = assert(io.open(progress))
    local at = file:read("*n") or first
    file:close()
    failed = failed + 1
    explain(at, first, text)
    first = at + 1
    if failed >= tonumber(options.failures or 1) then break end
  end
end
os.remove(progress)
print(("%d calls, %d results checked, %d episodes failed, %d s"):format(calls, checks, failed, os.time() - started))
if failed > 0 then os.exit(1) end
