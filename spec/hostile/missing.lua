-- The sweep's calls that leave elements out.
local S = require "spec.support"
local gr = S.gr

return function(case)
  for _, name in ipairs { "sum", "mean", "var", "min", "minmax", "argmax", "logsumexp", "count" } do
    case(name .. " of what is present", function(e)
      return gr[name](e.a, { skipnan = true }), gr[name](e.a, { mask = e.m }), gr[name](e.i, { mask = e.m, rows = 30 }),
        gr[name](e.a, { mask = gr.lazy(e.a):gt(0.01), rows = 3, axis = 1 }),
        gr[name](gr.lazy(e.a) * 2, { skipnan = true, segments = { 1, 500, 3001 } })
    end)
  end
  for _, name in ipairs { "dot", "mse", "cosine" } do
    case(name .. " of what is present", function(e)
      return gr[name](e.a, e.b, { skipnan = true }), gr[name](e.a, e.b:slice(1, 100), { rows = 30, mask = e.m })
    end)
  end
  case("what is present, exactly and into", function(e)
    return gr.mean(e.a, { mask = e.m, exact = true }), gr.var(e.a, { mask = e.m, exact = true, rows = 3 }),
      gr.sum(e.a, { mask = e.m, into = e.to.sum, at = 2 }), gr.sum(e.a, { mask = e.m, async = true }),
      gr.count(e.a, { op = ">", value = 0.5, mask = e.m })
  end)
  case("scans, histograms and quantiles of what is present", function(e)
    return gr.scan(e.a, "sum", { skipnan = true }), gr.scan(e.a, "max", { mask = e.m, rows = 30 }),
      gr.histogram(e.a, { bins = 5, mask = e.m }),
      gr.histogram(e.a, { bins = 5, skipnan = true, rows = 3, mask = e.m }),
      gr.histogram(e.a, { bins = 5, min = 0, max = 1, weights = e.b, skipnan = true }),
      gr.bincount(e.u, { mask = e.m, weights = e.a }), gr.median(e.a, { mask = gr.lazy(e.m):gt(0) }),
      gr.quantile(e.a, { 0.2, 0.9 }, { skipnan = true, rows = 3, weights = e.b })
  end)
  case("an operator of one's own of what is present", function(e)
    local op = gr.operator { state = "s", map = "f64(x)", merge = "s1 + s2", identity = 0 }
    return op(e.a, { skipnan = true }), op(gr.lazy(e.a) * 2, { mask = e.m, rows = 3 })
  end)
end
