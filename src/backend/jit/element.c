/* One element of a formula in PTX: its inputs, its steps, its place in a word of results. */
#include "src/backend/jit/element.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/numerics/map.h"
#include "src/backend/jit/steps.h"
#include "src/core/operation.h"

/* By dtype: the register of an element, how it is loaded, how a narrow one is taken out of 32 bits, the short name. */
static const struct kind {
  const char *bits, *load, *part, *name;
} kinds[] = {
    {"b32", "u8", "u32", "u8"},   {"b32", "s8", "s32", "i8"},   {"b32", "u16", "u32", "u16"},
    {"b32", "s16", "s32", "i16"}, {"b32", "b32", "b32", "u32"}, {"b32", "b32", "b32", "i32"},
    {"b64", "b64", "b64", "i64"}, {"b32", "u16", "u32", "f16"}, {"b32", "u16", "u32", "bf16"},
    {"f32", "f32", "f32", "f32"}, {"f64", "f64", "f64", "f64"},
};
_Static_assert(sizeof kinds / sizeof *kinds == GR_DTYPE_COUNT, "a dtype without registers");

static const char *const relation_names[] = {
#define GR_X(name, text) #name,
    GR_RELATIONS(GR_X)
#undef GR_X
};

static const struct kind *kind_of(const gr_emitter *e, int node) { return &kinds[e->code->nodes[node].dtype]; }
int gr_emit_size(const gr_emitter *e, int node) { return gr_size_of((gr_dtype)e->code->nodes[node].dtype); }

int gr_emit_log2(int x) {
  int k = 0;
  while (x > 1) x /= 2, k++;
  return k;
}

/* ---- arguments ---- */

void gr_emit_argument(gr_emitter *e, const char *type, const char *to, int word) {
  const int at = e->base + 8 * word;
  if (e->inside) gr_text_add(e->t, "ld.%s %s, [%%arguments+%d];\n", type, to, at);
  else gr_text_add(e->t, "ld.param.%s %s, [p0+%d];\n", type, to, at);
}

/* ---- steps ---- */

static const gr_step_body *body_named(gr_emitter *e, const char *name, const char *of, const char *to) {
  char text[64];
  snprintf(text, sizeof text, "%s_%s%s%s", name, of, to ? "_" : "", to ? to : "");
  const gr_step_body *b = gr_step_named(text);
  if (!b && !e->why) e->why = "an element operator has no PTX";
  return b;
}

static int widens(const gr_node *x) { return x->op != GR_MAP_cast && gr_map_widens((gr_map)x->op, (gr_dtype)x->from); }

/* The dtype in which it computes. */
static gr_dtype computed(const gr_node *x) { return widens(x) ? GR_F64 : (gr_dtype)x->from; }

/*
** Operators that take one NaN for another, so that what they read need not be the one NaN that all results are; the
** first of them come without that, too.
*/
static int takes_any_nan(const gr_node *x, int also_masks) {
  enum { ALWAYS = 1, MASKS };
  static const unsigned char takes[GR_MAP_COUNT] = {
      [GR_MAP_add] = ALWAYS,    [GR_MAP_sub] = ALWAYS,  [GR_MAP_mul] = ALWAYS,    [GR_MAP_div] = ALWAYS,
      [GR_MAP_neg] = ALWAYS,    [GR_MAP_abs] = ALWAYS,  [GR_MAP_square] = ALWAYS, [GR_MAP_sqrt] = ALWAYS,
      [GR_MAP_compare] = MASKS, [GR_MAP_isnan] = MASKS, [GR_MAP_isinf] = MASKS,   [GR_MAP_isfinite] = MASKS,
  };
  if (x->op == GR_MAP_cast) return also_masks || (x->from == GR_F32 && x->dtype == GR_F64);
  return takes[x->op] == ALWAYS || (takes[x->op] == MASKS && also_masks);
}

