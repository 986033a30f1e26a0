/* Combining: the ranks' descriptions are walked side by side. Heads must be
 * equal byte for byte; boxes are collected with their owners. */
#include <stdlib.h>

#include "planner.h"
#include "tree_save.h"

typedef struct combine {
  cairn__desc_reader_t *in; /* one per rank */
  int n;
  cairn__desc_writer_t out;
  /* boxes of the leaf at hand */
  cairn_buf_t numbers; /* int64: origin, extent */
  cairn_buf_t owners;  /* int */
} combine_t;

/* Differences ---------------------------------------------------------------
 */

static void show_shape(const cairn__desc_t *d, cairn_buf_t *out) {
  cairn_buf_printf(out, "%s ", cairn__form_info(d->form)->value_type);
  if (!cairn__form_info(d->form)->stored) return;
  cairn_buf_printf(out, "%s", cairn_dtype_name(d->dtype));
  for (int i = 0; i < d->rank; i++)
    cairn_buf_printf(out, "%s%lld", i != 0 ? ", " : "[",
                     (long long)d->shape[i]);
  cairn_buf_put_str(out, d->rank != 0 ? "] " : " ");
}

/* Two heads that are not equal: another leaf, or the same one with something
 * else to it. */
static cairn_code_t heads_differ(combine_t *c, int rank, cairn_bytes_t other,
                                 cairn_error_t *err) {
  cairn__desc_t *a = &c->in[0].leaf, *b = &c->in[rank].leaf;
  if (cairn__desc_parse_head(&c->in[rank], other, err) != CAIRN_OK)
    return err->code;
  cairn__path_shown_t pa = cairn__path_show(cairn__desc_path(a));
  cairn__path_shown_t pb = cairn__path_show(cairn__desc_path(b));
  if (cairn__keypath_cmp(cairn__desc_path(a), cairn__desc_path(b)) != 0)
    return cairn_fail(err, CAIRN_MISMATCH,
                      "rank %d has leaf %s where rank 0 has %s", rank, pb.s,
                      pa.s);
  cairn_buf_t text = {0};
  show_shape(a, &text);
  cairn_buf_put_str(&text, "on rank 0, ");
  show_shape(b, &text);
  cairn_buf_printf(&text, "on rank %d", rank);
  cairn_fail(err, CAIRN_MISMATCH, "leaf %s is not the same on all ranks: %.*s",
             pa.s, (int)text.n, (const char *)text.p);
  cairn_buf_reset(&text);
  return CAIRN_MISMATCH;
}

static cairn_code_t same_heads(combine_t *c, cairn_bytes_t *head,
                               cairn_error_t *err) {
  if (cairn__desc_next(&c->in[0], err) != CAIRN_OK) return err->code;
  *head = c->in[0].leaf.head;
  for (int r = 1; r < c->n; r++) {
    cairn_bytes_t other;
    if (cairn__desc_next_head(&c->in[r], &other, err) != CAIRN_OK)
      return err->code;
    if (cairn__text_cmp(*head, other) != 0)
      return heads_differ(c, r, other, err);
  }
  return CAIRN_OK;
}

/* Which leaf a longer tree has more. */
static cairn_code_t same_counts(combine_t *c, cairn_error_t *err) {
  for (int r = 1; r < c->n; r++)
    if (c->in[r].leaves != c->in[0].leaves)
      return cairn_fail(err, CAIRN_MISMATCH,
                        "rank 0 has %zu leaves and rank %d has %zu",
                        c->in[0].leaves, r, c->in[r].leaves);
  return CAIRN_OK;
}

/* Boxes ---------------------------------------------------------------------
 */

static void add_box(combine_t *c, int owner, int rank, const int64_t *origin,
                    const int64_t *extent) {
  size_t n = (size_t)rank * sizeof *origin;
  cairn_buf_put(&c->owners, &owner, sizeof owner);
  cairn_buf_put(&c->numbers, origin, n);
  cairn_buf_put(&c->numbers, extent, n);
}

static cairn_code_t read_boxes(combine_t *c, int r, const cairn__desc_t *d,
                               size_t n, cairn_error_t *err) {
  int64_t origin[CAIRN_MAX_RANK], extent[CAIRN_MAX_RANK];
  for (size_t i = 0; i < n; i++) {
    if (cairn__desc_box(&c->in[r], d->rank, NULL, origin, extent, err) !=
        CAIRN_OK)
      return err->code;
    add_box(c, r, d->rank, origin, extent);
  }
  return CAIRN_OK;
}

