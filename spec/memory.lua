-- The C module of spec/fixtures/memory.c, or nil and why: its path in GPUREDUCE_SPEC_MEMORY, else compiled for this
-- Lua.
local S = require "spec.support"

local function load_memory()
  local path = os.getenv("GPUREDUCE_SPEC_MEMORY")
  local built
  if not path then
    built = os.tmpname()
    path = built
    local version, folders = S.jit and "jit-2.1" or _VERSION:match("%d.%d"), ""
    for _, root in ipairs { "/usr/include/", "/usr/local/include/" } do
      folders = folders .. " -I" .. root .. "lua" .. version .. " -I" .. root .. "lua-" .. version
    end
    local given = os.getenv("LUA_INCDIR")
    os.execute(("LD_PRELOAD= cc -std=c11 -w -shared -fPIC -I.%s%s -o %s spec/fixtures/memory.c 2>%s.log"):format(
      given and given ~= "" and " -I" .. given or "", folders, path, path))
    os.remove(path .. ".log")
  end
  local open, message = package.loadlib(path, "luaopen_memory")
  if built then os.remove(built) end
  return open and open(), message
end

return load_memory
