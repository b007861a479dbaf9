/*
** Launches by CUDA graphs. The result of a kernel that the host waits for is there 1.1 us earlier by a graph than by a
** launch, 2.4 us earlier if the graph's arguments need no change, and each further kernel takes 0.6 us, not 2.6 (H200,
** driver 580; docs/findings/small-calls.md). So what ends in numbers is collected in a batch and launched as one
** graph, a chain of kernels, which is kept for the next batch of the same kernels.
*/
#include "src/backend/cuda/cuda.h"

#include "src/backend/jit/compiled.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHARED (47 << 10) /* bytes that a block gets without asking */

/* The driver's functions take 0.4 us less than the runtime's. The runtime is linked in and has loaded the driver. */
static struct {
  pthread_once_t once;
  CUresult (*set)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2 *);
  CUresult (*launch)(CUgraphExec, CUstream);
  CUresult (*get)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2 *);
} driver = {.once = PTHREAD_ONCE_INIT};

static void find_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return;
  *(void **)&driver.set = dlsym(library, "cuGraphExecKernelNodeSetParams_v2");
  *(void **)&driver.launch = dlsym(library, "cuGraphLaunch");
  *(void **)&driver.get = dlsym(library, "cuGraphKernelNodeGetParams_v2");
}

typedef struct gr_cuda_graph {
  struct gr_cuda_graph *next;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int count;
  struct {
    cudaGraphNode_t node;
    cudaFunction_t function;
    gr_cuda_kernel as; /* the last launch: the kernel stays, grid and arguments may be set anew */
  } part[];
} gr_cuda_graph;

static void drop(gr_cuda_graph *g) {
  if (g->exec) (void)cudaGraphExecDestroy(g->exec);
  if (g->graph) (void)cudaGraphDestroy(g->graph);
  for (int k = 0; k < g->count; k++) gr_jit_let_go(g->part[k].as.compiled);
  free(g);
}

static struct cudaKernelNodeParams params_of(const gr_cuda_kernel *k, void **arguments) {
  return (struct cudaKernelNodeParams){.func = (void *)(uintptr_t)k->kernel,
                                       .gridDim = {(unsigned)k->blocks, 1, 1},
                                       .blockDim = {(unsigned)k->threads, 1, 1},
                                       .sharedMemBytes = (unsigned)k->shared,
                                       .kernelParams = arguments};
}

static cudaError_t start(const gr_cuda_kernel *k, int early, cudaStream_t stream) {
  void *arguments = (void *)(uintptr_t)k->arguments;
  if (k->compiled)
    return (cudaError_t)gr_jit_launch((void *)(uintptr_t)k->kernel, (unsigned)k->blocks, (unsigned)k->threads,
                                      (unsigned)k->shared, early, stream, arguments);
  struct cudaKernelNodeParams p = params_of(k, &arguments);
  cudaLaunchAttribute how = {.id = cudaLaunchAttributeProgrammaticStreamSerialization};
  how.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t c = {.gridDim = p.gridDim,
                          .blockDim = p.blockDim,
                          .dynamicSmemBytes = p.sharedMemBytes,
                          .stream = stream,
                          .attrs = &how,
                          .numAttrs = (unsigned)early};
  return cudaLaunchKernelExC(&c, k->kernel, p.kernelParams);
}

/* Without the room for arguments that it does not use. */
static void copy_kernel(gr_cuda_kernel *to, const gr_cuda_kernel *from) {
  memcpy(to, from, offsetof(gr_cuda_kernel, arguments) + (size_t)from->bytes);
}

/* Finds each kernel's node by its arguments, which differ: each kernel has a mailbox of its own. */
static cudaError_t name_nodes(gr_cuda_graph *g) {
  cudaGraphNode_t node[GR_BATCH];
  size_t count = GR_BATCH;
  int found = 0;
  cudaError_t e = cudaGraphGetNodes(g->graph, node, &count);
  for (size_t n = 0; n < count && e == cudaSuccess; n++) {
    struct cudaKernelNodeParams p;
    CUDA_KERNEL_NODE_PARAMS_v2 d = {0};
    if (driver.get) e = (cudaError_t)driver.get(node[n], &d), p.kernelParams = d.kernelParams;
    else e = cudaGraphKernelNodeGetParams(node[n], &p);
    for (int k = 0; k < g->count && e == cudaSuccess; k++) {
      const gr_cuda_kernel *as = &g->part[k].as;
      if (driver.get && d.func && d.func != g->part[k].function) continue; /* others may have fewer arguments */
      if (!memcmp(p.kernelParams[0], as->arguments, (size_t)as->bytes)) g->part[k].node = node[n], found++;
    }
  }
  return e == cudaSuccess && found != g->count ? cudaErrorInvalidValue : e;
}

