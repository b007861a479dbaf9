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
#include "src/core/ranks/plan.h"
#include "src/core/ranks/tiles.h"

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
    gr_words_out(job.out, to, s->op->states);
    to += s->op->states;
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

/* The nodes of all ranks, which have closed up, become the results. */
static gr_status fold_nodes(const ranked *s, uint64_t *words) {
  gr_operator_job job = {.op = s->op, .n = gr_ranks_all(s->c), .count = 1, .longest = 1, .a = {s->all, 8, 0}};
  job.part = s->nodes ? GR_OPERATOR_NODES : GR_OPERATOR_WHOLE;
  job.nodes = s->nodes;
  job.leaves = s->leaves;
  gr_words_out(job.out, words, s->op->results);
  return gr_fail_from(s->c, s->q, s->c->host->cpu()->custom(s->q, &job), "operator", 0);
}

/* Room for everything: the messages, what they are of, and the leaf at a border. NULL: there is none. */
static char *make_room(ranked *s, int64_t *bytes) {
  gr_comm *comm = s->c->comm;
  int64_t total = 0, at = 0;
  for (int r = 0; r < comm->size; r++) {
    const int64_t nodes = gr_count_nodes(gr_leaves_of(comm->starts, comm->size, r, s->leaf), GR_ANY_NODE);
    comm->lengths[r] = 8 + nodes * s->op->states * 8;
    total += comm->lengths[r];
    s->nodes += nodes;
  }
  const int64_t mine = gr_take_room(&at, comm->lengths[comm->rank]), all = gr_take_room(&at, total);
  const int64_t leaves = gr_take_room(&at, s->nodes * 8), joined = gr_take_room(&at, s->leaf * s->size);
  char *block = malloc((size_t)at);
  *bytes = at;
  if (!block) return NULL;
  s->mine = (uint64_t *)(void *)(block + mine);
  s->all = (uint64_t *)(void *)(block + all);
  s->leaves = (int64_t *)(void *)(block + leaves);
  s->joined = block + joined;
  return block;
}

static gr_status fold_parts(ranked *s, uint64_t *words) {
  gr_context *c = s->c;
  gr_comm *comm = c->comm;
  int64_t bytes;
  char *block = make_room(s, &bytes);
  gr_status status = block ? GR_OK : gr_fail(c, GR_NO_MEMORY, "out of memory: %lld bytes", (long long)bytes);
  status = gr_has_borders(comm->starts, comm->size, s->leaf)
               ? gr_ranks_borders_of(c, s->op->dtype, s->v, s->leaf, 0, &s->before, status)
               : gr_ranks_agree(c, status);
  if (status == GR_OK) {
    const gr_status own = make_messages(s);
    status = gr_ranks_moved(c, comm->table->gather_parts(comm->handle, s->mine, s->all, comm->lengths));
    if (status == GR_OK && close_up(s)) status = gr_ranks_agree(c, own);
  }
  if (status == GR_OK) status = fold_nodes(s, words);
  free(s->before);
  free(block);
  return status;
}

/* ---- in order ---- */

/* A scan, or its last result alone, which is what a merge that does not commute comes to. */
typedef struct in_order {
  gr_context *c;
  gr_queue *q;
  const gr_operator *op;
  int scans, exclusive, reverse;
  gr_vec out[GR_OPERATOR_STATES]; /* of a scan, as it meets this rank's part; else of the last element */
} in_order;

static gr_operator_job job_of(const in_order *s, const gr_tiles_stretch *p) {
  return (gr_operator_job){.op = s->op,
                           .n = p->n,
                           .count = 1,
                           .longest = p->n,
                           .a = p->a,
                           .reverse = s->reverse,
                           .first = p->first,
                           .whole = gr_ranks_all(s->c)};
}

static gr_status total(void *with, const gr_tiles_stretch *p, uint64_t *words) {
  const in_order *s = with;
  gr_operator_job job = job_of(s, p);
  job.part = GR_OPERATOR_TILES;
  gr_words_out(job.out, words, s->op->states);
  return s->c->host->cpu()->custom(s->q, &job);
}

static gr_status write_results(void *with, const gr_tiles_stretch *p, const gr_tiles_result *r) {
  const in_order *s = with;
  const int64_t low = gr_ranks_before(s->c), end = p->first + p->n;
  const int keep = s->scans && r->room;
  gr_operator_job job = job_of(s, p);
  if (!s->scans && end < job.whole) return GR_OK; /* the last element is another's */
  job.part = GR_OPERATOR_PART;
  job.scans = s->scans;
  job.exclusive = s->exclusive;
  job.before = r->totals;
  job.leaves = r->tiles;
  job.nodes = r->count;
  char *room = r->room;
  for (int k = 0; k < s->op->results; k++) {
    const int size = gr_size(s->op->result[k]);
    job.out[k] = s->out[k];
    if (keep) job.out[k] = (gr_vec){room, size, 0};
    else if (s->scans) job.out[k].data = (const char *)s->out[k].data + (p->first - low) * s->out[k].stride;
    room += GR_SCAN_TILE * size;
  }
  const gr_status status = s->c->host->cpu()->custom(s->q, &job);
  for (int k = 0; k < s->op->results && keep && status == GR_OK; k++)
    gr_tiles_keep(r, p->first, end, gr_size(s->op->result[k]), (const char *)job.out[k].data - r->room,
                  gr_tiles_placed(s->out[k], low));
  return status;
}

