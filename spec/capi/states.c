/*
** Contexts, of Lua states and others, in one process: capi_states DEVICE. Each check that fails says where; the last
** line says "ok". spec/capi_spec.lua runs it.
*/
#include "check.h"

/* A DLManagedTensorVersioned, as https://dmlc.github.io/dlpack/latest/c_api.html has it. */
typedef struct dl_versioned {
  uint32_t major, minor;
  void *owner;
  void (*deleter)(struct dl_versioned *);
  uint64_t flags;
  void *data;
  int32_t device, number, dimensions;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_versioned;

/* ---- Lua ---- */

static lua_State *new_state(const gpureduce_config *config) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  if (config) OK(gpureduce_configure(L, config));
  lua_pushcfunction(L, luaopen_gpureduce);
  if (lua_pcall(L, 0, 1, 0) != 0) {
    printf("open: %s\n", lua_tostring(L, -1));
    exit(1);
  }
  lua_setglobal(L, "gr");
  return L;
}

static void run(lua_State *L, const char *text) {
  if (luaL_loadstring(L, text) != 0 || lua_pcall(L, 0, 0, 0) != 0)
    failures++, printf("%s: %s\n", text, lua_tostring(L, -1)), lua_pop(L, 1);
}

/* The text raises an error that says this. */
static void refuse(lua_State *L, const char *text, const char *expected) {
  if (luaL_loadstring(L, text) == 0 && lua_pcall(L, 0, 0, 0) == 0) {
    failures++, printf("%s: no error\n", text);
    return;
  }
  const char *said = lua_tostring(L, -1);
  if (!strstr(said, expected)) failures++, printf("%s: '%s' in '%s'\n", text, expected, said);
  lua_pop(L, 1);
}

/* twice(a): a function of the host, in C, for scripts. */
static int l_twice(lua_State *L) {
  gpureduce_array *a = gpureduce_check(L, 1), *out = NULL;
  const gpureduce_operand both[2] = {{.array = a}, {.number = {.f = 2}}};
  if (gpureduce_map("mul", both, 2, NULL, &out) != GPUREDUCE_OK || gpureduce_push(L, out) != GPUREDUCE_OK) {
    gpureduce_drop(out);
    return luaL_error(L, "%s", gpureduce_error());
  }
  gpureduce_drop(out);
  return 1;
}

