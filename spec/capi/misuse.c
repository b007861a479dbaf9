/*
** What no host should do, and what it is told: capi_misuse DEVICE. Handles that are gone are looked at in a checked
** build alone (make CHECKED=1), which -DGR_CHECKED says here as well. The last line says "ok". spec/capi_spec.lua runs
** it.
*/
#include "check.h"

#include <stdatomic.h>

/* A job system that calls the library from inside of a call, and from a thread of its own meanwhile. */
static gpureduce_context *inside;
static gpureduce_array *used;
static _Atomic int refused;

static void *meanwhile(void *arg) {
  gpureduce_number r;
  (void)arg;
  if (gpureduce_reduce("sum", used, NULL, NULL, &r) == GPUREDUCE_BUSY &&
      strstr(gpureduce_error(), "reduce: another call of this context is under way"))
    refused++;
  if (gpureduce_wait(inside) == GPUREDUCE_BUSY) refused++;
  return NULL;
}

static void run_job(void *user, int64_t pieces, void (*piece)(void *work, int64_t k), void *work) {
  pthread_t id;
  (void)user;
  pthread_create(&id, NULL, meanwhile, NULL);
  pthread_join(id, NULL);
  meanwhile(NULL);
  for (int64_t k = 0; k < pieces; k++) piece(work, k);
  piece(work, 0); /* once more than it may */
}

static void test_busy(void) {
  const gpureduce_config config = {.size = sizeof config, .device = device, .threads = 2, .run = run_job};
  OK(gpureduce_open(&config, &inside));
  OK(gpureduce_make(inside, GPUREDUCE_F64, 1 << 21, 0, &used));
  OK(gpureduce_fill(used, (gpureduce_number){.f = 1}));
  refused = 0;
  CHECK(reduced("sum", used, NULL) == 1 << 21);
  CHECK(refused >= 4);
  OK(gpureduce_drop(used));
  OK(gpureduce_close(inside));
}

/* The same while a script goes on: pieces of what it left for later come from a thread of the library's. */
static pthread_t home;
static _Atomic int strange;

static void run_away(void *user, int64_t pieces, void (*piece)(void *work, int64_t k), void *work) {
  (void)user;
  if (!pthread_equal(home, pthread_self())) {
    strange++;
    const int busy = gpureduce_wait(inside) == GPUREDUCE_BUSY;
    refused += busy && strstr(gpureduce_error(), "work that was left for later");
  }
  for (int64_t k = 0; k < pieces; k++) piece(work, k);
}

static void test_later(void) {
  const gpureduce_config config = {.size = sizeof config, .device = device, .threads = 2, .run = run_away};
  lua_State *L = luaL_newstate();
  home = pthread_self();
  refused = 0;
  luaL_openlibs(L);
  OK(gpureduce_configure(L, &config));
  lua_pushcfunction(L, luaopen_gpureduce);
  lua_call(L, 0, 1);
  lua_setglobal(L, "gr");
  OK(gpureduce_of_state(L, &inside));
  CHECK(luaL_dostring(L, "local x = gr.ones(2 ^ 21) local f = gr.async(gr.scan, x, 'sum', { into = x })\n"
                         "repeat until f:done() assert(x[2 ^ 21] == 2 ^ 21)") == 0);
  CHECK(refused == strange && (strange || strcmp(device, "cpu") != 0));
  lua_close(L);
}

static void test_states(void) {
  gpureduce_context *c = NULL;
  gpureduce_array *a = NULL;
  lua_State *L = luaL_newstate();
  const gpureduce_config wrong = {.size = 4};
  NO(GPUREDUCE_BAD, "not open in this Lua state", gpureduce_of_state(L, &c));
  NO(GPUREDUCE_NULL, "L is NULL", gpureduce_of_state(NULL, &c));
  NO(GPUREDUCE_NULL, "config is NULL", gpureduce_configure(L, NULL));
  NO(GPUREDUCE_VERSION, "size of config", gpureduce_configure(L, &wrong));
  const char *why = "";
  CHECK(gpureduce_table(L, &why) == NULL && strstr(why, "the module is not open"));
  /* A config that went around gpureduce_configure. */
  lua_pushlightuserdata(L, (void *)(size_t)&wrong);
  lua_setfield(L, LUA_REGISTRYINDEX, GPUREDUCE_CONFIG);
  lua_pushcfunction(L, luaopen_gpureduce);
  CHECK(lua_pcall(L, 0, 1, 0) != 0 && strstr(lua_tostring(L, -1), "gpureduce: config: size of config: "));
  lua_close(L);
  c = open_one();
  NO(GPUREDUCE_NULL, "the parcel is NULL", gpureduce_attach(c, NULL, &a));
  OK(gpureduce_make(c, GPUREDUCE_F32, 3, 0, &a));
  L = luaL_newstate();
  NO(GPUREDUCE_BAD, "not open in this Lua state", gpureduce_push(L, a));
  CHECK(lua_gettop(L) == 0 && gpureduce_test(L, 1) == NULL && gpureduce_test(NULL, 1) == NULL);
  lua_newuserdata(L, 64);
  CHECK(gpureduce_test(L, 1) == NULL);
  lua_close(L);
  OK(gpureduce_drop(a));
  OK(gpureduce_close(c));
  OK(gpureduce_close(NULL));
}

