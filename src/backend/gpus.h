/* The GPUs of this process: from cuda/device.c, or from nocuda.c where it was built without nvcc, which has none. */
#ifndef GR_BACKEND_GPUS_H
#define GR_BACKEND_GPUS_H

#include "src/core/backend.h"

/* How many CUDA devices answered; list (up to room) gets them, opened once. When none did, why says so. */
int gr_cuda_backends(gr_backend **list, int room, const char **why);

#endif
