/*
** What kernels of reductions are told, how their results are stored, and how the partial results of blocks become one.
** A block folds its leaves by adjacency in shared memory to one node; the nodes of several blocks are then combined in
** one of four modes. Blocks of 2^k aligned leaves make nodes of one binary tree, so neither the size of a block nor who
** comes last shows in the result.
*/
#ifndef GR_CUDA_GRID_COMBINE_CUH
#define GR_CUDA_GRID_COMBINE_CUH

#include "kernels/cuda/grid/dependent_launch.cuh"
#include "kernels/cuda/grid/last_block.cuh"
#include "kernels/cuda/grid/mailbox.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/warp/fold_counted.cuh"

/* How the partials of a vector become one. X(id, as gr.explain says it). */
#define GR_COMBINE_MODES(X)                              \
  X(LAST_BLOCK, "the last block to arrive")              \
  X(POLLING, "block 0 polls published partials")         \
  X(NODES_ON_HOST, "the host folds nodes")               \
  X(LEAVES_ON_HOST, "the host folds leaves")
enum gr_combine_mode : uint8_t {
#define GR_X(id, text) GR_COMBINE_##id,
  GR_COMBINE_MODES(GR_X)
#undef GR_X
};

/*
** What each kernel is told of its own. A name that ends in log2 is a logarithm, without log2 it is a number. Words
** have 16 bytes; "of a warp" and the like say how many of them it takes.
*/
struct gr_rows_by_element_args {
  int row_threads_log2; /* threads of a row */
  int rows;             /* of a warp */
  int second_bytes;     /* of a warp's stage of the second input */
  int gaps;             /* every 128 bytes of a stage are followed by a gap */
};
struct gr_rows_staged_args {
  int row_threads_log2; /* threads of a row */
  int rows;             /* of a warp */
  int pitch;            /* words from one row to the next in the stage */
  int two_a_word;       /* rows are of half a word: 1, else 0 */
  int swizzle_to;       /* see below */
  int stage_words;      /* words of the stage of a warp */
  int words_log2;       /* of each 512 bytes of a row, to a thread */
  int row_words;        /* words of a row */
  int unaligned;        /* not all rows are of whole aligned words */
  int contiguous;       /* rows follow each other */
  int swizzle_mask, swizzle_from; /* word w lies at w ^ (w >> from & mask) << to */
};
struct gr_rows_by_vector_args {
  int rows;           /* of a warp */
  short row_warps_log2; /* warps side by side on the leaves of a row */
  short unaligned;      /* rows or the vector begin anywhere in a word */
};
struct gr_cols_unordered_args {
  int row_lanes;        /* lanes of a warp that have columns */
  int rows;             /* side by side in a strip */
  int strip_warps_log2; /* warps that share a strip's rows */
  int strips_log2;      /* of a block */
  int node_rows;        /* rows of a node */
  int unaligned;        /* to words: bit 0 the first input, bit 1 the second */
};
struct gr_rows_of_integers_args {
  int row_threads_log2; /* threads of a row */
  int lanes;            /* of the tree that there are */
  int size;             /* of an element */
  int64_t sign;         /* its top bit, if it has a sign, and is shorter than 8 bytes */
};
struct gr_cols_few_rows_args {
  int unaligned; /* to words: bit 0 the first input, bit 1 the second */
  int narrow;    /* words of 4 bytes, or of one element of 8 */
};
struct gr_cols_flat_args {
  short sides_log2;                  /* leaves side by side in a block */
  short turns_log2;                  /* parts of a leaf in turn */
  int passes_log2;                   /* leaves in turn */
  int reverse_shift;                 /* 32 - turns_log2; without turns 0 */
  int lanes_at, means_at, states_at; /* in shared memory, behind the places */
};
struct gr_cols_by_lane_args {
  int groups_log2;   /* groups of lanes of the tree */
  int shares_log2;   /* threads that share them: of several warps, and in each... */
  int sides_log2;    /* ...so many rows side by side */
  int reverse_shift; /* by so many bits a turn's number, reversed, becomes that of its group */
  int rows_log2;     /* elements of a lane */
  int held;          /* of the slots for a group's elements, those that a thread needs; 0: it has not enough */
  /* Of a share's group number t: its first lane. */
  __device__ __forceinline__ int first_row(int share, int t) const {
    return share + ((int)(__brev((unsigned)t) >> reverse_shift) << shares_log2);
  }
};
struct gr_cols_sum_args {
  short words_log2;     /* words of columns that lanes read side by side */
  short strip_words;    /* of which so many are the strip's */
  int leaf_blocks_log2; /* blocks that share a leaf */
  int leaf_warps_log2;  /* and warps of each of them */
  int units_log2;       /* leaves of a block, side by side; of columns of one leaf: strips */
  int turns_log2;       /* turns of a thread */
  int tree_lanes_log2;  /* lanes of the tree that there are */
  int state_bytes;      /* of states, before the stacks in shared memory */
  int elements_log2;    /* elements of a lane of the tree */
  int two_a_word;       /* rows are of half a word: 1, else 0 */
  short unaligned;      /* rows begin anywhere in a word */
  short passes_log2;    /* leaves (or strips) of a block in turn */
  int reverse_shift;    /* 32 - turns_log2; without turns 0 */
};
struct gr_cols_variance_ring_args {
  int words_log2;         /* words of columns side by side */
  short node_leaves_log2; /* leaves of a node */
  int leaves_log2;        /* leaves side by side */
};

