/*
** From words to phrases, by precedence: operands and what waits for its right side are on two stacks, and nothing
** calls itself, so that no text can be too deep for the host's stack.
*/
#include "src/core/formula/read.h"
#include "src/core/operation.h"
#include "kernels/cpu/room.h"
#include "kernels/numerics/map.h"

const char *const gr_spread_names[] = {"", "scalar", "row", "column"};

int gr_map_named(const char *name) {
  for (int k = 0; k < GR_MAP_COUNT; k++)
    if (!strcmp(name, gr_map_names[k])) return k;
  return -1;
}

#define OPEN_MOST 1024 /* signs that wait; GR_FORMULA_DEPTH of them parentheses at most */

typedef enum does { OPENS, CALLS, NEGATES, TURNS, JOINS } does; /* TURNS: not and ~ */

/* What waits for its right side, or its end. right: how strongly it holds what comes; as in the language's manual. */
typedef struct waiting {
  does does;
  int right, phrase_kind, op, relation, dtype, spread, arguments, operands;
  size_t column;
} waiting;

typedef struct parser {
  gr_reader r;
  gr_formula *f;
  int16_t heads[256];
  struct {
    int16_t phrase, bare;
  } operands[OPEN_MOST + 8]; /* bare: an `and` that no parentheses enclose */
  waiting open[OPEN_MOST];
  int operand_count, open_count, nested;
} parser;

#define WRONG(p, column, ...) gr_formula_wrong((p)->r.context, (p)->r.text, (p)->r.length, column, __VA_ARGS__)

/* ---- phrases, each once ---- */

static int same(const gr_phrase *x, const gr_phrase *y) {
  return x->kind == y->kind && x->op == y->op && x->relation == y->relation && x->dtype == y->dtype &&
         x->spread == y->spread && x->a == y->a && x->b == y->b && x->c == y->c &&
         x->number.integer == y->number.integer && x->number.i == y->number.i &&
         gr_bits64(x->number.f) == gr_bits64(y->number.f);
}

static unsigned hash(const gr_phrase *x) {
  uint64_t h = x->kind * 31u + x->op * 7u + x->relation + x->dtype * 5u + x->spread;
  h = h * 1000003u + (uint64_t)(uint16_t)x->a * 65537u + (uint64_t)(uint16_t)x->b * 257u + (uint16_t)x->c;
  h ^= gr_bits64(x->number.f) * UINT64_C(0x9E3779B97F4A7C15);
  return (unsigned)((h * UINT64_C(0x9E3779B97F4A7C15)) >> 56);
}

static int height_of(const parser *p, int k) { return k < 0 ? 0 : p->f->phrases[k].height; }

/* The number of such a phrase, made if there is none yet, onto the stack of operands. */
static gr_status push_as(parser *p, gr_phrase x, int bare) {
  gr_formula *f = p->f;
  const unsigned h = hash(&x);
  const int leaf = x.kind == GR_SAYS_NAME || x.a < 0;
  int k = p->heads[h], height = leaf ? 0 : height_of(p, x.a);
  while (k >= 0 && !same(&f->phrases[k], &x)) k = f->phrases[k].next;
  if (k < 0) {
    if (height_of(p, x.b) > height) height = height_of(p, x.b);
    if (height_of(p, x.c) > height) height = height_of(p, x.c);
    x.height = (int16_t)(height + !leaf);
    if (x.height > GR_FORMULA_DEPTH) return WRONG(p, (size_t)x.column, "deeper than %d", GR_FORMULA_DEPTH);
    if (f->count == GR_FORMULA_NODES) return WRONG(p, (size_t)x.column, "more than %d parts", GR_FORMULA_NODES);
    k = f->count++;
    x.next = p->heads[h];
    p->heads[h] = (int16_t)k;
    f->phrases[k] = x;
  }
  if (p->operand_count == OPEN_MOST + 8) return WRONG(p, (size_t)x.column, "deeper than %d", GR_FORMULA_DEPTH);
  p->operands[p->operand_count].phrase = (int16_t)k;
  p->operands[p->operand_count++].bare = (int16_t)bare;
  return GR_OK;
}

