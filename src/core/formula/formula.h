/*
** A formula as its author wrote it: phrases in topological order, each of them once however often the text says it.
** Nothing is known yet of what its names stand for. It lives in one block of memory that its owner gives, and holds
** none besides.
*/
#ifndef GR_FORMULA_TEXT_H
#define GR_FORMULA_TEXT_H

#include "kernels/formula.h"
#include "src/core/context.h"
#include "src/core/dtype.h"

#define GR_FORMULA_TEXT 65536 /* characters */
#define GR_FORMULA_NAMES 256  /* inputs of any kind */
#define GR_NAME_LENGTH 64

typedef enum gr_phrase_kind {
  GR_SAYS_NUMBER,   /* a literal */
  GR_SAYS_NAME,     /* an input: a is its name's number */
  GR_SAYS_POSITION, /* i */
  GR_SAYS_LENGTH,   /* n */
  GR_SAYS_MAP,      /* an operator of GR_MAPS on a, b, c; compare has its relation, cast its dtype,
    where its mask in c */
  GR_SAYS_AND,
  GR_SAYS_OR,
  GR_SAYS_NOT,
  GR_SAYS_POWER
} gr_phrase_kind;

typedef struct gr_phrase {
  uint8_t kind, op, relation, dtype, spread;
  uint8_t needed;  /* by the whole */
  int16_t a, b, c; /* phrases, or -1 */
  int16_t next;    /* another one of the same hash, or -1 */
  int16_t height;
  int32_t column; /* in the text, from 0 */
  gr_number number;
} gr_phrase;

typedef struct gr_name {
  char text[GR_NAME_LENGTH];
  uint8_t spreads; /* bit k: it is written as spread k says, x or scalar(x) or ... */
} gr_name;

typedef struct gr_formula {
  gr_phrase *phrases;
  gr_name *names;
  char *text;
  int32_t count, name_count, length, root;
} gr_formula;

/* The bytes that a formula of so long a text takes at most. */
size_t gr_formula_room(size_t length);

/* Read the text; f is the start of a block of gr_formula_room bytes. GR_BAD and words that show where. */
gr_status gr_formula_read(gr_context *, gr_formula *f, const char *text, size_t length);

/* Words for what is wrong at a column (from 0) of the text: with the line, and a caret below it. Gives GR_BAD. */
gr_status gr_formula_wrong(gr_context *, const char *text, size_t length, size_t column, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;

/* The element operator of that name, or -1. */
int gr_map_named(const char *name);
/* What spreads an input in a formula, by gr_spread; of GR_EACH "". */
extern const char *const gr_spread_names[];

/* What may be called in a formula; the list ends with NULL. */
#define GR_CALLABLES (GR_MAP_COUNT + 2 * GR_DTYPE_COUNT + 8)
void gr_formula_callables(const char *names[GR_CALLABLES]);

#endif
