-- The examples run, and say what is so.
local S = require "spec.support"

describe("examples/bytes.lua", function()
  it("knows the entropy and the most common bytes", function()
    S.with_file(function(name)
      S.write_file(name, ("ab\n "):rep(25000) .. ("\0"):rep(100000))
      local text, status = S.child({ COLUMNS = "60" }, "examples/bytes.lua", name)
      assert.equal(0, status, text)
      assert.truthy(text:find("200000 bytes", 1, true), text)
      assert.truthy(text:find("entropy: 2.0000 bits a byte", 1, true), text)
      assert.truthy(text:find("5 of 256 values occur", 1, true), text)
      assert.truthy(text:find("0  0x00  nul             100000  50.00 %", 1, true), text)
      assert.truthy(text:find("newline"), text)
      for line in text:match("a bar:\n(.*)"):gmatch("[^\n]+") do
        assert.is_true(select(2, line:gsub("[^\128-\191]", "")) <= 60, line)
      end
    end)
  end)

  it("takes an empty file, and says what it cannot open", function()
    S.with_file(function(name)
      local text, status = S.child({}, "examples/bytes.lua", name)
      assert.equal(0, status, text)
      assert.truthy(text:find("0 bytes", 1, true))
    end)
    local text, status = S.child({}, "examples/bytes.lua", "/nowhere/at/all")
    assert.not_equal(0, status)
    assert.truthy(text:find("/nowhere/at/all: No such file", 1, true))
  end)
end)

describe("examples/exposure.lua", function()
  it("makes a picture of its own", function()
    local text, status = S.child({}, "examples/exposure.lua")
    assert.equal(0, status, text)
    assert.truthy(text:find("320 x 200 pixels", 1, true), text)
    assert.truthy(text:find("exposure: multiply by", 1, true), text)
  end)

  it("brings a grey picture to middle grey", function()
    S.with_file(function(name)
      S.write_file(name, "P6 # a comment\n10 20\n255\n" .. ("\118"):rep(10 * 20 * 3)) -- 118 is 0.181 in linear light
      local text, status = S.child({}, "examples/exposure.lua", name)
      assert.equal(0, status, text)
      assert.truthy(text:find("10 x 20 pixels", 1, true), text)
      assert.truthy(text:find("luminance: mean 0.1812, largest 0.1812", 1, true), text)
      local factor = tonumber(text:match("multiply by ([%d.]+)"))
      assert.is_true(factor > 0.9 and factor < 1.1, text)
    end, ".ppm")
  end)

  it("refuses what is no picture", function()
    S.with_file(function(name)
      for _, bytes in ipairs { "", "P6", "P5 1 1 255\n1", "P6 2 2 255\nshort", "P6 2 2 65535\n" } do
        S.write_file(name, bytes)
        local text, status = S.child({}, "examples/exposure.lua", name)
        assert.not_equal(0, status, bytes)
        assert.is_nil(text:find("traceback", 1, true), text)
      end
    end, ".ppm")
  end)
end)

-- Run an example; its text, checked to have ended well, and to have allocated nothing after its first turn.
local function run(environment, name, ...)
  local text, status = S.child(environment, "examples/" .. name .. ".lua", ...)
  assert.equal(0, status, text)
  local allocated = text:match("arrays allocated after the first [%a ]+: (%d+)")
  if allocated then assert.equal("0", allocated, text) end
  return text, function(pattern)
    local a, b, c, d = text:match(pattern)
    assert.truthy(a, text)
    return tonumber(a), tonumber(b), tonumber(c), tonumber(d)
  end
end

-- What the example prints, but for the device's name, on the device in use and on the CPU: the same bits.
local function same_everywhere(name, ...)
  local here, number = run({}, name, ...)
  local cpu = run({ GPUREDUCE_DEVICE = "cpu" }, name, ...)
  assert.equal((cpu:gsub(" on %S+\n", "\n", 1)), (here:gsub(" on %S+\n", "\n", 1)))
  return number
end

describe("examples/operator.lua", function()
  it("agrees with what the module has built in", function()
    local text, status = S.child({}, "examples/operator.lua", 2000)
    assert.equal(0, status, text)
    assert.truthy(text:find("2000 steps: furthest at %d+, %d"), text)
    assert.truthy(text:find("highest after half of it", 1, true), text)
  end)
end)

