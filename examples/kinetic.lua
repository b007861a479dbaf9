-- How a gas shares its energy: lua examples/kinetic.lua [PARTICLES]
-- Particles in a plane, one of four four times as heavy, with Maxwell's velocities. The energy of each is a formula,
-- which goes into histograms and sums without being stored. In a plane it falls as e^-E, whatever the masses are.
local gr = require "gpureduce"

local N = tonumber(arg and arg[1]) or 1000000
local BINS, MOST = 16, 8

local m = gr.fuse "i % 4 == 0 and 4 or 1" { n = N }:eval()
local thermal = gr.fuse "z / sqrt(m)"
local vx = thermal { z = gr.randn(N, "f32", { seed = 1 }), m = m }:eval()
local vy = thermal { z = gr.randn(N, "f32", { seed = 2 }), m = m }:eval()

local energy = gr.fuse "0.5 * m * (vx^2 + vy^2)" { m = m, vx = vx, vy = vy }
local h = gr.histogram(energy, { bins = BINS, min = 0, max = MOST })
print(h:plot())

-- Where the energy is: a histogram in which each particle counts as much as it has.
local holds = gr.histogram(energy, { bins = BINS, min = 0, max = MOST, weights = energy })
local total = energy:sum()
print(("%d particles, %d beyond %d, on %s"):format(N, h.above, MOST, gr.backend():match "%S+"))
print(("mean energy: %.6f, of the heavy ones %.6f"):format(energy:mean(), gr.compact(energy, gr.lazy(m):gt(1)):mean()))
print(("the slowest bin has %.2f %% of the particles and %.2f %% of the energy"):format(
  100 * h.counts[1] / N, 100 * holds.counts[1] / total))
local fast = gr.fuse "e > limit and e or 0" { e = energy, limit = math.log(2) }
print(("the faster half has %.2f %% of it, exactly %.2f %%"):format(100 * fast:sum() / total, 50 * (1 + math.log(2))))

-- Counts beside what Boltzmann expects of each bin, in standard deviations.
local worst, counts, edges = 0, h.counts:table(), h.edges:table()
for k = 1, BINS do
  local expected = N * (math.exp(-edges[k]) - math.exp(-edges[k + 1]))
  worst = math.max(worst, math.abs(counts[k] - expected) / math.sqrt(expected))
end
print(("largest deviation of a bin: %.2f sigma"):format(worst))
assert(worst < 5, "this is no gas in equilibrium")
