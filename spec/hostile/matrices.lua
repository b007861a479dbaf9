-- Cases of cases.lua: matrices, rows and columns of them.
return function(case)
  -- Each state requires the module anew, while its cases are prepared.
  local gr = setmetatable({}, { __index = function(_, name) return require "gpureduce"[name] end })

  case("matrix", function(e)
    local X = e.a:matrix(30)
    X[2][3] = 7
    X[3] = X[1]
    return X[2], X:row(-1), X:column(5), X.rows, X.shape[2], X:table(1, 2)[2][1], X:copy(), tostring(X):sub(1, 24)
  end)
  case("row", function(e)
    local X, v = e.a:matrix(30), e.b:slice(1, 100)
    return X - gr.row(v), X:compare("<", v), gr.where(X:compare("<", v), X, v), gr.mul(X, v, { into = e.into32 }),
      gr.fuse "x - v" { x = X, v = gr.row(v) }:sum()
  end)
  case("column", function(e)
    local X = e.a:matrix(30)
    return X / gr.column(e.b:slice(1, 30)), X:clamp(e.b:slice(1, 100), gr.column(e.b:slice(31, 60)))
  end)
  case("scalar", function(e)
    local s = gr.scalar(e.b:slice(1, 1))
    return e.a - s, e.a:compare("<", s), gr.mul(e.a, s, { into = e.into32 }), (gr.lazy(e.a) / s):sum()
  end)
  case("transpose", function(e)
    local T = e.a:matrix(30):transpose()
    return T[2], T:column(3), T:sum { axis = 2 }, T:slice(1, 40), T + T, T:transpose(),
      T:put(gr.array({ 1, -1, 2 }, "i32"), 3)
  end)
  case("cov", function(e) return e.a:cov { rows = 1000 }, e.i:matrix(100):cov { ddof = 1, out = "f32" } end)
  case("corr", function(e) return e.a:corr { rows = 1000 }, e.b:corr { rows = 1500, into = gr.zeros(4, "f64") } end)
  case("sum by axis", function(e)
    local X = e.a:matrix(30)
    return X:sum { axis = 1, keepdims = true }, X:mean { axis = 2, out = "f32" }, X:softmax(), X:minmax { axis = 1 }
  end)
  case("vectors of a matrix", function(e)
    local X = e.a:matrix(3)
    return X:scan { axis = 1 }, X:quantile({ 0.1, 0.9 }, { axis = 2 }), X:median { axis = 2 },
      gr.histogram(X, { bins = 4, axis = 2 }).counts, e.a:quantile(0.5, { weights = e.b:abs() })
  end)
end
