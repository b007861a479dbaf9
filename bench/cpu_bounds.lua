-- What this machine can do at best: the bare loops of bench/peers_cpu/ways.h, which do only what nobody can leave out,
-- each in several ways, one thread and two. The best of them run beside the peers in bench/cpu.lua, which says how
-- bounds.so is built. Nanoseconds an element and microseconds, the least of many rounds taken in turn.
--
--   LUA_CPATH="build/lua5.4/?.so;;" lua5.4 bench/cpu_bounds.lua read|move|dot|count|histogram [ELEMENTS ...]
local bounds = require "bounds"

local small, huge, afterwards = 0, 1, 2 -- pages
local function way(text, name, pages)
  return { text = text, name = name, pages = pages or huge, least = { 1e30, 1e30 } }
end

local seconds = { read = 3, move = 2, dot = 1.5, count = 0.5, histogram = 0.5 }

-- All ways in turn. c: what, n, sizes of an element of x and of the result, threads at most, whole numbers below slots,
-- bins.
local function compare(kind, c, ways)
  local arrays = {}
  for _, w in ipairs(ways) do
    local function random(size, least) return bounds.random(math.max(c.n, least), size, c.slots, w.pages) end
    local room = c.bins and 2 * (c.bins + 1) or 0 -- of what two threads count
    arrays[w.pages] = arrays[w.pages] or { random(c.size, 0), random(c.size, 0), random(c.out or c.size, room) }
  end
  local calls, start, rounds = 20000000 // (c.n * c.size) + 1, os.clock(), 0
  while os.clock() - start < seconds[kind] or rounds < 3 do
    rounds = rounds + 1
    for _, w in ipairs(ways) do
      local x, y, out = table.unpack(arrays[w.pages])
      for t = 1, c.threads do
        w.least[t] = math.min(w.least[t], bounds.time(w.name, x, y, out, calls, t, c.bins))
      end
    end
  end
  for _, w in ipairs(ways) do
    local line = ("%-20s %11d  %-46s"):format(c.what, c.n, w.text)
    for t = 1, c.threads do
      line = line .. ("  %d: %8.4f ns %10.1f us"):format(t, w.least[t] / c.n, w.least[t] / 1e3)
    end
    print(line)
  end
  for _, list in pairs(arrays) do
    for _, a in ipairs(list) do bounds.free(a) end
  end
end

local kinds = {}

function kinds.read(n)
  compare("read", { what = "read f32", n = n, size = 4, threads = 2 }, {
    way("plain", "read_plain"), way("1 KB ahead", "read_1k"), way("4 KB ahead", "read"), way("16 KB ahead", "read_16k"),
    way("4 KB ahead, second cache", "read_t1"), way("one line of eight, second cache", "read_t1_by_8"),
    way("4 KB ahead, non-temporal", "read_nta"),
    way("1 KB, and 16 KB into the second cache", "read_twice"), way("AVX2, 4 KB ahead", "read_avx2"),
    way("two halves at once", "halves"), way("four quarters at once", "read_quarters"),
    way("two pages of 4 KB at once", "read_pages2"), way("four pages at once", "read_pages4"),
    way("eight pages at once", "read_pages8"), way("in order, fetching four places of 16 KB", "read_spread16"),
    way("in order, fetching four places of 32 KB", "read_spread32"),
    way("in order, fetching four places of 64 KB", "read_spread64"),
    way("in order, fetching four places of 256 KB", "read_spread256"), way("halves by turns of 4 KB", "read_turns4"),
    way("halves by turns of 16 KB", "read_turns16"), way("halves by turns of 64 KB", "read_turns64"),
    way("small pages, 4 KB ahead", "read", small), way("pages made huge afterwards, 4 KB ahead", "read", afterwards),
  })
end

function kinds.move(n)
  for _, size in ipairs { 4, 8 } do
    compare("move", { what = size == 4 and "move f32" or "move f64", n = n, size = size, threads = 2 }, {
      way("plain", "move_plain"), way("4 KB ahead", "move_4k"), way("and where it goes", "move"),
      way("past the caches", "move_past"), way("memcpy", "move_c"), way("rep movsb", "move_rep"),
    })
  end
  for _, size in ipairs { 4, 1 } do
    local what = size == 4 and "i32 to i64" or "u8 to i64"
    compare("move", { what = what, n = n, size = size, out = 8, slots = 256, threads = 2 }, {
      way("4 KB ahead", "widen"), way("and where it goes", "widen_w"), way("past the caches", "widen_past"),
    })
  end
end

function kinds.dot(n)
  local threads = n < 100000 and 1 or 2
  compare("dot", { what = "dot f32", n = n, size = 4, threads = threads }, {
    way("f32 alone, as OpenBLAS", "dot_f32"), way("conversions of 8 and fma", "dot_convert"),
    way("conversions of 4 and fma", "dot_convert2"), way("conversions of 4, multiply, add", "dot_convert2_add"),
    way("both by shifts (wrong for 0)", "dot_shift"), way("one by shifts, one converted", "dot_mixed"),
    way("f32 product and its error, converted", "dot_pair"), way("loads alone", "dot_loads"),
  })
  compare("dot", { what = "dot f64", n = n, size = 8, threads = threads },
    { way("loads alone", "dot_loads"), way("multiply, add", "dot_f64") })
end

function kinds.count(n)
  for _, slots in ipairs { 256, 4096, 65536 } do
    if n >= slots then
      local c = { what = "count " .. slots, n = n, size = 4, out = 8, slots = slots, bins = slots, threads = 1 }
      compare("count", c, {
        way("one table", "count_1"), way("four tables", "count_4"), way("eight tables", "count_8"),
        way("one table of 16 bits", "count_1_narrow"), way("four tables of 16 bits", "count_4_narrow"),
        way("one table of bytes", "count_bytes"),
      })
    end
  end
end

function kinds.histogram(n)
  for _, size in ipairs { 4, 8 } do
    for _, bins in ipairs { 256, 4096, 65536 } do
      local what = ("histogram%d %s"):format(bins, size == 4 and "f32" or "f64")
      if n >= bins then
        compare("histogram", { what = what, n = n, size = size, out = 8, bins = bins, threads = 2 }, {
          way("finding bins alone", "find"), way("counting in eight tables", "histogram_words"),
          way("in four tables of 16 bits", "histogram_narrow"), way("in one table of bytes", "histogram_bytes"),
        })
      end
    end
  end
end

local sizes = { read = { 2e6, 1e7 }, move = { 1e6, 1e7 }, dot = { 1e4, 1e5, 1e6 }, count = { 1e4, 1e6 },
                histogram = { 1e4, 1e6 } }
local kind = arg[1]
assert(kinds[kind], "usage: lua bench/cpu_bounds.lua read|move|dot|count|histogram [ELEMENTS ...]")
for _, n in ipairs(#arg > 1 and { table.unpack(arg, 2) } or sizes[kind]) do kinds[kind](math.tointeger(tonumber(n))) end
