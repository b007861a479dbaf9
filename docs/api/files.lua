local c = ...

return {
  title = "Files",
  text = "NPY files (names that end in `.npy`) know their dtype and shape; all others are raw elements.",
  entries = {
    {
      name = "load",
      text = "Make an array from a file.",
      params = { { "path", "string", "the file's name" },
        { "dtype", "dtype?", "of a raw file; an NPY file has its own", default = '`"f32"`' },
        { "options", "options?", "" } },
      options = {
        c.dtype_option,
        { "offset", "integer?", "raw files: where to begin, in bytes", default = "0" },
        { "count", "integer?", "raw files: how many elements", default = "all that follow" },
        { "map", "boolean?", "map the file instead of reading it: pages come when they are used", default = "false" },
      },
      returns = { { "array?", "the elements, or nil when the system refuses" },
        { "table|string|nil", "of NPY files the shape; after nil the message" },
        { "integer?", "after nil the system's error number" } },
      dtypes = "All. NPY: what NumPy calls u1 i1 i2 u2 i4 u4 i8 f2 f4 f8 and bool (as u8), little or big endian.",
      errors = "A dtype with NPY; a damaged file, named with the reason. What the system refuses returns nil, message, code.",
      cost = "O(n).",
      waits = "Neither: the elements stay on the host until a kernel needs them.",
      example = [[
local name = os.tmpname()
gr.arange(1, 4, "u8"):save(name)
print(gr.load(name, "u8"):sum(), gr.load(name, "u8", { offset = 2 })[1])
os.remove(name)
print(gr.load("no such file"))]],
      output = "10\t3\nnil\tno such file: No such file or directory\t2",
    },
    {
      name = "save",
      text = "Write an array to a file: NPY when the name ends in `.npy`, else the raw elements.",
      params = { c.a, { "path", "string", "the file's name" }, { "options", "options?", "" } },
      options = { { "shape", "integer[]?", "NPY: lengths whose product is n", default = "`{n}`" } },
      returns = { { "boolean?", "true, or nil when the system refuses" }, { "string?", "after nil the message" },
        { "integer?", "after nil the system's error number" } },
      errors = "A shape whose product is not n. What the system refuses returns nil, message, code.",
      cost = "O(n).",
      waits = "Waits, and copies down what is stale on the host.",
      example = [[
local name = os.tmpname() .. ".npy"
gr.zeros(6):save(name, { shape = { 2, 3 } })
local a, shape = gr.load(name)
print(#a, a.dtype, shape[1], shape[2])
os.remove(name)]],
      output = "6\tf32\t2\t3",
    },
  },
}
