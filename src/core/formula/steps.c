/*
** Element operators on arrays, in pieces, so that what lies between them stays in a device's cache and takes little
** memory.
*/
#include "src/core/formula/steps.h"

#include <stdlib.h>

#include "kernels/numerics/map.h"
#include "src/core/map.h"
#include "src/core/ops.h"

#define PIECE ((int64_t)1 << 22) /* positions */

typedef struct run {
  gr_context *context;
  const gr_expression *e;
  gr_array *made; /* of nodes, as long as somebody needs them */
  int32_t *last;  /* the last node that reads it; -1: nobody */
  int64_t from, m;
  gr_array *out; /* the piece of it */
} run;

static int operands_of(const gr_node *x, int operand[3]) {
  operand[0] = x->a;
  operand[1] = x->b;
  operand[2] = x->c;
  return x->kind == GR_NODE_STEP ? gr_map_operands((gr_map)x->op) : 0;
}

/* Whether rows or columns are among the inputs: then it is done in one piece. */
static int find_uses(const gr_expression *e, int32_t *last) {
  const gr_program *p = &e->program;
  int operand[3], matrix = 0;
  for (int k = 0; k < p->count; k++) last[k] = -1;
  last[e->result] = p->count;
  for (int k = p->count - 1; k >= 0; k--) {
    const gr_node *x = &p->nodes[k];
    if (last[k] < 0) continue;
    matrix |= x->kind == GR_NODE_INPUT && (x->spread == GR_ROW || x->spread == GR_COLUMN);
    for (int j = operands_of(x, operand) - 1; j >= 0; j--)
      if (!GR_IS_NUMBER(operand[j]) && last[operand[j]] < k) last[operand[j]] = k;
  }
  return matrix;
}

/* ---- what needs no operator ---- */

/* One element, as often as the piece is long. */
static void view_one(const gr_array *a, int64_t at, int64_t m, gr_array *out) {
  gr_array_view(a, out, at, 1, 1);
  out->n = m;
  out->stride = m > 1 ? 0 : gr_size(a->dtype);
}

/* A row for all rows, by doubling: what is there already is copied behind itself. */
static gr_status spread_row(const run *r, const gr_array *v, gr_array *to) {
  const int64_t n = r->m;
  gr_status status = gr_array_make_beside(r->context, r->out, to, v->dtype, n);
  for (int64_t there = 0, m = v->n; there < n && status == GR_OK;
       there += m, m = there < n - there ? there : n - there) {
    const gr_array from = gr_array_part(there ? to : v, 0, 1, m);
    gr_array part = gr_array_part(to, there, 1, m);
    status = gr_copy(r->context, &from, &part);
  }
  return status;
}

/* The same bytes as unsigned integers (or, of 8 bytes, i64). */
static gr_array bits_of(const gr_array *a) {
  static const uint8_t dtypes[9] = {[1] = GR_U8, [2] = GR_U16, [4] = GR_U32, [8] = GR_I64};
  gr_array bits = gr_array_part(a, 0, 1, a->n);
  bits.dtype = (gr_dtype)dtypes[gr_size(a->dtype)];
  return bits;
}

/* to[k] = wide[k] - wide[k - 1], which wraps; to[0] = wide[0]. */
static gr_status differences(const run *r, const gr_array *wide, const gr_array *to) {
  const gr_array first = gr_array_part(wide, 0, 1, 1);
  gr_array part = gr_array_part(to, 0, 1, 1);
  const gr_status status = gr_copy(r->context, &first, &part);
  if (status != GR_OK || wide->n == 1) return status;
  const gr_array next = gr_array_part(wide, 1, 1, wide->n - 1), before = gr_array_part(wide, 0, 1, wide->n - 1);
  part = gr_array_part(to, 1, 1, wide->n - 1);
  const gr_map_call call = {.op = GR_MAP_sub, .dtype = GR_I64, .a.array = &next, .b.array = &before};
  return gr_map_arrays(r->context, &call, &part);
}

/* Into the beginnings of rows, what the column's bits there are more than in the row before. */
static gr_status put_steps(const run *r, const gr_array *v, const gr_array *steps) {
  const gr_array bits = bits_of(v), heads = gr_array_part(steps, 0, r->e->columns, v->n);
  gr_array wide = {0};
  gr_status status = gr_array_make_beside(r->context, r->out, &wide, GR_I64, v->n);
  if (status != GR_OK) return status;
  status = bits.dtype == GR_I64 ? gr_copy(r->context, &bits, &wide) : gr_cast(r->context, &bits, &wide);
  if (status == GR_OK) status = differences(r, &wide, &heads);
  gr_array_release(&wide);
  return status;
}

