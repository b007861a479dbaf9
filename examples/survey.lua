-- A year of weather stations that fail now and then: lua examples/survey.lua [STATIONS [PICTURE.svg]]
-- Readings of every hour are rows, stations columns; a reading that failed is NaN. Means, ranges and quantiles leave
-- those out, station by station or day by day, without a copy of what is there.
local gr = require "gpureduce"

local STATIONS, PICTURE = tonumber(arg and arg[1]) or 40, arg and arg[2]
local DAYS, HOURS = 365, 24
local n = DAYS * HOURS

-- Degrees: a yearly and a daily wave, the station's height, noise; a tenth of some stations' hours are missing, and
-- station 2 broke down in the second half of the year.
local hour, height = gr.arange(0, n - 1), gr.rand(STATIONS, { seed = 1 })
local X = gr.fuse "10 - 9 * cos(year * hour) - 4 * cos(day * hour) - 12 * height + 2 * noise" {
  hour = gr.column(hour), height = gr.row(height), noise = gr.randn(n * STATIONS, { seed = 2 }):matrix(n),
  year = 2 * math.pi / n, day = 2 * math.pi / HOURS }:eval()
local fails = gr.rand(STATIONS, { seed = 3 }) * 0.2
X[gr.compare(gr.rand(n * STATIONS, { seed = 4 }):matrix(n), "<", gr.row(fails))] = 0 / 0
X:column(2):slice(n / 2 + 1, n):fill(0 / 0)

local missing = gr.isnan(X):sum { axis = 1 }
print(("%d stations, %d hours, %.2f %% of the readings missing, on %s"):format(
  STATIONS, n, 100 * missing:sum() / #X, gr.backend():match "%S+"))
print(("mean %.3f, deviation %.3f, from %.2f to %.2f degrees"):format(
  X:mean { skipnan = true }, math.sqrt(X:var { skipnan = true }), X:min { skipnan = true }, X:max { skipnan = true }))

-- Stations: the warmest and the coldest by mean, the one that misses most.
local means = X:mean { axis = 1, skipnan = true }
local warmest, coldest, worst = means:argmax(), means:argmin(), missing:argmax()
print(("warmest station %d (%.2f), coldest %d (%.2f)"):format(warmest, means[warmest], coldest, means[coldest]))
print(("station %d misses %d hours"):format(worst, missing[worst]))
local q = X:quantile({ 0.05, 0.5, 0.95 }, { skipnan = true })
print(("of all readings 5 %% are below %.2f, half below %.2f, 95 %% below %.2f"):format(q[1], q[2], q[3]))

-- Days: all hours of all stations of a day are one row.
local by_day = X:slice():matrix(DAYS)
local low, high = by_day:minmax { axis = 2, skipnan = true }
local mean = by_day:mean { axis = 2, skipnan = true }
print(("frost on %d days; the coldest day was day %d (%.2f on average)"):format(
  gr.compare(low, "<", 0):sum(), mean:argmin(), mean:min()))

if PICTURE then
  assert(gr.svg { path = PICTURE, title = "A year of temperatures", xlabel = "day", ylabel = "temperature",
    yunit = "°C", lines = { { name = "mean", y = mean }, { name = "highest", y = high }, { name = "lowest", y = low } },
    ceiling = { { y = 0, name = "frost" } } })
end
