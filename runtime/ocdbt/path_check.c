/* Which stored paths may be opened (section 16): they come from bytes that
 * nobody vouches for, and must not lead out of ROOT. */
#include "ocdbt/format.h"

static uint8_t byte_at(const cairn__ocdbt_file_t *f, size_t i) {
  return i < f->base.n ? f->base.p[i] : f->rel.p[i - f->base.n];
}

/* Bytes [from, to) of base and relative path joined: one component. */
static const char *component_fault(const cairn__ocdbt_file_t *f, size_t from,
                                   size_t to) {
  static const char lock[] = ".__lock";
  const size_t lock_n = sizeof lock - 1;
  size_t n = to - from, same = 0;
  if (n == 0) return "an empty component";
  if (byte_at(f, from) == '.' && n == 1) return "a component \".\"";
  if (byte_at(f, from) == '.' && n == 2 && byte_at(f, from + 1) == '.')
    return "a component \"..\"";
  while (n >= lock_n && same < lock_n &&
         byte_at(f, to - lock_n + same) == (uint8_t)lock[same])
    same++;
  return same == lock_n ? "the name of a lock file" : NULL;
}

static const char *path_fault(const cairn__ocdbt_file_t *f) {
  size_t n = f->base.n + f->rel.n, from = 0;
  if (n != 0 && byte_at(f, 0) == '/') return "a leading '/'";
  for (size_t i = 0; i <= n; i++) {
    if (i < n && byte_at(f, i) == 0) return "a NUL";
    if (i < n && byte_at(f, i) != '/') continue;
    const char *fault = component_fault(f, from, i);
    if (fault != NULL) return fault;
    from = i + 1;
  }
  return NULL;
}

cairn_code_t cairn__ocdbt_path_check(const cairn__ocdbt_file_t *f,
                                     cairn_error_t *err) {
  const char *fault = path_fault(f);
  if (fault == NULL) return CAIRN_OK;
  return cairn_fail(err, CAIRN_CORRUPT, "stored path \"%.*s%.*s\" has %s",
                    (int)f->base.n, f->base.n ? (const char *)f->base.p : "",
                    (int)f->rel.n, f->rel.n ? (const char *)f->rel.p : "",
                    fault);
}
