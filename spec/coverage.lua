-- Which lines of lua/ the specs run: busted --helper=spec/coverage.lua ...; prints a table at the end.
-- Lines that hold code are those that luac lists; the module's parts are the chunks that are named gpureduce.
local busted = require "busted"

local hits = {}

debug.sethook(function(_, line)
  local source = debug.getinfo(2, "S").source
  local name = source:match("^=gpureduce%.(.*)")
  if not name then return end
  hits[name] = hits[name] or {}
  hits[name][line] = true
end, "l")

local function lines_of(path)
  local lines, pipe = {}, assert(io.popen("luac5.4 -l -l -p " .. path))
  for text in pipe:lines() do
    local line, op = text:match("^%s+%d+%s+%[(%d+)%]%s+(%u+)")
    if line and op ~= "VARARGPREP" then lines[tonumber(line)] = true end
  end
  pipe:close()
  return lines
end

busted.subscribe({ "exit" }, function()
  debug.sethook()
  local all, all_run, pipe = 0, 0, assert(io.popen("ls lua/*/*.lua"))
  for file in pipe:lines() do
    local name, missed, count = file:match("([^/]+)%.lua$"), {}, 0
    for line in pairs(lines_of(file)) do
      count = count + 1
      if not (hits[name] and hits[name][line]) then missed[#missed + 1] = line end
    end
    table.sort(missed)
    all, all_run = all + count, all_run + count - #missed
    print(("%-34s %4d lines %6.1f %%   %s"):format(
      file, count, 100 * (count - #missed) / count, table.concat(missed, ",")))
  end
  pipe:close()
  print(("lua/: %d of %d lines, %.1f %%"):format(all_run, all, 100 * all_run / all))
  return nil, true
end)
