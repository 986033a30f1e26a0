/* What was written so far, found by key (the same key twice is refused) and put
 * in order at commit. */
#include <stdlib.h>

#include "ocdbt/writer.h"

static cairn_bytes_t key_of(const cairn__record_t *r) {
  return cairn_bytes(r->key, r->key_n);
}

static uint32_t *find_slot(const cairn__records_t *rs, cairn_bytes_t key) {
  size_t i = (size_t)cairn__hash64(key.p, key.n, 0);
  for (;; i++) {
    uint32_t *slot = &rs->slots[i & (rs->num_slots - 1)];
    if (*slot == 0 || cairn__bytes_eq(key_of(&rs->r[*slot - 1]), key))
      return slot;
  }
}

cairn__record_t *cairn__records_find(const cairn__records_t *rs,
                                     cairn_bytes_t key) {
  if (rs->n == 0) return NULL;
  uint32_t slot = *find_slot(rs, key);
  return slot != 0 ? &rs->r[slot - 1] : NULL;
}

static bool grow(cairn__records_t *rs) {
  size_t cap = rs->cap != 0 ? 2 * rs->cap : 64;
  if (cap > UINT32_MAX / 2) return false;
  cairn__record_t *r = realloc(rs->r, cap * sizeof *r);
  if (r == NULL) return false;
  rs->r = r;
  uint32_t *slots = calloc(2 * cap, sizeof *slots);
  if (slots == NULL) return false;
  free(rs->slots);
  rs->slots = slots;
  rs->num_slots = 2 * cap;
  rs->cap = cap;
  for (size_t i = 0; i < rs->n; i++)
    *find_slot(rs, key_of(&rs->r[i])) = (uint32_t)i + 1;
  return true;
}

cairn__record_t *cairn__records_add(cairn__records_t *rs, cairn_bytes_t key) {
  cairn_bytes_t own;
  if (rs->n == rs->cap && !grow(rs)) return NULL;
  if (!cairn__arena_dup(&rs->arena, key, &own)) return NULL;
  cairn__record_t *r = &rs->r[rs->n];
  *r = (cairn__record_t){.key = own.p, .key_n = (uint32_t)own.n};
  *find_slot(rs, own) = (uint32_t)++rs->n;
  return r;
}

/* The newest record is the end of its chain, so its slot may just be emptied.
 */
void cairn__records_pop(cairn__records_t *rs) {
  *find_slot(rs, key_of(&rs->r[rs->n - 1])) = 0;
  rs->n--;
}

static int by_key(const void *a, const void *b) {
  return cairn__bytes_cmp(key_of(a), key_of(b));
}

static void make_entry(const cairn__record_t *r, const cairn__place_t *place,
                       cairn__ocdbt_entry_t *e) {
  *e = (cairn__ocdbt_entry_t){.key = key_of(r)};
  e->is_inline = r->file == CAIRN__RECORD_INLINE;
  if (e->is_inline) {
    e->value = cairn_bytes(r->at.bytes, (size_t)r->length);
    return;
  }
  e->loc.file = cairn__place_file(place, r->file);
  e->loc.offset = r->at.offset;
  e->loc.length = r->length;
}

cairn_code_t cairn__records_entries(cairn__records_t *rs,
                                    const cairn__place_t *place,
                                    cairn__entries_t *out, cairn_error_t *err) {
  free(rs->slots);
  rs->slots = NULL;
  if (rs->n != 0) {
    qsort(rs->r, rs->n, sizeof *rs->r, by_key);
    out->e = malloc(rs->n * sizeof *out->e);
    if (out->e == NULL)
      return cairn_fail(err, CAIRN_NO_MEMORY, "%zu entries", rs->n);
  }
  for (size_t i = 0; i < rs->n; i++) make_entry(&rs->r[i], place, &out->e[i]);
  out->n = out->cap = rs->n;
  free(rs->r);
  rs->r = NULL;
  rs->n = rs->cap = rs->num_slots = 0;
  return CAIRN_OK;
}

void cairn__records_reset(cairn__records_t *rs) {
  free(rs->r);
  free(rs->slots);
  cairn__arena_free(rs->arena.head);
  *rs = (cairn__records_t){0};
}
