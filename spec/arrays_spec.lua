local S = require "spec.support"
local gr, model = S.gr, S.model

describe("making arrays", function()
  it("from a table, f32 by default", function()
    local a = gr.array { 1, 2.5, -3 }
    assert.equal(3, #a)
    assert.equal("f32", a.dtype)
    assert.same({ 1, 2.5, -3 }, a:table())
  end)

  it("of every dtype, by short and long name", function()
    local long = {
      u8 = "uint8", i8 = "int8", u16 = "uint16", i16 = "int16", u32 = "uint32", i32 = "int32", i64 = "int64",
      f16 = "float16", bf16 = "bfloat16", f32 = "float32", f64 = "float64",
    }
    for _, dtype in ipairs(model.dtypes) do
      assert.equal(dtype, gr.array({ 1, 2 }, dtype).dtype)
      assert.equal(dtype, gr.zeros(3, long[dtype]).dtype)
      local t = S.whole(model.data(dtype, 300, 5))
      S.same_all(t, gr.array(t, dtype), dtype)
    end
  end)

  it("from a length: zeros", function()
    S.same_all({ 0, 0, 0 }, gr.array(3), "array(3)")
    assert.equal(0, #gr.array(0))
    assert.equal(0, #gr.array {})
  end)

  it("zeros, ones and full", function()
    S.same_all({ 0, 0 }, gr.zeros(2, "i16"), "zeros")
    S.same_all({ 1, 1, 1 }, gr.ones(3, "bf16"), "ones")
    S.same_all({ 7, 7 }, gr.full(2, 7, "u8"), "full")
    assert.equal("f32", gr.full(1, 0.5).dtype)
  end)

  it("arange includes its end when it is hit", function()
    S.same_all({ 1, 2, 3, 4 }, gr.arange(1, 4), "arange")
    S.same_all({ 1, 3, 5 }, gr.arange(1, 5, 2), "arange")
    S.same_all({ 1, 3 }, gr.arange(1, 4, 2), "arange")
    S.same_all({ 3, 2, 1 }, gr.arange(3, 1, -1), "arange")
    S.same_all({ 0, 0.25, 0.5, 0.75, 1 }, gr.arange(0, 1, 0.25), "arange")
    assert.equal(0, #gr.arange(2, 1))
    assert.equal("u8", gr.arange(1, 4, "u8").dtype)
    assert.equal("i64", gr.arange(1, 4, 3, "i64").dtype)
    assert.equal("f32", gr.arange(1, 4).dtype)
  end)

  it("arange counts integers exactly, however large", function()
    if not S.integers then return end
    local big, most, least = math.tointeger(2 ^ 53), math.maxinteger, math.mininteger
    S.same_all({ big + 1, big + 2, big + 3 }, gr.arange(big + 1, big + 3, "i64"), "past 2^53")
    S.same_all({ most - 2, most - 1, most }, gr.arange(most - 2, most, "i64"), "at the end")
    S.same_all({ least + 1, least }, gr.arange(least + 1, least, -1, "i64"), "at the other end")
    assert.equal(4, #gr.arange(1024 * big, 1024 * big + 3))
    local wide = gr.arange(least, most, 128 * big, "i64")
    assert.equal(16, #wide)
    for k = 1, 16 do assert.equal(least + (k - 1) * 128 * big, wide[k]) end
    S.same_all({ least, -1, most - 1 }, gr.arange(least, most, most, "i64"), "two great steps")
    S.same_all({ most }, gr.arange(most, 0, least, "i64"), "one step past the end")
    S.same_all({ most, -1 }, gr.arange(most, least, least, "i64"), "the greatest step")
    assert.equal(0, #gr.arange(most, least, 1))
    assert.equal(0, #gr.arange(least, most, least))
    assert.equal("bad argument #2 to 'arange' (range of 1.844674407371e+19 elements is too long)",
      S.message(gr.arange, least, most))
  end)

  it("linspace hits both ends", function()
    local a = gr.linspace(0, 1, 5, "f64")
    S.same_all({ 0, 0.25, 0.5, 0.75, 1 }, a, "linspace")
    local b = gr.linspace(-1, 2, 1001, "f64")
    assert.equal(-1, b[1])
    assert.equal(2, b[1001])
    S.same_all({ 3 }, gr.linspace(3, 9, 1), "linspace of 1")
  end)

  it("from packed bytes", function()
    for _, dtype in ipairs(model.dtypes) do
      local t = S.whole(model.data(dtype, 37, 9))
      local bytes = model.pack(t, dtype)
      S.same_all(t, gr.frombytes(bytes, dtype), dtype)
      S.same_all(t, gr.array(bytes, dtype), dtype)
      assert.is_true(bytes == gr.array(t, dtype):bytes(), dtype)
    end
    assert.equal(0, #gr.frombytes("", "f64"))
  end)

  it("of nothing works everywhere", function()
    local a = gr.zeros(0, "i32")
    assert.same({}, a:table())
    assert.equal("", a:bytes())
    assert.is_nil(a[1])
    assert.equal(0, #a:copy())
    assert.is_true(a:equal(gr.zeros(0, "i32")))
  end)
end)

describe("elements", function()
  it("are read from 1 or from the end, and nil beyond", function()
    local a = gr.array({ 10, 20, 30 }, "i32")
    assert.equal(10, a[1])
    assert.equal(30, a[3])
    assert.is_nil(a[4])
    assert.is_nil(a[2 ^ 60])
    assert.equal(30, a[-1])
    assert.equal(10, a[-3])
    assert.equal(20, a:slice(3, 1, -1)[-2])
    assert.is_nil(gr.zeros(0)[1])
    a[-1], a[-3] = 31, 11
    S.same_all({ 11, 20, 31 }, a, "written from the end")
    local seen, k = {}, 1
    while a[k] do seen[k], k = a[k], k + 1 end
    S.same_all({ 11, 20, 31 }, seen, "a loop that stops at nil")
  end)

  it("of integer dtypes are Lua integers", function()
    if not S.integers then return end
    for _, dtype in ipairs(model.dtypes) do
      local a = gr.array({ 1, 2 }, dtype)
      assert.equal(model.is_float[dtype] and "float" or "integer", math.type(a[1]), dtype)
      assert.equal(model.is_float[dtype] and "float" or "integer", math.type(a:table()[2]), dtype)
    end
  end)

  it("are written, whole floats into integers too", function()
    local a = gr.zeros(4, "u8")
    a[1], a[2], a[4] = 255, 7.0, 9
    S.same_all({ 255, 7, 0, 9 }, a, "written")
  end)

  it("keep 64 bits", function()
    if not S.integers then return end
    local a = gr.array({ math.maxinteger, math.mininteger, -1 }, "i64")
    assert.equal(math.maxinteger, a[1])
    assert.equal(math.mininteger, a[2])
    assert.equal(-1, a:table()[3])
  end)

  it("end ipairs where __index is honoured", function()
    if not S.integers then return end
    local count = 0
    for k, v in ipairs(gr.array { 5, 6, 7 }) do
      count = count + 1
      assert.equal(4 + k, v)
    end
    assert.equal(3, count)
  end)

  it("round to nearest even in f16, bf16 and f32", function()
    local g = model.generator(77)
    for _, dtype in ipairs { "f16", "bf16", "f32" } do
      local t, expected = {}, {}
      for k = 1, 3000 do
        local x = model.draw(g, "f64", true)
        if dtype == "f16" then x = x * 2.0 ^ (g() % 30 - 25) end
        local r = model.round[dtype](x)
        if r - r ~= 0 then r, x = 1, 1 end
        t[k], expected[k] = x, r
      end
      S.same_all(expected, gr.array(t, dtype), dtype)
    end
  end)

  it("of f16 and bf16: all 65536 patterns", function()
    for _, dtype in ipairs { "f16", "bf16" } do
      local value = dtype == "f16" and model.f16_value or model.bf16_value
      local parts = {}
      for bits = 0, 65535 do parts[#parts + 1] = string.char(bits % 256, math.floor(bits / 256)) end
      local bytes = table.concat(parts)
      local a = gr.frombytes(bytes, dtype)
      local t = a:table()
      for bits = 0, 65535 do S.same(value(bits), t[bits + 1], dtype, bits) end
      assert.is_true(bytes == a:bytes())
      -- and back: whoever is not NaN returns to his own bits
      local b = gr.array(t, dtype):bytes()
      for bits = 0, 65535 do
        local v = t[bits + 1]
        if v == v then assert(b:sub(2 * bits + 1, 2 * bits + 2) == bytes:sub(2 * bits + 1, 2 * bits + 2), bits) end
      end
    end
  end)

  it("keep infinities, NaN and signed zeros", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      local a = gr.array({ math.huge, -math.huge, model.nan, model.minus_zero, 0 }, dtype)
      S.same_all({ math.huge, -math.huge, model.nan, model.minus_zero, 0 }, a, dtype)
    end
  end)
end)

describe("whole arrays", function()
  it("give tables and bytes of a range", function()
    local a = gr.arange(1, 10, "u8")
    assert.same({ 3, 4, 5 }, a:table(3, 5))
    assert.same({ 9, 10 }, a:table(-2, -1))
    assert.same({ 8, 9, 10 }, a:table(8))
    assert.equal("\2\3", a:bytes(2, 3))
    assert.equal("\9\10", a:bytes(-2))
    assert.same({}, a:table(5, 4))
    assert.equal("", a:bytes(5, 4))
  end)

  it("give bytes of views, as those of their copies", function()
    for _, dtype in ipairs(model.dtypes) do
      local a = gr.array({ 1, 2, 3, 4, 5, 6, 7, 8, 9 }, dtype)
      local expected = gr.array({ 2, 5, 8 }, dtype):bytes()
      assert.equal(expected, a:slice(2, -1, 3):bytes())
      assert.equal(gr.array({ 8, 5, 2 }, dtype):bytes(), a:slice(8, 2, -3):bytes())
      assert.equal(gr.array({ 5, 8 }, dtype):bytes(), a:slice(2, -1, 3):bytes(2, 3))
      assert.equal("", a:slice(2, -1, 3):bytes(2, 1))
    end
  end)

  it("copy into new memory", function()
    local a = gr.array({ 1, 2, 3 }, "f64")
    local b = a:copy()
    b[1] = 100
    assert.equal(1, a[1])
    assert.equal("f64", b.dtype)
  end)

  it("fill", function()
    local a = gr.zeros(1000, "i16")
    a:fill(-7)
    assert.equal(-7, a[1])
    assert.equal(-7, a[1000])
    assert.equal(-7000, a:sum())
  end)

  it("are equal when dtype, length and values are", function()
    local a = gr.array({ 1, 2, 3 }, "i32")
    assert.is_true(a:equal(gr.array({ 1, 2, 3 }, "i32")))
    assert.is_false(a:equal(gr.array({ 1, 2, 4 }, "i32")))
    assert.is_false(a:equal(gr.array({ 1, 2 }, "i32")))
    assert.is_false(a:equal(gr.array({ 1, 2, 3 }, "i64")))
    assert.is_true(a:slice(3, 1, -1):equal(gr.array({ 3, 2, 1 }, "i32")))
  end)

  it("say what they are", function()
    assert.equal("gpureduce.array f32[1000] (host)", tostring(gr.array((function()
      local t = {}
      for k = 1, 1000 do t[k] = k end
      return t
    end)())))
    assert.truthy(tostring(gr.zeros(5, "bf16")):find("^gpureduce%.array bf16%[5%]"))
  end)

  it("methods and module functions are the same", function()
    local a = gr.array { 1, 2, 3 }
    for _, name in ipairs { "sum", "dot", "slice", "table", "histogram", "scan", "copy" } do
      assert.equal(gr[name], a[name], name)
    end
  end)

  it("can be released, more than once", function()
    local a = gr.zeros(1000)
    a:release()
    a:release()
    assert.truthy(tostring(a):find("released"))
    assert.truthy(S.message(function() return a:sum() end):find("released"))
  end)

  it("are released at the end of a block in Lua 5.4", function()
    if _VERSION < "Lua 5.4" then return end
    local f = assert(load [[
      local gr = ...
      local kept
      do local a <close> = gr.zeros(10); kept = a end
      return kept]])
    assert.truthy(tostring(f(gr)):find("released"))
  end)

  it("have the version of the latest section of CHANGELOG.md", function()
    local newest
    for line in io.lines("CHANGELOG.md") do newest = newest or line:match("^## (%d+%.%d+%.%d+)") end
    assert.equal("gpureduce " .. newest, gr._VERSION)
  end)
end)
