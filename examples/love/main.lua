-- Three fountains in LÖVE, and the histogram of what they look like, live: love examples/love [FRAMES [PICTURE.png]]
-- Formulas write where the particles are straight into the vertices that LÖVE draws. The picture's pixels are read
-- where LÖVE has them, and its histogram is asked for by a future, at which each frame only looks: none waits for it.
-- FRAMES: how many to draw before it says what it has done and ends. PICTURE: a screenshot of the last one.

-- A game has the module beside it; here it is found by LUA_CPATH.
package.cpath = love.filesystem.getSource() .. "/?.so;" .. package.cpath
local gr = require "gpureduce"

local EACH, BINS, DT = 5000, 64, 1 / 60
local N = 3 * EACH
local width, height = love.graphics.getDimensions()
local scene = love.graphics.newCanvas(width, height)
local limit, picture

-- A vertex is a position, two floats, and a colour, four bytes; each property is an array that steps over the others.
local SIZE = 12
local vertices = love.data.newByteData(N * SIZE)
local mesh = love.graphics.newMesh({ { "VertexPosition", "float", 2 }, { "VertexColor", "byte", 4 } }, N, "points",
  "stream")
local function property(dtype, offset)
  return gr.wrap(vertices, { dtype = dtype, n = N, offset = offset, stride = SIZE })
end
local x, y, alpha = property("f32", 0), property("f32", 4), property("u8", 11)

-- Where a particle is follows from its age, which begins anew when it reaches 1.
local phase = gr.rand(N, "f32", { seed = 1 })
local start, vx, vy = gr.zeros(N), gr.randn(N, "f32", { seed = 2 }), gr.randn(N, "f32", { seed = 3 })
gr.mul(vx, 40, { into = vx })
gr.add(gr.mul(vy, 26, { into = vy }), -255, { into = vy })
local colours = { { 255, 96, 32 }, { 48, 200, 96 }, { 64, 112, 255 } }
for k, colour in ipairs(colours) do
  local from, to = (k - 1) * EACH + 1, k * EACH
  start:slice(from, to):fill(width * k / 4)
  for c = 1, 3 do property("u8", 7 + c):slice(from, to):fill(colour[c]) end
end
local at_x = gr.fuse "start + vx * (2.2 * ((t + phase) % 1)) + 40 * sin(start + 3 * t)"
local at_y = gr.fuse "floor_at + vy * (2.2 * ((t + phase) % 1)) + 100 * (2.2 * ((t + phase) % 1))^2"
local fade = gr.fuse "u8(150 * (1 - (t + phase) % 1))"
local luminance = gr.fuse "0.2126 * r + 0.7152 * g + 0.0722 * b"

local frame, answers, spent, slowest, future = 0, 0, 0, 0, nil
local shown, mean, bright = {}, 0, 0

-- What asking and looking cost the frames.
local function note(seconds)
  spent, slowest = spent + seconds, math.max(slowest, seconds)
end

-- The pixels are bytes r, g, b, a, in memory of LÖVE's that nobody else writes. They become numbers, which are counted:
-- all of it goes on while frames are drawn, in the order in which it was asked for.
local red, green, blue = gr.zeros(width * height), gr.zeros(width * height), gr.zeros(width * height)
local function ask(image)
  for k, channel in ipairs { red, green, blue } do
    gr.async(gr.cast, gr.wrap(image, { n = width * height, offset = k - 1, stride = 4 }), "f32", { into = channel })
  end
  return gr.async(gr.histogram, luminance { r = red, g = green, b = blue }, { bins = BINS, min = 0, max = 256 })
end

local function answer(histogram)
  local counts, sum = histogram.counts:table(), 0
  for k = 1, BINS do
    shown[k] = math.log(1 + counts[k]) / math.log(1 + width * height)
    sum = sum + counts[k] * (k - 0.5) * 256 / BINS
  end
  mean, bright = sum / (width * height), histogram:quantile(0.99)
  answers = answers + 1
end

function love.load(arguments)
  limit, picture = tonumber(arguments[1]), arguments[2]
end

function love.update()
  local t = frame * DT / 2.2
  at_x { start = start, vx = vx, phase = phase, t = t }:eval { into = x }
  at_y { floor_at = height - 40, vy = vy, phase = phase, t = t }:eval { into = y }
  fade { phase = phase, t = t }:eval { into = alpha }
  for _, a in ipairs { x, y, alpha } do a:sync() end -- to LÖVE's memory, from a GPU; elsewhere it is there
  mesh:setVertices(vertices)

  local before = love.timer.getTime()
  if future and future:done() then
    answer(future:get())
    future = nil
  end
  note(love.timer.getTime() - before)
end

local function draw_histogram()
  local bar, top = (width - 40) / BINS, 90
  love.graphics.setColor(0, 0, 0, 0.6)
  love.graphics.rectangle("fill", 10, 10, width - 20, top + 20)
  for k = 1, BINS do
    local grey = 0.25 + 0.75 * k / BINS
    love.graphics.setColor(grey, grey, grey)
    local tall = (shown[k] or 0) * (top - 20)
    love.graphics.rectangle("fill", 20 + (k - 1) * bar, 20 + top - tall, bar - 1, tall)
  end
  love.graphics.setColor(1, 0.8, 0.2)
  local line = 20 + (width - 40) * bright / 256
  love.graphics.line(line, 40, line, 20 + top)
  love.graphics.setColor(1, 1, 1)
  love.graphics.print(("luminance of %d pixels: mean %.1f, 99 %% below %.1f (%d particles on %s)"):format(
    width * height, mean, bright, N, (gr.backend())), 20, 16)
end

function love.draw()
  love.graphics.setCanvas(scene)
  love.graphics.clear(0.02, 0.02, 0.05)
  love.graphics.setBlendMode "add"
  love.graphics.setPointSize(2)
  love.graphics.draw(mesh)
  love.graphics.setCanvas()
  if not future then
    local image = scene:newImageData()
    local before = love.timer.getTime()
    future = ask(image)
    note(love.timer.getTime() - before)
  end
  love.graphics.setBlendMode("alpha", "premultiplied")
  love.graphics.setColor(1, 1, 1)
  love.graphics.draw(scene)
  love.graphics.setBlendMode "alpha"
  draw_histogram()

  frame = frame + 1
  if frame == limit then
    local function finish(image)
      if picture then
        local file = assert(io.open(picture, "wb"))
        file:write(image:encode("png"):getString())
        assert(file:close())
      end
      print(("%d frames, %d histograms on %s; asking and looking took %.2f ms a frame, %.2f ms at once"):format(
        frame, answers, (gr.backend()), 1000 * spent / frame, 1000 * slowest))
      love.event.quit(0)
    end
    love.graphics.captureScreenshot(finish)
  end
end
