-- What is present of long arrays, where kernels that count as they read take over: the CPU's bits on every device.
local S = require "spec.support"
local D = require "spec.data"
local gr, model = S.gr, S.model
local nan, NZ = model.nan, model.minus_zero
local unpack = table.unpack or unpack -- luacheck: ignore unpack

local two = { "dot", "mse", "cosine" }

local function holes(dtype, n, seed)
  local t, g = S.whole(D.medium(dtype, n, seed)), model.generator(seed + 1)
  if not model.is_float[dtype] then return t end
  for k = 1, n do if g() % 4 == 0 then t[k] = nan end end
  return t
end

describe("what is present of long arrays", function()
  it("norms and cosines whose squares leave the range of f64, also into what is reduced", function()
    local x = gr.array({ 1e200, 3, 1e-200, nan }, "f64")
    for _, how in ipairs { { skipnan = true }, { mask = gr.ones(4, "u8") }, {} } do
      local y = x:copy()
      if not how.skipnan then y[4] = 0 end
      how.rows, how.into = 4, y
      y:norm(how)
      S.same_all({ 1e200, 3, 1e-200, 0 }, y)
    end
    local a = gr.array({ 1e-200, 2e-200, 1, 2 }, "f64")
    for _, how in ipairs { { skipnan = true }, { mask = gr.ones(4, "u8") }, {} } do
      how.rows, how.pairs, how.out = 2, true, "f32"
      S.same_all({ 1, 1 }, gr.cosine(a, a, how))
    end
    local rows = gr.array({ nan, nan, 3, 4, 1e200, nan, 0, 0 }, "f64")
    S.same_all({ 0, 5, 1e200, 0 }, rows:norm { rows = 4, skipnan = true })
  end)

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
              add(op .. ", many columns", pcall(gr.reduce, a, op, options { rows = 72, axis = 1 }))
              add(op .. ", short rows", pcall(gr.reduce, a, op, options { rows = 1251 }))
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

-- What is put together for plain arrays is kept for the next call of that operation and dtype; an expression's is not.
describe("what is present of one array after another", function()
  local one = { "sum", "mean", "norm", "min", "max", "minmax", "argmin", "argmax", "prod", "logsumexp", "count", "var" }
  local o = { skipnan = true }

  it("is that of each, whichever came before", function()
    S.on_each(function(device)
      for _, dtype in ipairs { "f16", "bf16", "f32", "f64" } do
        local list = {}
        for k, n in ipairs { 7, 5000, 1, 20016 } do list[k] = gr.array(holes(dtype, n, k + 30), dtype) end
        list[#list + 1] = list[2]:slice(1, 5000, 3)
        list[#list + 1] = list[4]:matrix(16)
        for round = 1, 2 do
          for k, a in ipairs(list) do
            local function same(op, ...)
              local e, other = gr.lazy(a) + 0, ...
              local options = other and { other, o } or { o }
              S.same_all({ pcall(gr[op], e, unpack(options)) }, { pcall(gr[op], a, unpack(options)) },
                op, dtype, device, round, k)
            end
            for _, op in ipairs(one) do same(op) end
            for _, op in ipairs(two) do
              same(op, a)
              same(op, gr.array(holes(dtype, #a, k + 40), dtype):matrix(a.rows or 1))
            end
          end
        end
      end
    end)
  end)

  it("may have squares out of range, or be gone", function()
    S.on_each(function()
      local a, b = gr.array({ 3, nan, 4 }, "f64"), gr.array({ 3 * 2 ^ 600, nan, 4 * 2 ^ 600 }, "f64")
      for _ = 1, 2 do
        assert.equal(5, gr.norm(a, o))
        assert.equal(5 * 2 ^ 600, gr.norm(b, o))
        assert.equal(1, gr.cosine(b, b, o))
      end
      b:release()
      assert.has_error(function() gr.norm(b, o) end)
      assert.equal(5, gr.norm(a, o))
    end)
  end)
end)
