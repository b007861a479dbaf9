-- In and out: rows of tables, packed strings of other programs, columns of CSV files.
local S = require "spec.support"
local gr = S.gr

describe("nested tables", function()
  it("become the elements row by row, with rows and columns", function()
    local a, rows, columns = gr.array({ { 1, 2, 3 }, { 4, 5, 6 } }, "i32")
    assert.same({ 1, 2, 3, 4, 5, 6 }, a:table())
    assert.equal("i32", a.dtype)
    assert.equal(2, rows)
    assert.equal(3, columns)
    assert.same({ 6, 15 }, a:sum({ rows = rows }):table())
    local empty, none, zero = gr.array { {}, {} }
    assert.equal(0, #empty)
    assert.equal(2, none)
    assert.equal(0, zero)
    assert.equal(1, select("#", gr.array { 1, 2 }))
  end)

  it("name the row that is wrong", function()
    for _, row in ipairs {
      { { { 1, 2 }, { 3 } }, "row 2: 2 elements expected, got 1" },
      { { { 1, 2 }, { 3, 4, 5 } }, "row 2: 2 elements expected, got 3" },
      { { { 1, 2 }, 3 }, "row 2: table expected, got number" },
      { { { 1, 2 }, { 3, "x" } }, "row 2, element 2: number expected, got string" },
      { { { 1, {} } }, "row 1, element 2: number expected, got table" },
    } do
      assert.equal("bad argument #1 to 'array' (" .. row[2] .. ")", S.message(gr.array, row[1]))
    end
    assert.equal("bad argument #1 to 'array' (row 2, element 1: value 300 does not fit u8 (0 to 255))",
      S.message(gr.array, { { 1 }, { 300 } }, "u8"))
    assert.equal("bad argument #1 to 'array' (element 2: number expected, got table)",
      S.message(gr.array, { 1, { 2 } }))
  end)
end)

describe("packed strings", function()
  it("may be described as string.pack does", function()
    for _, row in ipairs {
      { "\1\2\3\4", "<I4", "u32", 0x04030201 }, { "\1\2\3\4", ">I4", "u32", 0x01020304 },
      { "\255\254", "<i2", "i16", -257 }, { "\255\254", ">h", "i16", -2 },
      { "\200", "b", "i8", -56 }, { "\200", "B", "u8", 200 },
      { "\0\0\128\63", "<f", "f32", 1 }, { "\63\128\0\0", "> f", "f32", 1 }, { "\64\0\0\0\0\0\0\0", ">d", "f64", 2 },
      { "\0\0\0\0\0\0\0\5", ">i8", "i64", 5 }, { "\5\0\0\0\0\0\0\0", "<j", "i64", 5 }, { "\0\1", ">H", "u16", 1 },
      { "\200", "i8", "i8", -56 }, -- a dtype's name wins
    } do
      local a = gr.frombytes(row[1], row[2])
      assert.equal(row[3], a.dtype, row[2])
      assert.equal(row[4], a[1], row[2])
      assert.equal(1, #a)
    end
    assert.same({ 1, 2, 3 }, gr.frombytes("\0\1\0\2\0\3", ">I2"):table())
    if string.pack then
      local numbers = { 1.5, -2, 1e300 }
      assert.same(numbers, gr.frombytes(string.pack(">ddd", numbers[1], numbers[2], numbers[3]), ">d"):table())
    end
    for _, format in ipairs { "<I8", "i3", "z", "<ii", "s4", "" } do
      local message = S.message(gr.frombytes, "12345678", format)
      assert.truthy(message:find("^bad argument #2 to 'frombytes' %(unknown dtype '"), format)
    end
    assert.equal("bad argument #1 to 'frombytes' (3 bytes are not a whole number of i16 elements)",
      S.message(gr.frombytes, "abc", ">i2"))
  end)
end)

describe("gr.csv", function()
  local function csv(text, options)
    local results
    S.with_file(function(name)
      S.write_file(name, text)
      results = { pcall(gr.csv, name, options) }
      if not results[1] then
        local message = results[2]:gsub("^[^\n]-spec%.lua:%d+: ", "")
        local at = message:find(name, 1, true)
        while at do
          message = message:sub(1, at - 1) .. "FILE" .. message:sub(at + #name)
          at = message:find(name, 1, true)
        end
        results[2] = message
      end
    end)
    return results[2], results[3]
  end

  it("reads a column by position or by name", function()
    assert.same({ 1, 3 }, (csv("1,2\n3,4\n")):table())
    assert.same({ 2, 4 }, (csv("1,2\n3,4", { column = 2 })):table())
    local a, name = csv("x,mass\n1,2.5\n3,-4e2\n", { column = "mass", dtype = "f32" })
    assert.same({ 2.5, -400 }, a:table())
    assert.equal("f32", a.dtype)
    assert.equal("mass", name)
    assert.same({ 7 }, (csv("n\n7\n", { header = true, dtype = "i64" })):table())
    assert.same({ 5 }, (csv("1;5\r\n", { column = 2, separator = ";" })):table())
    assert.same({ 5 }, (csv("1\t5", { column = 2, separator = "\t" })):table())
    assert.same({ 5, 6 }, (csv("a.5.b\na.6.c", { column = 2, separator = "." })):table())
    assert.equal(0, #csv(""))
    assert.equal(0, #csv("x\n", { column = "x" }))
  end)

  it("knows quotes, other line ends and the byte order mark", function()
    assert.same({ 1, 2, 3 }, (csv('"a, ""b""\nc",1\n"d",2\r\ne,"3"\r\n', { column = 2 })):table())
    assert.same({ 1, 2 }, (csv("\239\187\191a\n1\r2", { column = "a" })):table())
    assert.same({ 4 }, (csv('"the ""x""",y\n1,4\n', { column = "y" })):table())
    assert.same({ 3 }, (csv('"the ""x""",y\n3,4\n', { column = 'the "x"' })):table())
  end)

  it("knows numbers, and nothing else", function()
    local a = csv("1\n -2 \n+3\n.5\n4.\n1e3\n1E-2\ninf\n-Infinity\nNaN\n")
    assert.same({ 1, -2, 3, 0.5, 4, 1000, 0.01, math.huge, -math.huge }, a:slice(1, 9):table())
    assert.is_true(a[10] ~= a[10])
    for _, word in ipairs { "x", "0x10", "1 2", "1,5", "-", ".", "1e", "--1", "infi" } do
      assert.equal(("bad argument #1 to 'csv' (FILE:2: '%s' is not a number)"):format(word),
        (csv(("1\n%s\n"):format(word), { separator = ";" })))
    end
    a = csv("9007199254740993\n-9223372036854775808\n9223372036854775807\n1e3\n-0\n", { dtype = "i64" })
    assert.equal("\1\0\0\0\0\0\32\0" .. ("\0"):rep(7) .. "\128" .. ("\255"):rep(7) .. "\127\232\3" .. ("\0"):rep(14),
      a:bytes())
    assert.equal("bad argument #1 to 'csv' (FILE:1: value 9.2233720368548e+18 does not fit i64)",
      (csv("9223372036854775808", { dtype = "i64" })))
    assert.equal("bad argument #1 to 'csv' (FILE:1: value 0.5 is not a whole number, as u8 needs)",
      (csv("0.5", { dtype = "u8" })))
    S.same(-0.0, (csv("-0"))[1])
    S.same(5e-324, (csv("4.9406564584124654e-324"))[1])
    S.same(0.1, (csv("0.1000000000000000055511151231257827021181583404541015625000000000"))[1])
  end)

  it("takes a time that grows with the file and no faster", function()
    local long = 1000000
    local from = os.clock()
    assert.equal("bad argument #1 to 'csv' (FILE:1: '1" .. (" "):rep(39) .. "' is not a number)",
      (csv("1" .. (" "):rep(long) .. "x")))
    assert.same({ 1 }, (csv((" "):rep(long) .. "1")):table())
    assert.same({ 0 }, (csv("0." .. ("0"):rep(long) .. "1")):table())
    assert.same({ math.huge }, (csv(("9"):rep(long))):table())
    assert.same({ 1 }, (csv("0." .. ("0"):rep(300000) .. "1e300001")):table())
    assert.same({ 2 }, (csv('"' .. ('""'):rep(long) .. '",2', { column = 2 })):table())
    assert.equal(long + 1, #csv(("1\n"):rep(long + 1)))
    assert.same({ 3 }, (csv((","):rep(long) .. "3\n", { column = long + 1 })):table())
    assert.equal("bad argument #1 to 'csv' (FILE:1: a quoted field does not end)", (csv('"' .. ("\n"):rep(long))))
    assert.is_true(os.clock() - from < 10, "took " .. os.clock() - from)
  end)

  it("bounds what it must keep: a number, and the names in a header", function()
    assert.equal("bad argument #1 to 'csv' (FILE:2: a number is more than 1048576 bytes long)",
      (csv("1\n" .. ("1"):rep(1048577))))
    assert.equal("bad argument #1 to 'csv' (FILE:1: the header is more than 1048576 bytes long)",
      (csv(("n,"):rep(600000) .. "\n", { column = "n" })))
    assert.same({ 1 }, (csv(("n"):rep(2000000) .. ",1", { column = 2 })):table())
    assert.equal("bad argument #1 to 'csv' (FILE:1: a NUL in the header)", (csv("a\0b,c\n1,2", { column = "c" })))
    assert.equal("bad argument #2 to 'csv' (option 'column': FILE has no column 'x' (it has: "
      .. ("n, "):rep(20) .. "and 11 more))",
      (csv(("n,"):rep(30) .. "n\n", { column = "x" })):gsub(" %(did you mean.-%?%)", ""))
  end)

  it("reads the same where the host's numbers have a comma", function()
    local folder = os.tmpname()
    os.remove(folder)
    local made = os.execute(("mkdir %s && localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 > /dev/null 2>&1")
      :format(folder, folder))
    if made ~= true and made ~= 0 then return pending "no localedef, or not the sources of de_DE" end
    local text = S.child_text({ LOCPATH = folder }, [[
      local gr = require "gpureduce"
      assert(os.setlocale("de_DE.UTF-8"))
      print(("%.1f"):format(0.5))
      local name = os.tmpname()
      local file = io.open(name, "w")
      file:write("x\n1.5\n-2e-3\n12\n")
      file:close()
      local a = gr.csv(name, { column = "x" })
      print(a[1] * 10, a[2] * 1000, a[3])
      file = io.open(name, "w")
      file:write("1,5\n")
      file:close()
      print(#gr.csv(name, { column = 2 }), (pcall(gr.csv, name, { separator = ";" })))
      os.remove(name)]])
    os.execute("rm -r " .. folder)
    assert.equal((S.jit and "0.5" or "0,5") .. "\n15\t-2\t12\n1\tfalse\n", (text:gsub(",0", ""):gsub("%.0", "")))
  end)

  it("names the line that is wrong", function()
    assert.equal("bad argument #1 to 'csv' (FILE:3: 2 fields expected, got 3)",
      (csv("a,b\n1,2\n1,2,3\n", { column = "b" })))
    assert.equal("bad argument #1 to 'csv' (FILE:2: '' is not a number)", (csv("1\n\n2\n")))
    assert.equal("bad argument #1 to 'csv' (FILE:4: 'x' is not a number)",
      (csv('"a\nb",1\nc,2\nd,x\n', { column = 2 })))
    assert.equal("bad argument #1 to 'csv' (FILE:2: a quoted field does not end)", (csv('1\n"2\n3\n')))
    assert.equal("bad argument #1 to 'csv' (FILE:1: 'x' after a field)", (csv('"1"x\n')))
    assert.equal("bad argument #1 to 'csv' (FILE:1: '\"' after a field)", (csv('1"2"\n')))
    assert.equal("bad argument #1 to 'csv' (FILE:3: value 300 does not fit u8 (0 to 255))",
      (csv("n\n5\n300\n", { column = "n", dtype = "u8" })))
  end)

  it("checks what it is asked for", function()
    assert.equal("bad argument #2 to 'csv' (option 'column': FILE has no column 'mas' (it has: x, mass)"
      .. " (did you mean 'mass'?))",
      (csv("x,mass\n1,2\n", { column = "mas" })))
    assert.equal("bad argument #2 to 'csv' (option 'column': FILE has 2 columns, column 3 asked)",
      (csv("1,2\n", { column = 3 })))
    for _, row in ipairs {
      { { column = 0 }, "option 'column': position of 1 or more expected, got 0" },
      { { column = "x", header = false }, "option 'column': a name needs a header" },
      { { separator = "ab" }, "option 'separator': one character other than a quote expected, got 'ab'" },
      { { separator = '"' }, "option 'separator': one character other than a quote expected, got '\"'" },
      { { dtype = "f23" }, "option 'dtype': unknown dtype 'f23'" },
      { { col = 1 }, "unknown option 'col'" },
      { { column = true }, "option 'column': number or string expected, got boolean" },
    } do
      local message = (csv("1\n", row[1])):gsub(" %(did you mean.-%?%)", "")
      assert.equal("bad argument #2 to 'csv' (" .. row[2] .. ")", message)
    end
    assert.equal("bad argument #1 to 'csv' (path expected, got no value)", S.message(gr.csv))
    local nothing, message, code = gr.csv("/nowhere/at.csv")
    assert.is_nil(nothing)
    assert.equal("/nowhere/at.csv: No such file or directory", message)
    assert.equal(2, code)
  end)
end)
