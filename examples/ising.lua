-- Ising's magnet, 4 x 4 spins with periodic edges, many lattices at once: lua examples/ising.lua [SWEEPS] [LATTICES]
-- Heat bath on a chessboard: spins on white squares see only black neighbours, so all white ones turn together, in
-- every lattice. Means of energy and magnetisation are compared with those of all 65536 states.
local gr = require "gpureduce"

local SWEEPS, R, BETA, WARM_UP = tonumber(arg and arg[1]) or 150, tonumber(arg and arg[2]) or 1024, 0.4, 20

-- ---- exactly: every state once, each from the one before by turning one spin (Gray's code) ----

local function exact()
  local spin = {}
  for site = 0, 15 do spin[site] = -1 end
  local function around(site)
    local row, column = (site - site % 4) / 4, site % 4
    return spin[(row + 1) % 4 * 4 + column] + spin[(row + 3) % 4 * 4 + column]
      + spin[row * 4 + (column + 1) % 4] + spin[row * 4 + (column + 3) % 4]
  end
  local energy, magnet = -32, -16
  local weights, energies, magnets = 0, 0, 0
  for k = 1, 65536 do
    local w = math.exp(-BETA * (energy + 32))
    weights, energies, magnets = weights + w, energies + w * energy, magnets + w * math.abs(magnet)
    local site, rest = 0, k -- the lowest bit that is set in k says which spin turns next
    while rest % 2 == 0 do site, rest = site + 1, rest / 2 end
    if site > 15 then break end
    energy = energy + 2 * spin[site] * around(site)
    magnet = magnet - 2 * spin[site]
    spin[site] = -spin[site]
  end
  return energies / weights / 16, magnets / weights / 16
end

-- ---- by chance ----

-- White and black squares apart: eight of each, square (row, column) in place (column / 2, row), one array row of R
-- lattices for each place. The neighbours of place (b, row) are (b, row +- 1), (b, row) and (1 - b, row).
local both = gr.ones(16 * R)
local colours = { both:slice(1, 8 * R), both:slice(8 * R + 1, -1) }
local function places(a, b, from, to) return a:slice((4 * b + from) * R + 1, (4 * b + to + 1) * R) end

local field, chance, up = gr.zeros(8 * R), gr.zeros(8 * R), gr.zeros(8 * R, "u8")
local to_field, to_up = { into = field }, { into = up }

-- The views that add up a colour's neighbours: from which places of the other colour into which of the field.
local terms = {}
for colour = 1, 2 do
  local other, list = colours[3 - colour], {}
  local function term(b, from, to, b_from, first, last)
    local target = places(field, b, from, to)
    list[#list + 1] = { target, places(other, b_from, first, last), { into = target } }
  end
  for b = 0, 1 do
    term(b, 0, 3, 1 - b, 0, 3)
    term(b, 1, 3, b, 0, 2) -- the row above
    term(b, 0, 0, b, 3, 3)
    term(b, 0, 2, b, 1, 3) -- the row below
    term(b, 3, 3, b, 0, 0)
  end
  terms[colour] = { other = other, list = list, to_spins = { into = colours[colour] } }
end

local function find_field(colour)
  terms[colour].other:copy(to_field)
  for _, term in ipairs(terms[colour].list) do gr.add(term[1], term[2], term[3]) end
end

local function turn(colour, stream)
  find_field(colour)
  gr.mul(field, -2 * BETA, to_field) -- up with the chance 1 / (1 + exp(-2 beta field))
  gr.exp(field, to_field)
  gr.add(field, 1, to_field)
  gr.div(1, field, to_field)
  gr.rand(8 * R, "f32", { seed = 5, stream = stream, into = chance })
  gr.compare(chance, "<", field, to_up)
  gr.where(up, 1, -1, terms[colour].to_spins)
end

local magnets = gr.zeros(R, "f64")
local to_magnets = { rows = 16, axis = 1, into = magnets }

local energy, magnet, measured, allocations = 0, 0, 0, nil
for sweep = 1, SWEEPS do
  turn(1, 2 * sweep)
  turn(2, 2 * sweep + 1)
  if sweep > WARM_UP then
    find_field(1)
    energy = energy - colours[1]:dot(field) -- every bond joins a white square and a black one
    both:sum(to_magnets)
    magnet = magnet + magnets:norm(1)
    measured = measured + 16 * R
  end
  if sweep == WARM_UP + 1 then allocations = gr.stats().allocations end
end
local allocated = gr.stats().allocations - (allocations or gr.stats().allocations)

local exact_energy, exact_magnet = exact()
print(("%d sweeps of %d lattices on %s"):format(SWEEPS, R, (gr.backend())))
print(("energy of a spin %.5f, exactly %.5f"):format(energy / measured, exact_energy))
print(("magnetisation %.5f, exactly %.5f"):format(magnet / measured, exact_magnet))
print(("arrays allocated after the first measured sweep: %d"):format(allocated))
