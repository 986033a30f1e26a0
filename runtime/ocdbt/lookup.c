/* One key (section 12.4). As long as the nodes are cached the way down is one
 * loop; a node that is not suspends it. */
#include <stdlib.h>

#include "ocdbt/reader.h"

struct lookup {
  cairn__reader_t *r;
  cairn__found_t *out;
  cairn__ocdbt_loc_t loc;
  unsigned height;
  cairn_bytes_t rest, bound; /* rest: into key; bound: into `above` */
  cairn__tree_node_t *above, *node;
  cairn_future_t *done;
  cairn_wait_t wait;
  uint8_t key[];
};

enum progress { DESCEND, OVER };

/* Looks into the node that was reached. On DESCEND loc, height, rest and bound
 * are those of the child. */
static cairn_code_t look(struct lookup *l, enum progress *p,
                         cairn_error_t *err) {
  const cairn__ocdbt_node_t *n = &l->node->n;
  cairn_code_t rc = cairn__check_reference(n, l->height, l->bound, err);
  *p = OVER;
  if (rc != CAIRN_OK) return cairn__within_loc(err, &l->loc), rc;
  size_t i = cairn__ocdbt_node_find(n, l->rest);
  if (i == n->n) return CAIRN_OK;
  const cairn__ocdbt_entry_t *e = &n->entries[i];
  if (l->height == 0) {
    if (cairn__bytes_eq(e->key, l->rest))
      *l->out = (cairn__found_t){l->node, e};
    return CAIRN_OK;
  }
  size_t c = e->subtree_prefix;
  if (!cairn__bytes_starts(l->rest, cairn_bytes(e->key.p, c))) return CAIRN_OK;
  l->bound = cairn_bytes(e->key.p + c, e->key.n - c);
  l->rest = cairn_bytes(l->rest.p + c, l->rest.n - c);
  l->loc = e->loc;
  l->height--;
  *p = DESCEND;
  return CAIRN_OK;
}

static void lookup_end(struct lookup *l, const cairn_error_t *err) {
  cairn__nodes_t *c = &l->r->nodes;
  cairn_kv_t *kv = l->r->kv;
  cairn_future_t *done = l->done;
  if (l->out->node != l->node) cairn__nodes_release(c, l->node);
  cairn__nodes_release(c, l->above);
  free(l);
  cairn__kv_leave(kv); /* perhaps the end of the reader */
  cairn_future_resolve(done, err);
}

static void on_node(cairn_wait_t *w);

static void descend(struct lookup *l) {
  cairn_error_t err = {0};
  enum progress p = DESCEND;
  while (l->node != NULL) {
    if (look(l, &p, &err) != CAIRN_OK || p == OVER) {
      lookup_end(l, &err);
      return;
    }
    cairn__nodes_release(&l->r->nodes, l->above);
    l->above = l->node; /* loc and bound point into it */
    l->node = cairn__nodes_peek(&l->r->nodes, &l->loc);
  }
  cairn_then(cairn__nodes_get(&l->r->nodes, &l->loc, &l->node), &l->wait,
             on_node);
}

static void on_node(cairn_wait_t *w) {
  struct lookup *l = cairn_container_of(w, struct lookup, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK)
    lookup_end(l, &err);
  else
    descend(l);
}

cairn_future_t *cairn__tree_lookup(cairn__reader_t *r, cairn_bytes_t key,
                                   cairn__found_t *out) {
  *out = (cairn__found_t){0};
  if (cairn__reader_is_empty(r)) return cairn_future_done(r->rt, NULL);
  cairn_future_t *done;
  struct lookup *l = cairn__op_new(r->rt, sizeof *l + key.n, "lookup", &done);
  if (l == NULL) return done;
  *l = (struct lookup){.r = r, .out = out, .done = done};
  if (key.n != 0) memcpy(l->key, key.p, key.n);
  l->loc = r->version->root;
  l->height = r->version->root_height;
  l->rest = cairn_bytes(l->key, key.n);
  l->node = cairn__nodes_peek(&r->nodes, &l->loc);
  cairn__kv_enter(r->kv);
  descend(l);
  return done;
}
