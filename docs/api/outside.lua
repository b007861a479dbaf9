local c = ...

return {
  title = "Memory and files of others",
  text = [[
An array may lie in memory that the host program, LuaJIT's FFI or another module owns: on the CPU nothing is copied, on
a GPU the owner's memory is the host side of the array. The owner says when it has written (`touch`), and asks for
results of the device with `sync`.

By DLPack (https://dmlc.github.io/dlpack/latest/) other libraries of the process hand over arrays and take them, on the
CPU and on GPUs: [Python's](python.md) do, within lupa. A tensor is an address that has one owner at a time. Who gets it
calls its deleter, once, when it is done.]],
  objects = {
    {
      name = "tensor", class = "gpureduce.dlpack", self = "d",
      text = "An array for another library. Until somebody consumes it, it is its own owner: collected or released, it "
        .. "calls its deleter. Whoever takes its pointer says so by `consume`, and calls the deleter from then on; any "
        .. "thread may, also after the Lua state has been closed. The array's memory stays until then.",
      make = "gr.ones(1):dlpack()",
    },
  },
  entries = {
    {
      name = "wrap",
      text = "Make an array of memory that somebody else owns, without a copy.",
      params = {
        { "pointer", "any", "light userdata, LuaJIT cdata (an array or a pointer), an address as a number, an array "
          .. "of the lua-carray rock, or an object with the methods `getSize` (bytes) and `getFFIPointer` or "
          .. "`getPointer`: LÖVE's Data" },
        { "dtype", "dtype?", "the type of the elements", default = 'the cdata\'s own; of data what `getFormat` or '
          .. '`getBitDepth` says (`rgba16f`: f16), else `"u8"`; of others `"f32"`' },
        { "options", "options?", "needed, but for a carray, which knows its dtype and length and takes `volatile` "
          .. "alone, and for an array of the FFI and for data, which know them too" } },
      options = {
        { "n", "integer?", "how many elements; needed but where the memory knows",
          default = "all of the FFI's array, or of the data" },
        c.dtype_option,
        { "offset", "integer?", "bytes from the pointer to the first element", default = "0" },
        { "stride", "integer?", "bytes from one element to the next; what lies between is never written",
          default = "the size of an element" },
        { "anchor", "any?", "kept alive as long as the array or a view of it (cdata is its own anchor; "
          .. "so is data, which takes no other)" },
        { "volatile", "boolean?", "the owner writes at any time: every use looks at the memory again",
          default = "false" },
      },
      returns = { { "array", "of the device in use" } },
      dtypes = "All; of a carray those that it shares. Of cdata that of the elements (bool: u8; uint16_t may be called "
        .. "f16 or bf16); void, structs and uint64_t have none, so that the call has to say one.",
      units = "Offset and stride: bytes.",
      errors = "No pointer, or a null pointer; an address, offset or stride that is no multiple of the element's size; "
        .. "a negative n; a dtype or n that disagrees with the type of cdata. Elements that are const are not written. "
        .. "Using a carray that has become shorter, or writing to one that is read-only, raises. Data's word for its "
        .. "size and pointer is believed; n must stay within it.",
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
      text = "Say that somebody else has written these elements: the owner of wrapped memory or of a tensor's, or who "
        .. "has a tensor of the array.",
      params = { { "a", "array", "an array of wrapped memory, or one that `dlpack` gave out" },
        { "i", "integer?", "the first one; none of a transposed matrix", default = "1" },
        { "j", "integer?", "the last one; negative positions count from the end", default = "n" } },
      returns = { { "array", "a itself" } },
      errors = "Another array than one of wrapped memory; positions out of range.",
      cost = "O(1), and a copy where the other side has newer elements within 64 KiB of the ends.",
      waits = "Only then.",
      example = [[
print(pcall(gr.touch, gr.ones(3)))]],
      output = "false\tbad argument #1 to 'touch' (array of wrapped memory expected)",
    },
    {
      name = "fromdlpack",
      text = "Make an array of another library's tensor, without a copy. It has the tensor from then on, and calls its "
        .. "deleter when the last view goes; when the call raises, at once.",
      params = { { "tensor", "any", "its address: light userdata, cdata or a number; or what `dlpack` gave" },
        { "options", "options?", "" } },
      options = {
        { "versioned", "boolean?", "a `DLManagedTensorVersioned`, as of DLPack 1.0; false: a `DLManagedTensor`, from "
          .. "before that, which looks no different", default = "true; what `dlpack` gave knows it" },
        { "readonly", "boolean?", "the array refuses writes, as it does where the tensor says so", default = "false" },
        { "volatile", "boolean?", "others write at any time: every use on the other side looks at the memory again",
          default = "false" },
        { "copy", "boolean?", "an array of its own, on the device in use; the deleter is called at once",
          default = "false" },
        { "stream", "integer?", "CUDA's stream on which the tensor has been made: what uses the array comes after it. "
          .. "1: the default one, 2: the thread's own, beyond: a handle; -1: none. Memory of the host has none",
          default = "1" },
      },
      returns = { { "array", "of the tensor's device: memory of the host belongs to the device in use, as wrapped "
        .. "memory does, and so does managed memory on a GPU" } },
      shapes = "Of one dimension with any stride but 0: a vector. Of two, row by row or column by column and evenly: "
        .. "a matrix, or a transposed one. Of none: one element. Other strides, such as those of a part of each row, "
        .. "raise without `copy`; more dimensions raise.",
      dtypes = "All; booleans are u8. Others raise, by name: unsigned integers of 64 bits, complex numbers, floats of "
        .. "8 bits and less, vectors.",
      errors = "No address, a null pointer; another major version; a device that is not there; an address that is no "
        .. "multiple of the element's size. What else there is in the tensor is believed. With `gr.safe` the call is "
        .. "refused, and the tensor stays the caller's.",
      cost = "O(1); with `copy` O(n).",
      waits = "Neither. When an array of a GPU's memory goes, a default stream waits for the work that was queued, and "
        .. "the deleter is called; with another stream, which may be gone by then, and with -1 the host waits before.",
      example = [[
local a = gr.arange(1, 6):matrix(2)
local b = gr.fromdlpack(a:transpose():dlpack { readonly = true })
print(b.rows, b[2]:sum())
print(pcall(gr.fill, b, 0))]],
      output = "3\t7.0\n"
        .. "false\tbad argument #1 to 'fill' (the memory is read-only)",
    },
    {
      name = "dlpack",
      text = "Make a tensor of an array for another library, without a copy: views, matrices and transposed matrices "
        .. "as they lie. Both see what the other writes; across devices the array is told by `touch`, and brings its "
        .. "own writes there by `prefetch`.",
      params = { { "a", "array", "the array" }, { "options", "options?", "" } },
      options = {
        { "versioned", "boolean?", "as of DLPack 1.0 (1.1); false: from before that", default = "true" },
        { "readonly", "boolean?", "others are told not to write", default = "false" },
        { "copy", "boolean?", "of a copy on the device in use, which nobody else has", default = "false" },
        { "stream", "integer?", "CUDA's stream on which the tensor will be used, as of `fromdlpack`: its work comes "
          .. "after what has been queued here", default = "1" },
      },
      returns = { { "tensor", "of the memory that kernels use: the host's, or the device's" } },
      errors = "Memory of the host that was wrapped for a device: the copy there is nobody else's. Read-only memory "
        .. "for a tensor from before 1.0, which cannot say so. With `gr.safe` the call is refused.",
      cost = "O(1), and all of the storage is brought to the device; with `copy` O(n).",
      waits = "On the CPU neither. Else copies up what is stale on the device.",
      example = [[
local d = gr.ones(4):dlpack()
local a = gr.fromdlpack(d)
print(a:sum(), d)]],
      output = "4.0\tgpureduce.dlpack (consumed)",
    },
    {
      of = "tensor", name = "pointer",
      text = "Its address, for whoever takes it over: C code, or `ffi.cast`.",
      params = {}, returns = { { "any", "light userdata" } },
      errors = "A tensor that has been consumed or released.", cost = "O(1).", waits = c.no_work,
      example = [[print(type(gr.ones(3):dlpack():pointer()))]],
      output = "userdata",
    },
    {
      of = "tensor", name = "address",
      text = "The same as a number, for languages that know no light userdata, such as Python.",
      params = {}, returns = { { "integer", "below 2^53" } },
      errors = "As of `pointer`.", cost = "O(1).", waits = c.no_work,
      example = [[print(gr.ones(3):dlpack():address() > 0)]],
      output = "true",
    },
    {
      of = "tensor", name = "consume",
      text = "Say that the tensor has been taken over: its deleter is for somebody else to call.",
      params = {}, returns = {},
      errors = "As of `pointer`.", cost = "O(1).", waits = c.no_work,
      example = [[
local d = gr.ones(3):dlpack()
local address = d:address()
d:consume() -- ours now
print(gr.fromdlpack(address):sum(), d)]],
      output = "3.0\tgpureduce.dlpack (consumed)",
    },
    {
      of = "tensor", name = "release",
      text = "Call the deleter now, unless it has been consumed. `local d <close> = a:dlpack()` does so at the "
        .. "block's end.",
      params = {}, returns = {},
      errors = "What is no tensor.", cost = "O(1).", waits = c.no_work,
      example = [[
local d = gr.ones(3):dlpack()
d:release()
print(d, pcall(d.pointer, d))]],
      output = "gpureduce.dlpack (consumed)\tfalse\tbad argument #1 to 'pointer' (gpureduce.dlpack has been consumed)",
    },
    {
      of = "tensor", name = "destructor",
      text = "The address of a function for Python's `PyCapsule_New`, which calls the deleter of a capsule that "
        .. "nobody has consumed ([docs/python.md](python.md)).",
      params = {}, returns = { { "integer", "the address" } },
      errors = "As of `pointer`; a process without Python.", cost = "O(1).", waits = c.no_work,
      example = [[
local d = gr.ones(3):dlpack()
print(pcall(d.destructor, d))]],
      output = "false\tgpureduce: there is no Python in this process",
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
