#include "src/core/ranks/nodes.h"

/* Leaves are powers of two, and positions not negative. Here numbers of some microseconds feel every division. */
static int64_t within(int64_t p, int64_t leaf) { return p & (leaf - 1); }
static int64_t begin_of(int64_t p, int64_t leaf) { return p & -leaf; }
static int64_t leaves_in(int64_t p, int64_t leaf) { return p >> __builtin_ctzll((unsigned long long)leaf); }

gr_leaves gr_leaves_of(const int64_t *starts, int size, int rank, int64_t leaf) {
  const int64_t low = starts[rank], high = starts[rank + 1], n = starts[size];
  gr_leaves l = {leaves_in(low, leaf), leaves_in(high, leaf), within(low, leaf) != 0};
  if (high == n && high > low && within(n, leaf)) l.end++; /* the last leaf of all is as short as it is */
  if (l.end <= l.first) l = (gr_leaves){l.first, l.first, 0};
  return l;
}

int64_t gr_next_node(gr_leaves l, int64_t *first, int64_t most) {
  int64_t leaves = 1;
  if (*first >= l.end) return 0;
  if (*first == l.first && l.shared) return ++*first, 1;
  while (leaves <= most / 2 && within(*first, 2 * leaves) == 0 && *first + 2 * leaves <= l.end) leaves *= 2;
  *first += leaves;
  return leaves;
}

int64_t gr_count_nodes(gr_leaves l, int64_t most) {
  int64_t count = 0;
  while (gr_next_node(l, &l.first, most)) {
    l.shared = 0; /* first has moved on: what follows is no shared leaf */
    count++;
  }
  return count;
}

/* The least end of the leaf in which position p lies. */
static int64_t leaf_end(int64_t p, int64_t n, int64_t leaf) {
  const int64_t end = begin_of(p, leaf) + leaf;
  return end < n ? end : n;
}

/* What a rank has behind its last whole leaf; 0: nothing. end: of the leaf that it is in. */
static int tail_of(const int64_t *starts, int size, int rank, int64_t leaf, gr_stretch *tail, int64_t *end) {
  const int64_t low = starts[rank], high = starts[rank + 1], n = starts[size];
  if (low == high || within(high, leaf) == 0 || high == n) return 0;
  *end = leaf_end(high, n, leaf);
  tail->first = begin_of(high, leaf) > low ? begin_of(high, leaf) : low;
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
  const int64_t from = begin_of(starts[rank], leaf);
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
    if (within(starts[r], leaf) && starts[r] < starts[size]) return 1;
  return 0;
}

int64_t gr_even_start(int64_t n, int size, int rank, int64_t leaf) {
  const int64_t leaves = n / leaf + (n % leaf != 0), each = leaves / size, more = leaves % size;
  const int64_t first = each * rank + (rank < more ? rank : more);
  return first >= leaves ? n : first * leaf;
}
