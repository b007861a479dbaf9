/* The options table: which names may be in it, and what stands by each. */
#include <stdio.h>

#include "src/binding/options.h"
#include "src/core/operation.h"

int gr_l_inherits(lua_State *L, int i) {
  if (!lua_getmetatable(L, i)) return 0;
  lua_pushliteral(L, "__index");
  lua_rawget(L, -2);
  const int found = !lua_isnil(L, -1);
  lua_pop(L, 2);
  return found;
}

int gr_l_options_at(lua_State *L, int first, int last) {
  int at = first;
  while (at < last && lua_type(L, at) != LUA_TTABLE) at++;
  for (int k = at + 1; k <= last; k++)
    if (!lua_isnoneornil(L, k)) gr_l_argerror(L, k, "nothing expected after the options, got %s", gr_l_kind(L, k));
  return at;
}

static int unknown(lua_State *L, int arg, const char *name, const char *const *names, int allowed) {
  const char *left[31];
  char hint[GR_HINT];
  int count = 0;
  for (int k = 0; names[k]; k++)
    if (allowed >> k & 1) left[count++] = names[k];
  left[count] = NULL;
  if (!strcmp(name, "comm"))
    return gr_l_argerror(L, arg, "unknown option 'comm': this is done with each rank's own elements alone");
  return gr_l_argerror(L, arg, "unknown option '%.40s'%s", name, gr_l_hint(name, left, hint));
}

/* into: NULL, or where the array of the first option goes, which then is left on the stack. */
static int options(lua_State *L, int arg, const char *const *names, int allowed, gr_array **into) {
  const int type = lua_type(L, arg);
  int found = GR_OPTIONS, slot = 0;
  if (type <= LUA_TNIL) return 0;
  if (type != LUA_TTABLE) gr_l_argerror(L, arg, "options table expected, got %s", gr_l_kind(L, arg));
  if (into) {
    lua_pushnil(L);
    slot = lua_gettop(L);
  }
  lua_pushnil(L);
  while (lua_next(L, arg)) {
    int k = 0;
    if (lua_type(L, -2) != LUA_TSTRING)
      gr_l_argerror(L, arg, "option names are strings, got a %s", luaL_typename(L, -2));
    const char *name = lua_tostring(L, -2);
    while (names[k] && !((allowed >> k & 1) && gr_same_word(name, names[k]))) k++;
    if (!names[k]) unknown(L, arg, name, names, allowed);
    found |= 1 << k;
    if (into && k == 0) {
      *into = gr_l_test_array(L, -1);
      lua_replace(L, slot);
    } else {
      lua_pop(L, 1);
    }
  }
  if (gr_l_inherits(L, arg)) gr_l_argerror(L, arg, "options table without __index expected: options are read raw");
  return found;
}

int gr_l_options_of(lua_State *L, int arg, const char *const *names) { return options(L, arg, names, ~0, NULL); }

int gr_l_options_among(lua_State *L, int arg, const char *const *names, int allowed) {
  return options(L, arg, names, allowed, NULL);
}

int gr_l_options_into(lua_State *L, int arg, const char *const *names, gr_array **into) {
  *into = NULL;
  return options(L, arg, names, ~0, into);
}

/* Push the option if there is one: the shared start of the getters. */
static int push_option(lua_State *L, int arg, const char *name, int type, const char *expected) {
  if (lua_type(L, arg) != LUA_TTABLE) return 0;
  lua_pushstring(L, name);
  lua_rawget(L, arg);
  const int found = lua_type(L, -1);
  if (found == LUA_TNIL) {
    lua_pop(L, 1);
    return 0;
  }
  if (type != LUA_TNONE && found != type)
    gr_l_argerror(L, arg, "option '%s': %s expected, got %s", name, expected, gr_l_kind(L, -1));
  return 1;
}

int gr_l_push_option(lua_State *L, int arg, const char *name) { return push_option(L, arg, name, LUA_TNONE, NULL); }

int gr_l_has_option(lua_State *L, int arg, const char *name) {
  const int found = gr_l_push_option(L, arg, name);
  if (found) lua_pop(L, 1);
  return found;
}

const char *gr_l_first_of(lua_State *L, int arg, const char *const *names) {
  while (*names && !gr_l_has_option(L, arg, *names)) names++;
  return *names;
}

int gr_l_option_int(lua_State *L, int arg, const char *name, int64_t *out) {
  if (!push_option(L, arg, name, LUA_TNUMBER, "number")) return 0;
  if (!gr_l_to_int64(L, -1, out))
    gr_l_argerror(L, arg, "option '%s': whole number expected, got %.14g", name, lua_tonumber(L, -1));
  lua_pop(L, 1);
  return 1;
}

int gr_l_option_number(lua_State *L, int arg, const char *name, double *out) {
  if (!push_option(L, arg, name, LUA_TNUMBER, "number")) return 0;
  *out = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return 1;
}

int gr_l_option_flag(lua_State *L, int arg, const char *name) {
  if (!push_option(L, arg, name, LUA_TBOOLEAN, "boolean")) return 0;
  int set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return set;
}

