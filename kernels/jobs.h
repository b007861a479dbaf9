/*
** What a kernel is asked to do, in plain numbers and pointers: the contract between the core and both
** sets of kernels. What it names is in tables.h.
*/
#ifndef GR_JOBS_H
#define GR_JOBS_H

#include "kernels/tables.h"

/*
** count vectors of n elements each. Element k of vector v lies at data + v * step + k * stride (bytes; both
** may be zero or negative). Flat arrays are one vector; the rows of a matrix have stride == element size,
** its columns have step == element size.
*/
typedef struct gr_vec {
  const void *data;
  int64_t stride, step;
} gr_vec;

/*
** Reduce each of count vectors to one result (two for minmax: out2 takes the maxima). Results are written
** contiguously as out_dtype; a scalar that goes back to Lua asks for F64 or I64, which hold the accumulator.
** min, max, argmin, argmax and minmax never see n == 0 (the core raises); the others give their empty value.
*/
typedef struct gr_reduce_job {
  gr_op op;
  gr_dtype dtype;
  int64_t n;
  gr_vec a, b;
  void *out, *out2;
  gr_dtype out_dtype;
  int32_t offsets_are_i32;
  int64_t count;
  double ddof;  /* var, std; GR_UNDIVIDED, of these, mean and mse: see there */
  double scale_a, scale_b; /* sumsq, norm2, cosine: elements are multiplied by it first (powers of two, usually 1) */
  /*
  ** Segments: with offsets (positions from 1, int64, or int32 where offsets_are_i32) vector v is elements offsets[s] ..
  ** offsets[s + 1] - 1 of a and b, s = chosen ? chosen[v] : v, and s is where its result goes. n is the longest
  ** that is wanted: longer segments are left alone. Steps mean nothing.
  */
  const void *offsets;
  const int64_t *chosen;
} gr_reduce_job;

/*
** What a reduction would do, and why (gr.explain). Texts live as long as the process, and are NULL where there is
** nothing to say; a number that is not known is 0. On a GPU kernel is the name of one, blocks and threads (of a block)
** are its grid; on the CPU kernel is the loop that takes vectors apart, and blocks are pieces for so many threads.
*/
typedef struct gr_explained {
  const char *kernel, *why, *combine, *set; /* set: of instructions, of the CPU */
  int64_t launches, blocks, threads;
  int64_t shared, scratch; /* bytes: of shared memory of a block, of scratch memory */
} gr_explained;

/*
** Histogram of one vector. Bin k of edges[0..bins] is edges[k] <= x < edges[k+1], the last closed above.
** Edges rise strictly. Integer samples are compared with ilimits (int64: the smallest integer that lies in
** bin k; ilimits[bins] is the LARGEST integer that lies in the last bin), so that i64 is exact.
** guess == 1: the edges are evenly spaced, so k is near (x - first) * per_bin; else search.
** In jobs for a backend, and for the CPU's kernels, edges and ilimits may then be NULL: gr_even_edge(first, last, bins,
** k). modulo: bin = x mod bins (never negative), edges unused (NULL); 2: all samples are known to be in 0 .. bins - 1.
** counts: bins int64; tails: below, above, nan, which follow the counts; all are overwritten. skips_nan: nan is 0,
** however many there are.
*/
enum { GR_HISTOGRAM_BY_SIZE, GR_HISTOGRAM_REPLICATED, GR_HISTOGRAM_LARGE, GR_HISTOGRAM_GLOBAL };
typedef struct gr_histogram_job {
  gr_dtype dtype;
  int64_t n, bins;
  gr_vec a;
  const double *edges;
  const int64_t *ilimits;
  double first, last, per_bin; /* edges[0], edges[bins], bins / (last - first) */
  int32_t guess, modulo;
  int32_t whole; /* with guess: every edge is an integer (a hint for integer samples) */
  int32_t way; /* GR_HISTOGRAM_...: one of the CUDA kernels, for those who ask for it */
  int32_t skips_nan;
  int64_t *counts, *tails;
} gr_histogram_job;

/* Segments of more leaves (GR_LEAF) than this come in a job of their own, chosen one by one. */
#define GR_SEGMENT_LEAVES 256

