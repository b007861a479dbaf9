-- Numbers that stay on the device, as elements of an array: {into =, at =}.
local S = require "spec.support"
local gr = S.gr

describe("a number that stays on the device", function()
  it("is read by the calls that follow, also where these could begin before it is there", function()
    for _, n in ipairs { 3, 1000, 100000, 1000000 } do
      local a, other = gr.full(n, 1, "f64"), gr.full(n, 2, "f64")
      local parts, sums, changed = gr.zeros(60, "f64"), gr.zeros(60, "f64"), gr.zeros(60, "f64")
      local unused = gr.zeros(9, "f64")
      for i = 1, 60 do
        gr.sum(other, { into = unused, at = i % 9 + 1 })
        gr.sum(other, { into = parts, at = i })
        if i % 2 == 0 then gr.max(other, { into = unused, at = i % 9 + 1 }) end
        gr.sum(parts, { into = sums, at = i })
        if i % 3 == 0 then a:fill(i) end
        gr.dot(other, other, { into = unused, at = i % 9 + 1 })
        gr.sum(a, { into = changed, at = i })
      end
      for i = 1, 60 do
        assert.equal(2 * n * i, sums[i])
        assert.equal(n * (i < 3 and 1 or i - i % 3), changed[i])
      end
    end
  end)

  it("is read anew, also by a call that need not wait for the one that wrote it", function()
    for _, n in ipairs { 3, 1000, 100000, 3000000 } do
      local numbers, seen, sums = gr.zeros(n, "f64"), gr.zeros(80, "f64"), gr.zeros(80, "f64")
      for i = 1, 80 do
        local k = i * 7919 % n + 1
        gr.sum(gr.full(2, i, "f64"), { into = numbers, at = k })
        gr.sum(numbers:slice(k, k), { into = seen, at = i })
        gr.sum(numbers, { into = sums, at = i })
      end
      local want = {}
      for i = 1, 80 do
        want[i * 7919 % n + 1] = 2 * i
        local sum = 0
        for _, v in pairs(want) do sum = sum + v end
        assert.equal(2 * i, seen[i])
        assert.equal(sum, sums[i])
      end
    end
  end)

  it("goes to one element, and the rest stays", function()
    local a = gr.arange(1, 100, "f64")
    local into = gr.full(5, -1, "f64")
    assert.equal(into, a:sum { into = into, at = 2 })
    a:dot(a, { into = into, at = -1 })
    a:norm(1, { into = into, at = 1 })
    assert.same({ 5050, 5050, -1, -1, 338350 }, into:table())
    local small = gr.zeros(2, "f32")
    a:mean { into = small, at = 1 }
    assert.same({ 50.5, 0 }, small:table())
    local whole = gr.zeros(3, "i64")
    gr.argmax(a, { into = whole, at = 3 })
    gr.count(a, { into = whole:slice(1, 3, 2), at = 1 })
    assert.same({ 100, 0, 100 }, whole:table())
    local big, out = gr.array({ 3e200, 4e200 }, "f64"), gr.zeros(1, "f64")
    assert.equal(big:norm(), big:norm({ into = out, at = 1 })[1])
    local f = a:max { into = into, at = 4, async = true }
    assert.equal(into, f:get())
    assert.equal(100, into[4])
  end)

  it("is there for the next operation without a synchronisation", function()
    local a, into = gr.arange(1, 100, "f64"), gr.zeros(8, "f64")
    a:sum { into = into, at = 1 }
    local counts = S.counted(function()
      for k = 1, 8 do a:sum { into = into, at = k } end
      gr.scan(into, "sum", { into = into })
    end)
    assert.equal(0, counts.syncs)
    assert.equal(0, counts.bytes_down + counts.bytes_up)
    assert.equal(8 * 5050, into[8])
  end)

  it("in a list goes with the numbers that come back", function()
    local a, into = gr.arange(1, 4, "f64"), gr.zeros(1, "f64")
    local sum, same, high = gr.many { { "sum", a }, { "min", a, { into = into, at = 1 } }, { "max", a } }
    assert.equal(10, sum)
    assert.equal(into, same)
    assert.equal(4, high)
    assert.equal(1, into[1])
    -- what was asked for earlier sees the array as it was
    local s = gr.many { { "sum", a }, { "max", into, { into = a, at = 1 } }, { "sum", a } }
    assert.equal(10, s)
    -- also norm, which looks at it twice when its squares leave the range: it is done before the list is
    for _, async in ipairs { false, true } do
      a:fill(1e-200)
      local list = { { "norm", a }, { "max", into, { into = a, at = 1 } }, { "sum", into }, { "norm", into } }
      local results = { gr.many(list, { async = async }) }
      if async then results = { results[1]:get() } end
      assert.is_true(math.abs(results[1] - 2e-200) < 1e-212)
      assert.same({ a, 1, 1 }, { results[2], results[3], results[4] })
      assert.equal(1, a[1])
    end
  end)

  it("needs a place that fits", function()
    local a, d = gr.arange(1, 10), gr.zeros(5, "f64")
    for _, row in ipairs {
      { { into = d }, "option 'into': only together with 'at', 'rows' or 'segments'" },
      { { at = 1 }, "option 'at': only together with 'into'" },
      { { into = d, at = 6 }, "option 'at': position from 1 to 5 expected, got 6" },
      { { into = d, at = 0 }, "option 'at': position from 1 to 5 expected, got 0" },
      { { into = d, at = -6 }, "option 'at': position from 1 to 5 expected, got -6" },
      { { into = d, at = 1.5 }, "option 'at': whole number expected, got 1.5" },
      { { into = d, at = 1, rows = 2 }, "option 'at': takes no 'rows'" },
      { { into = d, at = 1, segments = { 1, 11 } }, "option 'at': takes no 'segments'" },
      { { into = gr.zeros(5, "i64"), at = 1 }, "option 'into': dtype f64 expected, got i64" },
      { { into = a, at = 1 }, "option 'into': overlaps the input" },
      { { into = 5, at = 1 }, "option 'into': gpureduce.array expected, got number" },
    } do
      assert.equal("bad argument #2 to 'sum' (" .. row[2] .. ")", S.message(gr.sum, a, row[1]))
    end
    assert.equal("bad argument #2 to 'minmax' (option 'into': minmax gives two numbers, use min and max)",
      S.message(gr.minmax, a, { into = d, at = 1 }))
    assert.equal("bad argument #2 to 'argmax' (option 'into': dtype i64 expected, got f64)",
      S.message(gr.argmax, a, { into = d, at = 1 }))
  end)
end)
