local c = ...

local rows, axis, segments, into = c.rows, c.axis, c.segments, c.into
local accumulate = { "accumulate", "string?", "how float sums are kept: `\"f64\"`, `\"f32\"`, `\"kahan\"` or "
  .. "`\"neumaier\"` (docs/numerics.md)", default = '`"f64"`' }
local ddof = { "ddof", "number?", "what is subtracted from n in the divisor (1 for a sample's variance)",
  default = "0" }
local pairs_option = { "pairs", "boolean?", "row by row; else b is one row (axis 2) or one column (axis 1) that meets "
  .. "each of a's", default = "false; true where b is a matrix as long as a" }

local at = { "at", "integer?", "with `into`: the number stays on the device, as element `at` of that array (of the "
  .. "result's dtype; for floats f64 or f32), which is returned; negative counts from the end" }
local async = { "async", "boolean?", "give a future instead", default = "false" }

local each = "With `rows` or `axis` one result for each row or column"
local numbers = "All. Integers are summed in 64 bits and wrap as Lua's integers do."
local waits = "Without `rows` it waits for the number and copies a few bytes down; with `rows` neither. Copies up what "
  .. "is stale on the device."
local matrix_errors = "`rows` that do not divide n; `segments` that fall or leave the array; "
  .. "`axis` or `keepdims` of a vector without `rows`; `out` where results are not f64; "
  .. "`into` without `rows`, `segments` or `at`; an `into` of another dtype or length; "
  .. "a `mask` of another dtype, length or device."

local rounded = { sum = 1, mean = 1, var = 1, std = 1, norm = 1, dot = 1, mse = 1, cosine = 1, reduce = 1 }

-- An entry of one of the reductions of one array: fields that are the same in all of them.
-- any, all and count of the elements that satisfy a comparison.
local testing = { rows, axis, segments, into,
  { "op", "string?", '`"<"`, `"<="`, `"=="`, `"~="`, `">="` or `">"`: ask for elements that compare so with `value`, '
    .. "instead of elements that are not zero" },
  { "value", "number?", "the number to compare with, any one" } }

