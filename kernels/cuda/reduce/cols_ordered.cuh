/*
** Columns: neighbouring vectors are neighbours in memory. A lane of a warp takes a word of columns (4 to 16 bytes), the
** warp a piece of 32 words; of matrices that are narrower than half a piece, several rows. Rows come through a ring in
** shared memory that asynchronous copies of aligned words keep full, whatever the rows' alignment, in flights of 8. If
** a lane of the tree has several elements, a flight is 8 of one lane; if not, it is one element of 8 lanes as far apart
** as lanes get, which fold at once, or of fewer lanes in several pieces. What flights leave is folded in the order of
** halving: a warp's lanes of the tree bit-reversed, by a stack; then the warps that share a leaf, then the rows side
** by side, then the leaves of the block; and the nodes of blocks by eights, each eight by the block of them that
** arrives last. A second input may be one vector for all columns (its step is 0): then lanes read its elements where it
** lies.
*/
#ifndef GR_CUDA_REDUCE_COLS_ORDERED_CUH
#define GR_CUDA_REDUCE_COLS_ORDERED_CUH

#include "kernels/cuda/block/ring.cuh"
#include "kernels/cuda/grid/combine.cuh"
#include "kernels/cuda/reduce/tuning.h"
#include "kernels/cuda/thread/load.cuh"

/* Bytes of a lane's word, and columns of a lane; warps of a block. */
template <class R>
constexpr int gr_ordered_bytes = gr_ordered_bytes_for(gr_traits_of<R>);
template <class R>
constexpr int gr_ordered_each = gr_size<R::dtype> >= 4 ? gr_ordered_bytes<R> / gr_size<R::dtype>
                                                       : gr_ordered_bytes<R> / 2 / gr_size<R::dtype>;
template <class R>
constexpr int gr_ordered_warps = gr_ordered_warps_for(gr_traits_of<R>);
/* Lanes and leaf of a column. */
template <class R>
constexpr int gr_ordered_lanes = GR_LANES(gr_size<R::dtype>);
template <class R>
constexpr int gr_ordered_leaf = GR_LEAF(gr_size<R::dtype>);

template <class R>
constexpr int gr_ordered_resident = gr_ordered_resident_for(gr_traits_of<R>, gr_ordered_bytes<R>);
template <class R>
constexpr int gr_ordered_blocks = gr_ordered_resident<R> / gr_ordered_warps<R>;

/* A warp on its way through its units: pieces of columns, or one piece. */
template <class R>
struct gr_column_walk {
  static constexpr int size = gr_size<R::dtype>, C = gr_ordered_each<R>, word = C * size, flight = gr_ordered_flight;
  static constexpr int piece = 32 * C, lanes = gr_ordered_lanes<R>, leaf = gr_ordered_leaf<R>, elements = leaf / lanes;
  static constexpr int pitch = 32 * word + 16, bytes = flight * pitch,
                       ahead = gr_ordered_ahead_for(gr_traits_of<R>, word);
  static constexpr int ring = ahead * R::inputs * bytes;
  using Ring = gr_copy_ring<ahead>; /* of flights */
  static_assert(ring >= piece * R::fields * 8, "states of a warp lie where its ring was");
  struct Word {
    unsigned u[word / 4];
  };
  const gr_reduce_args &q;
  char *stage;   /* this warp's ring; of two inputs, the second's half behind the first's */
  int64_t v;     /* first column of the first unit */
  int64_t first; /* of the leaf */
  int left;      /* rows of the leaf */
  int lane, wy;  /* wy: of the warps that share the leaf */
  int sub, own;  /* of the rows side by side, and where this lane's word begins in them */
  const char *from_a, *from_b; /* row 0 of the leaf */

