-- What the fuzzer's calls work on: slots of arrays, each beside a model of its elements in plain Lua, and what may go
-- wrong around them (finalizers, traps, things that are no arrays).
local gr = require "gpureduce"
local model = require "spec.model"

local W = { gr = gr, model = model, v = {}, futures = {}, sums = {}, kept = {}, checks = 0,
  disturbed = 0, mark = 0, amid = 0 } -- how often finalizers changed arrays, also before this call; the amid that is on
local unpack = table.unpack or unpack -- luacheck: ignore
W.unpack = unpack
local integers = math.type ~= nil

function W.pack(...) return { n = select("#", ...), ... } end

-- ---- comparing ----

local function fault(text, ...) error("FAULT " .. text:format(...), 0) end
W.fault = fault

local function show(x) return type(x) == "number" and ("%.17g"):format(x) or tostring(x) end

function W.same(expected, got, what)
  W.checks = W.checks + 1
  if expected == got or (expected ~= expected and got ~= got) then return end
  if not integers and type(got) == "number" and math.abs(expected) >= 2 ^ 53 then return end
  fault("%s: %s expected, got %s", what, show(expected), show(got))
end

-- An array against a list of numbers; compare: W.same, or a function like it.
function W.same_all(expected, n, dtype, a, what, compare)
  if #a ~= n then fault("%s: %d elements expected, got %d", what, n, #a) end
  if dtype and a.dtype ~= dtype then fault("%s: %s expected, got %s", what, dtype, a.dtype) end
  local t = a:table()
  for k = 1, n do
    if expected[k] ~= t[k] and not (expected[k] ~= expected[k] and t[k] ~= t[k]) then
      (compare or W.same)(expected[k], t[k], what .. ", element " .. k)
    end
  end
  W.checks = W.checks + 1
end

-- ---- slots ----

-- A whole number as Lua has them.
local function whole(x) return integers and math.tointeger(x) or x end
W.whole = whole

-- A new array with these numbers in slot k; the store is what views of it share.
function W.put(k, a, dtype, numbers, n)
  if model.is_float[dtype] then
    for j = 1, n do numbers[j] = numbers[j] * 1.0 end
  end
  W.v[k] = { a = a, store = { dtype = dtype, data = numbers, device = a:info().device }, first = 1, step = 1, n = n }
  return W.v[k]
end

function W.at(m)
  local data, first, step = m.store.data, m.first, m.step
  return function(k) return data[first + (k - 1) * step] end
end

function W.list(m)
  local t, at = {}, W.at(m)
  for k = 1, m.n do t[k] = at(k) end
  return t
end

-- Whether the bits of all elements are known: those of NaN are several, and where Lua has doubles alone the model's i64
-- are rounded from 2^53 on.
function W.defined(m)
  local rounded = not integers and m.store.dtype == "i64"
  for _, x in ipairs(W.list(m)) do
    if x ~= x or rounded and math.abs(x) >= 2 ^ 53 then return false end
  end
  return true
end

function W.store(m, k, x)
  m.store.data[m.first + (k - 1) * m.step] = model.is_float[m.store.dtype] and x * 1.0 or x
end

-- Elements that a call may or may not have written.
function W.resync(m)
  if m.dead then return end
  local t = m.a:table()
  for k = 1, m.n do W.store(m, k, t[k]) end
end

-- Whether what two views span meets: that is what the module calls an overlap.
function W.overlap(p, q)
  if p.store ~= q.store or p.n == 0 or q.n == 0 then return false end
  local function range(m)
    local last = m.first + (m.n - 1) * m.step
    return math.min(m.first, last), math.max(m.first, last)
  end
  local a, b = range(p)
  local c, d = range(q)
  return a <= d and c <= b
end

function W.identical(p, q)
  return p.store == q.store and p.first == q.first and p.n == q.n and p.step == q.step
end

-- ---- calls ----

-- f(...), which must raise exactly when bad is true. Its results, or nil when it raised or when a finalizer meddled
-- with arrays meanwhile: then nothing is known but that the call came back.
function W.try(bad, what, f, ...)
  local r = W.pack(pcall(f, ...))
  if not r[1] and tostring(r[2]):find("^FAULT") then error(r[2], 0) end
  if W.disturbed ~= W.mark then
    if not r[1] and type(r[2]) ~= "string" then fault("%s: raised %s", what, tostring(r[2])) end
    return nil, true
  end
  if r[1] and bad then fault("%s: an error expected (%s)", what, tostring(bad)) end
  if not r[1] then
    if not bad then fault("%s: raised %s", what, tostring(r[2])) end
    if type(r[2]) ~= "string" then fault("%s: raised a %s", what, type(r[2])) end
    return nil
  end
  return r
end

-- Run one call. When a finalizer has changed arrays meanwhile, what the model says of them is read anew, and what
-- seemed wrong is not held against the module.
function W.run(f, ...)
  local mark, inside = W.disturbed, W.inside
  W.mark, W.inside = mark, true
  local ok, message = pcall(f, ...)
  W.inside = inside
  if W.disturbed == mark then
    if not ok then error(message, 0) end
    return
  end
  W.quiet = true
  for k = 1, 8 do
    if W.v[k] then W.resync(W.v[k]) end
  end
  W.quiet = false
