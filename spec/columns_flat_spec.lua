local S = require "spec.support"
local gr = S.gr

-- Odd columns without gaps, which a GPU reads as flat words, a block a leaf: in one turn, or, of more columns than a
-- block has warps, in up to 32. Each column must have what the same elements give side by side, also without those that
-- are NaN, and all of it the CPU's bits. The last leaf is not whole; of some widths a block's last warp is not, either.
local here = gr.backend():match "^[%w:]+"
local shapes = {
  f16 = { { 272001, 17 }, { 270301, 40 }, { 9001, 13 }, { 5000, 16 } },
  bf16 = { { 272001, 17 }, { 9001, 5 } },
  f32 = { { 70001, 17 }, { 68001, 33 }, { 67601, 129 }, { 9001, 13 }, { 3000, 3 } },
  f64 = { { 34001, 17 }, { 34001, 83 }, { 33901, 257 }, { 9001, 7 } },
}

local function results(x, v, rows)
  local options = { rows = rows, axis = 1 }
  return { gr.sum(x, options), gr.mean(x, options), gr.dot(x, v, options), gr.var(x, options) }
end

-- One element in six is missing, and all of the second column.
local function with_holes(x, rows, columns)
  local m = gr.where(gr.rand(#x, { seed = 7 }):compare(">", 5 / 6), 0 / 0, x):cast(x.dtype)
  m:matrix(rows):column(math.min(2, columns)):fill(0 / 0)
  return m
end
local function present(x, rows)
  local options = { rows = rows, axis = 1, skipnan = true }
  return { gr.sum(x, options), gr.mean(x, options), gr.norm(x, 2, options), gr.norm(x, 1, options) }
end

describe("odd columns without gaps", function()
  after_each(function() gr.use(here) end)

  for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
    it("of " .. dtype .. " add up as their elements do side by side", function()
      for k, shape in ipairs(shapes[dtype]) do
        local rows, columns = shape[1], shape[2]
        local function made()
          return gr.rand(rows * columns, { seed = k }):sub(0.4):cast(dtype), gr.rand(rows, { seed = -k }):cast(dtype)
        end
        local x, v = made()
        local found, name = results(x, v, rows), ("%s %d x %d"):format(dtype, rows, columns)
        for _, j in ipairs { 1, 2, columns } do
          local column = x:matrix(rows):column(j):copy()
          assert.are_equal(gr.sum(column), found[1][j], name)
          assert.are_equal(gr.mean(column), found[2][j], name)
          assert.are_equal(gr.dot(column, v), found[3][j], name)
          assert.are_equal(gr.var(column), found[4][j], name)
        end
        local holes = with_holes(x, rows, columns)
        local skipping = present(holes, rows)
        for _, j in ipairs { 1, columns } do
          local column, alone = holes:matrix(rows):column(j):copy(), { skipnan = true }
          assert.are_equal(gr.sum(column, alone), skipping[1][j], name)
          assert.are_equal(gr.mean(column, alone), skipping[2][j], name)
          assert.are_equal(gr.norm(column, 2, alone), skipping[3][j], name)
          assert.are_equal(gr.norm(column, 1, alone), skipping[4][j], name)
        end
        local all_gone = math.min(2, columns)
        assert.are_equal(0, skipping[1][all_gone], name)
        assert.is_true(skipping[2][all_gone] ~= skipping[2][all_gone], name)
        if not here:match "^cpu" then
          gr.use "cpu"
          local a, b = made()
          for i, expected in ipairs(results(a, b, rows)) do
            assert.are_equal(expected:digest(), found[i]:digest(), name)
          end
          for i, expected in ipairs(present(with_holes(a, rows, columns), rows)) do
            assert.are_equal(expected:digest(), skipping[i]:digest(), name .. " without NaN")
          end
          gr.use(here)
        end
      end
    end)
  end
end)
