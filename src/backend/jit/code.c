#include "src/backend/jit/code.h"

#include <string.h>

#include "kernels/numerics/map.h"

typedef struct reading {
  const gr_formula_job *job;
  gr_jit_code *code;
  uint64_t *words;
  int16_t number_of[GR_JIT_WORDS]; /* of the program, by that of the code */
} reading;

static int number(reading *r, int k) {
  int n = 0;
  while (n < r->code->numbers && r->number_of[n] != k) n++;
  if (n == GR_JIT_WORDS) return 0;
  if (n == r->code->numbers) r->number_of[r->code->numbers++] = (int16_t)k;
  return ~n;
}

static uint64_t word_of(const void *p) { return (uint64_t)(uintptr_t)p; }

static void input(reading *r, gr_node *x) {
  const gr_vec *v = &r->job->inputs[x->input];
  const int size = gr_size_of((gr_dtype)x->dtype);
  uint64_t *words = r->words + GR_JIT_INPUT;
  int k = 0;
  const uint8_t way = v->stride == size && word_of(v->data) % 16 == 0 ? GR_JIT_WORDS_OF_16 : GR_JIT_ONE_BY_ONE;
  while (k < r->code->inputs &&
         (words[2 * k] != word_of(v->data) || words[2 * k + 1] != (uint64_t)v->stride || r->code->way[k] != way))
    k++;
  if (k == r->code->inputs) {
    words[2 * k] = word_of(v->data);
    words[2 * k + 1] = (uint64_t)v->stride;
    r->code->way[k] = way;
    r->code->inputs++;
  }
  x->input = (uint8_t)k;
  if (x->spread == GR_ROW || x->spread == GR_COLUMN) {
    const int large = r->job->n >> 31 || v->stride != (int32_t)v->stride;
    if (r->code->matrix < 1 + large) r->code->matrix = (uint8_t)(1 + large);
  }
}

/* Which nodes they need. */
static void mark(const gr_program *p, const gr_jit_asked *asked, uint8_t *live) {
  memset(live, 0, (size_t)p->count);
  live[asked->a] = 1;
  if (asked->b >= 0) live[asked->b] = 1;
  if (asked->tally >= 0) live[asked->tally] = 1;
  for (int k = p->count - 1; k >= 0; k--) {
    const gr_node *x = &p->nodes[k];
    const int count = live[k] && x->kind == GR_NODE_STEP ? gr_map_operands((gr_map)x->op) : 0;
    if (count > 0 && x->a >= 0) live[x->a] = 1;
    if (count > 1 && x->b >= 0) live[x->b] = 1;
    if (count > 2 && x->c >= 0) live[x->c] = 1;
  }
}

/* Whole words of results begin at multiples of their length, and so do a matrix's rows then. */
static int is_wide(const gr_formula_job *job, const gr_jit_code *code) {
  int wide = code->matrix && job->columns % (16 / gr_size_of((gr_dtype)code->nodes[code->a].dtype)) == 0;
  for (int k = 0; k < code->count; k++) {
    const gr_node *x = &code->nodes[k];
    wide &= x->kind != GR_NODE_INPUT || x->spread != GR_ROW || code->way[x->input] == GR_JIT_WORDS_OF_16;
  }
  return wide;
}

