#include "src/core/ranks/nodes.h"

/*
** Of any size: up to the largest power of two in the range nodes grow, and are the bits of that distance; from there on
** they shrink, and are those of the other.
*/
static int64_t count_all(int64_t first, int64_t end) {
  if (first >= end) return 0;
  const int high = 63 - __builtin_clzll((unsigned long long)(first ^ end));
  const int64_t middle = end >> high << high;
  return __builtin_popcountll((unsigned long long)(middle - first)) +
         __builtin_popcountll((unsigned long long)(end - middle));
}

int64_t gr_count_nodes(gr_leaves l, int64_t most) {
  int64_t count = 0;
  if (most == GR_ANY_NODE) return l.shared ? 1 + count_all(l.first + 1, l.end) : count_all(l.first, l.end);
  while (gr_next_node(l, &l.first, most)) {
    l.shared = 0; /* first has moved on: what follows is no shared leaf */
    count++;
  }
  return count;
}

/* The least end of the leaf in which position p lies. */
static int64_t leaf_end(int64_t p, int64_t n, int64_t leaf) {
  const int64_t end = gr_begin_of_leaf(p, leaf) + leaf;
  return end < n ? end : n;
}

/* What a rank has behind its last whole leaf; 0: nothing. end: of the leaf that it is in. */
static int tail_of(const int64_t *starts, int size, int rank, int64_t leaf, gr_stretch *tail, int64_t *end) {
  const int64_t low = starts[rank], high = starts[rank + 1], n = starts[size];
  if (low == high || gr_within_leaf(high, leaf) == 0 || high == n) return 0;
  *end = leaf_end(high, n, leaf);
  tail->first = gr_begin_of_leaf(high, leaf) > low ? gr_begin_of_leaf(high, leaf) : low;
  tail->end = high;
  return 1;
}

/* Whether rank r, which comes after those who have the tail of a leaf that ends there, gets it. */
static int takes(const int64_t *starts, int r, int64_t end, int all) {
  return starts[r] < starts[r + 1] && starts[r] < end && (all || starts[r + 1] >= end);
}

int64_t gr_border_sends(const int64_t *starts, int size, int rank, int64_t leaf, int all, gr_stretch *out,
                        int64_t room) {
  gr_stretch tail;
  int64_t end, count = 0;
  if (!tail_of(starts, size, rank, leaf, &tail, &end)) return 0;
  for (int r = rank + 1; r < size && starts[r] < end; r++) {
    if (!takes(starts, r, end, all)) continue;
    tail.peer = r;
    if (count < room) out[count] = tail;
    count++;
  }
  return count;
}

int64_t gr_border_receipts(const int64_t *starts, int size, int rank, int64_t leaf, int all, gr_stretch *out,
                           int64_t room) {
  const int64_t from = gr_begin_of_leaf(starts[rank], leaf);
  gr_stretch tail;
  int64_t end, count = 0;
  int first = rank;
  if (starts[rank] == starts[rank + 1] || starts[rank] == from) return 0;
  while (first > 0 && starts[first] > from) first--;
  for (int r = first; r < rank; r++) {
    if (!tail_of(starts, size, r, leaf, &tail, &end) || tail.end <= from || !takes(starts, rank, end, all)) continue;
    tail.peer = r;
    if (count < room) out[count] = tail;
    count++;
  }
  return count;
}

int gr_has_borders(const int64_t *starts, int size, int64_t leaf) {
  for (int r = 1; r < size; r++)
    if (gr_within_leaf(starts[r], leaf) && starts[r] < starts[size]) return 1;
  return 0;
}

int64_t gr_even_start(int64_t n, int size, int rank, int64_t leaf) {
  const int64_t leaves = n / leaf + (n % leaf != 0), each = leaves / size, more = leaves % size;
  const int64_t first = each * rank + (rank < more ? rank : more);
  return first >= leaves ? n : first * leaf;
}
