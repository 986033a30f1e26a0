/* The data file table, collected and written (section 7). A node with a million
 * entries names few files, so they are made unique by hash as they come and
 * only the unique ones are sorted. */
#include <stdlib.h>

#include "ocdbt/wire.h"

void cairn__file_table_reset(cairn__file_table_t *t) {
  free(t->files);
  free(t->slots);
  free(t->rank);
  *t = (cairn__file_table_t){0};
}

static uint64_t file_hash(const cairn__ocdbt_file_t *f) {
  return cairn__hash64(f->rel.p, f->rel.n,
                       cairn__hash64(f->base.p, f->base.n, 0));
}

static bool file_eq(const cairn__ocdbt_file_t *a,
                    const cairn__ocdbt_file_t *b) {
  return cairn__bytes_eq(a->rel, b->rel) && cairn__bytes_eq(a->base, b->base);
}

/* Its slot, or the empty one where it belongs. */
static uint32_t *find_slot(const cairn__file_table_t *t,
                           const cairn__ocdbt_file_t *f) {
  size_t i = (size_t)file_hash(f);
  for (;; i++) {
    uint32_t *slot = &t->slots[i & (t->num_slots - 1)];
    if (*slot == 0 || file_eq(&t->files[*slot - 1], f)) return slot;
  }
}

static bool grow(cairn__file_table_t *t) {
  size_t cap = t->cap != 0 ? 2 * t->cap : 8;
  cairn__ocdbt_file_t *files = realloc(t->files, cap * sizeof *files);
  if (files == NULL) return false;
  t->files = files;
  uint32_t *slots = calloc(2 * cap, sizeof *slots);
  if (slots == NULL) return false;
  free(t->slots);
  t->slots = slots;
  t->num_slots = 2 * cap;
  t->cap = cap;
  for (size_t i = 0; i < t->n; i++)
    *find_slot(t, &t->files[i]) = (uint32_t)i + 1;
  return true;
}

bool cairn__file_table_add(cairn__file_table_t *t, const cairn__ocdbt_file_t *f,
                           uint32_t *index) {
  if (t->n == 0 || !file_eq(&t->files[t->last], f)) {
    if (t->n == t->cap && !grow(t)) return false;
    uint32_t *slot = find_slot(t, f);
    if (*slot == 0) {
      t->files[t->n++] = *f;
      *slot = (uint32_t)t->n;
    }
    t->last = *slot - 1;
  }
  if (index != NULL) *index = t->last;
  return true;
}

bool cairn__file_table_add_locs(cairn__file_table_t *t,
                                const cairn__ocdbt_loc_t *first, size_t stride,
                                size_t n) {
  for (size_t i = 0; i < n; i++) {
    const cairn__ocdbt_loc_t *l = cairn__at(first, stride, i);
    if (!cairn__file_table_add(t, &l->file, NULL)) return false;
  }
  return true;
}

uint32_t cairn__file_table_id(cairn__file_table_t *t,
                              const cairn__ocdbt_file_t *f) {
  if (!file_eq(&t->files[t->last], f)) t->last = *find_slot(t, f) - 1;
  return t->rank[t->last];
}

/* By base path, then by relative path: never by the joined string. */
static int by_paths(const void *a, const void *b, void *files) {
  const cairn__ocdbt_file_t *f = files;
  const cairn__ocdbt_file_t *x = &f[*(const uint32_t *)a];
  const cairn__ocdbt_file_t *y = &f[*(const uint32_t *)b];
  int c = cairn__bytes_cmp(x->base, y->base);
  return c != 0 ? c : cairn__bytes_cmp(x->rel, y->rel);
}

/* The shared prefix may reach into the relative path only behind equal base
 * paths. */
static size_t shared(const cairn__ocdbt_file_t *a,
                     const cairn__ocdbt_file_t *b) {
  size_t n = cairn__bytes_common(a->base, b->base);
  if (n != a->base.n || n != b->base.n) return n;
  return n + cairn__bytes_common(a->rel, b->rel);
}

static void put_suffix(cairn_buf_t *b, const cairn__ocdbt_file_t *f,
                       size_t skip) {
  size_t base = skip < f->base.n ? skip : f->base.n;
  if (base < f->base.n) cairn_buf_put(b, f->base.p + base, f->base.n - base);
  skip -= base;
  if (skip < f->rel.n) cairn_buf_put(b, f->rel.p + skip, f->rel.n - skip);
}

static void put_columns(cairn_buf_t *b, const cairn__ocdbt_file_t *files,
                        const uint32_t *order, const size_t *prefix, size_t n) {
  for (size_t i = 1; i < n; i++) cairn_buf_put_varint(b, prefix[i]);
  for (size_t i = 0; i < n; i++) {
    const cairn__ocdbt_file_t *f = &files[order[i]];
    cairn_buf_put_varint(b, f->base.n + f->rel.n - prefix[i]);
  }
  for (size_t i = 0; i < n; i++)
    cairn_buf_put_varint(b, files[order[i]].base.n);
  for (size_t i = 0; i < n; i++) put_suffix(b, &files[order[i]], prefix[i]);
}

static cairn_code_t check_lengths(const cairn__file_table_t *t,
                                  cairn_error_t *err) {
  for (size_t i = 0; i < t->n; i++)
    if (t->files[i].base.n > UINT16_MAX ||
        t->files[i].base.n + t->files[i].rel.n > UINT16_MAX)
      return cairn_fail(err, CAIRN_INVALID,
                        "data file path of %zu bytes, at most 65535",
                        t->files[i].base.n + t->files[i].rel.n);
  return CAIRN_OK;
}

cairn_code_t cairn__file_table_put(cairn__file_table_t *t, cairn_buf_t *b,
                                   cairn_error_t *err) {
  if (check_lengths(t, err) != CAIRN_OK) return CAIRN_INVALID;
  cairn_buf_put_varint(b, t->n);
  if (t->n == 0) return CAIRN_OK;
  uint32_t *order = malloc(t->n * sizeof *order);
  size_t *prefix = calloc(t->n, sizeof *prefix);
  t->rank = malloc(t->n * sizeof *t->rank);
  bool ok = order != NULL && prefix != NULL && t->rank != NULL;
  if (ok) {
    for (size_t i = 0; i < t->n; i++) order[i] = (uint32_t)i;
    qsort_r(order, t->n, sizeof *order, by_paths, t->files);
    for (size_t i = 0; i < t->n; i++) t->rank[order[i]] = (uint32_t)i;
    for (size_t i = 1; i < t->n; i++)
      prefix[i] = shared(&t->files[order[i - 1]], &t->files[order[i]]);
    put_columns(b, t->files, order, prefix, t->n);
  }
  free(order);
  free(prefix);
  if (!ok) return cairn_fail(err, CAIRN_NO_MEMORY, "data file table");
  return CAIRN_OK;
}
