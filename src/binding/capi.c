/*
** Arrays between a host and Lua: values of Lua become handles, and handles values. The host's functions are none of the
** module's closures, so the context is found in the registry here.
*/
#include "src/binding/capi.h"

#include "src/binding/args.h"
#include "src/binding/keeper.h"
#include "src/binding/register.h"
#include "src/binding/results.h"
#include "src/capi/call.h"

#define SLOTS 8 /* of the stack, that any function here needs */

/* ---- the state ---- */

/* The open module's context, or NULL. */
static gr_context *context_of(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(instance));
  gr_context *const *c = lua_touserdata(L, -1);
  gr_context *found = c ? *c : NULL;
  lua_pop(L, 1);
  return found;
}

static int check_state(gr_capi *q, lua_State *L, gr_context **c) {
  if (!gr_capi_needs(q, L, "L")) return 0;
  if (!lua_checkstack(L, SLOTS)) return gr_capi_refuse(q, GPUREDUCE_NO_MEMORY, "no room on the stack of Lua");
  *c = context_of(L);
  return *c ? 1 : gr_capi_refuse(q, GPUREDUCE_BAD, "gpureduce is not open in this Lua state");
}

gpureduce_status gpureduce_configure(lua_State *L, const gpureduce_config *config) {
  gr_capi q = {.name = "configure"};
  if (!gr_capi_needs(&q, L, "L")) return q.status;
  if (!lua_checkstack(L, SLOTS)) gr_capi_refuse(&q, GPUREDUCE_NO_MEMORY, "no room on the stack of Lua");
  else if (context_of(L)) gr_capi_refuse(&q, GPUREDUCE_BAD, "gpureduce is open in this Lua state already");
  else q.status = gr_capi_check_config(config);
  if (q.status != GPUREDUCE_OK) return q.status;
  lua_pushlightuserdata(L, (void *)(uintptr_t)config);
  lua_setfield(L, LUA_REGISTRYINDEX, GPUREDUCE_CONFIG);
  return GPUREDUCE_OK;
}

const gpureduce_config *gr_l_config(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, GPUREDUCE_CONFIG);
  const gpureduce_config *config = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (config && gr_capi_check_config(config) != GPUREDUCE_OK) luaL_error(L, "gpureduce: %s", gpureduce_error());
  lua_pushnil(L);
  lua_setfield(L, LUA_REGISTRYINDEX, GPUREDUCE_CONFIG);
  return config;
}

gpureduce_status gpureduce_of_state(lua_State *L, gpureduce_context **out) {
  gr_capi q = {.name = "of_state"};
  gr_context *c;
  if (gr_capi_needs(&q, out, "out") && check_state(&q, L, &c)) {
    gr_handle_add(c, GR_HANDLE_CONTEXT);
    *out = (gpureduce_context *)(void *)c;
  }
  return q.status;
}

/* ---- values to handles ---- */

static gpureduce_array *borrow(gr_array *a) {
  gr_handle_add(a, GR_HANDLE_ARRAY);
  return (gpureduce_array *)(void *)a;
}

gpureduce_array *gpureduce_test(lua_State *L, int index) {
  gr_array *a = L ? gr_l_test_array(L, index) : NULL;
  return a && !gr_array_released(a) ? borrow(a) : NULL;
}

gpureduce_array *gpureduce_check(lua_State *L, int arg) {
  gr_array *a = gr_l_test_array(L, arg);
  const gr_array *any = a ? a : gr_l_test_transposed(L, arg);
  if (!any) {
    luaL_checkstack(L, SLOTS, "gpureduce");
    lua_pushfstring(L, "%s expected, got %s", GR_ARRAY_NAME, gr_l_kind(L, arg));
    luaL_argerror(L, arg, lua_tostring(L, -1));
  } else if (gr_array_released(any)) {
    luaL_argerror(L, arg, "array has been released");
  } else if (!a) {
    luaL_checkstack(L, SLOTS, "gpureduce");
    if (arg < 0) arg = lua_gettop(L) + 1 + arg;
    lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(order));
    lua_pushvalue(L, arg);
    lua_call(L, 1, 1);
    a = gr_l_test_array(L, -1);
    lua_replace(L, arg);
  }
  return borrow(a);
}

