/*
** Histograms: the instruction set's kernel says where each sample belongs, a few hundred at a time, and this
** counts. Each piece counts in tables of its own on the stack while the bins are few enough.
*/
#include "kernels/cpu/table.h"

#define CHUNK GR_BINS_CHUNK /* samples between finding bins and counting them */
#define SLOTS 16384         /* counters on the stack */
#define PIECE_ELEMENTS (128 * 1024)
#define MAX_PIECES 4096

typedef struct state {
  const gr_histogram_job *job;
  gr_bins_job bins;
  gr_bins find;
  int size;
  int64_t piece;
} state;

/* Counts of all pieces meet here; integers, so the order does not matter. */
static void add(int64_t *counter, int64_t count) {
  if (count) __atomic_fetch_add(counter, count, __ATOMIC_RELAXED);
}

static int64_t *counter_of(const gr_histogram_job *job, int64_t slot) {
  return slot < job->bins ? &job->counts[slot] : &job->tails[slot - job->bins];
}

static const char *sample(const state *s, int64_t k) { return (const char *)s->job->a.data + k * s->job->a.stride; }

/* Few bins: four tables, so that runs of equal samples do not wait for one counter. */
static void count_few(const state *s, int64_t from, int64_t n) {
  uint32_t table[SLOTS];
  int32_t index[CHUNK];
  const int32_t slots = (int32_t)s->job->bins + 3, tables = slots <= SLOTS / 4 ? 4 : 1, apart = tables == 4 ? slots : 0;
  int64_t left, i;
  memset(table, 0, (size_t)slots * tables * sizeof(*table));
  for (left = n; left > 0; left -= CHUNK, from += CHUNK) {
    const int m = left < CHUNK ? (int)left : CHUNK;
    int k;
    s->find(&s->bins, sample(s, from), s->job->a.stride, m, index);
    for (k = 0; k + 4 <= m; k += 4) {
      table[index[k]]++;
      table[index[k + 1] + apart]++;
      table[index[k + 2] + 2 * apart]++;
      table[index[k + 3] + 3 * apart]++;
    }
    for (; k < m; k++) table[index[k]]++;
  }
  for (i = 0; i < slots; i++) {
    int64_t count = table[i];
    if (apart) count += (int64_t)table[i + apart] + table[i + 2 * apart] + table[i + 3 * apart];
    add(counter_of(s->job, i), count);
  }
}

/* Many bins: straight into the result. One thread at a time. */
static void count_many(const state *s, int64_t from, int64_t n) {
  int32_t index[CHUNK];
  int64_t left;
  for (left = n; left > 0; left -= CHUNK, from += CHUNK) {
    const int m = left < CHUNK ? (int)left : CHUNK;
    int k;
    s->find(&s->bins, sample(s, from), s->job->a.stride, m, index);
    for (k = 0; k < m; k++) ++*counter_of(s->job, index[k]);
  }
}

/* Bytes: count the 256 values, then ask once for each where it belongs. */
static void count_bytes(const state *s, int64_t from, int64_t n) {
  uint32_t table[4][256];
  uint8_t buffer[CHUNK], value[256];
  int32_t index[256];
  int64_t left;
  int k;
  memset(table, 0, sizeof(table));
  for (left = n; left > 0; left -= CHUNK, from += CHUNK) {
    const int m = left < CHUNK ? (int)left : CHUNK;
    const uint8_t *x = (const uint8_t *)sample(s, from);
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
  for (k = 0; k < 256; k++) value[k] = (uint8_t)k;
  s->find(&s->bins, (const char *)value, 1, 256, index);
  for (k = 0; k < 256; k++) {
    const int64_t count = (int64_t)table[0][k] + table[1][k] + table[2][k] + table[3][k];
    add(counter_of(s->job, index[k]), count);
  }
}

static void do_piece(void *arg, int64_t k) {
  const state *s = (const state *)arg;
  const int64_t from = k * s->piece, left = s->job->n - from, n = left < s->piece ? left : s->piece;
  if (s->size == 1 && n > 512) count_bytes(s, from, n);
  else if (s->job->bins + 3 <= SLOTS) count_few(s, from, n);
  else count_many(s, from, n);
}

/* How far the guess of an edge can be from the edge's number. */
static void judge_guess(gr_bins_job *b) {
  const gr_histogram_job *job = b->job;
  int64_t k;
  b->guess_low = b->guess_high = b->shift = 0;
  if (!job->guess || job->modulo || job->dtype == GR_I64) return;
  for (k = 0; k <= job->bins; k++) {
    const double off = (job->edges[k] - job->first) * job->per_bin - (double)k;
    b->guess_low = off < b->guess_low ? off : b->guess_low;
    b->guess_high = off > b->guess_high ? off : b->guess_high;
  }
  /* Integers among integer edges: half a step up, no sample is on an edge. */
  if (job->whole && !gr_is_float(job->dtype)) b->shift = 0.5;
}

void gr_cpu_histogram(const gr_histogram_job *job, gr_parallel parallel) {
  state s;
  int64_t count, k;
  s.job = job;
  s.bins.job = job;
  s.find = gr_cpu_table_in_use()->bins;
  s.size = gr_size_of(job->dtype);
  memset(job->counts, 0, (size_t)job->bins * sizeof(*job->counts));
  memset(job->tails, 0, 3 * sizeof(*job->tails));
  if (job->n == 0) return;
  judge_guess(&s.bins);
  /* A piece must be worth clearing and adding up its tables. */
  s.piece = PIECE_ELEMENTS;
  while (s.piece < 16 * job->bins || (job->n - 1) / s.piece >= MAX_PIECES) s.piece *= 2;
  count = (job->n - 1) / s.piece + 1;
  if (parallel && count > 1 && (s.size == 1 || job->bins + 3 <= SLOTS)) parallel(count, do_piece, &s);
  else
    for (k = 0; k < count; k++) do_piece(&s, k);
}
