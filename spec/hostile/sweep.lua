-- The allocation-failure sweep: every case of cases.lua again and again, with request 1, 2, 3, ... refused, until none
-- is refused any more. Run by the program of host.c: make sweep, or make sweep-fast.
io.stdout:setvbuf "line"

local function option(name, default)
  for _, a in ipairs(arg) do
    local value = a:match("^" .. name .. "=(.*)$")
    if value then return value end
  end
  return default
end

local verbose = option("verbose")
local trial = trial -- luacheck: globals trial
local cpath, only = option("cpath"), option("case")
local stride = tonumber(option("stride", "1")) -- on the side of Lua: every so many requests, from another one each case
local rare = tonumber(option("rare", "1")) -- on the module's side: every so many beyond the first fifty
local part, parts = option("part", "1/1"):match "^(%d+)/(%d+)$" -- every so many cases, from this one
local devices, sides = option("devices", "cpu pretend"), option("sides", "c lua")
package.cpath = cpath

local file = assert(io.open("spec/hostile/cases.lua", "rb"))
local text = file:read("*a")
file:close()
local load_text = loadstring or load -- luacheck: ignore
local code = string.dump(assert(load_text(text, "=cases")))

local faults, injected, trials = 0, 0, 0
local function fault(...)
  faults = faults + 1
  print("FAULT: " .. string.format(...))
  assert(faults < 200, "too many faults")
end

-- ---- every function and metamethod has a case, and everything that docs/api describes is one of them ----

local cases = assert(load_text(text, "=cases"))()
local all, missing, functions = cases.reached("cpu")
for _, name in ipairs(missing) do fault("'%s' has no case in spec/hostile/cases.lua", name) end

local known = {}
for _, name in pairs(all) do known[name:match("[^:]+$")] = true end
local common = assert(loadfile "docs/api/common.lua")()
for name in io.popen("ls docs/api/*.lua"):lines() do
  local page = not name:find("common.lua", 1, true) and assert(loadfile(name))(common) or {}
  for _, entry in ipairs(page.entries or {}) do
    local plain = entry.name:match("^[%w_]+$") or entry.name:match("^%w+:[%w_]+$")
    if plain and not known[plain:match("[%w_]+$")] then
      fault("docs/api describes '%s', which is no function of the module", plain)
    end
  end
end

-- ---- the sweep ----

local function allowed(name, status)
  if status == "ok" then return true end
  return status:find("memory", 1, true) or cases.setting(name).may_raise or cases.setting(name).empty
    or status:find("does not open", 1, true)
end

-- Blocks that the pool keeps belong to nobody: a fresh state gives them back before they are counted.
local function blocks_left()
  local _, _, _, blocks = trial(code, cpath, "clock", "cpu", "none", 0, false)
  return blocks
end

local started = os.time()
local count, from = 0, option "from"
local begun = not from
for index, name in ipairs(cases.names()) do
  begun = begun or name == from
  if begun and (not only or name == only) and index % parts == part % parts then
    count = count + 1
    local before, since = injected, os.clock()
    for device in devices:gmatch("%S+") do
      local _, status, clean = trial(code, cpath, name, device, "none", 0, false)
      if not (status == "ok" or cases.setting(name).may_raise or cases.setting(name).empty) or clean:find("^!") then
        fault("case '%s' on %s without failures: %s; %s", name, device, status, clean)
      end
      local rest = blocks_left()
      for side in sides:gmatch("%S+") do
        for _, on in ipairs { false, true } do
          local step = side == "lua" and stride or 1
          local k = step > 1 and 1 + (index + (on and 3 or 0)) % step or 1
          repeat
            local requests, result, after, blocks, bytes = trial(code, cpath, name, device, side, k, on)
            local fired = requests >= k
            local where = ("case '%s' on %s, side %s, request %d%s"):format(
              name, device, side, k, on and " and all after it" or "")
            trials = trials + 1
            if fired then injected = injected + 1 end
            if not allowed(name, result) then fault("%s: raised '%s'", where, result) end
            if after:find("^!") or after:find("^raised") then fault("%s: %s", where, after)
            elseif result == "ok" and after ~= "error" and after ~= clean then
              fault("%s: gives %s, not %s", where, after:sub(1, 200), clean:sub(1, 200))
            end
            if bytes ~= 0 then fault("%s: lua_close left %d bytes", where, bytes) end
            if blocks > rest then
              blocks = blocks_left()
              if blocks > rest then fault("%s: %d blocks lost", where, blocks - rest) end
              rest = blocks
            end
            k = k + (side == "c" and k > 50 and rare or step)
          until not fired
        end
      end
    end
    if verbose then print(("%-40s %6d failures %6.2f s"):format(name, injected - before, os.clock() - since)) end
  end
end

print(("%d functions and metamethods swept by %d cases, %d failures injected, %d faults, %d s"):format(
  functions, count, injected, faults, os.time() - started))
if faults > 0 then error("the sweep found faults", 0) end
