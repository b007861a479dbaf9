# make            build/gpureduce.so for $(LUA), with the CUDA backend if nvcc is found
# make demo       run the example on the Lua binary        make test      run the specs
# make test-all   the same under every Lua found, exact sums against MPFR, instruction sets (NEON in an emulator) against plain C
# make bench      time it
# make release    all GPU architectures                    make lint format install clean
# make deps       install what building needs (Debian)     make deps-test   and what the specs need
# make docs       write the reference and the types from docs/api           make coverage  how much the specs run
#
# Honours CC CFLAGS LUA LUA_INCDIR NVCC CUDA_HOME CUDA_ARCHS BUSTED, and for install PREFIX LIBDIR.

CC ?= cc
CFLAGS ?= -O2 -Wall -Wextra
LUA ?= lua5.4
BUSTED ?= busted

# ---- the Lua to build for ----

lua_version = $(shell $(LUA) -e 'print(jit and "luajit" or _VERSION:match("%d.%d"))')
lua_incdir_of = $(firstword $(foreach d,$(if $(filter luajit,$(1)),luajit-2.1,lua$(1) lua-$(1)),$(wildcard /usr/include/$(d) /usr/local/include/$(d))) /usr/include)
lua_incdir = $(or $(strip $(LUA_INCDIR)),$(call lua_incdir_of,$(lua_version)))

# ---- CUDA: found on PATH or in the usual place; NVCC= (empty) builds the CPU half alone ----

CUDA_HOME ?= $(firstword $(wildcard /usr/local/cuda /opt/cuda))
NVCC ?= $(shell command -v nvcc || { test -x "$(CUDA_HOME)/bin/nvcc" && echo "$(CUDA_HOME)/bin/nvcc"; })
# The toolkit's folder as nvcc itself says it: PATH may hold a wrapper.
CUDA_ROOT = $(if $(CUDA_HOME),$(CUDA_HOME),$(patsubst %/bin/nvcc,%,$(realpath $(NVCC))))
local_arch = $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
CUDA_ARCHS ?= $(or $(local_arch),90)
# Older compilers know only the first of the two ways to compress; the second halves it again.
compress := -Xfatbin -compress-all$(if $(strip $(NVCC)),$(if $(findstring compress-mode,$(shell $(NVCC) --help 2>/dev/null)), --compress-mode=size))
# 8.9 runs the code of 8.6, as newer chips of a family run the first one's.
release_archs = 75 80 86 90 100 120
last_arch = $(lastword $(CUDA_ARCHS))
# Neighbours share one pass of the compiler's front: their code is assembled from the same PTX, and the PTX of the last
# one's front is what newer chips get. The reductions need nothing that Turing lacks.
front_86 = 80
front_89 = 80
front_100 = 90
front_120 = 90
front = $(or $(front_$(1)),$(1))
gencode = $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(call front,$(a)),code=sm_$(a)) \
          -gencode arch=compute_$(call front,$(last_arch)),code=compute_$(call front,$(last_arch))

# ---- what is built ----

OUT ?= build
OBJ ?= build/obj

