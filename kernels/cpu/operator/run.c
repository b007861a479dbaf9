/* Custom operators: their programs, workspaces, and which vectors are taken together. */
#include "kernels/cpu/operator/operator.h"

#include "kernels/cpu/gather.h"
#include "kernels/cpu/scan/scan.h"

#define LONG 65536    /* elements: longer vectors are taken one by one, each by all threads */
#define TOGETHER 2048 /* segments to a thread at a time, and a power of two */
#define PIECE 32768   /* elements to a thread at a time, at least */

static int64_t on_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* ---- programs ---- */

static const char nowhere[64]; /* where inputs lie, as long as no run says it */

/* What the program gives, of such dtypes, in blocks of its own; nodes: room for a copy of it. */
static int64_t plan(gr_called *c, const gr_program *g, const int32_t *nodes, const gr_dtype *dtypes, int count,
                    gr_node *copy, void *room, int threads) {
  int k, used = 0;
  c->nodes = nodes;
  c->count = count;
  c->program = *g;
  c->program.nodes = copy;
  for (k = 0; k < g->count; k++) {
    copy[k] = g->nodes[k];
    if (copy[k].kind != GR_NODE_POSITION) continue;
    copy[k].kind = GR_NODE_INPUT; /* in a block are elements of many vectors: their places are an input, too */
    copy[k].input = 1;
    copy[k].spread = GR_EACH;
  }
  for (k = 0; k < g->count; k++) {
    if (copy[k].kind != GR_NODE_INPUT) continue;
    c->inputs[copy[k].input].data = nowhere;
    c->inputs[copy[k].input].stride = gr_size_of((gr_dtype)copy[k].dtype);
  }
  for (k = 0; k < count; k++) {
    c->size[k] = gr_size_of(dtypes[k]);
    if (GR_IS_NUMBER(nodes[k])) continue;
    c->consumers[used].a = nodes[k];
    c->consumers[used++].b = -1;
  }
  c->job.program = &c->program;
  c->job.inputs = c->inputs;
  c->job.n = c->job.columns = GR_BLOCK_MOST;
  c->job.result = -1;
  c->job.consumer_count = used;
  c->job.consumers = c->consumers;
  return gr_block_make(&c->plan, &c->job, room, threads);
}

/* m positions of these inputs. Several states may be one node, and a node may be an input as it is. */
static void run(const gr_called *c, int set, const char *const *inputs, gr_states to, int64_t t, int64_t m) {
  char *outs[GR_BLOCK_OUTS] = {NULL};
  for (int k = 0; k < c->count; k++) {
    char *at = to.at[k] + t * c->size[k];
    const int node = c->nodes[k], out = GR_IS_NUMBER(node) ? -1 : gr_block_out_of(&c->plan, node);
    if (GR_IS_NUMBER(node)) gr_gather(at, (const char *)&c->program.numbers[GR_NUMBER_OF(node)], 0, m, c->size[k]);
    else if (out < 0) memcpy(at, inputs[c->program.nodes[node].input], (size_t)(m * c->size[k]));
    else if (!outs[out]) outs[out] = at;
  }
  if (c->plan.outs) gr_block_run_on(&c->plan, gr_block_set(&c->plan, set), inputs, m, outs);
  for (int k = 0; k < c->count; k++) {
    char *at = to.at[k] + t * c->size[k];
    const int out = GR_IS_NUMBER(c->nodes[k]) ? -1 : gr_block_out_of(&c->plan, c->nodes[k]);
    if (out >= 0 && outs[out] != at) memcpy(at, outs[out], (size_t)(m * c->size[k]));
  }
}

/* ---- memory ---- */

int64_t gr_operator_size(const gr_operating *o, int state) { return gr_size_of(o->job->op->state[state]); }

static int64_t state_bytes(const gr_operating *o, int64_t width) {
  int64_t bytes = 0;
  for (int k = 0; k < o->job->op->states; k++) bytes += on_lines(width * gr_operator_size(o, k));
  return bytes;
}

/* A map's room is that of a plan of its own and a copy of its nodes; so are the others'. */
static int64_t program_room(const gr_program *g) {
  return on_lines(gr_block_plan_bytes(g)) + on_lines(g->count * (int64_t)sizeof(gr_node));
}