/*
** A reduce job with its plan, as kernels get it. Arguments arrive in lines of 64 bytes, some 0.1 us each, and the first
** one has only 48 for these. So what gr_reduce_leaves needs for one flat vector comes first, in two lines.
*/
struct gr_reduce_args {
  short warps_log2, passes; /* gr_reduce_leaves: a node is 2^warps_log2 x passes leaves */
  int nodes;           /* of one vector; if there are several, blocks' partials are combined */
  bool flat;           /* gr_reduce_leaves: one vector, no segments */
  bool strided;        /* elements are not next to each other */
  gr_combine_mode combine;
  bool arrays;        /* each vector is an array of its own, with a length and an operation of its own */
  bool inputs_stable; /* launches that may still run write nothing that this one reads: it may read at once */
  bool ahead;         /* ask for the first leaves while the launch before may still run */
  uint8_t op, out_dtype; /* these, and data, n, strides and results: as in the job */
  const void *a, *b;
  int64_t n;
  uint64_t *done;
  uint64_t ticket; /* the second line */
  void *out, *out2;
  int64_t stride_a, stride_b;
  gr_context context;
  gr_halves *partials; /* the third */
  gr_reduce_job job;
  int64_t first;       /* the vector that this launch starts with */
  int64_t leaves;      /* of one vector */
  int radix_log2;      /* of several nodes 2^radix_log2 are combined at once... */
  int counters;        /* ...with so many counters for a group of vectors */
  int64_t *node;
  unsigned *counter;
  union {
    gr_rows_by_element_args rows_by_element;
    gr_rows_staged_args rows_staged;
    gr_rows_by_vector_args rows_by_vector;
    gr_rows_of_integers_args rows_of_integers;
    gr_cols_unordered_args cols_unordered;
    gr_cols_few_rows_args cols_few_rows;
    gr_cols_flat_args cols_flat;
    gr_cols_by_lane_args cols_by_lane;
    gr_cols_sum_args cols_sum;
    gr_cols_variance_ring_args cols_variance_ring;
    struct {
      const void *a, *b;
      int64_t n;
      int op;
    } array[GR_ARRAYS]; /* gr_reduce_leaves, if the vectors are arrays */
  }; /* launches of 552 bytes take 0.15 .. 0.2 us less than of 488 (H200, bench/launches.cu) */
};
static_assert(offsetof(gr_reduce_args, ticket) == 48 && offsetof(gr_reduce_args, partials) == 48 + 64,
              "lines of arguments begin where their comments say");

/* ---- results ---- */

/* out_dtype is f64, f32, i64, u8 or the input's own. What is stored is the low bytes of `bits`. */
template <gr_dtype D>
static __device__ __forceinline__ void gr_store(void *out, gr_dtype t, int64_t i, bool is_float, double x, int64_t k) {
  constexpr int own = gr_size<D>;
  if (t == GR_F64) {
    ((double *)out)[i] = is_float ? x : (double)k;
  } else if (t == GR_I64) {
    ((int64_t *)out)[i] = is_float ? (int64_t)x : k;
  } else {
    if (!is_float) x = (double)k;
    else k = (int64_t)x;
    int bits = (int)k;
    if (t == GR_F32) bits = __float_as_int(gr_f64_to_f32(x));
    if constexpr (D == GR_F16 || D == GR_BF16)
      if (t == D) bits = gr_from_f64<D>(x).bits;
    if (t == GR_F32 || (own == 4 && t != GR_U8)) ((int32_t *)out)[i] = bits;
    else if (own == 2 && t != GR_U8) ((int16_t *)out)[i] = (int16_t)bits;
    else ((int8_t *)out)[i] = (int8_t)bits;
  }
}

