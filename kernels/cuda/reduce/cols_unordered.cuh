/*
** Columns of reducers that let the elements of a leaf come in any order. A warp goes down a strip, 32 words side by
** side (4 to 16 bytes, a lane each), with a batch of words of every lane in flight; where a matrix is dense and narrow,
** a word row of the strip is as many of its rows as fit. Rows that start anywhere are read by aligned words, and what a
** lane lacks its neighbour has: then the last lane has no columns of its own. Warps of a block lie side by side, or
** several of them share a strip's rows and fold in shared memory; nodes of blocks are combined by
** gr_combine_nodes.
*/
#ifndef GR_CUDA_REDUCE_COLS_UNORDERED_CUH
#define GR_CUDA_REDUCE_COLS_UNORDERED_CUH

#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/load.cuh"

template <class R>
constexpr int gr_strip_batch_bytes = gr_strip_batch_bytes_for(gr_size<R::dtype>, R::inputs);
/* Bytes of a lane's word: as many columns as registers and shared memory hold states of. */
template <class R>
constexpr int gr_strip_word_of() {
  using Q = typename gr_collected<R>::type;
  int size = gr_size<R::dtype>, word = 16, lane = (int)sizeof(typename Q::Lane);
  while (word > 4 && word > size &&
         (word / size * lane > (R::leaves ? gr_strip_held_of_leaves : gr_strip_held) ||
          word / size * Q::fields * gr_strip_warps > gr_strip_states))
    word /= 2;
  return word;
}
template <class R>
constexpr int gr_strip_word = gr_strip_word_of<R>();
template <class R>
constexpr int gr_strip_resident = gr_strip_resident_for(
    gr_traits_of<R>, gr_strip_word<R> / gr_size<R::dtype> * (int)sizeof(typename gr_collected<R>::type::Lane),
    R::present ? 900 : gr_arch);
template <class R>
constexpr int gr_strip_columns = gr_strip_word<R> / gr_size<R::dtype>;

/* 4 bytes of each of 4 rows become 4 rows of each of 4 bytes; or 2 and 2. */
__device__ __forceinline__ void gr_turn(uint32_t (&u)[4]) {
  uint32_t a = __byte_perm(u[0], u[1], 0x5140), b = __byte_perm(u[2], u[3], 0x5140),
           c = __byte_perm(u[0], u[1], 0x7362), d = __byte_perm(u[2], u[3], 0x7362);
  u[0] = __byte_perm(a, b, 0x5410);
  u[1] = __byte_perm(a, b, 0x7632);
  u[2] = __byte_perm(c, d, 0x5410);
  u[3] = __byte_perm(c, d, 0x7632);
}
__device__ __forceinline__ void gr_turn(uint32_t (&u)[2]) {
  uint32_t a = u[0], b = u[1];
  u[0] = __byte_perm(a, b, 0x5410);
  u[1] = __byte_perm(a, b, 0x7632);
}

/*
** Word rows of a batch: so many, `bytes` long, but the one numbered `last` (which may lie beyond) has `part` bytes.
** Rows without any have so few that no aligned word reaches them.
*/
constexpr int gr_strip_none = -16;
struct gr_strip_rows {
  int count, bytes, last, part;
  __device__ __forceinline__ int bytes_of(int j) const { return j >= count ? gr_strip_none : j == last ? part : bytes; }
};

template <class Q, int W, int batch>
struct gr_strip_batch {
  static constexpr int size = gr_size<Q::dtype>, C = 4 * W / size, each = size < 4 ? 4 / size : 1;
  using Word = gr_words<W>;
  using Lane = typename Q::Lane;

