-- The examples of docs/api print what they say; what is written from it is there.
local S = require "spec.support"
local source = dofile("docs/source.lua")
local _, entries, objects = source.load()

-- Run text with print caught; returns what it printed.
local function printed(text, name)
  local lines = {}
  local environment = setmetatable({
    gr = S.gr,
    print = function(...)
      local parts = {}
      for k = 1, select("#", ...) do parts[k] = tostring((select(k, ...))) end
      lines[#lines + 1] = table.concat(parts, "\t")
    end,
  }, { __index = _G })
  local chunk
  if setfenv then chunk = setfenv(assert(loadstring(text, "=" .. name)), environment) -- luacheck: ignore
  else chunk = assert(load(text, "=" .. name, "t", environment)) end
  chunk()
  return table.concat(lines, "\n")
end

-- "..." in the expected text stands for anything on that line; Lua 5.1 and LuaJIT print 3.0 as 3.
local function matches(expected, got)
  if not S.integers then expected = expected:gsub("(%d)%.0%f[^%d]", "%1") end
  local pattern = expected:gsub("%p", "%%%0"):gsub("%%%.%%%.%%%.", "[^\n]*")
  return got:find("^" .. pattern .. "$") ~= nil
end

describe("docs/api", function()
  for _, entry in ipairs(entries) do
    it(source.full_name(entry), function()
      local expected = entry.output:gsub("^\n", ""):gsub("%s+$", "")
      local got = printed(entry.example, source.full_name(entry))
      if not matches(expected, got) then error(("expected:\n%s\ngot:\n%s"):format(expected, got), 0) end
    end)
  end

  it("describes every public function, and nothing else", function()
    assert.equal("", table.concat(source.compare(S.gr, entries, objects), "\n"))
  end)

  it("says so when a function has no entry, or an entry no function", function()
    local wrong = source.compare({ sum = print, nosuch = print }, { { name = "sum" }, { name = "gone" } }, {})
    assert.equal(2, #wrong)
    assert.truthy(wrong[2]:find("gr.nosuch has no entry: describe it in a table of docs/api/", 1, true))
    assert.equal("docs/api describes 'gone', which the module does not have", wrong[1])
  end)

  it("has short first sentences", function()
    for _, entry in ipairs(entries) do
      local first = entry.text:match("^%s*(.-[.:])%f[%s%z]")
      assert.truthy(first and #first < 170, source.full_name(entry))
    end
  end)
end)
