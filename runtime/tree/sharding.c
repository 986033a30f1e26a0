/* The sharding of a leaf, which only Orbax reads: checked, so that Orbax can,
 * and copied. */
#include <inttypes.h>

#include "base/base.h"
#include "tree/tree.h"

#define MAX_DEVICES ((int64_t)1 << 24)

static cairn_code_t check_mesh(const cairn_sharding_t *s, int64_t *devices,
                               cairn_error_t *err) {
  *devices = 1;
  if (s->mesh_rank < 0 || s->mesh_rank > CAIRN_MAX_RANK)
    return cairn_fail(err, CAIRN_INVALID, "mesh of rank %d", s->mesh_rank);
  if (s->mesh_rank > 0 && (s->mesh_shape == NULL || s->axis_names == NULL))
    return cairn_fail(err, CAIRN_INVALID, "mesh without shape or axis names");
  for (int i = 0; i < s->mesh_rank; i++) {
    int64_t n = s->mesh_shape[i];
    if (n < 1 || !cairn__mul_ok(*devices, n, devices) || *devices > MAX_DEVICES)
      return cairn_fail(err, CAIRN_INVALID, "mesh of %" PRId64 " on axis %d", n,
                        i);
    if (s->axis_names[i] == NULL)
      return cairn_fail(err, CAIRN_INVALID, "mesh axis %d has no name", i);
    for (int j = 0; j < i; j++)
      if (strcmp(s->axis_names[i], s->axis_names[j]) == 0)
        return cairn_fail(err, CAIRN_INVALID, "two mesh axes '%.100s'",
                          s->axis_names[i]);
  }
  if (s->device_ids == NULL)
    return cairn_fail(err, CAIRN_INVALID, "no device ids");
  return CAIRN_OK;
}

static int axis_named(const cairn_sharding_t *s, const char *name, size_t n) {
  for (int i = 0; i < s->mesh_rank; i++)
    if (strlen(s->axis_names[i]) == n && memcmp(s->axis_names[i], name, n) == 0)
      return i;
  return -1;
}

/* One dimension's mesh axes, names joined by ','. `used` has a bit an axis. */
static cairn_code_t check_entry(const cairn_sharding_t *s, const char *entry,
                                uint32_t *used, cairn_error_t *err) {
  for (const char *p = entry;; p++) {
    size_t n = strcspn(p, ",");
    int axis = axis_named(s, p, n);
    if (axis < 0)
      return cairn_fail(err, CAIRN_INVALID, "no mesh axis '%.*s'",
                        (int)(n < 100 ? n : 100), p);
    if (*used & (1u << axis))
      return cairn_fail(err, CAIRN_INVALID, "mesh axis '%.100s' used twice",
                        s->axis_names[axis]);
    *used |= 1u << axis;
    p += n;
    if (*p == '\0') return CAIRN_OK;
  }
}

static cairn_code_t check_spec(const cairn_sharding_t *s, int rank,
                               cairn_error_t *err) {
  uint32_t used = 0;
  if (s->spec_rank < 0 || s->spec_rank > rank)
    return cairn_fail(err, CAIRN_INVALID, "%d entries for %d dimensions",
                      s->spec_rank, rank);
  if (s->spec_rank > 0 && s->spec == NULL)
    return cairn_fail(err, CAIRN_INVALID, "%d entries at NULL", s->spec_rank);
  for (int i = 0; i < s->spec_rank; i++) {
    if (s->spec[i] == NULL) continue;
    cairn_code_t rc = check_entry(s, s->spec[i], &used, err);
    if (rc != CAIRN_OK) return rc;
  }
  return CAIRN_OK;
}

/* NULL: no memory. Strings that are NULL stay so. */
static const char *const *copy_strings(cairn_tree_t *t, const char *const *v,
                                       int n) {
  const char **out =
      cairn__tree_alloc(t, (size_t)n * sizeof *out, sizeof(void *));
  for (int i = 0; i < n && out != NULL; i++) {
    if (v[i] == NULL) continue;
    out[i] = cairn__tree_copy(t, v[i], strlen(v[i]) + 1);
    if (out[i] == NULL) return NULL;
  }
  return out;
}

cairn_code_t cairn__sharding_copy(cairn_tree_t *t, const cairn_sharding_t *in,
                                  int rank, const cairn_sharding_t **out,
                                  cairn_error_t *err) {
  int64_t devices;
  cairn_code_t rc = check_mesh(in, &devices, err);
  if (rc != CAIRN_OK) return rc;
  if ((rc = check_spec(in, rank, err)) != CAIRN_OK) return rc;
  cairn_sharding_t *s = cairn__tree_copy(t, in, sizeof *in);
  if (s == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "copy");
  s->mesh_shape = cairn__tree_copy(
      t, in->mesh_shape, (size_t)in->mesh_rank * sizeof *in->mesh_shape);
  s->device_ids = cairn__tree_copy(t, in->device_ids,
                                   (size_t)devices * sizeof *in->device_ids);
  s->axis_names = copy_strings(t, in->axis_names, in->mesh_rank);
  s->spec = copy_strings(t, in->spec, in->spec_rank);
  if (s->mesh_shape == NULL || s->device_ids == NULL || s->axis_names == NULL ||
      s->spec == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "copy");
  *out = s;
  return CAIRN_OK;
}
