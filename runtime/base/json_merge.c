/* Repeated keys of a parsed object. Done once, when the object is whole: among
 * a few members by looking, among many by a table, so that a million take time
 * in proportion. */
#include <stdlib.h>

#include "base/base.h"
#include "base/json_impl.h"

enum { FEW = 8 };

/* Keys seen so far; no slots for objects of a few. */
typedef struct seen {
  cairn_json_t **slots;
  size_t mask;
  uint64_t seed;
} seen_t;

/* Twice as many slots as members. The seed is random: a file must not be able
 * to choose keys that all meet in one slot. */
static bool seen_init(seen_t *seen, size_t members) {
  size_t n = 2 * FEW;
  *seen = (seen_t){0};
  if (members <= FEW) return true;
  while (n / 2 < members) n *= 2;
  seen->slots = calloc(n, sizeof *seen->slots);
  seen->mask = n - 1;
  cairn__random(&seen->seed, sizeof seen->seed);
  return seen->slots != NULL;
}

/* The member before v with the key of v, or NULL. */
static cairn_json_t *look(const cairn_json_t *obj, const cairn_json_t *v) {
  for (cairn_json_t *m = obj->child; m != v; m = m->next)
    if (cairn__bytes_eq(m->key, v->key)) return m;
  return NULL;
}

/* The same from the table, which takes v in when its key is new. */
static cairn_json_t *find_or_add(seen_t *seen, cairn_json_t *v) {
  size_t i = cairn__hash64(v->key.p, v->key.n, seen->seed) & seen->mask;
  while (seen->slots[i] != NULL) {
    if (cairn__bytes_eq(seen->slots[i]->key, v->key)) return seen->slots[i];
    i = (i + 1) & seen->mask;
  }
  seen->slots[i] = v;
  return NULL;
}

static void take_value(cairn_json_t *to, const cairn_json_t *from) {
  cairn_json_t *next = to->next;
  *to = *from;
  to->next = next;
}

static void unlink_next(cairn_json_t *obj, cairn_json_t *prev) {
  prev->next = prev->next->next;
  if (prev->next == NULL) obj->last = prev;
  obj->n--;
}

bool cairn__json_merge(cairn_json_t *obj) {
  seen_t seen;
  cairn_json_t *prev = NULL;
  if (!seen_init(&seen, obj->n)) return false;
  for (cairn_json_t *v = obj->child; v != NULL; v = v->next) {
    cairn_json_t *first =
        seen.slots != NULL ? find_or_add(&seen, v) : look(obj, v);
    if (first == NULL) {
      prev = v;
      continue;
    }
    take_value(first, v);
    unlink_next(obj, prev); /* not NULL: v has an earlier one */
  }
  free(seen.slots);
  return true;
}
