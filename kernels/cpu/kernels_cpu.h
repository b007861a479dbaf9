/*
** The CPU's kernels: what src/backend/cpu.c calls. They allocate nothing and lock nothing; pieces of large
** jobs are handed to gr_parallel (below), which the backend points at its thread pool.
*/
#ifndef GR_KERNELS_CPU_H
#define GR_KERNELS_CPU_H

#include "kernels/operator.h"
#include "kernels/numerics/digest.h"
#include "kernels/numerics/exact.h"
#include "kernels/numerics/numerics.h"
#include "kernels/cpu/stop.h"

#if defined(__GNUC__)
#define GR_PREFETCH(p) __builtin_prefetch(p)
#define GR_PREFETCH_SECOND(p) __builtin_prefetch(p, 0, 2) /* into the second cache */
#else
#define GR_PREFETCH(p) ((void)(p))
#define GR_PREFETCH_SECOND(p) ((void)(p))
#endif

/*
** Runs body(arg, k) for k = 0 .. pieces - 1, on any threads in any order; returns when all are done or it is stopped.
*/
typedef void (*gr_parallel)(int64_t pieces, void (*body)(void *arg, int64_t k), void *arg);

/* `units` of work, `size` to a piece; a single piece, or all without parallel, on the caller's thread. */
static inline void gr_in_pieces(gr_parallel parallel, int64_t units, int64_t size, void (*body)(void *, int64_t),
                                void *arg) {
  const int64_t count = units / size + (units % size != 0);
  if (parallel && count > 1) parallel(count, body, arg);
  else
    for (int64_t k = 0; k < count && !(k && gr_stopped()); k++) body(arg, k);
}

/* The same for a body that is told from which unit to which: body(arg, from, end). */
typedef struct gr_ranges {
  void (*body)(void *arg, int64_t from, int64_t end);
  void *arg;
  int64_t units, size;
} gr_ranges;

static inline void gr_do_range(void *ranges, int64_t k) {
  const gr_ranges *r = (const gr_ranges *)ranges;
  const int64_t from = k * r->size, left = r->units - from;
  r->body(r->arg, from, left < r->size ? r->units : from + r->size);
}

static inline void gr_in_ranges(gr_parallel parallel, int64_t units, int64_t size,
                                void (*body)(void *arg, int64_t from, int64_t end), const void *arg) {
  gr_ranges r = {body, (void *)(uintptr_t)arg, units, size};
  gr_in_pieces(parallel, units, size, gr_do_range, &r);
}

/* "sse2", "avx2", "avx512", "neon" or "generic": what is in use. force == NULL: the best the CPU has. NULL: not
   possible. */
const char *gr_cpu_select(const char *force);
const char *gr_cpu_in_use(void);

/* The first vector of the job, as a number: out, out2 and out_dtype are ignored. */
gr_value gr_cpu_reduce_value(const gr_reduce_job *, gr_parallel);

/* The states of all vectors (count of them), which have an element and begin where a leaf begins. */
void gr_cpu_reduce_states(const gr_reduce_job *, gr_acc *states, gr_parallel);

/* The same for a vector or two that lie side by side, ddof 0, here and at once. */
void gr_cpu_reduce_small(gr_op, gr_dtype, const void *a, const void *b, int64_t n, gr_value *);

/* How gr_cpu_reduce would go about it with so many threads; parallel: whether it gets a gr_parallel. */
void gr_cpu_explain(const gr_reduce_job *, int threads, int parallel, gr_explained *);

void gr_cpu_explain_scan(const gr_scan_job *, int threads, gr_explained *);
void gr_cpu_explain_histogram(const gr_histogram_job *, int threads, gr_explained *);

/*
** Like the launchers of kernels/cuda/launch.h. Inputs and outputs are host pointers; or inputs come from a formula
** (kernels/cpu/formula/feed.h), else NULL.
*/
typedef struct gr_feed gr_feed;
void gr_cpu_reduce(const gr_reduce_job *, gr_parallel);

/* With many bins every thread counts in a table of its own: how many bytes that takes (0: none), and the room
   itself. */
int64_t gr_cpu_histogram_room(const gr_histogram_job *, int threads);
void gr_cpu_histogram(const gr_histogram_job *, gr_feed *, gr_parallel, void *room, int64_t bytes);
void gr_cpu_weights(const gr_weights_job *, gr_feed *, gr_parallel);
void gr_cpu_scan(const gr_scan_job *, gr_feed *, gr_parallel);
void gr_cpu_softmax(const gr_softmax_job *, gr_parallel);
void gr_cpu_digits(const gr_digits_job *, gr_parallel);
void gr_cpu_pick(const gr_pick_job *, gr_parallel);
void gr_cpu_rmsnorm(const gr_rmsnorm_job *, gr_parallel);
void gr_cpu_fill(const gr_fill_job *, gr_parallel);
void gr_cpu_copy(const gr_copy_job *, gr_parallel);
void gr_cpu_random(const gr_random_job *, gr_parallel);
void gr_cpu_whole(const gr_whole_job *, gr_parallel);
void gr_cpu_order(const gr_order_job *, gr_parallel);
void gr_cpu_edges(const gr_edges_job *, gr_parallel);
void gr_cpu_map(const gr_map_job *, gr_parallel);
void gr_cpu_compact(const gr_compact_job *, gr_feed *, gr_parallel);
void gr_cpu_lookup(const gr_lookup_job *, gr_parallel);
void gr_cpu_put(const gr_put_job *, gr_parallel, int threads);

/*
** A formula, in two steps: the plan, in room of so many bytes, says what memory it takes to run (on 64 bytes), with so
** many threads.
*/
int64_t gr_cpu_formula_room(const gr_formula_job *);
int64_t gr_cpu_formula_plan(const gr_formula_job *, void *room, int threads);
void gr_cpu_formula(const gr_formula_job *, void *room, void *memory, gr_parallel);
/* Of a job that feeds an operation: what that takes. */
gr_feed *gr_cpu_formula_feed(void *room, void *memory);

/* Columns of a formula's elements alone. */
void gr_cpu_columns(const gr_reduce_job *, gr_feed *, gr_parallel);

/* The same for custom operators. */
int64_t gr_cpu_operator_room(const gr_operator_job *);
int64_t gr_cpu_operator_plan(const gr_operator_job *, void *room, int threads);
void gr_cpu_operator(const gr_operator_job *, void *room, void *memory, gr_parallel);

/* Into sums[0 .. count - 1]; room: `rooms` accumulators for the pieces of long vectors (0: none). */
void gr_cpu_exact(const gr_exact_job *, gr_feed *, gr_exact *sums, gr_exact *room, int rooms, gr_parallel);

void gr_cpu_digest(const gr_digest_job *, uint64_t result[2], gr_parallel);

/* The total of elements from .. from + n - 1: of sums and products of floats whole tiles of a node, of all else any. */
gr_acc gr_cpu_scan_total(const gr_scan_job *, int64_t from, int64_t n);
/* The results of a part, on this thread. */
void gr_cpu_scan_part(const gr_scan_part *);

#endif
