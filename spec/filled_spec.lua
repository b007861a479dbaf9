-- Kernels that skip missing elements as they read: the bits of the same kernels on arrays in which what fills has been
-- stored, at all lengths around vectors, leaves and what is read at once, from any position on.
local S = require "spec.support"
local gr, model = S.gr, S.model
local nan, huge = model.nan, math.huge

local lengths = { 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 500, 511, 513, 1023, 1024, 1025, 2047, 2049,
  4095, 4096, 4097, 5000, 16385, 40001 }

-- Every operation: what fills its first and its second operand.
local operations = {
  sum = { 0 }, min = { huge }, max = { -huge }, norm = { 0 }, dot = { 0, 0 },
}

local function draw(n, dtype, seed, spice)
  local a = gr.randn(n, "f64", { seed = seed })
  local edge = gr.randint(0, spice, n, "u8", { seed = seed + 1 })
  for k, v in ipairs { -0.0, huge, 1e30, 0 } do a = gr.where(edge:compare("==", k), v, a) end
  return a:cast(dtype)
end

local function call(op, x, y, options)
  if op == "norm" then return gr.norm(x, 2, options) end
  if op == "dot" then return gr.dot(x, y, options) end
  return gr[op](x, options)
end

local function check(dtype, spice)
  for k, n in ipairs(lengths) do
    local first = k % 4 + 1
    local x, y = draw(n + 4, dtype, k, spice), draw(n + 4, dtype, k + 1000, spice)
    local here = gr.randint(0, 3, n + 4, "u8", { seed = k + 2000 })
    here[first] = 1
    local holes = gr.where(here, x, nan)
    local function view(a) return a:slice(first, first + n - 1) end
    for op, fills in pairs(operations) do
      local plain = call(op, view(gr.where(here, x, fills[1])), fills[2] and view(gr.where(here, y, fills[2])))
      local options = { skipnan = true }
      S.same(plain, call(op, view(holes), view(y), options), op .. ", skipnan", dtype, n)
      options = { mask = view(here) }
      S.same(plain, call(op, view(x), view(y), options), op .. ", mask", dtype, n)
    end
    local present = view(here):count()
    S.same(call("sum", view(gr.where(here, x, 0))) / present, gr.mean(view(holes), { skipnan = true }), "mean", n)
    S.same(call("sum", view(gr.where(here, x, 0))) / present, gr.mean(view(x), { mask = view(here) }), "mean", n)
  end
end

describe("what is skipped as it is read", function()
  for _, dtype in ipairs { "f32", "f64" } do
    it("has the bits of what is filled in memory, " .. dtype, function()
      check(dtype, 200)
      check(dtype, 5)
    end)

    it("is not read beyond the end, " .. dtype, function()
      for n = 1, 40 do
        local x, here = gr.full(n, 2, dtype), gr.zeros(n, "u8")
        here[n] = 255
        S.same(2, gr.sum(x, { mask = here }), "sum", n)
        S.same(2, gr.max(x, { mask = here }), "max", n)
        S.same(0, gr.var(x, { mask = here }), "var", n)
        here[n] = 0
        S.same(0, gr.sum(x, { mask = here }), "sum of none", n)
      end
    end)
  end

  it("may be filled with NaN", function()
    for _, dtype in ipairs { "f32", "f64" } do
      for _, n in ipairs { 1, 3, 17, 1025, 5000 } do
        for _, hole in ipairs { 0, n } do
          local x = gr.full(n, 2, dtype)
          if hole > 0 then x[hole] = nan end
          local some = gr.lazy(x)
          for _, op in ipairs { "min", "max", "sum" } do
            local filled = gr.where(some:compare("==", some), some, nan)
            S.same(gr[op](x), gr[op](filled), op, dtype, n, hole)
          end
        end
      end
    end
  end)

  it("is found in masks of more bytes than bytes count to", function()
    for _, n in ipairs { 63, 64, 65, 8191, 8192, 8193, 16384, 20000 } do
      S.same(n, gr.full(n, 255, "u8"):count(), "count", n)
      S.same(n - 1, gr.full(n, 1, "u8"):put(gr.array({ n }, "i32"), 0):count(), "count", n)
    end
  end)
end)