int64_t gr_cpu_operator_room(const gr_operator_job *job) {
  const gr_operator *op = job->op;
  return on_lines((int64_t)sizeof(gr_operating)) + program_room(&op->map) + program_room(&op->merge) +
         program_room(&op->finish);
}

static int64_t plan_in(gr_called *c, const gr_program *g, const int32_t *nodes, const gr_dtype *dtypes, int count,
                       char **room, int threads) {
  gr_node *copy = (gr_node *)(void *)(*room + on_lines(gr_block_plan_bytes(g)));
  const int64_t bytes = plan(c, g, nodes, dtypes, count, copy, *room, threads);
  *room += program_room(g);
  return on_lines(bytes);
}

/* Threads that find a piece, and one workspace more, for who folds what they give. */
static int sets_of(const gr_operator_job *job, int threads) {
  const double pieces = 1 + (double)job->count * ((double)job->longest + 1) / TOGETHER;
  return (threads < 1 ? 1 : threads < pieces ? threads : (int)pieces) + 1;
}

/* The blocks of the three programs, workspaces, which of them are in use, and the states of a long vector's pieces. */
int64_t gr_cpu_operator_plan(const gr_operator_job *job, void *room, int threads) {
  gr_operating *o = (gr_operating *)room;
  const gr_operator *op = job->op;
  char *at = (char *)room + on_lines((int64_t)sizeof(gr_operating));
  memset(o, 0, sizeof(*o));
  o->job = job;
  o->size = gr_size_of(op->dtype);
  o->lanes = GR_LANES(o->size);
  o->leaf = GR_LEAF(o->size);
  o->tiles = op->states < 3 ? 4 : op->states < 5 ? 2 : 1;
  o->sets = sets_of(job, threads);
  int64_t bytes = plan_in(&o->map, &op->map, op->mapped, op->state, op->states, &at, o->sets);
  bytes += plan_in(&o->merge, &op->merge, op->merged, op->state, op->states, &at, o->sets);
  bytes += plan_in(&o->finish, &op->finish, op->finished, op->result, op->results, &at, o->sets);
  o->set_bytes = 3 * 8 * (int64_t)GR_FOLD_WIDTH + 4 * state_bytes(o, GR_FOLD_WIDTH) +
                 op->results * (int64_t)GR_FOLD_WIDTH * 8 + TOGETHER * (int64_t)(sizeof(char *) + 8) +
                 (gr_in_order(job) ? gr_order_bytes(o) : 0);
  o->set_bytes = on_lines(o->set_bytes);
  return bytes + o->sets * o->set_bytes + on_lines(o->sets * (int64_t)sizeof(atomic_int)) +
         state_bytes(o, GR_MOST_PIECES);
}

static char *cut_states(const gr_operating *o, gr_states *s, char *at, int64_t width) {
  for (int k = 0; k < o->job->op->states; k++) {
    s->at[k] = at;
    at += on_lines(width * gr_operator_size(o, k));
  }
  return at;
}

static char *ready(gr_called *c, char *memory, int64_t bytes) {
  gr_block_ready(&c->plan, memory);
  return memory + bytes;
}

static int64_t block_bytes(const gr_called *c) {
  return on_lines(c->plan.constants * (int64_t)c->plan.block * 8 + c->plan.sets * c->plan.set_bytes + GR_BLOCK_PAGE);
}

static void get_ready(gr_operating *o, char *memory) {
  memory = ready(&o->map, memory, block_bytes(&o->map));
  memory = ready(&o->merge, memory, block_bytes(&o->merge));
  memory = ready(&o->finish, memory, block_bytes(&o->finish));
  o->memory = memory;
  memory += o->sets * o->set_bytes;
  o->taken = (atomic_int *)(void *)memory;
  for (int k = 0; k < o->sets; k++) atomic_init(&o->taken[k], 0);
  memory += on_lines(o->sets * (int64_t)sizeof(atomic_int));
  cut_states(o, &o->pieces, memory, GR_MOST_PIECES);
}

/* There are as many workspaces as threads, so one is always free. */
static int take_set(gr_operating *o) {
  int k = 0;
  for (;; k = (k + 1) % o->sets) {
    int idle = 0;
    if (atomic_compare_exchange_strong(&o->taken[k], &idle, 1)) return k;
  }
}