/* The transposed matrix at 1 as one that lies as others do. */
static int l_order(lua_State *L) {
  gr_l_check_array(L, 1);
  lua_settop(L, 1);
  return 1;
}

/* ---- handles to values ---- */

/* Finalizers may run while Lua makes room, so what the value shares is looked at again afterwards. */
gpureduce_status gpureduce_push(lua_State *L, const gpureduce_array *a) {
  gr_capi q;
  gr_context *c = NULL;
  if (gr_capi_begin(&q, "push", a) && check_state(&q, L, &c) && q.c != c)
    gr_capi_refuse(&q, GPUREDUCE_FOREIGN, "the array belongs to another context: a parcel moves it");
  if (gr_capi_end(&q) != GPUREDUCE_OK) return q.status;
  gr_l_reserve(L, c, 0);
  gr_array *view = gr_l_push_array_of(L, gr_l_state_of(c));
  if (gr_array_released(&a->array)) {
    lua_pop(L, 1);
    gr_capi_refuse(&q, GPUREDUCE_RELEASED, "the array has been released");
    return q.status;
  }
  gr_array_view(&a->array, view, 0, 1, a->array.n);
  view->rows = a->array.rows;
  return GPUREDUCE_OK;
}

gpureduce_status gpureduce_push_memory(lua_State *L, const gpureduce_memory *memory, int anchor) {
  gr_capi q = {.name = "push_memory"};
  gr_context *c;
  gr_wrapping kept = {0};
  if (!check_state(&q, L, &c) || !gr_capi_check_memory(&q, memory)) return q.status;
  if (anchor && memory->release) gr_capi_refuse(&q, GPUREDUCE_BAD, "an anchor takes no release");
  else if (anchor && (lua_isnone(L, anchor) || lua_isnil(L, anchor)))
    gr_capi_refuse(&q, GPUREDUCE_BAD, "there is no value to be the anchor at index %d", anchor);
  if (q.status != GPUREDUCE_OK) return q.status;
  if (anchor < 0 && anchor > LUA_REGISTRYINDEX) anchor = lua_gettop(L) + 1 + anchor;
  gr_l_forget_orphans(L, c);
  gr_l_reserve(L, c, 0);
  gr_array *a = gr_l_push_array_of(L, gr_l_state_of(c));
  if (anchor) gr_l_keep(L, c, anchor, &kept);
  if (gr_capi_begin_with(&q, "push_memory", (gpureduce_context *)(void *)c))
    GR_CAPI_TRY(&q, gr_capi_wrap(&q, memory, anchor ? &kept : NULL, a));
  if (gr_capi_end(&q) == GPUREDUCE_OK) return GPUREDUCE_OK;
  if (anchor) kept.release(kept.owner);
  lua_pop(L, 1);
  return q.status;
}

/* ---- the table ---- */

const char *gpureduce_version(void) { return GR_VERSION; }

static const gpureduce_api table = {.size = sizeof(gpureduce_api),
                                    .major = GPUREDUCE_MAJOR,
                                    .minor = GPUREDUCE_MINOR,
#define X(name) .name = gpureduce_##name,
                                    GPUREDUCE_FUNCTIONS(X)
#undef X
};

void gr_l_capi_open(lua_State *L) {
  static const gr_function order[] = {{"order", l_order, 0}, {NULL, NULL, 0}};
  const gpureduce_api **cell = gr_newuserdata(L, sizeof *cell);
  *cell = &table;
  lua_getfield(L, LUA_REGISTRYINDEX, GPUREDUCE_TABLE);
  const int is_first = lua_isnil(L, -1); /* of the copies of the module in this state */
  lua_pop(L, 1);
  if (is_first) {
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, GPUREDUCE_TABLE);
  }
  lua_setfield(L, -2, "_capi");
  lua_newtable(L);
  gr_l_register(L, order);
  lua_getfield(L, -1, "order");
  lua_setfield(L, LUA_REGISTRYINDEX, GR_OWN(order)); /* puts a transposed matrix in order */
  lua_pop(L, 1);
}

void gr_l_capi_hide(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(module));
  lua_pushliteral(L, "_capi");
  lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

void gr_l_capi_close(gr_context *c) {
  c->stop.sign = NULL; /* its hooks are those of a state that will be gone */
  c->stop.flag = NULL; /* and the host's flag may be */
  gr_handle_remove(c);
}
