-- What people do with arrays of any length: without a loop of Lua's over elements, and without bringing them to the
-- host. Each task runs on arrays of two lengths that are on a device; Lua runs as many instructions for the one as for
-- the other, and what is copied down is no more than a few results.
local S = require "spec.support"
local gr = S.gr

local SHORT, LONG = 3000, 300000
local COLUMNS = 3

-- Each is given how many rows there are; it returns the part that is counted. The first part makes its data.
local tasks = {
  { "standard scores of columns", function(n)
    local X = gr.rand(n * COLUMNS):matrix(n)
    return function()
      local mean, var = X:mean { axis = 1, out = "f32" }, X:var { axis = 1, out = "f32" }
      return gr.fuse "(x - m) / sqrt(v)" { x = X, m = gr.row(mean), v = gr.row(var) }:eval()
    end
  end },
  { "probabilities from scores, and the likeliest", function(n)
    local X = gr.randn(n * COLUMNS):matrix(n)
    return function() return X:softmax():argmax { axis = 2 } end
  end },
  { "one column for each kind", function(n)
    local kinds, row = gr.randint(1, 5, n, "i64"), gr.arange(1, 5, "i64")
    return function() return gr.compare(gr.column(kinds), "==", gr.row(row)) end
  end },
  { "nearest of some centres, and their new means", function(n)
    local X, C, row = gr.rand(n * 2):matrix(n), gr.rand(6):matrix(3), gr.arange(1, 2, "i64")
    local D = gr.zeros(3 * n):matrix(3)
    return function()
      for k = 1, 3 do gr.sum((gr.lazy(X) - gr.row(C[k])) ^ 2, { axis = 2, out = "f32", into = D[k] }) end
      local nearest = D:argmin { axis = 1 }
      return gr.zeros(6):put(gr.column((nearest - 1) * 2) + gr.row(row), X, { op = "add" })
    end
  end },
  { "equalised levels of a picture", function(n)
    local image = gr.randint(40, 90, n, "u8")
    return function()
      local share = gr.bincount(image, { minlength = 256 }):scan()
      return gr.fuse "255 * f64(c) / all" { c = share, all = n }:eval():cast "u8":take(image:cast "i32" + 1)
    end
  end },
  { "luminance of pixels, weighted by alpha", function(n)
    local rgb, alpha, eye = gr.rand(n * 3):matrix(n), gr.rand(n), gr.array { 0.2126, 0.7152, 0.0722 }
    return function()
      local light = gr.dot(rgb, eye, { axis = 2, out = "f32" })
      return gr.histogram(light, { bins = 64, min = 0, max = 1, weights = alpha })
    end
  end },
  { "bounding box and centre of points", function(n)
    local P = gr.rand(n * 3):matrix(n)
    return function() return P:minmax { axis = 1 }, P:mean { axis = 1 } end
  end },
  { "centre of mass", function(n)
    local P, m = gr.rand(n * 3):matrix(n), gr.rand(n)
    return function() return (gr.lazy(P) * gr.column(m)):sum { axis = 1 } / m:sum() end
  end },
  { "running mean of 16 values", function(n)
    local a = gr.rand(n)
    return function()
      local sums = a:cast "f64":scan()
      return (sums:slice(17, n) - sums:slice(1, n - 16)) / 16
    end
  end },
  { "mean of each group", function(n)
    local group, x = gr.randint(0, 9, n, "i32"), gr.rand(n)
    return function()
      return gr.bincount(group, { weights = x, minlength = 10 }) / gr.bincount(group, { minlength = 10 }):cast "f64"
    end
  end },
  { "outliers set to a limit", function(n)
    local a = gr.randn(n)
    return function()
      local limit = 3 * math.sqrt(a:var())
      a[gr.lazy(a):gt(limit)] = limit
      return a
    end
  end },
  { "the largest hundredth, in their order", function(n)
    local a = gr.rand(n)
    return function() return a:compact(gr.compare(a, ">=", a:quantile(0.99))) end
  end },
  { "a sample by weight", function(n)
    local a, w = gr.rand(n), gr.rand(n)
    return function() return a:choice(100, { weights = w }) end
  end },
  { "shuffled halves of rows to learn from and to test", function(n)
    local X, row = gr.rand(n * COLUMNS):matrix(n), gr.arange(1, COLUMNS, "i64")
    return function()
      local order = gr.permutation(n)
      local places = gr.column((order - 1) * COLUMNS) + gr.row(row)
      local drawn = X:slice():take(places)
      return drawn:slice(1, n / 2 * COLUMNS):matrix(n / 2), drawn:slice(n / 2 * COLUMNS + 1):matrix(n / 2)
    end
  end },
  { "distances of all points to some", function(n)
    local x, some = gr.rand(n), gr.rand(8)
    return function() return gr.abs(gr.column(x) - gr.row(some)) end
  end },
  { "correlations of columns", function(n)
    local X = gr.randn(n * COLUMNS):matrix(n)
    return function() return X:corr() end
  end },
  { "medians of columns", function(n)
    local X = gr.randn(n * COLUMNS):matrix(n)
    return function() return X:median { axis = 1 } end
  end },
  { "where a walk was highest, and how far it had fallen", function(n)
    local steps = gr.randn(n)
    return function()
      local walk = steps:scan()
      return walk:argmax(), gr.max(walk:scan "max" - walk)
    end
  end },
  { "a residual's norm, without storing it", function(n)
    local a, b, x = gr.rand(n), gr.rand(n), gr.rand(n)
    return function() return math.sqrt(gr.fuse "(a * x - b)^2" { a = a, b = b, x = x }:sum()) end
  end },
  { "how many of each run of equal values", function(n)
    local a = gr.randint(0, 3, n, "i32")
    return function()
      local starts = gr.compare(a:slice(2, n), "~=", a:slice(1, n - 1))
      return gr.bincount(starts:cast "i32":scan())
    end
  end },
  { "means, deviations and quartiles of columns with missing values", function(n)
    local X = gr.randn(n * COLUMNS):matrix(n)
    X[gr.lazy(X):gt(1)] = 0 / 0
    return function()
      local of = { axis = 1, skipnan = true }
      return X:mean(of), gr.sqrt(X:var(of)), X:quantile({ 0.25, 0.75 }, of)
    end
  end },
  { "how often places of a plane are visited, and how long", function(n)
    local x, y, seconds = gr.randn(n), gr.randn(n), gr.rand(n)
    local square = { { -4, 4 }, { -4, 4 } }
    return function()
      return gr.histogram2d(x, y, { bins = 32, range = square }),
        gr.histogram2d(x, y, { bins = 32, range = square, weights = seconds })
    end
  end },
}

