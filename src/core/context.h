/*
** What one script has of the module: its queues (one for each backend that it has used), the one in use, and a budget
** of bytes, which makes its garbage collector run although it cannot see the memory of arrays. Storages keep it alive.
*/
#ifndef GR_CONTEXT_H
#define GR_CONTEXT_H

#include <stdatomic.h>

#include "src/core/backend.h"
#include "src/core/background.h"
#include "src/core/stop.h"

#define GR_SPARE_CLASSES 40 /* of the pool's sizes, up to 64 KiB */

/* What a host allows the scripts of a state (gr.safe). All zeros: everything. */
typedef struct gr_limits {
  int safe;         /* the limits below are in force, for good */
  int files, wrap;  /* allowed */
  size_t bytes;     /* of the state's arrays, both sides together; 0: any */
  int lowered;      /* by gr.gc */
  int64_t elements; /* of one array; 0: any */
  double seconds;   /* of one call on the CPU; 0: any */
} gr_limits;

/* Lines for people go here, without their end; say NULL: to stderr. */
typedef struct gr_journal {
  void (*say)(void *user, const char *line);
  void *user;
} gr_journal;

typedef struct gr_context gr_context;
typedef struct gr_storage gr_storage; /* storage.h */
struct gr_reduction;                  /* ops.h */
struct gr_comm;                       /* ranks/comm.h */

/*
** What the layer above tells the core when it makes a context, which is the head of a larger struct: the size of that
** struct, what to do when the context goes, and which devices there are (in list; returns how many; why: the reason
** when none is a GPU). cpu is the backend that does what others cannot.
*/
typedef struct gr_host {
  size_t bytes;
  void (*gone)(gr_context *); /* may be NULL */
  int (*backends)(gr_backend *list[GR_MAX_BACKENDS], const char **why);
  gr_backend *(*cpu)(void);
} gr_host;

/*
** Chunks of a storage whose memory came as others left it, since the call under way is to write all of them. If it is
** stopped they must not be read: what others had there may be none of this state's business.
*/
#define GR_MOST_RAW 8
typedef struct gr_raw {
  gr_storage *storage;
  size_t first, last;
  int side;
} gr_raw;

/*
** Who has entered a context: a call of the C API; or, once it has been abandoned, a thread that drops tensors which
** another library has returned. A call waits for the latter, which did not choose its moment.
*/
enum { GR_CALLED = 1, GR_RETURNED };

struct gr_context {
  int refs;
  atomic_int entered; /* GR_CALLED, GR_RETURNED, or 0: nobody is in it by way of the C API */
  int abandoned;      /* the state or the host that used it has left; what is alive somebody has kept */
  gr_queue *queues[GR_MAX_BACKENDS];
  int queue_count;
  gr_queue *queue; /* in use; NULL before the first use of any */
  const char *why; /* why this backend was chosen */
  char wish[16];   /* the device that the host wants at first; "": GPUREDUCE_DEVICE says */
  int local;       /* of a host's ranks, from 0: which of its GPUs is the first choice */
  void *stream;    /* for the first queue that is opened; NULL: one of its own */
  gr_journal log;
  size_t live; /* bytes of this state's storages, both sides */
  gr_limits limits;
  size_t floor, budget; /* a collection is due when live would pass budget */
  int automatic;        /* collections by budget happen by themselves */
  int exact;            /* sums are correctly rounded where a call does not say otherwise */
  uint64_t seed, draws; /* of random numbers without a seed of their own: the key, and how many streams were taken */
  uint64_t numbers;     /* of expressions: so many have got an id */
  uint64_t collections;
  int64_t storages;
  /* Running futures that may read their arrays again, and what to call before a write to one of these arrays. */
  struct gr_future *watching;
  void (*write)(gr_storage *);
  void (*trace)(const struct gr_reduction *); /* is told of each reduction before it begins, or NULL */
  /* Small storages that were freed are kept with their memory for the next of that size (storage.h): their bytes. */
  size_t spared;
  gr_storage *spare[GR_SPARE_CLASSES];
  gr_raw raw[GR_MOST_RAW]; /* of the call under way */
  int raw_count;
  void (*trim)(gr_context *);   /* frees them; NULL: there have been none */
  struct gr_known *known;       /* reductions of what is present that were run before (formula/known.h) */
  void (*forget)(gr_context *); /* frees them; NULL: there have been none */
  struct gr_exports *exports;   /* what other libraries have of its arrays (dlpack.c); NULL: there has been nothing */
  gr_stop stop;
  struct gr_comm *comm; /* of the call at work, whose arrays are this rank's parts of longer ones; else NULL */
  /*
  ** What the CPU does in the background (later.h). later: the call under way asks for that; left: what it has left;
  ** claims: the storages that an operation is about to use; settle: waits for what uses a storage, or (write == 0) for
  ** what writes it.
  */
  int later;
  gr_line line;
  struct gr_work *works, *last_work, *left;
  int work_count;
  struct gr_claims *claims, *claims_room;
  void (*claim)(gr_storage *, int write);
  void (*settle)(gr_storage *, int write);
  const gr_host *host;
  char error[400]; /* what the last failing core function has to say */
};

