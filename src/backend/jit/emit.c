/*
** From a code to PTX: the skeleton with its holes filled. In a hole of rows all loads come first, as many as registers
** are good for, since square roots and quotients branch, and nothing is loaded ahead across a branch; then element by
** element all steps, each as a block of its own, so that the names in shipped bodies cannot meet. What would be more
** lines than the driver compiles in good time is one function, called for each word.
*/
#include "src/backend/jit/element.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/launch.h"
#include "src/backend/jit/holes.h"
#include "src/backend/jit/rings.h"
#include "src/backend/jit/shipped.h"
#include "src/backend/jit/steps.h"
#include "src/backend/jit/tuning.h"

/* Counts the element in the tally, if there is one; guarded: if %ok. */
static void tally(gr_emitter *e, int guarded) {
  if (e->code->tally < 0) return;
  gr_text_add(e->t, "{\n.reg .pred %%counts;\nsetp.ne%s.s32 %%counts, %%v%d, 0%s;\n", guarded ? ".and" : "",
              e->code->tally, guarded ? ", %ok" : "");
  gr_text_add(e->t, "@%%counts add.s32 %%tally, %%tally, 1;\n}\n");
}

/*
** One element, `ahead` positions after %first, to its places in the words of a (and b). left: a register with how many
** there are from %first on, or NULL, if all are there.
*/
static void element(gr_emitter *e, int ahead, const char *left, const int *words, int c, char *const *to_a,
                    char *const *to_b) {
  gr_text_add(e->t, "{\n.reg .b64 %%at;\nadd.s64 %%at, %%first, %d;\n", ahead);
  if (left) gr_text_add(e->t, ".reg .pred %%ok;\nsetp.gt.s32 %%ok, %s, %d;\n", left, ahead);
  gr_emit_nodes(e, words, c, left != NULL);
  gr_emit_put(e, e->code->a, c, to_a);
  if (e->code->b >= 0) gr_emit_put(e, e->code->b, c, to_b);
  tally(e, left != NULL);
  gr_text_add(e->t, "}\n");
}

/* ---- a word by a function ---- */

/* The words %w of a result move down by an element, and the element in %v comes in at the top. */
static void push(gr_emitter *e, int node, int first) {
  const int w = first, bits = 8 * e->size;
  gr_text_add(e->t, "{\n.reg .b32 %%top, %%high;\n");
  if (e->size == 8) {
    gr_text_add(e->t, "mov.b32 %%w%d, %%w%d;\nmov.b32 %%w%d, %%w%d;\nmov.b64 {%%w%d, %%w%d}, %%v%d;\n}\n", w, w + 2,
                w + 1, w + 3, w + 2, w + 3, node);
    return;
  }
  gr_text_add(e->t, "mov.b32 %%top, %%v%d;\n", node);
  for (int k = 0; k < 3; k++) {
    if (bits == 32) gr_text_add(e->t, "mov.b32 %%w%d, %%w%d;\n", w + k, w + k + 1);
    else gr_text_add(e->t, "shf.r.clamp.b32 %%w%d, %%w%d, %%w%d, %d;\n", w + k, w + k, w + k + 1, bits);
  }
  if (bits == 32) gr_text_add(e->t, "mov.b32 %%w%d, %%top;\n}\n", w + 3);
  else gr_text_add(e->t, "shf.r.clamp.b32 %%w%d, %%w%d, %%top, %d;\n}\n", w + 3, w + 3, bits);
}

