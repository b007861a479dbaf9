/*
** The three reduce kernels of one reducer and dtype, and how a table of them is made.
*/
#ifndef GR_REDUCE_CUH
#define GR_REDUCE_CUH

#include "kernels/cuda/grid/combine.cuh"

enum gr_reduce_shape { GR_LEAVES, GR_SHORT, GR_ROWS, GR_COLUMNS, GR_FEW, GR_TALL, GR_RING, GR_VECTOR };
enum gr_short_way { GR_NO_SHORT, GR_STAGED, GR_BY_LANES, GR_BY_WORDS };

constexpr int gr_lanes_warps = 4, gr_most_stage = 544; /* of gr_reduce_lanes */

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
  gr_short_way short_rows;  /* of gr_reduce_short and gr_reduce_lanes, which also takes words in part if it is by words */
  bool vector;              /* has gr_reduce_vector */
  int stage;                /* words that a warp of gr_reduce_lanes holds, or gr_most_stage */
  /* Of columns: those of a lane (0: no kernel); whether lanes of the tree are ordered, which is gr_reduce_columns, or not,
     gr_reduce_strips; lanes and elements of a leaf (0: any); warps of a block. Then those of a lane in gr_reduce_few, gr_spread_leaves and
     gr_reduce_streams, if there are these kernels; of the latter, levels of the stack in registers; gr_reduce_ring: bytes
     of shared memory. */
  int columns;
  bool ordered;
  int lanes, leaf, warps, few;
  bool spread, streams;
  int stream_levels;
  unsigned ring;
};

/* Compensated dots have no kernel for columns before Hopper: the module has no room. gr_reduce_leaves does them. */
__host__ __device__ constexpr bool gr_columns_left_out(gr_reducer red, int major) {
  return major < 9 && (red == GR_RED_DOT_KAHAN || red == GR_RED_DOT_NEUMAIER);
}

cudaError_t gr_launch_kernel(const void *kernel, const gr_reduce_args &, const gr_reduce_launch &);
cudaError_t gr_launch_ring(const void *kernel, const gr_reduce_args &, const gr_reduce_launch &);

/* One per family of reducers (reduce_*.cu): launch is NULL where it does not have this reducer or dtype. */
gr_reduce_entry gr_reduce_sums(gr_reducer, gr_dtype);
gr_reduce_entry gr_reduce_orders(gr_reducer, gr_dtype);
gr_reduce_entry gr_reduce_norms(gr_reducer, gr_dtype);
gr_reduce_entry gr_reduce_spreads(gr_reducer, gr_dtype);
gr_reduce_entry gr_reduce_pairs(gr_reducer, gr_dtype);
gr_reduce_entry gr_reduce_accurates(gr_reducer, gr_dtype);

#endif
