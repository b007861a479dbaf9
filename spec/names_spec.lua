-- Names that people bring from other libraries: what the module says when it is asked for them.
local S = require "spec.support"
local gr = S.gr

describe("a function that the module lacks", function()
  it("is named, with what to write instead, if other libraries have it", function()
    local texts = {
      sort = "there is no sort; a:quantile(shares) finds by rank",
      unique = "there is no unique; a:bincount() counts whole numbers",
      nansum = "write a:sum { skipnan = true }",
      percentile = "did you mean 'quantile'?",
      range = "did you mean 'arange', or 'minmax' of an array?",
      concatenate = "write a:copy { into = c:slice(1, #a) }, and so on",
      matmul = "there is no product of matrices",
    }
    for name, text in pairs(texts) do
      assert.equal(("gpureduce: no function '%s' (%s)"):format(name, text), S.message(function() return gr[name] end))
    end
  end)

  it("is nil otherwise, so that a program may ask whether it is there", function()
    for _, key in ipairs { "meen", "float", "x", 1, true } do assert.is_nil(gr[key]) end
    assert.is_nil(rawget(gr, "sort"))
  end)

  it("may stand there once a script has put it there", function()
    gr.sort = math.abs
    assert.equal(2, gr.sort(-2))
    gr.sort = nil
  end)
end)

describe("a field that is like several", function()
  it("is taken for the first of them by the alphabet, in every process", function()
    assert.equal("gpureduce.array: no method or field 'foo' (did you mean 'bor'?)",
      S.message(function() return gr.ones(3).foo end))
  end)
end)

describe("a second number of matrix", function()
  it("is that of the columns, which the length decides", function()
    local a = gr.arange(1, 6)
    assert.equal(2, a:matrix(3, 2).columns)
    assert.equal(2, a:matrix(3, nil).columns)
    assert.equal("bad argument #3 to 'matrix' (3 rows of length 6 have 2 columns, got 5)", S.message(a.matrix, a, 3, 5))
    assert.equal("bad argument #3 to 'matrix' (number expected, got string)", S.message(a.matrix, a, 3, "two"))
  end)
end)

describe("a script that takes Lua's functions away", function()
  it("takes none from the module, whose parts are read later", function()
    local text, status = S.child_text({}, [[
      local gr = require "gpureduce"
      local print, tostring, pairs = print, tostring, pairs
      local before = { string, table, math, os, io }
      for k = 1, #before do
        for name in pairs(before[k]) do before[k][name] = nil end
      end
      local a = gr.arange(1, 9)
      local h, pairs_of = gr.histogram(a, { bins = 3 }), gr.histogram2d(a, a, { bins = 3 })
      print(#h:svg() > 500, #h:plot() > 50, #tostring(h) > 50, #pairs_of:svg() > 500, #pairs_of:plot() > 50,
        #gr.svg { lines = { { y = a } }, points = { { x = a, y = a } }, title = "a" } > 500,
        #gr.plot(a) > 50)
      a:show()
      gr.help "sum"
      print(gr.isarray(a))]])
    assert.equal(0, status, text)
    assert.equal(("true\t"):rep(6) .. "true\n", text:match("^[^\n]*\n"), text)
    assert.truthy(text:find("true\n$"), text)
  end)
end)
