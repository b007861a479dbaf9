-- Whole random numbers, exponentials, orders and choices against Philox in plain Lua.
local S = require "spec.support"
local P = require "spec.philox"
local gr, model = S.gr, S.model
local floor, words, xor, multiply = math.floor, P.words, P.xor, P.multiply
local EXPONENTIAL, WHOLE, ORDER, DRAWS, KEYS, RANKS = 1, 2, 3, 4, 5, 6
local integers = { "u8", "i8", "u16", "i16", "u32", "i32", "i64" }

-- ---- the model ----

-- The top of a product of a fraction, given as its words from the lowest, and a range: its high and low word.
local function share(fraction, range)
  local digits, factor, product = {}, {}, {}
  for k, w in ipairs(fraction) do digits[2 * k - 1], digits[2 * k] = w % 65536, floor(w / 65536) end
  for k = 1, 4 do
    factor[k] = range % 65536
    range = floor(range / 65536)
  end
  for k = 1, #digits + 4 do product[k] = 0 end
  for i, d in ipairs(digits) do
    local carry = 0
    for j = 1, 4 do
      local x = product[i + j - 1] + d * factor[j] + carry
      product[i + j - 1], carry = x % 65536, floor(x / 65536)
    end
    product[i + 4] = carry
  end
  local n = #digits
  return product[n + 4] * 65536 + product[n + 3], product[n + 2] * 65536 + product[n + 1]
end

-- Number k, from 0, below range: high and low word.
local function below(range, k, seed, stream, mark)
  if range <= 4294967296 then
    local w, j = words(floor(k / 2), seed, stream, 0, mark), k % 2
    return share({ w[2 * j + 1], w[2 * j + 2] }, range)
  end
  return share(words(k, seed, stream, 0, mark), range)
end

local function exponential(k, seed, stream, mark)
  local w, j = words(floor(k / 2), seed, stream, 0, mark), k % 2
  return -math.log((w[2 * j + 2] * 2097152.0 + floor(w[2 * j + 1] / 2048) + 1) * 2.0 ^ -53)
end

-- Few: the rank of each key of 64 bits.
local function few(n, seed, stream, mark)
  local keys, order = {}, {}
  for k = 1, n do
    local w, j = words(floor((k - 1) / 2), seed, stream, 0, mark), (k - 1) % 2
    keys[k] = { w[2 * j + 2], w[2 * j + 1] }
  end
  for k = 1, n do
    order[k] = 1
    for i = 1, n do
      local a, b = keys[i], keys[k]
      if a[1] < b[1] or a[1] == b[1] and a[2] < b[2] then order[k] = order[k] + 1 end
    end
  end
  return order
end

local function mix(x)
  local _
  _, x = multiply(xor(x, floor(x / 65536)), 0x85ebca6b)
  _, x = multiply(xor(x, floor(x / 8192)), 0xc2b2ae35)
  return xor(x, floor(x / 65536))
end

-- Many: a Feistel network of 16 rounds, again until the result is below n.
local function feistel(n, seed, stream)
  local bits, keys = 2, {}
  while 2 ^ bits < n do bits = bits + 1 end
  for group = 0, 3 do
    for j, w in ipairs(words(group, seed, stream, 0, ORDER)) do keys[4 * group + j] = w end
  end
  local swap = words(4, seed, stream, 0, ORDER)[1] % 2
  local upper = 2 ^ floor(bits / 2)
  local lower = 2 ^ bits / upper
  return function(k)
    local x = k - 1
    repeat
      local a, b = floor(x / lower), x % lower
      for round = 1, 16, 2 do
        a = xor(a, mix(xor(b, keys[round])) % upper)
        b = xor(b, mix(xor(a, keys[round + 1])) % lower)
      end
      x = a * lower + b
      if x < 2 then x = xor(x, swap) end
    until x < n
    return x + 1
  end
end

-- Whether an array holds each of 1 .. n once.
local function is_order(p, n)
  if #p ~= n then return false end
  local times = gr.zeros(n, "i32"):put(p, 1, { op = "add" })
  return n == 0 or times:min() == 1 and times:max() == 1
end

-- ---- whole numbers ----

