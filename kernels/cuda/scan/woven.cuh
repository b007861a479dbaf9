/*
** Scans of few columns that lie side by side without a gap: x y z x y z and so on. As in a long scan (scan/ring.cuh)
** blocks stay, and each warp has a part of its own; what passes through the ring are pieces of tiles, some rows of all
** columns. One warp brings a piece, each element to its column's place in shared memory, so that from there on a row of
** a column is what a row of a vector is; others put results back between each other as they go out.
**
** So levels are those of a scan, with pieces below tiles: pieces of a tile, tiles of a group, groups of a superblock.
** Number k of a level is published joined with as many before it as k has ones at its end: 3 with 2, 1 and 0, 5 with 4,
** 6 alone. So what lies before k is a word for each bit that k has, joined in the order of a scan, and a lane has a
** column: all columns are looked up at once. A total that must be known before another is that of an earlier piece.
*/
#ifndef GR_CUDA_SCAN_WOVEN_CUH
#define GR_CUDA_SCAN_WOVEN_CUH

#include "kernels/cuda/scan/ring.cuh"

/* Rows of a piece: a power of two. Of all columns together there are no more than lanes of a warp. */
static inline int gr_woven_rows(int64_t columns) {
  static_assert(Tuning::woven_rows <= 32, "a lane has a row's total");
  int rows = GR_SCAN_ROWS;
  while (rows > 1 && rows * columns > Tuning::woven_rows) rows /= 2;
  return rows;
}

/*
** Warps: one brings pieces, one adds up their rows' totals, one publishes pieces and tiles, one groups, some look back;
** the others add rows up and write. Narrow elements are fetched by those who add, so that there are more of them.
*/
template <class S> struct gr_woven {
  using Shape = gr_scan_shape<S>;
  static constexpr bool narrow = sizeof(typename S::In) < 4;
  static constexpr int lookers = Tuning::woven_lookers, adders = narrow ? Tuning::woven_fetchers : Tuning::woven_adders,
                       writers = 12 - lookers - adders, threads = 16 * 32;
  static constexpr int row = Shape::row;
  /* bytes of a row of a column, elements first and results later */
  static constexpr int plane = Shape::results ? Shape::results : Shape::In::bytes;
  /* Of a column: a little more than its rows, so that neighbours in memory do not meet in a bank. */
  static __host__ __device__ __forceinline__ int pitch(int rows, int columns) {
    return rows * plane + (7 / columns + 1) * 16;
  }
};

template <class S> struct gr_woven_slot {
  typename S::Value row[32];   /* of rows, column by column: totals; then sums up to each within its piece */
  typename S::Value above[32]; /* what lies before each of them in its tile */
  typename S::Value base[32];  /* what lies before the tile, of each column */
  unsigned piece;              /* which it is: none is left when there are not so many */
  gr_mbarrier loaded, added, published, based, free;
};

template <class S> struct gr_woven_ring : gr_ring<gr_woven_slot<S>, 0> {
  using Ring = gr_ring<gr_woven_slot<S>, 0>;
  int rows, columns, pitch;
  int level, share; /* log2 of the pieces of a tile; 2^20 of one column, rounded up */
  __device__ __forceinline__ gr_woven_ring(char *memory, const gr_scan &q)
      : Ring(memory, (gr_woven_slot<S> *)(memory + q.slots * (int)q.count * gr_woven<S>::pitch(q.lanes, (int)q.count)),
             q.slots),
        rows(q.lanes), columns((int)q.count), pitch(gr_woven<S>::pitch(rows, columns)),
        level((rows < 16) + (rows < 8) + (rows < 4) + (rows < 2)), share(((1 << 20) - 1 + columns) / columns) {}
  __device__ __forceinline__ int all() const { return rows * columns; }
  __device__ __forceinline__ char *place(int column, int r) const {
    return this->data + (this->at.slot * columns + column) * pitch + r * gr_woven<S>::plane;
  }
  __device__ __forceinline__ int column_of(int k) const { return k >> (4 - level); }
  /* k / columns, of up to 1024 elements of each column: what it comes out too large by is less than 1 / columns. */
  __device__ __forceinline__ int position_of(int k) const { return k * share >> 20; }
  /* Row k of all, column by column. */
  __device__ __forceinline__ char *row_of(int k) const { return place(column_of(k), k & (rows - 1)); }
  /* Of a piece. */
  __device__ __forceinline__ int tile(unsigned piece) const { return (int)(piece >> level); }
  __device__ __forceinline__ int in_tile(unsigned piece) const { return (int)(piece & ((1u << level) - 1)); }
  /* Where number k of a level is published. */
  __device__ __forceinline__ gr_halves *of(gr_halves *level, int64_t k, int column) const {
    return level + k * columns + column;
  }
};

