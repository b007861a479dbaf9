/*
** The ladder: the kernels that tutorials teach, as jobs. A teaching kernel knows one dtype (f32, histograms i32), reads
** dense data and has its block size at run time. GR_RUNGS is the one list of them and of the production kernels beside
** them; both backends, gr.kernels and the specs go by it.
*/
#ifndef GR_LADDER_LADDER_H
#define GR_LADDER_LADDER_H

#include <string.h>
#include "kernels/jobs.h"

/* The operations that have a ladder, as bits: a rung may serve several. */
#define GR_TAUGHT(X) X(dot) X(sum) X(min) X(max) X(histogram) X(scan) X(rmsnorm)
#define GR_X(name) GR_TAUGHT_BIT_##name,
enum { GR_TAUGHT(GR_X) GR_TAUGHT_COUNT };
#undef GR_X
#define GR_X(name) GR_TAUGHT_##name = 1 << GR_TAUGHT_BIT_##name,
typedef enum gr_taught { GR_TAUGHT(GR_X) GR_TAUGHT_one = GR_TAUGHT_sum | GR_TAUGHT_min | GR_TAUGHT_max,
                         GR_TAUGHT_folds = GR_TAUGHT_dot | GR_TAUGHT_one } gr_taught;
#undef GR_X

/* Which block sizes from 64 to 1024 a kernel can do; GR_BLOCK_OWN: a production kernel, which chooses by itself. */
typedef enum gr_block_rule { GR_BLOCK_OWN, GR_BLOCK_ANY, GR_BLOCK_WARPS, GR_BLOCK_POWER } gr_block_rule;

/*
** Roundings on the longest way from an element to the result: |error| <= that many x 2^-24 x the sum of magnitudes.
** EXACT: none (order-free or integers). ONE: that of each product. TREE: the production kernel's own bound
** (docs/numerics.md).
*/
typedef enum gr_rounding_rule {
  GR_ERR_EXACT,
  GR_ERR_TREE,
  GR_ERR_ONE,
  GR_ERR_N,
  GR_ERR_WARP,
  GR_ERR_BLOCK,
  GR_ERR_SCAN
} gr_rounding_rule;

#define HARRIS "M. Harris, Optimizing Parallel Reduction in CUDA, NVIDIA 2007"
#define KEPLER "J. Luitjens, Faster Parallel Reductions on Kepler, NVIDIA 2014"
#define EXAMPLE "J. Sanders and E. Kandrot, CUDA by Example, 2010, chapter 5"
#define VECTORS "J. Luitjens, Increase Performance with Vectorized Memory Access, NVIDIA 2013"
#define GROUPS "CUDA C++ Programming Guide, Cooperative Groups"
#define FENCE "CUDA C++ Programming Guide, Memory Fence Functions (threadFenceReduction sample)"
#define PROMPT "Y. Lin and V. Grover, Using CUDA Warp-Level Primitives, NVIDIA 2018"
#define GEMS "M. Harris, S. Sengupta and J. Owens, Parallel Prefix Sum (Scan) with CUDA, GPU Gems 3, 2007, chapter 39"
#define PODLO "V. Podlozhnyuk, Histogram calculation in CUDA, NVIDIA 2007"
#define MAXWELL "N. Sakharnykh, Fast Histograms Using Shared Atomics on Maxwell, NVIDIA 2015"

