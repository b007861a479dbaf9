/* The kernels of one reducer and dtype: which there are, what a plan must know of them, and how one is launched. */
#ifndef GR_CUDA_REDUCE_ENTRY_CUH
#define GR_CUDA_REDUCE_ENTRY_CUH

#include "kernels/cuda/grid/combine.cuh"

/*
** The list of kernels: gr_reduce_NAME in NAME.cuh, and gr_has_NAME<R>, which says for which reducers it is. A reducer
** has those of its scope and of the ones before: of what is never asked of rows or columns there is one kernel, which
** would do for them too; of what is rarely asked of many vectors there are none for short rows, but that which
** integers share.
*/
enum gr_scope { GR_FLAT, GR_LONG, GR_ALL };
#define GR_REDUCE_KERNELS(X)    \
  X(leaves, GR_FLAT)            \
  X(rows_by_vector, GR_ALL)     \
  X(rows_staged, GR_ALL)        \
  X(rows_by_element, GR_ALL)    \
  X(cols_few_rows, GR_ALL)      \
  X(cols_flat, GR_ALL)          \
  X(cols_sum, GR_ALL)           \
  X(cols_variance_ring, GR_ALL) \
  X(cols_by_lane, GR_LONG)      \
  X(cols_unordered, GR_LONG)    \
  X(rows_of_integers, GR_LONG)
enum gr_reduce_kernel {
#define GR_X(name, scope) GR_KERNEL_##name,
  GR_REDUCE_KERNELS(GR_X)
#undef GR_X
  GR_KERNEL_COUNT
};

struct gr_reduce_launch {
  unsigned blocks, threads, shared; /* bytes of shared memory */
  unsigned allowed;                 /* of it, to all launches of the kernel, as other states may launch it meanwhile */
  unsigned most;                    /* blocks, where they take one thing after the other; else 0 */
  bool early; /* may begin while the launch before it ends */
  cudaStream_t stream;
  struct gr_cuda_batch *batch;
  const gr_cuda_formula *formula;
};

/* A reducer's kernels, and what a plan must know of them. */
struct gr_reduce_entry {
  const void *kernel[GR_KERNEL_COUNT]; /* NULL: it has not this one */
  int fields;              /* of its state */
  int resident;            /* blocks of 256 threads of gr_reduce_leaves on a multiprocessor */
  bool stages_unaligned;   /* rows_staged takes rows that are not aligned, too */
  int stage_words;         /* of a warp of rows_staged, at most gr_most_stage */
  int alone;               /* elements of a row of one thread of rows_by_element, at most */
  bool by_lanes;           /* lanes of a leaf have an order */
  int columns;             /* that a lane of cols_unordered takes */
  int leaf, warps;         /* elements of a leaf (0: any number), and warps of a block */
  int cols_sum_levels;     /* of cols_sum's stack in registers */
  unsigned ring_bytes;     /* of shared memory, of cols_variance_ring */
};

/* Whose elements gr_reduce_cols_by_lane may hold; the others stand there once, in turn. */
constexpr bool gr_by_lane_holds_for(gr_reducer red) {
  return red == GR_RED_VARIANCE || red == GR_RED_PRESENT || red == GR_RED_DOT;
}

/*
** The entry of each reducer for a dtype, in the file of its like (instances_*.cu): without kernels where it is not
** defined for the dtype. They are hidden, so that one that is nowhere is an error of the linker, not of whoever loads
** the module.
*/
#define GR_X(id, inputs, f, i) __attribute__((visibility("hidden"))) gr_reduce_entry gr_entry_##id(gr_dtype);
GR_REDUCERS(GR_X)
#undef GR_X

#endif