-- Instructions of Lua's and bytes copied down, of a task with so many rows. What the task gives is kept until then.
local function cost(make, n)
  if rawget(_G, "jit") then -- compiled loops are not counted
    jit.off()
    jit.flush()
  end
  local task = make(n)
  task() -- what is made once a program
  local instructions, kept = 0, nil
  local counted = S.counted(function()
    debug.sethook(function() instructions = instructions + 1 end, "", 1)
    kept = { task() }
    debug.sethook()
  end)
  if rawget(_G, "jit") then jit.on() end
  assert.truthy(kept[1])
  return instructions, counted.bytes_down
end

describe("a task for arrays", function()
  it("is one of many, and a loop would show", function()
    assert.is_true(#tasks >= 20)
    local function loop(n)
      local a = gr.rand(n)
      return function()
        local sum = 0
        for i = 1, n do sum = sum + a[i] end
        return sum
      end
    end
    assert.is_true(cost(loop, LONG) > cost(loop, SHORT) + LONG)
  end)

  for _, task in ipairs(tasks) do
    it("needs no loop over elements and brings none to the host: " .. task[1], function()
      S.on("pretend", function()
        local few, _ = cost(task[2], SHORT)
        local many, down = cost(task[2], LONG)
        assert.is_true(many <= few + 2, many .. " instructions, " .. few .. " for a hundredth of the elements")
        assert.is_true(down < LONG, down .. " bytes down") -- a byte for each row were as many
      end)
    end)
  end
end)
