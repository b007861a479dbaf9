-- The project beside CUB, cuBLAS, PyTorch and CuPy, cell by cell, in turns, on the same inputs. Usage, from the root:
--   make && make -f bench/peers/Makefile && lua5.4 bench/versus.lua [options]
--   --grid small|core|full   which cells (core)          --seconds N   stop after that long; what is left can be
--   --out DIRECTORY          (bench/results/versus)                    filled by another run of the same commit
--   --commit NAME            keys the results            --only PATTERN   cells whose names match
--   --no-python              without PyTorch and CuPy    --report         nothing is measured, only reported
--
-- Views: "stream", calls back to back; "graph", replays of a CUDA graph, divided; "host", one call after the other,
-- until the number is there (here: a Lua value, so the project's kernels are called through the module itself).
-- Every result is first compared with a plain reference. Inputs rotate and L2 is flushed before each batch,
-- but for the cells called "in L2". Times of the project's own that a goal compares are taken in the same turns.
local root = arg[0]:match("^(.*)bench/[^/]*$") or "./"
package.path = root .. "bench/peers/?.lua;" .. package.path
package.cpath = root .. "build/versus/?.so;" .. root .. "build/?.so;" .. package.cpath
local grid, json = require "grid", require "json"
local statistics, report = require "statistics", require "report"

local options = { grid = "core", seconds = "1e9", out = root .. "bench/results/versus", commit = "unknown" }
do
  local k = 1
  while arg[k] do
    local name = arg[k]:match("^%-%-(.+)$")
    if name == "no-python" or name == "report" then
      options[name] = true
    else
      options[assert(name, "unknown word " .. arg[k])] = assert(arg[k + 1], arg[k] .. " wants a value")
      k = k + 1
    end
    k = k + 1
  end
end
os.execute("mkdir -p '" .. options.out .. "'")
local journal = ("%s/%s.jsonl"):format(options.out, options.commit)

-- What earlier shards of this commit have measured: the JSON, and the journal of a run that was cut short.
local done, run = {}, nil
do
  local f = io.open(("%s/%s.json"):format(options.out, options.commit))
  if f then
    local all = json.decode(f:read("a"))
    f:close()
    run = all.about
    for _, r in ipairs(all.cells) do done[r.name] = r end
  end
  for line in (io.open(journal) and io.lines(journal) or function() end) do
    local r = json.decode(line)
    if r.name then done[r.name] = r elseif r.device then run = r end
  end
end

if options.report then
  report.write(options, run, done)
  return
end

local gr, measure = require "gpureduce", require "measure"
local clock = gr.clock
local start = clock()

-- ---- the run ----

local out = assert(io.open(journal, "a"))
local function note(r)
  out:write(json.encode(r), "\n")
  out:flush()
end

local about = measure.open()
about.commit, about.version, about.when = options.commit, gr._VERSION, os.date("!%Y-%m-%d %H:%M UTC")
local p = io.popen("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null")
about.driver_version = p and p:read("l") or ""
if p then p:close() end
local function empty()
  local t = {}
  for k = 1, 15 do t[k] = measure.empty_us(100) end
  return (statistics.median(t))
end
about.empty_alone = empty()
if not options["no-python"] then about.python = measure.open_python(root, options.out) end
about.empty = empty()

-- What 100 sums cost besides a launch and a wait each.
do
  local x, text = gr.randn(2 ^ 14, { seed = 3 }), {}
  x:sum()
  local was = gr.stats()
  for _ = 1, 100 do x:sum() end
  for key, now in pairs(gr.stats()) do
    local more = now - was[key] - ((key == "launches" or key == "syncs") and 100 or 0)
    if more ~= 0 then text[#text + 1] = ("%d %s"):format(more, key) end
  end
  about.calls = #text == 0 and "none" or table.concat(text, ", ")
end

-- Numbers of several reductions at once, where the module has that.
if gr.many then
  local x, jobs, mixed = gr.randn(2 ^ 14, { seed = 3 }), {}, {}
  for k, op in ipairs { "sum", "max", "min", "prod", "mean", "norm", "argmax", "std" } do
    jobs[k], mixed[k] = { "sum", x }, { op, x }
  end
  local calls = { one = function() return gr.sum(x) end, same = function() return gr.many(jobs) end,
                  mixed = function() return gr.many(mixed) end }
  local times = { one = {}, same = {}, mixed = {} }
  for round = 0, 15 do -- in turns; the first one makes what is kept
    for name, f in pairs(calls) do
      local from = clock()
      for _ = 1, 64 do f() end
      times[name][round] = (clock() - from) * 1e6 / 64
    end
  end
  about.many = {}
  for name, list in pairs(times) do
    about.many[name] = statistics.median(list)
    about.many[name .. "_over"] = statistics.ratio(list, times.one)
  end
end
run = about
note(about)

local cells = grid.cells(options.grid)
local count = 0
for _, cell in ipairs(cells) do
  if clock() - start > tonumber(options.seconds) then break end
  if not done[cell.name] and (not options.only or cell.name:find(options.only)) then
    local from = clock()
    local ok, result = pcall(measure.cell, cell)
    if not ok then result = { name = cell.name, failed = tostring(result):sub(1, 300) } end
    result.seconds = clock() - from
    done[cell.name] = result
    note(result)
    count = count + 1
    local s = result.views and result.views.stream and result.views.stream.ratio
    local said = result.failed or (s and ("%.3f of %s"):format(s.median, s.peer) or "-")
    io.stderr:write(("%5.0f s  %-44s %s\n"):format(clock() - start, cell.name, said))
  end
end
run.seconds = clock() - start
measure.close_python()
io.stderr:write(("%d cells in %.0f s\n"):format(count, run.seconds))
report.write(options, run, done)
