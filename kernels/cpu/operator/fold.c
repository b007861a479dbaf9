/*
** The tree of docs/numerics.md with states of a custom operator: lanes, halves, leaves. Each step is one merge of two
** arrays: states lie lane by lane, in each lane leaf by leaf, in each leaf vector by vector, so that what a step pairs
** are two stretches of one array.
*/
#include "kernels/cpu/gather.h"
#include "kernels/cpu/operator/operator.h"
#include "kernels/cpu/reduce/reduce.h"

/* Leaves of a vector that take their steps together: as many as fit, a power of two. */
static int64_t most_leaves(const gr_operating *o) { return GR_FOLD_WIDTH / o->lanes; }

int64_t gr_fold_together(const gr_operating *o, int64_t n) {
  const int64_t lanes = n < o->lanes ? n : o->lanes, leaves = n / o->leaf;
  int64_t together = 1;
  while (together * 2 <= leaves && together < most_leaves(o)) together *= 2;
  return GR_FOLD_WIDTH / (lanes * together);
}

/* ---- a row of leaves: element `from` of each vector is lane 0 of the first leaf ---- */

static void gather_vector(gr_work *w, const char *at, int64_t stride, int64_t leaves, int64_t lanes, int64_t count,
                          char *to) {
  const int size = w->o->size;
  const int64_t step = w->o->leaf * stride, pitch = leaves * count * size;
  if (stride == size && leaves > 1 && count == 1) {
    gr_turn(size, to, pitch, at, step, leaves, (int)lanes);
    return;
  }
  for (int64_t g = 0; g < leaves; g++)
    gr_spread_elements(size, to + g * count * size, pitch, at + g * step, stride, lanes);
}

/* Vectors whose first elements are as far from each other as those of a matrix. */
static void gather_even(gr_work *w, const gr_bundle *b, const char *at, int64_t leaves, int64_t lanes) {
  const int size = w->o->size;
  const int64_t pitch = leaves * b->count * size;
  for (int64_t g = 0; g < leaves; g++, at += w->o->leaf * b->stride) {
    char *to = w->x + g * b->count * size;
    if (b->stride == size && b->step != size) {
      gr_turn(size, to, pitch, at, b->step, b->count, (int)lanes);
    } else {
      for (int64_t l = 0; l < lanes; l++) gr_gather(to + l * pitch, at + l * b->stride, b->step, b->count, size);
    }
  }
}

static void gather(gr_work *w, const gr_bundle *b, int64_t from, int64_t leaves, int64_t lanes) {
  if (b->base && b->count == 1) {
    if (leaves == 1) gr_gather(w->x, b->base + from * b->stride, b->stride, lanes, w->o->size);
    else gather_vector(w, b->base + from * b->stride, b->stride, leaves, lanes, 1, w->x);
  } else if (b->base) {
    gather_even(w, b, b->base + from * b->stride, leaves, lanes);
  } else {
    for (int64_t v = 0; v < b->count; v++)
      gather_vector(w, b->own[v] + from * b->stride, b->stride, leaves, lanes, b->count, w->x + v * w->o->size);
  }
}

static void number(gr_work *w, const gr_bundle *b, int64_t from, int64_t leaves, int64_t lanes) {
  int64_t *to = w->position;
  for (int64_t l = 0; l < lanes; l++)
    for (int64_t g = 0; g < leaves; g++)
      for (int64_t v = 0; v < b->count; v++) *to++ = b->first + from + g * w->o->leaf + l + 1;
}

/* ---- whole leaves: their rows in the order of memory, and only what a leaf comes to is turned ---- */

/*
** The rows at `from`. A page may have one row of a leaf, so processors do not look ahead: those at `next` are asked
** for.
*/
static void gather_leaves(gr_work *w, const gr_bundle *b, int64_t from, int64_t next, int64_t leaves) {
  const int64_t lanes = w->o->lanes, size = w->o->size;
  char *to = w->x;
  for (int64_t g = 0; g < leaves; g++)
    for (int64_t v = 0; v < b->count; v++, to += lanes * size) {
      const char *at = b->base ? b->base + v * b->step : b->own[v];
      at += (from + g * w->o->leaf) * b->stride;
      for (int64_t k = 0; k < lanes * size; k += 64) GR_PREFETCH_SECOND(at + (next - from) * b->stride + k);
      if (b->stride == size) memcpy(to, at, (size_t)(lanes * size));
      else gr_gather(to, at, b->stride, lanes, (int)size);
    }
}

static void number_leaves(gr_work *w, const gr_bundle *b, int64_t from, int64_t leaves) {
  int64_t *to = w->position;
  for (int64_t g = 0; g < leaves; g++)
    for (int64_t v = 0; v < b->count; v++)
      for (int64_t l = 0; l < w->o->lanes; l++) *to++ = b->first + from + g * w->o->leaf + l + 1;
}

/* States leaf by leaf become states lane by lane. */
static void turn(gr_work *w, int64_t width) {
  const int64_t lanes = w->o->lanes;
  for (int k = 0; k < w->o->job->op->states; k++) {
    const int size = (int)gr_operator_size(w->o, k);
    gr_turn(size, w->next.at[k], width * size, w->now.at[k], lanes * size, width, (int)lanes);
  }
  gr_swap(&w->now, &w->next);
}

/* Columns lie side by side as they are. */
static int in_order_of_memory(const gr_work *w, const gr_bundle *b, int64_t n) {
  return n == w->o->leaf && (b->count == 1 || !b->base || b->step != w->o->size);
}

/* ---- steps of the tree ---- */

