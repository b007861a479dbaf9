-- The examples run, and say what is so.
local S = require "spec.support"

describe("examples/bytes.lua", function()
  it("knows the entropy and the most common bytes", function()
    S.with_file(function(name)
      S.write_file(name, ("ab\n "):rep(25000) .. ("\0"):rep(100000))
      local text, status = S.child({ COLUMNS = "60" }, "examples/bytes.lua", name)
      assert.equal(0, status, text)
      assert.truthy(text:find("200000 bytes", 1, true), text)
      assert.truthy(text:find("entropy: 2.0000 bits a byte", 1, true), text)
      assert.truthy(text:find("5 of 256 values occur", 1, true), text)
      assert.truthy(text:find("0  0x00  nul             100000  50.00 %", 1, true), text)
      assert.truthy(text:find("newline"), text)
      for line in text:match("a bar:\n(.*)"):gmatch("[^\n]+") do
        assert.is_true(select(2, line:gsub("[^\128-\191]", "")) <= 60, line)
      end
    end)
  end)

  it("takes an empty file, and says what it cannot open", function()
    S.with_file(function(name)
      local text, status = S.child({}, "examples/bytes.lua", name)
      assert.equal(0, status, text)
      assert.truthy(text:find("0 bytes", 1, true))
    end)
    local text, status = S.child({}, "examples/bytes.lua", "/nowhere/at/all")
    assert.not_equal(0, status)
    assert.truthy(text:find("/nowhere/at/all: No such file", 1, true))
  end)
end)

describe("examples/exposure.lua", function()
  it("makes a picture of its own", function()
    local text, status = S.child({}, "examples/exposure.lua")
    assert.equal(0, status, text)
    assert.truthy(text:find("320 x 200 pixels", 1, true), text)
    assert.truthy(text:find("exposure: multiply by", 1, true), text)
  end)

  it("brings a grey picture to middle grey", function()
    S.with_file(function(name)
      S.write_file(name, "P6 # a comment\n10 20\n255\n" .. ("\118"):rep(10 * 20 * 3)) -- 118 is 0.181 in linear light
      local text, status = S.child({}, "examples/exposure.lua", name)
      assert.equal(0, status, text)
      assert.truthy(text:find("10 x 20 pixels", 1, true), text)
      assert.truthy(text:find("luminance: mean 0.1812, largest 0.1812", 1, true), text)
      local factor = tonumber(text:match("multiply by ([%d.]+)"))
      assert.is_true(factor > 0.9 and factor < 1.1, text)
    end, ".ppm")
  end)

  it("refuses what is no picture", function()
    S.with_file(function(name)
      for _, bytes in ipairs { "", "P6", "P5 1 1 255\n1", "P6 2 2 255\nshort", "P6 2 2 65535\n" } do
        S.write_file(name, bytes)
        local text, status = S.child({}, "examples/exposure.lua", name)
        assert.not_equal(0, status, bytes)
        assert.is_nil(text:find("traceback", 1, true), text)
      end
    end, ".ppm")
  end)
end)
