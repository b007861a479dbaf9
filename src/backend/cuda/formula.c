/*
** Formulas: compiled once (src/backend/jit), then launched as the reductions are, on their plans, scratch memory and
** mailboxes. What has no skeleton, rows too short for a warp each, and what the driver cannot compile run step by step.
*/
#include "src/backend/cuda/function.h"
#include "src/backend/cuda/take.h"

#include <string.h>

#include "kernels/cuda/formula/store.h"
#include "kernels/numerics/numerics.h"

/* ---- elements ---- */

static gr_status store(gr_cuda_queue *q, const gr_formula_job *job) {
  const gr_dtype t = (gr_dtype)job->program->nodes[job->result].dtype;
  const int size = gr_size_of(t);
  const int64_t block = (int64_t)GR_STORE_THREADS * GR_STORE_ROWS * (16 / size);
  struct {
    gr_store_args own;
    uint64_t words[GR_JIT_WORDS];
  } arguments = {.own = {(void *)(uintptr_t)job->out.data, job->out.stride, job->n,
                         job->out.stride == size && (uintptr_t)job->out.data % 16 == 0, 0}};
  gr_cuda_taken c;
  if ((job->n - 1) / block >= INT32_MAX) return GR_NOT_FUSED;
  gr_status status = gr_cuda_take_formula(q, job, &(gr_jit_asked){GR_JIT_STORE, job->result, -1, -1, 0, 0}, t, &c);
  if (status != GR_OK) return status;
  memcpy(arguments.words, c.words, (size_t)c.formula.count * sizeof *c.words);
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  const unsigned blocks = (unsigned)((job->n - 1) / block + 1);
  const int e = gr_jit_launch(c.formula.function, blocks, GR_STORE_THREADS, 0, 0, run.stream, &arguments);
  gr_jit_let_go(c.formula.compiled);
  return gr_cuda_launched(q, e, "a formula");
}

/* ---- reductions ---- */

/* A job's elements where holes expect them: at position times size, from address 0 on. */
static gr_reduce_job placed(const gr_reduce_job *job) {
  const int size = gr_size_of(job->dtype);
  gr_reduce_job own = *job;
  own.a = own.b = (gr_vec){NULL, size, job->n * size};
  return own;
}

static gr_status take_reduction(gr_cuda_queue *q, const gr_formula_job *job, const gr_consumer *asked, int tally,
                                gr_cuda_present present, gr_cuda_taken *c) {
  gr_reducer red;
  gr_dtype t;
  if (!gr_cuda_skeleton_for(&asked->job, &red, &t)) return GR_NOT_FUSED;
  return gr_cuda_take_formula(q, job, &(gr_jit_asked){(int)red, asked->a, asked->b, tally, 0, present}, t, c);
}

/* Whether a skeleton reduces and counts besides. Leaves that begin within a word look at some elements twice. */
static int can_tally(const gr_consumer *reduced, const gr_consumer *counted) {
  const gr_reducer red = gr_reducer_of(reduced->job.op, reduced->job.dtype);
  const int aligned = reduced->job.count == 1 || reduced->job.n * gr_size_of(reduced->job.dtype) % 16 == 0;
  const int sums = red == GR_RED_SUM || red == GR_RED_SQDIFF;
  return sums && aligned && counted->job.op == GR_OP_count && counted->job.dtype == GR_U8;
}

/*
** Consumers share a launch that have one reducer and the same nodes; sum and extremes of one node; the extreme of a
** node and where it is; the least of one node and the greatest of another; sums, and how often something else is not
** 0. So what reduces the present elements of an array reads it once. Numbers for the host take as many launches as
** they need, all at once; arrays take one, or none.
*/
typedef struct shared {
  const gr_consumer *first; /* whose job it runs */
  gr_reducer red;
  int both;  /* sum and extremes */
  int high;  /* the node of which the greatest is, if it is not that of the least; < 0: it is that */
  int tally; /* the node that is counted besides; < 0: none */
  gr_cuda_pending *slot;
  gr_compiled *held; /* until it is launched */
  int present;       /* it leaves NaN out */
} shared;

typedef struct launches {
  shared launch[GR_FORMULA_TOGETHER];
  int count, of[GR_FORMULA_TOGETHER]; /* of consumers: which launch */
} launches;

/* The extreme that a position is that of. */
static int is_extreme_at(gr_reducer position, gr_op op) {
  return position == GR_RED_ARGMAX ? op == GR_OP_max : position == GR_RED_ARGMIN && op == GR_OP_min;
}