/*
** X(id, operations, name, block rule, default block, rounding rule, same shape on the CPU, description, source).
** On the CPU a rung without a shape of its own there computes as its neighbours do: what it teaches is CUDA's.
*/
#define GR_RUNGS(X) \
  X(NAIVE_ATOMIC, GR_TAUGHT_folds, naive_atomic, ANY, 256, N, 1, \
    "one thread and one global atomic an element", EXAMPLE) \
  X(WARP_ATOMIC, GR_TAUGHT_folds, warp_atomic, WARPS, 256, WARP, 0, \
    "grid-stride loop, shuffle down within the warp, one atomic a warp", KEPLER) \
  X(WARP_BUTTERFLY, GR_TAUGHT_one, warp_butterfly, WARPS, 256, WARP, 0, \
    "shuffle by xor, so that every lane holds the warp's result, one atomic a warp", KEPLER) \
  X(MASKED_WARP, GR_TAUGHT_one, masked_warp, WARPS, 256, WARP, 0, \
    "one element a thread; the last, partial warp shuffles under a mask of its active lanes", PROMPT) \
  X(SHARED_ATOMIC, GR_TAUGHT_folds, shared_atomic, POWER, 256, BLOCK, 0, \
    "grid-stride loop, tree in shared memory with sequential addressing, one atomic a block", HARRIS) \
  X(SHARED_WARP_ATOMIC, GR_TAUGHT_folds, shared_warp_atomic, POWER, 256, BLOCK, 0, \
    "the tree down to 32 values, then a shuffle, one atomic a block", HARRIS "; " KEPLER) \
  X(WARP_BLOCK_ATOMIC, GR_TAUGHT_folds, warp_block_atomic, WARPS, 256, BLOCK, 0, \
    "shuffle, one value a warp through shared memory, shuffle, one atomic a block", KEPLER) \
  X(ELEMENTWISE_HOST, GR_TAUGHT_dot, elementwise_host, ANY, 256, ONE, 1, \
    "all products written out on the device, added on the host", EXAMPLE) \
  X(SHARED_HOST, GR_TAUGHT_folds, shared_host, POWER, 256, BLOCK, 1, \
    "tree in shared memory, block results finished on the host", EXAMPLE) \
  X(TWO_PHASE, GR_TAUGHT_folds, two_phase, POWER, 256, BLOCK, 1, \
    "tree in shared memory, block results finished by a second kernel", HARRIS) \
  X(VECTORIZED, GR_TAUGHT_folds, vectorized, WARPS, 256, WARP, 0, \
    "loads of 16 bytes (float4), one atomic a warp", VECTORS) \
  X(VECTORIZED_TWO_PHASE, GR_TAUGHT_folds, vectorized_two_phase, WARPS, 256, BLOCK, 0, \
    "loads of 16 bytes, shuffles, second kernel: what tutorials call optimized", VECTORS "; " KEPLER) \
  X(COOPERATIVE, GR_TAUGHT_folds, cooperative, WARPS, 256, BLOCK, 0, \
    "one cooperative launch: block results, a barrier of the whole grid, one block finishes", GROUPS) \
  X(SINGLE_PASS, GR_TAUGHT_folds, single_pass, OWN, 0, TREE, 1, \
    "the default: one launch, 16-byte loads, f64 accumulators in a fixed tree, the last block finishes", FENCE) \
  X(F32, GR_TAUGHT_dot | GR_TAUGHT_sum, f32_accumulators, OWN, 0, TREE, 1, \
    "the default's tree with f32 accumulators", "docs/numerics.md") \
  X(F64, GR_TAUGHT_dot | GR_TAUGHT_sum, f64_accumulators, OWN, 0, TREE, 1, \
    "the default's tree with f64 accumulators: the default itself", "docs/numerics.md") \
  X(KAHAN, GR_TAUGHT_dot | GR_TAUGHT_sum, kahan, OWN, 0, TREE, 1, \
    "the default's tree, compensated: the error fed back into the next addition", "W. Kahan, CACM 8(1), 1965") \
  X(NEUMAIER, GR_TAUGHT_dot | GR_TAUGHT_sum, neumaier, OWN, 0, TREE, 1, \
    "the default's tree, compensated: the errors gathered apart", "A. Neumaier, ZAMM 54, 1974") \
  X(BATCHED, GR_TAUGHT_folds, batched, OWN, 0, TREE, 1, \
    "the default with 'rows': all rows in one launch; every other rung launches once a row", "docs/numerics.md") \
  X(HIST_NAIVE, GR_TAUGHT_histogram, naive, ANY, 256, EXACT, 1, \
    "one global atomic an element", PODLO) \
  X(HIST_SHARED, GR_TAUGHT_histogram, shared, ANY, 256, EXACT, 0, \
    "one histogram a block in shared memory, added to the global one at the end", MAXWELL) \
  X(HIST_WARP, GR_TAUGHT_histogram, warp_private, WARPS, 256, EXACT, 0, \
    "one histogram a warp in shared memory", PODLO) \
  X(REPLICATED, GR_TAUGHT_histogram, replicated, OWN, 0, EXACT, 0, \
    "the default of up to 4096 bins: copies of each counter side by side, one for some lanes", "docs/findings") \
  X(LARGE, GR_TAUGHT_histogram, large, OWN, 0, EXACT, 0, \
    "the default above: one histogram a block in all of shared memory, bins shared out among blocks", "docs/findings") \
  X(GLOBAL, GR_TAUGHT_histogram, global, OWN, 0, EXACT, 0, \
    "the default beyond shared memory: L2 atomics behind a small first-come cache", "docs/findings") \
  X(HILLIS_STEELE, GR_TAUGHT_scan, hillis_steele, ANY, 256, SCAN, 0, \
    "log2 n steps over a whole block in shared memory, in three phases", "W. Hillis and G. Steele, CACM 29(12), 1986") \
  X(BLELLOCH, GR_TAUGHT_scan, blelloch, POWER, 256, SCAN, 0, \
    "up-sweep and down-sweep of a tree in shared memory, in three phases", GEMS) \
  X(SCAN_WARP, GR_TAUGHT_scan, warp, WARPS, 256, SCAN, 0, \
    "shuffle up within warps, then over the warps' totals, in three phases", KEPLER) \
  X(THREE_PHASE, GR_TAUGHT_scan, three_phase, WARPS, 256, SCAN, 1, \
    "block scans (4 elements a thread), scan of the block sums (recursively), addition", GEMS) \
  X(SCAN_SINGLE_PASS, GR_TAUGHT_scan, single_pass, OWN, 0, TREE, 1, \
    "the default: one launch, each tile looks back at those before it", \
    "D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, NVIDIA 2016") \
  X(TWO_PASS, GR_TAUGHT_rmsnorm, two_pass, WARPS, 256, BLOCK, 1, \
    "a kernel for the rows' sums of squares, a second one that scales: the data is read twice", KEPLER) \
  X(FUSED, GR_TAUGHT_rmsnorm, fused, OWN, 0, TREE, 1, \
    "the default: a row is read once and waits in registers for its factor", "B. Zhang and R. Sennrich, NeurIPS 2019")

