#include "src/core/formula/known.h"

#include <stdlib.h>

struct gr_known {
  struct gr_known *next;
  gr_op op;
  gr_dtype dtype;
  gr_expression *e; /* its arrays are released */
  gr_consumer consumers[GR_FORMULA_TOGETHER];
  int count;
};

static void drop(gr_known *k) {
  if (!k) return;
  gr_expression_drop(k->e);
  free(k);
}

static void forget_all(gr_context *c) {
  while (c->known) {
    gr_known *k = c->known;
    c->known = k->next;
    drop(k);
  }
}

gr_known *gr_known_find(gr_context *c, gr_op op, gr_dtype t) {
  gr_known **at = &c->known, *k;
  while ((k = *at) && (k->op != op || k->dtype != t)) at = &k->next;
  if (!k || k == c->known) return k;
  *at = k->next; /* the last used comes first */
  k->next = c->known;
  return c->known = k;
}

void gr_known_keep(gr_context *c, gr_op op, gr_dtype t, const gr_wanted *w, int count, int arrays) {
  for (int i = 0; i < count; i++) /* what had to be stored is an array alone by now */
    if (!w[i].a.e || (w[i].b.a && !w[i].b.e)) return;
  gr_known *k = calloc(1, sizeof *k);
  if (!k || gr_formula_merge(c, w, count, k->consumers, &k->e) != GR_OK || k->e->program.input_count != arrays)
    return drop(k);
  gr_expression_release(k->e);
  k->op = op;
  k->dtype = t;
  k->count = count;
  k->next = c->known;
  c->known = k;
  c->forget = forget_all;
}

gr_status gr_known_run(gr_context *c, const gr_known *k, const gr_array *a, const gr_array *b, gr_value *results) {
  gr_array inputs[2] = {*a, b ? *b : (gr_array){0}};
  gr_expression e = *k->e;
  gr_consumer consumers[GR_FORMULA_TOGETHER];
  e.inputs = inputs;
  e.n = a->n;
  for (int i = 0; i < k->count; i++) consumers[i] = k->consumers[i], consumers[i].job.n = a->n;
  gr_status status = gr_formula_values(c, &e, consumers, k->count, results);
  for (int i = 0; i < k->count && status == GR_OK; i++) {
    const gr_reduce_job *job = &consumers[i].job;
    if (gr_may_overflow(job->op, job->dtype) && results[i].v[1].f == 0)
      status = GR_NOT_FUSED; /* squares left the range of f64: elements must be scaled */
  }
  return status;
}
