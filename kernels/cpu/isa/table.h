/*
** One table of kernels per instruction set. The sources named *.inc are compiled once for each set: set_*.c
** names the set, its vec_*.h says what a vector is there, and kernels.inc pulls in the rest.
*/
#ifndef GR_CPU_TABLE_H
#define GR_CPU_TABLE_H

#include "kernels/numerics/counter.h"
#include "kernels/numerics/numerics.h"
#include "kernels/cpu/kernels_cpu.h"

/* The state of n contiguous elements that start where a leaf starts (n > 0). The job gives the scales. */
typedef gr_acc (*gr_span)(const void *a, const void *b, int64_t n, const gr_reduce_job *job);

/* For kernels that fill: what stands in the place of what is missing, and of two vectors the second with what stands
   there. */
typedef struct gr_gaps {
  double fill, fill_y;
  const void *y;
  const uint8_t *mask; /* a byte an element, 0: it is missing; or unused */
} gr_gaps;
enum { GR_GAPS_NAN, GR_GAPS_MASK, GR_GAPS };

/* The scans: sums and products of floats in order, all others by integer keys in any. */
enum { GR_SCAN_SUM, GR_SCAN_PROD, GR_SCAN_KEYS, GR_SCANS };

typedef struct scan_counter scan_counter; /* scan/scan.h */

/*
** A block of a scan, or a piece of one, from logical position `from` on. gr_scan_total gives its total. gr_scan_write
** writes its results, from the total of all before the block (base) and those of the block's tiles before this piece
** (NULL: not known yet). It returns the total, too, if more follows; for keys and integers that includes what lies
** before.
*/
typedef gr_acc (*gr_scan_total)(const gr_scan_job *job, int64_t from, int64_t n);
typedef gr_acc (*gr_scan_write)(const gr_scan_job *job, int64_t from, int64_t n, const gr_acc *base,
                                const scan_counter *tiles);

/* Some rows of rmsnorm, GR_NARROW_ROWS at most, from the sums of their squares, which are used up. */
typedef void (*gr_norm_rows)(const gr_rmsnorm_job *job, int64_t row, int rows, double *sums);

/*
** The position of a sample among the bins, for instruction sets that multiply and add in one step: x * scale + start,
** rounded down, counts steps of 2^-shift bins. A bin is certain if the position is below `end`, and either one of the
** bits `doubt` is set or nothing is ever rounded (exact == -1). narrow: f32 is precise enough for it. nan: the bin of
** what is no number.
*/
typedef struct gr_positions {
  double scale, start;
  uint32_t doubt, end;
  int32_t shift, exact, narrow, nan;
} gr_positions;

/*
** A histogram's job, and what follows from its edges for guessing bins (bins.inc): the sample at which h is 0, and how
** close h must be to a whole number for the bin to be certain. The same for samples of f32 in f32 arithmetic, where
** that is precise enough (else half32 is 0).
*/
#define GR_BINS_CHUNK 512
typedef struct gr_bins_job {
  const gr_histogram_job *job;
  double origin, half;
  float origin32, per_bin32, half32;
  gr_positions positions;
} gr_bins_job;
void gr_bins_judge(gr_bins_job *b); /* fills in what lies beside job */

/* The bins of m samples: 0 .. bins - 1, then below, above, NaN. index has room for GR_BINS_CHUNK, which m is at
   most. */
typedef void (*gr_bins)(const gr_bins_job *b, const char *x, int64_t stride, int m, int32_t *index);

/*
** Finds the bins of the first of n samples and counts them; returns of how many. They are counted in `tables` (4 or 8)
** tables one after the other, each of `slots` counters of `size` bytes. With counters of one byte there is one table,
** and carries go to the words behind it (gr_ran_over). NULL where an instruction set has nothing better than finding
** bins first and counting them afterwards.
*/
typedef int64_t (*gr_count)(const gr_bins_job *b, const char *x, int64_t n, void *table, int64_t slots, int tables,
                            int size);

/*
** Where there are many slots, each has a counter of one byte, so that all of them fit the fast caches, and carries are
** added to words of 32 bits behind the bytes. A carry happens once in 256 samples, whatever the data are, so the branch
** to it is nearly always predicted.
*/
static inline uint32_t *gr_ran_over(uint8_t *low, int64_t slots) {
  return (uint32_t *)(void *)(low + (slots + 63) / 64 * 64);
}
#define GR_COUNT_BYTE(low, over, slot)                            \
  do {                                                            \
    const int32_t i_ = slot;                                      \
    if (__builtin_expect(++(low)[i_] == 0, 0)) (over)[i_] += 256; \
  } while (0)
