-- Checks of arguments for the module's Lua parts; the words are those of src/binding/args.c.
local _, parts = ...

local check = {}

--- Raise "bad argument #2 to 'plot' (...)" at the line that called the module.
-- (Not `arg`: Lua 5.1 has a hidden local of that name in functions with dots.)
function check.fail(name, position, text, ...)
  parts.raise(string.format("bad argument #%d to '%s' (%s)", position, name, parts.text.format(text, ...)))
end

--- For loops over what a script gave, every 4096 elements or so: raises when the call, begun by parts.timed, is to end.
function check.look()
  if parts.is_due() then parts.raise("gpureduce: interrupted") end
end

-- What the value is, in words: its type, or the name its metatable gives.
check.kind = parts.kind

--- For methods: an error that shows how to call the one of this name, unless h is an object of the kind, "histogram".
function check.self(kind, name, h)
  if parts["is_" .. kind](h) then return end
  check.fail(name, 1, "gpureduce.%s expected, got %s (write h:%s(), not h.%s())", kind, check.kind(h), name, name)
end

-- "number|string" -> "number or string"
local function words(kinds) return (string.gsub(kinds, "|", " or ")) end

--- A copy of the options table (or nil: an empty one), read raw, so that nothing of the script runs when it is used.
-- Keys and types must be those of known, { width = "number", ... }. A metatable with __index, whose defaults a raw read
-- would miss, raises.
function check.options(name, arg, options, known)
  if options == nil then return {} end
  if type(options) ~= "table" then
    check.fail(name, arg, "options table expected, got %s", check.kind(options))
  end
  if parts.inherits(options) then
    check.fail(name, arg, "options table without __index expected: options are read raw")
  end
  local copy = {}
  for key, value in next, options do
    if type(key) ~= "string" then
      check.fail(name, arg, "option names are strings, got a %s", type(key))
    end
    local kinds = known[key]
    if not kinds then
      local names = {}
      for each in pairs(known) do names[#names + 1] = each end
      table.sort(names)
      check.fail(name, arg, "unknown option '%s'%s", string.sub(key, 1, 40), parts.hint(key, names))
    end
    if kinds ~= "any" and not string.find(("|" .. kinds .. "|"), "|" .. check.kind(value) .. "|", 1, true) then
      check.fail(name, arg, "option '%s': %s expected, got %s", key, words(kinds), check.kind(value))
    end
    copy[key] = value
  end
  return copy
end

--- An argument that may be left out before the options: the two, and where the options are (first or the one after it).
function check.optional(name, first, value, options)
  if type(value) ~= "table" then return value, options, first + 1 end
  if options ~= nil then
    check.fail(name, first + 1, "nothing expected after the options, got %s", check.kind(options))
  end
  return nil, value, first
end

--- The arguments of a method svg(path, options): the path or nil, a copy of the options, and where these are.
function check.svg(path, options, known)
  local at
  path, options, at = check.optional("svg", 2, path, options)
  if path ~= nil and type(path) ~= "string" then
    check.fail("svg", 2, "path expected, got %s", check.kind(path))
  end
  return path, check.options("svg", at, options, known), at
end

return check
