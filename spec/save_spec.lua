-- What becomes of files when things go wrong: full disks, killed writers, readers beside them, links, pipes, devices.
local S = require "spec.support"
local gr = S.gr

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read("*a")
  pipe:close()
  return (text:gsub("\n$", ""))
end

-- Starts a command and goes on.
local function start(command) os.execute("(" .. command .. ") > /dev/null 2>&1 &") end

-- A folder of its own, removed after f; in memory where there is such a place, since each save waits for the disk.
local function with_folder(f)
  local folder = run "mktemp -d -p /dev/shm || mktemp -d"
  folder = folder:match "[^\n]+$"
  local ok, message = pcall(f, folder)
  run("rm -rf " .. folder)
  if not ok then error(message, 0) end
end

local function lua_paths()
  return ("package.path, package.cpath = %q, %q\n"):format(package.path, package.cpath)
end

-- A child process that runs text after the shell commands in before, e.g. a limit; what it printed.
local function child(before, text)
  local output
  S.with_file(function(script)
    S.write_file(script, lua_paths() .. 'local gr = require "gpureduce"\n' .. text)
    run("chmod 644 " .. script)
    output = run((before:find "^exec" and before or before .. " exec") .. " " .. S.interpreter() .. " " .. script)
  end)
  return output
end

