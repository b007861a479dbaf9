-- Shapes that nobody chose: cells of the comparison drawn from a seed. The same seed gives the same cells everywhere.
local gr, grid = require "gpureduce", require "grid"

local drawn = {}

local dtypes = { "u8", "i8", "u16", "i16", "i32", "u32", "i64", "f16", "bf16", "f32", "f64" }
local of_float = { "f16", "bf16", "f32", "f64" }
drawn.floats = { f16 = true, bf16 = true, f32 = true, f64 = true }
local floats = drawn.floats
drawn.operations = { "sum", "max", "var", "dot", "argmax", "mv", "rmsnorm", "softmax", "scan", "histogram" }
local of_floats, of_rows, flat = { rmsnorm = true, softmax = true }, { rmsnorm = true, softmax = true, mv = true },
  { scan = true, histogram = true }

-- Bins that samples of a dtype can tell apart.
local most_bins = { u8 = 256, i8 = 128, u16 = 65536, i16 = 32768, f16 = 1024, bf16 = 128 }

--- So many cells { op, dtype, n, rows, axis, bins, data, name } of 10^4 to `most` elements; rows from 1 to 10^7. Of one
-- row, and of scans and histograms, `rows` is nil. Where histograms have uniform samples each bin has as many; skewed,
-- bin k of `bins` has the share that the cube of a uniform number gives it.
function drawn.cells(seed, count, most)
  local random, at = gr.rand(count * 8, "f64", { seed = seed }):table(), 0
  local function u()
    at = at + 1
    return random[at]
  end
  local function one_of(t) return t[math.floor(u() * #t) + 1] end
  local function between(low, high) return math.floor(low * (high / low) ^ u() + 0.5) end
  local cells = {}
  for k = 1, count do
    at = (k - 1) * 8 -- a cell is the same whatever those before it took
    local op = one_of(drawn.operations)
    local c = { op = op, dtype = one_of(of_floats[op] and of_float or dtypes), n = between(1e4, most) }
    if op == "histogram" then
      c.bins, c.data = between(2, math.min(1e6, most_bins[c.dtype] or 1e6)), one_of { "uniform", "skewed" }
    elseif not flat[op] then
      local rows = between(1, math.min(1e7, c.n))
      c.n = rows * math.max(1, math.floor(c.n / rows + 0.5))
      if rows > 1 or of_rows[op] then
        c.rows, c.axis = rows, (op == "rmsnorm" or op == "softmax") and 2 or one_of { 1, 2 }
      end
    end
    c.name = grid.name(c)
    cells[k] = c
  end
  return cells
end

-- Samples from 0 to 1 of floats; whole numbers below bins, or below 100.
local function samples(c, seed, n)
  local x = gr.rand(n, "f64", { seed = seed })
  if c.data == "skewed" then x = x * x * x end
  if not floats[c.dtype] then x = x:mul(c.bins or 100, { into = x }) end
  return x:cast(c.dtype)
end

--- The inputs of a cell: the second for dots and products with a vector alone.
function drawn.inputs(c)
  local length = c.op == "dot" and c.n or c.op == "mv" and (c.axis == 2 and c.n / c.rows or c.rows)
  return samples(c, 1, c.n), length and samples(c, 2, length) or nil
end

--- The call in the words of the peers, the function, and its arguments.
function drawn.call(c, x, y)
  local axis = c.rows and { rows = c.rows, axis = c.axis }
  if c.op == "histogram" then
    if not floats[c.dtype] then return "bincount", gr.bincount, x end
    return ("histogram %d 0 1"):format(c.bins), gr.histogram, x, { bins = c.bins, min = 0, max = 1 }
  end
  if c.op == "scan" then return c.op, gr.scan, x, "sum", { into = gr.scan(x, "sum") } end
  if c.op == "rmsnorm" then return c.op, gr.rmsnorm, x, nil, { rows = c.rows, eps = 1e-6, into = x:copy() } end
  if c.op == "softmax" then return c.op, gr.softmax, x, { rows = c.rows, into = x:copy() } end
  if c.op == "mv" then return ("mv %d"):format(c.axis), gr.dot, x, y, axis end
  if c.op == "dot" and axis then
    return ("dot %d"):format(c.axis), gr.dot, x:matrix(c.rows), y:matrix(c.rows), { axis = c.axis }
  end
  if c.op == "dot" then return c.op, gr.dot, x, y end
  return axis and ("%s %d"):format(c.op, c.axis) or c.op, gr[c.op], x, axis
end

return drawn
