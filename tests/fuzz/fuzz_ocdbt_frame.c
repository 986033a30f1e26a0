/* Any bytes as an envelope: no crash, the body held to its limit; and any bytes
 * as a body come back from their envelope, plain and compressed. */
#include "fuzz/ocdbt_input.h"
#include "ocdbt/wire.h"

#define MOST ((size_t)1 << 22)

static void open_frame(cairn_bytes_t in) {
  cairn_buf_t plain = {0};
  cairn_bytes_t body = {0};
  cairn_error_t err = {0};
  if (decoded(cairn__frame_open(in, CAIRN__OCDBT_MANIFEST, MOST, &plain, &body,
                                &err),
              &err))
    require(plain.n <= MOST && body.n <= (plain.p != NULL ? MOST : in.n));
  cairn_buf_reset(&plain);
}

static void round_trip(cairn_bytes_t in, bool zstd) {
  cairn__ocdbt_config_t c = {.zstd = zstd};
  cairn_buf_t frame = {0}, plain = {0};
  cairn_bytes_t body = {0};
  require(cairn__frame_put(&c, CAIRN__OCDBT_MANIFEST, in, &frame, NULL) ==
          CAIRN_OK);
  require(cairn__frame_open(cairn_buf_bytes(&frame), CAIRN__OCDBT_MANIFEST,
                            CAIRN__OCDBT_MAX_BODY, &plain, &body,
                            NULL) == CAIRN_OK);
  require(cairn__bytes_eq(body, in));
  cairn_buf_reset(&frame);
  cairn_buf_reset(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  open_frame(cairn_bytes(data, size));
  uint8_t *p = mended(data, size, CAIRN__OCDBT_MANIFEST);
  if (p != NULL) open_frame(cairn_bytes(p, size));
  free(p);
  round_trip(cairn_bytes(data, size), false);
  round_trip(cairn_bytes(data, size), true);
  return 0;
}
