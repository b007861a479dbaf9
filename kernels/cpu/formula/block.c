#include "kernels/cpu/formula/block.h"

#include "kernels/cpu/gather.h"
#include "kernels/filling.h"

#define CACHE (48 * 1024) /* bytes: blocks become smaller where there is much to hold */
#define SCRATCH 4         /* blocks of 8 bytes an element: three operands and a result as they are computed in */

/* ---- the plan ---- */

int64_t gr_block_plan_bytes(const gr_program *p) {
  return (int64_t)p->count * (int64_t)(sizeof(gr_block_step) + sizeof(gr_source) + 2 * sizeof(int32_t));
}

static int size_of_node(const gr_node *x) { return gr_size_of((gr_dtype)x->dtype); }

/* An input whose elements lie side by side is read where it lies. */
static int lies_there(const gr_block_plan *p, const gr_node *x) {
  const gr_formula_job *job = p->job;
  return !p->in_panels && x->kind == GR_NODE_INPUT && x->spread == GR_EACH &&
         job->inputs[x->input].stride == size_of_node(x);
}

/* The same element everywhere. */
static int is_constant(const gr_node *x) { return x->kind == GR_NODE_INPUT && x->spread == GR_ONE; }

int gr_block_out_of(const gr_block_plan *p, int node) {
  for (int k = 0; k < p->outs; k++)
    if (p->out_node[k] == node) return k;
  return -1;
}

const char *gr_block_input(const gr_block_plan *p, int node, int64_t from) {
  const gr_vec *v = &p->job->inputs[p->job->program->nodes[node].input];
  return (const char *)v->data + from * v->stride;
}

static void add_out(gr_block_plan *p, int node, int stored) {
  if (node < 0 || gr_block_out_of(p, node) >= 0) return;
  if (!stored && lies_there(p, &p->job->program->nodes[node])) return;
  p->out_node[p->outs++] = node;
}

/* Of where(x == x, x, y) of floats, where only NaN is not x, the node x; of others -1. */
static int fills(const gr_program *g, int node) {
  const gr_node *x = &g->nodes[node];
  if (x->kind != GR_NODE_STEP || x->op != GR_MAP_where || GR_IS_NUMBER(x->a)) return -1;
  return gr_tested_node(g, x->c) == x->a ? x->a : -1;
}

static int operands_of(const gr_program *g, int node, int operand[3]) {
  const gr_node *x = &g->nodes[node];
  const int count = x->kind == GR_NODE_STEP ? gr_map_operands((gr_map)x->op) : 0;
  operand[0] = x->a;
  operand[1] = x->b;
  operand[2] = x->c;
  return fills(g, node) >= 0 ? 2 : count;
}

/* last[k]: the last node that reads node k; its own number if it is an output, -1 if nobody needs it. */
static void find_uses(gr_block_plan *p) {
  const gr_program *g = p->job->program;
  int operand[3];
  for (int k = 0; k < g->count; k++) p->last[k] = gr_block_out_of(p, k) >= 0 ? g->count : -1;
  for (int i = 0; i < p->job->consumer_count; i++) { /* inputs that are reduced as they lie */
    p->last[p->job->consumers[i].a] = g->count;
    if (p->job->consumers[i].b >= 0) p->last[p->job->consumers[i].b] = g->count;
  }
  if (p->job->feeds) { /* or handed on so */
    p->last[p->job->a] = g->count;
    if (p->job->b >= 0) p->last[p->job->b] = g->count;
  }
  for (int k = g->count - 1; k >= 0; k--) {
    const int count = operands_of(g, k, operand);
    if (p->last[k] < 0) continue;
    for (int i = 0; i < count; i++)
      if (!GR_IS_NUMBER(operand[i]) && p->last[operand[i]] < k) p->last[operand[i]] = k;
  }
}

/* Node k is made in one loop with the one that reads it. */
#define WITH_READER (-2)

static int pair_place(const gr_block_plan *p, int node) {
  const gr_program *g = p->job->program;
  int operand[3];
  const int count = operands_of(g, node, operand);
  for (int i = 0; i < count; i++)
    if (!GR_IS_NUMBER(operand[i]) && p->last[operand[i]] == WITH_READER && g->nodes[operand[i]].kind == GR_NODE_STEP)
      return i;
  return -1;
}