/* Whether the launch serves that consumer, too, perhaps from now on. */
static int joins(shared *l, const gr_consumer *c, gr_reducer red) {
  const int same = l->first->a == c->a && l->first->b == c->b;
  if (!l->both && (l->tally < 0 || l->tally == c->a) && can_tally(l->first, c)) {
    l->tally = c->a;
    return 1;
  }
  if (l->high >= 0)
    return red == GR_RED_MINMAX && (c->job.op == GR_OP_min ? same : c->job.op == GR_OP_max && l->high == c->a);
  if (same && (l->red == red || (l->both && red == GR_RED_MINMAX))) return 1;
  if (same && red == GR_RED_MINMAX && is_extreme_at(l->red, c->job.op)) return 1;
  if (same && l->tally < 0 &&
      (l->red == GR_RED_SUM ? red == GR_RED_MINMAX : l->red == GR_RED_MINMAX && red == GR_RED_SUM)) {
    if (red == GR_RED_SUM) l->first = c; /* the sum's job plans it */
    l->red = GR_RED_SUM;
    l->both = 1;
    return 1;
  }
  if (l->first->job.op != GR_OP_min || c->job.op != GR_OP_max || l->both || l->first->job.dtype != c->job.dtype)
    return 0;
  l->high = c->a;
  return 1;
}

static void share(const gr_formula_job *job, launches *s) {
  for (int k = 0; k < job->consumer_count; k++) {
    const gr_consumer *c = &job->consumers[k];
    const gr_reducer red = gr_reducer_of(c->job.op, c->job.dtype);
    int found = 0;
    while (found < s->count && !joins(&s->launch[found], c, red)) found++;
    if (found == s->count) s->launch[s->count++] = (shared){.first = c, .red = red, .high = -1, .tally = -1};
    s->of[k] = found;
  }
}

/* ---- of what is not NaN ---- */

/* Whether all consumers of a launch do; its job. */
static int is_all_present(const gr_cuda_queue *q, const gr_formula_job *job, const launches *s, int launch,
                          gr_reduce_job *own) {
  const shared *l = &s->launch[launch];
  gr_filled first, f;
  *own = l->first->job;
  if (q->device->chip.major < GR_PRESENT_LEAST || l->first->job.op == GR_OP_count) return 0;
  if (!gr_cuda_is_of_present(job, l->first, &first) || (l->red == GR_RED_SQDIFF && l->tally < 0)) return 0;
  for (int k = 0; k < job->consumer_count; k++)
    if (s->of[k] == launch && (!gr_cuda_is_of_present(job, &job->consumers[k], &f) || f.of[0] != first.of[0] ||
                               f.of[1] != first.of[1] || f.test != first.test))
      return 0;
  own->a = job->inputs[job->program->nodes[first.of[0]].input];
  if (first.of[1] >= 0) own->b = job->inputs[job->program->nodes[first.of[1]].input];
  return 1;
}

static gr_status to_array(gr_cuda_queue *q, const gr_formula_job *job) {
  const gr_reduce_job *asked = &job->consumers[0].job;
  const int size = gr_size_of(asked->dtype);
  const int64_t most = (int64_t)GR_SEGMENT_LEAVES * GR_LEAF(size);
  const gr_reduce_job own = placed(asked);
  launches s = {.count = 0};
  const shared *l = s.launch;
  gr_cuda_taken c;
  share(job, &s);
  const int counts = job->consumer_count == 2 && l->tally >= 0 && !job->consumers[1].job.out;
  if (s.count > 1 || (job->consumer_count > 1 && !counts)) return GR_NOT_FUSED;
  if (asked->n > GR_MOST_LEAVES * GR_LEAF(size)) return GR_NOT_FUSED;
  if (asked->offsets ? asked->n > most : asked->count > 1 && asked->n * size < GR_LEAST_ROW) return GR_NOT_FUSED;
  gr_status status = take_reduction(q, job, l->first, l->tally, GR_PRESENT_NONE, &c);
  if (status != GR_OK) return status;
  gr_cuda_run run = gr_cuda_prepare(q, &q->work);
  run.formula = &c.formula;
  status = gr_cuda_launched(q, gr_cuda_reduce(&own, &run), gr_op_name(own.op));
  gr_jit_let_go(c.formula.compiled);
  return status;
}

