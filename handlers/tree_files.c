/* The primary's files beside the arrays: _METADATA, _sharding, _strings.json,
 * from the plan. On a CPU thread. */
#include "tree_meta.h"
#include "tree_save.h"
#include "zarr_cache.h"

typedef struct files {
  cairn__tree_save_t *s;
  cairn__desc_reader_t in;
  cairn__meta_writer_t meta;
  cairn__sides_t sides;
  size_t next_shape;
} files_t;

/* Boxes are of no interest here, and are skipped. */
static cairn_code_t skip_boxes(cairn__desc_reader_t *in, cairn_error_t *err) {
  int64_t origin[CAIRN_MAX_RANK], extent[CAIRN_MAX_RANK];
  bool whole;
  size_t n;
  int owner;
  if (cairn__desc_num_boxes(in, &whole, &n, err) != CAIRN_OK) return err->code;
  while (n-- > 0)
    if (cairn__desc_box(in, in->leaf.rank, &owner, origin, extent, err) !=
        CAIRN_OK)
      return err->code;
  return CAIRN_OK;
}

static cairn_code_t put_leaf(files_t *f, cairn_error_t *err) {
  const cairn__desc_t *d = &f->in.leaf;
  const cairn__leaf_ops_t *ops = cairn__leaf_ops(d->form);
  const int64_t *shape = NULL;
  if (d->form == CAIRN__FORM_JAX) {
    if (f->next_shape >= f->s->num_shapes) return cairn__desc_bad(err);
    shape = f->s->write_shapes[f->next_shape++];
  }
  cairn__meta_put(&f->meta, cairn__desc_path(d), d->form, shape, d->rank);
  if (ops->side != NULL && ops->side(d, &f->sides, err) != CAIRN_OK)
    return err->code;
  return cairn__form_info(d->form)->stored ? skip_boxes(&f->in, err) : CAIRN_OK;
}

/* No members because memory was out is not no members. */
static void emit_if_any(cairn__members_t *m, cairn_buf_t *out) {
  if (m->n != 0 || m->failed) cairn__members_emit(m, out);
}

static cairn_code_t walk(files_t *f, cairn_error_t *err) {
  cairn__tree_save_t *s = f->s;
  while (f->in.next < f->in.leaves)
    if (cairn__desc_next(&f->in, err) != CAIRN_OK ||
        put_leaf(f, err) != CAIRN_OK)
      return err->code;
  cairn__meta_end(&f->meta, cairn__profile_zarr(s->ctx->profile) == 3);
  emit_if_any(&f->sides.sharding, &s->sharding);
  emit_if_any(&f->sides.strings, &s->strings);
  if (s->metadata.failed || s->sharding.failed || s->strings.failed)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for _METADATA");
  return CAIRN_OK;
}

cairn_code_t cairn__tree_describe_files(cairn__tree_save_t *s,
                                        cairn_error_t *err) {
  files_t f = {.s = s};
  f.sides.texts = cairn_cur(cairn_buf_bytes(&s->texts));
  cairn__meta_begin(&f.meta, &s->metadata);
  cairn_code_t rc = cairn__desc_open(&f.in, s->ctx->combined, true, err);
  if (rc == CAIRN_OK) rc = walk(&f, err);
  cairn__desc_close(&f.in);
  cairn_buf_reset(&f.meta.repr);
  cairn__members_free(&f.sides.sharding);
  cairn__members_free(&f.sides.strings);
  cairn__sharding_text_free(&f.sides.mesh);
  cairn_buf_reset(&f.sides.name);
  cairn_buf_reset(&f.sides.key);
  return rc;
}
