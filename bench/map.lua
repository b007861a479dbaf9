-- Element operators at one large size: bytes read and written a second, with results left on the device.
-- Usage: lua bench/map.lua [exponent of the bytes of an input, default 30 on a GPU, 26 on the CPU]
local gr = require "gpureduce"

local name = gr.backend()
local bytes = 2 ^ (tonumber(arg and arg[1]) or (name:match("cuda") and 30 or 26))
local size = { u8 = 1, i16 = 2, i32 = 4, i64 = 8, f16 = 2, bf16 = 2, f32 = 4, f64 = 8 }

local function seconds(f, out)
  f()
  local _ = out[1]
  local best = math.huge
  for _ = 1, 3 do
    local start = gr.clock()
    for _ = 1, 5 do f() end
    _ = out[1]
    best = math.min(best, (gr.clock() - start) / 5)
  end
  return best
end

local function row(what, dtype, moved, f, out)
  local s = seconds(f, out)
  print(("%-22s %-5s %9.1f us %7.0f GB/s"):format(what, dtype, s * 1e6, moved / s * 1e-9))
end

print(name, gr.version and gr.version() or gr._VERSION)
for _, dtype in ipairs { "u8", "i16", "f16", "bf16", "i32", "f32", "i64", "f64" } do
  local n = bytes / size[dtype]
  local a, b, out = gr.full(n + 1, 3, dtype), gr.full(n, 2, dtype), gr.zeros(n, dtype)
  local odd, whole = a:slice(2, n + 1), a:slice(1, n)
  local mask = gr.full(n, 1, "u8")
  row("add", dtype, 3 * bytes, function() whole:add(b, { into = out }) end, out)
  row("add, unaligned", dtype, 3 * bytes, function() odd:add(b, { into = out }) end, out)
  row("add in place", dtype, 3 * bytes, function() b:add(out, { into = b }) end, b)
  row("mul by a number", dtype, 2 * bytes, function() whole:mul(2, { into = out }) end, out)
  if dtype:match("f") then
    row("div", dtype, 3 * bytes, function() whole:div(b, { into = out }) end, out)
    row("sqrt", dtype, 2 * bytes, function() whole:sqrt { into = out } end, out)
    row("exp", dtype, 2 * bytes, function() whole:exp { into = out } end, out)
    row("log", dtype, 2 * bytes, function() whole:log { into = out } end, out)
  end
  row("clamp", dtype, 2 * bytes, function() whole:clamp(1, 2, { into = out }) end, out)
  row("compare", dtype, 2 * bytes + n, function() whole:compare("<", b, { into = mask }) end, mask)
  row("count of a predicate", dtype, bytes, function() whole:count { op = ">", value = 2 } end, mask)
  row("where", dtype, 3 * bytes + n, function() gr.where(mask, whole, b, { into = out }) end, out)
  if size[dtype] <= 4 then
    local wide = gr.zeros(n, "f32")
    row("cast to f32", dtype, bytes + 4 * n, function() whole:cast("f32", { into = wide }) end, wide)
    row("cast from f32", dtype, bytes + 4 * n, function() wide:cast(dtype, { into = out }) end, out)
  end
  mask:fill(1)
  for _, every in ipairs { 1, 2, 16 } do
    mask:fill(0)
    mask:slice(1, n, every):fill(1)
    row("compact, 1 of " .. every, dtype, bytes * (1 + 1 / every) + 2 * n,
      function() whole:compact(mask, { into = out }) end, out)
  end
  a, b, out, odd, whole, mask = nil, nil, nil, nil, nil, nil -- luacheck: ignore
  collectgarbage()
  collectgarbage()
  gr.trim()
end
