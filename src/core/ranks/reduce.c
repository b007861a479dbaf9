#include "src/core/ranks/reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/numerics/digest.h"
#include "src/core/dtype.h"
#include "src/core/ranks/borders.h"
#include "src/core/ranks/meet.h"
#include "src/core/ranks/plan.h"

typedef struct layout {
  int64_t mine, all, leaf, edge, states, bytes;
} layout;

static layout layout_of(const gr_ranks_plan *p) {
  layout l = {0};
  l.mine = gr_take_room(&l.bytes, p->mine);
  l.all = gr_take_room(&l.bytes, p->all);
  l.leaf = gr_take_room(&l.bytes, p->leaf);
  l.edge = gr_take_room(&l.bytes, p->edge);
  l.states = gr_take_room(&l.bytes, gr_ranks_together(&p->fold) * (int64_t)sizeof(gr_acc));
  return l;
}

/* The last step: everybody gets all messages, of which this rank's is in the block. */
static gr_status gather(gr_context *c, const gr_ranks_plan *p, layout l, char *block, gr_status mine, gr_acc *states) {
  int64_t *lengths = c->comm->lengths;
  const gr_comm *comm = c->comm;
  char *all = block + l.all;
  if (p->step) memset(block + l.mine + lengths[p->rank], 0, (size_t)(p->step - lengths[p->rank]));
  const int code = p->step ? comm->table->gather(comm->handle, block + l.mine, all, p->step)
                           : comm->table->gather_parts(comm->handle, block + l.mine, all, lengths);
  gr_status status = gr_ranks_moved(c, code);
  if (status == GR_OK && gr_any_failed(p, all, lengths)) status = gr_ranks_agree(c, mine);
  if (status == GR_OK) gr_ranks_fold_all(&p->fold, p->starts, p->size, all, p->step, states);
  return status;
}

static gr_status run(gr_context *c, gr_queue *q, const gr_ranks_plan *p, const gr_reduce_job *job, const char *before,
                     char *block, gr_acc *states) {
  const layout l = layout_of(p);
  const gr_status mine = gr_make_message(c, q, p, job, before, block + l.leaf, block + l.edge,
                                         (gr_acc *)(block + l.states), GR_OK, block + l.mine);
  return gather(c, p, l, block, mine, states);
}

/* With no more bytes and ranks than these, which all of them know, a call takes no memory that could run out. */
#define NEAR 19840
#define NEAR_RANKS 64

#define NEAR_STEPS 2048 /* bytes of all messages, where they go as if they were equally long */
static int is_near(const gr_comm *comm, gr_ranks_plan *p) {
  const gr_ranks_fold *f = &p->fold;
  int64_t longest = 0;
  for (int r = 0; r < p->size; r++) longest = comm->lengths[r] > longest ? comm->lengths[r] : longest;
  if (longest * p->size <= NEAR_STEPS) p->step = p->mine = longest, p->all = longest * p->size;
  /* A leaf that is put together and what is sent; of two vectors also what comes for the leaf, with what a device has
     of it. 64 for each of what is rounded. */
  const int64_t leaves = p->borders ? (f->inputs + 1) * f->leaf * f->element : 0;
  const int64_t states = gr_ranks_together(f) * (int64_t)sizeof(gr_acc);
  return comm->size <= NEAR_RANKS && 2 * p->all + states + leaves + 1024 <= NEAR;
}

