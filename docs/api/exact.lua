local c = ...

local out = { "out", "string?", "round straight to `\"f32\"` or `\"f64\"`", default = '`"f64"`' }
local adds = "One sum on the array's device; the bytes stay there."
local result_waits = "Waits for the sum. Copies up what is stale on the device, and the sum down."

return {
  title = "Exact sums",
  text = [[
With `{exact=true}` sums, dots, means, norms, variances, mse and cosines are the real value rounded once (to nearest,
ties to even), whatever the order, the parts, the device or the number of threads. docs/exact.md has the contract.]],
  objects = {
    {
      name = "accumulator", class = "gpureduce.accumulator", self = "s",
      text = "An exact sum that outlives a call: a fixed-point number wide enough for every f64 product.",
      make = "gr.accumulator()",
    },
  },
  entries = {
    {
      name = "exact",
      text = "Whether reductions of this Lua state are correctly rounded where a call does not say; "
        .. "sets it when given.",
      params = { { "on", "boolean?", "the new setting", default = "unchanged; off at the start" } },
      returns = { { "boolean", "the setting" } },
      errors = "What is no boolean.", cost = "O(1).", waits = c.no_work,
      example = [[
local a = gr.array({ 1, 1e100, -1e100, 1 }, "f64")
print(a:sum(), a:sum { exact = true })
gr.exact(true)
print(a:sum(), gr.exact(false))]],
      output = "0.0\t2.0\n2.0\tfalse",
    },
    {
      name = "accumulator",
      text = "An exact sum: of nothing, or what the bytes of another one hold.",
      params = { { "bytes", "string?", "what `s:bytes()` gave, here or on another machine" } },
      returns = { { "accumulator", "a new one" } },
      errors = "Bytes that are no accumulator's, or of another version.", cost = "O(1).", waits = c.no_work,
      example = [[
local a, b = gr.array { 1, 2 ^ 100 }, gr.array { 2, -2 ^ 100 }
local here, there = gr.accumulator():add(a), gr.accumulator():add(b)
print(here:merge(gr.accumulator(there:bytes())):value())]],
      output = "3.0",
    },
    {
      of = "accumulator", name = "add",
      text = "Add all elements of an array, of any dtype.",
      params = { { "a", "array", "what to add" } },
      returns = { { "accumulator", "itself" } },
      errors = c.input_errors, cost = "O(n): one pass. " .. adds, waits = result_waits,
      example = [[print(gr.accumulator():add(gr.array { 0.5, 1 }):add(gr.array({ 2 }, "i64")):value())]],
      output = "3.5",
    },
    {
      of = "accumulator", name = "add_dot",
      text = "Add the products of the elements of two arrays, none of which overflows or underflows.",
      params = { { "a", "array", "the one" }, { "b", "array", "the other: same dtype, length and device" } },
      returns = { { "accumulator", "itself" } },
      errors = "Another dtype, length or device than the first's.", cost = "O(n): one pass. " .. adds,
      waits = result_waits,
      example = [[
local a = gr.array({ 1e200, 3 }, "f64")
print(gr.accumulator():add_dot(a, a):add_dot(a:slice(1, 1), gr.array({ -1e200 }, "f64")):value())]],
      output = "9.0",
    },
    {
      of = "accumulator", name = "merge",
      text = "Add what another accumulator holds, or those of all ranks.",
      params = { { "other", "accumulator|any", "it stays as it is; a communicator of `gpureduce.mpi`: the "
        .. "accumulators of all its ranks are added up, in each of them" } },
      returns = { { "accumulator", "itself" } },
      errors = "What is no accumulator.", cost = "O(1).", waits = c.no_work,
      example = [[
local s = gr.accumulator():add(gr.array { 1 })
print(s:merge(s):merge(s):value())]],
      output = "4.0",
    },
    {
      of = "accumulator", name = "value",
      text = "The sum, rounded once.",
      params = { { "options", "options?", "what to round to" } },
      options = { out },
      returns = { { "number", "a float; 0 for none" } },
      errors = "Another `out`.", cost = "O(1).", waits = c.no_work,
      example = [[
local s = gr.accumulator():add(gr.array({ 1, 2 ^ -24, 2 ^ -60 }, "f64"))
print(s:value() == 1 + 2 ^ -24, s:value { out = "f32" } == 1 + 2 ^ -23)]],
      output = "true\ttrue",
    },
    {
      of = "accumulator", name = "bytes",
      text = "568 bytes that hold the sum, the same on every machine; equal sums have equal bytes.",
      params = {},
      returns = { { "string", "for `gr.accumulator`" } },
      errors = "None.", cost = "O(1).", waits = c.no_work,
      example = [[print(#gr.accumulator():bytes())]],
      output = "568",
    },
    {
      name = "digest",
      text = "A fingerprint of an array's bytes in logical order: the same for a view and its copy, on every device.",
      params = { { "a", "array", "of any dtype; the dtype itself does not count" }, { "options", "options?", "" } },
      options = { c.comm },
      returns = { { "string", "32 hexadecimal digits" } },
      errors = c.input_errors,
      cost = "O(n): one pass. Good against accidents, not against people who want two arrays to collide.",
      waits = "Waits for the result. Copies up what is stale on the device.",
      example = [[
local a = gr.array { 1, 2, 3 }
print(a:digest() == a:copy():digest(), a:digest() == a:slice(3, 1, -1):digest())]],
      output = "true\tfalse",
    },
  },
}
