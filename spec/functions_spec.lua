-- Functions of elements: values against references of 60 digits and more, edges as C's Annex F has them, integers with
-- Lua's signs, and the same bits under every instruction set. How far they are off at most: spec/functions.
local S = require "spec.support"
local E = require "spec.elements"
local gr, model = S.gr, S.model
local nan, huge, NZ = model.nan, math.huge, model.minus_zero

-- x, and what is nearest to the function's value.
local references = {
  ["exp"] = {
    { -369.53267436759165, 3.2658680886020407e-161 }, { -555.5675520769979, 5.2490149349536e-242 },
    { -145.5184603450466, 6.340677389885872e-64 }, { -483.0388208766256, 1.655409900405608e-210 },
    { 1e-10, 1.0000000001 }, { 709.5, 1.3549863193146328e+308 },
  },
  ["exp2"] = {
    { -884.3092048136366, 6.2575439610128536e-267 }, { -200.75433045044736, 3.6891369275049405e-61 },
    { 852.6282878989466, 4.641836179656015e+256 }, { 612.9227970514494, 3.222158788804176e+184 },
    { 0.5, 1.4142135623730951 }, { -1073.5, 5e-324 },
  },
  ["expm1"] = {
    { 526.2203258540244, 3.424394443901075e+228 }, { 124.22685001083505, 8.933784328881003e+53 },
    { 357.143206049362, 1.2744524498666875e+155 }, { 164.74515614667317, 3.5311180332382476e+71 },
    { 1e-12, 1.0000000000005e-12 }, { -0.001, -0.0009995001666250085 }, { 0.3, 0.3498588075760031 },
    { 709.5, 1.3549863193146328e+308 },
  },
  ["log"] = {
    { 8.306308482906353, 2.1170152842860963 }, { 8.085858232353003, 2.090116638583187 },
    { 8.024433601575366, 2.0824910872823024 }, { 1.7266452928536892e+299, 689.0191231940902 },
    { 1.0618329243153014e+299, 688.5329393939261 }, { 2.1440043257891652e+299, 689.2356180660518 },
    { 9.274756314280605e+299, 690.7002391399751 }, { 5e-324, -744.4400719213812 },
    { 0.999999, -1.000000500029089e-06 },
  },
  ["log2"] = {
    { 0.79015342702886, -0.3397952809365314 }, { 0.9647749359493034, -0.051735667180190695 },
    { 1.4404634036196953, 0.5265330078861489 }, { 1.597842063318077, 0.6761248139427312 },
    { 1.0000001, 1.4426949695965583e-07 }, { 3.0, 1.584962500721156 },
  },
  ["log10"] = {
    { 854648.3725265114, 5.931787469954161 }, { 880050.7633561243, 5.944507723979255 },
    { 86718.34396309657, 4.9381109756685255 }, { 605851.9231346914, 5.782366490793729 },
    { 0.99999, -4.342966533881614e-06 }, { 1000.0, 3.0 },
  },
  ["log1p"] = {
    { 1.6900888115007284, 0.9895742084965305 }, { 1.0287555650845575, 0.707422582952973 },
    { -0.2806172047792699, -0.32936166346290324 }, { 0.8996156714647292, 0.6416515875349469 },
    { 1e-15, 9.999999999999995e-16 }, { -1e-07, -1.0000000500000033e-07 }, { 1e+17, 39.14394658089878 },
  },
  ["sin"] = {
    { -821307.5854692194, -0.8510812395098104 }, { 869176.727799816, -0.9898906182302889 },
    { 730968.3403701666, 0.9873056259913654 }, { 95277.73917410779, -0.4642821721743835 }, { 1e-200, 1e-200 },
    { 1e+22, -0.8522008497671888 }, { 5.319372648326541e+255, 1.0 },
    { 1.7976931348623157e+308, 0.004961954789184062 },
  },
  ["cos"] = {
    { -11.98525562560052, 0.8358510895676976 }, { 24.532217364881184, 0.8250397059006765 },
    { 4.342008101153489, -0.361970509849406 }, { 22.9390343927274, -0.5834014969342974 },
    { 1e+22, 0.523214785395139 }, { 5.319372648326541e+255, -4.687165924254628e-19 },
    { 1.5707963267948966, 6.123233995736766e-17 },
  },
  ["tan"] = {
    { 1392176352.8945384, 5.037703899531307 }, { 33489501.33100629, 2.074548079992239 },
    { -344215827.47307205, 0.4492013315104669 }, { 395649888.7599578, 0.19014687151335996 },
    { 1e+22, -1.6287782256068988 }, { 1.5707963267948966, 1.633123935319537e+16 },
    { -0.7853981633974483, -0.9999999999999999 }, { 1e+300, 1.4214488238747245 },
  },
  ["asin"] = {
    { -0.13791396541338585, -0.1383549436129895 }, { -0.677358787756783, -0.7441663756176764 },
    { -0.389776807134522, -0.4003892188834506 }, { 0.6251846372692413, 0.6753680803394118 },
    { 0.5, 0.5235987755982989 }, { 0.9999999, 1.5703491131957876 }, { 1e-09, 1e-09 },
  },
  ["acos"] = {
    { -0.913523061855503, 2.7226585743826117 }, { -0.9073560019929747, 2.707747262693856 },
    { 0.2527014910798069, 1.3153249743260904 }, { -0.4391335767675626, 2.025430389042929 },
    { 0.5, 1.0471975511965979 }, { 0.9999999, 0.00044721359910904126 }, { -0.5000001, 2.0943952178632532 },
  },
  ["atan"] = {
    { 0.3462179487942221, 0.3333015435505224 }, { -0.2875991388500694, -0.28004139012883106 },
    { -1.5715673457784396, -1.0041071064228335 }, { 4.972788741721123, 1.3723486749459988 },
    { 0.41421356237309503, 0.39269908169872414 }, { 2.414213562373095, 1.1780972450961724 },
    { 10000000000.0, 1.5707963266948965 }, { 1.0, 0.7853981633974483 },
  },
  ["sinh"] = {
    { -18.265590340001076, -42816887.88336029 }, { -5.232320615560496, -93.61072002162396 },
    { -17.83976302965622, -27969238.77654891 }, { 7.959898907461145, 1431.8915407731513 }, { 1e-09, 1e-09 },
    { -0.001, -0.001000000166666675 }, { 0.7, 0.7585837018395335 }, { 710.0, 1.1169973830808555e+308 },
  },
  ["cosh"] = {
    { -13.42170990241901, 337244.2491916349 }, { -8.650154723558877, 2855.515235714915 },
    { 14.816560859427753, 1360569.1718402284 }, { -10.759865805015483, 23546.17403544693 },
    { 1e-05, 1.00000000005 }, { 0.3, 1.0453385141288605 }, { 710.0, 1.1169973830808555e+308 },
  },
  ["tanh"] = {
    { 0.5852898358339207, 0.5264995562450596 }, { 4.043151015306577, 0.9993847381007271 },
    { -3.9902056128214047, -0.9993160365553707 }, { -4.383897579598242, -0.9996887156120591 }, { 1e-08, 1e-08 },
    { 0.5, 0.46211715726000974 }, { 0.55, 0.5005202111902353 }, { -1.0, -0.7615941559557649 },
    { 19.0, 0.9999999999999999 },
  },
  ["rsqrt"] = {
    { 228869440.23876476, 6.610070572842757e-05 }, { 765162241.3262758, 3.6151243025545014e-05 },
    { 615432075.1286972, 4.0309734386097605e-05 }, { 237417169.8253259, 6.489988663700176e-05 },
    { 4e-320, 5.0000278322756814e+159 }, { 1e+308, 1e-154 }, { 3.0, 0.5773502691896257 },
  },
  ["cbrt"] = {
    { -337866009.25653064, -696.4899177418079 }, { -644920613.006886, -863.9768105982505 },
    { -81962495.6596483, -434.3819039592081 }, { -914377624.4359608, -970.6035229665985 },
    { 5e-324, 1.7031839360032603e-108 }, { 0.1, 0.4641588833612779 }, { 1e+300, 1e+100 },
    { 2.0, 1.2599210498948732 },
  },
}
local pairs_of = {
  ["pow"] = {
    { 2.5, 3.7, 29.67413253642086 }, { 0.3, -20.25, 38752041979.40988 }, { -3.0, 5.0, -243.0 },
    { 1.0000001, 10000000.0, 2.7182816941320818 }, { 10.0, -300.5, 3.1622776601683794e-301 },
    { 7.0, -3.0, 0.0029154518950437317 }, { 1e-200, 1.5, 1e-300 },
  },
  ["atan2"] = {
    { 1.0, 2.0, 0.4636476090008061 }, { -1.0, -2.0, -2.677945044588987 }, { 3.0, -1e-09, 1.57079632712823 },
    { 1e-300, 1e+300, 0.0 }, { 1e+300, 1e-300, 1.5707963267948966 }, { 5e-324, -1.0, 3.141592653589793 },
    { 0.7, 0.71, 0.7783060837231286 }, { -1e+308, 1e+308, -0.7853981633974483 },
  },
  ["hypot"] = {
    { 3e+200, 4e+200, 4.9999999999999995e+200 }, { 1e-200, 1e-201, 1.004987562112089e-200 },
    { 5e-324, 5e-324, 5e-324 }, { 1.0, 1e-09, 1.0 }, { 0.1, 0.2, 0.223606797749979 },
  },
}

