/* Custom operators of what lies over ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/numerics/digest.h"
#include "src/core/formula/operate.h"
#include "src/core/ranks/borders.h"
#include "src/core/ranks/columns.h"
#include "src/core/ranks/each.h"
#include "src/core/ranks/meet.h"

/* A rank's part: its messages are the states of its nodes, 8 bytes each, behind a word that says whether it failed. */
typedef struct ranked {
  gr_context *c;
  gr_queue *q;
  const gr_operator *op;
  gr_vec v;
  int size;
  int64_t leaf, nodes; /* elements; of all ranks together */
  char *before, *joined;
  uint64_t *mine, *all;
  int64_t *leaves;
} ranked;

static gr_status make_messages(const ranked *s) {
  const gr_comm *comm = s->c->comm;
  const gr_leaves l = gr_leaves_of(comm->starts, comm->size, comm->rank, s->leaf);
  const int64_t low = gr_ranks_before(s->c), n = gr_ranks_all(s->c);
  int64_t first = l.first, from = first;
  uint64_t *to = s->mine + 1;
  gr_status status = GR_OK;
  for (; status == GR_OK && gr_next_node(l, &first, GR_ANY_NODE); from = first) {
    const int64_t at = from * s->leaf, end = first * s->leaf < n ? first * s->leaf : n;
    gr_operator_job job = {.op = s->op, .n = end - at, .count = 1, .longest = end - at, .a = s->v, .first = at};
    job.part = GR_OPERATOR_STATES_OF;
    job.a.data = (const char *)s->v.data + (at - low) * s->v.stride;
    if (at < low) {
      gr_ranks_join(&s->v, s->size, s->before, at, low, end, s->joined);
      job.a = (gr_vec){s->joined, s->size, 0};
    }
    for (int k = 0; k < s->op->states; k++) {
      *to = 0;
      job.out[k] = (gr_vec){to++, 8, 0};
    }
    status = gr_fail_from(s->c, s->q, s->c->host->cpu()->custom(s->q, &job), "operator", 0);
  }
  s->mine[0] = (uint64_t)status;
  return status;
}

/* The states of all nodes close up; whether a rank says that it failed. */
static int close_up(ranked *s) {
  const gr_comm *comm = s->c->comm;
  const uint64_t *from = s->all;
  uint64_t *to = s->all, failed = 0;
  int64_t node = 0;
  for (int r = 0; r < comm->size; r++) {
    const gr_leaves l = gr_leaves_of(comm->starts, comm->size, r, s->leaf);
    int64_t first = l.first;
    failed |= *from++;
    for (int64_t leaves; (leaves = gr_next_node(l, &first, GR_ANY_NODE)) > 0; node++) {
      s->leaves[node] = leaves;
      for (int k = 0; k < s->op->states; k++) *to++ = *from++;
    }
  }
  return failed != 0;
}

static gr_status fold_parts(ranked *s, uint64_t *words, gr_status mine) {
  gr_context *c = s->c;
  gr_comm *comm = c->comm;
  int64_t total = 0;
  for (int r = 0; r < comm->size; r++) {
    const int64_t nodes = gr_count_nodes(gr_leaves_of(comm->starts, comm->size, r, s->leaf), GR_ANY_NODE);
    comm->lengths[r] = 8 + nodes * s->op->states * 8;
    total += comm->lengths[r];
    s->nodes += nodes;
  }
  const int64_t bytes = comm->lengths[comm->rank] + total + s->nodes * 8 + s->leaf * s->size + 64;
  char *block = mine == GR_OK ? malloc((size_t)bytes) : NULL;
  if (mine == GR_OK && !block) mine = gr_fail(c, GR_NO_MEMORY, "out of memory: %lld bytes", (long long)bytes);
  s->mine = (uint64_t *)(void *)block;
  s->all = (uint64_t *)(void *)(block + comm->lengths[comm->rank]);
  s->leaves = (int64_t *)(void *)(block + comm->lengths[comm->rank] + total);
  s->joined = block + comm->lengths[comm->rank] + total + s->nodes * 8;
  gr_status status = gr_has_borders(comm->starts, comm->size, s->leaf)
                         ? gr_ranks_borders_of(c, s->op->dtype, s->v, s->leaf, 0, &s->before, mine)
                         : gr_ranks_agree(c, mine);
  if (status == GR_OK) {
    const gr_status own = make_messages(s);
    status = gr_ranks_moved(c, comm->table->gather_parts(comm->handle, s->mine, s->all, comm->lengths));
    if (status == GR_OK && close_up(s)) status = gr_ranks_agree(c, own);
  }
  if (status == GR_OK) {
    gr_operator_job job = {.op = s->op, .n = gr_ranks_all(c), .count = 1, .longest = 1, .a = {s->all, 8, 0}};
    job.part = s->nodes ? GR_OPERATOR_NODES : GR_OPERATOR_WHOLE;
    job.nodes = s->nodes;
    job.leaves = s->leaves;
    for (int k = 0; k < s->op->results; k++) {
      words[k] = 0;
      job.out[k] = (gr_vec){&words[k], 8, 0};
    }
    status = gr_fail_from(c, s->q, c->host->cpu()->custom(s->q, &job), "operator", 0);
  }
  free(s->before);
  free(block);
  return status;
}

