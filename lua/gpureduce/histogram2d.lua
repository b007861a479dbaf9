-- The methods of what gr.histogram2d returns; src/binding/histogram2d.c does the counting.
-- Fields: counts (a matrix: a row for each bin of x), xedges and yedges (f64 arrays), tails (outside, nan).
local histogram = {}
local tails = { outside = 1, nan = 2 }

histogram.__name = "gpureduce.histogram2d"
histogram.__metatable = "gpureduce.histogram2d" -- one script's changes would be every script's

-- outside and nan wait for the device when they are first read, not again.
function histogram.__index(h, key)
  if tails[key] then
    local value = h.tails[tails[key]]
    rawset(h, key, value)
    return value
  end
  return histogram[key]
end

return histogram
