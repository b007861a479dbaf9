/* The pretend device: the CPU's kernels behind a memory of their own. What tests may ask of it. */
#ifndef GR_PRETEND_H
#define GR_PRETEND_H

#include <stddef.h>
#include <stdint.h>
#include "src/core/backend.h"

gr_backend *gr_pretend_backend(void); /* one in the process */

/*
** capacity: bytes that it has in all (0: no limit). fail_at: the allocation to refuse, counted from this call
** (1: the next one; 0: none). GPUREDUCE_PRETEND_CAPACITY and GPUREDUCE_PRETEND_FAIL_AT set the two at the start.
** GPUREDUCE_PRETEND_LOSE_AT names the reduction at which the device fails for good. GPUREDUCE_PRETEND_LOOKS puts off
** what is started: so many looks find it unfinished; a wait, or anything queued after it, runs it.
*/
void gr_pretend_limits(size_t capacity, int64_t fail_at);

#endif