int gr_jit_code_of(const gr_formula_job *job, const gr_jit_asked *asked, gr_jit_code *code,
                   uint64_t words[GR_JIT_WORDS]) {
  const gr_program *p = job->program;
  reading r = {job, code, words, {0}};
  uint8_t live[GR_FORMULA_NODES];
  int16_t place[GR_FORMULA_NODES];
  if (p->input_count > (GR_JIT_WORDS - GR_JIT_INPUT) / 2) return 0;
  memset(code, 0, offsetof(gr_jit_code, nodes));
  memset(place, 0, (size_t)p->count * sizeof *place);
  code->reducer = (int16_t)asked->reducer;
  code->variant = (uint8_t)asked->variant;
  code->present = (uint8_t)asked->present;
  code->dtype = p->nodes[asked->a].dtype;
  mark(p, asked, live);
  for (int k = 0; k < p->count; k++) {
    gr_node x = p->nodes[k];
    int16_t *operands[3] = {&x.a, &x.b, &x.c};
    if (!live[k]) continue;
    if (code->count == GR_JIT_NODES) return 0;
    if (x.kind == GR_NODE_INPUT) input(&r, &x);
    for (int i = 0; i < 3; i++) {
      int16_t *o = operands[i];
      if (x.kind != GR_NODE_STEP || i >= gr_map_operands((gr_map)x.op)) *o = -1;
      else if (!GR_IS_NUMBER(*o)) *o = place[*o];
      else if ((*o = (int16_t)number(&r, GR_NUMBER_OF(*o))) == 0) return 0;
    }
    x.next = 0;
    x.height = 0;
    place[k] = code->count;
    code->nodes[code->count++] = x;
  }
  code->a = place[asked->a];
  code->b = asked->b < 0 ? -1 : place[asked->b];
  code->tally = asked->tally < 0 ? -1 : place[asked->tally];
  if (code->present) memset(code->way, 0, sizeof code->way); /* wherever they lie */
  if (code->present) return 1;
  if (gr_jit_words(code) > GR_JIT_WORDS) return 0;
  code->wide = (uint8_t)is_wide(job, code);
  words[GR_JIT_COLUMNS] = (uint64_t)job->columns;
  words[GR_JIT_INVERSE] = job->columns > 0 ? ((UINT64_C(1) << 63) - 1) / (uint64_t)job->columns + 1 : 0;
  for (int k = 0; k < code->numbers; k++) words[gr_jit_number(code, k)] = p->numbers[r.number_of[k]];
  return 1;
}

/* ---- operators ---- */

/* Nodes and numbers of a program behind those that are there; what it gives. */
static void append(const gr_program *p, const int32_t *gives, gr_jit_code *code, uint64_t *numbers, int16_t *given) {
  const int nodes = code->count, first = code->numbers;
  for (int k = 0; k < p->count; k++) {
    gr_node x = p->nodes[k];
    int16_t *operands[3] = {&x.a, &x.b, &x.c};
    for (int i = 0; i < 3; i++) {
      int16_t *o = operands[i];
      if (x.kind != GR_NODE_STEP || i >= gr_map_operands((gr_map)x.op)) *o = -1;
      else *o = (int16_t)(GR_IS_NUMBER(*o) ? *o - first : *o + nodes);
    }
    x.next = 0;
    x.height = 0;
    code->nodes[code->count++] = x;
  }
  for (int k = 0; k < code->states; k++)
    given[k] = (int16_t)(GR_IS_NUMBER(gives[k]) ? gives[k] - first : gives[k] + nodes);
  for (int k = 0; k < p->number_count; k++) numbers[code->numbers++] = p->numbers[k];
}

int gr_jit_operator_code(const gr_operator *op, gr_jit_code *code, uint64_t words[GR_JIT_WORDS]) {
  if (op->map.count + op->merge.count > GR_JIT_NODES) return 0;
  if (op->map.number_count + op->merge.number_count > GR_JIT_WORDS - GR_JIT_INPUT) return 0;
  memset(code, 0, offsetof(gr_jit_code, nodes));
  code->reducer = GR_JIT_OPERATOR;
  code->dtype = (int16_t)op->dtype;
  code->a = code->b = code->tally = -1;
  code->number = 1;
  code->states = (uint8_t)op->states;
  for (int k = 0; k < op->states; k++) code->state[k] = (uint8_t)op->state[k];
  words[GR_JIT_COLUMNS] = words[GR_JIT_INVERSE] = 0;
  append(&op->map, op->mapped, code, words + GR_JIT_INPUT, code->mapped);
  code->map_count = code->count;
  append(&op->merge, op->merged, code, words + GR_JIT_INPUT, code->merged);
  return 1;
}

int gr_jit_state_words(const gr_jit_code *code) {
  int words = 0;
  for (int k = 0; k < code->states; k++) words += gr_size_of((gr_dtype)code->state[k]) == 8 ? 2 : 1;
  return words;
}

int gr_jit_skeleton_words(int words) { return words <= 4 ? words : words <= 6 ? 6 : 12; }
