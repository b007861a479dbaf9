#include "src/core/ranks/meet.h"

#include <stdio.h>
#include <string.h>
#include "kernels/numerics/digest.h"

int64_t gr_ranks_before(const gr_context *c) { return c->comm->starts[gr_ranks_own(c->comm)]; }
int64_t gr_ranks_all(const gr_context *c) { return c->comm->starts[c->comm->size]; }

gr_status gr_ranks_moved(gr_context *c, int code) {
  char text[200];
  if (code == 0) return GR_OK;
  text[0] = 0;
  c->comm->table->words(code, text, sizeof text);
  return gr_fail(c, GR_DEVICE, "ranks: %s", text);
}

gr_status gr_ranks_exchange(gr_context *c, const gr_message *sent, int64_t sends, const gr_message *expected,
                            int64_t receipts) {
  const gr_comm *comm = c->comm;
  const int posted = comm->table->post(comm->handle, sent, sends, expected, receipts);
  const int awaited = comm->table->await(comm->handle);
  return gr_ranks_moved(c, posted ? posted : awaited);
}

static void say_text(const void *text, char *to, size_t room) { snprintf(to, room, "%s", (const char *)text); }

/* A call that is its words. */
static gr_ranks_call call_of(const char *text) {
  uint64_t sum[2] = {0, 0};
  const size_t length = strlen(text);
  for (size_t k = 0; k < length; k++) gr_digest_add(sum, (unsigned char)text[k], k);
  return (gr_ranks_call){sum[0], say_text, text};
}

/* Which failures of one rank are of their kind on all. */
static int kept(int64_t failed) { return failed == GR_STOPPED || failed == GR_SYSTEM; }

/* Everybody's words, and of them the failure that all raise: of the first rank that fails, or is not like rank 0. */
static gr_status fail_alike(gr_context *c, const gr_ranks_call *what, gr_status mine) {
  gr_comm *comm = c->comm;
  char own[GR_CARD_TEXT] = "";
  if (mine == GR_OK) what->say(what->of, own, sizeof own);
  else snprintf(own, sizeof own, "%.*s", GR_CARD_TEXT - 1, mine == GR_RELEASED ? "array has been released" : c->error);
  gr_status status = gr_ranks_moved(c, comm->table->gather(comm->handle, own, comm->texts, sizeof own));
  if (status != GR_OK) return status;
  for (int r = 0; r < comm->size; r++) comm->texts[(r + 1) * GR_CARD_TEXT - 1] = 0;
  for (int r = 0; r < comm->size; r++) {
    /* A failure of memory stays one only here: trying again would need everybody. */
    if (comm->cards[r].failed)
      return gr_fail(c, kept(comm->cards[r].failed) ? (gr_status)comm->cards[r].failed : GR_BAD, "rank %d: %s", r,
                     comm->texts + (int64_t)r * GR_CARD_TEXT);
  }
  for (int r = 1; r < comm->size; r++) {
    if (comm->cards[r].what != comm->cards[0].what)
      return gr_fail(c, GR_BAD, "ranks must call the same: rank 0 calls %s, rank %d calls %s", comm->texts, r,
                     comm->texts + (int64_t)r * GR_CARD_TEXT);
  }
  return GR_OK;
}

const char *gr_ranks_digits(double x, int digits, char text[40]) {
  char *to = text;
  snprintf(text, 40, "%.*g", digits, x);
  for (const char *from = text; *from; from++) {
    if (strchr("0123456789+-einfa", *from)) *to++ = *from;
    else if (to == text || to[-1] != '.') *to++ = '.'; /* some locales' point has several bytes */
  }
  *to = 0;
  return text;
}

static gr_status show_cards(gr_context *c, const gr_ranks_call *what, int64_t n, int64_t width, const gr_card *guess,
                            gr_status mine) {
  gr_comm *comm = c->comm;
  gr_card card = {.all = -1};
  if (guess) card = *guess;
  card.n = n;
  card.width = width;
  card.what = what->digest;
  card.failed = mine;
  int differ = 0;
  gr_status status = gr_ranks_moved(c, comm->table->gather(comm->handle, &card, comm->cards, sizeof card));
  if (status != GR_OK) return status;
  for (int r = 0; r < comm->size; r++) differ |= comm->cards[r].failed || comm->cards[r].what != comm->cards[0].what;
  return differ ? fail_alike(c, what, mine) : GR_OK;
}

gr_status gr_ranks_meet(gr_context *c, const char *what, int64_t n, int64_t width, gr_status mine) {
  const gr_ranks_call call = call_of(what);
  return gr_ranks_meet_with(c, &call, n, width, NULL, mine);
}

gr_status gr_ranks_meet_with(gr_context *c, const gr_ranks_call *what, int64_t n, int64_t width, const gr_card *guess,
                             gr_status mine) {
  gr_comm *comm = c->comm;
  gr_status status = show_cards(c, what, n, width, guess, mine);
  int first = -1; /* the first rank that knows how many vectors there are */
  if (status != GR_OK) return status;
  for (int r = 0; r < comm->size; r++) {
    if (comm->cards[r].width == 0) continue;
    if (first < 0) first = r;
    if (comm->cards[r].width != comm->cards[first].width)
      return gr_fail(c, GR_BAD, "ranks must call the same: rank %d has %lld columns, rank %d has %lld", first,
                     (long long)comm->cards[first].width, r, (long long)comm->cards[r].width);
  }
  comm->width = first < 0 ? 0 : comm->cards[first].width;
  comm->mirrored = 0;
  comm->starts[0] = 0;
  for (int r = 0; r < comm->size; r++) comm->starts[r + 1] = comm->starts[r] + comm->cards[r].n;
  return GR_OK;
}

gr_status gr_ranks_agree_on(gr_context *c, int64_t says, gr_status mine) {
  /* Whatever a call is, its rest is this one, so its number is chosen and not made of the words each time. */
  static const gr_ranks_call rest = {1, say_text, "the rest of a call"};
  return show_cards(c, &rest, says, 0, NULL, mine);
}

gr_status gr_ranks_agree(gr_context *c, gr_status mine) { return gr_ranks_agree_on(c, 0, mine); }

gr_status gr_ranks_add(gr_context *c, uint64_t *values, int64_t count, gr_status mine) {
  gr_status status = gr_ranks_agree(c, mine);
  return status == GR_OK ? gr_ranks_moved(c, c->comm->table->add(c->comm->handle, values, count)) : status;
}

int gr_ranks_peer(const gr_comm *comm, int rank) { return comm->mirrored ? comm->size - 1 - rank : rank; }
int gr_ranks_own(const gr_comm *comm) { return gr_ranks_peer(comm, comm->rank); }

void gr_ranks_mirror(gr_context *c) {
  gr_comm *comm = c->comm;
  int64_t *s = comm->starts;
  const int64_t n = s[comm->size];
  for (int low = 0, high = comm->size; low <= high; low++, high--) {
    const int64_t first = n - s[high], last = n - s[low];
    s[low] = first;
    s[high] = last;
  }
  comm->mirrored = 1;
}
