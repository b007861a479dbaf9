-- gr.digest against its definition (kernels/numerics/digest.h).
local S = require "spec.support"
local numbers = require "spec.numbers"
local gr = S.gr

describe("gr.digest", function()
  -- The definition (kernels/numerics/digest.h) in 16-bit pieces, for every Lua.
  local function add(a, b)
    local r, carry = {}, 0
    for k = 1, 4 do
      local s = a[k] + b[k] + carry
      r[k], carry = s % 65536, math.floor(s / 65536)
    end
    return r
  end
  local function multiply(a, b)
    local r = { 0, 0, 0, 0 }
    for i = 1, 4 do
      local carry = 0
      for j = 1, 5 - i do
        local s = r[i + j - 1] + a[i] * b[j] + carry
        r[i + j - 1], carry = s % 65536, math.floor(s / 65536)
      end
    end
    return r
  end
  local function xor(a, b)
    local r = {}
    for k = 1, 4 do
      local x, y, s, bit = a[k], b[k], 0, 1
      for _ = 1, 16 do
        if x % 2 ~= y % 2 then s = s + bit end
        x, y, bit = math.floor(x / 2), math.floor(y / 2), bit * 2
      end
      r[k] = s
    end
    return r
  end
  local function shift(a, count) -- to the right
    local words, bits, r = math.floor(count / 16), count % 16, {}
    for k = 1, 4 do
      local low, high = a[k + words] or 0, a[k + words + 1] or 0
      r[k] = math.floor(low / 2 ^ bits) + high * 2 ^ (16 - bits) % 65536
    end
    return r
  end
  local function word(text)
    local r = {}
    for k = 1, 4 do r[k] = tonumber(text:sub(17 - 4 * k, 20 - 4 * k), 16) end
    return r
  end
  local function mixer(s1, m1, s2, m2, s3)
    m1, m2 = word(m1), word(m2)
    return function(z)
      z = multiply(xor(z, shift(z, s1)), m1)
      z = multiply(xor(z, shift(z, s2)), m2)
      return xor(z, shift(z, s3))
    end
  end
  local mix = mixer(30, "bf58476d1ce4e5b9", 27, "94d049bb133111eb", 31)
  local stir = mixer(33, "ff51afd7ed558ccd", 33, "c4ceb9fe1a85ec53", 33)
  local function digest(bytes)
    local a, b, k = { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 }
    for at = 1, #bytes, 8 do
      local piece, w = bytes:sub(at, at + 7), {}
      piece = piece .. ("\0"):rep(8 - #piece)
      for i = 1, 4 do w[i] = piece:byte(2 * i - 1) + 256 * piece:byte(2 * i) end
      k = add(k, { 1, 0, 0, 0 })
      a = add(a, mix(xor(w, multiply(k, word "9e3779b97f4a7c15"))))
      b = add(b, stir(add(w, multiply(k, word "d1342543de82ef95"))))
    end
    local length = { #bytes % 65536, math.floor(#bytes / 65536), 0, 0 }
    a, b = mix(add(a, length)), stir(xor(b, length))
    return ("%04x%04x%04x%04x%04x%04x%04x%04x"):format(a[4], a[3], a[2], a[1], b[4], b[3], b[2], b[1])
  end

  it("is what its definition says, for every size of element", function()
    for _, dtype in ipairs(numbers.dtypes) do
      for _, n in ipairs { 0, 1, 2, 3, 7, 8, 33 } do
        local a = gr.array(numbers.data(dtype, n, n + 1), dtype)
        assert.equal(digest(a:bytes()), gr.digest(a), dtype .. " " .. n)
      end
    end
  end)

  it("follows the logical order of a view", function()
    for _, dtype in ipairs { "u8", "f16", "f32", "f64" } do
      local t = numbers.data(dtype, 101, 3)
      local expected = gr.digest(gr.array(t, dtype))
      for _, view in ipairs(S.views(t, dtype, 1)) do assert.equal(expected, gr.digest(view[2]), view[1]) end
    end
  end)

  it("refuses what is no array", function()
    assert.equal("bad argument #1 to 'digest' (gpureduce.array expected, got string)", S.message(gr.digest, "abc"))
  end)

  it("changes with any element, the order and the length", function()
    local a = gr.arange(1, 100000, "f32")
    local seen = { [gr.digest(a)] = true }
    local function new(d)
      assert.equal(32, #d)
      assert.is_nil(seen[d])
      seen[d] = true
    end
    new(gr.digest(a:slice(100000, 1, -1)))
    new(gr.digest(a:slice(1, 99999)))
    a[5], a[6] = a[6], a[5]
    new(a:digest())
    a[5] = a[5] + 1
    new(a:digest())
    new(gr.digest(gr.zeros(8, "u8")))
    new(gr.digest(gr.zeros(9, "u8")))
    new(gr.digest(gr.zeros(0, "u8")))
    assert.equal(gr.digest(gr.zeros(2, "f32")), gr.digest(gr.zeros(8, "u8"))) -- the bytes alone
  end)
end)
