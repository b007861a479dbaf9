-- The programs in examples that people of several trades would write, beside the same in loops of plain Lua.
local S = require "spec.support"
local gr = S.gr
local round = S.model.round.f32
local unpack = table.unpack or unpack

-- What a program prints, on the device in use and on the CPU: the same but for the device's name. Then its numbers.
local function program(name, ...)
  local text = { S.child({}, "examples/" .. name .. ".lua", ...) }
  assert.equal(0, text[2], text[1])
  local cpu = S.child({ GPUREDUCE_DEVICE = "cpu" }, "examples/" .. name .. ".lua", ...)
  local pretend = S.child({ GPUREDUCE_DEVICE = "pretend" }, "examples/" .. name .. ".lua", ...)
  local function plain(s) return (s:gsub(" on [%w:]+", "", 1)) end
  assert.equal(plain(cpu), plain(text[1]))
  assert.equal(plain(cpu), plain(pretend))
  return function(pattern)
    local found = { cpu:match(pattern) }
    assert.truthy(found[1], pattern .. " is not in\n" .. cpu)
    for k, value in ipairs(found) do found[k] = tonumber(value) end
    return unpack(found)
  end, cpu
end

local function near(expected, got, tolerance)
  assert.is_true(math.abs(expected - got) <= tolerance, got .. ", expected " .. expected)
end

describe("examples/kmeans.lua", function()
  it("finds the crowds that Lloyd's rounds point by point find", function()
    local n, k, tau = 500, 5, 2 * math.pi / 5
    local _, text = program("kmeans", n)
    local x, noise = {}, gr.randn(2 * n, { seed = 2 }):table()
    local crowd = gr.choice(gr.arange(1, k, "i64"), n, { weights = gr.arange(2, k + 1), seed = 1 }):table()
    for i = 1, n do
      x[i] = { noise[2 * i - 1] + 4 * math.cos(crowd[i] * tau), noise[2 * i] + 4 * math.sin(crowd[i] * tau) }
    end
    local centres, of = {}, {}
    for c, i in ipairs(gr.choice(gr.arange(1, n, "i64"), k, { replace = false, seed = 6 }):table()) do
      centres[c] = { x[i][1], x[i][2] }
    end
    local rounds, moved, sizes = 0, true, nil
    while moved do
      rounds, moved, sizes = rounds + 1, false, { 0, 0, 0, 0, 0 }
      local sums = { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } }
      for i = 1, n do
        local best, least = 0, math.huge
        for c = 1, k do
          local d = (x[i][1] - centres[c][1]) ^ 2 + (x[i][2] - centres[c][2]) ^ 2
          if d < least then best, least = c, d end
        end
        if of[i] ~= best then of[i], moved = best, true end
        sizes[best] = sizes[best] + 1
        sums[best][1], sums[best][2] = sums[best][1] + x[i][1], sums[best][2] + x[i][2]
      end
      for c = 1, k do centres[c] = { sums[c][1] / sizes[c], sums[c][2] / sizes[c] } end
    end
    assert.truthy(text:find((": %d rounds"):format(rounds), 1, true), text)
    local c = 0
    for count, cx, cy in text:gmatch "(%d+) points around %(([%d.-]+), ([%d.-]+)%)" do
      c = c + 1
      assert.equal(sizes[c], tonumber(count))
      near(centres[c][1], tonumber(cx), 0.001)
      near(centres[c][2], tonumber(cy), 0.001)
    end
    assert.equal(k, c)
  end)
end)

