-- The ladder: every kernel by name, at every size, on aligned and unaligned views, against plain Lua.
local S = require "spec.support"
local gr = S.gr

local unit = 2 ^ -24 -- half the spacing of f32 numbers at 1: the error of one rounding

-- What gr.kernels calls the error, as a number.
local function roundings(kernel, n, block)
  local log2 = math.log(block) / math.log(2)
  return ({
    ["exact"] = 0, ["2"] = 2, ["as without 'kernel' (docs/numerics.md)"] = 40, ["n + 1"] = n + 1,
    ["n / 32 + 16"] = n / 32 + 16,
    ["n / block + 2 log2(block) + 16"] = n / block + 2 * log2 + 16, ["n / block + block + 16"] = n / block + block + 16,
  })[kernel.error]
end

-- Small whole numbers: their sums are exact in f32 in any order. And fractions with every bit in use.
local function whole(n, seed)
  local g, t = S.model.generator(seed), {}
  for k = 1, n do t[k] = g() % 9 - 4 end
  return t
end
local function fractions(n, seed)
  local t, a = {}, gr.randn(n, "f32", { seed = seed }):table()
  for k = 1, n do t[k] = a[k] end
  return t
end

local function dot_of(x, y, first, last)
  local sum, size = 0, 0
  for k = first or 1, last or #x do
    sum = sum + x[k] * (y and y[k] or 1)
    size = size + math.abs(x[k] * (y and y[k] or 1))
  end
  return sum, size
end

local function blocks_of(kernel)
  if not kernel.blocks then return { false } end
  if kernel.blocks == "64 to 1024" then return { false, 64, 100, 1024 } end
  if kernel.blocks:find("power") then return { false, 64, 1024 } end
  return { false, 64, 96, 1024 }
end

local sizes = { 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 1023, 1024, 1025, 4097, 20011 }

-- A slice that starts `shift` elements into its storage.
local function shifted(t, shift, dtype)
  local p = {}
  for k = 1, shift do p[k] = 77 end
  for k = 1, #t do p[shift + k] = t[k] end
  return gr.array(p, dtype or "f32"):slice(shift + 1, -1)
end