/*
** The word at position p0, of which p1 elements are there, by arguments at p2: element by element in a loop, so that
** the steps stand there once. For the ends of vectors, where time matters little, and for large formulas.
*/
static void word_function(gr_emitter *e) {
  const int pair = e->code->b >= 0;
  e->inside = 1;
  gr_text_add(e->t,
              ".func (.param .align 16 .b8 r[48]) word(\n.param .b64 p0,\n.param .b32 p1,\n.param .b64 p2\n)\n{\n"
              ".reg .b64 %%at, %%end, %%arguments;\n.reg .b32 %%some, %%tally, %%w<8>;\n.reg .pred %%ok, %%more;\n"
              "ld.param.b64 %%at, [p0];\nld.param.b32 %%some, [p1];\nld.param.b64 %%arguments, [p2];\n");
  for (int k = 0; k < 8; k++) gr_text_add(e->t, "mov.b32 %%w%d, 0;\n", k);
  gr_text_add(e->t, "mov.b32 %%tally, 0;\n");
  gr_text_add(e->t, "add.s64 %%end, %%at, %d;\n$next:\nsetp.gt.s32 %%ok, %%some, 0;\n{\n", 16 / e->size);
  gr_emit_nodes(e, NULL, 0, 1);
  push(e, e->code->a, 0);
  if (pair) push(e, e->code->b, 4);
  tally(e, 1);
  gr_text_add(e->t,
              "}\nadd.s32 %%some, %%some, -1;\nadd.s64 %%at, %%at, 1;\nsetp.lt.s64 %%more, %%at, %%end;\n"
              "@%%more bra $next;\nst.param.v4.b32 [r], {%%w0, %%w1, %%w2, %%w3};\n");
  if (pair) gr_text_add(e->t, "st.param.v4.b32 [r+16], {%%w4, %%w5, %%w6, %%w7};\n");
  gr_text_add(e->t, "st.param.b32 [r+32], %%tally;\n");
  gr_text_add(e->t, "ret;\n}\n");
  e->inside = 0;
}

/* The word `ahead` positions after %first; valid: a number; or left: a register as in element(). */
static void call_word(gr_emitter *e, int ahead, const char *left, const char *valid, char *const *to_a,
                      char *const *to_b) {
  gr_text_add(e->t, "{\n.reg .b32 %%valid;\n");
  if (left) gr_text_add(e->t, "sub.s32 %%valid, %s, %d;\n", left, ahead);
  else gr_text_add(e->t, "mov.b32 %%valid, %s;\n", valid);
  gr_text_add(e->t,
              ".reg .b64 %%at, %%arguments;\nadd.s64 %%at, %%first, %d;\nmov.b64 %%arguments, p0;\n"
              "cvta.param.u64 %%arguments, %%arguments;\n.param .b64 x;\n.param .b32 y;\n.param .b64 z;\n"
              ".param .align 16 .b8 r[48];\nst.param.b64 [x], %%at;\nst.param.b32 [y], %%valid;\n"
              "st.param.b64 [z], %%arguments;\ncall (r), word, (x, y, z);\n",
              ahead);
  gr_text_add(e->t, "ld.param.v4.b32 {%s, %s, %s, %s}, [r];\n", to_a[0], to_a[1], to_a[2], to_a[3]);
  if (e->code->b >= 0)
    gr_text_add(e->t, "ld.param.v4.b32 {%s, %s, %s, %s}, [r+16];\n", to_b[0], to_b[1], to_b[2], to_b[3]);
  if (e->code->tally >= 0)
    gr_text_add(e->t, ".reg .b32 %%more;\nld.param.b32 %%more, [r+32];\nadd.s32 %%tally, %%tally, %%more;\n");
  gr_text_add(e->t, "}\n");
}

/* ---- holes ---- */

/* The words of a line: "@ROWS P : W... : W...", "@WORD P V : W...", "@APART P... : W..." and others. */
static int read_hole(char *line, gr_hole *h) {
  char *word = strtok_r(line, " ", &line);
  int side = 0, counts[3] = {0};
  char **sides[3] = {h->head, h->a, h->b};
  const int most[3] = {GR_HOLE_HEADS, GR_HOLE_WORDS, GR_HOLE_WORDS};
  while ((word = strtok_r(line, " ", &line))) {
    if (*word == ':') side++;
    else if (side < 3 && counts[side] < most[side]) sides[side][counts[side]++] = word;
    else return 0;
    if (side > 2) return 0;
  }
  h->heads = counts[0];
  h->words = counts[1];
  return counts[0] > 0 && (side == 0 || (counts[1] > 0 && (side == 1 || counts[2] == counts[1])));
}

