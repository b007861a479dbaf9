-- Whether the lists that no compiler sees name every row of the tables: those of the specs, of the random calls, of the
-- documentation; whether the compiler can see the others: a switch over a table has no default, unless an assertion
-- beside it counts the rows; and whether the module's Lua calls strings' methods, which a script may have replaced,
-- while its own functions are those that were there at `require` (push_environment). `lua mk/tables.lua` prints what is
-- wrong, one line each, and fails if anything is.

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

-- The rows of an X-macro, each as a list of its columns, without the quotes of those that are text.
local function rows_of(path, macro)
  local rows = {}
  local body = read(path):match("#define " .. macro .. "%(X%)(.-[^\\])\n")
  assert(body, macro .. " is not in " .. path)
  for row in body:gmatch("X(%b())") do
    local columns = {}
    for column in row:sub(2, -2):gmatch("[^,]+") do columns[#columns + 1] = column:match('^%s*"?(.-)"?%s*$') end
    rows[#rows + 1] = columns
  end
  assert(#rows > 0, macro .. " has no rows")
  return rows
end

-- A name is in a list in quotes, perhaps as one of the element operators; or it is called, or defined in the model.
local function names(text, name)
  local plain = name:gsub("%W", "%%%0")
  return text:find('"' .. plain .. '\\?"') or text:find('"each ' .. plain .. '[%s"]')
    or text:find("[%.:]" .. plain .. "%f[^%w_]%s*[%({]")
end

local tables = "kernels/tables.h"
local function called(row) return row[6] == "FUNCTION" end
local lists_of_dtypes = { "spec/numbers.lua", "spec/hostile/calls.lua", "docs/source.lua" }
local checks = {
  { tables, "GR_INTEGERS", 2, lists_of_dtypes },
  { tables, "GR_FLOATING", 2, lists_of_dtypes },
  { tables, "GR_OPS", 1, { "spec/model.lua", "spec/bits.lua", "spec/hostile/cases.lua", "spec/hostile/reductions.lua" },
    called },
  { tables, "GR_SCANNED", 1, { "spec/bits.lua", "spec/hostile/reductions.lua", "docs/api/scan.lua" } },
  { tables, "GR_MODES", 1, { "spec/bits.lua", "spec/hostile/cases.lua", "docs/api/reduce.lua" } },
  { tables, "GR_MAPS", 1,
    { "spec/bits.lua", "spec/hostile/cases.lua", "spec/hostile/calls.lua",
      { "spec/map_spec.lua", "spec/functions_spec.lua" } } },
  { tables, "GR_PUTS", 1, { "spec/bits.lua", "spec/lookup_spec.lua", "docs/api/elements.lua" } },
  { tables, "GR_RELATIONS", 2, { "spec/bits.lua", "spec/where_spec.lua", "docs/api/elements.lua" } },
  { "src/core/select.h", "GR_METHODS", 2, { "spec/bits.lua", "spec/quantile_spec.lua", "docs/api/reduce.lua" } },
}

-- The text of a file, or of those that share what they name.
local function text_of(list)
  if type(list) == "string" then return read(list), list end
  local texts = {}
  for k, path in ipairs(list) do texts[k] = read(path) end
  return table.concat(texts, "\n"), table.concat(list, " and ")
end

local wrong = 0
for _, check in ipairs(checks) do
  local path, macro, column, lists, chosen = check[1], check[2], check[3], check[4], check[5]
  for _, row in ipairs(rows_of(path, macro)) do
    for _, list in ipairs(not chosen and lists or chosen(row) and lists or {}) do
      local text, where = text_of(list)
      if not names(text, row[column]) then
        print(("%s: no '%s', which is a row of %s (%s)"):format(where, row[column], macro, path))
        wrong = wrong + 1
      end
    end
  end
end

-- ---- switches ----

-- What cases over a table begin with, or are: the rows of the dtypes have no prefix of their own.
local prefixes = { "GR_OP_", "GR_RED_", "GR_ACC_", "GR_MAP_", "GR_IS_", "GR_PUT_" }
local dtypes = {}
for _, macro in ipairs { "GR_INTEGERS", "GR_FLOATING" } do
  for _, row in ipairs(rows_of(tables, macro)) do dtypes["GR_" .. row[1]] = true end
end

local function of_a_table(case)
  for _, prefix in ipairs(prefixes) do
    if case:sub(1, #prefix) == prefix then return true end
  end
  return dtypes[case] or case == "GR_" -- pasted: each row of something
end

-- The body of a switch without the switches in it.
local function own(body)
  return (body:sub(2, -2):gsub("switch%s*%b()%s*(%b{})", ""))
end

local function check_switches(path)
  local text = read(path):gsub("/%*.-%*/", function(comment) return (comment:gsub("[^\n]", " ")) end)
  for at, body in text:gmatch("()switch%s*%b()%s*(%b{})") do
    body = own(body)
    local case = (body:match("case (GR_[%w_#]+)") or ""):gsub("##.*", "")
    local _, line = text:sub(1, at):gsub("\n", "")
    local before = text:sub(math.max(1, at - 2000), at)
    if body:find("default:", 1, true) and of_a_table(case) and not before:find("_COUNT [%-=]") then
      print(("%s:%d: a switch over a table (%s) has a default, and nothing counts the rows")
        :format(path, line + 1, case))
      wrong = wrong + 1
    end
  end
end

local sources = io.popen("find src kernels -name '*.[ch]' -o -name '*.inc' -o -name '*.cu' -o -name '*.cuh'")
for path in sources:lines() do
  if not path:find("^kernels/ladder") then check_switches(path) end
end
sources:close()

-- ---- methods of strings ----

local parts = io.popen("ls lua/gpureduce/*.lua")
for path in parts:lines() do
  local n = 0
  for line in io.lines(path) do
    n = n + 1
    local method = (" " .. line):match("[^:]:(%l+)%(")
    if method and string[method] and not line:match("^%s*%-%-") then
      print(("%s:%d: a string's method, which a script may replace: write string.%s"):format(path, n, method))
      wrong = wrong + 1
    end
  end
end
parts:close()

os.exit(wrong == 0 and 0 or 1)
