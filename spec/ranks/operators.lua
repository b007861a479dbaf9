-- The checks of check.lua, which runs this with its table of them and its tools, of operators of gr.operator.

local check, tools = ...
local gr = require "gpureduce"
local comm, data, cut, length, same = tools.comm, tools.data, tools.cut, tools.length, tools.same
local below, among, one_of = tools.below, tools.among, tools.one_of

-- The sum; the mean from states with another finish; the first position of the largest, which takes positions.
local operators = {
  gr.operator { state = { "s" }, map = { s = "f64(x)" }, merge = { s = "s1 + s2" }, identity = { s = 0 } },
  gr.operator { state = { "s", "k" }, map = { s = "f64(x) * 2", k = "f64(1)" },
    merge = { s = "s1 + s2", k = "k1 + k2" }, identity = { s = 0, k = 0 }, finish = "s / k" },
  gr.operator { state = { "m", "p" }, map = { m = "abs(f64(x))", p = "i" },
    merge = { m = "max(m1, m2)", p = "m1 > m2 and p1 or (m2 > m1 and p2 or min(p1, p2))" },
    identity = { m = -1, p = 0 } },
}

-- A matrix of which each rank holds some rows, here and there with something missing: all of it, then this rank's part
-- of it, each with a call's options.
local function matrix(n, dtype, round)
  local rows, columns = n % 500 + 1, among(1, 3)
  local m, mask = data(rows * columns, dtype, round), gr.rand(rows * columns, { seed = round }):compare(">", 0.3)
  if dtype:find "f" then m[among(1, rows * columns)] = 0 / 0 end
  local first, last = cut(rows, dtype)
  local function part(of) return of:slice((first - 1) * columns + 1, last * columns) end
  local missing = one_of { {}, { skipnan = true }, { mask = mask }, { skipnan = true, mask = mask } }
  local own = { skipnan = missing.skipnan, mask = missing.mask and part(mask) or nil, comm = comm }
  return { values = m, rows = rows, columns = columns, options = missing },
    { values = part(m), rows = math.max(last - first + 1, 1), options = own }
end

-- Turns the options into those of a call by columns. No rows are one row of no columns.
local function by_columns(of)
  of.options.axis, of.options.rows = 1, of.rows
end

function check.operators(round)
  for k, op in ipairs(operators) do
    for _, dtype in ipairs { "u8", "f16", "i32", "f32", "f64" } do
      local n = below(3) == 0 and length() * 10 or length()
      local a = data(n, dtype, round)
      local first, last = cut(n, dtype)
      local x, y = gr.reduce(a, op)
      local u, v = gr.reduce(a:slice(first, last), op, { comm = comm })
      same(u, x, "operator", k, dtype, n)
      same(v, y, "operator", k, dtype, n)
      local whole, own = matrix(n, dtype, round)
      x, y = gr.reduce(whole.values, op, whole.options)
      u, v = gr.reduce(own.values, op, own.options)
      same(u, x, "operator of some", k, dtype, whole.rows, whole.columns)
      same(v, y, "operator of some", k, dtype, whole.rows, whole.columns)
      by_columns(whole)
      by_columns(own)
      x, y = gr.reduce(whole.values, op, whole.options)
      u, v = gr.reduce(own.values, op, own.options)
      same(u, x, "operator by columns", k, dtype, whole.rows, whole.columns)
      if y then same(v, y, "operator by columns", k, dtype, whole.rows, whole.columns) end
    end
  end
end

