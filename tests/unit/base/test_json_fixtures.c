/* The JSON files of checkpoints that Orbax wrote, read and written again: the
 * same bytes. */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

#include "base/base.h"
#include "cairn/json.h"

static const struct {
  const char *pattern;
  cairn_json_dialect_t dialect;
} kinds[] = {
    {"*/_METADATA", CAIRN_JSON_PYTHON},
    {"*/_CHECKPOINT_METADATA", CAIRN_JSON_PYTHON},
    {"*/_ROOT_METADATA", CAIRN_JSON_PYTHON},
    {"*/array_metadatas/process_*", CAIRN_JSON_PYTHON},
    {"*/.zarray", CAIRN_JSON_COMPACT},
    {"*/zarr.json", CAIRN_JSON_COMPACT},
    {"*/_strings.json", CAIRN_JSON_COMPACT},
    {"*/_sharding", CAIRN_JSON_COMPACT},
};

static int files;

static cairn_buf_t contents(const char *path) {
  cairn_buf_t b = {0};
  char piece[65536];
  size_t n;
  FILE *f = fopen(path, "rb");
  cr_assert(f != NULL, "cannot open %s", path);
  while ((n = fread(piece, 1, sizeof piece, f)) > 0)
    cairn_buf_put(&b, piece, n);
  fclose(f);
  cr_assert_not(b.failed);
  return b;
}

static bool comes_back(const char *path, const cairn_buf_t *text,
                       cairn_json_dialect_t d) {
  cairn_json_doc_t doc;
  cairn_error_t err = {0};
  cairn_buf_t out = {0};
  cr_assert_eq(cairn_json_parse(cairn_buf_bytes(text), NULL, &doc, &err),
               CAIRN_OK, "%s: %s", path, err.message);
  cairn_json_emit(doc.root, d, &out);
  bool equal = cairn__bytes_eq(cairn_buf_bytes(text), cairn_buf_bytes(&out));
  cairn_json_free(&doc);
  cairn_buf_reset(&out);
  return equal;
}

/* A partial save of the newer interface merges _sharding in Python and so
 * writes it as Python does (orbax.md 1.0). */
static bool is_exception(const char *path) {
  return fnmatch("*/f11*/_sharding", path, 0) == 0;
}

static int visit(const char *path, const struct stat *st, int type,
                 struct FTW *ftw) {
  (void)st, (void)ftw;
  /* j: checkpoints damaged on purpose, some with empty files. */
  if (type != FTW_F || fnmatch("*/orbax/j*", path, 0) == 0) return 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (fnmatch(kinds[i].pattern, path, 0) != 0) continue;
    cairn_buf_t text = contents(path);
    bool ok =
        comes_back(path, &text, kinds[i].dialect) ||
        (is_exception(path) && comes_back(path, &text, CAIRN_JSON_PYTHON));
    cr_expect(ok, "%s does not come back", path);
    cairn_buf_reset(&text);
    files++;
  }
  return 0;
}

Test(json_fixtures, files_of_orbax_come_back_byte_for_byte) {
  if (access(CAIRN_FIXTURES "/orbax", R_OK) != 0)
    cr_skip("the fixtures are not there: " CAIRN_FIXTURES "/orbax");
  cr_assert_eq(nftw(CAIRN_FIXTURES "/orbax", visit, 16, FTW_PHYS), 0);
  cr_expect_gt(files, 100);
}