end

-- Why arrays cannot go together, or nil.
function W.unfit(...)
  local first = (...)
  for k = 1, select("#", ...) do
    local m = select(k, ...)
    if m.dead then return "released" end
    if m.store.device ~= first.store.device then return "device" end
  end
end

-- ---- finalizers ----

W.at_collection = require "spec.support".at_collection

W.finalizers = {
  release = function(m)
    if W.quiet then return end
    W.disturbed = W.disturbed + 1
    if m.a then m.a:release() end
    m.dead = true
  end,
  fill = function(m)
    if m.dead or W.quiet then return end
    W.disturbed = W.disturbed + 1
    m.a:fill(1)
    for k = 1, m.n do W.store(m, k, 1) end
  end,
  reduce = function() assert(gr.sum(W.kept.ones) == 300) end,
  rows = function() assert(#gr.sum(W.kept.ones, { rows = 30 }) == 30) end,
  many = function()
    local s, m, r = gr.many { { "sum", W.kept.ones }, { "max", W.kept.ones }, { "sum", W.kept.ones, { rows = 3 } } }
    assert(s == 300 and m == 1 and #r == 3)
  end,
  async = function() W.kept.future = gr.async(gr.sum, W.kept.ones) end,
  load = function() gr.load(W.kept.path, "u8") end,
  collect = function() -- a collection in a finalizer may run finalizers
    if W.collecting then return end
    W.collecting = true
    collectgarbage()
    W.collecting = false
  end,
  raise = function() -- before Lua 5.4 it comes out of the call that is on
    if not W.inside or W.quiet then return end
    W.disturbed = W.disturbed + 1
    error("on purpose", 0)
  end,
  keep = function() W.kept.made = gr.ones(70) + 1 end,
}

-- ---- what is no array of any slot ----

function W.strangers()
  local a = gr.ones(12)
  local released = gr.ones(3)
  released:release()
  local mininteger = math.mininteger or -2 ^ 63
  return {
    "nil", true, 0, 1, -1, 2.5, 7, 12, 1 / 0, 0 / 0, 2 ^ 53, mininteger, 1e300, -1e300, "", "/nonexistent/x", "f32\0",
    {}, { 1, 2, 3 }, { {} },
    setmetatable({}, { __index = function() error "trap" end, __len = function() return 3 end }),
    io.stdout, gr.sum, error, coroutine.create(function() end), a, a:slice(-1, 1, -2), released, gr.ones(12, "u8"),
    gr.zeros(0), gr.ones(12, "i64"), gr.full(12, 1, "f64"), gr.lazy(a), gr.fuse "a * 2 > b and a or b",
      gr.lazy(a):lt(1), { a = a, b = 1 },
    gr.operator { state = "s", map = "x", merge = "s1 + s2", identity = 0 },
    { state = "s", map = "x * i", merge = "max(s1, s2)", identity = 0 },
    gr.async(gr.sum, a), gr.timer(), gr.accumulator():add(a), gr.ones(3):dlpack(),
    a:histogram { bins = 3 }, a:histogram2d(a, { bins = 2 }), "sum",
    "f64", "<", "linear", { rows = 3 }, { rows = 3, axis = 1 }, { { "sum", a } },
    { lines = { a } }, { bins = 4 }, { bins = 4, min = 0, max = 2 }, 1.5, 3,
  }
end

-- Not these: they write files, take addresses or change how the fuzzer itself runs.
local left_out = { save = true, svg = true, wrap = true, fromdlpack = true, use = true, threads = true, safe = true,
  __gc = true }

-- Everything that can be called, by name: functions, methods, metamethods.
function W.callables(list)
  local names, by_name = {}, {}
  local function enter(prefix, t)
    for key, f in pairs(t) do
      local name = prefix .. tostring(key)
      if type(f) == "function" and not left_out[key] then names[#names + 1], by_name[name] = name, f end
    end
  end
  enter("", gr)
  local seen = {}
  for _, object in ipairs(list) do
    local meta = (type(object) == "userdata" or type(object) == "table") and debug.getmetatable(object)
    local name = meta and rawget(meta, "__name")
    if type(name) == "string" and name:find "gpureduce" and not seen[meta] then
      seen[meta] = true
      enter(name .. ".", meta)
      if type(meta.__index) == "table" then enter(name .. ".", meta.__index) end
    end
  end
  table.sort(names)
  return names, by_name
end

-- ---- between episodes ----

function W.reset()
  W.amid = W.amid + 1
  collectgarbage "restart"
  if rawget(_G, "warn") then collectgarbage "incremental" end -- Lua 5.4
  collectgarbage("setpause", 200)
  local jit = rawget(_G, "jit")
  if jit then jit.flush() end -- its traces hold what they have seen
  for _ = 1, 2 do -- first the finalizers, which use what is kept
    for k = 1, 8 do W.v[k], W.futures[k], W.sums[k] = nil, nil, nil end
    for _ = 1, 3 do collectgarbage() end
    W.kept = { path = W.kept.path }
  end
  gr.exact(false)
  gr.gc { budget = 2 ^ 26, auto = true }
  gr.use "cpu"
end

return W
