-- The sweep's calls over ranks: host.c has a communicator of one.
local S = require "spec.support"
local gr = S.gr
local one_rank = one_rank -- luacheck: globals one_rank

return function(case)
  case("a communicator", function(e)
    local comm = one_rank()
    local half = comm:split(1, 2)
    comm:barrier()
    return comm.rank, comm.size, half.size, tostring(comm), comm:part(5000, "f64"), comm:bcast({ 1, "x", e.i }, 0),
      comm:gather { e.a, { deep = true } }
  end)
  case("a communicator that is closed", function()
    local comm = one_rank()
    debug.getmetatable(comm).__gc(comm)
    return pcall(comm.barrier, comm)
  end, { may_raise = true })
  for _, name in ipairs { "sum", "mean", "var", "minmax", "argmax", "norm" } do
    case(name .. " over ranks", function(e)
      local with = { comm = one_rank() }
      return gr[name](e.a, with), gr[name](gr.lazy(e.a) * 2, with),
        gr[name](e.a, { comm = with.comm, rows = 30, axis = 1 })
    end)
  end
  case("reductions over ranks, exactly and at once", function(e)
    local with = { comm = one_rank() }
    return gr.sum(e.a, { comm = with.comm, exact = true }), gr.accumulator():add(e.a):merge(with.comm):value(),
      gr.many { { "sum", e.a, with }, { "dot", e.a, e.b, with }, { "argmin", e.a, with } }
  end)
  case("what is no reduction over ranks", function(e)
    local with = { comm = one_rank() }
    local op = gr.operator { state = "s", map = "f64(x)", merge = "s1 + s2", identity = 0 }
    return gr.scan(e.a, "sum", with), gr.digest(e.a, with), gr.median(e.a, with), gr.reduce(e.a, op, with),
      gr.histogram(e.a, { bins = 5, comm = with.comm }),
      gr.histogram(e.a, { bins = 5, min = 0, max = 1, weights = e.b, comm = with.comm }),
      gr.bincount(e.u, with), gr.rand(100, { seed = 1, comm = with.comm })
  end)
  for _, name in ipairs { "sum", "mean", "var", "minmax", "argmin", "count", "norm" } do
    case(name .. " over ranks of what is present", function(e)
      local with = { comm = one_rank(), mask = gr.compare(e.a, ">", 0), skipnan = true }
      return gr[name](e.a, with), gr[name](gr.lazy(e.a) * 2, with)
    end)
  end
  case("pairs and others over ranks of what is present", function(e)
    local with = { comm = one_rank(), mask = gr.compare(e.a, ">", 0) }
    return gr.dot(e.a, e.b, with), gr.sum(e.a, { comm = with.comm, mask = with.mask, exact = true }),
      gr.scan(e.a, "sum", with), gr.median(e.a, with),
      gr.histogram(e.a, { bins = 5, comm = with.comm, mask = with.mask, weights = e.b }), gr.bincount(e.u, {
        comm = with.comm, mask = gr.compare(e.u, ">", 0) })
  end)
  case("histogram2d over ranks", function(e)
    local comm = one_rank()
    return gr.histogram2d(e.a, e.b, { bins = 5, comm = comm }),
      gr.histogram2d(e.a, gr.lazy(e.b) * 2, { edges = { { 0, 1, 3 }, { 0, 1 } }, weights = e.b, comm = comm })
  end)
  case("files over ranks", function(e)
    local with = { comm = one_rank() }
    local saved, why = e.a:save(e.npy, with)
    if not saved then return nil, why, 12 end
    return (gr.load(e.npy, with))
  end, { refusals = true })
end
