/*
** Holes: where a kernel that is shipped as PTX, a skeleton, takes elements of a formula in place of elements of memory.
** A hole is a comment in inline assembly, which nvcc carries through with the registers that it chose; before the
** driver compiles the skeleton, src/backend/jit puts the formula's instructions there, as often as the compiler has
** unrolled the loop around it.
**
** Addresses stand for positions: a formula's vector begins at address 0, and element k of it "lies" at k times its
** size, so that the code that finds rows, leaves and aligned words is that of memory.
*/
#ifndef GR_CUDA_FORMULA_HOLE_CUH
#define GR_CUDA_FORMULA_HOLE_CUH

#include "kernels/cuda/thread/load.cuh"
#include "kernels/cuda/thread/present.cuh"

/*
** A reducer whose elements are a formula's: of one input its node a, of two its nodes a and b. number: its kernel does
** one vector for the host, and nothing else; half of what the driver must compile is left out.
*/
template <class R, bool to_host>
struct gr_of_formula : R {
  static constexpr bool formula = true, number = to_host;
};
/* A reducer that is part of R, from where R has its elements. */
template <class R, class Part>
using gr_part_of = std::conditional_t<R::formula, gr_of_formula<Part, R::number>, Part>;

/*
** The same that counts besides: of how many elements a node of the formula, which neither input needs to be, is not 0.
** The holes count in a register of their own, which is part of the state once all leaves have been read.
*/
template <class R, bool to_host>
struct gr_tallied : gr_of_formula<R, to_host> {
  using Read = gr_of_formula<R, to_host>; /* reads leaves */
  static constexpr bool tallied = true;
  static constexpr int fields = R::fields + 1;
  static_assert(R::fields == 1, "the tally follows the only field");
  static __device__ __forceinline__ gr_acc with(gr_acc a, int64_t tally) {
    a.i[1] = tally;
    return a;
  }
  static __device__ __forceinline__ gr_acc identity() { return with(R::identity(), 0); }
  static __device__ __forceinline__ gr_acc merge(gr_acc a, gr_acc b) { return with(R::merge(a, b), a.i[1] + b.i[1]); }
};

/*
** Elements that are not NaN (thread/present.cuh), which lie in memory: there are no holes but those of the tally, which
** is counted as they are added.
*/
template <class R>
struct gr_tallied_present : gr_tallied<R, false> {
  using Read = gr_of_present<R, true>;
  using Blanked = R;
  static constexpr bool formula = false, present = true;
};

/* Before any hole: none has been counted. */
__device__ __forceinline__ void gr_start_tally() { asm volatile("//GR_START"); }
/* After all holes that led to `state`: the tally of a warp. */
__device__ __forceinline__ int gr_tally_of_warp(const gr_acc &state) {
  int tally;
  asm volatile("//GR_TALLY %0 %1" : "=r"(tally) : "l"(state.i[0]));
#pragma unroll
  for (int h = 16; h; h >>= 1) tally += __shfl_xor_sync(0xffffffffu, tally, h);
  return tally;
}

/* Takes as many more into it, between the two. */
__device__ __forceinline__ void gr_add_to_tally(int more) { asm volatile("add.s32 %%tally, %%tally, %0;" ::"r"(more)); }

#define GR_FOUR(v) "=r"((v).x), "=r"((v).y), "=r"((v).z), "=r"((v).w)
#define GR_FOUR_ROWS(v, r) GR_FOUR(v[r]), GR_FOUR(v[r + 1]), GR_FOUR(v[r + 2]), GR_FOUR(v[r + 3])

