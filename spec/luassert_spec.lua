-- require "gpureduce.luassert": what its assertions say, and that a state which does not ask for it has nothing of it.
local S = require "spec.support"
local gr, nan = S.gr, S.model.nan
local asserts = require "gpureduce.luassert"

-- The message of an assertion that fails, without the position in front; nil if it passes. Wherever elements are.
local function said(f)
  local message = S.message(f)
  return message and (message:gsub("%(host.-%)", "(host)"):gsub("%(device%)", "(host)"))
end

describe("arrays_equal", function()
  it("passes where gr.equal does", function()
    local a = gr.array { 1, nan, 3 }
    assert.arrays_equal(a, a:copy())
    assert.are.arrays_equal(a, a:slice())
    assert.is_true(said(function() assert.arrays_equal(a, a) end) == nil)
    assert.is_not.arrays_equal(a, a + 1)
    assert.are_not.arrays_equal(a, gr.array({ 1, nan, 3 }, "f64"))
    assert.is_not.arrays_equal(a:slice(1, 2), a)
    assert.arrays_equal(gr.lazy(a) * 2, a + a)
  end)

  it("says which elements differ, and by how much at most", function()
    local a, b = gr.arange(1, 1000), gr.arange(1, 1000)
    for _, k in ipairs { 17, 20, 30, 400, 999, 1000 } do b[k] = -k end
    b[1000] = 1000.5
    assert.equal([[
Expected arrays to be equal.
a: gpureduce.array f32[1000] (host)
b: gpureduce.array f32[1000] (host)
6 of 1000 elements differ:
  [17] 17 and -17
  [20] 20 and -20
  [30] 30 and -30
  [400] 400 and -400
  [999] 999 and -999
  ...
largest difference 1998 at [999]: 999 and -999]], said(function() assert.arrays_equal(a, b) end))
  end)

  it("says where in a matrix, and what NaN stand beside", function()
    local X, Y = gr.arange(1, 6):matrix(2), gr.arange(1, 6):matrix(2)
    Y[2][1], Y[1][3] = nan, 4
    assert.equal([[
Expected arrays to be equal.
a: gpureduce.array f32[2 x 3] (host)
b: gpureduce.array f32[2 x 3] (host)
2 of 6 elements differ:
  [1][3] 3 and 4
  [2][1] 4 and nan
largest difference 1 at [1][3]: 3 and 4]], said(function() assert.arrays_equal(X, Y) end))
    assert.equal([[
Expected arrays to be equal.
a: gpureduce.array f32[1] (host)
b: gpureduce.array f32[1] (host)
1 of 1 elements differ:
  [1] nan and 2]], said(function() assert.arrays_equal(gr.array { nan }, gr.array { 2 }) end))
  end)

  it("says when dtypes, lengths or shapes differ", function()
    assert.equal([[
Expected arrays to be equal.
a: gpureduce.array f32[3] (host)
b: gpureduce.array i32[3] (host)
dtypes differ: f32 and i32]], said(function() assert.arrays_equal(gr.ones(3), gr.ones(3, "i32")) end))
    assert.equal([[
Expected arrays to be equal.
a: gpureduce.array f32[3] (host)
b: gpureduce.array f64[4] (host)
dtypes differ: f32 and f64
lengths differ: 3 and 4]], said(function() assert.arrays_equal(gr.ones(3), gr.ones(4, "f64")) end))
    assert.equal([[
Expected arrays to be equal.
a: gpureduce.array f32[2 x 3] (host)
b: gpureduce.array f32[3 x 2] (host)
shapes differ: 2 x 3 and 3 x 2]], said(function()
      assert.arrays_equal(gr.ones(6):matrix(2), gr.ones(6):matrix(3))
    end))
  end)

  it("tells integers apart that f64 does not", function()
    local a = gr.full(2, 2 ^ 53, "i64")
    local text = said(function() assert.arrays_equal(a, a + gr.array({ 0, 1 }, "i64")) end)
    if S.integers then
      assert.truthy(text:find("\n1 of 2 elements differ:\n  [2] 9007199254740992 and 9007199254740993\n"
        .. "largest difference 1 at [2]: 9007199254740992 and 9007199254740993", 1, true), text)
    else assert.truthy(text:find("\n1 of 2 elements differ:\n  [2] ", 1, true), text) end
    local least = gr.full(1, -2 ^ 63, "i64")
    assert.truthy(said(function() assert.arrays_equal(least, gr.bnot(least)) end):find(
      "\nlargest difference 1.844674407370955", 1, true))
  end)

  it("works on every device", function()
    S.on_each(function()
      local a = gr.rand(100) * 2
      assert.arrays_equal(a, a:copy())
      assert.truthy(said(function() assert.arrays_equal(a, a + 1) end):find("100 of 100 elements differ", 1, true))
    end)
  end)

  it("says of arrays that are equal what they are", function()
    assert.equal([[
Expected arrays not to be equal.
a: gpureduce.array f32[3] (host)
b: gpureduce.array f32[3] (host)]], said(function() assert.is_not.arrays_equal(gr.ones(3), gr.ones(3)) end))
  end)

  it("begins with the test's own words", function()
    assert.matches("^after a step\nExpected arrays to be equal%.\n", said(function()
      assert.arrays_equal(gr.ones(3), gr.zeros(3), "after a step")
    end))
    assert.matches("^same\nExpected arrays not to be equal%.\n", said(function()
      assert.is_not.arrays_equal(gr.ones(3), gr.ones(3), "same")
    end))
  end)

  it("names the line of the test", function()
    local _, message = pcall(function() assert.arrays_equal(gr.ones(1), gr.zeros(1)) end)
    assert.matches("luassert_spec%.lua:%d+: Expected arrays", message)
    for _, f in ipairs { function() assert.arrays_equal(gr.ones(1), 3) end, function() assert.arrays_close(1, 3) end,
      function() assert.arrays_close(gr.ones(1), 3, 4) end } do
      _, message = pcall(f)
      assert.matches("luassert_spec%.lua:%d+: bad argument", message)
    end
  end)
end)

