/* Any bytes as `_METADATA`, and what follows a NUL as `_strings.json`: no
 * crash; and what is read comes out of the emitter as something that reads the
 * same. */
#include <stdlib.h>

#include "../../handlers/tree_stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok) {
  if (!ok) abort();
}

/* As the primary sends it to all ranks (tree_stored.h). */
static cairn_buf_t packed(cairn_bytes_t meta, cairn_bytes_t strings) {
  cairn_buf_t b = {0};
  cairn_buf_put_u8(&b, 1);
  cairn_buf_put_u8(&b, 1);
  cairn_buf_put_u8(&b, strings.p != NULL);
  cairn_buf_put_varint(&b, meta.n);
  cairn_buf_put(&b, meta.p, meta.n);
  cairn_buf_put_varint(&b, strings.n);
  cairn_buf_put(&b, strings.p, strings.n);
  require(!b.failed);
  return b;
}

static void check_order(const cairn__tree_meta_t *m) {
  for (size_t i = 0; i + 1 < m->n; i++) {
    cairn__keypath_t a = m->entries[m->order[i]].path;
    cairn__keypath_t b = m->entries[m->order[i + 1]].path;
    require(cairn__keypath_cmp(a, b) < 0);
    require(!cairn__keypath_starts(b, a));
  }
}

static void check_strings(cairn__tree_stored_t *s) {
  for (size_t i = 0; i < s->meta.n; i++) {
    cairn_bytes_t text;
    cairn_error_t err = {0};
    if (cairn__stored_string(s, s->meta.entries[i].name, &text, &err) !=
        CAIRN_OK)
      require(err.code == CAIRN_CORRUPT && err.message[0] != 0);
  }
}

/* Forms that we do not know cannot be written. */
static cairn_buf_t emitted(const cairn__tree_meta_t *m) {
  cairn_buf_t out = {0};
  cairn__meta_writer_t w;
  cairn__meta_begin(&w, &out);
  for (size_t i = 0; i < m->n; i++) {
    cairn__form_t form = m->entries[i].form;
    if (form == CAIRN__FORM_OTHER) form = CAIRN__FORM_NONE;
    cairn__meta_put(&w, m->entries[i].path, form, NULL, 0);
  }
  cairn__meta_end(&w, m->use_zarr3);
  require(!out.failed);
  return out;
}

/* A sequence's place 0 beside a dict's key "0" have one tree key, so only the
 * last would come back. (A tree to be saved has no such pair.) */
static bool has_twins(const cairn__tree_meta_t *m) {
  for (size_t i = 0; i < m->n; i++)
    for (size_t j = 0; j < i; j++)
      if (cairn__text_cmp(m->entries[i].name, m->entries[j].name) == 0)
        return true;
  return false;
}

static void check_same_back(const cairn__tree_meta_t *m) {
  cairn_buf_t text = emitted(m);
  cairn__tree_meta_t back;
  require(cairn__tree_meta_parse(cairn_buf_bytes(&text), &back, NULL) ==
          CAIRN_OK);
  require(back.n == m->n && back.use_zarr3 == m->use_zarr3);
  for (size_t i = 0; i < m->n; i++)
    require(cairn__keypath_cmp(back.entries[i].path, m->entries[i].path) == 0);
  cairn__tree_meta_free(&back);
  cairn_buf_reset(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *nul = size != 0 ? memchr(data, 0, size) : NULL;
  size_t n = nul != NULL ? (size_t)(nul - data) : size;
  cairn_bytes_t strings =
      nul != NULL ? cairn_bytes(nul + 1, size - n - 1) : cairn_bytes(NULL, 0);
  cairn_buf_t in = packed(cairn_bytes(data, n), strings);
  cairn__tree_stored_t s;
  cairn_error_t err = {0};
  if (cairn__tree_unpack(cairn_buf_bytes(&in), &s, &err) == CAIRN_OK) {
    check_order(&s.meta);
    check_strings(&s);
    if (!has_twins(&s.meta)) check_same_back(&s.meta);
    cairn__tree_stored_free(&s);
  } else {
    require((err.code == CAIRN_CORRUPT || err.code == CAIRN_UNSUPPORTED) &&
            err.message[0] != 0);
  }
  cairn_buf_reset(&in);
  return 0;
}
