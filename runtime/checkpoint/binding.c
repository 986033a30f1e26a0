/* cairn.json: which files make this step, how long each is, and the sum of
 * each. Its last member is the CRC-32C of all text before that member. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "cairn/json.h"
#include "checkpoint/side_files.h"

#define VERSION 1
#define SEAL_FORMAT ",\"crc32c\":\"%08" PRIx32 "\"}"
#define SEAL_BYTES 21

static const char *const profile_names[] = {"cairn", "orbax", "orbax_v1"};

static bool grow(void **array, size_t *cap, size_t n, size_t item) {
  if (n < *cap) return true;
  size_t more = *cap == 0 ? 16 : *cap * 2;
  void *p = realloc(*array, more * item);
  if (p == NULL) return false;
  *array = p;
  *cap = more;
  return true;
}

bool cairn__binding_add_file(cairn__binding_t *b, const char *dir,
                             cairn_bytes_t name, uint64_t length,
                             uint64_t sum) {
  if (!grow((void **)&b->files, &b->cap_files, b->num_files, sizeof(*b->files)))
    return false;
  char *full = cairn__printf("%s%s%.*s", dir, dir[0] != 0 ? "/" : "",
                             (int)name.n, (const char *)name.p);
  if (full == NULL) return false;
  b->files[b->num_files++] =
      (cairn__bound_file_t){.name = full, .length = length, .sum = sum};
  return true;
}

bool cairn__binding_add_item(cairn__binding_t *b, const char *name,
                             const char *type) {
  if (!grow((void **)&b->items, &b->cap_items, b->num_items, sizeof(*b->items)))
    return false;
  cairn__bound_item_t item = {cairn__bytes_dup(cairn_bytes_str(name)),
                              cairn__bytes_dup(cairn_bytes_str(type))};
  if (item.name == NULL || item.type == NULL) {
    free(item.name);
    free(item.type);
    return false;
  }
  b->items[b->num_items++] = item;
  return true;
}

void cairn__binding_free(cairn__binding_t *b) {
  for (size_t i = 0; i < b->num_files; i++) free(b->files[i].name);
  for (size_t i = 0; i < b->num_items; i++) {
    free(b->items[i].name);
    free(b->items[i].type);
  }
  free(b->files);
  free(b->items);
  *b = (cairn__binding_t){0};
}

/* --- writing --- */

static int by_name(const void *a, const void *b) {
  const cairn__bound_file_t *x = a, *y = b;
  return strcmp(x->name, y->name);
}

static void put_str(cairn_buf_t *out, const char *s) {
  cairn_json_emit_str(cairn_bytes_str(s), CAIRN_JSON_COMPACT, out);
}

static void put_item(const cairn__bound_item_t *item, cairn_buf_t *out) {
  put_str(out, item->name);
  cairn_buf_put_str(out, ":{\"handler\":");
  put_str(out, item->type);
  cairn_buf_put_str(out, "}");
}

static void put_file(const cairn__bound_file_t *f, cairn_buf_t *out) {
  put_str(out, f->name);
  cairn_buf_printf(out, ":{\"bytes\":%" PRIu64 ",\"xxh3\":\"%016" PRIx64 "\"}",
                   f->length, f->sum);
}

void cairn__binding_emit(cairn__binding_t *b, cairn_buf_t *out) {
  size_t start = out->n;
  if (b->num_files > 1)
    qsort(b->files, b->num_files, sizeof(*b->files), by_name);
  cairn_buf_printf(out,
                   "{\"cairn\":%d,\"version\":\"%d.%d.%d\",\"step\":%" PRId64
                   ",\"save_id\":\"%s\",\"ranks\":%d,\"profile\":\"%s\","
                   "\"items\":{",
                   VERSION, CAIRN_VERSION_MAJOR, CAIRN_VERSION_MINOR,
                   CAIRN_VERSION_PATCH, b->step, b->save_id, b->ranks,
                   profile_names[b->profile]);
  for (size_t i = 0; i < b->num_items; i++) {
    if (i > 0) cairn_buf_put_str(out, ",");
    put_item(&b->items[i], out);
  }
  cairn_buf_put_str(out, "},\"files\":{");
  for (size_t i = 0; i < b->num_files; i++) {
    if (i > 0) cairn_buf_put_str(out, ",");
    put_file(&b->files[i], out);
  }
  cairn_buf_put_str(out, "}");
  if (out->failed) return;
  cairn_buf_printf(out, SEAL_FORMAT,
                   cairn__crc32c(0, out->p + start, out->n - start));
}

/* --- reading --- */

static cairn_code_t bad(cairn_error_t *err, const char *member) {
  return cairn_fail(err, CAIRN_CORRUPT, "%s: absent or malformed", member);
}

