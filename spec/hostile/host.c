/*
** The program behind `make sweep`: it runs a Lua program with one function more, trial(), which opens another Lua state
** whose allocator refuses the k-th request, loads the module there and runs one case. The module of this test is linked
** with --wrap, so that its own requests (malloc, mmap, threads, ...) come here too; the module that people get knows
** nothing of this.
*/
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "spec/hostile/one_rank.h"

#define PATIENCE 60 /* seconds for one trial */

enum { NOBODY, IN_C, IN_LUA };

static struct {
  _Atomic int side;   /* whose requests are counted and refused */
  _Atomic long count; /* requests so far */
  long at;            /* the one that is refused */
  int on;             /* and all that follow */
  _Atomic long blocks; /* that the module has and has not given back */
} failing;

static char current[256] = "outside of a trial";
static size_t lua_bytes; /* of the state of the trial */

static int refuse(int side) {
  if (failing.side != side) return 0;
  const long n = ++failing.count;
  if (n != failing.at && !(failing.on && n > failing.at)) return 0;
  errno = ENOMEM;
  return 1;
}

/* ---- the module's requests ---- */

static void *counted(void *p) {
  if (p) failing.blocks++;
  return p;
}

void *__wrap_malloc(size_t n) { return refuse(IN_C) ? NULL : counted(malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) { return refuse(IN_C) ? NULL : counted(calloc(n, size)); }
void *__wrap_aligned_alloc(size_t to, size_t n) { return refuse(IN_C) ? NULL : counted(aligned_alloc(to, n)); }

void *__wrap_realloc(void *p, size_t n) {
  if (refuse(IN_C)) return NULL;
  if (!p) failing.blocks++;
  return realloc(p, n);
}

int __wrap_posix_memalign(void **p, size_t to, size_t n) {
  if (refuse(IN_C)) return ENOMEM;
  const int status = posix_memalign(p, to, n);
  if (status == 0) failing.blocks++;
  return status;
}

char *__wrap_strdup(const char *s) { return refuse(IN_C) ? NULL : counted(strdup(s)); }
FILE *__wrap_fopen(const char *path, const char *mode) { return refuse(IN_C) ? NULL : fopen(path, mode); }

void __wrap_free(void *p) {
  if (p) failing.blocks--;
  free(p);
}

void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
  return refuse(IN_C) ? MAP_FAILED : counted(mmap(at, n, protection, flags, fd, offset));
}

int __wrap_munmap(void *p, size_t n) {
  failing.blocks--;
  return munmap(p, n);
}

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*f)(void *), void *arg) {
  return refuse(IN_C) ? EAGAIN : pthread_create(id, attr, f, arg);
}

/* ---- Lua's requests ---- */

static void *allocate(void *ignored, void *p, size_t before, size_t after) {
  (void)ignored;
  if (!p) before = 0; /* it may be a type */
  if (after == 0) {
    lua_bytes -= before;
    free(p);
    return NULL;
  }
  if (after > before && refuse(IN_LUA)) return NULL;
  void *q = realloc(p, after);
  if (q) lua_bytes += after - before;
  return q;
}

/* ---- trials ---- */

#if LUA_VERSION_NUM < 502
#define LUA_OK 0
#endif

static void too_long(int ignored) {
  (void)ignored;
  fprintf(stderr, "\nsweep: no end after %d s of %s\n", PATIENCE, current);
  _exit(3);
}

static void say_where(void) { fprintf(stderr, "\nsweep: it happened at %s\n", current); }
#if defined(__SANITIZE_ADDRESS__)
void __sanitizer_set_death_callback(void (*f)(void));
#endif

static void disarm(void) { failing.side = NOBODY; }

/* Call field `name` of the table at 1 with nargs strings; its first result as a string of L, or "" for none. */
static int call(lua_State *I, const char *name, const char *a, const char *b, int results) {
  lua_getfield(I, 1, name);
  lua_pushstring(I, a);
  lua_pushstring(I, b);
  return lua_pcall(I, 2, results, 0);
}

