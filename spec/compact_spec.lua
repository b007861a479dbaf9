-- Compaction against a loop in plain Lua: what is kept, in order, and nothing else touched.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model

-- Masks of several densities; every value but 0 keeps.
local function mask_of(n, seed, kind)
  local g, m = model.generator(seed), {}
  for k = 1, n do
    local r = g()
    if kind == "all" then m[k] = 255
    elseif kind == "none" then m[k] = 0
    elseif kind == "few" then m[k] = r % 97 == 0 and 1 or 0
    elseif kind == "runs" then m[k] = math.floor(k / 700) % 2
    else m[k] = r % 3 end
  end
  return m
end

local function kept(t, m)
  local out = {}
  for k = 1, #t do if m[k] ~= 0 then out[#out + 1] = t[k] end end
  return out
end

describe("compact of", function()
  for _, dtype in ipairs(model.dtypes) do
    it(dtype, function()
      for _, n in ipairs { 0, 1, 2, 31, 33, 511, 513, 4095, 4097 } do
        local t = S.whole(D.wide(dtype, n, n + 3))
        local a = gr.array(t, dtype)
        for _, kind in ipairs { "all", "none", "few", "third" } do
          local m = mask_of(n, n + 8, kind)
          local out = a:compact(gr.array(m, "u8"))
          assert.equal(dtype, out.dtype)
          S.same_all(kept(t, m), out, dtype, n, kind)
        end
      end
    end)
  end

  it("views, into views", function()
    for _, dtype in ipairs { "u8", "f16", "i32", "f64" } do
      local n = 150
      local t, m = S.whole(D.wide(dtype, n, 6)), mask_of(n, 7, "third")
      local want = kept(t, m)
      for _, view in ipairs(S.views(t, dtype, 1)) do
        for _, mask in ipairs(S.views(m, "u8", 1)) do
          S.same_all(want, view[2]:compact(mask[2]), dtype, view[1], mask[1])
        end
        local whole = gr.full(2 * n, 9, dtype)
        local out = view[2]:compact(gr.array(m, "u8"), { into = whole:slice(2 * n, 1, -2) })
        S.same_all(want, out, dtype, view[1], "into")
        for k = 1, 2 * n do -- the rest is what it was
          local place = (2 * n - k) / 2 + 1
          S.same(place % 1 == 0 and want[place] or 9, whole[k], "around the result", k)
        end
      end
    end
  end)

  it("many tiles, on any number of threads", function()
    local n = 100007
    for _, kind in ipairs { "all", "none", "few", "third", "runs" } do
      local m = mask_of(n, 11, kind)
      local mask = gr.array(m, "u8")
      local dtype = kind == "runs" and "f64" or "i32"
      local a, t = gr.arange(1, n, dtype), {}
      for k = 1, n do if m[k] ~= 0 then t[#t + 1] = k end end
      local want = gr.array(t, dtype)
      assert.is_true(a:compact(mask):equal(want))
      local into = gr.zeros(n, dtype)
      local out = a:compact(mask, { into = into })
      assert.equal(#t, #out)
      assert.is_true(out:equal(want))
      assert.equal(0, into:slice(#t + 1):count())
      assert.is_true(a:compact(mask, { into = a }):equal(want)) -- in place
      assert.is_true(#t == n or a[n] == n)
    end
  end)

  it("shares the memory of 'into'", function()
    local a, into = gr.array { 1, 2, 3, 4 }, gr.zeros(3)
    local out = a:compact(a:compare(">", 2), { into = into })
    out[1] = 7
    S.same_all({ 7, 4, 0 }, into)
    assert.equal(2, #out)
  end)

  it("leaves the rest of 'into', wherever that lies", function()
    for _, device in ipairs { "cpu", "pretend" } do
      S.on(device, function()
        local t, m = S.whole(D.wide("i32", 3000, 5)), mask_of(3000, 6, "third")
        local want = kept(t, m)
        for _, room in ipairs { 3000, 4000, #want } do
          for _, where in ipairs { "host", "device", "both" } do
            local a, mask, into = gr.array(t, "i32"), gr.array(m, "u8"), gr.full(room, 9, "i32")
            if where == "host" then into[1] = 9 end
            if where == "device" then into:add(0, { into = into }) end
            if where == "both" then into:prefetch() end
            local out = a:compact(mask, { into = into })
            S.same_all(want, out, device, room, where)
            S.same_all(want, into:slice(1, #want), device, room, where)
            for k = #want + 1, room do S.same(9, into[k], device, room, where, k) end
          end
        end
        local short = gr.full(#want - 1, 9, "i32")
        assert.has_error(function() gr.array(t, "i32"):compact(gr.array(m, "u8"), { into = short }) end)
        assert.equal(9 * (#want - 1), short:sum())
      end)
    end
  end)

  it("waits once, for the count", function()
    S.on("pretend", function()
      local a, mask = gr.arange(1, 1000), gr.ones(1000, "u8")
      mask:fill(1)
      a:prefetch()
      local c = S.counted(function() return a:compact(mask) end)
      assert.equal(1, c.syncs)
      assert.equal(0, c.copies)
      assert.equal(3, c.launches) -- one tells the host
    end)
  end)

  it("is the other half of where and scan", function()
    -- positions of the kept: the running count, taken where the mask is set
    local a = gr.rand(5000, "f64", { seed = 4 })
    local mask = a:compare("<", 0.3)
    local positions = gr.arange(1, 5000, "i64"):compact(mask)
    local counts = mask:scan("sum"):compact(mask)
    assert.is_true(counts:equal(gr.arange(1, #positions, "i64")))
    assert.equal(mask:count(), #positions)
    for _, k in ipairs { 1, 2, 77, #positions } do assert.is_true(a[positions[k]] < 0.3) end
  end)
end)