/*
** The same with weights: what is added up in each bin are the weights of its samples, integers in 64 bits that wrap,
** floats (all finite) as multiples of 2^unit (fixed.h). state: two words for each bin, then for below, above and NaN;
** out: a result for each of these, i64 for integer weights, else f64. Both are overwritten.
*/
typedef struct gr_weights_job {
  gr_histogram_job bins; /* counts and tails unused */
  gr_dtype dtype;        /* of the weights */
  gr_vec w;
  int32_t unit;
  uint64_t *state;
  void *out;
} gr_weights_job;

/*
** Running sums, prods, minima or maxima (op) of count vectors, each into one of out_dtype (docs/numerics.md: the scan).
** If there are several, each has GR_SCAN_MOST elements or less.
*/
#define GR_SCAN_MOST (GR_SCAN_TILE * GR_SCAN_TILES)
typedef struct gr_scan_job {
  gr_op op;
  gr_dtype dtype, out_dtype;
  int64_t n, count;
  gr_vec a, out;
  int32_t exclusive, reverse;
} gr_scan_job;

/*
** A part of a longer scan, which begins with a tile (docs/numerics.md: the scan): element k of the whole lies at
** data + k * stride, and those from first on to n - 1 are there. totals: of what lies before, in order: of sums and
** products of floats those of so many tiles each, a power of two up to a superblock's, of which there are whole
** multiples before; of all else any.
*/
#define GR_SCAN_TILE 4096
#define GR_SCAN_TILES 1024 /* of a superblock */
typedef struct gr_scan_part {
  gr_scan_job job; /* not reversed */
  int64_t first, count;
  const gr_acc *totals;
  const int64_t *tiles;
} gr_scan_part;

/* out[r][k] = x[r][k] / sqrt(mean(x[r]^2) + eps) * w[k]; x, w and out share a dtype; w.data may be NULL. */
typedef struct gr_rmsnorm_job {
  gr_dtype dtype;
  int64_t n, count;
  gr_vec x, w, out;
  double eps;
} gr_rmsnorm_job;

/* out[r][k] = exp(x[r][k] - the row's max) / the row's sum of these; x and out share a float dtype. */
typedef struct gr_softmax_job {
  gr_dtype dtype;
  int64_t n, count;
  gr_vec x, out;
} gr_softmax_job;

/*
** Selection, on unsigned keys in the order of the elements (gr_selector in numerics.h); NaN has no key. A group is
** the keys that agree above their lowest shift + bits bits: key >> shift >> bits is its prefix. Prefixes rise and are
** in host memory; the launch takes a copy.
*/
#define GR_SELECT_GROUPS 256
#define GR_SELECT_COUNTERS 8192 /* groups << bits at most */
#define GR_SELECT_TOP 11        /* bits: several groups share at least so many, the first digit's */
typedef struct gr_groups {
  gr_dtype dtype;
  int64_t n;
  gr_vec a;
  int32_t shift, bits, groups;
  const uint64_t *prefixes;
} gr_groups;

/* How many keys of group g have the digit d in the next bits: counts[g << bits | d]; after these, how many NaNs. */
typedef struct gr_digits_job {
  gr_groups of;
  int64_t *counts; /* all overwritten */
} gr_digits_job;

/* The elements that belong to a group, next to each other in any order; *found is overwritten with their number. */
typedef struct gr_pick_job {
  gr_groups of;
  void *out;
  int64_t *found;
} gr_pick_job;

/* Write value (8 bytes holding one element of dtype, in its lowest bytes) to n elements of out. */
typedef struct gr_fill_job {
  gr_dtype dtype;
  int64_t n;
  gr_vec out;
  uint64_t value;
} gr_fill_job;

/* Copy n elements of dtype; the two do not overlap. */
typedef struct gr_copy_job {
  gr_dtype dtype;
  int64_t n;
  gr_vec a, out;
} gr_copy_job;

/*
** Even edges of a histogram, edges[0..bins]: first + k * (last - first) / bins and last itself; and for integers the
** limits as in gr_histogram_job (NULL for floats). first and last lie within 2^62 of 0 if there are limits.
*/
typedef struct gr_edges_job {
  double first, last;
  int64_t bins;
  double *edges;
  int64_t *limits;
} gr_edges_job;

/*
** n numbers of the stream (seed, stream, mark) starting at counter 0, of that kind (math.h); on the CPU at counter
** first, so that a part of a longer vector can be made.
*/
typedef struct gr_random_job {
  gr_dtype dtype;
  int64_t n;
  gr_vec out;
  uint64_t seed, stream;
  int32_t kind;
  uint64_t mark, first;
} gr_random_job;

