/* Words for a mistake in a formula, with the line it is in and a caret below the place. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/core/formula/formula.h"

#define SHOWN 60 /* characters of a line */

/* What is no printable character of ASCII would move the caret, or the terminal. */
static char shown(char c) { return c >= ' ' && c <= '~' ? c : c == '\t' ? ' ' : '?'; }

gr_status gr_formula_wrong(gr_context *c, const char *text, size_t length, size_t column, const char *format, ...) {
  char words[160], line[SHOWN + 8], caret[SHOWN + 8], place[64];
  size_t from = column, end = column, row = 1, used = 0;
  va_list args;
  va_start(args, format);
  vsnprintf(words, sizeof words, format, args);
  va_end(args);
  while (from > 0 && text[from - 1] != '\n') from--;
  while (end < length && text[end] != '\n') end++;
  for (size_t k = 0; k < from; k++) row += text[k] == '\n';
  if (row > 1) snprintf(place, sizeof place, "line %zu, column %zu", row, column - from + 1);
  else snprintf(place, sizeof place, "column %zu", column - from + 1);
  if (column - from > SHOWN / 2 && end - from > SHOWN) { /* a long line: the part around the place */
    from = column - SHOWN / 2;
    memcpy(line, "...", used = 3);
  }
  const size_t at = used + (column - from), before = used;
  while (from < end && used < before + SHOWN) line[used++] = shown(text[from++]);
  if (from < end) memcpy(line + used, "...", 3), used += 3;
  line[used] = 0;
  memset(caret, ' ', at);
  caret[at] = '^';
  caret[at + 1] = 0;
  return gr_fail(c, GR_BAD, "%s: %s\n  %s\n  %s", place, words, line, caret);
}
