/*
** What the files of the CUDA backend share, from the lowest file up: each calls those above it here and none below.
** Nothing outside this folder includes it.
*/
#ifndef GR_BACKEND_CUDA_CUDA_H
#define GR_BACKEND_CUDA_CUDA_H

#include <cuda_runtime_api.h>
#include "kernels/cuda/batch.h"
#include "kernels/ladder/cuda.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/grid/mailbox.h"
#include "src/backend/cuda/tuning.h"
#include "src/backend/slabs.h"
#include "src/core/backend.h"
#include "src/core/operation.h"

static inline const char *gr_op_name(gr_op op) { return gr_ops[op].name; }

typedef struct gr_cuda_device {
  gr_backend base;
  gr_cuda_chip chip;
  gr_slabs slabs;
} gr_cuda_device;

/* Pinned buffers taken in turn; done[k] is recorded when buffer k's copies have been issued. */
typedef struct gr_cuda_ring {
  char *memory, *mapped; /* as the two sides see it */
  size_t size, used;     /* of one buffer; bytes taken from the current one */
  int at;
  cudaEvent_t done[GR_RING];
} gr_cuda_ring;

/*
** A mailbox: where a launch puts results for the host (kernels/cuda/grid/mailbox.h). It is cleared before each launch,
** so a launch may have the ticket of the one before, and a graph can be launched again unchanged. A launch whose result
** was abandoned may still write; then the next one gets a new ticket.
*/
typedef struct gr_cuda_mailbox {
  uint64_t words[GR_MAILBOX_WORDS];
} gr_cuda_mailbox;

/* What a ticket of the core looks at: a slot (a mailbox in mapped pinned memory, as both sides see it), or an event. */
typedef struct gr_cuda_pending {
  gr_cuda_mailbox *host, *mapped;
  gr_mailbox_shape mailbox; /* what comes to the slot; below, what it is made into */
  gr_op op[GR_TOGETHER];
  gr_dtype dtype;
  int64_t n;
  double ddof;
  uint64_t ticket;
  cudaEvent_t event;  /* of a mark; else NULL */
  int users, waiting; /* results that are not forgotten yet; those of them that nobody has taken */
  struct gr_cuda_pending *next;
} gr_cuda_pending;

/* What comes along with states, always to the same place: a graph whose arguments stay as they are is there sooner. */
typedef struct gr_cuda_sent {
  uint64_t words[16]; /* the mailbox: four of each block */
  char bytes[GR_COPY_SMALL / GR_BROUGHT];
} gr_cuda_sent;

typedef struct gr_cuda_queue {
  gr_queue base;
  gr_cuda_device *device;
  cudaStream_t stream;
  int lent; /* the stream is the host's */
  gr_cuda_ring small, large;
  gr_cuda_sent *sent, *sent_mapped; /* GR_BROUGHT, as the two sides see them; NULL until the first */
  gr_cuda_scratch work;             /* of every operation but scan */
  gr_cuda_scratch chain; /* of scan and compact alone: old values there are told from new ones by their epochs */
  gr_cuda_scratch even;  /* edges and limits of the last evenly spaced bins (src/backend/cuda/histogram.c) */
  gr_edges_job last_even;
  gr_cuda_pending now;            /* for results that are waited for at once */
  gr_cuda_pending *slots, *marks; /* free ones */
  struct gr_cuda_page *pages;
  gr_cuda_batch batch;          /* not launched yet */
  struct gr_cuda_graph *graphs; /* kept for reuse, the last one used first */
  uint64_t epoch, ticket;
  gr_cuda_span written; /* what launches that may still run write; gr_anything after one that does not say */
} gr_cuda_queue;

/* ---- errors.c ---- */

