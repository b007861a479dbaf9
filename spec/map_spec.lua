-- Element operators against plain Lua: computed in doubles and rounded once, or in whole numbers that wrap. Casts,
-- comparisons and choices are in cast_spec.lua and where_spec.lua.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local nan, huge, NZ = model.nan, math.huge, model.minus_zero
local each, data, number_of = D.each, D.odd, D.number_of

-- ---- the reference ----

local wrap, wrapped_product = model.wrap, model.wrapped_product

-- What an operator gives for two elements: exact in doubles where it is rounded to 24 bits or less afterwards.
local function expected(op, dtype, x, y)
  if model.is_float[dtype] then
    local r
    if op == "add" then r = x + y
    elseif op == "sub" then r = x - y
    elseif op == "mul" then r = x * y
    elseif op == "div" then r = x / y
    elseif op == "neg" then r = -x
    elseif op == "abs" then r = math.abs(x)
    elseif op == "square" then r = x * x
    elseif op == "sqrt" then r = math.sqrt(x) end
    return model.round[dtype](r)
  end
  if op == "add" then return wrap(dtype, x + y)
  elseif op == "sub" then return wrap(dtype, x - y)
  elseif op == "mul" then return wrapped_product(dtype, x, y)
  elseif op == "div" then return (x + 0.0) / (y + 0.0)
  elseif op == "neg" then return wrap(dtype, -x)
  elseif op == "abs" then return wrap(dtype, x < 0 and -x or x)
  elseif op == "square" then return wrapped_product(dtype, x, x)
  elseif op == "sqrt" then return math.sqrt(x + 0.0) end
end

local function result_dtype(op, dtype)
  return (op == "div" or op == "sqrt") and not model.is_float[dtype] and "f64" or dtype
end

local function check(op, dtype, got, n, f, ...)
  S.same(result_dtype(op, dtype), got.dtype, "dtype of", op, dtype)
  S.same_all(each(n, f), got, op, dtype, ...)
end

-- ---- operators ----

