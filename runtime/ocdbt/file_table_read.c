/* The data file table, read (section 7). The full path of a row is built first
 * and then cut into base and relative path: simpler than cutting first, and
 * right for a row whose base path is a prefix of the one before. */
#include "ocdbt/wire.h"

/* No object refers to more files than it has entries; without a limit a few
 * compressed bytes could ask for gigabytes of rows. */
#define MAX_FILES (4 * CAIRN__OCDBT_MAX_ARITY)

struct row {
  uint16_t prefix, suffix, base;
};

static cairn_code_t row_check(cairn__wire_t *w, const struct row *r,
                              uint16_t base_before, size_t path_before) {
  size_t path = (size_t)r->prefix + r->suffix;
  uint16_t bases = r->base < base_before ? r->base : base_before;
  if (path > UINT16_MAX || path + w->transitive.n > UINT16_MAX)
    return cairn__wire_corrupt(w, "data file", "path too long: %zu bytes",
                               path + w->transitive.n);
  if (r->base > path)
    return cairn__wire_corrupt(w, "data file", "base longer than path");
  if (r->base != base_before && r->prefix > bases)
    return cairn__wire_corrupt(w, "data file", "prefix crosses base path");
  if (r->prefix > path_before)
    return cairn__wire_corrupt(w, "data file",
                               "prefix longer than previous path");
  return CAIRN_OK;
}

/* `path` is the row before on entry, this row (without the transitive path)
 * on return. */
static cairn_code_t row_build(cairn__wire_t *w, const struct row *r,
                              cairn_bytes_t *path, cairn__ocdbt_file_t *out) {
  cairn_bytes_t suffix = {0};
  size_t t = w->transitive.n, n = t + r->prefix + r->suffix;
  uint8_t *p = NULL;
  cairn_code_t rc = cairn__wire_take(w, "path_suffix", r->suffix, &suffix);
  if (rc != CAIRN_OK || n == 0) return rc;
  if ((rc = cairn__wire_string(w, "data file", n, &p)) != CAIRN_OK) return rc;
  if (t != 0) memcpy(p, w->transitive.p, t);
  if (r->prefix != 0) memcpy(p + t, path->p, r->prefix);
  if (r->suffix != 0) memcpy(p + t + r->prefix, suffix.p, r->suffix);
  *path = cairn_bytes(p + t, n - t);
  out->base = cairn_bytes(p, t + r->base);
  out->rel = cairn_bytes(p + t + r->base, n - t - r->base);
  return CAIRN_OK;
}

static cairn_code_t rows_read(cairn__wire_t *w, struct row *rows) {
  size_t n = w->num_files;
  cairn_code_t rc = cairn__wire_column16(w, "path_prefix_length",
                                         &rows[1].prefix, sizeof *rows, n - 1);
  if (rc == CAIRN_OK)
    rc = cairn__wire_column16(w, "path_suffix_length", &rows->suffix,
                              sizeof *rows, n);
  if (rc == CAIRN_OK)
    rc = cairn__wire_column16(w, "base_path_length", &rows->base, sizeof *rows,
                              n);
  size_t before = 0;
  for (size_t i = 0; i < n && rc == CAIRN_OK; i++) {
    rc = row_check(w, &rows[i], i != 0 ? rows[i - 1].base : 0, before);
    before = (size_t)rows[i].prefix + rows[i].suffix;
  }
  return rc;
}

cairn_code_t cairn__wire_files(cairn__wire_t *w) {
  uint64_t n = 0;
  cairn_bytes_t path = {0};
  cairn_code_t rc = cairn__wire_count(w, "num_files", &n);
  if (rc != CAIRN_OK || n == 0) return rc;
  if (n > MAX_FILES)
    return cairn__wire_corrupt(w, "num_files", "above %d", MAX_FILES);
  w->num_files = (size_t)n;
  w->files = cairn__wire_alloc(w, w->num_files, sizeof *w->files);
  /* One more, so that the address of rows[1] is good for one row as well. */
  struct row *rows = cairn__wire_alloc(w, w->num_files + 1, sizeof *rows);
  if (w->files == NULL || rows == NULL) return CAIRN_NO_MEMORY;
  rc = rows_read(w, rows);
  for (size_t i = 0; i < w->num_files && rc == CAIRN_OK; i++)
    rc = row_build(w, &rows[i], &path, &w->files[i]);
  return rc;
}

cairn_code_t cairn__wire_file_id(cairn__wire_t *w, cairn__ocdbt_file_t *out) {
  uint64_t id = 0;
  cairn_code_t rc = cairn__wire_varint64(w, "file id", &id);
  if (rc != CAIRN_OK) return rc;
  if (id >= w->num_files)
    return cairn__wire_corrupt(w, "file id", "is not below %zu", w->num_files);
  *out = w->files[id];
  return CAIRN_OK;
}
