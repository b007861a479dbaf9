#include "src/core/word.h"

gr_status gr_word_ask(gr_context *c, gr_queue *q, const int64_t *at, gr_ticket *ticket, const char *name) {
  const gr_reduce_job sum = {
      .op = GR_OP_sum, .dtype = GR_I64, .n = 1, .count = 1, .a = {.data = at, .stride = 8}, .scale_a = 1, .scale_b = 1};
  const gr_reduce_job *const jobs[] = {&sum};
  *ticket = (gr_ticket){0};
  return gr_fail_from(c, q, q->backend->start(q, jobs, 1, &ticket, 0), name, 0);
}

gr_status gr_word_hear(gr_context *c, gr_queue *q, gr_ticket *ticket, gr_status status, const char *name,
                       int64_t *word) {
  if (status == GR_OK && !ticket->done) {
    q->stats.syncs++;
    status = gr_fail_from(c, q, q->backend->poll(q, ticket, -1), name, 0);
  }
  q->backend->forget(q, ticket);
  *word = (int64_t)ticket->words[0];
  return status;
}
