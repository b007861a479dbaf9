-- Expressions: operators on them, everything that takes their values, and those who mean harm.
local S = require "spec.support"
local gr, model = S.gr, S.model

local devices = { "cpu", "pretend" }
local on_each = S.on_each

describe("lazy handles", function()
  local L = gr.lazy

  it("do what operators on arrays do", function()
    on_each(function()
      local a, b = gr.array({ 1, -2, 3 }, "f64"), gr.array({ 0.5, 4, -1 }, "f64")
      local pairs_of = {
        { L(a) + b, a + b }, { a + L(b), a + b }, { 2 - L(a), 2 - a }, { L(a) * 3 / b, a * 3 / b }, { -L(a), -a },
        { L(a):abs(), a:abs() }, { gr.abs(L(a)), a:abs() }, { gr.add(a, L(b)), a + b }, { L(a)^2, a * a },
        { L(a):lt(b):where(a, b), gr.where(a:compare("<", b), a, b) }, { L(a):cast "i32", a:cast "i32" },
        { L(a):clamp(0, 2), a:clamp(0, 2) }, { gr.where(L(a):gt(0), 1, L(b)), gr.where(a:compare(">", 0), 1, b) },
        { L(a):compare(">=", b), a:compare(">=", b) }, { L(a):ne(1):land(L(b):le(4)), gr.array({ 0, 1, 1 }, "u8") },
        { L(a):eq(1):lor(b), gr.array({ 1, 1, 1 }, "u8") }, { L(a):gt(0):lnot(), gr.array({ 0, 1, 0 }, "u8") },
      }
      for k, both in ipairs(pairs_of) do
        local got = both[1]:eval()
        assert.is_true(got:equal(both[2]), "pair " .. k .. ": " .. table.concat(got:table(), " "))
        assert.equal(both[2].dtype, both[1]:info().dtype)
        assert.equal(3, #both[1])
      end
    end)
  end)

  it("have the operators of bits where Lua has them", function()
    if not S.integers then return end
    local f = S.load_in([[
      local a, b, L = ...
      return { L(a) & b, L(a) | b, L(a) ~ b, ~L(a), L(a) << b, L(a) >> 1, 7 & L(a), 1 << L(b), a & L(b) },
        { a & b, a | b, a ~ b, ~a, a << b, a >> 1, 7 & a, 1 << b, a & b }]], {})
    on_each(function()
      local got, expected = f(gr.array({ 12, 10, -255 }, "i32"), gr.array({ 10, 3, 1 }, "i32"), L)
      for k = 1, #expected do assert.is_true(got[k]:eval():equal(expected[k]), "operator " .. k) end
    end)
    assert.truthy(S.message(S.load_in("return ... & 1", {}), L(gr.ones(2))):find("band is not there for f32", 1, true))
  end)

  it("have the bits of one operator after the other where two steps are one loop", function()
    local g, names = model.generator(11), { "add", "sub", "mul", "square", "abs" }
    local seconds = {
      function(t, c) return t + c end, function(t, c) return c + t end, function(t, c) return t - c end,
      function(t, c) return c - t end, function(t, c) return t * c end, function(t) return t:square() end,
      function(t) return t:abs() end, function(t) return t:abs():sqrt() end, function(t) return t:sqrt() end,
      function(t, c) return (t + c) * (t - c) end, function(t, c) return t / c end, function(t, c) return c / t end,
      function(t) return 1 - t * 3 end,
    }
    for _, dtype in ipairs { "f32", "f64", "f16", "i32" } do
      local arrays = {}
      for k = 1, 3 do
        local t = {}
        for j = 1, 2500 do
          t[j] = dtype == "i32" and g() % 2000 - 1000 or j % 50 < 5 and ({ 0 / 0, 1 / 0, -1 / 0, -0.0, 0 })[g() % 5 + 1]
            or g() % 4096 / 64 - 32
        end
        arrays[k] = gr.array(t, dtype)
      end
      local a, b, c = arrays[1], arrays[2], arrays[3]
      for _, name in ipairs(names) do
        for k, second in ipairs(seconds) do
          for _, with in ipairs { b, 3 } do
            local unary = name == "square" or name == "abs"
            local t, of = unary and L(a)[name](L(a)) or L(a)[name](L(a), with), unary and a[name](a) or a[name](a, with)
            local got, expected = second(t, c):eval(), second(of, c)
            assert.equal(expected:bytes(), got:bytes(), dtype .. " " .. name .. " " .. k .. " " .. type(with))
          end
        end
      end
    end
  end)

  it("are added as their elements are where the sum makes them", function()
    local g, special = model.generator(12), { 0 / 0, 1 / 0, -1 / 0, -0.0, 1e-7, 60000 }
    local function random(n, dtype, strange)
      local t = {}
      for j = 1, n do
        local x = (g() % 2 ^ 31 / 2 ^ 31 - 0.5) * 2 ^ (g() % 9)
        t[j] = dtype == "i64" and g() % 1000 - 500 or strange and g() % 900 < 6 and special[g() % 6 + 1] or x
      end
      return gr.array(t, dtype)
    end
    local function bound(text, a, b)
      return gr.fuse(text) { a = text:find "%f[%w]a%f[%W]" and a or nil, b = text:find "%f[%w]b%f[%W]" and b or nil }
    end
    local shapes = { "(a - b)^2", "a * b", "a^2", "a * a", "square(a)", "(a * 2 - b)^2", "(a - 3)^2", "(2 - b)^2",
      "(a - b) * (a - b)", "a * b + 0", "square(a - b) * b", "(a - a)^2", "3 * a", "b * (a - b)" }
    on_each(function()
      for _, dtype in ipairs { "f32", "f64", "f16", "i64" } do
        for _, n in ipairs { 1, 7, 31, 513, 1023, 1024, 1031, 4099, 40000 } do
          for strange = 0, dtype == "i64" and 0 or 1 do
            local a, b = random(2 * n, dtype, strange == 1), random(2 * n, dtype, strange == 1)
            for k, text in ipairs(shapes) do
              local e = bound(text, a:slice(1, n), k % 4 == 1 and b:slice(2, -1, 2) or b:slice(n + 1, -1))
              local made, what = e:eval(), text .. " of " .. n .. " " .. dtype
              S.same(made:sum(), e:sum(), what)
              S.same(made:mean(), e:mean(), what)
              local x, y = gr.many { { "sum", e }, { "max", e } }
              S.same(made:sum(), x, what)
              S.same(made:max(), y, what)
            end
          end
        end
        local a, b = random(3 * 5000, dtype), random(3 * 5000, dtype)
        for _, text in ipairs(shapes) do
          local e = bound(text, a, b)
          for _, rows in ipairs { 3, 15, 150 } do
            assert.equal(gr.sum(e:eval(), { rows = rows, axis = 1 }):bytes(),
              gr.sum(e, { rows = rows, axis = 1 }):bytes(), text .. " in rows")
          end
        end
      end
    end)
  end)

  it("take part in formulas", function()
    local a = gr.array { 1, 2, 3 }
    assert.equal(28, gr.fuse "x * x / 0.5" { x = L(a) }:sum())
    assert.equal(12, (gr.fuse "x + 1" { x = a } + a):sum() - 3)
  end)

  it("say what to write where Lua would make a boolean", function()
    local e = L(gr.ones(3))
    local less = "gpureduce.expression: '<' would be a boolean: write e:lt(x), or e:gt(x) for '>'"
    local not_more = "gpureduce.expression: '<=' would be a boolean: write e:le(x), or e:ge(x) for '>='"
    assert.equal(less, S.message(function() return e < e end))
    assert.equal(less, S.message(function() return e > e end))
    assert.equal(not_more, S.message(function() return e <= e end))
    local a = gr.ones(3)
    assert.equal("gpureduce.array: '<' would be a boolean: write a:compare(\"<\", b), or \">\" for '>'",
      S.message(function() return a < a end))
    assert.equal("gpureduce.array: '<=' would be a boolean: write a:compare(\"<=\", b), or \">=\" for '>='",
      S.message(function() return a >= a end))
  end)

  it("say what they have not, and what to write", function()
    local e = L(gr.ones(4):matrix(2))
    local elements = "gpureduce.expression: no element is there yet: write e:eval()[i], e:take(index) or "
      .. "e:compact(mask)"
    for key, text in pairs {
      [1] = elements, [gr.ones(1, "i32")] = elements, [true] = elements,
      dtype = "gpureduce.expression: no field 'dtype': write e:info().dtype",
      columns = "gpureduce.expression: no field 'columns': write e:info().columns",
      slice = "gpureduce.expression: no method 'slice': write e:eval():slice(...)",
      show = "gpureduce.expression: no method 'show': write e:eval():show(...)",
      summ = "gpureduce.expression: no method 'summ' (did you mean 'sum'?)",
      zzzzzz = "gpureduce.expression: no method 'zzzzzz'",
    } do
      assert.equal(text, S.message(function() return e[key] end))
    end
    assert.equal("gpureduce.expression: no field 'shape': write e:info().rows",
      S.message(function() return e.shape end))
  end)

  it("keep the data, see what is written to it, and let go of it", function()
    local a = gr.array { 1, 2, 3 }
    local e = L(a) * 2
    a[1] = 5
    assert.equal(20, e:sum())
    a:release()
    assert.equal(20, e:sum())
    e:release()
    assert.truthy(S.message(e.sum, e):find("expression has been released", 1, true))
    assert.truthy(tostring(e):find("released", 1, true))
  end)

  it("are no arrays", function()
    local e = L(gr.ones(3))
    assert.truthy(S.message(gr.fill, e, 1):find("gpureduce.array expected, got gpureduce.expression", 1, true))
    assert.truthy(S.message(gr.abs, e, { into = gr.ones(3) }):find("e:eval{into=}", 1, true))
    assert.truthy(S.message(L, 5):find("gpureduce.array expected, got number", 1, true))
    assert.truthy(S.message(function() return e + gr.ones(4) end):find("length 3 expected, got 4", 1, true))
    assert.truthy(S.message(function() return e + gr.ones(3, "f64") end):find("f32 and f64 do not mix", 1, true))
    for text, attempt in pairs {
      ["bad argument #1 to 'lazy' (gpureduce.array expected, got number)"] = function() L(5) end,
      ["bad argument #1 to 'eval' (gpureduce.expression expected, got number)"] = function() e.eval(5) end,
      ["bad argument #2 to 'lt' (array, number or expression expected, got string)"] = function() e:lt "x" end,
      ["bad argument #2 to 'le' (array, number or expression expected, got nil)"] = function() e:le(nil) end,
      ["bad argument #2 to 'eq' (array, number or expression expected, got boolean)"] = function() e:eq(true) end,
      ["bad argument #2 to 'ne' (array, number or expression expected, got no value)"] = function() e:ne() end,
      ["bad argument #2 to 'ge' (array, number or expression expected, got table)"] = function() e:ge {} end,
      ["bad argument #2 to 'gt' (array, number or expression expected, got string)"] = function() e:gt "x" end,
      ["bad argument #2 to 'land' (length 3 expected, got 4)"] = function() e:land(gr.ones(4)) end,
      ["bad argument #2 to 'lor' (array, number or expression expected, got string)"] = function() e:lor "x" end,
      ["bad argument #2 to 'pow' (array, number or expression expected, got string)"] = function() e:pow "x" end,
    } do
      assert.equal(text, S.message(attempt))
    end
    local deep = e
    local message = S.message(function()
      for _ = 1, 300 do deep = deep + 1 end
    end)
    assert.truthy(message:find("deeper than 200 steps", 1, true))
  end)
end)

describe("what ends a formula", function()
  it("is every operation that takes an array's values", function()
    on_each(function()
      local n = 3000
      local a, b = gr.rand(n, { seed = 1 }), gr.rand(n, { seed = 2 })
      local e, x = gr.fuse "a * b" { a = a, b = b }, a * b
      local m, mask = gr.fuse "a > b" { a = a, b = b }, a:compare(">", b)
      local w = gr.fuse "a + 1" { a = a }
      assert.is_true(e:histogram({ bins = 10 }).counts:equal(x:histogram({ bins = 10 }).counts))
      assert.is_true(gr.histogram(e, { bins = 10, weights = w }).counts:equal(gr.histogram(x, { bins = 10,
        weights = a + 1 }).counts))
      assert.is_true(gr.bincount(m, { minlength = 3 }):equal(mask:bincount { minlength = 3 }))
      assert.is_true(gr.bincount(m, { weights = w }):equal(gr.bincount(mask, { weights = a + 1 })))
      assert.is_true(e:scan("max"):equal(x:scan "max"))
      assert.is_true(gr.compact(a, m):equal(a:compact(mask)))
      assert.is_true(gr.compact(e, m):equal(x:compact(mask)))
      assert.is_true(gr.compact(a, gr.fuse "a - b" { a = a, b = a }):equal(a:compact(gr.zeros(n, "u8"))))
      assert.is_true(e:softmax():equal(x:softmax()))
      assert.equal(x:median(), e:median())
      assert.equal(x:quantile(0.3), gr.quantile(e, 0.3))
      assert.equal(gr.digest(x), gr.digest(e))
      assert.equal(gr.dot(x, a + 1), gr.dot(e, w))
      assert.equal(gr.mse(x, b), gr.mse(e, b))
      assert.equal(gr.cosine(b, x), gr.cosine(b, e))
      assert.equal(x:norm(1), e:norm(1))
      assert.equal(x:count { op = ">", value = 0.5 }, e:count { op = ">", value = 0.5 })
      assert.equal(x:sum { accumulate = "neumaier" }, e:sum { accumulate = "neumaier" })
      for _, name in ipairs { "sum", "mean", "norm", "var" } do
        assert.equal(gr[name](x, { exact = true }), gr[name](e, { exact = true }))
      end
      S.same_all(x:sum({ rows = 3, exact = true }):table(), e:sum { rows = 3, exact = true }, "exact rows")
      assert.equal(gr.dot(x, b, { exact = true }), gr.dot(e, b, { exact = true }))
      S.same_all(gr.dot(x, b, { rows = 10, pairs = true }):table(), gr.dot(e, b, { rows = 10, pairs = true }), "pairs")
      S.same_all(gr.dot(x, gr.ones(300), { rows = 10 }):table(), gr.dot(e, gr.ones(300), { rows = 10 }),
        "rows times a vector")
      local into = gr.zeros(4, "f64")
      e:sum { into = into, at = 2 }
      assert.equal(x:sum(), into[2])
      assert.equal(x:sum(), e:sum { async = true }:get())
      assert.equal(x:sum(), gr.async(gr.sum, e):get())
      local s = gr.accumulator()
      assert.equal(x:sum { exact = true }, s:add(e):value())
    end)
  end)

  it("stores into what it reads position for position, and into nothing else that it reads", function()
    on_each(function()
      local a, b = gr.array({ 1, 2, 3, 4 }, "f64"), gr.array({ 5, 6, 7, 8 }, "f64")
      local e = gr.fuse "a * b + a" { a = a, b = b }
      local out = e:eval { into = a }
      S.same_all({ 6, 14, 24, 36 }, out, "in place")
      assert.equal(a, out)
      local from = gr.array({ 1, 2, 3, 4, 5 }, "f64")
      local shifted = gr.lazy(from:slice(1, 4)) + from:slice(2, 5)
      assert.truthy(S.message(shifted.eval, shifted, { into = from:slice(1,
        4) }):find("option 'into': overlaps the input", 1, true))
      local s = gr.fuse "a * scalar(s)" { a = b, s = b:slice(2, 2) }
      assert.truthy(S.message(s.eval, s, { into = b }):find("option 'into': overlaps the input", 1, true))
      assert.truthy(S.message(e.sum, e, { rows = 4, into = b }):find("option 'into': overlaps the input", 1, true))
      assert.truthy(S.message(e.eval, e, { into = gr.ones(4) }):find("option 'into': f64[4] expected, got f32[4]", 1,
        true))
      local strided = gr.zeros(8, "f64")
      e:eval { into = strided:slice(2, 8, 2) }
      S.same_all({ 0, 36, 0, 98, 0, 192, 0, 324 }, strided, "a view")
    end)
  end)

  it("may be several, in one pass on the CPU", function()
    on_each(function(device)
      local a, b = gr.rand(5000, { seed = 3 }), gr.rand(5000, { seed = 4 })
      local e, d, x = gr.lazy(a) * b, gr.lazy(a) - b, a * b
      local list = { { "sum", e }, { "min", e }, { "max", d }, { "mean", e }, { "dot", e, d }, { "minmax", e },
        { "sum", a }, { "dot", a, e },
        { "any", e }, { "argmax", d }, { "var", d } }
      local expected = { x:sum(), x:min(), (a - b):max(), x:mean(), gr.dot(x, a - b), x:min(), x:max(), a:sum(),
        gr.dot(a, x), true,
        (a - b):argmax(), (a - b):var() }
      S.same_all(expected, { gr.many(list) }, device)
      S.same_all(expected, { gr.many(list, { async = true }):get() }, device)
      local counted = S.counted(function() gr.many { { "sum", e }, { "max", e }, { "min", d }, { "mean", d } } end)
      if device == "cpu" then assert.equal(1, counted.launches) end
      S.same_all({ x:sum(), 3 }, { gr.many { { "sum", e, { exact = false } }, { "sum", gr.ones(3) } } }, "with options")
      assert.truthy(S.message(gr.many, { { "sum", e }, { "max", gr.lazy(gr.zeros(0)) } }):find("array is empty", 1,
        true))
    end)
  end)

  it("may be several with options, and is computed once for all of them", function()
    on_each(function(device)
      local a, b = gr.rand(6000, { seed = 3 }), gr.rand(6000, { seed = 4 })
      local e, d, x = gr.lazy(a) * b, gr.lazy(a) - b, a * b
      local list = { { "sum", e }, { "max", e, { rows = 10 } }, { "sum", e, { rows = 10, axis = 1 } },
        { "dot", e, d, {} }, { "mean", d, { exact = true } } }
      local function same(sum, rows, columns, dot, mean)
        S.same(x:sum(), sum, "sum")
        S.same_all(x:max({ rows = 10 }):table(), rows, "rows")
        S.same_all(x:sum({ rows = 10, axis = 1 }):table(), columns, "columns")
        S.same(gr.dot(x, a - b), dot, "dot")
        S.same((a - b):mean { exact = true }, mean, "mean")
      end
      same(gr.many(list))
      same(gr.many(list, { async = true }):get())
      local counted = S.counted(function() gr.many(list) end)
      if device == "cpu" then assert.equal(2 + #list, counted.launches) end
      local into = gr.zeros(1, "f64") -- what an item writes a later one reads
      local late = gr.lazy(into) + 1
      S.same_all({ x:sum() + 1, x:sum() + 1 }, { select(2, gr.many { { "sum", x, { into = into, at = 1 } },
        { "sum", late }, { "max", late } }) }, "into")
    end)
  end)

  it("is scaled where squares leave the range of f64", function()
    on_each(function()
      local a = gr.array({ 3e200, 4e200 }, "f64")
      assert.equal(a:norm(), gr.norm(gr.lazy(a) * 1))
      S.same_all({ 3e200, 4e200 }, gr.norm(gr.lazy(a) * 1, { rows = 2 }), "rows")
      assert.equal(a:norm(), (gr.many { { "norm", gr.lazy(a) }, { "sum", gr.lazy(a) } }))
    end)
  end)

  it("takes nothing of the device's memory for what lies between, on the CPU, and copies nothing to the host",
    function()
    local a, b = gr.rand(100000), gr.rand(100000)
    local e = gr.fuse "(a - b)^2" { a = a, b = b }
    e:sum()
    local counted = S.counted(function()
      for _ = 1, 50 do e:sum() end
    end)
    assert.equal(50, counted.launches)
    assert.equal(0, counted.allocations)
    S.on("pretend", function()
      local c, d = gr.rand(1000):prefetch(), gr.rand(1000):prefetch()
      local f = gr.fuse "sqrt(c * c + d * d) + f32(i)" { c = c, d = d }
      assert.equal(0, S.counted(function() f:eval() end).bytes_down)
    end)
  end)
end)

describe("bench/fused.lua", function()
  it("says who is not there, and what formulas cost", function()
    local text, status = S.child({ PYTHON = "/nowhere/python3", GPUREDUCE_DEVICE = "cpu" }, "bench/fused.lua",
      "most=14", "rounds=1", "only=formulas,many,shapes,first,repeated,squares")
    assert.equal(0, status, text)
    for _, line in ipairs { "left out: all peers", "chain  2^14", "ratio  2^14", "sum, min, max and mean",
      "scan of a*b", "in the next process", "n 16", "2 threads", "fused: 0 things asked, 0 missed" } do
      assert.truthy(text:find(line, 1, true), line .. " is not in\n" .. text)
    end
  end)
end)

describe("gr.explain of an expression", function()
  it("says whether elements are stored on the way", function()
    local a, b = gr.ones(1000), gr.ones(1000)
    local e = gr.fuse "(a - b)^2" { a = a, b = b }
    assert.equal("formula", gr.explain("sum", e).kernel)
    assert.equal("formula", gr.explain("dot", e, a).kernel)
    assert.equal("formula", gr.explain("max", e, { rows = 10 }).kernel)
    assert.equal("formula, stored", gr.explain("max", e, { rows = 10, axis = 1 }).kernel)
    assert.equal("formula, stored", gr.explain("var", e, { exact = true }).kernel)
    assert.equal(8000, gr.explain("sum", e).reads)
    assert.equal(12000, gr.explain("dot", e, a).reads)
    S.on("pretend", function()
      local x = gr.explain("sum", gr.lazy(gr.array(gr.ones(1000):table())) * 2)
      assert.equal("formula, stored", x.kernel)
      assert.truthy(x.why:find("one launch a step", 1, true))
      assert.equal(4000, x.uploads)
    end)
  end)
end)

describe("hostile use of formulas", function()
  local at_collection = S.at_collection

  it("meets finalizers that release operands and expressions in the middle of calls", function()
    for _, device in ipairs(devices) do
      S.on(device, function()
        local f = gr.fuse "a * b + c"
        local pause, multiplier = collectgarbage("setpause", 0), collectgarbage("setstepmul", 10000)
        for round = 1, 150 do
          local given = { a = gr.ones(2000), b = gr.ones(2000), c = gr.ones(2000) }
          local e
          local function mischief()
            local victim = ({ given.a, given.b, e or given.c })[round % 3 + 1]
            if type(victim) == "userdata" then pcall(victim.release, victim) end
            if round % 2 == 0 then given.a, given.b = nil, 5 end
          end
          for _ = 1, 2 do at_collection(mischief) end
          pcall(function()
            e = f(given)
            for _ = 1, 2 do at_collection(mischief) end
            local x = e:sum()
            assert(x == 4000)
            gr.many { { "sum", e }, { "max", e }, { "sum", e * e } }
            e:eval()
            gr.histogram(e, { bins = 3 })
            e:sum { rows = 10 }
          end)
        end
        collectgarbage("setpause", pause)
        collectgarbage("setstepmul", multiplier)
      end)
    end
  end)

  it("refuses other selves", function()
    local e = gr.lazy(gr.ones(3))
    for _, self in ipairs { 1, "x", {}, gr.ones(3), gr.fuse "a", io.stdout } do
      for _, name in ipairs { "eval", "steps", "release", "lt", "land" } do
        if not (name == "release" and type(self) == "userdata") then assert.is_false((pcall(e[name], self))) end
      end
    end
    assert.equal("gpureduce.expression", getmetatable(e))
    assert.is_false(pcall(function() e.x = 1 end))
  end)

  it("reads any text without harm", function()
    local g = model.generator(77)
    local words = { "a", "b", "i", "n", "(", ")", ",", "+", "-", "*", "/", "^", "<", "==", "~=", "and", "or", "not",
      "where(", "sqrt(", "f32(",
      "scalar(", "row(", "1", "0.5", "1e400", "0xff", " ", "\n", "--", "\0", "\255", "..", "%", "//", "max(",
        "clamp(", "u8(", "&", "|", "~", "<<", ">>" }
    local a, b = gr.array { 1, 2, 3 }, gr.array { 4, 5, 6 }
    local read, bound = 0, 0
    for _ = 1, 20000 do
      local parts = {}
      for k = 1, g() % 12 + 1 do parts[k] = words[g() % #words + 1] end
      local ok, f = pcall(gr.fuse, table.concat(parts))
      if ok then
        read = read + 1
        for _, given in ipairs { { a = a, b = b }, { a = a }, { b = b }, { n = 2 } } do
          local fits, e = pcall(f, given)
          if fits then
            bound = bound + 1
            e:eval()
          end
        end
      else
        assert(type(f) == "string" and f:find("bad argument #1 to 'fuse' (", 1, true), f)
      end
    end
    assert.is_true(read > 500 and bound > 100, read .. " read, " .. bound .. " bound")
  end)

  it("stops a long evaluation when the host says so", function()
    local text = [[
      local gr = require "gpureduce"
      local e = gr.fuse "sqrt(a*a+1)" { a = gr.ones(30000000) }
      gr.safe { seconds = 0.005 }
      for _, f in ipairs { function() return e:sum() end, function() return e:eval() end } do
        local ok, message = pcall(f)
        print(ok, message)
      end]]
    local output = S.child_text({ GPUREDUCE_DEVICE = "cpu", GPUREDUCE_THREADS = "1" }, text)
    assert.truthy(output:find("false\t[^\n]*interrupted\nfalse\t[^\n]*interrupted"), output)
  end)
end)
