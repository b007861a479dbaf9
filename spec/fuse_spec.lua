-- Formulas: what they come to, against plain Lua and against the operators one by one; what they are read as, and
-- what is said of those that are none.
local S = require "spec.support"
local F = require "spec.formulas"
local gr, model = S.gr, S.model
local nan, huge, NZ = model.nan, math.huge, model.minus_zero

local on_each = S.on_each

local reductions = { "sum", "min", "max", "mean", "var", "argmin", "argmax", "count", "any", "all", "prod", "norm" }

-- All reductions of e and of the array of its elements.
local function compare_reductions(e, a, what)
  for _, name in ipairs(reductions) do
    if #a > 0 or (name ~= "min" and name ~= "max" and name ~= "argmin" and name ~= "argmax") then
      S.same(gr[name](a), gr[name](e), name, "of", what)
    end
  end
end

describe("a random formula", function()
  for _, dtype in ipairs(model.dtypes) do
    it("has the elements that plain Lua and the operators give, and the reductions of these, of " .. dtype, function()
      if dtype == "i64" and not S.integers then return end
      local g = model.generator(#dtype * 31 + dtype:byte(1))
      on_each(function(device)
        for round = 1, 60 do
          local f = F.draw(g, dtype)
          local e = gr.fuse(f.text)(f.inputs)
          local x = e:eval()
          local what = ("%s of %s and %s, %s, round %d"):format(f.text, dtype, f.other, device, round)
          assert.equal(f.dtype, x.dtype)
          S.same_all(f.elements(), x, what)
          S.same(f.array():bytes(), x:bytes(), what)
          if round % 4 == 0 then compare_reductions(e, x, what) end
        end
      end)
    end)
  end

  it("has the same bits on a device as on the CPU, whatever ends it", function()
    local text, status = S.child({}, "bench/gpu_formulas.lua", "device=pretend", "texts=25", "operators=20",
      "lengths=3")
    assert.equal(0, status, text)
    assert.truthy(text:find("25 texts, 300 expressions, 180 results of operators, %d+ elements on pretend and the CPU"),
      text)
    assert.truthy(text:find ": ok\n$", text)
  end)

  it("reduces long vectors, rows, columns and segments as its elements do", function()
    local g = model.generator(5)
    local texts = { "(a - b)^2", "a * b + p", "a > b", "abs(a - b) / (abs(b) + 1)", "where(a < b, a, b)",
      "sqrt(a * a + b * b) * 0.5 + a" }
    on_each(function(device)
      for _, dtype in ipairs { "f32", "f64", "f16", "bf16", "i32", "u8", "i16" } do
        for round = 1, #texts do
          local text = texts[round]
          local rows = ({ 1, 3, 8, 100, 2000 })[g() % 5 + 1]
          local columns = ({ 1, 2, 17, 64, 500, 3000 })[g() % 6 + 1]
          if rows * columns > 300000 then rows = 100 end
          local n = rows * columns
          local a, b = gr.array(model.data(dtype, n, g()), dtype), gr.array(model.data(dtype, n, g()), dtype)
          if not model.is_float[dtype] and text:find "[/q]" then text = "abs(a - b)" end
          local e = gr.fuse(text) { a = a, b = b, p = text:find "p" and 3 or nil }
          local x = e:eval()
          local what = text .. " " .. dtype .. " " .. device
          compare_reductions(e, x, what)
          for _, name in ipairs { "sum", "max", "mean", "argmax", "var", "norm" } do
            for axis = 1, 2 do
              local options = { rows = rows, axis = axis }
              S.same_all(gr[name](x, options):table(), gr[name](e, options), name, "axis", axis, rows, columns, what)
            end
            local offsets, at = { 1 }, 1
            while at < n + 1 and #offsets < 200 do
              at = math.min(n + 1, at + 1 + g() % ({ 5, 300, 9000, 100000 })[g() % 4 + 1])
              offsets[#offsets + 1] = at
            end
            S.same_all(gr[name](x, { segments = offsets }):table(), gr[name](e, { segments = offsets }), name,
              "segments", what)
          end
          local low, high = gr.minmax(e, { rows = rows })
          local low2, high2 = gr.minmax(x, { rows = rows })
          assert.is_true(low:equal(low2) and high:equal(high2))
          if x.dtype == dtype then S.same(gr.dot(x, a), gr.dot(e, a), "dot with an array") end
        end
      end
    end)
  end)

  it("of a million elements is cut among threads as an array is", function()
    local n = 1500000
    local a, b = gr.rand(n, { seed = 1 }), gr.rand(n, { seed = 2 })
    local e = gr.fuse "a * b - 0.25" { a = a, b = b }
    local x = a * b - 0.25
    assert.is_true(e:eval():equal(x))
    for _, name in ipairs(reductions) do S.same(gr[name](x), gr[name](e), name) end
    S.same(gr.dot(x, b), gr.dot(e, gr.lazy(b)), "dot")
    S.same(x:sum { exact = true }, e:sum { exact = true }, "exact")
    S.same_all(x:sum({ rows = 3 }):table(), e:sum { rows = 3 }, "three long rows")
    S.same_all(x:sum({ segments = { 1, 5, 900000, n + 1 } }):table(), e:sum { segments = { 1, 5, 900000, n + 1 } },
      "segments")
  end)
end)

describe("the language", function()
  local function value(text, given) return gr.fuse(text)(given or { n = 1 }):eval()[1] end

  it("has Lua's precedence", function()
    local given = function() return { a = gr.array({ 2 }, "f64"), b = gr.array({ 3 }, "f64") } end
    for text, expected in pairs {
      ["-a^2"] = -4, ["2^3^0 + 0*a"] = 2, ["2+a*b"] = 8, ["(2+a)*b"] = 12, ["a-b-1"] = -2, ["a-(b-1)"] = 0,
        ["a/b/2"] = 1 / 3,
      ["not a == 1"] = 0, ["not (a == 1)"] = 1, ["a < b == 1"] = 1, ["a < b and b < a or 7"] = 0,
        ["(a < b and b < a) or 7"] = 1,
      ["- - a"] = 2, ["a*-b"] = -6, ["a^-1"] = 0.5, ["b and 0 or a"] = 0, ["a > b and 5 or 6"] = 6,
      ["a -- a comment\n+ b"] = 5, ["0x10 + a + 0*b"] = 18, ["1e2+a"] = 102, [".5*a"] = 1, ["0x.8p1 * a"] = 2,
    } do
      local inputs = given()
      for _, name in ipairs { "a", "b" } do
        if not text:gsub("%-%-.-\n", ""):gsub("and", ""):gsub("0x%S+", ""):find(name) then inputs[name] = nil end
      end
      S.same(expected + 0.0, value(text, inputs) + 0.0, text)
    end
  end)

  it("knows positions and the length", function()
    on_each(function()
      S.same_all(S.whole { 1, 4, 9, 16 }, gr.fuse "i * i" { n = 4 }:eval(), "squares")
      S.same_all({ 0.25, 0.5, 0.75, 1.0 }, gr.fuse "i / n" { n = 4 }:eval(), "parts")
      assert.equal("i64", gr.fuse "i" { n = 1 }:eval().dtype)
      S.same_all({ 11, 22, 33 }, gr.fuse "a * 10 + f32(i)" { a = gr.array { 1, 2, 3 } }:eval(), "with an array")
      local n = 5000000
      S.same(gr.arange(1, n, 1, "i64"):sum(), gr.fuse "i" { n = n }:sum(), "all positions") -- luacheck: ignore
    end)
  end)

  it("reads arrays of one element on the device, and numbers in their place", function()
    on_each(function(device)
      local a, s = gr.array({ 1, 2, 3 }, "f64"), gr.array({ 10 }, "f64")
      local f = gr.fuse "a * scalar(s)"
      S.same_all({ 10, 20, 30 }, f { a = a, s = s }:eval(), "array")
      S.same_all({ 2, 4, 6 }, f { a = a, s = 2 }:eval(), "number")
      S.same(60, f { a = a, s = s }:sum(), "sum")
      if device == "pretend" then
        a:prefetch()
        s:prefetch()
        assert.equal(0, S.counted(function() f { a = a, s = s }:eval() end).bytes_down)
      end
    end)
  end)

  it("spread rows and columns of every dtype, in launches that do not grow with the matrix", function()
    local shapes = { { 1, 1 }, { 1, 9 }, { 9, 1 }, { 2, 3 }, { 130, 71 }, { 300, 257 }, { 3, 5000 }, { 5000, 3 } }
    S.on_each(function(device)
      for _, t in ipairs { "u8", "i8", "u16", "i16", "u32", "i32", "i64", "f16", "bf16", "f32", "f64" } do
        for _, shape in ipairs(shapes) do
          local rows, columns = shape[1], shape[2]
          local n = rows * columns
          local v = gr.cast(gr.randn(columns) * 30 + 50, t)
          local w = gr.cast(gr.randn(rows) * 30 + 50, t):slice(rows, 1, -1)
          local row = gr.fuse "x * 0 + row(v)" { v = v, x = gr.zeros(n, t) }
          local column = gr.fuse "x * 0 + column(w)" { w = w, x = gr.zeros(n, t) }
          local x, y, r, c = nil, nil, v:table(), w:table()
          local counted = S.counted(function() x = row:eval() end).launches
          assert.is_true(device == "cpu" or counted <= 6 + 2 * math.log(rows) / math.log(2), "row: " .. counted)
          counted = S.counted(function() y = column:eval() end).launches
          assert.is_true(device == "cpu" or counted <= 12, "column: " .. counted)
          x, y = x:table(), y:table()
          for k = 0, n - 1, n > 10000 and 101 or 1 do
            S.same(r[k % columns + 1], x[k + 1], t, "row", rows, columns)
            S.same(c[(k - k % columns) / columns + 1], y[k + 1], t, "column", rows, columns)
          end
        end
      end
    end)
  end)

  it("spreads rows and columns over matrices", function()
    on_each(function()
      for _, shape in ipairs { { 2, 3 }, { 3, 2 }, { 40, 70 }, { 300, 7 }, { 1, 1 } } do
        local rows, columns = shape[1], shape[2]
        local v, w, m, sum = {}, {}, {}, {}
        for k = 1, columns do v[k] = k end
        for k = 1, rows do w[k] = k * 100 end
        for k = 1, rows * columns do
          m[k] = k % 5
          sum[k] = m[k] + v[(k - 1) % columns + 1] * w[math.floor((k - 1) / columns) + 1]
        end
        local e = gr.fuse "m + row(v) * column(w)" { m = gr.array(m), v = gr.array(v), w = gr.array(w) }
        S.same_all(sum, e:eval(), rows, columns)
        S.same_all(gr.array(sum):sum({ rows = rows }):table(), e:sum { rows = rows }, "rows", rows, columns)
        assert.equal(rows * columns, #gr.fuse "row(v) * column(w)" { v = gr.array(v), w = gr.array(w) })
      end
    end)
    local f = gr.fuse "m * row(v)"
    assert.truthy(S.message(f, { m = gr.ones(6),
      v = gr.ones(4) }):find("length 4 expected of 1 rows and 4 columns, got 6", 1, true))
  end)

  it("has the bits of gr.pow in every power, and of all other operators", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64", "i32", "u8" } do
      local a = gr.array(F.elements(model.generator(9), dtype, 300), dtype)
      for _, k in ipairs { -4, -3, -2, -1, 0, 1, 2, 3, 4, 0.5, 1.5 } do
        local expected = gr.pow(a, k):bytes()
        assert.equal(expected, gr.fuse("a^" .. k) { a = a }:eval():bytes(), dtype .. "^" .. k)
        assert.equal(expected, gr.fuse "a^k" { a = a, k = k }:eval():bytes(), dtype .. "^k, " .. k)
        assert.equal(expected, (gr.lazy(a) ^ k):eval():bytes(), dtype .. " lazily, " .. k)
      end
    end
    on_each(function()
      local a, b = gr.array { 1, -2, 3.5, -7.25 }, gr.array { 2, 2, -2, 3 }
      assert.is_true(gr.fuse "a % b + a // b" { a = a, b = b }:eval():equal(gr.mod(a, b) + gr.floordiv(a, b)))
      assert.is_true(gr.fuse "min(a, b) + max(a, 2)" { a = a, b = b }:eval():equal(gr.minimum(a, b) + gr.maximum(a, 2)))
      assert.is_true(gr.fuse "sin(a) + atan2(a, b) + hypot(a, b)" { a = a, b = b }:eval():equal(
        gr.sin(a) + gr.atan2(a, b) + gr.hypot(a, b)))
      assert.is_true((gr.lazy(a) % b):eval():equal(gr.mod(a, b)))
      assert.equal(4, gr.fuse "isnan(a / 0 * 0) and isfinite(a)" { a = a }:sum())
      assert.truthy(S.message(gr.fuse "band(a, 3)", { a = a }):find("band is not there for f32", 1, true))
    end)
  end)

  it("makes powers of literals products, with the bits of the steps", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      local g = model.generator(3)
      local a = gr.array(F.elements(g, dtype, 500), dtype)
      assert.is_true(gr.fuse "a^2" { a = a }:eval():equal(a * a))
      assert.is_true(gr.fuse "a^-1" { a = a }:eval():equal(1 / a))
      assert.is_true(gr.fuse "a^1" { a = a }:eval():equal(a * 1))
      assert.is_true(gr.fuse "a^0" { a = a }:eval():equal(gr.ones(500, dtype)))
      if dtype == "f32" or dtype == "f64" then
        assert.is_true(gr.fuse "a^3" { a = a }:eval():equal(a * a * a))
        assert.is_true(gr.fuse "a^4" { a = a }:eval():equal((a * a) * (a * a)))
      end
    end
    local a = gr.array({ 0, NZ, 4, huge, -huge, nan, -1 }, "f64")
    S.same_all({ 0.0, 0.0, 2, huge, huge, nan, nan }, gr.fuse "a^0.5" { a = a }:eval(), "root")
    S.same_all({ 4.0, 9.0 }, gr.fuse "a^2" { a = gr.array({ 2, -3 }, "i32") }:eval(), "of integers f64, as in Lua")
  end)

  it("does each thing once, however often it is written", function()
    local a, b = gr.ones(4), gr.ones(4)
    assert.equal("1: f32 array 1\n2: f32 array 2\n3: f32 sub 1 2\n4: f32 square 3\n5: f32 add 4 4\n",
      gr.fuse "(a - b)^2 + (a - b)^2" { a = a, b = b }:steps())
    assert.equal("1: f32 array 1\n2: f32 mul #1 1\n3: f32 add 2 2\n", gr.fuse "k * a + k * a" { a = a, k = 3 }:steps())
    local half = gr.lazy(a) * 0.5
    assert.equal("1: f32 array 1\n2: f32 mul 1 #1\n3: f32 add 2 1\n4: f32 mul 2 3\n", (half * (half + a)):steps())
    assert.equal("1: f32 array 1\n2: f32 add 1 1\n", gr.fuse "a + b" { a = a, b = a }:steps())
  end)

  it("keeps numbers out of what it does", function()
    local a = gr.array({ 1, 2 }, "f64")
    local f = gr.fuse "a * (2 * k + 1) > k"
    local first = f { a = a, k = 1 }
    assert.equal(first:steps(), f { a = a, k = -70.25 }:steps())
    S.same_all(S.whole { 1, 1 }, first:eval(), "3, 6 > 1")
    local g = gr.fuse "where(k, a, 0)"
    assert.equal(g { a = a, k = 0 }:steps(), g { a = a, k = 5 }:steps())
    S.same_all({ 0, 0 }, g { a = a, k = 0 }:eval(), "nowhere")
    S.same_all({ 1, 2 }, g { a = a, k = 5 }:eval(), "everywhere")
    S.same_all(S.whole { 1, 1 }, gr.fuse "k and a" { a = a, k = 5 }:eval(), "true and a")
    S.same_all(S.whole { 0, 0 }, gr.fuse "not (a or k)" { a = a, k = 0 }:eval(), "neither")
  end)

  it("has Lua's operators of bits, with their precedence", function()
    on_each(function()
      local a, b = gr.array({ 12, 10, 255, -3 }, "i64"), gr.array({ 10, 3, 1, 2 }, "i64")
      for text, expected in pairs {
        ["a & b"] = { 8, 2, 1, 0 }, ["a | b"] = { 14, 11, 255, -1 }, ["a ~ b"] = { 6, 9, 254, -1 },
        ["~a"] = { -13, -11, -256, 2 }, ["a << b"] = { 12288, 80, 510, -12 }, ["a >> 1"] = { 6, 5, 127, 2^63 - 2 },
        ["a | b & 1 ~ 2"] = { 14, 11, 255, -1 }, ["a & b == b"] = { 0, 0, 1, 0 }, ["b << b + 1"] = { 20480, 48, 4, 16 },
        ["~a & 15"] = { 3, 5, 0, 2 }, ["-~a"] = { 13, 11, 256, -2 }, ["not ~a"] = { 0, 0, 0, 0 },
        ["~~a"] = { 12, 10, 255, -3 }, ["a ~ ~b"] = { -7, -10, -255, 0 }, ["a + (6 & 3.0) << 1"] = { 28, 24, 514, -2 },
        ["1 << b | 1"] = { 1025, 9, 3, 5 }, ["a ~= b"] = { 1, 1, 1, 1 },
      } do
        local got = gr.fuse(text)((text:find("b", 1, true) and { a = text:find("a", 1, true) and a or nil, b = b })
          or { a = a }):eval():table()
        for k = 1, 4 do
          if text ~= "a >> 1" or k < 4 then assert.equal(expected[k], got[k], text .. " of " .. k) end
        end
      end
      local same = gr.fuse "bor(shl(a, 1), band(a, bnot(b)))" { a = a, b = b }:eval()
      assert.is_true(same:equal(gr.fuse "a << 1 | a & ~b" { a = a, b = b }:eval()))
    end)
    assert.truthy(S.message(gr.fuse "f32(i) & f32(i)", { n = 3 }):find("column 8: band is not there for f32", 1, true))
    assert.truthy(S.message(gr.fuse "i + (1.5 | 1)", { n = 3 }):find("column 10: value 1.5 is not a whole number", 1,
      true))
  end)

  it("casts by the names of dtypes", function()
    local a, k = gr.array { 1.5, -2.75, 300 }, gr.array({ 1, 2, 3 }, "i32")
    S.same_all(S.whole { 1, 0, 255 }, gr.fuse "u8(a)" { a = a }:eval(), "u8")
    S.same_all({ 2.5, -0.75, 303 }, gr.fuse "f64(a) + float64(k)" { a = a, k = k }:eval(), "f64")
    S.same_all({ 0.5, 1, 1.5 }, gr.fuse "k / 2" { k = k }:eval(), "/ of integers")
    S.same_all({ 2.5, -1.75, 301 }, gr.fuse "a + i32(1.9)" { a = a }:eval(), "of a number")
  end)

  it("says where a text is no formula", function()
    local deep = ("("):rep(300) .. "a" .. (")"):rep(300)
    for text, expected in pairs {
      ["a +"] = "column 4: number, name or '(' expected, got the end\n  a +\n     ^",
      ["a b"] = "column 3: operator expected, got 'b'\n  a b\n    ^",
      [""] = "column 1: number, name or '(' expected, got the end\n  \n  ^",
      ["(a"] = "column 3: ')' expected for the '(' of column 1, got the end",
      ["a)"] = "column 2: unexpected ')'",
      ["a, b"] = "column 2: unexpected ','",
      ["(a, b)"] = "column 3: unexpected ','",
      ["sqrr(a)"] = "column 1: no function 'sqrr' (did you mean 'sqrt'?)\n  sqrr(a)\n  ^",
      ["compae(a, b)"] = "column 1: no function 'compae'\n  compae(a, b)\n  ^",
      ["cast(a)"] = "column 1: no function 'cast' (write the dtype: f32(x))\n  cast(a)\n  ^",
      ["compare(a, b)"] = "column 1: no function 'compare' (write x < y)\n  compare(a, b)\n  ^",
      ["less(a, b)"] = "column 1: no function 'less'\n  less(a, b)\n  ^",
      ["ln(a)"] = "column 1: no function 'ln' (did you mean 'log'?)\n  ln(a)\n  ^",
      ["sum(a)"] = "column 1: no function 'sum' (formulas are reduced from outside: e:sum())\n  sum(a)\n  ^",
      ["sqrt(a, b)"] = "column 1: 1 argument expected, got 2",
      ["where(a)"] = "column 1: 3 arguments expected, got 1",
      ["a ! b"] = "column 3: write 'not'", ["a != b"] = "column 3: write '~='", ["a && b"] = "column 3: write 'and'",
      ["a || b"] = "column 3: write 'or'", ["a & & b"] = "column 5: number, name or '(' expected, got '&'",
      ["a <<< b"] = "column 5: number, name or '(' expected, got '<'",
      ["a = b"] = "column 3: write '=='", ["a\n+ $"] = "line 2, column 3: unexpected '$'\n  + $\n    ^",
      ["3x"] = "column 1: malformed number", ["1..2"] = "column 1: malformed number",
        ["0x"] = "column 1: malformed number",
      ["scalar(a + 1)"] = "column 1: scalar takes the name of an input",
      ["scalar(i)"] = "column 1: scalar takes the name of an input", ["true"] = "column 1: write 1 for true",
      ["a\0b"] = "column 2: unexpected byte 0", ["\195\164"] = "column 1: unexpected byte 195",
      [deep] = "column 201: deeper than 200", [("- "):rep(5000) .. "a"] = "deeper than 200",
      [("a+"):rep(250) .. "a"] = "deeper than 200", [("a^"):rep(3000) .. "a"] = "deeper than 200",
      [("x"):rep(64)] = "column 1: name of at most 63 letters expected",
    } do
      local message = S.message(gr.fuse, text)
      assert.truthy(message, text)
      assert.truthy(message:find("bad argument #1 to 'fuse' (", 1, true), message)
      assert.truthy(message:find(expected, 1, true), message)
    end
    local wide = {}
    for k = 1, 3000 do wide[k] = "x * " .. k .. ".25" end
    local rows = {}
    for k = 1, 30 do rows[k] = "(" .. table.concat(wide, " + ", (k - 1) * 100 + 1, k * 100) .. ")" end
    assert.truthy(S.message(gr.fuse, table.concat(rows, " + ")):find("more than 4096 parts", 1, true))
    assert.truthy(S.message(gr.fuse, ("a "):rep(40000)):find("text of at most 65536 characters expected, got 80000",
      1, true))
    assert.truthy(S.message(gr.fuse, 5):find("formula such as \"a * b + 1\" expected, got number", 1, true))
  end)

  it("says where inputs do not fit", function()
    local f = gr.fuse "a + b * 2"
    local a = gr.ones(4)
    for expected, given in pairs {
      ["input 'b' expected"] = { a = a },
      ["unknown input 'c'"] = { a = a, b = a, c = a },
      ["input 'b': array, number or expression expected, got string"] = { a = a, b = "x" },
      ["column 3: f32 and i32 do not mix: write f32(...) or i32(...)\n  a + b * 2\n    ^"] = { a = a, b = gr.ones(4,
        "i32") },
      ["column 5: length 4 expected, got 5\n  a + b * 2\n      ^"] = { a = a, b = gr.ones(5) },
      ["a number: no array and no i is in it"] = { a = 1, b = 2 },
      ["input 'n': length 4 expected, got 7"] = { a = a, b = a, n = 7 },
      ["input 'n': length of 0 or more expected, got -1"] = { a = a, b = a, n = -1 },
      ["names of inputs are strings, got a number"] = { a, b = a },
      ["table of inputs without __index expected"] = setmetatable({ a = a, b = a }, { __index = {} }),
    } do
      local message = S.message(f, given)
      assert.truthy(message and message:find(expected, 1, true), message)
    end
    assert.truthy(S.message(f, 1):find("table of inputs expected, got number", 1, true))
    assert.truthy(S.message(gr.fuse "a * 0.5", { a = gr.ones(3,
      "i32") }):find("column 3: value 0.5 is not a whole number, as i32 needs", 1, true))
    assert.truthy(S.message(gr.fuse "clamp(a, b, 1)", { a = a, b = gr.ones(4, "i8") }):find("f32 and i8 do not mix", 1,
      true))
    assert.truthy(S.message(gr.fuse "clamp(a, 2, 1)", { a = a }):find("upper end of 2 or more expected, got 1", 1,
      true))
    assert.truthy(S.message(gr.fuse "a + i", { a = a }):find("f32 and i64 do not mix: write f32(...) or i64(...)", 1,
      true))
    local gone = gr.ones(4)
    gone:release()
    assert.truthy(S.message(f, { a = a, b = gone }):find("input 'b': array has been released", 1, true))
  end)
end)
