/* What other parts need of the element operators. */
#ifndef GR_L_MAP_H
#define GR_L_MAP_H

#include "src/binding/options.h"

/* Options op and value: a mask of the elements that satisfy them, or a tally, on the stack; NULL if not given. */
gr_array *gr_l_predicate(lua_State *L, int options, const gr_array *a, gr_tally tally);

int gr_l_compact(lua_State *L); /* gr.compact */

/* The events of Lua that are element operators: X(event, operator). Where that has one operand, Lua gives it twice. */
/* clang-format off */
#define GR_L_OPERATORS(X)                                                                                   \
  X(__add, add) X(__sub, sub) X(__mul, mul) X(__div, div) X(__mod, mod) X(__pow, pow) X(__idiv, floordiv)   \
  X(__band, band) X(__bor, bor) X(__bxor, bxor) X(__shl, shl) X(__shr, shr) X(__bnot, bnot) X(__unm, neg)
/* clang-format on */

/* Adds the operators to the metatable on top of the stack. */
void gr_l_map_metamethods(lua_State *L);

#endif
