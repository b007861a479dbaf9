local c = ...

local matrix = { "X", "array", "a matrix" }
local present = "With `skipnan` or `mask` each two columns are compared over the rows in which both are present, with "
  .. "means and deviations of these rows alone: pairwise complete observations, as pandas' and R's (`numpy.ma` takes "
  .. "each column's own mean). Such a matrix need not be positive semidefinite."
local no_matrix = "What is no matrix."

return {
  title = "Matrices",
  text = [[
`a:matrix(rows)` reads an array as a matrix, row by row. It is an array as before: `#X` counts its elements, and
whatever takes arrays takes matrices, in this order of their elements. Besides,

- `X.rows`, `X.columns` and `X.shape` (`{ rows, columns }`) say what it is; of a vector they are nil, nil and `{ n }`.
- `X[i]` is row i as a view, so `X[i][j]` is an element and `X[i][j] = v` writes one; `X[i] = v` copies a vector of its
  dtype and length there. `X[i]` beyond the last row is nil.
- `X:table()` is a table of rows (`X:table(i, j)` of those from i to j), `X:slice()` all elements as a vector again.
- Copies, casts, element operators, scans, and what NPY files keep have its shape.
- Reductions take `axis` without `rows`: 1 gives a result for each column, 2 for each row. Without it they are of all
  elements. `keepdims = true` gives a matrix of one row, or of one column, that goes back into operators.
- `softmax` and `rmsnorm` go by its rows; `dot`, `mse` and `cosine` of two matrices of one shape row by row, or column
  by column.

**Rows and columns in operators.** `X - gr.row(mu)` takes `mu` from each row, `X / gr.column(s)` divides each column by
`s`; so do comparisons, `where`, and formulas (`gr.lazy(X) - gr.row(mu)`, `f { x = X, mu = gr.row(mu) }`). A matrix of
one row is a row, one of one column is a column, and a bare vector goes the only way that it fits: `X - mu` is the same
where there are as many columns as elements, and not as many rows. A vector that fits both ways raises, and so does one
that fits neither; one as long as all of X goes element by element. A row and a column alone make a matrix of all pairs.
An array of one element goes with all of what it meets, matrix or vector, as `gr.scalar(s)`.

**Data that lies xyzxyz...** is a matrix of three columns: `P:minmax { axis = 1 }` is the bounding box of the points and
`P:mean { axis = 1 }` their centre, each in one call.]],
  entries = {
    {
      name = "matrix",
      text = "A view of an array as a matrix of so many rows.",
      params = { c.a, { "rows", "integer", "1 or more; must divide the length" },
        { "columns", "integer?", "for readers: must be the length divided by the rows" } },
      returns = { { "array", "the matrix, which shares the elements" } },
      errors = "Rows that do not divide the length; other columns than these rows have.", cost = "O(1).",
      waits = c.no_work,
      example = [[
local X = gr.arange(1, 6):matrix(2)
X[2][3] = 60
print(X, #X, X.rows, X.columns, X[2][3])
print(table.concat(X:sum { axis = 1 }:table(), " "), X:sum())
local Z = X - X:mean { axis = 2, keepdims = true, out = "f32" }
print(Z[1][1], Z[1][2], Z[1][3])]],
      output = "gpureduce.array f32[2 x 3] (...)\t6\t2\t3\t60.0\n5.0 7.0 63.0\t75.0\n-1.0\t0.0\t1.0",
    },
    {
      name = "row",
      text = "With i: row i of a matrix, as a view. Of a vector alone: that vector as a row, which operators repeat "
        .. "for all rows of the matrix that it meets.",
      params = { { "a", "array", "a matrix, or a vector (also a matrix of one row or one column)" },
        { "i", "integer?", "which row; negative from the end" } },
      returns = { { "array|expression", "the view; or the row, for operators and formulas" } },
      errors = "A position out of range. In operators: a row that is not as long as the matrix has columns; one that "
        .. "meets nothing with a length.",
      cost = "O(1).", waits = c.no_work,
      example = [[
local X, mu = gr.arange(1, 4):matrix(2), gr.array { 1, 10 }
local Y = X * gr.row(mu)
print(Y[1][2], Y:row(-1)[1], gr.fuse "x - mu" { x = X, mu = gr.row(mu) }:sum())]],
      output = "20.0\t3.0\t-12.0",
    },
    {
      name = "column",
      text = "With j: column j of a matrix, as a view. Of a vector alone: that vector as a column, which operators "
        .. "repeat for all columns of the matrix that it meets.",
      params = { { "a", "array", "a matrix, or a vector (also a matrix of one row or one column)" },
        { "j", "integer?", "which column; negative from the end" } },
      returns = { { "array|expression", "the view; or the column, for operators and formulas" } },
      errors = "A position out of range. In operators: a column that is not as long as the matrix has rows; one that "
        .. "meets nothing with a length.",
      cost = "O(1).", waits = c.no_work,
      example = [[
local P = gr.array { 1, 20, -3, 4, -50, 6 }:matrix(2) -- points x, y, z
print(P:column(2):min(), P:max { axis = 1 }:table()[3])
local pairs_of = gr.row(gr.array { 1, 2 }) + gr.column(gr.array { 10, 20, 30 })
print(pairs_of.rows, pairs_of[3][2])]],
      output = "-50.0\t6.0\n3\t32.0",
    },
    {
      name = "scalar",
      text = "An array of one element, which operators repeat for all elements of the vector or matrix that it meets. "
        .. "It is read where it lies, so a result that was left there (`{into=, at=}`) is used without a wait; in the "
        .. "text of a formula `scalar(x)` says the same.",
      params = { { "a", "array", "of one element; `a:slice(i, i)` is one of several" } },
      returns = { { "expression", "the scalar, for operators and formulas" } },
      errors = "Another length. In operators: another dtype than the other side's; one that meets nothing with a "
        .. "length.",
      cost = "O(1).", waits = c.no_work,
      example = [[
local a, total = gr.array { 1, 2, 5 }, gr.zeros(1)
a:sum { into = total, at = 1 }
print(table.concat((a / gr.scalar(total)):table(), " "))]],
      output = "0.125 0.25 0.625",
    },
    {
      name = "transpose",
      text = "The matrix turned over, as a view: no element moves. Its rows, columns and elements, its reductions by "
        .. "`axis`, `fill` and `release` take it as it lies; all else works on a copy whose elements are in "
        .. "order. `put` and `T[index] = values` write what they change in that copy back.",
      params = { matrix },
      returns = { { "array", "a matrix of `X.columns` rows; what is written to its elements shows in X. It cannot be "
        .. "`into`" } },
      errors = no_matrix, cost = "O(1); where its elements are put in order O(n), a launch for each row or column, "
        .. "whichever are fewer.", waits = c.no_work,
      example = [[
local X = gr.arange(1, 6):matrix(2)
local T = X:transpose()
print(T.rows, T[3][2], T:sum { axis = 1 }:table()[2], (T * T)[1][2])]],
      output = "3\t6.0\t15.0\t16.0",
    },
    {
      name = "cov",
      text = "The covariances of the columns of a matrix: how each two of them vary together, and their variances on "
        .. "the diagonal.",
      params = { matrix, { "options", "options?", "" } },
      options = { { "rows", "integer?", "read an array as a matrix of so many rows" },
        { "ddof", "number?", "what is subtracted from the number of rows in the divisor; NumPy's default is 1",
          default = "0" }, c.skipnan, c.mask, c.single, c.into },
      returns = { { "array", "a matrix of f64, with a row and a column for each column, the same from both sides" } },
      dtypes = "All. Means are subtracted in f64, products added along the tree.",
      units = present .. " NaN where there are not more of them than `ddof`.",
      errors = no_matrix .. " A `ddof` that is not below the number of rows.",
      cost = "O(n columns): of up to 32 columns two launches on GPUs and a few more; else one for each column, with "
        .. "`skipnan` or `mask` nine.",
      waits = "Waits for the means of the columns, unless a GPU has all products in one pass.",
      example = [[
local X = gr.array { 1, 10, 2, 8, 3, 6 }:matrix(3)
local C = X:cov()
print(C[1][1] * 3, C[1][2] * 3, C[2][2] * 3, X:cov { ddof = 1 }[2][1])]],
      output = "2.0\t-4.0\t8.0\t-2.0",
    },
    {
      name = "corr",
      text = "The correlations (Pearson's) of the columns of a matrix: their covariances over both deviations.",
      params = { matrix, { "options", "options?", "" } },
      options = { { "rows", "integer?", "read an array as a matrix of so many rows" }, c.skipnan, c.mask, c.single,
        c.into },
      returns = { { "array", "a matrix of f64, from -1 to 1, with ones on the diagonal; NaN in the row and "
        .. "column of one that does not vary" } },
      dtypes = "All, as `cov`.", units = present, errors = no_matrix,
      cost = "O(n columns): three launches for each column, and a few more; with `skipnan` or `mask` eleven.",
      waits = "Waits for means and deviations of the columns.",
      example = [[
local X = gr.array { 1, 10, 2, 8, 3, 6 }:matrix(3)
print(X:corr()[1][2], X:corr()[2][2])]],
      output = "-1.0\t1.0",
    },
  },
}