/* A cheap step whose only reader is one goes with that; its operands are needed until then. */
static void find_pairs(gr_block_plan *p) {
  const gr_program *g = p->job->program;
  int32_t *readers = p->places; /* nobody has taken places yet */
  int operand[3], count;
  for (int k = 0; k < g->count; k++) readers[k] = 0;
  for (int k = 0; k < g->count; k++) {
    count = p->last[k] < 0 ? 0 : operands_of(g, k, operand);
    for (int i = 0; i < count; i++)
      if (!GR_IS_NUMBER(operand[i])) readers[operand[i]]++;
  }
  for (int k = 0; k < g->count; k++) {
    const gr_node *x = &g->nodes[k];
    count = p->last[k] < 0 || x->op == GR_MAP_where ? 0 : operands_of(g, k, operand);
    for (int i = 0; i < count; i++) {
      const gr_node *y = GR_IS_NUMBER(operand[i]) ? x : &g->nodes[operand[i]];
      if (y == x || y->kind != GR_NODE_STEP || readers[operand[i]] != 1 || p->last[operand[i]] != k) continue;
      if (y->dtype != x->dtype || y->from != x->from || y->from != y->dtype || pair_place(p, operand[i]) >= 0) continue;
      if (!gr_map_pair((gr_map)y->op, (gr_map)x->op, i, (gr_dtype)x->dtype)) continue;
      p->last[operand[i]] = WITH_READER;
      count = operands_of(g, operand[i], operand);
      for (int j = 0; j < count; j++)
        if (!GR_IS_NUMBER(operand[j]) && p->last[operand[j]] >= 0 && p->last[operand[j]] < k) p->last[operand[j]] = k;
      break;
    }
  }
}

/* Step k takes over what the first of its pair reads. */
static void join_pair(const gr_block_plan *p, gr_block_step *s, int place) {
  const gr_node *x = s->node, *first = &p->job->program->nodes[s->operand[place]];
  const int other = s->operand[1 - place], count = s->count;
  s->map.loop = gr_map_pair((gr_map)first->op, (gr_map)x->op, place, (gr_dtype)x->dtype);
  s->operand[0] = first->a;
  s->operand[1] = gr_map_operands((gr_map)first->op) > 1 ? first->b : first->a; /* else anything */
  s->operand[2] = other;
  s->count = (uint8_t)(count + 1);
}

/*
** The step that makes node k. Registers of operands that nobody reads later are free from here on; the result may take
** one that is as wide, as it is written element by element, but no other: another may be half read.
*/
static void plan_step(gr_block_plan *p, int k, int32_t *free) {
  const gr_program *g = p->job->program;
  const gr_node *x = &g->nodes[k];
  gr_block_step *s = &p->steps[p->step_count++];
  const int out = gr_block_out_of(p, k);
  int i, reuse = -1, ended[3], ends = 0;
  memset(s, 0, sizeof(*s));
  s->node = x;
  s->count = (uint8_t)operands_of(g, k, s->operand);
  if (fills(g, k) >= 0) s->map = gr_map_filled_step((gr_dtype)x->dtype);
  else if (x->kind == GR_NODE_STEP)
    s->map = gr_map_step_of((gr_map)x->op, (gr_relation)x->relation, (gr_dtype)x->from, (gr_dtype)x->dtype);
  if (x->kind == GR_NODE_STEP && pair_place(p, k) >= 0) join_pair(p, s, pair_place(p, k));
  if (s->map.to || s->map.from) p->converts = 1;
  if (s->map.turned) {
    s->operand[0] = x->b;
    s->operand[1] = x->a;
  }
  for (i = 0; i < s->count; i++) {
    const int node = s->operand[i];
    if (GR_IS_NUMBER(node)) p->constants++;
    if (GR_IS_NUMBER(node) || (x->op == GR_MAP_where && i == 2)) s->ready |= (uint8_t)(1 << i);
    if (GR_IS_NUMBER(node) || p->last[node] != k || p->sources[node].place < 0) continue;
    p->last[node] = -1; /* once, if it is an operand twice */
    if (reuse < 0 && out < 0 && size_of_node(&g->nodes[node]) == size_of_node(x)) reuse = p->sources[node].place;
    else ended[ends++] = p->sources[node].place;
  }
  if (out < 0 && reuse < 0) reuse = *free > 0 ? p->places[--*free] : p->registers++;
  for (i = 0; i < ends; i++) p->places[(*free)++] = ended[i];
  p->sources[k].place = out >= 0 ? GR_PLACE_OUT - out : reuse;
}

/* An input that lies there, or is one element, needs no step. */
static void plan_node(gr_block_plan *p, int k, int32_t *free) {
  const gr_node *x = &p->job->program->nodes[k];
  gr_source *s = &p->sources[k];
  s->base = NULL;
  s->stride = 0;
  s->place = GR_PLACE_NONE;
  if (p->last[k] < 0) return;
  if (size_of_node(x) > p->element) p->element = size_of_node(x);
  if (gr_block_out_of(p, k) < 0 && lies_there(p, x)) {
    s->base = (const char *)p->job->inputs[x->input].data;
    s->stride = size_of_node(x);
  } else if (gr_block_out_of(p, k) < 0 && is_constant(x)) {
    p->constants++;
  } else {
    plan_step(p, k, free);
  }
}

