/* Decoded nodes by location. A node that nobody holds is kept in the order of
 * last use until 128 MiB of such nodes are there: a checkpoint of 3000 arrays
 * is one node, and every lookup wants it. */
#include <stdlib.h>

#include "kv/kv.h"
#include "ocdbt/reader.h"

#define UNHELD_BYTES ((size_t)128 << 20)

struct node_request {
  struct node_request *next;
  cairn__tree_node_t **out;
  cairn_future_t *done;
};

/* Reading and decoding of one node. */
struct load {
  cairn__nodes_t *cache;
  cairn__tree_node_t *node;
  cairn__ocdbt_loc_t loc; /* paths point into the node's id */
  cairn_value_t value;
  cairn_wait_t wait;
};

/* --- holding --- */

static void unlink_unheld(cairn__nodes_t *c, cairn__tree_node_t *n) {
  *(n->older != NULL ? &n->older->newer : &c->oldest) = n->newer;
  *(n->newer != NULL ? &n->newer->older : &c->newest) = n->older;
  n->older = n->newer = NULL;
  c->unheld_bytes -= n->bytes;
}

static void link_unheld(cairn__nodes_t *c, cairn__tree_node_t *n) {
  n->older = c->newest;
  n->newer = NULL;
  *(c->newest != NULL ? &c->newest->newer : &c->oldest) = n;
  c->newest = n;
  c->unheld_bytes += n->bytes;
}

static void node_free(void *p) {
  cairn__tree_node_t *n = p;
  cairn__ocdbt_node_free(&n->n);
  free((void *)(uintptr_t)n->id.p);
  free(n);
}

static void drop(cairn__nodes_t *c, cairn__tree_node_t *n) {
  cairn__map_del(&c->map, n->id);
  node_free(n);
}

static void hold(cairn__nodes_t *c, cairn__tree_node_t *n) {
  if (n->refs++ == 0) unlink_unheld(c, n);
}

void cairn__nodes_release(cairn__nodes_t *c, cairn__tree_node_t *n) {
  if (n == NULL || --n->refs != 0) return;
  link_unheld(c, n);
  while (c->unheld_bytes > UNHELD_BYTES && c->oldest != n) {
    cairn__tree_node_t *old = c->oldest;
    unlink_unheld(c, old);
    drop(c, old);
  }
}

void cairn__nodes_reset(cairn__nodes_t *c) {
  cairn__map_reset(&c->map, node_free);
  *c = (cairn__nodes_t){0};
}

/* --- loading --- */

/* Everyone who asked gets the node, or the error; the node's first reference
 * was the load's. */
static void load_end(struct load *l, cairn_error_t *err) {
  cairn__nodes_t *c = l->cache;
  cairn__tree_node_t *n = l->node;
  struct node_request *r = n->requests;
  if (err->code != CAIRN_OK) cairn__within_loc(err, &l->loc);
  cairn_value_reset(&l->value);
  free(l);
  n->requests = NULL;
  n->loaded = err->code == CAIRN_OK;
  for (struct node_request *q = r; q != NULL && n->loaded; q = q->next) {
    *q->out = n;
    n->refs++;
  }
  if (n->loaded)
    cairn__nodes_release(c, n);
  else
    drop(c, n);
  while (r != NULL) {
    struct node_request *next = r->next;
    cairn_future_t *done = r->done;
    free(r);
    cairn_future_resolve(done, err);
    r = next;
  }
}