describe("operators of", function()
  for _, dtype in ipairs(model.dtypes) do
    it(dtype, function()
      for _, n in ipairs { 0, 1, 2, 17, 130, 1100 } do
        local s, t = data(dtype, n, n + 1), data(dtype, n, n + 77)
        local a, b, c = gr.array(s, dtype), gr.array(t, dtype), number_of(dtype)
        for _, op in ipairs { "add", "sub", "mul", "div" } do
          check(op, dtype, gr[op](a, b), n, function(k) return expected(op, dtype, s[k], t[k]) end, n)
          check(op, dtype, gr[op](a, c), n, function(k) return expected(op, dtype, s[k], c) end, n, "number right")
          check(op, dtype, gr[op](c, a), n, function(k) return expected(op, dtype, c, s[k]) end, n, "number left")
        end
        for _, op in ipairs { "neg", "abs", "square", "sqrt" } do
          check(op, dtype, a[op](a), n, function(k) return expected(op, dtype, s[k]) end, n)
        end
      end
    end)

    it(dtype .. " on views", function()
      local n = 67
      local s, t = data(dtype, n, 3), data(dtype, n, 4)
      local b = gr.array(t, dtype)
      for _, view in ipairs(S.views(s, dtype, 1)) do
        for _, op in ipairs { "sub", "div" } do
          check(op, dtype, gr[op](view[2], b), n, function(k) return expected(op, dtype, s[k], t[k]) end, view[1])
          check(op, dtype, gr[op](b, view[2]), n, function(k) return expected(op, dtype, t[k], s[k]) end, view[1])
        end
        local keep = view[2]:copy()
        view[2]:add(b, { into = view[2] }) -- in place, on whatever view
        check("add", dtype, view[2], n, function(k) return expected("add", dtype, s[k], t[k]) end, view[1], "in place")
        gr.sub(b, keep, { into = view[2] })
        check("sub", dtype, view[2], n, function(k) return expected("sub", dtype, t[k], s[k]) end, view[1], "into")
      end
    end)
  end

  it("numbers and arrays as Lua writes them", function()
    local a = gr.array({ 1, 2, 4 }, "f64")
    S.same_all({ 2, 3, 5 }, a + 1)
    S.same_all({ 0, -1, -3 }, 1 - a)
    S.same_all({ 1, 4, 16 }, a * a)
    S.same_all({ 8, 4, 2 }, 8 / a)
    S.same_all({ -1, -2, -4 }, -a)
    S.same_all({ 3, 6, 12 }, (a + a) - -a)
    assert.is_false(a == a + 0)
  end)

  it("a number is one of the dtype", function()
    local x = model.round.f16(0.1)
    S.same_all({ model.round.f16(3 * x) }, gr.array({ 3 }, "f16") * 0.1, "f16")
    S.same_all({ 0.3 * 3 }, gr.array({ 3 }, "f64") * 0.3, "f64")
    S.same_all({ huge, nan }, gr.array({ 1, -huge }, "f16") + huge, "infinity")
    S.same_all({ 4, -6 }, gr.array({ 1, -1.5 }, "f32") / 0.25, "f32")
    S.same_all({ 4, 8 }, gr.array({ 1, 2 }, "u8") / 0.25, "integers divide by any number")
    S.same_all({ 0.25, 0.125 }, 0.25 / gr.array({ 1, 2 }, "i64"), "and into any")
  end)

  it("integers wrap and divide as Lua's do", function()
    S.same_all({ 4, 255 }, gr.array({ 250, 245 }, "u8") + 10)
    S.same_all({ -128, 127 }, -gr.array({ -128, -127 }, "i8"))
    S.same_all({ -128 }, gr.array({ -128 }, "i8"):abs())
    S.same_all({ huge, -huge }, gr.array({ 1, -1 }, "i32") / 0)
    S.same(nan, (gr.array({ 0 }, "i32") / 0)[1])
    if not S.integers then return end
    local lowest = math.mininteger
    S.same_all({ lowest, 5 }, gr.array({ lowest, -5 }, "i64"):abs(), "abs")
    S.same_all({ lowest }, gr.array({ math.maxinteger }, "i64") + 1, "add")
    S.same_all({ (lowest + 1) / 7 }, gr.array({ lowest + 1 }, "i64") / 7, "div")
  end)

  it("every f16 and bf16, rounded once", function()
    for _, dtype in ipairs { "f16", "bf16" } do
      local value, parts = model[dtype .. "_value"], {}
      for u = 0, 65535 do parts[u + 1] = string.char(u % 256, math.floor(u / 256)) end
      local a = gr.frombytes(table.concat(parts), dtype)
      local root, third, square = a:sqrt(), a / 3, a * a
      for u = 0, 65535, 7 do
        local x = value(u)
        S.same(expected("sqrt", dtype, x), root[u + 1], "sqrt", dtype, x)
        S.same(expected("div", dtype, x, 3), third[u + 1], "third", dtype, x)
        S.same(expected("mul", dtype, x, x), square[u + 1], "square", dtype, x)
      end
      S.same_all(a:cast("f64"):table(), a, "to f64") -- NaN equals NaN here
      assert.is_true(a:cast("f32"):cast(dtype):equal(a))
      assert.is_true(a:cast("f64"):cast(dtype):equal(a))
    end
  end)

  it("every NaN is the one", function()
    local odd = "\1\0\xc0\xff" -- a negative NaN with a payload
    if odd:byte(3) ~= 0xc0 then odd = "\1\0" .. string.char(0xc0, 0xff) end
    local a = gr.frombytes(odd, "f32")
    local want = string.char(0, 0, 0xc0, 0x7f)
    for _, r in ipairs { a + 1, 1 - a, a * a, -a, a:abs(), a:sqrt(), a:exp(), a:log(), a:clamp(0, 1), a:cast "f32" } do
      assert.equal(want, r:bytes())
    end
    assert.equal(odd, gr.where(gr.ones(1, "u8"), a, 0):bytes()) -- a choice is a copy
    assert.equal(odd, a:compact(gr.ones(1, "u8")):bytes())
  end)
end)

