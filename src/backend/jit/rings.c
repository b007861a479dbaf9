#include "src/backend/jit/rings.h"

#include <stdio.h>

#include "kernels/cuda/launch.h"
#include "src/backend/jit/tuning.h"

#define ROW_BYTES 512 /* of results, of a warp: 32 words of 16 bytes */

/* Bytes of an input that belong to a word of results; 0: it is none that is loaded by words. */
static int bytes_of(const gr_emitter *e, int k) {
  return gr_emit_by_words(e, &e->code->nodes[k]) ? 16 / e->size * gr_emit_size(e, k) : 0;
}

/* Whether one copy takes so many bytes. */
static int is_one_copy(int bytes) { return bytes == 4 || bytes == 8 || bytes == 16; }

int gr_rings_open(gr_emitter *e) {
  const gr_jit_code *code = e->code;
  int all = 0, kinds = 0, rows = GR_JIT_RING_ROWS;
  if (!code->rings || e->apart) return 0;
  for (int k = 0; k < code->count; k++) {
    const int bytes = bytes_of(e, k);
    if (bytes > 0 && !is_one_copy(bytes)) return 0;
    e->ring_at[k] = GR_RING_THREADS * all;
    all += bytes;
    kinds |= bytes;
  }
  if (GR_RING_THREADS * all * rows > GR_JIT_RING_BYTES) rows /= 2;
  if (all == 0 || GR_RING_THREADS * all * rows > GR_JIT_RING_BYTES) return 0;
  e->ring_row = GR_RING_THREADS * all;
  gr_text_add(e->t, ".shared .align 16 .b8 ring[%d];\n.reg .pred %%primed;\nsetp.ne.s32 %%primed, 0, 0;\n",
              e->ring_row * rows);
  for (int bytes = 4; bytes <= kinds; bytes *= 2)
    if (kinds & bytes)
      gr_text_add(e->t,
                  ".reg .b32 %%ring%d;\n{\n.reg .b32 %%thread;\nmov.u32 %%thread, %%tid.x;\nmov.u32 %%ring%d, ring;\n"
                  "mad.lo.s32 %%ring%d, %%thread, %d, %%ring%d;\n}\n",
                  bytes, bytes, bytes, bytes, bytes);
  return rows;
}

/*
** %slot: where this thread's words begin, of the row `ahead` rows after the hole's, in rings of inputs with so many
** bytes a word; those of a node are ring_at bytes further.
*/
static void find_slot(gr_emitter *e, const gr_hole *h, int bytes, int ahead) {
  gr_text_add(e->t, ".reg .b32 %%slot;\ncvt.u32.u64 %%slot, %s;\n", h->head[0]);
  if (ahead > 0) gr_text_add(e->t, "add.s32 %%slot, %%slot, %d;\n", ahead * ROW_BYTES);
  gr_text_add(e->t, "and.b32 %%slot, %%slot, %d;\nmad.lo.s32 %%slot, %%slot, %d, %%ring%d;\n",
              (e->rings - 1) * ROW_BYTES, e->ring_row / ROW_BYTES, bytes);
}

/* %from: where an input has what belongs to the hole's row. */
static void find_input(gr_emitter *e, const gr_hole *h, int k) {
  gr_text_add(e->t, ".reg .b64 %%from, %%input;\nmov.b64 %%from, %s;\n", h->head[0]);
  if (gr_emit_size(e, k) != e->size)
    gr_text_add(e->t, "shr.u64 %%from, %%from, %d;\nshl.b64 %%from, %%from, %d;\n", gr_emit_log2(e->size),
                gr_emit_log2(gr_emit_size(e, k)));
  gr_emit_argument(e, "b64", "%input", gr_jit_input(e->code->nodes[k].input));
  gr_text_add(e->t, "add.s64 %%from, %%from, %%input;\n");
}

/* Whether this thread has elements of the row `ahead` rows after the hole's. */
static void is_there(gr_emitter *e, const gr_hole *h, int ahead, const char *to) {
  gr_text_add(e->t, "setp.gt.s32 %s, %s, %d;\n", to, h->head[1], ahead * (ROW_BYTES / e->size));
}

/* Copies that row, if it is there, to its slot. A thread without it has a group, too, as it waits by groups. */
static void copy_row(gr_emitter *e, const gr_hole *h, int ahead) {
  gr_text_add(e->t, "{\n.reg .pred %%there;\n");
  is_there(e, h, ahead, "%there");
  for (int k = 0; k < e->code->count; k++) {
    const int bytes = bytes_of(e, k);
    if (bytes == 0) continue;
    gr_text_add(e->t, "{\n");
    find_slot(e, h, bytes, ahead % e->rings);
    find_input(e, h, k);
    gr_text_add(e->t, "@%%there cp.async.%s.shared.global [%%slot+%d], [%%from+%d], %d;\n}\n",
                bytes == 16 ? "cg" : "ca", e->ring_at[k], ahead * (ROW_BYTES / 16) * bytes, bytes);
  }
  gr_text_add(e->t, "}\ncp.async.commit_group;\n");
}

void gr_rings_fill(gr_emitter *e, const gr_hole *h) {
  const int label = e->labels++;
  gr_text_add(e->t, "@%%primed bra $primed%d;\n", label);
  for (int r = 0; r < e->rings; r++) copy_row(e, h, r);
  gr_text_add(e->t, "$primed%d:\n", label);
}

/* The same thread reads a slot before it asks for the slot's next row: that needs no barrier. */
void gr_rings_take(gr_emitter *e, const gr_hole *h) {
  char to[64];
  if (h->words != 4) e->why = "its skeleton takes other than one row from a ring";
  gr_text_add(e->t, "cp.async.wait_group %d;\n", e->rings - 1);
  for (int k = 0, first = 0; k < e->code->count; k++) {
    const int bytes = bytes_of(e, k);
    if (bytes == 0) continue;
    const char *type = gr_emit_loaded(bytes, 'l', first, to);
    gr_text_add(e->t, "{\n");
    find_slot(e, h, bytes, 0);
    gr_text_add(e->t, "ld.shared.%s %s, [%%slot+%d];\n}\n", type, to, e->ring_at[k]);
    first += gr_emit_words_of(e, k);
  }
  copy_row(e, h, e->rings);
  is_there(e, h, 1, "%primed");
}