static void test_lua(void) {
  const gpureduce_config config = {.size = sizeof config, .device = device, .bytes = 1 << 20, .elements = 100000};
  lua_State *L = new_state(&config), *other = new_state(NULL);
  gpureduce_context *c = NULL, *c2 = NULL;
  const gpureduce_api *api = gpureduce_table(L, NULL);
  CHECK(api && api->size == sizeof *api);
  OK(gpureduce_of_state(L, &c));
  OK(gpureduce_of_state(other, &c2));
  CHECK(c != c2);
  lua_register(L, "twice", l_twice);
  run(L, "assert(gr._capi) assert(gr.backend() == select(1, gr.backend()))");
  run(L, "assert(twice(gr.array { 1, 2, 3 }):sum() == 12)");
  refuse(L, "twice(5)", "gpureduce.array expected, got number");
  refuse(L, "local a = gr.ones(3) a:release() twice(a)", "array has been released");
  run(L, "X = twice(gr.array({ 1, 2, 3, 4, 5, 6 }):matrix(2):transpose()) assert(X[3][2] == 12 and #X == 6)");
  refuse(L, "gr.zeros(100001)", "100000 elements of an array at most, as the host says, got 100001");
  refuse(L, "local a = gr.ones(90000, 'f64') gr.ones(90000, 'f64')", "arrays of 1.0 MiB at most, as the host says");

  static float shared[] = {1, 2, 3, 4};
  gpureduce_memory memory = {.size = sizeof memory, .dtype = GPUREDUCE_F32, .data = shared, .length = 4};
  OK(gpureduce_push_memory(L, &memory, 0));
  lua_setglobal(L, "shared");
  run(L, "assert(shared:sum() == 10) shared[1] = 11");
  lua_getglobal(L, "shared");
  gpureduce_array *borrowed = gpureduce_test(L, -1), *kept = NULL;
  void *p = NULL;
  CHECK(borrowed);
  OK(gpureduce_host_pointer(borrowed, GPUREDUCE_READ, &p));
  CHECK(p == shared && shared[0] == 11);
  NO(GPUREDUCE_BAD, "borrowed from a Lua state", gpureduce_drop(borrowed));
  NO(GPUREDUCE_FOREIGN, "belongs to another context", gpureduce_push(other, borrowed));
  OK(gpureduce_keep(borrowed, &kept));
  lua_pop(L, 1);
  run(L, "shared:release() collectgarbage()");
  CHECK(reduced("sum", kept, NULL) == 20);
  CHECK(gpureduce_test(L, 1) == NULL);
  lua_pushstring(L, "anchor");
  const int top = lua_gettop(L);
  OK(gpureduce_push_memory(L, &memory, -1));
  CHECK(lua_gettop(L) == top + 1);
  lua_settop(L, 0);
  NO(GPUREDUCE_BAD, "no value to be the anchor at index 9", gpureduce_push_memory(L, &memory, 9));
  CHECK(lua_gettop(L) == 0);
  run(L, "gr.safe { bytes = 2^30, elements = 2^30 } assert(gr._capi == nil)");
  refuse(L, "gr.zeros(100001)", "100000 elements of an array at most, as gr.safe says");
  CHECK(gpureduce_table(L, NULL) == api);
  NO(GPUREDUCE_BAD, "open in this Lua state already", gpureduce_configure(L, &config));
  NO(GPUREDUCE_BAD, "that of a Lua state, and closes with it", gpureduce_close(c));
  lua_close(L);
  CHECK(reduced("sum", kept, NULL) == 20); /* what the host has of a state outlives it */
  OK(gpureduce_drop(kept));

  /* A script's array goes to the other state. */
  L = new_state(NULL);
  run(L, "a = gr.arange(1, 1000)");
  lua_getglobal(L, "a");
  gpureduce_parcel *parcel = NULL;
  gpureduce_array *arrived = NULL;
  OK(gpureduce_detach(gpureduce_test(L, -1), &parcel));
  lua_pop(L, 1);
  refuse(L, "gr.sum(a)", "array has been released");
  lua_close(L);
  OK(gpureduce_attach(c2, parcel, &arrived));
  OK(gpureduce_push(other, arrived));
  OK(gpureduce_drop(arrived));
  lua_setglobal(other, "a");
  run(other, "assert(a:sum() == 500500)");
  lua_close(other);
}

/* ---- parcels ---- */

static void *receive(void *arg) {
  gpureduce_context *c = open_one();
  gpureduce_array *a = NULL;
  static double sum;
  OK(gpureduce_attach(c, arg, &a));
  sum = reduced("sum", a, NULL);
  OK(gpureduce_drop(a));
  OK(gpureduce_close(c));
  return &sum;
}

static void test_parcels(void) {
  gpureduce_context *c = open_one(), *d = open_one();
  const double x[4] = {1, 2, 3, 4};
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 4, x), *b = numbers(d, GPUREDUCE_F64, 4, x), *view = NULL;
  gpureduce_parcel *parcel = NULL;
  gpureduce_number r;
  void *sum = NULL;
  NO(GPUREDUCE_FOREIGN, "b belongs to another context", gpureduce_reduce("dot", a, b, NULL, &r));
  OK(gpureduce_view(a, 1, 1, 3, &view));
  OK(gpureduce_detach(view, &parcel)); /* a has the elements, too: a copy goes */
  NO(GPUREDUCE_RELEASED, "has been released", gpureduce_reduce("sum", view, NULL, NULL, &r));
  OK(gpureduce_drop(view));
  pthread_t thread;
  pthread_create(&thread, NULL, receive, parcel);
  CHECK(reduced("sum", a, NULL) == 10);
  pthread_join(thread, &sum);
  CHECK(*(double *)sum == 9);
  OK(gpureduce_detach(a, &parcel));
  OK(gpureduce_drop(a));
  OK(gpureduce_close(c));
  OK(gpureduce_limit(d, 16, 0, 0));
  NO(GPUREDUCE_NO_MEMORY, "arrays of 16 bytes at most, as the host says", gpureduce_attach(d, parcel, &a));
  OK(gpureduce_limit(d, 0, 0, 0));
  OK(gpureduce_attach(d, parcel, &a));
  CHECK(reduced("dot", a, b) == 30);
  OK(gpureduce_detach(a, &parcel));
  OK(gpureduce_discard(parcel));
  OK(gpureduce_discard(NULL));
  OK(gpureduce_drop(a));

  double *block = malloc(sizeof x);
  memcpy(block, x, sizeof x);
  const gpureduce_memory memory = {.size = sizeof memory, .dtype = GPUREDUCE_F64, .data = block, .length = 4,
                                   .release = release, .user = block};
  released = 0;
  OK(gpureduce_wrap(d, &memory, &a));
  OK(gpureduce_detach(a, &parcel));
  OK(gpureduce_drop(a));
  OK(gpureduce_discard(parcel));
  CHECK(released == 1);
  OK(gpureduce_drop(b));
  OK(gpureduce_close(d));
}

