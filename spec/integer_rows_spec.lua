-- Rows of integers whose products are added up: norms, mse and cosine of rows around what threads share, beside a model
-- that adds up small whole numbers, which is exact; and large ones as a CPU has them.
local S = require "spec.support"
local gr = S.gr

local dtypes = { "u8", "i8", "u16", "i16", "u32", "i32", "i64" }
local lengths = { 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 255, 256, 257, 300 }

local function numbers(count, seed, signed)
  local g, t = S.model.generator(seed), {}
  for k = 1, count do t[k] = g() % 12 - (signed and 6 or 0) end
  return t
end

-- Of row r of x and row q of y, of n elements: the sums of |x|, x^2, (x - y)^2, x * y and y^2.
local function sums(x, r, y, q, n)
  local s = { abs = 0, squares = 0, apart = 0, products = 0, others = 0 }
  for k = 1, n do
    local a, b = x[(r - 1) * n + k], y[(q - 1) * n + k]
    s.abs, s.squares = s.abs + math.abs(a), s.squares + a * a
    s.apart, s.products, s.others = s.apart + (a - b) ^ 2, s.products + a * b, s.others + b * b
  end
  return s
end

describe("rows of integers", function()
  for _, dtype in ipairs(dtypes) do
    it("of " .. dtype .. " have the norms, mse and cosine that a model gives", function()
      local signed = dtype:sub(1, 1) == "i"
      for _, n in ipairs(lengths) do
        local rows = 11
        for before = 0, 1 do
          local x, y = numbers(rows * n, n, signed), numbers(rows * n, n + 1, signed)
          for k = 1, n do x[k] = 0 end -- the first row has no direction
          local function array(t) -- begins `before` elements after a word
            local u = { 1 }
            for k = 1, #t do u[before + k] = t[k] end
            return gr.array(u, dtype):slice(before + 1)
          end
          local a, b = array(x), array(y)
          local norm1, norm2 = a:norm(1, { rows = rows }), a:norm(2, { rows = rows })
          local mse, cosine = a:mse(b, { rows = rows, pairs = true }), a:cosine(b, { rows = rows, pairs = true })
          local v = b:slice(1, n)
          local beside = a:mse(v, { rows = rows })
          for r = 1, rows do
            local s, what = sums(x, r, y, r, n), dtype .. ", row " .. r .. " of " .. n
            assert.equal(s.abs, norm1[r], what)
            assert.equal(math.sqrt(s.squares), norm2[r], what)
            assert.equal(s.apart / n, mse[r], what)
            S.same(s.products / (math.sqrt(s.squares) * math.sqrt(s.others)), cosine[r], what)
            assert.equal(sums(x, r, y, 1, n).apart / n, beside[r], what)
          end
        end
      end
    end)
  end

  it("have a cosine of -0 where all products are, as doubles have", function()
    for _, dtype in ipairs { "i8", "i16", "i32", "i64" } do
      for _, n in ipairs { 2, 3, 4, 16, 300 } do
        local x, y = {}, {}
        for k = 1, 3 * n do x[k], y[k] = k % 2 == 1 and -1 or 0, k % 2 == 0 and -1 or 0 end
        local a, b = gr.array(x, dtype), gr.array(y, dtype)
        assert.equal(-math.huge, 1 / a:cosine(b, { rows = 3, pairs = true })[1], dtype .. " rows of " .. n)
        assert.equal(-math.huge, 1 / a:slice(1, n):cosine(b:slice(1, n)), dtype .. " of " .. n)
      end
    end
  end)

  it("have the bits of the CPU, of numbers as large as there are", function()
    local here, found = gr.backend():match "^[%w:]+", {}
    if here == "cpu" then return pending "the CPU itself" end
    finally(function() gr.use(here) end)
    for k, device in ipairs { "cpu", here } do
      gr.use(device)
      found[k] = {}
      for _, dtype in ipairs(dtypes) do
        local bits = ({ u8 = 8, i8 = 8, u16 = 16, i16 = 16, u32 = 32, i32 = 32, i64 = 64 })[dtype]
        local low = dtype:sub(1, 1) == "i" and -2 ^ (bits - 1) or 0
        local function wide(seed) -- the least and the largest among them
          local x = gr.rand(256 * 40, { seed = seed, dtype = "f64" })
          x = x:mul(2 ^ bits - 2 ^ (bits - 20)):add(low):cast(dtype)
          for p = seed, 256 * 40, 97 do x[p] = p % 2 == 0 and dtype ~= "i64" and 2 ^ bits - 1 + low or low end
          return x
        end
        local a, b = wide(1), wide(2)
        for _, rows in ipairs { 40, 64, 160, 512, 1280, 5120 } do
          local o = { rows = rows, out = "f32" }
          local v = b:slice(1, 256 * 40 / rows)
          local list = { a:norm(2, { rows = rows }), a:norm(1, { rows = rows }), a:norm(2, o),
            a:mse(b, { rows = rows, pairs = true }), a:cosine(b, { rows = rows, pairs = true }),
            a:cosine(v, { rows = rows }) }
          for i = 1, #list do list[i] = list[i]:digest() end
          table.insert(found[k], dtype .. " " .. rows .. " " .. table.concat(list, " "))
        end
      end
    end
    assert.same(found[1], found[2])
  end)
end)
