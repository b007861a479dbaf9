-- A device's memory in slabs, of which blocks are carved: by what gr.memory says, and by what arrays hold.
local S = require "spec.support"

-- What text prints in a process of its own. made(n, k): n bytes on the device, all k.
local function child(text, looks, slabs)
  local said, status = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_LOOKS = looks,
    GPUREDUCE_SLABS = slabs or "1" }, [[
    local gr = require "gpureduce"
    local MIB, KIB = 1048576, 1024
    gr.gc { cache = 0 } -- what is released goes to its slab at once
    local function made(n, k) return gr.zeros(n, "u8"):fill(k or 1) end
    local function held() return gr.memory().device + gr.memory().unused end
  ]] .. text)
  assert.equal(0, status, said)
  return said
end

describe("a device's memory", function()
  it("comes in slabs that grow with what is in use, and a quarter of which is the largest block", function()
    assert.equal("2 4 8 16 32 64\n0\n", child [[
      local kept, list = {}, {}
      for k = 1, 600 do
        kept[k] = made(64 * KIB, k % 99)
        if held() / MIB ~= list[#list] then list[#list + 1] = held() / MIB end
      end
      print(("%d %d %d %d %d %d"):format((table.unpack or unpack)(list)))
      local before = held()
      local large, alone = made(8 * MIB), made(10 * MIB)
      assert(#list == 6 and held() == before + 10 * MIB)
      local more = made(8 * MIB) -- of the other 32 MiB that come at once
      assert(held() == before + 10 * MIB)
      for k = 1, 600 do assert(kept[k]:sum() == k % 99 * 64 * KIB) kept[k]:release() end
      large:release() more:release() alone:release()
      print(("%d"):format(held()))]])
  end)

  it("goes back slab by slab, as soon as nothing of one is in use", function()
    assert.equal("ok\n", child [[
      local kept = {}
      for k = 1, 40 do kept[k] = made(500000) end
      local all = held()
      for k = 2, 40 do kept[k]:release() end
      assert(held() == 2 * MIB and all > 20 * MIB, held())
      kept[1]:release()
      assert(held() == 0)
      print "ok"]])
  end)

  it("is whole again where neighbours were given back", function()
    assert.equal("ok\n", child [[
      local first, kept = made(64 * KIB), {}
      for k = 1, 28 do kept[k] = made(64 * KIB, k) end
      assert(held() == 2 * MIB)
      for k = 2, 28, 2 do kept[k]:release() end
      for k = 1, 27, 2 do
        assert(kept[k]:sum() == k * 64 * KIB)
        kept[k]:release()
      end
      local second, third = made(448 * KIB), made(1280 * KIB)
      assert(held() == 2 * MIB, held())
      assert(first:sum() == 64 * KIB and second:sum() == #second and third:sum() == #third)
      print "ok"]])
  end)

  it("holds no two blocks at one place, in any order of sizes and with work put off", function()
    for _, looks in ipairs { "0", "3" } do
      assert.equal("ok\n", child([[
        math.randomseed(3)
        local kept = {}
        for round = 1, 3000 do
          local k = math.random(24)
          local a = kept[k]
          if a then
            assert(a.array:sum() == a.value * a.n)
            if a.later then assert(a.later:get() == a.value * a.n) end
            a.array:release()
          end
          local n, value = math.floor(2 ^ (10 + 11 * math.random())), math.random(100)
          kept[k] = { n = n, value = value, array = made(n, value) }
          if round % 3 == 0 then kept[k].later = gr.async(gr.sum, kept[k].array) end
          if round % 500 == 0 then gr.gc { cache = round % 1000 == 0 and 0 or "auto" } end
        end
        gr.gc { cache = 0 }
        local m = gr.memory()
        assert(held() < 100 * MIB, held()) -- of 50 at most in use
        for _, a in pairs(kept) do
          if a.later then a.later:get() end
          a.array:release()
        end
        print(held() == 0 and "ok" or held())]], looks))
    end
  end)

  it("is carved again only when work that was put off has read it", function()
    assert.equal("ok\n", child([[
      local first = made(64 * KIB) -- the slab's, which stays
      for _, n in ipairs { 64 * KIB, 320 * KIB, 448 * KIB } do
        for round = 1, 20 do
          local a = {}
          for k = 1, 4 do a[k] = made(n, k) end
          local sums = {}
          for k = 1, 4 do sums[k] = gr.async(gr.sum, a[k]) end
          for k = 1, 4 do a[k]:release() end
          for k = 1, 4 do a[k] = made(n, 9) end -- there is room for these nowhere else
          for k = 1, 4 do assert(sums[k]:get() == k * n, sums[k]:get()) end
          for k = 1, 4 do a[k]:release() end
        end
      end
      assert(first:sum() == 64 * KIB and held() <= 4 * MIB)
      print "ok"]], "1000000000"))
  end)

  it("is asked of the driver block by block where GPUREDUCE_SLABS=0", function()
    assert.equal("0\n", child([[
      local a, b = made(100000), made(MIB)
      assert(a:sum() + b:sum() == 100000 + MIB)
      print(gr.memory().unused)]], nil, "0"))
  end)
end)
