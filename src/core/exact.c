#include "src/core/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include "src/core/ranks/meet.h"
#include "src/core/ranks/vectors.h"
#include "src/core/threads.h"

#define BATCH 512 /* vectors whose sums are held at once */
#define SHARE 16  /* vectors that a thread finishes at a time */

/* ---- which sums an operation is made of ---- */

enum { SUM_X = 1, SUM_XX = 2, SUM_XY = 4, SUM_YY = 8, SUMS = 4 };

static int sums_of(gr_op op) {
  static const unsigned char sums[GR_OP_COUNT] = {
#define GR_X(op, sums, value) [GR_OP_##op] = sums,
      GR_EXACT_OPS(GR_X)
#undef GR_X
  };
  return sums[op];
}

int gr_exact_has(gr_op op, gr_dtype t) {
  return sums_of(op) && (gr_is_float(t) || (op != GR_OP_sum && op != GR_OP_dot));
}

/* ---- sums ---- */

/* A call: its vectors on the side where the sums are made. */
typedef struct call {
  gr_context *context;
  gr_queue *queue;
  const gr_backend *backend; /* of the sums: the array's own, or the CPU's */
  gr_op op;
  gr_shape shape;
  const gr_array *a, *b;
  gr_reduced of, with; /* the same; fed: their elements are made as the sums take them */
  int fed;
  int64_t n, ddof;
  gr_vec va, vb;
} call;

int gr_exact_feeds(gr_op op, gr_reduced a, gr_reduced b) {
  const int sums = sums_of(op);
  return (sums & (sums - 1)) == 0 && gr_formula_feeds(GR_FEEDS_EXACT, a, b, NULL);
}

static gr_status begin(call *q, gr_context *c, gr_op op, gr_shape s, const gr_array *a, const gr_array *b,
                       int64_t ddof) {
  gr_queue *queue = a->storage->queue;
  *q = (call){.context = c, .queue = queue, .op = op, .shape = s, .a = a, .b = b, .ddof = ddof};
  q->backend = queue->backend->exact ? queue->backend : c->host->cpu();
  q->n = gr_shape_length(s, a->n);
  gr_side side = queue->backend->exact ? gr_kernel_side(a->storage) : GR_HOST;
  return gr_shape_read(s, side, a, b, &q->va, &q->vb);
}

/* Of the whole. */
static gr_status begin_whole(call *q, gr_context *c, gr_op op, gr_reduced a, gr_reduced b, int64_t ddof) {
  const gr_shape whole = {.axis = 2};
  gr_status status = GR_OK;
  if (gr_exact_feeds(op, a, b)) {
    *q = (call){.context = c, .op = op, .shape = whole, .a = a.a, .b = b.a, .n = a.a->n, .fed = 1};
  } else {
    status = gr_reduced_eval_both(c, &a, &b);
    if (status == GR_OK) status = begin(q, c, op, whole, a.a, b.a, ddof);
  }
  q->of = a;
  q->with = b;
  return status;
}

static gr_vec from_vector(gr_vec v, int64_t first) {
  if (first) v.data = (const char *)v.data + first * v.step;
  return v;
}

static gr_status sum(const call *q, gr_exact_kind kind, const gr_vec *x, const gr_vec *y, int64_t first, int64_t count,
                     gr_exact *sums) {
  gr_exact_job job = {.kind = kind, .dtype = q->a->dtype, .n = q->n, .count = count, .a = from_vector(*x, first)};
  gr_status status;
  if (y) job.b = from_vector(*y, first);
  if (q->fed)
    status = gr_formula_feed(q->context, GR_FEEDS_EXACT, q->of,
                             !y       ? GR_NONE
                             : y == x ? q->of
                                      : q->with,
                             &job, sums, gr_ops[q->op].name);
  else status = gr_fail_from(q->context, q->queue, q->backend->exact(q->queue, &job, sums), gr_ops[q->op].name, 0);
  for (int64_t v = 0; v < count && q->n; v++) sums[v].flags |= GR_EXACT_SOME;
  return status;
}

