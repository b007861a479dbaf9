/*
** The C API as a host without Lua calls it, on a device: capi_calls DEVICE. Each check that fails says where; the last
** line says "ok". spec/capi_spec.lua runs it.
*/
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "../../src/core/dlpack_abi.h"

/* ---- arrays ---- */

static void test_arrays(void) {
  gpureduce_context *c = open_one();
  const double x[6] = {1, 2, 3, 4, 5, 6};
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, x), *b = NULL, *m = NULL, *other = NULL;
  const char *name = "";
  OK(gpureduce_device(c, &name));
  CHECK(!strcmp(name, device));
  CHECK(reduced("sum", a, NULL) == 21);
  OK(gpureduce_view(a, 5, -2, 3, &b));
  CHECK(holds(b, 3, (const double[]){6, 4, 2}));
  OK(gpureduce_set(b, 1, 1, (const double[]){40}));
  CHECK(reduced("sum", a, NULL) == 57);
  OK(gpureduce_matrix(a, 2, &m));
  gpureduce_info info = {.size = sizeof info};
  OK(gpureduce_describe(m, &info));
  CHECK(info.rows == 2 && info.length == 6 && info.stride == 8 && info.item == 8 && !info.borrowed);
  CHECK(!strcmp(info.device, device));
  NO(GPUREDUCE_BAD, "4 rows do not divide length 6", gpureduce_matrix(a, 4, &other));
  NO(GPUREDUCE_BAD, "are not all among 6", gpureduce_view(a, 0, 3, 3, &other));
  NO(GPUREDUCE_BAD, "are not all among 6", gpureduce_view(a, 2, -1, 4, &other));
  NO(GPUREDUCE_BAD, "are not all among 6", gpureduce_view(a, 0, INT64_MIN, 2, &other));
  NO(GPUREDUCE_BAD, "are not all among 6", gpureduce_get(a, 5, 2, &name));
  NO(GPUREDUCE_BAD, "are not all among 6", gpureduce_get(a, INT64_MAX, 2, &name));
  NO(GPUREDUCE_BAD, "length of 0 or more", gpureduce_make(c, GPUREDUCE_F32, -1, 0, &other));
  NO(GPUREDUCE_BAD, "dtype from 0 to 10 expected, got 77", gpureduce_make(c, (gpureduce_dtype)77, 1, 0, &other));
  NO(GPUREDUCE_NULL, "the context is NULL", gpureduce_make(NULL, GPUREDUCE_F32, 1, 0, &other));
  NO(GPUREDUCE_NULL, "out is NULL", gpureduce_make(c, GPUREDUCE_F32, 1, 0, NULL));
  NO(GPUREDUCE_NULL, "the array is NULL", gpureduce_touch(NULL, 0, 0));
  NO(GPUREDUCE_NO_MEMORY, "out of memory", gpureduce_make(c, GPUREDUCE_F64, INT64_MAX, 0, &other));
  OK(gpureduce_copy(a, &other));
  int equal = 0;
  OK(gpureduce_equal(a, other, &equal));
  CHECK(equal);
  OK(gpureduce_fill(other, (gpureduce_number){.f = 2.5}));
  CHECK(reduced("sum", other, NULL) == 15);
  OK(gpureduce_copy(a, &other));
  CHECK(reduced("sum", other, NULL) == 57);
  NO(GPUREDUCE_BAD, "copy: out is the input", gpureduce_copy(a, &a));
  NO(GPUREDUCE_BAD, "out: f64[6] expected, got f64[3]", gpureduce_copy(a, &b));
  gpureduce_counts counts = {.size = sizeof counts};
  OK(gpureduce_usage(c, &counts));
  CHECK(counts.arrays == 2 && counts.live > 0 && counts.launches > 0);
  OK(gpureduce_trim(c));
  OK(gpureduce_wait(c));
  OK(gpureduce_drop(other));
  OK(gpureduce_drop(m));
  OK(gpureduce_close(c)); /* arrays that are left go on */
  CHECK(reduced("max", b, NULL) == 40);
  OK(gpureduce_drop(a));
  OK(gpureduce_drop(b));
  OK(gpureduce_drop(NULL));
}

