/*
** Custom operators in order: scans, and reductions whose merge does not commute, which are the last result of a scan.
** The tree is that of docs/numerics.md: groups of 8, rows of 32 groups, tiles of 16 rows, blocks of 32 tiles, 32 of
** which are a superblock.
**
** States lie in eight planes: plane j has element j of all groups, group by group of the rows, so that each step of
** the scan in groups pairs two planes, and each step of that in rows two stretches of one. What is absent lies right of
** all that is present, and nothing flows to the left: it may hold anything.
*/
#include "kernels/cpu/operator/operator.h"

#include <sched.h>
#include "kernels/cpu/gather.h"
#include "kernels/cpu/reduce/reduce.h"
#include "kernels/cpu/scan/scan.h"

enum { ROW = 256, GROUPS = 32, ROWS = 16 };

/* Where the slots of a prefix are. */
enum { DONE, BLOCKS, TILES = BLOCKS + 7, LAST = TILES + 7, SLOTS, ASIDE = 64 };

/* Units side by side: tiles of one vector, or vectors of a tile at most. */
typedef struct planes {
  int64_t units, rows, groups; /* rows of a unit, groups of a row */
  int64_t width, plane;        /* rows in all, positions of a plane */
  char *x;                     /* planes of elements, then of their places */
  int64_t *position;
  gr_states local[8], spare, groups_before, before, base;
} planes;

/* Totals of neighbours, paired as in a scan by doubling halves: scan_counter of scan.h, of states. */
typedef struct stack {
  int64_t slot, top, count;
} stack;

/* All that lies before a tile. */
typedef struct prefix {
  gr_states slots;
  int64_t at; /* of the first slot */
  int has_done;
  stack blocks, tiles;
} prefix;

/* ---- memory ---- */

static int64_t most_positions(const gr_operating *o) { return o->tiles * ROWS * GROUPS; }

static int64_t plane_bytes(const gr_operating *o, int state) {
  return (most_positions(o) * gr_operator_size(o, state) + 63) / 64 * 64;
}

int64_t gr_order_bytes(const gr_operating *o) {
  int64_t bytes = 2 * 8 * 8 * most_positions(o);
  for (int k = 0; k < o->job->op->states; k++) bytes += 12 * plane_bytes(o, k);
  return bytes;
}

static char *cut_plane(const gr_operating *o, gr_states *s, char *at) {
  for (int k = 0; k < o->job->op->states; k++) {
    s->at[k] = at;
    at += plane_bytes(o, k);
  }
  return at;
}

/* For units of n elements, the last of which may have fewer. */
static planes planes_of(const gr_work *w, int64_t units, int64_t n) {
  const gr_operating *o = w->o;
  char *at = w->planes + 128 * most_positions(o);
  planes p = {.units = units, .x = w->planes};
  p.rows = n < GR_SCAN_TILE ? (n + ROW - 1) / ROW : ROWS;
  p.groups = n < ROW ? (n + 7) / 8 : GROUPS;
  p.width = units * p.rows;
  p.plane = p.width * p.groups;
  p.position = (int64_t *)(void *)(p.x + 64 * most_positions(o));
  for (int j = 0; j < 8; j++) at = cut_plane(o, &p.local[j], at);
  at = cut_plane(o, &p.spare, at);
  at = cut_plane(o, &p.groups_before, at);
  at = cut_plane(o, &p.before, at);
  cut_plane(o, &p.base, at);
  return p;
}

int64_t gr_order_together(const gr_operating *o, int64_t n) {
  const int64_t rows = (n + ROW - 1) / ROW, groups = n < ROW ? (n + 7) / 8 : GROUPS;
  return n > GR_SCAN_TILE ? 1 : most_positions(o) / (rows * groups);
}

/* ---- elements ---- */

/* How many of so many rows have an element at that place. */
static int64_t rows_with(int64_t n, int64_t place, int64_t rows) {
  const int64_t m = n > place ? (n - place + ROW - 1) / ROW : 0;
  return m < rows ? m : rows;
}

/* n elements into rows from `row` on; absent ones become the last. */
static void load(const gr_work *w, const planes *p, const char *at, int64_t stride, int64_t n, int64_t row,
                 int64_t rows) {
  const int size = w->o->size;
  int64_t g, m;
  for (g = 0; g < p->groups && stride == size && n == rows * ROW; g++)
    gr_turn(size, p->x + (g * p->width + row) * size, p->plane * size, at + g * 8 * size, ROW * size, rows, 8);
  for (; g < p->groups; g++) {
    for (int64_t j = 0; j < 8; j++) {
      char *to = p->x + (j * p->plane + g * p->width + row) * size;
      m = rows_with(n, 8 * g + j, rows);
      gr_spread_elements(size, to, size, at + (8 * g + j) * stride, ROW * stride, m);
      gr_gather(to + m * size, at + (n - 1) * stride, 0, rows - m, size);
    }
  }
}

