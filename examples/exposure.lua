-- The exposure a game would choose for a picture: lua examples/exposure.lua [IMAGE.ppm]
-- A histogram of log-luminance, the mean of its middle 80 %, and the factor that brings it to middle grey.
local gr = require "gpureduce"

local MIDDLE_GREY, TRIM = 0.18, 0.10
local LOWEST, HIGHEST, STEPS = -12, 0, 4 -- log2 of luminance; bins for each doubling

-- A picture when none is given: an evening sky, a sun, dark ground.
local function evening(width, height)
  local parts, char, floor, exp = {}, string.char, math.floor, math.exp
  local function byte(x) return floor(255 * (x < 0 and 0 or x > 1 and 1 or x)) end
  for y = 0, height - 1 do
    for x = 0, width - 1 do
      local u, v = x / width, y / height
      local sun = exp(-300 * ((u - 0.7) ^ 2 + (v - 0.55) ^ 2))
      local r, g, b = 0.9 * v + sun, 0.35 + 0.25 * v + 0.9 * sun, 0.7 - 0.4 * v + 0.5 * sun
      if v > 0.65 + 0.04 * math.sin(9 * u) then r, g, b = 0.06 + 0.05 * u, 0.07, 0.05 end
      parts[#parts + 1] = char(byte(r), byte(g), byte(b))
    end
  end
  return table.concat(parts), width, height
end

-- The bytes of a binary PPM ("P6", 255 levels), its width and height.
local function read_ppm(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, message end
  local text = file:read("*a")
  file:close()
  if text:sub(1, 2) ~= "P6" then return nil, path .. ": not a binary PPM (it does not begin with P6)" end
  local header, at = {}, 3
  while #header < 3 do -- three numbers between white space and comments
    local _, space = text:find("^%s+", at)
    local _, comment = text:find("^#[^\n]*", space and space + 1 or at)
    local first, last = text:find("^%d+", comment and comment + 1 or space and space + 1 or at)
    if first then header[#header + 1] = tonumber(text:sub(first, last)) end
    at = (last or comment or space or #text) + 1
    if at > #text then return nil, path .. ": its header is damaged" end
  end
  local width, height, levels = header[1], header[2], header[3]
  if levels ~= 255 then return nil, path .. ": 255 levels expected, got " .. levels end
  local body = text:sub(at + 1, at + width * height * 3)
  if #body < width * height * 3 or #body == 0 then return nil, path .. ": too short for its size" end
  return body, width, height
end

local body, width, height
if arg and arg[1] then
  body, width, height = read_ppm(arg[1])
  if not body then
    io.stderr:write(tostring(width), "\n")
    os.exit(1)
  end
else
  body, width, height = evening(320, 200)
end
local pixels = width * height

-- sRGB bytes to linear f32: every byte is replaced by the four bytes of its number.
local linear = {}
for level = 0, 255 do
  local v = level / 255
  linear[level + 1] = v <= 0.04045 and v / 12.92 or ((v + 0.055) / 1.055) ^ 2.4
end
local packed, substitute = gr.array(linear, "f32"), {}
for level = 0, 255 do substitute[string.char(level)] = packed:bytes(level + 1, level + 1) end
local rgb = gr.frombytes((body:gsub(".", substitute)), "f32")

-- Luminance of every pixel: each row (r, g, b) times the weights of the eye.
local luminance = gr.dot(rgb, gr.array({ 0.2126, 0.7152, 0.0722 }, "f32"), { rows = pixels })

-- Bins of equal width in log2: a quarter of a stop each. What is darker is counted in `below`.
local edges = {}
for k = 0, (HIGHEST - LOWEST) * STEPS do edges[k + 1] = 2.0 ^ (LOWEST + k / STEPS) end
edges[#edges] = 1.0001 -- white sums to 1 but for rounding
local h = gr.histogram(luminance, { edges = edges })

-- Mean of log-luminance without the darkest and the brightest tenth.
local function trimmed_mean()
  local low, high = TRIM * pixels, (1 - TRIM) * pixels
  local seen, sum, weight = h.below, 0, 0
  local counts = h.counts:table()
  if seen > low then -- black pixels count as the darkest bin
    local part = math.min(seen, high) - low
    sum, weight = LOWEST * part, part
  end
  for k = 1, #counts do
    local part = math.min(seen + counts[k], high) - math.max(seen, low)
    if part > 0 then
      sum = sum + (LOWEST + (k - 0.5) / STEPS) * part
      weight = weight + part
    end
    seen = seen + counts[k]
  end
  return weight > 0 and sum / weight or LOWEST
end

local stops = trimmed_mean()
local exposure = MIDDLE_GREY / 2.0 ^ stops
print(("%d x %d pixels, on %s"):format(width, height, gr.backend()))
print(("luminance: mean %.4f, largest %.4f"):format(luminance:mean(), luminance:max()))
print(h:plot { height = 24 })
print(("trimmed mean of log2 luminance: %.3f (luminance %.4f)"):format(stops, 2.0 ^ stops))
print(("exposure: multiply by %.3f (%+.2f stops)"):format(exposure, math.log(exposure) / math.log(2)))
