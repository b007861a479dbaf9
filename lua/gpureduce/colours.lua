-- How series are drawn differently: colours, dashes and marks in turn, and the colours for a dark background.
local _, parts = ...

local colours = {}

-- Series, apart for the colour-blind too, on white and on the dark background: spec/colours_spec.lua measures it.
-- 7 colours, 4 dashes and 5 marks meet again after 140 series.
local series = { "#0072b2", "#d55e00", "#009e73", "#000000", "#d884d0", "#33149a", "#8a3018" }
local dashes = { "", "7 3", "2 3", "9 3 2 3" }

-- Each colour of a picture, and what takes its place on a dark background.
local dark = {
  ["#0072b2"] = "#3baffa", ["#d55e00"] = "#fe9a29", ["#009e73"] = "#4dcdae", ["#000000"] = "#f2f2f2",
  ["#d884d0"] = "#995a90", ["#33149a"] = "#5f6aee", ["#8a3018"] = "#c76a37",
  ["#fff"] = "#161a20", ["#222"] = "#e8e8e8", ["#444"] = "#c4c8cc", ["#666"] = "#9aa0a6", ["#bbb"] = "#5c636b",
  ["#ddd"] = "#3a4149", ["#f0f0f0"] = "#242a31",
  ["#9ecae1"] = "#28577d", ["#6baed6"] = "#3f86b8", ["#084594"] = "#8cc8f0", -- bars: pale, full, their outline
}

-- ---- a scale of colours ----

-- Viridis (Smith and van der Walt 2015): as even steps are seen, and by the colour-blind too. On a light background the
-- least is the lightest, on a dark one the darkest, so that much stands out on both.
local viridis = { "440154", "481a6c", "472f7d", "414487", "39568c", "31688e", "2a788e", "23888e", "1f988b", "22a884",
  "35b779", "54c568", "7ad151", "a5db36", "d2e21b", "fde725" }
local LEVELS = 64
local scale = {} -- red, green and blue from 0 to 255, from the darkest on

for k = 1, LEVELS do
  local at = (k - 1) / (LEVELS - 1) * (#viridis - 1)
  local low = math.min(math.floor(at), #viridis - 2)
  scale[k] = {}
  for c = 1, 3 do
    local function part(i) return tonumber(string.sub(viridis[i], 2 * c - 1, 2 * c), 16) end
    scale[k][c] = math.floor(part(low + 1) + (part(low + 2) - part(low + 1)) * (at - low) + 0.5)
  end
end

local function hex(rgb) return string.format("#%02x%02x%02x", rgb[1], rgb[2], rgb[3]) end

for k = 1, LEVELS do dark[hex(scale[LEVELS + 1 - k])] = hex(scale[k]) end

colours.levels = LEVELS

--- The colour of level k of the scale, of 1 to colours.levels, on a light background.
function colours.level(k) return hex(scale[LEVELS + 1 - k]) end

--- Red, green and blue of the same on a dark background, from 0 to 255.
function colours.level_rgb(k) return scale[k] end

--- Which level a share of the scale has, from 0 to 1.
function colours.level_of(share) return math.max(1, math.min(LEVELS, math.floor(share * LEVELS) + 1)) end

-- ---- series ----

local coordinate = function(x) return parts.text.coordinate(x) end

-- Marks of size r around (x, y); the hollow one shows what is under it.
local marks = {
  function(x, y, r)
    return string.format('<circle cx="%s" cy="%s" r="%s"/>', coordinate(x), coordinate(y), coordinate(r))
  end,
  function(x, y, r)
    local d = coordinate(1.7 * r)
    return string.format('<path d="M%s %sh%sv%sh-%sz"/>', coordinate(x - 0.85 * r), coordinate(y - 0.85 * r), d, d, d)
  end,
  function(x, y, r)
    return string.format('<path d="M%s %sl%s %sh-%sz"/>', coordinate(x), coordinate(y - 1.3 * r), coordinate(1.15 * r),
      coordinate(2 * r), coordinate(2.3 * r))
  end,
  function(x, y, r)
    local d = coordinate(1.3 * r)
    return string.format('<path d="M%s %sl%s %sl-%s %sl-%s-%sz"/>',
      coordinate(x), coordinate(y - 1.3 * r), d, d, d, d, d, d)
  end,
  function(x, y, r)
    return string.format('<circle fill="#fff" cx="%s" cy="%s" r="%s"/>', coordinate(x), coordinate(y), coordinate(r))
  end,
}

--- Colour, dash and mark of series k.
function colours.style(k)
  return series[(k - 1) % #series + 1], dashes[(k - 1) % #dashes + 1], marks[(k - 1) % #marks + 1]
end

--- The attributes of a line of series k.
function colours.stroke(k, width)
  local colour, dash = colours.style(k)
  local text = string.format('fill="none" stroke="%s" stroke-width="%s"', colour, coordinate(width or 1.8))
  return dash == "" and text or text .. string.format(' stroke-dasharray="%s"', dash)
end

--- The picture's text for a theme: "light" as it is drawn, "dark", or "auto": as the viewer is set.
function colours.apply(picture, theme)
  if theme == "light" then return picture end
  if theme == "dark" then
    return (string.gsub(picture, '="(#%x+)"', function(colour)
      return string.format('="%s"', dark[colour] or colour)
    end))
  end
  local found, rules = {}, {}
  for kind, colour in string.gmatch(picture, ' (%a+)="(#%x+)"') do
    local rule = dark[colour] and string.format('[%s="%s"]{%s:%s}', kind, colour, kind, dark[colour])
    if rule and not found[rule] then
      found[rule] = true
      rules[#rules + 1] = rule
    end
  end
  local style = "<style>@media (prefers-color-scheme:dark){" .. table.concat(rules) .. "}</style>"
  local head, rest = string.match(picture, "^(<svg[^>]*>)(.*)$")
  return head .. "\n" .. style .. rest
end

return colours
