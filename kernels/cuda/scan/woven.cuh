/*
** Scans of few columns that lie side by side without a gap: x y z x y z and so on. As in a long scan (scan/ring.cuh)
** blocks stay, and each warp has a part of its own; what passes through the ring are pieces of tiles, some rows of all
** columns. Some warps bring a piece, each element to its column's place in shared memory, so that from there on a row
** of a column is what a row of a vector is; others put results back between each other as they go out.
**
** So levels are those of a scan, with pieces below tiles; what lies before a piece is looked up by scan/carry.cuh. A
** total that must be known before another is that of an earlier piece.
*/
#ifndef GR_CUDA_SCAN_WOVEN_CUH
#define GR_CUDA_SCAN_WOVEN_CUH

#include "kernels/cuda/scan/carry.cuh"
#include "kernels/cuda/scan/ring.cuh"

/*
** Results that are several times as long as elements have a place of their own, one for all pieces of a block, so that
** there is room for more of those that wait; others are put upon the elements.
*/
static constexpr bool gr_woven_apart(int in, int out) { return out >= Tuning::woven_apart * in; }

/* Rows of a piece, of so many elements each: a power of two. Of all columns together there are no more than lanes of a
   warp, each of which has a row's total; and a block has room for some pieces, unless a row of each is too much. */
static inline int gr_woven_rows(int64_t columns, int64_t length, int in, int out, const gr_cuda_chip *chip) {
  const int64_t there = (chip->shared_optin + 1024) / Tuning::ring_blocks - 1024, slot = 1024;
  const bool apart = gr_woven_apart(in, out);
  const auto fits = [&](int64_t all) {
    return (apart ? all * out : 0) + Tuning::woven_pieces * (all * (apart || in > out ? in : out) + slot) <= there;
  };
  int rows = GR_SCAN_ROWS;
  while (rows > 1 && (rows * columns > 32 || !fits(rows * columns * length))) rows /= 2;
  return rows;
}

/*
** Warps: some bring pieces, one adds up their rows' totals, one publishes pieces and tiles, one groups, some look back;
** the others add rows up and write. Narrow elements are fetched by those who add, so that there are more of them.
*/
template <class S> struct gr_woven {
  using Shape = gr_scan_shape<S>;
  static constexpr bool narrow = sizeof(typename S::In) < 4;
  static constexpr int lookers = Tuning::woven_lookers,
                       adders = narrow ? Tuning::woven_fetchers : Tuning::woven_adders,
                       loaders = narrow ? 1 : Tuning::woven_loaders, writers = 13 - lookers - adders - loaders,
                       threads = 16 * 32;
  static constexpr int row = Shape::row;
  static constexpr bool apart = gr_woven_apart(sizeof(typename S::In), sizeof(typename S::Out));
  /* Bytes from row to row of a column, elements that have room for their results, or not; and of all rows: a little
     more, so that neighbours in memory do not meet in a bank. */
  static __host__ __device__ __forceinline__ int plane(bool results) {
    return results && Shape::results > 0 ? Shape::results : Shape::In::bytes;
  }
  static __host__ __device__ __forceinline__ int pitch(bool results, int rows, int columns) {
    return rows * plane(results) + (7 / columns + 1) * 16;
  }
  /* Bytes of the elements of a slot, and of results that lie apart, if they do: a chip may have no room for them. */
  static __host__ __device__ __forceinline__ int bytes(bool apart, int rows, int columns) {
    return columns * pitch(!apart, rows, columns);
  }
  static __host__ __device__ __forceinline__ int fixed(bool apart, int rows, int columns) {
    return apart ? columns * pitch(true, rows, columns) : 0;
  }
};

template <class S> struct gr_woven_slot {
  typename S::Value row[32];   /* of rows, column by column: totals; then sums up to each within its piece */
  typename S::Value above[32]; /* what lies before each of them in its tile */
  typename S::Value base[32];  /* what lies before the tile, of each column */
  unsigned piece;              /* which it is: none is left when there are not so many */
  gr_mbarrier loaded, added, published, based, free;
};

