#include "src/core/ranks/tiles.h"

#include <stdlib.h>
#include <string.h>
#include "src/core/ranks/borders.h"
#include "src/core/ranks/meet.h"
#include "src/core/ranks/plan.h"

typedef struct tiling {
  const gr_tiles *t;
  int own;
  int64_t low, high, from;         /* this rank's part, and where its first tile begins */
  char *before, *joined, *results; /* of that tile, if it begins elsewhere */
  char *message, *all;
  uint64_t *totals;
  int64_t *tiles;
} tiling;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Where the tiles begin that lie here alone. */
static int64_t rest_of(const tiling *s) { return s->from < s->low ? least(s->from + GR_SCAN_TILE, s->high) : s->low; }

static gr_tiles_stretch first_tile(const tiling *s) {
  const gr_vec a = {s->joined, gr_size(s->t->dtype), 0};
  return (gr_tiles_stretch){a, s->from, rest_of(s) - s->from};
}

static gr_tiles_stretch stretch(const tiling *s, int64_t first, int64_t end) {
  gr_vec a = s->t->a;
  a.data = (const char *)a.data + (first - s->low) * a.stride;
  return (gr_tiles_stretch){a, first, end - first};
}

/* The tiles of a rank that have totals. The last of all may be short, and nothing comes behind it. */
static gr_leaves tiles_of(const gr_comm *comm, int rank) {
  gr_leaves l = gr_leaves_of(comm->starts, comm->size, rank, GR_SCAN_TILE);
  if (l.end > comm->starts[comm->size] / GR_SCAN_TILE) l.end--;
  return l;
}

static int64_t nodes_of(const tiling *s, int rank) {
  const gr_comm *comm = s->t->c->comm;
  if (!s->t->ordered) return comm->starts[rank] < comm->starts[rank + 1];
  return gr_count_nodes(tiles_of(comm, rank), GR_SCAN_TILES);
}

/* This rank's totals, into its message. */
static gr_status make_totals(const tiling *s) {
  const gr_tiles *t = s->t;
  const gr_leaves l = tiles_of(t->c->comm, s->own);
  uint64_t *to = (uint64_t *)(void *)s->message + 1;
  int64_t at = l.first;
  gr_status status = GR_OK;
  if (!t->ordered && s->low < s->high) {
    const gr_tiles_stretch part = stretch(s, s->low, s->high);
    status = t->total(t->with, &part, to);
  }
  for (int64_t from = at; t->ordered && status == GR_OK && gr_next_node(l, &at, GR_SCAN_TILES); from = at) {
    const int64_t p = from * GR_SCAN_TILE;
    const gr_tiles_stretch node = p < s->low ? first_tile(s) : stretch(s, p, at * GR_SCAN_TILE);
    status = t->total(t->with, &node, to);
    to += t->words;
  }
  *(int64_t *)(void *)s->message = status;
  return gr_fail_from(t->c, t->q, status, t->name, 0);
}

/* The totals of all ranks before this one, in order; -1: a rank has failed. */
static int64_t take_totals(tiling *s) {
  const gr_tiles *t = s->t;
  const gr_comm *comm = t->c->comm;
  uint64_t *to = s->totals;
  int64_t count = 0, bad = 0;
  for (int r = 0; r < comm->size; r++) {
    const char *at = s->all;
    for (int k = 0; k < gr_ranks_peer(comm, r); k++) at += comm->lengths[k];
    const gr_leaves l = tiles_of(comm, r);
    int64_t first = l.first, failed;
    memcpy(&failed, at, sizeof failed);
    bad |= failed;
    at += sizeof failed;
    for (int64_t k = nodes_of(s, r); k > 0 && r < s->own; k--, count++, to += t->spread, at += 8 * t->words) {
      s->tiles[count] = t->ordered ? gr_next_node(l, &first, GR_SCAN_TILES) : 0;
      memset(to, 0, (size_t)t->spread * 8);
      memcpy(to, at, (size_t)t->words * 8);
    }
  }
  return bad ? -1 : count;
}

