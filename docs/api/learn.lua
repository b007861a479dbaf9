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
  },
}