-- ---- exponentials and logarithms: correctly rounded doubles, computed with 300 bits by mpmath ----

local exponentials = {
  { 0.5, 1.6487212707001282 }, { 1.0, 2.718281828459045 }, { -1.0, 0.36787944117144233 }, { 2.0, 7.38905609893065 },
  { 0.1, 1.1051709180756477 }, { -0.1, 0.9048374180359595 }, { 10.0, 22026.465794806718 },
  { -10.0, 4.5399929762484854e-05 }, { 1e-09, 1.000000001 }, { -1e-17, 1.0 }, { 88.7, 3.325986980250579e+38 },
  { -87.3, 1.2192470959520051e-38 }, { -103.5, 1.1233656060805691e-45 }, { 700.25, 1.3022997366991783e+304 },
  { -700.5, 5.980196118639791e-305 }, { 709.78, 1.7928227943945155e+308 }, { -708.5, 2.006132305331306e-308 },
  { -744.25, 5e-324 }, { 0.34657359027997264, 1.414213562373095 }, { -0.3465735902799727, 0.7071067811865475 },
  { 172.06237284558267, 5.317886574664318e+74 }, { 338.5017849650212, 1.0220151288954941e+147 },
  { 413.27099179197535, 3.0290836439489635e+179 }, { 619.4303972878704, 1.035627240342451e+269 },
  { 335.85800463590294, 7.265710949500017e+145 }, { 591.2549953315838, 6.008718663741941e+256 },
  { -659.3926804029394, 4.259881258714982e-287 }, { -48.12828387065247, 1.2535795290832528e-21 },
  { 620.6994037976392, 3.6840540220115896e+269 }, { 208.56437439169383, 3.787537312339446e+90 },
  { 561.2606884508718, 5.654834558330064e+243 }, { -541.5116494855979, 6.6754222518980356e-236 },
  { -0.3093095221783626, 0.7339535599601043 }, { -2.5342716738016966, 0.07931946867904753 },
  { 0.4376085923593038, 1.5489984989028898 }, { 0.7394118792810076, 2.0947032137989234 },
  { -4.868858104110978, 0.007682132476828555 }, { -2.8327019953615187, 0.05885361643857226 },
  { -2.205176339888897, 0.11023108545316321 }, { 4.163453718085519, 64.29319014457008 },
  { 2.6572545162914176, 14.257092701020424 }, { -3.403957876419618, 0.033241443730154266 },
  { 2.9714699143120447, 19.52059211552533 }, { -3.6123258160109684, 0.026989002358493035 },
  { 1.1745252046611663, 3.2366058535922666 }, { -3.733007674497303, 0.023920781608395093 },
  { -4.982251377974654, 0.0068586038526813106 }, { 3.7140474472428213, 41.0194952355397 },
}
local logarithms = {
  { 0.5, -0.6931471805599453 }, { 2.0, 0.6931471805599453 }, { 0.1, -2.3025850929940455 },
  { 10.0, 2.302585092994046 }, { 3.0, 1.0986122886681098 }, { 1e-300, -690.7755278982137 },
  { 5e-324, -744.4400719213812 }, { 2.2e-308, -708.4077512818018 }, { 1.7e+308, 709.7268368932282 },
  { 1.0000000000000002, 2.2204460492503128e-16 }, { 0.9999999999999999, -1.1102230246251565e-16 },
  { 1.4142135623730951, 0.3465735902799727 }, { 0.7071067811865476, -0.3465735902799726 },
  { 1e+22, 50.65687204586901 }, { 0.99, -0.01005033585350145 }, { 1.01, 0.009950330853168092 },
  { 65504.0, 11.089866488461016 }, { 4.7187774686765e-175, -401.40084151878324 },
  { 1.9440236088712814e-171, -393.0772910515362 }, { 2.8357327280776124e+289, 666.4893922369401 },
  { 2.783936096400912e+223, 514.500341526002 }, { 3.8291347359350615e-127, -291.0856679500849 },
  { 7.705367735071984e+276, 637.5554028608 }, { 3.420434848252535e+23, 54.18922483046672 },
  { 4.9921353344671055e+106, 245.68188359833835 }, { 7.374094863844535e-178, -407.8621733885724 },
  { 3.8512406131862596e+264, 609.2308598840117 }, { 2.427530326521832e+114, 263.3815750153294 },
  { 8.681352490541142e+279, 644.5824182787554 }, { 2.713102529456492, 0.9980928248744169 },
  { 1.106730024205443, 0.10140974340957454 }, { 1.2752128237504372, 0.2431130852692763 },
  { 0.7480813542503131, -0.29024354455512846 }, { 0.6933951557598428, -0.3661552319687086 },
  { 0.4758772261143259, -0.7425953863511979 }, { 1.1136695720775487, 0.10766048357250091 },
  { 1.928396993000667, 0.6566890842246685 }, { 0.3091344223107632, -1.1739790730203228 },
  { 2.1304224737787663, 0.756320304550738 }, { 1.2123215263952358, 0.19253713826971572 },
  { 1.1368864153284477, 0.12829331121043663 }, { 2.5099988015470913, 0.9202822756723001 },
  { 1.5980120039011052, 0.468760359143845 }, { 1.152641385785399, 0.14205616583546296 },
  { 1.5992896428395325, 0.4695595574351504 },
}