/* Words of `rows` rows, 512 bytes apart, the first of them at position p; all their elements are there. */
template <int inputs, int rows>
__device__ __forceinline__ void gr_formula_rows(uint4 (&a)[rows], uint4 (&b)[rows], const char *p) {
  static_assert(rows == 2 || rows % 4 == 0, "no hole is so large");
  if constexpr (rows > 8) {
    uint4 x[8], y[8];
#pragma unroll
    for (int r = 0; r < rows; r += 8) {
      gr_formula_rows<inputs, 8>(x, y, p + r * GR_ROW_BYTES);
#pragma unroll
      for (int i = 0; i < 8; i++) {
        a[r + i] = x[i];
        if (inputs == 2) b[r + i] = y[i];
      }
    }
  } else if constexpr (inputs == 1 && rows == 8) {
    asm("//GR_ROWS %32 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 %16 %17 %18 %19 %20 %21 %22 %23 %24 "
        "%25 %26 %27 %28 %29 %30 %31"
        : GR_FOUR_ROWS(a, 0), GR_FOUR_ROWS(a, 4)
        : "l"(p));
  } else if constexpr (inputs == 1 && rows == 4) {
    asm("//GR_ROWS %16 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15" : GR_FOUR_ROWS(a, 0) : "l"(p));
  } else if constexpr (inputs == 2 && rows == 8) {
    asm("//GR_ROWS %64 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 %16 %17 %18 %19 %20 %21 %22 %23 %24 "
        "%25 %26 %27 %28 %29 %30 %31 : %32 %33 %34 %35 %36 %37 %38 %39 %40 %41 %42 %43 %44 %45 %46 %47 %48 %49 %50 "
        "%51 %52 %53 %54 %55 %56 %57 %58 %59 %60 %61 %62 %63"
        : GR_FOUR_ROWS(a, 0), GR_FOUR_ROWS(a, 4), GR_FOUR_ROWS(b, 0), GR_FOUR_ROWS(b, 4)
        : "l"(p));
  } else if constexpr (inputs == 2 && rows == 4) {
    asm("//GR_ROWS %32 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 : %16 %17 %18 %19 %20 %21 %22 %23 %24 "
        "%25 %26 %27 %28 %29 %30 %31"
        : GR_FOUR_ROWS(a, 0), GR_FOUR_ROWS(b, 0)
        : "l"(p));
  } else {
    static_assert(rows == 2 && inputs == 2, "no hole is so large");
    asm("//GR_ROWS %16 : %0 %1 %2 %3 %4 %5 %6 %7 : %8 %9 %10 %11 %12 %13 %14 %15"
        : GR_FOUR(a[0]), GR_FOUR(a[1]), GR_FOUR(b[0]), GR_FOUR(b[1])
        : "l"(p));
  }
}

/* The same of four rows, of whose elements the first `left` from p on are there; the others are anything. */
template <int inputs>
__device__ __forceinline__ void gr_formula_rows_of(uint4 (&a)[4], uint4 (&b)[4], const char *p, int left) {
  if constexpr (inputs == 1) {
    asm("//GR_ROWS %16 %17 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15"
        : GR_FOUR_ROWS(a, 0)
        : "l"(p), "r"(left));
  } else {
    asm("//GR_ROWS %32 %33 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 : %16 %17 %18 %19 %20 %21 %22 %23 "
        "%24 %25 %26 %27 %28 %29 %30 %31"
        : GR_FOUR_ROWS(a, 0), GR_FOUR_ROWS(b, 0)
        : "l"(p), "r"(left));
  }
}

/* The same of one row or two, of one input. */
__device__ __forceinline__ void gr_formula_few_rows_of(uint4 (&a)[1], const char *p, int left) {
  asm("//GR_ROWS %4 %5 : %0 %1 %2 %3" : GR_FOUR(a[0]) : "l"(p), "r"(left));
}
__device__ __forceinline__ void gr_formula_few_rows_of(uint4 (&a)[2], const char *p, int left) {
  asm("//GR_ROWS %8 %9 : %0 %1 %2 %3 %4 %5 %6 %7" : GR_FOUR(a[0]), GR_FOUR(a[1]) : "l"(p), "r"(left));
}

