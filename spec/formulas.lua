-- Random formulas: a tree, its text in the language of gr.fuse with no more parentheses than Lua's precedence needs,
-- what it comes to for each element in plain Lua (spec/elements.lua), and the same by the operators one by one. Where a
-- function stands, the operator's own result for the model's elements goes on; who draws the formula is told of it, and
-- may ask MPFR (build/functions check).
local gr = require "gpureduce"
local model = require "spec.model"
local E = require "spec.elements"
local F = {}

local integers = math.type ~= nil
local nan, huge, NZ = model.nan, math.huge, model.minus_zero
local is_float = model.is_float

-- ---- nodes: { text, precedence, dtype, of which operands, and how each element and each array is made } ----

local function within(node, precedence, strictly)
  if node.precedence < precedence or (strictly and node.precedence == precedence) then
    return "(" .. node.text .. ")"
  end
  return node.text
end

local function number(text, x, precedence)
  return { text = text, precedence = precedence or 99, is_number = true, value = x }
end

-- A number in the place of an element of t: rounded to it, or a whole one, with which Lua computes as integers do. The
-- operators are given it as it is.
local function placed(x, t)
  if not x.is_number then return x end
  local y = x.value
  if t and is_float[t] then y = E.cast(t, y) elseif t and integers then y = math.tointeger(y) or y end
  return { is_number = true, value = y, given = x.value }
end

local function node(text, precedence, dtype, each, eager, a, b, c)
  return { text = text, precedence = precedence, dtype = dtype, each = each, eager = eager, a, b, c }
end

-- The operator of that name on elements of t; b and c may be numbers.
local function applied(name, t, a, b, c)
  local place = E.widens(name, t) and "f64" or t
  local x = node(nil, 99, E.result(name, t), nil, function(...) return gr[name](...) end, placed(a, place),
    b and placed(b, place), c and placed(c, place))
  if E.near[name] then x.calls, x.from = name, t else
    local f = E.exact[name]
    x.each = function(p, q, r) return f(t, p, q, r) end
  end
  return x
end

local function call(name, t, a, b, c)
  local x = applied(name, t, a, b, c)
  x.text = name .. "(" .. a.text .. (b and ", " .. b.text or "") .. (c and ", " .. c.text or "") .. ")"
  return x
end

local function infix(sign, name, precedence, t, a, b)
  local x = applied(name, t, a, b)
  x.precedence = precedence
  x.text = within(a, precedence) .. " " .. sign .. " " .. within(b, precedence, true)
  return x
end

local function cast(t, a)
  if a.dtype == t and a.precedence == 99 then return a end
  return node(t .. "(" .. a.text .. ")", 99, t, function(x) return E.cast(t, x) end,
    function(x) return gr.cast(x, t) end, a)
end

local function compared(sign, a, b)
  local t = a.dtype or b.dtype
  local place = is_float[t] and t or nil
  local holds = E.relations[sign]
  return node(within(a, 3) .. " " .. sign .. " " .. within(b, 3, true), 3, "u8",
    function(x, y) return holds(x, y) and 1 or 0 end,
    function(x, y)
      if type(x) == "number" then
        return gr.compare(y, ({ ["<"] = ">", ["<="] = ">=", [">"] = "<", [">="] = "<=" })[sign] or sign, x)
      end
      return gr.compare(x, sign, y)
    end, placed(a, place), placed(b, place))
end

-- As `and` and `or` take it.
local function truth(x) return x ~= 0 and 1 or 0 end
local function truths(x, n)
  if type(x) == "number" then return gr.full(n, truth(x), "u8") end
  return gr.compare(x, "~=", 0)
end

local function joined(word, a, b, run)
  local is_and = word == "and"
  local precedence = is_and and 2 or 1
  local left = within(a, precedence)
  if not is_and and a.precedence == 2 then left = "(" .. a.text .. ")" end -- else it would choose
  return node(left .. " " .. word .. " " .. within(b, precedence, true), precedence, "u8",
    function(x, y) return is_and and truth(x) * truth(y) or math.max(truth(x), truth(y)) end,
    function(x, y) return gr[is_and and "land" or "lor"](truths(x, run.n), truths(y, run.n)) end, a, b)
