#include "src/core/ranks/fold.h"

#include "kernels/numerics/counter.h"
#include "src/core/operation.h"

static int fields_of(gr_acc_kind kind) {
  static const signed char fields[] = {
#define GR_X(id, fields) fields,
      GR_ACCUMULATORS(GR_X)
#undef GR_X
  };
  return fields[kind];
}

gr_ranks_fold gr_ranks_fold_of(const gr_reduce_job *job) {
  const int size = gr_size_of(job->dtype);
  gr_ranks_fold f = {.reducer = gr_reducer_of(job->op, job->dtype),
                     .leaf = GR_LEAF(size),
                     .count = job->count,
                     .inputs = gr_ops[job->op].inputs};
  f.kind = gr_acc_kind_of(f.reducer, job->dtype);
  f.fields = fields_of(f.kind);
  f.element = size * f.count * f.inputs;
  return f;
}

int64_t gr_ranks_message(const gr_ranks_fold *f, const int64_t *starts, int size, int rank) {
  return 8 + gr_count_nodes(gr_leaves_of(starts, size, rank, f->leaf), GR_ANY_NODE) * f->count * f->fields * 8;
}

static int lies_packed(const gr_ranks_fold *f, const gr_vec *v, int64_t size) {
  return v->stride == size * f->count && (f->count == 1 || v->step == size);
}

char *gr_ranks_packed(const gr_ranks_fold *f, const gr_reduce_job *job, int64_t low, int64_t first) {
  if (f->inputs > 1 || !lies_packed(f, &job->a, gr_size_of(job->dtype))) return NULL;
  return (char *)(uintptr_t)job->a.data + (first - low) * job->a.stride;
}

void gr_ranks_pack(const gr_ranks_fold *f, const gr_reduce_job *job, int64_t low, int64_t first, int64_t end,
                   char *to) {
  const size_t size = (size_t)gr_size_of(job->dtype);
  for (int k = 0; k < f->inputs; k++) {
    const gr_vec *v = k ? &job->b : &job->a;
    const int64_t width = (int64_t)size * f->count;
    if (lies_packed(f, v, (int64_t)size)) {
      const char *from = (const char *)v->data + (first - low) * width;
      if (to != from) memcpy(to, from, (size_t)((end - first) * width)); /* a device's may be where they belong */
      to += (end - first) * width;
      continue;
    }
    for (int64_t p = first; p < end; p++) {
      const char *from = (const char *)v->data + (p - low) * v->stride;
      for (int64_t c = 0; c < f->count; c++, to += size) memcpy(to, from + c * v->step, size);
    }
  }
}

/* The states of a node, into the message: the fields in use, vector by vector. */
static char *put_states(const gr_ranks_fold *f, int64_t first, gr_acc *states, char *message) {
  const size_t bytes = (size_t)f->fields * 8;
  for (int64_t v = 0; v < f->count; v++, message += bytes) {
    if (f->kind == GR_ACC_POSITION) states[v].i[1] += first;
    for (int k = 0; k < f->fields; k++) memcpy(message + 8 * k, &states[v].i[k], 8);
  }
  return message;
}

/*
** The shared leaf, put together in `room`: what other ranks have sent, stretch by stretch, then this rank's own. The
** job of it.
*/
static gr_reduce_job whole_leaf(const gr_ranks_fold *f, const gr_reduce_job *job, const int64_t *starts, int size,
                                int rank, const char *before, char *room) {
  const int64_t low = starts[rank], n = starts[size], from = gr_begin_of_leaf(low, f->leaf);
  const int64_t end = from + f->leaf < n ? from + f->leaf : n, width = f->element / f->inputs;
  char *second = room + (end - from) * width;
  const int there = before == room;
  gr_reduce_job one = *job;
  gr_stretch s[1];
  int64_t at = from;
  /* Stretches follow one another, and each is as packed: all of the first input, then all of the second. */
  while (at < low) {
    int owner = rank;
    while (starts[owner] > at) owner--;
    s[0] = (gr_stretch){owner, at, starts[owner + 1] < low ? starts[owner + 1] : low};
    const size_t bytes = (size_t)((s[0].end - at) * width);
    if (!there) memcpy(room + (at - from) * width, before, bytes);
    before += bytes;
    if (f->inputs == 2) memcpy(second + (at - from) * width, before, bytes), before += bytes;
    at = s[0].end;
  }
  gr_ranks_fold alone = *f;
  alone.inputs = 1;
  gr_ranks_pack(&alone, job, low, low, end, room + (low - from) * width);
  one.n = end - from;
  one.a = (gr_vec){room, width, gr_size_of(job->dtype)};
  if (f->inputs == 2) {
    gr_reduce_job other = *job;
    other.a = job->b;
    gr_ranks_pack(&alone, &other, low, low, end, second + (low - from) * width);
    one.b = (gr_vec){second, width, gr_size_of(job->dtype)};
  }
  return one;
}

