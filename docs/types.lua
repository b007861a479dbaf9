-- The types of the module for editors and checkers, from docs/api: LuaCATS annotations for the Lua language server
-- (library/gpureduce.lua), and a declaration file for Teal (library/gpureduce.d.tl).
local source = dofile("docs/source.lua")

local types = {}

local flat, is_optional, plain, is_method = source.flat, source.is_optional, source.plain, source.is_method

-- ---- signatures ----

-- A way to call a function: params are { name, type } and returns types, in the words of docs/api.
local function variant(params, returns)
  local way = { params = params, returns = {} }
  for k, row in ipairs(returns) do way.returns[k] = row[1] end
  return way
end

-- What a reduction without options returns: the number, not the array that rows would give.
local function number_alone(entry)
  for _, row in ipairs(entry.options or {}) do
    if row[1] == "rows" and entry.returns[1][1]:find("|array$") then
      local returns = {}
      for k, each in ipairs(entry.returns) do returns[k] = { (each[1]:gsub("|array$", "")) } end
      return returns
    end
  end
end

--- All ways to call an entry's function, the fullest first; first: 1, or 2 for a method, whose self is left out.
-- Optional parameters before a table of options may be left out, and so may the table.
function types.variants(entry, first)
  local params = {}
  for k = first, #entry.params do params[#params + 1] = entry.params[k] end
  local ways = { variant(params, entry.returns) }
  local last = params[#params]
  if last and last[2] == "options?" or last and last[2] == "options" then
    local needed = {}
    for k = 1, #params - 1 do
      if not is_optional(params[k]) then needed[#needed + 1] = params[k] end
    end
    local without, alone = {}, number_alone(entry)
    for k = 1, #params - 1 do without[k] = params[k] end
    if alone then ways[#ways + 1] = variant(without, alone) end
    if #needed < #params - 1 then
      needed[#needed + 1] = { last[1], "options", last[3] }
      ways[#ways + 1] = variant(needed, entry.returns)
    end
  end
  for _, also in ipairs(entry.also or {}) do
    local more = {}
    for k = first, #also.params do more[#more + 1] = also.params[k] end
    ways[#ways + 1] = variant(more, also.returns or entry.returns)
  end
  return ways
end

-- The entry as the method of an object that shares it, or nil: arrays among its operands may be such objects, too, and
-- of the object's element operators the results are.
local function shared(entry, name, object)
  local shares = object.shares or {}
  local is_element = shares.elements and shares.elements:find("%f[%w]" .. entry.name .. "%f[%W]")
  if entry.of or entry.syntax then return end
  if not is_element and not (shares.values and shares.values:find("%f[%w]" .. entry.name .. "%f[%W]")) then return end
  local copy = {}
  for key, value in pairs(entry) do copy[key] = value end
  copy.params, copy.returns, copy.also = {}, {}, nil
  for k, row in ipairs(entry.params) do
    copy.params[k] = { row[1], (row[2]:gsub("^array%f[^%w]", "array|" .. name)), row[3], default = row.default }
  end
  for k, row in ipairs(entry.returns) do
    copy.returns[k] = { is_element and (row[1]:gsub("^array$", name)) or row[1], row[2] }
  end
  return copy
end

local function sorted_names(objects)
  local names = {}
  for name in pairs(objects) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- Calls each(word) for the words of a type, outside quotes, and puts what it returns in their place.
local function map_words(kind, each)
  return (kind:gsub('("?)([%a_][%w_.]*)("?)', function(open, word, close)
    return open .. (open == "" and each(word) or word) .. close
  end))
end

-- ---- LuaCATS ----

-- Words of docs/api to type names: array -> gpureduce.array, options -> the function's own class.
local function type_names(objects, options_class)
  return function(kind)
    return map_words(plain(kind), function(word)
      if word == "dtype" then return "gpureduce.dtype" end
      if word == "options" then return options_class end
      return objects[word] and objects[word].class or word
    end)
  end
end

-- Characters, where # counts the bytes of UTF-8.
local function width(text) return select(2, text:gsub("[^\128-\191]", "")) end

-- A comment to 120 columns, by paragraphs and the entries of lists, which go on further in.
local function comment(add, text)
  local now, inner
  local function finish()
    if now then add(now) end
    now = nil
  end
  for line in (text:gsub("^%s+", ""):gsub("%s+$", "") .. "\n"):gmatch("([^\n]*)\n") do
    if line == "" or line:find("^ *%- ") then
      finish()
      inner = line ~= "" and "  " or ""
      if line == "" then add("---") end
    end
    for word in line:gmatch("%S+") do
      if now and width(now .. " " .. word) > 120 then
        finish()
        now = "---" .. (inner or "") .. word
      else
        now = now and now .. " " .. word or "---" .. word
      end
    end
  end
  finish()
end

-- What a field is for stands behind it, or above it where the line would be too long.
local function add_field(add, name, kind, text)
  local line = ("---@field %s %s"):format(name, kind)
  if width(line .. " " .. text) <= 120 then return add(line .. " " .. text) end
  comment(add, text)
  add(line)
end

local function add_options(add, class, rows, typed)
  add("---@class " .. class)
  for _, row in ipairs(rows) do
    local text = flat(row[3]) .. (row.default and "; default " .. row.default or "")
    add_field(add, row[1] .. (is_optional(row) and "?" or ""), typed(row[2]), text)
  end
  add("")
end

-- "fun(a: gpureduce.array, options?: gpureduce.sum.options): number"
local function overload(way, typed)
  local params, returns = {}, {}
  for k, row in ipairs(way.params) do
    params[k] = row[1] .. (is_optional(row) and "?" or "") .. ": " .. typed(row[2])
  end
  for k, kind in ipairs(way.returns) do returns[k] = typed(kind) .. (kind:find("%?$") and "?" or "") end
  return ("fun(%s)%s"):format(table.concat(params, ", "), #returns > 0 and ": " .. table.concat(returns, ", ") or "")
end

local function add_function(add, entry, first, head, typed)
  comment(add, entry.text)
  local names, ways = {}, types.variants(entry, first)
  for k, row in ipairs(ways[1].params) do
    names[k] = row[1]
    if row[1] == "..." then add(("---@vararg %s"):format(typed(row[2])))
    else add(("---@param %s%s %s %s"):format(row[1], is_optional(row) and "?" or "", typed(row[2]), flat(row[3]))) end
  end
  for _, row in ipairs(entry.returns) do
    add(("---@return %s%s # %s"):format(typed(row[1]), row[1]:find("%?$") and "?" or "", flat(row[2])))
  end
  for k = 2, #ways do add("---@overload " .. overload(ways[k], typed)) end
  add(("function %s%s(%s) end"):format(head, entry.name, table.concat(names, ", ")))
  add("")
end

local function add_object(add, object, objects)
  local typed = type_names(objects)
  comment(add, object.text)
  add("---@class " .. object.class)
  for _, row in ipairs(object.fields or {}) do add_field(add, row[1], typed(row[2]), flat(row[3])) end
  for _, row in ipairs(object.operators or {}) do
    local name, rest = row:match("^(%a+)(.*)$")
    add("---@operator " .. name .. typed(rest))
  end
  add(("local %s = {}"):format(object.name))
  add("")
end

--- The text of library/gpureduce.lua.
function types.luacats(entries, objects)
  local lines = {}
  local function add(line) lines[#lines + 1] = (line:gsub("%s+$", "")) end
  add("---@meta gpureduce")
  add("-- Types for the Lua language server. Written by docs/generate.lua from docs/api/*.lua: edit those, then run")
  add("-- 'make docs'. A line longer than 120 characters is one annotation, which may not be broken.")
  add("-- luacheck: ignore")
  add("")
  add('---@alias gpureduce.dtype "' .. table.concat(source.dtypes, '"|"') .. '"')
  add("")
  add("---@class gpureduce")
  add("---@field _VERSION string")
  add("local gr = {}")
  add("")
  for _, name in ipairs(sorted_names(objects)) do add_object(add, objects[name], objects) end
  for _, entry in ipairs(entries) do
    if not entry.syntax then
      local class = "gpureduce." .. source.full_name(entry):gsub(":", ".") .. ".options"
      local typed = type_names(objects, class)
      if entry.options then add_options(add, class, entry.options, typed) end
      if entry.of then add_function(add, entry, 1, entry.of .. ":", typed)
      else
        add_function(add, entry, 1, "gr.", typed)
        if is_method(entry) then add_function(add, entry, 2, "array:", typed) end
        for _, name in ipairs(sorted_names(objects)) do
          local method = shared(entry, name, objects[name])
          if method then add_function(add, method, 2, name .. ":", typed) end
        end
      end
    end
  end
  add("return gr")
  return table.concat(lines, "\n") .. "\n"
end

-- ---- Teal ----

local teal_operators = { add = "__add", sub = "__sub", mul = "__mul", div = "__div", unm = "__unm", len = "__len",
  concat = "__concat", pow = "__pow", call = "__call" }

local function teal_name(text)
  return (text:gsub("[:.](%w)", string.upper):gsub("^%w", string.upper))
end

local function record_name(object) return teal_name(object.class:match("%.(%w+)$")) end

-- Union types of Teal hold one kind of table at most, and what may be nil is not told apart.
local function teal_names(objects, options_record)
  return function(kind)
    local tables, text = 0, {}
    for part in plain(kind):gmatch("[^|]+") do
      local list = part:match("^(.*)%[%]$")
      local word = list or part
      if word == "nil" then word = nil
      elseif word == "dtype" then word = kind:find("string") and "string" or "Dtype"
      elseif word == "options" then word = options_record
      elseif word == "table" then word = "{any:any}"
      elseif word == "function" then word = "function(any...): (any...)"
      elseif word:find('^"') then word = "string"
      elseif objects[word] then word = record_name(objects[word]) end
      if word then
        if list then word = "{" .. word .. "}" end
        if word:find("^[{%u]") and word ~= "Dtype" then tables = tables + 1 end
        local seen = false
        for _, each in ipairs(text) do seen = seen or each == word end
        if not seen then text[#text + 1] = word end
      end
    end
    if tables > 1 then return "any" end
    return table.concat(text, " | ")
  end
end

-- "function(Array, options?: SumOptions): number"
local function teal_function(way, typed, self)
  local params, returns = {}, {}
  if self then params[1] = "self: " .. self end
  for _, row in ipairs(way.params) do
    local optional = is_optional(row) and "?" or ""
    if row[1] == "..." then params[#params + 1] = "...: " .. typed(row[2])
    else params[#params + 1] = row[1] .. optional .. ": " .. typed(row[2]) end
  end
  for k, kind in ipairs(way.returns) do returns[k] = typed(kind) end
  local result = table.concat(returns, ", ")
  if #returns > 1 then result = "(" .. result .. ")" end
  if #returns > 0 then result = ": " .. result end
  return ("function(%s)%s"):format(table.concat(params, ", "), result)
end

local reserved = { ["end"] = true, ["repeat"] = true, ["not"] = true, ["and"] = true, ["or"] = true }

local function add_teal_functions(add, indent, entry, first, typed, self)
  local name = reserved[entry.name] and ('["%s"]'):format(entry.name) or entry.name
  for _, way in ipairs(types.variants(entry, first)) do
    add(("%s%s: %s"):format(indent, name, teal_function(way, typed, self)))
  end
end

--- The text of library/gpureduce.d.tl.
function types.teal(entries, objects)
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  local function record_of(entry) return teal_name(source.full_name(entry)) .. "Options" end
  add("-- Types for Teal. Written by docs/generate.lua from docs/api/*.lua: edit those, run 'make docs'.")
  add("local record gpureduce")
  add("  _VERSION: string")
  add("  enum Dtype")
  for _, name in ipairs(source.dtypes) do add(('    "%s"'):format(name)) end
  add("  end")
  for _, entry in ipairs(entries) do
    if entry.options then
      local typed = teal_names(objects)
      add(("  record %s"):format(record_of(entry)))
      for _, row in ipairs(entry.options) do add(("    %s: %s"):format(row[1], typed(row[2]))) end
      add("  end")
    end
  end
  for _, name in ipairs(sorted_names(objects)) do
    local object = objects[name]
    local record, typed = record_name(object), teal_names(objects)
    add("  record " .. record)
    if not object.is_table then add("    userdata") end
    for _, row in ipairs(object.fields or {}) do
      local element = row[1]:match("^%[integer%]$")
      if element then
        add("    metamethod __index: function(" .. record .. ", integer): " .. typed(row[2]))
        add("    metamethod __newindex: function(" .. record .. ", integer, " .. typed(row[2]) .. ")")
      else
        add(("    %s: %s"):format(row[1], typed(row[2])))
      end
    end
    for _, row in ipairs(object.operators or {}) do
      local operator, operand, result = row:match("^(%a+)%(?([^)]*)%)?: (.*)$")
      local params = operand == "" and record or record .. ", " .. typed(operand)
      add(("    metamethod %s: function(%s): %s"):format(teal_operators[operator], params, typed(result)))
    end
    for _, entry in ipairs(entries) do
      local names = teal_names(objects, record_of(entry))
      local method = shared(entry, name, object)
      if entry.of == name then add_teal_functions(add, "    ", entry, 1, names, record) end
      if method then add_teal_functions(add, "    ", method, 2, names, record) end
      if name == "array" and not entry.syntax and not entry.of and is_method(entry) then
        add_teal_functions(add, "    ", entry, 2, names, record)
      end
    end
    add("  end")
  end
  for _, entry in ipairs(entries) do
    if not entry.syntax and not entry.of then
      add_teal_functions(add, "  ", entry, 1, teal_names(objects, record_of(entry)))
    end
  end
  add("end")
  add("return gpureduce")
  return table.concat(lines, "\n") .. "\n"
end

return types
