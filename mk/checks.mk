# What checks the module beyond the specs.

.PHONY: test-all oracle functions sets ranks neon bits sanitize sanitize-short states tsan valgrind coverage lint
.PHONY: tsan-capi warnings cppcheck toolkit-check build-check reproducible python

# Every Lua that is here; the last line names those that are not.
all_luas = lua5.5 lua5.4 lua5.3 lua5.2 lua5.1 luajit
luas = $(strip $(foreach l,$(all_luas),$(if $(shell command -v $(l)),$(l))))
no_luas = $(filter-out $(luas),$(all_luas))
# BRIEF= Luas that are given only the specs that take little time or depend on the Lua.
BRIEF =
long_specs = $(addprefix spec/,$(addsuffix _spec.lua,save stop large golden safe pool feed ftz wild memory matrix \
  series operator scan reductions histogram order missing present histogram2d heat stack fromdlpack wrap spreads fork \
  processes tasks_page ladder fuse operator_use missing_bits background scope tasks hostile lookup_rising \
  present_variance vectors softmax draws lookup quantile))
brief_specs = $(filter-out $(long_specs),$(wildcard spec/*_spec.lua))
# What depends on LuaJIT's own types and its compiler, of the long ones.
jit_specs = $(addprefix spec/,$(addsuffix _spec.lua,wrap fromdlpack background scope safe operator))
# Brief Luas run beside the others, as specs keep one processor busy; their output comes at the end.
test-all: oracle functions sets ranks neon bits sanitize-short $(plans)
	@run() { for lua; do echo "== $$lua"; case " $(BRIEF) " in *" $$lua "*) specs='$(brief_specs)'; \
	    [ $$lua != luajit ] || specs="$$specs $(jit_specs)";; *) specs=;; esac; \
	    $(MAKE) --no-print-directory test LUA=$$lua LUA_INCDIR= BUSTED="$(BUSTED) $$specs" || return; done; }; \
	  run $(filter $(BRIEF),$(luas)) >$(BUILD)/brief.txt 2>&1 & brief=$$!; trap "kill $$brief" INT TERM; \
	  run $(filter-out $(BRIEF),$(luas)); others=$$?; \
	  wait $$brief; brief=$$?; cat $(BUILD)/brief.txt; exit $$((others ? others : brief))
	@mk/check_luas.sh $(luas)
	@echo "tested under $(luas)$(if $(no_luas),; not here and so not tested: $(no_luas))"

# Exact sums against MPFR, 100000 vectors; spec/exact/mutate.sh asks whether it would notice a fault.
files_of_oracle = $(BUILD)/oracle
cpu_o = $(filter $(OBJ)/kernels/cpu/%,$(core_o))
$(BUILD)/oracle: spec/exact/oracle.c $(OBJ)/src/core/exact_round.o $(cpu_o)
	$(call step,$<) $(CC) $(base) $^ -o $@ -lmpfr -lgmp -lm -lpthread
oracle: $(BUILD)/oracle
	$(BUILD)/oracle

# Functions of elements against MPFR, SAMPLES of each for f64 and f32, with the processor's fma and without: the same
# bits, and the bounds that docs/numerics.md states. build/functions all NAME: every f32.
SAMPLES = 4000
fused_flags = $(if $(filter x86_64,$(machine)),-mavx2 -mfma)
$(BUILD)/functions: spec/functions/functions.c spec/functions/table.c $(wildcard spec/functions/*.h \
  kernels/numerics/*.h kernels/numerics/functions/*)
	@mkdir -p $(@D)
	$(call step,$<) $(CC) $(base) -fno-math-errno -c spec/functions/table.c -o $(BUILD)/functions_plain.o && \
	  $(CC) $(base) -O3 -fno-math-errno -fno-trapping-math $(fused_flags) -DFUSED=1 -c spec/functions/table.c \
	  -o $(BUILD)/functions_fused.o && \
	  $(CC) $(base) $< $(BUILD)/functions_plain.o $(BUILD)/functions_fused.o -o $@ -lmpfr -lgmp -lm
functions: $(BUILD)/functions
	$(BUILD)/functions $(SAMPLES)

# Every instruction set of this CPU against plain C, kernel by kernel; and NEON's, by an emulator of 64-bit ARM.
EMULATOR =
files_of_sets = $(BUILD)/sets
$(BUILD)/sets: spec/sets.c $(cpu_o)
	$(call step,$<) $(CC) $(base) $(LDFLAGS) $^ -o $@ -lm
sets: $(BUILD)/sets
	$(EMULATOR) $(BUILD)/sets
# Ranks without a network: reductions over up to 4096 that are all this process, PARTITIONS random ones of each
# operation and dtype, and what their folding sends; then everything that takes {comm=}, over ranks that are threads
# (spec/ranks). make ranks PARTITIONS=1000 ROUNDS=1000: the whole.
PARTITIONS = 12
ROUNDS = 3
ranks_sizes = 1 2 3 5 8
rank_threads = $(BUILD)/$(lua_name)/rank_threads
$(rank_threads): spec/ranks/threads.c src/binding/comm.h src/core/ranks/comm.h
	@mkdir -p $(@D)
	$(call step,$<) $(CC) $(base) -I$(lua_incdir) $(LDFLAGS) $< -o $@ -Wl,-E $(lua_library) -lm -ldl -lpthread
ranks_o = $(OBJ)/src/core/ranks/nodes.o $(OBJ)/src/core/ranks/fold.o $(OBJ)/src/core/operation.o
$(BUILD)/ranks: spec/ranks.c $(ranks_o) $(cpu_o)
	$(call step,$<) $(CC) $(base) $(LDFLAGS) $^ -o $@ -lm
files_of_ranks = $(BUILD)/ranks $(module) $(rank_threads)
ranks: $(files_of_ranks)
	$(BUILD)/ranks $(PARTITIONS)
	$(here) GPUREDUCE_THREADS=1 sh -ec 'for n in $(ranks_sizes); do \
	  $(rank_threads) $$n spec/ranks/messages.lua; $(rank_threads) $$n spec/ranks/check.lua all $(ROUNDS) $$n; done; \
	  GPUREDUCE_DEVICE=pretend $(rank_threads) 3 spec/ranks/device.lua; \
	  $(rank_threads) 2 spec/ranks/pairs.lua; $(rank_threads) 3 spec/ranks/mistakes.lua'
files_of_functions = $(BUILD)/functions
files_of_test-all += $(files_of_oracle) $(files_of_functions) $(files_of_sets) $(files_of_ranks)
neon:
	$(if $(shell command -v aarch64-linux-gnu-gcc && command -v qemu-aarch64-static),$(MAKE) --no-print-directory sets \
	  NVCC= CC=aarch64-linux-gnu-gcc BUILD=build/neon LDFLAGS=-static EMULATOR=qemu-aarch64-static,\
	  @echo "neon: no compiler or emulator for it here")

# Every operation and dtype on 200 random sizes against what an H200 gave, to the bit.
bits: $(module)
	$(here) $(LUA) spec/bits.lua compare spec/golden/bits_h200.txt

# Arrays of NumPy in Lua and back, within Python, whose Lua is lupa's (make deps-python).
lupa = $(patsubst luajit,luajit21,$(subst .,,$(lua_name)))
test-all: python
python: $(module)
	@if [ -x $(python) ]; then $(python) spec/python/dlpack.py $(lupa) $(for_lua); \
	  else echo "python: no $(python) here (make deps-python)"; fi

# The specs under AddressSanitizer, UBSan and LeakSanitizer, with a collector that runs all the time (see
# spec/support.lua), and without slabs, within which they see no end of a block. SPECS= some of them; sanitize-short:
# those where scripts are hostile. LEAKS=0 where no process may look into another.
SPECS =
LEAKS = 1
sanitizers = address,undefined,float-cast-overflow
short_specs = $(addprefix spec/,$(addsuffix _spec.lua,hostile safe sizes save when at wrap memory lost threads \
  scope))
sanitize:
	$(MAKE) --no-print-directory test BUILD=build/asan NVCC= file_flags= LDFLAGS=-fsanitize=address,undefined \
	  CFLAGS="-O1 -g -Wall -Wextra -fsanitize=$(sanitizers) -fno-sanitize-recover=undefined,float-cast-overflow" \
	  BUSTED="env GPUREDUCE_SLABS=0 LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) \
	  ASAN_OPTIONS=detect_leaks=$(LEAKS) $(BUSTED) $(SPECS)"
# Not beside sweep-fast, which makes the same objects.
sanitize-short: $(if $(filter test-all,$(MAKECMDGOALS)),sweep-fast)
	@$(MAKE) --no-print-directory sanitize SPECS="$(short_specs)"

# Many states at once, each in a thread of its own, under ThreadSanitizer: on the CPU, and on the pretend device, whose
# work may be put off. The program that hosts them is compiled for it, too. It wants addresses that are not
# random, where that may be asked for.
tsan_flags = BUILD=build/tsan NVCC= file_flags= LDFLAGS=-fsanitize=thread \
  CFLAGS="-O1 -g -Wall -Wextra -fsanitize=thread"
states = $(BUILD)/$(lua_name)/states
lua_library = -l$(if $(filter luajit,$(lua_name)),luajit-5.1,$(lua_name))
$(states): spec/states.c
	@mkdir -p $(@D)
	$(call step,$<) $(CC) $(base) -I$(lua_incdir) $(LDFLAGS) $< -o $@ -Wl,-E $(lua_library) -lm -ldl
files_of_states = $(module) $(states)
files_of_tsan-capi = $(for_lua)/capi_states
not_random = $(if $(shell setarch -R true 2>&1 || echo no),,setarch -R)
states: $(module) $(states)
	$(here) GPUREDUCE_THREADS=3 TSAN_OPTIONS=halt_on_error=1 sh -ec 'for way in cpu pretend "pretend 5"; do \
	  set -- $$way; GPUREDUCE_PRETEND_LOOKS=$$2 $(not_random) $(states) 4 spec/states.lua $$1; done'
# And what hosts do with threads: parcels, tensors that outlive their state.
tsan-capi: $(for_lua)/capi_states
	TSAN_OPTIONS=halt_on_error=1 sh -ec 'for d in cpu pretend; do $(not_random) $< $$d; done'
tsan:
	@$(MAKE) --no-print-directory states $(tsan_flags)
	@$(MAKE) --no-print-directory tsan-capi $(tsan_flags)

# Reads of what nobody wrote, which the sanitizers do not see: some specs under valgrind, in plain C, which it has every
# instruction of. Children run without it.
valgrind_specs = $(addprefix spec/,$(addsuffix _spec.lua,hostile when at lost views compact scope into weights))
valgrind: $(module)
	$(here) GPUREDUCE_CPU=generic GPUREDUCE_DEVICE=cpu GPUREDUCE_THREADS=1 valgrind -q --error-exitcode=9 \
	  --leak-check=no $(LUA) -e 'package.path = "./?.lua;" .. package.path' $$(command -v busted) --ignore-lua \
	  --cpath="$(CURDIR)/$(for_lua)/?.so" $(valgrind_specs)

# Line coverage by the specs: of src/ (needs gcovr) and of lua/, with the lines that no spec runs.
coverage:
	rm -rf build/coverage
	$(MAKE) --no-print-directory test BUILD=build/coverage NVCC= file_flags= LDFLAGS=--coverage \
	  CFLAGS="-O1 -g -Wall -Wextra --coverage -fprofile-update=atomic"
	gcovr --root . --filter src/ --object-directory build/coverage build/coverage | tee build/coverage/c.txt
	$(MAKE) --no-print-directory test BUILD=build/coverage NVCC= file_flags= LDFLAGS=--coverage \
	  CFLAGS="-O1 -g -Wall -Wextra --coverage -fprofile-update=atomic" \
	  BUSTED="$(BUSTED) --helper=spec/coverage.lua $(lua_specs)" | tee build/coverage/lua.txt

# The specs that run the module's Lua parts.
lua_specs = $(addprefix spec/,$(addsuffix _spec.lua,pictures series terminal colours heat heat_terminal wild \
  locale docs guide errors inout prompt luassert))

lint: $(module)
	luacheck -q .
	$(here) $(LUA) docs/generate.lua --check
	@$(MAKE) --no-print-directory warnings
	@$(if $(and $(call gcc,gcc),$(shell command -v clang)),$(MAKE) --no-print-directory warnings CC=clang)
	$(LUA) mk/layers.lua
	$(LUA) mk/tables.lua
	$(LUA) mk/names.lua
	@CC='$(CC)' mk/check_tables.sh $(lua_incdir)
	$(LUA) mk/lengths.lua
	@$(MAKE) --no-print-directory static-check headers
	@$(MAKE) --no-print-directory format-check
	@$(MAKE) --no-print-directory build-check $(if $(filter cuda,$(flavour)),toolkit-check)

# Warnings of the compiler, and where CUDA's headers are, of the GPU's host code too; of clang as well where there is
# one.
cuda_headers = $(firstword $(wildcard $(toolkit_root)/include $(CUDA_HOME)/include /usr/local/cuda/include))
warnings:
	@printf '%s\n' $(core_c) $(binding_c) src/backend/nocuda.c $(if $(cuda_headers),$(cuda_c)) | xargs -P $(cores) -I{} \
	  $(CC) $(base) $(lint_flags) -I$(lua_incdir) $(if $(cuda_headers),-isystem "$(cuda_headers)") -fsyntax-only {}

# What cppcheck says of all C; spec/cppcheck.txt has what it says wrongly, with the reasons. Warnings stay in one
# folder, so that a second run looks only at what has changed.
cppcheck:
	@mkdir -p $(BUILD)/cppcheck
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --library=posix,gnu,lua -I. -D__GNUC__=12 \
	  -D__x86_64__ -D__linux__ --cppcheck-build-dir=$(BUILD)/cppcheck --suppressions-list=spec/cppcheck.txt \
	  --error-exitcode=1 src kernels

# What the build promises: names it reads, one folder a Lua, errors before anything is made.
build-check:
	@mk/check_build.sh

# The CUDA half's C in sight of no toolkit but the one in CUDA_HOME, which is elsewhere, in a folder with a space.
toolkit-check:
	@mk/check_toolkit.sh

# Two builds, in two folders, one of them with a space in its name, give the same bytes.
reproducible:
	@mk/check_reproducible.sh
