-- The C API: programs that are hosts, made by `make test` beside the module, and the pages that quote them.
local S = require "spec.support"
local header = dofile "docs/header.lua"

local folder = package.cpath:match "([^;]*)/%?%.so"

-- What a program beside the module prints, and its status; nil where there is none.
local function run(name, arguments, environment)
  local program = folder .. "/" .. name
  local file = io.open(program)
  if not file then return nil end
  file:close()
  local pipe = io.popen(("env %s LUA_CPATH='%s' %s %s 2>&1; echo status $?"):format(environment or "", package.cpath,
    program, arguments or ""))
  local text = pipe:read "*a"
  pipe:close()
  local printed, status = text:match "^(.*)status (%d+)\n$"
  return printed, tonumber(status)
end

local function expect(expected, name, ...)
  local text, status = run(name, ...)
  if not text then return pending(name .. " is not here: make test builds it where there is a library of this Lua") end
  -- Lua 5.1 does not know the name of what pcall calls, Lua 5.2 says that it is a global one.
  text = text:gsub("to '%?'", "to 'energy'"):gsub("to '_G%.", "to '")
  assert.equal(expected, text)
  assert.equal(0, status)
end

describe("the C API", function()
  for _, device in ipairs { "cpu", "pretend" } do
    it("does what its pages say on " .. device, function() expect("ok\n", "capi_calls", device) end)
    it("has formulas, operators and what else Lua has on " .. device, function()
      expect("ok\n", "capi_formulas", device)
    end)
    it("gets the bits that Lua gets on " .. device, function() expect("ok\n", "capi_same", device) end)
    it("calls what the host gives it on " .. device, function() expect("ok\n", "capi_hooks", device) end)
    it("refuses misuse in words on " .. device, function() expect("ok\n", "capi_misuse", device) end)
    it("tells threads that share what they may not on " .. device, function()
      expect("ok\n", "capi_race", device .. " 2000 1")
    end)
    it("serves Lua states and others on " .. device, function() expect("ok\n", "capi_states", device) end)
  end
  it("puts nothing off for a stream of the host's", function()
    expect("ok\n", "capi_calls", "pretend", "GPUREDUCE_PRETEND_LOOKS=3")
  end)
end)

describe("the examples of hosts", function()
  local steps = [[
step 1: mean 3.00, highest 6.00
host: 2 of 5 are above 4
step 2: mean 4.00, highest 8.00
host: 2 of 5 are above 4
step 3: mean 5.00, highest 10.00
host: 3 of 5 are above 4
]]
  it("run in C, linked", function() expect(steps, "host_c") end)
  it("run in C, with the module that Lua loads", function() expect(steps, "host_module") end)
  it("run in C++, exceptions and all", function()
    expect([[
energy	84.5
false	the simulation has exploded: energy 84500000.000000
false	bad argument #1 to 'energy' (gpureduce.array expected, got string)
caught: reduce: unknown operation 'summ' (there are: sum, prod, min,...
]], "host_cpp")
  end)
end)

describe("docs/embedding.md", function()
  it("quotes the examples as they are", function()
    local page = S.read_file "docs/embedding.md"
    for file, language in pairs { ["examples/embed/host.c"] = "c", ["examples/embed/host.cpp"] = "cpp" } do
      local quoted = ("```%s\n%s```\n"):format(language, S.read_file(file))
      assert.truthy(page:find(quoted, 1, true), file .. " has changed: the page has to follow")
    end
  end)
end)

describe("the header", function()
  it("names each function once, and the table has them in that order", function()
    local text = S.read_file "include/gpureduce.h"
    local listed, members = {}, {}
    local list = text:match "#define GPUREDUCE_FUNCTIONS.-typedef"
    local struct = text:match "typedef struct gpureduce_api {(.-)} gpureduce_api;"
    for name in list:gmatch "X%(([%l%d_]+)%)" do listed[#listed + 1] = name end
    for name in struct:gmatch "%(%*([%l%d_]+)%)%(" do members[#members + 1] = name end
    assert.same(listed, members)
    assert.truthy(#listed > 40)
    for _, name in ipairs(listed) do
      assert.truthy(text:find("gpureduce_" .. name .. "(", 1, true), name .. " has no declaration")
    end
  end)
  it("keeps what version 1.0 had, where it was", function()
    local first, at = [[
    error version configure open close of_state use device limit stop usage wait trim make wrap keep drop describe
    view matrix host_pointer device_pointer device_done touch get set copy push push_memory test check reduce
    reduce_each scan map fill equal compact take put histogram quantiles softmax rmsnorm transpose covariance
    random detach attach discard from_dlpack to_dlpack]], 0
    local list = S.read_file "include/gpureduce.h":match "#define GPUREDUCE_FUNCTIONS.-typedef"
    local names = list:gmatch "X%(([%l%d_]+)%)"
    for name in first:gmatch "%S+" do
      at = at + 1
      assert.equal(name, names(), "place " .. at)
    end
  end)
  it("is written from its tables", function()
    assert.equal(header.page(), S.read_file "docs/capi.md")
  end)
end)