/* Vectors of a row at most, whose first elements are as far from each other as those of a matrix. */
static void load_even(const gr_work *w, const planes *p, const gr_bundle *b) {
  const int size = w->o->size;
  for (int64_t g = 0; g < p->groups; g++)
    for (int64_t j = 0; j < 8; j++) {
      const int64_t place = 8 * g + j < b->n ? 8 * g + j : b->n - 1;
      gr_gather(p->x + (j * p->plane + g * p->width) * size, b->base + place * b->stride, b->step, b->count, size);
    }
}

/* The first element of those rows is at `first` of its vector (from 1), the next `step` further. */
static void number(const planes *p, int64_t first, int64_t step, int64_t row, int64_t rows) {
  for (int64_t j = 0; j < 8; j++)
    for (int64_t g = 0; g < p->groups; g++)
      for (int64_t r = 0; r < rows; r++)
        p->position[j * p->plane + g * p->width + row + r] = first + step * (r * ROW + g * 8 + j);
}

/* ---- scans within tiles ---- */

/* Stretches of m states in s, one after the other. */
static void scan_stretches(gr_work *w, gr_states s, int64_t count, int64_t m) {
  for (int64_t h = 1; h < count; h *= 2)
    for (int64_t j = h; j < count; j += 2 * h)
      for (int64_t i = j; i < j + h && i < count; i++) {
        gr_work_merge(w, s, (j - 1) * m, s, i * m, w->next, 0, m);
        gr_work_copy(w, w->next, 0, s, i * m, m);
      }
}

static void scan_planes(gr_work *w, planes *p) {
  for (int h = 1; h < 8; h *= 2)
    for (int j = h; j < 8; j += 2 * h)
      for (int i = j; i < j + h; i++) {
        gr_work_merge(w, p->local[j - 1], 0, p->local[i], 0, p->spare, 0, p->plane);
        gr_swap(&p->local[i], &p->spare);
      }
}

/* One of every `stride` states into every `pitch`-th. */
static void spread(const gr_work *w, gr_states from, int64_t f, int64_t stride, gr_states to, int64_t t, int64_t pitch,
                   int64_t m) {
  for (int k = 0; k < w->o->merge.count; k++) {
    const int size = w->o->merge.size[k];
    gr_spread_elements(size, to.at[k] + t * size, pitch * size, from.at[k] + f * size, stride * size, m);
  }
}

/*
** All within the units: local scans in groups; groups_before: scans over the groups of rows; now: over rows, row by
** row of all units; before: what lies in a unit before each group. Of its first group that is nothing.
*/
static void scan_units(gr_work *w, planes *p) {
  const int64_t size = w->o->size, rows = p->rows, units = p->units, width = p->width;
  for (int64_t j = 0; j < 8; j++)
    gr_work_map(w, p->x + j * p->plane * size, p->position + j * p->plane, p->local[j], p->plane);
  scan_planes(w, p);
  gr_work_copy(w, p->local[7], 0, p->groups_before, 0, p->plane);
  scan_stretches(w, p->groups_before, p->groups, width);
  for (int64_t u = 0; u < units; u++)
    spread(w, p->groups_before, (p->groups - 1) * width + u * rows, 1, w->now, u, units, rows);
  scan_stretches(w, w->now, rows, units);
  if (rows == 1) {
    gr_work_copy(w, p->groups_before, 0, p->before, 0, width); /* anything */
    gr_work_copy(w, p->groups_before, 0, p->before, width, p->plane - width);
    return;
  }
  for (int64_t u = 0; u < units; u++) {
    spread(w, w->now, u, units, w->row, u * rows, 1, 1); /* anything */
    spread(w, w->now, u, units, w->row, u * rows + 1, 1, rows - 1);
  }
  for (int64_t g = 0; g < p->groups; g++) gr_work_copy(w, w->row, 0, p->base, g * width, width);
  gr_work_copy(w, w->row, 0, p->before, 0, width);
  gr_work_merge(w, p->base, width, p->groups_before, 0, p->before, width, p->plane - width);
  for (int64_t g = 1; g < p->groups; g++)
    spread(w, p->groups_before, (g - 1) * width, rows, p->before, g * width, rows, units);
}

