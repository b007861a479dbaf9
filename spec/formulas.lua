-- Random formulas for fuse_spec.lua: a tree, its text in the language of gr.fuse with no more parentheses than Lua's
-- precedence needs, and what it comes to for each element, in plain Lua.
local model = require "spec.model"
local F = {}

local wrap, product = model.wrap, model.wrapped_product

local function rounded(dtype, x) return model.is_float[dtype] and model.round[dtype](x) or wrap(dtype, x) end
local function truth(x) return x ~= 0 and 1 or 0 end

-- ---- nodes: { text, precedence, dtype, value = function(k) } ----

local function within(node, precedence, strictly)
  if node.precedence < precedence or (strictly and node.precedence == precedence) then return "(" .. node.text
    .. ")" end
  return node.text
end

local function binary(sign, precedence, a, b, dtype, value)
  return { text = within(a, precedence) .. " " .. sign .. " " .. within(b, precedence, true), precedence = precedence,
    dtype = dtype, value = value }
end

local function call(name, dtype, value, ...)
  local parts = {}
  for k = 1, select("#", ...) do parts[k] = select(k, ...).text end
  return { text = name .. "(" .. table.concat(parts, ", ") .. ")", precedence = 99, dtype = dtype, value = value }
end

local arithmetic = {}
arithmetic["+"] = function(t, x, y) return rounded(t, x + y) end
arithmetic["-"] = function(t, x, y) return rounded(t, x - y) end
arithmetic["*"] = function(t, x, y) return model.is_float[t] and model.round[t](x * y) or product(t, x, y) end

local relations = {
  ["<"] = function(x, y) return x < y end, ["<="] = function(x, y) return x <= y end,
  ["=="] = function(x, y) return x == y end, ["~="] = function(x, y) return x ~= y end,
  [">="] = function(x, y) return x >= y end, [">"] = function(x, y) return x > y end,
}
local signs = { "<", "<=", "==", "~=", ">=", ">" }

-- A formula whose result has that dtype (u8 may come from comparisons as well). inputs: arrays as tables by name, all
-- of `from`; numbers by name. depth: how many operators on the longest way at most.
function F.make(g, from, inputs, names, numbers, depth)
  local make

  local function leaf()
    local name = names[g() % #names + 1]
    local t = inputs[name]
    return { text = name, precedence = 99, dtype = from, value = function(k) return t[k] end }
  end

  local function number() -- one that every dtype has, or the name of one
    if g() % 2 == 0 then
      local name = g() % 2 == 0 and "p" or "q"
      return { text = name, precedence = 99, number = true, value = function() return numbers[name] end }
    end
    local x = g() % 7
    if model.is_float[from] then x = x + 0.0 end
    return { text = ("%d"):format(x), precedence = 99, number = true, value = function() return x end }
  end

  local function pair(d)
    local which = g() % 6
    local a = which == 0 and number() or make(d - 1)
    return a, which == 1 and number() or make(d - 1)
  end

  local function mask(d)
    local a, b = pair(d)
    local sign = signs[g() % 6 + 1]
    local holds = relations[sign]
    local node = binary(sign, 3, a, b, "u8", function(k) return holds(a.value(k), b.value(k)) and 1 or 0 end)
    local way = g() % 8
    if way == 0 then
      local value = node.value
      return { text = "not " .. within(node, 12), precedence = 12, dtype = "u8",
        value = function(k) return 1 - value(k) end }
    elseif way == 1 and d > 1 then
      local other = mask(d - 1)
      return binary("and", 2, node, other, "u8", function(k) return truth(node.value(k)) * truth(other.value(k)) end)
    elseif way == 2 and d > 1 then
      local other = mask(d - 1)
      if node.precedence == 2 then node.text, node.precedence = "(" .. node.text .. ")", 99 end
      return binary("or", 1, node, other, "u8", function(k) return math.max(truth(node.value(k)),
        truth(other.value(k))) end)
    end
    return node
  end

  function make(d)
    if d <= 0 then return leaf() end
    local way = g() % 12
    if way < 6 then
      local sign = ({ "+", "-", "*" })[way % 3 + 1]
      local a, b = pair(d)
      local f = arithmetic[sign]
      return binary(sign, sign == "*" and 11 or 10, a, b, from, function(k) return f(from, a.value(k), b.value(k)) end)
    elseif way == 6 then
      local a = make(d - 1)
      return { text = "-" .. (a.text:sub(1, 1) == "-" and "(" .. a.text .. ")" or within(a, 12)), precedence = 12,
        dtype = from,
        value = function(k) return rounded(from, -a.value(k)) end }
    elseif way == 7 then
      local a = make(d - 1)
      return call("abs", from, function(k)
        local x = a.value(k)
        return rounded(from, x < 0 and -x or x == 0 and 0 or x)
      end, a)
    elseif way == 8 and model.is_float[from] then
      local a, b = pair(d)
      return binary("/", 11, a, b, from, function(k) return model.round[from](a.value(k) / b.value(k)) end)
    elseif way == 9 and model.is_float[from] then
      local a = make(d - 1)
      if g() % 2 == 0 then
        return { text = within(a, 14, true) .. "^2", precedence = 14, dtype = from,
          value = function(k) return model.round[from](a.value(k) * a.value(k)) end }
      end
      return call("sqrt", from, function(k)
        return model.round[from](math.sqrt(a.value(k)))
      end, a)
    elseif way == 10 then
      local c, a, b = mask(d - 1), pair(d)
      return call("where", from, function(k) return c.value(k) ~= 0 and a.value(k) or b.value(k) end, c, a, b)
    elseif way == 11 then
      local c, a, b = mask(d - 1), make(d - 1), make(d - 1)
      local text = within(c, 2, true) .. " and " .. within(a, 2, true) .. " or " .. within(b, 1, true)
      return { text = text, precedence = 1, dtype = from, value = function(k) return c.value(k) ~= 0 and a.value(k)
        or b.value(k) end }
    end
    return leaf()
  end

  local node = g() % 5 == 0 and depth > 0 and mask(depth) or make(depth)
  return node
end

return F
