local c = ...

local single = { "out", "string?", "`\"f32\"`: counts that are sums of float weights, and densities, rounded to f32",
  default = '`"f64"`' }

return {
  title = "Histograms",
  text = [[
Counts of samples in bins by NumPy's rule: bin k holds `edges[k] <= x < edges[k+1]`, the last one its upper edge too.
Samples are compared with the edges themselves, so one that lies on an edge is never one bin off.]],
  objects = {
    {
      name = "histogram", class = "gpureduce.histogram", self = "h", is_table = true,
      text = "What `gr.histogram` returns. `print(h)` draws it, `#h` is its number of bins (Lua 5.2 and later).",
      make = "gr.histogram(gr.zeros(3), { bins = 2 })",
      fields = {
        { "counts", "array", "i64: the samples in each bin; with float weights f64: their sums" },
        { "edges", "array", "f64: one more than bins" },
        { "below", "number", "samples (or their weights) below the first edge; -infinity too" },
        { "above", "number", "samples above the last edge; +infinity too" },
        { "nan", "number", "samples that are no numbers" },
        { "density", "array?", "f64, with `{density=true}`: counts / width / total, "
          .. "so that the bars' areas add up to 1" },
      },
    },
    {
      name = "histogram2d", class = "gpureduce.histogram2d", self = "h", is_table = true,
      text = "What `gr.histogram2d` returns. `print(h)` draws it.",
      make = "gr.histogram2d(gr.zeros(3), gr.zeros(3), { bins = 2 })",
      fields = {
        { "counts", "array", "i64: the pairs in each cell, a matrix whose rows are the bins of x and whose columns "
          .. "those of y; with float weights f64: their sums" },
        { "xedges", "array", "f64: one more than bins of x" },
        { "yedges", "array", "f64: one more than bins of y" },
        { "outside", "number", "pairs (or their weights) of which x or y lies in no bin; infinities too" },
        { "nan", "number", "pairs of which x or y is no number" },
        { "density", "array?", "f64, with `{density=true}`: counts / width in x / width in y / total, a matrix" },
      },
    },
  },
  entries = {
    {
      name = "histogram",
      text = "Count the elements in bins, evenly spaced, by equal factors or between given edges; "
        .. "or add up weights there.",
      params = { { "a", "array", "the samples" }, { "options", "options", "`bins` or `edges`" } },
      options = {
        { "bins", "integer?", "how many bins of equal width, 1 to 2^31" },
        { "min", "number?", "the first edge", default = "the least finite sample" },
        { "max", "number?", "the last edge", default = "the greatest finite sample" },
        { "edges", "array|number[]?", "2 or more rising numbers (an array: f64), instead of `bins`" },
        { "log", "boolean?", "edges by equal factors: `min` (or the data) lies above 0", default = "false" },
        { "weights", "array?", "one for each sample, of any dtype: bins hold their sums. Integers are summed in 64 "
          .. "bits; floats (all finite) exactly, then rounded once, unless some are below 2^-90 or so of the largest "
          .. "(docs/numerics.md)" },
        { "density", "boolean?", "add the field `density`", default = "false" },
        { "into", "histogram?", "takes the results instead of a new one; of as many bins and the same dtype, "
          .. "without `density`" },
        { "modulo", "boolean?", "integers by their remainder: x goes into bin x % bins + 1", default = "false" },
        c.rows, { "axis", "integer?", "2: a histogram of each row, 1: of each column, with the same bins for all; with "
          .. "`rows`, or of a matrix", default = "2" },
        c.skipnan, c.mask, single, c.kernel, c.block, c.timed, c.comm,
      },
      returns = { { "histogram", "counts, edges, and what lay outside. Of rows or columns a list of these, "
        .. "with the fields `edges` and `counts`, a matrix that has a row for each" } },
      shapes = "`counts`: bins, i64. `edges`: bins + 1, f64. What is missing (`skipnan`, `mask`) is counted "
        .. "nowhere, not in `nan` either, has no part in the range, and its weight is not looked at.",
      errors = "Neither `bins` nor `edges`, or both; edges that do not rise; limits that are not finite; bins narrower "
        .. "than f64 can tell apart; `modulo` of floats; `log` of data that is not above 0; "
        .. "weights of another length, or not finite; `out` of counts of samples alone.",
      cost = "O(n); O(n log bins) for uneven edges at worst. One pass, one more for the range when `min` or `max` is "
        .. "missing, and one over float weights for the largest. `skipnan` alone costs nothing: NaN are counted "
        .. "apart, and `nan` becomes 0. A `mask` goes as weights of 1 and 0; where `min` or `max` is missing, what it "
        .. "leaves is copied for the range.",
      waits = "Waits for the range when `min` or `max` is missing, for the largest of float weights, and for the "
        .. "counts when `density` is asked. `counts` and `edges` come down when they are read.",
      example = [[
local h = gr.histogram(gr.array { 1, 2, 2.5, 3, 9 }, { bins = 2, min = 1, max = 3 })
print(h.counts[1], h.counts[2], h.edges[2], h.below, h.above)
h = gr.histogram(gr.array { 1, 0 / 0, 3, 99 }, { bins = 2, skipnan = true, mask = gr.array({ 1, 1, 1, 0 }, "u8") })
print(h.counts[1], h.counts[2], h.above, h.nan)
local columns = gr.histogram(gr.array { 1, 2, 1, 3 }:matrix(2), { bins = 2, axis = 1 })
print(columns.counts[1][1], columns.counts[2][1], columns[2].counts[2])]],
      output = "1\t3\t2.0\t0\t1\n1\t1\t0\t0\n2\t0\t2",
    },
    {
      name = "histogram2d",
      text = "Count pairs in cells: `counts[i][j]` are those with x in bin i and y in bin j, as `numpy.histogram2d` "
        .. "has them. The bins of each axis are those of `histogram`, to the sample: half-open, the last one closed, "
        .. "compared with the edges themselves.",
      params = { { "x", "array", "one of each pair" }, { "y", "array", "the other one, as long; of any dtype" },
        { "options", "options", "`bins` or `edges` for each axis" } },
      options = {
        { "bins", "integer|integer[]?", "how many bins of equal width each axis has, or `{nx, ny}`; altogether less "
          .. "than 2^31" },
        { "range", "table?", "`{{x0, x1}, {y0, y1}}`: the first and the last edge of each axis; what is left out is "
          .. "the data's", default = "the least and the greatest finite x and y" },
        { "edges", "table?", "`{xedges, yedges}`, each 2 or more rising numbers (an array: f64), instead of `bins`; an "
          .. "axis has one or the other" },
        { "log", "boolean|boolean[]?", "edges by equal factors, or `{of x, of y}`: the range (or the data) lies "
          .. "above 0", default = "false" },
        { "weights", "array?", "one for each pair, of any dtype: cells hold their sums, as in `histogram`" },
        { "density", "boolean?", "add the field `density`", default = "false" },
        { "into", "histogram2d?", "takes the results instead of a new one; of as many bins and the same dtype, "
          .. "without `density`" },
        c.skipnan, { c.mask[1], c.mask[2], c.mask[3] .. "; pairs are copied without what is missing first" },
        single, c.comm,
      },
      returns = { { "histogram2d", "counts, edges, and what lies in no cell" } },
      shapes = "`counts`: nx rows of ny, i64. `xedges`: nx + 1, `yedges`: ny + 1, f64. Matrices as x or y are read row "
        .. "by row.",
      errors = "Another length of y; neither `bins` nor `edges` for an axis, or both; what `histogram` says of bins, "
        .. "edges and weights, and of which axis.",
      cost = "O(n): the formula of the cell's number feeds the counts in one pass. Between `edges`, and for bins "
        .. "nearly as narrow as f64 can tell apart, O(n log bins), with 4 bytes a pair and axis meanwhile. One "
        .. "more pass for each range that is missing.",
      waits = "Waits for each range that is missing, for the largest of float weights, and for the counts when "
        .. "`density` is asked. `counts` and edges come down when they are read.",
      example = [[
local x, y = gr.array { 0, 0.5, 1.5, 2, 7 }, gr.array { 1, 1, 3, 4, 2 }
local h = gr.histogram2d(x, y, { bins = { 2, 3 }, range = { { 0, 2 }, { 1, 4 } } })
print(h.counts.rows, table.concat(h.counts[1]:table(), " "), table.concat(h.counts[2]:table(), " "), h.outside)
print(gr.histogram2d(x, y, { edges = { { 0, 1, 10 }, { 1, 2, 10 } } }).counts[2][2])]],
      output = "2\t2 0 0\t0 0 2\t1\n3",
    },
    {
      name = "bincount",
      text = "How often each of the whole numbers 0, 1, 2, ... occurs, or the sums of weights there.",
      params = { { "a", "array", "whole numbers of 0 or more" }, { "options", "options?", "" } },
      options = { { "minlength", "integer?", "the least length of the result", default = "0" },
        { "weights", "array?", "one for each element, of any dtype, as in `histogram`" },
        c.skipnan, { c.mask[1], c.mask[2], c.mask[3] .. "; they are copied without what is missing first" },
        { "into", "array?", "takes the result; of its dtype, and as long or longer: the rest becomes 0" },
        c.single, c.comm },
      returns = { { "array", "i64 (with float weights f64): element k tells how often k - 1 occurs; "
        .. "as long as the greatest plus 1" } },
      dtypes = "Integers.",
      errors = "Float dtypes; an element below 0, or 2^31 and more; weights of another length, or not finite; "
        .. "`out` without weights of floats.",
      cost = "O(n): one pass for the range, one for the counts.",
      waits = "Waits for the range.",
      example = [[print(table.concat(gr.bincount(gr.array({ 0, 1, 1, 3 }, "u8")):table(), " "))]],
      output = "1 2 0 1",
    },
    {
      name = "quantile", of = "histogram",
      text = "The value below which the share q of the counted samples lies, linear within its bin.",
      params = { { "q", "number", "a share from 0 to 1" } },
      returns = { { "number?", "nil when nothing was counted" } },
      units = "That of the samples.",
      errors = "A q that is no number from 0 to 1.",
      cost = "O(bins) on the host.",
      waits = "Waits for the counts and copies them down, once.",
      example = [[print(gr.histogram(gr.arange(0, 99), { bins = 100, min = 0, max = 100 }):quantile(0.25))]],
      output = "25.0",
    },
  },
}