static gr_status push(parser *p, gr_phrase x) { return push_as(p, x, 0); }
static int16_t pop(parser *p) { return p->operands[--p->operand_count].phrase; }

static gr_phrase phrase(gr_phrase_kind kind, size_t column) {
  return (gr_phrase){.kind = (uint8_t)kind, .column = (int32_t)column, .a = -1, .b = -1, .c = -1, .next = -1};
}

/* ---- operands ---- */

static gr_status push_name(parser *p, const char *name, size_t column, int spread) {
  gr_formula *f = p->f;
  gr_phrase x = phrase(GR_SAYS_NAME, column);
  int k = 0;
  if (!strcmp(name, "i") || !strcmp(name, "n")) {
    if (spread != GR_EACH) return WRONG(p, column, "name of an input expected, got '%s', which is none", name);
    return push(p, phrase(*name == 'i' ? GR_SAYS_POSITION : GR_SAYS_LENGTH, column));
  }
  if (!strcmp(name, "true") || !strcmp(name, "false")) return WRONG(p, column, "write %d for %s", *name == 't', name);
  while (k < f->name_count && strcmp(f->names[k].text, name)) k++;
  if (k == f->name_count) {
    if (k == GR_FORMULA_NAMES) return WRONG(p, column, "more than %d names", GR_FORMULA_NAMES);
    f->names[f->name_count++] = (gr_name){.spreads = 0};
    strcpy(f->names[k].text, name);
  }
  x.a = (int16_t)k;
  x.spread = (uint8_t)spread;
  return push(p, x);
}

static gr_status push_number(parser *p, gr_number number, size_t column) {
  gr_phrase x = phrase(GR_SAYS_NUMBER, column);
  x.number = number;
  return push(p, x);
}

/* ---- what waits ---- */

static gr_status await(parser *p, waiting w) {
  const int opens = w.does == OPENS || w.does == CALLS;
  p->nested += opens;
  if (p->open_count == OPEN_MOST || p->nested > GR_FORMULA_DEPTH)
    return WRONG(p, w.column, "deeper than %d", GR_FORMULA_DEPTH);
  p->open[p->open_count++] = w;
  return GR_OK;
}

/* -x; of a literal the literal itself with the other sign. */
static gr_status negate(parser *p, size_t column) {
  const int16_t a = pop(p);
  const gr_phrase *x = &p->f->phrases[a];
  gr_phrase y = phrase(GR_SAYS_MAP, column);
  if (x->kind == GR_SAYS_NUMBER) {
    gr_number n = x->number;
    n.i = (int64_t)(0 - (uint64_t)n.i);
    n.f = n.integer ? (double)n.i : -n.f;
    n.whole = n.integer || gr_whole(n.f, &n.i);
    return push_number(p, n, column);
  }
  y.op = GR_MAP_neg;
  y.a = a;
  return push(p, y);
}

/* x or y; and the choice `c and x or y`: x wherever c is not zero, even where x itself is. */
static gr_status either(parser *p, size_t column) {
  gr_phrase x = phrase(GR_SAYS_OR, column);
  x.b = pop(p);
  x.a = pop(p);
  if (p->operands[p->operand_count].bare) {
    const gr_phrase *left = &p->f->phrases[x.a];
    x.kind = GR_SAYS_MAP;
    x.op = GR_MAP_where;
    x.a = left->b;
    x.c = left->a;
  }
  return push(p, x);
}

/* The last thing that waits has got its right side. */
static gr_status join(parser *p) {
  const waiting w = p->open[--p->open_count];
  gr_phrase x = phrase((gr_phrase_kind)w.phrase_kind, w.column);
  if (w.does == NEGATES) return negate(p, w.column);
  x.op = (uint8_t)w.op;
  if (w.does == TURNS) {
    x.a = pop(p);
    return push(p, x);
  }
  if (w.phrase_kind == GR_SAYS_OR) return either(p, w.column);
  x.b = pop(p);
  x.a = pop(p);
  x.relation = (uint8_t)w.relation;
  return push_as(p, x, w.phrase_kind == GR_SAYS_AND);
}