static void write_boxes(combine_t *c, const cairn__desc_t *d) {
  size_t n = c->owners.n / sizeof(int);
  const int64_t *v = (const int64_t *)(const void *)c->numbers.p;
  const int *owner = (const int *)(const void *)c->owners.p;
  cairn__plan_num_boxes(&c->out, n);
  for (size_t i = 0; i < n; i++, v += 2 * d->rank)
    cairn__plan_box(&c->out, owner[i], d->rank, v, v + d->rank);
}

static cairn_code_t merge_boxes(combine_t *c, cairn_error_t *err) {
  static const int64_t zeros[CAIRN_MAX_RANK];
  const cairn__desc_t *d = &c->in[0].leaf;
  int whole_on = 0;
  c->numbers.n = c->owners.n = 0;
  for (int r = 0; r < c->n; r++) {
    bool whole;
    size_t n;
    if (cairn__desc_num_boxes(&c->in[r], &whole, &n, err) != CAIRN_OK)
      return err->code;
    if (whole) {
      whole_on++;
      add_box(c, r, d->rank, zeros, d->shape);
    } else if (read_boxes(c, r, d, n, err) != CAIRN_OK) {
      return err->code;
    }
  }
  if (c->numbers.failed || c->owners.failed) c->out.out->failed = true;
  if (c->out.out->failed) return CAIRN_OK; /* said once, at the end */
  if (whole_on == c->n)
    cairn__plan_all_hold(&c->out);
  else
    write_boxes(c, d);
  return CAIRN_OK;
}

/* The walk ------------------------------------------------------------------
 */

static cairn_code_t open_all(combine_t *c, const cairn_bytes_t *in,
                             cairn_error_t *err) {
  for (int r = 0; r < c->n; r++)
    if (cairn__desc_open(&c->in[r], in[r], false, err) != CAIRN_OK)
      return cairn_within(err, "rank %d", r);
  return CAIRN_OK;
}

/* A difference of the leaves both have is more use than one of their number. */
static cairn_code_t walk(combine_t *c, cairn_error_t *err) {
  size_t n = c->in[0].leaves;
  for (int r = 1; r < c->n; r++)
    if (c->in[r].leaves < n) n = c->in[r].leaves;
  cairn__plan_begin(&c->out, c->n, c->in[0].leaves);
  for (size_t i = 0; i < n; i++) {
    cairn_bytes_t head;
    if (same_heads(c, &head, err) != CAIRN_OK) return err->code;
    cairn__plan_head(&c->out, head);
    if (cairn__form_info(c->in[0].leaf.form)->stored &&
        merge_boxes(c, err) != CAIRN_OK)
      return err->code;
  }
  return same_counts(c, err);
}

cairn_code_t cairn__tree_try_plan(cairn_bytes_t plan,
                                  const cairn_item_ctx_t *ctx,
                                  cairn_error_t *err) {
  cairn__planner_t p;
  bool more = true;
  cairn_code_t rc = cairn__planner_open(&p, ctx, plan, err);
  while (rc == CAIRN_OK && more) rc = cairn__planner_next(&p, &more, err);
  cairn__planner_close(&p);
  return rc;
}

static cairn_code_t combine(combine_t *c, const cairn_bytes_t *in,
                            const cairn_item_ctx_t *ctx, cairn_error_t *err) {
  size_t start = c->out.out->n;
  if (c->in == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  if (open_all(c, in, err) != CAIRN_OK || walk(c, err) != CAIRN_OK)
    return err->code;
  if (c->out.out->failed)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for the plan");
  return cairn__tree_try_plan(
      cairn_bytes(c->out.out->p + start, c->out.out->n - start), ctx, err);
}

cairn_code_t cairn__tree_combine(const cairn_bytes_t *descriptions, int n,
                                 const cairn_item_ctx_t *ctx, cairn_buf_t *out,
                                 cairn_error_t *err) {
  cairn_error_t local = {0};
  combine_t c = {.n = n, .out = {.out = out}};
  c.in = calloc((size_t)n, sizeof *c.in);
  cairn_code_t rc = combine(&c, descriptions, ctx, &local);
  for (int r = 0; c.in != NULL && r < n; r++) cairn__desc_close(&c.in[r]);
  free(c.in);
  cairn_buf_reset(&c.numbers);
  cairn_buf_reset(&c.owners);
  return rc == CAIRN_OK ? CAIRN_OK : cairn_error_copy(err, &local);
}
