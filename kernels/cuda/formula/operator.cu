/*
** Skeletons of operators of somebody's own (kernels/operator.h): a vector's states along the tree of docs/numerics.md,
** on the plan of gr_reduce_leaves. What makes states of an element and what merges two of them are holes; a state is so
** many words of 32 bits. Absent elements are not merged, as an identity need not be one to the bit: they stand behind
** the others in every step, so that a count says which are there.
**
** One skeleton for each size of elements and number of words, up to the next of 1, 2, 3, 4, 6 and 12; with few words
** two: what an element's steps are stands in the loop, or, where that were too much to compile, in a function.
*/
#include "kernels/cuda/reduce/leaves.cuh"

template <int W>
struct gr_state {
  uint32_t w[W];
};

#define GR_EACH_1(m, v) m(v[0])
#define GR_EACH_2(m, v) m(v[0]), m(v[1])
#define GR_EACH_3(m, v) GR_EACH_2(m, v), m(v[2])
#define GR_EACH_4(m, v) GR_EACH_3(m, v), m(v[3])
#define GR_EACH_6(m, v) GR_EACH_4(m, v), m(v[4]), m(v[5])
#define GR_EACH_12(m, v) GR_EACH_6(m, v), m(v[6]), m(v[7]), m(v[8]), m(v[9]), m(v[10]), m(v[11])
#define GR_BOTH_WAYS(x) "+r"(x)
#define GR_IN(x) "r"(x)

