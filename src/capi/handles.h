/*
** Handles that a host has: a checked build (make CHECKED=1) notes each that it was given, and knows one that is gone,
** or that never was, from the pointer alone. The usual build looks at stamps, which needs memory that is still there.
**
** Another thread may end a handle at any time, which is a mistake, but is to be told. So a call holds all handles from
** the look at its own until it has entered their context; and whoever ends one has entered its context, and removes it
** before its memory goes or changes.
*/
#ifndef GR_HANDLES_H
#define GR_HANDLES_H

typedef enum gr_handle {
  GR_HANDLE_NONE,
  GR_HANDLE_CONTEXT,
  GR_HANDLE_ARRAY,
  GR_HANDLE_PARCEL,
  GR_HANDLE_OPERATOR,
  GR_HANDLE_FUTURE
} gr_handle;

#ifdef GR_CHECKED
void gr_handle_add(const void *, gr_handle);
void gr_handle_remove(const void *);
int gr_handle_known(const void *, gr_handle);
int gr_handle_take(const void *, gr_handle); /* removes it: 1 for the one who does, 0 if it is not there */
void gr_handle_hold(void);
void gr_handle_let_go(void);
#else
static inline void gr_handle_add(const void *p, gr_handle kind) { (void)p, (void)kind; }
static inline void gr_handle_remove(const void *p) { (void)p; }
static inline int gr_handle_known(const void *p, gr_handle kind) { return (void)p, (void)kind, 1; }
static inline int gr_handle_take(const void *p, gr_handle kind) { return (void)p, (void)kind, 1; }
static inline void gr_handle_hold(void) {}
static inline void gr_handle_let_go(void) {}
#endif

#endif
