-- Small calls under LuaJIT: its compiler calls C by way of the FFI in a few nanoseconds, where a function of the C API
-- takes fifty and ends the trace. What is not a short array on the CPU, and every mistake, goes to the C function.
local gr, parts = ...
local rawget, type = rawget, type
local jit, debug = rawget(_G, "jit"), rawget(_G, "debug")
-- The metatable of arrays is hidden from scripts; what they can forge must not pass for it. Without this function (a
-- host may have taken it away) all calls go to the C functions.
local getmetatable = type(debug) == "table" and rawget(debug, "getmetatable")
local found, ffi = pcall(require, "ffi")
local array = parts.array

local function wrap(names)
  local small = ffi.cast("int (*)(void *, int, const void *, const void *, double *)", parts.small)
  local context, out = ffi.cast("void *", parts.context), ffi.new("double[1]")

  local function one(old, op)
    return function(...)
      local a, options = ...
      if options == nil and getmetatable(a) == array and small(context, op, a, nil, out) ~= 0 then return out[0] end
      return old(...)
    end
  end

  local function two(old, op)
    return function(...)
      local a, b, options = ...
      if options == nil and getmetatable(a) == array and getmetatable(b) == array then
        if small(context, op, a, b, out) ~= 0 then return out[0] end
      end
      return old(...)
    end
  end

  local function put(name, f) gr[name], names[f] = f, name end
  for name, op in pairs(parts.brief_ones) do put(name, one(gr[name], op)) end
  for name, op in pairs(parts.brief_pairs) do put(name, two(gr[name], op)) end

  -- a:sum() finds its method without C, and a[i] its element by one call.
  local element = ffi.cast("int (*)(const void *, double, double *)", parts.element)
  local old = array.__index
  function array.__index(a, key)
    local kind = type(key)
    if kind == "string" then
      local method = rawget(gr, key)
      if method then return method end
    elseif kind == "number" and getmetatable(a) == array and element(a, key, out) ~= 0 then return out[0] end
    return old(a, key)
  end

  -- What gr.ipairs gives to for; the C function goes on wherever this cannot.
  local old_ipairs = gr.ipairs
  local function ipairs_of(a)
    local old_next, _, zero = old_ipairs(a)
    local function next_element(b, i)
      if type(i) == "number" and getmetatable(b) == array and element(b, i + 1, out) ~= 0 then return i + 1, out[0] end
      return old_next(b, i)
    end
    return next_element, a, zero
  end
  put("ipairs", ipairs_of)
end

-- Called at the end, with the table of the module's functions.
return function(names)
  if jit and jit.status() and found and getmetatable then wrap(names) end
end
