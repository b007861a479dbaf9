/* Stands in for src/backend/cuda/device.c where there was no CUDA compiler. */
#include "src/backend/gpus.h"

int gr_cuda_backends(gr_backend **list, int room, const char **why) {
  (void)list;
  (void)room;
  *why = "built without CUDA";
  return 0;
}
