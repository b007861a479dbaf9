-- Raw files and NPY, the latter against files that NumPy wrote (spec/fixtures/make.py).
local S = require "spec.support"
local gr, model = S.gr, S.model

local function fixture(name) return "spec/fixtures/" .. name .. ".npy" end

-- The error of loading bytes as an NPY file.
local function refusal(bytes)
  local text
  S.with_file(function(name)
    S.write_file(name, bytes)
    text = S.message(function()
      local a, why = gr.load(name)
      return a, why
    end)
    local start = "bad argument #1 to 'load' (" .. name .. ": "
    if text and text:sub(1, #start) == start then text = "bad argument #1 to 'load' (" .. text:sub(#start + 1) end
  end, ".npy")
  return text
end

-- A file with this header and data, version 1.0.
local function npy(header, data)
  header = header .. (" "):rep(117 - #header) .. "\n"
  return "\147NUMPY\1\0" .. string.char(#header % 256, math.floor(#header / 256)) .. header .. (data or "")
end

describe("raw files", function()
  it("come back as they were saved, in every dtype", function()
    for _, dtype in ipairs(model.dtypes) do
      local a = gr.array(S.whole(model.data(dtype, 1000, 4)), dtype)
      S.with_file(function(name)
        assert.is_true(a:save(name))
        assert.is_true(a:bytes() == S.read_file(name))
        local b = gr.load(name, dtype)
        assert.is_true(a:equal(b))
        assert.equal(dtype, b.dtype)
      end)
    end
  end)

  it("are f32 unless said otherwise, and take a part", function()
    S.with_file(function(name)
      gr.arange(1, 10):save(name)
      assert.equal("f32", gr.load(name).dtype)
      S.same_all({ 3, 4, 5 }, gr.load(name, "f32", { offset = 8, count = 3 }), "part")
      S.same_all({ 9, 10 }, gr.load(name, "f32", { offset = 32 }), "tail")
      assert.equal(40, #gr.load(name, "u8"))
    end)
  end)

  it("save views element by element", function()
    S.with_file(function(name)
      gr.arange(1, 50000, "i32"):slice(50000, 1, -3):save(name)
      assert.is_true(gr.load(name, "i32"):equal(gr.arange(50000, 1, -3, "i32")))
    end)
  end)

  it("may be mapped: changes stay in memory", function()
    S.with_file(function(name)
      gr.arange(1, 1000, "f64"):save(name)
      local a = gr.load(name, "f64", { map = true })
      assert.equal(500500, a:sum())
      a[1] = 2
      assert.equal(500501, a:sum())
      assert.equal(1, gr.load(name, "f64")[1])
      a:release()
    end)
  end)

  it("of nothing are empty arrays", function()
    S.with_file(function(name)
      gr.zeros(0, "f64"):save(name)
      assert.equal(0, #gr.load(name, "f64"))
      assert.equal(0, #gr.load(name, "f64", { map = true }))
    end)
  end)

  it("are loaded where the kernels run only when needed", function()
    S.with_file(function(name)
      gr.ones(100000):save(name)
      S.on("pretend", function()
        local difference = S.counted(function() gr.load(name) end)
        assert.equal(0, difference.bytes_up)
        assert.equal(100000, gr.load(name):sum())
      end)
    end)
  end)

  it("that the system refuses give nil, a message and a code", function()
    local a, message, code = gr.load("/nowhere/at/all.bin", "u8")
    assert.is_nil(a)
    assert.truthy(message:find("^/nowhere/at/all%.bin: No such file"))
    assert.equal(2, code)
    a, message, code = gr.zeros(3):save("/nowhere/at/all.bin")
    assert.is_nil(a)
    assert.truthy(message:find("^/nowhere/at/all%.bin: "))
    assert.equal(2, code)
    a, message = gr.load("/", "u8")
    assert.is_nil(a)
    assert.truthy(message:find("directory"))
  end)

  it("that do not fit the dtype are refused", function()
    S.with_file(function(name)
      S.write_file(name, "12345")
      local start = "bad argument #1 to 'load' (" .. name .. ": "
      assert.equal(start .. "5 bytes are not a whole number of f32 elements)",
        S.message(function() local a = gr.load(name) return a end))
      assert.equal(start .. "9 elements asked, the file has 5)",
        S.message(function() local a = gr.load(name, "u8", { count = 9 }) return a end))
      assert.equal(start .. "offset 6 is past the end of the file (5 bytes))",
        S.message(function() local a = gr.load(name, "u8", { offset = 6 }) return a end))
    end)
  end)
end)

describe("NPY files of NumPy", function()
  local cases = {
    { "f32_6", "f32", { 6 }, { 1.5, -2.25, 0, model.round.f32(3e38), math.huge, model.minus_zero } },
    { "f64_2x3", "f64", { 2, 3 }, { 0 / 3, 1 / 3, 2 / 3, 3 / 3, 4 / 3, 5 / 3 } },
    { "u16_2x1x4", "u16", { 2, 1, 4 }, { 0, 1, 65535, 256, 7, 8, 9, 10 } },
    { "f16_empty_0x3", "f16", { 0, 3 }, {} },
    { "i8_3", "i8", { 3 }, { -128, 127, 1 } },
    { "u8_3", "u8", { 3 }, { 0, 255, 1 } },
    { "i16_3", "i16", { 3 }, { -32768, 32767, 1 } },
    { "i32_3", "i32", { 3 }, { -2147483648, 2147483647, 1 } },
    { "u32_3", "u32", { 3 }, { 0, 4294967295, 1 } },
    { "f16_3", "f16", { 3 }, { -2, 2, 1 } },
    { "bool_3", "u8", { 3 }, { 1, 0, 1 } },
    { "f32_2x2_v2", "f32", { 2, 2 }, { 1, 2, 3, 4 } },
    { "f32_2x2_v3", "f32", { 2, 2 }, { 1, 2, 3, 4 } },
    { "big_endian", "f32", { 2 }, { 1, 2 }, other = true },
    { "fortran_2x3", "f32", { 2, 3 }, { 0, 1, 2, 3, 4, 5 }, other = true },
  }

  for _, case in ipairs(cases) do
    it("load: " .. case[1], function()
      local a, shape = gr.load(fixture(case[1]))
      assert.equal(case[2], a.dtype)
      assert.same(case[3], shape)
      assert.same(#shape == 2 and shape[1] > 0 and shape or { #a }, a.shape)
      S.same_all(case[4], a:slice(), case[1])
      local mapped = gr.load(fixture(case[1]), nil, { map = true })
      assert.same(a.shape, mapped.shape)
      S.same_all(case[4], mapped:slice(), case[1], "mapped")
    end)

    if not case[1]:find("_v") and not case[1]:find("bool") and not case.other then
      it("save: the same bytes as " .. case[1], function()
        S.with_file(function(name)
          assert.is_true(gr.array(case[4], case[2]):save(name, { shape = case[3] }))
          assert.is_true(S.read_file(fixture(case[1])) == S.read_file(name))
        end, ".npy")
      end)
    end
  end

  it("load a scalar, all 64 bits of it", function()
    local a, shape = gr.load(fixture "i64_scalar")
    assert.same({}, shape)
    assert.equal(1, #a)
    assert.equal("\255\255\255\255\255\255\223\255", a:bytes())
  end)

  it("save one dimension by default", function()
    S.with_file(function(name)
      gr.array({ 1.5, -2.25, 0, model.round.f32(3e38), math.huge, model.minus_zero }, "f32"):save(name)
      assert.is_true(S.read_file(fixture "f32_6") == S.read_file(name))
    end, ".npy")
  end)
end)

-- A file of version 2 or 3, whose header may be long, with the data of an array.
local function npy_of(descr, order, shape, data, pad, version)
  local header = "{'descr': '" .. descr .. "', 'fortran_order': " .. (order and "True" or "False") .. ", 'shape': ("
    .. shape .. "), }"
  header = header .. (" "):rep((pad or 200) - #header - 1) .. "\n"
  local length = #header
  local bytes = {}
  for k = 1, 4 do bytes[k], length = string.char(length % 256), math.floor(length / 256) end
  return "\147NUMPY" .. string.char(version or 2) .. "\0" .. table.concat(bytes) .. header .. data
end

describe("NPY files in other orders", function()
  local sizes = { u8 = "u1", i8 = "i1", u16 = "u2", i16 = "i2", u32 = "u4", i32 = "i4", i64 = "i8",
    f16 = "f2", f32 = "f4", f64 = "f8" }

  it("of bytes: every dtype, element by element", function()
    for dtype, name in pairs(sizes) do
      local a = gr.array(S.whole(model.data(dtype, 777, 4)), dtype)
      local size = tonumber(name:sub(2))
      local swapped = a:bytes():gsub(("."):rep(size), string.reverse)
      S.with_file(function(path)
        S.write_file(path, npy_of(">" .. name, false, "777,", swapped))
        for _, map in ipairs { false, true } do
          local b = gr.load(path, { map = map })
          assert.equal(dtype, b.dtype)
          assert.is_true(b:bytes() == a:bytes(), dtype)
        end
      end, ".npy")
    end
  end)

  it("of dimensions: the last index runs fastest afterwards", function()
    local shapes = { { 3, 5 }, { 1, 7 }, { 7, 1 }, { 2, 3, 4 }, { 2, 1, 3, 1, 2 }, { 300, 1100 }, { 5 }, { 0, 4 } }
    for _, shape in ipairs(shapes) do
      local n = 1
      for _, length in ipairs(shape) do n = n * length end
      -- Element k in C order holds k; where it lies in the file: the first index runs fastest.
      local place, file = {}, {}
      for k = 0, n - 1 do
        local rest, at, step = k, 0, n
        for d = #shape, 1, -1 do
          step = step / shape[d]
          at, rest = at + rest % shape[d] * step, math.floor(rest / shape[d])
        end
        place[k + 1] = at + 1
      end
      for k = 1, n do file[place[k]] = k end
      for _, dtype in ipairs { "i16", "f64" } do
        if n < 32768 or dtype == "f64" then
          local data = gr.array(file, dtype):bytes()
          S.with_file(function(path)
            S.write_file(path, npy_of("<" .. sizes[dtype], true, table.concat(shape, ", ") .. ",", data))
            for _, map in ipairs { false, true } do
              local a, found = gr.load(path, { map = map })
              assert.same(shape, found)
              assert.is_true(n == 0 and #a == 0 or a:slice():equal(gr.arange(1, n, dtype)), table.concat(shape, "x"))
            end
          end, ".npy")
        end
      end
    end
  end)

  it("of both at once", function()
    S.with_file(function(path)
      S.write_file(path, npy_of(">i2", true, "2, 3", "\0\1\0\4\0\2\0\5\0\3\0\6"))
      assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, gr.load(path):table())
    end, ".npy")
  end)
end)

describe("NPY headers", function()
  it("may be up to 1 MiB long", function()
    for _, pad in ipairs { 65535, 65536, 1000000, 1048564 } do
      for version = 2, 3 do
        S.with_file(function(path)
          S.write_file(path, npy_of("<i2", false, "3,", "\1\0\2\0\3\0", pad, version))
          assert.same({ 1, 2, 3 }, gr.load(path):table())
        end, ".npy")
      end
    end
    assert.equal("bad argument #1 to 'load' (NPY header of 1048577 bytes: at most 1048576 are read)",
      refusal(npy_of("<i2", false, "3,", "\1\0\2\0\3\0", 1048565)))
  end)

  it("with a NUL, an overflowing shape, or more behind the dictionary are refused", function()
    assert.truthy(refusal(npy_of("<f4\0", false, "1,", "1234")):find("'descr' is not a string", 1, true))
    assert.truthy(refusal(npy_of("|f4", false, "1,", "1234")):find("NPY dtype '|f4' is not supported", 1, true))
    for _, shape in ipairs { "4294967296, 4294967296, 0", "0, 4294967296, 4294967296" } do
      assert.is_nil(refusal(npy_of("<f4", false, shape, "")))
    end
    assert.truthy(refusal(npy_of("<f4", false, "4294967296, 4294967296", "")):find("the shape is too large", 1, true))
    assert.truthy(refusal(npy_of("<f4", false, "1,), }, (", "1234")):find("goes on behind its dictionary", 1, true))
  end)
end)

describe("NPY files that are refused", function()
  local function check(expected, name)
    assert.equal("bad argument #1 to 'load' (" .. fixture(name) .. ": " .. expected .. ")", S.message(function()
      local a = gr.load(fixture(name))
      return a
    end))
  end

  it("by name: objects, structures, other dtypes", function()
    check("NPY data has the object dtype ('|O'), which is not supported", "object")
    check("NPY structured dtypes are not supported", "structured")
    check("NPY dtype '<c8' is not supported", "complex")
    check("NPY dtype '<u8' is not supported", "u64")
  end)

  it("bf16, with a hint", function()
    assert.equal("bad argument #1 to 'save' (NPY has no bf16: save it raw, under a name that does not end in .npy)",
      S.message(function() gr.zeros(3, "bf16"):save("never.npy") end))
    assert.is_nil(io.open("never.npy"))
  end)

  it("truncated at every byte", function()
    local whole = S.read_file(fixture "f32_6")
    for length = 0, #whole - 1 do
      local text = refusal(whole:sub(1, length))
      assert(text and text:find("^bad argument #1 to 'load' %("), length .. ": " .. tostring(text))
    end
    assert.truthy(refusal(whole .. "x"):find("longer than its header says", 1, true))
  end)

  it("lying about their size, without an allocation of that size", function()
    local header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }"
    local before = gr.memory().peak
    for _, n in ipairs { "1000000000000", "1000000000000000000", "9999999999999999999999999", "18446744073709551617",
      "1000000, 1000000, 1000000", "4294967296, 4294967296, 2" } do
      local text = refusal(npy(header:format(n), ("x"):rep(16)))
      assert(text and text:find("^bad argument #1 to 'load' %(.*NPY"), n .. ": " .. tostring(text))
    end
    assert.is_true(gr.memory().peak < before + 1048576)
    -- the header's own length may lie too
    assert.truthy(refusal("\147NUMPY\1\0\255\255{'descr'"):find("truncated", 1, true))
    assert.truthy(refusal("\147NUMPY\2\0\255\255\255\255{'descr'"):find("truncated", 1, true))
  end)

  it("with a header that is not one", function()
    local good = "'descr': '<f4', 'fortran_order': False, 'shape': (1,), "
    assert.is_nil(refusal(npy("{" .. good .. "}", "\0\0\0\0")))
    for _, header in ipairs {
      "", "{", "{}", "[" .. good .. "]", "{" .. good, "{'descr': '<f4'}",
      "{'descr': 5, 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "{'descr': '<f4', 'fortran_order': False}",
      "{" .. good .. "'extra': 1}", "{'descr: '<f4'}", "{'descr': '<f4", "{'descr': '<f4' 'shape': (1,)}",
      "{'descr': '" .. ("<f4"):rep(20) .. "'}", "{" .. ("("):rep(100), ("\0"):rep(100),
    } do
      local text = refusal(npy(header, "\0\0\0\0"))
      assert(text and text:find("^bad argument #1 to 'load' %(NPY"), header .. ": " .. tostring(text))
    end
    assert.truthy(refusal("PK\3\4 this is a zip file and no array"):find("not an NPY file", 1, true))
    assert.truthy(refusal("\147NUMPY\9\0" .. ("x"):rep(200)):find("NPY version 9.0 is not supported", 1, true))
  end)

  it("random damage never crashes", function()
    local whole = S.read_file(fixture "f64_2x3")
    local g = model.generator(99)
    for _ = 1, 500 do
      local at = g() % 128 + 1
      local bytes = whole:sub(1, at - 1) .. string.char(g() % 256) .. whole:sub(at + 1)
      local text = refusal(bytes)
      assert(text == nil or text:find("^bad argument #1 to 'load' %("), text)
    end
  end)
end)
