#include "src/core/formula/expression.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/numerics/map.h"
#include "src/core/formula/formula.h"
#include "src/core/operation.h"

/* ---- the block ---- */

void gr_parts_add(gr_parts *p, const gr_expression *e) {
  p->nodes += e ? e->program.count : 1;
  p->numbers += e ? e->program.number_count : 0;
  p->inputs += e ? e->program.input_count : 1;
}

size_t gr_expression_room(gr_parts p) {
  return sizeof(gr_expression) + (size_t)p.inputs * sizeof(gr_array) + (size_t)p.numbers * 2 * sizeof(uint64_t) +
         (size_t)p.nodes * sizeof(gr_node);
}

void gr_expression_settle(const gr_expression *e) {
  for (int k = 0; k < e->program.input_count; k++) gr_array_settle(&e->inputs[k], 0);
}

void gr_expression_release(gr_expression *e) {
  for (int k = 0; k < e->program.input_count; k++) gr_array_release(&e->inputs[k]);
}

void gr_expression_drop(gr_expression *e) {
  if (e) gr_expression_release(e);
  free(e);
}

void gr_builder_start(gr_builder *b, gr_context *c, gr_expression *e, gr_parts room) {
  memset(e, 0, sizeof *e);
  e->inputs = (gr_array *)(e + 1);
  e->program.numbers = (uint64_t *)(e->inputs + room.inputs);
  e->ids = e->program.numbers + room.numbers;
  e->program.nodes = (gr_node *)(e->ids + room.numbers);
  e->room = room;
  e->n = -1;
  e->result = -1;
  b->context = c;
  b->e = e;
  memset(b->heads, 0xff, sizeof b->heads);
}

gr_status gr_builder_start_new(gr_builder *b, gr_context *c, gr_expression **e, gr_parts room) {
  *e = malloc(gr_expression_room(room));
  if (!*e) return gr_fail(c, GR_NO_MEMORY, "out of memory");
  gr_builder_start(b, c, *e, room);
  return GR_OK;
}

/* ---- nodes ---- */

static unsigned hash(const gr_node *x) {
  uint64_t h = x->kind * 31u + x->op * 7u + x->relation + x->dtype * 5u + x->input * 3u + x->spread;
  h = h * 1000003u + (uint64_t)(uint16_t)x->a * 65537u + (uint64_t)(uint16_t)x->b * 257u + (uint16_t)x->c;
  return (unsigned)((h * UINT64_C(0x9E3779B97F4A7C15)) >> 56);
}

static int same(const gr_node *x, const gr_node *y) {
  return x->kind == y->kind && x->dtype == y->dtype && x->from == y->from && x->op == y->op &&
         x->relation == y->relation && x->input == y->input && x->spread == y->spread && x->a == y->a && x->b == y->b &&
         x->c == y->c;
}

static gr_status add(gr_builder *b, gr_node x, int *node) {
  gr_program *p = &b->e->program;
  const unsigned h = hash(&x);
  int k = b->heads[h];
  while (k >= 0 && !same(&p->nodes[k], &x)) k = p->nodes[k].next;
  *node = k;
  if (k >= 0) return GR_OK;
  if (p->count == GR_FORMULA_NODES || p->count == b->e->room.nodes)
    return gr_fail(b->context, GR_BAD, "more than %d steps", GR_FORMULA_NODES);
  x.next = b->heads[h];
  b->heads[h] = (int16_t)p->count;
  p->nodes[ *node = p->count++] = x;
  return GR_OK;
}

static int height_of(const gr_program *p, int operand) { return GR_IS_NUMBER(operand) ? 0 : p->nodes[operand].height; }

gr_status gr_build_step(gr_builder *b, gr_node x, int *node) {
  const gr_program *p = &b->e->program;
  int height = height_of(p, x.a);
  if (height_of(p, x.b) > height) height = height_of(p, x.b);
  if (height_of(p, x.c) > height) height = height_of(p, x.c);
  if (height >= GR_FORMULA_DEPTH) return gr_fail(b->context, GR_BAD, "deeper than %d steps", GR_FORMULA_DEPTH);
  x.kind = GR_NODE_STEP;
  x.height = (uint8_t)(height + 1);
  return add(b, x, node);
}

gr_status gr_build_number(gr_builder *b, uint64_t bits, uint64_t id, int *operand) {
  gr_program *p = &b->e->program;
  for (int k = 0; id && k < p->number_count; k++)
    if (b->e->ids[k] == id) return *operand = ~k, GR_OK;
  if (p->number_count == b->e->room.numbers)
    return gr_fail(b->context, GR_BAD, "more than %d numbers", b->e->room.numbers);
  b->e->ids[p->number_count] = id ? id : ++b->context->numbers;
  p->numbers[p->number_count] = bits;
  *operand = ~p->number_count++;
  return GR_OK;
}

/* ---- inputs ---- */

static int same_view(const gr_array *a, const gr_array *b) {
  return a->storage == b->storage && a->dtype == b->dtype && a->n == b->n && a->offset == b->offset &&
         a->stride == b->stride;
}