/* Where elements of a row are in its place: number `first`, and every 32nd from there on. */
template <typename T, int each> struct gr_woven_lane {
  using R = gr_scan_row<T, each>;
  int at;
  __device__ __forceinline__ explicit gr_woven_lane(int first = 0) {
    const int byte = first * R::size;
    at = R::swizzled(byte >> 4) * 16 + (byte & 15);
  }
  /* As R::element, with less to compute: what is swizzled changes with m alone. */
  __device__ __forceinline__ int operator()(int m) const {
    return (at ^ (R::size * m >> 2 & (R::words - 1)) * 16) + 32 * R::size * m;
  }
};

/* An element as it is moved, as intrinsics know no floats of 2 bytes; and the word in which it lies in memory. */
template <typename T>
using gr_woven_element = std::conditional_t<
    sizeof(T) == 8, unsigned long long,
    std::conditional_t<sizeof(T) == 4, unsigned, std::conditional_t<sizeof(T) == 2, unsigned short, unsigned char>>>;
template <typename T> struct gr_woven_word {
  static constexpr int size = (int)sizeof(T), each = size < 4 ? 4 / size : 1;
  using Element = gr_woven_element<T>;
  using Word = std::conditional_t<size == 8, unsigned long long, unsigned>;
  /* A word's elements in opposite order, if they lie so: backwards. */
  static __device__ __forceinline__ Word turned(Word x, int64_t step) {
    if constexpr (each == 1) return x;
    else return __byte_perm(x, 0, step > 0 ? 0x3210 : size == 1 ? 0x0123 : 0x1032);
  }
  static __device__ __forceinline__ void scatter(Word x, char *const (&to)[each]) {
#pragma unroll
    for (int i = 0; i < each; i++) *(Element *)to[i] = (Element)(x >> 8 * size * i);
  }
  static __device__ __forceinline__ Word gather(char *const (&from)[each]) {
    Word x[each];
#pragma unroll
    for (int i = 0; i < each; i++) x[i] = *(const Element *)from[i];
    if constexpr (each == 1) return x[0];
    else if constexpr (each == 2) return __byte_perm(x[0], x[1], 0x5410);
    else return __byte_perm(__byte_perm(x[0], x[1], 0x0040), __byte_perm(x[2], x[3], 0x0040), 0x5410);
  }
};

/* All lanes of some warps wait for each other, at a barrier with that number. */
template <int threads> static __device__ __forceinline__ void gr_woven_meet(int number) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "n"(threads) : "memory");
}

