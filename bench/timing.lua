-- How the benchmarks written in Lua take times; run them from the project's root.
local gr = require "gpureduce"

local T = {}

function T.median(t)
  table.sort(t)
  return t[math.floor(#t / 2) + 1]
end

-- Median seconds of f over rounds of enough calls to fill a millisecond or so.
function T.seconds(f, rounds)
  local function time(calls)
    local start = gr.clock()
    for _ = 1, calls do f() end
    return gr.clock() - start
  end
  local calls, each = 1, {}
  while time(calls) < 1e-3 do calls = calls * 2 end
  for round = 1, rounds do each[round] = time(calls) / calls end
  return T.median(each)
end

-- Median seconds of one of `calls` calls that run one after the other; finish, if given, waits for their results.
function T.batch(f, finish, rounds, calls)
  local function time()
    local start = gr.clock()
    for _ = 1, calls do f() end
    if finish then finish() end
    return (gr.clock() - start) / calls
  end
  local each = {}
  f()
  if finish then finish() end
  for round = 1, rounds do each[round] = time() end
  return T.median(each)
end

-- What a benchmark was asked: words key=value over these defaults, texts; the first may be the value of `first` alone.
function T.options(words, defaults, first)
  for k, word in ipairs(words) do
    local key, value = word:match "^(%w+)=(.*)$"
    if not key and k == 1 then key, value = first, word end
    if not defaults[key] then error("what is '" .. word .. "'?", 0) end
    defaults[key] = value
  end
  return defaults
end

return T
