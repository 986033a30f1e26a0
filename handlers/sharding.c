/* Shardings: checked on the caller's thread, described by desc.h, written as
 * Orbax's NamedSharding. */
#include "sharding.h"

#include <inttypes.h>

/* Checking ------------------------------------------------------------------
 */

static bool has_axis(const cairn_sharding_t *s, cairn_bytes_t name) {
  for (int i = 0; i < s->mesh_rank; i++)
    if (cairn__text_cmp(cairn_bytes_str(s->axis_names[i]), name) == 0)
      return true;
  return false;
}

/* The next of the names in "a,b"; false after the last. */
static bool next_axis(cairn_bytes_t *rest, cairn_bytes_t *name) {
  if (rest->p == NULL) return false;
  const uint8_t *comma = rest->n != 0 ? memchr(rest->p, ',', rest->n) : NULL;
  if (comma == NULL) {
    *name = *rest;
    rest->p = NULL;
    return true;
  }
  size_t n = (size_t)(comma - rest->p);
  *name = cairn_bytes(rest->p, n);
  *rest = cairn_bytes(comma + 1, rest->n - n - 1);
  return true;
}

static cairn_code_t check_spec(const cairn_sharding_t *s, cairn_error_t *err) {
  for (int i = 0; i < s->spec_rank; i++) {
    cairn_bytes_t rest = cairn_bytes_str(s->spec[i]), name;
    while (next_axis(&rest, &name))
      if (!has_axis(s, name))
        return cairn_fail(err, CAIRN_INVALID,
                          "sharding: the mesh has no axis '%.*s'", (int)name.n,
                          (const char *)name.p);
  }
  return CAIRN_OK;
}

cairn_code_t cairn__sharding_check(const cairn_sharding_t *s, int rank,
                                   cairn_error_t *err) {
  int64_t devices = 1;
  if (s->mesh_rank < 1 || s->mesh_rank > CAIRN_MAX_RANK)
    return cairn_fail(err, CAIRN_INVALID, "sharding: a mesh of %d dimensions",
                      s->mesh_rank);
  for (int i = 0; i < s->mesh_rank; i++)
    if (s->mesh_shape[i] < 1 ||
        __builtin_mul_overflow(devices, s->mesh_shape[i], &devices) ||
        devices > INT32_MAX)
      return cairn_fail(err, CAIRN_INVALID,
                        "sharding: mesh axis %d of %" PRId64, i,
                        s->mesh_shape[i]);
  if (s->spec_rank < 0 || s->spec_rank > rank)
    return cairn_fail(err, CAIRN_INVALID,
                      "sharding: a spec of %d entries for %d dimensions",
                      s->spec_rank, rank);
  return check_spec(s, err);
}

/* Taking apart --------------------------------------------------------------
 */

typedef struct mesh {
  int rank;
  int64_t shape[CAIRN_MAX_RANK];
  cairn_bytes_t axis[CAIRN_MAX_RANK];
  cairn_cur_t ids; /* at the first device id */
} mesh_t;

static bool get_mesh(cairn_bytes_t in, mesh_t *m) {
  int64_t rank;
  m->ids = cairn_cur(in);
  if (!cairn__desc_int(&m->ids, &rank) || rank > CAIRN_MAX_RANK) return false;
  m->rank = (int)rank;
  for (int i = 0; i < m->rank; i++)
    if (!cairn__desc_int(&m->ids, &m->shape[i])) return false;
  for (int i = 0; i < m->rank; i++)
    if (!cairn__desc_text(&m->ids, &m->axis[i])) return false;
  return true;
}

static bool next_spec(cairn_cur_t *c, cairn_bytes_t *out) {
  int64_t n;
  *out = cairn_bytes(NULL, 0);
  if (!cairn__desc_int(c, &n)) return false;
  return n == 0 || cairn_cur_take(c, (size_t)n - 1, out);
}

static int64_t axis_size(const mesh_t *m, cairn_bytes_t name) {
  for (int i = 0; i < m->rank; i++)
    if (cairn__text_cmp(m->axis[i], name) == 0) return m->shape[i];
  return 1;
}

cairn_code_t cairn__sharding_replicas(const cairn__desc_t *d, int *out,
                                      cairn_error_t *err) {
  mesh_t m;
  cairn_cur_t c = cairn_cur(d->spec);
  int64_t n, devices = 1, boxes = 1;
  if (!get_mesh(d->mesh, &m) || !cairn__desc_int(&c, &n))
    return cairn__desc_bad(err);
  for (int i = 0; i < m.rank; i++) devices *= m.shape[i];
  while (n-- > 0) {
    cairn_bytes_t rest, name;
    if (!next_spec(&c, &rest)) return cairn__desc_bad(err);
    while (next_axis(&rest, &name)) boxes *= axis_size(&m, name);
    if (boxes > devices) break;
  }
  *out = boxes <= devices ? (int)(devices / boxes) : 1;
  return CAIRN_OK;
}

/* Writing -------------------------------------------------------------------
 */

static void put_name(cairn_bytes_t name, cairn_buf_t *out) {
  cairn_json_emit_str(name, CAIRN_JSON_PYTHON, out);
}