static gr_status add(gr_cuda_queue *q, const gr_formula_job *job, const launches *s, shared *l) {
  gr_reduce_job own;
  const gr_reduce_job *list = &own;
  gr_cuda_taken c;
  gr_status status = GR_NOT_FUSED;
  if (is_all_present(q, job, s, (int)(l - s->launch), &own))
    status = take_reduction(q, job, l->first, l->tally, GR_PRESENT_leaves, &c);
  l->present = status == GR_OK;
  if (status == GR_NOT_FUSED) {
    own = placed(&l->first->job);
    if (l->both)
      status = gr_cuda_take_formula(q, job, &(gr_jit_asked){GR_JIT_BOTH, l->first->a, -1, -1, 0, 0}, own.dtype, &c);
    else if (l->high >= 0)
      status =
          gr_cuda_take_formula(q, job, &(gr_jit_asked){GR_JIT_ENDS, l->first->a, l->high, -1, 0, 0}, own.dtype, &c);
    else status = take_reduction(q, job, l->first, l->tally, GR_PRESENT_NONE, &c);
  }
  if (status != GR_OK) return status;
  l->held = c.formula.compiled;
  return gr_cuda_add_reduce(q, &list, 1, l->slot, &c.formula);
}

/* The key that has won. */
static int64_t best_of(const shared *l) {
  const gr_reduce_job *first = &l->first->job;
  return gr_mailbox_state(l->slot->host->words, &l->slot->mailbox, first->op, first->dtype).i[0];
}

/*
** Whether a position that was found without NaN may be another: what fills wins, or ties, and a formula may mean it, in
** the place of NaN. Then elements tell.
*/
static int is_in_doubt(const shared *l) {
  const int position = l->red == GR_RED_ARGMIN || l->red == GR_RED_ARGMAX;
  return l->present && position && best_of(l) <= ~gr_key_inf(l->first->job.dtype);
}

/* The extreme from the key that has won. */
static gr_value extreme_at(const shared *l, const gr_reduce_job *job) {
  const int64_t best = best_of(l), key = l->red == GR_RED_ARGMIN ? ~best : best;
  return gr_finish(job->op, job->dtype, (gr_acc){.i = {key, key}}, job->n, job->ddof);
}

/* Some fields of each state, as if they were all. */
static gr_value value_of(const shared *l, const gr_reduce_job *job) {
  gr_mailbox_shape shape = l->slot->mailbox;
  uint64_t halves[2 * 2 * GR_MAILBOX_STATES];
  const gr_reducer red = gr_reducer_of(job->op, job->dtype);
  const int from = red == GR_RED_MINMAX || red == GR_RED_COUNT ? 1 : 0, all = shape.fields;
  if (red == GR_RED_MINMAX && is_extreme_at(l->red, job->op)) return extreme_at(l, job);
  if (!l->both && l->tally < 0)
    return gr_mailbox_value(l->slot->host->words, &shape, job->op, job->dtype, job->n, job->ddof);
  shape.fields = red == GR_RED_MINMAX ? 2 : 1;
  for (int k = 0; k < shape.states; k++)
    memcpy(halves + 2 * shape.fields * k, l->slot->host->words + 2 * (all * k + from),
           2 * sizeof *halves * (size_t)shape.fields);
  return gr_mailbox_value(halves, &shape, job->op, job->dtype, job->n, job->ddof);
}

static gr_status to_host(gr_cuda_queue *q, const gr_formula_job *job) {
  const char *name = gr_op_name(job->consumers[0].job.op);
  const gr_reduce_job *any = &job->consumers[0].job;
  launches s = {.count = 0};
  gr_status status = gr_cuda_launch_batch(q, name); /* of others before */
  int taken = 0, there;
  share(job, &s);
  if (status == GR_OK && any->n > GR_MOST_LEAVES * GR_LEAF(gr_size_of(any->dtype))) status = GR_NOT_FUSED;
  for (int k = 0; k < s.count && status == GR_OK; k++) {
    if (k == 0) s.launch[k].slot = &q->now;
    else status = gr_cuda_take_slot(q, &s.launch[k].slot);
    if (status == GR_OK) taken++, status = add(q, job, &s, &s.launch[k]);
  }
  if (status != GR_OK) q->batch.count = 0;
  else status = gr_cuda_launch_batch(q, name);
  q->base.stats.syncs += status == GR_OK;
  for (int k = 0; k < s.count; k++) gr_jit_let_go(s.launch[k].held);
  for (int k = 0; k < s.count && status == GR_OK; k++) {
    status = gr_cuda_await_reduce(q, s.launch[k].slot, 0, -1, name, &there);
    s.launch[k].slot->waiting -= status == GR_OK;
  }
  for (int k = 0; k < s.count && status == GR_OK; k++)
    if (is_in_doubt(&s.launch[k])) status = GR_NOT_FUSED;
  for (int k = 0; k < job->consumer_count && status == GR_OK; k++) {
    const gr_value v = value_of(&s.launch[s.of[k]], &job->consumers[k].job);
    memcpy(job->words + 2 * k, v.v, sizeof v.v);
  }
  for (int k = 1; k < taken; k++) gr_cuda_give_slot(q, s.launch[k].slot);
  return status;
}

