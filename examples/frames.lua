-- Numbers without a stalled frame: lua examples/frames.lua [FRAMES]
-- A coroutine asks for sums of what is simulated and yields until they are there; the loop of frames goes on. It
-- works on two arrays by turns, since writing to an array that is being summed would wait.
local gr = require "gpureduce"

local FRAMES, N = tonumber(arg and arg[1]) or 60, 100000

local function await(future)
  while not future:done() do coroutine.yield() end
  return future:get()
end

-- Two arrays by turns: a frame reads the last and writes the next.
local last, next_one = gr.rand(N, "f64", { seed = 1 }), gr.zeros(N, "f64")
local frame, asked, yielded, seen = 0, 0, 0, {}

local watch = coroutine.wrap(function()
  while true do
    local of_frame = frame
    local mean, largest = await(gr.many({ { "mean", last }, { "max", last } }, { async = true }))
    asked = asked + 1
    seen[#seen + 1] = { of_frame, mean, largest }
    coroutine.yield()
  end
end)

while frame < FRAMES do
  frame = frame + 1
  gr.mul(last, 0.99, { into = next_one })
  last, next_one = next_one, last
  local before = asked
  watch()
  if asked == before then yielded = yielded + 1 end
end

-- Every answer is that of the frame in which it was asked for.
local a, k, wrong = gr.rand(N, "f64", { seed = 1 }), 1, 0
for f = 1, FRAMES do
  gr.mul(a, 0.99, { into = a })
  while seen[k] and seen[k][1] == f do
    if seen[k][2] ~= a:mean() or seen[k][3] ~= a:max() then wrong = wrong + 1 end
    k = k + 1
  end
end
print(("%d frames, %d answers on %s"):format(FRAMES, asked, (gr.backend())))
print(("frames that would have waited: %d"):format(yielded))
print(("wrong answers: %d"):format(wrong))
