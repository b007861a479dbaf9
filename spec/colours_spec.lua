-- Series are told apart by colour, by the colour-blind too, on white and on the dark background.
local S = require "spec.support"
local gr = S.gr

local function linear(hex)
  local rgb = {}
  for k = 1, 3 do
    local c = tonumber(hex:sub(2 * k, 2 * k + 1), 16) / 255
    rgb[k] = c <= 0.04045 and c / 12.92 or ((c + 0.055) / 1.055) ^ 2.4
  end
  return rgb
end

local function product(m, v)
  local out = {}
  for i = 1, 3 do out[i] = math.min(1, math.max(0, m[i][1] * v[1] + m[i][2] * v[2] + m[i][3] * v[3])) end
  return out
end

-- Oklab (Ottosson 2020): distances are about as large as they are seen.
local function oklab(rgb)
  local lms = product({ { 0.4122214708, 0.5363325363, 0.0514459929 }, { 0.2119034982, 0.6806995451, 0.1073969566 },
    { 0.0883024619, 0.2817188376, 0.6299787005 } }, rgb)
  for k = 1, 3 do lms[k] = lms[k] ^ (1 / 3) end
  local m, out = { { 0.2104542553, 0.7936177850, -0.0040720468 }, { 1.9779984951, -2.4285922050, 0.4505937099 },
    { 0.0259040371, 0.7827717662, -0.8086757660 } }, {}
  for i = 1, 3 do out[i] = m[i][1] * lms[1] + m[i][2] * lms[2] + m[i][3] * lms[3] end
  return out
end

-- How colours are seen: by most, and without one kind of cones (Machado, Oliveira and Fernandes 2009).
local eyes = {
  { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
  { { 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 }, { -0.003882, -0.048116, 1.051998 } },
  { { 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 }, { -0.011820, 0.042940, 0.968881 } },
}

local function distance(a, b)
  local least = math.huge
  for _, eye in ipairs(eyes) do
    local p, q = oklab(product(eye, linear(a))), oklab(product(eye, linear(b)))
    least = math.min(least, math.sqrt((p[1] - q[1]) ^ 2 + (p[2] - q[2]) ^ 2 + (p[3] - q[3]) ^ 2))
  end
  return least
end

local function contrast(a, b)
  local function light(hex)
    local rgb = linear(hex)
    return 0.2126 * rgb[1] + 0.7152 * rgb[2] + 0.0722 * rgb[3]
  end
  a, b = light(a), light(b)
  return (math.max(a, b) + 0.05) / (math.min(a, b) + 0.05)
end

-- The colours of seven series, as the picture has them.
local function series(theme)
  local lines = {}
  for k = 1, 7 do lines[k] = { name = "line " .. k, y = { k, k } } end
  local svg, found = gr.svg { lines = lines, theme = theme }, {}
  for colour in svg:gmatch('stroke="(#%x+)"[^>]*linejoin') do found[#found + 1] = colour end
  return found, svg
end

describe("colours", function()
  for _, theme in ipairs { "light", "dark" } do
    it("of seven series differ on a " .. theme .. " background", function()
      local found, svg = series(theme)
      assert.equal(7, #found)
      local ground = svg:match('<rect width="%d+" height="%d+" fill="(#%x+)"/>')
      if #ground == 4 then ground = ground:gsub("%x", "%0%0") end
      for i = 1, 7 do
        for j = 1, i - 1 do
          assert.is_true(distance(found[i], found[j]) > 0.1, found[i] .. " " .. found[j])
        end
        assert.is_true(contrast(found[i], ground) > 2.4, found[i])
      end
    end)
  end

  it("follow the viewer unless a theme is asked", function()
    local _, light = series("light")
    local _, dark = series("dark")
    local _, auto = series()
    assert.is_nil(light:find("<style", 1, true))
    assert.is_nil(dark:find('"#fff"', 1, true))
    assert.equal(light, (auto:gsub("<style>.-</style>\n", "")))
    local rules, count = auto:match("<style>@media %(prefers%-color%-scheme:dark%){(.-)}</style>"), 0
    local seen = {}
    for kind, from, to in rules:gmatch('%[(%a+)="(#%x+)"%]{%a+:(#%x+)}') do
      assert.truthy(auto:find(kind .. '="' .. from .. '"', 1, true))
      seen[from], count = to, count + 1
    end
    assert.is_true(count > 8)
    assert.equal(dark, (light:gsub('="(#%x+)"', function(colour) return '="' .. seen[colour] .. '"' end)))
  end)

  -- The scale of heat maps, from the least to the greatest, as the picture has it.
  local function scale(theme)
    local svg, list = gr.svg { heat = gr.arange(1, 4):matrix(2), theme = theme }, {}
    for colour in svg:gmatch('fill="(#%x+)" d="M[%d.]+ [%d.]+h14v') do list[#list + 1] = colour end
    assert.equal(64, #list)
    return list
  end

  it("of a scale are as far from each other as their numbers are, lighter or darker all the way", function()
    for _, theme in ipairs { "light", "dark" } do
      local list, sign = scale(theme), theme == "light" and -1 or 1
      for e, eye in ipairs(eyes) do
        local steps, total, before = {}, 0, nil
        for k, colour in ipairs(list) do
          local lab = oklab(product(eye, linear(colour)))
          if before then
            assert.is_true((lab[1] - before[1]) * sign > 0, theme .. " " .. e .. " " .. k)
            local d = math.sqrt((lab[1] - before[1]) ^ 2 + (lab[2] - before[2]) ^ 2 + (lab[3] - before[3]) ^ 2)
            steps[#steps + 1], total = d, total + d
          end
          before = lab
        end
        for k = 1, #steps - 3 do -- four neighbours together: a step of one is rounded to whole numbers
          local four = steps[k] + steps[k + 1] + steps[k + 2] + steps[k + 3]
          local share = four / total * #steps / 4
          assert.is_true(share > 0.4 and share < 2.2, ("%s, eye %d, level %d: %.3f"):format(theme, e, k, share))
        end
      end
    end
  end)
end)
