/*
** What the core asks of a backend. A gr_backend is one device as the process sees it; a gr_queue is one
** context's stream of work on it. Calls on one queue come from one thread at a time; the functions that take
** a gr_backend may be called from any thread. No function here knows about contexts, arrays or validity.
*/
#ifndef GR_BACKEND_H
#define GR_BACKEND_H

#include <stddef.h>
#include "kernels/operator.h"
#include "kernels/products.h"
#include "kernels/numerics/digest.h"
#include "kernels/numerics/exact.h"
#include "kernels/jobs.h"
#include "kernels/ladder/ladder.h"

typedef enum gr_status {
  GR_OK,
  GR_NO_MEMORY, /* the device or the host refused an allocation: collecting garbage may help */
  GR_DEVICE,    /* the device failed: queue->error says how */
  GR_BAD,       /* the caller asked for something impossible: queue->error says what */
  GR_SYSTEM,    /* the operating system refused: errno is set */
  GR_RELEASED,  /* an array of the call has been released, perhaps by a finalizer that ran on the way */
  GR_NOT_FUSED, /* of gr_backend.formula alone: nothing was done, since this formula is better run step by step */
  GR_STOPPED    /* the caller or the host wants the call to end: outputs hold anything */
} gr_status;

/*
** Counted by whoever does the thing: backends copies, launches and syncs, the core allocations. bytes_up, bytes_down:
** host to device, device to host; allocations: blocks asked of the system or the driver, on either side; the pool's
** hits are free.
*/
#define GR_STATS(X) X(bytes_up) X(bytes_down) X(copies) X(launches) X(syncs) X(allocations)
#define GR_X(name) uint64_t name;
typedef struct gr_stats {
  GR_STATS(GR_X)
} gr_stats;
#undef GR_X

typedef struct gr_backend gr_backend;

#define GR_COMPILED_KEPT 256 /* formulas of a device; the one whose use lies back longest goes first */

#define GR_MAX_BACKENDS 18 /* of a process: cpu, pretend and sixteen GPUs */

#define GR_SMALL 16384

/*
** A result that the host looks at later: of a reduction, or (a mark) the mere fact that what was queued before it is
** done. All zeros: nothing to look at.
*/
#define GR_TOGETHER 8 /* results of one start at most */
#define GR_STATES 64  /* jobs of one call of states at most */
typedef struct gr_ticket {
  int done;
  uint64_t words[2]; /* once done: as gr_backend.reduce gives them */
  uint64_t id;       /* from here on for the backend alone */
  void *slot;
  int lane;
} gr_ticket;

/* The head of every backend's own queue structure. */
typedef struct gr_queue {
  gr_backend *backend;
  gr_stats stats;
  int lost;             /* the device is unusable for the rest of the process */
  size_t pinned;        /* bytes of page-locked host memory that it holds */
  size_t scratch;       /* bytes of the device's memory that its kernels work in */
  struct gr_stop *stop; /* asked by long work whether it is to stop; NULL: never */
  /* The backend's; NULL also where calls are traced, which small ones would not be otherwise. */
  gr_status (*small)(struct gr_queue *, gr_op, gr_dtype, const void *a, const void *b, int64_t n, gr_value *);
  gr_status (*before)(struct gr_queue *); /* of the pretend device: runs deferred work. NULL elsewhere */
  char error[240];                        /* why the last call failed */
} gr_queue;

/* Bytes of a device's memory that come to the host. */
#define GR_BROUGHT 4
typedef struct gr_brought {
  void *host;
  const void *device;
  size_t bytes;
} gr_brought;

/* A formula that was compiled for a device: nodes of the program alone, as inputs and numbers come with each call. */
typedef struct gr_compiled_formula {
  gr_program program;
  int32_t result;
  const char *what; /* the reducer that takes its elements, "SUM" or the like, or "elements" if they are stored */
  double seconds;   /* that compiling took */
  uint64_t uses;
} gr_compiled_formula;

