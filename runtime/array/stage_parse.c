/* The configuration of one bytes to bytes codec: zarr 2's compressor, an
 * element of zarr 3's list. Names that are known but not built in are checked
 * like the others and then refused by name. */
#include "array/zarr.h"
#include "base/base.h"

#define ARRAY(x) (x), sizeof(x) / sizeof *(x)

static cairn_code_t not_built_in(const char *name, cairn_error_t *err) {
  return cairn_fail(err, CAIRN_UNSUPPORTED,
                    "codec %s is not in this build of cairn", name);
}

/* "level", which zarr 2 may leave out. */
static cairn_code_t parse_level(int version, const cairn_json_t *config,
                                int64_t min, int64_t max, cairn__stage_t *out,
                                cairn_error_t *err) {
  int64_t level = 1;
  cairn_code_t rc =
      cairn__member_int(config, "level", min, max, version == 3, &level, err);
  out->level = (int)level;
  return rc;
}

static cairn_code_t parse_zstd(int version, const cairn_json_t *config,
                               cairn__stage_t *out, cairn_error_t *err) {
  static const char *const two[] = {"id", "level"};
  static const char *const three[] = {"level", "checksum"};
  cairn_code_t rc =
      cairn__members_only(config, version == 2 ? two : three, 2, err);
  if (rc == CAIRN_OK) rc = parse_level(version, config, -131072, 22, out, err);
  if (rc == CAIRN_OK && version == 3)
    rc = cairn__member_bool(config, "checksum", &out->checksum, err);
  return rc;
}

static cairn_code_t parse_deflate(int version, const cairn_json_t *config,
                                  cairn__stage_t *out, cairn_error_t *err) {
  static const char *const keys[] = {"level", "id"};
  cairn_code_t rc =
      cairn__members_only(config, keys, version == 2 ? 2 : 1, err);
  return rc != CAIRN_OK ? rc : parse_level(version, config, 0, 9, out, err);
}

static cairn_code_t parse_crc32c(int version, const cairn_json_t *config,
                                 cairn__stage_t *out, cairn_error_t *err) {
  (void)version;
  (void)out;
  return cairn__members_only(config, NULL, 0, err);
}

static cairn_code_t parse_bz2(int version, const cairn_json_t *config,
                              cairn__stage_t *out, cairn_error_t *err) {
  static const char *const keys[] = {"id", "level"};
  cairn_code_t rc = cairn__members_only(config, ARRAY(keys), err);
  if (rc == CAIRN_OK) rc = parse_level(version, config, 1, 9, out, err);
  return rc != CAIRN_OK ? rc : not_built_in("bz2", err);
}

static const char *const blosc_names[] = {"blosclz", "lz4",  "lz4hc",
                                          "snappy",  "zlib", "zstd"};

static cairn_code_t parse_blosc2(const cairn_json_t *config,
                                 cairn_error_t *err) {
  static const char *const keys[] = {"id", "cname", "clevel", "shuffle",
                                     "blocksize"};
  int64_t n;
  size_t word;
  cairn_code_t rc = cairn__members_only(config, ARRAY(keys), err);
  if (rc == CAIRN_OK)
    rc = cairn__member_word(config, "cname", ARRAY(blosc_names), false, &word,
                            err);
  if (rc == CAIRN_OK)
    rc = cairn__member_int(config, "clevel", 0, 9, false, &n, err);
  if (rc == CAIRN_OK)
    rc = cairn__member_int(config, "shuffle", -1, 2, false, &n, err);
  if (rc == CAIRN_OK)
    rc = cairn__member_int(config, "blocksize", 0, INT64_MAX, false, &n, err);
  return rc;
}

static cairn_code_t parse_blosc3(const cairn_json_t *config,
                                 cairn_error_t *err) {
  static const char *const keys[] = {"cname", "clevel", "shuffle", "typesize",
                                     "blocksize"};
  static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
  int64_t n;
  size_t word, shuffle = 0;
  cairn_code_t rc = cairn__members_only(config, ARRAY(keys), err);
  if (rc == CAIRN_OK)
    rc = cairn__member_word(config, "cname", ARRAY(blosc_names), true, &word,
                            err);
  if (rc == CAIRN_OK)
    rc = cairn__member_int(config, "clevel", 0, 9, true, &n, err);
  if (rc == CAIRN_OK)
    rc = cairn__member_word(config, "shuffle", ARRAY(shuffles), true, &shuffle,
                            err);
  if (rc == CAIRN_OK)
    rc = cairn__member_int(config, "typesize", 1, 255, shuffle != 0, &n, err);
  if (rc == CAIRN_OK)
    rc = cairn__member_int(config, "blocksize", 0, INT64_MAX, true, &n, err);
  return rc;
}

static cairn_code_t parse_blosc(int version, const cairn_json_t *config,
                                cairn__stage_t *out, cairn_error_t *err) {
  (void)out;
  cairn_code_t rc =
      version == 2 ? parse_blosc2(config, err) : parse_blosc3(config, err);
  return rc != CAIRN_OK ? rc : not_built_in("blosc", err);
}

static const struct {
  const char *name;
  bool two, three; /* formats that have it */
  cairn_code_t (*parse)(int version, const cairn_json_t *config,
                        cairn__stage_t *out, cairn_error_t *err);
} known[] = {
    {"zstd", true, true, parse_zstd},     {"gzip", true, true, parse_deflate},
    {"zlib", true, false, parse_deflate}, {"crc32c", false, true, parse_crc32c},
    {"bz2", true, false, parse_bz2},      {"blosc", true, true, parse_blosc},
};

cairn_code_t cairn__stage_parse(int version, cairn_bytes_t name,
                                const cairn_json_t *config, cairn__stage_t *out,
                                cairn_error_t *err) {
  *out = (cairn__stage_t){.ops = cairn_codec_find(name)};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!cairn__bytes_eq(name, cairn_bytes_str(known[i].name))) continue;
    if (version == 2 ? !known[i].two : !known[i].three) break;
    cairn_code_t rc = known[i].parse(version, config, out, err);
    return rc == CAIRN_OK ? rc : cairn_within(err, "%s", known[i].name);
  }
  return cairn_fail(err, CAIRN_UNSUPPORTED, "unknown codec \"%.*s\"",
                    (int)(name.n < 64 ? name.n : 64), (const char *)name.p);
}
