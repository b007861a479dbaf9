-- The functions of the C API, chapter by chapter, in the order of the table: new ones come last, so that places stay.
-- A function: name, what it returns, parameters { type, name, what it is }, what it does; errors besides the common.
local ctx = { "gpureduce_context *", "context", "" }
local out = { "gpureduce_array **", "out", "where the array goes: *out is NULL for a new one, else it is filled" }
local options = { "const gpureduce_options *", "options", "NULL: none" }
local a = { "const gpureduce_array *", "a", "" }
local made = { "gpureduce_array **", "out", "the caller's, to be dropped" }
local L = { "lua_State *", "L", "" }

return {
  {
    title = "Words",
    functions = {
      { "error", "const char *", {}, "What the last call of this thread that failed has to say; \"\" before the "
        .. "first." },
      { "version", "const char *", {}, "As gr._VERSION." },
    },
  },
  {
    title = "Contexts",
    functions = {
      { "configure", "gpureduce_status", { L, { "const gpureduce_config *", "config", "read when the module opens" } },
        "Before the module is opened in that Lua state: how its context begins. A host that loads the module puts the "
        .. "config into the registry itself (GPUREDUCE_CONFIG).",
        errors = "BAD: the module is open in this state already." },
      { "open", "gpureduce_status", { { "const gpureduce_config *", "config", "NULL: by itself" },
        { "gpureduce_context **", "out", "to be closed" } },
        "A context without Lua.",
        errors = "BAD: no such device; a stream on a device without streams; allocators when the library has memory." },
      { "close", "gpureduce_status", { { "gpureduce_context *", "context",
        "of open; that of a state closes with it" } },
        "The end of a context without Lua. Arrays of it that are still there keep what they need, and are dropped as "
          .. "before." },
      { "of_state", "gpureduce_status", { L, { "gpureduce_context **", "out", "valid until lua_close" } },
        "The context of a Lua state.",
        errors = "BAD: the module is not open there." },
      { "use", "gpureduce_status", { ctx, { "const char *", "device", "\"cpu\", \"cuda:1\"" } },
        "Arrays made from now on live there." },
      { "device", "gpureduce_status", { ctx, { "const char **", "out", "valid for good" } },
        "The name of the device in use; looks for one if none has been used yet." },
      { "limit", "gpureduce_status", { ctx, { "uint64_t", "bytes", "of arrays at most; 0: any" },
        { "int64_t", "elements", "of one array at most; 0: any" }, { "double", "seconds",
          "of one call on the CPU; 0: any" } },
        "Other limits from now on. gr.safe can lower them, and does not raise them." },
      { "stop", "gpureduce_status", { ctx, { "int", "raised", "1: long calls end with STOPPED until it is 0 again" } },
        "The stop flag. Any thread may set it while the context is alive, also during a call. A flag that the host has "
          .. "already may be given in the config." },
      { "usage", "gpureduce_status", { ctx, { "gpureduce_counts *", "out", "its size is set by the caller" } },
        "How much memory, and what was done." },
      { "wait", "gpureduce_status", { ctx }, "Until all work of the context is done." },
      { "trim", "gpureduce_status", { ctx }, "Memory that is kept for reuse goes back to the system." },
    },
  },
  {
    title = "Arrays",
    functions = {
      { "make", "gpureduce_status", { ctx, { "gpureduce_dtype", "dtype", "" }, { "int64_t", "length", "" },
        { "int64_t", "rows", "of a matrix; 0: a vector" }, made }, "Zeros, on the device in use." },
      { "wrap", "gpureduce_status", { ctx, { "const gpureduce_memory *", "memory", "" }, made },
        "An array of memory that the host owns, without a copy." },
      { "keep", "gpureduce_status", { a, made },
        "Another handle of the same elements: so a borrowed array outlives the value of Lua that it came from." },
      { "drop", "gpureduce_status", { { "gpureduce_array *", "a", "NULL: nothing" } },
        "The end of a handle.", errors = "BAD: it is borrowed from Lua." },
      { "describe", "gpureduce_status", { a, { "gpureduce_info *", "out", "its size is set by the caller" } },
        "What it is." },
      { "view", "gpureduce_status", { a, { "int64_t", "first", "from 0" }, { "int64_t", "step", "not 0" },
        { "int64_t", "count", "" }, made }, "Elements first, first + step, ... of a; both share the data." },
      { "matrix", "gpureduce_status", { a, { "int64_t", "rows", "divides the length; 0: a vector" }, made },
        "The same elements as a matrix." },
      { "host_pointer", "gpureduce_status", { a, { "int", "access", "GPUREDUCE_READ, WRITE, WHOLE, or several" },
        { "void **", "out", "the first element; describe says the stride" } },
        "Host memory with the elements, current now. It holds until the next call that writes the array, moves it or "
        .. "drops it. With WRITE or WHOLE the host's copy counts from now on; write before the next call." },
      { "device_pointer", "gpureduce_status", { a, { "int", "access", "as above" },
        { "void *", "stream", "a CUDA stream of the caller's; NULL: the legacy default stream" },
        { "void **", "out", "the first element, where kernels run" } },
        "Memory of the device with the elements, current once what `stream` is given from now on runs. Call "
          .. "device_done "
        .. "when the work that uses it is queued. Where kernels run on the host it is host memory, and nothing is "
          .. "queued." },
      { "device_done", "gpureduce_status", { a, { "void *", "stream", "as above" } },
        "What this context queues from now on waits for what `stream` holds now." },
      { "touch", "gpureduce_status", { a, { "int64_t", "first", "from 0" }, { "int64_t", "count", "" } },
        "The owner of wrapped memory, or who has a tensor of the array, has written these elements.",
        errors = "BAD: the memory is nobody else's." },
      { "get", "gpureduce_status", { a, { "int64_t", "first", "from 0" }, { "int64_t", "count", "" },
        { "void *", "elements", "room for them, side by side" } }, "Copies elements out." },
      { "set", "gpureduce_status", { { "gpureduce_array *", "a", "" }, { "int64_t", "first", "from 0" },
        { "int64_t", "count", "" }, { "const void *", "elements", "side by side" } }, "Copies elements in." },
      { "copy", "gpureduce_status", { a, out }, "The elements in an array on the device in use." },
    },
  },
  {
    title = "Arrays and Lua",
    functions = {
      { "push", "gpureduce_status", { L, a },
        "Pushes a value of Lua that shares the elements. As any push it needs a slot of the stack, and raises an "
          .. "error of "
        .. "Lua when Lua has no memory. When it fails otherwise, nothing is pushed." },
      { "push_memory", "gpureduce_status", { L, { "const gpureduce_memory *", "memory", "" },
        { "int", "anchor", "index of a value that is kept alive as long; 0: none. Only without release" } },
        "wrap and push in one." },
      { "test", "gpureduce_array *", { L, { "int", "index", "" } },
        "The array that is this value, or NULL. It is borrowed: valid while the value is on the stack and a script "
          .. "has not "
        .. "released it. A transposed matrix is none; check takes it." },
      { "check", "gpureduce_array *", { L, { "int", "arg", "" } },
        "The same for an argument of a function of Lua: raises an error of Lua if it is no array. A transposed matrix "
          .. "is "
        .. "put in order in its place." },
    },
  },
  {
    title = "Operations",
    text = [[
The same operations, in the same words, with the same bits as in Lua (docs/reference.md): what takes an array, its
dtypes and what it gives stands there. Names that are none are BAD, with the names that there are.]],
    functions = {
      { "reduce", "gpureduce_status", { { "const char *", "op",
        "\"sum\", \"dot\", \"argmax\", ... as gr.reduce takes" },
        a, { "const gpureduce_array *", "b", "of operations on two; else NULL" }, options,
        { "gpureduce_number *", "out", "the result; minmax: two of them. any and all: whole, 1 or 0" } },
        "One number of the whole array; waits for it." },
      { "reduce_each", "gpureduce_status", { { "const char *", "op", "as above" }, a,
        { "const gpureduce_array *", "b", "of operations on two; else NULL" },
        { "const gpureduce_options *", "options", "with rows or segments" }, out,
        { "gpureduce_array **", "out2", "of minmax: the largest; else NULL" } },
        "A number of each row, column or segment. Nothing waits." },
      { "scan", "gpureduce_status", { { "const char *", "op", "\"sum\", \"prod\", \"min\" or \"max\"" }, a, options,
        out },
        "Running results, of the whole or of each row or column." },
      { "map", "gpureduce_status", { { "const char *", "op", "\"add\", \"exp\", \"clamp\", ...; \"<\" and the other "
        .. "comparisons; \"cast\"; \"where\": mask, then two others" },
        { "const gpureduce_operand *", "operands",
          "arrays of one dtype and length, or numbers; one at least is an array" },
        { "int", "count", "of them" }, options,
        { "gpureduce_array **", "out", "as above; it may be one of the operands" } },
        "An operator on elements." },
      { "fill", "gpureduce_status", { { "gpureduce_array *", "a", "" }, { "gpureduce_number", "value", "" } },
        "Every element becomes the number." },
      { "equal", "gpureduce_status", { a, { "const gpureduce_array *", "b", "" }, { "int *", "out", "1 or 0" } },
        "Whether dtype, length, shape and elements are the same." },
      { "compact", "gpureduce_status", { a, { "const gpureduce_array *", "mask", "u8, as long as a" }, made },
        "The elements where mask is not zero." },
      { "take", "gpureduce_status", { a, { "const gpureduce_array *", "index", "positions from 1, i64 or i32" }, out },
        "The elements at these positions." },
      { "put", "gpureduce_status", { { "const char *", "op", "\"set\", \"add\", \"min\" or \"max\"" },
        { "gpureduce_array *", "a", "" }, { "const gpureduce_array *", "index", "positions from 1, i64 or i32" },
        { "gpureduce_operand", "values", "an array as long as index, or a number" } },
        "Values to the elements at these positions." },
      { "histogram", "gpureduce_status", { a, { "const gpureduce_binning *", "binning", "" },
        { "gpureduce_array **", "counts",
          "the caller's: bins + 3 elements, of which the last three count what lies below, "
          .. "what lies above, and NaN; i64, or f64 with weights of floats. With into a view of that, or NULL" },
        { "gpureduce_array **", "edges", "the caller's: bins + 1 of f64; or NULL" } },
        "How many samples each bin has." },
      { "quantiles", "gpureduce_status", { a, { "const double *", "shares", "each from 0 to 1" },
        { "int64_t", "count", "of them" }, { "const char *", "method", "as gr.quantile takes; NULL: \"linear\"" },
        { "gpureduce_number *", "out", "as many" } }, "Quantiles of the whole array, exact." },
      { "softmax", "gpureduce_status", { a, options, out }, "Of each row (of the whole: one)." },
      { "rmsnorm", "gpureduce_status", { a, { "const gpureduce_array *", "weights", "as long as a row; or NULL" },
        options, out },
        "Of each row (of the whole: one). options->eps as it is: 0 is 0." },
      { "transpose", "gpureduce_status", { a, out },
        "The elements of a matrix, column by column; out has its columns as rows." },
      { "covariance", "gpureduce_status", { a,
        { "const gpureduce_options *", "options", "rows, mask, skipnan; ddof where correlation is 0; NULL: none" },
        { "int", "correlation", "1: divided by both deviations" }, out },
        "Of the columns of a matrix: as many rows and columns of f64. With mask or skipnan of each two columns those "
        .. "rows in which both are present." },
      { "random", "gpureduce_status", { ctx, { "const char *", "kind", "\"rand\", \"randn\" or \"exponential\"" },
        { "gpureduce_dtype", "dtype", "of floats" }, { "int64_t", "length", "" }, { "uint64_t", "seed", "" },
        { "uint64_t", "stream", "below 2^62" }, out }, "Random numbers, those that Lua gets for seed and stream." },
    },
  },
  {
    title = "From one context to another",
    text = [[
A parcel holds an array on its way to another context, which may be another Lua state in another thread. Its memory goes
along without a copy, unless views, futures or an anchor in Lua share it, whose owner keeps it then.]],
    functions = {
      { "detach", "gpureduce_status", { { "gpureduce_array *", "a", "" }, { "gpureduce_parcel **", "out",
        "to be attached or discarded" } },
        "Packs an array, in the thread of its context, and waits for work of its device. The array is released: a "
          .. "value "
        .. "of Lua raises from then on; a handle is still to be dropped." },
      { "attach", "gpureduce_status", { ctx, { "gpureduce_parcel *", "parcel", "gone afterwards, if this succeeds" },
        made },
        "Unpacks it, in the thread of the other context; it lives on the device where it was." },
      { "discard", "gpureduce_status", { { "gpureduce_parcel *", "parcel", "NULL: nothing" } },
        "The end of a parcel that nobody attaches; any thread." },
    },
  },
  {
    title = "Tensors",
    functions = {
      { "from_dlpack", "gpureduce_status", { ctx,
        { "void *", "tensor", "DLPack's; of the host's memory, or of a device that is here" },
        { "uint32_t", "flags", "GPUREDUCE_READONLY, CHANGING, COPIED, UNVERSIONED" },
        { "void *", "stream", "of a device: what it holds now comes first; NULL: the legacy default stream" }, made,
        { "int *", "transposed", "1: it lies column by column, and out is its transpose" } },
        "An array of another library's tensor, without a copy. It calls the tensor's deleter once nothing needs the "
        .. "memory any more, from any thread; after a failure the tensor is still the caller's.",
        errors = "BAD: another major version, dtype or device; strides that no array has." },
      { "to_dlpack", "gpureduce_status", { a, { "uint32_t", "flags", "GPUREDUCE_READONLY, UNVERSIONED" },
        { "void *", "stream", "of a device: what it is given from now on comes after what is queued" },
        { "void **", "out", "the tensor, whose deleter is to be called once" } },
        "A tensor of the array for another library, where kernels use it. Whoever has it may write to the elements "
        .. "(touch says so) and keeps them alive, also after the context has been closed. Any thread may call the "
        .. "deleter, but with the context closed not during a call with an array of it.",
        errors = "BAD: the device's copy of host memory that was wrapped." },
    },
  },
  {
    title = "Formulas",
    text = [[
A formula's text and what its names stand for make an expression, a handle in an array's place. reduce, reduce_each,
reduce_many, start, scan, histogram, histogram2d, operator_reduce, operator_reduce_each, accumulate and masks take its
elements as they are made, where the device can; histogram_each, quantiles, quantiles_each, softmax, rmsnorm,
covariance, compact, take, put, choice, digest, operator_scan and weights store them for the call. All else takes
arrays, which eval makes. An expression keeps its arrays' elements; what is written to them later counts.]],
    functions = {
      { "formula", "gpureduce_status", { ctx, { "const char *", "text", "as gr.fuse takes it" },
        { "const gpureduce_input *", "inputs", "one for each name of the text" }, { "int", "count", "of them" },
        { "int64_t", "length", "where no input says it; else -1" }, made },
        "An expression.",
        errors = "BAD: a text that is no formula, or inputs that do not fit: with the column and the line, a caret "
          .. "below." },
      { "eval", "gpureduce_status", { a, { "gpureduce_array **", "out",
        out[3] .. "; it may be an input that is read one by one" } },
        "The elements of an expression, beside its arrays." },
    },
  },
  {
    title = "More operations",
    functions = {
      { "reduce_many", "gpureduce_status", { { "const gpureduce_item *", "items", "of one context" },
        { "int", "count", "of them" }, { "gpureduce_number *", "out", "a number for each; minmax: two of them" } },
        "Several reductions of whole arrays: launched together, or of expressions in one pass. gr.exact is not looked "
        .. "at." },
      { "start", "gpureduce_status", { { "const gpureduce_item *", "items", "as above" }, { "int", "count", "" },
        { "gpureduce_future **", "out", "to be dropped" } },
        "The same for later: it returns at once, also where the CPU does the work. Results are those of the data at "
          .. "this call: writing to an array waits for what reads it. Memory that was wrapped is to be left alone "
          .. "until then. What has not ended when its Lua state closes is STOPPED." },
      { "results", "gpureduce_status", { { "gpureduce_future *", "future", "" },
        { "double", "seconds", "to wait; 0: only look; below 0: until they are there" },
        { "int *", "done", "1: out is filled" }, { "gpureduce_number *", "out", "as above" } },
        "What start began, as often as one asks." },
      { "future_drop", "gpureduce_status", { { "gpureduce_future *", "future", "NULL: nothing" } },
        "The end of a future, at any time. What only reads for it stops." },
      { "histogram_each", "gpureduce_status", { a, { "const gpureduce_binning *", "binning", "" },
        { "const gpureduce_options *", "options", "with rows" },
        { "gpureduce_array **", "counts", "the caller's: a row for each row or column" },
        { "gpureduce_array **", "tails", "the caller's: rows of three, what lies below, above, and NaN" },
        { "gpureduce_array **", "edges", "the caller's: bins + 1 of f64, for all of them" } },
        "A histogram of each row or column, with the same bins." },
      { "histogram2d", "gpureduce_status", { { "const gpureduce_array *", "x", "" },
        { "const gpureduce_array *", "y", "as long" },
        { "const gpureduce_binning *", "of_x", "bins or edges, log, min and max; mask and skipnan, of pairs: missing "
          .. "ones count nowhere" },
        { "const gpureduce_binning *", "of_y", "bins or edges, log, min and max" },
        { "const gpureduce_array *", "weights", "as long; or NULL" },
        { "gpureduce_array **", "counts", "the caller's: y's bins side by side, x's one after the other; then two "
          .. "elements: pairs outside of the bins, and pairs with NaN" },
        { "gpureduce_array **", "x_edges", "the caller's" }, { "gpureduce_array **", "y_edges", "the caller's" } },
        "How many pairs lie in each cell." },
      { "quantiles_each", "gpureduce_status", { a, { "const double *", "shares", "each from 0 to 1" },
        { "int64_t", "count", "of them" },
        { "const char *", "method", "as above; with weights NULL or \"inverted_cdf\"" },
        { "const gpureduce_options *", "options", "rows, axis, mask, skipnan, single, weights; NULL: none" }, out },
        "Quantiles to an array: for each share those of all rows or columns, or of the whole." },
      { "digest", "gpureduce_status", { a, { "uint64_t *", "out", "two words: the first 16 digits of gr.digest and the "
        .. "last" } }, "What tells the array's bytes from others." },
      { "accumulate", "gpureduce_status", { { "gpureduce_accumulator *", "to", "" }, a,
        { "const gpureduce_array *", "b", "as long: products are added; or NULL" } },
        "Adds all elements exactly." },
      { "accumulator_merge", "gpureduce_status", { { "gpureduce_accumulator *", "to", "" },
        { "const gpureduce_accumulator *", "other", "" } }, "Adds what the other one has." },
      { "accumulator_value", "gpureduce_status", { { "const gpureduce_accumulator *", "accumulator", "" },
        { "int", "single", "1: rounded to f32" }, { "double *", "out", "" } }, "The sum, rounded once." },
      { "randint", "gpureduce_status", { ctx, { "int64_t", "low", "" }, { "int64_t", "high", "included" },
        { "gpureduce_dtype", "dtype", "of integers" }, { "int64_t", "length", "" }, { "uint64_t", "seed", "" },
        { "uint64_t", "stream", "below 2^62" }, out }, "Random whole numbers." },
      { "permutation", "gpureduce_status", { ctx, { "gpureduce_dtype", "dtype", "of integers" },
        { "int64_t", "length", "" }, { "uint64_t", "seed", "" }, { "uint64_t", "stream", "below 2^62" }, out },
        "1 .. length in random order." },
      { "choice", "gpureduce_status", { a, { "int64_t", "length", "how many" },
        { "int", "replace", "1: one may come again. 0, and as many as there are: all in random order" },
        { "const gpureduce_array *", "weights", "as long as a; NULL: each is as likely" },
        { "uint64_t", "seed", "" }, { "uint64_t", "stream", "below 2^62" }, out }, "Random elements of a." },
      { "put_masked", "gpureduce_status", { { "gpureduce_array *", "a", "" },
        { "const gpureduce_array *", "mask", "u8, as long as a" },
        { "gpureduce_operand", "values", "an array with an element for each that mask takes, or a number" } },
        "Values to the elements where mask is not zero." },
    },
  },
  {
    title = "Files",
    text = "As gr.load and gr.save have them: NPY where the name ends in .npy, else raw elements.",
    functions = {
      { "load", "gpureduce_status", { ctx, { "const char *", "path", "" },
        { "const gpureduce_file *", "file", "NULL: all of it, of f32 if it is raw" }, made },
        "The elements of a file; an NPY file of two dimensions is a matrix.",
        errors = "SYSTEM; BAD: the file is not what it claims to be." },
      { "save", "gpureduce_status", { a, { "const char *", "path", "" } },
        "Writes a file, which is replaced whole.", errors = "SYSTEM." },
    },
  },
  {
    title = "Operators of the host's own",
    functions = {
      { "operator_make", "gpureduce_status", { ctx, { "const gpureduce_operator_states *", "states", "" },
        { "gpureduce_operator **", "out", "to be dropped" } },
        "As gr.operator.", errors = "BAD: texts that are no formulas; with check, what is not associative." },
      { "operator_drop", "gpureduce_status", { { "gpureduce_operator *", "op", "NULL: nothing" } },
        "The end of an operator." },
      { "operator_reduce", "gpureduce_status", { { "gpureduce_operator *", "op", "" }, a,
        { "const gpureduce_options *", "options", "mask, skipnan; NULL: none" },
        { "gpureduce_number *", "out", "as many as the operator has results" } },
        "The whole array by the operator." },
      { "operator_reduce_each", "gpureduce_status", { { "gpureduce_operator *", "op", "" }, a,
        { "const gpureduce_options *", "options", "with rows or segments" },
        { "gpureduce_array **", "out", "as many, each as above" } },
        "Each row, column or segment by the operator." },
      { "operator_scan", "gpureduce_status", { { "gpureduce_operator *", "op", "" }, a,
        { "const gpureduce_options *", "options", "exclusive, reverse, mask, skipnan; NULL: none" },
        { "gpureduce_array **", "out", "as many, each as above" } }, "Running results of the operator." },
    },
  },
}