static void open_hole(gr_emitter *e, const gr_hole *h) {
  gr_text_add(e->t, "{\n.reg .b64 %%first;\nshr.u64 %%first, %s, %d;\n", h->head[0], gr_emit_log2(e->size));
}

/* Bytes of an input for so many of results: the address of what belongs to %first; then the loads of a row. */
static void find_words(gr_emitter *e, int k, const char *left) {
  gr_text_add(e->t, ".reg .b64 %%i%d;\n{\n.reg .b64 %%address;\n.reg .pred %%there;\n", k);
  gr_text_add(e->t, "shl.b64 %%i%d, %%first, %d;\n", k, gr_emit_log2(gr_emit_size(e, k)));
  if (left) gr_text_add(e->t, "setp.gt.s32 %%there, %s, 0;\nselp.b64 %%i%d, %%i%d, 0, %%there;\n", left, k, k);
  gr_emit_argument(e, "b64", "%address", gr_jit_input(e->code->nodes[k].input));
  gr_text_add(e->t, "add.s64 %%i%d, %%i%d, %%address;\n}\n", k, k);
}
/*
** left: as in element(). What is missing is loaded from where the first element is, since a register that a load may
** leave as it is would be taken all the time. Inputs hold whole words of 16 bytes.
*/
static void load(gr_emitter *e, const char *left, int ahead, const char *text, const char *to, int k, int at) {
  if (!left || ahead == 0) {
    gr_text_add(e->t, "%s.%s %s, [%%i%d+%d];\n", gr_emit_load(e), text, to, k, at);
    return;
  }
  gr_text_add(
      e->t,
      "{\n.reg .pred %%there;\n.reg .b32 %%ahead;\n.reg .b64 %%address;\nsetp.gt.s32 %%there, %s, %d;\n"
      "selp.b32 %%ahead, %d, 0, %%there;\ncvt.u64.u32 %%address, %%ahead;\nadd.s64 %%address, %%address, %%i%d;\n"
      "%s.%s %s, [%%address];\n}\n",
      left, ahead, at, k, gr_emit_load(e), text, to);
}
/* Gives the register after the last that is loaded. */
static int load_row(gr_emitter *e, int k, int row, char prefix, int first, const char *left) {
  const int size = gr_emit_size(e, k), bytes = 16 / e->size * size, words = gr_emit_words_of(e, k);
  const int ahead = row * (512 / e->size), at = ahead * size;
  char to[64];
  for (int w = 0; w < words; w += 4) {
    const char *type = gr_emit_loaded(bytes, prefix, first + w, to);
    load(e, left, ahead + 4 * w / size, type, to, k, at + 4 * w);
  }
  return first + words;
}

/* The words of all inputs for the word of results at position %q`place`, to registers from `first` on. */
static int load_place(gr_emitter *e, int place, char prefix, int first) {
  const gr_jit_code *code = e->code;
  char to[64];
  for (int k = 0; k < code->count; k++) {
    const int size = gr_emit_size(e, k), words = gr_emit_words_of(e, k);
    if (!gr_emit_by_words(e, &code->nodes[k])) continue;
    gr_text_add(e->t, "{\n.reg .b64 %%address, %%i;\nshl.b64 %%i, %%q%d, %d;\n", place, gr_emit_log2(size));
    gr_emit_argument(e, "b64", "%address", gr_jit_input(code->nodes[k].input));
    gr_text_add(e->t, "add.s64 %%address, %%address, %%i;\n");
    for (int w = 0; w < words; w += 4) {
      const char *type = gr_emit_loaded(16 / e->size * size, prefix, first + w, to);
      gr_text_add(e->t, "%s.%s %s, [%%address+%d];\n", gr_emit_load(e), type, to, 4 * w);
    }
    gr_text_add(e->t, "}\n");
    first += words;
  }
  return first;
}

/* Words that are loaded for one of results. */
static int words_of_place(const gr_emitter *e) {
  int words = 0;
  for (int k = 0; k < e->code->count && !e->apart; k++)
    if (gr_emit_by_words(e, &e->code->nodes[k])) words += gr_emit_words_of(e, k);
  return words;
}

