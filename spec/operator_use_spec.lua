-- gr.operator: what it gives, what it says where words do not fit, and those who mean harm.
local S = require "spec.support"
local O = require "spec.operators"
local gr = S.gr
local sum_of, with, alike, extremes = O.sum_of, O.with, O.alike, O.extremes
local huge = math.huge

describe("gr.operator", function()
  it("gives several results, and the identity of nothing", function()
    local op = gr.operator(extremes)
    local a = gr.array { 3, -7, 2, 5 }
    assert.same({ -7, 5 }, { op(a) })
    local lo, hi = op(a, { rows = 2 })
    assert.same({ { -7, 2 }, { 3, 5 } }, { lo:table(), hi:table() })
    assert.same({ huge, -huge }, { op(gr.zeros(0)) })
    assert.same({ huge, 3 }, op(a, { segments = { 1, 1, 2 } }):table())
    assert.equal(12, gr.operator(with(extremes, { finish = "hi - lo" }))(a))
    assert.same({ 12, 5 }, { gr.operator(with(extremes, { finish = { "hi - lo", "hi" } }))(a) })
  end)

  it("knows matrices", function()
    local op, m = gr.operator(sum_of()), gr.arange(1, 6):matrix(2)
    assert.same({ 5, 7, 9 }, op(m, { axis = 1 }):table())
    assert.same({ 6, 15 }, op(m, { axis = 2 }):table())
    assert.same({ 6, 15 }, op(m:transpose(), { axis = 1 }):table())
    assert.equal(2, gr.scan(m, op).rows)
    local lo, hi = gr.operator(extremes)(m, { axis = 2, keepdims = true })
    assert.same({ { 2, 1 }, { 2, 1 } }, { lo.shape, hi.shape })
    assert.same({ { -4, -5, -6 }, { -1, -2, -3 } },
      (m:cast "f64" - op(m, { axis = 1, keepdims = true })):table())
    assert.equal("bad argument #2 to 'operator' (option 'segments': takes no 'axis')",
      S.message(op, m, { axis = 1, segments = { 1, 2 } }))
    assert.equal("bad argument #2 to 'operator' (option 'axis': only together with 'rows')",
      S.message(op, gr.ones(4), { axis = 1 }))
  end)

  it("keeps dtypes of states: that of the map, of numbers as they are written", function()
    local a = gr.array({ 1, 2, 3 }, "f32")
    local op = gr.operator { state = { "a", "b", "c", "d" }, map = { a = "x", b = "1", c = "1.0", d = "u8(1)" },
      merge = { a = "a1 + a2", b = "b1 + b2", c = "c1 + c2", d = "d1 + d2" },
      identity = { a = 0, b = 0, c = 0, d = 0 } }
    local out = { op(a, { rows = 1 }) }
    for k, dtype in ipairs { "f32", "i64", "f64", "u8" } do
      assert.equal(dtype, out[k].dtype)
      assert.equal(k == 1 and 6 or 3, out[k][1])
    end
    assert.equal("f64", gr.operator(with(sum_of(), { finish = "1.5" }))(a, { rows = 3 }).dtype)
  end)

  it("takes what is the same as it is, and numbers for texts", function()
    local a = gr.array({ 4, 5, 6 }, "i32")
    assert.equal(4, gr.operator { state = "s", map = "x", merge = "s1", identity = 0, commutative = false }(a))
    assert.equal(6, gr.operator { state = "s", map = "x", merge = "s2", identity = 0, commutative = false }(a))
    assert.equal(7, gr.operator { state = "s", map = "x", merge = "7", identity = 0 }(a))
    local x, y = gr.operator { state = { "s", "t" }, map = { s = "x * 2", t = "x * 2" },
      merge = { s = "s1 + s2", t = "s1 + s2" }, identity = { s = 0, t = 0 }, finish = { "s", "s" } }(a)
    assert.same({ 30, 30 }, { x, y })
  end)

  it("writes into arrays, gives futures, and stands among others", function()
    local op, a = gr.operator(sum_of()), gr.array { 1, 2, 3, 4 }
    local out = gr.zeros(2, "f64")
    assert.equal(out, op(a, { rows = 2, into = out }))
    assert.same({ 3, 7 }, out:table())
    assert.equal(out, op(a, { into = out, at = -1 }))
    assert.same({ 3, 10 }, out:table())
    local wide = gr.full(6, -1, "f64")
    op(a, { rows = 2, into = wide:slice(2, 5, 3) })
    assert.same({ -1, 3, -1, -1, 7, -1 }, wide:table())
    assert.equal(10, op(a, { async = true }):get())
    assert.same({ 3, 7 }, op(a, { rows = 2, async = true }):get():table())
    assert.same({ 10, 4 }, { gr.many { { "reduce", a, op }, { "max", a } } })
    assert.equal(10, gr.async(gr.reduce, a, op):get())
  end)

  it("makes every NaN the one of its dtype", function()
    local odd = gr.frombytes(("\1\0\192\255"), "f32") -- a NaN with other bits
    local op = gr.operator { state = "s", map = "x", merge = "s1", identity = 0, commutative = false }
    assert.equal("\0\0\192\127", op(odd, { rows = 1 }):bytes())
    assert.equal("\0\0\192\127", gr.scan(odd, op):bytes())
  end)

  it("is explained", function()
    local op = gr.operator(extremes)
    S.on("cpu", function()
      local how = gr.explain(op, gr.ones(1000), { rows = 10 })
      assert.same({ "operator", "cpu", "operator", 4000, 80 },
        { how.op, how.device, how.kernel, how.reads, how.writes })
      assert.equal("operator of 1000 f32 in 10 rows on cpu: operator; reads 4000, writes 80 bytes; " ..
        "programs take blocks of states along the tree", tostring(how))
    end)
    S.on("pretend", function()
      assert.truthy(gr.explain(op, gr.ones(9), { rows = 3 }).why:find("the host gets the elements", 1, true))
      assert.equal("states of leaves in one pass, along the tree", gr.explain(op, gr.ones(9)).why)
    end)
    assert.equal("operator, in order", gr.explain(gr.operator(with(sum_of(), { commutative = false })), gr.ones(9))
      .kernel)
  end)

  it("is traced", function()
    local output = S.child_text({ GPUREDUCE_TRACE = "1", GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      local op = gr.operator { state = "s", map = "x", merge = "s1 + s2", identity = 0 }
      local a = gr.ones(6)
      print(op(a), op(a, { rows = 2 }), op(gr.zeros(0)))
    ]])
    local why = "programs take blocks of states along the tree\n"
    local line = "gpureduce: operator of 6 f32 on cpu: operator; reads 24, writes 4 bytes; " .. why
    assert.truthy(output:find(line, 1, true), output)
    assert.truthy(output:find("operator of 6 f32 in 2 rows on cpu", 1, true), output)
  end)

  it("shows its words", function()
    assert.equal("gpureduce.operator: lo = min(lo1, lo2), hi = max(hi1, hi2)", tostring(gr.operator(extremes)))
  end)

  it("checks", function()
    local function checked(t) return S.message(gr.operator, with(t, { check = true })) end
    for _, row in ipairs(alike) do assert.is_nil(checked(row[2]), row[1]) end
    assert.is_nil(checked { state = "b", map = "x", merge = "bxor(b1, b2)", identity = 0 })
    local cases = {
      { { state = "s", map = "x", merge = "s1 - s2", identity = 0 },
        "check: merge with the identity changes a state: of x = 1 (f64) state 's' is -1 and 1 by (identity, a)" },
      { { state = "s", map = "x", merge = "s1 + s2", identity = 1 },
        "check: merge with the identity changes a state: of x = 0 (f64) state 's' is 1 and 0 by (a, identity)" },
      { { state = "s", map = "x", merge = "s1 == 0 and s2 or s1", identity = 0 },
        "check: merge does not commute (if it is not to, say commutative = false): of x = -1 and 1 (f64) " ..
        "state 's' is -1 and 1 by (a, b) and (b, a)" },
      { { state = "s", map = "x", merge = "s1 * s2 == 0 and s1 + s2 or (s1 + s2) / 2", identity = 0 },
        "check: merge is not associative: of x = " },
    }
    for _, case in ipairs(cases) do
      local got = checked(case[1])
      assert.truthy(got and got:find(case[2], 1, true), tostring(got))
    end
    local got = checked { state = "m", map = "x", merge = "abs(m1) > abs(m2) and m1 or m2", identity = 0 }
    assert.truthy(got:find("does not commute", 1, true), got)
  end)