static int64_t on_pages(int64_t bytes) { return (bytes + GR_BLOCK_PAGE - 1) / GR_BLOCK_PAGE * GR_BLOCK_PAGE; }

int64_t gr_block_make(gr_block_plan *p, const gr_formula_job *job, void *room, int threads) {
  const gr_program *g = job->program;
  int32_t free = 0;
  memset(p, 0, sizeof(*p));
  p->job = job;
  p->in_panels = job->feeds == GR_FEEDS_COLUMNS && ((const gr_reduce_job *)job->operation)->count > GR_PANEL;
  p->steps = (gr_block_step *)room;
  p->sources = (gr_source *)(p->steps + g->count);
  p->last = (int32_t *)(p->sources + g->count);
  p->places = p->last + g->count;
  p->element = 1;
  if (job->feeds) add_out(p, job->a, 0), add_out(p, job->b, 0);
  else if (job->consumer_count == 0) add_out(p, job->result, 1);
  for (int k = 0; k < job->consumer_count; k++) {
    add_out(p, job->consumers[k].a, 0);
    add_out(p, job->consumers[k].b, 0);
  }
  find_uses(p);
  find_pairs(p);
  for (int k = 0; k < g->count; k++) plan_node(p, k, &free);
  int64_t each = p->registers * p->element + p->constants * 8 + (p->converts ? SCRATCH * 8 : 0);
  for (p->block = GR_BLOCK_MOST; p->block > 64 && p->block * each > CACHE;) p->block /= 2;
  p->sets = threads < 1 ? 1 : threads;
  p->set_bytes = on_pages(p->block * (each - p->constants * 8));
  return p->constants * (int64_t)p->block * 8 + p->sets * p->set_bytes + GR_BLOCK_PAGE;
}

char *gr_block_in_step(const gr_block_plan *p, char *at) {
  const gr_program *g = p->job->program;
  uintptr_t place = 0;
  for (int k = g->count - 1; k >= 0; k--)
    if (g->nodes[k].kind == GR_NODE_INPUT) place = (uintptr_t)p->job->inputs[g->nodes[k].input].data / 64 * 64;
  return at + (place - (uintptr_t)at) % GR_BLOCK_PAGE;
}

void gr_block_ready(gr_block_plan *p, void *memory) {
  const gr_formula_job *job = p->job;
  const int64_t m = job->n < p->block ? job->n : p->block;
  char *at = (char *)memory;
  for (int32_t k = 0; k < job->program->count; k++) {
    const gr_node *x = &job->program->nodes[k];
    if (!is_constant(x) || p->last[k] < 0 || p->sources[k].place != GR_PLACE_NONE) continue;
    gr_gather(at, job->inputs[x->input].data, 0, m, size_of_node(x));
    p->sources[k].base = at;
    at += (int64_t)p->block * 8;
  }
  for (int32_t k = 0; k < job->program->count; k++) /* from here on nobody takes places */
    if (p->sources[k].stride) p->places[p->streams++] = k;
  for (int32_t k = 0; k < p->step_count; k++) {
    gr_block_step *s = &p->steps[k];
    for (int32_t i = 0; i < s->count; i++) {
      if (!GR_IS_NUMBER(s->operand[i])) {
        s->from[i] = p->sources[s->operand[i]];
        continue;
      }
      gr_map_fill(&s->map, job->program->numbers[GR_NUMBER_OF(s->operand[i])], at, m);
      s->from[i].base = at;
      s->from[i].stride = 0;
      at += (int64_t)p->block * 8;
    }
  }
  p->memory = gr_block_in_step(p, at);
}

/* ---- a block ---- */

typedef struct block {
  const gr_block_plan *p;
  char *set;
  const char *const *inputs; /* by their numbers, from their beginning; NULL: where the plan says */
  char *const *outs;
  int64_t from, m, done; /* positions; those of the outputs that came before */
  int64_t width, pitch;  /* of rows, of which there are several in a panel */
} block;

static char *place(const block *b, int32_t at, int size) {
  if (at <= GR_PLACE_OUT) return b->outs[GR_PLACE_OUT - at] + b->done * size;
  return b->set + (int64_t)at * b->p->block * b->p->element;
}

static const void *operand(const block *b, const gr_block_step *s, int i, char *scratch) {
  const gr_source *x = &s->from[i];
  char *wide = scratch + (int64_t)i * b->p->block * 8;
  const char *from;
  const gr_node *node = GR_IS_NUMBER(s->operand[i]) ? NULL : &b->p->job->program->nodes[s->operand[i]];
  if (x->base) from = (b->inputs && x->stride ? b->inputs[node->input] : x->base) + b->from * x->stride;
  else from = place(b, x->place, size_of_node(node));
  if (!s->map.to || s->ready >> i & 1) return from;
  s->map.to(from, wide, b->m);
  return wide;
}

