return {
  title = "Asking for results",
  text = [[
A number that comes back to Lua waits for the device. Three ways not to: ask for a future and look at it later, ask for
many numbers at once, or leave the number on the device as an element of an array (`{into=, at=}` of the reductions).

What is queued later happens later, so a future has the data of the call: its arrays may be written, filled or released
while it runs, and a future that nobody looks at costs nothing but its memory. `norm` and `cosine` of f64 may have to
read their arrays again, so a write to those waits.

On the CPU the work is done in the background: by one thread of the process's own, with the help of `gr.threads() - 1`
others (with `gr.threads(1)` by it alone); it sleeps when there is nothing to do. What changes an array that such work
reads waits for it first, and so does what reads or changes an array that it writes (`into`). Memory that a host owns
(`wrap`) the host must leave alone until the future is done, or the array released, which waits; volatile memory is
read in the call. Who waits for work that has not begun does it himself. With less than 65536 elements, and where no
thread can be started, the work is done in the call. At most 256 calls of a state are under way: one more waits for the
first. `lua_close` ends what is under way, and what it was to write then holds anything.]],
  objects = {
    {
      name = "future", class = "gpureduce.future", self = "f",
      text = "A result for later. `tostring(f)` says whether it is running, done or failed.",
      make = "gr.async(gr.sum, gr.zeros(3))",
    },
    {
      name = "timer", class = "gpureduce.timer", self = "t",
      text = "Counts the device's time from where it was made.",
      make = "gr.timer()",
    },
  },
  entries = {
    {
      name = "async",
      text = "Call a function of the module and get a future instead of its results.",
      params = { { "f", "function", "a function of this module" }, { "...", "any", "its arguments" } },
      returns = { { "future", "of all results of f(...); for arrays it is done when the device has made them" } },
      errors = "Another function than one of the module's; what f raises about its arguments. A failure of the device "
        .. "is for `get` to raise.",
      cost = "That of f, less the wait.",
      waits = "Reductions to a number do not wait; functions that need a number on the way (`bincount`, a histogram "
        .. "without `min` and `max`, `quantile`) wait for that one in the call. Copies up what is stale on the device. "
        .. "On the CPU these do not wait: reductions (whole, rows, columns), scans, histograms with a range, "
        .. "`softmax`, `rmsnorm`, element operators, `copy` and `fill`, of arrays and of expressions; others are done "
        .. "in the call. So may be all that uses memory to which others may write at any time: wrapped with "
        .. "`volatile` or in a host's object, or shared as a tensor.",
      example = [[
local a = gr.arange(1, 1000)
local f = gr.async(gr.sum, a)
a:fill(0)
print(f:get(), gr.async(gr.minmax, gr.arange(1, 5)):get())]],
      output = "500500.0\t1.0\t5.0",
    },
    {
      name = "done", of = "future",
      text = "Whether the result is there, or the operation has failed.",
      params = {},
      returns = { { "boolean", "" } },
      errors = "None.", cost = "O(1).", waits = "Never.",
      example = [[
local f = gr.async(gr.sum, gr.ones(1000))
while not f:done() do end -- a game draws its frame here
print(f:get(), f:done())]],
      output = "1000.0\ttrue",
    },
    {
      name = "get", of = "future",
      text = "The results, once they are there. It may be asked again.",
      params = { { "seconds", "number?", "how long to wait at most", default = "no limit" } },
      returns = { { "any", "the results; nil when they are not there after so long" },
        { "any", "then: `\"not done\"`" } },
      units = "Seconds.",
      errors = "A failure of the device, naming the operation, each time; \"interrupted\", if the work took longer "
        .. "than `gr.safe` allows, or if Ctrl-C ends the wait (the work goes on then); a negative time.",
      cost = "O(1).", waits = "Waits, as long as it is told to.",
      example = [[
local f = gr.async(gr.max, gr.arange(1, 10))
print(f:get(1), f:get())]],
      output = "10.0\t10.0",
    },
    {
      name = "many",
      text = "Several reductions with one synchronisation. Similar ones of small arrays share a launch.",
      params = {
        { "list", "table", "items `{name, a, ...}`: a reduction's name and its arguments" },
        { "options", "options?", "" } },
      options = { { "async", "boolean?", "give a future of all results", default = "false" } },
      returns = { { "any", "all results in order (`minmax` gives two)" } },
      errors = "An item that is none, named by its number; what the reduction raises, with the item's number in front.",
      cost = "That of the items.", waits = "Waits once. Copies up what is stale on the device.",
      example = [[
local a, b = gr.arange(1, 4), gr.ones(4)
print(gr.many { { "sum", a }, { "dot", a, b }, { "minmax", a } })]],
      output = "10.0\t10.0\t1.0\t4.0",
    },
    {
      name = "timer",
      text = "Time what the device does: start a timer, or time a function.",
      params = { { "f", "function?", "a function to call" }, { "...", "any", "its arguments" } },
      returns = { { "timer|number", "the timer; with f the seconds of the work that it queued, "
        .. "and then its results" } },
      units = "Seconds of the device in use (between two events in its queue; the clock on the CPU).",
      errors = "What is no function; what f raises.",
      cost = "O(1).", waits = "With f it waits for the work, else not.",
      example = [[
local seconds, sum = gr.timer(gr.sum, gr.ones(1000))
print(seconds < 60, sum)]],
      output = "true\t1000.0",
    },
    {
      name = "stop", of = "timer",
      text = "The seconds between the making of the timer and the first stop, on the device.",
      params = {},
      returns = { { "number", "the same at every call" } },
      units = "Seconds.",
      errors = "A failure of the device.",
      cost = "O(1).", waits = "Waits for the work in between.",
      example = [[
local t = gr.timer()
gr.scan(gr.ones(1000), "sum")
print(t:stop() > 0)]],
      output = "true",
    },
  },
}
