#include "src/backend/jit/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int make_room(gr_text *t, size_t bytes) {
  size_t room = t->room ? t->room : 4096;
  if (t->failed) return 0;
  if (t->size + bytes < t->room) return 1;
  while (room <= t->size + bytes) room *= 2;
  char *at = realloc(t->at, room);
  t->failed = !at;
  if (!at) return 0;
  t->at = at;
  t->room = room;
  return 1;
}

void gr_text_bytes(gr_text *t, const char *from, size_t bytes) {
  if (!make_room(t, bytes)) return;
  memcpy(t->at + t->size, from, bytes);
  t->at[t->size += bytes] = 0;
}

void gr_text_add(gr_text *t, const char *format, ...) {
  char line[400]; /* longer ones are not written */
  va_list list;
  va_start(list, format);
  const int bytes = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  if (bytes < 0 || (size_t)bytes >= sizeof line) t->failed = 1;
  else gr_text_bytes(t, line, (size_t)bytes);
}

void gr_text_drop(gr_text *t) {
  free(t->at);
  *t = (gr_text){0};
}