static void put_axes(const mesh_t *m, cairn_buf_t *out) {
  cairn_buf_put_str(out, ", \"axis_names\": [");
  for (int i = 0; i < m->rank; i++) {
    if (i != 0) cairn_buf_put_str(out, ", ");
    put_name(m->axis[i], out);
  }
  cairn_buf_put_str(out, "], \"axis_types\": [");
  for (int i = 0; i < m->rank; i++)
    cairn_buf_put_str(out,
                      i != 0 ? ", \"AxisType.Auto\"" : "\"AxisType.Auto\"");
  cairn_buf_put_u8(out, ']');
}

/* Nested lists of {"id": n}, one level per axis. */
static bool put_devices(mesh_t *m, int level, cairn_buf_t *out) {
  int64_t id;
  if (level == m->rank) {
    if (!cairn__desc_signed(&m->ids, &id)) return false;
    cairn_buf_printf(out, "{\"id\": %" PRId64 "}", id);
    return true;
  }
  cairn_buf_put_u8(out, '[');
  for (int64_t i = 0; i < m->shape[level]; i++) {
    if (i != 0) cairn_buf_put_str(out, ", ");
    if (!put_devices(m, level + 1, out)) return false;
  }
  cairn_buf_put_u8(out, ']');
  return true;
}

/* The value is JSON within a JSON string, so what goes around the spec is made
 * once per mesh, with its quotes escaped. */
static void put_escaped(const cairn_buf_t *text, cairn_buf_t *out) {
  cairn_buf_t quoted = {0};
  cairn_json_emit_str(cairn_buf_bytes(text), CAIRN_JSON_COMPACT, &quoted);
  if (quoted.failed || text->failed)
    out->failed = true;
  else
    cairn_buf_put(out, quoted.p + 1, quoted.n - 2);
  cairn_buf_reset(&quoted);
}

static bool make_texts(cairn__sharding_text_t *t, cairn_bytes_t mesh) {
  mesh_t m;
  cairn_buf_t text = {0};
  if (!get_mesh(mesh, &m)) return false;
  t->before.n = t->after.n = 0;
  cairn_buf_put_str(&text,
                    "{\"sharding_type\": \"NamedSharding\", \"shape\": ");
  cairn_buf_put_u8(&text, '[');
  for (int i = 0; i < m.rank; i++)
    cairn_buf_printf(&text, "%s%" PRId64, i != 0 ? ", " : "", m.shape[i]);
  cairn_buf_put_u8(&text, ']');
  put_axes(&m, &text);
  cairn_buf_put_str(&text, ", \"partition_spec\": [");
  put_escaped(&text, &t->before);
  text.n = 0;
  cairn_buf_put_str(&text, "], \"device_mesh\": {\"mesh\": ");
  bool ok = put_devices(&m, 0, &text);
  cairn_buf_put_str(&text, "}}");
  put_escaped(&text, &t->after);
  cairn_buf_reset(&text);
  t->mesh = mesh;
  return ok;
}

/* null, a name, or a list of names. */
static void put_entry(cairn_bytes_t entry, cairn_buf_t *out) {
  cairn_bytes_t name;
  bool several = entry.n != 0 && memchr(entry.p, ',', entry.n) != NULL;
  if (entry.p == NULL) {
    cairn_buf_put_str(out, "null");
    return;
  }
  if (several) cairn_buf_put_u8(out, '[');
  for (int i = 0; next_axis(&entry, &name); i++) {
    if (i != 0) cairn_buf_put_str(out, ", ");
    put_name(name, out);
  }
  if (several) cairn_buf_put_u8(out, ']');
}

static bool put_spec(cairn_bytes_t spec, cairn_buf_t *out) {
  cairn_cur_t c = cairn_cur(spec);
  cairn_buf_t text = {0};
  int64_t n;
  bool ok = cairn__desc_int(&c, &n);
  for (int64_t i = 0; ok && i < n; i++) {
    cairn_bytes_t entry;
    ok = next_spec(&c, &entry);
    if (i != 0) cairn_buf_put_str(&text, ", ");
    if (ok) put_entry(entry, &text);
  }
  put_escaped(&text, out);
  cairn_buf_reset(&text);
  return ok;
}

cairn_code_t cairn__sharding_emit(cairn__sharding_text_t *t,
                                  const cairn__desc_t *d, cairn_buf_t *out,
                                  cairn_error_t *err) {
  if (t->mesh.p != d->mesh.p && !make_texts(t, d->mesh))
    return cairn__desc_bad(err);
  cairn_buf_put(out, t->before.p, t->before.n);
  if (!put_spec(d->spec, out)) return cairn__desc_bad(err);
  cairn_buf_put(out, t->after.p, t->after.n);
  if (t->before.failed || t->after.failed) out->failed = true;
  return CAIRN_OK;
}

void cairn__sharding_text_free(cairn__sharding_text_t *t) {
  cairn_buf_reset(&t->before);
  cairn_buf_reset(&t->after);
}

void cairn__put_base64url(cairn_bytes_t in, cairn_buf_t *out) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (size_t i = 0; i < in.n; i += 3) {
    size_t left = in.n - i;
    uint32_t v = (uint32_t)in.p[i] << 16;
    if (left > 1) v |= (uint32_t)in.p[i + 1] << 8;
    if (left > 2) v |= in.p[i + 2];
    cairn_buf_put_u8(out, (uint8_t)digits[v >> 18]);
    cairn_buf_put_u8(out, (uint8_t)digits[v >> 12 & 63]);
    cairn_buf_put_u8(out, left > 1 ? (uint8_t)digits[v >> 6 & 63] : '=');
    cairn_buf_put_u8(out, left > 2 ? (uint8_t)digits[v & 63] : '=');
  }
}
