/* Everything that the manifest reaches: first the version tree, then the tree
 * of every version. Values are not read. */
#include <inttypes.h>
#include <stdlib.h>

#include "ocdbt/check.h"

/* A version tree node on its way or done; what was decoded stays until the end,
 * because versions and references point into it. */
struct version_node {
  struct version_node *next;
  cairn__ocdbt_version_ref_t ref;
  cairn__ocdbt_version_node_t n;
};

struct check {
  cairn__reader_t *r;
  struct version_node *todo, *seen_nodes;
  struct version_node *node; /* the current one */
  cairn_value_t value;
  /* versions whose trees are checked: those of the manifest, then of nodes */
  const cairn__ocdbt_version_t *versions;
  size_t n, i;
  struct version_node *leaf; /* next versions come from here on */
  cairn__map_t seen;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static void free_list(struct version_node *v) {
  while (v != NULL) {
    struct version_node *next = v->next;
    cairn__ocdbt_version_node_free(&v->n);
    free(v);
    v = next;
  }
}

static void check_end(struct check *c, cairn_error_t *err) {
  cairn_future_t *done = c->done;
  cairn_kv_t *kv = c->r->kv;
  if (err->code != CAIRN_OK) {
    char name[512];
    cairn_kv_describe(c->r->base, cairn_bytes(NULL, 0), name, sizeof name);
    cairn_within(err, "check %s", name);
  }
  free_list(c->todo);
  free_list(c->seen_nodes);
  cairn_value_reset(&c->value);
  cairn__map_reset(&c->seen, free);
  free(c);
  cairn__kv_leave(kv); /* perhaps the end of the reader */
  cairn_future_resolve(done, err);
}

/* --- trees --- */

static void next_tree(struct check *c);

static void on_tree(cairn_wait_t *w) {
  struct check *c = cairn_container_of(w, struct check, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    cairn_within(&err, "generation %" PRIu64, c->versions[c->i - 1].generation);
    check_end(c, &err);
    return;
  }
  if (cairn_future_cancelled(c->done)) {
    cairn_fail(&err, CAIRN_CANCELLED, "check");
    check_end(c, &err);
    return;
  }
  next_tree(c);
}

/* The next version that has a tree; NULL at the end. */
static const cairn__ocdbt_version_t *next_version(struct check *c) {
  for (;;) {
    while (c->i < c->n) {
      const cairn__ocdbt_version_t *v = &c->versions[c->i++];
      if (!cairn__ocdbt_loc_missing(&v->root)) return v;
    }
    if (c->leaf == NULL) return NULL;
    c->versions = c->leaf->n.versions;
    c->n = c->leaf->n.num_versions;
    c->i = 0;
    c->leaf = c->leaf->next;
  }
}

static void next_tree(struct check *c) {
  cairn_error_t none = {0};
  const cairn__ocdbt_version_t *v = next_version(c);
  if (v == NULL)
    check_end(c, &none);
  else
    cairn_then(cairn__tree_check(c->r, v, &c->seen), &c->wait, on_tree);
}

/* --- version tree --- */

static void next_node(struct check *c);

static bool add_refs(struct check *c, const cairn__ocdbt_version_ref_t *refs,
                     size_t n) {
  for (size_t i = 0; i < n; i++) {
    struct version_node *v = calloc(1, sizeof *v);
    if (v == NULL) return false;
    v->ref = refs[i];
    v->next = c->todo;
    c->todo = v;
  }
  return true;
}

static cairn_code_t mismatch(cairn_error_t *err, const char *what, uint64_t is,
                             uint64_t want) {
  return cairn_fail(err, CAIRN_CORRUPT,
                    "reference mismatch: %s is %" PRIu64 ", want %" PRIu64,
                    what, is, want);
}

/* VR01 to VR04. */
static cairn_code_t compare_node(const struct check *c,
                                 const struct version_node *v,
                                 cairn_error_t *err) {
  const cairn__ocdbt_version_node_t *n = &v->n;
  unsigned arity = c->r->manifest.config.version_tree_arity_log2;
  bool leaf = n->height == 0;
  if (n->height != v->ref.height)
    return mismatch(err, "height", n->height, v->ref.height);
  if (n->arity_log2 != arity)
    return mismatch(err, "version_tree_arity_log2", n->arity_log2, arity);
  uint64_t last = leaf ? n->versions[n->num_versions - 1].generation
                       : n->children[n->num_children - 1].generation;
  if (last != v->ref.generation)
    return mismatch(err, "last generation", last, v->ref.generation);
  uint64_t count = leaf ? n->num_versions : 0;
  for (size_t i = 0; i < n->num_children; i++)
    count += n->children[i].num_generations; /* each at most 2^63 / arity */
  if (count != v->ref.num_generations)
    return mismatch(err, "num_generations", count, v->ref.num_generations);
  uint64_t oldest =
      leaf ? n->versions[0].commit_time : n->children[0].commit_time;
  if (oldest != v->ref.commit_time)
    return mismatch(err, "oldest commit_time", oldest, v->ref.commit_time);
  return CAIRN_OK;
}

static cairn_code_t decode_job(void *job, cairn_error_t *err) {
  struct check *c = job;
  return cairn__ocdbt_version_node_decode(
      c->value.data, c->node->ref.loc.file.base, &c->node->n, err);
}

static void node_failed(struct check *c, cairn_error_t *err) {
  cairn__within_loc(err, &c->node->ref.loc);
  check_end(c, err);
}

static void on_decoded(cairn_wait_t *w) {
  struct check *c = cairn_container_of(w, struct check, wait);
  struct version_node *v = c->node;
  cairn_error_t err = {0};
  cairn_value_reset(&c->value);
  if (cairn_wait_result(w, &err) != CAIRN_OK ||
      compare_node(c, v, &err) != CAIRN_OK) {
    node_failed(c, &err);
    return;
  }
  if (!add_refs(c, v->n.children, v->n.num_children)) {
    cairn_fail(&err, CAIRN_NO_MEMORY, "check");
    check_end(c, &err);
    return;
  }
  next_node(c);
}

static void on_read(cairn_wait_t *w) {
  struct check *c = cairn_container_of(w, struct check, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK)
    node_failed(c, &err);
  else
    cairn_then(cairn_work(c->r->rt, decode_job, c), &c->wait, on_decoded);
}

static void next_node(struct check *c) {
  struct version_node *v = c->todo;
  if (v == NULL) {
    c->leaf = c->seen_nodes;
    next_tree(c);
    return;
  }
  c->todo = v->next;
  v->next = c->seen_nodes;
  c->seen_nodes = c->node = v;
  cairn_then(cairn__blob_read(c->r->base, &v->ref.loc, 0,
                              (size_t)v->ref.loc.length, NULL, &c->value),
             &c->wait, on_read);
}

cairn_future_t *cairn__ocdbt_check(cairn_kv_t *reader) {
  cairn_future_t *done;
  cairn__reader_t *r = cairn__reader_of(reader, &done);
  if (r == NULL) return done;
  struct check *c = cairn__op_new(r->rt, sizeof *c, "check", &done);
  if (c == NULL) return done;
  c->r = r;
  c->done = done;
  c->versions = r->manifest.versions;
  c->n = r->manifest.num_versions;
  cairn__kv_enter(r->kv);
  if (add_refs(c, r->manifest.nodes, r->manifest.num_nodes)) {
    next_node(c);
  } else {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "check");
    check_end(c, &err);
  }
  return done;
}
