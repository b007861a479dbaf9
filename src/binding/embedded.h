/* The Lua parts of the module, as text: generated at build from lua/gpureduce/, ended by a NULL name. */
#ifndef GR_EMBEDDED_H
#define GR_EMBEDDED_H

typedef struct gr_embedded {
  const char *name, *text;
} gr_embedded;

extern const gr_embedded gr_embedded_parts[];

#endif
