-- Heat maps: the numbers of a matrix, of a histogram of pairs, or of many points, as cells that a picture has room for.
-- What has more is merged where it is, by histograms of the positions, so that Lua sees what is drawn and no more.
--
-- A heat map: { columns, rows, xedges, yedges (rising, one more than cells), value = f(column, row) -> number or nil
-- where nothing is drawn, low, high (of what is drawn, or nil), noun, note, down = whether the y axis goes down,
-- numbered_x, numbered_y = whether an axis counts columns or rows, zero = whether its scale begins at 0 }
local gr, parts = ...

local heat = {}

local ceil, floor, max, min, huge = math.ceil, math.floor, math.max, math.min, math.huge
local fuse, histogram2d, make, copy = gr.fuse, gr.histogram2d, gr.array, gr.copy

--- The most cells of a picture each way, however large it is.
heat.MOST = 600

--- A scatter plot of more points than this is drawn as a heat map.
heat.POINTS = 100000

-- ---- numbers ----

local formulas = {} -- by their text, read when they are first needed

local function formula(text, inputs)
  formulas[text] = formulas[text] or fuse(text)
  return formulas[text](inputs)
end

-- Every g-th edge, and the last.
local function thinned(edges, g)
  local list = {}
  for k = 1, #edges - 1, g do list[#list + 1] = edges[k] end
  list[#list + 1] = edges[#edges]
  return list
end

-- The elements of a (rows of them, read row by row) as at most `most_rows` times `most_columns` cells: the sums of what
-- is finite and how many that are, lists row by row; and how many rows and columns make a cell.
local function merged(a, rows, most_rows, most_columns)
  local columns = #a / rows
  local g, h = ceil(rows / most_rows), ceil(columns / most_columns)
  if g == 1 and h == 1 then return a:table(), nil, 1, 1 end
  local inputs = { a = a, columns = columns }
  local row = formula("where(isfinite(f64(a)), f64((i - 1) // columns), 0.0 / 0.0)", inputs)
  local column = formula("f64((i - 1) % columns) + 0 * f64(isnan(f64(a)))", inputs)
  local options = { bins = { ceil(rows / g), ceil(columns / h) } }
  options.range = { { 0, options.bins[1] * g }, { 0, options.bins[2] * h } }
  local numbers = histogram2d(row, column, options).counts:slice():table()
  options.weights = formula("where(isfinite(f64(a)), f64(a), 0)", { a = a })
  return histogram2d(row, column, options).counts:slice():table(), numbers, g, h
end

-- ---- what is given ----

-- The least and the greatest of what is drawn.
local function measure(m)
  for j = 1, m.rows do
    for i = 1, m.columns do
      if (j * m.columns + i) % 4096 == 0 then parts.check.look() end
      local v = m.value(i, j)
      if v then m.low, m.high = min(m.low or v, v), max(m.high or v, v) end
    end
  end
  return m
end

local function say_merged(m, g, h)
  if g > 1 or h > 1 then m.note = string.format("each cell is the mean of %d x %d", g, h) end
end

--- Of a histogram of pairs. mode: of its cells (heat.mode_of).
function heat.of_pairs(h, mode, most_columns, most_rows)
  local nx, ny = h.counts.rows, #h.yedges - 1
  local sums, numbers, g, k = merged(h.counts:slice(), nx, most_columns, most_rows)
  local m = { xedges = thinned(h.xedges:table(), g), yedges = thinned(h.yedges:table(), k),
    columns = ceil(nx / g), rows = ceil(ny / k) }
  local total = mode == "density" and h.counts:sum() + 0.0 or 1
  function m.value(i, j)
    local at = (i - 1) * m.rows + j
    local v = sums[at] + 0.0
    if v == 0 or v - v ~= 0 then return nil end
    if mode == "count" then return numbers and v / numbers[at] or v end
    v = v / (m.xedges[i + 1] - m.xedges[i]) / (m.yedges[j + 1] - m.yedges[j]) / total
    return v - v == 0 and v or nil
  end
  m.noun = mode == "density" and "density" or h.counts.dtype == "i64" and "count" or "weight"
  if mode == "per area" then m.noun = m.noun .. " per area" end
  measure(m)
  if m.noun == "count" and m.low then m.zero = true end
  if mode == "count" then say_merged(m, g, k) elseif g > 1 or k > 1 then
    m.note = string.format("each cell is %d x %d bins", g, k)
  end
  return m
end

--- Whether bins differ in size where they are drawn: then counts of them do not compare.
function heat.is_even(h, xlog, ylog)
  local is_even = parts.svg_bars.is_even
  return is_even({ { edges = h.xedges:table() } }, xlog) and is_even({ { edges = h.yedges:table() } }, ylog)
end

--- What the cells of a histogram of pairs show: "density", "count" or "per area". density: the option's value.
function heat.mode_of(h, density, xlog, ylog)
  if density == nil and h.density ~= nil then density = true end
  return density and "density" or (density == false or heat.is_even(h, xlog, ylog)) and "count" or "per area"
end

--- Of a matrix a between these edges (nil: its rows and columns are numbered, from the top and from the left).
function heat.of_matrix(a, xedges, yedges, most_columns, most_rows)
  local rows, flat = a.rows, a:slice()
  local columns = rows > 0 and #flat / rows or 0
  local m = { down = not yedges, numbered_x = not xedges, numbered_y = not yedges }
  local sums, numbers, g, h = {}, nil, 1, 1
  if #flat > 0 then sums, numbers, g, h = merged(flat, rows, most_rows, most_columns) end
  -- In the order of the elements; turned round if they fall.
  local function edges(given, n, each)
    local list = {}
    for k = 0, n do
      list[k + 1] = not given and k + 0.5 or #given > 2 and given[k + 1] or k == n and given[2]
        or given[1] + (given[2] - given[1]) * (k / n)
    end
    list = thinned(list, each)
    if list[1] <= list[#list] then return list, false end
    for k = 1, floor(#list / 2) do list[k], list[#list + 1 - k] = list[#list + 1 - k], list[k] end
    return list, true
  end
  local left, up
  m.columns, m.rows = ceil(columns / h), ceil(rows / g)
  m.xedges, left = edges(xedges, columns, h)
  m.yedges, up = edges(yedges, rows, g)
  function m.value(i, j)
    local at = ((up and m.rows + 1 - j or j) - 1) * m.columns + (left and m.columns + 1 - i or i)
    local v = sums[at] + 0.0
    if numbers then v = numbers[at] > 0 and v / numbers[at] or huge end
    return v - v == 0 and v or nil
  end
  say_merged(m, g, h)
  return measure(m)
end

--- What lies in no cell, in words, or nil.
function heat.outside(h)
  local list = {}
  for _, name in ipairs { "outside", "nan" } do
    if h[name] ~= 0 then list[#list + 1] = parts.text.format("%s %.14g", name, h[name]) end
  end
  return list[1] and "not shown: " .. table.concat(list, ", ")
end

-- ---- many points ----

-- The samples of one axis: what cannot be drawn on one of ratios is NaN.
local function samples(a, log)
  if not log then return a end
  return formula("where(f64(a) > 0, f64(a), 0.0 / 0.0)", { a = a })
end

--- The least and the greatest coordinate of many points that can be drawn, found where they are; huge and -huge if
-- there is none.
function heat.reach(a, log)
  local text = log and "where(isfinite(f64(a)) and f64(a) > 0, f64(a), none)"
    or "where(isfinite(f64(a)), f64(a), none)"
  return formula(text, { a = a, none = huge }):min(), formula(text, { a = a, none = -huge }):max()
end

--- Positions 1, 2, 3, ... beside an array.
function heat.positions(y)
  return formula("f64(i) + 0 * f64(isnan(f64(y)))", { y = y })
end

--- An array of the numbers of a list.
function heat.array(list) return make(list, "f64") end

--- How many points lie in each of columns x rows cells between these ends, { low, high } each.
function heat.of_points(pairs, xs, ys, xlog, ylog, columns, rows)
  for _, ends in ipairs { xs, ys } do
    if ends[2] - ends[1] == huge then -- farther apart no bins are
      ends[1], ends[2] = max(ends[1], -8e307), min(ends[2], 8e307)
    end
  end
  local h = histogram2d(samples(pairs.x, xlog), samples(pairs.y, ylog), { bins = { columns, rows },
    range = { xs, ys }, log = { xlog and true or false, ylog and true or false } })
  local m = heat.of_pairs(h, "count", columns, rows)
  m.noun = "points"
  return m
end

-- ---- the scale ----

--- The scale of its colours: an axis, on which value(cell) has a share. limits: { low, high }, each or nil.
function heat.scale(m, log, limits, wanted)
  local low, high = m.low, m.high
  if log then -- the least above 0
    low = huge
    for j = 1, m.rows do
      for i = 1, m.columns do
        if (j * m.columns + i) % 4096 == 0 then parts.check.look() end
        local v = m.value(i, j)
        if v and v > 0 then low = min(low, v) end
      end
    end
    if low == huge then low, high = 1, 10 end
  elseif m.zero then low = min(low, 0) end
  low, high = limits[1] or low or 0, limits[2] or high or 1
  if low > high then
    if limits[1] then high = low else low = high end
  end
  local scale = log and parts.axis.log(low, high, wanted, log == 2 and 2 or 10, true)
    or parts.axis.linear(low, high, wanted, low < high)
  scale.first, scale.last = low, high
  return scale
end

local matrices = { ["gpureduce.array"] = true, ["gpureduce.transposed"] = true }

--- The rows of what may be a matrix, or nil.
function heat.rows_of(value)
  if not matrices[parts.check.kind(value)] then return nil end
  local found, rows = pcall(function() return value.rows end)
  return found and rows or nil
end

--- A matrix as an array that lies row by row: a transposed one is copied.
function heat.plain(a)
  return parts.check.kind(a) == "gpureduce.transposed" and copy(a) or a
end

--- The level of a value's colour, or nil where it has none.
function heat.level(scale, value, log)
  if not value or (log and value <= 0) then return nil end
  return parts.colours.level_of(scale.scale(value))
end

-- ---- options ----

-- Two ends or all edges, as a list.
local function read_edges(entry, key, n, where, fail)
  local given = rawget(entry, key)
  if given == nil then return nil end
  local list = parts.series.list(given, where .. ": " .. key, fail)
  if #list ~= 2 and #list ~= n + 1 then
    fail("%s: %s: 2 ends or %d edges expected, got %d", where, key, n + 1, #list)
  end
  local rising = list[2] and list[2] > list[1]
  for k = 1, #list do
    if k % 4096 == 0 then parts.check.look() end
    if list[k] - list[k] ~= 0 then fail("%s: %s: finite numbers expected, got %.14g", where, key, list[k]) end
    if k > 1 and (list[k] > list[k - 1]) ~= rising or list[k] == list[k - 1] then
      fail("%s: %s: numbers that rise or fall expected", where, key)
    end
  end
  return list
end

--- The option `heat`: a matrix, a histogram of pairs, or { values =, x =, y = }. Gives the histogram, or nil, the
-- matrix and the edges of both axes.
function heat.read(given, where, fail)
  local values, x, y = given, nil, nil
  if type(given) == "table" and not parts.is_histogram2d(given) then
    parts.series.check_fields(given, where, fail, "values", "x", "y")
    values = rawget(given, "values")
    if parts.is_histogram2d(values) then fail("%s: values: a histogram of pairs comes with its edges", where) end
  end
  if parts.is_histogram2d(values) then
    parts.fields.check_pairs(values, function(text, ...) fail("%s: %s", where, parts.text.format(text, ...)) end)
    return values
  end
  local kind, rows = parts.check.kind(values), heat.rows_of(values)
  if not rows then
    if kind == "gpureduce.array" then kind = "an array without rows" end
    fail("%s: matrix or gpureduce.histogram2d expected, got %s", where, kind)
  end
  if given ~= values then
    x = read_edges(given, "x", rows > 0 and #values / rows or 0, where, fail)
    y = read_edges(given, "y", rows, where, fail)
  end
  return nil, heat.plain(values), x, y
end

return heat
