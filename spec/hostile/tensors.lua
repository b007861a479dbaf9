-- Cases of cases.lua: DLPack's tensors, and objects that say where their bytes are.
return function(case)
  -- Each state requires the module anew, while its cases are prepared.
  local gr = setmetatable({}, { __index = function(_, name) return require "gpureduce"[name] end })

  case("wrap data", function()
    local object = { getSize = function() return 12 end, getPointer = function() return 0 end,
      getFormat = function() return "r32f" end }
    return gr.wrap(object)
  end, { may_raise = true })
  case("dlpack and fromdlpack", function(e)
    local m = e.a:slice(1, 6):matrix(2)
    local back = gr.fromdlpack(m:transpose():dlpack { versioned = false })
    back:touch()
    return back, gr.fromdlpack(e.a:slice(-1, 1, -7):dlpack { readonly = true }), tostring(e.i:dlpack())
  end)
  case("dlpack copies", function(e)
    local d = e.a:slice(1, 6):matrix(2):transpose():dlpack { copy = true }
    return gr.fromdlpack(d, { copy = true }), tostring(d)
  end)
  -- An address has no owner that would call the deleter, should something raise before: all else is made first.
  case("fromdlpack by address", function(e)
    local options = { volatile = true }
    local d = e.a:dlpack()
    local p = d:pointer()
    assert(d:address() > 0)
    d:consume()
    return gr.fromdlpack(p, options)
  end)
  case("fromdlpack that raises", function(e)
    return gr.fromdlpack(e.a:dlpack(), { copie = 3 })
  end, { may_raise = true })
  case("destructor", function(e) return e.a:dlpack():destructor() end, { may_raise = true })
  case("tensors released", function(e)
    local d, f = e.a:dlpack(), e.b:dlpack()
    d:release()
    d:release()
    debug.getmetatable(f).__close(f)
    debug.getmetatable(f).__gc(f)
    return tostring(d), e.a:sum()
  end)
end
