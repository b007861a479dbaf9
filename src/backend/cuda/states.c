/*
** States of nodes of the tree, for ranks to send each other: what reductions leave in a mailbox, folded but not
** finished.
*/
#include "src/backend/cuda/function.h"

static const char what[] = "states over ranks";
#define ROOM (GR_BATCH - GR_BROUGHT) /* launches beside those of what is brought along */

/*
** States of several vectors: GR_ARRAYS are a launch, whose slot they share. Their launches go together, along with what
** is in the batch.
*/
static gr_status make_states(gr_cuda_queue *q, const gr_reduce_job *jobs, int count, gr_acc *states) {
  gr_cuda_pending *slots[GR_BATCH];
  gr_status status = GR_OK;
  int taken = 0, there;
  for (int k = 0; status == GR_OK && k < count;) {
    const gr_reduce_job *list[GR_ARRAYS];
    int some = 0;
    while (some < GR_ARRAYS && k < count) list[some++] = &jobs[k++];
    status = gr_cuda_take_slot(q, &slots[taken]);
    if (status == GR_OK) status = gr_cuda_add_reduce(q, list, some, slots[taken++], NULL);
  }
  if (status == GR_OK) status = gr_cuda_launch_batch(q, gr_op_name(jobs->op));
  else q->batch.count = 0;
  q->base.stats.syncs++;
  for (int k = 0; k < count && status == GR_OK; k++) {
    gr_cuda_pending *slot = slots[k / GR_ARRAYS];
    const gr_mailbox_shape *shape = &slot->mailbox;
    const int lane = k % GR_ARRAYS, halves = 2 * shape->states * shape->fields;
    status = gr_cuda_await_reduce(q, slot, lane, -1, gr_op_name(jobs->op), &there);
    if (status == GR_OK) states[k] = gr_mailbox_state(slot->host->words + lane * halves, shape, jobs->op, jobs->dtype);
    slot->waiting -= status == GR_OK;
  }
  for (int k = 0; k < taken; k++) gr_cuda_give_slot(q, slots[k]);
  return status;
}

/* Whether pieces may be sent ahead: what is reduced by halves uses the mailbox that says when they have come. */
static int goes_ahead(const gr_reduce_job *jobs, int count, const gr_brought *b, int brought) {
  for (int k = 0; k < count; k++)
    if (gr_cuda_is_too_long(&jobs[k])) return 0;
  return brought > 0 && gr_cuda_can_bring(b, brought);
}

static gr_status bring_states(gr_cuda_queue *q, const gr_reduce_job *jobs, int count, gr_acc *states,
                              const gr_brought *b, int brought) {
  const int ahead = goes_ahead(jobs, count, b, brought);
  gr_status status = gr_cuda_launch_batch(q, what); /* of others before */
  if (ahead && status == GR_OK) status = gr_cuda_bring(q, b, brought);
  if (ahead && status == GR_OK && !count) status = gr_cuda_launch_batch(q, what);
  if (status != GR_OK) q->batch.count = 0;
  q->base.stats.syncs += ahead && !count; /* else that of the states is the only wait */
  for (int k = 0; k < brought && !ahead && status == GR_OK; k++)
    status = gr_cuda_download(&q->base, b[k].host, b[k].device, b[k].bytes);
  for (int from = 0, k; from < count && status == GR_OK; from = k) {
    for (k = from; k < count && k - from < ROOM * GR_ARRAYS && !gr_cuda_is_too_long(&jobs[k]);) k++;
    if (k > from) status = make_states(q, jobs + from, k - from, states + from);
    else status = gr_cuda_reduce_halves(q, &jobs[k], &states[k]), k++;
  }
  if (ahead && status == GR_OK) status = gr_cuda_await_brought(q, b, brought);
  return status;
}
GR_CUDA_FUNCTION(gr_cuda_do_states, bring_states(q, jobs, count, states, b, brought), gr_queue *base,
                 const gr_reduce_job *jobs, int count, gr_acc *states, const gr_brought *b, int brought)