/*
** The elements of a piece that are there, in the order of memory, this warp's share of rows x columns runs, by words of
** memory: take(k, places, address) for all of a run, then give(k, places, address) for the same. Narrow elements are
** several to a word, each with a place of its own. At the ends of a row of all columns some lie in words that others
** have too: alone(place, address) for each of them.
*/
template <class S, typename T, class Take, class Give, class Alone>
static __device__ __forceinline__ void gr_woven_each(const gr_scan &q, const gr_woven_ring<S> &ring, unsigned piece,
                                                     const char *p, int64_t step, int warp, int warps, int lane,
                                                     const Take &take, const Give &give, const Alone &alone) {
  constexpr int size = (int)sizeof(T), own = gr_woven_word<T>::each, hops = S::each / own;
  constexpr int turns = gr_scan_row<T, S::each>::words > 1 ? 2 : 1;
  const int length = gr_woven<S>::row * ring.columns; /* a row of all columns */
  const int hop = 32 * own * ring.columns;            /* elements */
  const int64_t first = (int64_t)piece * ring.rows * length;
  const int left = (int)min(q.n * ring.columns - first, (int64_t)ring.rows * length);
  const bool whole = left == ring.rows * length;
  /* elements before the first word: its lowest address is a multiple of its size */
  const int skipped = own == 1 ? 0 : (int)((step > 0 ? -(uintptr_t)p : (uintptr_t)p + size) & 3) / size;
  int part = -1, k = 0; /* of 32 words of each column 32; which element is the first of this lane's */
  int at[turns][own];   /* their places in a row, and 32 words on; from there on as before */
  p += first * step;
#pragma unroll 1
  for (int u = warp; u < ring.all(); u += warps) {
    const int r = u & (ring.rows - 1);
    if (ring.column_of(u) != part) {
      part = ring.column_of(u);
      k = (part * 32 + lane) * own + skipped;
#pragma unroll
      for (int i = 0; i < own; i++) {
        const int position = ring.position_of(k + i);
        const gr_woven_lane<T, S::each> in(position);
#pragma unroll
        for (int h = 0; h < turns; h++) at[h][i] = (k + i - position * ring.columns) * ring.pitch + in(h * own);
      }
    }
    const int here = max(0, min(length, left - r * length));
    char *const row = ring.place(0, r);
    const char *const start = p + r * length * (int)step;
    const char *const word = start + k * (int)step - (step < 0 ? (own - 1) * size : 0);
    const auto with = [&](int m, const auto &act) {
      char *to[own];
#pragma unroll
      for (int i = 0; i < own; i++) to[i] = row + at[m % turns][i] + m / turns * turns * 32 * own * size;
      act(m, to, word + m * hop * (int)step);
    };
    const auto there = [&](int m) { return (own == 1 && whole) || k + m * hop + own <= here; };
    if (own > 1 || whole) {
#pragma unroll
      for (int m = 0; m < hops; m++)
        if (there(m)) with(m, take);
#pragma unroll
      for (int m = 0; m < hops; m++)
        if (there(m)) with(m, give);
    } else {
#pragma unroll
      for (int m = 0; m < hops; m++)
        if (there(m)) with(m, take), with(m, give);
    }
    if (own > 1 && part == 0) {
      const int words = max(0, here - skipped) & -own;
      const int e = lane < skipped ? lane : words + lane;
      if (e < here) {
        const int position = ring.position_of(e);
        alone(gr_scan_row<T, S::each>::element(row + (e - position * ring.columns) * ring.pitch, position),
              start + e * (int)step);
      }
    }
  }
}

/* One warp takes pieces and asks for their elements, as soon as there is room; narrow ones come to L2 alone. */
template <class S>
static __device__ __forceinline__ void gr_woven_load(const gr_scan &q, gr_woven_ring<S> ring, int lane) {
  using In = typename S::In;
  gr_woven_ring<S> behind = ring;
  int ahead = q.slots < Tuning::ring_ahead ? q.slots : Tuning::ring_ahead;
  for (unsigned piece = 0; piece < q.tiles; ring.step()) {
    gr_woven_slot<S> &slot = ring.slot();
    slot.free.wait(ring.at.last_lap());
    if (ahead > 0) {
      ahead--;
    } else {
      behind.slot().added.wait(behind.at.this_lap());
      behind.step();
    }
    if (lane == 0) slot.piece = piece = atomicAdd(q.next, 1);
    piece = __shfl_sync(~0u, piece, 0);
    if (piece < q.tiles) {
      if constexpr (gr_woven<S>::narrow) {
        const int64_t first = (int64_t)piece * ring.all() * gr_woven<S>::row, left = q.n * ring.columns - first;
        const int bytes = (int)min(left, (int64_t)(ring.all() * gr_woven<S>::row)) * (int)sizeof(In);
        const char *p = q.a + first * q.a_stride - (q.a_stride < 0 ? bytes - (int)sizeof(In) : 0);
        gr_scan_announce_bytes(p, bytes - 1, lane);
      } else {
        gr_woven_each<S, In>(
            q, ring, piece, q.a, q.a_stride, 0, 1, lane,
            [](int, char *const(&to)[1], const char *from) { gr_copy_async<sizeof(In)>(to[0], from); },
            [](int, char *const(&)[1], const char *) {}, [](char *, const char *) {});
      }
    }
    slot.loaded.arrive_fetched();
    slot.loaded.arrive();
  }
  /* The last block to end leaves the counters as it found them. */
  if (lane == 0 && atomicInc(q.next + 1, gridDim.x - 1) == gridDim.x - 1) *q.next = 0;
}

