-- Nothing that the Lua parts write or read depends on the locale which the host program has set.
local S = require "spec.support"
local L = require "spec.locale"
local unpack = table.unpack or unpack -- luacheck: ignore

-- Pictures, messages and numbers in them, as one text; run under both locales.
local script = [[
local wanted = ...
if wanted then assert(os.setlocale(wanted, "numeric") == wanted, "no locale " .. wanted) end
local written = string.format("%.1f", 0.5)
local gr = require "gpureduce"
local out = {}
local function add(...)
  for k = 1, select("#", ...) do out[#out + 1] = tostring((select(k, ...))):gsub("^[^\n]-:%d+: ", "") end
end
local x = gr.randn(500, { seed = 1 })
local h = gr.histogram(x, { edges = { -2.5, -1.25, 0.125, 1, 2.75 } })
add(gr.svg { lines = { { name = 1.5, x = { 0.25, 0.5, 0.75 }, y = { 1.5, 2.5, 0.5 }, error = 0.25 }, x } })
add(gr.svg { points = { { x = x, y = x } }, steps = { { y = { 0.5, 0.25 } } }, ceiling = { y = 0.125, name = 0.125 } })
add(gr.svg { lines = { { y = { 1e-5, 2.5e7 } } }, ylog = true, xmin = 0.5, width = 320.5 })
add(gr.svg { lines = { { y = { 1, 1 + 1e-9 } } } })
add(gr.svg { histograms = { h, { name = "again", histogram = h } } })
add(h:svg(nil, { title = "h" }), h:svg(nil, { density = true }))
add(h:plot { width = 60, ascii = true }, h:plot { width = 12, ascii = true, density = true })
add(gr.plot(x, { width = 60, height = 8 }), gr.plot({ 0.25, 0.5 }, { ascii = true }))
local weighted = gr.histogram(gr.array { 1, 2, 9 }, { edges = { 1.5, 2.5 }, weights = gr.array { 0.5, 0.25, 0.125 } })
add(weighted:plot { width = 40, ascii = true }, weighted:svg())
add(select(2, pcall(gr.svg, { lines = {}, xmin = 2.5, xmax = 1.5 })))
add(select(2, pcall(gr.svg, { lines = {}, width = 1.5 })))
add(select(2, pcall(h.quantile, h, 1.5)))
add(select(2, pcall(h.plot, h, { width = 1.5 })))
print(written)
io.write(table.concat(out, "\n"))
]]

describe("a locale with decimal commas", function()
  local function run(arguments)
    local text
    L.with_comma(function(folder)
      S.with_file(function(name)
        S.write_file(name, script)
        text = S.child({ LOCPATH = folder, COLUMNS = "80", LC_ALL = "C.UTF-8" }, name, unpack(arguments))
      end)
    end)
    local first, rest = text:match("^([^\n]*)\n(.*)$")
    return first, rest
  end

  it("changes neither pictures nor messages", function()
    if not L.is_possible() then return pending("needs localedef") end
    local point, expected = run {}
    local comma, got = run { "comma" }
    assert.equal("0.5", point)
    assert.equal(S.jit and "0.5" or "0,5", comma) -- LuaJIT writes numbers by itself
    assert.is_true(#expected > 20000)
    assert.equal(expected, got)
    assert.is_nil(got:find("%d,%d"))
  end)
end)
