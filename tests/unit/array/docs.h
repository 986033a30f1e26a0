/* Metadata documents that differ in one member from one that is right. */
#ifndef CAIRN_TESTS_ARRAY_DOCS_H_
#define CAIRN_TESTS_ARRAY_DOCS_H_

#include "cairn/array.h"

typedef struct doc_member {
  const char *key, *value;
} doc_member_t;

extern const doc_member_t zarr2_members[8]; /* <i4, shape [4,6], chunks [2,3] */
extern const doc_member_t zarr3_members[8]; /* int32, the same, [bytes] */

/* The text with `key` set to `value` (NULL: without it). Static memory. */
const char *doc_with(int version, const char *key, const char *value);
/* With two members set. */
const char *doc_with2(int version, const char *key, const char *value,
                      const char *key2, const char *value2);

#endif
