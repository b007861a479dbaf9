/*
** Histograms: the instruction set's kernel says where each sample belongs, a few hundred at a time, and this
** counts, unless it has a way to do both. Each piece counts in tables of its own on the stack while the bins are few
** enough.
*/
#include "kernels/cpu/formula/feed.h"
#include "kernels/cpu/isa/table.h"
#include "kernels/cpu/room.h"

#define CHUNK GR_BINS_CHUNK    /* samples between finding bins and counting them */
#define SLOTS (4 * (4096 + 3)) /* counters that a piece has of its own */
#define PIECE_ELEMENTS (128 * 1024)
#define MAX_PIECES 4096

typedef struct state {
  const gr_histogram_job *job;
  gr_feed *feed; /* where samples come from if not from memory */
  gr_bins_job bins;
  gr_bins find;
  gr_count count;
  int size, alone; /* alone: one piece, whose counts go straight to the result */
  int64_t piece;
} state;

static int64_t slots_of(const gr_histogram_job *job) { return job->bins + 3; }

/* Adds a piece's counts to the result; they are integers, so the order does not matter. */
static void add_all(int64_t *to, const int64_t *counts, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    if (counts[k]) __atomic_fetch_add(&to[k], counts[k], __ATOMIC_RELAXED);
}

/* Samples from `from` on, and how many of n there are at once: all of them in memory, a stretch of a formula's. */
static const char *samples(const state *s, int set, int64_t from, int64_t n, int64_t *m) {
  gr_vec a = s->job->a;
  *m = gr_feed_most(s->feed, n);
  if (!s->feed) return (const char *)a.data + from * a.stride;
  gr_feed_vectors(s->feed, set, from, *m, &a, NULL);
  return (const char *)a.data;
}

/* The slots of m samples: in room, or where the samples themselves lie, when they are the slots. */
static const int32_t *slots_at(const state *s, const char *x, int m, int32_t *room) {
  if (s->job->modulo == 2 && s->size == 4 && s->job->a.stride == 4) return (const int32_t *)(const void *)x;
  s->find(&s->bins, x, s->job->a.stride, m, room);
  return room;
}

/*
** Samples into several tables of as many slots, one after the other, so that runs of equal samples do not wait for one
** counter. Each table gets its share of them and up to seven more.
*/
#define COUNT(name, type, tables)                                                                  \
  static void name##_more(const state *s, const char *x, int64_t n, type *table, int32_t slots) {  \
    const int64_t stride = s->job->a.stride, step = 8 * stride;                                    \
    int32_t room[CHUNK];                                                                           \
    type *t[8];                                                                                    \
    int k;                                                                                         \
    for (k = 0; k < 8; k++) t[k] = table + (k % tables) * slots;                                   \
    if (s->count && (tables) > 1) {                                                                \
      const int64_t done = s->count(&s->bins, x, n, table, slots, tables, sizeof(type));           \
      x += done * stride;                                                                          \
      n -= done;                                                                                   \
    }                                                                                              \
    for (; n > 0; n -= CHUNK, x += CHUNK * stride) {                                               \
      const int m = n < CHUNK ? (int)n : CHUNK;                                                    \
      const int32_t *index = slots_at(s, x, m, room);                                              \
      const char *next = x + CHUNK * stride;                                                       \
      for (k = 0; k + 8 <= m; k += 8, next += step) {                                              \
        GR_PREFETCH(next); /* what the next chunk's slots are made of */                           \
        GR_COUNT_EIGHT(t, index + k);                                                              \
      }                                                                                            \
      for (; k < m; k++) table[index[k]]++;                                                        \
    }                                                                                              \
  }                                                                                                \
  static void name(const state *s, int set, int64_t from, int64_t n, type *table, int32_t slots) { \
    int64_t m;                                                                                     \
    memset(table, 0, (size_t)(tables * slots) * sizeof(type));                                     \
    for (; n > 0; n -= m, from += m) {                                                             \
      const char *x = samples(s, set, from, n, &m);                                                \
      name##_more(s, x, m, table, slots);                                                          \
    }                                                                                              \
  }
