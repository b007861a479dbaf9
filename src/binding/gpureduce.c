/* luaopen_gpureduce: the module table, the context in the registry, the parts. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/backend/cpu.h"
#include "src/backends.h"
#include "src/binding/capi.h"
#include "src/binding/embedded.h"
#include "src/binding/keeper.h"
#include "src/binding/lazy.h"
#include "src/binding/operator.h"
#include "src/binding/options.h"
#include "src/binding/parts.h"
#include "src/binding/ranks.h"
#include "src/binding/reduce.h"
#include "src/binding/results.h"
#include "src/binding/stop.h"
#include "src/binding/when.h"
#include "src/capi/call.h"
#include "src/core/dlpack.h"
#include "src/core/explain.h"
#include "src/core/later.h"

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* parts.hint(given, names): " (did you mean 'x'?)" or "", for the option checks of the Lua parts. */
static int l_hint(lua_State *L) {
  enum { MOST = 1000 };
  const char *names[MOST + 1], *given = luaL_checkstring(L, 1);
  char text[GR_HINT];
  int n = (int)lua_rawlen(L, 2);
  if (n > MOST) n = MOST;
  lua_settop(L, 2);
  luaL_checkstack(L, MOST, "names");
  for (int k = 0; k < n; k++) {
    gr_rawgeti(L, 2, k + 1);
    names[k] = lua_tostring(L, -1);
  }
  names[n] = NULL;
  lua_pushstring(L, gr_l_hint(given, names, text));
  return 1;
}

/* parts.raise(text): an error at the line that called the module, however many of its Lua parts lie between. */
static int l_raise_here(lua_State *L) {
  luaL_checkstring(L, 1);
  lua_settop(L, 1);
  return gr_l_error_outside(L, 0);
}

/* parts.kind(value): what it is, in words. */
static int l_kind(lua_State *L) {
  lua_settop(L, 1);
  lua_pushstring(L, lua_isnil(L, 1) ? "no value" : gr_l_kind(L, 1));
  return 1;
}

/* Whether the metatable of argument 1, which is hidden, is the one of that name. */
static int has_metatable(lua_State *L, const char *name) {
  luaL_getmetatable(L, name);
  lua_pushboolean(L, lua_getmetatable(L, 1) && lua_rawequal(L, -1, -2));
  return 1;
}

/* parts.is_histogram(value), parts.is_histogram2d(value) */
static int l_is_histogram(lua_State *L) { return has_metatable(L, GR_OWN(histogram)); }
static int l_is_histogram2d(lua_State *L) { return has_metatable(L, GR_OWN(histogram2d)); }

/* parts.inherits(table): whether its metatable, hidden or not, has an __index. */
static int l_inherits(lua_State *L) {
  lua_pushboolean(L, gr_l_inherits(L, 1));
  return 1;
}

/* parts.is_dtype(name) */
static int l_is_dtype(lua_State *L) {
  lua_pushboolean(L, gr_l_is_dtype(L, 1));
  return 1;
}

/* parts.dtype_hint(name): the same for what should be a dtype. */
static int l_dtype_hint(lua_State *L) {
  char text[GR_HINT];
  lua_pushstring(L, gr_l_dtype_hint(luaL_checkstring(L, 1), text));
  return 1;
}

/* parts.terminal(): the columns of the terminal that shows the output, or nil. */
static int l_terminal(lua_State *L) {
  struct winsize size;
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  lua_pushinteger(L, size.ws_col);
  return 1;
}

static void load_embedded(lua_State *L, const gr_embedded *e) {
  lua_pushfstring(L, "=gpureduce.%s", e->name);
  if (luaL_loadbuffer(L, e->text, strlen(e->text), lua_tostring(L, -1)) != 0) lua_error(L);
  lua_remove(L, -2);
}

/* Copies what the table below the top has by strings into the table at the top: one level, without metamethods. */
static void copy_fields(lua_State *L) {
  for (lua_pushnil(L); lua_next(L, -3); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
  }
}

