/* The CPU, and the parts of its backend that the pretend device uses too. */
#ifndef GR_BACKEND_CPU_H
#define GR_BACKEND_CPU_H

#include "src/core/backend.h"

gr_backend *gr_cpu_backend(void); /* one in the process */

void *gr_cpu_alloc(gr_backend *, size_t bytes);
void gr_cpu_free(gr_backend *, void *block, size_t bytes);
size_t gr_cpu_available(gr_backend *);
/* Of a structure that begins with a gr_queue. */
gr_queue *gr_cpu_open_sized(gr_backend *, size_t bytes, gr_status *why);
void gr_cpu_close(gr_queue *);
gr_status gr_cpu_zero(gr_queue *, void *device, size_t bytes);

gr_status gr_cpu_mark(gr_queue *, gr_ticket *);
gr_status gr_cpu_elapsed(gr_queue *, const gr_ticket *from, const gr_ticket *to, double *seconds);

gr_status gr_cpu_do_reduce(gr_queue *, const gr_reduce_job *, uint64_t *result);
void gr_cpu_do_explain(gr_queue *, const gr_reduce_job *, int number, gr_explained *);
void gr_cpu_do_explain_scan(gr_queue *, const gr_scan_job *, gr_explained *);
void gr_cpu_do_explain_histogram(gr_queue *, const gr_histogram_job *, gr_explained *);
gr_status gr_cpu_do_histogram(gr_queue *, const gr_histogram_job *);
gr_status gr_cpu_do_weights(gr_queue *, const gr_weights_job *);
gr_status gr_cpu_do_scan(gr_queue *, const gr_scan_job *);
gr_status gr_cpu_do_softmax(gr_queue *, const gr_softmax_job *);
gr_status gr_cpu_do_digits(gr_queue *, const gr_digits_job *);
gr_status gr_cpu_do_pick(gr_queue *, const gr_pick_job *);
gr_status gr_cpu_do_rmsnorm(gr_queue *, const gr_rmsnorm_job *);
gr_status gr_cpu_do_fill(gr_queue *, const gr_fill_job *);
gr_status gr_cpu_do_copy(gr_queue *, const gr_copy_job *);
gr_status gr_cpu_do_random(gr_queue *, const gr_random_job *);
gr_status gr_cpu_do_whole(gr_queue *, const gr_whole_job *);
gr_status gr_cpu_do_order(gr_queue *, const gr_order_job *);
gr_status gr_cpu_do_edges(gr_queue *, const gr_edges_job *);
gr_status gr_cpu_do_ladder(gr_queue *, const gr_ladder_job *);
gr_status gr_cpu_do_states(gr_queue *, const gr_reduce_job *jobs, int count, gr_acc *states, const gr_brought *,
                           int brought);
gr_status gr_cpu_do_exact(gr_queue *, const gr_exact_job *, gr_exact *sums);
gr_status gr_cpu_do_map(gr_queue *, const gr_map_job *);
gr_status gr_cpu_do_compact(gr_queue *, const gr_compact_job *);
gr_status gr_cpu_do_lookup(gr_queue *, const gr_lookup_job *);
gr_status gr_cpu_do_put(gr_queue *, const gr_put_job *);
gr_status gr_cpu_do_digest(gr_queue *, const gr_digest_job *, uint64_t result[2]);

#define GR_CPU_OPERATIONS                                                                                           \
  .histogram = gr_cpu_do_histogram, .scan = gr_cpu_do_scan, .rmsnorm = gr_cpu_do_rmsnorm,                           \
  .weights = gr_cpu_do_weights, .softmax = gr_cpu_do_softmax, .digits = gr_cpu_do_digits, .pick = gr_cpu_do_pick,   \
  .fill = gr_cpu_do_fill, .copy = gr_cpu_do_copy, .random = gr_cpu_do_random, .edges = gr_cpu_do_edges,             \
  .ladder = gr_cpu_do_ladder, .map = gr_cpu_do_map, .compact = gr_cpu_do_compact, .lookup = gr_cpu_do_lookup,       \
  .put = gr_cpu_do_put, .whole = gr_cpu_do_whole, .order = gr_cpu_do_order, .explain_scan = gr_cpu_do_explain_scan, \
  .explain_histogram = gr_cpu_do_explain_histogram

#endif
