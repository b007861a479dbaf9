/* The digest of a vector's bytes (kernels/numerics/digest.h), in pieces. */
#include "kernels/cpu/isa/table.h"
#include "kernels/numerics/digest.h"

#define PIECES 64

typedef struct work {
  const gr_digest_job *job;
  int size;
  int64_t words, piece;
  uint64_t sum[PIECES][2];
} work;

static void do_piece(void *arg, int64_t p) {
  work *w = (work *)arg;
  int64_t end = (p + 1) * w->piece < w->words ? (p + 1) * w->piece : w->words;
  int64_t whole = w->job->a.stride == w->size ? w->job->n * w->size / 8 : 0; /* words that lie as they are */
  uint64_t *sum = w->sum[p];
  sum[0] = sum[1] = 0;
  for (int64_t k = p * w->piece; k < end; k++) {
    uint64_t word;
    if (k < whole) memcpy(&word, (const char *)w->job->a.data + 8 * k, 8);
    else word = gr_digest_word(&w->job->a, w->job->n, w->size, k);
    gr_digest_add(sum, word, (uint64_t)(w->job->first + k));
  }
}

void gr_cpu_digest(const gr_digest_job *job, uint64_t result[2], gr_parallel parallel) {
  work w;
  w.job = job;
  w.size = gr_size_of(job->dtype);
  w.words = (job->n * w.size + 7) / 8;
  w.piece = w.words / PIECES < 32768 ? 32768 : (w.words + PIECES - 1) / PIECES;
  int64_t pieces = (w.words + w.piece - 1) / w.piece;
  parallel(pieces, do_piece, &w);
  result[0] = result[1] = 0;
  for (int64_t p = 0; p < pieces; p++) {
    result[0] += w.sum[p][0];
    result[1] += w.sum[p][1];
  }
  if (!job->raw) gr_digest_finish(result, (uint64_t)(job->n * w.size));
}
