-- The fields of what gr.histogram and gr.histogram2d return. Those are tables, in which scripts may have put others.
local _, parts = ...

local fields = {}

--- The __index of such tables: what lies outside (names: its place in the array `tails`) waits for the device when it
-- is first read, not again; else methods.
function fields.index(h, key, methods, names)
  if not names[key] then return methods[key] end
  local tails = rawget(h, "tails")
  if parts.check.kind(tails) ~= "gpureduce.array" then return nil end
  local value = tails[names[key]]
  rawset(h, key, value)
  return value
end

local function length_of(h, key, fail)
  local kind = parts.check.kind(rawget(h, key))
  if kind ~= "gpureduce.array" then fail("field '%s': array expected, got %s", key, kind) end
  local here, length = pcall(function() return #rawget(h, key) end)
  if not here then fail("field '%s': array has been released", key) end
  return length
end

local function check_number(h, key, fail)
  if type(h[key]) ~= "number" then fail("field '%s': number expected, got %s", key, parts.check.kind(h[key])) end
end

--- An error of the method of this name.
function fields.failing(name)
  return function(text, ...) parts.check.fail(name, 1, text, ...) end
end

--- An error by fail(text, ...) that names the field, unless a histogram's counts and edges are what its methods read.
function fields.check_bins(h, fail)
  local bins = length_of(h, "counts", fail)
  local edges = length_of(h, "edges", fail)
  if edges ~= bins + 1 then
    fail("field 'edges': length %d expected, one more than 'counts' has, got %d", bins + 1, edges)
  end
end

--- The same of all its fields.
function fields.check(h, fail)
  fields.check_bins(h, fail)
  for _, key in ipairs { "below", "above", "nan" } do check_number(h, key, fail) end
end

--- And of those of a histogram of pairs.
function fields.check_pairs(h, fail)
  local cells = length_of(h, "counts", fail)
  local rows, columns = length_of(h, "xedges", fail) - 1, length_of(h, "yedges", fail) - 1
  local found = h.counts.rows
  if found ~= rows or cells ~= rows * columns then
    fail("field 'counts': matrix of %d x %d expected, as the edges say, got %s", rows, columns,
      found and found > 0 and string.format("%d x %d", found, cells / found) or string.format("length %d", cells))
  end
  for _, key in ipairs { "outside", "nan" } do check_number(h, key, fail) end
end

return fields
