/*
** A small pool of threads for the CPU's kernels. Nothing starts before the first call with more than one
** piece; the caller works too; idle threads sleep. Results never depend on how many there are, since pieces
** are cut by size alone.
*/
#ifndef GR_THREADS_H
#define GR_THREADS_H

#include <stdint.h>

/*
** Runs body(arg, k) for k = 0 .. pieces - 1, in any order, here and on the pool's threads; returns when all are done,
** or when the caller is asked to stop (kernels/cpu/stop.h): then pieces that have begun are finished. In calls with the
** same number of pieces each thread begins with the same ones, since its cache may still hold their data. Any thread
** may call. A call made while the pool is busy (by another context, or from inside a body) does all the work itself.
*/
void gr_threads_run(int64_t pieces, void (*body)(void *arg, int64_t k), void *arg);

/*
** The host's own threads in place of these: run calls piece(work, k) for each k below pieces, on whatever threads, and
** returns when all have returned. What it leaves out the caller does. NULL: the pool's threads again.
*/
typedef void gr_threads_host(void *user, int64_t pieces, void (*piece)(void *work, int64_t k), void *work);
void gr_threads_by(gr_threads_host *, void *user);

#define GR_MOST_THREADS 1024

/* How many threads work, the caller included: GPUREDUCE_THREADS, or the CPUs that this process may use. */
int gr_threads_count(void);
void gr_threads_set(int count);

#endif
