/* Version lists, and the geometry of the version tree (section 9). A node of
 * height h covers a window of 2^(A(h+1)) generations that is fixed by
 * arithmetic; windows are 1-based. */
#include <inttypes.h>

#include "ocdbt/wire.h"

unsigned cairn__version_max_height(unsigned arity_log2) {
  return 63 / arity_log2 - 1;
}

/* 2^s as a mask of the bits below; shifts of 64 and more are undefined. */
static uint64_t below(unsigned s) {
  return s >= 64 ? UINT64_MAX : ((uint64_t)1 << s) - 1;
}

uint64_t cairn__version_window(unsigned arity_log2, unsigned height,
                               uint64_t g) {
  return g - ((g - 1) & below(arity_log2 * (height + 1)));
}

cairn__version_slots_t cairn__version_slots(unsigned arity_log2,
                                            uint64_t newest) {
  cairn__version_slots_t s = {.arity_log2 = arity_log2};
  s.left = (newest - 1) & ~below(arity_log2);
  return s;
}

bool cairn__version_slots_next(cairn__version_slots_t *s) {
  if (s->left == 0) return false;
  s->height++;
  s->last = s->left;
  s->left = (s->last - 1) & ~below((s->height + 1) * s->arity_log2);
  s->first = s->left + 1;
  return true;
}

/* --- checks --- */

static cairn_code_t count(cairn__wire_t *w, const char *field, uint64_t least,
                          uint64_t most, uint64_t *out) {
  cairn_code_t rc = cairn__wire_varint64(w, field, out);
  if (rc == CAIRN_OK && (*out < least || *out > most))
    rc = cairn__wire_corrupt(
        w, field, "count is %" PRIu64 ", not in %" PRIu64 "..%" PRIu64, *out,
        least, most);
  return rc;
}

static cairn_code_t generations(cairn__wire_t *w, const uint64_t *first,
                                size_t stride, size_t n) {
  uint64_t before = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t g = *(uint64_t *)cairn__at(first, stride, i);
    if (g == 0)
      return cairn__wire_corrupt(w, "generation_number", "generation 0");
    if (g <= before)
      return cairn__wire_corrupt(w, "generation_number",
                                 "order: %" PRIu64 " after %" PRIu64, g,
                                 before);
    before = g;
  }
  return CAIRN_OK;
}

static cairn_code_t check_root(cairn__wire_t *w,
                               const cairn__ocdbt_version_t *v) {
  if (!cairn__ocdbt_loc_missing(&v->root)) return CAIRN_OK;
  const cairn__ocdbt_stats_t *s = &v->stats;
  if (v->root_height != 0 || s->num_keys != 0 || s->num_tree_bytes != 0 ||
      s->num_indirect_value_bytes != 0)
    return cairn__wire_corrupt(w, "root",
                               "empty root with a height or statistics");
  return CAIRN_OK;
}

static cairn_code_t check_versions(cairn__wire_t *w, unsigned arity_log2,
                                   const cairn__ocdbt_version_t *v, size_t n) {
  uint64_t newest = v[n - 1].generation;
  uint64_t window = cairn__version_window(arity_log2, 0, newest);
  if (v[0].generation < window)
    return cairn__wire_corrupt(w, "generation_number",
                               "%" PRIu64 " is not in the window of %" PRIu64,
                               v[0].generation, newest);
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < n && rc == CAIRN_OK; i++) rc = check_root(w, &v[i]);
  return rc;
}

static cairn_code_t heights(cairn__wire_t *w, cairn__ocdbt_version_t *v,
                            size_t n) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < n && rc == CAIRN_OK; i++)
    rc = cairn__wire_u8(w, "root_height", &v[i].root_height);
  return rc;
}