/* Room for what is loaded ahead of so many places: rings, or registers, if they are few. */
static void hold(gr_emitter *e, int places) {
  const int words = places * words_of_place(e);
  if ((e->rings = gr_rings_open(e))) return;
  e->held = words <= (e->code->reducer == GR_JIT_HISTOGRAM ? GR_JIT_HELD_FEW : GR_JIT_HELD) ? words : 0;
  if (e->held) gr_text_add(e->t, ".reg .b32 %%h<%d>;\n", words);
}

/* Rows of which the words of inputs are on their way, to %h. */
static void fill_load(gr_emitter *e, const gr_hole *h) {
  const gr_jit_code *code = e->code;
  const int words = words_of_place(e);
  if (e->rings) gr_rings_fill(e, h);
  if (!e->held) return;
  open_hole(e, h);
  for (int k = 0; k < code->count; k++)
    if (gr_emit_by_words(e, &code->nodes[k])) find_words(e, k, h->head[1]);
  for (int r = 0, next = 0; r < e->held / words; r++)
    for (int k = 0; k < code->count; k++)
      if (gr_emit_by_words(e, &code->nodes[k])) next = load_row(e, k, r, 'h', next, h->head[1]);
  gr_text_add(e->t, "}\n");
}

/* The first words of %h to %l; what comes after moves up. */
static void take_held(gr_emitter *e, int words) {
  for (int k = 0; k < words; k++) gr_text_add(e->t, "mov.b32 %%l%d, %%h%d;\n", k, k);
  for (int k = 0; k + words < e->held; k++) gr_text_add(e->t, "mov.b32 %%h%d, %%h%d;\n", k, k + words);
}

/* Rows that come from a ring, or the first ones of those that are held; else they are loaded here. */
static void fill_rows(gr_emitter *e, gr_hole *h) {
  const gr_jit_code *code = e->code;
  const int rows = h->words / 4, each = 16 / e->size, row = 512 / e->size, row_words = words_of_place(e);
  const int here = !e->held && !e->rings; /* they are loaded */
  const int group = !here || !row_words ? rows : row_words > GR_JIT_LOADED ? 1 : GR_JIT_LOADED / row_words;
  int place[GR_JIT_NODES];
  char every[8];
  snprintf(every, sizeof every, "%d", each);
  open_hole(e, h);
  for (int k = 0; k < code->count && row_words && here; k++)
    if (gr_emit_by_words(e, &code->nodes[k])) find_words(e, k, h->head[1]);
  for (int from = 0; from < rows; from += group) {
    const int end = from + group < rows ? from + group : rows;
    int next = 0;
    gr_text_add(e->t, "{\n.reg .b32 %%l<%d>;\n", (end - from) * row_words + 1);
    if (e->rings) gr_rings_take(e, h);
    if (e->held) take_held(e, rows * row_words);
    for (int r = from; r < end && here; r++)
      for (int k = 0; k < code->count && row_words; k++)
        if (gr_emit_by_words(e, &code->nodes[k])) next = load_row(e, k, r, 'l', next, h->head[1]);
    next = 0;
    for (int r = from; r < end; r++) {
      for (int k = 0; k < code->count && row_words; k++)
        if (gr_emit_by_words(e, &code->nodes[k])) place[k] = next, next += gr_emit_words_of(e, k);
      if (!e->apart) gr_emit_row(e, r * row, h->head[1]);
      for (int c = 0; c < each && !e->apart; c++)
        element(e, r * row + c, h->head[1], place, c, h->a + 4 * r, h->b + 4 * r);
      if (!e->apart) gr_emit_row_end(e);
      if (e->apart) call_word(e, r * row, h->head[1], every, h->a + 4 * r, h->b + 4 * r);
    }
    gr_text_add(e->t, "}\n");
  }
  gr_text_add(e->t, "}\n");
}

static void open_places(gr_emitter *e, const gr_hole *h) {
  gr_text_add(e->t, "{\n.reg .b64 %%q<%d>;\n", h->heads);
  for (int r = 0; r < h->heads; r++)
    gr_text_add(e->t, "shr.u64 %%q%d, %s, %d;\n", r, h->head[r], gr_emit_log2(e->size));
}

