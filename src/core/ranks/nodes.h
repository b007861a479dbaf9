/*
** Which nodes of the fixed tree lie whole in one rank's part of a vector, and which elements ranks must hand over
** (docs/ranks.md has a drawing). starts[r] .. starts[r + 1] - 1 are the positions, from 0, of rank r's elements, and
** starts[size] is the length of all. Every rank knows all starts, so nobody has to say which nodes or elements a
** message holds.
**
** A leaf belongs to the rank that has its last element. Ranks that have elements before that hand them to it.
*/
#ifndef GR_RANKS_NODES_H
#define GR_RANKS_NODES_H

#include <stdint.h>

/* The leaves that belong to a rank. */
typedef struct gr_leaves {
  int64_t first, end; /* of the vector's leaves */
  int shared;         /* the first begins before the rank's part does */
} gr_leaves;

/* Leaves are powers of two, and positions not negative. Here numbers of some microseconds feel every division. */
static inline int64_t gr_within_leaf(int64_t p, int64_t leaf) { return p & (leaf - 1); }
static inline int64_t gr_begin_of_leaf(int64_t p, int64_t leaf) { return p & -leaf; }
static inline int64_t gr_leaves_before(int64_t p, int64_t leaf) {
  return p >> __builtin_ctzll((unsigned long long)leaf);
}

static inline gr_leaves gr_leaves_of(const int64_t *starts, int size, int rank, int64_t leaf) {
  const int64_t low = starts[rank], high = starts[rank + 1], n = starts[size];
  gr_leaves l = {gr_leaves_before(low, leaf), gr_leaves_before(high, leaf), gr_within_leaf(low, leaf) != 0};
  if (high == n && high > low && gr_within_leaf(n, leaf)) l.end++; /* the last leaf of all is as short as it is */
  if (l.end <= l.first) l = (gr_leaves){l.first, l.first, 0};
  return l;
}

/*
** The nodes that cover them, from left to right: *first is where the next one begins, and becomes where it ends; the
** result is how many leaves it has, a power of two of which there are whole multiples before it. 0: there is none.
** A shared leaf is a node by itself. most: leaves of the largest node that is asked for.
*/
static inline int64_t gr_next_node(gr_leaves l, int64_t *first, int64_t most) {
  const int64_t at = *first, left = l.end - at;
  if (left <= 0) return 0;
  if (at == l.first && l.shared) return ++*first, 1;
  int64_t leaves = INT64_C(1) << (63 - __builtin_clzll((unsigned long long)left));
  if (at && (at & -at) < leaves) leaves = at & -at;
  if (most < leaves) leaves = most; /* itself a power of two */
  *first = at + leaves;
  return leaves;
}
int64_t gr_count_nodes(gr_leaves, int64_t most);
#define GR_ANY_NODE INT64_MAX

/* Positions first .. end - 1 of the vector, which go to, or come from, a peer. */
typedef struct gr_stretch {
  int peer;
  int64_t first, end;
} gr_stretch;

/*
** What rank sends: the elements behind its last whole leaf, to the rank whose leaf they are in; or, where all is set,
** to every rank that has elements behind them in that leaf (a scan needs what comes before). And what it receives. Both
** give how many stretches there are, and fill in those for which there is room.
*/
int64_t gr_border_sends(const int64_t *starts, int size, int rank, int64_t leaf, int all, gr_stretch *out,
                        int64_t room);
int64_t gr_border_receipts(const int64_t *starts, int size, int rank, int64_t leaf, int all, gr_stretch *out,
                           int64_t room);

/* Whether any rank sends anything. */
int gr_has_borders(const int64_t *starts, int size, int64_t leaf);

/* Ranges of n elements for so many ranks that differ by a leaf at most and end with leaves: where rank's begins. */
int64_t gr_even_start(int64_t n, int size, int rank, int64_t leaf);

#endif
