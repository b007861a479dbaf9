-- Cases of cases.lua: operators of expressions that only some Luas can write, by their names.
return function(case)
  for _, name in ipairs { "idiv", "mod" } do
    case("expression " .. name, function(e)
      local x = require "gpureduce".lazy(e.a)
      return debug.getmetatable(x)["__" .. name](x, 2):sum()
    end)
  end
  for _, name in ipairs { "band", "bor", "bxor", "shl", "shr", "bnot" } do
    case("expression " .. name, function(e)
      local x = require "gpureduce".lazy(e.i)
      local f = debug.getmetatable(x)["__" .. name] -- only where Lua has integers
      return f and f(x, 2):sum()
    end)
  end
  case("results rounded", function(e)
    return e.i:div(3, { out = "f32" }), e.i:sqrt { out = "f32", into = e.into32 },
      e.a:histogram({ bins = 4, min = 0, max = 1, weights = e.b, density = true, out = "f32" }).counts,
      e.a:histogram({ bins = 4, min = 0, max = 1, weights = e.b, rows = 3, out = "f32" }).counts,
      e.a:histogram2d(e.b, { bins = 3, weights = e.b, out = "f32" }).counts
  end)
  case("array <", function(e) return e.a < e.b end, { may_raise = true })
  case("array <=", function(e) return e.a <= e.b end, { may_raise = true })
  case("expression without a method", function(e) return require "gpureduce".lazy(e.a).summ end, { may_raise = true })
end
