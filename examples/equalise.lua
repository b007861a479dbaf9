-- A dull picture made clear: lua examples/equalise.lua [IMAGE.pgm [OUT.pgm [PICTURE.svg]]]
-- Histogram equalisation: the running share of the levels up to each one is the level that it gets, and the pixels are
-- looked up in that table of 256. The picture itself never comes to Lua.
local gr = require "gpureduce"

-- A binary PGM ("P5", 255 levels): its pixels as an array of u8, its width and its height.
local function read_pgm(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, message end
  local text = file:read("*a")
  file:close()
  local header = text:gsub("#[^\n]*", function(comment) return (" "):rep(#comment) end, 8)
  local width, height, levels, first = header:match "^P5%s+(%d+)%s+(%d+)%s+(%d+)%s()"
  if levels ~= "255" then return nil, path .. ": a binary PGM of 255 levels expected" end
  local pixels = width * height
  if pixels == 0 or #text - first + 1 < pixels then return nil, path .. ": too short for its size" end
  return gr.frombytes(text:sub(first, first + pixels - 1), "u8"), tonumber(width), tonumber(height)
end

-- A picture when none is given: hills in a mist that leaves 50 of 256 levels.
local function mist(width, height)
  local at = { x = gr.row(gr.arange(0, width - 1)), y = gr.column(gr.arange(0, height - 1)), w = width, h = height }
  local hills = gr.fuse "sin(9 * x / w) * 0.1 + sin(31 * x / w) * 0.03 + 0.5 - y / h"(at):eval()
  local light = gr.fuse "hill > 0 and 0.9 - 0.4 * hill or 0.3 + 0.5 * hill" { hill = hills }
  local noise = gr.randn(width * height, { seed = 1 })
  return gr.fuse "clamp(110 + 60 * l + 2 * noise, 0, 255)" { l = light:eval(), noise = noise }:eval():cast "u8",
    width, height
end

local image, width, height
if arg and arg[1] and arg[1] ~= "" then
  image, width, height = read_pgm(arg[1])
  if not image then
    io.stderr:write(tostring(width), "\n")
    os.exit(1)
  end
else
  image, width, height = mist(640, 400)
end
local pixels = width * height

-- The darkest level that occurs becomes 0, the lightest 255 (Gonzalez and Woods, section 3.3).
local function equaliser(of)
  local below = gr.bincount(of, { minlength = 256 }):scan()
  local first = of:count { op = "==", value = of:min() }
  local all = math.max(pixels - first, 1)
  return gr.fuse "round(255 * max(f64(c) - first, 0) / all)" { c = below, first = first, all = all }:eval():cast "u8"
end

-- Contrast: the standard deviation of levels, and how many bits a pixel's level tells.
local function say(name, of)
  local shares = gr.bincount(of, { minlength = 256 }):cast "f64" / pixels
  local bits = -gr.fuse "p > 0 and p * log2(max(p, 1e-300)) or 0" { p = shares }:sum()
  print(("%-9s levels %3d to %3d, mean %6.2f, deviation %5.2f, %.3f bits a pixel"):format(
    name, of:min(), of:max(), of:mean(), math.sqrt(of:var()), bits))
end

local clear = equaliser(image):take(image:cast "i32" + 1)
print(("%d x %d pixels on %s"):format(width, height, gr.backend():match "%S+"))
say("before:", image)
say("after:", clear)

if arg and arg[2] and arg[2] ~= "" then
  local file = assert(io.open(arg[2], "wb"))
  file:write(("P5\n%d %d\n255\n"):format(width, height), clear:bytes())
  assert(file:close())
end
if arg and arg[3] then
  local share = function(of) return gr.bincount(of, { minlength = 256 }):scan():cast "f64" / pixels end
  assert(gr.svg { path = arg[3], title = "Pixels up to each level", xlabel = "level", ylabel = "share",
    xmin = 1, xmax = 256, steps = { { name = "before", y = share(image) }, { name = "after", y = share(clear) } } })
end