describe("randint", function()
  it("gives the numbers of the model", function()
    S.on_each(function()
      for _, pair in ipairs { { 0, 0 }, { 7, 3 }, { 2 ^ 40 + 17, 2 ^ 33 + 5 } } do
        local seed, stream = pair[1], pair[2]
        for _, ends in ipairs { { 1, 6 }, { -3, 3 }, { 5, 5 }, { 0, 255 }, { -2147483648, 2147483647 },
          { 0, 2 ^ 32 }, { -2 ^ 50, 2 ^ 50 } } do
          local low, high = ends[1], ends[2]
          local a = gr.randint(low, high, 103, { seed = seed, stream = stream })
          assert.equal("i64", a.dtype)
          local got = a:table()
          for k = 1, 103 do
            local h, l = below(high - low + 1, k - 1, seed, stream, WHOLE)
            S.same(low + h * 4294967296 + l, got[k] + 0.0, low, high, "element", k)
          end
        end
      end
    end)
  end)

  -- Long arrays without gaps are written by words, what is left of the last one and all others one by one.
  it("gives the same numbers whatever they are written to", function()
    for _, dtype in ipairs { "u8", "i16", "u32", "i64" } do
      for _, high in ipairs { 100, dtype == "i64" and 2 ^ 40 or 255 } do
        local n = 2 ^ 16 + 5
        local whole = gr.randint(1, high, n, dtype, { seed = 7 })
        for _, length in ipairs { 1, 1000, 2 ^ 16 - 1, 2 ^ 16, 2 ^ 16 + 2 } do
          local part = gr.randint(1, high, length, dtype, { seed = 7 })
          assert.is_true(part:equal(whole:slice(1, length)), dtype .. " " .. length)
        end
        local room = gr.zeros(2 * n + 1, dtype)
        for _, view in ipairs { room:slice(2, n + 1), room:slice(1, 2 * n - 1, 2) } do
          gr.randint(1, high, n, dtype, { seed = 7, into = view })
          assert.is_true(view:equal(whole), dtype)
        end
        assert.equal(0, room[2 * n + 1])
      end
    end
  end)

  it("has every integer dtype, all of its range", function()
    for _, dtype in ipairs(integers) do
      local low, high = model.lowest[dtype], model.highest[dtype]
      if dtype ~= "i64" or S.integers then
        local a = gr.randint(low, high, 100000, dtype, { seed = 1 })
        assert.equal(dtype, a.dtype)
        local middle, spread = a:cast("f64"):mean(), (high + 0.0) - low
        assert(math.abs(middle - (low / 2 + high / 2)) < 5 * spread / math.sqrt(12 * 100000) + 0.5, dtype)
        assert.is_true(a:min() < low + spread / 100 and a:max() > high - spread / 100)
      end
      local few_ends = gr.randint(3, 5, 1000, { dtype = dtype, seed = 2 })
      for x = 3, 5 do assert(math.abs(few_ends:count { op = "==", value = x } - 333) < 80) end
    end
    if S.integers then -- both words of all 64 bits
      local got = gr.randint(math.mininteger, math.maxinteger, 5, { seed = 3 }):table()
      for k = 1, 5 do
        local w = words(k - 1, 3, 0, 0, WHOLE)
        S.same(math.mininteger + math.tointeger(w[4]) * 4294967296 + math.tointeger(w[3]), got[k], "all 64 bits")
      end
    end
  end)

  it("says what is wrong", function()
    assert.equal("bad argument #2 to 'randint' (5 or more expected, got 4)", S.message(gr.randint, 5, 4, 3))
    assert.equal("bad argument #1 to 'randint' (whole number expected, got 0.5)", S.message(gr.randint, 0.5, 4, 3))
    assert.equal("bad argument #2 to 'randint' (number expected, got no value)", S.message(gr.randint, 1))
    assert.equal("bad argument #3 to 'randint' (length of 0 or more expected, got -1)",
      S.message(gr.randint, 1, 2, -1))
    assert.equal("bad argument #2 to 'randint' (value 256 does not fit u8 (0 to 255))",
      S.message(gr.randint, 0, 256, 3, "u8"))
    assert.equal("bad argument #4 to 'randint' (integer dtype expected, got f32)",
      S.message(gr.randint, 0, 256, 3, "f32"))
    assert.equal("bad argument #4 to 'randint' (option 'stream': only together with 'seed')",
      S.message(gr.randint, 0, 256, 3, { stream = 1 }))
    assert.equal("bad argument #4 to 'randint' (option 'into': i64[3] expected, got f32[3])",
      S.message(gr.randint, 0, 256, 3, { into = gr.zeros(3) }))
  end)
end)

