-- How formulas run on a device, and what was compiled for it.
local S = require "spec.support"
local gr = require "gpureduce"
local unpack = table.unpack or unpack -- luacheck: ignore unpack

local function compiles() return select(3, gr.backend()) == "formulas are compiled by the driver" end

describe("compiled formulas", function()
  it("are said by backend", function()
    local name, _, how = gr.backend()
    if name == "cpu" then
      assert.are.equal("formulas run in blocks that stay in the cache", how)
    elseif name == "pretend" then
      assert.are.equal("formulas run step by step", how)
    else
      assert.is_truthy(how:find "^formulas are compiled by the driver$" or how:find "^formulas run step by step: .")
    end
  end)

  it("are listed, those that differ in numbers alone once", function()
    local f, a = gr.fuse "a * k + 0.25", gr.rand(1000)
    local before = #gr.compiled()
    for k = 1, 5 do assert(f { a = a, k = k }:sum() > 0) end
    if not compiles() then
      assert.are.equal(0, #gr.compiled())
      return
    end
    local list = gr.compiled()
    assert.are.equal(before + 1, #list)
    assert.are.equal("SUM", list[1].what)
    assert.is_truthy(list[1].steps:find "f32 mul")
    assert.are.equal(5, list[1].uses)
    assert.is_true(list[1].seconds > 0)
  end)

  it("are one for a sum and extremes together", function()
    local e = gr.fuse "a - 0.5" { a = gr.ones(1000) }
    assert.are.same({ 500, 0.5, 0.5 }, { gr.many { { "sum", e }, { "min", e }, { "max", e } } })
    if compiles() then assert.are.equal("SUM, MINMAX", gr.compiled()[1].what) end
  end)

  it("are kernels that leave NaN out, one for views at any place", function()
    local n = 70001
    local x = gr.randn(n + 2, "f32", { seed = 5 })
    local holes, filled = gr.where(x:compare(">", 1), 0 / 0, x), gr.where(x:compare(">", 1), 0, x)
    local uses
    for _, view in ipairs { { 1, n }, { 2, n + 1 }, { 3, n, 3 } } do
      assert.are.equal(filled:slice(unpack(view)):sum(), holes:slice(unpack(view)):sum { skipnan = true })
      if compiles() then
        local first = gr.compiled()[1]
        assert.are.equal("SUM, present", first.what)
        assert.are.equal(uses and uses + 1 or first.uses, first.uses)
        uses = first.uses
      end
    end
    for _, op in ipairs { "sum", "mean", "norm", "min", "max", "argmin", "argmax" } do
      local rows = { rows = 7, skipnan = true }
      local of_rows = gr[op](holes:slice(2, n), rows)
      for row = 1, 7 do
        local one = holes:slice(2, n):slice((row - 1) * 10000 + 1, row * 10000)
        assert.are.equal(gr[op](one, { skipnan = true }), of_rows[row], op)
      end
      if compiles() then assert.is_truthy(gr.compiled()[1].what:find ", present$", op) end
    end
    for _, op in ipairs { "sum", "norm", "min", "max", "argmin", "argmax" } do -- short rows, and columns
      for axis = op == "sum" and 2 or op == "norm" and 2 or 1, 2 do
        local short = { rows = axis == 2 and 1000 or 70, axis = axis, skipnan = true }
        local each = gr[op](holes:slice(2, n), short)
        for _, k in ipairs { 1, 2, 999, 1000 } do
          local one = axis == 2 and holes:slice(2, n):slice((k - 1) * 70 + 1, k * 70) or
            holes:slice(1 + k, nil, 1000):slice(1, 70)
          assert.are.equal(gr[op](one, { skipnan = true }), each[k], op)
        end
        gr[op](holes:slice(2, n), short)
        if compiles() then
          local kernel = axis == 2 and ", present, short rows$" or ", present, columns$"
          assert.is_truthy(gr.compiled()[1].what:find(kernel), op)
        end
      end
    end
    local least = { x = gr.array({ 0 / 0, -math.huge }, "f32"), m = -math.huge } -- which a formula may mean
    assert.are.equal(1, gr.fuse "where(x == x, x, m)"(least):argmax())
    assert.are.same({ 1, -math.huge }, { gr.many { { "argmax", gr.fuse "where(x == x, x, m)"(least) },
      { "max", gr.fuse "where(x == x, x, m)"(least) } } })
    local own = gr.array({ 1, 0 / 0, 3 }, "f64") -- results over what they are of
    assert.are.equal(3, #gr.sum(own, { rows = 3, skipnan = true, into = own }))
    assert.are.same({ 1, 0, 3 }, own:table())
    assert.are.equal(7, gr.fuse "where(x == x, x, 7)" { x = holes }:max()) -- another filling, so steps
    if compiles() then assert.are.equal("MINMAX", gr.compiled()[1].what) end
  end)

  it("make a future's number as they are, by one launch", function()
    local a, b = gr.randn(70001, "f32", { seed = 8 }), gr.randn(70001, "f32", { seed = 9 })
    local e, d = gr.lazy(a) - b, (gr.lazy(a) - b) * 2
    for _, case in ipairs { { "sum", e }, { "var", d }, { "argmax", e }, { "minmax", d }, { "dot", e, d },
      { "cosine", e, a }, { "count", e }, { "any", d }, { "norm", d } } do
      local name, x, y = case[1], case[2], case[3]
      local expected = { gr[name](x, y) }
      local started
      local counted = S.counted(function() started = gr.async(gr[name], x, y) end)
      assert.are.same(expected, { started:get() }, name)
      if compiles() then assert.are.equal(1, counted.launches, name) end
    end
    local into = a:copy()
    local early = gr.async(gr.sum, gr.lazy(into) + b) -- what is written later is not what it reads
    local expected = (a + b):sum()
    into:fill(1)
    into:release()
    assert.are.equal(expected, early:get())
  end)

  it("are those of operators, too, whatever identities they have", function()
    local op = gr.operator { state = { "m", "p" }, map = { m = "abs(x)", p = "i" }, identity = { m = 7, p = 0 },
      merge = { m = "max(m1, m2)", p = "where(m1 >= m2, p1, p2)" } }
    for _, n in ipairs { 1, 5, 127, 128, 129, 1024, 1025, 5000, 70001, 300000 } do
      local a = gr.randn(n, "f32", { seed = n })
      assert.are.same({ gr.max(gr.lazy(a):abs()), gr.argmax(gr.lazy(a):abs()) }, { op(a) }, n)
    end
    if compiles() then assert.are.equal("operator", gr.compiled()[1].what) end
  end)

  it("are none with GPUREDUCE_JIT=0, and the bits are the same", function()
    local script = [[
      local gr = require "gpureduce"
      local a, b = gr.randn(70001, "f32", { seed = 3 }), gr.randn(70001, "f32", { seed = 4 })
      local f = gr.fuse "abs(a - b) / (abs(b) + 1)"
      local e = f { a = a, b = b }
      local text = ("%.17g %.17g %s"):format(e:sum(), e:max(), tostring(e:eval():digest()))
      print(#gr.compiled() > 0, text)]]
    local without = S.child_text({ GPUREDUCE_JIT = "0" }, script)
    assert.is_truthy(without:find "^false%s+%d")
    assert.are.equal(without:match "^false%s+(.*)", S.child_text({ GPUREDUCE_JIT = "1" }, script):match "^%l+%s+(.*)")
  end)

  it("are let go, the one whose use lies back longest first", function()
    if not compiles() then
      assert.are.equal(0, #gr.compiled())
      return
    end
    local a = gr.rand(100)
    for k = 1, 300 do -- each another structure: so many steps, in another order
      local text = "a"
      for bit = 0, 8 do text = ("(%s %s a)"):format(text, math.floor(k / 2 ^ bit) % 2 == 0 and "+" or "*") end
      gr.fuse(text) { a = a }:sum()
    end
    assert.are.equal(256, #gr.compiled())
    assert.are.equal(a:sum(), gr.fuse "a" { a = a }:sum())
  end)
end)