local tangents = {
  { 0.5, 0.46211715726000974 }, { -0.5, -0.46211715726000974 }, { 1.0, 0.7615941559557649 },
  { 2.0, 0.9640275800758169 }, { -3.0, -0.9950547536867305 }, { 0.625, 0.5545997223493823 },
  { 0.6249999999999999, 0.5545997223493823 }, { 0.6250000000000001, 0.5545997223493824 },
  { -0.6351645939226416, -0.5615981884697886 }, { 5e-324, 5e-324 }, { -1e-300, -1e-300 }, { 1e-08, 1e-08 },
  { 0.0001220703125, 0.00012207031189367021 }, { 0.1, 0.09966799462495582 }, { -0.25, -0.24491866240370913 },
  { 0.75, 0.6351489523872873 }, { 10.0, 0.9999999958776927 }, { 19.0, 0.9999999999999999 },
  { 19.06154746539849, 0.9999999999999999 }, { -19.5, -1.0 }, { 22.0, 1.0 }, { 1e+300, 1.0 },
  { 0.2266829353832136, 0.22287840244179807 }, { 0.2763764474962214, 0.26954809505922916 },
  { 0.0507054006672799, 0.05066199014592736 }, { 0.2559822418388099, 0.25053376454050535 },
  { 0.6367928442001716, 0.5627118814104944 }, { -0.0262469609093894, -0.026240935366795535 },
  { 0.2927205059595316, 0.2846368396099059 }, { -0.0634991093407055, -0.06341390106628171 },
  { 0.0413773542552924, 0.04135375656034201 }, { 0.6632147904952412, 0.5804988646577984 },
  { 3.716355922534493, 0.9988175374054951 }, { 2.742074563114213, 0.9917302038210756 },
  { 5.871777570201768, 0.9999841194568629 }, { 0.851546475335884, 0.6918765209419981 },
  { 5.235729678862869, 0.9999433342457081 }, { 2.163890146191052, 0.9739501586394066 },
  { 1.378977450130163, 0.8807220873372383 }, { 1.236078085623189, 0.8443333313260889 },
  { 2.265801850150446, 0.978702432349906 }, { 5.00708233924817, 0.9999104812321772 },
  { 1.575922451589262, 0.917962709216657 }, { 3.740640883777318, 0.9988735655207516 },
}

-- How many doubles lie between two of one sign.
local function steps(x, y)
  if x == y then return 0 end
  local _, e = model.split(math.max(math.abs(x), math.abs(y)))
  return math.abs(x - y) / 2.0 ^ math.max(e - 53, -1074)
