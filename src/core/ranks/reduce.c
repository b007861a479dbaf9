#include "src/core/ranks/reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include "src/core/dtype.h"
#include "src/core/operation.h"
#include "src/core/ranks/borders.h"
#include "src/core/ranks/meet.h"

/* What a call needs besides what comes over borders, in one block. */
typedef struct plan {
  gr_ranks_fold fold;
  const int64_t *starts;
  int size, rank, borders;
  int64_t mine, all, leaf; /* bytes: of messages, of a leaf that is put together */
} plan;

static plan plan_of(const gr_comm *comm, const gr_ranks_fold *f) {
  plan p = {.fold = *f, .starts = comm->starts, .size = comm->size, .rank = comm->rank};
  p.borders = gr_has_borders(p.starts, p.size, f->leaf);
  for (int r = 0; r < p.size; r++) p.all += comm->lengths[r] = gr_ranks_message(f, p.starts, p.size, r);
  p.mine = comm->lengths[p.rank];
  if (gr_leaves_of(p.starts, p.size, p.rank, f->leaf).shared) p.leaf = f->leaf * f->element;
  return p;
}

/* Where things lie in the block; sizes are rounded, so that all are aligned. */
static int64_t take(int64_t *at, int64_t bytes) {
  const int64_t here = *at;
  *at += (bytes + 63) / 64 * 64;
  return here;
}

typedef struct layout {
  int64_t mine, all, leaf, states, bytes;
} layout;

static layout layout_of(const plan *p) {
  layout l = {0};
  int64_t at = 0;
  l.mine = take(&at, p->mine);
  l.all = take(&at, p->all);
  l.leaf = take(&at, p->leaf);
  l.states = take(&at, p->fold.count * (int64_t)sizeof(gr_acc));
  l.bytes = at;
  return l;
}

typedef struct maker {
  gr_context *c;
  gr_queue *q;
} maker;

static gr_status make_states(void *with, const gr_reduce_job *job, gr_acc *states) {
  const maker *m = with;
  return gr_fail_from(m->c, m->q, m->c->host->cpu()->states(m->q, job, states), gr_ops[job->op].name, 0);
}

/* Whether a rank says in its message that it has none. */
static int any_failed(const plan *p, const char *all, const int64_t *lengths) {
  int64_t failed, any = 0;
  for (int r = 0; r < p->size; all += lengths[r++]) {
    memcpy(&failed, all, sizeof failed);
    any |= failed;
  }
  return any != 0;
}

static gr_status run(gr_context *c, gr_queue *q, const plan *p, const gr_reduce_job *job, const char *before,
                     char *block, gr_acc *states) {
  const layout l = layout_of(p);
  int64_t *lengths = c->comm->lengths;
  char *all = block + l.all;
  maker m = {c, q};
  const gr_status mine = gr_ranks_states(&p->fold, job, p->starts, p->size, p->rank, before, block + l.leaf,
                                         (gr_acc *)(block + l.states), make_states, &m, block + l.mine);
  gr_status status = gr_ranks_moved(c, c->comm->table->gather_parts(c->comm->handle, block + l.mine, all, lengths));
  if (status == GR_OK && any_failed(p, all, lengths)) status = gr_ranks_agree(c, mine);
  if (status == GR_OK) gr_ranks_fold_all(&p->fold, p->starts, p->size, all, states);
  return status;
}

/* With no more than this, and nothing at borders, a call takes no memory that could run out. */
#define NEAR 4096

gr_status gr_ranks_reduce(gr_context *c, gr_queue *q, const gr_reduce_job *job, gr_acc *states) {
  gr_ranks_fold f = gr_ranks_fold_of(job);
  _Alignas(64) char near[NEAR];
  char *before = NULL;
  f.element = f.element / (f.count ? f.count : 1) * c->comm->width;
  f.count = c->comm->width;
  const plan p = plan_of(c->comm, &f);
  const layout l = layout_of(&p);
  /* Known to all ranks: 64 for each of what is rounded, and no rank's message is longer than all of them. */
  if (!p.borders && 2 * p.all + f.count * (int64_t)sizeof(gr_acc) + 1024 <= NEAR)
    return run(c, q, &p, job, NULL, near, states);
  gr_status status = gr_context_allows(c, (size_t)l.bytes);
  char *block = status == GR_OK ? malloc((size_t)l.bytes) : NULL;
  if (status == GR_OK && !block) status = gr_fail(c, GR_NO_MEMORY, "out of memory: %lld bytes", (long long)l.bytes);
  status = p.borders ? gr_ranks_borders(c, &f, job, 0, &before, status) : gr_ranks_agree(c, status);
  if (status == GR_OK) status = run(c, q, &p, job, before, block, states);
  free(before);
  free(block);
  return status;
}

/* All that ranks must agree on, but how many vectors there are. */
static void describe(const gr_reduce_job *job, char *text, size_t room) {
  char ddof[48] = "", scales[96] = "";
  if (job->op == GR_OP_var || job->op == GR_OP_std) snprintf(ddof, sizeof ddof, " with ddof %.17g", job->ddof);
  if (job->scale_a != 1 || job->scale_b != 1)
    snprintf(scales, sizeof scales, " scaled by %.17g, %.17g", job->scale_a, job->scale_b);
  snprintf(text, room, "%s of %s%s%s", gr_ops[job->op].name, gr_dtypes[job->dtype].name, ddof, scales);
}

/* After the meeting, so the same on all ranks. */
static gr_status check_length(gr_context *c, const gr_reduce_job *job, int64_t n) {
  if (n == 0 && gr_ops[job->op].raises_on_empty)
    return gr_fail(c, GR_BAD, "array is empty on all ranks: '%s' needs an element", gr_ops[job->op].name);
  if ((job->op == GR_OP_var || job->op == GR_OP_std) && job->ddof >= (double)n && !(n == 0 && job->ddof == 0))
    return gr_fail(c, GR_BAD, "option 'ddof': less than the length of all ranks %lld expected, got %.14g", (long long)n,
                   job->ddof);
  return GR_OK;
}

gr_status gr_ranks_vectors(gr_context *c, gr_queue *q, const gr_reduce_job *job, gr_status mine, gr_acc **states,
                           int64_t *n) {
  char text[GR_CARD_TEXT];
  describe(job, text, sizeof text);
  gr_status status = gr_ranks_meet(c, text, job->n, job->n ? job->count : 0, mine);
  *n = gr_ranks_all(c);
  if (status == GR_OK) status = check_length(c, job, *n);
  if (status != GR_OK) return status;
  *states = malloc((size_t)c->comm->width * sizeof **states + 1);
  status = gr_ranks_agree(
      c, *states ? GR_OK : gr_fail(c, GR_NO_MEMORY, "out of memory: %lld columns", (long long)c->comm->width));
  return status == GR_OK ? gr_ranks_reduce(c, q, job, *states) : status;
}

gr_status gr_ranks_number(gr_context *c, gr_queue *q, const gr_reduce_job *job, gr_status mine, gr_value *r) {
  char text[GR_CARD_TEXT];
  gr_acc state;
  describe(job, text, sizeof text);
  gr_status status = gr_ranks_meet(c, text, job->n, 1, mine);
  if (status == GR_OK) status = check_length(c, job, gr_ranks_all(c));
  if (status == GR_OK) status = gr_ranks_reduce(c, q, job, &state);
  if (status == GR_OK) *r = gr_finish(job->op, job->dtype, state, gr_ranks_all(c), job->ddof);
  return status;
}
