/* The options that say which elements of an array are missing. */
#ifndef GR_L_MISSING_H
#define GR_L_MISSING_H

#include "src/binding/options.h"
#include "src/binding/ranks.h"
#include "src/core/formula/present.h"

/*
** 'skipnan' (of integers it changes nothing) and 'mask', u8 or an expression as long as a and beside it, which stays on
** the stack. Of an empty array nothing is missing.
*/
gr_missing gr_l_option_missing(lua_State *L, int options, const gr_array *a);
/* The same of a rank's part: where that is empty, others may miss something. */
gr_missing gr_l_option_missing_part(lua_State *L, int options, const gr_array *a);

/* out, which the option 'into' gave, shares nothing with the mask. */
void gr_l_check_mask_apart(lua_State *L, int options, const gr_missing *, const gr_array *out);

/* What is present of x, in an array of its own on the stack, for a call over comm's ranks (NULL: it is over none);
   argument arg is to blame. */
gr_reduced gr_l_push_present(lua_State *, gr_context *, gr_comm *, int arg, const gr_partial *, gr_reduced x);

#endif