COUNT(count32_by_8, uint32_t, 8)
COUNT(count16_by_4, uint16_t, 4)
COUNT(count16, uint16_t, 1)

/* Tables of one piece become its counts: those of the result, if it is alone. */
#define ADD_UP(name, type)                                                                                             \
  static void name(int64_t *to, const type *t, int32_t slots, int tables, int fresh) {                                 \
    const int64_t keep = fresh ? 0 : -1;                                                                               \
    int32_t k;                                                                                                         \
    int i;                                                                                                             \
    if (tables == 1)                                                                                                   \
      for (k = 0; k < slots; k++) to[k] = (to[k] & keep) + t[k];                                                       \
    for (i = 0; i + 4 <= tables; i += 4, t += 4 * slots)                                                               \
      for (k = 0; k < slots; k++)                                                                                      \
        to[k] = (to[k] & (i > 0 ? -1 : keep)) + ((uint32_t)t[k] + t[slots + k] + t[2 * slots + k] + t[3 * slots + k]); \
  }
ADD_UP(add_up32, uint32_t)
ADD_UP(add_up16, uint16_t)

typedef struct some_tables {
  int64_t counts[SLOTS];
  uint16_t t[SLOTS];
} some_tables;

/* Up to SLOTS slots: four tables of 16 bits, or one, which stay in the fastest cache. No counter can run over. */
static void count_some(const state *s, int set, int64_t from, int64_t n) {
  const int32_t slots = (int32_t)slots_of(s->job), tables = 4 * slots <= SLOTS ? 4 : 1;
  some_tables *room = gr_room_take(sizeof(*room));
  int64_t m, *to = s->alone ? s->job->counts : room->counts;
  uint16_t *const t = room->t;
  for (int fresh = from == 0 || !s->alone; n > 0; n -= m, from += m, fresh = 0) {
    m = n < tables * 65504 ? n : tables * 65504;
    if (tables == 4) count16_by_4(s, set, from, m, t, slots);
    else count16(s, set, from, m, t, slots);
    if (fresh && tables == 4 && m <= UINT16_MAX) /* the sums fit too */
      for (int32_t k = 0; k < slots; k++) to[k] = (uint16_t)(t[k] + t[slots + k] + t[2 * slots + k] + t[3 * slots + k]);
    else add_up16(to, t, slots, tables, fresh);
  }
  if (!s->alone) add_all(s->job->counts, to, slots);
  gr_room_give(room);
}

typedef struct few_tables {
  int64_t counts[SLOTS / 8 + 1];
  _Alignas(64) uint32_t t[SLOTS];
} few_tables;

/* Few slots and many samples: eight tables. */
static void count_few(const state *s, int set, int64_t from, int64_t n) {
  const int32_t slots = (int32_t)slots_of(s->job);
  few_tables *room = gr_room_take(sizeof(*room));
  int64_t *to = s->alone ? s->job->counts : room->counts;
  count32_by_8(s, set, from, n, room->t, slots);
  add_up32(to, room->t, slots, 8, from == 0 || !s->alone);
  if (!s->alone) add_all(s->job->counts, to, slots);
  gr_room_give(room);
}

/* Bytes that are their own slots. */
static int own_bytes(const state *s) { return s->job->modulo == 2 && s->size == 1 && s->job->a.stride == 1; }

/* Not too many of them, and no more slots than bytes have values: four tables of 16 bits, one after the other, which
   become the counts. */
#define OWN_BYTES UINT16_MAX
#define OWN_SLOTS (256 + 3)
static void count_own_bytes(const state *s, int64_t n) {
  const uint8_t *x = (const uint8_t *)s->job->a.data;
  const int slots = (int)slots_of(s->job);
  uint16_t t[4][OWN_SLOTS + 5];
  int64_t *to = s->job->counts;
  memset(t, 0, sizeof(t));
  for (; n >= 4; n -= 4, x += 4) {
    t[0][x[0]]++;
    t[1][x[1]]++;
    t[2][x[2]]++;
    t[3][x[3]]++;
  }
  for (; n > 0; n--) t[0][*x++]++;
  for (int k = 0; k < slots; k++) to[k] = (uint16_t)(t[0][k] + t[1][k] + t[2][k] + t[3][k]);
}

