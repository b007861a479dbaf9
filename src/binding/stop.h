/* Calls that can be stopped while they run. */
#ifndef GR_L_STOP_H
#define GR_L_STOP_H

#include "src/binding/state.h"

/* A new context: the hooks of its Lua state can stop it. */
void gr_l_can_stop(lua_State *L, gr_context *);

/*
** For loops of the binding's own, over n elements: every GR_L_LOOK of them a look, which raises when the call is to
** end.
*/
#define GR_L_LOOK 65536
typedef struct gr_l_watch {
  lua_State *L;
  gr_context *c;
  uint64_t before;
  int64_t began;
} gr_l_watch;
gr_l_watch gr_l_watch_for(lua_State *L, gr_context *, int64_t n);
void gr_l_look(const gr_l_watch *);

#endif
