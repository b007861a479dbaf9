-- Loads the tables of docs/api, says what is wrong with them, and compares them with the module.
-- docs/api/README.md describes the format.
local source = {}

-- Chapters in the order of the reference: docs/api/NAME.lua each.
source.order = {
  "make", "look", "matrices", "elements", "formulas", "reduce", "exact", "histogram", "scan", "operators", "rows",
  "pictures", "when", "files", "outside", "where", "care", "learn",
  "prompt",
}

source.dtypes = { "u8", "i8", "i16", "u16", "i32", "u32", "i64", "f16", "bf16", "f32", "f64" }

local required = { "name", "text", "params", "returns", "errors", "cost", "waits", "example", "output" }
local known = { of = 1, syntax = 1, options = 1, dtypes = 1, shapes = 1, units = 1, method = 1, also = 1 }
for _, field in ipairs(required) do known[field] = 1 end

local types = {
  "array", "dtype", "integer", "number", "string", "boolean", "table", "function", "any", "nil", "options",
}
for _, word in ipairs(types) do types[word] = true end

local function check_rows(entry, field, complain, objects)
  for k, row in ipairs(entry[field] or {}) do
    local least, kind = field == "returns" and 2 or 3, field == "returns" and row[1] or row[2]
    if #row < least then complain(("'%s': row %d needs %d texts"):format(field, k, least)) end
    for word in kind:gsub('"[^"]*"', ""):gmatch("[%a_][%w_.]*") do
      if not types[word] and not objects[word] then
        complain(("'%s': row %d: unknown type '%s'"):format(field, k, word))
      end
    end
  end
end

local function check_entry(entry, where, objects)
  local function complain(what)
    error(("docs/api/%s.lua: entry '%s': %s"):format(where, tostring(entry.name), what), 0)
  end
  for _, field in ipairs(required) do
    if entry[field] == nil then complain("no '" .. field .. "'") end
  end
  for field in pairs(entry) do
    if not known[field] then complain("unknown field '" .. tostring(field) .. "'") end
  end
  for _, field in ipairs { "params", "options", "returns" } do check_rows(entry, field, complain, objects) end
  if entry.of and not objects[entry.of] then complain("no object '" .. entry.of .. "' is described") end
  local takes_options
  for _, row in ipairs(entry.params) do takes_options = takes_options or row[2]:match("^options%??$") end
  if entry.options and not takes_options then complain("has 'options', but no parameter of type 'options'") end
  if takes_options and not entry.options then complain("has a parameter of type 'options', but no 'options'") end
end

--- The chapters: { {title, text, entries, objects}, ... }, the entries in one list, the objects by name.
-- root: the folder of the checkout, with a slash, or nothing for the current one.
function source.load(root)
  root = root or ""
  local common = dofile(root .. "docs/api/common.lua")
  local chapters, entries, objects, seen = {}, {}, {}, {}
  for k, name in ipairs(source.order) do
    local chapter = assert(loadfile(root .. "docs/api/" .. name .. ".lua"))(common)
    chapter.name, chapters[k] = name, chapter
    for _, object in ipairs(chapter.objects or {}) do objects[object.name] = object end
  end
  for _, chapter in ipairs(chapters) do
    for _, entry in ipairs(chapter.entries) do
      check_entry(entry, chapter.name, objects)
      local full = source.full_name(entry)
      if seen[full] then error(("docs/api/%s.lua: '%s' is described twice"):format(chapter.name, full), 0) end
      seen[full] = entry
      entries[#entries + 1] = entry
    end
  end
  for k = #chapters, 1, -1 do
    if #chapters[k].entries == 0 then table.remove(chapters, k) end
  end
  return chapters, entries, objects
end

--- "sum", or "histogram:quantile" for a method of another object than an array.
function source.full_name(entry) return entry.of and entry.of .. ":" .. entry.name or entry.name end

-- ---- what entries say, in words ----

--- The text in one line.
function source.flat(text) return (text:gsub("%s*\n%s*", " "):gsub("^%s+", ""):gsub("%s+$", "")) end

--- Rows of params, options and fields: whether they may be left out, and a type without the sign of that.
function source.is_optional(row) return row[2]:find("%?$") ~= nil end
function source.plain(kind) return (kind:gsub("%?$", "")) end

--- Whether the function is a method of arrays.
function source.is_method(entry)
  return entry.params[1] and entry.params[1][2]:find("^array%f[^%w]") and entry.method ~= false
end

-- "a, b [, options]"
local function arguments(params, first)
  local text = ""
  for k = first, #params do
    local name = params[k][1]
    local comma = k > first and ", " or ""
    if source.is_optional(params[k]) then text = text .. (k > first and " [" or "[") .. comma .. name .. "]"
    else text = text .. comma .. name end
  end
  return text
end

--- How to call it: a list of forms.
function source.signatures(entry, objects)
  if entry.syntax then return entry.syntax end
  if entry.of then return { ("%s:%s(%s)"):format(objects[entry.of].self, entry.name, arguments(entry.params, 1)) } end
  local list = { ("gr.%s(%s)"):format(entry.name, arguments(entry.params, 1)) }
  if source.is_method(entry) then
    list[2] = ("%s:%s(%s)"):format(entry.params[1][1], entry.name, arguments(entry.params, 2))
  end
  return list
end

--- The fields of an entry that are told behind its parameters, and their titles.
source.facts = {
  { "dtypes", "Dtypes" }, { "shapes", "Shapes" }, { "units", "Units" }, { "errors", "Errors" },
  { "cost", "Cost" }, { "waits", "Waits and copies" },
}

-- ---- comparing with the module ----

-- The names of the functions that an object's metatable offers.
local function methods_of(object)
  local meta, names = debug.getmetatable(object), {} -- which is hidden from scripts
  local methods = type(meta.__index) == "table" and meta.__index or meta
  for name, value in pairs(methods) do
    if type(value) == "function" and not name:find("^__") then names[name] = true end
  end
  return names
end

--- What the module has and no entry describes, and the other way round: a list of sentences.
function source.compare(gr, entries, objects)
  local offered, described, shared, wrong = {}, {}, {}, {}
  for name, value in pairs(gr) do
    if type(value) == "function" then offered[name] = "gr." .. name end
  end
  for name, object in pairs(objects) do
    if object.make then
      local make = assert((loadstring or load)("local gr = ... return " .. object.make)) -- luacheck: ignore
      for method in pairs(methods_of(make(gr))) do
        offered[name .. ":" .. method] = ("the method '%s' of a %s"):format(method, name)
        if object.shares and gr[method] then shared[name .. ":" .. method] = true end
      end
    end
  end
  for _, entry in ipairs(entries) do
    if not entry.syntax then described[source.full_name(entry)] = true end
  end
  for name, words in pairs(offered) do
    if not described[name] and not shared[name] then
      wrong[#wrong + 1] = words .. " has no entry: describe it in a table of docs/api/ (format: docs/api/README.md), "
        .. "then run 'make docs'"
    end
  end
  for name in pairs(described) do
    if not offered[name] then
      wrong[#wrong + 1] = ("docs/api describes '%s', which the module does not have"):format(name)
    end
  end
  table.sort(wrong)
  return wrong
end

return source
