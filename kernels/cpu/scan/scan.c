/*
** Scans: blocks of 131072 elements, one after the other on one thread. With more threads each quarter of a block is
** first added up, then waits until the piece before it knows what lies to its left, and is written: the second
** read of it comes from cache. A single block of floats two threads share: the second adds up what the first writes.
*/
#include "kernels/cpu/scan/scan.h"

#include <sched.h>
#include "kernels/cpu/formula/feed.h"
#include "kernels/cpu/isa/table.h"

#define PARALLEL_ELEMENTS (2 * GR_SCAN_BLOCK)
#define SHARED_ELEMENTS (GR_SCAN_BLOCK / 2)

/* All that lies before a block. */
typedef struct prefix {
  int ordered, multiply;
  gr_op op;
  double done;                /* ordered: the superblocks before, in order */
  scan_counter blocks, tiles; /* ordered: the blocks of this superblock so far, the tiles of this block */
  int64_t key;                /* else one number */
} prefix;

typedef struct scan_state {
  const gr_scan_job *job;
  gr_feed *feed; /* where elements come from if not from memory */
  gr_scan_total total;
  gr_scan_write write;
  prefix left;
  _Atomic int64_t taken, known; /* pieces that somebody works on, those whose left side is settled */
} scan_state;

/* Where an exclusive min or max starts: +inf or the largest integer, -inf or the smallest. */
static int64_t first_key(gr_op op, gr_dtype t) {
  if (op == GR_OP_sum) return 0;
  if (op == GR_OP_prod) return 1;
  if (gr_is_float(t)) return op == GR_OP_min ? gr_key_inf(t) : ~gr_key_inf(t);
  switch (t) {
#define GR_X(id, s, l, type, kind) \
  case GR_##id: return op == GR_OP_min ? GR_HIGHEST(GR_##kind, sizeof(type)) : GR_LOWEST(GR_##kind, sizeof(type));
    GR_DTYPES(GR_X)
#undef GR_X
  }
  return 0;
}

static void nothing_before(const gr_scan_job *job, prefix *p) {
  p->op = job->op;
  p->multiply = job->op == GR_OP_prod;
  p->ordered = gr_is_float(job->dtype) && (job->op == GR_OP_sum || job->op == GR_OP_prod);
  p->done = p->multiply ? 1.0 : -0.0;
  p->blocks.top = p->blocks.count = p->tiles.top = p->tiles.count = 0;
  p->key = first_key(job->op, job->dtype);
}

static gr_acc base_of(const prefix *p) {
  gr_acc acc;
  acc.i[0] = acc.i[1] = acc.i[2] = 0;
  if (!p->ordered) {
    acc.i[0] = p->key;
  } else if (p->blocks.count == 0) {
    acc.f[0] = p->done;
  } else {
    const double within = scan_fold(&p->blocks, p->multiply);
    acc.f[0] = p->multiply ? p->done * within : p->done + within;
  }
  return acc;
}

#define TILES_OF_BLOCK (GR_SCAN_BLOCK / GR_SCAN_TILE)

/* The total of so many tiles joins what lies before: of tiles of a block, or of blocks of a superblock. */
static void advance(prefix *p, gr_acc total, int64_t tiles) {
  if (!p->ordered) {
    _Static_assert(GR_SCANNED_COUNT == 4, "max is the default");
    switch (p->op) {
      case GR_OP_sum: p->key = (int64_t)((uint64_t)p->key + (uint64_t)total.i[0]); break;
      case GR_OP_prod: p->key = (int64_t)((uint64_t)p->key * (uint64_t)total.i[0]); break;
      case GR_OP_min: p->key = total.i[0] < p->key ? total.i[0] : p->key; break;
      default: p->key = total.i[0] > p->key ? total.i[0] : p->key; break;
    }
    return;
  }
  if (tiles < TILES_OF_BLOCK) {
    scan_push_of(&p->tiles, p->multiply, total.f[0], (int)tiles);
    if (p->tiles.count < TILES_OF_BLOCK) return;
    total.f[0] = scan_fold(&p->tiles, p->multiply);
    p->tiles.top = p->tiles.count = 0;
    tiles = TILES_OF_BLOCK;
  }
  scan_push_of(&p->blocks, p->multiply, total.f[0], (int)(tiles / TILES_OF_BLOCK));
  if (p->blocks.count < GR_SCAN_TILES / TILES_OF_BLOCK) return; /* else a superblock is full */
  const double whole = scan_fold(&p->blocks, p->multiply);
  p->done = p->multiply ? p->done * whole : p->done + whole;
  p->blocks.top = p->blocks.count = 0;
}

