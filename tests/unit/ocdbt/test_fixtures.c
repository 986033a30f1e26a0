/* Every database among the fixtures, file by file: manifests and nodes decode,
 * encode to the same body again, and statistics agree with what is below. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ocdbt/pack.h"
#include "unit/ocdbt/objects.h"

static size_t manifests, nodes, version_nodes, keys, rebuilt;

static void expect_same_body(const char *where, uint32_t magic,
                             cairn_bytes_t in, const cairn_buf_t *again) {
  cairn_buf_t plain = {0}, plain2 = {0};
  cairn_bytes_t a = {0}, b = {0};
  cairn_error_t err = {0};
  cr_assert_eq(
      cairn__frame_open(in, magic, CAIRN__OCDBT_MAX_BODY, &plain, &a, &err),
      CAIRN_OK);
  cr_assert_eq(cairn__frame_open(cairn_buf_bytes(again), magic,
                                 CAIRN__OCDBT_MAX_BODY, &plain2, &b, &err),
               CAIRN_OK, "%s: %s", where, err.message);
  cr_expect(cairn__bytes_eq(a, b), "%s: encoded otherwise", where);
  cairn_buf_reset(&plain);
  cairn_buf_reset(&plain2);
}

static bool read_at(const char *root, const cairn__ocdbt_loc_t *l,
                    cairn_buf_t *out) {
  char path[2048];
  cr_expect_eq(cairn__ocdbt_path_check(&l->file, NULL), CAIRN_OK);
  snprintf(path, sizeof path, "%s/%.*s%.*s", root, (int)l->file.base.n,
           (const char *)l->file.base.p, (int)l->file.rel.n,
           (const char *)l->file.rel.p);
  FILE *f = fopen(path, "rb");
  if (f == NULL) return false;
  out->n = 0;
  cr_assert(cairn_buf_reserve(out, l->length));
  cr_assert_eq(fseek(f, (long)l->offset, SEEK_SET), 0);
  out->n = fread(out->p, 1, l->length, f);
  fclose(f);
  return out->n == l->length;
}

static cairn__ocdbt_stats_t check_node(const char *root,
                                       const cairn__ocdbt_loc_t *l,
                                       uint8_t height,
                                       const cairn__ocdbt_config_t *config) {
  cairn_error_t err = {0};
  cairn_buf_t bytes = {0}, again = {0};
  cairn__ocdbt_node_t n;
  cr_assert(read_at(root, l, &bytes), "%s: node is not there", root);
  cr_assert_eq(
      cairn__ocdbt_node_decode(cairn_buf_bytes(&bytes), l->file.base, &n, &err),
      CAIRN_OK, "%s: %s", root, err.message);
  cr_expect_eq(n.height, height);
  nodes++;
  cairn__ocdbt_stats_t sum = {0, l->length, 0};
  for (size_t i = 0; i < n.n; i++) {
    const cairn__ocdbt_entry_t *e = &n.entries[i];
    if (height == 0) {
      sum.num_keys++;
      if (!e->is_inline) sum.num_indirect_value_bytes += e->loc.length;
      continue;
    }
    cairn__ocdbt_stats_t s =
        check_node(root, &e->loc, (uint8_t)(height - 1), config);
    cr_expect(memcmp(&s, &e->stats, sizeof s) == 0, "%s: statistics", root);
    sum.num_keys += s.num_keys;
    sum.num_tree_bytes += s.num_tree_bytes;
    sum.num_indirect_value_bytes += s.num_indirect_value_bytes;
  }
  /* Encoded at the place where it was, its rows carry its base path already;
   * only below base path "" do they come out as they went in. */
  if (l->file.base.n == 0) {
    cr_assert_eq(cairn__ocdbt_node_encode(config, n.height, n.entries, n.n,
                                          &again, &err),
                 CAIRN_OK, "%s", err.message);
    expect_same_body(root, CAIRN__OCDBT_BTREE_NODE, cairn_buf_bytes(&bytes),
                     &again);
  }
  cairn__ocdbt_node_free(&n);
  cairn_buf_reset(&bytes);
  cairn_buf_reset(&again);
  return sum;
}

