/* Every backend of this process: what the core, which knows none of them, is told at the start. */
#ifndef GR_BACKENDS_H
#define GR_BACKENDS_H

#include "src/core/backend.h"

/* Fills list, returns how many; why: the reason when there is no CUDA device. */
int gr_backends(gr_backend *list[GR_MAX_BACKENDS], const char **why);

#endif
