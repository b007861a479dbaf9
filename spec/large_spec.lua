-- More than 2^31 elements, on a GPU (the arrays are made there: 2 and 9 GB), and one that fills it; names of 2 GB.
local S = require "spec.support"
local gr = S.gr

local function on_gpu(name, f)
  it(name, function()
    if not gr.backend():find("^cuda") then return pending "needs a GPU" end
    f()
    collectgarbage()
    collectgarbage()
    gr.trim()
  end)
end

describe("more than 2^31 elements", function()
  local n = 2 ^ 31 + 12345

  on_gpu("of u8: sum and histogram", function()
    local a = gr.full(n, 3, "u8")
    a[n] = 200
    a[2 ^ 31] = 5
    assert.equal(3 * (n - 2) + 205, a:sum())
    assert.equal(n, a:argmax())
    local h = gr.histogram(a, { bins = 256, modulo = true })
    assert.equal(n - 2, h.counts[4])
    assert.equal(1, h.counts[6])
    assert.equal(1, h.counts[201])
    local stepped = a:slice(n, 1, -12345) -- meets n and 2^31
    assert.equal(3 * (#stepped - 2) + 205, stepped:sum())
  end)

  on_gpu("of u8: element operators and compaction", function()
    local a = gr.full(n, 3, "u8")
    a[n], a[2 ^ 31] = 200, 5
    a:add(1, { into = a })
    assert.equal(4 * (n - 2) + 207, a:sum())
    local mask = a:compare("~=", 4)
    assert.equal(2, mask:count())
    assert.equal(n - 2, a:count { op = "==", value = 4 })
    S.same_all({ 6, 201 }, a:compact(mask))
    local most = a:compact(a:compare("==", 4, { into = mask }))
    assert.equal(n - 2, #most)
    assert.equal(4 * (n - 2), most:sum())
    most:release()
    local reversed = a:slice(n, 1, -1)
    gr.where(mask, reversed, 9, { into = mask }) -- 9 where there was no 4, else the mirrored element
    assert.equal(9, mask[n])
    assert.equal(9, mask[2 ^ 31])
    assert.equal(201, mask[1])
    assert.equal(4 * (n - 4) + 201 + 6 + 9 + 9, mask:sum())
  end)

  on_gpu("of f32: dot", function()
    local a = gr.full(n, 2, "f32")
    a[n] = 7
    assert.equal(4 * (n - 1) + 49, a:dot(a))
    assert.equal(2, a:slice(2 ^ 31 - 1, 2 ^ 31 + 1):min())
    a:release()
  end)
end)

-- Sizes are rounded by 2 MiB at most, so nearly all of a card can be one array: 145 GB on an H200.
describe("an array of 97 percent of what the device has free", function()
  on_gpu("is made and summed", function()
    gr.trim()
    local free = tonumber(S.message(function() return gr.zeros(2 ^ 45, "u8") end):match "([%d.]+) GiB free")
    local n = math.floor(0.97 * free * 2 ^ 30)
    local a = gr.zeros(n, "u8")
    assert.equal(0, a:sum())
    assert.equal(n, a:fill(1):sum())
    assert.is_true(gr.memory().device < n + 4 * 2 ^ 20)
    a:release()
  end)
end)

describe("a name of more bytes than an int counts", function()
  it("is refused like any other", function()
    local file = io.open "/proc/meminfo"
    local free = file and tonumber(file:read("*a"):match("MemAvailable:%s*(%d+)")) or 0
    if file then file:close() end
    if free < 2 ^ 23 or _VERSION < "Lua 5.4" then return pending "needs 8 GB free, once, under the newest Lua" end
    local text = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      local half = ("x"):rep(2 ^ 30)
      local name = half .. half .. "xxxxx"
      half = nil
      collectgarbage()
      print(select(2, pcall(gr.sum, gr.ones(3), { [name] = 1 })))
      print(select(2, pcall(gr.sum, gr.ones(3), { accumulate = name })))]])
    local start = ("x"):rep(40)
    assert.equal("bad argument #2 to 'sum' (unknown option '" .. start .. "')\n" ..
      "bad argument #2 to 'sum' (option 'accumulate': unknown mode '" .. start .. "')\n", text)
  end)
end)
