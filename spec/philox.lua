-- Philox 4x32-10 in plain Lua, and what the module's random numbers are made of it: 32-bit words and their arithmetic.
local P = {}

local floor = math.floor

function P.xor(a, b)
  local r, unit = 0, 1
  while a > 0 or b > 0 do
    local x, y = a % 2, b % 2
    if x ~= y then r = r + unit end
    a, b, unit = (a - x) / 2, (b - y) / 2, unit * 2
  end
  return r
end

-- High and low word of a 32 x 32 bit product, in halves that doubles hold exactly.
function P.multiply(a, b)
  local ah, al, bh, bl = floor(a / 65536), a % 65536, floor(b / 65536), b % 65536
  local low = al * bl
  local middle = ah * bl + al * bh
  local total = (middle % 65536) * 65536 + low
  return ah * bh + floor(middle / 65536) + floor(total / 4294967296), total % 4294967296
end

function P.philox(c, k)
  local c0, c1, c2, c3, k0, k1 = c[1], c[2], c[3], c[4], k[1], k[2]
  for _ = 1, 10 do
    local h0, l0 = P.multiply(0xD2511F53, c0)
    local h1, l1 = P.multiply(0xCD9E8D57, c2)
    c0, c1, c2, c3 = P.xor(P.xor(h1, c1), k0), l1, P.xor(P.xor(h0, c3), k1), l0
    k0, k1 = (k0 + 0x9E3779B9) % 4294967296, (k1 + 0xBB67AE85) % 4294967296
  end
  return { c0, c1, c2, c3 }
end

-- top: bits 62 (normals) and 63 (no seed given) of the stream, which a caller does not name; mark: bits 61 to 63 of the
-- group, which say what the numbers are for.
function P.words(group, seed, stream, top, mark)
  local function low(x) return x % 4294967296 end
  local function high(x) return floor(x / 4294967296) end
  local counter = { low(group), high(group) + (mark or 0) * 2 ^ 29, low(stream), high(stream) + (top or 0) * 2 ^ 30 }
  return P.philox(counter, { low(seed), high(seed) })
end

return P
