-- The fuzzer's calls that mean harm: finalizers that release what a call works on, traps where options are expected,
-- calls on what is no array, errors in callbacks, the module loaded again, devices changed, the collector driven.
local W = require "spec.hostile.world"
local C = require "spec.hostile.calls"
local gr = W.gr
local same, same_all, try, list = W.same, W.same_all, W.try, W.list
local call, slot, pick, get = C.call, C.slot, C.pick, C.get

local kinds = {}
-- LuaJIT does not survive errors of finalizers by itself.
for name in pairs(W.finalizers) do
  if name ~= "raise" or not rawget(_G, "jit") then kinds[#kinds + 1] = name end
end
table.sort(kinds)
for _ = 1, 4 do kinds[#kinds + 1] = "release" end
for _ = 1, 2 do kinds[#kinds + 1] = "fill" end

-- Finalizers that wait for the collector, each on one array.
call("finalizer", 8, function(r) return pick(r, kinds), slot(r), r(3) end, function(kind, k, count)
  local m = get(k) or { dead = true }
  for _ = 1, count do
    W.at_collection(function() W.finalizers[kind](m) end)
  end
end)

-- Finalizers that run while one call runs.
call("amid", 16, function(r)
  local name = pick(r, C.order)
  while name == "amid" or name == "co" or name == "scope" do name = pick(r, C.order) end
  return pick(r, kinds), slot(r), name, { C[name].draw(r) }
end, function(kind, k, name, arguments)
  local m = get(k) or { dead = true }
  local pause, multiplier = collectgarbage("setpause", 0), collectgarbage("setstepmul", 10000)
  local id = W.amid + 1
  W.amid = id
  local function arm()
    W.at_collection(function()
      if W.amid ~= id then return end
      arm()
      W.finalizers[kind](m)
    end)
  end
  for _ = 1, 3 do arm() end
  C[name].run(W.unpack(arguments))
  W.amid = id + 1
  collectgarbage("setpause", pause)
  collectgarbage("setstepmul", multiplier)
end)

call("co", 4, function(r)
  local name = pick(r, C.order)
  while name == "amid" or name == "co" or name == "scope" do name = pick(r, C.order) end
  return name, { C[name].draw(r) }
end, function(name, arguments)
  local co = coroutine.create(function() C[name].run(W.unpack(arguments)) end)
  local ok, message = coroutine.resume(co)
  if not ok then error(message, 0) end
end)

local ways = { "collect", "step", "generational", "incremental", "pause", "calm", "stop" }
call("collect", 4, function(r) return pick(r, ways) end, function(way)
  if way == "collect" or way == "step" then collectgarbage(way)
  elseif way == "pause" then
    collectgarbage("setpause", 0)
    collectgarbage("setstepmul", 10000)
  elseif way == "stop" then collectgarbage "stop"
  elseif way == "calm" then
    collectgarbage "restart"
    collectgarbage("setpause", 200)
  elseif rawget(_G, "warn") then collectgarbage(way) -- Lua 5.4
  end
end)

call("release", 3, function(r) return slot(r), r(2) end, function(k, way)
  local m = get(k)
  if not m then return end
  if way == 1 then
    try(false, "release", gr.release, m.a)
    m.dead = true
  else W.v[k] = nil end
end)

-- Of the GPUs all, where there are any, twice as often as the rest.
local devices = { "cpu", "pretend", "cpu", "nowhere" }
for _, device in ipairs(gr.devices()) do
  for _ = 1, device.name:find("^cuda") and 6 or 0 do devices[#devices + 1] = device.name end
end
call("device", 3, function(r) return pick(r, devices) end, function(name)
  try(name == "nowhere", "use", gr.use, name)
end)

call("where", 3, function(r)
  return slot(r), pick(r, { "prefetch", "sync", "trim", "budget", "threads", "stats" })
end, function(k, way)
  local m = get(k)
  if way == "trim" then try(false, way, gr.trim)
  elseif way == "budget" then try(false, way, gr.gc, { budget = k * 1000 })
  elseif way == "threads" then try(false, way, gr.threads, k % 2 + 1)
  elseif way == "stats" then try(false, way, function() return gr.stats(), gr.memory(), gr.devices(), gr.backend() end)
  elseif m then try(W.unfit(m), way, gr[way], m.a) end
end)

-- ---- traps ----

local traps = {
  function(m, t) return gr.sum(m.a, t) end, function(m, t) return gr.scan(m.a, "sum", t) end,
  function(m, t) return gr.add(m.a, 1, t) end, function(m, t) return gr.histogram(m.a, t) end,
  function(m, t) return gr.many({ { "sum", m.a } }, t) end, function(m, t) return gr.many { { "sum", m.a, t } } end,
  function(m, t) return gr.quantile(m.a, 0.5, t) end, function(m, t) return gr.copy(m.a, t) end,
  function(m, t) return gr.softmax(m.a, t) end, function(m, t) return gr.rmsnorm(m.a, nil, t) end,
  function(m, t) return gr.dot(m.a, m.a, t) end, function(m, t) return gr.async(gr.sum, m.a, t) end,
  function(m, t) return gr.cast(m.a, "f32", t) end, function(m, t) return gr.compare(m.a, "<", 1, t) end,
  function(_, t) return gr.rand(5, t) end, function(_, t) return gr.gc(t) end, function(_, t) return gr.svg(t) end,
  function(m, t) return gr.save(m.a, "/nonexistent/x", t) end, function(_, t) return gr.load("/nonexistent/x", t) end,
  function(_, t) return gr.csv("/nonexistent/x", t) end, function(_, t) return gr.accumulator():value(t) end,
  function(m, t) return gr.compact(m.a, m.a, t) end, function(m, t) return gr.bincount(m.a, t) end,
  function(m, t) return gr.clamp(m.a, 1, 2, t) end, function(_, t) return gr.ones(3):histogram { bins = 2 }:plot(t) end,
}

call("trap", 4, function(r) return r(#traps), slot(r), r(3) end, function(which, k, way)
  local m = get(k)
  if not m then return end
  local sprung = false
  local function spring()
    sprung = true
    if m.a then m.a:release() end
    return way == 2 and 3 or nil
  end
  local t = setmetatable({}, { __index = spring, __len = spring, __pairs = spring, __lt = spring, __eq = spring })
  try("trap", "options with __index", traps[which], m, t)
  same(false, sprung, "a metamethod of options was called")
end)

-- ---- what is no array ----

local keys = { "rows", "axis", "segments", "into", "at", "bins", "edges", "min", "max", "weights", "kernel", "block",
  "timed", "exact", "out", "ddof", "op", "value", "exclusive", "method", "eps", "seed", "minlength", "modulo", "log",
  "density", "offset", "count", "map", "shape", "column", "separator", "header", "dtype", "width", "height", "ceiling",
  "async", "accumulate", "stream", "pairs", "auto", "budget", "title", "xlog", "ylog" }

call("stranger", 14, function(r)
  local a = {}
  for k = 1, r(4) do a[k] = r(1000) end
  return r(10000), a, r(3) == 1 and { pick(r, keys), r(1000), pick(r, keys), r(1000) }
end, function(which, given, options)
  local things = W.strangers()
  local names, functions = W.callables(things)
  local name = names[which % #names + 1]
  local arguments = {}
  local function thing(k)
    local x = things[k % #things + 1]
    if x ~= "nil" then return x end
  end
  for k, which_one in ipairs(given) do arguments[k] = thing(which_one) end
  local n = #given
  if options then
    n = n + 1
    arguments[n] = { [options[1]] = thing(options[2]), [options[3]] = thing(options[4]) }
  end
  if W.trace then io.stderr:write("-- ", name, " of ", n, " strangers\n") end
  local device = gr.backend()
  local r = W.pack(pcall(functions[name], W.unpack(arguments, 1, n)))
  if r[1] and r.n <= 3 and type(r[2]) == "userdata" then pcall(tostring, r[2]) end
  pcall(gr.exact, false)
  pcall(gr.gc, { budget = 2 ^ 26, auto = true })
  same(device, (gr.backend()), "device after " .. name)
end)

-- ---- the rest of the program ----

call("reload", 1, function(r) return slot(r) end, function(k)
  local m = get(k)
  package.loaded.gpureduce = nil
  local r = try(false, "require", require, "gpureduce")
  if not r then r = { true, require "gpureduce" } end
  collectgarbage()
  if m then
    local s = try(W.unfit(m), "sum by the module loaded again", r[2].table, m.a)
    if s then same(m.n, #s[2], "elements") end
  end
  package.loaded.gpureduce = gr
end)

call("scope", 4, function(r)
  return slot(r), slot(r), pick(r, { "plain", "table", "future", "raise", "yield", "nested" })
end, function(k, x, way)
  local m = get(x)
  if not m then return end
  local lost, dtype = nil, m.store.dtype
  local function body(a)
    lost = gr.ones(5)
    local kept = a:copy()
    if way == "raise" then error("on purpose", 0) end
    if way == "yield" then coroutine.yield() end
    if way == "nested" then return gr.scope(function() return kept end) end
    return way == "table" and { { kept } } or way == "future" and gr.async(gr.copy, a) or kept
  end
  local t = list(m)
  local r = try(W.unfit(m) or (way == "raise" or way == "yield") and way, "scope", function()
    if way == "yield" then return assert(coroutine.wrap(function() return pcall(gr.scope, body, m.a) end)()) end
    return gr.scope(body, m.a)
  end)
  if lost then same("gpureduce.array (released)", tostring(lost), "an array of a scope") end
  local tells = _VERSION ~= "Lua 5.1" or rawget(_G, "jit") -- whether a finalizer runs: else its arrays are the scope's
  if tells and W.kept.made then same(140, gr.sum(W.kept.made), "what a finalizer made and kept") end
  if not r then return end
  local kept = way == "table" and r[2][1][1] or way == "future" and r[2]:get() or r[2]
  same_all(t, m.n, dtype, kept, "what a scope gives")
  W.put(k, kept, dtype, t, m.n)
end)

call("callback", 2, function(r) return slot(r), r(4) end, function(k, way)
  local m = get(k)
  if not m then return end
  local function raise() error("on purpose", 0) end
  try("callback", "callback", function()
    if way == 1 then return gr.timer(raise) end
    if way == 2 then return gr.async(raise, m.a) end
    if way == 3 then return gr.scope(function() gr.timer(raise) end) end
    return gr.many { { "sum", m.a }, { "sum", raise } }
  end)
end)

call("timer", 1, function(r) return slot(r) end, function(k)
  local m = get(k)
  if not m then return end
  local r = try(W.unfit(m), "timer", function()
    local t = gr.timer()
    local seconds, digest = gr.timer(gr.digest, m.a)
    return t:stop() >= 0 and seconds >= 0 and digest == m.a:digest()
  end)
  if r then same(true, r[2], "timer") end
end)

call("file", 3, function(r)
  return slot(r), slot(r), pick(r, { "raw", "npy", "map", "short", "svg" })
end, function(k, x, way)
  local m = get(x)
  if not m then return end
  local path, dtype = W.kept.path .. (way == "npy" and ".npy" or ""), m.store.dtype
  local t = list(m)
  if way == "npy" and dtype == "bf16" then return end
  local r = try(W.unfit(m) or way == "short" and way, "files", function()
    if way == "svg" then
      gr.svg { lines = { m.a }, path = path }
      return m.a:copy()
    end
    assert(m.a:save(path))
    if way == "npy" then return (assert(gr.load(path))) end
    if way == "short" then return gr.load(path, dtype, { count = m.n + 1 }) end
    return (assert(gr.load(path, dtype, { map = way == "map" })))
  end)
  os.remove(path)
  if r and way ~= "short" then
    same_all(t, m.n, dtype, r[2], "a file")
    W.put(k, r[2], dtype, t, m.n)
  end
end)
