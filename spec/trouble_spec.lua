-- docs/trouble.md and the code say the same: a message with Lua under it is raised by it, every other one is accounted
-- for here, and links lead somewhere.
local S = require "spec.support"
local D = require "spec.printed"
local gr = S.gr
local page = S.read_file("docs/trouble.md")

-- What stands between one heading and the next: { title, message = or nil, text }.
local function sections()
  local list = {}
  for title, text in (page:gsub("\n##+ ", "\n\0") .. "\0"):gmatch("%z([^\n]+)(%Z*)") do
    local message = title:match("^``([^\n]+)``$") or title:match("^`([^`]+)`$")
    list[#list + 1] = { title = title, message = message, text = text }
  end
  return list
end

local function child(environment, text)
  return (S.child_text(environment, "local gr = require 'gpureduce'\n" .. text))
end

local function with_text(text, f)
  local said
  S.with_file(function(name)
    S.write_file(name, text)
    said = f(name)
  end)
  return said
end

-- Messages that take another process, another device or another answer than an error: what shows them.
local shown = {
  ["module 'gpureduce' not found:..."] = function()
    return (S.child_text({}, "package.cpath = '' print(select(2, pcall(require, 'gpureduce')))"))
  end,
  ["gpureduce: no device '...', which GPUREDUCE_DEVICE asks for..."] = function()
    return child({ GPUREDUCE_DEVICE = "cuda:99" }, "print(select(2, pcall(gr.ones, 3)))")
  end,
  ["chosen by GPUREDUCE_DEVICE"] = function()
    return child({ GPUREDUCE_DEVICE = "cpu" }, "print(select(2, gr.backend()))")
  end,
  ["bad argument #... to '...' (array on device '...' expected, got one on '...': copy() brings it "
    .. "to the device in use)"] = function()
    local b, message
    S.on("pretend", function() b = gr.ones(3) end)
    S.on("cpu", function() message = S.message(gr.dot, gr.ones(3), b) end)
    return message
  end,
  ["gpureduce: '...' is refused: gr.safe allows no ..."] = function()
    return child({}, "gr.safe() print(select(2, pcall(gr.load, 'README.md', 'u8')))")
  end,
  ["...: No such file or directory"] = function() return select(2, gr.load("no such file", "u8")) end,
  ["bad argument #1 to 'load' (...: ... bytes are not a whole number of f32 elements)"] = function()
    return with_text("hello", function(name) return S.message(gr.load, name) end)
  end,
  ["bad argument #1 to 'load' (...: NPY dtype '...' is not supported)"] = function()
    return S.message(gr.load, "spec/fixtures/complex.npy")
  end,
  ["bad argument #1 to 'csv' (...: '...' is not a number)"] = function()
    return with_text("1\nhello\n", function(name) return S.message(gr.csv, name) end)
  end,
  ["gpureduce: interrupted"] = function()
    return child({ GPUREDUCE_DEVICE = "cpu" },
      "gr.safe { seconds = 0.01 } print(select(2, pcall(gr.linspace, 0, 1, 1e8)))")
  end,
  ["gpureduce: ...: the device is lost..."] = function()
    return child({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_LOSE_AT = "1" },
      "print(select(2, pcall(gr.sum, gr.ones(3))))")
  end,
  ["the device before was lost"] = function()
    return child({ GPUREDUCE_DEVICE = "pretend", GPUREDUCE_PRETEND_LOSE_AT = "1" },
      "pcall(gr.sum, gr.ones(3)) gr.ones(3) print(select(2, gr.backend()))")
  end,
  ["gpureduce: the Lua state is closing"] = function()
    return (S.child_text({}, [[
      local gr
      local function finalize() io.write(tostring(select(2, pcall(gr.ones, 3))), "\n") end
      if newproxy then
        KEEP = newproxy(true)
        getmetatable(KEEP).__gc = finalize
      else
        KEEP = setmetatable({}, { __gc = finalize })
      end
      gr = require "gpureduce"
      gr.ones(3)]]))
  end,
}

-- Messages that a build, another Lua or a GPU's machine gives: the file that has their text on a line.
local written = {
  ["no Lua '...' on PATH (LUA=... names another; make deps installs lua5.4)"] = "mk/lua.mk",
  ["no lua.h for Lua ...: install its headers (make deps-test), or say LUA_INCDIR=..."] = "mk/lua.mk",
  ["CPU alone (no nvcc)"] = "Makefile",
  ["gpureduce: this module is for Lua ..., this is Lua ... (make LUA=... builds it for another)"] =
    "src/binding/gpureduce.c",
  ["gpureduce: needs a Lua whose numbers are doubles"] = "src/binding/gpureduce.c",
  ["built without CUDA"] = "src/backend/nocuda.c",
  ["no NVIDIA driver"] = "src/backend/cuda/device.c",
  ["the NVIDIA driver is for CUDA ..., this build needs ... or later"] = "src/backend/cuda/device.c",
  ["no CUDA device (none there, or CUDA_VISIBLE_DEVICES hides them)"] = "src/backend/cuda/device.c",
  ["this build has no kernels for ... (compute capability ...)"] = "src/backend/cuda/device.c",
  ["CUDA does not start: ..."] = "src/backend/cuda/device.c",
}

-- Messages of other programs: compilers, loaders.
local of_others = {
  ["nvcc fatal   : Unsupported gpu architecture 'compute_...'"] = true,
  ["error: -- unsupported GNU version! gcc versions later than ... are not supported!"] = true,
  ["bad argument #1 to 'ipairs' (table expected, got userdata)"] = true, -- of Lua 5.1 and LuaJIT: prompt_spec.lua
  ["undefined symbol: lua..."] = true, -- mk/check_luas.sh meets it
  ["dynamic libraries not enabled; check your Lua installation"] = true,
  ["version `GLIBC_...' not found"] = true,
}

-- The message as a pattern for a whole text (or a part of one), "..." standing for anything.
local function pattern(message) return (message:gsub("%p", "%%%0"):gsub("%%%.%%%.%%%.", ".-")) end

-- In a source a format's %s, or a variable of make, stands for "..."; the texts between are on one line, in this order.
local function is_written(message, file)
  local wanted = pattern(message)
  for line in S.read_file(file):gmatch("[^\n]+") do
    if line:find(wanted) then return true end
  end
  return false
end

-- The messages without Lua: the headings of sections, and the first cells of tables.
local function without_lua()
  local list = {}
  for _, section in ipairs(sections()) do
    if section.message and #D.blocks(section.text) == 0 then list[#list + 1] = section.message end
    for cell in section.text:gmatch("\n| `([^`]+)` |") do list[#list + 1] = cell end
  end
  return list
end

describe("docs/trouble.md", function()
  for _, section in ipairs(sections()) do
    local blocks = D.blocks(section.text)
    if #blocks > 0 then
      it(section.title, function()
        local environment = D.environment()
        for k, block in ipairs(blocks) do
          if section.message and k == 1 then
            local said = S.message(D.run, block.lua, environment, "row")
            if not said then error("no error was raised", 0) end
            D.check(section.message, said, section.title)
          else
            collectgarbage()
            collectgarbage()
            D.check(block.output or "", D.run(block.lua, environment, "row"), section.title)
          end
        end
      end)
    end
  end

  for message, show in pairs(shown) do
    it("shows: " .. message, function()
      local said = tostring(show())
      assert.truthy(said:find(pattern(message)), said)
    end)
  end

  for message, file in pairs(written) do
    it("is in " .. file .. ": " .. message, function() assert.is_true(is_written(message, file)) end)
  end

  it("has no message without Lua but these, and all of these", function()
    local open = {}
    for _, of in ipairs { shown, written, of_others } do
      for message in pairs(of) do open[message] = true end
    end
    for _, message in ipairs(without_lua()) do
      if not open[message] then error("nothing accounts for: " .. message, 0) end
      open[message] = nil
    end
    assert.is_nil((next(open)))
  end)

  it("has links that lead somewhere", function()
    local anchors, count = {}, 0
    for _, file in ipairs { "trouble.md", "guide.md", "reference.md" } do
      for title in S.read_file("docs/" .. file):gmatch("\n##+ ([^\n]+)") do
        local slug = title:lower():gsub("[^%w%s_-]", ""):gsub(" ", "-")
        anchors[file .. "#" .. slug] = true
      end
    end
    for link in page:gmatch("%]%(([^)]+)%)") do
      local file, anchor = link:match("^([^#]*)(#?.*)$")
      if anchor == "" then assert(io.open("docs/" .. file)):close()
      elseif not anchors[(file == "" and "trouble.md" or file) .. anchor] then error("no place " .. link, 0) end
      count = count + 1
    end
    assert.is_true(count > 10)
  end)

  it("is where the README and the guide point", function()
    assert.truthy(S.read_file("README.md"):find("(docs/trouble.md)", 1, true))
    assert.truthy(S.read_file("docs/guide.md"):find("(trouble.md)", 1, true))
  end)
end)
