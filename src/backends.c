#include "src/backends.h"

#include "src/backend/cpu.h"
#include "src/backend/gpus.h"
#include "src/backend/pretend.h"

int gr_backends(gr_backend *list[GR_MAX_BACKENDS], const char **why) {
  int n = gr_cuda_backends(list, GR_MAX_BACKENDS - 2, why);
  list[n++] = gr_cpu_backend();
  list[n++] = gr_pretend_backend();
  return n;
}