describe("arrays_close", function()
  it("passes where gr.allclose does, of arrays of one length and shape", function()
    local a = gr.array({ 1, 2, 3 }, "f64")
    assert.arrays_close(a, a + 1e-9)
    assert.arrays_close(a, a:cast "f32")
    assert.arrays_close(a, 2, { atol = 1 })
    assert.arrays_close(2, a, { atol = 1 }, "in words")
    assert.arrays_close(gr.lazy(a) * 2, a + a)
    assert.is_not.arrays_close(a, a + 1e-3)
    assert.is_not.arrays_close(a, gr.ones(4))
    assert.is_not.arrays_close(gr.array { nan }, gr.array { nan })
    assert.arrays_close(gr.array { nan }, gr.array { nan }, { nan_equal = true })
  end)

  it("says which elements are not close", function()
    local a = gr.array({ 1, 2, 3, 4 }, "f64")
    local b = a + gr.array({ 0, 0.25, 1e-9, 0.125 }, "f64")
    assert.equal([[
here
Expected arrays to be close.
a: gpureduce.array f64[4] (host)
b: gpureduce.array f64[4] (host)
2 of 4 elements differ:
  [2] 2 and 2.25
  [4] 4 and 4.125
largest difference 0.25 at [2]: 2 and 2.25]], said(function() assert.arrays_close(a, b, "here") end))
    assert.equal([[
Expected arrays to be close.
a: gpureduce.array f64[4] (host)
b: 1
1 of 4 elements differ:
  [4] 4 and 1
largest difference 3 at [4]: 4 and 1]], said(function() assert.arrays_close(a, 1, { atol = 2 }) end))
    assert.equal([[
Expected arrays to be close.
a: gpureduce.array f64[4] (host)
b: gpureduce.array f64[3] (host)
lengths differ: 4 and 3]], said(function() assert.arrays_close(a, gr.ones(3, "f64")) end))
    assert.equal([[
Expected arrays to be close.
a: gpureduce.array f32[1] (host)
b: gpureduce.array f32[1] (host)
1 of 1 elements differ:
  [1] inf and -inf
largest difference inf at [1]: inf and -inf]], said(function()
      assert.arrays_close(gr.array { math.huge }, gr.array { -math.huge })
    end))
  end)

  it("measures no difference where only NaN are not close", function()
    assert.equal([[
Expected arrays to be close.
a: gpureduce.array f64[2] (host)
b: gpureduce.array f64[2] (host)
1 of 2 elements differ:
  [2] nan and 2]], said(function()
      assert.arrays_close(gr.array({ 1, nan }, "f64"), gr.array({ 1 + 1e-9, 2 }, "f64"))
    end))
  end)

  it("says so of arrays that are close", function()
    assert.equal("Expected arrays not to be close.\na: gpureduce.array f32[2] (host)\nb: 1",
      said(function() assert.is_not.arrays_close(gr.ones(2), 1) end))
  end)
end)

