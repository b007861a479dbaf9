-- What is present of long arrays, where kernels that count as they read take over: the CPU's bits on every device.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local nan, NZ = model.nan, model.minus_zero

local two = { "dot", "mse", "cosine" }

local function holes(dtype, n, seed)
  local t, g = S.whole(D.medium(dtype, n, seed)), model.generator(seed + 1)
  if not model.is_float[dtype] then return t end
  for k = 1, n do if g() % 4 == 0 then t[k] = nan end end
  return t
end

describe("what is present of long arrays", function()
  it("has the CPU's bits on every device, of all, rows and columns", function()
    local here = gr.backend()
    local ops = { "sum", "mean", "var", "min", "max", "minmax", "argmin", "argmax", "logsumexp" }
    local rows, n = 3, 3 * 20016
    for _, dtype in ipairs(model.dtypes) do
      local t = holes(dtype, n, 11)
      local u = holes(dtype, n, 13)
      local g = model.generator(15)
      local m = D.each(n, function() return g() % 3 == 0 and 0 or g() % 200 + 1 end)
      if model.is_float[dtype] then -- a row of nothing, one of nothing but -0, both of which add up to a 0
        for k = 1, 20016 do t[k] = nan end
        for k = 20017, 40032 do t[k] = t[k] ~= t[k] and nan or NZ end
      end
      local function results(device)
        local found = {}
        S.on(device, function()
          local a, b, mask = gr.array(t, dtype), gr.array(u, dtype), gr.array(m, "u8")
          local function add(text, ok, ...)
            for k = 1, select("#", ...) do
              local x = select(k, ...)
              x = gr.isarray(x) and x:digest() or ok and ("%.17g"):format(x) or tostring(x)
              found[#found + 1] = table.concat({ text, k, x }, " ")
            end
          end
          for _, way in ipairs { { skipnan = true }, { mask = mask }, { skipnan = true, mask = mask } } do
            local function options(more)
              for k, v in pairs(way) do more[k] = v end
              return more
            end
            for _, op in ipairs(ops) do
              add(op, pcall(gr.reduce, a, op, options {}))
              add(op .. ", rows", pcall(gr.reduce, a, op, options { rows = rows }))
              add(op .. ", rows within words", pcall(gr.reduce, a, op, options { rows = 16 }))
              add(op .. ", columns", pcall(gr.reduce, a, op, options { rows = 20016, axis = 1 }))
            end
            for _, op in ipairs(two) do
              add(op, pcall(gr[op], a, b, options {}))
              add(op .. ", rows", pcall(gr[op], a:matrix(rows), b:matrix(rows), options { axis = 2 }))
            end
          end
        end)
        return found
      end
      local expected = results "cpu"
      for _, device in ipairs { here, "pretend" } do
        assert.same(expected, results(device), dtype .. " on " .. device)
      end
    end
  end)
end)
