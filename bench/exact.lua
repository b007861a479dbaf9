-- Exact sums on a GPU: random views of random data must have the CPU's bits (20000 sums and as many dots), then exact
-- beside default, end to end until the number is a Lua value. Lua 5.3 or later. Usage: bench/exact.lua [seed]
local gr = require "gpureduce"
local device = gr.backend()
local random = math.random
math.randomseed(tonumber(arg[1]) or 1)

-- n numbers with random digits and sign, and exponent fields from low to high.
local function bits(dtype, n, low, high)
  local t = {}
  for k = 1, n do
    local e, sign = random(low, high), random(0, 1)
    if dtype == "f32" then t[k] = ("<I4"):pack(random(0, 0x7fffff) | e << 23 | sign << 31)
    elseif dtype == "f64" then t[k] = ("<I8"):pack(random(0, (1 << 52) - 1) | e << 52 | sign << 63)
    elseif dtype == "i64" then t[k] = ("<i8"):pack(random(0))
    else t[k] = ("<I2"):pack(random(0, dtype == "f16" and 0x7bff or 0x7f7f) | sign << 15) end
  end
  return table.concat(t)
end
local top = { f32 = 255, f64 = 2047, f16 = 0, bf16 = 0, i64 = 0 }

local function same(a, b) return ("n"):pack(a) == ("n"):pack(b) end

-- A random view of a, and the same one of the other arrays; `off` elements later where it says so.
local function views(n, arrays)
  local m = random(4) == 1 and random(1, 20000) or random(0, 600)
  local step = random(5) == 1 and random(1, 2) * (random(2) * 2 - 3) or 1
  local reach = math.max(m - 1, 0) * math.abs(step)
  local from, off = random(1, n - reach - 9), random(0, 9)
  local out = {}
  for k, a in ipairs(arrays) do
    local at = from + (k % 2 == 0 and off or 0)
    if m == 0 then out[k] = a:slice(1, 0)
    elseif step < 0 then out[k] = a:slice(at + reach, at, step)
    else out[k] = a:slice(at, at + reach, step) end
  end
  return out
end

local function check()
  local count, n = 0, 50000
  for dtype, times in pairs { f32 = 7000, f64 = 7000, f16 = 2000, bf16 = 2000, i64 = 2000 } do
    for kind = 1, 3 do -- every exponent; a few; every exponent with infinities and NaN
      local low, high = 0, math.max(top[dtype] - 1, 0)
      if kind == 2 then low, high = high // 2 - 10 > 0 and high // 2 - 10 or 0, high // 2 + (high > 0 and 10 or 0) end
      if kind == 3 then high = top[dtype] end
      local x, y = bits(dtype, n, low, high), bits(dtype, n, low, high)
      local all = {}
      for _, where in ipairs { device, "cpu" } do
        gr.use(where)
        all[#all + 1], all[#all + 2] = gr.frombytes(x, dtype), gr.frombytes(y, dtype)
      end
      for _ = 1, times // 3 do
        local v = views(n, all)
        local options = { exact = true, out = random(2) == 1 and "f32" or nil }
        local one, two = dtype == "i64" and "mean" or "sum", dtype == "i64" and "cosine" or "dot"
        assert(same(v[1][one](v[1], options), v[3][one](v[3], options)), one)
        assert(same(v[1][two](v[1], v[2], options), v[3][two](v[3], v[4], options)), two)
        assert(v[1]:digest() == v[3]:digest(), "digest")
        count = count + 1
      end
    end
  end
  gr.use(device)
  print(count .. " random views: sums, dots and digests have the CPU's bits")
end

local function time(f, times)
  local best = math.huge
  f()
  for _ = 1, 5 do
    local t = gr.clock()
    for _ = 1, times do f() end
    best = math.min(best, (gr.clock() - t) / times)
  end
  return best * 1e6
end

local function data(kind, n, dtype)
  if kind == "uniform" then return gr.rand(n, dtype, { seed = 1 }) end
  if kind == "normal" then return gr.randn(n, dtype, { seed = 2 }) end
  if kind == "constant" then return gr.full(n, 1.2345678, dtype) end
  return gr.frombytes(bits(dtype, 65536, 0, top[dtype] - 1):rep(n // 65536), dtype)
end

local function line(what, bytes, default, exact)
  local rate = bytes / exact / 1e3
  print(("%-28s %8.1f us %8.1f us  x%.2f  %5.0f GB/s"):format(what, default, exact, exact / default, rate))
end

check()
print(("%-28s %11s %11s"):format("", "default", "exact"))
for _, dtype in ipairs { "f32", "f64" } do
  local size = dtype == "f32" and 4 or 8
  for e = 10, dtype == "f32" and 28 or 27, 2 do
    for _, kind in ipairs(e >= 26 and { "uniform", "normal", "constant", "exponents" } or { "uniform" }) do
      local n, times = 1 << e, e >= 26 and 10 or 100
      local x, y = data(kind, n, dtype), data(kind, n, dtype)
      line(("sum %s 2^%d %s"):format(dtype, e, kind), n * size, time(function() x:sum() end, times),
        time(function() x:sum { exact = true } end, times))
      line(("dot %s 2^%d %s"):format(dtype, e, kind), 2 * n * size, time(function() x:dot(y) end, times),
        time(function() x:dot(y, { exact = true }) end, times))
      x:release()
      y:release()
    end
  end
end
