/* gr.fromdlpack and gr.dlpack: arrays from and for other libraries of the process, without a copy. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "src/binding/cdata.h"
#include "src/binding/keeper.h"
#include "src/binding/matrix.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"
#include "src/binding/safe.h"
#include "src/core/dlpack.h"
#include "src/core/ops.h"

#define GR_DLPACK_NAME "gpureduce.dlpack"

/* A tensor that nobody has consumed yet, as a userdata; at is NULL afterwards. */
typedef struct capsule {
  gr_dl tensor;
  char what[64]; /* "f32[3], cpu" */
} capsule;

static int64_t option_stream(lua_State *L, int options) {
  int64_t stream = GR_DL_DEFAULT_STREAM;
  if (gr_l_option_int(L, options, "stream", &stream) && (stream < -1 || stream == 0))
    gr_l_argerror(L, options, "option 'stream': -1 (none), 1 (the default one), 2 or a handle expected, got %lld",
                  (long long)stream);
  return stream;
}

static int option_versioned(lua_State *L, int options) {
  return !gr_l_has_option(L, options, "versioned") || gr_l_option_flag(L, options, "versioned");
}

/* ---- in ---- */

/* What the two halves of gr.fromdlpack share. */
typedef struct import {
  gr_dl tensor;
  int is_capsule, done; /* done: the array has the tensor */
} import;

/*
** The half that may raise, with the import as light userdata in the place of the tensor: whatever it meets, the other
** half still has what calls the deleter.
*/
static int l_import(lua_State *L) {
  import *in = lua_touserdata(L, 1);
  gr_context *c = gr_l_context(L);
  int transposed = 0;
  gr_l_options(L, 2, "readonly", "volatile", "versioned", "copy", "stream");
  const gr_dl_options o = {.readonly = gr_l_option_flag(L, 2, "readonly"),
                           .changing = gr_l_option_flag(L, 2, "volatile"),
                           .copies = gr_l_option_flag(L, 2, "copy"),
                           .stream = option_stream(L, 2)};
  if (!in->is_capsule) in->tensor.versioned = option_versioned(L, 2);
  else if (gr_l_has_option(L, 2, "versioned")) gr_l_argerror(L, 2, "option 'versioned': a " GR_DLPACK_NAME " knows it");
  gr_array *a = gr_l_push_array(L);
  GR_TRY(L, c, 1, gr_dlpack_import(c, in->tensor, &o, a, &transposed));
  in->done = 1;
  if (transposed) gr_l_mark_transposed(L, a);
  return 1;
}

