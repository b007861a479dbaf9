/* Even edges of a histogram (k in two parts: 32 bits convert faster). */
#include "kernels/cpu/kernels_cpu.h"

void gr_cpu_edges(const gr_edges_job *job, gr_parallel parallel) {
  const double step = (job->last - job->first) / (double)job->bins;
  (void)parallel;
  for (int64_t k = 0; k < job->bins && !(k && gr_stopped()); k += 4096) {
    const int m = job->bins - k < 4096 ? (int)(job->bins - k) : 4096;
    double *e = job->edges + k;
    for (int j = 0; j < m; j++) e[j] = ((double)k + (double)j) * step + job->first;
    if (job->limits)
      for (int j = 0; j < m; j++) job->limits[k + j] = gr_edge_limit(e[j], 0);
  }
  job->edges[job->bins] = job->last;
  if (job->limits) job->limits[job->bins] = gr_edge_limit(job->last, 1);
}
