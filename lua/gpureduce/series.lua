-- The series of a picture: what callers give as arrays and tables, read raw and checked.
local _, parts = ...

local series = {}

local floor, max, min, huge = math.floor, math.max, math.min, math.huge
local keys = { name = true, x = true, y = true, error = true, low = true, high = true }
local key_names = { "error", "high", "low", "name", "x", "y" }

local function is_array(value) return parts.check.kind(value) == "gpureduce.array" end

local function length(a) return #a end

-- Refuse what is neither a table nor an array that is still there.
local function check_values(values, where, fail)
  if type(values) == "table" then return end
  if not is_array(values) then
    fail("%s: table or gpureduce.array expected, got %s", where, parts.check.kind(values))
  end
  if not pcall(length, values) then fail("%s: array has been released", where) end
end

-- The numbers of an array or a table, as floats: integers would wrap at their ends.
local function numbers(values, where, fail)
  if is_array(values) then values = values:slice():table() end
  local list, n = {}, 0
  while true do
    local value = rawget(values, n + 1)
    if value == nil then return list end
    n = n + 1
    if n % 4096 == 0 then parts.check.look() end
    if type(value) ~= "number" then fail("%s: element %d: number expected, got %s", where, n, type(value)) end
    list[n] = value + 0.0
  end
end

--- The same, or why there are none.
function series.list(values, where, fail)
  check_values(values, where, fail)
  return numbers(values, where, fail)
end

