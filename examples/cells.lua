-- Who is near whom: lua examples/cells.lua [POINTS] [CELLS]
-- Neighbour lists from a grid of cells as wide as the radius, so that near points lie in the same cell or the next. A
-- histogram counts the points of each cell, and a scan of the counts says where they begin in a list sorted by cell.
local gr = require "gpureduce"

local N, G = tonumber(arg and arg[1]) or 1000, tonumber(arg and arg[2]) or 16
local RADIUS = 1 / G

local x, y = gr.rand(N, "f32", { seed = 1 }), gr.rand(N, "f32", { seed = 2 })

-- The cell of every point, how many points each has, and where they begin.
local row, column = gr.cast(y * G, "i32"), gr.cast(x * G, "i32")
local cell = row * G + column
local counts = gr.bincount(cell, { minlength = G * G })
local starts = gr.scan(counts, "sum", { exclusive = true })

-- One copy of each down, then the points are put in their places.
local px, py, of, count, start = x:table(), y:table(), cell:table(), counts:table(), starts:table()
local sorted, filled = {}, {}
for i = 1, N do
  local c = of[i] + 1
  filled[c] = (filled[c] or 0) + 1
  sorted[start[c] + filled[c]] = i
end

-- Pairs of points nearer than the radius, each once.
local pairs_found, sum, looked = 0, 0, 0
for i = 1, N do
  local home = of[i]
  local r, c = (home - home % G) / G, home % G
  for rr = math.max(r - 1, 0), math.min(r + 1, G - 1) do
    for cc = math.max(c - 1, 0), math.min(c + 1, G - 1) do
      local k = rr * G + cc + 1
      for at = start[k] + 1, start[k] + count[k] do
        local j = sorted[at]
        looked = looked + 1
        local dx, dy = px[i] - px[j], py[i] - py[j]
        if j > i and dx * dx + dy * dy < RADIUS * RADIUS then
          pairs_found, sum = pairs_found + 1, sum + i * j
        end
      end
    end
  end
end

print(("%d points in %d x %d cells on %s"):format(N, G, G, (gr.backend())))
print(("fullest cell %d, mean %.2f"):format(counts:max(), counts:mean()))
print(("%d near pairs, checksum %.0f, after %d looks instead of %d"):format(pairs_found, sum, looked, N * N))
