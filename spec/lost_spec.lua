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
    assert.equal("pretend\tchosen by GPUREDUCE_DEVICE", lines[1])
    assert.truthy(lines[2]:find("^6.*\t28"))
    assert.equal("false\tgpureduce: sum: the device is lost", lines[3])
    assert.truthy(lines[4]:find("^1.*\t6"))
    assert.equal("cpu\tthe device before was lost", lines[5])
    local gone = "elements that only pretend had are gone with the device: the device is lost"
    assert.equal("false\tgpureduce: " .. gone, lines[6])
    assert.truthy(lines[7]:find("^5"))
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
