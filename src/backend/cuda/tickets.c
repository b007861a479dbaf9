/*
** Results for later: a launch leaves its numbers and its ticket in a slot of mapped pinned memory, so looking costs the
** host one load. A mark is an event.
*/
#include "src/backend/cuda/function.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "src/core/clock.h"

/* Slots are allocated so many at a time and kept until the queue closes. */
typedef struct gr_cuda_page {
  struct gr_cuda_page *next;
  gr_cuda_mailbox *memory;
  gr_cuda_pending slot[GR_PAGE_SLOTS];
} gr_cuda_page;

static cudaError_t add_page(gr_cuda_queue *q) {
  gr_cuda_page *p = calloc(1, sizeof *p);
  gr_cuda_mailbox *mapped = NULL;
  cudaError_t e = p ? cudaHostAlloc((void **)&p->memory, GR_PAGE_SLOTS * sizeof(gr_cuda_mailbox), cudaHostAllocMapped)
                    : cudaErrorMemoryAllocation;
  if (e == cudaSuccess) e = cudaHostGetDevicePointer((void **)&mapped, p->memory, 0);
  if (e != cudaSuccess) {
    free(p);
    return e;
  }
  memset(p->memory, 0, GR_PAGE_SLOTS * sizeof(gr_cuda_mailbox));
  for (int k = 0; k < GR_PAGE_SLOTS; k++) {
    p->slot[k] = (gr_cuda_pending){.host = p->memory + k, .mapped = mapped + k, .ticket = 1, .next = q->slots};
    q->slots = &p->slot[k];
  }
  p->next = q->pages;
  q->pages = p;
  q->base.pinned += GR_PAGE_SLOTS * sizeof(gr_cuda_mailbox);
  q->base.stats.allocations++;
  return cudaSuccess;
}

gr_status gr_cuda_take_slot(gr_cuda_queue *q, gr_cuda_pending **out) {
  cudaError_t e = q->slots ? cudaSuccess : add_page(q);
  if (e != cudaSuccess) return gr_cuda_check(q, e, "memory for a result");
  *out = q->slots;
  q->slots = (*out)->next;
  return GR_OK;
}

void gr_cuda_give_slot(gr_cuda_queue *q, gr_cuda_pending *p) {
  if (p->waiting > 0) p->ticket++;
  p->next = q->slots;
  q->slots = p;
}

/* Events are timed: a timer is two of them. */
static cudaError_t take_mark(gr_cuda_queue *q, gr_cuda_pending **out) {
  gr_cuda_pending *p = q->marks;
  cudaError_t e = cudaSuccess;
  if (p) q->marks = p->next;
  else {
    if (!(p = calloc(1, sizeof *p))) return cudaErrorMemoryAllocation;
    e = cudaEventCreate(&p->event);
    if (e != cudaSuccess) free(p);
  }
  *out = p;
  return e;
}

void gr_cuda_tickets_close(gr_cuda_queue *q) {
  while (q->marks) {
    gr_cuda_pending *p = q->marks;
    q->marks = p->next;
    (void)cudaEventDestroy(p->event);
    free(p);
  }
  while (q->pages) {
    gr_cuda_page *p = q->pages;
    q->pages = p->next;
    (void)cudaFreeHost(p->memory);
    free(p);
  }
}

/* ---- the backend's functions ---- */

/*
** Whether a reduction is launched by itself. Results for later are often asked for one after another, and beyond a few
** leaves launches that overlap are faster than graphs.
*/
static int is_alone(const gr_cuda_queue *q, const gr_reduce_job *job, int count, int more) {
  return count == 1 && !more && q->batch.count == 0 && job->n * gr_size_of(job->dtype) >= GR_ALONE_BYTES;
}

