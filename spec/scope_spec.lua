-- gr.scope releases what was made inside, but what is returned; and the figures of gr.memory.
local S = require "spec.support"
local gr = S.gr

local function released(a) return tostring(a) == "gpureduce.array (released)" end

describe("gr.scope", function()
  it("releases what was made inside, and gives the results", function()
    local inside = {}
    local sum, word = gr.scope(function(n, w)
      inside[1] = gr.ones(n)
      inside[2] = gr.scan(inside[1], "sum")
      inside[3] = inside[2]:slice(1, 2)
      inside[4] = gr.histogram(inside[1], { bins = 2 })
      return inside[2]:sum(), w
    end, 10, "x")
    assert.equal(55, sum)
    assert.equal("x", word)
    for k = 1, 3 do assert.is_true(released(inside[k])) end
    assert.is_true(released(inside[4].counts))
    assert.is_true(released(inside[4].edges))
    assert.equal(0, select("#", gr.scope(function() end)))
  end)

  it("keeps what is returned: arrays, tables of them, histograms, futures", function()
    local dropped
    local a, t, h, f = gr.scope(function()
      dropped = gr.ones(7)
      local base = gr.arange(1, 10)
      local nested = { list = { gr.ones(3) } }
      nested.itself = nested
      return base:slice(2, 3), nested, gr.histogram(base, { bins = 2 }), gr.async(gr.scan, base, "sum")
    end)
    assert.is_true(released(dropped))
    assert.same({ 2, 3 }, a:table())
    assert.equal(3, t.list[1]:sum())
    assert.same({ 5, 5 }, h.counts:table())
    assert.equal(0, h.below)
    assert.equal(55, f:get()[10])
  end)

  it("may lie in another: what the inner one returns is the outer one's", function()
    local kept, inner, outer
    local result = gr.scope(function()
      outer = gr.ones(2)
      kept = gr.scope(function()
        inner = gr.ones(3)
        return gr.ones(4)
      end)
      assert.is_true(released(inner))
      assert.is_false(released(outer))
      assert.equal(4, kept:sum())
      return gr.scope(function() return gr.ones(5) end)
    end)
    assert.is_true(released(kept))
    assert.is_true(released(outer))
    assert.equal(5, result:sum())
  end)

  it("releases when the function raises, and the error goes on", function()
    local inside
    local problem = { "mine" }
    local ok, got = pcall(gr.scope, function()
      inside = gr.ones(3)
      error(problem)
    end)
    assert.is_false(ok)
    assert.equal(problem, got)
    assert.is_true(released(inside))
    local a = gr.ones(2) -- no scope is open any more
    assert.equal(2, a:sum())
    local message = S.message(gr.scope, function() return gr.sum(5) end)
    assert.equal("bad argument #1 to 'sum' (gpureduce.array expected, got number)", message)
  end)

  it("finds what is returned however deep it lies", function()
    local dropped
    local nested, wide = gr.scope(function()
      local t, list = { gr.ones(3) }, {}
      for _ = 1, 1000000 do t = { t } end
      dropped = gr.ones(2)
      for k = 1, 1000 do list[k] = { k % 100 == 0 and gr.ones(1) or k, list } end
      return t, list
    end)
    assert.is_true(released(dropped))
    for _ = 1, 1000000 do nested = nested[1] end
    assert.equal(3, nested[1]:sum())
    for k = 100, 1000, 100 do assert.equal(1, wide[k][1]:sum()) end
  end)

  -- Lua 5.1 does not say when a finalizer runs.
  if _VERSION ~= "Lua 5.1" or S.jit then
    local function when_collected(f)
      if not S.jit then return setmetatable({}, { __gc = f }) and nil end
      getmetatable(newproxy(true)).__gc = f -- luacheck: ignore
    end

    it("leaves alone what a finalizer made", function()
      local mine, deep
      local inside, within
      gr.scope(function()
        when_collected(function()
          mine = gr.ones(3)
          deep = gr.scope(function()
            within = gr.ones(2)
            return gr.ones(4)
          end)
        end)
        inside = gr.ones(1)
        collectgarbage() collectgarbage()
        assert.is_truthy(mine)
      end)
      assert.is_true(released(inside))
      assert.is_true(released(within))
      assert.equal(3, mine:sum())
      assert.equal(4, deep:sum())
    end)

    it("releases what was made with the collector stopped", function()
      local inside
      collectgarbage "stop"
      gr.scope(function() inside = gr.ones(1) end)
      collectgarbage "restart"
      assert.is_true(released(inside))
    end)
  end

  it("leaves alone what was made before, and what is garbage already", function()
    collectgarbage() collectgarbage()
    local before = gr.memory()
    local outside = gr.ones(1000)
    gr.scope(function()
      for _ = 1, 1000 do
        gr.ones(1000):sum()
        outside:sum()
      end
      collectgarbage()
      assert.is_true(gr.memory().arrays < before.arrays + 900)
    end)
    assert.equal(1000, outside:sum())
    outside:release()
    assert.equal(before.arrays, gr.memory().arrays)
    assert.equal(before.live, gr.memory().live)
  end)

  it("takes a function", function()
    assert.equal("bad argument #1 to 'scope' (function expected, got number)", S.message(gr.scope, 5))
    assert.equal("bad argument #1 to 'scope' (function expected, got no value)", S.message(gr.scope))
  end)
end)

describe("memory", function()
  it("says how much is page-locked, and what kernels work in", function()
    local pinned = gr.memory().pinned
    assert.equal("number", type(pinned))
    assert.equal("number", type(gr.memory().scratch))
    if gr.backend():find("^cuda") then
      gr.ones(10):sum()
      assert.is_true(gr.memory().pinned >= 256 * 1024)
      assert.is_true(gr.memory().scratch >= 2 ^ 20)
    end
  end)

  it("collects by itself only when it may", function()
    local text, status = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      gr.gc { budget = 4 * 1048576, auto = false }
      collectgarbage "stop" -- Lua's own steps, which might come between
      for k = 1, 20 do gr.ones(1048576, "u8") end
      print(gr.memory().collections, gr.memory().arrays)
      collectgarbage "restart"
      gr.gc { auto = true }
      for k = 1, 20 do gr.ones(1048576, "u8") end
      print(gr.memory().arrays < 20) -- by Lua's own steps or by ours
      print(gr.memory().budget >= 4 * 1048576)]])
    assert.equal("0\t20\ntrue\ntrue\n", text)
    assert.equal(0, status)
  end)

  if _VERSION == "Lua 5.4" then
    it("goes back at the end of a block with <close>, errors or not", function()
      local chunk = assert(load([[
        local gr = ...
        local seen
        do
          local a <close> = gr.ones(3)
          seen = a
          assert(a:sum() == 3)
        end
        assert(tostring(seen):find("released"))
        pcall(function() local b <close> = gr.ones(3) seen = b error("x") end)
        return seen]]))
      assert.is_true(released(chunk(gr)))
    end)
  end
end)
