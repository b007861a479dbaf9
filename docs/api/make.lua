local c = ...

local n = { "n", "integer", "the length" }
local seed = { "seed", "integer?", "name the numbers: the same seed and stream give the same ones in every call",
  default = "none: each call takes the next numbers of the state's generator" }
local stream = { "stream", "integer?", "with `seed`: which of its sequences, 0 to 2^62 - 1", default = "0" }
local random_options = {
  c.dtype_option, seed, stream, { "into", "array?", "the array that takes the numbers (n long, of that dtype)" },
}
-- Numbers of which every rank makes its part.
local parted = { random_options[1], seed, stream, random_options[4], { "comm", "any?", "a communicator of "
  .. "`gpureduce.mpi`: n are this rank's numbers of what lies over all ranks; a number depends on its place in the "
  .. "whole alone ([ranks.md](ranks.md))" } }
local whole_dtype = { "dtype", "dtype?", "an integer dtype", default = '`"i64"`' }

return {
  title = "Making arrays",
  text = [[
Arrays have one dimension and one dtype: `u8 i8 i16 u16 i32 u32 i64 f16 bf16 f32 f64` (long names such as `float32`
and `uint8` are accepted), the last argument before the options or the option `dtype`. Optional arguments may be left
out before a table of options, here as everywhere. A new array lives on the device in use; see `gr.use`.

Random numbers: a call without a seed takes the next numbers of the Lua state's generator, so that two calls never give
the same ones; a script that runs again gets the same again. `gr.seed(n)` starts it elsewhere. Numbers with a `seed` of
their own stand apart from those, and the uniform ones of a seed from its normal, exponential and whole ones. All of
them are functions of a counter (Philox 4x32-10, Salmon and others 2011): the same on every device, with any number of
threads.]],
  entries = {
    {
      name = "array",
      text = [[
Make an array from a table of numbers, from a packed string, or of so many zeros. Numbers are rounded to nearest for
float dtypes; integer dtypes take whole numbers in range only.]],
      params = { { "from", "number[]|number[][]|string|integer", "the elements, rows of elements, their bytes in the "
        .. "machine's order, or the length" }, c.dtype, c.typed },
      options = { c.dtype_option },
      returns = { { "array", "a new array" }, { "integer?", "of rows: how many" },
        { "integer?", "and how many elements each has" } },
      shapes = "As long as the table; of a string, its bytes divided by the element's size.",
      errors = "An element that is no number or does not fit (named by its position), rows of different lengths, bytes "
        .. "that are no whole number of elements, an unknown dtype.",
      cost = "O(n) on the host; of a length alone nothing is written before it is needed.",
      waits = "Neither: the elements stay on the host until a kernel needs them.",
      example = [[
local a = gr.array { 1, 2.5, 4 }
local b = gr.array({ 1, 2, 255 }, "u8")
print(#a, a[2], b.dtype, b[-1])]],
      output = "3\t2.5\tu8\t255",
    },
    {
      name = "frombytes",
      text = "Make an array from a packed string, as `string.pack` or a file gives it.",
      params = { { "bytes", "string", "the elements in the machine's byte order" },
        { "dtype", "dtype|string?", "or a format of `string.pack` for one number, such as `\">i4\"` or `\"<d\"` (a "
          .. "name that is both is the dtype)", default = '`"f32"`' }, c.typed },
      options = { c.dtype_option },
      returns = { { "array", "a new array" } },
      errors = "What is no string; bytes that are no whole number of elements.",
      cost = "O(n): one copy on the host.",
      waits = "Neither.",
      example = [[print(table.concat(gr.frombytes("Lua", "u8"):table(), " "))]],
      output = "76 117 97",
    },
    {
      name = "zeros",
      text = "Make an array of zeros.",
      params = { n, c.dtype, c.typed },
      options = { c.dtype_option },
      returns = { { "array", "a new array" } },
      errors = "A length that is not whole or below 0; an unknown dtype; no memory.",
      cost = "O(n), when it is first used.",
      waits = c.no_wait,
      example = [[print(gr.zeros(5, "i32"):sum())]],
      output = "0",
    },
    {
      name = "ones",
      text = "Make an array of ones.",
      params = { n, c.dtype, c.typed },
      options = { c.dtype_option },
      returns = { { "array", "a new array" } },
      errors = "As for `zeros`.",
      cost = "O(n), one launch.",
      waits = c.no_wait,
      example = [[print(gr.ones(5, "i32"):sum())]],
      output = "5",
    },
    {
      name = "full",
      text = "Make an array that holds one value everywhere.",
      params = { n, { "value", "number", "what each element becomes" }, c.dtype, c.typed },
      options = { c.dtype_option },
      returns = { { "array", "a new array" } },
      errors = "As for `zeros`; a value that does not fit the dtype.",
      cost = "O(n), one launch.",
      waits = c.no_wait,
      example = [[print(gr.full(4, 2.5):sum())]],
      output = "10.0",
    },
    {
      name = "arange",
      text = "Make an array of evenly spaced numbers; as in Lua's `for`, the last is included when it is hit. "
        .. "Whole numbers are counted exactly, all 64 bits of them.",
      params = { { "first", "number", "the first element" }, { "last", "number", "the limit" },
        { "step", "number?", "from one element to the next", default = "1" }, c.dtype, c.typed },
      options = { c.dtype_option },
      also = { { params = { { "first", "number", "" }, { "last", "number", "" }, { "dtype", "dtype", "" },
        { "options", "options?", "" } } } },
      returns = { { "array", "a new array; empty when the limit lies behind the first" } },
      errors = "A step of 0, numbers that are not finite, elements that do not fit the dtype. "
        .. "The step may be left out before a dtype.",
      cost = "O(n) on the host.",
      waits = "Neither.",
      example = [[
print(table.concat(gr.arange(10, 1, -3, "i32"):table(), " "))
print(#gr.arange(1, 1000, "u16"))]],
      output = "10 7 4 1\n1000",
    },
    {
      name = "linspace",
      text = "Make an array of n evenly spaced numbers with both ends included.",
      params = { { "first", "number", "the first element" },
        { "last", "number", "the last element" }, n, c.dtype, c.typed },
      options = { c.dtype_option },
      returns = { { "array", "a new array" } },
      dtypes = "f16 bf16 f32 f64.",
      errors = "An integer dtype; a length below 0.",
      cost = "O(n) on the host.",
      waits = "Neither.",
      example = [[print(table.concat(gr.linspace(0.5, 2.5, 5):table(), " "))]],
      output = "0.5 1.0 1.5 2.0 2.5",
    },
    {
      name = "rand",
      text = [[
Make an array of random numbers from 0 (included) to 1 (excluded), all equally likely. Each call gives new ones, but for
those of a `seed`; they are the same on every machine (Philox 4x32-10, Salmon and others 2011).]],
      params = { n, c.dtype, { "options", "options?", "" } },
      options = parted,
      returns = { { "array", "a new array" } },
      dtypes = "f16 bf16 f32 f64.",
      errors = "An integer dtype; a `stream` without a `seed`; an `into` of another dtype or length; "
        .. "an unknown option.",
      cost = "O(n), one launch.",
      waits = c.no_wait,
      example = [[
local x, y = gr.rand(1e5), gr.rand(1e5)
print(x:min() >= 0, x:max() < 1, x:equal(y), math.abs(gr.cosine(x - 0.5, y - 0.5)) < 0.02)
print(gr.rand(9, { seed = 7 }):equal(gr.rand(9, { seed = 7 })))]],
      output = "true\ttrue\tfalse\ttrue\ntrue",
    },
    {
      name = "randn",
      text = [[
Make an array of random numbers of the normal distribution with mean 0 and deviation 1 (Box and Muller's pairs, of
numbers that `rand` never gives). `gr.randn(n) * deviation + mean` has others.]],
      params = { n, c.dtype, { "options", "options?", "" } },
      options = parted,
      returns = { { "array", "a new array" } },
      dtypes = "f16 bf16 f32 f64.",
      errors = "An integer dtype; a `stream` without a `seed`; an `into` of another dtype or length; "
        .. "an unknown option.",
      cost = "O(n), one launch.",
      waits = c.no_wait,
      example = [[
local a = gr.randn(1e5, { seed = 1 })
print(math.abs(a:mean()) < 0.02, math.abs(a:std() - 1) < 0.02)]],
      output = "true\ttrue",
    },
    {
      name = "exponential",
      text = [[
Make an array of random numbers of the exponential distribution with mean 1: the time until something happens that
happens once a second on the average. `gr.exponential(n) / rate` has others.]],
      params = { n, c.dtype, { "options", "options?", "" } },
      options = parted,
      returns = { { "array", "a new array" } },
      dtypes = "f16 bf16 f32 f64.",
      errors = "As for `rand`.",
      cost = "O(n), one launch.",
      waits = c.no_wait,
      example = [[
local a = gr.exponential(1e5, { seed = 1 })
print(a:min() >= 0, math.abs(a:mean() - 1) < 0.02)]],
      output = "true\ttrue",
    },
    {
      name = "randint",
      text = [[
Make an array of random whole numbers from low to high, both included as in `math.random`, all equally likely: their
chances differ by less than one part in 2^32 (of more than 2^32 numbers: 2^64).]],
      params = { { "low", "integer", "the least" }, { "high", "integer", "the greatest" }, n, whole_dtype,
        { "options", "options?", "" } },
      options = parted,
      returns = { { "array", "a new array" } },
      dtypes = "u8 i8 u16 i16 u32 i32 i64.",
      errors = "A float dtype; a high below low, ends that the dtype does not have; a `stream` without a `seed`; an "
        .. "`into` of another dtype or length.",
      cost = "O(n), one launch.",
      waits = c.no_wait,
      example = [[
local dice = gr.randint(1, 6, 6e5, "u8", { seed = 1 })
print(dice:min(), dice:max(), math.abs(dice:count { op = "==", value = 6 } - 1e5) < 1500)]],
      output = "1\t6\ttrue",
    },
    {
      name = "permutation",
      text = [[
Make an array of the positions 1 to n in random order. Each element is computed by itself, without a sort: a bijection
with random keys (Mitchell, Stokes, Frank and Holmes, "Bandwidth-Optimal Random Shuffling for GPUs", 2021), here a
Feistel network of 16 rounds with cycle walking. Up to 128 elements are put in the order of random keys of 64 bits, so
that all orders are equally likely.]],
      params = { n, whole_dtype, { "options", "options?", "" } },
      options = random_options,
      returns = { { "array", "a new array" } },
      dtypes = "u8 i8 u16 i16 u32 i32 i64.",
      errors = "A float dtype, or one that does not have n; a `stream` without a `seed`; an `into` of another dtype or "
        .. "length.",
      cost = "O(n), one launch.",
      waits = c.no_wait,
      example = [[
local p = gr.permutation(1000, { seed = 1 })
print(p:min(), p:max(), p:sum(), gr.zeros(1000):put(p, 1):sum())]],
      output = "1\t1000\t500500\t1000.0",
    },
    {
      name = "shuffle",
      text = "The elements of an array in random order, as a new one: `a:take(gr.permutation(#a))` with the same seed.",
      params = { c.a, { "options", "options?", "" } },
      options = { seed, stream,
        { "into", "array?", "the array that takes them (of the input's dtype and length, sharing nothing with it)" } },
      returns = { { "array", "as long as the input" } },
      dtypes = "All. Elements are copied bit for bit.",
      errors = "A `stream` without a `seed`; an `into` of another dtype or length, or one that overlaps the input.",
      cost = "O(n), two launches; 8 bytes an element meanwhile.",
      waits = c.no_wait,
      example = [[
local a = gr.arange(1, 5)
print(a:shuffle():sum(), a:shuffle { seed = 3 }:equal(a:take(gr.permutation(5, { seed = 3 }))))]],
      output = "15.0\ttrue",
    },
    {
      name = "choice",
      text = [[
k random elements of an array. With `replace` each of them is drawn from all: `a:take(gr.randint(1, #a, k))` with the
same seed; without it none comes twice: the start of `gr.permutation`. With weights an element is as likely as its
weight says; without `replace` that holds for the first one drawn, then among those that are left for the next, and so
on (exponential clocks: Efraimidis and Spirakis 2006), and what was drawn comes in random order.]],
      params = { c.a, { "k", "integer", "how many" }, { "options", "options?", "" } },
      options = { { "replace", "boolean?", "whether an element may come again", default = "true" },
        { "weights", "array?", "as long as the input, of any dtype: 0 or more, finite, not all 0. Those below "
          .. "2^-61 of the largest, times n, count as 0" }, seed, stream,
        { "into", "array?", "the array that takes them (k long, of the input's dtype, sharing nothing with it)" } },
      returns = { { "array", "k elements" } },
      dtypes = "All. Elements are copied bit for bit.",
      errors = "An empty array; without `replace` a k above the length, or above the number of weights that are not 0; "
        .. "weights that are negative, not finite, all 0 or of another length; an `into` that does not fit.",
      cost = "O(k): two launches. With weights O(n + k log n): their running sums and a search; without `replace` "
        .. "O(n + k): "
        .. "a selection, as `quantile` has it.",
      waits = "Neither; with weights waits for their range and sum.",
      example = [[
local a = gr.array({ 10, 20, 30 }, "i32")
local drawn = a:choice(1e5, { weights = gr.array { 1, 0, 3 }, seed = 1 })
print(drawn:count { op = "==", value = 20 }, math.abs(drawn:mean() - 25) < 0.2)
print(a:choice(3, { replace = false }):sum())]],
      output = "0\ttrue\n60",
    },
    {
      name = "seed",
      text = "Start the generator of random numbers without a seed of their own anew: the same n, "
        .. "the same numbers.",
      params = { { "n", "integer", "which numbers; a new Lua state begins with 0" } },
      returns = {},
      errors = "What is no whole number.",
      cost = "O(1).",
      waits = c.no_work,
      example = [[
gr.seed(42)
local x, y = gr.rand(3), gr.randn(3)
gr.seed(42)
print(gr.rand(3):equal(x), gr.randn(3):equal(y), gr.rand(3):equal(x))]],
      output = "true\ttrue\tfalse",
    },
  },
}