/* By capture of a stream: only then do kernels of a graph overlap as in a stream, and take 0.6 us each, not 3. */
static cudaError_t make(gr_cuda_queue *q, gr_cuda_graph **out) {
  const gr_cuda_batch *b = &q->batch;
  gr_cuda_graph *g = calloc(1, sizeof *g + (size_t)b->count * sizeof g->part[0]);
  if (!g) return cudaErrorMemoryAllocation;
  cudaError_t e = cudaSuccess;
  for (; g->count < b->count && e == cudaSuccess; g->count++) {
    const gr_cuda_kernel *from = &b->kernel[g->count];
    copy_kernel(&g->part[g->count].as, from);
    if (from->compiled)
      gr_jit_keep(from->compiled), g->part[g->count].function = (cudaFunction_t)(uintptr_t)from->kernel;
    else e = cudaGetFuncBySymbol(&g->part[g->count].function, from->kernel); /* loads it */
    if (e == cudaSuccess && !from->compiled && from->shared > MOST_SHARED)
      e = cudaFuncSetAttribute(from->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, from->shared);
  }
  pthread_mutex_lock(&gr_jit_capturing);
  if (e == cudaSuccess) e = cudaStreamBeginCapture(q->stream, cudaStreamCaptureModeRelaxed);
  if (e == cudaSuccess) {
    for (int k = 0; k < g->count && e == cudaSuccess; k++)
      e = start(&b->kernel[k], k > 0 && b->kernel[k].early, q->stream);
    cudaError_t ended = cudaStreamEndCapture(q->stream, &g->graph);
    if (e == cudaSuccess) e = ended;
  }
  pthread_mutex_unlock(&gr_jit_capturing);
  if (e == cudaSuccess) e = name_nodes(g);
  if (e == cudaSuccess) e = cudaGraphInstantiate(&g->exec, g->graph, 0);
  if (e == cudaSuccess) *out = g;
  else drop(g);
  return e;
}

static int same(const gr_cuda_kernel *a, const gr_cuda_kernel *b) {
  return a->blocks == b->blocks && a->threads == b->threads && a->shared == b->shared &&
         !memcmp(a->arguments, b->arguments, (size_t)a->bytes);
}

/* 0: other kernels, 1: these, 2: and all of their arguments. */
static int likeness(const gr_cuda_graph *g, const gr_cuda_batch *b) {
  int all = 2;
  if (g->count != b->count) return 0;
  for (int k = 0; k < g->count; k++)
    if (g->part[k].as.kernel != b->kernel[k].kernel) return 0;
  for (int k = 0; k < g->count && all == 2; k++)
    if (!same(&g->part[k].as, &b->kernel[k])) all = 1;
  return all;
}

/* The graph that has this batch, or is to have it; it becomes the first one. */
static cudaError_t find(gr_cuda_queue *q, gr_cuda_graph **out) {
  gr_cuda_graph **chosen = NULL, **last = NULL, *g;
  int alike = 0, all = 0, found = 0;
  for (gr_cuda_graph **at = &q->graphs; *at && found < 2; at = &(*at)->next, all++) {
    found = likeness(*at, &q->batch);
    alike += found == 1;
    if (found) chosen = at;
    last = at;
  }
  if (found < 2 && alike < GR_MOST_ALIKE) {
    cudaError_t e = make(q, &g);
    if (e != cudaSuccess) return e;
    if (all == GR_MOST_GRAPHS) drop(*last), *last = NULL;
  } else {
    g = *chosen;
    *chosen = g->next;
  }
  g->next = q->graphs;
  *out = q->graphs = g;
  return cudaSuccess;
}

static cudaError_t set(gr_cuda_graph *g, int k, const gr_cuda_kernel *to) {
  void *arguments = g->part[k].as.arguments;
  copy_kernel(&g->part[k].as, to);
  struct cudaKernelNodeParams p = params_of(to, &arguments);
  if (!driver.set) return cudaGraphExecKernelNodeSetParams(g->exec, g->part[k].node, &p);
  CUDA_KERNEL_NODE_PARAMS_v2 d = {.func = g->part[k].function,
                                  .gridDimX = p.gridDim.x,
                                  .gridDimY = 1,
                                  .gridDimZ = 1,
                                  .blockDimX = p.blockDim.x,
                                  .blockDimY = 1,
                                  .blockDimZ = 1,
                                  .sharedMemBytes = p.sharedMemBytes,
                                  .kernelParams = &arguments};
  return (cudaError_t)driver.set(g->exec, g->part[k].node, &d);
}

static cudaError_t launch(gr_cuda_queue *q) {
  gr_cuda_graph *g = NULL;
  pthread_once(&driver.once, find_driver);
  cudaError_t e = find(q, &g);
  for (int k = 0; e == cudaSuccess && k < g->count; k++)
    if (!same(&g->part[k].as, &q->batch.kernel[k])) e = set(g, k, &q->batch.kernel[k]);
  if (e != cudaSuccess) return e;
  return driver.launch ? (cudaError_t)driver.launch(g->exec, q->stream) : cudaGraphLaunch(g->exec, q->stream);
}

gr_status gr_cuda_launch_batch(gr_cuda_queue *q, const char *what) {
  const int count = q->batch.count;
  if (count == 0) return GR_OK;
  cudaError_t e = launch(q);
  q->batch.count = 0;
  q->base.stats.launches += (uint64_t)count - 1;
  return gr_cuda_launched(q, e, what);
}

void gr_cuda_graphs_close(gr_cuda_queue *q) {
  while (q->graphs) {
    gr_cuda_graph *g = q->graphs;
    q->graphs = g->next;
    drop(g);
  }
}