  /* Words of the rows of a batch, `step` apart from p. */
  static __device__ __forceinline__ void load(Word (&w)[batch], const char *p, int64_t step, const gr_strip_rows &r,
                                              bool loose, int lane) {
    using T = std::conditional_t<W == 4, uint4, std::conditional_t<W == 2, uint2, unsigned>>;
    constexpr int word = 4 * W;
    int start = (int)((uintptr_t)p & (word - 1)), turn = (int)step;
    if (!loose) start = turn = 0;
    p += lane * word;
#pragma unroll
    for (int j = 0; j < batch; j++) {
      int shift = start + j * turn & (word - 1);
      if (lane * word - shift < r.bytes_of(j)) {
        T t = __ldg((const T *)(p - shift));
        memcpy(&w[j], &t, word);
      }
      p += step;
      asm volatile("" : "+l"(p)); /* one address at a time: multiples of step made beforehand would spill */
    }
    if (!loose) return;
#pragma unroll
    for (int j = 0; j < batch; j++) {
      Word next;
#pragma unroll
      for (int i = 0; i < W; i++) next.u[i] = __shfl_down_sync(~0u, w[j].u[i], 1);
      w[j] = gr_realign_words<W>(w[j], next, start + j * turn & (word - 1));
    }
  }
  static __device__ __forceinline__ gr_type<Q::dtype> pick(const Word &w, int c) {
    uint4 u = make_uint4(w.u[0], w.u[W > 1 ? 1 : 0], w.u[W > 2 ? 2 : 0], w.u[W > 2 ? 3 : 0]);
    return gr_pick<Q::dtype>(u, c);
  }
  static __device__ __forceinline__ void add(Lane (&l)[C], const Word (&a)[batch], const Word (&b)[batch],
                                             const gr_context &k) {
    if constexpr (Q::kind == GR_ACC_ORDER && size < 4) {
#pragma unroll
      for (int i = 0; i < W; i++) {
        uint32_t u[batch];
#pragma unroll
        for (int j = 0; j < batch; j++) u[j] = a[j].u[i];
        Q::template add_below<batch>(&l[i * each], u);
      }
    } else if constexpr (size < 4 && Q::by_part) {
#pragma unroll
      for (int j = 0; j < batch; j += each)
#pragma unroll
        for (int i = 0; i < W; i++) {
          uint32_t x[each], y[each];
#pragma unroll
          for (int r = 0; r < each; r++) x[r] = a[j + r].u[i], y[r] = Q::inputs == 2 ? b[j + r].u[i] : 0;
          gr_turn(x);
          if (Q::inputs == 2) gr_turn(y);
#pragma unroll
          for (int c = 0; c < each; c++) Q::add_part(l[i * each + c], x[c], y[c], k);
        }
    } else {
#pragma unroll
      for (int j = 0; j < batch; j++)
#pragma unroll
        for (int c = 0; c < C; c++) Q::add(l[c], pick(a[j], c), pick(Q::inputs == 2 ? b[j] : a[j], c), k, j);
    }
  }
  /* One element of a vector for each row. */
  static __device__ __forceinline__ void repeat(Word (&w)[batch], const char *p, int64_t stride, int count) {
#pragma unroll
    for (int j = 0; j < batch; j++) {
      uint2 x = j < count ? gr_repeat<size>(p + j * stride) : uint2{};
#pragma unroll
      for (int i = 0; i < W; i++) w[j].u[i] = i & 1 ? x.y : x.x;
    }
  }
  /*
  ** The same of rows side by side: element i of a word, and of as many more as `starts` has no bit for, goes with the
  ** element at p, the next ones with its neighbours. The first ones are asked for together: what follows them is near.
  ** left: how many there are from p on; near: rows from one word to the next.
  */
  static __device__ __forceinline__ void repeat_rows(Word (&w)[batch], const char *p, int64_t stride, uint32_t starts,
                                                     int near, int left) {
    constexpr int shares = size < 4 ? 4 / size : 1;
    auto get = [&](int row) { return row < left ? gr_repeat<size>(p + row * stride) : uint2{}; };
    uint2 x[batch];
#pragma unroll
    for (int j = 0; j < batch; j++) x[j] = get(j * near);
#pragma unroll
    for (int i = 0; i < batch * W; i++) w[i / W].u[i % W] = i & 1 ? x[i / W].y : x[i / W].x;
    if (starts == 0) return;
#pragma unroll
    for (int j = 0; j < batch; j++) {
      int row = j * near;
#pragma unroll
      for (int c = 1; c < C; c++) {
        if (starts >> c & 1) x[j] = get(++row);
        if (size == 8) w[j].u[2 * c] = x[j].x, w[j].u[2 * c + (size == 8)] = x[j].y;
        else if (c % shares == 0) w[j].u[c / shares] = x[j].x;
        else
          w[j].u[c / shares] = __byte_perm(w[j].u[c / shares], x[j].x,
                                           size == 2    ? 0x7610
                                           : c % 4 == 1 ? 0x7650
                                           : c % 4 == 2 ? 0x7610
                                                        : 0x7210);
      }
    }
  }
  /* Rows from `count` on change nothing. */
  static __device__ __forceinline__ void fill(Word (&w)[batch], int count) {
    uint2 neutral = Q::neutral();
#pragma unroll
    for (int j = 1; j < batch; j++)
      if (j >= count)
#pragma unroll
        for (int i = 0; i < W; i++)
          w[j].u[i] = Q::kind == GR_ACC_ORDER || Q::kind == GR_ACC_POSITION ? w[0].u[i] : i & 1 ? neutral.y : neutral.x;
  }
  /* The rows that there are, those that are not whole too. */
  static __device__ __forceinline__ void add_some(Lane (&l)[C], Word (&a)[batch], Word (&b)[batch], const gr_context &k,
                                                  const gr_strip_rows &r, int lane) {
#pragma unroll 1
    for (int j = 0; j < r.count; j++) {
      int valid = r.bytes_of(j) - lane * (4 * W);
#pragma unroll
      for (int c = 0; c < C; c++)
        if (c * size < valid) Q::add(l[c], pick(a[0], c), pick(Q::inputs == 2 ? b[0] : a[0], c), k, j);
#pragma unroll
      for (int i = 0; i + 1 < batch; i++) {
        a[i] = a[i + 1];
        if (Q::inputs == 2) b[i] = b[i + 1];
      }
    }
  }
};