/* Of every node, the length; what is spread has its own. */
static gr_status check_length(gr_builder *b, int64_t n) {
  if (b->e->n < 0) b->e->n = n;
  if (b->e->n == n) return GR_OK;
  return gr_fail(b->context, GR_BAD, "length %lld expected, got %lld%s", (long long)b->e->n, (long long)n,
                 n == 1 ? ": gr.scalar(v), in a text scalar(v), goes with all" : "");
}

/* The same of every matrix; of one without columns its rows. */
static gr_status check_side(gr_builder *b, int64_t *side, int64_t n, const char *what) {
  const int64_t before = *side;
  if (n) *side = n;
  if (!before || !n || before == n) return GR_OK;
  return gr_fail(b->context, GR_BAD, "matrix of %lld %s expected, got %lld", (long long)before, what, (long long)n);
}

static gr_status check_matrix(gr_builder *b, int64_t columns, int64_t rows) {
  if (columns) return check_side(b, &b->e->columns, columns, "columns");
  return check_side(b, &b->e->bare, rows, "rows");
}

static gr_status check_device(gr_builder *b, const gr_array *a) {
  const gr_queue *q = gr_expression_queue(b->e);
  if (gr_array_released(a)) return GR_RELEASED;
  if (b->e->program.input_count == 0 || a->storage->queue == q) return GR_OK;
  return gr_fail(b->context, GR_BAD,
                 "array on device '%s' expected, got one on '%s': copy() brings it to the device in use",
                 q->backend->name, a->storage->queue->backend->name);
}

gr_status gr_build_input(gr_builder *b, const gr_array *a, gr_spread spread, int *node) {
  gr_expression *e = b->e;
  int k = 0;
  gr_status status = check_device(b, a);
  if (status == GR_OK && spread == GR_EACH) status = check_length(b, a->n);
  if (status == GR_OK && spread == GR_EACH && a->rows) status = check_matrix(b, gr_array_columns(a), a->rows);
  e->matrix |= spread == GR_EACH && a->rows;
  if (status == GR_OK && spread == GR_ONE && a->n != 1)
    status = gr_fail(b->context, GR_BAD, "length 1 expected, got %lld", (long long)a->n);
  if (status != GR_OK) return status;
  while (k < e->program.input_count && !same_view(&e->inputs[k], a)) k++;
  if (k == e->program.input_count) {
    if (k == GR_FORMULA_INPUTS || k == e->room.inputs)
      return gr_fail(b->context, GR_BAD, "more than %d arrays", GR_FORMULA_INPUTS);
    gr_array_view(a, &e->inputs[k], 0, 1, a->n);
    e->inputs[k].stamp = 1; /* once released, it says so */
    e->program.input_count++;
  }
  gr_node x = {.kind = GR_NODE_INPUT,
               .dtype = (uint8_t)a->dtype,
               .input = (uint8_t)k,
               .spread = (uint8_t)spread,
               .a = -1,
               .b = -1,
               .c = -1};
  return add(b, x, node);
}

gr_status gr_build_coming(gr_builder *b, gr_dtype t, int input, int *node) {
  const gr_node x = {.kind = GR_NODE_INPUT, .dtype = (uint8_t)t, .input = (uint8_t)input, .a = -1, .b = -1, .c = -1};
  return add(b, x, node);
}

gr_status gr_build_position(gr_builder *b, int *node) {
  return add(b, (gr_node){.kind = GR_NODE_POSITION, .dtype = GR_I64, .a = -1, .b = -1, .c = -1}, node);
}

/* An operand of x as it is called here. */
static gr_status move(gr_builder *b, const gr_expression *x, const int16_t *to, int16_t *operand) {
  int place = *operand;
  gr_status status = GR_OK;
  if (!GR_IS_NUMBER(place)) place = to[place];
  else status = gr_build_number(b, x->program.numbers[GR_NUMBER_OF(place)], x->ids[GR_NUMBER_OF(place)], &place);
  *operand = (int16_t)place;
  return status;
}

gr_status gr_build_merge(gr_builder *b, const gr_expression *x, int *node) {
  const gr_program *p = &x->program;
  int16_t to[GR_FORMULA_NODES];
  int found = -1;
  gr_status status = !gr_expression_alive(x) ? GR_RELEASED : gr_expression_line(x) ? GR_OK : check_length(b, x->n);
  b->e->matrix |= x->matrix;
  if (status == GR_OK) status = check_matrix(b, x->columns, x->bare);
  if (!b->e->where) b->e->where = x->where;
  for (int k = 0; k < p->count && status == GR_OK; k++) {
    gr_node y = p->nodes[k];
    if (y.kind == GR_NODE_INPUT) {
      status = gr_build_input(b, &x->inputs[y.input], (gr_spread)y.spread, &found);
    } else if (y.kind == GR_NODE_POSITION) {
      status = gr_build_position(b, &found);
    } else {
      const int operands = gr_map_operands((gr_map)y.op);
      status = move(b, x, to, &y.a);
      if (operands > 1 && status == GR_OK) status = move(b, x, to, &y.b);
      if (operands > 2 && status == GR_OK) status = move(b, x, to, &y.c);
      if (status == GR_OK) status = gr_build_step(b, y, &found);
    }
    to[k] = (int16_t)found;
  }
  if (status == GR_OK) *node = to[x->result];
  return status;
}

