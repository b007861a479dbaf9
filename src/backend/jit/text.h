/* Text that grows. An allocation that fails is remembered, and what is added from then on is lost. */
#ifndef GR_JIT_TEXT_H
#define GR_JIT_TEXT_H

#include <stddef.h>

typedef struct gr_text {
  char *at; /* ends with a zero, once something was added */
  size_t size, room;
  int failed;
} gr_text;

void gr_text_bytes(gr_text *, const char *from, size_t bytes);
__attribute__((format(printf, 2, 3))) void gr_text_add(gr_text *, const char *format, ...);
void gr_text_drop(gr_text *);

#endif
