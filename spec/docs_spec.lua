-- The examples of docs/api print what they say; what is written from it is there.
local S = require "spec.support"
local D = require "spec.printed"
local source = dofile("docs/source.lua")
local _, entries, objects = source.load()

describe("docs/api", function()
  for _, entry in ipairs(entries) do
    it(source.full_name(entry), function()
      local name = source.full_name(entry)
      local expected = entry.output:gsub("^\n", ""):gsub("%s+$", "")
      D.check(expected, D.run(entry.example, D.environment(), name), name)
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

describe("the types", function()
  local annotations = dofile("docs/annotations.lua")
  local types = dofile("docs/types.lua")

  it("are annotations that the language server understands", function()
    assert.equal("", table.concat(annotations.check(types.luacats(entries, objects)), "\n"))
  end)

  it("have a check that notices what is none", function()
    for text, message in pairs {
      ["---@overload fun(a: number, gpureduce.add.options?: table): number"] =
        "line 1: ',' or ')' expected at '.add.options?: table): number'",
      ["---@param a nosuch"] = "line 1: unknown type 'nosuch'",
      ["---@return number|"] = "line 1: type expected at ''",
      ["---@prama a number"] = "line 1: unknown annotation '@prama'",
    } do
      assert.equal(message, annotations.check(text .. "\n")[1])
    end
  end)

  it("tell a number from an array by the options", function()
    local text = types.luacats(entries, objects)
    assert.truthy(text:find("---@overload fun(a: gpureduce.array): number\nfunction gr.sum(a, options) end", 1, true))
    local norm = "---@overload fun(a: gpureduce.array, options: gpureduce.norm.options): number|gpureduce.array"
    assert.truthy(text:find(norm, 1, true))
    local teal = types.teal(entries, objects)
    assert.truthy(teal:find("\n  sum: function(a: Array): number\n", 1, true))
    assert.truthy(teal:find("\n    mean: function(self: Array): number\n", 1, true))
  end)
end)