/* What backends have a function for, of a job and nothing else. ladder: the teaching kernels. */
/* clang-format off */
#define GR_JOBS(X)                                                                                                 \
  X(histogram) X(weights) X(scan) X(softmax) X(digits) X(pick) X(rmsnorm) X(fill) X(copy) X(random) X(whole)       \
  X(order) X(edges) X(map) X(compact) X(lookup) X(put) X(ladder)
/* clang-format on */

struct gr_backend {
  char name[16];        /* "cpu", "cuda:0", "pretend" */
  char description[96]; /* the device's own name */
  int separate;         /* has memory of its own; else device pointers are host pointers */
  uint8_t identity[16]; /* no other device has it, in any process; all zeros: others cannot work with this one */
  int products_most;    /* columns of which it makes products at once; 0: none */
  int scans_long;       /* a scan's vectors, if there are several, may be longer than GR_SCAN_MOST */
  int even;             /* its histograms compute even edges themselves for every dtype (else for all but i64) */

  /* Memory of the device, 256-byte aligned and padded to whole 256 bytes. NULL when refused. Thread-safe. */
  void *(*alloc)(gr_backend *, size_t bytes);
  void (*free)(gr_backend *, void *, size_t bytes);
  size_t (*available)(gr_backend *); /* bytes free on the device now */
  size_t (*unused)(gr_backend *);    /* bytes that it holds of the device's memory in no block; NULL: none */

  gr_queue *(*open)(gr_backend *, gr_status *why); /* NULL: why says whether memory is what it lacks */
  void (*close)(gr_queue *);

  /* In order with the queue's other work. The host range may be reused, or read, when they return. */
  gr_status (*upload)(gr_queue *, void *device, const void *host, size_t bytes);
  gr_status (*download)(gr_queue *, void *host, const void *device, size_t bytes);
  gr_status (*zero)(gr_queue *, void *device, size_t bytes);
  gr_status (*wait)(gr_queue *); /* until all work of this queue is done */

  /*
  ** The host's streams, where the device has such; else NULL, which is as good where nothing is put off. follow: what
  ** the queue is given from now on waits for what the stream holds; lead: the other way round; adopt: right after open,
  ** the queue's work goes to that stream.
  */
  gr_status (*follow)(gr_queue *, void *stream);
  gr_status (*lead)(gr_queue *, void *stream);
  gr_status (*adopt)(gr_queue *, void *stream);

  /*
  ** f adds work of others to that of the queue, in its order: with the device current, and with its stream (NULL where
  ** a device has none). code is what f returns. NULL: a device that nobody else works on.
  */
  gr_status (*lend)(gr_queue *, int (*f)(void *with, void *stream), void *with, int *code);

  /*
  ** result == NULL: results go to job->out (device memory), in queue order. Else count is 1: job->out, out2 and
  ** out_dtype are ignored, and the call waits and stores one 8-byte number (minmax: two), f64 or i64 as
  ** gr_finish says.
  */
  gr_status (*reduce)(gr_queue *, const gr_reduce_job *, uint64_t *result);

  /* What reduce would do with such a job, from its shape and addresses alone. number: it would get a result. */
  void (*explain)(gr_queue *, const gr_reduce_job *, int number, gr_explained *);
  /* The same of scan and histogram; the results' addresses are not asked for. */
  void (*explain_scan)(gr_queue *, const gr_scan_job *, gr_explained *);
  void (*explain_histogram)(gr_queue *, const gr_histogram_job *, gr_explained *);

  /*
  ** One number from one or two contiguous vectors of 1 to GR_SMALL elements in host memory, for small calls. NULL where
  ** a backend has no such way.
  */
  gr_status (*small)(gr_queue *, gr_op, gr_dtype, const void *a, const void *b, int64_t n, gr_value *);

