local S = require "spec.support"
local golden = require "spec.golden"
local gr = S.gr

describe("golden bits", function()
  local expected = golden.read_all()

  it("come from the model", function()
    for _, dtype in ipairs(golden.dtypes) do
      local a, b = golden.data(dtype)
      for _, n in ipairs { 0, 1, 33, 1025, 4097 } do
        local function at(k) return a[k] end
        local function bt(k) return b[k] end
        for _, operation in ipairs(golden.operations) do
          local value = S.model.reduce[operation](dtype, n, at, operation == "dot" and bt or nil)
          assert.equal(expected[dtype][operation][n], S.model.hex(value))
        end
      end
    end
  end)

  for _, dtype in ipairs(golden.dtypes) do
    it("hold for every view of " .. dtype, function()
      local a, b = golden.data(dtype)
      local compared = golden.check_views(gr, expected, dtype, a, b)
      assert.is_true(compared > 20 * 40 * 3)
    end)
  end

  -- One child for each instruction set; it checks 1, 2 and 5 threads.
  for _, set in ipairs { "generic", "sse2", "avx2", "avx512", "neon" } do
    it("hold with 1, 2 and 5 threads under " .. set, function()
      local text, status = S.child({ GPUREDUCE_CPU = set, GPUREDUCE_DEVICE = "cpu" }, "spec/golden.lua", "check")
      if text:find("GPUREDUCE_CPU", 1, true) then return pending(set .. " is not possible on this processor") end
      assert.equal(0, status, text)
      local compared, backend, used = text:match("^ok (%d+) (%S+) (%S+)")
      assert.equal("cpu", backend, text)
      if used ~= set then return pending(set .. " is not possible on this processor") end
      assert.is_true(tonumber(compared) > 3 * 20 * 40 * 3)
    end)
  end

  -- A NaN's sign puts it at either end of the keys that extremes go by.
  for _, set in ipairs { "generic", "sse2", "avx2", "avx512", "neon" } do
    it("of a NaN of either sign are those of a NaN under " .. set, function()
      local text, status = S.child_text({ GPUREDUCE_CPU = set, GPUREDUCE_DEVICE = "cpu" }, [[
        local gr = require "gpureduce"
        local nans = { f16 = { "\0\126", "\0\254" }, bf16 = { "\192\127", "\192\255" },
          f32 = { "\0\0\192\127", "\0\0\192\255" },
          f64 = { "\0\0\0\0\0\0\248\127", "\0\0\0\0\0\0\248\255" } }
        for dtype, both in pairs(nans) do
          for _, bytes in ipairs(both) do
            for _, n in ipairs { 1, 7, 64, 1000, 70000 } do
              local a = gr.frombytes(("\0"):rep(#bytes * n) .. bytes .. ("\0"):rep(#bytes * n), dtype)
              for _, op in ipairs { "min", "max" } do assert(a[op](a) ~= a[op](a), dtype .. " " .. op .. " " .. n) end
              assert(a:argmin() == n + 1 and a:argmax() == n + 1, dtype .. " " .. n)
            end
          end
        end
        print(gr.instructions())]])
      if text:find("GPUREDUCE_CPU", 1, true) then return pending(set .. " is not possible on this processor") end
      assert.equal(0, status, text)
    end)
  end
end)
