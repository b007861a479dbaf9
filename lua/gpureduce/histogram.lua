-- What gr.histogram returns: the counting is the C part's, the looking at it is here.
-- Fields: counts (i64 array), edges (f64 array, one more), tails (i64 array: below, above, nan).
local _, parts = ...

local histogram = {}
local tails = { below = 1, above = 2, nan = 3 }

histogram.__name = "gpureduce.histogram"

-- below, above and nan wait for the device at first sight only.
function histogram.__index(h, key)
  if tails[key] then
    local value = h.tails[tails[key]]
    rawset(h, key, value)
    return value
  end
  return histogram[key]
end

function histogram.__len(h) return #h.counts end

--- The value below which the share q (0 to 1) of the counted samples lies, linear within its bin; nil without samples.
function histogram.quantile(h, q)
  if type(q) ~= "number" or not (q >= 0 and q <= 1) then
    error("bad argument #2 to 'quantile' (share from 0 to 1 expected, got " .. tostring(q) .. ")", 2)
  end
  local counts, edges, total = h.counts:table(), h.edges:table(), 0
  for k = 1, #counts do total = total + counts[k] end
  if total == 0 then return nil end
  local wanted, before = q * total, 0
  for k = 1, #counts do
    local after = before + counts[k]
    if counts[k] > 0 and after >= wanted then
      return edges[k] + (edges[k + 1] - edges[k]) * ((wanted - before) / counts[k])
    end
    before = after
  end
end

--- The histogram as text, one bar a line; options: width, height, ascii.
function histogram.plot(h, options)
  return parts.plot.histogram({
    counts = h.counts:table(), edges = h.edges:table(), below = h.below, above = h.above, nan = h.nan,
  }, options)
end

function histogram.__tostring(h) return histogram.plot(h) end

return histogram
