# make help       these lines
# make            build/lua5.4/gpureduce.so for $(LUA), with the CUDA backend if nvcc is found (NVCC= leaves it out)
# make demo       run the example on the Lua binary        make test      run the specs
# make test-all   the same under every Lua found, exact sums against MPFR, instruction sets (NEON in an emulator)
#                 against plain C                          make bench     time it
# make release    all GPU architectures                    make lint format install clean
# make deps       install what building needs (Debian)     make deps-test   and what the specs need
# make deps-python   and what `make python` needs: arrays of NumPy in Lua and back
# make sweep fuzz fuzz-asan formulas   every allocation fails once; random calls and formulas beside a model
# make mpi        gpureduce/mpi.so, for ranks, where mpicc is (make deps-mpi)   make ranks   4096 ranks in one process
# make docs       write the reference and the types from docs/api           make coverage  how much the specs run
# make static embed   the library for hosts that link it, and the examples of hosts (CHECKED=1: handles are checked)
# make engines    the module in the hosts of Lua that are installed (make deps-engines: LÖVE, Neovim, HAProxy)
# make reproducible   two builds in two folders give the same bytes         make cppcheck  another look at the C
#
# It uses all cores (-j1 one), and says a line a file (V=1 whole commands).
# Honours CC CFLAGS LDFLAGS LUA LUA_INCDIR NVCC CUDA_HOME CUDA_ARCHS BUSTED, and for install PREFIX LIBDIR DESTDIR, from
# the environment or the command line; all other names only from the command line.

ifneq ($(word 2,$(MAKECMDGOALS)),)
# Several goals: one after another, each on all cores.
.PHONY: $(MAKECMDGOALS)
$(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS)): $(firstword $(MAKECMDGOALS)) ; @:
$(firstword $(MAKECMDGOALS)):
	@for goal in $(MAKECMDGOALS); do $(MAKE) --no-print-directory $$goal || exit; done
else

CC ?= cc
CFLAGS ?= -O2 -Wall -Wextra
LUA ?= lua5.4
BUSTED ?= busted
BUILD = build
CHECKED =
# Checked objects have a folder of their own, wherever the others lie.
ifneq ($(CHECKED),)
override BUILD := $(patsubst %/checked,%,$(BUILD))/checked
endif
OBJ = $(BUILD)/obj
V =

.PHONY: all help deps deps-test deps-python demo test bench docs format format-check release install clean always
.DELETE_ON_ERROR:
.DEFAULT_GOAL = all

include mk/rock.mk mk/lua.mk mk/flags.mk mk/cuda.mk mk/progress.mk

# ---- what is built ----