local function one(name, fields)
  fields.name = name
  fields.params = fields.params or { c.a, { "options", "options?", "how to read it" } }
  fields.options = fields.options or { rows, axis, segments, into }
  if rounded[name] then fields.options[#fields.options + 1] = c.exact end
  if rounded[name] or name == "prod" or name == "logsumexp" then fields.options[#fields.options + 1] = c.out end
  local options = {}
  for k, row in ipairs(fields.options) do options[k] = row end
  options[#options + 1] = c.skipnan
  options[#options + 1] = c.mask
  options[#options + 1] = c.keepdims
  if name ~= "minmax" then options[#options + 1] = at end
  options[#options + 1] = async
  options[#options + 1] = c.comm
  fields.options = options
  fields.dtypes = fields.dtypes or "All."
  fields.errors = (fields.errors and fields.errors .. " " or "") .. matrix_errors
  fields.cost = fields.cost or "O(n): one pass, one launch."
  fields.waits = fields.waits or waits
  return fields
end

local function two(name, fields)
  fields.params = { c.a, { "b", "array", "the other input: same dtype, length and device" },
    { "options", "options?", "how to read them" } }
  fields.options = fields.options or { rows, axis, segments, pairs_option, into }
  fields.errors = "Another dtype, length or device than the first's."
  return one(name, fields)
end

return {
  title = "Reductions",
  text = [[
One number from an array, or one from each row or column (`{rows=, axis=}`; of a matrix `{axis=}`), or one
from each segment (`{segments=}`). Sums of floats accumulate in f64
along a fixed tree, so a result has the same bits on every machine. NaN goes through sums, `min` and `max`;
`argmin` and `argmax` give the first NaN. -0.0 is less than 0.0.

### What is missing

`{skipnan = true}`: elements that are NaN are missing. `{mask = m}`: those where `m`, an array of u8 or an
expression as long as `a`, is 0. With both, either is enough; of `dot`, `mse` and `cosine` a pair is missing if one
of its elements is. Results are those of the elements that are present: sums of them, means and variances over their
number (`ddof` must be below it), `all` of them. Positions stay those in `a`. Where nothing is present the result is
that of an empty array: sum 0, prod 1, mean NaN. For a row, column or segment where nothing is present `min`, `max`
and `minmax` give NaN (NumPy does, and warns), of integers, which have none, they raise and name it; `argmin` and
`argmax` give 0, which is no position. Of a whole array all five raise, unless `into` with `at` takes the result; so
do they for a segment that has no elements at all. `mask` without `skipnan` lets a present NaN through, as always.
With `op` and `value` elements that are NaN are missing before they are compared.

A missing element adds nothing at its place in the tree, so nothing is copied, and where nothing is missing the bits
are those of the plain call (but `logsumexp` of integers with a mask, which are widened to f64 first). They may
differ in the last bits from those of the elements copied side by side; with `exact` they do not.

Sums, products, minima, maxima, counts, norms, `dot`, `cosine` and `logsumexp` take one pass over the data. Means,
`mse`, `minmax` and positions need a second number beside the first: on the CPU in the same pass (of columns in
another one), on GPUs by a launch of its own, but of whole arrays, and of rows and columns with `skipnan`. Variances
of integers take such a pass and then one more, since missing elements stand at the mean, which must be known. On
GPUs sums, means, `dot`, `mse`, norms, minima, maxima and positions of floats with `skipnan` go, from 8.0 on,
through the kernels of plain calls, which leave NaN out as they read, of views at any place, too: whole arrays,
rows, and columns (but of `dot` and `mse`, and sums and norms of less than some 8 rows or of columns that fill few
words). Of rows and columns that is one launch that nobody waits for, but for norms of f64. Elsewhere minima, maxima
and positions, and everywhere variances with `ddof` above 0, wait for a number that says whether one of them may be
of nothing; only if it says so are elements counted. Other whole arrays and rows, also with a mask, and sums of
columns are compiled as formulas are; other columns, products of short rows, and sums with `accumulate` or `exact`,
are stored with their missing elements filled, first. [Operators of your own](#operators-of-your-own) get what is
present as a copy.]],
  entries = {
    one("sum", {
      text = "The sum of the elements.",
      options = { rows, axis, segments, into, accumulate, c.kernel, c.block, c.timed },
      dtypes = numbers,
      returns = { { "number|array", "the sum, an integer for integer dtypes; 0 for none. "
        .. each .. ": f64, or i64 for integers" } },
      example = [[
local a = gr.array({ 1, 2, 3, 4, 5, 6 }, "i32")
local rows, columns = a:sum { rows = 2 }, a:sum { rows = 2, axis = 1 }
print(a:sum(), table.concat(rows:table(), " "), table.concat(columns:table(), " "))]],
      output = "21\t6 15\t5 7 9",
    }),
    one("prod", {
      text = "The product of the elements.",
      dtypes = "All. Integers wrap in 64 bits.",
      returns = { { "number|array", "the product; 1 for none. " .. each .. ": f64, or i64 for integers" } },
      example = [[print(gr.arange(1, 10, "i32"):prod())]],
      output = "3628800",
    }),
    one("mean", {
      text = "The mean of the elements; of integers from a sum that does not wrap.",
      returns = { { "number|array", "a float; NaN for none. " .. each .. ": f64" } },
      example = [[
print(gr.array({ 1, 2, 4 }, "u8"):mean() * 3)
local a = gr.array { 1, 0 / 0, 5 }
print(a:mean(), a:mean { skipnan = true }, a:mean { mask = gr.array({ 1, 0, 0 }, "u8") })]],
      output = "7.0\nnan\t3.0\t1.0",
    }),
    one("var", {
      text = "The variance: the mean of the squared distances from the mean. Large means do not spoil it.",
      options = { rows, axis, segments, into, ddof },
      returns = { { "number|array", "a float; NaN for none. " .. each .. ": f64" } },
      errors = "A `ddof` that is not below n.",
      cost = "O(n): one pass, one launch (Chan, Golub and LeVeque 1979).",
      example = [[
local a = gr.array({ 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 }, "f64")
print(a:var(), a:var { ddof = 1 })]],
      output = "22.5\t30.0",
    }),
    one("std", {
      text = "The standard deviation: the square root of the variance.",
      options = { rows, axis, segments, into, ddof },
      returns = { { "number|array", "a float; NaN for none. " .. each .. ": f64" } },
      errors = "A `ddof` that is not below n.",
      example = [[print(gr.array({ 2, 4, 4, 4, 5, 5, 7, 9 }):std())]],
      output = "2.0",
    }),
    one("logsumexp", {
      text = "The logarithm of the sum of e^x, in one pass: terms are scaled by the largest element so far, so that "
        .. "none overflows: the way to add probabilities that are kept as logarithms.",
      dtypes = "All, computed in f64; integers are widened first.",
      returns = { { "number|array", "a float; -inf for none, and where all elements are -inf; inf where one is. "
        .. each .. ": f64" } },
      example = [[print(gr.array({ 1000, 1000 }, "f64"):logsumexp() - 1000)]],
      output = "0.693147180559...",
    }),
    one("min", {
      options = { rows, axis, segments, into, c.kernel, c.block, c.timed },
      text = "The least element.",
      returns = { { "number|array", "an integer for integer dtypes. " .. each .. ": of the input's dtype" } },
      errors = "An empty array.",
      example = [[print(gr.array({ 3, -1, 2 }, "i8"):min())]],
      output = "-1",
    }),
    one("max", {
      options = { rows, axis, segments, into, c.kernel, c.block, c.timed },
      text = "The greatest element.",
      returns = { { "number|array", "an integer for integer dtypes. " .. each .. ": of the input's dtype" } },
      errors = "An empty array.",
      example = [[print(gr.array({ 3, -1, 2 }, "i8"):max())]],
      output = "3",
    }),
    one("minmax", {
      text = "The least and the greatest element in one pass.",
      options = { rows, axis, segments },
      returns = { { "number|array", "the least" }, { "number|array", "the greatest" } },
      errors = "An empty array; `into`, which takes one array only.",
      example = [[print(gr.array({ 3, -1, 2 }, "i8"):minmax())]],
      output = "-1\t3",
    }),
    one("argmin", {
      text = "The position of the least element, the first of several; of the first NaN, if there is one.",
      units = "Positions from 1, in the view (with `rows`: in the row or column).",
      returns = { { "integer|array", "the position. " .. each .. ": i64" } },
      errors = "An empty array.",
      example = [[print(gr.array({ 3, -1, 2, -1 }):argmin())]],
      output = "2",
    }),
    one("argmax", {
      text = "The position of the greatest element, the first of several; of the first NaN, if there is one.",
      units = "Positions from 1, in the view (with `rows`: in the row or column).",
      returns = { { "integer|array", "the position. " .. each .. ": i64" } },
      errors = "An empty array.",
      example = [[print(gr.array({ 3, 1, 3 }):argmax())]],
      output = "1",
    }),
    one("any", {
      options = testing,
      text = "Whether some element is not zero. NaN is not zero.",
      returns = { { "boolean|array", "false for none. " .. each .. ": u8, 1 or 0" } },
      example = [[print(gr.zeros(5):any(), gr.array({ 0, 2 }):any())]],
      output = "false\ttrue",
    }),
    one("all", {
      options = testing,
      text = "Whether no element is zero.",
      returns = { { "boolean|array", "true for none. " .. each .. ": u8, 1 or 0" } },
      example = [[print(gr.ones(5):all(), gr.array({ 0, 2 }):all())]],
      output = "true\tfalse",
    }),
    one("count", {
      options = testing,
      text = "How many elements are not zero.",
      returns = { { "integer|array", "the number. " .. each .. ": i64" } },
      example = [[print(gr.array({ 0, 2, 0, 3 }):count())]],
      output = "2",
    }),
    one("norm", {
      text = "The norm of order p: the sum of magnitudes, the root of the sum of squares, or the greatest magnitude. "
        .. "Nothing overflows on the way.",
      params = { c.a, { "p", 'number|"inf"?', "1, 2 or math.huge", default = "2" },
        { "options", "options?", "how to read it; p may be left out before it" } },
      returns = { { "number|array", "the norm; 0 for none. " .. each .. ": f64" } },
      errors = "Another p.",
      example = [[
local a = gr.array({ 3e300, -4e300 }, "f64")
print(a:norm() / 1e300, a:norm(1) / 1e300, a:norm(math.huge) / 1e300)]],
      output = "5.0\t7.0\t4.0",
    }),
    one("reduce", {
      text = "A reduction by its name: `gr.reduce(a, \"sum\")` is `gr.sum(a)`.",
      params = { c.a, { "op", "string|operator", "the name of a reduction of one array, or "
        .. "[one of your own](#operators-of-your-own)" },
        { "options", "options?", "the options of that reduction" } },
      options = { rows, axis, segments, into, accumulate, ddof },
      returns = { { "any", "what that reduction returns" } },
      errors = "An unknown name; `dot`, `mse` and `cosine`, which take two arrays.",
      example = [[
local a = gr.array { 1, 2, 6 }
for _, op in ipairs { "sum", "mean", "max" } do print(op, a:reduce(op)) end]],
      output = "sum\t9.0\nmean\t3.0\nmax\t6.0",
    }),
    two("dot", {
      text = "The sum of the products of the elements of two arrays.",
      options = { rows, axis, segments, pairs_option, into, accumulate, c.kernel, c.block, c.timed },
      dtypes = numbers,
      returns = { { "number|array", "an integer for integer dtypes; 0 for none. " .. each .. ": f64, or i64" } },
      example = [[
local a, b = gr.array { 1, 2, 3, 4 }, gr.array { 10, 100 }
print(a:dot(a), table.concat(a:dot(b, { rows = 2 }):table(), " "))]],
      output = "30.0\t210.0 430.0",
    }),
    two("mse", {
      text = "The mean of the squared differences of two arrays.",
      returns = { { "number|array", "a float; NaN for none. " .. each .. ": f64" } },
      example = [[print(gr.mse(gr.array { 1, 2 }, gr.array { 3, 6 }))]],
      output = "10.0",
    }),
    two("cosine", {
      text = "The cosine of the angle between two arrays: their dot over the product of their norms.",
      returns = { { "number|array", "a float from -1 to 1; NaN when one is all zeros. " .. each .. ": f64" } },
      example = [[print(gr.cosine(gr.array { 1, 0 }, gr.array { 3, 4 }))]],
      output = "0.6",
    }),
    {
      name = "quantile",
      text = "The elements below which given shares of the data lie: exact, by selection on order keys, as NumPy "
        .. "defines it.",
      params = { c.a, { "q", "number|number[]", "a share from 0 to 1, or several" },
        { "options", "options?", "" } },
      options = {
        { "method", "string?", "what to give when a share falls between two elements: `\"linear\"` between them, the "
          .. "`\"lower\"`, `\"higher\"` or `\"nearest\"` of them (halfway: the even one, counted from 0), or their "
          .. "`\"midpoint\"`; or NumPy's others, those of Hyndman and Fan (1996): `\"inverted_cdf\"`, "
          .. "`\"averaged_inverted_cdf\"`, `\"closest_observation\"`, `\"interpolated_inverted_cdf\"`, `\"hazen\"`, "
          .. "`\"weibull\"`, `\"median_unbiased\"`, `\"normal_unbiased\"`", default = '`"linear"`' },
        { "weights", "array?", "one for each element, finite and not below 0: the least element up to which at least "
          .. "the share of all weight lies (`\"inverted_cdf\"`, which is the method then); its zeros have no sign" },
        rows, axis, c.skipnan, c.mask, c.keepdims, c.single,
        { "into", "array?", "the array that takes the results of several shares, or of rows or columns" },
        c.comm,
      },
      returns = { { "array|number", "for a table of shares an array: f64, or the input's dtype with `lower`, `higher`, "
        .. "`nearest`, `inverted_cdf` and `closest_observation`, which give elements. "
        .. "Of rows or columns one for each, and of several shares a matrix "
        .. "with a row for each share. NaN anywhere in the data gives NaN" } },
      dtypes = "All. -0.0 comes before 0.0. Between elements of i64 beyond 2^53 each is rounded to f64 first.",
      errors = "An empty array, or row or column, and one of which all is missing; a share outside 0 to 1; an unknown "
        .. "method.",
      cost = "O(n). With `skipnan` or `mask` what is present is copied first. Of more than some thousand elements 11 "
        .. "bits of the keys a pass, so 1 pass for 8-bit types, 2, 3 and 6 for wider ones; of 64 bits usually 3, "
        .. "because the candidates left are then copied out. Several shares share passes; many take narrower digits "
        .. "and more passes. Rows and columns are done one after the other. With weights a pass for each bit of an "
        .. "element.",
      waits = "Up to some thousand elements are brought to the host. Of more it waits for every pass, copies up what "
        .. "is stale on the device, and up to 64 KiB down a pass.",
      example = [[
local a = gr.array { 3, 1, 2, 10 }
print(a:quantile(0.25), a:quantile(0.5, { method = "higher" }))
print(table.concat(a:quantile({ 0, 0.5, 1 }):table(), " "))
print(table.concat(a:matrix(2):quantile(0.5, { axis = 2 }):table(), " "))
print(a:quantile(0.5, { weights = gr.array { 1, 1, 1, 5 } }))]],
      output = "1.75\t3.0\n1.0 2.5 10.0\n2.0 6.0\n10.0",
    },
    {
      name = "median",
      text = "The middle element, or the mean of the two in the middle, rounded once to f64. (`quantile(a, 0.5)` "
        .. "interpolates between those, as NumPy's does, which may differ in the last bits.)",
      params = { c.a, { "options", "options?", "" } },
      options = { rows, axis, c.skipnan, c.mask, c.keepdims, c.single, into, c.comm },
      returns = { { "number|array", "a float; NaN when the data holds one. Of rows or columns one for each: f64" } },
      dtypes = "All.",
      errors = "An empty array.",
      cost = "O(n), as `quantile`.",
      waits = "As `quantile`.",
      example = [[print(gr.array({ 5, 1, 9 }, "u8"):median(), gr.median(gr.array { 4, 1, 3, 2 }))
print(gr.array { 5, 1, 9, 2 }:matrix(2):median { axis = 1 }:table()[1])
print(gr.array { 5, 0 / 0, 9 }:median { skipnan = true })]],
      output = "5.0\t2.5\n7.0\n7.0",
    },
  },
}