describe("exponential", function()
  it("gives the numbers of the model", function()
    S.on_each(function()
      local got = gr.exponential(101, "f64", { seed = 7, stream = 3 }):table()
      local short = gr.exponential(102, { seed = 7, stream = 3 }):table()
      for k = 1, 101 do
        local want = exponential(k - 1, 7, 3, EXPONENTIAL)
        assert(math.abs(want - got[k]) <= 1e-14 * want, k)
        local w = words(floor((k - 1) / 4), 7, 3, 0, EXPONENTIAL)[(k - 1) % 4 + 1]
        want = -math.log((w + 1) * 2.0 ^ -32)
        assert(math.abs(want - short[k]) <= 1e-7 * want, k)
      end
    end)
  end)

  it("has mean and deviation 1, and no number below 0", function()
    local n = 1000000
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      local a = gr.exponential(n, dtype, { seed = 5 })
      assert.equal(dtype, a.dtype)
      assert(math.abs(a:mean() - 1) < 0.01 and math.abs(a:std() - 1) < 0.01, dtype)
      assert.is_true(a:min() >= 0)
      assert(math.abs(a:count { op = ">", value = 1 } / n - math.exp(-1)) < 0.004, dtype)
    end
    assert(math.abs(gr.cosine(gr.exponential(n, { seed = 1 }) - 1, gr.rand(n, { seed = 1 }) - 0.5)) < 0.005)
    assert.equal("bad argument #2 to 'exponential' (float dtype expected, got i32)",
      S.message(gr.exponential, 5, "i32"))
  end)
end)

-- ---- orders ----

