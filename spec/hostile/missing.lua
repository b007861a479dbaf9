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
end
