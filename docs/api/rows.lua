local c = ...

return {
  title = "Rows of matrices",
  text = "Operations that turn each row of a matrix into another row.",
  entries = {
    {
      name = "rmsnorm",
      text = "Divide each row by the root of the mean of its squares, "
        .. "and multiply by weights (Zhang and Sennrich 2019).",
      params = { { "x", "array", "the rows, one after the other" },
        { "w", "array?", "one weight for each column, of the same dtype", default = "no weights" },
        { "options", "options?", "" } },
      options = { { "rows", "integer?", "how many rows; must divide the length", default = "those of a matrix, or 1" },
        { "eps", "number?", "added to the mean of squares", default = "1e-5" }, c.into,
        c.kernel, c.block, c.timed },
      returns = { { "array", "of the input's dtype and length" } },
      dtypes = "f16 bf16 f32 f64; the squares are added in f64.",
      errors = "Integer dtypes; weights of another dtype or length; an `eps` below 0.",
      cost = "O(n): one launch where rows, weights and results lie in whole aligned words of 16 bytes, else two.",
      waits = c.no_wait,
      example = [[
local y = gr.rmsnorm(gr.array { 3, 4, 6, 8 }, nil, { rows = 2, eps = 0 })
print(("%.3f %.3f %.3f %.3f"):format(y[1], y[2], y[3], y[4]))]],
      output = "0.849 1.131 0.849 1.131",
    },
    {
      name = "softmax",
      text = "Each row as shares: exp(x - max) divided by the row's sum of these. Large numbers do not overflow.",
      params = { { "x", "array", "the rows, one after the other" }, { "options", "options?", "" } },
      options = { { "rows", "integer?", "how many rows; must divide the length", default = "those of a matrix, or 1" },
        c.into },
      returns = { { "array", "of the input's dtype and length. A row with NaN or +infinity, or of nothing but "
        .. "-infinity, gives NaN" } },
      dtypes = "f16 bf16 f32 f64; sums in f64; exponentials in f32, of f64 in f64 (docs/numerics.md).",
      errors = "Integer dtypes; rows that do not divide the length.",
      cost = "O(n): one launch for rows of up to some 10^6 elements (f64: half as many), else four.",
      waits = c.no_wait,
      example = [[
local y = gr.softmax(gr.array { 0, 0, 1000, 1000 }, { rows = 2 })
print(y[1], y[2], y[3], y[4])]],
      output = "0.5\t0.5\t0.5\t0.5",
    },
  },
}
