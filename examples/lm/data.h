/* The text a model is trained on: all of a file (plain or .gz) in memory.
 *
 * The last twentieth is kept for validation. A sequence is window + 1 bytes:
 * each but the last is an input, each but the first what should follow it. */
#ifndef LM_DATA_H_
#define LM_DATA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rng.h"

typedef struct corpus {
  char name[128]; /* the file's, without its directory */
  uint8_t *text;
  int64_t size;
  int64_t train_size; /* training text; the rest is for validation */
} corpus_t;

/* False, with the reason in `why`: not readable, or too short for the window.
 */
bool corpus_open(corpus_t *corpus, const char *path, int64_t window, char *why,
                 size_t why_size);
void corpus_close(corpus_t *corpus);

/* Draws where each of a batch's sequences begins in the training text. */
void corpus_draw(const corpus_t *corpus, rng_t *sampler, int64_t window,
                 int64_t batch, int64_t *begins);

/* Where sequence i of the validation text begins: they follow one another from
 * corpus.train_size on. */
int64_t corpus_validation(const corpus_t *corpus, int64_t window, int64_t i);
int64_t corpus_num_validation(const corpus_t *corpus, int64_t window);

#endif
