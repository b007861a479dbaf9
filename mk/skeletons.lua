-- What formulas are compiled from, out of PTX that nvcc made, as C: mk/skeletons.lua STEPS.ptx SKELETONS.ptx... >out.c
-- Each kernel of SKELETONS, with the functions that it calls, is a text of its own; of STEPS, the bodies of kernels and
-- the functions that they call are one text (src/backend/jit/shipped.h says how both are written). Names that compilers
-- made become short ones, so that the same sources give the same bytes. Texts are compressed by gzip, and stored as
-- zlib wants them; skeletons as numbers of lines.
local function read(path)
  local f = assert(io.open(path))
  local text = f:read "*a"
  f:close()
  return text
end

-- ---- PTX to items: variables, functions and kernels of a file, in order ----

local function item_of(text)
  local head = text:match "^[^{]*"
  local plain = text:gsub("^%.extern ", "")
  local name = plain:match "^%.[gsc]%w+ [^=;]-([%w_$]+)%[" or plain:match "^%.[gsc]%w+ [^=;]-([%w_$]+) ?[=;]"
  if name then return { kind = "variable", name = name, text = text } end
  name = head:match "%.entry%s+([%w_$]+)"
  if name then return { kind = "kernel", name = name, text = text } end
  name = head:match "%.func%s*%b()%s*([%w_$]+)" or head:match "%.func%s+([%w_$]+)"
  return { kind = "function", name = assert(name, "no name in " .. head), text = text }
end

