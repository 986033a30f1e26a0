/* JSON documents as trees in an arena: building, looking up, copying. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/json_impl.h"

enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 256 * 1024, ALIGN = 8 };

struct cairn_json_block {
  struct cairn_json_block *next;
  size_t used, cap;
  _Alignas(ALIGN) uint8_t bytes[];
};

static struct cairn_json_block *block_new(size_t cap) {
  struct cairn_json_block *b;
  if (cap > SIZE_MAX - sizeof *b) return NULL;
  b = malloc(sizeof *b + cap);
  if (b == NULL) return NULL;
  b->next = NULL;
  b->used = 0;
  b->cap = cap;
  return b;
}

/* A new block for n bytes. Small documents stay small: each block is twice the
 * one before. What would fill much of a block gets its own, put behind the
 * first, so that the room left in the first is still used. */
static struct cairn_json_block *block_for(cairn_json_doc_t *doc, size_t n) {
  struct cairn_json_block *head = doc->blocks;
  size_t cap = head == NULL ? FIRST_BLOCK : head->cap * 2;
  if (cap > LARGEST_BLOCK) cap = LARGEST_BLOCK;
  bool own = n > cap / 2;
  struct cairn_json_block *b = block_new(own ? n : cap);
  if (b == NULL) return NULL;
  if (own && head != NULL) {
    b->next = head->next;
    head->next = b;
  } else {
    b->next = head;
    doc->blocks = b;
  }
  return b;
}

void *cairn__json_alloc(cairn_json_doc_t *doc, size_t n) {
  struct cairn_json_block *b = doc->blocks;
  if (n > SIZE_MAX - ALIGN) return NULL;
  n = (n + ALIGN - 1) / ALIGN * ALIGN;
  if (b == NULL || n > b->cap - b->used) b = block_for(doc, n);
  if (b == NULL) return NULL;
  void *p = b->bytes + b->used;
  b->used += n;
  return p;
}

void cairn_json_free(cairn_json_doc_t *doc) {
  for (struct cairn_json_block *b = doc->blocks, *next; b != NULL; b = next) {
    next = b->next;
    free(b);
  }
  *doc = (cairn_json_doc_t){0};
}

static cairn_json_t *node_new(cairn_json_doc_t *doc, cairn_json_kind_t kind) {
  cairn_json_t *v = cairn__json_alloc(doc, sizeof *v);
  if (v != NULL) *v = (cairn_json_t){.kind = kind};
  return v;
}

static void link_last(cairn_json_t *parent, cairn_json_t *v) {
  if (parent->last != NULL)
    parent->last->next = v;
  else
    parent->child = v;
  parent->last = v;
  parent->n++;
}

/* Hangs v under parent, or makes it the root. Passes on the NULL of a v that
 * could not be made; a second root is refused. */
static cairn_json_t *place(cairn_json_doc_t *doc, cairn_json_t *parent,
                           cairn_json_t *v) {
  if (v == NULL || (parent == NULL && doc->root != NULL)) return NULL;
  if (parent != NULL)
    link_last(parent, v);
  else
    doc->root = v;
  return v;
}

cairn_json_t *cairn__json_append(cairn_json_doc_t *doc, cairn_json_t *parent,
                                 cairn_json_kind_t kind) {
  return place(doc, parent, node_new(doc, kind));
}

/* Copies b into the arena, at *out. */
static bool keep(cairn_json_doc_t *doc, cairn_bytes_t b, cairn_bytes_t *out) {
  *out = cairn_bytes(NULL, 0);
  if (b.n == 0) return true;
  uint8_t *p = cairn__json_alloc(doc, b.n);
  if (p == NULL) return false;
  memcpy(p, b.p, b.n);
  *out = cairn_bytes(p, b.n);
  return true;
}

/* A node that hangs nowhere yet: a failure leaves the tree as it was. */
static cairn_json_t *node_with(cairn_json_doc_t *doc, cairn_bytes_t key,
                               cairn_json_kind_t kind, cairn_bytes_t text) {
  cairn_json_t *v = node_new(doc, kind);
  if (v == NULL || !keep(doc, key, &v->key) || !keep(doc, text, &v->str))
    return NULL;
  return v;
}

