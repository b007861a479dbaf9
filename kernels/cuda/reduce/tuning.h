/*
** Tuning numbers. They choose grids and blocks, never results. Measured on Hopper (docs/findings); the same
** numbers are safe elsewhere: they only count warps and multiprocessors.
*/
#ifndef GR_CUDA_REDUCE_TUNING_H
#define GR_CUDA_REDUCE_TUNING_H

typedef struct gr_tune {
  int one_block_leaves; /* up to so many leaves one block does all */
  int mailbox_warps;       /* warps of a block whose leaves the host folds */
  int flat_warps;       /* warps of a block when a vector takes several blocks */
  int flat_blocks;      /* ...of which so many, by multiprocessor, are wanted before leaves are taken in turn */
  int most_passes;      /* leaves a warp takes in turn at most */
  int row_warps;        /* warps to have in flight, by multiprocessor, before a row gets one warp only */
  int variance_warps;     /* the same of variances, of which fewer find room, and which fetch the next leaf early */
  int column_blocks;    /* blocks to have, by multiprocessor, before column blocks widen */
  int strip_warps;      /* warps to have, by multiprocessor, before strips of columns get longer: one wave */
} gr_tune;

/* The one table: a row for each generation, from that compute capability up. Only Hopper's is measured. */
static inline gr_tune gr_tune_for(int major, int minor) {
  static const struct {
    int from;
    gr_tune tune;
  } generations[] = {
      {120, {16, 4, 8, 4, 16, 128, 24, 4, 16}}, /* Blackwell, workstations */
      {100, {16, 4, 8, 4, 16, 128, 24, 4, 16}}, /* Blackwell, data centres */
      {90, {16, 4, 8, 4, 16, 128, 24, 4, 16}},  /* Hopper */
      {80, {16, 4, 8, 4, 16, 128, 24, 4, 16}},  /* Ampere, Ada */
      {0, {16, 4, 8, 4, 16, 64, 24, 4, 16}},    /* Turing: half the threads fit */
  };
  int k = 0;
  while (generations[k].from > major * 10 + minor) k++;
  return generations[k].tune;
}

#endif
