/*
** Formulas that the driver has compiled, by code and device, and those that it did not take: of a device
** GR_COMPILED_KEPT (src/core/backend.h), more while all of them have users. Safe for threads; while one compiles,
** others may, too. The device's context must be the current one.
*/
#ifndef GR_JIT_COMPILED_H
#define GR_JIT_COMPILED_H

#include <pthread.h>

#include "src/backend/jit/code.h"

typedef struct gr_compiled {
  struct gr_compiled *next;
  void *module, *function; /* CUmodule, CUfunction; NULL: the driver did not take it */
  int device, resident;    /* blocks of 256 threads that a multiprocessor holds */
  int users;
  uint64_t hash, uses;
  double seconds;   /* that compiling took; little where the driver had it on disk */
  const char *why;  /* it has no function */
  gr_jit_code code; /* as much of it as it has nodes */
} gr_compiled;

/* Whoever captures a stream has this meanwhile: a module is unloaded only while nobody does. */
extern pthread_mutex_t gr_jit_capturing;

/* Reads GPUREDUCE_JIT; once, before the others. */
void gr_jit_read_settings(void);
/* Why nothing is compiled for that device; NULL: it is. */
const char *gr_jit_missing(int device);

/* The compiled code, for its user until that one lets go of it. NULL: *why says why there is none. */
gr_compiled *gr_jit_take(int device, const gr_jit_code *, const char **why);
void gr_jit_keep(gr_compiled *); /* one user more */
void gr_jit_let_go(gr_compiled *);

/*
** Launches it in a stream (CUstream), with so many bytes of shared memory that it asks for as it is: a CUresult. early:
** before the launch ahead of it has ended, for which its kernel waits.
*/
int gr_jit_launch(void *function, unsigned blocks, unsigned threads, unsigned shared, int early, void *stream,
                  void *arguments);

/* Calls see for each that is kept, the last used first; see must not compile. */
void gr_jit_list(void (*see)(const gr_compiled *, void *), void *);

#endif
