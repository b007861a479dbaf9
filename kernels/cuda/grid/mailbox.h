/*
** The host mailbox of a reduction: mapped pinned memory where the kernel puts the states of each vector's parts, in
** order; the host, which polls it, folds and finishes them. So no block waits for another, and none divides. Words come
** in halves, each above the launch's number (grid/mailbox.cuh): state s of vector v, field f at 2 * ((v * states + s) *
** fields + f).
*/
#ifndef GR_CUDA_GRID_MAILBOX_H
#define GR_CUDA_GRID_MAILBOX_H

#include "kernels/numerics/numerics.h"

#define GR_MAILBOX_STATES 32 /* of one vector at most */
#define GR_MAILBOX_WORDS 512 /* of one launch at most, halves counted */

typedef struct gr_mailbox_shape {
  int32_t states, fields; /* of a vector; of a state */
} gr_mailbox_shape;

static inline uint64_t gr_mailbox_load(const uint64_t *half) {
#if defined(__GNUC__)
  return __atomic_load_n(half, __ATOMIC_ACQUIRE);
#else
  return *(const volatile uint64_t *)half;
#endif
}

/* The word of two halves that are there. */
static inline uint64_t gr_mailbox_word(const uint64_t *halves) { return halves[0] >> 32 | (halves[1] >> 32 << 32); }

/* Whether so many halves are there. The last is looked at first: the others came with it, or before. */
static inline int gr_mailbox_arrived(const uint64_t *halves, int count, uint64_t ticket) {
  while (count-- > 0)
    if ((uint32_t)gr_mailbox_load(halves + count) != (uint32_t)ticket) return 0;
  return 1;
}

/*
** States fold by adjacency into the first. Kind and fields are constants where it is called, so that a merge of one
** field is no more than that.
*/
static inline void gr_mailbox_fold(gr_reducer red, gr_acc_kind kind, int fields, int64_t (*state)[3], int count) {
  for (int h = 1; h < count; h *= 2)
    for (int s = 0; s + h < count; s += 2 * h) {
      gr_acc x = {{0, 0, 0}}, y = {{0, 0, 0}};
      for (int f = 0; f < fields; f++) x.i[f] = state[s][f], y.i[f] = state[s + h][f];
      x = gr_merge(red, kind, x, y);
      for (int f = 0; f < fields; f++) state[s][f] = x.i[f];
    }
}

/*
** The key of a position's state as the CPU has it, and ranks merge it. A device compares in 32 bits where elements have
** no more: the greatest of these is a NaN's, and integers of a sign lie above 0, in their order.
*/
static inline int64_t gr_mailbox_key(int64_t key, int largest, gr_dtype dtype) {
  const int size = gr_size_of(dtype);
  if (size == 8) return key;
  if (gr_is_float(dtype)) return key == INT32_MAX ? INT64_MAX : key;
  if (!largest) key = ~key & UINT32_MAX;
  if (dtype == GR_I8 || dtype == GR_I16 || dtype == GR_I32) key -= (int64_t)1 << (8 * size - 1);
  return largest ? key : ~key;
}

/* The states of one vector as one. */
static inline gr_acc gr_mailbox_state(const uint64_t *halves, const gr_mailbox_shape *t, gr_op op, gr_dtype dtype) {
  const gr_reducer red = gr_reducer_of(op, dtype);
  const gr_acc_kind kind = gr_acc_kind_of(red, dtype);
  int64_t state[GR_MAILBOX_STATES][3];
  gr_acc whole = {{0, 0, 0}};
  for (int s = 0; s < t->states; s++)
    for (int f = 0; f < t->fields; f++, halves += 2) state[s][f] = (int64_t)gr_mailbox_word(halves);
  if (kind == GR_ACC_TREE) gr_mailbox_fold(red, GR_ACC_TREE, 1, state, t->states);
  else if (kind == GR_ACC_WRAP) gr_mailbox_fold(red, GR_ACC_WRAP, 1, state, t->states);
  else if (kind == GR_ACC_ORDER) gr_mailbox_fold(red, GR_ACC_ORDER, 2, state, t->states);
  else gr_mailbox_fold(red, kind, t->fields, state, t->states);
  for (int f = 0; f < t->fields; f++) whole.i[f] = state[0][f];
  if (kind == GR_ACC_POSITION) whole.i[0] = gr_mailbox_key(whole.i[0], red == GR_RED_ARGMAX, dtype);
  return whole;
}

/* The result of one vector of n elements, from its states. */
static inline gr_value gr_mailbox_value(const uint64_t *halves, const gr_mailbox_shape *t, gr_op op, gr_dtype dtype,
                                        int64_t n, double ddof) {
  return gr_finish(op, dtype, gr_mailbox_state(halves, t, op, dtype), n, ddof);
}

#endif
