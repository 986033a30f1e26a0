/* The worked examples: decoded to what their comments say, encoded to the same
 * bytes. */
#include <criterion/criterion.h>

#include "unit/ocdbt/objects.h"

#define T UINT64_C(1700000000123456789)
#define B_FILE "d/00112233445566778899aabbccddeeff"
#define C1_FILE "d/000000000000000000000000000000c1"

static void same(const char *what, cairn_bytes_t got, cairn_bytes_t want) {
  cr_expect_eq(got.n, want.n, "%s: %zu bytes, want %zu", what, got.n, want.n);
  for (size_t i = 0; i < got.n && i < want.n; i++)
    if (got.p[i] != want.p[i]) {
      cr_expect(false, "%s: byte %zu is %02x, want %02x", what, i, got.p[i],
                want.p[i]);
      return;
    }
}

static void is(cairn_bytes_t got, const char *want) {
  cr_expect(cairn__bytes_eq(got, str(want)), "\"%.*s\", want \"%s\"",
            (int)got.n, (const char *)got.p, want);
}

static void manifest_round_trip(const char *name) {
  cairn_error_t err = {0};
  cairn__ocdbt_manifest_t m;
  cairn_buf_t in = golden(name), out = {0};
  cr_assert_eq(cairn__ocdbt_manifest_decode(cairn_buf_bytes(&in), &m, &err),
               CAIRN_OK, "%s: %s", name, err.message);
  cr_assert_eq(cairn__ocdbt_manifest_encode(&m, &out, &err), CAIRN_OK, "%s",
               err.message);
  same(name, cairn_buf_bytes(&out), cairn_buf_bytes(&in));
  cairn__ocdbt_manifest_free(&m);
  cairn_buf_reset(&in);
  cairn_buf_reset(&out);
}

static const cairn__ocdbt_config_t plain = {.version_tree_arity_log2 = 4};

static void node_round_trip(const char *name, size_t at, size_t n) {
  cairn_error_t err = {0};
  cairn__ocdbt_node_t node;
  cairn_buf_t in = golden(name), out = {0};
  cairn_bytes_t piece = cairn_bytes(in.p + at, n);
  cr_assert_eq(cairn__ocdbt_node_decode(piece, str(""), &node, &err), CAIRN_OK,
               "%s: %s", name, err.message);
  cr_assert_eq(cairn__ocdbt_node_encode(&plain, node.height, node.entries,
                                        node.n, &out, &err),
               CAIRN_OK);
  same(name, cairn_buf_bytes(&out), piece);
  cairn__ocdbt_node_free(&node);
  cairn_buf_reset(&in);
  cairn_buf_reset(&out);
}

static void version_node_round_trip(const char *name, size_t at, size_t n) {
  cairn_error_t err = {0};
  cairn__ocdbt_version_node_t node;
  cairn_buf_t in = golden(name), out = {0};
  cairn_bytes_t piece = cairn_bytes(in.p + at, n);
  cr_assert_eq(cairn__ocdbt_version_node_decode(piece, str(""), &node, &err),
               CAIRN_OK, "%s: %s", name, err.message);
  cr_assert_eq(cairn__ocdbt_version_node_encode(&plain, &node, &out, &err),
               CAIRN_OK);
  same(name, cairn_buf_bytes(&out), piece);
  cairn__ocdbt_version_node_free(&node);
  cairn_buf_reset(&in);
  cairn_buf_reset(&out);
}

Test(worked, all_encode_to_the_bytes_they_came_from) {
  manifest_round_trip("A_manifest");
  manifest_round_trip("B_manifest");
  manifest_round_trip("C_child_manifest");
  manifest_round_trip("C_parent_manifest");
  manifest_round_trip("D_manifest");
  manifest_round_trip("E_manifest");
  manifest_round_trip("F_manifest");
  node_round_trip("B_data", 0, 30);
  node_round_trip("C_child_data", 32, 87);
  node_round_trip("C_parent_data", 0, 103);
  node_round_trip("D_data", 0, 25);
  node_round_trip("D_data", 25, 26);
  node_round_trip("D_data", 51, 78);
  version_node_round_trip("F_data", 0, 92);
  version_node_round_trip("F_data", 92, 71);
}

