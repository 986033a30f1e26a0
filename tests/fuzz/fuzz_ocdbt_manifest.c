/* Any bytes as a manifest: no crash; what decodes comes back from its encoding,
 * and a second encoding is the same bytes. */
#include "fuzz/ocdbt_input.h"

static void encode_twice(const cairn__ocdbt_manifest_t *m) {
  cairn__ocdbt_manifest_t again;
  cairn_buf_t a = {0}, b = {0};
  require(cairn__ocdbt_manifest_encode(m, &a, NULL) == CAIRN_OK);
  require(cairn__ocdbt_manifest_decode(cairn_buf_bytes(&a), &again, NULL) ==
          CAIRN_OK);
  require(again.num_versions == m->num_versions &&
          again.num_nodes == m->num_nodes);
  require(cairn__ocdbt_manifest_encode(&again, &b, NULL) == CAIRN_OK);
  require(cairn__bytes_eq(cairn_buf_bytes(&a), cairn_buf_bytes(&b)));
  cairn__ocdbt_manifest_free(&again);
  cairn_buf_reset(&a);
  cairn_buf_reset(&b);
}

static void run(cairn_bytes_t in) {
  cairn__ocdbt_manifest_t m;
  cairn_error_t err = {0};
  cairn_buf_t text = {0};
  if (!decoded(cairn__ocdbt_manifest_decode(in, &m, &err), &err)) return;
  encode_twice(&m);
  require(cairn__ocdbt_dump(in, &text, &err) == CAIRN_OK);
  cairn_buf_reset(&text);
  cairn__ocdbt_manifest_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  run(cairn_bytes(data, size));
  uint8_t *p = mended(data, size, CAIRN__OCDBT_MANIFEST);
  if (p != NULL) run(cairn_bytes(p, size));
  free(p);
  return 0;
}
