/*
** Columns of a formula's elements: panels of neighbouring columns, of which a leaf's rows are made at a time, and then
** turned strip by strip, as columns.c does it with what lies in memory.
*/
#include <stdlib.h>
#include "kernels/cpu/formula/feed.h"
#include "kernels/cpu/reduce/reduce.h"

typedef struct panels {
  const gr_plan *p;
  gr_feed *feed;
  int64_t across, piece, pieces; /* panels beside each other; rows to a task, a power of two of leaves; tasks a panel */
  gr_acc *states;                /* when panels are cut: [piece][column] */
} panels;

static int width_of(const panels *s, int64_t v) {
  const int64_t left = s->p->job->count - v;
  return left < GR_PANEL ? (int)left : GR_PANEL;
}

typedef struct turned {
  char x[GR_STRIP_ROOM], y[GR_STRIP_ROOM];
  gr_counter c[GR_PANEL];
} turned;

/* States of columns v .. v + columns - 1 over rows from .. from + n; from is where a leaf starts. */
static void do_panel(const panels *s, int64_t v, int columns, int64_t from, int64_t n, gr_acc *states) {
  const gr_plan *p = s->p;
  const int leaf = GR_LEAF(p->size), strip = GR_STRIP_BYTES / (leaf * p->size), two = p->inputs == 2;
  const int set = gr_feed_take(s->feed);
  const int64_t pitch = (n < leaf ? n : leaf) * p->size + GR_STRIP_PAD;
  turned *room = gr_room_take(sizeof(*room));
  char *x = room->x, *y = room->y;
  gr_counter *c = room->c;
  for (int k = 0; k < columns; k++) gr_counter_begin(&c[k]);
  for (int64_t left = n; left > 0; left -= leaf, from += leaf) {
    const int64_t m = left < leaf ? left : leaf;
    gr_vec a, b;
    gr_feed_rows(s->feed, set, from, m, v, columns, &a, &b);
    for (int k = 0; k < columns; k += strip) {
      const int width = columns - k < strip ? columns - k : strip;
      gr_turn(p->size, x, pitch, (const char *)a.data + k * p->size, a.stride, m, width);
      if (two) gr_turn(p->size, y, pitch, (const char *)b.data + k * p->size, b.stride, m, width);
      for (int j = 0; j < width; j++) {
        gr_acc acc = p->span(x + j * pitch, two ? y + j * pitch : NULL, m, p->job);
        if (p->kind == GR_ACC_POSITION) acc.i[1] += from;
        gr_counter_push(&c[k + j], p->red, p->kind, acc);
      }
    }
  }
  for (int k = 0; k < columns; k++) states[k] = gr_counter_fold(&c[k], p->red, p->kind);
  gr_room_give(room);
  gr_feed_give(s->feed, set);
}

static void do_task(void *arg, int64_t task) {
  const panels *s = (const panels *)arg;
  const int64_t v = task % s->across * GR_PANEL, piece = task / s->across, from = piece * s->piece;
  const int64_t left = s->p->job->n - from;
  const int columns = width_of(s, v);
  gr_acc states[GR_PANEL];
  do_panel(s, v, columns, from, left < s->piece ? left : s->piece, states);
  for (int k = 0; k < columns; k++) {
    if (s->states) s->states[piece * s->p->job->count + v + k] = states[k];
    else gr_finish_vector(s->p, v + k, states[k]);
  }
}

void gr_cpu_columns(const gr_reduce_job *job, gr_feed *feed, gr_parallel parallel) {
  const gr_plan p = gr_plan_of(job);
  gr_acc *states = NULL;
  panels s = {&p, feed, (job->count - 1) / GR_PANEL + 1, job->n, 1, NULL};
  if (parallel && job->count <= GR_MOST_STATES / 4 && s.across < 64) states = malloc(GR_MOST_STATES * sizeof(*states));
  if (states) { /* few: cut, so that all threads have work */
    s.piece = GR_LEAF(p.size);
    while (s.piece * width_of(&s, 0) * p.size < GR_PIECE_BYTES ||
           ((job->n - 1) / s.piece + 1) * job->count > GR_MOST_STATES)
      s.piece *= 2;
    s.pieces = (job->n - 1) / s.piece + 1;
    s.states = s.pieces > 1 ? states : NULL;
  }
  gr_in_pieces(parallel, s.pieces * s.across, 1, do_task, &s);
  const int missing = gr_watching.stopped && gr_stopped(); /* pieces */
  for (int64_t v = 0; s.states && !missing && v < job->count; v++) {
    gr_counter c;
    gr_counter_begin(&c);
    for (int64_t k = 0; k < s.pieces; k++) gr_counter_push(&c, p.red, p.kind, states[k * job->count + v]);
    gr_finish_vector(&p, v, gr_counter_fold(&c, p.red, p.kind));
  }
  free(states);
}
