/* Who is compared in a cell: the project's kernels and CUB's, each as a call that can be timed. */
#ifndef GR_VERSUS_CONTENDERS_CUH
#define GR_VERSUS_CONTENDERS_CUH

#include <cstdio>
#include <map>
#include "bench/peers/versus_data.cuh"

namespace {

/* Where one number of a result lies and of what dtype it is. */
struct Number {
  int64_t at;
  gr_dtype dtype;
};

struct Contender {
  std::string name;
  std::function<void(int64_t turn)> call;
  std::function<void(int64_t turn)> to_host; /* empty: call, copy, wait */
  std::vector<Number> numbers;               /* of a scalar result */
  gr_dtype array;                            /* of an array of results */
  std::string note;
  std::map<int, cudaGraphExec_t> graphs;
};

std::string shape; /* what is compared with which reference: scalar, sums, counts, scan, norm */
int64_t offset, pitch, slots, results, result_bytes;
bool resident;
std::vector<Contender> contenders;

const char *input(int which, int64_t turn, int64_t from = offset) {
  return pool + which * kInput + (resident ? 0 : turn % slots * pitch) + from * sizes[type];
}

gr_cuda_run run_on(gr_cuda_scratch &scratch) {
  return {stream, &chip, &scratch, ++epoch, nullptr, 0, written, &written};
}

gr_op op_named(const std::string &name) {
  for (int k = 0; k < GR_OP_COUNT; k++)
    if (name == ops[k]) return (gr_op)k;
  throw std::runtime_error("unknown operation " + name);
}

gr_reduce_job reduction(gr_op op, gr_dtype t, int64_t turn, int64_t from) {
  gr_reduce_job j;
  int64_t size = sizes[t];
  memset(&j, 0, sizeof j);
  j.op = op;
  j.dtype = t;
  j.n = cell.n;
  j.count = 1;
  j.a = {input(0, turn, from), size, 0};
  j.b = {input(1, turn, from), size, 0};
  if (cell.rows) {
    j.n = cell.axis == 2 ? cell.cols : cell.rows;
    j.count = cell.axis == 2 ? cell.rows : cell.cols;
    j.a.stride = cell.axis == 2 ? size : cell.cols * size;
    j.a.step = cell.axis == 2 ? cell.cols * size : size;
    j.b.stride = op == GR_OP_dot ? size : j.a.stride;
    j.b.step = op == GR_OP_dot ? 0 : j.a.step;
  }
  j.scale_a = j.scale_b = 1;
  return j;
}

std::vector<double> edges;
bool irregular;

/* Even bins as np.linspace gives them; irregular ones exact in f32, for CUB's f32 levels. */
void make_edges() {
  double step = (cell.high - cell.low) / (double)cell.bins;
  edges.resize((size_t)cell.bins + 1);
  std::vector<float> levels;
  std::vector<int64_t> limits;
  for (int64_t k = 0; k <= cell.bins; k++) {
    double jitter = irregular && k && k < cell.bins ? 0.8 * ((double)(hash((uint64_t)k) >> 11) * 0x1p-53 - 0.5) : 0;
    double e = k == cell.bins ? cell.high : ((double)k + jitter) * step + cell.low;
    edges[(size_t)k] = irregular ? (double)(float)e : e;
    levels.push_back((float)edges[(size_t)k]);
    limits.push_back((int64_t)(k < cell.bins ? ceil(e) : floor(e)));
  }
  size_t n = edges.size();
  CHECK(cudaMemcpy(edges_room, edges.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(edges_room + n * 8, limits.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(edges_room + n * 16, levels.data(), n * 4, cudaMemcpyHostToDevice));
  cell.levels = irregular ? (const double *)(edges_room + n * 16) : nullptr;
}

void launch_histogram(int64_t turn) {
  gr_histogram_job j;
  memset(&j, 0, sizeof j);
  j.dtype = type;
  j.n = cell.n;
  j.bins = cell.bins;
  j.a = {input(0, turn), sizes[type], 0};
  j.edges = (const double *)edges_room;
  if (!gr_is_float(type)) j.ilimits = (const int64_t *)(edges_room + edges.size() * 8);
  j.first = cell.low;
  j.per_bin = (double)cell.bins / (cell.high - cell.low);
  j.guess = !irregular;
  j.whole = !irregular && cell.low == floor(cell.low) && fmod(cell.high - cell.low, (double)cell.bins) == 0;
  j.counts = (int64_t *)output;
  j.tails = j.counts + cell.bins;
  gr_cuda_run r = run_on(work);
  CHECK(gr_cuda_histogram(&j, &r));
}

void launch_scan(int64_t turn, gr_dtype out) {
  gr_scan_job j;
  memset(&j, 0, sizeof j);
  j.op = GR_OP_sum;
  j.dtype = type;
  j.out_dtype = out;
  j.n = cell.n;
  j.count = 1;
  j.a = {input(0, turn), sizes[type], 0};
  j.out = {output, sizes[out], 0};
  gr_cuda_run r = run_on(chain);
  CHECK(gr_cuda_scan(&j, &r));
}

void launch_rmsnorm(int64_t turn) {
  gr_rmsnorm_job j;
  int64_t size = sizes[type];
  memset(&j, 0, sizeof j);
  j.dtype = type;
  j.n = cell.cols;
  j.count = cell.rows;
  j.x = {input(0, turn), size, cell.cols * size};
  j.out = {output, size, cell.cols * size};
  j.eps = 1e-6;
  gr_cuda_run r = run_on(work);
  CHECK(gr_cuda_rmsnorm(&j, &r));
}

/* The project's reduction of that name, of inputs that start so many elements in. */
Contender reduced(const char *name, const std::string &word, int64_t from) {
  Contender c;
  gr_dtype t = type;
  gr_op op = op_named(word == "norm" ? "norm2" : word == "mv" ? "dot" : word);
  gr_acc_kind kind = gr_acc_kind_of(gr_reducer_of(op, t), t);
  bool places = kind == GR_ACC_POSITION,
       floats = (gr_is_float(t) && !places) || op == GR_OP_mse || op == GR_OP_norm2 || op == GR_OP_cosine;
  gr_dtype out = floats ? GR_F64 : GR_I64;
  c.name = name;
  c.array = out;
  c.numbers = {{0, out}, {256, out}};
  if (op != GR_OP_minmax) c.numbers.pop_back();
  c.call = [=](int64_t turn) {
    gr_reduce_job j = reduction(op, t, turn, from);
    j.out_dtype = out;
    j.out = output;
    j.out2 = cell.rows ? nullptr : output + 256;
    gr_cuda_run r = run_on(work);
    CHECK(gr_cuda_reduce(&j, &r));
  };
  return c;
}

Contender ours() {
  Contender c;
  gr_dtype t = type;
  c.name = "gpureduce";
  c.array = t;
  if (cell.op == "histogram") {
    c.array = GR_I64;
    c.call = launch_histogram;
  } else if (cell.op == "scan") {
    c.array = !gr_is_float(t) ? GR_I64 : t == GR_F64 ? GR_F64 : GR_F32;
    c.call = [=](int64_t turn) { launch_scan(turn, c.array); };
  } else if (cell.op == "rmsnorm") {
    c.call = launch_rmsnorm;
  } else {
    return reduced("gpureduce", cell.op, offset);
  }
  return c;
}

/* A bare kernel that moves what the cell's calls have to move, no peer: "moved" reads, then writes, "copied" does both
   at once, for results as long as the inputs. */
Contender bare(const char *name, bool copies) {
  Contender c;
  const int64_t words = (cell.n * sizes[type] + 15) / 16, more = cell.op == "dot" && !cell.rows ? words : 0;
  const int64_t result = sizes[contenders[0].array];
  const int64_t out = shape == "scalar" || shape == "counts" ? 0 : (results * result + 15) / 16;
  const int64_t each = copies ? 4 : 2, blocks = std::min(chip.sms * each, (std::max(words, out) + 2047) / 2048);
  c.name = name;
  c.call = [=](int64_t turn) {
    const float4 *x = (const float4 *)input(0, turn), *y = (const float4 *)input(1, turn);
    write_anything();
    if (copies) copy_all<<<(int)blocks, 512, 0, stream>>>(x, words, (float4 *)output);
    else move_all<<<(int)blocks, 512, 0, stream>>>(x, words, y, more, (float4 *)output, out);
    CHECK(cudaGetLastError());
  };
  return c;
}

/* What CUB gives: the type of its results, by operation. */
void describe_cub(Contender &c) {
  gr_dtype t = type, sum = gr_is_float(t) ? t : GR_I64, wide = t == GR_F16 ? GR_F32 : sum;
  c.array = cell.op == "histogram" ? GR_I32 : sum;
  if (cell.op == "min" || cell.op == "max") c.numbers = {{0, t}};
  else if (cell.op == "minmax") c.numbers = {{0, t}, {sizes[t], t}};
  else if (cell.op == "argmin" || cell.op == "argmax") c.numbers = {{8, GR_I64}};
  else if (cell.op == "dot" || cell.op == "mse") c.numbers = {{0, wide}};
  else c.numbers = {{0, sum}};
}

/* The parts of cub.cu by dtype. */
struct Part {
  const char *dtype;
  Launch (*toolkit)(const Cell &), (*newest)(const Cell &);
};
#ifdef WITH_NEWEST
#define PART(dtype) {#dtype, cub_toolkit_##dtype, cub_newest_##dtype},
#else
#define PART(dtype) {#dtype, cub_toolkit_##dtype, nullptr},
#endif
const Part parts[] = {COMPARED(PART)};

void add_cub(const char *name, Launch launch) {
  size_t bytes = 0;
  if (!launch) return;
  Contender c;
  c.name = name;
  describe_cub(c);
  if (launch(nullptr, bytes, input(0, 0), input(1, 0), output, stream) != cudaSuccess || bytes > (size_t)kTemporary) {
    (void)cudaGetLastError();
    return;
  }
  if (cell.op == "histogram" && bytes > (size_t)64 << 20)
    c.note = "temporary storage " + std::to_string(bytes >> 20) + " MiB";
  if (cell.op == "minmax") c.note = "two calls";
  c.call = [=](int64_t turn) {
    size_t b = bytes;
    CHECK(launch(temporary, b, input(0, turn), input(1, turn), output, stream));
  };
  contenders.push_back(c);
}

}  // namespace

#endif
