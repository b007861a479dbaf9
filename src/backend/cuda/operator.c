/*
** Operators of somebody's own: their map and merge are compiled into a kernel of its own (kernels/cuda/formula), which
** runs on the plan, the scratch memory and the mailbox of a reduction. What comes to the mailbox is one state.
*/
#include "src/backend/cuda/function.h"

#include <string.h>

#include "src/backend/jit/compiled.h"

#define WORDS (2 * GR_OPERATOR_STATES) /* of 32 bits, of a state */

/* The state's words as elements in 8 bytes each. */
static void take_states(const gr_operator *op, const gr_cuda_pending *slot, uint64_t *states) {
  uint32_t words[WORDS];
  int at = 0;
  for (int k = 0; k < 2 * slot->mailbox.fields && k < WORDS; k++) words[k] = (uint32_t)(slot->host->words[k] >> 32);
  for (int k = 0; k < op->states; k++) {
    states[k] = words[at++];
    if (gr_size_of(op->state[k]) == 8) states[k] |= (uint64_t)words[at++] << 32;
  }
}

/* The plan is that of a sum of such elements; dtypes of one size differ in nothing that it looks at. */
static gr_reduce_job planned_as(const gr_operator_job *job) {
  return (gr_reduce_job){
      .op = GR_OP_sum, .dtype = job->op->dtype, .n = job->n, .count = 1, .a = job->a, .scale_a = 1.0, .scale_b = 1.0};
}

static gr_status reduce(gr_cuda_queue *q, const gr_operator_job *job, uint64_t *states) {
  const gr_reduce_job own = planned_as(job), *list = &own;
  uint64_t words[GR_JIT_WORDS];
  gr_jit_code code;
  const char *why;
  int there;
  if (job->op->ordered || job->n > GR_MOST_LEAVES * GR_LEAF(gr_size_of(job->op->dtype))) return GR_NOT_FUSED;
  if (!gr_jit_operator_code(job->op, &code, words)) return GR_NOT_FUSED;
  gr_compiled *found = gr_jit_take(q->device->chip.device, &code, &why);
  if (!found) return !strcmp(why, "out of memory") ? GR_NO_MEMORY : GR_NOT_FUSED;
  const gr_cuda_formula formula = {.function = found->function,
                                   .compiled = found,
                                   .resident = found->resident,
                                   .fields = (gr_jit_skeleton_words(gr_jit_state_words(&code)) + 1) / 2,
                                   .alone = 1,
                                   .count = gr_jit_words(&code),
                                   .words = words,
                                   .launch = gr_jit_launch};
  gr_status status = gr_cuda_launch_batch(q, "operator"); /* of others before */
  if (status == GR_OK) status = gr_cuda_add_reduce(q, &list, 1, &q->now, &formula);
  if (status == GR_OK) status = gr_cuda_launch_batch(q, "operator");
  else q->batch.count = 0;
  q->base.stats.syncs += status == GR_OK;
  gr_jit_let_go(found);
  if (status == GR_OK) status = gr_cuda_await_reduce(q, &q->now, 0, -1, "operator", &there);
  q->now.waiting -= status == GR_OK;
  if (status == GR_OK) take_states(job->op, &q->now, states);
  return status;
}

GR_CUDA_FUNCTION(gr_cuda_do_operator, reduce(q, job, states), gr_queue *base, const gr_operator_job *job,
                 uint64_t *states)