cairn_code_t cairn__wire_versions(cairn__wire_t *w, unsigned arity_log2,
                                  cairn__ocdbt_version_t **out, size_t *n) {
  const size_t stride = sizeof **out;
  uint64_t m = 0;
  cairn_code_t rc = count(w, "versions", 1, (uint64_t)1 << arity_log2, &m);
  if (rc != CAIRN_OK) return rc;
  cairn__ocdbt_version_t *v = cairn__wire_alloc(w, m, stride);
  if (v == NULL) return CAIRN_NO_MEMORY;
  if ((rc = cairn__wire_column64(w, "generation_number", &v->generation, stride,
                                 m)) != CAIRN_OK ||
      (rc = generations(w, &v->generation, stride, m)) != CAIRN_OK ||
      (rc = heights(w, v, m)) != CAIRN_OK ||
      (rc = cairn__wire_locs(w, &v->root, stride, m, true)) != CAIRN_OK ||
      (rc = cairn__wire_stats(w, &v->stats, stride, m)) != CAIRN_OK ||
      (rc = cairn__wire_times(w, &v->commit_time, stride, m)) != CAIRN_OK ||
      (rc = check_versions(w, arity_log2, v, m)) != CAIRN_OK)
    return rc;
  *out = v;
  *n = (size_t)m;
  return CAIRN_OK;
}

/* The columns that both kinds of node list have. */
static cairn_code_t refs(cairn__wire_t *w, cairn__ocdbt_version_ref_t *r,
                         size_t n) {
  const size_t stride = sizeof *r;
  cairn_code_t rc =
      cairn__wire_column64(w, "generation_number", &r->generation, stride, n);
  if (rc == CAIRN_OK) rc = generations(w, &r->generation, stride, n);
  if (rc == CAIRN_OK) rc = cairn__wire_locs(w, &r->loc, stride, n, false);
  if (rc == CAIRN_OK)
    rc = cairn__wire_column64(w, "num_generations", &r->num_generations, stride,
                              n);
  if (rc == CAIRN_OK) rc = cairn__wire_times(w, &r->commit_time, stride, n);
  return rc;
}

/* All generations are multiples of the stride, so only full windows can be
 * children. */
static cairn_code_t check_children(cairn__wire_t *w, unsigned arity_log2,
                                   unsigned height,
                                   const cairn__ocdbt_version_ref_t *r,
                                   size_t n) {
  unsigned s = arity_log2 * height;
  for (size_t i = 0; i < n; i++) {
    if ((r[i].generation & below(s)) != 0)
      return cairn__wire_corrupt(w, "generation_number",
                                 "%" PRIu64 " is not a multiple of 2^%u",
                                 r[i].generation, s);
    if (r[i].num_generations > (uint64_t)1 << s)
      return cairn__wire_corrupt(w, "num_generations",
                                 "%" PRIu64 " in a window of 2^%u",
                                 r[i].num_generations, s);
  }
  if ((r[0].generation - 1) >> s >> arity_log2 !=
      (r[n - 1].generation - 1) >> s >> arity_log2)
    return cairn__wire_corrupt(w, "generation_number",
                               "children span two windows");
  return CAIRN_OK;
}

cairn_code_t cairn__wire_version_children(cairn__wire_t *w, unsigned arity_log2,
                                          unsigned height,
                                          cairn__ocdbt_version_ref_t **out,
                                          size_t *n) {
  uint64_t m = 0;
  cairn_code_t rc = count(w, "children", 1, (uint64_t)1 << arity_log2, &m);
  if (rc != CAIRN_OK) return rc;
  cairn__ocdbt_version_ref_t *r = cairn__wire_alloc(w, m, sizeof *r);
  if (r == NULL) return CAIRN_NO_MEMORY;
  for (size_t i = 0; i < m; i++) r[i].height = (uint8_t)(height - 1);
  if ((rc = refs(w, r, m)) != CAIRN_OK ||
      (rc = check_children(w, arity_log2, height, r, m)) != CAIRN_OK)
    return rc;
  *out = r;
  *n = (size_t)m;
  return CAIRN_OK;
}