describe("permutation", function()
  it("gives the order of the model", function()
    S.on_each(function()
      for _, n in ipairs { 0, 1, 2, 3, 5, 52, 127, 128 } do
        local p = gr.permutation(n, { seed = n + 1, stream = 2 })
        assert.equal("i64", p.dtype)
        S.same_all(few(n, n + 1, 2, ORDER), p, n)
      end
      for _, n in ipairs { 129, 256, 1000 } do
        local p, at = gr.permutation(n, "i32", { seed = 9, stream = n }):table(), feistel(n, 9, n)
        S.same(n, #p)
        for k = 1, n, n > 300 and 7 or 3 do S.same(at(k), p[k], n, "element", k) end
      end
      local p, at = gr.permutation(1000003, { seed = 2 ^ 40 + 17 }), feistel(1000003, 2 ^ 40 + 17, 0)
      for k = 1, 1000003, 99991 do S.same(at(k), p[k], "element", k) end
    end)
  end)

  it("has each position once", function()
    for _, n in ipairs { 0, 1, 2, 7, 128, 129, 255, 256, 257, 4095, 4096, 4097, 65535, 65536, 100003, 2 ^ 18 } do
      assert.is_true(is_order(gr.permutation(n, { seed = n }), n), n)
      assert.is_true(is_order(gr.permutation(n, "u32"), n), n)
    end
    assert.is_true(is_order(gr.permutation(255, "u8"), 255))
    local whole = gr.zeros(2000, "i32")
    assert.is_true(is_order(gr.permutation(1000, "i32", { into = whole:slice(2000, 1, -2) }), 1000))
    assert.equal(1000, whole:count())
  end)

  it("has all orders of few, equally likely", function()
    local counts, times = {}, 12000
    for seed = 1, times do
      local key = table.concat(gr.permutation(4, "u8", { seed = seed }):table(), " ")
      counts[key] = (counts[key] or 0) + 1
    end
    local kinds, chi = 0, 0
    for _, count in pairs(counts) do
      kinds, chi = kinds + 1, chi + (count - times / 24) ^ 2 / (times / 24)
    end
    assert.equal(24, kinds)
    assert(chi < 60, chi) -- chi squared with 23 degrees of freedom
  end)

  it("of many looks like chance: pairs, steps, even and odd orders", function()
    for _, n in ipairs { 129, 256, 1000 } do
      local places, rises, cells, times = 0, 0, {}, 400
      for seed = 1, times do
        local p = gr.permutation(n, "i32", { seed = seed }):table()
        for k = 1, n do
          if p[k] == k then places = places + 1 end
          if k > 1 and p[k] > p[k - 1] then rises = rises + 1 end
        end
        local cell = floor((p[1] - 1) * 5 / n) * 5 + floor((p[2] - 1) * 5 / n)
        cells[cell] = (cells[cell] or 0) + 1
      end
      assert(math.abs(places - times) < 6 * math.sqrt(times), places) -- one a permutation, on the average
      assert(math.abs(rises / times / (n - 1) - 0.5) < 6 * math.sqrt(1 / 12 / times / n), rises)
      local chi = 0
      for k = 0, 24 do chi = chi + ((cells[k] or 0) - times / 25) ^ 2 / (times / 25) end
      assert(chi < 62, chi) -- 24 degrees of freedom
    end
    local odd = 0
    for seed = 1, 400 do -- 2^8 is where a network alone makes no odd ones
      local p, sign = gr.permutation(256, "i32", { seed = seed }):table(), 0
      for k = 1, 256 do
        while p[k] ~= k do
          local other = p[k]
          p[k], p[other], sign = p[other], other, 1 - sign
        end
      end
      odd = odd + sign
    end
    assert(odd > 140 and odd < 260, odd)
  end)

  it("says what is wrong", function()
    assert.equal("bad argument #1 to 'permutation' (length of at most 255, the highest of u8, expected, got 256)",
      S.message(gr.permutation, 256, "u8"))
    assert.equal("bad argument #2 to 'permutation' (integer dtype expected, got f64)",
      S.message(gr.permutation, 256, "f64"))
    assert.equal("bad argument #1 to 'permutation' (length of 0 or more expected, got -1)",
      S.message(gr.permutation, -1))
  end)
end)

describe("shuffle", function()
  it("is take by a permutation", function()
    S.on_each(function()
      for _, dtype in ipairs(model.dtypes) do
        for _, n in ipairs { 0, 1, 5, 128, 129, 5000 } do
          local a = gr.randint(0, 100, n, { seed = 4 }):cast(dtype)
          local p = gr.permutation(n, { seed = 8, stream = 1 })
          local want = a:take(p)
          assert.is_true(a:shuffle { seed = 8, stream = 1 }:equal(want))
          local into = gr.zeros(2 * n, dtype)
          if n > 0 then
            into = into:slice(2 * n, 1, -2)
            assert.equal(into, a:shuffle { seed = 8, stream = 1, into = into })
            assert.is_true(into:equal(want))
          end
          assert.is_true(a:slice(-1, 1, -1):shuffle { seed = 8, stream = 1 }:equal(a:slice(-1, 1, -1):take(p)))
        end
      end
      assert.is_true(gr.shuffle(gr.lazy(gr.arange(1, 9)) * 2, { seed = 1 }):equal(
        gr.arange(2, 18, 2):take(gr.permutation(9, { seed = 1 }))))
    end)
  end)

  it("does not touch what it shuffles", function()
    local a = gr.arange(1, 100)
    local b = a:shuffle()
    assert.is_true(a:equal(gr.arange(1, 100)))
    assert.is_false(b:equal(a))
    assert.equal(5050, b:sum())
    assert.equal("bad argument #2 to 'shuffle' (option 'into': overlaps the input)",
      S.message(gr.shuffle, a, { into = a }))
    assert.equal("bad argument #2 to 'shuffle' (option 'into': f32[100] expected, got f32[9])",
      S.message(gr.shuffle, a, { into = gr.zeros(9) }))
  end)
end)

-- ---- choices ----

describe("choice", function()
  it("is take by whole numbers, or by the start of a permutation", function()
    S.on_each(function()
      for _, n in ipairs { 1, 10, 128, 300 } do
        local a = gr.rand(n, "f64", { seed = 1 })
        local named = { seed = 6, stream = 5 }
        for _, k in ipairs { 0, 1, n, 1000 } do
          assert.is_true(a:choice(k, named):equal(a:take(gr.randint(1, n, k, named))))
          assert.is_true(a:choice(k, { seed = 6, stream = 5, replace = true }):equal(a:choice(k, named)))
          if k <= n then
            local out = a:choice(k, { seed = 6, stream = 5, replace = false })
            assert.is_true(out:equal(a:take(gr.permutation(n, named):slice(1, k))))
            assert.is_true(a:choice(k, { seed = 6, stream = 5, replace = false, into = gr.zeros(k, "f64") }):equal(out))
          end
        end
      end
    end)
  end)

  local weights = {}
  for k = 1, 40 do weights[k] = k % 7 == 0 and 0 or k * k % 11 + (k == 3 and 500 or 0) end

  it("by weight gives the positions of the model", function()
    S.on_each(function()
      local a, sums, total = gr.arange(1, 40, "i32"), {}, 0
      for k = 1, 40 do
        total = total + weights[k]
        sums[k] = total
      end
      for _, dtype in ipairs { "u16", "i64", "f32", "f64" } do
        for _, factor in ipairs(model.is_float[dtype] and { 1, 2.0 ^ -100 } or { 1 }) do
          local w = gr.array(weights, "f64") * factor
          local got = a:choice(500, { weights = w:cast(dtype), seed = 11, stream = 4 }):table()
          for k = 1, 500 do
            local _, x = share(words(k - 1, 11, 4, 0, DRAWS), total)
            local want = 1
            while sums[want] <= x do want = want + 1 end
            S.same(want, got[k], dtype, factor, "draw", k)
          end
        end
      end
    end)
  end)

  it("by weight, each once, gives the first of exponential clocks", function()
    S.on_each(function()
      local a, clocks = gr.arange(1, 40, "i32"), {}
      for k = 1, 40 do
        clocks[k] = { weights[k] == 0 and math.huge or exponential(k - 1, 3, 2, KEYS) / weights[k], k }
      end
      table.sort(clocks, function(x, y) return x[1] < y[1] end)
      for _, k in ipairs { 1, 2, 17, 32 } do
        local chosen, order = {}, few(k, 3, 2, RANKS)
        for j = 1, k do chosen[j] = clocks[j][2] end
        table.sort(chosen)
        local got = a:choice(k, { weights = gr.array(weights), replace = false, seed = 3, stream = 2 })
        for j = 1, k do S.same(chosen[order[j]], got[j], k, "element", j) end
      end
    end)
  end)

  it("by weight has the weights' shares", function()
    local n = 400000
    local a = gr.array({ 1, 2, 3, 4 }, "i32")
    local w = gr.array { 0.5, 0, 2, 7.5 }
    local got = gr.bincount(a:choice(n, { weights = w, seed = 1 }), { minlength = 5 })
    for k, share_of in ipairs { 0.05, 0, 0.2, 0.75 } do
      assert(math.abs(got[k + 1] / n - share_of) <= 5 * math.sqrt(share_of * (1 - share_of) / n), k)
    end
    local firsts = 0 -- of two different ones: 0.2 x 0.75 x (1 / 0.8 + 1 / 0.25) of the pairs are 3 and 4
    for seed = 1, 4000 do
      local pair = a:choice(2, { weights = w, replace = false, seed = seed })
      if pair[1] + pair[2] == 7 then firsts = firsts + 1 end
    end
    assert(math.abs(firsts / 4000 - 0.2 * 0.75 * (1 / 0.8 + 1 / 0.25)) < 0.035, firsts)
    local many = gr.arange(1, 100000, "i32"):choice(50000, { weights = gr.exponential(100000, { seed = 1 }),
      replace = false, seed = 2 })
    assert.equal(1, gr.zeros(100000, "i32"):put(many, 1, { op = "add" }):max())
  end)

  it("takes expressions, strides and weights of any size", function()
    local a = gr.arange(1, 6)
    local w = gr.array({ 1e300, 0, 1e300, 5e-324, 1e300, 0 }, "f64")
    local got = gr.choice(gr.lazy(a) * 2, 500, { weights = w, seed = 1 })
    for k = 1, 500 do assert.is_true(got[k] == 2 or got[k] == 6 or got[k] == 10) end
    got = a:choice(500, { weights = gr.array({ 5e-324, 0, 5e-324, 0, 0, 0 }, "f64"), seed = 1 })
    assert.equal(500, got:count { op = "==", value = 1 } + got:count { op = "==", value = 3 })
    local spread = gr.array { 1, 9, 0, 9, 2, 9 }
    assert.is_true(a:slice(1, 3):choice(99, { weights = spread:slice(1, 6, 2), seed = 1 }):equal(
      a:slice(1, 3):choice(99, { weights = gr.array { 1, 0, 2 }, seed = 1 })))
    assert.is_true(a:choice(9, { weights = gr.lazy(a) + 1, seed = 1 }):equal(
      a:choice(9, { weights = a + 1, seed = 1 })))
  end)

  it("says what is wrong", function()
    local a, w, nan = gr.ones(10), gr.ones(9), model.nan
    local rows = {
      { { a }, "bad argument #2 to 'choice' (number expected, got nil)" },
      { { a, -1 }, "bad argument #2 to 'choice' (length of 0 or more expected, got -1)" },
      { { gr.zeros(0), 1 }, "bad argument #1 to 'choice' (array is empty: 'choice' needs an element)" },
      { { a, 11, { replace = false } },
        "bad argument #2 to 'choice' (10 elements at most, each once, expected, got 11)" },
      { { a, 1, { replace = 0 } }, "bad argument #3 to 'choice' (option 'replace': boolean expected, got number)" },
      { { a, 1, { weights = w } }, "bad argument #3 to 'choice' (option 'weights': length 10 expected, got 9)" },
      { { w, 1, { weights = gr.zeros(9) } },
        "bad argument #3 to 'choice' (option 'weights': a weight above 0 expected, but all are 0)" },
      { { w, 1, { weights = gr.full(9, nan) } },
        "bad argument #3 to 'choice' (option 'weights': finite weights expected, got a "
        .. "NaN)" },
      { { w, 1, { weights = w / 0 } },
        "bad argument #3 to 'choice' (option 'weights': finite weights expected, got an infinity)" },
      { { w, 1, { weights = -w } },
        "bad argument #3 to 'choice' (option 'weights': weights of 0 or more expected, got -1)" },
      { { gr.ones(3), 2, { weights = gr.array { 0, 1, 0 }, replace = false } },
        "bad argument #3 to 'choice' (option 'weights': 2 weights above 0 expected, got 1)" },
      { { w, 9, { weights = w, into = w } }, "bad argument #3 to 'choice' (option 'into': overlaps the input)" },
      { { gr.ones(9), 9, { weights = w, into = w } },
        "bad argument #3 to 'choice' (option 'into': overlaps the weights)" },
      { { a, 9, { wieghts = w } }, "bad argument #3 to 'choice' (unknown option 'wieghts' (did you mean 'weights'?))" },
    }
    for _, row in ipairs(rows) do
      assert.equal(row[2], S.message(gr.choice, row[1][1], row[1][2], row[1][3]))
    end
  end)
end)

describe("without a seed", function()
  it("each call takes the next numbers of the state", function()
    local a = gr.arange(1, 500)
    local calls = {
      function() return gr.randint(1, 1e9, 100) end, function() return gr.exponential(100) end,
      function() return gr.permutation(500) end, function() return a:shuffle() end,
      function() return a:choice(100) end, function() return a:choice(100, { weights = a }) end,
      function() return a:choice(100, { weights = a, replace = false }) end,
    }
    gr.seed(5)
    local first, second = {}, {}
    for k, f in ipairs(calls) do first[k], second[k] = f(), f() end
    gr.seed(5)
    for k, f in ipairs(calls) do
      assert.is_true(first[k]:equal(f()), k)
      assert.is_true(second[k]:equal(f()), k)
      assert.is_false(first[k]:equal(second[k]), k)
    end
    gr.seed(5)
    S.message(gr.randint, 1, 0, 5)
    S.message(gr.choice, a, 501, { replace = false })
    assert.is_true(first[1]:equal(calls[1]()))
  end)
end)
