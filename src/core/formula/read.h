/* The words of a formula's text, one after the other. */
#ifndef GR_FORMULA_READ_H
#define GR_FORMULA_READ_H

#include "src/core/formula/formula.h"

typedef enum gr_word_kind { GR_WORD_END, GR_WORD_NUMBER, GR_WORD_NAME, GR_WORD_SIGN } gr_word_kind;

typedef struct gr_word {
  gr_word_kind kind;
  size_t column, length;
  char text[GR_NAME_LENGTH]; /* of names and signs; and, or and not are signs */
  gr_number number;
} gr_word;

typedef struct gr_reader {
  gr_context *context;
  const char *text; /* ends with NUL, which may lie in it, too */
  size_t length, at;
  gr_word word;
} gr_reader;

/* The next word, into reader->word. */
gr_status gr_reader_next(gr_reader *);

#endif
