#include "src/backend/jit/rings.h"

#include <stdio.h>

#include "kernels/cuda/launch.h"
#include "src/backend/jit/tuning.h"

#define THREADS 256   /* of a block, at most */
#define ROW_BYTES 512 /* of results, of a warp: 32 words of 16 bytes */

/* Bytes of an input that belong to a word of results; 0: it is none that is loaded by words. */
static int bytes_of(const gr_emitter *e, int k) {
  return gr_emit_by_words(e, &e->code->nodes[k]) ? 16 / e->size * gr_emit_size(e, k) : 0;
}

/* What one copy takes. */
static int copied_at_once(int bytes) { return bytes < 16 ? bytes : 16; }

int gr_rings_open(gr_emitter *e) {
  const gr_jit_code *code = e->code;
  int all = 0, kinds = 0, rows = GR_JIT_RING_ROWS;
  if (!code->rings || e->apart) return 0;
  for (int k = 0; k < code->count; k++) {
    const int bytes = bytes_of(e, k);
    if (bytes == 2) return 0; /* no copy is so short */
    e->ring_at[k] = THREADS * all;
    all += bytes;
    kinds |= bytes;
  }
  if (THREADS * all * rows > GR_JIT_RING_BYTES) rows /= 2;
  if (all == 0 || THREADS * all * rows > GR_JIT_RING_BYTES) return 0;
  e->ring_row = THREADS * all;
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

/* %slot: where this thread's words of the row `ahead` rows after the hole's begin, of inputs with so many bytes. */
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
static void ask(gr_emitter *e, const gr_hole *h, int ahead, const char *to) {
  gr_text_add(e->t, "setp.gt.s32 %s, %s, %d;\n", to, h->head[1], ahead * (ROW_BYTES / e->size));
}

/* Copies them to their slot. */
static void copy_row(gr_emitter *e, const gr_hole *h, int ahead) {
  gr_text_add(e->t, "{\n.reg .pred %%there;\n");
  ask(e, h, ahead, "%there");
  for (int k = 0; k < e->code->count; k++) {
    const int bytes = bytes_of(e, k), each = copied_at_once(bytes);
    if (bytes == 0) continue;
    gr_text_add(e->t, "{\n");
    find_slot(e, h, bytes, ahead % e->rings);
    find_input(e, h, k);
    for (int b = 0; b < bytes; b += each)
      gr_text_add(e->t, "@%%there cp.async.%s.shared.global [%%slot+%d], [%%from+%d], %d;\n", each == 16 ? "cg" : "ca",
                  e->ring_at[k] + b, ahead * (ROW_BYTES / 16) * bytes + b, each);
    gr_text_add(e->t, "}\n");
  }
  gr_text_add(e->t, "}\ncp.async.commit_group;\n");
}

void gr_rings_fill(gr_emitter *e, const gr_hole *h) {
  const int label = e->labels++;
  gr_text_add(e->t, "@%%primed bra $primed%d;\n", label);
  for (int r = 0; r < e->rings; r++) copy_row(e, h, r);
  gr_text_add(e->t, "$primed%d:\n", label);
}

void gr_rings_take(gr_emitter *e, const gr_hole *h) {
  char to[64];
  gr_text_add(e->t, "cp.async.wait_group %d;\n", e->rings - 1);
  for (int k = 0, first = 0; k < e->code->count; k++) {
    const int bytes = bytes_of(e, k);
    if (bytes == 0) continue;
    gr_text_add(e->t, "{\n");
    find_slot(e, h, bytes, 0);
    for (int b = 0; b < bytes; b += 16) {
      const char *type = gr_emit_loaded(bytes, 'l', first + b / 4, to);
      gr_text_add(e->t, "ld.shared.%s %s, [%%slot+%d];\n", type, to, e->ring_at[k] + b);
    }
    gr_text_add(e->t, "}\n");
    first += gr_emit_words_of(e, k);
  }
  copy_row(e, h, e->rings);
  ask(e, h, 1, "%primed");
}
