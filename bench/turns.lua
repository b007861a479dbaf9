-- Two builds of the module in turns: what a change has made slower. Usage, from the root:
--   lua bench/turns.lua OLD.so NEW.so [ROUNDS (3)] [PATTERN of cells] > ratios.txt
-- The builds run in turns, a process each, so many times; in a run a cell is timed five times. A build's time is the
-- least of its runs' medians (some processes are slower as a whole), the ratio that of old by new: below 1 the new one
-- is slower. Calls follow each other without waiting, but for those named "number". A pattern "drawn SEED COUNT MOST
-- [THREADS]" takes the cells of bench/shapes.lua instead.
local worker = arg[1] == "cells"

local function median(t)
  table.sort(t)
  return t[math.floor(#t / 2) + 1]
end

if not worker then
  local paths, runs, pattern = { arg[1], arg[2] }, tonumber(arg[3]) or 3, arg[4] or "."
  local names, times = {}, { {}, {} }
  for _ = 1, runs do
    for k, path in ipairs(paths) do
      local pipe = assert(io.popen(("lua5.4 '%s' cells '%s' '%s'"):format(arg[0], path, pattern)))
      for line in pipe:lines() do
        local name, list = line:match "^([^|]+)|(.*)$"
        if not name then
          print("# " .. line)
        else
          if k == 1 and not times[k][name] then names[#names + 1] = name end
          local all = {}
          for t in list:gmatch "%S+" do all[#all + 1] = tonumber(t) end
          times[k][name] = math.min(times[k][name] or math.huge, median(all))
        end
      end
      assert(pipe:close())
    end
  end
  local rows, slower = {}, 0
  for k, name in ipairs(names) do
    local a, b = times[1][name], times[2][name] or math.huge
    rows[k] = { name = name, old = a, new = b, ratio = a / b }
    print(("%-44s %10.2f %10.2f us  %6.3f"):format(name, a * 1e6, b * 1e6, a / b))
    if a / b < 0.98 then slower = slower + 1 end
  end
  table.sort(rows, function(x, y) return x.ratio < y.ratio end)
  print(("# %d cells, %d below 0.98, median %.3f; the worst:"):format(#rows, slower, rows[#rows // 2 + 1].ratio))
  for k = 1, math.min(40, #rows) do
    local r = rows[k]
    print(("# %-42s %10.2f %10.2f us  %6.3f"):format(r.name, r.old * 1e6, r.new * 1e6, r.ratio))
  end
  return
end

local TIMES, ENOUGH = 5, 1e-3 -- seconds of one
local gr = assert(package.loadlib(arg[2], "luaopen_gpureduce"))("gpureduce", arg[2])
local pattern = arg[3]
print(gr._VERSION .. " " .. tostring(gr.backend()) .. " " .. arg[2])

local function time(call, finish, calls)
  local start = gr.clock()
  for _ = 1, calls do call() end
  if finish then finish() end
  return (gr.clock() - start) / calls
end

-- make() gives what is called, and what waits for the last call.
local function cell(name, make)
  if not name:find(pattern) then return end
  local call, finish = make()
  local calls, list = 1, {}
  time(call, finish, 2)
  while calls < 4096 and time(call, finish, calls) * calls < ENOUGH do calls = calls * 2 end
  for k = 1, TIMES do list[k] = ("%.9g"):format(time(call, finish, calls)) end
  print(name .. "|" .. table.concat(list, " "))
end

local from_seed, count, most, threads = pattern:match "^drawn (%d+) (%d+) (%S+) ?(%d*)"
if from_seed then
  package.loaded.gpureduce = gr
  package.path = "./bench/peers/?.lua;" .. package.path
  local drawn = require "drawn"
  gr.threads(tonumber(threads) or 1)
  pattern = "."
  for _, c in ipairs(drawn.cells(tonumber(from_seed), tonumber(count), tonumber(most))) do
    local x, y = drawn.inputs(c)
    local _, f, a, b, d = drawn.call(c, x, y)
    cell(c.name, function() return function() f(a, b, d) end end)
    x:release()
    if y then y:release() end
    collectgarbage()
  end
  return
end

local kept = {}
local function data(n, dtype, seed)
  local key = ("%d %s %d"):format(n, dtype, seed or 1)
  kept[key] = kept[key] or (dtype:find "f" and gr.randn(n, dtype, { seed = seed or 1 }) or
    gr.rand(n, "f32", { seed = seed or 1 }):mul(100):cast(dtype))
  return kept[key]
end
local function forget()
  kept = {}
  collectgarbage()
  collectgarbage()
  gr.trim()
end
local function waits(out) return function() return out[1] end end

for _, n in ipairs { 16, 1000, 2 ^ 14, 50000, 2 ^ 20 } do
  for _, op in ipairs { "sum", "max", "dot" } do
    cell(("number %s f32 %d"):format(op, n), function()
      local a = data(n, "f32")
      return op == "dot" and function() gr.dot(a, a) end or function() gr[op](a) end
    end)
  end
end

for _, t in ipairs { "f32", "f64", "f16", "u8", "i32" } do
  for _, n in ipairs { 1000, 2 ^ 16, 2 ^ 20, 3000001, 2 ^ 24, 2 ^ 26 } do
    for _, op in ipairs { "sum", "max", "var", "argmax", "dot", "norm" } do
      cell(("%s %s %d"):format(op, t, n), function()
        local a, out, options = data(n, t), nil, nil
        local function run()
          if op == "norm" then return gr.norm(a, 2, options) end
          if op == "dot" then return gr.dot(a, a, options) end
          return gr[op](a, options)
        end
        for _, dtype in ipairs { "f64", "i64", t } do
          out = gr.zeros(1, dtype)
          options = { into = out, at = 1 }
          if pcall(run) then break end
        end
        return run, waits(out)
      end)
    end
  end
  forget()
end

local shapes = {
  { 2 ^ 22, 2 }, { 2 ^ 21, 8 }, { 2 ^ 18, 64 }, { 16000, 1000 }, { 4096, 4096 }, { 256, 65536 }, { 50, 320000 },
  { 8, 2 ^ 21 }, { 4, 2 ^ 22 }, { 1000, 1000 }, { 100, 100 }, { 64, 262144 }, { 16384, 1024 }, { 1000, 128 },
  { 50, 100001 }, { 608, 691 }, { 333, 5120 }, { 30001, 95 },
}
for _, t in ipairs { "f32", "f64", "f16", "i64", "i32", "u8" } do
  for _, s in ipairs(shapes) do
    for _, op in ipairs { "sum", "max", "var", "dot" } do
      for axis = 1, 2 do
        cell(("%s %s %d x %d axis %d"):format(op, t, s[1], s[2], axis), function()
          local a, options = data(s[1] * s[2], t), { rows = s[1], axis = axis }
          local v = op == "dot" and data(axis == 1 and s[1] or s[2], t, 2)
          local function run() if v then return gr.dot(a, v, options) else return gr[op](a, options) end end
          options.into = run()
          return run, waits(options.into)
        end)
      end
    end
  end
  forget()
end

for _, t in ipairs { "f32", "f64", "f16", "i32" } do
  for _, n in ipairs { 1000, 2 ^ 16, 2 ^ 20, 3000001, 2 ^ 24, 2 ^ 26 } do
    for _, op in ipairs { "sum", "max" } do
      cell(("scan %s %s %d"):format(op, t, n), function()
        local a = data(n, t)
        local out = gr.scan(a, op)
        return function() gr.scan(a, op, { into = out }) end, waits(out)
      end)
    end
    for _, bins in ipairs { 256, 4096, 65536, 200000 } do
      cell(("histogram %d %s %d"):format(bins, t, n), function()
        local a, h = data(n, t), nil
        local options = { bins = bins, min = -3, max = 100 }
        return function() h = gr.histogram(a, options) end, function() return h.counts[1] end
      end)
    end
    for _, op in ipairs { "sum", "dot" } do
      cell(("exact %s %s %d"):format(op, t, n), function()
        local a, options = data(n, t), { exact = true }
        return op == "sum" and function() gr.sum(a, options) end or function() gr.dot(a, a, options) end
      end)
    end
    if t ~= "i32" then
      cell(("exp %s %d"):format(t, n), function()
        local a = data(n, t)
        local out = gr.exp(a)
        return function() gr.exp(a, { into = out }) end, waits(out)
      end)
      cell(("median %s %d"):format(t, n), function()
        local a = data(n, t)
        return function() a:median() end
      end)
    end
  end
  forget()
end

for _, t in ipairs { "f32", "f64", "f16" } do
  for _, s in ipairs { { 100, 100 }, { 64, 4096 }, { 1000, 1000 }, { 16384, 1024 }, { 4096, 4096 }, { 500, 30000 },
                       { 256, 65536 }, { 64, 262144 }, { 8, 2 ^ 21 }, { 22, 6917 }, { 7777, 25 }, { 1272, 553 },
                       { 5952, 14 }, { 26, 34405 }, { 11681, 5613 } } do
    for _, op in ipairs { "rmsnorm", "softmax" } do
      cell(("%s %s %d x %d"):format(op, t, s[1], s[2]), function()
        local a = data(s[1] * s[2], t)
        local options = { rows = s[1], into = a:copy() }
        if op == "softmax" then return function() gr.softmax(a, options) end, waits(options.into) end
        return function() gr.rmsnorm(a, nil, options) end, waits(options.into)
      end)
    end
  end
  forget()
end
