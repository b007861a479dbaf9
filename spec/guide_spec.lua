-- The Lua of docs/guide.md and README.md runs, block after block, and the guide's prints what stands under each.
local S = require "spec.support"
local D = require "spec.printed"

describe("docs/guide.md", function()
  it("prints what it says", function()
    local environment = D.environment()
    environment.gr = nil
    local found = D.blocks(S.read_file("docs/guide.md"))
    assert.is_true(#found >= 10)
    for k, block in ipairs(found) do
      local got = D.run(block.lua, environment, "block " .. k)
      D.check(block.output or "", got, "docs/guide.md, block " .. k)
    end
  end)
end)

describe("README.md", function()
  it("has Lua that runs", function()
    local found = D.blocks(S.read_file("README.md"))
    assert.is_true(#found >= 1)
    for k, block in ipairs(found) do
      local got = D.run(block.lua, D.environment(), "block " .. k)
      if block.output then D.check(block.output, got, "README.md, block " .. k) end
    end
  end)
end)
