/* The launch of a kernel that was compiled for a formula, beside gr_start_early, which launches one of the module's. */
#ifndef GR_CUDA_FORMULA_START_CUH
#define GR_CUDA_FORMULA_START_CUH

#include "kernels/cuda/batch.h"
#include "kernels/cuda/launch.h"

/* own: the arguments that the built kernel has, too; the formula's follow them. */
template <class Arguments>
static inline cudaError_t gr_start_formula(const gr_cuda_formula &f, const Arguments &own, int32_t blocks,
                                           int32_t threads, size_t shared, int early, cudaStream_t stream) {
  static_assert(sizeof own <= GR_OWN_ARGUMENT_BYTES && sizeof own % 8 == 0, "a formula's arguments are words behind");
  uint64_t arguments[GR_ARGUMENT_BYTES / 8];
  memcpy(arguments, &own, sizeof own);
  memcpy(arguments + sizeof own / 8, f.words, (size_t)f.count * sizeof *f.words);
  return (cudaError_t)f.launch(f.function, (unsigned)blocks, (unsigned)threads, (unsigned)shared, early, stream,
                               arguments);
}

#endif
