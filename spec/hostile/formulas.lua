-- Random formulas, fused, by the operators one by one, and in plain Lua: the same bits, and the same reductions.
--   lua spec/hostile/formulas.lua [count=5000] [seed=1] [only=N] [devices=cpu,pretend] [oracle=PROGRAM]
-- oracle: build/functions, which asks MPFR whether the functions in them are within what docs/numerics.md says.
-- A failure is printed with the words that draw the same formula again.
package.path = "./?.lua;" .. package.path
local options = { count = "5000", seed = "1", devices = "cpu,pretend" }
for _, a in ipairs(arg) do
  local key, value = a:match "^(%w+)=(.*)$"
  options[key or error("what is '" .. a .. "'?")] = value
end
local S = require "spec.support"
local F = require "spec.formulas"
local gr, model = S.gr, S.model

-- The oracle says by a file's absence that it agrees: not every Lua has the exit status of a pipe.
local oracle, doubt
if options.oracle then
  doubt = os.tmpname()
  oracle = assert(io.popen(("%s check && rm %s"):format(options.oracle, doubt), "w"))
end
local function record(name, dtype, x, y, results)
  oracle:write(("%s %s %d %d\n"):format(name, dtype, y and 2 or 1, #x), x:bytes(), y and y:bytes() or "",
    results:bytes())
end

local reductions = { "sum", "min", "max", "mean", "var", "argmin", "argmax", "count", "any", "all", "prod", "norm" }
local scans = { "sum", "prod", "min", "max" }

-- Of the expression and of the array of its elements.
local function compare_ends(g, e, x)
  local name = reductions[g() % #reductions + 1]
  if #x > 0 then
    S.same(gr[name](x), gr[name](e), name)
    local rows = ({ 1, #x, 2, 3 })[g() % 4 + 1]
    if #x % rows == 0 then
      S.same_all(gr.sum(x, { rows = rows }):table(), gr.sum(e, { rows = rows }), "rows")
      S.same_all(gr.max(x, { rows = rows, axis = 1 }):table(), gr.max(e, { rows = rows, axis = 1 }), "columns")
    end
  end
  local scan = scans[g() % 4 + 1]
  S.same(gr.scan(x, scan):bytes(), gr.scan(e, scan):bytes(), "scan")
end

local done, elements, fused_steps, wrong = 0, 0, 0, 0

local function one(k, device)
  local g = model.generator(tonumber(options.seed) * 1000003 % 2147483 + k * 13)
  for _ = 1, 5 do g() end
  local from = model.dtypes[k % #model.dtypes + 1]
  if from == "i64" and not S.integers then from = "i32" end
  local f
  local ok, message = pcall(function()
    f = F.draw(g, from, { record = oracle and record })
    local e = gr.fuse(f.text)(f.inputs)
    local x = e:eval()
    S.same(f.dtype, x.dtype, "dtype")
    S.same_all(f.elements(), x, "plain Lua")
    S.same(f.array():bytes(), x:bytes(), "the operators")
    if k % 4 == 0 then compare_ends(g, e, x) end
    elements, fused_steps = elements + f.n, fused_steps + e:info().steps
  end)
  done = done + 1
  if ok then return end
  wrong = wrong + 1
  print(("%s\n  %s of %s and %s, %d elements\n  again: seed=%s only=%d devices=%s"):format(tostring(message),
    f and f.text or "?", from, f and f.other or "?", f and f.n or 0, options.seed, k, device))
end

local devices = {}
for name in options.devices:gmatch "[^,]+" do devices[#devices + 1] = name end
local first, last = tonumber(options.only) or 1, tonumber(options.only or options.count)
for k = first, last do
  local device = devices[options.only and 1 or math.floor(k / 16) % #devices + 1]
  gr.use(device)
  one(k, device)
  if wrong == 10 then break end
end
local said = ("%d formulas, %.1f steps and %.0f elements each"):format(done, fused_steps / done, elements / done)
if oracle then
  oracle:close()
  local file = io.open(doubt)
  if file then
    file:close()
    os.remove(doubt)
    wrong = wrong + 1
  end
end
print(said .. (wrong == 0 and ": ok" or ": FAILED"))
os.exit(wrong == 0 and 0 or 1)
