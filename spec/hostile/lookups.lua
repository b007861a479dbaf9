-- Cases of cases.lua: elements by their positions, random orders and choices.
return function(case)
  -- Positions, values for them, and room for as many.
  local function places(e)
    local gr = require "gpureduce"
    return gr.arange(#e.p, 1, -1, "i32"), gr.ones(#e.p), gr.zeros(#e.p)
  end

  case("take", function(e)
    local at, _, room = places(e)
    return e.a:take(at), e.b[at], e.a:take(at, { into = room }), e.a[e.m]
  end)
  case("put", function(e)
    local at, v = places(e)
    e.a:put(at, v):put(at, v, { op = "add" }):put(at, 2, { op = "max" })
    e.i:put(at, 3, { op = "min" }):put(at, 1, { op = "add" })
    e.b[at], e.b[e.m] = 5, 6
    e.b[e.m] = e.b:compact(e.m)
    return e.a, e.i, e.b
  end)

  case("exponential", function(e)
    local gr = require "gpureduce"
    return gr.exponential(2000, { seed = 1 }), gr.exponential(3000, "f32", { seed = 2, into = e.into32 })
  end)
  case("randint", function(e)
    local gr = require "gpureduce"
    return gr.randint(1, 6, 2000, { seed = 1 }), gr.randint(1, 6, 3000, "i32", { seed = 2, into = e.i })
  end)
  case("permutation", function(e)
    local gr = require "gpureduce"
    return gr.permutation(2000, { seed = 1 }), gr.permutation(3000, "i32", { seed = 2, into = e.i })
  end)
  case("shuffle", function(e) return e.a:shuffle { seed = 1 }, e.a:shuffle { seed = 1, into = e.into32 } end)
  case("choice", function(e)
    return e.a:choice(50, { seed = 1 }), e.a:choice(3000, { seed = 1, replace = false, into = e.into32 })
  end)
  case("choice by weight", function(e)
    return e.a:choice(50, { seed = 1, weights = e.b }), e.i:choice(50, { seed = 1, weights = e.b, replace = false })
  end)
end