/*
** The globals that the Lua parts see, as they are now: a part is read when it is first used, and by then a script may
** have put functions of its own in the place of Lua's. Methods of strings do not go by them, so parts call none.
*/
static void push_environment(lua_State *L) {
  static const char *const names[] = {
      "assert",       "debug",  "error", "getmetatable", "io",       "ipairs", "jit",    "math",    "next",
      "os",           "pairs",  "pcall", "rawequal",     "rawget",   "rawset", "rawlen", "require", "select",
      "setmetatable", "string", "table", "tonumber",     "tostring", "type",   "unpack", "utf8"};
  lua_newtable(L);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    lua_pushstring(L, names[k]);
    lua_pushvalue(L, -1);
    gr_push_globals(L);
    lua_insert(L, -2);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    if (lua_istable(L, -1)) {
      lua_newtable(L);
      copy_fields(L);
      lua_remove(L, -2);
    }
    lua_rawset(L, -3);
  }
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "_G");
}

/*
** parts.NAME where nothing of that name is there yet: the part is run with the module and the table of all parts, and
** what it returns is kept. Most programs never draw, and their collector need not walk through code that does.
** Upvalues: the module, the environment.
*/
static int l_part(lua_State *L) {
  const char *name = lua_tostring(L, 2);
  const gr_embedded *e = gr_embedded_parts;
  while (e->name && (!name || strcmp(e->name, name) != 0)) e++;
  if (!e->name) return 0;
  load_embedded(L, e);
  lua_pushvalue(L, lua_upvalueindex(2));
  gr_set_environment(L, -2);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 1);
  lua_call(L, 2, 1);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, 1);
  return 1;
}

/* Leaves the table of the module's Lua parts, which is above the module, and has the module's functions in Lua made. */
static void open_parts(lua_State *L, gr_context *c) {
  static const gr_function own[] = {
      {"hint", l_hint, 0},
      {"raise", l_raise_here, 0},
      {"is_dtype", l_is_dtype, 0},
      {"kind", l_kind, 0},
      {"inherits", l_inherits, 0},
      {"is_histogram", l_is_histogram, 0},
      {"is_histogram2d", l_is_histogram2d, 0},
      {"dtype_hint", l_dtype_hint, 0},
      {"terminal", l_terminal, 0},
      {NULL, NULL, 0},
  };
  lua_newtable(L);
  gr_l_brief_parts(L, c);
  gr_l_register(L, gr_file_parts);
  gr_l_register(L, gr_help_parts);
  gr_l_register(L, gr_stop_parts);
  gr_l_register(L, own);
  lua_newtable(L);
  lua_pushvalue(L, -3);
  push_environment(L);
  lua_pushcclosure(L, l_part, 2);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_getfield(L, -1, "entries");
  lua_pop(L, 1);
}

static int l_context_gc(lua_State *L) {
  gr_context **c = lua_touserdata(L, 1);
  gr_context *own = *c;
  *c = NULL;
  if (!own) return 0;
  gr_l_capi_close(own);
  gr_later_end(own);
  gr_dlpack_leave(own);
  return 0;
}

static void gone(gr_context *c) { gr_l_forget_orphans(NULL, c); }

/*
** The context is made before any array, so its finalizer runs after theirs; it also lives as long as a storage does.
** Finalizers of objects that are older still may call the module afterwards: its functions find the userdata empty.
*/
static gr_context *open_context(lua_State *L) {
  static const gr_host host = {sizeof(gr_l_state), gone, gr_backends, gr_cpu_backend};
  const gpureduce_config *config = gr_l_config(L);
  gr_context **c = gr_newuserdata(L, sizeof *c);
  *c = NULL;
  luaL_newmetatable(L, GR_OWN(context));
  gr_l_hide_metatable(L, GR_OWN(context));
  lua_pushcfunction(L, l_context_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, GR_OWN(instance));
  *c = gr_context_new(&host);
  if (!*c) luaL_error(L, "gpureduce: out of memory");
  if (config) gr_capi_configure(*c, config);
  gr_explain_trace(*c);
  gr_l_can_stop(L, *c);
  gr_l_can_collect(L, *c);
  return *c;
}

