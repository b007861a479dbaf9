/* Launchers of the teaching kernels (kernels/ladder/ladder.h says what a job means). Like those of launch.h. */
#ifndef GR_LADDER_CUDA_H
#define GR_LADDER_CUDA_H

#include "kernels/cuda/launch.h"
#include "kernels/ladder/ladder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of scratch, GR_COUNTER_BYTES included. */
size_t gr_cuda_ladder_scratch(const gr_ladder_job *, const gr_cuda_chip *);

/* launches: how many kernels and memsets the call issued is added to it. */
int gr_cuda_ladder_dot(const gr_ladder_job *, const gr_cuda_run *, uint64_t *launches);
int gr_cuda_ladder_sum(const gr_ladder_job *, const gr_cuda_run *, uint64_t *launches);
int gr_cuda_ladder_histogram(const gr_ladder_job *, const gr_cuda_run *, uint64_t *launches);
int gr_cuda_ladder_scan(const gr_ladder_job *, const gr_cuda_run *, uint64_t *launches);
int gr_cuda_ladder_rows(const gr_ladder_job *, const gr_cuda_run *, uint64_t *launches);

#ifdef __cplusplus
}
#endif
#endif
