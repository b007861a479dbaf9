local c = ...

local first = { "i", "integer?", "the first position; negative: from the end", default = "1" }
local last = { "j", "integer?", "the last position, included", default = "-1" }

return {
  title = "Looking at arrays",
  text = [[
Positions count from 1, ranges include both ends, negatives count from the end, as in `string.sub`. An array knows
which of its copies (host, device) is current, in pieces of 64 KiB, and moves bytes only when somebody needs the other.
Functions whose first parameter is an array are its methods too.]],
  objects = {
    {
      name = "array", class = "gpureduce.array", self = "a",
      text = "A typed array, or a view of one.",
      fields = { { "dtype", "dtype", "the type of its elements" },
        { "rows", "integer?", "of a matrix" }, { "columns", "integer?", "of a matrix" },
        { "shape", "integer[]", "`{ n }`, or `{ rows, columns }`" }, { "[integer]", "number", "the elements" } },
      operators = {
        "add(array|number): array", "sub(array|number): array", "mul(array|number): array", "div(array|number): array",
        "unm: array", "len: integer",
      },
    },
  },
  entries = {
    {
      name = "a[i]", syntax = { "a[i]", "a[i] = v", "a[index]", "a[index] = v", "a[mask]", "a[mask] = v" },
      text = "Read or write one element; negative positions count from the end. Reading beyond n gives nil, so that "
        .. "loops stop there. Not for loops over all: see `table`. An array or expression of u8 in brackets is a "
        .. "mask, as "
        .. "long as a: the elements that it marks are read as `compact` does, or get v, one number or a value for "
        .. "each in "
        .. "turn. One of another integer dtype is an index: `take` and `put`. Of a matrix `X[i]` is a row "
        .. "([Matrices](#matrices)).",
      params = { { "i", "integer", "the position, 1 to n, or -1 (the last) to -n" },
        { "v", "number|array", "what is stored" } },
      returns = { { "number|array", "the element, an integer as a Lua integer where Lua has them; or the elements" } },
      errors = "Position 0 and those below -n; writing beyond n, or what does not fit the dtype; a key that is no "
        .. "position and no method's name; what `compact`, `take` and `put` refuse.",
      cost = "O(1); of arrays that of `compact`, `take` and `put`.",
      waits = "When the element is current only on the device: waits, and brings its 64 KiB. A write makes the "
        .. "device's copy of them stale.",
      example = [[
local a = gr.array { 10, 20, 30 }
a[2] = a[1] + 5
print(a[2], a[-1], a[4])
a[a:compare(">", 20)] = 0
print(table.concat(a[gr.array({ 3, 1 }, "i32")]:table(), " "))]],
      output = "15.0\t30.0\tnil\n0.0 10.0",
    },
    {
      name = "#a", syntax = { "#a" },
      text = "The number of elements.",
      params = {}, returns = { { "integer", "the length" } },
      errors = "A released array raises.", cost = "O(1).", waits = c.no_work,
      example = [[print(#gr.zeros(7))]],
      output = "7",
    },
    {
      name = "tostring(a)", syntax = { "tostring(a)" },
      text = "Type, dtype, length or shape, and where the data is current; never the data.",
      params = {}, returns = { { "string", "one line" } },
      errors = "None.", cost = "O(1).", waits = c.no_work,
      example = [[print(gr.zeros(7))]],
      output = "gpureduce.array f32[7] (...)",
    },
    {
      name = "slice",
      text = [[
A view of a part: it shares the elements, so what is written to one is seen in the other. With a negative step it runs
from i down to j.]],
      params = { c.a, { "i", "integer?", "the first position", default = "the start of the direction" },
        { "j", "integer?", "the last position, included", default = "the end of the direction" },
        { "step", "integer?", "from one element to the next, not 0", default = "1" } },
      returns = { { "array", "the view; a view and its copy give the same bits everywhere" } },
      errors = "Positions out of range; a step of 0.",
      cost = "O(1).", waits = c.no_work,
      example = [[
local a = gr.arange(1, 10)
local odd, back = a:slice(1, -1, 2), a:slice(-1, 1, -1)
print(odd:sum(), back[1], #a:slice(3, 5))]],
      output = "25.0\t10.0\t3",
    },
    {
      name = "table",
      text = "The elements as a Lua table; of a matrix its rows, a table each. The way to read many: one copy, "
        .. "one wait.",
      params = { c.a, first, last },
      returns = { { "table", "a new one" } },
      errors = "Positions out of range.",
      cost = "O(count).",
      waits = "Waits, and copies down what is stale on the host.",
      example = [[print(table.concat(gr.arange(1, 5, "i32"):table(2, -2), " "))]],
      output = "2 3 4",
    },
    {
      name = "ipairs",
      text = [[
A loop over all elements in turn, of a matrix over its rows, on every Lua: `for i, v in gr.ipairs(a) do`. Lua's own
`ipairs(a)` does the same from Lua 5.2 on; in Lua 5.1 and LuaJIT it takes tables alone. Each element is read when its
turn comes, so the loop sees what it writes.]],
      params = { c.a },
      returns = { { "function", "gives each position and its element" }, { "array", "a" }, { "integer", "0" } },
      errors = "An array that is released in the loop.",
      cost = "O(1) an element: some 30 ns, 10 under LuaJIT. `table` brings all at once, reductions bring none.",
      waits = "Waits, and brings 64 KiB at a time, where elements are stale on the host.",
      example = [[
for i, v in gr.ipairs(gr.array({ 10, 20 }, "i32")) do print(i, v) end]],
      output = "1\t10\n2\t20",
    },
    {
      name = "bytes",
      text = "The elements as a packed string in the machine's byte order: exact for every dtype, and fast.",
      params = { c.a, first, last },
      returns = { { "string", "count times the element's size" } },
      errors = "Positions out of range.",
      cost = "O(count).",
      waits = "Waits, and copies down what is stale on the host.",
      example = [[print(gr.array({ 76, 117, 97 }, "u8"):bytes())]],
      output = "Lua",
    },
    {
      name = "copy",
      text = "A new contiguous array with the same elements and shape, on the device in use; "
        .. "or the elements put into another array.",
      params = { c.a, { "options", "options?", "" } },
      options = { { "into", "array?", "the array or view that takes them: same dtype and length, on any device, "
        .. "apart from a" } },
      returns = { { "array", "a new array, or `into`" } },
      errors = "An `into` of another dtype or length, or one that overlaps a. " .. c.input_errors,
      cost = "O(n), one launch.",
      waits = "Between devices it copies over the host and waits; else neither.",
      example = [[
local a = gr.arange(1, 6)
local b = a:slice(2, 6, 2):copy()
b[1] = 0
gr.zeros(2):copy { into = a:slice(1, 2) }
print(a[2], a[4], b:sum())]],
      output = "0.0\t4.0\t10.0",
    },
    {
      name = "fill",
      text = "Store one value in every element.",
      params = { c.a, { "value", "number", "what each element becomes" } },
      returns = { { "array", "the same array" } },
      errors = "A value that does not fit the dtype.",
      cost = "O(n), one launch.",
      waits = c.no_wait,
      example = [[print(gr.zeros(4):fill(3):sum())]],
      output = "12.0",
    },
    {
      name = "equal",
      text = "Whether two arrays have the same dtype, the same length and shape, and the same numbers.",
      params = { c.a, { "b", "array", "the other array" } },
      returns = { { "boolean", "true when nothing differs; zeros of either sign are equal, and so are NaNs (`digest` "
        .. "tells bits apart)" } },
      errors = "Arrays on different devices; " .. "what is no array.",
      cost = "O(n), one launch.",
      waits = c.reads_one,
      example = [[print(gr.ones(3):equal(gr.full(3, 1)), gr.ones(3):equal(gr.ones(4)))]],
      output = "true\tfalse",
    },
    {
      name = "info",
      text = "What there is to know about an array without touching its data.",
      params = { c.a },
      returns = { { "table", "`n`, `dtype`, `size` (bytes of an element), `stride` (elements), `storage_bytes`, "
        .. "`references` (views that share them), `device`, `where` (which copy is current); of a matrix `rows` and "
        .. "`columns`" } },
      errors = c.input_errors, cost = "O(1).", waits = c.no_work,
      example = [[
local i = gr.zeros(10, "f16"):slice(1, 10, 3):info()
print(i.n, i.dtype, i.size, i.stride, i.storage_bytes, i.references)]],
      output = "4\tf16\t2\t3\t20\t...",
    },
  },
}
