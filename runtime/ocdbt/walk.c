/* All keys below a prefix, in order (section 12.6). The way down is a stack of
 * nodes; the implicit prefixes of the levels stand one after the other in one
 * buffer, each frame knows how much of it is its own. */
#include <stdlib.h>

#include "ocdbt/reader.h"

struct frame {
  cairn__tree_node_t *node;
  size_t i;          /* next entry */
  size_t implicit_n; /* bytes of walk.path that are this node's prefix */
};

struct walk {
  cairn__reader_t *r;
  cairn__ocdbt_entry_fn fn;
  void *arg;
  cairn_buf_t path;
  cairn_bytes_t prefix;
  struct frame stack[256]; /* the height falls by one each level */
  size_t depth;
  /* of the node to come */
  cairn__tree_node_t *next;
  cairn__ocdbt_loc_t loc;
  unsigned height;
  cairn_bytes_t bound;
  cairn_future_t *done;
  cairn_wait_t wait;
  uint8_t prefix_bytes[];
};

static void walk_end(struct walk *w, const cairn_error_t *err) {
  cairn_future_t *done = w->done;
  cairn_kv_t *kv = w->r->kv;
  cairn__nodes_release(&w->r->nodes, w->next);
  while (w->depth > 0)
    cairn__nodes_release(&w->r->nodes, w->stack[--w->depth].node);
  cairn_buf_reset(&w->path);
  free(w);
  cairn__kv_leave(kv); /* perhaps the end of the reader */
  cairn_future_resolve(done, err);
}

static void set_path(struct walk *w, size_t implicit_n, cairn_bytes_t tail) {
  w->path.n = implicit_n;
  cairn_buf_put(&w->path, tail.p, tail.n);
}

/* The prefix as seen inside a node: what is left of it behind the node's
 * implicit prefix. False if no key of the node can start with it. */
static bool relative_prefix(const struct walk *w, size_t implicit_n,
                            cairn_bytes_t *out) {
  cairn_bytes_t prefix = w->prefix;
  size_t shared = implicit_n < prefix.n ? implicit_n : prefix.n;
  if (shared != 0 && memcmp(w->path.p, prefix.p, shared) != 0) return false;
  *out = cairn_bytes(prefix.p + shared, prefix.n - shared);
  return true;
}

/* Where entries of interest begin: at a leaf the first key not below the
 * prefix, above it the child that may hold such a key. */
static size_t first_entry(const cairn__ocdbt_node_t *n, cairn_bytes_t prefix) {
  size_t i = cairn__ocdbt_node_find(n, prefix);
  if (i == n->n) return 0;
  if (n->height > 0 || cairn__bytes_eq(n->entries[i].key, prefix)) return i;
  return i + 1;
}

/* A key that is above the prefix and does not start with it ends the node. */
static bool is_past(cairn_bytes_t key, cairn_bytes_t prefix) {
  return cairn__bytes_cmp(key, prefix) > 0 && !cairn__bytes_starts(key, prefix);
}

static void push(struct walk *w) {
  struct frame *f = &w->stack[w->depth];
  cairn_bytes_t prefix;
  *f = (struct frame){.node = w->next, .implicit_n = w->path.n};
  w->next = NULL;
  w->depth++;
  f->i = relative_prefix(w, f->implicit_n, &prefix)
             ? first_entry(&f->node->n, prefix)
             : f->node->n.n;
}

/* False when fn has enough. */
static bool emit_leaf(struct walk *w, struct frame *f) {
  const cairn__ocdbt_node_t *n = &f->node->n;
  cairn_bytes_t prefix = {0};
  relative_prefix(w, f->implicit_n, &prefix);
  for (; f->i < n->n; f->i++) {
    const cairn__ocdbt_entry_t *e = &n->entries[f->i];
    if (is_past(e->key, prefix)) break;
    set_path(w, f->implicit_n, e->key);
    if (w->path.failed) return true; /* seen by the caller */
    if (!w->fn(w->arg, cairn_buf_bytes(&w->path), e)) return false;
  }
  f->i = n->n;
  return true;
}

/* Prepares the next child of the frame; false if there is none. */
static bool next_child(struct walk *w, struct frame *f) {
  const cairn__ocdbt_node_t *n = &f->node->n;
  cairn_bytes_t prefix = {0};
  if (f->i == n->n) return false;
  const cairn__ocdbt_entry_t *e = &n->entries[f->i++];
  relative_prefix(w, f->implicit_n, &prefix);
  if (is_past(e->key, prefix)) return false;
  size_t c = e->subtree_prefix;
  w->path.n = f->implicit_n;
  set_path(w, f->implicit_n, cairn_bytes(e->key.p, c));
  w->bound = cairn_bytes(e->key.p + c, e->key.n - c);
  w->loc = e->loc;
  w->height = n->height - 1u;
  return true;
}

enum state { WANT_NODE, FINISHED };

/* Goes on until a node is wanted or all is done. */
static enum state step(struct walk *w) {
  while (w->depth > 0 && !w->path.failed) {
    struct frame *f = &w->stack[w->depth - 1];
    if (f->node->n.height == 0) {
      if (!emit_leaf(w, f)) return FINISHED;
    } else if (next_child(w, f)) {
      return WANT_NODE;
    }
    cairn__nodes_release(&w->r->nodes, f->node);
    w->depth--;
  }
  return FINISHED;
}

static cairn_code_t enter(struct walk *w, cairn_error_t *err) {
  if (cairn_future_cancelled(w->done))
    return cairn_fail(err, CAIRN_CANCELLED, "walk");
  cairn_code_t rc =
      cairn__check_reference(&w->next->n, w->height, w->bound, err);
  if (rc != CAIRN_OK) {
    cairn__within_loc(err, &w->loc);
    return rc;
  }
  push(w);
  return CAIRN_OK;
}

static void on_node(cairn_wait_t *wait) {
  struct walk *w = cairn_container_of(wait, struct walk, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(wait, &err) != CAIRN_OK || enter(w, &err) != CAIRN_OK) {
    walk_end(w, &err);
    return;
  }
  if (step(w) == WANT_NODE) {
    cairn_then(cairn__nodes_get(&w->r->nodes, &w->loc, &w->next), &w->wait,
               on_node);
    return;
  }
  if (w->path.failed) cairn_fail(&err, CAIRN_NO_MEMORY, "walk");
  walk_end(w, &err);
}

cairn_future_t *cairn__tree_walk(cairn__reader_t *r, cairn_bytes_t prefix,
                                 cairn__ocdbt_entry_fn fn, void *arg) {
  if (cairn__reader_is_empty(r)) return cairn_future_done(r->rt, NULL);
  cairn_future_t *done;
  struct walk *w = cairn__op_new(r->rt, sizeof *w + prefix.n, "walk", &done);
  if (w == NULL) return done;
  if (prefix.n != 0) memcpy(w->prefix_bytes, prefix.p, prefix.n);
  w->prefix = cairn_bytes(w->prefix_bytes, prefix.n);
  w->r = r;
  w->fn = fn;
  w->arg = arg;
  w->done = done;
  w->loc = r->version->root;
  w->height = r->version->root_height;
  cairn__kv_enter(r->kv);
  cairn_then(cairn__nodes_get(&r->nodes, &w->loc, &w->next), &w->wait, on_node);
  return done;
}
