-- What the specs of DLPack share: spec/fixtures/memory.c is the other library, which counts its deleters' calls.
local S = require "spec.support"
local gr = S.gr
local memory, why = require "spec.memory"()

local T = { memory = memory, why = why }

-- The types of devices, and a flag.
T.CPU, T.CUDA, T.HOST, T.EXTENSION, T.MANAGED = 1, 2, 3, 12, 13
T.READONLY = 1

function T.collected()
  collectgarbage()
  collectgarbage()
end

-- What is left of tensors: each deleter has been called once, and no more.
function T.each_deleted_once(f)
  T.collected()
  local alive, deleted = memory.tensors()
  local made = f() or 1
  T.collected()
  gr.memory() -- the state drops what other threads gave back
  local alive_now, deleted_now = memory.tensors()
  S.same(alive, alive_now, "tensors alive")
  S.same(made, deleted_now - deleted, "deleters called")
end

-- A block of floats 1, 2, ... n, given to f, freed afterwards.
function T.with_block(n, f)
  local p = memory.new(4 * n)
  for k = 1, n do memory.put(p, k - 1, k) end
  local ok, message = pcall(f, p)
  T.collected()
  memory.free(p)
  if not ok then error(message, 0) end
end

return T