-- The distance in units of the last place of y.
local function steps(x, y)
  if x == y then return 0 end
  local _, e = model.split(math.max(math.abs(x), math.abs(y)))
  return math.abs(x - y) / 2.0 ^ math.max(e - 53, -1074)
end

local floats = { "f16", "bf16", "f32", "f64" }
local whole = { "u8", "i8", "u16", "i16", "u32", "i32", "i64" }
local function sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

describe("functions of elements", function()
  for _, name in ipairs(sorted(references)) do
    it(name .. " is within one step of the reference", function()
      local x = {}
      for k, row in ipairs(references[name]) do x[k] = row[1] end
      local got = gr[name](gr.array(x, "f64"))
      for k, row in ipairs(references[name]) do
        if steps(row[2], got[k]) > 1 then error(("%s(%.17g): %.17g expected, got %.17g"):format(name, x[k], row[2],
          got[k])) end
        S.same(got[k], gr[name](gr.array({ x[k] }, "f64"))[1], name, "alone", x[k]) -- no element needs the others
      end
    end)

    it(name .. " of the model is near the reference", function()
      for _, row in ipairs(references[name]) do
        local y = E.near[name](row[1])
        assert(y == row[2] or math.abs(y - row[2]) <= 1e-9 * math.abs(row[2]), row[1])
      end
    end)

    it(name .. " of narrower types is within one step of f64's", function()
      local x = {}
      for k, row in ipairs(references[name]) do x[k] = model.round.f32(row[1]) end
      local narrow = gr.array(x, "f32")
      local got, wide = narrow[name](narrow), gr[name](narrow:cast "f64")
      for k = 1, #x do
        local y = wide[k]
        if math.abs(y) < 2 ^ 127 then
          local _, e = model.split(math.abs(y))
          assert(y == got[k] or math.abs(got[k] - y) <= 2.0 ^ math.max(e - 24, -149), name .. x[k])
        end
        for _, dtype in ipairs { "f16", "bf16" } do -- f32's result, rounded once more
          local z = model.round[dtype](x[k])
          S.same(model.round[dtype](gr[name](gr.array({ z }, "f32"))[1]), gr[name](gr.array({ z }, dtype))[1], name,
            dtype)
        end
      end
    end)
  end

  for _, name in ipairs(sorted(pairs_of)) do
    it(name .. " is within a step or two of the reference", function()
      for _, row in ipairs(pairs_of[name]) do
        local got = gr[name](gr.array({ row[1] }, "f64"), row[2])[1]
        if steps(row[3], got) > (name == "pow" and 2 or 1) then error(("%s(%.17g, %.17g): %.17g"):format(name, row[1],
          row[2], got)) end
        S.same(got, gr[name](row[1], gr.array({ row[2] }, "f64"))[1])
      end
    end)
  end

  it("know the ends", function()
    local ends = {
      exp = { { 0, 1 }, { NZ, 1 }, { huge, huge }, { -huge, 0 } }, exp2 = { { NZ, 1 }, { 3, 8 }, { huge, huge },
        { -huge, 0 } },
      expm1 = { { NZ, NZ }, { huge, huge }, { -huge, -1 } }, log = { { NZ, -huge }, { 1, 0 }, { -1, nan }, { huge,
        huge } },
      log2 = { { NZ, -huge }, { 0.125, -3 }, { -huge, nan } }, log10 = { { 0, -huge }, { 100, 2 }, { -1, nan },
        { huge, huge } },
      log1p = { { NZ, NZ }, { -1, -huge }, { -2, nan }, { huge, huge } }, sin = { { NZ, NZ }, { huge, nan }, { -huge,
        nan } },
      cos = { { NZ, 1 }, { huge, nan } }, tan = { { NZ, NZ }, { -huge, nan } }, asin = { { NZ, NZ }, { 2, nan },
        { -huge, nan } },
      acos = { { 1, 0 }, { -2, nan }, { huge, nan } }, atan = { { NZ, NZ } }, sinh = { { NZ, NZ }, { huge, huge },
        { -huge, -huge } },
      cosh = { { NZ, 1 }, { -huge, huge } }, tanh = { { NZ, NZ }, { huge, 1 }, { -huge, -1 } },
      rsqrt = { { 0, huge }, { NZ, -huge }, { 4, 0.5 }, { huge, 0 }, { -1, nan } },
      cbrt = { { NZ, NZ }, { -8, -2 }, { -huge, -huge } }, sign = { { NZ, NZ }, { 0, 0 }, { -3, -1 }, { huge, 1 } },
      floor = { { NZ, NZ }, { -0.5, -1 }, { 0.5, 0 }, { -huge, -huge } }, ceil = { { -0.5, NZ }, { 0.5, 1 }, { huge,
        huge } },
      round = { { 0.5, 0 }, { -0.5, NZ }, { 1.5, 2 }, { 2.5, 2 }, { -3.5, -4 }, { huge, huge } },
      trunc = { { -0.5, NZ }, { 1.75, 1 }, { -1.75, -1 }, { huge, huge } },
    }
    for name, rows in pairs(ends) do
      for _, dtype in ipairs(floats) do
        for _, row in ipairs(rows) do S.same(row[2], gr[name](gr.array({ row[1] }, dtype))[1], name, dtype, row[1]) end
        S.same(nan, gr[name](gr.array({ nan }, dtype))[1], name, dtype)
      end
    end
  end)

  it("of two know them, too", function()
    local ends = {
      pow = { { nan, 0, 1 }, { 1, nan, 1 }, { -1, huge, 1 }, { -8, 1 / 3, nan }, { NZ, -3, -huge }, { NZ, -2, huge },
        { NZ, 3, NZ },
        { -huge, 3, -huge }, { -huge, 0.5, huge }, { NZ, 0.5, 0 }, { 0.5, -huge, huge }, { 2, -huge, 0 }, { -2, 3,
          -8 }, { 2, nan, nan } },
      atan2 = { { NZ, 1, NZ }, { huge, 1, model.round.f64(math.pi / 2) }, { 0, 0, 0 }, { NZ, 0, NZ }, { nan, 1, nan } },
      hypot = { { huge, nan, huge }, { nan, -huge, huge }, { NZ, 0, 0 }, { 3, -4, 5 }, { nan, 1, nan } },
      mod = { { 5, 3, 2 }, { -5, 3, 1 }, { 5, -3, -1 }, { -5, -3, -2 }, { 1, 0, nan }, { huge, 2, nan }, { 5, huge,
        5 }, { NZ, 3, NZ },
        { -6, 3, NZ }, { -5, huge, huge } },
      fmod = { { 5, 3, 2 }, { -5, 3, -2 }, { 5, -3, 2 }, { 1, 0, nan }, { huge, 2, nan }, { -5, huge, -5 }, { -6, 3,
        NZ } },
      floordiv = { { 5, 3, 1 }, { -5, 3, -2 }, { 1, 0, huge }, { 0, 0, nan }, { NZ, 3, NZ } },
      minimum = { { 1, 2, 1 }, { 0, NZ, NZ }, { NZ, 0, NZ }, { nan, 1, nan }, { 1, nan, nan }, { -huge, 1, -huge } },
      maximum = { { 1, 2, 2 }, { 0, NZ, 0 }, { NZ, 0, 0 }, { nan, 1, nan }, { 1, nan, nan }, { huge, 1, huge } },
    }
    for name, rows in pairs(ends) do
      for _, row in ipairs(rows) do
        S.same(row[3], gr[name](gr.array({ row[1] }, "f64"), gr.array({ row[2] }, "f64"))[1], name, row[1], row[2])
        local y = model.round.f32(row[2])
        S.same(model.round.f32(row[3]), gr[name](gr.array({ row[1] }, "f32"), gr.array({ y }, "f32"))[1], name,
          row[1], row[2])
      end
    end
  end)

  it("remainders are exact for any quotient", function()
    S.same_all({ 0, 4, 1, 0 }, gr.fmod(gr.array({ 1e308, 2.0 ^ 60 + 2.0 ^ 11, 2.0 ^ 1020, 3 }, "f64"),
      gr.array({ 0.5, 5, 3, 5e-324 }, "f64")))
    S.same(2, gr.mod(gr.array({ 2.0 ^ 100 }, "f64"), 7)[1]) -- 2^100 = 2^(3 * 33 + 1)
    S.same(-5, gr.mod(gr.array({ 2.0 ^ 100 }, "f32"), -7)[1])
  end)

  it("powers that products and roots give are those", function()
    local t, g = {}, model.generator(5)
    for k = 1, 300 do t[k] = (g() % 2000001 - 1000000) / 4096 end
    for _, dtype in ipairs { "f32", "f64" } do
      local a = gr.array(t, dtype)
      assert.is_true((a ^ 1):equal(a))
      assert.is_true((a ^ 2):equal(a * a))
      assert.is_true((a ^ 3):equal(a * a * a))
      assert.is_true((a ^ 4):equal((a * a) * (a * a)))
      assert.is_true((a ^ -1):equal(1 / a))
      assert.is_true((a ^ 0.5):equal(a:sqrt()))
    end
  end)

  it("of integers are f64", function()
    for _, dtype in ipairs(whole) do
      local a = gr.array({ 0, 1, 2, 100 }, dtype)
      for name in pairs(references) do assert.is_true(a[name](a):equal(gr[name](a:cast "f64")), name) end
      for name in pairs(pairs_of) do assert.is_true(a[name](a, 3):equal(gr[name](a:cast "f64", 3)), name) end
      for _, name in ipairs { "floor", "ceil", "round", "trunc" } do assert.is_true(a[name](a):equal(a), name) end
    end
  end)

  it("integers divide with Lua's signs, and by 0 give 0", function()
    for _, dtype in ipairs { "i8", "i16", "i32", "i64" } do
      local low = model.lowest[dtype]
      local x = gr.array({ 7, -7, 7, -7, 5, low, low, -6 }, dtype)
      local y = gr.array({ 3, 3, -3, -3, 0, -1, 0, 3 }, dtype)
      S.same_all({ 2, -3, -3, 2, 0, low, 0, -2 }, gr.floordiv(x, y), dtype)
      S.same_all({ 1, 2, -2, -1, 0, 0, 0, 0 }, x % y, dtype)
      S.same_all({ 1, -1, 1, -1, 0, 0, 0, 0 }, gr.fmod(x, y), dtype)
      S.same_all({ 1, -1, 1, -1, 1, -1, -1, -1 }, x:sign(), dtype)
      S.same_all({ 3, -7, -3, -7, 0, low, low, -6 }, x:minimum(y), dtype)
      S.same_all({ 7, 3, 7, -3, 5, -1, 0, 3 }, x:maximum(y), dtype)
    end
    S.same_all({ 2, 0, 85 }, gr.floordiv(gr.array({ 7, 2, 255 }, "u8"), 3))
  end)

  it("bits: band, bor, bxor, bnot, shl and shr are Lua's, in the width of the dtype", function()
    local a, b = gr.array({ 12, -1, -128 }, "i8"), gr.array({ 10, 6, 3 }, "i8")
    S.same_all({ 8, 6, 0 }, gr.band(a, b))
    S.same_all({ 14, -1, -125 }, gr.bor(a, b))
    S.same_all({ 6, -7, -125 }, gr.bxor(a, b))
    S.same_all({ -13, 0, 127 }, gr.bnot(a))
    S.same_all({ 48, -4, 0 }, gr.shl(a, 2))
    S.same_all({ 3, 63, 32 }, gr.shr(a, 2))
    S.same_all({ 3, 63, 32 }, gr.shl(a, -2))
    for _, dtype in ipairs(whole) do
      local width = 8 * #gr.array({ 1 }, dtype):bytes()
      local one = gr.array({ 1, 1, 1 }, dtype)
      S.same_all({ 0, 0, 2 }, gr.shl(one, gr.array({ width, width + 1, 1 }, dtype)), dtype)
      S.same_all({ 0, 0, 1 }, gr.shr(one, gr.array({ width, 1, 0 }, dtype)), dtype)
    end
    assert.equal("bad argument #1 to 'band' (dtype of integers expected, got f32)", S.message(gr.band, gr.array { 1 },
      1))
    assert.equal("bad argument #2 to 'shl' (dtype of integers expected, got f64)", S.message(gr.shl, 1,
      gr.array({ 1 }, "f64")))
    assert.equal("bad argument #1 to 'bnot' (dtype of integers expected, got f16)", S.message(gr.bnot, gr.array({ 1 },
      "f16")))
  end)

  it("say what they want", function()
    local ones, wrong = gr.array({ 1 }, "u8"), 0
    for _, text in ipairs {
      "bad argument #1 to 'rsqrt' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'cbrt' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'exp2' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'expm1' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'log2' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'log10' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'log1p' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'sin' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'cos' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'tan' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'asin' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'acos' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'atan' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'sinh' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'cosh' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'tanh' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'floor' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'ceil' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'round' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'trunc' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'sign' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'isnan' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'isinf' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'isfinite' (gpureduce.array expected, got boolean)",
      "bad argument #1 to 'lnot' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'atan2' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'hypot' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'pow' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'mod' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'fmod' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'floordiv' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'minimum' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'maximum' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'bor' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'bxor' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'shr' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'land' (gpureduce.array expected, got boolean)",
      "bad argument #2 to 'lor' (gpureduce.array expected, got boolean)",
    } do
      local position, name = text:match("^bad argument #(%d) to '(%w+)'")
      assert.equal(text, S.message(gr[name], position == "1" and true or ones, true))
      wrong = wrong + 1
    end
    assert.equal(38, wrong)
  end)

  it("masks: isnan, isinf, isfinite, land, lor and lnot", function()
    for _, dtype in ipairs(floats) do
      local a = gr.array({ nan, huge, -huge, 0, NZ, 3 }, dtype)
      assert.equal("u8", a:isnan().dtype)
      S.same_all({ 1, 0, 0, 0, 0, 0 }, a:isnan(), dtype)
      S.same_all({ 0, 1, 1, 0, 0, 0 }, a:isinf(), dtype)
      S.same_all({ 0, 0, 0, 1, 1, 1 }, a:isfinite(), dtype)
      S.same_all({ 0, 0, 0, 1, 1, 0 }, a:lnot(), dtype)
      S.same_all({ 1, 1, 1, 0, 0, 1 }, a:land(2), dtype)
      S.same_all({ 1, 1, 1, 0, 0, 1 }, gr.lor(0, a), dtype)
    end
    for _, dtype in ipairs(whole) do
      local a = gr.array({ 0, 5 }, dtype)
      S.same_all({ 0, 0 }, a:isnan(), dtype)
      S.same_all({ 1, 1 }, a:isfinite(), dtype)
      S.same_all({ 1, 0 }, a:lnot(), dtype)
      S.same_all({ 0, 1 }, a:land(a), dtype)
      S.same_all({ 1, 1 }, a:lor(1), dtype)
    end
  end)

  it("operators: % and ^, and where Lua has them // & | ~ << >>", function()
    local a = gr.array({ 7, -7 }, "i32")
    S.same_all({ 1, 2 }, a % 3)
    S.same_all({ 2, -5 }, 16 % a)
    S.same_all({ 49, 49 }, a ^ 2)
    S.same_all({ 0.5, 0.25 }, 0.5 ^ gr.array({ 1, 2 }, "f64"))
    local load = loadstring or load -- luacheck: ignore
    local f = load("local a, b = ...; return a // 3, a & 3, a | 8, a ~ 1, a << 1, b >> 1, ~a")
    if not f then return end -- Lua 5.1 and 5.2
    local r = { f(a, gr.array({ 7 }, "i32")) }
    S.same_all({ 2, -3 }, r[1])
    S.same_all({ 3, 1 }, r[2])
    S.same_all({ 15, -7 }, r[3])
    S.same_all({ 6, -8 }, r[4])
    S.same_all({ 14, -14 }, r[5])
    S.same_all({ 3 }, r[6])
    S.same_all({ -8, 6 }, r[7])
    assert.truthy(S.message(f, gr.array { 1 }, gr.array { 1 }):find("bad argument #1 to 'band'", 1, true))
  end)

  it("take their results into an array, the input too, among elements that need more work", function()
    local t = {}
    for k = 1, 2500 do t[k] = k % 1100 == 0 and 1e300 or k / 7 end
    local a = gr.array(t, "f64")
    local s = gr.sin(a)
    assert.is_true(gr.sin(a, { into = a }):equal(s))
    S.same(gr.sin(gr.array({ 1e300 }, "f64"))[1], s[1100])
    S.same(gr.sin(gr.array({ 3 / 7 }, "f64"))[1], s[3])
  end)

  it("exp and log give an element the same bits whatever stands beside it", function()
    local g = model.generator(21)
    for _, dtype in ipairs { "f32", "f64" } do
      local single = dtype == "f32"
      local small, large = 2.0 ^ (single and -126 or -1022), 2.0 ^ (single and 127 or 1023)
      local t = { 0.0, NZ, huge, -huge, nan, -1, small, small / 2, small / 2 ^ 20, -small, small * 1.5, large,
        large * 1.5, 1, 0.5, 86.99999, 87, 87.00001, 88.7, -87, -87.00001, -87.4, -103, 89, 707.99, 708, 708.01,
        709.7, -708, -708.4, -745, 710, 0.7, 0.71 }
      for _ = 1, 600 do t[#t + 1] = (g() % 2000001 - 1000000) / 1000 * 10.0 ^ -(g() % 4) end
      local x = gr.array(t, dtype)
      for _, name in ipairs { "exp", "log" } do
        local among = gr[name](x)
        for k = 1, #t do
          local alone = gr[name](x:slice(k, k))
          assert.equal(alone:bytes(), among:slice(k, k):bytes(), ("%s %s(%.17g)"):format(dtype, name, t[k]))
        end
      end
    end
  end)

  it("have the same bits under every instruction set", function()
    local script = [[
      local gr, numbers = require "gpureduce", require "spec.numbers"
      local digests, g = {}, numbers.generator(11)
      for _, dtype in ipairs { "f32", "f64", "f16", "i16", "i64" } do
        local bytes = {}
        for k = 1, 1500 * 8 do bytes[k] = string.char(g() % 256) end
        bytes = table.concat(bytes)
        local a, b = gr.frombytes(bytes, dtype):slice(1, 1400), gr.frombytes(bytes:reverse(), dtype):slice(1, 1400)
        local small = a:sub(b):cast("i16"):cast "f64"
        for _, name in ipairs { NAMES } do
          for _, x in ipairs { a, small / 3000 } do
            local ok, r = pcall(gr[name], x, x == a and b or small)
            if ok then digests[#digests + 1] = name .. gr.digest(r) end
          end
        end
      end
      print(#digests .. " " .. gr.digest(gr.frombytes(table.concat(digests), "u8")))]]
    local names = {}
    for _, t in ipairs { references, pairs_of } do for _,
      name in ipairs(sorted(t)) do names[#names + 1] = ("%q"):format(name) end end
    for _, name in ipairs { "floor", "ceil", "round", "trunc", "sign", "mod", "fmod", "floordiv", "minimum",
      "maximum", "band",
      "shl", "shr", "isnan", "isinf", "isfinite", "land", "lor", "lnot", "bor", "bxor", "bnot" } do
      names[#names + 1] = ("%q"):format(name)
    end
    script = script:gsub("NAMES", table.concat(names, ", "))
    local first = S.child_text({ GPUREDUCE_DEVICE = "cpu" }, script)
    assert.truthy(first:match("^%d+ %x+\n$"), first)
    for _, set in ipairs { "generic", "sse2", "avx2", "avx512", "neon" } do
      local text = S.child_text({ GPUREDUCE_CPU = set, GPUREDUCE_DEVICE = "cpu" }, script)
      if not text:find("GPUREDUCE_CPU", 1, true) then assert.equal(first, text, set) end
    end
  end)
end)