slow_c    = $(wildcard kernels/cpu/set_*.c kernels/cpu/exact_sets.c kernels/cpu/map_*.c) # first, so that none is left over at the end
core_c    = $(slow_c) $(filter-out $(slow_c),$(wildcard src/core/*.c kernels/cpu/*.c)) src/backend/cpu.c src/backend/pretend.c
binding_c = $(wildcard src/binding/*.c)
cuda_c    = $(filter-out src/backend/nocuda.c src/backend/cpu.c src/backend/pretend.c,$(wildcard src/backend/*.c))
cuda_cu   = $(wildcard kernels/cuda/*.cu)
lua_parts = $(wildcard lua/gpureduce/*.lua)
headers   = $(wildcard include/*.h src/*/*.h kernels/*.h kernels/*/*.h kernels/*/*.inc)
cu_headers = $(wildcard kernels/*.h kernels/cuda/*.h kernels/cuda/*.cuh)

# gcc clears structs by string instructions, which take some 30 clocks to start: a fifth of a small call.
by_stores := -mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign
by_stores := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),$(if $(findstring clang,$(shell $(CC) --version)),,$(by_stores)))
base = $(CFLAGS) -std=c11 -D_DEFAULT_SOURCE -ffp-contract=off -fPIC -fvisibility=hidden -fno-plt -pthread -I. $(by_stores)
# -O1 is for the host code in them, which only launches, and calls nothing that throws or raises errors of Lua: no unwind
# tables, 57 KB less. Kernels are always compiled at -O3.
nvflags = -O1 -std=c++17 -fmad=false -I. $(compress) -Xcompiler -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-fno-asynchronous-unwind-tables $(gencode)

ifneq ($(strip $(NVCC)),)
flavour = cuda
cuda_o = $(cuda_cu:%.cu=$(OBJ)/%.$(subst $(eval) ,-,$(CUDA_ARCHS)).o)
device_o = $(cuda_c:%.c=$(OBJ)/%.o) $(cuda_o)
device_libs = -L$(CUDA_ROOT)/lib64 -lcudart_static -lrt
else
flavour = cpu
device_o = $(OBJ)/src/backend/nocuda.o
endif
core_o = $(core_c:%.c=$(OBJ)/%.o) $(device_o)
libs = $(device_libs) -lm -ldl -lpthread

LIB_EXTENSION ?= so
LIBFLAG ?= -shared
module = $(OUT)/gpureduce.$(LIB_EXTENSION)
binding_o = $(binding_c:src/binding/%.c=$(OUT)/obj-$(lua_version)/%.o) $(OUT)/obj-$(lua_version)/embedded.o

.PHONY: all deps deps-test demo test test-all oracle sets neon bits sanitize coverage bench docs lint format release install clean
.DELETE_ON_ERROR:

all: $(module)

# Unloading a library that has registered GPU code is not safe, hence nodelete; liblua comes from the host.
$(module): $(binding_o) $(core_o) build/flavour-$(flavour)
	@mkdir -p $(@D)
	$(CC) $(LIBFLAG) -Wl,-z,nodelete -Wl,--exclude-libs,ALL $(LDFLAGS) -o $@ $(binding_o) $(core_o) $(libs)
	@echo "built $@ for Lua $(lua_version): $(what), $$(du -h $@ | cut -f1)"

what = $(if $(filter cuda,$(flavour)),CPU and CUDA ($$(strings -d $(cuda_o) | grep -c '^_Z') kernels for architectures $(CUDA_ARCHS)),CPU alone (no nvcc))

# Relink when the flavour changes.
build/flavour-$(flavour):
	@mkdir -p build && rm -f build/flavour-* && touch $@

$(OBJ)/src/backend/cuda%.o: src/backend/cuda%.c $(headers)
	@mkdir -p $(@D)
	$(CC) $(base) -isystem $(CUDA_ROOT)/include -c $< -o $@

# The CPU's kernels are most of its half's build: of -O3 they need the vectoriser, and the instruction sets, whose vectors
# are written out, not all of -O2. Those that no ordinary processor of this kind picks get by with less. clang knows none of this.
gcc = $(if $(findstring clang,$(shell $(CC) --version)),,$(1))
kernel_flags := $(call gcc,-ftree-vectorize -fvect-cost-model=dynamic)
set_flags := $(call gcc,-fno-tree-dominator-opts -fno-gcse -fno-tree-pre -fno-tree-slp-vectorize -fno-thread-jumps -fno-code-hoisting)
$(OBJ)/kernels/cpu/%.o: CFLAGS += $(kernel_flags)
$(OBJ)/kernels/cpu/histogram.o: CFLAGS += -O3
$(OBJ)/kernels/cpu/set_%.o $(OBJ)/kernels/cpu/exact_sets.o: CFLAGS += $(set_flags)
$(OBJ)/kernels/cpu/set_sse2.o: CFLAGS += $(call gcc,-O1 -ftree-vrp)
ifneq ($(findstring x86_64,$(shell $(CC) -dumpmachine)),)
$(OBJ)/kernels/cpu/set_generic.o $(OBJ)/kernels/cpu/map_base.o: CFLAGS += $(call gcc,-O1 -fno-tree-vectorize)
endif

# Roots and comparisons become vector code only where nobody looks at errno and at traps.
$(OBJ)/kernels/cpu/map_%.o: CFLAGS += -fno-math-errno -fno-trapping-math $(call gcc,--param vect-epilogues-nomask=0)

$(OBJ)/%.o: %.c $(headers)
	@mkdir -p $(@D)
	$(CC) $(base) -c $< -o $@

$(OBJ)/kernels/cuda/reduce%.o: front_80 = $(turing)
$(OBJ)/kernels/cuda/reduce%.o: front_86 = $(or $(turing),80)
$(OBJ)/kernels/cuda/reduce%.o: front_89 = $(or $(turing),80)
turing = $(filter 75,$(CUDA_ARCHS))
$(OBJ)/%.$(subst $(eval) ,-,$(CUDA_ARCHS)).o: %.cu $(cu_headers)
	@mkdir -p $(@D)
	$(NVCC) $(nvflags) -c $< -o $@

$(OUT)/obj-$(lua_version)/%.o: src/binding/%.c $(headers)
	@mkdir -p $(@D)
	$(CC) $(base) -I$(lua_incdir) -c $< -o $@

$(OUT)/obj-$(lua_version)/embedded.o: build/embedded.c
	@mkdir -p $(@D)
	$(CC) $(base) -c $< -o $@

# Each Lua part as one C string a line, so that one file is the whole module.
build/embedded.c: $(lua_parts) Makefile
	@mkdir -p $(@D)
	@{ echo '#include "src/binding/embedded.h"'; echo '#include <stddef.h>'; echo 'const gr_embedded gr_embedded_parts[] = {'; \
	  for f in $(lua_parts); do echo "{\"$$(basename $$f .lua)\","; sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $$f; echo '},'; done; \
	  echo '{NULL, NULL}};'; } >$@

# ---- using it ----

apt = apt-get install -qq -y --no-install-recommends
deps:
	apt-get update -qq
	$(apt) gcc libc6-dev lua5.4 liblua5.4-dev

deps-test: deps
	$(apt) g++ lua5.3 liblua5.3-dev lua5.1 liblua5.1-0-dev luajit libluajit-5.1-dev lua-busted lua-check libmpfr-dev \
	  gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static

demo: all
	LUA_CPATH="$(OUT)/?.so;;" $(LUA) examples/bytes.lua $$(command -v $(LUA))

test: all
	LUA_CPATH="$(CURDIR)/$(OUT)/?.so;;" $(BUSTED) --lua=$$(command -v $(LUA)) --cpath="$(CURDIR)/$(OUT)/?.so"

luas = $(foreach l,lua5.4 lua5.3 lua5.1 luajit,$(if $(shell command -v $(l)),$(l)))
test-all: oracle sets neon bits $(luas:%=test-%)
test-%:
	$(MAKE) --no-print-directory test LUA=$* LUA_INCDIR= OUT=build/$* BUSTED="$(BUSTED)"

# Exact sums against MPFR, 100000 vectors; spec/exact/mutate.sh asks whether it would notice a fault.
oracle: $(filter-out $(device_o),$(core_o))
	$(CC) $(base) spec/exact/oracle.c $(OBJ)/src/core/exact_round.o $(filter $(OBJ)/kernels/cpu/%,$(core_o)) -o build/oracle -lmpfr -lgmp -lm -lpthread
	build/oracle

# Every instruction set of this CPU against plain C, kernel by kernel; and NEON's, by an emulator of 64-bit ARM.
sets: $(filter $(OBJ)/kernels/cpu/%,$(core_o))
	$(CC) $(base) $(LDFLAGS) spec/sets.c $^ -o $(OBJ)/sets -lm
	$(EMULATOR) $(OBJ)/sets
neon:
	$(if $(shell command -v aarch64-linux-gnu-gcc && command -v qemu-aarch64-static),$(MAKE) --no-print-directory sets NVCC= \
	  CC=aarch64-linux-gnu-gcc OBJ=build/neon LDFLAGS=-static EMULATOR=qemu-aarch64-static,@echo "neon: no compiler or emulator for it here")

# Every operation and dtype on 200 random sizes against what an H200 gave, to the bit.
bits: all
	LUA_CPATH="$(CURDIR)/$(OUT)/?.so;;" $(LUA) spec/bits.lua compare spec/golden/bits_h200.txt

bench: all $(if $(filter cuda,$(flavour)),build/bench/ladder_peers)
	LUA_CPATH="$(CURDIR)/$(OUT)/?.so;;" $(LUA) bench/spine.lua
	LUA_CPATH="$(CURDIR)/$(OUT)/?.so;;" $(LUA) bench/ladder.lua

# cuBLAS and CUB, for the benchmark of the ladder alone; without cuBLAS it runs without its peers.
build/bench/ladder_peers: bench/peers/ladder_peers.cu
	@mkdir -p $(@D)
	-$(NVCC) -O3 -std=c++17 $(gencode) $< -o $@ -lcublas

# The specs under AddressSanitizer and UBSan, with a collector that runs all the time (see spec/support.lua).
sanitize:
	$(MAKE) --no-print-directory test OUT=build/asan OBJ=build/asan/obj NVCC= CFLAGS="-O1 -g -Wall -Wextra -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow" LDFLAGS=-fsanitize=address,undefined \
	  BUSTED="env LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 $(BUSTED)"

# Line coverage by the specs: of src/ (needs gcovr) and of lua/, with the lines that no spec runs.
coverage:
	rm -rf build/coverage
	$(MAKE) --no-print-directory test OUT=build/coverage OBJ=build/coverage/obj NVCC= CFLAGS="-O1 -g -Wall -Wextra --coverage -fprofile-update=atomic" LDFLAGS=--coverage
	gcovr --root . --filter src/ --object-directory build/coverage build/coverage | tee build/coverage/c.txt
	LUA_CPATH="$(CURDIR)/build/coverage/?.so;;" $(BUSTED) --helper=spec/coverage.lua --lua=$$(command -v $(LUA)) --cpath="$(CURDIR)/build/coverage/?.so" $(lua_specs) | tee build/coverage/lua.txt

# The specs that run the module's Lua parts.
lua_specs = $(addprefix spec/,$(addsuffix _spec.lua,pictures docs guide errors inout))

# docs/reference.md and library/gpureduce.lua come from the tables in docs/api.
docs:
	$(LUA) docs/generate.lua

lint: all
	luacheck -q .
	LUA_CPATH="$(CURDIR)/$(OUT)/?.so;;" $(LUA) docs/generate.lua --check
	for f in $(core_c) $(binding_c) src/backend/nocuda.c; do \
	  $(CC) $(base) -Werror -Wshadow -Wstrict-prototypes -Wpointer-arith -I$(lua_incdir) -fsyntax-only $$f || exit 1; done

format:
	clang-format -i $(wildcard src/*/*.c src/*/*.h kernels/*.h kernels/cpu/*.c kernels/cpu/*.h kernels/cuda/*.cu kernels/cuda/*.cuh kernels/cuda/*.h)

release:
	$(MAKE) CUDA_ARCHS="$(release_archs)" OUT=build/release LDFLAGS="$(LDFLAGS) -Wl,-s"

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib/lua/$(patsubst luajit,5.1,$(lua_version))
install: all
	install -d $(DESTDIR)$(LIBDIR)
	install -m 755 $(module) $(DESTDIR)$(LIBDIR)/

clean:
	rm -rf build