/* Two results need two places: one of them would be lost. */
static void test_places(void) {
  const double x[2] = {1, 2};
  const gpureduce_options rows = {.size = sizeof rows, .rows = 1};
  const gpureduce_binning bins = {.size = sizeof bins, .bins = 2};
  gpureduce_context *c = open_one();
  gpureduce_array *a = numbers(c, GPUREDUCE_F64, 2, x), *out = NULL;
  NO(GPUREDUCE_BAD, "out and out2 are one", gpureduce_reduce_each("minmax", a, NULL, &rows, &out, &out));
  NO(GPUREDUCE_BAD, "counts and edges are one", gpureduce_histogram(a, &bins, &out, &out));
  CHECK(out == NULL);
  OK(gpureduce_drop(a));
  OK(gpureduce_close(c));
}

#ifdef GR_CHECKED
static void test_gone(void) {
  gpureduce_context *c = open_one();
  gpureduce_array *a = NULL, *b = NULL;
  gpureduce_number r;
  gpureduce_parcel *parcel = NULL;
  char nothing[256];
  memset(nothing, 0x5a, sizeof nothing);
  OK(gpureduce_make(c, GPUREDUCE_F32, 3, 0, &a));
  OK(gpureduce_drop(a));
  NO(GPUREDUCE_UNKNOWN, "the array is no array that is alive", gpureduce_drop(a));
  NO(GPUREDUCE_UNKNOWN, "the array is no array that is alive", gpureduce_reduce("sum", a, NULL, NULL, &r));
  NO(GPUREDUCE_UNKNOWN, "no array", gpureduce_reduce("sum", (void *)nothing, NULL, NULL, &r));
  NO(GPUREDUCE_UNKNOWN, "no array", gpureduce_reduce("sum", (void *)(size_t)24, NULL, NULL, &r));
  OK(gpureduce_make(c, GPUREDUCE_F32, 3, 0, &a));
  NO(GPUREDUCE_UNKNOWN, "b is no array that is alive", gpureduce_reduce("dot", a, (void *)c, NULL, &r));
  NO(GPUREDUCE_UNKNOWN, "there is no such context", gpureduce_make((void *)a, GPUREDUCE_F32, 3, 0, &b));
  OK(gpureduce_detach(a, &parcel));
  NO(GPUREDUCE_UNKNOWN, "there is no such parcel", gpureduce_attach(c, (void *)a, &b));
  OK(gpureduce_attach(c, parcel, &b));
  NO(GPUREDUCE_UNKNOWN, "there is no such parcel", gpureduce_attach(c, parcel, &b));
  NO(GPUREDUCE_UNKNOWN, "there is no such parcel", gpureduce_discard(parcel));
  OK(gpureduce_drop(a));
  OK(gpureduce_drop(b));
  OK(gpureduce_close(c));
  NO(GPUREDUCE_UNKNOWN, "close: there is no such context", gpureduce_close(c));
  NO(GPUREDUCE_UNKNOWN, "there is no such context", gpureduce_stop(c, 1));

  /* A value of Lua that was borrowed, and collected; the context of a state that is closed. */
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushcfunction(L, luaopen_gpureduce);
  lua_call(L, 0, 1);
  OK(gpureduce_of_state(L, &c));
  lua_getfield(L, -1, "ones");
  lua_pushinteger(L, 3);
  lua_call(L, 1, 1);
  a = gpureduce_test(L, -1);
  CHECK(reduced("sum", a, NULL) == 3);
  lua_settop(L, 0);
  lua_gc(L, LUA_GCCOLLECT, 0);
  lua_gc(L, LUA_GCCOLLECT, 0);
  NO(GPUREDUCE_UNKNOWN, "no array that is alive", gpureduce_reduce("sum", a, NULL, NULL, &r));
  lua_close(L);
  NO(GPUREDUCE_UNKNOWN, "no such context", gpureduce_wait(c));
}
#else
static void test_gone(void) {}
#endif

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: capi_misuse DEVICE\n"), 2;
  device = argv[1];
  test_busy();
  test_later();
  test_states();
  test_places();
  test_gone();
  return ended();
}
