/* Which instruction set's kernels run: the best that this CPU has, or the one asked for. */
#include <stdatomic.h>
#include "kernels/cpu/isa/table.h"

/* Always a valid table once it is set: readers need no lock. */
static _Atomic(const gr_cpu_table *) in_use;

/* The tables from best to plainest; NULL where the CPU lacks the set. */
static const gr_cpu_table *candidate(int k) {
#if GR_CPU_X86
  switch (k) {
    case 0:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
                 ? &gr_cpu_avx512
                 : NULL;
    /* Every CPU with AVX2 and FMA has F16C; compilers differ in whether they know its name here. */
    case 1: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &gr_cpu_avx2 : NULL;
    case 2: return &gr_cpu_sse2;
  }
#elif GR_CPU_NEON
  if (k == 0) return &gr_cpu_neon;
#endif
  (void)k;
  return &gr_cpu_generic;
}

const char *gr_cpu_select(const char *force) {
  const gr_cpu_table *t;
#if GR_CPU_X86
  __builtin_cpu_init();
#endif
  for (int k = 0; k < 4; k++) {
    t = candidate(k);
    if (t && (!force || !strcmp(force, t->name))) {
      atomic_store_explicit(&in_use, t, memory_order_release);
      return t->name;
    }
  }
  return NULL;
}

const gr_cpu_table *gr_cpu_table_in_use(void) {
  const gr_cpu_table *t = atomic_load_explicit(&in_use, memory_order_acquire);
  if (t) return t;
  gr_cpu_select(NULL);
  return atomic_load_explicit(&in_use, memory_order_acquire);
}

const char *gr_cpu_in_use(void) { return gr_cpu_table_in_use()->name; }