describe("mistakes of assertions", function()
  for text, message in pairs {
    ["assert.arrays_equal(a)"] = "bad argument #2 to 'arrays_equal' (array or expression expected, got nil)",
    ["assert.arrays_equal({ 1 }, a)"] = "bad argument #1 to 'arrays_equal' (array or expression expected, got table)",
    ["assert.arrays_equal(a, 1)"] = "bad argument #2 to 'arrays_equal' (array or expression expected, got number)",
    ["assert.arrays_equal(a, h)"] =
      "bad argument #2 to 'arrays_equal' (array or expression expected, got table)",
    ["assert.arrays_equal(a, f)"] =
      "bad argument #2 to 'arrays_equal' (array or expression expected, got gpureduce.future)",
    ["assert.arrays_equal(a, there)"] = "bad argument #2 to 'arrays_equal' (array on device 'cpu' expected, got one on "
      .. "'pretend': copy() brings it to the device in use)",
    ["assert.is_not.arrays_equal(a, released)"] = "bad argument #2 to 'arrays_equal' (array has been released)",
    ["assert.arrays_close(1, 2)"] = "bad argument #1 to 'arrays_close' (array or expression expected, got number)",
    ["assert.arrays_close(a, 'x')"] =
      "bad argument #2 to 'arrays_close' (array, number or expression expected, got string)",
    ["assert.arrays_close(a, 1, { tol = 1 })"] =
      "bad argument #3 to 'arrays_close' (unknown option 'tol' (did you mean 'rtol'?))",
    ["assert.is_not.arrays_close(a, 1, { rtol = -1 })"] =
      "bad argument #3 to 'arrays_close' (option 'rtol': finite number of 0 or more expected, got -1)",
  } do
    it(text, function()
      local environment = { assert = asserts, a = gr.ones(3), released = gr.ones(3), f = gr.async(gr.sum, gr.ones(2)),
        h = gr.ones(3):histogram { bins = 2 } }
      S.on("cpu", function() environment.a = gr.ones(3) end)
      S.on("pretend", function() environment.there = gr.ones(3) end)
      environment.released:release()
      assert.equal(message, S.message(S.load_in(text, environment)))
    end)
  end
end)

describe("the module of assertions", function()
  it("comes out of the one file, also before the module itself, and gives luassert", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local asserts = require "gpureduce.luassert"
      local gr = require "gpureduce"
      print(asserts == require "luassert", pcall(asserts.arrays_equal, gr.ones(3), gr.ones(3)))
      print(select(2, pcall(asserts.arrays_equal, gr.ones(3), gr.ones(2))))]])
    assert.equal(0, status)
    assert.matches("^true\ttrue\tgpureduce.array f32%[3%] %(host%)\tgpureduce.array f32%[3%] %(host%)\n", text)
    assert.matches("lengths differ: 3 and 2", text)
  end)

  it("needs luassert, and says so", function()
    local text = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local cpath = package.cpath
      package.path = ""
      package.cpath = cpath
      print(pcall(require, "gpureduce.luassert"))]])
    assert.matches("^false\t.-module 'luassert' not found", text)
  end)

  it("adds nothing to a state that does not ask for it, under gr.safe neither", function()
    local text = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local function state()
        local list = { #(package.searchers or package.loaders) }
        for _, t in ipairs { package.preload, package.loaded, _G } do
          local names = {}
          for name in pairs(t) do names[#names + 1] = tostring(name) end
          table.sort(names)
          list[#list + 1] = table.concat(names, " ")
        end
        return table.concat(list, "|")
      end
      local before = state()
      local gr = require "gpureduce"
      package.loaded.gpureduce = nil
      if rawget(_G, "jit") then package.loaded.ffi = nil end
      print(state() == before)
      gr.safe {}
      gr.help "sum"
      gr.ones(3):show()
      print(state() == before)]])
    assert.equal("true\ntrue\n", text)
  end)

  it("has its texts in the language that luassert falls back to", function()
    local say = require "say"
    assert.equal("Expected arrays to be equal.\n%s", say.en["assertion.arrays_equal.positive"])
    say:set_namespace "eo"
    local text = said(function() assert.arrays_equal(gr.ones(1), gr.ones(2)) end)
    say:set_namespace "en"
    assert.matches("^Expected arrays to be equal%.", text)
  end)
end)
