/* A JSON object whose members come in any order and are written sorted by key,
 * as TensorStore's json driver writes `_sharding` and `_strings.json`: no
 * blanks, keys in memcmp order. Linear but for the sort. */
#ifndef CAIRN_HANDLERS_MEMBERS_H_
#define CAIRN_HANDLERS_MEMBERS_H_

#include "cairn/buf.h"

typedef struct cairn__members {
  cairn_buf_t keys, values; /* one after the other */
  struct cairn__member *list;
  size_t n, cap;
  bool failed;
} cairn__members_t;

/* Begins a member; its value, a string in JSON without the quotes around it, is
 * what is appended to m->values until the next call. */
void cairn__members_add(cairn__members_t *m, cairn_bytes_t key);
/* Appends the object. */
void cairn__members_emit(cairn__members_t *m, cairn_buf_t *out);
void cairn__members_free(cairn__members_t *m);

#endif
