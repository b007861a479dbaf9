#include "src/core/ranks/reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/numerics/digest.h"
#include "src/core/dtype.h"
#include "src/core/operation.h"
#include "src/core/ranks/borders.h"
#include "src/core/ranks/columns.h"
#include "src/core/ranks/meet.h"

/* What a call needs besides what comes over borders, in one block. */
typedef struct plan {
  gr_ranks_fold fold;
  const int64_t *starts;
  int size, rank, borders;
  int64_t mine, all, leaf; /* bytes: of messages, of a leaf that is put together, */
  int64_t edge;            /* and of what a device has of a leaf, where the block has room for that */
} plan;

static plan plan_of(const gr_comm *comm, const gr_ranks_fold *f) {
  plan p = {.fold = *f, .starts = comm->starts, .size = comm->size, .rank = comm->rank};
  p.borders = gr_has_borders(p.starts, p.size, f->leaf);
  for (int r = 0; r < p.size; r++) p.all += comm->lengths[r] = gr_ranks_message(f, p.starts, p.size, r);
  p.mine = comm->lengths[p.rank];
  if (gr_leaves_of(p.starts, p.size, p.rank, f->leaf).shared) p.leaf = f->leaf * f->element;
  return p;
}

static int64_t edge_of(const plan *p) { return p->borders && p->fold.device ? p->fold.leaf * p->fold.element : 0; }

/* Where things lie in the block; sizes are rounded, so that all are aligned. */
static int64_t take(int64_t *at, int64_t bytes) {
  const int64_t here = *at;
  *at += (bytes + 63) / 64 * 64;
  return here;
}

typedef struct layout {
  int64_t mine, all, leaf, edge, states, bytes;
} layout;

static layout layout_of(const plan *p) {
  layout l = {0};
  int64_t at = 0;
  l.mine = take(&at, p->mine);
  l.all = take(&at, p->all);
  l.leaf = take(&at, p->leaf);
  l.edge = take(&at, p->edge);
  l.states = take(&at, gr_ranks_together(&p->fold) * (int64_t)sizeof(gr_acc));
  l.bytes = at;
  return l;
}

typedef struct maker {
  gr_context *c;
  gr_queue *q;
  int on_device; /* all but leaves that are put together */
} maker;

static gr_status make_states(void *with, const gr_reduce_job *nodes, int count, int joined, gr_acc *states) {
  const maker *m = with;
  const int there = m->on_device && !joined;
  const gr_status status = there && nodes->count > 1 ? gr_ranks_columns(m->q, nodes, states)
                           : there                   ? m->q->backend->states(m->q, nodes, count, states)
                                                     : m->c->host->cpu()->states(m->q, nodes, count, states);
  return gr_fail_from(m->c, m->q, status, gr_ops[nodes->op].name, 0);
}

/* This rank's message. before: what came over borders; mine: whether all has gone well so far. */
static gr_status make_message(gr_context *c, gr_queue *q, const plan *p, const gr_reduce_job *job, const char *before,
                              char *leaf, char *edge, gr_acc *states, gr_status mine, char *message) {
  maker m = {c, q, p->fold.device != NULL};
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
                              .make = make_states,
                              .with = &m,
                              .mine = mine};
  return gr_ranks_states(&p->fold, &part, p->starts, p->size, p->rank, message);
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
                     char *block, char *edge, gr_status well, gr_acc *states) {
  const layout l = layout_of(p);
  int64_t *lengths = c->comm->lengths;
  char *all = block + l.all;
  const gr_status mine =
      make_message(c, q, p, job, before, block + l.leaf, edge, (gr_acc *)(block + l.states), well, block + l.mine);
  gr_status status = gr_ranks_moved(c, c->comm->table->gather_parts(c->comm->handle, block + l.mine, all, lengths));
  if (status == GR_OK && any_failed(p, all, lengths)) status = gr_ranks_agree(c, mine);
  if (status == GR_OK) gr_ranks_fold_all(&p->fold, p->starts, p->size, all, 0, states);
  return status;
}

/* With no more bytes and ranks than these, which all of them know, a call takes no memory that could run out. */
#define NEAR 16384
#define NEAR_RANKS 64

