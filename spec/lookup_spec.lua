-- take, put and arrays in brackets against loops in plain Lua.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local nan, NZ = model.nan, model.minus_zero
local is_float = model.is_float
local integers = { "u8", "i8", "u16", "i16", "u32", "i32", "i64" }

-- n positions of `length` elements that the dtype can say, some from the end.
local function positions(dtype, n, length, seed)
  local g, t = model.generator(seed), {}
  for k = 1, n do
    local p = g() % math.min(length, model.highest[dtype]) + 1
    if model.lowest[dtype] < 0 and g() % 3 == 0 and p - 1 - length >= model.lowest[dtype] then p = p - 1 - length end
    t[k] = p
  end
  return S.whole(t)
end

local function place(p, length) return p > 0 and p or length + 1 + p end

local function taken(t, index)
  local out = {}
  for k = 1, #index do out[k] = t[place(index[k], #t)] end
  return out
end

-- What a:put leaves in a table: sums of floats are those of exact arithmetic, added to the element once.
local function put(op, dtype, t, index, values)
  local out, sums = {}, {}
  for k = 1, #t do out[k] = t[k] end
  for k = 1, #index do
    local at, y = place(index[k], #t), type(values) == "number" and values or values[k]
    local x = out[at]
    if op == "set" then out[at] = y
    elseif op == "add" and is_float[dtype] then
      sums[at] = sums[at] or {}
      table.insert(sums[at], y)
    elseif op == "add" then out[at] = model.wrap(dtype, x + y)
    elseif x == x and (y ~= y or op == "min" and model.before(y, x) or op == "max" and model.before(x, y)) then
      out[at] = y
    end
  end
  for at, list in pairs(sums) do
    local sum = S.exact_sum(list)
    if sum ~= 0 then out[at] = model.round[dtype](out[at] + sum) end
  end
  return out
end

describe("take", function()
  it("keeps the shape of an index that is a matrix, from vectors and from matrices", function()
    S.on_each(function()
      local index = gr.array({ 3, 1, -1, 2, 2, 2 }, "i32"):matrix(2)
      local X = gr.array({ 10, 20, 30, 40 }):take(index)
      assert.same({ 2, 3 }, X.shape)
      assert.same({ 30, 10, 40 }, X[1]:table())
      assert.same({ 2, 3 }, gr.arange(1, 4):matrix(2)[index].shape)
      assert.is_nil(gr.arange(1, 4):matrix(2):take(index:slice()).rows)
      local into = gr.zeros(6)
      assert.is_nil(X:take(index, { into = into }).rows) -- which has a shape of its own
    end)
  end)

  for _, dtype in ipairs(model.dtypes) do
    it("elements of " .. dtype .. ", by every integer dtype", function()
      S.on_each(function(device)
        for _, kind in ipairs(integers) do
          for _, n in ipairs { 0, 1, 5, 511, 513, 1000 } do
            for _, length in ipairs { 1, 7, 300 } do
              local t = S.whole(D.wide(dtype, length, n + 3))
              local index = positions(kind, n, length, n + length)
              local got = gr.array(t, dtype):take(gr.array(index, kind))
              assert.equal(dtype, got.dtype)
              S.same_all(taken(t, index), got, device, dtype, kind, n, length)
            end
          end
        end
      end)
    end)
  end

  it("of views, by views, into views", function()
    for _, dtype in ipairs { "u8", "f16", "i32", "f64" } do
      local n = 60
      local t, index = S.whole(D.wide(dtype, n, 6)), positions("i16", 90, n, 4)
      local want = taken(t, index)
      for _, view in ipairs(S.views(t, dtype, 1)) do
        for _, by in ipairs(S.views(index, "i16", 0)) do -- what lies between is no position
          S.same_all(want, view[2]:take(by[2]), dtype, view[1], by[1])
          local whole = gr.full(2 * #index, 9, dtype)
          local out = whole:slice(2 * #index, 1, -2)
          assert.equal(out, view[2]:take(by[2], { into = out }))
          S.same_all(want, out, dtype, view[1], by[1], "into")
          S.same(#index, whole:slice(1, -1, 2):count { op = "==", value = 9 }, "between")
        end
      end
    end
  end)

  it("many, on any number of threads", function()
    local n = 200003
    local a = gr.rand(n, "f64", { seed = 1 })
    local index = gr.arange(n, 1, -1, "i32")
    assert.is_true(a:take(index):equal(a:slice(-1, 1, -1)))
    assert.is_true(a:take(-index):equal(a))
    assert.is_true(a:take(index, { into = gr.zeros(n, "f64") }):equal(a:slice(-1, 1, -1)))
  end)

  it("into the index itself", function()
    local a, index = gr.array({ 5, 6, 7 }, "i64"), gr.array({ 3, -3, 1, 2 }, "i64")
    S.same_all({ 7, 5, 5, 6 }, a:take(index, { into = index }))
  end)

  it("keeps bits, of NaN too", function()
    local odd = "\1\0\192\127\0\0\0\128\255\255\255\255" -- NaN with a payload, -0, a negative NaN
    assert.equal(odd:sub(9) .. odd, gr.frombytes(odd, "f32"):take(gr.array({ 3, 1, 2, 3 }, "u8")):bytes())
  end)

  it("of expressions and by them", function()
    local a, index = gr.arange(1, 10), gr.array({ 1, 2, 9 }, "i32")
    S.same_all({ 4, 6, 20 }, gr.take(gr.lazy(a) * 2, gr.lazy(index) + 1))
    S.same_all({ 4, 6, 20 }, (gr.lazy(a) * 2):take(index + 1))
  end)

  it("says which position is none, and writes nothing", function()
    S.on_each(function()
      local a, into = gr.arange(1, 10), gr.full(70000, 7)
      for _, row in ipairs { { 0, 69999 }, { 11, 4 }, { -11, 513 }, { -11, 1 }, { 0, 65537 } } do
        local index = gr.ones(70000, "i16")
        index[70000], index[row[2]] = 99, row[1]
        local message = ("bad argument #2 to 'take' (element %d: position from 1 to 10, or -10 to -1, expected, "
          .. "got %d)"):format(row[2], row[1])
        assert.equal(message, S.message(gr.take, a, index))
        assert.equal(message, S.message(gr.take, a, index, { into = into }))
        assert.equal(message:gsub("take", "put"), S.message(gr.put, a, index, 3))
        assert.equal(message:gsub("take", "[]"), S.message(function() return a[index] end))
        assert.equal(message:gsub("take", "[]"), S.message(function() a[index] = into end))
        assert.equal(70000 * 7, into:sum())
        assert.equal(55, a:sum())
      end
      local extreme = gr.frombytes(("\0"):rep(7) .. "\128" .. ("\255"):rep(7) .. "\127", "i64")
      assert.truthy(S.message(gr.take, a, extreme:slice(1, 1)):find("element 1: position from 1 to 10", 1, true))
      assert.truthy(S.message(gr.take, a, extreme:slice(2, 2)):find("element 1: position from 1 to 10", 1, true))
      assert.equal("bad argument #2 to 'take' (element 1 is 1, but the array has no positions)",
        S.message(gr.take, gr.zeros(0), gr.ones(1, "u8")))
      assert.equal(0, #gr.zeros(0):take(gr.zeros(0, "i32")))
    end)
  end)

  it("waits once, for the word that all are positions", function()
    S.on("pretend", function()
      local a, index = gr.arange(1, 1000):prefetch(), gr.ones(500, "i32"):fill(2)
      local c = S.counted(function() return a:take(index) end)
      assert.equal(1, c.syncs)
      assert.equal(1, c.launches)
      assert.equal(8, c.bytes_down)
    end)
  end)
end)

local ops = { "set", "add", "min", "max" }

describe("put", function()
  for _, dtype in ipairs(model.dtypes) do
    it("values to elements of " .. dtype, function()
      S.on_each(function(device)
        for _, op in ipairs(ops) do
          local draw = op == "add" and D.medium or D.wide
          for _, n in ipairs { 0, 1, 100, 700 } do
            for _, length in ipairs { 1, 40, 3000 } do
              local t, values = S.whole(draw(dtype, length, n + 1)), S.whole(draw(dtype, n, length))
              if op == "add" and is_float[dtype] then -- sums that the model has exactly
                for k = 1, n do values[k] = model.round[dtype]((values[k] % 64 - 32) / 8) end
              end
              if is_float[dtype] then
                for k = 1, length do t[k] = model.round[dtype](t[k]) end
              end
              local kind = integers[(n + length) % 7 + 1]
              local index = positions(kind, n, length, n + 9)
              local a = gr.array(t, dtype)
              assert.equal(a, a:put(gr.array(index, kind), gr.array(values, dtype), { op = op }))
              S.same_all(put(op, dtype, t, index, values), a, device, dtype, op, kind, n, length)
              a = gr.array(t, dtype)
              S.same_all(put(op, dtype, t, index, 3), a:put(gr.array(index, kind), 3, { op = op }), op, "a number")
            end
          end
        end
      end)
    end)
  end

  it("to views, by views, from views", function()
    for _, dtype in ipairs { "i8", "bf16", "u32", "f64" } do
      local n, m = 40, 25
      local t, values, index = S.whole(D.medium(dtype, n, 6)), S.whole(D.medium(dtype, m, 5)), positions("i8", m, n, 4)
      if is_float[dtype] then
        for k = 1, m do values[k] = model.round[dtype](values[k] % 16) end
      end
      for _, op in ipairs(ops) do
        local want = put(op, dtype, t, index, values)
        for j, view in ipairs(S.views(t, dtype, 1)) do
          for k, by in ipairs(S.views(index, "i8", 0)) do
            local from = S.views(values, dtype, 2)[(j + k) % 8 + 1]
            local a = view[2]:slice(1, -1)
            local before = a:copy()
            S.same_all(want, a:put(by[2], from[2], { op = op }), dtype, op, view[1], by[1], from[1])
            before:copy { into = a }
          end
        end
      end
    end
  end)

  it("leaves what lies between the elements of a view", function()
    for _, op in ipairs(ops) do
      for _, dtype in ipairs { "u8", "i16", "f16", "f64" } do
        local whole = gr.full(100, 7, dtype)
        whole:slice(2, 100, 3):put(gr.array({ 1, 5, 5, -1 }, "i32"), gr.array({ 9, 8, 9, 3 }, dtype), { op = op })
        for k = 1, 100 do
          if k ~= 2 and k ~= 14 and k ~= 98 then S.same(7, whole[k], dtype, op, k) end
        end
      end
    end
  end)

  it("sets the last of several values, many of them on any number of threads", function()
    S.on_each(function()
      local n = 300000
      local index = (gr.rand(n, "f64", { seed = 3 }) * 1000):cast("i32") + 1
      local a = gr.zeros(1000, "f64"):put(index, gr.arange(1, n, "f64"))
      local want, t = {}, index:table()
      for k = 1, n do want[t[k]] = k end
      for k = 1, 1000 do S.same(want[k], a[k], "element", k) end
    end)
  end)

  it("adds floats with the same bits in any order", function()
    S.on_each(function()
      local n = 200000
      for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
        local index = (gr.rand(n, "f64", { seed = 3 }) * 100):cast("u8") + 1
        local values = gr.randn(n, "f64", { seed = 4 }):exp():cast(dtype)
        local a = gr.ones(100, dtype):put(index, values, { op = "add" })
        local b = gr.ones(100, dtype):put(index:slice(-1, 1, -1), values:slice(-1, 1, -1), { op = "add" })
        assert.is_true(a:equal(b))
        local sums = gr.bincount(index:cast("i32"), { weights = values, minlength = 101 })
        for k = 1, 100 do S.same(model.round[dtype](1 + sums[k + 1]), a[k], dtype, k) end
      end
    end)
  end)

  it("minds zeros and NaN", function()
    local t = { 0, NZ, nan, 1, NZ }
    local index = gr.array({ 1, 2, 3, 4, 4, 5 }, "u8")
    local values = { NZ, 0, 1, nan, 5, NZ }
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      local function run(op, v) return gr.array(t, dtype):put(index, gr.array(v, dtype), { op = op }) end
      S.same_all({ NZ, NZ, nan, nan, NZ }, run("min", values), dtype)
      S.same_all({ 0, 0, nan, nan, NZ }, run("max", values), dtype)
      S.same_all({ NZ, 0, 1, 5, NZ }, run("set", values), dtype)
      -- A sum of 0 changes nothing, not even a zero's sign.
      S.same_all({ 0, NZ, nan, 6, NZ }, run("add", { NZ, 0, 1, 2, 3, NZ }), dtype)
    end
    local odd = gr.frombytes("\1\0\192\127", "f32") -- a NaN with a payload stays, or becomes the one NaN
    assert.equal("\1\0\192\127", odd:copy():put(gr.ones(1, "u8"), 1, { op = "min" }):bytes())
    assert.equal("\0\0\192\127", gr.ones(1):put(gr.ones(1, "u8"), odd, { op = "max" }):bytes())
    assert.equal("\1\0\192\127", gr.ones(1):put(gr.ones(1, "u8"), odd):bytes())
  end)

  it("takes expressions, and gives the array for more", function()
    local a, index = gr.zeros(3), gr.array({ 1, 2 }, "i32")
    S.same_all({ 0, 5, 7 }, a:put(gr.lazy(index) + 1, gr.lazy(gr.array { 4, 6 }) + 1))
    assert.equal(12, a:put(index, 0, { op = "max" }):sum())
  end)

  it("counts what it writes: the other copy is stale", function()
    S.on("pretend", function()
      local a = gr.arange(1, 10):prefetch()
      a:put(gr.array({ 1 }, "i32"), 5)
      assert.equal(5, a[1])
      a[2] = 7
      assert.equal(5 + 7 + 52, a:put(gr.array({ 3 }, "i32"), 3):sum())
    end)
  end)

  it("sets a histogram's example: counts by add", function()
    local pixels = (gr.rand(10000, { seed = 1 }) * 256):cast("u8")
    local counts = gr.zeros(256, "i64"):put(gr.lazy(pixels):cast("i32") + 1, 1, { op = "add" })
    assert.is_true(counts:equal(gr.bincount(pixels, { minlength = 256 })))
  end)
end)

describe("in brackets", function()
  it("u8 is a mask, other integers are positions", function()
    S.on_each(function()
      local a = gr.array { 10, 20, 30, 40 }
      S.same_all({ 40, 10, 40 }, a[gr.array({ 4, 1, -1 }, "i32")])
      S.same_all({ 10, 30 }, a[gr.array({ 1, 0, 255, 0 }, "u8")])
      S.same_all({ 30, 40 }, a[a:compare(">", 20)])
      S.same_all({ 30, 40 }, a[gr.lazy(a):gt(20)])
      S.same_all({ 20, 30 }, a[gr.lazy(gr.array({ 1, 2 }, "i64")) + 1])
      S.same_all({}, a[gr.zeros(4, "u8")])
    end)
  end)

  it("arrays are written by", function()
    S.on_each(function()
      local a = gr.array { 10, 20, 30, 40 }
      a[gr.array({ -1, 1, -1 }, "i32")] = gr.array { 1, 2, 3 }
      S.same_all({ 2, 20, 30, 3 }, a)
      a[a:compare(">", 10)] = 0
      S.same_all({ 2, 0, 0, 3 }, a)
      a[a:compare("==", 0)] = gr.array { 5, 6 }
      S.same_all({ 2, 5, 6, 3 }, a)
      a[gr.lazy(a):gt(4)] = gr.lazy(gr.array { 7, 8 }) + 1
      S.same_all({ 2, 8, 9, 3 }, a)
      a[gr.zeros(4, "u8")] = gr.zeros(0)
      a[gr.array({ 2 }, "i64")] = -1
      S.same_all({ 2, -1, 9, 3 }, a)
      a:slice(1, 4, 2)[gr.array({ 0, 9 }, "u8")] = gr.array { 4 }
      S.same_all({ 2, -1, 4, 3 }, a)
    end)
  end)

  it("elements of a transposed matrix show in what it is made of", function()
    S.on_each(function()
      for _, step in ipairs { 1, 2 } do
        local base = gr.zeros(6 * step)
        local X = base:slice(1, -1, step):matrix(2)
        X[1], X[2] = gr.array { 1, 2, 3 }, gr.array { 4, 5, 6 }
        local T = X:transpose()
        assert.equal(T, T:put(gr.array({ 2, -1, 2 }, "i32"), gr.array { 7, 8, 9 }))
        S.same_all({ 1, 2, 3, 9, 5, 8 }, X:slice())
        T:put(gr.array({ 3 }, "u8"), 0.5, { op = "add" })
        T[T:compare(">", 8)] = 0
        T[gr.array({ 1, -2 }, "i64")] = gr.array { 10, 30 }
        S.same_all({ 10, 2.5, 30, 0, 5, 8 }, X:slice())
        T[gr.lazy(T):gt(9)] = T:slice(1, 2)
        S.same_all({ 10, 2.5, 0, 0, 5, 8 }, X:slice())
        assert.equal("bad argument #2 to 'put' (element 2: position from 1 to 6, or -6 to -1, expected, got 7)",
          S.message(T.put, T, gr.array({ 1, 7 }, "i32"), 1))
        S.same_all({ 10, 2.5, 0, 0, 5, 8 }, X:slice())
        assert.equal("gpureduce.transposed", tostring(T):match "^%S+")
        local V = gr.zeros(6)
        V[gr.array({ 0, 1, 2, 3, 4, 5 }, "i32"):matrix(2):transpose() + 1] = T
        assert.same(X:table(), V:matrix(2):table())
        local order = gr.array({ 6, 5, 4, 3, 2, 1 }, "i32"):matrix(2):transpose() -- 6 3 5 2 4 1
        V[order] = T
        S.same_all({ 8, 5, 0, 0, 2.5, 10 }, V)
        S.same_all({ 10, 0, 2.5, 5, 0, 8 }, V:put(order, T)[order]:slice())
        V[order:compare(">", 0)] = T
        S.same_all({ 10, 0, 2.5, 5, 0, 8 }, V)
        if step == 2 then assert.equal(0, base[2]) end
      end
    end)
  end)

  it("a mask's elements, many of them", function()
    local n = 100000
    local a, mask = gr.zeros(n, "i32"), gr.rand(n, { seed = 2 }):compare("<", 0.3)
    local values = gr.arange(1, mask:count(), "i32")
    a[mask] = values
    assert.is_true(a[mask]:equal(values))
    assert.is_true(a:equal(gr.where(mask, mask:scan("sum"):cast("i32"), 0)))
  end)
end)

local rows = {
  { "a:take()", "bad argument #2 to 'take' (gpureduce.array expected, got no value)" },
  { "a:take(b)", "bad argument #2 to 'take' (integer dtype expected, got f32)" },
  { "gr.take(i, a)", "bad argument #2 to 'take' (integer dtype expected, got f32)" },
  { "gr.take({}, i)", "bad argument #1 to 'take' (gpureduce.array expected, got table" },
  { "a:take(i, { inot = a })", "bad argument #3 to 'take' (unknown option 'inot' (did you mean 'into'?))" },
  { "a:take(i, { into = d })", "bad argument #3 to 'take' (option 'into': f32[5] expected, got f64[10])" },
  { "a:take(i, { into = a:slice(1, 5) })", "bad argument #3 to 'take' (option 'into': overlaps the input)" },
  { "j:take(j, { into = j })", "bad argument #3 to 'take' (option 'into': overlaps the input)" },
  { "a:take(released)", "bad argument #2 to 'take' (array has been released)" },
  { "a:put(i)", "bad argument #3 to 'put' (number or gpureduce.array expected, got no value)" },
  { "a:put(i, {})", "bad argument #3 to 'put' (number or gpureduce.array expected, got table)" },
  { "a:put(b, 1)", "bad argument #2 to 'put' (integer dtype expected, got f32)" },
  { "a:put(i, b)", "bad argument #3 to 'put' (length 5 (of the index) expected, got 9)" },
  { "a:put(i, d)", "bad argument #3 to 'put' (dtype f32 and length 5 (of the index) expected, got f64 and 10: "
    .. "write a:cast \"f64\")" },
  { "a:put(i, d:slice(1, 5))", "bad argument #3 to 'put' (dtype f32 expected, got f64: write a:cast \"f64\")" },
  { "u:put(i, 256)", "bad argument #3 to 'put' (value 256 does not fit u8 (0 to 255))" },
  { "a:put(i, a:slice(1, 5))", "bad argument #3 to 'put' (overlaps the array that is written)" },
  { "i:put(i, 1)", "bad argument #2 to 'put' (overlaps the array that is written)" },
  { "a:put(i, 1, { op = 'sum' })", "bad argument #4 to 'put' (option 'op': 'set', 'add', 'min' or 'max' expected, "
    .. "got 'sum'" },
  { "a:put(i, 1, { op = 3 })", "bad argument #4 to 'put' (option 'op': string expected, got number)" },
  { "a:put(i, 1, { into = a })", "bad argument #4 to 'put' (unknown option 'into'" },
  { "a:put(i, 1 / 0, { op = 'add' })", "bad argument #3 to 'put' (finite value expected, got an infinity)" },
  { "a:put(i, nan, { op = 'add' })", "bad argument #3 to 'put' (finite value expected, got a NaN)" },
  { "a:put(i, gr.full(5, nan), { op = 'add' })", "bad argument #3 to 'put' (finite values expected, got a NaN)" },
  { "a:put(i, -gr.full(5, 1 / 0), { op = 'add' })",
    "bad argument #3 to 'put' (finite values expected, got an infinity)" },
  { "gr.put(gr.lazy(a), i, 1)", "bad argument #1 to 'put' (gpureduce.array expected, got gpureduce.expression" },
  { "return a[b]", "bad argument #2 to '[]' (integer dtype expected, got f32)" },
  { "a[b] = 1", "bad argument #2 to '[]' (integer dtype expected, got f32)" },
  { "return a[u:slice(1, 9)]", "bad argument #2 to '[]' (length 10 expected, got 9)" },
  { "a[u:slice(1, 9)] = 1", "bad argument #2 to '[]' (mask of length 10 expected, got 9)" },
  { "a[u] = b", "bad argument #3 to '[]' (length 10, of what the mask marks, expected, got 9)" },
  { "a[u] = d", "bad argument #3 to '[]' (dtype f32 expected, got f64: write a:cast \"f64\")" },
  { "a[u] = 'x'", "bad argument #3 to '[]' (number or gpureduce.array expected, got string)" },
  { "a[u] = nil", "bad argument #3 to '[]' (number or gpureduce.array expected, got nil)" },
  { "u[u] = 1", "bad argument #2 to '[]' (overlaps the array that is written)" },
}

describe("mistakes of lookups", function()
  for _, row in ipairs(rows) do
    it(row[1], function()
      local environment = {
        gr = gr, nan = nan, a = gr.ones(10), b = gr.ones(9), d = gr.ones(10, "f64"), u = gr.ones(10, "u8"),
        i = gr.ones(5, "i32"), j = gr.ones(5, "i64"), released = gr.zeros(10),
      }
      environment.released:release()
      local message = S.message(S.load_in(row[1], environment))
      if not message then error("no error was raised", 0) end
      assert.equal(row[2], message:gsub("%-nan", "nan"):sub(1, #row[2]))
      S.same(10, environment.a:sum(), "what a holds afterwards")
      S.same(5, environment.i:sum(), "what i holds afterwards")
    end)
  end

  it("arrays on two devices", function()
    local here, there = gr.ones(10), nil
    S.on("pretend", function() there = gr.ones(10, "i32") end)
    assert.matches("bad argument #2 to 'take' %(array on device '.-' expected, got one on 'pretend'",
      S.message(gr.take, here, there))
    assert.matches("bad argument #2 to 'put' %(array on device", S.message(gr.put, here, there, 1))
    assert.matches("bad argument #2 to '%[%]' %(array on device", S.message(function() return here[there] end))
  end)

  it("arrays too long for gr.safe", function()
    local text = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, [[
      local gr = require "gpureduce"
      gr.safe { elements = 1000 }
      local a = gr.ones(1000)
      print(#a:take(gr.ones(1000, "i32")), a:put(gr.ones(10, "i32"), 5):sum())
      print(pcall(a.put, a, gr.ones(1, "i32"), gr.ones(1), { op = "add" }))
    ]])
    assert.truthy(text:find("1000\t1004.0", 1, true) or text:find("1000\t1004", 1, true), text)
  end)
end)