/* The job as kernels see it that are at work on from .. from + m: these are in memory, made if a formula gives them. */
static const gr_scan_job *bring(const scan_state *s, int set, int64_t from, int64_t m, gr_scan_job *here) {
  const gr_scan_job *job = s->job;
  if (!s->feed) return job;
  *here = *job;
  gr_feed_vectors(s->feed, set, job->reverse ? job->n - from - m : from, m, &here->a, NULL);
  uintptr_t made = (uintptr_t)here->a.data;
  if (job->reverse) {
    made += (uintptr_t)((m - 1) * here->a.stride);
    here->a.stride = -here->a.stride;
  }
  here->a.data = (const void *)(made - (uintptr_t)(from * here->a.stride));
  return here;
}

/* Pieces are taken in order, so whoever has the piece before is at work on it. */
static void do_piece(void *arg, int64_t any) {
  scan_state *s = (scan_state *)arg;
  const int64_t k = atomic_fetch_add(&s->taken, 1);
  const int64_t from = k * GR_SCAN_PIECE, left = s->job->n - from;
  const int64_t m = left < GR_SCAN_PIECE ? left : GR_SCAN_PIECE;
  const int set = gr_feed_take(s->feed);
  gr_scan_job here;
  const gr_scan_job *job = bring(s, set, from, m, &here);
  gr_acc base, total = gr_identity(GR_ACC_WRAP, 0);
  int spins = 0;
  (void)any;
  if (m < left) total = s->total(job, from, m); /* the total of the last piece is not needed */
  while (atomic_load_explicit(&s->known, memory_order_acquire) != k) {
    if (++spins > 1000) sched_yield();
  }
  base = base_of(&s->left);
  scan_counter tiles = s->left.tiles;
  if (m < left) advance(&s->left, total, GR_SCAN_PIECE / GR_SCAN_TILE);
  atomic_store_explicit(&s->known, k + 1, memory_order_release);
  s->write(job, from, m, &base, &tiles);
  gr_feed_give(s->feed, set);
}

/* One block after the other, on this thread. */
static void in_order(scan_state *s) {
  const gr_scan_job *job = s->job;
  const int set = gr_feed_take(s->feed);
  for (int64_t from = 0; from < job->n && !(from && gr_stopped()); from += GR_SCAN_BLOCK) {
    const int64_t left = job->n - from, m = left < GR_SCAN_BLOCK ? left : GR_SCAN_BLOCK;
    const gr_acc base = base_of(&s->left);
    gr_scan_job here;
    gr_acc total = s->write(bring(s, set, from, m, &here), from, m, &base, NULL);
    if (left <= GR_SCAN_BLOCK) break; /* the total of all is not needed */
    if (s->left.ordered) advance(&s->left, total, TILES_OF_BLOCK);
    else s->left.key = total.i[0];
  }
  gr_feed_give(s->feed, set);
}

/* Where a block of two threads is cut: adding up takes somewhat more than a third of the time of writing. */
static int64_t cut_of(const gr_scan_job *job) { return job->n * 5 / 8 / GR_SCAN_TILE * GR_SCAN_TILE; }

static void do_half(void *arg, int64_t second) {
  scan_state *s = (scan_state *)arg;
  const int64_t cut = cut_of(s->job);
  const gr_acc base = base_of(&s->left);
  s->write(s->job, second ? cut : 0, second ? s->job->n - cut : cut, &base, NULL);
}

/* How a scan is spread over threads. */
enum { IN_PIECES, IN_HALVES, ALONE };
static int way_of(const gr_scan_job *job, int ordered, int parallel) {
  if (parallel && job->n >= PARALLEL_ELEMENTS) return IN_PIECES;
  return parallel && ordered && job->n >= SHARED_ELEMENTS && job->n <= GR_SCAN_BLOCK && job->a.data != job->out.data
             ? IN_HALVES
             : ALONE;
}
static int64_t pieces_of(const gr_scan_job *job) { return (job->n - 1) / GR_SCAN_PIECE + 1; }

void gr_cpu_explain_scan(const gr_scan_job *job, int threads, gr_explained *e) {
  static const char *const why[] = {"pieces, each as soon as what lies before it is known",
                                    "short, but long enough for two halves side by side", "block after block"};
  prefix p;
  nothing_before(job, &p);
  const int way = way_of(job, p.ordered, threads > 1);
  e->kernel = p.ordered ? "scan in order" : "scan by keys";
  e->why = why[way];
  e->set = gr_cpu_in_use();
  e->launches = 1;
  e->blocks = way == IN_PIECES ? pieces_of(job) : way == IN_HALVES ? 2 : 1;
  e->threads = e->blocks < threads ? e->blocks : threads;
}

