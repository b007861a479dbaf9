/*
** The ladder: {kernel = "..."} runs a tutorial's kernel, or one of the module's own by name, instead of the one that
** the module would choose. Operations and errors are the same as without it.
*/
#ifndef GR_CORE_LADDER_H
#define GR_CORE_LADDER_H

#include "src/core/stopwatch.h"
#include "kernels/ladder/ladder.h"
#include "src/core/ops.h"

/* One row of GR_RUNGS. */
typedef struct gr_rung_info {
  gr_rung rung;
  unsigned operations; /* gr_taught bits */
  const char *name;
  gr_block_rule rule; /* GR_BLOCK_OWN: one of the module's own kernels, of every dtype */
  int block;          /* threads when none are asked for */
  gr_rounding_rule rounding;
  int on_cpu; /* the CPU has an algorithm of the same shape */
  const char *text, *source;
} gr_rung_info;
extern const gr_rung_info gr_rungs[GR_RUNG_COUNT];

const gr_rung_info *gr_rung_named(gr_taught, const char *name); /* or NULL */
int gr_taught_named(const char *name);                          /* the bit of an operation, or 0 */
extern const char *const gr_taught_names[GR_TAUGHT_COUNT + 1];  /* NULL at the end */

/* The error of a rung in words: what 2^-24 x the sum of magnitudes is multiplied by. */
const char *gr_rounding_text(gr_rounding_rule);

/* What a call asks for. timed: 0, or how often to run; seconds: of one run, by two marks of the device around all. */
typedef struct gr_kernel_choice {
  const gr_rung_info *info;
  int block, timed;
  double seconds;
  gr_stopwatch watch;
} gr_kernel_choice;

/* The operation whose usual kernel is that rung's, for one of the module's own. */
gr_op gr_ladder_own(gr_rung, gr_op);

/* dot, sum, min, max: one result for each row into out (f64; min and max: f32), or for the whole: shape.rows == 1. */
gr_status gr_ladder_fold(gr_context *, gr_kernel_choice *, gr_op, gr_shape, const gr_array *a, const gr_array *b,
                         gr_array *out);
gr_status gr_ladder_scan(gr_context *, gr_kernel_choice *, gr_op, const gr_array *a, gr_array *out, int exclusive,
                         int reverse);
gr_status gr_ladder_rmsnorm(gr_context *, gr_kernel_choice *, const gr_array *x, const gr_array *w, gr_array *out,
                            int64_t rows, double eps);

/* The histogram's job is ready but for the choice: runs it, or says why this kernel cannot (GR_BAD). */
gr_status gr_ladder_histogram(gr_context *, gr_kernel_choice *, const gr_array *a, gr_histogram_job *);

#endif
