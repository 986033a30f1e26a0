/* Fields and columns of encoded objects; see wire.h. */
#include "ocdbt/wire.h"

#include <inttypes.h>
#include <stdio.h>

cairn_code_t cairn__wire_open(cairn__wire_t *w, cairn_bytes_t in,
                              uint32_t magic, const char *object,
                              cairn_bytes_t transitive, cairn_error_t *err) {
  cairn_bytes_t body = {0};
  *w = (cairn__wire_t){.object = object, .transitive = transitive, .err = err};
  w->strings = CAIRN__OCDBT_MAX_BODY;
  cairn_code_t rc = cairn__frame_open(in, magic, CAIRN__OCDBT_MAX_BODY,
                                      &w->plain, &body, err);
  if (rc != CAIRN_OK) {
    cairn_buf_reset(&w->plain);
    cairn_within(err, "%s", object);
    return rc;
  }
  w->cur = cairn_cur(body);
  return CAIRN_OK;
}

cairn_code_t cairn__wire_end(cairn__wire_t *w) {
  size_t left = cairn_cur_left(&w->cur);
  if (left == 0) return CAIRN_OK;
  return cairn__wire_corrupt(w, "body", "trailing data, %zu bytes", left);
}

cairn_code_t cairn__wire_close(cairn__wire_t *w, cairn_code_t rc, void **mem) {
  cairn_buf_reset(&w->plain);
  if (rc == CAIRN_OK)
    *mem = w->arena.head;
  else
    cairn__arena_free(w->arena.head);
  return rc;
}

cairn_code_t cairn__wire_corrupt(cairn__wire_t *w, const char *field,
                                 const char *fmt, ...) {
  char text[160];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  return cairn_fail(w->err, CAIRN_CORRUPT, "%s: %s at %zu: %s", w->object,
                    field, cairn_cur_pos(&w->cur), text);
}

static cairn_code_t end_of_data(cairn__wire_t *w, const char *field) {
  return cairn__wire_corrupt(w, field, "end of data");
}

void *cairn__wire_alloc(cairn__wire_t *w, size_t count, size_t size) {
  size_t n;
  void *p = NULL;
  if (!__builtin_mul_overflow(count, size, &n))
    p = cairn__arena_alloc(&w->arena, n, 16);
  if (p == NULL)
    cairn_fail(w->err, CAIRN_NO_MEMORY, "%s: %zu records", w->object, count);
  else
    memset(p, 0, n);
  return p;
}

cairn_code_t cairn__wire_string(cairn__wire_t *w, const char *field, size_t n,
                                uint8_t **out) {
  if (n > w->strings)
    return cairn__wire_corrupt(w, field, "unfolds to above %zu bytes",
                               CAIRN__OCDBT_MAX_BODY);
  w->strings -= n;
  *out = cairn__arena_alloc(&w->arena, n, 1);
  if (*out != NULL) return CAIRN_OK;
  return cairn_fail(w->err, CAIRN_NO_MEMORY, "%s: %s", w->object, field);
}

cairn_code_t cairn__wire_u8(cairn__wire_t *w, const char *field, uint8_t *out) {
  return cairn_cur_u8(&w->cur, out) ? CAIRN_OK : end_of_data(w, field);
}

cairn_code_t cairn__wire_u32le(cairn__wire_t *w, const char *field,
                               uint32_t *out) {
  return cairn_cur_u32le(&w->cur, out) ? CAIRN_OK : end_of_data(w, field);
}

cairn_code_t cairn__wire_u64le(cairn__wire_t *w, const char *field,
                               uint64_t *out) {
  return cairn_cur_u64le(&w->cur, out) ? CAIRN_OK : end_of_data(w, field);
}

cairn_code_t cairn__wire_take(cairn__wire_t *w, const char *field, size_t n,
                              cairn_bytes_t *out) {
  return cairn_cur_take(&w->cur, n, out) ? CAIRN_OK : end_of_data(w, field);
}

/* A varint that could not be read either goes on past the end, or has too many
 * bytes or too large a last one. */
static cairn_code_t bad_varint(cairn__wire_t *w, const char *field,
                               size_t longest) {
  size_t left = cairn_cur_left(&w->cur), i = 0;
  while (i < left && i < longest && w->cur.p[i] >= 0x80) i++;
  if (i == left && i < longest) return end_of_data(w, field);
  return cairn__wire_corrupt(w, field, "varint is too long or too large");
}

cairn_code_t cairn__wire_varint32(cairn__wire_t *w, const char *field,
                                  uint32_t *out) {
  return cairn_cur_varint32(&w->cur, out) ? CAIRN_OK : bad_varint(w, field, 5);
}

cairn_code_t cairn__wire_varint64(cairn__wire_t *w, const char *field,
                                  uint64_t *out) {
  return cairn_cur_varint64(&w->cur, out) ? CAIRN_OK : bad_varint(w, field, 10);
}

cairn_code_t cairn__wire_varint16(cairn__wire_t *w, const char *field,
                                  uint16_t *out) {
  uint32_t v = 0;
  cairn_code_t rc = cairn__wire_varint32(w, field, &v);
  if (rc != CAIRN_OK) return rc;
  if (v > UINT16_MAX)
    return cairn__wire_corrupt(w, field, "varint16 is %" PRIu32, v);
  *out = (uint16_t)v;
  return CAIRN_OK;
}

cairn_code_t cairn__wire_count(cairn__wire_t *w, const char *field,
                               uint64_t *out) {
  cairn_code_t rc = cairn__wire_varint64(w, field, out);
  if (rc == CAIRN_OK && *out > cairn_cur_left(&w->cur))
    rc = cairn__wire_corrupt(w, field, "end of data before %" PRIu64 " records",
                             *out);
  return rc;
}

