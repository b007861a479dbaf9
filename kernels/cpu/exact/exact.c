/*
** Exact sums on the CPU: takes a job apart into stretches of contiguous f32 or f64 that one kernel call does. Other
** dtypes and strides are widened or gathered first. Where a job is cut does not matter to the result.
*/
#include "kernels/cpu/exact/exact.h"
#include "kernels/cpu/formula/feed.h"
#include "kernels/cpu/gather.h"

#define PART 1024 /* elements widened at a time */
#define PIECE_BYTES (512 * 1024)

/* ---- elements as f32 or f64 ---- */

/* Which numbers a dtype is summed as: 0 f32, 1 f64; 16-bit floats are exact in f32, integers up to 32 bits in f64. */
static int width_of(gr_dtype t) { return t == GR_F16 || t == GR_BF16 || t == GR_F32 ? 0 : 1; }

/* An i64 is two doubles: its high part, a multiple of 2^32, and its low 32 bits (half 1 and 0). */
static double half_of(int64_t x, int half) {
  int64_t low = x & UINT32_MAX;
  return half ? (double)(x - low) : (double)low;
}

/* m elements from p on into to, as f32 or f64. half: of i64. */
static void widen(void *to, const char *p, int64_t stride, int64_t m, gr_dtype t, int half) {
  float *f = (float *)to;
  double *d = (double *)to;
  int64_t k;
#define EACH(type, put)                  \
  for (k = 0; k < m; k++, p += stride) { \
    type e;                              \
    memcpy(&e, p, sizeof e);             \
    put;                                 \
  }                                      \
  break
  switch (t) {
    case GR_F16: EACH(gr_f16, f[k] = gr_f16_to_f32(e));
    case GR_BF16: EACH(gr_bf16, f[k] = gr_bf16_to_f32(e));
    case GR_F32: gr_gather(to, p, stride, m, 4); break;
    case GR_F64: gr_gather(to, p, stride, m, 8); break;
    case GR_I64: EACH(int64_t, d[k] = half_of(e, half));
    case GR_U8: EACH(uint8_t, d[k] = (double)e);
    case GR_I8: EACH(int8_t, d[k] = (double)e);
    case GR_U16: EACH(uint16_t, d[k] = (double)e);
    case GR_I16: EACH(int16_t, d[k] = (double)e);
    case GR_U32: EACH(uint32_t, d[k] = (double)e);
    case GR_I32: EACH(int32_t, d[k] = (double)e);
  }
#undef EACH
}

/* A stretch as the kernels want it: in place if it is so already, else widened into room. */
static const void *fetch(const gr_exact_job *job, const gr_vec *v, const char *p, int64_t m, int half, void *room) {
  int direct = (job->dtype == GR_F32 || job->dtype == GR_F64) && v->stride == gr_size_of(job->dtype);
  if (direct) return p;
  widen(room, p, v->stride, m, job->dtype, half);
  return room;
}

/* ---- stretches ---- */

/* |x| of an i64 is not the sum of its halves' magnitudes: turn the negative ones round, half by half. */
static void magnitudes_of_halves(double *d, const char *p, int64_t stride, int64_t m) {
  for (int64_t k = 0; k < m; k++, p += stride) {
    int64_t e;
    memcpy(&e, p, sizeof e);
    if (e < 0) d[k] = -d[k];
  }
}

/* m elements of vector v from element `from` on; m <= PART unless nothing needs widening. */
static void stretch(gr_exact *s, const gr_exact_set *set, const gr_exact_job *job, int64_t v, int64_t from, int64_t m) {
  double x[PART], y[PART];
  const gr_vec *a = &job->a, *b = &job->b;
  int wide = width_of(job->dtype), halves = job->dtype == GR_I64 ? 2 : 1;
  const char *p = (const char *)a->data + v * a->step + from * a->stride;
  const char *q = job->kind == GR_EXACT_DOT ? (const char *)b->data + v * b->step + from * b->stride : NULL;
  for (int i = 0; i < halves; i++) {
    const void *left = fetch(job, a, p, m, i, x);
    if (job->kind != GR_EXACT_DOT) {
      int magnitudes = job->kind == GR_EXACT_SUMABS;
      if (magnitudes && halves == 2) magnitudes_of_halves(x, p, a->stride, m);
      set->sum[wide](s, left, m, magnitudes && halves == 1);
    } else {
      for (int j = 0; j < halves; j++) set->dot[wide](s, left, fetch(job, b, q, m, j, y), m);
    }
  }
}