/* All that holds its left side at least as strongly as `left`, down to what is open. */
static gr_status join_down_to(parser *p, int left) {
  gr_status status = GR_OK;
  while (status == GR_OK && p->open_count) {
    const waiting *w = &p->open[p->open_count - 1];
    if (w->does == OPENS || w->does == CALLS || left > w->right) break;
    status = join(p);
  }
  return status;
}

/* ---- functions ---- */

static int is_map(const char *name, int *op) {
  *op = gr_map_named(name);
  return *op >= 0 && *op != GR_MAP_cast && *op != GR_MAP_compare && *op != GR_MAP_where;
}

#define GR_D(id, s, l, type, kind) #s, #l,
static const char *const other_callables[] = {"where", "min", "max", "scalar", "row", "column", GR_DTYPES(GR_D) NULL};
#undef GR_D
_Static_assert(sizeof other_callables / sizeof *other_callables + GR_MAP_COUNT <= GR_CALLABLES, "room for all");

void gr_formula_callables(const char *names[GR_CALLABLES]) {
  int count = 0, op;
  for (; other_callables[count]; count++) names[count] = other_callables[count];
  for (int k = 0; k < GR_MAP_COUNT; k++)
    if (is_map(gr_map_names[k], &op)) names[count++] = gr_map_names[k];
  names[count] = NULL;
}

/* name( : what it will do with so many operands. */
static gr_status open_call(parser *p, const char *name, size_t column) {
  waiting w = {.does = CALLS, .column = column, .phrase_kind = GR_SAYS_MAP, .operands = 1};
  int t = gr_dtype_named(name), op;
  if (t >= 0) {
    w.op = GR_MAP_cast;
    w.dtype = t;
    return await(p, w);
  }
  for (int k = GR_ONE; k <= GR_COLUMN; k++)
    if (!strcmp(name, gr_spread_names[k])) w.spread = k;
  if (w.spread) return await(p, w);
  if (!strcmp(name, "where")) {
    w.op = GR_MAP_where;
    w.operands = 3;
    return await(p, w);
  }
  if (!strcmp(name, "min")) name = "minimum";
  if (!strcmp(name, "max")) name = "maximum";
  if (!is_map(name, &op)) return WRONG(p, column, "no function '%s'", name);
  w.op = op;
  w.operands = gr_map_operands((gr_map)op);
  return await(p, w);
}

/* scalar(x) and its like have been read as the plain name x: it is that name, in another role. */
static gr_status spread_name(parser *p, const waiting *w) {
  const gr_phrase x = p->f->phrases[pop(p)];
  if (x.kind != GR_SAYS_NAME || x.spread)
    return WRONG(p, w->column, "%s takes the name of an input", gr_spread_names[w->spread]);
  return push_name(p, p->f->names[x.a].text, (size_t)x.column, w->spread);
}

static gr_status close_call(parser *p, const waiting *w) {
  gr_phrase x = phrase((gr_phrase_kind)w->phrase_kind, w->column);
  if (w->arguments != w->operands)
    return WRONG(p, w->column, "%d argument%s expected, got %d", w->operands, w->operands == 1 ? "" : "s",
                 w->arguments);
  if (w->spread) return spread_name(p, w);
  if (w->operands > 2) x.c = pop(p);
  if (w->operands > 1) x.b = pop(p);
  x.a = pop(p);
  x.op = (uint8_t)w->op;
  x.dtype = (uint8_t)w->dtype;
  if (w->op == GR_MAP_where) { /* where(c, x, y): the mask is the third operand */
    const int16_t mask = x.a;
    x.a = x.b;
    x.b = x.c;
    x.c = mask;
  }
  return push(p, x);
}

/* ---- signs between operands ---- */

typedef struct sign {
  const char *text;
  int left, right;
  gr_phrase_kind kind;
  int op, relation; /* of GR_SAYS_MAP */
} sign;