/* The sums `which` of `count` vectors from `first` on, `count` of each kind side by side. */
static gr_status sum_all(const call *q, int which, int64_t first, int64_t count, gr_exact *at) {
  gr_status status = GR_OK;
  gr_exact_kind kind = q->op == GR_OP_norm1 ? GR_EXACT_SUMABS : GR_EXACT_SUM;
  for (int k = 0; k < SUMS && status == GR_OK; k++) {
    if (!(which >> k & 1)) continue;
    switch (1 << k) {
      case SUM_X: status = sum(q, kind, &q->va, NULL, first, count, at); break;
      case SUM_XX: status = sum(q, GR_EXACT_DOT, &q->va, &q->va, first, count, at); break;
      case SUM_XY: status = sum(q, GR_EXACT_DOT, &q->va, &q->vb, first, count, at); break;
      default: status = sum(q, GR_EXACT_DOT, &q->vb, &q->vb, first, count, at);
    }
    at += count;
  }
  return status;
}

/* The sums of vector v among those that sum_all made. */
static gr_exact_sums pick(int which, gr_exact *at, int64_t count, int64_t v) {
  gr_exact_sums s = {0};
  gr_exact **field[SUMS] = {&s.x, &s.xx, &s.xy, &s.yy};
  for (int k = 0; k < SUMS; k++) {
    if (!(which >> k & 1)) continue;
    *field[k] = at + v;
    at += count;
  }
  return s;
}

/* ---- zeros ---- */

/* The sum whose zero may have a sign. */
static gr_exact *signed_sum(const gr_exact_sums *s) { return s->xy ? s->xy : s->x; }

/*
** The sign of an exact zero: -0 if every addend is -0. Sums along the tree have that sign too, since x + y is -0 in
** one case alone; a product that underflows to -0 there comes with another of the other sign.
*/
static gr_op tree_op(const gr_exact_sums *s) { return s->xy ? GR_OP_dot : GR_OP_sum; }

static int sign_matters(const call *q, gr_exact *s) {
  if (!s || q->n == 0 || s->flags & GR_EXACT_SPECIAL) return 0;
  if (!gr_is_float(q->a->dtype) || q->op == GR_OP_norm1 || !gr_exact_is_zero(s)) s->flags |= GR_EXACT_NONZERO;
  return !(s->flags & GR_EXACT_NONZERO);
}

static gr_status settle_zero(const call *q, gr_exact_sums s) {
  gr_value r;
  if (!sign_matters(q, signed_sum(&s))) return GR_OK;
  gr_status status = gr_formula_reduce_all(q->context, tree_op(&s), q->of, s.xy ? q->with : GR_NONE, 0, &r);
  if (status == GR_OK && !signbit(r.v[0].f)) signed_sum(&s)->flags |= GR_EXACT_NONZERO;
  return status;
}

/* The same for a batch of vectors; signs: the tree's results, made when the first of them is needed. */
static gr_status settle_zeros(const call *q, int which, gr_exact *at, int64_t first, int64_t count, gr_array *signs) {
  for (int64_t v = 0; v < count; v++) {
    gr_exact_sums s = pick(which, at, count, v);
    gr_vec r;
    gr_status status = GR_OK;
    if (!sign_matters(q, signed_sum(&s))) continue;
    if (!signs->storage) {
      status = gr_array_make_beside(q->context, q->a, signs, GR_F64, gr_shape_results(q->shape, q->a->n));
      if (status == GR_OK)
        status = gr_reduce_each(q->context, tree_op(&s), q->shape, q->a, s.xy ? q->b : NULL, 0, signs, NULL);
    }
    if (status == GR_OK) status = gr_array_read(signs, GR_HOST, &r);
    if (status != GR_OK) return status;
    if (!signbit(((const double *)r.data)[first + v])) signed_sum(&s)->flags |= GR_EXACT_NONZERO;
  }
  return GR_OK;
}

