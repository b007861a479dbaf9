# How C is compiled: what holds for all of it, and what single files need.

comma := ,
empty :=
machine := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
clang := $(findstring clang,$(shell $(CC) --version))
gcc = $(if $(clang),,$(1)) # clang knows none of the flags that stand in it

# gcc clears structs by string instructions, which take some 30 clocks to start: a fifth of a small call.
by_stores = $(if $(filter x86_64,$(machine)), \
  $(call gcc,-mmemset-strategy=unrolled_loop:256:noalign$(comma)libcall:-1:noalign))
# Compilers write which headers an object was made from, beside it; -MP lets a header go away.
follow = -MMD -MP -MF $(basename $@).d
file_flags =
fewer_checks =
# Switches over a table's rows have no default: one that lacks a row is an error, whatever else CFLAGS say. So is a
# function that is nowhere, which only loading the module would miss.
closed = -Werror=switch
# CHECKED=1 knows handles of the C API that are gone (src/capi/handles.h), in a folder of its own.
checked = $(if $(CHECKED),-DGR_CHECKED)
# Hosts call from threads of 64 KiB: larger tables go to kernels/cpu/room.h. Unoptimised frames are larger anyway.
frames = $(if $(filter -O2 -O3,$(CFLAGS)),-Wframe-larger-than=25600)
base = $(CFLAGS) $(checked) $(frames) $(closed) -Werror=implicit-function-declaration -std=c11 -D_DEFAULT_SOURCE \
  -ffp-contract=off -fPIC -fvisibility=hidden -fno-plt -pthread -I. $(by_stores)
compile = $(CC) $(base) $(file_flags) $(fewer_checks)

# What lint adds for both compilers (why these: spec/README.md). Every change of sign is shown by gcc alone: to clang
# enumerations are unsigned, so it would want casts of all that count by one.
lint_flags = -Wall -Wextra -Werror -Wshadow -Wconversion $(if $(clang),-Wno-sign-conversion,-Wsign-conversion) \
  -Wundef -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wformat=2

# The CPU's kernels are most of its half's build: of -O3 they need the vectoriser, and the instruction sets, whose
# vectors are written out, not all of -O2. Those that no ordinary processor of this kind picks get by with less.
# They call nothing that raises, so that they need no unwind tables (0.1 MB), as src/ does: LuaJIT's errors unwind.
kernel_flags = -fno-asynchronous-unwind-tables $(call gcc,-ftree-vectorize -fvect-cost-model=dynamic)
set_flags = $(call gcc,-fno-tree-dominator-opts -fno-gcse -fno-tree-pre -fno-tree-slp-vectorize \
  -fno-thread-jumps -fno-code-hoisting)
$(OBJ)/kernels/cpu/%.o $(OBJ)/kernels/ladder/%.o: file_flags += $(kernel_flags)
$(OBJ)/kernels/cpu/histogram/histogram.o: file_flags += -O3
$(OBJ)/kernels/cpu/isa/set_%.o $(OBJ)/kernels/cpu/exact/exact_sets.o: file_flags += $(set_flags)
# UBSan's checks of each address are ten minutes of a set's compiling, the others one; AddressSanitizer sees what is
# wrong with addresses but that they are not aligned.
$(OBJ)/kernels/cpu/isa/set_%.o: fewer_checks = $(if $(findstring -fsanitize=,$(CFLAGS)),$(no_address_checks))
no_address_checks = -fno-sanitize=null,alignment,object-size,pointer-overflow
$(OBJ)/kernels/cpu/isa/set_%.o: file_flags += -fno-math-errno
$(OBJ)/kernels/cpu/isa/set_sse2.o: file_flags += $(call gcc,-O1 -ftree-vrp)
ifeq ($(machine),x86_64)
$(OBJ)/kernels/cpu/map/map_base.o: file_flags += $(call gcc,-Os -fno-tree-vectorize)
$(OBJ)/kernels/cpu/isa/set_generic.o: file_flags += $(call gcc,-Os -fno-tree-vectorize)
endif

# Of src/ what small calls pass through, and loops over data, are built as CFLAGS say, but that nothing is aligned; the
# rest for size. That is 0.13 MB of a release.
quick = $(patsubst src/%.c,%,$(wildcard src/capi/*.c)) $(addprefix core/,array background context copy csv dtype exact \
  future histogram later map missing missing_passes ops pool segments select select_few source storage threads \
  formula/bind formula/expression formula/known formula/operate formula/run) backend/cpu backend/slabs \
  backend/jit/compiled $(addprefix backend/cuda/,await copy feed formula graph launch memory present queue reduce \
  submit take tickets) $(addprefix binding/,args array brief cdata expression histogram lazy make map missing options \
  own packed reduce reduction results rounding scope shape values)
$(foreach file,$(quick),$(if $(wildcard src/$(file).c),,$(error src/$(file).c, which is to be quick, is not there)))
small = $(patsubst src/%.c,%,$(wildcard $(addprefix src/,core/*.c core/*/*.c backend/*.c backend/*/*.c binding/*.c)))
in_all = $(foreach file,$1,%/obj/src/$(file).o %/obj/$(file).o)
$(call in_all,$(filter-out $(quick),$(small))): file_flags += $(if $(filter -O2,$(CFLAGS)),-Os)
$(call in_all,$(quick)): \
  file_flags += $(call gcc,-fno-align-functions -fno-align-loops -fno-align-jumps -fno-align-labels)

# Roots and comparisons become vector code only where nobody looks at errno (above, too) and at traps.
$(OBJ)/kernels/cpu/map/map_%.o: file_flags += -fno-math-errno -fno-trapping-math \
  $(call gcc,--param vect-epilogues-nomask=0 -fno-tree-ter)

# First, so that none is left over at the end: what takes the compilers longest (instances_dot 41 s, C some 3 s each).
slow_c = $(wildcard kernels/cpu/isa/set_*.c kernels/cpu/exact/exact_sets.c kernels/cpu/map/map_*.c)
slow_cu = $(addprefix reduce/instances_,dot variance norm sum compensated order) scan/instances_sum \
  histogram/instances_integer histogram/instances_float scan/instances_order map/map