/* Warps that add up: rows' totals, four side by side. */
template <class S>
static __device__ __forceinline__ void gr_woven_add(const gr_scan &q, gr_woven_ring<S> ring, int warp, int lane) {
  using In = typename S::In;
  using Woven = gr_woven<S>;
  for (;; ring.step()) {
    gr_woven_slot<S> &slot = ring.slot();
    slot.loaded.wait(ring.at.this_lap());
    const unsigned piece = gr_scan_share(slot.piece, lane);
    if (piece < q.tiles) {
      if constexpr (Woven::narrow) {
        using W = gr_woven_word<In>;
        using Element = typename W::Element;
        typename W::Word x[S::each / W::each];
        gr_woven_each<S, In>(
            q, ring, piece, q.a, q.a_stride, warp, Woven::adders, lane,
            [&](int m, char *const(&)[W::each], const char *from) { x[m] = *(const typename W::Word *)from; },
            [&](int m, char *const(&to)[W::each], const char *) { W::scatter(W::turned(x[m], q.a_stride), to); },
            [](char *to, const char *from) { *(Element *)to = *(const Element *)from; });
        gr_woven_meet<Woven::adders * 32>(2);
      }
#pragma unroll 1
      for (int k = warp * 4; k < ring.all(); k += Woven::adders * 4) {
        typename S::Value w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          typename S::Value v[S::count];
          gr_scan_take<S>(v, ring.row_of(min(k + i, ring.all() - 1)), false, q.flip, lane);
          w[i] = gr_scan_total<S>(v);
        }
        const int which = k + gr_scan_totals<S>(w, lane);
        if (lane < 4 && which < ring.all()) slot.row[which] = w[0];
      }
    }
    slot.added.arrive();
    if (piece >= q.tiles) return;
    slot.free.arrive();
  }
}

/* How many ones k has at its end, as a mask. */
static __device__ __forceinline__ unsigned gr_woven_ended(unsigned k) { return k & ~(k + 1); }

/*
** v joined with what is published of number k's predecessors on a level, for those bits of k that are wanted: a bit
** stands for as many as it counts, and they end where the bits below it begin. Besides, a word that is needed.
*/
template <class S>
static __device__ __forceinline__ typename S::Value gr_woven_carry(const gr_scan &q, const gr_woven_ring<S> &ring,
                                                                   gr_halves *level, int k, unsigned wanted, int column,
                                                                   typename S::Value v, const gr_halves *besides,
                                                                   bool needed, typename S::Value &beside) {
  constexpr int together = Tuning::woven_together;
  beside = S::identity();
#pragma unroll 1
  do {
    typename S::Value found[together + 1];
    const gr_halves *at[together + 1];
    bool missing[together + 1];
#pragma unroll
    for (int b = 0; b < together; b++, wanted &= wanted - 1) {
      at[b] = ring.of(level, (k & -(int)(wanted & -wanted)) - 1, column);
      missing[b] = column < ring.columns && wanted != 0;
    }
    at[together] = besides;
    missing[together] = column < ring.columns && needed;
    gr_await(at, missing, q.tag, S::identity(), found);
#pragma unroll
    for (int b = 0; b < together; b++) v = S::join(found[b], v);
    if (needed) beside = found[together];
    needed = false;
  } while (wanted != 0);
  return v;
}

/* One warp: sums of rows within a piece, and those of a piece that is published alone. A lane has a row of a column. */
template <class S>
static __device__ __forceinline__ void gr_woven_publish(const gr_scan &q, gr_woven_ring<S> ring, int lane) {
  const int column = ring.column_of(lane);
  const bool mine = lane < ring.all(), last = mine && (lane & (ring.rows - 1)) == ring.rows - 1;
  for (;; ring.step()) {
    gr_woven_slot<S> &slot = ring.slot();
    slot.added.wait(ring.at.this_lap());
    slot.loaded.wait(ring.at.this_lap());
    const unsigned piece = gr_scan_share(slot.piece, lane);
    if (piece >= q.tiles) {
      slot.published.arrive();
      return;
    }
    typename S::Value r[1] = {mine ? slot.row[lane] : S::identity()};
    gr_scan_lanes_by<S>(r, 1, ring.rows, lane);
    if (last && (piece & 1) == 0) gr_publish(ring.of(q.tile, piece, column), r[0], q.tag);
    if (mine) slot.row[lane] = r[0];
    slot.published.arrive();
    if (lane == 0) slot.free.arrive();
  }
}

