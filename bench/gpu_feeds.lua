-- Sums of columns, histograms and scans of expressions on a device: the bits of the same operation on the elements when
-- these have been stored, over dtypes, shapes and kinds of bins. From the root, after make:
--   lua5.4 bench/gpu_feeds.lua [device=cuda:0] [dtypes=f32,i64] [times=1]
-- dtypes: those alone, for several processes at once, as a device compiles some 30 kernels for each.
-- times: and the times of both, in turns, at 2^26 elements, and what was compiled, with the time that took. The last
-- line counts; the exit status is 1 if anything differs. device=pretend runs without a GPU.
local gr = require "gpureduce"
local options = {}
for _, a in ipairs(arg) do
  local key, value = a:match "^(%w+)=(.*)$"
  options[key or error("what is '" .. a .. "'?")] = value
end
if options.device then gr.use(options.device) end

local checks, differ = 0, 0
local function same(what, one, other)
  checks = checks + 1
  if one:bytes() == other:bytes() then return end
  differ = differ + 1
  print(what .. " differs")
end

local long = 2 ^ 23 + 4096 * 3 + 77 -- scans of more than 1024 tiles stay on the device from tile to tile
local pools = {}
local function inputs(dtype, n)
  if not pools[dtype] then
    local a, b
    if dtype:find "f" then
      a, b = gr.rand(long, dtype, { seed = 5 }), gr.rand(long, dtype, { seed = 6 })
      a:sub(0.5, { into = a })
    else
      local whole = gr.fuse(dtype .. "(a * 100)")
      a, b = whole({ a = gr.rand(long, { seed = 5 }) }):eval(), whole({ a = gr.rand(long, { seed = 6 }) }):eval()
    end
    pools[dtype] = { a, b }
  end
  return pools[dtype][1]:slice(1, n), pools[dtype][2]:slice(1, n)
end

local dtypes = {}
for t in (options.dtypes or "f32,f64,f16,bf16,i32,u32,i64,i16,u8"):gmatch "%w+" do dtypes[#dtypes + 1] = t end
local texts = { "a * a + 1", "a * b - a", "where(a > b, a, b) * 3" }

local function each(n, body)
  for _, dtype in ipairs(dtypes) do
    local a, b = inputs(dtype, n)
    for k, text in ipairs(texts) do
      local e = gr.fuse(text) { a = a, b = text:find "b" and b or nil }
      body(e, e:eval(), ("%s of %s, %d elements"):format(text, dtype, n), dtype, k)
    end
  end
end

for _, shape in ipairs { { 16, 64 }, { 1000, 1024 }, { 4096, 40 }, { 100, 4000 }, { 33, 24 }, { 70000, 8 } } do
  local rows, columns = shape[1], shape[2]
  each(rows * columns, function(e, stored, what)
    for _, op in ipairs { "sum", "mean" } do
      local asked = { rows = rows, axis = 1 }
      same(("%s of %d columns of %s"):format(op, columns, what), gr[op](e, asked), gr[op](stored, asked))
    end
  end)
end

local edges = {}
for k = 0, 100 do edges[k + 1] = k * k / 2000 - 0.5 end
for _, n in ipairs { 1, 77, 4096, 100003, 3000001 } do
  each(n, function(e, stored, what, dtype)
    local whole = not dtype:find "f"
    local low, high = whole and 0 or -0.5, whole and 128 or 1.5
    for _, bins in ipairs { 4, 256, 3000, 30000, 500000 } do
      local asked = { bins = bins, min = low, max = high }
      same(("%d bins of %s"):format(bins, what), gr.histogram(e, asked).counts, gr.histogram(stored, asked).counts)
      asked.max = high + 0.1 -- no power of two
      same(("%d odd bins of %s"):format(bins, what), gr.histogram(e, asked).counts, gr.histogram(stored, asked).counts)
    end
    local asked = { edges = gr.array(edges, "f64") }
    same("edges of " .. what, gr.histogram(e, asked).counts, gr.histogram(stored, asked).counts)
  end)
end

for _, n in ipairs { 1, 300, 4096, 4097, 1000003, long } do
  each(n, function(e, stored, what, _, k)
    for _, op in ipairs { "sum", "prod", "min", "max" } do
      if n < long or k == 2 or op == "sum" then
        same(op .. " scan of " .. what, gr.scan(e, op), gr.scan(stored, op))
        local exclusive = { exclusive = true }
        same("exclusive " .. op .. " scan of " .. what, gr.scan(e, op, exclusive), gr.scan(stored, op, exclusive))
      end
    end
  end)
end

if options.times then
  local n = 2 ^ 26
  local a, b = gr.rand(n, "f32", { seed = 1 }), gr.rand(n, "f32", { seed = 2 })
  local out, sums = gr.zeros(n), gr.zeros(n / 1024, "f64")
  local ways = {
    { "sums of columns", function(z) return gr.sum(z, { rows = 1024, axis = 1, into = sums })[1] end },
    { "256 bins", function(z) return gr.histogram(z, { bins = 256, min = 0, max = 2 }).counts[1] end },
    { "256 odd bins", function(z) return gr.histogram(z, { bins = 256, min = 0, max = 2.1 }).counts[1] end },
    { "scan", function(z) return gr.scan(z, "sum", { into = out })[n] end },
    { "scan, max", function(z) return gr.scan(z, "max", { into = out })[n] end },
  }
  local function time(f, z)
    local start = gr.clock()
    for _ = 1, 20 do f(z) end
    return (gr.clock() - start) / 20 * 1e6
  end
  for _, text in ipairs { "a * a + 1", "a * b + 1", "sqrt(a*a + b*b) * 0.5 + a" } do
    local e = gr.fuse(text) { a = a, b = text:find "b" and b or nil }
    local stored = e:eval()
    for _, way in ipairs(ways) do
      local fused, array = {}, {}
      way[2](e)
      way[2](stored)
      for round = 1, 7 do fused[round], array[round] = time(way[2], e), time(way[2], stored) end
      table.sort(fused)
      table.sort(array)
      print(("%-16s of %-26s %8.1f us, of an array %8.1f: %.3f"):format(way[1], text, fused[4], array[4],
        fused[4] / array[4]))
    end
  end
end

for _, c in ipairs(gr.compiled and gr.compiled() or {}) do
  if options.times then print(("compiled %s %s: %.1f ms"):format(c.what, c.steps, 1000 * c.seconds)) end
end
print(("gpu_feeds: %d checks on %s: %s"):format(checks, gr.backend():match "^[%w:]+", differ == 0 and "ok" or
  differ .. " DIFFER"))
os.exit(differ == 0 and 0 or 1)
