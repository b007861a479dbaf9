/*
** The ladder on the CPU: the same shapes (one by one, by warps, by blocks, in two phases) as plain loops on one thread,
** in f32 like the kernels that teach. They are there so that a script with {kernel=...} runs, and errs alike,
** everywhere.
*/
#include "kernels/ladder/cpu.h"

#include <math.h>
#include "kernels/numerics/numerics.h"

/* What is added up: element i as a float sum's word, or as a key. */
static float product(const gr_ladder_job *j, int64_t i) {
  const float *a = j->a, *b = j->b;
  return j->op == GR_OP_dot ? a[i] * b[i] : a[i];
}

/* Up to 1024 values fold by halves, as threads of a block do. */
static float tree(const gr_ladder_job *j, int64_t first, int64_t count) {
  float part[1024];
  for (int64_t k = 0; k < count; k++) part[k] = product(j, first + k);
  for (int64_t width = count; width > 1; width = (width + 1) / 2)
    for (int64_t k = 0; k < width / 2; k++) part[k] += part[k + (width + 1) / 2];
  return part[0];
}

/* Elements whose sum is one addition to the result: one, a warp's or a block's. */
static int64_t together(const gr_ladder_job *j) {
  switch (j->rung) {
    case GR_RUNG_NAIVE_ATOMIC: return 1;
    case GR_RUNG_WARP_ATOMIC: case GR_RUNG_WARP_BUTTERFLY: case GR_RUNG_MASKED_WARP: case GR_RUNG_VECTORIZED: return 32;
    default: return j->block;
  }
}

/* The host finishes what is left in out: parts of equal size, each the sum of its blocks. */
static void partial_sums(const gr_ladder_job *j) {
  int64_t count = gr_ladder_partials(j->rung, j->n, j->block);
  float *out = j->out;
  if (j->rung == GR_RUNG_ELEMENTWISE_HOST) {
    for (int64_t i = 0; i < j->n; i++) out[i] = product(j, i);
    return;
  }
  for (int64_t k = 0; k < count; k++) out[k] = 0;
  for (int64_t i = 0, k = 0; i < j->n; i += j->block, k = (k + 1) % count)
    out[k] += tree(j, i, j->n - i < j->block ? j->n - i : j->block);
}

static void sum(const gr_ladder_job *j) {
  int64_t step = together(j);
  float total = 0;
  for (int64_t i = 0; i < j->n; i += step) total += tree(j, i, j->n - i < step ? j->n - i : step);
  *(float *)j->out = total;
}

/* Keys have no rounding, so every shape gives the same; a host rung leaves its one result in the first place. */
static void extreme(const gr_ladder_job *j, int64_t places) {
  uint32_t flip = gr_ladder_flip(j->op), best = 0, *out = j->out;
  const float *a = j->a;
  for (int64_t i = 0; i < j->n; i++) {
    uint32_t key = gr_ladder_key(a[i], flip);
    if (key > best) best = key;
  }
  for (int64_t k = 0; k < places; k++) out[k] = best;
}

static void fold(const gr_ladder_job *j) {
  int partial = j->rung == GR_RUNG_ELEMENTWISE_HOST || j->rung == GR_RUNG_SHARED_HOST;
  if (j->op == GR_OP_min || j->op == GR_OP_max) extreme(j, partial ? gr_ladder_partials(j->rung, j->n, j->block) : 1);
  else if (partial) partial_sums(j);
  else sum(j);
}

static int64_t bin_of(const gr_ladder_job *j, int32_t x) {
  if (j->modulo) return x % j->bins + (x % j->bins < 0 ? j->bins : 0);
  if (x < j->first) return j->bins;
  if (x > j->last) return j->bins + 1;
  int64_t k = (x - j->first) / j->width;
  return k < j->bins ? k : j->bins - 1;
}

static void histogram(const gr_ladder_job *j) {
  const int32_t *a = j->a;
  int64_t *counts = j->out;
  for (int64_t k = 0; k < j->bins + 3; k++) counts[k] = 0;
  for (int64_t i = 0; i < j->n; i++) counts[bin_of(j, a[i])]++;
}

/* Tiles of a block's size; what came before a tile is added to each of its elements. */
static void scan(const gr_ladder_job *j) {
  const float *a = j->a;
  float *out = j->out, before = 0;
  for (int64_t tile = 0; tile < j->n; tile += j->block) {
    float local = 0;
    for (int64_t i = tile; i < tile + j->block && i < j->n; i++) {
      float x = a[i];
      out[i] = before + (j->exclusive ? local : local + x);
      local += x;
    }
    before += local;
  }
}

static void rows(const gr_ladder_job *j) {
  const float *w = j->b;
  for (int64_t r = 0; r < j->rows; r++) {
    const float *x = (const float *)j->a + r * j->n;
    float *out = (float *)j->out + r * j->n, total = 0;
    for (int64_t first = 0; first < j->n; first += j->block) {
      float part = 0;
      for (int64_t k = first; k < first + j->block && k < j->n; k++) part += x[k] * x[k];
      total += part;
    }
    float factor = 1 / sqrtf(total / (float)j->n + (float)j->eps);
    for (int64_t k = 0; k < j->n; k++) out[k] = w ? x[k] * factor * w[k] : x[k] * factor;
  }
}

void gr_cpu_ladder(const gr_ladder_job *j, gr_parallel parallel) {
  (void)parallel;
  switch (j->rung) {
    case GR_RUNG_HIST_NAIVE: case GR_RUNG_HIST_SHARED: case GR_RUNG_HIST_WARP: histogram(j); break;
    case GR_RUNG_HILLIS_STEELE: case GR_RUNG_BLELLOCH: case GR_RUNG_SCAN_WARP: case GR_RUNG_THREE_PHASE: scan(j); break;
    case GR_RUNG_TWO_PASS: rows(j); break;
    default: fold(j);
  }
}
