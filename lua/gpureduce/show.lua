-- gr.show: an array at a glance. Its statistics are found where it is; of the elements only those shown come here.
local gr, parts = ...

local MOST = 100 -- elements from each end
local tostring, math_type = tostring, rawget(math, "type") -- from Lua 5.3 on
local huge = math.huge

-- ---- numbers ----

local function number(value)
  if value ~= value then return "nan" end
  if value == huge or value == -huge then return value > 0 and "inf" or "-inf" end
  if math_type and math_type(value) == "integer" then return string.format("%d", value) end
  return parts.text.format("%.6g", value)
end

local function whole(value) return math_type and number(value) or string.format("%.0f", value) end

-- ---- statistics ----

-- "min 1, mean 2, max 3"; in floats also how many NaN there are, and then of the rest.
local function statistics(a, is_float)
  local n, written = #a, is_float and number or whole
  if n == 0 then return "no elements" end
  local function three(least, mean, greatest)
    return string.format("min %s, mean %s, max %s", written(least), number(mean), written(greatest))
  end
  if not is_float then return three(gr.many { { "min", a }, { "mean", a }, { "max", a } }) end
  local x = gr.lazy(a)
  local mask = x:isnan()
  local least, mean, greatest, missing = gr.many { { "min", a }, { "mean", a }, { "max", a }, { "count", mask } }
  if missing == 0 then return three(least, mean, greatest) .. ", no NaN" end
  if missing == n then return string.format("%s NaN, nothing else", whole(missing)) end
  local sum
  least, greatest, sum = gr.many {
    { "min", mask:where(huge, x) }, { "max", mask:where(-huge, x) }, { "sum", mask:where(0, x) },
  }
  return string.format("%s NaN, of the rest: %s", whole(missing), three(least, sum / (n - missing), greatest))
end

-- ---- elements ----

-- The first and the last `count` of n positions, or all of them; 0 stands for those between.
local function positions(n, count)
  local list = {}
  if n <= 2 * count then
    for k = 1, n do list[k] = k end
    return list
  end
  for k = 1, count do list[k], list[count + 1 + k] = k, n - count + k end
  list[count + 1] = 0
  return list
end

local function vector_lines(a, count, written, width)
  local texts = {}
  for k, position in ipairs(positions(#a, count)) do texts[k] = position == 0 and "..." or written(a[position]) end
  return parts.plot.wrap(table.concat(texts, " "), width)
end

-- The corners' elements as texts, row by row, and how wide each column is, by its position; 0: "...".
-- plain: the matrix as it lies; of a transposed one rows and columns change places.
local function read_cells(plain, turned, rows, columns, written)
  local views, cells, widths = {}, {}, {}
  local function read(r, c)
    if turned then r, c = c, r end
    views[r] = views[r] or plain[r]
    return written(views[r][c])
  end
  for k, r in ipairs(rows) do
    parts.check.look()
    cells[k] = {}
    for _, c in ipairs(columns) do
      local text = (r == 0 or c == 0) and "..." or read(r, c)
      cells[k][c], widths[c] = text, math.max(widths[c] or 1, #text)
    end
    cells[k][0] = "..."
  end
  return cells, widths
end

-- Columns that the width has no room for are left out.
local function matrix_lines(a, plain, turned, count, written, width)
  local room = math.min(count, math.max(1, math.floor(width / 3)))
  local columns = positions(a.columns, room)
  local cells, widths = read_cells(plain, turned, positions(a.rows, count), columns, written)
  widths[0] = 3
  local function total()
    local sum = -2
    for _, c in ipairs(columns) do sum = sum + widths[c] + 2 end
    return sum
  end
  while total() > width and room > 1 do
    room = room - 1
    columns = positions(a.columns, room)
  end
  local lines = {}
  for k, row in ipairs(cells) do
    local texts = {}
    for j, c in ipairs(columns) do texts[j] = string.rep(" ", widths[c] - #row[c]) .. row[c] end
    lines[k] = table.concat(texts, "  ")
  end
  return lines
end

-- ---- the whole ----

local function show(a, count)
  if not gr.isarray(a) then parts.check.fail("show", 1, "gpureduce.array expected, got %s", parts.check.kind(a)) end
  local title = tostring(a)
  if string.find(title, "(released)", 1, true) then parts.check.fail("show", 1, "array has been released") end
  if count == nil then count = 3 end
  if type(count) ~= "number" then
    parts.check.fail("show", 2, "number of elements from each end expected, got %s", parts.check.kind(count))
  end
  if not (count >= 1 and count <= MOST and count == math.floor(count)) then
    parts.check.fail("show", 2, "1 to %d elements from each end expected, got %.14g", MOST, count)
  end
  local turned, width = parts.check.kind(a) == "gpureduce.transposed", parts.plot.columns()
  local plain, is_float = turned and a:transpose() or a, string.find(a.dtype, "f", 1, true) ~= nil
  local written = is_float and number or whole
  local lines = parts.plot.wrap(string.format("%s on %s", title, a:info().device), width)
  local summary = statistics(plain, is_float)
  if #a > 0 then
    local shown = a.rows and matrix_lines(a, plain, turned, count, written, width)
      or vector_lines(a, count, written, width)
    for _, line in ipairs(shown) do lines[#lines + 1] = line end
  end
  for _, line in ipairs(parts.plot.wrap(summary, width)) do lines[#lines + 1] = line end
  return table.concat(lines, "\n")
end

--- gr.show(a, count): what it is and where, `count` elements from each end, and statistics; lines of text.
return { show = function(a, count) return parts.timed(show, a, count) end }
