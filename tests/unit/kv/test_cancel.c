/* Cancelling a call on a store. */
#include "loop/loop.h"
#include "stores.h"

struct listing {
  cairn_kv_t *kv;
  cairn_future_t *f;
  int n;
};

static bool cancel_at_second(void *arg, cairn_bytes_t key, int64_t size) {
  struct listing *l = arg;
  (void)key, (void)size;
  if (++l->n == 2) cairn_future_cancel(l->f);
  return true;
}

static cairn_future_t *start(void *arg) {
  struct listing *l = arg;
  l->f = cairn_kv_list(l->kv, cairn_bytes(NULL, 0), cancel_at_second, l);
  return cairn_future_ref(l->f);
}

STORE_TEST(a_cancelled_listing_stops_and_says_so) {
  struct listing l = {.kv = s->kv};
  put(s, "a", "1");
  put(s, "b", "1");
  put(s, "c", "1");
  put(s, "d", "1");
  cr_assert_eq(cairn__call(s->rt, start, &l, -1, NULL), CAIRN_CANCELLED);
  cr_assert_eq(l.n, 2);
  cairn_future_unref(l.f);
}
