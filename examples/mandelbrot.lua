-- Mandelbrot's set, drawn: lua examples/mandelbrot.lua [COLUMNS]
-- How many steps each point takes to leave a circle of radius 2. Points are positions, so no input is needed; a step is
-- three formulas, of which the last counts who is still inside.
local gr = require "gpureduce"

local COLUMNS, MOST = tonumber(arg and arg[1]) or 72, 60
local ROWS = math.floor(COLUMNS / 3)

-- Rows and columns of the picture from the position alone.
local row = gr.fuse "i64((i - 1) / columns)" { n = ROWS * COLUMNS, columns = COLUMNS }
local cx = gr.fuse "3 * (f64(i - 1) - row * columns) / columns - 2.2" {
  row = row:cast "f64", columns = COLUMNS, n = ROWS * COLUMNS }:eval()
local cy = gr.fuse "2.4 * (f64(row) + 0.5) / rows - 1.2" { row = row, rows = ROWS }:eval()

local zx, zy, next_x = gr.zeros(#cx, "f64"), gr.zeros(#cx, "f64"), gr.zeros(#cx, "f64")
local count = gr.zeros(#cx, "i32")

local inside = gr.fuse "zx^2 + zy^2 <= 4"
local step_x = gr.fuse "inside and zx^2 - zy^2 + cx or zx"
local step_y = gr.fuse "inside and 2 * zx * zy + cy or zy"
local step_count = gr.fuse "count + i32(inside)"
for _ = 1, MOST do
  local still = inside { zx = zx, zy = zy }
  step_count { count = count, inside = still }:eval { into = count }
  step_x { inside = still, zx = zx, zy = zy, cx = cx }:eval { into = next_x }
  step_y { inside = still, zx = zx, zy = zy, cy = cy }:eval { into = zy }
  zx, next_x = next_x, zx
end

local shades, t = " .:-=+*#%@", count:table()
for r = 1, ROWS do
  local line = {}
  for c = 1, COLUMNS do
    local steps = t[(r - 1) * COLUMNS + c]
    local k = steps >= MOST and #shades or math.floor(steps / MOST * (#shades - 1)) + 1
    line[c] = shades:sub(k, k)
  end
  print((table.concat(line):gsub("%s+$", "")))
end
local black = gr.fuse "steps >= most" { steps = count, most = MOST }
print(("%d of %d points stay for %d steps; the others for %.1f on average"):format(black:sum(), #count, MOST,
  gr.compact(count, black:lnot()):mean()))