/*
** A module is built for one version of Lua. The loader refuses most others, since they lack a function that it uses;
** but all that it uses of 5.4 exists in 5.5 too, so this has to be checked.
*/
static void check_lua(lua_State *L) {
#if LUA_VERSION_NUM >= 504
  int host = (int)lua_version(L);
  if (host == LUA_VERSION_NUM) return;
  luaL_error(L, "gpureduce: this module is for Lua %d.%d, this is Lua %d.%d (make LUA=... builds it for another)",
             LUA_VERSION_NUM / 100, LUA_VERSION_NUM % 100, host / 100, host % 100);
#else
  (void)L;
#endif
}

/* gr._COPY: nil, or that there is another copy in this state. Lua's own warnings say it, too, where they are on. */
static void set_copy(lua_State *L) {
  gr_l_push_other_copies(L);
#if LUA_VERSION_NUM >= 504
  if (!lua_isnil(L, -1)) lua_warning(L, lua_pushfstring(L, "gpureduce: %s", lua_tostring(L, -1)), 0), lua_pop(L, 1);
#endif
  lua_setfield(L, -2, "_COPY");
}

EXPORT int luaopen_gpureduce(lua_State *);

int luaopen_gpureduce(lua_State *L) {
#define GR_X(part) gr_##part##_functions,
  const gr_function *parts[] = {GR_PARTS(GR_X)};
#undef GR_X
  check_lua(L);
  if (sizeof(lua_Number) != 8) return luaL_error(L, "gpureduce: needs a Lua whose numbers are doubles");
  gr_l_choose_names();
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(module));
  if (!lua_isnil(L, -1)) return 1; /* one module and one context a state, however often it is required */
  gr_choose_secret();
  gr_context *c = open_context(L);
  lua_newtable(L);
  for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) gr_l_register(L, parts[k]);
  gr_l_array_metatable(L, c);
  gr_l_accumulator_metatable(L);
  gr_l_when_metatables(L);
  gr_l_formula_metatables(L);
  gr_l_operator_metatable(L);
  gr_l_dlpack_metatable(L, c);
  gr_l_comm_metatable(L);
  lua_pushliteral(L, GR_VERSION);
  lua_setfield(L, -2, "_VERSION");
  set_copy(L);
  gr_l_capi_open(L);
  open_parts(L, c);
  lua_getfield(L, -1, "histogram");
  lua_setfield(L, LUA_REGISTRYINDEX, GR_OWN(histogram));
  lua_getfield(L, -1, "histogram2d");
  lua_setfield(L, LUA_REGISTRYINDEX, GR_OWN(histogram2d));
  lua_getfield(L, -1, "calls");
  lua_replace(L, -2);
  lua_insert(L, -2);
  gr_l_when_functions(L, c, gr_reduce_functions);
  lua_insert(L, -2);
  lua_getfield(L, LUA_REGISTRYINDEX, GR_OWN(functions));
  lua_call(L, 1, 0);
  gr_l_module_metatable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, GR_OWN(module));
  return 1;
}

/*
** require "gpureduce.luassert": Lua looks for it in the library of its first name, too, so nothing has to be added to a
** state before somebody asks. (A program that has the module linked in puts this into package.preload.)
*/
EXPORT int luaopen_gpureduce_luassert(lua_State *);

int luaopen_gpureduce_luassert(lua_State *L) {
  const gr_embedded *e = gr_embedded_modules;
  while (strcmp(e->name, "luassert") != 0) e++;
  load_embedded(L, e);
  lua_pushcfunction(L, luaopen_gpureduce);
  lua_call(L, 0, 1);
  lua_call(L, 1, 1);
  return 1;
}