/* Where a warp is; asked for anew at the end, so that no registers hold it meanwhile. */
struct gr_strip_warp {
  gr_block_index block;
  int64_t v0, v, row0; /* first columns of the block and of the warp (or elements of a word row), first row */
  int left;            /* rows */
  int warp, z, t;      /* of the block, of the warps that share the strip, and this thread's number among theirs */
  __device__ __forceinline__ gr_strip_warp(const gr_reduce_args &q, int strip) {
    const gr_cols_unordered_args &how = q.cols_unordered;
    unsigned thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    warp = (int)thread >> 5;
    z = warp & ((1 << how.strip_warps_log2) - 1);
    t = z * 32 + (thread & 31);
    block = gr_index_of_block(q);
    v0 = ((int64_t)block.group << how.strips_log2) * strip;
    v = v0 + (warp >> how.strip_warps_log2) * strip;
    row0 = (int64_t)block.node * how.node_rows;
    left = (int)min(q.job.n - row0, (int64_t)how.node_rows);
  }
  /* Elements of `rows` rows side by side that lie in this strip. */
  __device__ __forceinline__ int elements(const gr_reduce_args &q, int rows, int strip) const {
    return (int)max((int64_t)0, min(rows * q.job.count - v, (int64_t)strip));
  }
};

/*
** Grid: groups of strips times q.nodes. A word row is a row, or several whole rows, which the strips of one group
** share.
*/
template <class R>
__global__ void __launch_bounds__(gr_strip_warps * 32, gr_strip_resident<R> / gr_strip_warps)
    gr_reduce_cols_unordered(const __grid_constant__ gr_reduce_args q) {
  const gr_cols_unordered_args &how = q.cols_unordered;
  using Q = typename gr_collected<R>::type;
  constexpr int size = gr_size<R::dtype>, word = gr_strip_word<R>, C = word / size, warps = gr_strip_warps;
  constexpr int batch = gr_strip_batch_bytes<R> / word / R::inputs, slots = 32 * C + 32;
  constexpr int pitch = warps * slots;
  static_assert(size > 1 || batch % 4 == 0, "four rows of bytes are turned together");
  using B = gr_strip_batch<Q, word / 4, batch>;
  __shared__ int64_t states[pitch * Q::fields]; /* one unused after every C, for the banks */
  int lane = threadIdx.x & 31, warp = gr_warp_index(), z = warp & ((1 << how.strip_warps_log2) - 1), near = how.rows,
      strip = how.row_lanes * C;
  typename Q::Lane l[C];
#pragma unroll
  for (int c = 0; c < C; c++) l[c] = Q::start();
  gr_start_reading(q.inputs_stable);
  if (gr_strip_warp w(q, strip); w.elements(q, near, strip) > 0) {
    const char *a = (const char *)q.job.a.data + (q.first + w.v) * size + w.row0 * q.job.a.stride;
    bool shared_b = q.job.b.step == 0; /* one vector for all columns */
    const char *b = (const char *)q.job.b.data + (shared_b ? 0 : (q.first + w.v) * size) + w.row0 * q.job.b.stride;
    int full = w.left / near, rest = w.left - full * near, all = full + (rest > 0);
    int bytes = w.elements(q, near, strip) * size, part = w.elements(q, rest, strip) * size;
    if (part == 0) part = gr_strip_none;
    /* if rows lie side by side */
    int columns = (int)min(q.job.count, (int64_t)1 << 20), at = (int)w.v + lane * C, row = at / columns;
    uint32_t starts = 0;
    for (int c = (row + 1) * columns - at; R::inputs == 2 && shared_b && c < C; c += columns) starts |= 1u << c;
#pragma unroll 1
    for (int k = z * batch; k < all; k += batch << how.strip_warps_log2) {
      gr_words<word / 4> x[batch], y[batch];
      gr_strip_rows r = {min(batch, all - k), bytes, full - k, part};
      B::load(x, a + k * near * q.job.a.stride, q.job.a.stride * near, r, how.unaligned & 1, lane);
      if (R::inputs == 2 && shared_b && near == 1) B::repeat(y, b + k * q.job.b.stride, q.job.b.stride, r.count);
      if (R::inputs == 2 && shared_b && near > 1)
        B::repeat_rows(y, b + (k * near + row) * q.job.b.stride, q.job.b.stride, starts, near, w.left - k * near - row);
      if (R::inputs == 2 && !shared_b)
        B::load(y, b + k * near * q.job.b.stride, q.job.b.stride * near, r, how.unaligned >> 1, lane);
      if (r.last < r.count || r.count * 4 <= batch || (r.count < batch && R::red == GR_RED_COSINE)) {
        B::add_some(l, x, y, q.context, r, lane);
      } else {
        if (r.count < batch) B::fill(x, r.count);
        if (r.count < batch && R::inputs == 2) B::fill(y, r.count);
        B::add(l, x, y, q.context);
      }
      if constexpr (Q::kind == GR_ACC_POSITION)
#pragma unroll
        for (int c = 0; c < C; c++) Q::mark(l[c], (k + l[c].code) * near); /* in this node */
    }
  }
#pragma unroll
  for (int c = 0; c < C; c++)
    gr_put<Q>(states + ((int)threadIdx.x >> 5) * slots + ((int)threadIdx.x & 31) * (C + 1) + c, pitch,
              Q::state(l[c], q.context));
  __syncthreads();

  /* Over the warps of a strip, then over rows side by side. */
  gr_strip_warp w(q, strip);
  int64_t *mine = states + (w.warp - w.z) * slots;
  int threads = 32 << how.strip_warps_log2, beside = min(near, w.left);
  auto at = [&](int p) { return mine + p + p / C; };
#pragma unroll 1
  for (int p = w.t, end = w.elements(q, beside, strip); p < end; p += threads) {
    gr_acc acc = gr_get<Q>(at(p), pitch);
#pragma unroll 1
    for (int i = 1; i < 1 << how.strip_warps_log2; i++) acc = Q::merge(acc, gr_get<Q>(at(p) + i * slots, pitch));
    if (Q::kind == GR_ACC_POSITION) acc.i[1] += w.row0 + (near > 1 ? (w.v + p) / q.job.count : 0);
    gr_put<Q>(at(p), pitch, acc);
  }
  if (near > 1) {
    int count = (int)q.job.count, used = beside;
    auto anywhere = [&](int p) {
      int s = how.strips_log2 > 0 ? p / strip : 0;
      p -= s * strip;
      return states + (s << how.strip_warps_log2) * slots + p + p / C;
    };
#pragma unroll 1
    for (int h = 1 << (31 - __clz(used)); h > 0; h /= 2) {
      if (h >= used) continue;
      __syncthreads();
#pragma unroll 1
      for (int p = threadIdx.x; p < (used - h) * count; p += blockDim.x) {
        gr_acc acc = gr_get<Q>(anywhere(p), pitch);
        gr_put<Q>(anywhere(p), pitch, Q::merge(acc, gr_get<Q>(anywhere(p + h * count), pitch)));
      }
      used = h;
    }
    __syncthreads();
  }

  int columns = w.elements(q, 1, strip);
  bool alone = q.nodes == 1;
  if (q.inputs_stable) gr_await_earlier();
#pragma unroll 1
  for (int pass = alone ? 1 : 0; pass < 2; pass++) {
#pragma unroll 1
    for (int p = w.t; p < columns; p += threads) {
      gr_acc acc = R::identity();
      if (pass == 0 || alone) {
        acc = gr_get<Q>(at(p), pitch);
        if constexpr (R::exact) acc = R::of(acc, w.left);
      } else {
        acc = gr_root<R>(q, w.v + p);
      }
      if (pass == 0) gr_put<R>(q.node + w.block.node * q.job.count + w.v + p, q.job.count * q.nodes, acc);
      else gr_write<R>(q, acc, q.first + w.v + p, q.job.n);
    }
    if (pass == 0 && !gr_combine_nodes<R>(q, w.v0, (int)min((int64_t)strip << how.strips_log2, q.job.count - w.v0),
                                  q.counter + w.block.group * (unsigned)q.counters, w.block.node))
      return;
    __syncthreads();
  }
}

#endif