/* ---- memory of the host's ---- */

static void test_memory(void) {
  gpureduce_context *c = open_one();
  float *block = malloc(12 * sizeof *block);
  for (int k = 0; k < 12; k++) block[k] = (float)k;
  gpureduce_memory memory = {.size = sizeof memory, .dtype = GPUREDUCE_F32, .data = block, .length = 12, .rows = 3,
                             .release = release, .user = block};
  gpureduce_array *a = NULL, *b = NULL;
  void *p = NULL;
  released = 0;
  OK(gpureduce_wrap(c, &memory, &a));
  CHECK(reduced("sum", a, NULL) == 66);
  block[0] = 100;
  OK(gpureduce_touch(a, 0, 1));
  CHECK(reduced("max", a, NULL) == 100);
  OK(gpureduce_host_pointer(a, GPUREDUCE_READ | GPUREDUCE_WRITE, &p));
  CHECK(p == block);
  ((float *)p)[1] = -7;
  CHECK(reduced("min", a, NULL) == -7);
  OK(gpureduce_device_pointer(a, GPUREDUCE_WRITE, NULL, &p));
  CHECK((p == block) == !strcmp(device, "cpu"));
  ((float *)p)[2] = -8;
  OK(gpureduce_device_done(a, NULL));
  CHECK(reduced("min", a, NULL) == -8);
  OK(gpureduce_host_pointer(a, GPUREDUCE_READ, &p));
  CHECK(block[2] == -8);
  NO(GPUREDUCE_BAD, "access: GPUREDUCE_READ, WRITE or WHOLE expected, got 8", gpureduce_host_pointer(a, 8, &p));
  OK(gpureduce_keep(a, &b));
  OK(gpureduce_drop(a));
  CHECK(released == 0);
  OK(gpureduce_drop(b));
  CHECK(released == 1);

  static const float fixed[] = {1, 0, 2, 0, 3};
  memory = (gpureduce_memory){.size = sizeof memory, .dtype = GPUREDUCE_F32, .flags = GPUREDUCE_READONLY,
                              .data = (void *)(size_t)fixed, .length = 3, .stride = 8};
  OK(gpureduce_wrap(c, &memory, &a));
  CHECK(reduced("sum", a, NULL) == 6);
  NO(GPUREDUCE_BAD, "the memory is read-only", gpureduce_fill(a, (gpureduce_number){.f = 1}));
  OK(gpureduce_drop(a));
  memory.size = 8;
  NO(GPUREDUCE_VERSION, "size of gpureduce_memory", gpureduce_wrap(c, &memory, &a));
  memory.size = sizeof memory;
  memory.stride = 6;
  NO(GPUREDUCE_BAD, "stride: multiple of 4 bytes expected, got 6", gpureduce_wrap(c, &memory, &a));
  memory.stride = 0;
  memory.data = (char *)memory.data + 1;
  NO(GPUREDUCE_BAD, "multiple of 4 expected", gpureduce_wrap(c, &memory, &a));
  memory.data = NULL;
  NO(GPUREDUCE_NULL, "data is NULL", gpureduce_wrap(c, &memory, &a));
  memory.flags = 64;
  memory.data = &memory;
  NO(GPUREDUCE_BAD, "unknown flags 0x40", gpureduce_wrap(c, &memory, &a));

  /* Memory of the device: of the pretend one it is any. */
  double *lent = malloc(4 * sizeof *lent);
  for (int k = 0; k < 4; k++) lent[k] = k + 1;
  memory = (gpureduce_memory){.size = sizeof memory, .dtype = GPUREDUCE_F64, .data = lent, .length = 4,
                              .device = device, .release = release, .user = lent};
  released = 0;
  if (!strcmp(device, "cpu")) {
    NO(GPUREDUCE_BAD, "device 'cpu' has no memory of its own", gpureduce_wrap(c, &memory, &a));
    free(lent);
  } else {
    gpureduce_counts before = {.size = sizeof before}, after = before;
    OK(gpureduce_usage(c, &before));
    OK(gpureduce_wrap(c, &memory, &a));
    CHECK(reduced("sum", a, NULL) == 10);
    OK(gpureduce_usage(c, &after));
    CHECK(after.bytes_up == before.bytes_up && after.bytes_down == before.bytes_down && after.live == before.live);
    OK(gpureduce_fill(a, (gpureduce_number){.f = 3}));
    CHECK(lent[3] == 3);
    OK(gpureduce_device_pointer(a, GPUREDUCE_READ, NULL, &p));
    CHECK(p == lent);
    OK(gpureduce_set(a, 0, 1, (const double[]){9}));
    CHECK(reduced("sum", a, NULL) == 18 && lent[0] == 9);
    OK(gpureduce_drop(a));
    CHECK(released == 1);
    memory.device = "cuda:7";
    NO(GPUREDUCE_BAD, "memory of device 'pretend' expected, got that of 'cuda:7'", gpureduce_wrap(c, &memory, &a));
    double gaps[] = {1, 50, 2, 60};
    memory = (gpureduce_memory){.size = sizeof memory, .dtype = GPUREDUCE_F64, .data = gaps, .length = 2, .stride = 16,
                                .device = device};
    OK(gpureduce_wrap(c, &memory, &a));
    CHECK(reduced("sum", a, NULL) == 3);
    CHECK(holds(a, 2, (const double[]){1, 2}));
    OK(gpureduce_set(a, 1, 1, (const double[]){5}));
    CHECK(reduced("sum", a, NULL) == 6 && gaps[1] == 50 && gaps[2] == 5);
    OK(gpureduce_fill(a, (gpureduce_number){.f = 7}));
    CHECK(gaps[0] == 7 && gaps[1] == 50 && gaps[2] == 7 && gaps[3] == 60);
    OK(gpureduce_drop(a));
  }
  OK(gpureduce_close(c));
}

