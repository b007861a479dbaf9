local c = ...

local a = { "a", "array|number|expression", "one side" }
local b = { "b", "array|number|expression", "the other; one of the two is an array or an expression" }
local options = { "options", "options?", "" }

-- when: when the defaults hold.
local function tolerances(when)
  return {
    { "rtol", "number?", "how far apart, in parts of |b|", default = "1e-5" .. when },
    { "atol", "number?", "how far apart besides", default = "1e-8" .. when },
    { "nan_equal", "boolean?", "two NaN are close", default = "false" .. when },
  }
end

local dtypes = "All, also two different ones: both are compared in f64, integers among themselves as integers, so that "
  .. "i64 beyond 2^53 tell neighbours apart."
local shapes = "Of one length; a vector beside a matrix as in operators (`gr.row`, `gr.column`, or what fits one way)."
local errors = "Different lengths or shapes; two numbers; arrays on different devices; a tolerance that is negative or "
  .. "not finite."

return {
  title = "At the prompt and in tests",
  text = [[
`show` and `help` return text, as `plot` does, for the prompt to print: `a:show()` is a whole line for it in Lua 5.3 and
later; before that, and in LuaJIT, write `=a:show()`, and in a script `print(a:show())`.

For tests `allclose` and `equal` say whether, `differ` says where. `require "gpureduce.luassert"` gives busted and
luassert two assertions about arrays: it is part of the module's one file, needs luassert, returns it, and adds nothing
to a Lua state that does not ask for it. (A host that has the module linked in puts `luaopen_gpureduce_luassert` into
`package.preload` for it.)]],
  entries = {
    {
      name = "show",
      text = [[
An array at a glance, as lines of text: what it is, where it lies, its first and last elements (of a matrix its
corners), the least, the mean and the greatest, and how many NaN there are. With NaN among them the three are of the
rest.]],
      params = { c.a, { "count", "integer?", "elements from each end, rows and columns of a matrix, 1 to 100",
        default = "3" } },
      returns = { { "string", "lines without a newline at the end, as wide as the terminal (the variable COLUMNS, "
        .. "what the terminal says, or 80); columns of a matrix that have no room are left out" } },
      dtypes = "All. Floats have 6 digits.",
      errors = "What is no array, a released one; a count out of range.",
      cost = "O(n), one pass for each statistic; a second one with NaN. No memory for elements.",
      waits = "Waits for the statistics, which are found where the array is. Of the elements only those shown are "
        .. "read, each with its 64 KiB where they are stale on the host.",
      example = [[
print(gr.arange(1, 1000, "i32"):show())
print(gr.array({ 1, 0 / 0, 2.5 }, "f64"):show())
print(gr.arange(1, 100):matrix(10):show(1))]],
      output = [[
gpureduce.array i32[1000] (...) on ...
1 2 3 ... 998 999 1000
min 1, mean 500.5, max 1000
gpureduce.array f64[3] (...) on ...
1 nan 2.5
1 NaN, of the rest: min 1, mean 1.75, max 2.5
gpureduce.array f32[10 x 10] (...) on ...
  1  ...   10
...  ...  ...
 91  ...  100
min 1, mean 50.5, max 100, no NaN]],
    },
    {
      name = "help",
      text = "This reference at the prompt: an entry, a chapter, an option and who takes it, or all topics by chapter.",
      params = { { "topic", "string?", 'a name such as `"sum"`, `"gr.sum"`, `"histogram:quantile"`, an option such as '
        .. '`"skipnan"`, or the title of a chapter', default = "all topics" } },
      method = false,
      returns = { { "string", "lines as wide as the terminal, without a newline at the end" } },
      errors = "A topic that there is none of; the error names those near it.",
      cost = "Some 0.5 ms. The texts are part of the module (some 90 KB): no file is read, under `gr.safe` neither.",
      waits = c.no_work,
      example = [[
print(gr.help("clock"):match("^[^\n]+"), gr.help("Scans"):match("Topics:.*"))
print((select(2, pcall(gr.help, "quant"))))]],
      output = [[
gr.clock()	Topics: scan
...bad argument #1 to 'help' (unknown topic 'quant' (near it: 'quantile', 'histogram:quantile'); gr.help() lists all)]],
    },
    {
      name = "allclose",
      text = [[
Whether all elements are close: |a - b| <= atol + rtol |b|, NumPy's rule. An infinity is close to itself alone, NaN to
nothing unless `nan_equal` says so.]],
      params = { a, b, options }, options = tolerances(""),
      returns = { { "boolean", "true of no elements" } },
      dtypes = dtypes, shapes = shapes, errors = errors,
      cost = "O(n): one pass over both, no memory for elements.",
      waits = "Waits for the answer. Copies up what is stale on the device.",
      example = [[
local x = gr.array({ 1, 10, 100 }, "f64")
print(x:allclose(x * (1 + 1e-6)), x:allclose(x + 0.01), x:allclose(x + 0.01, { atol = 0.1 }))]],
      output = "true\tfalse\ttrue",
    },
    {
      name = "isclose",
      text = "A mask: 1 where elements are close, as `allclose` has it, 0 elsewhere.",
      params = { a, b, options },
      options = { tolerances("")[1], tolerances("")[2], tolerances("")[3], c.into },
      returns = { { "array|expression", "of u8, as long as the operands; an expression if one of them is one" } },
      dtypes = dtypes, shapes = shapes,
      errors = errors .. " An `into` of another dtype or length, or with an expression.",
      cost = "O(n): one pass, one launch.", waits = c.no_wait,
      example = [[
local x = gr.array { 1, 2, 3 }
print(table.concat(x:isclose(gr.array { 1, 2, 4 }):table(), " "))]],
      output = "1 1 0",
    },
    {
      name = "differ",
      text = [[
Where two arrays differ first, and both elements there. Without options every difference counts, as in `equal`: NaN are
equal, zeros of either sign too. With options what `allclose` says with the same ones.]],
      params = { a, b, options }, options = tolerances(", once there are options"),
      returns = { { "integer|nil", "the first position that differs, of a matrix in its rows one after the other; nil: "
        .. "none does" }, { "number?", "the element of a there" }, { "number?", "the element of b there" } },
      dtypes = dtypes, shapes = shapes, errors = errors,
      cost = "O(n): one pass over both, no memory for elements; a second one for an expression that differs.",
      waits = "Waits for the position, and brings the elements.",
      example = [[
local x, y = gr.arange(1, 5), gr.array { 1, 2, 3.5, 4, 6 }
print(gr.differ(x, y))
print(gr.differ(x, y, { atol = 0.6 }))
print(gr.differ(x, x))]],
      output = "3\t3.0\t3.5\n5\t5.0\t6.0\nnil",
    },
    {
      name = "isarray",
      text = "Whether a value is an array of this module: a vector, a matrix, a transposed one, also when it has been "
        .. "released. Nothing of the value is asked, no metamethod runs, and nothing raises.",
      params = { { "x", "any?", "any value, or none" } },
      method = false,
      returns = { { "boolean", "false of expressions, tables and all else" } },
      errors = "None.", cost = "O(1).", waits = c.no_work,
      example = [[print(gr.isarray(gr.ones(3)), gr.isarray { 1, 2 }, gr.isarray(gr.lazy(gr.ones(3))), gr.isarray())]],
      output = "true\tfalse\tfalse\tfalse",
    },
    {
      name = "assert.arrays_equal",
      syntax = { "assert.arrays_equal(a, b [, message])", "assert.is_not.arrays_equal(a, b [, message])" },
      text = "For busted and luassert, from `require \"gpureduce.luassert\"`: that `a:equal(b)`. The message says what "
        .. "is not alike: dtypes, lengths, shapes; how many elements, the first five of them with their positions, and "
        .. "the largest difference.",
      params = { { "a", "array|expression", "one side" }, { "b", "array|expression", "the other" },
        { "message", "string?", "what stands in front of that" } },
      returns = { { "any", "its arguments, as assertions do" } },
      errors = "The assertion; what is no array, arrays on different devices.",
      cost = "O(n): that of `equal`; some passes more for the message.",
      waits = "Waits for the answer.",
      example = [[
local assert = require "gpureduce.luassert"
local a, b = gr.arange(1, 1000), gr.arange(1, 1000)
assert.arrays_equal(a, b)
b[17], b[500] = 0, 499
print((select(2, pcall(function() assert.arrays_equal(a, b) end))))]],
      output = [[
...Expected arrays to be equal.
a: gpureduce.array f32[1000] (...)
b: gpureduce.array f32[1000] (...)
2 of 1000 elements differ:
  [17] 17 and 0
  [500] 500 and 499
largest difference 17 at [17]: 17 and 0]],
    },
    {
      name = "assert.arrays_close",
      syntax = { "assert.arrays_close(a, b [, options] [, message])",
        "assert.is_not.arrays_close(a, b [, options] [, message])" },
      text = "The same with tolerances: that `a:allclose(b, options)`, of arrays of one length and shape.",
      params = { { "a", "array|expression|number", "one side" }, { "b", "array|expression|number", "the other" },
        { "options", "table?", "`rtol`, `atol`, `nan_equal`, as `allclose` has them" },
        { "message", "string?", "what stands in front" } },
      returns = { { "any", "its arguments, as assertions do" } },
      errors = "The assertion; what `allclose` refuses, but for lengths and shapes, which the assertion tells.",
      cost = "O(n): that of `allclose`; some passes more for the message.",
      waits = "Waits for the answer.",
      example = [[
local assert = require "gpureduce.luassert"
local a = gr.array({ 1, 2, 3 }, "f64")
assert.arrays_close(a, a + 1e-9)
assert.is_not.arrays_close(a, a + 1e-3)
print((select(2, pcall(function() assert.arrays_close(a, 2, { atol = 0.5 }, "near two") end))))]],
      output = [[
...near two
Expected arrays to be close.
a: gpureduce.array f64[3] (...)
b: 2
2 of 3 elements differ:
  [1] 1 and 2
  [3] 3 and 2
largest difference 1 at [1]: 1 and 2]],
    },
  },
}
