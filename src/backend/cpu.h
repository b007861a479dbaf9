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
gr_status gr_cpu_do_states(gr_queue *, const gr_reduce_job *jobs, int count, gr_acc *states, const gr_brought *,
                           int brought);
gr_status gr_cpu_do_exact(gr_queue *, const gr_exact_job *, gr_exact *sums);
gr_status gr_cpu_do_digest(gr_queue *, const gr_digest_job *, uint64_t result[2]);

#define GR_X(name) gr_status gr_cpu_do_##name(gr_queue *, const gr_##name##_job *);
GR_JOBS(GR_X)
#undef GR_X

#define GR_CPU_ROW(name) , .name = gr_cpu_do_##name
#define GR_CPU_OPERATIONS \
  .explain_scan = gr_cpu_do_explain_scan, .explain_histogram = gr_cpu_do_explain_histogram GR_JOBS(GR_CPU_ROW)

#endif
