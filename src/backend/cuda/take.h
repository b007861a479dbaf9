/* What is compiled for a formula, as the files take it that launch it. */
#ifndef GR_BACKEND_CUDA_TAKE_H
#define GR_BACKEND_CUDA_TAKE_H

#include "kernels/filling.h"
#include "src/backend/cuda/cuda.h"
#include "src/backend/jit/compiled.h"

typedef struct gr_cuda_taken {
  gr_cuda_formula formula;
  uint64_t words[GR_JIT_WORDS];
} gr_cuda_taken;

/* The kernel for what is asked of the job, by the skeleton of dtype t; the caller lets go of formula.compiled. */
gr_status gr_cuda_take_formula(gr_cuda_queue *, const gr_formula_job *, const gr_jit_asked *, gr_dtype t,
                               gr_cuda_taken *);

/* Reducer and dtype of the skeleton that serves a job, as reduce/instances_*.cu have them; 0: none does. */
int gr_cuda_skeleton_for(const gr_reduce_job *, gr_reducer *, gr_dtype *);

/*
** Whether a consumer reduces or counts what is not NaN of floats that lie in memory, with what changes nothing in its
** place; of which nodes then.
*/
int gr_cuda_is_of_present(const gr_formula_job *, const gr_consumer *, gr_filled *);

#endif