  /*
  ** start queues count reductions to one number each, of one operation, dtype and length, and does not wait. more: the
  ** next start follows at once, and this one may be deferred until then. poll looks whether a ticket is done, for so
  ** many nanoseconds (0: once; negative: until it is); if the device failed, that is its status. forget says that
  ** nobody will look any more; it must follow every start and mark. elapsed gives the device's seconds between two
  ** marks that are done. All of them keep the order of the queue: what is queued later, such as a write to an input or
  ** the reuse of its memory, happens later.
  */
  gr_status (*start)(gr_queue *, const gr_reduce_job *const *jobs, int count, gr_ticket *const *tickets, int more);
  gr_status (*mark)(gr_queue *, gr_ticket *);
  gr_status (*poll)(gr_queue *, gr_ticket *, int64_t nanoseconds);
  void (*forget)(gr_queue *, gr_ticket *);
  gr_status (*elapsed)(gr_queue *, const gr_ticket *from, const gr_ticket *to, double *seconds);

#define GR_X(name) gr_status (*name)(gr_queue *, const gr_##name##_job *);
  GR_JOBS(GR_X)
#undef GR_X
  gr_status (*products)(gr_queue *, const gr_products_job *); /* of up to products_most columns */

  /*
  ** A formula in one pass over its inputs; it waits if results go to the host (job->words). NULL, or GR_NOT_FUSED: the
  ** core runs it step by step by `map`, with results of steps in memory of the device. feeds: a bit for each kind of
  ** operation (1 << gr_feeding) that it takes elements of a formula for; all of them: it never says no to one, nor to
  ** several arrays at once, and is not asked for PRESENT. Others may (GR_NOT_FUSED); what they say no to gets elements
  ** that have been stored. fits: whether a job of an operation is one that it takes, as far as the job tells; NULL:
  ** all are.
  */
  gr_status (*formula)(gr_queue *, const gr_formula_job *);
  /*
  ** As start, for one consumer of such a job, whose words are the ticket's. GR_NOT_FUSED: nothing was done. NULL: the
  ** elements are stored, and start takes these.
  */
  gr_status (*start_formula)(gr_queue *, const gr_formula_job *, gr_ticket *);
  unsigned feeds;
  int (*fits)(gr_queue *, gr_feeding, const void *operation);

  /*
  ** Where formulas are compiled: why they are not on this device (NULL: they are); and those that are kept, the last
  ** used first: see is called with a lock held, and must not call back.
  */
  const char *(*uncompiled)(gr_backend *);
  void (*compiled)(gr_backend *, void (*see)(const gr_compiled_formula *, void *), void *);

  /*
  ** These wait, and give results in host memory. NULL: the core lets the CPU do it, on the host's copy. exact: of
  ** job->count vectors. custom: where the backend has it, results stay in memory of the device, and nothing waits.
  ** Of parts of vectors that lie over ranks: states of up to GR_STATES jobs, one after the other, which differ in data
  ** and length alone and have an element each; totals and results of a scan. The CPU's states may have jobs of several
  ** vectors, others' of one alone.
  ** Along with states come bytes of this memory, up to GR_BROUGHT stretches, by the same wait; count may be 0 then.
  */
  gr_status (*custom)(gr_queue *, const gr_operator_job *);
  /*
  ** In place of custom, where operators are compiled: the states of the job's only vector, which has an element, as
  ** elements of their dtypes in 8 bytes each, in host memory. GR_NOT_FUSED: nothing was done.
  */
  gr_status (*operate)(gr_queue *, const gr_operator_job *, uint64_t *states);
  gr_status (*states)(gr_queue *, const gr_reduce_job *jobs, int count, gr_acc *states, const gr_brought *,
                      int brought);
  gr_status (*scan_total)(gr_queue *, const gr_scan_job *, int64_t from, int64_t n, gr_acc *total);
  gr_status (*scan_part)(gr_queue *, const gr_scan_part *);
  gr_status (*exact)(gr_queue *, const gr_exact_job *, gr_exact *sums);
  gr_status (*digest)(gr_queue *, const gr_digest_job *, uint64_t result[2]);
};

#endif