/* m elements of vector v from element `from` on. */
static void range(gr_exact *s, const gr_exact_set *set, const gr_exact_job *job, int64_t v, int64_t from, int64_t m) {
  int size = gr_size_of(job->dtype),
      dense = job->a.stride == size && (job->kind != GR_EXACT_DOT || job->b.stride == size);
  if (dense && (job->dtype == GR_F32 || job->dtype == GR_F64)) {
    stretch(s, set, job, v, from, m);
    return;
  }
  for (; m > 0; from += PART, m -= PART) stretch(s, set, job, v, from, m < PART ? m : PART);
}

/* ---- jobs ---- */

typedef struct work {
  const gr_exact_job *job;
  gr_feed *feed; /* where elements come from if not from memory: those of vector v follow those of the one before */
  const gr_exact_set *set;
  gr_exact *sums;
  int64_t v, size; /* of pieces of vector v in elements, or of a batch in vectors */
} work;

/* m elements of vector v from element `from` on, made or in memory. */
static void add_up(const work *w, gr_exact *s, int64_t v, int64_t from, int64_t m) {
  gr_exact_job made = *w->job;
  const int set = gr_feed_take(w->feed);
  int64_t part, at = v * made.n + from;
  if (!w->feed) range(s, w->set, w->job, v, from, m);
  else
    for (; m > 0; m -= part, at += part) {
      part = gr_feed_most(w->feed, m);
      gr_feed_vectors(w->feed, set, at, part, &made.a, &made.b);
      range(s, w->set, &made, 0, 0, part);
    }
  gr_feed_give(w->feed, set);
}

static void do_piece(void *arg, int64_t k) {
  work *w = (work *)arg;
  int64_t from = k * w->size, left = w->job->n - from;
  gr_exact_clear(w->sums + k);
  add_up(w, w->sums + k, w->v, from, left < w->size ? left : w->size);
}

static void do_batch(void *arg, int64_t k) {
  work *w = (work *)arg;
  int64_t end = (k + 1) * w->size < w->job->count ? (k + 1) * w->size : w->job->count;
  for (int64_t v = k * w->size; v < end; v++) {
    gr_exact_clear(w->sums + v);
    add_up(w, w->sums + v, v, 0, w->job->n);
  }
}

void gr_cpu_exact(const gr_exact_job *job, gr_feed *feed, gr_exact *sums, gr_exact *room, int rooms,
                  gr_parallel parallel) {
  work w = {job, feed, gr_exact_set_in_use(), sums, 0, 0};
  int64_t bytes = job->n * gr_size_of(job->dtype), pieces = bytes / PIECE_BYTES;
  if (pieces > rooms) pieces = rooms;
  if (pieces < 2 || (job->count >= 16 && bytes < 16 * PIECE_BYTES)) {
    w.size = PIECE_BYTES / 4 / (bytes + 64) + 1;
    parallel((job->count + w.size - 1) / w.size, do_batch, &w);
    return;
  }
  for (w.v = 0; w.v < job->count; w.v++) {
    w.sums = room;
    w.size = (job->n + pieces - 1) / pieces;
    w.size = (w.size + PART - 1) / PART * PART;
    pieces = (job->n + w.size - 1) / w.size;
    parallel(pieces, do_piece, &w);
    if (gr_stopped()) return; /* some are not there */
    for (int64_t k = 1; k < pieces; k++) gr_exact_merge(room, room + k);
    sums[w.v] = room[0];
  }
}
