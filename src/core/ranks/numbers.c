/* Several numbers over ranks, with one meeting, one exchange of elements at borders and one of states for all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/numerics/digest.h"
#include "src/core/ranks/borders.h"
#include "src/core/ranks/meet.h"
#include "src/core/ranks/plan.h"
#include "src/core/ranks/reduce.h"

typedef struct numbers {
  gr_context *c;
  gr_ranks_item *items;
  int count;
  const int64_t *elements; /* of each rank, for each item */
  int64_t *totals, *at;    /* of each rank: bytes of its messages, and where the next of them is */
  char *mine, *all, *one, *leaf, *edge;
  gr_message *in, *out; /* what crosses borders, of all items together */
  gr_stretch *stretches;
  char *before, *sent;
} numbers;

static gr_reduce_job *enter(const numbers *t, int k, gr_ranks_fold *f, gr_ranks_plan *p) {
  gr_comm *comm = t->c->comm;
  for (int r = 0; r < comm->size; r++) comm->starts[r + 1] = comm->starts[r] + t->elements[r * t->count + k];
  *f = gr_fold_of(t->items[k].queue, t->items[k].side, &t->items[k].job);
  *p = gr_plan_ranks(comm, f);
  return &t->items[k].job;
}

/* Bytes of everything in the block; with `block` also where it is. */
static gr_status lay_out(numbers *t, char *block, int64_t *bytes) {
  const gr_comm *comm = t->c->comm;
  int64_t at = 0, mine = 0, all = 0, one = 0, leaf = 0, edge = 0;
  gr_border sum = {0};
  gr_ranks_fold f;
  gr_ranks_plan p;
  for (int k = 0; k < t->count; k++) {
    const gr_reduce_job *job = enter(t, k, &f, &p);
    /* What is not divided is so by whoever asked for it. */
    gr_status status = job->ddof == GR_UNDIVIDED ? GR_OK : gr_check_ranks_length(t->c, job, gr_ranks_all(t->c));
    if (status != GR_OK) return status;
    t->items[k].n = gr_ranks_all(t->c);
    for (int r = 0; block && r < comm->size; r++)
      ((int64_t *)block)[r] = (k ? ((int64_t *)block)[r] : 0) + comm->lengths[r];
    mine += p.mine;
    all += p.all;
    if (p.all > one) one = p.all;
    if (p.leaf > leaf) leaf = p.leaf;
    if (gr_plan_edge(&p) > edge) edge = gr_plan_edge(&p);
    const gr_border b = gr_border_of(comm, &f, 0);
    sum.sends += b.sends;
    sum.receipts += b.receipts;
    sum.sent += b.sent;
    sum.before += b.before;
    if (b.stretches > sum.stretches) sum.stretches = b.stretches;
  }
  t->totals = (int64_t *)(block + gr_take_room(&at, comm->size * 8));
  t->at = (int64_t *)(block + gr_take_room(&at, comm->size * 8));
  t->mine = block + gr_take_room(&at, mine);
  t->all = block + gr_take_room(&at, all);
  t->one = block + gr_take_room(&at, one);
  t->leaf = block + gr_take_room(&at, leaf);
  t->edge = block + gr_take_room(&at, edge);
  t->in = (gr_message *)(void *)(block + gr_take_room(&at, sum.receipts * (int64_t)sizeof *t->in));
  t->out = (gr_message *)(void *)(block + gr_take_room(&at, sum.sends * (int64_t)sizeof *t->out));
  t->stretches = (gr_stretch *)(void *)(block + gr_take_room(&at, sum.stretches * (int64_t)sizeof *t->stretches));
  t->before = block + gr_take_room(&at, sum.before);
  t->sent = block + gr_take_room(&at, sum.sent);
  *bytes = at;
  return GR_OK;
}

/* What crosses borders, of all items in one exchange. *mine: whether this rank has had its elements. */
static gr_status cross_borders(const numbers *t, gr_status *mine) {
  const gr_comm *comm = t->c->comm;
  int64_t in = 0, out = 0;
  char *before = t->before, *sent = t->sent;
  for (int k = 0; k < t->count; k++) {
    gr_ranks_fold f;
    gr_ranks_plan p;
    gr_reduce_job here;
    const gr_reduce_job *job = enter(t, k, &f, &p);
    const gr_border b = gr_border_of(comm, &f, 0);
    const gr_status brought = gr_border_tail(t->c, &f, job, &b, t->edge, &here);
    if (*mine == GR_OK) *mine = brought;
    gr_border_address(comm, &f, &here, 0, &b, t->stretches, t->in + in, t->out + out, before, sent);
    in += b.receipts;
    out += b.sends;
    before += b.before;
    sent += b.sent;
  }
  return gr_ranks_exchange(t->c, t->out, out, t->in, in);
}

/* All messages of this rank; where a state cannot be made, the message says so. */
static gr_status make_messages(numbers *t, gr_status mine) {
  char *message = t->mine;
  const char *before = t->before;
  for (int k = 0; k < t->count; k++) {
    gr_ranks_fold f;
    gr_ranks_plan p;
    gr_acc states[GR_RANKS_TOGETHER];
    const gr_reduce_job *job = enter(t, k, &f, &p);
    mine = gr_make_message(t->c, t->items[k].queue, &p, job, before, t->leaf, t->edge, states, mine, message);
    message += p.mine;
    before += gr_border_of(t->c->comm, &f, 0).before;
  }
  return mine;
}

static void fold_messages(numbers *t, int *failed) {
  const gr_comm *comm = t->c->comm;
  int64_t at = 0;
  for (int r = 0; r < comm->size; at += t->totals[r++]) t->at[r] = at;
  for (int k = 0; k < t->count; k++) {
    gr_ranks_item *item = &t->items[k];
    gr_ranks_fold f;
    gr_ranks_plan p;
    gr_acc state;
    char *to = t->one;
    const gr_reduce_job *job = enter(t, k, &f, &p);
    for (int r = 0; r < comm->size; r++) {
      memcpy(to, t->all + t->at[r], (size_t)comm->lengths[r]);
      t->at[r] += comm->lengths[r];
      to += comm->lengths[r];
    }
    if (gr_any_failed(&p, t->one, comm->lengths)) {
      *failed = 1;
      return;
    }
    gr_ranks_fold_all(&f, p.starts, p.size, t->one, 0, &state);
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
  if (status == GR_OK) status = cross_borders(t, &mine);
  if (status == GR_OK) mine = make_messages(t, mine);
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
    gr_describe_reduction(&items[k].job, one, sizeof one);
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
  int64_t *elements = malloc(((size_t)comm->size + 1) * (size_t)count * sizeof *elements);
  if (mine == GR_OK && !elements) mine = gr_fail(c, GR_NO_MEMORY, "out of memory: lengths of %d items", count);
  describe_all(items, count, text);
  gr_status status = gr_ranks_meet(c, text, 0, 0, mine);
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
