-- The table, the JSON and the comparison with the goals, from the cells that were measured.
local grid, json = require "grid", require "json"

local report = {}

local cells -- name -> result

local function us(name, view, who)
  local r = cells[name]
  local v = r and r.views and r.views[view or "stream"]
  local t = v and v.us[who or "gpureduce"]
  return t and t.us
end

-- Our time over another one that was taken in turns with it.
local function over(r, view, who)
  local v = r.views[view]
  return v and v.over and v.over[who]
end

local function rate(name)
  local t = us(name)
  return t and grid.bytes(cells[name]) / t / 1e3
end

-- ---- goals ----

local lines

-- One goal: the figure reached, what it should be, whether it is. Without a figure the cells are missing.
local function goal(text, reached, wanted, pass)
  local verdict = reached == nil and "no data" or pass and "pass" or "FALLS SHORT"
  lines[#lines + 1] = ("  %-11s  %s: %s (goal %s)"):format(verdict, text, reached or "-", wanted)
end

-- All results that match, in a stable order.
local function matching(test)
  local t = {}
  for _, r in pairs(cells) do if r.views and test(r) then t[#t + 1] = r end end
  table.sort(t, function(x, y) return x.name < y.name end)
  return t
end

-- A goal over many cells: value(r) compared with its bound; the worst is shown, and how many fall short.
local function worst_of(text, list, value, bound, wanted, most_not_least, digits)
  local worst, where, short, names = nil, nil, 0, {}
  for _, r in ipairs(list) do
    local v = value(r)
    if v then
      local bad = most_not_least and v > bound or not most_not_least and v < bound
      if bad then
        short = short + 1
        names[#names + 1] = ("%s %." .. (digits or 3) .. "f"):format(r.name, v)
      end
      local worse = worst and (most_not_least and v > worst or not most_not_least and v < worst)
      if not worst or worse then worst, where = v, r.name end
    end
  end
  local reached = worst and ("%s %." .. (digits or 3) .. "f at %s; %d of %d cells short"):format(
    most_not_least and "most" or "least", worst, where, short, #list)
  goal(text, reached, wanted, short == 0)
  for k = 1, math.min(#names, 24) do lines[#lines + 1] = "                 " .. names[k] end
end

local five = { sum = true, min = true, max = true, prod = true, dot = true }
local function flat_five(r) return five[r.op] and not r.rows and not r.resident end

local function ratio(view, field)
  return function(r) return r.views[view] and r.views[view].ratio and r.views[view].ratio[field or "median"] end
end

local function sums(about)
  lines[#lines + 1] = "1. sum, min, max, prod, dot"
  for _, view in ipairs { "stream", "host" } do
    worst_of(view .. ", upper end of the ratio's interval", matching(flat_five), ratio(view, "high"), 0.97, ">= 0.97")
  end
  worst_of("stream, ratio at 2^14 .. 2^22", matching(function(r)
    return flat_five(r) and r.n >= 2 ^ 14 and r.n <= 2 ^ 22
  end), ratio("stream"), 1.3, ">= 1.3")
  worst_of("graph, ratio at 2^12 .. 2^22", matching(function(r)
    return flat_five(r) and r.n >= 2 ^ 12 and r.n <= 2 ^ 22
  end), ratio("graph"), 0.85, ">= 0.85, aim 1")
  worst_of("graph, ratio elsewhere", matching(function(r)
    return flat_five(r) and (r.n < 2 ^ 12 or r.n > 2 ^ 22 + 1)
  end), ratio("graph"), 0.97, ">= 0.97, aim 1")
  local top = rate("sum f32 2^30")
  local share = top and top / about.read
  goal("sum f32 2^30, share of the read ceiling",
    top and ("%.4f (%.0f of %.0f GB/s)"):format(share, top, about.read), ">= 0.98", top and share >= 0.98)
  worst_of("u8 and f16 at 2^28 and beyond, share of the read ceiling", matching(function(r)
    return flat_five(r) and (r.dtype == "u8" or r.dtype == "f16") and r.n >= 2 ^ 28
  end), function(r) return rate(r.name) / about.read end, 0.9, ">= 0.9")
  for _, view in ipairs { "stream", "graph" } do -- in a stream small ones take what the host takes to launch them
    worst_of("unaligned, time over aligned, " .. view, matching(function(r)
      return five[r.op] and r.offset
    end), function(r) return over(r, view, "beside") end, 1.05, "<= 1.05", true)
  end
end

local function sum_dot_max_f32(r)
  return (r.op == "sum" or r.op == "dot" or r.op == "max") and r.dtype == "f32" and not r.resident
end

local function latency(about)
  lines[#lines + 1] = "2. a number in Lua"
  local small = matching(function(r) return sum_dot_max_f32(r) and r.n <= 2 ^ 14 and not r.offset end)
  lines[#lines + 1] = (" "):rep(17) .. ("(an empty kernel with a mapped result, before the cells: %.2f us; "
    .. "8.5 us go with 7.6 of it)"):format(about.empty)
  worst_of("sum, dot, max f32 to 2^14, over the empty kernel", small, function(r)
    return over(r, "host", "empty")
  end, 1.15, "<= 1.15", true)
  worst_of("the same, in us", small, function(r) return us(r.name, "host") end, 8.5, "<= 8.5", true, 2)
  worst_of("... had the empty kernel taken 7.6 us", small, function(r)
    local x = over(r, "host", "empty")
    return x and 7.6 * x
  end, 8.5, "<= 8.5", true, 2)
  worst_of("torch's item() over ours, below 2^20", matching(function(r)
    return sum_dot_max_f32(r) and r.n < 2 ^ 20
  end), function(r)
    local torch = us(r.name, "host", "torch")
    return torch and torch / us(r.name, "host")
  end, 2.2, ">= 2.2")
  goal("calls, other than the launch and the wait, in 100 sums", about.calls, "none", about.calls == "none")
  local many = about.many or {}
  local same, mixed = many.same_over, many.mixed_over
  goal("gr.many: 8 sums of 2^14 over one", same and ("%.2f"):format(same), "<= 1.5", same and same <= 1.5)
  goal("gr.many: 8 operations of 2^14 over one", mixed and ("%.2f"):format(mixed), "<= 4", mixed and mixed <= 4)
end

local function places()
  lines[#lines + 1] = "3. argmin, argmax, minmax: time over sum's"
  for _, view in ipairs { "stream", "graph" } do
    worst_of("n >= 2^22, " .. view, matching(function(r)
      return (r.op:match("^arg") or r.op == "minmax") and r.n >= 2 ^ 22 and not r.rows and not r.offset
    end), function(r) return over(r, view, "beside") end, 1.05, "<= 1.05", true)
  end
end

local function histograms()
  lines[#lines + 1] = "4. histogram, GB/s of samples in a stream at 2^28"
  local function big(test)
    return matching(function(r) return r.op == "histogram" and r.n == 2 ^ 28 and not r.irregular and test(r) end)
  end
  local function least(text, test, bound)
    worst_of(text, test, function(r) return rate(r.name) end, bound, ">= " .. bound, false, 0)
  end
  least("u8, 256 bins", big(function(r) return r.dtype == "u8" and r.bins == 256 end), 4000)
  least("i32 and f32, up to 16384 bins", big(function(r) return r.dtype ~= "u8" and r.bins <= 16384 end), 4200)
  least("57000 bins", big(function(r) return r.bins == 57000 end), 4000)
  least("65536 bins, uniform", big(function(r) return r.bins == 65536 and r.data == "uniform" end), 3500)
  least("65536 bins, constant", big(function(r) return r.bins == 65536 and r.data == "constant" end), 2000)
  local function over_cub(r)
    local cub = math.min(us(r.name, "stream", "cub") or math.huge, us(r.name, "stream", "cub-newest") or math.huge)
    return cub < math.huge and cub / us(r.name) or nil
  end
  worst_of("10^6 bins, ratio to CUB", big(function(r) return r.bins == 1000000 end), over_cub, 5, ">= 5", false, 2)
  least("256 irregular edges, f32", matching(function(r)
    return r.irregular and r.dtype == "f32" and r.n == 2 ^ 28
  end), 3000)
  worst_of("2^10 .. 2^20, ratio in a stream", matching(function(r)
    return r.op == "histogram" and r.n <= 2 ^ 20
  end), ratio("stream"), 1, ">= 1")
end

local function scans()
  lines[#lines + 1] = "5. scan"
  local top = rate("scan f32 2^28")
  goal("f32 sum 2^28, GB/s read and written", top and ("%.0f"):format(top), ">= 3700", top and top >= 3700)
  worst_of("ratio in a stream", matching(function(r) return r.op == "scan" end), ratio("stream"), 1, ">= 1")
end

local function matrices(about)
  lines[#lines + 1] = "6. rows, columns, RMSNorm, stream"
  local function gigabytes(r) return rate(r.name) end
  worst_of("sums of rows and columns, 2^26 elements, GB/s read and written", matching(function(r)
    return r.op == "sum" and r.rows
  end), gigabytes, 4100, ">= 4100", false, 0)
  worst_of("matrix x vector, GB/s", matching(function(r) return r.op == "mv" end), gigabytes, 4100, ">= 4100", false, 0)
  local norm = us("rmsnorm f32 2^14 x 2^12")
  goal("RMSNorm f32 16384 x 4096, us", norm and ("%.1f"):format(norm), "<= 135", norm and norm <= 135)
  worst_of("RMSNorm f32, share of the copy ceiling", matching(function(r)
    return r.op == "rmsnorm" and r.dtype == "f32"
  end), function(r) return rate(r.name) / about.copy end, 0.9, ">= 0.9")
end

local function fused()
  lines[#lines + 1] = "7. mse, cosine, norm: time over dot's (norm, of one input: over sum's), stream, n >= 2^22"
  worst_of("one kernel each", matching(function(r)
    return (r.op == "mse" or r.op == "cosine" or r.op == "norm") and r.n >= 2 ^ 22
  end), function(r) return over(r, "stream", "beside") end, 1.03, "<= 1.03", true)
end

-- ---- the table ----

local function versions(about)
  local function blas(v) return v and v > 0 and ("%d.%d.%d"):format(v // 10000, v // 100 % 100, v % 100) or "none" end
  local function cub(v) return v and v > 0 and ("%d.%d.%d"):format(v // 100000, v // 100 % 1000, v % 100) or "none" end
  return ("%s, commit %s, %s%s\n%s, driver %s (CUDA %d.%d), CUB %s (toolkit) and %s (newest), cuBLAS %s, %s\n"):format(
    about.version or "", about.commit or "", about.when or "", about.note and "; " .. about.note or "",
    about.device or "", about.driver_version or "", (about.driver or 0) // 1000, (about.driver or 0) % 1000 // 10,
    cub(about.cub), cub(about.newest), blas(about.cublas), about.python or "no Python")
    .. ("read ceiling %.0f GB/s, copy %.0f GB/s (read and written); "):format(about.read or 0, about.copy or 0)
    .. ("an empty kernel with a mapped result %.2f us (%.2f before Python started)\n"):format(
      about.empty or 0, about.empty_alone or 0)
end

local function view_text(r, view)
  local v = r.views[view]
  if not v then return (" "):rep(38) end
  local ours, ratio_ = v.us.gpureduce, v.ratio
  if not ours then return ("%-38s"):format("  -") end
  if not ratio_ then return ("%10.2f  %-26s"):format(ours.us, "no peer") end
  local peer = ratio_.peer == "cub-newest" and "cub-n" or ratio_.peer
  local mark = ratio_.high < 0.97 and "!!" or ratio_.high < 1 and "! " or "  "
  return ("%10.2f %10.2f %-6.6s %5.2f%s%s"):format(
    ours.us, v.us[ratio_.peer].us, peer, ratio_.median, mark, v.repeats > 1 and "r" or " ")
end

local function row(r)
  return ("%-42s %7.0f %s %s %s\n"):format(
    r.name, rate(r.name) or 0, view_text(r, "stream"), view_text(r, "graph"), view_text(r, "host"))
end

local function lowest(r)
  local least = math.huge
  for _, v in pairs(r.views) do if v.ratio then least = math.min(least, v.ratio.median) end end
  return least
end

local function text(about, wanted)
  local all, out, missing = matching(function() return true end), {}, {}
  table.sort(all, function(x, y)
    local a, b = lowest(x), lowest(y)
    if a ~= b then return a < b end
    return x.name < y.name
  end)
  local function put(s) out[#out + 1] = s end
  put(versions(about))
  put("\nus and ratios are medians of rounds taken in turns; ratio = best peer's time / ours, so below 1 we are "
    .. "behind.\n!: the ratio's 95 % interval lies below 1, !!: below 0.97; r: repeated; cub-n: CCCL's main; "
    .. "GB/s: bytes read and written, stream.\n")
  local heading = ("\n%-42s %7s %-38s %-38s %s\n"):format(
    "", "GB/s", "    stream: ours, best peer, ratio", "    graph", "    host (a number there)")
  local function section(title, test)
    put("\n" .. title .. heading)
    local some = 0
    for _, r in ipairs(all) do
      if test(lowest(r)) then
        put(row(r))
        some = some + 1
      end
    end
    put(("(%d cells)\n"):format(some))
  end
  section("BELOW 1.0 IN ANY VIEW, worst first", function(x) return x < 1 end)
  section("THE REST", function(x) return x >= 1 end)
  for _, r in ipairs(all) do
    for _, why in ipairs(r.missing or {}) do missing[#missing + 1] = r.name .. ": " .. why end
  end
  for _, c in ipairs(wanted) do
    local r = cells[c.name]
    local why = not r and "not measured" or r and r.failed
    if why then missing[#missing + 1] = c.name .. ": " .. why end
  end
  put("\nMISSING\n")
  for _, line in ipairs(missing) do put(line .. "\n") end
  lines = {}
  sums(about)
  latency(about)
  places()
  histograms()
  scans()
  matrices(about)
  fused()
  local goals = "\nGOALS\n" .. table.concat(lines, "\n") .. "\n"
  put(goals)
  return table.concat(out), goals
end

--- Writes OUT/COMMIT.txt and OUT/COMMIT.json, prints the goals.
function report.write(options, about, done)
  cells = done
  local table_, goals = text(about, grid.cells(options.grid))
  local function save(ending, s)
    local f = assert(io.open(("%s/%s%s"):format(options.out, options.commit, ending), "w"))
    f:write(s)
    f:close()
  end
  save(".txt", table_)
  local list = {}
  for _, r in pairs(done) do list[#list + 1] = r end
  table.sort(list, function(x, y) return x.name < y.name end)
  save(".json", json.encode { about = about, cells = list })
  print(versions(about) .. goals)
end

return report
