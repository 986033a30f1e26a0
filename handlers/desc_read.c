/* Descriptions out of bytes. They come from other ranks of this build, so what
 * is wrong with them is a defect of ours; it is still an error, not a crash. */
#include <stdlib.h>

#include "desc.h"

cairn_code_t cairn__desc_bad(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_INTERNAL,
                    "the description of a tree is cut or malformed");
}

bool cairn__desc_int(cairn_cur_t *c, int64_t *out) {
  uint64_t v;
  if (!cairn_cur_varint64(c, &v) || v > INT64_MAX) return false;
  *out = (int64_t)v;
  return true;
}

bool cairn__desc_signed(cairn_cur_t *c, int64_t *out) {
  uint64_t v;
  if (!cairn_cur_varint64(c, &v)) return false;
  *out = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
  return true;
}

bool cairn__desc_text(cairn_cur_t *c, cairn_bytes_t *out) {
  uint64_t n;
  return cairn_cur_varint64(c, &n) && n <= cairn_cur_left(c) &&
         cairn_cur_take(c, (size_t)n, out);
}

static bool get_part(cairn_cur_t *c, cairn_bytes_t *out) {
  uint32_t n;
  return cairn_cur_u32le(c, &n) && cairn_cur_take(c, n, out);
}

static bool get_numbers(cairn_cur_t *c, int n, int64_t *out) {
  for (int i = 0; i < n; i++)
    if (!cairn__desc_int(c, &out[i])) return false;
  return true;
}

cairn_code_t cairn__desc_open(cairn__desc_reader_t *r, cairn_bytes_t in,
                              bool plan, cairn_error_t *err) {
  uint8_t version;
  int64_t ranks = 0, leaves;
  *r = (cairn__desc_reader_t){.cur = cairn_cur(in)};
  if (!cairn_cur_u8(&r->cur, &version) || version != CAIRN__DESC_VERSION ||
      (plan && (!cairn__desc_int(&r->cur, &ranks) || ranks > INT32_MAX)) ||
      !cairn__desc_int(&r->cur, &leaves) ||
      (uint64_t)leaves > cairn_cur_left(&r->cur))
    return cairn__desc_bad(err);
  r->ranks = (int)ranks;
  r->leaves = (size_t)leaves;
  return CAIRN_OK;
}

cairn_code_t cairn__desc_next_head(cairn__desc_reader_t *r, cairn_bytes_t *head,
                                   cairn_error_t *err) {
  if (r->next >= r->leaves || !get_part(&r->cur, head))
    return cairn__desc_bad(err);
  r->next++;
  return CAIRN_OK;
}

static cairn_code_t room_for_keys(cairn__desc_t *d, uint64_t n,
                                  const cairn_cur_t *c, cairn_error_t *err) {
  if (n > cairn_cur_left(c)) return cairn__desc_bad(err);
  if (n <= d->cap_keys) return CAIRN_OK;
  cairn_key_t *keys = realloc(d->keys, (size_t)n * sizeof *keys);
  if (keys == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  d->keys = keys;
  d->cap_keys = (size_t)n;
  return CAIRN_OK;
}

static bool get_key(cairn_cur_t *c, cairn_key_t *k) {
  uint8_t type;
  *k = (cairn_key_t){0};
  if (!cairn_cur_u8(c, &type) || type > CAIRN_KEY_ATTR) return false;
  k->type = (cairn_key_type_t)type;
  return type == CAIRN_KEY_SEQ || type == CAIRN_KEY_INT
             ? cairn__desc_signed(c, &k->index)
             : cairn__desc_text(c, &k->name);
}

static cairn_code_t get_keys(cairn_cur_t *c, cairn__desc_t *d,
                             cairn_error_t *err) {
  uint64_t n;
  if (!cairn_cur_varint64(c, &n)) return cairn__desc_bad(err);
  if (room_for_keys(d, n, c, err) != CAIRN_OK) return err->code;
  d->num_keys = (size_t)n;
  for (size_t i = 0; i < d->num_keys; i++)
    if (!get_key(c, &d->keys[i])) return cairn__desc_bad(err);
  return CAIRN_OK;
}

static bool get_type(cairn_cur_t *c, cairn__desc_t *d) {
  uint8_t dtype;
  int64_t rank;
  if (!cairn_cur_u8(c, &dtype) || dtype == 0 || dtype >= CAIRN_DTYPE_COUNT ||
      !cairn__desc_int(c, &rank) || rank > CAIRN_MAX_RANK)
    return false;
  d->dtype = (cairn_dtype_t)dtype;
  d->rank = (int)rank;
  return get_numbers(c, d->rank, d->shape);
}

/* The first sharding of a tree brings its mesh. */
static bool get_sharding(cairn_cur_t *c, cairn__desc_t *d) {
  uint8_t fresh;
  if (!cairn_cur_u8(c, &fresh) || (fresh == 0 && d->mesh.p == NULL))
    return false;
  d->new_mesh = fresh != 0;
  return (fresh == 0 || get_part(c, &d->mesh)) && get_part(c, &d->spec);
}

cairn_code_t cairn__desc_parse_head(cairn__desc_reader_t *r, cairn_bytes_t head,
                                    cairn_error_t *err) {
  cairn_cur_t c = cairn_cur(head);
  cairn__desc_t *d = &r->leaf;
  uint8_t form;
  d->head = head;
  d->dtype = CAIRN_DTYPE_NONE;
  d->rank = 0;
  if (get_keys(&c, d, err) != CAIRN_OK) return err->code;
  if (!cairn_cur_u8(&c, &form) || form >= CAIRN__FORM_COUNT)
    return cairn__desc_bad(err);
  d->form = (cairn__form_t)form;
  if (cairn__form_info(d->form)->stored && !get_type(&c, d))
    return cairn__desc_bad(err);
  if (d->form == CAIRN__FORM_JAX && !get_sharding(&c, d))
    return cairn__desc_bad(err);
  return cairn_cur_left(&c) == 0 ? CAIRN_OK : cairn__desc_bad(err);
}

cairn_code_t cairn__desc_next(cairn__desc_reader_t *r, cairn_error_t *err) {
  cairn_bytes_t head;
  if (cairn__desc_next_head(r, &head, err) != CAIRN_OK) return err->code;
  return cairn__desc_parse_head(r, head, err);
}

cairn_code_t cairn__desc_num_boxes(cairn__desc_reader_t *r, bool *whole,
                                   size_t *n, cairn_error_t *err) {
  uint64_t v;
  if (!cairn_cur_varint64(&r->cur, &v)) return cairn__desc_bad(err);
  *whole = v == (r->ranks != 0 ? 0 : 1);
  *n = v != 0 ? (size_t)(v - 1) : 0;
  if (!*whole && v > cairn_cur_left(&r->cur) + 1) return cairn__desc_bad(err);
  return CAIRN_OK;
}

cairn_code_t cairn__desc_box(cairn__desc_reader_t *r, int rank, int *owner,
                             int64_t *origin, int64_t *extent,
                             cairn_error_t *err) {
  int64_t who = 0;
  if (r->ranks != 0 &&
      (!cairn__desc_int(&r->cur, &who) || who >= r->ranks || owner == NULL))
    return cairn__desc_bad(err);
  if (owner != NULL) *owner = (int)who;
  if (!get_numbers(&r->cur, rank, origin) ||
      !get_numbers(&r->cur, rank, extent))
    return cairn__desc_bad(err);
  return CAIRN_OK;
}

void cairn__desc_close(cairn__desc_reader_t *r) {
  free(r->leaf.keys);
  *r = (cairn__desc_reader_t){0};
}
