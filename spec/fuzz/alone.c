/* What the readers need of the core's other rooms when they stand alone: words for a failure. */
#include <stdarg.h>
#include <stdio.h>

#include "src/core/context.h"

gr_status gr_fail(gr_context *c, gr_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(c->error, sizeof c->error, format, args);
  va_end(args);
  return status;
}
