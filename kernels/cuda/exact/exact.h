/* Launchers of exact sums and digests; the rest of the launchers' contract is in launch.h. */
#ifndef GR_CUDA_EXACT_EXACT_H
#define GR_CUDA_EXACT_EXACT_H

#include "kernels/cuda/launch.h"
#include "kernels/numerics/digest.h"
#include "kernels/numerics/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
** Exact sums of vector `first`, or (each) of job->count vectors from there on with one block each: for each vector the
** limbs from *first of gr_cuda_exact_limbs on, to be added up as they are, then whether an infinity or NaN was met; its
** flags are then what gr_cuda_exact_specials finds, for one vector. These words go to the mailbox run->done, or (each)
** to out.
*/
int gr_cuda_exact_limbs(const gr_exact_job *, int *first);
int gr_cuda_exact(const gr_exact_job *, int64_t first, int each, uint64_t *out, const gr_cuda_run *);
int gr_cuda_exact_specials(const gr_exact_job *, int64_t first, uint64_t *out, const gr_cuda_run *);

/* The two sums of kernels/numerics/digest.h, unfinished. */
int gr_cuda_digest(const gr_digest_job *, uint64_t out[2], const gr_cuda_run *);

#ifdef __cplusplus
}
#endif
#endif
