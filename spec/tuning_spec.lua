local S = require "spec.support"

-- The tables that bench/tuning.lua goes by, which change nothing but tell how each tuning number is measured; and what
-- puts another value into a file.
local function files()
  local path = package.path
  package.path = "./bench/tuning/?.lua;" .. path
  local list = { (require "reduce") }
  for _, name in ipairs { "rooms", "host" } do
    for _, file in ipairs(require(name)) do list[#list + 1] = file end
  end
  local variants = require "variants"
  package.path = path
  return list, variants
end

-- What is declared in a tuning.h, without comments, for other reasons than to be tuned.
local derived = { gr_batch = true, GR_PRESENT_LEAST = true, gr_traits_of = true, hopper = true, turing = true, t = true,
  gr_staged_is_slow = true, ["rows_by_vector.blocks"] = true,
  ["rows_by_element.block_warps"] = true, gr_leaves_registers_for = true, gr_ordered_bytes_for = true,
  gr_few_has_narrow = true }

local function numbers_of(text)
  local names = {}
  local function add(name) if not derived[name] then names[#names + 1] = name end end
  text = text:gsub("/%*.-%*/", " ")
  for name in text:gmatch "#define (GR_[%w_]+) [^\n]+" do add(name) end
  for kernel, fields in text:gmatch "%.([%w_]+) = {(%.[^}]+)}" do
    for field in fields:gmatch "%.([%w_]+) = " do add(kernel .. "." .. field) end
  end
  for statement in text:gmatch "constexpr ([^;]+);" do
    local list = statement:gsub("%b()", ""):gsub("%b{}", "")
    local is_function = statement:find "^[%w_ ]+ [%w_]+%(" and not statement:find "^[^(]- = "
    if is_function then
      add(statement:match "([%w_]+)%(")
    else
      for name in list:gmatch "([%w_]+) = " do add(name) end
    end
  end
  return names
end

describe("the table of tuning numbers", function()
  it("has the values that the numbers have", function()
    local count, list, variants = 0, files()
    for _, file in ipairs(list) do
      for _, row in ipairs(file.rows) do
        row.file = file.file
        if not row.why then
          assert.is_truthy(row[3] and row[4], row[1])
          for value in row[3]:gmatch "[^|]+" do
            assert.are_not.equal(row[2], value, row[1])
            local edited, why = variants.edit(row, value)
            assert.are_not.equal(S.read_file(file.file), edited, why)
            assert.is_truthy(edited, why)
          end
        end
        count = count + 1
      end
    end
    assert.is_true(count > 300)
  end)

  it("lacks none", function()
    for _, file in ipairs(files()) do
      local there, missing = {}, {}
      for _, row in ipairs(file.rows) do there[row[1]:match "^(%S+)"] = true end
      local names = numbers_of(S.read_file(file.file))
      assert.is_true(#names > 1, file.file)
      for _, name in ipairs(names) do if not there[name] then missing[#missing + 1] = name end end
      assert.same({}, missing, file.file)
    end
  end)
end)
