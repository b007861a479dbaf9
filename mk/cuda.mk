# The CUDA half: the toolkit, the architectures, and how kernels are compiled. NVCC= (empty) leaves it out.

# The nvcc of a CUDA_HOME that is given, else the one on PATH, else one in the usual places.
ifeq ($(origin NVCC),undefined)
NVCC := $(shell for n in $(if $(CUDA_HOME),"$(CUDA_HOME)/bin/nvcc") "$$(command -v nvcc)" \
    /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do \
  [ -x "$$n" ] && echo "$$n" && break; done)
endif
flavour = $(if $(strip $(NVCC)),cuda,cpu)

# Files that need the toolkit for the host's compiler: all of the backend but these.
cuda_c  = $(filter-out %/cpu.c %/pretend.c %/slabs.c %/nocuda.c,$(wildcard src/backend/*.c src/backend/*/*.c))
# What formulas are compiled from is shipped as PTX, and no kernel of the module's own.
shipped_cu = $(wildcard kernels/cuda/formula/*.cu)
every_cu = $(filter-out $(shipped_cu),$(wildcard kernels/cuda/*/*.cu kernels/ladder/*.cu))
cuda_cu = $(foreach s,$(slow_cu),$(filter %/$(s).cu,$(every_cu))) \
  $(filter-out $(foreach s,$(slow_cu),%/$(s).cu),$(every_cu))

# What is shipped; 8.6 and 8.9 run 8.0's code, as newer chips of a family run the first one's: docs/findings/build.md.
release_archs = 75 80 90 100 120

ifeq ($(flavour),cpu)
device_o = $(OBJ)/src/backend/nocuda.o
plans =
device_libs =
else
# NVCC may be a path that holds a space, or several words (ccache nvcc).
nvcc := $(if $(shell test -x "$(NVCC)" && echo yes),"$(NVCC)",$(NVCC))

# The toolkit's folder as nvcc itself says it: PATH may hold a wrapper. A link to it keeps spaces out of command lines.
toolkit = $(BUILD)/toolkit
nvcc_says = $(shell $(nvcc) --dryrun x.cu 2>&1 | sed -n 's/^\#. $(1)=\(.\)/\1/p' | tail -1)
toolkit_root := $(or $(call nvcc_says,TOP),$(CUDA_HOME))
toolkit_target := $(toolkit)/$(call nvcc_says,_TARGET_DIR_)
$(toolkit): always
	@mkdir -p $(@D) && ln -sfn "$$(cd "$(toolkit_root)" && pwd -P)" $@

device_o = $(cuda_o) $(cuda_c:%.c=$(OBJ)/%.o) $(OBJ)/shipped.o
device_libs = -L$(toolkit)/lib64 -L$(toolkit_target)/lib -lcudart_static -lrt
$(cuda_c:%.c=$(OBJ)/%.o): file_flags += -isystem $(toolkit)/include -isystem $(toolkit_target)/include
$(device_o): | $(toolkit)

# ---- architectures: this machine's, else Hopper's ----

ifeq ($(origin CUDA_ARCHS),undefined)
CUDA_ARCHS := $(or $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | \
  grep -m1 -x '[0-9]*\.[0-9]' | tr -d .),90)
endif
# Neighbours share one pass of the compiler's front: their code is assembled from the same PTX, and the PTX of the last
# one's front is what newer chips get. The reductions need nothing that Turing lacks.
turing = $(filter 75,$(CUDA_ARCHS))
front_75 =
front_80 =
front_86 = 80
front_89 = 80
front_90 =
front_100 = 90
front_120 = 90
front = $(or $(front_$(1)),$(1))
$(OBJ)/kernels/cuda/reduce/%.o: front_80 = $(turing)
$(OBJ)/kernels/cuda/reduce/%.o: front_86 = $(or $(turing),80)
$(OBJ)/kernels/cuda/reduce/%.o: front_89 = $(or $(turing),80)
# The ladder's kernels, which are for reading, have no code for chips after Hopper: their drivers compile the same PTX,
# when it is first asked for. 0.1 MB of a release.
archs = $(CUDA_ARCHS)
$(OBJ)/kernels/ladder/%.o: archs = $(or $(filter-out 100 120,$(CUDA_ARCHS)),$(CUDA_ARCHS))
last_arch = $(lastword $(archs))
gencode = $(foreach a,$(archs),-gencode arch=compute_$(call front,$(a)),code=sm_$(a)) \
          -gencode arch=compute_$(call front,$(last_arch)),code=compute_$(call front,$(last_arch))

# ---- flags ----

# Older compilers know only the first of the two ways to compress; the second halves it again.
newer := $(findstring compress-mode,$(shell $(nvcc) --help 2>/dev/null))
compress := -Xfatbin -compress-all $(if $(newer),--compress-mode=size)
# The host code in them only launches, and calls nothing that throws or raises errors of Lua: no unwind tables, 57 KB
# less; of the files that are kernels alone nothing but their registration is called (-Os, 80 KB less). Kernels are
# always compiled at -O3.
launcher = $(closed) -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti -fno-threadsafe-statics \
  -fno-asynchronous-unwind-tables
host_speed = -O1
nvflags = $(host_speed) -std=c++17 -fmad=false -I. $(compress) -Xcompiler $(subst $(empty) ,$(comma),$(launcher)) \
  $(gencode)

# An object's name says for which architectures it is.
arch_names = $(subst $(empty) ,-,$(strip $(CUDA_ARCHS)))
cuda_o = $(cuda_cu:%.cu=$(OBJ)/%.$(arch_names).o)
$(foreach o,$(cuda_o),$(if $(findstring /instances_,$(o)),$(o))): host_speed = -Xcompiler -Os
$(OBJ)/%.$(arch_names).o: %.cu
	@mkdir -p $(@D)
	$(call step,$<) $(nvcc) $(nvflags) $(follow) -c $< -o $@

# For the oldest chip that is shipped for: newer ones' drivers compile it, too. Scans for the first with barriers,
# kernels of what is present for the first with instructions for extremes, those of bf16 once more with
# Hopper's, still by a front for 8.0: for 9.0 nvcc passes the PTX to ptxas, which rejects the tally's holes.
shipped_skeletons_scan = 80
shipped_skeletons_present = 80
shipped_skeletons_present_hopper = 80
shipped_ptx = $(shipped_cu:%.cu=$(OBJ)/%.ptx)
$(OBJ)/%.ptx: %.cu
	@mkdir -p $(@D)
	$(call step,$<) $(nvcc) -std=c++17 -fmad=false -I. -DGR_SKELETON_HOLES \
	  -arch=compute_$(or $(shipped_$(*F)),75) -ptx $(follow) $< -o $@
steps_ptx = $(OBJ)/kernels/cuda/formula/steps.ptx
$(OBJ)/shipped.c: $(steps_ptx) $(filter-out $(steps_ptx),$(shipped_ptx)) mk/skeletons.lua
	$(call step,mk/skeletons.lua) $(LUA) mk/skeletons.lua $(filter %.ptx,$^) >$@
$(OBJ)/shipped.o: $(OBJ)/shipped.c
	$(call step,$@) $(CC) $(base) -c $< -o $@

# The host's part alone, linked for what it finds: no kernel is compiled (see mk/check_toolkit.sh).
.PHONY: cuda-host
cuda-host: $(BUILD)/cuda-host.so
files_of_cuda-host = $(BUILD)/cuda-host.so
$(BUILD)/cuda-host.so: $(cuda_c:%.c=$(OBJ)/%.o)
	$(call step,$@) $(CC) -shared -o $@ $^ $(libs)

# What the planners say, without a device, for the specs.
plans = $(BUILD)/plans
files_of_test = $(module) $(plans)
planned = reduce scan histogram
$(plans): spec/plans.c $(filter $(planned:%=$(OBJ)/kernels/cuda/%/%),$(cuda_o))
	$(call step,$<) $(CC) $(base) $^ -o $@ $(device_libs) -lm -ldl -lpthread

# What a formula's first use costs the driver's compiler, without a device.
emits = code element emit holes rings shipped steps text
build/bench/compile: bench/compile.c $(emits:%=$(OBJ)/src/backend/jit/%.o) $(OBJ)/src/core/operation.o $(OBJ)/shipped.o
	@mkdir -p $(@D)
	$(call step,$@) $(CC) $(base) $^ -o $@ -ldl -lpthread

# What the driver's compiler gets for formulas must compile: where it does not, a GPU goes on step by step, and unseen.
.PHONY: filled
test-all: filled
files_of_filled = build/bench/compile
files_of_test-all += $(files_of_filled)
filled: build/bench/compile
	@rm -rf build/bench/filled && build/bench/compile every build/bench/filled && ls build/bench/filled/* | \
	  xargs -P $(cores) -I{} $(toolkit)/bin/ptxas -arch=sm_90 {} -o /dev/null && \
	  echo "filled: $$(ls build/bench/filled | wc -l) texts of formulas compile"

# cuBLAS and CUB, for the benchmark of the ladder alone; without cuBLAS it runs without its peers.
build/bench/ladder_peers: bench/peers/ladder_peers.cu
	@mkdir -p $(@D)
	-$(nvcc) -O3 -std=c++17 $(gencode) $< -o $@ -lcublas
endif