gr_work gr_work_take(gr_operating *o) {
  gr_work w = {.o = o, .set = take_set(o)};
  char *at = o->memory + w.set * o->set_bytes;
  w.x = at;
  w.position = (int64_t *)(void *)(at + 8 * GR_FOLD_WIDTH);
  w.counts = (double *)(void *)(at + 16 * GR_FOLD_WIDTH);
  at += 24 * GR_FOLD_WIDTH;
  at = cut_states(o, &w.now, at, GR_FOLD_WIDTH);
  at = cut_states(o, &w.next, at, GR_FOLD_WIDTH);
  at = cut_states(o, &w.row, at, GR_FOLD_WIDTH);
  at = cut_states(o, &w.nodes, at, GR_FOLD_WIDTH);
  for (int k = 0; k < o->job->op->results; k++, at += 8 * GR_FOLD_WIDTH) w.results.at[k] = at;
  w.list = at;
  w.planes = at + TOGETHER * (int64_t)(sizeof(char *) + 8);
  return w;
}

void gr_work_give(gr_operating *o, const gr_work *w) { atomic_store(&o->taken[w->set], 0); }

/* ---- steps ---- */

void gr_work_map(gr_work *w, const char *x, const int64_t *position, gr_states to, int64_t m) {
  const char *inputs[2] = {x, (const char *)position};
  run(&w->o->map, w->set, inputs, to, 0, m);
}

void gr_work_merge(gr_work *w, gr_states left, int64_t l, gr_states right, int64_t r, gr_states to, int64_t t,
                   int64_t m) {
  const char *inputs[GR_FOLD_INPUTS];
  for (int k = 0; k < w->o->merge.count; k++) {
    inputs[2 * k] = left.at[k] + l * w->o->merge.size[k];
    inputs[2 * k + 1] = right.at[k] + r * w->o->merge.size[k];
  }
  run(&w->o->merge, w->set, inputs, to, t, m);
}

void gr_work_copy(const gr_work *w, gr_states from, int64_t f, gr_states to, int64_t t, int64_t m) {
  for (int k = 0; k < w->o->merge.count && m > 0; k++) {
    const int64_t size = w->o->merge.size[k];
    memcpy(to.at[k] + t * size, from.at[k] + f * size, (size_t)(m * size));
  }
}

void gr_work_fill(const gr_work *w, gr_states to, int64_t t, int64_t m) {
  const gr_operator *op = w->o->job->op;
  for (int k = 0; k < op->states; k++) {
    const int size = w->o->merge.size[k];
    gr_gather(to.at[k] + t * size, (const char *)&op->identity[k], 0, m, size);
  }
}

/* Every NaN is the one of its dtype, as in all results. */
static void settle_nans(gr_dtype t, char *at, int64_t m) {
#define SETTLE(id, type, widen, narrow)  \
  if (t == id)                           \
    for (int64_t k = 0; k < m; k++) {    \
      type *x = (type *)(void *)at + k;  \
      const double d = widen(*x);        \
      if (d != d) *x = narrow(gr_nan()); \
    }
  SETTLE(GR_F64, double, gr_widen_f64, gr_widen_f64)
  SETTLE(GR_F32, float, gr_widen_f32, gr_f64_to_f32)
  SETTLE(GR_F16, gr_f16, gr_widen_f16, gr_f64_to_f16)
  SETTLE(GR_BF16, gr_bf16, gr_widen_bf16, gr_f64_to_bf16)
#undef SETTLE
}

void gr_work_finish(gr_work *w, gr_states from, const double *counts, int64_t m) {
  const gr_operator *op = w->o->job->op;
  const char *inputs[GR_OPERATOR_STATES + 1];
  for (int k = 0; k < op->states; k++) inputs[k] = from.at[k];
  inputs[op->states] = (const char *)counts;
  run(&w->o->finish, w->set, inputs, w->results, 0, m);
  for (int k = 0; k < op->results; k++) settle_nans(op->result[k], w->results.at[k], m);
}

#define SPREAD(type) \
  for (k = 0; k < m; k++, from += stride, to += pitch) memcpy(to, from, sizeof(type))
