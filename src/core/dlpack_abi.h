/*
** DLPack's structures, through which array libraries hand memory to each other within a process: their layout and their
** numbers, as https://dmlc.github.io/dlpack/latest/c_api.html says for version 1.
*/
#ifndef GR_DLPACK_ABI_H
#define GR_DLPACK_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Where the memory lies. Extension: a type that libraries may use for tests; here that of the pretend device. */
enum { GR_DL_CPU = 1, GR_DL_CUDA = 2, GR_DL_CUDA_HOST = 3, GR_DL_EXTENSION = 12, GR_DL_CUDA_MANAGED = 13 };

typedef struct gr_dl_device {
  int32_t type, id;
} gr_dl_device;

/* Codes beyond these are names in dlpack.c alone. */
enum { GR_DL_INT, GR_DL_UINT, GR_DL_FLOAT, GR_DL_OPAQUE, GR_DL_BFLOAT, GR_DL_COMPLEX, GR_DL_BOOL };

typedef struct gr_dl_dtype {
  uint8_t code, bits;
  uint16_t lanes;
} gr_dl_dtype;

typedef struct gr_dl_tensor {
  void *data;
  gr_dl_device device;
  int32_t dimensions;
  gr_dl_dtype dtype;
  int64_t *shape, *strides; /* strides count elements; NULL: row by row without gaps */
  uint64_t byte_offset;     /* from data to the first element */
} gr_dl_tensor;

/* Before version 1. In both, whoever is done with the memory calls the deleter once, if there is one. */
typedef struct gr_dl_managed {
  gr_dl_tensor tensor;
  void *owner;
  void (*deleter)(struct gr_dl_managed *);
} gr_dl_managed;

#define GR_DL_MAJOR 1
#define GR_DL_MINOR 1

#define GR_DL_READONLY UINT64_C(1)
#define GR_DL_COPIED UINT64_C(2)

/* From version 1 on. Up to the flags the layout is the same in every version. */
typedef struct gr_dl_versioned {
  uint32_t major, minor;
  void *owner;
  void (*deleter)(struct gr_dl_versioned *);
  uint64_t flags;
  gr_dl_tensor tensor;
} gr_dl_versioned;

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(gr_dl_tensor) == 48 && offsetof(gr_dl_tensor, shape) == 24, "DLTensor");
_Static_assert(sizeof(gr_dl_managed) == 64 && offsetof(gr_dl_managed, deleter) == 56, "DLManagedTensor");
_Static_assert(sizeof(gr_dl_versioned) == 80 && offsetof(gr_dl_versioned, tensor) == 32, "DLManagedTensorVersioned");
#endif

#endif