/* ---- what lies before a tile ---- */

/* The state that is aside, of so many units, becomes that of it and its left neighbours, if they have the same size. */
static void push(gr_work *w, prefix *p, stack *s, int64_t units) {
  for (int64_t k = s->count / units; k & 1; k >>= 1) {
    gr_work_merge(w, p->slots, p->at + s->slot + --s->top, w->nodes, 0, w->nodes, 1, 1);
    gr_work_copy(w, w->nodes, 1, w->nodes, 0, 1);
  }
  gr_work_copy(w, w->nodes, 0, p->slots, p->at + s->slot + s->top++, 1);
  s->count += units;
}

static void fold(gr_work *w, const prefix *p, const stack *s) {
  int64_t k = s->top - 1;
  gr_work_copy(w, p->slots, p->at + s->slot + k, w->nodes, 0, 1);
  while (k-- > 0) {
    gr_work_merge(w, p->slots, p->at + s->slot + k, w->nodes, 0, w->nodes, 1, 1);
    gr_work_copy(w, w->nodes, 1, w->nodes, 0, 1);
  }
}

/* The state aside comes behind the one at 2, if there is one. */
static int follow(gr_work *w, int has) {
  if (has) gr_work_merge(w, w->nodes, 2, w->nodes, 0, w->nodes, 1, 1);
  gr_work_copy(w, w->nodes, has ? 1 : 0, w->nodes, 2, 1);
  return 1;
}

/* (superblocks + blocks) + tiles, to `to`; 0: there is nothing. */
static int find_base(gr_work *w, const prefix *p, gr_states to, int64_t t) {
  int has = p->has_done;
  if (has) gr_work_copy(w, p->slots, p->at + DONE, w->nodes, 2, 1);
  if (p->blocks.count) {
    fold(w, p, &p->blocks);
    has = follow(w, has);
  }
  if (p->tiles.count) {
    fold(w, p, &p->tiles);
    has = follow(w, has);
  }
  if (has) gr_work_copy(w, w->nodes, 2, to, t, 1);
  return has;
}

/* The total of the next so many tiles, a power of two up to a superblock's, of which whole multiples lie before. */
static void advance(gr_work *w, prefix *p, gr_states total, int64_t at, int64_t tiles) {
  const int64_t block = GR_SCAN_BLOCK / GR_SCAN_TILE;
  gr_work_copy(w, total, at, w->nodes, 0, 1);
  if (tiles < block) {
    push(w, p, &p->tiles, tiles);
    if (p->tiles.count < block) return;
    gr_work_copy(w, p->slots, p->at + TILES, w->nodes, 0, 1);
    p->tiles.top = p->tiles.count = 0;
    tiles = block;
  }
  if (tiles < GR_SCAN_TILES) {
    push(w, p, &p->blocks, tiles / block);
    if (p->blocks.count < GR_SCAN_TILES / block) return;
    gr_work_copy(w, p->slots, p->at + BLOCKS, w->nodes, 0, 1);
    p->blocks.top = p->blocks.count = 0;
  }
  if (p->has_done) gr_work_copy(w, p->slots, p->at + DONE, w->nodes, 2, 1);
  follow(w, p->has_done);
  gr_work_copy(w, w->nodes, 2, p->slots, p->at + DONE, 1);
  p->has_done = 1;
}

static prefix nothing_before(gr_states slots, int64_t at) {
  return (prefix){.slots = slots, .at = at, .blocks = {.slot = BLOCKS}, .tiles = {.slot = TILES}};
}

/* before: from here on what lies in the vector before each group. bases: of the tiles, the first of which may lack. */
static void add_bases(gr_work *w, planes *p, gr_states bases, int64_t at, int first_lacks) {
  const int64_t width = p->width, rows = p->rows;
  for (int64_t u = 0; u < p->units; u++) {
    const int lacks = first_lacks && u == 0;
    for (int64_t r = 0; r < rows; r++)
      gr_work_copy(w, lacks ? p->before : bases, lacks ? 0 : at + u, p->base, u * rows + r, 1);
  }
  for (int64_t g = 1; g < p->groups; g++) gr_work_copy(w, p->base, 0, p->base, g * width, width);
  gr_work_merge(w, p->base, 0, p->before, 0, w->next, 0, p->plane);
  for (int64_t u = first_lacks ? 1 : 0; u < p->units; u++) gr_work_copy(w, bases, at + u, w->next, u * rows, 1);
  for (int64_t g = 0; g < p->groups && first_lacks; g++)
    gr_work_copy(w, p->before, g * width, w->next, g * width, rows);
  gr_work_copy(w, w->next, 0, p->before, 0, p->plane);
}