static int is_near(const gr_comm *comm, const plan *p) {
  const gr_ranks_fold *f = &p->fold;
  /* A leaf that is put together, what comes for it, what is sent; 64 for each of what is rounded. Of these a rank with
     a device needs a leaf more at times, when another is free. */
  const int64_t leaves = p->borders ? 3 * f->leaf * f->element : 0;
  const int64_t states = gr_ranks_together(f) * (int64_t)sizeof(gr_acc);
  return comm->size <= NEAR_RANKS && 2 * p->all + states + leaves + 1024 <= NEAR;
}

static gr_status run_near(gr_context *c, gr_queue *q, const plan *p, const gr_reduce_job *job, gr_acc *states) {
  _Alignas(64) char near[NEAR];
  gr_stretch stretches[NEAR_RANKS];
  gr_message messages[2 * NEAR_RANKS];
  const layout l = layout_of(p);
  char *before = near + l.bytes, *sent = before;
  gr_reduce_job here;
  gr_status status = GR_OK, mine = GR_OK;
  if (p->borders) {
    const gr_border b = gr_border_of(c->comm, &p->fold, 0);
    /* What a device has of a leaf comes to where the leaf is put together later, then to where what was sent lay. */
    sent += b.before;
    mine = gr_border_tail(c, &p->fold, job, 0, &b, p->leaf ? near + l.leaf : sent + b.sent, &here);
    status = gr_border_cross(c, &p->fold, &here, 0, &b, stretches, messages, before);
  }
  return status == GR_OK ? run(c, q, p, job, before, near, sent, mine, states) : status;
}

/* What ranks know alike of a job, and where this one's vectors are. */
static gr_ranks_fold fold_of(gr_queue *q, gr_side side, const gr_reduce_job *job) {
  gr_ranks_fold f = gr_ranks_fold_of(job);
  if (side == GR_DEVSIDE && job->n) f.device = q;
  return f;
}

gr_status gr_ranks_reduce(gr_context *c, gr_queue *q, gr_side side, const gr_reduce_job *job, gr_acc *states) {
  gr_ranks_fold f = fold_of(q, side, job);
  char *before = NULL;
  f.count = c->comm->width; /* which a rank without rows has not known */
  f.element = gr_size_of(job->dtype) * f.inputs * f.count;
  plan p = plan_of(c->comm, &f);
  if (is_near(c->comm, &p)) return run_near(c, q, &p, job, states);
  p.edge = edge_of(&p);
  const layout l = layout_of(&p);
  gr_status status = gr_context_allows(c, (size_t)l.bytes);
  char *block = status == GR_OK ? malloc((size_t)l.bytes) : NULL;
  if (status == GR_OK && !block) status = gr_fail(c, GR_NO_MEMORY, "out of memory: %lld bytes", (long long)l.bytes);
  status = p.borders ? gr_ranks_borders(c, &f, job, 0, &before, status) : gr_ranks_agree(c, status);
  if (status == GR_OK) status = run(c, q, &p, job, before, block, block + l.edge, GR_OK, states);
  free(before);
  free(block);
  return status;
}

/* All that ranks must agree on, but how many vectors there are. */
static void describe(const void *of, char *text, size_t room) {
  const gr_reduce_job *job = of;
  char ddof[64] = "", scales[112] = "", a[40], b[40];
  if (job->op == GR_OP_var || job->op == GR_OP_std)
    snprintf(ddof, sizeof ddof, " with ddof %s", gr_ranks_digits(job->ddof, 17, a));
  if (job->scale_a != 1 || job->scale_b != 1)
    snprintf(scales, sizeof scales, " scaled by %s, %s", gr_ranks_digits(job->scale_a, 17, a),
             gr_ranks_digits(job->scale_b, 17, b));
  snprintf(text, room, "%s of %s%s%s", gr_ops[job->op].name, gr_dtypes[job->dtype].name, ddof, scales);
}

