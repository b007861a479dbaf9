-- What memory a device holds under work of random sizes: lua bench/memory.lua [seconds] [most bytes of an array]
-- Prints, once a tenth of the time, what is in use and what the pool keeps beside it (gr.memory), then the largest
-- array that can be had, its sum, and what remains after everything has been let go.
local gr = require "gpureduce"
local seconds, most = tonumber(arg[1] or 20), tonumber(arg[2] or 2 ^ 28)
local mib = 2 ^ 20

local function now()
  local m = gr.memory()
  local used = gr.backend() == "cpu" and m.host or m.device
  return used / mib, m.pooled / mib
end

print(("device %s, arrays of up to %.0f MiB for %g s"):format(gr.backend(), most / mib, seconds))
local state = 12345
local function random() -- the same sizes in every run
  state = (state * 1103515245 + 12345) % 2 ^ 31
  return state / 2 ^ 31
end

local kept, peak, held, rounds, start, shown = {}, 0, 0, 0, gr.clock(), 0
repeat
  local slot = math.floor(random() * 16) + 1
  if kept[slot] then kept[slot]:release() end
  kept[slot] = gr.ones(math.floor(random() ^ 3 * most / 4) + 1)
  local sum = kept[slot]:sum()
  assert(sum == #kept[slot], "a wrong sum")
  local used, pooled = now()
  peak, held, rounds = math.max(peak, used), math.max(held, used + pooled), rounds + 1
  if gr.clock() - start > seconds * (shown + 1) / 10 then
    shown = shown + 1
    print(("%6.1f s: %8.0f MiB in use, %8.0f kept"):format(gr.clock() - start, used, pooled))
  end
until gr.clock() - start > seconds
print(("%d arrays; at most %.0f MiB in use, %.0f with what was kept (%.2f times)"):format(
  rounds, peak, held, held / peak))
for _, a in pairs(kept) do a:release() end
gr.trim()

-- The largest array of bytes that can be had, found by halving.
local low, high = 0, 2 ^ 38
while high - low > 64 * mib do
  local middle = math.floor((low + high) / 2)
  local ok, a = pcall(function() return gr.zeros(middle, "u8"):fill(1) end)
  if ok then
    assert(a:sum() == middle, "a wrong sum")
    a:release()
    low = middle
  else
    high = middle
  end
  gr.trim()
end
print(("largest array: %.2f GB (%.2f GiB)"):format(low / 1e9, low / 2 ^ 30))
print(select(2, pcall(function() return gr.zeros(high, "u8"):fill(1) end)))
print(("in the end: %.0f MiB in use, %.0f kept"):format(now()))
