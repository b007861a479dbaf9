-- Golden bits of sum, dot and mean. `lua spec/golden.lua` writes spec/golden/*.txt from the model alone;
-- `lua spec/golden.lua check` compares the module with them (used for child processes with forced settings);
-- `quick` does so for sizes below 10^6 and two threads.
local model = require "spec.model"

local M = {}

M.operations = { "sum", "dot", "mean" }
M.dtypes = { "f32", "f64" }
M.sizes = {
  0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 767, 1000, 1023,
  1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8193, 65535, 65536, 65537, 131073, 1000007,
}
M.longest = M.sizes[#M.sizes]

-- Numbers over 40 (f32) and 60 (f64) powers of two, so that nearly every addition rounds.
function M.data(dtype)
  return model.data(dtype, M.longest, 1, true), model.data(dtype, M.longest, 2, true)
end

local function file_name(operation, dtype) return ("spec/golden/%s_%s.txt"):format(operation, dtype) end

function M.write()
  for _, dtype in ipairs(M.dtypes) do
    local a, b = M.data(dtype)
    local function at(k) return a[k] end
    local function bt(k) return b[k] end
    for _, operation in ipairs(M.operations) do
      local file = assert(io.open(file_name(operation, dtype), "w"))
      file:write(("# %s of %s, tree version 1: length, bits of the double. Written by: lua spec/golden.lua\n"):format(
        operation, dtype))
      for _, n in ipairs(M.sizes) do
        local value = model.reduce[operation](dtype, n, at, operation == "dot" and bt or nil)
        file:write(("%d %s\n"):format(n, model.hex(value)))
      end
      file:close()
    end
  end
end

-- { [n] = hex }
function M.read(operation, dtype)
  local t = {}
  for line in io.lines(file_name(operation, dtype)) do
    local n, hex = line:match("^(%d+) (%x+)$")
    if n then t[tonumber(n)] = hex end
  end
  return t
end

-- The six files as {[dtype] = {[operation] = {[n] = hex}}}.
function M.read_all()
  local all = {}
  for _, dtype in ipairs(M.dtypes) do
    all[dtype] = {}
    for _, operation in ipairs(M.operations) do all[dtype][operation] = M.read(operation, dtype) end
  end
  return all
end

-- Compare the module's bits on views that view_a(n) and view_b(n) return. Returns the number of comparisons.
function M.compare(gr, golden, dtype, view_a, view_b, what, longest)
  local compared = 0
  for _, n in ipairs(M.sizes) do
    if n <= (longest or math.huge) then
      local a, b = view_a(n), view_b(n)
      for _, operation in ipairs(M.operations) do
        local got = model.hex(gr[operation](a, operation == "dot" and b or nil))
        local expected = golden[dtype][operation][n]
        if got ~= expected then
          error(("%s of %d %s, %s: expected %s, got %s"):format(operation, n, dtype, what, expected, got), 0)
        end
        compared = compared + 1
      end
    end
  end
  return compared
end

-- Every start from 1 to 17 (b starts elsewhere than a), then steps 2, 3 and -1; with each number of threads, if given.
function M.check_views(gr, golden, dtype, a, b, all_threads)
  local size, compared = model.size[dtype], 0
  local function compare(...)
    for _, threads in ipairs(all_threads or { false }) do
      if threads then gr.threads(threads) end
      compared = compared + M.compare(gr, golden, dtype, ...)
    end
  end
  local bytes_a, bytes_b = gr.array(a, dtype):bytes(), gr.array(b, dtype):bytes()
  local function padded(bytes, before) -- 0x7f.. is a huge number or NaN: it shows if it is read
    return gr.frombytes(("\127"):rep(before * size) .. bytes .. ("\127"):rep(32), dtype)
  end
  for start = 1, 17 do
    local pa, pb = padded(bytes_a, start - 1), padded(bytes_b, 17 - start)
    compare(
      function(n) return pa:slice(start, start + n - 1) end,
      function(n) return pb:slice(18 - start, 17 - start + n) end, "slice from " .. start)
    pa:release()
    pb:release()
  end
  for _, step in ipairs { 2, 3, -1 } do
    local gap = math.abs(step)
    local N = step < 0 and M.longest or 65537 -- the longest once is enough
    local sa, sb = {}, {}
    for k = 1, N * gap do sa[k], sb[k] = 1e30, -1e30 end
    for k = 1, N do
      local place = step > 0 and k * step - step + 1 or N + 1 - k
      sa[place], sb[place] = a[k], b[k]
    end
    local pa, pb = gr.array(sa, dtype), gr.array(sb, dtype)
    local function view(p)
      return function(n)
        if n == 0 then return p:slice(1, 0) end
        if step < 0 then return p:slice(N, N - n + 1, step) end
        return p:slice(1, (n - 1) * step + 1, step)
      end
    end
    compare(view(pa), view(pb), "step " .. step, N)
    pa:release()
    pb:release()
  end
  return compared
end

function M.check(gr, all_threads)
  local golden, compared = M.read_all(), 0
  for _, dtype in ipairs(M.dtypes) do
    local a, b = M.data(dtype)
    compared = compared + M.check_views(gr, golden, dtype, a, b, all_threads)
  end
  return compared
end

if ... == "spec.golden" then return M end
if ... == "check" or ... == "quick" then
  local gr = require "gpureduce"
  if ... == "quick" then
    M.sizes[#M.sizes] = nil
    M.longest = M.sizes[#M.sizes]
  end
  print(("ok %d %s %s"):format(M.check(gr, ... == "quick" and { 2 } or { 1, 2, 5 }), gr.backend(), gr.instructions()))
else
  M.write()
end