end)

describe("errors of operators", function()
  local function fails(t, text, ...)
    local got = S.message(gr.operator, t)
    assert.equal("bad argument #1 to 'operator' (" .. text .. ")", got, ...)
  end
  local function without(key) local t = sum_of() t[key] = nil return t end

  it("name the option", function()
    fails(nil, "table with 'state', 'map', 'merge' and 'identity' expected, got nil")
    fails(without "state", "option 'state' expected: the name of a state, or names")
    for _, key in ipairs { "map", "merge", "identity" } do fails(without(key), "option '" .. key .. "' expected") end
    fails(with(sum_of(), { fold = 1 }), "unknown option 'fold'")
    fails(with(sum_of(), { state = 5 }), "option 'state': name expected, got number")
    fails(with(sum_of(), { state = {} }), "option 'state': 1 to 6 names expected, got 0")
    fails(with(sum_of(), { state = { "a", "b", "c", "d", "e", "f", "g" } }),
      "option 'state': 1 to 6 names expected, got 7")
    fails(with(sum_of(), { state = { "a", "b", "a" } }), "option 'state': 'a' is there twice")
    for _, word in ipairs { "and", "or", "not", "true", "false", "i", "n" } do
      fails(with(sum_of(), { state = word }),
        "option 'state': '" .. word .. "': a word of formulas: another name expected")
    end
    for _, word in ipairs { "", "1a", "a b", "a\0b", "ä" } do
      local got = S.message(gr.operator, with(sum_of(), { state = word }))
      assert.truthy(got:find("name of letters, digits and _ expected", 1, true), got)
    end
    fails(with(sum_of(), { state = ("a"):rep(63) }),
      "option 'state': '" .. ("a"):rep(40) .. "': name of at most 62 letters expected")
    fails(with(sum_of(), { map = 1 }), "option 'map': formula of state 's' expected, got number")
    fails(with(extremes, { map = "x" }),
      "option 'map': table with a value for each of the 2 states expected, got string")
    fails(with(extremes, { map = { lo = "x" } }), "option 'map': formula of state 'hi' expected, got nil")
    fails(with(extremes, { merge = { lo = "x", hi = "x", no = "x" } }), "option 'merge': no state 'no'")
    fails(with(extremes, { merge = { "a" } }), "option 'merge': names of states are strings, got a number")
    fails(with(sum_of(), { identity = "0" }), "option 'identity': number of state 's' expected, got string")
    fails(with(sum_of(), { finish = 3 }), "option 'finish': formula expected, got number")
    fails(with(sum_of(), { finish = {} }), "option 'finish': formula or a list of 1 to 6 expected, got 0")
    fails(with(sum_of(), { commutative = 1 }), "option 'commutative': boolean expected, got number")
    fails(with(sum_of(), { map = ("x"):rep(65537) }),
      "option 'map': text of at most 65536 characters expected, got 65537")
    fails(setmetatable(sum_of(), { __index = {} }), "options table without __index expected: options are read raw")
  end)

  it("name the state, and show the place", function()
    fails(with(sum_of(), { map = "y + 1" }),
      "map of state 's': column 1: no 'y': the element is x, its position i\n  y + 1\n  ^")
    fails(with(sum_of(), { merge = "s1 + x" }),
      "merge of state 's': column 6: no 'x': states are s1, of the left part, and s2, of the right\n  s1 + x\n       ^")
    fails(with(sum_of(), { merge = "s1 + i" }),
      "merge of state 's': column 6: i is the position of an element: only 'map' has one\n  s1 + i\n       ^")
    fails(with(sum_of(), { map = "x / n" }),
      "map of state 's': column 5: n is known at the end: only 'finish' has it\n  x / n\n      ^")
    fails(with(sum_of(), { finish = "s1" }),
      "finish: column 1: no 's1': states are s, and n counts elements\n  s1\n  ^")
    fails(with(extremes, { finish = { "lo", "mid" } }),
      "finish, result 2: column 1: no 'mid': states are lo and the others, and n counts elements\n  mid\n  ^")
    fails(with(sum_of(), { merge = "s1 + scalar(s2)" }), "merge of state 's': column 13: scalar is for arrays\n" ..
      "  s1 + scalar(s2)\n              ^")
    fails(with(sum_of(), { merge = "s1 +" }),
      "merge of state 's': column 5: number, name or '(' expected, got the end\n  s1 +\n      ^")
    fails(with(sum_of(), { map = "sqr(x)" }),
      "map of state 's': column 1: no function 'sqr' (did you mean 'sqrt'?)\n  sqr(x)\n  ^")
  end)

  it("of texts that are too much", function()
    local function told(t, text)
      local got = S.message(gr.operator, t)
      assert.truthy(got and got:find(text, 1, true), tostring(got))
    end
    told(with(sum_of(), { map = ("x + "):rep(300) .. "x" }), "map of state 's': column 803: deeper than 200")
    told(with(sum_of(), { merge = (" "):rep(65536) }), "merge of state 's': column 65537: number, name or '(' expected")
    told(with(sum_of(), { finish = ("("):rep(201) }), "finish: column 201: deeper than 200")
    local sum = {} -- of 2200 products, as a tree of some depth
    for k = 1, 2200 do sum[k] = k .. " * x" end
    while #sum > 1 do
      local half = {}
      for k = 1, #sum, 2 do half[#half + 1] = sum[k + 1] and "(" .. sum[k] .. " + " .. sum[k + 1] .. ")" or sum[k] end
      sum = half
    end
    told(with(sum_of(), { map = sum[1] }), "more than 4096 parts")
    local all = { state = { "a", "b", "c", "d", "e", "f" }, map = {}, merge = {}, identity = {} }
    for k, name in ipairs(all.state) do
      local text = "x"
      for j = 1, 150 do text = "(" .. text .. ") * " .. k * 1000 + j end
      all.map[name], all.merge[name], all.identity[name] = text, name .. "1 + " .. name .. "2", 0
    end
    assert.equal(6, select("#", gr.operator(all)(gr.zeros(1))))
  end)

  it("of dtypes come with the first array of it", function()
    local function told(t, a, text)
      assert.equal("bad argument #1 to 'operator' (" .. text .. ")", S.message(gr.operator(t), a))
    end
    told(with(sum_of(), { map = "x", merge = "f64(s1) + f64(s2)" }), gr.ones(3), "merge of state 's': column 9: f32 " ..
      "expected, which its map gives, got f64: write f32(...)\n  f64(s1) + f64(s2)\n          ^")
    told(with(sum_of(), { map = "x + f64(x)" }), gr.ones(3), "map of state 's': column 3: f32 and f64 do not mix: " ..
      "write f32(...) or f64(...)\n  x + f64(x)\n    ^")
    told(with(sum_of(), { map = "x", identity = huge }), gr.ones(3, "i32"),
      "identity of state 's': value inf is not a whole number, as i32 needs")
    told(with(sum_of(), { map = "x", merge = "bxor(s1, s2)" }), gr.ones(3),
      "merge of state 's': column 1: bxor is not there for f32\n  bxor(s1, s2)\n  ^")
    assert.equal(2, gr.operator(with(sum_of(), { map = "x", merge = "bxor(s1, s2)" }))(gr.array({ 1, 3 }, "i32")))
    assert.equal("bad argument #1 to 'reduce' (identity of state 's': value 0.5 is not a whole number, as i32 needs)",
      S.message(gr.reduce, gr.ones(3, "i32"), gr.operator(with(sum_of(), { map = "x", identity = 0.5 }))))
  end)

  it("name operands and options", function()
    local op, two, a = gr.operator(sum_of()), gr.operator(extremes), gr.ones(4)
    local function told(text, f, ...) assert.equal(text, S.message(f, ...)) end
    told("bad argument #1 to 'operator' (gpureduce.array expected, got number)", op, 5)
    told("bad argument #2 to 'operator' (unknown option 'row' (did you mean 'rows'?))", op, a, { row = 2 })
    told("bad argument #3 to 'reduce' (option 'rows': 3 rows do not divide length 4)", gr.reduce, a, op, { rows = 3 })
    told("bad argument #2 to 'operator' (option 'into': f64[2] expected, got f32[2])", op, a,
      { rows = 2, into = gr.ones(2) })
    told("bad argument #2 to 'operator' (option 'into': the operator gives 2 results, it takes one)", two, a,
      { rows = 2, into = gr.ones(2) })
    told("bad argument #3 to 'scan' (option 'into': the operator gives 2 results, it takes one)", gr.scan, a, two,
      { into = gr.ones(4) })
    told("bad argument #2 to 'operator' (option 'into': only together with 'at', 'rows' or 'segments')", op, a,
      { into = gr.ones(2) })
    told("bad argument #2 to 'operator' (option 'segments': positions from 1 to 5 expected, but position 2 is 9)", op,
      a, { segments = { 1, 9 } })
    told("bad argument #3 to 'scan' (option 'rows': 3 rows do not divide length 4)", gr.scan, a, op, { rows = 3 })
    told("bad argument #3 to 'scan' (option 'axis': only together with 'rows')", gr.scan, a, op, { axis = 2 })
    told("bad argument #2 to 'operator' (option 'keepdims': only together with 'rows')", op, a, { keepdims = true })
    told("bad argument #2 to 'operator' (option 'keepdims': only together with 'axis')", op, a:matrix(2),
      { keepdims = true })
    told("bad argument #2 to 'operator' (option 'keepdims': takes no 'into', which has a shape of its own)", op, a,
      { rows = 2, keepdims = true, into = gr.ones(2, "f64") })
    told("bad argument #2 to 'operator' (option 'segments': takes no 'keepdims')", op, a,
      { segments = { 1, 5 }, keepdims = true })
    told("bad argument #2 to 'reduce' (gpureduce.array expected, got number)", op.reduce, op, 5)
    told("bad argument #3 to 'scan' (option 'mask': dtype u8 expected, got f32)", op.scan, op, a, { mask = a })
    told("bad argument #3 to 'scan' (option 'mask': length 4 expected, got 3)", op.scan, op, a,
      { mask = gr.ones(3, "u8") })
    told("bad argument #3 to 'scan' (option 'comm': gpureduce.comm expected, got number)", op.scan, op, a, { comm = 1 })
    a:release()
    told("bad argument #1 to 'operator' (array has been released)", op, a)
    assert.equal("gpureduce.operator", getmetatable(op))
  end)
end)

