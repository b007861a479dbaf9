-- Cases of cases.lua: what the prompt and tests ask of arrays.
return function(case)
  local function add(name, f, setting)
    case(name, function(e) return f(require "gpureduce", e) end, setting)
  end

  add("allclose", function(gr, e)
    return gr.allclose(e.a, e.a), e.a:allclose(e.b, { rtol = 0.5 }), e.i:allclose(e.i), gr.lazy(e.a):allclose(e.a)
  end)
  add("isclose", function(gr, e)
    return e.a:isclose(e.b), e.i:isclose(3, { atol = 2, nan_equal = true }), (gr.lazy(e.a) * 2):isclose(e.b):sum(),
      e.a:isclose(0.5, { into = e.m })
  end)
  add("differ", function(gr, e)
    return gr.differ(e.a, e.b), gr.differ(e.a, e.a), gr.differ(e.i, gr.lazy(e.i) + 1), e.a:differ(e.b, { atol = 0.5 })
  end)
  add("isarray", function(gr, e) return gr.isarray(e.a), gr.isarray(1) end)
  add("ipairs", function(gr, e)
    local sum = 0
    for i, v in gr.ipairs(e.a) do
      sum = sum + v
      if i == 40 then break end
    end
    for _, row in gr.ipairs(e.p:matrix(3):transpose()) do sum = sum + row[1] end
    return sum
  end)
  add("show", function(_, e)
    return (e.a:show():gsub("%(.-%)", "")), #e.a:matrix(30):transpose():show(1) > 0, #e.i:show(100) > 0
  end)
  add("show of NaN", function(gr) return (gr.array({ 0 / 0, 1, 2 }, "f16"):show():gsub("%(.-%)", "")) end)
  add("help", function(gr) return #gr.help(), #gr.help "sum", #gr.help "Scans" end)
  add("help that there is none of", function(gr) return gr.help "nonsense" end, { may_raise = true })
end
