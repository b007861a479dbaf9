-- A locale with decimal commas for the specs, made where they run: no package has to hold one. localedef is part of
-- the C library's own package.
local L = {}

local charmap = [[
<code_set_name> ASCII
<mb_cur_max> 1
<comment_char> %
<escape_char> /
CHARMAP
<U002C> /x2c COMMA
<U002E> /x2e FULL STOP
END CHARMAP
]]

local numeric = [[
comment_char %
escape_char /
LC_NUMERIC
decimal_point "<U002C>"
thousands_sep "<U002E>"
grouping 3;3
END LC_NUMERIC
]]

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

--- Whether a locale can be made here: glibc's tool is there.
function L.is_possible()
  local status = os.execute("command -v localedef >/dev/null 2>&1")
  return status == true or status == 0
end

--- Calls f(folder): with LOCPATH=folder in the environment, os.setlocale("comma", "numeric") gives decimal commas.
function L.with_comma(f)
  local folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir " .. folder)
  write(folder .. "/charmap", charmap)
  write(folder .. "/numeric", numeric)
  os.execute(("cd %s && localedef -c -i numeric -f ./charmap --no-archive ./comma 2>/dev/null"):format(folder))
  local ok, message = pcall(f, folder)
  os.execute("rm -rf " .. folder)
  if not ok then error(message, 0) end
end

return L