/* Elements or results of a piece: bytes from column to column, and from row to row. */
struct gr_woven_rows_of {
  char *data;
  int pitch, row;
  __device__ __forceinline__ char *operator()(int column, int r) const { return data + column * pitch + r * row; }
};

template <class S> struct gr_woven_ring : gr_ring<gr_woven_slot<S>, 0> {
  using Woven = gr_woven<S>;
  using Ring = gr_ring<gr_woven_slot<S>, 0>;
  bool apart;
  int rows, columns, bytes;
  int level, share; /* log2 of the pieces of a tile; 2^20 of one column, rounded up */
  /* first results that lie apart, then elements, then slots */
  __device__ __forceinline__ gr_woven_ring(char *memory, const gr_scan &q)
      : Ring(memory, NULL, q.slots), apart(Woven::apart && q.apart), rows(q.lanes),
        columns((int)q.count), bytes(Woven::bytes(apart, rows, columns)),
        level((rows < 16) + (rows < 8) + (rows < 4) + (rows < 2)), share(((1 << 20) - 1 + columns) / columns) {
    this->data += Woven::fixed(apart, rows, columns);
    this->slots = (gr_woven_slot<S> *)(this->data + q.slots * bytes);
  }
  __device__ __forceinline__ int all() const { return rows * columns; }
  /* The elements, or the results, of this slot. */
  __device__ __forceinline__ gr_woven_rows_of of(bool results) const {
    const bool there = apart && results, room = !apart || results;
    return {this->data + (there ? -Woven::fixed(true, rows, columns) : this->at.slot * bytes),
            Woven::pitch(room, rows, columns), Woven::plane(room)};
  }
  __device__ __forceinline__ int column_of(int k) const { return k >> (4 - level); }
  /* k / columns, of up to 1024 elements of each column: what it comes out too large by is less than 1 / columns. */
  __device__ __forceinline__ int position_of(int k) const { return k * share >> 20; }
  /* Row k of all, column by column. */
  __device__ __forceinline__ char *row_of(bool results, int k) const {
    return of(results)(column_of(k), k & (rows - 1));
  }
  /* Of a piece. */
  __device__ __forceinline__ int tile(unsigned piece) const { return (int)(piece >> level); }
  __device__ __forceinline__ int in_tile(unsigned piece) const { return (int)(piece & ((1u << level) - 1)); }
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
template <class S, bool results, class Take, class Give, class Alone>
static __device__ __forceinline__ void gr_woven_each(const gr_scan &q, const gr_woven_ring<S> &ring, unsigned piece,
                                                     const char *p, int64_t step, int warp, int warps, int lane,
                                                     const Take &take, const Give &give, const Alone &alone) {
  using T = std::conditional_t<results, typename S::Out, typename S::In>;
  constexpr int size = (int)sizeof(T), own = gr_woven_word<T>::each, hops = S::each / own;
  constexpr int turns = gr_scan_row<T, S::each>::words > 1 ? 2 : 1;
  const int length = gr_woven<S>::row * ring.columns; /* a row of all columns */
  const gr_woven_rows_of rows = ring.of(results);
  const int hop = 32 * own * ring.columns;            /* elements */
  const int64_t first = (int64_t)piece * ring.rows * length;
  const int left = (int)min(q.n * ring.columns - first, (int64_t)ring.rows * length);
  const bool whole = left == ring.rows * length;
  /* elements before the first word: its lowest address is a multiple of its size */
  const int skipped = own == 1 ? 0 : (int)((step > 0 ? -(uintptr_t)p : (uintptr_t)p + size) & 3) / size;
  const int ahead = hop * (int)step; /* bytes */
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
        for (int h = 0; h < turns; h++) at[h][i] = (k + i - position * ring.columns) * rows.pitch + in(h * own);
      }
    }
    const int here = max(0, min(length, left - r * length));
    char *const row = rows(0, r);
    const char *const start = p + r * length * (int)step;
    const char *const word = start + k * (int)step - (step < 0 ? (own - 1) * size : 0);
    /* act(number, places, address) of word m + h, whose number is among those that are under way */
    const auto with = [&](int m, int h, const auto &act, int number, const char *from) {
      char *to[own];
#pragma unroll
      for (int i = 0; i < own; i++) to[i] = row + at[h][i] + m * 32 * own * size;
      act(number, to, from);
    };
    const auto there = [&](int m) { return k + m * hop + own <= here; };
    const char *from = word;
    if (own > 1 || whole) {
#pragma unroll
      for (int m = 0; m < hops; m++, from += ahead)
        if (own == 1 || there(m)) with(m / turns * turns, m % turns, take, m, from);
      from = word;
#pragma unroll
      for (int m = 0; m < hops; m++, from += ahead)
        if (own == 1 || there(m)) with(m / turns * turns, m % turns, give, m, from);
    } else {
#pragma unroll 1
      for (int m = 0; m < hops; m += turns)
#pragma unroll
        for (int h = 0; h < turns; h++, from += ahead)
          if (there(m + h)) with(m, h, take, h, from), with(m, h, give, h, from);
    }
    if (own > 1 && part == 0) {
      const int words = max(0, here - skipped) & -own;
      const int e = lane < skipped ? lane : words + lane;
      if (e < here) {
        const int position = ring.position_of(e);
        alone(gr_scan_row<T, S::each>::element(row + (e - position * ring.columns) * rows.pitch, position),
              start + e * (int)step);
      }
    }
  }
}

