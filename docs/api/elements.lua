local c = ...

local into = { c.into }
local rounding = "Computed in the input's type and rounded once, to nearest even. NaN results are the one NaN."
local floats = "All. Of integers: f64, each widened first."

-- An operator of one array.
local function unary(name, text, dtypes, example, output)
  return {
    name = name, text = text, params = { c.a, { "options", "options?", "" } }, options = into,
    returns = { { "array", "as long as the input" } }, dtypes = dtypes,
    errors = "An `into` of another dtype or length, or one that overlaps the input without being it.",
    cost = "O(n): one pass, one launch.", waits = c.no_wait, example = example, output = output,
  }
end

-- An operator of two, of which one may be a number.
local function binary(name, sign, text, dtypes, example, output)
  return {
    name = name, text = text,
    params = { { "a", "array|number", "" }, { "b", "array|number", "at least one of the two is an array" },
      { "options", "options?", "" } },
    options = into, returns = { { "array", "as long as the input" } }, dtypes = dtypes,
    shapes = "Two arrays: the same dtype and length, on one device. A number goes with every element.",
    errors = "Different dtypes or lengths; a number that the dtype has no room for; an `into` of another dtype or "
      .. "length, or one that overlaps an input without being it.",
    cost = "O(n): one pass, one launch.", waits = c.no_wait,
    example = example .. ("\nprint((%s):equal(gr.%s(a, b)))"):format("a " .. sign .. " b", name),
    output = output .. "\ntrue",
  }
end

local pair = "local a, b = gr.array({ 6, 8 }, \"f64\"), gr.array({ 3, 16 }, \"f64\")\n"
local wraps = "All; the input's. Integers wrap in their width, as Lua's do in theirs. " .. rounding

return {
  title = "Element by element",
  text = "Operations that give one element for each element, each of them one launch on the device: data stays there. "
    .. "Between arrays, and between an array and a number, `+ - * /` and unary `-` are the functions `add`, `sub`, "
    .. "`mul`, `div` and `neg`; written as functions they take `{into=}`, and a loop that uses it allocates nothing. A "
    .. "number in an array's place is rounded to the array's dtype first (integers: it must be one); `/` of integers "
    .. "and comparisons take any number. There are no floating-point warnings: what overflows is infinite, 0 / 0 and "
    .. "its like are NaN, and no call says so.",
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
    unary("exp", "e to the power of each element.", floats .. " f64 within 1 ulp, narrower types rounded from that.",
      "print(gr.array({ 0, 1 }, \"f64\"):exp()[2])", "2.718281828459..."),
    unary("log", "The natural logarithm of each element.",
      floats .. " f64 within 0.9 ulp, narrower types rounded from that.",
      "print(gr.array({ 1, 10 }, \"f64\"):log()[2])", "2.302585092994..."),
    unary("tanh", "The hyperbolic tangent of each element.", floats .. " f64 within 1.4 ulp, narrower types rounded "
      .. "from that.",
      "print(gr.array({ 0, 1 }, \"f64\"):tanh()[2])", "0.761594155955..."),
    {
      name = "clamp", text = "Each element, or the end of the range that it lies beyond. NaN stays NaN.",
      params = { c.a, { "low", "number?", "no lower end without it" }, { "high", "number?", "no upper end without it" },
        { "options", "options?", "" } },
      options = into, returns = { { "array", "as long as the input" } }, dtypes = "All; the input's.",
      errors = "An upper end below the lower one; an end that the dtype has no room for, or NaN.",
      cost = "O(n): one pass, one launch.", waits = c.no_wait,
      example = "print(table.concat(gr.array({ -3, 7, 300 }, \"i32\"):clamp(0, 255):table(), \" \"))",
      output = "0 7 255",
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
      cost = "O(n): the mask is counted and then read again with the elements; two launches (decoupled look-back, "
        .. "Merrill and Garland 2016).",
      waits = "Waits for the count, which is the length of the result.",
      example = [[
local a = gr.array({ 3, -1, 4, -1, 5 }, "i32")
local kept = a:compact(a:compare(">", 0))
print(#kept, table.concat(kept:table(), " "))]],
      output = "3\t3 4 5",
    },
  },
}