static scan_state state_of(const gr_scan_job *job) {
  const gr_cpu_table *table = gr_cpu_table_in_use();
  scan_state s;
  s.job = job;
  s.feed = NULL;
  nothing_before(job, &s.left);
  const int slot = !s.left.ordered ? GR_SCAN_KEYS : s.left.multiply ? GR_SCAN_PROD : GR_SCAN_SUM;
  s.total = table->scan_total[slot];
  s.write = table->scan_write[slot];
  return s;
}

static void scan_vector(const gr_scan_job *asked, gr_feed *feed, gr_parallel parallel) {
  const gr_scan_job *job = asked;
  gr_scan_job mirrored;
  if (job->reverse) { /* the same, seen from the other end */
    mirrored = *job;
    if (!feed) mirrored.a.data = (const char *)job->a.data + (job->n - 1) * job->a.stride;
    mirrored.out.data = (const char *)job->out.data + (job->n - 1) * job->out.stride;
    mirrored.a.stride = -job->a.stride;
    mirrored.out.stride = -job->out.stride;
    job = &mirrored;
  }
  scan_state s = state_of(job);
  s.feed = feed;
  const int way = way_of(job, s.left.ordered, parallel != NULL);
  if (way == IN_PIECES) {
    atomic_init(&s.taken, 0);
    atomic_init(&s.known, 0);
    parallel(pieces_of(job), do_piece, &s);
    return;
  }
  if (way == IN_HALVES && !feed) {
    parallel(2, do_half, &s);
    return;
  }
  in_order(&s);
}

static void scan_of_several(const gr_scan_job *job, int64_t vector, gr_parallel parallel) {
  gr_scan_job one = *job;
  one.count = 1;
  one.a.data = (const char *)job->a.data + vector * job->a.step;
  one.out.data = (const char *)job->out.data + vector * job->out.step;
  scan_vector(&one, NULL, parallel);
}

static void scan_several(void *job, int64_t v, int64_t end) {
  for (; v < end; v++) scan_of_several((const gr_scan_job *)job, v, NULL);
}

/* Several short vectors to a thread; long ones one after the other, by all threads. */
void gr_cpu_scan(const gr_scan_job *job, gr_feed *feed, gr_parallel parallel) {
  if (job->n == 0 || job->count == 0) return;
  if (job->count == 1) {
    scan_vector(job, feed, parallel);
  } else if (job->n >= PARALLEL_ELEMENTS) {
    for (int64_t v = 0; v < job->count && !(v && gr_stopped()); v++) scan_of_several(job, v, parallel);
  } else {
    gr_in_ranges(parallel, job->count, GR_SCAN_PIECE / job->n + 1, scan_several, job);
  }
}

/* ---- parts ---- */

gr_acc gr_cpu_scan_total(const gr_scan_job *job, int64_t from, int64_t n) {
  scan_state s = state_of(job);
  scan_counter blocks = {{0}, 0, 0};
  gr_acc acc = gr_identity(GR_ACC_WRAP, 0);
  for (; n > 0; n -= GR_SCAN_BLOCK, from += GR_SCAN_BLOCK) {
    const gr_acc total = s.total(job, from, n < GR_SCAN_BLOCK ? n : GR_SCAN_BLOCK);
    if (s.left.ordered) scan_push(&blocks, s.left.multiply, total.f[0]);
    else advance(&s.left, total, TILES_OF_BLOCK);
  }
  if (s.left.ordered) acc.f[0] = scan_fold(&blocks, s.left.multiply);
  else acc.i[0] = s.left.key;
  return acc;
}

void gr_cpu_scan_part(const gr_scan_part *part) {
  const gr_scan_job *job = &part->job;
  scan_state s = state_of(job);
  int64_t from = part->first, k;
  for (k = 0; k < part->count; k++) advance(&s.left, part->totals[k], part->tiles[k]);
  while (from < job->n && !(from > part->first && gr_stopped())) {
    const int64_t end = s.left.ordered ? (from / GR_SCAN_BLOCK + 1) * GR_SCAN_BLOCK : from + GR_SCAN_BLOCK;
    const int64_t m = end < job->n ? end - from : job->n - from;
    const gr_acc base = base_of(&s.left);
    const scan_counter tiles = s.left.tiles;
    const gr_acc total = s.write(job, from, m, &base, s.left.ordered && tiles.count ? &tiles : NULL);
    from += m;
    if (from == job->n) break;
    s.left.tiles.top = s.left.tiles.count = 0;
    if (s.left.ordered) advance(&s.left, total, TILES_OF_BLOCK);
    else s.left.key = total.i[0];
  }
}
