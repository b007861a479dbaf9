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

describe("a second number of matrix", function()
  it("is that of the columns, which the length decides", function()
    local a = gr.arange(1, 6)
    assert.equal(2, a:matrix(3, 2).columns)
    assert.equal(2, a:matrix(3, nil).columns)
    assert.equal("bad argument #3 to 'matrix' (3 rows of length 6 have 2 columns, got 5)", S.message(a.matrix, a, 3, 5))
    assert.equal("bad argument #3 to 'matrix' (number expected, got string)", S.message(a.matrix, a, 3, "two"))
  end)
end)