static gr_status start(gr_cuda_queue *q, const gr_formula_job *job, gr_ticket *t) {
  const gr_reduce_job own = placed(&job->consumers[0].job), *list = &own;
  gr_cuda_taken c;
  if (gr_jit_missing(q->device->chip.device)) return GR_NOT_FUSED;
  if (own.n > GR_MOST_LEAVES * GR_LEAF(gr_size_of(own.dtype))) return GR_NOT_FUSED;
  gr_status status = gr_cuda_launch_batch(q, gr_op_name(own.op)); /* of others before */
  if (status == GR_OK) status = take_reduction(q, job, &job->consumers[0], -1, GR_PRESENT_NONE, &c);
  if (status != GR_OK) return status;
  status = gr_cuda_start_jobs(q, &list, 1, &t, 0, &c.formula);
  gr_jit_let_go(c.formula.compiled);
  return status;
}

/* ---- what was compiled ---- */

const char *gr_cuda_uncompiled(gr_backend *b) { return gr_jit_missing(((gr_cuda_device *)b)->chip.device); }

typedef struct listing {
  int device;
  void (*see)(const gr_compiled_formula *, void *);
  void *to;
} listing;

static void see_one(const gr_compiled *c, void *to) {
  static const char *const reducers[] = {
#define GR_X(id, inputs, f, i) #id,
    GR_REDUCERS(GR_X)
#undef GR_X
  };
  static const char *const present[][GR_PRESENT_COUNT] = {
#define GR_X(id, inputs, f, i)                                 \
  {[GR_PRESENT_leaves] = #id ", present",                      \
   [GR_PRESENT_rows_staged] = #id ", present, short rows",     \
   [GR_PRESENT_rows_by_element] = #id ", present, short rows", \
   [GR_PRESENT_cols_unordered] = #id ", present, columns",     \
   [GR_PRESENT_cols_flat] = #id ", present, few columns",      \
   [GR_PRESENT_cols_sum] = #id ", present, columns"},
    GR_REDUCERS(GR_X)
#undef GR_X
  };
  static const char *const others[] = {
#define GR_X(id, text) [-GR_JIT_##id] = (text),
      GR_JIT_OTHERS(GR_X)
#undef GR_X
  };
  const listing *l = to;
  if (c->device != l->device || !c->function) return;
  const gr_jit_code *code = &c->code;
  l->see(&(gr_compiled_formula){.program = {.nodes = (gr_node *)(uintptr_t)code->nodes, .count = code->count},
                                .result = code->a,
                                .what = code->reducer < 0 ? others[-code->reducer]
                                        : code->present   ? present[code->reducer][code->present]
                                                          : reducers[code->reducer],
                                .seconds = c->seconds,
                                .uses = c->uses},
         l->to);
}

void gr_cuda_compiled(gr_backend *b, void (*see)(const gr_compiled_formula *, void *), void *to) {
  gr_jit_list(see_one, &(listing){((gr_cuda_device *)b)->chip.device, see, to});
}

/* ---- the backend's functions ---- */

static gr_status run(gr_cuda_queue *q, const gr_formula_job *job) {
  if (gr_jit_missing(q->device->chip.device)) return GR_NOT_FUSED;
  return job->feeds                 ? gr_cuda_feed(q, job)
         : job->consumer_count == 0 ? store(q, job)
         : job->words               ? to_host(q, job)
                                    : to_array(q, job);
}

GR_CUDA_FUNCTION(gr_cuda_do_formula, run(q, job), gr_queue *base, const gr_formula_job *job)
GR_CUDA_FUNCTION(gr_cuda_start_formula, start(q, job, t), gr_queue *base, const gr_formula_job *job, gr_ticket *t)