/* Nodes that wait for their states, and where each begins. */
typedef struct nodes {
  gr_reduce_job job[GR_RANKS_TOGETHER];
  int64_t at[GR_RANKS_TOGETHER];
  int count;
} nodes;

static gr_status flush(const gr_ranks_fold *f, const gr_ranks_part *part, nodes *list, int joined, char **message) {
  const int count = list->count;
  list->count = 0;
  gr_status status = count ? part->make(part->with, list->job, count, joined, part->states) : GR_OK;
  for (int k = 0; k < count && status == GR_OK; k++)
    *message = put_states(f, list->at[k], part->states + k * f->count, *message);
  return status;
}

gr_status gr_ranks_inner(const gr_ranks_fold *f, const gr_ranks_part *part, const int64_t *starts, int size, int rank,
                         char *message) {
  gr_leaves l = gr_leaves_of(starts, size, rank, f->leaf);
  const gr_reduce_job *job = part->job;
  const int most = f->count == 1 ? GR_RANKS_TOGETHER : 1;
  const int64_t low = starts[rank], n = starts[size];
  gr_status status = part->mine;
  nodes list;
  list.count = 0;
  message += 8;
  if (l.shared) message += f->count * f->fields * 8, l.first++; /* what is left of it has no shared leaf */
  l.shared = 0;
  for (int64_t first = l.first, from = first; status == GR_OK && gr_next_node(l, &first, GR_ANY_NODE); from = first) {
    gr_reduce_job *node = &list.job[list.count];
    const int64_t at = from * f->leaf, end = first * f->leaf < n ? first * f->leaf : n;
    list.at[list.count++] = at;
    *node = *job;
    node->n = end - at;
    node->a.data = (const char *)job->a.data + (at - low) * job->a.stride;
    if (f->inputs == 2) node->b.data = (const char *)job->b.data + (at - low) * job->b.stride;
    if (list.count == most) status = flush(f, part, &list, 0, &message);
  }
  return status == GR_OK ? flush(f, part, &list, 0, &message) : status;
}

gr_status gr_ranks_joint(const gr_ranks_fold *f, const gr_ranks_part *part, const int64_t *starts, int size, int rank,
                         gr_status status, char *message) {
  const gr_leaves l = gr_leaves_of(starts, size, rank, f->leaf);
  char *const begin = message;
  nodes list;
  message += 8;
  if (l.shared && status == GR_OK) {
    list.at[0] = l.first * f->leaf;
    list.job[0] = whole_leaf(f, part->first, starts, size, rank, part->before, part->room);
    list.count = 1;
    status = flush(f, part, &list, 1, &message);
  }
  const int64_t failed = status;
  memcpy(begin, &failed, 8);
  return status;
}

gr_status gr_ranks_states(const gr_ranks_fold *f, const gr_ranks_part *part, const int64_t *starts, int size, int rank,
                          char *message) {
  const gr_status inner = gr_ranks_inner(f, part, starts, size, rank, message);
  return gr_ranks_joint(f, part, starts, size, rank, inner, message);
}

void gr_ranks_fold_all(const gr_ranks_fold *f, const int64_t *starts, int size, const char *messages, int64_t step,
                       gr_acc *states) {
  const int64_t bytes = f->fields * 8, n = starts[size];
  for (int64_t v = 0; v < f->count; v++) {
    const char *at = messages + v * bytes;
    gr_counter c;
    gr_counter_begin(&c);
    for (int r = 0; r < size; r++) {
      const gr_leaves l = gr_leaves_of(starts, size, r, f->leaf);
      int64_t first = l.first;
      if (step) at = messages + r * step + v * bytes;
      at += 8;
      for (int64_t leaves; (leaves = gr_next_node(l, &first, GR_ANY_NODE)) > 0; at += bytes * f->count) {
        gr_acc acc = {{0, 0, 0}};
        for (int k = 0; k < f->fields; k++) memcpy(&acc.i[k], at + 8 * k, 8);
        gr_counter_push_of(&c, f->reducer, f->kind, acc, (uint64_t)leaves);
      }
    }
    states[v] = n ? gr_counter_fold(&c, f->reducer, f->kind) : gr_identity(f->kind, f->reducer == GR_RED_PROD);
  }
}
