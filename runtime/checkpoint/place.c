#include "checkpoint/place.h"

#include <stdlib.h>

#include "base/base.h"

static bool has(const cairn_bytes_t *names, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (cairn__bytes_eq(names[i], cairn_bytes_str(name))) return true;
  return false;
}

static bool any(const cairn_bytes_t *names, size_t n,
                bool (*fn)(cairn_bytes_t name)) {
  for (size_t i = 0; i < n; i++)
    if (fn(names[i])) return true;
  return false;
}

static bool is_any(cairn_bytes_t name, const char *const *wanted) {
  for (; *wanted != NULL; wanted++)
    if (cairn__bytes_eq(name, cairn_bytes_str(*wanted))) return true;
  return false;
}

static bool starts(cairn_bytes_t name, const char *prefix) {
  return cairn__bytes_starts(name, cairn_bytes_str(prefix));
}

/* --- kinds --- */

bool cairn__is_step_file(cairn_bytes_t name) {
  static const char *const files[] = {
      "_CHECKPOINT_METADATA", CAIRN__BINDING_FILE, "orbax.checkpoint", NULL};
  return is_any(name, files);
}

bool cairn__is_item_file(cairn_bytes_t name) {
  static const char *const files[] = {
      "_METADATA",       "manifest.ocdbt", "metadata",
      "data.json",       "metrics",        "proto.pbtxt",
      "jax_random_key/", "np_random_key/", NULL};
  return is_any(name, files) || starts(name, "ocdbt.process_");
}

static bool has_step_file(const cairn_bytes_t *names, size_t n) {
  return any(names, n, cairn__is_step_file);
}

static bool has_item_file(const cairn_bytes_t *names, size_t n) {
  return any(names, n, cairn__is_item_file);
}

/* "name/" without its slash; false if it is not a directory that counts. */
static bool directory(cairn_bytes_t name, cairn_bytes_t *out) {
  if (name.n < 2 || name.p[name.n - 1] != '/' || name.p[0] == '.') return false;
  *out = cairn_bytes(name.p, name.n - 1);
  return true;
}

cairn__place_t cairn__place_by_file(const cairn_bytes_t *names, size_t n) {
  if (has_step_file(names, n)) return CAIRN__PLACE_STEP;
  if (has_item_file(names, n)) return CAIRN__PLACE_ITEM;
  if (has(names, n, "commit_success.txt")) return CAIRN__PLACE_STEP;
  return CAIRN__PLACE_NOTHING;
}

/* Directories that Orbax keeps beside the steps of a root. */
static bool beside_steps(cairn_bytes_t dir) {
  return dir.p[0] == '_' || cairn__bytes_eq(dir, cairn_bytes_str("metadata"));
}

cairn__place_t cairn__place_of(const cairn_bytes_t *names, size_t n) {
  cairn__place_t place = cairn__place_by_file(names, n);
  cairn_bytes_t dir;
  if (place != CAIRN__PLACE_NOTHING) return place;
  for (size_t i = 0; i < n; i++) {
    if (!directory(names[i], &dir)) continue;
    if (cairn__step_of_name(dir) >= 0) return CAIRN__PLACE_ROOT;
    if (!beside_steps(dir)) place = CAIRN__PLACE_STEP;
  }
  return place;
}

/* Hidden names too: what is being deleted, and probes. */
bool cairn__place_is_empty_root(const cairn_bytes_t *names, size_t n) {
  cairn_bytes_t dir;
  for (size_t i = 0; i < n; i++) {
    if (names[i].n > 0 && names[i].p[0] == '.') continue;
    if (!directory(names[i], &dir) || !beside_steps(dir)) return false;
  }
  return true;
}

bool cairn__place_above(const char *dir, const char *item,
                        const cairn_bytes_t *names, size_t n) {
  if (has_step_file(names, n)) return true;
  if (has_item_file(names, n)) return false;
  return has(names, n, "commit_success.txt") ||
         (cairn__all_digits(cairn_bytes_str(dir)) &&
          !cairn__all_digits(cairn_bytes_str(item)));
}

/* --- names of steps --- */

/* What a temporary name was going to be. */
static cairn_bytes_t final_name(cairn_bytes_t name) {
  const uint8_t *tmp =
      memmem(name.p, name.n, CAIRN__TMP_SUFFIX, sizeof(CAIRN__TMP_SUFFIX) - 1);
  return tmp != NULL ? cairn_bytes(name.p, (size_t)(tmp - name.p)) : name;
}

int64_t cairn__step_of_name(cairn_bytes_t name) {
  int64_t step;
  return cairn__step_guess(final_name(name), &step) ? step : -1;
}

static int by_number(const void *a, const void *b) {
  const cairn__step_name_t *x = a, *y = b;
  if (x->step != y->step) return x->step < y->step ? -1 : 1;
  if (x->temporary != y->temporary) return x->temporary ? 1 : -1;
  return cairn__bytes_cmp(x->dir, y->dir);
}

bool cairn__step_names(const cairn_bytes_t *names, size_t n,
                       cairn__step_name_t **out, size_t *out_n) {
  cairn__step_name_t *v = calloc(n + 1, sizeof(*v));
  bool numbers = false;
  cairn_bytes_t dir;
  size_t m = 0, kept = 0;
  if (v == NULL) return false;
  for (size_t i = 0; i < n; i++) {
    if (!directory(names[i], &dir)) continue;
    cairn__step_name_t s = {.step = cairn__step_of_name(dir),
                            .temporary = cairn__name_is_temporary(dir),
                            .dir = dir};
    if (s.step < 0 && !s.temporary) continue;
    numbers = numbers || cairn__all_digits(final_name(dir));
    v[m++] = s;
  }
  for (size_t i = 0; i < m; i++)
    if (!numbers || v[i].step < 0 || cairn__all_digits(final_name(v[i].dir)))
      v[kept++] = v[i];
  if (kept > 1) qsort(v, kept, sizeof(*v), by_number);
  *out = v;
  *out_n = kept;
  return true;
}

/* --- paths --- */

bool cairn__place_split(const char *path, size_t *parent_n, size_t *base,
                        size_t *base_n) {
  size_t n = strlen(path), from = 0;
  const char *scheme = strstr(path, "://");
  if (scheme != NULL) from = (size_t)(scheme - path) + 3;
  while (n > from && path[n - 1] == '/') n--;
  size_t at = n;
  while (at > from && path[at - 1] != '/') at--;
  if (at == from || at == n) return false;
  *base = at;
  *base_n = n - at;
  while (at > from + 1 && path[at - 1] == '/') at--;
  *parent_n = at;
  return true;
}
