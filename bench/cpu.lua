-- The CPU backend beside NumPy, OpenBLAS and, under LuaJIT, its own loops. All contenders get the same numbers, take
-- turns in one run, and their results are compared before anything is timed. Medians; of bare loops the least.
--
--   cc -O2 bench/peers_cpu/openblas_peer.c -o build/openblas_peer -lopenblas
--   cc -O3 -march=native -ffp-contract=off -shared -fPIC -I. -I/usr/include/lua5.4 bench/peers_cpu/bounds.c \
--     -o build/bounds.so -lpthread
--   lua bench/cpu.lua run n=16,1000 [op=sum,dot] [dtype=f32,f64] [threads=1,2] [rounds=9] >> raw.txt
--   lua bench/cpu.lua table raw.txt ...         every ratio, smallest first, beside what is asked of it
--
-- bounds.so, on a processor with AVX-512 and under Lua 5.4: bare loops that do only what nobody can leave out, in the
-- same turns (bench/cpu_bounds.lua looks for the best).
-- PYTHON names the interpreter that has NumPy. A raw line is: operation dtype data n threads contender nanoseconds.
local unpack = table.unpack or unpack -- luacheck: ignore unpack
package.path = "./bench/peers/?.lua;./bench/peers_cpu/?.lua;" .. package.path
local contest, peer = require "contest", require "process"
local timer = contest.timer

local function set(list)
  local s = {}
  for word in list:gmatch("[^,]+") do s[word] = true end
  return s
end

-- ---- the cases ----

local floats, all = set "f32,f64", set "f32,f64,i32,u8"
local numpy_dtype = { f32 = "f4", f64 = "f8", i32 = "i4", u8 = "u1" }