/* The error on top of the stack, at the line that called the function. */
static int raise_from_here(lua_State *L) {
  if (lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* gr.fromdlpack(tensor, {readonly, volatile, versioned, copy, stream}) */
static int l_fromdlpack(lua_State *L) {
  gr_context *c = gr_l_context(L);
import in = {{NULL, 1 }, 0, 0 };
  gr_cdata d;
  gr_l_needs_pointers(L, c);
  gr_l_forget_orphans(L, c);
  capsule *own = gr_l_test_object(L, 1, GR_OWN(dlpack));
  if (own && !own->tensor.at) gr_l_argerror(L, 1, GR_DLPACK_NAME " has been consumed");
  if (own) in.tensor = own->tensor, in.is_capsule = 1, own->tensor.at = NULL;
  else in.tensor.at = (void *)gr_l_check_address(L, 1, GR_DLPACK_NAME, &d);
  lua_settop(L, 2);
  lua_rawgeti(L, LUA_REGISTRYINDEX, gr_l_state_of(c)->importer);
  lua_pushlightuserdata(L, &in);
  lua_pushvalue(L, 2);
  if (lua_pcall(L, 2, 1, 0) == 0) return 1;
  if (!in.done) gr_dl_delete(in.tensor);
  gr_dlpack_settle(c);
  return raise_from_here(L);
}

/* ---- out ---- */

/* A copy on the device in use takes the place of the array at 1. */
static gr_array *copy_first(lua_State *L, gr_context *c) {
  const gr_array *a = gr_l_check_array(L, 1);
  const int64_t rows = a->rows;
  gr_array *copy = gr_l_new_array(L, c, a->dtype, a->n);
  GR_TRY(L, c, 1, gr_copy(c, a, copy));
  copy->rows = rows;
  lua_replace(L, 1);
  return copy;
}

/* a:dlpack{versioned, readonly, copy, stream} */
static int l_dlpack(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_l_needs_pointers(L, c);
  const gr_array *a = gr_l_check_any_array(L, 1);
  int transposed = gr_l_test_transposed(L, 1) != NULL;
  gr_l_options(L, 2, "versioned", "readonly", "copy", "stream");
  const gr_dl_options o = {.readonly = gr_l_option_flag(L, 2, "readonly"),
                           .copies = gr_l_option_flag(L, 2, "copy"),
                           .stream = option_stream(L, 2)};
  const int versioned = option_versioned(L, 2);
  gr_l_forget_orphans(L, c);
  if (o.copies) a = copy_first(L, c), transposed = 0;
  capsule *d = gr_newuserdata(L, sizeof *d);
  *d = (capsule){{NULL, 0}, ""};
  luaL_setmetatable(L, GR_OWN(dlpack));
  GR_TRY(L, c, 1, gr_dlpack_export(c, a, transposed, versioned, &o, &d->tensor));
  snprintf(d->what, sizeof d->what, "%s[%lld], %s", gr_dtypes[a->dtype].name, (long long)a->n,
           a->storage->queue->backend->name);
  return 1;
}

static capsule *check_full(lua_State *L) {
  capsule *d = gr_l_check_object(L, 1, GR_OWN(dlpack));
  if (!d->tensor.at) gr_l_argerror(L, 1, GR_DLPACK_NAME " has been consumed");
  return d;
}

static int push_pointer(lua_State *L, void *p) {
  if (gr_l_number(L)) lua_pushinteger(L, (lua_Integer)(intptr_t)p);
  else lua_pushlightuserdata(L, p);
  return 1;
}

/* d:pointer(), d:address(): light userdata, and the same as a number. */
static int l_pointer(lua_State *L) { return push_pointer(L, check_full(L)->tensor.at); }

/* d:consume(): from here on the deleter is for whoever has the pointer to call. */
static int l_consume(lua_State *L) {
  check_full(L)->tensor.at = NULL;
  return 0;
}

/* d:release(), __gc and __close: calls the deleter unless it has been consumed. */
static int l_release(lua_State *L) {
  capsule *d = gr_l_check_object(L, 1, GR_OWN(dlpack));
  const gr_dl tensor = d->tensor;
  d->tensor.at = NULL;
  gr_dl_delete(tensor);
  gr_l_forget_orphans(L, gr_l_context(L));
  return 0;
}

/*
** Python's capsules of such tensors have a destructor, which a program in Python cannot write: an error may be on its
** way there, which has to be kept. The functions that it takes are found by name in a process that has Python.
*/
static struct {
  int (*is_valid)(void *object, const char *name);
  void *(*pointer)(void *object, const char *name);
  void (*fetch)(void **, void **, void **);
  void (*restore)(void *, void *, void *);
} python;

static void destroy_capsule(void *object) {
  static const char *const names[] = {"dltensor", "dltensor_versioned"}; /* others have been consumed */
  void *type, *value, *trace;
  python.fetch(&type, &value, &trace);
  for (int versioned = 0; versioned < 2; versioned++)
    if (python.is_valid(object, names[versioned]))
      gr_dl_delete((gr_dl){python.pointer(object, names[versioned]), versioned});
  python.restore(type, value, trace);
}

static void find_python(void) {
  static const char *const names[] = {"PyCapsule_IsValid", "PyCapsule_GetPointer", "PyErr_Fetch", "PyErr_Restore"};
  void *found[4];
  int count = 0;
  for (int k = 0; k < 4; k++) count += (found[k] = dlsym(RTLD_DEFAULT, names[k])) != NULL;
  if (count == 4) memcpy(&python, found, sizeof python);
}

/* d:destructor(): its address, for PyCapsule_New. */
static int l_destructor(lua_State *L) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  check_full(L);
  pthread_once(&once, find_python);
  if (!python.fetch) return luaL_error(L, "gpureduce: there is no Python in this process");
  lua_pushinteger(L, (lua_Integer)(intptr_t)destroy_capsule);
  return 1;
}

static int l_tostring(lua_State *L) {
  const capsule *d = gr_l_check_object(L, 1, GR_OWN(dlpack));
  lua_pushfstring(L, GR_DLPACK_NAME " (%s)", d->tensor.at ? d->what : "consumed");
  return 1;
}

const gr_function gr_dlpack_functions[] = {{"fromdlpack", l_fromdlpack, 0}, {"dlpack", l_dlpack, 0}, {NULL, NULL, 0}};

static const gr_function methods[] = {{"pointer", l_pointer, 0}, {"address", l_pointer, 1},
                                      {"consume", l_consume, 0}, {"destructor", l_destructor, 0},
                                      {"release", l_release, 0}, {NULL, NULL, 0}};

static const gr_function metamethods[] = {
    {"__gc", l_release, 0}, {"__close", l_release, 0}, {"__tostring", l_tostring, 0}, {NULL, NULL, 0}};

static const gr_function importer[] = {{"fromdlpack", l_import, 0}, {NULL, NULL, 0}};

void gr_l_dlpack_metatable(lua_State *L, gr_context *c) {
  gr_l_make_metatable(L, GR_OWN(dlpack), methods, metamethods);
  lua_newtable(L);
  gr_l_register(L, importer);
  lua_getfield(L, -1, "fromdlpack");
  gr_l_state_of(c)->importer = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pop(L, 1);
}
