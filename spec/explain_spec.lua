-- gr.explain: what a reduction would do; GPUREDUCE_TRACE; and the map of the CUDA kernels, as the planner has it.
local S = require "spec.support"
local gr = S.gr

-- Nothing is launched, copied, allocated or waited for.
local function quietly(...)
  local result
  local arguments, count = { ... }, select("#", ...)
  local changed = S.counted(function() result = gr.explain((unpack or table.unpack)(arguments, 1, count)) end)
  for _, name in ipairs { "launches", "copies", "syncs", "allocations", "bytes_up", "bytes_down" } do
    assert.equal(0, changed[name], name)
  end
  return result
end

describe("explain on the CPU", function()
  local before, threads
  setup(function()
    before, threads = gr.backend(), gr.threads()
    gr.use "cpu"
    gr.threads(2)
  end)
  teardown(function()
    gr.use(before)
    gr.threads(threads)
  end)

  it("says that a short vector is reduced at once", function()
    local e = quietly("sum", gr.ones(1000))
    assert.equal("small", e.kernel)
    assert.equal("a short vector in the host's memory, at once", e.why)
    assert.equal("cpu", e.device)
    assert.equal("sum", e.op)
    assert.equal(gr.instructions(), e.instructions)
    assert.equal(4000, e.reads)
    assert.equal(8, e.writes)
    assert.equal(0, e.uploads)
    assert.equal(1, e.blocks)
    assert.equal(1, e.threads)
  end)

  it("says into how many pieces a long one is cut, and what two inputs read", function()
    local e = quietly("dot", gr.ones(1000000), gr.ones(1000000))
    assert.equal("vectors", e.kernel)
    assert.equal(8000000, e.reads)
    assert.equal(2, e.threads)
    assert.equal(math.ceil(1000000 / 8192), e.blocks)
  end)

  it("tells rows from columns, and sums from others", function()
    local a = gr.ones(100000)
    assert.equal("sums of rows", quietly("sum", a, { rows = 1000 }).kernel)
    assert.equal("rows", quietly("max", a, { rows = 1000 }).kernel)
    assert.equal("columns", quietly("max", a, { rows = 1000, axis = 1 }).kernel)
    assert.equal(8000, quietly("sum", a, { rows = 1000 }).writes)
    assert.equal(4000, quietly("max", a, { rows = 1000 }).writes)
  end)

  it("knows the options that choose another operation", function()
    local a = gr.ones(1000)
    assert.equal("sum_kahan", quietly("sum", a, { accumulate = "kahan" }).op)
    assert.equal("exact sums", quietly("sum", a, { exact = true }).kernel)
    assert.is_not.equal("small", quietly("var", a, { ddof = 1 }).kernel)
  end)

  it("is a line, too", function()
    local e = gr.explain("sum", gr.ones(1000, "f64"), { rows = 10 })
    assert.equal(e.text, tostring(e))
    assert.equal(("sum of 1000 f64 in 10 rows on cpu: sums of rows (%s), 1 piece, 1 thread; "
      .. "reads 8000, writes 80 bytes; sums of short rows, a block of them at a time"):format(
        gr.instructions()), e.text)
  end)

  it("serves scans", function()
    local e = quietly("scan", gr.ones(1000))
    assert.equal(("scan (sum) of 1000 f32 on cpu: scan in order (%s), 1 piece, 1 thread; "
      .. "reads 4000, writes 4000 bytes; block after block"):format(gr.instructions()), e.text)
    assert.equal("scan", e.op)
    e = quietly("scan", gr.ones(3000000, "u8"), "sum", { reverse = true })
    assert.equal("scan by keys", e.kernel)
    assert.equal("pieces, each as soon as what lies before it is known", e.why)
    assert.equal(24000000, e.writes)
    assert.equal(math.ceil(3000000 / 32768), e.blocks)
    assert.equal("short, but long enough for two halves side by side",
      quietly("scan", gr.ones(100000), "prod", { exclusive = true }).why)
    assert.equal("block after block", quietly("scan", gr.ones(100000), "max").why)
  end)

  it("serves histograms", function()
    local a = gr.ones(3000000)
    local e = quietly("histogram", a, { bins = 256, min = 0, max = 1 })
    assert.equal(("histogram of 3000000 f32 in 256 bins on cpu: tables of pieces (%s), 23 pieces, 2 threads; "
      .. "reads 12000000, writes 2072 bytes; few bins: each piece has tables on the stack, which are added up")
      :format(gr.instructions()), e.text)
    e = quietly("histogram", a, { bins = 100000, min = 0, max = 1 })
    assert.equal("tables of threads", e.kernel)
    assert.truthy(e.scratch >= 2 * 5 * 100000)
    assert.equal("straight", quietly("histogram", gr.ones(20, "i32"), { bins = 100, modulo = true }).kernel)
  end)

  it("has the errors of the operation", function()
    local a = gr.ones(10)
    local function fails(text, ...)
      local ok, message = pcall(gr.explain, ...)
      assert.is_false(ok)
      assert.equal(text, (message:gsub("^.-bad argument", "bad argument")))
    end
    fails("bad argument #1 to 'explain' (unknown operation 'sun' (did you mean 'sum'?))", "sun", a)
    fails("bad argument #2 to 'explain' (gpureduce.array expected, got number)", "sum", 3)
    fails("bad argument #3 to 'explain' (length 10 expected, got 9)", "dot", a, gr.ones(9))
    fails("bad argument #3 to 'explain' (option 'rows': 3 rows do not divide length 10)", "sum", a, { rows = 3 })
    fails("bad argument #2 to 'explain' (array is empty: there is nothing to do)", "sum", gr.zeros(0))
    fails("bad argument #2 to 'explain' (array is empty: there is nothing to do)", "scan", gr.zeros(0))
    fails("bad argument #3 to 'explain' (scan of sum, prod, min or max expected, got 'mean')", "scan", a, "mean")
    fails("bad argument #4 to 'explain' (unknown option 'into')", "scan", a, "sum", { into = a })
    fails("bad argument #3 to 'explain' (option 'reverse': boolean expected, got number)", "scan", a, { reverse = 1 })
    fails("bad argument #3 to 'explain' (option 'bins' expected)", "histogram", a)
    fails("bad argument #3 to 'explain' (option 'bins': 1 to 2147483647 expected, got 0)", "histogram", a, { bins = 0 })
    fails("bad argument #3 to 'explain' (options 'min' and 'max' expected: "
      .. "the range of the data is not looked for)", "histogram", a, { bins = 3 })
    fails("bad argument #3 to 'explain' (option 'min': finite number below 'max' expected, got 1)",
      "histogram", a, { bins = 3, min = 1, max = 1 })
    fails("bad argument #3 to 'explain' (option 'modulo': integer dtype expected, got f32)",
      "histogram", a, { bins = 3, modulo = true })
    fails("bad argument #3 to 'explain' (option 'modulo': takes no 'min' and 'max')",
      "histogram", gr.ones(3, "i32"), { bins = 3, modulo = true, min = 1 })
    fails("bad argument #3 to 'explain' (option 'segments': not explained, "
      .. "since it is work of its own or changes nothing)", "sum", a, { segments = gr.array({ 1, 11 }, "i64") })
  end)
end)