/* Warps that ask for pieces' elements as soon as there is room, the first of which takes them; narrow ones come to L2
   alone. */
template <class S>
static __device__ __forceinline__ void gr_woven_load(const gr_scan &q, gr_woven_ring<S> ring, int warp, int lane) {
  using In = typename S::In;
  constexpr int loaders = gr_woven<S>::loaders;
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
    if (warp == 0 && lane == 0) slot.piece = piece = atomicAdd(q.next, 1);
    if constexpr (loaders > 1) {
      gr_woven_meet<loaders * 32>(3);
      piece = gr_scan_share(slot.piece, lane);
    } else {
      piece = __shfl_sync(~0u, piece, 0);
    }
    if (piece < q.tiles) {
      if constexpr (gr_woven<S>::narrow) {
        const int64_t first = (int64_t)piece * ring.all() * gr_woven<S>::row, left = q.n * ring.columns - first;
        const int bytes = (int)min(left, (int64_t)(ring.all() * gr_woven<S>::row)) * (int)sizeof(In);
        const char *p = q.a + first * q.a_stride - (q.a_stride < 0 ? bytes - (int)sizeof(In) : 0);
        gr_scan_announce_bytes(p, bytes - 1, lane);
      } else {
        gr_woven_each<S, false>(
            q, ring, piece, q.a, q.a_stride, warp, loaders, lane,
            [](int, char *const(&to)[1], const char *from) { gr_copy_async<sizeof(In)>(to[0], from); },
            [](int, char *const(&)[1], const char *) {}, [](char *, const char *) {});
      }
    }
    slot.loaded.arrive_fetched();
    slot.loaded.arrive();
  }
  /* The last block to end leaves the counters as it found them. */
  if (warp == 0 && lane == 0 && atomicInc(q.next + 1, gridDim.x - 1) == gridDim.x - 1) *q.next = 0;
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
        gr_woven_each<S, false>(
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
          gr_scan_take<S>(v, ring.row_of(false, min(k + i, ring.all() - 1)), false, q.flip, lane);
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
    if (last && (piece & 1) == 0) gr_publish(gr_scan_word(q, q.tile, piece, column), r[0], q.tag);
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
    if (in_tile & 1) {
      v = gr_scan_carry<S>(q, q.tile, (int)piece, gr_scan_ended(in_tile), lane, v).joined;
      if (mine && !last) gr_publish(gr_scan_word(q, q.tile, piece, lane), v, q.tag);
    }
    if (last) {
      if (tile & 1) v = gr_scan_carry<S>(q, q.group, tile, gr_scan_ended(tile & 31), lane, v).joined;
      if (mine) gr_publish(gr_scan_word(q, q.group, tile, lane), v, q.tag);
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
    const int tile = ring.tile(piece);
    if (((piece + 1) & ((32u << ring.level) - 1)) != 0) continue;
    const gr_halves *const total = gr_scan_word(q, q.group, tile, lane);
    gr_scan_publish_group<S>(q, tile >> 5, lane, gr_scan_carry<S>(q, q.group, 0, 0, lane, S::identity(), total).beside);
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
      const gr_halves *const groups = group > 0 ? gr_scan_word(q, q.before, group, column) : NULL;
      const gr_scan_carried<S> base = gr_scan_carry<S>(q, q.group, tile, tile & 31, column, S::identity(), groups);
      Value above = first || column == ring.columns ? S::identity() : slot.row[lane - 1];
      if (ring.in_tile(piece))
        above = gr_scan_carry<S>(q, q.tile, (int)piece, ring.in_tile(piece), column, above).joined;
      if (column < ring.columns) {
        slot.above[lane] = above;
        if (first) slot.base[column] = S::join(base.beside, base.joined);
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
      gr_scan_take<S>(v, ring.row_of(false, k), false, q.flip, lane);
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
      gr_scan_give<S>(q, ring.row_of(true, k), v, S::join(slot.base[ring.column_of(k)], above), starts, lane);
    }
    if (ring.apart) slot.free.arrive();
    gr_woven_meet<Woven::writers * 32>(1);
    typename W::Word y[S::each / W::each];
    gr_woven_each<S, true>(
        q, ring, piece, q.out, q.out_stride, warp, Woven::writers, lane,
        [&](int m, char *const(&from)[W::each], const char *) { y[m] = W::turned(W::gather(from), q.out_stride); },
        [&](int m, char *const(&)[W::each], const char *to) {
          __stcs((typename W::Word *)const_cast<char *>(to), y[m]);
        },
        [](char *from, const char *to) { *(Element *)const_cast<char *>(to) = *(const Element *)from; });
    if (ring.apart) gr_woven_meet<Woven::writers * 32>(1); /* before results of the next piece come there */
    else slot.free.arrive();
  }
}

