-- Where the crowds are: lua examples/kmeans.lua [POINTS [PICTURE.svg]]
-- Lloyd's k-means (1982) of points in a plane. No point is looked at by itself: distances to a centre are sums of the
-- rows of (X - centre)^2, the nearest centre is argmin, and new centres are sums put where each point belongs. The only
-- loops are over centres; more columns than two would change nothing but the data.
local gr = require "gpureduce"

local N, PICTURE = tonumber(arg and arg[1]) or 20000, arg and arg[2]
local K, D, ROUNDS = 5, 2, 50

-- The places of a point's D elements among those of all points, for points that are numbered 1 ..: a matrix.
local function places(of) return gr.column((of - 1) * D) + gr.row(gr.arange(1, D, "i64")) end

-- Noise around K places on a ring; place k has as many points as k + 1 of 20.
local at = { k = gr.arange(1, K), turn = 2 * math.pi / K }
local ring = gr.zeros(K * D):matrix(K)
gr.fuse "4 * cos(k * turn)"(at):eval { into = ring:column(1) }
gr.fuse "4 * sin(k * turn)"(at):eval { into = ring:column(2) }
local crowd = gr.choice(gr.arange(1, K, "i64"), N, { weights = gr.arange(2, K + 1), seed = 1 })
local X = gr.randn(N * D, "f32", { seed = 2 }):matrix(N) + ring:slice():take(places(crowd))

-- Rounds, from K points that were drawn, until no point changes its centre.
local centres = X:slice():take(places(gr.choice(gr.arange(1, N, "i64"), K, { replace = false, seed = 6 })))
local distances, nearest, rounds = gr.zeros(K * N):matrix(K), nil, 0
repeat
  rounds = rounds + 1
  for k = 1, K do
    gr.sum((gr.lazy(X) - gr.row(centres[k])) ^ 2, { axis = 2, out = "f32", into = distances[k] })
  end
  local before = nearest
  nearest = distances:argmin { axis = 1 }
  local sizes = gr.bincount(nearest - 1, { minlength = K })
  centres = gr.zeros(K * D):put(places(nearest), X, { op = "add" }):matrix(K) / gr.column(sizes:cast "f32")
until rounds == ROUNDS or before and before:equal(nearest)

print(("%d points on %s: %d rounds"):format(N, gr.backend():match "%S+", rounds))
local sizes = gr.bincount(nearest - 1, { minlength = K })
for k = 1, K do print(("%6d points around (%.3f, %.3f)"):format(sizes[k], centres[k][1], centres[k][2])) end
print(("mean distance to the nearest centre: %.4f"):format(gr.lazy(distances:min { axis = 1 }):sqrt():mean()))

if PICTURE then
  local points = {}
  for k = 1, K do
    local x, y = X:column(1), X:column(2)
    local mine = gr.compare(nearest, "==", k)
    points[k] = { name = "crowd " .. k, x = x:compact(mine), y = y:compact(mine) }
  end
  points[K + 1] = { name = "centres", x = centres:column(1), y = centres:column(2) }
  assert(gr.svg { path = PICTURE, points = points, title = "Five crowds and their centres", xlabel = "x",
    ylabel = "y" })
end
