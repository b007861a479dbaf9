-- Positions that rise, each above the one before: take and put see it, and do less. The results are those of the same
-- pairs in another order, which do not rise.
local S = require "spec.support"
local gr, model = S.gr, S.model
local unpack = table.unpack or unpack -- luacheck: ignore unpack
local ops = { "set", "add", "min", "max" }

-- On the CPU, the pretend device and the one in use.
local function everywhere(f)
  S.on_each(f)
  if gr.backend():find "^cuda" then f(gr.backend()) end
end

-- n rising positions among `length`: runs with a gap here and there, or (gaps) as thinly as there is room.
local function rising(n, length, gaps, seed)
  local g, t, at = model.generator(seed), {}, 0
  for k = 1, n do
    local room = length - at - (n - k + 1)
    at = at + 1 + (room > 0 and (gaps or g() % 200 == 0) and g() % math.min(room + 1, gaps and 4 or 50) or 0)
    t[k] = at
  end
  return t
end

local function from_end(t, length)
  local out = {}
  for k = 1, #t do out[k] = t[k] - 1 - length end
  return out
end

-- Values whose sums a float of the dtype may round.
local function drawn(dtype, n, seed)
  local x = gr.randn(n, "f64", { seed = seed }) * 50
  return dtype:find "^u" and gr.abs(x):cast(dtype) or x:cast(dtype)
end

describe("positions that rise", function()
  for _, dtype in ipairs(model.dtypes) do
    it("take and put elements of " .. dtype .. " as any order does", function()
      everywhere(function(device)
        for k, n in ipairs { 1, 31, 1023, 1025, 5003 } do
          for j, kind in ipairs { "i16", "i32", "i64", "u32" } do
            local length = n + (j - 1) * 700
            local t = rising(n, length, (j + k) % 2 == 0, n + j)
            local index = gr.array((j + k) % 3 == 0 and kind ~= "u32" and from_end(t, length) or t, kind)
            local back = index:slice(-1, 1, -1):copy()
            local a, values = drawn(dtype, length + 1, j), drawn(dtype, n + 1, n)
            for offset = 1, 2 do -- whole words, and not
              local mine, put = a:slice(offset, offset + length - 1), values:slice(j % 2 + 1, j % 2 + n)
              local about = { device, dtype, n, kind, offset }
              local into = gr.zeros(n + 1, dtype):slice(j % 2 + 1, j % 2 + n)
              S.same(true, mine:take(index, { into = into }):equal(mine:take(back):slice(-1, 1, -1)), unpack(about))
              for _, op in ipairs(ops) do
                local one, other = a:copy(), a:copy()
                one:slice(offset, offset + length - 1):put(index, put, { op = op })
                other:slice(offset, offset + length - 1):put(back, put:slice(-1, 1, -1), { op = op })
                S.same(other:digest(), one:digest(), op, unpack(about))
                one:slice(offset, offset + length - 1):put(index, 3, { op = op })
                other:slice(offset, offset + length - 1):put(back, 3, { op = op })
                S.same(other:digest(), one:digest(), op, "a number", unpack(about))
              end
            end
          end
        end
      end)
    end)
  end

  it("of views that do not lie side by side", function()
    everywhere(function(device)
      local n = 3000
      local index = gr.arange(1, 2 * n, "i32"):slice(1, -1, 2) -- 1, 3, ...
      local a, values = gr.zeros(6 * n, "u16"), gr.arange(1, 2 * n, "u16"):slice(1, -1, 2)
      local whole = a:slice(2, -1, 3)
      whole:put(index, values)
      S.same(values:sum(), a:sum(), device)
      S.same(true, whole:take(index):equal(values), device)
      S.same(true, whole:take(index, { into = gr.zeros(2 * n, "u16"):slice(2, -1, 2) }):equal(values), device)
      S.same(true, whole:slice(1, -1, 2):equal(values), device)
    end)
  end)

  it("into the index itself", function()
    everywhere(function(device)
      local n = 5000
      local a = gr.arange(n, 1, -1, "i32")
      local index = gr.arange(1, n, "i32")
      S.same(true, a:take(index, { into = index }):equal(a), device)
    end)
  end)

  it("but for one: that one is named, and nothing is written", function()
    everywhere(function(device)
      local n = 20000
      for _, row in ipairs { { 1, 0 }, { 777, n + 1 }, { n, -n - 1 }, { 1025, 0 }, { 19999, 2 ^ 31 - 1 } } do
        for _, op in ipairs(ops) do
          local index = gr.arange(1, n, "i32")
          index[row[1]] = row[2]
          local a, values = gr.zeros(n), gr.ones(n)
          local message = ("bad argument #2 to 'put' (element %d: position from 1 to %d, or -%d to -1, expected, got "
            .. "%d)"):format(row[1], n, n, row[2])
          S.same(message, S.message(gr.put, a, index, values, { op = op }), device, op)
          S.same(message, S.message(gr.put, a, index, 1, { op = op }), device, op)
          S.same(0, gr.sum(a), device, op)
        end
      end
    end)
  end)

  it("or stay: the last of two values stays, and both are added", function()
    everywhere(function(device)
      local n = 20000
      for _, k in ipairs { 1, 512, 513, 1024, 12345, n - 1 } do
        local index, values = gr.arange(1, n, "i64"), gr.arange(1, n, "i64")
        index[k + 1] = k
        local a = gr.zeros(n, "i64"):put(index, values)
        S.same(k + 1, a[k], device, k)
        S.same(0, a[k + 1], device, k)
        S.same(2 * k + 1, gr.zeros(n, "i64"):put(index, values, { op = "add" })[k], device, k)
        S.same(2, gr.zeros(n):put(index, gr.ones(n), { op = "add" })[k], device, k)
      end
    end)
  end)

  it("are written behind the look: the host waits once, for a number", function()
    S.on("pretend", function()
      local n = 1000
      local a, values, index = gr.zeros(n):prefetch(), gr.ones(n):prefetch(), gr.arange(1, n, "i32"):prefetch()
      local down = index:slice(-1, 1, -1):copy()
      local function put(by) return S.counted(function() a:put(by, values) end) end
      local first, second = put(index), put(down)
      assert.same({ 0, 0, 3 }, { first.bytes_down, first.copies, first.launches }) -- look, number, values
      assert.same({ 0, 0, 4 }, { second.bytes_down, second.copies, second.launches })
    end)
  end)
end)
