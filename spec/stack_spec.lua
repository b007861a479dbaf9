-- 64 KiB of stack are enough for a thread that calls the module, whatever it calls. All that the thread has there
-- counts: its own record, Lua, the module, the kernels. Below the stack lies memory that nobody may touch, so a process
-- that goes further dies.
local S = require "spec.support"

local STACK = 64 * 1024

-- A child process with a thread of that stack for each script; prints how many bytes were used.
local function within(script, environment)
  environment = environment or {}
  environment.GPUREDUCE_DEVICE, environment.GPUREDUCE_THREADS = environment.GPUREDUCE_DEVICE or "cpu", "3"
  local text, status = S.child_text(environment, ([[
    package.path, package.cpath = "./?.lua;" .. %q, %q
    local host = require "spec.host"()
    if not host then return print "no compiler" end
    local before = ("package.path, package.cpath = %%q, %%q\n"):format(package.path, package.cpath)
    print(host.within(%d, before .. %q))]]):format(package.path, package.cpath, STACK, script))
  if text == "no compiler\n" then return pending "no C compiler or no headers here" end
  assert.equal(0, status, text)
  local used = text:match "^(%d+)\tnil\n$"
  assert(used, text)
  if os.getenv "GPUREDUCE_TEST_STACK" then print(used .. " bytes of stack: " .. script:match "[^\n]+") end
  assert(tonumber(used) < STACK - 8192, used .. " bytes of stack used") -- of which the host has the rest
end

local sweep = [[
  -- every function of the module (%s)
  local cases = require "spec.hostile.cases"
  for _, name in ipairs(cases.names()) do
    local setting = cases.setting(name)
    cases.prepare(name, %q)
    local ok, message = pcall(cases.act)
    local without = tostring(message):find("one_rank", 1, true) -- only the sweep's own host has a communicator
    assert(ok or without or setting.may_raise or setting.empty, name .. ": " .. tostring(message))
    cases.finish "error"
  end]]

local reductions = [[
  -- every reduction of every dtype and shape
  local gr = require "gpureduce"
  local done = 0
  local one = { "sum", "prod", "min", "max", "minmax", "mean", "var", "std", "argmin", "argmax", "any", "all", "count",
    "logsumexp", "norm1", "norm2", "norminf" }
  for _, dtype in ipairs { "f16", "bf16", "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64" } do
    local a, b = gr.arange(1, 120000):mul(1e-3):cast(dtype), gr.full(120000, 1, dtype)
    local shapes = { {}, { rows = 40000 }, { rows = 6000 }, { rows = 8 }, { rows = 8, axis = 1 },
      { rows = 6000, axis = 1 }, { rows = 300, axis = 1 }, { segments = gr.array({ 1, 5, 5, 70000, 120001 }, "i64") } }
    for _, x in ipairs { a, a:slice(1, -1, 2), a:slice(1, 16) } do
      for _, shape in ipairs(shapes) do
        local function try(f, ...) done = done + (pcall(f, ...) and 1 or 0) end -- not all divide all lengths
        for _, op in ipairs(one) do try(gr.reduce, x, op, shape) end
        for _, op in ipairs { "dot", "mse", "cosine" } do try(gr[op], x, x, shape) end
        try(gr.sum, gr.lazy(x) * 2 + x, shape)
        try(gr.var, gr.lazy(x) * 2 + x, shape)
        for _, how in ipairs { "f32", "kahan", "neumaier" } do
          shape.accumulate = how
          try(gr.sum, x, shape)
          try(gr.dot, x, x, shape)
        end
        shape.accumulate = nil
        try(gr.dot, x, x, { exact = true, rows = shape.rows, axis = shape.axis })
      end
    end
    assert(gr.dot(b, b) == 120000)
  end
  assert(done > 3500, done)]]

