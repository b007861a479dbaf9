-- Rows and sentences that several chapters share.
local common = {}

common.a = { "a", "array", "the input" }
common.dtype = { "dtype", "dtype?", "the type of the elements", default = '`"f32"`' }
common.typed = { "options", "options?", "the dtype by its name, if not before" }
common.dtype_option = { "dtype", "dtype?", "what else stands before the options" }

common.rows = { "rows", "integer?", "read the n elements as a matrix of so many rows, row by row; must divide n" }
common.axis = { "axis", "integer?", "2: one result for each row, 1: one for each column; with `rows`, or of a matrix, "
  .. "where it alone says that", default = "2" }
common.keepdims = { "keepdims", "boolean?", "the results as a matrix: of one column (axis 2) or one row (axis 1)",
  default = "false" }
common.segments = { "segments", "array|integer[]?", "m + 1 positions that do not fall (i64 or i32): result k is that "
  .. "of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`. They are read on the host, so keep them there; "
  .. "no `rows` with them" }
common.into = { "into", "array?",
  "the array that takes the results (their dtype and length; it may be the input itself, "
    .. "but not overlap it otherwise)" }

common.kernel = { "kernel", "string?", "run the kernel of this name instead of the usual one (`gr.kernels` lists them; "
  .. "[docs/ladder.md](ladder.md) explains them); with rows: one launch a row" }
common.block = { "block", "integer?", "threads in a block of that kernel, 64 to 1024", default = "256" }
common.timed = { "timed", "boolean|integer?", "with `kernel`: the seconds between two events of the device around the "
  .. "kernels come as a second result; a number: the mean of so many runs", default = "false" }
common.exact = { "exact", "boolean?", "round the true value once, whatever the order (docs/exact.md)",
  default = "what `gr.exact` says" }
common.out = { "out", "string?", "`\"f32\"`: results of f64 rounded once to f32, and arrays of it; with `exact` "
  .. "rounded straight from the true value",
  default = '`"f64"`' }

common.skipnan = { "skipnan", "boolean?", "elements that are NaN are missing, as if they were not there "
  .. "([what is missing](#what-is-missing)); integers have none", default = "false" }
common.mask = { "mask", "array|expression?",
  "elements are missing where this is 0: u8, or an expression, as long as `a`" }

common.comm = { "comm", "any?", "a communicator of `gpureduce.mpi`: the input is this rank's part of one over all "
  .. "ranks, and they get the bits of the whole ([ranks.md](ranks.md))" }

common.single = { "out", "string?", "`\"f32\"`: results of f64 rounded once to f32, and arrays of it",
  default = '`"f64"`' }

common.no_wait = "Neither: queues work on the device and returns."
common.no_work = "Neither."
common.reads_one = "Waits for its result. Copies up what is stale on the device, and a few bytes down."
common.input_errors = "What is no array, and a released array, raise."

return common