/* By node: whether it is read by such alone. */
void gr_emit_find_raw(gr_emitter *e) {
  const gr_jit_code *code = e->code;
  for (int k = 0; k < code->count; k++) {
    const gr_node *x = &code->nodes[k];
    const int16_t refs[3] = {x->a, x->b, x->c};
    e->raw[k] = (uint8_t)(x->kind == GR_NODE_STEP && takes_any_nan(x, 0) && (x->dtype == GR_F32 || x->dtype == GR_F64));
    for (int i = 0; i < 3; i++)
      if (refs[i] >= 0 && (!takes_any_nan(x, 1) || x->from != code->nodes[refs[i]].dtype)) e->raw[refs[i]] = 0;
  }
  if (code->a >= 0) e->raw[code->a] = 0;
  if (code->b >= 0) e->raw[code->b] = 0;
  for (int k = 0; k < code->states; k++) {
    if (code->mapped[k] >= 0) e->raw[code->mapped[k]] = 0;
    if (code->merged[k] >= 0) e->raw[code->merged[k]] = 0;
  }
}

static const gr_step_body *body_of(gr_emitter *e, const gr_node *x) {
  const char *of = kinds[computed(x)].name;
  if (e->raw[x - e->code->nodes]) return body_named(e, gr_map_names[x->op], of, "raw");
  if (x->op == GR_MAP_mul && x->dtype == GR_U8 && x->spread == GR_TRUTH) return body_named(e, "band", of, NULL);
  if (x->op == GR_MAP_compare) return body_named(e, relation_names[x->relation], of, NULL);
  if (x->op == GR_MAP_where) return body_named(e, "choose", of, NULL);
  if (x->op == GR_MAP_cast) return body_named(e, "cast", of, kinds[x->dtype].name);
  return body_named(e, gr_map_names[x->op], of, NULL);
}

/* Operand i of a step, in a register whose name is written to `name`. */
static void operand(gr_emitter *e, const gr_node *x, int ref, int i, char name[24]) {
  const gr_dtype t = x->op == GR_MAP_where && i == 2 ? GR_U8 : computed(x);
  const char *in[3] = {0}, *from[3] = {0};
  char given[24];
  snprintf(name, 24, GR_IS_NUMBER(ref) ? "%%c%d" : "%%w%d", i);
  if (GR_IS_NUMBER(ref)) {
    gr_text_add(e->t, ".reg .%s %s;\n", kinds[t].bits, name);
    gr_emit_argument(e, kinds[t].load, name, gr_jit_number(e->code, GR_NUMBER_OF(ref)));
    return;
  }
  snprintf(given, sizeof given, "%%v%d", ref);
  if (e->code->nodes[ref].dtype == t) {
    memcpy(name, given, sizeof given);
    return;
  }
  const gr_step_body *cast = body_named(e, "cast", kind_of(e, ref)->name, kinds[t].name);
  gr_text_add(e->t, ".reg .%s %s;\n", kinds[t].bits, name);
  in[0] = kind_of(e, ref)->bits;
  from[0] = given;
  if (cast) gr_step_paste(e->t, cast, in, from, kinds[t].bits, name);
}

static void step(gr_emitter *e, int k) {
  const gr_node *x = &e->code->nodes[k];
  const int count = gr_map_operands((gr_map)x->op), refs[3] = {x->a, x->b, x->c};
  const gr_step_body *body = body_of(e, x);
  const char *in[3] = {0}, *from[3] = {0};
  char names[3][24], to[24];
  if (!body) return;
  gr_text_add(e->t, "{\n");
  for (int i = 0; i < count; i++) {
    operand(e, x, refs[i], i, names[i]);
    in[i] = kinds[x->op == GR_MAP_where && i == 2 ? GR_U8 : computed(x)].bits;
    from[i] = names[i];
  }
  snprintf(to, sizeof to, "%%v%d", k);
  gr_step_paste(e->t, body, in, from, kind_of(e, k)->bits, to);
  gr_text_add(e->t, "}\n");
}

/* ---- elements of inputs ---- */

const char *gr_emit_load(const gr_emitter *e) { return e->code->changes ? "ld.global" : "ld.global.nc"; }

int gr_emit_by_words(const gr_emitter *e, const gr_node *x) {
  return x->kind == GR_NODE_INPUT && x->spread == GR_EACH && e->code->way[x->input] == GR_JIT_WORDS_OF_16;
}

