/* What bench/peers' parts say to each other: a cell of the comparison and a peer's launch of it. */
#ifndef GR_VERSUS_H
#define GR_VERSUS_H

#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <vector>

/* One cell: an operation, a dtype, a length, where the input starts (elements past alignment), a matrix or not. */
struct Cell {
  std::string op, dtype, data;
  int64_t n;          /* elements in all */
  int64_t rows, cols; /* 0: flat */
  int axis;           /* 2: along each row, 1: down each column */
  int64_t bins;
  double low, high;     /* of the histogram */
  const double *levels; /* device: bins + 1 edges in the dtype of the samples (f32), or NULL for even ones */
};

/* Queues the work on the stream. With temp NULL it sets temp_bytes and does nothing. Results go to out (and out + 8).
 */
using Launch = std::function<cudaError_t(void *temp, size_t &temp_bytes, const void *a, const void *b, void *out,
                                         cudaStream_t stream)>;

/* X(dtype): those that are compared. */
#define COMPARED(X) X(u8) X(i32) X(i64) X(f16) X(f32) X(f64)

/*
** Empty where the library has no such operation. toolkit: the CUB of the toolkit; newest: CCCL's main, if it was at
** hand. One of each for a dtype: cub.cu, compiled once each, so that none of it depends on the project's own headers.
*/
#define DECLARE(dtype)                      \
  Launch cub_toolkit_##dtype(const Cell &); \
  Launch cub_newest_##dtype(const Cell &);
COMPARED(DECLARE)
#undef DECLARE
int cub_toolkit_version();
int cub_newest_version();

#endif
