-- Bytes move only when needed, and never twice. Counted on the pretend device (the CPU's kernels behind a memory of
-- their own), or on the GPU when that is what the specs run on.
local S = require "spec.support"
local gr = S.gr

local device = gr.backend():find("^cuda") and gr.backend() or "pretend"
local CHUNK = 65536

local function numbers(n)
  local t = {}
  for k = 1, n do t[k] = k % 1000 end
  return t
end

-- Run f and compare counts; only the named ones.
local function expect(expected, f)
  local got = S.counted(f)
  for name, value in pairs(expected) do
    if got[name] ~= value then error(("%s: expected %d, got %d"):format(name, value, got[name]), 2) end
  end
end

local function case(name, f)
  it(name, function() S.on(device, f) end)
end

describe("on a device with memory of its own", function()
  case("a reduction uploads what it reads, once", function()
    local a = gr.array(numbers(100000), "f32")
    expect({ bytes_up = 400000, bytes_down = 0, copies = 1, launches = 1, syncs = 1 }, function() a:sum() end)
    expect({ bytes_up = 0, bytes_down = 0, copies = 0, launches = 1, syncs = 1 }, function() a:sum() end)
    expect({ bytes_up = 0, bytes_down = 0, launches = 1, syncs = 1 }, function() a:argmax() end)
    expect({ bytes_up = 0, bytes_down = 0, launches = 1, syncs = 1 }, function() a:dot(a) end)
    expect({ bytes_up = 0, bytes_down = 0, launches = 1, syncs = 1 }, function() a:minmax() end)
  end)

  case("making, reading and writing elements on the host moves nothing", function()
    expect({ bytes_up = 0, bytes_down = 0, copies = 0, launches = 0, syncs = 0 }, function()
      local a = gr.array(numbers(50000), "i32")
      assert.equal(7, a[7])
      a[7] = 8
      assert.equal(8, a:table(7, 7)[1])
      a:slice(2, 100, 3)
    end)
  end)

  case("a written element sends its chunk again, and no other", function()
    local a = gr.array(numbers(200000), "f32")
    a:sum()
    a[5] = 1
    a[6] = 1
    expect({ bytes_up = CHUNK, copies = 1 }, function() a:sum() end)
    a[1] = 2
    a[100000] = 2
    expect({ bytes_up = 2 * CHUNK, copies = 2 }, function() a:sum() end)
    a[200000] = 2 -- the last chunk is short
    expect({ bytes_up = 800000 - 12 * CHUNK, copies = 1 }, function() a:sum() end)
    a[16384 + 1] = 3 -- neighbours go together
    a[32768 + 1] = 3
    expect({ bytes_up = 2 * CHUNK, copies = 1 }, function() a:sum() end)
  end)

  case("a view uploads only the chunks under it", function()
    local a = gr.array(numbers(200000), "f32")
    expect({ bytes_up = CHUNK }, function() a:slice(1, 10):sum() end)
    expect({ bytes_up = 0 }, function() a:slice(100, 16384):sum() end)
    expect({ bytes_up = 2 * CHUNK }, function() a:slice(16384, 49152):sum() end)
    expect({ bytes_up = CHUNK }, function() a:slice(50000, 50001):sum() end)
    expect({ bytes_up = 800000 - 4 * CHUNK, copies = 1 }, function() a:sum() end)
    expect({ bytes_up = 0 }, function() a:slice(200000, 1, -7):sum() end)
  end)

  case("views share what has moved", function()
    local a = gr.array(numbers(100000), "f32")
    local v = a:slice(1, 100000)
    v:sum()
    expect({ bytes_up = 0 }, function() a:sum() end)
    v[1] = 77
    expect({ bytes_up = CHUNK }, function() a:sum() end)
  end)

  case("an element of a result brings its chunk only", function()
    local out = gr.scan(gr.ones(100000, "f32"), "sum")
    expect({ bytes_down = CHUNK, copies = 1, bytes_up = 0 }, function() assert.equal(1, out[1]) end)
    expect({ bytes_down = 0, copies = 0, syncs = 0 }, function() assert.equal(2, out[2]) end)
    expect({ bytes_down = 400000 - 6 * CHUNK, copies = 1 }, function() assert.equal(100000, out[100000]) end)
    expect({ bytes_down = 5 * CHUNK, copies = 1 }, function() out:table() end)
    expect({ bytes_down = 0, bytes_up = 0 }, function() out:bytes() end)
    expect({ bytes_up = 0, bytes_down = 0 }, function() out:sum() end) -- reading leaves both sides current
  end)

  case("zeros, ones, full, fill and random numbers move nothing", function()
    expect({ bytes_up = 0, bytes_down = 0, copies = 0 }, function()
      assert.equal(0, gr.zeros(300000, "f64"):sum())
      assert.equal(300000, gr.ones(300000, "f64"):sum())
      assert.equal(600000, gr.full(300000, 2, "i32"):sum())
      local a = gr.zeros(300000, "u8")
      a:fill(3)
      assert.equal(900000, a:sum())
      gr.rand(100000):sum()
    end)
    expect({ bytes_up = 0, bytes_down = 0, launches = 0 }, function() assert.equal(0, gr.zeros(300000)[5]) end)
  end)

  case("outputs never upload", function()
    local a = gr.array(numbers(100000), "f64")
    local into = gr.array(numbers(100000), "f64") -- current on the host, to be overwritten whole
    a:sum()
    expect({ bytes_up = 0, bytes_down = 0 }, function() gr.scan(a, "sum", { into = into }) end)
    local filled = gr.array(numbers(100000), "f64")
    expect({ bytes_up = 0, bytes_down = 0 }, function() filled:fill(1) end)
    expect({ bytes_up = 0, bytes_down = 0 }, function() a:copy():sum() end)
  end)

  case("the rest of a chunk that is written in part is kept", function()
    local a = gr.array(numbers(100000), "f32")
    a:slice(10, 20):fill(-1) -- needs the host's version of that chunk first
    assert.equal(9, a[9])
    assert.equal(-1, a[10])
    assert.equal(-1, a[20])
    assert.equal(21, a[21])
    local b = gr.array(numbers(100000), "f32")
    b:slice(1, 100000, 2):fill(-1)
    assert.equal(-1, b[1])
    assert.equal(2, b[2])
  end)

  case("prefetch and sync bring everything once", function()
    local a = gr.array(numbers(100000), "f32")
    expect({ bytes_up = 400000, launches = 0 }, function() a:prefetch() end)
    expect({ bytes_up = 0 }, function() a:prefetch() end)
    expect({ bytes_up = 0, launches = 1 }, function() a:sum() end)
    local out = gr.scan(a, "sum")
    expect({ bytes_down = 400000 }, function() out:sync() end)
    expect({ bytes_down = 0, syncs = 0 }, function() out:sync() end)
    expect({ bytes_down = 0 }, function() out:table() end)
  end)

  case("array results stay where they are", function()
    local a = gr.array(numbers(100000), "f32")
    a:sum()
    expect({ bytes_up = 0, bytes_down = 0, syncs = 0, launches = 1 }, function() gr.sum(a, { rows = 1000 }) end)
    expect({ bytes_up = 0, bytes_down = 0, launches = 2, syncs = 1 }, function() gr.sum(a, { rows = 1000 }):max() end)
    expect({ bytes_up = 0, bytes_down = 0, syncs = 0, launches = 1 }, function() gr.scan(a, "max") end)
  end)

  case("a histogram uploads nothing and brings nothing until asked", function()
    local a = gr.array(numbers(100000), "f32")
    a:sum()
    local h
    expect({ bytes_up = 0, bytes_down = 0 }, function()
      h = gr.histogram(a, { bins = 10, min = 0, max = 1000 })
    end)
    expect({ bytes_up = 0, bytes_down = (10 + 3) * 8 }, function() assert.equal(10000, h.counts[1]) end)
    expect({ bytes_up = 0, bytes_down = 0 }, function() assert.equal(0, h.below) end)
  end)

  case("equality moves what is stale only", function()
    local a, b = gr.array(numbers(50000), "i32"), gr.array(numbers(50000), "i32")
    expect({ bytes_up = 400000, bytes_down = 0 }, function() assert.is_true(a:equal(b)) end)
    expect({ bytes_up = 0, bytes_down = 0 }, function() assert.is_true(a:equal(b)) end)
  end)

  case("repeated work allocates nothing", function()
    local a = gr.array(numbers(50000), "f32")
    local into = gr.zeros(50000, "f32")
    for _ = 1, 3 do
      a:sum()
      gr.scan(a, "sum", { into = into })
    end
    expect({ allocations = 0 }, function()
      for _ = 1, 100 do
        a:sum()
        a:dot(a)
        gr.scan(a, "sum", { into = into })
      end
    end)
  end)

  case("tostring says where the data is and moves nothing", function()
    local a = gr.array(numbers(1000), "f32")
    expect({ bytes_up = 0, bytes_down = 0 }, function()
      assert.equal("gpureduce.array f32[1000] (host)", tostring(a))
    end)
    local s = gr.scan(a, "sum")
    expect({ bytes_up = 0, bytes_down = 0 }, function() assert.truthy(tostring(s):find("device", 1, true)) end)
  end)

  it("an array stays on the device where it was made; copy brings it over", function()
    local a = gr.array { 1, 2, 3 }
    S.on(gr.backend() == "pretend" and "cpu" or "pretend", function()
      local b = gr.array { 4, 5, 6 }
      assert.equal(6, a:sum())
      assert.equal(15, b:sum())
      assert.truthy(S.message(gr.dot, a, b):find("device"))
      assert.equal(32, a:copy():dot(b))
    end)
  end)

  it("results are on the device of their input, whichever is in use", function()
    local a = gr.array({ 1, 2, 3, 4 }, "i32")
    local edges = { 0, 2.5, 5 }
    S.on(gr.backend() == "pretend" and "cpu" or "pretend", function()
      local sums, sorted = a:sum { rows = 2 }, a:quantile { 0, 1 }
      assert.equal(10, sums:dot(a:sum { rows = 2 }) - 48)
      assert.equal(5, sorted:sum())
      assert.equal(4, a:max { segments = { 1, 3, 5 } }[2])
      assert.equal(10, gr.scan(a)[4])
      local h = a:histogram { edges = edges }
      assert.equal(4, h.counts:sum())
      assert.is_nil(S.message(gr.mse, a, gr.scan(a, "max")))
      assert.truthy(S.message(gr.dot, a, gr.array({ 1, 2, 3, 4 }, "i32")):find("device"))
    end)
  end)
end)