static void fill_ahead(gr_emitter *e, const gr_hole *h) {
  if (!e->held) return;
  open_places(e, h);
  for (int r = 0, next = 0; r < h->heads; r++) next = load_place(e, r, 'h', next);
  gr_text_add(e->t, "}\n");
}

static void fill_apart(gr_emitter *e, gr_hole *h) {
  const gr_jit_code *code = e->code;
  const int each = 16 / e->size, words = words_of_place(e);
  const int group = e->held || !words ? h->heads : words > GR_JIT_LOADED ? 1 : GR_JIT_LOADED / words;
  int place[GR_JIT_NODES];
  char every[8];
  snprintf(every, sizeof every, "%d", each);
  open_places(e, h);
  for (int from = 0; from < h->heads; from += group) {
    const int end = from + group < h->heads ? from + group : h->heads;
    gr_text_add(e->t, "{\n.reg .b32 %%l<%d>;\n", (end - from) * words + 1);
    for (int r = from, next = 0; r < end && words && !e->held; r++) next = load_place(e, r, 'l', next);
    for (int k = 0; k < e->held; k++) gr_text_add(e->t, "mov.b32 %%l%d, %%h%d;\n", k, k);
    for (int r = from, next = 0; r < end; r++) {
      gr_text_add(e->t, "{\n.reg .b64 %%first;\nmov.b64 %%first, %%q%d;\n", r);
      for (int k = 0; k < code->count && words; k++)
        if (gr_emit_by_words(e, &code->nodes[k])) place[k] = next, next += gr_emit_words_of(e, k);
      if (!e->apart) gr_emit_row(e, 0, NULL);
      for (int c = 0; c < each && !e->apart; c++) element(e, c, NULL, place, c, h->a + 4 * r, h->b + 4 * r);
      if (!e->apart) gr_emit_row_end(e);
      if (e->apart) call_word(e, 0, NULL, every, h->a + 4 * r, h->b + 4 * r);
      gr_text_add(e->t, "}\n");
    }
    gr_text_add(e->t, "}\n");
  }
  gr_text_add(e->t, "}\n");
}

/* Lines of 128 bytes of inputs that belong to one of results. */
static void fill_announce(gr_emitter *e, const gr_hole *h) {
  const gr_jit_code *code = e->code;
  open_places(e, h);
  for (int k = 0; k < code->count; k++) {
    const int size = gr_emit_size(e, k);
    if (!gr_emit_by_words(e, &code->nodes[k])) continue;
    gr_text_add(e->t, "{\n.reg .b64 %%address, %%i;\nshl.b64 %%i, %%q0, %d;\n", gr_emit_log2(size));
    gr_emit_argument(e, "b64", "%address", gr_jit_input(code->nodes[k].input));
    gr_text_add(e->t, "add.s64 %%address, %%address, %%i;\n");
    for (int at = 0; at < 128 * size / e->size; at += 128)
      gr_text_add(e->t, "prefetch.global.L2 [%%address+%d];\n", at);
    gr_text_add(e->t, "}\n");
  }
  gr_text_add(e->t, "}\n");
}

static void fill_word(gr_emitter *e, gr_hole *h) {
  open_hole(e, h);
  call_word(e, 0, h->head[1], NULL, h->a, h->b);
  gr_text_add(e->t, "}\n");
}

/* ---- the whole ---- */

/* Rows of all holes. */
static int rows_of(const char *text) {
  int count = 0;
  for (const char *p = text; (p = strchr(p, '@')); p++) {
    const char *end = strchr(p, '\n');
    int here = 0;
    if (strncmp(p, "@ROWS ", 6) != 0 && strncmp(p, "@NEXT ", 6) != 0 && strncmp(p, "@APART ", 7) != 0) continue;
    for (const char *q = strchr(p, ':') + 1; q < end && *q != ':'; q++) here += *q == ' ' && q[1] == '%';
    count += here / 4;
  }
  return count;
}