  __device__ __forceinline__ const gr_cols_ordered_args &how() const { return q.cols_ordered; }
  /* Rows between those of a flight: as a logarithm. */
  __device__ __forceinline__ int apart() const {
    constexpr int log = lanes == 64 ? 6 : lanes == 128 ? 7 : lanes == 256 ? 8 : 9;
    static_assert(1 << log == lanes, "lanes are a power of two");
    return how().lane_flights > 0 ? log : how().tree_lanes_log2 + how().leaf_warps_log2;
  }
  __device__ __forceinline__ int more() const {
    return elements > flight && how().lane_flights > 0 ? how().lane_flights - 1 : 0;
  }
  /* The first row of flight f of a unit, and how many of its rows this lane has. */
  __device__ __forceinline__ int row_of(int f) const {
    int k = (wy << how().rows_log2) + (int)(__brev(f >> more()) >> how().reverse_shift);
    return elements > flight ? k + (f & ((1 << more()) - 1)) * flight * lanes : k;
  }
  __device__ __forceinline__ int rows_from(int k) const { return left - k + (1 << apart()) - 1 >> apart(); }
  /* Bytes of a row from column v on, if not very many. */
  __device__ __forceinline__ int rest() const { return (int)min(q.job.count - v, (int64_t)1 << 26) * size; }
  __device__ __forceinline__ const char *place(const gr_vec &vec) const {
    return (const char *)vec.data + (q.first + v) * size + first * vec.stride;
  }

  __device__ __forceinline__ bool shared_b() const { return q.job.b.step == 0; }

