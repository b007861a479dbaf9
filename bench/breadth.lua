-- Every operation and dtype at one large size, as GB/s and as a share of the fastest read of the run: five calls from
-- Lua back to back, and the wait for the last one's result.
-- Usage: lua bench/breadth.lua [exponent, default 28 on a GPU, 24 on the CPU]
local gr = require "gpureduce"
local timing = require "bench.timing"

local name = gr.backend()
local n = 2 ^ (tonumber(arg and arg[1]) or (name:match("cuda") and 28 or 24))
local dtypes = { "u8", "i8", "u16", "i16", "u32", "i32", "i64", "f16", "bf16", "f32", "f64" }
local size = { u8 = 1, i8 = 1, u16 = 2, i16 = 2, u32 = 4, i32 = 4, i64 = 8, f16 = 2, bf16 = 2, f32 = 4, f64 = 8 }

-- Random bytes serve as integers of every width (drawn once, as normal f32 bits); floats are drawn as such.
local function data(dtype, seed)
  if size[dtype] == 1 or not dtype:match("f") then
    local raw = gr.randn(65536, "f32", { seed = seed }):bytes()
    local block = gr.frombytes(raw, dtype)
    local m = #block
    local host = block:bytes()
    local piece = gr.frombytes(host:rep(math.floor(math.min(n, 2 ^ 22) / m)), dtype)
    if #piece == n then return piece end
    local path = os.tmpname()
    local f = assert(io.open(path, "wb"))
    local bytes = piece:bytes()
    for _ = 1, n / #piece do f:write(bytes) end
    f:close()
    local a = assert(gr.load(path, dtype))
    os.remove(path)
    return a
  end
  return gr.randn(n, dtype, { seed = seed })
end

local rows, best = {}, 0
local function note(what, bytes, f, finish)
  local rate = bytes / timing.batch(f, finish, 7, 5) / 1e9
  rows[#rows + 1] = { what, rate }
  io.stderr:write(("%-34s %8.0f GB/s\n"):format(what, rate))
  return rate
end

-- One number: a future, so that the next call need not wait for it.
local function scalar(what, bytes, f)
  local future
  return note(what, bytes, function() future = f({ async = true }) end, function() return future:get() end)
end

print(("%s, %s: %.0f elements; CPU: %s, %d threads"):format(gr._VERSION, name, n, gr.instructions(), gr.threads()))
for _, t in ipairs(dtypes) do
  local bytes, a, b = n * size[t], data(t, 1), data(t, 2)
  local float = t:match("f") ~= nil
  for _, op in ipairs { "sum", "prod", "min", "max", "minmax", "mean", "var", "std", "argmin", "argmax", "any", "all",
                        "count" } do
    local rate = scalar(op .. " " .. t, bytes, function(options) return gr[op](a, options) end)
    if op == "sum" then best = math.max(best, rate) end
  end
  for _, p in ipairs { 1, 2, math.huge } do
    scalar("norm " .. p .. " " .. t, bytes, function(options) return gr.norm(a, p, options) end)
  end
  for _, op in ipairs { "dot", "mse", "cosine" } do
    scalar(op .. " " .. t, 2 * bytes, function(options) return gr[op](a, b, options) end)
  end
  if float then
    for _, mode in ipairs { "f32", "kahan", "neumaier" } do
      local options = { accumulate = mode, async = true }
      scalar("sum " .. mode .. " " .. t, bytes, function() return gr.sum(a, options) end)
      scalar("dot " .. mode .. " " .. t, 2 * bytes, function() return gr.dot(a, b, options) end)
    end
  end
  for _, bins in ipairs { 256, 4096, 16384 } do
    local lowest, highest = a:minmax()
    if highest > lowest then
      local h
      note(("histogram %d %s"):format(bins, t), bytes,
           function() h = gr.histogram(a, { bins = bins, min = tonumber(lowest), max = tonumber(highest) }) end,
           function() return h.counts[1] end)
    end
  end
  for _, op in ipairs { "sum", "max" } do
    local out = gr.scan(a, op)
    note(("scan %s %s"):format(op, t), n * (size[t] + size[out.dtype]), function() gr.scan(a, op, { into = out }) end,
         function() return out[1] end)
    out:release()
  end
  if float then
    local y = a:copy()
    note("rmsnorm 4096 " .. t, 2 * bytes, function() gr.rmsnorm(a, nil, { rows = n / 4096, into = y }) end,
         function() return y[1] end)
    y:release()
  end
  for _, width in ipairs { 16, 1024, 65536 } do
    for _, op in ipairs { "sum", "var", "max" } do
      for axis = 1, 2 do
        -- Into the same array each time; what is written counts too, as for scans.
        local r = gr[op](a, { rows = n / width, axis = axis })
        note(("%s of %d columns, axis %d, %s"):format(op, width, axis, t), bytes + #r * size[r.dtype],
             function() gr[op](a, { rows = n / width, axis = axis, into = r }) end, function() return r[1] end)
        r:release()
      end
    end
  end
  a:release()
  b:release()
  collectgarbage()
  gr.trim()
end

table.sort(rows, function(x, y) return x[2] < y[2] end)
print(("fastest sum: %.0f GB/s; slowest first:"):format(best))
for _, r in ipairs(rows) do print(("%-34s %8.0f GB/s  %5.1f %%"):format(r[1], r[2], 100 * r[2] / best)) end
