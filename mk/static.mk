# libgpureduce.a, for hosts that link the module in: one object, in which only the C API, luaopen_gpureduce and
# luaopen_gpureduce_luassert have names. And what an embedder needs beside it: the header, a pkg-config file, the
# examples.

.PHONY: static embed static-check headers
library = $(for_lua)/libgpureduce.a
pc = $(for_lua)/gpureduce.pc
OBJCOPY = objcopy
AR = ar
library_version := $(shell sed -n 's/.*GR_VERSION "gpureduce \(.*\)".*/\1/p' src/binding/state.h)

# Relocatable linking resolves all that the objects want of each other; then names of our own become local.
joined = $(CC) -r -nostdlib -o $(for_lua)/gpureduce.o $(binding_o) $(core_o)
localised = $(OBJCOPY) --wildcard --keep-global-symbol='gpureduce_*' --keep-global-symbol='luaopen_gpureduce*'
$(library): $(core_o) $(binding_o) $(for_lua)/linked
	$(call step,$@) $(joined) && $(localised) $(for_lua)/gpureduce.o && rm -f $@ && \
	  $(AR) rcsD $@ $(for_lua)/gpureduce.o

# What the library promises: no names but its own, and an installation that a host is compiled with.
static-check: $(library) $(module)
	@NVCC='$(NVCC)' mk/check_static.sh $(library) $(LUA) '$(CC)'

# PREFIX is where the files will be; what a static library needs besides is private.
LIBRARY_DIR = $(PREFIX)/lib
INCLUDE_DIR = $(PREFIX)/include
cuda_private = $(if $(filter cuda,$(flavour)),-L$(abspath $(toolkit_root))/lib64 -lcudart_static -lrt)
$(pc): mk/gpureduce.pc.in $(for_lua)/linked always
	@sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBRARY_DIR)|; s|@INCLUDEDIR@|$(INCLUDE_DIR)|' \
	  -e 's|@VERSION@|$(library_version)|; s|@LUA@|$(lua_version)|' \
	  -e 's|@PRIVATE@|$(strip $(cuda_private) -lm -ldl -lpthread)|' $< >$@

static: $(library) $(pc)

# The examples of hosts, and the programs that check the C API.
CXX = c++
host_flags = $(CFLAGS) -Wall -Wextra -Iinclude -I$(lua_incdir)
host_libs = $(lua_library) $(device_libs) -lm -ldl -lpthread
$(for_lua)/host_c: examples/embed/host.c $(library) include/gpureduce.h
	$(call step,$@) $(CC) $(host_flags) -std=c11 $(LDFLAGS) $< $(library) -o $@ $(host_libs)
$(for_lua)/host_cpp: examples/embed/host.cpp $(library) include/gpureduce.h
	$(call step,$@) $(CXX) $(host_flags) -std=c++17 $(LDFLAGS) $< $(library) -o $@ $(host_libs)
# This one loads the module as any Lua does, so Lua's functions must be there for it.
$(for_lua)/host_module: examples/embed/host.c $(module) include/gpureduce.h
	$(call step,$@) $(CC) $(host_flags) -std=c11 -DLOADS_MODULE $(LDFLAGS) -Wl,-E $< -o $@ $(lua_library) -lm -ldl
hosts = $(addprefix $(for_lua)/,host_c host_cpp host_module)
# Helpers of theirs that one of them leaves out are no mistake.
capi_tests = $(addprefix $(for_lua)/capi_,calls formulas same states hooks misuse race)
$(capi_tests) $(for_lua)/capi_fuzz: $(for_lua)/capi_%: spec/capi/%.c $(wildcard spec/capi/*.h) $(library) \
    include/gpureduce.h
	$(call step,$<) $(CC) $(host_flags) -std=c11 -D_DEFAULT_SOURCE -Wno-unused-function $(checked) $(LDFLAGS) $< \
	  $(library) -o $@ $(host_libs)
embed: $(hosts)

files_of_static = $(library)
files_of_install = $(module) $(if $(ROCK),,$(library))
files_of_embed = $(hosts)

# Those that the specs run, where the Lua has a library to link.
no_host = $(shell echo 'int main(void) { return 0; }' | $(CC) -x c - -o /dev/null $(lua_library) 2>&1 || echo no)
hosts_here = $(if $(no_host),,$(hosts) $(capi_tests))

# The headers by themselves, as C11 and as C++17 (that for MPI with an MPI_Comm of some kind).
header_flags = -fsyntax-only -pedantic-errors -Wall -Wextra -Werror -Wshadow -Wconversion -Iinclude -I$(lua_incdir)
headers:
	@for f in '$(CC) -std=c11 -x c' '$(CXX) -std=c++17 -x c++' \
	  $(if $(shell command -v clang),'clang -std=c11 -x c' 'clang++ -std=c++17 -x c++'); do \
	  printf '#include <lua.h>\n#include "gpureduce.h"\n' | $$f $(header_flags) - || exit 1; \
	  printf 'typedef void *MPI_Comm;\n#include <lua.h>\n#include "gpureduce_mpi.h"\n' | $$f $(header_flags) - || \
	    exit 1; done