/*
** Words of any places: at[0], at[1] ..., of which all elements are there. Ahead: only what is loaded for them, so that
** it is on its way meanwhile; gr_formula_apart of as many takes it then. gr_formula_hold comes before both.
*/
template <int words>
__device__ __forceinline__ void gr_formula_hold() {
  asm volatile("//GR_HOLD %0" ::"n"(words));
}
template <int words>
__device__ __forceinline__ void gr_formula_ahead(const char *const (&at)[words]) {
  static_assert(words >= 3 && words <= 4, "no hole has so many");
  if constexpr (words == 3) asm volatile("//GR_AHEAD %0 %1 %2" ::"l"(at[0]), "l"(at[1]), "l"(at[2]));
  else asm volatile("//GR_AHEAD %0 %1 %2 %3" ::"l"(at[0]), "l"(at[1]), "l"(at[2]), "l"(at[3]));
}
template <int words>
__device__ __forceinline__ void gr_formula_apart(uint4 (&a)[words], const char *const (&at)[words]) {
  static_assert(words == 3 || words == 4 || words == 8, "no hole has so many");
  if constexpr (words == 3) {
    asm volatile("//GR_APART %12 %13 %14 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11"
                 : GR_FOUR(a[0]), GR_FOUR(a[1]), GR_FOUR(a[2])
                 : "l"(at[0]), "l"(at[1]), "l"(at[2]));
  } else if constexpr (words == 4) {
    asm volatile("//GR_APART %16 %17 %18 %19 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15"
                 : GR_FOUR_ROWS(a, 0)
                 : "l"(at[0]), "l"(at[1]), "l"(at[2]), "l"(at[3]));
  } else {
    asm volatile("//GR_APART %32 %33 %34 %35 %36 %37 %38 %39 : %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 "
                 "%16 %17 %18 %19 %20 %21 %22 %23 %24 %25 %26 %27 %28 %29 %30 %31"
                 : GR_FOUR_ROWS(a, 0), GR_FOUR_ROWS(a, 4)
                 : "l"(at[0]), "l"(at[1]), "l"(at[2]), "l"(at[3]), "l"(at[4]), "l"(at[5]), "l"(at[6]), "l"(at[7]));
  }
}

/*
** Rows as gr_formula_rows_of has them, of which only what is loaded for them is there after the first; the second makes
** one at a time, from the first row on, in a loop: so the steps stand there once. gr_formula_hold says how many the
** first loads.
*/
__device__ __forceinline__ void gr_formula_load(const char *p, int left) {
  asm volatile("//GR_LOAD %0 %1" ::"l"(p), "r"(left));
}
template <int inputs>
__device__ __forceinline__ void gr_formula_next(uint4 &a, uint4 &b, const char *p, int left) {
  if constexpr (inputs == 1) asm volatile("//GR_NEXT %4 %5 : %0 %1 %2 %3" : GR_FOUR(a) : "l"(p), "r"(left));
  else
    asm volatile("//GR_NEXT %8 %9 : %0 %1 %2 %3 : %4 %5 %6 %7" : GR_FOUR(a), GR_FOUR(b) : "l"(p), "r"(left));
}

/* A warp asks L2 for what belongs to so many bytes of elements from position p on. */
__device__ __forceinline__ void gr_formula_announce(const char *p, int bytes, int lane) {
#pragma unroll 1
  for (int k = lane * 128; k < bytes; k += 32 * 128) asm volatile("//GR_ANNOUNCE %0" ::"l"(p + k));
}

/* One word at position p, of which the first `valid` elements are there (perhaps none); the others are anything. */
template <int inputs>
__device__ __forceinline__ void gr_formula_word(uint4 &a, uint4 &b, const char *p, int valid) {
  if constexpr (inputs == 1) {
    asm("//GR_WORD %4 %5 : %0 %1 %2 %3" : GR_FOUR(a) : "l"(p), "r"(valid));
  } else {
    asm("//GR_WORD %8 %9 : %0 %1 %2 %3 : %4 %5 %6 %7" : GR_FOUR(a), GR_FOUR(b) : "l"(p), "r"(valid));
  }
}

#endif