end

local function denied(a)
  return node("not " .. within(a, 12), 12, "u8", function(x) return x == 0 and 1 or 0 end,
    function(x) return gr.compare(x, "==", 0) end, a)
end

local function chosen(c, a, b, as_words)
  local t = a.dtype or b.dtype or "f32"
  local text = as_words and within(c, 2) .. " and " .. within(a, 2, true) .. " or " .. within(b, 1, true)
    or "where(" .. c.text .. ", " .. a.text .. ", " .. b.text .. ")"
  return node(text, as_words and 1 or 99, t, function(m, x, y) if m ~= 0 then return x end return y end,
    function(m, x, y) return gr.where(m.dtype == "u8" and m or gr.compare(m, "~=", 0), x, y) end,
    c, placed(a, t), placed(b, t))
end

-- ---- powers: by products where the exponent says so (docs/reference.md) ----

local function by_products(t, k)
  return k == 0.5 or k == math.floor(k) and k >= -1 and k <= ((t == "f32" or t == "f64") and 4 or 2)
end

local function power(a, k, text)
  local t = is_float[a.dtype] and a.dtype or "f64"
  local x = by_products(t, k) and node() or applied("pow", a.dtype, a, number(text, k))
  local r = model.round[t]
  local ways = {
    [-1] = function(y) return r(1 / y) end, [0] = function() return 1.0 end, [1] = function(y) return y * 1.0 end,
    [2] = function(y) return r(y * y) end, [3] = function(y) return r(r(y * y) * y) end,
    [4] = function(y) return r(r(y * y) * r(y * y)) end,
    [0.5] = function(y) return y == -huge and huge or y < 0 and nan or r(math.sqrt(y)) + 0.0 end,
  }
  local way = ways[k]
  if not x.calls then
    x.each, x.eager = function(y) return way(E.cast(t, y)) end, function(y) return gr.pow(y, k) end
  end
  x.dtype, x.precedence, x.text, x[1] = t, 14, within(a, 14, true) .. "^" .. text, a
  return x
end

-- ---- what a formula comes to ----

-- A function's results for these elements, by the operator; told to run.record.
local function called(x, a, b, run)
  local t = E.computed(x.from)
  if run.n == 0 then return {} end
  local p, q = gr.array(a, t), b and gr.array(b, t)
  local got = gr[x.calls](p, q)
  if run.record then run.record(x.calls, t, p, q, got) end
  local r = got:table()
  for k = 1, x.dtype == t and 0 or run.n do r[k] = model.round[x.dtype](r[k]) end
  return r
end

-- Its elements, each step once.
local function elements_of(x, run)
  local t, n = x.elements, run.n
  if t then return t end
  t = {}
  x.elements = t
  if x.is_number then
    for k = 1, n do t[k] = x.value end
    return t
  end
  local a, b, c = x[1] and elements_of(x[1], run), x[2] and elements_of(x[2], run), x[3] and elements_of(x[3], run)
  if x.calls then
    x.elements = called(x, a, b, run)
    return x.elements
  end
  local each = x.each
  if c then for k = 1, n do t[k] = each(a[k], b[k], c[k]) end
  elseif b then for k = 1, n do t[k] = each(a[k], b[k]) end
  else for k = 1, n do t[k] = each(a[k]) end end
  return t
end

-- The array that the operators one by one give.
local function array_of(x, run)
  if x.is_number then return x.given or x.value end
  if not x.array then
    if not x.eager then
      x.array = run.arrays[x.name] or gr.array(x.elements, x.dtype)
    else
      x.array = x.eager(array_of(x[1], run), x[2] and array_of(x[2], run), x[3] and array_of(x[3], run))
    end
  end
  return x.array
end

-- ---- inputs ----