describe("gr.kernels", function()
  it("lists the rungs with what each of them is", function()
    local seen = {}
    for _, k in ipairs(gr.kernels("dot")) do
      seen[#seen + 1] = k.name
      assert.truthy(#k.description > 20 and #k.source > 10 and #k.error > 0)
      assert.equal(k.block == nil, k.blocks == nil)
      assert.equal(k.block and "f32" or "all", k.dtypes)
      assert.equal(k.name == "single_pass", k.default)
    end
    assert.equal("naive_atomic warp_atomic shared_atomic shared_warp_atomic warp_block_atomic elementwise_host "
      .. "shared_host two_phase vectorized vectorized_two_phase cooperative single_pass f32_accumulators "
      .. "f64_accumulators kahan neumaier batched", table.concat(seen, " "))
  end)

  it("has one default for each operation, and says which teach CUDA alone", function()
    local only = {}
    for _, op in ipairs { "dot", "sum", "min", "max", "histogram", "scan", "rmsnorm" } do
      local defaults = 0
      for _, k in ipairs(gr.kernels(op)) do
        if k.default then defaults = defaults + 1 end
        only[k.name] = k.cuda_only
      end
      assert.equal(1, defaults, op)
    end
    assert.is_false(only.naive_atomic or only.two_phase or only.kahan or only.two_pass)
    assert.is_true(only.warp_butterfly and only.cooperative and only.blelloch and only.warp_private)
  end)
end)

describe("ladder of sums", function()
  for _, op in ipairs { "dot", "sum", "min", "max" } do
    it(op .. ": every kernel, size, block and alignment", function()
      for _, n in ipairs(sizes) do
        local x, y = whole(n, n), whole(n, n + 1)
        local expected = op == "dot" and dot_of(x, y) or op == "sum" and dot_of(x)
        for k = 1, op:match("^m") and n or 0 do
          if not expected or (x[k] < expected) == (op == "min") then expected = x[k] end
        end
        for _, shifts in ipairs { { 0, 0 }, { 1, 1 }, { 3, 2 } } do
          local a, b = shifted(x, shifts[1]), shifted(y, shifts[2])
          for _, kernel in ipairs(gr.kernels(op)) do
            for _, block in ipairs(n > 4000 and blocks_of(kernel) or { false }) do
              local options = { kernel = kernel.name, block = block or nil }
              if kernel.name == "batched" then options.rows, options.pairs = 1, op == "dot" or nil end
              local got = op == "dot" and gr.dot(a, b, options) or op ~= "dot" and gr[op](a, options)
              if kernel.name == "batched" then got = got[1] end
              S.same(expected, got, op, kernel.name, n, shifts[1], tostring(block))
            end
          end
        end
      end
    end)
  end

  it("stays within each kernel's error", function()
    for _, n in ipairs { 1, 77, 1024, 30011 } do
      local x, y = fractions(n, 5), fractions(n, 6)
      local a, b = gr.array(x), gr.array(y)
      for _, op in ipairs { "dot", "sum" } do
        local expected, size = dot_of(x, op == "dot" and y or nil)
        for _, kernel in ipairs(gr.kernels(op)) do
          if kernel.name ~= "batched" then
            local got = op == "dot" and gr.dot(a, b, { kernel = kernel.name }) or gr.sum(a, { kernel = kernel.name })
            local bound = roundings(kernel, n, kernel.block or 256) * unit * size
            assert.truthy(math.abs(got - expected) <= bound, op .. " " .. kernel.name .. " " .. n)
          end
        end
      end
    end
  end)

  it("the module's own kernels give the bits they give without a name", function()
    local a, b = gr.randn(5000, "f64", { seed = 1 }), gr.randn(5000, "f64", { seed = 2 })
    S.same(gr.dot(a, b), gr.dot(a, b, { kernel = "single_pass" }))
    S.same(gr.sum(a), gr.sum(a, { kernel = "f64_accumulators" }))
    for _, mode in ipairs { "f32", "kahan", "neumaier" } do
      local name = mode == "f32" and "f32_accumulators" or mode
      S.same(gr.dot(a, b, { accumulate = mode }), gr.dot(a, b, { kernel = name }), mode)
      S.same(gr.sum(a, { accumulate = mode }), gr.sum(a, { kernel = name }), mode)
    end
    local whole_numbers = gr.array({ 3, -1, 9007 }, "i64")
    S.same(9009, whole_numbers:sum { kernel = "single_pass" })
    S.same(-1, whole_numbers:min { kernel = "single_pass" })
  end)

  it("min and max keep the rules of NaN, zeros and infinities", function()
    local nan, inf = 0 / 0, math.huge
    for _, kernel in ipairs(gr.kernels("min")) do
      if kernel.name ~= "batched" then
        local o = { kernel = kernel.name }
        S.same(S.model.minus_zero, gr.min(gr.array { 0, S.model.minus_zero, 0 }, o), kernel.name)
        S.same(0.0, gr.max(gr.array { S.model.minus_zero, 0, S.model.minus_zero }, o), kernel.name)
        S.same(-inf, gr.min(gr.array { 1, -inf, 2 }, o), kernel.name)
        S.same(inf, gr.max(gr.array { 1, inf, 2 }, o), kernel.name)
        S.same(-inf, gr.max(gr.array { -inf, -inf }, o), kernel.name)
        S.same(nan, gr.min(gr.array { 1, nan, -inf }, o), kernel.name)
        S.same(nan, gr.max(gr.array { 1, -nan, inf }, o), kernel.name)
      end
    end
  end)

  it("steps, rows and into", function()
    local x, y = whole(300, 8), whole(300, 9)
    local a, b = gr.array(x), gr.array(y)
    local backwards, every3 = 0, 0
    for k = 1, 300 do backwards = backwards + x[301 - k] * y[k] end
    for k = 1, 300, 3 do every3 = every3 + x[k] end
    local into = gr.zeros(3, "f64")
    for _, kernel in ipairs(gr.kernels("dot")) do
      local o = { kernel = kernel.name, rows = 3, pairs = true, into = into }
      assert.equal(into, gr.dot(a, b, o))
      for r = 1, 3 do S.same((dot_of(x, y, r * 100 - 99, r * 100)), into[r], kernel.name, r) end
      local row = gr.array(y):slice(101, 200)
      local each = gr.dot(a, row, { kernel = kernel.name, rows = 3 })
      local expected = 0
      for k = 1, 100 do expected = expected + x[200 + k] * y[100 + k] end
      S.same(expected, each[3], kernel.name)
      if kernel.name ~= "batched" then
        S.same(backwards, gr.dot(a:slice(300, 1, -1), b, { kernel = kernel.name }), kernel.name)
      end
    end
    for _, kernel in ipairs(gr.kernels("sum")) do
      if kernel.name ~= "batched" then
        S.same(every3, gr.sum(a:slice(1, 300, 3), { kernel = kernel.name }), kernel.name)
      end
      local spread = gr.zeros(6, "f64"):slice(1, 6, 2)
      gr.sum(a, { kernel = kernel.name, rows = 3, into = spread })
      S.same((dot_of(x, nil, 101, 200)), spread[2], kernel.name)
    end
  end)

  it("nothing at all", function()
    local none = gr.zeros(0)
    for _, kernel in ipairs(gr.kernels("sum")) do
      if kernel.name ~= "batched" then
        S.same(0.0, gr.sum(none, { kernel = kernel.name }), kernel.name)
      end
    end
    assert.equal("bad argument #1 to 'max' (array is empty: 'max' needs an element)",
                 S.message(gr.max, none, { kernel = "naive_atomic" }))
  end)

  it("works within gr.async and gr.many", function()
    local a = gr.array { 1, 2, 3 }
    S.same(6.0, gr.async(gr.sum, a, { kernel = "naive_atomic" }):get())
    S.same(6.0, gr.async(gr.sum, a, { kernel = "kahan" }):get())
    local x, y, z = gr.many {
      { "sum", a, { kernel = "shared_atomic" } }, { "max", a }, { "dot", a, a, { kernel = "neumaier" } },
    }
    S.same(6.0, x)
    S.same(3.0, y)
    S.same(14.0, z)
  end)

  it("tells the time", function()
    local a = gr.ones(1000)
    for _, kernel in ipairs(gr.kernels("sum")) do
      local sum, seconds = gr.sum(a, { kernel = kernel.name, rows = 1, timed = true })
      S.same(1000.0, sum[1])
      assert.truthy(seconds > 0 and seconds < 10, kernel.name)
    end
    for _, op in ipairs { "sum", "scan", "rmsnorm", "histogram" } do
      local x = op == "histogram" and gr.array({ 1, 2, 2, 3 }, "i32") or gr.array { 3, 4, 1, 2 }
      for _, kernel in ipairs(gr.kernels(op)) do
        local o = { kernel = kernel.name, timed = 3, rows = op == "sum" and 1 or nil }
        if op == "histogram" then o.bins, o.modulo = 4, true end
        local got, seconds
        if op == "scan" then got, seconds = gr.scan(x, "sum", o)
        elseif op == "rmsnorm" then got, seconds = gr.rmsnorm(x, nil, o)
        else got, seconds = gr[op](x, o) end
        if op == "histogram" then got = got.counts end
        S.same(({ sum = 10, scan = 10, histogram = 1 })[op] or got[#got], got[#got], op, kernel.name)
        assert.truthy(seconds > 0 and seconds < 10, kernel.name)
      end
    end
    assert.equal(1, select("#", gr.sum(a, { kernel = "naive_atomic" })))
    assert.equal(2, select("#", gr.scan(a, "sum", { kernel = "warp", timed = true })))
  end)
end)

describe("ladder of histograms", function()
  it("every kernel, size and kind of bins", function()
    for _, n in ipairs { 0, 1, 33, 1000, 20011 } do
      local g, x = S.model.generator(n + 3), {}
      for k = 1, n do x[k] = g() % 300 - 20 end
      for _, shift in ipairs { 0, 1 } do
        local a = shifted(x, shift, "i32")
        for _, o in ipairs {
          { bins = 256, min = 0, max = 256 }, { bins = 50, min = 0, max = 250 }, { bins = 7, modulo = true },
          { bins = 1, min = -5, max = 5 },
        } do
          local bins, width = o.bins, o.min and (o.max - o.min) / o.bins
          local counts, tails = {}, { 0, 0, 0 }
          for k = 1, bins do counts[k] = 0 end
          for k = 1, n do
            local v = x[k]
            local bin = o.modulo and v % bins or math.floor((v - (o.min or 0)) / (width or 1))
            if not o.modulo and v == o.max then bin = bins - 1 end
            if not o.modulo and v < o.min then tails[1] = tails[1] + 1
            elseif not o.modulo and v > o.max then tails[2] = tails[2] + 1
            else counts[bin + 1] = counts[bin + 1] + 1 end
          end
          for _, kernel in ipairs(gr.kernels("histogram")) do
            for _, block in ipairs(blocks_of(kernel)) do
              local h = gr.histogram(a, {
                bins = bins, min = o.min, max = o.max, modulo = o.modulo, kernel = kernel.name, block = block or nil,
              })
              S.same_all(S.whole(counts), h.counts, kernel.name, n, bins)
              S.same_all(S.whole({ tails[1], tails[2], tails[3] }), h.tails, kernel.name, n, bins)
            end
          end
        end
      end
    end
    local odd = gr.array({ 1, 9, 2, 9, 3, 9 }, "i32"):slice(1, 6, 2)
    local twice = gr.histogram(odd, { bins = 3, min = 1, max = 4, kernel = "shared" })
    S.same_all(S.whole { 1, 1, 1 }, twice.counts)
  end)
end)

describe("ladder of scans", function()
  it("every kernel, size, block and alignment", function()
    for _, n in ipairs(sizes) do
      local x, inclusive, exclusive, sum = whole(n, n + 7), {}, {}, 0
      for k = 1, n do
        exclusive[k] = sum
        sum = sum + x[k]
        inclusive[k] = sum
      end
      for _, shift in ipairs { 0, 1 } do
        local a = shifted(x, shift)
        for _, kernel in ipairs(gr.kernels("scan")) do
          for _, block in ipairs(n > 4000 and blocks_of(kernel) or { false }) do
            local o = { kernel = kernel.name, block = block or nil }
            local got = gr.scan(a, "sum", o):table()
            for k = 1, n do
              if got[k] ~= inclusive[k] then S.same(inclusive[k], got[k], kernel.name, n, k, tostring(block)) end
            end
            o.exclusive = true
            got = gr.scan(a, "sum", o):table()
            for k = 1, n do
              if got[k] ~= exclusive[k] then S.same(exclusive[k], got[k], kernel.name, n, k, "exclusive") end
            end
          end
        end
      end
    end
  end)

  it("errors, steps, into", function()
    local n = 20000
    local x = fractions(n, 3)
    local a, into = gr.array(x), gr.zeros(2 * n):slice(1, 2 * n, 2)
    for _, kernel in ipairs(gr.kernels("scan")) do
      gr.scan(a:slice(n, 1, -1), "sum", { kernel = kernel.name, into = into })
      local got, sum, size = into:table(), 0, 0
      for k = 1, n do
        sum, size = sum + x[n + 1 - k], size + math.abs(x[n + 1 - k])
        local bound = roundings(kernel, k, kernel.block or 256) * unit * size
        assert.truthy(math.abs(got[k] - sum) <= bound, kernel.name .. " " .. k)
      end
    end
    assert.equal(0, #gr.scan(gr.zeros(0), "sum", { kernel = "blelloch" }))
    S.same_all({ 1, 2, 2 }, gr.scan(gr.array { 1, 2, 0 }, "max", { kernel = "single_pass" }))
  end)
end)

describe("ladder of rows", function()
  it("rmsnorm in two passes", function()
    local rows, columns = 7, 333
    local x, w = fractions(rows * columns, 4), fractions(columns, 5)
    for _, kernel in ipairs(gr.kernels("rmsnorm")) do
      for _, block in ipairs(blocks_of(kernel)) do
        for _, weighted in ipairs { false, true } do
          local o = { kernel = kernel.name, rows = rows, block = block or nil }
          local y = gr.rmsnorm(shifted(x, 1), weighted and gr.array(w) or nil, o):table()
          for r = 0, rows - 1 do
            local squares = 0
            for k = 1, columns do squares = squares + x[r * columns + k] ^ 2 end
            local factor = 1 / math.sqrt(squares / columns + 1e-5)
            for k = 1, columns do
              local expected = x[r * columns + k] * factor * (weighted and w[k] or 1)
              local bound = roundings(kernel, columns, kernel.block or 256) * unit * math.abs(expected)
              assert.truthy(math.abs(y[r * columns + k] - expected) <= bound, kernel.name)
            end
          end
        end
      end
    end
  end)
end)

describe("ladder, bad input", function()
  local a, i = gr.ones(12), gr.zeros(12, "i32")
  local cases = {
    { gr.sum, { a, { kernel = "nosuch" } },
      "bad argument #2 to 'sum' (option 'kernel': unknown kernel 'nosuch' (there are: naive_atomic, warp_atomic, "
      .. "warp_butterfly, masked_warp, shared_atomic, shared_warp_atomic, warp_block_atomic, shared_host, two_phase, "
      .. "vectorized, vectorized_two_phase, cooperative, single_pass, f32_accumulators, f64_accumulators, kahan, "
      .. "neumaier, batched))" },
    { gr.scan, { a, "sum", { kernel = "vectorized" } },
      "bad argument #3 to 'scan' (option 'kernel': unknown kernel 'vectorized' (there are: hillis_steele, blelloch, "
      .. "warp, three_phase, single_pass))" },
    { gr.sum, { a, { kernel = 3 } }, "bad argument #2 to 'sum' (option 'kernel': string expected, got number)" },
    { gr.sum, { gr.ones(3, "f64"), { kernel = "warp_atomic" } },
      "bad argument #1 to 'sum' (kernel 'warp_atomic': dtype f32 expected, got f64)" },
    { gr.histogram, { a, { bins = 3, min = 0, max = 3, kernel = "naive" } },
      "bad argument #1 to 'histogram' (kernel 'naive': dtype i32 expected, got f32)" },
    { gr.histogram, { gr.zeros(3, "u8"), { bins = 3, min = 0, max = 3, kernel = "large" } },
      "bad argument #1 to 'histogram' (kernel 'large': dtype of 2 bytes or more expected, got u8)" },
    { gr.sum, { i, { kernel = "kahan" } }, "bad argument #1 to 'sum' (kernel 'kahan': float dtype expected, got i32)" },
    { gr.sum, { a, { kernel = "naive_atomic", block = 63 } },
      "bad argument #2 to 'sum' (option 'block': 64 to 1024 expected for kernel 'naive_atomic', got 63)" },
    { gr.sum, { a, { kernel = "shared_atomic", block = 96 } },
      "bad argument #2 to 'sum' (option 'block': "
        .. "a power of two from 64 to 1024 expected for kernel 'shared_atomic', got 96)" },
    { gr.sum, { a, { kernel = "vectorized", block = 100 } },
      "bad argument #2 to 'sum' (option 'block': "
        .. "a multiple of 32 from 64 to 1024 expected for kernel 'vectorized', got 100)" },
    { gr.sum, { a, { kernel = "cooperative", block = 2048 } },
      "bad argument #2 to 'sum' (option 'block': "
        .. "a multiple of 32 from 64 to 1024 expected for kernel 'cooperative', got 2048)" },
    { gr.sum, { a, { kernel = "single_pass", block = 256 } },
      "bad argument #2 to 'sum' (option 'block': kernel 'single_pass' chooses its own)" },
    { gr.scan, { a, "sum", { block = 256 } },
      "bad argument #3 to 'scan' (option 'block': only together with 'kernel')" },
    { gr.scan, { a, "sum", { timed = true } },
      "bad argument #3 to 'scan' (option 'timed': only together with 'kernel')" },
    { gr.sum, { a, { kernel = "warp_atomic", timed = 0 } },
      "bad argument #2 to 'sum' (option 'timed': true or 1 to 1000000 runs expected, got 0)" },
    { gr.scan, { a, "sum", { kernel = "warp", timed = 2, into = a } },
      "bad argument #3 to 'scan' (option 'timed': 1 run expected where 'into' is the input, got 2)" },
    { gr.dot, { a, a, { kernel = "two_phase", rows = 5 } },
      "bad argument #3 to 'dot' (option 'rows': 5 rows do not divide length 12)" },
    { gr.rmsnorm, { a, nil, { kernel = "two_pass", rows = 5 } },
      "bad argument #3 to 'rmsnorm' (option 'rows': 5 rows do not divide length 12)" },
    { gr.dot, { a, gr.ones(3), { kernel = "two_phase" } }, "bad argument #2 to 'dot' (length 12 expected, got 3)" },
    { gr.sum, { a, { kernel = "two_phase", rows = 3, axis = 1 } },
      "bad argument #2 to 'sum' (option 'axis': not together with 'kernel')" },
    { gr.sum, { a, { kernel = "two_phase", accumulate = "f32" } },
      "bad argument #2 to 'sum' (option 'accumulate': not together with 'kernel')" },
    { gr.sum, { a, { kernel = "two_phase", async = true } },
      "bad argument #2 to 'sum' (option 'async': not together with 'kernel')" },
    { gr.scan, { a, "max", { kernel = "warp" } },
      "bad argument #2 to 'scan' (kernel 'warp': scan of sum expected, got 'max')" },
    { gr.scan, { a, "sum", { kernel = "warp", reverse = true } },
      "bad argument #3 to 'scan' (option 'reverse': kernel 'warp' scans forwards only)" },
    { gr.histogram, { i, { bins = 3, min = 0, max = 4, kernel = "naive" } },
      "bad argument #2 to 'histogram' (kernel 'naive': 'modulo', or bins between whole numbers, all of one whole "
        .. "width, expected)" },
    { gr.histogram, { i, { edges = { 0, 1, 3 }, kernel = "shared" } },
      "bad argument #2 to 'histogram' (kernel 'shared': 'modulo', or bins between whole numbers, all of one whole "
        .. "width, expected)" },
    { gr.histogram, { i, { bins = 1536, min = 0, max = 1536, kernel = "warp_private" } },
      "bad argument #2 to 'histogram' (kernel 'warp_private' with blocks of 256: "
        .. "at most 1533 bins fit shared memory, got 1536)" },
    { gr.histogram, { i, { bins = 5000, modulo = true, kernel = "replicated" } },
      "bad argument #2 to 'histogram' (kernel 'replicated': at most 4096 bins expected, got 5000)" },
    { gr.kernels, { "mean" },
      "bad argument #1 to 'kernels' (no ladder for 'mean' (there are: dot, sum, min, max, histogram, scan, rmsnorm))" },
    { gr.kernels, {},
      "bad argument #1 to 'kernels' (operation name expected (dot, sum, min, max, histogram, scan, rmsnorm), "
        .. "got nil)" },
    { gr.mean, { a, { kernel = "two_phase" } }, "bad argument #2 to 'mean' (unknown option 'kernel')" },
  }
  for _, case in ipairs(cases) do
    it(case[3]:sub(1, 70), function()
      assert.equal(case[3], S.message(case[1], (table.unpack or unpack)(case[2], 1, 3))) -- luacheck: ignore unpack
    end)
  end
end)
