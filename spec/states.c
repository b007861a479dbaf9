/*
** A host with many Lua states, each in a thread of its own, all of which run one script at once: for ThreadSanitizer
** (make tsan), which wants the program itself compiled with it. Usage: states COUNT SCRIPT DEVICE; the script gets the
** number of its state and the device as arguments. States come and go: each thread runs the script in two, one after
** the other.
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 16

static char **arguments;

static void *run(void *number) {
  const char *failed = NULL;
  for (int round = 0; round < 2 && !failed; round++) {
    lua_State *L = luaL_newstate();
    if (!L) return "no memory for a state";
    luaL_openlibs(L);
    int status = luaL_loadfile(L, arguments[2]);
    if (status == 0) {
      lua_pushinteger(L, *(const int *)number);
      lua_pushstring(L, arguments[3]);
      status = lua_pcall(L, 2, 0, 0);
    }
    if (status != 0) {
      fprintf(stderr, "state %d: %s\n", *(const int *)number, lua_tostring(L, -1));
      failed = "failed";
    }
    lua_close(L);
  }
  return (void *)failed;
}

int main(int argc, char **argv) {
  pthread_t id[MOST];
  int number[MOST], failures = 0;
  const int count = argc == 4 ? atoi(argv[1]) : 0;
  if (count < 1 || count > MOST) return fprintf(stderr, "usage: states COUNT SCRIPT DEVICE\n"), 2;
  arguments = argv;
  for (int k = 0; k < count; k++) {
    number[k] = k + 1;
    if (pthread_create(&id[k], NULL, run, &number[k]) != 0) return 2;
  }
  for (int k = 0; k < count; k++) {
    void *failed = NULL;
    pthread_join(id[k], &failed);
    failures += failed != NULL;
  }
  printf("%d states on %s: %s\n", count, argv[3], failures ? "failed" : "ok");
  return failures != 0;
}
