-- Random formulas on a device and on the CPU: the same bits, whatever ends them. From the root, after make:
--   lua5.4 bench/gpu_formulas.lua [device=cuda:0] [texts=1000] [operators=300] [dtypes=4] [lengths=5] [seed=1]
--     [part=1/1]
-- Each text is taken at so many dtypes and lengths; its elements are compared, and one thing more that is made of them.
-- Then as many random operators of several states, of whole arrays, which only the tree makes the same.
-- Inputs are views of arrays with NaN, infinities, -0 and the ends of whole numbers among their elements. part: a share
-- of the texts, for several processes at once. device=pretend runs without a GPU. The last line counts; a difference
-- is printed with its text, and the exit status is 1.
local root = arg[0]:match("^(.*)bench/[^/]*$") or "./"
package.path = root .. "?.lua;" .. package.path
local gr = require "gpureduce"
local model, F = require "spec.model", require "spec.formulas"

local options = { texts = "1000", operators = "300", dtypes = "4", lengths = "5", seed = "1", part = "1/1" }
for _, a in ipairs(arg) do
  local key, value = a:match "^(%w+)=(.*)$"
  options[key or error("what is '" .. a .. "'?")] = value
end
local part, parts = options.part:match "^(%d+)/(%d+)$"
part, parts = tonumber(part), tonumber(parts)

local device = options.device
for _, d in ipairs(gr.devices()) do
  if not device and d.name ~= "cpu" and d.name ~= "pretend" then device = d.name end
end
if not device then
  print "gpu_formulas: no device but the CPU; device=pretend runs without one"
  os.exit(2)
end

-- ---- inputs: views of one long array of each dtype, on both devices ----

local POOL = 2 ^ 17
local pools = {}