/* ---- results ---- */

typedef struct ordered {
  gr_operating *o;
  const gr_bundle *b; /* of one vector */
  int64_t piece;
  prefix left;
  _Atomic int64_t taken, known; /* pieces that somebody works on, those whose left side is settled */
} ordered;

/* Results of plane j: the states in s, which are made of counts. A part lies as the scan meets it. */
static void write_plane(gr_work *w, const planes *p, int64_t from, int64_t n, int j, gr_states s) {
  const gr_operator_job *job = w->o->job;
  const int turned = job->reverse && job->part == GR_OPERATOR_WHOLE;
  const int64_t before = job->first + from + j + !job->exclusive;
  for (int64_t g = 0; g < p->groups && job->op->counts; g++)
    for (int64_t q = 0; q < p->width; q++) w->counts[g * p->width + q] = (double)(before + q * ROW + g * 8);
  gr_work_finish(w, s, w->counts, p->plane);
  for (int k = 0; k < job->op->results; k++) {
    const int size = w->o->finish.size[k];
    const gr_vec *out = &job->out[k];
    const int64_t stride = turned ? -out->stride : out->stride;
    char *to = (char *)(uintptr_t)out->data + (turned ? job->n - 1 : 0) * out->stride + from * stride;
    for (int64_t g = 0; g < p->groups; g++)
      gr_spread_elements(size, to + (8 * g + j) * stride, ROW * stride, w->results.at[k] + g * p->width * size, size,
                         rows_with(n, 8 * g + j, p->width));
  }
}

/* From the last plane down: an exclusive result is made of the plane before. starts: nothing lies before the piece. */
static void write(gr_work *w, planes *p, int64_t from, int64_t n, int starts) {
  const int exclusive = w->o->job->exclusive;
  for (int j = 7; j >= exclusive; j--) {
    gr_states local = p->local[j - exclusive];
    gr_work_merge(w, p->before, 0, local, 0, p->spare, 0, p->plane);
    if (starts) gr_work_copy(w, local, 0, p->spare, 0, 1);
    write_plane(w, p, from, n, j, p->spare);
  }
  if (!exclusive) return;
  if (starts) gr_work_fill(w, p->before, 0, 1);
  write_plane(w, p, from, n, 0, p->before);
}

/* The state of the last element of each unit of n elements, from there on in `to`. starts: as above, of all units. */
static void take_last(gr_work *w, const planes *p, int64_t last, int starts, gr_states to, int64_t t) {
  const int64_t row = last / ROW, g = last % ROW / 8, at = g * p->width + row;
  const gr_states local = p->local[last % 8];
  spread(w, local, at, p->rows, w->row, 0, 1, p->units);
  if (starts && row == 0 && g == 0) {
    gr_work_copy(w, w->row, 0, to, t, p->units);
    return;
  }
  spread(w, p->before, at, p->rows, w->now, 0, 1, p->units);
  gr_work_merge(w, w->now, 0, w->row, 0, w->next, 0, p->units);
  gr_work_copy(w, w->next, 0, to, t, p->units);
}

/* ---- pieces of a long vector ---- */

static void wait_for(ordered *s, int64_t k) {
  int spins = 0;
  while (atomic_load_explicit(&s->known, memory_order_acquire) != k)
    if (++spins > 1000) sched_yield();
}

static void do_piece_on(gr_work *w, ordered *s, int64_t k) {
  const gr_operator_job *job = w->o->job;
  const int64_t from = k * s->piece, left = s->b->n - from, n = left < s->piece ? left : s->piece;
  const int64_t units = (n - 1) / GR_SCAN_TILE + 1, sign = job->reverse ? -1 : 1;
  planes p = planes_of(w, units, units > 1 ? GR_SCAN_TILE : n);
  int starts = 0;
  load(w, &p, s->b->base + from * s->b->stride, s->b->stride, n, 0, p.width);
  if (job->op->position) number(&p, s->b->first + (job->reverse ? s->b->n - from : from + 1), sign, 0, p.width);
  scan_units(w, &p);
  wait_for(s, k);
  for (int64_t u = 0; u < units; u++) {
    if (!find_base(w, &s->left, w->nodes, ASIDE + SLOTS + u)) starts = 1;
    if (from + (u + 1) * GR_SCAN_TILE <= s->b->n) advance(w, &s->left, w->now, (p.rows - 1) * units + u, 1);
  }
  atomic_store_explicit(&s->known, k + 1, memory_order_release);
  if (!starts || units > 1) add_bases(w, &p, w->nodes, ASIDE + SLOTS, starts);
  if (job->scans) {
    write(w, &p, from, n, starts);
  } else if (left <= s->piece) {
    p.units = 1;
    take_last(w, &p, n - 1, starts, s->left.slots, s->left.at + LAST);
  }
}

