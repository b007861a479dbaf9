-- Ranks: the programs of spec/ranks run under mpirun on 1, 2 and 3 ranks. Needs `make mpi` and OpenMPI's mpirun.
local S = require "spec.support"
local L = require "spec.locale"

-- What a command prints, and its exit status.
local function run(command)
  local pipe = io.popen("{ " .. command .. "; } 2>&1; echo status $?")
  local text = pipe:read("*a")
  pipe:close()
  return text, tonumber(text:match("status (%d+)%s*$"))
end

local function is_built()
  for pattern in package.cpath:gmatch("[^;]+") do
    local file = io.open((pattern:gsub("?", "gpureduce/mpi")))
    if file then return file:close() end
  end
end

local function missing()
  if not is_built() then return "gpureduce.mpi is not built: make mpi" end
  if select(2, run "command -v mpirun >/dev/null") ~= 0 then return "no mpirun: make deps-mpi" end
end

local function ranks(n, rest, environment, program)
  local paths, suffix = "", "_" .. _VERSION:match("%d.%d"):gsub("%.", "_")
  for _, name in ipairs { "LUA_PATH", "LUA_PATH" .. suffix } do
    paths = paths .. (" %s='%s' %s='%s'"):format(name, package.path, (name:gsub("PATH", "CPATH")), package.cpath)
  end
  return run(("env %s %s timeout 300 mpirun -n %d --oversubscribe --allow-run-as-root %s %s")
    :format(paths, environment or "", n, program or S.interpreter(), rest))
end

