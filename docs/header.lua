-- Writes include/gpureduce.h and docs/capi.md from docs/capi/*.lua: the C API, for compilers and for people.
local header = {}

local function flat(text) return (text:gsub("%s*\n%s*", " "):gsub("^%s+", ""):gsub("%s+$", "")) end

-- Words in lines of at most `width` characters.
local function wrapped(text, width)
  local lines, line = {}, ""
  for word in flat(text):gmatch("%S+") do
    if line ~= "" and #line + 1 + #word > width then
      lines[#lines + 1], line = line, word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return lines
end

local function comment(add, text)
  local lines = wrapped(text, 114)
  if #lines == 1 then return add("/* " .. lines[1] .. " */") end
  add("/*")
  for _, line in ipairs(lines) do add("** " .. line) end
  add("*/")
end

local function typed(kind, name) return kind:match("%*$") and kind .. name or kind .. " " .. name end

local function parameters(entry)
  local list = {}
  for k, row in ipairs(entry[3]) do list[k] = typed(row[1], row[2]) end
  return #list == 0 and "void" or table.concat(list, ", ")
end

-- "result name(parameters)", broken where it is too long.
local function declaration(result, name, entry, indent)
  local text = typed(result, name) .. "(" .. parameters(entry) .. ");"
  local lines = wrapped(text, 118 - #indent)
  return indent .. table.concat(lines, "\n" .. indent .. "    ")
end

-- What a function does, its parameters and its errors, as one text.
local function told(entry)
  local text = { flat(entry[4]) }
  for _, row in ipairs(entry[3]) do
    if row[3] ~= "" then text[#text + 1] = ("%s: %s."):format(row[2], flat(row[3])) end
  end
  if entry.errors then text[#text + 1] = "Errors: " .. entry.errors end
  return table.concat(text, " ")
end

local function load_all()
  return dofile("docs/capi/types.lua"), dofile("docs/capi/functions.lua")
end

local before = [[
/*
** The C API of gpureduce %s: for hosts that link libgpureduce.a, by the names below, and for those whose Lua loads
** the module, by the function table gpureduce_api, which holds the same functions. docs/embedding.md tells how;
** docs/capi.md has the same text as this header.
**
** Written by docs/generate.lua from docs/capi: edit that, then run 'make docs'. C11 and C++17; it includes nothing of
** Lua.
*/
#ifndef GPUREDUCE_H
#define GPUREDUCE_H

#include <stddef.h>
#include <stdint.h>

#define GPUREDUCE_MAJOR %d /* goes up when something is no longer as it was */
#define GPUREDUCE_MINOR %d /* goes up when something is added, at the end of the table or of a struct */

/* In the registry of Lua: the config of the context to come (a light userdata), and a userdata that holds the table. */
#define GPUREDUCE_CONFIG "gpureduce.config"
#define GPUREDUCE_TABLE "gpureduce.capi"

typedef struct lua_State lua_State;

#ifdef __cplusplus
extern "C" {
#endif
]]

local table_text = [[
/* ---- the table ---- */

/* X(name): all of the above, in the order of the table. */
]]

local after = [[

#ifdef __cplusplus
}
#endif

/*
** The table of a Lua state that has loaded the module; NULL where it has not, or where the module's version is another,
** which *why (may be NULL) then says. Include lua.h first.
*/
#ifdef LUA_VERSION_NUM
static inline const gpureduce_api *gpureduce_table(lua_State *L, const char **why) {
  const gpureduce_api *api = NULL;
  const char *wrong = "gpureduce: the module is not open in this Lua state";
  lua_getfield(L, LUA_REGISTRYINDEX, GPUREDUCE_TABLE);
  if (lua_touserdata(L, -1)) api = *(const gpureduce_api *const *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (api && (api->major != GPUREDUCE_MAJOR || api->size < sizeof *api)) {
    api = NULL;
    wrong = "gpureduce: the module has a C API of another version";
  }
  if (why) *why = api ? "" : wrong;
  return api;
}
#endif

#endif
]]

--- The text of include/gpureduce.h.
function header.text(version)
  local types, chapters = load_all()
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  add((before:format(version.number, version.major, version.minor)))
  for _, piece in ipairs(types) do
    comment(add, piece.text)
    add(piece.code)
    add("")
  end
  local names = {}
  for _, chapter in ipairs(chapters) do
    add("/* ---- " .. chapter.title:lower() .. " ---- */")
    add("")
    for _, entry in ipairs(chapter.functions) do
      comment(add, told(entry))
      add(declaration(entry[2], "gpureduce_" .. entry[1], entry, ""))
      add("")
      names[#names + 1] = "X(" .. entry[1] .. ")"
    end
  end
  lines[#lines + 1] = table_text:sub(1, -2)
  add("#define GPUREDUCE_FUNCTIONS(X) \\")
  add("  " .. table.concat(wrapped(table.concat(names, " "), 114), " \\\n  "))
  add("")
  add("typedef struct gpureduce_api {")
  add("  uint32_t size; /* of this struct, as the module knows it */")
  add("  uint16_t major, minor;")
  for _, chapter in ipairs(chapters) do
    for _, entry in ipairs(chapter.functions) do
      add(declaration(entry[2], "(*" .. entry[1] .. ")", entry, "  "))
    end
  end
  add("} gpureduce_api;")
  return table.concat(lines, "\n") .. after
end

local page_text = [[
What [include/gpureduce.h](../include/gpureduce.h) declares; [embedding.md](embedding.md) tells how to use it. Each
function has the name `gpureduce_...` in the static library, and the name below in the table `gpureduce_api`. All but a
few return a status; besides the errors that are named, every function may answer `NULL`, `UNKNOWN`, `BUSY`, `FOREIGN`,
`RELEASED` and `VERSION`, and what works on elements `NO_MEMORY`, `DEVICE` and `STOPPED`. Positions in arguments count
from 0 here, from 1 in Lua; those that are elements of arrays (an index, offsets of segments, argmax) are the same as
there.]]

--- The text of docs/capi.md.
function header.page()
  local types, chapters = load_all()
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  add("# The C API")
  add("")
  add("<!-- Written by docs/generate.lua from docs/capi: edit that, then run 'make docs'. -->")
  add("")
  add(page_text)
  add("")
  for _, chapter in ipairs(chapters) do
    add("## " .. chapter.title)
    add("")
    if chapter.text then
      add(flat(chapter.text))
      add("")
    end
    for _, entry in ipairs(chapter.functions) do
      add("### " .. entry[1])
      add("")
      add("```c")
      add(declaration(entry[2], "gpureduce_" .. entry[1], entry, ""))
      add("```")
      add("")
      add(flat(entry[4]))
      add("")
      for _, row in ipairs(entry[3]) do
        if row[3] ~= "" then add(("- `%s`: %s"):format(row[2], flat(row[3]))) end
      end
      if entry.errors then add("- **Errors**: " .. flat(entry.errors)) end
      add("")
    end
  end
  add("## Types")
  add("")
  for _, piece in ipairs(types) do
    add(flat(piece.text))
    add("")
    add("```c")
    add(piece.code)
    add("```")
    add("")
  end
  while lines[#lines] == "" do lines[#lines] = nil end
  return table.concat(lines, "\n"):gsub("\n\n\n+", "\n\n") .. "\n"
end

return header
