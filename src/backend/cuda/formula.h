/* What the files share that launch compiled kernels. */
#ifndef GR_BACKEND_CUDA_FORMULA_H
#define GR_BACKEND_CUDA_FORMULA_H

#include "src/backend/cuda/cuda.h"
#include "src/backend/jit/compiled.h"

typedef struct gr_cuda_taken {
  gr_cuda_formula formula;
  uint64_t words[GR_JIT_WORDS];
} gr_cuda_taken;

/* The kernel for what is asked of the job, by the skeleton of dtype t; the caller lets go of formula.compiled. */
gr_status gr_cuda_take_formula(gr_cuda_queue *, const gr_formula_job *, const gr_jit_asked *, gr_dtype t,
                               gr_cuda_taken *);

/* feed.c: operations that take a formula's elements. */
gr_status gr_cuda_feed(gr_cuda_queue *, const gr_formula_job *);
int gr_cuda_fits(gr_queue *, gr_feeding, const void *operation);

#endif
