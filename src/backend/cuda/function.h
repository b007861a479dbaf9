/* What the backend's functions begin and end with. */
#ifndef GR_BACKEND_CUDA_FUNCTION_H
#define GR_BACKEND_CUDA_FUNCTION_H

#include "src/backend/cuda/cuda.h"

/* A function with these parameters, the first of which is named base, that does `call`, in which q is base's queue,
   with that queue's device current. */
#define GR_CUDA_FUNCTION(name, call, ...)     \
  gr_status name(__VA_ARGS__) {               \
    gr_cuda_queue *q = (gr_cuda_queue *)base; \
    const int was = gr_cuda_enter(q);         \
    if (was < 0) return GR_DEVICE;            \
    const gr_status status = call;            \
    gr_cuda_leave(q, was);                    \
    return status;                            \
  }

#endif
