/* What a user writes to name a store, made into a driver and its spec:
 *
 *   runs/a               {"driver":"file","path":"runs/a/"}
 *   file:///runs/a%20b   {"driver":"file","path":"/runs/a b/"}
 *   memory://x/y         {"driver":"memory","path":"x/y/"}
 *   {"driver": ...}      the same, blanks gone, "path" ending in '/'
 *
 * As in TensorStore, percent-decoding is for URLs only: a plain path and the
 * "path" of a spec are taken literally. */
#include <ctype.h>

#include "kv/kv.h"

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "store spec");
}

static cairn_code_t unknown_scheme(cairn_runtime_t *rt, cairn_bytes_t scheme,
                                   cairn_error_t *err) {
  cairn_buf_t known = {0};
  cairn__kv_known(rt, &known);
  cairn_code_t rc =
      cairn_fail(err, CAIRN_INVALID, "no driver \"%.*s\" (known: %.*s)",
                 (int)(scheme.n < 64 ? scheme.n : 64), (const char *)scheme.p,
                 (int)known.n, known.n > 0 ? (const char *)known.p : "");
  cairn_buf_reset(&known);
  return rc;
}

/* Adds "path", with the final '/' that makes the store a directory. */
static bool add_path(cairn_json_doc_t *doc, cairn_bytes_t path) {
  cairn_bytes_t slash = cairn_bytes_str("/"), key = cairn_bytes_str("path");
  if (path.n == 0 || cairn__bytes_ends(path, slash))
    return cairn_json_add_str(doc, doc->root, key, path) != NULL;
  cairn_buf_t b = {0};
  cairn_buf_put(&b, path.p, path.n);
  cairn_buf_put_u8(&b, '/');
  bool ok = !b.failed && cairn_json_add_str(doc, doc->root, key,
                                            cairn_buf_bytes(&b)) != NULL;
  cairn_buf_reset(&b);
  return ok;
}

static cairn_code_t emit(cairn_json_doc_t *doc, bool ok, cairn_buf_t *spec,
                         cairn_error_t *err) {
  if (ok) cairn_json_emit(doc->root, CAIRN_JSON_COMPACT, spec);
  cairn_json_free(doc);
  return ok && !spec->failed ? CAIRN_OK : no_memory(err);
}

static cairn_code_t from_path(cairn_bytes_t driver, cairn_bytes_t path,
                              cairn_buf_t *spec, cairn_error_t *err) {
  if (!cairn__utf8_ok(path))
    return cairn_fail(err, CAIRN_INVALID, "path is not UTF-8");
  cairn_json_doc_t doc = {0};
  cairn_bytes_t none = {0};
  bool ok = cairn_json_add(&doc, NULL, none, CAIRN_JSON_OBJECT) != NULL &&
            cairn_json_add_str(&doc, doc.root, cairn_bytes_str("driver"),
                               driver) != NULL &&
            add_path(&doc, path);
  return emit(&doc, ok, spec, err);
}

static cairn_code_t percent_decode(cairn_bytes_t in, cairn_buf_t *out,
                                   cairn_error_t *err) {
  for (size_t i = 0; i < in.n; i++) {
    uint8_t c = in.p[i];
    if (c == '%') {
      if (in.n - i < 3 || !cairn__unhex(cairn_bytes(in.p + i + 1, 2), &c))
        return cairn_fail(err, CAIRN_INVALID, "bad %% escape at byte %zu", i);
      i += 2;
    }
    if (c == '\0') return cairn_fail(err, CAIRN_INVALID, "NUL at byte %zu", i);
    cairn_buf_put_u8(out, c);
  }
  return out->failed ? no_memory(err) : CAIRN_OK;
}

/* rest: what follows "scheme://". */
static cairn_code_t from_url(const cairn_kv_ops_t *ops, cairn_bytes_t rest,
                             cairn_buf_t *spec, cairn_error_t *err) {
  for (size_t i = 0; i < rest.n; i++) {
    if (rest.p[i] != 0 && strchr("?#|", rest.p[i]) != NULL)
      return cairn_fail(err, CAIRN_INVALID,
                        "'%c' in a URL is not supported (as part of a name: "
                        "%%%02X)",
                        rest.p[i], rest.p[i]);
  }
  if (ops == &cairn__kv_file_ops) {
    cairn_bytes_t local = cairn_bytes_str("localhost/");
    if (cairn__bytes_starts(rest, local))
      rest = cairn_bytes(rest.p + local.n - 1, rest.n - local.n + 1);
    if (rest.n == 0 || rest.p[0] != '/')
      return cairn_fail(err, CAIRN_INVALID,
                        "a file URL is file:///absolute/path");
  }
  cairn_buf_t path = {0};
  cairn_code_t rc = percent_decode(rest, &path, err);
  if (rc == CAIRN_OK)
    rc = from_path(cairn_bytes_str(ops->scheme), cairn_buf_bytes(&path), spec,
                   err);
  cairn_buf_reset(&path);
  return rc;
}

