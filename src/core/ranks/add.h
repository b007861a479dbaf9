/* Sums of integers over ranks, of which each has as many in an array. */
#ifndef GR_RANKS_ADD_H
#define GR_RANKS_ADD_H

#include "src/core/array.h"

/*
** values, dense and of 8 bytes each, become their sums over all ranks, if all are well. Where every rank has them on a
** device, and these can be joined, they stay there; else the host adds.
*/
gr_status gr_ranks_add_array(gr_context *, gr_array *values, gr_status mine);

#endif
