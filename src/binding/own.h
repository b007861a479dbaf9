/*
** What the module leaves in the registry of a Lua state, under names that no other copy of it takes: two files, or two
** versions, may be open in one state, and each is laid out as it knows itself. Scripts see the part before the sign.
*/
#ifndef GR_L_OWN_H
#define GR_L_OWN_H

#include <stddef.h>
#include <string.h>

#include "src/binding/compat.h"

/* clang-format off */
#define GR_OWN_NAMES(X)                                                                     \
  X(array) X(transposed) X(expression) X(formula) X(operator) X(accumulator) X(future)     \
  X(timer) X(histogram) X(histogram2d) X(explanation) X(scope) X(reading) X(functions)     \
  X(order) X(dlpack) X(comm) X(context) X(instance) X(module)
/* clang-format on */

enum {
#define GR_X(name) GR_OWN_##name,
  GR_OWN_NAMES(GR_X)
#undef GR_X
      GR_OWN_COUNT
};

/* "gpureduce.array@7f81c0de": 40 bytes at most, which Lua keeps each once. */
#define GR_OWN_ROOM 40
extern char gr_own_names[GR_OWN_COUNT][GR_OWN_ROOM];
#define GR_OWN(name) gr_own_names[GR_OWN_##name]

static inline size_t gr_own_length(const char *name) { return strcspn(name, "@"); }

void gr_l_choose_names(void); /* when the module is opened */

/*
** Adds the file of this copy to the registry's list of all that are open in the state; leaves nil if this is the first,
** else words that name both.
*/
void gr_l_push_other_copies(lua_State *L);
void gr_l_push_copies(lua_State *L); /* the files of that list, in words */

/* Whether the userdata at i, of that name, belongs to another copy. */
int gr_l_is_of_other_copy(lua_State *L, int i, const char *name);

#endif
