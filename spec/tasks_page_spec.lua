-- docs/tasks.md: every line of its table, beside a loop in plain Lua; and no elements go to the host or back.
local S = require "spec.support"
local gr = S.gr

local page = S.read_file "docs/tasks.md"
local load_text = rawget(_G, "loadstring") or load
local names = setmetatable({}, { __index = _G })
local function run(text)
  local f = assert(load_text(text))
  if rawget(_G, "setfenv") then return rawget(_G, "setfenv")(f, names)() end
  return assert(load(text, text, "t", names))()
end

local function near(x, y, what, k)
  local is_near = x == y or math.abs(x - y) <= 2e-5 * math.max(1, math.abs(x))
  if not is_near then error(("%s, %d: %.17g expected, got %.17g"):format(what, k, x, y), 0) end
end

local function compare(expected, got, what)
  if type(got) == "number" then return near(expected, got, what, 1) end
  local t = got.rows and got:slice():table() or got:table()
  assert.equal(#expected, #t, what)
  for k = 1, #t do near(expected[k], t[k], what, k) end
end

-- The samples as tables, and what each task gives by loops over them.
local function loops()
  local t = {}
  for _, name in ipairs { "x", "y", "holes", "group", "grey" } do t[name] = names[name]:table() end
  local n = #t.x
  local function map(f, count)
    local list = {}
    for k = 1, count or n do list[k] = f(k) end
    return list
  end
  local function sum(f, first, last, step)
    local total = 0
    for k = first, last, step or 1 do total = total + f(k) end
    return total
  end
  local means, spreads, most, points = {}, {}, {}, 21845
  for j = 1, 8 do
    means[j] = sum(function(k) return t.x[k] end, j, n, 8) / 8192
    spreads[j] = math.sqrt(sum(function(k) return (t.x[k] - means[j]) ^ 2 end, j, n, 8) / 8192)
  end
  for i = 1, 8192 do
    most[i] = -math.huge
    for j = 1, 8 do most[i] = math.max(most[i], t.x[(i - 1) * 8 + j]) end
  end
  local function column(k) return (k - 1) % 8 + 1 end
  local function row(k) return math.floor((k - 1) / 8) + 1 end
  local function mean_known(first, last)
    local count = sum(function(k) return t.holes[k] == t.holes[k] and 1 or 0 end, first, last)
    return sum(function(k) return t.holes[k] == t.holes[k] and t.holes[k] or 0 end, first, last) / count
  end
  local numbers, sums, greys, levels = {}, {}, {}, {}
  for g = 0, 16 do numbers[g], sums[g] = 0, 0 end
  for v = 0, 255 do greys[v] = 0 end
  for k = 1, n do
    numbers[t.group[k]] = numbers[t.group[k]] + 1
    sums[t.group[k]] = sums[t.group[k]] + t.x[k]
    greys[t.grey[k]] = greys[t.grey[k]] + 1
  end
  for v = 0, 255 do levels[v] = (levels[v - 1] or 0) + greys[v] end
  local centre = map(function(j) return sum(function(k) return t.y[k] end, j, 3 * points, 3) / points end, 3)
  return {
    ["centre the columns"] = function() return map(function(k) return t.x[k] - means[column(k)] end) end,
    ["bring them to deviation 1"] = function() return map(function(k) return t.x[k] / spreads[column(k)] end) end,
    ["each row in parts of its largest"] = function() return map(function(k) return t.x[k] / most[row(k)] end) end,
    ["how the columns vary together"] = function()
      return map(function(k)
        local i, j = row(k), column(k)
        return sum(function(r) return (t.x[r + i] - means[i]) * (t.x[r + j] - means[j]) end, 0, n - 8, 8) / 8192
      end, 64)
    end,
    ["rows as shares that add up to 1"] = function()
      return map(function(k)
        local first = (row(k) - 1) * 8
        return math.exp(t.x[k]) / sum(function(i) return math.exp(t.x[i]) end, first + 1, first + 8)
      end)
    end,
    ["the box around points"] = function()
      return map(function(j)
        local least = math.huge
        for k = j, 3 * points, 3 do least = math.min(least, t.y[k]) end
        return least
      end, 3)
    end,
    ["each point's distance from their centre"] = function()
      return map(function(i)
        return math.sqrt(sum(function(j) return (t.y[3 * i - 3 + j] - centre[j]) ^ 2 end, 1, 3))
      end, points)
    end,
    ["the mean of what was measured"] = function() return mean_known(1, n) end,
    ["of each station"] = function()
      return map(function(i) return mean_known((i - 1) * 1024 + 1, i * 1024) end, 64)
    end,
    ["holes filled with it"] = function()
      local mean = mean_known(1, n)
      return map(function(k) return t.holes[k] == t.holes[k] and t.holes[k] or mean end)
    end,
    ["samples beyond a threshold"] = function()
      local list = {}
      for k = 1, n do if t.x[k] > 1 then list[#list + 1] = t.x[k] end end
      return list
    end,
    ["how many of each group"] = function() return map(function(k) return numbers[k - 1] end, 17) end,
    ["the sum of each group"] = function() return map(function(g) return sums[g] end, 16) end,
    ["samples less their group's mean"] = function()
      return map(function(k) return t.x[k] - sums[t.group[k]] / numbers[t.group[k]] end)
    end,
    ["a picture that uses all of its range"] = function()
      return map(function(k) return math.floor(levels[t.grey[k]] * 255 / 65536) end)
    end,
    ["which column is the largest of each row"] = function()
      return map(function(i)
        local best = 1
        for j = 2, 8 do if t.x[i * 8 - 8 + j] > t.x[i * 8 - 8 + best] then best = j end end
        return best
      end, 8192)
    end,
    ["a running total"] = function()
      local total = 0
      return map(function(k)
        total = total + t.x[k]
        return total
      end)
    end,
    ["how far neighbours are apart"] = function() return map(function(k) return t.x[k + 1] - t.x[k] end, n - 1) end,
    ["loudness in blocks of 1024"] = function()
      return map(function(i)
        return math.sqrt(sum(function(k) return t.x[k] ^ 2 end, (i - 1) * 1024 + 1, i * 1024) / 1024)
      end, 64)
    end,
    ["where pairs crowd"] = function()
      local list = map(function() return 0 end, 1024)
      for k = 1, n do
        local i, j = math.floor((t.x[k] + 4) * 4), math.floor((t.y[k] + 4) * 4)
        if i >= 0 and i < 32 and j >= 0 and j < 32 then list[i * 32 + j + 1] = list[i * 32 + j + 1] + 1 end
      end
      return list
    end,
  }
end

describe("docs/tasks.md", function()
  run(page:match "```lua\n(.-)```")
  local made, count, by_loops = names, 0, nil
  for task, code in page:gmatch "\n| ([^|]-) | `([^`]+)` |" do
    count = count + 1
    it("has a line for: " .. task, function()
      by_loops = by_loops or loops()
      assert.is_nil(code:find "%f[%w]for%f[%W]" or code:find "while" or code:find "table%(")
      for _, name in ipairs { "x", "y", "X", "P", "holes", "H", "group", "grey" } do made[name]:prefetch() end
      local text = "return " .. code
      run(text)
      local before = gr.stats()
      local result = run(text)
      local after = gr.stats()
      local moved = after.bytes_down - before.bytes_down + after.bytes_up - before.bytes_up
      assert.is_true(moved <= 2048, moved .. " bytes moved")
      local f = by_loops[task]
      by_loops[task] = nil
      compare(f(), result, task)
    end)
  end

  it("has twenty lines", function() assert.equal(20, count) end)
end)
