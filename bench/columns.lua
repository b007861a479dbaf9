-- Odd matrices: columns and rows that begin anywhere, few of them, or narrow ones; a build of the module beside
-- another. From the root, on a GPU:
--   lua5.4 bench/columns.lua OLD.so NEW.so     microseconds of a call of each, and whether results differ in a bit
--   lua5.4 bench/columns.lua NEW.so            one build alone: times and digests
-- Calls follow each other into the same array, of one matrix after the other, which are more than caches hold; medians
-- of five rounds, each build a process of its own. "+1": matrices begin one element after a whole word. mv: matrix x
-- vector, dot: of two matrices; rmsnorm and softmax take rows whatever the axis.
local cases = {
  "var f16 629 137138", "var f16 82 1167340", "var bf16 419 7693", "var f32 48 909414", "var f32 447 40518",
  "var f32 2829 14361", "var bf16 25165 725", "var f64 2027 13511", "var f32 30871 1848", "var f32 30871 1848 +1",
  "var f32 65536 1024", "var f32 65536 1024 +1", "var f32 1000 1000", "var f32 100 100", "var f32 1000 1001",
  "var f32 200000 17", "var f32 200000 33", "var f32 4194304 4", "var f64 4194304 2", "var i32 1000 10001",
  "var i64 3000 3001", "var f32 100 64", "var f32 1000000 40", "var f32 1000000 40 +1", "var f16 100000 100",
  "var f16 1000000 20", "var f32 500 5", "var f32 3000 12", "var f32 5000000 3 +1", "var f16 2000000 10 +1",
  "var i32 3000000 5", "var f32 200000 100", "var f32 200000 100 +1", "var f64 500000 50", "var f64 500000 50 +1",
  "var f16 500000 96", "var f16 500000 96 +1", "var f32 100000 512", "var f32 100000 512 +1", "dot f16 360 16763",
  "dot f32 1000 1001", "dot f32 1000 1024", "dot f32 200000 17", "dot f64 1000 1001", "dot bf16 3000 30001",
  "dot f16 163997 321", "dot f32 31 1000001", "dot f32 100 1000001", "sum f16 19 379338", "max f64 30 3218928",
  "max f32 100 1000001", "argmax f32 13 118933", "argmax f64 5 4422697", "argmax f64 21 139004",
  "argmax f16 10 8907968", "argmax i64 5 730389", "argmax i8 3 1000001", "argmax f32 47 11393",
  "max i8 4128568 1 rows", "dot f32 2723997 1 rows", "argmax f64 4000000 1 rows", "sum f32 10000000 1 rows",
  "argmax i64 11221 214 rows", "var f32 301 19013 rows", "var f64 229598 3 rows", "mv f16 197186 82 rows",
  "mv f64 1401285 11 rows", "mv f32 300000 50 rows", "mv f32 300000 9 rows", "mv f64 300000 33 rows",
  "mv bf16 300000 33 rows", "dot f32 300000 33 rows", "dot f32 300000 100 rows", "sum f32 300000 33 rows",
  "sum f32 300000 100 rows", "var f32 300000 100 rows", "sum f16 300000 101 rows", "max f32 300000 101 rows",
  "argmax f32 300000 101 rows", "norm f32 65536 1024", "norm f32 65536 1024 +1", "norm f16 65536 2048",
  "norm f64 65536 512",
  "norm f32 300000 33", "norm f32 1000 1001", "norm bf16 3000 30001", "norm f32 16777216 4", "norm f32 100 100",
  "norm f16 1000000 20", "norm f32 50 1000001", "prod f32 65536 1024", "prod f32 65536 1024 +1", "prod f64 65536 512",
  "prod f16 65536 2048", "prod f32 1000 1001", "prod f32 4194304 4", "prod f32 300000 33", "prod f32 50 1000001",
  "mse f32 65536 512", "mse f16 65536 1024", "mse f64 30000 1001", "mse f32 300000 33", "cosine f32 65536 512",
  "cosine f16 65536 1024", "cosine f64 30000 1001", "cosine f32 1000 1001", "logsumexp f32 65536 256",
  "logsumexp f16 65536 256", "logsumexp f32 1000 1001", "sum_kahan f32 65536 1024", "sum_kahan f32 1000 1001",
  "sum_neumaier f16 65536 1024", "sum_f32 f32 65536 1024", "dot_neumaier f32 65536 512", "sum f32 100000 7",
  "sum f32 300000 33", "sum f16 300000 33", "sum f64 1000000 7", "sum f32 300000 33 +1", "sum f32 3000 17",
  "sum f32 200000 50 +1", "sum f16 1000 101", "norm i32 65536 512", "sum f32 65536 1024", "var bf16 76 1084385",
  "var f16 200 300001", "var f16 300 1000000", "var f32 100 400001", "var f64 60 500001", "var f64 200 100001",
  "var u8 5 8000001", "var i16 8 4000000", "var f16 5 5000001", "var f32 5 3000001", "var f64 3 2000001",
  "argmax i32 13 2170708", "argmax i8 3 1000001", "max f32 9 3000001", "var f32 10 3000001", "dot f16 5 6819963",
  "mv f16 884 116 rows", "mv f16 300000 26 rows", "var f16 300000 19 rows", "var f32 300000 50 rows",
  "rmsnorm f16 16384 4096 rows", "rmsnorm bf16 13107 5120 rows", "rmsnorm f16 87381 768 rows",
  "rmsnorm bf16 65536 1024 rows", "rmsnorm f16 1048576 64 rows", "rmsnorm f16 262144 256 rows",
  "rmsnorm f16 500000 70 rows", "rmsnorm f32 1000000 21 rows", "rmsnorm f64 799910 21 rows",
  "rmsnorm f16 4 9244144 rows", "sum f32 6929148 13", "sum f16 6929148 13", "sum f64 2000000 7", "sum f16 5000000 5",
  "sum f32 678726 29", "sum f64 259627 83", "sum f16 3000000 17", "sum f16 2000000 50", "sum f64 500000 101",
  "sum f32 500000 201", "sum f64 200000 401", "sum f32 1000000 65", "sum f32 1000000 129", "mv f16 2594183 6",
  "mv f32 6929148 13", "mv f32 3000000 3", "mv f64 259627 83", "mv f32 375186 62", "mv f16 2000000 37",
  "mv bf16 477671 37", "mv f32 300000 33", "mv f64 500000 101", "mv f32 500000 201", "mv f32 1000000 99",
  "sum f64 65 860335", "sum f64 100 400001", "sum f64 300 100001", "norm f64 300 100001", "var bf16 744 54166",
  "var f16 600 100001", "var f16 900 60001", "var bf16 400 100001", "var f32 300 100001", "var f32 700 50001",
  "var f32 1000 50001", "var f32 3000 10001", "var f64 300 100001", "var f64 500 50001", "var f64 71 1296979",
}

