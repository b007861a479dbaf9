local c = ...

local into, into_or_out = { c.into }, { c.single, c.into }
local rounding = "Computed in the input's type and rounded once, to nearest even. NaN results are the one NaN."
local floats = "All. Of integers: f64, each widened first."

local whole = "Integers; the input's."
local masks = "All; the result is of u8."

local function options_of(dtypes) return (dtypes == whole or dtypes == masks) and into or into_or_out end
local function errors_of(dtypes)
  return (dtypes == whole or dtypes == masks) and "" or " `out` where results are not f64."
end

-- An operator of one array.
local function unary(name, text, dtypes, example, output)
  return {
    name = name, text = text, params = { c.a, { "options", "options?", "" } },
    options = options_of(dtypes), returns = { { "array", "as long as the input" } }, dtypes = dtypes,
    errors = "An `into` of another dtype or length, or one that overlaps the input without being it."
      .. errors_of(dtypes),
    cost = "O(n): one pass, one launch.", waits = c.no_wait, example = example, output = output,
  }
end

-- An operator of two, of which one may be a number.
local function binary(name, sign, text, dtypes, example, output)
  return {
    name = name, text = text,
    params = { { "a", "array|number", "" }, { "b", "array|number", "at least one of the two is an array" },
      { "options", "options?", "" } },
    options = options_of(dtypes), returns = { { "array", "as long as the input" } }, dtypes = dtypes,
    shapes = "Two arrays: the same dtype and length, on one device. A number goes with every element, a row or a "
      .. "column with all of a matrix ([Matrices](#matrices)).",
    errors = "Different dtypes or lengths; a number that the dtype has no room for; an `into` of another dtype or "
      .. "length, or one that overlaps an input without being it." .. errors_of(dtypes),
    cost = "O(n): one pass, one launch.", waits = c.no_wait,
    example = example .. ("\nprint((%s):equal(gr.%s(a, b)))"):format("a " .. sign .. " b", name),
    output = output .. "\ntrue",
  }
end

local of_floats = "All; the input's, within 1 ulp (f16 and bf16 are rounded from f32). Of integers: f64, each "
  .. "widened first."
local exact = "All; the input's, exactly."

-- A function of one array, shown with one number of f64.
local function named(name, text, example, output)
  return unary(name, text, of_floats, ("print(gr.array({ %s }, \"f64\"):%s()[1])"):format(example, name), output)
end

-- A function of two.
local function pair_of(name, text, dtypes, example, output)
  local entry = binary(name, "", text, dtypes, "", "")
  entry.example, entry.output = example, output
  return entry
end

local function bits_of(name, b) return ("print(gr.%s(gr.array({ 12 }, \"u8\"), %s)[1])"):format(name, b) end

local pair = "local a, b = gr.array({ 6, 8 }, \"f64\"), gr.array({ 3, 16 }, \"f64\")\n"
local wraps = "All; the input's. Integers wrap in their width, as Lua's do in theirs. " .. rounding

