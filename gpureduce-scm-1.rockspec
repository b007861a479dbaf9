rockspec_format = "3.0"
package = "gpureduce"
version = "scm-1"
source = {
  url = "git+https://github.com/gpureduce/gpureduce.git",
}
description = {
  summary = "Typed arrays on the GPU or the CPU: dot, reduce, histogram, scan, with the same bits on both",
  detailed = [[
    A C module that keeps typed arrays on the GPU (or in host memory where there is none), moves bytes only
    when somebody needs them, and reduces them with hand-written CUDA and SIMD kernels. Results have the same
    bits on every machine. Builds without CUDA; lights up where nvcc is found.]],
  homepage = "https://github.com/gpureduce/gpureduce",
  license = "MIT",
  labels = { "gpu", "cuda", "array", "simd", "histogram" },
}
dependencies = {
  "lua >= 5.1",
}
test_dependencies = {
  "busted",
}
build = {
  type = "make",
  -- NVCC and CUDA_HOME are left to the Makefile: passed through unset they would hide what it finds.
  build_variables = {
    CFLAGS = "$(CFLAGS) -O3",
    LIBFLAG = "$(LIBFLAG)",
    LIB_EXTENSION = "$(LIB_EXTENSION)",
    LUA = "$(LUA)",
    LUA_INCDIR = "$(LUA_INCDIR)",
  },
  install_variables = {
    LUA = "$(LUA)",
    LUA_INCDIR = "$(LUA_INCDIR)",
    LIB_EXTENSION = "$(LIB_EXTENSION)",
    LIBDIR = "$(LIBDIR)",
  },
}
test = {
  type = "busted",
}