#define SPAN (1 << 20) /* samples between two looks whether to stop, where they are not cut into pieces anyway */

/* Many slots, or few samples: straight into counters that nobody else writes. */
static void count_into(const state *s, const char *x, int64_t n, int64_t *counts) {
  int32_t room[CHUNK];
  if (own_bytes(s)) {
    for (; n > 0; n--) counts[(uint8_t)*x++]++;
    return;
  }
  for (; n > 0; n -= CHUNK, x += CHUNK * s->job->a.stride) {
    const int m = n < CHUNK ? (int)n : CHUNK;
    const int32_t *index = slots_at(s, x, m, room);
    int k;
    for (k = 0; k + 4 <= m; k += 4) {
      counts[index[k]]++;
      counts[index[k + 1]]++;
      counts[index[k + 2]]++;
      counts[index[k + 3]]++;
    }
    for (; k < m; k++) counts[index[k]]++;
  }
}

/* Bytes: count the 256 values, then ask once for each where it belongs. */
static void count_values(const state *s, const char *at, int64_t n, uint32_t (*table)[256]) {
  uint8_t buffer[CHUNK];
  int k;
  for (; n > 0; n -= CHUNK, at += CHUNK * s->job->a.stride) {
    const int m = n < CHUNK ? (int)n : CHUNK;
    const uint8_t *x = (const uint8_t *)at;
    if (s->job->a.stride != 1) {
      for (k = 0; k < m; k++) buffer[k] = x[k * s->job->a.stride];
      x = buffer;
    }
    for (k = 0; k + 8 <= m; k += 8) {
      uint64_t eight;
      memcpy(&eight, x + k, 8);
      table[0][eight & 255]++;
      table[1][eight >> 8 & 255]++;
      table[2][eight >> 16 & 255]++;
      table[3][eight >> 24 & 255]++;
      table[0][eight >> 32 & 255]++;
      table[1][eight >> 40 & 255]++;
      table[2][eight >> 48 & 255]++;
      table[3][eight >> 56]++;
    }
    for (; k < m; k++) table[0][x[k]]++;
  }
}

static void count_bytes(const state *s, int set, int64_t from, int64_t n) {
  uint32_t table[4][256];
  uint8_t value[256];
  int32_t index[256];
  int64_t m;
  memset(table, 0, sizeof(table));
  for (; n > 0; n -= m, from += m) {
    const char *x = samples(s, set, from, n, &m);
    count_values(s, x, m, table);
  }
  for (int k = 0; k < 256; k++) value[k] = (uint8_t)k;
  s->find(&s->bins, (const char *)value, 1, 256, index);
  for (int k = 0; k < 256; k++) {
    const int64_t count = (int64_t)table[0][k] + table[1][k] + table[2][k] + table[3][k];
    if (count == 0) continue; /* a value that is not there may have no slot (modulo 2 in jobs.h) */
    if (s->alone) s->job->counts[index[k]] += count;
    else add_all(&s->job->counts[index[k]], &count, 1);
  }
}

static void do_piece(void *arg, int64_t k) {
  const state *s = (const state *)arg;
  const int64_t from = k * s->piece, left = s->job->n - from, n = left < s->piece ? left : s->piece;
  const int set = gr_feed_take(s->feed);
  if (s->size == 1) count_bytes(s, set, from, n);
  else if (8 * slots_of(s->job) <= SLOTS && n >= 64 * slots_of(s->job)) count_few(s, set, from, n);
  else count_some(s, set, from, n);
  gr_feed_give(s->feed, set);
}

/* ---- many slots and more samples: a table for each thread, that the backend lends ---- */