/* Element c of the words that were loaded to %l`first` (of a row: %s) and on. */
static void take(gr_emitter *e, int k, char prefix, int first, int c) {
  const int size = gr_emit_size(e, k);
  const char p = prefix;
  if (size == 8) gr_text_add(e->t, "mov.b64 %%v%d, {%%%c%d, %%%c%d};\n", k, p, first + 2 * c, p, first + 2 * c + 1);
  else if (size == 4) gr_text_add(e->t, "mov.b32 %%v%d, %%%c%d;\n", k, p, first + c);
  else
    gr_text_add(e->t, "bfe.%s %%v%d, %%%c%d, %d, %d;\n", kind_of(e, k)->part, k, p, first + c * size / 4,
                c * size % 4 * 8, 8 * size);
}

/* The element for position %at, if %ok (guarded), to %v`k`, or another prefix's. */
static void load_one(gr_emitter *e, int k, char to, int guarded) {
  const gr_node *x = &e->code->nodes[k];
  const char *place = x->spread == GR_EACH ? "%at" : x->spread == GR_ROW ? "%column" : "%row";
  gr_text_add(e->t, "{\n.reg .b64 %%address, %%stride;\n");
  gr_emit_argument(e, "b64", "%address", gr_jit_input(x->input));
  if (x->spread != GR_ONE) {
    gr_emit_argument(e, "b64", "%stride", gr_jit_input(x->input) + 1);
    if (x->spread == GR_EACH || e->code->matrix == 2)
      gr_text_add(e->t, "mad.lo.s64 %%address, %s, %%stride, %%address;\n", place);
    else
      gr_text_add(e->t,
                  "{\n.reg .b32 %%step;\ncvt.u32.u64 %%step, %%stride;\n"
                  "mad.wide.s32 %%address, %s, %%step, %%address;\n}\n",
                  place);
  }
  gr_text_add(e->t, "mov.%s %%%c%d, 0%s;\n", kind_of(e, k)->bits, to, k,
              kind_of(e, k)->bits[0] == 'f' ? (gr_emit_size(e, k) == 4 ? "f00000000" : "d0000000000000000") : "");
  gr_text_add(e->t, "%s%s.%s %%%c%d, [%%address];\n}\n", guarded && x->spread != GR_ONE ? "@%ok " : "", gr_emit_load(e),
              kind_of(e, k)->load, to, k);
}

/*
** %row and %column, which are there, of position %at: a product by the inverse of the columns, which is exact below
** 2^31, as at times what the inverse lacks stays below 2^63; or a division.
*/
static void find_row(gr_emitter *e) {
  if (e->code->matrix == 2) {
    gr_text_add(e->t, "{\n.reg .b64 %%columns;\n");
    gr_emit_argument(e, "b64", "%columns", GR_JIT_COLUMNS);
    gr_text_add(e->t,
                "div.u64 %%row, %%at, %%columns;\nmul.lo.s64 %%column, %%row, %%columns;\n"
                "sub.s64 %%column, %%at, %%column;\n}\n");
    return;
  }
  gr_text_add(e->t, "{\n.reg .b32 %%x, %%twice, %%low, %%high;\n.reg .b64 %%y, %%z;\n");
  gr_emit_argument(e, "b64", "%y", GR_JIT_INVERSE);
  gr_text_add(e->t,
              "mov.b64 {%%low, %%high}, %%y;\ncvt.u32.u64 %%x, %%at;\nadd.u32 %%twice, %%x, %%x;\n"
              "mul.wide.u32 %%y, %%twice, %%low;\nshr.u64 %%y, %%y, 32;\n"
              "mad.wide.u32 %%z, %%twice, %%high, %%y;\nmov.b64 {%%low, %%row}, %%z;\n");
  gr_emit_argument(e, "b64", "%y", GR_JIT_COLUMNS);
  gr_text_add(e->t, "cvt.u32.u64 %%high, %%y;\nmul.lo.u32 %%low, %%row, %%high;\nsub.u32 %%column, %%x, %%low;\n}\n");
}

/* ---- the row of a word ---- */

static int is_spread(const gr_node *x, int as) { return x->kind == GR_NODE_INPUT && x->spread == as; }

/* 32-bit words that the elements of a word of results have of an input. */
int gr_emit_words_of(const gr_emitter *e, int k) {
  const int bytes = 16 / e->size * gr_emit_size(e, k);
  return bytes < 4 ? 1 : bytes / 4;
}