static gr_status write_part(const tiling *s, int64_t count) {
  const gr_tiles *t = s->t;
  const int64_t rest = rest_of(s);
  gr_tiles_result r = {s->totals, s->tiles, count, s->low, s->results};
  gr_status status = GR_OK;
  if (s->from < s->low) {
    const gr_tiles_stretch first = first_tile(s);
    status = t->write(t->with, &first, &r);
    if (status == GR_OK && rest < s->high) {
      uint64_t *last = s->totals + count * t->spread;
      memset(last, 0, (size_t)t->spread * 8);
      status = t->total(t->with, &first, last);
      s->tiles[r.count++] = 1;
    }
  }
  if (status == GR_OK && rest < s->high) {
    const gr_tiles_stretch part = stretch(s, rest, s->high);
    r.own = rest;
    r.room = NULL;
    status = t->write(t->with, &part, &r);
  }
  return gr_fail_from(t->c, t->q, status, t->name, 0);
}

void gr_tiles_keep(const gr_tiles_result *r, int64_t first, int64_t end, int size, int64_t at, gr_vec to) {
  const char *from = r->room + at + (r->own - first) * size;
  for (int64_t p = r->own; p < end; p++, from += size)
    memcpy((void *)((uintptr_t)to.data + (uintptr_t)(p * to.stride)), from, (size_t)size);
}

typedef struct layout {
  int64_t message, all, joined, results, totals, tiles, bytes;
} layout;

/* Where everything lies in a block; what is put together only where there are borders. */
static layout layout_of(const tiling *s, int borders) {
  const gr_tiles *t = s->t;
  gr_comm *comm = t->c->comm;
  int64_t all = 0, totals = 1; /* and that of the tile that is put together */
  layout l = {.bytes = 0};
  for (int r = 0; r < comm->size; r++) {
    const int64_t nodes = nodes_of(s, r), bytes = 8 + 8 * t->words * nodes;
    comm->lengths[gr_ranks_peer(comm, r)] = bytes;
    all += bytes;
    totals += nodes;
  }
  l.message = gr_take_room(&l.bytes, comm->lengths[comm->rank]);
  l.all = gr_take_room(&l.bytes, all);
  l.joined = gr_take_room(&l.bytes, borders ? GR_SCAN_TILE * gr_size(t->dtype) : 0);
  l.results = gr_take_room(&l.bytes, borders ? GR_SCAN_TILE * t->result : 0);
  l.totals = gr_take_room(&l.bytes, totals * 8 * t->spread);
  l.tiles = gr_take_room(&l.bytes, totals * 8);
  return l;
}

/* Room for everything, what comes over borders, the totals of all, and then the results. */
gr_status gr_ranks_tiles(gr_tiles *t) {
  gr_context *c = t->c;
  gr_comm *comm = c->comm;
  const int borders = t->ordered && gr_has_borders(comm->starts, comm->size, GR_SCAN_TILE);
  tiling s = {.t = t, .own = gr_ranks_own(comm), .low = gr_ranks_before(c)};
  gr_status mine = GR_OK;
  s.high = s.low + t->n;
  s.from = t->ordered && t->n ? s.low / GR_SCAN_TILE * GR_SCAN_TILE : s.low;
  const layout l = layout_of(&s, borders);
  char *block = malloc((size_t)l.bytes);
  if (!block) mine = gr_fail(c, GR_NO_MEMORY, "out of memory: %lld bytes", (long long)l.bytes);
  s.message = block + l.message;
  s.all = block + l.all;
  s.joined = block + l.joined;
  s.results = block + l.results;
  s.totals = (uint64_t *)(void *)(block + l.totals);
  s.tiles = (int64_t *)(void *)(block + l.tiles);
  gr_status status =
      borders ? gr_ranks_borders_of(c, t->dtype, t->a, GR_SCAN_TILE, 1, &s.before, mine) : gr_ranks_agree(c, mine);
  if (status == GR_OK) {
    if (s.from < s.low) gr_ranks_join(&t->a, gr_size(t->dtype), s.before, s.from, s.low, rest_of(&s), s.joined);
    const gr_status own = make_totals(&s);
    status = gr_ranks_moved(c, comm->table->gather_parts(comm->handle, s.message, s.all, comm->lengths));
    const int64_t before = status == GR_OK ? take_totals(&s) : 0;
    if (before < 0) status = gr_ranks_agree(c, own);
    if (status == GR_OK) status = gr_ranks_agree(c, write_part(&s, before)); /* which may be interrupted */
  }
  free(s.before);
  free(block);
  return status;
}