local function side_by_side(old, new)
  local found = { {}, {} }
  for k, path in ipairs { old, new } do
    local pipe = assert(io.popen(("%s '%s' '%s'"):format(arg[-1] or "lua5.4", arg[0], path)))
    for line in pipe:lines() do
      local name, us, digest = line:match "^(.-) +([%d.]+) us +(%x+)$"
      if name then found[k][name] = { tonumber(us), digest } else print("# " .. line) end
    end
    assert(pipe:close())
  end
  for _, name in ipairs(cases) do
    local a, b = found[1][name], found[2][name]
    print(("%-28s %9.2f -> %9.2f us  %5.2f%s"):format(name, a[1], b[1], a[1] / b[1],
      a[2] == b[2] and "" or "  the results differ"))
  end
end

if arg[2] then return side_by_side(arg[1], arg[2]) end

local gr = assert(package.loadlib(arg[1], "luaopen_gpureduce"))("gpureduce", arg[1])
print(gr._VERSION .. " " .. gr.backend() .. " " .. arg[1])

local function time(call, into, count)
  local start = gr.clock()
  for _ = 1, count do call() end
  local _ = into[1]
  return (gr.clock() - start) / count
end

package.path = "./bench/peers/?.lua;" .. package.path
local sizes = require("grid").sizes

local function measure(seed, name)
  local op, dtype, rows, columns, more = name:match "^([%w_]+) (%w+) (%d+) (%d+) ?(.*)$"
  rows, columns = tonumber(rows), tonumber(columns)
  local axis, first, size = more == "rows" and 2 or 1, more == "+1" and 2 or 1, sizes[dtype]
  local n, results = rows * columns, axis == 1 and columns or rows
  local matrices, pitch = math.max(2, math.ceil(2 ^ 28 / (n * size))), (n * size + 255) // 256 * 256 // size
  local function numbers(count, of)
    local x = gr.randn(count, { seed = of }):mul(30)
    if op == "prod" then return x:mul(1 / 900):add(1):cast(dtype) end
    return (dtype == "i8" and x:clamp(-128, 127) or x):cast(dtype)
  end
  local function in_turn(of)
    local pool, list = numbers(pitch * matrices + first - 1, of), {}
    for k = 1, matrices do list[k] = pool:slice((k - 1) * pitch + first, (k - 1) * pitch + first + n - 1) end
    return list
  end
  local plain, way = op:match "^(%a+)_(%w+)$"
  op = plain or op
  local x, y = in_turn(seed), nil
  if op == "dot" or op == "mse" or op == "cosine" then y = in_turn(seed + 500) end
  if op == "mv" then
    local vector = numbers(axis == 2 and columns or rows, seed + 500)
    y = setmetatable({}, { __index = function() return vector end })
  end
  local maps = op == "rmsnorm" or op == "softmax"
  local into = gr.zeros(maps and n or results, (maps or op == "max") and dtype or op == "argmax" and "i64" or "f64")
  local options = { rows = rows, into = into, pairs = y and op ~= "mv" or nil, accumulate = way }
  if not maps then options.axis = axis end
  local run = gr[op == "mv" and "dot" or op]
  if op == "norm" then run = function(a, o) return gr.norm(a, 2, o) end end
  if op == "rmsnorm" then run = function(a, o) return gr.rmsnorm(a, nil, o) end end
  local turn = 0
  local function call()
    local k = turn % matrices + 1
    turn = turn + 1
    if y then run(x[k], y[k], options) else run(x[k], options) end
  end
  time(call, into, 3)
  local count, list = math.max(5, math.min(2000, math.floor(0.004 / time(call, into, 5)))), {}
  for k = 1, 5 do list[k] = time(call, into, count) end
  table.sort(list)
  turn = 0
  call()
  print(("%-28s %9.2f us  %s"):format(name, list[3] * 1e6, into:digest()))
end

for k, name in ipairs(cases) do
  measure(k, name)
  collectgarbage()
  collectgarbage()
end
