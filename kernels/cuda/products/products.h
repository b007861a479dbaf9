/* The launcher of products of columns; the rest of the launchers' contract is in launch.h. */
#ifndef GR_CUDA_PRODUCTS_PRODUCTS_H
#define GR_CUDA_PRODUCTS_PRODUCTS_H

#include "kernels/cuda/launch.h"
#include "kernels/products.h"

#ifdef __cplusplus
extern "C" {
#endif
int gr_cuda_products(const gr_products_job *, const gr_cuda_run *);
/* Columns at most, as a leaf of all of them lies in a block's shared memory. */
int gr_cuda_products_most(const gr_cuda_chip *);
#ifdef __cplusplus
}
#endif
#endif