/* ---- DLPack ---- */

static void *give_back(void *tensor) {
  dl_versioned *t = tensor;
  t->deleter(t);
  return NULL;
}

static int deleted;
static void count_deleted(dl_versioned *t) {
  (void)t;
  deleted++;
}

static void test_dlpack(void) {
  gpureduce_context *c = open_one();
  const double x[6] = {1, 2, 3, 4, 5, 6};
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 6, x), *m = NULL, *b = NULL;
  dl_versioned *t = NULL;
  void *tensor = NULL;
  OK(gpureduce_matrix(a, 2, &m));
  OK(gpureduce_to_dlpack(m, 1, 0, 1, &tensor));
  t = tensor;
  CHECK(t->major == 1 && t->dimensions == 2 && t->shape[0] == 2 && t->shape[1] == 3 && t->code == 2 && t->bits == 64);
  OK(gpureduce_from_dlpack(c, tensor, 1, 0, 1, &b)); /* into another array of the same memory */
  OK(gpureduce_fill(b, (gpureduce_number){.f = 2}));
  if (!strcmp(device, "cpu")) CHECK(reduced("sum", a, NULL) == 12);
  OK(gpureduce_drop(b));

  OK(gpureduce_to_dlpack(a, 1, GPUREDUCE_READONLY, 1, &tensor)); /* it outlives its array, and ends elsewhere */
  OK(gpureduce_drop(a));
  OK(gpureduce_drop(m));
  pthread_t thread;
  pthread_create(&thread, NULL, give_back, tensor);
  pthread_join(thread, NULL);

  int64_t shape[2] = {2, 3}, strides[2] = {1, 2};
  dl_versioned mine = {.major = 1, .deleter = count_deleted, .data = (void *)(size_t)x, .device = 1, .dimensions = 2,
                       .code = 2, .bits = 64, .lanes = 1, .shape = shape, .strides = strides};
  b = NULL;
  OK(gpureduce_from_dlpack(c, &mine, 1, GPUREDUCE_READONLY, 1, &b)); /* column by column: put in order */
  CHECK(holds(b, 6, (const double[]){1, 3, 5, 2, 4, 6}) && deleted == 1);
  OK(gpureduce_drop(b));
  strides[0] = 3;
  strides[1] = 1;
  OK(gpureduce_from_dlpack(c, &mine, 1, GPUREDUCE_READONLY, 1, &b));
  CHECK(deleted == 1 && reduced("sum", b, NULL) == 21);
  NO(GPUREDUCE_BAD, "read-only", gpureduce_fill(b, (gpureduce_number){.f = 2}));
  OK(gpureduce_drop(b));
  CHECK(deleted == 2);
  mine.major = 9;
  NO(GPUREDUCE_BAD, "tensor of DLPack 1.x expected, got one of 9.0", gpureduce_from_dlpack(c, &mine, 1, 0, 1, &b));
  NO(GPUREDUCE_NULL, "tensor is NULL", gpureduce_from_dlpack(c, NULL, 1, 0, 1, &b));
  NO(GPUREDUCE_BAD, "stream: -1, 1, 2 or a handle expected, got 0", gpureduce_from_dlpack(c, &mine, 1, 0, 0, &b));
  NO(GPUREDUCE_BAD, "unknown flags 0x10", gpureduce_from_dlpack(c, &mine, 1, 16, 1, &b));
  CHECK(deleted == 2);
  OK(gpureduce_close(c));
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: capi_states DEVICE\n"), 2;
  device = argv[1];
  test_lua();
  test_parcels();
  test_dlpack();
  return ended();
}
