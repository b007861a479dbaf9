# make fuzz-readers TIME=seconds    any bytes for the readers of NPY, CSV and accumulators under ASan and UBSan (clang)
#
# The corpus is small and committed; what is found on the way stays in $(BUILD)/fuzz/found, what shows a fault beside
# it.

FUZZ_CC ?= clang
TIME ?= 60
fuzz_flags = -O1 -g -std=c11 -D_DEFAULT_SOURCE -ffp-contract=off -I. -Wall -Wextra \
  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all '-DGR_BLOCK_BYTES=(size_t)64'
# Blocks are so small that even a small input has many.
fuzz_core = $(addprefix src/core/,npy.c csv.c source.c dtype.c exact_round.c) spec/fuzz/alone.c
fuzzers = npy csv accumulator

.PHONY: fuzz-readers
$(BUILD)/fuzz/%: spec/fuzz/%.c $(fuzz_core) $(wildcard src/core/*.h kernels/*.h)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(fuzz_flags) $< $(fuzz_core) -o $@ -lm

fuzz-readers: $(fuzzers:%=$(BUILD)/fuzz/%)
	for f in $(fuzzers); do mkdir -p $(BUILD)/fuzz/found/$$f && echo "$$f, $(TIME) s" && \
	  $(BUILD)/fuzz/$$f -max_total_time=$(TIME) -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
	    -print_final_stats=1 -verbosity=0 \
	    -artifact_prefix=$(BUILD)/fuzz/$$f- $(BUILD)/fuzz/found/$$f spec/fuzz/corpus/$$f || exit 1; done