static const char *text(lua_State *I) {
  return lua_isstring(I, -1) ? lua_tostring(I, -1) : lua_isnil(I, -1) ? "" : "?";
}

/* Lua's libraries are ready and the cases loaded: the table of what they offer at 1. */
static int open_cases(lua_State *I, const char *code, size_t length, const char *cpath) {
  luaL_openlibs(I);
  lua_getglobal(I, "package");
  lua_pushstring(I, cpath);
  lua_setfield(I, -2, "cpath");
  lua_settop(I, 0);
  lua_pushcfunction(I, l_one_rank);
  lua_setglobal(I, "one_rank");
  return luaL_loadbuffer(I, code, length, "=cases") || lua_pcall(I, 0, 1, 0);
}

/*
** trial(code, cpath, case, device, side, at, on) -> how many requests there were, "ok" or the error, what the case says
** about it at the end, blocks of the module and bytes of Lua that are left after the state was closed.
*/
static int l_trial(lua_State *L) {
  size_t length;
  const char *code = luaL_checklstring(L, 1, &length), *cpath = luaL_checkstring(L, 2);
  const char *name = luaL_checkstring(L, 3), *device = luaL_checkstring(L, 4), *side = luaL_checkstring(L, 5);
  const int who = !strcmp(side, "c") ? IN_C : !strcmp(side, "lua") ? IN_LUA : NOBODY;
  snprintf(current, sizeof current, "case '%s' on %s, side %s, request %ld%s", name, device, side,
           (long)luaL_checkinteger(L, 6), lua_toboolean(L, 7) ? " and all that follow" : "");
  lua_settop(L, 7);
  alarm(PATIENCE);
  disarm();
  lua_bytes = 0;
  lua_State *I = lua_newstate(allocate, NULL);
  if (!I) return luaL_error(L, "this Lua takes no allocator");
  if (open_cases(I, code, length, cpath) != LUA_OK) return luaL_error(L, "%s", text(I));
  if (call(I, "prepare", name, device, 0) != LUA_OK) return luaL_error(L, "%s: %s", current, text(I));

  failing.count = 0;
  failing.at = (long)lua_tointeger(L, 6);
  failing.on = lua_toboolean(L, 7);
  lua_getfield(I, 1, "act"); /* what it pushes lies outside of the trial */
  failing.side = who;
  const int status = lua_pcall(I, 0, 0, 0);
  disarm();
  lua_pushinteger(L, failing.count);
  if (status != LUA_OK && lua_type(I, -1) != LUA_TSTRING) lua_pushliteral(L, "an error that is no text");
  else lua_pushstring(L, status == LUA_OK ? "ok" : text(I));
  const int failed = call(I, "finish", status == LUA_OK ? "ok" : "error", "", 1);
  lua_pushfstring(L, "%s%s", failed ? "raised: " : "", text(I));
  lua_close(I);
  alarm(0);
  lua_pushinteger(L, failing.blocks);
  lua_pushinteger(L, (lua_Integer)lua_bytes);
  snprintf(current, sizeof current, "the end of the trial before");
  return 5;
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: %s program.lua [argument ...]\n", argv[0]), 2;
  signal(SIGALRM, too_long);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(say_where);
#else
  (void)say_where;
#endif
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushcfunction(L, l_trial);
  lua_setglobal(L, "trial");
  lua_pushcfunction(L, l_one_rank);
  lua_setglobal(L, "one_rank");
  lua_createtable(L, argc, 0);
  for (int k = 1; k < argc; k++) {
    lua_pushstring(L, argv[k]);
    lua_rawseti(L, -2, k - 1);
  }
  lua_setglobal(L, "arg");
  if (luaL_loadfile(L, argv[1]) != LUA_OK || lua_pcall(L, 0, 0, 0) != LUA_OK) {
    fprintf(stderr, "%s\n", text(L));
    lua_close(L);
    return 1;
  }
  lua_close(L);
  return 0;
}
