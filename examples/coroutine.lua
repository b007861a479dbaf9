-- A frame loop that never waits for the device: lua examples/coroutine.lua [FRAMES]
-- Tasks are coroutines that ask for results and yield until they are there; each frame resumes them all.
local gr = require "gpureduce"

local frames, tasks = tonumber((arg or {})[1]) or 60, {}

-- Inside a task: the results of a future, once they are there.
local function await(future)
  while not future:done() do coroutine.yield() end
  return future:get()
end

local function spawn(f) tasks[#tasks + 1] = coroutine.create(f) end

local particles = gr.rand(2 ^ 18, { seed = 1 })
local exact = particles:sum()
local log = { rounds = 0, wrong = 0 }

-- Watches the particles' mean, again and again.
spawn(function()
  while true do
    local sum = await(gr.async(gr.sum, particles))
    log.rounds = log.rounds + 1
    if sum ~= exact then log.wrong = log.wrong + 1 end
    coroutine.yield()
  end
end)

-- Needs several numbers, one after the other.
spawn(function()
  local low, high = await(gr.async(gr.minmax, particles))
  local shifted = particles - low
  log.width, log.mean = high - low, await(gr.async(gr.mean, shifted))
  log.same = await(gr.many({ { "max", shifted }, { "min", shifted } }, { async = true })) == high - low
end)

local before = gr.stats().syncs
local shown = 0
while shown < frames or #tasks > 1 do -- on a busy machine the second task may need some frames more
  shown = shown + 1
  for k = #tasks, 1, -1 do
    assert(coroutine.resume(tasks[k]))
    if coroutine.status(tasks[k]) == "dead" then table.remove(tasks, k) end
  end
  -- here a game would draw; this one lets the device work for a millisecond
  local began = gr.clock()
  while gr.clock() - began < 1e-3 do end
end

print(("%d frames, %d results, %d of them wrong"):format(shown, log.rounds, log.wrong))
print(("particles are %.3f wide, their mean is %.3f above the least"):format(log.width, log.mean))
print("waits for the device: " .. gr.stats().syncs - before)
assert(log.same)
