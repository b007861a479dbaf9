local c = ...

return {
  title = "Timing and learning",
  text = "Timing and looking inside.",
  entries = {
    {
      name = "clock",
      text = "Seconds on a clock that only goes forward, for timing (`os.clock` adds up the time of all threads).",
      params = {},
      returns = { { "number", "seconds since some moment in the past" } },
      units = "Seconds.",
      errors = "None.", cost = "O(1).", waits = c.no_work,
      example = [[
local start = gr.clock()
local _ = gr.rand(1000):sum()
print(gr.clock() >= start)]],
      output = "true",
    },
    {
      name = "kernels",
      text = "The ladder of an operation: the kernels that tutorials teach and the module's own, by name, "
        .. "simplest first.",
      params = { { "operation", "string", '`"dot"`, `"sum"`, `"min"`, `"max"`, `"histogram"`, '
        .. '`"scan"` or `"rmsnorm"`' } },
      returns = { { "table", "a list of tables: `name`, for the option `kernel`; `description`; `source`; `dtypes`, "
        .. "`\"all\"`, `\"f32\"` or `\"i32\"`; `error`, as a multiple of 2^-24 times the sum of magnitudes; `block` "
        .. "and `blocks`, the usual block size and those it can do (the teaching kernels); `default`, whether it is "
        .. "what runs without a name; `cuda_only`, "
        .. "whether the CPU has no algorithm of this shape and computes in blocks instead" } },
      errors = "An operation that has no ladder.",
      cost = "O(kernels).", waits = c.no_work,
      example = [[
for _, k in ipairs(gr.kernels("rmsnorm")) do print(k.name, k.default, k.blocks) end
local a = gr.ones(1000)
print(gr.dot(a, a, { kernel = "warp_block_atomic", block = 128 }))
print((gr.sum(a, { kernel = "naive_atomic", rows = 2, timed = true }))[2])]],
      output = [[
two_pass	false	a multiple of 32 from 64 to 1024
fused	true	nil
1000.0
500.0]],
    },
  },
}
