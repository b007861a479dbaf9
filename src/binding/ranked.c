/* Reductions over ranks: of what {comm = comm} says that each has a part. */
#include "src/binding/matrix.h"
#include "src/binding/options.h"
#include "src/binding/ranks.h"
#include "src/binding/values.h"
#include "src/core/ranks/each.h"

/* The arrays are made by the core: a rank without rows does not know how many columns there are. */
static int push_columns(lua_State *L, gr_context *c, gr_comm *comm, const gr_partial_reduction *p, int kept) {
  const int two = p->op == GR_OP_minmax;
  const gr_dtype t = p->single ? GR_F32 : p->exact ? GR_F64 : gr_result_dtype(p->op, p->of.a.a->dtype);
  gr_array *out[2] = {gr_l_push_array(L), two ? gr_l_push_array(L) : NULL};
  GR_TRY_RANKS(L, c, comm, 1, gr_partial_ranks(c, p, t, out[0], out[1]));
  for (int k = 0; k <= two && kept; k++) gr_l_keep_dimensions(out[k], kept);
  return 1 + two;
}

int gr_l_push_ranks(lua_State *L, gr_context *c, gr_comm *comm, const gr_partial_reduction *p, int options, int kept) {
  gr_value x = {.is_float = 1};
  int rank = 0;
  if (p->shape.rows && p->shape.axis != 1) gr_l_refuse_with_comm(L, options, "rows");
  if (p->shape.rows) return push_columns(L, c, comm, p, kept);
  GR_TRY_RANKS(L, c, comm, 1, gr_partial_all(c, p, &x));
  if (p->single) x.v[0].f = gr_single(x.v[0].f);
  const int count = gr_l_push_result(L, p->op, &x);
  if (p->op != GR_OP_argmin && p->op != GR_OP_argmax) return count;
  while (comm->starts[rank + 1] < x.v[0].i) rank++;
  lua_pushinteger(L, rank);
  return 2;
}

/* The communicator of a table that has nothing else in it; NULL: it has more, or none. */
static gr_comm *only_comm(lua_State *L, int i) {
  gr_comm *comm = NULL;
  if (!lua_istable(L, i)) return NULL;
  lua_pushnil(L);
  if (!lua_next(L, i)) return NULL;
  if (lua_type(L, -2) == LUA_TSTRING && gr_same_word(lua_tostring(L, -2), "comm"))
    comm = gr_l_test_object(L, -1, GR_OWN(comm));
  lua_pop(L, 1);
  if (comm && lua_next(L, i)) lua_pop(L, 1), comm = NULL;
  else if (comm) lua_pushnil(L); /* as a key would be there still */
  lua_pop(L, 1);
  return comm && comm->handle && !gr_l_inherits(L, i) ? comm : NULL;
}

int gr_l_push_over_ranks(lua_State *L, gr_context *c, gr_op op, const gr_array *a, const gr_array *b, int options) {
  const gr_partial of = {.a = {NULL, (gr_array *)(uintptr_t)a}, .b = {NULL, (gr_array *)(uintptr_t)b}};
  const gr_partial_reduction p = {.op = op, .shape = {.axis = 2}, .of = of};
  gr_comm *comm = c->exact ? NULL : only_comm(L, options);
  if (!comm) return 0;
  if (b) gr_l_check_pair(L, a, b, 2);
  return gr_l_push_ranks(L, c, comm, &p, options, 0);
}

/* ---- gr.many ---- */

int gr_l_read_item(lua_State *L, int item, int more, int operations, gr_ranks_wanted *x) {
  const gr_array *of[2] = {NULL, NULL};
  const int64_t inputs = lua_istable(L, item) ? (int64_t)lua_rawlen(L, item) - 1 - more : 0;
  if (inputs != 1 && inputs != 2) return 0;
  gr_rawgeti(L, item, 1);
  lua_rawget(L, operations);
  if (lua_isnil(L, -1)) return 0;
  const gr_op op = (gr_op)lua_tointeger(L, -1);
  for (int j = 0; j < inputs; j++) {
    gr_rawgeti(L, item, 2 + j);
    of[j] = gr_l_test_array(L, -1);
    if (!of[j] || gr_array_released(of[j])) return 0;
  }
  const gr_array *a = of[0], *b = of[1];
  *x = (gr_ranks_wanted){.op = op, .a = a, .b = b};
  return gr_ops[op].inputs == inputs &&
         (!b || (b->dtype == a->dtype && b->n == a->n && b->storage->queue == a->storage->queue));
}

/* Item k, of a list at 1: a name, its arrays and {comm = comm}. 0: there is more to it. */
static int read_item(lua_State *L, int k, int operations, gr_ranks_wanted *x, gr_comm **comm) {
  gr_rawgeti(L, 1, k);
  const int item = lua_gettop(L);
  if (!gr_l_read_item(L, item, 1, operations, x)) return 0;
  gr_rawgeti(L, item, 2 + gr_ops[x->op].inputs);
  gr_comm *own = only_comm(L, lua_gettop(L));
  if (!own || (*comm && own != *comm)) return 0;
  *comm = own;
  return 1;
}

int gr_l_many_ranks(lua_State *L, gr_context *c, int n, int operations) {
  gr_ranks_wanted list[GR_RANKED_MOST];
  gr_comm *comm = NULL;
  const int top = lua_gettop(L);
  if (n > GR_RANKED_MOST || c->exact || !lua_checkstack(L, 8 * n + 16)) return -1;
  for (int k = 0; k < n; k++)
    if (!read_item(L, k + 1, operations, &list[k], &comm)) return lua_settop(L, top), -1;
  GR_TRY_RANKS(L, c, comm, 1, gr_reduce_ranked(c, list, n, GR_OK)); /* operands and communicator are on the stack */
  lua_settop(L, top);
  for (int k = 0; k < n; k++) {
    gr_l_push_result(L, list[k].op, &list[k].value);
    if (list[k].op == GR_OP_argmin || list[k].op == GR_OP_argmax) lua_pushinteger(L, list[k].rank);
  }
  return lua_gettop(L) - top;
}
