#include "src/core/formula/operator.h"

#include <stdio.h>

/* ---- names ---- */

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* Merges write it with 1 or 2 behind it, finish as it is. */
const char *gr_custom_name(const char *name, size_t length) {
  static const char *const words[] = {"and", "or", "not", "true", "false", "i", "n"};
  if (length == 0 || !is_letter(name[0])) return "name of letters, digits and _ expected";
  for (size_t k = 0; k < length; k++)
    if (!is_letter(name[k]) && !(name[k] >= '0' && name[k] <= '9')) return "name of letters, digits and _ expected";
  if (length > GR_NAME_LENGTH - 2) return "name of at most 62 letters expected";
  for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
    if (!strcmp(name, words[k])) return "a word of formulas: another name expected";
  return NULL;
}

/* The number of the input that a name is in that stage, or -1. */
static int input_named(const gr_custom *u, gr_stage stage, const char *name) {
  const size_t length = strlen(name);
  if (stage == GR_STAGE_MAP) return strcmp(name, "x") ? -1 : 0;
  for (int k = 0; k < u->states; k++) {
    const size_t n = strlen(u->name[k]);
    if (strncmp(name, u->name[k], n)) continue;
    if (stage == GR_STAGE_FINISH && length == n) return k;
    if (stage == GR_STAGE_MERGE && length == n + 1 && (name[n] == '1' || name[n] == '2'))
      return 2 * k + (name[n] == '2');
  }
  return -1;
}

/* ---- words ---- */

/* Which text it is about, before the words of a failure. */
static gr_status say_where(gr_context *c, const gr_custom *u, gr_stage stage, int k, gr_status status) {
  char words[sizeof c->error];
  if (status != GR_BAD) return status;
  memcpy(words, c->error, sizeof words);
  if (stage != GR_STAGE_FINISH)
    return gr_fail(c, GR_BAD, "%s of state '%s': %s", stage == GR_STAGE_MAP ? "map" : "merge", u->name[k], words);
  if (u->results == 1) return gr_fail(c, GR_BAD, "finish: %s", words);
  return gr_fail(c, GR_BAD, "finish, result %d: %s", k + 1, words);
}

static gr_status wrong_name(gr_context *c, const gr_custom *u, gr_stage stage, const gr_formula *f, size_t column,
                            const char *name) {
  const char *one = u->name[0];
  if (stage == GR_STAGE_MAP)
    return gr_formula_wrong(c, f->text, (size_t)f->length, column, "no '%s': the element is x, its position i", name);
  if (stage == GR_STAGE_MERGE)
    return gr_formula_wrong(c, f->text, (size_t)f->length, column,
                            "no '%s': states are %s1, of the left part, and %s2, of the right", name, one, one);
  return gr_formula_wrong(c, f->text, (size_t)f->length, column, "no '%s': states are %s%s, and n counts elements",
                          name, one, u->states > 1 ? " and the others" : "");
}

/* Every name is an input of the stage. */
static gr_status check_names(gr_context *c, const gr_custom *u, gr_stage stage, const gr_formula *f) {
  for (int k = 0; k < f->count; k++) {
    const gr_phrase *x = &f->phrases[k];
    const size_t column = (size_t)x->column, length = (size_t)f->length;
    if (!x->needed) continue;
    if (x->kind == GR_SAYS_POSITION && stage != GR_STAGE_MAP)
      return gr_formula_wrong(c, f->text, length, column, "i is the position of an element: only 'map' has one");
    if (x->kind == GR_SAYS_LENGTH && stage != GR_STAGE_FINISH)
      return gr_formula_wrong(c, f->text, length, column, "n is known at the end: only 'finish' has it");
    if (x->kind != GR_SAYS_NAME) continue;
    if (x->spread) return gr_formula_wrong(c, f->text, length, column, "%s is for arrays", gr_spread_names[x->spread]);
    if (input_named(u, stage, f->names[x->a].text) < 0) return wrong_name(c, u, stage, f, column, f->names[x->a].text);
  }
  return GR_OK;
}

/* ---- the block ---- */

static const gr_text *texts_of(const gr_operator_texts *t, gr_stage stage, int *count) {
  *count = stage == GR_STAGE_FINISH ? t->results : t->states;
  return stage == GR_STAGE_MAP ? t->map : stage == GR_STAGE_MERGE ? t->merge : t->finish;
}

