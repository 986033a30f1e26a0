/* What cairn_zarr_make writes is what TensorStore writes for Orbax: compared
 * with the texts of reference arrays.md and of all fixtures. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/zarr.h"
#include "base/base.h"

static char *read_file(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) return NULL;
  fseek(f, 0, SEEK_END);
  *n = (size_t)ftell(f);
  rewind(f);
  char *p = malloc(*n + 1);
  cr_assert_eq(fread(p, 1, *n, f), *n);
  fclose(f);
  return p;
}

static void text_is(const cairn_zarr_spec_t *s, const char *want) {
  cairn_zarr_t *z;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_zarr_make(s, &z, &err), CAIRN_OK, "%s", err.message);
  cairn_bytes_t text = cairn_zarr_text(z);
  cr_expect(cairn__bytes_eq(text, cairn_bytes_str(want)), "%.*s", (int)text.n,
            (const char *)text.p);
  cairn_zarr_unref(z);
}

Test(make, texts_of_the_reference) {
  static const int64_t eight[] = {8}, shape[] = {4, 6}, chunk[] = {1, 6};
  cairn_zarr_spec_t a = {.size = sizeof a,
                         .version = 2,
                         .dtype = CAIRN_I32,
                         .rank = 1,
                         .shape = eight,
                         .chunk = eight,
                         .compress = true};
  text_is(&a,
          "{\"chunks\":[8],\"compressor\":{\"id\":\"zstd\",\"level\":1},"
          "\"dimension_separator\":\".\",\"dtype\":\"<i4\",\"fill_value\":null,"
          "\"filters\":null,\"order\":\"C\",\"shape\":[8],\"zarr_format\":2}");
  cairn_zarr_spec_t w = {.version = 2,
                         .dtype = CAIRN_F32,
                         .rank = 2,
                         .shape = shape,
                         .chunk = chunk};
  text_is(&w,
          "{\"chunks\":[1,6],\"compressor\":null,\"dimension_separator\":\".\","
          "\"dtype\":\"<f4\",\"fill_value\":null,\"filters\":null,\"order\":"
          "\"C\",\"shape\":[4,6],\"zarr_format\":2}");
  cairn_zarr_spec_t lr = {
      .version = 3, .dtype = CAIRN_F64, .compress = true, .sharded = true};
  text_is(
      &lr,
      "{\"chunk_grid\":{\"configuration\":{\"chunk_shape\":[]},\"name\":"
      "\"regular\"},\"chunk_key_encoding\":{\"name\":\"default\"},\"codecs\":[{"
      "\"configuration\":{\"chunk_shape\":[],\"codecs\":[{\"configuration\":{"
      "\"endian\":\"little\"},\"name\":\"bytes\"},{\"configuration\":{"
      "\"checksum\":false,\"level\":3},\"name\":\"zstd\"}],\"index_codecs\":[{"
      "\"configuration\":{\"endian\":\"little\"},\"name\":\"bytes\"},{\"name\":"
      "\"crc32c\"}]},\"name\":\"sharding_indexed\"}],\"data_type\":\"float64\","
      "\"fill_value\":0.0,\"node_type\":\"array\",\"shape\":[],"
      "\"zarr_format\":3}");
}

/* Parses one stored text and makes it again. */
static void remake(cairn_bytes_t text, const char *file, size_t *same) {
  int version = text.n > 2 && memcmp(text.p, "{\"chunks\"", 9) == 0 ? 2 : 3;
  cairn_error_t err = {0};
  cairn_zarr_t *z, *mine;
  cr_assert_eq(cairn_zarr_parse(version, text, &z, &err), CAIRN_OK, "%s: %s",
               file, err.message);
  cr_assert(cairn__bytes_eq(cairn_zarr_text(z), text));
  const cairn__chain_t *c = z->chain;
  bool sharded = c->shard != NULL;
  if (sharded) c = c->shard->inner;
  cairn_zarr_spec_t s = {.version = version,
                         .dtype = cairn_zarr_dtype(z),
                         .rank = cairn_zarr_rank(z),
                         .shape = cairn_zarr_shape(z),
                         .chunk = cairn_zarr_chunk(z),
                         .compress = c->num_stages > 0,
                         .sharded = sharded};
  cr_assert_eq(cairn_zarr_make(&s, &mine, &err), CAIRN_OK, "%s", err.message);
  cr_expect(cairn__bytes_eq(cairn_zarr_text(mine), text), "%s: %.*s", file,
            (int)text.n, (const char *)text.p);
  (*same)++;
  cairn_zarr_unref(z);
  cairn_zarr_unref(mine);
}

