-- What every host runs (make engines): the module loads there and gives the bits that it gives everywhere. Prints one
-- line that begins with "gpureduce in HOST: ok", or raises. Only the basic functions, string, table and os are used,
-- since hosts leave others out. The numbers to meet were computed under Lua 5.4, and are the same on every backend.
local gr = require "gpureduce"

local host = os.getenv "GPUREDUCE_HOST" or "a host without a name"

local function expect(what, got, expected)
  if got ~= expected then
    error(("gpureduce in %s: %s: %s expected, got %s"):format(host, what, tostring(expected), tostring(got)), 0)
  end
end

local a = gr.rand(300000, "f32", { seed = 7 })
local b = gr.randn(300000, "f64", { seed = 8 })

-- Work that goes on while the host does something else comes first, so that it is under way beside the rest.
local future = gr.async(gr.dot, b, b)

expect("a sum", a:sum(), 149822.5609986186)
expect("an exact sum", b:sum { exact = true }, -202.36731581888242)

local h = gr.histogram(b, { bins = 8, min = -2, max = 2 })
local counts = {}
for k = 1, 8 do counts[k] = ("%d"):format(h.counts[k]) end
expect("a histogram", table.concat(counts, " "), "13266 27395 45353 57532 57346 44648 27550 13122")
expect("samples outside", h.below + h.above, 13788)

local luminance = gr.fuse "0.2126 * r + 0.7152 * g + 0.0722 * b"
local n = 100000
local colours = { r = a:slice(1, n), g = a:slice(n + 1, 2 * n), b = a:slice(2 * n + 1, 3 * n) }
expect("a formula", luminance(colours):sum(), 49951.442323840223)

-- Memory of the host's own Lua: a string's bytes, as most hosts give them to scripts.
expect("bytes", gr.frombytes(("gpureduce"):rep(1000), "u8"):sum(), 964000)

expect("a future", future:get(60), 300425.14774262265)
expect("a future that has been asked", future:done(), true)

-- An error is the script's to catch, and the host goes on.
local fine, message = pcall(gr.dot, a, a:slice(1, 2))
expect("an error", fine, false)
expect("its text", message:match "^bad argument #2 to 'dot'", "bad argument #2 to 'dot'")

print(("gpureduce in %s: ok (%s, %s)"):format(host, jit and jit.version or _VERSION, (gr.backend())))