const char *gr_emit_loaded(int bytes, char prefix, int first, char to[64]) {
  const char c = prefix;
  if (bytes >= 16)
    snprintf(to, 64, "{%%%c%d, %%%c%d, %%%c%d, %%%c%d}", c, first, c, first + 1, c, first + 2, c, first + 3);
  else if (bytes == 8) snprintf(to, 64, "{%%%c%d, %%%c%d}", c, first, c, first + 1);
  else snprintf(to, 64, "%%%c%d", c, first);
  return bytes == 2 ? "u16" : bytes == 4 ? "b32" : bytes == 8 ? "v2.b32" : "v4.b32";
}

/* What is one for each column, from the word's first column on, to %s`first` and on. */
static void load_columns(gr_emitter *e, int k, int first) {
  const int size = gr_emit_size(e, k), words = gr_emit_words_of(e, k);
  char to[64];
  gr_text_add(e->t, "{\n.reg .b64 %%address;\n");
  gr_emit_argument(e, "b64", "%address", gr_jit_input(e->code->nodes[k].input));
  gr_text_add(e->t, "mad.%s.s%d %%address, %%column, %d, %%address;\n", e->code->matrix == 2 ? "lo" : "wide",
              e->code->matrix == 2 ? 64 : 32, size);
  for (int w = 0; w < words; w += 4) {
    const char *type = gr_emit_loaded(16 / e->size * size, 's', first + w, to);
    gr_text_add(e->t, "%s.%s %s, [%%address+%d];\n", gr_emit_load(e), type, to, 4 * w);
  }
  gr_text_add(e->t, "}\n");
}

/* Words that are not there have the first row and column. */
void gr_emit_row(gr_emitter *e, int ahead, const char *left) {
  const gr_jit_code *code = e->code;
  const int bits = code->matrix == 2 ? 64 : 32;
  int words = 0;
  gr_text_add(e->t, "{\n");
  if (!code->wide) return;
  for (int k = 0; k < code->count; k++)
    if (is_spread(&code->nodes[k], GR_ROW)) words += gr_emit_words_of(e, k);
  gr_text_add(e->t, ".reg .b%d %%row, %%column;\n.reg .b32 %%s<%d>;\n{\n.reg .b64 %%at;\n", bits, words + 1);
  gr_text_add(e->t, "add.s64 %%at, %%first, %d;\n", ahead);
  if (left)
    gr_text_add(e->t, ".reg .pred %%there;\nsetp.gt.s32 %%there, %s, %d;\nselp.b64 %%at, %%at, 0, %%there;\n", left,
                ahead);
  find_row(e);
  gr_text_add(e->t, "}\n");
  for (int k = 0, first = 0; k < code->count; k++) {
    if (is_spread(&code->nodes[k], GR_COLUMN)) {
      gr_text_add(e->t, ".reg .%s %%u%d;\n", kind_of(e, k)->bits, k);
      load_one(e, k, 'u', 0);
    } else if (is_spread(&code->nodes[k], GR_ROW)) {
      e->of_row[k] = first;
      load_columns(e, k, first);
      first += gr_emit_words_of(e, k);
    }
  }
  e->wide = 1;
}

void gr_emit_row_end(gr_emitter *e) {
  gr_text_add(e->t, "}\n");
  e->wide = 0;
}

/* ---- states of operators ---- */

/* An input of an operator's program: words of a register's size each. */
static void take_state(gr_emitter *e, int k) {
  const gr_jit_code *code = e->code;
  const int input = code->nodes[k].input, size = gr_emit_size(e, k);
  const char *prefix = k < code->map_count ? "%x" : input % 2 ? "%m" : "%a";
  int first = 0;
  for (int j = 0; k >= code->map_count && j < input / 2; j++)
    first += gr_size_of((gr_dtype)code->state[j]) == 8 ? 2 : 1;
  if (size == 8) gr_text_add(e->t, "mov.b64 %%v%d, {%s%d, %s%d};\n", k, prefix, first, prefix, first + 1);
  else if (size == 4) gr_text_add(e->t, "mov.b32 %%v%d, %s%d;\n", k, prefix, first);
  else gr_text_add(e->t, "bfe.%s %%v%d, %s%d, 0, %d;\n", kind_of(e, k)->part, k, prefix, first, 8 * size);
}