static void on_decoded(cairn_wait_t *w) {
  struct load *l = cairn_container_of(w, struct load, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  l->node->bytes = sizeof *l->node + l->node->n.n * sizeof *l->node->n.entries +
                   8 * l->value.data.n;
  load_end(l, &err);
}

static cairn_code_t decode_job(void *job, cairn_error_t *err) {
  struct load *l = job;
  return cairn__ocdbt_node_decode(l->value.data, l->loc.file.base, &l->node->n,
                                  err);
}

static void on_read(cairn_wait_t *w) {
  struct load *l = cairn_container_of(w, struct load, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    load_end(l, &err);
    return;
  }
  cairn_then(cairn_work(cairn_kv_runtime(l->cache->base), decode_job, l),
             &l->wait, on_decoded);
}

/* The paths of loc may belong to a node that goes away: those of the id stay.
 */
static cairn__ocdbt_loc_t own_loc(const cairn__ocdbt_loc_t *loc,
                                  cairn_bytes_t id) {
  cairn__ocdbt_loc_t own = *loc;
  size_t base = id.n - loc->file.base.n - loc->file.rel.n;
  own.file.base = cairn_bytes(id.p + base, loc->file.base.n);
  own.file.rel = cairn_bytes(id.p + base + loc->file.base.n, loc->file.rel.n);
  return own;
}

static cairn__tree_node_t *node_new(cairn__nodes_t *c,
                                    const cairn__ocdbt_loc_t *loc) {
  cairn_buf_t id = {0};
  cairn__tree_node_t *n = calloc(1, sizeof *n);
  cairn__loc_key(loc, &id);
  if (n == NULL || id.failed ||
      !cairn__map_set(&c->map, cairn_buf_bytes(&id), n, NULL)) {
    cairn_buf_reset(&id);
    free(n);
    return NULL;
  }
  n->id.p = cairn_buf_steal(&id, &n->id.n);
  n->refs = 1; /* the load's */
  return n;
}

/* A new node, its loading begun; NULL: no memory. */
static cairn__tree_node_t *load_start(cairn__nodes_t *c,
                                      const cairn__ocdbt_loc_t *loc) {
  struct load *l = calloc(1, sizeof *l);
  cairn__tree_node_t *n = l != NULL ? node_new(c, loc) : NULL;
  if (n == NULL) {
    free(l);
    return NULL;
  }
  l->cache = c;
  l->node = n;
  l->loc = own_loc(loc, n->id);
  cairn_then(cairn__blob_read(c->base, &l->loc, 0, (size_t)loc->length, NULL,
                              &l->value),
             &l->wait, on_read);
  return n;
}

/* --- asking --- */

/* False: no memory to look, which is not the same as "not there". */
static bool find(cairn__nodes_t *c, const cairn__ocdbt_loc_t *loc,
                 cairn__tree_node_t **out) {
  cairn_buf_t id = {0};
  cairn__loc_key(loc, &id);
  bool ok = !id.failed;
  *out = ok ? cairn__map_get(&c->map, cairn_buf_bytes(&id)) : NULL;
  cairn_buf_reset(&id);
  return ok;
}

cairn__tree_node_t *cairn__nodes_peek(cairn__nodes_t *c,
                                      const cairn__ocdbt_loc_t *loc) {
  cairn__tree_node_t *n;
  if (!find(c, loc, &n) || n == NULL || !n->loaded) return NULL;
  hold(c, n);
  return n;
}

static cairn_future_t *no_memory(cairn_runtime_t *rt) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "tree node");
  return cairn_future_done(rt, &err);
}

cairn_future_t *cairn__nodes_get(cairn__nodes_t *c,
                                 const cairn__ocdbt_loc_t *loc,
                                 cairn__tree_node_t **out) {
  cairn_runtime_t *rt = cairn_kv_runtime(c->base);
  cairn__tree_node_t *n;
  *out = NULL;
  if (!find(c, loc, &n)) return no_memory(rt);
  if (n != NULL && n->loaded) {
    hold(c, n);
    *out = n;
    return cairn_future_done(rt, NULL);
  }
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) return done;
  struct node_request *r = calloc(1, sizeof *r);
  if (r == NULL || (n == NULL && (n = load_start(c, loc)) == NULL)) {
    free(r);
    cairn__promise_drop(done);
    return no_memory(rt);
  }
  *r = (struct node_request){n->requests, out, done};
  n->requests = r;
  return done;
}

/* --- nodes --- */

cairn_code_t cairn__check_reference(const cairn__ocdbt_node_t *n,
                                    unsigned height, cairn_bytes_t bound,
                                    cairn_error_t *err) {
  if (n->height != height)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "reference mismatch: node of height %d, want %u",
                      n->height, height);
  if (cairn__bytes_cmp(n->entries[0].key, bound) < 0)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "reference mismatch: first key is below the parent's");
  return CAIRN_OK;
}

size_t cairn__ocdbt_node_find(const cairn__ocdbt_node_t *n, cairn_bytes_t k) {
  size_t lo = 0, hi = n->n; /* keys below lo are <= k, from hi on are > k */
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (cairn__bytes_cmp(n->entries[mid].key, k) <= 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo == 0 ? n->n : lo - 1;
}
