/* cairn dump: OCDBT objects of a local file as text. A manifest is one object;
 * a data file is values and nodes one after another, without an index, so it is
 * searched for what parses as an object. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ocdbt/format.h"
#include "out.h"
#include "tool.h"

#define HEADER_BYTES 12 /* magic, length of the object */

struct dump {
  const char *file;
  cairn_bytes_t bytes;
  bool json;
  size_t objects;
};

static void print_object(struct dump *d, size_t offset, size_t length,
                         cairn_bytes_t text) {
  cairn_buf_t b = {0};
  if (d->json) {
    cairn_buf_printf(&b, "%s{\"offset\": %zu, \"length\": %zu, \"text\": ",
                     d->objects > 0 ? ",\n  " : "\n  ", offset, length);
    json_str(&b, text);
    cairn_buf_put_str(&b, "}");
  } else {
    cairn_buf_printf(&b, "%sobject at %zu, %zu bytes\n",
                     d->objects > 0 ? "\n" : "", offset, length);
    cairn_buf_put(&b, text.p, text.n);
  }
  d->objects++;
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

static cairn_code_t dump_range(struct dump *d, size_t offset, size_t length,
                               cairn_error_t *err) {
  cairn_buf_t text = {0};
  cairn_code_t rc =
      cairn__ocdbt_dump(cairn_bytes(d->bytes.p + offset, length), &text, err);
  if (rc == CAIRN_OK) print_object(d, offset, length, cairn_buf_bytes(&text));
  cairn_buf_reset(&text);
  return rc;
}

/* --- searching --- */

static uint32_t magic_at(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
         p[3];
}

static bool is_magic(uint32_t magic) {
  return magic == CAIRN__OCDBT_MANIFEST || magic == CAIRN__OCDBT_VERSION_NODE ||
         magic == CAIRN__OCDBT_BTREE_NODE;
}

/* The length of an object that may begin at `at`; 0: none begins there. */
static size_t length_at(const struct dump *d, size_t at) {
  size_t left = d->bytes.n - at;
  uint64_t length = 0;
  if (left < HEADER_BYTES || !is_magic(magic_at(d->bytes.p + at))) return 0;
  cairn_cur_t c = cairn_cur(cairn_bytes(d->bytes.p + at + 4, 8));
  return cairn_cur_u64le(&c, &length) && length >= HEADER_BYTES &&
                 length <= left
             ? (size_t)length
             : 0;
}

/* Values may look like the beginning of a node; those do not parse. */
static void search(struct dump *d) {
  size_t at = 0;
  while (at < d->bytes.n) {
    const uint8_t *hit = memchr(d->bytes.p + at, 0x0c, d->bytes.n - at);
    if (hit == NULL) return;
    at = (size_t)(hit - d->bytes.p);
    size_t length = length_at(d, at);
    at +=
        length != 0 && dump_range(d, at, length, NULL) == CAIRN_OK ? length : 1;
  }
}

static cairn_code_t dump_all(struct dump *d, cairn_error_t *err) {
  if (d->bytes.n >= 4 && magic_at(d->bytes.p) == CAIRN__OCDBT_MANIFEST)
    return dump_range(d, 0, d->bytes.n, err);
  search(d);
  if (d->objects > 0) return CAIRN_OK;
  return cairn_fail(err, CAIRN_CORRUPT, "no OCDBT object in it");
}

static cairn_code_t dump_part(struct dump *d, uint64_t offset, uint64_t length,
                              cairn_error_t *err) {
  if (offset > d->bytes.n || length > d->bytes.n - offset)
    return cairn_fail(err, CAIRN_INVALID,
                      "%" PRIu64 " bytes at %" PRIu64
                      " are not in a file of %zu bytes",
                      length, offset, d->bytes.n);
  return dump_range(d, (size_t)offset, (size_t)length, err);
}

/* --- the file --- */

static cairn_code_t map(const char *file, cairn_bytes_t *out,
                        cairn_error_t *err) {
  struct stat st;
  int fd = open(file, O_RDONLY | O_CLOEXEC);
  *out = (cairn_bytes_t){0};
  if (fd < 0) return cairn_fail_errno(err, errno, "%s", file);
  cairn_code_t rc = CAIRN_OK;
  if (fstat(fd, &st) != 0)
    rc = cairn_fail_errno(err, errno, "%s", file);
  else if (!S_ISREG(st.st_mode))
    rc = cairn_fail(err, CAIRN_INVALID, "%s is no regular file", file);
  else if (st.st_size > 0) {
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
      rc = cairn_fail_errno(err, errno, "%s", file);
    else
      *out = cairn_bytes(p, (size_t)st.st_size);
  }
  close(fd);
  return rc;
}

static int dump(struct dump *d, const uint64_t *range) {
  cairn_error_t err = {0};
  cairn_code_t rc = map(d->file, &d->bytes, &err);
  if (rc != CAIRN_OK) return tool_failed(&err);
  if (d->json) {
    cairn_buf_t b = {0};
    cairn_buf_put_str(&b, "{\"cairn\": 1, \"path\": ");
    json_cstr(&b, d->file);
    cairn_buf_put_str(&b, ", \"objects\": [");
    out_bytes(cairn_buf_bytes(&b));
    cairn_buf_reset(&b);
  }
  rc = range != NULL ? dump_part(d, range[0], range[1], &err)
                     : dump_all(d, &err);
  if (d->json) out_text("]}\n");
  if (d->bytes.n != 0) munmap((void *)d->bytes.p, d->bytes.n);
  if (rc == CAIRN_OK) return EXIT_FINE;
  cairn_within(&err, "%s", d->file);
  return tool_failed(&err);
}

static bool parse_u64(const char *text, uint64_t *out) {
  char *end;
  errno = 0;
  if (text[0] < '0' || text[0] > '9') return false;
  *out = strtoull(text, &end, 0);
  return errno == 0 && *end == 0;
}

static int run(int argc, char **argv) {
  static const struct option opts[] = {OPTS_COMMON, {0}};
  struct dump d = {0};
  uint64_t range[2];
  int status = EXIT_FINE, o;
  while ((o = tool_option(&cmd_dump, argc, argv, opts, &status)) != -1) {
    if (o == 0) return status;
    d.json = true;
  }
  int n = argc - optind;
  if (n != 1 && n != 3)
    return tool_usage(&cmd_dump, "FILE is needed, or FILE OFFSET LENGTH");
  if (n == 3 && (!parse_u64(argv[optind + 1], &range[0]) ||
                 !parse_u64(argv[optind + 2], &range[1])))
    return tool_usage(&cmd_dump, "OFFSET and LENGTH are numbers of bytes");
  d.file = argv[optind];
  return dump(&d, n == 3 ? range : NULL);
}

const command_t cmd_dump = {
    .name = "dump",
    .args = "[--json] FILE [OFFSET LENGTH]",
    .summary = "prints an OCDBT manifest or nodes",
    .help =
        "Prints what a local file of an OCDBT database says: of a manifest\n"
        "the configuration and the versions with the roots of their trees;\n"
        "of a data file every b-tree and version node found in it, or the\n"
        "one at OFFSET.\n",
    .run = run,
};
