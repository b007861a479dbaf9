-- A device that fails for good: what the host still has goes on, on the CPU; the rest raises.
local S = require "spec.support"

describe("a lost device", function()
  it("leaves the host's copies, and new arrays go to the CPU", function()
    local text = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_LOSE_AT = "3" }, [[
      local gr = require "gpureduce"
      local a = gr.array({ 1, 2, 3 })
      local b = gr.full(4, 7)
      print(gr.backend())
      print(a:sum(), b:sum())
      print(pcall(a.sum, a))
      print(a[1], a:copy():sum())
      print(gr.backend())
      print(pcall(b.table, b))
      print(gr.ones(5):sum())]])
    local lines = {}
    for line in text:gmatch("[^\n]+") do lines[#lines + 1] = line end
    assert.equal("pretend\tchosen by GPUREDUCE_DEVICE\tformulas run step by step", lines[1])
    assert.truthy(lines[2]:find("^6.*\t28"))
    assert.truthy(lines[3]:find("^true\t6")) -- the host has it all: it goes on there
    assert.truthy(lines[4]:find("^1.*\t6"))
    assert.equal("cpu\tthe device before was lost\tformulas run in blocks that stay in the cache", lines[5])
    local gone = "elements that only pretend had are gone with the device: the device is lost"
    assert.equal("false\tgpureduce: " .. gone, lines[6])
    assert.truthy(lines[7]:find("^5"))
  end)

  it("lets go of every array that the host has whole, whatever is asked of it", function()
    local text = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_LOSE_AT = "1" }, [[
      local gr = require "gpureduce"
      local function print(...)
        local t = { ... }
        for k, x in ipairs(t) do t[k] = type(x) == "number" and ("%.6g"):format(x) or tostring(x) end
        io.write(table.concat(t, " "), "\n")
      end
      local a, b, gone = gr.array({ 1, 2, 3, 4 }), gr.array({ 1, 1, 2, 2 }), gr.full(4, 7)
      print(a:sum())
      print(a:dot(b), (a + b):sum(), a:scan()[4], a:sum({ rows = 2 })[2], a:median(), #a:compact(a:compare(">", 2)))
      print(a:histogram({ bins = 2, min = 0, max = 4 }).counts[2], a:norm(), gr.many { { "max", b }, { "min", b } })
      print(gr.async(gr.sum, b):get(), a:softmax():sum() > 0.99)
      print(pcall(gr.dot, b, gone))
      print(pcall(gr.add, gone, 1))]])
    assert.equal([[
10
17 16 10 7 2.5 2
3 5.47723 2 1
6 true
false gpureduce: elements that only pretend had are gone with the device: the device is lost
false gpureduce: elements that only pretend had are gone with the device: the device is lost
]], text)
  end)

  -- The sum that loses it has been put off, and what meets that is an array for which there is no room.
  it("is why memory is refused", function()
    local text = S.child_text({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_LOSE_AT = "1",
      GPUREDUCE_PRETEND_LOOKS = "1000000000000", GPUREDUCE_PRETEND_CAPACITY = "1200000" }, [[
      local gr = require "gpureduce"
      local ones = gr.ones(100000, "f32")
      local there = ones:scan()
      local f = gr.async(gr.sum, gr.array { 1, 2, 3 })
      print(gr.backend())
      print(select(2, pcall(gr.scan, there)), ones:release())
      print(select(2, pcall(f.get, f)))
      print(("%g"):format(gr.full(200000, 7, "f64"):mean()), (gr.backend()))]])
    assert.equal([[
pretend chosen by GPUREDUCE_DEVICE formulas run step by step
gpureduce: scan: the device is lost
gpureduce: sum: the device is lost
7 cpu
]], (text:gsub("\t", " ")))
  end)

  -- Futures under way, gr.use of it, work that was put off, the end of the process: bench/gpu_lost.lua, as on a GPU.
  for _, at in ipairs { 1, 2, 3, 9 } do
    for _, looks in ipairs { 0, 1000000000000 } do
      it(("at reduction %d leaves a state that goes on and ends (looks: %g)"):format(at, looks), function()
        local environment = { "timeout -k 5 60 ", GPUREDUCE_DEVICE = "pretend",
          GPUREDUCE_PRETEND_LOSE_AT = tostring(at), GPUREDUCE_PRETEND_LOOKS = ("%d"):format(looks) }
        local text, status = S.child(environment, "bench/gpu_lost.lua")
        assert.equal("ok\n", text)
        assert.equal(0, status)
      end)
    end
  end
end)