describe("examples/residual.lua", function()
  it("comes to the solution", function()
    local number = same_everywhere("residual", 20) -- which has second differences without error
    assert.equal(2000, number "20 cells, (%d+) steps")
    local norm, error_most = number "residual: ([%d.e+-]+), largest error: ([%d.e+-]+)"
    assert.is_true(norm < 1e-8 and error_most < 1e-9, norm .. " " .. error_most)
    run({ GPUREDUCE_DEVICE = "pretend" }, "residual", 8)
  end)
end)

describe("examples/mandelbrot.lua", function()
  it("draws what plain Lua counts", function()
    local number = same_everywhere("mandelbrot", 30)
    local inside, left, steps_left = 0, 0, 0
    for r = 0, 9 do
      for c = 0, 29 do
        local cx, cy, x, y, steps = 3 * c / 30 - 2.2, 2.4 * (r + 0.5) / 10 - 1.2, 0, 0, 0
        while steps < 60 and x * x + y * y <= 4 do x, y, steps = x * x - y * y + cx, 2 * x * y + cy, steps + 1 end
        if steps == 60 then inside = inside + 1 else left, steps_left = left + 1, steps_left + steps end
      end
    end
    local stay, mean = number "(%d+) of 300 points stay for 60 steps; the others for ([%d.]+) on average"
    assert.equal(inside, stay)
    assert.equal(("%.1f"):format(steps_left / left), ("%.1f"):format(mean))
  end)
end)

