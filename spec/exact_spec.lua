-- Correctly rounded sums: against Python's integers (spec/golden/exact.txt, written by spec/exact/vectors.py), in any
-- order and any parts, as views, rows and columns, on every device. spec/exact/oracle.c compares more with MPFR.
local S = require "spec.support"
local numbers = require "spec.numbers"
local gr, hex = S.gr, numbers.hex

local functions = { "sum", "dot", "mean", "norm1", "norm2", "var", "std", "mse", "cosine" }

-- One of the functions, of arrays and options.
local function run(name, x, y, options)
  options = options or {}
  options.exact = true
  if name == "norm1" then return gr.norm(x, 1, options) end
  if name == "norm2" then return gr.norm(x, 2, options) end
  if name == "dot" or name == "mse" or name == "cosine" then return gr[name](x, y, options) end
  return gr[name](x, options)
end

local function unhex(text)
  return text == "-" and "" or (text:gsub("..", function(pair) return string.char(tonumber(pair, 16)) end))
end

-- The vectors: { dtype, x bytes, y bytes, results = { name = hex } }, arrays repeated as the file says.
local vectors = {}
for line in io.lines("spec/golden/exact.txt") do
  local field = {}
  for word in line:gmatch("%S+") do field[#field + 1] = word end
  local times = tonumber(field[2])
  local v = { dtype = field[1], x = unhex(field[3]):rep(times), y = unhex(field[4]):rep(times), results = {} }
  for k, name in ipairs(functions) do v.results[name] = field[k + 4] end
  v.sum32, v.dot32 = field[14], field[15]
  vectors[#vectors + 1] = v
end

local function expect(expected, got, ...)
  if hex(got) == expected then return end
  local what = { ... }
  for k = 1, #what do what[k] = tostring(what[k]) end
  error(("%s: expected %s, got %s (%.17g)"):format(table.concat(what, " "), expected, hex(got), got), 2)
end

-- Sums and dots of integers are integers.
local function has(dtype, name) return numbers.is_float[dtype] or (name ~= "sum" and name ~= "dot") end

describe("exact results", function()
  it("are Python's, for every function and dtype", function()
    for k, v in ipairs(vectors) do
      local x, y = gr.frombytes(v.x, v.dtype), gr.frombytes(v.y, v.dtype)
      for _, name in ipairs(functions) do
        if has(v.dtype, name) then expect(v.results[name], run(name, x, y), name, "of vector", k, v.dtype) end
      end
      if numbers.is_float[v.dtype] then
        expect(v.sum32, run("sum", x, y, { out = "f32" }), "sum to f32 of vector", k)
        expect(v.dot32, run("dot", x, y, { out = "float32" }), "dot to f32 of vector", k)
      end
    end
  end)

  it("do not depend on the view", function()
    for k = 1, #vectors, 5 do
      local v = vectors[k]
      local x, y = gr.frombytes(v.x, v.dtype), gr.frombytes(v.y, v.dtype)
      local n = #x
      local apart = gr.zeros(3 * n + 2, v.dtype)
      if n > 0 then
        local views = { x:slice(n, 1, -1), apart:slice(2, 3 * n - 1, 3), gr.zeros(n + 1, v.dtype):slice(2, n + 1) }
        for i = 2, 3 do
          for j = 1, math.min(n, 40) do views[i][j] = x[j] end
        end
        if n <= 40 then
          for i, view in ipairs(views) do
            if has(v.dtype, "sum") then expect(v.results.sum, view:sum { exact = true }, "view", i, "of vector", k) end
            expect(v.results.norm2, view:norm { exact = true }, "norm of view", i, "of vector", k)
          end
        end
        local a, b = x:slice(n, 1, -1), y:slice(n, 1, -1)
        if has(v.dtype, "dot") then expect(v.results.dot, a:dot(b, { exact = true }), "reversed dot of vector", k) end
        expect(v.results.var, a:var { exact = true }, "reversed var of vector", k)
      end
    end
  end)

  it("come out of accumulators, whatever the parts", function()
    for k = 1, #vectors, 3 do
      local v = vectors[k]
      if numbers.is_float[v.dtype] then
        local x, y = gr.frombytes(v.x, v.dtype), gr.frombytes(v.y, v.dtype)
        local n = #x
        local cut = math.floor(n / 3)
        local late, early, dots = gr.accumulator(), gr.accumulator(), gr.accumulator()
        late:add(x:slice(cut + 1, n))
        early:add(x:slice(1, cut))
        local joined = gr.accumulator(early:bytes()):merge(gr.accumulator()):merge(gr.accumulator(late:bytes()))
        expect(v.results.sum, joined:value(), "parts of vector", k)
        expect(v.sum32, joined:value { out = "f32" }, "parts of vector", k, "to f32")
        assert.equal(joined:bytes(), gr.accumulator():add(x):bytes())
        dots:add_dot(x:slice(1, cut), y:slice(1, cut)):add_dot(x:slice(cut + 1, n), y:slice(cut + 1, n))
        expect(v.results.dot, dots:value(), "dot in parts of vector", k)
      end
    end
  end)

  it("of rows and columns are those of each by itself", function()
    for _, dtype in ipairs { "f32", "f64", "f16", "i64", "i16" } do
      local rows, columns = 37, 19
      local x = gr.array(numbers.data(dtype, rows * columns, 5, true), dtype)
      local y = gr.array(numbers.data(dtype, rows * columns, 6, true), dtype)
      for _, name in ipairs(functions) do
        if has(dtype, name) then
          for axis = 1, 2 do
            local two = name == "dot" or name == "mse" or name == "cosine"
            local got = run(name, x, y, { rows = rows, axis = axis, pairs = two or nil })
            assert.equal("f64", got.dtype)
            assert.equal(axis == 1 and columns or rows, #got)
            for r = 1, #got do
              local from, to, step = (r - 1) * columns + 1, r * columns, 1
              if axis == 1 then from, to, step = r, (rows - 1) * columns + r, columns end
              local alone = run(name, x:slice(from, to, step), y:slice(from, to, step))
              expect(hex(alone), got[r], name, dtype, "axis", axis, r)
            end
          end
        end
      end
      if has(dtype, "dot") then -- every row with the same vector
        local b = y:slice(1, columns)
        local got = x:dot(b, { rows = rows, exact = true, out = "f32" })
        assert.equal("f32", got.dtype)
        for r = 1, rows do
          local row = x:slice((r - 1) * columns + 1, r * columns)
          expect(hex(row:dot(b, { exact = true, out = "f32" })), got[r], "row", r)
        end
      end
    end
  end)

  it("of segments are those of each by itself", function()
    local x, y = gr.array(numbers.data("f64", 50, 8, true), "f64"), gr.array(numbers.data("f64", 50, 9, true), "f64")
    local offsets = { 1, 1, 4, 20, 51 }
    for _, name in ipairs { "sum", "var", "dot", "cosine" } do
      local got = run(name, x, y, { segments = offsets })
      for k = 1, 4 do
        local from, to = offsets[k], offsets[k + 1] - 1
        expect(hex(run(name, x:slice(from, to), y:slice(from, to))), got[k], name, "of segment", k)
      end
    end
    assert.equal("f32", x:sum({ segments = offsets, exact = true, out = "f32" }).dtype)
  end)

  it("go into an array that is given, also a strided one", function()
    local x = gr.array({ 1, 2 ^ 60, -2 ^ 60, 3, 4, 5 }, "f64")
    local into = gr.zeros(4, "f64")
    x:sum { rows = 2, exact = true, into = into:slice(1, 3, 2) }
    S.same_all({ 1, 0, 12, 0 }, into, "into")
    local single = gr.zeros(2, "f32")
    x:mean { rows = 2, exact = true, out = "f32", into = single }
    S.same_all({ numbers.round.f32(1 / 3), 4 }, single, "into f32")
  end)

  it("of many rows, with zeros, infinities and NaN among them", function()
    local t, rows = {}, 1300
    for r = 1, rows do
      local a, b, c = r, -r, r % 7 == 0 and -0.0 or 2.0 ^ -40
      if r % 5 == 0 then a, b, c = numbers.minus_zero, numbers.minus_zero, numbers.minus_zero end
      if r % 11 == 0 then a = math.huge end
      if r % 13 == 0 then b = numbers.nan end
      t[3 * r - 2], t[3 * r - 1], t[3 * r] = a, b, c
    end
    local x = gr.array(t, "f64")
    local sums, mse = x:sum { rows = rows, exact = true }, x:mse(gr.ones(3, "f64"), { rows = rows, exact = true })
    for r = 1, rows do
      local expected = r % 5 == 0 and "8000000000000000" or r % 7 == 0 and hex(0.0) or hex(2.0 ^ -40)
      if r % 11 == 0 then expected = hex(math.huge) end
      if r % 13 == 0 then expected = hex(numbers.nan) end
      expect(expected, sums[r], "sum of row", r)
      if r % 11 == 0 or r % 13 == 0 then expect(expected, mse[r], "mse of row", r) end
    end
  end)

  it("round once, not twice", function()
    -- 1 + 2^-24 + 2^-60 rounds to f64 1 + 2^-24, a tie in f32; straight to f32 it is above the tie.
    local x = gr.array({ 1, 2 ^ -24, 2 ^ -60 }, "f32")
    assert.equal(1 + 2 ^ -23, x:sum { exact = true, out = "f32" })
    assert.equal(1 + 2 ^ -24, x:sum { exact = true })
  end)

  it("overflow only at the end", function()
    local x = gr.array({ 1e308, -1e308, 1e308, 1 }, "f64")
    assert.equal(math.huge, x:sum())
    assert.equal(1e308, x:sum { exact = true })
    assert.equal(1e308, x:slice(1, 3, 2):mean { exact = true })
    local y = gr.array({ 1e200, 1e200, 1 }, "f64")
    assert.equal(1, y:dot(gr.array({ 1e200, -1e200, 1 }, "f64"), { exact = true }))
    assert.equal(numbers.hex(1e-200), numbers.hex(gr.array({ 1e-200 }, "f64"):norm { exact = true }))
  end)

  it("of long arrays, on several threads, in any order", function()
    for _, dtype in ipairs { "f32", "f64" } do
      local n = 300007
      local x = gr.randn(n, dtype, { seed = 3 })
      local wide = x:copy()
      for k = 1, n, 1117 do wide[k] = (k % 3 - 1) * 2.0 ^ (k % 240 - 120) end
      for _, a in ipairs { x, wide } do
        local parts, step = gr.accumulator(), 70001
        for from = 1, n, step do parts:add(a:slice(from, math.min(from + step - 1, n))) end
        local expected = hex(parts:value())
        local odd, even = a:slice(1, n, 2), a:slice(2, n, 2)
        local dot = gr.accumulator():add_dot(odd, odd):add_dot(even, even)
        local threads = gr.threads()
        for _, count in ipairs { 1, 2, 5 } do
          gr.threads(count)
          expect(expected, a:sum { exact = true }, dtype, "sum on", count, "threads")
          expect(expected, a:slice(n, 1, -1):sum { exact = true }, dtype, "reversed sum on", count, "threads")
          expect(hex(dot:value()), a:dot(a, { exact = true }), dtype, "dot on", count, "threads")
        end
        gr.threads(threads)
      end
    end
    assert.equal(2 ^ 20 * 4294967295 * 4294967295, gr.full(2 ^ 20, 4294967295, "u32"):norm { exact = true } ^ 2)
  end)

  it("of integers keep every bit", function()
    local top = gr.frombytes(("\255"):rep(7) .. "\127" .. ("\255"):rep(7) .. "\127", "i64")
    assert.equal(2 ^ 63, top:mean { exact = true })
    assert.equal(0, top:var { exact = true })
    assert.equal(2 ^ 64, top:norm(1, { exact = true }))
    assert.equal(2 ^ 126, gr.accumulator():add_dot(top:slice(1, 1), top:slice(1, 1)):value())
    local one = gr.frombytes("\1\0\0\0\0\0\0\0" .. "\3\0\0\0\0\0\0\0", "i64")
    assert.equal(4, one:sum { exact = true }) -- an integer as ever
    assert.equal(2, one:mean { exact = true })
    assert.equal(1, one:std { exact = true })
    local a = gr.accumulator():add(top):add(gr.array({ -1 }, "i8"))
    assert.equal(2 ^ 64, a:value())
    assert.equal(-3, a:add(gr.array({ -2 ^ 63, -2 ^ 63 }, "f64")):value())
  end)
end)

describe("gr.exact", function()
  it("makes exact the default of this state", function()
    local x = gr.array({ 1e308, -1e308, 1e308, 1 }, "f64")
    assert.is_false(gr.exact())
    assert.is_true(gr.exact(true))
    local ok, message = pcall(function()
      assert.equal(1e308, x:sum())
      assert.equal(1e308, x:reduce("sum"))
      assert.equal(1e308, x:sum { rows = 1 }[1])
      assert.equal(math.huge, x:sum { exact = false })
      assert.equal(math.huge, x:sum { accumulate = "kahan" })
      assert.equal(1e308, x:max())
      assert.equal(0, x:slice(1, 3, 2):var())
      assert.equal(5, gr.array({ 3, 4 }, "f32"):norm())
      assert.equal(11, gr.array({ 1, 2 }, "i32"):dot(gr.array({ 3, 4 }, "i32")))
    end)
    assert.is_false(gr.exact(false))
    assert(ok, message)
    assert.equal(math.huge, x:sum())
  end)
end)

describe("an accumulator", function()
  it("is empty at first, and says what it holds", function()
    local s = gr.accumulator()
    expect(hex(0.0), s:value(), "empty")
    assert.equal("gpureduce.accumulator: 0", tostring(s))
    assert.equal(568, #s:bytes())
    assert.equal("gpureduce.accumulator: 2.5", tostring(s:add(gr.array({ 1, 1.5 }))))
    assert.equal(s, s:merge(s))
    assert.equal(5, s:value())
  end)

  it("keeps signs of zeros, infinities and NaN, through bytes too", function()
    local minus = gr.array({ numbers.minus_zero, numbers.minus_zero }, "f32")
    local s = gr.accumulator():add(minus)
    expect("8000000000000000", s:value(), "-0")
    expect("8000000000000000", gr.accumulator(s:bytes()):value(), "-0")
    expect(hex(0.0), gr.accumulator():merge(s):add(gr.array({ 0 })):value(), "+0")
    expect(hex(0.0), gr.accumulator():merge(s):add(gr.array({ 1, -1 })):value(), "+0")
    expect(hex(math.huge), s:add(gr.array({ math.huge })):value(), "inf")
    expect(hex(math.huge), gr.accumulator(s:bytes()):value(), "inf")
    expect(hex(numbers.nan), s:add(gr.array({ -math.huge })):value(), "nan")
    expect(hex(numbers.nan), gr.accumulator():add_dot(gr.zeros(1), gr.array({ math.huge })):value(), "0 * inf")
  end)

  it("has bytes that are the sum's alone", function()
    local a = gr.accumulator():add(gr.array({ 1, 2 ^ 100, -2 ^ 100, -3 }, "f64"))
    local b = gr.accumulator():add(gr.array({ -2 }, "f32"))
    assert.equal(a:bytes(), b:bytes())
    local expected = "GRX\1\24" .. ("\0"):rep(7) .. ("\0"):rep(2176 / 8) .. "\254" .. ("\255"):rep(568 - 12 - 272 - 1)
    assert.equal(expected, a:bytes())
  end)

  it("refuses what is none", function()
    local good = gr.accumulator():bytes()
    local function message(f, ...) return S.message(f, ...) end
    assert.equal("bad argument #1 to 'accumulator' (568 bytes expected, got 3)", message(gr.accumulator, "abc"))
    assert.equal("bad argument #1 to 'accumulator' (the bytes of an accumulator start with 'GRX')",
      message(gr.accumulator, "X" .. good:sub(2)))
    assert.equal("bad argument #1 to 'accumulator' (version 1 of the format expected, got 2)",
      message(gr.accumulator, "GRX\2" .. good:sub(5)))
    assert.equal("bad argument #1 to 'accumulator' (the header is damaged)",
      message(gr.accumulator, good:sub(1, 4) .. "\64" .. good:sub(6)))
    assert.equal("bad argument #1 to 'accumulator' (the header is damaged)",
      message(gr.accumulator, good:sub(1, 8) .. "\1" .. good:sub(10)))
    assert.equal("bad argument #1 to 'accumulator' (bytes expected, got number)", message(gr.accumulator, 3))
    local add = gr.accumulator().add
    assert.equal("bad argument #1 to 'add' (gpureduce.accumulator expected, got table)", message(add, {}))
    assert.equal("bad argument #2 to 'add' (gpureduce.array expected, got number)", message(add, gr.accumulator(), 3))
    assert.equal("bad argument #2 to 'merge' (gpureduce.accumulator expected, got no value)",
      message(gr.accumulator().merge, gr.accumulator()))
    assert.equal("bad argument #3 to 'add_dot' (length 2 expected, got 3)",
      message(gr.accumulator().add_dot, gr.accumulator(), gr.zeros(2), gr.zeros(3)))
    assert.equal("bad argument #2 to 'value' (option 'out': f32 or f64 expected, got 'f16')",
      message(gr.accumulator().value, gr.accumulator(), { out = "f16" }))
  end)
end)

describe("options of exact results", function()
  local x = gr.array({ 1, 2, 3 }, "f32")
  local function case(expected, f, ...)
    local arguments = { ... }
    it(expected, function()
      assert.equal(expected, S.message(f, (table.unpack or unpack)(arguments))) -- luacheck: ignore
    end)
  end
  case("bad argument #2 to 'sum' (options 'exact' and 'accumulate' exclude each other)", gr.sum, x,
    { exact = true, accumulate = "kahan" })
  case("bad argument #2 to 'max' (option 'out': only for results of f64, 'max' of f32 gives f32)", gr.max, x,
    { out = "f32" })
  case("bad argument #2 to 'sum' (option 'out': only for results of f64, 'sum' of i32 gives i64)", gr.sum,
    gr.zeros(2, "i32"), { exact = true, out = "f32" })
  case("bad argument #2 to 'mean' (option 'out': f32 or f64 expected, got 'i32')", gr.mean, x,
    { exact = true, out = "i32" })
  case("bad argument #2 to 'mean' (option 'exact': boolean expected, got number)", gr.mean, x, { exact = 1 })
  case("bad argument #2 to 'max' (unknown option 'exact')", gr.max, x, { exact = true })
  case("bad argument #2 to 'var' (option 'ddof': whole number expected with 'exact', got 0.5)", gr.var, x,
    { exact = true, ddof = 0.5 })
  case("bad argument #2 to 'sum' (option 'into': f64[1] expected, got f32[1])", gr.sum, x,
    { exact = true, rows = 1, into = gr.zeros(1, "f32") })
  case("bad argument #1 to 'exact' (boolean expected, got number)", gr.exact, 1)
end)

describe("exact sums on a device", function()
  local device = gr.backend():find("^cuda") and gr.backend() or "pretend"

  it("have the CPU's bits and upload once", function()
    S.on(device, function()
      for k = 1, #vectors, 7 do
        local v = vectors[k]
        local x, y = gr.frombytes(v.x, v.dtype), gr.frombytes(v.y, v.dtype)
        for _, name in ipairs(functions) do
          if has(v.dtype, name) then expect(v.results[name], run(name, x, y), name, "of vector", k, "on", device) end
        end
        local digest = x:digest()
        S.on("cpu", function() assert.equal(digest, gr.frombytes(v.x, v.dtype):digest()) end)
      end
      local a = gr.frombytes(("\0\0\128\63"):rep(100000), "f32")
      local first = S.counted(function() assert.equal(100000, a:sum { exact = true }) end)
      local second = S.counted(function() assert.equal(100000, a:sum { exact = true }) end)
      assert.equal(400000, first.bytes_up)
      assert.equal(0, second.bytes_up)
      assert.equal(1, second.launches)
      assert.equal(1, second.syncs)
      assert.equal(0, second.bytes_down)
    end)
  end)
end)

describe("exact sums of random views", function()
  local device = gr.backend():find("^cuda") and gr.backend() or "pretend"

  it("have the CPU's bits", function()
    local g = numbers.generator(11)
    for _, dtype in ipairs { "f32", "f64", "f16", "bf16", "i64" } do
      local n, t = 3000, {}
      for k = 1, n do
        t[k] = numbers.draw(g, dtype, true)
        if dtype == "f32" or dtype == "f64" then t[k] = t[k] * 2.0 ^ (g() % 160 - 80) end
        if dtype == "f32" then t[k] = numbers.round.f32(t[k]) end
      end
      local there, here
      S.on(device, function() there = gr.array(t, dtype) end)
      S.on("cpu", function() here = gr.array(t, dtype) end)
      local first, second = dtype == "i64" and "mean" or "sum", dtype == "i64" and "mse" or "dot"
      for _ = 1, 40 do
        local step = g() % 3 + 1
        local m = g() % 900
        local from, other = g() % 300 + 1, g() % 300 + 1
        local function view(a, at) return a:slice(at, at + math.max(m - 1, 0) * step, step) end
        expect(hex(run(first, view(here, from))), run(first, view(there, from)), first, dtype, m, step)
        local expected = hex(run(second, view(here, from), view(here, other)))
        expect(expected, run(second, view(there, from), view(there, other)), second, dtype, m, step)
      end
    end
  end)
end)

describe("exact sums under", function()
  local script = [[
    local numbers = require "spec.numbers"
    local gr = require "gpureduce"
    local digest, g = {}, numbers.generator(9)
    for _, dtype in ipairs { "f32", "f64" } do
      for n = 0, 300, 7 do
        local t, u = {}, {}
        for k = 1, n do
          t[k] = numbers.draw(g, dtype, true) * 2.0 ^ (g() % 3 == 0 and (dtype == "f32" and -100 or -900) or 0)
          u[k] = numbers.draw(g, dtype, true) * 2.0 ^ (g() % 9 == 0 and (dtype == "f32" and -30 or -150) or 0)
        end
        local x, y = gr.array(t, dtype), gr.array(u, dtype)
        digest[#digest + 1] = numbers.hex(x:sum { exact = true }) .. numbers.hex(x:dot(y, { exact = true }))
        digest[#digest + 1] = numbers.hex(x:norm { exact = true, out = "f32" })
      end
    end
    print(gr.digest(gr.frombytes(table.concat(digest), "u8")))]]

  it("every instruction set are the same", function()
    local first = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, script)
    assert.equal(33, #first, first)
    for _, set in ipairs { "generic", "sse2", "avx2", "avx512", "neon" } do
      local text = S.child_text({ GPUREDUCE_CPU = set, GPUREDUCE_DEVICE = "cpu" }, script)
      if not text:find("GPUREDUCE_CPU", 1, true) then assert.equal(first, text, set) end
    end
  end)
end)