void gr_spread_elements(int size, char *to, int64_t pitch, const char *from, int64_t stride, int64_t m) {
  int64_t k;
  switch (size) {
    case 1: SPREAD(uint8_t); break;
    case 2: SPREAD(uint16_t); break;
    case 4: SPREAD(uint32_t); break;
    default: SPREAD(uint64_t); break;
  }
}

/* ---- vectors ---- */

static int64_t together(const gr_operating *o, int64_t n) {
  if (n == 0) return GR_FOLD_WIDTH;
  return o->job->op->ordered ? gr_order_together(o, n) : gr_fold_together(o, n);
}

/* States in work->now, one a vector of n elements. */
static void finish(gr_work *w, int64_t n, int64_t count) {
  for (int64_t k = 0; k < count; k++) w->counts[k] = (double)n;
  gr_work_finish(w, w->now, w->counts, count);
}

static void fold(gr_work *w, const gr_bundle *b) {
  if (b->n == 0) gr_work_fill(w, w->now, 0, b->count);
  else if (w->o->job->op->ordered) gr_order_bundle(w, b);
  else gr_fold_bundle(w, b);
  finish(w, b->n, b->count);
}

/* Results of `count` vectors from v on; or, of a part, states. */
static void put(const gr_work *w, int64_t v, int64_t count) {
  const gr_operator_job *job = w->o->job;
  const int states = job->part == GR_OPERATOR_STATES_OF || job->part == GR_OPERATOR_TILES;
  for (int k = 0; k < (states ? job->op->states : job->op->results); k++)
    gr_scatter(states ? w->now.at[k] : w->results.at[k], (char *)(uintptr_t)job->out[k].data + v * job->out[k].stride,
               job->out[k].stride, count, states ? (int)gr_operator_size(w->o, k) : w->o->finish.size[k]);
}

static gr_bundle bundle_at(const gr_operator_job *job, int64_t v, int64_t count) {
  return (gr_bundle){.base = (const char *)job->a.data + v * job->a.step,
                     .step = job->a.step,
                     .stride = job->a.stride,
                     .n = job->n,
                     .count = count,
                     .first = job->first};
}

static void do_rows(void *arg, int64_t v, int64_t end) {
  gr_operating *o = (gr_operating *)arg;
  const gr_operator_job *job = o->job;
  const int64_t most = together(o, job->n);
  gr_work w = gr_work_take(o);
  for (int64_t m; v < end; v += m) {
    m = end - v < most ? end - v : most;
    gr_bundle b = bundle_at(job, v, m);
    fold(&w, &b);
    put(&w, v, m);
  }
  gr_work_give(o, &w);
}

static int64_t segment_at(const gr_operator_job *job, int64_t v, int64_t *n) {
  const gr_reduce_job where = {.offsets = job->offsets, .offsets_are_i32 = job->offsets_are_i32};
  return gr_segment(&where, v, n);
}

/* By Shell's method: a few thousand at most. */
static void sort(uint64_t *keys, int64_t n) {
  int64_t gap, j;
  for (gap = 1; gap < n; gap = 3 * gap + 1) continue;
  for (; gap > 0; gap /= 3) {
    for (int64_t k = gap; k < n; k++) {
      const uint64_t x = keys[k];
      for (j = k; j >= gap && keys[j - gap] > x; j -= gap) keys[j] = keys[j - gap];
      keys[j] = x;
    }
  }
}

