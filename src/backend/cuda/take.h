/* What is compiled for a formula, as the files take it that launch it. */
#ifndef GR_BACKEND_CUDA_TAKE_H
#define GR_BACKEND_CUDA_TAKE_H

#include "src/backend/cuda/cuda.h"
#include "src/backend/jit/compiled.h"

typedef struct gr_cuda_taken {
  gr_cuda_formula formula;
  uint64_t words[GR_JIT_WORDS];
} gr_cuda_taken;

/* The kernel for what is asked of the job, by the skeleton of dtype t; the caller lets go of formula.compiled. */
gr_status gr_cuda_take_formula(gr_cuda_queue *, const gr_formula_job *, const gr_jit_asked *, gr_dtype t,
                               gr_cuda_taken *);

#endif