/* One warp publishes the other pieces, and tiles whose last piece is this block's. A lane has a column. */
template <class S>
static __device__ __forceinline__ void gr_woven_tile(const gr_scan &q, gr_woven_ring<S> ring, int lane) {
  for (;; ring.step()) {
    gr_woven_slot<S> &slot = ring.slot();
    slot.loaded.wait(ring.at.this_lap());
    const unsigned piece = gr_scan_share(slot.piece, lane);
    if (piece >= q.tiles) return;
    const int tile = ring.tile(piece);
    const unsigned in_tile = (unsigned)ring.in_tile(piece);
    const bool mine = lane < ring.columns, last = in_tile == (1u << ring.level) - 1;
    typename S::Value v = S::identity();
    if ((in_tile & 1) || last) {
      slot.published.wait(ring.at.this_lap());
      if (mine) v = slot.row[(lane + 1) * ring.rows - 1];
    }
    slot.free.arrive();
    typename S::Value none;
    if (in_tile & 1) {
      v = gr_woven_carry<S>(q, ring, q.tile, (int)piece, gr_woven_ended(in_tile), lane, v, NULL, false, none);
      if (mine && !last) gr_publish(ring.of(q.tile, piece, lane), v, q.tag);
    }
    if (last) {
      v = gr_woven_carry<S>(q, ring, q.group, tile, gr_woven_ended(tile & 31), lane, v, NULL, false, none);
      if (mine) gr_publish(ring.of(q.group, tile, lane), v, q.tag);
    }
  }
}

/*
** One warp publishes groups whose last tile is this block's, and what lies before the next group. It goes by what is
** published alone.
*/
template <class S>
static __device__ __forceinline__ void gr_woven_group(const gr_scan &q, gr_woven_ring<S> ring, int lane) {
  for (;; ring.step()) {
    ring.slot().loaded.wait(ring.at.this_lap());
    const unsigned piece = gr_scan_share(ring.slot().piece, lane);
    if (piece >= q.tiles) return;
    if (lane == 0) ring.slot().free.arrive();
    const int tile = ring.tile(piece), group = tile >> 5;
    if (((piece + 1) & ((32u << ring.level) - 1)) != 0) continue;
    const unsigned in_super = group & 31, ended = gr_woven_ended(in_super);
    const gr_halves *total = ring.of(q.group, tile, lane), *before = ring.of(q.before, group - (int)in_super, lane);
    typename S::Value v, w;
    gr_woven_carry<S>(q, ring, q.super, group, 0, lane, S::identity(), total, true, v);
    v = gr_woven_carry<S>(q, ring, q.super, group, ended, lane, v, NULL, false, w);
    if (lane < ring.columns) gr_publish(ring.of(q.super, group, lane), v, q.tag);
    v = gr_woven_carry<S>(q, ring, q.super, group, in_super & ~ended, lane, v, before, group > 31, w);
    if (lane < ring.columns) gr_publish(ring.of(q.before, group + 1, lane), S::join(w, v), q.tag);
  }
}

/* Warps that look back, a piece each in turn: a lane has a row of a column. */
template <class S>
static __device__ __forceinline__ void gr_woven_look(const gr_scan &q, gr_woven_ring<S> ring, int warp, int lane) {
  using Value = typename S::Value;
  const int column = lane < ring.all() ? ring.column_of(lane) : ring.columns;
  const bool first = (lane & (ring.rows - 1)) == 0;
  for (int turn = 0;; turn = turn + 1 < gr_woven<S>::lookers ? turn + 1 : 0, ring.step()) {
    gr_woven_slot<S> &slot = ring.slot();
    slot.loaded.wait(ring.at.this_lap()); /* first: a lap of its own passes between two turns at a slot */
    const unsigned piece = gr_scan_share(slot.piece, lane);
    if (piece >= q.tiles) return;
    if (turn == warp) {
      slot.published.wait(ring.at.this_lap());
      const int tile = ring.tile(piece), group = tile >> 5;
      Value before, none;
      Value base = gr_woven_carry<S>(q, ring, q.group, tile, tile & 31, column, S::identity(),
                                     ring.of(q.before, group, column), group > 0, before);
      Value above = first || column == ring.columns ? S::identity() : slot.row[lane - 1];
      above = gr_woven_carry<S>(q, ring, q.tile, (int)piece, ring.in_tile(piece), column, above, NULL, false, none);
      if (column < ring.columns) {
        slot.above[lane] = above;
        if (first) slot.base[column] = S::join(before, base);
      }
      slot.based.arrive();
    }
    if (lane == 0) slot.free.arrive();
  }
}

