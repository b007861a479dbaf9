-- The check within LÖVE, from the folder in which make runs: after a frame, in a thread of LÖVE's, which has a Lua
-- state of its own, and in the main thread; and pixels of an image without a copy.

function love.errorhandler(message)
  print(message)
  os.exit(1)
end

local gr = require "gpureduce"
local check = "spec/engines/check.lua"

local frames = 0
function love.draw()
  frames = frames + 1
  if frames < 2 then return end

  local thread = love.thread.newThread(("dofile %q\n"):format(check))
  thread:start()
  thread:wait()
  if thread:getError() then error(thread:getError(), 0) end

  local image = love.image.newImageData(16, 8)
  image:mapPixel(function(x, y) return x / 255, y / 255, 0, 1 end)
  local bytes = gr.wrap(image)
  if bytes.dtype ~= "u8" or bytes:sum() ~= 8 * 120 + 16 * 28 + 128 * 255 then
    error(("an image: %s, sum %s"):format(bytes.dtype, bytes:sum()), 0)
  end

  dofile(check)
  love.event.quit(0)
end
