local c = ...

return {
  title = "Scans",
  text = "Running results: element k of a scan is the reduction of the first k elements.",
  entries = {
    {
      name = "scan",
      text = "The running sum, product, minimum or maximum of an array.",
      params = { c.a, { "op", "string|operator?",
        '`"sum"`, `"prod"`, `"min"`, `"max"`, or [one of your own](#operators-of-your-own)', default = '`"sum"`' },
        { "options", "options?", "" } },
      options = {
        { "exclusive", "boolean?", "element k takes what came before it; the first is the identity",
          default = "false" },
        { "reverse", "boolean?", "from the end to the start", default = "false" },
        c.rows, { "axis", "integer?", "2: each row by itself, 1: each column; with `rows`, or of a matrix",
          default = "2" },
        c.skipnan, c.mask, c.into, c.kernel, c.block, c.timed, c.comm,
      },
      returns = { { "array", "as long as the input, and of its shape. Of a matrix without `axis`: of all its "
        .. "elements" } },
      dtypes = "All. Sums and products: i64 of integers (they wrap), f32 of f16, bf16 and f32 (rounded from f64), f64 "
        .. "of f64. Minima and maxima: the input's.",
      units = "A missing element adds nothing, and its place holds what there is so far: before the first present one "
        .. "0, 1, or for minima and maxima the other end of the dtype (infinite of floats). That is NumPy's "
        .. "`nancumsum` and `nancumprod`; a running -0 becomes 0 there.",
      errors = "Another operation; `kernel` with one of your own; an `into` of another dtype or length, "
        .. "or one that overlaps the input without being it.",
      cost = "O(n): one pass, one launch (decoupled look-back, Merrill and Garland 2016); of rows and columns one "
        .. "for all, but on the CPU, and of rows, one each above 2^22 elements.",
      waits = c.no_wait,
      example = [[
local a = gr.array({ 3, 1, 4, 1, 5 }, "i32")
print(table.concat(a:scan():table(), " "))
print(table.concat(a:scan("max"):table(), " "))
print(table.concat(a:scan { mask = a:compare("~=", 4) }:table(), " "))
print(table.concat(a:scan("sum", { exclusive = true, reverse = true }):table(), " "))
local X = gr.arange(1, 6, "i32"):matrix(2):scan { axis = 2 }
print(X[1][3], X[2][1], X[2][3])]],
      output = "3 4 8 9 14\n3 3 4 4 5\n3 4 4 5 10\n11 10 6 5 0\n6\t4\t15",
    },
  },
}
