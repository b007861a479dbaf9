#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/binding/args.h"
#include "src/core/operation.h"

int gr_l_argerror(lua_State *L, int arg, const char *format, ...) {
  char text[600];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  gr_l_called(gr_l_context(L), GR_OK); /* if a call into the core was under way, it ends here */
  luaL_error(L, "bad argument #%d to '%s' (%s)", arg, gr_l_name(L), text);
  abort(); /* luaL_error does not return */
}

#define PART "gpureduce."

/* How long the place at the beginning of a text is, if it is one in a Lua part: "gpureduce.heat:12: ". */
static size_t place_in_part(const char *text) {
  static const char names[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  const size_t name = strlen(PART) + (strncmp(text, PART, strlen(PART)) ? 0 : strspn(text + strlen(PART), names));
  if (name == strlen(PART) || text[name] != ':') return 0;
  const size_t line = strspn(text + name + 1, "0123456789");
  return line && !strncmp(text + name + 1 + line, ": ", 2) ? name + line + 3 : 0;
}

int gr_l_error_outside(lua_State *L, int has_place) {
  lua_Debug at;
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  const size_t place = text ? place_in_part(text) : 0;
  if (!text || (has_place && !place)) return lua_error(L);
  for (int level = 1; lua_getstack(L, level, &at); level++) {
    lua_getinfo(L, "Sl", &at);
    if (at.currentline < 0 || !strncmp(at.source, "=" PART, 1 + strlen(PART))) continue;
    lua_pushfstring(L, "%s:%d: %s", at.short_src, at.currentline, text + place);
    return lua_error(L);
  }
  lua_pushstring(L, text + place);
  return lua_error(L);
}

#define GR_X(id, s, l, type, kind) #s,
static const char *const dtype_names[] = {GR_DTYPES(GR_X) NULL};
#undef GR_X

/* ---- arrays ---- */

/*
** Userdata of other modules may have the same size, and bytes that a script has chosen or that a freed array has left.
** So each array bears a stamp, which they cannot have.
*/
gr_array *gr_l_test_array(lua_State *L, int i) {
  gr_array *a = lua_touserdata(L, i); /* light userdata has length 0 */
  return a && lua_rawlen(L, i) == sizeof *a && a->stamp == gr_stamp(a) ? a : NULL;
}

gr_array *gr_l_test_transposed(lua_State *L, int i) {
  gr_array *a = lua_touserdata(L, i);
  return a && lua_rawlen(L, i) == sizeof *a && a->stamp == (gr_stamp(a) ^ GR_TRANSPOSED) ? a : NULL;
}

gr_array *gr_l_test_any_array(lua_State *L, int i) {
  gr_array *a = gr_l_test_array(L, i);
  return a ? a : gr_l_test_transposed(L, i);
}

void *gr_l_test_object(lua_State *L, int i, const char *name) {
  if (lua_type(L, i) != LUA_TUSERDATA || !lua_getmetatable(L, i)) return NULL;
  luaL_getmetatable(L, name);
  int same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same ? lua_touserdata(L, i) : NULL;
}

void *gr_l_check_object(lua_State *L, int arg, const char *name) {
  void *object = gr_l_test_object(L, arg, name);
  if (!object) gr_l_argerror(L, arg, "%.*s expected, got %s", (int)gr_own_length(name), name, gr_l_kind(L, arg));
  return object;
}

/* What the value at i is, in words: its type, or the name its metatable gives. */
const char *gr_l_kind(lua_State *L, int i) {
  if (lua_isnone(L, i)) return "no value";
  if (i < 0 && i > LUA_REGISTRYINDEX) i += lua_gettop(L) + 1;
  if (luaL_getmetafield(L, i, "__name")) {
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (name && !gr_l_is_of_other_copy(L, i, name)) return name;
    if (name) {
      gr_l_push_copies(L);
      return lua_pushfstring(L, "%s of another copy of this module (%s)", name, lua_tostring(L, -1));
    }
    lua_pop(L, 1);
  }
  return luaL_typename(L, i);
}

static int is_module(lua_State *L, int i) {
  if (!lua_istable(L, i)) return 0;
  lua_pushliteral(L, "_VERSION");
  lua_rawget(L, i);
  int found = lua_type(L, -1) == LUA_TSTRING;
  lua_pop(L, 1);
  return found;
}

/* What the caller may have meant, where an array was expected at arg; or "". */
static const char *self_hint(lua_State *L, int arg, char text[128]) {
  const char *name = gr_l_name(L);
  int module = arg == 1 && is_module(L, 1);
  text[0] = 0;
  for (int k = arg + 1; !module && k <= lua_gettop(L); k++) {
    if (!gr_l_test_array(L, k)) continue;
    snprintf(text, 128, " (argument #%d is one: are they swapped?)", k);
    return text;
  }
  if (arg != 1) return text;
  if (module) snprintf(text, 128, " (write gr.%s(a), not gr:%s(a))", name, name);
  else if (lua_isnone(L, 1)) snprintf(text, 128, " (write gr.%s(a) or a:%s())", name, name);
  else if (lua_istable(L, 1) && lua_rawlen(L, 1) > 0) snprintf(text, 128, " (gr.array makes one of it)");
  else if (lua_istable(L, 1)) snprintf(text, 128, " (write a:%s{...}, not a.%s{...})", name, name);
  return text;
}

GR_APART static void no_array(lua_State *L, int arg) {
  char hint[128];
  const char *kind = gr_l_kind(L, arg);
  /* An array without its stamp has been collected already; a finalizer has kept it. */
  if (gr_l_test_any_array(L, arg) || gr_l_test_object(L, arg, GR_OWN(array)) ||
      gr_l_test_object(L, arg, GR_OWN(transposed)))
    gr_l_argerror(L, arg, "array has been released");
  gr_l_argerror(L, arg, "%s expected, got %s%s", GR_ARRAY_NAME, kind, self_hint(L, arg, hint));
}

GR_APART static gr_array *other_array(lua_State *L, int arg) {
  const gr_array *a = gr_l_test_transposed(L, arg);
  if (!a || gr_array_released(a)) no_array(L, arg);
  return gr_l_state_of(gr_l_context(L))->put_in_order(L, arg);
}

gr_array *gr_l_check_array(lua_State *L, int arg) {
  gr_array *a = gr_l_test_array(L, arg);
  return a && !gr_array_released(a) ? a : other_array(L, arg);
}

gr_array *gr_l_check_any_array(lua_State *L, int arg) {
  gr_array *a = gr_l_test_any_array(L, arg);
  if (!a || gr_array_released(a)) no_array(L, arg);
  return a;
}

int gr_l_leave_lost(lua_State *L, gr_context *c) {
  gr_queue *cpu = gr_context_cpu(c);
  int left = 0;
  for (int k = 1; cpu && k <= lua_gettop(L); k++) {
    const gr_array *a = gr_l_test_any_array(L, k);
    if (!a || !a->storage->queue->lost) continue;
    if (gr_storage_leave(a->storage, cpu)) left = 1;
    else gr_fail_gone(c, a->storage->queue);
  }
  return left;
}

/* Whether one of the two is on a device that was lost. */
static void check_lost(lua_State *L, const gr_array *a, const gr_array *b) {
  gr_l_leave_lost(L, a->storage->context);
  if (a->storage->queue != b->storage->queue) luaL_error(L, "gpureduce: %s", a->storage->context->error);
}

void gr_l_check_device(lua_State *L, const gr_array *a, const gr_array *b, int arg) {
  if (a->storage->queue == b->storage->queue) return;
  if (gr_array_released(a) || gr_array_released(b)) gr_l_argerror(L, arg, "array has been released");
  if (a->storage->queue->lost || b->storage->queue->lost) {
    check_lost(L, a, b);
    return;
  }
  gr_l_argerror(L, arg, "array on device '%s' expected, got one on '%s': copy() brings it to the device in use",
                a->storage->queue->backend->name, b->storage->queue->backend->name);
}

/* Whether dtype u holds every element of dtype t exactly: then the error suggests that cast. */
static int widens(gr_dtype t, gr_dtype u) {
  const gr_dtype_info *from = &gr_dtypes[t], *to = &gr_dtypes[u];
  if (gr_is_float(t) || gr_is_float(u)) return gr_is_float(u) && (!gr_is_float(t) || from->size <= to->size);
  return to->lowest <= from->lowest && from->highest <= to->highest;
}

/* Reports both differences at once, so that nobody mends the dtype and meets the length only then. */
GR_APART static void unlike(lua_State *L, const gr_array *a, const gr_array *b, int64_t n, const char *of,
                            const char *names, int arg) {
  const gr_dtype t = a->dtype, u = b->dtype;
  const char *mine = gr_dtypes[t].name, *other = gr_dtypes[u].name;
  const long long wanted = n, got = b->n;
  char cast[40];
  if (t == u) gr_l_argerror(L, arg, "length %lld%s expected, got %lld", wanted, of, got);
  const int second = widens(u, t) || !widens(t, u);
  snprintf(cast, sizeof cast, "%c:cast \"%s\"", names[second], second ? mine : other);
  if (wanted == got) gr_l_argerror(L, arg, "dtype %s expected, got %s: write %s", mine, other, cast);
  gr_l_argerror(L, arg, "dtype %s and length %lld%s expected, got %s and %lld: write %s", mine, wanted, of, other, got,
                cast);
}

void gr_l_check_like(lua_State *L, const gr_array *a, const gr_array *b, int64_t n, const char *of, const char *names,
                     int arg) {
  if (b->dtype != a->dtype || b->n != n) unlike(L, a, b, n, of, names, arg);
  gr_l_check_device(L, a, b, arg);
}

void gr_l_check_pair(lua_State *L, const gr_array *a, const gr_array *b, int arg) {
  gr_l_check_like(L, a, b, a->n, "", "ab", arg);
}

/* ---- numbers and names ---- */

int gr_l_to_int64(lua_State *L, int i, int64_t *out) {
  if (lua_type(L, i) != LUA_TNUMBER) return 0;
  if (lua_isinteger(L, i)) {
    *out = (int64_t)lua_tointeger(L, i);
    return 1;
  }
  return gr_whole(lua_tonumber(L, i), out);
}

int gr_l_is_dtype(lua_State *L, int arg) {
  size_t n;
  const char *s = lua_type(L, arg) == LUA_TSTRING ? lua_tolstring(L, arg, &n) : NULL;
  return s && strlen(s) == n && gr_dtype_named(s) >= 0;
}

double gr_l_check_number(lua_State *L, int arg) {
  if (gr_l_is_dtype(L, arg)) gr_l_argerror(L, arg, "number expected, got string (a dtype comes after the numbers)");
  if (lua_type(L, arg) != LUA_TNUMBER) gr_l_argerror(L, arg, "number expected, got %s", gr_l_kind(L, arg));
  return lua_tonumber(L, arg);
}

int64_t gr_l_check_int(lua_State *L, int arg) {
  int64_t x;
  double d = gr_l_check_number(L, arg);
  if (!gr_l_to_int64(L, arg, &x)) gr_l_argerror(L, arg, "whole number expected, got %.14g", d);
  return x;
}

int64_t gr_l_check_length(lua_State *L, int arg) {
  int64_t n = gr_l_check_int(L, arg);
  if (n < 0) gr_l_argerror(L, arg, "length of 0 or more expected, got %lld", (long long)n);
  return n;
}

int64_t gr_l_list_length(lua_State *L, int i, int arg) {
  const uint64_t n = lua_rawlen(L, i);
  if (n > (uint64_t)GR_MOST_LISTED)
    gr_l_argerror(L, arg, "table of at most %lld elements expected, got %llu", (long long)GR_MOST_LISTED,
                  (unsigned long long)n);
  return (int64_t)n;
}

const char *gr_l_dtype_hint(const char *given, char text[GR_HINT]) { return gr_l_hint(given, dtype_names, text); }

const char *gr_l_word(lua_State *L, int i, int arg) {
  size_t n;
  const char *s = lua_tolstring(L, i, &n);
  if (strlen(s) != n) gr_l_argerror(L, arg, "name without a NUL character expected");
  return s;
}

int gr_l_dtype_arg(lua_State *L, int arg, const char *name) {
  char hint[GR_HINT];
  int t = gr_dtype_named(name);
  if (t < 0) gr_l_argerror(L, arg, "unknown dtype '%.40s'%s", name, gr_l_dtype_hint(name, hint));
  return t;
}

gr_op gr_l_check_op(lua_State *L, int arg) {
  const int type = lua_type(L, arg);
  char hint[GR_HINT];
  if (type == LUA_TTABLE) gr_l_argerror(L, arg, "operation name expected, got table (options come after it)");
  if (type != LUA_TSTRING) gr_l_argerror(L, arg, "operation name expected, got %s", gr_l_kind(L, arg));
  const char *name = gr_l_word(L, arg, arg);
  int op = gr_op_named(name);
  if (op < 0) gr_l_argerror(L, arg, "unknown operation '%.40s'%s", name, gr_l_hint(name, gr_op_names, hint));
  return (gr_op)op;
}

void gr_l_check_range(lua_State *L, int low, int high, int64_t n, int64_t *first, int64_t *count) {
  int64_t i = lua_isnoneornil(L, low) ? 1 : gr_l_check_int(L, low);
  int64_t j = lua_isnoneornil(L, high) ? n : gr_l_check_int(L, high);
  if (i < 0) i += n + 1;
  if (j < 0) j += n + 1;
  if (i < 1 || i > n + 1 || (i > n && j >= i))
    gr_l_argerror(L, low, "position from 1 to %lld expected, got %lld", (long long)n, (long long)i);
  if (j > n || j < i - 1)
    gr_l_argerror(L, high, "position from %lld to %lld expected, got %lld", (long long)i - 1, (long long)n,
                  (long long)j);
  *first = i - 1;
  *count = j - i + 1;
}
