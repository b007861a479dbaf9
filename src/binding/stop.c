/*
** How a long call learns that it is to stop (src/core/stop.h): by the hook of the Lua state, looked at but never
** called. The interpreter sets it on Ctrl-C, and it runs as soon as the call has raised.
*/

#include "src/binding/stop.h"
#include "src/binding/args.h"
#include "src/binding/parts.h"
#include "src/binding/results.h"

/* What a hook looks like from outside: another one, or the same at other events, gives another number. */
static uint64_t hook_of(lua_State *L) {
  if (!L) return 0;
  const uint64_t events = (uint64_t)lua_gethookmask(L) << 32 ^ (uint32_t)lua_gethookcount(L);
  return (uint64_t)(uintptr_t)lua_gethook(L) * 0x9e3779b97f4a7c15u + events;
}

/* The interpreter sets the main thread's, hosts that of the coroutine they run. */
static uint64_t sign(void *host, void *caller) { return hook_of(host) * 31 + (caller == host ? 0 : hook_of(caller)); }

void gr_l_can_stop(lua_State *L, gr_context *c) {
#ifdef LUA_RIDX_MAINTHREAD
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  c->stop.host = lua_tothread(L, -1);
#else
  c->stop.host = lua_pushthread(L) ? L : NULL;
#endif
  lua_pop(L, 1);
  c->stop.sign = sign;
}

gr_l_watch gr_l_watch_for(lua_State *L, gr_context *c, int64_t n) {
  gr_l_watch w = {L, c, 0, 0};
  if (n <= GR_L_LOOK) return w;
  c->stop.caller = L;
  c->stop.known = 0;
  gr_stop_begin(&c->stop);
  w.before = c->stop.before;
  w.began = c->stop.began;
  gr_l_called(c, GR_OK);
  return w;
}

void gr_l_look(const gr_l_watch *w) {
  gr_stop *s = &w->c->stop;
  s->caller = w->L;
  s->before = w->before;
  s->began = w->began;
  const int asked = gr_stop_asked(s);
  gr_l_called(w->c, GR_OK);
  if (asked) gr_l_raise(w->L, w->c, gr_fail(w->c, GR_STOPPED, "interrupted"), 1);
}

/* ---- for the Lua parts ---- */

/*
** parts.timed(f, ...): f(...), whose seconds count from here. What a finalizer begins meanwhile goes by the same ones.
** Hooks end Lua code by themselves. Errors stand at the line that called the module.
*/
static int l_timed(lua_State *L) {
  gr_context *c = gr_l_context(L);
  gr_l_state *s = gr_l_state_of(c);
  const int outermost = !s->timed;
  if (outermost) s->timed = gr_nanoseconds();
  const int failed = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  if (outermost) s->timed = 0;
  return failed ? gr_l_error_outside(L, 1) : lua_gettop(L);
}

/* parts.is_due(): whether that is to end. */
static int l_is_due(lua_State *L) {
  gr_context *c = gr_l_context(L);
  lua_pushboolean(L, gr_stop_due(&c->stop, gr_l_state_of(c)->timed));
  return 1;
}

const gr_function gr_stop_parts[] = {{"timed", l_timed, 0}, {"is_due", l_is_due, 0}, {NULL, NULL, 0}};
