-- The ladder, timed: every kernel that tutorials teach beside the module's own, cuBLAS and CUB, by events of the device
-- and end to end. Each result is checked before it is timed. Prints tables, writes ladder.json and an SVG an operation.
-- Usage: lua bench/ladder.lua [largest exponent: 28 on a GPU, 18 on the CPU] [folder: build/bench]
-- The peers come from build/bench/ladder_peers, if it is there (make build/bench/ladder_peers).
local gr = require "gpureduce"
local median = require "bench.timing".median
local charts = require "bench.ladder_charts"

local device = gr.backend()
local on_gpu = device:match("cuda") ~= nil
local largest = tonumber(arg and arg[1]) or (on_gpu and 28 or 18)
local folder = arg and arg[2] or "build/bench"
local N = 2 ^ largest
local most_pieces = 256
os.execute("mkdir -p '" .. folder .. "'")

local exponents = {}
for e = 10, largest, 2 do exponents[#exponents + 1] = e end

-- ---- progress and time ----

local terminal = os.execute("[ -t 2 ]")
terminal = terminal == true or terminal == 0
local function progress(...)
  if terminal then io.stderr:write("\r\27[K", (select("#", ...) > 0 and ("%s: %s, 2^%d"):format(...) or "")) end
end

-- Median seconds of a call by the host's clock; slow calls are made less often.
local function host_seconds(f)
  f()
  local start = gr.clock()
  f()
  local once = gr.clock() - start
  local calls, rounds = math.max(1, math.floor(5e-4 / once)), {}
  for round = 1, once > 0.02 and 2 or 7 do
    start = gr.clock()
    for _ = 1, calls do f() end
    rounds[round] = (gr.clock() - start) / calls
  end
  return median(rounds)
end

-- Median of what f says itself: seconds on the device.
local function device_seconds(f)
  local first, rounds = f(), {}
  for round = 1, first > 0.05 and 2 or 7 do rounds[round] = f() end
  return median(rounds)
end

-- ---- data: whole numbers, whose sums f32 holds exactly in any order ----

local PERIOD = 2 ^ 16
local function pattern(f)
  local t = {}
  for k = 1, PERIOD do t[k] = f(k) end
  return t
end
local state = 1
local function random(range)
  state = (state * 16807) % 2147483647
  return math.floor(state / 2147483647 * range)
end
local pa, pb = pattern(function() return random(5) - 2 end), pattern(function() return random(3) - 1 end)
local pk = pattern(function() return random(256) end)
local text_a, text_b, text_k = gr.array(pa):bytes(), gr.array(pb):bytes(), gr.array(pk, "i32"):bytes()

local function text_of(text, n) return n >= PERIOD and text:rep(n / PERIOD) or text:sub(1, 4 * n) end
local function array_of(text, dtype, n) return gr.frombytes(text_of(text, n), dtype) end
local A, B = array_of(text_a, "f32", N), array_of(text_b, "f32", N)

-- The result of n elements from that of one period.
local function sum_of(n, f)
  local sum = 0
  for k = 1, math.min(n, PERIOD) do sum = sum + f(k) end
  return sum * math.max(1, n / PERIOD)
end
local expected = {
  dot = function(n) return sum_of(n, function(k) return pa[k] * pb[k] end) end,
  sum = function(n) return sum_of(n, function(k) return pa[k] end) end,
  min = function() return -2 end,
  max = function() return 2 end,
}
local function must(right, ...) if not right then error("wrong: " .. table.concat({ ... }, " ")) end end

-- ---- records ----

local records = {}
local function record(op, kernel, n, device_s, e2e, transfer)
  local r = { op = op, kernel = kernel, n = n, device = device_s, e2e = e2e, transfer = transfer }
  records[#records + 1] = r
  return r
end
local function found(op, kernel, n)
  for _, r in ipairs(records) do
    if r.op == op and r.kernel == kernel and r.n == n then return r end
  end
end

-- Bytes that an operation must move and what it computes, by element.
local bytes = charts.bytes
local flops = { dot = 2, sum = 1, min = 1, max = 1, histogram = 1, scan = 1, rmsnorm = 4 }

-- ---- peers ----

local function run_peers()
  local f = io.open("build/bench/ladder_peers")
  if not (f and on_gpu) then return end
  f:close()
  progress("peers", "cuBLAS and CUB", largest)
  local pipe = io.popen("build/bench/ladder_peers " .. largest)
  for line in pipe:lines() do
    local op, name, n, us = line:match("^(%S+) (%S+) (%d+) (%S+)$")
    n, us = tonumber(n), tonumber(us)
    record(op, name, n, us * 1e-6)
  end
  pipe:close()
end

-- ---- sums and the like ----

-- All rungs up to 2^24 with allocation and transfer; above, where copying is nearly all of it, three of them.
local function transfers(name, e)
  return e <= 24 or name == "naive_atomic" or name == "vectorized_two_phase" or name == "single_pass"
end

local function measure_fold(op, kernel, e, ta, tb)
  local n, two = 2 ^ e, op == "dot"
  local pieces = math.max(1, math.min(2 ^ 26 / n, most_pieces, N / n))
  local a, b = A:slice(1, n), B:slice(1, n)
  local o = { kernel = kernel.name }
  local function call(x, y) if two then return gr.dot(x, y, o) else return gr[op](x, o) end end
  progress(op, kernel.name, e)
  local got = call(a, b)
  must(got == expected[op](n), op, kernel.name, tostring(n), tostring(got))
  local into = gr.zeros(pieces, (op == "min" or op == "max") and "f32" or "f64")
  local many, all_a, all_b = { kernel = kernel.name, rows = pieces, timed = true, into = into }, A:slice(1, pieces * n)
  if two then
    all_b = B:slice(1, pieces * n)
    many.pairs = true
  end
  local on_device = device_seconds(function()
    local _, seconds
    if two then _, seconds = gr.dot(all_a, all_b, many) else _, seconds = gr[op](all_a, many) end
    return seconds / pieces
  end)
  local e2e = host_seconds(function() return call(a, b) end)
  local transfer
  if transfers(kernel.name, e) then
    local rounds = {}
    for round = 1, e > 22 and 1 or 3 do
      gr.trim()
      local start = gr.clock()
      local x, y = gr.frombytes(ta, "f32"), two and gr.frombytes(tb, "f32")
      call(x, y)
      rounds[round] = gr.clock() - start
      x:release()
      if two then y:release() end
    end
    transfer = median(rounds)
  end
  record(op, kernel.name, n, on_device, e2e, transfer)
end

local function folds(op)
  for _, e in ipairs(exponents) do
    local ta, tb = text_of(text_a, 2 ^ e), op == "dot" and text_of(text_b, 2 ^ e)
    for _, kernel in ipairs(gr.kernels(op)) do
      if kernel.name ~= "batched" then measure_fold(op, kernel, e, ta, tb) end
    end
  end
  collectgarbage()
end

-- ---- histograms, scans, rows: from array to array, so calls are repeated on one piece of the data ----

local function measure_map(op, kernel, n, runs, timed, call, read)
  local on_device = device_seconds(function() return timed(runs) end)
  local e2e = host_seconds(function() return read(call()) end)
  return record(op, kernel, n, on_device, e2e)
end

local function runs_for(n) return n >= 2 ^ 26 and 3 or n >= 2 ^ 22 and 10 or 50 end

local function histograms()
  local K = array_of(text_k, "i32", N)
  local counts = {}
  for k = 0, 255 do counts[k] = 0 end
  for k = 1, PERIOD do counts[pk[k]] = counts[pk[k]] + 1 end
  local sizes = {}
  for _, e in ipairs(exponents) do sizes[#sizes + 1] = 2 ^ e end
  if N >= 1e7 then sizes[#sizes + 1] = 1e7 end
  for _, n in ipairs(sizes) do
    local a = K:slice(1, n)
    for _, kernel in ipairs(gr.kernels("histogram")) do
      local o = { kernel = kernel.name, bins = 256, min = 0, max = 256 }
      progress("histogram", kernel.name, math.log(n) / math.log(2))
      local h = gr.histogram(a, o)
      local sum = 0
      for k = 0, 255 do
        must(n % PERIOD > 0 or h.counts[k + 1] == counts[k] * (n / PERIOD), "histogram", kernel.name, tostring(n))
        sum = sum + h.counts[k + 1]
      end
      must(sum == n, "histogram", kernel.name, tostring(n))
      measure_map("histogram", kernel.name, n, runs_for(n), function(runs)
        return select(2, gr.histogram(a, { kernel = kernel.name, bins = 256, min = 0, max = 256, timed = runs }))
      end, function() return gr.histogram(a, o) end, function(r) return r.counts[1] end)
    end
  end
end

local function scans()
  local out = gr.zeros(N)
  for _, e in ipairs(exponents) do
    local n = 2 ^ e
    local a, into = A:slice(1, n), out:slice(1, n)
    for _, kernel in ipairs(gr.kernels("scan")) do
      local o = { kernel = kernel.name, into = into }
      progress("scan", kernel.name, e)
      gr.scan(a, "sum", o)
      must(into[n] == expected.sum(n), "scan", kernel.name, tostring(n), tostring(into[n]))
      must(into[1] == pa[1] and into[n / 2] == expected.sum(n / 2), "scan", kernel.name, tostring(n))
      measure_map("scan", kernel.name, n, runs_for(n), function(runs)
        return select(2, gr.scan(a, "sum", { kernel = kernel.name, into = into, timed = runs }))
      end, function() return gr.scan(a, "sum", o) end, function(r) return r[n] end)
    end
  end
  out:release()
end

local COLUMNS = 1024
local function rows()
  local out = gr.zeros(N)
  local squares = 0
  for k = 1, COLUMNS do squares = squares + pa[k] ^ 2 end
  for _, e in ipairs(exponents) do
    local n = 2 ^ e
    local a, into = A:slice(1, n), out:slice(1, n)
    for _, kernel in ipairs(gr.kernels("rmsnorm")) do
      local o = { kernel = kernel.name, into = into, rows = n / COLUMNS }
      progress("rmsnorm", kernel.name, e)
      gr.rmsnorm(a, nil, o)
      local right = pa[3] / math.sqrt(squares / COLUMNS + 1e-5)
      must(math.abs(into[3] - right) <= 1e-5, "rmsnorm", kernel.name, tostring(n))
      measure_map("rmsnorm", kernel.name, n, runs_for(n), function(runs)
        return select(2, gr.rmsnorm(a, nil, { kernel = kernel.name, into = into, rows = n / COLUMNS, timed = runs }))
      end, function() return gr.rmsnorm(a, nil, o) end, function(r) return r[n] end)
    end
  end
  out:release()
end

-- ---- tables ----

local function us(seconds) return seconds and ("%11.2f"):format(seconds * 1e6) or "          -" end
local function percent(x) return x and ("%7.1f"):format(100 * x) or "      -" end

local first_rung = { histogram = "naive", scan = "hillis_steele", rmsnorm = "two_pass" }
local peer_of = { dot = "cuBLAS", sum = "CUB", min = "CUB", max = "CUB", histogram = "CUB", scan = "CUB" }

local function print_table(op, n)
  local naive, peer = found(op, first_rung[op] or "naive_atomic", n), found(op, peer_of[op], n)
  local base = first_rung[op] or "naive"
  print(("\n%s, %s"):format(op, n == 1e7 and "10^7 elements" or ("2^%.0f elements"):format(math.log(n) / math.log(2))))
  print(("%-22s %11s %9s %9s %9s %8s %8s %11s %11s"):format("kernel", "device us", "GB/s", "GFLOP/s",
        "x " .. base:sub(1, 7), peer_of[op] and "% " .. peer_of[op] or "", "% ceil.", "e2e us", "+copy us"))
  local ordered = {} -- the peer closes the table
  for _, r in ipairs(records) do
    if r.op == op and r.n == n and r ~= peer then ordered[#ordered + 1] = r end
  end
  ordered[#ordered + 1] = peer
  for _, r in ipairs(ordered) do
    local rate, ceiling = bytes[op] * n / r.device, charts.ceiling(records, op, n)
    print(("%-22s %s %9.1f %9.1f %9.1f  %s  %s %s %s"):format(r.kernel, us(r.device), rate / 1e9,
          flops[op] * n / r.device / 1e9, naive and naive.device / r.device or 0 / 0,
          percent(peer and peer.device / r.device), percent(ceiling > 0 and rate / ceiling or nil), us(r.e2e),
          us(r.transfer)))
  end
end

local function print_tables(op)
  for _, e in ipairs(exponents) do print_table(op, 2 ^ e) end
  if op == "histogram" and N >= 1e7 then print_table(op, 1e7) end
end

-- ---- the special ones ----

-- How additions to few addresses queue up: the naive histogram of remainders.
local function atomics()
  local n = math.min(2 ^ 20, N)
  local a = gr.array(pattern(function(k) return k - 1 end), "i32")
  local text = a:bytes()
  if n > PERIOD then -- 0 .. n - 1, a period at a time
    local parts = {}
    for p = 0, n / PERIOD - 1 do
      parts[p + 1] = gr.array(pattern(function(k) return p * PERIOD + k - 1 end), "i32"):bytes()
    end
    text = table.concat(parts)
  end
  a = gr.frombytes(text, "i32"):slice(1, n)
  print(("\natomics: %.0f additions\n%10s %11s %12s"):format(n, "addresses", "device us", "10^9 adds/s"))
  for _, addresses in ipairs { 1, 32, 256, 1024, 65536, 2 ^ 20 } do
    if addresses <= n then
      local h = gr.histogram(a, { bins = addresses, modulo = true, kernel = "naive" })
      must(h.counts[1] == n / addresses and h.counts[addresses] == n / addresses, "atomics", tostring(addresses))
      local s = device_seconds(function()
        return select(2, gr.histogram(a, { bins = addresses, modulo = true, kernel = "naive", timed = 20 }))
      end)
      record("atomics", ("%.0f"):format(addresses), n, s)
      print(("%10.0f %s %12.2f"):format(addresses, us(s), n / s / 1e9))
    end
  end
end

-- What accumulators cost and what they are worth: numbers from [0, 1), whose sum grows.
local function accuracy()
  local n = math.min(2 ^ 24, N)
  local a, b = gr.rand(n, "f32", { seed = 1 }), gr.rand(n, "f32", { seed = 2 })
  print(("\naccuracy, 2^%.0f uniform numbers: error against the compensated f64 sum"):format(math.log(n) / math.log(2)))
  print(("%-22s %11s %12s %11s %12s"):format("kernel", "dot us", "rel. error", "sum us", "rel. error"))
  local dot, sum = gr.dot(a, b, { accumulate = "neumaier" }), gr.sum(a, { accumulate = "neumaier" })
  for _, kernel in ipairs { "naive_atomic", "warp_atomic", "two_phase", "vectorized_two_phase", "f32_accumulators",
                            "f64_accumulators", "kahan", "neumaier" } do
    progress("accuracy", kernel, 24)
    local o = { kernel = kernel, timed = 10, rows = 1, pairs = true }
    local one = { kernel = kernel, timed = 10, rows = 1 }
    local td = device_seconds(function() return select(2, gr.dot(a, b, o)) end)
    local ts = device_seconds(function() return select(2, gr.sum(a, one)) end)
    local ed = math.abs(gr.dot(a, b, { kernel = kernel }) / dot - 1)
    local es = math.abs(gr.sum(a, { kernel = kernel }) / sum - 1)
    record("accuracy dot", kernel, n, td).error = ed
    record("accuracy sum", kernel, n, ts).error = es
    print(("%-22s %s %12.2e %s %12.2e"):format(kernel, us(td), ed, us(ts), es))
  end
  a:release()
  b:release()
end

-- What the block size does to the kernels that have one: 2^24 elements, device time.
local function blocks()
  local n = math.min(2 ^ 24, N)
  local a, b, into = A:slice(1, n), B:slice(1, n), gr.zeros(n)
  print(("\nblock sizes, 2^%.0f elements, device us"):format(math.log(n) / math.log(2)))
  print(("%-30s %9s %9s %9s %9s %9s"):format("", 64, 128, 256, 512, 1024))
  for _, op in ipairs { "dot", "scan" } do
    for _, kernel in ipairs(gr.kernels(op)) do
      if kernel.block and not kernel.name:match("naive") and not kernel.name:match("host") then
        local row = {}
        for e = 6, 10 do
          local block = 2 ^ e
          progress("blocks", kernel.name, e)
          local o = { kernel = kernel.name, block = block, timed = 10, rows = op == "dot" and 1 or nil,
                      pairs = op == "dot" or nil, into = op == "scan" and into or nil }
          local s = device_seconds(function()
            if op == "dot" then return select(2, gr.dot(a, b, o)) end
            return select(2, gr.scan(a, "sum", o))
          end)
          record("blocks " .. op, ("%s %.0f"):format(kernel.name, block), n, s)
          row[#row + 1] = ("%9.2f"):format(s * 1e6)
        end
        print(("%-30s %s"):format(op .. " " .. kernel.name, table.concat(row, " ")))
      end
    end
  end
  into:release()
end

-- Many dot products: one launch a row beside the batched kernel.
local function many_dots()
  local n = math.min(2 ^ 24, N)
  local a, b = A:slice(1, n), B:slice(1, n)
  print(("\nmany dot products, 2^%.0f elements in all"):format(math.log(n) / math.log(2)))
  print(("%10s %10s %14s %14s %8s"):format("rows", "each", "a launch each", "batched", "times"))
  for e = 0, 14, 2 do
    local count = 2 ^ e
    if n / count >= 1024 then
      local times = {}
      for k, kernel in ipairs { "single_pass", "batched" } do
        progress("many dots", kernel, e)
        local o = { kernel = kernel, rows = count, pairs = true, timed = true }
        local got = gr.dot(a, b, o)
        must(got[1] == expected.dot(n / count), "many dots", kernel)
        times[k] = device_seconds(function() return select(2, gr.dot(a, b, o)) end)
        record("many dots", kernel, count, times[k])
      end
      print(("%10.0f %10.0f %s us %s us %8.1f"):format(
        count, n / count, us(times[1]), us(times[2]), times[1] / times[2]))
    end
  end
end

-- ---- what is written ----

local function json_value(v)
  if type(v) == "string" then return '"' .. v .. '"' end
  return v == v and ("%.9g"):format(v) or "null"
end

local function write_json(description)
  local f = assert(io.open(folder .. "/ladder.json", "w"))
  f:write('{"version": "', gr._VERSION, '", "device": "', description, '", "read_ceiling_bytes_per_s": ',
          json_value(charts.ceiling(records, "sum", N)), ', "unit": "seconds",\n"results": [\n')
  for k, r in ipairs(records) do
    local fields = {}
    for _, name in ipairs { "op", "kernel", "n", "device", "e2e", "transfer", "error" } do
      if r[name] then fields[#fields + 1] = ('"%s": %s'):format(name, json_value(r[name])) end
    end
    f:write("{", table.concat(fields, ", "), k < #records and "},\n" or "}\n")
  end
  f:write("]}\n")
  f:close()
end

-- ---- all of it ----

local description = device
for _, d in ipairs(gr.devices()) do if d.name == device then description = device .. ", " .. d.description end end
print(("%s, %s: the ladder, 2^10 to 2^%d elements"):format(gr._VERSION, description, largest))
print("device us: between events of the device, calls queued back to back; of dot, sum, min and max over other data "
  .. "each time")
print("e2e us: until the number (of array results the last element) is a Lua value. +copy us: memory fresh from the "
  .. "driver, from a Lua string")
run_peers()
if on_gpu and charts.ceiling(records, "sum", N) == 0 then -- without the peers
  for _, e in ipairs(exponents) do
    record("read", "batched", 2 ^ e, device_seconds(function()
      return select(2, gr.sum(A:slice(1, 2 ^ e), { kernel = "batched", rows = 1, timed = true }))
    end))
  end
end
if on_gpu then print(("reading alone, at 2^%d: %.0f GB/s"):format(largest, charts.ceiling(records, "sum", N) / 1e9)) end
for _, op in ipairs(charts.order) do
  local measure = { histogram = histograms, scan = scans, rmsnorm = rows }
  if measure[op] then measure[op]() else folds(op) end
  progress()
  print_tables(op)
  charts.draw(folder, op, records, device)
  io.stdout:flush()
end
atomics()
accuracy()
blocks()
many_dots()
progress()
write_json(description)
print(("\nwritten: %s/ladder.json and %s/ladder_*.svg"):format(folder, folder))
