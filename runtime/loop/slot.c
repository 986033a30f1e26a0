/* Values that other rooms keep with a runtime. */
#include "loop/internal.h"

void *cairn__runtime_slot(cairn_runtime_t *rt, cairn__slot_t slot,
                          void *(*make)(void), void (*drop)(void *p)) {
  uv_mutex_lock(&rt->lock);
  struct cairn__slot_value *v = &rt->slots[slot];
  if (v->p == NULL) *v = (struct cairn__slot_value){make(), drop};
  void *p = v->p;
  uv_mutex_unlock(&rt->lock);
  return p;
}

void cairn__slots_reset(cairn_runtime_t *rt) {
  for (size_t i = 0; i < CAIRN__SLOT_COUNT; i++) {
    struct cairn__slot_value *v = &rt->slots[i];
    if (v->p != NULL) v->drop(v->p);
  }
}
