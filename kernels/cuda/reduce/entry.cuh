/* The kernels of one reducer and dtype: which there are, what a plan must know of them, and how one is launched. */
#ifndef GR_CUDA_REDUCE_ENTRY_CUH
#define GR_CUDA_REDUCE_ENTRY_CUH

#include "kernels/cuda/grid/combine.cuh"

/* Which of them. GR_COLS: cols_ordered or cols_unordered, which a reducer has one of. */
enum gr_reduce_shape {
  GR_LEAVES,
  GR_ROWS_BY_ELEMENT,
  GR_ROWS_STAGED,
  GR_COLS,
  GR_COLS_FEW_ROWS,
  GR_COLS_SUM,
  GR_COLS_VARIANCE_RING,
  GR_ROWS_BY_VECTOR
};
/* What of rows a reducer can do: nothing; by element alone; staged, if aligned; staged, aligned or not. */
enum gr_rows_way { GR_ROWS_NOT, GR_ROWS_ELEMENTS, GR_ROWS_LANES, GR_ROWS_WORDS };

constexpr int gr_staged_warps = 4, gr_most_stage = 544; /* of gr_reduce_rows_staged */

struct gr_reduce_launch {
  gr_reduce_shape shape;
  unsigned blocks, threads, shared; /* bytes of shared memory */
  unsigned most;                    /* blocks, where they take one thing after the other; else 0 */
  bool early; /* may begin while the launch before it ends */
  cudaStream_t stream;
  struct gr_cuda_batch *batch;
};

/* A reducer's kernels, and what a plan must know of them. */
struct gr_reduce_entry {
  cudaError_t (*launch)(const gr_reduce_args &, const gr_reduce_launch &);
  int fields;               /* of its state */
  int resident;             /* blocks of 256 threads of gr_reduce_leaves on a multiprocessor */
  gr_rows_way rows_way;
  bool rows_by_vector;      /* has that kernel */
  int stage_words;          /* of a warp of rows_staged, at most gr_most_stage */
  int columns;              /* that a lane of cols_ordered or cols_unordered takes; 0: no kernel */
  bool ordered;             /* which of the two: whether the lanes of the tree have an order */
  int lanes, leaf, warps;   /* of the tree in a leaf; elements of a leaf (0: any number); of a block */
  int few_rows_columns;     /* that a lane of cols_few_rows takes; 0: no kernel */
  bool cols_sum;            /* has that kernel */
  int cols_sum_levels;      /* of cols_sum's stack in registers */
  unsigned ring_bytes;      /* of shared memory, of cols_variance_ring; 0: no kernel */
};

/* Compensated dots have no kernel for columns before Hopper: the module has no room. gr_reduce_leaves does them. */
__host__ __device__ constexpr bool gr_ordered_left_out(gr_reducer red, int major) {
  return major < 9 && (red == GR_RED_DOT_KAHAN || red == GR_RED_DOT_NEUMAIER);
}

cudaError_t gr_launch_kernel(const void *kernel, const gr_reduce_args &, const gr_reduce_launch &);
cudaError_t gr_launch_ring(const void *kernel, const gr_reduce_args &, const gr_reduce_launch &);

/*
** One for each reducer, in the file of its like (instances_*.cu): launch is NULL where it is not defined for the dtype.
** Hidden, so that the linker misses one that is nowhere; else only loading the module would.
*/
#define GR_X(id, inputs, f, i) __attribute__((visibility("hidden"))) gr_reduce_entry gr_entry_##id(gr_dtype);
GR_REDUCERS(GR_X)
#undef GR_X

#endif
