-- What is in a file? Its bytes as a histogram: lua examples/bytes.lua FILE
local gr = require "gpureduce"

local path = arg and arg[1]
if not path then
  io.stderr:write("usage: lua examples/bytes.lua FILE\n")
  os.exit(2)
end

-- Load it as bytes. (gr.load would read the numbers in a .npy file; here even those are only bytes.)
local data, message
if path:match("%.npy$") then
  local file
  file, message = io.open(path, "rb")
  if file then
    data = gr.frombytes(file:read("*a"), "u8")
    file:close()
  end
else
  data, message = gr.load(path, "u8")
end
if not data then
  io.stderr:write(tostring(message), "\n")
  os.exit(1)
end

print(("%s: %d bytes, read on %s"):format(path, #data, gr.backend()))
if #data == 0 then os.exit(0) end

-- One bin for each of the 256 values.
local h = gr.histogram(data, { bins = 256, modulo = true })
local counts = h.counts:table()

-- Entropy: how many bits a perfect code needs for each byte.
local entropy = 0
for _, count in ipairs(counts) do
  if count > 0 then
    local p = count / #data
    entropy = entropy - p * math.log(p) / math.log(2)
  end
end
print(("entropy: %.4f bits a byte; mean %.2f, %d of 256 values occur"):format(entropy, data:mean(), h.counts:count()))

local function name(byte)
  if byte == 32 then return "space" end
  if byte > 32 and byte < 127 then return "'" .. string.char(byte) .. "'" end
  return ({ [0] = "nul", [9] = "tab", [10] = "newline", [13] = "return", [255] = "all ones" })[byte] or ""
end

local order = {}
for byte = 0, 255 do order[byte + 1] = byte end
table.sort(order, function(x, y)
  local cx, cy = counts[x + 1], counts[y + 1]
  if cx ~= cy then return cx > cy end
  return x < y
end)
print("most common bytes:")
for k = 1, 8 do
  local count = counts[order[k] + 1]
  if count == 0 then break end
  print(("  %3d  0x%02x  %-9s %12d  %5.2f %%"):format(order[k], order[k], name(order[k]), count, 100 * count / #data))
end

print("bytes by value, eight values a bar:")
print(h:plot())