gr_status gr_cuda_start_jobs(gr_cuda_queue *q, const gr_reduce_job *const *jobs, int count, gr_ticket *const *tickets,
                             int more, const gr_cuda_formula *formula) {
  gr_cuda_pending *p = NULL;
  const int alone = is_alone(q, jobs[0], count, more);
  gr_status status = gr_cuda_take_slot(q, &p);
  if (status == GR_OK) {
    status = alone ? gr_cuda_start_reduce(q, jobs[0], p, formula) : gr_cuda_add_reduce(q, jobs, count, p, formula);
    for (int k = 0; k < count; k++) {
      tickets[k]->slot = p;
      tickets[k]->lane = k;
    }
  }
  if (status != GR_OK) q->batch.count = 0;
  else if (!alone && (!more || q->batch.count == GR_BATCH)) status = gr_cuda_launch_batch(q, gr_op_name(jobs[0]->op));
  return status;
}

GR_CUDA_FUNCTION(gr_cuda_start, gr_cuda_start_jobs(q, jobs, count, tickets, more, NULL), gr_queue *base,
                 const gr_reduce_job *const *jobs, int count, gr_ticket *const *tickets, int more)

static gr_status mark(gr_cuda_queue *q, gr_ticket *t) {
  gr_cuda_pending *p = NULL;
  const gr_status status = gr_cuda_check(q, take_mark(q, &p), "making an event");
  if (status != GR_OK) return status;
  p->users = 1;
  t->slot = p;
  return gr_cuda_check(q, cudaEventRecord(p->event, q->stream), "recording an event");
}
GR_CUDA_FUNCTION(gr_cuda_mark, mark(q, t), gr_queue *base, gr_ticket *t)

static gr_status poll_mark(gr_cuda_queue *q, gr_ticket *t, int64_t limit) {
  const gr_cuda_pending *p = t->slot;
  const struct timespec nap = {0, GR_MARK_NAP};
  cudaError_t e;
  if (limit < 0) e = cudaEventSynchronize(p->event);
  else {
    int64_t began = gr_nanoseconds();
    while ((e = cudaEventQuery(p->event)) == cudaErrorNotReady && gr_nanoseconds() - began < limit)
      nanosleep(&nap, NULL);
  }
  if (e == cudaErrorNotReady) return (void)cudaGetLastError(), GR_OK;
  t->done = e == cudaSuccess;
  return gr_cuda_check(q, e, "waiting");
}

gr_status gr_cuda_poll(gr_queue *base, gr_ticket *t, int64_t limit) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  gr_cuda_pending *p = t->slot;
  gr_status status = GR_OK;
  if (t->done) return GR_OK;
  t->done = !p->event && gr_cuda_has_arrived(p, t->lane); /* nothing to ask the device */
  if (!t->done) {
    int was = gr_cuda_enter(q);
    if (was < 0) return GR_DEVICE;
    if (p->event) status = poll_mark(q, t, limit);
    else status = gr_cuda_await_reduce(q, p, t->lane, limit, "the kernel", &t->done);
    gr_cuda_leave(q, was);
  }
  if (t->done && !p->event) gr_cuda_take(p, t->lane, t->words);
  return status;
}

void gr_cuda_forget(gr_queue *base, gr_ticket *t) {
  gr_cuda_queue *q = (gr_cuda_queue *)base;
  gr_cuda_pending *p = t->slot;
  t->slot = NULL;
  if (!p || --p->users > 0) return;
  if (!p->event) {
    gr_cuda_give_slot(q, p);
    return;
  }
  p->next = q->marks;
  q->marks = p;
}

static gr_status elapsed(gr_cuda_queue *q, const gr_cuda_pending *from, const gr_cuda_pending *to, double *seconds) {
  float milliseconds = 0;
  const gr_status status = gr_cuda_check(q, cudaEventElapsedTime(&milliseconds, from->event, to->event), "timing");
  *seconds = 1e-3 * (double)milliseconds;
  return status;
}
GR_CUDA_FUNCTION(gr_cuda_elapsed, elapsed(q, from->slot, to->slot, seconds), gr_queue *base, const gr_ticket *from,
                 const gr_ticket *to, double *seconds)