/* clang-format off */
#define GR_X(name, text) {text, 3, 3, GR_SAYS_MAP, GR_MAP_compare, GR_IS_##name},
static const sign signs[] = {
    {"or", 1, 1, GR_SAYS_OR, 0, 0},
    {"and", 2, 2, GR_SAYS_AND, 0, 0},
    GR_RELATIONS(GR_X)
    {"|", 4, 4, GR_SAYS_MAP, GR_MAP_bor, 0},
    {"~", 5, 5, GR_SAYS_MAP, GR_MAP_bxor, 0},
    {"&", 6, 6, GR_SAYS_MAP, GR_MAP_band, 0},
    {"<<", 7, 7, GR_SAYS_MAP, GR_MAP_shl, 0},
    {">>", 7, 7, GR_SAYS_MAP, GR_MAP_shr, 0},
    {"+", 10, 10, GR_SAYS_MAP, GR_MAP_add, 0},
    {"-", 10, 10, GR_SAYS_MAP, GR_MAP_sub, 0},
    {"*", 11, 11, GR_SAYS_MAP, GR_MAP_mul, 0},
    {"/", 11, 11, GR_SAYS_MAP, GR_MAP_div, 0},
    {"//", 11, 11, GR_SAYS_MAP, GR_MAP_floordiv, 0},
    {"%", 11, 11, GR_SAYS_MAP, GR_MAP_mod, 0},
    {"^", 14, 13, GR_SAYS_POWER, 0, 0},
};
#undef GR_X
/* clang-format on */
#define UNARY 12

static const sign *sign_of(const gr_word *w) {
  if (w->kind != GR_WORD_SIGN) return NULL;
  for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++)
    if (!strcmp(w->text, signs[k].text)) return &signs[k];
  return NULL;
}

static int is_sign(const parser *p, const char *text) {
  return p->r.word.kind == GR_WORD_SIGN && !strcmp(p->r.word.text, text);
}

static const char *word_text(const gr_word *w, char text[GR_NAME_LENGTH + 8]) {
  if (w->kind == GR_WORD_END) return "the end";
  if (w->kind == GR_WORD_NUMBER) return "a number";
  text[0] = '\'';
  strcpy(text + 1, w->text);
  return strcat(text, "'");
}

/*
** An operand is due: numbers, names and calls, after any - and not and ~ and (. *after: what comes next follows an
** operand.
*/
static gr_status read_operand(parser *p, int *after) {
  const gr_word w = p->r.word;
  waiting unary = {.does = TURNS, .right = UNARY, .column = w.column};
  char text[GR_NAME_LENGTH + 8];
  gr_status status;
  *after = 1;
  if (w.kind == GR_WORD_NUMBER) status = push_number(p, w.number, w.column);
  else if (is_sign(p, "-") || is_sign(p, "not") || is_sign(p, "~")) {
    if (is_sign(p, "-")) unary.does = NEGATES;
    unary.phrase_kind = is_sign(p, "not") ? GR_SAYS_NOT : GR_SAYS_MAP;
    unary.op = is_sign(p, "~") ? GR_MAP_bnot : 0;
    *after = 0;
    status = await(p, unary);
  } else if (is_sign(p, "(")) *after = 0, status = await(p, (waiting){.does = OPENS, .column = w.column});
  else if (w.kind == GR_WORD_NAME) {
    status = gr_reader_next(&p->r);
    if (status != GR_OK) return status;
    if (!is_sign(p, "(")) return push_name(p, w.text, w.column, GR_EACH);
    *after = 0;
    status = open_call(p, w.text, w.column);
  } else return WRONG(p, w.column, "number, name or '(' expected, got %s", word_text(&w, text));
  return status == GR_OK ? gr_reader_next(&p->r) : status;
}

