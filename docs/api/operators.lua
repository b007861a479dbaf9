local c = ...

local results = "one for each result, in the order of `finish` or of the states; numbers of the whole, arrays of "
  .. "rows and the like"

return {
  title = "Operators of your own",
  text = [[
Reductions and scans by an associative operator that is written in formulas: the running variance, the place of the
largest `|x|`, a bounding box. An element becomes *states*, one to six numbers by name; two neighbouring parts' states
are merged into one; at the end `finish` makes results of the last.

| text | is written in |
|---|---|
| `map`, of each state | `x`, the element, and `i`, its position in its vector from 1 (i64) |
| `merge`, of each state | every state with 1 behind it, of the left part, and with 2, of the right: `m1`, `m2` |
| `finish`, of each result | the states by their names, and `n`, how many elements they are made of (f64) |

The language is that of [formulas](#formulas). A state has the dtype that its map gives for the array's elements (a
number there is i64, or f64 if it is written with a point), so a cast in the map chooses another: `f64(x)`. Its merge
must give that dtype again.

Elements are merged along the tree that sums of their dtype have ([docs/numerics.md](numerics.md)); scans, and
reductions with `commutative = false`, along that of scans. What is absent is not merged, so the identity is a result
only where there is no element at all, and at the start of exclusive scans. An operator that says what a built-in one
says has its bits.

On the CPU the programs run in blocks of about 2000 states on all threads, about a nanosecond a step of merge and
element on one. On a GPU map and merge are compiled as formulas are (`gr.compiled`) for reductions of the whole, unless
they are ordered or have very many steps; the host makes results of the last states. All else other devices leave to the
CPU: elements are copied to the host first, results from there, with the same bits. Expressions are stored first, then
reduced as arrays.]],
  objects = {
    {
      name = "operator", class = "gpureduce.operator", self = "op",
      text = "An operator of one's own. `gr.reduce` and `gr.scan`, and so `a:reduce(op)`, take it in the place of a "
        .. "name; called, `op(a, options)`, it reduces.",
      make = "gr.operator { state = 's', map = 'x', merge = 's1 + s2', identity = 0 }",
      operators = { "call(any): any" },
    },
  },
  entries = {
    {
      name = "operator",
      text = "Make an operator. With one state the fields are as below; with several `state` is a list of names and "
        .. "`map`, `merge` and `identity` are tables by name.",
      params = { { "options", "options", "" } },
      options = {
        { "state", "string|string[]", "the names of 1 to 6 states: letters, digits and `_`" },
        { "map", "string|table", "what an element makes of each" },
        { "merge", "string|table", "what two parts make of each" },
        { "identity", "number|table", "what nothing makes of each" },
        { "finish", "string|string[]?", "what the last states make of each result, up to 6", default = "the states" },
        { "commutative", "boolean?", "`false`: left and right must not change places", default = "true" },
        { "check", "boolean?", "try identity, order and associativity on samples, floats to a tolerance; raise "
          .. "with those that break it", default = "false" },
      },
      returns = { { "operator", "" } },
      errors = "Texts that are no formulas, with the state, the column and a caret. What does not fit an array's dtype "
        .. "raises when the first array of it comes, or here with `check`.",
      cost = "O(length of the texts).", waits = c.no_work,
      example = [[
local box = gr.operator {
  state = { "lo", "hi" },
  map = { lo = "x", hi = "x" },
  merge = { lo = "min(lo1, lo2)", hi = "max(hi1, hi2)" },
  identity = { lo = math.huge, hi = -math.huge },
  check = true,
}
local a = gr.array { 3, -7, 2, 5 }
print(box(a))
local lows, highs = a:reduce(box, { rows = 2 })
print(lows[1], highs[1], lows[2], highs[2])
local mean = gr.operator { state = "s", map = "f64(x)", merge = "s1 + s2", identity = 0, finish = "s / n" }
print(mean(a), table.concat(a:scan(mean):table(), " "))
print(select(2, pcall(gr.operator, { state = "s", map = "x", merge = "s1 - s2", identity = 0, check = true })))]],
      output = "-7.0\t5.0\n-7.0\t3.0\t2.0\t5.0\n0.75\t3.0 -2.0 -0.6666666666666... 0.75\n...check: merge with the "
        .. "identity changes a state: of x = 1 (f64) state 's' is -1 and 1 by (identity, a) and alone)",
    },
    {
      of = "operator", name = "reduce", text = "Reduce an array by it: `op(a, options)` too.",
      params = { { "a", "array|expression", "the input" }, { "options", "options?", "" } },
      options = { c.rows, c.axis, c.segments, c.skipnan, c.mask, c.keepdims,
        { "into", "array?", "with `rows` or `segments` the array that takes the results, if the operator gives one; "
          .. "with `at` the array of which one element does" },
        { "at", "integer?", "which; -1 is the last" }, c.single,
        { "async", "boolean?", "give a [future](#asking-for-results)", default = "false" }, c.comm },
      returns = { { "any", results } },
      dtypes = "All for which the texts have a meaning.",
      errors = "What does not fit the dtype; an `into` of another dtype or length, or beside several results; `out` "
        .. "where no result is f64.",
      cost = "O(n x steps): one pass. With `skipnan` or `mask` what is present of each vector is copied first, and `i` "
        .. "counts that.",
      waits = "Waits. Of other devices than the CPU copies down what is stale, unless it is compiled there.",
      example = [[
local largest = gr.operator {
  state = { "m", "p" },
  map = { m = "abs(x)", p = "i" },
  merge = { m = "max(m1, m2)", p = "m1 > m2 and p1 or (m2 > m1 and p2 or min(p1, p2))" },
  identity = { m = -1, p = 0 },
}
print(largest:reduce(gr.array { 3, -7, 7, 5 }))]],
      output = "7.0\t2",
    },
    {
      of = "operator", name = "scan", text = "The running results: `gr.scan(a, op, options)`.",
      params = { { "a", "array|expression", "the input" }, { "options", "options?", "" } },
      options = { { "exclusive", "boolean?", "element k takes what came before it", default = "false" },
        { "reverse", "boolean?", "from the end to the start", default = "false" },
        c.rows, { "axis", "integer?", "2: each row by itself, 1: each column; with `rows`, or of a matrix",
          default = "2" }, c.skipnan, c.mask,
        { "into", "array?", "the array that takes the results, if the operator gives one" }, c.single, c.comm },
      returns = { { "array", "as long as the input and of its shape; one for each result" } },
      errors = "As `reduce`.", cost = "O(n x steps): one pass; rows and columns one after the other. With `skipnan` or "
        .. "`mask` what is present is copied and scanned, so `i` counts that; the place of a missing element has what "
        .. "there is so far, or the result of nothing.",
      waits = "Waits. Of other devices than the CPU copies down what is stale.",
      example = [[
-- y = 0.5 * y + x, all at once: two such steps are one
local decay = gr.operator {
  state = { "a", "y" },
  map = { a = "f64(0.5)", y = "f64(x)" },
  merge = { a = "a1 * a2", y = "a2 * y1 + y2" },
  identity = { a = 1, y = 0 },
  finish = "y",
  commutative = false,
}
print(table.concat(decay:scan(gr.array { 8, 0, 0, 1 }):table(), " "))]],
      output = "8.0 4.0 2.0 2.0",
    },
  },
}
