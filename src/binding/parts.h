/* The parts of the module: each gives a list of functions, gr_<part>_functions, which luaopen_gpureduce registers. */
#ifndef GR_L_PARTS_H
#define GR_L_PARTS_H

#include "src/binding/register.h"

/* clang-format off */
#define GR_PARTS(X)                                                                                           \
  X(array) X(make) X(reduce) X(histogram) X(histogram2d) X(scan) X(select) X(map) X(when) X(wrap) X(scope)    \
  X(file) X(device) X(ladder) X(exact) X(safe) X(explain) X(formula) X(operator) X(matrix) X(lookup)          \
  X(random) X(dlpack) X(close)
/* clang-format on */

#define GR_X(part) extern const gr_function gr_##part##_functions[];
GR_PARTS(GR_X)
#undef GR_X

/* What the parts of the module that are written in Lua need of these. */
extern const gr_function gr_file_parts[], gr_help_parts[], gr_stop_parts[];

/* When the module opens: the metatable of arrays, whose methods are those of the module table on top of the stack. */
void gr_l_array_metatable(lua_State *L, gr_context *);
/* That of the module table on top of the stack: it knows the names of other libraries. */
void gr_l_module_metatable(lua_State *);
void gr_l_accumulator_metatable(lua_State *L);
void gr_l_dlpack_metatable(lua_State *L, gr_context *);

#endif
