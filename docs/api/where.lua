local c = ...

return {
  title = "Devices",
  text = [[
The device: the first GPU where there is one, else the CPU, or what the environment variable `GPUREDUCE_DEVICE` says.]],
  entries = {
    {
      name = "backend",
      text = "The device in use, why it is that one, and how formulas run there: compiled by the driver, in blocks "
        .. "on the CPU, or step by step, with the reason (`GPUREDUCE_JIT=0` in the environment is one).",
      params = {},
      returns = { { "string", "its name, as `gr.use` takes it" }, { "string", "the reason in words" },
        { "string", "how formulas run" } },
      errors = "A device that `GPUREDUCE_DEVICE` asks for and that is not there.",
      cost = "O(1); the first call starts the device.",
      waits = c.no_work,
      example = [[print((gr.backend()))]],
      output = "...",
    },
    {
      name = "compiled",
      text = "The formulas that were compiled for the device in use, and the operators (`what` is \"operator\": map, "
        .. "then merge), the last used first. A device keeps 256; the "
        .. "one whose use lies back longest is let go. Formulas that differ in numbers, arrays or lengths alone are "
        .. "one; "
        .. "another dtype, another reduction, or views that do not begin at a multiple of 16 bytes make another. "
        .. "What ends in `, present` are kernels for numbers of floats with `skipnan` (from compute capability 8.0 "
        .. "on): those of plain calls, but that they leave NaN out; steps say what that stands for, and any view "
        .. "will do.",
      params = {},
      returns = { { "table", "a list of `{what=, steps=, seconds=, uses=}`: what takes the elements, the steps in "
        .. "words, "
        .. "how long compiling took, how often it was used; empty where nothing is compiled" } },
      errors = "As `gr.backend`.", cost = "O(formulas).", waits = c.no_work,
      example = [[
local list = gr.compiled()
print(#list <= 256, #list == 0 or list[1].seconds > 0)]],
      output = "true\ttrue",
    },
    {
      name = "devices",
      text = "The devices that there are.",
      params = {},
      returns = { { "table", "a list of `{name=, description=}`" } },
      errors = "None.", cost = "O(devices).", waits = c.no_work,
      example = [[
for _, device in ipairs(gr.devices()) do
  if device.name == "cpu" then print(device.name, device.description) end
end]],
      output = "cpu\t...",
    },
    {
      name = "use",
      text = "Make new arrays on this device from now on. Those that exist stay where they are; "
        .. "`copy` brings one over.",
      params = { { "name", "string", '`"cpu"`, `"cuda:0"`, ...' } },
      returns = { { "string", "the device's name" } },
      errors = "A name that no device has; the text lists those there are.",
      cost = "O(1); the first use starts the device.",
      waits = c.no_work,
      example = [[
local before = gr.backend()
print(gr.use("cpu"))
gr.use(before)]],
      output = "cpu",
    },
    {
      name = "prefetch",
      text = "Bring an array to where the kernels run, ahead of the first that needs it.",
      params = { c.a },
      returns = { { "array", "the same array" } },
      errors = c.input_errors,
      cost = "O(bytes that are stale on the device).",
      waits = "Copies up what is stale on the device.",
      example = [[print(gr.array({ 1, 2, 3 }):prefetch():sum())]],
      output = "6.0",
    },
    {
      name = "sync",
      text = "Make the host's copy of an array current, ahead of reading single elements.",
      params = { c.a },
      returns = { { "array", "the same array" } },
      errors = c.input_errors,
      cost = "O(bytes that are stale on the host).",
      waits = "Waits, and copies down what is stale on the host.",
      example = [[print(gr.ones(3):sync()[2])]],
      output = "1.0",
    },
    {
      name = "threads",
      text = "How many threads large work on the CPU is spread over; sets it when n is given. "
        .. "Results do not depend on it.",
      params = { { "n", "integer?", "1 to 1024" } },
      returns = { { "integer", "the number" } },
      errors = "A number out of range.",
      cost = "O(1).", waits = c.no_work,
      example = [[
local before = gr.threads()
print(gr.threads(2))
gr.threads(before)]],
      output = "2",
    },
    {
      name = "instructions",
      text = "The instruction set that the CPU's kernels use; `GPUREDUCE_CPU` picks another. "
        .. "Results do not depend on it.",
      params = {},
      returns = { { "string", '`"generic"`, `"sse2"`, `"avx2"`, `"avx512"` or `"neon"`' } },
      errors = "None.", cost = "O(1).", waits = c.no_work,
      example = [[print(gr.instructions())]],
      output = "...",
    },
    {
      name = "explain",
      text = "What a reduction, a scan or a histogram would do, without doing it: which kernel it takes, why, its "
        .. "grid, and what it moves. It serves what `gr.sum`, `gr.dot` and their like do; the line that `tostring` "
        .. "gives is also what `GPUREDUCE_TRACE=1` writes to stderr for each of these, before it begins. "
        .. "`scan` takes what `gr.scan` does (`exclusive`, `reverse`), `histogram` what `gr.histogram` does: `bins` "
        .. "with `min` and `max`, or with `modulo`. "
        .. "Which kernels there are says [kernels/cuda/README.md](../kernels/cuda/README.md).",
      params = {
        { "op", "string|operator", "its name, `minmax` or `sum_kahan` too; or `scan`, or `histogram`; or an "
          .. "operator of one's own, with `rows` and `axis` alone" },
        { "a", "array|expression", "what it would reduce; of those that take two, b follows. Of expressions the kernel "
          .. "is `formula`, or `formula, stored` where their elements go to memory first" },
        { "options", "options?", "" },
      },
      also = { { params = { { "op", "string", "" }, { "a", "array|expression", "" }, { "b", "array|expression", "" },
        { "options", "options?", "" } } },
        { params = { { "op", '"scan"', "" }, { "a", "array", "" }, { "how", "string?", "" },
          { "options", "options?", "" } } } },
      options = {
        { "rows", "integer?", "as the operation takes it; so are `axis`, `pairs`, `ddof`, `accumulate`, `exact`" },
        { "axis", "integer?", "" }, { "pairs", "boolean?", "" }, { "ddof", "number?", "" },
        { "accumulate", "string?", "" }, { "exact", "boolean?", "" }, { "exclusive", "boolean?", "of scans" },
        { "reverse", "boolean?", "" }, { "bins", "integer?", "of histograms" }, { "min", "number?", "" },
        { "max", "number?", "" }, { "modulo", "boolean?", "" },
      },
      returns = { { "table", "`op`, `device`, `kernel` (on the CPU: the loop), `why`, `text` (all of it in a line); "
        .. "`blocks` and `threads` of each (CPU: pieces of work, and threads), `launches`, `combine` (how the parts "
        .. "of a vector become one), `instructions` (CPU), each where it is known; `shared` bytes of a block, "
        .. "`scratch` bytes; `reads` and `writes` bytes of inputs and results; `uploads`, the bytes that would be "
        .. "copied to the device first" } },
      errors = "What would be an error of the operation; an empty array; options that are work of their own, or that "
        .. "change nothing here: `segments`, `op`, `value`, `kernel`, `async`, `into`, `at`, `edges`, `log`, "
        .. "`weights`; a histogram without a range, which would be looked for.",
      cost = "O(1); O(n / 64 KiB) where only the host has some of an array.", waits = c.no_work,
      example = [[
local how = gr.explain("max", gr.ones(1000), { rows = 10 })
print(how.op, how.reads, how.writes)]],
      output = "max\t4000\t40",
    },
  },
}