describe("a mapped file", function()
  it("may be saved to: nothing is lost", function()
    S.with_file(function(name)
      gr.arange(1, 100000, "f64"):save(name)
      local a = gr.load(name, "f64", { map = true })
      assert.is_true(a:save(name))
      assert.equal(5000050000, a:sum())
      assert.is_true(a:equal(gr.load(name, "f64")))
      assert.is_true(a:slice(99990, 100000):save(name))
      assert.equal(88, #S.read_file(name))
      assert.equal(5000050000, a:sum())
      a:release()
    end)
  end)

  it("is one only when asked for: others may shorten what was loaded", function()
    S.with_file(function(name)
      gr.ones(100000, "u8"):save(name)
      local a = gr.load(name, "u8")
      S.write_file(name, "x")
      assert.equal(100000, a:sum())
    end)
  end)
end)

describe("save", function()
  it("keeps a file's mode, and gives a new one that of any new file", function()
    with_folder(function(folder)
      for _, mode in ipairs { "600", "644", "664", "755" } do
        S.write_file(folder .. "/a", "old")
        run(("chmod %s %s/a"):format(mode, folder))
        gr.ones(3):save(folder .. "/a")
        assert.equal(mode, run("stat -c %a " .. folder .. "/a"))
      end
      for umask, mode in pairs { ["022"] = "644", ["027"] = "640", ["000"] = "666" } do
        child(("umask %s;"):format(umask), ("gr.ones(3):save(%q)"):format(folder .. "/" .. umask))
        assert.equal(mode, run("stat -c %a " .. folder .. "/" .. umask))
      end
      assert.equal("000 022 027 a", (run("ls -1 -A " .. folder):gsub("\n", " ")))
    end)
  end)

  it("follows symbolic links, and leaves them", function()
    with_folder(function(folder)
      run(("cd %s; mkdir there; ln -s there/a one; ln -s ../one there/two; ln -s %s/new three; ln -s loop loop")
        :format(folder, folder))
      assert.is_true(gr.full(3, 1, "u8"):save(folder .. "/one"))
      assert.equal("\1\1\1", S.read_file(folder .. "/there/a"))
      assert.is_true(gr.full(3, 2, "u8"):save(folder .. "/there/two"))
      assert.equal("\2\2\2", S.read_file(folder .. "/there/a"))
      assert.is_true(gr.full(3, 3, "u8"):save(folder .. "/three"))
      assert.equal("\3\3\3", S.read_file(folder .. "/new"))
      assert.equal("loop new one there three", (run("ls -1 -A " .. folder):gsub("\n", " ")))
      for _, link in ipairs { "one", "there/two", "three" } do
        assert.equal("symbolic link", run(("stat -c %%F %s/%s"):format(folder, link)))
      end
      local ok, message = gr.ones(3):save(folder .. "/loop")
      assert.is_nil(ok)
      assert.equal(folder .. "/loop: Too many levels of symbolic links", message)
    end)
  end)

  it("to a name in the folder of the process, to folders, and to nothing", function()
    with_folder(function(folder)
      assert.equal("true", child(("cd %s;"):format(folder), "io.write(tostring(gr.ones(3, 'u8'):save 'a'))"))
      assert.equal("\1\1\1", S.read_file(folder .. "/a"))
      for path, reason in pairs { [folder] = "Is a directory", [folder .. "/b/"] = "Is a directory",
        [folder .. "/."] = "Is a directory", [""] = "No such file or directory",
        [folder .. "/a/b"] = "Not a directory", [folder .. "/" .. ("n"):rep(300)] = "File name too long" } do
        local ok, message = gr.ones(3):save(path)
        assert.is_nil(ok)
        assert.equal(path .. ": " .. reason, message)
      end
      assert.equal("a", run("ls -1 -A " .. folder))
    end)
  end)

  it("leaves a read-only file alone", function()
    local root = run "id -u" == "0" -- who may write it
    with_folder(function(folder)
      S.write_file(folder .. "/a", "old")
      run(("chmod 777 %s; chmod 444 %s/a"):format(folder, folder))
      local output = child(root and "exec setpriv --reuid 65534 --regid 65534 --clear-groups" or "exec",
        ("print(gr.ones(3):save '%s/a'); print(gr.ones(3, 'u8'):save '%s/b')"):format(folder, folder))
      if root and not output:find "^nil\t" then return pending "others may not see the module here" end
      assert.equal(("nil\t%s/a: Permission denied\t13\ntrue"):format(folder), output)
      assert.equal("old", S.read_file(folder .. "/a"))
      assert.equal("a\nb", run("ls -1 -A " .. folder))
    end)
  end)
end)

describe("what is no regular file", function()
  it("is written directly: a full device says so", function()
    local ok, message, code = gr.ones(100):save "/dev/full"
    assert.is_nil(ok)
    assert.equal("/dev/full: No space left on device", message)
    assert.equal(28, code)
    assert.is_true(gr.ones(100):save "/dev/null")
  end)

  it("such as the output goes on where the program is, a file or not", function()
    local text = [[
      io.write "before "
      assert(gr.frombytes("bytes", "u8"):save "/dev/stdout")
      io.write " between "
      assert(gr.frombytes("more", "u8"):save "/proc/self/fd/1")
      io.write " after"]]
    assert.equal("before bytes between more after", child("", text))
    S.with_file(function(name)
      S.with_file(function(script)
        S.write_file(script, lua_paths() .. 'local gr = require "gpureduce"\n' .. text)
        os.execute(S.interpreter() .. " " .. script .. " > " .. name)
      end)
      assert.equal("before bytes between more after", S.read_file(name))
    end)
  end)

  it("such as a pipe that nobody reads is an error, not the end", function()
    S.with_file(function(name)
      child("", ([[
        os.execute "mkfifo %s.pipe"
        os.execute "(exec 3< %s.pipe; sleep 0.3) &"
        local ok, message, code = gr.zeros(1000000):save "%s.pipe"
        local file = io.open(%q, "w")
        file:write(tostring(ok), " ", message, " ", code)
        file:close()
        os.remove "%s.pipe"]]):format(name, name, name, name, name))
      assert.equal("nil " .. name .. ".pipe: Broken pipe 32", S.read_file(name))
    end)
  end)

  it("such as a pipe gets all there is", function()
    with_folder(function(folder)
      run(("mkfifo %s/pipe"):format(folder))
      start(("cat %s/pipe > %s/copy"):format(folder, folder))
      assert.is_true(gr.arange(1, 100000, "i32"):save(folder .. "/pipe"))
      for _ = 1, 100 do
        if #S.read_file(folder .. "/copy") == 400000 then break end
        run "sleep 0.02"
      end
      assert.is_true(gr.load(folder .. "/copy", "i32"):equal(gr.arange(1, 100000, "i32")))
      assert.equal("fifo", run("stat -c %F " .. folder .. "/pipe"))
    end)
  end)

  it("is loaded to its end", function()
    with_folder(function(folder)
      local pipe, npy = folder .. "/pipe", folder .. "/p.npy"
      -- A new pipe each time, into which a command writes.
      local function feed(command, name)
        run(("rm -f %s; mkfifo %s"):format(name, name))
        start(("(%s) > %s"):format(command, name))
        return name
      end
      local function refused(reason, ...)
        local name, dtype, options = ...
        assert.equal("bad argument #1 to 'load' (" .. name .. ": " .. reason .. ")",
          S.message(function() return (gr.load(name, dtype, options)) end))
      end
      assert.equal("abcde", gr.load(feed("printf abc; sleep 0.1; printf de", pipe), "u8"):bytes())
      assert.equal("cde", gr.load(feed("printf abcdef", pipe), "u8", { offset = 2, count = 3 }):bytes())
      assert.is_true(gr.csv(feed("seq 1000000", pipe), { dtype = "i32" }):equal(gr.arange(1, 1000000, "i32")))
      local fixture = "spec/fixtures/f64_2x3.npy"
      local a, shape = gr.load(feed("cat " .. fixture, npy))
      assert.is_true(a:equal((gr.load(fixture))))
      assert.same({ 2, 3 }, shape)
      assert.same({ { 0, 1, 2 }, { 3, 4, 5 } }, gr.load(feed("cat spec/fixtures/fortran_2x3.npy", npy)):table())
      refused("NPY file is longer than its header says: 48 bytes of data promised, at least 49 are there",
        feed("cat " .. fixture .. "; echo more", npy))
      refused("truncated NPY file: its header promises 48 bytes of data, 22 are there",
        feed("head -c 150 " .. fixture, npy))
      refused("truncated NPY file: its header does not fit in 100 bytes", feed("head -c 100 " .. fixture, npy))
      refused("5 bytes are not a whole number of f32 elements", feed("printf abcde", pipe))
      refused("7 elements asked, the file has 5", feed("printf abcde", pipe), "u8", { count = 7 })
      refused("offset 7 is past the end of the file (5 bytes)", feed("printf abcde", pipe), "u8", { offset = 7 })
      refused("only a file can be mapped, not a pipe or a device", feed("printf abcde", pipe), "u8", { map = true })
    end)
  end)

  it("such as the files of /proc, which say that they are empty", function()
    local text = S.read_file "/proc/version"
    assert.is_true(#text > 0)
    assert.equal(text, gr.load("/proc/version", "u8"):bytes())
    assert.equal(text, gr.load("/proc/version", "u8", { map = true }):bytes())
    assert.equal(0, #gr.load("/dev/null", "u8"))
  end)

  it("and has no end, ends at 256 MiB with an error", function()
    assert.equal("bad argument #1 to 'load' (/dev/zero: no end after 268435456 bytes: of what is no file of its "
      .. "own, no more are read without 'count')", S.message(function() return (gr.load("/dev/zero", "u8")) end))
    assert.equal("bad argument #1 to 'csv' (/dev/zero:1: a number is more than 1048576 bytes long)",
      S.message(function() return (gr.csv "/dev/zero") end))
    with_folder(function(folder)
      run(("mkfifo %s/pipe"):format(folder))
      start(("yes 1,2 > %s/pipe"):format(folder))
      assert.equal("bad argument #1 to 'csv' (" .. folder .. "/pipe: no end after 268435456 bytes: of what is no file "
        .. "of its own, no more are read)", S.message(gr.csv, folder .. "/pipe", { column = 2, dtype = "u8" }))
    end)
    assert.equal(0, gr.load("/dev/zero", "f64", { count = 1000 }):sum())
    assert.equal("bad argument #1 to 'load' (/dev/zero: of what is no file of its own, at most 268435456 bytes are "
      .. "skipped, offset 268435457 asked)",
      S.message(function() return (gr.load("/dev/zero", "u8", { offset = 268435457, count = 1 })) end))
  end)
end)

describe("a NUL", function()
  it("cuts no path", function()
    S.with_file(function(name)
      gr.ones(3):save(name)
      for _, ending in ipairs { "\0", "\0.npy", "\0x" } do
        local path = name .. ending
        for _, f in ipairs { "load", "csv" } do
          assert.equal("bad argument #1 to '" .. f .. "' (path without a NUL character expected)",
            S.message(gr[f], path))
        end
        assert.equal("bad argument #2 to 'save' (path without a NUL character expected)",
          S.message(gr.save, gr.zeros(2), path))
        local ok, message, code = gr.svg { lines = { { y = { 1, 2 } } }, path = path }
        assert.is_nil(ok)
        assert.truthy(message:find(": Invalid argument", 1, true))
        assert.equal(22, code)
      end
      assert.equal(3, gr.load(name):sum())
    end)
  end)

  it("cuts no dtype and no format", function()
    for _, name in ipairs { "f32\0", "f32\0x", "<i4\0", "\0" } do
      assert.truthy(S.message(gr.frombytes, "12345678", name):find "^bad argument #2 to 'frombytes' %(.*NUL", name)
      assert.truthy(S.message(gr.zeros, 3, name):find "^bad argument #2 to 'zeros' %(.*NUL")
      assert.truthy(S.message(gr.csv, "x", { dtype = name }):find "unknown dtype", 1, true)
      assert.truthy(S.message(gr.reduce, gr.ones(3), "sum\0"):find "NUL")
    end
  end)
end)

describe("the old file stays whole, and nothing else,", function()
  local old, new = ("o"):rep(300), 2000000

  local function check(folder, before)
    local output = child(before, ([[
      local a = gr.ones(%d, "u8")
      for _, path in ipairs { "%s/a", "%s/a.npy", "%s/new" } do
        local ok, message, code = a:save(path)
        print(ok, message, code)
      end
      local lines = {}
      for k = 1, 50 do lines[k] = { y = { 1, k } } end
      for k = 1, 1000 do lines[1].y[k] = k end
      print(gr.svg { lines = lines, path = "%s/a.svg" })]]):format(new, folder, folder, folder, folder))
    return output
  end

  local function intact(folder)
    assert.equal("a\na.npy\na.svg", run("ls -1 -A " .. folder))
    for _, name in ipairs { "a", "a.npy", "a.svg" } do assert.equal(old, S.read_file(folder .. "/" .. name)) end
  end

  local function fill(folder)
    for _, name in ipairs { "a", "a.npy", "a.svg" } do S.write_file(folder .. "/" .. name, old) end
  end

  local function expected(folder, reason, code)
    local rows = {}
    for _, name in ipairs { "a", "a.npy", "new", "a.svg" } do
      rows[#rows + 1] = ("nil\t%s/%s: %s\t%d"):format(folder, name, reason, code)
    end
    return table.concat(rows, "\n")
  end

  it("where a limit on the size of files is met", function()
    with_folder(function(folder)
      fill(folder)
      assert.equal(expected(folder, "File too large", 27), check(folder, "ulimit -f 1;"))
      intact(folder)
    end)
  end)

  it("where the disk is full", function()
    with_folder(function(folder)
      if run("mount -t tmpfs -o size=12k none " .. folder .. " && echo done") ~= "done" then
        return pending "no right to mount a disk"
      end
      local ok, message = pcall(function()
        fill(folder)
        assert.equal(expected(folder, "No space left on device", 28), check(folder, ""))
        intact(folder)
      end)
      run("umount " .. folder)
      if not ok then error(message, 0) end
    end)
  end)

  it("where the writer is killed; and who reads meanwhile sees all of one or all of the other", function()
    with_folder(function(folder)
      local n = 1000000
      for _, ending in ipairs { "", ".npy" } do
        local name = folder .. "/a" .. ending
        gr.ones(n, "u8"):save(name)
        S.write_file(folder .. "/writer", lua_paths() .. ([[
          local gr = require "gpureduce"
          local arrays = { gr.full(%d, 1, "u8"), gr.full(%d, 2, "u8") }
          for k = 1, 1e9 do assert(arrays[k %% 2 + 1]:save %q) end]]):format(n, n, name))
        for kill = 1, 2 do -- each waits for a disk some dozen times
          local process = run(("%s %s/writer > /dev/null 2>&1 & echo $!"):format(S.interpreter(), folder))
          local seen, from = {}, os.time()
          while not (seen[1] and seen[2]) and os.time() < from + 20 do
            local a = ending == "" and gr.load(name, "u8", { map = kill % 2 == 0 }) or gr.load(name)
            assert.equal(n, #a)
            local low, high = a:minmax()
            assert.equal(low, high)
            seen[low] = true
          end
          assert.is_true(seen[1] and seen[2])
          run(("sleep 0.0%d; kill -9 %s; while kill -0 %s; do sleep 0.01; done"):format(kill * 7, process, process))
          local a = gr.load(name, ending == "" and "u8" or nil)
          assert.equal(n, #a)
          local low, high = a:minmax()
          assert.equal(low, high)
        end
      end
    end)
  end)
end)
