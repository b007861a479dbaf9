/* The holes of operators: what makes states of an element, and what merges two of them. */
#include "src/backend/jit/holes.h"

/* Nodes from .. to - 1, and the states that they give to words of that prefix. */
static void states(gr_emitter *e, int from, int to, const int16_t *gives, const char *prefix) {
  const gr_jit_code *code = e->code;
  gr_text_add(e->t, "{\n");
  e->from = from;
  e->to = to;
  gr_emit_nodes(e, NULL, 0, 0);
  for (int k = 0, word = 0; k < code->states; k++) {
    gr_emit_state(e, gives[k], (gr_dtype)code->state[k], prefix, word);
    word += gr_size_of((gr_dtype)code->state[k]) == 8 ? 2 : 1;
  }
  gr_text_add(e->t, "}\n");
}

/* The words of a hole, or of what there is in them, from or to registers of that prefix. */
static void move_words(gr_emitter *e, char *const *words, int count, const char *prefix, int back) {
  for (int k = 0; k < count; k++)
    if (back) gr_text_add(e->t, "mov.b32 %s, %s%d;\n", words[k], prefix, k);
    else gr_text_add(e->t, "mov.b32 %s%d, %s;\n", prefix, k, words[k]);
}

/* In a function, where a register says where they are. */
static void find_arguments(gr_emitter *e, const char *where) {
  if (!where) return;
  gr_text_add(e->t, ".reg .b64 %%arguments;\nmov.b64 %%arguments, %s;\n", where);
  e->inside = 1;
}

void gr_fill_element(gr_emitter *e, const gr_hole *h) {
  const gr_jit_code *code = e->code;
  gr_text_add(e->t,
              "{\n.reg .b32 %%x<2>, %%a<%d>, %%m<%d>, %%n<%d>;\n.reg .b64 %%at;\n.reg .pred %%one;\n"
              "mov.b32 %%x0, %s;\nmov.b32 %%x1, %s;\nmov.b64 %%at, %s;\nsetp.ne.s32 %%one, %s, 0;\n",
              h->words, h->words, h->words, h->head[0], h->head[1], h->head[2], h->head[3]);
  move_words(e, h->a, e->words, "%a", 0);
  find_arguments(e, h->head[4]);
  states(e, 0, code->map_count, code->mapped, "%m");
  states(e, code->map_count, code->count, code->merged, "%n");
  e->inside = 0;
  for (int k = 0; k < e->words; k++) gr_text_add(e->t, "selp.b32 %s, %%m%d, %%n%d, %%one;\n", h->a[k], k, k);
  gr_text_add(e->t, "}\n");
}

void gr_fill_merge(gr_emitter *e, const gr_hole *h) {
  const gr_jit_code *code = e->code;
  gr_text_add(e->t, "{\n.reg .b32 %%a<%d>, %%m<%d>, %%n<%d>;\n", h->words, h->words, h->words);
  move_words(e, h->a, e->words, "%a", 0);
  move_words(e, h->b, e->words, "%m", 0);
  find_arguments(e, h->head[0]);
  states(e, code->map_count, code->count, code->merged, "%n");
  e->inside = 0;
  move_words(e, h->a, e->words, "%n", 1);
  gr_text_add(e->t, "}\n");
}