const char *gr_l_option_string(lua_State *L, int arg, const char *name, char text[GR_OPTION_TEXT]) {
  if (!push_option(L, arg, name, LUA_TSTRING, "string")) return NULL;
  const char *value = lua_tostring(L, -1);
  if (strlen(value) != lua_rawlen(L, -1)) gr_l_argerror(L, arg, "option '%s': string without NUL expected", name);
  snprintf(text, GR_OPTION_TEXT, "%.*s", GR_OPTION_TEXT - 1, value); /* a whole one may be longer than an int says */
  lua_pop(L, 1);
  return text;
}

int gr_l_option_among(lua_State *L, int arg, const char *name, const char *const *list, const char *what) {
  char hint[GR_HINT], text[GR_OPTION_TEXT];
  if (!gr_l_option_string(L, arg, name, text)) return -1;
  for (int k = 0; list[k]; k++)
    if (!strcmp(text, list[k])) return k;
  return gr_l_argerror(L, arg, "option '%s': %s '%.40s'%s", name, what, text, gr_l_hint(text, list, hint));
}

gr_array *gr_l_option_array(lua_State *L, int arg, const char *name) {
  if (!push_option(L, arg, name, LUA_TNONE, NULL)) return NULL;
  gr_array *a = gr_l_test_array(L, -1);
  if (!a) gr_l_argerror(L, arg, "option '%s': %s expected, got %s", name, GR_ARRAY_NAME, gr_l_kind(L, -1));
  if (gr_array_released(a)) gr_l_argerror(L, arg, "option '%s': array has been released", name);
  return a;
}

int64_t gr_l_option_rows(lua_State *L, int arg, int64_t n) {
  int64_t rows;
  if (!gr_l_option_int(L, arg, "rows", &rows)) return 0;
  if (rows < 1) gr_l_argerror(L, arg, "option 'rows': 1 or more expected, got %lld", (long long)rows);
  if (n % rows)
    gr_l_argerror(L, arg, "option 'rows': %lld rows do not divide length %lld", (long long)rows, (long long)n);
  return rows;
}

gr_array *gr_l_option_into(lua_State *L, int arg, gr_dtype dtype, int64_t n, const gr_array *a) {
  gr_array *into = gr_l_option_array(L, arg, "into");
  return into ? gr_l_check_into(L, arg, into, dtype, n, a) : NULL;
}

gr_array *gr_l_check_into(lua_State *L, int arg, gr_array *into, gr_dtype dtype, int64_t n, const gr_array *a) {
  if (into->dtype != dtype || into->n != n)
    gr_l_argerror(L, arg, "option 'into': %s[%lld] expected, got %s[%lld]", gr_dtypes[dtype].name, (long long)n,
                  gr_dtypes[into->dtype].name, (long long)into->n);
  if (!a) return into;
  gr_l_check_device(L, a, into, arg);
  gr_l_check_apart(L, arg, into, a);
  return into;
}

void gr_l_check_apart(lua_State *L, int arg, const gr_array *into, const gr_array *a) {
  int same = into->offset == a->offset && into->stride == a->stride && into->dtype == a->dtype && into->n == a->n;
  if (!same) gr_l_check_disjoint(L, arg, into, a, "input");
}

void gr_l_check_disjoint(lua_State *L, int arg, const gr_array *into, const gr_array *read, const char *what) {
  if (into && read && gr_array_overlap(into, read)) gr_l_argerror(L, arg, "option 'into': overlaps the %s", what);
}

/* ---- a dtype, as an argument or an option ---- */

const char *gr_l_dtype_name(lua_State *L, int arg, int options, int *at, char text[GR_OPTION_TEXT]) {
  const char *name = gr_l_option_string(L, options, "dtype", text);
  *at = options;
  if (arg >= options || lua_isnoneornil(L, arg)) return name;
  if (name) gr_l_argerror(L, options, "option 'dtype': argument #%d is one already", arg);
  if (lua_type(L, arg) != LUA_TSTRING) {
    const char *kind = gr_l_kind(L, arg);
    if (arg > 1 && gr_l_is_dtype(L, arg - 1))
      gr_l_argerror(L, arg, "dtype name expected, got %s (argument #%d is one: are they swapped?)", kind, arg - 1);
    gr_l_argerror(L, arg, "dtype name expected, got %s", kind);
  }
  *at = arg;
  return gr_l_word(L, arg, arg);
}

gr_dtype gr_l_dtype(lua_State *L, int arg, int options, gr_dtype otherwise) {
  char text[GR_OPTION_TEXT];
  int at;
  const char *name = gr_l_dtype_name(L, arg, options, &at, text);
  return name ? (gr_dtype)gr_l_dtype_arg(L, at, name) : otherwise;
}

gr_dtype gr_l_last_dtype(lua_State *L, int arg) {
  const int options = gr_l_options_at(L, arg, arg + 1);
  if (lua_istable(L, arg) && lua_rawlen(L, arg) && gr_l_is_dtype(L, arg - 1))
    gr_l_argerror(L, arg, "dtype name expected, got table (argument #%d is one: are they swapped?)", arg - 1);
  gr_l_options(L, options, "dtype");
  return gr_l_dtype(L, arg, options, GR_F32);
}