local edges = { nan, huge, -huge, NZ, NZ, 0.0, 0.0, 1.0, -1.0, 0.5 }
-- What is rounded wrongly when it is rounded twice, on the way to f32, to bf16, to f16.
local twice = { f64 = { 1 + 2 ^ -24 + 2 ^ -50, 1 + 2 ^ -8 + 2 ^ -40, -1 - 2 ^ -11 - 2 ^ -40 },
  i64 = integers and { math.tointeger(2 ^ 60 + 2 ^ 36) + 1, 1 - math.tointeger(2 ^ 62 + 2 ^ 38) } }

-- A table of n elements of the dtype. spice: one in so many (4) is an edge of the dtype; range: "wild", or "small".
function F.elements(g, dtype, n, spice, range)
  local t = model.data(dtype, n, g(), range == "wild")
  local ends = is_float[dtype] and edges or { model.lowest[dtype], model.highest[dtype], 0, 1, 2, 3, 7, 100 }
  if dtype == "i64" and not integers then ends = { 0, 1, 2, 3, 7, 100 } end
  spice = spice or 4
  for k = 1, n do
    if range == "small" and is_float[dtype] then t[k] = model.round[dtype](t[k] * 8)
    elseif range == "small" then t[k] = t[k] % 16 - (model.lowest[dtype] < 0 and 8 or 0) end
    if spice > 0 and g() % spice == 0 then
      local from = twice[dtype] and g() % 3 == 0 and twice[dtype] or ends
      t[k] = from[g() % #from + 1]
    end
    if is_float[dtype] then t[k] = t[k] * 1.0 elseif integers then t[k] = math.tointeger(t[k]) or t[k] end
  end
  return t
end

-- An array of them, or a view: every other element, backwards, from the second on.
local function view_of(g, t, dtype)
  local n = #t
  local way = g() % 4
  if way == 0 or n == 0 then return gr.array(t, dtype) end
  local step = way == 1 and 1 or way == 2 and 3 or -1
  local p = {}
  for k = 1, n * math.abs(step) + 2 do p[k] = 1 end
  for k = 1, n do p[step > 0 and (k - 1) * step + 2 or n + 2 - k] = t[k] end
  local a = gr.array(p, dtype)
  return step > 0 and a:slice(2, (n - 1) * step + 2, step) or a:slice(n + 1, 2, -1)
end

-- ---- drawing ----

local lengths = { 0, 1, 2, 3, 5, 7, 12, 17, 31, 32, 33, 60, 64, 65, 100, 129 }
local long = { 255, 300, 513, 1023, 1024, 1025, 1500, 2049, 3000 }
local unary = { "abs", "sign", "square", "floor", "ceil", "round", "trunc", "neg" }
local binary = { "minimum", "maximum", "fmod" }
local masks = { "isnan", "isinf", "isfinite", "lnot" }
local functions_1 = { "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
  "atan", "sinh", "cosh", "tanh", "rsqrt", "cbrt" }
local functions_2 = { "pow", "atan2", "hypot" }
local exponents = { -1, 0, 1, 2, 2, 2, 3, 4, 0.5, -2, 5, 1.5 }
local signs = { { "+", "add", 10 }, { "-", "sub", 10 }, { "*", "mul", 11 }, { "%", "mod", 11 },
  { "//", "floordiv", 11 } }
local of_bits = { "band", "bor", "bxor", "shl", "shr", "bnot" }

-- The trees of one formula; g draws. run: n, columns, its inputs by name.
local function grower(g, run)
  local make, mask
  local from, other = run.from, run.other
  local made = {} -- parts that may be said again
  local function pick(t) return t[g() % #t + 1] end

  local function leaf_of(text, dtype, each)
    local x = { text = text, precedence = 99, dtype = dtype, name = text, elements = {} }
    for k = 1, run.n do x.elements[k] = each(k) end
    return x
  end

  local function input()
    local way = g() % 10
    if way == 0 then
      local s = run.tables.s[1]
      return leaf_of("scalar(s)", from, function() return s end)
    elseif way == 1 and run.columns then
      local t = run.tables.v
      return leaf_of("row(v)", from, function(k) return t[(k - 1) % run.columns + 1] end)
    elseif way == 2 and run.columns then
      local t = run.tables.w
      return leaf_of("column(w)", from, function(k) return t[math.floor((k - 1) / run.columns) + 1] end)
    elseif way == 3 then
      return leaf_of("i", "i64", function(k) return k end)
    elseif way == 4 then
      return leaf_of("d", other, function(k) return run.tables.d[k] end)
    end
    local name = pick { "a", "b", "c" }
    return leaf_of(name, from, function(k) return run.tables[name][k] end)
  end

  local function leaf(t)
    local x = input()
    return x.dtype == t and x or cast(t, x)
  end

  -- One that t has, or the name of one, or two of them; without t any.
  local function constant(t)
    local way, anything = g() % 8, not t or is_float[t]
    if way < 3 then
      local name = way == 0 and "p" or way == 1 and "q" or "n"
      local x = name == "n" and run.n or run.numbers[name]
      if anything or x >= 0 and x < 100 and x == math.floor(x) then return number(name, x) end
    elseif way == 3 and anything then
      local x = pick { 0.5, 0.1, 2.5, 1e-3, 3.25 }
      return number(("%.17g"):format(x), x)
    elseif way == 4 then
      local x, y = g() % 7, g() % 7
      return number(x .. " * " .. y, x * y, 11)
    end
    local x = g() % 7
    return number(("%d"):format(x), x)
  end

  local function pair(d, t, any_number)
    local which = g() % 6
    local place = not any_number and t or nil
    local a = which == 0 and constant(place) or make(d - 1, t)
    return a, which == 1 and constant(place) or make(d - 1, t)
  end

  local function any(d)
    return make(d, pick { from, from, from, from, other, "f32", "f64", "u8" })
  end

  function mask(d)
    local way = g() % 12
    if way == 0 then return denied(g() % 2 == 0 and mask(d - 1) or any(d - 1))
    elseif way < 3 and d > 1 then
      return joined(way == 1 and "and" or "or", g() % 4 == 0 and any(d - 1) or mask(d - 1),
        g() % 8 == 0 and constant() or mask(d - 1), run)
    elseif way == 3 then
      local x = any(d - 1)
      return call(pick(masks), x.dtype, x)
    elseif way == 4 then
      local a = any(d - 1)
      return call(pick { "land", "lor" }, a.dtype, a, make(d - 1, a.dtype))
    end
    local t = pick { from, from, from, other }
    local a, b = pair(d, t, true)
    return compared(pick(E.signs), a, b)
  end

  -- What only floats have, or what gives them of other dtypes.
  local function floating(d, t)
    local way = g() % 8
    local of = t
    if t == "f64" and g() % 3 == 0 then of = pick { "i32", "u8", "i16", from, t } end
    if is_float[of] and of ~= t then of = t end
    if of == "i64" and not integers then of = t end
    if way < 2 then
      local a, b = pair(d, of)
      return infix("/", "div", 11, of, a, b)
    elseif way == 2 then
      return call("sqrt", of, make(d - 1, of))
    elseif way == 3 then
      local k = pick(exponents)
      return power(make(d - 1, of), k, ("%.14g"):format(k))
    elseif way == 4 then
      local a, b = pair(d, of)
      return call(pick(functions_2), of, a, b)
    end
    return call(pick(functions_1), of, make(d - 1, of))
  end

  local function arithmetic(d, t)
    local way = g() % 12
    local sign = signs[way < 8 and way % 3 + 1 or way % 5 + 1]
    local a, b = pair(d, t)
    return infix(sign[1], sign[2], sign[3], t, a, b)
  end

  local function some(d, t)
    local way = g() % 16
    if t == "i64" and not integers then return leaf(t) end -- it wraps where Lua has no integers
    if t == "u8" and way < 4 then return mask(d) end
    if way < 6 then return arithmetic(d, t)
    elseif way < 9 and is_float[t] then return floating(d, t)
    elseif way == 9 then
      local a = make(d - 1, t)
      local x = applied("neg", t, a)
      x.precedence, x.text = 12, "-" .. (a.text:sub(1, 1) == "-" and "(" .. a.text .. ")" or within(a, 12))
      return x
    elseif way == 10 then return call(pick(unary), t, make(d - 1, t))
    elseif way == 11 then
      local a, b = pair(d, t)
      return call(pick(binary), t, a, b)
    elseif way == 12 then
      local low = g() % 5
      return call("clamp", t, make(d - 1, t), number(("%d"):format(low), low), number(("%d"):format(low + 3), low + 3))
    elseif way < 15 then
      local c = g() % 4 == 0 and any(d - 1) or mask(d - 1)
      if way == 13 then
        local a, b = pair(d, t)
        return chosen(c, a, b)
      end
      return chosen(c, make(d - 1, t), make(d - 1, t), true)
    elseif not is_float[t] and E.of_bits.band then
      local name = pick(of_bits)
      local a, b = pair(d, t)
      if name == "bnot" then return call(name, t, make(d - 1, t)) end
      return call(name, t, a, b)
    end
    local u = pick { from, other, "f64", "i32" }
    return cast(t, make(d - 1, u))
  end

  function make(d, t)
    if d <= 0 then return leaf(t) end
    if #made > 0 and g() % 12 == 0 then
      local x = made[g() % #made + 1]
      if x.dtype == t then return x end
    end
    local x = some(d, t)
    made[#made + 1] = x
    return x
  end

  return make, mask
end

-- A formula of inputs of dtype `from`, drawn by g, with arrays on the device in use. given: n, plain = true for arrays
-- that are no views; record(name, dtype, x, y, results) is told of each function's elements.
-- Has: text, dtype, n, inputs, and elements() and array() as said above.
function F.draw(g, from, given)
  given = given or {}
  local run = { from = from, tables = {}, arrays = {}, numbers = {}, record = given.record }
  local depth = 1 + g() % 5
  run.n = given.n or (g() % 12 == 0 and long[g() % #long + 1] or lengths[g() % #lengths + 1])
  run.other = model.dtypes[g() % #model.dtypes + 1]
  if run.other == "i64" and not integers then run.other = "i32" end
  if run.n > 0 and g() % 4 == 0 then
    local rows = ({ 1, 2, 3, 5, run.n })[g() % 5 + 1]
    if run.n % rows == 0 then run.columns = run.n / rows end
  end
  local spice, range = ({ 0, 4, 16, 0 })[g() % 4 + 1], ({ "small", "wild", "", "small" })[g() % 4 + 1]
  local sizes = { a = run.n, b = run.n, c = run.n, s = 1, d = run.n, v = run.columns,
    w = run.columns and run.n / run.columns }
  for _, name in ipairs { "a", "b", "c", "d", "s", "v", "w" } do
    local t = name == "d" and run.other or from
    if sizes[name] then run.tables[name] = F.elements(g, t, sizes[name], spice, range) end
  end
  run.numbers = { p = g() % 5, q = g() % 100 }
  if is_float[from] then run.numbers = { p = g() % 5 - 2.5, q = g() % 100 / 8 } end
  local make, mask = grower(g, run)
  local way = g() % 12
  local root = way < 2 and mask(depth) or make(depth, way < 5 and run.other or from)
  local f = { text = root.text, dtype = root.dtype, n = run.n, from = from, other = run.other, tables = run.tables,
    inputs = { n = run.n } }
  local function uses(name) return f.text:find("%f[%w_]" .. name .. "%f[^%w_]") end
  for _, name in ipairs { "a", "b", "c", "d", "s", "v", "w" } do
    if run.tables[name] and uses(name) then
      local t = name == "d" and run.other or from
      local x = given.plain and gr.array(run.tables[name], t) or view_of(g, run.tables[name], t)
      f.inputs[name], run.arrays[name] = x, x
    end
  end
  for name, x in pairs(run.numbers) do f.inputs[name] = uses(name) and x or nil end
  function f.elements() return elements_of(root, run) end
  function f.array() -- functions have been called for the model before
    f.elements()
    return array_of(root, run)
  end
  return f
end

return F