/* A column for all columns, in a few launches: running sums of integers, which wrap, carry its bits along each row. */
static gr_status spread_column(const run *r, const gr_array *v, gr_array *to) {
  gr_context *c = r->context;
  gr_array steps = {0};
  gr_status status = gr_array_make_beside(c, r->out, to, v->dtype, r->m);
  if (status == GR_OK) status = gr_array_make_beside(c, r->out, &steps, GR_I64, r->m);
  if (status == GR_OK) status = put_steps(r, v, &steps);
  if (status == GR_OK) status = gr_scan(c, GR_OP_sum, &steps, &steps, 0, 0);
  if (status == GR_OK) {
    gr_array bits = bits_of(to), low = gr_array_part(&steps, 0, 1, r->m);
    low.dtype = bits.dtype; /* the low bytes of each sum, which come first */
    status = gr_copy(c, &low, &bits);
  }
  gr_array_release(&steps);
  return status;
}

/* from + 1, from + 2, ...: even edges of bins of width 1, which the device makes itself, as integers. */
static gr_status positions(const run *r, gr_array *to) {
  gr_context *c = r->context;
  gr_queue *q = r->out->storage->queue;
  gr_edges_job job = {.first = (double)r->from + 1, .last = (double)(r->from + r->m), .bins = r->m - 1};
  gr_array edges = {0};
  gr_vec v;
  gr_status status = gr_array_make_beside(c, r->out, to, GR_I64, r->m);
  if (status == GR_OK && r->m == 1) return gr_fill(c, to, gr_value_i(r->from + 1));
  if (status == GR_OK)
    status = gr_array_make_open(c, r->out, &edges, GR_F64, r->m, gr_kernel_side(r->out->storage), &v);
  if (status == GR_OK) {
    job.edges = (double *)(uintptr_t)v.data;
    status = gr_fail_from(c, q, q->backend->edges(q, &job), "eval", 0);
  }
  if (status == GR_OK) status = gr_cast(c, &edges, to);
  gr_array_release(&edges);
  return status;
}

static gr_status make_input(const run *r, const gr_node *x, gr_array *to) {
  const gr_array *a = &r->e->inputs[x->input];
  if (gr_array_released(a)) return GR_RELEASED;
  if (x->spread == GR_ROW) return spread_row(r, a, to);
  if (x->spread == GR_COLUMN) return spread_column(r, a, to);
  if (x->spread == GR_ONE) view_one(a, 0, r->m, to);
  else gr_array_view(a, to, r->from, 1, r->m);
  return GR_OK;
}

/* ---- steps ---- */

static gr_term term_of(const run *r, int operand) {
  if (GR_IS_NUMBER(operand)) return (gr_term){NULL, r->e->program.numbers[GR_NUMBER_OF(operand)]};
  return (gr_term){&r->made[operand], 0};
}

static gr_status make_step(const run *r, int k) {
  const gr_node *x = &r->e->program.nodes[k];
  gr_map_call call = {.op = (gr_map)x->op, .relation = (gr_relation)x->relation, .dtype = (gr_dtype)x->from};
  const int is_result = k == r->e->result;
  gr_array *to = is_result ? r->out : &r->made[k];
  int operand[3];
  const int count = operands_of(x, operand);
  gr_status status = is_result ? GR_OK : gr_array_make_beside(r->context, r->out, to, (gr_dtype)x->dtype, r->m);
  call.a = term_of(r, operand[0]);
  if (count > 1) call.b = term_of(r, operand[1]);
  if (count > 2) call.c = term_of(r, operand[2]);
  if (status == GR_OK) status = gr_map_arrays(r->context, &call, to);
  for (int j = 0; j < count; j++)
    if (!GR_IS_NUMBER(operand[j]) && r->last[operand[j]] == k) gr_array_release(&r->made[operand[j]]);
  return status;
}

static gr_status run_piece(const run *r) {
  const gr_program *p = &r->e->program;
  gr_status status = GR_OK;
  for (int k = 0; k < p->count && status == GR_OK; k++) {
    const gr_node *x = &p->nodes[k];
    if (r->last[k] < 0) continue;
    if (x->kind == GR_NODE_STEP) status = make_step(r, k);
    else if (x->kind == GR_NODE_POSITION) status = positions(r, &r->made[k]);
    else status = make_input(r, x, &r->made[k]);
  }
  if (status == GR_OK && p->nodes[r->e->result].kind != GR_NODE_STEP)
    status = gr_copy(r->context, &r->made[r->e->result], r->out);
  for (int k = 0; k < p->count; k++) gr_array_release(&r->made[k]);
  return status;
}

gr_status gr_expression_steps(gr_context *c, const gr_expression *e, gr_array *out) {
  const size_t count = (size_t)e->program.count;
  gr_array part, *made = calloc(count, sizeof *made + sizeof(int32_t));
  run r = {.context = c, .e = e, .made = made, .out = &part};
  gr_status status = GR_OK;
  if (!made) return gr_fail(c, GR_NO_MEMORY, "out of memory");
  r.last = (int32_t *)(void *)(made + count);
  const int64_t piece = find_uses(e, r.last) ? e->n : PIECE;
  if (e->n > GR_LONG) gr_stop_begin(&c->stop);
  for (; r.from < e->n && status == GR_OK; r.from += r.m) {
    if (r.from && (status = gr_context_look(c)) != GR_OK) break;
    r.m = e->n - r.from < piece ? e->n - r.from : piece;
    part = gr_array_part(out, r.from, 1, r.m);
    status = run_piece(&r);
  }
  free(made);
  return status;
}