typedef struct tables {
  uint8_t *low;
  uint32_t *over;
} tables;

static int64_t table_bytes(int64_t slots) { return (slots + 63) / 64 * 64 + (4 * slots + 63) / 64 * 64; }

static tables table_of(void *room, int64_t slots, int64_t share) {
  tables t;
  t.low = (uint8_t *)room + share * table_bytes(slots);
  t.over = gr_ran_over(t.low, slots);
  return t;
}

static void count_many(const state *s, const char *x, int64_t n, tables t) {
  const int64_t stride = s->job->a.stride, step = 8 * stride, slots = slots_of(s->job);
  int32_t room[CHUNK];
  int k;
  const int64_t done = s->count ? s->count(&s->bins, x, n, t.low, slots, 1, 1) : 0;
  for (x += done * stride, n -= done; n > 0; n -= CHUNK, x += CHUNK * stride) {
    const int m = n < CHUNK ? (int)n : CHUNK;
    const int32_t *index = slots_at(s, x, m, room);
    const char *next = x + CHUNK * stride;
    for (k = 0; k + 8 <= m; k += 8, next += step) {
      GR_PREFETCH(next);
      GR_COUNT_EIGHT_BYTES(t.low, t.over, index + k);
    }
    for (; k < m; k++) GR_COUNT_BYTE(t.low, t.over, index[k]);
  }
}

typedef struct shares {
  const state *s;
  void *room;
  int64_t count, piece;
} shares;

static void do_share(void *arg, int64_t k) {
  const shares *h = (const shares *)arg;
  int64_t from = k * h->piece;
  const int64_t left = h->s->job->n - from;
  const int64_t end = from + (left < h->piece ? left : h->piece), slots = slots_of(h->s->job);
  const tables t = table_of(h->room, slots, k);
  const int set = gr_feed_take(h->s->feed);
  int64_t m;
  memset(t.low, 0, (size_t)table_bytes(slots));
  for (; from < end && !gr_stopped(); from += m) {
    const char *x = samples(h->s, set, from, end - from < SPAN ? end - from : SPAN, &m);
    count_many(h->s, x, m, t);
  }
  gr_feed_give(h->s->feed, set);
}

#define MERGE 4096 /* slots */
static void do_merge(void *arg, int64_t from, int64_t end) {
  const shares *h = (const shares *)arg;
  int64_t *counts = h->s->job->counts;
  memset(counts + from, 0, (size_t)(end - from) * sizeof(*counts));
  for (int64_t share = 0; share < h->count; share++) {
    const tables t = table_of(h->room, slots_of(h->s->job), share);
    for (int64_t i = from; i < end; i++) counts[i] += t.over[i] + t.low[i];
  }
}

int64_t gr_cpu_histogram_room(const gr_histogram_job *job, int threads) {
  const int64_t slots = slots_of(job), worth = job->n / (4 * slots); /* a table must be worth clearing and adding up */
  const int64_t count = worth < threads ? worth : threads;
  if (4 * slots <= SLOTS || gr_size_of(job->dtype) == 1 || count < 1 || job->n / count > UINT32_MAX / 2) return 0;
  return count * table_bytes(slots);
}

static void in_shares(const state *s, void *room, int64_t bytes, gr_parallel parallel) {
  const int64_t slots = slots_of(s->job);
  shares h = {.s = s, .room = room, .count = bytes / table_bytes(slots)};
  h.piece = (s->job->n - 1) / h.count + 1;
  h.count = (s->job->n - 1) / h.piece + 1;
  gr_in_pieces(parallel, h.count, 1, do_share, &h);
  gr_in_ranges(parallel, slots, MERGE, do_merge, &h);
}

/* ---- the whole ---- */

/*
** The position of bins in terms of h (bins.inc), and how far from it the h of an edge can be. Edge k is rounded twice
** and h three times, each by at most 2^-53 of the range or of the largest edge; the factors here are generous. With
** samples and edges at whole numbers, shifting by half a unit keeps every sample that far from every edge.
*/
static double largest_h(const gr_histogram_job *job) { return fmax(fabs(job->first), fabs(job->last)) * job->per_bin; }