return {
  title = "Element by element",
  text = "Operations that give one element for each element, each of them one launch on the device: data stays there. "
    .. "Between arrays, and between an array and a number, `+ - * / % ^` and unary `-` are the functions `add`, "
      .. "`sub`, `mul`, "
    .. "`div`, `mod`, `pow` and `neg`, and where Lua has them `//`, `& | ~ << >>` and unary `~` are `floordiv`, "
      .. "`band`, `bor`, "
    .. "`bxor`, `shl`, `shr` and `bnot`; written as functions they take `{into=}`, and a loop that uses it "
      .. "allocates nothing. A number in an "
    .. "array's place is rounded to the array's dtype first (integers: it must be one); `/` of integers and "
      .. "comparisons take any "
    .. "number. There are no floating-point warnings: what overflows is infinite, 0 / 0 and its like are NaN, "
      .. "and no call says so.",
  entries = {
    binary("add", "+", "Sum of each pair of elements.", wraps, pair .. "print((a + 1)[1], (a + b)[2])", "7.0\t24.0"),
    binary("sub", "-", "Difference of each pair of elements.", wraps,
      pair .. "print((1 - a)[1], (a - b)[2])", "-5.0\t-8.0"),
    binary("mul", "*", "Product of each pair of elements.", wraps,
      pair .. "print((0.5 * a)[1], (a * b)[2])", "3.0\t128.0"),
    binary("div", "/", "Quotient of each pair of elements.",
      "All; the input's. Of integers f64, both widened first, as in Lua. " .. rounding,
      pair .. "print((1 / b)[2], (a / b)[2])", "0.0625\t0.5"),
    unary("neg", "Each element with the other sign; `-a`.", wraps,
      "print(table.concat((-gr.array({ 1, -2 }, \"i32\")):table(), \" \"))", "-1 2"),
    unary("abs", "The magnitude of each element. Of the lowest integer of a dtype: that integer.", wraps,
      "print(table.concat(gr.array({ 1, -2 }, \"i32\"):abs():table(), \" \"))", "1 2"),
    unary("square", "Each element times itself.", wraps,
      "print(table.concat(gr.array({ 3, -2 }, \"i32\"):square():table(), \" \"))", "9 4"),
    unary("sqrt", "The square root of each element, correctly rounded.", floats,
      "print(gr.array({ 9, 2.25 }):sqrt()[2])", "1.5"),
    named("rsqrt", "1 / sqrt of each element, rounded once. Of 0 infinity with its sign.", "4", "0.5"),
    named("cbrt", "The cube root of each element, of negative ones too.", "-27", "-3.0"),
    named("exp", "e to the power of each element.", "1", "2.718281828459..."),
    named("exp2", "2 to the power of each element; exact for whole ones.", "10", "1024.0"),
    named("expm1", "e to the power of each element, less 1: as exact near 0 as elsewhere.", "1e-10",
      "1.00000000005e-10"),
    named("log", "The natural logarithm of each element. Of 0 minus infinity, of less NaN.", "10", "2.302585092994..."),
    named("log2", "The logarithm to base 2 of each element; exact for powers of 2.", "1024", "10.0"),
    named("log10", "The logarithm to base 10 of each element.", "1000", "3.0"),
    named("log1p", "The natural logarithm of 1 + each element: as exact near 0 as elsewhere.", "1e-10",
      "9.9999999995e-11"),
    named("sin", "The sine of each element, in radians of any size: the angle is reduced exactly.", "1",
      "0.841470984807..."),
    named("cos", "The cosine of each element, in radians of any size.", "1", "0.54030230586814"),
    named("tan", "The tangent of each element, in radians of any size.", "1", "1.557407724654..."),
    named("asin", "The angle from -pi/2 to pi/2 whose sine each element is; beyond -1 and 1 NaN.", "1",
      "1.570796326794..."),
    named("acos", "The angle from 0 to pi whose cosine each element is; beyond -1 and 1 NaN.", "-1",
      "3.141592653589..."),
    named("atan", "The angle from -pi/2 to pi/2 whose tangent each element is.", "1", "0.785398163397..."),
    named("sinh", "The hyperbolic sine of each element.", "1", "1.175201193643..."),
    named("cosh", "The hyperbolic cosine of each element.", "1", "1.543080634815..."),
    named("tanh", "The hyperbolic tangent of each element.", "1", "0.761594155955..."),
    pair_of("atan2", "The angle of the point (b, a): atan(a / b), in the quadrant of both signs, as "
      .. "`math.atan(a, b)`.", of_floats,
      "print(gr.atan2(gr.array({ 1 }, \"f64\"), -1)[1])", "2.356194490192..."),
    pair_of("hypot", "sqrt(a^2 + b^2), without overflow on the way.", of_floats,
      "print(gr.hypot(gr.array({ 3e200 }, \"f64\"), 4e200)[1])", "5e+200"),
    pair_of("pow", "a to the power b; `a ^ b`. What has no value, as (-8)^(1/3), is NaN; x^0 and 1^x are 1 for "
      .. "every x. Powers 2, 3 "
      .. "and 4 are products, -1 is the quotient, 1/2 the root.",
      "All; the input's, within 2 ulp. Of integers f64, both widened first, as in Lua.",
      "local a = gr.array({ 2, 9 }, \"f64\")\nprint((a ^ 2)[2], (a ^ 0.5)[2], (2 ^ a)[1])", "81.0\t3.0\t4.0"),
    pair_of("mod", "The remainder of a / b with the sign of b, as Lua's `%`; exact before the sign is put right. "
      .. "A remainder of 0 "
      .. "keeps the sign of a. By 0: NaN, of integers 0.", wraps,
      "print((gr.array({ 5, -5 }, \"i32\") % 3)[2], (gr.array({ 5.5 }) % -2)[1])", "1\t-0.5"),
    pair_of("fmod", "The remainder of a / b with the sign of a, as `math.fmod`; exact. By 0: NaN, of integers 0.",
      wraps,
      "print(gr.fmod(gr.array({ 5, -5 }, \"i32\"), 3)[2])", "-2"),
    pair_of("floordiv", "The quotient rounded down, as Lua's `//`. By 0: of floats as `/`, of integers 0.", wraps,
      "print(gr.floordiv(gr.array({ 5, -5 }, \"i32\"), 3)[2])", "-2"),
    pair_of("minimum", "The smaller of each pair; NaN if one is. -0.0 is below 0.0.", exact,
      "print(gr.minimum(gr.array { 3, -1 }, 0)[2])", "-1.0"),
    pair_of("maximum", "The larger of each pair; NaN if one is.", exact, "print(gr.maximum(gr.array { 3, -1 }, "
      .. "0)[2])", "0.0"),
    unary("floor", "The largest whole number that is not above each element.", exact,
      "print(gr.array({ -1.5 }):floor()[1])", "-2.0"),
    unary("ceil", "The smallest whole number that is not below each element.", exact,
      "print(gr.array({ 1.5 }):ceil()[1])", "2.0"),
    unary("round", "The whole number nearest to each element; of two the even one, as IEEE 754 and NumPy have it.",
      exact,
      "print(gr.array({ 2.5 }):round()[1], gr.array({ 3.5 }):round()[1])", "2.0\t4.0"),
    unary("trunc", "Each element without its fraction.", exact, "print(gr.array({ -1.5 }):trunc()[1])", "-1.0"),
    unary("sign", "1, -1, or the element itself where it is 0, -0.0 or NaN.", exact,
      "print(gr.array({ -7 }):sign()[1])", "-1.0"),
    pair_of("band", "The bits that both have; `a & b`.", whole, bits_of("band", "6"), "4"),
    pair_of("bor", "The bits that one has; `a | b`.", whole, bits_of("bor", "6"), "14"),
    pair_of("bxor", "The bits that only one has; `a ~ b`.", whole, bits_of("bxor", "6"), "10"),
    unary("bnot", "All bits the other way; `~a`.", whole, "print(gr.bnot(gr.array({ 5 }, \"i32\"))[1])", "-6"),
    pair_of("shl", "The bits b places up, zeros after them; `a << b`. As in Lua: a negative b shifts down, and "
      .. "the dtype's width or "
      .. "more leaves 0.", whole, bits_of("shl", "2"), "48"),
    pair_of("shr", "The bits b places down, zeros before them, of negative integers too; `a >> b`. A negative b "
      .. "shifts up, and the "
      .. "dtype's width or more leaves 0.", whole, bits_of("shr", "2"), "3"),
    unary("isnan", "1 where an element is NaN, 0 elsewhere.", masks, "print(gr.isnan(gr.array { 0 / 0 })[1])", "1"),
    unary("isinf", "1 where an element is infinite, 0 elsewhere.", masks, "print(gr.isinf(gr.array { -1 / 0 })[1])",
      "1"),
    unary("isfinite", "1 where an element is neither infinite nor NaN, 0 elsewhere.", masks,
      "print(gr.isfinite(gr.array { 1 / 0 })[1])", "0"),
    pair_of("land", "1 where both are not 0, 0 elsewhere; NaN is not 0.", masks, "print(gr.land(gr.array { 2, 0 "
      .. "}, 1)[1])", "1"),
    pair_of("lor", "1 where one is not 0, 0 elsewhere.", masks, "print(gr.lor(gr.array { 2, 0 }, 0)[2])", "0"),
    unary("lnot", "1 where an element is 0, 0 elsewhere.", masks, "print(gr.lnot(gr.array { 2, 0 })[2])", "1"),
    {
      name = "clamp", text = "Each element, or the end of the range that it lies beyond. NaN stays NaN.",
      params = { c.a, { "low", "number|array?", "no lower end without it; of an array an end for each element, also as "
        .. "a row or a column of a matrix" }, { "high", "number|array?", "no upper end without it" },
        { "options", "options?", "" } },
      options = into, returns = { { "array", "as long as the input" } }, dtypes = "All; the input's.",
      errors = "A number for the upper end below that for the lower one (of arrays whose ends cross, the lower end is "
        .. "the result where an element lies below it); a number that the dtype has no room for, or NaN.",
      cost = "O(n): one pass, one launch. With arrays: as a formula of four steps.", waits = c.no_wait,
      example = "local a = gr.array({ -3, 7, 300 }, \"i32\")\nprint(table.concat(a:clamp(0, 255):table(), \" \"), "
        .. "a:clamp(gr.array({ 0, 8, 0 }, \"i32\"))[2])",
      output = "0 7 255\t8",
    },
    {
      name = "cast", text = "The elements in another type.",
      params = { c.a, { "dtype", "dtype?", "the type of the result; needed, here or in the options" },
        { "options", "options?", "" } },
      options = { c.dtype_option, c.into }, returns = { { "array", "as long as the input" } },
      dtypes = "All to all. To floats: rounded once, to nearest even; beyond the largest, infinity. To integers: the "
        .. "whole part, and the nearest integer that the type has for what lies beyond it; 0 for NaN.",
      errors = "No dtype, or an unknown one.", cost = "O(n): one pass, one launch.", waits = c.no_wait,
      example = "print(table.concat(gr.array({ -1.5, 2.75, 1000 }):cast(\"u8\"):table(), \" \"))", output = "0 2 255",
    },
    {
      name = "compare", text = "A mask: 1 where the comparison holds, 0 elsewhere.",
      params = { c.a, { "op", "string", '`"<"`, `"<="`, `"=="`, `"~="`, `">="` or `">"`' },
        { "b", "array|number", "what each element is compared with" }, { "options", "options?", "" } },
      options = into, returns = { { "array", "of u8, as long as the input" } },
      dtypes = "All. Every comparison with NaN fails but `~=`, as in Lua. Integers compare with any number, be it a "
        .. "fraction or beyond them all, by its value; floats with the number rounded to their dtype.",
      errors = "Another comparison; different dtypes or lengths.",
      cost = "O(n): one pass, one launch.", waits = c.no_wait,
      example = [[
local a = gr.array { 3, 1, 4 }
local mask = a:compare(">", 2)
print(table.concat(mask:table(), " "))
print(a:count { op = ">", value = 2 }) -- the number alone]],
      output = "1 0 1\n2",
    },
    {
      name = "where", text = "Elements of one array where a mask is not zero, of another elsewhere.",
      params = { { "mask", "array", "of u8" }, { "a", "array|number", "what is taken where the mask is not zero" },
        { "b", "array|number", "what is taken where it is" }, { "options", "options?", "" } },
      options = into,
      returns = { { "array", "as long as the mask; of the arrays' dtype. Of two numbers: that of `into`, else f32" } },
      dtypes = "All. Elements are copied bit for bit.",
      errors = "A mask of another dtype than u8; different dtypes or lengths; a number that the dtype has no room for.",
      cost = "O(n): one pass, one launch.", waits = c.no_wait,
      example = [[
local a = gr.array({ 3, -1, 4 }, "i32")
print(table.concat(gr.where(a:compare("<", 0), 0, a):table(), " "))]],
      output = "3 0 4",
    },
    {
      name = "compact", text = "The elements whose mask is not zero, in their order.",
      params = { c.a, { "mask", "array", "of u8, as long as the input" }, { "options", "options?", "" } },
      options = { { "into", "array?", "the array whose first elements take the result: of the input's dtype, and long "
        .. "enough for what is kept. It may be the input itself" } },
      returns = { { "array", "the elements kept: `#` says how many. With `into` it is a view of its first elements" } },
      dtypes = "All. Elements are copied bit for bit.",
      errors = "A mask of another dtype than u8 or another length; an `into` without room, or one that overlaps the "
        .. "input without being it.",
      cost = "O(n): the mask is counted and then read again with the elements; two launches, and one that tells the "
        .. "host the count.",
      waits = "Waits for the count, which is the length of the result; with room for every element in `into` while "
        .. "they are written.",
      example = [[
local a = gr.array({ 3, -1, 4, -1, 5 }, "i32")
local kept = a:compact(a:compare(">", 0))
print(#kept, table.concat(kept:table(), " "))]],
      output = "3\t3 4 5",
    },
    {
      name = "take", text = "The elements at some positions, in the order of these: the result's element k is "
        .. "`a[index[k]]`. `a[index]` is the same for every dtype of index but u8, which is a mask there.",
      params = { c.a, { "index", "array", "positions, of any integer dtype: from 1, negative ones from the end" },
        { "options", "options?", "" } },
      options = { { "into", "array?", "the array that takes the elements: of the input's dtype, as long as the "
        .. "index. It "
        .. "may be the index itself, but share nothing with the input" } },
      returns = { { "array", "as long as the index, of the input's dtype; a matrix where the index is one" } },
      dtypes = "All. Elements are copied bit for bit.",
      errors = "An index that is no position of the input, which the error names with its place: the first one. "
        .. "Nothing is written then. An index of floats; an `into` that overlaps the input.",
      cost = "O(#index): one launch, which looks for what is no position on the way; with `into` one before it that "
        .. "only looks, and on a device one that tells the host and one for positions that rise: of this and the last "
        .. "one does nothing.",
      waits = "Waits for the word that all are positions: 8 bytes come down; with `into`, on a device, while elements "
        .. "are written.",
      example = [[
local lut = gr.array { 0, 10, 40, 90 }
local index = gr.array({ 4, 1, 2, -1 }, "i32")
print(table.concat(lut:take(index):table(), " "))
print(select(2, pcall(lut.take, lut, index + 3)))]],
      output = "90.0 0.0 10.0 90.0\nbad argument #2 to 'take' (element 1: position from 1 to 4, or -4 to -1, expected, "
        .. "got 7)",
    },
    {
      name = "put", text = [[
Put values to the elements at some positions. `op` says what becomes of the element and all values for it: `"set"`: the
last of the values; `"add"`: their sum and the element; `"min"`, `"max"`: the least or greatest of them and the element.
Sums of floats have the same bits in whatever order values come: those for one element are added up exactly
(docs/numerics.md, as weights of histograms are), and their sum to the element, rounded once; where it is 0 the element
stays as it is.
`a[index] = v` sets for every dtype of index but u8, which is a mask there.]],
      params = { { "a", "array", "what is written" },
        { "index", "array", "positions, of any integer dtype: from 1, negative ones from the end" },
        { "v", "array|number", "the values: as many as positions, of a's dtype; or one number for all" },
        { "options", "options?", "" } },
      options = { { "op", '"set"|"add"|"min"|"max"?', "what becomes of an element", default = '`"set"`' } },
      returns = { { "array", "the array itself" } },
      dtypes = "All. Integers wrap in their width. `min` and `max` order -0.0 before 0.0; a NaN stays, or comes.",
      errors = "An index that is no position, which the error names with its place: the first one. Values of "
        .. "another dtype "
        .. "or length, a number that the dtype has no room for; with `add`, values that are not finite; an index or "
        .. "values "
        .. "that overlap what is written. In all these cases nothing is written.",
      cost = "O(#index): a launch that only looks at the positions, then one that writes; to add floats a pass for "
        .. "their largest. Unless each position is above the one before: to set several values two that write, to add "
        .. "floats one over a; and memory for each element of a: 4 bytes to set several values on a GPU (8 from "
        .. "2^32 - 1 values on), 16 to add floats.",
      waits = "Waits for the word that all are positions; to add floats for their largest, too.",
      example = [[
local a, index = gr.zeros(4), gr.array({ 2, -1, 2 }, "i32")
print(table.concat(a:put(index, gr.array { 5, 6, 7 }):table(), " "))
print(table.concat(a:put(index, 0.5, { op = "add" }):table(), " "))
a[index] = 1
print(table.concat(a:table(), " "))]],
      output = "0.0 7.0 0.0 6.0\n0.0 8.0 0.0 6.5\n0.0 1.0 0.0 1.0",
    },
  },
}
