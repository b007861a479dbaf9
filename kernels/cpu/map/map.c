/*
** Element operators and compaction. A job is done in chunks that fit the first cache: operands become elements side by
** side in the type that is computed in (which they often are already), one loop runs, and the results go where they
** belong. Numbers in an operand's place are chunks of equal elements, so every loop exists once.
*/
#include <sched.h>
#include "kernels/cpu/formula/feed.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/map/map.h"
#include "kernels/cpu/isa/table.h"
#include "kernels/cpu/room.h"

#define CHUNK 1024                  /* elements */
#define PIECE ((int64_t)32 * CHUNK) /* for one thread at a time */

typedef union chunk {
  double align;
  char bytes[CHUNK * 8];
} chunk;

static const gr_map_loops *loops_in_use(void) {
#if GR_CPU_X86
  const gr_cpu_table *set = gr_cpu_table_in_use();
  if (set == &gr_cpu_avx512) return &gr_map_avx512;
  if (set == &gr_cpu_avx2) return &gr_map_avx2;
#endif
  return &gr_map_base;
}

/* ---- how an operator runs ---- */

static gr_via cast_via(gr_dtype in, gr_dtype out) {
  if (gr_is_float(in) && gr_is_float(out) && in != GR_F64 && out != GR_F64) return GR_VIA_F32;
  return !gr_is_float(in) && (in == GR_I64 || !gr_is_float(out)) ? GR_VIA_I64 : GR_VIA_F64;
}

static int is_half(gr_dtype t) { return t == GR_F16 || t == GR_BF16; }

static void step_of_cast(gr_map_step *s, const gr_map_loops *l, gr_dtype in, gr_dtype out) {
  gr_via via = cast_via(in, out);
  s->to = l->to[via][in];
  s->from = l->from[via][out];
  s->wide_size = via == GR_VIA_F32 ? 4 : 8;
}

/* All but casts: the dtype that is computed in, and the conversions there and back. */
static gr_dtype step_type(gr_map_step *s, const gr_map_loops *l, gr_map op, gr_dtype in, gr_dtype out) {
  gr_dtype t = gr_map_widens(op, in) ? GR_F64 : is_half(in) && op != GR_MAP_where ? GR_F32 : in;
  gr_via via = t == GR_F64 ? GR_VIA_F64 : GR_VIA_F32;
  s->wide_size = gr_size_of(t);
  if (t != in) s->to = l->to[via][in];
  if (t != out && !gr_map_masks(op, in)) s->from = l->from[via][out];
  return t;
}