static cairn__ocdbt_manifest_t open_manifest(const char *name) {
  cairn_error_t err = {0};
  cairn__ocdbt_manifest_t m;
  cairn_buf_t in = golden(name);
  cr_assert_eq(cairn__ocdbt_manifest_decode(cairn_buf_bytes(&in), &m, &err),
               CAIRN_OK, "%s", err.message);
  cairn_buf_reset(&in); /* the decoded object does not point into it */
  return m;
}

static cairn__ocdbt_node_t open_node(const char *name, size_t at, size_t n,
                                     const char *transitive) {
  cairn_error_t err = {0};
  cairn__ocdbt_node_t node;
  cairn_buf_t in = golden(name);
  cr_assert_eq(cairn__ocdbt_node_decode(cairn_bytes(in.p + at, n),
                                        str(transitive), &node, &err),
               CAIRN_OK, "%s", err.message);
  cairn_buf_reset(&in);
  return node;
}

static void is_empty_database(const cairn__ocdbt_manifest_t *m) {
  cr_expect_eq(m->config.uuid[15], 15);
  cr_expect_eq(m->config.manifest_kind, 0);
  cr_expect_eq(m->config.max_inline_value_bytes, 100);
  cr_expect_eq(m->config.max_decoded_node_bytes, 8388608);
  cr_expect_eq(m->config.version_tree_arity_log2, 4);
  cr_assert_eq(m->num_versions, 1);
  cr_expect_eq(m->versions[0].generation, 1);
  cr_expect(cairn__ocdbt_loc_missing(&m->versions[0].root));
  cr_expect_eq(m->versions[0].commit_time, T);
  cr_expect_eq(m->num_nodes, 0);
}

Test(worked, a_is_an_empty_database_plain_and_compressed) {
  cairn__ocdbt_manifest_t a = open_manifest("A_manifest");
  cairn__ocdbt_manifest_t z = open_manifest("Az_manifest");
  is_empty_database(&a);
  is_empty_database(&z);
  cr_expect(!a.config.zstd);
  cr_expect(z.config.zstd);
  cr_expect_eq(z.config.zstd_level, 0);
  cairn__ocdbt_manifest_free(&a);
  cairn__ocdbt_manifest_free(&z);
}

/* The frame depends on the version of libzstd; its content does not. */
Test(worked, compressed_manifest_decodes_to_itself) {
  cairn_error_t err = {0};
  cairn__ocdbt_manifest_t z = open_manifest("Az_manifest"), again;
  cairn_buf_t out = {0};
  cr_assert_eq(cairn__ocdbt_manifest_encode(&z, &out, &err), CAIRN_OK);
  cr_expect_eq(out.p[13], 1);
  cr_assert_eq(
      cairn__ocdbt_manifest_decode(cairn_buf_bytes(&out), &again, &err),
      CAIRN_OK, "%s", err.message);
  is_empty_database(&again);
  cr_expect(again.config.zstd);
  cairn__ocdbt_manifest_free(&z);
  cairn__ocdbt_manifest_free(&again);
  cairn_buf_reset(&out);
}

