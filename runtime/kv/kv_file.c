/* The file store: spec, open, close, the vtable. How it works is in kv_file.h.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "kv/kv_file.h"

/* What TensorStore knows is accepted. file_io_sync means here what it means
 * there; the others tune its thread pool, its lock and its reads, which we do
 * in one way of our own: at least as strict as any of theirs. */
static const char *const members[] = {"path",         "file_io_concurrency",
                                      "file_io_sync", "file_io_locking",
                                      "file_io_mode", NULL};

static cairn_code_t take_sync(struct file_kv *kv, const cairn_json_t *v,
                              cairn_error_t *err) {
  kv->sync =
      true; /* also behind a name in a context, which is not ours to read */
  if (v == NULL || v->kind == CAIRN_JSON_STRING) return CAIRN_OK;
  if (v->kind != CAIRN_JSON_BOOL)
    return cairn_fail(err, CAIRN_INVALID,
                      "store spec: \"file_io_sync\" is not true or false");
  kv->sync = v->b;
  return CAIRN_OK;
}

static cairn_code_t take_path(struct file_kv *kv, const cairn_json_t *v,
                              cairn_error_t *err) {
  if (v == NULL || v->str.n == 0)
    return cairn_fail(err, CAIRN_INVALID, "store spec: no \"path\"");
  if (memchr(v->str.p, '\0', v->str.n) != NULL)
    return cairn_fail(err, CAIRN_INVALID, "store spec: a NUL in \"path\"");
  char *path = cairn__bytes_dup(v->str);
  char *full = path != NULL ? cairn__path_absolute(path) : NULL;
  free(path);
  if (full != NULL)
    kv->root =
        strcmp(full, "/") == 0 ? strdup(full) : cairn__printf("%s/", full);
  free(full);
  if (kv->root == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for the path");
  kv->root_n = strlen(kv->root);
  if (kv->root_n > PATH_MAX - NAME_MAX)
    return cairn_fail(err, CAIRN_INVALID, "the path is too long: %zu bytes",
                      kv->root_n);
  return CAIRN_OK;
}

static void file_free(struct file_kv *kv) {
  cairn__file_defer_reset(kv);
  free(kv->root);
  free(kv);
}

static cairn_code_t file_new(cairn_bytes_t spec, struct file_kv **out,
                             cairn_error_t *err) {
  cairn_json_doc_t doc = {0};
  cairn_code_t rc = cairn__kv_spec_members(spec, members, &doc, err);
  if (rc != CAIRN_OK) return rc;
  struct file_kv *kv = calloc(1, sizeof *kv);
  if (kv == NULL) {
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "no memory for the store");
  } else {
    rc = take_path(kv, cairn_json_get(doc.root, "path"), err);
    if (rc == CAIRN_OK)
      rc = take_sync(kv, cairn_json_get(doc.root, "file_io_sync"), err);
    if (rc != CAIRN_OK) file_free(kv);
  }
  cairn_json_free(&doc);
  if (rc == CAIRN_OK) *out = kv;
  return rc;
}

static cairn_future_t *file_open(cairn_runtime_t *rt, cairn_bytes_t spec,
                                 void **self) {
  cairn_error_t err = {0};
  struct file_kv *kv = NULL;
  file_new(spec, &kv, &err);
  *self = kv;
  return cairn_future_done(rt, &err);
}

static cairn_future_t *file_close(cairn_runtime_t *rt, void *self) {
  file_free(self);
  return cairn_future_done(rt, NULL);
}

static uint32_t file_caps(void *self) {
  const struct file_kv *kv = self;
  return CAIRN_KV_ATOMIC | CAIRN_KV_CREATE_ONLY | CAIRN_KV_CAS |
         CAIRN_KV_RENAME_PREFIX | CAIRN_KV_LIST_ORDERED |
         (kv->sync ? CAIRN_KV_DURABLE_ACK : 0);
}

static void file_describe(void *self, cairn_bytes_t key, char *out,
                          size_t cap) {
  const struct file_kv *kv = self;
  snprintf(out, cap, "%s%.*s", kv->root,
           (int)(key.n < PATH_MAX ? key.n : PATH_MAX),
           key.n > 0 ? (const char *)key.p : "");
}

const cairn_kv_ops_t cairn__kv_file_ops = {
    .abi_major = CAIRN_KV_ABI_MAJOR,
    .abi_minor = CAIRN_KV_ABI_MINOR,
    .size = sizeof(cairn_kv_ops_t),
    .scheme = "file",
    .open = file_open,
    .close = file_close,
    .caps = file_caps,
    .read = cairn__file_read,
    .write = cairn__file_write,
    .remove = cairn__file_remove,
    .list = cairn__file_list,
    .upload_begin = cairn__file_upload_begin,
    .upload_part = cairn__file_upload_part,
    .upload_commit = cairn__file_upload_commit,
    .upload_abort = cairn__file_upload_abort,
    .rename_prefix = cairn__file_rename_prefix,
    .remove_prefix = cairn__file_remove_prefix,
    .sync = cairn__file_sync,
    .list_dir = cairn__file_list_dir,
    .describe = file_describe,
};
