/* Values, generations and byte ranges: the arithmetic that all drivers share.
 */
#include <stdlib.h>

#include "kv/kv.h"

const cairn_gen_t CAIRN_GEN_ABSENT = {1, {0x02}};

void cairn_value_reset(cairn_value_t *v) {
  if (v == NULL) return;
  if (v->release != NULL) v->release(v->release_arg);
  *v = (cairn_value_t){0};
}

bool cairn__gen_eq(const cairn_gen_t *a, const cairn_gen_t *b) {
  return a->n == b->n && memcmp(a->b, b->b, a->n) == 0;
}

bool cairn__gen_met(const cairn_gen_t *if_equal, const cairn_gen_t *now) {
  return if_equal == NULL || if_equal->n == 0 || cairn__gen_eq(if_equal, now);
}

static cairn_code_t outside(const cairn_read_opts_t *o, uint64_t size,
                            cairn_error_t *err) {
  return cairn_fail(
      err, CAIRN_INVALID, "range [%lld, %lld) outside of a value of %llu bytes",
      (long long)o->min, (long long)o->max, (unsigned long long)size);
}

cairn_code_t cairn__read_range(const cairn_read_opts_t *o, uint64_t size,
                               uint64_t *off, size_t *n, cairn_error_t *err) {
  *off = 0;
  *n = o->what == CAIRN_READ_WHOLE ? (size_t)size : 0;
  if (o->what != CAIRN_READ_RANGE) return CAIRN_OK;
  uint64_t min, max = o->max == -1 ? size : (uint64_t)o->max;
  if (o->max < -1 || (o->min < 0 && o->max != -1)) return outside(o, size, err);
  if (o->min < 0) { /* -INT64_MIN does not fit int64, but does uint64 */
    uint64_t back = -(uint64_t)o->min;
    if (back > size) return outside(o, size, err);
    min = size - back;
  } else {
    min = (uint64_t)o->min;
  }
  if (min > max || max > size) return outside(o, size, err);
  *off = min;
  *n = (size_t)(max - min);
  return CAIRN_OK;
}

cairn_code_t cairn__value_room(const cairn_read_opts_t *o, size_t n,
                               cairn_value_t *out, void **dst,
                               cairn_error_t *err) {
  *dst = o->dst;
  if (o->dst != NULL && n > o->cap)
    return cairn_fail(err, CAIRN_INVALID,
                      "%zu bytes do not fit the destination of %zu", n, o->cap);
  if (o->dst == NULL && n > 0) {
    *dst = malloc(n);
    if (*dst == NULL)
      return cairn_fail(err, CAIRN_NO_MEMORY, "%zu bytes for the value", n);
    out->release = free;
    out->release_arg = *dst;
  }
  out->data = cairn_bytes(*dst, n);
  return CAIRN_OK;
}

cairn_code_t cairn__iov_total(const struct iovec *iov, int niov, uint64_t *n,
                              cairn_error_t *err) {
  int64_t sum = 0;
  if (niov < 0)
    return cairn_fail(err, CAIRN_INVALID, "%d pieces of data", niov);
  for (int i = 0; i < niov; i++) {
    if (iov[i].iov_len > INT64_MAX ||
        !cairn__add_ok(sum, (int64_t)iov[i].iov_len, &sum))
      return cairn_fail(err, CAIRN_INVALID, "more than 2^63 - 1 bytes of data");
  }
  *n = (uint64_t)sum;
  return CAIRN_OK;
}
