-- Whether the files and names that the documentation speaks of are there: lua mk/names.lua prints what is not, one line
-- each, and fails if anything is missing.
--
-- A file: what begins with a folder of the tree (`src/core/ops.c`, `kernels/cuda/reduce/plan*.cuh`), or ends as sources
-- do (`grid/combine.cuh`), which is then the end of some file's path. A link: what it points to, from the page's
-- folder. A name: what begins with gr_, GR_ or gpureduce_, and in pages about the tree as it is whatever is code and
-- has an underscore; it occurs in the sources, outside of comments, or macros paste it (`gr_entry_##NAME`). NAME and
-- NN (`vec_NAME.h`) stand for what the reader puts there. Findings may name what was tried and is gone.

local pages = "README.md CONTRIBUTING.md docs/*.md docs/findings/*.md kernels/cuda/README.md"
local endings = { c = 1, h = 1, cu = 1, cuh = 1, inc = 1, mk = 1 }
local of_the_tree = { lua = 1, sh = 1, py = 1, txt = 1 } -- on pages for who works on it; on others the reader's own
local of_libraries = { ["lua.h"] = 1, ["lauxlib.h"] = 1, ["lualib.h"] = 1, ["mpi.h"] = 1, ["stdio.h"] = 1,
  ["stdlib.h"] = 1, ["immintrin.h"] = 1, ["cuda_fp16.h"] = 1, ["cuda_bf16.h"] = 1 }

local function lines_of(command)
  local pipe, list = assert(io.popen(command)), {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read("*a") or ""
  if file then file:close() end
  return text
end

-- ---- what there is ----

local there, ends_of, tops = {}, {}, {}
local words, pasted, rows = {}, {}, {} -- of the code; what macros put before a name; what stands in rows of tables
local code = { src = 1, kernels = 1, include = 1, bench = 1, spec = 1, lua = 1, examples = 1, mk = 1, Makefile = 1 }

-- A path, its folders, and what each ends with.
local function add_path(path)
  while path and not there[path] do
    there[path] = true
    local rest = path
    while rest do
      ends_of[rest] = true
      rest = rest:match("/(.+)$")
    end
    path = path:match("^(.+)/")
  end
end

local function add_words(path)
  local text = read(path)
  if path:find("%.[ch]u?h?$") or path:find("%.inc$") then
    text = text:gsub("/%*.-%*/", " "):gsub("//[^\n]*", "")
  end
  for word in text:gmatch("[%a_][%w_]*") do words[word] = true end
  for prefix in text:gmatch("([%a_][%w_]*)%s*##") do pasted[prefix] = true end
  for row in text:gmatch("%f[%w]X(%b())") do
    for word in row:gmatch("[%w_]+") do rows[word] = true end
  end
end

for _, path in ipairs(lines_of("git ls-files --cached --others --exclude-standard 2>/dev/null || " ..
  "find . -type f -not -path './build/*' | sed 's,^./,,'")) do
  add_path(path)
  local top = path:match("^([^/]+)/")
  tops[top or ""] = true
  if code[top or path] and not path:find("%.md$") and not path:find("%.txt$") and path ~= "mk/names.lua" then
    add_words(path)
  end
end

-- ---- what the pages say ----

local function some(set, glob)
  local pattern = "^" .. glob:gsub("[%-%.%+]", "%%%0"):gsub("%*", "[^/]*") .. "$"
  for name in pairs(set) do
    if name:find(pattern) then return true end
  end
  return false
end

local function exists(set, name)
  if name:find("*", 1, true) then return some(set, name) end
  return set[name] or false
end

local function is_name(name)
  if words[name] or (name:find("_$") and some(words, name .. "*")) then return true end
  for prefix in pairs(pasted) do
    local rest = name:sub(1, #prefix) == prefix and name:sub(#prefix + 1)
    if rows[rest] and prefix:find("_$") and prefix:lower() ~= "gr_" then return true end
  end
  return false
end

local faults = 0
local function fault(page, line, kind, what)
  faults = faults + 1
  print(string.format("%s:%d: no %s %s", page, line, kind, what))
end

-- vec_NAME.h, gr_NAME_args
local function stands_for_others(word)
  return (word:find("%f[%u]NAME%f[%U]") or word:find("%f[%u]NN%f[%U]")) ~= nil
end

local function check_path(page, line, inside, word)
  word = word:gsub("[%.:/]+$", "")
  local top, ending = word:match("^([^/]+)/"), word:match("%.(%a+)$")
  if word:find("^%.%a+$") or of_libraries[word] or stands_for_others(word) then return end
  if top and tops[top] and top ~= "build" then
    if not (exists(there, word) or exists(ends_of, word)) then fault(page, line, "file", word) end
  elseif endings[ending] or (inside and of_the_tree[ending] and not word:find("^/")) then
    if not exists(ends_of, word) then fault(page, line, "file", word) end
  end
end

local function check_link(page, line, target)
  if target:find("^%a+:") or target:find("^#") then return end
  local path = (page:match("^(.*/)") or "") .. target:gsub("#.*", "")
  local count
  repeat path, count = path:gsub("[^/]+/%.%./", "", 1) until count == 0
  if not there[path:gsub("/$", "")] then fault(page, line, "file", target) end
end

local function check_page(page)
  local inside = page:find("findings") or page:find("architecture") or page:find("adding") or
    page:find("CONTRIBUTING") or page:find("^kernels")
  local n = 0
  for line in (read(page) .. "\n"):gmatch("(.-)\n") do
    n = n + 1
    for target in line:gmatch("%]%(([^%s)]+)%)") do check_link(page, n, target) end
    line = line:gsub("%]%([^%s)]+%)", "] "):gsub("%a+://[^%s>`]+", " ")
    for word in line:gmatch("[%w_%-%./%*]+") do check_path(page, n, inside, word) end
    for word in (inside and not page:find("findings") and line or ""):gmatch("`([%a_][%w_]*)`") do
      if word:find("%l_") and not stands_for_others(word) and not is_name(word) then fault(page, n, "name", word) end
    end
    for before, word, star in (" " .. line):gmatch("([^%w_])([gG][%w_]+)(%*?)") do
      if (word:find("^gr_.") or word:find("^GR_.") or word:find("^gpureduce_.")) and before ~= "/" and
        not (star == "*" and some(words, word .. "*") or stands_for_others(word) or is_name(word)) then
        fault(page, n, "name", word)
      end
    end
  end
end

for _, page in ipairs(lines_of("ls " .. pages)) do check_page(page) end
os.exit(faults == 0 and 0 or 1)
