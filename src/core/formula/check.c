/* Whether an operator's words are true of samples: its programs run on the CPU, which gives the bits of all devices. */
#include <stdio.h>
#include <stdlib.h>

#include "src/core/formula/operate.h"

static const double samples[] = {0, 1, -1, 0.5, -0.25, 2, 3.75, -7, 100};
enum { SAMPLES = sizeof samples / sizeof samples[0], PAIRS = SAMPLES * SAMPLES, TRIPLES = PAIRS * SAMPLES };

/* Arrays of elements, one a state. */
typedef struct states {
  char *at[GR_OPERATOR_STATES];
} states;

typedef struct check {
  gr_context *context;
  const gr_custom *u;
  gr_queue *q;
  char x[SAMPLES * 8];
  char *memory;
} check;

enum { FOUND, AS, BS, CS, LEFT, RIGHT, HALF, ARRAYS };

static states array_of(const check *t, int which) {
  states s;
  for (int k = 0; k < GR_OPERATOR_STATES; k++)
    s.at[k] = t->memory + (size_t)(which * GR_OPERATOR_STATES + k) * TRIPLES * 8;
  return s;
}

static int size_of(const check *t, int k) { return gr_size(t->u->op.state[k]); }

/* m results of a program, one by one. */
static gr_status run(const check *t, const gr_program *p, const int32_t *nodes, const gr_vec *inputs, int64_t m,
                     states to) {
  gr_status status = GR_OK;
  for (int k = 0; k < t->u->states && status == GR_OK; k++) {
    const int size = size_of(t, k);
    gr_formula_job job = {.program = p, .inputs = inputs, .n = m, .columns = m, .result = nodes[k]};
    job.out = (gr_vec){to.at[k], size, 0};
    if (!GR_IS_NUMBER(nodes[k])) status = t->q->backend->formula(t->q, &job);
    else
      for (int64_t i = 0; i < m; i++) memcpy(to.at[k] + i * size, &p->numbers[GR_NUMBER_OF(nodes[k])], (size_t)size);
  }
  return gr_fail_from(t->context, t->q, status, "operator", 0);
}

static gr_status merge(const check *t, states left, states right, int64_t m, states to) {
  gr_vec inputs[2 * GR_OPERATOR_STATES];
  for (int k = 0; k < t->u->states; k++) {
    inputs[2 * k] = (gr_vec){left.at[k], size_of(t, k), 0};
    inputs[2 * k + 1] = (gr_vec){right.at[k], size_of(t, k), 0};
  }
  return run(t, &t->u->op.merge, t->u->op.merged, inputs, m, to);
}

/* The states of samples, at the places 1, 2, ... */
static gr_status find_states(check *t) {
  const gr_dtype d = t->u->op.dtype;
  const gr_vec input = {t->x, gr_size(d), 0};
  for (int k = 0; k < SAMPLES; k++) {
    const double s = d == GR_U8 || d == GR_U16 || d == GR_U32 ? fabs(samples[k]) : samples[k];
    if (gr_is_float(d)) gr_element_put_f(d, t->x + k * gr_size(d), s);
    else gr_element_put_i(d, t->x + k * gr_size(d), (int64_t)s);
  }
  return run(t, &t->u->op.map, t->u->op.mapped, &input, SAMPLES, array_of(t, FOUND));
}

/* As, bs and cs: sample k / over % SAMPLES at position k. */
static void choose(const check *t, int which, int over, int64_t m) {
  const states from = array_of(t, FOUND), to = array_of(t, which);
  for (int k = 0; k < t->u->states; k++) {
    const int size = size_of(t, k);
    for (int64_t i = 0; i < m; i++) memcpy(to.at[k] + i * size, from.at[k] + i / over % SAMPLES * size, (size_t)size);
  }
}

static double tolerance(gr_dtype t) {
  return t == GR_F64 ? 1e-9 : t == GR_F32 ? 1e-4 : t == GR_F16 ? 0.02 : t == GR_BF16 ? 0.1 : 0;
}

/* State k of left and right agree at i, beside states as large as those of a, b and c. */
static int agree(const check *t, int k, int64_t i, char words[96]) {
  const gr_dtype d = t->u->op.state[k];
  gr_value v[5];
  const int which[] = {LEFT, RIGHT, AS, BS, CS};
  double large = 0;
  for (int j = 0; j < 5; j++) {
    v[j] = gr_element_get(d, array_of(t, which[j]).at[k] + i * gr_size(d));
    if (v[j].is_float && fabs(v[j].v[0].f) > large && fabs(v[j].v[0].f) < INFINITY) large = fabs(v[j].v[0].f);
  }
  if (!v[0].is_float) {
    snprintf(words, 96, "%lld and %lld", (long long)v[0].v[0].i, (long long)v[1].v[0].i);
    return v[0].v[0].i == v[1].v[0].i;
  }
  const double x = v[0].v[0].f, y = v[1].v[0].f;
  snprintf(words, 96, "%.14g and %.14g", x, y);
  return x == y || (x != x && y != y) || fabs(x - y) <= tolerance(d) * large;
}