/* ---- tensors ---- */

typedef struct numbered {
  gr_dl_versioned tensor;
  int64_t shape[2], strides[2];
} numbered;

static void deleted(gr_dl_versioned *t) {
  released++;
  free(t->owner);
}

/* Of 6 f64 as 2 x 3, with those strides. */
static gr_dl_versioned *tensor_of(double *x, int64_t down, int64_t along) {
  numbered *n = calloc(1, sizeof *n);
  *n = (numbered){.tensor = {GR_DL_MAJOR, GR_DL_MINOR, n, deleted, 0, {0}}, .shape = {2, 3}, .strides = {down, along}};
  n->tensor.tensor = (gr_dl_tensor){.data = x, .device = {!strcmp(device, "cpu") ? GR_DL_CPU : GR_DL_EXTENSION, 0},
                                    .dimensions = 2, .dtype = {GR_DL_FLOAT, 64, 1}, .shape = n->shape,
                                    .strides = n->strides};
  return &n->tensor;
}

/* Deleters in a thread of their own, while the context is at work. */
enum { OUT = 300 };
static _Atomic(gr_dl_versioned *) given[OUT];

static void *delete_all(void *unused) {
  for (int k = 0; k < OUT; k++) {
    gr_dl_versioned *t;
    while (!(t = given[k])) sched_yield();
    t->deleter(t);
  }
  return unused;
}