local function items_of(path)
  local items, lines, depth = {}, {}, 0
  for line in read(path):gmatch "[^\n]*" do
    line = line:gsub("%s+$", "")
    if line:match "^%s*//GR_" or not line:match "^%s*//" then
      line = line:gsub("%s*//%s.*$", "")
      -- the pragma is for newer versions of PTX than what is shipped says it is
      local pragma = line:match "^%s*%.pragma \"used_bytes_mask"
      if not (line == "" or pragma or line:match "^%.version" or line:match "^%.target" or
        line:match "^%.address_size") then
        assert(not line:match "^%s*@[^%%!]", path .. ": a hole, not a predicate, begins so: " .. line)
        lines[#lines + 1] = line:gsub("^%s+", ""):gsub("%s+", " ")
        depth = depth + select(2, line:gsub("{", "")) - select(2, line:gsub("}", ""))
        if depth == 0 and (line == "}" or line:sub(-1) == ";") then
          local text = table.concat(lines, "\n") -- of a function that ends so, only its declaration
          if line == "}" or not text:match "^[^\n]*%.func" then items[#items + 1] = item_of(text) end
          lines = {}
        end
      end
    end
  end
  assert(#lines == 0, path .. ": a part without an end")
  return items
end

-- Short names, in order; arguments are p0, p1 ... of the function that they belong to.
local function rename(items, prefix)
  local short, by_name = {}, {}
  for _, item in ipairs(items) do
    short[item.name] = item.kind == "kernel" and item.name or prefix .. #by_name
    by_name[#by_name + 1] = item
    by_name[item.name] = item
  end
  for _, item in ipairs(items) do
    local needs, seen = {}, {}
    item.text = item.text:gsub("[%a_$][%w_$]*", function(word)
      local owner, rest = word:match "^(.+)_param_(%d+)$"
      if owner == item.name then return "p" .. rest end
      if owner and by_name[owner] then return short[owner] .. "_p" .. rest end
      if by_name[word] and word ~= item.name and not seen[word] then
        seen[word] = true
        needs[#needs + 1] = by_name[word]
      end
      return short[word]
    end)
    item.needs, item.short = needs, short[item.name]
    item.text = item.text:gsub("__local_depot%d+", "depot")
  end
end

-- What an item needs, each before those that need it.
local function needed(item, found, list)
  found, list = found or {}, list or {}
  for _, other in ipairs(item.needs) do
    if not found[other] then
      found[other] = true
      needed(other, found, list)
      list[#list + 1] = other
    end
  end
  return list
end

-- ---- what is written ----

local function adler32(text)
  local a, b = 1, 0
  for k = 1, #text do
    a = a + text:byte(k)
    b = b + a
    if k % 256 == 0 then a, b = a % 65521, b % 65521 end
  end
  return ("%04x%04x"):format(b % 65521, a % 65521):gsub("..", function(x) return string.char(tonumber(x, 16)) end)
end

local function compress(text)
  local path = os.tmpname()
  local f = assert(io.open(path, "wb"))
  f:write(text)
  f:close()
  local pipe = assert(io.popen("gzip -9nc <" .. path))
  local packed = pipe:read "*a"
  pipe:close()
  os.remove(path)
  assert(packed:sub(1, 4) == "\31\139\8\0" and #packed > 18, "gzip gave nothing")
  return "\120\218" .. packed:sub(11, -9) .. adler32(text)
end

local function bytes(name, packed)
  local out = { ("static const unsigned char %s[] = {"):format(name) }
  for k = 1, #packed, 24 do
    out[#out + 1] = (packed:sub(k, k + 23):gsub(".", function(c) return c:byte() .. "," end))
  end
  out[#out + 1] = "};"
  return table.concat(out, "\n")
end

-- A kernel of a skeleton: "@P BYTES" stands for its arguments, "@R REGISTERS" for their limit, holes are "@ROWS ...",
-- "@WORD ..." and others of such lines, in its functions, too.
local function skeleton(item)
  local parts = {}
  for _, other in ipairs(needed(item)) do parts[#parts + 1] = (other.text:gsub("//GR_", "@")) end
  local text, found = item.text:gsub("%.visible %.entry [^\n]*\n%.param %.align 8 %.b8 p0%[(%d+)%]\n%)", "@P %1")
  assert(found == 1, item.name .. ": not one argument")
  text = text:gsub("\n%.maxnreg (%d+)", "\n@R %1"):gsub("//GR_", "@")
  parts[#parts + 1] = text
  return (table.concat(parts, "\n"):gsub("%$L__BB%d+_", "$L")) .. "\n" -- labels are a function's own
end

-- Bodies of steps: "=S NAME FUNCTIONS" and its lines, "@I OPERAND REGISTER" and "@O REGISTER" among them; then the
-- functions, "=F NAME FUNCTIONS".
local function steps(items)
  local parts = {}
  local function add(kind, item, text)
    local names = { kind, item.kind == "kernel" and item.short:match "^gr_step_(.*)" or item.short }
    for _, other in ipairs(needed(item)) do names[#names + 1] = other.short end
    parts[#parts + 1] = table.concat(names, " ")
    parts[#parts + 1] = text
  end
  local sorted = {}
  for k, item in ipairs(items) do sorted[k] = item end
  table.sort(sorted, function(x, y) return x.name < y.name end)
  for _, item in ipairs(sorted) do
    if item.kind == "kernel" and item.text:find "//GR_OUT" then
      local body = item.text:match "{\n(.*)\nret;\n}$"
      assert(body and not body:find "\nret;", item.name .. ": it ends in several places")
      add("=S", item, (body:gsub("//GR_IN", "@I"):gsub("//GR_OUT", "@O"):gsub("\n// [^\n]*", "")))
    end
  end
  for _, item in ipairs(items) do
    if item.kind ~= "kernel" then add("=F", item, item.text) end
  end
  return table.concat(parts, "\n") .. "\n=\n"
end

-- Lines are much alike: the number of each in a list of all, without the numbers of registers and labels in it, which
-- are written as differences from the last one of the same two letters before it (src/backend/jit/shipped.c reads it).
local lines, numbers = {}, {}

local function add(to, n, short)
  if n < short then
    to[#to + 1] = string.char(n)
    return
  end
  n = n - short
  local high = (n - n % 256) / 256
  if high < 255 - short then to[#to + 1] = string.char(short + high, n % 256) else
    assert(high < 65536, "a number of more than three bytes")
    to[#to + 1] = string.char(255, high % 256, (high - high % 256) / 256, n % 256)
  end
end

local function coded(text)
  local ids, differences, last = {}, {}, {}
  local function number(before, digits)
    local class = (before:byte(-1) * 31 + before:byte(-2)) % 256
    local change = tonumber(digits) - (last[class] or 0)
    last[class] = tonumber(digits)
    add(differences, change < 0 and -2 * change - 1 or 2 * change, 240)
    return before .. "\1"
  end
  for whole in text:gmatch "([^\n]*)\n" do
    local line = whole:gsub("([%%$][%a]+<?)(%d+)", number)
    if not numbers[line] then
      lines[#lines + 1] = line
      numbers[line] = #lines - 1
    end
    add(ids, numbers[line], 192)
  end
  return table.concat(ids), table.concat(differences)
end

-- ---- all of it; several skeletons are compressed together, since one says much about the next ----

local TOGETHER = 16
-- Kernels of what is not NaN, without a tally and with one (src/backend/jit/emit.c).
local OF_PRESENT = { leaves = { "present", "counted" }, rows_staged = { "rows_staged", "counted_staged" },
  rows_by_element = { "rows_by_element", "counted_rows" },
  cols_unordered = { "cols_unordered" }, cols_flat = { "cols_flat", "counted_flat" },
  cols_sum = { "cols_sum", "counted_columns" } }
local table_of, count, waiting = {}, 0, {}

local function ship(name, text, packed, of, ids, differences)
  table_of[#table_of + 1] = ("  {\"%s\", %s, sizeof %s, %d, %d, %d, %d},\n"):format(name, packed, packed, of, text,
    ids, differences)
end

local function write(text)
  count = count + 1
  io.write(bytes("text" .. count, compress(text)), "\n")
  return "text" .. count
end

local function ship_waiting()
  local ids, differences, at, from = {}, {}, 0, 0
  for k, w in ipairs(waiting) do
    ids[k], differences[k] = w.ids, w.differences
    from = from + #w.ids
  end
  local all = table.concat(ids) .. table.concat(differences)
  local packed = #waiting > 0 and write(all)
  for _, w in ipairs(waiting) do
    ship(w.name, w.bytes, packed, #all, at, from)
    at, from = at + #w.ids, from + #w.differences
  end
  waiting = {}
end

io.write '#include "src/backend/jit/shipped.h"\n'
local all = items_of(arg[1])
rename(all, "f")
local text = steps(all)
ship("steps", #text, write(text), #text, 0, 0)
for k = 2, #arg do
  local items = items_of(arg[k])
  rename(items, "k")
  local kernels = {}
  for _, item in ipairs(items) do
    if item.kind == "kernel" then
      local reducer, dtype, number = item.name:match "gr_reducer(%d+)EL%d+gr_dtype(%d+)E.-Lb([01])E"
      local both = item.name:match "gr_sum_and_orderIL%d+gr_dtype(%d+)E"
      local ends = item.name:match "gr_ends_by_keyIL%d+gr_dtype(%d+)E"
      local kept = item.name:find "gr_of_present" and 1 or item.name:find "gr_tallied_present" and 2
      local present = kept and OF_PRESENT[item.name:match "gr_reduce_([%l_]+)I"][kept]
      if present and arg[k]:find "_hopper%.ptx$" then present = "hopper " .. present end
      local way = item.name:find "gr_tallied" and "tallied" or "reduce"
      local columns = not present and item.name:find "gr_reduce_cols_sum" and dtype
      local name = columns and "columns " .. columns or both and "both " .. both or ends and "ends " .. ends or
        present and ("%s %d %d"):format(present, item.name:match "gr_reducer(%d+)EL%d+gr_dtype(%d+)E") or
        reducer and ("%s %d %d %d"):format(way, number, reducer, dtype)
      kernels[#kernels + 1] = { name = name or item.name, item = item }
    end
  end
  -- one reducer's dtypes beside each other, which differ least: 2 % less
  for _, kernel in ipairs(kernels) do
    kernel.key = kernel.name:gsub("%d+", function(number) return ("%03d"):format(number) end)
  end
  table.sort(kernels, function(a, b) return a.key < b.key end)
  for _, kernel in ipairs(kernels) do
    local own = skeleton(kernel.item)
    local ids, differences = coded(own)
    waiting[#waiting + 1] = { name = kernel.name, bytes = #own, ids = ids, differences = differences }
    if #waiting == TOGETHER then ship_waiting() end
  end
end
ship_waiting()
text = table.concat(lines, "\n") .. "\n"
ship("lines", #text, write(text), #text, 0, 0)
io.write("const gr_shipped gr_shipped_texts[] = {\n", table.concat(table_of), "  {0, 0, 0, 0, 0, 0, 0}};\n")
