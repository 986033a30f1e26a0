/* The memory of a tree: blocks that are freed together. */
#include <stdlib.h>

#include "tree/tree.h"

#define ALIGN 64
#define BLOCK ((size_t)16 << 10)

struct cairn__arena_block { /* the first ALIGN bytes of what was allocated */
  struct cairn__arena_block *next;
  size_t used, size;
};
_Static_assert(sizeof(struct cairn__arena_block) <= ALIGN, "block head");

static struct cairn__arena_block *add_block(cairn_tree_t *t, size_t n) {
  if (n > SIZE_MAX - 2 * ALIGN) return NULL;
  size_t size = (ALIGN + n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  if (size < BLOCK) size = BLOCK;
  struct cairn__arena_block *b = aligned_alloc(ALIGN, size);
  if (b == NULL) return NULL;
  memset(b, 0, size);
  b->used = ALIGN;
  b->size = size;
  /* A large one goes behind the first, which still has room. */
  struct cairn__arena_block **at =
      n > BLOCK / 4 && t->blocks != NULL ? &t->blocks->next : &t->blocks;
  b->next = *at;
  *at = b;
  return b;
}

void *cairn__tree_alloc(cairn_tree_t *t, size_t n, size_t align) {
  struct cairn__arena_block *b = t->blocks;
  size_t at = b != NULL ? (b->used + align - 1) & ~(align - 1) : 0;
  if (b == NULL || at > b->size || n > b->size - at) {
    b = add_block(t, n);
    if (b == NULL) return NULL;
    at = b->used;
  }
  b->used = at + n;
  return (char *)b + at;
}

void *cairn__tree_copy(cairn_tree_t *t, const void *p, size_t n) {
  void *out = cairn__tree_alloc(t, n, sizeof(void *));
  if (out != NULL && n > 0) memcpy(out, p, n);
  return out;
}

void cairn__tree_arena_free(cairn_tree_t *t) {
  while (t->blocks != NULL) {
    struct cairn__arena_block *b = t->blocks;
    t->blocks = b->next;
    free(b);
  }
}
