/* Both sides sorted by path, then merged as sequences are. */
#include "tree_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN 20
/* Lists up to this length are in the message as they are, whatever the callers
 * put before them. Of longer ones the end, with its counts, may be cut off: so
 * they are said first. */
#define WHOLE ((size_t)CAIRN_MESSAGE_BYTES / 2)

/* Differences ---------------------------------------------------------------
 */

bool cairn__diffs_any(const cairn__diffs_t *d) {
  return d->missing.n != 0 || d->unexpected.n != 0 || d->unfit.n != 0;
}

void cairn__diffs_add(cairn__diff_list_t *list, cairn__keypath_t path,
                      const char *fmt, ...) {
  char why[256];
  va_list ap;
  if (list->n++ >= SHOWN) return;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  cairn_buf_printf(&list->text, "%s%s%s", list->n > 1 ? ", " : "",
                   cairn__path_show(path).s, why);
}

static void put_list(const cairn__diff_list_t *list, const char *what,
                     cairn_buf_t *out) {
  if (list->n == 0) return;
  cairn_buf_printf(out, "%s%zu %s: ", out->n != 0 ? "; " : "", list->n, what);
  cairn_buf_put(out, list->text.p, list->text.n);
  if (list->n > SHOWN) cairn_buf_printf(out, ", and %zu more", list->n - SHOWN);
}

cairn_code_t cairn__diffs_fail(const cairn__diffs_t *d, cairn_error_t *err) {
  cairn_buf_t text = {0};
  char counts[100] = "";
  put_list(&d->missing, "in the target but not stored", &text);
  put_list(&d->unexpected, "stored but not in the target", &text);
  put_list(&d->unfit, "of another kind, shape or type", &text);
  if (text.n > WHOLE)
    snprintf(counts, sizeof counts,
             " (%zu not stored, %zu not in the target, %zu unlike)",
             d->missing.n, d->unexpected.n, d->unfit.n);
  cairn_fail(err, CAIRN_MISMATCH, "target and stored tree differ%s: %.*s",
             counts, (int)text.n, (const char *)text.p);
  cairn_buf_reset(&text);
  return CAIRN_MISMATCH;
}

void cairn__diffs_free(cairn__diffs_t *d) {
  cairn_buf_reset(&d->missing.text);
  cairn_buf_reset(&d->unexpected.text);
  cairn_buf_reset(&d->unfit.text);
  *d = (cairn__diffs_t){0};
}

/* Matching ------------------------------------------------------------------
 */

static cairn__keypath_t leaf_path(const void *arg, size_t i) {
  return cairn__leaf_path(cairn_tree_leaf(arg, i));
}

typedef struct join {
  const cairn_tree_t *target;
  const cairn__tree_meta_t *meta;
  const size_t *order; /* of the target's leaves */
  bool partial;
  cairn__match_t *out;
  size_t n;
  cairn__diffs_t *diffs;
} join_t;

/* An entry that says "skip" where there should be data has none to give. */
static void add_pair(join_t *j, const cairn_leaf_t *leaf,
                     const cairn__meta_entry_t *e) {
  bool fits = cairn__form_fits(e->form, leaf);
  bool has_data = e->form != CAIRN__FORM_OTHER &&
                  cairn__form_info(e->form)->skip == e->skip;
  if (fits && (has_data || leaf->kind == CAIRN_LEAF_PLACEHOLDER)) {
    j->out[j->n++] = (cairn__match_t){leaf, e};
    return;
  }
  cairn__diffs_add(&j->diffs->unfit, e->path, " (%s; stored: %.*s%s)",
                   cairn__kind_text(leaf->kind),
                   e->value_type.n < 40 ? (int)e->value_type.n : 40,
                   (const char *)e->value_type.p, fits ? " without data" : "");
}

static void join(join_t *j) {
  size_t a = 0, b = 0, na = cairn_tree_count(j->target), nb = j->meta->n;
  while (a < na || b < nb) {
    const cairn_leaf_t *leaf =
        a < na ? cairn_tree_leaf(j->target, j->order[a]) : NULL;
    const cairn__meta_entry_t *e =
        b < nb ? &j->meta->entries[j->meta->order[b]] : NULL;
    int c = leaf == NULL ? 1
            : e == NULL  ? -1
                         : cairn__keypath_cmp(cairn__leaf_path(leaf), e->path);
    if (c == 0) add_pair(j, leaf, e);
    if (c < 0)
      cairn__diffs_add(&j->diffs->missing, cairn__leaf_path(leaf), "%s", "");
    if (c > 0 && !j->partial)
      cairn__diffs_add(&j->diffs->unexpected, e->path, "%s", "");
    a += c <= 0;
    b += c >= 0;
  }
}

cairn_code_t cairn__tree_match(const cairn_tree_t *target,
                               const cairn__tree_meta_t *meta, bool partial,
                               cairn__match_t **out, size_t *n,
                               cairn__diffs_t *d, cairn_error_t *err) {
  size_t leaves = cairn_tree_count(target);
  size_t *order = cairn__keypath_sort(leaves, leaf_path, target);
  cairn__match_t *pairs = calloc(leaves + 1, sizeof *pairs);
  if (order == NULL || pairs == NULL) {
    free(order);
    free(pairs);
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  }
  join_t j = {.target = target,
              .meta = meta,
              .order = order,
              .partial = partial,
              .out = pairs,
              .diffs = d};
  join(&j);
  free(order);
  *out = pairs;
  *n = j.n;
  return CAIRN_OK;
}

/* Arrays --------------------------------------------------------------------
 */

typedef struct type_text {
  char s[100];
} type_text_t;

/* "float32[4, 8]", cut when there are many dimensions. */
static type_text_t show_type(cairn_dtype_t t, int rank, const int64_t *shape) {
  type_text_t out;
  int n = snprintf(out.s, sizeof out.s, "%s[", cairn_dtype_name(t));
  for (int i = 0; i < rank && n < (int)sizeof out.s; i++)
    n += snprintf(out.s + n, sizeof out.s - (size_t)n, "%s%" PRId64,
                  i != 0 ? ", " : "", shape[i]);
  if (n < (int)sizeof out.s) snprintf(out.s + n, sizeof out.s - (size_t)n, "]");
  return out;
}

void cairn__match_array(const cairn__match_t *m, const cairn_zarr_t *z,
                        cairn__diffs_t *d) {
  const cairn_leaf_t *leaf = m->leaf;
  bool scalar = leaf->kind == CAIRN_LEAF_SCALAR;
  int rank = scalar ? 0 : leaf->rank;
  size_t n = (size_t)rank * sizeof *leaf->shape;
  bool same_shape =
      cairn_zarr_rank(z) == rank &&
      (n == 0 || memcmp(cairn_zarr_shape(z), leaf->shape, n) == 0);
  if (same_shape && (scalar || cairn_zarr_dtype(z) == leaf->dtype)) return;
  cairn__diffs_add(
      &d->unfit, m->entry->path, " (%s; stored: %s)",
      show_type(leaf->dtype, rank, leaf->shape).s,
      show_type(cairn_zarr_dtype(z), cairn_zarr_rank(z), cairn_zarr_shape(z))
          .s);
}
