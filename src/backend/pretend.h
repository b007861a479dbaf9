/* The pretend device: the CPU's kernels behind a memory of their own. What tests may ask of it. */
#ifndef GR_PRETEND_H
#define GR_PRETEND_H

#include "src/core/backend.h"

/*
** One in the process. GPUREDUCE_PRETEND_CAPACITY: the bytes that it has in all. GPUREDUCE_PRETEND_FAIL_AT: the
** allocation to refuse, from 1. GPUREDUCE_PRETEND_LOSE_AT names the reduction at which the device fails for good.
** GPUREDUCE_PRETEND_LOOKS puts off what is started: so many looks find it unfinished; a wait, or anything queued after
** it, runs it.
*/
gr_backend *gr_pretend_backend(void);

#endif
