-- The Lua of docs/guide.md and README.md runs, block after block, and the guide's prints what stands under each.
local S = require "spec.support"
local D = require "spec.printed"

-- The pieces of a text: { lua = code, output = text or nil }.
local function blocks(path)
  local list, text = {}, S.read_file(path)
  local at = 1
  while true do
    local _, last, code = text:find("\n```lua\n(.-)\n```\n", at)
    if not last then return list end
    local _, end_of_output, output = text:find("^```\n(.-)\n```\n", last + 1)
    list[#list + 1] = { lua = code, output = output }
    at = end_of_output or last
  end
end

describe("docs/guide.md", function()
  it("prints what it says", function()
    local environment = D.environment()
    environment.gr = nil
    local found = blocks("docs/guide.md")
    assert.is_true(#found >= 10)
    for k, block in ipairs(found) do
      local got = D.run(block.lua, environment, "block " .. k)
      D.check(block.output or "", got, "docs/guide.md, block " .. k)
    end
  end)
end)

describe("README.md", function()
  it("has Lua that runs", function()
    local found = blocks("README.md")
    assert.is_true(#found >= 1)
    for k, block in ipairs(found) do
      local got = D.run(block.lua, D.environment(), "block " .. k)
      if block.output then D.check(block.output, got, "README.md, block " .. k) end
    end
  end)
end)
