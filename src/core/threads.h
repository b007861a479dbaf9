/*
** A small pool of threads for the CPU's kernels. Nothing starts before the first call with more than one
** piece; the caller works too; idle threads sleep. Results never depend on how many there are, since pieces
** are cut by size alone.
*/
#ifndef GR_THREADS_H
#define GR_THREADS_H

#include <stdint.h>

/*
** body(arg, k) for k = 0 .. pieces - 1, in any order, here and on the pool's threads; returns when all are
** done, or what the caller's thread watches says stop (kernels/cpu/stop.h): then those that are begun are finished. In
** calls that have as many pieces each thread begins with the same ones, which its cache may still hold. Any thread may
** call. A call made while the pool is busy (another context's, or one from inside a body) does all the work itself.
*/
void gr_threads_run(int64_t pieces, void (*body)(void *arg, int64_t k), void *arg);

#define GR_MOST_THREADS 1024

/* How many threads work, the caller included: GPUREDUCE_THREADS, or the CPUs that this process may use. */
int gr_threads_count(void);
void gr_threads_set(int count);

#endif