/*
** n whole numbers low, low + 1, ..., of so many (range; 0: all 2^64), equally likely. With sums, `count` running sums
** of weights that end with range: low + k, as often as weight k says. first: as above.
*/
typedef struct gr_whole_job {
  gr_dtype dtype;
  int64_t n;
  gr_vec out;
  uint64_t seed, stream, mark;
  int64_t low;
  uint64_t range;
  const int64_t *sums;
  int64_t count;
  uint64_t first;
} gr_whole_job;

/* The first n of the positions 1 .. length in random order (numerics/random.h). */
typedef struct gr_order_job {
  gr_dtype dtype;
  int64_t n, length;
  gr_vec out;
  uint64_t seed, stream, mark;
} gr_order_job;

/* A vector, or (vec.data == NULL) one number in its place: the bits of an element, in the lowest bytes. */
typedef struct gr_operand {
  gr_vec vec;
  uint64_t value;
} gr_operand;

/*
** out[k] = op(a[k], b[k]). a and b have dtype, but where integers are widened (gr_map_widens) a number in their place
** is an f64. clamp: b and c are the ends (numbers). compare: relation, out is u8. where: c is the mask (u8), a is
** taken where it is not zero. cast: out_dtype differs. out may be one of the inputs, position for position.
** tally: compare counts instead of giving a mask: out (i64, dense) has one element for each GR_TALLY elements, how many
** of them hold, or 1 if all of them do.
*/
#define GR_TALLY 8192
typedef enum gr_tally { GR_TALLY_NONE, GR_TALLY_COUNT, GR_TALLY_ALL } gr_tally;
typedef struct gr_map_job {
  gr_map op;
  gr_relation relation;
  gr_tally tally;
  gr_dtype dtype, out_dtype;
  int64_t n;
  gr_operand a, b, c;
  gr_vec out;
} gr_map_job;

/*
** The elements of a where the mask (u8) is not zero, in their order. out may be a. Where order means nothing that takes
** two jobs: one without out, which looks at the mask alone, and makes of *kept how many there are, and of `state`,
** gr_compact_words(n) of memory, what the second goes by. The CPU goes in order, and needs no more than the second.
*/
typedef struct gr_compact_job {
  gr_dtype dtype;
  int64_t n;
  gr_vec a, mask, out;
  int64_t *kept, *state;
} gr_compact_job;

#define GR_COMPACT_UNIT 512 /* elements with a count of their own: 4 bytes of state; 8 more for each 4096 at most */
static inline int64_t gr_compact_words(int64_t n) { return 4 + n / GR_COMPACT_UNIT / 2 + 2 * (n / 4096); }

/*
** out[k] = a[index[k]] (numerics/lookup.h says which that is). An index that is no position of a leaves its element of
** out alone. bad, if not NULL, becomes the least such k, or something from n on: above n only if each place was seen to
** be above the one before. out.data == NULL: that is all. seen, if not NULL: the `bad` of such a look; if it says that
** an index is none, nothing is done.
*/
typedef struct gr_lookup_job {
  gr_dtype dtype, positions; /* of a and out, of index */
  int64_t n, length;         /* of index and out, of a */
  gr_vec a, index, out;
  int64_t *bad;
  const int64_t *seen;
} gr_lookup_job;

/*
** a[index[k]] becomes values[k] (set: of the last such k), or the sum, least or greatest of what it was and all such
** values. An index that is no position changes nothing. Sums of floats are multiples of 2^unit (fixed.h).
** rising: all are places, each above the one before. seen, with rising: that is so if the word there, the `bad` of a
** lookup, is above n; else nothing is done.
** state, overwritten, where places do not rise: of these sums two words for each element of a. Sets from a vector need
** 4 bytes for each element of a, 8 from 2^32 - 1 values on, where order means nothing; the CPU goes in order. Else
** NULL.
*/
typedef struct gr_put_job {
  gr_put_op op;
  gr_dtype dtype, positions;
  int64_t n, length;
  gr_vec a, index;
  gr_operand values;
  int32_t unit;
  int rising;
  const int64_t *seen;
  void *state;
} gr_put_job;

#endif