-- A long array without x: the least, the mean and the greatest of each of at most `columns` equal parts (the last one
-- may be shorter), found where the data is.
local function outline(a, columns)
  local n, each = #a, math.ceil(#a / columns)
  local list, whole = {}, floor(n / each)
  local function add(first, last, low, high, mean)
    list[#list + 1] = { x = (first + last) / 2, low = low + 0.0, high = high + 0.0, mean = mean + 0.0 }
  end
  local part, by_rows = a:slice(1, whole * each), { rows = whole }
  local low, high, mean = part:min(by_rows):table(), part:max(by_rows):table(), part:mean(by_rows):table()
  for k = 1, whole do add((k - 1) * each + 1, k * each, low[k], high[k], mean[k]) end
  if whole * each < n then
    local rest = a:slice(whole * each + 1, n)
    add(whole * each + 1, n, rest:min(), rest:max(), rest:mean())
  end
  list[1].x, list[#list].x = 1, n
  return list
end

--- Refuse a table that gives more than it holds.
function series.check_plain(value, where, fail)
  if parts.inherits(value) then fail("%s: table without __index expected: tables are read raw", where) end
end

--- The same, of a table that has no other fields than these.
function series.check_fields(value, where, fail, ...)
  series.check_plain(value, where, fail)
  local fields, known = { ... }, {}
  for _, field in ipairs(fields) do known[field] = true end
  for key in next, value do
    if not known[key] then
      fail("%s: unknown field '%s' (fields: %s)", where, string.sub(tostring(key), 1, 40), table.concat(fields, ", "))
    end
  end
end

--- What an entry is called, or nil.
function series.name_of(entry, where, fail)
  local name = rawget(entry, "name")
  if name ~= nil and type(name) ~= "string" and type(name) ~= "number" then
    fail("%s: name: string or number expected, got %s", where, type(name))
  end
  return name and parts.text.of(name)
end

-- Lower and upper ends of error bars.
local function bounds(entry, where, s, fail)
  local wrong, low, high = rawget(entry, "error"), rawget(entry, "low"), rawget(entry, "high")
  if wrong ~= nil and (low ~= nil or high ~= nil) then fail("%s: 'error', or 'low' and 'high', not both", where) end
  if (low == nil) ~= (high == nil) then fail("%s: 'low' and 'high' come together", where) end
  local function list(values, key)
    check_values(values, where .. ": " .. key, fail)
    values = numbers(values, where .. ": " .. key, fail)
    if #values ~= #s.ys then fail("%s: %d numbers in '%s' expected, got %d", where, #s.ys, key, #values) end
    return values
  end
  if low ~= nil then
    s.low, s.high = list(low, "low"), list(high, "high")
  elseif wrong ~= nil then
    local each = type(wrong) ~= "number" and list(wrong, "error")
    s.low, s.high = {}, {}
    for k = 1, #s.ys do
      if k % 4096 == 0 then parts.check.look() end
      local e = math.abs(each and each[k] or wrong)
      s.low[k], s.high[k] = s.ys[k] - e, s.ys[k] + e
    end
  end
end

-- More points than are looked at one by one: s.pairs = { x, y }, arrays.
local function many(s, xs, ys, where, fail)
  local function array(values, key)
    if is_array(values) then return values:slice() end
    return parts.heat.array(numbers(values, where .. ": " .. key, fail))
  end
  local y = array(ys, "y")
  s.pairs = { x = xs and array(xs, "x") or parts.heat.positions(y), y = y }
  s.count = #y
  if #s.pairs.x ~= #y then fail("%s: %d numbers in 'y' expected, got %d", where, #s.pairs.x, #y) end
  return s
end

--- One entry of `lines`, `points` or `steps` as { name, kind, xs, ys, low, high }, or, for a long array without x,
-- { name, kind, outline = { { x, low, mean, high }, ... } } of `columns` parts, or, of more points than a picture shows
-- one by one, { name, kind, pairs = { x, y } }, arrays or expressions. where: what errors name.
function series.read(entry, where, kind, columns, fail)
  if is_array(entry) then entry = { y = entry } end
  if type(entry) ~= "table" then
    fail("%s: table or gpureduce.array expected, got %s", where, parts.check.kind(entry))
  end
  series.check_plain(entry, where, fail)
  for key in next, entry do
    if type(key) ~= "string" then fail("%s: names of its fields are strings, got a %s", where, type(key)) end
    if not keys[key] then
      fail("%s: unknown field '%s'%s", where, string.sub(key, 1, 40), parts.hint(key, key_names))
    end
  end
  local name, xs, ys = series.name_of(entry, where, fail), rawget(entry, "x"), rawget(entry, "y")
  if xs ~= nil then check_values(xs, where .. ": x", fail) end
  if ys ~= nil then check_values(ys, where .. ": y", fail) end
  if not ys then fail("%s: no 'y'", where) end
  local s = { name = name, kind = kind }
  local bare = rawget(entry, "error") == nil and rawget(entry, "low") == nil and rawget(entry, "high") == nil
  if not xs and bare and columns and kind ~= "points" and is_array(ys) and #ys > 4 * columns then
    s.outline, s.count = outline(ys, columns), #ys
    return s
  end
  if kind == "points" and bare and #ys > parts.heat.POINTS then return many(s, xs, ys, where, fail) end
  s.ys = numbers(ys, where .. ": y", fail)
  if xs then s.xs = numbers(xs, where .. ": x", fail) else
    s.xs = {}
    for i = 1, #s.ys do
      if i % 4096 == 0 then parts.check.look() end
      s.xs[i] = i
    end
  end
  if #s.xs ~= #s.ys then fail("%s: %d numbers in 'y' expected, got %d", where, #s.xs, #s.ys) end
  s.count = #s.ys
  bounds(entry, where, s, fail)
  return s
end

--- Whether a number can be drawn on an axis.
function series.drawable(x, log) return x - x == 0 and not (log and x <= 0) end

-- Grow { low, high } by x when it can be drawn.
local function widen(range, x, log)
  if series.drawable(x, log) then range[1], range[2] = min(range[1], x), max(range[2], x) end
end
series.widen = widen

--- Grow the ranges of both axes by what the series holds.
function series.reach(s, xs, ys, xlog, ylog)
  if s.pairs then
    for _, axis in ipairs { { xs, s.pairs.x, xlog }, { ys, s.pairs.y, ylog } } do
      local low, high = parts.heat.reach(axis[2], axis[3])
      widen(axis[1], low)
      widen(axis[1], high)
    end
    return
  end
  if s.outline then
    for _, c in ipairs(s.outline) do
      widen(xs, c.x, xlog)
      widen(ys, c.low, ylog)
      widen(ys, c.high, ylog)
    end
    return
  end
  for i = 1, #s.ys do
    if i % 4096 == 0 then parts.check.look() end
    local x, y = s.xs[i], s.ys[i]
    if series.drawable(x, xlog) and series.drawable(y, ylog) then
      widen(xs, x, xlog)
      widen(ys, y, ylog)
      if s.low then
        widen(ys, s.low[i], ylog)
        widen(ys, s.high[i], ylog)
      end
    end
  end
end

--- Least and greatest y of the series, or nothing when no number is there.
function series.extent(s)
  local xs, ys = { huge, -huge }, { huge, -huge }
  series.reach({ outline = s.outline, pairs = s.pairs, xs = s.xs, ys = s.ys }, xs, ys)
  if ys[1] <= ys[2] then return ys[1], ys[2] end
end

return series