-- What op:scan gives of x and of a mask: of each place what is there of the present ones before it, or up to it.
local function scanned_present(op, x, mask, options)
  local n, results = #x, nil
  for k = 1, n do
    local from, to = 1, options.exclusive and k - 1 or k
    if options.reverse then from, to = options.exclusive and k + 1 or k, n end
    local kept = {}
    for i = from, to do
      if mask[i] ~= 0 then kept[#kept + 1] = x[i] end
    end
    local all = { op(gr.array(kept, x.dtype)) }
    results = results or {}
    for r = 1, #all do
      results[r] = results[r] or {}
      results[r][k] = all[r]
    end
  end
  return results
end

describe("gr.operator: scans of what is present", function()
  local nan = 0 / 0
  local mean = gr.operator { state = "s", map = "f64(x)", merge = "s1 + s2", identity = 0, finish = "s / n" }
  local ways = { {}, { exclusive = true }, { reverse = true }, { exclusive = true, reverse = true } }

  it("hold what there is so far", function()
    local x = gr.array({ nan, 4, nan, -2, 8, nan }, "f64")
    local mask = gr.array({ 0, 1, 0, 1, 1, 0 }, "u8")
    for _, op in ipairs { gr.operator(sum_of()), mean, gr.operator(extremes) } do
      for _, way in ipairs(ways) do
        local expected = scanned_present(op, x, mask, way)
        local by_nan = { op:scan(x, with(way, { skipnan = true })) }
        local by_mask = { gr.scan(x, op, with(way, { mask = mask })) }
        for r = 1, #expected do
          local bytes = gr.array(expected[r], "f64"):bytes()
          assert.equal(bytes, by_nan[r]:bytes())
          assert.equal(bytes, by_mask[r]:bytes())
        end
      end
    end
    assert.same({ 0, 4, 4, 2, 10, 10 }, x:scan(gr.operator(sum_of()), { skipnan = true }):table())
  end)

  it("take both options, expressions, and integers, of which none is NaN", function()
    local op, x = gr.operator(sum_of()), gr.array({ 1, nan, 3, 4 }, "f64")
    assert.same({ 1, 1, 1, 5 }, op:scan(x, { skipnan = true, mask = gr.array({ 1, 1, 0, 1 }, "u8") }):table())
    assert.same({ 0, 0, 0, 4 }, op:scan(x, { mask = gr.fuse "x > 3" { x = x } }):table())
    assert.same({ 0, 0, 9, 25 }, op:scan(gr.fuse "x * x" { x = x }, { mask = gr.fuse "x > 2" { x = x } }):table())
    assert.same({ 1, 3, 6 }, op:scan(gr.array({ 1, 2, 3 }, "i32"), { skipnan = true }):table())
  end)

  it("begin anew in rows and columns, go into arrays, and round to f32", function()
    local op, x = gr.operator(sum_of "f64(x)"), gr.array({ 1, nan, 3, nan, 5, 0.1 }, "f32")
    assert.same({ 1, 1, 4, 0, 5, 5 + gr.array({ 0.1 }, "f32")[1] }, op:scan(x, { rows = 2, skipnan = true }):table())
    local X = x:matrix(2)
    local down = X:scan(op, { axis = 1, skipnan = true })
    assert.same({ { 1, 0, 3 }, { 1, 5, 3 + x[6] } }, down:table())
    local into = gr.zeros(6, "f64")
    assert.equal(into, op:scan(x, { skipnan = true, into = into }))
    assert.same({ 1, 1, 4, 4, 9, 9 + x[6] }, into:table())
    assert.same({ 1, 1, 4, 4, 9 }, gr.scan(x:slice(1, 5), op, { skipnan = true, out = "f32" }):table())
    local own = gr.operator(sum_of "x")
    assert.equal(x, own:scan(x, { skipnan = true, into = x }))
    assert.same({ 1, 1, 4, 4, 9 }, x:slice(1, 5):table())
  end)

  it("are those of the elements that are left, to the bit", function()
    local x = gr.randn(5000, { seed = 3, dtype = "f32" })
    local mask = gr.rand(5000, { seed = 4 }):compare("<", 0.7)
    local op = gr.operator(sum_of "f64(x)")
    for _, reverse in ipairs { false, true } do
      local all = op:scan(x, { mask = mask, reverse = reverse })
      assert.equal(op:scan(x:compact(mask), { reverse = reverse }):bytes(), all:compact(mask):bytes())
    end
  end)

  it("are of nothing where nothing is present", function()
    local op = gr.operator(extremes)
    local lo, hi = op:scan(gr.array({ nan, nan }, "f64"), { skipnan = true })
    assert.same({ { huge, huge }, { -huge, -huge } }, { lo:table(), hi:table() })
    assert.equal(0, #(op:scan(gr.zeros(0), { skipnan = true, mask = gr.zeros(0, "u8") })))
    local x, m = gr.ones(3, "u8"), gr.ones(3, "u8")
    assert.equal("bad argument #3 to 'scan' (option 'into': overlaps the mask)",
      S.message(gr.scan, x, gr.operator(sum_of "x"), { mask = m, into = m }))
  end)
end)

describe("operators among mischief", function()
  it("meet arrays that finalizers release, and other dtypes in between", function()
    local op, a = gr.operator(sum_of "x"), gr.ones(2000)
    local offsets = gr.array({ 1, 1000, 2001 }, "i64")
    for _ = 1, 20 do
      local x = gr.ones(2000)
      S.at_collection(function() x:release() op(gr.ones(3, "i64")) end)
      for _, options in ipairs { {}, { rows = 20 }, { segments = offsets } } do
        local ok, result = pcall(op, x, options)
        assert.is_true(ok or tostring(result):find("released", 1, true) ~= nil, tostring(result))
        collectgarbage()
      end
      assert.equal(2000, op(a))
    end
  end)

  it("keep to the limits of gr.safe", function()
    local output, status = S.child_text({}, [[
      local gr = require "gpureduce"
      gr.safe { elements = 1000, seconds = 0.05 }
      local op = gr.operator { state = "s", map = "x", merge = "s1 + s2", identity = 0 }
      local e = gr.fuse "f32(i)" { n = 100000 }
      print(pcall(op, e))
      print(pcall(gr.scan, e, op))
      local slow = gr.operator { state = "s", map = "sin(x)", merge = "sin(s1) + sin(s2)", identity = 0 }
      local t = {}
      print(pcall(slow, gr.fuse "f64(i)" { n = 1000 }, { rows = 1000 }))
    ]])
    assert.equal(0, status)
    assert.truthy(output:find("1000 elements of an array at most, as gr.safe says, got 100000", 1, true), output)
  end)

  it("are stopped in time", function()
    local output = S.child_text({ GPUREDUCE_THREADS = "1", GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      local a = gr.ones(2^24)
      gr.safe { seconds = 0.01 }
      local slow = gr.operator { state = "s", map = "sin(x)", merge = "sin(s1) + sin(sin(s2))", identity = 0 }
      print(pcall(slow, a))
      print(pcall(slow, a, { rows = 2^20 }))
      print(pcall(gr.scan, a, slow))
    ]])
    local count = select(2, output:gsub("interrupted", ""))
    assert.equal(3, count, output)
  end)
end)
