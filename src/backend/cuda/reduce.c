/*
** Reductions: to an array, which is one launch, or to numbers that the host waits for (src/backend/cuda/graph.c
** launches these). Those come to a slot of mapped memory as states (kernels/cuda/grid/mailbox.h), and are folded here.
*/
#include "src/backend/cuda/function.h"

#include "kernels/numerics/numerics.h"

static int halves_of(const gr_cuda_pending *p) { return 2 * p->mailbox.states * p->mailbox.fields; } /* of one result */

/* The run of one whose results go to a slot. */
static gr_cuda_run prepare_mailbox(gr_cuda_queue *q, const gr_reduce_job *const *jobs, int count, gr_cuda_pending *slot,
                                   const gr_cuda_formula *formula) {
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  run.formula = formula;
  run.done = slot->mapped->words;
  run.ticket = slot->ticket;
  run.mailbox = &slot->mailbox;
  for (int k = 0; k < count; k++) slot->op[k] = jobs[k]->op;
  slot->dtype = jobs[0]->dtype;
  slot->n = jobs[0]->n;
  slot->ddof = jobs[0]->ddof;
  slot->users = slot->waiting = count;
  return run;
}

gr_status gr_cuda_add_reduce(gr_cuda_queue *q, const gr_reduce_job *const *jobs, int count, gr_cuda_pending *slot,
                             const gr_cuda_formula *formula) {
  gr_cuda_run run = prepare_mailbox(q, jobs, count, slot, formula);
  run.batch = &q->batch;
  int error = count == 1 ? gr_cuda_reduce(jobs[0], &run) : gr_cuda_reduce_arrays(jobs, count, &run);
  gr_cuda_clear_mailbox(slot->host->words, count * halves_of(slot));
  return gr_cuda_check(q, (cudaError_t)error, gr_op_name(jobs[0]->op));
}

/* A ticket of its own says what is new in the slot: how much will come is not known before the launch. */
gr_status gr_cuda_start_reduce(gr_cuda_queue *q, const gr_reduce_job *job, gr_cuda_pending *slot,
                               const gr_cuda_formula *formula) {
  slot->ticket++;
  gr_cuda_run run = prepare_mailbox(q, &job, 1, slot, formula);
  return gr_cuda_launched(q, gr_cuda_reduce(job, &run), gr_op_name(job->op));
}

int gr_cuda_has_arrived(const gr_cuda_pending *p, int lane) {
  return gr_mailbox_arrived(p->host->words + lane * halves_of(p), halves_of(p), p->ticket);
}

gr_status gr_cuda_await_reduce(gr_cuda_queue *q, const gr_cuda_pending *p, int lane, int64_t limit, const char *what,
                               int *there) {
  return gr_cuda_await(q, p->host->words + lane * halves_of(p), halves_of(p), p->ticket, limit, what, there);
}

void gr_cuda_take(gr_cuda_pending *p, int lane, uint64_t words[2]) {
  p->waiting--;
  gr_value r =
      gr_mailbox_value(p->host->words + lane * halves_of(p), &p->mailbox, p->op[lane], p->dtype, p->n, p->ddof);
  for (int k = 0; k < 2; k++) words[k] = (uint64_t)r.v[k].i;
}

/* Its states are in the slot afterwards. */
static gr_status reduce_to_slot(gr_cuda_queue *q, const gr_reduce_job *job) {
  int there;
  gr_status status = gr_cuda_add_reduce(q, &job, 1, &q->now, NULL);
  q->base.stats.syncs++;
  if (status == GR_OK) status = gr_cuda_launch_batch(q, gr_op_name(job->op));
  if (status == GR_OK) status = gr_cuda_await_reduce(q, &q->now, 0, -1, gr_op_name(job->op), &there);
  return status;
}

static int64_t half_of(const gr_reduce_job *job) { return GR_MOST_LEAVES * GR_LEAF(gr_size_of(job->dtype)); }
int gr_cuda_is_too_long(const gr_reduce_job *job) { return job->n > half_of(job) && job->n <= 2 * half_of(job); }

/* Of the two halves of its tree, one after the other, merged here. More than two would not be the same tree. */
gr_status gr_cuda_reduce_halves(gr_cuda_queue *q, const gr_reduce_job *job, gr_acc *whole) {
  const gr_reducer red = gr_reducer_of(job->op, job->dtype);
  const gr_acc_kind kind = gr_acc_kind_of(red, job->dtype);
  const int64_t half = half_of(job);
  for (int64_t from = 0; from < job->n; from += half) {
    gr_reduce_job part = *job;
    part.a.data = (const char *)job->a.data + from * job->a.stride;
    if (job->b.data) part.b.data = (const char *)job->b.data + from * job->b.stride;
    part.n = job->n - from < half ? job->n - from : half;
    gr_status status = reduce_to_slot(q, &part);
    if (status != GR_OK) return status;
    q->now.waiting--;
    gr_acc state = gr_mailbox_state(q->now.host->words, &q->now.mailbox, job->op, job->dtype);
    if (kind == GR_ACC_POSITION) state.i[1] += from;
    *whole = from ? gr_merge(red, kind, *whole, state) : state;
  }
  return GR_OK;
}

static gr_status reduce_to_host(gr_cuda_queue *q, const gr_reduce_job *job, uint64_t *result) {
  gr_acc whole = {{0, 0, 0}};
  const int halves = gr_cuda_is_too_long(job);
  gr_status status = halves ? gr_cuda_reduce_halves(q, job, &whole) : reduce_to_slot(q, job);
  if (status != GR_OK) return status;
  if (!halves) return gr_cuda_take(&q->now, 0, result), GR_OK;
  gr_value r = gr_finish(job->op, job->dtype, whole, job->n, job->ddof);
  for (int k = 0; k < 2; k++) result[k] = (uint64_t)r.v[k].i;
  return GR_OK;
}

void gr_cuda_do_explain(gr_queue *base, const gr_reduce_job *job, int number, gr_explained *e) {
  gr_cuda_explain(job, &((gr_cuda_queue *)base)->device->chip, number, e);
}

static gr_status reduce(gr_cuda_queue *q, const gr_reduce_job *job, uint64_t *result) {
  if (result) return reduce_to_host(q, job, result);
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  return gr_cuda_launched(q, gr_cuda_reduce(job, &run), gr_op_name(job->op));
}
GR_CUDA_FUNCTION(gr_cuda_do_reduce, reduce(q, job, result), gr_queue *base, const gr_reduce_job *job, uint64_t *result)