static gr_status run_in_order(in_order *s, gr_dtype t, gr_vec a, int64_t n) {
  gr_tiles tiles = {.c = s->c,
                    .q = s->q,
                    .name = "operator",
                    .dtype = t,
                    .a = a,
                    .n = n,
                    .ordered = 1,
                    .words = s->op->states,
                    .spread = s->op->states,
                    .total = total,
                    .write = write_results,
                    .with = s};
  for (int k = 0; k < s->op->results; k++) tiles.result += gr_size(s->op->result[k]);
  return gr_ranks_tiles(&tiles);
}

/* The rank of the last element has the results, and tells the others. */
static gr_status fold_in_order(const ranked *given, int64_t n, uint64_t *words) {
  gr_context *c = given->c;
  const gr_comm *comm = c->comm;
  in_order s = {.c = c, .q = given->q, .op = given->op};
  int last = comm->size - 1;
  gr_words_out(s.out, words, s.op->results);
  while (last > 0 && comm->starts[last] == comm->starts[comm->size]) last--;
  const gr_status status = run_in_order(&s, s.op->dtype, given->v, n);
  if (status != GR_OK) return status;
  return gr_ranks_moved(c, comm->table->broadcast(comm->handle, words, s.op->results * 8, last));
}

/* ---- calls ---- */

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
  gr_digest_add(all, (uint64_t)op->ordered, 9);
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

void gr_custom_options(char text[GR_CUSTOM_OPTIONS], int exclusive, int reverse, const gr_missing *m) {
  snprintf(text, GR_CUSTOM_OPTIONS, "%s%s%s%s", exclusive ? ", exclusive" : "", reverse ? ", reverse" : "",
           m->nan ? ", skipnan" : "", m->mask.a ? ", mask" : "");
}

/* All that ranks must agree on. */
static void describe(const gr_custom *u, const char *what, gr_dtype t, const char *options, gr_status mine,
                     char text[GR_CARD_TEXT]) {
  snprintf(text, GR_CARD_TEXT, "%s of %d states and %d results of %s%s (digest %016llx)", what, u->states,
           u->op.results, gr_dtypes[t].name, options, mine == GR_OK ? (unsigned long long)digest_of(&u->op) : 0);
}

gr_status gr_custom_ranks(gr_context *c, gr_custom *u, const gr_missing *m, gr_reduced *given, uint64_t *words) {
  char text[GR_CARD_TEXT], options[GR_CUSTOM_OPTIONS];
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
  gr_custom_options(options, 0, 0, m);
  describe(u, "operator", t, options, mine, text);
  gr_status status = gr_ranks_meet(c, text, of.a->n, 1, mine);
  if (status == GR_OK && u->op.ordered && gr_ranks_all(c)) status = fold_in_order(&s, of.a->n, words);
  else if (status == GR_OK) status = fold_parts(&s, words);
  gr_array_release(&kept);
  return status;
}

gr_status gr_custom_ranks_scan(gr_context *c, gr_custom *u, const gr_array *a, gr_array *const *out, int exclusive,
                               int reverse, const char *options, gr_status mine) {
  char text[GR_CARD_TEXT];
  gr_vec v = {0};
  in_order s = {.c = c, .q = a->storage->queue, .op = &u->op, .scans = 1, .exclusive = exclusive, .reverse = reverse};
  if (mine == GR_OK) mine = gr_custom_make(c, u, a->dtype);
  if (mine == GR_OK && gr_array_released(a)) mine = GR_RELEASED;
  if (mine == GR_OK) mine = gr_array_read(a, GR_HOST, &v);
  for (int k = 0; k < u->op.results && mine == GR_OK; k++) mine = gr_array_write(out[k], GR_HOST, 1, &s.out[k]);
  describe(u, "scan by operator", a->dtype, options, mine, text);
  const gr_status status = gr_ranks_meet(c, text, a->n, 0, mine);
  if (status != GR_OK) return status;
  if (reverse) {
    gr_ranks_mirror(c);
    v = gr_tiles_turned(v, a->n);
    for (int k = 0; k < u->op.results; k++) s.out[k] = gr_tiles_turned(s.out[k], a->n);
  }
  return run_in_order(&s, a->dtype, v, a->n);
}

gr_status gr_custom_ranks_each(gr_context *c, gr_custom *u, gr_shape s, const gr_missing *missing, gr_reduced *of,
                               gr_array *const *out) {
  gr_missing m = *missing;
  uint64_t words[GR_OPERATOR_STATES];
  gr_vec to[GR_OPERATOR_STATES];
  int64_t columns = 0;
  gr_status status = gr_custom_make(c, u, of->a->dtype);
  if (status == GR_OK) status = gr_reduced_eval_both(c, of, &m.mask);
  status = gr_ranks_each(c, "operator", s, of->a, status, &columns);
  if (status != GR_OK) return status;
  status = gr_ranks_results(c, of->a, out, u->op.result, u->op.results, to);
  for (int64_t v = 0; v < columns && status == GR_OK; v++) {
    gr_array a = gr_shape_vector(s, of->a, v), mask;
    const gr_missing own = gr_missing_of(s, &m, v, &mask);
    status = gr_custom_ranks(c, u, &own, &(gr_reduced){NULL, &a}, words);
    for (int k = 0; k < u->op.results && status == GR_OK; k++)
      memcpy((char *)(uintptr_t)to[k].data + v * to[k].stride, &words[k], (size_t)gr_size(out[k]->dtype));
  }
  return status;
}
