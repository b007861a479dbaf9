-- The fuzzer's calls that reduce: to numbers, by rows and segments, later, many at once, scans, histograms; beside the
-- scalar model of spec/model.lua.
local W = require "spec.hostile.world"
local C = require "spec.hostile.calls"
local F = require "spec.missing"
local gr, model = W.gr, W.model
local is_float, whole = model.is_float, W.whole
local same, same_all, try, at, list = W.same, W.same_all, W.try, W.at, W.list
local call, slot, pick, get, take = C.call, C.slot, C.pick, C.get, C.take

local names = { "sum", "prod", "mean", "var", "std", "min", "max", "minmax", "argmin", "argmax", "any", "all", "count",
  "norm", "logsumexp" }

-- What a reduction of numbers p(first) .. gives, or nil where the model does not know.
local function reduced(op, dtype, n, p)
  if op == "minmax" then op = "min" end
  if n == 0 and (op == "min" or op == "max" or op == "argmin" or op == "argmax") then return nil, true end
  if op == "prod" and not is_float[dtype] then
    local s = 1
    for k = 1, n do s = s * p(k) end
    return s
  end
  if op == "count" or op == "any" or op == "all" then return model.reduce[op](dtype, n, p) end
  if op == "norm" then return model.reduce.norm2(dtype, n, p) end
  return model.reduce[op](dtype, n, p)
end

local function result_dtype(op, dtype)
  if op == "min" or op == "max" then return dtype end
  if op == "argmin" or op == "argmax" or op == "count" then return "i64" end
  if op == "any" or op == "all" then return "u8" end
  if (op == "sum" or op == "prod" or op == "dot") and not is_float[dtype] then return "i64" end
  return "f64"
end

local function part(p, first, step) return function(k) return p(first + (k - 1) * step) end end

-- Results of op for a way to read m: a list of numbers (minmax: two lists), and how many; or nil and why it must raise.
local function expected(op, m, way, count)
  local dtype, p, n = m.store.dtype, at(m), m.n
  local t, lengths = {}, {}
  if way == "rows" or way == "columns" then
    if n % count ~= 0 then return nil, "rows" end
    local columns = n / count
    for k = 1, way == "rows" and count or columns do
      lengths[k] = way == "rows" and columns or count
      t[k] = way == "rows" and part(p, (k - 1) * columns + 1, 1) or part(p, k, columns)
    end
  elseif way == "segments" then
    local cut = whole(math.floor(n / 2)) + 1
    t, lengths = { part(p, 1, 1), part(p, cut, 1) }, { cut - 1, n + 1 - cut }
  end
  for k = 1, #t do
    local r, empty = reduced(op, dtype, lengths[k], t[k])
    if empty then return nil, "empty" end
    if r == true or r == false then r = r and 1 or 0 end
    t[k] = r
  end
  return t, #t
end

-- Ways that the model does not follow: an overflow on the way is scaled by the module.
local function known(op, dtype)
  if not math.type and op == "prod" and not is_float[dtype] then return false end -- it wraps where Lua has no integers
  return not (dtype == "i64" and (op == "var" or op == "std" or op == "mean" or op == "norm"))
end

local function options_for(m, way, count)
  if way == "rows" then return { rows = count } end
  if way == "columns" then return { rows = count, axis = 1 } end
  if way == "segments" then
    local cut = whole(math.floor(m.n / 2)) + 1
    return { segments = { 1, cut, m.n + 1 } }
  end
end

call("reduce", 14, function(r)
  return pick(r, names), slot(r), r(3) == 1 and slot(r), pick(r, { "get", "get", "get(0)", "done", "lost" }), r(4)
end, function(op, k, other, later, spot)
  local m = get(k)
  if not m then return end
  local want, empty = reduced(op, m.store.dtype, m.n, at(m))
  local want2
  if op == "minmax" and not empty then
    want, want2 = reduced("min", m.store.dtype, m.n, at(m)), reduced("max", m.store.dtype, m.n, at(m))
  end
  local bad = W.unfit(m) or empty and "empty"
  local check = known(op, m.store.dtype) and same or function() end
  if other then
    local r = try(bad, op .. " later", gr.async, gr[op], m.a)
    if not r then return end
    local f = r[2]
    if later == "lost" then return end
    W.futures[#W.futures % 4 + 1] = { f = f, check = function(x, y)
      check(want, x, op .. " later")
      if want2 then check(want2, y, op .. " later") end
    end }
    if later == "done" then f:done() elseif later == "get(0)" then f:get(0) end
    return
  end
  local r = try(bad, op, spot == 1 and gr[op] or function(a) return a[op](a) end, m.a)
  if r then
    check(want, r[2], op)
    if want2 then check(want2, r[3], op) end
  end
end)