local why = missing()
describe("ranks", function()
  if why then
    pending("over MPI: " .. why)
    return
  end
  for n = 1, 3 do
    it("get the bits of one process: " .. n, function()
      local text, status = ranks(n, "spec/ranks/check.lua all 3 " .. n)
      assert.equal(0, status, text)
      assert.truthy(text:find(("ranks: %d, all: 3 rounds agree"):format(n), 1, true), text)
    end)
  end

  it("get them by messages of MPI alone", function()
    local text, status = ranks(3, "spec/ranks/check.lua all 2 9", "GPUREDUCE_SHARED=0")
    assert.equal(0, status, text)
  end)

  it("need no MPI for what is short where they share memory", function()
    local broken = "NO_GATHER=1 LD_PRELOAD=" .. package.cpath:match "([^;]*)/%?%.so" .. "/failing_mpi.so "
    for n = 2, 3 do
      local text, status = ranks(n, "spec/ranks/shared.lua memory", broken)
      assert.equal(0, status, text)
      assert.truthy(text:find(("ranks: %d, memory is enough"):format(n), 1, true), text)
    end
    -- One that shall not share it, or cannot reach it, is enough for all to go without.
    local one = ("sh -c 'GPUREDUCE_SHARED=$OMPI_COMM_WORLD_RANK exec %s spec/ranks/shared.lua mpi'"):format(
      S.interpreter())
    local without = { { "NO_PROC=1" }, { "GPUREDUCE_SHARED=0" }, { "", one } }
    for _, how in ipairs(without) do
      local text, status = ranks(3, how[2] and "" or "spec/ranks/shared.lua mpi", broken .. how[1], how[2])
      assert.equal(5, status, text)
      assert.equal(3, select(2, text:gsub("rank %d goes by MPI", "")), text)
    end
  end)

  it("get them of arrays on a device, too", function()
    local text, status = ranks(2, "spec/ranks/check.lua all 1 7", "GPUREDUCE_DEVICE=pretend")
    assert.equal(0, status, text)
  end)

  for n = 1, 3 do
    it("reduce on their devices what lies there: " .. n, function()
      local text, status = ranks(n, "spec/ranks/device.lua", "GPUREDUCE_DEVICE=pretend")
      assert.equal(0, status, text)
      assert.truthy(text:find(("ranks: %d, a device brings nodes and borders alone"):format(n), 1, true), text)
      local lost = "GPUREDUCE_DEVICE=pretend GPUREDUCE_PRETEND_LOSE_AT=4"
      text, status = ranks(n, "spec/ranks/device.lua lose", lost)
      assert.equal(0, status, text)
      assert.truthy(text:find("a device is lost for all", 1, true), text)
    end)
  end

  -- identity: what tells a rank's pretend device from others, as its shell expands it.
  local function joined(environment, identity, expected)
    local library = "GPUREDUCE_NCCL=" .. package.cpath:match "([^;]*)/%?%.so" .. "/fake_nccl.so "
    local program = ("sh -c 'GPUREDUCE_PRETEND_IDENTITY=%s exec %s spec/ranks/joined.lua %s'"):format(identity,
      S.interpreter(), expected)
    local text, status = ranks(3, "", "GPUREDUCE_DEVICE=pretend " .. library .. environment, program)
    assert.equal(0, status, text)
    assert.truthy(text:find("ranks: 3, counts are added: " .. expected:match "%a+", 1, true), text)
    return text
  end
  local one_each = "gpu$OMPI_COMM_WORLD_RANK"

  it("add many counts where they lie, if their devices can be joined", function()
    joined("", one_each, "there")
    joined("FAKE_NCCL=add", one_each, "fails 0")
    local text = joined("FAKE_NCCL=one", one_each, "fails 1")
    assert.equal(3, select(2, text:gsub("nobody waits for what is not added", "")))
  end)

  it("let their hosts add if devices cannot be joined", function()
    joined("", "", "hosts")
    joined("", "shared", "hosts")
    for _, what in ipairs { "FAKE_NCCL=version", "FAKE_NCCL=id", "GPUREDUCE_NCCL=0", "GPUREDUCE_NCCL=nowhere.so" } do
      joined(what, one_each, "hosts")
    end
  end)

  it("do not wait in NCCL for one that cannot join", function()
    for _, what in ipairs { "init", "late" } do
      assert.falsy(joined("FAKE_NCCL=" .. what, one_each, "hosts"):find "waits for ever")
    end
    joined("GPUREDUCE_NCCL=" .. package.cpath:match "([^;]*)/%?%.so" .. "/fake_nccl_old.so", one_each,
      "there")
  end)

  for _, n in ipairs { 2, 3, 5 } do
    it("hear of mistakes alike: " .. n, function()
      local text, status = ranks(n, "spec/ranks/mistakes.lua")
      assert.equal(0, status, text)
      assert.truthy(text:find("mistakes are heard by all", 1, true), text)
    end)
  end

  it("are interrupted alike", function()
    local text, status = ranks(2, "spec/ranks/mistakes.lua stop", "GPUREDUCE_THREADS=1")
    assert.equal(0, status, text)
    assert.truthy(text:find("interruptions are heard by all", 1, true), text)
  end)

  it("stay in step whatever two of them call", function()
    local text, status = ranks(2, "spec/ranks/pairs.lua")
    assert.equal(0, status, text)
    assert.truthy(text:find("ranks: 2, all pairs of %d+ calls stay in step"), text)
  end)

  it("do not wait for what MPI fails to send", function()
    local preloaded = package.cpath:match "([^;]*)/%?%.so" .. "/failing_mpi.so GPUREDUCE_SHARED=0"
    local text, status = ranks(3, "spec/ranks/failing.lua f32", "FAILING=111 LD_PRELOAD=" .. preloaded)
    assert.equal(5, status, text)
    for rank = 0, 1 do assert.truthy(text:find(("rank %d goes on"):format(rank), 1, true), text) end
    -- Nothing is received into memory that has been given back.
    text, status = ranks(3, "spec/ranks/failing.lua f32", "FAILING=999 FAILING_WAIT=1 LD_PRELOAD=" .. preloaded)
    assert.not_equal(0, status, text)
    for rank = 1, 2 do assert.truthy(text:find(("rank %d expects nothing any more"):format(rank), 1, true), text) end
    -- Long messages, which MPI sends when they are asked for; rank 1 has given up by then.
    text, status = ranks(3, "spec/ranks/failing.lua bf16", "FAILING=319 LD_PRELOAD=" .. preloaded)
    assert.equal(1, status, text)
    assert.truthy(text:find("MPI has failed between messages, which ends all ranks", 1, true), text)
  end)

  -- What is in a new folder after spec/ranks/save.lua has saved there.
  local function saved(what, environment)
    local folder = os.tmpname()
    os.remove(folder)
    run("mkdir " .. folder)
    local preloaded = package.cpath:match "([^;]*)/%?%.so" .. "/failing_mpi.so"
    local text, status = ranks(3, ("spec/ranks/save.lua %s %s"):format(folder, what),
      ("LD_PRELOAD=%s %s"):format(preloaded, environment))
    local files = run("ls -A " .. folder):gsub("%s*status 0%s*$", "")
    local old = #files > 0 and tonumber((run(("wc -c < %s/x.npy"):format(folder)):match "%d+"))
    run("rm -r " .. folder)
    return status, text, files, old
  end

  it("leave nothing beside a file when one is killed while they save it", function()
    for _, rank in ipairs { 0, 1, 2 } do
      local status, text, files = saved("new", "KILLED=" .. rank)
      assert.not_equal(0, status, text)
      assert.equal("", files)
    end
    local status, text, files, bytes = saved("old", "KILLED=1")
    assert.not_equal(0, status, text)
    assert.equal("x.npy", files)
    assert.equal(128 + 3 * 4, bytes)
  end)

  it("save where files must have names, or one cannot reach one without", function()
    for _, environment in ipairs { "", "NO_TMPFILE=1", "NO_PROC=1", "NO_LINK=1" } do
      for _, what in ipairs { "old", "new" } do
        local status, text, files, bytes = saved(what, environment)
        assert.equal(0, status, text)
        assert.truthy(text:find("ranks: 3, all is in the file", 1, true), text)
        assert.equal("x.npy", files)
        assert.equal(128 + 100003 * 4, bytes)
      end
    end
  end)

  it("call the same whatever their locales are", function()
    if not L.is_possible() then return pending("needs localedef") end
    L.with_comma(function(folder)
      local text, status = ranks(2, "spec/ranks/mistakes.lua comma", ("LC_ALL=C LOCPATH=%s"):format(folder))
      assert.equal(0, status, text)
      assert.truthy(text:find("locales do not matter", 1, true), text)
    end)
  end)

  it("take finalizers that call, too", function()
    local text, status = S.child({}, "spec/ranks/finalizers.lua")
    assert.equal(0, status, text)
    assert.truthy(text:find("ranks: finalizers may call", 1, true), text)
  end)

  it("end together when one ends with an error, or with a status of its own", function()
    local text, status = ranks(3, "spec/ranks/mistakes.lua error")
    assert.not_equal(0, status)
    assert.truthy(text:find("this rank has had enough", 1, true), text)
    assert.truthy(text:find("gpureduce.mpi: rank 2 of 3 has failed, which ends all of them", 1, true), text)
    text, status = ranks(2, "spec/ranks/mistakes.lua exit")
    assert.equal(7, status, text)
    text, status = ranks(3, "spec/ranks/mistakes.lua leave")
    assert.not_equal(0, status)
    assert.truthy(text:find("calls nothing more: its program has ended", 1, true), text)
    local began = os.time()
    text, status = ranks(3, "spec/ranks/mistakes.lua kill")
    assert.not_equal(0, status, text)
    assert.is_true(os.time() - began < 60, text)
  end)

  for _, name in ipairs { "host_mpi", "capi_mpi" } do
    it("are shared by a host that has MPI already: " .. name, function()
      local program, digits = package.cpath:match "([^;]*)/%?%.so" .. "/" .. name, nil
      local file = io.open(program)
      if not file then return pending(name .. " is not here: make mpi builds it where Lua has a library") end
      file:close()
      for n = 1, 3 do
        -- So OpenMPI's long messages move on only while both ranks are in it.
        local text, status = ranks(n, "", "OMPI_MCA_btl_vader_single_copy_mechanism=none", program)
        assert.equal(0, status, text)
        local line = text:match "^[^\n]+"
        assert.truthy(name == "capi_mpi" and line == "ok" or line:find "^100003 particles: mean", text)
        digits = digits or line
        assert.equal(digits, line)
      end
    end)
  end

  it("are one without mpirun", function()
    local text, status = S.child({}, "spec/ranks/check.lua", "reductions", "1")
    assert.equal(0, status, text)
    assert.truthy(text:find("ranks: 1, reductions: 1 rounds agree", 1, true), text)
  end)

  for name, size in pairs { ranks = 24, sod_ranks = 100 } do
    it("compute the same digits on any number of them: examples/" .. name .. ".lua", function()
      local digits
      for _, n in ipairs { 1, 2, 3, 8 } do
        local text, status = ranks(n, ("examples/%s.lua %d"):format(name, size))
        assert.equal(0, status, text)
        local lines = text:match("after.*digest[^\n]+") or text:match("after[^\n]+")
        assert.truthy(lines, text)
        digits = digits or lines
        assert.equal(digits, lines)
      end
    end)
  end

  it("of a shock tube have the bits of examples/sod.lua", function()
    local file = assert(io.open "examples/sod.lua")
    local text, status = S.child_text({}, file:read "*a" .. "\nprint('digest ' .. inside:digest())")
    file:close()
    assert.equal(0, status, text)
    local over_ranks = S.child({}, "examples/sod_ranks.lua")
    assert.equal(text:match("digest (%x+)"), over_ranks:match("density (%x+)"), text .. over_ranks)
  end)
end)