Test(worked, b_has_two_generations_and_one_inline_key) {
  cairn__ocdbt_manifest_t m = open_manifest("B_manifest");
  cr_assert_eq(m.num_versions, 2);
  cr_expect(cairn__ocdbt_loc_missing(&m.versions[0].root));
  const cairn__ocdbt_version_t *v = &m.versions[1];
  is(v->root.file.base, "");
  is(v->root.file.rel, B_FILE);
  cr_expect_eq(v->generation, 2);
  cr_expect_eq(v->root.offset, 0);
  cr_expect_eq(v->root.length, 30);
  cr_expect_eq(v->stats.num_keys, 1);
  cr_expect_eq(v->stats.num_tree_bytes, 30);
  cr_expect_eq(v->commit_time, T + 1000);
  cairn__ocdbt_node_t n = open_node("B_data", 0, 30, "");
  cr_assert_eq(n.n, 1);
  is(n.entries[0].key, "a");
  is(n.entries[0].value, "value");
  cr_expect(n.entries[0].is_inline);
  cairn__ocdbt_node_free(&n);
  cairn__ocdbt_manifest_free(&m);
}

/* Reached through its base path, the child's leaf says what the parent's says.
 */
Test(worked, c_child_below_its_base_path_equals_the_parent) {
  cairn__ocdbt_node_t c = open_node("C_child_data", 32, 87, "ocdbt.process_0/");
  cairn__ocdbt_node_t p = open_node("C_parent_data", 0, 103, "");
  cr_assert_eq(c.n, 3);
  cr_assert_eq(p.n, 3);
  is(c.entries[0].key, "p/w/.zarray");
  is(c.entries[0].value, "{}");
  for (size_t i = 1; i < 3; i++) {
    const cairn__ocdbt_loc_t *a = &c.entries[i].loc, *b = &p.entries[i].loc;
    is(a->file.base, "ocdbt.process_0/");
    is(b->file.base, "ocdbt.process_0/");
    is(a->file.rel, C1_FILE);
    is(b->file.rel, C1_FILE);
    cr_expect_eq(a->offset, 16 * (i - 1));
    cr_expect_eq(b->offset, 16 * (i - 1));
    cr_expect_eq(a->length, 16);
  }
  cairn__ocdbt_node_free(&c);
  cairn__ocdbt_node_free(&p);
}

Test(worked, d_root_holds_keys_and_its_leaves_an_empty_one) {
  cairn__ocdbt_node_t root = open_node("D_data", 51, 78, "");
  cairn__ocdbt_node_t leaf = open_node("D_data", 25, 26, "");
  cr_expect_eq(root.height, 1);
  cr_assert_eq(root.n, 2);
  is(root.entries[0].key, "k/a");
  is(root.entries[1].key, "k/b");
  cr_expect_eq(root.entries[1].subtree_prefix, 3);
  cr_expect_eq(root.entries[1].loc.offset, 25);
  cr_expect_eq(root.entries[1].stats.num_tree_bytes, 26);
  is(leaf.entries[0].key, "");
  is(leaf.entries[0].value, "22");
  cairn__ocdbt_node_free(&root);
  cairn__ocdbt_node_free(&leaf);
}

Test(worked, f_version_tree_has_one_node_of_height_one) {
  cairn__ocdbt_manifest_t m = open_manifest("F_manifest");
  cr_assert_eq(m.num_nodes, 1);
  cr_expect_eq(m.versions[0].generation, 3);
  cr_expect_eq(m.nodes[0].generation, 2);
  cr_expect_eq(m.nodes[0].height, 1);
  cr_expect_eq(m.nodes[0].num_generations, 2);
  cr_expect_eq(m.nodes[0].commit_time, T);
  cr_expect_eq(m.nodes[0].loc.offset, 92);
  cairn_error_t err = {0};
  cairn__ocdbt_version_node_t n;
  cairn_buf_t data = golden("F_data");
  cr_assert_eq(cairn__ocdbt_version_node_decode(cairn_bytes(data.p + 92, 71),
                                                str(""), &n, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert_eq(n.num_children, 1);
  cr_expect_eq(n.children[0].height, 0);
  cr_expect_eq(n.children[0].generation, 2);
  cairn__ocdbt_version_node_free(&n);
  cairn__ocdbt_manifest_free(&m);
  cairn_buf_reset(&data);
}
