-- What gr.histogram and gr.histogram2d return are tables: a script may have put something else into their fields.
local S = require "spec.support"
local gr = S.gr

local function one() return gr.histogram(gr.arange(1, 7), { bins = 3 }) end
local function two() return gr.histogram2d(gr.arange(1, 6), gr.arange(1, 6), { bins = { 2, 3 } }) end

-- The error of a method, or of what draws h, once a field is another.
local function says(text, h, key, value, f)
  rawset(h, key, value)
  assert.equal(text, S.message(f, h))
end

local function released(a)
  a:release()
  return a
end

local draw_bars = {
  plot = function(h) return h:plot() end, svg = function(h) return h:svg() end, tostring = tostring,
}

describe("a histogram whose fields are others", function()
  for name, f in pairs(draw_bars) do
    it("is refused by " .. name, function()
      local function is(text, key, value) says("bad argument #1 to '" .. name .. "' " .. text, one(), key, value, f) end
      is("(field 'counts': array expected, got boolean)", "counts", false)
      is("(field 'counts': array expected, got no value)", "counts", nil)
      is("(field 'counts': array has been released)", "counts", released(gr.zeros(3)))
      is("(field 'edges': array expected, got table)", "edges", {})
      is("(field 'edges': length 4 expected, one more than 'counts' has, got 2)", "edges", gr.zeros(2))
      is("(field 'below': number expected, got string)", "below", "none")
      is("(field 'above': number expected, got gpureduce.array)", "above", gr.zeros(1))
      is("(field 'below': number expected, got no value)", "tails", 7)
    end)

    it("is refused by " .. name .. " of pairs", function()
      local function is(text, key, value) says("bad argument #1 to '" .. name .. "' " .. text, two(), key, value, f) end
      is("(field 'counts': matrix of 2 x 3 expected, as the edges say, got length 6)", "counts", gr.zeros(6))
      is("(field 'counts': matrix of 2 x 3 expected, as the edges say, got 3 x 2)", "counts", gr.zeros(6):matrix(3))
      is("(field 'counts': matrix of 2 x 1 expected, as the edges say, got 2 x 3)", "yedges", gr.zeros(2))
      is("(field 'xedges': array expected, got number)", "xedges", 3)
      is("(field 'nan': number expected, got boolean)", "nan", false)
    end)
  end

  it("is refused by what needs its bins alone", function()
    local function quantile(h) return h:quantile(0.5) end
    says("bad argument #1 to 'quantile' (field 'counts': array expected, got no value)", one(), "counts", nil, quantile)
    local h = one()
    h.below = "nothing"
    assert.equal("number", type(quantile(h)))
    h.counts = nil
    if _VERSION ~= "Lua 5.1" then
      assert.equal("bad argument #1 to 'len' (field 'counts': array expected, got no value)",
        S.message(function() return #h end))
    end
  end)

  it("is refused by pictures of several", function()
    local h, pairs_of = one(), two()
    h.edges, pairs_of.counts = nil, gr.zeros(6)
    assert.equal("bad argument #1 to 'svg' (option 'histograms': entry 1: field 'edges': array expected, got no value)",
      S.message(gr.svg, { histograms = { h } }))
    assert.equal("bad argument #1 to 'svg' (option 'histograms': entry 1: histogram: field 'edges': array expected, "
      .. "got no value)", S.message(gr.svg, { histograms = { { histogram = h } } }))
    assert.equal("bad argument #1 to 'svg' (option 'heat': field 'counts': matrix of 2 x 3 expected, as the edges say, "
      .. "got length 6)", S.message(gr.svg, { heat = pairs_of }))
  end)
end)

describe("errors within the Lua parts", function()
  local device = gr.backend()

  it("stand at the line that called the module, whatever these called", function()
    if device == "cpu" then return pending "needs a device beside the CPU" end
    local x = gr.rand(100001)
    gr.use "cpu"
    local y = gr.rand(100001)
    gr.use(device)
    local ok, text = pcall(function() return gr.svg { points = { { x = x, y = y } } } end)
    assert.is_false(ok)
    assert.truthy(text:find "^[^ ]*fields_spec.lua:%d+: bad argument .*array on device '", text)
  end)
end)

describe("many points nearly at one place", function()
  local n = gr and 100001
  local function draws(values, options)
    local x = gr.full(n, values[1], "f64")
    for k, v in ipairs(values) do x[k] = v end
    options = options or {}
    options.points = { { x = x, y = gr.rand(n, "f64") } }
    local text = gr.svg(options)
    assert.truthy(text:find("<svg", 1, true))
    assert.is_nil(text:find("nan", 1, true) or text:find("inf", 1, true))
  end

  it("are drawn, however few numbers of f64 lie between them", function()
    draws { 1, 1 + 2 ^ -52, 1 - 2 ^ -53 }
    draws { 1e308, 1e308 * (1 + 2 ^ -50) }
    draws { 1.7976931348623157e308, 1.7976931348623155e308 }
    draws { 5e-324, 1e-323 }
    draws({ 5e-324, 1e-323 }, { xlog = true })
    draws({ 1, 1 + 2 ^ -52 }, { xlog = true })
    draws({ 1, 2 }, { xmin = 1, xmax = 1 + 2 ^ -52 })
    draws({ 1, 2 }, { xmin = 1, xmax = 1 + 2 ^ -52, xlog = true })
  end)
end)
