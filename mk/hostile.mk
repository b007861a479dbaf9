# Hostile testing: failing allocations and random programs (spec/README.md says how long each takes).

.PHONY: sweep sweep-fast sweep-build fuzz fuzz-asan formulas
test-all: sweep-fast fuzz formulas
# The same calls in every run of all tests; by itself `make fuzz` draws others each time.
test-all: SEED ?= 7
sanitized = NVCC= file_flags= OBJ=build/asan/obj \
  CFLAGS="-O1 -g -Wall -Wextra -fsanitize=$(sanitizers) -fno-sanitize-recover=undefined,float-cast-overflow"

# The module's requests for memory and threads go to spec/hostile/host.c, in this build alone.
wrapped = malloc calloc realloc aligned_alloc posix_memalign strdup free mmap munmap fopen pthread_create
host = build/sweep/$(lua_name)/host
sweep-build:
	$(MAKE) --no-print-directory BUILD=build/sweep $(sanitized) \
	  LDFLAGS="-fsanitize=address,undefined $(wrapped:%=-Wl$(comma)--wrap=%)"
	$(CC) -O1 -g -Wall -Wextra -fsanitize=address,undefined -std=c11 -D_DEFAULT_SOURCE -rdynamic -I. -I$(lua_incdir) \
	  spec/hostile/host.c -o $(host) -l$(if $(filter luajit,$(lua_version)),luajit-5.1,lua$(lua_version)) -lm -lpthread

# SWEEP="case=add sides=c devices=cpu verbose=1" for a part of it.
SWEEP =
sweep_run = env GPUREDUCE_THREADS=2 GPUREDUCE_PRETEND_LOOKS=2 ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 \
  $(host) spec/hostile/sweep.lua cpath="$(CURDIR)/$(dir $(host))?.so"
sweep: sweep-build
	$(sweep_run) $(SWEEP)
# Two processes share the cases; both are waited for.
sweep-fast: sweep-build
	$(sweep_run) stride=89 rare=5 part=1/2 $(SWEEP) & first=$$!; \
	  $(sweep_run) stride=89 rare=5 part=2/2 $(SWEEP); second=$$?; wait $$first && exit $$second

# Random calls beside a model, with finalizers, traps and things that are no arrays: make fuzz CALLS=20000 SEED=1.
CALLS = 20000
SEED =
FUZZ =
fuzz_run = GPUREDUCE_PRETEND_LOOKS=2 ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
  $(LUA) spec/hostile/fuzz.lua calls=$(CALLS) $(if $(SEED),seed=$(SEED)) $(FUZZ)
fuzz: $(module)
	$(here) $(fuzz_run)
fuzz-asan:
	$(MAKE) --no-print-directory BUILD=build/asan $(sanitized) LDFLAGS=-fsanitize=address,undefined
	LUA_CPATH="$(CURDIR)/build/asan/$(lua_name)/?.so;;" LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) $(fuzz_run)

# Random calls of the C API beside a model, with handles that are gone and all other mistakes, in a checked build:
# make fuzz-capi CAPI_CALLS=100000 SEED=1; then as many by each of three threads that share handles; and the same under
# AddressSanitizer and UBSan.
CAPI_CALLS = 100000
capi_fuzz = $(for_lua)/capi_fuzz
capi_race = $(for_lua)/capi_race
files_of_capi-fuzz-run = $(capi_fuzz) $(capi_race)
.PHONY: fuzz-capi fuzz-capi-asan capi-fuzz-run
capi-fuzz-run: $(capi_fuzz) $(capi_race)
	for d in cpu pretend; do export GPUREDUCE_THREADS=2; seed=$(or $(SEED),$$(date +%s)); \
	  $(capi_fuzz) $$d $(CAPI_CALLS) $$seed && $(capi_race) $$d $(CAPI_CALLS) $$seed || exit; done
fuzz-capi:
	$(MAKE) --no-print-directory capi-fuzz-run CHECKED=1 NVCC=
fuzz-capi-asan:
	$(MAKE) --no-print-directory capi-fuzz-run CHECKED=1 BUILD=build/asan NVCC= file_flags= \
	  CFLAGS="-O1 -g -Wall -Wextra -fsanitize=$(sanitizers) -fno-sanitize-recover=undefined,float-cast-overflow" \
	  LDFLAGS=-fsanitize=address,undefined
test-all: fuzz-capi
test-all: CAPI_CALLS = 30000

# Random formulas, fused, by operators one by one, and in plain Lua; what their functions gave, against MPFR. All tests
# together take a share of them.
FORMULAS = 100000
files_of_formulas = $(module) $(BUILD)/functions
test-all: FORMULAS = 10000
formulas: $(module) $(BUILD)/functions
	$(here) $(LUA) spec/hostile/formulas.lua count=$(FORMULAS) $(if $(SEED),seed=$(SEED)) oracle=$(BUILD)/functions
