-- Arrays as tensors for other libraries: what stands in them, who sees what, and how long memory stays.
local S = require "spec.support"
local T = require "spec.tensors"
local gr, memory, why = S.gr, T.memory, T.why
local collected, with_block = T.collected, T.with_block
local CPU, EXTENSION, READONLY = T.CPU, T.EXTENSION, T.READONLY

describe("a:dlpack", function()
  -- Exported, described, and given back.
  local function described(a, options)
    local d = a:dlpack(options)
    local plain = options and options.versioned == false
    local t = memory.describe(d:pointer(), plain)
    return t, d
  end

  local function each(name, f)
    for _, on in ipairs { "cpu", "pretend" } do
      it(name .. " (" .. on .. ")", function()
        if not memory then return pending(tostring(why)) end
        S.on(on, function() f(on == "pretend" and EXTENSION or CPU) end)
      end)
    end
  end

  each("describes vectors, views, matrices and their transposes", function(device)
    local function is(expected, a, options)
      local t = described(a, options)
      assert.equal(device, t.device)
      assert.equal(0, t.id)
      assert.equal(1, t.lanes)
      assert.equal(0, t.offset)
      assert.same(expected, { t.code, t.bits, t.shape, t.strides, t.major, t.minor, t.flags })
    end
    is({ 2, 32, { 3 }, { 1 }, 1, 1, 0 }, gr.ones(3))
    is({ 2, 32, { 3 }, { 1 } }, gr.ones(3), { versioned = false })
    is({ 2, 64, { 3 }, { 1 }, 1, 1, READONLY }, gr.ones(3, "f64"), { readonly = true })
    is({ 1, 8, { 5 }, { -2 }, 1, 1, 0 }, gr.ones(10, "u8"):slice(9, 1, -2))
    local m = gr.ones(6, "i64"):matrix(2)
    is({ 0, 64, { 2, 3 }, { 3, 1 }, 1, 1, 0 }, m)
    is({ 0, 64, { 3, 2 }, { 1, 3 }, 1, 1, 0 }, m:transpose())
    is({ 0, 64, { 2 }, { 3 }, 1, 1, 0 }, m:column(2))
    is({ 4, 16, { 2, 2 }, { 4, 2 }, 1, 1, 0 }, gr.ones(8, "bf16"):slice(1, -1, 2):matrix(2))
    is({ 2, 16, { 0 }, { 1 }, 1, 1, 0 }, gr.ones(0, "f16"))
    is({ 1, 32, { 1 }, { 1 }, 1, 1, 0 }, gr.ones(9, "u32"):slice(9, 9))
    assert.equal(0, memory.address(described(gr.ones(0)).data))
  end)

  each("is the array's own memory, of both", function()
    local a = gr.arange(1, 1000, "f32")
    local t, d = described(a:slice(3, 12))
    assert.equal(3, memory.get(t.data, 0))
    memory.put(t.data, 0, 100) -- the consumer writes
    a:touch(3, 3)
    assert.equal(100, a[3])
    assert.equal(500500 + 97, a:sum())
    a[4] = 50
    a:prefetch()
    assert.equal(50, memory.get(t.data, 1))
    a:fill(7)
    assert.equal(7, memory.get(t.data, 9))
    d:release()
    assert.equal(7000, a:sum())
  end)

  each("lets elements be touched of which none had been made before", function()
    local a = gr.zeros(100000)
    local t = described(a:slice(50000, 50001))
    memory.put(t.data, 1, 4)
    a:touch()
    assert.equal(4, a:sum())
    assert.equal("bad argument #1 to 'touch' (array of wrapped memory expected)", S.message(gr.touch, gr.zeros(3)))
  end)

  each("keeps the memory until the deleter has been called, by whichever thread", function()
    collected()
    local live = gr.memory().live
    for _, plain in ipairs { false, true } do
      for _, elsewhere in ipairs { false, true } do
        local a = gr.full(50000, 2)
        local d = a:dlpack { versioned = not plain }
        local p = d:pointer()
        assert.equal("gpureduce.dlpack (f32[50000], " .. gr.backend() .. ")", tostring(d))
        d:consume()
        assert.equal("gpureduce.dlpack (consumed)", tostring(d))
        local t = memory.describe(p, plain)
        a:release()
        d, a = nil, nil -- luacheck: ignore
        collected()
        assert.is_true(gr.memory().live >= live + 200000)
        assert.equal(2, memory.get(t.data, 49999))
        memory.delete(p, plain, elsewhere)
        assert.equal(live, gr.memory().live)
      end
    end
  end)

  each("frees itself unless it has been consumed", function()
    collected()
    local live = gr.memory().live
    gr.ones(50000):dlpack()
    collected()
    assert.equal(live, gr.memory().live)
    local d = gr.ones(50000):dlpack()
    d:release()
    d:release()
    collected()
    assert.equal(live, gr.memory().live)
    local consumed = "(gpureduce.dlpack has been consumed)"
    for _, name in ipairs { "pointer", "address", "consume" } do
      assert.equal(("bad argument #1 to '%s' %s"):format(name, consumed), S.message(d[name], d))
      assert.equal(("bad argument #1 to '%s' (gpureduce.dlpack expected, got gpureduce.array)"):format(name),
        S.message(d[name], gr.ones(1)))
    end
    assert.equal("bad argument #1 to 'fromdlpack' " .. consumed, S.message(gr.fromdlpack, d))
    assert.equal("gpureduce.dlpack", getmetatable(d))
    d = gr.ones(1):dlpack()
    assert.equal("gpureduce: there is no Python in this process", S.message(d.destructor, d))
  end)

  each("goes back in by fromdlpack, as it is or by its address", function()
    local m = gr.arange(1, 6, "f64"):matrix(2)
    for _, a in ipairs { m, m:transpose(), m:column(3), gr.zeros(0), gr.arange(1, 9):slice(9, 1, -4) } do
      for _, versioned in ipairs { true, false } do
        local d = a:dlpack { versioned = versioned }
        local back = gr.fromdlpack(d)
        assert.is_true(back:equal(a))
        assert.equal("gpureduce.dlpack (consumed)", tostring(d))
        d = a:dlpack { versioned = versioned }
        local address = d:address()
        d:consume()
        assert.is_true(gr.fromdlpack(address, { versioned = versioned }):equal(a))
      end
    end
    local a = gr.ones(3)
    local b = gr.fromdlpack(a:dlpack())
    local c = gr.fromdlpack(b:dlpack { readonly = true })
    assert.equal("bad argument #1 to 'fill' (the memory is read-only)", S.message(c.fill, c, 1))
    assert.equal("bad argument #1 to 'dlpack' (the memory is read-only, which needs a versioned tensor)",
      S.message(c.dlpack, c, { versioned = false }))
    assert.equal(READONLY, described(c).flags)
    a:release()
    b:release()
    assert.equal(3, c:sum())
    local versioned = "bad argument #2 to 'fromdlpack' (option 'versioned': a gpureduce.dlpack knows it)"
    assert.equal(versioned, S.message(gr.fromdlpack, c:dlpack(), { versioned = true }))
  end)

  each("refuses what it cannot give", function(device)
    local a = gr.ones(3)
    assert.equal("bad argument #2 to 'dlpack' (unknown option 'version' (did you mean 'versioned'?))",
      S.message(a.dlpack, a, { version = 1 }))
    assert.equal("bad argument #2 to 'dlpack' (option 'stream': -1 (none), 1 (the default one), 2 or a handle "
      .. "expected, got -2)", S.message(a.dlpack, a, { stream = -2 }))
    assert.equal("bad argument #1 to 'dlpack' (gpureduce.array expected, got number)", S.message(gr.dlpack, 1))
    a:release()
    assert.equal("bad argument #1 to 'dlpack' (array has been released)", S.message(a.dlpack, a))
    if device == EXTENSION then
      with_block(3, function(p)
        local w = gr.wrap(p, { n = 3 })
        assert.equal("bad argument #1 to 'dlpack' (array whose memory is the device's own expected: copy() makes one)",
          S.message(w.dlpack, w))
        assert.equal(device, described(w:copy()).device)
      end)
    end
  end)

  each("gives edges of a histogram that stay where they are", function()
    local h = gr.rand(100, { seed = 1 }):histogram { bins = 4, min = 0, max = 1 }
    local d = h.edges:dlpack()
    local seen = gr.fromdlpack(d, { volatile = true })
    gr.rand(100, { seed = 1 }):histogram { bins = 4, min = 0, max = 8, into = h }
    assert.same({ 0, 2, 4, 6, 8 }, seen:table())
  end)

  each("lets work of later on its memory follow what was queued, and the other way round", function()
    local a = gr.full(1000, 2)
    local future = gr.async(gr.sum, a)
    local d = a:dlpack { stream = 2 }
    memory.put(memory.describe(d:pointer()).data, 0, 100)
    assert.equal(2000, future:get()) -- had read before the consumer wrote
    local b = gr.fromdlpack(d, { stream = -1 })
    assert.equal(2098, b:sum())
  end)
end)