#define GR_COUNT_EIGHT_BYTES(low, over, slots) \
  do {                                         \
    GR_COUNT_BYTE(low, over, (slots)[0]);      \
    GR_COUNT_BYTE(low, over, (slots)[1]);      \
    GR_COUNT_BYTE(low, over, (slots)[2]);      \
    GR_COUNT_BYTE(low, over, (slots)[3]);      \
    GR_COUNT_BYTE(low, over, (slots)[4]);      \
    GR_COUNT_BYTE(low, over, (slots)[5]);      \
    GR_COUNT_BYTE(low, over, (slots)[6]);      \
    GR_COUNT_BYTE(low, over, (slots)[7]);      \
  } while (0)

/* Reads two slots by one load: the number of loads limits how fast one can count. */
#define GR_COUNT_TWO(t, u, slots)       \
  do {                                  \
    uint64_t two_;                      \
    memcpy(&two_, slots, sizeof(two_)); \
    (t)[(uint32_t)two_]++;              \
    (u)[two_ >> 32]++;                  \
  } while (0)
#define GR_COUNT_EIGHT(t, slots)               \
  do {                                         \
    GR_COUNT_TWO((t)[0], (t)[1], (slots));     \
    GR_COUNT_TWO((t)[2], (t)[3], (slots) + 2); \
    GR_COUNT_TWO((t)[4], (t)[5], (slots) + 4); \
    GR_COUNT_TWO((t)[6], (t)[7], (slots) + 6); \
  } while (0)

/* softmax of rows of n elements side by side, of a leaf of them at most; from row to row: step and out_step bytes. far:
   whether rows are not cached. */
typedef void (*gr_softmax_leaves)(gr_dtype t, const char *x, int64_t step, int n, char *out, int64_t out_step,
                                  int64_t rows, int far);

/* y = e^(x - most), in f32 but for f64, for m elements of which none is above most; what follows y's, to a whole
   vector, is overwritten. */
#define GR_EXPS_CHUNK 512
typedef void (*gr_exps)(gr_dtype t, const char *x, int64_t stride, int m, double most, double *y);

/* The same of elements side by side, but of f64, as f32 (y may be x); y * factor, as it is stored (out may be y); and
   the sum of a leaf of y's, or of its first m. */
typedef void (*gr_exps_beside)(gr_dtype t, const char *x, float most, int64_t n, float *y);
typedef void (*gr_scale_beside)(gr_dtype t, const float *y, float factor, int64_t n, char *out);
typedef double (*gr_leaf_sum_beside)(gr_dtype t, const float *y, int m);

/* The tree's sum of a leaf's elements of t, or of the first m, which are doubles here. */
typedef double (*gr_leaf_sum)(gr_dtype t, const double *y, int m);

/* What softmax multiplies exponentials by, once their sum is known: of f32 where they are. */
static inline double gr_softmax_factor(gr_dtype t, double sum) {
  return t == GR_F64 ? 1.0 / sum : (double)(float)(1.0 / sum);
}

/* y * factor, rounded to t; but for f64 in f32 first. */
typedef void (*gr_scaled_store)(gr_dtype t, char *to, int64_t stride, const double *y, double factor, int m);

/*
** softmax or rmsnorm of GR_NARROW_ROWS rows of n elements, turned (GR_NARROW_MOST at most): element k of row r is at
** x + k * pitch + r * size, its result at out + (k * GR_NARROW_ROWS + r) * size. w: the weights of rmsnorm, or NULL.
*/
#define GR_NARROW_MOST 32
#define GR_NARROW_ROWS 64
typedef void (*gr_narrow)(gr_dtype t, const char *x, int64_t pitch, int n, const double *w, double eps, char *out);