static bool hex64(const cairn_json_t *v, uint64_t *out) {
  return v != NULL && v->kind == CAIRN_JSON_STRING &&
         cairn__unhex64(v->str, out);
}

/* Compared as text, so that a flipped bit that only changes a digit's case
 * shows. */
static cairn_code_t check_seal(cairn_bytes_t text, cairn_error_t *err) {
  char want[SEAL_BYTES + 1];
  if (text.n < SEAL_BYTES) return bad(err, "crc32c");
  size_t n = text.n - SEAL_BYTES;
  snprintf(want, sizeof(want), SEAL_FORMAT, cairn__crc32c(0, text.p, n));
  if (memcmp(text.p + n, want, SEAL_BYTES) != 0)
    return cairn_fail(err, CAIRN_CORRUPT, "crc32c: checksum of the file");
  return CAIRN_OK;
}

static cairn_code_t read_files(const cairn_json_t *v, cairn__binding_t *out,
                               cairn_error_t *err) {
  if (v == NULL || v->kind != CAIRN_JSON_OBJECT) return bad(err, "files");
  for (const cairn_json_t *f = v->child; f != NULL; f = f->next) {
    int64_t length;
    uint64_t sum;
    if (!cairn_json_int(cairn_json_get(f, "bytes"), &length) || length < 0 ||
        !hex64(cairn_json_get(f, "xxh3"), &sum) ||
        memchr(f->key.p, 0, f->key.n) != NULL)
      return bad(err, "files");
    if (!cairn__binding_add_file(out, "", f->key, (uint64_t)length, sum))
      return cairn_fail(err, CAIRN_NO_MEMORY, "files");
  }
  return CAIRN_OK;
}

static cairn_code_t read_items(const cairn_json_t *v, cairn__binding_t *out,
                               cairn_error_t *err) {
  if (v == NULL || v->kind != CAIRN_JSON_OBJECT) return bad(err, "items");
  for (const cairn_json_t *i = v->child; i != NULL; i = i->next) {
    const cairn_json_t *type = cairn_json_get(i, "handler");
    if (type == NULL || type->kind != CAIRN_JSON_STRING)
      return bad(err, "items");
    char *name = cairn__bytes_dup(i->key), *t = cairn__bytes_dup(type->str);
    bool ok =
        name != NULL && t != NULL && cairn__binding_add_item(out, name, t);
    free(name);
    free(t);
    if (!ok) return cairn_fail(err, CAIRN_NO_MEMORY, "items");
  }
  return CAIRN_OK;
}

static cairn_code_t read_head(const cairn_json_t *doc, cairn__binding_t *out,
                              cairn_error_t *err) {
  int64_t version, ranks;
  if (!cairn_json_int(cairn_json_get(doc, "cairn"), &version))
    return bad(err, "cairn");
  if (version > VERSION)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "version %" PRId64 ", this is Cairn of version %d",
                      version, VERSION);
  if (!cairn_json_int(cairn_json_get(doc, "step"), &out->step))
    return bad(err, "step");
  if (!cairn_json_int(cairn_json_get(doc, "ranks"), &ranks) || ranks < 1 ||
      ranks > INT32_MAX)
    return bad(err, "ranks");
  out->ranks = (int)ranks;
  const cairn_json_t *id = cairn_json_get(doc, "save_id");
  if (id == NULL || id->kind != CAIRN_JSON_STRING || id->str.n != 32)
    return bad(err, "save_id");
  memcpy(out->save_id, id->str.p, 32);
  const cairn_json_t *profile = cairn_json_get(doc, "profile");
  for (size_t i = 0; i < sizeof(profile_names) / sizeof(*profile_names); i++)
    if (cairn_json_is_str(profile, profile_names[i]))
      out->profile = (cairn_profile_t)i;
  return CAIRN_OK;
}

cairn_code_t cairn__binding_parse(cairn_bytes_t text, cairn__binding_t *out,
                                  cairn_error_t *err) {
  cairn_json_doc_t doc = {0};
  *out = (cairn__binding_t){0};
  cairn_code_t rc = cairn_json_parse(text, NULL, &doc, err);
  if (rc == CAIRN_OK) rc = check_seal(text, err);
  if (rc == CAIRN_OK) rc = read_head(doc.root, out, err);
  if (rc == CAIRN_OK)
    rc = read_items(cairn_json_get(doc.root, "items"), out, err);
  if (rc == CAIRN_OK)
    rc = read_files(cairn_json_get(doc.root, "files"), out, err);
  cairn_json_free(&doc);
  if (rc != CAIRN_OK) cairn__binding_free(out);
  return rc;
}