/* Segments of one length go together: their numbers are the lowest bits of the keys. */
static void do_segments(void *arg, int64_t first, int64_t end) {
  gr_operating *o = (gr_operating *)arg;
  const gr_operator_job *job = o->job;
  gr_work w = gr_work_take(o);
  const char **own = (const char **)(void *)w.list;
  uint64_t *keys = (uint64_t *)(void *)(w.list + TOGETHER * sizeof(char *));
  int64_t used = 0, k, m, n, i;
  for (k = 0; k < end - first; k++) {
    segment_at(job, first + k, &n);
    if (n <= LONG) keys[used++] = (uint64_t)n * TOGETHER | (uint64_t)k;
  }
  sort(keys, used);
  for (k = 0; k < used; k += m) {
    gr_bundle b = {NULL, own, 0, job->a.stride, (int64_t)(keys[k] / TOGETHER), 0, 0};
    const int64_t most = together(o, b.n);
    for (m = 0; k + m < used && m < most && (int64_t)(keys[k + m] / TOGETHER) == b.n; m++)
      own[m] =
          (const char *)job->a.data + segment_at(job, first + (int64_t)(keys[k + m] % TOGETHER), &n) * job->a.stride;
    b.count = m;
    fold(&w, &b);
    for (int r = 0; r < job->op->results; r++)
      for (i = 0; i < m; i++)
        memcpy((char *)(uintptr_t)job->out[r].data + (first + (int64_t)(keys[k + i] % TOGETHER)) * job->out[r].stride,
               w.results.at[r] + i * o->finish.size[r], (size_t)o->finish.size[r]);
  }
  gr_work_give(o, &w);
}

static void do_long(gr_operating *o, int64_t v, gr_bundle b, gr_parallel parallel) {
  gr_work w = gr_work_take(o);
  b.count = 1;
  if (o->job->op->ordered) gr_order_long(o, &b, parallel, &w);
  else gr_fold_long(o, &b, parallel, &w);
  if (!(gr_watching.stopped && gr_stopped())) {
    finish(&w, b.n, 1);
    put(&w, v, 1);
  }
  gr_work_give(o, &w);
}

static void reduce_rows(gr_operating *o, gr_parallel parallel) {
  const gr_operator_job *job = o->job;
  const int64_t most = together(o, job->n);
  int64_t size = most;
  if (job->n > LONG) {
    for (int64_t v = 0; v < job->count && !(v && gr_stopped()); v++) do_long(o, v, bundle_at(job, v, 1), parallel);
    return;
  }
  while (size * (job->n + 1) < PIECE) size += most;
  gr_in_ranges(parallel, job->count, size, do_rows, o);
}

static void reduce_segments(gr_operating *o, gr_parallel parallel) {
  const gr_operator_job *job = o->job;
  int64_t n;
  gr_in_ranges(parallel, job->count, TOGETHER, do_segments, o);
  for (int64_t v = 0; v < job->count && job->longest > LONG && !(v && gr_stopped()); v++) {
    const char *from = (const char *)job->a.data + segment_at(job, v, &n) * job->a.stride;
    if (n > LONG) do_long(o, v, (gr_bundle){.base = from, .stride = job->a.stride, .n = n, .count = 1}, parallel);
  }
}

/* Nodes of other ranks and of this one, whose states lie side by side. */
static void fold_nodes(gr_operating *o) {
  const gr_operator_job *job = o->job;
  const char *at = (const char *)job->a.data;
  gr_work w = gr_work_take(o);
  for (int64_t v = 0; v < job->nodes; v++) {
    for (int k = 0; k < job->op->states; k++, at += 8) memcpy(w.now.at[k], at, (size_t)gr_operator_size(o, k));
    gr_fold_push(&w, job->leaves[v]);
  }
  gr_fold_collect(&w);
  finish(&w, job->n, 1);
  put(&w, 0, 1);
  gr_work_give(o, &w);
}

/* Tiles of this rank, or what comes of them and of those before. */
static void do_part(gr_operating *o, gr_parallel parallel) {
  const gr_operator_job *job = o->job;
  gr_work w = gr_work_take(o);
  gr_order_part(o, parallel, &w);
  if (!job->scans && !(gr_watching.stopped && gr_stopped())) {
    if (job->part == GR_OPERATOR_PART) finish(&w, job->first + job->n, 1);
    put(&w, 0, 1);
  }
  gr_work_give(o, &w);
}

void gr_cpu_operator(const gr_operator_job *job, void *room, void *memory, gr_parallel parallel) {
  gr_operating *o = (gr_operating *)room;
  get_ready(o, (char *)memory);
  if (job->part >= GR_OPERATOR_TILES) do_part(o, parallel);
  else if (job->scans) gr_order_scan(o, parallel);
  else if (job->part == GR_OPERATOR_NODES) fold_nodes(o);
  else if (job->offsets) reduce_segments(o, parallel);
  else reduce_rows(o, parallel);
}