/* Pieces are taken in order, by who has a workspace: so whoever has the piece before is at work on it. */
static void do_piece(void *arg, int64_t any) {
  ordered *s = (ordered *)arg;
  gr_work w = gr_work_take(s->o);
  const int64_t k = atomic_fetch_add(&s->taken, 1);
  (void)any;
  do_piece_on(&w, s, k);
  gr_work_give(s->o, &w);
}

static void begin(ordered *s, gr_operating *o, const gr_bundle *b, gr_states slots, int64_t at) {
  s->o = o;
  s->b = b;
  s->piece = o->tiles * GR_SCAN_TILE;
  s->left = nothing_before(slots, at);
  atomic_init(&s->taken, 0);
  atomic_init(&s->known, 0);
}

void gr_order_long(gr_operating *o, const gr_bundle *b, gr_parallel parallel, gr_work *w) {
  ordered s;
  begin(&s, o, b, o->pieces, 0);
  gr_in_pieces(parallel, b->n, s.piece, do_piece, &s);
  gr_work_copy(w, o->pieces, LAST, w->now, 0, 1);
}

void gr_order_scan(gr_operating *o, gr_parallel parallel) {
  const gr_operator_job *job = o->job;
  const gr_bundle b = {.base = (const char *)job->a.data + (job->reverse ? job->n - 1 : 0) * job->a.stride,
                       .stride = job->reverse ? -job->a.stride : job->a.stride,
                       .n = job->n,
                       .count = 1};
  ordered s;
  begin(&s, o, &b, o->pieces, 0);
  gr_in_pieces(parallel, job->n, s.piece, do_piece, &s);
}

/* What lies before a part: nodes of other ranks. */
static void take_nodes(gr_work *w, prefix *left, const gr_operator_job *job) {
  const uint64_t *at = job->before;
  for (int64_t v = 0; v < job->nodes; v++) {
    for (int k = 0; k < job->op->states; k++) memcpy(w->now.at[k], at++, (size_t)gr_operator_size(w->o, k));
    advance(w, left, w->now, 0, job->leaves[v]);
  }
}

void gr_order_part(gr_operating *o, gr_parallel parallel, gr_work *w) {
  const gr_operator_job *job = o->job;
  const gr_bundle b = {.base = (const char *)job->a.data,
                       .stride = job->a.stride,
                       .n = job->n,
                       .count = 1,
                       .first = job->reverse ? job->whole - job->first - job->n : job->first};
  ordered s;
  begin(&s, o, &b, o->pieces, 0);
  take_nodes(w, &s.left, job);
  gr_in_pieces(parallel, job->n, s.piece, do_piece, &s);
  if (job->part == GR_OPERATOR_TILES) find_base(w, &s.left, w->now, 0);
  else gr_work_copy(w, o->pieces, LAST, w->now, 0, 1);
}

void gr_order_bundle(gr_work *w, const gr_bundle *b) {
  ordered s;
  if (b->n > GR_SCAN_TILE) { /* one vector, piece by piece */
    gr_bundle one = *b;
    if (!one.base) one.base = one.own[0];
    begin(&s, (gr_operating *)(uintptr_t)w->o, &one, w->nodes, ASIDE);
    for (int64_t k = 0; k * s.piece < b->n; k++) do_piece_on(w, &s, k);
    gr_work_copy(w, w->nodes, ASIDE + LAST, w->now, 0, 1);
    return;
  }
  planes p = planes_of(w, b->count, b->n);
  if (b->base && p.rows == 1) load_even(w, &p, b);
  for (int64_t v = 0; v < b->count; v++) {
    if (!b->base || p.rows > 1)
      load(w, &p, b->base ? b->base + v * b->step : b->own[v], b->stride, b->n, v * p.rows, p.rows);
    if (w->o->job->op->position) number(&p, 1, 1, v * p.rows, p.rows);
  }
  scan_units(w, &p);
  take_last(w, &p, b->n - 1, 1, w->now, 0);
}