/* An element joins a lane's state; the first one of a lane becomes it. x, y: its bits; place: from 0. */
#define GR_JOIN(W, holes)                                                                           \
  if constexpr (words == W)                                                                         \
    asm("//GR_ELEMENT " holes : GR_EACH_##W(GR_BOTH_WAYS, s.w) : "r"(x), "r"(y), "l"(place), "r"(first))
template <int words>
static __device__ __forceinline__ void gr_join_element(gr_state<words> &s, uint32_t x, uint32_t y, int64_t place,
                                                       int first) {
  GR_JOIN(1, "%1 %2 %3 %4 : %0");
  GR_JOIN(2, "%2 %3 %4 %5 : %0 %1");
  GR_JOIN(3, "%3 %4 %5 %6 : %0 %1 %2");
  GR_JOIN(4, "%4 %5 %6 %7 : %0 %1 %2 %3");
}
#undef GR_JOIN

/* The same as a function; numbers lie behind the arguments. */
#define GR_JOIN(W, holes)                                                                                          \
  if constexpr (words == W)                                                                                        \
    asm("//GR_ELEMENT " holes                                                                                      \
        : GR_EACH_##W(GR_BOTH_WAYS, s.w) : "r"(x), "r"(y), "l"(place), "r"(first), "l"(q))
template <int words>
static __device__ __noinline__ gr_state<words> gr_join_apart(gr_state<words> s, uint32_t x, uint32_t y, int64_t place,
                                                             int first, const gr_reduce_args *q) {
  GR_JOIN(1, "%1 %2 %3 %4 %5 : %0");
  GR_JOIN(2, "%2 %3 %4 %5 %6 : %0 %1");
  GR_JOIN(3, "%3 %4 %5 %6 %7 : %0 %1 %2");
  GR_JOIN(4, "%4 %5 %6 %7 %8 : %0 %1 %2 %3");
  GR_JOIN(6, "%6 %7 %8 %9 %10 : %0 %1 %2 %3 %4 %5");
  GR_JOIN(12, "%12 %13 %14 %15 %16 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11");
  return s;
}

/* Of neighbours a, b. A function, so that what the driver compiles is there once. */
#define GR_MERGE(W, holes)                                                                          \
  if constexpr (words == W)                                                                         \
    asm("//GR_MERGE " holes : GR_EACH_##W(GR_BOTH_WAYS, a.w) : GR_EACH_##W(GR_IN, b.w), "l"(q))
template <int words>
static __device__ __noinline__ gr_state<words> gr_merge_apart(gr_state<words> a, gr_state<words> b,
                                                              const gr_reduce_args *q) {
  GR_MERGE(1, "%2 : %0 : %1");
  GR_MERGE(2, "%4 : %0 %1 : %2 %3");
  GR_MERGE(3, "%6 : %0 %1 %2 : %3 %4 %5");
  GR_MERGE(4, "%8 : %0 %1 %2 %3 : %4 %5 %6 %7");
  GR_MERGE(6, "%12 : %0 %1 %2 %3 %4 %5 : %6 %7 %8 %9 %10 %11");
  GR_MERGE(12, "%24 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 : %12 %13 %14 %15 %16 %17 %18 %19 %20 %21 %22 %23");
  return a;
}
/* there: whether there is a b. */
template <int W>
static __device__ __forceinline__ gr_state<W> gr_merge_there(const gr_state<W> &a, const gr_state<W> &b, bool there,
                                                             const gr_reduce_args &q) {
  gr_state<W> s = gr_merge_apart<W>(a, b, &q);
#pragma unroll
  for (int i = 0; i < W; i++) s.w[i] = there ? s.w[i] : a.w[i];
  return s;
}

template <int W>
static __device__ __forceinline__ gr_state<W> gr_either(bool c, const gr_state<W> &a, const gr_state<W> &b) {
  gr_state<W> s;
#pragma unroll
  for (int i = 0; i < W; i++) s.w[i] = c ? a.w[i] : b.w[i];
  return s;
}

/* With the thread h away: the one whose number lacks h is on the left. give: what the other gets. */
template <int W>
static __device__ __forceinline__ gr_state<W> gr_merge_pair(const gr_state<W> &keep, const gr_state<W> &give, int h,
                                                            bool there, int lane, const gr_reduce_args &q) {
  gr_state<W> other;
  const bool right = lane & h;
#pragma unroll
  for (int i = 0; i < W; i++) other.w[i] = __shfl_xor_sync(~0u, give.w[i], h);
  return gr_merge_there<W>(gr_either<W>(right, other, keep), gr_either<W>(right, keep, other), there, q);
}

/* `count` neighbours, of so many lanes at most (a power of two), by adjacency; the first lane has it. */
template <int W>
static __device__ __forceinline__ gr_state<W> gr_fold_neighbours(gr_state<W> s, int count, int lane,
                                                                 const gr_reduce_args &q) {
#pragma unroll 1
  for (int h = 1; h < count; h *= 2) s = gr_merge_pair<W>(s, s, h, (lane | h) < count, lane, q);
  return s;
}

/*
** The lanes of a leaf by halves, as in warp/fold.cuh: in the first steps two threads trade halves of what they hold.
** Lane c of thread t is number t * each + c of `present`.
*/
template <int W, int each, int held>
static __device__ __forceinline__ void gr_fold_leaf(gr_state<W> (&v)[each], int h, int present, int lane,
                                                    const gr_reduce_args &q) {
  if constexpr (held > 1) {
    const bool right = lane & h;
    const int t = (lane & (h - 1)) | h; /* the right one, of those that are left */
    /* which of its lanes a thread has kept so far */
    int first = 0;
#pragma unroll
    for (int part = each / 2, bit = 16; part >= held; part /= 2, bit /= 2) first += lane & bit ? part : 0;
#pragma unroll
    for (int c = 0; c < held / 2; c++) {
      const gr_state<W> keep = gr_either<W>(right, v[c + held / 2], v[c]);
      const gr_state<W> give = gr_either<W>(right, v[c], v[c + held / 2]);
      const int slot = t * each + first + (right ? held / 2 : 0) + c;
      v[c] = gr_merge_pair<W>(keep, give, h, slot < present, lane, q);
    }
    gr_fold_leaf<W, each, held / 2>(v, h / 2, present, lane, q);
  } else {
    int first = 0;
#pragma unroll
    for (int part = each / 2, bit = 16; part >= 1; part /= 2, bit /= 2) first += lane & bit ? part : 0;
#pragma unroll 1
    for (; h > 0; h /= 2) {
      const int slot = ((lane & (h - 1)) | h) * each + first;
      v[0] = gr_merge_pair<W>(v[0], v[0], h, slot < present, lane, q);
    }
    /* what is left are the lanes of the first thread, traded away: pairs `part` apart */
#pragma unroll 1
    for (int part = each / 2, bit = 16; part > 0; part /= 2, bit /= 2)
      v[0] = gr_merge_pair<W>(v[0], v[0], bit, (first & (part - 1)) + part < present, lane, q);
  }
}

template <int size>
static __device__ __forceinline__ void gr_bits_of(const uint4 &w, int c, uint32_t &x, uint32_t &y) {
  const uint32_t part[4] = {w.x, w.y, w.z, w.w};
  y = 0;
  if constexpr (size == 8) {
    x = part[2 * c];
    y = part[2 * c + 1];
  } else {
    x = part[c * size / 4] >> c * size % 4 * 8;
    if constexpr (size < 4) x &= (1u << size % 4 * 8) - 1;
  }
}

/* One word's elements, of which `valid` are there, to the lanes. */
template <int size, int W, bool apart>
static __device__ __forceinline__ void gr_join_word(gr_state<W> (&v)[16 / size], const uint4 &w, int64_t place,
                                                    int valid, int first, const gr_reduce_args &q) {
#pragma unroll
  for (int c = 0; c < 16 / size; c++) {
    uint32_t x, y;
    gr_bits_of<size>(w, c, x, y);
    if (c >= valid) continue;
    if constexpr (apart) v[c] = gr_join_apart<W>(v[c], x, y, place + c, first, &q);
    else gr_join_element<W>(v[c], x, y, place + c, first);
  }
}

template <int size>
constexpr gr_dtype gr_bits_dtype = size == 1 ? GR_U8 : size == 2 ? GR_U16 : size == 4 ? GR_U32 : GR_I64;

/* The state of the leaf whose first element is number k of n. */
template <int size, int W, bool apart>
static __device__ __forceinline__ gr_state<W> gr_operator_leaf(const char *p, int64_t stride, int64_t k, int64_t n,
                                                               int lane, const gr_reduce_args &q) {
  constexpr int each = 16 / size, row = GR_LANES(size), rows = GR_LEAF_ROWS(size), leaf = GR_LEAF(size);
  constexpr int batch = gr_formula_tuning::operator_rows;
  gr_state<W> v[each] = {};
  const int count = (int)min((int64_t)leaf, n - k);
  int64_t place = k + lane * each;
  p += place * stride;
  if (count == leaf && stride == size && ((uintptr_t)p & 15) == 0) {
#pragma unroll 1
    for (int r = 0; r < rows; r += batch, place += batch * row, p += batch * GR_ROW_BYTES) {
      uint4 w[batch];
      gr_load_rows<batch>(w, p);
      if constexpr (size >= 4 && !apart) {
#pragma unroll
        for (int i = 0; i < batch; i++)
          gr_join_word<size, W, apart>(v, w[i], place + i * row, each, i == 0 ? r == 0 : 0, q);
      } else {
#pragma unroll 1
        for (int i = 0; i < batch; i++) {
          gr_join_word<size, W, apart>(v, w[0], place + i * row, each, r + i == 0, q);
          gr_rotate(w);
        }
      }
    }
  } else {
#pragma unroll 1
    for (int from = 0; from < count; from += row, place += row, p += row * stride) {
      const int valid = min(count - from - lane * each, each);
      uint4 w = make_uint4(0, 0, 0, 0);
      if (stride != size) w = gr_gather<gr_bits_dtype<size>>(p, stride, valid);
      else if (valid > 0) w = gr_load_end(gr_load_begin(p), p, valid * size);
      gr_join_word<size, W, apart>(v, w, place, valid, from == 0, q);
    }
  }
  gr_fold_leaf<W, each, each>(v, 16, min(count, row), lane, q);
  return v[0];
}

/* ---- states in memory: word after word, `pitch` apart ---- */

template <int W>
static __device__ __forceinline__ void gr_put_state(uint32_t *p, int64_t pitch, const gr_state<W> &s) {
#pragma unroll
  for (int i = 0; i < W; i++) p[i * pitch] = s.w[i];
}

/* Up to 256 in order, eight to a thread; the first thread has what they come to. */
template <int W>
static __device__ __noinline__ gr_state<W> gr_fold_states(const uint32_t *p, int64_t pitch, int count, int lane,
                                                          const gr_reduce_args *q) {
  gr_state<W> v[8];
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int f = 0; f < W; f++)
      v[i].w[f] = lane * 8 + i < count ? *(const volatile uint32_t *)(p + f * pitch + lane * 8 + i) : 0;
#pragma unroll
  for (int m = 1; m < 8; m *= 2)
#pragma unroll
    for (int i = 0; i < 8; i += 2 * m) v[i] = gr_merge_there<W>(v[i], v[i + m], lane * 8 + i + m < count, *q);
  return gr_fold_neighbours<W>(v[0], (count + 7) / 8, lane, *q);
}

/*
** The blocks of a vector have a node each, as in gr_fold_blocks: the last one to arrive folds them. True in that block,
** whose first thread has the state then.
*/
template <int W>
static __device__ __forceinline__ bool gr_fold_operator_blocks(const gr_reduce_args &q, gr_state<W> &s,
                                                               uint32_t *value, int warp, int lane) {
  const int count = q.nodes, units = (count + 255) >> 8;
  uint32_t *nodes = (uint32_t *)q.node;
  if (threadIdx.x == 0) gr_put_state<W>(nodes + blockIdx.x, count, s);
  if (!gr_last_block(q.counter, (unsigned)count, true)) return false;
#pragma unroll 1
  for (int u = warp; u < units; u += blockDim.x >> 5) {
    s = gr_fold_states<W>(nodes + u * 256, count, min(256, count - u * 256), lane, &q);
    if (lane == 0) gr_put_state<W>(value + u, 512, s);
  }
  __syncthreads();
  if (units == 1) return true;
  if (warp == 0) {
    s = gr_fold_states<W>(value, 512, min(256, units), lane, &q);
    if (units > 256) {
      const gr_state<W> upper = gr_fold_states<W>(value + 256, 512, units - 256, lane, &q);
      s = gr_merge_apart<W>(s, upper, &q);
    }
  }
  return true;
}

/* One vector, whose state goes to the host's mailbox as (W + 1) / 2 fields. */
template <int size, int W, bool apart>
static __device__ __forceinline__ void gr_operator_vector(const gr_reduce_args &q) {
  __shared__ uint32_t value[W * 512];
  constexpr int leaf = GR_LEAF(size);
  const int lane = threadIdx.x & 31, warp = gr_warp_index(), first = (int)blockIdx.x * q.passes << q.warps_log2;
  const int leaves = (int)((q.n + leaf - 1) / leaf), own = min(leaves - first, q.passes << q.warps_log2);
#pragma unroll 1
  for (int k = warp; k < own; k += 1 << q.warps_log2) {
    const gr_state<W> s =
        gr_operator_leaf<size, W, apart>((const char *)q.a, q.stride_a, (int64_t)(first + k) * leaf, q.n, lane, q);
    if (lane == 0) gr_put_state<W>(value + k, 512, s);
  }
  __syncthreads();
  gr_state<W> s = {};
  if (warp == 0) s = gr_fold_states<W>(value, 512, own, lane, &q);
  if (q.nodes > 1 && !gr_fold_operator_blocks<W>(q, s, value, warp, lane)) return;
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int i = 0; i < W; i += 2)
    gr_mailbox_put(q.done + i, s.w[i] | (uint64_t)(i + 1 < W ? s.w[i + 1 < W ? i + 1 : i] : 0) << 32, q.ticket);
}

#define GR_OPERATOR(size, W, how, apart)                                                           \
  extern "C" __global__ void __maxnreg__(gr_formula_tuning::operator_registers(size, W))           \
      gr_operator_##how##_##size##_##W(const __grid_constant__ gr_reduce_args q) {                 \
    gr_operator_vector<size, W, apart>(q);                                                         \
  }
#define GR_OPERATORS(W, how, apart)                                          \
  GR_OPERATOR(1, W, how, apart) GR_OPERATOR(2, W, how, apart)                \
  GR_OPERATOR(4, W, how, apart) GR_OPERATOR(8, W, how, apart)
GR_OPERATORS(1, loop, false)
GR_OPERATORS(2, loop, false)
GR_OPERATORS(3, loop, false)
GR_OPERATORS(4, loop, false)
GR_OPERATORS(1, apart, true)
GR_OPERATORS(2, apart, true)
GR_OPERATORS(3, apart, true)
GR_OPERATORS(4, apart, true)
GR_OPERATORS(6, apart, true)
GR_OPERATORS(12, apart, true)
