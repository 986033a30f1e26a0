/* Blocks of doubling size; a request that does not fit the newest block opens
 * another, and the rest of the old one is not looked at again. */
#include "bump.h"

#include <stdlib.h>

#define FIRST_BLOCK ((size_t)4096)
#define LAST_BLOCK ((size_t)1 << 20)
#define ALIGN ((size_t)16)

struct cairn__bump_block {
  struct cairn__bump_block *next;
  size_t used, cap;
  _Alignas(16) uint8_t mem[];
};

static struct cairn__bump_block *grow(cairn__bump_t *s, size_t n) {
  size_t cap = FIRST_BLOCK, bytes;
  if (s->blocks != NULL) cap = s->blocks->cap * 2;
  if (cap > LAST_BLOCK) cap = LAST_BLOCK;
  if (cap < n) cap = n;
  if (__builtin_add_overflow(cap, sizeof(struct cairn__bump_block), &bytes))
    return NULL;
  struct cairn__bump_block *b = malloc(bytes);
  if (b == NULL) return NULL;
  b->next = s->blocks;
  b->used = 0;
  b->cap = cap;
  s->blocks = b;
  return b;
}

void *cairn__bump_alloc(cairn__bump_t *s, size_t n) {
  struct cairn__bump_block *b = s->blocks;
  if (n > SIZE_MAX - ALIGN) return NULL;
  n = (n + ALIGN - 1) & ~(ALIGN - 1);
  if (b == NULL || b->cap - b->used < n) b = grow(s, n);
  if (b == NULL) return NULL;
  void *p = b->mem + b->used;
  b->used += n;
  return p;
}

void *cairn__bump_calloc(cairn__bump_t *s, size_t count, size_t size) {
  size_t n;
  if (__builtin_mul_overflow(count, size, &n)) return NULL;
  void *p = cairn__bump_alloc(s, n);
  if (p != NULL) memset(p, 0, n);
  return p;
}

void cairn__bump_free(cairn__bump_t *s) {
  while (s->blocks != NULL) {
    struct cairn__bump_block *b = s->blocks;
    s->blocks = b->next;
    free(b);
  }
}
