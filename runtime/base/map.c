/* Open addressing with linear probing. Deleting moves later entries of the run
 * back instead of leaving a mark, so probes never get longer with age. */
#include "base/map.h"

#include <stdlib.h>

#include "base/base.h"

#define FIRST_CAP 16

struct cairn__map_slot {
  uint64_t hash;
  uint8_t *key;
  size_t key_n;
  void *value; /* NULL: the slot is free */
};

static bool matches(const struct cairn__map_slot *s, uint64_t hash,
                    cairn_bytes_t key) {
  return s->hash == hash && cairn__bytes_eq(cairn_bytes(s->key, s->key_n), key);
}

/* The slot that holds key, or the free one where it would go. cap is not 0 and
 * at least one slot is free. */
static struct cairn__map_slot *find(const cairn__map_t *m, uint64_t hash,
                                    cairn_bytes_t key) {
  size_t i = hash & (m->cap - 1);
  while (m->slots[i].value != NULL && !matches(&m->slots[i], hash, key))
    i = (i + 1) & (m->cap - 1);
  return &m->slots[i];
}

void *cairn__map_get(const cairn__map_t *m, cairn_bytes_t key) {
  if (m->n == 0) return NULL;
  return find(m, cairn__hash64(key.p, key.n, 0), key)->value;
}

static bool grow(cairn__map_t *m) {
  size_t cap = m->cap == 0 ? FIRST_CAP : m->cap * 2;
  struct cairn__map_slot *slots = calloc(cap, sizeof *slots);
  if (slots == NULL) return false;
  for (size_t i = 0; i < m->cap; i++) {
    if (m->slots[i].value == NULL) continue;
    size_t j = m->slots[i].hash & (cap - 1);
    while (slots[j].value != NULL) j = (j + 1) & (cap - 1);
    slots[j] = m->slots[i];
  }
  free(m->slots);
  m->slots = slots;
  m->cap = cap;
  return true;
}

bool cairn__map_set(cairn__map_t *m, cairn_bytes_t key, void *value,
                    void **old) {
  uint64_t hash = cairn__hash64(key.p, key.n, 0);
  if (m->n >= m->cap / 4 * 3 && !grow(m)) return false;
  struct cairn__map_slot *s = find(m, hash, key);
  if (old != NULL) *old = s->value;
  if (s->value == NULL) {
    uint8_t *copy = (uint8_t *)cairn__bytes_dup(key);
    if (copy == NULL) return false;
    *s = (struct cairn__map_slot){hash, copy, key.n, NULL};
    m->n++;
  }
  s->value = value;
  return true;
}

/* Fills the hole at i from the run after it: an entry moves when its probe from
 * home passes over the hole. */
static void close_hole(cairn__map_t *m, size_t i) {
  size_t mask = m->cap - 1;
  for (size_t j = (i + 1) & mask; m->slots[j].value != NULL;
       j = (j + 1) & mask) {
    size_t home = m->slots[j].hash & mask;
    if (((j - home) & mask) < ((j - i) & mask)) continue;
    m->slots[i] = m->slots[j];
    i = j;
  }
  m->slots[i] = (struct cairn__map_slot){0};
}

void *cairn__map_del(cairn__map_t *m, cairn_bytes_t key) {
  if (m->n == 0) return NULL;
  struct cairn__map_slot *s = find(m, cairn__hash64(key.p, key.n, 0), key);
  void *value = s->value;
  if (value == NULL) return NULL;
  free(s->key);
  close_hole(m, (size_t)(s - m->slots));
  m->n--;
  return value;
}

void cairn__map_each(const cairn__map_t *m,
                     bool (*fn)(void *arg, cairn_bytes_t key, void *value),
                     void *arg) {
  for (size_t i = 0; i < m->cap; i++) {
    const struct cairn__map_slot *s = &m->slots[i];
    if (s->value == NULL) continue;
    if (!fn(arg, cairn_bytes(s->key, s->key_n), s->value)) return;
  }
}

void cairn__map_reset(cairn__map_t *m, void (*drop)(void *value)) {
  for (size_t i = 0; i < m->cap; i++) {
    if (m->slots[i].value == NULL) continue;
    free(m->slots[i].key);
    if (drop != NULL) drop(m->slots[i].value);
  }
  free(m->slots);
  *m = (cairn__map_t){0};
}