static void check_versions(const char *root, const cairn__ocdbt_version_t *v,
                           size_t n, const cairn__ocdbt_config_t *config) {
  for (size_t i = 0; i < n; i++) {
    if (cairn__ocdbt_loc_missing(&v[i].root)) continue;
    cairn__ocdbt_stats_t s =
        check_node(root, &v[i].root, v[i].root_height, config);
    cr_expect(memcmp(&s, &v[i].stats, sizeof s) == 0, "%s: statistics of root",
              root);
    keys += s.num_keys;
  }
}

static void check_version_ref(const char *root,
                              const cairn__ocdbt_version_ref_t *r,
                              const cairn__ocdbt_config_t *config) {
  cairn_error_t err = {0};
  cairn_buf_t bytes = {0}, again = {0};
  cairn__ocdbt_version_node_t n;
  cr_assert(read_at(root, &r->loc, &bytes));
  cr_assert_eq(cairn__ocdbt_version_node_decode(cairn_buf_bytes(&bytes),
                                                r->loc.file.base, &n, &err),
               CAIRN_OK, "%s: %s", root, err.message);
  version_nodes++;
  cr_expect_eq(n.height, r->height);
  check_versions(root, n.versions, n.num_versions, config);
  for (size_t i = 0; i < n.num_children; i++)
    check_version_ref(root, &n.children[i], config);
  cr_assert_eq(cairn__ocdbt_version_node_encode(config, &n, &again, &err),
               CAIRN_OK);
  expect_same_body(root, CAIRN__OCDBT_VERSION_NODE, cairn_buf_bytes(&bytes),
                   &again);
  cairn__ocdbt_version_node_free(&n);
  cairn_buf_reset(&bytes);
  cairn_buf_reset(&again);
}

/* --- the same tree from its entries --- */

struct collected {
  cairn__entries_t entries;
  cairn__ocdbt_node_t nodes[4096]; /* entries point into them */
  size_t n;
};

static void read_node(const char *root, const cairn__ocdbt_loc_t *l,
                      cairn__ocdbt_node_t *n) {
  cairn_buf_t bytes = {0};
  cr_assert(read_at(root, l, &bytes));
  cr_assert_eq(
      cairn__ocdbt_node_decode(cairn_buf_bytes(&bytes), l->file.base, n, NULL),
      CAIRN_OK);
  cairn_buf_reset(&bytes);
}

/* Full keys: implicit prefixes put back. */
static void collect(const char *root, const cairn__ocdbt_loc_t *l,
                    cairn_bytes_t implicit, struct collected *out) {
  cr_assert_lt(out->n, 4096);
  cairn__ocdbt_node_t *n = &out->nodes[out->n++];
  read_node(root, l, n);
  for (size_t i = 0; i < n->n; i++) {
    const cairn__ocdbt_entry_t *e = &n->entries[i];
    uint8_t *full =
        cairn__arena_alloc(&out->entries.arena, implicit.n + e->key.n, 1);
    if (implicit.n != 0) memcpy(full, implicit.p, implicit.n);
    if (e->key.n != 0) memcpy(full + implicit.n, e->key.p, e->key.n);
    if (n->height > 0) {
      collect(root, &e->loc, cairn_bytes(full, implicit.n + e->subtree_prefix),
              out);
      continue;
    }
    cairn__ocdbt_entry_t *copy = cairn__entries_add(&out->entries);
    *copy = *e;
    copy->key = cairn_bytes(full, implicit.n + e->key.n);
  }
}

/* Leaves to the byte; above them everything but where the children lie, which
 * depends on how well libzstd compressed them. */
static void expect_same_tree(const char *root, const cairn__ocdbt_loc_t *was,
                             const cairn__pack_t *pack,
                             const cairn__ocdbt_loc_t *is) {
  cairn__ocdbt_node_t a, b;
  cairn_buf_t own = {.p = pack->bytes.p + is->offset, .n = is->length};
  read_node(root, was, &a);
  cr_assert_eq(
      cairn__ocdbt_node_decode(cairn_buf_bytes(&own), is->file.base, &b, NULL),
      CAIRN_OK);
  cr_assert_eq(a.height, b.height, "%s", root);
  cr_assert_eq(a.n, b.n, "%s: %zu entries, want %zu", root, b.n, a.n);
  for (size_t i = 0; i < a.n && a.height > 0; i++) {
    cr_expect(cairn__bytes_eq(a.entries[i].key, b.entries[i].key));
    cr_expect_eq(a.entries[i].subtree_prefix, b.entries[i].subtree_prefix);
    cr_expect_eq(a.entries[i].stats.num_keys, b.entries[i].stats.num_keys);
    expect_same_tree(root, &a.entries[i].loc, pack, &b.entries[i].loc);
  }
  if (a.height == 0) {
    cairn_buf_t object = {0};
    cr_assert(read_at(root, was, &object));
    expect_same_body(root, CAIRN__OCDBT_BTREE_NODE, cairn_buf_bytes(&object),
                     &own);
    cairn_buf_reset(&object);
  }
  cairn__ocdbt_node_free(&a);
  cairn__ocdbt_node_free(&b);
}

