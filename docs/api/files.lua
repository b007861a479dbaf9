local c = ...

return {
  title = "Files",
  text = [[
NPY files (names that end in `.npy`) know their dtype and shape; all others are raw elements.

**A file is replaced whole.** `save` (and `path` of an SVG) writes beside the target, brings the bytes to the disk, and
gives them the target's name: whoever opens the name sees the old file or the new one, and so does the next start after
a power cut. Where that fails (a full disk, a limit, a killed process) the old file is what it was; a process that is
killed outright leaves nothing either where the file system has files without a name (ext4, XFS, Btrfs, tmpfs), but
between the two system calls that name the finished file; there, and elsewhere, perhaps `.gpureduce-*.tmp`. Symbolic
links are followed. The new file has the old one's mode, and its owner where the system allows that; a new name has the
mode of any new file. Other hard links to the old file keep the old bytes. The folder must be writable. What is no
regular file (a terminal, a pipe, a device) is written directly: `/dev/stdout` goes on where the program's output is.

**A file is read into memory of the array's own**, unless `map` asks for a mapping: what anybody does to the file later
does not show. What has no size of its own (a pipe, a device, a file of `/proc`) is read to its end, up to 256 MiB; with
`count` as much as is asked for, so that `gr.load("/dev/urandom", "u8", { count = 16 })` works. Pipes wait for their
other end, to be read and to be written; Ctrl-C, a hook or the seconds of `gr.safe` end the wait, and the reading or
writing of a large file.

**A mapping** is private: changes to the array stay in memory, and saving to the mapped file is safe, since that
replaces it. But the system alone decides what a mapping shows: bytes that another program writes into the file may show
or not, and when it makes the file shorter, the next look beyond its new end ends the process (SIGBUS). Map files that
nobody else writes in place; those that are replaced by renaming are safe. An NPY file that is big-endian, in Fortran
order, or begins at an odd place is read instead.]],
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
        { "map", "boolean?", "map the file instead of reading it: pages come when they are used, and nobody may "
          .. "shorten it (above)", default = "false" },
        { "comm", "any?", "a communicator of `gpureduce.mpi`: each rank gets its part, of a matrix its rows, and "
          .. "as second result where that begins ([ranks.md](ranks.md))" },
      },
      returns = { { "array?", "the elements, of an NPY file of two dimensions as a matrix; or nil when the system "
        .. "refuses" },
        { "table|string|nil", "of NPY files the shape; after nil the message" },
        { "integer?", "after nil the system's error number" } },
      dtypes = "All. NPY (versions 1 to 3, headers up to 1 MiB): what NumPy calls u1 i1 i2 u2 i4 u4 i8 f2 f4 f8 and "
        .. "bool (as u8), little or big endian, in C or Fortran order: the elements come in C order.",
      errors = "A dtype with NPY; a path with a NUL; a damaged file, named with the reason; a stream without end. What "
        .. "the system refuses returns nil, message, code.",
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
      text = "Write an array to a file: NPY when the name ends in `.npy`, else the raw elements. "
        .. "The old file is replaced whole.",
      params = { c.a, { "path", "string", "the file's name" }, { "options", "options?", "" } },
      options = { { "shape", "integer[]?", "NPY: lengths whose product is n", default = "the array's shape" },
        { "comm", "any?", "a communicator of `gpureduce.mpi`: the parts of all ranks become one file" } },
      returns = { { "boolean?", "true, or nil when the system refuses" }, { "string?", "after nil the message" },
        { "integer?", "after nil the system's error number" } },
      errors = "A shape whose product is not n; a path with a NUL. What the system refuses returns nil, message, code.",
      cost = "O(n), and the disk's time to write it.",
      waits = "Waits, also for the disk, and copies down what is stale on the host.",
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