/*
** Every function of the backend makes the queue's device current and puts the caller's back: gr_cuda_enter gives what
** gr_cuda_leave takes, or -1 when the device is lost and nothing may be called.
*/
int gr_cuda_enter(gr_cuda_queue *);
void gr_cuda_leave(gr_cuda_queue *, int was);
/* The same for calls that have no queue, and so nowhere to write an error. */
int gr_cuda_enter_device(const gr_cuda_device *);
void gr_cuda_leave_device(const gr_cuda_device *, int was);
/* This is a child of fork, where nothing of CUDA may be called: all devices are lost. */
void gr_cuda_forked(void);

/* GR_OK for cudaSuccess; else writes queue->error, notes a lost device and clears CUDA's last error. */
gr_status gr_cuda_check(gr_cuda_queue *, cudaError_t, const char *doing);

/* ---- memory.c ---- */

extern const gr_slab_source gr_cuda_driver;
void *gr_cuda_alloc(gr_backend *, size_t bytes);
void gr_cuda_free(gr_backend *, void *, size_t bytes);
size_t gr_cuda_available(gr_backend *);
size_t gr_cuda_unused(gr_backend *);

/* ---- submit.c ---- */

/* From the environment; once, before the first queue. */
void gr_cuda_read_settings(void);

/*
** gr_cuda_prepare gives the run of a launch on that scratch memory; gr_cuda_launched counts and checks the launch, by
** what the launcher returned.
*/
gr_cuda_run gr_cuda_prepare(gr_cuda_queue *, gr_cuda_scratch *);
gr_status gr_cuda_launched(gr_cuda_queue *, int error, const char *what);

/* ---- graph.c ---- */

/* Launches the batch. what: its name in an error. */
gr_status gr_cuda_launch_batch(gr_cuda_queue *, const char *what);
void gr_cuda_graphs_close(gr_cuda_queue *);

/* ---- scratch.c ---- */

/* Makes a queue's scratch memory at least so large; new memory is zero. */
int gr_cuda_grow(gr_cuda_scratch *, size_t bytes);

/* ---- await.c ---- */

/* Before a launch whose words come there with a ticket that they may have had. */
void gr_cuda_clear_mailbox(uint64_t *words, int halves);
/*
** Look for a ticket in so many halves of a slot, for so many nanoseconds (0: once; negative: until it is there); a
** kernel that faulted is a failure.
*/
gr_status gr_cuda_await(gr_cuda_queue *, const uint64_t *halves, int count, uint64_t ticket, int64_t limit,
                        const char *what, int *there);

/* ---- copy.c ---- */

gr_status gr_cuda_upload(gr_queue *, void *device, const void *host, size_t bytes);
gr_status gr_cuda_download(gr_queue *, void *host, const void *device, size_t bytes);
/*
** Small pieces that come without a wait of their own: what sends them is put into the batch, and once that has been
** launched, and what was launched behind them has been waited for, they are taken.
*/
int gr_cuda_can_bring(const gr_brought *, int count);
gr_status gr_cuda_bring(gr_cuda_queue *, const gr_brought *, int count);
gr_status gr_cuda_await_brought(gr_cuda_queue *, const gr_brought *, int count);
cudaError_t gr_cuda_ring_open(gr_cuda_ring *, size_t size);
void gr_cuda_ring_close(gr_cuda_ring *);

/* ---- reduce.c ---- */

/*
** Adds reductions whose results go to a slot to the batch (several: alike, see gr_cuda_reduce_arrays). formula: what
** the elements of a single one come from, or NULL.
*/
gr_status gr_cuda_add_reduce(gr_cuda_queue *, const gr_reduce_job *const *, int count, gr_cuda_pending *,
                             const gr_cuda_formula *);
/* Launches one by itself, which may begin while earlier launches end; a graph as a whole does not. */
gr_status gr_cuda_start_reduce(gr_cuda_queue *, const gr_reduce_job *, gr_cuda_pending *, const gr_cuda_formula *);
/* gr_cuda_await for one result of a slot; gr_cuda_take reads it, once it is there. */
gr_status gr_cuda_await_reduce(gr_cuda_queue *, const gr_cuda_pending *, int lane, int64_t limit, const char *what,
                               int *there);
