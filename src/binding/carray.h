/*
** The C API that arrays of the lua-carray rock offer (https://github.com/osch/lua-carray, its carray_capi.h, version
** 1.0): a userdata in the metafield GR_CARRAY_ID holds a pointer to this table and the id as a string after it.
*/
#ifndef GR_CARRAY_H
#define GR_CARRAY_H

#include <lua.h>
#include <stddef.h>

#define GR_CARRAY_ID "_capi_carray"
#define GR_CARRAY_MAJOR 1
#define GR_CARRAY_READONLY 1

typedef struct gr_carray_info {
  /*
  ** 1 unsigned char, 2 signed char, 3 short, 4 unsigned, 5 int, 6 unsigned, 7 long, 8 unsigned, 9 float, 10 double, 11
  ** long long, 12 unsigned.
  */
  int type;
  int attributes; /* GR_CARRAY_READONLY */
  size_t item, count, capacity;
} gr_carray_info;

typedef struct gr_carray_api {
  int major, minor, patch;
  const struct gr_carray_api *next; /* of another version, or NULL */
  void *(*create)(lua_State *, int type, int attributes, size_t count, void **data);
  void *(*create_around)(lua_State *, int type, int attributes, void *data, size_t count,
                         void (*release)(void *, size_t));
  const void *(*readable)(lua_State *, int index, gr_carray_info *);
  void *(*writable)(lua_State *, int index, gr_carray_info *);
  void (*retain)(const void *array);
  void (*release)(const void *array);
  void *(*write_elements)(void *array, size_t first, size_t count);
  const void *(*read_elements)(const void *array, size_t first, size_t count); /* NULL: it has not so many */
} gr_carray_api;

#endif