static cairn_code_t from_json(cairn_runtime_t *rt, cairn_bytes_t text,
                              const cairn_kv_ops_t **ops, cairn_buf_t *spec,
                              cairn_error_t *err) {
  cairn_json_doc_t in = {0}, out = {0};
  cairn_json_limits_t limits = {.max_bytes = 1 << 20, .strict = true};
  if (cairn_json_parse(text, &limits, &in, err) != CAIRN_OK) {
    if (err != NULL && err->code == CAIRN_CORRUPT) err->code = CAIRN_INVALID;
    cairn_within(err, "store spec");
    return err != NULL ? err->code : CAIRN_INVALID;
  }
  cairn_code_t rc = CAIRN_OK;
  const cairn_json_t *driver = cairn_json_get(in.root, "driver");
  const cairn_json_t *path = cairn_json_get(in.root, "path");
  if (driver == NULL || driver->kind != CAIRN_JSON_STRING)
    rc = cairn_fail(err, CAIRN_INVALID, "store spec: no string \"driver\"");
  else if (path != NULL && path->kind != CAIRN_JSON_STRING)
    rc = cairn_fail(err, CAIRN_INVALID, "store spec: \"path\" is no string");
  else if ((*ops = cairn__kv_find(rt, driver->str)) == NULL)
    rc = unknown_scheme(rt, driver->str, err);
  if (rc == CAIRN_OK) {
    cairn_bytes_t none = {0};
    bool ok = cairn_json_add(&out, NULL, none, CAIRN_JSON_OBJECT) != NULL;
    for (const cairn_json_t *m = in.root->child; ok && m != NULL; m = m->next)
      ok = m == path ? add_path(&out, m->str)
                     : cairn_json_copy(&out, out.root, m->key, m) != NULL;
    rc = emit(&out, ok, spec, err);
  }
  cairn_json_free(&in);
  return rc;
}

/* Length of the scheme that url starts with ("file" of "file:..."); 0: none. */
static size_t scheme_length(const char *url) {
  size_t n = 0;
  while (isalnum((unsigned char)url[n]) ||
         (n > 0 && url[n] != '\0' && strchr("+-._", url[n]) != NULL))
    n++;
  return url[n] == ':' ? n : 0;
}

cairn_code_t cairn__kv_spec(cairn_runtime_t *rt, const char *url,
                            const cairn_kv_ops_t **ops, cairn_buf_t *spec,
                            cairn_error_t *err) {
  if (url == NULL || url[0] == '\0')
    return cairn_fail(err, CAIRN_INVALID, "empty store name");
  cairn_bytes_t all = cairn_bytes_str(url);
  if (url[0] == '{') return from_json(rt, all, ops, spec, err);
  size_t n = scheme_length(url);
  bool slashes = n > 0 && strncmp(url + n, "://", 3) == 0;
  *ops = n > 0 ? cairn__kv_find(rt, cairn_bytes(url, n)) : NULL;
  cairn_code_t rc;
  if (*ops == NULL && !slashes) { /* "a:b" may well be a directory's name */
    *ops = &cairn__kv_file_ops;
    rc = from_path(cairn_bytes_str("file"), all, spec, err);
  } else if (*ops == NULL) {
    rc = unknown_scheme(rt, cairn_bytes(url, n), err);
  } else if (!slashes) {
    rc = cairn_fail(err, CAIRN_INVALID, "\"//\" is missing after the scheme");
  } else {
    rc = from_url(*ops, cairn_bytes(url + n + 3, all.n - n - 3), spec, err);
  }
  if (rc != CAIRN_OK) cairn_within(err, "%.200s", url);
  return rc;
}

static bool listed(const char *const *known, cairn_bytes_t key) {
  for (; *known != NULL; known++)
    if (cairn__bytes_eq(cairn_bytes_str(*known), key)) return true;
  return false;
}

cairn_code_t cairn__kv_spec_members(cairn_bytes_t spec,
                                    const char *const *known,
                                    cairn_json_doc_t *doc, cairn_error_t *err) {
  static const char *const always[] = {"driver", "context", NULL};
  cairn_code_t rc = cairn_json_parse(spec, NULL, doc, err);
  if (rc != CAIRN_OK) return rc;
  for (const cairn_json_t *m = doc->root->child; m != NULL; m = m->next) {
    if (listed(always, m->key) || listed(known, m->key)) continue;
    rc = cairn_fail(err, CAIRN_INVALID, "store spec: unknown member \"%.*s\"",
                    (int)(m->key.n < 64 ? m->key.n : 64),
                    (const char *)m->key.p);
    cairn_json_free(doc);
    return rc;
  }
  return CAIRN_OK;
}
