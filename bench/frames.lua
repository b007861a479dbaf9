-- Frames that are not dropped: a loop of 60 frames a second, idle and with work that it starts in each frame and polls
-- once a frame, in turns, a second at a time, so that what else happens on the machine meets all of them alike.
--
--   lua bench/frames.lua [elements] [frames] [threads]
--
-- By itself 64 Mi f32 are summed, each of the loops has 600 frames (half a minute in all), and on the CPU there is one
-- thread less than there are processors. The other work is a histogram of a frame of 3840 x 2160 f32 whose range is
-- given. What counts is the host's time of a frame: its own work, the call, the poll, and the result.
--
-- The host keeps its processor until the frame ends, as a game without vertical synchronisation does, so that the work
-- has the others. On a busy machine the idle loop has slow frames, too: hence the difference.
local gr = require "gpureduce"

local n, frames = tonumber(arg[1]) or 2 ^ 26, tonumber(arg[2]) or 600
if gr.backend() == "cpu" then gr.threads(tonumber(arg[3]) or math.max(gr.threads() - 1, 1)) end
local FRAME, SEGMENT, PIXELS = 1 / 60, 60, 3840 * 2160

-- The host's own work, some 2 ms: numbers that nobody needs.
local function play()
  local x = 0.5
  for _ = 1, 200000 do x = 3.9 * x * (1 - x) end
  return x
end

local function percentile(list, p) return list[math.max(math.ceil(#list * p / 100), 1)] end

local function show(what, list, scale, unit)
  local line = ("%-40s"):format(what)
  for _, p in ipairs { 50, 90, 99, 100 } do
    line = line .. ("  p%-3d %8.3f"):format(p, percentile(list, p) * scale)
  end
  print(line .. "  " .. unit)
end

-- A loop: start() gives a future, check(result) says whether it is right. At most one future at a time: what a slow
-- machine does not finish in a frame it finishes in the next.
local function loop(what, start, check)
  return { what = what, start = start, check = check, frames = {}, shares = {}, starts = {}, started = 0, done = 0 }
end

local function take(l)
  l.check(l.future:get())
  l.future, l.done = nil, l.done + 1
end

local function touch(l)
  if l.future and l.future:done() then take(l) end
  if l.future then return end
  local began = gr.clock()
  l.future = l.start()
  l.started = l.started + 1
  l.starts[l.started] = gr.clock() - began
end

-- Some frames of a loop; what is under way at their end is waited for between two segments.
local function run(l, count)
  local ends = gr.clock()
  for _ = 1, count do
    ends = math.max(ends + FRAME, gr.clock())
    local began = gr.clock()
    play()
    local played = gr.clock()
    if l.start then touch(l) end
    local now = gr.clock()
    l.frames[#l.frames + 1] = now - began
    l.shares[#l.shares + 1] = now - played
    while gr.clock() < ends do end
  end
  if l.future then take(l) end
end

local elements, frame = gr.rand(n, "f32", { seed = 1 }), gr.rand(PIXELS, "f32", { seed = 2 })
local range = { bins = 256, min = 0, max = 1 }
local sum, first = elements:sum(), gr.histogram(frame, range).counts[1]

local function make_loops()
  return loop("idle"),
    loop("a sum", function() return gr.async(gr.sum, elements) end, function(s) assert(s == sum) end),
    loop("a histogram", function() return gr.async(gr.histogram, frame, range) end,
      function(h) assert(#h.counts == range.bins) end)
end

for _, l in ipairs { make_loops() } do run(l, 10) end -- first calls make threads, and on a GPU graphs and buffers

local idle, sums, histograms = make_loops()
local loops = { idle, sums, histograms }
for round = 1, math.max(math.ceil(frames / SEGMENT), 1) do
  for k = 1, #loops do run(loops[(round + k) % #loops + 1], math.min(SEGMENT, frames)) end
end
assert(gr.histogram(frame, range).counts[1] == first)

print(("%s, %d threads; a sum of %d f32, a histogram of %d f32 in %d bins; %d frames of each loop"):format(gr.backend(),
  gr.threads(), n, PIXELS, range.bins, #idle.frames))
for _, l in ipairs(loops) do
  for _, list in ipairs { l.frames, l.shares, l.starts } do table.sort(list) end
  show(("a frame, %s"):format(l.what), l.frames, 1e3, "ms")
  if l.start then
    show("  of it starting, polling and taking it", l.shares, 1e6, "us")
    show("  of that starting it", l.starts, 1e6, "us")
    print(("  %d started, %d taken; p99 of a frame is %.3f ms longer than the idle loop's"):format(l.started, l.done,
      (percentile(l.frames, 99) - percentile(idle.frames, 99)) * 1e3))
  end
end
print("wanted: p99 with a sum at most 1.5 ms longer; of a frame with a histogram less than 30 us are the call's")
