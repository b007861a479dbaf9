local c = ...

local x = { "x", "array|number|expression", "as long as it, of the same dtype" }
local errors = "Another dtype or length; more than 4096 steps, or 200 one after another."
local cost = "O(steps): nothing is computed for elements yet."

local function relation(name, sign)
  return {
    of = "expression", name = name, text = ("Where its elements are `%s x`: a mask, u8."):format(sign),
    params = { x }, returns = { { "expression", "u8, 1 or 0" } }, errors = errors, cost = cost, waits = c.no_work,
    example = ("print(gr.lazy(gr.array { 1, 2, 3 }):%s(2):sum())"):format(name),
    output = tostring(({ lt = 1, le = 2, eq = 1, ne = 2, ge = 2, gt = 1 })[name]),
  }
end

local function logic(name, text, output, params)
  return {
    of = "expression", name = name, text = text, params = params or { x },
    returns = { { "expression", "u8, 1 or 0" } }, errors = errors, cost = cost, waits = c.no_work,
    example = ("local e = gr.lazy(gr.array { 0, 2, 0 })\nprint(e:%s(%s):sum())"):format(name, params and ""
      or "gr.array { 3, 4, 0 }"),
    output = output,
  }
end

local words = {
  { "`x`", "an input: an array, a number, or an expression; beside a matrix also `gr.row(v)`, `gr.column(v)`, or a "
    .. "vector that fits one way" },
  { "`scalar(x)`", "an array of one element, which is read on the device and goes with every element; "
    .. "`gr.scalar(x)` outside of texts" },
  { "`row(v)`, `column(v)`", "in a matrix, row by row: `v` for each row, or for each column. How many of the "
    .. "other side "
    .. "there are follows from the other inputs" },
  { "`i`, `n`", "the position, from 1, an i64; the length, a number" },
  { "`f32(x)`, `i64(x)`, ...", "a cast, as `gr.cast` does it; dtypes do not mix without" },
  { "`sqrt(x)`, `abs(x)`, ...", "the element operators ([Element by element](#element-by-element)) by name; "
    .. "`clamp(x, low, high)`; `min(x, y)` and `max(x, y)` are "
    .. "`minimum` and `maximum`" },
  { "`where(c, x, y)`", "`x` where `c` is not zero, else `y`" },
  { "`x < y`, ...", "a mask: u8, 1 or 0" },
  { "`x and y`, `x or y`, `not x`", "masks of what is not zero; NaN is not" },
  { "`c and x or y`", "`where(c, x, y)`: `x` wherever `c` is not zero, **even where `x` is 0**, which is not "
    .. "Lua's rule. "
    .. "With parentheses, `(c and x) or y`, a mask" },
  { "`x^y`", "a power, as `gr.pow` has it; of integers f64, as in Lua. Exponents -1 to 4 and 0.5 written as "
          .. "numbers are "
    .. "products, a quotient and a root, with the same bits" },
}
for k, row in ipairs(words) do words[k] = ("| %s | %s |"):format(row[1], row[2]) end

