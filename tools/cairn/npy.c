#include "npy.h"

#include <inttypes.h>

#define MAGIC_BYTES 10 /* "\x93NUMPY", version, length of the text */

static void put_shape(cairn_buf_t *b, int rank, const int64_t *shape) {
  cairn_buf_put_str(b, "(");
  for (int i = 0; i < rank; i++)
    cairn_buf_printf(b, "%s%" PRId64, i > 0 ? ", " : "", shape[i]);
  cairn_buf_put_str(b, rank == 1 ? ",)" : ")");
}

/* 32 dimensions of 20 digits fit the 16 bits of the length with room. */
void npy_header(cairn_buf_t *b, const char *type, int rank,
                const int64_t *shape) {
  cairn_buf_t text = {0};
  cairn_buf_printf(&text,
                   "{'descr': '%s', 'fortran_order': False, 'shape': ", type);
  put_shape(&text, rank, shape);
  cairn_buf_put_str(&text, ", }");
  while ((MAGIC_BYTES + text.n + 1) % 64 != 0 && !text.failed)
    cairn_buf_put_str(&text, " ");
  cairn_buf_put_str(&text, "\n");
  cairn_buf_put(b, "\x93NUMPY\x01\x00", 8);
  cairn_buf_put_u8(b, (uint8_t)(text.n & 0xff));
  cairn_buf_put_u8(b, (uint8_t)(text.n >> 8));
  cairn_buf_put(b, text.p, text.n);
  if (text.failed) b->failed = true;
  cairn_buf_reset(&text);
}