-- name, dtypes, where OpenBLAS has it, NumPy's arguments; ours gives the function and its arguments after x.
local operations = {}
local function operation(o) operations[#operations + 1] = o end

for _, name in ipairs { "sum", "dot", "min", "max", "argmax", "mean", "var" } do
  local blas = name ~= "sum" and name ~= "mean" and name ~= "var"
  operation {
    name = name, dtypes = all, blas = blas,
    ours = function(gr, y) return gr[name], name == "dot" and y or nil end,
  }
end
for _, data in ipairs { "uniform", "normal", "constant" } do
  for _, bins in ipairs { 256, 4096 } do
    local low, high = data == "normal" and -4 or 0, data == "normal" and 4 or 1
    local options = { bins = bins, min = low, max = high }
    operation {
      name = "histogram" .. bins, dtypes = floats, data = data, numpy = ("histogram %d %d %d"):format(bins, low, high),
      ours = function(gr) return gr.histogram, options end, part = "counts",
      bare = { bins, 2 * low, data == "normal" and 8 or 1 }, -- which looks for nothing outside
    }
  end
end
operation {
  name = "histogram65536", dtypes = set "f32", numpy = "histogram 65536 0 1", least = 1e6, part = "counts",
  ours = function(gr) return gr.histogram, { bins = 65536, min = 0, max = 1 } end, bare = { 65536, 0, 1 },
}
for _, most in ipairs { 256, 4096 } do
  operation {
    name = "bincount" .. most, dtypes = set(most == 256 and "i32,u8" or "i32"), data = "below" .. most,
    numpy = "bincount", least = most == 4096 and 1e4 or 0, ours = function(gr) return gr.bincount end,
    bare = { most },
  }
end
operation {
  name = "scan", dtypes = all,
  ours = function(gr, _, n, dtype) return gr.scan, "sum", { into = gr.zeros(n, floats[dtype] and dtype or "i64") } end,
}
for _, columns in ipairs { 4, 50, 1000, "n/10" } do
  operation {
    name = "rows of " .. columns, dtypes = floats, least = 1e6, most = 1e7,
    numpy = function(n) return ("rows %d"):format(columns == "n/10" and 10 or n / columns) end,
    ours = function(gr, _, n) return gr.sum, { rows = columns == "n/10" and 10 or n / columns } end,
  }
end

-- What is asked: at least this many times the speed of the best peer. "call": a call's cost at n <= 1000.
local function asked(op, dtype, n, threads)
  local float = floats[dtype]
  if op:match "^histogram" then return n < 1e7 and 10 or threads == 1 and 6 or 10 end
  if op:match "^bincount" then return n <= 1000 and 2.5 or 2 end
  if op == "scan" then return n <= 1e6 and 10 or threads == 1 and 4 or 10 end
  if op == "var" then return 4 end
  if op:match "^rows" or op == "mean" then return 1 end
  if n <= 1000 then return op == "argmax" and 2.5 or 5 end
  if op == "sum" then return float and (threads >= 2 and n >= 1e5 and 3) or 1.5 end
  return threads >= 2 and n >= 1e6 and 1.8 or 0.95
end

-- ---- contenders ----

-- The bare loops that are called from Lua as cheaply as that goes; others are timed by themselves.
local bare_calls = { dot = true, argmax = true, scan = true, bincount256 = true }

-- LuaJIT's own loops over a C array.
local function loops(gr, dtype, n, x, y)
  local ffi = require "ffi"
  local size = dtype == "f32" and 4 or 8
  local p, q = ffi.new("char[?]", n * size), ffi.new("char[?]", n * size)
  ffi.copy(p, x:bytes(), n * size)
  ffi.copy(q, y:bytes(), n * size)
  local kind = dtype == "f32" and "float*" or "double*"
  p, q = ffi.cast(kind, p), ffi.cast(kind, q)
  local sink = 0
  local made = {
    sum = function() local s = 0 for k = 0, n - 1 do s = s + p[k] end sink = sink + s end,
    dot = function() local s = 0 for k = 0, n - 1 do s = s + p[k] * q[k] end sink = sink + s end,
    max = function() local s = p[0] for k = 1, n - 1 do if p[k] > s then s = p[k] end end sink = sink + s end,
  }
  return function(op) return made[op] and timer(gr, made[op]) end
end

-- ---- verifying ----

-- NumPy checks in 64 bits, pairwise; its running sums are not.
local function tolerance(name, dtype)
  if name == "scan" and floats[dtype] then return dtype == "f32" and 1e-6 or 1e-9 end
  return (floats[dtype] or name == "mean" or name == "var") and 1e-12 or 0
end

-- ---- running ----

local function run(options)
  local gr = require "gpureduce"
  local numpy = peer(contest.python)
  local blas = peer "build/openblas_peer"
  local has_bounds, bounds = pcall(require, "bounds")
  local base = os.tmpname()
  local files = { x = base .. ".x", y = base .. ".y", result = base .. ".result" }
  gr.use "cpu"
  print(("# %s, %s, %s; %s; %s"):format(gr._VERSION, jit and jit.version or _VERSION, gr.instructions(),
    numpy "version", blas "version"))

  local function one_operation(o, dtype, n, x, y, bare)
    local numpy_op = type(o.numpy) == "function" and o.numpy(n) or o.numpy or o.name
    local name, arguments = numpy_op:match "^(%S+)%s*(.*)$"
    local f, second, third = o.ours(gr, y, n, dtype)
    local result = f(x, second, third)
    if o.part then result = result[o.part] end
    contest.verify(gr, o.name .. " " .. dtype, numpy("check", name, files.result, arguments), files.result, result,
      tolerance(o.name, dtype))
    local use_blas = o.blas and floats[dtype] and n >= 4096
    if use_blas then -- its sums of f32 are f32
      contest.verify(gr, "OpenBLAS " .. o.name, blas("check", o.name), nil, result, dtype == "f32" and 1e-2 or 1e-9)
    end
    for t in pairs(options.threads) do
      local threads = tonumber(t)
      gr.threads(threads)
      blas("threads", threads)
      local contenders = {
        { name = "gpureduce", time = timer(gr, f, x, second, third) },
        { name = "numpy", time = function(calls) return tonumber((numpy("time", name, calls, arguments))) end },
      }
      local function add(who, time) if time then contenders[#contenders + 1] = { name = who, time = time } end end
      local function ask(who, op) return function(calls) return tonumber((who("time", op, calls))) end end
      add("openblas", use_blas and ask(blas, o.name))
      if bare and n <= 1000 and bare_calls[o.name] and (floats[dtype] or o.name == "bincount256") then
        local call = bounds[o.name:match "%a+"]
        add("call", timer(gr, call, bare.x, second == y and bare.y or second, third and { into = bare.out }))
      end
      for _, way in ipairs(bare and n > 1000 and contest.bare_ways(o.name, dtype, n) or {}) do
        local function time(calls)
          return bounds.time(way, bare.x, bare.y, bare.out, calls, threads, unpack(o.bare or {}))
        end
        if way then add(way, time) end
      end
      add("loop", rawget(_G, "jit") and floats[dtype] and n <= 1000 and loops(gr, dtype, n, x, y)(o.name))
      contest.sample(gr, ("%s %s %s %d %d"):format(o.name:gsub(" ", "_"), dtype, o.data or "-", n, threads), contenders,
        options.rounds or (n <= 1e5 and 15 or n <= 1e7 and 9 or 5), threads)
    end
  end

  local function one_dtype(dtype, n)
    local loaded, bare
    local function drop()
      for _, a in pairs(bare or {}) do bounds.free(a) end
    end
    for _, o in ipairs(operations) do
      local data = o.data or (floats[dtype] and "uniform" or "below256")
      local wanted = not options.op or options.op[o.name]
      if wanted and o.dtypes[dtype] and n >= (o.least or 0) and n <= (o.most or 1e18) then
        if data ~= loaded then
          for _, which in ipairs { "x", "y" } do
            if which == "x" or not loaded then
              assert(numpy("make", data, numpy_dtype[dtype], ("%d"):format(n), files[which]) == "ok")
              assert(numpy("load", which, numpy_dtype[dtype], files[which]) == "ok")
              for _, who in ipairs(floats[dtype] and { blas } or {}) do
                assert(who("load", which, numpy_dtype[dtype], files[which]) == "ok")
              end
            end
          end
          loaded = data
          if has_bounds then
            drop()
            local size = tonumber(numpy_dtype[dtype]:sub(2))
            bare = { x = bounds.load(files.x, size), y = bounds.load(files.y, size) }
            bare.out = bounds.result(bare.x, floats[dtype] and size or 8, 65536) -- the most bins there are
          end
        end
        local x, y = gr.load(files.x, dtype), gr.load(files.y, dtype)
        one_operation(o, dtype, n, x, y, bare)
        x:release()
        y:release()
      end
    end
    drop()
  end

  for n in options.n:gmatch "[^,]+" do
    for _, dtype in ipairs { "f32", "f64", "i32", "u8" } do
      if not options.dtype or options.dtype[dtype] then one_dtype(dtype, tonumber(n)) end
    end
  end
  for _, name in pairs(files) do os.remove(name) end
  os.remove(base)
end

-- ---- the table ----

local function show(names)
  local cases, order = contest.read(names)
  local rows, impossible = {}, 0
  for _, case in ipairs(order) do
    local op, dtype, data, n, threads = unpack((function()
      local words = {}
      for word in case:gmatch "%S+" do words[#words + 1] = word end
      return words
    end)())
    n, threads = tonumber(n), tonumber(threads)
    local t = cases[case]
    local peer_name = t.openblas and t.openblas < t.numpy and "openblas" or "numpy"
    local needed = asked(op, dtype, n, threads)
    local function row(who, ratio, goal, more)
      rows[#rows + 1] = { ratio / goal, ("%8.2f %6.2f %s %-16s %-4s %-8s %9d %d  %12.1f %12.1f %s%s"):format(
        ratio, goal, ratio >= goal and " " or "*", op, dtype, data, n, threads, t.gpureduce, t[who], who, more or "") }
    end
    local bare, how
    for who, ns in pairs(t) do
      local loop = who:match "^(.*)_least$"
      if loop and not (bare and bare <= ns) then bare, how = ns, loop end
    end
    local reach = bare and t[peer_name] / bare
    local proof = reach and reach < needed and bare < t.gpureduce -- a loop that is slower than we are proves nothing
    if proof and t[peer_name] / t.gpureduce < needed then impossible = impossible + 1 end
    row(peer_name, t[peer_name] / t.gpureduce, needed,
      bare and ("; a bare loop (%s): %.2f%s"):format(how, reach, proof and ", so impossible here" or ""))
    local reader = op == "dot" and "read_both" or "read_t1_by_8"
    if t[reader] and op ~= "argmax" and floats[dtype] and n >= 1e7 then row(reader, t[reader] / t.gpureduce, 0.95) end
    if t.loop and n >= 64 then row("loop", t.loop / t.gpureduce, 1) end
  end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  local missed = 0
  for _, r in ipairs(rows) do missed = missed + (r[1] < 1 and 1 or 0) end
  print(("%d ratios, %d below what is asked (*), %d of these where even a bare loop is; by ratio over what is asked")
    :format(#rows, missed, impossible))
  print("   ratio  asked   operation        type data             n threads   here ns      peer ns peer")
  for _, r in ipairs(rows) do print(r[2]) end
end

if arg[1] == "run" then
  local options = {}
  for k = 2, #arg do
    local name, value = arg[k]:match "^(%w+)=(.+)$"
    options[name] = name == "n" and value or name == "rounds" and tonumber(value) or set(value)
  end
  options.threads = options.threads or set "1,2"
  run(options)
elseif arg[1] == "table" then
  show { unpack(arg, 2) }
else
  error "usage: lua bench/cpu.lua run n=... | table FILE ..."
end