local function pool(dtype)
  if pools[dtype] then return pools[dtype] end
  local g = model.generator(#dtype * 131 + dtype:byte(1) + dtype:byte(-1))
  local t = {}
  for _, range in ipairs { "small", "wild", "small", "" } do -- a stretch of each, of few edges and of many
    for _, x in ipairs(F.elements(g, dtype, POOL / 4, range == "wild" and 4 or 64, range)) do t[#t + 1] = x end
  end
  local p = {}
  gr.use "cpu"
  p.cpu = gr.array(t, dtype)
  gr.use(device)
  p.there = gr.array(t, dtype)
  pools[dtype] = p
  return p
end

-- Where in the pool: first, last and step of n elements.
local function place(g, n)
  local step = ({ 1, 1, 1, 2, -1, 3 })[g() % 6 + 1]
  if n * math.abs(step) > POOL then step = 1 end
  local span = (n - 1) * math.abs(step) + 1
  local first = g() % (POOL - span + 1) + 1
  if step > 0 then return first, first + span - 1, step end
  return first + span - 1, first, step
end

-- ---- what ends a formula, as bytes or numbers in a text ----

local function text_of(...)
  local parts_of = {}
  for k = 1, select("#", ...) do
    local x = select(k, ...)
    parts_of[k] = type(x) == "number" and model.hex(x) or type(x) == "userdata" and x:bytes() or tostring(x)
  end
  return table.concat(parts_of, " ")
end

local function reduction(name) return function(e) return gr[name](e) end end
local function by(name, axis, rows)
  return function(e, n)
    local count = rows or n
    if n == 0 or n % count ~= 0 then count = 1 end
    return gr[name](e, { rows = count, axis = axis })
  end
end
local function segments(e, n)
  local offsets, at = { 1 }, 1
  while at < n + 1 do
    at = math.min(n + 1, at + 1 + at % 700)
    offsets[#offsets + 1] = at
  end
  return gr.sum(e, { segments = offsets })
end
local function scan(name) return function(e) return gr.scan(e, name) end end

local ends = {
  { "sum", reduction "sum" }, { "mean", reduction "mean" }, { "var", reduction "var" }, { "norm", reduction "norm" },
  { "min", reduction "min" }, { "max", reduction "max" }, { "argmax", reduction "argmax" },
  { "minmax", reduction "minmax" }, { "prod", reduction "prod" }, { "count", reduction "count" },
  { "any", reduction "any" }, { "rows", by("sum", 2, 4) }, { "rows of few", by("max", 2) },
  { "columns", by("sum", 1, 16) }, { "columns of few", by("mean", 1, 2) }, { "segments", segments },
  { "scan", scan "sum" }, { "scan max", scan "max" }, { "exact", function(e) return gr.sum(e, { exact = true }) end },
  { "histogram", function(e) return gr.histogram(e, { bins = 37, min = -8, max = 8 }).counts end },
  { "dot", function(e) return gr.dot(e, e) end },
  { "many", function(e) return gr.many { { "sum", e }, { "mean", e }, { "count", e } } end },
  { "compact", function(e) return gr.compact(e, gr.lazy(e):ne(0)) end },
}

-- ---- one text at a dtype and a length, on both devices ----

local drawn_as = { float = "bf16", whole = "u32" } -- no formula has these but where its inputs are meant
local dtypes_of = { float = { "f32", "f64", "f16", "bf16" },
  whole = { "i32", "u8", "i64", "i16", "u32", "i8", "u16" } }
local lengths = { 0, 1, 2, 7, 31, 32, 100, 129, 512, 1000, 1024, 1025, 4095, 4096, 4100, 10000, 16384, 33333, 65537,
  100000 }

local expressions, elements, refused, differ = 0, 0, 0, 0

local function compare(f, class, dtype, n, finish, g)
  local text = f.text:gsub("%f[%w]" .. drawn_as[class] .. "%(", dtype .. "(")
  local rows = ({ 1, 2, 4 })[g() % 3 + 1]
  if n % rows ~= 0 then rows = 1 end
  local sizes = { s = 1, v = n / rows, w = rows }
  local sides = { { n = n }, { n = n } }
  for name, x in pairs(f.inputs) do
    if type(x) == "number" and name ~= "n" then sides[1][name], sides[2][name] = x, x end
  end
  for _, name in ipairs { "a", "b", "c", "d", "s", "v", "w" } do -- in this order, so that the places are the same
    if f.inputs[name] then
      local t = name == "d" and f.other ~= drawn_as[class] and f.other or dtype
      local p, size = pool(t), sizes[name] or n
      local first, last, step = place(g, math.max(size, 1))
      for k, a in ipairs { p.cpu, p.there } do
        sides[k][name] = size > 0 and a:slice(first, last, step) or a:slice(1, 0)
      end
    end
  end
  local said = {}
  for k, name in ipairs { "cpu", device } do
    gr.use(name)
    said[k] = {}
    local ok, message = pcall(function()
      local e = gr.fuse(text)(sides[k])
      local x = e:eval()
      said[k][1] = x.dtype .. " " .. x:bytes()
      local fits, m = pcall(function() said[k][2] = text_of(finish[2](e, n)) end)
      if not fits then said[k][2] = "error: " .. m end
    end)
    if not ok then said[k][1] = "error: " .. message end
  end
  expressions, elements = expressions + 1, elements + n
  if said[1][1]:find "^error" then refused = refused + 1 end
  for k = 1, 2 do
    if said[1][k] ~= said[2][k] then
      differ = differ + 1
      local function show(x)
        if not x or x:find "^error" then return tostring(x) end
        return ("%d bytes"):format(#x)
      end
      print(("%s differ: %s\n  of %s, %d elements, %d rows; cpu: %s, %s: %s"):format(k == 1 and "elements" or finish[1],
        text, dtype, n, rows, show(said[1][k]), device, show(said[2][k])))
      break
    end
  end
end

local start, texts = os.time(), 0
for k = part, tonumber(options.texts), parts do
  local g = model.generator(tonumber(options.seed) * 7919 + k * 17)
  for _ = 1, 5 do g() end
  local class = k % 3 == 0 and "whole" or "float"
  gr.use "cpu"
  local f
  repeat f = F.draw(g, drawn_as[class], { n = 4 }) -- n has to fit narrow dtypes: the longest do not
  until not f.text:find "%f[%w_]n%f[^%w_]"
  local list = dtypes_of[class]
  for d = 1, math.min(tonumber(options.dtypes), #list) do
    local finish = ends[g() % #ends + 1] -- of all lengths, as a device compiles it once for them
    for _ = 1, tonumber(options.lengths) do
      compare(f, class, list[(k + d) % #list + 1], lengths[g() % #lengths + 1], finish, g)
    end
  end
  texts = texts + 1
  if differ >= 20 then break end
end

-- ---- operators ----

-- A text of dtype t over those names, whatever their dtypes are.
local function drawn(g, t, names, depth)
  local function pick(list) return list[g() % #list + 1] end
  local float = t:find "f" ~= nil
  if depth == 0 or g() % 5 == 0 then
    if g() % 6 == 0 then return ("%s(%d)"):format(t, g() % 5 + 1) end
    return ("%s(%s)"):format(t, pick(names))
  end
  local function more() return drawn(g, t, names, depth - 1) end
  local way = g() % 8
  if way == 0 then return ("min(%s, %s)"):format(more(), more()) end
  if way == 1 then return ("max(%s, %s)"):format(more(), more()) end
  if way == 2 then return ("where(%s < %s, %s, %s)"):format(more(), more(), more(), more()) end
  if way == 3 then return (float and "sqrt(abs(%s))" or "abs(%s)"):format(more()) end
  if way == 4 then return (float and "%s / (abs(%s) + 1)" or "bxor(%s, %s)"):format(more(), more()) end
  return ("(%s %s %s)"):format(more(), pick { "+", "-", "*" }, more())
end

local function drawn_operator(g)
  local t = { state = {}, map = {}, merge = {}, identity = {} }
  local all, dtype = {}, {}
  for k = 1, ({ 1, 1, 2, 2, 3, 4, 5, 6 })[g() % 8 + 1] do
    local name = ("abcdef"):sub(k, k)
    dtype[name] = ({ "f32", "f64", "f64", "i64", "i32", "u8", "f16", "i16" })[g() % 8 + 1]
    t.state[k], t.identity[name] = name, 1
    all[#all + 1], all[#all + 2] = name .. 1, name .. 2
  end
  for _, name in ipairs(t.state) do
    t.map[name] = drawn(g, dtype[name], { "x", "x", "i" }, g() % 3)
    t.merge[name] = drawn(g, dtype[name], g() % 2 == 0 and all or { name .. 1, name .. 2 }, 1 + g() % 2)
  end
  return t
end

local operators = 0
for k = part, tonumber(options.operators), parts do
  local g = model.generator(tonumber(options.seed) * 104729 + k * 31)
  for _ = 1, 5 do g() end
  local words = drawn_operator(g)
  local op = gr.operator(words)
  for d = 1, math.min(tonumber(options.dtypes), 3) do
    local list = dtypes_of[(k + d) % 2 == 0 and "whole" or "float"]
    local dtype = list[g() % #list + 1]
    local p = pool(dtype)
    for _ = 1, tonumber(options.lengths) do
      local n = lengths[g() % #lengths + 1]
      local first, last, step = place(g, math.max(n, 1))
      local said = {}
      for side, a in ipairs { p.cpu, p.there } do
        gr.use(side == 1 and "cpu" or device)
        local x = n > 0 and a:slice(first, last, step) or a:slice(1, 0)
        local ok, text = pcall(function() return text_of(op(x)) end)
        said[side] = ok and text or "error: " .. text
      end
      operators, elements = operators + 1, elements + n
      if said[1]:find "^error" then refused = refused + 1 end
      if said[1] ~= said[2] then
        differ = differ + 1
        print(("an operator differs, of %s, %d elements, step %d: %s, %s: %s"):format(dtype, n, step, said[1], device,
          said[2]))
        for _, name in ipairs(words.state) do
          print(("  %s: map %s, merge %s"):format(name, words.map[name], words.merge[name]))
        end
      end
    end
  end
  if differ >= 20 then break end
end

gr.use(device)
if gr.compiled then print(("%d formulas are compiled and kept"):format(#gr.compiled())) end
print(("gpu_formulas: %d texts, %d expressions, %d results of operators, %.0f elements on %s and the CPU, " ..
  "%d refused by both, %d s: %s"):format(texts, expressions, operators, elements, device, refused, os.time() - start,
  differ == 0 and "ok" or differ .. " DIFFER"))
os.exit(differ == 0 and 0 or 1)