/*
** Squared differences of infinities and NaN do not follow from the three sums; along the tree they are NaN or
** infinite by themselves, as no addend is negative.
*/
static int mse_needs_tree(const call *q, const gr_exact_sums *s) {
  return q->op == GR_OP_mse && (s->xx->flags | s->yy->flags) & GR_EXACT_SPECIAL;
}

/* ---- over ranks ---- */

/* A sum as integers that add up: its limbs, in 0 .. 2^32 - 1 but for the highest, and a count for each flag. */
#define FLAGS 5
#define WORDS (GR_EXACT_LIMBS + FLAGS)

static void to_words(gr_exact *s, uint64_t *words) {
  gr_exact_carry(s);
  for (int k = 0; k < GR_EXACT_LIMBS; k++) words[k] = (uint64_t)s->limb[k];
  for (int k = 0; k < FLAGS; k++) words[GR_EXACT_LIMBS + k] = s->flags >> k & 1;
}

static void from_words(const uint64_t *words, gr_exact *s) {
  gr_exact_clear(s);
  for (int k = 0; k < GR_EXACT_LIMBS; k++) s->limb[k] = (int64_t)words[k];
  for (int k = 0; k < FLAGS; k++) s->flags |= (uint32_t)(words[GR_EXACT_LIMBS + k] != 0) << k;
  s->low = 0;
  s->high = GR_EXACT_LIMBS;
  gr_exact_carry(s);
}

/* The sums become those of all ranks together. */
static gr_status add_over_ranks(gr_context *c, gr_exact *sums, int count, gr_status mine) {
  uint64_t words[SUMS * WORDS];
  for (int k = 0; k < count && mine == GR_OK; k++) to_words(&sums[k], words + k * WORDS);
  gr_status status = gr_ranks_add(c, words, count * WORDS, mine);
  for (int k = 0; k < count && status == GR_OK; k++) from_words(words + k * WORDS, &sums[k]);
  return status;
}

gr_status gr_exact_ranks(gr_context *c, gr_exact *s) {
  gr_status status = gr_ranks_meet(c, "accumulator:merge", 0, 0, GR_OK);
  return status == GR_OK ? add_over_ranks(c, s, 1, GR_OK) : status;
}

/* Meets the other ranks, which add up the same sums; q->n becomes the length of all. */
static gr_status join_ranks(gr_context *c, call *q, gr_op op, const gr_array *a, int64_t ddof, int single, int which,
                            gr_exact *sums, gr_status mine) {
  char text[96];
  int count = 0;
  snprintf(text, sizeof text, "exact %s of %s to f%d with ddof %lld", gr_ops[op].name, gr_dtypes[a->dtype].name,
           single ? 32 : 64, (long long)ddof);
  gr_status status = gr_ranks_meet(c, text, a->n, 1, mine);
  if (status != GR_OK) return status;
  q->n = gr_ranks_all(c);
  if ((op == GR_OP_var || op == GR_OP_std) && ddof >= q->n && !(q->n == 0 && ddof == 0))
    return gr_fail(c, GR_BAD, "option 'ddof': less than the length of all ranks %lld expected, got %lld",
                   (long long)q->n, (long long)ddof);
  for (int k = 0; k < SUMS; k++) count += which >> k & 1;
  return add_over_ranks(c, sums, count, GR_OK);
}

/* ---- results ---- */

static gr_status exact_all(gr_context *c, gr_op op, gr_reduced a, gr_reduced b, int64_t ddof, int single,
                           const int64_t *count, double *result) {
  call q;
  gr_value r;
  int which = sums_of(op);
  gr_exact *at = malloc(SUMS * sizeof *at);
  gr_status status = at ? begin_whole(&q, c, op, a, b, ddof) : gr_fail(c, GR_NO_MEMORY, "out of memory");
  if (status == GR_OK) status = sum_all(&q, which, 0, 1, at);
  if (c->comm) status = join_ranks(c, &q, op, a.a, ddof, single, which, at, status);
  if (status == GR_OK) {
    gr_exact_sums s = pick(which, at, 1, 0);
    if (mse_needs_tree(&q, &s)) {
      status = gr_formula_reduce_all(c, op, q.of, q.with, 0, &r);
      *result = r.v[0].f;
    } else {
      status = settle_zero(&q, s);
      if (status == GR_OK) *result = gr_exact_result(op, &s, count ? *count : q.n, ddof, single);
    }
  }
  free(at);
  return status;
}

