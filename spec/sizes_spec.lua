-- Numbers that a script may give for sizes, positions, steps and the like: every function answers soon or says what is
-- wrong, and no arithmetic on the way leaves its range (the sanitizers look, see the Makefile).
local S = require "spec.support"

local script = [[
  local gr = require "gpureduce"
  local function whole(x) return math.tointeger and math.tointeger(x) or x end
  local numbers = { 0, 1, -1, 2, whole(2 ^ 31), whole(2 ^ 32), whole(2 ^ 53), whole(2 ^ 53) + 1, whole(2 ^ 62),
    math.maxinteger or 2 ^ 63, math.mininteger or -2 ^ 63, whole(-2 ^ 62), 0.5, 1e18, 1e300, -1e300, 5e-324, 1e308,
    -1e308, 1 / 0, -1 / 0, 0 / 0 }
  local a, ints, bytes = gr.array({ 3, 1, 2, 5, 4, 6 }, "f64"), gr.array({ 3, 1, 2, 5, 4, 6 }, "i32"), gr.ones(6, "u8")
  local w, h = gr.ones(6), gr.histogram(a, { bins = 3 })
  local name = os.tmpname()
  assert(bytes:save(name))

  -- What takes a number; y is another one.
  local calls = {
    array = function(x) return gr.array(x), gr.array(x, "u8") end,
    table_of = function(x) return gr.array { x, 1 } end,
    table_of_ints = function(x) return gr.array({ 1, x }, "i64") end,
    rows_of = function(x) return gr.array { { x, 1 }, { 2, x } } end,
    zeros = function(x) return gr.zeros(x), gr.zeros(x, "i64") end,
    zeros_used = function(x) return gr.zeros(x, "u8"):sum() end,
    ones = function(x) return gr.ones(x, "i64") end,
    full = function(x) return gr.full(x, 1, "u8") end,
    full_of = function(x) return gr.full(2, x, "i32") end,
    full_of_halves = function(x) return gr.full(2, x, "f16") end,
    fill = function(x) return gr.zeros(3, "i64"):fill(x) end,
    rand = function(x) return gr.rand(x) end,
    randn = function(x) return gr.randn(x, "f64") end,
    seed = function(x) return gr.rand(3, { seed = x }) end,
    stream = function(x) return gr.randn(3, { stream = x }) end,
    arange_to = function(x) return gr.arange(1, x) end,
    arange_from = function(x) return gr.arange(x, 1, "i64") end,
    arange_step = function(x) return gr.arange(1, 10, x), gr.arange(10, 1, x) end,
    arange = function(x, y) return gr.arange(x, y, 1, "i64") end,
    arange_down = function(x, y) return gr.arange(x, y, -1, "i64") end,
    arange_by = function(x, y) return gr.arange(-1, x, y, "i64") end,
    arange_back = function(x, y) return gr.arange(x, 1, y) end,
    linspace = function(x) return gr.linspace(0, 1, x) end,
    linspace_of = function(x, y) return gr.linspace(x, y, 3, "f64") end,
    slice_from = function(x, y) return a:slice(x, y) end,
    slice_step = function(x) return a:slice(1, 6, x):table() end,
    slice_down = function(x) return a:slice(6, 1, x):table() end,
    slice_one = function(x, y) return a:slice(1, 1, x):slice(1, 1, y):table() end,
    slice_none = function(x, y) return #a:slice(1, 0, x):slice(1, 0, y):table() end,
    slice_info = function(x) return a:slice(2, 2, x):info() end,
    of_view = function(x) return a:slice(1, 6, x):sum(), a:slice(1, 6, x):equal(a:slice(1, 6, x)) end,
    table = function(x, y) return a:table(x, y) end,
    bytes = function(x, y) return a:bytes(x, y) end,
    index = function(x) return a[x] end,
    newindex = function(x) a[x] = 1 end,
    assign = function(x) gr.zeros(2, "i32")[1] = x end,
    rows = function(x) return a:sum { rows = x } end,
    columns = function(x) return a:sum { rows = x, axis = 1 } end,
    axis = function(x) return a:sum { rows = 2, axis = x } end,
    at = function(x) return a:sum { into = gr.zeros(3, "f64"), at = x } end,
    ddof = function(x) return a:var { ddof = x } end,
    ddof_of_rows = function(x) return a:std { ddof = x, rows = 2 } end,
    ddof_exact = function(x) return a:var { ddof = x, exact = true } end,
    ddof_exact_rows = function(x) return a:var { ddof = x, exact = true, rows = 2 } end,
    norm = function(x) return a:norm(x), ints:norm(x) end,
    dot = function(x) return a:dot(a, { rows = x }) end,
    segments = function(x, y) return a:sum { segments = { x, y } } end,
    more_segments = function(x, y) return a:max { segments = { 1, x, y, 7 } } end,
    rmsnorm = function(x) return w:rmsnorm(nil, { rows = x }) end,
    eps = function(x) return w:rmsnorm(nil, { eps = x }) end,
    softmax = function(x) return w:softmax { rows = x } end,
    count = function(x) return a:count { op = "<", value = x }, ints:any { op = "==", value = x } end,
    bins = function(x) return gr.histogram(a, { bins = x }) end,
    bins_of_ints = function(x) return gr.histogram(ints, { bins = x, min = 0, max = 6 }) end,
    min = function(x, y) return gr.histogram(a, { bins = 3, min = x, max = y }).counts end,
    min_of_ints = function(x, y) return gr.histogram(ints, { bins = 3, min = x, max = y }).counts:sum() end,
    min_of_bytes = function(x, y) return gr.histogram(bytes, { bins = 3, min = x, max = y }).edges:table() end,
    log = function(x, y) return gr.histogram(a, { bins = 3, min = x, max = y, log = true }) end,
    edges = function(x, y) return gr.histogram(a, { edges = { x, y } }) end,
    edges_of_ints = function(x, y) return gr.histogram(ints, { edges = { x, 2, y } }) end,
    modulo = function(x) return gr.histogram(ints, { bins = x, modulo = true }) end,
    of_numbers = function(x, y) return gr.histogram(gr.array({ x, y }, "f64"), { bins = 3 }).counts:sum() end,
    of_ints = function(x, y) return gr.histogram(gr.array({ x, y }, "i64"), { bins = 3 }).counts:sum() end,
    of_ints_modulo = function(x) return gr.histogram(gr.array({ x, 1 }, "i64"), { bins = 3, modulo = true }).counts end,
    weights = function(x) return gr.histogram(a, { bins = 2, weights = gr.array({ x, 1, 1, x, 1, 1 }, "f64") }) end,
    weights_ints = function(x)
      return gr.histogram(a, { bins = 2, weights = gr.array({ x, 1, 1, x, 1, 1 }, "i64") })
    end,
    density = function(x) return gr.histogram(a, { bins = x, density = true }) end,
    block = function(x) return gr.sum(w, { kernel = "two_phase", block = x }) end,
    timed = function(x) return gr.sum(w, { kernel = "two_phase", timed = x < 3 and x or 2 ^ 40 }) end,
    ladder_bins = function(x) return gr.histogram(ints, { bins = x, min = 0, max = x, kernel = "naive" }) end,
    ladder_edges = function(x, y) return gr.histogram(ints, { bins = 3, min = x, max = y, kernel = "naive" }) end,
    minlength = function(x) return gr.bincount(ints, { minlength = x < 2 ^ 30 and x or x + 2 ^ 31 }) end,
    bincount = function(x) return gr.bincount(gr.array({ 1, x }, "i64")) end,
    bincount_into = function(x) return gr.bincount(gr.array({ x }, "i64"), { into = gr.zeros(2, "i64") }) end,
    of_histogram = function(x) return h:quantile(x) end,
    quantile = function(x) return a:quantile(x) end,
    quantiles = function(x, y) return ints:quantile { x, y } end,
    quantile_of = function(x, y) return gr.array({ x, y }, "f64"):median(), gr.array({ x, y }, "i64"):median() end,
    operators = function(x) return a + x, x - a, a * x, x / a end,
    of_ints_operators = function(x) return ints + x, x - ints, ints * x, ints / x end,
    clamp = function(x, y) return a:clamp(x, y), ints:clamp(x, y) end,
    compare = function(x) return a:compare("<", x), ints:compare(">=", x), bytes:compare("==", x) end,
    where = function(x, y) return gr.where(bytes, x, y), gr.where(bytes, ints, x) end,
    wraps = function(x)
      local b = gr.array({ x, x }, "i64")
      return b:sum(), b:prod(), b:dot(b), b:mse(-b), b:var(), b:norm(1)
    end,
    magnitudes = function(x)
      local b = gr.array({ x }, "i64")
      return b:abs(), b:neg(), b:square(), b:norm(math.huge)
    end,
    scans = function(x) local b = gr.array({ x, x }, "i64") return b:scan("sum"), b:scan("prod"), b:scan("min") end,
    cast = function(x)
      local b = gr.array({ x, -x }, "f64")
      return b:cast("i64"), b:cast("u8"), b:cast("i32"), b:cast("f16")
    end,
    narrow = function(x) local b = gr.array({ x, -x }, "i64") return b:cast("i8"), b:cast("u32"), b:cast("f32") end,
    exact = function(x)
      return gr.array({ x, x }, "f64"):sum { exact = true }, gr.array({ x, 1 }, "i64"):mean { exact = true }
    end,
    exact_mse = function(x, y)
      return gr.array({ x, 1 }, "i64"):mse(gr.array({ y, 1 }, "i64"), { exact = true }),
        gr.array({ x, y }, "f64"):var { exact = true }
    end,
    offset = function(x) return gr.load(name, "u8", { offset = x }), gr.load(name, "f64", { offset = x }) end,
    items = function(x) return gr.load(name, "u8", { count = x }), gr.load(name, "i32", { count = x, offset = 2 }) end,
    shape = function(x, y) return a:save(name .. ".npy", { shape = { x, y } }) end,
    budget = function(x) gr.gc { budget = x } gr.zeros(3):sum() gr.gc { budget = 2 ^ 26 } end,
    threads = function(x) local n = gr.threads() pcall(gr.threads, x) gr.threads(n) return gr.threads(x) end,
    get = function(x) return a:sum({ async = true }):get(x) end,
  }

  local known = { "bad argument #", "out of memory", "not enough memory", "gpureduce.array: ", "gpureduce.histogram" }
  local threads = gr.threads()
  for what, f in pairs(calls) do
    for _, x in ipairs(numbers) do
      for k, y in ipairs(numbers) do
        local from = os.clock()
        local ok, message = pcall(f, x, y)
        local found = ok
        for _, text in ipairs(known) do found = found or tostring(message):find(text, 1, true) end
        if not found then print(what, x, y, message) end
        if os.clock() - from > 2 then print(what, x, y, "took", os.clock() - from) end
        if k == 1 and debug.getinfo(f, "u").nparams == 1 then break end
      end
    end
    gr.gc { budget = 2 ^ 26 }
    gr.threads(threads)
    collectgarbage()
  end
  os.remove(name)
  os.remove(name .. ".npy")
  print "fine"]]

describe("hostile numbers", function()
  local asan = os.getenv "ASAN_OPTIONS"
  for _, device in ipairs { "cpu", "pretend" } do
    it("are answered or refused on the device " .. device, function()
      local text, status = S.child_text({
        not asan and "ulimit -v 1500000; " or nil,
        ASAN_OPTIONS = asan and asan .. ":allocator_may_return_null=1:max_allocation_size_mb=1024" or "",
        UBSAN_OPTIONS = "print_stacktrace=1", GPUREDUCE_DEVICE = device, GPUREDUCE_PRETEND_CAPACITY = "268435456",
      }, script)
      assert.equal("fine\n", (text:gsub("==%d+==WARNING: AddressSanitizer failed to allocate[^\n]*\n", "")))
      assert.equal(0, status)
    end)
  end
end)