end

describe("exp, log and tanh", function()
  for name, rows in pairs { exp = exponentials, log = logarithms, tanh = tangents } do
    it(name .. " is within one step of the reference, and rounded once to narrower types", function()
      local x, y = {}, {}
      for k = 1, #rows do x[k], y[k] = rows[k][1], rows[k][2] end
      local got = gr[name](gr.array(x, "f64"))
      for k = 1, #rows do
        if steps(y[k], got[k]) > 1 then
          error(("%s(%.17g): %.17g expected, got %.17g"):format(name, x[k], y[k], got[k]))
        end
      end
      for _, dtype in ipairs { "f32", "f16", "bf16" } do
        -- arguments that the narrow type has: powers of two and small whole numbers are in the table
        for k = 1, #rows do
          if model.round[dtype](x[k]) == x[k] then
            S.same(model.round[dtype](y[k]), gr[name](gr.array({ x[k] }, dtype))[1], name, dtype, x[k])
          end
        end
      end
    end)
  end

  it("knows the ends", function()
    for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
      S.same_all({ 1, 1, huge, 0, nan }, gr.exp(gr.array({ 0, NZ, huge, -huge, nan }, dtype)), "exp", dtype)
      S.same_all({ -huge, -huge, 0, huge, nan, nan, nan },
        gr.log(gr.array({ 0, NZ, 1, huge, -1, -huge, nan }, dtype)), "log", dtype)
      S.same_all({ 0, NZ, 1, -1, 1, nan }, gr.tanh(gr.array({ 0, NZ, huge, -huge, 100, nan }, dtype)), "tanh", dtype)
    end
    S.same_all({ huge, 0, 0 }, gr.exp(gr.array({ 1000, -1000, -800 }, "f64")))
    S.same_all({ huge, 0 }, gr.exp(gr.array({ 89, -104 }, "f32")))
    S.same_all({ huge, 0 }, gr.exp(gr.array({ 12, -20 }, "f16")))
  end)

  it("of integers are f64", function()
    for _, dtype in ipairs { "u8", "i8", "u16", "i16", "u32", "i32", "i64" } do
      local a = gr.array({ 0, 1, 2, 10 }, dtype)
      local wide = a:cast "f64"
      assert.is_true(a:exp():equal(wide:exp()))
      assert.is_true(a:log():equal(wide:log()))
      assert.is_true(a:tanh():equal(wide:tanh()))
      assert.is_true(a:sqrt():equal(wide:sqrt()))
    end
  end)
end)

-- ---- clamp and cast ----