gr_map_step gr_map_step_of(gr_map op, gr_relation relation, gr_dtype in, gr_dtype out) {
  const gr_map_loops *l = loops_in_use();
  const int size = gr_size_of(in);
  gr_map_step s = {NULL, NULL, NULL, 0, 0, 0, 0, 0};
  s.size = size;
  s.out_size = gr_size_of(out);
  s.numbers_wide = gr_map_widens(op, in) && !gr_is_float(in);
  if (op == GR_MAP_cast) {
    step_of_cast(&s, l, in, out);
  } else {
    gr_dtype t = step_type(&s, l, op, in, out);
    gr_relation r = relation;
    if (op == GR_MAP_compare && (r == GR_IS_gt || r == GR_IS_ge)) { /* a > b is b < a */
      s.turned = 1;
      r = r == GR_IS_gt ? GR_IS_lt : GR_IS_le;
    }
    if (op == GR_MAP_where) s.loop = l->where[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
    else if (op == GR_MAP_compare) s.loop = l->compare[r][t];
    else if (op == GR_MAP_pow) s.loop = l->power[t == GR_F64];
    else s.loop = l->map[op][t];
  }
  return s;
}

gr_map_step gr_map_filled_step(gr_dtype t) {
  gr_map_step s = {.size = gr_size_of(t), .wide_size = gr_size_of(t), .out_size = gr_size_of(t)};
  s.loop = loops_in_use()->filled[t];
  return s;
}

gr_map_loop gr_map_pair(gr_map first, gr_map second, int place, gr_dtype t) {
  static const struct {
    gr_map op;
    unsigned char to, from;
  } /* to, from: the first is its left operand, its right one */
  seconds[] = {{GR_MAP_add, GR_SECOND_add, GR_SECOND_add},          {GR_MAP_sub, GR_SECOND_sub, GR_SECOND_sub_from},
               {GR_MAP_mul, GR_SECOND_mul, GR_SECOND_mul},          {GR_MAP_div, GR_SECOND_div, GR_SECOND_div_by},
               {GR_MAP_square, GR_SECOND_square, GR_SECOND_square}, {GR_MAP_sqrt, GR_SECOND_sqrt, GR_SECOND_sqrt},
               {GR_MAP_abs, GR_SECOND_abs, GR_SECOND_abs}};
  enum { KNOWN = sizeof seconds / sizeof *seconds };
  int f = -1, s = 0;
  if (t != GR_F32 && t != GR_F64) return NULL;
#define GR_X(name, value) \
  if (first == GR_MAP_##name) f = GR_FIRST_##name;
  GR_FIRSTS(GR_X)
#undef GR_X
  while (s < KNOWN && seconds[s].op != second) s++;
  if (f < 0 || s == KNOWN) return NULL;
  return loops_in_use()->pair[t == GR_F64][f][place == 0 ? seconds[s].to : seconds[s].from];
}

void gr_map_fill(const gr_map_step *s, uint64_t value, void *to, int64_t m) {
  if (s->to && !s->numbers_wide) {
    uint64_t element = value;
    value = 0;
    s->to(&element, &value, 1);
  }
  for (int64_t k = 0; k < m; k++) memcpy((char *)to + k * s->wide_size, &value, (size_t)s->wide_size);
}

/* ---- the plan of a job ---- */

typedef struct plan {
  const gr_map_job *job;
  gr_map_step step;
  const gr_operand *operand[3]; /* in the order that the loop wants; NULL: not used */
  int sizes[3];
  int indirect;    /* elements are gathered, scattered or converted */
  chunk number[3]; /* operands that are one number */
} plan;

static void make_plan(plan *p, const gr_map_job *job) {
  p->job = job;
  p->step = gr_map_step_of(job->op, job->relation, job->dtype, job->out_dtype);
  p->operand[0] = &job->a;
  p->operand[1] = gr_map_operands(job->op) > 1 ? &job->b : NULL;
  p->operand[2] = gr_map_operands(job->op) > 2 ? &job->c : NULL;
  for (int i = 0; i < 3; i++) p->sizes[i] = p->step.size;
  if (job->op == GR_MAP_where) p->sizes[2] = 1;
  if (p->step.turned) {
    p->operand[0] = &job->b;
    p->operand[1] = &job->a;
  }
  p->indirect = p->step.to || p->step.from || job->out.stride != p->step.out_size;
  for (int i = 0; i < 3; i++) {
    const gr_operand *o = p->operand[i];
    if (!o) continue;
    if (o->vec.data) p->indirect |= o->vec.stride != p->sizes[i];
    else gr_map_fill(&p->step, o->value, p->number[i].bytes, job->n < CHUNK ? job->n : CHUNK);
  }
}

/* ---- one chunk ---- */

typedef struct chunks {
  chunk narrow[3], wide[3], result;
} chunks;

/* m elements of operand i from position k on, side by side, as what is computed in. room: for what is indirect. */
static const void *fetch(const plan *p, int i, int64_t k, int64_t m, chunks *room) {
  const gr_operand *o = p->operand[i];
  const int size = p->sizes[i];
  if (!o->vec.data) return p->number[i].bytes;
  const char *x = (const char *)o->vec.data + k * o->vec.stride;
  if (o->vec.stride != size) {
    gr_gather(room->narrow[i].bytes, x, o->vec.stride, m, size);
    x = room->narrow[i].bytes;
  }
  if (!p->step.to || (p->job->op == GR_MAP_where && i == 2)) return x;
  p->step.to(x, room->wide[i].bytes, m);
  return room->wide[i].bytes;
}

static void run_chunk(const plan *p, int64_t k, int64_t m, chunks *room) {
  const void *x[3] = {NULL, NULL, NULL};
  const int64_t stride = p->job->out.stride;
  char *out = (char *)(uintptr_t)p->job->out.data + k * stride;
  char *dense = stride == p->step.out_size ? out : room->narrow[0].bytes;
  for (int i = 0; i < 3; i++) x[i] = p->operand[i] ? fetch(p, i, k, m, room) : x[0];
  if (p->step.loop) {
    char *to = p->step.from ? room->result.bytes : dense;
    p->step.loop(x[0], x[1], x[2], to, m);
    x[0] = to;
  }
  if (p->step.from) p->step.from(x[0], dense, m);
  if (dense != out) gr_scatter(dense, out, stride, m, p->step.out_size);
}

static void run_range(void *arg, int64_t k, int64_t end) {
  const plan *p = (const plan *)arg;
  chunks *room = p->indirect ? gr_room_take(sizeof(*room)) : NULL;
  for (; k < end; k += CHUNK) run_chunk(p, k, end - k < CHUNK ? end - k : CHUNK, room);
  if (room) gr_room_give(room);
}

/* One element of the result of a comparison that counts. */
static void run_tally(void *arg, int64_t from, int64_t end) {
  const plan *p = (const plan *)arg;
  chunks *room = p->indirect ? gr_room_take(sizeof(*room)) : NULL;
  uint8_t holds[CHUNK];
  int64_t k, i, count = 0;
  for (k = from; k < end; k += CHUNK) {
    const int64_t m = end - k < CHUNK ? end - k : CHUNK;
    const void *x = fetch(p, 0, k, m, room), *y = fetch(p, 1, k, m, room);
    int32_t some = 0;
    p->step.loop(x, y, x, holds, m);
    for (i = 0; i < m; i++) some += holds[i];
    count += some;
  }
  if (room) gr_room_give(room);
  ((int64_t *)(uintptr_t)p->job->out.data)[from / GR_TALLY] =
      p->job->tally == GR_TALLY_ALL ? count == end - from : count;
}

void gr_cpu_map(const gr_map_job *job, gr_parallel parallel) {
  plan p;
  if (job->n <= 0) return;
  make_plan(&p, job);
  if (job->tally) gr_in_ranges(parallel, job->n, GR_TALLY, run_tally, &p);
  else gr_in_ranges(parallel, job->n, PIECE, run_range, &p);
}

/* ---- compact ---- */

typedef struct compact_state {
  const gr_compact_job *job;
  gr_feed *feed; /* where elements come from if not from memory; the mask lies in memory */
  gr_map_keep keep;
  int size;
  _Atomic int64_t taken, known; /* pieces that somebody works on, those that have been counted */
  int64_t kept;                 /* in those */
} compact_state;

static const uint8_t *mask_at(const gr_compact_job *job, int64_t k, int64_t m, uint8_t *buffer) {
  const char *x = (const char *)job->mask.data + k * job->mask.stride;
  if (job->mask.stride == 1) return (const uint8_t *)x;
  gr_gather(buffer, x, job->mask.stride, m, 1);
  return buffer;
}

static int64_t count_mask(const gr_compact_job *job, int64_t from, int64_t end) {
  uint8_t buffer[CHUNK];
  int64_t k, i, count = 0;
  for (k = from; k < end; k += CHUNK) {
    const int64_t m = end - k < CHUNK ? end - k : CHUNK;
    const uint8_t *mask = mask_at(job, k, m, buffer);
    int32_t some = 0;
    for (i = 0; i < m; i++) some += mask[i] != 0;
    count += some;
  }
  return count;
}

/* The kept elements of [from, end) to position `at` on. Each chunk is read before any of it is written. */
static int64_t keep_range(const compact_state *s, int64_t from, int64_t end, int64_t at) {
  const gr_compact_job *job = s->job;
  const int set = gr_feed_take(s->feed);
  uint8_t mask_buffer[CHUNK];
  chunk gathered, kept;
  for (int64_t k = from; k < end; k += CHUNK) {
    const int64_t m = end - k < CHUNK ? end - k : CHUNK;
    const uint8_t *mask = mask_at(job, k, m, mask_buffer);
    char *out = (char *)(uintptr_t)job->out.data + at * job->out.stride;
    const char *x;
    if (s->feed) {
      gr_vec made;
      gr_feed_vectors(s->feed, set, k, m, &made, NULL);
      x = (const char *)made.data;
    } else {
      x = (const char *)job->a.data + k * job->a.stride;
      if (job->a.stride != s->size) {
        gr_gather(gathered.bytes, x, job->a.stride, m, s->size);
        x = gathered.bytes;
      }
    }
    int64_t count = s->keep(x, mask, kept.bytes, m);
    if (job->out.stride == s->size) memcpy(out, kept.bytes, (size_t)(count * s->size));
    else gr_scatter(kept.bytes, out, job->out.stride, count, s->size);
    at += count;
  }
  gr_feed_give(s->feed, set);
  return at;
}

/* Pieces are taken in order, so whoever has the piece before is at work on it. */
static void compact_piece(void *arg, int64_t any) {
  compact_state *s = (compact_state *)arg;
  const int64_t piece = atomic_fetch_add(&s->taken, 1);
  const int64_t from = piece * PIECE, end = from + PIECE < s->job->n ? from + PIECE : s->job->n;
  const int64_t count = count_mask(s->job, from, end);
  int spins = 0;
  (void)any;
  while (atomic_load_explicit(&s->known, memory_order_acquire) != piece)
    if (++spins > 1000) sched_yield();
  int64_t at = s->kept;
  s->kept += count;
  atomic_store_explicit(&s->known, piece + 1, memory_order_release);
  keep_range(s, from, end, at);
}

void gr_cpu_compact(const gr_compact_job *job, gr_feed *feed, gr_parallel parallel) {
  if (!job->out.data) {
    *job->kept = count_mask(job, 0, job->n);
    return;
  }
  compact_state s;
  const int size = gr_size_of(job->dtype);
  const int64_t pieces = (job->n + PIECE - 1) / PIECE;
  s.job = job;
  s.feed = feed;
  s.size = size;
  s.keep = loops_in_use()->keep[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
  s.kept = 0;
  if (!parallel || pieces < 2 ||
      (!feed && job->a.data == job->out.data)) { /* in place: what lies ahead must not be written yet */
    int64_t from, at = 0;
    for (from = 0; from < job->n && !(from && gr_stopped()); from += PIECE)
      at = keep_range(&s, from, job->n - from < PIECE ? job->n : from + PIECE, at);
    return;
  }
  atomic_init(&s.taken, 0);
  atomic_init(&s.known, 0);
  parallel(pieces, compact_piece, &s);
}
