#include "src/core/ranks/plan.h"

#include <stdio.h>
#include <string.h>
#include "src/core/dtype.h"
#include "src/core/operation.h"
#include "src/core/ranks/borders.h"
#include "src/core/ranks/columns.h"
#include "src/core/ranks/meet.h"

gr_ranks_plan gr_plan_ranks(const gr_comm *comm, const gr_ranks_fold *f) {
  gr_ranks_plan p = {.fold = *f, .starts = comm->starts, .size = comm->size, .rank = comm->rank};
  p.borders = gr_has_borders(p.starts, p.size, f->leaf);
  for (int r = 0; r < p.size; r++) p.all += comm->lengths[r] = gr_ranks_message(f, p.starts, p.size, r);
  p.mine = comm->lengths[p.rank];
  if (gr_leaves_of(p.starts, p.size, p.rank, f->leaf).shared) p.leaf = f->leaf * f->element;
  return p;
}

int64_t gr_plan_edge(const gr_ranks_plan *p) {
  return p->borders && p->fold.device ? p->fold.leaf * p->fold.element : 0;
}

int64_t gr_take_room(int64_t *at, int64_t bytes) {
  const int64_t here = *at;
  *at += (bytes + 63) / 64 * 64;
  return here;
}

gr_ranks_fold gr_fold_of(gr_queue *q, gr_side side, const gr_reduce_job *job) {
  gr_ranks_fold f = gr_ranks_fold_of(job);
  if (side == GR_DEVSIDE && job->n) f.device = q;
  return f;
}

gr_status gr_ask_device(gr_ranks_maker *m, const gr_reduce_job *nodes, int count, gr_acc *states) {
  const int wanted = m->count;
  m->count = 0;
  return m->q->backend->states(m->q, nodes, count, states, m->wanted, wanted);
}

gr_status gr_make_states(void *with, const gr_reduce_job *nodes, int count, int joined, gr_acc *states) {
  gr_ranks_maker *m = with;
  const int there = m->on_device && !joined;
  const gr_status status = there && nodes->count > 1 ? gr_ranks_columns(m->q, nodes, states)
                           : there                   ? gr_ask_device(m, nodes, count, states)
                                                     : m->c->host->cpu()->states(m->q, nodes, count, states, NULL, 0);
  return gr_fail_from(m->c, m->q, status, gr_ops[nodes->op].name, 0);
}

gr_status gr_make_message(gr_context *c, gr_queue *q, const gr_ranks_plan *p, const gr_reduce_job *job,
                          const char *before, char *leaf, char *edge, gr_acc *states, gr_status mine, char *message) {
  gr_ranks_maker m = {.c = c, .q = q, .on_device = p->fold.device != NULL};
  gr_reduce_job first = *job;
  if (p->leaf && mine == GR_OK) {
    const int64_t low = p->starts[p->rank], n = p->starts[p->size], end = (low / p->fold.leaf + 1) * p->fold.leaf;
    mine = gr_border_bring(c, &p->fold, job, low, end < n ? end : n, edge, &first);
  }
  const gr_ranks_part part = {.job = job,
                              .first = &first,
                              .before = before,
                              .room = leaf,
                              .states = states,
                              .make = gr_make_states,
                              .with = &m,
                              .mine = mine};
  return gr_ranks_states(&p->fold, &part, p->starts, p->size, p->rank, message);
}

int gr_any_failed(const gr_ranks_plan *p, const char *all, const int64_t *lengths) {
  int64_t failed, any = 0;
  for (int r = 0; r < p->size; all += p->step ? p->step : lengths[r], r++) {
    memcpy(&failed, all, sizeof failed);
    any |= failed;
  }
  return any != 0;
}

void gr_describe_reduction(const void *of, char *text, size_t room) {
  const gr_reduce_job *job = of;
  char ddof[64] = "", scales[112] = "", a[40], b[40];
  if (job->op == GR_OP_var || job->op == GR_OP_std)
    snprintf(ddof, sizeof ddof, " with ddof %s", gr_ranks_digits(job->ddof, 17, a));
  if (job->scale_a != 1 || job->scale_b != 1)
    snprintf(scales, sizeof scales, " scaled by %s, %s", gr_ranks_digits(job->scale_a, 17, a),
             gr_ranks_digits(job->scale_b, 17, b));
  snprintf(text, room, "%s of %s%s%s", gr_ops[job->op].name, gr_dtypes[job->dtype].name, ddof, scales);
}

gr_status gr_check_ranks_length(gr_context *c, const gr_reduce_job *job, int64_t n) {
  if (n == 0 && gr_ops[job->op].raises_on_empty)
    return gr_fail(c, GR_BAD, "array is empty on all ranks: '%s' needs an element", gr_ops[job->op].name);
  if ((job->op == GR_OP_var || job->op == GR_OP_std) && job->ddof >= (double)n && !(n == 0 && job->ddof == 0))
    return gr_fail(c, GR_BAD, "option 'ddof': less than the length of all ranks %lld expected, got %.14g", (long long)n,
                   job->ddof);
  return GR_OK;
}