/* gr_finish with the operation known when compiled, so that a kernel holds only its reducer's operations. */
template <class R>
static __device__ __forceinline__ gr_value gr_finish_known(const gr_reduce_job &j, gr_op op, gr_acc a, int64_t n) {
  constexpr bool place = R::kind == GR_ACC_POSITION;
#define GR_X(name, r, f, i, e, by)                                                \
  if constexpr (GR_RED_##r == R::red || (place && GR_RED_##r == GR_RED_ARGMIN) || \
                (R::red == GR_RED_SUMSQ && GR_RED_##r == GR_RED_SUMABS) ||        \
                (R::red == GR_RED_SUMWIDE && GR_OP_##name == GR_OP_mean))         \
    if (op == GR_OP_##name) return gr_finish(GR_OP_##name, R::dtype, a, n, j.ddof);
  GR_OPS(GR_X)
#undef GR_X
  return gr_value_i(0);
}

/* Whether results may have a second value. Of SUMSQ and COSINE it says whether the first is to be trusted
   (gr_with_safety). */
template <class R>
constexpr bool gr_has_two = R::kind == GR_ACC_ORDER || R::red == GR_RED_SUMSQ || R::red == GR_RED_COSINE;
/* Stores the result of vector v. */
template <class R>
static __device__ __forceinline__ void gr_write_value(const gr_reduce_args &q, const gr_value &r, int64_t v) {
  constexpr bool two = gr_has_two<R>;
#pragma unroll
  for (int i = 0; i < 2; i++)
    if (void *out = i ? (two ? q.out2 : nullptr) : q.out)
      gr_store<R::dtype>(out, (gr_dtype)q.out_dtype, v, r.is_float, i ? r.v[1].f : r.v[0].f, i ? r.v[1].i : r.v[0].i);
}
/* Of what is present: where nothing is, extremes are NaN, and positions 0. */
template <class R>
static __device__ __forceinline__ gr_acc gr_or_none(gr_acc a) {
  if constexpr (R::present && R::kind == GR_ACC_ORDER)
    if (a.i[0] > a.i[1]) a.i[1] = INT64_MAX;
  if constexpr (R::present && R::kind == GR_ACC_POSITION)
    if (a.i[0] <= (int64_t)gr_lowest<typename R::K>()) a.i[1] = -1;
  return a;
}
/* The same of n elements' state. Inline, and once in a kernel: a call would read the arguments through memory instead
   of the constant bank. */
template <class R>
static __device__ __forceinline__ void gr_write(const gr_reduce_args &q, gr_acc acc, int64_t v, int64_t n) {
  const gr_op op = (gr_op)(q.arrays ? q.array[v].op : q.op);
  gr_write_value<R>(q, gr_finish_known<R>(q.job, op, gr_or_none<R>(acc), n), v);
}
/* The result of as many elements as the tally says, which divide a mean: NaN of none. */
template <class R>
__device__ __forceinline__ void gr_write_tallied(const gr_reduce_args &q, gr_acc acc, int64_t v) {
  const int64_t n = acc.i[1];
  gr_write_value<R>(q, n ? gr_finish_known<R>(q.job, (gr_op)q.op, acc, n) : gr_value_f(gr_nan()), v);
}

/* State `at` of those that the host folds (grid/mailbox.h). */
template <class R>
static __device__ __forceinline__ void gr_mailbox_put_state(const gr_reduce_args &q, int64_t at, const gr_acc &a) {
#pragma unroll
  for (int i = 0; i < R::fields; i++) gr_mailbox_put(q.done + (at * R::fields + i) * 2, (uint64_t)a.i[i], q.ticket);
}

/* Vector v: where it starts, in steps of the inputs, how long it is, and which result is its own. */
struct gr_stretch {
  int64_t from, n, place;
};
static __device__ __forceinline__ gr_stretch gr_stretch_of(const gr_reduce_args &q, int64_t v) {
  gr_stretch s = {v, q.job.n, v};
  if (q.job.offsets) {
    if (q.job.chosen) s.place = q.job.chosen[v];
    s.from = gr_segment(&q.job, s.place, &s.n);
  }
  return s;
}

/* ---- states in memory: field after field, `pitch` apart ---- */

template <class R>
__device__ __forceinline__ void gr_put(int64_t *p, int64_t pitch, gr_acc a) {
#pragma unroll
  for (int i = 0; i < R::fields; i++) p[i * pitch] = a.i[i];
}
template <class R>
__device__ __forceinline__ gr_acc gr_get(const int64_t *p, int64_t pitch) {
  gr_acc a = R::identity();
#pragma unroll
  for (int i = 0; i < R::fields; i++) a.i[i] = p[i * pitch];
  return a;
}

/* Of shared memory, or past L1. */
template <class R>
__device__ __forceinline__ gr_acc gr_get_fresh(const int64_t *p, int64_t pitch) {
  gr_acc a = R::identity();
#pragma unroll
  for (int i = 0; i < R::fields; i++) a.i[i] = *(const volatile int64_t *)(p + i * pitch);
  return a;
}

/*
** Up to 256 states in order fold by adjacency in one warp; all its threads get the result. Out of line: the last block
** finds the code that its warps have just used. Eight go to a thread, since shuffles take longer than reading;
** extremes, of any order, are spread over the lanes.
*/
template <class R>
static __device__ __noinline__ gr_acc gr_fold_256(const int64_t *p, int64_t pitch, int count, int lane) {
  constexpr bool extreme = R::kind == GR_ACC_ORDER || R::kind == GR_ACC_POSITION;
  auto get = [=](int i) {
    const int at = extreme ? i * 32 + lane : lane * 8 + i;
    gr_acc a = R::identity();
    if (at < count)
#pragma unroll
      /* volatile: in shared memory, or past L1 */
      for (int f = 0; f < R::fields; f++) a.i[f] = *(const volatile int64_t *)(p + f * pitch + at);
    return a;
  };
  gr_acc counted;
  if constexpr (gr_folds_counted<R>)
    if (gr_fold_counted<R, 8>(get, counted)) return counted;
  if constexpr (gr_folds_counted<R> && gr_size<R::dtype> < 8) {
    return counted;
  } else {
    gr_acc v[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
      v[i] = get(i);
      if (extreme && i == 0 && count <= 32) return gr_fold_adjacent<R>(v[0], 32);
    }
#pragma unroll
    for (int n = 1; n < 8; n *= 2)
#pragma unroll
      for (int i = 0; i < 8; i += 2 * n) v[i] = R::merge(v[i], v[i + n]);
    if constexpr (extreme) {
      return gr_fold_adjacent<R>(v[0], 32);
    } else {
#pragma unroll 1
      for (int h = 1; h * 8 < count; h *= 2) v[0] = gr_merge_xor<R>(v[0], h);
      return gr_shuffle_from<R>(v[0], 0);
    }
  }
}

/* Up to 2^18 states, 256 at a time; lane i keeps the i-th result of 32, and again. */
template <class R>
__device__ __forceinline__ gr_acc gr_fold_many(const int64_t *p, int64_t pitch, int64_t count, int lane) {
  gr_acc upper = R::identity(), lower = R::identity();
  int units = (int)((count + 255) / 256);
#pragma unroll 1
  for (int u = 0; u < units; u++) {
    gr_acc a = gr_fold_256<R>(p + u * 256, pitch, (int)min((int64_t)256, count - u * 256), lane);
    if (units == 1) return a;
    lower = gr_select<R>(lane == (u & 31), a, lower);
    if ((u & 31) == 31 || u == units - 1) {
      a = gr_fold_adjacent<R>(lower, 32);
      upper = gr_select<R>(lane == u / 32, a, upper);
      lower = R::identity();
    }
  }
  return gr_fold_adjacent<R>(upper, 32);
}

/*
** Which group of vectors a block has, and which of their nodes. Asked for anew where it is needed late, so that no
** registers hold it meanwhile.
*/
struct gr_block_index {
  unsigned group, node;
};
__device__ __forceinline__ gr_block_index gr_index_of_block(const gr_reduce_args &q) {
  unsigned block, nodes = (unsigned)q.nodes;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  gr_block_index p = {block, 0};
  if (nodes > 1) {
    p.group = block / nodes;
    p.node = block - p.group * nodes;
  }
  return p;
}

/*
** Node `node` of this block's vectors, v0 and on, is in scratch, those of neighbouring vectors side by side: of up to
** 2^radix_log2 neighbours the block that arrives last folds them into the first one's place, and so on. True in the one
** block that has the roots: in the places of the first nodes.
*/
template <class R, class Team = gr_team_of_block>
__device__ __forceinline__ bool gr_combine_nodes(const gr_reduce_args &q, int64_t v0, int columns, unsigned *counter,
                                                 int64_t node) {
  constexpr int batch = 1 << Team::batch_log2;
  int64_t pitch = q.job.count * q.nodes, count = q.nodes, step = 1;
#pragma unroll 1
  for (; count > 1; node >>= q.radix_log2, step <<= q.radix_log2) {
    int64_t group = node >> q.radix_log2, first = group << q.radix_log2;
    int here = (int)min((int64_t)1 << q.radix_log2, count - first);
    if (!Team::is_last(counter + group, (unsigned)here)) return false;
    count = (count - 1 >> q.radix_log2) + 1;
    counter += count;
#pragma unroll 1
    for (int c = Team::thread(); c < columns && v0 + c < q.job.count; c += Team::threads()) {
      volatile int64_t *nodes = q.node + first * step * q.job.count + v0 + c;
      int64_t apart = step * q.job.count;
#pragma unroll 1
      for (int many = here, log = q.radix_log2; log > 0; many = (many + batch - 1) / batch, log -= Team::batch_log2)
#pragma unroll 1
        for (int k = 0; k < many; k += batch) {
          gr_acc s[batch];
#pragma unroll
          for (int i = 0; i < batch; i++) {
            s[i] = R::identity();
            if (k + i < many)
#pragma unroll
              for (int f = 0; f < R::fields; f++) s[i].i[f] = nodes[f * pitch + (k + i) * apart];
          }
#pragma unroll
          for (int n = 1; n < batch; n *= 2)
#pragma unroll
            for (int i = 0; i < batch; i += 2 * n) s[i] = R::merge(s[i], s[i + n]);
#pragma unroll
          for (int f = 0; f < R::fields; f++) nodes[f * pitch + k / batch * apart] = s[0].i[f];
        }
    }
  }
  return true;
}

/* The root of vector v, in the thread that wrote it or behind a barrier. */
template <class R>
__device__ __forceinline__ gr_acc gr_root(const gr_reduce_args &q, int64_t v) {
  gr_acc acc = R::identity();
#pragma unroll
  for (int f = 0; f < R::fields; f++) acc.i[f] = ((volatile int64_t *)q.node)[f * (q.job.count * q.nodes) + v];
  return acc;
}

/* ---- published partials: nodes that one block polls ---- */

/*
** A state on its way to another block (grid/publish.cuh), as many words as it has fields. Its places are zero before
** and after, since the arguments of a graph, and so a tag, would be the same at its next launch.
*/
constexpr gr_tag gr_partial_tag = {1, 1};

template <class R>
__device__ __forceinline__ void gr_publish_partial(gr_halves *to, const gr_acc &a) {
#pragma unroll
  for (int i = 0; i < R::fields; i++) gr_publish(to + i, a.i[i], gr_partial_tag);
}
/* One of them. */
template <class R>
__device__ __forceinline__ gr_acc gr_await_partial(gr_halves *from) {
  gr_halves x[R::fields];
  uint64_t there;
  do {
    there = 1;
#pragma unroll
    for (int i = 0; i < R::fields; i++) {
      x[i] = gr_peek(from + i);
      there &= x[i].low & x[i].high;
    }
  } while (!(there & 1));
  gr_acc a = R::identity();
#pragma unroll
  for (int i = 0; i < R::fields; i++) {
    a.i[i] = (int64_t)gr_join(x[i]);
    gr_poke(from + i, {0, 0});
  }
  return a;
}
/* Two neighbours, each if it is wanted; all their words are asked for at once. */
template <class R>
__device__ __forceinline__ void gr_await_partials(gr_halves *from, bool wanted, gr_acc &a, bool wanted_next,
                                                  gr_acc &next) {
  gr_halves x[2][R::fields];
  bool there;
  do {
    there = true;
#pragma unroll
    for (int p = 0; p < 2; p++)
      if (p ? wanted_next : wanted)
#pragma unroll
        for (int i = 0; i < R::fields; i++) {
          x[p][i] = gr_peek(from + p * R::fields + i);
          there = there && (x[p][i].low & x[p][i].high & 1);
        }
  } while (!there);
#pragma unroll
  for (int p = 0; p < 2; p++)
    if (p ? wanted_next : wanted)
#pragma unroll
      for (int i = 0; i < R::fields; i++) {
        (p ? next : a).i[i] = (int64_t)gr_join(x[p][i]);
        gr_poke(from + p * R::fields + i, {0, 0});
      }
}

#endif
