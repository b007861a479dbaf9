-- Run by spec/ranks_spec.lua on one rank: finalizers that make calls with the communicator that a call is at work with.

local gr = require "gpureduce"
local comm = require "gpureduce.mpi".world()

local long, within, ran = ("x"):rep(100000), false, 0

local function call()
  if within then return end
  within = true
  ran = ran + 1
  assert(comm:gather(long)[1] == long)
  within = false
end

-- An object whose finalizer makes a call: of a table, or in Lua 5.1 of a userdata.
local function trap()
  if not newproxy then return setmetatable({}, { __gc = call }) end -- luacheck: globals newproxy
  getmetatable(newproxy(true)).__gc = call
end

for k = 1, 1500 do
  trap()
  local got = comm:gather { ("y"):rep(k), k, gr.ones(3) }[1]
  assert(got[1] == ("y"):rep(k) and got[2] == k and got[3]:sum() == 3)
  trap()
  got = comm:bcast { ("z"):rep(k), k }
  assert(got[1] == ("z"):rep(k) and got[2] == k)
end
collectgarbage()
assert(ran > 0)
print "ranks: finalizers may call"