/* What a device has to give, by one wait: states of nodes, what it sends, what it has of a leaf put together here. */
static gr_status ask_at_once(const gr_ranks_plan *p, const gr_ranks_part *part, const gr_stretch *tail, char *sent,
                             char *edge, gr_reduce_job *first, char *message) {
  gr_ranks_maker *m = part->with;
  const gr_ranks_fold *f = &p->fold;
  const int64_t low = p->starts[p->rank], n = p->starts[p->size], end = gr_begin_of_leaf(low, f->leaf) + f->leaf;
  gr_reduce_job sender;
  if (tail->end) m->count = gr_border_wanted(m->c, f, part->job, tail->first, tail->end, sent, m->wanted, &sender);
  if (p->leaf)
    m->count += gr_border_wanted(m->c, f, part->job, low, end < n ? end : n, edge, m->wanted + m->count, first);
  const gr_status status = gr_ranks_inner(f, part, p->starts, p->size, p->rank, message);
  if (status != GR_OK || !m->count) return status;
  return gr_fail_from(m->c, m->q, gr_ask_device(m, NULL, 0, NULL), "elements at a border", 0);
}

/* What elements at borders take hides behind the rest: on the host they are on their way while states are made. */
static gr_status run_near(gr_context *c, gr_queue *q, const gr_ranks_plan *p, const gr_reduce_job *job,
                          gr_acc *states) {
  _Alignas(64) char near[NEAR];
  gr_stretch stretches[NEAR_RANKS];
  gr_message messages[2 * NEAR_RANKS];
  const gr_comm *comm = c->comm;
  const gr_ranks_fold *f = &p->fold;
  const layout l = layout_of(p);
  const gr_border b = p->borders ? gr_border_of(comm, f, 0) : (gr_border){0};
  /* Elements of one vector come to where their leaf is put together. */
  char *sent = near + l.bytes, *before = f->inputs > 1 ? sent + b.sent : near + l.leaf, *message = near + l.mine;
  gr_ranks_maker m = {.c = c, .q = q, .on_device = f->device != NULL};
  gr_reduce_job first = *job;
  const gr_ranks_part part = {.job = job,
                              .first = &first,
                              .before = before,
                              .room = near + l.leaf,
                              .states = (gr_acc *)(near + l.states),
                              .make = gr_make_states,
                              .with = &m};
  gr_status mine = GR_OK, status = GR_OK;
  if (m.on_device) mine = ask_at_once(p, &part, &b.tail, sent, before + b.before, &first, message);
  if (b.stretches) {
    /* Nobody writes to elements of the host's while they are on their way. */
    char *there = m.on_device ? sent : gr_ranks_packed(f, job, p->starts[p->rank], b.tail.first);
    gr_message *out = messages + b.receipts;
    gr_border_address(comm, f, there ? NULL : job, 0, &b, stretches, messages, out, before, there ? there : sent);
    status = gr_ranks_moved(c, comm->table->post(comm->handle, out, b.sends, messages, b.receipts));
  }
  if (!m.on_device) mine = gr_ranks_inner(f, &part, p->starts, p->size, p->rank, message);
  if (b.stretches) {
    const int code = comm->table->await(comm->handle);
    if (status == GR_OK) status = gr_ranks_moved(c, code);
  }
  if (status != GR_OK) return status;
  mine = gr_ranks_joint(f, &part, p->starts, p->size, p->rank, mine, message);
  return gather(c, p, l, near, mine, states);
}

static gr_status reduce_by(gr_context *c, gr_queue *q, const gr_ranks_fold *fold, const gr_reduce_job *job,
                           gr_acc *states) {
  const gr_ranks_fold f = *fold;
  char *before = NULL;
  gr_ranks_plan p = gr_plan_ranks(c->comm, &f);
  if (is_near(c->comm, &p)) return run_near(c, q, &p, job, states);
  p.edge = gr_plan_edge(&p);
  const layout l = layout_of(&p);
  gr_status status = gr_context_allows(c, (size_t)l.bytes);
  char *block = status == GR_OK ? malloc((size_t)l.bytes) : NULL;
  if (status == GR_OK && !block) status = gr_fail(c, GR_NO_MEMORY, "out of memory: %lld bytes", (long long)l.bytes);
  status = p.borders ? gr_ranks_borders(c, &f, job, 0, &before, status) : gr_ranks_agree(c, status);
  if (status == GR_OK) status = run(c, q, &p, job, before, block, states);
  free(before);
  free(block);
  return status;
}