plain_c   = $(wildcard src/core/*.c src/core/*/*.c src/capi/*.c kernels/cpu/*.c kernels/cpu/*/*.c kernels/ladder/*.c)
core_c    = $(slow_c) $(filter-out $(slow_c),$(plain_c)) src/backends.c $(patsubst %,src/backend/%.c,cpu pretend slabs)
binding_c = $(wildcard src/binding/*.c)
lua_parts = $(wildcard lua/gpureduce/*.lua)
lua_modules = $(wildcard lua/modules/*.lua)
core_o    = $(device_o) $(core_c:%.c=$(OBJ)/%.o)
libs      = $(device_libs) -lm -ldl -lpthread

# The core's objects are shared; what knows Lua has a folder for each.
LIB_EXTENSION = so
LIBFLAG = -shared
for_lua   = $(BUILD)/$(lua_name)
module    = $(for_lua)/gpureduce.$(LIB_EXTENSION)
binding_o = $(binding_c:src/%.c=$(for_lua)/obj/%.o) $(for_lua)/obj/embedded.o $(for_lua)/obj/reference.o

# $(BUILD)/gpureduce.so is the one that was made last, for a try by hand; nothing else reads it.
all: $(module)
	@ln -sfn $(lua_name)/$(notdir $(module)) $(BUILD)/$(notdir $(module))
	@echo "$(module) for $(if $(filter luajit,$(lua_version)),LuaJIT,Lua $(lua_version)): $(what)," \
	  "$$(du -h $(module) | cut -f1)"
what = $(if $(filter cuda,$(flavour)),CPU and CUDA ($(kernels) for architectures $(CUDA_ARCHS)),CPU alone (no nvcc))
kernels = $$(strings -d $(cuda_o) | grep -c '^_Z') kernels

# Unloading a library that has registered GPU code is not safe, hence nodelete; liblua comes from the host.
link = $(CC) $(LIBFLAG) -Wl,-z,nodelete -Wl,--exclude-libs,ALL $(LDFLAGS) -o $(module) $(binding_o) $(core_o) $(libs)
$(module): $(core_o) $(binding_o) $(for_lua)/linked
	$(call step,$@) $(link)

# Another list of objects, or of flags, is another link.
$(for_lua)/linked: always
	@mkdir -p $(@D) && echo '$(link)' | cmp -s - $@ || echo '$(link)' >$@

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(call step,$<) $(compile) $(follow) -c $< -o $@

$(for_lua)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(call step,$<) $(compile) $(follow) -I$(lua_incdir) -c $< -o $@

$(for_lua)/obj/embedded.o: $(BUILD)/embedded.c
	@mkdir -p $(@D)
	$(call step,lua/gpureduce/*.lua) $(compile) $(follow) -c $< -o $@

$(for_lua)/obj/reference.o: $(BUILD)/reference.c
	@mkdir -p $(@D)
	$(call step,docs/api/*.lua) $(compile) $(follow) -c $< -o $@

# What gr.help knows is the reference's source.
$(BUILD)/reference.c: $(wildcard docs/api/*.lua docs/*.lua)
	@mkdir -p $(@D)
	@$(LUA) docs/generate.lua --embed $@

# Each Lua part, and each module that is required by a name of its own, as one C string a line, so that one file is the
# whole.
as_c = echo "const gr_embedded $(1)[] = {"; for f in $(2); do echo "{\"$$(basename $$f .lua)\","; \
  sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $$f; echo '},'; done; echo '{NULL, NULL}};'
$(BUILD)/embedded.c: $(lua_parts) $(lua_modules) Makefile
	@mkdir -p $(@D)
	@{ echo '#include "src/binding/embedded.h"'; echo '#include <stddef.h>'; \
	  $(call as_c,gr_embedded_parts,$(lua_parts)); $(call as_c,gr_embedded_modules,$(lua_modules)); } >$@

# What each object was made from; one without such a file is made anew.
every_o = $(binding_o) $(filter-out $(OBJ)/shipped.o,$(core_o)) $(shipped_ptx)
known_d = $(wildcard $(addsuffix .d,$(basename $(every_o))))
$(filter-out $(addsuffix .o,$(basename $(known_d))) $(addsuffix .ptx,$(basename $(known_d))),$(every_o)): always
include $(known_d)

include mk/static.mk mk/checks.mk mk/fuzz.mk mk/hostile.mk mk/engines.mk mk/mpi.mk

# ---- using it ----

apt = DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq
deps:
	$(apt) update
	$(apt) install -y --no-install-recommends gcc libc6-dev lua5.4 liblua5.4-dev

deps-test: deps
	$(apt) install -y --no-install-recommends g++ lua5.3 liblua5.3-dev lua5.2 liblua5.2-dev lua5.1 liblua5.1-0-dev \
	  luajit libluajit-5.1-dev lua-busted lua-check libmpfr-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
	  qemu-user-static clang clang-format-14

# lupa: Lua in Python, every version of it. They go to a folder of their own.
python = $(BUILD)/python/bin/python
deps-python:
	command -v python3 >/dev/null && python3 -c 'import ensurepip' || $(apt) install -y --no-install-recommends \
	  python3-venv
	python3 -m venv $(BUILD)/python
	$(python) -m pip install --quiet numpy lupa

deps-mpi:
	$(apt) update
	$(apt) install -y --no-install-recommends openmpi-bin libopenmpi-dev

here = LUA_CPATH="$(CURDIR)/$(for_lua)/?.so;;"
demo: all
	$(here) $(LUA) examples/bytes.lua $$(command -v $(LUA))

test: $(module) $(plans) $(if $(filter test,$(MAKECMDGOALS)),$(hosts_here))
	$(here) $(if $(plans),GPUREDUCE_PLANS="$(CURDIR)/$(plans)") $(BUSTED) --lua=$$(command -v $(LUA)) \
	  --cpath="$(CURDIR)/$(for_lua)/?.so"

bench: $(module) $(if $(filter cuda,$(flavour)),build/bench/ladder_peers)
	$(here) $(LUA) bench/spine.lua
	$(here) $(LUA) bench/ladder.lua

# docs/reference.md and library/gpureduce.lua come from the tables in docs/api.
docs:
	$(LUA) docs/generate.lua

# What clang-format 14 lays out; CONTRIBUTING.md says why the rest is laid out by hand.
formatted = $(wildcard $(foreach d,src src/* src/*/* kernels/numerics kernels/cpu kernels/cpu/*,$(d)/*.[ch]))
clang_format = $(shell for f in clang-format-14 clang-format; do \
  $$f --version 2>/dev/null | grep -q 'version 14\.' && echo $$f && break; done)
format:
	@$(or $(clang_format),$(error clang-format 14 is needed)) -i $(formatted)
format-check:
	@$(if $(clang_format),$(clang_format) --dry-run --Werror $(formatted),echo "no clang-format 14: layout not checked")

release:
	$(MAKE) CUDA_ARCHS="$(release_archs)" BUILD=build/release LDFLAGS="$(LDFLAGS) -Wl,-s"

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib/lua/$(patsubst luajit,5.1,$(lua_version))
install: $(module) $(if $(ROCK),,$(library) $(pc))
	install -d "$(DESTDIR)$(LIBDIR)"
	install -m 755 $(module) "$(DESTDIR)$(LIBDIR)/"
ifeq ($(ROCK),)
	install -d "$(DESTDIR)$(LIBRARY_DIR)/pkgconfig" "$(DESTDIR)$(INCLUDE_DIR)"
	install -m 644 $(library) "$(DESTDIR)$(LIBRARY_DIR)/"
	install -m 644 $(pc) "$(DESTDIR)$(LIBRARY_DIR)/pkgconfig/"
	install -m 644 include/gpureduce.h include/gpureduce_mpi.h "$(DESTDIR)$(INCLUDE_DIR)/"
endif

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

clean:
	rm -rf $(BUILD)
endif
