-- What some built-in operations say, in the words of gr.operator.
local gr = require "gpureduce"
local O = {}
local huge = math.huge

O.floats = { "f16", "bf16", "f32", "f64" }

local function sum_of(map) return { state = "s", map = map or "f64(x)", merge = "s1 + s2", identity = 0 } end
O.sum_of = sum_of

-- t, and more besides.
local function with(t, more)
  local all = {}
  for key, x in pairs(t) do all[key] = x end
  for key, x in pairs(more) do all[key] = x end
  return all
end

O.with = with

local logsumexp = { state = { "m", "s" }, map = { m = "f64(x)", s = "1.0" },
  merge = { m = "max(m1, m2)",
    s = "where(m2 > m1, s1 * exp(m1 - m2) + s2, s2 * exp(where(m1 == m2, 0, m2 - m1)) + s1)" },
  identity = { m = -huge, s = 0 }, finish = "m + log(s)" }
local argmax = { state = { "m", "p" }, map = { m = "x", p = "i" },
  merge = { m = "max(m1, m2)", p = "m1 > m2 and p1 or (m2 > m1 and p2 or min(p1, p2))" },
  identity = { m = -huge, p = 0 }, finish = "p" }
O.extremes = { state = { "lo", "hi" }, map = { lo = "x", hi = "x" },
  merge = { lo = "min(lo1, lo2)", hi = "max(hi1, hi2)" }, identity = { lo = huge, hi = -huge } }

-- { what a built-in says, its words here, dtypes }
O.alike = {
  { "sum", sum_of(), { "f32", "f64" } },
  { "sum", sum_of "i64(x)", { "u8", "i8", "u16", "i16", "u32", "i32", "i64" } },
  { "prod", { state = "p", map = "f64(x)", merge = "p1 * p2", identity = 1 }, O.floats },
  { "mean", with(sum_of(), { finish = "s / n" }), { "f32", "f64" } },
  { "mean", with(sum_of "i64(x)", { finish = "f64(s) / n" }), { "u8", "i16", "i32" } },
  { "norm1", sum_of "abs(f64(x))", O.floats },
  { "sumsq", sum_of "square(f64(x))", O.floats },
  { "min", { state = "m", map = "x", merge = "min(m1, m2)", identity = huge }, O.floats },
  { "max", { state = "m", map = "x", merge = "max(m2, m1)", identity = -huge }, O.floats },
  { "logsumexp", logsumexp, O.floats },
  { "argmax", argmax, O.floats },
}

O.logsumexp = logsumexp

-- All that operators do, with the arrays of spec/hostile/cases.lua.
function O.every_way(e)
  local op = gr.operator { state = { "s", "p" }, map = { s = "f64(x)", p = "i" }, finish = { "s / n", "p" },
    merge = { s = "s1 + s2", p = "max(p1, p2)" }, identity = { s = 0, p = 0 }, check = true }
  local last = gr.operator { state = "s", map = "x", merge = "s2", identity = 0, commutative = false }
  return op(e.a), op:reduce(e.a, { rows = 30 }), op:scan(e.a), tostring(op), e.a:reduce(last, { rows = 30, axis = 1 }),
    gr.scan(e.a, last, { into = e.into32, reverse = true }), last(gr.lazy(e.a) * e.b),
    last(e.a, { async = true }):get(), op(e.a, { segments = { 1, 100, 1000 } }), tostring(gr.explain(op, e.a)),
    op(e.a, { rows = 30, out = "f32", keepdims = true }), op:scan(e.a, { rows = 3, axis = 2, out = "f32" })
end

return O
