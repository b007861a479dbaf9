/* Lua that the module carries as text, generated at build; lists end with a NULL name. */
#ifndef GR_EMBEDDED_H
#define GR_EMBEDDED_H

typedef struct gr_embedded {
  const char *name, *text;
} gr_embedded;

extern const gr_embedded gr_embedded_parts[];   /* of the module itself: lua/gpureduce/ */
extern const gr_embedded gr_embedded_modules[]; /* that are required by names of their own: lua/modules/ */

#endif