static cairn_bytes_t key_in(const cairn_json_t *parent, cairn_bytes_t key) {
  bool keyed = parent != NULL && parent->kind == CAIRN_JSON_OBJECT;
  return keyed ? key : cairn_bytes(NULL, 0);
}

static cairn_json_t *add_with(cairn_json_doc_t *doc, cairn_json_t *parent,
                              cairn_bytes_t key, cairn_json_kind_t kind,
                              cairn_bytes_t text) {
  return place(doc, parent, node_with(doc, key_in(parent, key), kind, text));
}

cairn_json_t *cairn_json_add(cairn_json_doc_t *doc, cairn_json_t *parent,
                             cairn_bytes_t key, cairn_json_kind_t kind) {
  return add_with(doc, parent, key, kind, cairn_bytes(NULL, 0));
}

cairn_json_t *cairn_json_add_str(cairn_json_doc_t *doc, cairn_json_t *parent,
                                 cairn_bytes_t key, cairn_bytes_t value) {
  return add_with(doc, parent, key, CAIRN_JSON_STRING, value);
}

cairn_json_t *cairn_json_add_int(cairn_json_doc_t *doc, cairn_json_t *parent,
                                 cairn_bytes_t key, int64_t value) {
  cairn_json_t *v = cairn_json_add(doc, parent, key, CAIRN_JSON_INT);
  if (v != NULL) v->i = value;
  return v;
}

static cairn_json_t *copy_tree(cairn_json_doc_t *doc, cairn_bytes_t key,
                               const cairn_json_t *from) {
  cairn_json_t *v = node_with(doc, key, from->kind, from->str);
  if (v == NULL) return NULL;
  v->b = from->b;
  v->i = from->i;
  v->r = from->r;
  for (const cairn_json_t *c = from->child; c != NULL; c = c->next) {
    cairn_json_t *copy = copy_tree(doc, c->key, c);
    if (copy == NULL) return NULL;
    link_last(v, copy);
  }
  return v;
}

/* Placed when it is whole, so that a tree may be copied into itself. */
cairn_json_t *cairn_json_copy(cairn_json_doc_t *doc, cairn_json_t *parent,
                              cairn_bytes_t key, const cairn_json_t *from) {
  return place(doc, parent, copy_tree(doc, key_in(parent, key), from));
}

const cairn_json_t *cairn_json_get_bytes(const cairn_json_t *obj,
                                         cairn_bytes_t key) {
  if (obj == NULL || obj->kind != CAIRN_JSON_OBJECT) return NULL;
  const cairn_json_t *v = obj->child;
  while (v != NULL && !cairn__bytes_eq(v->key, key)) v = v->next;
  return v;
}

const cairn_json_t *cairn_json_get(const cairn_json_t *obj, const char *key) {
  return cairn_json_get_bytes(obj, cairn_bytes_str(key));
}

const cairn_json_t *cairn_json_at(const cairn_json_t *arr, size_t i) {
  if (arr == NULL || arr->kind != CAIRN_JSON_ARRAY) return NULL;
  const cairn_json_t *v = arr->child;
  while (v != NULL && i-- > 0) v = v->next;
  return v;
}

bool cairn_json_int(const cairn_json_t *v, int64_t *out) {
  if (v == NULL) return false;
  if (v->kind == CAIRN_JSON_INT) {
    *out = v->i;
    return true;
  }
  if (v->kind != CAIRN_JSON_REAL || v->r != trunc(v->r)) return false;
  if (v->r < -0x1p63 || v->r >= 0x1p63) return false;
  *out = (int64_t)v->r;
  return true;
}

bool cairn_json_is_str(const cairn_json_t *v, const char *s) {
  return v != NULL && v->kind == CAIRN_JSON_STRING &&
         cairn__bytes_eq(v->str, cairn_bytes_str(s));
}
