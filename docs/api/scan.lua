local c = ...

return {
  title = "Scans",
  text = "Running results: element k of a scan is the reduction of the first k elements.",
  entries = {
    {
      name = "scan",
      text = "The running sum, product, minimum or maximum of an array.",
      params = { c.a, { "op", "string?", '`"sum"`, `"prod"`, `"min"` or `"max"`', default = '`"sum"`' },
        { "options", "options?", "" } },
      options = {
        { "exclusive", "boolean?", "element k takes what came before it; the first is the identity",
          default = "false" },
        { "reverse", "boolean?", "from the end to the start", default = "false" },
        c.into, c.kernel, c.block, c.timed,
      },
      returns = { { "array", "as long as the input" } },
      dtypes = "All. Sums and products: i64 of integers (they wrap), f32 of f16, bf16 and f32 (rounded from f64), f64 "
        .. "of f64. Minima and maxima: the input's.",
      errors = "Another operation; an `into` of another dtype or length, "
        .. "or one that overlaps the input without being it.",
      cost = "O(n): one pass, one launch (decoupled look-back, Merrill and Garland 2016).",
      waits = c.no_wait,
      example = [[
local a = gr.array({ 3, 1, 4, 1, 5 }, "i32")
print(table.concat(a:scan():table(), " "))
print(table.concat(a:scan("max"):table(), " "))
print(table.concat(a:scan("sum", { exclusive = true, reverse = true }):table(), " "))]],
      output = "3 4 8 9 14\n3 3 4 4 5\n11 10 6 5 0",
    },
  },
}
