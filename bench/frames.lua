-- Frames that are not dropped: a loop of 60 frames a second that starts a reduction in each and polls once a frame,
-- beside the same loop without. What counts is the host's time of a frame: its own work, the call that starts the
-- reduction, and the poll.
--
--   lua bench/frames.lua [elements] [frames] [threads]
--
-- By itself 64 Mi f32, 600 frames, and one thread less than there are processors.
--
-- The host keeps its processor until the frame ends, as a game without vertical synchronisation does, so that the
-- reduction has the others. On a busy machine the idle loop has slow frames, too: hence the difference.
local gr = require "gpureduce"

local n, frames = tonumber(arg[1]) or 2 ^ 26, tonumber(arg[2]) or 600
if gr.backend() == "cpu" then gr.threads(tonumber(arg[3]) or math.max(gr.threads() - 1, 1)) end
local FRAME = 1 / 60

-- The host's own work, some 2 ms: numbers that nobody needs.
local function play()
  local x = 0.5
  for _ = 1, 200000 do x = 3.9 * x * (1 - x) end
  return x
end

local function percentile(list, p) return list[math.max(math.ceil(#list * p / 100), 1)] end

local function show(what, list, scale, unit)
  table.sort(list)
  local line = ("%-34s"):format(what)
  for _, p in ipairs { 50, 90, 99, 100 } do
    line = line .. ("  p%-3d %8.3f"):format(p, percentile(list, p) * scale)
  end
  print(line .. "  " .. unit)
end

-- Times of `frames` frames; work(k) is what the frame does besides playing.
local function run(work)
  local times, ends = {}, gr.clock()
  for k = 1, frames do
    ends = math.max(ends + FRAME, gr.clock())
    local began = gr.clock()
    play()
    work(k)
    times[k] = gr.clock() - began
    while gr.clock() < ends do end
  end
  return times
end

local a = gr.rand(n, "f32", { seed = 1 })
local sum = a:sum()
play()

local idle = run(function() end)
local starts, future, done = {}, nil, 0
local busy = run(function()
  if future and future:done() then
    assert(future:get() == sum)
    future, done = nil, done + 1
  end
  if future then return end -- one at a time: what a slow machine does not finish in a frame it finishes in the next
  local began = gr.clock()
  future = gr.async(gr.sum, a)
  starts[#starts + 1] = gr.clock() - began
end)
if future then assert(future:get() == sum) end

print(("%d f32 on %s, %d threads, %d frames: %d reductions started, %d seen done"):format(n, gr.backend(), gr.threads(),
  frames, #starts, done))
show("a frame without a reduction", idle, 1e3, "ms")
show("a frame with one", busy, 1e3, "ms")
show("the call that starts it", starts, 1e6, "us")
print(("p99 of a frame is %.3f ms longer (at most 1.5 wanted)"):format(
  (percentile(busy, 99) - percentile(idle, 99)) * 1e3))