cairn_code_t cairn__wire_column16(cairn__wire_t *w, const char *field,
                                  uint16_t *first, size_t stride, size_t n) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < n && rc == CAIRN_OK; i++)
    rc = cairn__wire_varint16(w, field, cairn__at(first, stride, i));
  return rc;
}

cairn_code_t cairn__wire_column64(cairn__wire_t *w, const char *field,
                                  uint64_t *first, size_t stride, size_t n) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < n && rc == CAIRN_OK; i++)
    rc = cairn__wire_varint64(w, field, cairn__at(first, stride, i));
  return rc;
}

cairn_code_t cairn__wire_times(cairn__wire_t *w, uint64_t *first, size_t stride,
                               size_t n) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < n && rc == CAIRN_OK; i++)
    rc = cairn__wire_u64le(w, "commit_time", cairn__at(first, stride, i));
  return rc;
}

bool cairn__ocdbt_loc_missing(const cairn__ocdbt_loc_t *loc) {
  return loc->offset == UINT64_MAX && loc->length == UINT64_MAX;
}

/* Missing first: offset + length of a missing location wraps. */
cairn_code_t cairn__wire_loc_check(cairn__wire_t *w,
                                   const cairn__ocdbt_loc_t *l,
                                   bool missing_ok) {
  uint64_t end;
  if (cairn__ocdbt_loc_missing(l) && missing_ok) return CAIRN_OK;
  if (__builtin_add_overflow(l->offset, l->length, &end) || end > INT64_MAX)
    return cairn__wire_corrupt(
        w, "location", "offset %" PRIu64 ", length %" PRIu64 " is no location",
        l->offset, l->length);
  return CAIRN_OK;
}

cairn_code_t cairn__wire_locs(cairn__wire_t *w, cairn__ocdbt_loc_t *first,
                              size_t stride, size_t n, bool missing_ok) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < n && rc == CAIRN_OK; i++) {
    cairn__ocdbt_loc_t *l = cairn__at(first, stride, i);
    rc = cairn__wire_file_id(w, &l->file);
  }
  if (rc == CAIRN_OK)
    rc = cairn__wire_column64(w, "offset", &first->offset, stride, n);
  if (rc == CAIRN_OK)
    rc = cairn__wire_column64(w, "length", &first->length, stride, n);
  for (size_t i = 0; i < n && rc == CAIRN_OK; i++)
    rc = cairn__wire_loc_check(w, cairn__at(first, stride, i), missing_ok);
  return rc;
}

cairn_code_t cairn__wire_stats(cairn__wire_t *w, cairn__ocdbt_stats_t *first,
                               size_t stride, size_t n) {
  cairn_code_t rc =
      cairn__wire_column64(w, "num_keys", &first->num_keys, stride, n);
  if (rc == CAIRN_OK)
    rc = cairn__wire_column64(w, "num_tree_bytes", &first->num_tree_bytes,
                              stride, n);
  if (rc == CAIRN_OK)
    rc = cairn__wire_column64(w, "num_indirect_value_bytes",
                              &first->num_indirect_value_bytes, stride, n);
  return rc;
}

static uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t c;
  return __builtin_add_overflow(a, b, &c) ? UINT64_MAX : c;
}

void cairn__stats_add(cairn__ocdbt_stats_t *to, const cairn__ocdbt_stats_t *s) {
  to->num_keys = sum(to->num_keys, s->num_keys);
  to->num_tree_bytes = sum(to->num_tree_bytes, s->num_tree_bytes);
  to->num_indirect_value_bytes =
      sum(to->num_indirect_value_bytes, s->num_indirect_value_bytes);
}

cairn__ocdbt_stats_t cairn__node_stats(uint8_t height,
                                       const cairn__ocdbt_entry_t *e, size_t n,
                                       uint64_t length) {
  cairn__ocdbt_stats_t s = {.num_tree_bytes = length};
  for (size_t i = 0; i < n; i++) {
    cairn__ocdbt_stats_t leaf = {.num_keys = 1};
    if (!e[i].is_inline) leaf.num_indirect_value_bytes = e[i].loc.length;
    cairn__stats_add(&s, height == 0 ? &leaf : &e[i].stats);
  }
  return s;
}

void cairn__put_column64(cairn_buf_t *b, const uint64_t *first, size_t stride,
                         size_t n) {
  for (size_t i = 0; i < n; i++)
    cairn_buf_put_varint(b, *(uint64_t *)cairn__at(first, stride, i));
}

void cairn__put_times(cairn_buf_t *b, const uint64_t *first, size_t stride,
                      size_t n) {
  for (size_t i = 0; i < n; i++)
    cairn_buf_put_u64le(b, *(uint64_t *)cairn__at(first, stride, i));
}

void cairn__put_locs(cairn_buf_t *b, cairn__file_table_t *t,
                     const cairn__ocdbt_loc_t *first, size_t stride, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const cairn__ocdbt_loc_t *l = cairn__at(first, stride, i);
    cairn_buf_put_varint(b, cairn__file_table_id(t, &l->file));
  }
  cairn__put_column64(b, &first->offset, stride, n);
  cairn__put_column64(b, &first->length, stride, n);
}

void cairn__put_stats(cairn_buf_t *b, const cairn__ocdbt_stats_t *first,
                      size_t stride, size_t n) {
  cairn__put_column64(b, &first->num_keys, stride, n);
  cairn__put_column64(b, &first->num_tree_bytes, stride, n);
  cairn__put_column64(b, &first->num_indirect_value_bytes, stride, n);
}
