/* cuBLAS as one more contender. It is looked for at run time, so that a machine without it still compares the rest. */
#ifndef GR_VERSUS_BLAS_CUH
#define GR_VERSUS_BLAS_CUH

#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <dlfcn.h>
#include <cstdlib>
#include "bench/peers/versus_contenders.cuh"

namespace {

struct Blas {
  void *library = nullptr;
  cublasHandle_t handle = nullptr;
  int version = 0;
  template <class F>
  F *find(const char *name) const {
    return (F *)dlsym(library, name);
  }
} blas;

void open_blas() {
  const char *asked = getenv("GR_CUBLAS");
  const char *const places[] = {asked ? asked : "libcublas.so.13", "libcublas.so.13", "libcublas.so",
                                "/usr/local/cuda/lib64/libcublas.so"};
  for (const char *place : places)
    if (!blas.library && (blas.library = dlopen(place, RTLD_NOW | RTLD_LOCAL))) break;
  if (!blas.library) return;
  auto create = blas.find<cublasStatus_t(cublasHandle_t *)>("cublasCreate_v2");
  auto set = blas.find<cublasStatus_t(cublasHandle_t, cudaStream_t)>("cublasSetStream_v2");
  auto room_for = blas.find<cublasStatus_t(cublasHandle_t, void *, size_t)>("cublasSetWorkspace_v2");
  if (!create || create(&blas.handle) != CUBLAS_STATUS_SUCCESS) {
    blas.library = nullptr;
    return;
  }
  blas.find<cublasStatus_t(cublasHandle_t, int *)>("cublasGetVersion_v2")(blas.handle, &blas.version);
  set(blas.handle, stream);
  room_for(blas.handle, temporary, (size_t)64 << 20);
}

void check_blas(cublasStatus_t s) {
  if (s != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cuBLAS says " + std::to_string((int)s));
}

/* The cuBLAS call of this cell with its result at r, or nothing. */
template <class T>
std::function<void(int64_t, void *)> blas_call(const char *dot, const char *nrm2, const char *gemv) {
  int n = (int)cell.n, rows = (int)cell.rows, cols = (int)cell.cols, axis = cell.axis;
  if (cell.op == "dot" && !cell.rows) {
    auto f = blas.find<cublasStatus_t(cublasHandle_t, int, const T *, int, const T *, int, T *)>(dot);
    return [=](int64_t turn, void *r) {
      check_blas(f(blas.handle, n, (const T *)input(0, turn), 1, (const T *)input(1, turn), 1, (T *)r));
    };
  }
  if (cell.op == "norm") {
    auto f = blas.find<cublasStatus_t(cublasHandle_t, int, const T *, int, T *)>(nrm2);
    return [=](int64_t turn, void *r) { check_blas(f(blas.handle, n, (const T *)input(0, turn), 1, (T *)r)); };
  }
  if (cell.op == "mv") {
    auto f = blas.find<cublasStatus_t(cublasHandle_t, cublasOperation_t, int, int, const T *, const T *, int, const T *,
                                      int, const T *, T *, int)>(gemv);
    auto one = (const T *)((char *)pinned + 1024), zero = (const T *)((char *)pinned + 2048);
    /* Row-major: cuBLAS sees the transpose. */
    return [=](int64_t turn, void *r) {
      check_blas(f(blas.handle, axis == 2 ? CUBLAS_OP_T : CUBLAS_OP_N, cols, rows, one, (const T *)input(0, turn),
                   cols, (const T *)input(1, turn), 1, zero, (T *)r, 1));
    };
  }
  return {};
}

std::function<void(int64_t, void *)> blas_half_dot() {
  using F = cublasStatus_t(cublasHandle_t, int, const void *, cudaDataType, int, const void *, cudaDataType, int,
                           void *, cudaDataType, cudaDataType);
  auto f = blas.find<F>("cublasDotEx");
  int n = (int)cell.n;
  if (cell.op != "dot" || cell.rows || !f) return {};
  return [=](int64_t turn, void *r) {
    check_blas(
        f(blas.handle, n, input(0, turn), CUDA_R_16F, 1, input(1, turn), CUDA_R_16F, 1, r, CUDA_R_16F, CUDA_R_32F));
  };
}

void add_blas() {
  std::function<void(int64_t, void *)> f;
  if (!blas.library || cell.n > INT32_MAX) return;
  if (type == GR_F32) f = blas_call<float>("cublasSdot_v2", "cublasSnrm2_v2", "cublasSgemv_v2");
  if (type == GR_F64) f = blas_call<double>("cublasDdot_v2", "cublasDnrm2_v2", "cublasDgemv_v2");
  if (type == GR_F16) f = blas_half_dot();
  if (!f) return;
  memset(pinned, 0, 4096);
  if (type == GR_F32) *((float *)pinned + 256) = 1.0f;
  else *((double *)pinned + 128) = 1.0;
  auto mode = blas.find<cublasStatus_t(cublasHandle_t, cublasPointerMode_t)>("cublasSetPointerMode_v2");
  Contender c;
  c.name = "cublas";
  c.array = type;
  c.numbers = {{0, type}};
  bool scalar = !cell.rows;
  c.call = [=](int64_t turn) {
    mode(blas.handle, scalar ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
    f(turn, output);
  };
  if (scalar)
    c.to_host = [=](int64_t turn) {
      mode(blas.handle, CUBLAS_POINTER_MODE_HOST);
      f(turn, pinned);
    };
  contenders.push_back(c);
}

}  // namespace

#endif
