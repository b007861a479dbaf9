/* Formulas: expressions, which are operands of other calls, and their elements. */
#include <stdlib.h>

#include "src/capi/operations.h"
#include "src/core/formula/bind.h"

/* ---- inputs ---- */

static const gpureduce_input *find(const gpureduce_input *inputs, int count, const char *name) {
  for (int k = 0; k < count; k++)
    if (!strcmp(inputs[k].name, name)) return &inputs[k];
  return NULL;
}

static int check_inputs(gr_capi *q, const gpureduce_input *inputs, int count) {
  if (count < 0 || count > GR_FORMULA_NAMES)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "count: 0 to %d inputs expected, got %d", GR_FORMULA_NAMES, count);
  if (count && !gr_capi_needs(q, inputs, "inputs")) return 0;
  for (int k = 0; k < count; k++) {
    if (!gr_capi_needs(q, inputs[k].name, "the name of an input")) return 0;
    if (find(inputs, k, inputs[k].name))
      return gr_capi_refuse(q, GPUREDUCE_BAD, "input '%.40s' is there twice", inputs[k].name);
    if (inputs[k].array && !gr_capi_takes_lazy(q, inputs[k].array, "an input")) return 0;
  }
  return 1;
}

static int has_name(const gr_formula *f, const char *name) {
  for (int k = 0; k < f->name_count; k++)
    if (!strcmp(f->names[k].text, name)) return 1;
  return 0;
}

/* What each name of the formula stands for; all inputs are names of it. */
static int read_inputs(gr_capi *q, const gr_formula *f, const gpureduce_input *inputs, int count, gr_given *given) {
  for (int k = 0; k < count; k++)
    if (!has_name(f, inputs[k].name))
      return gr_capi_refuse(q, GPUREDUCE_BAD, "the formula has no input '%.40s'", inputs[k].name);
  for (int k = 0; k < f->name_count; k++) {
    const gpureduce_input *x = find(inputs, count, f->names[k].text);
    if (!x) return gr_capi_refuse(q, GPUREDUCE_BAD, "input '%s' expected", f->names[k].text);
    given[k] = (gr_given){.array = NULL};
    if (!x->array) given[k].number = gr_capi_number(x->number);
    else if (!(given[k].expression = gr_capi_expression(x->array))) given[k].array = &x->array->array;
  }
  return 1;
}

/* ---- making one ---- */

/* In memory of its own; NULL when that is refused. */
static gr_formula *read_text(gr_capi *q, const char *text) {
  if (!gr_capi_needs(q, text, "the formula")) return NULL;
  const size_t length = strlen(text);
  if (length > GR_FORMULA_TEXT)
    return gr_capi_refuse(q, GPUREDUCE_BAD, "text of at most %d characters expected, got %zu", GR_FORMULA_TEXT, length),
           NULL;
  gr_formula *f = calloc(1, gr_formula_room(length));
  if (!f) return gr_capi_refuse(q, GPUREDUCE_NO_MEMORY, "out of memory: no room for the formula"), NULL;
  GR_CAPI_TRY(q, gr_formula_read(q->c, f, text, length));
  if (q->status == GPUREDUCE_OK) return f;
  free(f);
  return NULL;
}

static gr_expression *bind(gr_capi *q, const gr_formula *f, const gr_given *given, int64_t length) {
  gr_expression *e = calloc(1, gr_formula_expression_room(f, given));
  if (!e) return gr_capi_refuse(q, GPUREDUCE_NO_MEMORY, "out of memory: no room for the expression"), NULL;
  GR_CAPI_TRY(q, gr_formula_bind(q->c, f, given, length, e));
  if (q->status == GPUREDUCE_OK) return e;
  gr_expression_release(e);
  free(e);
  return NULL;
}

/* A handle for the expression, which it owns from now on. */
static void give(gr_capi *q, gr_expression *e, gpureduce_array **out) {
  gpureduce_array *a = gr_capi_fresh(q, out);
  if (a) {
    a->e = e;
    GR_CAPI_TRY(q, gr_expression_promise(q->c, e, &a->array));
  } else {
    gr_expression_release(e);
    free(e);
  }
}

gpureduce_status gpureduce_formula(gpureduce_context *context, const char *text, const gpureduce_input *inputs,
                                   int count, int64_t length, gpureduce_array **out) {
  gr_capi q;
  gr_given given[GR_FORMULA_NAMES];
  gr_formula *f = NULL;
  gr_expression *e = NULL;
  if (gr_capi_begin_with(&q, "formula", context) && gr_capi_needs(&q, out, "out") && check_inputs(&q, inputs, count))
    f = read_text(&q, text);
  if (f && length < -1)
    gr_capi_refuse(&q, GPUREDUCE_BAD, "length: -1, 0 or more expected, got %lld", (long long)length);
  else if (f && read_inputs(&q, f, inputs, count, given)) e = bind(&q, f, given, length);
  free(f);
  if (e) give(&q, e, out);
  return gr_capi_end(&q);
}

/* ---- elements ---- */

/* Elements may go to an input that is read one by one, the very same view of it; else apart from all. */
static int check_apart(gr_capi *q, const gr_expression *e, const gr_array *out) {
  for (int k = 0; k < e->program.count; k++) {
    const gr_node *x = &e->program.nodes[k];
    if (x->kind != GR_NODE_INPUT) continue;
    const gr_array *a = &e->inputs[x->input];
    const int same = x->spread == GR_EACH && a->offset == out->offset && a->stride == out->stride &&
                     a->dtype == out->dtype && a->n == out->n;
    if (!same && gr_array_overlap(out, a))
      return gr_capi_refuse(q, GPUREDUCE_BAD, "out overlaps what the expression reads");
  }
  return 1;
}

gpureduce_status gpureduce_eval(const gpureduce_array *a, gpureduce_array **out) {
  gr_capi q;
  if (gr_capi_begin_lazy(&q, "eval", a)) {
    const gr_expression *e = gr_capi_expression(a);
    const gr_array *x = &a->array;
    gr_array beside = *x;
    if (e && e->program.input_count) beside.storage = e->inputs[0].storage; /* whose device it may have left */
    gr_array *to = gr_capi_out(&q, out, &beside, x->dtype, x->n, x->rows, 1);
    if (to && !e) GR_CAPI_TRY(&q, gr_copy(q.c, x, to));
    else if (to && check_apart(&q, e, to)) {
      q.lazy[q.lazy_count++] = (gr_capi_lazy){.e = e}; /* its arrays leave a device that is lost */
      GR_CAPI_TRY(&q, gr_expression_eval(q.c, e, to));
    }
  }
  return gr_capi_end(&q);
}
