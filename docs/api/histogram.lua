local c = ...

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
        c.kernel, c.block, c.timed, c.comm,
      },
      returns = { { "histogram", "counts, edges, and what lay outside. Of rows or columns a list of these, "
        .. "with the fields `edges` and `counts`, a matrix that has a row for each" } },
      shapes = "`counts`: bins, i64. `edges`: bins + 1, f64.",
      errors = "Neither `bins` nor `edges`, or both; edges that do not rise; limits that are not finite; bins narrower "
        .. "than f64 can tell apart; `modulo` of floats; `log` of data that is not above 0; "
        .. "weights of another length, or not finite.",
      cost = "O(n); O(n log bins) for uneven edges at worst. One pass, one more for the range when `min` or `max` is "
        .. "missing, and one over float weights for the largest.",
      waits = "Waits for the range when `min` or `max` is missing, for the largest of float weights, and for the "
        .. "counts when `density` is asked. `counts` and `edges` come down when they are read.",
      example = [[
local h = gr.histogram(gr.array { 1, 2, 2.5, 3, 9 }, { bins = 2, min = 1, max = 3 })
print(h.counts[1], h.counts[2], h.edges[2], h.below, h.above)
local columns = gr.histogram(gr.array { 1, 2, 1, 3 }:matrix(2), { bins = 2, axis = 1 })
print(columns.counts[1][1], columns.counts[2][1], columns[2].counts[2])]],
      output = "1\t3\t2.0\t0\t1\n2\t0\t2",
    },
    {
      name = "bincount",
      text = "How often each of the whole numbers 0, 1, 2, ... occurs, or the sums of weights there.",
      params = { { "a", "array", "whole numbers of 0 or more" }, { "options", "options?", "" } },
      options = { { "minlength", "integer?", "the least length of the result", default = "0" },
        { "weights", "array?", "one for each element, of any dtype, as in `histogram`" },
        { "into", "array?", "takes the result; of its dtype, and as long or longer: the rest becomes 0" }, c.comm },
      returns = { { "array", "i64 (with float weights f64): element k tells how often k - 1 occurs; "
        .. "as long as the greatest plus 1" } },
      dtypes = "Integers.",
      errors = "Float dtypes; an element below 0, or 2^31 and more; weights of another length, or not finite.",
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
