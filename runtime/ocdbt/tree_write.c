/* A tree from sorted entries (section 13.4). The estimate of sizes and the rule
 * where a node is split are TensorStore's, so that the same entries give the
 * same nodes. */
#include <stdlib.h>

#include "ocdbt/pack.h"

/* The entries of one height, and what the split rule needs of them. */
struct level {
  cairn__ocdbt_entry_t *e;
  size_t n;
  uint8_t height;
  size_t common; /* bytes that all keys share */
};

struct writer {
  const cairn__ocdbt_config_t *config;
  cairn__pack_t *pack;
  cairn_error_t *err;
};

static uint64_t estimate(uint8_t height, const cairn__ocdbt_entry_t *e) {
  if (height == 0 && e->is_inline) return 16 + e->key.n + e->value.n;
  return (height == 0 ? 32 : 56) + e->key.n + e->loc.file.base.n +
         e->loc.file.rel.n;
}

static size_t common_prefix(const cairn__ocdbt_entry_t *e, size_t n) {
  size_t common = e[0].key.n;
  for (size_t i = 1; i < n && common > 0; i++) {
    size_t c = cairn__bytes_common(e[i - 1].key, e[i].key);
    if (c < common) common = c;
  }
  return common;
}

static uint64_t ceil_div(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}

/* Where the node that begins at `s` ends. `total` is the estimate of all
 * entries from s on, the discount for the common prefix taken off. */
static size_t piece_end(const struct level *l, size_t s, uint64_t total,
                        uint64_t limit) {
  size_t min_arity = l->height == 0 ? 1 : 2, e = s + 1;
  uint64_t k = ceil_div(l->n - s, CAIRN__OCDBT_MAX_ARITY);
  if (limit != 0 && ceil_div(total, limit) > k) k = ceil_div(total, limit);
  uint64_t target = ceil_div(total, k);
  uint64_t r = estimate(l->height, &l->e[s]);
  while (e < l->n && e - s < CAIRN__OCDBT_MAX_ARITY) {
    if (r >= target && e >= s + min_arity)
      return r > limit && e > s + min_arity ? e - 1 : e;
    r += estimate(l->height, &l->e[e]) - l->common;
    e++;
  }
  return e;
}

/* What is left out of every key of a node that is not the root. */
static size_t excluded_prefix(uint8_t height, const cairn__ocdbt_entry_t *e,
                              size_t n) {
  size_t excluded = cairn__bytes_common(e[0].key, e[n - 1].key);
  for (size_t i = 0; i < n && height > 0; i++)
    if (e[i].subtree_prefix < excluded) excluded = e[i].subtree_prefix;
  return excluded;
}

static void cut(uint8_t height, cairn__ocdbt_entry_t *e, size_t n,
                size_t excluded) {
  for (size_t i = 0; i < n && excluded > 0; i++) {
    e[i].key = cairn_bytes(e[i].key.p + excluded, e[i].key.n - excluded);
    if (height > 0) e[i].subtree_prefix -= (uint16_t)excluded;
  }
}

/* One node; *parent is the entry for it one level up. */
static cairn_code_t write_node(struct writer *w, uint8_t height,
                               cairn__ocdbt_entry_t *e, size_t n, bool is_root,
                               cairn__ocdbt_entry_t *parent) {
  size_t excluded = is_root ? 0 : excluded_prefix(height, e, n);
  size_t start = w->pack->bytes.n;
  *parent = (cairn__ocdbt_entry_t){.subtree_prefix = (uint16_t)excluded};
  if (!is_root) parent->key = e[0].key;
  cut(height, e, n, excluded);
  cairn_code_t rc = cairn__ocdbt_node_encode(w->config, height, e, n,
                                             &w->pack->bytes, w->err);
  if (rc == CAIRN_OK)
    rc = cairn__pack_item(w->pack, start, &parent->loc, w->err);
  parent->stats = cairn__node_stats(height, e, n, parent->loc.length);
  return rc;
}

/* All nodes of one level; `up` has room for as many entries as the level has.
 */
static cairn_code_t write_level(struct writer *w, const struct level *l,
                                cairn__ocdbt_entry_t *up, size_t *num_up) {
  uint64_t limit = w->config->max_decoded_node_bytes, rest = 0;
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < l->n; i++) rest += estimate(l->height, &l->e[i]);
  *num_up = 0;
  for (size_t s = 0, e; s < l->n && rc == CAIRN_OK; s = e) {
    uint64_t total = rest - (l->n - s - 1) * (uint64_t)l->common;
    e = piece_end(l, s, total, limit);
    for (size_t i = s; i < e; i++) rest -= estimate(l->height, &l->e[i]);
    rc = write_node(w, l->height, &l->e[s], e - s, e - s == l->n,
                    &up[(*num_up)++]);
  }
  return rc;
}

/* The level above *l takes its place; *own is the memory of levels above 0. */
static cairn_code_t climb(struct writer *w, struct level *l,
                          cairn__ocdbt_entry_t **own) {
  size_t n = 0;
  cairn__ocdbt_entry_t *up = malloc(l->n * sizeof *up);
  if (up == NULL)
    return cairn_fail(w->err, CAIRN_NO_MEMORY, "%zu tree nodes", l->n);
  cairn_code_t rc = write_level(w, l, up, &n);
  free(*own);
  *own = up;
  *l = (struct level){.e = up, .n = n, .height = (uint8_t)(l->height + 1)};
  if (rc == CAIRN_OK && l->height == 0)
    rc = cairn_fail(w->err, CAIRN_INVALID, "tree higher than 255");
  if (rc == CAIRN_OK) l->common = common_prefix(l->e, l->n);
  return rc;
}

cairn_code_t cairn__tree_write(const cairn__ocdbt_config_t *config,
                               cairn__ocdbt_entry_t *entries, size_t n,
                               cairn__pack_t *pack, cairn__ocdbt_version_t *out,
                               cairn_error_t *err) {
  struct writer w = {config, pack, err};
  struct level l = {.e = entries, .n = n};
  cairn__ocdbt_entry_t *own = NULL;
  cairn_code_t rc = CAIRN_OK;
  out->root_height = 0;
  out->root = (cairn__ocdbt_loc_t){.offset = UINT64_MAX, .length = UINT64_MAX};
  out->stats = (cairn__ocdbt_stats_t){0};
  if (n == 0) return CAIRN_OK;
  l.common = common_prefix(entries, n);
  do rc = climb(&w, &l, &own);
  while (rc == CAIRN_OK && l.n > 1);
  if (rc == CAIRN_OK) {
    out->root_height = (uint8_t)(l.height - 1);
    out->root = own[0].loc;
    out->stats = own[0].stats;
  }
  free(own);
  return rc;
}
