-- Optional arguments may be left out before the options, and a dtype be argument or option: of all in docs/api.
local S = require "spec.support"
local gr = S.gr
local _, entries, objects = dofile("docs/source.lua").load()

local directory = os.tmpname()
local path = directory .. ".raw"

-- What stands for a parameter: by its name where the type says too little, else by its type.
local named = {
  mask = function() return gr.ones(4, "u8") end, index = function() return gr.ones(4, "i32") end,
  path = function() return path end,
  from = function() return { 1, 2, 3, 4 } end,
  bytes = function() return ("\0"):rep(16) end,
  op = function(entry) return entry.name == "compare" and "<" or "sum" end,
  q = function() return 0.5 end,
  list = function() return { { "sum", gr.ones(4) } } end,
  pointer = function() return 4096 end,
  tensor = function() return gr.ones(4):dlpack() end,
  low = function() return 0 end, high = function() return 1 end,
  p = function() return 2 end,
  n = function() return 4 end,
}
local typed = {
  array = function(entry) return gr.ones(4, entry.name == "bincount" and "u8" or "f32") end,
  dtype = function() return "f32" end,
  number = function() return 1 end, integer = function() return 4 end, string = function() return "sum" end,
}

local function sample(entry, row)
  local make = named[row[1]] or typed[row[2]:match("^%a+")]
  assert(make, entry.name .. ": the spec has no sample for parameter '" .. row[1] .. "'")
  return make(entry)
end

local function optional(row) return row[2]:find("%?$") ~= nil end

-- The function of an entry; methods of other objects than arrays get theirs in front.
local function call(entry, arguments, count)
  local make = entry.of and "local gr = ... return " .. objects[entry.of].make
  local object = make and (loadstring or load)(make)(gr) -- luacheck: ignore
  local unpack = table.unpack or unpack -- luacheck: ignore
  if object then return object[entry.name](object, unpack(arguments, 1, count)) end
  return gr[entry.name](unpack(arguments, 1, count))
end

-- The ways to give the arguments of an entry with options: { arguments, count } for each number of optional ones.
local function ways(entry, options)
  local list, arguments = {}, {}
  for k, row in ipairs(entry.params) do
    if row[2]:match("^options") then
      arguments[k] = options
      list[#list + 1] = { arguments, k }
      return list
    end
    if optional(row) then
      local early = {}
      for j = 1, k - 1 do early[j] = arguments[j] end
      early[k] = options
      list[#list + 1] = { early, k }
    end
    arguments[k] = sample(entry, row)
  end
end

describe("options", function()
  before_each(function() S.write_file(path, ("\0"):rep(16)) end)
  after_each(function() os.remove(path) os.remove(directory) end)

  local several = 0
  for _, entry in ipairs(entries) do
    local all = entry.options and ways(entry, {}) or {}
    if #all > 1 then several = several + 1 end
    if entry.options then
      it("of " .. dofile("docs/source.lua").full_name(entry) .. " stand where arguments are left out", function()
        for _, way in ipairs(ways(entry, { nosuchoption = 1 })) do
          local position = way[2] + (entry.of and 1 or 0)
          local expected = ("bad argument #%d to '%s' (unknown option 'nosuchoption')"):format(position, entry.name)
          assert.equal(expected, S.message(call, entry, way[1], way[2]))
        end
      end)
    end
  end

  it("come last", function()
    assert.is_true(several >= 14, several)
    for _, entry in ipairs(entries) do
      for _, way in ipairs(entry.options and ways(entry, {}) or {}) do
        local last = entry.params[way[2] + 1]
        if last then
          local position = way[2] + 1 + (entry.of and 1 or 0)
          local expected = "bad argument #%d to '%s' (nothing expected after the options, got "
          expected = expected:format(position, entry.name)
          way[1][way[2] + 1] = last[2]:match("^options") and {} or sample(entry, last)
          assert.equal(expected, S.message(call, entry, way[1], way[2] + 1):sub(1, #expected))
        end
      end
    end
  end)
end)

describe("a dtype", function()
  before_each(function() S.write_file(path, ("\0"):rep(16)) end)
  after_each(function() os.remove(path) os.remove(directory) end)

  local count = 0
  local whole = { randint = true, permutation = true } -- of integers alone
  for _, entry in ipairs(entries) do
    local at, option
    local dtype = whole[entry.name] and "i32" or "f64"
    for k, row in ipairs(entry.params) do if row[1] == "dtype" then at = k end end
    for _, row in ipairs(entry.options or {}) do option = option or row[1] == "dtype" end
    if at or option then count = count + 1 end
    if at or option then
      it("of " .. entry.name .. " is an argument or an option", function()
        assert.is_truthy(at and option, "docs/api has one of the two alone")
        local arguments, extra = {}, { dtype = dtype }
        if entry.name == "wrap" then extra.n = 0 end
        if entry.name == "csv" then S.write_file(path, "1\n2\n") end
        for k = 1, at - 1 do arguments[k] = sample(entry, entry.params[k]) end
        for k = at, 1, -1 do -- the option at the dtype's place, and before it where optional arguments are left out
          if k == at or optional(entry.params[k]) then
            local early = {}
            for j = 1, k - 1 do early[j] = arguments[j] end
            early[k] = extra
            assert.equal(dtype, (call(entry, early, k)).dtype)
          end
        end
        arguments[at] = dtype
        arguments[at + 1] = entry.name == "wrap" and { n = 0 } or {}
        assert.equal(dtype, (call(entry, arguments, at + 1)).dtype)
        arguments[at + 1] = extra
        local twice = "bad argument #%d to '%s' (option 'dtype': argument #%d is one already)"
        assert.equal(twice:format(at + 1, entry.name, at), S.message(call, entry, arguments, at + 1))
        arguments[at] = { dtype = "f23" }
        if entry.name == "wrap" then arguments[at].n = 0 end
        assert.matches("unknown dtype 'f23' %(did you mean 'f32'%?%)", S.message(call, entry, arguments, at))
      end)
    end
  end

  it("belongs to twelve functions and more", function() assert.is_true(count >= 12, count) end)
end)