describe("explain on a device with memory of its own", function()
  it("says what scans and histograms would copy there", function()
    S.on("pretend", function()
      local a = gr.array { 1, 2, 3 }
      assert.equal(12, quietly("scan", a).uploads)
      assert.equal(12, quietly("histogram", a, { bins = 2, min = 0, max = 4 }).uploads)
    end)
  end)

  it("says what would be copied there first", function()
    S.on("pretend", function()
      local a = gr.array { 1, 2, 3 }
      assert.equal(12, quietly("sum", a).uploads)
      a:sum()
      assert.equal(0, quietly("sum", a).uploads)
      assert.equal("pretend", quietly("sum", a).device)
      a[2] = 5
      assert.equal(12, quietly("sum", a).uploads)
      assert.equal(0, quietly("sum", gr.zeros(100)).uploads) -- zeros are nowhere yet, and are made there
    end)
  end)

  it("counts chunks of 64 KiB that the view meets", function()
    S.on("pretend", function()
      local a = gr.arange(1, 65536)
      a:sum()
      a[1], a[20000] = 7, 8
      assert.equal(2 * 65536, quietly("sum", a).uploads)
      assert.equal(65536, quietly("sum", a:slice(1, 100)).uploads)
      assert.equal(0, quietly("sum", a:slice(40000, 50000)).uploads)
    end)
  end)
end)