template <class S>
static __device__ __forceinline__ void gr_woven_pieces(const gr_scan &q, char *memory) {
  using Woven = gr_woven<S>;
  const int lane = threadIdx.x & 31, warp = gr_scan_warp();
  gr_woven_ring<S> ring(memory, q);
  ring.init(threadIdx.x, [](gr_woven_slot<S> &slot) {
    slot.loaded.init(Woven::loaders * 64);
    slot.added.init(Woven::adders * 32);
    slot.published.init(32);
    slot.based.init(32);
    slot.free.init((Woven::writers + Woven::adders + 1) * 32 + 2 + Woven::lookers);
  });
  __syncthreads();
  gr_await_earlier();
  gr_let_next_start();                                                         /* it has room when blocks of this end */
  /* which of the warps with a part comes first: those that all wait for */
  constexpr int lookers = Woven::loaders + 3, adders = lookers + Woven::lookers, writers = adders + Woven::adders;
  if (warp < Woven::loaders) gr_woven_load<S>(q, ring, warp, lane);
  else if (warp == lookers - 3) gr_woven_publish<S>(q, ring, lane);
  else if (warp == lookers - 2) gr_woven_tile<S>(q, ring, lane);
  else if (warp == lookers - 1) gr_woven_group<S>(q, ring, lane);
  else if (warp < adders) gr_woven_look<S>(q, ring, warp - lookers, lane);
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
