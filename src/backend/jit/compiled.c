#include "src/backend/jit/compiled.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/backend/jit/steps.h"
#include "src/core/backend.h"
#include "src/core/clock.h"

#define DEVICES 16
#define ASKED_SHARED (40 * 1024) /* more has to be allowed: 48 KiB, less what kernels have besides */

/* The driver has been loaded by the runtime, which is linked in. */
#define DRIVER(X)                                                                                                     \
  X(cuLinkCreate_v2, (unsigned, CUjit_option *, void **, CUlinkState *))                                              \
  X(cuLinkAddData_v2, (CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, CUjit_option *, void **)) \
  X(cuLinkComplete, (CUlinkState, void **, size_t *))                                                                 \
  X(cuLinkDestroy, (CUlinkState))                                                                                     \
  X(cuModuleLoadData, (CUmodule *, const void *))                                                                     \
  X(cuModuleUnload, (CUmodule))                                                                                       \
  X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                                                      \
  X(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int))                                                      \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, CUfunction, int, size_t))                                    \
  X(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **))                                         \
  X(cuCtxSynchronize, (void))

static struct {
  pthread_once_t once;
  int found;
#define X(name, arguments) CUresult(*name) arguments;
  DRIVER(X)
#undef X
} driver = {.once = PTHREAD_ONCE_INIT};

static struct {
  pthread_mutex_t lock;
  int off;                              /* GPUREDUCE_JIT=0 */
  const char *_Atomic missing[DEVICES]; /* read without the lock */
  gr_compiled *kept;                    /* the last used first */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

pthread_mutex_t gr_jit_capturing = PTHREAD_MUTEX_INITIALIZER;

static void find_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  driver.found = library != NULL;
#define X(name, arguments) \
  if (driver.found) *(void **)&driver.name = dlsym(library, #name), driver.found = driver.name != NULL;
  DRIVER(X)
#undef X
}

void gr_jit_read_settings(void) {
  const char *jit = getenv("GPUREDUCE_JIT");
  all.off = jit && !strcmp(jit, "0");
}

const char *gr_jit_missing(int device) {
  if (all.off) return "GPUREDUCE_JIT is 0";
  if (device < 0 || device >= DEVICES) return "it has no room for so many devices";
  return all.missing[device];
}

/* FNV-1a, a word at a time. */
static uint64_t hash_of(int device, const gr_jit_code *code) {
  const size_t bytes = gr_jit_code_bytes(code);
  uint64_t hash = 14695981039346656037u + (uint64_t)device, word;
  for (size_t k = 0; k < bytes; k += 8) {
    word = 0;
    memcpy(&word, (const char *)code + k, bytes - k < 8 ? bytes - k : 8);
    hash = (hash ^ word) * 1099511628211u;
  }
  return hash;
}

/* The place of what points to it, or to where the list ends. */
static gr_compiled **find(int device, const gr_jit_code *code, uint64_t hash) {
  gr_compiled **at = &all.kept;
  const size_t bytes = gr_jit_code_bytes(code);
  while (*at && ((*at)->hash != hash || (*at)->device != device || gr_jit_code_bytes(&(*at)->code) != bytes ||
                 memcmp(&(*at)->code, code, bytes) != 0))
    at = &(*at)->next;
  return at;
}

static gr_compiled *use(gr_compiled **at) {
  gr_compiled *c = *at;
  *at = c->next;
  c->next = all.kept;
  all.kept = c;
  c->users++;
  c->uses++;
  return c;
}

/* If a device has as many as are kept, what nobody has used for longest leaves the list; the caller unloads it. */
static gr_compiled *evict(int device) {
  gr_compiled **last = NULL, *c;
  int count = 0;
  for (gr_compiled **at = &all.kept; *at; at = &(*at)->next) {
    if ((*at)->device != device) continue;
    count++;
    if ((*at)->users == 0) last = at;
  }
  if (count < GR_COMPILED_KEPT || !last) return NULL;
  c = *last;
  *last = c->next;
  return c;
}

/* Launches of it may still run. */
static void drop(gr_compiled *c) {
  if (!c) return;
  if (c->module) {
    pthread_mutex_lock(&gr_jit_capturing); /* waiting for a context would break a capture in it */
    (void)driver.cuCtxSynchronize();
    (void)driver.cuModuleUnload((CUmodule)c->module);
    pthread_mutex_unlock(&gr_jit_capturing);
  }
  free(c);
}

/* What the driver says to PTX at all, whatever it says. */
static const char *no_compiler(CUresult e) {
  switch ((int)e) {
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND: return "the driver has no compiler";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION: return "the driver's compiler is too old";
    case CUDA_ERROR_JIT_COMPILATION_DISABLED: return "the driver's compiler is switched off";
  }
  return NULL;
}

/*
** By a linker, which compiles without a lock: while a module is made of PTX at once, every call of every thread in the
** same context waits for the compiler. Either way the driver keeps on disk what it has compiled.
*/
static CUresult load(gr_compiled *c, char *ptx) {
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)sizeof log}, *code = NULL;
  size_t bytes = 0;
  CUlinkState linker = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
  CUresult e = driver.cuLinkCreate_v2(2, options, values, &linker);
  if (e == CUDA_SUCCESS)
    e = driver.cuLinkAddData_v2(linker, CU_JIT_INPUT_PTX, ptx, strlen(ptx) + 1, NULL, 0, NULL, NULL);
  if (e == CUDA_SUCCESS) e = driver.cuLinkComplete(linker, &code, &bytes);
  if (e == CUDA_SUCCESS) e = driver.cuModuleLoadData(&module, code);
  if (linker) (void)driver.cuLinkDestroy(linker);
  if (e == CUDA_SUCCESS) e = driver.cuModuleGetFunction(&function, module, "formula");
  if (e == CUDA_SUCCESS) e = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&c->resident, function, 256, 0);
  const char *trace = getenv("GPUREDUCE_TRACE");
  if (e != CUDA_SUCCESS && *log && trace && strcmp(trace, "0")) fprintf(stderr, "gpureduce: %s\n", log);
  if (c->resident < 1) c->resident = 1;
  c->module = module;
  c->function = e == CUDA_SUCCESS ? function : NULL;
  return e;
}