-- In order: composed affine maps, which do not commute; the last element that is not 0, with its place and the count;
-- a polynomial's value by Horner's rule. Floats, so that another tree would give other bits.
local ordered = {
  gr.operator { state = { "a", "b" }, map = { a = "1 + f64(x) * 0.001", b = "f64(x)" }, commutative = false,
    merge = { a = "a1 * a2", b = "a2 * b1 + b2" }, identity = { a = 1, b = 0 } },
  gr.operator { state = { "x", "p" }, map = { x = "f32(x)", p = "i" }, commutative = false,
    merge = { x = "x2 ~= 0 and x2 or x1", p = "x2 ~= 0 and p2 or p1" }, identity = { x = 0, p = 0 },
    finish = { "x", "p", "f64(p) / f64(n)" } },
  gr.operator { state = { "v", "t", "u" }, map = { v = "f64(x)", t = "f64(0.99)", u = "f32(x) * f32(i)" },
    merge = { v = "v1 * t2 + v2", t = "t1 * t2", u = "u1 + u2" }, identity = { v = 0, t = 1, u = 0 },
    commutative = false, finish = { "v", "u" } },
}

-- Many tiles now and then: blocks and superblocks of a scan.
local function long()
  return below(8) == 0 and below(40) * 131072 + length() or below(3) > 0 and length() * 10 or length()
end

function check.ordered(round)
  for k, op in ipairs(ordered) do
    for _, dtype in ipairs { "u8", "f16", "i32", "f64" } do
      local n = long()
      local a = data(n, dtype, round)
      local first, last = cut(n, one_of { dtype, "u8" })
      local function all(what, whole, part)
        for j = 1, math.max(#whole, #part) do same(part[j], whole[j], what, k, j, dtype, n) end
      end
      all("ordered operator", { op(a) }, { op(a:slice(first, last), { comm = comm }) })
      local whole, own = matrix(n, dtype, round)
      all("ordered operator of some", { op(whole.values, whole.options) }, { op(own.values, own.options) })
      by_columns(whole)
      by_columns(own)
      all("ordered operator by columns", { op(whole.values, whole.options) }, { op(own.values, own.options) })
    end
  end
end

-- Scans by operators, of both kinds.
function check.operator_scan(round)
  for k, op in ipairs { ordered[1], ordered[2], ordered[3], operators[1], operators[2], operators[3] } do
    for _, dtype in ipairs { "u8", "f16", "i32", "f64" } do
      local n = long()
      local a = data(n, dtype, round)
      if n > 0 and below(3) == 0 then -- as views lie, and a formula
        a = a:slice(1, n, 2)
        n = #a
      end
      local first, last = cut(n, one_of { dtype, "u8" })
      local exclusive, reverse = below(2) == 0, below(2) == 0
      local whole = { op:scan(a, { exclusive = exclusive, reverse = reverse }) }
      local part = a:slice(first, last)
      if below(3) == 0 then part = part * 1 end
      part = { gr.scan(part, op, { exclusive = exclusive, reverse = reverse, comm = comm }) }
      for j = 1, math.max(#whole, #part) do
        same(part[j], whole[j]:slice(first, last), "scan by operator", k, j, dtype, n, exclusive, reverse)
      end
      -- What is present, here and there nothing of a rank's.
      n = math.min(n, 3000)
      a = a:slice(1, n):copy()
      local mask = gr.rand(n, { dtype = "f64", seed = round }):compare("<", one_of { 0.003, 0.5, 1 })
      if dtype:find "f" and n > 0 then a[among(1, n)] = 0 / 0 end
      first, last = cut(n, one_of { dtype, "u8" })
      local missing = one_of { { mask = mask }, { skipnan = true }, { skipnan = true, mask = mask } }
      whole = { op:scan(a, { exclusive = exclusive, reverse = reverse, skipnan = missing.skipnan,
        mask = missing.mask }) }
      part = { op:scan(a:slice(first, last), { exclusive = exclusive, reverse = reverse, skipnan = missing.skipnan,
        mask = missing.mask and mask:slice(first, last) or nil, comm = comm }) }
      for j = 1, math.max(#whole, #part) do
        same(part[j], whole[j]:slice(first, last), "scan of some by operator", k, j, dtype, n, exclusive, reverse)
      end
    end
  end
end
