-- docs/from-numpy.md: its blocks of Lua run and print what stands under them, and so does every call of its tables.
local S = require "spec.support"
local D = require "spec.printed"
local source = dofile("docs/source.lua")
local page = S.read_file("docs/from-numpy.md")
local blocks = D.blocks(page)

-- The rows of the tables: { there, line, here = { calls of this Lua } }, there being NumPy's first call.
local function rows()
  local list, before = {}, false
  for line in page:gmatch("[^\n]*") do
    local there, here = line:match("^|([^|]*)|.*|%s*(.-)%s*|$")
    if here and before and not here:find("^%-+$") then
      local row = { there = there:match("`([^`]+)`"), line = line, here = {} }
      for call, after in here:gmatch("`([^`]+)`([^`]*)") do
        if S.integers or not after:find("from Lua 5.3 on", 1, true) then table.insert(row.here, call) end
      end
      list[#list + 1] = row
    end
    if line ~= "" then before = here end
  end
  return list
end

-- The names that the page gives to the arrays of its tables, and a file of one of them.
local function environment(name)
  local made = D.environment()
  D.run(blocks[1].lua, made, "names")
  made.X:save(name)
  made.name = name
  return made
end

-- What a call gives, in a table; a statement gives what it leaves in a.
local function value(call, made)
  local text = "_result = { " .. call .. " }"
  if not (loadstring or load)(text) then text = call .. " _result = a" end -- luacheck: ignore
  D.run(text, made, "call")
  return made._result
end

-- All numbers in a value, in their order.
local function numbers(x, list)
  list = list or {}
  if type(x) == "table" and x.counts then numbers(x.edges, numbers(x.counts, list))
  elseif type(x) == "table" then
    for _, part in ipairs(x) do numbers(part, list) end
  elseif type(x) == "userdata" then numbers(x:table(), list)
  elseif type(x) == "boolean" then list[#list + 1] = x and 1 or 0
  else list[#list + 1] = x end
  return list
end

-- Evaluates lines of Python by NumPy, and prints the numbers of each, or why there are none.
local numpy = [[
import math, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
def flat(x):
    if isinstance(x, (tuple, list, np.ndarray)):
        return [y for part in x for y in flat(part)]
    return [float(x)]
for line in open(sys.argv[1]):
    a, b = np.array([3, 1, 4, 1, 5, 9], "f4"), np.array([2, 7, 1, 8, 2, 8], "f4")
    k, l = np.array([7, -7, 12, 5, 9, 1], "i4"), np.array([2, 2, 5, 3, 1, 3], "i4")
    names = dict(np=np, a=a, b=b, k=k, l=l, X=a.reshape(2, 3), v=np.array([1, 2, 3], "f4"), mask=a > 2,
                 index=np.array([1, 0, -1]), math=math)
    try:
        try:
            x = eval(line, names)
        except SyntaxError:
            exec(line, names)
            x = None
        print(*map(repr, flat(a if x is None else x)))
    except Exception as error:
        print("no answer:", repr(error))
]]

-- Calls that NumPy alone cannot answer, or not by the same numbers.
local others = { "^rng", "^cp%.", "^mempool", "^scipy", "^np%.save", "^np%.load", "^a%.dtype", "^a%.tobytes",
  "^np%.concatenate", "^for", "^print", "^help" }

local function comparable(row)
  if not row.there or #row.here == 0 then return false end
  for _, pattern in ipairs(others) do
    if row.there:find(pattern) then return false end
  end
  return true
end

-- Answers of NumPy that are positions.
local positions = { ["a.argmin()"] = 1, ["a.argmax()"] = 1, ["np.flatnonzero(mask)"] = 1 }

describe("docs/from-numpy.md", function()
  it("prints what it says", function()
    local made = D.environment()
    made.gr = nil
    assert.is_true(#blocks >= 8)
    for k, block in ipairs(blocks) do
      D.check(block.output or "", D.run(block.lua, made, "block " .. k), "docs/from-numpy.md, block " .. k)
    end
  end)

  it("has tables whose calls run", function()
    local count = 0
    S.with_file(function(name)
      for _, row in ipairs(rows()) do
        for _, call in ipairs(row.here) do
          local ok, message = pcall(value, call, environment(name))
          if not ok then error(row.line .. ": " .. tostring(message), 0) end
          count = count + 1
        end
      end
    end)
    assert.is_true(count > 140)
  end)

  it("has tables whose calls give what NumPy's give", function()
    local list, there, answers = {}, {}, {}
    for _, row in ipairs(rows()) do
      if comparable(row) then
        list[#list + 1] = row
        there[#there + 1] = row.there .. "\n"
      end
    end
    S.with_file(function(program)
      S.write_file(program, numpy)
      S.with_file(function(input)
        S.write_file(input, table.concat(there))
        local pipe = io.popen(("python3 %s %s 2>/dev/null"):format(program, input))
        for line in pipe:lines() do answers[#answers + 1] = line end
        pipe:close()
      end)
    end)
    if #answers == 0 then return pending "no NumPy here" end
    assert.is_true(#list > 110)
    S.with_file(function(name)
      for k, row in ipairs(list) do
        local expected, got = {}, numbers(value(row.here[1], environment(name)))
        if answers[k]:find("^no answer") then error(row.line .. ": " .. answers[k], 0) end
        for word in answers[k]:gmatch("%S+") do
          expected[#expected + 1] = tonumber(word) + (positions[row.there] or 0)
        end
        for at = 1, math.max(#got, #expected) do
          local e, g = expected[at], got[at]
          if not (e and g and math.abs(e - g) <= 2e-6 * math.abs(e)) then
            error(("%s: number %d: %s there, %s here"):format(row.line, at, tostring(e), tostring(g)), 0)
          end
        end
      end
    end)
  end)

  -- What has a counterpart elsewhere: the functions of these chapters of the reference.
  it("names every function that makes arrays or computes with them", function()
    local chapters = source.load()
    local wanted = { make = 1, matrices = 1, elements = 1, reduce = 1, histogram = 1, scan = 1, rows = 1 }
    local missing = {}
    for _, chapter in ipairs(chapters) do
      for _, entry in ipairs(wanted[chapter.name] and chapter.entries or {}) do
        if not page:find("%f[%w_]" .. entry.name .. "%f[^%w_]") then missing[#missing + 1] = entry.name end
      end
    end
    assert.equal("", table.concat(missing, " "))
  end)

  it("has links that lead somewhere, and is where a newcomer looks", function()
    local count = 0
    for link in page:gmatch("%]%(([^)]+)%)") do
      local file, anchor = link:match("^([^#]*)#?(.*)$")
      local found = anchor == ""
      for title in S.read_file("docs/" .. (file == "" and "from-numpy.md" or file)):gmatch("\n##+ ([^\n]+)") do
        found = found or title:lower():gsub("[^%w%s_-]", ""):gsub(" ", "-") == anchor
      end
      assert.is_true(found, link)
      count = count + 1
    end
    assert.is_true(count >= 5)
    assert.truthy(S.read_file("README.md"):find("(docs/from-numpy.md)", 1, true))
    assert.truthy(S.read_file("docs/guide.md"):find("(from-numpy.md)", 1, true))
  end)
end)
