#include "data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GROWTH = 1 << 20, MAX_TEXT = 1 << 30, VALIDATION_PART = 20 };

static void set_name(corpus_t *corpus, const char *path) {
  const char *slash = strrchr(path, '/');
  snprintf(corpus->name, sizeof(corpus->name), "%s",
           slash != NULL ? slash + 1 : path);
}

static bool grow(corpus_t *corpus, int64_t capacity) {
  uint8_t *text = realloc(corpus->text, (size_t)capacity);
  if (text == NULL) return false;
  corpus->text = text;
  return true;
}

/* zlib passes plain files through. */
static bool read_all(corpus_t *corpus, gzFile file) {
  int n;
  do {
    if (corpus->size > MAX_TEXT - GROWTH ||
        !grow(corpus, corpus->size + GROWTH)) {
      errno = EFBIG;
      return false;
    }
    n = gzread(file, corpus->text + corpus->size, GROWTH);
    if (n > 0) corpus->size += n;
  } while (n > 0);
  return n == 0;
}

bool corpus_open(corpus_t *corpus, const char *path, int64_t window, char *why,
                 size_t why_size) {
  *corpus = (corpus_t){0};
  set_name(corpus, path);
  errno = 0;
  gzFile file = gzopen(path, "rb");
  bool ok = file != NULL && read_all(corpus, file);
  int saved = errno;
  if (file != NULL && gzclose(file) != Z_OK) ok = false; /* cut short */
  if (!ok) {
    snprintf(why, why_size, "%s: %s", path, strerror(saved != 0 ? saved : EIO));
    corpus_close(corpus);
    return false;
  }
  corpus->train_size = corpus->size - corpus->size / VALIDATION_PART;
  if (corpus_num_validation(corpus, window) < 1 ||
      corpus->train_size <= window) {
    snprintf(why, why_size, "%s: %lld bytes are too few for a window of %lld",
             path, (long long)corpus->size, (long long)window);
    corpus_close(corpus);
    return false;
  }
  return true;
}

void corpus_close(corpus_t *corpus) {
  free(corpus->text);
  *corpus = (corpus_t){0};
}

void corpus_draw(const corpus_t *corpus, rng_t *sampler, int64_t window,
                 int64_t batch, int64_t *begins) {
  uint64_t places = (uint64_t)(corpus->train_size - window);
  for (int64_t i = 0; i < batch; i++)
    begins[i] = (int64_t)rng_below(sampler, places);
}

int64_t corpus_num_validation(const corpus_t *corpus, int64_t window) {
  return (corpus->size - corpus->train_size - 1) / window;
}

int64_t corpus_validation(const corpus_t *corpus, int64_t window, int64_t i) {
  return corpus->train_size + i * window;
}