gr_context *gr_context_new(const gr_host *);
void gr_context_drop(gr_context *); /* closes the queues when the last storage is gone too */

/* Switch to "cpu", "pretend", "cuda" or "cuda:N"; NULL: what GPUREDUCE_DEVICE says, else the best there is. */
gr_status gr_context_use(gr_context *, const char *name);

/* The queue of the device of that name, which stays as it is in use or not. */
gr_status gr_context_queue(gr_context *, const char *name, gr_queue **);

gr_queue *gr_context_cpu(gr_context *); /* that of the CPU; NULL when even that has no memory */
gr_queue *gr_context_on(gr_context *, gr_backend *, gr_status *why); /* that of a device, opened if there is none yet */

gr_stats gr_context_stats(const gr_context *); /* of all its queues */

/* To the host's log, or stderr. */
void gr_log_line(const gr_context *, const char *line);

/* Devices are looked for at the first use, not before: starting CUDA takes a while. After a lost device: the CPU. */
static inline gr_status gr_context_ready(gr_context *c) {
  return c->queue && !c->queue->lost ? GR_OK : gr_context_use(c, c->queue ? "cpu" : NULL);
}

/* Whether bytes more would pass the budget; and the new budget after a full collection. */
int gr_context_over(const gr_context *, size_t bytes);
void gr_context_collected(gr_context *);

/* Whether so many bytes more stay within the state's limit; else GR_NO_MEMORY, since collecting garbage may help. */
gr_status gr_context_allows(gr_context *, size_t bytes);

/* Whether an array may be so long. */
gr_status gr_context_allows_length(gr_context *, int64_t n);
/* Who set the limits, for errors. */
static inline const char *gr_limits_by(const gr_context *c) { return c->limits.safe ? "gr.safe" : "the host"; }

/* Format context->error and return status. */
gr_status gr_fail(gr_context *, gr_status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Passes a backend's or the pool's status on, and formats context->error if it is a failure. */
gr_status gr_fail_from(gr_context *, gr_queue *, gr_status, const char *what, size_t asked);

/* The failure for elements that only the lost device of a queue had. */
gr_status gr_fail_gone(gr_context *, const gr_queue *);

/*
** The failure when the pool had no block of the queue's device (NULL: of the host): asked is its last request to the
** system. A device that failed refuses memory, too, and then that is why: so the queue is waited for.
*/
gr_status gr_fail_memory(gr_context *, gr_queue *, size_t asked);
/* The same where it is known to be the room. */
gr_status gr_fail_room(gr_context *, gr_backend *, size_t asked);

/*
** For the core's own loops over many elements: GR_STOPPED when the call is to end. Call gr_stop_begin before the loop.
*/
static inline gr_status gr_context_look(gr_context *c) {
  return gr_stop_asked(&c->stop) ? gr_fail(c, GR_STOPPED, "interrupted") : GR_OK;
}

#endif
