-- Checks LuaCATS annotations, those of library/gpureduce.lua for example: each line must be one that the Lua language
-- server understands (https://luals.github.io/wiki/annotations), and each type that it names must exist.
local annotations = {}

local builtin = {}
local words = "any nil boolean string number integer table function thread userdata lightuserdata unknown self"
for word in words:gmatch("%a+") do builtin[word] = true end

-- A reader of one line: take(pattern) moves on over what matches, need(pattern) raises where it does not.
local function reader(text)
  local at = 1
  local r = {}
  function r.take(pattern)
    local from, to, found = text:find("^%s*(" .. pattern .. ")", at)
    if from then at = to + 1 end
    return found
  end
  function r.need(pattern, what)
    return r.take(pattern) or error(("%s expected at '%s'"):format(what, text:sub(at)), 0)
  end
  function r.rest() return text:sub(at) end
  return r
end

local type_of -- (reader, use): reads a type, calls use(name) for each name in it

local function fields(r, use)
  while not r.take("}") do
    if r.take("%[") then
      type_of(r, use)
      r.need("%]", "']'")
    else r.need("[%a_][%w_]*", "field name") end
    r.take("%?")
    r.need(":", "':'")
    type_of(r, use)
    r.take("[,;]")
  end
end

local function signature(r, use)
  r.need("%(", "'('")
  while not r.take("%)") do
    if not r.take("%.%.%.") then r.need("[%a_][%w_]*", "name of a parameter") end
    r.take("%?")
    if r.take(":") then type_of(r, use) end
    if not r.take(",") and not r.rest():find("^%s*%)") then error("',' or ')' expected at '" .. r.rest() .. "'", 0) end
  end
  if not r.take(":") then return end
  repeat type_of(r, use) until not r.take(",")
end

local function single(r, use)
  if r.take("{") then fields(r, use)
  elseif r.take("%(") then
    type_of(r, use)
    r.need("%)", "')'")
  elseif r.take('"[^"]*"') or r.take("'[^']*'") or r.take("%-?%d+") then return
  elseif r.take("fun%f[^%w_]") then signature(r, use)
  else use(r.need("[%a_][%w_.]*", "type")) end
end

function type_of(r, use)
  repeat
    single(r, use)
    while r.take("%[%]") or r.take("%?") do end -- luacheck: ignore
  until not r.take("|")
end

local kinds = {
  meta = function() end,
  alias = function(r, use) r.need("[%a_][%w_.]*", "name") type_of(r, use) end,
  class = function(r) r.need("[%a_][%w_.]*", "name") end,
  field = function(r, use)
    if r.take("%[") then
      type_of(r, use)
      r.need("%]", "']'")
    else r.need("[%a_][%w_]*%??", "name") end
    type_of(r, use)
  end,
  param = function(r, use) r.need("[%a_][%w_]*%??", "name") type_of(r, use) end,
  ["return"] = type_of,
  vararg = type_of,
  overload = function(r, use)
    r.need("fun%f[^%w_]", "'fun'")
    signature(r, use)
    if r.rest():find("%S") then error("nothing expected at '" .. r.rest() .. "'", 0) end
  end,
  operator = function(r, use)
    r.need("%a+", "operator")
    if r.take("%(") then
      type_of(r, use)
      r.need("%)", "')'")
    end
    r.need(":", "':'")
    type_of(r, use)
  end,
}

--- What is wrong with the annotations in a text: a list of sentences.
function annotations.check(text)
  local defined, wrong, number = {}, {}, 0
  for name in text:gmatch("%-%-%-@%a+ ([%a_][%w_.]*)") do defined[name] = true end
  local function use(name)
    if not builtin[name] and not defined[name] then error("unknown type '" .. name .. "'", 0) end
  end
  for line in text:gmatch("([^\n]*)\n") do
    number = number + 1
    local kind, rest = line:match("^%-%-%-@(%a+)(.*)$")
    local check = kinds[kind]
    local ok, message = true, nil
    if kind and not check then ok, message = false, "unknown annotation '@" .. kind .. "'" end
    if check then ok, message = pcall(check, reader(rest), use) end
    if not ok then wrong[#wrong + 1] = ("line %d: %s"):format(number, message) end
  end
  return wrong
end

return annotations
