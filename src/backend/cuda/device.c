/*
** The devices of this process, a gr_backend for each. The module links the static runtime only, so it loads where there
** is no driver; there gr_cuda_backends finds nothing and says why.
*/
#include "src/backend/cuda/cuda.h"

#include "kernels/cuda/products/products.h"

#include "src/backend/jit/compiled.h"
#include "src/backend/gpus.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEVICES 64

static struct {
  pthread_once_t once;
  int count;
  char why[200];
  gr_cuda_device devices[MAX_DEVICES];
} all = {.once = PTHREAD_ONCE_INIT};

static cudaError_t read_chip(gr_cuda_chip *chip, int device) {
  cudaError_t e = cudaDeviceGetAttribute(&chip->major, cudaDevAttrComputeCapabilityMajor, device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&chip->minor, cudaDevAttrComputeCapabilityMinor, device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&chip->sms, cudaDevAttrMultiProcessorCount, device);
  if (e == cudaSuccess)
    e = cudaDeviceGetAttribute(&chip->shared_optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&chip->l2_bytes, cudaDevAttrL2CacheSize, device);
  chip->device = device;
  return e;
}

static cudaError_t describe(gr_cuda_device *d, int device) {
  static struct cudaDeviceProp properties; /* large; used under the once-guard alone */
  cudaError_t e = read_chip(&d->chip, device);
  gr_backend *b = &d->base;
  if (e == cudaSuccess) e = cudaGetDeviceProperties(&properties, device);
  if (e != cudaSuccess) return e;
  snprintf(b->name, sizeof b->name, "cuda:%d", device);
  snprintf(b->description, sizeof b->description, "%.90s", properties.name);
  _Static_assert(sizeof properties.uuid == sizeof b->identity, "a device is told by its UUID");
  memcpy(b->identity, &properties.uuid, sizeof b->identity);
  gr_slabs_open(&d->slabs, &gr_cuda_driver, d);
  b->separate = 1;
  b->alloc = gr_cuda_alloc;
  b->free = gr_cuda_free;
  b->available = gr_cuda_available;
  b->unused = gr_cuda_unused;
  b->open = gr_cuda_open;
  b->close = gr_cuda_close;
  b->upload = gr_cuda_upload;
  b->download = gr_cuda_download;
  b->zero = gr_cuda_zero;
  b->wait = gr_cuda_wait;
  b->follow = gr_cuda_follow;
  b->lead = gr_cuda_lead;
  b->adopt = gr_cuda_adopt;
  b->lend = gr_cuda_lend;
  b->reduce = gr_cuda_do_reduce;
  b->states = gr_cuda_do_states;
  b->formula = gr_cuda_do_formula;
  b->start_formula = gr_cuda_start_formula;
  b->feeds = 1u << GR_FEEDS_COLUMNS | 1u << GR_FEEDS_PRESENT | 1u << GR_FEEDS_HISTOGRAM | 1u << GR_FEEDS_SCAN;
  b->fits = gr_cuda_fits;
  b->operate = gr_cuda_do_operator;
  b->uncompiled = gr_cuda_uncompiled;
  b->compiled = gr_cuda_compiled;
  b->explain = gr_cuda_do_explain;
  b->start = gr_cuda_start;
  b->mark = gr_cuda_mark;
  b->poll = gr_cuda_poll;
  b->forget = gr_cuda_forget;
  b->elapsed = gr_cuda_elapsed;
  b->even = b->scans_long = 1;
  b->products_most = gr_cuda_products_most(&d->chip);
  b->histogram = gr_cuda_do_histogram;
  b->weights = gr_cuda_do_weights;
  b->exact = gr_cuda_do_exact;
  b->digest = gr_cuda_do_digest;
  gr_cuda_launches(b);
  return cudaSuccess;
}

static void explain(cudaError_t e) {
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (e == cudaErrorInsufficientDriver && driver == 0) snprintf(all.why, sizeof all.why, "no NVIDIA driver");
  else if (e == cudaErrorInsufficientDriver)
    snprintf(all.why, sizeof all.why, "the NVIDIA driver is for CUDA %d.%d, this build needs %d.%d or later",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  else if (e == cudaErrorNoDevice)
    snprintf(all.why, sizeof all.why, "no CUDA device (none there, or CUDA_VISIBLE_DEVICES hides them)");
  else snprintf(all.why, sizeof all.why, "CUDA does not start: %s (%s)", cudaGetErrorString(e), cudaGetErrorName(e));
}

/* The first device is the one that will be used, so it alone is tried with a kernel (that makes its context). */
static cudaError_t try_first(void) {
  int was = 0;
  cudaError_t e = cudaGetDevice(&was);
  if (e == cudaSuccess && was != 0) e = cudaSetDevice(0);
  if (e == cudaSuccess) e = (cudaError_t)gr_cuda_loadable();
  if (was != 0) (void)cudaSetDevice(was);
  return e;
}

/* CUDA does not survive fork: the child has what the host's memory holds, and the CPU. */
static void in_child(void) {
  if (!all.count) return;
  all.count = 0;
  snprintf(all.why, sizeof all.why, "this process is a child of fork, whose parent had started CUDA before");
  gr_cuda_forked();
}

static void open_devices(void) {
  int count = 0;
  pthread_atfork(NULL, NULL, in_child);
  cudaError_t e = cudaGetDeviceCount(&count);
  gr_cuda_read_settings();
  gr_jit_read_settings();
  if (e == cudaSuccess && count == 0) e = cudaErrorNoDevice;
  if (count > MAX_DEVICES) count = MAX_DEVICES;
  for (int k = 0; k < count && e == cudaSuccess; k++) e = describe(&all.devices[k], k);
  if (e == cudaSuccess) e = try_first();
  if (e == cudaSuccess) {
    all.count = count;
    return;
  }
  (void)cudaGetLastError();
  if (e == cudaErrorNoKernelImageForDevice || e == cudaErrorInvalidDeviceFunction || e == cudaErrorInvalidKernelImage)
    snprintf(all.why, sizeof all.why, "this build has no kernels for %s (compute capability %d.%d)",
             all.devices[0].base.description, all.devices[0].chip.major, all.devices[0].chip.minor);
  else explain(e);
}

int gr_cuda_backends(gr_backend **list, int room, const char **why) {
  pthread_once(&all.once, open_devices);
  for (int k = 0; k < all.count && k < room; k++) list[k] = &all.devices[k].base;
  *why = all.count ? "" : all.why;
  return all.count;
}
