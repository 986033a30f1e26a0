/* One code point at a time: for what looks at characters and not at bytes. */
#ifndef CAIRN_BASE_UTF8_H_
#define CAIRN_BASE_UTF8_H_

#include "cairn/buf.h"

/* The next well-formed code point; false at the end and at a malformed one, and
 * the cursor stays where it was. */
bool cairn__utf8_next(cairn_cur_t *c, uint32_t *out);

/* Writes the form of cp (a scalar value) to out; returns its length, 1 to 4. */
size_t cairn__utf8_encode(uint32_t cp, uint8_t out[4]);

#endif