  __device__ __forceinline__ void begin() {
    from_a = place(q.job.a);
    if (R::inputs == 2) from_b = shared_b() ? (const char *)q.job.b.data + first * q.job.b.stride : place(q.job.b);
#pragma unroll 1
    for (int t = 0; t < ahead; t++) issue(t);
  }
  /*
  ** Rows of one piece, aligned or of narrow elements: these come in whole words, and their readers shift. Of rows side
  ** by side all entries of a flight shift alike.
  */
  __device__ __forceinline__ void copy(const gr_vec &vec, const char *p, char *to, int unit, int k0) const {
    constexpr int each = 16 / word;
    int64_t step = vec.stride << apart();
    int entry = lane / (2 * word), at = lane % (2 * word) * 16, limit = rest() - unit * (piece * size);
    bool shifts = size < 4 && how().unaligned;
    p += k0 * vec.stride + unit * (piece * size);
    if (limit <= 0) return;
    if (how().rows_log2) limit += ((1 << how().rows_log2) - 1) * (int)vec.stride;
    /* Rows from an entry on, less those that end before these bytes. */
    auto rows = [&](int entry, int at) {
      int k = left - k0 - (entry << apart());
      return left & ((1 << how().rows_log2) - 1) ? k - max(at, 0) / (int)vec.stride : k;
    };
    int k = rows(entry, shifts ? at - ((int)(uintptr_t)p & 15) : at);
    const char *from = p + entry * step + at;
    to += at;
    if (!shifts) {
      bool mine = at < limit;
#pragma unroll
      for (int i = 0; i < flight / each; i++) {
        if (mine && k - (i * each << apart()) > 0) gr_copy_async<16>(to + (entry + i * each) * pitch, from);
        from += each * step;
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < flight / each; i++) {
      int shift = (int)(uintptr_t)from & 15;
      if (at - shift < limit && k - (i * each << apart()) > 0)
        gr_copy_async<16>(to + (entry + i * each) * pitch, from - shift);
      from += each * step;
    }
    if (lane < flight) { /* the word behind the last one, of as many rows */
      from = p + lane * step + 32 * word;
      int shift = (int)(uintptr_t)from & 15;
      if (32 * word - shift < limit && rows(lane, 32 * word - shift) > 0)
        gr_copy_async<16>(to - at + lane * pitch + 32 * word, from - shift);
    }
  }
  /*
  ** Any others. Entries of a flight are rows of one piece, then those of the next. Elements of 4 bytes and more are put
  ** where aligned rows would have them; narrow ones come in whole words, and their readers shift.
  */
  __device__ __forceinline__ void copy_loose(const gr_vec &vec, const char *from, char *to, int unit, int k0) const {
    int log = 3 - how().pieces_log2;
#pragma unroll 1
    for (int j = 0; j < flight; j++, to += pitch) {
      int k = k0 + ((j & ((1 << log) - 1)) << apart()), g = unit + (j >> log);
      int rows = min(1 << how().rows_log2, left - k);
      const char *p = from + k * vec.stride + g * (piece * size);
      int columns = min(rest() - g * (piece * size), piece * size), span = (rows - 1) * (int)vec.stride + columns;
      if (rows <= 0 || columns <= 0) span = 0;
      if (size >= 4 && how().unaligned) {
#pragma unroll
        for (int i = lane * 4; i < 32 * word; i += 128)
          if (i < span) gr_copy_async<4>(to + i, p + i);
      } else {
        int shift = (int)((uintptr_t)p & 15);
        if (span > 0) span += shift;
#pragma unroll
        for (int i = lane * 16; i <= 32 * word; i += 512)
          if (i < span) gr_copy_async<16>(to + i, p - shift + i);
      }
    }
  }
  __device__ __forceinline__ void issue(int t) const {
    if (t < how().units << (how().tree_lanes_log2 + more()) >> how().pieces_log2) { /* flights of all units */
      int log = how().tree_lanes_log2 + more(), unit = how().pieces_log2 ? t << how().pieces_log2 : t >> log;
      int k0 = row_of(t & ((1 << log) - 1));
      char *to = stage + Ring::slot(t) * bytes;
      if ((size >= 4 && how().unaligned) | how().pieces_log2) {
        copy_loose(q.job.a, from_a, to, unit, k0);
        if (R::inputs == 2 && !shared_b()) copy_loose(q.job.b, from_b, to + ring / 2, unit, k0);
      } else {
        copy(q.job.a, from_a, to, unit, k0);
        if (R::inputs == 2 && !shared_b()) copy(q.job.b, from_b, to + ring / 2, unit, k0);
      }
    }
    Ring::end_group();
  }

  static __device__ __forceinline__ Word get_word(const char *p) {
    using T = std::conditional_t<word == 16, uint4, std::conditional_t<word == 8, uint2, unsigned>>;
    Word w;
    T t = *(const T *)p;
    memcpy(&w, &t, word);
    return w;
  }
  /*
  ** This lane's words of a flight, of one piece of it; shift: the address of the first entry, step: of the next, by. Of
  ** one vector for all columns: its elements, step bytes apart.
  */
  struct Reader {
    const char *from;
    int shift;
    int64_t step;
    __device__ __forceinline__ Word get_shared(int j) const {
      uint2 x = gr_repeat<size>(from + j * step);
      Word w;
#pragma unroll
      for (int i = 0; i < word / 4; i++) w.u[i] = i & 1 ? x.y : x.x;
      return w;
    }
    __device__ __forceinline__ Word get(int j) const { return get_word(from + j * pitch); }
    __device__ __forceinline__ Word get_loose(int j) const {
      Word w;
      uintptr_t p = (uintptr_t)(from + j * pitch + (shift + j * (int)step & 15));
      const unsigned *at = (const unsigned *)(p & ~(uintptr_t)3);
#pragma unroll
      for (int i = 0; i < word / 4; i++) w.u[i] = size >= 4 ? at[i] : __funnelshift_r(at[i], at[i + 1], (p & 3) * 8);
      return w;
    }
  };
  __device__ __forceinline__ Reader reader(const gr_vec &vec, const char *from, int unit, int k0) const {
    Reader r = {from + own, 0, 0};
    if (how().pieces_log2) r.from += (unit & ((1 << how().pieces_log2) - 1)) * (flight >> how().pieces_log2) * pitch;
    if (size < 4 && how().unaligned) {
      r.shift =
          (int)(uintptr_t)vec.data + (int)(q.first + v + unit * piece) * size + ((int)first + k0) * (int)vec.stride;
      r.step = vec.stride << apart();
    }
    return r;
  }
  __device__ __forceinline__ Reader shared_reader(int k0) const {
    return {from_b + (k0 + sub) * q.job.b.stride, 0, q.job.b.stride << apart()};
  }

  template <class Q>
  __device__ __forceinline__ void add(typename Q::Lane &l, const Word &a, const Word &b, int i, int k,
                                      const gr_context &c) const {
    Q::add(l, pick(a, i), pick(b, i), c, k);
  }
  static __device__ __forceinline__ gr_type<R::dtype> pick(const Word &w, int i) {
    uint4 u = make_uint4(w.u[0], word > 4 ? w.u[word > 4] : 0, word > 8 ? w.u[word > 8 ? 2 : 0] : 0,
                         word > 8 ? w.u[word > 8 ? 3 : 0] : 0);
    return gr_pick<R::dtype>(u, i);
  }

  /*
  ** One element of each of up to 8 lanes: lane j and lane j + 4, then j and j + 2, then the last two. Two columns at a
  ** time, from `from` on: more would take too many registers.
  */
  template <class Q, int from, int j = 0, int step = 1>
  __device__ __forceinline__ void halve(gr_acc (&v_out)[C], const Reader &ra, const Reader &rb, int rows,
                                        const gr_context &c) const {
    constexpr int to = from + 2 < C ? from + 2 : C;
    if constexpr (step == flight) {
      Word a = size < 4 && how().unaligned ? ra.get_loose(j) : ra.get(j), b = a;
      if (R::inputs == 2 && !shared_b()) b = size < 4 && how().unaligned ? rb.get_loose(j) : rb.get(j);
      if (R::inputs == 2 && shared_b() && j < rows) b = rb.get_shared(j);
#pragma unroll
      for (int i = from; i < to; i++) {
        typename Q::Lane l = Q::start();
        if (j < rows) add<Q>(l, a, b, i, 0, c);
        v_out[i] = Q::state(l, c);
      }
    } else {
      halve<Q, from, j, step * 2>(v_out, ra, rb, rows, c);
      if (step << how().pieces_log2 < flight) {
        gr_acc high[C];
        halve<Q, from, j + step, step * 2>(high, ra, rb, rows, c);
#pragma unroll
        for (int i = from; i < to; i++) v_out[i] = Q::merge(v_out[i], high[i]);
      }
    }
  }
  template <class Q, int from = 0>
  __device__ __forceinline__ void halve_all(gr_acc (&v_out)[C], const Reader &ra, const Reader &rb, int rows,
                                            const gr_context &c) const {
    if constexpr (from < C) {
      halve<Q, from>(v_out, ra, rb, rows, c);
      halve_all<Q, from + 2>(v_out, ra, rb, rows, c);
    }
  }

  /* This warp's lanes of a unit, folded as far as one thread can. */
  template <class Q>
  __device__ __forceinline__ void read(gr_acc (&v_out)[C], int unit, const gr_context &c) const {
    typename Q::Lane l[C];
    gr_stack<gr_acc, gr_ordered_levels, C> stack;
    bool by_lane = how().lane_flights > 0; /* several elements to a lane */
    int count = 1 << (how().tree_lanes_log2 + more()), t = how().pieces_log2 ? unit >> how().pieces_log2 : unit * count;
    int pieces = 1 << how().pieces_log2, g = unit & (pieces - 1);
#pragma unroll
    for (int i = 0; i < C; i++) l[i] = Q::start();
#pragma unroll 1
    for (int f = 0; f < count; f++, t++) {
      int group = f >> more(), k0 = row_of(f), rows = min(rows_from(k0 + sub), flight >> how().pieces_log2);
      bool done = ((f + 1) >> more()) > group,
           whole = how().whole_words && k0 + ((flight - 1) << apart()) + (1 << how().rows_log2) <= left;
      const char *from = stage + Ring::slot(t) * bytes;
      Reader ra = reader(q.job.a, from, unit, k0), rb = ra;
      if (R::inputs == 2) rb = shared_b() ? shared_reader(k0) : reader(q.job.b, from + ring / 2, unit, k0);
      if (g == 0) {
        Ring::wait();
        __syncwarp();
      }
      if (Q::lanes && !by_lane) {
        halve_all<Q>(v_out, ra, rb, rows, c);
      } else if (whole && !(size < 4 && how().unaligned)) {
#pragma unroll
        for (int j = 0; j < flight; j++) {
          Word a = ra.get(j), b = a;
          if (R::inputs == 2) b = shared_b() ? rb.get_shared(j) : rb.get(j);
#pragma unroll
          for (int i = 0; i < C; i++) add<Q>(l[i], a, b, i, k0 + sub + (j << apart()), c);
        }
      } else {
#pragma unroll(size < 4 ? 2 : 1)
        for (int j = 0; j < rows; j++) {
          Word a = ra.get_loose(j), b = a;
          if (R::inputs == 2) b = shared_b() ? rb.get_shared(j) : rb.get_loose(j);
#pragma unroll
          for (int i = 0; i < C; i++) add<Q>(l[i], a, b, i, k0 + sub + (j << apart()), c);
        }
      }
      if (g == pieces - 1) {
        __syncwarp();
        issue(t + ahead);
      }
#pragma unroll
      for (int i = 0; i < C; i++) {
        if constexpr (Q::kind == GR_ACC_POSITION) Q::mark(l[i], first + l[i].code), Q::forget(l[i]);
        if (Q::lanes && by_lane && done) v_out[i] = Q::state(l[i], c), l[i] = Q::start();
      }
      if (Q::lanes && done) stack.push(v_out, group, Q::merge);
    }
    if (!Q::lanes) {
#pragma unroll
      for (int i = 0; i < C; i++) v_out[i] = Q::state(l[i], c);
    }
  }

  /* States of this warp, or of the one `warps` further on, where rows were. */
  template <class Q>
  __device__ __forceinline__ void put(const gr_acc (&v)[C]) const {
#pragma unroll
    for (int i = 0; i < C; i++) gr_put<Q>((int64_t *)stage + i * 32 + lane, piece, v[i]);
  }
  template <class Q>
  __device__ __forceinline__ void merge(gr_acc (&v)[C], int warps) const {
#pragma unroll
    for (int i = 0; i < C; i++)
      v[i] = Q::merge(v[i], gr_get<Q>((const int64_t *)(stage + warps * ring) + i * 32 + lane, piece));
  }
  /* Over the warps that share the leaf, then over the rows side by side: in lanes with wy and sub 0. */
  template <class Q>
  __device__ __forceinline__ void fold(gr_acc (&v_out)[C]) const {
#pragma unroll 1
    for (int h = 1 << how().leaf_warps_log2 >> 1; h > 0; h /= 2) {
      if (wy >= h && wy < 2 * h) put<Q>(v_out);
      __syncthreads();
      if (wy < h) merge<Q>(v_out, h);
    }
#pragma unroll 1
    for (int h = 1 << how().rows_log2 >> 1; h > 0; h /= 2)
#pragma unroll
      for (int i = 0; i < C; i++)
        v_out[i] = Q::merge(v_out[i], gr_shuffle_from<Q>(v_out[i], lane + h * how().row_lanes & 31));
  }
};

/*
** Grid: groups of columns times q.nodes; a node is the leaves of a block. A vector of one leaf has no nodes: then warps
** and blocks lie side by side, and a warp takes several units in turn.
*/
template <class R>
__global__ void __launch_bounds__(gr_ordered_warps<R> * 32, gr_ordered_blocks<R>)
    gr_reduce_cols_ordered(const __grid_constant__ gr_reduce_args q) {
  const gr_cols_ordered_args &how = q.cols_ordered;
  using W = gr_column_walk<R>;
  constexpr int C = W::C;
#ifdef __CUDA_ARCH__
  if constexpr (gr_ordered_left_out(R::red, __CUDA_ARCH__ / 100)) {
    __trap();
    return;
  }
#endif
  __shared__ __align__(16) char rings[gr_ordered_warps<R> * W::ring];
  __shared__ int64_t results[gr_ordered_warps<R>][W::piece * R::fields];
  int warp = gr_warp_index(), lane = threadIdx.x & 31, z = warp >> how.leaf_warps_log2;
  bool alone = q.leaves == 1;
  gr_block_index block = gr_index_of_block(q);
  int64_t leaf = alone ? 0 : ((int64_t)block.node << how.leaves_log2) + z;
  int64_t v =
      alone ? (((int64_t)block.group << how.leaves_log2) + z) * how.units * W::piece : (int64_t)block.group * W::piece;
  int64_t left = leaf < q.leaves ? min(q.job.n - leaf * W::leaf, (int64_t)W::leaf) : 0;
  int sub = lane / how.row_lanes, column = lane - sub * how.row_lanes;
  if (v >= q.job.count) left = 0;
  W walk = {q, rings + warp * W::ring, v, leaf * W::leaf, (int)left, lane, warp & ((1 << how.leaf_warps_log2) - 1), sub,
            sub * (int)(how.rows_log2 ? q.job.a.stride : 0) + column * W::word};
  gr_start_reading(q.inputs_stable);
  walk.begin();
#pragma unroll 1
  for (int unit = 0; unit < how.units; unit++, v += W::piece) {
    gr_acc mine[C];
    if (v >= q.job.count && unit > 0) break;
    walk.template read<R>(mine, unit, q.context);
    walk.template fold<R>(mine);
    if (!alone)
#pragma unroll 1
      for (int h = 1; h < 1 << how.leaves_log2; h *= 2) {
        __syncthreads();
        if (walk.wy == 0) walk.template put<R>(mine);
        __syncthreads();
        if (walk.wy == 0 && z % (2 * h) == 0) walk.template merge<R>(mine, h << how.leaf_warps_log2);
      }
    /* From lanes with neighbouring columns each to neighbouring lanes. (The thread anew: no register held it.) */
    unsigned me;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(me));
    int64_t *result = results[me >> 5];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < C; i++)
      if (sub == 0) gr_put<R>(result + column * C + i, W::piece, mine[i]);
    __syncwarp();
    if (q.inputs_stable) gr_await_earlier();
    if ((me >> 5 & ((1 << how.leaf_warps_log2) - 1)) != 0 || !(alone || me >> 5 == 0)) continue;
#pragma unroll 1
    for (int c = me & 31; c < how.row_lanes * C && v + c < q.job.count; c += 32) {
      gr_acc acc = gr_get<R>(result + c, W::piece);
      if (q.nodes == 1) gr_write<R>(q, acc, q.first + v + c, q.job.n);
      else gr_put<R>(q.node + gr_index_of_block(q).node * q.job.count + v + c, q.job.count * q.nodes, acc);
    }
  }
  if (q.nodes == 1) return;
  v -= W::piece;
  int columns = how.row_lanes * C;
  block = gr_index_of_block(q);
  if (!gr_combine_nodes<R>(q, v, columns, q.counter + block.group * (unsigned)q.counters, block.node)) return;
#pragma unroll 1
  for (int c = threadIdx.x; c < columns && v + c < q.job.count; c += blockDim.x) {
    gr_write<R>(q, gr_root<R>(q, v + c), q.first + v + c, q.job.n);
  }
}

#endif
