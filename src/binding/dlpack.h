/* Tensors of DLPack as Lua sees them (dlpack.c). */
#ifndef GR_L_DLPACK_H
#define GR_L_DLPACK_H

#include "src/binding/state.h"

#define GR_DLPACK_NAME "gpureduce.dlpack"

void gr_l_dlpack_metatable(lua_State *L, gr_context *); /* when the module opens */

#endif
