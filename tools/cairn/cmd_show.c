/* cairn show: what a step holds, leaf by leaf.
 *
 * Leaves are printed in groups. Of a group, what is small and wanted (the
 * values of scalars, all arrays if they are to be hashed) is read at once;
 * larger leaves are hashed as a stream, alone. */
#include <stdio.h>
#include <stdlib.h>

#include "element.h"
#include "leaf.h"
#include "show.h"
#include "tool.h"

/* --- reading --- */

struct group {
  const cairn_leaf_info_t *leaves;
  size_t n;
  bool *want; /* read with the others */
  void **data;
};

static bool hash_piece(void *arg, void *elements, size_t n) {
  show_t *s = ((void **)arg)[0];
  const cairn_leaf_info_t *leaf = ((void **)arg)[1];
  elements_to_stored(leaf->dtype, elements, n);
  hash_put(s->hash, elements, n * cairn_dtype_size(leaf->dtype));
  return true;
}

/* "rank_3" is blob 3; the only one of an item of type bytes is blob 0. */
static cairn_code_t hash_blob(show_t *s, const cairn_leaf_info_t *leaf,
                              cairn_error_t *err) {
  cairn_blob_t blob;
  long long index = 0;
  char name[32];
  snprintf(name, sizeof name, "%.*s", (int)leaf->name.n,
           (const char *)leaf->name.p);
  if (sscanf(name, "rank_%lld", &index) != 1) index = 0;
  cairn_code_t rc = cairn_step_read_blob(s->step, s->item, index, &blob, err);
  if (rc != CAIRN_OK) return rc;
  hash_put(s->hash, blob.out, blob.out_n);
  free(blob.out);
  return CAIRN_OK;
}

static cairn_code_t hash_leaf(show_t *s, const struct group *g, size_t i,
                              char out[65], cairn_error_t *err) {
  const cairn_leaf_info_t *leaf = &g->leaves[i];
  void *arg[] = {s, (void *)leaf};
  cairn_code_t rc = CAIRN_OK;
  if (!s->hashes || !leaf->has_data) return CAIRN_OK;
  if (s->blobs) {
    rc = hash_blob(s, leaf, err);
  } else if (!g->want[i]) {
    rc = leaf_stream(s->step, s->item, leaf, hash_piece, arg, err);
  } else {
    elements_to_stored(leaf->dtype, g->data[i], (size_t)leaf_elements(leaf));
    hash_put(s->hash, g->data[i], (size_t)leaf->bytes);
  }
  return rc == CAIRN_OK ? hash_take(s->hash, out, err) : rc;
}

static cairn_code_t read_leaf(show_t *s, const struct group *g, size_t i,
                              cairn_error_t *err) {
  const cairn_leaf_info_t *leaf = &g->leaves[i];
  facts_t f = {0};
  cairn_buf_t value = {0};
  /* Hashing changes the elements: the text of a value comes first. */
  if (leaf_is_string(leaf))
    show_string(s, leaf, &value);
  else if (g->want[i] && leaf_is_scalar(leaf) && s->json)
    json_element(&value, leaf->dtype, g->data[i]);
  else if (g->want[i] && leaf_is_scalar(leaf))
    put_element(&value, leaf->dtype, g->data[i]);
  f.value = cairn_buf_bytes(&value);
  cairn_code_t rc = hash_leaf(s, g, i, f.hash, err);
  if (rc == CAIRN_OK) show_leaf(s, leaf, &f);
  cairn_buf_reset(&value);
  return rc;
}

static cairn_code_t show_group(show_t *s, struct group *g, cairn_error_t *err) {
  cairn_tree_t *tree;
  cairn_code_t rc = leaves_read(s->step, s->item, g->leaves, g->want, g->n,
                                &tree, g->data, err);
  for (size_t i = 0; rc == CAIRN_OK && i < g->n; i++)
    rc = read_leaf(s, g, i, err);
  cairn_tree_free(tree);
  return rc;
}

static bool is_wanted(const show_t *s, const cairn_leaf_info_t *leaf) {
  if (s->blobs) return false;
  return leaf_is_scalar(leaf) ||
         (s->hashes && leaf->has_data && leaf->bytes <= LEAF_SMALL);
}