/* The same in numbers: words would take as long as some thousand elements. */
static gr_ranks_call call_of(const gr_reduce_job *job) {
  const int spread = job->op == GR_OP_var || job->op == GR_OP_std;
  uint64_t sum[2] = {0, 0};
  gr_digest_add(sum, (uint64_t)job->op << 8 | (uint64_t)job->dtype, UINT64_C(1) << 32); /* a place that no text has */
  if (spread) gr_digest_add(sum, gr_bits64(job->ddof), 1);
  if (job->scale_a != 1) gr_digest_add(sum, gr_bits64(job->scale_a), 2);
  if (job->scale_b != 1) gr_digest_add(sum, gr_bits64(job->scale_b), 3);
  return (gr_ranks_call){sum[0], gr_describe_reduction, job};
}

gr_status gr_ranks_vectors(gr_context *c, gr_queue *q, gr_side side, const gr_reduce_job *job, gr_status mine,
                           gr_acc **states, int64_t *n) {
  char text[GR_CARD_TEXT], one[GR_CARD_TEXT - 16];
  gr_describe_reduction(job, one, sizeof one);
  snprintf(text, sizeof text, "%s by columns", one); /* a number takes other steps, even of one column */
  gr_status status = gr_ranks_meet(c, text, job->n, job->n ? job->count : 0, mine);
  *n = gr_ranks_all(c);
  if (status == GR_OK && c->comm->width) status = gr_check_ranks_length(c, job, *n); /* no columns lack nothing */
  if (status != GR_OK) return status;
  *states = malloc((size_t)c->comm->width * sizeof **states + 1);
  status = gr_ranks_agree(
      c, *states ? GR_OK : gr_fail(c, GR_NO_MEMORY, "out of memory: %lld columns", (long long)c->comm->width));
  if (status != GR_OK) return status;
  gr_ranks_fold f = gr_fold_of(q, side, job);
  f.count = c->comm->width; /* which a rank without rows has not known */
  f.element = gr_size_of(job->dtype) * f.inputs * f.count;
  return reduce_by(c, q, &f, job, *states);
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
  gr_ranks_maker m = {.c = c, .q = q, .on_device = f.device != NULL};
  const gr_ranks_part part = {.job = job, .first = job, .states = states, .make = gr_make_states, .with = &m};
  guess->all = -1;
  if (starts[0] < 0 || starts[comm->rank + 1] - starts[comm->rank] != job->n) return GR_OK;
  if (gr_has_borders(starts, comm->size, f.leaf)) return GR_OK;
  /* Where one has too many for its card, nobody's guess is of use. */
  for (int r = 0; r < comm->size; r++)
    if (gr_ranks_message(&f, starts, comm->size, r) > (int64_t)sizeof message) return GR_OK;
  const int64_t bytes = gr_ranks_message(&f, starts, comm->size, comm->rank);
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
  const gr_ranks_fold f = gr_fold_of(q, side, job);
  const gr_ranks_call call = call_of(job);
  gr_card guess = {.all = -1};
  gr_acc state;
  if (mine == GR_OK) mine = guess_states(c, q, &f, job, &guess);
  gr_status status = gr_ranks_meet_with(c, &call, job->n, 1, &guess, mine);
  if (status == GR_OK) status = gr_check_ranks_length(c, job, gr_ranks_all(c));
  if (status != GR_OK) return status;
  memcpy(comm->before, comm->starts, ((size_t)comm->size + 1) * sizeof *comm->before);
  if (all_guessed(comm, &f)) fold_cards(comm, &f, &state);
  else status = reduce_by(c, q, &f, job, &state);
  if (status == GR_OK) *r = gr_finish(job->op, job->dtype, state, gr_ranks_all(c), job->ddof);
  return status;
}
