-- Any result as text: arrays by their digest, futures by what they give, tables by their fields in order.
local describe
local function array_text(a)
  return ("%s[%d] %s"):format(a.dtype, #a, a:digest())
end
function describe(x, depth)
  local kind, meta = type(x), debug.getmetatable(x)
  local name = type(meta) == "table" and rawget(meta, "__name")
  if kind == "number" then return ("%.17g"):format(x) end
  if name == "gpureduce.array" then return array_text(x) end
  if name == "gpureduce.future" then return "future of " .. describe({ x:get(2) }, 1) end
  if name == "gpureduce.histogram" then
    return array_text(x.counts) .. array_text(x.edges) .. describe(x.below) .. describe(x.nan)
  end
  if name == "gpureduce.histogram2d" then
    return array_text(x.counts) .. array_text(x.xedges) .. array_text(x.yedges) .. describe(x.outside)
      .. describe(x.nan)
  end
  if kind ~= "table" then return tostring(x) end
  local keys, parts = {}, {}
  for k in pairs(x) do keys[#keys + 1] = k end
  table.sort(keys, function(p, q) return tostring(p) < tostring(q) end)
  for k, key in ipairs(keys) do parts[k] = tostring(key) .. "=" .. describe(x[key], (depth or 0) + 1) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

return describe
