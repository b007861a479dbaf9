-- Whether src/ is built in layers: no circle between its files, and nothing of Lua in the core.
--
--   lua mk/layers.lua            what is wrong, one line each; fails if anything is
--   lua mk/layers.lua order      the files from the lowest layer up
--
-- x.c and x.h are one file here. A file stands on another when it includes its header, or names a function or a table
-- (gr_...) that the other defines and is not static. Declarations do not count: a header may name what lies above.

local folders = { "src", "src/core", "src/core/formula", "src/core/ranks", "src/capi", "src/binding", "src/backend",
  "src/backend/jit", "src/backend/cuda" }

local function lines_of(command)
  local pipe, list = io.popen(command), {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

-- The text without comments, strings and declarations of what lies elsewhere.
local function code_of(text)
  text = text:gsub("/%*.-%*/", function(comment) return (comment:gsub("[^\n]", " ")) end)
  return (text:gsub('"(\\?.)-"', '""'):gsub("extern[^;]*;", ""))
end

local function name_of(path) return (path:gsub("%.[ch]$", "")) end

-- ---- what each file says ----

local files, defined_in, stands_on = {}, {}, {}

local function read_all()
  for _, folder in ipairs(folders) do
    for _, path in ipairs(lines_of("ls " .. folder .. "/*.[ch] 2>/dev/null")) do
      local file = assert(io.open(path, "rb"))
      local text = file:read("*a")
      file:close()
      files[#files + 1] = { path = path, name = name_of(path), text = text, code = code_of(text) }
    end
  end
end

-- What begins in the first column and is neither static nor a mere declaration: `type gr_name(...) {`, `gr_name[] = {`.
local function find_definitions(file)
  for line in (file.code:gsub(",\n%s+", ", ")):gmatch("[^\n]+") do
    if line:match("^%a") and not line:match("^static") and not line:match("^typedef") then
      local name = line:match("(gr_[%w_]+)%(.*{") or line:match("(gr_[%w_]+)%b[] =") or
        line:match("(gr_[%w_]+) =") or line:match("(gr_[%w_]+);$")
      if name then defined_in[name] = file.name end
    end
  end
end

local function add_edge(from, to, why)
  stands_on[from] = stands_on[from] or {}
  if from ~= to and not stands_on[from][to] then stands_on[from][to] = why end
end

-- Bodies are indented, or lie between the braces of one line.
local function find_uses(file)
  for header in file.text:gmatch('#include "(src/[^"]+)"') do add_edge(file.name, name_of(header), "includes it") end
  for line in file.code:gmatch("[^\n]+") do
    local body = line:match("^%s+%S.*") or line:match("^#define%s.*") or line:match("{.*") or ""
    for name in body:gmatch("gr_[%w_]+") do
      if defined_in[name] then add_edge(file.name, defined_in[name], "names " .. name) end
    end
  end
end

-- ---- circles: strongly connected components, by Tarjan's algorithm ----

local function components()
  local index, low, stack, on_stack, count, found = {}, {}, {}, {}, 0, {}
  local function visit(v)
    count = count + 1
    index[v], low[v] = count, count
    stack[#stack + 1], on_stack[v] = v, true
    for w in pairs(stands_on[v] or {}) do
      if not index[w] then
        visit(w)
        low[v] = math.min(low[v], low[w])
      elseif on_stack[w] then
        low[v] = math.min(low[v], index[w])
      end
    end
    if low[v] ~= index[v] then return end
    local component = {}
    repeat
      local w = table.remove(stack)
      on_stack[w] = nil
      component[#component + 1] = w
    until w == v
    table.sort(component)
    found[#found + 1] = component
  end
  for _, file in ipairs(files) do
    if not index[file.name] then visit(file.name) end
  end
  return found
end

-- ---- what is wrong ----

local faults = 0
local function fault(...)
  faults = faults + 1
  print(string.format(...))
end

local function tell_circle(component)
  local inside = {}
  for _, name in ipairs(component) do inside[name] = true end
  fault("a circle of %d files: %s", #component, table.concat(component, ", "))
  for _, from in ipairs(component) do
    for to, why in pairs(stands_on[from]) do
      if inside[to] then print(string.format("  %s stands on %s: %s", from, to, why)) end
    end
  end
end

-- The core knows no Lua, in its comments either, and no backend by name.
local function check_core(file)
  local n = 0
  for line in (file.text .. "\n"):gmatch("(.-)\n") do
    n = n + 1
    for _, word in ipairs { "lua", "metatable", "upvalue", "userdata", "registry" } do
      if line:lower():find(word, 1, true) then fault("%s:%d: '%s' in the core", file.path, n, word) end
    end
    local above = line:match('#include "(src/%l+)/') or line:match('#include "(src/[^"/]+)"')
    if above and above ~= "src/core" then fault("%s:%d: the core stands on %s", file.path, n, above) end
  end
end

read_all()
for _, file in ipairs(files) do find_definitions(file) end
for _, file in ipairs(files) do find_uses(file) end
for _, component in ipairs(components()) do
  if arg[1] == "order" then print(table.concat(component, "  ")) end
  if #component > 1 then tell_circle(component) end
end
for _, file in ipairs(files) do
  if file.path:match("^src/core/") then check_core(file) end
end
os.exit(faults == 0 and 0 or 1)
