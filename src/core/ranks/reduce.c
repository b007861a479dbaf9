#include "src/core/ranks/reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/numerics/digest.h"
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
  char text[GR_CARD_TEXT], one[GR_CARD_TEXT - 16];
  describe(job, one, sizeof one);
  snprintf(text, sizeof text, "%s by columns", one); /* a number takes other steps, even of one column */
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

/* ---- several numbers ---- */

typedef struct numbers {
  gr_context *c;
  gr_ranks_item *items;
  int count;
  const int64_t *elements; /* of each rank, for each item */
  int64_t *totals, *at;    /* of each rank: bytes of its messages, and where the next of them is */
  char *mine, *all, *one, *leaf;
} numbers;

static gr_reduce_job *enter(const numbers *t, int k, gr_ranks_fold *f, plan *p) {
  gr_comm *comm = t->c->comm;
  for (int r = 0; r < comm->size; r++) comm->starts[r + 1] = comm->starts[r] + t->elements[r * t->count + k];
  *f = gr_ranks_fold_of(&t->items[k].job);
  *p = plan_of(comm, f);
  return &t->items[k].job;
}

/* Bytes of everything in the block; with `block` also where it is. */
static gr_status lay_out(numbers *t, char *block, int64_t *bytes) {
  const gr_comm *comm = t->c->comm;
  int64_t at = 0, mine = 0, all = 0, one = 0, leaf = 0;
  gr_ranks_fold f;
  plan p;
  for (int k = 0; k < t->count; k++) {
    const gr_reduce_job *job = enter(t, k, &f, &p);
    /* What is not divided is so by whoever asked for it. */
    gr_status status = job->ddof == GR_UNDIVIDED ? GR_OK : check_length(t->c, job, gr_ranks_all(t->c));
    if (status != GR_OK) return status;
    t->items[k].n = gr_ranks_all(t->c);
    for (int r = 0; block && r < comm->size; r++)
      ((int64_t *)block)[r] = (k ? ((int64_t *)block)[r] : 0) + comm->lengths[r];
    mine += p.mine;
    all += p.all;
    if (p.all > one) one = p.all;
    if (p.leaf > leaf) leaf = p.leaf;
  }
  t->totals = (int64_t *)(block + take(&at, comm->size * 8));
  t->at = (int64_t *)(block + take(&at, comm->size * 8));
  t->mine = block + take(&at, mine);
  t->all = block + take(&at, all);
  t->one = block + take(&at, one);
  t->leaf = block + take(&at, leaf);
  *bytes = at;
  return GR_OK;
}

/* All messages of this rank; where a state cannot be made, the message says so, and *mine why. */
static gr_status make_messages(numbers *t, gr_status *mine) {
  gr_context *c = t->c;
  char *message = t->mine;
  gr_status status = GR_OK;
  for (int k = 0; k < t->count && status == GR_OK; k++) {
    gr_ranks_fold f;
    plan p;
    gr_acc state;
    char *before = NULL;
    const gr_reduce_job *job = enter(t, k, &f, &p);
    maker m = {c, t->items[k].queue};
    if (p.borders) status = gr_ranks_borders(c, &f, job, 0, &before, GR_OK);
    if (status == GR_OK) {
      const gr_status made =
          gr_ranks_states(&f, job, p.starts, p.size, p.rank, before, t->leaf, &state, make_states, &m, message);
      if (*mine == GR_OK) *mine = made;
    }
    message += p.mine;
    free(before);
  }
  return status;
}

static void fold_messages(numbers *t, int *failed) {
  const gr_comm *comm = t->c->comm;
  int64_t at = 0;
  for (int r = 0; r < comm->size; at += t->totals[r++]) t->at[r] = at;
  for (int k = 0; k < t->count; k++) {
    gr_ranks_item *item = &t->items[k];
    gr_ranks_fold f;
    plan p;
    gr_acc state;
    char *to = t->one;
    const gr_reduce_job *job = enter(t, k, &f, &p);
    for (int r = 0; r < comm->size; r++) {
      memcpy(to, t->all + t->at[r], (size_t)comm->lengths[r]);
      t->at[r] += comm->lengths[r];
      to += comm->lengths[r];
    }
    if (any_failed(&p, t->one, comm->lengths)) {
      *failed = 1;
      return;
    }
    gr_ranks_fold_all(&f, p.starts, p.size, t->one, &state);
    item->value = gr_finish(job->op, job->dtype, state, item->n, job->ddof);
    for (item->rank = 0; item->rank < p.size - 1 && p.starts[item->rank + 1] < item->value.v[0].i;) item->rank++;
  }
}

static gr_status exchange_numbers(numbers *t) {
  gr_context *c = t->c;
  const gr_comm *comm = c->comm;
  int64_t bytes = 0;
  int failed = 0;
  gr_status mine = GR_OK, status = lay_out(t, NULL, &bytes);
  if (status != GR_OK) return status; /* on all ranks */
  char *block = malloc((size_t)bytes);
  status = gr_ranks_agree(c, block ? GR_OK : gr_fail(c, GR_NO_MEMORY, "out of memory: %lld bytes", (long long)bytes));
  if (status == GR_OK) status = lay_out(t, block, &bytes);
  if (status == GR_OK) status = make_messages(t, &mine);
  if (status == GR_OK) status = gr_ranks_moved(c, comm->table->gather_parts(comm->handle, t->mine, t->all, t->totals));
  if (status == GR_OK) fold_messages(t, &failed);
  if (failed) status = gr_ranks_agree(c, mine);
  free(block);
  return status;
}

/* All items by name, or the first of them, and a digest of all: two such texts fit into one error. */
static void describe_all(const gr_ranks_item *items, int count, char text[GR_CARD_TEXT]) {
  const size_t most = 150;
  uint64_t sum[2] = {0, 0};
  char one[GR_CARD_TEXT];
  size_t at = (size_t)snprintf(text, GR_CARD_TEXT, "gr.many of");
  int named = 0;
  for (int k = 0; k < count; k++) {
    describe(&items[k].job, one, sizeof one);
    for (int j = 0; one[j]; j++) gr_digest_add(sum, (unsigned char)one[j], (uint64_t)k << 32 | (uint64_t)j);
    if (named < k || at + strlen(one) > most - 40) continue;
    at += (size_t)snprintf(text + at, GR_CARD_TEXT - at, "%s %s", k ? "," : "", one);
    named++;
  }
  if (named < count)
    snprintf(text + at, GR_CARD_TEXT - at, " and %d more (digest %016llx)", count - named, (unsigned long long)sum[0]);
}

gr_status gr_ranks_numbers(gr_context *c, gr_ranks_item *items, int count, gr_status mine) {
  gr_comm *comm = c->comm;
  char text[GR_CARD_TEXT];
  describe_all(items, count, text);
  gr_status status = gr_ranks_meet(c, text, 0, 0, mine);
  if (status != GR_OK) return status;
  int64_t *elements = malloc(((size_t)comm->size + 1) * (size_t)count * sizeof *elements);
  status = gr_ranks_agree(c, elements ? GR_OK : gr_fail(c, GR_NO_MEMORY, "out of memory: lengths of %d items", count));
  if (status == GR_OK) {
    int64_t *own = elements + (int64_t)comm->size * count;
    numbers t = {.c = c, .items = items, .count = count, .elements = elements};
    for (int k = 0; k < count; k++) own[k] = items[k].job.n;
    comm->width = 1;
    status = gr_ranks_moved(c, comm->table->gather(comm->handle, own, elements, count * 8));
    if (status == GR_OK) status = exchange_numbers(&t);
  }
  free(elements);
  return status;
}
