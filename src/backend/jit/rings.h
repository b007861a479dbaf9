/*
** Rows of inputs on their way to a number's kernel, in rings in shared memory: each thread copies its own words some
** rows ahead (cp.async), and so needs no barrier, and no registers for what has not come yet. A row's position tells
** its slot. %primed: this thread has elements of the row behind the one that was taken last, which are on their way.
*/
#ifndef GR_JIT_RINGS_H
#define GR_JIT_RINGS_H

#include "src/backend/jit/holes.h"

/* Of a block at most: what is launched with more is refused (.maxntid). Plans of numbers have up to 8 warps. */
#define GR_RING_THREADS 256

/* At the kernel's start: how many rows its rings have; 0: none, if the chip, or a ring, has too little room. */
int gr_rings_open(gr_emitter *);
/* A hole of what is loaded: asks for its row and those after it, unless they are on their way. */
void gr_rings_fill(gr_emitter *, const gr_hole *);
/* A hole of the next row: its words come to %l0, %l1 ..., and the row that gets its slot is asked for. */
void gr_rings_take(gr_emitter *, const gr_hole *);

#endif
