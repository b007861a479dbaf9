-- What the tuning numbers of the CUDA half bring on this chip: each in turn gets another value, and the cells that
-- feel it are timed in the module as it is and in one with that value, in turns, after their results have been
-- compared bit by bit. Usage, from the root, after `make` with CUDA:
--   lua5.4 bench/tuning.lua list  [only=PATTERN|PATTERN]      the rows; an error for what is not in its file
--   lua5.4 bench/tuning.lua build [only=PATTERN] [jobs=16] [seconds=300]     the variants, into build/tuning
--   lua5.4 bench/tuning.lua time  [only=PATTERN] [seconds=300] [out=FILE]    what has been built; FILE: all lines
-- A line a cell: room and number, cell, value: microseconds of a call, then each other value, and how many times as
-- long it takes; "bits" where a result differs, "fails" where the build or the call does. Printed are those of numbers
-- that are felt, and the names of the others (no ratio beyond ENOUGH). The rows are in bench/tuning/*.lua, those
-- without a figure first.
package.path = "./bench/tuning/?.lua;" .. package.path
local cells = require "cells"

local FOLDER, ENOUGH, ROUNDS, LONG, MOST_VALUES = "build/tuning", 0.01, 7, 1.5e-3, 2

-- ---- the rows ----

-- Whether one of the patterns is found, which "|" separates.
local function is_wanted(name, only)
  for pattern in only:gmatch "[^|]+" do
    if name:find(pattern) then return true end
  end
  return false
end

local function rows_of(only)
  local list = {}
  local files = { (require "reduce") }
  for _, name in ipairs { "rooms", "host" } do
    for _, file in ipairs(require(name)) do files[#files + 1] = file end
  end
  for _, file in ipairs(files) do
    for k, row in ipairs(file.rows) do
      row.file, row.name = file.file, (file.file:match "([^/]+)/tuning.h$") .. " " .. row[1]
      row.id = row.name:gsub("[^%w]+", "_")
      row.order = k / #file.rows -- of all files alike: what matters first
      row.values, row.cells = {}, {}
      for value in (row[3] or ""):gmatch "[^|]+" do row.values[#row.values + 1] = value end
      assert(#row.values <= MOST_VALUES, row.name)
      if not row.why then
        for text in row[4]:gmatch "[^|]+" do row.cells[#row.cells + 1] = cells.parse(text) end
      end
      if is_wanted(row.name, only) then list[#list + 1] = row end
    end
  end
  return list
end

local function folder_of(row, k) return ("%s/%s_%d"):format(FOLDER, row.id, k) end
local function exists(path)
  local f = io.open(path)
  return f and f:close()
end

-- ---- building ----

local function build(rows, options)
  local variants = require "variants"
  local list, link = variants.commands(options.make)
  local each = "[ $(date +%%s) -lt %d ] || exit 0; sh $0/build.sh >$0/log 2>&1 || :"
  local scripts = assert(io.popen(("xargs -r -P %d -n 1 sh -c '" .. each .. "'"):format(options.jobs,
    os.time() + options.seconds), "w"))
  local count, start = 0, os.time()
  for k = 1, MOST_VALUES do -- each row's first value before any second one
    for _, row in ipairs(rows) do
      local folder, value = folder_of(row, k), row.values[k]
      local objects, why = nil, nil
      if value then
        os.execute(("rm -rf '%s'"):format(folder))
        objects, why = variants.prepare(row, value, folder, list, link)
      end
      if objects then
        scripts:write(folder, "\n")
        count = count + 1
      elseif value then
        print(("# %s: %s"):format(row.name, why))
      end
    end
  end
  scripts:close()
  local built = 0
  for _, row in ipairs(rows) do
    for k in ipairs(row.values) do if exists(folder_of(row, k) .. "/gpureduce.so") then built = built + 1 end end
  end
  print(("# %d of %d variants built in %d s"):format(built, count, os.time() - start))
end

-- ---- timing: in a process of its own, which a variant may take down ----

local function median(t)
  table.sort(t)
  return t[#t // 2 + 1]
end

local function seconds(gr, made, calls)
  local start = gr.clock()
  for k = 1, calls do made.call(k) end
  made.wait()
  return (gr.clock() - start) / calls
end

local function time_cell(modules, text)
  local made, times = {}, {}
  for k, m in ipairs(modules) do
    local ok, call, wait, bits = pcall(cells.make, m.gr, text)
    made[k], times[k] = ok and { call = call, wait = wait } or { fails = call }, {}
    if ok then
      ok, made[k].bits = pcall(function()
        for i = 1, 3 do call(i) end
        wait()
        return bits()
      end)
      if not ok then made[k] = { fails = made[k].bits } end
    end
  end
  local base = made[1]
  if base.fails then return "  fails: " .. tostring(base.fails) end
  local one = seconds(modules[1].gr, base, 3)
  local calls = math.max(2, math.min(400, math.ceil(LONG / one)))
  collectgarbage()
  for round = 1, ROUNDS do
    for k, m in ipairs(modules) do
      if not made[k].fails then times[k][round] = seconds(m.gr, made[k], calls) end
    end
  end
  local parts = {}
  for k, m in ipairs(modules) do
    local us = made[k].fails or median(times[k]) * 1e6
    parts[k] = made[k].fails and ("%s: fails (%s)"):format(m.value, tostring(us):sub(1, 60)) or
      k == 1 and ("%s: %.2f us"):format(m.value, us) or
      ("%s: %.3f%s"):format(m.value, us / median(times[1]) / 1e6, made[k].bits == base.bits and "" or " bits")
  end
  return table.concat(parts, ", ")
end

local function worker(rows, options)
  local function load(path) return assert(package.loadlib(path, "luaopen_gpureduce"))("gpureduce", path) end
  local plain = load(options.module)
  for _, row in ipairs(rows) do
    if os.time() > options.stop then break end
    local modules = { { gr = plain, value = row[2] } }
    local failed = {}
    for k, value in ipairs(row.values) do
      local path = folder_of(row, k) .. "/gpureduce.so"
      if exists(path) then
        modules[#modules + 1] = { gr = load(path), value = value }
      else
        failed[#failed + 1] = value .. (exists(folder_of(row, k) .. "/log") and ": fails (build)" or ": not built")
      end
    end
    print("begin " .. row.name)
    io.stdout:flush()
    for _, c in ipairs(row.cells) do
      local ok, line = pcall(time_cell, modules, c.text)
      print(("%s | %s | %s%s"):format(row.name, c.text, ok and line or "fails: " .. tostring(line),
        failed[1] and ", " .. table.concat(failed, ", ") or ""))
      io.stdout:flush()
      collectgarbage()
      collectgarbage()
      for _, m in ipairs(modules) do m.gr.trim() end
    end
  end
  os.exit(0, false) -- many copies of the module: nothing is to be closed
end

local TOGETHER = 8 -- rows of a process

local function time(rows, options)
  local stop, lines, at = os.time() + options.seconds, {}, 1
  local out = options.out ~= "" and assert(io.open(options.out, "w"))
  local function note(line)
    lines[#lines + 1] = line
    if out then
      out:write(line, "\n")
      out:flush()
    else
      print(line)
    end
  end
  while rows[at] and os.time() < stop do
    local last = math.min(at + TOGETHER - 1, #rows)
    local names = os.tmpname()
    local f = assert(io.open(names, "w"))
    for k = at, last do f:write(rows[k].name, "\n") end
    f:close()
    local begun
    local pipe = assert(io.popen(("timeout 90 %s bench/tuning.lua worker names=%s module=%s stop=%d 2>&1")
      :format(arg[-1], names, options.module, stop)))
    for line in pipe:lines() do
      local name = line:match "^begin (.*)$"
      if name then begun = name else note(line) end
    end
    local ok = pipe:close()
    os.remove(names)
    local next_row = last + 1
    if not ok then
      next_row = at + 1
      for k = at, last do if rows[k].name == begun then next_row = k + 1 end end
      note(("%s | fails: the process ended"):format(begun or rows[at].name))
    end
    at = next_row
  end
  if at <= #rows then note("# out of time before " .. rows[at].name) end
  if out then out:close() end
  return lines
end

-- Which are felt: the lines of these, short; the names of the others.
local function summary(lines)
  local felt, names, seen, order = {}, {}, {}, {}
  for _, line in ipairs(lines) do
    local name = line:match "^(.-) | "
    if name then
      if not seen[name] then seen[name], order[#order + 1] = true, name end
      for ratio in line:gmatch ": (%d%.%d%d%d)%f[^%d]" do
        if math.abs(tonumber(ratio) - 1) > ENOUGH then felt[name] = true end
      end
      if line:find "fails" or line:find " bits" then felt[name] = true end
    end
  end
  for _, line in ipairs(lines) do
    local name = line:match "^(.-) | "
    if not name or felt[name] then print(line) end
  end
  for _, name in ipairs(order) do if not felt[name] then names[#names + 1] = name end end
  print("# within " .. ENOUGH * 100 .. " %: " .. table.concat(names, ", "))
end

-- ---- the command ----

local options = { only = ".", jobs = "16", seconds = "300", module = "build/lua5.4/gpureduce.so", make = "make",
  out = "", names = "", stop = "0" }
for k = 2, #arg do
  local key, value = arg[k]:match "^(%w+)=(.*)$"
  if not options[key] then error("what is '" .. arg[k] .. "'?", 0) end
  options[key] = value
end
for _, key in ipairs { "jobs", "seconds", "stop" } do options[key] = assert(tonumber(options[key])) end
local rows = rows_of(options.only)
table.sort(rows, function(a, b)
  if a.order ~= b.order then return a.order < b.order end
  return a.name < b.name
end)

if arg[1] == "list" then
  local variants, wrong = require "variants", 0
  for _, row in ipairs(rows) do
    local text, why = nil, row.why
    if not why then text, why = variants.edit(row, "0") end
    if not text and not row.why then wrong = wrong + 1 end
    print(("%s = %s | %s | %s"):format(row.name, row[2], row[3] or "-", text and row[4] or why))
  end
  if wrong > 0 then error(wrong .. " rows are not what their file says", 0) end
elseif arg[1] == "worker" then
  local wanted, of = {}, {}
  for _, row in ipairs(rows) do of[row.name] = row end
  for name in io.lines(options.names) do wanted[#wanted + 1] = of[name] end
  worker(wanted, options)
elseif arg[1] == "build" or arg[1] == "time" then
  local there = {}
  for _, row in ipairs(rows) do if not row.why then there[#there + 1] = row end end
  if arg[1] == "build" then build(there, options) else summary(time(there, options)) end
else
  io.stderr:write "usage: lua5.4 bench/tuning.lua list|build|time [only=PATTERN] [seconds=N] [jobs=N] [out=FILE]\n"
  os.exit(1)
end
