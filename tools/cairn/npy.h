/* The header of a .npy file (numpy's format, version 1.0). */
#ifndef CAIRN_TOOL_NPY_H_
#define CAIRN_TOOL_NPY_H_

#include "cairn/buf.h"

/* Appends it: `type` is numpy's ("<f4"), C order. Its length is a multiple of
 * 64. */
void npy_header(cairn_buf_t *b, const char *type, int rank,
                const int64_t *shape);

#endif