/* The same in numbers: words would take as long as some thousand elements. */
static gr_ranks_call call_of(const gr_reduce_job *job) {
  const int spread = job->op == GR_OP_var || job->op == GR_OP_std;
  uint64_t sum[2] = {0, 0};
  gr_digest_add(sum, (uint64_t)job->op << 8 | (uint64_t)job->dtype, UINT64_C(1) << 32); /* a place that no text has */
  if (spread) gr_digest_add(sum, gr_bits64(job->ddof), 1);
  if (job->scale_a != 1) gr_digest_add(sum, gr_bits64(job->scale_a), 2);
  if (job->scale_b != 1) gr_digest_add(sum, gr_bits64(job->scale_b), 3);
  return (gr_ranks_call){sum[0], describe, job};
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

gr_status gr_ranks_vectors(gr_context *c, gr_queue *q, gr_side side, const gr_reduce_job *job, gr_status mine,
                           gr_acc **states, int64_t *n) {
  char text[GR_CARD_TEXT], one[GR_CARD_TEXT - 16];
  describe(job, one, sizeof one);
  snprintf(text, sizeof text, "%s by columns", one); /* a number takes other steps, even of one column */
  gr_status status = gr_ranks_meet(c, text, job->n, job->n ? job->count : 0, mine);
  *n = gr_ranks_all(c);
  if (status == GR_OK && c->comm->width) status = check_length(c, job, *n); /* no columns lack nothing */
  if (status != GR_OK) return status;
  *states = malloc((size_t)c->comm->width * sizeof **states + 1);
  status = gr_ranks_agree(
      c, *states ? GR_OK : gr_fail(c, GR_NO_MEMORY, "out of memory: %lld columns", (long long)c->comm->width));
  return status == GR_OK ? gr_ranks_reduce(c, q, side, job, *states) : status;
}

/*
** Calls of one program are mostly alike: where the parts are those of the number before, and end with leaves, a rank's
** few states go along with its card. What a rank guesses is compared with what is so, and no guess changes a result.
*/
static gr_status guess_states(gr_context *c, gr_queue *q, const gr_ranks_fold *known, const gr_reduce_job *job,
                              gr_card *guess) {
  const gr_comm *comm = c->comm;
  const int64_t *starts = comm->before;
  const gr_ranks_fold f = *known;
  char message[8 + sizeof guess->fields];
  gr_acc states[GR_RANKS_TOGETHER];
  maker m = {c, q, f.device != NULL};
  const gr_ranks_part part = {.job = job, .first = job, .states = states, .make = make_states, .with = &m};
  guess->all = -1;
  if (starts[0] < 0 || starts[comm->rank + 1] - starts[comm->rank] != job->n) return GR_OK;
  if (gr_has_borders(starts, comm->size, f.leaf)) return GR_OK;
  const int64_t bytes = gr_ranks_message(&f, starts, comm->size, comm->rank);
  if (bytes > (int64_t)sizeof message) return GR_OK;
  const gr_status status = gr_ranks_states(&f, &part, starts, comm->size, comm->rank, message);
  memcpy(guess->fields, message + 8, (size_t)bytes - 8);
  guess->low = starts[comm->rank];
  guess->all = starts[comm->size];
  return status;
}

/* Whether all have guessed right: then their states are on the cards. */
static int all_guessed(const gr_comm *comm, const gr_ranks_fold *f) {
  for (int r = 0; r < comm->size; r++)
    if (comm->cards[r].all != comm->starts[comm->size] || comm->cards[r].low != comm->starts[r]) return 0;
  return !gr_has_borders(comm->starts, comm->size, f->leaf);
}

/* The states of messages lie behind 8 bytes, and so they do on cards. */
static void fold_cards(const gr_comm *comm, const gr_ranks_fold *f, gr_acc *state) {
  _Static_assert(offsetof(gr_card, fields) >= 8, "a message begins within its card");
  const char *first = (const char *)comm->cards + offsetof(gr_card, fields) - 8;
  gr_ranks_fold_all(f, comm->starts, comm->size, first, sizeof(gr_card), state);
}

gr_status gr_ranks_number(gr_context *c, gr_queue *q, gr_side side, const gr_reduce_job *job, gr_status mine,
                          gr_value *r) {
  gr_comm *comm = c->comm;
  const gr_ranks_fold f = fold_of(q, side, job);
  const gr_ranks_call call = call_of(job);
  gr_card guess = {.all = -1};
  gr_acc state;
  if (mine == GR_OK) mine = guess_states(c, q, &f, job, &guess);
  gr_status status = gr_ranks_meet_with(c, &call, job->n, 1, &guess, mine);
  if (status == GR_OK) status = check_length(c, job, gr_ranks_all(c));
  if (status != GR_OK) return status;
  memcpy(comm->before, comm->starts, ((size_t)comm->size + 1) * sizeof *comm->before);
  if (all_guessed(comm, &f)) fold_cards(comm, &f, &state);
  else status = gr_ranks_reduce(c, q, side, job, &state);
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
  char *mine, *all, *one, *leaf, *edge;
  gr_message *in, *out; /* what crosses borders, of all items together */
  gr_stretch *stretches;
  char *before, *sent;
} numbers;

static gr_reduce_job *enter(const numbers *t, int k, gr_ranks_fold *f, plan *p) {
  gr_comm *comm = t->c->comm;
  for (int r = 0; r < comm->size; r++) comm->starts[r + 1] = comm->starts[r] + t->elements[r * t->count + k];
  *f = fold_of(t->items[k].queue, t->items[k].side, &t->items[k].job);
  *p = plan_of(comm, f);
  return &t->items[k].job;
}

/* Bytes of everything in the block; with `block` also where it is. */
static gr_status lay_out(numbers *t, char *block, int64_t *bytes) {
  const gr_comm *comm = t->c->comm;
  int64_t at = 0, mine = 0, all = 0, one = 0, leaf = 0, edge = 0;
  gr_border sum = {0};
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
    if (edge_of(&p) > edge) edge = edge_of(&p);
    const gr_border b = gr_border_of(comm, &f, 0);
    sum.sends += b.sends;
    sum.receipts += b.receipts;
    sum.sent += b.sent;
    sum.before += b.before;
    if (b.stretches > sum.stretches) sum.stretches = b.stretches;
  }
  t->totals = (int64_t *)(block + take(&at, comm->size * 8));
  t->at = (int64_t *)(block + take(&at, comm->size * 8));
  t->mine = block + take(&at, mine);
  t->all = block + take(&at, all);
  t->one = block + take(&at, one);
  t->leaf = block + take(&at, leaf);
  t->edge = block + take(&at, edge);
  t->in = (gr_message *)(void *)(block + take(&at, sum.receipts * (int64_t)sizeof *t->in));
  t->out = (gr_message *)(void *)(block + take(&at, sum.sends * (int64_t)sizeof *t->out));
  t->stretches = (gr_stretch *)(void *)(block + take(&at, sum.stretches * (int64_t)sizeof *t->stretches));
  t->before = block + take(&at, sum.before);
  t->sent = block + take(&at, sum.sent);
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
    plan p;
    gr_reduce_job here;
    const gr_reduce_job *job = enter(t, k, &f, &p);
    const gr_border b = gr_border_of(comm, &f, 0);
    const gr_status brought = gr_border_tail(t->c, &f, job, 0, &b, t->edge, &here);
    if (*mine == GR_OK) *mine = brought;
    gr_border_address(comm, &f, &here, 0, &b, t->stretches, t->in + in, t->out + out, before, sent);
    in += b.receipts;
    out += b.sends;
    before += b.before;
    sent += b.sent;
  }
  return gr_ranks_moved(t->c, comm->table->exchange(comm->handle, t->out, out, t->in, in));
}

/* All messages of this rank; where a state cannot be made, the message says so. */
static gr_status make_messages(numbers *t, gr_status mine) {
  char *message = t->mine;
  const char *before = t->before;
  for (int k = 0; k < t->count; k++) {
    gr_ranks_fold f;
    plan p;
    gr_acc states[GR_RANKS_TOGETHER];
    const gr_reduce_job *job = enter(t, k, &f, &p);
    mine = make_message(t->c, t->items[k].queue, &p, job, before, t->leaf, t->edge, states, mine, message);
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
