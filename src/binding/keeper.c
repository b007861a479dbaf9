/* A kept value is in the registry. When its wrapping goes, the next release removes it from there. */
#include <stdlib.h>

#include "src/binding/keeper.h"
#include "src/core/dlpack.h"

typedef struct gr_orphan {
  struct gr_orphan *next;
  int reference;
} gr_orphan;

typedef struct keeper {
  gr_orphan orphan; /* where it goes at the end */
  gr_context *context;
} keeper;

/* Called where no Lua state is known, so the reference is only put on a list. */
static void release_keeper(void *owner) {
  keeper *k = owner;
  gr_l_state *s = gr_l_state_of(k->context);
  k->orphan.next = s->orphans;
  s->orphans = &k->orphan;
}

void gr_l_forget_orphans(lua_State *L, gr_context *c) {
  gr_l_state *s = gr_l_state_of(c);
  if (L) gr_dlpack_settle(c); /* which may make some */
  while (s->orphans) {
    gr_orphan *o = s->orphans;
    s->orphans = o->next;
    if (L) luaL_unref(L, LUA_REGISTRYINDEX, o->reference);
    free(o);
  }
}

static void release_wrapped(lua_State *L, gr_array *a) {
  gr_context *c = a->storage->context;
  c->refs++; /* the storage may be its last */
  gr_array_release(a);
  gr_l_forget_orphans(L, c);
  gr_context_drop(c);
}

void gr_l_release(lua_State *L, gr_array *a) {
  if (a->storage->outside || a->storage->exported) release_wrapped(L, a);
  else gr_array_release(a);
}

void gr_l_keep(lua_State *L, gr_context *c, int i, gr_wrapping *w) {
  keeper *k = calloc(1, sizeof *k);
  if (!k) luaL_error(L, "gpureduce: out of memory");
  k->context = c;
  lua_pushvalue(L, i);
  k->orphan.reference = luaL_ref(L, LUA_REGISTRYINDEX);
  w->owner = k;
  w->release = release_keeper;
}
