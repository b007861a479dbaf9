/* A hole of a skeleton, as its line says it (shipped.h), and those of operators of somebody's own. */
#ifndef GR_JIT_HOLES_H
#define GR_JIT_HOLES_H

#include "src/backend/jit/element.h"

#define GR_HOLE_HEADS 8
#define GR_HOLE_WORDS 64

typedef struct gr_hole {
  char *head[GR_HOLE_HEADS]; /* an address, or the bits of an element; of a word, how many of its elements are there */
  char *a[GR_HOLE_WORDS], *b[GR_HOLE_WORDS];
  int heads, words;
} gr_hole;

/* An element joins a state; two states become one. */
void gr_fill_element(gr_emitter *, const gr_hole *);
void gr_fill_merge(gr_emitter *, const gr_hole *);

#endif
