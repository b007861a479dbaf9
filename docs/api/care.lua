local c = ...

return {
  title = "Memory and care",
  text = [[
Lua's collector does not see the memory of arrays, so a budget of bytes stands in for it: passing the budget starts a
full collection. `a:release()`, and `local a <close>` in Lua 5.4, give memory back at once.]],
  entries = {
    {
      name = "stats",
      text = "What has been moved, launched and waited for so far, in this Lua state.",
      params = {},
      returns = { { "table", "`bytes_up`, `bytes_down`, `copies`, `launches`, `syncs`, `allocations`" } },
      units = "Bytes, and numbers of events since the start.",
      errors = "None.", cost = "O(devices).", waits = c.no_work,
      example = [[
local a = gr.rand(1000)
local before = gr.stats()
local _ = a:sum()
local after = gr.stats()
print(after.launches - before.launches, after.bytes_up - before.bytes_up)]],
      output = "1\t0",
    },
    {
      name = "memory",
      text = [[
Bytes in use by this Lua state and by the process. Whole blocks count: they come in steps of 64 bytes (on a device 256),
from 1 KiB on in four steps to the next power of two, and these are 2 MiB at most; a block kept for reuse may be a
quarter larger than asked, by 64 MiB at most. Of this state are:

- `live`: bytes of its arrays' data, copies on the host and on devices; zeros that nobody has looked at take none, views
  share, wrapped memory does not count;
- `arrays`: how many pieces of data those are;
- `budget`: how many bytes may be live before a collection starts, and `collections`: how often a full one did. In
  generational mode (Lua 5.4, where `lua` starts in it) a step comes first, and is enough if it gives back an eighth of
  the budget;
- `pinned`: page-locked memory of the host for transfers;
- `scratch`: memory of devices that their kernels work in, 1 MiB at first where a GPU is used. It goes when the state
  closes.

Of the process, all its Lua states together, are:

- `host` and `device`: bytes in use on the host and on all devices. Of another state, `host` also has what that state
  keeps of small arrays that are gone, 1 MiB at most;
- `pooled`: bytes kept for reuse, on the host and on all devices;
- `unused`: bytes that devices have given and no block is made of. Blocks from 48 KiB to 8 MiB are parts of slabs, of 2
  to 32 MiB, which go back one by one as soon as no part of them is in use or kept for reuse;
- `peak`: the most that `host` and `device` together ever were.]],
      params = {},
      returns = { { "table", "these eleven numbers by name" } },
      units = "Bytes; `arrays` and `collections` are numbers.",
      errors = "None.", cost = "O(1).", waits = c.no_work,
      example = [[
local before = gr.memory().live
local a = gr.ones(1000, "f64")
print(gr.memory().live - before >= 8000)
a:release()
print(gr.memory().live == before)]],
      output = "true\ntrue",
    },
    {
      name = "trim",
      text = "Give the memory that is kept for reuse back to the system, and with glibc the pages that its allocator "
        .. "kept. The last Lua state of a process does so when it closes.",
      params = {},
      returns = { { "integer", "the bytes given back" } },
      errors = "None.", cost = "O(blocks).",
      waits = "May wait for the device.",
      example = [[
gr.zeros(1e6):fill(1):release()
print(gr.trim() > 0, gr.memory().pooled)]],
      output = "true\t0",
    },
    {
      name = "gc",
      text = [[
Set how many bytes may live before a collection is started, and how many the process keeps for reuse. By itself it
keeps 256 MiB of the host's memory, and of each device no more than was in use there at once within the last second or
two, together with what is in use a quarter more (but up to 32 MiB always). What lay unused longest goes back first.

After `collectgarbage "stop"` passing the budget starts no collection (but in Lua 5.1, which does not tell: there `auto`
says so); memory that is refused still does, as in Lua itself.]],
      params = { { "options", "options", "" } },
      options = { { "budget", "integer?", "the smallest budget, in bytes" },
        { "auto", "boolean?", "whether passing the budget collects by itself", default = "true at the start" },
        { "limit", "integer?", "the most bytes that this state's arrays may take, both sides together, as in "
          .. "`gr.safe`. It can be lowered, never raised", default = "what the host or `gr.safe` says" },
        { "cache", "integer|string?", "at most so many bytes are kept for reuse, of the host and of each device; "
          .. "`\"auto\"`: as above. Holds for the whole process", default = "\"auto\" at the start" } },
      returns = {},
      errors = "A budget or a cache below 0; a limit below 1, or above the one before; "
        .. "another string than `\"auto\"`; an unknown option. Then nothing is set. "
        .. "After `gr.safe` a cache raises, since it is the whole process's.",
      cost = "O(1); with `cache` O(blocks).", waits = "With `cache` it may wait for the device.",
      example = [[
local before = gr.memory().budget
gr.gc { budget = 2 ^ 30 }
print(gr.memory().budget)
gr.gc { budget = before }]],
      output = "1073741824",
    },
    {
      name = "release",
      text = "Give an array's memory back now. Views that share it keep it until they are released or collected. A "
        .. "second release does nothing; any other use of a released array raises.",
      params = { c.a },
      returns = {},
      errors = "What is no array raises.",
      cost = "O(1).", waits = c.no_work,
      example = [[
local a = gr.zeros(10)
a:release()
print(a, pcall(gr.sum, a))]],
      output = "gpureduce.array (released)\tfalse\tbad argument #1 to 'sum' (array has been released)",
    },
    {
      name = "scope",
      text = "Call a function and release every array that it made, but those that it returns. What finalizers make "
        .. "meanwhile is not the function's (but in Lua 5.1, which does not tell).",
      params = { { "f", "function", "it cannot yield" }, { "...", "any", "its arguments" } },
      returns = { { "any", "the results of f(...); arrays in them, in returned tables, histograms and futures stay" } },
      errors = "What f raises, after releasing what it made.",
      cost = "O(arrays made).", waits = c.no_work,
      example = [[
local temporary
local total = gr.scope(function()
  temporary = gr.arange(1, 10)
  return gr.scan(temporary, "sum")
end)
print(total[10], temporary)]],
      output = "55.0\tgpureduce.array (released)",
    },
    {
      name = "safe",
      text = "Take away from this Lua state what the scripts of strangers should not have, and set them limits, for "
        .. "good. For hosts, before they run such scripts; [SECURITY.md](../SECURITY.md) says what is promised.",
      params = { { "options", "options?", "" } },
      options = {
        { "files", "boolean?", "whether `load`, `save`, `csv` and the paths of pictures stay", default = "false" },
        { "wrap", "boolean?", "whether `wrap` (pointers) stays", default = "false" },
        { "bytes", "integer?", "the most that this state's arrays may take, both sides together",
          default = "no limit" },
        { "elements", "integer?", "the most that one array may have", default = "no limit" },
        { "seconds", "number?", "after so long a call on the CPU raises \"interrupted\", one that waits for a pipe or "
          .. "draws a picture, too", default = "no limit" },
        { "threads", "integer?", "sets `gr.threads`, which scripts cannot change from then on", default = "as it is" },
      },
      returns = {},
      units = "Bytes; elements; seconds.",
      errors = "A second call in the same state; a limit below 1 (seconds: of 0 or less). Afterwards the functions "
        .. "that are taken away raise, `gr.trim()`, `gr.threads(n)` and the cache of `gr.gc` too, since they concern "
        .. "the whole process; arrays beyond a limit raise.",
      cost = "O(1).", waits = c.no_work,
      example = [[
-- gr.safe { bytes = 256 * 2^20, elements = 1e7, seconds = 0.5 }
print(pcall(gr.safe, { bytes = 0 }))]],
      output = "false\tbad argument #1 to 'safe' (option 'bytes': 1 or more expected, got 0)",
    },
  },
}