/* The first m of `width` states in now take those of right from `at` on; the others stay. */
static void join(gr_work *w, gr_states right, int64_t at, int64_t m, int64_t width) {
  gr_work_merge(w, w->now, 0, right, at, w->next, 0, m);
  gr_work_copy(w, w->now, m, w->next, m, width - m);
  gr_swap(&w->now, &w->next);
}

static int64_t reversed(int64_t k, int64_t of) {
  int64_t r = 0;
  for (; of > 1; of /= 2, k /= 2) r = 2 * r + k % 2;
  return r;
}

/* Neighbours among so many leaves of each vector: in the order of reversed bits these are halves, too. */
static void fold_leaves(gr_work *w, int64_t leaves, int64_t count) {
  if (leaves == 1) return;
  for (int64_t g = 0; g < leaves; g++) gr_work_copy(w, w->now, g * count, w->next, reversed(g, leaves) * count, count);
  gr_swap(&w->now, &w->next);
  for (int64_t half = leaves / 2; half > 0; half /= 2) join(w, w->now, half * count, half * count, half * count);
}

/* `leaves` neighbouring leaves of n elements each, of all vectors: the state of the subtree. */
static void fold_subtree(gr_work *w, const gr_bundle *b, int64_t from, int64_t leaves, int64_t n) {
  const int64_t width = leaves * b->count, lanes = w->o->lanes;
  const int plain = in_order_of_memory(w, b, n), places = w->o->job->op->position;
  int64_t present = n < lanes ? n : lanes, row, half;
  for (row = 0; row < n; row += lanes) {
    const int64_t m = n - row < lanes ? n - row : lanes;
    if (plain) gather_leaves(w, b, from + row, row + lanes < n ? from + row + lanes : from + leaves * n, leaves);
    else gather(w, b, from + row, leaves, m);
    if (places && plain) number_leaves(w, b, from + row, leaves);
    else if (places) number(w, b, from + row, leaves, m);
    gr_work_map(w, w->x, w->position, row ? w->row : w->now, m * width);
    if (row) join(w, w->row, 0, m * width, present * width);
  }
  if (plain && width > 1) turn(w, width);
  for (half = lanes / 2; half > 0; half /= 2) {
    if (present <= half) continue;
    join(w, w->now, half * width, (present - half) * width, half * width);
    present = half;
  }
  fold_leaves(w, leaves, b->count);
}

/* ---- nodes of the tree that wait for their right neighbours ---- */

/* The state in now, of so many leaves, a power of two of which there have been whole multiples before. */
static void push(gr_work *w, int64_t leaves, int64_t count) {
  for (int64_t k = w->leaf_count / leaves; k & 1; k >>= 1) {
    gr_work_merge(w, w->nodes, --w->node_count * count, w->now, 0, w->next, 0, count);
    gr_swap(&w->now, &w->next);
  }
  gr_work_copy(w, w->now, 0, w->nodes, w->node_count++ * count, count);
  w->leaf_count += leaves;
}

/* All of them, into now: a node without a right neighbour goes up as it is. */
static void collect(gr_work *w, int64_t count) {
  int64_t k = --w->node_count;
  gr_work_copy(w, w->nodes, k * count, w->now, 0, count);
  while (k-- > 0) {
    gr_work_merge(w, w->nodes, k * count, w->now, 0, w->next, 0, count);
    gr_swap(&w->now, &w->next);
  }
  w->node_count = w->leaf_count = 0;
}

void gr_fold_push(gr_work *w, int64_t leaves) { push(w, leaves, 1); }
void gr_fold_collect(gr_work *w) { collect(w, 1); }

void gr_fold_bundle(gr_work *w, const gr_bundle *b) {
  const int64_t leaf = w->o->leaf;
  int64_t from = 0, left = b->n, leaves = GR_FOLD_WIDTH / (w->o->lanes * b->count);
  if (b->n <= leaf) {
    fold_subtree(w, b, 0, 1, b->n);
    return;
  }
  while (leaves & (leaves - 1)) leaves &= leaves - 1; /* a power of two */
  while (left > 0) {
    const int64_t whole = left / leaf;
    while (leaves > 1 && leaves > whole) leaves /= 2;
    fold_subtree(w, b, from, leaves, whole ? leaf : left);
    push(w, leaves, b->count);
    from += leaves * leaf;
    left -= leaves * leaf;
  }
  collect(w, b->count);
}

/* ---- one long vector ---- */

typedef struct whole {
  gr_operating *o;
  const gr_bundle *b;
  int64_t piece;
} whole;

static void do_piece(void *arg, int64_t k) {
  const whole *s = (const whole *)arg;
  gr_work w = gr_work_take(s->o);
  gr_bundle b = *s->b;
  const int64_t from = k * s->piece, left = b.n - from;
  b.base += from * b.stride;
  b.first += from;
  b.n = left < s->piece ? left : s->piece;
  gr_fold_bundle(&w, &b);
  gr_work_copy(&w, w.now, 0, s->o->pieces, k, 1);
  gr_work_give(s->o, &w);
}

void gr_fold_long(gr_operating *o, const gr_bundle *b, gr_parallel parallel, gr_work *w) {
  whole s = {o, b, o->leaf * most_leaves(o)};
  while ((b->n - 1) / s.piece >= GR_MOST_PIECES) s.piece *= 2;
  int64_t count = (b->n - 1) / s.piece + 1;
  gr_in_pieces(parallel, b->n, s.piece, do_piece, &s);
  if (gr_watching.stopped && gr_stopped()) return; /* pieces may be missing */
  for (int64_t k = 0; k < count; k++) {
    gr_work_copy(w, o->pieces, k, w->now, 0, 1);
    push(w, 1, 1);
  }
  collect(w, 1);
}