static cairn_code_t show_leaves(show_t *s, const cairn_item_info_t *info,
                                struct group *g, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t at = 0; rc == CAIRN_OK && at < info->n; at += g->n) {
    int64_t bytes = 0;
    g->leaves = info->leaves + at;
    for (g->n = 0; at + g->n < info->n && g->n < LEAVES_TOGETHER_N &&
                   bytes <= LEAVES_TOGETHER;
         g->n++) {
      g->want[g->n] = is_wanted(s, &g->leaves[g->n]);
      if (g->want[g->n]) bytes += g->leaves[g->n].bytes;
    }
    rc = show_group(s, g, err);
  }
  return rc;
}

static cairn_code_t show_tree(show_t *s, const cairn_item_info_t *info,
                              cairn_error_t *err) {
  size_t n = info->n < LEAVES_TOGETHER_N ? info->n : LEAVES_TOGETHER_N;
  struct group g = {.want = calloc(n + 1, sizeof *g.want),
                    .data = calloc(n + 1, sizeof *g.data)};
  cairn_code_t rc = CAIRN_OK;
  if (g.want == NULL || g.data == NULL)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  if (rc == CAIRN_OK) rc = show_leaves(s, info, &g, err);
  free(g.want);
  free(g.data);
  return rc;
}

/* --- items --- */

static cairn_code_t show_known(show_t *s, const cairn_item_info_t *info,
                               cairn_error_t *err) {
  bool document = strcmp(info->type, "json") == 0;
  cairn_code_t rc = CAIRN_OK;
  s->blobs = !document && strcmp(info->type, "pytree") != 0;
  show_item_begin(s, info);
  if (document)
    rc = show_document(s, info->value, err);
  else if (info->n > 0)
    rc = show_tree(s, info, err);
  show_item_end(s, info);
  return rc;
}

/* An item of a kind that we do not know is shown as such, and the others are
 * shown all the same. */
static int show_items(show_t *s) {
  int status = EXIT_FINE;
  for (size_t i = 0; i < cairn_step_num_items(s->step); i++) {
    const cairn_item_info_t *info;
    cairn_error_t err = {0};
    s->item = cairn_step_item(s->step, i);
    cairn_code_t rc = cairn_step_inspect(s->step, s->item, &info, &err);
    if (rc == CAIRN_OK)
      rc = show_known(s, info, &err);
    else if (rc == CAIRN_UNSUPPORTED)
      show_unknown(s, &err);
    if (rc == CAIRN_OK) continue;
    status = tool_failed(&err);
    if (rc != CAIRN_UNSUPPORTED) break;
  }
  return status;
}

static int show(cairn_runtime_t *rt, const char *path, bool json, bool hashes) {
  show_t s = {.json = json, .hashes = hashes};
  cairn_error_t err = {0};
  int status = EXIT_FINE;
  if (hashes && (s.hash = hash_new(&err)) == NULL) return tool_failed(&err);
  if (cairn_step_open(rt, path, &s.step, &err) == CAIRN_OK) {
    show_begin(&s, path);
    status = show_items(&s);
    show_end(&s);
  } else {
    status = tool_failed(&err);
  }
  cairn_step_close(s.step);
  hash_free(s.hash);
  return status;
}

static int run(int argc, char **argv) {
  enum { OPT_HASH = OPT_FIRST_OWN };
  static const struct option opts[] = {
      OPTS_COMMON, {"hash", no_argument, NULL, OPT_HASH}, {0}};
  bool json = false, hashes = false;
  int status = EXIT_FINE, o;
  while ((o = tool_option(&cmd_show, argc, argv, opts, &status)) != -1) {
    if (o == 0) return status;
    if (o == OPT_JSON) json = true;
    if (o == OPT_HASH) hashes = true;
  }
  if (argc - optind != 1) return tool_usage(&cmd_show, "one PATH is needed");
  cairn_runtime_t *rt = tool_runtime(0, &status);
  if (rt == NULL) return status;
  status = show(rt, argv[optind], json, hashes);
  cairn_runtime_close(rt, NULL);
  return status;
}

const command_t cmd_show = {
    .name = "show",
    .args = "[--hash] [--json] PATH",
    .summary = "shows what a step holds",
    .help =
        "Shows the leaves of each item: name, kind, type, shape, chunk\n"
        "shape, codecs, bytes and stored bytes, the value of scalars and\n"
        "strings; of a JSON item the document. --hash reads all arrays and\n"
        "adds the SHA-256 of each (C order, little-endian, one byte an\n"
        "element for types below a byte).\n",
    .run = run,
};