int gr_cuda_has_arrived(const gr_cuda_pending *, int lane);
void gr_cuda_take(gr_cuda_pending *, int lane, uint64_t words[2]);

gr_status gr_cuda_do_reduce(gr_queue *, const gr_reduce_job *, uint64_t *result);
/* The state of a vector that is too long for one launch. */
int gr_cuda_is_too_long(const gr_reduce_job *);
gr_status gr_cuda_reduce_halves(gr_cuda_queue *, const gr_reduce_job *, gr_acc *state);
void gr_cuda_do_explain(gr_queue *, const gr_reduce_job *, int number, gr_explained *);

/* ---- tickets.c ---- */

gr_status gr_cuda_start(gr_queue *, const gr_reduce_job *const *, int count, gr_ticket *const *, int more);
/* The same with the device current; formula: what the elements of a single one come from, or NULL. */
gr_status gr_cuda_start_jobs(gr_cuda_queue *, const gr_reduce_job *const *, int count, gr_ticket *const *, int more,
                             const gr_cuda_formula *);
gr_status gr_cuda_mark(gr_queue *, gr_ticket *);
gr_status gr_cuda_poll(gr_queue *, gr_ticket *, int64_t nanoseconds);
void gr_cuda_forget(gr_queue *, gr_ticket *);
gr_status gr_cuda_elapsed(gr_queue *, const gr_ticket *from, const gr_ticket *to, double *seconds);
void gr_cuda_tickets_close(gr_cuda_queue *);
/* A slot for a result that is waited for in the same call. */
gr_status gr_cuda_take_slot(gr_cuda_queue *, gr_cuda_pending **);
void gr_cuda_give_slot(gr_cuda_queue *, gr_cuda_pending *);

/* ---- states.c ---- */

gr_status gr_cuda_do_states(gr_queue *, const gr_reduce_job *jobs, int count, gr_acc *states, const gr_brought *,
                            int brought);

/* ---- feed.c; formula.c above it ---- */

/* Operations that take a formula's elements. */
gr_status gr_cuda_feed(gr_cuda_queue *, const gr_formula_job *);
int gr_cuda_fits(gr_queue *, gr_feeding, const void *operation);

gr_status gr_cuda_do_formula(gr_queue *, const gr_formula_job *);
gr_status gr_cuda_start_formula(gr_queue *, const gr_formula_job *, gr_ticket *);
const char *gr_cuda_uncompiled(gr_backend *);
gr_status gr_cuda_do_operator(gr_queue *, const gr_operator_job *, uint64_t *states); /* operator.c */
void gr_cuda_compiled(gr_backend *, void (*see)(const gr_compiled_formula *, void *), void *);

/* ---- histogram.c, exact.c, launch.c ---- */

/* With its edges; formula: what samples come from, or NULL. */
gr_status gr_cuda_launch_histogram(gr_cuda_queue *, const gr_histogram_job *, const gr_cuda_formula *);
gr_status gr_cuda_do_histogram(gr_queue *, const gr_histogram_job *);
gr_status gr_cuda_do_weights(gr_queue *, const gr_weights_job *);
gr_status gr_cuda_do_exact(gr_queue *, const gr_exact_job *, gr_exact *sums);
gr_status gr_cuda_do_digest(gr_queue *, const gr_digest_job *, uint64_t result[2]);
void gr_cuda_launches(gr_backend *); /* sets those of its functions that are one launch each */

/* ---- streams.c ---- */

gr_status gr_cuda_follow(gr_queue *, void *stream);
gr_status gr_cuda_lead(gr_queue *, void *stream);
gr_status gr_cuda_adopt(gr_queue *, void *stream);
gr_status gr_cuda_lend(gr_queue *, int (*f)(void *with, void *stream), void *with, int *code);

/* ---- queue.c; above it device.c ---- */

gr_queue *gr_cuda_open(gr_backend *, gr_status *why);
void gr_cuda_close(gr_queue *);
gr_status gr_cuda_zero(gr_queue *, void *device, size_t bytes);
gr_status gr_cuda_wait(gr_queue *);

#endif
