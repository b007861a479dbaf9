/* Fill and copy, with any strides. */
#include "kernels/cpu/kernels_cpu.h"

#define PIECE_BYTES (256 * 1024)

#define FILL(type)                                                   \
  {                                                                  \
    type x;                                                          \
    memcpy(&x, &job->value, sizeof(x));                              \
    if (stride == sizeof(type))                                      \
      for (i = 0; i < m; i++) ((type *)p)[i] = x;                    \
    else                                                             \
      for (i = 0; i < m; i++, p += stride) memcpy(p, &x, sizeof(x)); \
    break;                                                           \
  }

static void do_fill(void *arg, int64_t from, int64_t end) {
  const gr_fill_job *job = (const gr_fill_job *)arg;
  const int64_t stride = job->out.stride, m = end - from;
  char *p = (char *)(uintptr_t)job->out.data + from * stride;
  int64_t i;
  switch (gr_size_of(job->dtype)) {
    case 1: FILL(uint8_t)
    case 2: FILL(uint16_t)
    case 4: FILL(uint32_t)
    default: FILL(uint64_t)
  }
}

void gr_cpu_fill(const gr_fill_job *job, gr_parallel parallel) {
  gr_in_ranges(parallel, job->n, PIECE_BYTES / gr_size_of(job->dtype), do_fill, job);
}

#define COPY(type)                                                                              \
  for (i = 0; i < m; i++, p += job->out.stride, q += job->a.stride) memcpy(p, q, sizeof(type)); \
  break;

static void do_copy(void *arg, int64_t from, int64_t end) {
  const gr_copy_job *job = (const gr_copy_job *)arg;
  const int size = gr_size_of(job->dtype);
  const int64_t m = end - from;
  char *p = (char *)(uintptr_t)job->out.data + from * job->out.stride;
  const char *q = (const char *)job->a.data + from * job->a.stride;
  int64_t i;
  if (job->a.stride == size && job->out.stride == size) {
    memcpy(p, q, (size_t)(m * size));
    return;
  }
  switch (size) {
    case 1: COPY(uint8_t)
    case 2: COPY(uint16_t)
    case 4: COPY(uint32_t)
    default: COPY(uint64_t)
  }
}

void gr_cpu_copy(const gr_copy_job *job, gr_parallel parallel) {
  gr_in_ranges(parallel, job->n, PIECE_BYTES / gr_size_of(job->dtype), do_copy, job);
}
