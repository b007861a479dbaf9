/*
** Scans over ranks, whatever they join. The tiles that end in a part have totals, of which ranks send those of the
** nodes above them; with what all ranks before have sent, each knows what lies before its first tile. A tile that
** begins in another rank is put together here. Where totals join in any order (integers, min, max) a part has one, and
** no tile is put together.
*/
#ifndef GR_RANKS_TILES_H
#define GR_RANKS_TILES_H

#include "src/core/context.h"
#include "src/core/dtype.h"

/* A stretch of the whole that begins with a tile, or, if there is no order, with the part. */
typedef struct gr_tiles_stretch {
  gr_vec a;         /* its elements, as the scan meets them */
  int64_t first, n; /* positions of the whole */
} gr_tiles_stretch;

/* What a stretch comes to: behind so many totals, as many words apart as `spread` says, of so many tiles each. */
typedef struct gr_tiles_result {
  uint64_t *totals;
  const int64_t *tiles;
  int64_t count;
  int64_t own; /* the first position whose result belongs to this rank; what comes before goes to `room` */
  char *room;  /* NULL: nothing comes before */
} gr_tiles_result;

typedef struct gr_tiles {
  gr_context *c;
  gr_queue *q;
  const char *name; /* of what is done, for errors */
  gr_dtype dtype;
  gr_vec a; /* this rank's elements, from the end where the scan begins */
  int64_t n;
  int ordered;
  int words, spread; /* of a total, 8 bytes each: in messages, and where the total lies afterwards, with zeros behind */
  int64_t result;    /* bytes of what is to be kept of a position, in a tile that is put together */
  /* The total of a stretch that is a node, and the results of one. Never of no elements. */
  gr_status (*total)(void *with, const gr_tiles_stretch *, uint64_t *words);
  gr_status (*write)(void *with, const gr_tiles_stretch *, const gr_tiles_result *);
  void *with;
} gr_tiles;

/* After gr_ranks_meet, and gr_ranks_mirror, if the scan begins at the end. */
gr_status gr_ranks_tiles(gr_tiles *);

/* So that position `first`, where the vector begins, lies at data + first * stride. */
static inline gr_vec gr_tiles_placed(gr_vec v, int64_t first) {
  v.data = (const void *)((uintptr_t)v.data - (uintptr_t)(first * v.stride));
  return v;
}
/* n elements from the last to the first. */
static inline gr_vec gr_tiles_turned(gr_vec v, int64_t n) {
  if (n) v.data = (const char *)v.data + (n - 1) * v.stride;
  v.stride = -v.stride;
  return v;
}

/* Results of the positions up to `end`, of `size` bytes each and `at` bytes into the room, to where this rank's lie. */
void gr_tiles_keep(const gr_tiles_result *, int64_t first, int64_t end, int size, int64_t at, gr_vec to);

#endif
