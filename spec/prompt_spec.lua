-- At the prompt: gr.show, gr.help, gr.ipairs and gr.isarray.
local S = require "spec.support"
local model = require "spec.model"
local gr, nan, huge = S.gr, S.model.nan, math.huge
local topics, source = dofile("docs/topics.lua"), dofile("docs/source.lua")

-- What a script prints in a process of its own.
local function printed(environment, script)
  environment.GPUREDUCE_DEVICE = environment.GPUREDUCE_DEVICE or "cpu"
  local text, status = S.child_text(environment, 'local gr = require "gpureduce"\n' .. script)
  assert.equal(0, status, text)
  return (text:gsub("\n$", ""))
end

describe("gr.show", function()
  it("says what an array is, where it lies, its ends and its statistics", function()
    assert.equal([[
gpureduce.array f32[1000] (host) on cpu
1 2 3 ... 998 999 1000
min 1, mean 500.5, max 1000, no NaN
gpureduce.array i64[5] (host) on cpu
1 2 3 4 5
min 1, mean 3, max 5
gpureduce.array u8[6] (host) on cpu
7 7 7 7 7 7
min 7, mean 7, max 7
gpureduce.array u8[7] (host) on cpu
7 7 7 ... 7 7 7
min 7, mean 7, max 7
gpureduce.array f64[3] (host) on cpu
0.333333 ... 1e+300
min 0.333333, mean 3.33333e+299, max 1e+300, no NaN
gpureduce.array f32[0] (host) on cpu
no elements
gpureduce.array f16[3] (host) on cpu
nan 1 inf
1 NaN, of the rest: min 1, mean inf, max inf
gpureduce.array bf16[2] (host) on cpu
nan nan
2 NaN, nothing else
gpureduce.array f32[2] (host) on cpu
-inf -0
min -inf, mean -inf, max -0, no NaN]], printed({ COLUMNS = "80" }, [[
print(gr.arange(1, 1000):show())
print(gr.show(gr.arange(1, 5, "i64"), 10))
print(gr.full(6, 7, "u8"):show())
print(gr.full(7, 7, "u8"):show())
print(gr.array({ 1 / 3, 2, 1e300 }, "f64"):show(1))
print(gr.zeros(0):show())
print(gr.array({ 0 / 0, 1, 1 / 0 }, "f16"):show())
print(gr.array({ 0 / 0, 0 / 0 }, "bf16"):show())
print(gr.array({ -1 / 0, -1 / (1 / 0) }):show())]]))
  end)

  it("shows the corners of matrices, and as many columns as there is room for", function()
    local script = [[
print(gr.arange(1, 12):matrix(3):show())
print(gr.arange(1, 6):matrix(2):transpose():show())
print(gr.arange(1, 1e4):matrix(100):transpose():show(2))
print((gr.arange(1, 18) * 1e5):matrix(2):show(9))]]
    assert.equal([[
gpureduce.array f32[3 x 4] (host) on cpu
1   2   3   4
5   6   7   8
9  10  11  12
min 1, mean 6.5, max 12, no NaN
gpureduce.transposed f32[3 x 2] (host) on cpu
1  4
2  5
3  6
min 1, mean 3.5, max 6, no NaN
gpureduce.transposed f32[100 x 100] (host) on cpu
  1  101  ...  9801   9901
  2  102  ...  9802   9902
...  ...  ...   ...    ...
 99  199  ...  9899   9999
100  200  ...  9900  10000
min 1, mean 5000.5, max 10000, no NaN
gpureduce.array f32[2 x 9] (host) on cpu
100000   200000   300000  ...   700000   800000   900000
 1e+06  1.1e+06  1.2e+06  ...  1.6e+06  1.7e+06  1.8e+06
min 100000, mean 950000, max 1.8e+06, no NaN]], printed({ COLUMNS = "56" }, script))
  end)

  it("breaks its lines at the terminal's width, of 10 columns too", function()
    for _, width in ipairs { 10, 24, 47 } do
      local text = printed({ COLUMNS = tostring(width) }, [[
print(gr.rand(1000, { seed = 1 }):show(20))
print(gr.arange(1, 1e4):matrix(100):show(9))]])
      for line in text:gmatch("[^\n]+") do assert.truthy(#line <= math.max(width, 3 * 7), line) end
      assert.truthy(text:find("0.955", 1, true) or text:find("...", 1, true))
    end
  end)

  it("has statistics that are those of the elements that are numbers", function()
    S.on_each(function()
      local g = model.generator(3)
      for _, dtype in ipairs { "f32", "f64", "i32" } do
        local list, least, most, sum, missing = {}, huge, -huge, 0, 0
        for k = 1, 500 do
          local x = g() % 1000 - 500
          if dtype ~= "i32" and g() % 7 == 0 then x, missing = nan, missing + 1
          else least, most, sum = math.min(least, x), math.max(most, x), sum + x end
          list[k] = x
        end
        local text = gr.array(list, dtype):show()
        local expected = ("min %d, mean %.6g, max %d"):format(least, sum / (500 - missing), most)
        assert.truthy(text:find(expected, 1, true), text .. "\n" .. expected)
        assert.equal(missing > 0, text:find(("\n%d NaN, of the rest: "):format(missing), 1, true) ~= nil)
      end
    end)
  end)

  it("moves the elements it shows and no more", function()
    S.on("pretend", function()
      local chunk = 65536
      local a = gr.rand(1e6) * 2
      local moved = S.counted(function() a:show() end)
      assert.truthy(moved.bytes_down <= 2 * chunk + 100, moved.bytes_down)
      assert.equal(0, moved.bytes_up)
      local X = (gr.rand(1e6) * 2):matrix(1000)
      moved = S.counted(function() X:transpose():show(1) end)
      assert.truthy(moved.bytes_down <= 4 * chunk + 100, moved.bytes_down)
      assert.equal("(device) on pretend", (gr.rand(10) * 2):show():match("%(.-pretend"))
    end)
  end)

  it("shows views of any step as they are", function()
    local a = gr.arange(1, 100):slice(-1, 1, -7)
    assert.truthy(a:show(2):find("\n100 93 ... 9 2\n", 1, true), a:show(2))
  end)

  for _, row in ipairs {
    { "gr.show()", "bad argument #1 to 'show' (gpureduce.array expected, got no value)" },
    { "gr.show { 1 }", "bad argument #1 to 'show' (gpureduce.array expected, got table)" },
    { "gr.show(gr.lazy(a))", "bad argument #1 to 'show' (gpureduce.array expected, got gpureduce.expression)" },
    { "gr.show(released)", "bad argument #1 to 'show' (array has been released)" },
    { "a:show('x')", "bad argument #2 to 'show' (number of elements from each end expected, got string)" },
    { "a:show(0)", "bad argument #2 to 'show' (1 to 100 elements from each end expected, got 0)" },
    { "a:show(101)", "bad argument #2 to 'show' (1 to 100 elements from each end expected, got 101)" },
    { "a:show(2.5)", "bad argument #2 to 'show' (1 to 100 elements from each end expected, got 2.5)" },
    { "a:show(0 / 0)", "bad argument #2 to 'show' (1 to 100 elements from each end expected, got nan)" },
  } do
    it("refuses " .. row[1], function()
      local environment = { gr = gr, a = gr.ones(3), released = gr.ones(3) }
      environment.released:release()
      assert.equal(row[2], (S.message(S.load_in("return " .. row[1], environment)):gsub("%-nan", "nan")))
    end)
  end
end)

describe("gr.help", function()
  local chapters, _, objects = source.load()
  local list = topics.list(chapters, objects)

  it("tells what docs/api says, all of it", function()
    local names = {}
    for k, topic in ipairs(list) do names[k] = ("%q"):format(topic.name) end
    local got = printed({ COLUMNS = "9999" },
      ("for _, name in ipairs { %s } do print(gr.help(name)) print '\1' end"):format(table.concat(names, ", ")))
    local k = 0
    local function spaced(text) -- blanks as breaking lines leaves them
      return (text:gsub("\n[^\n]+", function(line)
        if line:find("^\n    ") then return line end
        return "\n" .. line:gsub("^%s+", ""):gsub("%s+", " ")
      end))
    end
    for text in (got .. "\n"):gmatch("(.-)\n\1\n") do
      k = k + 1
      local expected = spaced("\n" .. list[k].text)
      assert.equal(expected, spaced("\n" .. text):sub(1, #expected), list[k].name)
    end
    assert.equal(#list, k)
  end)

  it("lists every function of the module by chapter", function()
    local overview = " " .. gr.help():gsub("[%s,]+", " ") .. " "
    for name, value in pairs(gr) do
      if type(value) == "function" then assert.truthy(overview:find(" " .. name .. " ", 1, true), name) end
    end
    for _, chapter in ipairs(chapters) do assert.truthy(gr.help():find("\n" .. chapter.title .. "\n", 1, true)) end
  end)

  it("breaks lines at the terminal's width, but not code", function()
    for _, width in ipairs { 10, 33, 80 } do
      local text = printed({ COLUMNS = tostring(width) }, [[
print(gr.help()) print(gr.help "sum") print(gr.help "Formulas") print(gr.help "save")]])
      for line in text:gmatch("[^\n]+") do assert.truthy(#line <= width or line:find("^    "), line) end
    end
  end)

  it("finds a topic by what people call it", function()
    for given, name in pairs { ["gr.sum"] = "sum", ["a:sum"] = "sum", ["x.sum"] = "sum", ["h:quantile"] = "quantile",
      ["sum()"] = "sum", ["gr.sum(a, b)"] = "sum",
      ["tostring(a)"] = "tostring(a)", eval = "expression:eval", ["e:eval"] = "expression:eval", scans = "Scans",
      SCANS = "Scans" } do
      assert.equal(gr.help(name), gr.help(given), given)
    end
    assert.not_equal(gr.help "Scans", gr.help "scan")
    assert.not_equal(gr.help "plot", gr.help "histogram:plot")
  end)

  it("says of an option what it does, and who takes it", function()
    local text = gr.help "keepdims":gsub("%s+", " ")
    assert.truthy(text:find("^keepdims %(boolean, optional%): the results as a matrix"), text)
    assert.truthy(text:find("An option of sum, prod, mean,"), text)
    for _, name in ipairs { "skipnan", "mask", "comm", "axis", "rows", "into", "dtype", "bins", "segments" } do
      assert.truthy(gr.help(name):find("^" .. name .. " %("), name)
    end
    local said = {}
    for paragraph in (gr.help "bins" .. "\n\n"):gmatch("(.-)\n\n") do
      assert.falsy(said[paragraph], paragraph)
      said[paragraph] = true
    end
    assert.truthy(gr.help "bins":find("An option of histogram2d\n", 1, true), "each wording has its functions")
    assert.truthy(gr.help "min":find("^gr%.min%("), "functions come before options of their names")
  end)

  for _, row in ipairs {
    { "nonsense", "unknown topic 'nonsense'; gr.help() lists all" },
    { "", "unknown topic ''; gr.help() lists all" },
    { "cumsum", "unknown topic 'cumsum' (near it: 'scan', 'operator:scan', 'sum'); gr.help() lists all" },
    { "reshape", "unknown topic 'reshape' (near it: 'matrix'); gr.help() lists all" },
    { "quant", "unknown topic 'quant' (near it: 'quantile', 'histogram:quantile'); gr.help() lists all" },
    { "steps ", "unknown topic 'steps ' (near it: 'expression:steps'); gr.help() lists all" },
    { "get(", "unknown topic 'get(' (near it: 'future:get'); gr.help() lists all" },
    { ("x"):rep(1e5), ("unknown topic '%s'; gr.help() lists all"):format(("x"):rep(40)) },
    { 3, "name such as \"sum\" expected, got number" },
    { gr.sum, "name such as \"sum\" expected, got function" },
    { { "sum" }, "name such as \"sum\" expected, got table" },
  } do
    it("says of " .. tostring(row[1]):sub(1, 20), function()
      assert.equal(("bad argument #1 to 'help' (%s)"):format(row[2]), S.message(gr.help, row[1]))
    end)
  end

  it("needs no file and no library of the host's", function()
    local expected = printed({ COLUMNS = "80" }, 'print(gr.help "dot")')
    assert.equal(expected, printed({}, [[
local print = print
gr.safe {}
io, os, package, require, debug, loadfile, dofile = nil
print(gr.help "dot")]]))
    assert.equal(expected, printed({ "cd / && " }, [[
package.loaded.gpureduce = nil
io, os = nil
print(require "gpureduce".help "dot")]]))
  end)
end)

describe("gr.ipairs", function()
  local function list_of(iterate, a)
    local list = {}
    for i, v in iterate(a) do
      assert.equal(#list + 1, i)
      list[i] = v
    end
    return list
  end

  it("goes over all elements of all dtypes and views", function()
    S.on_each(function()
      for _, dtype in ipairs { "f32", "f64", "f16", "bf16", "u8", "i16", "u32", "i64" } do
        for _, n in ipairs { 0, 1, 2, 300 } do
          local t = {}
          for k = 1, n do t[k] = k % 100 end
          for _, view in ipairs(S.views(t, dtype, 7)) do
            S.same_all(view[2]:table(), list_of(gr.ipairs, view[2]), dtype, view[1])
          end
        end
      end
      local a = gr.rand(40000) * 2 -- on the device alone, in several pieces
      S.same_all(a:table(), list_of(gr.ipairs, a))
    end)
  end)

  it("is a method, and gives integers where Lua has them", function()
    for i, v in gr.array({ 5 }, "u8"):ipairs() do
      S.same(S.whole { 1 }[1], i)
      S.same(S.whole { 5 }[1], v)
    end
  end)

  it("goes over the rows of matrices", function()
    local sums = {}
    for i, row in gr.ipairs(gr.arange(1, 6):matrix(2)) do sums[i] = row:sum() end
    for i, row in gr.ipairs(gr.arange(1, 6):matrix(2):transpose()) do sums[i + 2] = row:sum() end
    assert.same({ 6, 15, 5, 7, 9 }, sums)
  end)

  it("sees what the loop writes, and ends where it is left", function()
    local a, seen = gr.arange(1, 5), 0
    for i, v in gr.ipairs(a) do
      if i < 5 then a[i + 1] = v * 2 end
      seen = seen + 1
    end
    assert.same({ 1, 2, 4, 8, 16 }, a:table())
    assert.equal(5, seen)
  end)

  it("is what Lua's own does where that asks arrays at all", function()
    local ok, message = pcall(ipairs, gr.ones(1))
    local asks = tonumber(_VERSION:match("%d%.%d")) >= 5.2
    if not ok then
      assert.is_false(asks)
      assert.matches("table expected, got userdata", message)
      return
    end
    S.same_all({ 1, 2, 3 }, list_of(ipairs, gr.arange(1, 3)))
    S.same_all({ 4, 5 }, list_of(ipairs, gr.array({ 4, 5 }, "i32"):matrix(1)[1]))
    assert.equal(3, #list_of(ipairs, gr.ones(6):matrix(2):transpose()))
  end)

  it("refuses what is no array, and one that is released on the way", function()
    assert.equal("bad argument #1 to 'ipairs' (gpureduce.array expected, got table (gr.array makes one of it))",
      S.message(gr.ipairs, { 1 }))
    assert.equal("bad argument #1 to 'ipairs' (gpureduce.array expected, got gpureduce.expression)",
      S.message(gr.ipairs, gr.lazy(gr.ones(3))))
    local a = gr.ones(3)
    local message = S.message(function() for _ in gr.ipairs(a) do a:release() end end)
    assert.equal("gpureduce.array: array has been released", message)
    assert.equal("bad argument #1 to 'ipairs' (array has been released)", S.message(gr.ipairs, a))
    local iterate, b = gr.ipairs(gr.ones(3))
    assert.equal("gpureduce.array expected, got table", S.message(iterate, {}, 0))
    assert.equal("gpureduce.array expected, got nil", S.message(iterate, nil, 0))
    assert.equal("gpureduce.array: position of 0 or more expected, got string", S.message(iterate, b, "0"))
    assert.equal("gpureduce.array: position of 0 or more expected, got number", S.message(iterate, b, -1))
    assert.equal("gpureduce.array: position of 0 or more expected, got number", S.message(iterate, b, 0.5))
    assert.is_nil(iterate(b, 3))
    assert.is_nil(iterate(b, 2 ^ 60))
  end)
end)

describe("gr.isarray", function()
  it("knows arrays of all kinds", function()
    local a = gr.ones(6)
    local released = gr.ones(3)
    released:release()
    S.on_each(function() assert.is_true(gr.isarray(gr.ones(2))) end)
    local X = a:matrix(2)
    for _, x in ipairs { a, a:slice(2, 3), X, X:transpose(), X[1], gr.zeros(0), released } do
      assert.is_true(gr.isarray(x))
    end
    assert.is_true(a:isarray())
  end)

  it("is false of all else, and asks it nothing", function()
    local function trap() error("asked") end
    local trapped = setmetatable({}, { __index = trap, __eq = trap, __len = trap, __call = trap, __tostring = trap,
      __name = "gpureduce.array", __metatable = "gpureduce.array" })
    assert.is_false(gr.isarray())
    assert.is_false(gr.isarray(nil))
    local a = gr.ones(3)
    for _, x in ipairs { false, 3, "gpureduce.array", trapped, {}, print, coroutine.create(function() end), io.stdout,
      gr, gr.lazy(a), gr.fuse "a", gr.async(gr.sum, a), gr.accumulator(), a:histogram { bins = 2 } } do
      assert.is_false(gr.isarray(x))
    end
  end)

  it("is true of an array that a finalizer meets, until that is collected itself", function()
    local seen
    local keep = gr.ones(3)
    S.at_collection(function() seen = gr.isarray(keep) end)
    collectgarbage()
    collectgarbage()
    assert.is_true(seen)
  end)
end)