void gr_emit_state(gr_emitter *e, int ref, gr_dtype t, const char *prefix, int first) {
  const int size = gr_size_of(t);
  char name[24];
  gr_text_add(e->t, "{\n");
  if (GR_IS_NUMBER(ref)) {
    snprintf(name, sizeof name, "%%number");
    gr_text_add(e->t, ".reg .%s %s;\n", kinds[t].bits, name);
    gr_emit_argument(e, kinds[t].load, name, gr_jit_number(e->code, GR_NUMBER_OF(ref)));
  } else {
    snprintf(name, sizeof name, "%%v%d", ref);
  }
  if (size == 8) gr_text_add(e->t, "mov.b64 {%s%d, %s%d}, %s;\n", prefix, first, prefix, first + 1, name);
  else if (size == 4) gr_text_add(e->t, "mov.b32 %s%d, %s;\n", prefix, first, name);
  else gr_text_add(e->t, "and.b32 %s%d, %s, %d;\n", prefix, first, name, size == 2 ? 65535 : 255);
  gr_text_add(e->t, "}\n");
}

/* ---- an element ---- */

void gr_emit_put(gr_emitter *e, int node, int c, char *const *to) {
  const int size = e->size;
  if (size == 8) gr_text_add(e->t, "mov.b64 {%s, %s}, %%v%d;\n", to[2 * c], to[2 * c + 1], node);
  else if (size == 4) gr_text_add(e->t, "mov.b32 %s, %%v%d;\n", to[c], node);
  else if (c * size % 4 == 0)
    gr_text_add(e->t, "and.b32 %s, %%v%d, %d;\n", to[c * size / 4], node, size == 2 ? 65535 : 255);
  else {
    char *word = to[c * size / 4];
    gr_text_add(e->t, "bfi.b32 %s, %%v%d, %s, %d, %d;\n", word, node, word, c * size % 4 * 8, 8 * size);
  }
}

void gr_emit_nodes(gr_emitter *e, const int *words, int c, int guarded) {
  const gr_jit_code *code = e->code;
  for (int k = e->from; k < e->to; k++) gr_text_add(e->t, ".reg .%s %%v%d;\n", kind_of(e, k)->bits, k);
  if (code->matrix && !e->wide) {
    gr_text_add(e->t, ".reg .b%d %%row, %%column;\n", code->matrix == 2 ? 64 : 32);
    find_row(e);
  }
  for (int k = e->from; k < e->to; k++) {
    const gr_node *x = &code->nodes[k];
    if (x->kind == GR_NODE_STEP) step(e, k);
    else if (x->kind == GR_NODE_INPUT && code->states) take_state(e, k);
    else if (x->kind == GR_NODE_POSITION) gr_text_add(e->t, "add.s64 %%v%d, %%at, 1;\n", k);
    else if (words && gr_emit_by_words(e, x)) take(e, k, 'l', words[k], c);
    else if (e->wide && x->spread == GR_ROW) take(e, k, 's', e->of_row[k], c);
    else if (e->wide && x->spread == GR_COLUMN) gr_text_add(e->t, "mov.%s %%v%d, %%u%d;\n", kind_of(e, k)->bits, k, k);
    else load_one(e, k, 'v', guarded);
  }
}

/* Lines of an element's steps. */
int gr_emit_lines(gr_emitter *e) {
  int lines = 0;
  for (int k = 0; k < e->code->count; k++) {
    const gr_node *x = &e->code->nodes[k];
    const gr_step_body *b = x->kind == GR_NODE_STEP ? body_of(e, x) : NULL;
    lines += b ? gr_step_lines(b) : 2;
    if (b && widens(x)) lines += 2 * 8;
  }
  return lines;
}

void gr_emit_functions(gr_emitter *e) {
  char *given = calloc((size_t)gr_step_functions() + 1, 1);
  e->t->failed |= !given;
  for (int k = 0; given && k < e->code->count; k++) {
    const gr_node *x = &e->code->nodes[k];
    const gr_step_body *b = x->kind == GR_NODE_STEP ? body_of(e, x) : NULL;
    if (b) gr_step_call(e->t, b, given);
    if (b && widens(x)) b = body_named(e, "cast", kinds[x->from].name, kinds[GR_F64].name);
    if (b) gr_step_call(e->t, b, given);
  }
  free(given);
}