static void judge_guess(gr_bins_job *b) {
  const gr_histogram_job *job = b->job;
  const int whole = job->whole && !gr_is_float(job->dtype);
  double off = 0x1p-53 * (16 * (double)job->bins + 16 * largest_h(job));
  if (whole) off = fmax(0, off - 0.5 * job->per_bin);
  b->origin = job->first + 0.5 / job->per_bin - (whole ? 0.5 : 0);
  b->half = 0.5 - off - 0x1p-50;
}

/*
** The same in f32: origin and factor are rounded, then the difference and the product, each by at most 2^-24 of itself,
** and no h of a sample within the range exceeds the number of bins by more than one. (1.25 covers products of these.)
*/
static void judge_guess32(gr_bins_job *b) {
  const gr_histogram_job *job = b->job;
  const double bins = (double)job->bins + 1;
  b->origin32 = (float)b->origin;
  b->per_bin32 = (float)job->per_bin;
  double off = fabs((double)b->origin32 - b->origin) * job->per_bin +
               1.25 * bins * (fabs((double)b->per_bin32 / job->per_bin - 1) + 0x1p-23);
  off += 0.5 - b->half; /* where the edges themselves lie */
  if (off < 0.004) b->half32 = (float)(0.5 - off) - 0x1p-23f;
}

/*
** Positions: every bin is shifted up by half of the interval that counts as doubtful, which is more than twice the
** error that the position of an edge can have. In f32 that error comes from rounding the factor, the sum and the start.
*/
static void judge_positions(gr_bins_job *b, int exact) {
  const gr_histogram_job *job = b->job;
  gr_positions *p = &b->positions;
  const double bins = (double)job->bins, first = 0.5 - b->origin * job->per_bin;
  double off = 0.5 - b->half, off32, steps;
  int64_t doubt = 2;
  for (p->shift = 30; p->shift > 0 && bins > 0x1p31 / (1 << p->shift); p->shift--) {
  }
  steps = 1 << p->shift;
  p->end = (uint32_t)(bins * steps);
  p->nan = (int32_t)job->bins + 2;
  p->scale = job->per_bin * steps;
  p->exact = exact && p->scale >= 1 ? -1 : 0;
  off32 = off + 1.25 * (fabs((float)p->scale / p->scale - 1) * largest_h(job) + 0x1p-24 * (bins + 2 + fabs(first)));
  p->narrow = job->dtype == GR_F32 && p->scale > 0x1p-100 && p->scale < 0x1p+100 && (p->exact || off32 < 0.004);
  if (p->narrow) off = off32;
  while ((double)doubt <= steps && !((double)doubt > 2 * off * steps + 1)) doubt *= 2;
  p->doubt = (uint32_t)(((int64_t)steps - 1) & -doubt);
  p->start = p->exact ? 0 : first * steps + (double)doubt / 2;
  if (p->narrow) p->scale = (float)p->scale, p->start = (float)p->start;
}

void gr_bins_judge(gr_bins_job *b) {
  const gr_histogram_job *job = b->job;
  int exponent;
  b->half32 = 0;
  if (!job->guess || job->modulo) return;
  int moderate = job->per_bin > 0x1p-100 && job->per_bin < 0x1p+100;
  /* Samples of 24 bits among edges at whole multiples of a power of two: nothing is rounded, and many samples lie on
     an edge. */
  int exact = job->dtype == GR_F32 && job->a.stride == 4 && job->first == 0 && job->bins <= 1 << 20 && moderate &&
              frexp(job->per_bin, &exponent) == 0.5 && (double)job->bins == job->last * job->per_bin;
  judge_guess(b);
  judge_positions(b, exact);
  /* Shifting by half a unit in the last place of 1 makes all certain; see bins_guess_wide for what is just below 0. */
  if (exact) {
    b->origin = (0.5 - 0x1p-25) / job->per_bin;
    b->half = 0.5 - 0x1p-26;
  }
  if (job->dtype == GR_F32 && moderate) judge_guess32(b);
}