describe("examples/softmax.lua", function()
  it("descends as loops over samples do", function()
    local n, kinds, d = 300, 3, 4
    local number = program("softmax", n)
    local around, spread = { { 1, 0, 0, 1 }, { -0.5, 0.9, 1, 1 }, { -0.5, -0.9, -1, 1 } }, { 0.7, 0.7, 1, 0 }
    local kind, noise = gr.randint(1, kinds, n, "i64", { seed = 1 }):table(), gr.randn(n * d, { seed = 2 }):table()
    local x, w, first, loss, right = {}, {}, nil, nil, nil
    for i = 1, n do
      x[i] = {}
      for j = 1, d do x[i][j] = noise[(i - 1) * d + j] * spread[j] + around[kind[i]][j] end
    end
    for k = 1, kinds do w[k] = { 0, 0, 0, 0 } end
    for step = 1, 201 do -- the last one only looks
      local gradient = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } }
      local sum_of_logs
      sum_of_logs, right = 0, 0
      for i = 1, n do
        local e, all, best = {}, 0, 1
        for k = 1, kinds do
          local score = 0
          for j = 1, d do score = score + w[k][j] * x[i][j] end
          e[k] = math.exp(score)
          all = all + e[k]
          if e[k] > e[best] then best = k end
        end
        sum_of_logs = sum_of_logs - math.log(e[kind[i]] / all)
        if best == kind[i] then right = right + 1 end
        for k = 1, kinds do
          local r = e[k] / all - (k == kind[i] and 1 or 0)
          for j = 1, d do gradient[k][j] = gradient[k][j] + r * x[i][j] end
        end
      end
      first = first or sum_of_logs / n
      if step <= 200 then
        loss = sum_of_logs / n
        for k = 1, kinds do
          for j = 1, d do w[k][j] = w[k][j] - 0.5 / n * gradient[k][j] end
        end
      end
    end
    local before, after = number "loss ([%d.]+) before, ([%d.]+) after"
    near(first, before, 1e-5)
    near(loss, after, 1e-4)
    near(100 * right / n, number "([%d.]+) %% are told right", 0.4) -- one sample on the border
    for k = 1, kinds do
      local a, b, c, bias = number("kind " .. k .. ": +([%d.-]+) +([%d.-]+) +([%d.-]+), bias +([%d.-]+)")
      for j, value in ipairs { a, b, c, bias } do near(w[k][j], value, 2e-3) end
    end
  end)
end)

describe("examples/equalise.lua", function()
  it("gives each pixel the level that counting gives", function()
    local bytes, counts, lowest = {}, {}, 255
    for i = 1, 600 do
      local level = 60 + i * i % 37
      bytes[i], counts[level], lowest = string.char(level), (counts[level] or 0) + 1, math.min(lowest, level)
    end
    local map, below = {}, 0
    for level = lowest, 255 do
      below = below + (counts[level] or 0)
      local value = 255 * (below - counts[lowest]) / (600 - counts[lowest])
      map[string.char(level)] = string.char(math.floor(value + 0.5))
    end
    S.with_file(function(from)
      S.write_file(from, "P5 # dull\n30 20\n255\n" .. table.concat(bytes))
      S.with_file(function(to)
        local number = program("equalise", from, to)
        assert.equal("P5\n30 20\n255\n" .. table.concat(bytes):gsub(".", map), S.read_file(to))
        assert.equal(60, (number "before: +levels +(%d+)"))
        assert.equal(0, (number "after: +levels +(%d+)"))
      end)
    end)
  end)

  it("makes a picture of its own, and refuses what is none", function()
    local number = program "equalise"
    local low, high = number "before: +levels +(%d+) to (%d+)"
    assert.is_true(low > 90 and high < 180)
    assert.equal(255, select(2, number "after: +levels +(%d+) to (%d+)"))
    S.with_file(function(name)
      for _, text in ipairs { "", "P5", "P6 1 1 255\n123", "P5 2 2 255\nabc", "P5 2 2 65535\n12345678",
        "P5 0 9 255\n" } do
        S.write_file(name, text)
        local said, status = S.child({}, "examples/equalise.lua", name)
        assert.not_equal(0, status, text)
        assert.is_nil(said:find("traceback", 1, true), said)
      end
    end)
  end)
end)