/*
** States of vectors that lie side by side, of one leaf at most: element k of vector c is at x + k * pitch + c * size.
** A second input lies in the same way (y_wide), or is one number for all of them: element k at y + k * y_pitch.
*/
#define GR_DOWN_LEAST 16         /* vectors */
#define GR_DOWN_MOST 512         /* vectors */
#define GR_DOWN_ROOM (64 * 1024) /* bytes, for the lanes of the vectors, which are doubles */
typedef struct gr_down_job {
  const char *x, *y;
  int64_t pitch, y_pitch;
  int y_wide, n, count;
  int want;      /* of extremes: 1 the least, 2 the largest, 3 both */
  int64_t ahead; /* bytes from a load to its prefetch, 0: none */
  void *lanes;   /* of GR_DOWN_ROOM bytes, at the start of a cache line */
  /* Where results go instead of states, or NULL. Only for sums and dots of floats (doubles) and of integers (int64_t),
     an extreme, not both (elements), and positions, from 1 (int64_t): all other loops are given NULL. */
  void *results;
} gr_down_job;
typedef void (*gr_down)(const gr_down_job *job, gr_acc *states);
/* Lanes that a sum by doubles keeps in memory, of n elements of that size: a quarter of them, or half of the tree's. */
static inline int gr_down_kept(int size, int64_t n) {
  int kept = 1;
  while (4 * kept < n && 2 * kept < GR_LANES(size)) kept *= 2;
  return kept;
}
/* Half of the lanes that there are, rounded up to a power of two: lanes so far apart fold first. One lane: 0. */
static inline int gr_down_half(int size, int64_t n) {
  int half = 1;
  while (2 * half < n && 2 * half < GR_LANES(size)) half *= 2;
  return n > 1 ? half : 0;
}
/* Lanes that a sum of lanes of f32 keeps in memory: a half of that, since four fold in registers, if there are. */
static inline int gr_down_kept32(int size, int64_t n) {
  const int half = gr_down_half(size, n);
  return half > 1 ? half / 2 : 1;
}
/* Whether all of a float's lanes are doubles: those of 16-bit sums and dots hold f32, unless each has but one term. */
static inline int gr_down_doubles(gr_reducer red, gr_dtype t, int64_t n) {
  if ((t != GR_F16 && t != GR_BF16) || red == GR_RED_VARIANCE || red == GR_RED_PRESENT) return 1;
  return n <= GR_LANES(2) && !(red == GR_RED_DOT && t == GR_BF16);
}
/* Vectors that these loops take at least: those that go by way of doubles, or of elements as wide, need fewer. */
static inline int gr_down_least(gr_acc_kind kind, int size) {
  const int doubles = size == 8 || (size == 4 && (kind == GR_ACC_TREE || kind == GR_ACC_VARIANCE));
  return doubles ? GR_DOWN_LEAST / 2 : GR_DOWN_LEAST;
}
static inline int gr_down_want(gr_op op) { return op == GR_OP_min ? 1 : op == GR_OP_max ? 2 : 3; }

/*
** Sums of the columns of a leaf of a matrix without gaps, fewer than GR_DOWN_LEAST, of n rows at most. y: of dots, of a
** second such matrix (y_wide), or a number for each row, y_pitch apart.
*/
typedef struct gr_flat_job {
  const char *x, *y;
  int64_t y_pitch;
  int y_wide, n, columns;
  double *room; /* GR_FLAT_ROOM bytes */
} gr_flat_job;
typedef void (*gr_flat)(const gr_flat_job *job, double *sums);
#define GR_FLAT_SUMS 20 /* columns of sums of f32 and f64 at most; of all others fewer than GR_DOWN_LEAST */
/* The lanes of all columns as doubles, then the other factors as doubles, or, of 16 bits, lanes and factors as floats;
   64 elements behind each, as whole vectors are stored. */
#define GR_FLAT_LANES (GR_LANES(2) * (GR_DOWN_LEAST - 1) + 64)
#define GR_FLAT_ROOM (2 * GR_FLAT_LANES * sizeof(double))

#define GR_TURNED_MOST 128 /* elements of rows that are turned, at most */

#define GR_SHORT 64 /* elements at most */
/* Sums of rows of n elements, f32 or f64: element k of row r is at x + r * step + k * size. */
typedef void (*gr_row_sums)(gr_dtype t, const char *x, int64_t step, int n, int rows, double *sums);

/* The same of products with ones (y is NULL), with one vector, whose elements are y_step apart (y_row is 0), or with
   rows of as many, side by side, that are y_row apart. Of u8, i8 and i16 with one vector alone (sums are int64_t).
   sums has room for a multiple of GR_NARROW_ROWS rows. And whether it is to be asked for rows of n elements. */
typedef enum gr_row_factors { GR_ONES, GR_ONE_VECTOR, GR_OWN_ROWS } gr_row_factors;
typedef void (*gr_row_dots)(gr_dtype t, const char *x, int64_t step, const char *y, int64_t y_step, int64_t y_row,
                            int n, int rows, void *sums);
typedef int (*gr_row_dots_fit)(gr_dtype t, gr_row_factors factors, int64_t n);

/* Where the largest element, or the smallest, of each row of n side by side is first, from 1, or 0 if there is a NaN.
   Whether it was looked for; NULL: never is. The same of the elements themselves. */
typedef int (*gr_rows_places)(gr_dtype t, int largest, const char *x, int64_t step, int n, int rows, int64_t *to);
typedef int (*gr_rows_ends)(gr_dtype t, int largest, const char *x, int64_t step, int n, int rows, void *to);

