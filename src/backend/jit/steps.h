/* The shipped bodies of element operators (shipped.h), once they are asked for. Safe for threads. */
#ifndef GR_JIT_STEPS_H
#define GR_JIT_STEPS_H

#include "src/backend/jit/text.h"

typedef struct gr_step_body gr_step_body;

/* Reads them all, the first time; 0: *why says why there are none. */
int gr_steps_read(const char **why);

/* The body of such a name ("add_f32", "lt_u8", "choose_f64", "cast_i8_f16"), or NULL. */
const gr_step_body *gr_step_named(const char *name);
int gr_step_lines(const gr_step_body *); /* lines of PTX */

/*
** The body as a block of its own, with moves of the type `in` (k-th of three: "b32", "f64", ...) from registers or
** addresses `from`, and of `out` to `to`.
*/
void gr_step_paste(gr_text *, const gr_step_body *, const char *const in[3], const char *const from[3], const char *out,
                   const char *to);

/*
** The functions that a body calls, if no body of the same text has brought them yet: `given` has gr_step_functions()
** bytes, zero at first.
*/
int gr_step_functions(void);
void gr_step_call(gr_text *, const gr_step_body *, char *given);

#endif
