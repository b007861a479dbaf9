-- Cases of cases.lua: histograms of pairs.
return function(case)
  local function gr() return require "gpureduce" end

  case("histogram2d", function(e)
    return e.a:histogram2d(e.b, { bins = { 5, 4 } }),
      e.d:histogram2d(e.a, { bins = 6, range = { { 0.1, 1 }, { 0, 1 } }, log = { true }, density = true })
  end)
  case("histogram2d with weights", function(e)
    return e.a:histogram2d(e.i, { bins = 4, range = { { 0, 1 }, { 0, 90 } }, weights = e.b }),
      e.a:histogram2d(e.b, { bins = 4, weights = gr().lazy(e.i) })
  end)
  case("histogram2d of what is present", function(e)
    local mask = e.a:compare("<", 0.7)
    return e.a:histogram2d(e.b, { bins = 4, range = { { 0, 1 }, { 0, 1 } }, skipnan = true, mask = mask }),
      gr().lazy(e.a):histogram2d(gr().lazy(e.b), { bins = 4, skipnan = true, weights = e.b })
  end)
  case("histogram2d by edges", function(e)
    local edges = { 0, 0.1, 0.2, 0.7 }
    return e.a:histogram2d(gr().lazy(e.b) * 2, { edges = { edges, gr().array(edges, "f64") } })
  end)
  case("histogram2d into", function(e) return e.a:histogram2d(e.b, { bins = { 5, 4 }, into = e.pairs }) end)
  case("looking at a histogram2d", function(e)
    return e.pairs.outside, e.pairs.nan, tostring(e.pairs), e.pairs:plot { width = 30, height = 3, colour = true },
      gr().plot(e.a:matrix(30), { width = 20, height = 4, ascii = true })
  end)
  case("histogram2d:svg", function(e)
    return e.pairs:svg(nil, { title = "a", log = true }), e.pairs:svg(e.path), e.read(e.path)
  end)
  case("svg of a matrix", function(e)
    return gr().svg { heat = { values = e.p:matrix(2), x = { 0, 1 }, y = { 3, 1 } }, width = 100, height = 100 },
      gr().svg { heat = e.d:matrix(3), lines = { { y = { 1, 2 } } }, width = 200, height = 150, theme = "dark" }
  end)
end