-- An operator that says the same in words of its own, where there is one.
local merges = { sum = "s1 + s2", prod = "s1 * s2" }
local operators = {}
local function in_words(op, dtype)
  if not merges[op] or (op == "sum" and (dtype == "f16" or dtype == "bf16")) then return gr[op] end
  local map = is_float[dtype] and "f64(x)" or "i64(x)"
  operators[op .. map] = operators[op .. map]
    or gr.operator { state = "s", map = map, merge = merges[op], identity = op == "prod" and 1 or 0 }
  return operators[op .. map]
end

call("parts", 8, function(r)
  return slot(r), pick(r, names), slot(r), pick(r, { "rows", "columns", "segments" }), pick(r, { 1, 2, 3, 4, 6, 12 }),
    r(3) == 1 and slot(r), r(2) == 1
end, function(k, op, x, way, count, into, own)
  local m = get(x)
  if not m or op == "minmax" then return end
  local t, n = expected(op, m, way, count)
  if not t and n == "empty" and m.n == 0 and way ~= "segments" then return end -- rows of nothing: whatever it says
  local bad, dtype = W.unfit(m) or not t and n, result_dtype(op, m.store.dtype)
  local to, refused
  if into and t then to, refused = C.destination(into, n, dtype, m.store.device, m) end
  if to and W.overlap(to, m) then return end
  local options = options_for(m, way, count)
  options.into = to and to.a
  local f = own and in_words(op, m.store.dtype) or gr[op]
  local r = try(bad or refused, op .. " of " .. way, f, m.a, options)
  if not r then return to and W.resync(to) end
  if not known(op, m.store.dtype) then
    t = r[2]:table()
    same(n, #t, op .. " of " .. way)
  end
  take(k, to, r[2], dtype, t, n, op .. " of " .. way)
end)

-- Of what is present: NaN or what a comparison leaves out.
call("present", 6, function(r)
  return slot(r), pick(r, names), r(2) == 1, r(2) == 1
end, function(x, op, skip, masked)
  local m = get(x)
  if not m or m.n == 0 or W.unfit(m) or op == "minmax" or not known(op, m.store.dtype) then return end
  local t, mask, dtype = list(m), nil, m.store.dtype
  if op == "prod" and not is_float[dtype] then return end
  if masked then
    mask = {}
    for k = 1, m.n do mask[k] = t[k] > 1 and 1 or 0 end
  end
  local there = F.there(m.n, t, skip, mask)
  local none = F.count(there) == 0 and (op == "min" or op == "max" or op == "argmin" or op == "argmax")
  local made = masked and try(false, "compare", m.a.compare, m.a, ">", 1)
  if masked and not made then return end
  local r = try(none and "empty", op .. " of what is present", gr[op], m.a,
    { skipnan = skip, mask = made and made[2] or nil })
  if r then same(F.reduce[op == "norm" and "norm2" or op](dtype, t, there), r[2], op .. " of what is present") end
end)

call("leave", 2, function(r)
  return pick(r, { "sum", "max", "argmin" }), slot(r), slot(r), r(4)
end, function(op, x, into, spot)
  local m, to = get(x), get(into)
  if not m or not to then return end
  local dtype = result_dtype(op, m.store.dtype)
  local want, empty = reduced(op, m.store.dtype, m.n, at(m))
  local fits = to.store.dtype == dtype
  if not fits and is_float[dtype] and is_float[to.store.dtype] then return end -- rounded, where it may be
  local bad = W.unfit(m, to) or empty and "empty" or spot > to.n and "place" or not fits and "dtype"
  local one = { store = to.store, first = to.first + (spot - 1) * to.step, step = 1, n = 1 }
  if W.overlap(one, m) then bad = bad or "overlap" end
  local r = try(bad, op .. " into one place", gr[op], m.a, { into = to.a, at = spot })
  if not r then return W.resync(to) end
  same(want, to.a[spot], op .. " into one place")
  W.store(to, spot, to.a[spot])
end)

call("pair", 5, function(r)
  return pick(r, { "dot", "mse", "cosine" }), slot(r), slot(r), r(3) == 1
end, function(op, x, y, exact)
  local m, o = get(x), get(y)
  if not m or not o then return end
  local dtype = m.store.dtype
  local bad = W.unfit(m, o) or (dtype ~= o.store.dtype or m.n ~= o.n) and "do not fit"
  if not bad and (dtype == "i64" or not math.type) and not is_float[dtype] and op ~= "dot" then return end
  local want = not bad and model.reduce[op](dtype, m.n, at(m), at(o))
  local r = try(bad, op, gr[op], m.a, o.a, exact and { exact = true } or nil)
  if r and not exact then same(want, r[2], op) end
end)

call("many", 5, function(r)
  local items = {}
  for k = 1, r(5) do
    items[k] = { pick(r, { "sum", "max", "minmax", "argmax", "count", "sum" }), slot(r), r(4) == 1 and "rows" }
  end
  return items, pick(r, { "now", "now", "later", "async", "lost" })
end, function(items, way)
  local input, want, bad = {}, {}, nil
  for k, item in ipairs(items) do
    local m = get(item[2])
    if not m then return end
    local op, p, dtype = item[1], at(m), m.store.dtype
    bad = bad or W.unfit(m)
    if item[3] then
      op = "sum"
      if m.n == 0 then return end
      want[#want + 1] = { rows = expected(op, m, "rows", 1) }
    else
      for _, each in ipairs(op == "minmax" and { "min", "max" } or { op }) do
        local x, empty = reduced(each, dtype, m.n, p)
        bad = bad or empty and "empty"
        want[#want + 1] = { x }
      end
    end
    input[k] = { op, m.a, item[3] and { rows = 1 } or nil }
  end
  local function check(...)
    if not W.checking then return end
    for k = 1, #want do
      local x = select(k, ...)
      if want[k].rows then same_all(want[k].rows, 1, nil, x, "many, item " .. k)
      else same(want[k][1], x, "many, result " .. k) end
    end
    same(#want, select("#", ...), "results of many")
  end
  if way == "now" then
    local r = try(bad, "many", gr.many, input)
    if r then check(W.unpack(r, 2, r.n)) end
    return
  end
  local r = try(bad, "many later", function()
    if way == "async" then return gr.async(gr.many, input) end
    return gr.many(input, { async = true })
  end)
  if r and way ~= "lost" then W.futures[#W.futures % 4 + 1] = { f = r[2], check = check } end
end)

call("ask", 7, function(r)
  return r(4), pick(r, { "get", "get", "get(1)", "done", "drop", "text" })
end, function(k, way)
  local future = W.futures[k]
  if not future then return end
  if way == "drop" then W.futures[k] = false return end
  local r = try(false, "future", function()
    if way == "done" then return future.f:done() elseif way == "text" then return tostring(future.f) end
    return future.f:get(way == "get(1)" and 5 or nil)
  end)
  if r and way:sub(1, 3) == "get" then future.check(W.unpack(r, 2, r.n)) end
end)

call("scan", 5, function(r)
  return slot(r), slot(r), pick(r, { "sum", "prod", "min", "max" }), r(2) == 1, r(2) == 1, r(4) == 1 and slot(r)
end, function(k, x, op, exclusive, reverse, into)
  local m = get(x)
  if not m then return end
  local dtype = m.store.dtype
  local out = model.scan_dtype(op, dtype)
  local t = model.scan(op, dtype, m.n, at(m), exclusive, reverse)
  local to, refused = C.destination(into, m.n, out, m.store.device, m)
  if not math.type and op == "prod" and not is_float[dtype] then return end
  local options = { exclusive = exclusive, reverse = reverse, into = to and to.a }
  local r = try(W.unfit(m) or refused, "scan", gr.scan, m.a, op, options)
  if r then take(k, to, r[2], out, t, m.n, "scan " .. op) elseif to then W.resync(to) end
end)

call("histogram", 4, function(r) return slot(r), r(20), r(2) == 1, r(3) == 1 end, function(x, bins, edges, later)
  local m = get(x)
  if not m then return end
  local p, options = at(m), { bins = bins, min = -3, max = 9 }
  if edges then options = { edges = { -3, 0, 0.5, 9 } } end
  local r = try(W.unfit(m), "histogram", function()
    if later then return gr.async(gr.histogram, m.a, options):get() end
    return gr.histogram(m.a, options)
  end)
  if not r then return end
  local h = r[2]
  local e, counts, tails = h.edges:table(), {}, { below = 0, above = 0, nan = 0 }
  for k = 1, #e - 1 do counts[k] = 0 end
  for j = 1, m.n do
    local value = p(j)
    if value ~= value then tails.nan = tails.nan + 1
    elseif value < e[1] then tails.below = tails.below + 1
    elseif value > e[#e] then tails.above = tails.above + 1
    else
      local k = 1
      while k < #e - 1 and value >= e[k + 1] do k = k + 1 end
      counts[k] = counts[k] + 1
    end
  end
  same_all(counts, #e - 1, "i64", h.counts, "histogram")
  for name, value in pairs(tails) do same(value, h[name], "histogram: " .. name) end
  same("string", type(h:plot { width = 40, height = 3, ascii = true }), "plot")
end)

call("bincount", 2, function(r) return slot(r), slot(r) end, function(k, x)
  local m = get(x)
  if not m or m.store.dtype ~= "u8" then return end
  local t, p, n = {}, at(m), 0
  for j = 1, m.n do n = math.max(n, p(j) + 1) end
  for j = 1, n do t[j] = 0 end
  for j = 1, m.n do t[p(j) + 1] = t[p(j) + 1] + 1 end
  local r = try(W.unfit(m), "bincount", gr.bincount, m.a)
  if r then take(k, nil, r[2], "i64", t, n, "bincount") end
end)

call("quantile", 4, function(r)
  return slot(r), pick(r, { 0, 0.1, 0.5, 0.77, 1 }), pick(r, { "lower", "higher" })
end, function(x, q, method)
  local m = get(x)
  if not m then return end
  local t, undefined = list(m), false
  for _, e in ipairs(t) do undefined = undefined or e ~= e end
  if not undefined then table.sort(t) end
  local place = q * (m.n - 1)
  local want = t[(method == "lower" and math.floor(place) or math.ceil(place)) + 1]
  local r = try(W.unfit(m) or m.n == 0 and "empty", "quantile", gr.quantile, m.a, q, { method = method })
  if r then same(undefined and model.nan or want, r[2], "quantile") end
end)

call("rows", 3, function(r)
  return slot(r), pick(r, { "softmax", "rmsnorm" }), slot(r), pick(r, { 1, 2, 3, 12 })
end, function(k, op, x, rows)
  local m = get(x)
  if not m then return end
  local dtype = m.store.dtype
  local bad = W.unfit(m) or not is_float[dtype] and "dtype" or m.n % rows ~= 0 and "rows"
  local r = try(bad, op, function()
    if op == "softmax" then return gr.softmax(m.a, { rows = rows }) end
    return gr.rmsnorm(m.a, nil, { rows = rows })
  end)
  if not r or m.n == 0 then return end
  local t = {}
  if op == "rmsnorm" then
    local columns = m.n / rows
    for j = 1, rows do
      for i, y in ipairs(model.rmsnorm(dtype, columns, part(at(m), (j - 1) * columns + 1, 1), nil, 1e-5)) do
        t[(j - 1) * columns + i] = y
      end
    end
  else
    local again = try(false, op, function() return gr.softmax(m.a:copy(), { rows = rows }) end)
    if not again then return end
    t = again[2]:table()
  end
  take(k, nil, r[2], dtype, t, m.n, op)
end)

call("accumulate", 3, function(r)
  return r(2), pick(r, { "new", "add", "add", "bytes", "merge", "value" }), slot(r)
end, function(k, way, x)
  local m, s = get(x), W.sums[k]
  if way == "new" or not s then
    local r = try(false, "accumulator", gr.accumulator)
    if r then W.sums[k] = { s = r[2], want = 0 } end
  elseif way == "add" then
    if not m then return end
    local exact, total = m.store.dtype ~= "i64", 0
    for _, e in ipairs(list(m)) do
      exact = exact and e == math.floor(e) and math.abs(e) < 2 ^ 40
      total = total + e
    end
    local r = try(W.unfit(m), "accumulator", s.s.add, s.s, m.a)
    s.want = r and exact and s.want and s.want + total or nil
  elseif way == "merge" then
    if try(false, "merge", s.s.merge, s.s, s.s) then s.want = s.want and s.want * 2 else s.want = nil end
  else
    local r = try(false, "accumulator", function()
      return way == "bytes" and gr.accumulator(s.s:bytes()):value() or s.s:value()
    end)
    if r and s.want and math.abs(s.want) < 2 ^ 53 then same(s.want, r[2], "accumulator") end
  end
end)