/* The most a thread may have: that of the skeleton, unless many nodes are alive at once. */
static int registers(const gr_emitter *e, int own, int lines) {
  if (e->code->present) return own;
  if (e->code->reducer == GR_JIT_ENDS && lines <= GR_JIT_FEW_LINES) return GR_JIT_ENDS_REGISTERS;
  if (e->code->reducer == GR_RED_ARGMAX && e->code->number && e->code->early && e->size >= 4 &&
      lines <= GR_JIT_FEW_LINES)
    return GR_JIT_POSITION_REGISTERS;
  if (e->code->reducer == GR_JIT_BOTH && lines <= GR_JIT_FEW_LINES) return GR_JIT_BOTH_REGISTERS;
  const int more = e->code->inputs > 2 || lines > GR_JIT_FEW_LINES || e->apart ? GR_JIT_MANY_REGISTERS : own;
  return more > own ? more : own;
}

static void special_line(gr_emitter *e, char *line, int lines) {
  const gr_jit_code *code = e->code;
  gr_hole h = {0};
  if (line[1] == 'P') {
    e->base = atoi(line + 3);
    gr_text_add(e->t, ".visible .entry formula(\n.param .align 8 .b8 p0[%d]\n)\n", e->base + 8 * gr_jit_words(code));
  } else if (line[1] == 'R' && line[2] == ' ') {
    gr_text_add(e->t, ".maxnreg %d\n", registers(e, atoi(line + 3), lines));
    if (code->rings) gr_text_add(e->t, ".maxntid %d, 1, 1\n", GR_RING_THREADS);
  } else if (!strcmp(line, "@START")) {
    gr_text_add(e->t, ".reg .b32 %%tally;\nmov.b32 %%tally, 0;\n");
  } else if (!strncmp(line, "@TALLY ", 7)) { /* its register, and a state that comes before */
    line[strcspn(line + 7, " ") + 7] = 0;
    gr_text_add(e->t, "mov.b32 %s, %%tally;\n", line + 7);
  } else if (!strcmp(line, "@AWAIT_EARLIER")) {
    if (code->early) gr_text_add(e->t, "griddepcontrol.wait;\n");
  } else if (!strcmp(line, "@LET_NEXT_START")) {
    if (code->early) gr_text_add(e->t, "griddepcontrol.launch_dependents;\n");
  } else if (!strncmp(line, "@HOLD ", 6)) {
    hold(e, atoi(line + 6));
  } else if (!read_hole(line, &h)) {
    e->why = "its skeleton is not as it should be";
  } else if (code->states) {
    if (h.heads == 1) gr_fill_merge(e, &h);
    else gr_fill_element(e, &h);
  } else if (line[1] == 'W') {
    fill_word(e, &h);
  } else if (line[1] == 'N') {
    fill_rows(e, &h);
  } else if (line[1] == 'L') {
    fill_load(e, &h);
  } else if (!strncmp(line, "@AHEAD", 6)) {
    fill_ahead(e, &h);
  } else if (!strncmp(line, "@APART", 6)) {
    fill_apart(e, &h);
  } else if (!strncmp(line, "@ANNOUNCE", 9)) {
    fill_announce(e, &h);
  } else {
    fill_rows(e, &h);
  }
}

static const char *const short_names[] = {
#define GR_X(id, s, l, type, kind) #s,
    GR_DTYPES(GR_X)
#undef GR_X
};
static const char *const scans[] = {"sum", "prod", "order"};
/* Without a tally, and with one. */
static const char *const of_present[][2] = {[GR_PRESENT_leaves] = {"present", "counted"},
                                            [GR_PRESENT_rows_staged] = {"rows_staged", "counted_staged"},
                                            [GR_PRESENT_rows_by_element] = {"rows_by_element", "counted_rows"},
                                            [GR_PRESENT_cols_unordered] = {"cols_unordered", ""},
                                            [GR_PRESENT_cols_flat] = {"cols_flat", "counted_flat"},
                                            [GR_PRESENT_cols_sum] = {"cols_sum", "counted_columns"}};