/* count: samples in a position, of a, b and c. */
static gr_status compare(const check *t, int64_t m, int count, const char *law, const char *sides) {
  char words[96], shown[96];
  for (int64_t i = 0; i < m; i++) {
    for (int k = 0; k < t->u->states; k++) {
      size_t used = 0;
      if (agree(t, k, i, words)) continue;
      for (int j = 0, over = 1; j < count; j++, over *= SAMPLES) {
        const gr_value x = gr_element_get(t->u->op.dtype, t->x + i / over % SAMPLES * gr_size(t->u->op.dtype));
        const double s = gr_value_double(&x, 0);
        used += (size_t)snprintf(shown + used, sizeof shown - used, "%s%.14g",
                                 j == 0           ? ""
                                 : j == count - 1 ? " and "
                                                  : ", ",
                                 s);
      }
      return gr_fail(t->context, GR_BAD, "check: merge %s: of x = %s (%s) state '%s' is %s by %s", law, shown,
                     gr_dtypes[t->u->op.dtype].name, t->u->name[k], words, sides);
    }
  }
  return GR_OK;
}

static gr_status check_identity(const check *t) {
  const states e = array_of(t, BS), a = array_of(t, AS), left = array_of(t, LEFT);
  gr_status status = GR_OK;
  choose(t, AS, 1, SAMPLES);
  choose(t, CS, 1, SAMPLES);
  choose(t, RIGHT, 1, SAMPLES);
  for (int k = 0; k < t->u->states; k++)
    for (int64_t i = 0; i < SAMPLES; i++)
      memcpy(e.at[k] + i * size_of(t, k), &t->u->op.identity[k], (size_t)size_of(t, k));
  for (int side = 0; side < 2 && status == GR_OK; side++) {
    status = side ? merge(t, e, a, SAMPLES, left) : merge(t, a, e, SAMPLES, left);
    if (status == GR_OK)
      status = compare(t, SAMPLES, 1, "with the identity changes a state",
                       side ? "(identity, a) and alone" : "(a, identity) and alone");
  }
  return status;
}

static gr_status check_commutes(const check *t) {
  const states a = array_of(t, AS), b = array_of(t, BS);
  choose(t, AS, 1, PAIRS);
  choose(t, BS, SAMPLES, PAIRS);
  choose(t, CS, 1, PAIRS);
  gr_status status = merge(t, a, b, PAIRS, array_of(t, LEFT));
  if (status == GR_OK) status = merge(t, b, a, PAIRS, array_of(t, RIGHT));
  if (status != GR_OK) return status;
  return compare(t, PAIRS, 2, "does not commute (if it is not to, say commutative = false)", "(a, b) and (b, a)");
}

static gr_status check_associates(const check *t) {
  const states a = array_of(t, AS), b = array_of(t, BS), c = array_of(t, CS), half = array_of(t, HALF);
  choose(t, AS, 1, TRIPLES);
  choose(t, BS, SAMPLES, TRIPLES);
  choose(t, CS, PAIRS, TRIPLES);
  gr_status status = merge(t, a, b, TRIPLES, half);
  if (status == GR_OK) status = merge(t, half, c, TRIPLES, array_of(t, LEFT));
  if (status == GR_OK) status = merge(t, b, c, TRIPLES, half);
  if (status == GR_OK) status = merge(t, a, half, TRIPLES, array_of(t, RIGHT));
  if (status != GR_OK) return status;
  return compare(t, TRIPLES, 3, "is not associative", "((a, b), c) and (a, (b, c))");
}

/* A dtype that it is for: that of most numbers first. */
static gr_status make_any(gr_context *c, gr_custom *u) {
  static const gr_dtype order[] = {GR_F64, GR_F32, GR_I64, GR_I32, GR_U8};
  gr_status first = gr_custom_make(c, u, order[0]);
  char words[sizeof c->error];
  if (first != GR_BAD) return first;
  memcpy(words, c->error, sizeof words);
  for (size_t k = 1; k < sizeof order / sizeof order[0]; k++)
    if (gr_custom_make(c, u, order[k]) == GR_OK) return GR_OK;
  memcpy(c->error, words, sizeof words);
  return first;
}

gr_status gr_custom_check(gr_context *c, gr_custom *u) {
  check t = {.context = c, .u = u, .q = gr_context_cpu(c)};
  gr_status status = make_any(c, u);
  if (status != GR_OK) return status;
  t.memory = t.q ? malloc((size_t)ARRAYS * GR_OPERATOR_STATES * TRIPLES * 8) : NULL;
  if (!t.memory) return gr_fail(c, GR_NO_MEMORY, "out of memory");
  const gr_stats before = t.q->stats;
  status = find_states(&t);
  if (status == GR_OK) status = check_identity(&t);
  if (status == GR_OK && !u->ordered) status = check_commutes(&t);
  if (status == GR_OK) status = check_associates(&t);
  t.q->stats = before;
  free(t.memory);
  return status;
}