gr_status gr_exact_all(gr_context *c, gr_op op, gr_reduced a, gr_reduced b, int64_t ddof, int single,
                       const int64_t *count, double *result) {
  if (!a.e && !b.e) gr_tell(op, (gr_shape){.axis = 2}, a.a, b.a, (double)ddof, 1);
  return exact_all(c, op, a, b, ddof, single, count, result);
}

/* A batch of vectors to finish. */
typedef struct batch {
  const call *q;
  int which, single;
  gr_exact *at;
  int64_t first, count;
  const int64_t *counts; /* of each vector, how many elements count; NULL: all */
  gr_vec out;
} batch;

static void finish_share(void *arg, int64_t k) {
  const batch *t = arg;
  int64_t end = (k + 1) * SHARE < t->count ? (k + 1) * SHARE : t->count;
  for (int64_t v = k * SHARE; v < end; v++) {
    gr_exact_sums s = pick(t->which, t->at, t->count, v);
    char *p = (char *)(uintptr_t)t->out.data + (t->first + v) * t->out.stride;
    if (mse_needs_tree(t->q, &s)) continue; /* left to the caller */
    const int64_t n = t->counts ? t->counts[t->first + v] : t->q->n;
    gr_element_put_f(t->single ? GR_F32 : GR_F64, p, gr_exact_result(t->q->op, &s, n, t->q->ddof, t->single));
  }
}

/* Rows whose squared differences are infinite or NaN. */
static gr_status finish_by_tree(const batch *t, gr_array *tree) {
  const call *q = t->q;
  for (int64_t v = 0; v < t->count && q->op == GR_OP_mse; v++) {
    gr_exact_sums s = pick(t->which, t->at, t->count, v);
    gr_vec r;
    gr_status status = GR_OK;
    if (!mse_needs_tree(q, &s)) continue;
    if (!tree->storage) {
      status = gr_array_make_beside(q->context, q->a, tree, GR_F64, gr_shape_results(q->shape, q->a->n));
      if (status == GR_OK) status = gr_reduce_each(q->context, q->op, q->shape, q->a, q->b, 0, tree, NULL);
    }
    if (status == GR_OK) status = gr_array_read(tree, GR_HOST, &r);
    if (status != GR_OK) return status;
    gr_element_put_f(t->single ? GR_F32 : GR_F64, (char *)(uintptr_t)t->out.data + (t->first + v) * t->out.stride,
                     ((const double *)r.data)[t->first + v]);
  }
  return GR_OK;
}

#define LOOK 1024 /* segments between two looks whether to stop */

/* Segments one by one: each is a view with a length of its own. */
static gr_status segments(gr_context *c, gr_op op, const gr_segments *s, const gr_array *a, const gr_array *b,
                          int64_t ddof, const int64_t *counts, gr_array *out) {
  gr_vec at, to;
  gr_status status = gr_array_read(s->offsets, GR_HOST, &at);
  if (s->count > LOOK) gr_stop_begin(&c->stop);
  for (int64_t k = 0; k < s->count && status == GR_OK; k++) {
    if (k && k % LOOK == 0 && (status = gr_context_look(c)) != GR_OK) break;
    gr_reduce_job where = {.offsets = at.data, .offsets_are_i32 = s->offsets->dtype == GR_I32};
    int64_t length, from = gr_segment(&where, k, &length);
    double r = 0;
    gr_array x = gr_array_part(a, from, 1, length), y = b ? gr_array_part(b, from, 1, length) : (gr_array){0};
    status = exact_all(c, op, (gr_reduced){NULL, &x}, (gr_reduced){NULL, b ? &y : NULL}, ddof, out->dtype == GR_F32,
                       counts ? &counts[k] : NULL, &r);
    if (status == GR_OK) status = gr_array_write(out, GR_HOST, 0, &to);
    if (status == GR_OK) gr_element_put_f(out->dtype, (char *)(uintptr_t)to.data + k * to.stride, r);
  }
  return status;
}

