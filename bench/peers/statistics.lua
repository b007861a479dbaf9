-- Medians and intervals that assume nothing of the distribution.
local statistics = {}

--- The median of a list, and the interval between two of its values that holds the true median with 95 % or more
-- (order statistics: the number of values below the median is binomial). Short lists give their extremes.
function statistics.median(list)
  local t, n = { table.unpack(list) }, #list
  table.sort(t)
  local middle = n % 2 == 1 and t[(n + 1) // 2] or (t[n // 2] + t[n // 2 + 1]) / 2
  local k, chance, tail = 0, 0.5 ^ n, 0 -- tail: the chance of at most k - 1 values below
  while 2 * (tail + chance) <= 0.05 do
    tail = tail + chance
    k = k + 1
    chance = chance * (n - k + 1) / k
  end
  k = math.max(k, 1)
  return middle, t[k], t[n + 1 - k]
end

--- The median ratio of two lists measured in turns, round by round, with its interval.
function statistics.ratio(upper, lower)
  local t = {}
  for k = 1, math.min(#upper, #lower) do t[k] = upper[k] / lower[k] end
  return statistics.median(t)
end

return statistics
