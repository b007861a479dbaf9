local S = require "spec.support"
local gr = S.gr

-- Many short rows, which a GPU has kernels of several rows a warp for, and rows that hold what is not a number: what
-- results must be is known of these, and all are compared with the CPU's bits.
local here = gr.backend():match "^[%w:]+"
local shapes = { { 17000, 128 }, { 9000, 200 }, { 4300, 512 }, { 4300, 768 }, { 300, 40 }, { 3000, 33 }, { 3000, 101 },
  { 300, 2500 }, { 7, 9000 }, { 4, 70001 }, { 34000, 80 }, { 34000, 96 } }

local function rows_of(dtype, rows, columns, seed)
  local x = gr.rand(rows * columns, { seed = seed }):sub(0.5):cast(dtype)
  x[2] = 1 / 0 -- in the first row, NaN in the second, nothing but zeros in the third
  x[columns + 3] = 0 / 0
  gr.copy(gr.zeros(columns, dtype), { into = x:slice(2 * columns + 1, 3 * columns) })
  return x
end

describe("rmsnorm of many rows", function()
  after_each(function() gr.use(here) end)

  for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
    it("knows what is no number, of " .. dtype, function()
      for k, shape in ipairs(shapes) do
        local rows, columns = shape[1], shape[2]
        local x = rows_of(dtype, rows, columns, k)
        local y = gr.rmsnorm(x, nil, { rows = rows, eps = k % 2 == 0 and 0 or 1e-5 })
        local name = ("%s %d x %d"):format(dtype, rows, columns)
        assert.are_equal(0, y[1], name) -- beside an infinity
        assert.are_not.equal(y[2], y[2], name)
        for _, at in ipairs { columns + 1, columns + 3, 2 * columns } do assert.are_not.equal(y[at], y[at], name) end
        local zero = y[2 * columns + 1]
        if k % 2 == 0 then assert.are_not.equal(zero, zero, name) else assert.are_equal(0, zero, name) end
        local row = y:slice(3 * columns + 1):cast "f64"
        local mean = row:mul(row):sum() / #row
        assert.is_true(math.abs(mean - 1) < 2e-2, name .. ": a mean square of " .. mean)
        -- Every NaN is the dtype's one.
        local nan = gr.full(columns, -1, dtype):sqrt():digest()
        assert.are_equal(nan, y:slice(columns + 1, 2 * columns):copy():digest(), name)
      end
    end)

    it("has the CPU's bits, weights or none, of " .. dtype, function()
      if here == "cpu" then return pending "the CPU itself" end
      for k, shape in ipairs(shapes) do
        local rows, columns = shape[1], shape[2]
        local found = {}
        for _, device in ipairs { "cpu", here } do
          gr.use(device)
          local x = rows_of(dtype, rows, columns, 20 + k)
          local w = gr.randn(columns, { seed = 50 + k }):cast(dtype)
          local finite = gr.rmsnorm(x, w, { rows = rows }):digest()
          w[columns], w[2] = 1 / 0, 0 / 0
          found[#found + 1] = table.concat({ gr.rmsnorm(x, nil, { rows = rows, eps = 0 }):digest(), finite,
            gr.rmsnorm(x, w, { rows = rows }):digest() }, " ")
        end
        assert.are_equal(found[1], found[2], ("%s %d x %d"):format(dtype, rows, columns))
      end
    end)

    -- Rows of less than a word, of up to 16 elements, and of whole words, from an element on where no word begins.
    it("has the same bits of a view and its copy, of narrow rows of " .. dtype, function()
      local rows = 700
      for _, columns in ipairs { 1, 2, 3, 5, 7, 12, 16, 25, 32 } do
        local plain, weighted = {}, {}
        for _, device in ipairs { "cpu", here } do
          gr.use(device)
          local view = gr.rand(rows * columns + 1, { seed = columns }):sub(0.5):cast(dtype):slice(2)
          local w = gr.randn(columns, { seed = 7 }):cast(dtype)
          for _, x in ipairs { view, view:copy() } do
            plain[#plain + 1] = gr.rmsnorm(x, nil, { rows = rows }):digest()
            weighted[#weighted + 1] = gr.rmsnorm(x, w, { rows = rows }):digest()
          end
        end
        for k = 2, #plain do
          assert.are_equal(plain[1], plain[k], ("%s %d x %d, %d"):format(dtype, rows, columns, k))
          assert.are_equal(weighted[1], weighted[k], ("%s %d x %d, weights, %d"):format(dtype, rows, columns, k))
        end
      end
    end)
  end
end)