#define GR_X(id, ops, name, rule, block, err, cpu, text, source) GR_RUNG_##id,
typedef enum gr_rung { GR_RUNGS(GR_X) GR_RUNG_COUNT } gr_rung;
#undef GR_X

/*
** One run of one teaching kernel on n dense elements at a.
**   dot, sum    out: one float. min, max: one key (below), uint32. *_HOST: gr_ladder_partials of those instead
**   histogram   counts (bins + 3 int64, zero when the kernel starts: bins, below, above, nan) of int32 samples;
**               bin = (x - first) / width, x == last in the last one; modulo: x mod bins
**   scan        out: n floats, running sums
**   rmsnorm     rows of n elements; b: weights or NULL; out: rows x n floats
*/
typedef struct gr_ladder_job {
  gr_rung rung;
  gr_op op;
  int32_t block;
  int64_t n, rows;
  const void *a, *b;
  void *out;
  int64_t bins, first, last, width;
  int32_t modulo, exclusive;
  double eps;
} gr_ladder_job;

/* The operation of a rung of histograms, scans or rows; else the folds. */
static inline int gr_ladder_family(gr_rung rung) {
#define GR_X(id, ops, name, rule, block, err, cpu, text, source) ops,
  static const unsigned char of[] = {GR_RUNGS(GR_X)};
#undef GR_X
  return of[rung] & GR_TAUGHT_folds ? GR_TAUGHT_folds : of[rung];
}

/* How many values a rung leaves for the host to finish: at most 4096 blocks' sums, or every product. */
static inline int64_t gr_ladder_partials(gr_rung rung, int64_t n, int32_t block) {
  int64_t blocks = (n + block - 1) / block;
  return rung == GR_RUNG_ELEMENTWISE_HOST ? n : blocks < 4096 ? blocks : 4096;
}

/* The most bins whose counters fit the 48 KiB of shared memory that every block may have. */
static inline int64_t gr_ladder_most_bins(gr_rung rung, int32_t block) {
  return rung == GR_RUNG_HIST_SHARED ? 12288 - 3 : rung == GR_RUNG_HIST_WARP ? 12288 / (block / 32) - 3
       : rung == GR_RUNG_REPLICATED ? 4096 : rung == GR_RUNG_LARGE ? 48000 : INT32_MAX;
}

/*
** Floats as unsigned integers in the order of min and max (-0 before +0), so that integer atomics find the extreme and
** their order does not matter. The largest key wins; for min the order is turned round. A NaN beats all; 0 is nobody's.
*/
#ifdef __CUDACC__
#define GR_LADDER_INLINE static __host__ __device__ __forceinline__
#else
#define GR_LADDER_INLINE static inline
#endif
GR_LADDER_INLINE uint32_t gr_ladder_key(float x, uint32_t flip) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (x != x) return 0xffffffffu;
  return (bits >> 31 ? ~bits : bits | 0x80000000u) ^ flip;
}
GR_LADDER_INLINE uint32_t gr_ladder_flip(gr_op op) { return op == GR_OP_min ? 0xffffffffu : 0; }

#endif