static void each_text(const cairn_json_t *v, const char *file, size_t *same) {
  const cairn_json_t *m = cairn_json_get(v, "metadata");
  const cairn_json_t *key = cairn_json_get(v, "metadata_key");
  if (m != NULL && m->kind == CAIRN_JSON_STRING && key != NULL)
    remake(m->str, file, same);
  for (const cairn_json_t *e = v->child; e != NULL; e = e->next)
    each_text(e, file, same);
}

Test(make, texts_of_all_fixtures) {
  DIR *dir = opendir(CAIRN_FIXTURES "/orbax");
  if (dir == NULL) cr_skip_test("no fixtures at " CAIRN_FIXTURES "/orbax");
  size_t same = 0;
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    if (!cairn__bytes_ends(cairn_bytes_str(e->d_name),
                           cairn_bytes_str(".expect.json")))
      continue;
    char path[1024];
    size_t n = 0;
    snprintf(path, sizeof path, CAIRN_FIXTURES "/orbax/%s", e->d_name);
    char *text = read_file(path, &n);
    cairn_json_doc_t doc;
    cr_assert_eq(cairn_json_parse(cairn_bytes(text, n), NULL, &doc, NULL),
                 CAIRN_OK, "%s", path);
    each_text(doc.root, e->d_name, &same);
    cairn_json_free(&doc);
    free(text);
  }
  closedir(dir);
  cr_expect_geq(same, 300);
}

Test(make, bad_specs_are_invalid) {
  static const int64_t one[CAIRN_MAX_RANK + 1] = {1}, zero[1] = {0};
  static const int64_t big[2] = {(int64_t)1 << 40, (int64_t)1 << 23};
  static const int64_t negative[1] = {-1}, max[1] = {INT64_MAX};
  const cairn_zarr_spec_t bad[] = {
      {.version = 1, .dtype = CAIRN_I8},
      {.version = 2},
      {.version = 2, .dtype = CAIRN_DTYPE_COUNT},
      {.version = 2, .dtype = CAIRN_I8, .rank = -1},
      {.version = 2, .dtype = CAIRN_I8, .rank = 33, .shape = one, .chunk = one},
      {.version = 3,
       .dtype = CAIRN_I8,
       .rank = 32,
       .shape = one,
       .chunk = one,
       .sharded = true},
      {.version = 2, .dtype = CAIRN_I8, .rank = 1, .shape = one, .chunk = zero},
      {.version = 2,
       .dtype = CAIRN_I8,
       .rank = 1,
       .shape = negative,
       .chunk = one},
      {.version = 2, .dtype = CAIRN_I8, .rank = 1, .shape = max, .chunk = one},
      {.version = 2, .dtype = CAIRN_I8, .rank = 1, .shape = one, .chunk = max},
      {.version = 3, .dtype = CAIRN_I8, .rank = 2, .shape = big, .chunk = big},
      {.version = 2, .dtype = CAIRN_I8, .sharded = true},
      {.version = 2, .dtype = CAIRN_I8, .crc32c = true},
      {.version = 2, .dtype = CAIRN_I8, .compress = true, .level = 23},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cairn_error_t err = {0};
    cairn_zarr_t *z;
    cr_expect_eq(cairn_zarr_make(&bad[i], &z, &err), CAIRN_INVALID, "%zu: %s",
                 i, err.message);
    cr_expect_null(z);
  }
}

Test(make, codec_names_are_told) {
  static const int64_t one[1] = {1};
  cairn_zarr_spec_t s = {.version = 3,
                         .dtype = CAIRN_I8,
                         .rank = 1,
                         .shape = one,
                         .chunk = one,
                         .compress = true,
                         .crc32c = true};
  cairn_zarr_t *z;
  char names[32];
  cr_assert_eq(cairn_zarr_make(&s, &z, NULL), CAIRN_OK);
  cairn_zarr_codecs(z, names, sizeof names);
  cr_expect_str_eq(names, "zstd, crc32c");
  cairn_zarr_codecs(z, names, 8);
  cr_expect_str_eq(names, "zstd, c");
  cairn_zarr_unref(z);
}