static void add_program(uint64_t sum[2], const gr_program *p) {
  for (int32_t k = 0; k < p->count; k++) {
    const gr_node *x = &p->nodes[k];
    gr_digest_add(sum,
                  (uint64_t)x->kind | (uint64_t)x->dtype << 8 | (uint64_t)x->from << 16 | (uint64_t)x->op << 24 |
                      (uint64_t)x->relation << 32 | (uint64_t)x->input << 40,
                  (uint64_t)k);
    gr_digest_add(sum, (uint64_t)(uint16_t)x->a | (uint64_t)(uint16_t)x->b << 16 | (uint64_t)(uint16_t)x->c << 32,
                  (uint64_t)k + 1000000);
  }
  for (int32_t k = 0; k < p->number_count; k++) gr_digest_add(sum, p->numbers[k], (uint64_t)k + 2000000);
}

/* What the operator does, for ranks to compare. */
static uint64_t digest_of(const gr_operator *op) {
  const gr_program *const programs[] = {&op->map, &op->merge, &op->finish};
  uint64_t sum[2] = {0, 0}, all[2] = {0, 0};
  for (int k = 0; k < 3; k++) {
    sum[0] = sum[1] = 0;
    add_program(sum, programs[k]);
    gr_digest_add(all, sum[0], (uint64_t)k);
  }
  for (int k = 0; k < op->states; k++) gr_digest_add(all, op->identity[k], (uint64_t)k + 3);
  return all[0];
}

/* Which of this rank's elements are present: a copy of these, made here. */
static gr_status keep_present(gr_context *c, const gr_missing *m, gr_reduced *of, gr_array *kept) {
  struct gr_comm *comm = c->comm;
  const gr_partial p = {.a = *of, .missing = *m};
  c->comm = NULL; /* they are counted by each rank for itself */
  const gr_status status = gr_partial_compact(c, &p, *of, kept);
  c->comm = comm;
  if (status == GR_OK) *of = (gr_reduced){NULL, kept};
  return status;
}

gr_status gr_custom_ranks(gr_context *c, gr_custom *u, const gr_missing *m, gr_reduced *given, uint64_t *words) {
  char text[128];
  const gr_dtype t = given->a->dtype;
  ranked s = {.c = c, .op = &u->op, .size = gr_size_of(t), .leaf = GR_LEAF(gr_size_of(t))};
  gr_array kept = {0};
  gr_status mine = gr_custom_make(c, u, t);
  if (mine == GR_OK) mine = gr_reduced_eval(c, given);
  gr_reduced of = *given;
  if (mine == GR_OK && gr_array_released(of.a)) mine = gr_fail(c, GR_BAD, "array has been released");
  if (mine == GR_OK && gr_may_miss(m) && of.a->n) mine = keep_present(c, m, &of, &kept);
  if (mine == GR_OK) mine = gr_array_read(of.a, GR_HOST, &s.v);
  s.q = of.a->storage->queue;
  snprintf(text, sizeof text, "operator of %d states and %d results of %s%s%s (digest %016llx)", u->states,
           u->op.results, gr_dtypes[t].name, m->nan ? ", skipnan" : "", m->mask.a ? ", mask" : "",
           mine == GR_OK ? (unsigned long long)digest_of(&u->op) : 0);
  gr_status status = gr_ranks_meet(c, text, of.a->n, 1, mine);
  if (status == GR_OK) status = fold_parts(&s, words, GR_OK);
  gr_array_release(&kept);
  return status;
}

gr_status gr_custom_ranks_each(gr_context *c, gr_custom *u, gr_shape s, const gr_missing *missing, gr_reduced *of,
                               gr_array *const *out) {
  gr_missing m = *missing;
  uint64_t words[GR_OPERATOR_STATES];
  gr_vec to[GR_OPERATOR_STATES];
  int64_t columns = 0;
  gr_status status = gr_custom_make(c, u, of->a->dtype);
  if (status == GR_OK) status = gr_reduced_eval(c, of);
  if (status == GR_OK && m.mask.a) status = gr_reduced_eval(c, &m.mask);
  status = gr_ranks_each(c, "operator", s, of->a, status, &columns);
  if (status != GR_OK) return status;
  status = gr_ranks_results(c, of->a, out, u->op.result, u->op.results, to);
  for (int64_t v = 0; v < columns && status == GR_OK; v++) {
    gr_array a = {0}, mask = {0};
    gr_missing own = {.nan = m.nan};
    gr_ranks_column(s, of->a, v, &a);
    if (m.mask.a) gr_ranks_column(s, m.mask.a, v, &mask), own.mask = (gr_reduced){NULL, &mask};
    status = gr_custom_ranks(c, u, &own, &(gr_reduced){NULL, &a}, words);
    for (int k = 0; k < u->op.results && status == GR_OK; k++)
      memcpy((char *)(uintptr_t)to[k].data + v * to[k].stride, &words[k], (size_t)gr_size(out[k]->dtype));
    gr_array_release(&a);
    gr_array_release(&mask);
  }
  return status;
}
