/* Golden files, line by line. */
#ifndef CAIRN_TESTS_UNIT_BASE_FILES_H_
#define CAIRN_TESTS_UNIT_BASE_FILES_H_

#include <stdio.h>

#include "cairn/types.h"

/* The file of that name under tests/golden; the test fails when it is missing.
 */
FILE *golden_open(const char *name);

/* The next line without its newline, in *line (for getline and free). The test
 * fails at the end when `must` is set. */
bool golden_line(FILE *f, char **line, size_t *cap, bool must,
                 cairn_bytes_t *out);

#endif