describe("examples/boxes.lua", function()
  it("finds the boxes that overlap", function()
    local each, swarms, frames, dt = 40, 12, 60, round(1 / 60)
    local number = program("boxes", each)
    local noise = gr.randn(swarms * each * 3, { seed = 1 }):table()
    local function of_swarm(seed)
      local t = gr.rand(swarms * 3, { seed = seed }):table()
      for k, value in ipairs(t) do t[k] = round(round(value * 4) - 2) end
      return t
    end
    local where, speed, places = of_swarm(2), of_swarm(3), {}
    for e = 1, #noise do
      local key = math.floor((e - 1) / 3 / each) * 3 + (e - 1) % 3 + 1
      places[e] = { round(round(noise[e] * round(0.3)) + where[key]), speed[key], key }
    end
    local overlaps, low, high = 0, nil, nil
    for _ = 1, frames do
      low, high = {}, {}
      for _, p in ipairs(places) do
        p[1] = round(p[1] + round(dt * p[2]))
        low[p[3]] = math.min(low[p[3]] or p[1], p[1])
        high[p[3]] = math.max(high[p[3]] or p[1], p[1])
      end
      for a = 0, swarms - 2 do
        for b = a + 1, swarms - 1 do
          local meet = true
          for axis = 1, 3 do
            meet = meet and low[3 * a + axis] <= high[3 * b + axis] and low[3 * b + axis] <= high[3 * a + axis]
          end
          if meet then overlaps = overlaps + 1 end
        end
      end
    end
    local looked, found = number "(%d+) pairs of boxes in %d+ frames, (%d+) overlap"
    assert.equal(12 * 11 / 2 * frames, looked)
    assert.equal(overlaps, found)
    local corner = { number "all of them: %(([%d.-]+), ([%d.-]+), ([%d.-]+)%) to %(([%d.-]+), ([%d.-]+), ([%d.-]+)%)" }
    for axis = 1, 3 do
      local least, most = math.huge, -math.huge
      for s = 0, swarms - 1 do
        least, most = math.min(least, low[3 * s + axis]), math.max(most, high[3 * s + axis])
      end
      near(least, corner[axis], 0.0006)
      near(most, corner[axis + 3], 0.0006)
    end
  end)
end)

