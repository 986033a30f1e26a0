/* Values and the contents that hold them, shared by name within the process. */
#include <stdlib.h>

#include "kv/kv_memory.h"

/* --- values --- */

void cairn__memory_value_drop(void *value) {
  struct memory_value *v = value;
  if (atomic_fetch_sub(&v->refs, 1) == 1) free(v);
}

struct memory_value *cairn__memory_value_ref(struct memory_value *v) {
  atomic_fetch_add(&v->refs, 1);
  return v;
}

/* As TensorStore has it: a byte 0 for "a value", then the store's own token. */
cairn_gen_t cairn__memory_gen(const struct memory_value *v) {
  cairn_gen_t g = {.n = 1 + sizeof v->generation};
  if (v == NULL) return CAIRN_GEN_ABSENT;
  memcpy(g.b + 1, &v->generation, sizeof v->generation);
  return g;
}

/* --- contents --- */

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_content *contents;

static struct memory_content *content_new(cairn_bytes_t name) {
  struct memory_content *c = calloc(1, sizeof *c + name.n);
  if (c == NULL) return NULL;
  pthread_mutex_init(&c->lock, NULL);
  c->name_n = name.n;
  if (name.n > 0) memcpy(c->name, name.p, name.n);
  c->next = contents;
  contents = c;
  return c;
}

struct memory_content *cairn__memory_content_open(cairn_bytes_t name) {
  pthread_mutex_lock(&names_lock);
  struct memory_content *c = contents;
  while (c != NULL && !cairn__bytes_eq(cairn_bytes(c->name, c->name_n), name))
    c = c->next;
  if (c == NULL) c = content_new(name);
  if (c != NULL) c->opened++;
  pthread_mutex_unlock(&names_lock);
  return c;
}

void cairn__memory_content_close(struct memory_content *c) {
  pthread_mutex_lock(&names_lock);
  bool last = --c->opened == 0;
  for (struct memory_content **p = &contents; last && *p != NULL;
       p = &(*p)->next) {
    if (*p != c) continue;
    *p = c->next;
    break;
  }
  pthread_mutex_unlock(&names_lock);
  if (!last) return;
  cairn__map_reset(&c->values, cairn__memory_value_drop);
  pthread_mutex_destroy(&c->lock);
  free(c);
}
