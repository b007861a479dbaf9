rockspec_format = "3.0"
package = "gpureduce-mpi"
version = "scm-1"
source = {
  url = "git+https://github.com/gpureduce/gpureduce.git",
}
description = {
  summary = "Ranks for gpureduce: reductions over MPI with the bits of one process",
  detailed = [[
    Communicators of MPI for the module gpureduce, whose sums, dots, scans and histograms over many ranks then have the
    same bits as over one. Built by mpicc; the module itself needs no MPI.]],
  homepage = "https://github.com/gpureduce/gpureduce",
  license = "MIT",
  labels = { "mpi", "hpc" },
}
dependencies = {
  "lua >= 5.1",
  "gpureduce",
}
build = {
  type = "make",
  build_target = "mpi-alone",
  install_target = "install-mpi",
  variables = {
    ROCK = "yes",
    CFLAGS = "$(CFLAGS)",
    LIBFLAG = "$(LIBFLAG)",
    LIB_EXTENSION = "$(LIB_EXTENSION)",
    LUA = "$(LUA)",
    LUA_INCDIR = "$(LUA_INCDIR)",
  },
  install_variables = {
    LIBDIR = "$(LIBDIR)",
  },
}