describe("clamp", function()
  it("keeps what is inside, and NaN", function()
    for _, dtype in ipairs(model.dtypes) do
      local n = 90
      local t = data(dtype, n, 12)
      local low, high = 2, model.is_float[dtype] and 60.5 or 60
      local a = gr.array(t, dtype)
      S.same_all(each(n, function(k) return t[k] < low and low or t[k] > high and high or t[k] end), a:clamp(low, high),
        dtype)
      S.same_all(each(n, function(k) return t[k] < low and low or t[k] end), a:clamp(low), dtype, "from below")
      S.same_all(each(n, function(k) return t[k] > high and high or t[k] end), a:clamp(nil, high), dtype, "from above")
    end
  end)

  it("takes arrays, rows, columns and expressions as ends", function()
    S.on_each(function()
      for _, dtype in ipairs(model.dtypes) do
        local n = 90
        local t, l, h = data(dtype, n, 12), data(dtype, n, 13), data(dtype, n, 14)
        local a, low, high = gr.array(t, dtype), gr.array(l, dtype), gr.array(h, dtype)
        local function between(x, y, z)
          if x < y then return y end
          return x > z and z or x
        end
        local function check_all(f, got, ...)
          S.same_all(each(n, function(k) return f(k) end), got, dtype, ...)
        end
        check_all(function(k) return between(t[k], l[k], h[k]) end, a:clamp(low, high), "two arrays")
        check_all(function(k) return between(t[k], l[k], 60) end, a:clamp(low, 60), "array and number")
        check_all(function(k) return between(t[k], 2, h[k]) end, gr.clamp(a, 2, high), "number and array")
        check_all(function(k) return t[k] < l[k] and l[k] or t[k] end, a:clamp(low), "low alone")
        check_all(function(k) return t[k] > h[k] and h[k] or t[k] end, a:clamp(nil, high), "high alone")
        check_all(function(k) return between(t[k], l[k], h[k]) end, gr.lazy(a):clamp(low, high):eval(), "lazy")
        check_all(function(k) return between(t[k], l[k], 60) end, gr.fuse "clamp(a, b, 60)" { a = a, b = low }:eval(),
          "text")
        check_all(function(k) return t[k] > 60 and 60 or t[k] end, gr.lazy(a):clamp(nil, 60):eval(), "lazy, high alone")
        local into = gr.zeros(n, dtype)
        assert.equal(into, a:clamp(low, { into = into }))
        check_all(function(k) return t[k] < l[k] and l[k] or t[k] end, into, "into")
        local X = a:matrix(9):clamp(low:slice(1, 10), gr.column(high:slice(1, 9)))
        assert.same({ 9, 10 }, X.shape)
        check_all(function(k) return between(t[k], l[(k - 1) % 10 + 1], h[math.floor((k - 1) / 10) + 1]) end, X:slice(),
          "row and column")
      end
    end)
  end)
end)

-- ---- where it is done ----

describe("element operators", function()
  it("work on long arrays, in pieces", function()
    local n = 300001
    for _, dtype in ipairs { "f64", "i32", "f32" } do
      local a = gr.arange(1, n, dtype)
      assert.is_true((a + 1):equal(gr.arange(2, n + 1, dtype)))
      assert.is_true((n + 1 - a):equal(gr.arange(n, 1, -1, dtype)))
      assert.is_true((a - a:slice(n, 1, -1)):equal(gr.arange(1 - n, n - 1, 2, dtype)))
      assert.equal(n - 1000, a:count { op = ">", value = 1000 })
      assert.is_true(a:cast("i64"):equal(gr.arange(1, n, "i64")))
      assert.is_true(gr.where(a:compare("<=", n), a, 0):equal(a))
      a:mul(2, { into = a })
      assert.is_true(a:equal(gr.arange(2, 2 * n, 2, dtype)))
    end
  end)

  it("are one launch, and nothing is copied or waited for", function()
    S.on("pretend", function()
      local a, b, mask = gr.rand(1000), gr.rand(1000), gr.ones(1000, "u8")
      mask:fill(1)
      for name, f in pairs {
        add = function() return a + b end, number = function() return 2 / a end, exp = function() return a:exp() end,
        clamp = function() return a:clamp(0, 1) end, cast = function() return a:cast "f16" end,
        compare = function() return a:compare("<", b) end, where = function() return gr.where(mask, a, 0) end,
      } do
        local c = S.counted(f)
        S.same(1, c.launches, name, "launches")
        S.same(0, c.copies + c.syncs, name, "copies and waits")
      end
      S.same(1, S.counted(function() return a:count { op = ">", value = 0.5 } end).syncs, "waits of count")
    end)
  end)

  it("with 'into' allocate nothing after the first turn", function()
    for _, device in ipairs { gr.backend(), "pretend" } do
      S.on(device, function()
        local x, v, y = gr.rand(5000), gr.rand(5000), gr.zeros(5000)
        local mask, whole = gr.zeros(5000, "u8"), gr.zeros(5000, "i32")
        local function turn()
          v:mul(0.99, { into = v })
          x:add(v, { into = x })
          x:neg { into = y }
          y:abs { into = y }
          y:sqrt { into = y }
          y:exp { into = y }
          y:clamp(0, 1, { into = y })
          y:cast("i32", { into = whole })
          x:compare(">", 1, { into = mask })
          gr.where(mask, 0, x, { into = x })
          x:compact(mask, { into = y })
        end
        turn()
        local c = S.counted(function() for _ = 1, 20 do turn() end end)
        S.same(0, c.allocations, "allocations on", device)
      end)
    end
  end)
end)