describe("examples/heat.lua", function()
  it("measures a strange attractor, and draws it", function()
    local number = same_everywhere("heat", 1000)
    local dimension, looks, n = number "dimension ([%d.]+): more than a line, less than an area %((%d+) looks at (%d+)"
    assert.is_true(dimension > 1.1 and dimension < 1.5, dimension)
    assert.equal(20, looks)
    assert.equal(1000, n)
    S.with_file(function(path)
      local text, few = run({ COLUMNS = "60", LC_ALL = "C" }, "heat", 300, path)
      local hold, share = few "64 x  64 cells: +(%d+) hold something, two share one in ([%d.]+)"
      assert.is_true(hold > share and share > 50, text)
      assert.truthy(S.read_file(path):find("Heat map: %d+ x %d+ cells, pendulums from"))
      for line in text:gmatch("[^\n]+") do
        if line:find("|") then assert.is_true(#line <= 60, line) end
      end
    end, ".svg")
    run({ GPUREDUCE_DEVICE = "pretend" }, "heat", 1000)
  end)
end)

describe("examples/kinetic.lua", function()
  it("counts the energies that plain Lua has, and finds a gas", function()
    local gr, round, n = S.gr, S.model.round.f32, 20000
    local _, number = run({}, "kinetic", n)
    same_everywhere("kinetic", n)
    local x, y = gr.randn(n, "f32", { seed = 1 }):table(), gr.randn(n, "f32", { seed = 2 }):table()
    local counts, sum, heavy, slow = {}, 0, 0, 0
    for k = 1, n do
      local m = k % 4 == 0 and 4 or 1
      local vx, vy = round(x[k] / math.sqrt(m)), round(y[k] / math.sqrt(m))
      local e = round(0.5 * m * round(round(vx * vx) + round(vy * vy)))
      local bin = math.floor(e * 2)
      counts[bin] = (counts[bin] or 0) + 1
      sum, heavy, slow = sum + e, heavy + (m == 4 and e or 0), slow + (bin == 0 and e or 0)
    end
    assert.equal(counts[0], number "  0 │%S* (%d+)")
    assert.equal(counts[1], number "0%.5 │%S* (%d+)")
    assert.equal(counts[3], number "1%.5 │%S* (%d+)")
    local mean, heavy_mean = number "mean energy: ([%d.]+), of the heavy ones ([%d.]+)"
    assert.is_true(math.abs(mean - sum / n) < 1e-6 and math.abs(heavy_mean - heavy / (n / 4)) < 1e-6)
    local particles, energy = number "slowest bin has ([%d.]+) %% of the particles and ([%d.]+) %%"
    assert.is_true(math.abs(particles - 100 * counts[0] / n) < 0.006)
    assert.is_true(math.abs(energy - 100 * slow / sum) < 0.006)
    local half, exactly = number "faster half has ([%d.]+) %% of it, exactly ([%d.]+) %%"
    assert.is_true(math.abs(half - exactly) < 0.5)
  end)
end)

describe("examples/nbody.lua", function()
  it("keeps energy and momentum", function()
    local number = same_everywhere("nbody", 16, 60)
    assert.is_true(number "drift ([%d.e+-]+)" < 1e-5)
    assert.is_true(number "momentum ([%d.e+-]+)" < 1e-14)
    assert.is_true(math.abs(number "energy ([%d.-]+)") > 0.01)
  end)

  it("is of second order: half the step, a quarter of the drift", function()
    local _, coarse = run({}, "nbody", 8, 40, 128)
    local _, fine = run({}, "nbody", 8, 80, 256)
    local ratio = coarse "drift ([%d.e+-]+)" / fine "drift ([%d.e+-]+)"
    assert.is_true(ratio > 3.5 and ratio < 4.5, ratio)
  end)
end)

describe("examples/sod.lua", function()
  it("comes near the exact solution, nearer with more cells", function()
    local number = same_everywhere("sod", 100)
    local p, u = number "p ([%d.]+), u ([%d.]+)"
    assert.equal(0.30313, p) -- Toro, table 4.2
    assert.equal(0.92745, u)
    local coarse = number "exact one: ([%d.]+)"
    assert.is_true(math.abs(number "mass ([%d.]+)" - 0.5625) < 1e-10)
    local _, finer = run({}, "sod", 400)
    local fine = finer "exact one: ([%d.]+)"
    assert.is_true(coarse < 0.04 and fine < coarse / 2, coarse .. " " .. fine)
  end)
end)

describe("examples/cg.lua", function()
  it("solves Poisson's equation in the same number of iterations everywhere", function()
    local number = same_everywhere("cg", 24) -- with the residual in full
    assert.is_true(number "(%d+) iterations" < 60)
    assert.is_true(number "largest error ([%d.e+-]+)" < 1e-11)
    run({ GPUREDUCE_DEVICE = "pretend" }, "cg", 8)
  end)
end)

describe("examples/particles.lua", function()
  -- The same fountain in plain Lua, particle by particle, rounded as f32 is; with the module's random numbers, which
  -- have a spec of their own.
  local function fountain(frames)
    local gr, round = S.gr, S.model.round.f32
    local list, most = {}, 0
    for frame = 1, frames do
      local vx, vy, life = {}, {}, {}
      for seed, t in ipairs { vx, vy, life } do
        for k, value in ipairs(gr.rand(64, "f32", { seed = seed, stream = frame }):table()) do t[k] = value end
      end
      for k = 1, 64 do
        list[#list + 1] = { x = 0, y = 0, age = 0, vx = round(vx[k] - 0.5), vy = round(vy[k] + 4),
          life = round(life[k] * 0.5) }
      end
      local kept = {}
      for _, p in ipairs(list) do
        p.age, p.vy = round(p.age + 1 / 64), round(p.vy - 9.75 / 64)
        p.x, p.y = round(p.x + round(p.vx / 64)), round(p.y + round(p.vy / 64))
        if p.age < p.life then kept[#kept + 1] = p end
      end
      list, most = kept, math.max(most, #kept)
    end
    local x, y, age = 0, 0, 0
    for _, p in ipairs(list) do x, y, age = x + p.x, y + p.y, age + p.age end
    return #list, most, age / #list, x / #list, y / #list
  end

  it("does what a loop over particles does", function()
    local number = same_everywhere("particles", 50)
    local count, most, age, x, y = fountain(50)
    local a, b = number "alive (%d+), at most (%d+)"
    assert.equal(count, a)
    assert.equal(most, b)
    local mean_age, mean_x, mean_y = number "mean age ([%d.]+), middle %(([%d.-]+), ([%d.-]+)%)"
    assert.is_true(math.abs(mean_age - age) < 1e-6)
    assert.is_true(math.abs(mean_x - x) < 1e-6)
    assert.is_true(math.abs(mean_y - y) < 1e-6)
  end)
end)

describe("examples/cells.lua", function()
  it("finds the pairs that comparing all with all finds", function()
    local gr, n = S.gr, 400
    local number = same_everywhere("cells", n, 12)
    local x, y = gr.rand(n, "f32", { seed = 1 }):table(), gr.rand(n, "f32", { seed = 2 }):table()
    local count, sum = 0, 0
    for i = 1, n do
      for j = i + 1, n do
        local dx, dy = x[i] - x[j], y[i] - y[j]
        if dx * dx + dy * dy < (1 / 12) * (1 / 12) then count, sum = count + 1, sum + i * j end
      end
    end
    local found, checksum = number "(%d+) near pairs, checksum (%d+)"
    assert.equal(count, found)
    assert.equal(sum, checksum)
    assert.is_true(number "after (%d+) looks" < n * n / 8)
  end)
end)

describe("examples/ising.lua", function()
  it("has the energy and the magnetisation of all 65536 states", function()
    local number = same_everywhere("ising", 100, 512)
    local energy, exact_energy = number "spin ([%d.-]+), exactly ([%d.-]+)"
    local magnet, exact_magnet = number "magnetisation ([%d.]+), exactly ([%d.]+)"
    assert.is_true(math.abs(energy - exact_energy) < 0.01, energy)
    assert.is_true(math.abs(magnet - exact_magnet) < 0.01, magnet)
    -- by another way: the trace of the fourth power of the transfer matrix of rows, log Z by beta is the energy
    local function log_z(beta)
      local rows, m = {}, {}
      for a = 0, 15 do
        rows[a] = {}
        for k = 0, 3 do rows[a][k] = math.floor(a / 2 ^ k) % 2 * 2 - 1 end
      end
      for a = 0, 15 do
        m[a] = {}
        for b = 0, 15 do
          local bonds = 0
          for k = 0, 3 do bonds = bonds + rows[a][k] * rows[a][(k + 1) % 4] + rows[a][k] * rows[b][k] end
          m[a][b] = math.exp(beta * bonds)
        end
      end
      local trace = 0
      local function times(p, q)
        local r = {}
        for a = 0, 15 do
          r[a] = {}
          for b = 0, 15 do
            local sum = 0
            for c = 0, 15 do sum = sum + p[a][c] * q[c][b] end
            r[a][b] = sum
          end
        end
        return r
      end
      local m2 = times(m, m)
      local m4 = times(m2, m2)
      for a = 0, 15 do trace = trace + m4[a][a] end
      return math.log(trace)
    end
    local h = 1e-4
    assert.is_true(math.abs(-(log_z(0.4 + h) - log_z(0.4 - h)) / (2 * h) / 16 - exact_energy) < 1e-5)
  end)
end)

describe("examples/fit.lua", function()
  it("descends to the solution of the normal equations", function()
    local number = same_everywhere("fit", 1000)
    assert.is_true(number "equations ([%d.e+-]+)" < 1e-12)
    local a, b, c, d = number "weights ([%d.-]+) ([%d.-]+) ([%d.-]+) ([%d.-]+)"
    for k, value in ipairs { a, b, c, d } do
      assert.is_true(math.abs(value - ({ 2, -1, 0.5, 3 })[k]) < 0.02)
    end
  end)
end)

describe("examples/frames.lua", function()
  it("gets its numbers without waiting for them", function()
    local FRAMES = 400 -- more than fit into another process's turn on a shared GPU
    for _, device in ipairs { "", "cpu", "pretend" } do
      local environment = { GPUREDUCE_DEVICE = device ~= "" and device or nil, GPUREDUCE_PRETEND_LOOKS = "2" }
      local _, number = run(environment, "frames", FRAMES)
      assert.equal(0, number "wrong answers: (%d+)")
      local frames, answers = number "(%d+) frames, (%d+) answers"
      assert.is_true(answers >= 1 and answers + number "waited: (%d+)" == frames)
      if device == "pretend" then assert.is_true(answers < FRAMES) end -- puts its work off for two looks
    end
  end)
end)

describe("examples/coroutine.lua", function()
  it("never waits, and its results are right", function()
    -- Of the machine's own device few frames may have a result where processors are busy; the pretend device answers at
    -- once, or after two looks, whatever else runs.
    for _, looks in ipairs { "", "0", "2" } do
      local text, status = S.child(looks == "" and {} or { GPUREDUCE_DEVICE = "pretend",
        GPUREDUCE_PRETEND_LOOKS = looks }, "examples/coroutine.lua", "20")
      assert.equal(0, status, text)
      local results, wrong = text:match("^%d+ frames, (%d+) results, (%d+) of them wrong")
      assert.is_true(tonumber(results) >= (looks == "" and 1 or 3), text)
      assert.equal("0", wrong)
      local mean = text:match("particles are 1%.000 wide, their mean is ([%d.]+)")
      assert.is_true(math.abs(tonumber(mean) - 0.5) < 0.01, text)
      assert.truthy(text:find("waits for the device: 0", 1, true), text)
    end
  end)
end)
