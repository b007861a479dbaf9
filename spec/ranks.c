/*
** Ranks without a network: up to 4096 of them in one process, each with its part of a vector, and what they would send
** is copied. The states that come of folding their messages must have the bits of one process: all operations and
** dtypes, whole vectors and columns, random partitions (even, uneven, with ranks that have nothing), dense and strided.
** The code of the parts, of the messages and of the folding is the module's own. Usage: ranks [rounds [seed]].
*/
#include <stdio.h>
#include <stdlib.h>
#include "kernels/cpu/kernels_cpu.h"
#include "src/core/operation.h"
#include "src/core/ranks/fold.h"
#include "spec/chance.h"

#define MOST_BYTES (8 << 20)
#define MOST_RANKS 4096

static _Alignas(64) char data[2][MOST_BYTES];
static int64_t starts[MOST_RANKS + 1];
static _Alignas(64) char messages[4 << 20], before[1 << 20], room[1 << 20];

static double ordinary(void) { return (double)(int64_t)next() * 0x1p-61; }

/* Elements of all magnitudes, zeros of both signs, now and then infinities and NaN. */
static void fill(gr_dtype t, int64_t n) {
  const int size = gr_size_of(t), wild = below(4) == 0;
  for (int which = 0; which < 2; which++) {
    for (int64_t k = 0; k < n; k++) {
      uint64_t bits = next();
      const double x = below(16) ? ordinary() : below(2) ? -0.0 : 0.0;
      const float f = (float)x;
      if (t == GR_F64 && !wild) memcpy(&bits, &x, 8);
      if (t == GR_F32 && !wild) bits = gr_bits32(f);
      if (t == GR_F16 && !wild) bits = gr_f64_to_f16(x).bits;
      if (t == GR_BF16 && !wild) bits = gr_f64_to_bf16(x).bits;
      memcpy(data[which] + k * size, &bits, (size_t)size);
    }
  }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int by_value(const void *x, const void *y) {
  const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

/* Where ranks begin: evenly by leaves, anywhere, or anywhere with many that have nothing. */
static void cut(int64_t n, int size, int64_t leaf) {
  const int way = (int)below(4);
  for (int r = 0; r <= size; r++)
    starts[r] = way == 0   ? gr_even_start(n, size, r, leaf)
                : way == 1 ? n * r / size
                           : below(n + 1);
  if (way == 3)
    for (int r = 1; r < size; r++)
      if (below(2)) starts[r] = starts[below(size)];
  starts[0] = 0;
  starts[size] = n;
  qsort(starts, (size_t)size + 1, sizeof *starts, by_value);
}

static gr_reduce_job part_of(const gr_reduce_job *all, int rank) {
  gr_reduce_job part = *all;
  part.n = starts[rank + 1] - starts[rank];
  part.a.data = (const char *)all->a.data + starts[rank] * all->a.stride;
  if (all->b.data) part.b.data = (const char *)all->b.data + starts[rank] * all->b.stride;
  return part;
}

static gr_status make(void *with, const gr_reduce_job *nodes, int count, int joined, gr_acc *states) {
  (void)with;
  (void)joined;
  for (int k = 0; k < count; k++, states += nodes->count) gr_cpu_reduce_states(&nodes[k], states, NULL);
  return GR_OK;
}

/* What rank gets from those before it, stretch by stretch as they would pack it; each of them must mean to send it. */
static void receive(const gr_ranks_fold *f, const gr_reduce_job *all, int size, int rank) {
  static gr_stretch in[MOST_RANKS];
  const int64_t count = gr_border_receipts(starts, size, rank, f->leaf, 0, in, MOST_RANKS);
  char *to = before;
  for (int64_t k = 0; k < count; k++) {
    const gr_reduce_job from = part_of(all, in[k].peer);
    gr_stretch out = {-1, -1, -1};
    const int64_t sends = gr_border_sends(starts, size, in[k].peer, f->leaf, 0, &out, 1);
    if (sends != 1 || out.peer != rank || out.first != in[k].first || out.end != in[k].end) {
      printf("rank %d waits for %lld to %lld of rank %d, which sends %lld to %lld to rank %d\n", rank,
             (long long)in[k].first, (long long)in[k].end, in[k].peer, (long long)out.first, (long long)out.end,
             out.peer);
      exit(1);
    }
    gr_ranks_pack(f, &from, starts[in[k].peer], in[k].first, in[k].end, to);
    to += (in[k].end - in[k].first) * f->element;
  }
}

/* The most elements that a message carried over a border. */
static int64_t moved;

static void fold(const gr_reduce_job *all, int size, gr_acc *states) {
  const gr_ranks_fold f = gr_ranks_fold_of(all);
  char *message = messages;
  for (int r = 0; r < size; r++) {
    const gr_reduce_job part = part_of(all, r);
    gr_acc own[64];
    receive(&f, all, size, r);
    const gr_ranks_part p = {
        .job = &part, .first = &part, .before = before, .room = room, .states = own, .make = make};
    gr_ranks_states(&f, &p, starts, size, r, message);
    message += gr_ranks_message(&f, starts, size, r);
    gr_stretch out;
    if (!gr_border_sends(starts, size, r, f.leaf, 0, &out, 1)) continue;
    if (out.end - out.first > moved) moved = out.end - out.first;
  }
  gr_ranks_fold_all(&f, starts, size, messages, 0, states);
}

static int64_t cases, numbers;

static void compare(const gr_reduce_job *all, int size) {
  gr_acc whole[64], folded[64];
  fold(all, size, folded);
  if (all->n) gr_cpu_reduce_states(all, whole, NULL);
  for (int64_t v = 0; v < all->count; v++, numbers++) {
    if (!all->n) whole[v] = gr_identity(gr_acc_kind_of(gr_reducer_of(all->op, all->dtype), all->dtype),
                                        all->op == GR_OP_prod);
    const gr_value x = gr_finish(all->op, all->dtype, whole[v], all->n, all->ddof),
                   y = gr_finish(all->op, all->dtype, folded[v], all->n, all->ddof);
    /* The second number is one of minmax, and whether squares were safe; min and max leave it open. */
    const int one = all->op == GR_OP_min || all->op == GR_OP_max;
    if (!memcmp(x.v, y.v, one ? sizeof x.v[0] : sizeof x.v)) continue;
    printf("%s of %lld elements of %d bytes (dtype %d), vector %lld, %d ranks: %016llx, in one process %016llx\n",
           gr_ops[all->op].name, (long long)all->n, gr_size_of(all->dtype), all->dtype, (long long)v, size,
           (unsigned long long)y.v[0].i, (unsigned long long)x.v[0].i);
    for (int r = 0; r <= size && r < 12; r++) printf(" %lld", (long long)starts[r]);
    printf("\n");
    exit(1);
  }
  cases++;
}

static void one_case(gr_op op, gr_dtype t, int size) {
  const int bytes = gr_size_of(t);
  const int64_t leaf = GR_LEAF(bytes), columns = below(3) ? 1 : 1 + below(5);
  const int64_t step = columns == 1 && below(4) == 0 ? 2 : 1;
  const int64_t most = MOST_BYTES / 8 / columns / step, some = (int64_t)1 << (1 + below(17));
  const int64_t n = least(below(4) ? below(some) : leaf * below(40), most);
  gr_reduce_job job = {.op = op, .dtype = t, .n = n, .count = columns, .ddof = 0, .scale_a = 1, .scale_b = 1};
  if (n == 0 && gr_ops[op].raises_on_empty) return;
  fill(t, n * columns * step);
  job.a = (gr_vec){data[0], bytes * columns * step, bytes};
  job.b = gr_ops[op].inputs == 2 ? (gr_vec){data[1], bytes * columns * step, bytes} : (gr_vec){NULL, 0, 0};
  cut(n, size, leaf);
  compare(&job, size);
}

/*
** What a sum of 2^33 f32 moves on so many ranks, for docs/ranks.md: parts that end with leaves, and others. A
** part has two nodes for each power of two at most, and one shared leaf.
*/
static void model(void) {
  const int64_t n = INT64_C(1) << 33;
  const gr_reduce_job job = {.op = GR_OP_sum, .dtype = GR_F32, .count = 1};
  const gr_ranks_fold f = gr_ranks_fold_of(&job);
  printf("ranks  even: bytes of the longest message, of all   uneven: the same, ranks that send elements\n");
  for (int size = 1; size <= MOST_RANKS; size *= 8) {
    int64_t longest[2] = {0, 0}, all[2] = {0, 0}, senders = 0;
    for (int uneven = 0; uneven < 2; uneven++) {
      for (int r = 0; r <= size; r++)
        starts[r] = !uneven     ? gr_even_start(n, size, r, f.leaf)
                    : r == size ? n - 12345
                                : (n - 12345) / size * r;
      for (int r = 0; r < size; r++) {
        const int64_t bytes = gr_ranks_message(&f, starts, size, r);
        gr_stretch one;
        if (bytes > longest[uneven]) longest[uneven] = bytes;
        all[uneven] += bytes;
        if (uneven) senders += gr_border_sends(starts, size, r, f.leaf, 0, &one, 1);
      }
      if (longest[uneven] > 8 + 8 * (2 * 24 + 1)) exit(printf("a message is longer than two nodes a level\n"));
    }
    printf("%5d  %6lld %8lld   %6lld %8lld %6lld\n", size, (long long)longest[0], (long long)all[0],
           (long long)longest[1], (long long)all[1], (long long)senders);
  }
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 12;
  static const int sizes[] = {1, 2, 3, 5, 8, 64, 1000, 4096};
  state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  for (int round = 0; round < rounds; round++) {
    for (int op = 0; op < GR_OP_COUNT; op++) {
      for (int t = 0; t < GR_DTYPE_COUNT; t++) {
        if (gr_acc_kind_of(gr_reducer_of((gr_op)op, (gr_dtype)t), (gr_dtype)t) == GR_ACC_NONE) continue;
        one_case((gr_op)op, (gr_dtype)t, sizes[(round + op + t) % 8]);
      }
    }
  }
  model();
  printf("ranks: %lld numbers of %lld cases on 1 to %d ranks have the bits of one process; at most %lld elements a "
         "border\n",
         (long long)numbers, (long long)cases, MOST_RANKS, (long long)moved);
  return 0;
}
