/* One tree, verified: heights, key bounds and order as every reader needs them,
 * and the statistics that only a verifier looks at (BR03). A stack as in
 * walk.c; what a node's subtree sums to is compared when the node is left. */
#include <inttypes.h>
#include <stdlib.h>

#include "ocdbt/check.h"
#include "ocdbt/wire.h"

/* What is known of a node that was found good. */
struct seen {
  cairn__ocdbt_stats_t stats;
  uint8_t height;
  size_t first_n; /* its first key */
  uint8_t first[];
};

/* What a reference says of its node. */
struct ref {
  cairn__ocdbt_loc_t loc;
  cairn__ocdbt_stats_t stats;
  unsigned height;
  cairn_bytes_t bound;
};

struct frame {
  cairn__tree_node_t *node;
  struct ref ref; /* points into the node above */
  size_t i, implicit_n;
  cairn__ocdbt_stats_t sum;
};

struct check {
  cairn__reader_t *r;
  cairn__map_t *seen;
  cairn_buf_t path; /* implicit prefixes, as in walk.c */
  struct frame stack[256];
  size_t depth;
  struct ref next;
  cairn__tree_node_t *node;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static void check_end(struct check *c, const cairn_error_t *err) {
  cairn_future_t *done = c->done;
  cairn__nodes_release(&c->r->nodes, c->node);
  while (c->depth > 0)
    cairn__nodes_release(&c->r->nodes, c->stack[--c->depth].node);
  cairn_buf_reset(&c->path);
  free(c);
  cairn_future_resolve(done, err);
}

/* --- statistics --- */

/* Above the leaves, what was found below is added as it is found. */
static cairn__ocdbt_stats_t own_stats(const cairn__ocdbt_node_t *n,
                                      uint64_t length) {
  size_t counted = n->height == 0 ? n->n : 0;
  return cairn__node_stats(n->height, n->entries, counted, length);
}

static cairn_code_t compare(const struct ref *ref,
                            const cairn__ocdbt_stats_t *is,
                            cairn_error_t *err) {
  const cairn__ocdbt_stats_t *says = &ref->stats;
  if (says->num_keys == is->num_keys &&
      says->num_tree_bytes == is->num_tree_bytes &&
      says->num_indirect_value_bytes == is->num_indirect_value_bytes)
    return CAIRN_OK;
  cairn_fail(err, CAIRN_CORRUPT,
             "reference mismatch: statistics %" PRIu64 "/%" PRIu64 "/%" PRIu64
             " (keys/tree bytes/indirect bytes), found %" PRIu64 "/%" PRIu64
             "/%" PRIu64,
             says->num_keys, says->num_tree_bytes,
             says->num_indirect_value_bytes, is->num_keys, is->num_tree_bytes,
             is->num_indirect_value_bytes);
  cairn__within_loc(err, &ref->loc);
  return CAIRN_CORRUPT;
}

/* --- nodes seen before --- */

static cairn_code_t compare_seen(const struct ref *ref, const struct seen *s,
                                 cairn_error_t *err) {
  cairn__ocdbt_entry_t first = {.key = cairn_bytes(s->first, s->first_n)};
  cairn__ocdbt_node_t n = {.height = s->height, .entries = &first, .n = 1};
  cairn_code_t rc = cairn__check_reference(&n, ref->height, ref->bound, err);
  if (rc != CAIRN_OK) {
    cairn__within_loc(err, &ref->loc);
    return rc;
  }
  return compare(ref, &s->stats, err);
}

static cairn_code_t remember(struct check *c, const struct frame *f,
                             cairn_error_t *err) {
  const cairn__ocdbt_node_t *n = &f->node->n;
  cairn_bytes_t first = n->entries[0].key;
  void *old = NULL;
  struct seen *s = malloc(sizeof *s + first.n);
  if (s != NULL) {
    *s = (struct seen){f->sum, n->height, first.n};
    if (first.n != 0) memcpy(s->first, first.p, first.n);
    if (cairn__map_set(c->seen, f->node->id, s, &old)) {
      free(old);
      return CAIRN_OK;
    }
  }
  free(s);
  return cairn_fail(err, CAIRN_NO_MEMORY, "nodes that were checked");
}

static struct seen *find_seen(const struct check *c, const struct ref *ref) {
  cairn_buf_t id = {0};
  cairn__loc_key(&ref->loc, &id);
  struct seen *s =
      id.failed ? NULL : cairn__map_get(c->seen, cairn_buf_bytes(&id));
  cairn_buf_reset(&id);
  return s;
}

/* --- order over nodes --- */

/* The last key of a leaf lies below the next key of every node above it: a key
 * beyond could not be found by a lookup. */
static cairn_code_t check_upper(struct check *c, const struct frame *leaf,
                                cairn_error_t *err) {
  const cairn__ocdbt_node_t *n = &leaf->node->n;
  cairn_bytes_t last = n->entries[n->n - 1].key;
  c->path.n = leaf->implicit_n;
  cairn_buf_put(&c->path, last.p, last.n);
  for (size_t d = 0; d + 1 < c->depth && !c->path.failed; d++) {
    const struct frame *f = &c->stack[d];
    if (f->i == f->node->n.n) continue;
    cairn_bytes_t key =
        cairn_bytes(c->path.p + f->implicit_n, c->path.n - f->implicit_n);
    if (cairn__bytes_cmp(key, f->node->n.entries[f->i].key) < 0) continue;
    cairn_fail(err, CAIRN_CORRUPT,
               "reference mismatch: last key is not below the next node's");
    return cairn__within_loc(err, &leaf->ref.loc);
  }
  return CAIRN_OK;
}

/* --- the way --- */

static cairn_code_t enter(struct check *c, cairn_error_t *err) {
  const cairn__ocdbt_node_t *n = &c->node->n;
  cairn_code_t rc =
      cairn__check_reference(n, c->next.height, c->next.bound, err);
  if (rc != CAIRN_OK) {
    cairn__within_loc(err, &c->next.loc);
    return rc;
  }
  struct frame *f = &c->stack[c->depth++];
  *f = (struct frame){.node = c->node, .ref = c->next};
  f->implicit_n = c->path.n;
  f->sum = own_stats(n, c->next.loc.length);
  c->node = NULL;
  return n->height == 0 ? check_upper(c, f, err) : CAIRN_OK;
}

static cairn_code_t leave(struct check *c, cairn_error_t *err) {
  struct frame *f = &c->stack[c->depth - 1];
  cairn_code_t rc = compare(&f->ref, &f->sum, err);
  if (rc == CAIRN_OK) rc = remember(c, f, err);
  if (c->depth > 1) cairn__stats_add(&c->stack[c->depth - 2].sum, &f->sum);
  cairn__nodes_release(&c->r->nodes, f->node);
  c->depth--;
  return rc;
}

static void take_child(struct check *c, struct frame *f) {
  const cairn__ocdbt_entry_t *e = &f->node->n.entries[f->i++];
  size_t n = e->subtree_prefix;
  c->path.n = f->implicit_n;
  cairn_buf_put(&c->path, e->key.p, n);
  c->next = (struct ref){.loc = e->loc, .stats = e->stats};
  c->next.height = f->node->n.height - 1u;
  c->next.bound = cairn_bytes(e->key.p + n, e->key.n - n);
}

/* Until a node is wanted (true), or all is done or wrong. */
static bool step(struct check *c, cairn_error_t *err) {
  while (c->depth > 0) {
    struct frame *f = &c->stack[c->depth - 1];
    if (f->node->n.height == 0 || f->i == f->node->n.n) {
      if (leave(c, err) != CAIRN_OK) return false;
      continue;
    }
    take_child(c, f);
    if (c->path.failed) {
      cairn_fail(err, CAIRN_NO_MEMORY, "check");
      return false;
    }
    const struct seen *s = find_seen(c, &c->next);
    if (s == NULL) return true;
    if (compare_seen(&c->next, s, err) != CAIRN_OK) return false;
    cairn__stats_add(&f->sum, &s->stats);
  }
  return false;
}

static void on_node(cairn_wait_t *w) {
  struct check *c = cairn_container_of(w, struct check, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK && enter(c, &err) == CAIRN_OK &&
      step(c, &err)) {
    cairn_then(cairn__nodes_get(&c->r->nodes, &c->next.loc, &c->node), &c->wait,
               on_node);
    return;
  }
  check_end(c, &err);
}

cairn_future_t *cairn__tree_check(cairn__reader_t *r,
                                  const cairn__ocdbt_version_t *v,
                                  cairn__map_t *seen) {
  cairn_future_t *done;
  struct check *c = cairn__op_new(r->rt, sizeof *c, "check", &done);
  if (c == NULL) return done;
  c->r = r;
  c->seen = seen;
  c->done = done;
  c->next =
      (struct ref){.loc = v->root, .stats = v->stats, .height = v->root_height};
  const struct seen *s = find_seen(c, &c->next);
  if (s != NULL) {
    cairn_error_t err = {0};
    (void)compare_seen(&c->next, s, &err);
    check_end(c, &err);
    return done;
  }
  cairn_then(cairn__nodes_get(&r->nodes, &c->next.loc, &c->node), &c->wait,
             on_node);
  return done;
}
