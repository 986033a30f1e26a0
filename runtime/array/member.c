/* Members of a metadata document, each with its name in the error. */
#include <stdio.h>

#include "array/zarr.h"
#include "base/base.h"

static const cairn_json_t *find(const cairn_json_t *obj, const char *key) {
  return obj != NULL ? cairn_json_get(obj, key) : NULL;
}

static cairn_code_t missing(const char *key, cairn_error_t *err) {
  return cairn_fail(err, CAIRN_CORRUPT, "%s: missing", key);
}

cairn_code_t cairn__member(const cairn_json_t *obj, const char *key,
                           const cairn_json_t **out, cairn_error_t *err) {
  *out = find(obj, key);
  return *out != NULL ? CAIRN_OK : missing(key, err);
}

cairn_code_t cairn__member_int(const cairn_json_t *obj, const char *key,
                               int64_t min, int64_t max, bool required,
                               int64_t *out, cairn_error_t *err) {
  const cairn_json_t *v = find(obj, key);
  int64_t n;
  if (v == NULL) return required ? missing(key, err) : CAIRN_OK;
  if (!cairn_json_int(v, &n) || n < min || n > max)
    return cairn_fail(err, CAIRN_CORRUPT, "%s: want an integer in %lld..%lld",
                      key, (long long)min, (long long)max);
  *out = n;
  return CAIRN_OK;
}

cairn_code_t cairn__member_bool(const cairn_json_t *obj, const char *key,
                                bool *out, cairn_error_t *err) {
  const cairn_json_t *v = find(obj, key);
  if (v == NULL) return CAIRN_OK;
  if (v->kind != CAIRN_JSON_BOOL)
    return cairn_fail(err, CAIRN_CORRUPT, "%s: want true or false", key);
  *out = v->b;
  return CAIRN_OK;
}

static cairn_code_t not_among(const char *key, const char *const *words,
                              size_t n, cairn_error_t *err) {
  char list[128] = "";
  size_t at = 0;
  for (size_t i = 0; i < n; i++) {
    int put = snprintf(list + at, sizeof list - at, "%s\"%s\"",
                       i == 0 ? "" : " or ", words[i]);
    if (put < 0 || (size_t)put >= sizeof list - at) break;
    at += (size_t)put;
  }
  return cairn_fail(err, CAIRN_CORRUPT, "%s: want %s", key, list);
}

cairn_code_t cairn__member_word(const cairn_json_t *obj, const char *key,
                                const char *const *words, size_t n,
                                bool required, size_t *out,
                                cairn_error_t *err) {
  const cairn_json_t *v = find(obj, key);
  if (v == NULL) return required ? missing(key, err) : CAIRN_OK;
  for (size_t i = 0; i < n; i++) {
    if (!cairn_json_is_str(v, words[i])) continue;
    *out = i;
    return CAIRN_OK;
  }
  return not_among(key, words, n, err);
}

cairn_code_t cairn__member_dims(const cairn_json_t *obj, const char *key,
                                int64_t min, int *rank, int64_t *out,
                                cairn_error_t *err) {
  const cairn_json_t *v;
  if (cairn__member(obj, key, &v, err) != CAIRN_OK) return CAIRN_CORRUPT;
  if (v->kind != CAIRN_JSON_ARRAY)
    return cairn_fail(err, CAIRN_CORRUPT, "%s: want an array", key);
  if (v->n > CAIRN_MAX_RANK)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "%s: %zu dimensions, at most %d are supported", key, v->n,
                      CAIRN_MAX_RANK);
  if (*rank >= 0 && v->n != (size_t)*rank)
    return cairn_fail(err, CAIRN_CORRUPT, "%s: %zu dimensions, want %d", key,
                      v->n, *rank);
  *rank = (int)v->n;
  int d = 0;
  for (const cairn_json_t *e = v->child; e != NULL; e = e->next, d++) {
    if (!cairn_json_int(e, &out[d]) || out[d] < min || out[d] == INT64_MAX)
      return cairn_fail(err, CAIRN_CORRUPT,
                        "%s[%d]: want an integer in %lld..2^63-2", key, d,
                        (long long)min);
  }
  return CAIRN_OK;
}

cairn_code_t cairn__member_known(const cairn_json_t *m, const char *const *keys,
                                 size_t n, cairn_error_t *err) {
  for (size_t i = 0; i < n; i++)
    if (cairn__bytes_eq(m->key, cairn_bytes_str(keys[i]))) return CAIRN_OK;
  return cairn_fail(err, CAIRN_UNSUPPORTED, "%.*s: unknown member",
                    (int)(m->key.n < 64 ? m->key.n : 64),
                    (const char *)m->key.p);
}

cairn_code_t cairn__members_only(const cairn_json_t *obj,
                                 const char *const *keys, size_t n,
                                 cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  if (obj == NULL) return rc;
  for (const cairn_json_t *m = obj->child; m != NULL && rc == CAIRN_OK;
       m = m->next)
    rc = cairn__member_known(m, keys, n, err);
  return rc;
}