-- ---- mistakes ----

local rows = {
  { "gr.add(1, 2)", "bad argument #1 to 'add' (gpureduce.array expected, got number)" },
  { "return a + 'x'", "bad argument #2 to 'add' (gpureduce.array expected, got string)" },
  { "return {} - a", "bad argument #1 to 'sub' (gpureduce.array expected, got table" },
  { "return a * d", "bad argument #2 to 'mul' (dtype f32 expected, got f64: write a:cast \"f64\")" },
  { "return a / b", "bad argument #2 to 'div' (length 10 expected, got 9)" },
  { "return u + 256", "bad argument #2 to 'add' (value 256 does not fit u8 (0 to 255))" },
  { "return 0.5 * u", "bad argument #1 to 'mul' (value 0.5 is not a whole number, as u8 needs)" },
  { "return a + 1e39", "bad argument #2 to 'add' (value 1e+39 does not fit f32)" },
  { "a:add(1, { inot = a })", "bad argument #3 to 'add' (unknown option 'inot' (did you mean 'into'?))" },
  { "a:add(1, { into = d })", "bad argument #3 to 'add' (option 'into': f32[10] expected, got f64[10])" },
  { "a:add(1, { into = b })", "bad argument #3 to 'add' (option 'into': f32[10] expected, got f32[9])" },
  { "u:div(2, { into = u })", "bad argument #3 to 'div' (option 'into': f64[10] expected, got u8[10])" },
  { "a:slice(1, 5):add(1, { into = a:slice(2, 6) })", "bad argument #3 to 'add' (option 'into': overlaps the input)" },
  { "gr.sub(z, a:slice(1, 5), { into = a:slice(5, 1, -1) })",
    "bad argument #3 to 'sub' (option 'into': overlaps the input)" },
  { "a:neg(3)", "bad argument #2 to 'neg' (options table expected, got number)" },
  { "gr.abs(3)", "bad argument #1 to 'abs' (gpureduce.array expected, got number)" },
  { "gr.square()", "bad argument #1 to 'square' (" },
  { "a:sqrt({ into = u })", "bad argument #2 to 'sqrt' (option 'into': f32[10] expected, got u8[10])" },
  { "a:exp({ x = 1 })", "bad argument #2 to 'exp' (unknown option 'x')" },
  { "a:tanh({ into = u })", "bad argument #2 to 'tanh' (option 'into': f32[10] expected, got u8[10])" },
  { "a:log({ into = 1 })", "bad argument #2 to 'log' (option 'into': gpureduce.array expected, got number)" },
  { "return -released", "bad argument #1 to 'neg' (array has been released)" },
  { "a:clamp('x', 2)", "bad argument #2 to 'clamp' (number expected, got string)" },
  { "a:clamp(3, 2)", "bad argument #3 to 'clamp' (upper end of 3 or more expected, got 2)" },
  { "a:clamp(0, nan)", "bad argument #3 to 'clamp' (number expected, got nan)" },
  { "a:clamp(a, u)", "bad argument #2 to 'clamp' (f32 and u8 do not mix: write f32(...) or u8(...))" },
  { "a:clamp(gr.zeros(11), 3)", "bad argument #2 to 'clamp' (length 10 expected, got 11)" },
  { "a:clamp(a, 3, 4)", "bad argument #4 to 'clamp' (options table expected, got number)" },
  { "u:clamp(-1, 3)", "bad argument #2 to 'clamp' (value -1 does not fit u8 (0 to 255))" },
  { "a:cast()", "bad argument #2 to 'cast' (dtype name expected, got no value)" },
  { "a:cast('f23')", "bad argument #2 to 'cast' (unknown dtype 'f23' (did you mean 'f32'?))" },
  { "a:compare('=', 1)", "bad argument #2 to 'compare' ('<', '<=', '==', '~=', '>=' or '>' expected, got '=')" },
  { "a:compare(1, 1)", "bad argument #2 to 'compare' (comparison such as '<' expected, got number)" },
  { "a:compare('<')", "bad argument #3 to 'compare' (gpureduce.array expected, got no value)" },
  { "a:compare('<', d)", "bad argument #3 to 'compare' (dtype f32 expected, got f64: write a:cast \"f64\")" },
  { "a:count { op = '<' }", "bad argument #2 to 'count' (option 'op': only together with 'value')" },
  { "a:any { value = 3 }", "bad argument #2 to 'any' (option 'value': only together with 'op')" },
  { "a:all { op = '=>', value = 3 }",
    "bad argument #2 to 'all' (option 'op': '<', '<=', '==', '~=', '>=' or '>' expected, got '=>')" },
  { "a:count { op = '<', value = 'x' }", "bad argument #2 to 'count' (option 'value': number expected, got string)" },
  { "a:sum { op = '<', value = 1 }", "bad argument #2 to 'sum' (unknown option " },
  { "gr.where(a, 1, 2)", "bad argument #1 to 'where' (mask of dtype u8 expected, got f32)" },
  { "gr.where(u, a, d)", "bad argument #3 to 'where' (dtype f32 expected, got f64: write a:cast \"f64\")" },
  { "gr.where(u, b, 1)", "bad argument #2 to 'where' (length 10 expected, got 9)" },
  { "gr.where(u, 1, b)", "bad argument #3 to 'where' (length 10 expected, got 9)" },
  { "gr.where(u, 1)", "bad argument #3 to 'where' (gpureduce.array expected, got no value)" },
  { "gr.where(u, 1, a, { into = d })", "bad argument #4 to 'where' (option 'into': f32[10] expected, got f64[10])" },
  { "a:compact(a)", "bad argument #2 to 'compact' (mask of dtype u8 expected, got f32)" },
  { "b:compact(u)", "bad argument #2 to 'compact' (length 9 expected, got 10)" },
  { "a:compact(u, { into = d })", "bad argument #3 to 'compact' (option 'into': dtype f32 expected, got f64)" },
  { "a:compact(u, { into = z })",
    "bad argument #3 to 'compact' (option 'into': room for 10 elements expected, got 5)" },
  { "a:compact(u, { into = a:slice(1, 9) })", "bad argument #3 to 'compact' (option 'into': overlaps the input)" },
  { "u:compact(u, { into = u })", "bad argument #3 to 'compact' (option 'into': overlaps the mask)" },
}