static cairn_code_t entry_heights(cairn__wire_t *w, unsigned most,
                                  cairn__ocdbt_version_ref_t *r, size_t n) {
  for (size_t i = 0; i < n; i++) {
    cairn_code_t rc = cairn__wire_u8(w, "entry_height", &r[i].height);
    if (rc != CAIRN_OK) return rc;
    if (r[i].height < 1 || r[i].height > most)
      return cairn__wire_corrupt(w, "entry_height", "height is %d",
                                 r[i].height);
    if (i != 0 && r[i].height >= r[i - 1].height)
      return cairn__wire_corrupt(w, "entry_height", "order: %d after %d",
                                 r[i].height, r[i - 1].height);
  }
  return CAIRN_OK;
}

/* From the end, as the slots come: each node must meet one of its height. */
static cairn_code_t check_slots(cairn__wire_t *w, unsigned arity_log2,
                                uint64_t newest,
                                const cairn__ocdbt_version_ref_t *r, size_t n) {
  cairn__version_slots_t s = cairn__version_slots(arity_log2, newest);
  for (size_t i = n; i-- > 0;) {
    do
      if (!cairn__version_slots_next(&s))
        return cairn__wire_corrupt(w, "version_nodes",
                                   "unexpected node of height %d", r[i].height);
    while (s.height != r[i].height);
    if (r[i].generation < s.first || r[i].generation > s.last)
      return cairn__wire_corrupt(w, "version_nodes",
                                 "generation %" PRIu64
                                 " is not in the window %" PRIu64 "..%" PRIu64,
                                 r[i].generation, s.first, s.last);
  }
  return CAIRN_OK;
}

cairn_code_t cairn__wire_version_nodes(cairn__wire_t *w, unsigned arity_log2,
                                       uint64_t newest,
                                       cairn__ocdbt_version_ref_t **out,
                                       size_t *n) {
  unsigned most = cairn__version_max_height(arity_log2);
  uint64_t m = 0;
  cairn_code_t rc = count(w, "version_nodes", 0, most, &m);
  if (rc != CAIRN_OK || m == 0) return rc;
  cairn__ocdbt_version_ref_t *r = cairn__wire_alloc(w, m, sizeof *r);
  if (r == NULL) return CAIRN_NO_MEMORY;
  if ((rc = refs(w, r, m)) != CAIRN_OK ||
      (rc = entry_heights(w, most, r, m)) != CAIRN_OK ||
      (rc = check_slots(w, arity_log2, newest, r, m)) != CAIRN_OK)
    return rc;
  *out = r;
  *n = (size_t)m;
  return CAIRN_OK;
}

/* --- encoding --- */

void cairn__put_versions(cairn_buf_t *b, cairn__file_table_t *t,
                         const cairn__ocdbt_version_t *v, size_t n) {
  const size_t stride = sizeof *v;
  cairn_buf_put_varint(b, n);
  if (n == 0) return;
  cairn__put_column64(b, &v->generation, stride, n);
  for (size_t i = 0; i < n; i++) cairn_buf_put_u8(b, v[i].root_height);
  cairn__put_locs(b, t, &v->root, stride, n);
  cairn__put_stats(b, &v->stats, stride, n);
  cairn__put_times(b, &v->commit_time, stride, n);
}

void cairn__put_version_refs(cairn_buf_t *b, cairn__file_table_t *t,
                             const cairn__ocdbt_version_ref_t *r, size_t n,
                             bool with_height) {
  const size_t stride = sizeof *r;
  cairn_buf_put_varint(b, n);
  if (n == 0) return;
  cairn__put_column64(b, &r->generation, stride, n);
  cairn__put_locs(b, t, &r->loc, stride, n);
  cairn__put_column64(b, &r->num_generations, stride, n);
  cairn__put_times(b, &r->commit_time, stride, n);
  for (size_t i = 0; i < n && with_height; i++)
    cairn_buf_put_u8(b, r[i].height);
}
