-- A fountain: lua examples/particles.lua [FRAMES]
-- Every frame emits particles, ages and moves them, and throws away the old.
-- The living are kept together at the front by compaction (a scan of the mask says where each goes), so that work and
-- bytes follow their number. One number comes back a frame: how many there are.
local gr = require "gpureduce"

local FRAMES, EACH, DT, LIFE, GRAVITY = tonumber(arg and arg[1]) or 120, 64, 1 / 64, 0.5, -9.75
local ROOM = EACH * (LIFE / DT + 2)

-- One array for each property, with room for all that can be alive at once.
local names = { "x", "y", "vx", "vy", "age", "life" }
local now = {}
for _, name in ipairs(names) do now[name] = gr.zeros(ROOM) end
local mask, t = gr.zeros(ROOM, "u8"), gr.zeros(ROOM)

local function first(a, n) return a:slice(1, n) end

local function emit(alive, frame)
  local new = {}
  for _, name in ipairs(names) do new[name] = now[name]:slice(alive + 1, alive + EACH) end
  for _, name in ipairs { "x", "y", "age" } do new[name]:fill(0) end
  gr.rand(EACH, "f32", { seed = 1, stream = frame, into = new.vx })
  gr.sub(new.vx, 0.5, { into = new.vx })
  gr.rand(EACH, "f32", { seed = 2, stream = frame, into = new.vy })
  gr.add(new.vy, 4, { into = new.vy })
  gr.rand(EACH, "f32", { seed = 3, stream = frame, into = new.life })
  gr.mul(new.life, LIFE, { into = new.life })
  return alive + EACH
end

local function step(n)
  local x, y, vx, vy = first(now.x, n), first(now.y, n), first(now.vx, n), first(now.vy, n)
  local age, life, s = first(now.age, n), first(now.life, n), first(t, n)
  gr.add(age, DT, { into = age })
  gr.add(vy, GRAVITY * DT, { into = vy })
  gr.mul(vx, DT, { into = s })
  gr.add(x, s, { into = x })
  gr.mul(vy, DT, { into = s })
  gr.add(y, s, { into = y })
  local living = gr.compare(age, "<", life, { into = first(mask, n) })
  local left = 0
  for _, name in ipairs(names) do
    local a = first(now[name], n)
    left = #gr.compact(a, living, { into = a })
  end
  return left
end

local alive, most, allocations = 0, 0, nil
for frame = 1, FRAMES do
  alive = step(emit(alive, frame))
  most = math.max(most, alive)
  allocations = allocations or gr.stats().allocations
end
local allocated = gr.stats().allocations - allocations

print(("%d frames of %d new particles on %s"):format(FRAMES, EACH, (gr.backend())))
print(("alive %d, at most %d"):format(alive, most))
if alive > 0 then
  print(("mean age %.6f, middle (%.6f, %.6f)"):format(
    first(now.age, alive):mean(), first(now.x, alive):mean(), first(now.y, alive):mean()))
end
print(("arrays allocated after the first frame: %d"):format(allocated))