return {
  title = "Formulas",
  text = [[
A formula of one's own, computed for all elements in one pass: nothing is stored between its steps. Its results have
the bits that the operators have one after the other, on every device.

```
formula    = or
or         = and { "or" and }
and        = comparison { "and" comparison }
comparison = bits { ( "<" | "<=" | "==" | "~=" | ">=" | ">" ) bits }
bits       = either { "|" either }
either     = both { "~" both }
both       = shift { "&" shift }
shift      = sum { ( "<<" | ">>" ) sum }
sum        = product { ( "+" | "-" ) product }
product    = unary { ( "*" | "/" | "//" | "%" ) unary }
unary      = { "-" | "not" | "~" } power
power      = operand [ "^" unary ]
operand    = NUMBER | NAME | NAME "(" formula { "," formula } ")" | "(" formula ")"
```

Numbers, names, comments (`--` to the end of the line) and precedence are Lua's, of 5.3 and later on every Lua;
`//` and `%` are `floordiv` and `mod`, `& | ~ << >>` and unary `~` are `band`, `bor`, `bxor`, `shl`, `shr` and `bnot`,
of integers.

| in a formula | is |
|---|---|
]] .. table.concat(words, "\n") .. [[


A number in an array's place is rounded to the array's dtype, or must fit it, as operators on arrays have it; numbers
among themselves are computed once. They are no part of what is prepared for a formula: other numbers, and arrays of
other lengths, cost nothing.

What is said twice is computed once. On the CPU, blocks of 1024 elements go through all steps while they are in the
first cache, and feed what ends the formula, which needs no memory for the elements: all reductions of the whole, of
rows and of segments, `gr.many` of several, `dot`, `mse` and `cosine` of two expressions; columns of 16
rows and more; histograms between given edges or `min` and `max`, with integer weights too; scans; what `compact`
keeps; and `exact` sums, means, norms and dots of the whole. What has to see the elements twice has them stored, in
one pass to memory that goes back at the end of the call: histograms of the data's own range, weights of floats,
`bincount`, predicates of `compact`, other `exact` results, and the others.

On GPUs the driver compiles a formula together with the kernel that takes its elements, the first time
([compiled](#compiled) lists them): reductions of the whole, of segments and of rows of 1 KiB and more read the inputs
once and store nothing; so do sums and means of columns of floats, if a row has a multiple of 16 bytes; histograms of
elements of two bytes and more, up to the bins that a block has room for; and scans forwards, on chips from 8.0 on.
Shorter rows, other columns and histograms, `compact` and the others take elements that such a
kernel has stored in one pass. Formulas of more than 512 steps run step by step, in pieces of 4 million elements, and
so do all with `GPUREDUCE_JIT=0` in the environment.]],
  objects = {
    {
      name = "formula", class = "gpureduce.formula", self = "f",
      text = "A formula that has been read; called with a table of its inputs, `f{a = a, b = 2}`, it gives an "
        .. "expression.",
      make = "gr.fuse 'a'", operators = { "call(table): expression" },
    },
    {
      name = "expression", class = "gpureduce.expression", self = "e",
      text = "A formula of arrays and numbers that nobody has computed yet. It holds its arrays as views do; "
        .. "what is written "
        .. "to them later counts. `#e` is its length. Functions of the module that take an array's values take "
          .. "it in the "
        .. "array's place, and are methods of it too: all reductions, `gr.many`, `histogram` (`weights` as "
          .. "well), `bincount`, "
        .. "`scan`, `compact` (as values and as mask), `take` (as values and as index), `shuffle`, `choice`, "
          .. "`quantile`, `median`, "
        .. "`rmsnorm`, `softmax`, `cov`, `corr`, `digest`, `allclose`, `isclose`, "
          .. "`differ`. "
          .. "The element "
        .. "operators, `compare` and `where`, and `+ - * / % ^` and unary `-` (where Lua has them, `//`, "
          .. "`& | ~ << >>` and unary `~` too), give expressions again. `<` and "
          .. "`<=` raise, as Lua would make "
        .. "booleans of them; `and` and `==` are Lua's own: write `land` and `eq`.",
      make = "gr.lazy(gr.ones(1))", shares = {
        values = "sum prod min max minmax mean var std argmin argmax any all count norm reduce dot mse cosine "
          .. "logsumexp "
          .. "histogram histogram2d bincount scan compact take shuffle choice quantile median rmsnorm softmax cov "
          .. "corr digest allclose isclose differ",
        elements = "add sub mul div floordiv mod fmod neg abs sign square minimum maximum clamp floor ceil "
          .. "round trunc sqrt "
          .. "rsqrt cbrt hypot exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh "
          .. "cosh tanh band "
          .. "bor bxor bnot shl shr isnan isinf isfinite cast compare where",
      },
      operators = { "add(any): expression", "sub(any): expression",
        "mul(any): expression",
        "div(any): expression", "pow(any): expression", "unm: expression",
          "len: integer" },
    },
  },
  entries = {
    {
      name = "fuse",
      text = "Read a formula. Its inputs come when it is called: `f{name = value, ...}`, each an array, a number or an "
        .. "expression, all arrays of one length on one device. `n` is their length; where no array says it, give it.",
      params = { { "text", "string", "up to 65536 characters, 4096 parts, 256 names, 64 arrays, and 200 operators one "
        .. "within another" } },
      returns = { { "formula", "" } },
      errors = "A text that is no formula, and inputs that do not fit, raise with the column and the line, a "
        .. "caret below.",
      cost = "O(length of the text).", waits = c.no_work,
      example = [[
local m, vx, vy = gr.array { 2, 4 }, gr.array { 3, 1 }, gr.array { 4, 0 }
local energy = gr.fuse "0.5 * m * (vx^2 + vy^2)"
local e = energy { m = m, vx = vx, vy = vy }
print(e:sum(), e:max())
print(gr.fuse "a < limit and a or 0" { a = m, limit = 3 }:eval():table()[2])
print(select(2, pcall(gr.fuse, "a * (b + 1")))]],
      output = "27.0\t25.0\n0.0\n...')' expected for the '(' of column 5, got the end\n  a * (b + 1\n            ^)",
    },
    {
      name = "lazy",
      text = "An expression of an array's elements, for formulas by operators and methods instead of a text.",
      params = { { "a", "array|expression", "an expression is given back as it is" } },
      returns = { { "expression", "" } },
      errors = c.input_errors, cost = "O(1).", waits = c.no_work,
      example = [[
local a, b = gr.array { 1, -2, 3 }, gr.array { 2, 2, 2 }
local x = gr.lazy(a)
print(((x - b) ^ 2):sum(), x:lt(0):where(-x, x):max(), (x * b):scan()[3])]],
      output = "18.0\t3.0\t4.0",
    },
    {
      of = "expression", name = "eval", text = "Compute all elements.",
      params = { { "options", "options?", "" } },
      options = { { "into", "array?", "the array that takes them: of its dtype and length; one of the inputs, "
        .. "unless that is a `scalar`, `row` or `column`, or nothing that the inputs share" } },
      returns = { { "array", "" } },
      errors = "An `into` of another dtype or length, or one that overlaps an input otherwise.",
      cost = "O(n x steps): one pass over the inputs; the first time on a GPU some 0.1 s, to compile it "
        .. "(`gr.compiled`).", waits = c.no_wait,
      example = "print(gr.fuse \"i * i\" { n = 4 }:eval():table()[4])", output = "16",
    },
    {
      of = "expression", name = "steps",
      text = "What it does, a line a step: its number, dtype, operator and operands, where `#1` is a number. Not yet "
        .. "computed parts that are the same are one step.",
      params = {}, returns = { { "string", "" } }, errors = "None.", cost = cost, waits = c.no_work,
      example = "print((((gr.lazy(gr.ones(3)) + 1) ^ 2):steps():gsub(\"\\n$\", \"\")))",
      output = "1: f32 array 1\n2: f32 add 1 #1\n3: f32 square 2",
    },
    {
      of = "expression", name = "info", text = "What is known of it.",
      params = {}, returns = { { "table", "`dtype`, `n` and `steps`, how many there are; of a matrix "
        .. "`rows` and `columns`" } }, errors = "None.",
        cost = "O(steps).",
      waits = c.no_work, example = "print(gr.fuse \"i > 2\" { n = 5 }:info().dtype)", output = "u8",
    },
    {
      of = "expression", name = "release", text = "Let go of its arrays, without waiting for the collector.",
      params = {}, returns = {}, errors = "None.", cost = "O(arrays).", waits = c.no_work,
      example = "local e = gr.lazy(gr.ones(3)) * 2\ne:release()\nprint(e)", output = "gpureduce.expression (released)",
    },
    relation("lt", "<"), relation("le", "<="), relation("eq", "=="), relation("ne", "~="), relation("ge", ">="),
    relation("gt", ">"),
    logic("land", "Where it and x are not zero: `and` in a formula.", "1"),
    logic("lor", "Where it or x is not zero: `or` in a formula.", "2"),
    logic("lnot", "Where it is zero: `not` in a formula.", "2", {}),
    {
      of = "expression", name = "pow",
        text = "Its elements to a power; `e ^ y`, as `gr.pow` has it.",
      params = { { "y", "number", "the exponent" } }, returns = { { "expression", "floats; of integers f64" } },
      errors = errors, cost = cost, waits = c.no_work,
      example = "print((gr.lazy(gr.array { 2, 3 }) ^ -1):sum())", output = "0.8333333432674...",
    },
  },
}