describe("on a device whose memory is the host's", function()
  it("nothing is ever copied", function()
    S.on("cpu", function()
      expect({ bytes_up = 0, bytes_down = 0, copies = 0 }, function()
        local a = gr.array(numbers(100000), "f32")
        a:sum()
        a[5] = 3
        gr.scan(a, "sum"):table()
        gr.histogram(a, { bins = 5 }).counts:table()
      end)
    end)
  end)
end)

describe("devices", function()
  it("are listed by name", function()
    local names = {}
    for _, d in ipairs(gr.devices()) do
      names[d.name] = true
      assert.equal("string", type(d.description))
    end
    assert.is_true(names.cpu)
    local name, why = gr.backend()
    assert.is_true(names[name] or name == "pretend")
    assert.equal("string", type(why))
  end)

  it("come from GPUREDUCE_DEVICE", function()
    for _, name in ipairs { "cpu", "pretend" } do
      local text = S.child_text({ GPUREDUCE_DEVICE = name }, [[
        local gr = require "gpureduce"
        print(gr.backend(), gr.ones(10):sum())]])
      assert.truthy(text:find("^" .. name), text)
    end
    local text = S.child_text({ GPUREDUCE_DEVICE = "gpu" }, [[
      local gr = require "gpureduce"
      print(pcall(function() return gr.ones(10):sum() end))]])
    assert.truthy(text:find("no device 'gpu'", 1, true), text)
  end)

  it("fall back to the CPU and say why", function()
    local text = S.child_text({ CUDA_VISIBLE_DEVICES = "", GPUREDUCE_DEVICE = "" }, [[
      local gr = require "gpureduce"
      local name, why = gr.backend()
      print(name, #why > 0, gr.ones(10):sum())]])
    assert.truthy(text:find("^cpu%s+true%s+10"), text)
  end)

  it("give the same bits", function()
    local t = S.model.data("f32", 30000, 3, true)
    local here = gr.array(t, "f32")
    local sum, var, dot = here:sum(), here:var(), here:dot(here)
    for _, name in ipairs { "cpu", "pretend" } do
      S.on(name, function()
        local a = gr.array(t, "f32")
        S.same(sum, a:sum(), name)
        S.same(var, a:var(), name)
        S.same(dot, a:dot(a), name)
      end)
    end
  end)

  it("have threads and instructions", function()
    local before = gr.threads()
    assert.is_true(before >= 1)
    gr.threads(2)
    assert.equal(2, gr.threads())
    gr.threads(before)
    assert.truthy(("generic sse2 avx2 avx512 neon"):find(gr.instructions(), 1, true))
  end)
end)
