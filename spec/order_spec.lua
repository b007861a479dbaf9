-- Work in turn: launches on a GPU overlap where they may, but each reads what those before it have written. Programs
-- without a wait between their steps, most of which read what the last ones wrote, leave the same bits on the CPU.
local S = require "spec.support"
local gr, model = S.gr, S.model

-- On a GPU: gives it something to do for 70 us, so that what is asked for next waits in its queue, to run back to back.
local function hold(p)
  if not gr.backend():match "^cuda" then return end
  p.held = p.held or gr.zeros(2 ^ 26)
  p.held:fill(1)
end

-- A step: elements of some room go to another, or to numbers, each of which has a place of its own.
local function step(p, g, k, n)
  local function pick(list) return list[g() % #list + 1] end
  local function part(a) -- often the end, which is written last
    local length = pick { n, g() % 5000 + 1, g() % 5000 + 1 }
    local from = g() % 2 == 0 and n - length or g() % (n - length + 1)
    return a:slice(from + 1, from + length)
  end
  local kind, from, to = g() % 10, pick(p.rooms), pick(p.rooms)
  if kind < 4 then
    gr[pick { "sum", "max", "norm" }](part(from), { into = p.log, at = k })
  elseif kind == 4 then
    gr.argmax(part(from), { into = p.places, at = k })
  elseif kind == 5 then
    gr.sum(from, { rows = 64, axis = 2, into = p.sums })
    gr.sum(p.sums, { into = p.log, at = k })
  elseif kind == 6 then
    gr.histogram(from, { bins = 64, min = -1, max = 3, into = p.histogram })
    gr.sum(p.histogram.counts:slice(1, 32), { into = p.places, at = k })
  elseif from ~= to then
    if kind == 7 then
      gr.scan(from, "sum", { into = to })
      from = to
    end
    gr.rmsnorm(from, nil, { rows = n / pick { 64, 4096, 16384, 32768 }, into = to })
  end
end

local function run(n, seed)
  local g, p = model.generator(seed), { rooms = {} }
  p.log, p.places, p.sums = gr.zeros(64, "f64"), gr.zeros(64, "i64"), gr.zeros(64, "f64")
  for k = 1, 4 do p.rooms[k] = gr.rand(n, { seed = k }) end
  p.histogram = gr.histogram(p.rooms[1], { bins = 64, min = -1, max = 3 })
  for k = 1, 64 do
    if k % 8 == 1 then hold(p) end
    step(p, g, k, n)
  end
  local left = { p.log:bytes(), p.places:bytes() }
  for k = 1, 4 do left[k + 2] = p.rooms[k]:bytes() end
  return left
end

-- One writes, one waits for it that writes elsewhere, and the third reads what the first wrote, untold.
local function pass_by(n, row)
  local x, y, p = { gr.rand(n, { seed = 1 }), gr.rand(n, { seed = 2 }) }, gr.zeros(n), {}
  local log, few, norm = gr.zeros(500, "f64"), gr.zeros(64), gr.zeros(4096)
  local many = gr.histogram(few, { bins = 20000, min = 0, max = 9 })
  local histogram = gr.histogram(few, { bins = 8, min = 0, max = 9 })
  for k = 1, 100 do
    if k % 2 == 1 then hold(p) end
    gr.rmsnorm(x[k % 2 + 1], nil, { rows = n / row, into = y })
    if k % 4 == 0 then gr.sum(y:slice(1, 16), { into = log, at = k })
    elseif k % 4 == 1 then gr.rmsnorm(y:slice(1, 4096), nil, { rows = 64, into = norm })
    elseif k % 4 == 2 then gr.histogram(y:slice(1, 100), { bins = 8, min = 0, max = 9, into = histogram })
      gr.histogram(y:slice(n - 2999, n), { bins = 20000, min = 0, max = 9, into = many })
      gr.norm(many.counts, { into = log, at = 400 + k })
    else gr.scan(y:slice(1, 64), "max", { into = few }) end
    gr.sum(y:slice(n - 63, n), { into = log, at = 100 + k })
    gr.sum(y:slice(n - 4095, n), { into = log, at = 200 + k })
    gr.sum(y, { into = log, at = 300 + k })
  end
  return { log:bytes(), norm:bytes(), few:bytes(), histogram.counts:bytes() }
end

describe("work in turn", function()
  local here = gr.backend()
  local function compare(f, n, which)
    local expected, got
    S.on("cpu", function() expected = f(n, which) end)
    S.on(here, function() got = f(n, which) end)
    for k = 1, #expected do assert.is_true(expected[k] == got[k], n .. ", " .. which .. ": " .. k) end
  end

  it("reads what was written before", function()
    for seed = 1, 12 do compare(run, 2 ^ (15 + seed % 3 * 3), seed) end
  end)

  it("reads what was written before the launch before", function()
    for _, row in ipairs { 64, 1024, 4096, 16384 } do compare(pass_by, 2 ^ 21, row) end
  end)
end)
