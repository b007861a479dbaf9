-- Writes docs/reference.md and the types in library/ (docs/types.lua) from docs/api/*.lua, and the C API's header and
-- page (docs/header.lua) from docs/capi/*.lua: lua docs/generate.lua
-- With --check it writes nothing and fails when a file is stale or a public function has no entry (needs the module).
-- With --embed PATH it writes what gr.help knows (docs/topics.lua) as C, which the build compiles into the module.
local source, types, header = dofile("docs/source.lua"), dofile("docs/types.lua"), dofile("docs/header.lua")
local topics = dofile("docs/topics.lua")

-- The version of the C API: of the table, and of the library that it comes with.
local capi = { number = "0.2.0", major = 1, minor = 1 }

local flat, is_optional, plain = source.flat, source.is_optional, source.plain

-- ---- the reference ----

local function cell(text) return (flat(text):gsub("|", "\\|")) end

local function add_table(add, title, rows)
  if #rows == 0 then return end
  add(("| %s | type | |"):format(title))
  add("|---|---|---|")
  for _, row in ipairs(rows) do
    local text = cell(row[3])
    if row.default then text = text .. (text == "" and "" or "; ") .. "default " .. row.default end
    add(("| `%s` | %s%s | %s |"):format(row[1], cell(plain(row[2])), is_optional(row) and ", optional" or "", text))
  end
  add("")
end

local function anchor(text) return (text:lower():gsub("[^%w%- _]", ""):gsub(" ", "-")) end

local function add_entry(add, entry, objects)
  add("### " .. source.full_name(entry))
  add("")
  local forms = {}
  for k, form in ipairs(source.signatures(entry, objects)) do forms[k] = "`" .. form .. "`" end
  add(table.concat(forms, "<br>\n"))
  add("")
  add((entry.text:gsub("^%s+", ""):gsub("%s+$", "")))
  add("")
  add_table(add, "parameter", entry.params)
  add_table(add, "option", entry.options or {})
  for _, row in ipairs(entry.returns) do add(("- **Returns** %s: %s"):format(row[1], flat(row[2]))) end
  if #entry.returns == 0 then add("- **Returns** nothing.") end
  for _, fact in ipairs(source.facts) do
    if entry[fact[1]] then add(("- **%s**: %s"):format(fact[2], flat(entry[fact[1]]))) end
  end
  add("")
  add("```lua")
  add((entry.example:gsub("^\n", ""):gsub("%s+$", "")))
  add("```")
  if entry.output ~= "" then
    add("```")
    add((entry.output:gsub("^\n", ""):gsub("%s+$", "")))
    add("```")
  end
  add("")
end

local function add_object(add, object)
  add(("**%s** `%s`: %s"):format(object.class, object.self, flat(object.text)))
  add("")
  add_table(add, "field", object.fields or {})
end

local function reference(chapters, objects)
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  add("# Reference")
  add("")
  add("<!-- Written by docs/generate.lua from docs/api/*.lua: edit those, then run 'make docs'. -->")
  add("")
  add("In every example `gr` is `require \"gpureduce\"`; below it stands what it prints, and the specs run it. Start")
  add("with the [guide](guide.md); which bits a result has is told in [numerics](numerics.md).")
  add("")
  for _, chapter in ipairs(chapters) do
    local names = {}
    for k, entry in ipairs(chapter.entries) do
      local name = source.full_name(entry)
      names[k] = ("[%s](#%s)"):format(name:gsub("([%[%]])", "\\%1"), anchor(name))
    end
    add(("- **[%s](#%s)**: %s"):format(chapter.title, anchor(chapter.title), table.concat(names, ", ")))
  end
  add("")
  for _, chapter in ipairs(chapters) do
    add("## " .. chapter.title)
    add("")
    add((chapter.text:gsub("^%s+", ""):gsub("%s+$", "")))
    add("")
    for _, object in ipairs(chapter.objects or {}) do add_object(add, object) end
    for _, entry in ipairs(chapter.entries) do add_entry(add, entry, objects) end
  end
  while lines[#lines] == "" do lines[#lines] = nil end
  return table.concat(lines, "\n") .. "\n"
end

-- ---- writing and checking ----

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local function main(what, path)
  local check = what == "--check"
  local chapters, entries, objects = source.load()
  if what == "--embed" then return write(path, topics.embed(chapters, objects)) end
  local outputs = {
    ["docs/reference.md"] = reference(chapters, objects),
    ["library/gpureduce.lua"] = types.luacats(entries, objects),
    ["library/gpureduce.d.tl"] = types.teal(entries, objects),
    ["include/gpureduce.h"] = header.text(capi),
    ["docs/capi.md"] = header.page(),
  }
  local wrong = check and source.compare(require "gpureduce", entries, objects) or {}
  for name, text in pairs(outputs) do
    if check and read(name) ~= text then wrong[#wrong + 1] = name .. " is stale: run 'make docs' and commit it" end
    if not check then write(name, text) end
  end
  for _, line in ipairs(wrong) do io.stderr:write(line, "\n") end
  if #wrong > 0 then os.exit(1) end
end

main(arg and arg[1], arg and arg[2])