static size_t rounded(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* A phrase is at least a character. */
static int steps_of(const gr_text *x) {
  const gr_formula f = {.count = (int32_t)(x->length < GR_FORMULA_NODES ? x->length + 1 : GR_FORMULA_NODES)};
  return gr_formula_steps(&f);
}

/* Where each part is, from the start of the block; u: NULL, or the block itself. Returns the end. */
static size_t lay_out(const gr_operator_texts *t, gr_custom *u) {
  size_t at = rounded(sizeof *u), longest = 0;
  for (int stage = 0; stage < GR_STAGES; stage++) {
    int count, nodes = GR_OPERATOR_STATES;
    const gr_text *texts = texts_of(t, (gr_stage)stage, &count);
    for (int k = 0; k < count; k++) {
      if (u) u->text[stage][k] = (gr_formula *)(void *)((char *)u + at);
      at += rounded(gr_formula_room(texts[k].length));
      nodes += steps_of(&texts[k]);
      if (texts[k].length > longest) longest = texts[k].length;
    }
    if (nodes > GR_FORMULA_NODES) nodes = GR_FORMULA_NODES;
    if (u) u->steps[stage] = (gr_expression *)(void *)((char *)u + at);
    if (u) u->nodes[stage] = nodes;
    at += rounded(gr_expression_room((gr_parts){nodes, nodes, 0}));
  }
  if (u) u->meanings = (gr_meaning *)(void *)((char *)u + at);
  return at + (longest < GR_FORMULA_NODES ? longest + 1 : GR_FORMULA_NODES) * sizeof(gr_meaning);
}

size_t gr_custom_room(const gr_operator_texts *t) { return lay_out(t, NULL); }

gr_status gr_custom_read(gr_context *c, gr_custom *u, const gr_operator_texts *t) {
  gr_status status = GR_OK;
  lay_out(t, u);
  u->states = t->states;
  u->results = t->results ? t->results : t->states;
  u->ordered = t->ordered;
  for (int k = 0; k < t->states; k++) {
    snprintf(u->name[k], sizeof u->name[k], "%s", t->name[k]);
    u->identity[k] = t->identity[k];
  }
  for (int stage = 0; stage < GR_STAGES; stage++) {
    int count;
    const gr_text *texts = texts_of(t, (gr_stage)stage, &count);
    for (int k = 0; k < count && status == GR_OK; k++) {
      gr_formula *f = u->text[stage][k];
      status = gr_formula_read(c, f, texts[k].text, texts[k].length);
      if (status == GR_OK) status = check_names(c, u, (gr_stage)stage, f);
      status = say_where(c, u, (gr_stage)stage, k, status);
    }
  }
  return status;
}

/* ---- programs ---- */

typedef struct making {
  gr_context *context;
  gr_custom *u;
  gr_builder b;
  gr_stage stage;
} making;

/* Of a text that comes to a number: what a cast in it says, else i64 or f64 as it is written. */
static gr_dtype number_dtype(const gr_formula *f, const gr_number *x) {
  const gr_phrase *root = &f->phrases[f->root];
  if (root->kind == GR_SAYS_MAP && root->op == GR_MAP_cast) return (gr_dtype)root->dtype;
  return x->integer ? GR_I64 : GR_F64;
}

static gr_status mean_text(making *m, int k, gr_meaning *out) {
  const gr_custom *u = m->u;
  const gr_formula *f = u->text[m->stage][k];
  gr_given given[GR_FORMULA_NAMES], count = {.comes = 1, .input = u->states, .dtype = GR_F64};
  for (int j = 0; j < f->name_count; j++) {
    const int input = input_named(u, m->stage, f->names[j].text), known = input < 0 ? 0 : input;
    given[j] = (gr_given){.comes = 1, .input = known};
    given[j].dtype = m->stage == GR_STAGE_MAP     ? u->op.dtype
                     : m->stage == GR_STAGE_MERGE ? u->op.state[known / 2]
                                                  : u->op.state[known];
  }
  return gr_formula_mean(&m->b, f, given, &count, u->meanings, out);
}

/* What text k comes to: a node, or a number as an element of t (-1: of its own dtype). */
static gr_status make_text(making *m, int k, int t, int32_t *operand, gr_dtype *dtype) {
  const gr_formula *f = m->u->text[m->stage][k];
  const gr_phrase *root = &f->phrases[f->root];
  gr_meaning x = {-1, {0}};
  uint64_t bits = 0;
  char text[96];
  int place = -1;
  gr_status status = mean_text(m, k, &x);
  if (status != GR_OK) return status;
  if (x.node >= 0) {
    *operand = x.node;
    *dtype = (gr_dtype)m->b.e->program.nodes[x.node].dtype;
    return GR_OK;
  }
  *dtype = t < 0 ? number_dtype(f, &x.number) : (gr_dtype)t;
  const char *why = gr_element_store(*dtype, &bits, &x.number, text);
  if (why) return gr_formula_wrong(m->context, f->text, (size_t)f->length, (size_t)root->column, "%s", why);
  status = gr_build_number(&m->b, bits, 0, &place);
  *operand = place;
  return status;
}

static void begin(making *m, gr_stage stage) {
  const int nodes = m->u->nodes[stage];
  m->stage = stage;
  gr_builder_start(&m->b, m->context, m->u->steps[stage], (gr_parts){nodes, nodes, 0});
}

static gr_program end(const making *m, int inputs) {
  gr_program p = m->b.e->program;
  p.input_count = inputs;
  return p;
}

static gr_status make_maps(making *m) {
  gr_operator *op = &m->u->op;
  gr_status status = GR_OK;
  begin(m, GR_STAGE_MAP);
  for (int k = 0; k < op->states && status == GR_OK; k++)
    status = say_where(m->context, m->u, m->stage, k, make_text(m, k, -1, &op->mapped[k], &op->state[k]));
  op->map = end(m, 1);
  op->position = 0;
  for (int k = 0; k < op->map.count; k++) op->position |= op->map.nodes[k].kind == GR_NODE_POSITION;
  return status;
}

static gr_status check_merge(making *m, int k, gr_dtype got) {
  const gr_formula *f = m->u->text[GR_STAGE_MERGE][k];
  const gr_dtype t = m->u->op.state[k];
  if (got == t) return GR_OK;
  return gr_formula_wrong(m->context, f->text, (size_t)f->length, (size_t)f->phrases[f->root].column,
                          "%s expected, which its map gives, got %s: write %s(...)", gr_dtypes[t].name,
                          gr_dtypes[got].name, gr_dtypes[t].name);
}

static gr_status make_merges(making *m) {
  gr_operator *op = &m->u->op;
  gr_status status = GR_OK;
  begin(m, GR_STAGE_MERGE);
  for (int k = 0; k < op->states && status == GR_OK; k++) {
    gr_dtype t = op->state[k];
    status = make_text(m, k, (int)t, &op->merged[k], &t);
    if (status == GR_OK) status = check_merge(m, k, t);
    status = say_where(m->context, m->u, m->stage, k, status);
  }
  op->merge = end(m, 2 * op->states);
  return status;
}

/* Without a text the states are the results. */
static gr_status make_finish(making *m) {
  gr_operator *op = &m->u->op;
  gr_status status = GR_OK;
  begin(m, GR_STAGE_FINISH);
  for (int k = 0; k < op->results && status == GR_OK; k++) {
    int node = -1;
    if (m->u->text[GR_STAGE_FINISH][k]) {
      status = make_text(m, k, -1, &op->finished[k], &op->result[k]);
      status = say_where(m->context, m->u, m->stage, k, status);
      continue;
    }
    status = gr_build_coming(&m->b, op->state[k], k, &node);
    op->finished[k] = node;
    op->result[k] = op->state[k];
  }
  op->finish = end(m, op->states + 1);
  op->counts = 0;
  for (int k = 0; k < op->finish.count; k++)
    op->counts |= op->finish.nodes[k].kind == GR_NODE_INPUT && op->finish.nodes[k].input == op->states;
  return status;
}

static gr_status make_identity(gr_context *c, gr_custom *u) {
  for (int k = 0; k < u->states; k++) {
    char text[96];
    u->op.identity[k] = 0;
    const char *why = gr_element_store(u->op.state[k], &u->op.identity[k], &u->identity[k], text);
    if (why) return gr_fail(c, GR_BAD, "identity of state '%s': %s", u->name[k], why);
  }
  return GR_OK;
}

gr_status gr_custom_make(gr_context *c, gr_custom *u, gr_dtype t) {
  making m = {.context = c, .u = u};
  if (u->made && u->op.dtype == t) return GR_OK;
  u->made = 0;
  u->op = (gr_operator){.dtype = t, .states = u->states, .results = u->results, .ordered = u->ordered};
  gr_status status = make_maps(&m);
  if (status == GR_OK) status = make_merges(&m);
  if (status == GR_OK) status = make_finish(&m);
  if (status == GR_OK) status = make_identity(c, u);
  u->made = status == GR_OK;
  return status;
}
