-- The calls that the fuzzer makes. Each has a way to draw its arguments, which are plain values, so that a list of
-- calls can be written down, cut and run again; and a way to run, which skips what an earlier call did not leave.
local W = require "spec.hostile.world"
local E = require "spec.elements"
local close = require "spec.close"
local gr, model, v = W.gr, W.model, W.v
local huge, nan, floor = math.huge, model.nan, math.floor
local is_float, whole = model.is_float, W.whole
local same, same_all, try, at, list = W.same, W.same_all, W.try, W.at, W.list

local SLOTS = 8
local dtypes = { "f32", "f64", "f32", "f64", "i32", "u8", "i64", "f16", "bf16", "i8", "u16", "u32", "i16" }
local lengths = { 0, 1, 2, 3, 7, 12, 12, 12, 16, 33, 60, 60, 64, 100, 129, 300, 300, 300, 1100 }

local C, order = {}, {} -- name -> { draw, run, weight }
local function call(name, weight, draw, run)
  C[name] = { draw = draw, run = function(...) return W.run(run, ...) end }
  for _ = 1, weight do order[#order + 1] = name end
end

-- Draws: r(n) is 1 .. n.
local function slot(r) return r(SLOTS) end
local function pick(r, t) return t[r(#t)] end

-- The model of slot k, or nil: then the call is left out.
local function get(k) return v[k] end

-- An optional `into` for n results of a dtype: slot k when it is drawn; whether it must be refused.
local function destination(k, n, dtype, device, ...)
  local m = k and v[k]
  if not m or m.n == 1 then return nil end -- steps of one element mean nothing
  local bad = m.dead and "into released" or m.n ~= n and "into length" or m.store.dtype ~= dtype and "into dtype"
    or m.store.device ~= device and "into device"
  for j = 1, select("#", ...) do
    local input = select(j, ...)
    local itself = W.identical(m, input) and m.store.dtype == input.store.dtype
    if W.overlap(m, input) and not itself then bad = bad or "overlap" end
  end
  return m, bad or nil
end

-- Take array results: into m (whose elements are now those) or to slot k.
local function take(k, m, result, dtype, expected, n, what, compare)
  same_all(expected, n, dtype, result, what, compare)
  local nearly = compare or dtype == "i64" and not math.type -- doubles do not hold all of these
  local t = nearly and result:table() or expected
  if m then
    if result ~= m.a then W.fault("%s: another array than into", what) end
    for j = 1, n do W.store(m, j, t[j]) end
  elseif k then W.put(k, result, dtype, t, n) end
end

-- ---- making, looking ----

local specials = { nan, huge, -huge, 0.0, model.minus_zero }
local function numbers(dtype, n, seed, kind)
  local g, t = model.generator(seed), {}
  for k = 1, n do
    local x
    if kind == "small" then x = g() % 7 - (model.lowest[dtype] == 0 and 0 or 3)
    elseif kind == "special" and is_float[dtype] and g() % 9 == 0 then x = specials[g() % 5 + 1]
    else x = model.draw(g, dtype, kind == "wild") end
    t[k] = is_float[dtype] and x * 1.0 or whole(x)
  end
  return t
end
W.numbers = numbers

call("make", 8, function(r)
  return slot(r), pick(r, dtypes), pick(r, lengths), r(1e6), pick(r, { "small", "small", "special", "wild", "" }),
    pick(r, { "table", "bytes" })
end, function(k, dtype, n, seed, kind, way)
  local t = numbers(dtype, n, seed, kind)
  local r = try(false, "make", function()
    return way == "table" and gr.array(t, dtype) or gr.frombytes(model.pack(t, dtype, n), dtype)
  end)
  if r then W.put(k, r[2], dtype, t, n) end
end)

call("constant", 3, function(r)
  return slot(r), pick(r, dtypes), pick(r, lengths), pick(r, { "zeros", "ones", "full", "arange" })
end, function(k, dtype, n, name)
  local t, base = {}, name == "zeros" and 0 or name == "ones" and 1 or 5
  n = name == "arange" and n > 100 and 100 or n
  for j = 1, n do t[j] = name == "arange" and j or base end
  local r = try(false, name, function()
    if name == "full" then return gr.full(n, 5, dtype) end
    if name == "arange" then return gr.arange(1, n, dtype) end
    return gr[name](n, dtype)
  end)
  if r then W.put(k, r[2], dtype, t, n) end
end)

call("random", 1, function(r)
  return slot(r), pick(r, { "rand", "randn" }), pick(r, lengths), r(100)
end, function(k, name, n, seed)
  local r = try(false, name, gr[name], n, "f64", { seed = seed })
  if not r then return end
  local t = r[2]:table()
  same_all(t, n, "f64", gr[name](n, "f64", { seed = seed }), name)
  W.put(k, r[2], "f64", t, n)
end)

call("view", 6, function(r)
  return slot(r), slot(r), r(400), r(400), pick(r, { 1, 1, 2, 3, -1, -2, 5 })
end, function(k, from, i, j, step)
  local m = get(from)
  if not m or m.n == 0 then return end
  i, j = (i - 1) % m.n + 1, (j - 1) % m.n + 1
  if (step > 0) ~= (i <= j) then i, j = j, i end
  local r = try(W.unfit(m), "slice", gr.slice, m.a, i, j, step)
  if r then
    local n = floor((j - i) / step) + 1
    v[k] = { a = r[2], store = m.store, first = m.first + (i - 1) * m.step, step = m.step * step, n = n }
    same(v[k].n, #r[2], "length of a view")
  end
end)

call("read", 4, function(r) return slot(r), r(400) end, function(k, i)
  local m = get(k)
  local r = m and try(W.unfit(m), "read", function() return m.a[i], #m.a, m.a.dtype end)
  if not r then return end
  same(i <= m.n and at(m)(i) or nil, r[2], "element")
  same(m.n, r[3], "length")
  same(m.store.dtype, r[4], "dtype")
end)

call("write", 4, function(r) return slot(r), r(400), r(6) end, function(k, i, x)
  local m = get(k)
  if not m then return end
  local r = try(W.unfit(m) or i > m.n and "position", "write", function() m.a[i] = x end)
  if r then W.store(m, i, x) else W.resync(m) end
end)

call("fill", 2, function(r) return slot(r), r(6) end, function(k, x)
  local m = get(k)
  if not m then return end
  if not try(W.unfit(m), "fill", gr.fill, m.a, x) then return W.resync(m) end
  for j = 1, m.n do W.store(m, j, x) end
end)

call("look", 4, function(r) return slot(r), r(5) end, function(k, way)
  local m = get(k)
  if not m then return end
  local bad = W.unfit(m)
  if way == 1 then
    local r = try(bad, "bytes", gr.bytes, m.a)
    if r and W.defined(m) then same(model.pack(list(m), m.store.dtype, m.n), r[2], "bytes") end
  elseif way == 2 then
    local r = try(bad, "digest", function() return m.a:digest(), m.a:copy():digest() end)
    if r then same(r[2], r[3], "digest of a view and its copy") end
  elseif way == 3 then
    local r = try(bad, "info", gr.info, m.a)
    if r then same(m.n, r[2].n, "info") end
  elseif way == 4 then same("string", type(tostring(m.a)), "tostring")
  else
    local r = try(bad, "table", gr.table, m.a)
    if r then same_all(list(m), m.n, m.store.dtype, m.a, "table") end
  end
end)

call("copy", 4, function(r) return slot(r), slot(r), r(3) == 1 and slot(r) end, function(k, from, into)
  local m = get(from)
  if not m then return end
  local to, bad = destination(into, m.n, m.store.dtype, v[into] and v[into].store.device)
  if to and W.overlap(to, m) then bad = "overlap" end
  local t = list(m)
  local r = try(W.unfit(m) or bad, "copy", gr.copy, m.a, to and { into = to.a } or nil)
  if r then take(k, to, r[2], m.store.dtype, t, m.n, "copy") elseif to then W.resync(to) end
end)

call("equal", 2, function(r) return slot(r), slot(r) end, function(j, k)
  local m, o = get(j), get(k)
  if not m or not o then return end
  local fits = m.store.dtype == o.store.dtype and m.n == o.n
  local want, p, q = fits, at(m), at(o)
  for i = 1, fits and m.n or 0 do -- as numbers
    local x, y = p(i), q(i)
    want = want and (x == y or x ~= x and y ~= y)
  end
  local bad = W.unfit(m, o)
  if bad == "device" and not fits then return end
  local r = try(bad, "equal", gr.equal, m.a, o.a)
  if r then same(want, r[2], "equal") end
end)

call("close", 3, function(r) return slot(r), slot(r), r(4) end, function(j, k, way)
  local m, o = get(j), get(k)
  if not m or not o then return end
  local strict = way == 1
  local rtol, atol = strict and 0 or way == 2 and 0.25 or 1e-5, strict and 0 or way == 2 and 1 or 1e-8
  local bad = W.unfit(m, o) or m.n ~= o.n and "length"
  local first, mask
  if not bad then first, mask = close.compare(list(m), list(o), rtol, atol, strict) end
  local options = { rtol = rtol, atol = atol, nan_equal = strict }
  local r = try(bad, "allclose", gr.allclose, m.a, o.a, options)
  local exact = math.type or (m.store.dtype ~= "i64" and o.store.dtype ~= "i64") -- doubles do not hold all of these
  if r and exact then same(first == nil, r[2], "allclose") end
  r = try(bad, "differ", gr.differ, m.a, o.a, not strict and options or nil)
  if r and exact then
    same(first, r[2], "differ")
    if first and W.defined(m) and W.defined(o) then same(at(m)(first), r[3], "element that differs") end
  end
  r = try(bad, "isclose", gr.isclose, m.a, o.a, options)
  if r and exact then same_all(mask, m.n, "u8", r[2], "isclose") end
end)

-- ---- element by element ----

-- Operators of one and of two operands: exact ones, functions (whose results are known within some ulps), and bits.
local exact_2 = { "add", "sub", "mul", "div", "add", "sub", "mul", "div", "floordiv", "mod", "fmod", "minimum",
  "maximum", "land", "lor" }
local near_2, of_bits = { "pow", "atan2", "hypot" }, { "band", "bor", "bxor", "shl", "shr" }
local exact_1 = { "neg", "abs", "square", "sqrt", "neg", "abs", "sign", "floor", "ceil", "round", "trunc", "isnan",
  "isinf", "isfinite", "lnot" }
local near_1 = { "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
  "sinh", "cosh", "tanh", "rsqrt", "cbrt" }

-- What op gives for elements of the dtype, how two results are compared (nil: by their bits), and whether the dtype has
-- no such operator. Nothing where the model cannot say: whole numbers that wrap beyond what doubles hold.
local function element(op, dtype)
  if op == "bnot" or op:find "^b" or op:find "^sh" then
    if is_float[dtype] then return function() return 0 end, nil, "dtype" end
    if not E.of_bits[op] then return nil end
  end
  local i64 = dtype == "i64" and not math.type
  if i64 and (op == "mul" or op == "square" or op:find "mod" or op == "floordiv") then return nil end
  local near = E.near[op]
  if not near then
    local f, keep = E.exact[op], is_float[E.result(op, dtype)] and function(x) return x end or whole
    return function(x, y) return keep(f(dtype, x, y)) end
  end
  local out = E.result(op, dtype)
  return function(x, y) return near(x * 1.0, y and y * 1.0) end, function(expected, got, what)
    if not E.is_near(out, expected, got) then same(expected, got, what) end
  end
end

local infix = {
  add = function(x, y) return x + y end, sub = function(x, y) return x - y end, mul = function(x, y) return x * y end,
  div = function(x, y) return x / y end, mod = function(x, y) return x % y end, pow = function(x, y) return x ^ y end,
}

call("binary", 16, function(r)
  local kind = r(10)
  return slot(r), pick(r, kind < 7 and exact_2 or kind < 9 and near_2 or of_bits), slot(r),
    r(3) == 1 and "number" or slot(r), r(4) == 1 and slot(r), r(4)
end, function(k, op, x, y, into, number)
  local m, o = get(x), y ~= "number" and get(y)
  if not m or (y ~= "number" and not o) then return end
  local dtype, bad = m.store.dtype, W.unfit(m, o or m)
  local f, compare, lacks = element(op, dtype)
  if not f then return end
  if o and (o.store.dtype ~= dtype or o.n ~= m.n) then bad = bad or "do not fit" end
  bad = bad or lacks
  local out = E.result(op, dtype)
  local to, refused = destination(into, m.n, out, m.store.device, m, o or m)
  local t, p, q = {}, at(m), o and not bad and at(o) or function() return number end
  for j = 1, m.n do t[j] = not bad and f(p(j), q(j)) end
  local r = try(bad or refused, op, function()
    local b = o and o.a or number
    if to then return gr[op](m.a, b, { into = to.a }) end
    return (k % 2 == 1 and infix[op] or gr[op])(m.a, b)
  end)
  if r then take(k, to, r[2], out, t, m.n, op, compare) elseif to then W.resync(to) end
end)

call("unary", 12, function(r)
  local kind = r(10)
  return slot(r), pick(r, kind < 5 and exact_1 or kind < 10 and near_1 or { "bnot" }), slot(r), r(4) == 1 and slot(r)
end, function(k, op, x, into)
  local m = get(x)
  if not m then return end
  local dtype, t, p = m.store.dtype, {}, at(m)
  local f, compare, lacks = element(op, dtype)
  if not f then return end
  local out = E.result(op, dtype)
  local to, refused = destination(into, m.n, out, m.store.device, m)
  for j = 1, m.n do t[j] = f(p(j)) end
  local r = try(W.unfit(m) or lacks or refused, op, gr[op], m.a, to and { into = to.a } or nil)
  if r then take(k, to, r[2], out, t, m.n, op, compare) elseif to then W.resync(to) end
end)

call("clamp", 2, function(r) return slot(r), slot(r) end, function(k, x)
  local m = get(x)
  if not m then return end
  local t, p = {}, at(m)
  for j = 1, m.n do
    local e = p(j)
    t[j] = e < 1 and 1 or e > 3 and 3 or e
  end
  local r = try(W.unfit(m), "clamp", gr.clamp, m.a, 1, 3)
  if r then take(k, nil, r[2], m.store.dtype, t, m.n, "clamp") end
end)

call("cast", 4, function(r) return slot(r), slot(r), pick(r, dtypes) end, function(k, x, dtype)
  local m = get(x)
  if not m then return end
  local t, p = {}, at(m)
  for j = 1, m.n do t[j] = E.cast(dtype, p(j)) end
  local r = try(W.unfit(m), "cast", gr.cast, m.a, dtype)
  if r then take(k, nil, r[2], dtype, t, m.n, "cast to " .. dtype) end
end)

call("compare", 4, function(r) return slot(r), pick(r, E.signs), slot(r), r(2) == 1 and slot(r), r(4) end,
function(k, op, x, y, number)
  local m, o = get(x), y and get(y)
  if not m or (y and not o) then return end
  local bad = W.unfit(m, o or m) or o and (o.n ~= m.n or o.store.dtype ~= m.store.dtype) and "do not fit"
  local t, p, q = {}, at(m), o and at(o) or function() return number end
  for j = 1, m.n do t[j] = not bad and E.relations[op](p(j), q(j)) and 1 or 0 end
  local r = try(bad, "compare", gr.compare, m.a, op, o and o.a or number)
  if r then take(k, nil, r[2], "u8", t, m.n, "compare") end
end)

call("choose", 4, function(r)
  return slot(r), slot(r), slot(r), pick(r, { "where", "compact" }), r(4) == 1 and slot(r)
end, function(k, mask, x, name, into)
  local c, m = get(mask), get(x)
  if not c or not m then return end
  local bad = W.unfit(m, c) or (c.store.dtype ~= "u8" or c.n ~= m.n) and "mask"
  local t, p, q, n = {}, at(m), at(c), 0
  for j = 1, bad and 0 or m.n do
    if name == "where" then t[j], n = q(j) ~= 0 and p(j) or 2, m.n
    elseif q(j) ~= 0 then
      n = n + 1
      t[n] = p(j)
    end
  end
  local to, refused
  if name == "where" then to, refused = destination(into, n, m.store.dtype, m.store.device, m, c) end
  if to and W.identical(to, c) then return end
  local r = try(bad or refused, name, function()
    if name == "where" then return gr.where(c.a, m.a, 2, to and { into = to.a } or nil) end
    return gr.compact(m.a, c.a)
  end)
  if r then take(k, to, r[2], m.store.dtype, t, n, name) elseif to then W.resync(to) end
end)

C.order, C.SLOTS, C.pick, C.lengths, C.dtypes = order, SLOTS, pick, lengths, dtypes
C.call, C.slot, C.get, C.destination, C.take = call, slot, get, destination, take
return C
