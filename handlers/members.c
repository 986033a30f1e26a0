/* Members are kept as offsets into two buffers and sorted once. */
#include "members.h"

#include <stdlib.h>

#include "cairn/json.h"
#include "keypath.h"

struct cairn__member {
  size_t key, key_n, value;
};

void cairn__members_add(cairn__members_t *m, cairn_bytes_t key) {
  if (m->failed) return;
  if (m->n == m->cap) {
    size_t cap = m->cap != 0 ? m->cap * 2 : 64;
    struct cairn__member *list = reallocarray(m->list, cap, sizeof *list);
    if (list == NULL) {
      m->failed = true;
      return;
    }
    m->list = list;
    m->cap = cap;
  }
  m->list[m->n++] = (struct cairn__member){m->keys.n, key.n, m->values.n};
  cairn_buf_put(&m->keys, key.p, key.n);
}

static cairn_bytes_t key_of(const cairn__members_t *m, size_t i) {
  return cairn_bytes(m->keys.p + m->list[i].key, m->list[i].key_n);
}

static cairn_bytes_t value_of(const cairn__members_t *m, size_t i) {
  size_t end = i + 1 < m->n ? m->list[i + 1].value : m->values.n;
  size_t begin = m->list[i].value;
  return cairn_bytes(m->values.p + begin, end - begin);
}

static int by_key(const void *a, const void *b, void *arg) {
  return cairn__text_cmp(key_of(arg, *(const size_t *)a),
                         key_of(arg, *(const size_t *)b));
}

void cairn__members_emit(cairn__members_t *m, cairn_buf_t *out) {
  size_t *order = calloc(m->n != 0 ? m->n : 1, sizeof *order);
  if (order == NULL || m->failed || m->keys.failed || m->values.failed) {
    out->failed = true;
    free(order);
    return;
  }
  for (size_t i = 0; i < m->n; i++) order[i] = i;
  qsort_r(order, m->n, sizeof *order, by_key, m);
  cairn_buf_put_u8(out, '{');
  for (size_t i = 0; i < m->n; i++) {
    cairn_bytes_t value = value_of(m, order[i]);
    if (i != 0) cairn_buf_put_u8(out, ',');
    cairn_json_emit_str(key_of(m, order[i]), CAIRN_JSON_COMPACT, out);
    cairn_buf_put_str(out, ":\"");
    cairn_buf_put(out, value.p, value.n);
    cairn_buf_put_u8(out, '"');
  }
  cairn_buf_put_u8(out, '}');
  free(order);
}

void cairn__members_free(cairn__members_t *m) {
  cairn_buf_reset(&m->keys);
  cairn_buf_reset(&m->values);
  free(m->list);
  *m = (cairn__members_t){0};
}
