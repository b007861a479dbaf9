/* What the Lua part `help` needs of the reference, which is packed as reference.h says. */
#include "src/binding/parts.h"
#include "src/binding/reference.h"

static void add_byte(luaL_Buffer *b, unsigned char byte) {
  const unsigned char *pair = gr_reference_pairs[byte];
  if (!pair[0]) {
    luaL_addchar(b, (char)byte);
    return;
  }
  add_byte(b, pair[0]);
  add_byte(b, pair[1]);
}

static void add_line(luaL_Buffer *b, int line) {
  for (uint32_t k = line ? gr_reference_ends[line - 1] : 0; k < gr_reference_ends[line]; k++)
    add_byte(b, gr_reference_bytes[k]);
}

/* parts.topics(): the names of all, in the reference's order; those of chapters behind "# ". */
static int l_topics(lua_State *L) {
  int count = 0;
  lua_newtable(L);
  for (const uint16_t *t = gr_reference_topics; *t; t += *t + 1) {
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    add_line(&b, t[1]);
    luaL_pushresult(&b);
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

/* parts.topic(k): the text of the k-th of them. */
static int l_topic(lua_State *L) {
  lua_Integer k = luaL_checkinteger(L, 1);
  const uint16_t *t = gr_reference_topics;
  luaL_Buffer b;
  while (*t && --k > 0) t += *t + 1;
  luaL_buffinit(L, &b);
  for (int line = 2; line <= *t; line++) {
    if (line > 2) luaL_addchar(&b, '\n');
    add_line(&b, t[line]);
  }
  luaL_pushresult(&b);
  return 1;
}

const gr_function gr_help_parts[] = {{"topics", l_topics, 0}, {"topic", l_topic, 0}, {NULL, NULL, 0}};