describe("GPUREDUCE_TRACE", function()
  local script = [[
    local gr = require "gpureduce"
    local a = gr.ones(100)
    a:sum() a:dot(a) a:sum { rows = 10 } a:sum { segments = gr.array({ 1, 5, 101 }, "i64") } gr.many { { "max", a } }
    a:sum { async = true }:get()
    a:sum { exact = true } a:mean { exact = true, rows = 10 }
    a:sum { exact = true, segments = gr.array({ 1, 5, 101 }, "i64") }
    print "done"]]

  it("writes a line a call", function()
    local text, status = S.child_text({ GPUREDUCE_TRACE = "1", GPUREDUCE_DEVICE = "cpu" }, script)
    assert.equal(0, status, text)
    local lines = {}
    for line in text:gmatch "gpureduce: ([^\n]*)" do lines[#lines + 1] = line end
    assert.equal(9, #lines, text)
    assert.truthy(lines[1]:find("sum of 100 f32 on cpu: small", 1, true), text)
    assert.truthy(lines[2]:find("dot of 100 f32 on cpu: small", 1, true), text)
    assert.truthy(lines[3]:find("in 10 rows", 1, true), text)
    assert.truthy(lines[4]:find("in 2 segments on cpu: segments", 1, true), text)
    assert.truthy(lines[5]:find("max of 100 f32", 1, true), text)
    assert.truthy(lines[6]:find("sum of 100 f32", 1, true), text)
    assert.truthy(lines[7]:find("sum of 100 f32 on cpu: exact sums; reads 400, writes 8 bytes", 1, true), text)
    assert.truthy(lines[8]:find("mean of 100 f32 in 10 rows on cpu: exact sums", 1, true), text)
    assert.truthy(lines[9]:find("sum of 100 f32 in 2 segments on cpu: exact sums", 1, true), text)
  end)

  it("knows the kernels of a GPU that leave NaN out", function()
    if not gr.backend():find "^cuda" then return pending "needs a GPU" end
    local text = S.child_text({ GPUREDUCE_TRACE = "1" }, [[
      local gr = require "gpureduce"
      local m = gr.ones(100000):matrix(20000)
      for _, op in ipairs { "sum", "mean", "max", "argmax" } do m[op](m, { skipnan = true, axis = 1 }) end
      for _, c in ipairs(gr.compiled()) do print(c.what) end]])
    if not text:find "present" then return pending "it has none" end
    local _, lines = text:gsub("gpureduce: %S+ of 100000 f32 in 5 columns on cuda:%d+: formula; ", "")
    assert.equal(4, lines, text)
    assert.is_nil(text:find("stored", 1, true), text)
  end)

  it("is quiet when it is not asked for", function()
    for _, wish in ipairs { "", "0" } do
      local text = S.child_text({ GPUREDUCE_TRACE = wish, GPUREDUCE_DEVICE = "cpu" }, script)
      assert.equal("done\n", text)
    end
  end)
end)

-- build/plans asks the planner of CUDA's reductions, which needs no device.
local plans = os.getenv "GPUREDUCE_PLANS"

local function ask(...)
  local pipe = assert(io.popen('"' .. plans .. '" ' .. table.concat({ ... }, " ")))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

describe("the plans of CUDA's scans and histograms", function()
  it("are a block a tile, or a ring", function()
    if not plans then return pending "no CUDA half in this build" end
    assert.equal("kernel=gr_scan_short blocks=245 threads=256 shared=0",
      ask("scan", "sum", "f32", 1000000):match "^(.*) scratch")
    assert.equal("kernel=gr_scan_long blocks=264", ask("scan", "max", "f64", 1e8):match "^(.*) threads")
    assert.equal("gr_scan_long", ask("scan", "prod", "i32", 4194305):match "kernel=(%S+)")
  end)

  it("share counters of blocks, or count in L2", function()
    if not plans then return pending "no CUDA half in this build" end
    local text = ask("histogram", "f32", 67108864, 256)
    assert.equal("gr_hist_blocks", text:match "kernel=(%S+)")
    assert.equal("1", text:match "launches=(%d+)")
    assert.equal("2", ask("histogram", "f32", 67108864, 65536):match "launches=(%d+)", "rows of blocks are added up")
    assert.equal("gr_hist_global", ask("histogram", "f32", 1000, 1000000):match "kernel=(%S+)")
    assert.equal("2", ask("histogram", "f32", 1000, 1000000):match "launches=(%d+)", "counts in L2 begin at zero")
  end)
end)

describe("the map of CUDA's reductions", function()

  it("is that of kernels/cuda/README.md", function()
    if not plans then return pending "no CUDA half in this build" end
    local written, planned = {}, {}
    for what, kernel in S.read_file("kernels/cuda/README.md"):gmatch "\n| %d+ | ([^|]+) | `([%w_]+)` |" do
      written[#written + 1] = kernel .. "\t" .. what
    end
    for line in ask():gmatch "[^\n]+" do planned[#planned + 1] = line end
    assert.is_true(#planned > 5)
    assert.same(planned, written)
  end)

  it("sends shapes to the kernels that it names", function()
    if not plans then return pending "no CUDA half in this build" end
    local expected = {
      { "leaves", "sum", "f32", 1, 1048576, 0 }, { "rows_staged", "sum", "f32", 65536, 64, 2 },
      { "rows_by_element", "sum", "f32", 65536, 63, 2 }, { "rows_by_vector", "dot", "f32", 1024, 65536, 2 },
      { "leaves", "sum", "f32", 1024, 65536, 2 }, { "cols_few_rows", "sum", "f32", 4, 1000000, 1 },
      { "cols_sum", "sum", "f32", 65536, 1024, 1 }, { "cols_variance_ring", "var", "f32", 65536, 1024, 1 },
      { "cols_by_lane", "prod", "f32", 65536, 1024, 1 }, { "cols_by_lane", "sum", "f32", 1867, 24, 1 },
      { "cols_sum", "sum", "f32", 100, 104, 1 }, { "cols_sum", "sum", "f32", 65536, 1023, 1 },
      { "cols_sum", "norm2", "f32", 65536, 1024, 1 },
      { "cols_by_lane", "sum", "f32", 65536, 17, 1 }, { "cols_flat", "sum", "f32", 65536, 13, 1 },
      { "cols_flat", "var", "f16", 65536, 3, 1 }, { "cols_few_rows", "max", "u8", 32, 100000, 1 },
      { "cols_few_rows", "var", "f16", 5, 100001, 1 }, { "cols_few_rows", "argmax", "f32", 13, 100001, 1 },
      { "cols_few_rows", "max", "i8", 1000000, 1, 2 }, { "cols_by_lane", "var", "f32", 447, 1001, 1 },
      { "cols_by_lane", "var", "f16", 65536, 725, 1 }, { "cols_flat", "var", "f32", 65536, 4, 1 },
      { "cols_unordered", "max", "f32", 65536, 1024, 1 }, { "rows_by_element", "sum", "f32", 65536, 64, 2, 65 },
      { "cols_flat", "var", "f32", 1000000, 8, 1 }, { "cols_flat", "var", "f64", 1000000, 4, 1 },
      { "cols_variance_ring", "var", "i32", 1000000, 8, 1 }, { "cols_variance_ring", "var", "f32", 1000000, 16, 1 },
      { "cols_variance_ring", "var", "f32", 1700, 60000, 1 }, { "cols_by_lane", "var", "f32", 600, 40000, 1 },
      { "cols_variance_ring", "var", "bf16", 3000, 20000, 1 }, { "cols_by_lane", "var", "bf16", 1500, 30000, 1 },
      { "cols_unordered", "max", "f16", 24, 1000001, 1 },
      { "cols_few_rows", "max", "f16", 8, 1000001, 1 }, { "rows_staged", "sum", "u8", 1000000, 50, 2 },
      { "rows_by_element", "sum", "u8", 1000000, 13, 2 }, { "rows_of_integers", "norm2", "i32", 1000000, 16, 2 },
      { "rows_of_integers", "cosine", "u8", 1000, 256, 2 }, { "leaves", "cosine", "u8", 1000, 257, 2 },
      { "rows_of_integers", "mse", "i64", 1000, 256, 2 }, { "leaves", "mse", "i64", 1000, 257, 2 },
      { "cols_by_lane", "sum", "f64", 1225, 17635, 1 }, { "cols_flat", "sum", "f64", 1000000, 101, 1 },
      { "cols_flat", "sum", "f32", 300000, 33, 1 }, { "cols_flat", "dot", "f16", 2000000, 37, 1 },
      { "cols_by_lane", "dot", "f16", 200000, 37, 1 }, { "cols_sum", "sum", "f32", 500000, 257, 1 },
      { "cols_flat", "sum", "f64", 200000, 511, 1 }, { "cols_sum", "sum", "f64", 200000, 513, 1 },
      { "cols_flat", "sum", "f16", 1000000, 63, 1 }, { "cols_by_lane", "sum", "f16", 1000000, 65, 1 },
      { "rows_staged", "norm2", "u8", 1000000, 64, 2 },
    }
    for _, row in ipairs(expected) do
      local kernel = table.remove(row, 1)
      local answer = ask((unpack or table.unpack)(row))
      assert.equal("gr_reduce_" .. kernel, answer:match "kernel=(%S+)", table.concat(row, " "))
    end
  end)

  it("says how parts become one", function()
    if not plans then return pending "no CUDA half in this build" end
    assert.equal("the host folds leaves", ask("sum", "f32", 1, 20000, 0):match "combine=(.-)\n")
    assert.equal("block 0 polls published partials", ask("sum", "f32", 1, 16777216, 0):match "combine=(.-)\n")
    assert.equal("the last block to arrive", ask("sum", "f32", 1, 1073741824, 0):match "combine=(.-)\n")
    assert.equal("none", ask("sum", "f32", 65536, 64, 2):match "combine=(.-)\n")
  end)
end)
