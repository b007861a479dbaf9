-- {into=}: results in arrays that exist, views among them; nothing beside them changes, nothing is allocated.
local S = require "spec.support"
local gr = S.gr

local devices = { (gr.backend()), "pretend" }

local function on_each(f)
  return function()
    for _, device in ipairs(devices) do S.on(device, f) end
  end
end

-- Views of seven elements in an array of nines: { name, array, view, positions }.
local function targets(dtype)
  local list = {}
  for _, row in ipairs { { "whole", 7, 1, 7, 1 }, { "inside", 20, 5, 11, 1 }, { "strided", 40, 3, 33, 5 },
    { "backwards", 20, 14, 2, -2 }, { "far", 40000, 30001, 30007, 1 } } do
    local a = gr.full(row[2], 9, dtype)
    local positions = {}
    for i = row[3], row[4], row[5] do positions[#positions + 1] = i end
    list[#list + 1] = { row[1], a, a:slice(row[3], row[4], row[5]), positions }
  end
  return list
end

local function check(expected, target)
  local name, a, _, positions = target[1], target[2]:table(), target[3], target[4]
  local here = {}
  for k, i in ipairs(positions) do
    S.same(expected[k], a[i], name, k)
    here[i] = true
  end
  for i = 1, #a do
    if not here[i] and a[i] ~= 9 then error(name .. ": " .. i .. " changed", 2) end
  end
end

describe("into", function()
  it("of copy", on_each(function()
    for _, dtype in ipairs { "u8", "f16", "f32", "f64" } do
      local source = gr.array({ 1, 2, 3, 4, 5, 6, 7 }, dtype)
      for _, target in ipairs(targets(dtype)) do
        local counts = S.counted(function() assert.equal(target[3], source:copy { into = target[3] }) end)
        assert.equal(0, counts.bytes_down)
        check({ 1, 2, 3, 4, 5, 6, 7 }, target)
      end
    end
  end))

  it("of copy, to another device", function()
    local source = gr.arange(1, 7)
    S.on("pretend", function()
      for _, target in ipairs(targets "f32") do
        source:copy { into = target[3] }
        check({ 1, 2, 3, 4, 5, 6, 7 }, target)
        local back = gr.zeros(7)
        target[3]:copy { into = back }
        S.same_all({ 1, 2, 3, 4, 5, 6, 7 }, back, "back")
      end
    end)
  end)

  it("of rand and randn", on_each(function()
    for _, make in ipairs { gr.rand, gr.randn } do
      for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
        local expected = make(7, dtype, { seed = 3, stream = 2 }):table()
        for _, target in ipairs(targets(dtype)) do
          assert.equal(target[3], make(7, dtype, { seed = 3, stream = 2, into = target[3] }))
          check(expected, target)
        end
      end
    end
  end))

  it("of bincount", on_each(function()
    local data, into = gr.array({ 0, 6, 6, 2 }, "i32"), gr.zeros(7, "i64")
    assert.equal(into, gr.bincount(data, { into = into }))
    S.same_all({ 1, 0, 1, 0, 0, 0, 2 }, into, "bincount")
    for _, target in ipairs(targets "i64") do
      gr.bincount(data, { into = target[3] })
      check({ 1, 0, 1, 0, 0, 0, 2 }, target)
    end
    local weighted = { weights = gr.array { 3 }, into = gr.zeros(1, "f64") }
    S.same_all({ 3 }, gr.bincount(gr.array({ 0 }, "u8"), weighted), "weights")
  end))

  it("of a histogram", on_each(function()
    local data = gr.array { -1, 0, 1, 1, 2, 9 }
    local h = gr.histogram(data, { bins = 2, min = 0, max = 2 })
    assert.equal(h, data:histogram { bins = 2, min = 1, max = 3, into = h })
    S.same_all({ 2, 1 }, h.counts, "counts")
    S.same_all({ 1, 2, 3 }, h.edges, "edges")
    assert.equal(2, h.below)
    assert.equal(1, h.above)
    local many = data:histogram { bins = 1000, min = 0, max = 2 }
    local function frame() data:histogram { bins = 1000, min = 0, max = 2, into = many } end
    frame()
    assert.equal(0, S.counted(frame).allocations)
    assert.equal(4, many.counts:sum())
    -- Whoever holds a part, or a part of a part, sees what is new; edges that somebody wrote are edges again.
    local counts, some = h.counts, h.edges:slice(2, 3)
    h.edges[2] = 77
    S.same_all({ 77, 3 }, some, "edges written")
    data:histogram { bins = 2, min = -1, max = 1, into = h }
    S.same_all({ 1, 3 }, counts, "counts held")
    S.same_all({ 0, 1 }, some, "edges held")
    assert.equal(1, h.edges:max())
    -- Counts of the counts themselves, and parts that are not side by side.
    gr.histogram(h.counts, { bins = 2, min = 0, max = 4, into = h })
    S.same_all({ 1, 1 }, h.counts, "counts of counts")
    local apart = gr.histogram(data, { bins = 1, min = 0, max = 1 })
    apart.counts = gr.zeros(5, "i64"):slice(4, 2, -2):slice(1, 1)
    gr.histogram(data, { bins = 1, min = 0, max = 2, into = apart })
    assert.equal(4, apart.counts[1])
    assert.equal(1, apart.above)
  end))

  it("of norms in another part of what they reduce", on_each(function()
    local rows, columns = 12, 3
    local both = gr.full(rows * columns + rows, 1e-200, "f64") -- squares leave the range: rows are looked at again
    local x, r = both:slice(1, rows * columns), both:slice(rows * columns + 1, -1)
    both[1] = 2e-200
    local expected = x:norm { rows = rows }:table()
    x:norm { rows = rows, into = r }
    S.same_all(expected, r, "norm")
    S.same_all(expected, (r * 1), "where the device has it")
    x:cosine(x, { rows = rows, pairs = true, into = r })
    for i = 1, rows do assert.is_true(math.abs(r[i] - 1) < 1e-12) end
  end))
end)
