-- Random actions on one array and its views, with a plain table beside it: whatever is where, both must agree.
local S = require "spec.support"
local gr, model = S.gr, S.model

local N = 40000 -- five chunks of i64

-- A random range as first, step, count, and the view of it.
local function pick(g, a)
  local step = ({ 1, 1, 1, 2, 7, -1, -3 })[g() % 7 + 1]
  local most = math.floor((N - 1) / math.abs(step)) + 1
  local count = g() % 3 == 0 and g() % most + 1 or g() % math.min(most, 50) + 1
  local first = g() % (N - (count - 1) * math.abs(step)) + 1
  if step < 0 then first = first + (count - 1) * -step end
  return first, step, count, a:slice(first, first + (count - 1) * step, step)
end

local function play(seed, device, rounds)
  S.on(device, function()
    local g, t = model.generator(seed), {}
    for k = 1, N do t[k] = k % 97 end
    local a = gr.array(t, "i64")
    local actions = {
      function() -- write an element
        local k = g() % N + 1
        t[k] = g() % 1000 - 500
        a[k] = t[k]
      end,
      function() -- write through a view
        local first, step, count, v = pick(g, a)
        local k = g() % count + 1
        t[first + (k - 1) * step] = 11
        v[k] = 11
      end,
      function() -- read
        local k = g() % N + 1
        S.same(t[k], a[k], "element", k)
      end,
      function() -- fill
        local first, step, count, v = pick(g, a)
        local x = g() % 100
        for k = 1, count do t[first + (k - 1) * step] = x end
        v:fill(x)
      end,
      function() -- sum, max, where
        local first, step, count, v = pick(g, a)
        local sum, most, place = 0, nil, nil
        for k = 1, count do
          local x = t[first + (k - 1) * step]
          sum = sum + x
          if not most or x > most then most, place = x, k end
        end
        S.same(sum, v:sum(), "sum")
        S.same(most, v:max(), "max")
        S.same(place, v:argmax(), "argmax")
      end,
      function() -- running maximum in place (values stay small)
        local first, step, count, v = pick(g, a)
        local most = -1e9
        for k = 1, count do
          most = math.max(most, t[first + (k - 1) * step])
          t[first + (k - 1) * step] = most
        end
        gr.scan(v, "max", { into = v })
      end,
      function() -- row sums into a part of the array
        local first = g() % (N - 10) + 1
        local r = gr.sum(gr.arange(1, 30, "i32"), { rows = 10, into = a:slice(first, first + 9) })
        assert(#r == 10)
        for k = 1, 10 do t[first + k - 1] = 9 * k - 3 end
      end,
      function() -- take out
        local first, step, count, v = pick(g, a)
        local got = g() % 2 == 0 and v:table() or v:copy():table()
        for k = 1, count do S.same(t[first + (k - 1) * step], got[k], "table", k) end
      end,
      function() a:prefetch() end,
      function() a:sync() end,
      function() -- put back a whole new array of the same content
        local b = a:copy()
        a:release()
        a = b
      end,
    }
    local done = {}
    for round = 1, rounds do
      local which = g() % #actions + 1
      done[#done + 1] = which
      local ok, message = pcall(actions[which])
      if not ok then
        error(("seed %d, round %d, actions %s: %s"):format(seed, round, table.concat(done, " "), message), 0)
      end
    end
    S.same_all(t, a, "the whole, seed " .. seed)
  end)
end

describe("random actions leave the array as the table says", function()
  local devices = { "cpu", "pretend" }
  if gr.backend():find("^cuda") then devices[3] = gr.backend() end
  for _, device in ipairs(devices) do
    it("on " .. device, function()
      for seed = 1, 12 do play(seed, device, 150) end
    end)
  end
end)
