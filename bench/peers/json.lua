-- JSON, as much of it as the results of a benchmark need: numbers, strings, booleans, arrays and objects.
local json = {}

local function encode(v, out)
  if type(v) == "table" then
    local array = #v > 0 or next(v) == nil
    local keys = {}
    if not array then
      for k in pairs(v) do keys[#keys + 1] = k end
      table.sort(keys)
    end
    out[#out + 1] = array and "[" or "{"
    for i = 1, array and #v or #keys do
      if i > 1 then out[#out + 1] = "," end
      if not array then out[#out + 1] = ("%q:"):format(keys[i]) end
      encode(v[array and i or keys[i]], out)
    end
    out[#out + 1] = array and "]" or "}"
  elseif type(v) == "number" then
    out[#out + 1] = v ~= v and "null" or v == math.floor(v) and ("%.0f"):format(v) or ("%.6g"):format(v)
  elseif type(v) == "string" then
    out[#out + 1] = '"' .. v:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
  else
    out[#out + 1] = tostring(v)
  end
end

function json.encode(v)
  local out = {}
  encode(v, out)
  return table.concat(out)
end

local decode

local function items(s, at, close, put)
  at = s:match("^%s*()", at)
  while s:sub(at, at) ~= close do
    at = put(at)
    at = s:match("^%s*,?%s*()", at)
  end
  return at + 1
end

function decode(s, at)
  at = s:match("^%s*()", at)
  local c = s:sub(at, at)
  if c == "{" then
    local t = {}
    return t, items(s, at + 1, "}", function(from)
      local key, value
      key, from = decode(s, from)
      value, from = decode(s, s:match("^%s*:()", from))
      t[key] = value
      return from
    end)
  elseif c == "[" then
    local t = {}
    return t, items(s, at + 1, "]", function(from)
      t[#t + 1], from = decode(s, from)
      return from
    end)
  elseif c == '"' then
    local stop = at + 1
    while s:sub(stop, stop) ~= '"' do stop = stop + (s:sub(stop, stop) == "\\" and 2 or 1) end
    local text = s:sub(at + 1, stop - 1):gsub("\\u(%x%x%x%x)", function(h) return utf8.char(tonumber(h, 16)) end)
    return text:gsub("\\(.)", "%1"), stop + 1
  end
  local word, after = s:match("^([%w%.%+%-]+)()", at)
  if word == "true" or word == "false" then return word == "true", after end
  return tonumber(word), after
end

function json.decode(s) return (decode(s, 1)) end

return json