describe("examples/loudness.lua", function()
  it("measures what its definition says, sample by sample", function()
    local seconds, rate, tau = 3, 48000, 2 * math.pi
    local number = program("loudness", seconds)
    local n = seconds * rate
    local noise, s, peak = gr.randn(n, { seed = 1 }):table(), {}, 0
    for i = 1, n do
      local t = seconds * (i - 1) / (n - 1)
      local w = math.max(math.sin(2.1 * t) + 0.6 * math.sin(5.3 * t) - 0.2, 0) ^ 2
      s[i] = 0.2 * w * (math.sin(tau * 200 / rate * i) + 0.3 * noise[i]) + 0.0005 * math.sin(tau * 50 / rate * i)
      peak = math.max(peak, math.abs(s[i]))
    end
    local powers, hop = {}, rate / 10
    for b = 1, n / hop - 3 do
      local sum = 0
      for i = (b - 1) * hop + 1, (b + 3) * hop do sum = sum + s[i] * s[i] end
      powers[b] = sum / (4 * hop)
    end
    local function gated(threshold)
      local sum, count = 0, 0
      for _, p in ipairs(powers) do
        if -0.691 + 10 * math.log(p) / math.log(10) > threshold then sum, count = sum + p, count + 1 end
      end
      return -0.691 + 10 * math.log(sum / count) / math.log(10), count
    end
    local loudness, used = gated(gated(-70) - 10)
    local said_peak, said, blocks, count = number
      "peak ([%d.-]+) dB, loudness ([%d.-]+) LUFS %(of (%d+) blocks (%d+) count"
    near(20 * math.log(peak) / math.log(10), said_peak, 0.011)
    near(loudness, said, 0.002)
    assert.equal(#powers, blocks)
    assert.equal(used, count)
    local gain, largest, clipped = number "gain ([%d.+-]+) dB; largest sample (%d+), clipped (%d+)"
    near(-23 - loudness, gain, 0.006)
    assert.is_true(largest > 0 and largest <= 32767 and clipped == 0)
  end)
end)

describe("examples/survey.lua", function()
  it("leaves out what is missing, as loops do", function()
    local stations, days, n = 3, 365, 8760
    local number = program("survey", stations)
    local height, fails = gr.rand(stations, { seed = 1 }):table(), gr.rand(stations, { seed = 3 }):table()
    local noise, chance = gr.randn(n * stations, { seed = 2 }):table(), gr.rand(n * stations, { seed = 4 }):table()
    local all, sums, counts, day_sums, day_counts, frost = {}, { 0, 0, 0 }, { 0, 0, 0 }, {}, {}, {}
    for h = 0, n - 1 do
      local day = math.floor(h / 24) + 1
      for s = 1, stations do
        local k = h * stations + s
        local t = 10 - 9 * math.cos(2 * math.pi / n * h) - 4 * math.cos(2 * math.pi / 24 * h) - 12 * height[s]
          + 2 * noise[k]
        if chance[k] >= round(fails[s] * round(0.2)) and not (s == 2 and h >= n / 2) then
          all[#all + 1] = t
          sums[s], counts[s] = sums[s] + t, counts[s] + 1
          day_sums[day], day_counts[day] = (day_sums[day] or 0) + t, (day_counts[day] or 0) + 1
          frost[day] = frost[day] or t < 0
        end
      end
    end
    table.sort(all)
    local sum, squares = 0, 0
    for _, t in ipairs(all) do sum = sum + t end
    local mean = sum / #all
    for _, t in ipairs(all) do squares = squares + (t - mean) ^ 2 end
    near(100 * (1 - #all / (n * stations)), number "hours, ([%d.]+) %% of the readings", 0.006)
    local said, deviation, least, most = number "mean ([%d.-]+), deviation ([%d.]+), from ([%d.-]+) to ([%d.-]+)"
    near(mean, said, 0.0006)
    near(math.sqrt(squares / #all), deviation, 0.0006)
    near(all[1], least, 0.006)
    near(all[#all], most, 0.006)
    local best, coldest, days_of_frost = 1, 1, 0
    for s = 2, stations do
      if sums[s] / counts[s] > sums[best] / counts[best] then best = s end
    end
    for day = 1, days do
      if frost[day] then days_of_frost = days_of_frost + 1 end
      if day_sums[day] / day_counts[day] < day_sums[coldest] / day_counts[coldest] then coldest = day end
    end
    local warmest, warm = number "warmest station (%d+) %(([%d.-]+)%)"
    assert.equal(best, warmest)
    near(sums[best] / counts[best], warm, 0.006)
    local station, hours = number "station (%d+) misses (%d+) hours"
    assert.equal(2, station)
    assert.equal(n - counts[2], hours)
    local median = number "half below ([%d.-]+)"
    near((all[math.floor((#all + 1) / 2)] + all[math.ceil((#all + 1) / 2)]) / 2, median, 0.006)
    near(days_of_frost, number "frost on (%d+) days", 1) -- f32 and f64 may part at 0
    assert.equal(coldest, (number "coldest day was day (%d+)"))
  end)
end)

describe("examples/README.md", function()
  it("names every program, and pictures that are there", function()
    local text = S.read_file "examples/README.md"
    for file in require("lfs").dir "examples" do
      if file:find "%.lua$" then
        assert.truthy(text:find("[" .. file .. "](" .. file .. ")", 1, true), file .. " is not named")
      end
    end
    for picture in text:gmatch "%((pictures/[^)]*)%)" do
      assert.equal(picture:find "%.png$" and "\137PNG" or "<svg", S.read_file("examples/" .. picture):sub(1, 4))
    end
  end)
end)
