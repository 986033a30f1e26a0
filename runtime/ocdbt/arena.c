/* Blocks in a list, newest first; see arena.h. */
#include "ocdbt/arena.h"

#include <stdlib.h>

#define FIRST_BLOCK 512
#define LARGEST_BLOCK ((size_t)1 << 20)

struct block {
  struct block *next;
  _Alignas(16) uint8_t data[];
};

static bool add_block(cairn__arena_t *a, size_t need) {
  size_t size = a->next_size != 0 ? a->next_size : FIRST_BLOCK;
  if (size < need) size = need;
  if (size > SIZE_MAX - sizeof(struct block)) return false;
  struct block *b = malloc(sizeof *b + size);
  if (b == NULL) return false;
  b->next = a->head;
  a->head = b;
  a->p = b->data;
  a->left = size;
  a->next_size = size < LARGEST_BLOCK / 2 ? 2 * size : LARGEST_BLOCK;
  a->total += size;
  return true;
}

void *cairn__arena_alloc(cairn__arena_t *a, size_t n, size_t align) {
  size_t skip = -(uintptr_t)a->p & (align - 1);
  if (a->left < skip || a->left - skip < n) {
    if (!add_block(a, n)) return NULL;
    skip = 0;
  }
  uint8_t *p = a->p + skip;
  a->p = p + n;
  a->left -= skip + n;
  return p;
}

bool cairn__arena_dup(cairn__arena_t *a, cairn_bytes_t b, cairn_bytes_t *out) {
  *out = cairn_bytes(NULL, 0);
  if (b.n == 0) return true;
  uint8_t *p = cairn__arena_alloc(a, b.n, 1);
  if (p == NULL) return false;
  memcpy(p, b.p, b.n);
  *out = cairn_bytes(p, b.n);
  return true;
}

void cairn__arena_free(void *head) {
  for (struct block *b = head; b != NULL;) {
    struct block *next = b->next;
    free(b);
    b = next;
  }
}
