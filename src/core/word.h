/* A word of a queue's memory that the host wants to know while it lets more work follow. */
#ifndef GR_CORE_WORD_H
#define GR_CORE_WORD_H

#include "src/core/array.h"
#include "src/core/backend.h"

/*
** ask: the word as all that the queue has been given makes it. hear, whatever ask said, waits for it: status is that of
** what has been done meanwhile, and of ask. name: the call's, for failures.
*/
gr_status gr_word_ask(gr_context *, gr_queue *, const int64_t *at, gr_ticket *, const char *name);
gr_status gr_word_hear(gr_context *, gr_queue *, gr_ticket *, gr_status, const char *name, int64_t *word);

#endif