/* Rows and columns say what the matrix is, together or with the length. */
static gr_status find_matrix(gr_builder *b) {
  gr_expression *e = b->e;
  int64_t columns = e->columns, rows = e->n >= 0 ? gr_expression_rows(e) : 0;
  for (int k = 0; k < e->program.count; k++) {
    const gr_node *x = &e->program.nodes[k];
    if (x->kind != GR_NODE_INPUT || (x->spread != GR_ROW && x->spread != GR_COLUMN)) continue;
    int64_t *side = x->spread == GR_ROW ? &columns : &rows;
    const int64_t n = e->inputs[x->input].n;
    if (*side && *side != n)
      return gr_fail(b->context, GR_BAD, "%s of length %lld expected, got %lld", x->spread == GR_ROW ? "row" : "column",
                     (long long)*side, (long long)n);
    if (n == 0)
      return gr_fail(b->context, GR_BAD, "%s of 1 or more elements expected", x->spread == GR_ROW ? "row" : "column");
    *side = n;
  }
  if (!rows && !columns) return GR_OK;
  if (e->n < 0 && rows && columns) e->n = rows * columns;
  if (e->n < 0) return GR_OK;
  if (!columns) columns = e->n / rows;
  if (!rows) rows = e->n / columns;
  if (rows * columns != e->n)
    return gr_fail(b->context, GR_BAD, "length %lld expected of %lld rows and %lld columns, got %lld",
                   (long long)(rows * columns), (long long)rows, (long long)columns, (long long)e->n);
  e->columns = columns;
  return GR_OK;
}

gr_status gr_build_end(gr_builder *b, int node) {
  b->e->result = node;
  gr_status status = find_matrix(b);
  if (status == GR_OK && b->e->n < 0 && b->e->matrix) status = gr_fail(b->context, GR_BAD, GR_LINE_ALONE);
  if (status == GR_OK && b->e->n < 0)
    status = gr_fail(b->context, GR_BAD, "nothing says how long it is: give an array, or n = its length");
  return status;
}

/* ---- looking ---- */

gr_queue *gr_expression_queue(const gr_expression *e) {
  return e->program.input_count ? e->inputs[0].storage->queue : e->where;
}

static size_t put_operand(int operand, char *text, size_t size) {
  return (size_t)(GR_IS_NUMBER(operand) ? snprintf(text, size, " #%d", GR_NUMBER_OF(operand) + 1)
                                        : snprintf(text, size, " %d", operand + 1));
}

size_t gr_program_text(const gr_program *p, char *text, size_t size) {
  size_t used = 0;
#define AT (used < size ? text + used : NULL), (used < size ? size - used : 0)
  for (int k = 0; k < p->count; k++) {
    const gr_node *x = &p->nodes[k];
    const int operands = gr_map_operands((gr_map)x->op), spreads = x->kind == GR_NODE_INPUT && x->spread != GR_EACH;
    used += (size_t)snprintf(AT, "%d: %s", k + 1, gr_dtypes[x->dtype].name);
    if (spreads) used += (size_t)snprintf(AT, " %s", gr_spread_names[x->spread]);
    if (x->kind == GR_NODE_INPUT) used += (size_t)snprintf(AT, " array %d\n", x->input + 1);
    if (x->kind == GR_NODE_POSITION) used += (size_t)snprintf(AT, " position\n");
    if (x->kind != GR_NODE_STEP) continue;
    used += (size_t)snprintf(AT, " %s", gr_map_names[x->op]);
    if (x->op == GR_MAP_compare) used += (size_t)snprintf(AT, " %s", gr_relation_names[x->relation]);
    used += put_operand(x->a, AT);
    if (operands > 1) used += put_operand(x->b, AT);
    if (operands > 2) used += put_operand(x->c, AT);
    used += (size_t)snprintf(AT, "\n");
  }
#undef AT
  return used;
}

gr_status gr_expression_promise(gr_context *c, const gr_expression *e, gr_array *out) {
  const gr_dtype t = gr_expression_dtype(e);
  const size_t size = (size_t)gr_size(t);
  gr_queue *q = gr_expression_queue(e);
  if (!gr_expression_alive(e)) return GR_RELEASED;
  for (int k = 0; k < e->program.input_count; k++)
    if (gr_array_released(&e->inputs[k])) return GR_RELEASED;
  if (gr_expression_line(e)) return gr_fail(c, GR_BAD, GR_LINE_ALONE);
  gr_storage *s = e->n <= (int64_t)(PTRDIFF_MAX / size / 2) ? gr_storage_new(c, q, (size_t)e->n * size) : NULL;
  if (!s) return gr_fail(c, GR_NO_MEMORY, "out of memory: no room for an array's bookkeeping");
  gr_array_set(out, s, t, e->n, 0, (int64_t)size);
  out->rows = gr_expression_rows(e);
  return GR_OK;
}
