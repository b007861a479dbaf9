-- A C module for what Lua cannot do: fork, and Lua states in threads of their own. Needs nothing of gpureduce, so that
-- a child process can be a host that has not loaded it.
local source = [[
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* fork(f): f runs in a child of at most 20 seconds; its exit status, or minus the signal that ended it. */
static int l_fork(lua_State *L) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(lua_pcall(L, 0, 0, 0) == 0 ? 0 : 1);
  }
  waitpid(child, &status, 0);
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  return 1;
}

static void *run(void *text) {
  lua_State *L = luaL_newstate();
  char *said = NULL;
  luaL_openlibs(L);
  if (luaL_loadstring(L, text) != 0 || lua_pcall(L, 0, 0, 0) != 0) said = strdup(lua_tostring(L, -1));
  lua_close(L);
  return said;
}

/* states(count, text): text in as many new states at once; what went wrong, or nil. */
static int l_states(lua_State *L) {
  int count = (int)luaL_checkinteger(L, 1), k;
  pthread_t id[16];
  void *said, *first = NULL;
  for (k = 0; k < count; k++) pthread_create(&id[k], NULL, run, (void *)luaL_checkstring(L, 2));
  for (k = 0; k < count; k++) {
    pthread_join(id[k], &said);
    if (said && !first) first = said;
  }
  if (!first) return 0;
  lua_pushstring(L, first);
  return 1;
}

/* start(count, text): the same, which goes on meanwhile; join() then gives what went wrong, or nil. */
static pthread_t started[16];
static int start_count;
static char *start_text;

static int l_start(lua_State *L) {
  start_count = (int)luaL_checkinteger(L, 1);
  start_text = strdup(luaL_checkstring(L, 2));
  for (int k = 0; k < start_count; k++) pthread_create(&started[k], NULL, run, start_text);
  return 0;
}

static int l_join(lua_State *L) {
  void *said, *first = NULL;
  for (int k = 0; k < start_count; k++) {
    pthread_join(started[k], &said);
    if (said && !first) first = said;
  }
  start_count = 0;
  free(start_text);
  if (!first) return 0;
  lua_pushstring(L, first);
  return 1;
}

/* opens(count, text): so many states one after the other, each in a thread; what went wrong, or nil. */
static int l_opens(lua_State *L) {
  int count = (int)luaL_checkinteger(L, 1);
  for (int k = 0; k < count; k++) {
    pthread_t id;
    void *said = NULL;
    if (pthread_create(&id, NULL, run, (void *)luaL_checkstring(L, 2)) != 0) return luaL_error(L, "no thread");
    pthread_join(id, &said);
    if (!said) continue;
    lua_pushstring(L, said);
    return 1;
  }
  return 0;
}

/*
** within(stack, text): a state in a thread with so many bytes of stack, all of it counted, and a page below them that
** nobody may touch. Gives how many were used, as far as the paint has gone, or nil and what went wrong.
*/
static int l_within(lua_State *L) {
  const size_t stack = (size_t)luaL_checkinteger(L, 1), guard = 65536;
  const char *text = luaL_checkstring(L, 2);
  char *lowest = mmap(NULL, guard + stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t clean = 0;
  pthread_t id;
  pthread_attr_t attr;
  void *said = NULL;
  if (lowest == MAP_FAILED || mprotect(lowest, guard, PROT_NONE) != 0) return luaL_error(L, "no memory");
  memset(lowest + guard, 0xa5, stack);
  pthread_attr_init(&attr);
  if (pthread_attr_setstack(&attr, lowest + guard, stack) != 0 || pthread_create(&id, &attr, run, (void *)text) != 0)
    return luaL_error(L, "no thread");
  pthread_join(id, &said);
  pthread_attr_destroy(&attr);
  while (clean < stack && lowest[guard + clean] == (char)0xa5) clean++;
  munmap(lowest, guard + stack);
  if (!said) lua_pushinteger(L, (lua_Integer)(stack - clean));
  else lua_pushnil(L);
  lua_pushstring(L, said); /* NULL is nil */
  return 2;
}

int luaopen_host(lua_State *L) {
  lua_newtable(L);
  lua_pushcfunction(L, l_opens);
  lua_setfield(L, -2, "opens");
  lua_pushcfunction(L, l_within);
  lua_setfield(L, -2, "within");
  lua_pushcfunction(L, l_start);
  lua_setfield(L, -2, "start");
  lua_pushcfunction(L, l_join);
  lua_setfield(L, -2, "join");
  lua_pushcfunction(L, l_fork);
  lua_setfield(L, -2, "fork");
  lua_pushcfunction(L, l_states);
  lua_setfield(L, -2, "states");
  return 1;
}
]]

-- The module, or nil where there is no compiler or no header of this Lua.
return function()
  local folder = rawget(_G, "jit") and "luajit-2.1" or "lua" .. _VERSION:match("%d.%d")
  local include
  for _, root in ipairs { "/usr/include/", "/usr/local/include/" } do
    local header = io.open(root .. folder .. "/lauxlib.h")
    if header then
      header:close()
      include = root .. folder
    end
  end
  if not include then return nil end
  local base = os.tmpname()
  local file = assert(io.open(base .. ".c", "w"))
  file:write(source)
  file:close()
  os.execute(("LD_PRELOAD= cc -shared -fPIC -pthread -I%s -o %s.so %s.c > %s 2>&1"):format(include, base, base, base))
  local open = package.loadlib(base .. ".so", "luaopen_host")
  os.remove(base .. ".c")
  os.remove(base .. ".so")
  os.remove(base)
  return open and open()
end
