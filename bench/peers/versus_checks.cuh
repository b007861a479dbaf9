/* How far a contender's results are from those of the plain references. */
#ifndef GR_VERSUS_CHECKS_CUH
#define GR_VERSUS_CHECKS_CUH

#include "bench/peers/versus_contenders.cuh"

namespace {

double number_at(const char *p, gr_dtype t) {
  double x = 0;
  with_type(t, [&](auto *type) {
    std::remove_pointer_t<decltype(type)> v;
    memcpy(&v, p, sizeof v);
    x = real(v);
  });
  return x;
}

int64_t integer_at(const char *p, gr_dtype t) {
  int64_t x = 0;
  with_type(t, [&](auto *type) {
    std::remove_pointer_t<decltype(type)> v;
    memcpy(&v, p, sizeof v);
    x = whole(v);
  });
  return x;
}

/* The reference's numbers: exact integers, or doubles with the size of what was added up. */
struct Truth {
  std::vector<int64_t> whole;
  std::vector<double> real;
  double scale;
};
Truth truth;
bool known;

void make_truth() {
  Statistics s;
  bool floats = gr_is_float(type);
  const std::string &op = cell.op;
  with_type(type, [&](auto *t) {
    s = statistics<std::remove_pointer_t<decltype(t)>>(input(0, 0), input(1, 0), cell.n, room);
  });
  CHECK(cudaGetLastError());
  truth = {{}, {}, 0};
  double n = (double)cell.n;
  if (op == "argmin") truth.whole = {s.low_at};
  else if (op == "argmax") truth.whole = {s.high_at};
  else if (op == "mse") truth.real = {s.differences / n};
  else if (op == "norm") truth.real = {sqrt(s.squares)};
  else if (op == "cosine") truth.real = {s.fdot / sqrt(s.squares) / sqrt(s.squares_b)}, truth.scale = 1;
  else if (!floats && op == "sum") truth.whole = {s.sum};
  else if (!floats && op == "prod") truth.whole = {s.product};
  else if (!floats && op == "dot") truth.whole = {s.dot};
  else if (!floats) truth.whole = {s.low, s.high};
  else if (op == "sum") truth.real = {s.fsum}, truth.scale = sqrt(s.squares);
  else if (op == "prod") truth.real = {s.fproduct};
  else if (op == "dot") truth.real = {s.fdot}, truth.scale = sqrt(s.squares);
  else truth.real = {s.flow, s.fhigh};
  if (op == "min" && truth.whole.size()) truth.whole.pop_back();
  if (op == "min" && truth.real.size()) truth.real.pop_back();
  if (op == "max" && truth.whole.size()) truth.whole.erase(truth.whole.begin());
  if (op == "max" && truth.real.size()) truth.real.erase(truth.real.begin());
}

void make_reference() {
  CHECK(cudaMemsetAsync(reference, 0, (size_t)std::min<int64_t>(results * 8, kOutput), stream));
  CHECK(cudaStreamSynchronize(stream));
  with_type(type, [&](auto *t) {
    using T = std::remove_pointer_t<decltype(t)>;
    const T *a = (const T *)input(0, 0), *b = (const T *)input(1, 0);
    double *out = (double *)reference;
    if (shape == "sums") {
      int64_t threads = cell.axis == 2 ? (cell.n + 63) / 64 : (cell.rows + 63) / 64 * cell.cols;
      using Acc = std::conditional_t<is_real<T>::value, double, unsigned long long>;
      matrix_sums<<<(unsigned)((threads + 255) / 256), 256>>>(a, cell.op == "mv" ? b : nullptr, cell.rows, cell.cols,
                                                              cell.axis, (Acc *)reference);
    } else if (shape == "counts") {
      bins_of<<<4096, 256>>>(a, cell.n, (const double *)edges_room, cell.bins, out);
    } else if (shape == "scan" && gr_is_float(type)) {
      running_sums<T, double>(a, cell.n, room, reference);
    } else if (shape == "scan") {
      running_sums<T, int64_t>(a, cell.n, room, reference);
    } else {
      norm_rows<<<(unsigned)cell.rows, 256>>>(a, cell.cols, 1e-6, out);
    }
  });
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

/* How far a contender's result is from the reference: 0 for exact, else relative to the size of what was added up. */
double error_of(Contender &c) {
  CHECK(cudaMemsetAsync(output, 0xa5, (size_t)std::min<int64_t>(results * 8 + 512, kOutput), stream));
  c.call(0);
  CHECK(cudaStreamSynchronize(stream));
  if (shape == "scalar") {
    if (!known) make_truth();
    known = true;
    char host[512];
    double worst = 0;
    CHECK(cudaMemcpy(host, output, sizeof host, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < c.numbers.size(); k++) {
      const char *p = host + c.numbers[k].at;
      double e;
      if (truth.whole.size()) {
        int64_t based = c.name == "gpureduce" && cell.op.substr(0, 3) == "arg";
        e = (double)(integer_at(p, c.numbers[k].dtype) - based != truth.whole[k]);
      } else {
        double x = number_at(p, c.numbers[k].dtype), r = truth.real[k];
        if (cell.op == "mse" && c.name != "gpureduce") x /= (double)cell.n; /* CUB's is the sum */
        e = x == r ? 0 : fabs(x - r) / (fabs(r) + truth.scale);
      }
      if (!(e <= worst)) worst = e == e ? e : INFINITY;
    }
    return worst;
  }
  if (!known) make_reference();
  known = true;
  unsigned long long *worst = (unsigned long long *)room, bits;
  double scale = shape == "sums"   ? sqrt((double)(cell.axis == 2 ? cell.cols : cell.rows))
                 : shape == "scan" ? sqrt((double)cell.n)
                 : shape == "norm" ? 1
                                   : 1e-300;
  CHECK(cudaMemset(worst, 0, 8));
  with_type(c.array, [&](auto *t) {
    using T = std::remove_pointer_t<decltype(t)>;
    if ((shape == "scan" || shape == "sums") && !gr_is_float(type))
      differences<<<2048, 256>>>((const T *)output, (const int64_t *)reference, results, scale, worst);
    else differences<<<2048, 256>>>((const T *)output, (const double *)reference, results, scale, worst);
  });
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&bits, worst, 8, cudaMemcpyDeviceToHost));
  double e;
  memcpy(&e, &bits, 8);
  return e;
}

}  // namespace

#endif
