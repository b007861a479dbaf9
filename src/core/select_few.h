/* The keys (gr_selector in numerics.h) of few elements, and which of them have a given rank: all on the host. */
#ifndef GR_SELECT_FEW_H
#define GR_SELECT_FEW_H

#include "kernels/jobs.h"

/* Those of n elements; returns how many are NaN, whose keys mean nothing. */
int64_t gr_keys_of(gr_dtype, gr_vec, int64_t n, uint64_t *keys);
/* The keys of a rank (from 0) and of the one after it, if there is one; room for as many. */
void gr_keys_at(const uint64_t *keys, int64_t n, int64_t rank, uint64_t *room, uint64_t pair[2]);

#endif