static gr_compiled *compile(int device, const gr_jit_code *code, uint64_t hash, const char **why) {
  const size_t bytes = gr_jit_code_bytes(code);
  gr_compiled *c = calloc(1, offsetof(gr_compiled, code) + bytes);
  gr_text ptx = {0};
  const int64_t began = gr_nanoseconds();
  int gone = 0;
  *why = "out of memory";
  if (!c) return NULL;
  c->device = device;
  c->hash = hash;
  memcpy(&c->code, code, bytes);
  if (!gr_jit_ptx(code, &ptx, &c->why)) {
    gone = !strcmp(c->why, "out of memory");
  } else {
    const CUresult e = load(c, ptx.at);
    const char *missing = no_compiler(e);
    if (missing) all.missing[device] = missing;
    c->why = missing ? missing : e != CUDA_SUCCESS ? "the driver's compiler did not take it" : NULL;
    gone = e == CUDA_ERROR_OUT_OF_MEMORY; /* there may be memory another time */
    if (gone) c->why = "the device has no memory for its code";
  }
  c->seconds = 1e-9 * (double)(gr_nanoseconds() - began);
  gr_text_drop(&ptx);
  if (!gone) return c;
  *why = c->why;
  drop(c);
  return NULL;
}

gr_compiled *gr_jit_take(int device, const gr_jit_code *code, const char **why) {
  const uint64_t hash = hash_of(device, code);
  gr_compiled *c = NULL, *made = NULL, *gone = NULL;
  pthread_once(&driver.once, find_driver);
  if ((*why = gr_jit_missing(device))) return NULL;
  if (!driver.found) all.missing[device] = *why = "the driver lacks functions";
  else if (!gr_steps_read(why) && strcmp(*why, "out of memory") != 0) all.missing[device] = *why;
  if (*why) return NULL;
  pthread_mutex_lock(&all.lock);
  gr_compiled **at = find(device, code, hash);
  if (*at) c = use(at);
  pthread_mutex_unlock(&all.lock);
  if (!c) {
    made = compile(device, code, hash, why);
    if (!made) return NULL;
    pthread_mutex_lock(&all.lock);
    if (!*find(device, code, hash)) { /* else another thread was faster */
      gone = evict(device);
      made->next = all.kept;
      all.kept = made;
      made = NULL;
    }
    c = use(find(device, code, hash));
    pthread_mutex_unlock(&all.lock);
    drop(made);
    drop(gone);
  }
  if (c->function) return c;
  *why = c->why;
  gr_jit_let_go(c);
  return NULL;
}

void gr_jit_keep(gr_compiled *c) {
  pthread_mutex_lock(&all.lock);
  c->users++;
  pthread_mutex_unlock(&all.lock);
}

void gr_jit_let_go(gr_compiled *c) {
  if (!c) return;
  pthread_mutex_lock(&all.lock);
  c->users--;
  pthread_mutex_unlock(&all.lock);
}

int gr_jit_launch(void *function, unsigned blocks, unsigned threads, unsigned shared, int early, void *stream,
                  void *arguments) {
  void *list[] = {arguments};
  CUlaunchAttribute how = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
  how.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig c = {.gridDimX = blocks,
                            .gridDimY = 1,
                            .gridDimZ = 1,
                            .blockDimX = threads,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .sharedMemBytes = shared,
                            .hStream = (CUstream)stream,
                            .attrs = &how,
                            .numAttrs = early ? 1 : 0};
  CUresult e = CUDA_SUCCESS;
  if (shared > ASKED_SHARED)
    e = driver.cuFuncSetAttribute((CUfunction)function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared);
  if (e != CUDA_SUCCESS) return (int)e;
  return (int)driver.cuLaunchKernelEx(&c, (CUfunction)function, list, NULL);
}

void gr_jit_list(void (*see)(const gr_compiled *, void *), void *to) {
  pthread_mutex_lock(&all.lock);
  for (const gr_compiled *c = all.kept; c; c = c->next) see(c, to);
  pthread_mutex_unlock(&all.lock);
}
