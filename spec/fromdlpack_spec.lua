-- Tensors of other libraries as arrays: where they lie, what of them is taken and what refused, how long they live.
local S = require "spec.support"
local T = require "spec.tensors"
local gr, memory, why = S.gr, T.memory, T.why
local collected, each_deleted_once, with_block = T.collected, T.each_deleted_once, T.with_block
local CPU, HOST, EXTENSION, READONLY = T.CPU, T.HOST, T.EXTENSION, T.READONLY

-- On the CPU; with memory of the host behind a device; and with memory of the device itself.
local function case(name, f)
  for _, row in ipairs { { "cpu", CPU }, { "cpu", HOST }, { "pretend", CPU }, { "pretend", EXTENSION } } do
    it(("%s (%s, device type %d)"):format(name, row[1], row[2]), function()
      if not memory then return pending(tostring(why)) end
      S.on(row[1], function() f(row[2], row[1] == "pretend") end)
    end)
  end
end

-- The tensor is refused with that text, and its deleter is called all the same.
local function refused(expected, t, options)
  each_deleted_once(function()
    assert.equal("bad argument " .. expected, S.message(gr.fromdlpack, memory.tensor(t), options))
  end)
end

describe("gr.fromdlpack", function()
  case("reads and writes the tensor's memory where it lies", function(device, separate)
    with_block(1000, function(p)
      for _, plain in ipairs { false, true } do
        for k = 1, 1000 do memory.put(p, k - 1, k) end
        each_deleted_once(function()
          local t = memory.tensor { data = p, shape = { 1000 }, device = device, plain = plain }
          local a = gr.fromdlpack(t, { versioned = not plain })
          assert.equal("f32", a.dtype)
          assert.equal(1000, #a)
          assert.equal(separate and "pretend" or "cpu", a:info().device)
          assert.equal(500500, a:sum())
          a:fill(2)
          if device ~= EXTENSION then a:sync() end
          assert.equal(2, memory.get(p, 999))
          memory.put(p, 0, 10)
          a:touch(1, 1)
          assert.equal(2008, a:sum())
          assert.equal(10, a[1])
        end)
      end
    end)
  end)

  case("copies only what a device of another memory needs", function(device, separate)
    with_block(50000, function(p)
      local counts = S.counted(function()
        local a = gr.fromdlpack(memory.tensor { data = p, shape = { 50000 }, device = device })
        a:sum()
        a:slice(1, 100):sum()
        a:release()
      end)
      assert.equal(separate and device == CPU and 200000 or 0, counts.bytes_up)
      assert.equal(0, counts.bytes_down)
    end)
  end)

  case("takes one and two dimensions with their strides and offset", function(device)
    with_block(24, function(p)
      local function of(shape, strides, options, offset)
        return gr.fromdlpack(memory.tensor { data = p, shape = shape, strides = strides, device = device,
          offset = offset }, options)
      end
      local function is(expected, a) assert.same(expected, a:copy():table()) end
      each_deleted_once(function()
        is({ 1, 2, 3 }, of({ 3 }))
        is({ 1, 4, 7 }, of({ 3 }, { 3 }))
        is({ 9, 7, 5 }, of({ 3 }, { -2 }, nil, 32))
        is({ 5 }, of({ 1 }, { 0 }, nil, 16))
        is({ 1 }, of({}))
        is({ { 1, 2, 3 }, { 4, 5, 6 } }, of({ 2, 3 }))
        is({ { 1, 2, 3 }, { 4, 5, 6 } }, of({ 2, 3 }, { 3, 1 }))
        is({ { 1, 3, 5 }, { 7, 9, 11 } }, of({ 2, 3 }, { 6, 2 }))
        is({ { 6, 5, 4 }, { 3, 2, 1 } }, of({ 2, 3 }, { -3, -1 }, nil, 20))
        is({ { 1, 5, 9 } }, of({ 1, 3 }, { 77, 4 }))
        is({ { 1 }, { 5 }, { 9 } }, of({ 3, 1 }, { 4, 77 }))
        local t = of({ 2, 3 }, { 1, 2 })
        assert.equal("gpureduce.transposed", (tostring(t):match "^%S+"))
        assert.same({ 2, 3 }, t.shape)
        is({ { 1, 3, 5 }, { 2, 4, 6 } }, t)
        memory.put(p, 5, 60)
      assert.equal(t, t:touch())
      assert.equal(75, t:sum())
      memory.put(p, 5, 6)
      assert.equal("bad argument #2 to 'touch' (no positions of a gpureduce.transposed expected, got number)",
        S.message(t.touch, t, 1))
      t = of({ 2, 3 }, { -1, -2 }, nil, 20)
        is({ { 6, 4, 2 }, { 5, 3, 1 } }, t)
        t:release()
        return 13
      end)
      for _, shape in ipairs { { 0 }, { 0, 3 }, { 3, 0 } } do
        for _, options in ipairs { {}, { copy = true } } do
          each_deleted_once(function()
            local a = gr.fromdlpack(memory.tensor { shape = shape, device = device }, options)
            assert.equal(0, #a)
            assert.equal(0, a:sum())
          end)
        end
      end
    end)
  end)

  case("copies what no view is, if it is asked to", function(device, separate)
    with_block(24, function(p)
      for _, row in ipairs {
        { { 2, 3 }, { 4, 1 }, 0, { { 1, 2, 3 }, { 5, 6, 7 } } },
        { { 3, 2 }, { -8, 3 }, 64, { { 17, 20 }, { 9, 12 }, { 1, 4 } } },
        { { 2, 3 }, { 0, 1 }, 4, { { 2, 3, 4 }, { 2, 3, 4 } } },
        { { 4 }, { 0 }, 8, { 3, 3, 3, 3 } },
        { { 2, 3 }, nil, 0, { { 1, 2, 3 }, { 4, 5, 6 } } },
        { { 2, 3 }, { 1, 2 }, 0, { { 1, 3, 5 }, { 2, 4, 6 } } },
      } do
        each_deleted_once(function()
          local before = select(2, memory.tensors())
          local a = gr.fromdlpack(memory.tensor { data = p, shape = row[1], strides = row[2], offset = row[3],
            device = device, flags = READONLY }, { copy = true })
          assert.equal(before + 1, (select(2, memory.tensors()))) -- at once
          assert.same(row[4], a:table())
          assert.equal(separate and "pretend" or "cpu", a:info().device)
          a:fill(0)
          assert.equal(1, memory.get(p, 0))
        end)
      end
      local gaps = "#1 to 'fromdlpack' (rows or columns without gaps between them expected, got strides of 4 and 1 "
        .. "elements of 2 x 3 ('copy' takes any))"
      refused(gaps, { data = p, shape = { 2, 3 }, strides = { 4, 1 }, device = device })
      refused("#1 to 'fromdlpack' (elements apart from each other expected, got a stride of 0 ('copy' takes it))",
        { data = p, shape = { 4 }, strides = { 0 }, device = device })
    end)
  end)

  case("writes to elements alone, and not to what lies between them", function(device)
    with_block(3 * 10000, function(p) -- x, y, z of 10000 points
      each_deleted_once(function()
        local y = gr.fromdlpack(memory.tensor { data = p, shape = { 10000 }, strides = { 3 }, offset = 4,
          device = device })
        y:fill(-1)
        y[2] = 5 -- on the host, where there are two sides
        memory.put(p, 0, 77) -- the owner goes on with x and z
        memory.put(p, 5, 88)
        assert.equal(-10000 + 6, y:sum())
        y:prefetch():sync()
        assert.equal(-1, memory.get(p, 1))
        assert.equal(5, memory.get(p, 4))
        assert.equal(-1, memory.get(p, 29998))
        assert.equal(77, memory.get(p, 0))
        assert.equal(88, memory.get(p, 5))
        assert.equal(30000, memory.get(p, 29999))
      end)
    end)
  end)

  case("keeps what is newer on the other side when the owner touches a part", function(device)
    with_block(40000, function(p)
      local a = gr.fromdlpack(memory.tensor { data = p, shape = { 40000 }, device = device })
      a:fill(1)
      a[3] = 2 -- newer on the host
      a:prefetch()
      a[4] = 3
      memory.put(p, 9, 100) -- within a chunk whose other elements are newer elsewhere
      memory.put(p, 20000, 100)
      a:touch(10, 10):touch(20001, 20001)
      assert.equal(40000 + 1 + 2 + 99 + 99, a:sum())
      assert.equal(3, a[4])
      a:release()
    end)
  end)

  case("looks again at what is volatile", function(device)
    with_block(1000, function(p)
      local a = gr.fromdlpack(memory.tensor { data = p, shape = { 1000 }, device = device }, { volatile = true })
      for k = 1, 3 do
        memory.put(p, 0, 1 + k)
        assert.equal(500500 + k, a:sum())
        assert.equal(1 + k, a[1])
      end
      a:release()
    end)
  end)

  case("does not write to what is read-only", function(device)
    with_block(10, function(p)
      for _, row in ipairs { { READONLY }, { 0, { readonly = true } }, { READONLY + 2, { readonly = false } } } do
        each_deleted_once(function()
          local a = gr.fromdlpack(memory.tensor { data = p, shape = { 10 }, flags = row[1], device = device }, row[2])
          assert.equal(55, a:sum())
          assert.equal("bad argument #1 to 'fill' (the memory is read-only)", S.message(a.fill, a, 1))
          assert.equal("bad argument #1 to '[]' (the memory is read-only)", S.message(function() a[1] = 2 end))
          assert.matches("the memory is read%-only", S.message(gr.neg, gr.ones(10), { into = a }))
          assert.equal(55, a:copy():sum())
        end)
      end
      local written = gr.fromdlpack(memory.tensor { data = p, shape = { 10 }, flags = 2, device = device })
      assert.equal(0, written:fill(0):sum())
      written:release()
    end)
  end)

  case("knows every dtype", function(device)
    local types = {
      u8 = { 1, 8 }, i8 = { 0, 8 }, u16 = { 1, 16 }, i16 = { 0, 16 }, u32 = { 1, 32 }, i32 = { 0, 32 }, i64 = { 0, 64 },
      f16 = { 2, 16 }, bf16 = { 4, 16 }, f32 = { 2, 32 }, f64 = { 2, 64 },
    }
    with_block(16, function(p)
      for name, t in pairs(types) do
        local a = gr.fromdlpack(memory.tensor { data = p, shape = { 4 }, code = t[1], bits = t[2], device = device })
        assert.equal(name, a.dtype)
        a:fill(3)
        assert.equal(12, a:sum(), name)
        a:release()
      end
      assert.equal("u8", gr.fromdlpack(memory.tensor { data = p, shape = { 4 }, code = 6, bits = 8 }).dtype)
    end)
  end)

  it("refuses what it cannot take, naming it, and gives it back", function()
    if not memory then return pending(tostring(why)) end
    with_block(16, function(p)
      local function no(expected, t, options)
        t.data = p
        if t.shape == nil then t.shape = { 4 } end
        refused(expected, t, options)
      end
      no("#1 to 'fromdlpack' (tensor of DLPack 1.x expected, got one of 2.7)", { major = 2, minor = 7 })
      no("#1 to 'fromdlpack' (tensor of DLPack 1.x expected, got one of 0.8)", { major = 0, minor = 8 })
      local dtype = "#1 to 'fromdlpack' (elements of a dtype expected, got DLPack's "
      no(dtype .. "uint of 64 bits)", { code = 1, bits = 64 })
      no(dtype .. "complex of 128 bits)", { code = 5, bits = 128 })
      no(dtype .. "float_e5m2 of 8 bits)", { code = 12, bits = 8 })
      no(dtype .. "float_e2m1fn of 4 bits)", { code = 17, bits = 4 })
      no(dtype .. "code 99 of 8 bits)", { code = 99, bits = 8 })
      no(dtype .. "float of 32 bits x 4)", { lanes = 4 })
      no(dtype .. "bool of 1 bits)", { code = 6, bits = 1 })
      no("#1 to 'fromdlpack' (at most 2 dimensions expected, got 3)", { shape = { 2, 2, 2 } })
      no("#1 to 'fromdlpack' (at most 2 dimensions expected, got -1)", { dimensions = -1 })
      no("#1 to 'fromdlpack' (a tensor with a shape expected)", { shape = false, dimensions = 1 })
      no("#1 to 'fromdlpack' (lengths of 0 or more expected, got -3)", { shape = { -3 } })
      no("#1 to 'fromdlpack' (lengths of 0 or more expected, got -5)", { shape = { -5, 2 } })
      no("#1 to 'fromdlpack' (4611686018427387904 x 4 elements do not fit in memory)", { shape = { 2 ^ 62, 4 } })
      no("#1 to 'fromdlpack' (1 x 4611686018427387904 elements do not fit in memory)", { shape = { 2 ^ 62 } })
      no("#1 to 'fromdlpack' (strides of 3 and -4611686018427387904 elements do not fit in memory)",
        { shape = { 3 }, strides = { -2 ^ 62 } })
      no("#1 to 'fromdlpack' (address that is a multiple of 4 (for f32) expected)", { offset = 2 })
      no("#1 to 'fromdlpack' (memory of the host or of CUDA expected, got DLPack's device type 10)", { device = 10 })
      no("#2 to 'fromdlpack' (unknown option 'readonli' (did you mean 'readonly'?))", {}, { readonli = true })
      no("#2 to 'fromdlpack' (option 'copy': boolean expected, got number)", {}, { copy = 1 })
      no("#2 to 'fromdlpack' (option 'stream': -1 (none), 1 (the default one), 2 or a handle expected, got 0)", {},
        { stream = 0 })
      no("#2 to 'fromdlpack' (options table expected, got string)", {}, "f32")
      each_deleted_once(function()
        assert.equal("bad argument #1 to 'fromdlpack' (a tensor with data expected, got a null pointer)",
          S.message(gr.fromdlpack, memory.tensor { shape = { 4 } }))
      end)
      if not gr.backend():find "cuda" then
        each_deleted_once(function()
          assert.matches("^bad argument #1 to 'fromdlpack' %(no device 'cuda:7'",
            S.message(gr.fromdlpack, memory.tensor { data = p, shape = { 4 }, device = T.CUDA, id = 7 }))
        end)
      end
    end)
    local kinds = "bad argument #1 to 'fromdlpack' (light userdata, cdata, address or gpureduce.dlpack expected, got "
    for _, x in ipairs { {}, "x", gr.ones(3), true } do
      assert.equal(kinds, S.message(gr.fromdlpack, x):sub(1, #kinds))
    end
    assert.equal(kinds .. "no value)", S.message(gr.fromdlpack))
    assert.equal("bad argument #1 to 'fromdlpack' (pointer expected, got a null pointer)", S.message(gr.fromdlpack, 0))
    assert.equal("bad argument #1 to 'fromdlpack' (address expected, got 0.5)", S.message(gr.fromdlpack, 0.5))
  end)

  it("says at which line it was called", function()
    local ok, message = pcall(function() gr.fromdlpack(gr.ones(1):dlpack(), { copie = true }) end)
    assert.is_false(ok)
    assert.matches("dlpack_spec.lua:%d+: bad argument #2 to 'fromdlpack'", message)
  end)

  it("takes the CPU for managed memory where no GPU is in use, and tensors without a deleter", function()
    if not memory then return pending(tostring(why)) end
    with_block(4, function(p)
      S.on("cpu", function()
        each_deleted_once(function()
          assert.equal(10, gr.fromdlpack(memory.tensor { data = p, shape = { 4 }, device = T.MANAGED }):sum())
        end)
        local t = memory.tensor { data = p, shape = { 4 }, forever = true }
        local a = gr.fromdlpack(t)
        assert.equal(10, a:sum())
        a:release()
        assert.equal(1, memory.describe(t).major) -- still there
      end)
    end)
  end)

  case("keeps the tensor until the last view has gone", function(device)
    with_block(10, function(p)
      local _, before = memory.tensors()
      local function deleted() return select(2, memory.tensors()) - before end
      local a = gr.fromdlpack(memory.tensor { data = p, shape = { 10 }, device = device })
      local v = a:slice(2, 3)
      a:release()
      a:release()
      collected()
      assert.equal(0, deleted())
      assert.equal(5, v:sum())
      v = nil -- luacheck: ignore
      collected()
      assert.equal(1, deleted())
      gr.scope(function() gr.fromdlpack(memory.tensor { data = p, shape = { 10 }, device = device }):sum() end)
      assert.equal(2, deleted())
      local future = gr.async(gr.sum, gr.fromdlpack(memory.tensor { data = p, shape = { 10 }, device = device }))
      collected()
      assert.equal(55, future:get())
      future = nil -- luacheck: ignore
      collected()
      assert.equal(3, deleted())
    end)
  end)

  if S.jit then
    it("takes cdata", function()
      if not memory then return pending(tostring(why)) end
      local ffi = require "ffi"
      with_block(4, function(p)
        each_deleted_once(function()
          local t = ffi.cast("void *", memory.tensor { data = p, shape = { 4 } })
          assert.equal(10, gr.fromdlpack(t):sum())
        end)
      end)
    end)
  end
end)
