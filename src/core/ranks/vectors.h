/*
** Over ranks, what is no reduction along the tree: digests and scans. As in ops.h; vectors are this rank's parts of
** ones over the ranks of the context's communicator.
*/
#ifndef GR_RANKS_VECTORS_H
#define GR_RANKS_VECTORS_H

#include "src/core/array.h"
#include "src/core/operation.h"

gr_status gr_ranks_digest(gr_context *, const gr_array *, uint64_t result[2]);
gr_status gr_ranks_scan(gr_context *, gr_op, const gr_array *a, gr_array *out, int exclusive, int reverse);

#endif