static void test_threads(void) {
  gpureduce_context *c = open_one();
  gpureduce_counts counts = {.size = sizeof counts};
  gpureduce_array *a = NULL;
  pthread_t thread;
  void *p = NULL;
  CHECK(pthread_create(&thread, NULL, delete_all, NULL) == 0);
  for (int k = 0; k < OUT; k++) {
    OK(gpureduce_make(c, GPUREDUCE_F32, 1000 + k, 0, &a));
    OK(gpureduce_to_dlpack(a, 0, NULL, &p));
    given[k] = p;
    CHECK(reduced("sum", a, NULL) == 0);
    OK(gpureduce_drop(a));
  }
  if (!strcmp(device, "cpu")) OK(gpureduce_close(c)); /* some are out still */
  CHECK(pthread_join(thread, NULL) == 0);
  if (!strcmp(device, "cpu")) return;
  OK(gpureduce_usage(c, &counts));
  CHECK(counts.arrays == 0 && counts.live == 0);
  OK(gpureduce_close(c));
}

static void test_tensors(void) {
  gpureduce_context *c = open_one();
  gpureduce_array *a = NULL, *b = NULL;
  gpureduce_info info = {.size = sizeof info};
  double x[6] = {1, 2, 3, 4, 5, 6};
  int transposed = -1;
  void *p = NULL;
  released = 0;
  OK(gpureduce_from_dlpack(c, tensor_of(x, 3, 1), 0, NULL, &a, &transposed));
  OK(gpureduce_describe(a, &info));
  CHECK(transposed == 0 && info.rows == 2 && info.length == 6 && !strcmp(info.device, device));
  OK(gpureduce_fill(a, (gpureduce_number){.f = 2}));
  CHECK(x[5] == 2 && released == 0);
  x[0] = 9;
  OK(gpureduce_touch(a, 0, 1));
  CHECK(reduced("sum", a, NULL) == 19);
  OK(gpureduce_drop(a));
  CHECK(released == 1);
  OK(gpureduce_from_dlpack(c, tensor_of(x, 1, 2), GPUREDUCE_READONLY, NULL, &a, &transposed));
  OK(gpureduce_describe(a, &info));
  CHECK(transposed == 1 && info.rows == 3);
  NO(GPUREDUCE_BAD, "the memory is read-only", gpureduce_fill(a, (gpureduce_number){.f = 1}));
  OK(gpureduce_drop(a));
  OK(gpureduce_from_dlpack(c, tensor_of(x, 0, 1), GPUREDUCE_COPIED, NULL, &a, &transposed));
  CHECK(released == 3 && reduced("sum", a, NULL) == 26);

  gr_dl_versioned *t = tensor_of(x, 4, 1);
  NO(GPUREDUCE_BAD, "without gaps between them", gpureduce_from_dlpack(c, t, 0, NULL, &b, &transposed));
  t->major = 3;
  NO(GPUREDUCE_BAD, "tensor of DLPack 1.x expected, got one of 3.1",
     gpureduce_from_dlpack(c, t, 0, NULL, &b, &transposed));
  NO(GPUREDUCE_BAD, "unknown flags 0x20", gpureduce_from_dlpack(c, t, 32, NULL, &b, &transposed));
  NO(GPUREDUCE_NULL, "tensor is NULL", gpureduce_from_dlpack(c, NULL, 0, NULL, &b, &transposed));
  NO(GPUREDUCE_NULL, "transposed is NULL", gpureduce_from_dlpack(c, t, 0, NULL, &b, NULL));
  CHECK(released == 3);
  t->deleter(t);

  /* To another context, and to none. */
  gpureduce_context *other = open_one();
  gpureduce_array *moved = NULL;
  gpureduce_parcel *parcel = NULL;
  const int before = released;
  for (int k = 0; k < 6; k++) x[k] = k;
  for (int arrives = 0; arrives < 2; arrives++) {
    OK(gpureduce_from_dlpack(c, tensor_of(x, 3, 1), 0, NULL, &moved, &transposed));
    OK(gpureduce_detach(moved, &parcel));
    OK(gpureduce_drop(moved));
    CHECK(released == before + arrives);
    if (!arrives) OK(gpureduce_discard(parcel));
    else {
      OK(gpureduce_attach(other, parcel, &moved));
      CHECK(reduced("sum", moved, NULL) == 15);
      OK(gpureduce_drop(moved));
    }
    CHECK(released == before + 1 + arrives);
  }
  OK(gpureduce_close(other));

  /* Out, and in again; then back when the context has been closed. */
  NO(GPUREDUCE_BAD, "unknown flags 0x2", gpureduce_to_dlpack(a, GPUREDUCE_CHANGING, NULL, &p));
  OK(gpureduce_to_dlpack(a, GPUREDUCE_UNVERSIONED, NULL, &p));
  OK(gpureduce_from_dlpack(c, p, GPUREDUCE_UNVERSIONED, NULL, &b, &transposed));
  OK(gpureduce_drop(a));
  CHECK(reduced("sum", b, NULL) == 26);
  OK(gpureduce_to_dlpack(b, GPUREDUCE_READONLY, NULL, &p));
  OK(gpureduce_drop(b));
  OK(gpureduce_close(c));
  t = p;
  CHECK(t->flags == GR_DL_READONLY && t->tensor.dimensions == 2 && ((const double *)t->tensor.data)[3] == 9);
  t->deleter(t);
}

