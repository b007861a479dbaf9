-- A device that is lost at some launch (GPUREDUCE_TEST_LOSE on CUDA, GPUREDUCE_PRETEND_LOSE_AT on pretend): what must
-- hold wherever it happens. Run by bench/gpu_hostile.sh and spec/lost_spec.lua.
local gr = require "gpureduce"
local device = gr.backend():match "^%S+"
local host = gr.array({ 1, 2, 3 }, "f32")
local there = gr.zeros(100000, "f32")
local futures, said = {}, nil
for _ = 1, 20 do
  local ok, message = pcall(function()
    there:fill(7)
    futures[#futures + 1] = gr.async(gr.sum, there)
    futures[#futures + 1] = gr.async(gr.scan, there, "sum")
    gr.sum(there)
    futures[#futures]:get()
  end)
  if not ok then said = message break end
end
assert(said and said:find("lost", 1, true) or said and said:find("illegal", 1, true), "not lost: " .. tostring(said))
-- Futures under way end, by a number or by an error, and say the same again.
for _, f in ipairs(futures) do
  local ok, x = pcall(f.get, f)
  local again, y = pcall(f.get, f)
  assert(ok == again and (ok or x == y))
end
-- What the host has can be read, copied and worked with; new arrays are the CPU's.
assert(host[2] == 2 and host:copy():sum() == 6)
assert(gr.backend():find("^cpu"), gr.backend())
assert(gr.ones(1000):sum() == 1000)
-- What only the device had is gone, and the error says so.
local ok, gone = pcall(there.table, there)
assert(not ok and gone:find("gone with the device", 1, true), tostring(gone))
-- The device is not had again by name, and the CPU goes on.
local ok_again, again = pcall(gr.use, device)
assert(not ok_again and again:find("is lost", 1, true), tostring(again))
assert(gr.backend():find("^cpu"))
assert(gr.arange(1, 4):sum() == 10)
there:release()
gr.trim()
print "ok"
