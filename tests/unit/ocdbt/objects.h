/* Making encoded objects for the tests of the ocdbt room: from hex, from golden
 * files, and with length and checksum mended after a change. */
#ifndef CAIRN_TESTS_UNIT_OCDBT_OBJECTS_H_
#define CAIRN_TESTS_UNIT_OCDBT_OBJECTS_H_

#include "ocdbt/format.h"

/* The bytes of hex digits (blanks do not count), appended. */
void put_hex(cairn_buf_t *b, const char *hex);
/* tests/golden/ocdbt/<name>.hex; the caller resets it. */
cairn_buf_t golden(const char *name);
/* tests/golden/ocdbt/... or any file, whole; false if absent. */
bool read_file(const char *path, cairn_buf_t *out);

/* An uncompressed object around a body. */
cairn_buf_t wrap(uint32_t magic, cairn_bytes_t body);
cairn_buf_t wrap_hex(uint32_t magic, const char *body);
/* The body of an uncompressed object. */
cairn_bytes_t unwrap(const cairn_buf_t *object);
/* Length and checksum right again. */
void mend(cairn_buf_t *object);

/* Decodes by the magic wanted, frees, and gives the outcome. */
cairn_code_t decode(uint32_t want, cairn_bytes_t in, const char *transitive,
                    cairn_error_t *err);
/* The object must be CAIRN_CORRUPT with `word` in the message. */
void expect_bad(const char *id, uint32_t want, const cairn_buf_t *object,
                const char *word);
/* The same, and the object is freed. */
void expect_bad_take(const char *id, uint32_t want, cairn_buf_t object,
                     const char *word);
/* An object whose body is given in hex. */
void expect_bad_hex(const char *id, uint32_t want, const char *body,
                    const char *word);
void expect_good_take(const char *id, uint32_t want, cairn_buf_t object);

static inline cairn_bytes_t str(const char *s) {
  return cairn_bytes_str(s);
}

/* ff*9 01, a varint64 of 2^64 - 1. */
#define MAX64 "ffffffffffffffffff01 "
#define T0 "15cd853dfe9c9717 "
#define UUID "000102030405060708090a0b0c0d0e0f "

#endif