static void rebuild_from(const char *root, const cairn__ocdbt_manifest_t *m,
                         struct collected *all) {
  const cairn__ocdbt_version_t *v = &m->versions[0];
  cairn__place_t place = {0};
  cairn__pack_t pack = {.place = &place};
  cairn__ocdbt_version_t out;
  cairn_error_t err = {0};
  uint32_t file;
  uint64_t offset;
  cr_assert(cairn__place_next(&place, 0, &file, &offset));
  memcpy(place.files[0]->name, v->root.file.rel.p, CAIRN__DATA_FILE_NAME);
  cr_assert_eq(cairn__tree_write(&m->config, all->entries.e, all->entries.n,
                                 &pack, &out, &err),
               CAIRN_OK, "%s", err.message);
  cr_expect_eq(out.root_height, v->root_height);
  cr_expect_eq(out.stats.num_keys, v->stats.num_keys);
  expect_same_tree(root, &v->root, &pack, &out.root);
  rebuilt++;
  cairn__pack_reset(&pack);
  cairn__place_reset(&place);
}

/* What one commit made of entries, our rules must make of them too. */
static void rebuild(const char *root, const cairn__ocdbt_manifest_t *m) {
  static struct collected all;
  const cairn__ocdbt_version_t *v = &m->versions[0];
  if (m->num_versions != 1 || v->generation != 1 ||
      cairn__ocdbt_loc_missing(&v->root) ||
      v->root.file.rel.n != CAIRN__DATA_FILE_NAME)
    return;
  collect(root, &v->root, cairn_bytes(NULL, 0), &all);
  rebuild_from(root, m, &all);
  cairn__entries_reset(&all.entries);
  while (all.n > 0) cairn__ocdbt_node_free(&all.nodes[--all.n]);
}

static void check_database(const char *root) {
  char path[2048];
  cairn_error_t err = {0};
  cairn_buf_t bytes = {0}, again = {0};
  cairn__ocdbt_manifest_t m;
  snprintf(path, sizeof path, "%s/manifest.ocdbt", root);
  if (!read_file(path, &bytes)) return;
  cr_assert_eq(cairn__ocdbt_manifest_decode(cairn_buf_bytes(&bytes), &m, &err),
               CAIRN_OK, "%s: %s", path, err.message);
  cr_assert_eq(cairn__ocdbt_manifest_encode(&m, &again, &err), CAIRN_OK);
  expect_same_body(path, CAIRN__OCDBT_MANIFEST, cairn_buf_bytes(&bytes),
                   &again);
  manifests++;
  check_versions(root, m.versions, m.num_versions, &m.config);
  for (size_t i = 0; i < m.num_nodes; i++)
    check_version_ref(root, &m.nodes[i], &m.config);
  if (m.config.manifest_kind == 0) rebuild(root, &m);
  cairn__ocdbt_manifest_free(&m);
  cairn_buf_reset(&bytes);
  cairn_buf_reset(&again);
}

static void visit(const char *dir) {
  DIR *d = opendir(dir);
  if (d == NULL) return;
  check_database(dir);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    char path[2048];
    struct stat st;
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) visit(path);
  }
  closedir(d);
}

/* Floors a little below what `find -name manifest.ocdbt` counted (177), so that
 * a walk that finds next to nothing does not pass. */
Test(fixtures, all_databases_decode_and_encode_again) {
  visit(CAIRN_FIXTURES);
  if (manifests == 0) cr_skip_test("no fixtures at %s", CAIRN_FIXTURES);
  cr_expect_geq(manifests, 170);
  cr_expect_geq(nodes, 1000);
  cr_expect_geq(version_nodes, 1);
  cr_expect_geq(rebuilt, 76, "%zu rebuilt", rebuilt);
}
