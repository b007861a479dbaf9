-- What the allocation-failure sweep runs: one case for every function of the module and more where a function has
-- several ways. It is loaded into a state of its own for every trial (see host.c) and returns what that calls.
local describe = require "spec.hostile.describe"
local gr -- once prepared

local cases, order, settings = {}, {}, {}
-- More than one value: the case's result is all of them.
local function case(name, f, setting)
  cases[name], order[#order + 1], settings[name] = f, name, setting or {}
end

-- ---- making ----

case("array", function()
  return gr.array({ 1, 2, 3 }), gr.array({ { 1, 2 }, { 3, 4 } }, "i32"), gr.array(1000, "f64")
end)
case("frombytes", function() return gr.frombytes("abcdefgh", "u16"), gr.frombytes("abcdefgh", ">i4") end)
for _, name in ipairs { "zeros", "ones" } do case(name, function() return gr[name](2000, "f64") end) end
case("full", function() return gr.full(2000, 2.5) end)
case("seed", function()
  gr.seed(7)
  return gr.rand(2000)
end)
case("arange", function() return gr.arange(1, 2000), gr.arange(10, 1, -3, "i32") end)
case("linspace", function() return gr.linspace(0, 1, 2000) end)
for _, name in ipairs { "rand", "randn" } do
  case(name, function(e)
    return gr[name](2000, { seed = 1 }), gr[name](3000, "f32", { seed = 2, into = e.into32 })
  end)
end

-- ---- looking ----

case("a[i]", function(e)
  e.a[2] = e.a[1]
  return e.a[2], e.a[3001], #e.a, e.a:slice(1, -1, 7)[3]
end)
case("tostring(a)", function(e) return (tostring(e.a):gsub("%(.*", "")) end)
case("slice", function(e) return e.a:slice(2, -2, 3), e.a:slice(-1, 1, -1) end)
case("table", function(e) return e.a:table(2, 40) end)
case("bytes", function(e) return e.a:bytes(), e.a:slice(1, -1, 2):bytes(3, 9) end)
case("copy", function(e) return e.a:slice(1, -1, 2):copy(), e.a:copy { into = e.into32 } end)
case("copy to another device", function(e)
  gr.use(e.other)
  return e.a:copy()
end)
case("fill", function(e) return e.a:slice(2, 9):fill(3) end)
case("equal", function(e) return e.a:equal(e.b), e.a:equal(e.a:copy()) end)
case("info", function(e) return e.a:info().n end)

require "spec.hostile.matrices" (case)
require "spec.hostile.prompt" (case)

-- ---- element by element ----

for _, name in ipairs { "add", "sub", "mul", "div" } do
  case(name, function(e)
    return gr[name](e.a, e.b), gr[name](2, e.a), gr[name](e.a, 3, { into = e.into32 }), gr[name](e.i, 2)
  end)
end
case("operators", function(e) return e.a + e.b, e.a - 1, 2 * e.a, e.a / e.b, -e.a, e.a % e.b, e.a ^ 2 end)
-- Those that only some Luas can write, by their names.
for _, name in ipairs { "idiv", "band", "bor", "bxor", "shl", "shr", "bnot" } do
  case("operator " .. name, function(e) return debug.getmetatable(e.i)["__" .. name](e.i, e.i) end)
end
require "spec.hostile.expressions" (case)
case("explain", function(e) return gr.explain("sum", e.a).kernel, gr.explain("dot", e.a, e.b).why end)
for _, name in ipairs { "pow", "mod", "fmod", "floordiv", "atan2", "hypot", "minimum", "maximum" } do
  case(name, function(e) return gr[name](e.a, e.b), gr[name](2, e.a), gr[name](e.a, 3, { into = e.into32 }) end)
end
for _, name in ipairs { "band", "bor", "bxor", "shl", "shr", "land", "lor" } do
  case(name, function(e) return gr[name](e.i, 2), gr[name](3, e.i) end)
end
for _, name in ipairs { "bnot", "lnot", "isnan", "isinf", "isfinite" } do
  case(name, function(e) return gr[name](e.i) end)
end
for _, name in ipairs { "neg", "abs", "square", "sqrt", "exp", "log", "tanh", "rsqrt", "cbrt", "exp2", "expm1",
  "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "floor", "ceil", "round",
  "trunc", "sign" } do
  case(name, function(e) return gr[name](e.d), gr[name](e.i), gr[name](e.d, { into = e.d }) end)
end
case("clamp", function(e) return e.a:clamp(0.2, 0.7), e.a:clamp(nil, 0.5, { into = e.into32 }) end)
case("cast", function(e) return e.a:cast("f16"), e.d:cast("u8"), e.d:cast("f32", { into = e.into32 }) end)
case("compare", function(e) return e.a:compare("<", e.b), e.a:compare(">=", 0.5) end)
case("where", function(e)
  return gr.where(e.m, e.a, e.b), e.m:where(e.a, 0), gr.where(e.m, 1, 2, { into = e.into32 })
end)
case("compact", function(e) return e.a:compact(e.m), e.a:compact(e.m, { into = e.into32 }) end)

require "spec.hostile.lookups" (case)
require "spec.hostile.pairs" (case)

-- ---- reductions: alone, by rows, columns and segments, into an array, later, exactly ----

local ones = { "sum", "prod", "mean", "var", "std", "min", "max", "minmax", "argmin", "argmax", "any", "all", "count",
  "norm", "logsumexp" }
for _, name in ipairs(ones) do
  local f = function(o) return function(e) return gr[name](e.a, o and o(e)) end end
  case(name, function(e) return gr[name](e.a), e.i:slice(1, -1, 3)[name](e.i) end)
  case(name .. " of rows", f(function() return { rows = 30 } end))
  case(name .. " of columns", f(function() return { rows = 30, axis = 1 } end))
  case(name .. " of segments", f(function() return { segments = { 1, 1, 500, 3001 } } end), { empty = true })
  case(name .. " later", function(e)
    local one, two = gr.async(gr[name], e.a), gr[name](e.b, { async = true })
    return one, two, gr.async(gr[name], e.a, { rows = 30 })
  end)
end
for _, name in ipairs { "sum", "mean", "var", "std", "norm" } do
  case(name .. " exactly", function(e)
    return gr[name](e.a, { exact = true }), gr[name](e.a, { exact = true, rows = 3 }),
      gr[name](e.a, { exact = true, rows = 3, axis = 1 }), gr[name](e.d, { exact = true, segments = { 1, 9, 3001 } })
  end)
end
for _, name in ipairs { "sum", "max", "argmin", "mean" } do
  case(name .. " into", function(e)
    local to = e.to[name]
    return gr[name](e.a, { into = to, at = 2 }), gr[name](e.a, { rows = 30, into = to })
  end)
end
case("any into", function(e) return gr.any(e.a, { rows = 30, into = e.to.any, op = ">", value = 0.5 }) end)
case("sum with a sum of its own", function(e)
  return e.a:sum { accumulate = "f32" }, e.a:sum { accumulate = "kahan" }, e.a:sum { accumulate = "neumaier", rows = 3 }
end)
case("reduce", function(e) return e.a:reduce("sum"), e.a:reduce("max", { rows = 3 }) end)
for _, name in ipairs { "dot", "mse", "cosine" } do
  case(name, function(e)
    return gr[name](e.a, e.b), gr[name](e.a, e.b:slice(1, 100), { rows = 30 }), gr[name](e.d, e.d)
  end)
  case(name .. " later", function(e) return gr.async(gr[name], e.a, e.b), gr[name](e.a, e.b, { async = true }) end)
  case(name .. " exactly", function(e) return gr[name](e.a, e.b, { exact = true }) end)
end
case("quantile", function(e)
  return e.a:quantile(0.25), e.a:quantile({ 0, 0.3, 1 }), e.a:quantile({ 0.1, 0.9 }, { into = e.d:slice(1, 2) })
end)
case("quantile of many", function(e) return e.large:quantile { 0.1, 0.5, 0.99 } end, { large = true })
case("median", function(e) return e.a:median(), e.i:median() end)
for _, name in ipairs { "missing", "ranks" } do require("spec.hostile." .. name)(case) end

-- ---- exact sums ----

case("exact", function(e)
  gr.exact(true)
  local s = gr.sum(e.a)
  return s, gr.exact(false)
end)
case("accumulator", function(e)
  local s = gr.accumulator():add(e.a):add_dot(e.a, e.b)
  local t = gr.accumulator(s:bytes()):merge(s)
  return s:value(), t:value { out = "f32" }, (tostring(t):gsub("0x%x+", ""))
end)
case("digest", function(e) return e.a:digest(), e.a:slice(1, -1, 2):digest() end)

case("fuse", function(e)
  return gr.fuse "(a - b)^2 * scalar(s) > k and a or f64(i)" { a = e.d, b = e.d, k = 3, s = e.d:slice(1, 1) }:eval()
end)
case("lazy", function(e)
  local x, y = gr.lazy(e.a), -(gr.lazy(e.a) + e.b) * 2 / (gr.lazy(e.b) - 7) ^ 2 % 5
  return y:lt(x):land(x:ge(0.5)):lor(y:eq(1)):eval(), x:le(1):lnot():where(x, y):eval { into = e.into32 }, tostring(y),
    x:gt(y):ne(0):pow(2):sum(), #y, y:steps(), y:info().n, tostring(gr.fuse "a"), (x + 1):release()
end)
case("lazy <", function(e) return gr.lazy(e.a) < gr.lazy(e.b) end, { may_raise = true })
case("lazy <=", function(e) return gr.lazy(e.a) <= gr.lazy(e.b) end, { may_raise = true })
case("expressions", function(e)
  local x = gr.lazy(e.a) * e.b
  return x:sum { rows = 30 }, x:max { rows = 30, axis = 1 }, x:scan(), gr.many { { "dot", x, e.a }, { "sum", x } }
end)
case("operator", function(e) return require "spec.operators".every_way(e) end)
-- ---- histograms ----

case("histogram", function(e)
  return e.a:histogram { bins = 10, min = 0, max = 1 }, e.a:histogram { bins = 10, density = true }
end)
case("histogram with weights", function(e) return e.a:histogram { bins = 10, min = 0, max = 1, weights = e.b } end)
case("histogram by edges", function(e)
  return e.a:histogram { edges = { 0, 0.1, 0.7 } }, e.p:histogram { bins = 5, log = true }
end)
case("histogram into", function(e) return e.a:histogram { bins = 10, min = 0, max = 1, into = e.h } end)
case("histogram later", function(e) return gr.async(gr.histogram, e.a, { bins = 10, min = 0, max = 1 }) end)
case("histogram of many bins", function(e) return e.a:histogram { bins = 100000, min = 0, max = 1 } end)
case("bincount", function(e) return e.u:bincount(), e.u:bincount { minlength = 300, weights = e.a } end)
case("looking at a histogram", function(e)
  return e.h:quantile(0.5), e.h:plot { width = 40, height = 4, ascii = true }, tostring(e.h), e.h.below, e.h.nan, #e.h
end)
case("histogram:svg", function(e) return e.h:svg(nil, { title = "a", log = true }), e.h:svg(e.path), e.read(e.path) end)
case("plot", function(e) return gr.plot(e.a:slice(1, 50), { width = 40, height = 6 }), e.p:slice(1, 4):plot() end)
case("svg", function(e)
  local lines = { { name = "a", y = e.a:slice(1, 5) }, { x = { 1, 2, 3 }, y = { 3, 1, 2 } } }
  return gr.svg { lines = lines, ceiling = { y = 2, name = "limit" } },
    gr.svg { lines = { e.p:slice(1, 4) }, ylog = true, xlog = 2, path = e.path }, e.read(e.path)
end)

-- ---- scans, rows ----

case("scan", function(e)
  return e.a:scan(), e.a:scan("max", { exclusive = true, reverse = true }),
    e.d:scan("sum", { into = e.d }), e.i:scan("prod")
end)
case("rmsnorm", function(e)
  return e.a:rmsnorm(e.b:slice(1, 100), { rows = 30 }), e.a:rmsnorm(nil, { into = e.into32 })
end)
case("softmax", function(e) return e.a:softmax { rows = 30 }, e.a:softmax { into = e.into32 } end)
case("softmax of long rows", function(e) return e.large:softmax() end, { large = true })

-- ---- later ----

case("async", function(e)
  return gr.async(gr.sum, e.a), gr.async(gr.scan, e.a), gr.async(gr.minmax, e.a), gr.async(gr.quantile, e.a, 0.5),
    gr.async(gr.table, e.a, 1, 9)
end)
case("many", function(e)
  return gr.many { { "sum", e.a }, { "minmax", e.b }, { "dot", e.a, e.b }, { "sum", e.a, { rows = 3 } },
    { "norm", e.a, 1 } }
end)
case("many plain", function(e) return gr.many { { "sum", e.a }, { "dot", e.a, e.b }, { "max", e.i } } end)
case("many later", function(e)
  local list = { { "sum", e.a }, { "minmax", e.b }, { "sum", e.b, { rows = 3 } }, { "var", e.a, { ddof = 1 } } }
  return gr.many(list, { async = true }), gr.async(gr.many, list)
end)
case("many of many", function(e)
  local list = {}
  for k = 1, 70 do list[k] = { k % 2 == 0 and "sum" or "argmax", e.a:slice(k, -1) } end
  return gr.many(list)
end)
case("async of many", function(e) return e.large:sum { async = true }, gr.async(gr.scan, e.large) end, { large = true })
case("future", function(e)
  local f = gr.async(gr.sum, e.a)
  local text = tostring(f):match("^%S+")
  local early = f:get(0)
  for _ = 1, 10 do f:done() end
  return text, f:done(), f:get(2), f:get(2), early == nil or early == f:get(2)
end)
case("futures that nobody looks at", function(e)
  for _ = 1, 5 do gr.async(gr.sum, e.a) end
  e.a:fill(1)
  local f = gr.async(gr.norm, e.d)
  e.d:fill(1)
  e.b:release()
  return f, gr.async(gr.sum, e.a)
end)
case("timer", function(e)
  local t = gr.timer()
  local _, s = gr.timer(gr.sum, e.a)
  return t:stop() >= 0, s
end)

-- ---- files, memory of others ----

case("save and load", function(e)
  local saved = { e.a:save(e.path), e.a:slice(1, -1, 2):save(e.npy, { shape = { 1500, 1 } }) }
  local back, shape = gr.load(e.npy)
  return saved, gr.load(e.path, "f32"), gr.load(e.path, "f32", { offset = 4, count = 7 }), back, shape
end)
case("load", function(e) return gr.load(e.kept, "f32"), (gr.load("no such file")) end)
case("load mapped", function(e)
  local a, message, code = gr.load(e.kept, "f32", { map = true })
  if a then a[1] = 7 end
  return a, message, code
end, { refusals = true })
case("load what is no NPY file", function(e) return gr.load(e.big) end, { may_raise = true })
case("csv", function(e) return gr.csv(e.csv, { column = "mass" }) end, { refusals = true })
case("wrap and touch", function(e)
  if not e.pointer then return "no pointers here" end
  return "wrapped"
end)
case("wrap", function() return gr.wrap(0, { n = 3 }) end, { may_raise = true })
case("touch", function(e) return gr.touch(e.a) end, { may_raise = true })
require "spec.hostile.tensors" (case)

-- ---- devices, care, learning ----

case("backend", function() return (gr.backend()) end)
case("compiled", function() return #gr.compiled() end)
case("devices", function() return #gr.devices() > 1 end)
case("use", function(e) return gr.use(e.other), gr.ones(100), gr.use(e.device) end)
case("prefetch and sync", function(e) return e.a:prefetch(), e.a:sync() end)
case("threads", function() return gr.threads(3) end)
case("threads that start", function(e)
  gr.threads(gr.threads() + 1)
  local s = e.large:sum()
  gr.threads(2)
  return s
end, { large = true })
case("instructions", function() return type(gr.instructions()) end)
case("stats", function() return gr.stats().launches ~= nil end)
case("memory", function() return gr.memory().live ~= nil end)
case("trim", function() return gr.trim() >= 0 end)
case("gc", function() gr.gc { budget = 1000, auto = true } return gr.ones(5000), gr.ones(5000) end)
case("release", function(e)
  local a = gr.ones(5000)
  a:release()
  gr.release(a)
  return tostring(a), e.a:sum()
end)
case("metamethods of the collector", function(e)
  local a = e.a:copy()
  debug.getmetatable(a).__close(a)
  for _, object in ipairs { a, e.a:copy(), gr.async(gr.sum, e.a), gr.timer(), gr.lazy(e.a) } do
    debug.getmetatable(object).__gc(object)
  end
end)
case("scope", function(e)
  return gr.scope(function(a)
    local kept, lost = a + 1, a + 2
    return kept, { a + 3, gr.scope(function() return lost * 2 end) }, gr.async(gr.scan, a)
  end, e.a)
end)
case("scope that raises", function(e)
  return gr.scope(function()
    local _ = e.a + 1
    error("on purpose", 0)
  end)
end, { may_raise = true })
case("clock", function() return gr.clock() > 0 end)
case("kernels", function()
  local list = {}
  for k, name in ipairs { "dot", "sum", "min", "max", "histogram", "scan", "rmsnorm" } do
    list[k] = #gr.kernels(name)
  end
  return list
end)
for _, name in ipairs { "dot", "sum", "max", "histogram", "scan", "rmsnorm" } do
  case("kernels of " .. name, function(e)
    local list = {}
    for at, k in ipairs(gr.kernels(name)) do
      local o, a = { kernel = k.name }, (k.dtypes == "i32" or name == "histogram") and e.i or e.a
      if name == "dot" then list[at] = gr.dot(a, a, o)
      elseif name == "scan" then list[at] = gr.scan(a, "sum", o)
      elseif name == "rmsnorm" then list[at] = gr.rmsnorm(a, nil, o)
      else
        if name == "histogram" then o.bins, o.min, o.max = 100, 0, 100 end
        list[at] = gr[name](a, o)
      end
    end
    return list
  end)
end
for k, f in ipairs {
  function(e) return e.a:sum { rowz = 3 } end, function(e) return gr.dot(e.a, e.d) end,
  function() return gr.zeros(-1) end,
  function(e) return gr.many { { "sum", e.a }, { "summ", e.a } } end, function(e) e.a[9999] = 1 end,
  function() return gr.use "nowhere" end, function() return gr.array { 1, "x" } end,
  function(e) return gr.histogram(e.a, {}) end, function(e) return e.h:plot { widht = 3 } end,
} do case("mistake " .. k, f, { may_raise = true }) end

-- Opening the module: nothing is prepared.
case("opening", function(e)
  gr = require "gpureduce"
  gr.use(e.device)
  return gr.arange(1, 100):sum()
end, { opening = true })
case("opening twice", function()
  package.loaded.gpureduce = nil
  return require("gpureduce").arange(1, 100):sum()
end)

-- Last, since it is for good where all cases run in one state.
case("safe", function(e)
  gr.safe { files = true, wrap = true, bytes = 2 ^ 32, elements = 1e7, seconds = 600, threads = 2 }
  return e.a:sum(), e.a + 1
end)

-- ---- the frame ----

local now = {} -- the case that is prepared

local function write(path, bytes)
  local f = assert(io.open(path, "wb"))
  f:write(bytes)
  f:close()
  return path
end

local function environment(e)
  local function names(k) return e.base .. "." .. k end
  e.a, e.b = gr.rand(3000, "f32", { seed = 1 }), gr.rand(3000, "f32", { seed = 2 })
  e.d, e.p = gr.rand(3000, "f64", { seed = 3 }), gr.arange(1, 300, "f64")
  e.i, e.m = (e.a * 100):cast("i32"), e.a:compare(">", 0.5)
  e.u = (e.a * 250):cast("u8")
  e.into32, e.h = gr.zeros(3000, "f32"), e.a:histogram { bins = 10, min = 0.1, max = 0.9 }
  e.to = { sum = gr.zeros(30, "f64"), mean = gr.zeros(30, "f64"), max = gr.zeros(30, "f32"),
    argmin = gr.zeros(30, "i64"), any = gr.zeros(30, "u8") }
  if now.setting.large then e.large = gr.rand(300000, "f32", { seed = 4 }) end
  e.pairs = e.a:histogram2d(e.b, { bins = { 5, 4 }, range = { { 0.1, 0.9 }, { 0, 1 } } })
  e.path, e.npy = names "raw", names "npy"
  e.kept = write(names "kept", ("abcd"):rep(700))
  e.csv = write(names "csv", 'body,"mass"\nsun,1.5\nearth,2\n')
  local header = "{'descr': '>f4', 'fortran_order': False, 'shape': (300,), }"
  header = header .. (" "):rep(117 - #header) .. "\n"
  e.big = write(names "big.npy", "\147NUMPY\1\0\118\0" .. header .. ("abcd"):rep(300))
  function e.read(path)
    local f = io.open(path, "rb")
    if not f then return nil end
    local text = f:read("*a")
    f:close()
    return text
  end
end

-- The arrays that are left, and their bytes; work in the background keeps its own until it has ended.
local function settled(before)
  collectgarbage()
  collectgarbage()
  local limit = os.clock() + 2
  while before and gr.memory().arrays > before and os.clock() < limit do end
  return gr.memory().arrays, gr.memory().live
end

local M = {}
function M.prepare(name, device)
  now = { name = name, f = assert(cases[name], name), setting = settings[name],
    env = { device = device, other = device == "cpu" and "pretend" or "cpu", base = os.tmpname() } }
  if now.setting.opening then return end
  gr = require "gpureduce"
  gr.use(device)
  now.arrays, now.live = settled()
  environment(now.env)
  collectgarbage() -- so that the trial begins with nothing to collect
end

local function keep(...) now.results, now.count = { ... }, select("#", ...) end
function M.act() keep(now.f(now.env)) end
-- What is wrong after the trial, behind "!", else the results as text.
function M.finish(status)
  local e = now.env
  local text = "error"
  if status == "ok" then
    local parts = {}
    for k = 1, now.count do parts[k] = describe(now.results[k]) end
    text = table.concat(parts, "; ")
    if now.setting.refusals and now.results[1] == nil and now.results[3] == 12 then text = "error" end
  end
  now.results = nil
  gr = require "gpureduce"
  gr.use(e.device)
  if now.setting.opening and not now.arrays then now.arrays, now.live = settled() end
  local sum = gr.arange(1, 1000, "f64"):sum()
  local f = gr.async(gr.sum, gr.ones(777))
  local x, y = gr.many { { "sum", gr.ones(10) }, { "max", gr.ones(10) } }
  local z = gr.scope(function() return gr.scan(gr.ones(10))[10] end)
  local flat = gr.accumulator():add(gr.ones(5)):value()
  local got = table.concat({ sum, f:get(2), x, y, z, flat }, " "):gsub("%.0", "")
  if got ~= "500500 777 10 1 10 5" then text = "!afterwards the module gives " .. got end
  if gr.exact() then gr.exact(false) end
  f = nil -- luacheck: ignore
  for _, ending in ipairs { "raw", "npy", "kept", "csv", "big.npy" } do os.remove(e.base .. "." .. ending) end
  os.remove(e.base)
  now.env, e = nil, nil -- luacheck: ignore
  local arrays, live = settled(now.arrays)
  if arrays ~= now.arrays or live ~= now.live then
    text = ("!%d arrays (%d bytes) before, %d (%d) afterwards"):format(now.arrays, now.live, arrays, live)
  end
  pcall(gr.trim) -- refused after gr.safe
  return text
end

function M.names() return order end
function M.setting(name) return settings[name] end

-- The module's functions and metamethods by name, and those among them that the cases call.
function M.reached(device)
  gr = require "gpureduce"
  local all, called = {}, {}
  local function enter(prefix, t)
    for key, f in pairs(t) do
      if type(f) == "function" and not all[f] then all[f] = prefix .. tostring(key) end
    end
  end
  enter("", gr)
  local a = gr.ones(3)
  local objects = { array = a, future = gr.async(gr.sum, a), timer = gr.timer(), accumulator = gr.accumulator(),
    histogram = a:histogram { bins = 2 }, histogram2d = a:histogram2d(a, { bins = 2 }),
    formula = gr.fuse "a", expression = gr.lazy(a), tensor = a:dlpack(), comm = one_rank(), -- luacheck: ignore
    operator = gr.operator { state = "s", map = "x", merge = "s1 + s2", identity = 0 } }
  for kind, object in pairs(objects) do
    local meta = debug.getmetatable(object)
    enter(kind .. ":", meta)
    enter(kind .. ":", type(meta.__index) == "table" and meta.__index or meta.methods or {})
  end
  local function hook()
    local f = debug.getinfo(2, "f").func
    if all[f] then called[f] = true end
  end
  for _, name in ipairs(order) do
    M.prepare(name, device)
    debug.sethook(hook, "c")
    local ok, message = pcall(M.act)
    debug.sethook()
    assert(ok or now.setting.may_raise or now.setting.empty, name .. ": " .. tostring(message))
    M.finish("error")
  end
  local missing, count = {}, 0
  for f, name in pairs(all) do
    count = count + 1
    if not called[f] then missing[#missing + 1] = name end
  end
  table.sort(missing)
  return all, missing, count
end

return M
