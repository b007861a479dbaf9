local c = ...

return {
  title = "Memory and files of others",
  text = [[
An array may lie in memory that the host program, LuaJIT's FFI or another module owns: on the CPU nothing is copied, on
a GPU the owner's memory is the host side of the array. The owner says when it has written (`touch`), and asks for
results of the device with `sync`.]],
  entries = {
    {
      name = "wrap",
      text = "Make an array of memory that somebody else owns, without a copy.",
      params = {
        { "pointer", "any", "light userdata, LuaJIT cdata (an array or a pointer), an address as a number, or an array "
          .. "of the lua-carray rock" },
        { "dtype", "dtype?", "the type of the elements", default = 'the cdata\'s own; else `"f32"`' },
        { "options", "options?", "needed, but for a carray, which knows its dtype and length and takes `volatile` "
          .. "alone, and for an array of the FFI, which knows them too" } },
      options = {
        { "n", "integer?", "how many elements; needed but where the memory knows", default = "all of the FFI's array" },
        c.dtype_option,
        { "offset", "integer?", "bytes from the pointer to the first element", default = "0" },
        { "stride", "integer?", "bytes from one element to the next; what lies between is never written",
          default = "the size of an element" },
        { "anchor", "any?", "kept alive as long as the array or a view of it (cdata is its own anchor)" },
        { "volatile", "boolean?", "the owner writes at any time: every use looks at the memory again",
          default = "false" },
      },
      returns = { { "array", "of the device in use" } },
      dtypes = "All; of a carray those that it shares. Of cdata that of the elements (bool: u8; uint16_t may be called "
        .. "f16 or bf16); void, structs and uint64_t have none, so that the call has to say one.",
      units = "Offset and stride: bytes.",
      errors = "No pointer, or a null pointer; an address, offset or stride that is no multiple of the element's size; "
        .. "a negative n; a dtype or n that disagrees with the type of cdata. Elements that are const are not written. "
        .. "Using a carray that has become shorter, or writing to one that is read-only, raises.",
      cost = "O(1).",
      waits = "Neither. With `volatile` each use on a GPU copies up again what it reads.",
      example = [[
if jit then -- an array of the FFI
  local x = require "ffi".new("float[3]", 1, 2, 3)
  print(gr.wrap(x):sum())
else
  print(pcall(gr.wrap, 0, { n = 3 }))
end]],
      output = "...",
    },
    {
      name = "touch",
      text = "Say that the owner of wrapped memory has written these elements.",
      params = { { "a", "array", "an array of wrapped memory" }, { "i", "integer?", "the first one", default = "1" },
        { "j", "integer?", "the last one; negative positions count from the end", default = "n" } },
      returns = { { "array", "a itself" } },
      errors = "Another array than one of wrapped memory; positions out of range.",
      cost = "O(1), and a copy where the device has newer elements within 64 KiB of the ends.",
      waits = "Only then.",
      example = [[
print(pcall(gr.touch, gr.ones(3)))]],
      output = "false\tbad argument #1 to 'touch' (array of wrapped memory expected)",
    },
    {
      name = "csv",
      text = "Read one column of numbers from a CSV file. Numbers have a decimal point, "
        .. "whatever the host's locale says.",
      params = { { "path", "string", "the file's name" },
        { "dtype", "dtype?", "the type of the elements", default = '`"f64"`' },
        { "options", "options?", "" } },
      options = {
        { "column", "integer|string?", "which one: its position, or its name in the first line", default = "1" },
        { "separator", "string?", "one character", default = '`","`' },
        { "header", "boolean?", "the first line has the names", default = "true when `column` is a name" },
        c.dtype_option,
      },
      returns = { { "array?", "the numbers, or nil when the system refuses" },
        { "string?", "the column's name, if there is a header; after nil the message" },
        { "integer?", "after nil the system's error number" } },
      errors = "A field that is no number, a row with more or fewer fields than the first, quotes that do not end, a "
        .. "number that does not fit: with the file's name and line. A column that is not there. A number or a header "
        .. "of more than 1 MiB; more than 256 MiB of what is no file of its own (a pipe, a device).",
      cost = "O(bytes of the file): some 100 MB a second. Memory for the column alone.",
      waits = "Neither.",
      example = [[
local name = os.tmpname()
local file = io.open(name, "w")
file:write('body,"mass"\nsun,1.5\nearth,2\n')
file:close()
local mass, title = gr.csv(name, { column = "mass" })
print(mass:sum(), title)
os.remove(name)]],
      output = "3.5\tmass",
    },
  },
}
