-- Quantiles, segments, softmax and weights, end to end and back to back, each checked before it is timed.
-- Usage: lua bench/select.lua [exponent, default 28 on a GPU, 22 on the CPU]
local gr = require "gpureduce"
local timing = require "bench.timing"

local name = gr.backend()
local e = tonumber(arg and arg[1]) or (name:match("cuda") and 28 or 22)
local n = 2 ^ e
local function whole(x) return math.tointeger and math.tointeger(x) or x end

local function seconds(f, finish) return timing.batch(f, finish, 5, 3) end

local function show(what, time, bytes)
  print(("%-52s %10.1f us %8.0f GB/s"):format(what, time * 1e6, bytes / time / 1e9))
end

local function check(what, ok) if not ok then error(what .. ": wrong result", 0) end end

print(("%s, 2^%d elements"):format(name, e))

for _, dtype in ipairs { "f32", "f64", "f16" } do
  local size = ({ f16 = 2, f32 = 4, f64 = 8 })[dtype]
  for _, m in ipairs { 2 ^ 10, 2 ^ 16, 2 ^ 20, n } do
    local a = gr.randn(m, dtype, { seed = 3 })
    local q = a:quantile(0.5, { method = "lower" })
    -- the median has at most half of the elements below it, and more than half up to it
    local h = gr.histogram(a, { edges = { -1e4, q, q + 1e-3, 1e4 } })
    check("median", h.counts[1] <= m / 2 and h.counts[1] + h.counts[2] >= m / 2)
    show(("median %s, n = %d"):format(dtype, m), seconds(function() a:median() end), m * size)
    if m == n then
      show("quantiles, 5 at once, " .. dtype, seconds(function() a:quantile { 0, 0.25, 0.5, 0.75, 1 } end), m * size)
      local percent = {}
      for k = 0, 100 do percent[k + 1] = k / 100 end
      show("quantiles, 101 at once, " .. dtype, seconds(function() a:quantile(percent) end), m * size)
    end
    a:release()
  end
end
do
  local a = gr.frombytes(gr.randn(n / 4, "f32"):bytes(), "u8")
  show("median u8", seconds(function() a:median() end), n)
  a = gr.full(n, 1.5, "f32")
  check("median", a:median() == 1.5)
  show("median f32, all equal", seconds(function() a:median() end), n * 4)
end
gr.trim()

do
  local a = gr.randn(n / 4, "f32")
  for _, length in ipairs { 4, 37, 1000, 30000, 2 ^ 20, n / 4 } do
    local count = whole(math.max(1, math.floor(n / 4 / length)))
    length = math.min(length, n / 4)
    local offsets = gr.arange(1, whole(count * length + 1), whole(length), "i64")
    local into = gr.zeros(count, "f64")
    local part = a:slice(1, whole(count * length))
    local rows = part:sum { rows = count }
    check("segments", rows:equal(part:sum { segments = offsets, into = into }))
    local bytes = count * length * 4
    local function last() return into[count] end
    show(("sums of %d segments of %d, f32"):format(count, length),
      seconds(function() part:sum { segments = offsets, into = into } end, last), bytes)
    show("  the same as rows", seconds(function() part:sum { rows = count, into = into } end, last), bytes)
  end
  -- one long segment among many short ones
  local t, at, many = { 1 }, 1, math.min(20000, math.floor(n / 800))
  for k = 1, many do
    at = at + (k == 5 and n / 8 or 100)
    t[k + 1] = whole(at)
  end
  local offsets, into = gr.array(t, "i64"), gr.zeros(many, "f64")
  a:sum { segments = offsets, into = into }
  check("segments", into[5] == a:slice(t[5], t[6] - 1):sum() and into[1] == a:slice(1, 100):sum())
  show(("sums of %d segments, one of them of %d"):format(many, n / 8),
    seconds(function() a:sum { segments = offsets, into = into } end, function() return into[1] end), at * 4)
end
gr.trim()

for _, dtype in ipairs { "f32", "f16", "f64" } do
  local size = ({ f16 = 2, f32 = 4, f64 = 8 })[dtype]
  local x = gr.randn(n / 4, dtype)
  local y = gr.zeros(n / 4, dtype)
  for _, columns in ipairs { 64, 1024, 4096, 16384, n / 4 } do
    local rows = whole(math.max(1, n / 4 / columns))
    x:softmax { rows = rows, into = y }
    -- shares of very long rows are below the smallest f16
    check("softmax", math.abs(y:sum() / rows - 1) < 1e-2 or (dtype == "f16" and columns > 2 ^ 20))
    local time = seconds(function() x:softmax { rows = rows, into = y } end, function() return y[1] end)
    show(("softmax %s, %d x %d (read + write)"):format(dtype, rows, columns), time, 2 * n / 4 * size)
  end
end
gr.trim()

do
  local m = n / 4
  local a, w = gr.rand(m, "f32"), gr.rand(m, "f32", { seed = 9 })
  local ones = gr.full(m, 1, "f32")
  for _, bins in ipairs { 10, 256, 3000, 65536, 2 ^ 20 } do
    local function time(data)
      local function run() gr.histogram(data, { bins = bins, min = 0, max = 1, weights = w }) end
      return seconds(run, function() return a:sum() end)
    end
    local h = gr.histogram(a, { bins = bins, min = 0, max = 1, weights = ones })
    local plain = gr.histogram(a, { bins = bins, min = 0, max = 1 }).counts
    check("weights", h.counts:sum() == m and h.counts[1] == plain[1] and h.counts[bins] == plain[bins])
    show(("weighted histogram, %d bins, f32 by f32"):format(bins), time(a), m * 8)
    show("  constant samples", time(ones), m * 8)
  end
  local k = gr.frombytes(a:bytes(), "u8")
  show("weighted bincount u8 by f32", seconds(function() gr.bincount(k:slice(1, m), { weights = w }) end), m * 5)
end
