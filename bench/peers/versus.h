/* What bench/peers' parts say to each other: a cell of the comparison and a peer's launch of it. */
#ifndef GR_VERSUS_H
#define GR_VERSUS_H

#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <vector>
#include "kernels/kernels.h"

/* One cell: an operation, a dtype, a length, where the input starts (elements past alignment), a matrix or not. */
struct Cell {
  std::string op, data;
  gr_dtype dtype;
  int64_t n;          /* elements in all */
  int64_t rows, cols; /* 0: flat */
  int axis;           /* 2: along each row, 1: down each column */
  int64_t bins;
  double low, high;     /* of the histogram */
  const double *levels; /* device: bins + 1 edges in the dtype of the samples (f32), or NULL for even ones */
};

/* Queues the work on the stream. With temp NULL it sets temp_bytes and does nothing. Results go to out (and out + 8). */
using Launch = std::function<cudaError_t(void *temp, size_t &temp_bytes, const void *a, const void *b, void *out,
                                         cudaStream_t stream)>;

/* Empty where the library has no such operation. toolkit: the CUB of the toolkit; newest: CCCL's main, if it was at hand. */
Launch cub_toolkit(const Cell &);
Launch cub_newest(const Cell &);
int cub_toolkit_version();
int cub_newest_version(); /* 0: not built in */

/* The part of one dtype (cub_dtype.cu, compiled once each). */
template <gr_dtype D> Launch cub_toolkit_of(const Cell &);
template <gr_dtype D> Launch cub_newest_of(const Cell &);

#endif
