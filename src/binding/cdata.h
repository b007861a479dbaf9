/* Objects of LuaJIT's FFI (cdata.c). */
#ifndef GR_CDATA_H
#define GR_CDATA_H

#include "src/binding/args.h"

#define GR_CDATA 10 /* lua_type of them */

typedef struct gr_cdata {
  uintptr_t address;
  int array, plain; /* an array, whose length it knows; a number, which is an address */
  int readonly;     /* the elements are const */
  int dtype;        /* of the elements; -1: a struct's, a void's and others have none */
  int64_t bytes;    /* of an array */
  char type[80];    /* as the FFI writes it */
} gr_cdata;

/*
** The address that a light userdata, an object of the FFI (which fills in d) or a number is; a null pointer raises, and
** so does what is none of these. other: what may stand there besides.
*/
uintptr_t gr_l_check_address(lua_State *L, int arg, const char *other, gr_cdata *d);

#endif
