/* What LuaJIT's FFI says about its objects: their address, dtype and size in bytes. */
#include <stdio.h>

#include "src/binding/cdata.h"

/* The function of that name of the module ffi, on the stack. */
static void push_ffi(lua_State *L, int arg, const char *name) {
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "ffi");
  if (!lua_istable(L, -1)) gr_l_argerror(L, arg, "pointer expected, got cdata without the ffi module");
  lua_getfield(L, -1, name);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

/* ffi.cast("void *", cdata) turns arrays and pointers alike into a pointer, whose cell holds the address. */
static uintptr_t address_of(lua_State *L, int arg) {
  void *p;
  push_ffi(L, arg, "cast");
  lua_pushliteral(L, "void *");
  lua_pushvalue(L, arg);
  if (lua_pcall(L, 2, 1, 0)) gr_l_argerror(L, arg, "cdata that is an array or a pointer expected");
  memcpy(&p, lua_topointer(L, -1), sizeof p);
  lua_pop(L, 1);
  return (uintptr_t)p;
}

/* The dtype of a C type by the name that LuaJIT has for it, sizes resolved; -1: none. */
static int dtype_of(const char *name) {
  static const struct {
    const char *name;
    int dtype;
  } types[] = {
      {"float", GR_F32},        {"double", GR_F64},         {"unsigned char", GR_U8},
      {"bool", GR_U8},          {"signed char", GR_I8},     {"char", (char)-1 < 0 ? GR_I8 : GR_U8},
      {"short", GR_I16},        {"unsigned short", GR_U16}, {"int", GR_I32},
      {"unsigned int", GR_U32}, {"int64_t", GR_I64},
  };
  for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
    if (!strcmp(name, types[k].name)) return types[k].dtype;
  return -1;
}

/*
** ffi.typeof says "ctype<const float [4]>": qualifiers, the element's type, then "[4]", "[2][3]", "(&)[4]" of an array
** or "*" of a pointer to elements; whatever else follows is no memory of elements. A plain number stands for an
** address.
*/
static void read_type(gr_cdata *d) {
  static const char *const qualifiers[] = {"const ", "volatile "};
  char name[sizeof d->type];
  const char *p = d->type;
  for (int k = 0; k < 2; k++) { /* in this order, each at most once */
    const size_t word = strlen(qualifiers[k]);
    if (strncmp(p, qualifiers[k], word) != 0) continue;
    p += word;
    d->readonly |= k == 0;
  }
  const size_t length = strcspn(p, "[*(&");
  const char *rest = p + length;
  snprintf(name, sizeof name, "%.*s", (int)length, p);
  for (size_t end = length; end > 0 && name[end - 1] == ' ';) name[--end] = 0;
  d->array = *rest == '[' || !strncmp(rest, "(&)[", 4);
  d->plain = *rest == 0 && (dtype_of(name) >= 0 || !strcmp(name, "uint64_t"));
  d->dtype = d->array || !strcmp(rest, "*") || !strncmp(rest, "(*)[", 4) ? dtype_of(name) : -1;
}

/* The object at arg; what holds no address raises. */
static gr_cdata object_at(lua_State *L, int arg) {
  gr_cdata d = {.address = address_of(L, arg)};
  const int top = lua_gettop(L);
  push_ffi(L, arg, "typeof");
  lua_pushvalue(L, arg);
  lua_call(L, 1, 1);
  const char *text = luaL_callmeta(L, -1, "__tostring") ? lua_tostring(L, -1) : NULL;
  const char *from = text ? strchr(text, '<') : NULL;
  if (from) snprintf(d.type, sizeof d.type, "%.*s", (int)strlen(from + 1) - 1, from + 1);
  read_type(&d);
  if (d.array) {
    push_ffi(L, arg, "sizeof");
    lua_pushvalue(L, arg);
    lua_call(L, 1, 1);
    d.bytes = (int64_t)lua_tonumber(L, -1);
  }
  lua_settop(L, top);
  return d;
}

uintptr_t gr_l_check_address(lua_State *L, int arg, const char *other, gr_cdata *d) {
  int64_t whole;
  uintptr_t p = 0;
  switch (lua_type(L, arg)) {
    case LUA_TLIGHTUSERDATA: p = (uintptr_t)lua_touserdata(L, arg); break;
    case GR_CDATA:
      *d = object_at(L, arg);
      p = d->address;
      break;
    case LUA_TNUMBER:
      if (!gr_l_to_int64(L, arg, &whole)) gr_l_argerror(L, arg, "address expected, got %.14g", lua_tonumber(L, arg));
      p = (uintptr_t)whole;
      break;
    default: gr_l_argerror(L, arg, "light userdata, cdata, address or %s expected, got %s", other, gr_l_kind(L, arg));
  }
  if (!p) gr_l_argerror(L, arg, "pointer expected, got a null pointer");
  return p;
}
