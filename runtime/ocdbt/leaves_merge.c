/* The k-way merge of what the ranks wrote (section 14). Each child is a cursor
 * that holds one decoded node at a time; a heap of cursors gives the entries in
 * key order. An entry's file already carries the child's base path, because the
 * child's nodes are decoded below it. */
#include <stdlib.h>

#include "ocdbt/pack.h"

struct cursor {
  const cairn__ocdbt_child_t *child;
  cairn_bytes_t rest; /* nodes to come */
  cairn__ocdbt_node_t node;
  size_t i;
};

struct merge {
  struct cursor *cursors;
  struct cursor **heap; /* the smallest key first */
  size_t n;
  cairn__entries_t *out;
  cairn__file_table_t files; /* each name is copied once */
  cairn_bytes_t last;        /* key */
  const cairn__ocdbt_child_t *last_child;
  cairn_error_t *err;
};

static cairn_bytes_t key_of(const struct cursor *c) {
  return c->node.entries[c->i].key;
}

/* --- heap --- */

static void sift_down(struct merge *m, size_t i) {
  for (;;) {
    size_t least = i;
    for (size_t c = 2 * i + 1; c <= 2 * i + 2 && c < m->n; c++)
      if (cairn__bytes_cmp(key_of(m->heap[c]), key_of(m->heap[least])) < 0)
        least = c;
    if (least == i) return;
    struct cursor *t = m->heap[i];
    m->heap[i] = m->heap[least];
    m->heap[least] = t;
    i = least;
  }
}

/* Makes c stand on an entry: *more is false at the child's end. */
static cairn_code_t settle(struct merge *m, struct cursor *c, bool *more) {
  *more = true;
  if (c->i < c->node.n) return CAIRN_OK;
  cairn__ocdbt_node_free(&c->node);
  c->i = 0;
  *more = c->rest.n != 0;
  if (!*more) return CAIRN_OK;
  return cairn__leaves_next(&c->rest, c->child->base_path, &c->node, m->err);
}

/* --- output --- */

static bool copy_file(struct merge *m, const cairn__ocdbt_file_t *f,
                      cairn__ocdbt_file_t *out) {
  size_t before = m->files.n;
  uint32_t i = 0;
  if (!cairn__file_table_add(&m->files, f, &i)) return false;
  if (m->files.n != before) {
    cairn__ocdbt_file_t *own = &m->files.files[i];
    if (!cairn__arena_dup(&m->out->arena, f->base, &own->base) ||
        !cairn__arena_dup(&m->out->arena, f->rel, &own->rel))
      return false;
  }
  *out = m->files.files[i];
  return true;
}

static cairn_code_t check_order(struct merge *m, const struct cursor *c,
                                cairn_bytes_t key) {
  if (m->last_child == NULL || cairn__bytes_cmp(m->last, key) < 0)
    return CAIRN_OK;
  cairn_bytes_t a = m->last_child->base_path, b = c->child->base_path;
  return cairn_fail(m->err, CAIRN_CORRUPT,
                    "key \"%.*s\" is in %.*s and in %.*s (or out of order)",
                    key.n < 256 ? (int)key.n : 256, (const char *)key.p,
                    (int)a.n, (const char *)a.p, (int)b.n, (const char *)b.p);
}

static cairn_code_t emit(struct merge *m, const struct cursor *c) {
  const cairn__ocdbt_entry_t *in = &c->node.entries[c->i];
  cairn_code_t rc = check_order(m, c, in->key);
  if (rc != CAIRN_OK) return rc;
  cairn__ocdbt_entry_t *e = cairn__entries_add(m->out);
  if (e != NULL) *e = *in;
  if (e == NULL || !cairn__arena_dup(&m->out->arena, in->key, &e->key) ||
      !cairn__arena_dup(&m->out->arena, in->value, &e->value) ||
      (!in->is_inline && !copy_file(m, &in->loc.file, &e->loc.file)))
    return cairn_fail(m->err, CAIRN_NO_MEMORY, "merge of %zu keys", m->out->n);
  m->last = e->key;
  m->last_child = c->child;
  return CAIRN_OK;
}

/* --- the merge --- */

static cairn_code_t start(struct merge *m, const cairn__ocdbt_child_t *children,
                          size_t n) {
  for (size_t i = 0; i < n; i++) {
    bool more = false;
    struct cursor *c = &m->cursors[i];
    c->child = &children[i];
    c->rest = children[i].leaves;
    cairn_code_t rc = settle(m, c, &more);
    if (rc != CAIRN_OK) return rc;
    if (more) m->heap[m->n++] = c;
  }
  for (size_t i = m->n / 2; i-- > 0;) sift_down(m, i);
  return CAIRN_OK;
}

static cairn_code_t step(struct merge *m) {
  struct cursor *c = m->heap[0];
  bool more = false;
  cairn_code_t rc = emit(m, c);
  if (rc != CAIRN_OK) return rc;
  c->i++;
  if ((rc = settle(m, c, &more)) != CAIRN_OK) {
    cairn_within(m->err, "%.*s", (int)c->child->base_path.n,
                 (const char *)c->child->base_path.p);
    return rc;
  }
  if (!more) m->heap[0] = m->heap[--m->n];
  if (m->n != 0) sift_down(m, 0);
  return CAIRN_OK;
}

cairn_code_t cairn__leaves_merge(const cairn__ocdbt_child_t *children, size_t n,
                                 cairn__entries_t *out, cairn_error_t *err) {
  struct merge m = {.out = out, .err = err};
  cairn_code_t rc = CAIRN_OK;
  m.cursors = calloc(n != 0 ? n : 1, sizeof *m.cursors);
  m.heap = calloc(n != 0 ? n : 1, sizeof *m.heap);
  if (m.cursors == NULL || m.heap == NULL)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "merge of %zu children", n);
  else
    rc = start(&m, children, n);
  while (rc == CAIRN_OK && m.n != 0) rc = step(&m);
  for (size_t i = 0; i < n && m.cursors != NULL; i++)
    cairn__ocdbt_node_free(&m.cursors[i].node);
  free(m.cursors);
  free(m.heap);
  cairn__file_table_reset(&m.files);
  return rc;
}
