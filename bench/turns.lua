-- Two builds of the module in turns, in one process: what a change has made slower. Usage, from the root:
--   lua bench/turns.lua OLD.so NEW.so [PATTERN of cells] > ratios.txt
-- Each cell is timed seven times with each build, one after the other; the ratio is that of the medians, old by new (below 1:
-- the new one is slower). Calls follow each other without waiting, but for those named "number".
local paths, pattern = { arg[1], arg[2] }, arg[3] or "."
local ROUNDS, ENOUGH = 7, 1e-3 -- seconds of a round

local builds = {}
for k, path in ipairs(paths) do
  builds[k] = assert(package.loadlib(path, "luaopen_gpureduce"))("gpureduce", path)
end
local old, new = builds[1], builds[2]
print(("# old %s\n# new %s\n# %s, %s"):format(paths[1], paths[2], old._VERSION, new._VERSION))
print("# " .. tostring(new.backend()))

local function time(cell, calls)
  local start = new.clock()
  for _ = 1, calls do cell.call() end
  if cell.finish then cell.finish() end
  return (new.clock() - start) / calls
end

local function median(t)
  table.sort(t)
  return t[math.floor(#t / 2) + 1]
end

local rows = {}
-- make(gr) gives what is called, and what waits for the last call.
local function cell(name, make)
  if not name:find(pattern) then return end
  local cells, times, calls = {}, { {}, {} }, 1
  for k, gr in ipairs(builds) do
    local call, finish = make(gr)
    cells[k] = { call = call, finish = finish }
    time(cells[k], 2)
  end
  while calls < 4096 and time(cells[1], calls) * calls < ENOUGH do calls = calls * 2 end
  for _ = 1, ROUNDS do
    for k = 1, 2 do table.insert(times[k], time(cells[k], calls)) end
  end
  local a, b = median(times[1]), median(times[2])
  rows[#rows + 1] = { name = name, old = a, new = b, ratio = a / b }
  print(("%-44s %10.2f %10.2f us  %6.3f"):format(name, a * 1e6, b * 1e6, a / b))
end

local kept = {}
local function data(gr, n, dtype, seed)
  local key = ("%s %d %s %d"):format(tostring(gr), n, dtype, seed or 1)
  kept[key] = kept[key] or (dtype:find "f" and gr.randn(n, dtype, { seed = seed or 1 }) or
    gr.rand(n, "f32", { seed = seed or 1 }):mul(100):cast(dtype))
  return kept[key]
end
local function forget()
  kept = {}
  collectgarbage()
  collectgarbage()
  for _, gr in ipairs(builds) do gr.trim() end
end
local function waits(out) return function() return out[1] end end

for _, n in ipairs { 16, 1000, 2 ^ 14, 50000, 2 ^ 20 } do
  for _, op in ipairs { "sum", "max", "dot" } do
    cell(("number %s f32 %d"):format(op, n), function(gr)
      local a = data(gr, n, "f32")
      return op == "dot" and function() gr.dot(a, a) end or function() gr[op](a) end
    end)
  end
end

for _, t in ipairs { "f32", "f64", "f16", "u8", "i32" } do
  for _, n in ipairs { 1000, 2 ^ 16, 2 ^ 20, 3000001, 2 ^ 24, 2 ^ 26 } do
    for _, op in ipairs { "sum", "max", "var", "argmax", "dot", "norm" } do
      cell(("%s %s %d"):format(op, t, n), function(gr)
        local a, out, options = data(gr, n, t), gr.zeros(1, op == "argmax" and "i64" or "f64"), nil
        options = { into = out }
        if op == "dot" then return function() gr.dot(a, a, options) end, waits(out) end
        if op == "norm" then return function() gr.norm(a, 2, options) end, waits(out) end
        return function() gr[op](a, options) end, waits(out)
      end)
    end
  end
  forget()
end

local shapes = { { 2 ^ 22, 2 }, { 2 ^ 21, 8 }, { 2 ^ 18, 64 }, { 16000, 1000 }, { 4096, 4096 }, { 256, 65536 }, { 50, 320000 },
                 { 8, 2 ^ 21 }, { 4, 2 ^ 22 }, { 1000, 1000 }, { 100, 100 }, { 64, 262144 }, { 16384, 1024 }, { 1000, 128 } }
for _, t in ipairs { "f32", "f64", "f16", "i64", "i32", "u8" } do
  for _, s in ipairs(shapes) do
    for _, op in ipairs { "sum", "max", "var", "dot" } do
      for axis = 1, 2 do
        cell(("%s %s %d x %d axis %d"):format(op, t, s[1], s[2], axis), function(gr)
          local a, options = data(gr, s[1] * s[2], t), { rows = s[1], axis = axis }
          local v = op == "dot" and data(gr, axis == 1 and s[1] or s[2], t, 2)
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
      cell(("scan %s %s %d"):format(op, t, n), function(gr)
        local a = data(gr, n, t)
        local out = gr.scan(a, op)
        return function() gr.scan(a, op, { into = out }) end, waits(out)
      end)
    end
    for _, bins in ipairs { 256, 4096, 65536 } do
      cell(("histogram %d %s %d"):format(bins, t, n), function(gr)
        local a, h = data(gr, n, t), nil
        return function() h = gr.histogram(a, { bins = bins, min = -3, max = 100 }) end, function() return h.counts[1] end
      end)
    end
    cell(("exact sum %s %d"):format(t, n), function(gr)
      local a = data(gr, n, t)
      return function() gr.sum(a, { exact = true }) end
    end)
    if t ~= "i32" then
      cell(("exp %s %d"):format(t, n), function(gr)
        local a = data(gr, n, t)
        local out = gr.exp(a)
        return function() gr.exp(a, { into = out }) end, waits(out)
      end)
      cell(("median %s %d"):format(t, n), function(gr)
        local a = data(gr, n, t)
        return function() a:median() end
      end)
    end
  end
  forget()
end

for _, t in ipairs { "f32", "f64", "f16" } do
  for _, s in ipairs { { 100, 100 }, { 64, 4096 }, { 1000, 1000 }, { 16384, 1024 }, { 4096, 4096 }, { 500, 30000 },
                       { 256, 65536 }, { 64, 262144 }, { 8, 2 ^ 21 } } do
    for _, op in ipairs { "rmsnorm", "softmax" } do
      cell(("%s %s %d x %d"):format(op, t, s[1], s[2]), function(gr)
        local a = data(gr, s[1] * s[2], t)
        local options = { rows = s[1], into = a:copy() }
        if op == "softmax" then return function() gr.softmax(a, options) end, waits(options.into) end
        return function() gr.rmsnorm(a, nil, options) end, waits(options.into)
      end)
    end
  end
  forget()
end

table.sort(rows, function(x, y) return x.ratio < y.ratio end)
local slower = 0
for _, r in ipairs(rows) do slower = slower + (r.ratio < 0.98 and 1 or 0) end
local middle = rows[math.floor(#rows / 2) + 1]
print(("# %d cells, %d below 0.98, median %.3f; the worst:"):format(#rows, slower, middle and middle.ratio or 0))
for k = 1, math.min(40, #rows) do
  local r = rows[k]
  print(("# %-42s %10.2f %10.2f us  %6.3f"):format(r.name, r.old * 1e6, r.new * 1e6, r.ratio))
end