describe("mistakes", function()
  for _, row in ipairs(rows) do
    it(row[1], function()
      local environment = {
        gr = gr, nan = nan, a = gr.ones(10), b = gr.ones(9), d = gr.ones(10, "f64"), u = gr.ones(10, "u8"),
        z = gr.zeros(5), released = gr.zeros(10),
      }
      environment.released:release()
      local f = S.load_in(row[1], environment)
      local message = S.message(f)
      if not message then error("no error was raised", 0) end
      assert.equal(row[2], message:gsub("%-nan", "nan"):sub(1, #row[2]))
      S.same(10, environment.a:sum(), "what a holds afterwards")
      S.same(10, environment.u:sum(), "what u holds afterwards")
    end)
  end

  it("arrays on two devices", function()
    local here, there = gr.ones(10), nil
    S.on("pretend", function() there = gr.ones(10) end)
    assert.matches("bad argument #2 to 'add' %(array on device '.-' expected, got one on 'pretend'",
      S.message(gr.add, here, there))
    assert.matches("bad argument #3 to 'add' %(array on device", S.message(gr.add, here, 1, { into = there }))
    S.on("pretend", function() there = gr.ones(10, "u8") end)
    assert.matches("bad argument #2 to 'where'", S.message(gr.where, there, here, 1))
    assert.matches("bad argument #2 to 'compact'", S.message(gr.compact, here, there))
  end)
end)