/* ---- operations ---- */

static void test_operations(void) {
  gpureduce_context *c = open_one();
  const double x[6] = {3, 1, 2, 6, 5, 4}, y[6] = {1, 1, 1, 2, 2, 2};
  const int64_t positions[2] = {6, 1}, offsets[3] = {1, 3, 7};
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, x), *b = numbers(c, GPUREDUCE_F64, 6, y), *out = NULL, *out2 = NULL;
  gpureduce_array *index = numbers(c, GPUREDUCE_I64, 2, positions), *cut = numbers(c, GPUREDUCE_I64, 3, offsets);
  gpureduce_number r[3];
  gpureduce_options o = {.size = sizeof o};
  CHECK(reduced("dot", a, b) == 36);
  CHECK(reduced("argmax", a, NULL) == 4 && reduced("mean", a, NULL) == 3.5 && reduced("count", a, NULL) == 6);
  OK(gpureduce_reduce("minmax", a, NULL, NULL, r));
  CHECK(r[0].f == 1 && r[1].f == 6 && !r[0].whole && r[0].i == 1);
  OK(gpureduce_reduce("sum", index, NULL, NULL, r));
  CHECK(r[0].whole && r[0].i == 7 && r[0].f == 7);
  o.exact = 1;
  OK(gpureduce_reduce("sum", a, NULL, &o, r));
  CHECK(r[0].f == 21);
  o = (gpureduce_options){.size = sizeof o, .ddof = 1};
  OK(gpureduce_reduce("var", a, NULL, &o, r));
  CHECK(r[0].f == 3.5);
  o.ddof = 6;
  NO(GPUREDUCE_BAD, "ddof less than the length 6 expected, got 6", gpureduce_reduce("var", a, NULL, &o, r));
  NO(GPUREDUCE_BAD, "'sum' takes no ddof", gpureduce_reduce("sum", a, NULL, &o, r));
  NO(GPUREDUCE_BAD, "unknown operation 'summ' (there are: sum, prod,", gpureduce_reduce("summ", a, NULL, NULL, r));
  NO(GPUREDUCE_BAD, "'sum' takes one array", gpureduce_reduce("sum", a, b, NULL, r));
  NO(GPUREDUCE_BAD, "'dot' takes two arrays", gpureduce_reduce("dot", a, NULL, NULL, r));
  NO(GPUREDUCE_BAD, "b: f64[6] expected, got i64[2]", gpureduce_reduce("dot", a, index, NULL, r));
  NO(GPUREDUCE_BAD, "float dtype expected for 'sum_f32', got i64", gpureduce_reduce("sum_f32", index, NULL, NULL, r));
  NO(GPUREDUCE_NULL, "operation is NULL", gpureduce_reduce(NULL, a, NULL, NULL, r));

  o = (gpureduce_options){.size = sizeof o, .rows = 2};
  OK(gpureduce_reduce_each("sum", a, NULL, &o, &out, NULL));
  CHECK(holds(out, 2, (const double[]){6, 15}));
  o.axis = 1;
  NO(GPUREDUCE_BAD, "out: f64[3] expected, got f64[2]", gpureduce_reduce_each("sum", a, NULL, &o, &out, NULL));
  OK(gpureduce_drop(out));
  out = NULL;
  OK(gpureduce_reduce_each("minmax", a, NULL, &o, &out, &out2));
  CHECK(holds(out, 3, (const double[]){3, 1, 2}) && holds(out2, 3, (const double[]){6, 5, 4}));
  OK(gpureduce_drop(out2));
  OK(gpureduce_drop(out));
  out = out2 = NULL;
  o = (gpureduce_options){.size = sizeof o, .segments = cut};
  OK(gpureduce_reduce_each("sum", a, NULL, &o, &out, NULL));
  CHECK(holds(out, 2, (const double[]){4, 17}));
  NO(GPUREDUCE_BAD, "rows or segments expected", gpureduce_reduce_each("sum", a, NULL, NULL, &out, NULL));
  OK(gpureduce_drop(out));
  out = NULL;

  OK(gpureduce_scan("sum", a, NULL, &out));
  CHECK(holds(out, 6, (const double[]){3, 4, 6, 12, 17, 21}));
  o = (gpureduce_options){.size = sizeof o, .reverse = 1, .exclusive = 1};
  OK(gpureduce_scan("max", a, &o, &out));
  CHECK(holds(out, 6, (const double[]){6, 6, 6, 5, 4, -INFINITY}));
  NO(GPUREDUCE_BAD, "unknown operation 'mean' (there are: sum, prod, min, max)", gpureduce_scan("mean", a, NULL, &out));

  gpureduce_operand two[3] = {{.array = a}, {.number = {.f = 10}}, {.number = {.whole = 1, .i = 4}}};
  OK(gpureduce_map("mul", two, 2, NULL, &out));
  CHECK(holds(out, 6, (const double[]){30, 10, 20, 60, 50, 40}));
  OK(gpureduce_map("neg", two, 1, NULL, &out));
  CHECK(holds(out, 6, (const double[]){-3, -1, -2, -6, -5, -4}));
  two[1].number.f = 2;
  OK(gpureduce_map("clamp", two, 3, NULL, &out));
  CHECK(holds(out, 6, (const double[]){3, 2, 2, 4, 4, 4}));
  gpureduce_array *mask = NULL, *few = NULL;
  OK(gpureduce_map(">", two, 2, NULL, &mask));
  CHECK(reduced("sum", mask, NULL) == 4);
  gpureduce_operand choice[3] = {{.array = mask}, {.array = a}, {.number = {.f = -1}}};
  OK(gpureduce_map("where", choice, 3, NULL, &out));
  CHECK(holds(out, 6, (const double[]){3, -1, -1, 6, 5, 4}));
  OK(gpureduce_compact(a, mask, &few));
  CHECK(holds(few, 4, (const double[]){3, 6, 5, 4}));
  OK(gpureduce_drop(few));
  few = NULL;
  OK(gpureduce_take(a, index, &few));
  CHECK(holds(few, 2, (const double[]){4, 3}));
  OK(gpureduce_put("add", out, index, (gpureduce_operand){.number = {.f = 0.5}}));
  CHECK(holds(out, 6, (const double[]){3.5, -1, -1, 6, 5, 4.5}));
  NO(GPUREDUCE_BAD, "'add' takes 2 operands, got 1", gpureduce_map("add", two, 1, NULL, &out));
  NO(GPUREDUCE_BAD, "an operand: u8[6] expected, got f64[6]",
     gpureduce_map("add", (gpureduce_operand[]){{.array = mask}, {.array = a}}, 2, NULL, &out));
  NO(GPUREDUCE_BAD, "an array among the operands", gpureduce_map("add", two + 1, 2, NULL, &out));
  NO(GPUREDUCE_BAD, "dtype of integers expected, got f64", gpureduce_map("bnot", two, 1, NULL, &out));
  o = (gpureduce_options){.size = sizeof o, .dtype = GPUREDUCE_I64};
  gpureduce_array *cast = NULL;
  OK(gpureduce_map("cast", two, 1, &o, &cast));
  OK(gpureduce_reduce("sum", cast, NULL, NULL, r));
  CHECK(r[0].whole && r[0].i == 21);

  gpureduce_array *counts = NULL, *edges = NULL;
  OK(gpureduce_histogram(a, &(gpureduce_binning){.size = sizeof(gpureduce_binning), .bins = 2, .min = 0, .max = 4},
                         &counts, &edges));
  int64_t n[5];
  OK(gpureduce_get(counts, 0, 5, n));
  CHECK(n[0] == 1 && n[1] == 3 && n[2] == 0 && n[3] == 2 && n[4] == 0);
  CHECK(holds(edges, 3, (const double[]){0, 2, 4}));
  const gpureduce_binning none = {.size = sizeof none};
  NO(GPUREDUCE_BAD, "bins: 1 to", gpureduce_histogram(a, &none, &counts, &edges));
  OK(gpureduce_quantiles(a, (const double[]){0, 0.5, 1}, 3, NULL, r));
  CHECK(r[0].f == 1 && r[1].f == 3.5 && r[2].f == 6);
  NO(GPUREDUCE_BAD, "unknown method 'none'", gpureduce_quantiles(a, (const double[]){0}, 1, "none", r));
  gpureduce_array *m = NULL, *t = NULL, *s = NULL, *cov = NULL, *norm = NULL;
  OK(gpureduce_matrix(a, 2, &m));
  OK(gpureduce_transpose(m, &t));
  CHECK(holds(t, 6, (const double[]){3, 6, 1, 5, 2, 4}));
  OK(gpureduce_softmax(m, NULL, &s));
  CHECK(fabs(reduced("sum", s, NULL) - 2) < 1e-12);
  OK(gpureduce_rmsnorm(m, NULL, NULL, &norm));
  OK(gpureduce_covariance(m, NULL, 0, &cov));
  CHECK(holds(cov, 9, (const double[]){2.25, 3, 1.5, 3, 4, 2, 1.5, 2, 1}));
  o = (gpureduce_options){.size = sizeof o, .mask = mask}; /* of column 1 both rows, of the others the second */
  OK(gpureduce_covariance(m, &o, 0, &cov));
  CHECK(holds(cov, 9, (const double[]){2.25, 0, 0, 0, 0, 0, 0, 0, 0}));
  o = (gpureduce_options){.size = sizeof o, .skipnan = 1};
  OK(gpureduce_covariance(m, &o, 1, &cov));
  CHECK(holds(cov, 9, (const double[]){1, 1, 1, 1, 1, 1, 1, 1, 1}));
  o = (gpureduce_options){.size = sizeof o, .mask = few};
  NO(GPUREDUCE_BAD, "mask: u8[6] expected, got f64[2]", gpureduce_covariance(m, &o, 0, &cov));
  NO(GPUREDUCE_BAD, "a matrix expected, got a vector", gpureduce_transpose(a, &t));
  gpureduce_array *u = NULL;
  OK(gpureduce_random(c, "rand", GPUREDUCE_F32, 1000, 5, 0, &u));
  CHECK(fabs(reduced("mean", u, NULL) - 0.5) < 0.05);
  gpureduce_array *all[] = {a, b, out, index, cut, mask, few, cast, counts, edges, m, t, s, cov, norm, u};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) OK(gpureduce_drop(all[k]));
  OK(gpureduce_close(c));
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: capi_calls DEVICE\n"), 2;
  device = argv[1];
  test_arrays();
  test_memory();
  test_tensors();
  test_threads();
  test_operations();
  return ended();
}