static gr_status close(parser *p, int comma) {
  gr_status status = join_down_to(p, 0);
  waiting *w = p->open_count ? &p->open[p->open_count - 1] : NULL;
  char text[GR_NAME_LENGTH + 8];
  if (status != GR_OK) return status;
  if (!w || (comma && w->does == OPENS))
    return WRONG(p, p->r.word.column, "unexpected %s", word_text(&p->r.word, text));
  w->arguments++;
  if (comma) return GR_OK;
  p->open_count--;
  p->nested--;
  if (w->does == OPENS) {
    p->operands[p->operand_count - 1].bare = 0;
    return GR_OK;
  }
  return close_call(p, w);
}

/* What follows an operand: a sign and then the next, or an end. */
static gr_status read_sign(parser *p, int *after) {
  const gr_word w = p->r.word;
  const sign *s = sign_of(&w);
  char text[GR_NAME_LENGTH + 8];
  gr_status status;
  if (s) {
    status = join_down_to(p, s->left);
    if (status == GR_OK)
      status = await(p, (waiting){.does = JOINS,
                                  .right = s->right,
                                  .phrase_kind = s->kind,
                                  .op = s->op,
                                  .relation = s->relation,
                                  .column = w.column});
    *after = 0;
  } else if (is_sign(p, ",") || is_sign(p, ")")) {
    *after = is_sign(p, ")");
    status = close(p, !*after);
  } else return WRONG(p, w.column, "operator expected, got %s", word_text(&w, text));
  return status == GR_OK ? gr_reader_next(&p->r) : status;
}

/* Which phrases the whole needs: what a sign before a literal or scalar() replaced is not among them. */
static void find_needed(gr_formula *f) {
  f->phrases[f->root].needed = 1;
  for (int k = f->root; k >= 0; k--) {
    const gr_phrase *x = &f->phrases[k];
    if (!x->needed) continue;
    if (x->kind == GR_SAYS_NAME) {
      f->names[x->a].spreads |= (uint8_t)(1 << x->spread);
      continue;
    }
    if (x->a >= 0) f->phrases[x->a].needed = 1;
    if (x->b >= 0) f->phrases[x->b].needed = 1;
    if (x->c >= 0) f->phrases[x->c].needed = 1;
  }
}

static gr_status finish(parser *p) {
  gr_status status = join_down_to(p, 0);
  if (status != GR_OK) return status;
  if (p->open_count) {
    const size_t line = p->open[p->open_count - 1].column + 1;
    return WRONG(p, p->r.word.column, "')' expected for the '(' of column %zu, got the end", line);
  }
  p->f->root = pop(p);
  find_needed(p->f);
  return GR_OK;
}

/* ---- the block of memory ---- */

static size_t most_names(size_t length) {
  return length / 2 + 1 < GR_FORMULA_NAMES ? length / 2 + 1 : GR_FORMULA_NAMES;
}
static size_t most_phrases(size_t length) { return length < GR_FORMULA_NODES ? length + 1 : GR_FORMULA_NODES; }

size_t gr_formula_room(size_t length) {
  return sizeof(gr_formula) + most_phrases(length) * sizeof(gr_phrase) + most_names(length) * sizeof(gr_name) + length +
         1;
}

gr_status gr_formula_read(gr_context *c, gr_formula *f, const char *text, size_t length) {
  memset(f, 0, sizeof *f);
  f->phrases = (gr_phrase *)(f + 1);
  f->names = (gr_name *)(f->phrases + most_phrases(length));
  f->text = (char *)(f->names + most_names(length));
  f->length = (int32_t)length;
  memcpy(f->text, text, length);
  f->text[length] = 0;
  parser *p = gr_room_take(sizeof *p);
  p->f = f;
  p->operand_count = p->open_count = p->nested = 0;
  p->r = (gr_reader){.context = c, .text = f->text, .length = length};
  memset(p->heads, 0xff, sizeof p->heads);
  int after = 0;
  gr_status status = gr_reader_next(&p->r);
  while (status == GR_OK && !(after && p->r.word.kind == GR_WORD_END))
    status = after ? read_sign(p, &after) : read_operand(p, &after);
  if (status == GR_OK) status = finish(p);
  gr_room_give(p);
  return status;
}
