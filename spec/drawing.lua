-- What the specs of pictures share: reading SVG back into elements and numbers, and text into lines.
local D = {}

-- Characters, not bytes.
function D.columns(line) return select(2, line:gsub("[^\128-\191]", "")) end

function D.lines_of(text)
  local list = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do list[#list + 1] = line end
  return list
end

-- Every tag closed in order, every attribute quoted, no stray & or <; returns the elements { name, attributes, text }.
function D.parsed(svg)
  local open, elements, at = {}, {}, 1
  while true do
    local first, last, slash, name, attributes, empty = svg:find("<(/?)([%a]+)([^<>]-)(/?)>", at)
    if not first then break end
    local between = svg:sub(at, first - 1)
    assert(not between:find("[<>]") and not between:gsub("&%a+;", ""):find("&"), between)
    if #open > 0 then open[#open].text = open[#open].text .. between end
    if slash == "/" then
      assert(open[#open].name == name, "closed in order: " .. name)
      open[#open] = nil
    else
      local element = { name = name, text = "" }
      local rest = attributes:gsub("([%w:-]+)=\"([^\"]*)\"", function(key, value)
        assert(not element[key], "an attribute twice: " .. key)
        element[key] = value
        return ""
      end)
      assert(not rest:find("%S"), rest)
      elements[#elements + 1] = element
      if empty ~= "/" then open[#open + 1] = element end
    end
    at = last + 1
  end
  assert(#open == 0 and not svg:find("%S", at))
  return elements
end

-- The texts that are numbers, as { value, x, y }: the ticks. Powers are written as 10 and a raised exponent.
function D.ticks(svg, anchor)
  local list = {}
  for x, y, body in svg:gmatch('<text x="([%d.-]+)" y="([%d.-]+)" text%-anchor="' .. anchor .. '">(.-)</text>') do
    local base, exponent = body:match("^(%d+)<tspan[^>]*>(-?%d+)</tspan>$")
    local value = base and tonumber(base) ^ tonumber(exponent) or tonumber(body)
    if value then list[#list + 1] = { value = value, x = tonumber(x), y = tonumber(y) } end
  end
  return list
end

-- From pixels back to numbers by two ticks; log: in ratios.
function D.reader(list, key, shift, log)
  local a, b = list[1], list[#list]
  assert(#list >= 2, "two ticks")
  local f, back = function(v) return v end, function(v) return v end
  if log then f, back = math.log, math.exp end
  return function(pixel)
    local share = (pixel - shift - a[key]) / (b[key] - a[key])
    return back(f(a.value) + share * (f(b.value) - f(a.value)))
  end
end

function D.near(a, b, tolerance) return math.abs(a - b) <= tolerance * math.max(1, math.abs(a)) end

return D
