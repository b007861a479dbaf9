/*
** Contexts, of Lua states and others, in one process: capi_states DEVICE. Each check that fails says where; the last
** line says "ok". spec/capi_spec.lua runs it.
*/
#include <sched.h>
#include <stdatomic.h>

#include "../../src/core/dlpack_abi.h"
#include "check.h"

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
  run(L, "local x = gr.ones(90000) for _ = 1, 200 do F = gr.async(gr.scan, x, 'sum', { into = x }) end");
  OK(gpureduce_wait(c));
  run(L, "assert(F:done()) F = nil collectgarbage()");
  run(L, "gr.gc { limit = 2^19 }");
  refuse(L, "gr.ones(90000, 'f64')", "arrays of 512.0 KiB at most, as gr.gc says");
  OK(gpureduce_limit(c, 1 << 20, 100000, 0));
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

/* ---- tensors that outlive their state ---- */

enum { OUT = 400 };
static gr_dl_versioned *_Atomic given[OUT];

static void *delete_all(void *unused) {
  for (int k = 0; k < OUT; k++) {
    gr_dl_versioned *t;
    while (!(t = atomic_exchange(&given[k], NULL))) sched_yield();
    t->deleter(t);
  }
  return unused;
}

/* Another thread brings back what the state has lent out, and what is lent out still, while this one goes on with what
   it has kept: no call is refused for that, and the last to go takes the context along. */
static void test_late_tensors(void) {
  lua_State *L = new_state(NULL);
  gpureduce_array *kept = NULL, *view = NULL;
  pthread_t thread;
  void *p = NULL;
  run(L, "kept = gr.arange(1, 1000) lent = {} for k = 1, 200 do lent[k] = gr.zeros(500 + k) end");
  lua_getglobal(L, "kept");
  OK(gpureduce_keep(gpureduce_test(L, -1), &kept));
  lua_getglobal(L, "lent");
  for (int k = 0; k < OUT / 2; k++) {
    lua_rawgeti(L, -1, k + 1);
    OK(gpureduce_to_dlpack(gpureduce_test(L, -1), 0, NULL, &p));
    atomic_store(&given[k], p);
    lua_pop(L, 1);
  }
  lua_close(L);
  CHECK(pthread_create(&thread, NULL, delete_all, NULL) == 0);
  for (int k = OUT / 2; k < OUT; k++) {
    CHECK(reduced("sum", kept, NULL) == 500500);
    OK(gpureduce_view(kept, k, 1, 2, &view));
    OK(gpureduce_to_dlpack(view, 0, NULL, &p));
    atomic_store(&given[k], p);
    CHECK(reduced("sum", view, NULL) == 2 * k + 3);
    OK(gpureduce_drop(view));
  }
  OK(gpureduce_drop(kept));
  CHECK(pthread_join(thread, NULL) == 0);
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: capi_states DEVICE\n"), 2;
  device = argv[1];
  test_lua();
  test_parcels();
  for (int k = 0; k < 5; k++) test_late_tensors();
  return ended();
}