static void clear(int64_t *counts, int64_t slots) {
  for (int64_t k = 0; k < slots && !(k && gr_stopped()); k += SPAN)
    memset(counts + k, 0, (size_t)(slots - k < SPAN ? slots - k : SPAN) * sizeof(*counts));
}

/* Samples of a piece, which must be worth clearing and adding up its tables. */
static int64_t piece_of(const gr_histogram_job *job) {
  int64_t piece = PIECE_ELEMENTS;
  while (piece < 128 * job->bins || (job->n - 1) / piece >= MAX_PIECES) piece *= 2;
  return piece;
}
static int is_straight(const gr_histogram_job *job) {
  const int64_t slots = slots_of(job);
  return gr_size_of(job->dtype) == 1 ? job->n <= 1024 : slots > SLOTS || job->n < 2 * slots;
}

void gr_cpu_explain_histogram(const gr_histogram_job *job, int threads, gr_explained *e) {
  const int64_t room = gr_cpu_histogram_room(job, threads), count = (job->n - 1) / piece_of(job) + 1;
  e->set = gr_cpu_in_use();
  e->launches = 1;
  e->scratch = room;
  e->kernel = room ? "tables of threads" : is_straight(job) ? "straight" : "tables of pieces";
  e->why = room               ? "many bins and more samples: each thread has a table, which are added up"
           : is_straight(job) ? "few samples for so many bins: straight into the counts"
                              : "few bins: each piece has tables on the stack, which are added up";
  e->blocks = room ? room / table_bytes(slots_of(job)) : is_straight(job) ? 1 : count;
  e->threads = e->blocks < threads ? e->blocks : threads;
}

static void count_straight(const state *s, int64_t n) {
  const int set = gr_feed_take(s->feed);
  int64_t m;
  for (int64_t from = 0; from < n && !gr_stopped(); from += m) {
    const char *x = samples(s, set, from, n - from < SPAN ? n - from : SPAN, &m);
    count_into(s, x, m, s->job->counts);
  }
  gr_feed_give(s->feed, set);
}

static void count_all(const gr_histogram_job *asked, gr_feed *feed, gr_parallel parallel, void *room, int64_t bytes) {
  const int64_t slots = slots_of(asked);
  const gr_histogram_job *job = asked;
  gr_histogram_job dense;
  if (feed) {
    dense = *asked;
    dense.a.stride = gr_size_of(asked->dtype);
    job = &dense;
  }
  state s = {.job = job, .feed = feed, .bins = {.job = job}, .size = gr_size_of(job->dtype)};
  s.find = gr_cpu_table_in_use()->bins;
  s.count = gr_cpu_table_in_use()->count;
  gr_bins_judge(&s.bins);
  s.piece = piece_of(job);
  int64_t count = (job->n - 1) / s.piece + 1;
  s.alone = !parallel || count == 1;
  if (bytes > 0 && job->n > 0) {
    in_shares(&s, room, bytes, parallel);
    return;
  }
  if (!feed && own_bytes(&s) && s.alone && slots <= OWN_SLOTS && job->n >= 2 * slots && job->n <= OWN_BYTES) {
    count_own_bytes(&s, job->n);
    return;
  }
  const int straight = is_straight(job);
  if (straight || !s.alone || s.size == 1) clear(job->counts, slots); /* and the tails */
  if (straight) {
    count_straight(&s, job->n);
  } else if (s.alone) {
    for (int64_t k = 0; k < count && !(k && gr_stopped()); k++) do_piece(&s, k);
  } else {
    parallel(count, do_piece, &s);
  }
}

void gr_cpu_histogram(const gr_histogram_job *job, gr_feed *feed, gr_parallel parallel, void *room, int64_t bytes) {
  count_all(job, feed, parallel, room, bytes);
  if (job->skips_nan) job->tails[2] = 0;
}
