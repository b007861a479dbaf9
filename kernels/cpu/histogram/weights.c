/*
** Weighted histograms: the instruction set's kernel says where each sample belongs, and its weight, as an integer, is
** added there. Few bins: every piece has sums of its own on the stack.
*/
#include "kernels/cpu/formula/feed.h"
#include "kernels/cpu/isa/table.h"
#include "kernels/cpu/room.h"
#include "kernels/numerics/fixed.h"

#define CHUNK GR_BINS_CHUNK
#define SLOTS 2048 /* sums that a piece has of its own */
#define PIECE_ELEMENTS (64 * 1024)

typedef struct state {
  const gr_weights_job *job;
  gr_feed *feed; /* where both come from if not from memory */
  gr_bins_job bins;
  gr_bins find;
  gr_fixed *sums;
  int64_t slots;
} state;

/* The weights from w on as integers. */
static void weights(const gr_weights_job *job, const char *w, int m, gr_fixed *to) {
  switch (job->dtype) {
/* clang-format off */
#define WHOLE(id, type)                                                                    \
    case GR_##id:                                                                          \
      for (int k = 0; k < m; k++, w += job->w.stride) {                                    \
        type x;                                                                            \
        memcpy(&x, w, sizeof(x));                                                          \
        to[k] = gr_fixed_whole((int64_t)x);                                                \
      }                                                                                    \
      break;
#define REAL(id, s, type)                                                                  \
    case GR_##id:                                                                          \
      for (int k = 0; k < m; k++, w += job->w.stride) {                                    \
        type x;                                                                            \
        memcpy(&x, w, sizeof(x));                                                          \
        to[k] = gr_fixed_of(gr_widen_##s(x), job->unit);                                   \
      }                                                                                    \
      break;
    WHOLE(U8, uint8_t) WHOLE(I8, int8_t) WHOLE(U16, uint16_t) WHOLE(I16, int16_t)
    WHOLE(U32, uint32_t) WHOLE(I32, int32_t) WHOLE(I64, int64_t)
    REAL(F16, f16, gr_f16) REAL(BF16, bf16, gr_bf16) REAL(F32, f32, float) REAL(F64, f64, double)
#undef WHOLE
#undef REAL
    /* clang-format on */
  }
}

/* The weights of n samples from `from` on, added up in sums. */
static void weigh_some(const state *s, const gr_vec *a, const gr_vec *by, int64_t n, gr_fixed *sums) {
  const char *x = (const char *)a->data, *y = (const char *)by->data;
  int32_t index[CHUNK];
  gr_fixed w[CHUNK];
  for (; n > 0; n -= CHUNK, x += CHUNK * a->stride, y += CHUNK * by->stride) {
    const int m = n < CHUNK ? (int)n : CHUNK;
    s->find(&s->bins, x, a->stride, m, index);
    weights(s->job, y, m, w);
    for (int k = 0; k < m; k++) sums[index[k]] = gr_fixed_add(sums[index[k]], w[k]);
  }
}

static void weigh(const state *s, int64_t from, int64_t n, gr_fixed *sums) {
  const int set = gr_feed_take(s->feed);
  int64_t m;
  for (; n > 0; n -= m, from += m) {
    gr_vec a = s->job->bins.a, w = s->job->w;
    m = gr_feed_most(s->feed, n);
    if (s->feed) {
      gr_feed_vectors(s->feed, set, from, m, &a, &w);
    } else {
      a.data = (const char *)a.data + from * a.stride;
      w.data = (const char *)w.data + from * w.stride;
    }
    weigh_some(s, &a, &w, m, sums);
  }
  gr_feed_give(s->feed, set);
}

/* Adds to a sum that all pieces share: who carries out of the low word adds the carry to the high one. */
static void add(gr_fixed *to, gr_fixed x) {
  const uint64_t before = __atomic_fetch_add(&to->low, x.low, __ATOMIC_RELAXED), carry = before + x.low < before;
  if (x.high + carry) __atomic_fetch_add(&to->high, x.high + carry, __ATOMIC_RELAXED);
}

static void do_piece(void *arg, int64_t k) {
  const state *s = (const state *)arg;
  const int64_t n = s->job->bins.n, from = k * PIECE_ELEMENTS, left = n - from;
  gr_fixed *sums = gr_room_take(SLOTS * sizeof(*sums));
  memset(sums, 0, (size_t)s->slots * sizeof(*sums));
  weigh(s, from, left < PIECE_ELEMENTS ? left : PIECE_ELEMENTS, sums);
  for (int64_t i = 0; i < s->slots; i++) add(&s->sums[i], sums[i]);
  gr_room_give(sums);
}

#define SPAN (1 << 18) /* slots between two looks whether to stop */

void gr_cpu_weights(const gr_weights_job *asked, gr_feed *feed, gr_parallel parallel) {
  const gr_weights_job *job = asked;
  const int64_t n = job->bins.n;
  gr_weights_job dense;
  if (feed) {
    dense = *asked;
    dense.bins.a.stride = gr_size_of(asked->bins.dtype);
    dense.w.stride = gr_size_of(asked->dtype);
    job = &dense;
  }
  state s = {.job = job, .feed = feed, .bins = {.job = &job->bins}, .find = gr_cpu_table_in_use()->bins};
  s.sums = (gr_fixed *)job->state;
  s.slots = job->bins.bins + 3;
  for (int64_t i = 0; i < s.slots && !(i && gr_stopped()); i += SPAN)
    memset(s.sums + i, 0, (size_t)(s.slots - i < SPAN ? s.slots - i : SPAN) * sizeof(*s.sums));
  if (n > 0) {
    gr_bins_judge(&s.bins);
    if (parallel && n > PIECE_ELEMENTS && s.slots <= SLOTS) parallel((n - 1) / PIECE_ELEMENTS + 1, do_piece, &s);
    else
      for (int64_t i = 0; i < n && !(i && gr_stopped()); i += PIECE_ELEMENTS)
        weigh(&s, i, n - i < PIECE_ELEMENTS ? n - i : PIECE_ELEMENTS, s.sums);
  }
  for (int64_t i = 0; i < s.slots; i++) {
    if (i % SPAN == 0 && i && gr_stopped()) return;
    if (gr_is_float(job->dtype)) ((double *)job->out)[i] = gr_fixed_value(s.sums[i], job->unit);
    else ((int64_t *)job->out)[i] = (int64_t)s.sums[i].low;
  }
}