/* Whether the kernel asks what is NaN: instructions of extremes leave it out, and squares need no more than these. */
static int asks(const gr_jit_code *code) {
  return code->reducer != GR_RED_MINMAX && code->reducer != GR_RED_ARGMIN && code->reducer != GR_RED_ARGMAX &&
         code->reducer != GR_RED_SUMSQ;
}

/* The name of the skeleton in what the module carries (shipped.h). */
static char *skeleton_of(const gr_emitter *e, const char **why) {
  const gr_jit_code *code = e->code;
  const int size = e->size, dtype = code->dtype;
  const char *short_name = short_names[dtype];
  char name[40] = "";
  if (code->present) /* early: on Hopper, or later */
    snprintf(name, sizeof name, "%s%s %d %d", code->early && dtype == GR_BF16 && asks(code) ? "hopper " : "",
             of_present[code->present][code->tally >= 0], code->reducer, dtype);
  else if (code->reducer >= 0)
    snprintf(name, sizeof name, "%s %d %d %d", code->tally < 0 ? "reduce" : "tallied", code->number, code->reducer,
             dtype);
  else switch ((gr_jit_other)code->reducer) {
      case GR_JIT_STORE: snprintf(name, sizeof name, "gr_formula_store_%d", size); break;
      case GR_JIT_BOTH: snprintf(name, sizeof name, "both %d", dtype); break;
      case GR_JIT_ENDS: snprintf(name, sizeof name, "ends %d", dtype); break;
      case GR_JIT_COLUMNS_SUM: snprintf(name, sizeof name, "columns %d", dtype); break;
      case GR_JIT_HISTOGRAM: snprintf(name, sizeof name, "gr_histogram_%d_%s", code->variant, short_name); break;
      case GR_JIT_SCAN:
        snprintf(name, sizeof name, "gr_scan_%s_%s_%s", code->variant < 3 ? "short" : "long", scans[code->variant % 3],
                 short_name);
        break;
      case GR_JIT_OPERATOR:
        snprintf(name, sizeof name, "gr_operator_%s_%d_%d", e->apart ? "apart" : "loop", size,
                 gr_jit_skeleton_words(e->words));
        break;
    }
  return gr_shipped_text(name, why);
}

int gr_jit_ptx(const gr_jit_code *code, gr_text *out, const char **why) {
  gr_emitter e = {.code = code, .t = out, .to = code->count};
  e.size = gr_size_of((gr_dtype)(code->states ? code->dtype : code->nodes[code->a].dtype));
  e.words = gr_jit_state_words(code);
  if (!gr_steps_read(why)) return 0;
  gr_emit_find_raw(&e);
  const int lines = gr_emit_lines(&e), each = 16 / e.size;
  *why = "it has too many steps";
  if (lines > GR_JIT_MOST_LINES / 2) return 0; /* nothing can interrupt the driver's compiler */
  if (code->states) e.apart = e.words > GR_JIT_LOOP_WORDS || lines * each > GR_JIT_LOOP_LINES;
  char *text = skeleton_of(&e, why);
  if (!text) return 0;
  if (!code->states) e.apart = (int64_t)rows_of(text) * each * lines > GR_JIT_MOST_LINES;
  char *arguments = strstr(text, "@P ");
  e.base = arguments ? atoi(arguments + 3) : 0;
  const int target = code->early ? 90 : code->reducer == GR_JIT_SCAN || code->present ? 80 : 75;
  gr_text_add(out, ".version 7.8\n.target sm_%d\n.address_size 64\n", target);
  if (code->reducer == GR_JIT_HISTOGRAM) gr_text_add(out, ".pragma \"nounroll\";\n"); /* of how counters are read */
  gr_emit_functions(&e);
  if (e.apart ? !code->states : strstr(text, "@WORD ") != NULL) word_function(&e);
  for (char *line = text, *end; *line && (end = strchr(line, '\n')); line = end + 1) {
    if (*line != '@' || line[1] == '%' || line[1] == '!') {
      gr_text_bytes(out, line, (size_t)(end + 1 - line));
    } else {
      *end = 0;
      special_line(&e, line, lines);
    }
  }
  free(text);
  *why = e.why ? e.why : "out of memory";
  return !e.why && !out->failed;
}
