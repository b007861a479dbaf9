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
-- gpureduce.luassert, which is in the module's one file, needs luassert where it is asked for.
test_dependencies = {
  "busted",
}
build = {
  type = "make",
  -- NVCC, CUDA_HOME, CUDA_ARCHS and V come from luarocks' own arguments (mk/rock.mk): passed through here unset, they
  -- would hide what the Makefile finds.
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
test = {
  type = "busted",
}