local others = [[
  -- scans, histograms, rows, files, formulas
  local gr = require "gpureduce"
  for _, dtype in ipairs { "f16", "f32", "f64", "u8", "i32", "i64" } do
    local x = gr.rand(200000, { seed = 1 }):mul(100):cast(dtype)
    for _, v in ipairs { x, x:slice(1, -1, 2), x:slice(1, 20) } do
      for _, op in ipairs { "sum", "prod", "min", "max" } do gr.scan(v, op) end
      gr.quantile(v, { 0.1, 0.5, 0.9 })
      gr.median(v)
      for _, bins in ipairs { 4, 256, 4000, 16000, 70000 } do
        gr.histogram(v, { bins = bins })
        gr.histogram(v, { bins = bins, min = 0, max = 100 })
        gr.histogram(v, { bins = bins, weights = v:cast "f32" })
        gr.histogram2d(v, v, { bins = math.min(bins, 200) })
        gr.histogram(gr.lazy(v) + 1, { bins = bins })
      end
      gr.compact(v, v:compare(">", 50))
      v:compare(">", 50):any()
      gr.where(v:compare("<", 9), v, 0)
      v:clamp(1, 2)
      gr.digest(v)
      for _, rows in ipairs { 10, 2 } do
        if dtype:find "f" then
          gr.softmax(v, { rows = #v / rows })
          gr.rmsnorm(v, nil, { rows = #v / rows })
        end
      end
      if dtype:find "f" and #v > 20 then
        gr.softmax(v)
        gr.rmsnorm(v)
      end
      local indices = gr.arange(1, 20, "i32")
      gr.put(v:copy(), indices, 7)
      gr.take(v, indices)
      local name = os.tmpname()
      gr.save(v, name .. ".npy")
      assert(gr.load(name .. ".npy"):equal(v))
      os.remove(name .. ".npy")
      os.remove(name)
      tostring(v)
    end
  end
  local a = gr.rand(200000, { seed = 1 })
  local deep = "a"
  for k = 1, 150 do deep = "(" .. deep .. " + " .. k .. ")" end
  gr.fuse(deep) { a = a }:sum()
  local e = gr.lazy(a)
  for k = 1, 100 do e = e * 2 - k end
  e:var()
  for _, rows in ipairs { 20, 2000 } do
    e:sum { rows = rows, axis = 1 }
    gr.sum(gr.lazy(a) * a, { rows = rows, axis = 1 })
    e:max { rows = rows }
  end
  gr.many { { "sum", e }, { "max", a }, { "norm", a } }
  gr.async(gr.sum, e):get()
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write("a,b\n", ("1,2\n"):rep(30000))
  file:close()
  assert(gr.csv(name, { column = "b" }):sum() == 60000)
  os.remove(name)
  gr.permutation(100000)
  gr.sum(a, { kernel = "two_phase" })
  gr.explain("sum", a)
  gr.compiled()]]

-- AddressSanitizer puts gaps between what lies on a stack.
local describe = (os.getenv "LD_PRELOAD" or ""):find("asan", 1, true) and function() end or describe

describe("a thread with a stack of 64 KiB", function()
  for _, device in ipairs { "cpu", "pretend" } do
    it("has room for every function on " .. device, function() within(sweep:format(device, device)) end)
  end
  it("has room for reductions", function() within(reductions) end)
  it("has room for everything else of some length", function() within(others) end)
  for _, set in ipairs { "sse2", "avx2", "generic" } do
    it("has room for the kernels of " .. set, function()
      local text = S.child_text({ GPUREDUCE_CPU = set, GPUREDUCE_DEVICE = "cpu" }, "require 'gpureduce'.ones(9):sum()")
      if not text:find("GPUREDUCE_CPU", 1, true) then within(reductions, { GPUREDUCE_CPU = set }) end
    end)
  end
end)

-- A library that refuses threads the memory that they would keep.
local refuse = [[
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void *aligned_alloc(size_t alignment, size_t bytes) {
  static void *(*real)(size_t, size_t);
  if (alignment == 64 && bytes == 640 * 1024) return write(2, "refused\n", 8), NULL;
  if (!real) real = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
  return real(alignment, bytes);
}]]

describe("threads without memory to work in", function()
  it("take turns, and get the same", function()
    local library = os.tmpname()
    S.write_file(library .. ".c", refuse)
    os.execute(("LD_PRELOAD= cc -shared -fPIC -o %s %s.c -ldl > /dev/null 2>&1"):format(library, library))
    os.remove(library .. ".c")
    local script = ([[
      package.path, package.cpath = "./?.lua;" .. %q, %q
      local work = ("package.path, package.cpath = %%q, %%q\n"):format(package.path, package.cpath) .. [=[
        local gr = require "gpureduce"
        local a = gr.rand(120000, { seed = 1 })
        local said = {}
        for _, x in ipairs { a, a:slice(1, -1, 2), gr.fuse "3 * a" { a = a }, a:cast "f16" } do
          for _, rows in ipairs { 20, 3000 } do
            said[#said + 1] = tostring(gr.norm(x, { rows = rows, axis = 1 }):digest())
            said[#said + 1] = tostring(gr.var(x, { rows = rows }):digest())
          end
          said[#said + 1] = tostring(gr.histogram(x, { bins = 1000 }).counts:digest())
        end
        said = table.concat(said, " ")
      ]=]
      local alone = (loadstring or load)(work .. "return said")() -- luacheck: ignore
      local host = require "spec.host"()
      print(host and host.states(4, work .. ("assert(said == %%q)"):format(alone)) or "the same", alone)]]):format(
      package.path, package.cpath)
    local settings = { GPUREDUCE_DEVICE = "cpu", GPUREDUCE_THREADS = "3" }
    local plain = S.child_text(settings, script)
    settings.LD_PRELOAD = library
    local refused, status = S.child_text(settings, script)
    os.remove(library)
    local said, times = refused:gsub("refused\n", "")
    assert.equal(0, status, refused)
    assert.equal(plain, said)
    assert.is_true(times > 0)
  end)
end)