static void run_step(const block *b, const gr_block_step *s, char *to) {
  char *scratch = b->set + (int64_t)b->p->registers * b->p->block * b->p->element;
  const void *x[3];
  for (int i = 0; i < 3; i++) x[i] = i < s->count ? operand(b, s, i, scratch) : x[0];
  if (s->map.loop) {
    char *result = s->map.from ? scratch + (int64_t)3 * b->p->block * 8 : to;
    s->map.loop(x[0], x[1], x[2], result, b->m);
    x[0] = result;
  }
  if (s->map.from) s->map.from(x[0], to, b->m);
}

/*
** An input that does not lie as it is needed: with a stride, or spread over a matrix, or in panels. Positions from ..
** from + n.
*/
static void load(const gr_formula_job *job, const gr_node *x, char *to, int64_t from, int64_t n) {
  const gr_vec *v = &job->inputs[x->input];
  const int size = size_of_node(x);
  const int64_t columns = job->columns;
  const char *data = (const char *)v->data;
  if (x->spread == GR_EACH && v->stride == size) {
    memcpy(to, data + from * size, (size_t)(n * size));
  } else if (x->spread == GR_EACH || x->spread == GR_ONE) {
    const int64_t stride = x->spread == GR_ONE ? 0 : v->stride;
    gr_gather(to, data + from * stride, stride, n, size);
  } else {
    for (int64_t k = 0, m; k < n; k += m) { /* stretch by stretch of a row */
      const int64_t row = (from + k) / columns, column = (from + k) % columns;
      m = columns - column < n - k ? columns - column : n - k;
      if (x->spread == GR_ROW) gr_gather(to + k * size, data + column * v->stride, v->stride, m, size);
      else gr_gather(to + k * size, data + row * v->stride, 0, m, size);
    }
  }
}

static void count_up(int64_t *to, int64_t from, int64_t n) {
  for (int64_t k = 0; k < n; k++) to[k] = from + k + 1;
}

/* What no step computes, row by row of a panel. */
static void bring(const block *b, const gr_node *x, char *to) {
  const int size = size_of_node(x);
  int64_t k, from = b->from;
  for (k = 0; k < b->m; k += b->width, from += b->pitch) {
    char *at = to + k * size;
    if (x->kind == GR_NODE_INPUT) load(b->p->job, x, at, from, b->width);
    else count_up((int64_t *)(void *)at, from, b->width);
  }
}

static void run_block(const block *b) {
  const gr_block_plan *p = b->p;
  for (int32_t k = 0; k < p->step_count; k++) {
    const gr_block_step *s = &p->steps[k];
    char *to = place(b, p->sources[s->node - p->job->program->nodes].place, size_of_node(s->node));
    if (s->node->kind == GR_NODE_STEP) run_step(b, s, to);
    else bring(b, s->node, to);
  }
}

/* What the next block reads, while this one is computed: processors look ahead no further than a page. */
static void look_ahead(const block *b) {
  const gr_formula_job *job = b->p->job;
  const int64_t from = b->from + b->m, left = job->n - from, m = left < b->p->block ? left : b->p->block;
  for (int32_t k = 0; k < b->p->streams; k++) {
    const gr_source *x = &b->p->sources[b->p->places[k]];
    for (int64_t i = 0; i < m * x->stride; i += 64) GR_PREFETCH_SECOND(x->base + from * x->stride + i);
  }
}

void gr_block_run(const gr_block_plan *p, char *set, int64_t from, int64_t m, char *const *outs) {
  block b = {p, set, NULL, outs, from, 0, 0, 0, 0};
  for (; b.done < m; b.done += b.m, b.from += b.m) {
    b.width = b.m = m - b.done < p->block ? m - b.done : p->block;
    look_ahead(&b);
    run_block(&b);
  }
}

void gr_block_rows(const gr_block_plan *p, char *set, int64_t from, int64_t m, int64_t width, int64_t pitch,
                   char *const *outs) {
  block b = {p, set, NULL, outs, from, 0, 0, width, pitch};
  const int64_t rows = p->block / width;
  for (; b.done < m; b.done += b.m, b.from += rows * pitch) {
    b.m = m - b.done < rows * width ? m - b.done : rows * width;
    run_block(&b);
  }
}

void gr_block_run_on(const gr_block_plan *p, char *set, const char *const *inputs, int64_t m, char *const *outs) {
  block b = {p, set, inputs, outs, 0, 0, 0, 0, 0};
  for (; b.done < m; b.done += b.m, b.from += b.m) {
    b.width = b.m = m - b.done < p->block ? m - b.done : p->block;
    run_block(&b);
  }
}
