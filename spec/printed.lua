-- Runs pieces of Lua from the documentation with print caught, and compares what they print with what is promised.
local S = require "spec.support"

local D = {}

-- A table of globals with a print that keeps its lines.
function D.environment()
  local environment = { lines = {}, gr = S.gr }
  function environment.print(...)
    local parts = {}
    for k = 1, select("#", ...) do parts[k] = tostring((select(k, ...))) end
    table.insert(environment.lines, table.concat(parts, "\t"))
  end
  return setmetatable(environment, { __index = _G })
end

-- Run text; returns what it printed.
function D.run(text, environment, name)
  local chunk
  if setfenv then chunk = setfenv(assert(loadstring(text, "=" .. name)), environment) -- luacheck: ignore
  else chunk = assert(load(text, "=" .. name, "t", environment)) end
  environment.lines = {}
  chunk()
  return table.concat(environment.lines, "\n")
end

-- The pieces of Lua in a page: { lua = code, output = text or nil }, the output being what stands right under the code.
-- Both may be indented, in a list.
function D.blocks(text)
  local list, at = {}, 1
  text = "\n" .. text
  while true do
    local _, last, indent, code = text:find("\n( *)```lua\n(.-)\n *```\n", at)
    if not last then return list end
    local _, end_of_output, output = text:find("^ *```\n(.-)\n *```\n", last + 1)
    local function flush(piece) return piece and (("\n" .. piece):gsub("\n" .. indent, "\n"):sub(2)) end
    list[#list + 1] = { lua = flush(code), output = flush(output) }
    at = end_of_output or last
  end
end

-- "..." in the expected text stands for anything on that line; Lua 5.1 and LuaJIT print 3.0 as 3.
function D.check(expected, got, name)
  if not S.integers then expected = expected:gsub("%f[%d.](%d+)%.0%f[^%d.]", "%1") end
  local pattern = expected:gsub("%p", "%%%0"):gsub("%%%.%%%.%%%.", "[^\n]*")
  if not got:find("^" .. pattern .. "$") then
    error(("%s: expected:\n%s\ngot:\n%s"):format(name, expected, got), 0)
  end
end

return D