gr_status gr_exact_each(gr_context *c, gr_op op, gr_shape shape, gr_reduced of, gr_reduced with, int64_t ddof,
                        const int64_t *counts, gr_array *out) {
  const gr_array *a = of.a, *b = with.a;
  call q;
  gr_array tree = {0};
  int64_t results = gr_shape_results(shape, a->n), most = results < BATCH ? results : BATCH;
  batch t = {.q = &q, .which = sums_of(op), .single = out->dtype == GR_F32, .counts = counts};
  gr_status status = gr_reduced_eval_both(c, &of, &with);
  if (status != GR_OK || results == 0) return status;
  gr_tell(op, shape, a, b, (double)ddof, 1);
  if (shape.segments) return segments(c, op, shape.segments, a, b, ddof, counts, out);
  t.at = malloc((size_t)most * SUMS * sizeof *t.at);
  status = t.at ? begin(&q, c, op, shape, a, b, ddof) : gr_fail(c, GR_NO_MEMORY, "out of memory");
  if (results > most) gr_stop_begin(&c->stop);
  for (; status == GR_OK && t.first < results; t.first += t.count) {
    if (t.first && (status = gr_context_look(c)) != GR_OK) break;
    t.count = results - t.first < most ? results - t.first : most;
    status = sum_all(&q, t.which, t.first, t.count, t.at);
    if (status == GR_OK && op != GR_OP_mse) status = settle_zeros(&q, t.which, t.at, t.first, t.count, &tree);
    if (status == GR_OK) status = gr_array_write(out, GR_HOST, 1, &t.out);
    if (status == GR_OK) gr_threads_run((t.count + SHARE - 1) / SHARE, finish_share, &t);
    if (status == GR_OK) status = finish_by_tree(&t, &tree);
  }
  free(t.at);
  gr_array_release(&tree);
  return status;
}

gr_status gr_exact_add(gr_context *c, gr_exact *into, gr_reduced a, gr_reduced b) {
  call q;
  gr_op op = b.a ? GR_OP_dot : GR_OP_sum;
  gr_exact *s = malloc(sizeof *s);
  gr_status status = s ? begin_whole(&q, c, op, a, b, 0) : gr_fail(c, GR_NO_MEMORY, "out of memory");
  if (status == GR_OK) status = sum_all(&q, sums_of(op), 0, 1, s);
  if (status == GR_OK) status = settle_zero(&q, pick(sums_of(op), s, 1, 0));
  if (status == GR_OK) gr_exact_merge(into, s);
  free(s);
  return status;
}

gr_status gr_digest(gr_context *c, const gr_array *a, uint64_t result[2]) {
  gr_queue *q = a->storage->queue;
  const gr_backend *backend = q->backend->digest ? q->backend : c->host->cpu();
  gr_digest_job job = {.dtype = a->dtype, .n = a->n};
  if (c->comm) return gr_ranks_digest(c, a, result);
  gr_status status = gr_array_read(a, q->backend->digest ? gr_kernel_side(a->storage) : GR_HOST, &job.a);
  if (status != GR_OK) return status;
  status = backend->digest(q, &job, result);
  return gr_fail_from(c, q, status, "digest", 0);
}

gr_status gr_digest_here(gr_context *c, const gr_array *a, uint64_t result[2]) {
  struct gr_comm *comm = c->comm;
  c->comm = NULL;
  const gr_status status = gr_digest(c, a, result);
  c->comm = comm;
  return status;
}
