-- Memory of somebody else: a small C module (spec/fixtures/memory.c, built here) is the owner.
local S = require "spec.support"
local gr = S.gr

local memory, why = require "spec.memory"()
local device = gr.backend():find("^cuda") and gr.backend() or "pretend"

-- On the CPU, where nothing is copied, and on a device with memory of its own.
local function case(name, f)
  for _, on in ipairs { "cpu", device } do
    it(name .. " (" .. on .. ")", function()
      if not memory then return pending(tostring(why)) end
      S.on(on, function() f(on ~= "cpu") end)
    end)
  end
end

-- A block of floats 1, 2, ... n, given to f, freed afterwards.
local function with_block(n, f)
  local p = memory.new(4 * n)
  for k = 1, n do memory.put(p, k - 1, k) end
  local ok, message = pcall(f, p)
  collectgarbage()
  collectgarbage()
  memory.free(p)
  if not ok then error(message, 0) end
end

describe("wrapped memory", function()
  case("is read and written where it lies", function(separate)
    with_block(1000, function(p)
      for _, pointer in ipairs { p, memory.address(p) } do
        memory.put(p, 0, 1)
        local a = gr.wrap(pointer, { dtype = "f32", n = 1000 })
        assert.equal(1000, #a)
        assert.equal("f32", a.dtype)
        assert.equal(500500, a:sum())
        a[1] = 2
        assert.equal(2, memory.get(p, 0))
        assert.equal(500501, a:sum())
        memory.put(p, 1, 10)
        assert.equal(separate and 500501 or 500509, a:sum())
        assert.equal(a, a:touch(2, 2))
        assert.equal(500509, a:sum())
        memory.put(p, 1, 2)
        a:touch()
        assert.equal(500501, a:sum())
        a:release()
      end
    end)
  end)

  case("is never copied where kernels run on the host", function(separate)
    with_block(50000, function(p)
      local live = gr.memory().live
      local counts = S.counted(function()
        local a = gr.wrap(p, { n = 50000 })
        a:sum()
        a:sum()
        a:slice(1, 100):sum()
      end)
      assert.equal(separate and 200000 or 0, counts.bytes_up)
      assert.equal(separate and 1 or 0, counts.copies)
      if not separate then assert.equal(live, gr.memory().live) end
    end)
  end)

  case("gets results of the device by sync", function(separate)
    with_block(1000, function(p)
      local a = gr.wrap(p, { n = 1000 })
      a:fill(3)
      assert.equal(separate and 5 or 3, memory.get(p, 4))
      a:sync()
      assert.equal(3, memory.get(p, 4))
      gr.scan(a, "sum", { into = a })
      a:sync()
      assert.equal(3000, memory.get(p, 999))
    end)
  end)

  case("brings what was touched, and keeps what is newer on the device", function()
    with_block(40000, function(p)
      local a = gr.wrap(p, { n = 40000 })
      a:fill(1)
      memory.put(p, 9, 100) -- the owner's write, within a chunk whose other elements are newer on the device
      memory.put(p, 20000, 100)
      a:touch(10, 20001)
      local expected = 9 + (20001 - 9) + (40000 - 20001)
      for k = 10, 20001 do expected = expected - 1 + memory.get(p, k - 1) end
      assert.equal(1, a[1])
      assert.equal(1, a[20002])
      assert.equal(100, a[10])
      assert.equal(expected, a:sum())
      local counts = S.counted(function() a:touch(1, 1):sum() end)
      assert.is_true(counts.bytes_up <= 65536)
    end)
  end)

  case("that is volatile is looked at again by each call", function()
    with_block(20000, function(p)
      local a = gr.wrap(p, { n = 20000, volatile = true })
      local sum = a:sum()
      for k = 1, 5 do
        memory.put(p, 0, 1 + k)
        memory.put(p, 19999, 20000 + k)
        assert.equal(sum + 2 * k, a:sum())
        assert.equal(sum + 2 * k, gr.async(gr.sum, a):get())
      end
      a:slice(1, 10):fill(0) -- newer on the device until somebody looks
      assert.equal(0, a[1])
      assert.equal(sum + 5 - 55, a:sum())
      memory.put(p, 0, 7)
      assert.equal(sum + 5 - 55 + 7, a:sum())
    end)
  end)

  case("may be part of a larger structure: offset and stride in bytes", function()
    with_block(3 * 10000, function(p) -- x, y, z of 10000 points
      local y = gr.wrap(p, { n = 10000, offset = 4, stride = 12 })
      local sum = 0
      for k = 1, 10000 do sum = sum + 3 * k - 1 end
      assert.equal(sum, y:sum())
      assert.equal(3, y:info().stride)
      assert.equal(2, y[1])
      assert.equal(29999, y[-1 + 10001])
      y:fill(-1)
      memory.put(p, 0, 77) -- the owner goes on with x and z
      memory.put(p, 5, 88)
      y:sync()
      assert.equal(-1, memory.get(p, 1))
      assert.equal(-1, memory.get(p, 29998))
      assert.equal(77, memory.get(p, 0))
      assert.equal(88, memory.get(p, 5))
      assert.equal(-10000, y:sum())
      local back = y:slice(10, 1, -3)
      assert.same({ -1, -1, -1, -1 }, back:table())
    end)
  end)

  case("is read to its last byte and no further, at every length", function()
    for n = 0, 70 do
      for _, dtype in ipairs { "f32", "u8", "f64" } do
        local size = dtype == "f32" and 4 or dtype == "u8" and 1 or 8
        local p = memory.new(size * n + (n == 0 and 1 or 0))
        local a = gr.wrap(p, { n = n, dtype = dtype })
        a:fill(1)
        assert.equal(n, a:sum())
        assert.equal(n, a:dot(a))
        gr.scan(a, "sum")
        a:release()
        memory.free(p)
      end
    end
  end)

  case("keeps its anchor alive, until the last view is gone", function()
    with_block(10, function(p)
      local weak = setmetatable({}, { __mode = "v" })
      weak.anchor = {}
      local a = gr.wrap(p, { n = 10, anchor = weak.anchor })
      collectgarbage() collectgarbage()
      assert.equal("table", type(weak.anchor))
      local v = a:slice(2, 3)
      a:release()
      collectgarbage() collectgarbage()
      assert.equal("table", type(weak.anchor))
      v:release()
      collectgarbage() collectgarbage()
      assert.is_nil(weak.anchor)
      weak.anchor = {}
      gr.wrap(p, { n = 10, anchor = weak.anchor })
      collectgarbage() collectgarbage() collectgarbage()
      gr.zeros(1):release()
      collectgarbage() collectgarbage()
      assert.is_nil(weak.anchor)
    end)
  end)

  case("is not believed blindly", function()
    with_block(10, function(p)
      for _, row in ipairs {
        { { nil, { n = 1 } },
          "bad argument #1 to 'wrap' (light userdata, cdata, address or carray expected, got nil)" },
        { { 0, { n = 1 } }, "bad argument #1 to 'wrap' (pointer expected, got a null pointer)" },
        { { 0.5, { n = 1 } }, "bad argument #1 to 'wrap' (address expected, got 0.5)" },
        { { "x", { n = 1 } },
          "bad argument #1 to 'wrap' (light userdata, cdata, address or carray expected, got string)" },
        { { gr.ones(1), { n = 1 } },
          "bad argument #1 to 'wrap' (light userdata, cdata, address or carray expected, got gpureduce.array)" },
        { { memory.offset(p, 1), { n = 1 } },
          "bad argument #1 to 'wrap' (address that is a multiple of 4 (for f32) expected)" },
        { { p }, "bad argument #2 to 'wrap' (options table with 'n' expected, got no value)" },
        { { p, {} }, "bad argument #2 to 'wrap' (option 'n': number of elements expected, got nil)" },
        { { p, { n = -1 } }, "bad argument #2 to 'wrap' (option 'n': 0 or more expected, got -1)" },
        { { p, { n = 2 ^ 62 } },
          "bad argument #2 to 'wrap' (option 'n': 4611686018427387904 elements do not fit in memory)" },
        { { p, { n = 1, offset = 2 } },
          "bad argument #2 to 'wrap' (option 'offset': multiple of 4 bytes (of f32) expected, got 2)" },
        { { p, { n = 1, offset = -4 } },
          "bad argument #2 to 'wrap' (option 'offset': 0 or more bytes expected, got -4)" },
        { { p, { n = 1, stride = 2 } },
          "bad argument #2 to 'wrap' (option 'stride': 4 or more bytes expected, got 2)" },
        { { p, { n = 1, stride = 6 } },
          "bad argument #2 to 'wrap' (option 'stride': multiple of 4 bytes (of f32) expected, got 6)" },
        { { p, { n = 1, dtype = "f23" } },
          "bad argument #2 to 'wrap' (unknown dtype 'f23' (did you mean 'f32'?))" },
        { { p, { n = 1, ancor = p } },
          "bad argument #2 to 'wrap' (unknown option 'ancor' (did you mean 'anchor'?))" },
      } do
        assert.equal(row[2], S.message(gr.wrap, row[1][1], row[1][2]))
      end
      assert.equal("bad argument #1 to 'touch' (array of wrapped memory expected)", S.message(gr.touch, gr.ones(3)))
      local a = gr.wrap(p, { n = 3 })
      assert.equal("bad argument #3 to 'touch' (position from 0 to 3 expected, got 4)", S.message(a.touch, a, 1, 4))
    end)
  end)

  case("belongs to a carray of another module", function(separate)
    collectgarbage() collectgarbage()
    local before = memory.alive()
    local c = memory.carray(9, 4, 100)
    local a = gr.wrap(c)
    assert.equal("f32", a.dtype)
    assert.equal(100, #a)
    memory.put(memory.data(c), 0, 5)
    if separate then a:touch() end
    assert.equal(5, a:sum())
    a:fill(2)
    a:sync()
    assert.equal(2, memory.get(memory.data(c), 99))
    memory.resize(c, 200) -- elsewhere now; our 100 elements are still there
    memory.put(memory.data(c), 0, 7)
    a:touch(1, 1)
    assert.equal(205, a:sum())
    a[2] = 4
    assert.equal(4, memory.get(memory.data(c), 1))
    memory.resize(c, 50)
    local message = S.message(a.sum, a)
    assert.equal("bad argument #1 to 'sum' (the owner of the memory has made it shorter)", message)
    assert.equal("bad argument #1 to 'touch' (the owner of the memory has made it shorter)", S.message(a.touch, a))
    memory.resize(c, 100)
    a:touch()
    assert.equal(7 + 4 + 48 * 2, a:sum())
    c = nil -- luacheck: ignore
    collectgarbage() collectgarbage()
    assert.equal(before + 1, memory.alive())
    a:release()
    assert.equal(before, memory.alive())

    local moving = memory.carray(10, 8, 10)
    local v = gr.wrap(moving, { volatile = true })
    assert.equal("f64", v.dtype)
    assert.equal(0, v:sum())
    local fixed = gr.wrap(memory.carray(5, 4, 3, true))
    assert.equal("i32", fixed.dtype)
    assert.equal(0, fixed:sum())
    assert.equal("bad argument #1 to 'fill' (the memory is read-only)", S.message(fixed.fill, fixed, 1))
    assert.equal(0, #gr.wrap(memory.carray(1, 1, 0)))
    for type, name in pairs { "u8", "i8", "i16", "u16", "i32", "u32" } do
      local size = ({ 1, 1, 2, 2, 4, 4 })[type]
      assert.equal(name, gr.wrap(memory.carray(type, size, 2)).dtype)
    end
    assert.equal("i64", gr.wrap(memory.carray(7, 8, 2)).dtype)
    assert.equal("i64", gr.wrap(memory.carray(11, 8, 2)).dtype)
    assert.equal("bad argument #1 to 'wrap' (carray of a type that is also a dtype expected, "
      .. "got elements of 8 bytes of type 8)", S.message(gr.wrap, memory.carray(8, 8, 2)))
    assert.equal("bad argument #2 to 'wrap' (unknown option 'n')", S.message(gr.wrap, moving, { n = 5 }))
  end)
end)

describe("objects that say where their bytes are", function()
  -- As LÖVE's Data has it: getFFIPointer gives nil where there is no FFI, and getPointer light userdata.
  local function data(p, bytes, more)
    local object = {
      getSize = function() return bytes end,
      getPointer = function() return p end,
      getFFIPointer = function() return S.jit and require("ffi").cast("uint8_t *", p) or nil end,
    }
    for name, x in pairs(more or {}) do object[name] = function() return x end end
    return setmetatable({}, { __index = object })
  end

  for _, on in ipairs { "cpu", device } do
    it("are wrapped, and kept (" .. on .. ")", function()
      if not memory then return pending(tostring(why)) end
      S.on(on, function()
        with_block(100, function(p)
          local weak = setmetatable({}, { __mode = "v" })
          weak.object = data(p, 400)
          local a = gr.wrap(weak.object, "f32")
          assert.equal(100, #a)
          assert.equal(5050, a:sum())
          collectgarbage() collectgarbage()
          assert.equal("table", type(weak.object))
          a:fill(2):sync()
          assert.equal(2, memory.get(p, 99))
          memory.put(p, 0, 8)
          assert.equal(206, a:touch():sum())
          a:release()
          collectgarbage() collectgarbage()
          assert.is_nil(weak.object)
          assert.equal(400, #gr.wrap(data(p, 400)))
          assert.equal(99, #gr.wrap(data(p, 400), { dtype = "f32", offset = 4 }))
          assert.equal(50, #gr.wrap(data(p, 400), "f32", { stride = 8 }))
          assert.equal(10, gr.wrap(data(p, 400), { dtype = "f32", n = 2, volatile = true }):sum())
          assert.equal(0, #gr.wrap(data(p, 0)))
          assert.equal(100, #gr.wrap(data(p, 403), "f32"))
        end)
      end)
    end)
  end

  it("know their dtype where they are images or sounds", function()
    if not memory then return pending(tostring(why)) end
    with_block(4, function(p)
      for format, dtype in pairs { rgba8 = "u8", r8 = "u8", rg16 = "u16", rgba16f = "f16", r32f = "f32", rg8i = "i8",
        r16i = "i16", rgba32i = "i32", r32ui = "u32", rgb10a2 = "u8", rgba4 = "u8", DXT1 = "u8", rg11b10f = "u8",
        [""] = "u8", r16x = "u8" } do
        assert.equal(dtype, gr.wrap(data(p, 16, { getFormat = format })).dtype, format)
        assert.equal("u32", gr.wrap(data(p, 16, { getFormat = format }), "u32").dtype)
      end
      assert.equal("i16", gr.wrap(data(p, 16, { getBitDepth = 16 })).dtype)
      assert.equal("u8", gr.wrap(data(p, 16, { getBitDepth = 8 })).dtype)
      assert.equal("u8", gr.wrap(data(p, 16, { getFormat = {} })).dtype)
    end)
  end)

  it("are not believed blindly but for their size", function()
    if not memory then return pending(tostring(why)) end
    with_block(4, function(p)
      local none = "light userdata, cdata, address or carray expected, got "
      for _, row in ipairs {
        { "#2 to 'wrap' (option 'n': at most 4 (of 'data of 16 bytes') expected, got 5)", data(p, 16),
          { dtype = "f32", n = 5 } },
        { "#2 to 'wrap' (option 'n': at most 3 (of 'data of 16 bytes') expected, got 4)", data(p, 16),
          { dtype = "f32", n = 4, offset = 4 } },
        { "#2 to 'wrap' (unknown option 'anchor')", data(p, 16), { anchor = p } },
        { "#1 to 'wrap' (getSize() that gives a number of bytes expected, got string)", data(p, "16") },
        { "#1 to 'wrap' (getSize() that gives a number of bytes expected, got number)", data(p, -1) },
        { "#1 to 'wrap' (getSize() that gives a number of bytes expected, got number)", data(p, 0.5) },
        { "#1 to 'wrap' (address that is a multiple of 4 (for f32) expected)", data(memory.offset(p, 1), 4), "f32" },
        { "#1 to 'wrap' (" .. none .. "table)", {} },
        { "#1 to 'wrap' (" .. none .. "table)", setmetatable({}, { __index = function() error "trap" end }) },
        { "#1 to 'wrap' (" .. none .. "nil)", { getSize = function() return 4 end } },
      } do
        assert.equal("bad argument " .. row[1], S.message(gr.wrap, row[2], row[3]))
      end
      if not S.jit then
        assert.equal("bad argument #1 to 'wrap' (pointer expected, got a null pointer)",
          S.message(gr.wrap, data(0, 16)))
      end
      local strange = data(p, 16, {})
      getmetatable(strange).__index.getPointer = function() error("no pointer today", 0) end
      getmetatable(strange).__index.getFFIPointer = getmetatable(strange).__index.getPointer
      assert.equal("no pointer today", S.message(gr.wrap, strange))
    end)
  end)
end)

if S.jit then
  describe("LuaJIT's cdata", function()
    local ffi = require "ffi"

    for _, on in ipairs { "cpu", device } do
      it("arrays and pointers are wrapped, arrays kept alive (" .. on .. ")", function()
        S.on(on, function()
          local x = ffi.new("float[?]", 1000)
          for k = 0, 999 do x[k] = k + 1 end
          local a = gr.wrap(x, { n = 1000 })
          assert.equal(500500, a:sum())
          local b = gr.wrap(ffi.cast("float *", x) + 10, { n = 10 })
          assert.equal(155, b:sum())
          local points = ffi.new("struct { double x; float y; float pad; }[5]")
          for k = 0, 4 do points[k].y = k end
          local y = gr.wrap(points, { n = 5, offset = 8, stride = 16, dtype = "f32" })
          assert.equal(10, y:sum())
          y:fill(3):sync()
          assert.equal(3, points[4].y)
          x, points = nil, nil -- luacheck: ignore
          collectgarbage() collectgarbage()
          assert.equal(500500, a:touch():sum())
          assert.equal("bad argument #1 to 'wrap' (pointer expected, got a null pointer)",
            S.message(gr.wrap, ffi.cast("float *", nil), { n = 1 }))
          assert.equal("bad argument #1 to 'wrap' (cdata that is an array or a pointer expected)",
            S.message(gr.wrap, ffi.new("complex"), { n = 1 }))
        end)
      end)
    end

    it("is of the dtype and the length that the FFI knows", function()
      local rows = {
        { "double[4]", "f64", 4 }, { "float[2][3]", "f32", 6 }, { "int8_t[3]", "i8", 3 },
        { "unsigned char[3]", "u8", 3 },
        { "bool[5]", "u8", 5 }, { "short[3]", "i16", 3 }, { "uint16_t[3]", "u16", 3 }, { "int[3]", "i32", 3 },
        { "unsigned[3]", "u32", 3 }, { "int64_t[3]", "i64", 3 }, { "long long[3]", "i64", 3 },
        { "double[0]", "f64", 0 },
      }
      for _, row in ipairs(rows) do
        local x = ffi.new(row[1])
        local a = gr.wrap(x)
        assert.equal(row[2], a.dtype, row[1])
        assert.equal(row[3], #a, row[1])
        assert.equal(row[3], #gr.wrap(x, row[2]), row[1])
        assert.equal(row[3], #gr.wrap(x, { n = row[3], dtype = row[2] }), row[1])
      end
      local x = ffi.new("double[4]", 1, 2, 3, 4)
      assert.equal(10, gr.wrap(x, { n = 4 }):sum())
      assert.equal(3, gr.wrap(x, { n = 2 }):sum())
      assert.equal(9, gr.wrap(x, { offset = 8 }):sum())
      assert.equal(4, gr.wrap(x, { stride = 16 }):sum())
      assert.equal(0, #gr.wrap(x, { offset = 64 }))
      assert.equal(7, #gr.wrap(ffi.new("float[?]", 7)))
      assert.equal(5, gr.wrap(ffi.new("struct { float y; double x[2]; }", { 1, { 2, 3 } }).x):sum())
      assert.equal("f64", gr.wrap(ffi.cast("double *", x), { n = 4 }).dtype)
      assert.equal("f64", gr.wrap(ffi.cast("void *", x), "f64", { n = 4 }).dtype)
      assert.equal("f32", gr.wrap(ffi.cast("uintptr_t", x), { n = 4 }).dtype)
      assert.equal("f16", gr.wrap(ffi.new("uint16_t[3]"), "f16").dtype)
      assert.equal("bf16", gr.wrap(ffi.new("uint16_t[3]"), { dtype = "bf16" }).dtype)
      assert.equal("i64", gr.wrap(ffi.new("uint64_t[3]"), { dtype = "i64" }).dtype)
      local fixed = gr.wrap(ffi.new("const float[2]", 3, 4))
      assert.equal(7, fixed:sum())
      assert.equal("bad argument #1 to 'fill' (the memory is read-only)", S.message(gr.fill, fixed, 1))
    end)

    it("names both sides of what disagrees", function()
      local x, none = ffi.new("double[4]"), " has no dtype: option 'dtype' says one)"
      for _, row in ipairs {
        { x, { n = 40 }, "#2 to 'wrap' (option 'n': at most 4 (of 'double [4]') expected, got 40)" },
        { x, { n = 3, offset = 16 }, "#2 to 'wrap' (option 'n': at most 2 (of 'double [4]') expected, got 3)" },
        { x, { dtype = "f32" }, "#2 to 'wrap' (dtype f64 (of 'double [4]') expected, got f32)" },
        { x, "i64", "#2 to 'wrap' (dtype f64 (of 'double [4]') expected, got i64)" },
        { ffi.cast("const float *", x), { n = 1, dtype = "u8" },
          "#2 to 'wrap' (dtype f32 (of 'const float *') expected, got u8)" },
        { ffi.new("uint16_t[3]"), "i16", "#2 to 'wrap' (dtype u16 (of 'unsigned short [3]') expected, got i16)" },
        { ffi.cast("void *", x), { n = 1 }, "#1 to 'wrap' (cdata of type 'void *'" .. none },
        { ffi.new("uint64_t[2]"), nil, "#1 to 'wrap' (cdata of type 'uint64_t [2]'" .. none },
        { ffi.new("double *[2]"), nil, "#1 to 'wrap' (cdata of type 'double *[2]'" .. none },
        { ffi.cast("double *", x), nil, "#2 to 'wrap' (options table with 'n' expected, got no value)" },
        { ffi.cast("double *", x), {}, "#2 to 'wrap' (option 'n': number of elements expected, got nil)" },
      } do
        assert.equal("bad argument " .. row[3], S.message(gr.wrap, row[1], row[2]))
      end
      assert.matches("^bad argument #1 to 'wrap' %(cdata of type 'struct %d+ %[2%]' has no dtype: ",
        S.message(gr.wrap, ffi.new("struct { int x, y; }[2]")))
    end)
  end)
end