/* Warps that write: each a row of a column, in its place; then all of them what lies side by side in memory. */
template <class S>
static __device__ __forceinline__ void gr_woven_put(const gr_scan &q, gr_woven_ring<S> ring, int warp, int lane) {
  using Value = typename S::Value;
  using Out = typename S::Out;
  using W = gr_woven_word<Out>;
  using Element = typename W::Element;
  using Woven = gr_woven<S>;
  for (;; ring.step()) {
    gr_woven_slot<S> &slot = ring.slot();
    slot.added.wait(ring.at.this_lap());
    slot.loaded.wait(ring.at.this_lap());
    const unsigned piece = gr_scan_share(slot.piece, lane);
    if (piece >= q.tiles) return;
#pragma unroll 1
    for (int k = warp; k < ring.all(); k += Woven::writers) {
      Value v[S::count], w[1];
      char *const row = ring.row_of(k);
      gr_scan_take<S>(v, row, false, q.flip, lane);
      gr_scan_own<S>(v);
      w[0] = S::fold(v[S::count - 1]);
      gr_scan_lanes<S, 32>(w, lane);
      /* not before there is nothing else to do; the second says what the first implies (racecheck) */
      if (k == warp) {
        slot.based.wait(ring.at.this_lap());
        slot.published.wait(ring.at.this_lap());
      }
      const Value above = S::join(slot.above[k], gr_scan_before<S>(w[0], lane));
      const bool starts = piece == 0 && (k & (ring.rows - 1)) == 0 && lane == 0;
      __syncwarp(); /* all have what results are put upon */
      gr_scan_give<S>(q, row, v, S::join(slot.base[ring.column_of(k)], above), starts, lane);
    }
    gr_woven_meet<Woven::writers * 32>(1);
    typename W::Word y[S::each / W::each];
    gr_woven_each<S, Out>(
        q, ring, piece, q.out, q.out_stride, warp, Woven::writers, lane,
        [&](int m, char *const(&from)[W::each], const char *) { y[m] = W::turned(W::gather(from), q.out_stride); },
        [&](int m, char *const(&)[W::each], const char *to) {
          __stcs((typename W::Word *)const_cast<char *>(to), y[m]);
        },
        [](char *from, const char *to) { *(Element *)const_cast<char *>(to) = *(const Element *)from; });
    slot.free.arrive();
  }
}

template <class S>
static __device__ __forceinline__ void gr_woven_pieces(const gr_scan &q, char *memory) {
  using Woven = gr_woven<S>;
  const int lane = threadIdx.x & 31, warp = gr_scan_warp();
  gr_woven_ring<S> ring(memory, q);
  ring.init(threadIdx.x, [](gr_woven_slot<S> &slot) {
    slot.loaded.init(64);
    slot.added.init(Woven::adders * 32);
    slot.published.init(32);
    slot.based.init(32);
    slot.free.init((Woven::writers + Woven::adders + 1) * 32 + 2 + Woven::lookers);
  });
  __syncthreads();
  gr_await_earlier();
  gr_let_next_start();                                                         /* it has room when blocks of this end */
  constexpr int adders = 4 + Woven::lookers, writers = adders + Woven::adders; /* those that all wait for come first */
  if (warp == 0) gr_woven_load<S>(q, ring, lane);
  else if (warp == 1) gr_woven_publish<S>(q, ring, lane);
  else if (warp == 2) gr_woven_tile<S>(q, ring, lane);
  else if (warp == 3) gr_woven_group<S>(q, ring, lane);
  else if (warp < adders) gr_woven_look<S>(q, ring, warp - 4, lane);
  else if (warp < writers) gr_woven_add<S>(q, ring, warp - adders, lane);
  else gr_woven_put<S>(q, ring, warp - writers, lane);
}
template <class S>
static __global__ void __launch_bounds__(gr_woven<S>::threads, Tuning::ring_blocks)
    gr_scan_woven(const __grid_constant__ gr_scan q) {
  extern __shared__ __align__(128) char memory[];
  gr_woven_pieces<S>(q, memory);
}

#endif