typedef struct gr_cpu_table {
  const char *name;
  gr_span span[GR_REDUCER_COUNT][GR_DTYPE_COUNT];          /* NULL: not defined for the dtype */
  gr_span lowest[GR_DTYPE_COUNT], highest[GR_DTYPE_COUNT]; /* half of MINMAX, where that is less work */
  /*
  ** As `span`, but b is a gr_gaps: what fills counts where an element is NaN (of two vectors where either is), or
  ** where the mask is 0. COUNT counts the elements, or pairs, that are no NaN. NULL: there is none.
  */
  gr_span filled[GR_GAPS][GR_REDUCER_COUNT][GR_DTYPE_COUNT];
  gr_span counted[GR_REDUCER_COUNT][GR_DTYPE_COUNT]; /* the same of NaNs; acc.i[1]: how many, or pairs, are numbers */
  /*
  ** DOT, SQDIFF and SUMSQ as a sum of elements that steps make: each step is rounded to the dtype. NULL: to make blocks
  ** of elements is not slower.
  */
  gr_span steps[GR_REDUCER_COUNT][GR_DTYPE_COUNT];
  gr_span filled_lowest[GR_GAPS][GR_DTYPE_COUNT], filled_highest[GR_GAPS][GR_DTYPE_COUNT];
  gr_scan_total scan_total[GR_SCANS];
  gr_scan_write scan_write[GR_SCANS];
  gr_norm_rows norm_rows;
  gr_bins bins;
  gr_count count;
  gr_softmax_leaves softmax_leaves;
  gr_exps exps;
  gr_exps_beside exps_beside;
  gr_scale_beside scale_beside;
  gr_leaf_sum_beside leaf_sum_beside;
  gr_leaf_sum leaf_sum;
  gr_scaled_store scaled_store;
  gr_narrow narrow_softmax, narrow_rmsnorm;
  gr_row_sums row_sums, row_squares; /* sums have room for a multiple of GR_NARROW_ROWS rows */
  int squares_most;                  /* elements of rows of 16-bit floats at most; of others GR_SHORT */
  int places_turned[9];              /* rows of more elements of so many bytes are not turned to find positions */
  gr_rows_places rows_places;
  gr_rows_ends rows_ends;
  gr_row_dots row_dots; /* NULL: there is none */
  gr_row_dots_fit row_dots_fit;
  gr_down down[GR_REDUCER_COUNT][GR_DTYPE_COUNT]; /* NULL: vectors are turned and taken one by one */
  gr_flat flat[GR_REDUCER_COUNT][GR_DTYPE_COUNT]; /* NULL: the same */
  int flat_least;                                 /* columns, where there is a number for each row */
  int flat_sums;                                  /* columns at most, of sums of f32 and f64 */
  int beside; /* whether a few columns of narrow elements are quicker by rows beside each other than turned */
} gr_cpu_table;

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && defined(__SSE2__)
#define GR_CPU_X86 1
extern const gr_cpu_table gr_cpu_sse2, gr_cpu_avx2, gr_cpu_avx512;
#else
#define GR_CPU_X86 0
#endif
#if defined(__aarch64__) && defined(__GNUC__)
#define GR_CPU_NEON 1
extern const gr_cpu_table gr_cpu_neon;
#else
#define GR_CPU_NEON 0
#endif
extern const gr_cpu_table gr_cpu_generic;

/* Functions between the two are compiled for instruction sets, whose names are one string. */
#define GR_PRAGMA(words) _Pragma(#words)
#if defined(__clang__)
#define GR_TARGET(sets) GR_PRAGMA(clang attribute push(__attribute__((target(sets))), apply_to = function))
#define GR_TARGET_END GR_PRAGMA(clang attribute pop)
#else
#define GR_TARGET(sets) GR_PRAGMA(GCC push_options) GR_PRAGMA(GCC target(sets))
#define GR_TARGET_END GR_PRAGMA(GCC pop_options)
#endif
#define GR_AVX2 "avx2,fma"
#define GR_AVX512 "avx512f,avx512dq,avx512bw,avx512vl,fma"

/* The table in use; the first call picks it. */
const gr_cpu_table *gr_cpu_table_in_use(void);

/* The element at p as the number that goes into the tree. */
static inline double gr_widened(gr_dtype t, const char *p) {
  switch (t) {
#define GR_X(id, s, l, type, kind) \
  case GR_##id: {                  \
    type e;                        \
    memcpy(&e, p, sizeof(e));      \
    return gr_widen_##s(e);        \
  }
    GR_DTYPES(GR_X)
#undef GR_X
  }
  return 0;
}

#endif
