#include "checkpoint/layout.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/base.h"

bool cairn__step_name(const cairn__step_format_t *f, int64_t step, char *out,
                      size_t cap) {
  int n = snprintf(out, cap, "%s%s%0*" PRId64, f->prefix,
                   f->prefix[0] != 0 ? "_" : "", f->digits, step);
  return n > 0 && (size_t)n < cap;
}

bool cairn__all_digits(cairn_bytes_t b) {
  for (size_t i = 0; i < b.n; i++)
    if (b.p[i] < '0' || b.p[i] > '9') return false;
  return b.n > 0;
}

/* The number of a run of digits with leading zeros, if it fits. */
static bool number(cairn_bytes_t b, int64_t *out) {
  while (b.n > 1 && b.p[0] == '0') b = cairn_bytes(b.p + 1, b.n - 1);
  return cairn__decimal(b, out);
}

/* Orbax: without a fixed length "0" or no leading zero; with length N either N
 * digits or more digits with a non-zero first one. */
bool cairn__step_parse(const cairn__step_format_t *f, cairn_bytes_t name,
                       int64_t *step) {
  size_t n = strlen(f->prefix);
  if (n != 0) {
    if (name.n <= n + 1 || memcmp(name.p, f->prefix, n) != 0 ||
        name.p[n] != '_')
      return false;
    name = cairn_bytes(name.p + n + 1, name.n - n - 1);
  }
  if (!cairn__all_digits(name)) return false;
  if (f->digits == 0) return cairn__decimal(name, step);
  size_t digits = (size_t)f->digits;
  if (name.n < digits || (name.n > digits && name.p[0] == '0')) return false;
  return number(name, step);
}

bool cairn__step_guess(cairn_bytes_t name, int64_t *step) {
  size_t at = name.n;
  while (at > 0 && name.p[at - 1] != '_') at--;
  cairn_bytes_t digits = cairn_bytes(name.p + at, name.n - at);
  return cairn__all_digits(digits) && number(digits, step);
}

bool cairn__name_is_temporary(cairn_bytes_t name) {
  return memmem(name.p, name.n, CAIRN__TMP_SUFFIX,
                sizeof(CAIRN__TMP_SUFFIX) - 1) != NULL;
}

/* Files of a step, and files that make a directory an item to Orbax. */
static bool is_side_file(cairn_bytes_t name) {
  static const char *const names[] = {"_CHECKPOINT_METADATA",
                                      "_CHECKPOINT_DELETION",
                                      "commit_success.txt",
                                      "orbax.checkpoint",
                                      CAIRN__BINDING_FILE,
                                      CAIRN__OWNER_FILE,
                                      "_METADATA",
                                      "manifest.ocdbt"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
    if (cairn__bytes_eq(name, cairn_bytes_str(names[i]))) return true;
  return false;
}

/* A backslash separates directories to TensorStore, and names ending in
 * ".__lock" are its temporary ones. */
const char *cairn__item_name_problem(cairn_bytes_t name) {
  if (name.n == 0) return NULL;
  if (name.n > NAME_MAX) return "is longer than 255 bytes";
  if (memchr(name.p, '/', name.n) != NULL ||
      memchr(name.p, '\\', name.n) != NULL)
    return "has a separator in it";
  if (cairn__bytes_eq(name, cairn_bytes_str(".")) ||
      cairn__bytes_eq(name, cairn_bytes_str("..")))
    return "is another directory";
  if (cairn__name_is_temporary(name) ||
      cairn__bytes_ends(name, cairn_bytes_str(".__lock")))
    return "is a temporary one";
  if (is_side_file(name)) return "is a file of every step";
  return cairn__utf8_ok(name) ? NULL : "is not UTF-8";
}
