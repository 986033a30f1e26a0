/* The arena behind a cairn_item_info_t: blocks that live and die together. */
#include <stdlib.h>

#include "cairn/handler.h"

#define BLOCK_BYTES ((size_t)65536)

struct block {
  struct block *next;
  size_t used, size;
  _Alignas(16) uint8_t data[];
};

static struct block *block_new(size_t size) {
  struct block *b = calloc(1, sizeof(*b) + size);
  if (b != NULL) b->size = size;
  return b;
}

void *cairn_item_info_alloc(cairn_item_info_t *info, size_t n) {
  struct block *b = info->mem;
  if (n > SIZE_MAX / 2) return NULL;
  n = (n + 15) / 16 * 16;
  if (b == NULL || b->size - b->used < n) {
    struct block *fresh = block_new(n > BLOCK_BYTES ? n : BLOCK_BYTES);
    if (fresh == NULL) return NULL;
    fresh->next = b;
    info->mem = b = fresh;
  }
  void *p = b->data + b->used;
  b->used += n;
  return p;
}

void cairn_item_info_free(cairn_item_info_t *info) {
  struct block *b = info->mem;
  while (b != NULL) {
    struct block *next = b->next;
    free(b);
    b = next;
  }
  *info = (cairn_item_info_t){0};
}
